//! Output files that appear whole or not at all.

mod drain;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError, TryLockError};

use likewise::comm::wire::{self, Taker};

use crate::digest::{Digest, Digesting};
use crate::error::{Error, Result};
use drain::Drained;

/// Paths that must not outlive an interrupted program: temporary files, locks,
/// and new directories, as long as these are empty.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Part of the names of temporary files: process ids are unique on one host only.
static HOST: LazyLock<String> = LazyLock::new(|| {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().replace('/', "_")
});

fn all_unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn unfinished(path: &Path) {
    all_unfinished().push(path.to_owned());
}

pub(crate) fn finished(path: &Path) {
    all_unfinished().retain(|known| known != path);
}

/// Notes a directory that was made for later files; [`remove_unfinished`]
/// removes it if it is empty. Call the result to keep the directory.
pub fn unfinished_dir(path: &Path) -> impl FnOnce() + use<> {
    unfinished(path);
    let path = path.to_owned();
    move || finished(&path)
}

/// Removes what every unfinished [`AtomicFile`] has written so far, for a
/// program that must end at once. Waits until a running [`commit_all`] is done.
pub fn remove_unfinished() {
    remove(&mut all_unfinished());
}

/// The same for a program that has run out of memory. It must not wait: if
/// another thread is about to begin or finish a file, everything stays.
pub fn try_remove_unfinished() {
    match UNFINISHED.try_lock() {
        Ok(mut paths) => remove(&mut paths),
        Err(TryLockError::Poisoned(paths)) => remove(&mut paths.into_inner()),
        Err(TryLockError::WouldBlock) => {}
    }
}

fn remove(paths: &mut Vec<PathBuf>) {
    // From the back: a directory comes before the files in it.
    while let Some(path) = paths.pop() {
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
    }
}

/// Whether this names a temporary file of a process of this host that has
/// ended. Without a `/proc`, every process counts as running.
pub(crate) fn owner_is_dead(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".likewise-").and_then(|rest| rest.strip_suffix(".tmp")) else {
        return false;
    };
    let Some((owner, _)) = rest.rsplit_once('-') else { return false };
    let Some((host, pid)) = owner.rsplit_once('-') else { return false };
    pid.parse::<u32>().is_ok() && host == *HOST && is_dead(pid)
}

/// Whether a process of this host has ended, or waits only for its parent to
/// collect its exit code.
fn is_dead(pid: &str) -> bool {
    match fs::read_to_string(Path::new("/proc").join(pid).join("stat")) {
        // The state stands after the process name, which is in parentheses.
        Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])),
        // A missing entry tells something only if there is a `/proc` at all.
        Err(error) => error.kind() == io::ErrorKind::NotFound && Path::new("/proc/self").exists(),
    }
}

/// A file that is written under a temporary name in the same folder, and
/// renamed by [`commit`](Self::commit). Dropped before that, it leaves nothing.
///
/// If a device or a pipe stands at the path, it is written directly.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    /// `None` if there is nothing to rename.
    temporary: Option<PathBuf>,
    /// `None` once it is complete.
    writer: Option<BufWriter<Digested>>,
    digest: Digest,
    /// Whether others have written to it.
    by_parts: bool,
}

/// A file, and the digest of the bytes written to it.
#[derive(Debug)]
struct Digested {
    file: Drained,
    digesting: Digesting,
}

impl Write for Digested {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.digesting.add(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl AtomicFile {
    /// Opens a new file that is to stand at `path`.
    ///
    /// # Errors
    /// The folder is missing, or cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let error = |e| Error::write(path, e);
        let new = |temporary, file| {
            let inner = Digested { file: Drained::new(file), digesting: Digesting::default() };
            let writer = Some(BufWriter::with_capacity(1 << 18, inner));
            Self { path: path.to_owned(), temporary, writer, digest: Digest::default(), by_parts: false }
        };
        if is_special(path) {
            return Ok(new(None, OpenOptions::new().write(true).open(path).map_err(error)?));
        }
        path.file_name().ok_or_else(|| error(io::ErrorKind::InvalidFilename.into()))?;
        loop {
            let n = COUNTER.fetch_add(1, Ordering::Relaxed);
            // Not made from the file's name, which may have the longest length allowed.
            let temporary =
                path.with_file_name(format!(".likewise-{}-{}-{n}.tmp", *HOST, std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    unfinished(&temporary);
                    return Ok(new(Some(temporary), file));
                }
                // A killed process that had our process id left it behind.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(error(e)),
            }
        }
    }

    /// The file, still empty, of a result that may be large and is not read at once:
    /// it goes to the disk while it is written, and is not kept in the page cache.
    #[must_use]
    pub fn drained(mut self) -> Self {
        if let Some(writer) = &mut self.writer {
            writer.get_mut().file.begin();
        }
        self
    }

    /// Where the file is to stand.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What other processes must know that write parts of it.
    #[must_use]
    pub fn shared(&self) -> SharedFile {
        SharedFile { written_at: self.written_at().to_owned(), path: self.path.clone() }
    }

    /// Where it is until it is in its place.
    fn written_at(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.path)
    }

    /// The file, after others have written parts of it.
    #[must_use]
    pub fn filled_by_parts(mut self) -> Self {
        self.by_parts = true;
        self
    }

    /// Writes what is buffered. The file is then complete, but not in its
    /// place, and nothing more can be written to it.
    ///
    /// # Errors
    /// The disk is full.
    pub fn complete(&mut self) -> Result<Digest> {
        if let Some(writer) = self.writer.take() {
            // `into_inner` would write the buffer again on drop after a failure.
            let inner = writer.into_inner().map_err(|e| Error::write(&self.path, e.into_error()))?;
            self.digest = inner.digesting.digest();
            if self.by_parts {
                let path = self.written_at();
                let mapped = File::open(path).and_then(|file| Digest::of_own(&file));
                // Not every file system can map.
                let digest = mapped.or_else(|_| Digest::of_file(path));
                self.digest = digest.map_err(|e| Error::write(&self.path, e))?;
            }
        }
        Ok(self.digest)
    }

    /// Completes the file and puts it in its place.
    ///
    /// # Errors
    /// The disk is full, or the place cannot be written; the temporary file
    /// is removed.
    pub fn commit(self) -> Result<()> {
        commit_all(vec![self])
    }

    fn with_path<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|e| io::Error::new(e.kind(), Error::write(&self.path, e)))
    }
}

/// Whether something stands at the path that is written from its begin to its
/// end and not replaced: a device or a pipe. Processes cannot share it.
#[must_use]
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// A file that several processes write, as all of them know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFile {
    written_at: PathBuf,
    path: PathBuf,
}

impl SharedFile {
    /// Appends it as it travels.
    pub fn put(&self, message: &mut Vec<u8>) {
        wire::put_block(message, self.written_at.as_os_str().as_bytes());
        wire::put_block(message, self.path.as_os_str().as_bytes());
    }

    /// The next thing of a message, if it is this.
    pub fn take(taker: &mut Taker<'_>) -> Option<Self> {
        let mut path = || taker.block().map(|bytes| PathBuf::from(OsStr::from_bytes(bytes)));
        Some(Self { written_at: path()?, path: path()? })
    }

    /// Opens it for writing.
    ///
    /// # Errors
    /// This process does not see the file, or may not write it.
    pub fn open(&self) -> Result<File> {
        let opened = OpenOptions::new().write(true).open(&self.written_at);
        opened.map_err(|error| Error::write(&self.written_at, error))
    }

    /// Where it is to stand.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A part of a file that several processes write.
#[derive(Debug)]
pub struct PartFile {
    /// Where the file is to stand, for people.
    path: PathBuf,
    writer: BufWriter<File>,
    /// Bytes of the part that are not written yet.
    left: u64,
}

impl PartFile {
    /// The part of `size` bytes after `before` others.
    ///
    /// # Errors
    /// This process cannot write the file.
    pub fn open(of: &SharedFile, before: u64, size: u64) -> Result<Self> {
        let mut file = of.open()?;
        file.seek(SeekFrom::Start(before)).map_err(|e| Error::write(of.path(), e))?;
        Ok(Self { path: of.path.clone(), writer: BufWriter::with_capacity(1 << 18, file), left: size })
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// The disk is full, or the part is not as long as was said.
    pub fn complete(mut self) -> Result<()> {
        self.writer.flush().map_err(|e| Error::write(&self.path, e))?;
        match self.left {
            0 => Ok(()),
            _ => Err(Error::write(&self.path, not_as_long())),
        }
    }
}

fn not_as_long() -> io::Error {
    io::Error::other("what is copied has changed meanwhile")
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            // What follows is another's.
            return Err(not_as_long());
        }
        let n = self.writer.write(bytes)?;
        self.left -= n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Completes all files, then puts each in its place, one right after the other.
///
/// # Errors
/// As [`AtomicFile::commit`]; where the disk is full, no file is in its place.
pub fn commit_all(mut files: Vec<AtomicFile>) -> Result<()> {
    // A full disk shows here, before any file is in its place.
    files.iter_mut().try_for_each(|file| file.complete().map(drop))?;
    // Held over all renames, so that `remove_unfinished` waits for them.
    let mut known = all_unfinished();
    let mut failed = Ok(());
    for file in &mut files {
        let Some(temporary) = &file.temporary else { continue };
        if let Err(e) = fs::rename(temporary, &file.path) {
            failed = Err(Error::write(&file.path, e));
            break;
        }
        known.retain(|path| path != temporary);
        file.temporary = None;
    }
    // Dropping a file takes this lock, so it must be free before.
    drop(known);
    failed
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
            // Not flushed: the file is removed anyway.
            drop(writer.into_parts());
        }
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
            finished(temporary);
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
    fn only_what_the_dead_of_this_host_left_goes() {
        let name = |host: &str, pid: u32| format!(".likewise-{host}-{pid}-7.tmp");
        // More than any system numbers its processes with.
        let dead = u32::MAX;
        assert!(owner_is_dead(&name(&HOST, dead)));
        assert!(!owner_is_dead(&name(&HOST, std::process::id())));
        assert!(!owner_is_dead(&name(&format!("not-{}", *HOST), dead)));
        for other in [".likewise-1.tmp", ".likewise.json", ".bursts.csv.1-0.tmp", ".likewise-a-b-c.tmp"] {
            assert!(!owner_is_dead(other), "{other}");
        }
        let dir = tempfile::tempdir().unwrap();
        let file = AtomicFile::create(&dir.path().join("a".repeat(255))).unwrap();
        let left = dir.path().join(name(&HOST, dead));
        fs::write(&left, "left").unwrap();
        drop(crate::DirLock::take(dir.path(), || ()).unwrap());
        assert!(!left.exists());
        file.commit().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    /// Whoever fills a file may say again which it is.
    #[test]
    fn the_path_is_said_once() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let path = Path::new("a.prv");
        let wrapped = io::Error::new(full.kind(), Error::write(path, full));
        assert_eq!(Error::write(path, wrapped).to_string(), "a.prv: cannot be written: no storage space");
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
