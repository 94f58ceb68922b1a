//! Phases without parameters: how the refinement is asked for, and its files.

use crate::grouping::{Curve, Grouped, Method};
use crate::progress::Progress;
use crate::stages::Stages;
use clap::ValueEnum;
use likewise::bursts::{
    Direction, NO_NODE, Node, RefineInput, RefineRules, Refinement, default_min_points, eps_range, refine,
};
use likewise::cluster::{ClusterId, Clustering};
use likewise::words::counted;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Up to so many bursts are refined unasked: beyond, DBSCAN at the knee is
/// what an analyst has the time for.
pub(crate) const UNASKED: usize = 2_000_000;

/// Which way the radius goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RefineArg {
    /// From the finest grouping up: fragments of one phase join
    Aggregative,
    /// From the coarsest down: what is several phases is taken apart
    Divisive,
}

impl RefineArg {
    pub(crate) fn direction(self) -> Direction {
        match self {
            Self::Aggregative => Direction::Aggregative,
            Self::Divisive => Direction::Divisive,
        }
    }
}

/// Groups bursts by refinement. With too few to have neighbours, all are noise.
pub(crate) fn refine_bursts(
    input: &RefineInput<'_>,
    direction: Direction,
    min_points: Option<usize>,
    stages: &mut Stages,
    progress: Progress,
) -> Grouped {
    let n = input.points.len();
    let range = {
        let _bar = progress.spinner("Measuring distances");
        stages.time("k_distance", || eps_range(input.points, input.n_threads, min_points))
    };
    let Ok(range) = range else {
        let min_points = min_points.unwrap_or_else(|| default_min_points(input.n_threads));
        let mut grouped = Grouped::new(Method::Refine, min_points);
        grouped.clustering = Clustering { labels: vec![None; n], n_clusters: 0 };
        return grouped;
    };
    let _bar = progress.spinner("Refining");
    let refinement = stages.time("cluster", || refine(input, &range, direction, &RefineRules::default()));
    let mut grouped = Grouped::new(Method::Refine, range.min_points);
    let mut sorted = range.distances;
    sorted.par_sort_unstable_by(|a, b| b.total_cmp(a));
    grouped.curve = Some(Curve::of(&sorted, range.min_points + 1));
    grouped.clustering = refinement.clustering.clone();
    grouped.refinement = Some(refinement);
    grouped
}

/// Of each node, the number of the phase that it ended as.
pub(crate) fn phase_of_node(refinement: &Refinement, clustering: &Clustering) -> Vec<Option<u32>> {
    let mut phase = vec![None; refinement.nodes.len()];
    if let Some(level) = refinement.levels.last() {
        for (&node, label) in level.node_of_burst.iter().zip(&clustering.labels) {
            if node != NO_NODE {
                phase[node as usize] = label.map(ClusterId::number).or(phase[node as usize]);
            }
        }
    }
    phase
}

/// The phases that stand in for one another, by their numbers.
pub(crate) fn alternatives(refinement: &Refinement, clustering: &Clustering) -> Vec<Vec<u32>> {
    let phase = phase_of_node(refinement, clustering);
    let number = |&place: &u32| phase[refinement.node_of_phase[place as usize] as usize];
    let mut lists: Vec<Vec<u32>> =
        refinement.alternatives.iter().map(|list| list.iter().filter_map(number).collect()).collect();
    lists.iter_mut().for_each(|list| list.sort_unstable());
    lists.retain(|list| list.len() > 1);
    lists.sort_unstable();
    lists
}

/// `refinement.json`: the levels and the tree.
pub(crate) fn to_json(refinement: &Refinement, clustering: &Clustering) -> Value {
    let phase = phase_of_node(refinement, clustering);
    let level = |level: &likewise::bursts::Level| {
        json!({
            "eps": level.eps, "score": level.score, "clusters": level.n_clusters,
            "noise_ns": level.noise.0,
        })
    };
    let node = |(node, phase): (&Node, &Option<u32>)| {
        json!({
            "level": node.level, "parents": node.parents, "score": node.score,
            "instances": node.instances, "total_ns": node.total.0, "phase": phase,
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
        let name = phase.map_or(String::new(), |phase| format!("phase {phase}\\n"));
        let held = format!("score {:.3}\\n{}\\n{}", node.score, counted(node.instances, "burst"), node.total);
        writeln!(out, "  n{i} [label=\"{name}{held}\"{shape}];")?;
        for parent in &node.parents {
            writeln!(out, "  n{parent} -> n{i};")?;
        }
    }
    writeln!(out, "}}")
}
