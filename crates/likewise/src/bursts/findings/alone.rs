//! For how much of some bursts no other thread computes.

use super::finding::ThreadName;
use super::stretches::{Part, Stretches};
use crate::bursts::serial::Scope;

/// For how much of the time of the slowest units in the parts of a step no other computes: of a run with
/// several threads in a task no other thread, but those of the task that are named too.
pub(super) fn alone<'p>(
    stretches: &Stretches<'_>,
    costly: impl Iterator<Item = &'p Part>,
    named: &[ThreadName],
    scope: Scope,
) -> f64 {
    let all = stretches.all;
    let own = |part: &Part| {
        let of_unit = |&burst: &u32| stretches.unit(burst) == part.unit;
        part.bursts.iter().copied().filter(of_unit).collect::<Vec<u32>>()
    };
    if scope == Scope::Run && all.is_hybrid() {
        let mut bursts: Vec<u32> = costly.flat_map(own).collect();
        bursts.sort_unstable_by_key(|&burst| (all.begin(burst), burst));
        let is_other = |own: u32, other: u32| {
            let (own, name) = (all.name(own), all.name(other));
            own != name && !(own.task == name.task && named.contains(&name))
        };
        return time_alone(stretches, &bursts, &all.order, is_other);
    }
    let of_part = |part: &Part| {
        let is_other = |_, other| stretches.unit(other) != part.unit;
        time_alone(stretches, &own(part), stretches.of_stretch(part.stretch), is_other)
    };
    costly.map(of_part).sum()
}

/// For how much of the time of `bursts` none of `among` computes that is another; both by
/// begin.
pub(super) fn time_alone(
    stretches: &Stretches<'_>,
    bursts: &[u32],
    among: &[u32],
    is_other: impl Fn(u32, u32) -> bool,
) -> f64 {
    let span = |burst: u32| (stretches.all.begin(burst).0, stretches.all.end(burst).0);
    // Those of `among` that may still run.
    let (mut running, mut next): (Vec<u32>, _) = (Vec::new(), among.iter().copied().peekable());
    let mut alone = 0;
    for &burst in bursts {
        let (begin, end) = span(burst);
        running.retain(|&other| span(other).1 > begin);
        while let Some(other) = next.next_if(|&other| span(other).0 < end) {
            if span(other).1 > begin {
                running.push(other);
            }
        }
        // They are by begin.
        let mut at = begin;
        for (from, to) in running.iter().filter(|&&other| is_other(burst, other)).map(|&other| span(other)) {
            if from >= end {
                break;
            }
            alone += from.saturating_sub(at);
            at = at.max(to);
        }
        alone += end.saturating_sub(at);
    }
    alone as f64
}
