//! Specs of runs such as programs make.

use super::draw::Stream;
use super::spec::{Call, PhaseSpec, RunSpec, SecondMode, SpecError};

/// Instructions of the smallest phase and of the largest.
const INSTRUCTIONS: (f64, f64) = (1e6, 2e8);

/// IPC of the lowest level, and from one level to the next.
const IPC: (f64, f64) = (0.5, 0.5);

/// How many levels of IPC there are.
const LEVELS: usize = 5;

/// ln(work) from the first task to the last where work is imbalanced.
const IMBALANCE: f64 = 0.4;

/// Deviations of ln(instructions) and IPC in a wide phase.
const WIDE: (f64, f64) = (0.06, 0.022);

/// Deviations between the centres of two phases side by side.
const APART: f64 = 6.0;

const NAMES: [&str; 16] = [
    "compute_forces",
    "exchange_halo",
    "push_particles",
    "smooth_current",
    "assemble_matrix",
    "apply_boundary",
    "interpolate_field",
    "update_pressure",
    "sort_cells",
    "solve_coarse",
    "restrict_residual",
    "prolong_error",
    "deposit_charge",
    "advect_scalar",
    "check_convergence",
    "gather_statistics",
];

impl RunSpec {
    /// The most phases that [`plausible`](Self::plausible) keeps apart.
    pub const MAX_PHASES: usize = 40;

    /// A run of `n_phases` phases, well apart in (ln instructions, IPC) by
    /// construction: each has its own stratum of ln(instructions), and the
    /// IPC of strata that are near differs.
    ///
    /// One phase is imbalanced; of two or more, another has two modes (and
    /// counts as two clusters). Each is run one to four times per iteration;
    /// 1.5 % of the bursts are noise. One thread per task; change the fields
    /// for anything else, and see [`with_bursts`](Self::with_bursts) for an
    /// exact number of bursts.
    ///
    /// # Errors
    /// [`SpecError::Phases`] if they are not 1 to [`MAX_PHASES`](Self::MAX_PHASES).
    ///
    /// # Example
    /// ```
    /// use likewise::synth::{Run, RunSpec};
    ///
    /// let run = Run::new(RunSpec::plausible(64, 1, 8, 1)?.with_bursts(100_000))?;
    /// assert_eq!(run.n_bursts(), 100_000);
    /// assert_eq!(run.n_clusters(), 9);
    /// # Ok::<(), likewise::synth::SpecError>(())
    /// ```
    pub fn plausible(tasks: usize, iterations: usize, n_phases: usize, seed: u64) -> Result<Self, SpecError> {
        if !(1..=Self::MAX_PHASES).contains(&n_phases) {
            return Err(SpecError::Phases(n_phases));
        }
        let mut stream = Stream::at(seed, [u64::MAX, u64::MAX, 0]);
        let strata = shuffled(n_phases, &mut stream);
        let rotation = stream.below(LEVELS as u64) as usize;
        let mut phases: Vec<PhaseSpec> = (strata.iter().enumerate())
            .map(|(index, &stratum)| phase(index, stratum, n_phases, rotation, &mut stream))
            .collect();
        let imbalanced = stream.below(n_phases as u64) as usize;
        imbalance(&mut phases[imbalanced], tasks, n_phases);
        if n_phases > 1 {
            let other = stream.below(n_phases as u64 - 1) as usize;
            split(&mut phases[(imbalanced + 1 + other) % n_phases]);
        }
        Ok(Self {
            tasks,
            threads_per_task: 1,
            start: true,
            even_start: false,
            iterations,
            extra_bursts: 0,
            phases,
            noise_share: 0.015,
            defect: None,
            frequency_ghz: 2.4,
            seed,
        })
    }

    /// The run of `likewise demo`: 16 tasks, 100 iterations of 8 phases
    /// (9 clusters), 27,232 bursts.
    #[must_use]
    pub fn demo() -> Self {
        Self::plausible(16, 100, 8, 2).expect("eight phases can be told apart")
    }
}

/// What a task does in the smallest phase of a balanced run on 16 tasks, and
/// in the largest.
const EVEN_INSTRUCTIONS: (f64, f64) = (8e6, 1.2e8);

/// IPC of the lowest level of a balanced run, and from one level to the next.
const EVEN_IPC: (f64, f64) = (1.5, 0.15);

/// Deviation of ln(instructions) and of the IPC in a balanced run. Of 64
/// tasks, the last to come then needs about 1 % longer than the mean.
const EVEN_SPREAD: f64 = 0.003;

impl RunSpec {
    /// A run with which nothing is wrong: in every phase all tasks do the
    /// same at a good and similar IPC, nothing is noise, and all start alike.
    /// With twice the tasks each does half (strong scaling): the seed alone
    /// decides the phases.
    ///
    /// Set [`defect`](Self::defect) for what is to be found.
    ///
    /// # Errors
    /// [`SpecError::Phases`] if they are not 1 to [`MAX_PHASES`](Self::MAX_PHASES).
    ///
    /// # Example
    /// ```
    /// use likewise::synth::{Defect, DefectKind, Run, RunSpec};
    ///
    /// let mut spec = RunSpec::balanced(16, 20, 6, 1)?;
    /// spec.defect = Some(Defect::drawn(DefectKind::SlowTasks, &spec, None)?);
    /// assert_eq!(Run::new(spec)?.n_clusters(), 7);
    /// # Ok::<(), likewise::synth::SpecError>(())
    /// ```
    pub fn balanced(tasks: usize, iterations: usize, n_phases: usize, seed: u64) -> Result<Self, SpecError> {
        let mut spec = Self::plausible(tasks, iterations, n_phases, seed)?;
        let mut stream = Stream::at(seed, [u64::MAX, u64::MAX, 3]);
        let strata = shuffled(n_phases, &mut stream);
        let rotation = stream.below(LEVELS as u64) as usize;
        let (low, high) = (EVEN_INSTRUCTIONS.0.ln(), EVEN_INSTRUCTIONS.1.ln());
        for (phase, stratum) in spec.phases.iter_mut().zip(strata) {
            let mut around = |x: f64, half: f64| x + half * (2.0 * stream.uniform() - 1.0);
            let height = around(stratum as f64 + 0.5, 0.1) / n_phases as f64;
            let level = (2 * stratum + rotation) % LEVELS;
            phase.instructions = (low + (high - low) * height).exp() * 16.0 / tasks.max(1) as f64;
            phase.ipc = around(EVEN_IPC.0 + EVEN_IPC.1 * level as f64, 0.02);
            (phase.instructions_spread, phase.ipc_spread) = (EVEN_SPREAD, EVEN_SPREAD);
            phase.imbalance = 0.0;
            phase.second_mode = None;
            phase.repeats = 1 + stream.below(3) as usize;
        }
        spec.even_start = true;
        spec.noise_share = 0.0;
        Ok(spec)
    }
}

impl RunSpec {
    /// A run of phases of two densities: four wide ones, and four pairs of
    /// narrow ones side by side, `ratio` times as dense in (ln instructions,
    /// IPC). Every phase is one step per iteration, so all have as many
    /// bursts. A radius that holds a wide phase together joins the pairs.
    ///
    /// # Errors
    /// [`SpecError::Value`] if the ratio is not from 1 to 1000.
    pub fn densities(tasks: usize, iterations: usize, ratio: f64, seed: u64) -> Result<Self, SpecError> {
        super::spec::check("density ratio", ratio, 1.0..=1000.0, "from 1 to 1000")?;
        let narrow = ratio.sqrt().recip();
        let mut phases = Vec::new();
        for group in 0..8 {
            let ln =
                INSTRUCTIONS.0.ln() + (INSTRUCTIONS.1 / INSTRUCTIONS.0).ln() * (f64::from(group) + 0.5) / 8.0;
            let ipc = IPC.0 + IPC.1 * f64::from(2 * group % 5);
            let is_pair = group % 2 == 1;
            let width = if is_pair { narrow } else { 1.0 };
            for side in 0..=i32::from(is_pair) {
                phases.push(PhaseSpec {
                    name: NAMES[phases.len()].to_owned(),
                    instructions: ln.exp(),
                    instructions_spread: WIDE.0 * width,
                    ipc: ipc + f64::from(side) * APART * WIDE.1 * width,
                    ipc_spread: WIDE.1 * width,
                    imbalance: 0.0,
                    second_mode: None,
                    repeats: 1,
                    call: Call::Exchange,
                });
            }
        }
        Ok(Self {
            tasks,
            threads_per_task: 1,
            start: true,
            even_start: false,
            iterations,
            extra_bursts: 0,
            phases,
            noise_share: 0.002,
            defect: None,
            frequency_ghz: 2.4,
            seed,
        })
    }
}

fn shuffled(n: usize, stream: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, stream.below(i as u64 + 1) as usize);
    }
    order
}

fn phase(index: usize, stratum: usize, n_phases: usize, rotation: usize, stream: &mut Stream) -> PhaseSpec {
    let mut around = |x: f64, half: f64| x + half * (2.0 * stream.uniform() - 1.0);
    let (low, high) = (INSTRUCTIONS.0.ln(), INSTRUCTIONS.1.ln());
    let height = around(stratum as f64 + 0.5, 0.1) / n_phases as f64;
    // Twice the stratum, modulo five: neighbours are two or three levels
    // apart, and the same level comes back after five strata.
    let level = (2 * stratum + rotation) % LEVELS;
    let ipc = around(IPC.0 + IPC.1 * level as f64, 0.05);
    let instructions_spread = around(0.018, 0.008);
    let ipc_spread = around(0.010, 0.004);
    let name = match index / NAMES.len() {
        0 => NAMES[index].to_owned(),
        again => format!("{}_{}", NAMES[index % NAMES.len()], again + 1),
    };
    let repeats = 1 + stream.below(4) as usize;
    let call = match stream.below(4) {
        0 => Call::Allreduce,
        _ => Call::Exchange,
    };
    PhaseSpec {
        name,
        instructions: (low + (high - low) * height).exp(),
        instructions_spread,
        ipc,
        ipc_spread,
        imbalance: 0.0,
        second_mode: None,
        repeats,
        call,
    }
}

/// Work rises over the tasks, inside the phase's stratum. With few tasks
/// the spread of each is wider, or they would be phases of their own.
fn imbalance(phase: &mut PhaseSpec, tasks: usize, n_phases: usize) {
    let stratum = (INSTRUCTIONS.1 / INSTRUCTIONS.0).ln() / n_phases as f64;
    phase.imbalance = IMBALANCE.min(stratum);
    let step = phase.imbalance / tasks.max(1) as f64;
    phase.instructions_spread = phase.instructions_spread.max(0.6 * step);
    phase.repeats = phase.repeats.max(2);
}

/// A second mode, half a level away, where no other phase is.
fn split(phase: &mut PhaseSpec) {
    let half = IPC.1 / 2.0;
    let ipc = if phase.ipc > IPC.0 + half { phase.ipc - half } else { phase.ipc + half };
    phase.second_mode = Some(SecondMode { ipc, share: 0.4 });
    phase.repeats = phase.repeats.max(2);
}
