//! Phases that have far fewer instructions per cycle than the rest of the run.

use super::counted::Counted;
use super::finding::{Finding, FindingKind};
use crate::bursts::on_core::is_known;
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::Scope;
use crate::cluster::ClusterId;
use crate::table::Nanos;

/// IPC under this share of the rest of the run's is low. Sound phases of one
/// program differ by up to a factor of two.
const LOW_IPC: f64 = 0.5;

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
}

/// Phases that most threads have, with an IPC far below that of all else.
pub(super) fn low_ipc(counted: &Counted<'_>, end: Nanos, told: &[ClusterId]) -> Vec<Finding> {
    let counters = &counted.table.counters;
    let [Some(instructions), Some(cycles)] = instructions_and_cycles(counters) else {
        return Vec::new();
    };
    let (instructions, cycles) = (&counters[instructions].values, &counters[cycles].values);
    let (n, n_threads) = (counted.n_labels(), counted.names().len());
    let mut sums = vec![Sum::default(); n];
    // The longest burst of each that is counted, the first of equal ones.
    let mut longest: Vec<Option<u32>> = vec![None; n];
    for &burst in &counted.order {
        let (i, label) = (burst as usize, counted.label(burst) as usize);
        let (instructions, cycles) = (instructions.get(i), cycles.get(i));
        let time = counted.duration(burst) as f64;
        let is_counted = instructions >= 0.0 && cycles > 0.0;
        sums[label] = sums[label].joined(match is_counted {
            true => Sum { instructions, cycles, time, counted: time },
            // These are taken to be like those that have the counters.
            false => Sum { time, ..Sum::default() },
        });
        let is_longer = |most: u32| counted.duration(burst) > counted.duration(most);
        if is_counted && longest[label].is_none_or(is_longer) {
            longest[label] = Some(burst);
        }
    }
    let all = sums.iter().fold(Sum::default(), |all, sum| all.joined(*sum));
    let threads = counted.threads_by_label();
    let finding = |label: usize| {
        let (own, phase) = (sums[label], ClusterId::from_index(label));
        let (ipc, others) = (own.ipc()?, all.less(own).ipc()?);
        let is_common = 2 * threads[label] >= n_threads;
        if ipc > LOW_IPC * others || !is_common || told.contains(&phase) {
            return None;
        }
        let longest = longest[label]?;
        let less = (1.0 - ipc / others) / (n_threads as f64 * end.0 as f64);
        Some(Finding {
            kind: FindingKind::LowIpc { ipc, others },
            share: own.time * less,
            most: counted.duration(longest) as f64 * less,
            scope: Scope::Run,
            phases: vec![phase],
            noise: false,
            threads: Vec::new(),
            gradient: None,
            from: None,
            until: None,
            begin: counted.begin(longest),
            before: Nanos::ZERO,
            stretches: 0,
            is_once: false,
        })
    };
    (0..n).filter(|&label| label != counted.noise() as usize).filter_map(finding).collect()
}
