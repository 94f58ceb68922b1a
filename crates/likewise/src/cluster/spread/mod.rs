//! Points that are spread over ranks, and their owners: who answers for which
//! part of space.

pub(super) mod halves;
pub(super) mod held;
