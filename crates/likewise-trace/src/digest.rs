//! Size and hash of a file, to see whether two files are the same.

use std::fmt;
use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use memmap2::MmapOptions;
use twox_hash::XxHash64;

/// [`Digest::in_short`] reads at most this many bytes of a file: a digest of
/// all of a large file would read it once more.
const LOOKED_AT: u64 = 64 << 20;

/// So much of a file is mapped at once.
const WINDOW: u64 = 8 << 20;

/// A block of these.
const BLOCK: u64 = 1 << 18;

/// Size and hash of what a file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Bytes.
    pub size: u64,
    /// XXH64 with seed 0, as `xxhsum -H64` prints it.
    pub xxh64: u64,
}

impl Digest {
    /// Of a whole file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut digesting = Digesting::default();
        digesting.read(&mut File::open(path)?)?;
        Ok(digesting.digest())
    }

    /// The same of a file that nobody else changes, without a copy of what it holds.
    pub(crate) fn of_own(file: &File) -> io::Result<Self> {
        let (size, mut digesting) = (file.metadata()?.len(), Digesting::default());
        // A map of all would count as memory of the process.
        for offset in (0..size).step_by(WINDOW as usize) {
            let len = (size - offset).min(WINDOW) as usize;
            // SAFETY: the map is only read, as bytes, and the file stays as it is: its name is
            // known to this program alone.
            let map = unsafe { MmapOptions::new().offset(offset).len(len).map(file) }?;
            digesting.add(&map);
        }
        Ok(digesting.digest())
    }

    /// The digest of a whole file up to 64 MiB. Of a larger file, it covers
    /// 64 MiB in blocks of 256 KiB, evenly spread from the first block to the
    /// last. Two files of one size that differ only elsewhere count as equal.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn in_short(path: &Path) -> io::Result<Self> {
        let size = path.metadata()?.len();
        if size <= LOOKED_AT {
            return Self::of_file(path);
        }
        let (mut file, mut digesting) = (File::open(path)?, Digesting::default());
        let last = LOOKED_AT / BLOCK - 1;
        for block in 0..=last {
            // In 128 bits: a size times 255 may not fit into 64.
            let at = u128::from(size - BLOCK) * u128::from(block) / u128::from(last);
            file.seek(SeekFrom::Start(at as u64))?;
            digesting.read(&mut (&mut file).take(BLOCK))?;
        }
        Ok(Self { size, ..digesting.digest() })
    }
}

/// As a manifest shows the hash.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:016x}", self.xxh64)
    }
}

/// A digest in the making.
#[derive(Clone, Debug)]
pub(crate) struct Digesting {
    size: u64,
    hash: XxHash64,
}

impl Default for Digesting {
    fn default() -> Self {
        Self { size: 0, hash: XxHash64::with_seed(0) }
    }
}

impl Digesting {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        self.hash.write(bytes);
    }

    pub(crate) fn digest(&self) -> Digest {
        Digest { size: self.size, xxh64: self.hash.finish() }
    }

    fn read(&mut self, from: &mut impl Read) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 18];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => self.add(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_published_hash() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for (text, hash) in [("", "ef46db3751d8e999"), ("abc", "44bc2cf5ad770999")] {
            std::fs::write(&path, text).unwrap();
            let digest = Digest::of_file(&path).unwrap();
            assert_eq!((digest.size, digest.to_string().as_str()), (text.len() as u64, hash));
            assert_eq!(Digest::in_short(&path).unwrap(), digest);
        }
        for size in [0, 1, WINDOW, WINDOW + 1, 2 * WINDOW + 77] {
            let text: Vec<u8> = (0..size).map(|i| (i * i % 251) as u8).collect();
            std::fs::write(&path, text).unwrap();
            let own = Digest::of_own(&File::open(&path).unwrap()).unwrap();
            assert_eq!(own, Digest::of_file(&path).unwrap(), "{size}");
        }
    }

    /// Holes cost no disk: the file is 300 MiB of zeros.
    #[test]
    fn of_a_large_file_both_ends_count() {
        use std::io::Write as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut file = File::create(&path).unwrap();
        file.set_len(300 << 20).unwrap();
        let zeros = Digest::in_short(&path).unwrap();
        for at in [0, (300 << 20) - 1] {
            for (byte, same) in [(b"x", false), (b"\0", true)] {
                file.seek(SeekFrom::Start(at)).unwrap();
                file.write_all(byte).unwrap();
                assert_eq!(Digest::in_short(&path).unwrap() == zeros, same, "{at}");
            }
        }
        file.set_len((300 << 20) + 1).unwrap();
        assert_ne!(Digest::in_short(&path).unwrap(), zeros);
    }
}
