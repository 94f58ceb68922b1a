//! What the ranks that were traced tell of all.

use crate::Stages;
use anyhow::{Context, Result, bail};
use likewise::ranks::{EffortTable, Estimate, Plan, PlannedStratum, Spread, Stratum, estimate};
use likewise::words::counted;
use likewise_trace::{EffortOptions, read_columns, read_effort_of_some};
use std::collections::BTreeMap;
use std::path::Path;

/// The estimates of every number, of every region and of the whole run.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// The efforts of the ranks that were traced.
    pub table: EffortTable,
    /// How many ranks there are.
    pub n_ranks: usize,
    /// Ranks and traced ranks of each class.
    pub classes: Vec<(usize, usize)>,
    /// The mean of all ranks in each region and step.
    pub steps: Vec<Estimate>,
    /// The mean of all ranks in each region.
    pub regions: Vec<Estimate>,
    /// The mean of all ranks.
    pub total: Estimate,
}

/// Estimates the mean efforts of all ranks: `measured` has those of the ranks
/// that were traced, `plan` (`ranks.csv`) the classes of all.
///
/// # Errors
/// A file is not as it must be, or a class has no rank that was traced.
pub fn estimates(measured: &Path, plan: &Path, confidence: f64, stages: &mut Stages) -> Result<Estimates> {
    let classes = stages.time("read", || read_classes(plan))?;
    let (ranks, table) = stages.time("read", || read_effort_of_some(measured, &EffortOptions::default()))?;
    stages.time("estimate", || tell((measured, plan), confidence, &classes, &ranks, table))
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

fn tell(
    (measured, plan): (&Path, &Path),
    confidence: f64,
    classes: &BTreeMap<u64, u64>,
    ranks: &[u64],
    table: EffortTable,
) -> Result<Estimates> {
    let (measured, plan) = (measured.display(), plan.display());
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
    let all = estimate(&made, |rank| &rows[rank][..], confidence, Spread::Sampled)?;
    let (steps, sums) = all.split_at(table.dims());
    let (regions, total) = sums.split_at(table.regions().len());
    Ok(Estimates {
        n_ranks: classes.len(),
        classes: strata.values().map(|(n, rows)| (*n, rows.len())).collect(),
        steps: steps.to_vec(),
        regions: regions.to_vec(),
        total: total[0],
        table,
    })
}
