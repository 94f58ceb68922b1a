//! MPI's functions, by the number of the call.

use crate::ReplayError;
use likewise_mpi::{Constants, Function, Raw};
use likewise_recording::CallId;
use likewise_recording::calls::{N_CALLS, number};

/// An MPI, with its functions looked up when they are first called.
pub(crate) struct Mpi<'a> {
    raw: Raw<'a>,
    pub(crate) constants: Constants,
    functions: Vec<Option<Function>>,
}

impl<'a> Mpi<'a> {
    pub(crate) fn new(raw: Raw<'a>) -> Result<Self, ReplayError> {
        let constants = raw.constants().ok_or(ReplayError::Constants)?;
        Ok(Self { raw, constants, functions: vec![None; N_CALLS] })
    }

    fn function(&mut self, call: CallId) -> Result<Function, ReplayError> {
        let place = &mut self.functions[usize::from(call.0)];
        if place.is_none() {
            // By the names that no tool which records calls sees.
            *place = self.raw.find(&format!("P{}", call.name()));
        }
        place.ok_or(ReplayError::Missing { call: call.name() })
    }

    /// Calls it. The words must be what it takes: handles that live, and
    /// pointers to memory that lives as long as MPI uses it. All come from
    /// [`Words`](crate::words::Words), or stand at the place of the call.
    pub(crate) fn call(&mut self, call: CallId, words: &[usize]) -> Result<(), ReplayError> {
        let function = self.function(call)?;
        // SAFETY: the roles of the table say what the function takes, and the
        // words were made by the roles.
        let code = unsafe { function.call(words) };
        if code == 0 || self.was_truncated(code) {
            return Ok(());
        }
        Err(ReplayError::Failed { call: call.name(), told: self.raw.told(code) })
    }

    /// Whether an error is that a message was longer than its receive. All are
    /// as long as recorded, so it was there too.
    fn was_truncated(&mut self, code: i32) -> bool {
        let Ok(function) = self.function(number::Error_class) else { return false };
        let mut class = 0_i32;
        // SAFETY: any code may be asked after, and `class` is a place for an int.
        let asked = unsafe { function.call(&[code as usize, (&raw mut class) as usize]) };
        asked == 0 && class == self.constants.error_truncate
    }

    /// Handles as MPI has them in an array.
    pub(crate) fn array(&self, handles: &[usize]) -> Box<[u8]> {
        let bytes = self.constants.handle_bytes;
        handles.iter().flat_map(|handle| handle.to_le_bytes().into_iter().take(bytes)).collect()
    }

    /// The handles of such an array.
    pub(crate) fn handles(&self, array: &[u8]) -> Vec<usize> {
        let one = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | usize::from(*byte));
        array.chunks(self.constants.handle_bytes).map(one).collect()
    }
}
