//! A directory that one process at a time writes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::output::{finished, owner_is_dead, unfinished};

/// The file that is locked.
const NAME: &str = ".likewise.lock";

/// The right to write a directory. No other process has it until this is
/// dropped. The lock is advisory, on a file in the directory that is removed
/// afterwards. A process that dies leaves the file unlocked, and the next
/// process takes it.
///
/// On a file system without locks every process has the right.
#[derive(Debug)]
pub struct DirLock {
    /// Closing it gives the lock back.
    _file: File,
    path: PathBuf,
}

impl DirLock {
    /// Waits until no other process writes `dir`; calls `waiting` first, if
    /// there is one. Temporary files that dead processes of this host left in
    /// it are removed.
    ///
    /// # Errors
    /// The directory is not there ([`io::ErrorKind::NotFound`]), or cannot be
    /// written.
    pub fn take(dir: &Path, waiting: impl FnOnce()) -> io::Result<Self> {
        let path = dir.join(NAME);
        let mut waiting = Some(waiting);
        loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    if let Some(waiting) = waiting.take() {
                        waiting();
                    }
                    file.lock()?;
                }
                // A file system without locks: go on without one.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // The process that had the lock removes the file. What is locked
            // here may then be gone, and a third process may hold a new file.
            let (mine, there) = (file.metadata()?, path.metadata());
            if there.is_ok_and(|there| (there.dev(), there.ino()) == (mine.dev(), mine.ino())) {
                unfinished(&path);
                remove_dead(dir);
                return Ok(Self { _file: file, path });
            }
        }
    }
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // A process that had the lock before may still have been ending when
        // its files were looked at first.
        self.path.parent().into_iter().for_each(remove_dead);
        let _ = fs::remove_file(&self.path);
        finished(&self.path);
    }
}

/// Removes the temporary files of processes that have ended.
fn remove_dead(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(owner_is_dead) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_at_a_time_and_nothing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, told) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let count = || {
                            told.fetch_add(1, Ordering::Relaxed);
                        };
                        let lock = DirLock::take(dir.path(), count).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(told.into_inner() > 0);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let gone = DirLock::take(&dir.path().join("gone"), || ()).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }
}
