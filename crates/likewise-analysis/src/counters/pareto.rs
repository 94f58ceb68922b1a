//! Rows of a table that are good on several accounts.

use crate::Usage;
use anyhow::Result;
use likewise::counters::pareto::{Objective, fonseca_fleming, goldberg};
use likewise_trace::{Cells, ColumnTable};

/// A column of numbers, by its name.
///
/// # Errors
/// There is none, or it is of texts.
pub fn numbers_of<'t>(table: &'t ColumnTable, name: &str) -> Result<(&'t str, &'t [f64]), Usage> {
    if let Some(found) = table.numbers().find(|(column, _)| *column == name) {
        return Ok(found);
    }
    if let Some((_, texts)) = table.texts().find(|(column, _)| *column == name) {
        let first = texts.iter().find(|text| !text.is_empty()).map_or("", String::as_str);
        let text = format!(
            "column '{name}' is of texts, such as '{first}', or one of --key; numbers are needed here"
        );
        return Err(Usage(text));
    }
    let names: Vec<&str> = table.numbers().map(|(name, _)| name).collect();
    let shown = names.iter().take(20).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 20 { ", …" } else { "" };
    Err(Usage(format!("the table has no column '{name}'; of numbers are: {shown}{more}")))
}

/// The ranks of rows; `None` of a row that lacks a value.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// Goldberg's: 0 where no row dominates, 1 where none would without those.
    pub goldberg: Vec<Option<u32>>,
    /// Fonseca and Fleming's: how many rows dominate.
    pub fonseca_fleming: Vec<Option<u32>>,
}

impl Ranks {
    /// Ranks the rows on these columns.
    ///
    /// # Errors
    /// The columns cannot be compared.
    pub fn of(objectives: &[Objective<'_>]) -> Result<Self> {
        Ok(Self { goldberg: goldberg(objectives)?, fonseca_fleming: fonseca_fleming(objectives)? })
    }

    /// How many rows have each of Goldberg's ranks.
    #[must_use]
    pub fn sizes(&self) -> Vec<usize> {
        let n = self.goldberg.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        let mut sizes = vec![0; n];
        self.goldberg.iter().flatten().for_each(|&rank| sizes[rank as usize] += 1);
        sizes
    }
}

/// What a row is called: its texts, or its number from 0.
#[must_use]
pub fn row_name(table: &ColumnTable, row: usize) -> String {
    let texts: Vec<&str> = table
        .columns
        .iter()
        .filter_map(|column| match &column.cells {
            Cells::Texts(texts) => Some(texts[row].as_str()),
            Cells::Numbers(_) => None,
        })
        .collect();
    if texts.is_empty() { format!("row {row}") } else { texts.join(" ") }
}
