//! What of a run is worth looking at first.
//!
//! The run is cut at every moment at which no thread computes. Between two
//! such moments, in a *stretch*, some thread computes longest, and the others
//! have to wait for it: were the work even, the stretch would be shorter by
//! the longest time less the mean. `docs/findings.md` has the rules, what
//! their thresholds rest on, and what they cannot tell.

mod causes;
mod stretches;

use super::rates::instructions_and_cycles;
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};
use stretches::{Part, Stretches};

/// Less of the run than this is not worth a finding.
pub const LEAST_SHARE: f64 = 0.005;

/// A step that the slowest thread leaves this much later than the mean is
/// even: so far apart are the last and the mean of many threads by chance.
const LEAST_APART: f64 = 0.03;

/// A burst of no phase is named if it takes this share of the run.
const LONG_BURST: f64 = 0.01;

/// IPC under this share of the rest of the run's is low. Sound phases of one
/// program differ by up to a factor of two.
const LOW_IPC: f64 = 0.5;

/// So many findings are told.
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
    },
    /// One thread computes while all others wait.
    Serial {
        /// How long, in all.
        time: Nanos,
    },
    /// A few threads need longer for the same instructions.
    SlowThreads {
        /// Their time over that of the others.
        times: f64,
        /// Whether they do in all phases.
        everywhere: bool,
    },
    /// A burst that takes long, once.
    OneOff {
        /// How long.
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
    /// The phases it concerns, those with most time first.
    pub phases: Vec<ClusterId>,
    /// Whether bursts of no phase are part of it.
    pub noise: bool,
    /// The threads that cause it; empty where it is of all, or of another
    /// each time.
    pub threads: Vec<ThreadName>,
    /// Where it costs most: the begin of a burst.
    pub begin: Nanos,
    /// In how many stretches of the run it costs anything.
    pub stretches: u64,
}

/// What was found in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Worst first, at most five.
    pub list: Vec<Finding>,
    /// Share of the run in which no thread computes.
    pub idle: f64,
    /// Share of the run that an even spread of the work would win, at most.
    pub balance: f64,
}

/// What is worth most in a run: time to be won by balance, serial time, slow
/// threads, single long bursts and low IPC.
///
/// Each defect is told once: a slow thread is not told as imbalance too, nor
/// its phase as one of low IPC.
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
    let stretches = Stretches::of(input);
    if stretches.n_threads() == 0 || whole <= 0.0 {
        return Findings::default();
    }
    let mut parts = stretches.parts(LONG_BURST * whole);
    let balance = parts.iter().map(|part| part.gain).sum::<f64>() / whole;
    let mut list = one_offs(&stretches, &mut parts, whole);
    let uneven = causes::uneven(&stretches, &parts, input, whole);
    list = causes::without_serial(list, uneven);
    let told: Vec<ClusterId> = (list.iter())
        .filter(|f| matches!(f.kind, FindingKind::Serial { .. } | FindingKind::SlowThreads { .. }))
        .flat_map(|f| f.phases.iter().copied())
        .collect();
    list.extend(low_ipc(&stretches, input, &told));
    list.retain(|finding| finding.share >= LEAST_SHARE);
    list.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.begin.cmp(&b.begin)));
    list.truncate(MOST);
    Findings { list, idle: 1.0 - stretches.busy().0.min(input.end.0) as f64 / whole, balance }
}

/// Takes those parts out that cost much in one stretch and little in the
/// others of their phase.
fn one_offs(stretches: &Stretches<'_>, parts: &mut Vec<Part>, whole: f64) -> Vec<Finding> {
    let mut gains: Vec<Vec<f64>> = vec![Vec::new(); stretches.n_labels()];
    parts.iter().for_each(|part| gains[part.key as usize].push(part.gain));
    let limits: Vec<f64> = gains.iter_mut().map(|gains| one_off_limit(gains, LEAST_SHARE * whole)).collect();
    let mut found = Vec::new();
    parts.retain(|part| {
        let is_alone = part.key == stretches.noise() && part.removal >= LEAST_SHARE * whole;
        let stands_out = part.key != stretches.noise() && part.gain >= limits[part.key as usize];
        if is_alone || stands_out {
            found.push(one_off(stretches, part, is_alone, whole));
        }
        !(is_alone || stands_out)
    });
    found
}

/// From which gain on a part is a one-off: ten times what the phase's parts
/// cost as a rule (their median), unless more than a tenth of them do.
fn one_off_limit(gains: &mut [f64], least: f64) -> f64 {
    const FEWEST: usize = 4;
    gains.sort_unstable_by(f64::total_cmp);
    let limit = least.max(gains.get(gains.len() / 2).map_or(0.0, |median| 10.0 * median));
    let over = gains.iter().filter(|&&gain| gain >= limit).count();
    if gains.len() >= FEWEST && over <= gains.len().div_ceil(10) { limit } else { f64::INFINITY }
}

fn one_off(stretches: &Stretches<'_>, part: &Part, is_alone: bool, whole: f64) -> Finding {
    let others = (!is_alone).then(|| stretches.others(part));
    let won = match others {
        Some(others) => (part.own - others).min(part.ahead),
        None => part.removal,
    };
    let threads = if is_alone { part.long.clone() } else { vec![part.thread] };
    Finding {
        kind: FindingKind::OneOff {
            duration: Nanos(if is_alone { stretches.duration(part.longest) } else { part.own as u64 }),
            others: others.map(|others| Nanos(others as u64)),
        },
        share: won.max(0.0) / whole,
        phases: stretches.phases(part.labels.iter().copied()),
        noise: part.labels.contains(&stretches.noise()),
        threads: stretches.names(&threads),
        begin: stretches.begin(part.longest),
        stretches: 1,
    }
}

/// Phases that most threads have, with an IPC far below that of all else.
fn low_ipc(stretches: &Stretches<'_>, input: &FindingsInput<'_>, told: &[ClusterId]) -> Vec<Finding> {
    let [Some(instructions), Some(cycles)] = instructions_and_cycles(&input.table.counters) else {
        return Vec::new();
    };
    let (instructions, cycles) =
        (&input.table.counters[instructions].values, &input.table.counters[cycles].values);
    let n = stretches.n_labels();
    let mut sums = vec![[0.0; 3]; n];
    let mut first: Vec<Option<u32>> = vec![None; n];
    for &burst in stretches.order() {
        let (i, label) = (burst as usize, stretches.label(burst) as usize);
        if instructions[i] >= 0.0 && cycles[i] > 0.0 {
            sums[label][0] += instructions[i];
            sums[label][1] += cycles[i];
            sums[label][2] += input.table.duration[i].0 as f64;
            first[label] = first[label].or(Some(burst));
        }
    }
    let all = sums.iter().fold([0.0; 2], |sum, s| [sum[0] + s[0], sum[1] + s[1]]);
    let threads = stretches.threads_by_label();
    let finding = |label: usize| {
        let [own, own_cycles, time] = sums[label];
        let (ipc, others) = (own / own_cycles, (all[0] - own) / (all[1] - own_cycles));
        let phase = ClusterId::from_index(label);
        let is_low = ipc.is_finite() && others.is_finite() && ipc <= LOW_IPC * others;
        let is_common = 2 * threads[label] >= stretches.n_threads();
        (is_low && is_common && !told.contains(&phase)).then(|| Finding {
            kind: FindingKind::LowIpc { ipc, others },
            share: time / (stretches.n_threads() as f64 * input.end.0 as f64) * (1.0 - ipc / others),
            phases: vec![phase],
            noise: false,
            threads: Vec::new(),
            begin: first[label].map_or(Nanos::ZERO, |burst| stretches.begin(burst)),
            stretches: 0,
        })
    };
    (0..n).filter(|&label| label != stretches.noise() as usize).filter_map(finding).collect()
}

#[cfg(test)]
mod tests;
