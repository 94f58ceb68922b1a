//! The file of the job on rank 0, while it is written.

use crate::limit::spared;
use likewise_recording::file;
use std::fs::{File, OpenOptions, remove_file, rename};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Of a file with more bytes, not all is packed as one: they are more when they
/// are unpacked, and what is packed has at most 256 KB.
const MOST_PACKED: usize = 1 << 18;

/// Marks the size of a section that goes on.
const OPEN: usize = 1 << 63;

/// A file of sections. After an error nothing more is written, until what is
/// cut short is taken away.
pub(crate) struct Out {
    path: PathBuf,
    file: std::io::Result<File>,
    sections: Vec<usize>,
    /// So many sections are in the file as a whole.
    n_whole: usize,
}

impl Out {
    /// An empty file.
    pub(crate) fn create(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(path);
        let mut out = Self { path: path.to_owned(), file, sections: Vec::new(), n_whole: 0 };
        out.bytes(&file::head());
        out
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if let Ok(file) = &mut self.file
            && let Err(error) = spared(|| file.write_all(bytes))
        {
            self.file = Err(error);
        }
    }

    /// Adds a section.
    pub(crate) fn section(&mut self, bytes: &[u8]) {
        self.piece(bytes, true);
    }

    /// Adds a piece of a section; whether it is the last.
    pub(crate) fn piece(&mut self, bytes: &[u8], ends: bool) {
        self.bytes(bytes);
        match self.sections.last_mut() {
            Some(open) if *open & OPEN != 0 => *open += bytes.len(),
            _ => self.sections.push(OPEN | bytes.len()),
        }
        if ends && let Some(open) = self.sections.last_mut() {
            *open &= !OPEN;
            if self.file.is_ok() {
                self.n_whole = self.sections.len();
            }
        }
    }

    /// How many sections there are.
    pub(crate) fn len(&self) -> usize {
        self.sections.len()
    }

    /// Whether all was written.
    ///
    /// # Errors
    /// What was not.
    pub(crate) fn written(&self) -> Result<(), String> {
        self.file.as_ref().map(|_| ()).map_err(|error| format!("{}: {error}", self.path.display()))
    }

    /// After an error: what follows the first `n` sections, or those that are
    /// whole, is taken away, and the file may be written again.
    pub(crate) fn cut(&mut self, n: usize) {
        self.sections.truncate(n.min(self.n_whole));
        self.n_whole = self.sections.len();
        let length = file::head().len() + self.sections.iter().map(|size| size & !OPEN).sum::<usize>();
        let open = OpenOptions::new().append(true).open(&self.path);
        self.file = open.and_then(|file| spared(|| file.set_len(length as u64)).map(|()| file));
    }

    /// Ends the file with where its sections are, and gives it its name. What
    /// could be written is there in any case.
    ///
    /// # Errors
    /// What could not be written.
    pub(crate) fn close(&mut self, to: &Path) -> Result<(), String> {
        let n = self.sections.len();
        self.bytes(&file::foot(&self.sections));
        let written = self.written();
        if written.is_err() {
            self.cut(n);
        }
        rename(&self.path, to).map_err(|error| format!("{}: {error}", to.display()))?;
        written
    }

    /// The same, with all that is in the file packed as one, if it is not too
    /// much.
    ///
    /// # Errors
    /// What could not be written.
    pub(crate) fn close_packed(&mut self, to: &Path) -> Result<(), String> {
        let n = self.sections.iter().sum::<usize>();
        let packed = if self.file.is_ok() && n < MOST_PACKED { self.packed(to) } else { None };
        if packed.is_none() {
            return self.close(to);
        }
        self.remove();
        Ok(())
    }

    fn packed(&self, to: &Path) -> Option<()> {
        let bytes = file::together(&std::fs::read(&self.path).ok()?)?;
        let new = to.with_extension("new");
        let written = File::create(&new).and_then(|mut file| spared(|| file.write_all(&bytes)));
        written.and_then(|()| rename(&new, to)).inspect_err(|_| drop(remove_file(&new))).ok()
    }

    /// Leaves no file.
    pub(crate) fn remove(&self) {
        let _ = remove_file(&self.path);
    }
}
