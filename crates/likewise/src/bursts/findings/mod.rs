//! What of a run is worth looking at first.
//!
//! The run is cut at every moment at which no thread computes. Between two
//! such moments, in a *stretch*, some thread computes longest, and the others
//! have to wait for it: were the work even, the stretch would be shorter by
//! the longest time less the mean. Where tasks have several threads, this is
//! done twice: among the threads of each task, and among the tasks, each by its
//! slowest thread. `docs/findings.md` has the rules, what their thresholds rest
//! on, and what they cannot tell.

mod alone;
mod asleep;
mod causes;
mod counted;
mod counts;
mod finding;
mod how;
mod idle;
mod instead;
mod launch;
mod low_ipc;
mod one_offs;
mod part;
mod place;
mod serial;
mod shape;
mod since;
mod single;
mod slower;
mod speed;
mod step;
mod stretches;
mod turns;

use super::serial::Scope;
use counted::Counted;
pub use finding::{
    Cause, FewCpus, Finding, FindingKind, Findings, FindingsInput, Gradient, How, LEAST_SHARE, TaskBegins,
    ThreadName,
};
use stretches::{Among, Stretches};

/// A burst of no phase is named if it takes at least this share of the run.
const LONG_BURST: f64 = 0.01;

/// Where bursts sleep, and none computes, for this share of the run, it is no finding, but said beside them.
pub const MOST_ASLEEP: f64 = 0.5;

/// At most so many findings are reported.
const MOST: usize = 5;

/// What is worth most in a run: time to be won by balance, serial time, slow
/// threads, single long bursts and low IPC.
///
/// Each defect is reported once: a slow thread is not reported as imbalance too,
/// nor does it make its phase one of low IPC.
///
/// # Panics
/// If `phase` is not as long as the table.
///
/// # Complexity
/// O(n log n) for n bursts, and O(t) for t threads per phase that is told of.
#[must_use]
pub fn findings(input: &FindingsInput<'_>) -> Findings {
    assert_eq!(input.phase.len(), input.table.len(), "a phase, or none, for every burst");
    let length = input.part.end.saturating_sub(input.part.start);
    let whole = length.0 as f64;
    let all = Counted::of(input);
    if all.names().is_empty() || whole <= 0.0 {
        return Findings::default();
    }
    let few_cpus = few_cpus(&all, input.most_at_once);
    let by_stretch = || {
        if all.is_hybrid() {
            let within = Stretches::of(&all, &Among::ThreadsOfTask);
            let (of_run, between) = losses(&Stretches::of(&all, &Among::Tasks(&within)), whole, Scope::Run);
            // What a task wins, as the mean over the tasks. A burst that is late
            // once costs the run what its task is late.
            let (of_tasks, inside) = losses(&within, whole * all.n_tasks() as f64, Scope::Task);
            let of_tasks = of_tasks.into_iter().filter(|f| !matches!(f.kind, FindingKind::OneOff { .. }));
            (causes::together(of_run, of_tasks), between + inside)
        } else {
            losses(&Stretches::of(&all, &Among::Threads), whole, Scope::Run)
        }
    };
    let ((mut list, balance), (slower, knows_slower)) =
        rayon::join(by_stretch, || slower::slower(&all, whole));
    list.extend(slower);
    let is_told = |f: &&Finding| !matches!(f.kind, FindingKind::Imbalance { .. });
    let low = low_ipc::low_ipc(&all, length, &list.iter().filter(is_told).collect::<Vec<_>>());
    list.extend(low);
    let mut asleep = asleep::asleep(input);
    if asleep.iter().map(|finding| finding.share).sum::<f64>() < MOST_ASLEEP {
        list.append(&mut asleep);
    }
    list.retain(|finding| finding.share >= LEAST_SHARE && (few_cpus.is_none() || !finding.is_by_waiting()));
    list.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.begin.cmp(&b.begin)));
    list.truncate(MOST);
    Findings {
        list,
        idle: idle::idle(input).0 as f64 / whole,
        asleep,
        balance,
        begun: all.begun(),
        knows_slower,
        knows_chance: knows_chance(&all),
        are_few: all.are_few(),
        few_cpus,
    }
}

/// Whether the mean thread of some phase does it often enough to be compared with itself.
fn knows_chance(all: &Counted<'_>) -> bool {
    let mut bursts = vec![0; all.n_labels()];
    all.order.iter().for_each(|&burst| bursts[all.label(burst) as usize] += 1);
    bursts.pop();
    bursts.iter().zip(all.threads_by_label()).any(|(&n, threads)| n > 0 && n >= shape::REPEATED * threads)
}

/// That there are fewer CPUs than threads, and never more that compute at once.
fn few_cpus(all: &Counted<'_>, cpus: Option<u32>) -> Option<FewCpus> {
    let cpus = cpus.filter(|&cpus| (cpus as usize) < all.names().len())?;
    let at_once = u32::try_from(all.at_once()).ok().filter(|&at_once| at_once <= cpus)?;
    Some(FewCpus { cpus, at_once })
}

/// What is lost among those that are compared, and the share of `whole` that
/// balance would win.
fn losses(stretches: &Stretches<'_>, whole: f64, scope: Scope) -> (Vec<Finding>, f64) {
    let mut parts = stretches.parts(LONG_BURST * whole);
    let balance = parts.iter().map(|part| part.gain).sum::<f64>() / whole;
    let one_offs = one_offs::one_offs(stretches, &mut parts, whole);
    let uneven = causes::uneven(stretches, &parts, whole, scope);
    let (one_offs, mut list) = serial::without_serial(one_offs, uneven, whole, stretches.n_units());
    let are_few = stretches.all.are_few();
    let one_offs = if are_few { one_offs } else { one_offs::folded(one_offs) };
    let as_serial = |found| serial::as_serial(found, whole, stretches.n_units(), are_few);
    list.extend(one_offs.into_iter().map(as_serial));
    // Who sleeps for most of the run need not have a part of the work.
    list.retain(|finding| {
        !finding.takes_less() || finding.threads.iter().any(|name| !stretches.all.sleeps(name))
    });
    (list, balance)
}

#[cfg(test)]
mod tests;
