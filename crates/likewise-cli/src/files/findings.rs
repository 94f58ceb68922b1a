//! What to look at first, for programs.

use likewise::bursts::{Cause, Finding, FindingKind, How, Scope};
use likewise::table::Nanos;
use likewise_analysis::phases::{Analysis, findings::sentences};
use serde_json::{Value, json};

/// `findings` of `summary.json`, worst first.
pub(crate) fn to_json(analysis: &Analysis) -> Value {
    let Some(found) = &analysis.findings else { return Value::Null };
    let with_threads = analysis.table.thread.runs().any(|(thread, _)| thread != 1);
    let of_file = |time: Nanos| time.saturating_add(analysis.origin).0;
    let one = |(finding, text): (&Finding, String)| {
        let mut tasks: Vec<u32> = finding.threads.iter().map(|name| name.task).collect();
        tasks.dedup();
        let mut value = json!({
            "kind": kind(finding.kind),
            "text": text,
            "share": finding.share,
            "phases": finding.phases.iter().map(|id| id.number()).collect::<Vec<_>>(),
            "noise": finding.noise,
            "tasks": tasks,
            "begin_ns": of_file(finding.begin),
        });
        if with_threads {
            value["scope"] = if finding.scope == Scope::Run { "run" } else { "task" }.into();
            value["threads"] = finding.threads.iter().map(|name| [name.task, name.thread]).collect();
        }
        if let FindingKind::Imbalance { .. } | FindingKind::SlowThreads { .. } | FindingKind::Slower { .. } =
            finding.kind
        {
            value["from_ns"] = finding.from.map(of_file).into();
            value["until_ns"] = finding.until.map(of_file).into();
        }
        of_kind(&mut value, finding);
        value
    };
    found.list.iter().zip(sentences(analysis)).map(one).collect()
}

/// What each kind has of its own.
fn of_kind(value: &mut Value, finding: &Finding) {
    match finding.kind {
        FindingKind::Imbalance { apart, cause, times, only, .. } => {
            value["times"] = times.into();
            value["only"] = only.into();
            value["apart"] = apart.into();
            value["cause"] = match cause {
                Cause::Work => "work".into(),
                Cause::Speed => "speed".into(),
                Cause::Both => "both".into(),
                Cause::Unknown => Value::Null,
            };
            value["gradient"] = finding.gradient.is_some().into();
            value["at_other_times"] = finding.at_other_times.into();
        }
        FindingKind::Serial { time, alone } => {
            value["time_ns"] = time.0.into();
            value["alone_ns"] = alone.0.into();
            value["before_ns"] = finding.before.0.into();
            value["behind_ns"] = finding.behind.0.into();
            value["at_other_times"] = finding.at_other_times.into();
        }
        FindingKind::SlowThreads { times, how, .. } => {
            value["times"] = times.into();
            value["slower_by"] = slower_by(how);
        }
        FindingKind::Slower { times, by_degrees, how, .. } => {
            value["times"] = times.into();
            value["slower_by"] = slower_by(how);
            value["by_degrees"] = by_degrees.into();
        }
        FindingKind::OneOff { bursts, same, duration, others, itself, alone } => {
            value["bursts"] = bursts.into();
            value["same_threads"] = same.into();
            value["duration_ns"] = duration.0.into();
            value["others_ns"] = others.map(|others| others.0).into();
            value["itself"] = itself.into();
            value["alone"] = alone.into();
        }
        FindingKind::LowIpc { ipc, others, .. } => {
            value["ipc"] = ipc.into();
            value["ipc_of_others"] = others.into();
        }
        FindingKind::Asleep { bursts, duration, by_cycles, .. } => {
            value["bursts"] = bursts.into();
            value["duration_ns"] = duration.0.into();
            value["by"] = if by_cycles { "cycles" } else { "cpu-time" }.into();
        }
    }
}

fn slower_by(how: How) -> Value {
    match how {
        How::Clock => "clock".into(),
        How::OffCore => "off-core".into(),
        How::Ipc => "ipc".into(),
        How::Unknown => Value::Null,
    }
}

fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Imbalance { .. } => "imbalance",
        FindingKind::Serial { .. } => "serial",
        FindingKind::SlowThreads { .. } => "slow-ranks",
        FindingKind::Slower { .. } => "slower",
        FindingKind::OneOff { .. } => "one-off",
        FindingKind::LowIpc { .. } => "low-ipc",
        FindingKind::Asleep { .. } => "asleep",
    }
}
