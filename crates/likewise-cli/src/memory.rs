//! How much memory the process had.

/// The most memory that the process has held, in bytes; `None` where the
/// system does not tell (it is read from `/proc/self/status`).
#[must_use]
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_is_at_least_what_was_touched() {
        let before = peak_memory();
        let block = vec![1u8; 64 << 20];
        assert!(block.iter().map(|&b| usize::from(b)).sum::<usize>() == 64 << 20);
        if let (Some(_), Some(after)) = (before, peak_memory()) {
            assert!(after >= 64 << 20);
        }
    }
}
