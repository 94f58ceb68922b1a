//! Large files go to the disk while they are written.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

/// A file is large from so many bytes on. A smaller one stays in the page cache,
/// where whoever reads it next finds it.
const LARGE: u64 = 256 << 20;

/// Bytes between two requests.
const STEP: u64 = 8 << 20;

/// Each request is about so many bytes: the last ones begin their way to the disk,
/// and those that have arrived give their pages back.
const REACH: u64 = 256 << 20;

/// A file that does not fill the page cache.
///
/// Left alone, the kernel keeps what is written until a tenth of the memory is full
/// of it, and then lets the program wait for the disk; and each page of a large
/// file is a new one. Asked to write at once, and to give pages back, it works
/// beside the program and takes the same pages again. A disk that is slower than
/// the program would hold it up; then it is no longer asked.
#[derive(Debug)]
pub(super) struct Drained {
    file: File,
    /// Where the file is written, if it is to be drained.
    at: Option<u64>,
    /// Up to where there were requests.
    asked: u64,
    begun: Instant,
    asking: Duration,
}

impl Drained {
    /// Of a file that is written from its begin; it is not drained yet.
    pub(super) fn new(file: File) -> Self {
        Self { file, at: None, asked: 0, begun: Instant::now(), asking: Duration::ZERO }
    }

    /// From now on it is; nothing was written yet.
    pub(super) fn begin(&mut self) {
        (self.at, self.begun) = (Some(0), Instant::now());
    }

    /// The bytes that the next request is about, if it is time for one.
    fn due(&self) -> Option<Range<u64>> {
        let at = self.at.filter(|&at| at >= LARGE && at - self.asked >= STEP)?;
        // At first all that was written so far.
        let from = if self.asked == 0 { 0 } else { at.saturating_sub(REACH) };
        (2 * self.asking <= self.begun.elapsed()).then_some(from..at)
    }

    fn ask(&mut self, range: Range<u64>) {
        let begun = Instant::now();
        drain(&self.file, &range);
        self.asking += begun.elapsed();
        self.asked = range.end;
    }
}

/// What cannot be drained stays where it is.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
fn drain(file: &File, range: &Range<u64>) {
    #[cfg(target_os = "linux")]
    {
        use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
        let (from, length) = (range.start as i64, (range.end - range.start) as i64);
        let _ = posix_fadvise(file, from, length, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    }
}

impl Write for Drained {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        if let Some(at) = &mut self.at {
            *at += n as u64;
            if let Some(range) = self.due() {
                self.ask(range);
            }
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_files_are_drained_and_only_while_the_disk_keeps_up() {
        let mut file = Drained::new(tempfile::tempfile().unwrap());
        file.at = Some(LARGE);
        let due = file.due();
        assert_eq!(due, Some(0..LARGE));
        file.ask(0..LARGE);
        file.asking = Duration::ZERO;
        assert_eq!(file.due(), None);
        let next = LARGE + STEP;
        file.at = Some(next);
        assert_eq!(file.due(), Some(next - REACH..next));
        file.asking = Duration::from_secs(3600);
        assert_eq!(file.due(), None);
        for at in [None, Some(LARGE - 1)] {
            file = Drained::new(tempfile::tempfile().unwrap());
            file.at = at;
            assert_eq!(file.due(), None);
        }
    }

    /// Of 300 MiB.
    #[test]
    fn a_drained_file_holds_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut file = Drained::new(File::create(&path).unwrap());
        file.begin();
        let block: Vec<u8> = (0..1 << 20).map(|i| (i % 251) as u8).collect();
        (0..300).for_each(|_| file.write_all(&block).unwrap());
        assert!(file.asked >= LARGE);
        drop(file);
        let written = std::fs::read(&path).unwrap();
        assert!(written.len() == 300 << 20 && written.chunks(1 << 20).all(|chunk| chunk == block));
    }
}
