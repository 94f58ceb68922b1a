//! `likewise convert`: a recording as tables or as a Paraver trace.

use crate::common::Common;
use crate::finish::finish;
use crate::output::OutputDir;
use crate::trace::{say_notes, stem};
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise::words::grouped_digits;
use likewise_analysis::Stages;
use likewise_recording::Recording;
use likewise_trace::recording::{self, Source, path_rows, write_events_csv, write_paths_csv, write_prv};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write every event of a recording as CSV, Parquet or a Paraver trace
///
/// Tables are events.csv (or .parquet), with a row for every call of every
/// rank, and paths.csv, with the frames of every call path. The Paraver trace
/// has states, MPI calls with their callers, counters, and messages; `likewise
/// bursts`, Paraver and BSC's tools read it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// Recording: the folder that `likewise record` wrote
    recording: PathBuf,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Format,
    /// Directory for the result [default: the recording's name with .csv, .parquet or .paraver]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  likewise record -o run -- mpirun -n 4 ./app
  likewise convert run --to csv -o out        out/events.csv and out/paths.csv
  likewise convert run --to prv -o out        out/run.prv, .pcf and .row
  likewise convert run --to parquet -o out && duckdb -c \"SELECT call, count(*) FROM 'out/events.parquet' GROUP BY call\"";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Parquet,
    Prv,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Prv => "paraver",
        }
    }
}

/// What was written.
#[derive(Default)]
struct Written {
    files: Vec<PathBuf>,
    events: u64,
    notes: Vec<String>,
}

pub(crate) fn run(args: &ConvertArgs, common: &Common) -> Result<()> {
    let stem = stem(&args.recording);
    let dir = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}.{}", args.to.name())));
    let mut stages = Stages::default();
    let opened = stages.time("read", || recording::open(&args.recording))?;
    let mut out = OutputDir::create(&dir, &[&args.recording], common)?;
    let bar = common.spinner("Converting");
    let written = stages.time("write", || match args.to {
        Format::Prv => to_prv(&opened, &args.recording, &stem, &mut out),
        to => to_tables(&opened, &args.recording, to, &mut out),
    })?;
    drop(bar);
    say_notes(&written.notes, common);
    let names: Vec<String> = written.files.iter().map(|path| path.display().to_string()).collect();
    let result = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": args.recording.display().to_string(),
        "format": args.to.name(),
        "files": names,
        "ranks": opened.ranks().len(),
        "events": written.events,
        "complete": opened.incomplete().is_none(),
        "notes": written.notes,
    });
    let result = finish(out, "convert.json", result, &stages, common)?;
    common.print(&result, || format!("{} events: {}\n", grouped_digits(written.events), names.join(", ")))
}

fn to_prv(recording: &Recording, path: &Path, stem: &str, out: &mut OutputDir) -> Result<Written> {
    let (files, notes) = write_prv(recording, path, &out.path(stem))?;
    let paths = files.iter().map(|file| file.path().to_owned()).collect();
    files.into_iter().try_for_each(|file| out.adopt(file))?;
    let events = recording.ranks().iter().map(|meta| meta.events).sum();
    Ok(Written { files: paths, events, notes })
}

fn to_tables(recording: &Recording, path: &Path, to: Format, out: &mut OutputDir) -> Result<Written> {
    let mut written = Written { notes: recording::warnings(recording, path), ..Written::default() };
    let mut source = Source::new(recording.modules());
    let frames = path_rows(recording, &mut source);
    written.notes.append(&mut source.notes);
    if to == Format::Csv {
        out.write("events.csv", |file| {
            let (events, problems) = write_events_csv(recording, path, file)?;
            written.events = events;
            written.notes.extend(problems);
            Ok(())
        })?;
        out.write("paths.csv", |file| Ok(write_paths_csv(&frames, file)?))?;
        written.files = ["events.csv", "paths.csv"].map(|name| out.path(name)).to_vec();
        return Ok(written);
    }
    #[cfg(feature = "parquet")]
    {
        let names = ["events.parquet", "paths.parquet"].map(|name| out.path(name));
        let (file, events, problems) = recording::write_events_parquet(recording, path, &names[0])?;
        written.events = events;
        written.notes.extend(problems);
        out.adopt(file)?;
        out.adopt(recording::write_paths_parquet(&frames, &names[1])?)?;
        written.files = names.to_vec();
        Ok(written)
    }
    #[cfg(not(feature = "parquet"))]
    anyhow::bail!("built without Parquet")
}
