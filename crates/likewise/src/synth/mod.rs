//! Plausible parallel runs whose phases are known.
//!
//! A [`RunSpec`] says what a single-program, multiple-data run looks like; a
//! [`Run`] is a checked one, and hands out its bursts section by section, each
//! with the phase it truly belongs to. What a clustering finds can then be
//! compared with what is there.
//!
//! # The model
//! - Every thread runs the same steps: a start (a step up to `MPI_Init`, one
//!   up to a broadcast), then the iterations. A step is one burst and the call to
//!   the runtime that ends it. Phase p makes `repeats` steps in a row.
//! - Tasks wait for one another: a collective ends when the last task has
//!   come, an exchange with the neighbours in a ring when the message is
//!   there. A message is never received before it is sent.
//! - Threads beyond the first compute the same phases as their task's first
//!   thread, which alone calls MPI; all meet before the next burst.
//! - In a phase, ln(instructions) and instructions per cycle (IPC) are normal
//!   about their centres, cut at 4.9 deviations. Where work is imbalanced, its logarithm rises evenly
//!   from the first task to the last, at the same IPC. A phase of two modes
//!   has two IPCs, as when data is in cache or not: **the truth counts them
//!   as two clusters**, because that is what the points show.
//! - Noise is spread over the whole range: odd bursts anywhere, pre-empted
//!   ones at lower IPC. The bursts of the start are noise too: each task
//!   reads its own input, unless the start is even.
//! - A run can have one [`Defect`]. Where some tasks are slow, **the truth
//!   counts their bursts as one more cluster**, as that of a second mode; a
//!   stalled burst is noise, and so is what the others do while one task works
//!   alone.
//!
//! The run is a function of its spec alone. Every burst draws from its own
//! stream, numbered by section, step and thread, so no order of computing
//! and no number of threads changes it.

mod boxed;
pub mod broadcast;
mod counters;
mod defect;
mod draw;
pub mod effort;
mod plausible;
mod section;
mod spec;

pub use boxed::{BoxClass, BoxSpec, Boxed};
pub use counters::{CounterEvent, CounterSite, CounterTable, counter_table};
pub use defect::{BASE_TASKS, Defect, DefectKind};
pub use section::{Burst, Message, Section};
pub use spec::{
    COUNTERS, Call, CounterName, N_COUNTERS, PhaseSpec, RunSpec, START_STEPS, SecondMode, SpecError,
};

use crate::cluster::ClusterId;
use crate::table::Nanos;
use draw::{PhaseModel, Range};
use section::Step;

/// A checked run, ready to be computed.
#[derive(Clone, Debug)]
pub struct Run {
    spec: RunSpec,
    models: Vec<PhaseModel>,
    range: Range,
    /// Steps of one iteration.
    cycle: Vec<Step>,
    /// Section, step and thread of the burst that stalls.
    stalled: Option<[usize; 3]>,
}

impl Run {
    /// Checks `spec`.
    ///
    /// # Errors
    /// [`SpecError`] names the field that cannot be.
    pub fn new(spec: RunSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let mut n_clusters = 0;
        let mut models = Vec::with_capacity(spec.phases.len());
        for (index, phase) in spec.phases.iter().enumerate() {
            let mut model = PhaseModel::new(phase, spec.seed, index, n_clusters);
            if let Some(defect) = spec.defect.as_ref().filter(|d| d.concerns(index)) {
                model.suffer(defect, spec.tasks);
            }
            n_clusters += model.n_clusters();
            models.push(model);
        }
        let cycle = (spec.phases.iter().enumerate())
            .flat_map(|(p, phase)| {
                let alone = models[p].works_alone();
                let call = if alone { Call::Allreduce } else { phase.call };
                std::iter::repeat_n(Step { phase: Some(p as u32), call }, phase.repeats)
            })
            .collect();
        let range = Range::of(&spec.phases);
        let stalled = spec.defect.as_ref().and_then(|defect| defect.stalls_at(&spec));
        Ok(Self { spec, models, range, cycle, stalled })
    }

    /// What the run was made from.
    #[must_use]
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// How many threads run, over all tasks.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.spec.tasks * self.spec.threads_per_task
    }

    /// How many bursts the run has, exactly.
    #[must_use]
    pub fn n_bursts(&self) -> u64 {
        self.spec.n_bursts()
    }

    /// How many true clusters there are: one per phase, and one more for
    /// each phase of two modes or in which some tasks are slow.
    #[must_use]
    pub fn n_clusters(&self) -> usize {
        self.models.iter().map(PhaseModel::n_clusters).sum()
    }

    /// The true cluster of a phase's first mode; its second has the next.
    ///
    /// # Panics
    /// If there is no such phase.
    #[must_use]
    pub fn cluster_of_phase(&self, phase: usize) -> ClusterId {
        self.models[phase].cluster(false)
    }

    /// What the counters read during `time` inside the runtime, in the order
    /// of [`COUNTERS`]: a fixed part for the call, then waiting in a loop.
    #[must_use]
    pub fn call_counters(&self, time: Nanos) -> [u64; N_COUNTERS] {
        let cycles = 3_000 + (time.0 as f64 * self.spec.frequency_ghz * 0.97) as u64;
        let instructions = 1_800 + cycles / 10 * 11;
        [
            instructions,
            cycles,
            150 + instructions / 900,
            50 + instructions / 3_000,
            10 + instructions / 12_000,
            420 + instructions / 4,
            25 + instructions / 20_000,
            200 + cycles / 50,
        ]
    }
}

#[cfg(test)]
mod tests;
