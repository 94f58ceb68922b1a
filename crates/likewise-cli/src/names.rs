//! Names of metrics and counters, beside those of the result's own columns.

use crate::cli::Usage;
use anyhow::Result;
use likewise::table::{BurstTable, Expr, Metric, Operand};

/// A burst's own duration.
const DURATION: Expr = Expr::One(Operand::Duration);

/// Whether a column of the result has that name already.
fn is_reserved(name: &str) -> bool {
    const COLUMNS: [&str; 6] = ["app", "task", "thread", "begin_ns", "duration_ns", "cluster"];
    COLUMNS.iter().any(|column| name.eq_ignore_ascii_case(column)) || name.starts_with("n_")
}

/// Refuses metrics whose names the columns of the result have already.
pub(crate) fn check_names(metrics: &[Metric]) -> Result<()> {
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

/// Counters whose names the columns of the result have already get another;
/// line breaks in names become spaces.
pub(crate) fn rename_counters(table: &mut BurstTable) -> Vec<String> {
    let mut notes = Vec::new();
    for column in &mut table.counters {
        let name = &mut column.counter.name;
        *name = name.replace(char::is_control, " ");
        if is_reserved(name) || name.eq_ignore_ascii_case("duration") {
            let new = format!("counter_{name}");
            notes.push(format!("The counter '{name}' is called '{new}' here: its name is taken."));
            *name = new;
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::table::{Counter, CounterColumn};

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

    #[test]
    fn a_counter_with_the_name_of_a_column_gets_another() {
        let column = |name: &str| CounterColumn {
            counter: Counter { event_type: None, name: name.to_owned(), description: String::new() },
            values: Vec::new(),
        };
        let names = ["Cluster", "duration", "n_calls", "cluster_", "PAPI\nTOT", "begin_ns\t"];
        let mut table =
            BurstTable { counters: names.iter().map(|name| column(name)).collect(), ..BurstTable::default() };
        let notes = rename_counters(&mut table);
        let renamed: Vec<&str> = table.counters.iter().map(|c| c.counter.name.as_str()).collect();
        let expected =
            ["counter_Cluster", "counter_duration", "counter_n_calls", "cluster_", "PAPI TOT", "begin_ns "];
        assert_eq!(renamed, expected);
        assert_eq!(notes.len(), 3);
        assert!(notes[0].contains("'Cluster' is called 'counter_Cluster'"), "{}", notes[0]);
    }
}
