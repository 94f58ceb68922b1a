//! Files of parts: a head, then sections of a part each, with their sizes
//! and checksums.

use crate::part::{Broken, Part};

/// The first bytes of a file.
pub const MAGIC: &[u8; 8] = b"LIKEWREC";

/// The head of a file; sections follow.
#[must_use]
pub fn head() -> Vec<u8> {
    unimplemented!()
}

/// A section: a part, which of its ranks' parts it is (from 0), and a
/// checksum.
#[must_use]
pub fn section(_number: u32, _part: &Part) -> Vec<u8> {
    unimplemented!()
}

/// What stands at the end of a complete file of these sections (their sizes).
#[must_use]
pub fn foot(_sections: &[usize]) -> Vec<u8> {
    unimplemented!()
}

/// The parts of a file with their numbers, and what is wrong with the rest, if
/// anything is.
///
/// # Errors
/// It is not a recording, or none of it is whole.
pub fn read(_bytes: &[u8]) -> Result<(Vec<(u32, Part)>, Option<Broken>), Broken> {
    unimplemented!()
}
