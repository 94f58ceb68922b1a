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

    /// The phase that most likely is the same step on other units: it has the same instructions,
    /// and with it all do the step about as often. A slow unit may do a step alone, when the
    /// others have done it long ago. `work` keeps what is found out once.
    pub(super) fn same_work(
        &self,
        label: u32,
        counts: &Counts,
        work: &OnceCell<Option<Vec<f64>>>,
    ) -> Option<u32> {
        let work = work.get_or_init(|| self.work()).as_ref()?;
        let own = counts.get(&label)?;
        let apart = |other: u32| (work[other as usize] / work[label as usize]).ln().abs();
        let is_same = |other: u32, of: &_| {
            other != label && apart(other) <= LEAST_APART && evens_out(own, of, self.n_units() as f64)
        };
        let same = counts.iter().filter(|&(&other, of)| is_same(other, of)).map(|(&other, _)| other);
        same.min_by(|&a, &b| apart(a).total_cmp(&apart(b)).then(a.cmp(&b)))
    }

    /// Of each phase, the median instructions of its bursts; none where they are not counted.
    fn work(&self) -> Option<Vec<f64>> {
        let counters = &self.all.table.counters;
        let instructions = &counters[instructions_and_cycles(counters)[0]?].values;
        let mut of_phase: Vec<Vec<f64>> = vec![Vec::new(); self.all.n_labels()];
        for &burst in self.order() {
            of_phase[self.all.label(burst) as usize].push(instructions.get(burst as usize));
        }
        let middle = |values: Vec<f64>| median::upper(&median::sorted(values)).unwrap_or(f64::NAN);
        Some(of_phase.into_iter().map(middle).collect())
    }
}

/// How far the nearest of ascending moments is.
fn nearest(moments: &[u64], at: u64) -> u64 {
    let after = moments.partition_point(|&moment| moment < at);
    let around = moments[after.saturating_sub(1)..].iter().take(2);
    around.map(|moment| moment.abs_diff(at)).min().unwrap_or(u64::MAX)
}
