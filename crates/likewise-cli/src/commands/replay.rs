//! `likewise replay`: re-issues the calls of a recording.

use crate::common::{Common, ToldElsewhere, Usage};
use crate::launch::child::{self, Failed};
use crate::launch::environment::with_program;
use crate::launch::launcher::Launcher;
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise::words::{FAR, capital, counted, factor, grouped_digits, percent, short};
use likewise_comm::Communicator;
use likewise_mpi::MpiComm;
use likewise_recording::{Recording, Times};
use likewise_replay::{Compute, Options, Outcome, ReplayError, check, replay};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// Re-issue the MPI calls of a recording, without the program
///
/// Every rank re-issues its calls with the recorded sizes and endpoints, and
/// computes in between for as long as the program did. So it shows what a
/// program's communication costs on another machine, network or MPI, which
/// need not have the program. The launcher must start as many ranks as were
/// recorded.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// Directory that `likewise record` wrote
    recording: PathBuf,
    /// What to do in the time that the program computed
    #[arg(long, value_name = "HOW", default_value = "busy")]
    compute: ComputeArg,
    /// Compute this many times faster than the program
    #[arg(long, value_name = "X", default_value = "1", value_parser = speed)]
    speed: f64,
    /// Also say how near the replayed time is to this one, in seconds: that of another replay, or of the
    /// program without recording
    #[arg(long, value_name = "SECONDS", value_parser = speed)]
    against: Option<f64>,
    /// The launcher with its options, and no program
    #[arg(last = true, value_name = "LAUNCHER")]
    launcher: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  likewise replay app.recording -- mpirun -n 16
  likewise replay app.recording --compute none -- srun -n 16      communication alone
  likewise replay app.recording --speed 2 -- mpirun -n 16         on cores twice as fast
  likewise replay leads.recording --against 12.4 -- mpirun -n 16  how near it is to 12.4 s, which the full recording took";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ComputeArg {
    /// Keep the core busy, for the processor time that the program took
    Busy,
    /// Sleep as long
    Sleep,
    /// Nothing: leave it out
    None,
}

impl ComputeArg {
    fn word(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Sleep => "sleep",
            Self::None => "none",
        }
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if speed > 0.0 && speed.is_finite() { Ok(speed) } else { Err("it must be above 0".to_owned()) }
}

impl ReplayArgs {
    /// Whether this process launches the ranks, and is none of them.
    pub(crate) fn launches(&self) -> bool {
        !self.launcher.is_empty()
    }

    fn options(&self) -> Options {
        let compute = match self.compute {
            ComputeArg::Busy => Compute::Busy,
            ComputeArg::Sleep => Compute::Sleep,
            ComputeArg::None => Compute::None,
        };
        Options { compute, speed: self.speed }
    }
}

pub(crate) fn run(args: &ReplayArgs, common: &Common) -> Result<()> {
    if args.launches() { launch(args, common) } else { be_a_rank(args, common) }
}

fn open(args: &ReplayArgs) -> Result<Recording> {
    Ok(likewise_trace::recording::open(&args.recording)?)
}

/// Starts this program as ranks.
fn launch(args: &ReplayArgs, common: &Common) -> Result<()> {
    let recording = open(args)?;
    check(&recording)?;
    let Some((at, _)) = Launcher::find(&args.launcher) else {
        let text = format!(
            "{}: no launcher of MPI; give one that starts {}, such as `-- mpirun -n {}`",
            args.launcher[0].to_string_lossy(),
            counted(recording.size().into(), "rank"),
            recording.size()
        );
        return Err(Usage(text).into());
    };
    let mut rank: Vec<OsString> =
        vec![std::env::current_exe()?.into(), "replay".into(), std::path::absolute(&args.recording)?.into()];
    rank.extend(["--compute".into(), args.compute.word().into()]);
    rank.extend(["--speed".into(), args.speed.to_string().into()]);
    rank.extend(args.against.iter().flat_map(|s| ["--against".into(), s.to_string().into()]));
    rank.extend(common.json.then(|| "--json".into()));
    rank.extend(common.quiet.then(|| "--quiet".into()));
    let words = with_program(&args.launcher, at, &rank);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    match child::run(command)?.code {
        0 => Ok(()),
        code => Err(Failed(code).into()),
    }
}

fn be_a_rank(args: &ReplayArgs, common: &Common) -> Result<()> {
    let Some(comm) = MpiComm::init()? else {
        let recording = open(args)?;
        let n = recording.size();
        let text = format!(
            "a launcher of MPI must start {}: `likewise replay {} -- mpirun -n {n}`",
            counted(n.into(), "rank"),
            args.recording.display()
        );
        return Err(Usage(text).into());
    };
    let replayed =
        open(args).and_then(|recording| Ok((replay(&recording, &comm, args.options())?, recording)));
    match replayed {
        Ok((outcome, recording)) if comm.rank() == 0 => {
            common.print(&to_json(&outcome, &recording, args), || text(&outcome, &recording, args))
        }
        Ok(_) => Ok(()),
        // What all ranks find one of them tells.
        Err(error) if is_common(&error) && comm.rank() != 0 => Err(ToldElsewhere.into()),
        Err(error) if is_common(&error) => Err(error),
        Err(error) => {
            comm.fail(&format!("{error:#}"));
            Err(error)
        }
    }
}

/// Whether all ranks have the same error.
fn is_common(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<ReplayError>(),
        Some(
            ReplayError::Size { .. }
                | ReplayError::Incomplete { .. }
                | ReplayError::Refused { .. }
                | ReplayError::Disagree
        )
    )
}

/// How near a replay is to a time of its program: 1 − |t − t'| / t. None where
/// it takes more than twice that time: that is not near.
fn accuracy(time: f64, replayed: f64) -> Option<f64> {
    (time > 0.0 && replayed <= 2.0 * time).then(|| 1.0 - (time - replayed).abs() / time)
}

/// Whether the replay is to take as long as the program.
fn is_to_scale(args: &ReplayArgs) -> bool {
    !matches!(args.compute, ComputeArg::None) && args.speed == 1.0
}

/// By what computing times were divided, for people.
fn faster(args: &ReplayArgs) -> String {
    if args.speed == 1.0 { String::new() } else { format!(", divided by {}", short(args.speed)) }
}

/// How many ranks have events of leads.
fn behind_leads(recording: &Recording) -> u64 {
    recording.ranks().iter().filter(|meta| !recording.is_measured(meta.rank)).count() as u64
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

fn text(outcome: &Outcome, recording: &Recording, args: &ReplayArgs) -> String {
    let (recorded, replayed) = (seconds(outcome.recorded), seconds(outcome.replayed));
    let mut text = format!(
        "Replayed {} of {} in {} s; the program took {} s, from MPI_Init to MPI_Finalize on the slowest rank.\n",
        counted(outcome.issued.iter().map(|(_, n)| n).sum(), "call"),
        counted(recording.size().into(), "rank"),
        short(replayed),
        short(recorded),
    );
    if recorded > 0.0 {
        let times = match replayed / recorded {
            far if far >= FAR => format!("{} times", factor(far)),
            share => format!("{} of", percent(share)),
        };
        let _ = write!(text, "That is {times} the recorded time");
        let accuracy = accuracy(recorded, replayed).filter(|_| is_to_scale(args));
        let _ = match accuracy {
            Some(accuracy) => writeln!(text, ": accuracy {}, 1 − |t − t'| / t.", percent(accuracy)),
            None => writeln!(text, "."),
        };
    }
    if let Some(time) = args.against {
        let near = accuracy(time, replayed).map_or_else(
            || "it takes more than twice as long".to_owned(),
            |a| format!("accuracy {}", percent(a)),
        );
        let _ = writeln!(text, "Against {} s: {near}.", short(time));
    }
    let behind = behind_leads(recording);
    if behind > 0 {
        let _ = writeln!(text, "Times of {} are in part those of their leads.", counted(behind, "rank"));
    }
    let _ = match (args.compute, recording.times()) {
        (ComputeArg::None, _) => writeln!(text, "The time that the program computed was left out."),
        (_, Times::Histogram) => {
            writeln!(text, "Computing times were drawn from histograms{}.", faster(args))
        }
        (_, Times::All) => writeln!(text, "Computing times were those recorded{}.", faster(args)),
    };
    let _ = writeln!(text, "\nCall                                   Times");
    for (call, n) in &outcome.issued {
        let _ = writeln!(text, "{:<32}{:>12}", call.name(), grouped_digits(*n));
    }
    if !outcome.skipped.is_empty() {
        let _ = writeln!(text, "\nNot re-issued                          Times   Time in the recording");
    }
    for (reason, n, ns) in &outcome.skipped {
        let time = format!("{} s", short(seconds(*ns)));
        let _ = writeln!(text, "{:>44}{time:>24}   {}", grouped_digits(*n), capital(reason.told()));
    }
    text
}

fn to_json(outcome: &Outcome, recording: &Recording, args: &ReplayArgs) -> Value {
    let (recorded, replayed) = (seconds(outcome.recorded), seconds(outcome.replayed));
    let issued = outcome.issued.iter().map(|(call, n)| (call.name().to_owned(), json!(n)));
    let skipped: Vec<Value> = outcome
        .skipped
        .iter()
        .map(|(reason, n, ns)| json!({ "reason": reason.told(), "count": n, "recorded_s": seconds(*ns) }))
        .collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "recording": args.recording.to_string_lossy(),
        "ranks": recording.size(),
        "compute": args.compute.word(),
        "speed": args.speed,
        "recorded_s": recorded,
        "replayed_s": replayed,
        "ratio": if recorded > 0.0 { json!(replayed / recorded) } else { Value::Null },
        "accuracy": accuracy(recorded, replayed).filter(|_| is_to_scale(args)),
        "against_s": args.against,
        "accuracy_against": args.against.and_then(|time| accuracy(time, replayed)),
        "behind_leads": behind_leads(recording),
        "issued": issued.collect::<serde_json::Map<_, _>>(),
        "skipped": skipped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_testing::recorded::Program;

    /// What is said of a replay of 3 s, of a program that took 4 s.
    fn said(times: Times, compute: ComputeArg, speed: f64) -> String {
        let dir = tempfile::tempdir().expect("a folder");
        Program { times, ..Program::default() }.write(dir.path());
        let recording = Recording::open(dir.path()).expect("a recording");
        let outcome = Outcome {
            recorded: 4_000_000_000,
            replayed: 3_000_000_000,
            issued: Vec::new(),
            skipped: Vec::new(),
        };
        let (recording_path, launcher) = (dir.path().to_owned(), Vec::new());
        let args = ReplayArgs { recording: recording_path, compute, speed, against: None, launcher };
        text(&outcome, &recording, &args)
    }

    #[test]
    fn by_what_computing_times_were_divided_is_said() {
        let all = said(Times::All, ComputeArg::Busy, 1.0);
        assert!(all.contains("Computing times were those recorded.\n"), "{all}");
        assert!(all.contains("That is 75.0% of the recorded time: accuracy 75.0%"), "{all}");
        // Then it is not to take as long, and how near it comes is no accuracy.
        let twice = said(Times::All, ComputeArg::Sleep, 2.0);
        assert!(twice.contains("Computing times were those recorded, divided by 2.\n"), "{twice}");
        assert!(twice.contains("That is 75.0% of the recorded time.\n"), "{twice}");
        let drawn = said(Times::Histogram, ComputeArg::Busy, 0.5);
        assert!(drawn.contains("Computing times were drawn from histograms, divided by 0.5.\n"), "{drawn}");
        let none = said(Times::All, ComputeArg::None, 2.0);
        assert!(none.contains("was left out.\n") && !none.contains("divided"), "{none}");
        assert!(!none.contains("accuracy"), "{none}");
    }
}
