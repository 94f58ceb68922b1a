//! Ranks that run one after the other, so that thousands need no threads, and
//! a rank's processor time is that of its work alone.
//!
//! A rank runs until it waits for a message that nobody has sent yet. Then it
//! ends, and later runs again from its start, with the messages that it has
//! already received and without sending again what it has already sent.

use likewise_comm::{CommError, Communicator, Counted, Traffic};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

/// Messages on their way, by sender and receiver.
type Underway = RefCell<BTreeMap<(usize, usize), VecDeque<Vec<u8>>>>;

/// A rank.
pub(crate) struct Rank<'a> {
    number: usize,
    size: usize,
    underway: &'a Underway,
    received: RefCell<Vec<Vec<u8>>>,
    /// How many messages were ever sent.
    sent: Cell<usize>,
    /// How many were received and sent since the start.
    now: Cell<[usize; 2]>,
}

impl Rank<'_> {
    /// Back to the start.
    pub(crate) fn again(&self) {
        self.now.set([0, 0]);
    }
}

impl Communicator for Rank<'_> {
    fn rank(&self) -> usize {
        self.number
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        let [received, sent] = self.now.get();
        self.now.set([received, sent + 1]);
        if sent == self.sent.get() {
            self.sent.set(sent + 1);
            self.underway.borrow_mut().entry((self.number, to)).or_default().push_back(message.to_vec());
        }
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        let [at, sent] = self.now.get();
        let mut received = self.received.borrow_mut();
        if at == received.len() {
            let message =
                self.underway.borrow_mut().get_mut(&(from, self.number)).and_then(VecDeque::pop_front);
            received.push(message.ok_or(CommError::Transport { call: "receive", reason: "not yet".into() })?);
        }
        self.now.set([at + 1, sent]);
        Ok(received[at].clone())
    }

    fn fail(&self, _reason: &str) {}
}

/// Runs `work` on all ranks, and then hands rank 0, which has received all that
/// it waits for, to `after`. Returns what the ranks sent and received.
pub(crate) fn run(
    size: usize,
    work: impl Fn(&dyn Communicator) -> Result<(), CommError>,
    after: impl FnOnce(&Rank<'_>),
) -> Vec<Vec<Traffic>> {
    let underway = Underway::default();
    let rank = |number| Rank {
        number,
        size,
        underway: &underway,
        received: RefCell::default(),
        sent: Cell::new(0),
        now: Cell::new([0, 0]),
    };
    let ranks: Vec<Rank<'_>> = (0..size).map(rank).collect();
    let mut traffic = vec![None; size];
    // Up the tree, down, and up again: high ranks first, then low ones.
    for turn in 0.. {
        for at in 0..size {
            let at = if turn % 2 == 0 { size - 1 - at } else { at };
            if traffic[at].is_some() {
                continue;
            }
            ranks[at].again();
            let counted = Counted::new(&ranks[at]);
            if work(&counted).is_ok() {
                traffic[at] = Some(counted.traffic());
                if at > 0 {
                    ranks[at].received.take();
                }
            }
        }
        if traffic.iter().all(Option::is_some) {
            break;
        }
    }
    after(&ranks[0]);
    traffic.into_iter().flatten().collect()
}
