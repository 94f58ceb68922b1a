//! Steps that threads do one at a time.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::stretches::Stretches;
use crate::bursts::serial::is_nearly_all;

/// Which phases of a run are done one at a time; found when it is first asked.
pub(super) struct Turns<'s, 'a> {
    pub(super) stretches: &'s Stretches<'a>,
    by_label: OnceCell<Vec<[f64; 2]>>,
}

impl<'s, 'a> Turns<'s, 'a> {
    pub(super) fn of(stretches: &'s Stretches<'a>) -> Self {
        Self { stretches, by_label: OnceCell::new() }
    }

    /// In which share of the time of some phases only one unit of a group computes, if that is
    /// nearly all of it: they are done one at a time, and are what a note calls serial.
    pub(super) fn alone(&self, labels: &BTreeSet<u32>) -> Option<f64> {
        let by_label = self.by_label.get_or_init(|| alone_by_label(self.stretches));
        let add = |sum: [f64; 2], &[alone, time]: &[f64; 2]| [sum[0] + alone, sum[1] + time];
        let [alone, time] = labels.iter().map(|&label| &by_label[label as usize]).fold([0.0; 2], add);
        is_nearly_all(alone, time).then(|| alone / time)
    }
}

/// What runs in a group of units, up to a moment.
#[derive(Clone, Default)]
struct Group {
    /// End of each burst, its label and unit, and what `alone` was when it began.
    running: BinaryHeap<Reverse<(u64, u32, u32, u64)>>,
    /// How many units compute.
    units: usize,
    /// For how long just one has, up to `since`.
    alone: u64,
    since: u64,
}

impl Group {
    /// Goes on to a time at which something begins or ends.
    fn until(&mut self, time: u64) {
        self.alone += if self.units == 1 { time - self.since } else { 0 };
        self.since = time;
    }
}

/// Of each label, for how long its bursts are those of the only unit of their group that
/// computes, and how long they last in all. Groups of one unit do not count.
///
/// # Complexity
/// O(n log t) for n bursts of t threads.
fn alone_by_label(stretches: &Stretches<'_>) -> Vec<[f64; 2]> {
    let all = stretches.all;
    let mut groups = vec![Group::default(); stretches.n_groups()];
    let mut of_unit = vec![0_u32; stretches.n_units()];
    let mut sums = vec![[0.0; 2]; all.n_labels()];
    let mut end = |group: &mut Group, of_unit: &mut [u32], up_to: u64| {
        while let Some(&Reverse((time, label, unit, before))) = group.running.peek()
            && time <= up_to
        {
            group.running.pop();
            group.until(time);
            sums[label as usize][0] += (group.alone - before) as f64;
            of_unit[unit as usize] -= 1;
            group.units -= usize::from(of_unit[unit as usize] == 0);
        }
    };
    let mut total = vec![0.0; all.n_labels()];
    for &burst in &all.order {
        let (unit, label) = (stretches.unit(burst), all.label(burst));
        if stretches.peers(unit) < 2.0 {
            continue;
        }
        let group = &mut groups[stretches.group_of(unit)];
        end(group, &mut of_unit, all.begin(burst).0);
        group.until(all.begin(burst).0);
        group.units += usize::from(of_unit[unit as usize] == 0);
        of_unit[unit as usize] += 1;
        group.running.push(Reverse((all.end(burst).0, label, unit, group.alone)));
        total[label as usize] += all.duration(burst) as f64;
    }
    groups.iter_mut().for_each(|group| end(group, &mut of_unit, u64::MAX));
    sums.iter_mut().zip(total).for_each(|(sum, total)| sum[1] = total);
    sums
}
