//! Names of metrics and counters, beside those of the result's own columns.

use crate::Usage;
use anyhow::Result;
use likewise::table::{BurstTable, CounterColumn, Expr, Metric, Operand};
use std::collections::BTreeSet;

/// A burst's own duration.
const DURATION: Expr = Expr::One(Operand::Duration);

/// Whether a column of the result has that name already.
fn is_reserved(name: &str) -> bool {
    const COLUMNS: [&str; 6] = ["app", "task", "thread", "begin_ns", "duration_ns", "cluster"];
    COLUMNS.iter().any(|column| name.eq_ignore_ascii_case(column)) || name.starts_with("n_")
}

/// Refuses metrics whose names the columns of the result have already.
pub(super) fn check_names(metrics: &[Metric]) -> Result<()> {
    for Metric { name, expr, .. } in metrics {
        let why = if name.eq_ignore_ascii_case("duration") && *expr != DURATION {
            "the burst's own duration"
        } else if is_reserved(name) {
            "a column of bursts.csv"
        } else {
            continue;
        };
        return Err(Usage(format!("the name '{name}' is taken by {why}; name that metric otherwise")).into());
    }
    Ok(())
}

/// Renames counters whose names are already taken by columns of the result or
/// by other counters. Line breaks in names become spaces.
pub fn rename_counters(table: &mut BurstTable) -> Vec<String> {
    let mut taken = BTreeSet::new();
    // Every counter that can keep its name does, wherever its column stands.
    let keep = |column: &CounterColumn| {
        let name = &column.counter.name;
        !name.contains(char::is_control) && !is_column(name) && taken.insert(name.clone())
    };
    let kept: Vec<bool> = table.counters.iter().map(keep).collect();
    let mut notes = Vec::new();
    for (column, _) in table.counters.iter_mut().zip(kept).filter(|(_, kept)| !kept) {
        let name = column.counter.name.replace(char::is_control, " ");
        column.counter.name = free_name(&name, &taken);
        notes.extend(renamed(&name, &column.counter.name));
        taken.insert(column.counter.name.clone());
    }
    notes
}

/// Refuses a metric that has the name of a counter but other values, because it
/// would hide the counter. If the program itself named the metric, the counter
/// gets another name instead.
///
/// # Errors
/// [`Usage`].
pub(super) fn check_counters(metrics: &[Metric], asked: bool, table: &mut BurstTable) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for metric in metrics {
        let Some(place) = table.counters.iter().position(|c| c.counter.name == metric.name) else { continue };
        // What it lacks is said when it is prepared.
        let Ok(values) = metric.evaluate(table) else { continue };
        let same = |(a, b): (f64, f64)| a == b || a.is_nan() && b.is_nan();
        if values.iter().zip(table.counters[place].values.iter()).all(same) {
            continue;
        }
        let name = &metric.name;
        if asked {
            let text = format!(
                "the name '{name}' is taken by a counter, and the metric is '{}'; name that metric otherwise",
                metric.expr
            );
            return Err(Usage(text).into());
        }
        let taken = table.counters.iter().map(|c| c.counter.name.clone()).collect();
        let new = free_name(name, &taken);
        notes.extend(renamed(name, &new));
        table.counters[place].counter.name = new;
    }
    Ok(notes)
}

/// Whether a column of the result, or the burst's own duration, has that name.
fn is_column(name: &str) -> bool {
    is_reserved(name) || name.eq_ignore_ascii_case("duration")
}

/// `name`, or what is free of `counter_name`, `counter_counter_name`, and so on.
fn free_name(name: &str, taken: &BTreeSet<String>) -> String {
    let mut free = name.to_owned();
    while is_column(&free) || taken.contains(&free) {
        free.insert_str(0, "counter_");
    }
    free
}

fn renamed(name: &str, new: &str) -> Option<String> {
    (name != new).then(|| format!("The counter '{name}' is called '{new}' here: its name is taken."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::table::{Counter, Nanos};

    fn checked(spec: &str) -> Result<()> {
        check_names(&[spec.parse().expect("a metric")])
    }

    #[test]
    fn a_metric_has_no_name_of_a_column() {
        for taken in
            ["cluster=PAPI_TOT_INS", "Task=PAPI_TOT_INS", "n_x=PAPI_TOT_INS", "duration=PAPI_TOT_INS"]
        {
            let error = checked(taken).expect_err(taken);
            assert!(error.is::<Usage>() && error.to_string().contains("is taken by"), "{error}");
        }
        for free in ["duration", "clusters=PAPI_TOT_INS", "IPC=PAPI_TOT_INS/PAPI_TOT_CYC"] {
            checked(free).expect(free);
        }
    }

    /// One burst, whose counters are 0, 1, 2 and so on.
    fn table(names: &[&str]) -> BurstTable {
        let column = |(i, name): (usize, &&str)| CounterColumn {
            counter: Counter { event_type: None, name: (*name).to_owned(), description: String::new() },
            values: vec![i as f64].into(),
        };
        BurstTable {
            app: vec![1].into(),
            task: vec![1].into(),
            thread: vec![1].into(),
            begin: vec![Nanos(0)],
            duration: vec![Nanos(5)],
            counters: names.iter().enumerate().map(column).collect(),
            ..BurstTable::default()
        }
    }

    fn counters(table: &BurstTable) -> Vec<&str> {
        table.counters.iter().map(|c| c.counter.name.as_str()).collect()
    }

    #[test]
    fn no_two_counters_have_one_name() {
        let mut names = table(&["cluster", "counter_cluster", "A\nB", "A B", "A\tB", "A B"]);
        let notes = rename_counters(&mut names);
        assert_eq!(
            counters(&names),
            [
                "counter_counter_cluster",
                "counter_cluster",
                "counter_A B",
                "A B",
                "counter_counter_A B",
                "counter_counter_counter_A B"
            ]
        );
        assert_eq!(notes.len(), 4, "{notes:?}");
    }

    #[test]
    fn a_metric_hides_no_counter() {
        let mut carried = table(&["PAPI_TOT_INS", "PAPI_TOT_CYC", "IPC"]);
        let metric = |spec: &str| vec![spec.parse::<Metric>().expect("a metric")];
        let error = check_counters(&metric("PAPI_TOT_INS=PAPI_TOT_CYC"), true, &mut carried)
            .expect_err("it hides the counter");
        assert!(error.is::<Usage>() && error.to_string().contains("taken by a counter"), "{error}");
        for fine in ["PAPI_TOT_INS", "PAPI_TOT_INS=PAPI_TOT_INS,log", "X=PAPI_TOT_CYC"] {
            assert_eq!(check_counters(&metric(fine), true, &mut carried).expect(fine), [""; 0]);
        }
        let notes = check_counters(&metric("IPC=PAPI_TOT_INS/PAPI_TOT_CYC"), false, &mut carried);
        assert_eq!(notes.expect("nobody asked for it").len(), 1);
        assert_eq!(counters(&carried), ["PAPI_TOT_INS", "PAPI_TOT_CYC", "counter_IPC"]);
    }

    #[test]
    fn a_counter_with_the_name_of_a_column_gets_another() {
        let names = ["Cluster", "duration", "n_calls", "cluster_", "PAPI\nTOT", "begin_ns\t"];
        let mut table = table(&names);
        let notes = rename_counters(&mut table);
        let renamed = counters(&table);
        let expected =
            ["counter_Cluster", "counter_duration", "counter_n_calls", "cluster_", "PAPI TOT", "begin_ns "];
        assert_eq!(renamed, expected);
        assert_eq!(notes.len(), 3);
        assert!(notes[0].contains("'Cluster' is called 'counter_Cluster'"), "{}", notes[0]);
    }
}
