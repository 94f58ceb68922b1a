//! What a made-up run is like.

use super::defect::Defect;
use super::draw::LEAST_IPC;

/// Steps before the first iteration.
pub const START_STEPS: usize = 2;

/// The most that fit in one section, so that it can be held in memory.
pub(super) const MAX_SECTION_BURSTS: u64 = 1 << 28;

/// A hardware counter that synthetic bursts carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterName {
    /// Extrae's event type.
    pub event_type: u32,
    /// PAPI's or the processor's name.
    pub name: &'static str,
    /// What it counts.
    pub description: &'static str,
}

/// How many counters a burst carries.
pub const N_COUNTERS: usize = 8;

/// The counters, in the order of [`Burst::counters`](super::Burst::counters).
pub const COUNTERS: [CounterName; N_COUNTERS] = [
    CounterName { event_type: 42_000_050, name: "PAPI_TOT_INS", description: "Instr completed" },
    CounterName { event_type: 42_000_059, name: "PAPI_TOT_CYC", description: "Total cycles" },
    CounterName { event_type: 42_000_000, name: "PAPI_L1_DCM", description: "L1D cache misses" },
    CounterName { event_type: 42_000_002, name: "PAPI_L2_DCM", description: "L2D cache misses" },
    CounterName { event_type: 42_000_008, name: "PAPI_L3_TCM", description: "L3 cache misses" },
    CounterName { event_type: 42_000_055, name: "PAPI_BR_INS", description: "Branches" },
    CounterName { event_type: 42_000_046, name: "PAPI_BR_MSP", description: "Cond br mspredictd" },
    CounterName {
        event_type: 42_001_047,
        name: "RESOURCE_STALLS",
        description: "Cycles Allocation is stalled due to Resource Related reason",
    },
];

/// A second IPC that a phase shows at the same instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondMode {
    /// Its instructions per cycle.
    pub ipc: f64,
    /// The share of the phase's bursts that show it.
    pub share: f64,
}

/// One region of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSpec {
    /// The function it is, as call sites name it.
    pub name: String,
    /// Median instructions of a burst.
    pub instructions: f64,
    /// Standard deviation of ln(instructions).
    pub instructions_spread: f64,
    /// Mean instructions per cycle.
    pub ipc: f64,
    /// Standard deviation of the IPC.
    pub ipc_spread: f64,
    /// ln(work) of the last task less that of the first; 0 is balanced.
    pub imbalance: f64,
    /// The other IPC, where there are two.
    pub second_mode: Option<SecondMode>,
    /// Steps per iteration. Densities are as uneven as these.
    pub repeats: usize,
    /// What ends each burst: [`Call::Exchange`] or a collective.
    pub call: Call,
}

/// What a run looks like. [`Run::new`](super::Run::new) checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpec {
    /// Tasks (ranks).
    pub tasks: usize,
    /// Threads of each task.
    pub threads_per_task: usize,
    /// Whether the run has a start, of [`START_STEPS`] steps.
    pub start: bool,
    /// Whether all tasks do the same in the start.
    pub even_start: bool,
    /// Whole iterations.
    pub iterations: usize,
    /// Bursts of a last, unfinished iteration, over all threads.
    pub extra_bursts: u64,
    /// What an iteration consists of, in order.
    pub phases: Vec<PhaseSpec>,
    /// Share of the bursts of iterations that belong to no phase.
    pub noise_share: f64,
    /// What is wrong with it.
    pub defect: Option<Defect>,
    /// Cycles per nanosecond.
    pub frequency_ghz: f64,
    /// Where the randomness comes from.
    pub seed: u64,
}

/// Why a spec makes no run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// No task or no thread, or more than 2^24 threads.
    #[error("{tasks} tasks of {threads} threads: there must be 1 to 16,777,216 threads in all")]
    Threads {
        /// Tasks asked for.
        tasks: usize,
        /// Threads per task asked for.
        threads: usize,
    },
    /// A plausible run has 1 to [`RunSpec::MAX_PHASES`] phases.
    #[error("{0} phases: 1 to {max} can be told apart", max = RunSpec::MAX_PHASES)]
    Phases(usize),
    /// No phase, or one that is never run.
    #[error("the run has no phase, or phase '{0}' has 0 repeats")]
    EmptyPhase(String),
    /// A number is out of its range.
    #[error("{name} is {value}, which is not {expected}")]
    Value {
        /// Which field.
        name: &'static str,
        /// What it holds.
        value: f64,
        /// What it may hold.
        expected: &'static str,
    },
    /// A phase ends with a call that iterations do not make.
    #[error("phase '{0}' must end with an exchange or a collective")]
    Call(String),
    /// Every thread has at least one burst.
    #[error("{bursts} bursts are too few for {threads} threads: each runs at least one")]
    TooFewBursts {
        /// Bursts asked for.
        bursts: u64,
        /// Threads in all.
        threads: usize,
    },
    /// An iteration that no memory holds, or a run that outlasts 146 years.
    #[error("{0} bursts are more than a run, or one iteration of it, can have")]
    TooManyBursts(u64),
    /// The defect is of other tasks or phases than its kind can be.
    #[error("the run can't have this defect: {0}")]
    Defect(&'static str),
    /// The unfinished iteration would be finished.
    #[error("{extra} extra bursts make a whole iteration of {iteration}")]
    ExtraBursts {
        /// Bursts asked for in the unfinished iteration.
        extra: u64,
        /// Bursts of a whole one.
        iteration: u64,
    },
}

impl RunSpec {
    /// Bursts over all threads; saturates.
    #[must_use]
    pub fn n_bursts(&self) -> u64 {
        let steps = (self.iterations as u64)
            .saturating_mul(self.steps_per_iteration())
            .saturating_add(if self.start { START_STEPS as u64 } else { 0 });
        steps.saturating_mul(self.n_threads()).saturating_add(self.extra_bursts)
    }

    /// The same program with exactly `bursts` bursts: as many whole
    /// iterations as they make, then an unfinished one. The start is left
    /// out where it would leave no room for an iteration.
    #[must_use]
    pub fn with_bursts(mut self, bursts: u64) -> Self {
        let threads = self.n_threads().max(1);
        let iteration = threads.saturating_mul(self.steps_per_iteration()).max(1);
        let start = threads.saturating_mul(START_STEPS as u64);
        self.start = bursts >= start.saturating_add(iteration);
        let rest = if self.start { bursts - start } else { bursts };
        self.iterations = (rest / iteration) as usize;
        self.extra_bursts = rest % iteration;
        self
    }

    pub(super) fn n_threads(&self) -> u64 {
        (self.tasks as u64).saturating_mul(self.threads_per_task as u64)
    }

    pub(super) fn steps_per_iteration(&self) -> u64 {
        self.phases.iter().fold(0, |sum, p| u64::saturating_add(sum, p.repeats as u64))
    }

    pub(super) fn check(&self) -> Result<(), SpecError> {
        let threads = self.n_threads();
        if threads == 0 || threads > 1 << 24 {
            return Err(SpecError::Threads { tasks: self.tasks, threads: self.threads_per_task });
        }
        if self.phases.is_empty() {
            return Err(SpecError::EmptyPhase(String::new()));
        }
        self.phases.iter().try_for_each(PhaseSpec::check)?;
        check("noise_share", self.noise_share, 0.0..=1.0, "from 0 to 1")?;
        check("frequency_ghz", self.frequency_ghz, 1e-3..=1e3, "from 0.001 to 1000")?;
        let iteration = threads.saturating_mul(self.steps_per_iteration());
        if iteration > MAX_SECTION_BURSTS {
            return Err(SpecError::TooManyBursts(iteration));
        }
        if self.extra_bursts >= iteration {
            return Err(SpecError::ExtraBursts { extra: self.extra_bursts, iteration });
        }
        self.defect.as_ref().map_or(Ok(()), |defect| defect.check(self))?;
        let bursts = self.n_bursts();
        if bursts < threads {
            return Err(SpecError::TooFewBursts { bursts, threads: threads as usize });
        }
        // Every burst as slow as it can be: even then, times fit in 62 bits.
        let slowest = self.phases.iter().map(PhaseSpec::most_instructions).fold(0.0, f64::max)
            / (LEAST_IPC * self.frequency_ghz)
            * self.defect.as_ref().map_or(1.0, |defect| defect.most_times(self.tasks));
        let steps = self.iterations as f64 * self.steps_per_iteration() as f64 * 2.0 + 4.0;
        if (slowest * 1.1 + 1e6) * steps > 2f64.powi(62) {
            return Err(SpecError::TooManyBursts(bursts));
        }
        Ok(())
    }
}

impl PhaseSpec {
    pub(super) fn most_instructions(&self) -> f64 {
        self.instructions * (4.9 * self.instructions_spread + self.imbalance.abs() / 2.0 + 2.5).exp()
    }

    pub(super) fn check(&self) -> Result<(), SpecError> {
        if self.repeats == 0 {
            return Err(SpecError::EmptyPhase(self.name.clone()));
        }
        if !matches!(self.call, Call::Exchange | Call::Allreduce | Call::Barrier) {
            return Err(SpecError::Call(self.name.clone()));
        }
        check("instructions", self.instructions, 1e3..=1e10, "from 1e3 to 1e10")?;
        check("instructions_spread", self.instructions_spread, 0.0..=1.0, "from 0 to 1")?;
        check("ipc", self.ipc, 0.01..=16.0, "from 0.01 to 16")?;
        check("ipc_spread", self.ipc_spread, 0.0..=4.0, "from 0 to 4")?;
        check("imbalance", self.imbalance, -4.0..=4.0, "from -4 to 4")?;
        if let Some(mode) = self.second_mode {
            check("ipc of the second mode", mode.ipc, 0.01..=16.0, "from 0.01 to 16")?;
            check("share of the second mode", mode.share, 0.0..=1.0, "from 0 to 1")?;
        }
        Ok(())
    }
}

pub(super) fn check(
    name: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<(), SpecError> {
    if range.contains(&value) { Ok(()) } else { Err(SpecError::Value { name, value, expected }) }
}

/// What ends a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `MPI_Init`.
    Init,
    /// `MPI_Sendrecv` with the two neighbours in a ring.
    Exchange,
    /// `MPI_Bcast`.
    Broadcast,
    /// `MPI_Allreduce`.
    Allreduce,
    /// `MPI_Barrier`.
    Barrier,
    /// `MPI_Comm_size`: waits for nobody.
    CommSize,
    /// `MPI_Finalize`; the run ends with it.
    Finalize,
    /// The end of a parallel region, for threads beyond a task's first.
    Join,
}

impl Call {
    /// Whether no task leaves it before all have come.
    #[must_use]
    pub fn synchronises(self) -> bool {
        match self {
            Call::Init | Call::Broadcast | Call::Allreduce | Call::Barrier | Call::Finalize => true,
            Call::Exchange | Call::CommSize | Call::Join => false,
        }
    }
}
