//! The directory of a recording, as the recorded program left it.

use crate::common::Common;
use anyhow::{Context, Result, anyhow};
use likewise_recording::{FILE, Recording, Times, file, unfinished};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The recordings in a directory: that of the job, and those of programs that
/// it has spawned.
fn whole(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let suffix = Path::new(FILE).extension();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension() == suffix && path.is_file() {
            found.push(path);
        }
    }
    // The first one has no number.
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(found)
}

/// The files in a directory that recording has made.
///
/// # Errors
/// The directory cannot be read.
pub(crate) fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = whole(dir)?;
    files.extend(unfinished::files(dir)?.into_values().flatten());
    Ok(files)
}

/// Puts what a run has left that did not come to `MPI_Finalize` into one
/// file. It lacks the end of a complete one, so that readers say so.
///
/// # Errors
/// Their files cannot be read, or the one cannot be written.
pub(crate) fn join_parts(dir: &Path) -> Result<()> {
    for (world, files) in unfinished::files(dir)? {
        let to = match world {
            1 => FILE.to_owned(),
            world => format!("recording-{world}.likewise"),
        };
        let Some(found) = unfinished::parts_of(&files).map_err(|error| anyhow!("{error}"))? else {
            // These ranks came no further than to begin.
            files.iter().try_for_each(std::fs::remove_file)?;
            continue;
        };
        let mut bytes = file::head();
        found.parts.iter().for_each(|(number, part)| bytes.extend(file::section(*number, part)));
        found.log.iter().for_each(|log| bytes.extend(file::log_section(log)));
        found.strata.iter().for_each(|window| bytes.extend(file::strata_section(window)));
        let to = dir.join(to);
        let unnamed = to.with_extension("unfinished");
        std::fs::write(&unnamed, bytes)
            .and_then(|()| std::fs::rename(&unnamed, &to))
            .with_context(|| format!("{}: cannot be written", to.display()))?;
        files.iter().try_for_each(std::fs::remove_file)?;
    }
    Ok(())
}

/// Files that a new recording replaces: they stand under other names until it
/// is there.
#[derive(Debug)]
pub(crate) struct Aside(Vec<(PathBuf, PathBuf)>);

impl Aside {
    /// Puts files aside.
    ///
    /// # Errors
    /// One cannot be renamed. Then all stand where they stood.
    pub(crate) fn put(files: Vec<PathBuf>) -> io::Result<Self> {
        let mut aside = Self(Vec::with_capacity(files.len()));
        for file in files {
            let mut old = file.clone().into_os_string();
            old.push(".old");
            let renamed = std::fs::rename(&file, &old);
            if let Err(error) = renamed {
                let _ = aside.put_back();
                return Err(error);
            }
            aside.0.push((file, old.into()));
        }
        Ok(aside)
    }

    fn put_back(&self) -> io::Result<()> {
        self.0.iter().try_for_each(|(file, old)| std::fs::rename(old, file))
    }

    /// Puts them back: there is no new recording.
    pub(crate) fn restore(&self, common: &Common) {
        match self.put_back() {
            Ok(()) if self.0.is_empty() => {}
            Ok(()) => common.say("The recording that was there before stays."),
            Err(error) => common.say(format_args!("warning: the recording that was there before: {error}")),
        }
    }

    /// Removes them.
    ///
    /// # Errors
    /// One cannot be removed.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.0.iter().try_for_each(|(_, old)| std::fs::remove_file(old))
    }
}

/// What there is to say of a recording.
#[derive(Debug)]
pub(crate) struct Summary {
    /// The first of them.
    pub(crate) recording: Recording,
    /// Recordings in the directory, of which this is the first: one for each
    /// job that a script starts, or that the program spawns.
    pub(crate) jobs: usize,
    pub(crate) ranks: usize,
    /// How many ranks the program had.
    pub(crate) size: u32,
    pub(crate) events: u64,
    pub(crate) call_paths: usize,
    /// Of all files.
    pub(crate) bytes: u64,
    pub(crate) times: Times,
    pub(crate) counters: Vec<String>,
    pub(crate) incomplete: Option<String>,
}

impl Summary {
    /// That of the recording in a directory; none if there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn of(dir: &Path) -> Result<Option<Self>> {
        let files = files(dir)?;
        let Some(first) = files.first() else { return Ok(None) };
        let recording = Recording::open(first).map_err(|error| anyhow!("{error}"))?;
        let paths: BTreeSet<u32> = recording.symbols().iter().map(|symbol| symbol.path).collect();
        Ok(Some(Self {
            jobs: files.len(),
            ranks: recording.ranks().len(),
            size: recording.size(),
            events: recording.ranks().iter().map(|rank| rank.events).sum(),
            call_paths: paths.len(),
            bytes: files.iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum(),
            times: recording.times(),
            counters: recording.counters().to_vec(),
            incomplete: recording.incomplete().map(str::to_owned),
            recording,
        }))
    }
}
