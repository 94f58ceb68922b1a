//! Why a phase takes longer or shorter, in words.

use super::words::times;
use super::{cause, cause_of, per};
use likewise::bursts::scaling::{Change, Factor, FactorKind, Per, SlowTasks};
use likewise::table::Nanos;
use likewise::words::listed;

/// A factor is named as well if it costs at least this share, in logarithms, of
/// what the worst factor costs.
pub(super) const ALSO: f64 = 0.5;

/// Why the factor of time differs from 1.
const NO_INSTRUCTIONS: &str = "why cannot be told, as there are no instructions";
/// Why that of instructions per time does, where threads hardly run.
const HARDLY_RUNS: &str = "why cannot be told, as threads hardly run in it";

/// What differs by more than the clock.
const COUNTED: &str = "cycles counted per second";
/// Why it does.
const NOT_COUNTED: &str = "else time in the system, in locks or off the CPU";

/// The factors that cost most, with the others that cost much.
pub(super) fn losses(change: &Change) -> String {
    let name = |factor: &Factor| match factor.kind {
        FactorKind::LoadBalance if change.is_serial => "serial",
        FactorKind::Time => "more CPU time",
        kind => cause(kind),
    };
    let mut factors = change.factors.clone();
    factors.sort_by(|a, b| a.value.total_cmp(&b.value));
    match change.worst() {
        Some(worst) if worst.value < 1.0 || worst.kind == FactorKind::Time => told(change, &factors, name),
        _ => cause_of(change).to_owned(),
    }
}

pub(super) fn gains(change: &Change) -> String {
    let mut factors = change.factors.clone();
    factors.sort_by(|a, b| b.value.total_cmp(&a.value));
    let name = |factor: &Factor| match factor.kind {
        FactorKind::Time => "less CPU time",
        kind => gain(kind),
    };
    told(change, &factors, name)
}

/// The first factor, and those that do half as much in the same direction. A factor of which nobody
/// knows the reason comes last.
fn told(change: &Change, factors: &[Factor], name: impl Fn(&Factor) -> &'static str) -> String {
    let Some(first) = factors.first() else { return String::new() };
    let most = first.value.ln();
    let much =
        factors.iter().filter(|factor| std::ptr::eq(*factor, first) || factor.value.ln() / most >= ALSO);
    let (unknown, known): (Vec<&Factor>, Vec<&Factor>) =
        much.partition(|factor| why_unknown(change, factor).is_some());
    let named = |f: &&Factor| match change.clock.filter(|_| f.kind == FactorKind::Frequency) {
        None => format!("{}, × {}", name(f), times(f.value)),
        Some(clock) => {
            let more = if f.value < 1.0 { "fewer" } else { "more" };
            format!("{more} {COUNTED}, × {} (clock × {}; {NOT_COUNTED})", times(f.value), times(clock))
        }
    };
    let mut parts: Vec<String> = known.iter().map(named).collect();
    for factor in &unknown {
        let why = why_unknown(change, factor).unwrap_or_default();
        match (parts.is_empty(), change.in_cpu) {
            (true, None) => parts.push(why.to_owned()),
            (false, None) => parts.push(format!("and × {}, {why}", times(factor.value))),
            // Of CPU time at least it can be said that it is so.
            (_, Some(_)) => parts.push(format!("{}; {why}", named(factor))),
        }
    }
    parts.join("; ")
}

/// Why the reason for a factor cannot be told.
fn why_unknown(change: &Change, factor: &Factor) -> Option<&'static str> {
    match factor.kind {
        FactorKind::Time => Some(NO_INSTRUCTIONS),
        FactorKind::Rate if change.hardly_runs => Some(HARDLY_RUNS),
        _ => None,
    }
}

/// `tasks 4 and 9 take 2.00 times as long (lower IPC, × 0.50), …`.
///
/// Where times are of whole runs, `iterations` are those they are of.
pub(super) fn slow_tasks(slow: &SlowTasks, of: Per, iterations: Option<u64>) -> String {
    let odd = &slow.odd;
    let several_apps = odd.tasks.windows(2).any(|two| two[0].0 != two[1].0);
    let name =
        |&(app, task): &(u32, u32)| if several_apps { format!("{app}.{task}") } else { task.to_string() };
    let names: Vec<String> = odd.tasks.iter().map(name).collect();
    let (who, take) = match &names[..] {
        [one] => (format!("task {one}"), "takes"),
        more => (format!("tasks {}", listed(more)), "take"),
    };
    let worst = slow.factors.iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let why = worst.filter(|f| f.value < 1.0 && f.kind != FactorKind::Time);
    let why = why.map(|f| format!(" ({}, × {})", cause(f.kind), times(f.value))).unwrap_or_default();
    let each = match (of, iterations) {
        (Per::Run, None) => "in all".to_owned(),
        (Per::Run, Some(_)) => "per iteration".to_owned(),
        _ => format!("per {}", per(of)),
    };
    let lost = Nanos((odd.lost / iterations.unwrap_or(1) as f64) as u64);
    format!(
        "{who} {take} {:.2} times as long{why}, where the others take {:.2} times as long; {} {lost} {each}",
        odd.factor,
        odd.others,
        if names.len() == 1 { "it loses" } else { "they lose, on average," }
    )
}

/// A factor for people, as the cause of a gain.
fn gain(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Instructions => "fewer instructions",
        FactorKind::Ipc => "higher IPC",
        FactorKind::Frequency => "more cycles per second",
        FactorKind::Rate => "more instructions per second",
        FactorKind::Time => "less computing time",
        FactorKind::LoadBalance => "load balance",
        FactorKind::OnCore => "more of the time on a core",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(factors: &[(FactorKind, f64)]) -> Change {
        let factors: Vec<Factor> = factors.iter().map(|&(kind, value)| Factor { kind, value }).collect();
        let efficiency = factors.iter().map(|factor| factor.value).product();
        Change {
            speedup: efficiency,
            efficiency,
            beyond_chance: efficiency,
            is_serial: false,
            factors,
            in_cpu: None,
            hardly_runs: false,
            clock: None,
        }
    }

    /// Load balance is known without instructions, and was not named.
    #[test]
    fn what_is_known_is_named_beside_what_is_not() {
        use FactorKind::{Instructions, Ipc, LoadBalance, Time};
        let both = losses(&of(&[(Time, 0.453), (LoadBalance, 0.455)]));
        assert_eq!(both, format!("load balance, × 0.46; and × 0.45, {NO_INSTRUCTIONS}"));
        assert_eq!(losses(&of(&[(Time, 0.4), (LoadBalance, 0.45)])).split(", ").next(), Some("load balance"));
        assert_eq!(losses(&of(&[(Time, 0.4), (LoadBalance, 0.9)])), NO_INSTRUCTIONS, "it costs little");
        assert_eq!(gains(&of(&[(Time, 2.5), (LoadBalance, 0.9)])), NO_INSTRUCTIONS);
        assert_eq!(losses(&of(&[(Instructions, 0.9), (Ipc, 0.5)])), "lower IPC, × 0.50");
    }

    /// "Fewer cycles per second, × 0.77" was told where the clock was × 0.91.
    #[test]
    fn cycles_that_are_not_counted_are_no_clock() {
        use FactorKind::{Frequency, Ipc};
        let factors = [(Frequency, 0.77), (Ipc, 0.98)];
        let told = losses(&of(&factors).clocked(0.91));
        let begin = "fewer cycles counted per second, × 0.77 (clock × 0.91; ";
        assert!(told.starts_with(begin), "{told}");
        assert_eq!(cause_of(&of(&factors).clocked(0.91)), "fewer cycles counted per second");
        assert_eq!(losses(&of(&factors).clocked(0.78)), "fewer cycles per second, × 0.77");
        assert_eq!(losses(&of(&[(Ipc, 0.5)]).clocked(0.78)), "lower IPC, × 0.50");
        let more = gains(&of(&[(Frequency, 1.3)]).clocked(1.0));
        assert!(more.starts_with("more cycles counted per second, × 1.30 (clock"), "{more}");
    }

    #[test]
    fn how_fast_threads_run_that_hardly_run_is_no_reason() {
        use FactorKind::{Instructions, LoadBalance, Rate};
        let hardly = |factors| Change { hardly_runs: true, ..of(factors) };
        assert_eq!(gains(&hardly(&[(Instructions, 1.1), (Rate, 12.0)])), HARDLY_RUNS);
        assert_eq!(losses(&hardly(&[(LoadBalance, 0.1), (Rate, 0.9)])), "load balance, × 0.10");
        let both = losses(&hardly(&[(Instructions, 0.1), (Rate, 0.05)]));
        assert_eq!(both, format!("more instructions, × 0.10; and × 0.050, {HARDLY_RUNS}"));
        assert_eq!(losses(&of(&[(LoadBalance, 0.9), (Rate, 0.1)])), "fewer instructions per second, × 0.10");
    }
}
