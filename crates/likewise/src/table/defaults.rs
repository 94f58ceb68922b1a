//! What to describe bursts by when nothing is said.

use super::{BurstTable, CounterColumn, Expr, Metric, MetricValues, Op, Operand};

/// Metrics that suit the trace, and why, in one line.
///
/// Instructions (logarithmic) and IPC if both counters are carried, as the
/// field does; else instructions and duration; else the two counters that the
/// most bursts carry, the more varying first among equals; else one counter
/// and duration; else duration alone. Counters that are
/// [silent](CounterColumn::is_silent) are as if they were not there. Where the
/// bursts that carry all of this hold less than half of the computing time:
/// instructions and duration, if those that carry instructions hold as much (rotating sets that have
/// instructions in common); else duration alone, which all bursts have, and why it is so.
///
/// # Complexity
/// O(n·c) for c counters.
#[must_use]
pub fn default_metrics(table: &BurstTable) -> (Vec<Metric>, String) {
    let (metrics, why) = by_counters(table);
    let all: u128 = table.duration.iter().map(|d| u128::from(d.0)).sum();
    // How much of the computing time has all of these.
    let share = |metrics: &[Metric]| {
        let values: Vec<MetricValues<'_>> = metrics.iter().filter_map(|m| m.evaluate(table).ok()).collect();
        let carried = |i: &usize| values.iter().all(|column| !column.get(*i).is_nan());
        let time: u128 = (0..table.len()).filter(carried).map(|i| u128::from(table.duration[i].0)).sum();
        time as f64 / all.max(1) as f64
    };
    let known = share(&metrics);
    if all == 0 || known >= MOST {
        return (metrics, why);
    }
    let lacking = metrics.iter().filter(|metric| share(std::slice::from_ref(metric)) < 1.0);
    let names: Vec<&str> = lacking.map(|metric| metric.name.as_str()).collect();
    let why = format!("{:.1}% of the computing time has no {}", 100.0 * (1.0 - known), names.join(" or "));
    let duration = Metric::new(Operand::Duration.to_string(), Expr::One(Operand::Duration));
    match &metrics[..] {
        [instructions, ipc] if ipc.name == IPC && share(std::slice::from_ref(instructions)) >= MOST => {
            (vec![instructions.clone(), duration], format!("instructions and duration (logarithms); {why}"))
        }
        _ => (vec![duration], format!("{why}: bursts are grouped by duration (logarithm) alone")),
    }
}

/// Instructions per cycle.
const IPC: &str = "IPC";

/// Counters describe the bursts if those that carry them hold at least this
/// share of the computing time. It is 99 % or more in EPOCH and LULESH, and
/// what multiplexed counters make of it, a half of two sets, is enough.
const MOST: f64 = 0.5;

fn by_counters(table: &BurstTable) -> (Vec<Metric>, String) {
    let of = |operand: Operand| Metric::new(operand.to_string(), Expr::One(operand));
    let counter = |column: &CounterColumn| Operand::Counter(column.counter.name.clone());
    let duration = || Operand::Duration;
    let known = |preset: &str| {
        let column = table.counters.iter().find(|c| c.counter.preset() == Some(preset))?;
        let works = column.values.iter().any(|x| !x.is_nan()) && !column.is_silent(&table.duration);
        works.then_some(column)
    };
    let instructions = known("PAPI_TOT_INS");
    let cycles = known("PAPI_TOT_CYC");
    if let (Some(instructions), Some(cycles)) = (instructions, cycles) {
        let ipc = Expr::Two(counter(instructions), Op::Div, counter(cycles));
        let metrics = vec![of(counter(instructions)), Metric::new(IPC, ipc)];
        return (metrics, "instructions (logarithm) and IPC".to_owned());
    }
    if let Some(instructions) = instructions {
        let why = "instructions and duration (logarithms); the trace has no PAPI_TOT_CYC for IPC";
        return (vec![of(counter(instructions)), of(duration())], why.to_owned());
    }
    let no_instructions = "the trace has no PAPI_TOT_INS";
    // Beside the duration, CPU time says little, and short bursts lack it.
    let is_work = |c: &&CounterColumn| !c.counter.is_cpu_time() && !c.is_silent(&table.duration);
    let working: Vec<&CounterColumn> = table.counters.iter().filter(is_work).collect();
    if working.is_empty() && !table.counters.is_empty() {
        return (vec![of(duration())], format!("duration (logarithm); {no_instructions}"));
    }
    let Some(first) = best_of(working.iter().copied(), |_| true) else {
        return (vec![of(duration())], "duration (logarithm); no burst carries a counter".to_owned());
    };
    let with_first = |i: usize| !first.values.get(i).is_nan();
    let second = best_of(working.iter().copied().filter(|c| !std::ptr::eq(*c, first)), with_first);
    let (a, b) = (&first.counter.name, second.map(|c| &c.counter.name));
    let why = match b {
        Some(b) => format!("{a} and {b} (logarithms), which most bursts carry; {no_instructions}"),
        None => format!("{a} and duration (logarithms); {no_instructions}"),
    };
    (vec![of(counter(first)), of(second.map_or_else(duration, counter))], why)
}

/// The counter that most of those bursts carry, non-negative; among equals the
/// one with the largest coefficient of variation, then the first.
fn best_of<'a>(
    columns: impl Iterator<Item = &'a CounterColumn>,
    row: impl Fn(usize) -> bool,
) -> Option<&'a CounterColumn> {
    let mut found: Option<((usize, f64), &CounterColumn)> = None;
    for column in columns {
        let carried =
            || column.values.iter().enumerate().filter(|&(i, x)| x >= 0.0 && row(i)).map(|(_, x)| x);
        let n = carried().count();
        let mean = carried().sum::<f64>() / n as f64;
        let variance = carried().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        let variation = if mean > 0.0 { variance.sqrt() / mean } else { 0.0 };
        if n > 0 && found.is_none_or(|(best, _)| (n, variation) > best) {
            found = Some(((n, variation), column));
        }
    }
    found.map(|(_, column)| column)
}

#[cfg(test)]
mod tests {
    use super::super::{Counter, Nanos};
    use super::*;

    const NAN: f64 = f64::NAN;

    fn names(counters: &[(&str, [f64; 3])]) -> (Vec<String>, String) {
        let column = |(name, values): &(&str, [f64; 3])| CounterColumn {
            counter: Counter { event_type: None, name: (*name).to_owned(), description: String::new() },
            values: values.to_vec().into(),
        };
        let table = BurstTable {
            app: vec![1; 3].into(),
            task: vec![1; 3].into(),
            thread: vec![1; 3].into(),
            begin: vec![Nanos(0); 3],
            duration: vec![Nanos(5); 3],
            counters: counters.iter().map(column).collect(),
            code: None,
        };
        let (metrics, why) = default_metrics(&table);
        assert!(metrics.iter().all(|m| m.evaluate(&table).is_ok()));
        (metrics.iter().map(|m| format!("{}={},{}", m.name, m.expr, m.log)).collect(), why)
    }

    #[test]
    fn instructions_and_ipc_where_both_are_carried() {
        let both = names(&[("PAPI_TOT_INS", [1.0, 2.0, 3.0]), ("PAPI_TOT_CYC", [NAN, 2.0, 1.0])]);
        assert_eq!(both.0, ["PAPI_TOT_INS=PAPI_TOT_INS,true", "IPC=PAPI_TOT_INS / PAPI_TOT_CYC,false"]);
        let one = names(&[("PAPI_TOT_INS", [1.0, 2.0, 3.0]), ("PAPI_TOT_CYC", [NAN; 3])]);
        assert_eq!(one.0, ["PAPI_TOT_INS=PAPI_TOT_INS,true", "duration=duration,true"]);
        assert!(one.1.contains("no PAPI_TOT_CYC"));
    }

    #[test]
    fn of_sets_that_have_instructions_in_common_these_describe() {
        let (found, why) = names(&[("PAPI_TOT_INS", [1.0, 2.0, 3.0]), ("PAPI_TOT_CYC", [NAN, NAN, 1.0])]);
        assert_eq!(found, ["PAPI_TOT_INS=PAPI_TOT_INS,true", "duration=duration,true"]);
        assert!(why.ends_with("; 66.7% of the computing time has no IPC"), "{why}");
        let (found, why) = names(&[("PAPI_TOT_INS", [NAN, NAN, 3.0]), ("PAPI_TOT_CYC", [NAN, NAN, 1.0])]);
        assert_eq!(found, ["duration=duration,true"]);
        assert!(why.starts_with("66.7% of the computing time has no PAPI_TOT_INS or IPC: "), "{why}");
    }

    #[test]
    fn else_the_most_complete_then_the_most_varying() {
        let (found, why) = names(&[
            ("RARE", [NAN, NAN, 9.0]),
            ("FLAT", [5.0; 3]),
            ("VARIES", [1.0, 5.0, 9.0]),
            ("HALF", [1.0, NAN, 9.0]),
        ]);
        assert_eq!(found, ["VARIES=VARIES,true", "FLAT=FLAT,true"]);
        assert!(why.starts_with("VARIES and FLAT"));
    }

    #[test]
    fn a_counter_that_is_0_nearly_everywhere_describes_nothing() {
        let silent = names(&[("PAPI_TOT_INS", [1.0, 2.0, 3.0]), ("PAPI_TOT_CYC", [0.0; 3])]);
        assert_eq!(silent.0, ["PAPI_TOT_INS=PAPI_TOT_INS,true", "duration=duration,true"]);
        let (found, _) = names(&[("A", [0.0; 3]), ("B", [1.0, NAN, 3.0])]);
        assert_eq!(found, ["B=B,true", "duration=duration,true"]);
    }

    #[test]
    fn cycles_and_instructions_are_known_by_their_labels() {
        let counter = |name: &str, description: &str| Counter {
            event_type: Some(42_000_060),
            name: name.to_owned(),
            description: description.to_owned(),
        };
        assert_eq!(counter("CYCLES_X", "Total cycles").preset(), Some("PAPI_TOT_CYC"));
        assert_eq!(counter("Total cycles", "").preset(), Some("PAPI_TOT_CYC"));
        assert_eq!(counter("x", "Instr completed").preset(), Some("PAPI_TOT_INS"));
        assert_eq!(counter("42000059", "").preset(), Some("PAPI_TOT_CYC"));
        assert_eq!(counter("42000060", "").preset(), None);
        assert_eq!(counter("PAPI_REF_CYC", "Total cycles").preset(), None);
        assert_eq!(counter("papi_tot_ins", "").preset(), Some("PAPI_TOT_INS"));
        assert_eq!(counter("Completed instructions (PAPI_TOT_INS)", "").preset(), Some("PAPI_TOT_INS"));
        assert_eq!(counter("PAPI_L2_DCM/PAPI_TOT_INS", "").preset(), None);
        assert_eq!(counter("L2 misses", "misses per PAPI_TOT_INS").preset(), None);
        assert_eq!(counter("NOT_PAPI_TOT_INS_X", "").preset(), None);
    }

    #[test]
    fn where_most_of_the_time_has_no_counters_duration_describes() {
        let most = names(&[("PAPI_TOT_INS", [1.0, 2.0, NAN]), ("PAPI_TOT_CYC", [1.0, 2.0, NAN])]);
        assert_eq!(most.0.len(), 2);
        let (found, why) = names(&[("PAPI_TOT_INS", [1.0, NAN, NAN]), ("PAPI_TOT_CYC", [1.0, NAN, NAN])]);
        assert_eq!(found, ["duration=duration,true"]);
        assert!(why.starts_with("66.7% of the computing time has no PAPI_TOT_INS or IPC"), "{why}");
    }

    #[test]
    fn counters_that_no_burst_carries_together_are_not_paired() {
        let (found, _) = names(&[("A", [1.0, 2.0, NAN]), ("B", [NAN, NAN, 3.0])]);
        assert_eq!(found, ["A=A,true", "duration=duration,true"]);
        assert_eq!(names(&[("A", [NAN; 3])]).0, ["duration=duration,true"]);
        assert_eq!(names(&[]).0, ["duration=duration,true"]);
    }
}
