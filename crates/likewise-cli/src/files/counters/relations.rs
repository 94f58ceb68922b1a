//! `relations.csv`: which record is better than which on which objective, as
//! the paper's Table 4 has it.

use crate::common::Usage;
use crate::output::{csv_cell, write_rows};
use likewise::counters::pareto::{Dominance, Objective, relation};
use std::io::{self, Write};

/// Records, at most: the table has a cell for every two.
const MAX_RECORDS: usize = 2_000;

/// # Errors
/// There are so many records that nobody could read the table.
pub(crate) fn check(n: usize) -> Result<(), Usage> {
    if n <= MAX_RECORDS {
        return Ok(());
    }
    Err(Usage(format!(
        "--relations makes a table of all pairs, and of {n} there are too many: at most {MAX_RECORDS}; take some by \
         --where"
    )))
}

/// A row and a column per record. In a cell a digit per objective, 1 if the
/// record of the row is strictly better, 0 if not, `x` if either has no value;
/// then `>` if it dominates the record of the column, `<` if that dominates
/// it, `=` if they are as good on all.
pub(crate) fn write(
    names: &[String],
    objectives: &[Objective<'_>],
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    let mut head = String::from("record");
    names.iter().for_each(|name| {
        head.push(',');
        head.push_str(&csv_cell(name));
    });
    writeln!(out, "{head}")?;
    write_rows(out, names.len(), |row, buffer| {
        buffer.extend_from_slice(csv_cell(&names[row]).as_bytes());
        for column in 0..names.len() {
            buffer.push(b',');
            if row == column {
                buffer.extend(objectives.iter().map(|_| b'x'));
                continue;
            }
            let found = relation(objectives, row, column);
            buffer.extend(found.better.iter().map(|better| match better {
                None => b'x',
                Some(true) => b'1',
                Some(false) => b'0',
            }));
            buffer.extend(match found.dominance {
                Dominance::Dominates => Some(b'>'),
                Dominance::Dominated => Some(b'<'),
                Dominance::Equal => Some(b'='),
                Dominance::Neither | Dominance::Unknown => None,
            });
        }
        buffer.push(b'\n');
    })
}
