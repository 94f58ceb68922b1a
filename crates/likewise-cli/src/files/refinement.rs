//! `refinement.json` and `refinement.dot`: how the refinement came to its phases.

use likewise::bursts::{Node, Refinement};
use likewise::cluster::{ClusterId, Clustering};
use likewise::words::counted;
use likewise_analysis::phases::phase_of_node;
use serde_json::{Value, json};
use std::io::{self, Write};

/// `refinement.json`: the levels and the tree.
pub(crate) fn to_json(refinement: &Refinement, clustering: &Clustering) -> Value {
    let phase = phase_of_node(refinement, clustering);
    let level = |level: &likewise::bursts::Level| {
        json!({
            "eps": level.eps, "score": level.score, "clusters": level.n_clusters,
            "noise_ns": level.noise.0,
        })
    };
    let node = |(node, phase): (&Node, &Option<ClusterId>)| {
        json!({
            "level": node.level, "parents": node.parents, "score": node.score,
            "instances": node.instances, "total_ns": node.total.0, "phase": phase.map(ClusterId::number),
        })
    };
    json!({
        "levels": refinement.levels.iter().map(level).collect::<Vec<_>>(),
        "nodes": refinement.nodes.iter().zip(&phase).map(node).collect::<Vec<_>>(),
    })
}

/// `refinement.dot`: the tree for Graphviz. A box is a phase
/// at the end.
pub(crate) fn write_dot(
    out: &mut impl Write,
    refinement: &Refinement,
    clustering: &Clustering,
) -> io::Result<()> {
    let phase = phase_of_node(refinement, clustering);
    writeln!(out, "digraph refinement {{\n  rankdir=LR;\n  node [shape=ellipse];")?;
    for (i, (node, phase)) in refinement.nodes.iter().zip(&phase).enumerate() {
        let shape = if phase.is_some() { ", shape=box" } else { "" };
        let name = phase.map_or(String::new(), |id| format!("phase {}\\n", id.number()));
        let held = format!("score {:.3}\\n{}\\n{}", node.score, counted(node.instances, "burst"), node.total);
        writeln!(out, "  n{i} [label=\"{name}{held}\"{shape}];")?;
        for parent in &node.parents {
            writeln!(out, "  n{parent} -> n{i};")?;
        }
    }
    writeln!(out, "}}")
}
