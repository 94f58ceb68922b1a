//! What of a run is worth looking at first.
//!
//! The run is cut at every moment at which no thread computes. Between two
//! such moments, in a *stretch*, some thread computes longest, and the others
//! have to wait for it: were the work even, the stretch would be shorter by
//! the longest time less the mean. Where tasks have several threads, this is
//! done twice: among the threads of each task, and among the tasks, each by its
//! slowest thread. `docs/findings.md` has the rules, what their thresholds rest
//! on, and what they cannot tell.

mod causes;
mod counted;
mod one_offs;
mod shape;
mod since;
mod slower;
mod stretches;

use super::rates::instructions_and_cycles;
use super::serial::Scope;
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};
use counted::Counted;
use stretches::{Among, Stretches};

/// Less of the run than this is not worth a finding.
pub const LEAST_SHARE: f64 = 0.005;

/// A step is even if the slowest thread takes at most this much longer than the
/// mean.
const LEAST_APART: f64 = 0.03;

/// A burst of no phase is named if it takes at least this share of the run.
const LONG_BURST: f64 = 0.01;

/// IPC under this share of the rest of the run's is low. Sound phases of one
/// program differ by up to a factor of two.
const LOW_IPC: f64 = 0.5;

/// At most so many findings are reported.
const MOST: usize = 5;

/// What findings are made from.
#[derive(Clone, Copy, Debug)]
pub struct FindingsInput<'a> {
    /// The bursts of one application.
    pub table: &'a BurstTable,
    /// The phase of every burst; `None` where it is in none.
    pub phase: &'a [Option<ClusterId>],
    /// Shorter bursts are passed over: between two calls of a thread that
    /// waits there is always a moment of computing.
    pub shortest: Nanos,
    /// How long the run takes.
    pub end: Nanos,
}

/// A thread, as the table names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadName {
    /// Task, from 1.
    pub task: u32,
    /// Thread within it, from 1.
    pub thread: u32,
}

/// Why some threads take longer than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// They have more instructions.
    Work,
    /// They need longer for the same instructions.
    Speed,
    /// Some of both.
    Both,
    /// Instructions were not counted, or another thread is last each time.
    Unknown,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FindingKind {
    /// Some threads take longer over a step, and the others wait.
    Imbalance {
        /// Longest time over the mean of the threads, less 1.
        apart: f64,
        /// Why.
        cause: Cause,
        /// Whether the same threads are last each time.
        steady: bool,
        /// Where few threads take less than the others, and are named: their
        /// time over that of the others, below 1.
        times: Option<f64>,
    },
    /// One thread computes while the others wait.
    Serial {
        /// How long, in all; of the threads of each task, per task.
        time: Nanos,
    },
    /// A few threads need longer for the same instructions.
    SlowThreads {
        /// Their time over that of the others.
        times: f64,
        /// Whether they do in all phases.
        everywhere: bool,
    },
    /// More than half of the threads take longer for the same instructions in
    /// one stretch of time, and not in the rest of the run.
    Slower {
        /// Their time over that at other times.
        times: f64,
        /// Whether they do in all phases.
        everywhere: bool,
    },
    /// Bursts that take long, each once, or threads that do together.
    OneOff {
        /// How many times.
        bursts: u64,
        /// Whether all are of the same threads.
        same: bool,
        /// How long the longest takes.
        duration: Nanos,
        /// How long the others take over the same step; `None` where it stands
        /// in no place of a phase.
        others: Option<Nanos>,
    },
    /// A phase has far fewer instructions per cycle than the rest of the run.
    LowIpc {
        /// Its IPC.
        ipc: f64,
        /// That of all other bursts.
        others: f64,
    },
}

/// One thing to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// Share of the run's time that could be won, at most, from 0 to 1.
    pub share: f64,
    /// Who is compared: the tasks (or all threads) of the run, or the threads
    /// of each task.
    pub scope: Scope,
    /// The phases it concerns, those with most time first.
    pub phases: Vec<ClusterId>,
    /// Whether bursts of no phase are part of it.
    pub noise: bool,
    /// The threads that cause it, or have the longest of several bursts; empty
    /// where it is of all, or of another each time. All threads of a task
    /// stand for the task.
    pub threads: Vec<ThreadName>,
    /// Where the times of an imbalance are a gradient, its other end.
    pub gradient: Option<Gradient>,
    /// Since when, if it was not before. All figures are of the time from then.
    pub from: Option<Nanos>,
    /// Until when, if it is not after.
    pub until: Option<Nanos>,
    /// Where it costs most: the begin of a burst.
    pub begin: Nanos,
    /// In how many stretches of the run it costs anything.
    pub stretches: u64,
    /// Whether no thread has more than one burst of a phase in it.
    pub is_once: bool,
}

impl Finding {
    /// Whether one thread computes while the others wait.
    #[must_use]
    pub fn is_serial(&self) -> bool {
        matches!(self.kind, FindingKind::Serial { .. })
    }
}

/// Times without a gap between few that are slow and the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The thread that takes least.
    pub least: Vec<ThreadName>,
    /// How long it takes, in all.
    pub least_time: Nanos,
    /// How long the slowest takes.
    pub most_time: Nanos,
}

/// What was found in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Worst first, at most five.
    pub list: Vec<Finding>,
    /// Share of the run in which no thread computes, up to the last burst.
    pub idle: f64,
    /// Share of the run that an even spread of the work would win, at most.
    pub balance: f64,
}

/// What is worth most in a run: time to be won by balance, serial time, slow
/// threads, single long bursts and low IPC.
///
/// Each defect is reported once: a slow thread is not reported as imbalance too,
/// nor its phase as one of low IPC.
///
/// # Panics
/// If `phase` is not as long as the table.
///
/// # Complexity
/// O(n log n) for n bursts, and O(t) for t threads per phase that is told of.
#[must_use]
pub fn findings(input: &FindingsInput<'_>) -> Findings {
    assert_eq!(input.phase.len(), input.table.len(), "a phase, or none, for every burst");
    let whole = input.end.0 as f64;
    let all = Counted::of(input);
    if all.names().is_empty() || whole <= 0.0 {
        return Findings::default();
    }
    let (mut list, balance) = if all.is_hybrid() {
        let within = Stretches::of(&all, &Among::ThreadsOfTask);
        let (of_run, between) = losses(&Stretches::of(&all, &Among::Tasks(&within)), whole, Scope::Run);
        // What a task wins, as the mean over the tasks. A burst that is late
        // once costs the run what its task is late.
        let (of_tasks, inside) = losses(&within, whole * all.n_tasks() as f64, Scope::Task);
        let of_tasks = of_tasks.into_iter().filter(|f| !matches!(f.kind, FindingKind::OneOff { .. }));
        (causes::together(of_run, of_tasks), between + inside)
    } else {
        losses(&Stretches::of(&all, &Among::Threads), whole, Scope::Run)
    };
    list.extend(slower::slower(&all, whole));
    let told: Vec<ClusterId> = (list.iter())
        .filter(|f| !matches!(f.kind, FindingKind::Imbalance { .. }))
        .flat_map(|f| f.phases.iter().copied())
        .collect();
    list.extend(low_ipc(&all, input.end, &told));
    list.retain(|finding| finding.share >= LEAST_SHARE);
    list.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.begin.cmp(&b.begin)));
    list.truncate(MOST);
    // After the last burst, nobody knows: the trace may have been cut.
    let (busy, last) = all.busy();
    Findings { list, idle: last.saturating_sub(busy).0 as f64 / whole, balance }
}

/// What is lost among those that are compared, and the share of `whole` that
/// balance would win.
fn losses(stretches: &Stretches<'_>, whole: f64, scope: Scope) -> (Vec<Finding>, f64) {
    let mut parts = stretches.parts(LONG_BURST * whole);
    let balance = parts.iter().map(|part| part.gain).sum::<f64>() / whole;
    let one_offs = one_offs::one_offs(stretches, &mut parts, whole);
    let uneven = causes::uneven(stretches, &parts, whole, scope);
    let (one_offs, mut list) = causes::without_serial(one_offs, uneven, whole, stretches.n_units());
    list.extend(one_offs::folded(one_offs));
    (list, balance)
}

/// Phases that most threads have, with an IPC far below that of all else.
fn low_ipc(counted: &Counted<'_>, end: Nanos, told: &[ClusterId]) -> Vec<Finding> {
    let counters = &counted.table.counters;
    let [Some(instructions), Some(cycles)] = instructions_and_cycles(counters) else {
        return Vec::new();
    };
    let (instructions, cycles) = (&counters[instructions].values, &counters[cycles].values);
    let (n, n_threads) = (counted.n_labels(), counted.names().len());
    let mut sums = vec![[0.0; 3]; n];
    let mut first: Vec<Option<u32>> = vec![None; n];
    for &burst in &counted.order {
        let (i, label) = (burst as usize, counted.label(burst) as usize);
        if instructions[i] >= 0.0 && cycles[i] > 0.0 {
            sums[label][0] += instructions[i];
            sums[label][1] += cycles[i];
            sums[label][2] += counted.duration(burst) as f64;
            first[label] = first[label].or(Some(burst));
        }
    }
    let all = sums.iter().fold([0.0; 2], |sum, s| [sum[0] + s[0], sum[1] + s[1]]);
    let threads = counted.threads_by_label();
    let finding = |label: usize| {
        let [own, own_cycles, time] = sums[label];
        let (ipc, others) = (own / own_cycles, (all[0] - own) / (all[1] - own_cycles));
        let phase = ClusterId::from_index(label);
        let is_low = ipc.is_finite() && others.is_finite() && ipc <= LOW_IPC * others;
        let is_common = 2 * threads[label] >= n_threads;
        (is_low && is_common && !told.contains(&phase)).then(|| Finding {
            kind: FindingKind::LowIpc { ipc, others },
            share: time / (n_threads as f64 * end.0 as f64) * (1.0 - ipc / others),
            scope: Scope::Run,
            phases: vec![phase],
            noise: false,
            threads: Vec::new(),
            gradient: None,
            from: None,
            until: None,
            begin: first[label].map_or(Nanos::ZERO, |burst| counted.begin(burst)),
            stretches: 0,
            is_once: false,
        })
    };
    (0..n).filter(|&label| label != counted.noise() as usize).filter_map(finding).collect()
}

#[cfg(test)]
mod tests;
