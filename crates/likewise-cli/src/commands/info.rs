//! `likewise info`: what is in a trace.

use super::sampled;
use crate::common::{Common, Usage};
use crate::taken;
use anyhow::Result;
use clap::Args;
use likewise::table::{Moment, Nanos};
use likewise::words::{counted, grouped_digits};
use likewise_trace::{ReadOptions, Task, TraceInfo, inspect, recording};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Show what a trace holds: tasks, states, counters, events, communications
///
/// Of a recording: its loop nest with places in the source, and count, bytes
/// and time of every call from every call path; of one that was made by leads,
/// states, leads and the ranks that they stand for. A recording may be read
/// while the program runs.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES
)]
pub(crate) struct InfoArgs {
    /// Paraver trace, recording (a folder), or table of bursts (CSV or Parquet)
    file: PathBuf,
    /// Skip malformed records and say how many, instead of stopping
    #[arg(long)]
    lenient: bool,
    /// Show all event types, not only counters
    #[arg(long)]
    events: bool,
    /// Of a recording, the rank whose loop nest is shown [default: the first]
    #[arg(long, value_name = "N")]
    rank: Option<u32>,
    /// Of a recording, write DIR/report.html, a page that opens in any browser, and
    /// DIR/summary.json, what --json prints
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  likewise info run.prv.gz
  likewise info --json run.prv | jq .counters
  likewise info run --rank 3                 the loop nest of a recording, and what its calls cost
  likewise info run --json | jq .calls
  likewise info run --json | jq .states      how a run was recorded by leads
  likewise info run -o out                   the same as a page: states over time, leads, bytes and memory by rank";

pub(crate) fn run(args: &InfoArgs, common: &Common) -> Result<()> {
    if args.file.is_dir() || recording::is_recording(&args.file) {
        if !sampled::blocks(&args.file).is_empty() {
            return sampled::info(&args.file, args.output.as_deref(), common);
        }
        return super::recorded::run(&args.file, args.rank, args.output.as_deref(), common);
    }
    if args.rank.is_some() {
        return Err(Usage("--rank shows the loop nest of a recording; this is none".to_owned()).into());
    }
    if args.output.is_some() {
        return Err(Usage(
            "-o writes the page of a recording; this is none: `likewise bursts` makes one".to_owned(),
        )
        .into());
    }
    let bar = common.bytes("Reading");
    let progress = |done, total| bar.set(done, total);
    let options = ReadOptions { lenient: args.lenient, progress: Some(&progress), ..ReadOptions::default() };
    let info = inspect(&args.file, &options)?;
    drop(bar);
    let name = args.file.display().to_string();
    common.print(&to_json(&info, &name), || text(&info, &name, args.events))
}

fn format_name(info: &TraceInfo) -> String {
    format!("{}{}", info.format, if info.compressed { ", gzip" } else { "" })
}

fn to_json(info: &TraceInfo, name: &str) -> Value {
    let records = &info.report.records;
    let apps: Vec<Value> = info
        .topology
        .iter()
        .flat_map(|t| &t.apps)
        .map(|tasks| {
            json!({ "tasks": tasks.len(), "threads": tasks.iter().map(|t| u64::from(t.threads)).sum::<u64>(),
            "streams": streams(tasks) })
        })
        .collect();
    let states: Vec<Value> = info
        .states
        .iter()
        .map(|s| json!({ "value": s.value, "name": s.name, "count": s.count, "time_ns": s.time.0 }))
        .collect();
    let event = |e: &likewise_trace::EventTypeInfo| json!({ "type": e.event_type, "label": e.label, "count": e.count });
    let (counters, events): (Vec<_>, Vec<_>) = info.event_types.iter().partition(|e| e.counter);
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "file": name,
        "format": format_name(info),
        "begin_ns": info.report.begin.0,
        "end_ns": info.end.0,
        "nodes": info.topology.as_ref().map(|t| t.nodes),
        "applications": apps,
        "records": {
            "lines": info.report.lines, "states": records.states, "events": records.events,
            "communications": records.communications, "unknown": records.unknown,
            "backwards": records.backwards, "untimed": records.untimed, "skipped": records.skipped,
        },
        "communication_bytes": info.communication_bytes,
        "states": states,
        "counters": counters.into_iter().map(event).collect::<Vec<_>>(),
        "events": events.into_iter().map(event).collect::<Vec<_>>(),
        "columns": info.report.columns.as_ref().map(taken::to_json),
        "warnings": info.report.warnings,
    })
}

/// How many threads are streams of accelerators.
fn streams(tasks: &[Task]) -> u64 {
    tasks.iter().map(|task| u64::from(task.streams)).sum()
}

fn tasks_and_threads(tasks: &[Task]) -> String {
    let threads: u64 = tasks.iter().map(|t| u64::from(t.threads)).sum();
    let of_streams = match streams(tasks) {
        0 => String::new(),
        1 => ", of which 1 is a stream of an accelerator".to_owned(),
        n => format!(", of which {} are streams of accelerators", grouped_digits(n)),
    };
    format!("{}, {}{of_streams}", counted(tasks.len() as u64, "task"), counted(threads, "thread"))
}

fn text(info: &TraceInfo, name: &str, with_events: bool) -> String {
    let mut out = String::new();
    let records = &info.report.records;
    let mut row = |title: &str, value: String| {
        let _ = writeln!(out, "{title:<16}{value}");
    };
    row("File", name.to_owned());
    row("Format", format_name(info));
    let begin = info.report.begin;
    let length = info.end.saturating_sub(begin);
    row(
        "Length",
        if begin == Nanos::ZERO {
            length.to_string()
        } else {
            format!("{length}, from {} on", Moment(begin))
        },
    );
    if let Some(topology) = &info.topology {
        row("Nodes", topology.nodes.to_string());
        for (i, tasks) in topology.apps.iter().enumerate() {
            row(&format!("Application {}", i + 1), tasks_and_threads(tasks));
        }
    }
    let counts = [
        ("States", records.states),
        ("Events", records.events),
        ("Communications", records.communications),
        ("Unknown records", records.unknown),
        ("States not read", records.backwards),
        ("Negative times", records.untimed),
        ("Skipped records", records.skipped),
    ];
    for (title, n) in counts {
        if n > 0 || title == "States" {
            row(title, grouped_digits(n));
        }
    }
    if records.communications > 0 {
        row("Bytes sent", grouped_digits(info.communication_bytes));
    }
    out.push_str("\nState                           Records          Time\n");
    for state in &info.states {
        let _ = writeln!(
            out,
            "{:<28}{:>11}{:>14}",
            state.name,
            grouped_digits(state.count),
            state.time.to_string()
        );
    }
    let mut table = |title: &str, counters: bool| {
        let events: Vec<_> = info.event_types.iter().filter(|e| e.counter == counters).collect();
        if !events.is_empty() {
            let _ = writeln!(out, "\n{title:<12}{:>11}  Name", "Records");
            for e in events {
                let _ = writeln!(out, "{:<12}{:>11}  {}", e.event_type, grouped_digits(e.count), e.label);
            }
        }
    };
    table("Counter", true);
    if with_events {
        table("Event", false);
    }
    if let Some(left_out) = info.report.columns.as_ref().and_then(|columns| columns.told_left_out()) {
        let _ = writeln!(out, "\nLeft out: {left_out}");
    }
    for warning in &info.report.warnings {
        let _ = writeln!(out, "\nWarning: {warning}");
    }
    out
}
