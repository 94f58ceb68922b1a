//! Whether the ranks of a node had a CPU each.

use std::collections::BTreeMap;

use likewise_recording::{Cpus, RankMeta};

use crate::printable;

/// That there are more ranks on a node than CPUs which they may use, if that is known.
pub(super) fn note(ranks: &[RankMeta]) -> Option<String> {
    let mut nodes: BTreeMap<&str, BTreeMap<Cpus, u64>> = BTreeMap::new();
    for meta in ranks.iter().filter(|meta| meta.cpus.n > 0 && !meta.node.is_empty()) {
        *nodes.entry(&meta.node).or_default().entry(meta.cpus).or_default() += 1;
    }
    // Ranks that may use the same CPUs, or all of a node. Sets that overlap count as if they did
    // not, for how many CPUs they have together is not known.
    let crowded = |(&node, sets)| {
        let sets: &BTreeMap<Cpus, u64> = sets;
        let all = sets.iter().fold((0, 0), |sum, (set, ranks)| (sum.0 + ranks, sum.1 + u64::from(set.n)));
        let of_sets = sets.iter().map(|(set, &ranks)| (ranks, u64::from(set.n)));
        let mut known = std::iter::once(all).chain(of_sets);
        known.find(|(ranks, cpus)| ranks > cpus).map(|(ranks, cpus)| (node, ranks, cpus))
    };
    let crowded: Vec<_> = nodes.iter().filter_map(crowded).collect();
    let (node, ranks, cpus) = crowded.first()?;
    let node = printable(node.as_bytes(), 100);
    let (s, more) = match (*cpus, crowded.len()) {
        (1, n) => ("", n - 1),
        (_, n) => ("s", n - 1),
    };
    let others = match more {
        0 => String::new(),
        n => format!(", and alike on {n} of {} other nodes", nodes.len() - 1),
    };
    Some(format!(
        "{ranks} ranks share {cpus} CPU{s} on node {node}{others}: times of bursts and calls have waits for a CPU in \
         them, where ranks do not sleep"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ranks: &[(&str, u32, u32, u32)]) -> Option<String> {
        let meta = |(rank, &(node, first, last, n)): (u32, &(&str, u32, u32, u32))| RankMeta {
            rank,
            node: node.to_owned(),
            cpus: Cpus { first, last, n },
            ..RankMeta::default()
        };
        note(&(0..).zip(ranks).map(meta).collect::<Vec<_>>())
    }

    #[test]
    fn more_ranks_than_cpus_are_said_and_no_others() {
        let shared = said(&[("a", 0, 1, 2), ("a", 0, 1, 2), ("a", 0, 1, 2)]).expect("a note");
        assert!(shared.starts_with("3 ranks share 2 CPUs on node a: times of bursts"), "{shared}");
        let bound_to_one = said(&[("a", 3, 3, 1), ("a", 3, 3, 1)]).expect("a note");
        assert!(bound_to_one.starts_with("2 ranks share 1 CPU on node a: "), "{bound_to_one}");
        let nodes = said(&[("a", 3, 3, 1), ("b", 0, 0, 1), ("b", 0, 0, 1), ("c", 0, 0, 1), ("c", 0, 0, 1)]);
        assert!(nodes.expect("a note").contains("on node b, and alike on 1 of 2 other nodes: "));
        let some = said(&[("a", 0, 0, 1), ("a", 0, 0, 1), ("a", 1, 15, 15)]).expect("a note");
        assert!(some.starts_with("2 ranks share 1 CPU on node a: "), "{some}");
        // One each, as a launcher binds them; as many as there are; one each of several nodes.
        assert_eq!(said(&[("a", 0, 0, 1), ("a", 1, 1, 1), ("a", 2, 66, 2)]), None);
        assert_eq!(said(&[("a", 0, 1, 2), ("a", 0, 1, 2)]), None);
        assert_eq!(said(&[("a", 0, 0, 1), ("b", 0, 0, 1)]), None);
        assert_eq!(said(&[("", 0, 0, 1), ("", 0, 0, 1)]), None, "of which node is not known");
        // Recordings made before tell nothing.
        assert_eq!(said(&[("a", 0, 0, 0), ("a", 0, 0, 0)]), None);
    }
}
