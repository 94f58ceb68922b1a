//! Made-up programs whose phases are known, as the events of their ranks.

use likewise_comm::{CommError, Communicator, Reduction};
use likewise_online::{Action, Group, Machine, Options, Rolling, choose};
use likewise_recording::State;

/// How many markers each program comes to.
pub(crate) const MARKERS: u32 = 60;

/// Symbols are numbered below this.
const SYMBOLS: u32 = 128;

/// What a program does between two markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// The same exchange with both neighbours in every step.
    OnePhase,
    /// Another exchange from the 31st step on.
    TwoPhases,
    /// One exchange in even steps, another in odd ones.
    Alternating,
    /// The same, with a marker every other step.
    AlternatingEverySecond,
    /// One exchange for ten steps, another for the next ten, and so on.
    Blocks,
    /// Even ranks send first, odd ranks receive first.
    Branch,
    /// Rank 0 hands out as many tasks as it likes, the others compute them.
    Workers,
    /// Each rank does as many inner iterations as it likes.
    Convergence,
    /// One rank makes one other call, once.
    Deviation,
    /// No step has the calls of another.
    Never,
}

/// What is expected: markers in AT, in C and in L, how often leads are chosen,
/// and how many there are at the end, if at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) states: [usize; 3],
    pub(crate) groups: Option<usize>,
}

impl Program {
    pub(crate) const ALL: [Self; 10] = [
        Self::OnePhase,
        Self::TwoPhases,
        Self::Alternating,
        Self::AlternatingEverySecond,
        Self::Blocks,
        Self::Branch,
        Self::Workers,
        Self::Convergence,
        Self::Deviation,
        Self::Never,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OnePhase => "one phase",
            Self::TwoPhases => "two phases",
            Self::Alternating => "another phase at every marker",
            Self::AlternatingEverySecond => "the same, every second marker",
            Self::Blocks => "another phase every ten markers",
            Self::Branch => "a branch that half of the ranks take",
            Self::Workers => "master and workers",
            Self::Convergence => "inner loops as long as they like",
            Self::Deviation => "one rank deviates once",
            Self::Never => "never repeating",
        }
    }

    /// What must come of it with `Options::default()`: up to nine leads.
    pub(crate) fn expected(self, size: usize) -> Expected {
        // A chain has two ends and an inside.
        let chain = Some(3);
        // All workers have another distance to the master.
        let workers = if size <= 9 { size } else { 1 + 4 };
        let (states, groups) = match self {
            Self::OnePhase | Self::Convergence => ([1, 1, 58], chain),
            Self::AlternatingEverySecond => ([1, 1, 28], chain),
            Self::TwoPhases => ([2, 2, 56], chain),
            Self::Blocks => ([6, 6, 48], chain),
            Self::Deviation => ([3, 2, 55], chain),
            Self::Branch => ([1, 1, 58], Some(2)),
            Self::Workers => ([1, 1, 58], Some(workers)),
            Self::Alternating | Self::Never => ([60, 0, 0], None),
        };
        Expected { states, groups }
    }

    /// The events of a rank in a step: symbol, source and destination.
    pub(crate) fn step(
        self,
        rank: u32,
        size: u32,
        step: u32,
        numbers: &mut Numbers,
        event: &mut impl FnMut(Event),
    ) {
        match self {
            Self::OnePhase => chain(rank, size, 0, event),
            Self::TwoPhases => chain(rank, size, step / 30, event),
            Self::Alternating | Self::AlternatingEverySecond => chain(rank, size, step % 2, event),
            Self::Blocks => chain(rank, size, step / 10 % 2, event),
            Self::Branch => {
                // The last rank of an odd number has no partner.
                let partner = if rank.is_multiple_of(2) { 1 } else { -1 };
                let partner = Some(partner).filter(|_| (rank ^ 1) < size);
                let calls = if rank.is_multiple_of(2) { [20, 21] } else { [22, 23] };
                event((calls[0], None, partner));
                event((calls[1], partner, None));
            }
            Self::Workers => {
                let tasks = 1 + numbers.below(20);
                for _ in 0..tasks {
                    let partner = if rank == 0 {
                        1 + numbers.below(u64::from(size) - 1) as i64
                    } else {
                        -i64::from(rank)
                    };
                    let calls = if rank == 0 { [30, 31] } else { [32, 33] };
                    event((calls[0], None, Some(partner)));
                    event((calls[1], Some(partner), None));
                }
            }
            Self::Convergence => {
                for _ in 0..=numbers.below(5) {
                    chain(rank, size, 0, event);
                    (0..=numbers.below(3)).for_each(|_| event((40, None, None)));
                }
            }
            Self::Deviation => {
                chain(rank, size, 0, event);
                if step == 30 && rank == size / 2 {
                    event((41, None, None));
                }
            }
            Self::Never => {
                chain(rank, size, 0, event);
                event((50 + step, None, None));
            }
        }
        event((1, None, None));
    }

    fn steps_per_marker(self) -> u32 {
        if self == Self::AlternatingEverySecond { 2 } else { 1 }
    }
}

/// A symbol, and the ranks that are received from and sent to, less the own.
pub(crate) type Event = (u32, Option<i64>, Option<i64>);

/// Exchanges with the ranks before and after this one, in one of two ways.
fn chain(rank: u32, size: u32, phase: u32, event: &mut impl FnMut(Event)) {
    let symbol = 10 + 4 * phase;
    let (before, after) = (Some(-1).filter(|_| rank > 0), Some(1).filter(|_| rank + 1 < size));
    event((symbol, before, None));
    event((symbol + 1, after, None));
    event((symbol + 2, None, after));
    event((symbol + 3, None, before));
}

/// Numbers that look random, always the same ones.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) states: Vec<State>,
    pub(crate) clusterings: Vec<Vec<Group>>,
}

impl Outcome {
    pub(crate) fn markers(&self, state: State) -> usize {
        self.states.iter().filter(|known| **known == state).count()
    }
}

/// Runs a rank of a program from marker to marker.
pub(crate) fn run<C: Communicator + ?Sized>(comm: &C, program: Program) -> Result<Outcome, CommError> {
    let (rank, size) = (comm.rank() as u32, comm.size() as u32);
    let mut numbers = Numbers(u64::from(rank) * 77 + 5);
    let (mut rolling, mut machine) = (Rolling::new(), Machine::new());
    // Ranks number the same calls differently.
    let own = |symbol: u32| if rank % 3 == 1 { SYMBOLS - 1 - symbol } else { symbol };
    for symbol in 0..SYMBOLS {
        rolling.know(
            own(symbol),
            u128::from(symbol).wrapping_mul(0x9e37_79b9_7f4a_7c15_1234_5678_9abc_def1) + 1,
        );
    }
    let mut outcome = Outcome { states: Vec::new(), clusterings: Vec::new() };
    for step in 0..MARKERS {
        let mut event = |(symbol, source, dest)| rolling.event(own(symbol), source, dest, 0);
        program.step(rank, size, step, &mut numbers, &mut event);
        if !(step + 1).is_multiple_of(program.steps_per_marker()) {
            continue;
        }
        let signature = rolling.end();
        let mut differs = [i64::from(!rolling.repeats())];
        comm.all_reduce(Reduction::Max, &mut differs)?;
        let step = machine.marker(differs[0] > 0);
        outcome.states.push(step.state);
        if step.action == Action::Cluster {
            outcome.clusterings.push(choose(comm, &signature, &Options::default())?);
        }
    }
    Ok(outcome)
}
