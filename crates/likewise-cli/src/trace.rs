//! What commands on a trace have in common.

use crate::common::Common;
use crate::output::OutputDir;
use anyhow::{Context, Result, bail};
use likewise_analysis::Stages;
use likewise_analysis::phases::{Analysis, Options, phases_of};
use likewise_recording::Recording;
use likewise_trace::{recording, unfinished_dir};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// From the trace to its phases, in memory; says what is to be known of them.
pub(crate) fn analysed(trace: &Path, options: &Options, common: &Common) -> Result<(Analysis, Stages)> {
    let mut stages = Stages::default();
    let analysis = phases_of(trace, options, &mut stages, common)?;
    say_notes(&analysis.notes, common);
    Ok((analysis, stages))
}

pub(crate) fn say_notes(notes: &[String], common: &Common) {
    notes.iter().for_each(|note| common.say(format_args!("note: {note}")));
}

/// `run.prv.gz` gives `run`; the file of a recording is named by its folder.
pub(crate) fn stem(trace: &Path) -> String {
    let is_file = trace.file_name().is_some_and(|name| name == "recording.likewise");
    let trace = if is_file { trace.parent().unwrap_or(trace) } else { trace };
    let name = trace.file_name().map_or_else(|| "trace".into(), |name| name.to_string_lossy());
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = stem.strip_suffix(".prv").or_else(|| stem.strip_suffix(".csv")).unwrap_or(stem);
    if stem == "-" { "stdin".to_owned() } else { stem.to_owned() }
}

/// Makes `dir`, in which neither the trace nor what may belong to it is
/// replaced, nor any of `others` that options name.
pub(crate) fn output_dir<'a>(
    dir: &Path,
    trace: &Path,
    others: impl IntoIterator<Item = &'a PathBuf>,
    common: &Common,
) -> Result<OutputDir> {
    let beside = ["pcf", "row"].map(|ending| trace.with_extension("").with_extension(ending));
    let plain = ["pcf", "row"].map(|ending| trace.with_extension(ending));
    Ok(OutputDir::create(dir, &[trace], common)?
        .protecting(beside.into_iter().chain(plain).chain(others.into_iter().cloned())))
}

/// A Paraver trace to copy: the input itself, or what is made of a recording
/// in a folder that goes when this is dropped.
pub(crate) enum AsParaver {
    Itself(PathBuf),
    Made(Made),
}

/// Files of ours in a folder of ours.
pub(crate) struct Made {
    /// The folder, then its files; each with what keeps it after this program.
    paths: Vec<(PathBuf, Box<dyn FnOnce()>)>,
    trace: PathBuf,
    /// What is to be known of the recording.
    notes: Vec<String>,
}

impl AsParaver {
    /// Whether it is a recording, of which a trace must be made.
    pub(crate) fn is_made(trace: &Path) -> bool {
        trace.is_dir() || recording::is_recording(trace)
    }

    /// Converts a recording, and leaves anything else as it is.
    pub(crate) fn of(trace: &Path, common: &Common) -> Result<Self> {
        Self::if_fit(trace, common, |_| None)
    }

    /// The same, unless `why_not` says of a recording why it does not do.
    pub(crate) fn if_fit(
        trace: &Path,
        common: &Common,
        why_not: impl FnOnce(&Recording) -> Option<&'static str>,
    ) -> Result<Self> {
        if !Self::is_made(trace) {
            return Ok(Self::Itself(trace.to_owned()));
        }
        let _bar = common.spinner("Converting");
        let recording = recording::open(trace)?;
        if let Some(why) = why_not(&recording) {
            bail!("{}: {why}", trace.display());
        }
        let folder = own_folder()?;
        let mut made = Made { paths: Vec::new(), trace: folder.join("trace.prv"), notes: Vec::new() };
        made.note(&folder);
        let (files, notes) = recording::write_measured_prv(&recording, trace, &folder.join("trace"))?;
        made.notes = notes;
        for file in files {
            made.note(file.path());
            file.commit()?;
        }
        Ok(Self::Made(made))
    }

    /// What is to be known of the recording, if it is one.
    pub(crate) fn notes(&self) -> &[String] {
        match self {
            Self::Itself(_) => &[],
            Self::Made(made) => &made.notes,
        }
    }

    /// The trace.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Itself(path) => path,
            Self::Made(made) => &made.trace,
        }
    }
}

impl Made {
    fn note(&mut self, path: &Path) {
        self.paths.push((path.to_owned(), Box::new(unfinished_dir(path))));
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for (path, finished) in self.paths.drain(..).rev() {
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
            finished();
        }
    }
}

/// A new folder for files that nobody else needs.
fn own_folder() -> Result<PathBuf> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    loop {
        let n = COUNTER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("likewise-{}-{n}", std::process::id()));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("{}: a folder for the Paraver trace cannot be made (TMPDIR)", folder.display())
                });
            }
        }
    }
}
