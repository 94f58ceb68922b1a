//! What is fitted, as numbers: complete rows, their terms, their order.

use super::formula::Formula;
use super::partition::Leaf;
use super::region::{Noise, Range, RegimeError, RegimeParams};
use crate::counters::Column;

/// Complete rows and the terms of all models.
pub(super) struct Design<'a> {
    pub(super) columns: &'a [Column<'a>],
    /// Rows of the input that lack nothing, ascending; all below is in their
    /// order.
    pub(super) rows: Vec<usize>,
    pub(super) y: Vec<f64>,
    /// What errors are multiplied by while regions are chosen: 1/y, or
    /// 1/root mean square of y.
    pub(super) weight: Vec<f64>,
    /// Distinct terms of all models: weight × term, at most 1 in size.
    pub(super) terms: Vec<Vec<f64>>,
    /// What each term was divided by for that.
    pub(super) term_size: Vec<f64>,
    /// Terms of each model.
    pub(super) models: Vec<Vec<usize>>,
    /// Orders of the rows, one per column.
    pub(super) axes: Vec<Axis>,
    pub(super) at_least: usize,
    /// Least variance of weighted errors that is believed.
    pub(super) floor: f64,
}

/// The order of the rows by one column.
pub(super) struct Axis {
    /// Its values, ascending.
    pub(super) distinct: Vec<f64>,
    /// The place of each row's value among them.
    pub(super) place: Vec<u32>,
    /// Whether it varies, and otherwise than an earlier column.
    pub(super) splits: bool,
}

impl<'a> Design<'a> {
    pub(super) fn new(
        response: &[f64],
        columns: &'a [Column<'a>],
        models: &[Formula],
        params: &RegimeParams,
    ) -> Result<Self, RegimeError> {
        let rows = complete_rows(response, columns)?;
        let most = models.iter().map(|model| model.unknowns.len()).max().ok_or(RegimeError::NoModel)?;
        let needed = params.at_least.max(most + 2);
        if rows.len() < needed {
            let missing = response.len() - rows.len();
            return Err(RegimeError::TooFewRows { complete: rows.len(), missing, needed });
        }
        let y: Vec<f64> = rows.iter().map(|&row| response[row]).collect();
        let weight = weights(&rows, &y, params.noise)?;
        let mut design = Self {
            columns,
            axes: axes(&rows, columns),
            rows,
            y,
            weight,
            terms: Vec::new(),
            term_size: Vec::new(),
            models: Vec::new(),
            at_least: needed,
            floor: params.least_spread.powi(2),
        };
        design.add_terms(models)?;
        Ok(design)
    }

    fn add_terms(&mut self, models: &[Formula]) -> Result<(), RegimeError> {
        let mut known = Vec::new();
        for formula in models {
            let mut terms = Vec::new();
            for unknown in &formula.unknowns {
                let index = known.iter().position(|term| *term == &unknown.term).unwrap_or(known.len());
                if index == known.len() {
                    known.push(&unknown.term);
                    self.add_term(formula, unknown)?;
                }
                terms.push(index);
            }
            self.models.push(terms);
        }
        Ok(())
    }

    fn add_term(&mut self, formula: &Formula, unknown: &super::formula::Unknown) -> Result<(), RegimeError> {
        let (needed, columns) = (unknown.term.n_columns(), self.columns.len());
        if needed > columns {
            let formula = formula.text().to_owned();
            return Err(RegimeError::NoColumn { formula, column: needed - 1, columns });
        }
        let mut term = Vec::with_capacity(self.n());
        for (i, &row) in self.rows.iter().enumerate() {
            let value = unknown.term.value(&|column: usize| self.columns[column].values[row]);
            let weighted = value * self.weight[i];
            if !weighted.is_finite() {
                let (formula, unknown) = (formula.text().to_owned(), unknown.name.clone());
                return Err(RegimeError::Term { formula, unknown, row, value });
            }
            term.push(weighted);
        }
        let size = term.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let size = if size > 0.0 { size } else { 1.0 };
        term.iter_mut().for_each(|x| *x /= size);
        self.terms.push(term);
        self.term_size.push(size);
        Ok(())
    }

    pub(super) fn n(&self) -> usize {
        self.rows.len()
    }

    /// What turns the likelihood of weighted errors into that of the
    /// response.
    pub(super) fn log_units(&self) -> f64 {
        self.weight.iter().map(|w| w.ln()).sum()
    }

    /// Rows (of the complete ones) in a box.
    pub(super) fn rows_within(&self, leaf: &Leaf) -> Vec<usize> {
        let within = |&row: &usize| {
            let mut sides = self.axes.iter().zip(&leaf.sides);
            sides.all(|(axis, &(first, last))| (first..=last).contains(&(axis.place[row] as usize)))
        };
        (0..self.n()).filter(within).collect()
    }

    pub(super) fn ranges(&self, leaf: &Leaf, rows: &[usize]) -> Vec<Range> {
        let range = |(axis, &(first, last)): (&Axis, &(usize, usize))| {
            let places = rows.iter().map(|&row| axis.place[row] as usize);
            let (least, greatest) = places.fold((usize::MAX, 0), |(low, high), p| (low.min(p), high.max(p)));
            Range {
                above: first.checked_sub(1).map(|below| axis.distinct[below]),
                at_most: (last + 1 < axis.distinct.len()).then(|| axis.distinct[last]),
                least: axis.distinct[least],
                greatest: axis.distinct[greatest],
            }
        };
        self.axes.iter().zip(&leaf.sides).map(range).collect()
    }
}

fn complete_rows(response: &[f64], columns: &[Column<'_>]) -> Result<Vec<usize>, RegimeError> {
    for column in columns {
        if column.values.len() != response.len() {
            let (len, expected) = (column.values.len(), response.len());
            return Err(RegimeError::Lengths { name: column.name.to_owned(), len, expected });
        }
    }
    let all = || columns.iter().map(|c| (c.name, c.values)).chain([("the response", response)]);
    for (name, values) in all() {
        if let Some(row) = values.iter().position(|x| x.is_infinite()) {
            return Err(RegimeError::NotFinite { name: name.to_owned(), row });
        }
    }
    Ok((0..response.len()).filter(|&row| all().all(|(_, values)| !values[row].is_nan())).collect())
}

fn weights(rows: &[usize], y: &[f64], noise: Noise) -> Result<Vec<f64>, RegimeError> {
    match noise {
        Noise::Relative => {
            let weight = |(&value, &row): (&f64, &usize)| {
                let weight = 1.0 / value;
                let valid = value > 0.0 && weight.is_finite();
                if valid { Ok(weight) } else { Err(RegimeError::NotPositive { row, value }) }
            };
            y.iter().zip(rows).map(weight).collect()
        }
        Noise::Absolute => {
            let largest = y.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let largest = if largest > 0.0 { largest } else { 1.0 };
            let mean_square = y.iter().map(|x| (x / largest).powi(2)).sum::<f64>() / y.len() as f64;
            let size = largest * if mean_square > 0.0 { mean_square.sqrt() } else { 1.0 };
            Ok(vec![1.0 / size; y.len()])
        }
    }
}

fn axes(rows: &[usize], columns: &[Column<'_>]) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::with_capacity(columns.len());
    for column in columns {
        // Adding 0 makes one value of both zeros.
        let values: Vec<f64> = rows.iter().map(|&row| column.values[row] + 0.0).collect();
        let mut distinct = values.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let place: Vec<u32> = values.iter().map(|x| distinct.partition_point(|d| d < x) as u32).collect();
        let splits = distinct.len() > 1 && axes.iter().all(|earlier| earlier.place != place);
        axes.push(Axis { distinct, place, splits });
    }
    axes
}
