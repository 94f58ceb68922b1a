//! A phase in one run, per repetition.

use super::factors::RunFigures;
use super::times::{Times, Variance};
use crate::table::Nanos;
use std::sync::Arc;

/// Application, task and thread of each thread that computes, in order.
pub(super) type Threads = Arc<[(u32, u32, u32)]>;

/// A phase, or all computation, in one run, per repetition.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// All of it.
    pub figures: RunFigures,
    /// How many repetitions that is: of what they are compared per.
    pub times: f64,
    /// What the thread that takes longest takes for one repetition, in ns.
    pub longest: f64,
    /// Time of each thread for one repetition, in ns, by thread.
    pub(super) each: Vec<f64>,
    pub(super) threads: Threads,
    pub(super) of_mean: Option<Variance>,
    /// Of one thread's time, in the repetitions that balance is seen in.
    pub(super) of_thread: Option<Variance>,
    /// Of one thread's time in all repetitions.
    pub(super) of_all: Option<Variance>,
    /// Mean over longest time of a thread, but for repetitions in which it took far longer than
    /// otherwise, where these are few.
    pub(super) usual_balance: Option<f64>,
    /// The same in CPU time, where enough of it is known.
    pub cpu: Option<Box<InCpu>>,
}

/// What was measured, where times are those on a core.
#[derive(Clone, Debug, PartialEq)]
pub struct InCpu {
    /// The likely times: see [`Measured::cpu`].
    pub measured: Measured,
    /// The least and the most that it can be, over what is likely, as CPU times of some bursts
    /// are not known.
    pub least: f64,
    /// See `least`.
    pub most: f64,
}

impl Measured {
    /// Of sums alone, without the times of repetitions: it counts as run once.
    #[must_use]
    pub fn once(figures: RunFigures) -> Self {
        let longest = figures.longest.0 as f64;
        let threads = Arc::from([]);
        Self {
            figures,
            times: 1.0,
            longest,
            each: Vec::new(),
            threads,
            of_mean: None,
            of_thread: None,
            of_all: None,
            usual_balance: None,
            cpu: None,
        }
    }

    /// In blocks of `block` repetitions of `times`.
    pub(super) fn of(
        figures: RunFigures,
        repetitions: f64,
        times: &Times,
        block: usize,
        threads: &Threads,
    ) -> Self {
        let mean = figures.mean() / repetitions;
        let in_blocks = times.balance(block).filter(|_| block < times.n()).map(|balance| mean / balance);
        let of_one = |t: usize| times.row(t).iter().sum::<f64>() / repetitions;
        let n_blocks = (times.n() / block.max(1)).max(1) as f64;
        let of_block = |v: Variance| Variance { value: v.value / n_blocks, freedom: v.freedom };
        Self {
            times: repetitions,
            longest: in_blocks.unwrap_or(figures.longest.0 as f64 / repetitions),
            each: (0..threads.len()).map(of_one).collect(),
            threads: Arc::clone(threads),
            of_mean: times.variance_of_mean(),
            of_thread: times.variance_of_thread(block).map(of_block),
            of_all: times.variance_of_thread(times.n()),
            usual_balance: times.usual_balance(block),
            cpu: None,
            figures,
        }
    }

    /// The same with a load balance that does not come from the sums of threads.
    pub(super) fn balanced(self, balance: Option<f64>) -> Self {
        let longest = balance.map_or(self.longest, |balance| self.mean() / balance);
        Self { longest, ..self }
    }

    /// Mean time of a thread of the run for one repetition, in ns.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.figures.mean() / self.times
    }

    /// Time of each thread of the run for one repetition, in ns, by thread.
    #[must_use]
    pub fn each(&self) -> &[f64] {
        &self.each
    }

    /// The share of its time that it is on a core, where enough is known.
    #[must_use]
    pub fn on_core(&self) -> Option<f64> {
        let cpu = self.cpu.as_ref().filter(|_| self.figures.total > Nanos::ZERO)?;
        Some(cpu.measured.figures.total.0 as f64 / self.figures.total.0 as f64)
    }

    /// Mean over longest time of a thread in one repetition.
    #[must_use]
    pub fn load_balance(&self) -> Option<f64> {
        (self.longest > 0.0).then(|| self.mean() / self.longest)
    }
}
