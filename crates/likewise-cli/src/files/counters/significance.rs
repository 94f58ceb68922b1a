//! `significance.csv` and `dunn.csv`: which columns differ between groups of
//! rows.

use crate::files::push_number;
use crate::output::csv_cell;
use likewise_analysis::counters::significance::{Significance, Test};
use serde_json::{Value, json};
use std::io::{self, Write};

/// `significance.csv`: a row per column.
pub(crate) fn write(found: &Significance, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "column,groups,rows,h,freedom,p,p_adjusted,effect,least,greatest,pairs_differing,h_exact,p_exact"
    )?;
    for test in &found.tests {
        let mut line =
            format!("{},{},{},", csv_cell(&test.name), test.groups.len(), test.rows()).into_bytes();
        push_number(test.test.h, &mut line);
        line.extend(format!(",{},", test.test.freedom).bytes());
        for number in [test.test.p, test.p_adjusted, test.effect()] {
            push_number(number, &mut line);
            line.push(b',');
        }
        let (least, greatest) = test.ends();
        line.extend(format!("{},{},{}", csv_cell(least), csv_cell(greatest), test.differing()).bytes());
        for number in [test.exact.map(|exact| exact.h), test.exact.map(|exact| exact.p)] {
            line.push(b',');
            number.iter().for_each(|&number| push_number(number, &mut line));
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// `dunn.csv`: a row per pair of groups and column.
pub(crate) fn write_pairs(found: &Significance, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "column,a,b,z,p,p_adjusted")?;
    for test in &found.tests {
        for pair in &test.pairs {
            let [a, b] = [pair.groups.0, pair.groups.1].map(|group| csv_cell(&test.groups[group]));
            let mut line = format!("{},{a},{b}", csv_cell(&test.name)).into_bytes();
            for number in [pair.z, pair.p, pair.p_adjusted] {
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
pub(crate) fn to_json(found: &Significance) -> Value {
    let test = |test: &Test| {
        json!({
            "column": test.name,
            "groups": test.groups.len(),
            "rows": test.rows(),
            "h": test.test.h,
            "p": test.test.p,
            "p_adjusted": test.p_adjusted,
            "effect": test.effect(),
            "h_exact": test.exact.map(|exact| exact.h),
            "p_exact": test.exact.map(|exact| exact.p),
        })
    };
    json!({
        "by": found.by,
        "untested": found.untested,
        "tests": found.tests.iter().map(test).collect::<Vec<_>>(),
    })
}
