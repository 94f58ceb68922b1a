//! One rank of many, run alone.
//!
//! What a collective function gives does not depend on how many ranks there
//! are. So one rank with all objects records what each gives, and any rank of
//! any number runs against the record, with its own objects and nobody beside.

use likewise::comm::{CommError, Communicator, Reduction};
use std::cell::{Cell, RefCell};

/// A step that all ranks take together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Phase(String),
    /// The reduced values.
    AllReduce(Vec<i64>),
    SumBefore,
    /// The bytes of all ranks.
    Concatenate(Vec<u8>),
}

/// The only rank; records the steps.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) steps: RefCell<Vec<Step>>,
}

/// One of `size` ranks, who takes recorded steps.
pub(crate) struct Replay<'a> {
    rank: usize,
    size: usize,
    steps: &'a [Step],
    at: Cell<usize>,
    since: Cell<f64>,
    done: RefCell<Vec<Done>>,
}

/// What a rank did between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Done {
    /// Processor time since the step before.
    pub(crate) seconds: f64,
    /// Bytes that it contributes to this step, if ranks' bytes are put together.
    pub(crate) bytes: usize,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(rank: usize, size: usize, steps: &'a [Step]) -> Self {
        let (at, done) = (Cell::new(0), RefCell::new(Vec::with_capacity(steps.len() + 1)));
        Self { rank, size, steps, at, since: Cell::new(processor_seconds()), done }
    }

    /// What the rank did before each step, and after the last.
    pub(crate) fn end(self) -> Vec<Done> {
        let seconds = processor_seconds() - self.since.get();
        assert_eq!(self.at.get(), self.steps.len(), "rank {} took other steps", self.rank);
        let mut done = self.done.into_inner();
        done.push(Done { seconds, bytes: 0 });
        done
    }

    /// Takes the next step; the clock stands still until `goes_on`.
    fn step(&self, bytes: usize) -> &'a Step {
        let seconds = processor_seconds() - self.since.get();
        self.done.borrow_mut().push(Done { seconds, bytes });
        let step = self.steps.get(self.at.get()).expect("as many steps as recorded");
        self.at.set(self.at.get() + 1);
        step
    }

    fn goes_on(&self) {
        self.since.set(processor_seconds());
    }
}

impl Communicator for Recorder {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn send(&self, _: usize, _: &[u8]) -> Result<(), CommError> {
        Err(unknown("send"))
    }

    fn receive(&self, _: usize) -> Result<Vec<u8>, CommError> {
        Err(unknown("receive"))
    }

    fn fail(&self, reason: &str) {
        eprintln!("{reason}");
    }

    fn phase(&self, name: &str) {
        self.steps.borrow_mut().push(Step::Phase(name.to_owned()));
    }

    fn all_reduce(&self, _: Reduction, values: &mut [i64]) -> Result<(), CommError> {
        self.steps.borrow_mut().push(Step::AllReduce(values.to_vec()));
        Ok(())
    }

    fn sum_before(&self, _: i64) -> Result<i64, CommError> {
        self.steps.borrow_mut().push(Step::SumBefore);
        Ok(0)
    }

    fn concatenate(&self, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        self.steps.borrow_mut().push(Step::Concatenate(bytes.clone()));
        Ok(())
    }
}

impl Communicator for Replay<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&self, _: usize, _: &[u8]) -> Result<(), CommError> {
        Err(unknown("send"))
    }

    fn receive(&self, _: usize) -> Result<Vec<u8>, CommError> {
        Err(unknown("receive"))
    }

    fn fail(&self, reason: &str) {
        eprintln!("{reason}");
    }

    fn phase(&self, name: &str) {
        assert!(matches!(self.step(0), Step::Phase(known) if known == name), "phase {name}");
        self.goes_on();
    }

    fn all_reduce(&self, reduction: Reduction, values: &mut [i64]) -> Result<(), CommError> {
        let Step::AllReduce(reduced) = self.step(0) else { return Err(unknown("all_reduce")) };
        for (value, &all) in values.iter_mut().zip(reduced) {
            // The rank's own is among what was reduced.
            assert!(reduction == Reduction::Sum || reduction.of(*value, all) == all);
            *value = all;
        }
        self.goes_on();
        Ok(())
    }

    /// One object on each rank.
    fn sum_before(&self, value: i64) -> Result<i64, CommError> {
        assert!(matches!(self.step(0), Step::SumBefore) && value == 1);
        self.goes_on();
        Ok(self.rank as i64)
    }

    fn concatenate(&self, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        let Step::Concatenate(all) = self.step(bytes.len()) else { return Err(unknown("concatenate")) };
        bytes.clone_from(all);
        self.goes_on();
        Ok(())
    }
}

fn unknown(call: &'static str) -> CommError {
    CommError::Transport { call, reason: "this is not among the recorded steps".into() }
}

/// Processor time of this thread.
pub(crate) fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is where the time goes.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "a clock of the thread's processor time");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
