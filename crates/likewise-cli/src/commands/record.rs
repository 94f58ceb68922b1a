//! `likewise record`: runs a program and records its calls of MPI.

use super::modes::ModeArgs;
use super::{online, sampled};
use crate::common::{Common, Usage};
use crate::launch::child::{self, Ended, Failed};
use crate::launch::environment::{Ambient, Wanted, line};
use crate::launch::launcher::{self, Launcher};
use crate::launch::library;
use crate::recordings::{self, Aside, Summary};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use likewise::words::{counted, grouped_digits, percent, short};
use serde_json::json;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Record the MPI calls of a program, with call paths and times
///
/// Runs the command after `--` as it stands and records every call of MPI on
/// every rank: compressed while it runs, one file for the job. The program
/// need not be compiled anew. Its output and its exit code stay what they are.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    /// Write the recording into this directory [default: NAME.recording, after the program]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Keep times as small histograms for each place in the program, or each one
    /// [default: histogram]
    #[arg(long, value_name = "HOW")]
    times: Option<TimesArg>,
    /// Read these counters at both ends of every burst, with commas between:
    /// cycles, instructions, cache-references, cache-misses, branches,
    /// branch-misses, rHEX (of the processor), cpu (CPU time), faults (of pages),
    /// switches (of context), or none; a / begins a set that takes turns
    /// [default: cycles,instructions; cpu in long bursts where there are none]
    #[arg(long, value_name = "LIST")]
    counters: Option<String>,
    #[command(flatten)]
    modes: ModeArgs,
    /// Replace the recording that the directory holds
    #[arg(long)]
    force: bool,
    /// What to run: a launcher with its options and the program, or the program alone
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  likewise record -- mpirun -n 16 ./app input
  likewise record -o run -- srun -n 64 python solve.py
  likewise record --times all -o run -- bash job.sh
  likewise record --mode leads -o run -- mpirun -n 64 ./app          one rank of those that do the same
  likewise record --mode leads --marker pcontrol --k 4 --progress -- mpirun -n 64 ./app
  likewise record --mode leads --marker MPI_Allreduce@886917d0 -- mpirun -n 64 ./app
                                                                     the hash of `likewise info`
  likewise record --mode strata --every 10 -- srun -n 4096 ./app     efforts of sampled ranks";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TimesArg {
    /// As histograms: the file stays small however long the run
    Histogram,
    /// Each one
    All,
}

impl TimesArg {
    fn word(self) -> &'static str {
        match self {
            Self::Histogram => "histogram",
            Self::All => "all",
        }
    }
}

pub(crate) fn run(args: &RecordArgs, common: &Common) -> Result<()> {
    let launcher = Launcher::find(&args.command);
    let dir = directory(args, launcher.map(|(at, _)| at))?;
    let given = [("--times", args.times.is_some()), ("--counters", args.counters.is_some())];
    let mode = args.modes.variables(&given)?;
    let library = library::find()?;
    let (_lock, old) = prepare(&dir, args.force)?;
    let ended = child::run(command(args, mode, launcher, &library, &dir)).inspect_err(|_| {
        old.restore(common);
        // Nobody looks for an empty directory.
        let _ = std::fs::remove_dir(&dir);
    })?;
    // The program's end is ours: what is wrong with the recording is said, and
    // changes nothing.
    if let Err(error) = tell(&dir, &old, ended, common) {
        common.say(format_args!("warning: {error:#}"));
    }
    match ended.code {
        0 => Ok(()),
        code => Err(Failed(code).into()),
    }
}

fn directory(args: &RecordArgs, launcher: Option<usize>) -> Result<PathBuf> {
    let named = || {
        let name = launcher::name(&args.command, launcher).unwrap_or_else(|| "run".to_owned());
        PathBuf::from(format!("{name}.recording"))
    };
    let dir = args.output.clone().unwrap_or_else(named);
    std::path::absolute(&dir).with_context(|| format!("{}: no directory", dir.display()))
}

/// Makes the directory, and sees to it that it holds no recording and that none
/// is being made there, as long as the file that it returns lives. What the
/// directory held is put aside.
fn prepare(dir: &Path, force: bool) -> Result<(Option<File>, Aside)> {
    let cannot =
        || format!("{}: nothing can be recorded here; give another directory with -o", dir.display());
    std::fs::create_dir_all(dir).with_context(cannot)?;
    // Where the file system has no locks, two at once are not noticed.
    let lock = File::open(dir).ok();
    if matches!(lock.as_ref().map(File::try_lock), Some(Err(TryLockError::WouldBlock))) {
        let text = format!("another likewise records into {}: give another directory with -o", dir.display());
        return Err(Usage(text).into());
    }
    let old = recordings::files(dir).with_context(cannot)?;
    if !old.is_empty() && !force {
        let text =
            format!("{} holds a recording already: --force replaces it, -o DIR keeps both", dir.display());
        return Err(Usage(text).into());
    }
    // First of all whether anything can be written: what is put aside must not stay there.
    let probe = dir.join(format!(".likewise-{}", std::process::id()));
    std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe)).with_context(cannot)?;
    Ok((lock, Aside::put(old).with_context(cannot)?))
}

fn command(
    args: &RecordArgs,
    mode: Vec<(&'static str, OsString)>,
    launcher: Option<(usize, Option<Launcher>)>,
    library: &Path,
    dir: &Path,
) -> Command {
    let times = args.times.unwrap_or(TimesArg::Histogram);
    let mut variables =
        vec![("LIKEWISE_DIR", dir.as_os_str().to_owned()), ("LIKEWISE_TIMES", times.word().into())];
    variables.extend(args.counters.iter().map(|list| ("LIKEWISE_COUNTERS", list.into())));
    variables.extend(mode);
    let wanted = Wanted { library: library.as_os_str(), variables: &variables };
    let known = launcher.and_then(|(at, launcher)| Some((at, launcher?)));
    let line = line(&args.command, known, &wanted, &Ambient::of_this_process(), launcher::is_program);
    let mut command = Command::new(&line.words[0]);
    command.args(&line.words[1..]).envs(line.variables);
    command
}

/// Says what was recorded. Then it replaces what there was before.
fn tell(dir: &Path, old: &Aside, ended: Ended, common: &Common) -> Result<()> {
    recordings::join_parts(dir)?;
    let Some(summary) = Summary::of(dir)? else {
        common.say(format_args!("{}", nothing(dir, ended)));
        old.restore(common);
        let _ = std::fs::remove_dir(dir);
        return Ok(());
    };
    old.remove()?;
    if summary.recording.strata().is_empty() {
        common.say(told(&summary, dir, ended));
    } else {
        common.say(sampled::told(&summary, dir, &ended)?);
    }
    if let Some(cost) = calls_a_second(&summary, ended).and_then(cost) {
        common.say(cost);
    }
    if let Some(told) = online::told(&summary.recording) {
        common.say(told);
    }
    for note in summary.recording.log().into_iter().flat_map(|log| &log.notes) {
        common.say(format_args!("note: {note}"));
    }
    if summary.jobs > 1 {
        common.say(format_args!(
            "This is the first of {} programs that called MPI; each has a file in {}.",
            summary.jobs,
            dir.display()
        ));
    }
    if let Some(missing) = &summary.incomplete {
        common.say(format_args!("The recording is incomplete: {missing}"));
    }
    if common.json {
        common.print(&to_json(&summary, dir, ended), String::new)?;
    }
    Ok(())
}

fn told(summary: &Summary, dir: &Path, ended: Ended) -> String {
    let times = match summary.times {
        likewise_recording::Times::Histogram => "times as histograms",
        likewise_recording::Times::All => "every time",
    };
    let counters = match summary.counters.as_slice() {
        [] => "no counters".to_owned(),
        names => format!("counters {}", names.join(", ")),
    };
    let per_event = match summary.events {
        0 => String::new(),
        events => format!(", {} per event", short(summary.bytes as f64 / events as f64)),
    };
    let ranks = match summary.ranks as u32 == summary.size {
        true => counted(summary.size.into(), "rank"),
        false => format!("{} of {}", summary.ranks, counted(summary.size.into(), "rank")),
    };
    format!(
        "Recorded {} of {} on {} call paths: {times}, {counters}.\n\
         {} in {}{per_event}. The run took {} s.",
        counted(summary.events, "call"),
        ranks,
        grouped_digits(summary.call_paths as u64),
        counted(summary.bytes, "byte"),
        dir.display(),
        short(ended.wall.as_secs_f64()),
    )
}

/// How many calls a rank made in a second of the run, in the mean.
fn calls_a_second(summary: &Summary, ended: Ended) -> Option<f64> {
    let rank_seconds = ended.wall.as_secs_f64() * summary.ranks as f64;
    (summary.events > 0 && rank_seconds > 0.0).then(|| summary.events as f64 / rank_seconds)
}

/// What recording a call cost in programs where that was measured, in s: the least and the most
/// (docs/recording.md).
const COSTS: [f64; 2] = [0.13e-6, 1.3e-6];
/// From this share of the run on, it is told.
const TOLD: f64 = 0.02;

/// That a rank makes so many calls that recording them may take some of the run.
fn cost(calls_a_second: f64) -> Option<String> {
    let [least, most] = COSTS.map(|cost| cost * calls_a_second);
    (most >= TOLD).then(|| {
        format!(
            "note: a rank made {} calls a second. What recording them took was not measured; in other programs a call \
             took 0.13 to 1.3 µs, which would be {} to {} of this run. Run it without `likewise record` to compare.",
            grouped_digits(calls_a_second as u64),
            percent(least),
            percent(most.min(1.0))
        )
    })
}

fn to_json(summary: &Summary, dir: &Path, ended: Ended) -> serde_json::Value {
    let mut json = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "directory": dir.to_string_lossy(),
        "jobs": summary.jobs,
        "ranks": summary.ranks,
        "size": summary.size,
        "events": summary.events,
        "call_paths": summary.call_paths,
        "bytes": summary.bytes,
        "times": match summary.times {
            likewise_recording::Times::Histogram => "histogram",
            likewise_recording::Times::All => "all",
        },
        "counters": summary.counters,
        "incomplete": summary.incomplete,
        "wall_s": ended.wall.as_secs_f64(),
        "calls_per_rank_and_second": calls_a_second(summary, ended),
        "exit_code": ended.code,
    });
    for (name, value) in online::to_json(&summary.recording) {
        json[name] = value;
    }
    json
}

fn nothing(dir: &Path, ended: Ended) -> String {
    let early = match ended.code {
        0 => "",
        // Not before the first copy: see PAUSE in the recorder.
        _ => " may have ended, or called MPI no more, before 0.1 s had passed since MPI_Init, or it",
    };
    format!(
        "Nothing was recorded. The program{early} may not have called MPI, or it is linked statically, or it loads MPI \
         by itself (Julia does), or begins with a session and not with MPI_Init, or the launcher did not hand LD_PRELOAD to it, or {} is not on a file system that \
         its nodes share.",
        dir.display()
    )
}

#[cfg(test)]
mod tests {
    use super::cost;

    /// NWChem polls: recording it took 55 % more CPU time, and nothing was said.
    #[test]
    fn that_many_calls_cost_time_is_said_and_of_few_nothing() {
        let told = cost(155_000.0).expect("it is told");
        assert!(
            told.contains("155,000 calls a second") && told.contains("2.0% to 20.2% of this run"),
            "{told}"
        );
        assert_eq!((cost(0.0), cost(15_000.0)), (None, None));
        assert!(cost(16_000.0).is_some());
    }
}
