//! Event types with a meaning of their own.

/// Whether the type is that of a PAPI, native or uncore counter: 42…, 44…, 46….
#[inline]
pub(crate) fn is_hardware(event_type: u32) -> bool {
    // Ranges, because this is asked of every event, and a division takes longer.
    matches!(event_type, 42_000_000..43_000_000 | 44_000_000..45_000_000 | 46_000_000..47_000_000)
}
