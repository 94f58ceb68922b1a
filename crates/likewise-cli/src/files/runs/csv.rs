//! `scaling.csv`: one line per phase and run.

use crate::output::csv_cell;
use likewise::bursts::scaling::{Change, FactorKind, Measured, Per, RunFigures};
use likewise_analysis::runs::{Comparison, InRun, Phase, clusters, evidence, key, per};
use std::io::{self, Write};

const COLUMNS: &str = "phase,run,tasks,threads,clusters,noise_bursts,instances,phase_threads,total_ns,\
mean_ns_per_thread,longest_ns_of_thread,share,instructions,cycles,ipc,frequency_ghz,load_balance,speedup,efficiency";

/// Factors, in the order of their columns.
const FACTORS: [FactorKind; 7] = [
    FactorKind::Instructions,
    FactorKind::Ipc,
    FactorKind::Frequency,
    FactorKind::Rate,
    FactorKind::Time,
    FactorKind::LoadBalance,
    FactorKind::OnCore,
];

/// Every phase in every run that has it, then all computation as `all` and
/// what is in no phase as `left`. Cells that are not known are empty.
pub(crate) fn write(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    let factors: Vec<&str> = FACTORS.iter().map(|&kind| key(kind)).collect();
    writeln!(
        out,
        "{COLUMNS},{},match,evidence,per,repetitions,compared_longest_ns,alone_ns,on_core",
        factors.join(",")
    )?;
    for Phase { number, per, runs, scaling, .. } in &comparison.phases {
        for (r, run) in runs.iter().enumerate() {
            if let Some(run) = run {
                let change = scaling.changes[r].as_ref();
                let line =
                    Line { figures: run.figures(), run: Some(run), per: Some((*per, &run.measured)), change };
                line.write(comparison, &number.to_string(), r, out)?;
            }
        }
    }
    for (r, run) in comparison.runs.iter().enumerate() {
        let change = comparison.whole.changes[r].as_ref();
        let all = Line { figures: &run.whole, run: None, per: comparison.per.zip(run.all.as_ref()), change };
        all.write(comparison, "all", r, out)?;
        let left = Line { figures: &run.left, run: None, per: None, change: None };
        left.write(comparison, "left", r, out)?;
    }
    Ok(())
}

/// A phase in a run, or all of a run.
struct Line<'a> {
    figures: &'a RunFigures,
    run: Option<&'a InRun>,
    /// What it is compared per.
    per: Option<(Per, &'a Measured)>,
    change: Option<&'a Change>,
}

impl Line<'_> {
    fn write(&self, comparison: &Comparison, phase: &str, r: usize, out: &mut impl Write) -> io::Result<()> {
        let (figures, change) = (self.figures, self.change);
        let matched = self.run.map(|run| &run.matched);
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
        write!(out, ",{},", matched.map_or("", |m| evidence(m.evidence)))?;
        write!(out, "{},", self.per.map_or("", |(of, _)| per(of)))?;
        let compared = self.per.map(|(_, measured)| measured);
        write!(out, "{},{}", number(compared.map(|m| m.times)), number(compared.map(|m| m.longest)))?;
        write!(out, ",{}", matched.map_or_else(String::new, |_| figures.alone.0.to_string()))?;
        writeln!(out, ",{}", number(compared.and_then(Measured::on_core)))
    }
}
