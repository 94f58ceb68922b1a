//! The directory of a recording, as the recorded program left it.

use anyhow::{Result, anyhow};
use likewise_recording::{Nest, Recording, Times};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The recording of a job.
const NAME: &str = "recording.likewise";

/// Whether a file is what a rank left that did not come to the end.
fn is_part(name: &str) -> bool {
    name.starts_with('.') && name.contains("-rank-") && (name.ends_with(".open") || name.ends_with(".sealed"))
}

/// The files in a directory that recording has made.
///
/// # Errors
/// The directory cannot be read.
pub(crate) fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        let text = name.to_string_lossy();
        if text == NAME || is_part(&text) {
            files.push(dir.join(name));
        }
    }
    files.sort();
    Ok(files)
}

/// What there is to say of a recording.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) ranks: u32,
    pub(crate) events: u64,
    pub(crate) call_paths: u64,
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
        if files.is_empty() {
            return Ok(None);
        }
        let recording = open(dir)?;
        let paths: BTreeSet<u32> = recording.symbols().iter().map(|symbol| symbol.path).collect();
        let events = recording.ranks().iter().map(|rank| n_calls(&recording.nest(rank.rank))).sum();
        let bytes = files.iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
        Ok(Some(Self {
            ranks: recording.ranks().len() as u32,
            events,
            call_paths: paths.len() as u64,
            bytes,
            times: recording.times(),
            counters: recording.counters().to_vec(),
            incomplete: recording.incomplete().map(str::to_owned),
        }))
    }
}

fn n_calls(nest: &[Nest]) -> u64 {
    nest.iter()
        .map(|node| match node {
            Nest::Call(_, times) => *times,
            Nest::Loop(body, ..) => n_calls(body),
        })
        .sum()
}
