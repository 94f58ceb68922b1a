//! Output files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// The temporary files there are.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporary_files() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what every unfinished [`AtomicFile`] has written so far: for a
/// program that is told to end at once.
pub fn remove_unfinished() {
    for path in temporary_files().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// A file that is written beside its place and renamed into it by
/// [`commit`](Self::commit); dropped before that, it leaves nothing.
///
/// Where a device or a pipe stands at the path, it is written directly.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    /// `None` where there is nothing to rename.
    temporary: Option<PathBuf>,
    writer: Option<BufWriter<File>>,
}

impl AtomicFile {
    /// Opens a new file that is to stand at `path`.
    ///
    /// # Errors
    /// The folder is missing, or cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let error = |e| Error::write(path, e);
        let special = fs::metadata(path).is_ok_and(|m| !m.is_file());
        if special {
            let file = OpenOptions::new().write(true).open(path).map_err(error)?;
            return Ok(Self { path: path.to_owned(), temporary: None, writer: Some(buffered(file)) });
        }
        let name = path.file_name().ok_or_else(|| error(io::ErrorKind::InvalidFilename.into()))?;
        loop {
            let n = COUNTER.fetch_add(1, Ordering::Relaxed);
            let mut beside = std::ffi::OsString::from(".");
            beside.push(name);
            beside.push(format!(".{}-{n}.tmp", std::process::id()));
            let temporary = path.with_file_name(beside);
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    temporary_files().push(temporary.clone());
                    let writer = Some(buffered(file));
                    return Ok(Self { path: path.to_owned(), temporary: Some(temporary), writer });
                }
                // Left behind by a killed process that had our number.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(error(e)),
            }
        }
    }

    /// Where the file is to stand.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what is buffered and puts the file in its place.
    ///
    /// # Errors
    /// The disk is full, or the place cannot be written; the temporary file
    /// is removed.
    pub fn commit(mut self) -> Result<()> {
        let error = |e| Error::write(&self.path, e);
        if let Some(writer) = self.writer.take() {
            // `into_inner` would write the buffer again on drop after a failure.
            let file = writer.into_inner().map_err(|e| error(e.into_error()))?;
            drop(file);
        }
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path).map_err(error)?;
            temporary_files().retain(|path| path != temporary);
            self.temporary = None;
        }
        Ok(())
    }

    fn with_path<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|e| io::Error::new(e.kind(), Error::write(&self.path, e)))
    }
}

fn buffered(file: File) -> BufWriter<File> {
    BufWriter::with_capacity(1 << 18, file)
}

/// Errors carry the path in their text, as those of [`AtomicFile::commit`] do.
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.writer.as_mut().map_or(Ok(0), |w| w.write(bytes));
        self.with_path(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.writer.as_mut().map_or(Ok(()), Write::flush);
        self.with_path(result)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            // Not flushed: the file goes away.
            drop(writer.into_parts());
        }
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
            temporary_files().retain(|path| path != temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appears_on_commit_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.csv");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"a\n").unwrap();
        assert!(!path.exists());
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a\n");
        let mut second = AtomicFile::create(&path).unwrap();
        second.write_all(&vec![b'x'; 1 << 20]).unwrap();
        drop(second);
        assert_eq!(fs::read(&path).unwrap(), b"a\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_and_a_full_disk_are_errors_with_the_path() {
        let error = AtomicFile::create(Path::new("/no-such-folder/out.csv")).unwrap_err();
        assert!(error.to_string().starts_with("/no-such-folder/out.csv: cannot be written: "));
        if Path::new("/dev/full").exists() {
            let mut file = AtomicFile::create(Path::new("/dev/full")).unwrap();
            file.write_all(b"a\n").unwrap();
            let error = file.commit().unwrap_err();
            assert!(error.to_string().starts_with("/dev/full: cannot be written: "), "{error}");
        }
    }
}
