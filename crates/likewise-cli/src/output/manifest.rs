//! What has written which file of a directory.

use likewise_trace::Digest;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The manifest's name; hidden, for it is no part of a result.
pub(super) const NAME: &str = ".likewise.json";

/// The runs of which files stand in a directory, in the order of writing.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) runs: Vec<Run>,
}

/// One of them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
    /// As [`input`] gives them.
    pub(super) inputs: Vec<String>,
    pub(super) files: Vec<Written>,
}

/// A file that it wrote.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Written {
    pub(super) name: String,
    bytes: u64,
    xxh64: String,
}

/// The one name of an input, however it was given.
pub(super) fn input(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Manifest {
    /// That of a directory; an empty one where there is none that can be read.
    pub(super) fn read(dir: &Path) -> Self {
        let text = std::fs::read_to_string(dir.join(NAME)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Adds a run to those whose files stand in `dir`. It replaces a run that
    /// wrote a file of the same name. Returns the other files of the replaced
    /// run, unless they are read now (`protected`), or all are to stay.
    pub(super) fn add(
        &mut self,
        run: Run,
        replaces: bool,
        dir: &Path,
        protected: &[PathBuf],
    ) -> Vec<Written> {
        let is_new = |file: &Written| run.files.iter().any(|new| new.name == file.name);
        let is_read = |file: &Written| protected.contains(&input(&dir.join(&file.name)));
        let mut stale = Vec::new();
        for earlier in &mut self.runs {
            let is_replaced =
                replaces && earlier.files.iter().any(is_new) && !earlier.files.iter().any(is_read);
            earlier.files.retain(|file| !is_new(file));
            if is_replaced {
                stale.append(&mut earlier.files);
            }
        }
        self.runs.retain(|earlier| !earlier.files.is_empty());
        self.runs.push(run);
        stale
    }
}

impl Run {
    /// Whether it is of the same command for other inputs, and so has the same
    /// files. (What is made up has no inputs.)
    pub(super) fn is_of_others(&self, command: &str, inputs: &[PathBuf]) -> bool {
        let same = self.inputs.iter().map(Path::new).eq(inputs.iter().map(PathBuf::as_path));
        self.command == command && !self.inputs.is_empty() && !same
    }

    /// Its command and inputs.
    pub(super) fn told(&self) -> String {
        told(&self.command, self.inputs.iter())
    }
}

/// A command and its inputs.
pub(super) fn told(command: &str, inputs: impl Iterator<Item = impl std::fmt::Display>) -> String {
    inputs.fold(format!("`likewise {command}"), |told, input| format!("{told} {input}")) + "`"
}

impl Written {
    pub(super) fn new(name: &str, digest: Digest) -> Self {
        Self { name: name.to_owned(), bytes: digest.size, xxh64: digest.to_string() }
    }

    /// Removes the file if it still holds what was written; whether it did.
    /// Nothing outside of `dir`, whatever the name.
    ///
    /// # Errors
    /// It is gone, or cannot be read or removed.
    pub(super) fn remove_unchanged(&self, dir: &Path) -> io::Result<bool> {
        let path = dir.join(&self.name);
        let is_plain = Path::new(&self.name).file_name().is_some_and(|name| name == self.name.as_str());
        if !is_plain || !path.symlink_metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let unchanged =
            path.metadata()?.len() == self.bytes && Digest::of_file(&path)?.to_string() == self.xxh64;
        if unchanged {
            std::fs::remove_file(path)?;
        }
        Ok(unchanged)
    }
}
