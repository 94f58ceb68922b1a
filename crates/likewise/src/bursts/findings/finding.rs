//! What a finding is.

use std::ops::Range;

use super::super::serial::Scope;
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// Less of the run than this is not worth a finding.
pub const LEAST_SHARE: f64 = 0.005;

/// A step is even if the slowest thread takes at most this much longer than the
/// mean.
pub(super) const LEAST_APART: f64 = 0.03;

/// Of so many parts, one can stand out; and so many can be single.
pub(super) const FEWEST: usize = 4;

/// What findings are made from.
#[derive(Clone, Debug)]
pub struct FindingsInput<'a> {
    /// The bursts of one application.
    pub table: &'a BurstTable,
    /// The phase of every burst; `None` where it is in none.
    pub phase: &'a [Option<ClusterId>],
    /// Shorter bursts are passed over: between two calls of a thread that
    /// waits there is always a moment of computing.
    pub shortest: Nanos,
    /// Shorter bursts were not grouped: they are of no phase, whatever they are.
    pub grouped_from: Nanos,
    /// By burst, whether it sleeps: then it counts as a wait. Of bursts beyond, none does.
    pub asleep: &'a [bool],
    /// The part of the run that is looked at: all threads are traced in it. Bursts count that are
    /// wholly in it.
    pub part: Range<Nanos>,
    /// How many threads can compute at once, where it is known.
    pub most_at_once: Option<u32>,
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

/// Why bursts take longer for the same instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// They have fewer cycles per time: the clock is lower.
    Clock,
    /// They have so few cycles per time that they hardly run throughout.
    OffCore,
    /// They need more cycles.
    Ipc,
    /// Cycles were not counted, or it is some of both.
    #[default]
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
        /// Whether those that take longest, and are named, have nearly all of it.
        only: bool,
    },
    /// One thread computes while the others wait.
    Serial {
        /// How long, in all; of the threads of each task, per task.
        time: Nanos,
        /// For how much of that no other computes.
        alone: Nanos,
    },
    /// A few threads need longer for the same instructions.
    SlowThreads {
        /// Their time over that of the others.
        times: f64,
        /// Whether they do in all phases.
        everywhere: bool,
        /// By clock or IPC.
        how: How,
    },
    /// More than half of the threads take longer for the same instructions in
    /// one stretch of time, and not in the rest of the run; or more and more until its end.
    Slower {
        /// Their time over that at other times; by degrees, that at the end over that before.
        times: f64,
        /// Whether they do in all phases.
        everywhere: bool,
        /// Whether they become slower little by little, or in several steps, until the end.
        by_degrees: bool,
        /// The share of what is computed in that time that is done at other times too, often enough, so
        /// that it can be compared; 1 by degrees.
        compared: f64,
        /// By clock or IPC.
        how: How,
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
        /// Whether there are no others, and that is how long the thread itself usually takes.
        itself: bool,
        /// Whether no other computes for nearly all of this time; told of bursts in no place
        /// of a phase.
        alone: bool,
    },
    /// Phases of one function, or a single phase, have far fewer instructions per cycle than the rest of
    /// the run.
    LowIpc {
        /// Their IPC.
        ipc: f64,
        /// That of all other bursts, but those of other findings of this kind.
        others: f64,
        /// Whether there are such others that are left out.
        among: bool,
    },
    /// Long bursts in which threads are hardly on a core, while no other computes. The share is that of the
    /// time in which none does: what could be won is not known.
    Asleep {
        /// How many.
        bursts: u64,
        /// How long the longest takes.
        duration: Nanos,
        /// Whose that is.
        longest: ThreadName,
        /// Whether cycles tell it, and no CPU time.
        by_cycles: bool,
    },
}

/// One thing to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// Share of the run's time that could be won, at most, from 0 to 1. Of low IPC, for which share
    /// of it the mean thread would compute less: where others wait for it, more is won.
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
    /// Share of the run that it costs there. Of findings that become one, the larger tells where.
    /// 0 of what has no such place ([`FindingKind::Slower`]).
    pub most: f64,
    /// Of serial time and of single long bursts: how much of it is before the first burst of any
    /// other thread. 0 where some tasks, of several, have several threads.
    pub before: Nanos,
    /// Of the same, how much of it is behind the last burst of one of the other threads, which may have
    /// ended.
    pub behind: Nanos,
    /// In how many stretches of the run it costs anything.
    pub stretches: u64,
    /// Whether no thread has more than one burst of a phase in it.
    pub is_once: bool,
    /// Whether it is spread, but done at different times: the share is then what would be won if it
    /// were done at the same time, and evenly. Of imbalance and serial time.
    pub at_other_times: bool,
}

impl FindingsInput<'_> {
    pub(super) fn is_asleep(&self, burst: usize) -> bool {
        self.asleep.get(burst).is_some_and(|asleep| *asleep)
    }

    /// Whether a burst is wholly in the part that is looked at.
    pub(super) fn is_in_part(&self, burst: usize) -> bool {
        self.table.begin[burst] >= self.part.start && self.table.end(burst) <= self.part.end
    }
}

impl Finding {
    /// Without anything that is not known of all findings.
    #[must_use]
    pub fn of(kind: FindingKind, scope: Scope) -> Self {
        Self {
            kind,
            share: 0.0,
            scope,
            phases: Vec::new(),
            noise: false,
            threads: Vec::new(),
            gradient: None,
            from: None,
            until: None,
            begin: Nanos::ZERO,
            most: 0.0,
            before: Nanos::ZERO,
            behind: Nanos::ZERO,
            stretches: 0,
            is_once: false,
            at_other_times: false,
        }
    }

    /// Whether one thread computes while the others wait.
    #[must_use]
    pub fn is_serial(&self) -> bool {
        matches!(self.kind, FindingKind::Serial { .. })
    }

    /// Whether few threads take less than the others, and are named.
    pub(super) fn takes_less(&self) -> bool {
        matches!(self.kind, FindingKind::Imbalance { times: Some(_), .. })
    }

    /// Takes over where another finding, which becomes a part of this one, costs most, if that is
    /// more. `times` is how much of its cost remains.
    pub(super) fn take_place(&mut self, other: &Self, times: f64) {
        if times * other.most > self.most {
            (self.begin, self.most) = (other.begin, times * other.most);
        }
    }

    /// Whether it costs time because other threads wait meanwhile.
    pub(super) fn is_by_waiting(&self) -> bool {
        use FindingKind::{Asleep, LowIpc, Slower};
        !matches!(self.kind, Slower { .. } | LowIpc { .. } | Asleep { .. })
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

/// When tasks begin: with their first burst, however short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskBegins {
    /// When the first of them does.
    pub first: Nanos,
    /// When the last of them does.
    pub last: Nanos,
    /// Which one that is, from 1; of several the one with the highest number.
    pub task: u32,
}

/// What was found in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Worst first, at most five.
    pub list: Vec<Finding>,
    /// Share of the run in which no thread computes, up to the end of the last burst, even if it sleeps
    /// in that.
    pub idle: f64,
    /// Long bursts in which threads sleep while no other computes, if they are half of the run or more: then
    /// they are not in the list, which tells where to look first.
    pub asleep: Vec<Finding>,
    /// Share of the run that an even spread of the work would win, at most.
    pub balance: f64,
    /// When tasks begin, where there are several. Until the last of them does, others may wait for it, or it for others.
    pub begun: Option<TaskBegins>,
    /// Whether instructions tell if all threads become slower: those of half of the time are known, and
    /// most threads do a phase often enough.
    pub knows_slower: bool,
    /// Whether the threads of any phase do it often enough for it to be measured how far bursts of the
    /// same work differ by chance.
    pub knows_chance: bool,
    /// Whether the mean thread has fewer bursts than it takes for one of them to stand out.
    pub are_few: bool,
    /// Set where there are fewer CPUs than threads, and never more that compute at once. One that
    /// does not compute may then wait for a CPU, and not for the others, so nothing is said of what
    /// balance would win.
    pub few_cpus: Option<FewCpus>,
}

/// CPUs that are fewer than threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewCpus {
    /// How many threads can compute at once.
    pub cpus: u32,
    /// How many do at most.
    pub at_once: u32,
}
