//! What `likewise counters` is told of regimes.

use crate::commands::pareto::numbers_of;
use crate::common::{Names, Usage};
use crate::counters::regimes::{Fitted, RegimeReport, Unit};
use crate::counters::repeats;
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise::counters::Column;
use likewise::counters::regimes::{
    Formula, FormulaError, Medians, Noise, RegimeError, RegimeParams, collective_models, find_regimes,
    medians, message_model,
};
use likewise::words::short;
use likewise_analysis::definition::parse_share;
use likewise_trace::{Cells, ColumnTable};

/// Where which model of the response holds
#[derive(Debug, Args)]
#[command(next_help_heading = "Regimes")]
pub(crate) struct RegimeArgs {
    /// Find in which part of these columns' space which model of --response
    /// holds, with what latency and bandwidth. In this order: the number of
    /// processes, the length of a message, others that may bound regions; one
    /// alone is the length. With --formula, in any order
    #[arg(long, value_name = "COLUMN", requires = "response")]
    parameters: Vec<Names>,
    /// A model of the response instead of those of a collective operation: a
    /// sum of terms with an unknown coefficient each, such as
    /// 'a + b*h + c*log2(p)'; once more for another model. lambda is a
    /// latency, tau the reciprocal of a bandwidth
    #[arg(long, value_name = "FORMULA", requires = "parameters", allow_hyphen_values = true)]
    formula: Vec<String>,
    /// Bytes of one unit of the length
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 1.0,
        requires = "parameters",
        conflicts_with = "formula"
    )]
    length_bytes: f64,
    /// Unit of the response [default: the end of its name, as in mean_ns, or s]
    #[arg(long, value_enum, value_name = "UNIT", requires = "parameters")]
    response_unit: Option<Unit>,
    /// What rows with the same parameters count as
    #[arg(long, value_enum, default_value = "median", requires = "parameters")]
    repeats: Repeats,
    /// How the response strays from its model
    #[arg(long, value_enum, default_value = "relative", requires = "parameters")]
    noise: NoiseArg,
    /// The fewest points that a region may have
    #[arg(long, value_name = "N", default_value_t = 10, requires = "parameters")]
    min_points: usize,
    /// Of the intervals of coefficients
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = parse_share, requires = "parameters")]
    confidence: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Repeats {
    /// One point, their median: a disturbed one does no harm
    Median,
    /// A point each
    Each,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NoiseArg {
    /// In proportion to its size, as times do
    Relative,
    /// Alike everywhere in a region
    Absolute,
}

impl RegimeArgs {
    pub(crate) fn is_asked(&self) -> bool {
        !self.parameters.is_empty()
    }

    pub(crate) fn parameters(&self) -> Vec<String> {
        Names::all(&self.parameters)
    }

    /// Finds the regimes of a column of the table.
    ///
    /// # Errors
    /// A column is not there or has values that no model takes, or a formula
    /// is none.
    pub(crate) fn find(&self, table: &ColumnTable, response: &str) -> Result<RegimeReport> {
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
        Ok(RegimeReport {
            response: response.to_owned(),
            unit: self.response_unit.unwrap_or_else(|| match table.taken.unit(response) {
                // As it stands behind the numbers.
                Some(unit) => Unit::of_name(&format!("_{}", unit.replace('µ', "u"))),
                None => Unit::of_name(response),
            }),
            parameters: self.parameters(),
            models,
            confidence: self.confidence,
            noise: params.noise,
            min_points: self.min_points,
            length_bytes: self.formula.is_empty().then_some(self.length_bytes),
            is_median: self.repeats == Repeats::Median,
            within: repeats::within(measured, &fitted),
            told_by: self.told_by(table, response, &fitted),
            n_missing: fitted.of_row.iter().filter(|point| point.is_none()).count(),
            fitted,
            found,
        })
    }

    fn params(&self) -> Result<RegimeParams, Usage> {
        let mut params = RegimeParams::default();
        params.at_least = self.min_points;
        params.noise = match self.noise {
            NoiseArg::Relative => Noise::Relative,
            NoiseArg::Absolute => Noise::Absolute,
        };
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
        let names = self.parameters();
        for name in &names {
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
        let parameters = self.parameters();
        let names: Vec<&str> = parameters.iter().map(String::as_str).collect();
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

    /// What decides between rows with the same parameters, and what to do.
    fn told_by(&self, table: &ColumnTable, response: &str, fitted: &Fitted) -> Option<String> {
        let (column, told) = repeats::told_by(table, &self.parameters(), response, fitted)?;
        let (name, share) = (&column.name, short((100.0 * told.share).round()));
        let advice = match column.cells {
            Cells::Numbers(_) => "add it to --parameters",
            Cells::Texts(_) => "give its values numbers and add it to --parameters, or take each by itself",
        };
        Some(format!("'{name}' tells {share}% of it, by a factor of up to {}: {advice}.", short(told.ratio)))
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

/// A formula of parameters. Other columns of the table are read as columns
/// too, so that none becomes an unknown by mistake.
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
