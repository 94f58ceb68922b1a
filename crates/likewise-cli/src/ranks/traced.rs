//! What the ranks that were traced tell of all.

use crate::common::Common;
use crate::finish::finish;
use crate::output::{OutputDir, csv_cell};
use anyhow::{Context, Result, bail};
use likewise::ranks::{EffortTable, Estimate, Plan, PlannedStratum, Spread, Stratum, estimate};
use likewise::words::{counted, short};
use likewise_analysis::Stages;
use likewise_trace::{EffortOptions, read_columns, read_effort_of_some};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Efforts of the traced ranks, the classes of all, and where the result goes.
pub(crate) struct Call<'a> {
    pub(crate) measured: &'a Path,
    /// The directory of the run that made the classes, or its `ranks.csv`.
    pub(crate) plan: &'a Path,
    pub(crate) dir: PathBuf,
    pub(crate) confidence: f64,
}

/// The estimates of every number, of every region and of the whole run.
struct Told {
    table: EffortTable,
    n_ranks: usize,
    /// Ranks and traced ranks of each class.
    classes: Vec<(usize, usize)>,
    steps: Vec<Estimate>,
    regions: Vec<Estimate>,
    total: Estimate,
}

pub(crate) fn run(call: &Call<'_>, common: &Common) -> Result<()> {
    let mut stages = Stages::default();
    let path = if call.plan.is_dir() { call.plan.join("ranks.csv") } else { call.plan.to_owned() };
    let classes = stages.time("read", || read_classes(&path))?;
    let (ranks, table) =
        stages.time("read", || read_effort_of_some(call.measured, &EffortOptions::default()))?;
    let told = stages.time("estimate", || tell(call, &classes, &ranks, table))?;
    let mut out = OutputDir::create(&call.dir, &[call.measured, &path], common)?;
    out.write("estimates.csv", |file| Ok(csv(&told, file)?))?;
    let summary = finish(out, "summary.json", told.summary(call), &stages, common)?;
    common.print(&summary, || {
        format!("{}\nEstimates: {}\n", told.text(call), call.dir.join("estimates.csv").display())
    })
}

/// The class of every rank, by its number.
fn read_classes(path: &Path) -> Result<BTreeMap<u64, u64>> {
    let table = read_columns(path, &[], None)?;
    let column = |name: &str| {
        let found = table.numbers().find(|(found, _)| *found == name).map(|(_, cells)| cells);
        found.with_context(|| {
            format!(
                "{}: there is no column '{name}' of numbers; ranks.csv of `likewise ranks` has it",
                path.display()
            )
        })
    };
    let mut classes = BTreeMap::new();
    for (&rank, &class) in column("rank")?.iter().zip(column("class")?) {
        let whole = |x: f64| x >= 0.0 && x.fract() == 0.0 && x < 9e15;
        if !whole(rank) || !whole(class) {
            bail!("{}: rank {rank}, class {class}: both must be whole numbers", path.display());
        }
        if classes.insert(rank as u64, class as u64).is_some() {
            bail!("{}: rank {rank} stands there twice", path.display());
        }
    }
    Ok(classes)
}

fn tell(call: &Call<'_>, classes: &BTreeMap<u64, u64>, ranks: &[u64], table: EffortTable) -> Result<Told> {
    let (measured, plan) = (call.measured.display(), call.plan.display());
    // Of each class, all its ranks and those that were traced, by row of the table.
    let mut strata: BTreeMap<u64, (usize, Vec<usize>)> = BTreeMap::new();
    classes.values().for_each(|&class| strata.entry(class).or_default().0 += 1);
    for (row, rank) in ranks.iter().enumerate() {
        let class = classes.get(rank).and_then(|class| strata.get_mut(class));
        let Some((_, rows)) = class else { bail!("{measured}: rank {rank} is in no class of {plan}") };
        rows.push(row);
    }
    if let Some((class, (n, _))) = strata.iter().find(|(_, (_, rows))| rows.is_empty()) {
        let ranks = counted(*n as u64, "rank");
        bail!(
            "{measured}: of class {class} ({ranks} in {plan}) no rank was traced, so nothing is known of it"
        );
    }
    // Each number, then the sums over the steps of a region, then over all.
    let row = |rank: usize| {
        let steps = table.row(rank);
        let regions: Vec<f64> =
            steps.chunks_exact(table.n_steps()).map(|series| series.iter().sum()).collect();
        let total = regions.iter().sum();
        [steps, &regions, &[total]].concat()
    };
    let rows: Vec<Vec<f64>> = (0..table.n_ranks()).map(row).collect();
    let dims = rows.first().map_or(0, Vec::len);
    let stratum = |(n, chosen): &(usize, Vec<usize>)| PlannedStratum {
        all: Stratum {
            ranks: (0..*n).collect(),
            mean: vec![0.0; dims],
            // A single rank says nothing of the spread of several.
            variance: vec![if *n == 1 { 0.0 } else { f64::NAN }; dims],
        },
        chosen: chosen.clone(),
    };
    let made = Plan { strata: strata.values().map(stratum).collect(), expected_error: 0.0, pays: 0.0 };
    let all = estimate(&made, |rank| &rows[rank][..], call.confidence, Spread::Sampled)?;
    let (steps, sums) = all.split_at(table.dims());
    let (regions, total) = sums.split_at(table.regions().len());
    Ok(Told {
        n_ranks: classes.len(),
        classes: strata.values().map(|(n, rows)| (*n, rows.len())).collect(),
        steps: steps.to_vec(),
        regions: regions.to_vec(),
        total: total[0],
        table,
    })
}

/// A row per region and step: the mean of all ranks, and how sure it is.
fn csv(told: &Told, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "region,step,mean,standard_error,low,high,freedom")?;
    let cell = |x: f64| if x.is_finite() { x.to_string() } else { String::new() };
    for (j, e) in told.steps.iter().enumerate() {
        let (region, step) = (j / told.table.n_steps(), j % told.table.n_steps());
        let figures =
            [e.mean, e.standard_error, e.mean - e.half_width, e.mean + e.half_width, e.freedom].map(cell);
        writeln!(out, "{},{step},{}", csv_cell(&told.table.regions()[region].name), figures.join(","))?;
    }
    Ok(())
}

fn figures(e: &Estimate) -> Value {
    // What is not known is null.
    json!({
        "mean": e.mean,
        "standard_error": e.standard_error,
        "low": e.mean - e.half_width,
        "high": e.mean + e.half_width,
        "freedom": e.freedom,
    })
}

impl Told {
    fn summary(&self, call: &Call<'_>) -> Value {
        let class = |(c, &(ranks, traced)): (usize, &(usize, usize))| json!({ "class": c + 1, "ranks": ranks, "traced": traced });
        let region = |(region, e): (&likewise::ranks::EffortRegion, &Estimate)| {
            let mut told = figures(e);
            told["region"] = json!(region.name);
            told
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "input": call.measured.display().to_string(),
            "plan": call.plan.display().to_string(),
            "ranks": self.n_ranks,
            "traced": self.table.n_ranks(),
            "steps": self.table.n_steps(),
            "confidence": call.confidence,
            "classes": self.classes.iter().enumerate().map(class).collect::<Vec<_>>(),
            "effort": figures(&self.total),
            "regions": self.table.regions().iter().zip(&self.regions).map(region).collect::<Vec<_>>(),
        })
    }

    fn text(&self, call: &Call<'_>) -> String {
        let confidence = super::level(call.confidence);
        let interval = |e: &Estimate| match e.half_width.is_finite() {
            true => format!("{} ± {}", short(e.mean), short(e.half_width)),
            false => format!(
                "{} (how sure is not known: of a class of several ranks only one was traced)",
                short(e.mean)
            ),
        };
        let mut text = format!(
            "{} of {} were traced, in {}.\nMean effort of all ranks in {}: {} at {confidence} confidence.\n",
            self.table.n_ranks(),
            counted(self.n_ranks as u64, "rank"),
            if self.classes.len() == 1 {
                "1 class".to_owned()
            } else {
                format!("{} classes", self.classes.len())
            },
            counted(self.table.n_steps() as u64, "step"),
            interval(&self.total)
        );
        if self.regions.len() > 1 {
            for (region, e) in self.table.regions().iter().zip(&self.regions) {
                let _ = writeln!(text, "  {}: {}", region.name, interval(e));
            }
        }
        text
    }
}
