//! From coarse to fine.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::cluster::Along;

use super::aggregate::finish;
use super::levels::{NO_NODE, RefineInput, Refinement};
use super::nearest::{Index, Pending};
use super::partition::{Partition, Scored, Tasks};
use super::step::regroup;
use super::substitution::{Detail, Names, Substitution};
use super::{EpsRange, RefineRules};

/// A score that differs from 1 by rounding alone: every task shows the node at
/// each of its steps, and it is not taken apart.
const PERFECT: f64 = 1.0 - 1e-12;

pub(super) fn divide(
    input: &RefineInput<'_>,
    along: &Along<'_>,
    range: &EpsRange,
    rules: &RefineRules,
) -> Refinement {
    let mut partition = Partition::new(input);
    let mut node_of = vec![NO_NODE; input.points.len()];
    let mut levels = Vec::new();
    let (tasks, index) = (Tasks::some(input), Index::new(along));
    let mut last: Option<Scored> = None;
    for (level, &eps) in range.eps.iter().rev().enumerate() {
        match &last {
            None => {
                let all: Vec<u32> = (0..input.points.len() as u32).collect();
                let found = regroup(input, &all, eps, range.min_points);
                let n = found.iter().flatten().map(|id| id.index() + 1).max().unwrap_or(0);
                (0..n).for_each(|_| _ = partition.add(level, Vec::new()));
                let node =
                    |id: &Option<_>| id.map_or(NO_NODE, |id: crate::cluster::ClusterId| id.index() as u32);
                node_of = found.iter().map(node).collect();
            }
            Some(scored) => {
                let nodes = (&mut partition, &mut node_of[..]);
                split((input, rules, &index), (&tasks, scored), nodes, level, eps, range.min_points)
            }
        }
        partition.divide(input, &node_of, &mut levels);
        let scored = partition.score(&tasks, None);
        levels.push(partition.close(eps, &scored));
        last = Some(scored);
    }
    drop(node_of);
    finish(input, rules, partition, levels)
}

/// Takes apart the nodes that a smaller radius does, but for pieces that stand
/// in for one another.
fn split(
    (input, rules, index): (&RefineInput<'_>, &RefineRules, &Index<'_>),
    (tasks, scored): (&Tasks, &Scored),
    (partition, node_of): (&mut Partition, &mut [u32]),
    level: usize,
    eps: f64,
    min_points: usize,
) {
    let mut bursts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&node, i) in node_of.iter().zip(0..) {
        if node != NO_NODE && partition.nodes[node as usize].score < PERFECT {
            bursts.entry(node).or_default().push(i);
        }
    }
    // Pieces of all nodes are numbered in one go.
    let mut piece_of = vec![NO_NODE; input.points.len()];
    let mut pieces: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut n_pieces = 0;
    for (&node, members) in &bursts {
        let found = regroup(input, members, eps, min_points);
        let n = found.iter().flatten().map(|id| id.index() as u32 + 1).max().unwrap_or(0);
        for (&i, id) in members.iter().zip(&found) {
            piece_of[i as usize] = id.map_or(NO_NODE, |id| n_pieces + id.index() as u32);
        }
        pieces.insert(node, (n_pieces..n_pieces + n).collect());
        n_pieces += n;
    }
    let names = Names {
        n_parts: n_pieces as usize,
        part_of: |burst| piece_of[burst as usize],
        group_of: |burst| node_of[burst as usize],
        detail: Detail::All,
    };
    let fragments =
        Substitution::measure(input, tasks, scored, &names, |_| true).fragments(rules, |_, _| true);
    let mut whole: Vec<u32> = (0..n_pieces).collect();
    fragments.iter().for_each(|list| list.iter().for_each(|&piece| whole[piece as usize] = list[0]));
    // Of each new node, the first of those that the same node became.
    let (before, mut first_of, mut open) = (partition.nodes.len() as u32, Vec::new(), Vec::new());
    for (node, members) in bursts {
        let mut kept: Vec<u32> = pieces[&node].iter().map(|&piece| whole[piece as usize]).collect();
        kept.sort_unstable();
        kept.dedup();
        if kept.len() < 2 {
            continue;
        }
        let first = partition.nodes.len() as u32;
        kept.iter().for_each(|_| _ = partition.add(level, vec![node]));
        first_of.resize(partition.nodes.len() - before as usize, first);
        for i in members {
            let piece = piece_of[i as usize];
            let place = whole.get(piece as usize).and_then(|piece| kept.binary_search(piece).ok());
            node_of[i as usize] = place.map_or(NO_NODE, |at| first + at as u32);
            if place.is_none() {
                open.push((i, first));
            }
        }
    }
    if open.is_empty() {
        return;
    }
    // What is in no piece joins that of the nearest burst of the same node.
    let group_of = |burst: u32| {
        let new = node_of[burst as usize].checked_sub(before).and_then(|new| first_of.get(new as usize));
        new.copied().unwrap_or(NO_NODE)
    };
    let marked = index.mark(group_of, open.len());
    let nearest = |pending: &mut Pending, &(i, first): &(u32, u32)| {
        let found = index.nearest(&marked, i, first, pending);
        found.map_or(NO_NODE, |other| node_of[other as usize])
    };
    let nodes: Vec<u32> = open.par_iter().map_init(Pending::default, nearest).collect();
    open.iter().zip(nodes).for_each(|((i, _), node)| node_of[*i as usize] = node);
}
