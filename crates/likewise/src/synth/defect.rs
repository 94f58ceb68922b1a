//! What can be wrong with a run: one thing at a time, of known size.

use super::draw::Stream;
use super::spec::{RunSpec, SpecError};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefectKind {
    /// In one phase, work rises over the tasks; the last has `factor` times
    /// the instructions of the first.
    Imbalance,
    /// One task does the work of one phase, `factor` times what a task does
    /// of it otherwise. The others have nothing to do and wait in a collective.
    Serial,
    /// Some tasks need `factor` times as long in one phase, or in all, for
    /// the same instructions.
    SlowTasks,
    /// All tasks need `factor` times as long in one phase, for the same
    /// instructions.
    LowIpc,
    /// With twice the tasks, a task has `factor` times the work in one phase
    /// instead of half. On [`BASE_TASKS`] tasks nothing is wrong.
    Grows,
    /// One burst of one task needs `factor` times as long as its phase does,
    /// once.
    Stall,
}

/// On so many tasks a phase that [grows](DefectKind::Grows) is as it should be.
pub const BASE_TASKS: usize = 4;

/// The one thing that is wrong with a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Defect {
    /// What it is.
    pub kind: DefectKind,
    /// The phase, from 0; `None` is all of them, which only slow tasks can be
    /// slow in.
    pub phase: Option<usize>,
    /// The tasks, from 1: the slow ones, or the one that works alone or
    /// stalls. Empty where the defect is not of some tasks.
    pub tasks: Vec<u32>,
    /// How much; see [`DefectKind`].
    pub factor: f64,
}

/// Phases with less of the run's time have no defect that is worth finding.
const NOTABLE_SHARE: f64 = 0.1;

impl Defect {
    /// A defect of that kind for a run that has none, from the run's seed: in
    /// `phase` or, if that is not given, in one with at least a tenth of the
    /// run's time (or the one with most), and large enough that a look at the
    /// run should find it.
    ///
    /// # Errors
    /// What [`Run::new`](super::Run::new) says of the spec.
    pub fn drawn(kind: DefectKind, spec: &RunSpec, phase: Option<usize>) -> Result<Self, SpecError> {
        spec.check()?;
        let mut stream = Stream::at(spec.seed, [u64::MAX, u64::MAX, 1]);
        let times: Vec<f64> = (spec.phases.iter())
            .map(|p| p.instructions / (p.ipc * spec.frequency_ghz) * p.repeats as f64)
            .collect();
        let total: f64 = times.iter().sum();
        let most = times.iter().copied().fold(0.0, f64::max);
        let least = most.min(NOTABLE_SHARE * total);
        let notable: Vec<usize> = (0..times.len()).filter(|&p| times[p] >= least).collect();
        let drawn = notable[stream.below(notable.len() as u64) as usize];
        let phase = phase.filter(|&p| p < times.len()).unwrap_or(drawn);
        let task = stream.below(spec.tasks as u64) as u32 + 1;
        let mut between = |low: f64, high: f64| low + (high - low) * stream.uniform();
        let factor = match kind {
            DefectKind::Imbalance => between(1.5, 2.2),
            DefectKind::SlowTasks => between(1.5, 2.5),
            DefectKind::LowIpc => between(2.5, 4.0),
            DefectKind::Grows => between(1.0, 1.3),
            DefectKind::Serial => {
                let share = between(0.08, 0.25);
                share / (1.0 - share) * (total - times[phase]).max(0.1 * total) / times[phase]
            }
            DefectKind::Stall => {
                let share = between(0.03, 0.10);
                let burst = times[phase] / spec.phases[phase].repeats as f64;
                1.0 + share / (1.0 - share) * total * spec.iterations.max(1) as f64 / burst
            }
        };
        let tasks = if kind.is_of_tasks() { vec![task] } else { Vec::new() };
        Ok(Self { kind, phase: Some(phase), tasks, factor })
    }

    /// Whether that phase has it.
    pub(super) fn concerns(&self, phase: usize) -> bool {
        self.phase.is_none_or(|p| p == phase)
    }

    pub(super) fn check(&self, spec: &RunSpec) -> Result<(), SpecError> {
        super::spec::check("defect factor", self.factor, 1e-3..=1e6, "from 0.001 to 1,000,000")?;
        let phase = self.phase.map_or(1.0, |p| p as f64 + 1.0);
        let last = spec.phases.len();
        if !(1.0..=last as f64).contains(&phase) {
            return Err(SpecError::Value {
                name: "defect phase",
                value: phase,
                expected: "a phase of the run",
            });
        }
        let Some(task) = self.tasks.iter().find(|&&t| t == 0 || t as usize > spec.tasks) else {
            return self.check_extent(spec);
        };
        Err(SpecError::Value { name: "defect task", value: f64::from(*task), expected: "a task of the run" })
    }

    fn check_extent(&self, spec: &RunSpec) -> Result<(), SpecError> {
        let wrong = |problem| Err(SpecError::Defect(problem));
        match self.kind {
            DefectKind::SlowTasks if self.tasks.is_empty() => wrong("slow tasks must be named"),
            DefectKind::SlowTasks => Ok(()),
            _ if self.phase.is_none() => wrong("only slow tasks can be so in all phases"),
            DefectKind::Serial | DefectKind::Stall if self.tasks.len() != 1 => {
                wrong("it is one task that works alone, or stalls")
            }
            DefectKind::Stall if spec.iterations == 0 => wrong("a stall needs a whole iteration"),
            DefectKind::Serial | DefectKind::Stall => Ok(()),
            _ if !self.tasks.is_empty() => wrong("imbalance, low IPC and growth are of all tasks"),
            _ => Ok(()),
        }
    }

    /// By how much the longest burst gets longer, at most.
    pub(super) fn most_times(&self, tasks: usize) -> f64 {
        match self.kind {
            DefectKind::Grows => self.growth(tasks),
            _ => self.factor,
        }
        .max(1.0)
    }

    /// Work of a task on so many tasks, over what it would be if it shrank.
    pub(super) fn growth(&self, tasks: usize) -> f64 {
        let times = tasks as f64 / BASE_TASKS as f64;
        times * self.factor.powf(times.log2())
    }

    /// The section, the step in it, and the thread of all threads in which a
    /// run stalls.
    pub(super) fn stalls_at(&self, spec: &RunSpec) -> Option<[usize; 3]> {
        let phase = self.phase.filter(|_| self.kind == DefectKind::Stall)?;
        let mut stream = Stream::at(spec.seed, [u64::MAX, u64::MAX, 2]);
        let section = usize::from(spec.start) + stream.below(spec.iterations as u64) as usize;
        let before: usize = spec.phases[..phase].iter().map(|p| p.repeats).sum();
        let step = before + stream.below(spec.phases[phase].repeats as u64) as usize;
        Some([section, step, (self.tasks[0] as usize - 1) * spec.threads_per_task])
    }
}

impl DefectKind {
    /// Whether it is of some tasks and not of all.
    #[must_use]
    pub fn is_of_tasks(self) -> bool {
        matches!(self, Self::Serial | Self::SlowTasks | Self::Stall)
    }
}
