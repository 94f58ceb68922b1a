//! Integration tests of the readers and writers.

mod golden;
mod inputs;
mod mutated;

use std::path::{Path, PathBuf};

/// The folder of real traces, or `None` with a printed reason.
pub fn real_data() -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|a| a.join("shared/data"))
        .find(|data| data.join("epoch").is_dir());
    if found.is_none() {
        println!("skipped: no folder shared/data with real traces above {}", env!("CARGO_MANIFEST_DIR"));
    }
    found
}
