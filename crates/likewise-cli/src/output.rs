//! The directory of an analysis: all its files appear, or none.

use anyhow::{Context, Result, bail};
use likewise_trace::AtomicFile;
use rayon::prelude::*;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files on their way into a directory.
#[derive(Debug)]
pub(crate) struct OutputDir {
    dir: PathBuf,
    /// Files that are read, and must not be replaced.
    inputs: Vec<PathBuf>,
    written: Vec<AtomicFile>,
    /// Directories that were made for this, outermost first.
    made: Vec<PathBuf>,
}

impl OutputDir {
    /// Makes the directory where it is missing. None of `inputs`, as far as
    /// they exist, will be replaced.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn create(dir: &Path, inputs: &[&Path]) -> Result<Self> {
        let missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
        let mut made: Vec<PathBuf> = dir.ancestors().take_while(missing).map(Path::to_owned).collect();
        made.reverse();
        let inputs = inputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let out = Self { dir: dir.to_owned(), inputs, written: Vec::new(), made };
        std::fs::create_dir_all(dir).with_context(|| {
            format!("{}: this directory cannot be made; give another with -o", dir.display())
        })?;
        Ok(out)
    }

    /// Whether files can be written into that directory, before there is
    /// anything to write; leaves nothing behind.
    ///
    /// # Errors
    /// It cannot be made, or not be written.
    pub(crate) fn check(dir: &Path) -> Result<()> {
        let out = Self::create(dir, &[])?;
        AtomicFile::create(&out.path("writable.check"))
            .with_context(|| format!("{}: no file can be written here", dir.display()))?;
        Ok(())
    }

    /// Where a file of that name will stand.
    #[must_use]
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Writes a file, which appears with [`OutputDir::commit`].
    ///
    /// # Errors
    /// The disk is full, or the directory cannot be written.
    pub(crate) fn write(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut AtomicFile) -> Result<()>,
    ) -> Result<()> {
        let mut file = AtomicFile::create(&self.path(name))?;
        fill(&mut file)?;
        self.adopt(file)
    }

    /// Takes a file that is already written.
    ///
    /// # Errors
    /// What is buffered cannot be written, or an input has its place.
    pub(crate) fn adopt(&mut self, mut file: AtomicFile) -> Result<()> {
        let replaced = file.path().canonicalize().ok();
        if let Some(input) = replaced.filter(|path| self.inputs.contains(path)) {
            bail!("{} would be replaced by the result; give another directory with -o", input.display());
        }
        file.flush()?;
        self.written.push(file);
        Ok(())
    }

    /// Puts all files in their places, one right after the other.
    ///
    /// # Errors
    /// A place cannot be written.
    pub(crate) fn commit(mut self) -> Result<()> {
        for file in self.written.drain(..) {
            file.commit()?;
        }
        Ok(())
    }
}

impl Drop for OutputDir {
    /// What was not committed goes, and the directories made for it with it.
    fn drop(&mut self) {
        self.written.clear();
        for dir in self.made.iter().rev() {
            // Fails where something is in it, and then it must stay.
            let _ = std::fs::remove_dir(dir);
        }
    }
}

/// Writes `n` rows that `format` makes, many at a time but in order.
///
/// # Errors
/// What `out` says.
pub(crate) fn write_rows(
    out: &mut impl Write,
    n: usize,
    format: impl Fn(usize, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    const ROWS: usize = 1 << 12;
    let n_blocks = n.div_ceil(ROWS);
    let at_once = 4 * rayon::current_num_threads();
    let mut buffers = vec![Vec::new(); at_once];
    for first in (0..n_blocks).step_by(at_once) {
        let wave = &mut buffers[..at_once.min(n_blocks - first)];
        wave.par_iter_mut().enumerate().for_each(|(i, buffer)| {
            buffer.clear();
            let block = first + i;
            for row in block * ROWS..((block + 1) * ROWS).min(n) {
                format(row, buffer);
            }
        });
        for buffer in wave {
            out.write_all(buffer)?;
        }
    }
    Ok(())
}

/// A text as a CSV cell, quoted where it must be.
#[must_use]
pub(crate) fn csv_cell(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order() {
        let n = 50_001;
        let mut out = Vec::new();
        write_rows(&mut out, n, |i, buffer| buffer.extend(format!("{i}\n").bytes()))
            .expect("a vector takes all");
        let expected: String = (0..n).map(|i| format!("{i}\n")).collect();
        assert_eq!(String::from_utf8(out).expect("digits"), expected);
    }

    #[test]
    fn a_failed_run_leaves_no_directory() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("a/b");
        let mut out = OutputDir::create(&dir, &[]).expect("it can be made");
        out.write("x.csv", |file| Ok(file.write_all(b"1")?)).expect("it can be written");
        assert!(dir.exists());
        drop(out);
        assert!(!root.path().join("a").exists());

        let mut out = OutputDir::create(&dir, &[]).expect("it can be made");
        out.write("x.csv", |file| Ok(file.write_all(b"1")?)).expect("it can be written");
        out.commit().expect("it can be put in place");
        OutputDir::check(&root.path().join("c/d")).expect("it could be made");
        assert!(!root.path().join("c").exists());
        let error = OutputDir::check(&dir.join("x.csv/d")).expect_err("a file is in the way");
        assert!(error.to_string().contains("cannot be made"), "{error}");
        assert_eq!(std::fs::read(dir.join("x.csv")).expect("it is there"), b"1");
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(csv_cell("PAPI_TOT_INS"), "PAPI_TOT_INS");
        assert_eq!(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
