//! `response_by_rank.csv`: a response against the Pareto rank of its row.

use crate::files::push_number;
use crate::output::csv_cell;
use likewise::counters::by_rank::GroupByRank;
use likewise_analysis::counters::by_rank::ByRank;
use serde_json::{Value, json};
use std::io::{self, Write};

/// `response_by_rank.csv`: a row per response, group and rank.
pub(crate) fn write(all: &[ByRank], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "response,group,goldberg,rows,min,median,max")?;
    all.iter().try_for_each(|one| rows(one, out))
}

/// Rows of `response_by_rank.csv`.
fn rows(one: &ByRank, out: &mut impl Write) -> io::Result<()> {
    for (name, found) in one.groups.names.iter().zip(&one.found) {
        for at in &found.ranks {
            let mut line =
                format!("{},{},{},{}", csv_cell(&one.response), csv_cell(name), at.rank, at.n).into_bytes();
            for number in [at.min, at.median, at.max] {
                line.push(b',');
                push_number(number, &mut line);
            }
            line.push(b'\n');
            out.write_all(&line)?;
        }
    }
    Ok(())
}

/// For `summary.json`.
pub(crate) fn to_json(one: &ByRank) -> Value {
    let group = |(name, found): (&String, &GroupByRank)| {
        let name = one.groups.by.as_ref().map(|_| name);
        json!({ "group": name, "rows": found.n, "ranks": found.ranks.len(), "spearman": found.spearman })
    };
    json!({
        "response": one.response,
        "by": one.groups.by,
        "groups": one.groups.names.iter().zip(&one.found).map(group).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_analysis::counters::by_rank::Groups;
    use likewise_trace::{Cells, Column, ColumnTable};

    #[test]
    fn a_row_per_group_and_rank() {
        let column = |name: &str, cells| Column { name: name.to_owned(), cells };
        let table = ColumnTable {
            columns: vec![
                column("p", Cells::Numbers(vec![16.0, 4.0, f64::NAN, 16.0])),
                column("t", Cells::Numbers(vec![1.0, 2.0, 3.0, f64::NAN])),
            ],
            n_rows: 4,
            ..ColumnTable::default()
        };
        let groups = Groups::of(&table, Some("p")).unwrap();
        let found = ByRank::of(&table, "t", &groups, &[Some(0), Some(2), Some(1), Some(1)]).unwrap();
        let mut csv = Vec::new();
        write(&[found], &mut csv).unwrap();
        let rows = "response,group,goldberg,rows,min,median,max\nt,4,2,1,2,2,2\nt,16,0,1,1,1,1\n";
        assert_eq!(String::from_utf8(csv).unwrap(), rows);
    }
}
