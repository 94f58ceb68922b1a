//! `likewise retime`: a trace as it would be if its phases took other times.

use crate::common::Common;
use crate::finish::finish;
use crate::output::OutputDir;
use crate::trace::{AsParaver, output_dir, stem};
use anyhow::{Context, Result, bail};
use clap::Args;
use likewise::table::{Moment, Nanos};
use likewise::words::{counted, grouped_digits, short};
use likewise_analysis::Stages;
use likewise_recording::{Recording, Times};
use likewise_trace::{
    ColumnTable, LabelTable, RetimeReport, RetimedBurst, RowLabel, check_cut, read_columns, read_labels,
    write_retimed,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Put simulated times of phases back into the trace
///
/// Reads how long the representatives of phases take elsewhere (on a simulated
/// processor, on another machine). Makes all bursts of each phase faster or
/// slower by that ratio. Computes anew how long threads wait: for the sends of
/// their messages, and for the last thread to enter a collective operation.
/// Measured transfers stay as they are; there is no model of a network. Writes
/// the predicted trace and retime.json.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RetimeArgs {
    /// Paraver trace, or recording (a folder), of one thread a task
    trace: PathBuf,
    /// The bursts.csv that `likewise bursts` wrote of this trace: which burst is
    /// of which phase
    #[arg(long, value_name = "FILE")]
    bursts: PathBuf,
    /// CSV with a column phase, and either ratio (new time over old) or
    /// simulated_ns: representatives.csv with that column added, or a mean per
    /// phase. Empty cells are passed over
    #[arg(long, value_name = "FILE")]
    times: PathBuf,
    /// Directory for the result [default: the trace's name with .retime]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Skip malformed records and say how many, instead of stopping
    #[arg(long)]
    lenient: bool,
}

const EXAMPLES: &str = "\
Examples:
  likewise bursts run.prv -o out          phases, and out/representatives.csv to simulate
  likewise retime run.prv --bursts out/bursts.csv --times simulated.csv -o predicted
  printf 'phase,ratio\\n1,0.5\\n' > half.csv; likewise retime run.prv --bursts out/bursts.csv --times half.csv";

/// A phase: what was measured, and what is made of it.
#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    bursts: u64,
    measured: u128,
    predicted: u128,
    /// Nothing where no time of it is given.
    ratio: Option<f64>,
}

pub(crate) fn run(args: &RetimeArgs, common: &Common) -> Result<()> {
    let dir = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.retime", stem(&args.trace))));
    let source = AsParaver::if_fit(&args.trace, common, why_not)?;
    check_cut(source.path())?;
    OutputDir::check(&dir, &[&args.trace], common)?;
    let mut stages = Stages::default();
    let labels = stages.time("read", || read_labels(&args.bursts))?;
    let mut phases = measured(&labels).with_context(|| args.bursts.display().to_string())?;
    let times = read_columns(&args.times, &[], None)?;
    ratios(&times, &mut phases).with_context(|| args.times.display().to_string())?;
    let bursts = retimed(&labels, &mut phases);
    let mut out = output_dir(&dir, &args.trace, [&args.bursts, &args.times], common)?;
    let (files, report) = {
        let _bar = common.spinner("Timing anew");
        stages.time("retime", || {
            write_retimed(source.path(), &out.path(&stem(&args.trace)), &bursts, args.lenient)
        })?
    };
    let trace = files[0].path().to_owned();
    files.into_iter().try_for_each(|file| out.adopt(file))?;
    let untimed = untimed(&report.ends, &bursts);
    let mut notes = [source.notes().to_vec(), unknown_phases(&phases), report.warnings.clone()].concat();
    notes.extend(untimed);
    notes.iter().for_each(|note| common.say(format_args!("note: {note}")));
    let mut summary = to_json(args, &phases, &report, &notes);
    summary["trace"] = trace.display().to_string().into();
    let summary = finish(out, "retime.json", summary, &stages, common)?;
    common.print(&summary, || format!("{}Trace: {}\n", text(&phases, &report), trace.display()))
}

/// Why a recording does not tell who waits for whom.
fn why_not(recording: &Recording) -> Option<&'static str> {
    if recording.times() == Times::Histogram {
        return Some(
            "times of single bursts and calls were not kept, so who waits for whom is not known; record with --times all",
        );
    }
    let all = recording.ranks().iter().all(|meta| recording.is_measured(meta.rank));
    (!all).then_some(
        "ranks were recorded by leads while the run repeated, so who waits for whom is not known; record with \
         --mode full",
    )
}

/// The phases of a table of bursts; all other bursts are under `None`.
fn measured(labels: &LabelTable) -> Result<BTreeMap<Option<u32>, Phase>> {
    let (Some(_), Some(durations)) = (&labels.keys, &labels.durations) else {
        bail!(
            "it does not say when bursts begin and how long they take; give the bursts.csv of `likewise bursts`"
        );
    };
    let mut phases: BTreeMap<Option<u32>, Phase> = BTreeMap::new();
    for (label, &duration) in labels.labels.iter().zip(durations) {
        let phase = phases.entry(number(*label)).or_default();
        phase.bursts += 1;
        phase.measured += u128::from(duration);
    }
    Ok(phases)
}

fn number(label: RowLabel) -> Option<u32> {
    match label {
        RowLabel::Cluster(number) => Some(number),
        RowLabel::Noise | RowLabel::Unclassified => None,
    }
}

/// Gives each phase that the table names its new time over the old.
fn ratios(times: &ColumnTable, phases: &mut BTreeMap<Option<u32>, Phase>) -> Result<()> {
    let column = |name: &str| times.numbers().find(|(known, _)| *known == name).map(|(_, values)| values);
    let needed = "expected columns phase and ratio, or phase and simulated_ns";
    let numbers =
        column("phase").with_context(|| format!("no column of numbers is called phase; {needed}"))?;
    let (ratio, simulated) = (column("ratio"), column("simulated_ns"));
    let (duration, weight) = (column("duration_ns"), column("weight"));
    if ratio.is_some() == simulated.is_some() {
        bail!(
            "there are {} of ratio and simulated_ns; {needed}",
            if ratio.is_some() { "both" } else { "none" }
        );
    }
    let values = ratio.or(simulated).unwrap_or_default();
    // New and old time of what is given of each phase.
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (row, (&number, &value)) in
        numbers.iter().zip(values).enumerate().filter(|(_, (_, value))| !value.is_nan())
    {
        let at = format!("row {} (from 1, without the names)", row + 1);
        let phase = Some(number as u32).filter(|&whole| f64::from(whole) == number);
        let Some(known) = phase.and_then(|phase| phases.get(&Some(phase))) else {
            bail!("{at}: the table of bursts has no phase {}", short(number));
        };
        if !(value >= 0.0 && value.is_finite()) {
            bail!("{at}: {} is no time; it must be 0 or more", short(value));
        }
        let mean = known.measured as f64 / known.bursts as f64;
        let old = match (ratio, duration) {
            (Some(_), _) => 1.0,
            (None, Some(duration)) => duration[row],
            (None, None) => mean,
        };
        let weight = weight.filter(|_| ratio.is_none()).map_or(1.0, |weight| weight[row]);
        if !(old > 0.0 && old.is_finite() && weight > 0.0 && weight.is_finite()) {
            bail!("{at}: the measured duration and the weight must be more than 0");
        }
        let sum = sums.entry(number as u32).or_default();
        *sum = (sum.0 + weight * value, sum.1 + weight * old);
    }
    if sums.is_empty() {
        bail!("it gives no time of any phase");
    }
    for (phase, (new, old)) in sums {
        phases.entry(Some(phase)).or_default().ratio = Some(new / old);
    }
    Ok(())
}

/// Every burst with its new duration; those of no phase keep theirs.
fn retimed(labels: &LabelTable, phases: &mut BTreeMap<Option<u32>, Phase>) -> Vec<RetimedBurst> {
    let keys = labels.keys.iter().flatten();
    let durations = labels.durations.iter().flatten();
    let burst = |((key, &duration), &label): ((&likewise_trace::BurstKey, &u64), &RowLabel)| {
        let phase = phases.entry(number(label)).or_default();
        let now = phase.ratio.map_or(duration, |ratio| (duration as f64 * ratio).round() as u64);
        phase.predicted += u128::from(now);
        RetimedBurst {
            app: key.app,
            task: key.task,
            thread: key.thread,
            begin: Nanos(key.begin),
            duration: Nanos(duration),
            now: Nanos(now),
        }
    };
    keys.zip(durations).zip(&labels.labels).map(burst).collect()
}

/// What stays as it was measured.
fn unknown_phases(phases: &BTreeMap<Option<u32>, Phase>) -> Vec<String> {
    let all: u128 = phases.values().map(|phase| phase.measured).sum();
    let unknown = || phases.iter().filter(|(_, phase)| phase.ratio.is_none());
    let time: u128 = unknown().map(|(_, phase)| phase.measured).sum();
    if time == 0 {
        return Vec::new();
    }
    let named: Vec<String> = unknown().filter_map(|(phase, _)| *phase).map(|n| n.to_string()).collect();
    let more = if named.len() > 20 { ", …" } else { "" };
    let of_phases = (!named.is_empty()).then(|| {
        let numbers = named[..named.len().min(20)].join(", ");
        format!("{} ({numbers}{more})", counted(named.len() as u64, "phase"))
    });
    let of_none = phases.get(&None).map(|_| "bursts of no phase".to_owned());
    let phases_of: Vec<String> = of_phases.into_iter().chain(of_none).collect();
    let phases = phases_of.join(" and ");
    let share = 100.0 * time as f64 / all as f64;
    vec![format!("{share:.2}% of the computing time stays as it was: {phases}.")]
}

/// Of several applications, when the last burst of each ended that has any in the table, and
/// ends now.
fn lasts(report: &RetimeReport) -> BTreeMap<u32, [Nanos; 2]> {
    let mut lasts: BTreeMap<u32, [Nanos; 2]> = BTreeMap::new();
    for thread in report.threads.iter().filter(|_| report.ends.len() > 1) {
        let last = lasts.entry(thread.app).or_default();
        *last = [0, 1].map(|at| last[at].max(thread.last[at]));
    }
    lasts
}

/// Applications without a burst in the table.
fn untimed(ends: &BTreeMap<u32, [Nanos; 2]>, bursts: &[RetimedBurst]) -> Option<String> {
    let timed: BTreeSet<u32> = bursts.iter().map(|burst| burst.app).collect();
    let others: Vec<String> = ends.keys().filter(|app| !timed.contains(*app)).map(u32::to_string).collect();
    let s = if others.len() == 1 { "" } else { "s" };
    (!others.is_empty()).then(|| {
        format!(
            "The table of bursts has none of application{s} {}: what they compute stays as it was.",
            others.join(", ")
        )
    })
}

fn to_json(
    args: &RetimeArgs,
    phases: &BTreeMap<Option<u32>, Phase>,
    report: &RetimeReport,
    notes: &[String],
) -> Value {
    let phase = |(number, phase): (&Option<u32>, &Phase)| {
        json!({
            "phase": number, "bursts": phase.bursts, "ratio": phase.ratio,
            "measured_ns": phase.measured as u64, "predicted_ns": phase.predicted as u64,
        })
    };
    let thread = |thread: &likewise_trace::RetimedThread| {
        json!({
            "app": thread.app, "task": thread.task, "thread": thread.thread,
            "measured_computing_ns": thread.computing[0].0, "predicted_computing_ns": thread.computing[1].0,
            "measured_last_ns": thread.last[0].0, "predicted_last_ns": thread.last[1].0,
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": args.trace.display().to_string(),
        "bursts": args.bursts.display().to_string(),
        "times": args.times.display().to_string(),
        "measured_ns": report.end.saturating_sub(report.begin).0,
        "predicted_ns": report.new_end.saturating_sub(report.begin).0,
        "phases": phases.iter().map(phase).collect::<Vec<_>>(),
        "threads": report.threads.iter().map(thread).collect::<Vec<_>>(),
        "applications": lasts(report).iter().map(|(app, [old, new])| json!({
            "app": app, "measured_last_ns": old.0, "predicted_last_ns": new.0,
        })).collect::<Vec<_>>(),
        "messages": report.messages,
        "collectives": report.collectives,
        "notes": notes,
    })
}

fn text(phases: &BTreeMap<Option<u32>, Phase>, report: &RetimeReport) -> String {
    let times =
        |new: f64, old: f64| if old > 0.0 { format!(" (× {})", short(new / old)) } else { String::new() };
    let [old, new] = [report.end, report.new_end].map(|end| end.saturating_sub(report.begin));
    let computing = |at: usize| Nanos(report.threads.iter().map(|thread| thread.computing[at].0).sum());
    let [before, after] = [computing(0), computing(1)];
    let mut text = format!(
        "The run takes {new} instead of {old}{}; computing {after} instead of {before}{}.\n\
         Waits are those of {} and {}.\n",
        times(new.0 as f64, old.0 as f64),
        times(after.0 as f64, before.0 as f64),
        counted(report.messages, "message"),
        counted(report.collectives, "collective operation"),
    );
    for (app, [old, new]) in lasts(report) {
        let [after, before] = [new, old].map(|end| end.saturating_sub(report.begin).0 as f64);
        let _ = writeln!(
            text,
            "  application {app}: its last burst ends at {} instead of {}{}",
            Moment(new),
            Moment(old),
            times(after, before)
        );
    }
    for (number, phase) in phases.iter().filter(|(_, phase)| phase.ratio.is_some()) {
        let name = number.map_or_else(String::new, |number| number.to_string());
        let _ = writeln!(
            text,
            "  phase {name}: {} bursts × {}, {} instead of {}",
            grouped_digits(phase.bursts),
            short(phase.ratio.unwrap_or(1.0)),
            Nanos(phase.predicted as u64),
            Nanos(phase.measured as u64)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_trace::RetimedThread;

    /// "2 phases (2, 3) and bursts of none" was told where all bursts are in phases.
    #[test]
    fn what_stays_as_it_was_is_there() {
        let phase = |ratio| Phase { bursts: 2, measured: 50, predicted: 50, ratio };
        let mut phases = BTreeMap::from([(Some(1), phase(Some(2.0))), (Some(2), phase(None))]);
        let told = |phases: &BTreeMap<_, _>| unknown_phases(phases).concat();
        assert_eq!(told(&phases), "50.00% of the computing time stays as it was: 1 phase (2).");
        phases.insert(None, phase(None));
        assert!(told(&phases).ends_with(": 1 phase (2) and bursts of no phase."));
        phases.remove(&Some(2));
        assert!(told(&phases).ends_with(": bursts of no phase."));
        phases.remove(&None);
        assert_eq!(told(&phases), "");
    }

    /// "The run takes 567 ms instead of 567 ms" was all that was told where the longer of two
    /// applications was not timed anew.
    #[test]
    fn each_application_of_several_has_its_end() {
        let thread = |app, last: [u64; 2]| RetimedThread {
            app,
            task: 1,
            thread: 1,
            computing: [Nanos(10), Nanos(5)],
            last: last.map(Nanos),
        };
        let of = |apps: &[u32], threads| RetimeReport {
            ends: apps.iter().map(|&app| (app, [Nanos(12); 2])).collect(),
            threads,
            ..RetimeReport::default()
        };
        let threads = vec![thread(1, [10, 5]), thread(1, [12, 6])];
        let told = |report| text(&BTreeMap::new(), &report);
        assert!(!told(of(&[1], threads.clone())).contains("application"));
        let two = of(&[1, 2], threads);
        let text = told(two.clone());
        assert!(
            text.contains("  application 1: its last burst ends at 6 ns instead of 12 ns (× 0.5)\n"),
            "{text}"
        );
        let burst =
            RetimedBurst { app: 1, task: 1, thread: 1, begin: Nanos(0), duration: Nanos(10), now: Nanos(5) };
        let untimed = untimed(&two.ends, &[burst]).unwrap();
        assert!(untimed.starts_with("The table of bursts has none of application 2:"), "{untimed}");
    }
}
