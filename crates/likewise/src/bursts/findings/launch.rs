//! The begin of a run, while some threads have not begun.

use super::counts::EVEN;
use super::stretches::Stretches;
use crate::table::Nanos;

/// The bounds of stretches, where those until the last unit of a group has begun are one, if each
/// unit is in one of them, and what the units do evens out.
///
/// Before its first burst a thread may not exist yet, so nobody knows that it waits. Where each does
/// the same at its own begin, one after the other, no moment parts what is one step.
///
/// # Complexity
/// O(n + u) for n bursts and u units.
pub(super) fn joined(stretches: &Stretches<'_>, bounds: &[usize]) -> Vec<usize> {
    let (all, order) = (stretches.all, stretches.order());
    let mut last = vec![Nanos::ZERO; stretches.n_groups()];
    for (unit, first) in (0..).zip(stretches.first_begins()) {
        let last = &mut last[stretches.group_of(unit)];
        *last = first.max(*last);
    }
    let group = |at: usize| stretches.group_of(stretches.unit(order[at]));
    let mut kept = Vec::with_capacity(bounds.len());
    let mut at = 0;
    while at + 1 < bounds.len() {
        let own = group(bounds[at]);
        let is_before = |&&begin: &&usize| group(begin) == own && all.begin(order[begin]) <= last[own];
        let until = at + bounds[at..bounds.len() - 1].iter().take_while(is_before).count().max(1);
        let of_launch = at == 0 || group(bounds[at - 1]) != own;
        if of_launch && until - at > 1 && evens_out(stretches, &bounds[at..=until]) {
            kept.push(bounds[at]);
        } else {
            kept.extend(&bounds[at..until]);
        }
        at = until;
    }
    kept.extend(bounds.last());
    kept
}

/// Whether each unit is in one of these stretches, and their times differ from the mean, over all
/// stretches together, by at most half of what they differ by in each.
fn evens_out(stretches: &Stretches<'_>, bounds: &[usize]) -> bool {
    let (all, order) = (stretches.all, stretches.order());
    let n = stretches.peers(stretches.unit(order[bounds[0]]));
    let mut sums = vec![0.0; stretches.n_units()];
    let mut times = vec![0.0; stretches.n_units()];
    let mut apart = 0.0;
    // Those without any time differ by the mean.
    let uneven = |times: &mut dyn Iterator<Item = f64>, total: f64| {
        let (mut sum, mut n_with) = (0.0, 0.0);
        for time in times {
            (sum, n_with) = (sum + (time - total / n).abs(), n_with + 1.0);
        }
        sum + (n - n_with) * total / n
    };
    for ends in bounds.windows(2) {
        let bursts = &order[ends[0]..ends[1]];
        let mut units: Vec<u32> = Vec::new();
        let mut total = 0.0;
        for &burst in bursts {
            let (unit, time) = (stretches.unit(burst), all.duration(burst) as f64);
            if times[unit as usize] == 0.0 {
                units.push(unit);
            }
            times[unit as usize] += time;
            total += time;
        }
        apart += uneven(&mut units.iter().map(|&unit| times[unit as usize]), total);
        for unit in units {
            let sum = &mut sums[unit as usize];
            if *sum > 0.0 {
                // It has begun, and goes on: what others do for the first time is another step.
                return false;
            }
            *sum = std::mem::take(&mut times[unit as usize]);
        }
    }
    let own = stretches.group_of(stretches.unit(order[bounds[0]]));
    let of_group = || (0..sums.len()).filter(|&unit| stretches.group_of(unit as u32) == own);
    let total = of_group().map(|unit| sums[unit]).sum();
    uneven(&mut of_group().map(|unit| sums[unit]), total) <= EVEN * apart
}
