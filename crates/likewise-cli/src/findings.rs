//! What to look at first, in words.

use crate::analysis::Analysis;
use crate::label::{FILTERED_THRESHOLD, NOISE};
use crate::report::FindingRow;
use likewise::bursts::{
    Cause, Finding, FindingKind, Findings, FindingsInput, LEAST_SHARE, ThreadName, findings,
};
use likewise::cluster::ClusterId;
use likewise::table::{BurstTable, Nanos, Prepared};
use serde_json::{Value, json};

/// What is worth most in the run; `None` of several applications, which do
/// not wait for one another.
pub(crate) fn found(table: &BurstTable, prepared: &Prepared, labels: &[u32], end: Nanos) -> Option<Findings> {
    if table.app.first() != table.app.last() {
        return None;
    }
    let is_phase = |&label: &u32| label != NOISE && label < FILTERED_THRESHOLD;
    let phase = |label: &u32| is_phase(label).then(|| ClusterId::from_index(*label as usize - 1));
    let phase: Vec<Option<ClusterId>> = labels.iter().map(phase).collect();
    // A table of bursts says no end.
    let last = (0..table.len()).map(|i| table.end(i)).fold(Nanos::ZERO, Nanos::max);
    let input = FindingsInput { table, phase: &phase, shortest: prepared.min_duration, end: end.max(last) };
    Some(findings(&input))
}

/// For the report, and above the table of phases.
pub(crate) fn rows(analysis: &Analysis) -> Vec<FindingRow> {
    let with_threads = analysis.table.thread.iter().any(|&thread| thread != 1);
    let row = |finding: &Finding| FindingRow {
        text: sentence(finding, with_threads),
        labels: finding.phases.iter().map(|id| id.number()).collect(),
    };
    analysis.findings.iter().flat_map(|found| &found.list).map(row).collect()
}

/// What is said where there is no finding.
pub(crate) fn verdict(analysis: &Analysis) -> String {
    match &analysis.findings {
        Some(found) if found.list.is_empty() && !analysis.table.is_empty() => format!(
            "Nothing stands out: no step, burst or phase is worth {} of the run. (An even spread of all work would \
             win {} at most; no thread computes in {} of the run.)",
            percent(LEAST_SHARE),
            percent(found.balance),
            percent(found.idle),
        ),
        _ => String::new(),
    }
}

/// `findings` of `summary.json`, worst first.
pub(crate) fn to_json(analysis: &Analysis) -> Value {
    let Some(found) = &analysis.findings else { return Value::Null };
    let with_threads = analysis.table.thread.iter().any(|&thread| thread != 1);
    let one = |finding: &Finding| {
        let mut tasks: Vec<u32> = finding.threads.iter().map(|name| name.task).collect();
        tasks.dedup();
        let mut value = json!({
            "kind": kind(finding.kind),
            "text": sentence(finding, with_threads),
            "share": finding.share,
            "phases": finding.phases.iter().map(|id| id.number()).collect::<Vec<_>>(),
            "noise": finding.noise,
            "tasks": tasks,
            "begin_ns": finding.begin.0,
        });
        if with_threads {
            value["threads"] = finding.threads.iter().map(|name| [name.task, name.thread]).collect();
        }
        match finding.kind {
            FindingKind::Imbalance { apart, cause, .. } => {
                value["apart"] = apart.into();
                value["cause"] = match cause {
                    Cause::Work => "work".into(),
                    Cause::Speed => "speed".into(),
                    Cause::Both => "both".into(),
                    Cause::Unknown => Value::Null,
                };
            }
            FindingKind::Serial { time } => value["time_ns"] = time.0.into(),
            FindingKind::SlowThreads { times, .. } => value["times"] = times.into(),
            FindingKind::OneOff { duration, others } => {
                value["duration_ns"] = duration.0.into();
                value["others_ns"] = others.map(|others| others.0).into();
            }
            FindingKind::LowIpc { ipc, others } => {
                value["ipc"] = ipc.into();
                value["ipc_of_others"] = others.into();
            }
        }
        value
    };
    found.list.iter().map(one).collect()
}

fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Imbalance { .. } => "imbalance",
        FindingKind::Serial { .. } => "serial",
        FindingKind::SlowThreads { .. } => "slow-ranks",
        FindingKind::OneOff { .. } => "one-off",
        FindingKind::LowIpc { .. } => "low-ipc",
    }
}

fn sentence(finding: &Finding, with_threads: bool) -> String {
    let steps = place(finding);
    let threads = threads(&finding.threads, with_threads);
    let win = percent(finding.share);
    let plural = if finding.threads.len() > 1 { "" } else { "s" };
    match finding.kind {
        FindingKind::Imbalance { apart, cause, steady } => {
            let why = match cause {
                Cause::Work => " with more instructions",
                Cause::Speed => " for the same instructions",
                Cause::Both | Cause::Unknown => "",
            };
            let last = match (steady, finding.threads.len()) {
                (true, 1..) => format!("{threads} take{plural} longest{why}"),
                _ => "another is last each time".to_owned(),
            };
            let one = finding.phases.len() + usize::from(finding.noise) > 1;
            let at = match finding.stretches {
                1 if one => format!(" are one step at {},", finding.begin),
                1 => format!(" at {}:", finding.begin),
                _ => ":".to_owned(),
            };
            let apart = percent(apart);
            format!(
                "{steps}{at} the slowest is {apart} above the mean, {last}. Even, {win} of the run would be won."
            )
        }
        FindingKind::Serial { time } => {
            let who = if finding.threads.is_empty() { "one thread".to_owned() } else { threads };
            let turn = if finding.threads.len() > 1 { ", one at a time" } else { "" };
            format!(
                "{steps}: serial. {} compute{plural} for {time} while all others wait{turn}. Spread over all, {win} \
                 of the run would be won.",
                capital(&who)
            )
        }
        FindingKind::SlowThreads { times, everywhere } => {
            let steps = if everywhere { "all phases".to_owned() } else { small(&steps) };
            format!(
                "{} take{plural} {times:.2} times as long as the others in {steps}, for the same instructions. As \
                 fast as the others, {win} of the run would be won.",
                capital(&threads)
            )
        }
        FindingKind::OneOff { duration, others: Some(others) } => format!(
            "{} take{plural} {duration} once, at {}, where the others take {others} ({}): {win} of the run.",
            capital(&threads),
            finding.begin,
            small(&steps),
        ),
        FindingKind::OneOff { duration, others: None } => {
            let what = if finding.threads.len() == 1 { "A burst" } else { "Bursts" };
            let to = if finding.threads.len() == 1 { "" } else { "up to " };
            format!(
                "{what} of {to}{duration} at {} on {threads} once, in no phase: {win} of the run.",
                finding.begin
            )
        }
        FindingKind::LowIpc { ipc, others } => format!(
            "{steps} has an IPC of {ipc:.2}, all else {others:.2}. At that IPC, {win} of the run would be won at \
             most."
        ),
    }
}

/// `Phases 4, 7 and noise`.
fn place(finding: &Finding) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<String> =
        finding.phases.iter().take(SHOWN).map(|id| id.number().to_string()).collect();
    if finding.phases.len() > SHOWN {
        names.push(format!("{} more", finding.phases.len() - SHOWN));
    }
    match (names.is_empty(), finding.noise) {
        (true, _) => "Bursts of no phase".to_owned(),
        (false, noise) => {
            if noise {
                names.push("noise".to_owned());
            }
            let word = if names.len() > 1 { "Phases" } else { "Phase" };
            format!("{word} {}", listed(&names))
        }
    }
}

/// `task 3`, `tasks 1–4 and 7`, `thread 1.2`.
fn threads(names: &[ThreadName], with_threads: bool) -> String {
    const SHOWN: usize = 6;
    let mut runs: Vec<(ThreadName, ThreadName)> = Vec::new();
    let follows = |a: ThreadName, b: ThreadName| {
        if with_threads { a.task == b.task && a.thread + 1 == b.thread } else { a.task + 1 == b.task }
    };
    for &name in names {
        match runs.last_mut() {
            Some((_, last)) if follows(*last, name) => *last = name,
            _ => runs.push((name, name)),
        }
    }
    let one = |name: ThreadName| match with_threads {
        true => format!("{}.{}", name.task, name.thread),
        false => name.task.to_string(),
    };
    let run = |&(from, to): &(ThreadName, ThreadName)| match from == to {
        true => one(from),
        false => format!("{}–{}", one(from), one(to)),
    };
    let mut shown: Vec<String> = runs.iter().take(SHOWN).map(run).collect();
    if runs.len() > SHOWN {
        shown.push("others".to_owned());
    }
    let word = if with_threads { "thread" } else { "task" };
    format!("{word}{} {}", if names.len() == 1 { "" } else { "s" }, listed(&shown))
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn small(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
