//! What a replay did.

use crate::ReplayError;
use crate::class::Reason;
use likewise_comm::{Communicator, Reduction};
use likewise_recording::CallId;
use likewise_recording::calls::N_CALLS;

/// All reasons, in the order in which they are told.
const REASONS: [Reason; 8] = [
    Reason::File,
    Reason::Datatype,
    Reason::Local,
    Reason::Generalized,
    Reason::DynamicWindow,
    Reason::Failed,
    Reason::InVain,
    Reason::Unmatched,
];

/// What the ranks did.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    issued: Vec<i64>,
    /// Calls, and the time that they took in the recording, in ns.
    skipped: [[i64; 2]; REASONS.len()],
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self { issued: vec![0; N_CALLS], skipped: [[0; 2]; REASONS.len()] }
    }

    pub(crate) fn issue(&mut self, call: CallId) {
        self.issued[usize::from(call.0)] += 1;
    }

    pub(crate) fn skip(&mut self, reason: Reason, time: u64) {
        let place = REASONS.iter().position(|known| *known == reason).unwrap_or(0);
        self.skipped[place][0] += 1;
        self.skipped[place][1] += time as i64;
    }

    /// That of all ranks together. Collective.
    ///
    /// # Errors
    /// MPI fails.
    pub(crate) fn of_all(mut self, comm: &impl Communicator) -> Result<Self, ReplayError> {
        comm.all_reduce(Reduction::Sum, &mut self.issued)?;
        comm.all_reduce(Reduction::Sum, self.skipped.as_flattened_mut())?;
        Ok(self)
    }

    /// Calls that were re-issued, and how often.
    pub(crate) fn issued(&self) -> Vec<(CallId, u64)> {
        let counted = self.issued.iter().enumerate().filter(|(_, n)| **n > 0);
        counted.map(|(call, n)| (CallId(call as u16), *n as u64)).collect()
    }

    /// Why calls were not, how many, and the time that they took in the
    /// recording, in ns.
    pub(crate) fn skipped(&self) -> Vec<(Reason, u64, u64)> {
        let all = REASONS.iter().zip(&self.skipped).filter(|(_, [n, _])| *n > 0);
        all.map(|(reason, [n, time])| (*reason, *n as u64, *time as u64)).collect()
    }
}
