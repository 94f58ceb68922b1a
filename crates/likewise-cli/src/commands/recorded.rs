//! `likewise info` of a recording: its loop nest, and what its calls cost.

use super::online;
use crate::common::Common;
use crate::finish::finish;
use crate::output::OutputDir;
use anyhow::Result;
use likewise::table::Nanos;
use likewise::words::{counted, grouped_digits};
use likewise_analysis::Stages;
use likewise_recording::{Nest, Recording, Times};
use likewise_report::recording::{RecordingReport, Site, write_html};
use likewise_trace::recording::{self, CallSite, Summary, nest, summarise};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::path::Path;

/// Of a body of more parts than this, those with the most events are shown.
const MOST_PARTS: usize = 8;
/// And of all bodies together, those with the most events; of a page, so many.
const MOST_OF_NEST: usize = 30;
const MOST_OF_NEST_ON_PAGE: usize = 300;
/// Call paths that are shown.
const MOST_SITES: usize = 20;
/// And on a page.
const MOST_ON_PAGE: usize = 500;
/// Of a terminal that is as wide, the table of call paths has their hashes.
const WIDE: usize = 110;
/// Characters in a line of a page's loop nest.
const PAGE_WIDTH: usize = 150;

pub(crate) fn run(path: &Path, rank: Option<u32>, output: Option<&Path>, common: &Common) -> Result<()> {
    let mut stages = Stages::default();
    if let Some(dir) = output {
        OutputDir::check(dir, &[path], common)?;
    }
    let bar = common.spinner("Reading");
    let recording = stages.time("read", || recording::open(path))?;
    let summary = stages.time("count", || summarise(&recording, path))?;
    let rank = rank.or_else(|| summary.ranks.first().copied()).unwrap_or(0);
    let nest = nest(&recording, rank, path)?;
    drop(bar);
    let complete = recording.incomplete().is_none() && summary.ranks.len() as u64 == u64::from(summary.size);
    let (width, all) = (common.terminal().0, common.wants_all());
    let mut json = to_json(&recording, &summary, path, complete);
    if let Some(dir) = output {
        let shown = Shown { sites: &summary.sites, width: PAGE_WIDTH, all, parts: MOST_OF_NEST_ON_PAGE };
        let page = Paged { recording: &recording, summary: &summary, path, nest: (rank, shown.loops(&nest)) };
        let mut out = OutputDir::create(dir, &[path], common)?;
        out.write("report.html", |file| Ok(write_html(&page.report(), file)?))?;
        json = finish(out, "summary.json", json, &stages, common)?;
    }
    common.print(&json, || {
        let shown = Shown { sites: &summary.sites, width, all, parts: MOST_OF_NEST };
        let report = output
            .map_or_else(String::new, |dir| format!("\nReport: {}\n", dir.join("report.html").display()));
        [
            head(&recording, &summary, path, complete),
            online::led(&recording, all),
            shown.nest(&nest, rank),
            shown.sites(),
            warnings(&recording, &summary),
            report,
        ]
        .concat()
    })
}

/// What the page shows.
struct Paged<'a> {
    recording: &'a Recording,
    summary: &'a Summary,
    path: &'a Path,
    nest: (u32, String),
}

impl Paged<'_> {
    fn report(self) -> RecordingReport {
        let Self { recording, summary, path, nest } = self;
        let mut walls = vec![Nanos::ZERO; summary.size as usize];
        for meta in recording.ranks() {
            if let Some(wall) = walls.get_mut(meta.rank as usize) {
                *wall = Nanos(meta.wall);
            }
        }
        let site = |site: &&CallSite| Site {
            call: site.call,
            hash: site.hash.clone(),
            count: site.count,
            bytes: site.bytes,
            time: site.time,
            callers: site.callers.clone(),
        };
        let sites = by_time(&summary.sites);
        RecordingReport {
            input: path.display().to_string(),
            size: summary.size,
            recorded: summary.ranks.len(),
            events: summary.events,
            bytes: summary.bytes,
            end: summary.end,
            walls,
            log: recording.log().cloned(),
            sites: sites.iter().take(MOST_ON_PAGE).map(site).collect(),
            more_sites: sites.len().saturating_sub(MOST_ON_PAGE),
            nest,
            findings: online::findings(recording),
            notes: summary.warnings.clone(),
        }
    }
}

/// The call paths with the most time first.
fn by_time(sites: &[CallSite]) -> Vec<&CallSite> {
    let mut sites: Vec<&CallSite> = sites.iter().filter(|site| site.count > 0).collect();
    sites.sort_by_key(|site| Reverse((site.time, site.count)));
    sites
}

fn to_json(recording: &Recording, summary: &Summary, path: &Path, complete: bool) -> Value {
    let site = |site: &CallSite| {
        json!({
            "call": site.call, "path": site.path, "hash": site.hash, "callers": site.callers,
            "count": site.count, "bytes": site.bytes, "time_ns": site.time.0,
        })
    };
    let mut json = json!({
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
    });
    online::to_json(recording).into_iter().for_each(|(name, value)| json[name] = value);
    json
}

fn times(summary: &Summary) -> &'static str {
    match summary.times {
        Times::Histogram => "histogram",
        Times::All => "all",
    }
}

fn head(recording: &Recording, summary: &Summary, path: &Path, complete: bool) -> String {
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
    online::rows(recording).into_iter().for_each(|(title, value)| row(title, value));
    out
}

fn warnings(recording: &Recording, summary: &Summary) -> String {
    let notes =
        recording.log().into_iter().flat_map(|log| &log.notes).map(|note| format!("\nNote: {note}\n"));
    notes.chain(summary.warnings.iter().map(|warning| format!("\nWarning: {warning}\n"))).collect()
}

/// What the text is made of.
struct Shown<'s> {
    sites: &'s [CallSite],
    width: usize,
    all: bool,
    /// How many parts of the loop nest.
    parts: usize,
}

impl Shown<'_> {
    fn nest(&self, nest: &[Nest], rank: u32) -> String {
        format!("\nLoop nest of rank {rank}\n{}", self.loops(nest))
    }

    fn loops(&self, nest: &[Nest]) -> String {
        let mut out = String::new();
        let parts = Parts::of(nest, self.parts, self.all);
        self.body(nest, 1, (&parts, 0), &mut out);
        match parts.left_out() {
            0 => {}
            n => {
                let _ = writeln!(out, "… {} of the nest; -v shows all", counted(n as u64, "more part"));
            }
        }
        out
    }

    /// The parts of a body, each on a line or more; the first of them is part `first` of the nest.
    fn body(&self, body: &[Nest], depth: usize, (parts, first): (&Parts, usize), out: &mut String) {
        let (mut next, mut number) = (0, first);
        for (at, part) in body.iter().enumerate() {
            let own = number;
            number += size(part);
            if !parts.are_shown[own] {
                continue;
            }
            left_out(&body[next..at], depth, out);
            next = at + 1;
            match part {
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
                    self.body(inner, depth + 1, (parts, own + 1), out);
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
        let sites = by_time(self.sites);
        let n = if self.all { sites.len() } else { sites.len().min(MOST_SITES) };
        // The hash names a marker; where lines are short, callers say more.
        let with_hash = self.all || self.width >= WIDE;
        let hash = |hash: &str| if with_hash { format!("  {hash:<8}") } else { String::new() };
        let mut out = format!(
            "\n{:<22}{:>12}{:>16}{:>12}{}  Call path\n",
            "Call",
            "Count",
            "Bytes",
            "Time",
            hash("Hash")
        );
        for site in &sites[..n] {
            let count = grouped_digits(site.count);
            let bytes = site.bytes.map_or_else(|| "?".to_owned(), grouped_digits);
            let (time, hash) = (site.time.to_string(), hash(&site.hash));
            let line = format!("{:<22}{count:>12}{bytes:>16}{time:>12}{hash}  ", site.call);
            let room = self.width.saturating_sub(line.chars().count());
            let _ = writeln!(out, "{line}{}", callers(&site.callers, room));
        }
        if n < sites.len() {
            let _ = writeln!(out, "… {} more; -v shows all", grouped_digits((sites.len() - n) as u64));
        }
        out.push_str(
            "Bytes are those that calls name; what arrives may be less than a receive has room for.\n",
        );
        out.extend(about_bytes(&sites[..n]));
        out
    }
}

/// What else is to be known of the bytes of call sites.
fn about_bytes(sites: &[&CallSite]) -> Vec<&'static str> {
    let unknown = sites.iter().any(|site| site.bytes.is_none());
    let unknown =
        unknown.then_some("Of calls with a ? they are not known: a recording has no arguments of these.\n");
    let starts = sites.iter().any(|site| site.call.starts_with("MPI_Start"));
    let starts = starts.then_some(
        "Those of a persistent operation are told where it is made, once, and not where it is started.\n",
    );
    unknown.into_iter().chain(starts).collect()
}

/// Which parts of a nest are shown, by their number: that of a loop stands before those of its
/// body.
struct Parts {
    are_shown: Vec<bool>,
}

impl Parts {
    /// All, or at most so many: those with the most events, a loop before its body, and of each
    /// body a few.
    fn of(nest: &[Nest], most: usize, all: bool) -> Self {
        let mut are_shown = vec![all; nest.iter().map(size).sum()];
        if !all {
            let mut flat = Vec::with_capacity(are_shown.len());
            flatten(nest, &mut flat);
            let mut open = BinaryHeap::new();
            offer(nest, 0, &mut open);
            for _ in 0..most {
                let Some((_, Reverse(number))) = open.pop() else { break };
                are_shown[number] = true;
                if let Nest::Loop(body, ..) = flat[number] {
                    offer(body, number + 1, &mut open);
                }
            }
        }
        Self { are_shown }
    }

    fn left_out(&self) -> usize {
        self.are_shown.iter().filter(|shown| !**shown).count()
    }
}

/// The parts of a nest by their number.
fn flatten<'n>(body: &'n [Nest], flat: &mut Vec<&'n Nest>) {
    for part in body {
        flat.push(part);
        if let Nest::Loop(inner, ..) = part {
            flatten(inner, flat);
        }
    }
}

/// Offers the parts of a body to be shown, by their events; the first has this number.
fn offer(body: &[Nest], first: usize, open: &mut BinaryHeap<(u64, Reverse<usize>)>) {
    let mut number = first;
    let mut parts = Vec::with_capacity(body.len());
    for part in body {
        parts.push((events(part), Reverse(number)));
        number += size(part);
    }
    parts.sort_unstable_by(|a, b| b.cmp(a));
    open.extend(parts.into_iter().take(MOST_PARTS));
}

/// How many parts a part has, with itself.
fn size(nest: &Nest) -> usize {
    match nest {
        Nest::Call(..) => 1,
        Nest::Loop(body, ..) => 1 + body.iter().map(size).sum::<usize>(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 bytes were told of `MPI_Send_c`.
    #[test]
    fn bytes_that_are_not_known_are_not_0() {
        let site = |call, bytes| CallSite { call, bytes, count: 3, ..CallSite::default() };
        let told = |sites: &[CallSite]| Shown { sites, width: 80, all: true, parts: 30 }.sites();
        let text = told(&[site("MPI_Send", Some(24)), site("MPI_Send_c", None), site("MPI_Wait", Some(0))]);
        let bytes = |call: &str| {
            let line = text.lines().find(|line| line.starts_with(call)).expect("a line");
            line.split_whitespace().nth(2).expect("bytes").to_owned()
        };
        assert_eq!(["MPI_Send ", "MPI_Send_c ", "MPI_Wait "].map(bytes), ["24", "?", "0"], "{text}");
        assert!(text.contains("Of calls with a ?") && !text.contains("persistent"), "{text}");
        let text = told(&[site("MPI_Send_init", Some(24)), site("MPI_Start", Some(0))]);
        assert!(!text.contains('?') && text.contains("persistent"), "{text}");
    }

    /// A stripped program had 2,600 rows: each loop of a thousand had rows of its own.
    #[test]
    fn a_large_nest_is_cut_and_says_so() {
        let inner = |n| Nest::Loop((0..20).map(|_| Nest::Call(0, n)).collect(), 1, n);
        let nest: Vec<Nest> =
            (0..200).map(|i| Nest::Loop(vec![inner(1 + i), Nest::Call(0, 1)], 1, 1)).collect();
        let site = CallSite { call: "MPI_Send", ..CallSite::default() };
        let shown = |parts, all| {
            let sites = [site.clone()];
            Shown { sites: &sites, width: 80, all, parts }.loops(&nest)
        };
        let text = shown(30, false);
        assert!(text.lines().count() <= 61, "{text}");
        assert!(text.ends_with("… 4,570 more parts of the nest; -v shows all\n"), "{text}");
        // Those with the most events, and in the order of the nest.
        assert!(text.contains("loop: 200 iterations") && text.starts_with("  … "), "{text}");
        let all = shown(30, true);
        assert_eq!((all.lines().count(), all.contains('…')), (200 * 23, false));
        // Nothing is said of a nest that is shown in full.
        let small = [inner(3)];
        let sites = [site.clone()];
        let text = Shown { sites: &sites, width: 80, all: true, parts: 30 }.loops(&small);
        assert_eq!((text.lines().count(), text.contains("-v")), (21, false));
        let few = [Nest::Loop(vec![Nest::Call(0, 5)], 1, 5)];
        assert!(!Shown { sites: &sites, width: 80, all: false, parts: 30 }.loops(&few).contains('…'));
    }
}
