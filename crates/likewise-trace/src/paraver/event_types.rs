//! Event types with a meaning of their own.

/// Whether the type is that of a PAPI, native or uncore counter: 42…, 44…, 46….
#[inline]
pub(crate) fn is_hardware(event_type: u32) -> bool {
    matches!(event_type / 1_000_000, 42 | 44 | 46)
}
