//! `loadings.csv`: how each column loads on the factors.

use crate::files::push_number;
use crate::output::csv_cell;
use likewise::counters::loadings::Rotated;
use likewise_analysis::counters::loadings::Factors;
use serde_json::{Value, json};
use std::io::{self, Write};

/// `loadings.csv`: a row per column.
pub(crate) fn write(factors: &Factors, out: &mut impl Write) -> io::Result<()> {
    write!(out, "column")?;
    (1..=factors.factors.len()).try_for_each(|factor| write!(out, ",factor_{factor}"))?;
    writeln!(out)?;
    let row = |name: &str, value: &dyn Fn(&Rotated) -> f64| {
        let mut line = csv_cell(name).into_bytes();
        for factor in &factors.factors {
            line.push(b',');
            push_number(value(factor), &mut line);
        }
        line.push(b'\n');
        line
    };
    for (at, name) in factors.columns.iter().enumerate() {
        out.write_all(&row(name, &|factor| factor.loadings[at]))?;
    }
    Ok(())
}

/// For `summary.json`.
pub(crate) fn to_json(factors: &Factors) -> Value {
    json!({
        "explained": factors.factors.iter().map(|factor| factor.explained).collect::<Vec<_>>(),
        "eigenvalues": factors.eigenvalues,
        "rows": factors.rows,
        "eigenvalues_by_chance": factors.by_chance,
        "clipped": factors.clipped,
    })
}
