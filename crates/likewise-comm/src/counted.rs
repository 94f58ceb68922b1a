//! How much a rank sends.

use super::{CommError, Communicator};
use std::cell::RefCell;

/// What a rank sent and received while one label was set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The label; see [`Communicator::phase`].
    pub phase: String,
    /// Messages sent.
    pub messages: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Messages received.
    pub received: u64,
    /// Bytes in them.
    pub bytes_received: u64,
}

/// Counts the messages of this rank, by phase.
///
/// Collective functions run over `send` and `receive`, even if the
/// communicator within has faster ones of its own, so that every message
/// passes through here.
pub struct Counted<'a, C: ?Sized> {
    within: &'a C,
    /// The last entry is the current phase.
    traffic: RefCell<Vec<Traffic>>,
}

impl<'a, C: Communicator + ?Sized> Counted<'a, C> {
    /// Counts from now on, under an empty label.
    pub fn new(within: &'a C) -> Self {
        Self { within, traffic: RefCell::new(vec![Traffic::default()]) }
    }

    /// What was counted, in the order in which phases were last entered.
    /// Phases without a message are left out.
    pub fn traffic(&self) -> Vec<Traffic> {
        let counted = |phase: &&Traffic| phase.messages + phase.received > 0;
        self.traffic.borrow().iter().filter(counted).cloned().collect()
    }

    fn count(&self, with: impl FnOnce(&mut Traffic)) {
        if let Some(present) = self.traffic.borrow_mut().last_mut() {
            with(present);
        }
    }
}

impl<C: Communicator + ?Sized> Communicator for Counted<'_, C> {
    fn rank(&self) -> usize {
        self.within.rank()
    }

    fn size(&self) -> usize {
        self.within.size()
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        self.count(|traffic| {
            traffic.messages += 1;
            traffic.bytes += message.len() as u64;
        });
        self.within.send(to, message)
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        let message = self.within.receive(from)?;
        self.count(|traffic| {
            traffic.received += 1;
            traffic.bytes_received += message.len() as u64;
        });
        Ok(message)
    }

    fn fail(&self, reason: &str) {
        self.within.fail(reason);
    }

    /// Later messages count under this label, added to what it already has.
    fn phase(&self, label: &str) {
        let mut traffic = self.traffic.borrow_mut();
        let known = traffic.iter().position(|phase| phase.phase == label);
        let present = known
            .map_or_else(|| Traffic { phase: label.to_owned(), ..Traffic::default() }, |i| traffic.remove(i));
        traffic.push(present);
    }
}
