//! The begin of a run, while some threads have not begun.

use std::collections::BTreeMap;

use super::counts::EVEN;
use super::stretches::Stretches;
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::is_nearly_all;
use crate::median;
use crate::table::Nanos;

/// The bounds of stretches, where those until the last unit of a group has begun are one, if each
/// unit is in one of them, all do the same, and what the units do evens out.
///
/// Before its first burst a thread may not exist yet, so nobody knows that it waits. Where each does
/// the same at its own begin, one after the other, no moment parts what is one step.
///
/// # Complexity
/// O(n log n + u) for n bursts and u units.
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

/// What a unit does in the stretch in which it begins.
#[derive(Clone, Copy)]
struct Begun {
    time: f64,
    /// Instructions; `NaN` if they are not known.
    work: f64,
    /// Of which label most of the time is.
    label: u32,
}

impl Begun {
    fn of(stretches: &Stretches<'_>, bursts: &[u32]) -> Self {
        let all = stretches.all;
        let instructions = instructions_and_cycles(&all.table.counters)[0];
        let work = |burst: u32| match instructions {
            Some(counter) => all.table.counters[counter].values.get(burst as usize),
            None => f64::NAN,
        };
        let mut by_label: BTreeMap<u32, f64> = BTreeMap::new();
        for &burst in bursts {
            *by_label.entry(all.label(burst)).or_insert(0.0) += all.duration(burst) as f64;
        }
        let most = by_label.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
        Self {
            time: by_label.values().sum(),
            work: bursts.iter().map(|&burst| work(burst)).sum(),
            label: most.map_or(all.noise(), |(&label, _)| label),
        }
    }
}

/// Whether each unit is in one of these stretches, all do the same there, and their times differ
/// from the mean, over all stretches together, by at most half of what they differ by in each.
fn evens_out(stretches: &Stretches<'_>, bounds: &[usize]) -> bool {
    let (order, group) = (stretches.order(), |burst: u32| stretches.group_of(stretches.unit(burst)));
    let units = stretches.units_of(group(order[bounds[0]]));
    let n = units.len() as f64;
    let mut begun: Vec<Option<Begun>> = vec![None; units.len()];
    let mut apart = 0.0;
    // Those without any time differ by the mean.
    let uneven = |times: &[f64]| {
        let mean = times.iter().sum::<f64>() / n;
        times.iter().map(|time| (time - mean).abs()).sum::<f64>() + (n - times.len() as f64) * mean
    };
    for ends in bounds.windows(2) {
        let mut bursts = order[ends[0]..ends[1]].to_vec();
        bursts.sort_by_key(|&burst| stretches.unit(burst));
        let mut times = Vec::new();
        for own in bursts.chunk_by(|&a, &b| stretches.unit(a) == stretches.unit(b)) {
            let of_unit = Begun::of(stretches, own);
            times.push(of_unit.time);
            let place = stretches.unit(own[0]) as usize - units.start;
            if begun[place].replace(of_unit).is_some() {
                // It has begun, and goes on: what others do for the first time is another step.
                return false;
            }
        }
        apart += uneven(&times);
    }
    let begun: Vec<Begun> = begun.into_iter().flatten().collect();
    let times: Vec<f64> = begun.iter().map(|begun| begun.time).collect();
    uneven(&times) <= EVEN * apart && do_the_same(&begun, stretches.all.noise())
}

/// Whether all begin with bursts of one label. One of no label must take as long as these usually
/// do, with as many instructions: one thread may compute before it starts the others.
fn do_the_same(begun: &[Begun], noise: u32) -> bool {
    let labelled = || begun.iter().filter(|begun| begun.label != noise);
    let label = labelled().map(|begun| begun.label).next().unwrap_or(noise);
    let of_label = || begun.iter().filter(|begun| begun.label == label);
    let middle = |of: fn(&Begun) -> f64| median::upper(&median::sorted(of_label().map(of)));
    let usual = [middle(|begun| begun.time), middle(|begun| begun.work)];
    let is_usual = |begun: &Begun| {
        usual.iter().zip([begun.time, begun.work]).all(|(usual, own)| {
            usual.is_none_or(|usual| {
                usual == own
                    || usual.is_nan()
                    || own.is_nan()
                    || is_nearly_all(own.min(usual), own.max(usual))
            })
        })
    };
    labelled().all(|begun| begun.label == label)
        && begun.iter().filter(|begun| begun.label == noise).all(is_usual)
}
