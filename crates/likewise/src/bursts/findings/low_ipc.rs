//! Phases that have far fewer instructions per cycle than the rest of the run.

use std::collections::BTreeSet;

use super::counted::Counted;
use super::finding::{Finding, FindingKind, ThreadName};
use crate::bursts::on_core::is_known;
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::Scope;
use crate::cluster::ClusterId;
use crate::table::Nanos;

/// IPC under this share of the rest of the run's is low. Sound phases of one
/// program differ by up to a factor of two.
const LOW_IPC: f64 = 0.5;

/// What is compared with must have at least this share of all that is computed: the IPC of next to
/// nothing is no measure of what a run can do.
const YARDSTICK: f64 = 0.01;

/// What bursts count in all.
#[derive(Clone, Copy, Default)]
struct Sum {
    instructions: f64,
    cycles: f64,
    time: f64,
    /// Of the bursts that have both counters.
    counted: f64,
}

impl Sum {
    fn joined(self, other: Self) -> Self {
        Self {
            instructions: self.instructions + other.instructions,
            cycles: self.cycles + other.cycles,
            time: self.time + other.time,
            counted: self.counted + other.counted,
        }
    }

    fn less(self, other: Self) -> Self {
        let Self { instructions, cycles, time, counted } = other;
        self.joined(Self { instructions: -instructions, cycles: -cycles, time: -time, counted: -counted })
    }

    /// `None` where half of the time is not counted: few bursts say nothing of the others.
    fn ipc(self) -> Option<f64> {
        let ipc = self.instructions / self.cycles;
        (is_known(self.counted, self.time) && ipc.is_finite()).then_some(ipc)
    }

    /// For what share of its time it runs, if all else runs throughout: a thread that waits in a
    /// burst counts fewer cycles, and no other IPC makes its wait shorter.
    fn running(self, others: Self) -> f64 {
        let share = (self.cycles / self.counted) / (others.cycles / others.counted);
        if share.is_finite() { share.min(1.0) } else { 1.0 }
    }
}

/// Phases that most threads have, with an IPC far below that of all else. The threads that another
/// finding names in a phase do not count there: they may be slow, and only they. `told` has them.
pub(super) fn low_ipc(counted: &Counted<'_>, end: Nanos, told: &[(ClusterId, ThreadName)]) -> Vec<Finding> {
    let counters = &counted.table.counters;
    let [Some(instructions), Some(cycles)] = instructions_and_cycles(counters) else {
        return Vec::new();
    };
    let (instructions, cycles) = (&counters[instructions].values, &counters[cycles].values);
    let (n, n_threads) = (counted.n_labels(), counted.names().len());
    let place = |name: &ThreadName| counted.names().binary_search(name).ok();
    let mut named: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
    told.iter().for_each(|(phase, name)| named[phase.index()].extend(place(name)));
    let (mut sums, mut of_named) = (vec![Sum::default(); n], vec![Sum::default(); n]);
    // The longest burst of each that is counted, the first of equal ones.
    let mut longest: Vec<Option<u32>> = vec![None; n];
    for &burst in &counted.order {
        let (i, label) = (burst as usize, counted.label(burst) as usize);
        let (instructions, cycles) = (instructions.get(i), cycles.get(i));
        let time = counted.duration(burst) as f64;
        let is_counted = instructions >= 0.0 && cycles > 0.0;
        let is_named = named[label].contains(&(counted.thread(burst) as usize));
        let sum = if is_named { &mut of_named[label] } else { &mut sums[label] };
        *sum = sum.joined(match is_counted {
            true => Sum { instructions, cycles, time, counted: time },
            // These are taken to be like those that have the counters.
            false => Sum { time, ..Sum::default() },
        });
        let is_longer = |most: u32| counted.duration(burst) > counted.duration(most);
        if is_counted && !is_named && longest[label].is_none_or(is_longer) {
            longest[label] = Some(burst);
        }
    }
    let all = sums.iter().chain(&of_named).fold(Sum::default(), |all, sum| all.joined(*sum));
    let threads = counted.threads_by_label();
    let finding = |label: usize| {
        let (own, whole) = (sums[label], sums[label].joined(of_named[label]));
        let rest = all.less(whole);
        let (ipc, others) = (own.ipc()?, rest.ipc()?);
        let n_others = threads[label].saturating_sub(named[label].len());
        let is_common = n_others > 0 && 2 * n_others >= n_threads;
        if ipc > LOW_IPC * others || !is_common || rest.time < YARDSTICK * all.time {
            return None;
        }
        let longest = longest[label]?;
        let less = own.running(rest) * (1.0 - ipc / others) / (n_threads as f64 * end.0 as f64);
        // Were those that are named as the others.
        let time = own.time * threads[label] as f64 / n_others as f64;
        let kind = FindingKind::LowIpc { ipc: whole.ipc()?, others };
        let worth = (time * less, counted.duration(longest) as f64 * less);
        Some(of_phase(kind, label, worth, counted.begin(longest)))
    };
    (0..n).filter(|&label| label != counted.noise() as usize).filter_map(finding).collect()
}

/// A finding of a phase that is worth such a share of the run, and its longest burst such a one.
fn of_phase(kind: FindingKind, label: usize, (share, most): (f64, f64), begin: Nanos) -> Finding {
    Finding {
        kind,
        share,
        most,
        scope: Scope::Run,
        phases: vec![ClusterId::from_index(label)],
        noise: false,
        threads: Vec::new(),
        gradient: None,
        from: None,
        until: None,
        begin,
        before: Nanos::ZERO,
        stretches: 0,
        is_once: false,
        at_other_times: false,
    }
}
