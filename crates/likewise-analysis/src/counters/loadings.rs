//! Which columns vary together: factors, and how each column loads on them.

use likewise::counters::Column;
use likewise::counters::loadings::{
    Loadings, Rotated, eigenvalues_by_chance, factor_loadings, n_above_one, varimax,
};
use likewise::words::{counted, short};
use likewise_trace::ColumnTable;

/// Factors that are kept, at most.
const MAX_FACTORS: usize = 20;
/// The most products that the correlations of all columns may need: some ten
/// seconds.
const MAX_PRODUCTS: usize = 2_000_000_000;
/// The most columns: with more, the eigenvectors alone take as long.
const MAX_COLUMNS: usize = 1000;
/// With fewer rows, one that is far from the others makes all columns one factor.
const LEAST_ROWS: usize = 4;
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
    /// The fewest rows that two columns share.
    pub rows: usize,
    /// How large the eigenvalues of unrelated columns may be, with as many rows: one at
    /// each place, or of large tables that of the first.
    pub by_chance: Vec<f64>,
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
        rows: least_common,
        by_chance: eigenvalues_by_chance(least_common, used.len()),
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
        let all = short((1000.0 * explained).round() / 10.0);
        let told = format!("{are} {all}% of what varies: {}{more}.", each.collect::<Vec<_>>().join("; "));
        if self.rows < LEAST_ROWS {
            let rows = counted(self.rows as u64, "row");
            return Some(format!("{told} {rows} do not tell factors from chance."));
        }
        let first = self.eigenvalues.first().copied().unwrap_or(0.0);
        let limit = self.by_chance.first().copied().unwrap_or(0.0);
        if first <= limit {
            return Some(format!(
                "No factor explains more than chance does: the first as much as {} columns, and that of random \
                 numbers in {} rows and {} columns up to {} (99 of 100 times).",
                short(first),
                self.rows,
                self.columns.len(),
                short(limit)
            ));
        }
        Some(told + &self.doubt())
    }

    /// Which of the factors chance alone may make.
    fn doubt(&self) -> String {
        let n = self.factors.len();
        let beyond = |place: usize| self.by_chance.get(place).map(|&limit| self.eigenvalues[place] > limit);
        let Some(real) = (0..n).find(|&place| beyond(place) != Some(true)) else { return String::new() };
        let unknown = (real..n).any(|place| beyond(place).is_none());
        let some = (real..n).any(|place| beyond(place) == Some(true));
        match n - real {
            1 if unknown => " Of the last it is not known whether chance alone makes it as large.".to_owned(),
            last if unknown => {
                format!(" Of the last {last} it is not known whether chance alone makes them as large.")
            }
            1 => " Chance alone makes the last, before rotation, as large.".to_owned(),
            last if some => {
                format!(" Chance alone makes some of the last {last}, before rotation, as large.")
            }
            last => format!(" Chance alone makes the last {last}, before rotation, as large."),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rows: usize, eigenvalues: &[f64]) -> String {
        let names = (0..eigenvalues.len()).map(|at| format!("c{at}"));
        let n = eigenvalues.iter().filter(|&&value| value > 1.0).count().max(1);
        let factor = |_| Rotated { explained: 0.25, loadings: vec![1.0; eigenvalues.len()] };
        let factors = Factors {
            columns: names.collect(),
            factors: (0..n).map(factor).collect(),
            eigenvalues: eigenvalues.to_vec(),
            clipped: 0.0,
            rows,
            by_chance: eigenvalues_by_chance(rows, eigenvalues.len()),
        };
        factors.finding().unwrap()
    }

    /// Three columns in one were "as much as chance, which explains up to 3.043".
    #[test]
    fn few_rows_can_show_a_factor() {
        let one = told(12, &[3.0, 0.0, 0.0]);
        assert!(one.starts_with("1 factor explains") && !one.contains("hance"), "{one}");
        let none = told(12, &[1.9, 0.6, 0.5]);
        assert!(
            none.starts_with("No factor explains more than chance does: the first as much as 1.9"),
            "{none}"
        );
        assert!(none.contains("in 12 rows and 3 columns up to 2."), "{none}");
        let few = told(3, &[3.0, 0.0, 0.0]);
        assert!(few.ends_with("3 rows do not tell factors from chance."), "{few}");
    }

    /// The second was held against the limit of the first, 2.065.
    #[test]
    fn each_factor_is_held_against_chance_at_its_place() {
        let both = told(60, &[3.9, 1.724, 0.9, 0.3, 0.1, 0.05, 0.026]);
        assert!(both.starts_with("2 factors explain") && !both.contains("hance"), "{both}");
        let one = told(60, &[3.9, 1.2, 0.9, 0.6, 0.2, 0.1, 0.1]);
        assert!(one.ends_with(" Chance alone makes the last, before rotation, as large."), "{one}");
        let two = told(60, &[3.0, 1.2, 1.1, 0.8, 0.5, 0.3, 0.1]);
        assert!(two.ends_with(" Chance alone makes the last 2, before rotation, as large."), "{two}");
        let some = told(60, &[2.0, 1.4, 1.38, 1.03, 0.5, 0.3, 0.25]);
        assert!(
            some.ends_with(" Chance alone makes some of the last 3, before rotation, as large."),
            "{some}"
        );
    }

    #[test]
    fn of_large_tables_the_first_factor_alone_is_judged() {
        let mut eigenvalues = vec![0.5; 250];
        (eigenvalues[0], eigenvalues[1]) = (100.0, 2.0);
        let large = told(1000, &eigenvalues);
        assert!(large.contains("Of the last it is not known"), "{large}");
    }
}
