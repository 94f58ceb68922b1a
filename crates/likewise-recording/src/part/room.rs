//! How much memory what is read may take.

use crate::broken::Broken;
use crate::bytes::Reader;

/// Bytes for all parts of a file.
const MOST: u64 = 1 << 30;

/// What is left for columns over ranks. A few bytes can stand for a number of
/// each rank, so what they make is counted before it is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room(u64);

impl Default for Room {
    fn default() -> Self {
        Self(MOST)
    }
}

impl Room {
    #[cfg(test)]
    pub(crate) fn of(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Takes room for `n` things of so many bytes each.
    pub(crate) fn take(&mut self, n: usize, each: usize, reader: &Reader<'_>) -> Result<(), Broken> {
        let taken = (n as u64).saturating_mul(each as u64);
        let too_much = || reader.broken("what is said of so many ranks takes more than 1 GB of memory");
        self.0 = self.0.checked_sub(taken).ok_or_else(too_much)?;
        Ok(())
    }
}
