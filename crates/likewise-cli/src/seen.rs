//! Whether the input is what it was when the run began.

use likewise::words::counted;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// What the input files were when the run began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<(PathBuf, Stamp)>>>);

/// What differs once a file was written to or replaced.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    file: (u64, u64),
}

impl Stamp {
    /// Of a file; nothing for pipes and folders, and for what is not there.
    fn of(path: &Path) -> Option<Self> {
        let data = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self { bytes: data.len(), modified: data.modified().ok(), file: (data.dev(), data.ino()) })
    }
}

impl Seen {
    /// These will be read.
    pub(crate) fn note(&self, paths: &[&Path]) {
        let stamps = paths.iter().filter_map(|path| Some(((*path).to_owned(), Stamp::of(path)?)));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(stamps);
    }

    /// Refuses a result of which an input was changed meanwhile: it would be of
    /// neither state.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        for (path, before) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let how = match Stamp::of(path) {
                Some(now) if now == *before => continue,
                Some(Stamp { bytes, .. }) if bytes != before.bytes => {
                    let told = |bytes| counted(bytes, "byte");
                    format!("it had {} and has {} now", told(before.bytes), told(bytes))
                }
                Some(_) => "as many bytes as before, but written to or replaced".to_owned(),
                None => "it is gone".to_owned(),
            };
            anyhow::bail!(
                "{}: changed while it was read ({how}), so nothing is written; run again when nothing else writes it",
                path.display()
            );
        }
        Ok(())
    }
}
