//! Simulated ranks beside ranks that are threads.

use super::network::{Network, Sent};
use super::replay::processor_seconds;
use super::simulate::{Case, Recorded};
use likewise::comm::{CommError, Communicator, Counted, Reduction, Traffic, run_on_threads};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Takes the processor time of a thread that is a rank, by phase.
struct Timed<'a, C> {
    within: &'a C,
    since: Cell<f64>,
    phase: RefCell<String>,
    seconds: RefCell<BTreeMap<String, f64>>,
}

/// One rank of a run on threads.
type OfRank = (Vec<Traffic>, BTreeMap<String, f64>);

/// A phase on all ranks.
pub(crate) struct Compared {
    pub(crate) phase: String,
    /// Of all ranks together.
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    /// Median work of ranks as threads, and of replayed ranks that do no more
    /// than all do.
    pub(crate) thread_work: f64,
    pub(crate) replayed_work: f64,
}

/// # Panics
/// If a rank as thread does not send what it does in the simulation.
pub(crate) fn compare(case: &Case) -> Vec<Compared> {
    let threads = on_threads(case);
    let recorded = Recorded::new(case);
    let network = Network { latency: 0.0, per_byte: 0.0 };
    let phases = recorded.simulate(network, 1.0).into_iter();
    let compared = phases.map(|(name, phase)| {
        let counted: Vec<Sent> = threads.iter().map(|(traffic, _)| sent(traffic, &name)).collect();
        assert!(counted == phase.sent, "{name} on {} ranks", case.ranks);
        let of_name = |(_, work): &OfRank| work.get(&name).copied().unwrap_or(0.0);
        let mut work: Vec<f64> = threads.iter().map(of_name).collect();
        work.sort_by(f64::total_cmp);
        Compared {
            messages: counted.iter().map(|sent| sent.messages).sum(),
            bytes: counted.iter().map(|sent| sent.bytes).sum(),
            thread_work: work[work.len() / 2],
            replayed_work: recorded.ordinary_work(&name),
            phase: name,
        }
    });
    compared.collect()
}

/// Every rank a thread.
fn on_threads(case: &Case) -> Vec<OfRank> {
    let ranks = run_on_threads::<_, CommError, _>(case.ranks, |comm| {
        let counted = Counted::new(comm);
        let timed = Timed {
            within: &counted,
            since: Cell::new(processor_seconds()),
            phase: RefCell::default(),
            seconds: RefCell::default(),
        };
        case.cluster(&timed, &[(case.make)(comm.rank(), case.seed)]);
        timed.stop();
        let seconds = timed.seconds.into_inner();
        Ok((counted.traffic(), seconds))
    });
    ranks.expect("clusters")
}

fn sent(traffic: &[Traffic], phase: &str) -> Sent {
    let found = traffic.iter().find(|traffic| traffic.phase == phase);
    found.map_or(Sent::default(), |found| Sent {
        messages: found.messages,
        bytes: found.bytes,
        received: found.received,
    })
}

impl<C: Communicator> Timed<'_, C> {
    fn stop(&self) {
        let seconds = processor_seconds() - self.since.get();
        *self.seconds.borrow_mut().entry(self.phase.borrow().clone()).or_default() += seconds;
    }

    /// The time within is not the rank's work.
    fn within<R>(&self, call: impl FnOnce(&C) -> R) -> R {
        self.stop();
        let result = call(self.within);
        self.since.set(processor_seconds());
        result
    }
}

impl<C: Communicator> Communicator for Timed<'_, C> {
    fn rank(&self) -> usize {
        self.within.rank()
    }

    fn size(&self) -> usize {
        self.within.size()
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        self.within(|comm| comm.send(to, message))
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        self.within(|comm| comm.receive(from))
    }

    fn fail(&self, reason: &str) {
        self.within.fail(reason);
    }

    fn phase(&self, name: &str) {
        self.within(|comm| comm.phase(name));
        name.clone_into(&mut self.phase.borrow_mut());
    }

    fn all_reduce(&self, reduction: Reduction, values: &mut [i64]) -> Result<(), CommError> {
        self.within(|comm| comm.all_reduce(reduction, values))
    }

    fn sum_before(&self, value: i64) -> Result<i64, CommError> {
        self.within(|comm| comm.sum_before(value))
    }

    fn concatenate(&self, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        self.within(|comm| comm.concatenate(bytes))
    }
}
