//! What is told of the classes that were found.

use super::find::Found;
use super::{Class, GroupingFacts, MeanTrace, Plan, RanksReport};
use likewise::cluster::ClusterId;
use likewise::ranks::{EffortTable, PlanError, PlanParams, Stratum, plan};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Classes by descending size, what their ranks do, and whom to trace. `error`
/// is the bound of `params`.
pub(crate) fn describe(
    table: &EffortTable,
    found: Found,
    params: &PlanParams,
    error: f64,
    seed: u64,
) -> Result<RanksReport, PlanError> {
    let mut sizes = vec![0u64; found.medoids.len()];
    found.labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&c| (std::cmp::Reverse(sizes[c]), found.medoids[c]));
    let mut place = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
    let class_of: Vec<u32> = found.labels.iter().map(|&label| place[label as usize]).collect();

    let labels: Vec<_> = class_of.iter().map(|&c| Some(ClusterId::from_index(c as usize))).collect();
    let planned = plan(table, &labels, params, &mut Xoshiro256PlusPlus::seed_from_u64(seed))?;
    let one_class = vec![Some(ClusterId::from_index(0)); labels.len()];
    let without = plan(table, &one_class, params, &mut Xoshiro256PlusPlus::seed_from_u64(seed))?;
    let mut sampled = vec![false; labels.len()];
    for &rank in planned.strata.iter().flat_map(|stratum| &stratum.chosen) {
        sampled[rank] = true;
    }
    let classes = planned.strata.iter().zip(&order).map(|(stratum, &c)| {
        let ranks = &stratum.all.ranks;
        let distances = || ranks.iter().map(|&rank| found.dissimilarities[rank]);
        Class {
            medoid: found.medoids[c],
            ranks: ranks.len() as u64,
            effort: total_effort(table, ranks),
            dissimilarity: (distances().sum::<f64>() / ranks.len() as f64, distances().fold(0.0, f64::max)),
            traces: traces(table, &stratum.all),
        }
    });
    Ok(RanksReport {
        grouping: GroupingFacts {
            is_exact: found.is_exact,
            loss: found.loss,
            bic: found.bic,
            seed,
            ..GroupingFacts::default()
        },
        regions: match table.regions() {
            [_] => vec![String::new()],
            regions => regions.iter().map(|region| region.name.clone()).collect(),
        },
        n_steps: table.n_steps(),
        classes: classes.collect(),
        class_of,
        dissimilarity: found.dissimilarities,
        sampled,
        plan: Plan {
            confidence: params.confidence(),
            error,
            sample: planned.strata.iter().map(|stratum| stratum.chosen.len() as u64).collect(),
            without_classes: without.n_chosen() as u64,
            expected_error: planned.expected_error,
        },
        ..RanksReport::default()
    })
}

/// Mean and standard deviation of the efforts of the whole run.
fn total_effort(table: &EffortTable, ranks: &[usize]) -> (f64, f64) {
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for &rank in ranks {
        let total: f64 = table.row(rank).iter().sum();
        n += 1.0;
        let off = total - mean;
        mean += off / n;
        squares += off * (total - mean);
    }
    (mean, if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

fn traces(table: &EffortTable, stratum: &Stratum) -> Vec<MeanTrace> {
    let mut least = vec![f64::INFINITY; table.dims()];
    let mut most = vec![f64::NEG_INFINITY; table.dims()];
    for &rank in &stratum.ranks {
        for (j, &effort) in table.row(rank).iter().enumerate() {
            least[j] = least[j].min(effort);
            most[j] = most[j].max(effort);
        }
    }
    let n = table.n_steps();
    let of_region = |r: usize| {
        let steps = r * n..(r + 1) * n;
        MeanTrace {
            mean: stratum.mean[steps.clone()].to_vec(),
            deviation: stratum.variance[steps.clone()].iter().map(|v| v.sqrt()).collect(),
            least: least[steps.clone()].to_vec(),
            most: most[steps].to_vec(),
        }
    };
    (0..table.regions().len()).map(of_region).collect()
}
