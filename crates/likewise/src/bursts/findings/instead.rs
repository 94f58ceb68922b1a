//! What threads do instead of a phase that only some of them have.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::counts::{Counts, evens_out, sum};
use super::finding::LEAST_APART;
use super::stretches::Stretches;
use crate::bursts::rates::instructions_and_cycles;
use crate::median;

impl Stretches<'_> {
    /// What others do next to a phase: for each of its bursts, the phase that
    /// begins nearest to it in the stretch, among those that the burst's unit does
    /// at most half as often as the mean. Returns the time of the bursts by that
    /// phase.
    pub(super) fn others_begin(&self, label: u32, counts: &Counts) -> BTreeMap<u32, f64> {
        let lacks = |unit: u32, other: u32| {
            let of = &counts[&other];
            let mean = sum(of) / self.n_units() as f64;
            of.binary_search_by_key(&unit, |of| of.0).map_or(true, |place| of[place].1 <= 0.5 * mean)
        };
        let mut times = BTreeMap::new();
        for bursts in self.each() {
            if !bursts.iter().any(|&burst| self.all.label(burst) == label) {
                continue;
            }
            let mut begins: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            for &burst in bursts.iter().filter(|&&burst| self.all.label(burst) != self.all.noise()) {
                begins.entry(self.all.label(burst)).or_default().push(self.all.begin(burst).0);
            }
            for &burst in bursts.iter().filter(|&&burst| self.all.label(burst) == label) {
                let lacked = begins.iter().filter(|(other, _)| lacks(self.unit(burst), **other));
                let apart = |begins: &[u64]| nearest(begins, self.all.begin(burst).0);
                if let Some((&other, _)) = lacked.min_by_key(|(other, begins)| (apart(begins), **other)) {
                    *times.entry(other).or_insert(0.0) += self.all.duration(burst) as f64;
                }
            }
        }
        times
    }

    /// The phase that is the same step on other units: the only one that has the same
    /// instructions, and with which all do the step about as often. A slow unit may do a step
    /// alone, when the others have done it long ago. Of two such phases nothing tells which it
    /// is. `work` keeps what is found out once.
    pub(super) fn same_work(&self, label: u32, counts: &Counts, work: &OnceCell<Work>) -> Option<u32> {
        let Work { of_label, ascending } = work.get_or_init(|| self.work());
        let least = of_label.get(label as usize)? - LEAST_APART;
        let first = ascending.partition_point(|&(work, _)| work < least);
        let near = ascending[first..].iter().take_while(|(work, _)| *work <= least + 2.0 * LEAST_APART);
        let own = counts.get(&label)?;
        let n = self.n_units() as f64;
        let is_one =
            |other: &u32| *other != label && counts.get(other).is_some_and(|of| evens_out(own, of, n));
        let mut same = near.map(|&(_, other)| other).filter(is_one);
        same.next().filter(|_| same.next().is_none())
    }

    /// Of each phase, the median instructions of its bursts.
    fn work(&self) -> Work {
        let counters = &self.all.table.counters;
        let Some(counter) = instructions_and_cycles(counters)[0] else { return Work::default() };
        let instructions = &counters[counter].values;
        let mut of_phase: Vec<Vec<f64>> = vec![Vec::new(); self.all.noise() as usize];
        for &burst in self.order().iter().filter(|&&burst| self.all.label(burst) != self.all.noise()) {
            of_phase[self.all.label(burst) as usize].push(instructions.get(burst as usize));
        }
        let middle = |values: Vec<f64>| median::upper(&median::sorted(values)).unwrap_or(f64::NAN).ln();
        let of_label: Vec<f64> = of_phase.into_iter().map(middle).collect();
        let known = of_label.iter().copied().zip(0..).filter(|(work, _)| work.is_finite());
        let mut ascending: Vec<(f64, u32)> = known.collect();
        ascending.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Work { of_label, ascending }
    }
}

/// What phases have to do: ln of the median instructions. Empty where they are not counted.
#[derive(Default)]
pub(super) struct Work {
    of_label: Vec<f64>,
    ascending: Vec<(f64, u32)>,
}

/// How far the nearest of ascending moments is.
fn nearest(moments: &[u64], at: u64) -> u64 {
    let after = moments.partition_point(|&moment| moment < at);
    let around = moments[after.saturating_sub(1)..].iter().take(2);
    around.map(|moment| moment.abs_diff(at)).min().unwrap_or(u64::MAX)
}
