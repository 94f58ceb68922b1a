//! Which columns vary together: factors, and how each column loads on them.

use crate::files::push_number;
use crate::files::report_data::short;
use crate::output::csv_cell;
use likewise::counters::Column;
use likewise::counters::loadings::{Factor, Loadings, LoadingsError, factor_loadings};
use likewise_trace::ColumnTable;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Factors that explain so much together are kept…
const EXPLAINED: f64 = 0.95;
/// … but not more than these.
const MAX_FACTORS: usize = 20;
/// Columns whose correlations are taken; of more, the eigenvectors take long.
const MAX_COLUMNS: usize = 1000;
/// What a column with a smaller loading has little to do with.
pub(crate) const LARGE: f64 = 0.5;

/// The first factors of the columns that are used.
#[derive(Clone, Debug)]
pub(crate) struct Factors {
    pub(crate) columns: Vec<String>,
    pub(crate) factors: Vec<Factor>,
    /// Of all eigenvalues, what was negative, as a share of the columns.
    pub(crate) clipped: f64,
}

/// Nothing where there are fewer than three columns or too many.
///
/// # Errors
/// Two columns were hardly ever measured together.
pub(crate) fn factors(table: &ColumnTable, names: &[String]) -> Result<Option<Factors>, LoadingsError> {
    if !(3..=MAX_COLUMNS).contains(&names.len()) {
        return Ok(None);
    }
    let is_used = |name: &str| names.iter().any(|used| used == name);
    let columns: Vec<Column<'_>> = table
        .numbers()
        .filter(|(name, _)| is_used(name))
        .map(|(name, values)| Column { name, values })
        .collect();
    let Loadings { used, mut factors, clipped, .. } = factor_loadings(&columns)?;
    let mut explained = 0.0;
    let is_enough = |factor: &Factor| {
        explained += factor.explained;
        explained >= EXPLAINED
    };
    let n = factors.iter().position(is_enough).map_or(factors.len(), |last| last + 1);
    factors.truncate(n.min(MAX_FACTORS));
    let columns: Vec<String> = used.iter().map(|&at| columns[at].name.to_owned()).collect();
    let clipped = clipped / columns.len() as f64;
    Ok(Some(Factors { columns, factors, clipped }))
}

impl Factors {
    /// Columns by the size of what they load on a factor, the largest first;
    /// those below [`LARGE`] are left out.
    pub(crate) fn leading(&self, factor: &Factor) -> Vec<usize> {
        let mut leading: Vec<usize> =
            (0..self.columns.len()).filter(|&at| factor.loadings[at].abs() >= LARGE).collect();
        leading.sort_by(|&a, &b| factor.loadings[b].abs().total_cmp(&factor.loadings[a].abs()));
        leading
    }

    pub(crate) fn finding(&self) -> Option<String> {
        let explained: f64 = self.factors.iter().map(|factor| factor.explained).sum();
        let first = self.factors.first()?;
        let leading = self.leading(first);
        let signed = |&at: &usize| {
            let sign = if first.loadings[at] < 0.0 { "−" } else { "" };
            format!("{sign}{}", self.columns[at])
        };
        let which = leading.iter().take(6).map(signed).collect::<Vec<_>>().join(", ");
        let more = if leading.len() > 6 { ", …" } else { "" };
        Some(format!(
            "{} factors explain {}% of what varies; the first, {}%: {which}{more}.",
            self.factors.len(),
            short((1000.0 * explained).round() / 10.0),
            short((1000.0 * first.explained).round() / 10.0)
        ))
    }

    pub(crate) fn note(&self) -> Option<String> {
        let share = short((1000.0 * self.clipped).round() / 10.0);
        (self.clipped > 0.05).then(|| {
            format!(
                "Correlations over the rows that two columns have in common contradict one another ({share}% of the \
                 variance is negative): do not trust the factors."
            )
        })
    }

    /// `loadings.csv`: a row per column.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "column")?;
        (1..=self.factors.len()).try_for_each(|factor| write!(out, ",factor_{factor}"))?;
        writeln!(out)?;
        let row = |name: &str, value: &dyn Fn(&Factor) -> f64| {
            let mut line = csv_cell(name).into_bytes();
            for factor in &self.factors {
                line.push(b',');
                push_number(value(factor), &mut line);
            }
            line.push(b'\n');
            line
        };
        for (at, name) in self.columns.iter().enumerate() {
            out.write_all(&row(name, &|factor| factor.loadings[at]))?;
        }
        Ok(())
    }

    pub(crate) fn to_json(&self) -> Value {
        let factor =
            |factor: &Factor| json!({ "eigenvalue": factor.eigenvalue, "explained": factor.explained });
        json!({
            "factors": self.factors.iter().map(factor).collect::<Vec<_>>(),
            "clipped": self.clipped,
        })
    }
}
