//! What the ranks that were traced tell of all.

use crate::Stages;
use anyhow::{Context, Result, bail};
use likewise::ranks::{EffortTable, Estimate, Plan, PlannedStratum, Spread, Stratum, estimate};
use likewise::words::counted;
use likewise_trace::{EffortOptions, read_columns, read_effort_of_some};
use std::collections::{BTreeMap, BTreeSet};
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
    /// What the reader must know beside.
    pub notes: Vec<String>,
}

/// What `ranks.csv` says of the ranks.
struct Planned {
    /// The class of every rank, by its number.
    classes: BTreeMap<u64, u64>,
    /// The ranks to trace; `None` if that is not said.
    sampled: Option<BTreeSet<u64>>,
    /// How much more the table of the plan gives a rank as its number, where it does.
    in_table: Option<u64>,
}

/// Estimates the mean efforts of all ranks: `measured` has those of the ranks
/// that were traced, `plan` (`ranks.csv`) the classes of all.
///
/// # Errors
/// A file is not as it must be, or a class has no rank that was traced.
pub fn estimates(measured: &Path, plan: &Path, confidence: f64, stages: &mut Stages) -> Result<Estimates> {
    let planned = stages.time("read", || read_plan(plan))?;
    let (ranks, table) = stages.time("read", || read_effort_of_some(measured, &EffortOptions::default()))?;
    let (ranks, note) = as_planned((measured, plan), &ranks, &planned)?;
    let notes = note.into_iter().chain(not_planned(plan, &ranks, &planned)).collect();
    let told =
        stages.time("estimate", || tell((measured, plan), confidence, &planned.classes, &ranks, table))?;
    Ok(Estimates { notes, ..told })
}

/// What stands in `ranks.csv`.
fn read_plan(path: &Path) -> Result<Planned> {
    let table = read_columns(path, &[], None)?;
    let column = |name: &str| table.numbers().find(|(found, _)| *found == name).map(|(_, cells)| cells);
    let needed = |name: &str| {
        column(name).with_context(|| {
            format!(
                "{}: there is no column '{name}' of numbers; ranks.csv of `likewise ranks` has it",
                path.display()
            )
        })
    };
    let (ranks, in_table) = (needed("rank")?, column("in_table"));
    let mut classes = BTreeMap::new();
    for (&rank, &class) in ranks.iter().zip(needed("class")?) {
        let whole = |x: f64| x >= 0.0 && x.fract() == 0.0 && x < 9e15;
        if !whole(rank) || !whole(class) {
            bail!("{}: rank {rank}, class {class}: both must be whole numbers", path.display());
        }
        if classes.insert(rank as u64, class as u64).is_some() {
            bail!("{}: rank {rank} stands there twice", path.display());
        }
    }
    let first = ranks.first().zip(in_table.and_then(|cells| cells.first()));
    let more = first.map_or(0.0, |(rank, number)| number - rank);
    let is_even = in_table.is_none_or(|cells| cells.iter().zip(ranks).all(|(n, rank)| n - rank == more));
    if !is_even || more < 0.0 {
        bail!("{}: 'in_table' must be the rank and the same number more in each row", path.display());
    }
    let sampled = column("sampled").map(|cells| {
        let is_sampled = |(rank, sampled): (&f64, &f64)| (*sampled == 1.0).then_some(*rank as u64);
        ranks.iter().zip(cells).filter_map(is_sampled).collect()
    });
    Ok(Planned { classes, sampled, in_table: Some(more as u64).filter(|more| *more > 0) })
}

/// The ranks of a table of traced ranks, as the plan numbers them, and a note if these are
/// other numbers. Numbers may be those of the plan, or those of the table that the plan was
/// made of; which they are is told by the ranks that the plan has traced.
///
/// # Errors
/// It is open which they are.
fn as_planned(
    (measured, plan): (&Path, &Path),
    ranks: &[u64],
    planned: &Planned,
) -> Result<(Vec<u64>, Option<String>)> {
    let (measured, plan) = (measured.display(), plan.display());
    let less = |by: u64| -> Option<Vec<u64>> { ranks.iter().map(|rank| rank.checked_sub(by)).collect() };
    let is_of = |ranks: &[u64]| ranks.iter().all(|rank| planned.classes.contains_key(rank));
    let is_sampled = |ranks: &[u64]| match &planned.sampled {
        Some(sampled) => ranks.iter().all(|rank| sampled.contains(rank)),
        None => false,
    };
    let first = planned.in_table.unwrap_or(1);
    let shifted = less(first).filter(|shifted| is_of(shifted));
    let Some(shifted) = shifted else { return Ok((ranks.to_vec(), None)) };
    if planned.in_table.is_none() {
        // The plan counts as its table does. So may be rows of another one, but for this.
        let is_whole = planned.sampled.as_ref().is_some_and(|sampled| sampled.len() == ranks.len());
        if is_whole && is_sampled(&shifted) && !is_sampled(ranks) {
            bail!(
                "{measured}: its ranks are those that {plan} has traced, each with 1 more; number them as the column \
                 'rank' there, from 0"
            );
        }
        return Ok((ranks.to_vec(), None));
    }
    let is_table = match (is_of(ranks), is_sampled(&shifted), is_sampled(ranks)) {
        (false, ..) | (true, true, false) => true,
        (true, false, true) => false,
        _ => bail!(
            "{measured}: its ranks may be numbered as 'rank' in {plan} or as 'in_table' there, and which of them were \
             to be traced does not tell; number them as 'rank', and take the column 'in_table' out of {plan}"
        ),
    };
    let note = format!("Ranks are numbered as the table of the plan does, from {first}.");
    Ok(if is_table { (shifted, Some(note)) } else { (ranks.to_vec(), None) })
}

/// A note where ranks were traced that the plan has not: their numbers may be others.
fn not_planned(plan: &Path, ranks: &[u64], planned: &Planned) -> Option<String> {
    let sampled = planned.sampled.as_ref()?;
    let others = ranks.iter().filter(|rank| !sampled.contains(rank)).count();
    (others > 0).then(|| {
        format!(
            "{others} of the {} are not among those that {} has traced. If ranks are numbered otherwise there, this is \
             of other ranks.",
            counted(ranks.len() as u64, "traced rank"),
            plan.display()
        )
    })
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
        notes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks of a table that counts from 1 were taken for those of a plan that counts from
    /// 0: the mean was that of other ranks, and nothing was said.
    #[test]
    fn ranks_are_numbered_as_the_plan_or_as_its_table() {
        let planned = |in_table| Planned {
            classes: (0..20).map(|rank| (rank, 1)).collect(),
            sampled: Some(BTreeSet::from([0, 3, 4, 12])),
            in_table,
        };
        let paths = (Path::new("measured.csv"), Path::new("ranks.csv"));
        let told = |ranks: &[u64], in_table| {
            as_planned(paths, ranks, &planned(in_table)).map(|(ranks, note)| (ranks, note.is_some())).ok()
        };
        let is = |ranks: &[u64], noted| Some((ranks.to_vec(), noted));
        // The plan is of a table that counts from 1.
        let from_1 = Some(1);
        assert_eq!(told(&[1, 4, 5, 13], from_1), is(&[0, 3, 4, 12], true));
        assert_eq!(told(&[0, 3, 4, 12], from_1), is(&[0, 3, 4, 12], false));
        assert_eq!(told(&[1, 5], from_1), is(&[0, 4], true));
        assert_eq!(told(&[20, 7], from_1), is(&[19, 6], true));
        // Rank 4 is to be traced by either numbers, and others by neither.
        assert_eq!((told(&[4], from_1), told(&[8, 9], from_1)), (None, None));
        // Of a plan that counts from 0, others may be traced; but not each with 1 more.
        assert_eq!(told(&[0, 3, 4, 12], None), is(&[0, 3, 4, 12], false));
        assert_eq!(told(&[8, 9], None), is(&[8, 9], false));
        assert_eq!(told(&[1, 4, 5, 13], None), None);
    }
}
