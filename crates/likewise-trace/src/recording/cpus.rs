//! Whether the ranks of a node had a CPU each.

use std::collections::{BTreeMap, BTreeSet};

use likewise_recording::{Cpus, RankMeta};

use crate::printable;

/// That there are more ranks on a node than CPUs which they may use, if that is known.
pub(super) fn note(ranks: &[RankMeta]) -> Option<String> {
    let mut nodes: BTreeMap<&str, BTreeMap<Cpus, u64>> = BTreeMap::new();
    for meta in ranks.iter().filter(|meta| meta.cpus.n > 0 && !meta.node.is_empty()) {
        *nodes.entry(&meta.node).or_default().entry(meta.cpus).or_default() += 1;
    }
    // All ranks of a node, those that may use the same CPUs, and those of some CPUs in a row.
    let crowded = |(&node, sets)| {
        let sets: &BTreeMap<Cpus, u64> = sets;
        let all = sets.iter().fold((0, 0), |sum, (set, ranks)| (sum.0 + ranks, sum.1 + u64::from(set.n)));
        let of_sets = sets.iter().map(|(set, &ranks)| (ranks, u64::from(set.n)));
        let mut known = std::iter::once(all).chain(of_sets).chain(in_rows(sets));
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

/// Ranks that may use no other CPUs than some in a row, and how many these are at most: no more
/// than stand between the first and the last, or than the sets have together if none overlap.
/// (Which CPUs of a set are between its first and its last is not known.)
fn in_rows(sets: &BTreeMap<Cpus, u64>) -> impl Iterator<Item = (u64, u64)> {
    let mut by_last: Vec<(Cpus, u64)> = sets.iter().map(|(&set, &ranks)| (set, ranks)).collect();
    by_last.sort_by_key(|(set, _)| set.last);
    let firsts: BTreeSet<u32> = sets.keys().map(|set| set.first).collect();
    firsts.into_iter().flat_map(move |first| {
        let (mut ranks, mut cpus) = (0, 0);
        let inside = by_last.iter().filter(|(set, _)| set.first >= first);
        let until = |(set, own): &(Cpus, u64)| {
            ranks += own;
            cpus += u64::from(set.n);
            (ranks, cpus.min(u64::from(set.last.saturating_sub(first)) + 1))
        };
        inside.map(until).collect::<Vec<_>>()
    })
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
        // Sets that overlap: two CPUs for three ranks, and three of five for four ranks.
        let overlap = said(&[("a", 0, 1, 2), ("a", 0, 0, 1), ("a", 1, 1, 1)]).expect("a note");
        assert!(overlap.starts_with("3 ranks share 2 CPUs on node a: "), "{overlap}");
        let part = said(&[("a", 0, 1, 2), ("a", 3, 5, 3), ("a", 3, 4, 2), ("a", 4, 5, 2), ("a", 4, 4, 1)]);
        assert!(part.expect("a note").starts_with("4 ranks share 3 CPUs on node a: "));
        assert_eq!(said(&[("a", 0, 1, 2), ("a", 1, 2, 2), ("a", 2, 3, 2)]), None, "one each is left");
        // Of sets with gaps it is not known whether they overlap.
        assert_eq!(said(&[("a", 0, 6, 2), ("a", 1, 7, 2), ("a", 0, 7, 2)]), None);
        // One each, as a launcher binds them; as many as there are; one each of several nodes.
        assert_eq!(said(&[("a", 0, 0, 1), ("a", 1, 1, 1), ("a", 2, 66, 2)]), None);
        assert_eq!(said(&[("a", 0, 1, 2), ("a", 0, 1, 2)]), None);
        assert_eq!(said(&[("a", 0, 0, 1), ("b", 0, 0, 1)]), None);
        assert_eq!(said(&[("", 0, 0, 1), ("", 0, 0, 1)]), None, "of which node is not known");
        // Recordings made before tell nothing.
        assert_eq!(said(&[("a", 0, 0, 0), ("a", 0, 0, 0)]), None);
    }
}
