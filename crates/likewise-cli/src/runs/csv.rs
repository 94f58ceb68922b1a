//! `scaling.csv`: one line per phase and run.

use super::{Comparison, Phase, clusters, evidence, key};
use crate::output::csv_cell;
use likewise::bursts::scaling::{Change, FactorKind, PhaseInRun, RunFigures};
use std::io::{self, Write};

const COLUMNS: &str = "phase,run,tasks,threads,clusters,noise_bursts,instances,phase_threads,total_ns,\
mean_ns_per_thread,longest_ns_of_thread,share,instructions,cycles,ipc,frequency_ghz,load_balance,speedup,efficiency";

/// Factors, in the order of their columns.
const FACTORS: [FactorKind; 6] = [
    FactorKind::Instructions,
    FactorKind::Ipc,
    FactorKind::Frequency,
    FactorKind::Rate,
    FactorKind::Time,
    FactorKind::LoadBalance,
];

/// Every phase in every run that has it, then all computation as `all` and
/// what is in no phase as `left`. Cells that are not known are empty.
pub(crate) fn write(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let factors: Vec<&str> = FACTORS.iter().map(|&kind| key(kind)).collect();
    writeln!(out, "{COLUMNS},{},confidence,evidence", factors.join(","))?;
    for Phase { number, runs, scaling } in &comparison.phases {
        for (r, run) in runs.iter().enumerate() {
            if let Some((figures, run)) = run {
                let change = scaling.changes[r].as_ref();
                line(comparison, &number.to_string(), r, (figures, Some(run), change), out)?;
            }
        }
    }
    for (r, run) in comparison.runs.iter().enumerate() {
        let change = comparison.whole.changes.get(r).and_then(Option::as_ref);
        line(comparison, "all", r, (&run.whole, None, change), out)?;
        line(comparison, "left", r, (&run.left, None, None), out)?;
    }
    Ok(())
}

fn line(
    comparison: &Comparison,
    phase: &str,
    r: usize,
    (figures, matched, change): (&RunFigures, Option<&PhaseInRun>, Option<&Change>),
    out: &mut impl Write,
) -> io::Result<()> {
    let run = &comparison.runs[r];
    let number = |x: Option<f64>| x.filter(|x| x.is_finite()).map_or_else(String::new, |x| x.to_string());
    let noise = matched.map_or_else(String::new, |m| m.noise.to_string());
    write!(
        out,
        "{phase},{},{},{},{},{noise},{},{},{},{},{},{}",
        csv_cell(&run.name),
        run.tasks,
        figures.run_threads,
        matched.map_or_else(String::new, clusters),
        figures.instances,
        figures.threads,
        figures.total.0,
        number(Some(figures.mean())),
        figures.longest.0,
        number(Some(figures.share)),
    )?;
    let factor = |kind| change?.factors.iter().find(|f| f.kind == kind).map(|f| f.value);
    let known = [
        figures.instructions,
        figures.cycles,
        figures.ipc(),
        figures.frequency(),
        figures.load_balance(),
        change.map(|change| change.speedup),
        change.map(|change| change.efficiency),
    ];
    for x in known.into_iter().chain(FACTORS.map(factor)).chain([matched.map(|m| m.confidence)]) {
        write!(out, ",{}", number(x))?;
    }
    writeln!(out, ",{}", matched.map_or("", |m| evidence(m.evidence)))
}
