//! What stands before and after a phase: where it is, whatever it takes.

use std::collections::BTreeMap;

use super::matched::RunBursts;

/// Of each phase, which phases stand before and after it, and how often, of 1;
/// `None` is where a thread begins or ends.
pub(super) type Around = Vec<BTreeMap<[Option<u32>; 2], f64>>;

/// The neighbours of each phase of a run. Only `common` phases count; others are
/// passed over, and so are the bursts of threads that were not aligned. Several
/// bursts of one phase in a row count as one.
pub(super) fn around(
    run: &RunBursts<'_>,
    (phase_of, aligned): (&[Option<u32>], &[bool]),
    common: &[bool],
) -> Around {
    let table = run.table;
    let mut found: Around = vec![BTreeMap::new(); common.len()];
    for (_, rows) in table.threads() {
        let own = run.complete.before(rows.start)..run.complete.before(rows.end);
        let seen = own.filter(|&k| aligned[k]).filter_map(|k| phase_of[k]);
        let mut sequence: Vec<u32> = seen.filter(|&p| common[p as usize]).collect();
        sequence.dedup();
        for (k, &p) in sequence.iter().enumerate() {
            let before = k.checked_sub(1).map(|k| sequence[k]);
            *found[p as usize].entry([before, sequence.get(k + 1).copied()]).or_default() += 1.0;
        }
    }
    for of_phase in &mut found {
        let n: f64 = of_phase.values().sum();
        of_phase.values_mut().for_each(|share| *share /= n);
    }
    found
}

/// How well the neighbours of each phase agree in two runs, from 0 to 1: the
/// share of its occurrences that stand between the same two phases. Each counts
/// as far as the phase itself is the same in both runs (`same`, 0 to 1, by
/// phase) or as both neighbours are, whichever is more: a phase between two
/// known ones is known, even if it does more work than in the other run.
pub(super) fn agreement(a: &Around, b: &Around, same: &[f64]) -> Vec<f64> {
    let known = |p: &Option<u32>| p.map_or(1.0, |p| same[p as usize]);
    let of_phase = |p: usize| {
        let shares = a[p].iter().map(|(around, share)| {
            let both = share.min(b[p].get(around).copied().unwrap_or(0.0));
            both * same[p].max(known(&around[0]).min(known(&around[1])))
        });
        shares.sum::<f64>().min(1.0)
    };
    (0..same.len()).map(of_phase).collect()
}
