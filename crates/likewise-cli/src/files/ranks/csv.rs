//! `ranks.csv`, `classes.csv` and `traces.csv`.

use crate::files::push_number;
use crate::output::{csv_cell, write_rows};
use likewise_analysis::ranks::RanksReport;
use std::io::{self, Write};

/// One line per rank; with its number in the table, where that is another, or its task in the
/// trace, where that is not the next.
pub(crate) fn ranks(report: &RanksReport, out: &mut (impl Write + Send)) -> io::Result<()> {
    let in_table = (report.first_rank > 0).then_some(report.first_rank);
    out.write_all(b"rank,class,medoid,dissimilarity,sampled")?;
    out.write_all(match in_table {
        Some(_) => b",in_table\n",
        None if !report.tasks.is_empty() => b",task\n",
        None => b"\n",
    })?;
    write_rows(out, report.n_ranks(), |rank, buffer| {
        let class = report.class_of[rank] as usize;
        let mut digits = itoa::Buffer::new();
        let mut number = |n: u64, buffer: &mut Vec<u8>| {
            buffer.extend(digits.format(n).bytes());
            buffer.push(b',');
        };
        number(rank as u64, buffer);
        number(class as u64 + 1, buffer);
        number(report.classes[class].medoid, buffer);
        push_number(report.dissimilarity[rank], buffer);
        buffer.extend(if report.sampled[rank] { b",1" } else { b",0" });
        if let Some(first) = in_table {
            buffer.push(b',');
            buffer.extend(digits.format(rank as u64 + first).bytes());
        } else if let Some(task) = report.tasks.get(rank) {
            buffer.push(b',');
            buffer.extend(digits.format(*task).bytes());
        }
        buffer.push(b'\n');
    })
}

/// One line per class: who stands for it, what it does, how many to trace.
pub(crate) fn classes(report: &RanksReport, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "class,ranks,share,medoid,mean_effort,sd_effort,mean_dissimilarity,max_dissimilarity,sample_size"
    )?;
    for (c, class) in report.classes.iter().enumerate() {
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{}",
            c + 1,
            class.ranks,
            report.share(class.ranks),
            class.medoid,
            class.effort.0,
            class.effort.1,
            class.dissimilarity.0,
            class.dissimilarity.1,
            report.plan.sample[c]
        )?;
    }
    Ok(())
}

/// One line per class, region and step: the mean effort and its spread.
pub(crate) fn traces(report: &RanksReport, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "class,region,step,mean,sd,min,max")?;
    for (c, class) in report.classes.iter().enumerate() {
        for (r, trace) in class.traces.iter().enumerate() {
            let region = csv_cell(report.region(r).unwrap_or(""));
            for step in 0..trace.mean.len() {
                writeln!(
                    out,
                    "{},{region},{step},{},{},{},{}",
                    c + 1,
                    trace.mean[step],
                    trace.deviation[step],
                    trace.least[step],
                    trace.most[step]
                )?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_analysis::ranks::sample::sample;

    fn lines(write: impl Fn(&RanksReport, &mut Vec<u8>) -> io::Result<()>) -> Vec<String> {
        let mut out = Vec::new();
        write(&sample(), &mut out).expect("a vector takes all");
        String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_rank_has_a_line() {
        let lines = lines(ranks);
        assert_eq!(lines.len(), 65);
        assert_eq!(lines[0], "rank,class,medoid,dissimilarity,sampled");
        assert_eq!(lines[1], "0,1,3,1.5,0");
        assert_eq!(lines[8], "7,2,7,0,1");
        // Of a table that counts from 1.
        let mut out = Vec::new();
        ranks(&RanksReport { first_rank: 1, ..sample() }, &mut out).expect("a vector takes all");
        assert!(out.starts_with(b"rank,class,medoid,dissimilarity,sampled,in_table\n0,1,3,1.5,0,1\n"));
        // Of a trace in which task 1 has no burst.
        let mut out = Vec::new();
        ranks(&RanksReport { tasks: (2..66).collect(), ..sample() }, &mut out).expect("a vector takes all");
        assert!(out.starts_with(b"rank,class,medoid,dissimilarity,sampled,task\n0,1,3,1.5,0,2\n"));
    }

    #[test]
    fn every_class_and_step_has_a_line() {
        assert_eq!(lines(classes)[2], "2,2,0.03125,7,600,3,1.5,4,1");
        let lines = lines(traces);
        assert_eq!(lines.len(), 1 + 2 * 2 * 20);
        assert_eq!(lines[1], "1,MPI_Send → <i>,0,10,0.5,9,11");
    }
}
