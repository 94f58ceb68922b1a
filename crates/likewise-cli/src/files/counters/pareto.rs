//! `pareto.csv`: the ranks of each row.

use crate::output::{csv_cell, write_rows};
use anyhow::Result;
use likewise_analysis::counters::Ranks;
use likewise_trace::ColumnTable;
use std::io::Write;

/// The texts of each row, or its number, and its ranks.
pub(crate) fn write(ranks: &Ranks, table: &ColumnTable, file: &mut (impl Write + Send)) -> Result<()> {
    let keys: Vec<(&str, &[String])> = table.texts().collect();
    let names: Vec<String> = keys.iter().map(|(name, _)| csv_cell(name)).collect();
    let names = if names.is_empty() { "row".to_owned() } else { names.join(",") };
    writeln!(file, "{names},goldberg,fonseca_fleming")?;
    write_rows(file, table.n_rows, |row, buffer| {
        if keys.is_empty() {
            buffer.extend_from_slice(row.to_string().as_bytes());
        }
        for (at, (_, texts)) in keys.iter().enumerate() {
            buffer.extend_from_slice(if at > 0 { b"," } else { b"" });
            buffer.extend_from_slice(csv_cell(&texts[row]).as_bytes());
        }
        for ranks in [&ranks.goldberg, &ranks.fonseca_fleming] {
            buffer.push(b',');
            if let Some(rank) = ranks[row] {
                buffer.extend_from_slice(rank.to_string().as_bytes());
            }
        }
        buffer.push(b'\n');
    })?;
    Ok(())
}
