//! Finds the regimes of a column.

use super::pareto::numbers_of;
use super::regimes::{Fitted, Measured, RegimeReport, ToldBy, Unit, misfits};
use super::repeats;
use super::significance::Told;
use crate::Usage;
use anyhow::Result;
use likewise::counters::Column;
use likewise::counters::regimes::{
    Formula, FormulaError, Medians, Noise, RegimeError, RegimeParams, collective_models, find_regimes,
    medians, message_model,
};
use likewise::words::short;
use likewise_trace::{Cells, ColumnTable};

/// Where which model of the response holds.
#[derive(Clone, Debug)]
pub struct RegimeOptions {
    /// Columns in whose space it is looked for: the number of processes, the
    /// length of a message, others that may bound regions; one alone is the
    /// length. With `formula`, in any order.
    pub parameters: Vec<String>,
    /// Models instead of those of a collective operation.
    pub formula: Vec<String>,
    /// Bytes of one unit of the length.
    pub length_bytes: f64,
    /// Unit of the response; the one in its name, or s, if `None`.
    pub response_unit: Option<Unit>,
    /// What rows with the same parameters count as.
    pub repeats: Repeats,
    /// How the response strays from its model.
    pub noise: Noise,
    /// The fewest points that a region may have.
    pub min_points: usize,
    /// Of the intervals of coefficients, from 0 to 1.
    pub confidence: f64,
}

/// What rows with the same parameters count as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// One point, their median: a disturbed one does no harm.
    Median,
    /// A point each.
    Each,
}

impl RegimeOptions {
    /// Finds the regimes of a column of the table.
    ///
    /// # Errors
    /// A column is not there or has values that no model takes, or a formula
    /// is none.
    pub(super) fn find(&self, table: &ColumnTable, response: &str) -> Result<RegimeReport> {
        let columns = self.columns(table, response)?;
        let (_, measured) = numbers_of(table, response)?;
        let models = self.models(table)?;
        let params = self.params()?;
        let fitted = self.points(measured, &columns);
        let points: Vec<Column<'_>> = columns
            .iter()
            .zip(&fitted.columns)
            .map(|(column, values)| Column { name: column.name, values })
            .collect();
        let found = find_regimes(&fitted.response, &points, &models, &params)
            .map_err(|error| self.told(error, &fitted, response))?;
        let unit = self.unit(table, response);
        let cells = medians(measured, &columns).of_row;
        let (noise, is_time) = (params.noise, unit.is_some_and(|unit| unit != Unit::None));
        let of = Measured { response: measured, cells: &cells, noise, is_time };
        Ok(RegimeReport {
            response: response.to_owned(),
            unit: unit.unwrap_or(Unit::S),
            unit_is_told: unit.is_some(),
            parameters: self.parameters.clone(),
            confidence: self.confidence,
            noise: params.noise,
            min_points: self.min_points,
            length_bytes: self.formula.is_empty().then_some(self.length_bytes),
            is_median: self.repeats == Repeats::Median,
            within: repeats::within(measured, &fitted),
            told_by: self.told_by(table, response, &fitted, &fitted.modelled(&models, &found)),
            misfits: misfits(&of, &fitted, &models, &found),
            n_missing: fitted.of_row.iter().filter(|point| point.is_none()).count(),
            models,
            fitted,
            found,
        })
    }

    /// As it was asked for, as it stands behind the numbers, or as the name says.
    fn unit(&self, table: &ColumnTable, response: &str) -> Option<Unit> {
        let behind = || table.taken.unit(response).map(|unit| Unit::of_name(unit).unwrap_or(Unit::None));
        self.response_unit.or_else(behind).or_else(|| Unit::of_name(response))
    }

    fn params(&self) -> Result<RegimeParams, Usage> {
        let mut params = RegimeParams::default();
        params.at_least = self.min_points;
        params.noise = self.noise;
        params.with_confidence(self.confidence).map_err(|_| {
            let percent = short(100.0 * self.confidence);
            Usage(format!(
                "--confidence is {percent}%; it must be more than 0% and less than 100%, such as 95%"
            ))
        })
    }

    /// The parameters, all of them different and of numbers.
    fn columns<'t>(&self, table: &'t ColumnTable, response: &str) -> Result<Vec<Column<'t>>> {
        let mut columns: Vec<Column<'t>> = Vec::new();
        for name in &self.parameters {
            if columns.iter().any(|column| column.name == name) || name == response {
                return Err(Usage(format!("column '{name}' is named twice")).into());
            }
            let (name, values) = numbers_of(table, name)?;
            columns.push(Column { name, values });
        }
        Ok(columns)
    }

    /// Those that were written, or those of a collective operation.
    fn models(&self, table: &ColumnTable) -> Result<Vec<Formula>> {
        let names: Vec<&str> = self.parameters.iter().map(String::as_str).collect();
        let usage = |error: FormulaError| Usage(error.to_string());
        if !self.formula.is_empty() {
            let parsed = self.formula.iter().map(|text| formula(text, &names, table));
            return parsed.collect();
        }
        if !(self.length_bytes > 0.0 && self.length_bytes.is_finite()) {
            return Err(Usage(format!("--length-bytes is {}; it must be positive", self.length_bytes)).into());
        }
        match names[..] {
            [processes, length, ..] => {
                let models =
                    collective_models(processes, length, self.length_bytes, &names).map_err(usage)?;
                Ok(models.to_vec())
            }
            [length] => Ok(vec![message_model(length, self.length_bytes, &names).map_err(usage)?]),
            [] => unreachable!("regimes are looked for where parameters are named"),
        }
    }

    /// What decides how rows stray, from their median or else from the model, and what to do.
    fn told_by(
        &self,
        table: &ColumnTable,
        response: &str,
        fitted: &Fitted,
        modelled: &[f64],
    ) -> Option<ToldBy> {
        let (_, measured) = table.numbers().find(|(name, _)| *name == response)?;
        let parameters = self.parameters.iter().map(String::as_str);
        let known: Vec<&str> = parameters.chain([response]).collect();
        let of_medians = repeats::from_medians(measured, fitted);
        if let Some((column, told)) = repeats::told_by(table, &known, &of_medians) {
            return Some(ToldBy::Median(advice(column, &told)));
        }
        let known = [known, repeats::follows(table, &self.parameters)].concat();
        let of_model = repeats::from_model(measured, fitted, modelled);
        repeats::told_by(table, &known, &of_model).map(|(column, told)| ToldBy::Model(advice(column, &told)))
    }

    /// What is fitted: each row that has all values, or their medians.
    fn points(&self, measured: &[f64], columns: &[Column<'_>]) -> Fitted {
        if self.repeats == Repeats::Median {
            let Medians { response, columns, n, of_row } = medians(measured, columns);
            return Fitted { response, columns, n, of_row };
        }
        let is_known = |row: &usize| {
            !measured[*row].is_nan() && columns.iter().all(|column| !column.values[*row].is_nan())
        };
        let rows: Vec<usize> = (0..measured.len()).filter(is_known).collect();
        let mut of_row = vec![None; measured.len()];
        rows.iter().enumerate().for_each(|(point, &row)| of_row[row] = Some(point));
        let of = |values: &[f64]| rows.iter().map(|&row| values[row]).collect();
        Fitted {
            response: of(measured),
            columns: columns.iter().map(|column| of(column.values)).collect(),
            n: vec![1; rows.len()],
            of_row,
        }
    }

    /// The library counts points; people count rows, from 1.
    fn told(&self, error: RegimeError, fitted: &Fitted, response: &str) -> anyhow::Error {
        let row = |point: usize| fitted.of_row.iter().position(|of| *of == Some(point)).unwrap_or(point) + 1;
        match error {
            RegimeError::NotFinite { name, row: point } => {
                let name = if name == "the response" { response } else { &name };
                anyhow::anyhow!("'{name}', row {} (from 1, without the names), is infinite", row(point))
            }
            RegimeError::NotPositive { row: point, value } => anyhow::anyhow!(
                "'{response}', row {} (from 1, without the names), is {value}; only values above 0 can stray in \
                 proportion (--noise absolute takes others)",
                row(point)
            ),
            RegimeError::Term { formula, unknown, row: point, value } => anyhow::anyhow!(
                "what '{unknown}' multiplies in '{formula}' is {value} in row {} (from 1, without the names)",
                row(point)
            ),
            RegimeError::TooFewRows { complete, needed, .. } => anyhow::anyhow!(
                "there are {complete} points with all values to fit; a region takes at least {needed} \
                 (--min-points, and two more than its model has unknowns)"
            ),
            other => other.into(),
        }
    }
}

/// How much a column tells, and what to do about it.
fn advice(column: &likewise_trace::Column, told: &Told) -> String {
    let (name, share) = (&column.name, short((100.0 * told.share).round()));
    let advice = match column.cells {
        Cells::Numbers(_) => "add it to --parameters",
        Cells::Texts(_) => "give its values numbers and add it to --parameters, or take each by itself",
    };
    format!("'{name}' tells {share}% of it, by a factor of up to {}: {advice}.", short(told.ratio))
}

/// Reads a formula of parameters. Other columns of the table count as columns
/// too, so that none of them becomes an unknown by mistake.
fn formula(text: &str, parameters: &[&str], table: &ColumnTable) -> Result<Formula> {
    let others = table.columns.iter().map(|column| column.name.as_str());
    let others: Vec<&str> = others.filter(|name| !parameters.contains(name)).collect();
    let all = [parameters, &others].concat();
    let (formula, taken) = match Formula::parse(text, &all) {
        Ok(formula) => {
            let taken = (parameters.len()..all.len()).find(|&column| formula.uses(column));
            (formula, taken.map(|column| all[column]))
        }
        // With the parameters alone it may be one, of unknowns that are columns.
        Err(error) => match Formula::parse(text, parameters) {
            Ok(formula) => {
                let taken =
                    others.iter().copied().find(|other| formula.unknowns().any(|name| name == *other));
                (formula, taken)
            }
            Err(_) => return Err(Usage(error.to_string()).into()),
        },
    };
    match taken {
        None => Ok(formula),
        Some(column) => Err(Usage(format!(
            "formula '{}': '{column}' is a column of the table and none of --parameters; give the unknown another \
             name, or name the column there",
            formula.text()
        ))
        .into()),
    }
}
