//! `clusters.csv`: every phase in numbers, and the noise.

use super::push_number;
use crate::output::csv_cell;
use likewise::bursts::Moments;
use likewise_analysis::phases::Analysis;
use std::io::{self, Write};

/// One row per phase, then one for the noise. Times in nanoseconds, shares
/// from 0 to 1; `_mean` and `_sd` are over the bursts that carry the counter,
/// `_n` of them; where some bursts lack a counter, mean and spread are
/// extrapolated over the phase. After all counters come the standard errors
/// `_se` of those means, then the rates, which are quotients of the phase's
/// totals and have no suffix, and `serial`: the share of the wall time for
/// which the phase runs on one thread while the others wait, 0 where it is not
/// such a phase.
pub(crate) fn write(out: &mut impl Write, analysis: &Analysis) -> io::Result<()> {
    let columns = analysis.columns();
    write!(
        out,
        "cluster,instances,total_ns,mean_ns,sd_ns,min_ns,max_ns,share,share_of_clustered,tasks,imbalance,spmd_score,silhouette"
    )?;
    for (name, _) in &columns {
        write!(
            out,
            ",{0},{1},{2}",
            csv_cell(&format!("{name}_mean")),
            csv_cell(&format!("{name}_sd")),
            csv_cell(&format!("{name}_n"))
        )?;
    }
    let figures = &analysis.figures;
    let partial = figures.partial(&analysis.table);
    for &c in &partial {
        write!(out, ",{}", csv_cell(&format!("{}_se", analysis.table.counters[c].counter.name)))?;
    }
    for rate in &figures.rates {
        write!(out, ",{}", rate.name)?;
    }
    writeln!(out, ",serial")?;
    for (p, phase) in analysis.stats.iter().enumerate() {
        let mut row = match phase.cluster {
            Some(id) => id.number().to_string(),
            None => "noise".to_owned(),
        }
        .into_bytes();
        let mut cell = |value: f64| {
            row.push(b',');
            push_number(value, &mut row);
        };
        let counts = [phase.instances, phase.total.0];
        counts.into_iter().for_each(|n| cell(n as f64));
        [phase.duration.mean, phase.duration.deviation].into_iter().for_each(&mut cell);
        [phase.min.0, phase.max.0].into_iter().for_each(|n| cell(n as f64));
        [phase.share, phase.share_of_complete, phase.tasks as f64, phase.imbalance]
            .into_iter()
            .for_each(&mut cell);
        // The noise comes last, and has neither.
        let structure = &analysis.structure;
        [structure.spmd_of(p), analysis.silhouette_of(p)]
            .into_iter()
            .for_each(|value| cell(value.unwrap_or(f64::NAN)));
        for (_, moments) in &columns {
            let Moments { n, mean, deviation } = moments(phase);
            let (mean, deviation) = match n {
                0 => (f64::NAN, f64::NAN),
                1 if phase.instances > 1 => (mean, f64::NAN),
                _ => (mean, deviation),
            };
            [mean, deviation, n as f64].into_iter().for_each(&mut cell);
        }
        for &c in &partial {
            let error = figures.extrapolated[p][c].and_then(|found| found.standard_error);
            cell(error.unwrap_or(f64::NAN));
        }
        figures.rates.iter().for_each(|rate| cell(rate.values[p].unwrap_or(f64::NAN)));
        cell(figures.serial_share(phase.cluster).unwrap_or(f64::NAN));
        row.push(b'\n');
        out.write_all(&row)?;
    }
    Ok(())
}
