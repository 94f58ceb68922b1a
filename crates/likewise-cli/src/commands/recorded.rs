//! `likewise info` of a recording: its loop nest, and what its calls cost.

use crate::common::Common;
use anyhow::Result;
use likewise::words::{counted, grouped_digits};
use likewise_recording::{Nest, Times};
use likewise_trace::recording::{self, CallSite, Summary, nest, summarise};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Of a body of more parts than this, those with the most events are shown.
const MOST_PARTS: usize = 8;
/// Call paths that are shown.
const MOST_SITES: usize = 20;

pub(crate) fn run(path: &Path, rank: Option<u32>, common: &Common) -> Result<()> {
    let bar = common.spinner("Reading");
    let recording = recording::open(path)?;
    let summary = summarise(&recording, path)?;
    let rank = rank.or_else(|| summary.ranks.first().copied()).unwrap_or(0);
    let nest = nest(&recording, rank, path)?;
    drop(bar);
    let complete = recording.incomplete().is_none() && summary.ranks.len() as u64 == u64::from(summary.size);
    common.print(&to_json(&summary, path, complete), || {
        let (width, all) = (common.terminal().0, common.wants_all());
        let shown = Shown { sites: &summary.sites, width, all };
        [head(&summary, path, complete), shown.nest(&nest, rank), shown.sites(), warnings(&summary)].concat()
    })
}

fn to_json(summary: &Summary, path: &Path, complete: bool) -> Value {
    let site = |site: &CallSite| {
        json!({
            "call": site.call, "path": site.path, "callers": site.callers,
            "count": site.count, "bytes": site.bytes, "time_ns": site.time.0,
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "file": path.display().to_string(),
        "format": "recording",
        "ranks": summary.ranks.len(),
        "size": summary.size,
        "events": summary.events,
        "bytes": summary.bytes,
        "call_paths": summary.call_paths,
        "calls": summary.calls,
        "end_ns": summary.end.0,
        "computing_ns": summary.computing.0,
        "times": times(summary),
        "counters": summary.counters,
        "complete": complete,
        "sites": summary.sites.iter().map(site).collect::<Vec<_>>(),
        "warnings": summary.warnings,
    })
}

fn times(summary: &Summary) -> &'static str {
    match summary.times {
        Times::Histogram => "histogram",
        Times::All => "all",
    }
}

fn head(summary: &Summary, path: &Path, complete: bool) -> String {
    let mut out = String::new();
    let mut row = |title: &str, value: String| {
        let _ = writeln!(out, "{title:<16}{value}");
    };
    row("File", path.display().to_string());
    row("Format", format!("recording{}", if complete { "" } else { ", not complete" }));
    row("Length", summary.end.to_string());
    let (there, size) = (summary.ranks.len() as u64, u64::from(summary.size));
    row("Ranks", if there == size { grouped_digits(size) } else { format!("{there} of {size}") });
    let calls = counted(summary.calls.len() as u64, "different call");
    let paths = counted(summary.call_paths as u64, "call path");
    row("Events", format!("{} of {calls} from {paths}", grouped_digits(summary.events)));
    let each = summary.bytes as f64 / summary.events.max(1) as f64;
    row("Bytes", format!("{}, {each:.2} an event", grouped_digits(summary.bytes)));
    row(
        "Times",
        match summary.times {
            Times::Histogram => "histograms of every call path".to_owned(),
            Times::All => "of every event".to_owned(),
        },
    );
    let counters = if summary.counters.is_empty() { "none".to_owned() } else { summary.counters.join(", ") };
    row("Counters", counters);
    let in_calls =
        summary.sites.iter().fold(likewise::table::Nanos::ZERO, |sum, site| sum.saturating_add(site.time));
    row("Computing", format!("{} of all threads, and {in_calls} in MPI", summary.computing));
    out
}

fn warnings(summary: &Summary) -> String {
    summary.warnings.iter().map(|warning| format!("\nWarning: {warning}\n")).collect()
}

/// What the text is made of.
struct Shown<'s> {
    sites: &'s [CallSite],
    width: usize,
    all: bool,
}

impl Shown<'_> {
    fn nest(&self, nest: &[Nest], rank: u32) -> String {
        let mut out = format!("\nLoop nest of rank {rank}\n");
        self.body(nest, 1, &mut out);
        out
    }

    /// The parts of a body, each on a line or more.
    fn body(&self, body: &[Nest], depth: usize, out: &mut String) {
        let mut shown: Vec<usize> = (0..body.len()).collect();
        if !self.all && body.len() > MOST_PARTS {
            shown.sort_by_key(|&at| (std::cmp::Reverse(events(&body[at])), at));
            shown.truncate(MOST_PARTS);
            shown.sort_unstable();
        }
        let mut next = 0;
        for at in shown {
            left_out(&body[next..at], depth, out);
            next = at + 1;
            match &body[at] {
                Nest::Call(symbol, count) => self.call(*symbol, *count, depth, out),
                Nest::Loop(inner, entered, iterations) => {
                    let times = if *entered == 1 {
                        counted(*iterations, "iteration")
                    } else {
                        let each = *iterations as f64 / (*entered).max(1) as f64;
                        let times = counted(*entered, "time");
                        format!(
                            "{} in all, entered {times}, {each:.1} each",
                            counted(*iterations, "iteration")
                        )
                    };
                    let _ = writeln!(out, "{}loop: {times}", "  ".repeat(depth));
                    self.body(inner, depth + 1, out);
                }
            }
        }
        left_out(&body[next..], depth, out);
    }

    fn call(&self, symbol: u32, count: u64, depth: usize, out: &mut String) {
        let Some(site) = self.sites.get(symbol as usize) else { return };
        let name = format!("{}{}", "  ".repeat(depth), site.call);
        let line = format!("{name:<30} {:>12}  ", grouped_digits(count));
        let room = self.width.saturating_sub(line.chars().count());
        let _ = writeln!(out, "{line}{}", callers(&site.callers, room));
    }

    /// The call paths with the most time.
    fn sites(&self) -> String {
        let mut sites: Vec<&CallSite> = self.sites.iter().filter(|site| site.count > 0).collect();
        sites.sort_by_key(|site| std::cmp::Reverse((site.time, site.count)));
        let n = if self.all { sites.len() } else { sites.len().min(MOST_SITES) };
        let mut out = format!("\n{:<22}{:>12}{:>16}{:>12}  Call path\n", "Call", "Count", "Bytes", "Time");
        for site in &sites[..n] {
            let (count, bytes) = (grouped_digits(site.count), grouped_digits(site.bytes));
            let line = format!("{:<22}{count:>12}{bytes:>16}{:>12}  ", site.call, site.time.to_string());
            let room = self.width.saturating_sub(line.chars().count());
            let _ = writeln!(out, "{line}{}", callers(&site.callers, room));
        }
        if n < sites.len() {
            let _ = writeln!(out, "… {} more; -v shows all", grouped_digits((sites.len() - n) as u64));
        }
        out
    }
}

/// How many events a part of a nest stands for.
fn events(nest: &Nest) -> u64 {
    match nest {
        Nest::Call(_, count) => *count,
        Nest::Loop(body, ..) => body.iter().map(events).fold(0, u64::saturating_add),
    }
}

fn left_out(body: &[Nest], depth: usize, out: &mut String) {
    if !body.is_empty() {
        let n = body.iter().map(events).fold(0, u64::saturating_add);
        let _ = writeln!(out, "{}… {}", "  ".repeat(depth), counted(n, "more event"));
    }
}

/// As many callers as fit, the innermost first; one at least.
fn callers(callers: &[String], room: usize) -> String {
    let mut text = String::new();
    for (at, caller) in callers.iter().enumerate() {
        let added = if at == 0 { caller.clone() } else { format!(" < {caller}") };
        if at > 0 && text.chars().count() + added.chars().count() > room {
            break;
        }
        text.push_str(&added);
    }
    text
}
