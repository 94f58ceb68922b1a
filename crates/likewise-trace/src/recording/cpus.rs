//! Whether the ranks of a node had a CPU each.

use std::collections::{BTreeMap, BTreeSet};

use likewise_recording::{Cpus, RankMeta};

use crate::printable;

/// That there are more ranks on a node than CPUs which they may use, if that is known.
pub(super) fn note(ranks: &[RankMeta]) -> Option<String> {
    let mut nodes: BTreeMap<&str, (u64, BTreeSet<Cpus>)> = BTreeMap::new();
    for meta in ranks.iter().filter(|meta| meta.cpus.n > 0) {
        let (ranks, sets) = nodes.entry(&meta.node).or_default();
        *ranks += 1;
        sets.insert(meta.cpus);
    }
    // Sets that overlap count as if they did not: there are no more CPUs than that.
    let cpus = |sets: &BTreeSet<Cpus>| sets.iter().map(|set| u64::from(set.n)).sum::<u64>();
    let of_nodes = nodes.iter().map(|(node, (ranks, sets))| (*node, *ranks, cpus(sets)));
    let crowded: Vec<_> = of_nodes.filter(|(_, ranks, cpus)| ranks > cpus).collect();
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
        // One each, as a launcher binds them; as many as there are; one each of several nodes.
        assert_eq!(said(&[("a", 0, 0, 1), ("a", 1, 1, 1), ("a", 2, 66, 2)]), None);
        assert_eq!(said(&[("a", 0, 1, 2), ("a", 0, 1, 2)]), None);
        assert_eq!(said(&[("a", 0, 0, 1), ("b", 0, 0, 1)]), None);
        // Recordings made before tell nothing.
        assert_eq!(said(&[("a", 0, 0, 0), ("a", 0, 0, 0)]), None);
    }
}
