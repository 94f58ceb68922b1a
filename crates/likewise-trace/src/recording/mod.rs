//! Recordings of `likewise record`: a folder with `recording.likewise`, or
//! with what the ranks of a run left that did not end.
//!
//! `walk` gives the events of a rank with their bursts; `read` makes a
//! table of bursts of them, `rows` what `convert` writes of each, `prv` a
//! Paraver trace. `leads` knows which ranks recorded throughout, `cpus` whether they
//! had a CPU each. `source` finds
//! functions and lines of call paths, `paths` which of them are the program's
//! own, and `regions` names with them what was sampled.

mod code;
mod counters;
mod cpus;
mod csv;
mod leads;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod prv;
mod read;
mod regions;
mod rows;
mod source;
mod spots;
mod summary;
mod walk;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use likewise_recording::{OpenError, Recording, Times, file::MAGIC, unfinished};

use crate::error::{Error, ErrorKind, Place, Result};
use crate::trace::TraceFormat;

pub use likewise_recording::FILE;

pub use csv::{PathRow, for_each_row, path_rows, write_events_csv, write_paths_csv};
#[cfg(feature = "parquet")]
pub use parquet::{write_events_parquet, write_paths_parquet};
pub use prv::{write_measured_prv, write_prv};
pub(crate) use read::{inspect, read};
pub use regions::RegionNames;
pub use rows::{COLUMNS, Row, Rows};
pub use source::{Location, Source};
pub use summary::{CallSite, Summary, nest, summarise};

/// How a recording is known (all versions), and who reads it.
pub(crate) const FORMAT: TraceFormat = TraceFormat {
    begins: MAGIC.split_at(7).0,
    read: |input, options| read::read(input.path(), options),
    inspect: |input, options| read::inspect(input.path(), options),
};

/// Ranks from this number on are nonsense.
const MAX_RANKS: u32 = 1 << 24;

/// Whether the path is a folder with a recording, or the file of one.
#[must_use]
pub fn is_recording(path: &Path) -> bool {
    let whole = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
    if !whole.is_file() {
        return path.is_dir() && unfinished::files(path).is_ok_and(|worlds| !worlds.is_empty());
    }
    let mut begins = [0; 7];
    let read = File::open(whole).and_then(|mut file| file.read_exact(&mut begins));
    read.is_ok() && begins == MAGIC[..7]
}

/// Reads a recording.
///
/// # Errors
/// There is none, or it is damaged from its begin on. One that ends early is
/// read as far as it goes, and says so.
pub fn open(path: &Path) -> Result<Recording> {
    let is_other = path.metadata().is_ok_and(|of| !of.is_file() && !of.is_dir());
    if path.as_os_str() == "-" || is_other {
        let what = "a recording cannot be read from a pipe; give its folder";
        return Err(Error::whole(path, ErrorKind::Table(what.to_owned())));
    }
    let recording = Recording::open(path).map_err(|error| match error {
        OpenError::Io(path, error) => Error::read(&path, error),
        OpenError::Nothing(path) => Error::whole(&path, ErrorKind::NoRecording),
        OpenError::Broken(path, broken) => {
            Error::at(&path, Place::Byte(broken.at), ErrorKind::Table(broken.what))
        }
    })?;
    if !recording.strata().is_empty() {
        let what = "it has the effort of sampled ranks alone (--mode strata), which `likewise ranks` reads";
        return Err(Error::whole(path, ErrorKind::Table(what.to_owned())));
    }
    match recording.ranks().iter().find(|meta| meta.rank >= MAX_RANKS) {
        None => Ok(recording),
        Some(meta) => {
            let what = format!("it has a rank {}, which is impossible", meta.rank);
            Err(Error::whole(path, ErrorKind::Table(what)))
        }
    }
}

/// Whether a path is the folder of a recording.
///
/// # Errors
/// It is a folder without one.
pub(crate) fn is_folder(path: &Path) -> Result<bool> {
    match path.is_dir() {
        true if !is_recording(path) => Err(Error::whole(path, ErrorKind::NoRecording)),
        is_dir => Ok(is_dir),
    }
}

/// Bytes of all files of a recording.
pub(crate) fn bytes(path: &Path) -> u64 {
    let size = |path: PathBuf| path.metadata().map_or(0, |m| if m.is_file() { m.len() } else { 0 });
    if !path.is_dir() {
        return size(path.to_owned());
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size(entry.path())).sum()
}

/// What is to be known before a recording is believed: drawn times first,
/// then what is missing, then what leads recorded for others.
#[must_use]
pub fn warnings(recording: &Recording, path: &Path) -> Vec<String> {
    let mut warnings = of_measured(recording, path);
    warnings.extend(leads::warning(recording, path));
    warnings.extend(spawned(path));
    warnings
}

/// A note where the folder of a recording has others as well: ranks that were started with
/// `MPI_Comm_spawn` have a `MPI_COMM_WORLD` of their own, and so a file.
fn spawned(path: &Path) -> Option<String> {
    let name = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
    let is_other = |name: &String| {
        let number = name.strip_prefix("recording-").and_then(|rest| rest.strip_suffix(".likewise"));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let entries = std::fs::read_dir(path).ok()?.filter_map(std::result::Result::ok);
    let mut others: Vec<String> = entries.filter_map(name).filter(is_other).collect();
    others.sort_unstable();
    let (first, more) = (others.first()?, others.len() - 1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "{}: ranks that were started with MPI_Comm_spawn stand in {first}{more} there, and are not in this: give such a \
         file instead of the folder",
        path.display()
    ))
}

/// The same, where only ranks are taken that were recorded throughout.
fn of_measured(recording: &Recording, path: &Path) -> Vec<String> {
    let mut warnings = Vec::new();
    if recording.times() == Times::Histogram {
        warnings.push(
            "durations of single bursts and calls, and their counters, are drawn from the histograms of their call \
             paths; their sums on each rank are true, to 4.4% (in MPI to 9.1%); `likewise record --times all` keeps each"
                .to_owned(),
        );
    }
    if let Some(missing) = recording.incomplete() {
        warnings.push(format!("{}: the recording is not complete: {missing}", path.display()));
    }
    let (there, size) = (recording.ranks().len(), recording.size());
    if (there as u64) < u64::from(size) {
        warnings.push(format!("{}: {there} of {size} ranks are recorded", path.display()));
    }
    warnings.extend(cpus::note(recording.ranks()));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of spawned ranks were left out, and only `record` had said so.
    #[test]
    fn files_of_spawned_ranks_are_noted() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("recording.likewise"), b"").expect("a file");
        assert_eq!(spawned(dir.path()), None);
        for name in ["recording-3.likewise", "recording-2.likewise", "recording-x.likewise"] {
            std::fs::write(dir.path().join(name), b"").expect("a file");
        }
        let told = spawned(dir.path()).expect("a note");
        assert!(told.contains("stand in recording-2.likewise and 1 more there"), "{told}");
        assert_eq!(spawned(&dir.path().join("recording.likewise")), None);
    }
}
