//! Which columns vary together: factors, and how each column loads on them.

use likewise::counters::Column;
use likewise::counters::loadings::{
    Loadings, Rotated, factor_loadings, largest_by_chance, n_above_one, varimax,
};
use likewise::words::short;
use likewise_trace::ColumnTable;

/// Factors that are kept, at most.
const MAX_FACTORS: usize = 20;
/// The most products that the correlations of all columns may need: some ten
/// seconds.
const MAX_PRODUCTS: usize = 2_000_000_000;
/// The most columns: with more, the eigenvectors alone take as long.
const MAX_COLUMNS: usize = 1000;
/// What a column with a smaller loading has little to do with.
pub const LARGE: f64 = 0.5;

/// The factors that explain more than one column does. They are rotated so that
/// each column loads on as few of them as possible (varimax).
#[derive(Clone, Debug)]
pub struct Factors {
    /// The columns that vary.
    pub columns: Vec<String>,
    /// The factors, rotated.
    pub factors: Vec<Rotated>,
    /// Before the rotation, of all factors.
    pub eigenvalues: Vec<f64>,
    /// Of all eigenvalues, what was negative, as a share of the columns.
    pub clipped: f64,
    /// How large the first eigenvalue of unrelated columns may be, with as many rows as
    /// any two of these share.
    pub by_chance: f64,
}

/// Nothing where there are fewer than three columns.
///
/// # Errors
/// Why there are none: the table is large, or two columns were hardly ever
/// measured together.
pub(super) fn factors(table: &ColumnTable, names: &[String]) -> Result<Option<Factors>, String> {
    let n = names.len();
    if n < 3 {
        return Ok(None);
    }
    if n > MAX_COLUMNS || table.n_rows.saturating_mul(n * n) > MAX_PRODUCTS {
        return Err(format!("{n} columns of {} rows would take long; name some by --columns", table.n_rows));
    }
    let is_used = |name: &str| names.iter().any(|used| used == name);
    let columns: Vec<Column<'_>> = table
        .numbers()
        .filter(|(name, _)| is_used(name))
        .map(|(name, values)| Column { name, values })
        .collect();
    let Loadings { used, factors, clipped, least_common, .. } =
        factor_loadings(&columns).map_err(|error| error.to_string())?;
    let rotated = varimax(&factors[..n_above_one(&factors).min(MAX_FACTORS)]);
    let columns: Vec<String> = used.iter().map(|&at| columns[at].name.to_owned()).collect();
    Ok(Some(Factors {
        by_chance: largest_by_chance(least_common, used.len()),
        // Adding 0 takes the sign off 0.
        clipped: clipped / columns.len() as f64 + 0.0,
        columns,
        factors: rotated,
        eigenvalues: factors.iter().map(|factor| factor.eigenvalue).collect(),
    }))
}

impl Factors {
    /// Columns by the size of their loading on a factor, the largest first.
    /// Those below [`LARGE`] are left out; if all are below, the first one
    /// stays.
    pub fn leading(&self, factor: &Rotated) -> Vec<usize> {
        let mut leading: Vec<usize> = (0..self.columns.len()).collect();
        leading.sort_by(|&a, &b| factor.loadings[b].abs().total_cmp(&factor.loadings[a].abs()));
        let n = leading.iter().filter(|&&at| factor.loadings[at].abs() >= LARGE).count();
        leading.truncate(n.max(1));
        leading
    }

    /// What they explain, in a sentence.
    pub fn finding(&self) -> Option<String> {
        let explained: f64 = self.factors.iter().map(|factor| factor.explained).sum();
        let each = self.factors.iter().take(6).map(|factor| self.named(factor));
        let more = if self.factors.len() > 6 { "; …" } else { "" };
        let are = match self.factors.len() {
            0 => return None,
            1 => "1 factor explains".to_owned(),
            n => format!("{n} factors explain"),
        };
        let real = self.beyond_chance();
        if real == 0 {
            let first = self.eigenvalues.first().copied().unwrap_or(0.0);
            return Some(format!(
                "No factor explains more than chance does: the first as much as {} columns, and that of columns \
                 that have nothing to do with one another up to {}.",
                short(first),
                short(self.by_chance)
            ));
        }
        let all = short((1000.0 * explained).round() / 10.0);
        let doubt = match self.factors.len() - real.min(self.factors.len()) {
            0 => String::new(),
            n => format!(" Chance alone makes the last {n}, before rotation, as large."),
        };
        Some(format!("{are} {all}% of what varies: {}{more}.{doubt}", each.collect::<Vec<_>>().join("; ")))
    }

    /// How many factors, before the rotation, explain more than chance does.
    fn beyond_chance(&self) -> usize {
        self.eigenvalues.iter().take_while(|&&eigenvalue| eigenvalue > self.by_chance).count()
    }

    /// The columns that make a factor, with signs.
    fn named(&self, factor: &Rotated) -> String {
        let leading = self.leading(factor);
        let signed = |&at: &usize| {
            let sign = if factor.loadings[at] < 0.0 { "−" } else { "" };
            format!("{sign}{}", self.columns[at])
        };
        let more = if leading.len() > 4 { ", …" } else { "" };
        leading.iter().take(4).map(signed).collect::<Vec<_>>().join(", ") + more
    }

    /// What puts them into doubt.
    pub fn note(&self) -> Option<String> {
        let share = short((1000.0 * self.clipped).round() / 10.0);
        (self.clipped > 0.05).then(|| {
            format!(
                "Correlations over the rows that two columns have in common contradict one another ({share}% of the \
                 variance is negative): do not trust the factors."
            )
        })
    }
}
