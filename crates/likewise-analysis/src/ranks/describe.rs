//! What is told of the classes that were found.

use super::find::Found;
use super::report::{Class, Criterion, GroupingFacts, MeanTrace, Part, Plan, RanksReport};
use super::verdict::{Verdict, spread};
use likewise::ranks::{Allocation, EffortTable, Moments, PlanParams, Stratification, Stratum, plan_strata};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// What classes are described by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Described {
    pub(super) params: PlanParams,
    /// Ranks whose efforts differ by less, as a share, are alike.
    pub(super) error: f64,
    pub(super) seed: u64,
    /// Whether efforts are seconds.
    pub(super) is_time: bool,
    /// They are known within this factor; 1 where they are exact.
    pub(super) rounding: f64,
}

/// Classes by descending size, what their ranks do, and whom to trace. Of the table, only regions and steps count: of the
/// ranks, it may have some.
pub(super) fn describe(table: &EffortTable, found: Found, how: &Described) -> RanksReport {
    let Described { params, error, seed, is_time, rounding } = *how;
    let grouping = grouping(&found, seed);
    let Found { medoids, labels, dissimilarities, figures, totals, evidence, .. } = found;
    let mut order: Vec<usize> = (0..medoids.len()).collect();
    order.sort_by_key(|&c| (std::cmp::Reverse(figures.classes[c].n_ranks), medoids[c]));
    let mut place = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
    let class_of: Vec<u32> = labels.iter().map(|&label| place[label as usize]).collect();

    let ordered = order.iter().map(|&c| figures.classes[c].clone()).collect();
    let strata = Stratum::all(ordered, &class_of);
    let rng = || Xoshiro256PlusPlus::seed_from_u64(seed);
    let without = plan_strata(vec![Stratum::joined(&strata)], &params, &mut rng());
    let planned = plan_strata(strata, &params, &mut rng());
    let mut sampled = vec![false; labels.len()];
    for &rank in planned.strata.iter().flat_map(|stratum| &stratum.chosen) {
        sampled[rank] = true;
    }
    let classes = planned.strata.iter().zip(&order).map(|(stratum, &c)| {
        let ranks = &stratum.all.ranks;
        let distances = || ranks.iter().map(|&rank| dissimilarities[rank]);
        let total = &figures.totals[c];
        Class {
            medoid: medoids[c],
            ranks: ranks.len() as u64,
            effort: (total.mean[0], total.variance[0].sqrt()),
            ends: (total.least[0], total.most[0]),
            regions: figures.regions[c].clone(),
            dissimilarity: (distances().sum::<f64>() / ranks.len() as f64, distances().fold(0.0, f64::max)),
            traces: traces(table, &figures.classes[c]),
        }
    });
    let row = |&c: &usize| {
        (figures.totals[c].n_ranks as usize, figures.totals[c].mean[0], figures.totals[c].variance[0])
    };
    let whole: Vec<Moments> = order.iter().map(|&c| figures.totals[c].clone()).collect();
    let whole = plan_strata(Stratum::all(whole, &class_of), &params, &mut rng());
    let rows: Vec<(usize, f64, f64)> = order.iter().map(row).collect();
    let mut report = RanksReport {
        grouping,
        regions: match table.regions() {
            [_] => vec![String::new()],
            regions => regions.iter().map(|region| region.name.clone()).collect(),
        },
        n_steps: table.n_steps(),
        parts: parts(&figures.parts, table.regions().len()),
        classes: classes.collect(),
        class_of,
        sampled,
        plan: Plan {
            confidence: params.confidence(),
            bound: params.bound(),
            each_stratum: params.allocation == Allocation::EachStratum,
            stratification: Stratification::of(&rows),
            pays: planned.pays,
            sample: planned.strata.iter().map(|stratum| stratum.chosen.len() as u64).collect(),
            without_classes: without.n_chosen() as u64,
            whole_run: whole.n_chosen() as u64,
            expected_error: planned.expected_error,
        },
        dissimilarity: dissimilarities,
        is_time,
        rounding,
        ..RanksReport::default()
    };
    report.verdict = Verdict::of(&report, &totals, &evidence, error);
    report
}

/// How far ranks are apart in every part of the steps.
fn parts(classes: &[Moments], n_regions: usize) -> Vec<Part> {
    let n: u64 = classes.iter().map(|class| class.n_ranks).sum();
    let of = |j: usize| {
        let least = classes.iter().map(|class| class.least[j]).fold(f64::INFINITY, f64::min);
        let most = classes.iter().map(|class| class.most[j]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = classes.iter().map(|class| class.n_ranks as f64 * class.mean[j]).sum();
        (least, most, sum / n.max(1) as f64)
    };
    let n_parts = classes.first().map_or(0, |class| class.mean.len() / (n_regions + 1));
    let part = |part: usize| {
        let (least, most, mean) = of(part * (n_regions + 1));
        let apart = (1..=n_regions).map(|region| of(part * (n_regions + 1) + region)).map(|(a, b, _)| b - a);
        let region = apart.fold(0.0, f64::max);
        Part {
            spread: spread(least, most, mean),
            has_least: least > 0.0,
            region_spread: if mean == 0.0 { 0.0 } else { region / mean.abs() },
        }
    };
    (0..n_parts).map(part).collect()
}

/// How the classes were found, as far as that is told by what was found.
fn grouping(found: &Found, seed: u64) -> GroupingFacts {
    let best = found.bic.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a }).map(|(k, _)| k);
    GroupingFacts {
        is_exact: found.is_exact,
        loss: found.loss,
        criterion: match best {
            None => Criterion::Given,
            Some(k) if k == found.medoids.len() => Criterion::Bic,
            Some(_) => Criterion::Gap,
        },
        bic: found.bic.clone(),
        support: found.evidence.support.clone(),
        seed,
        ..GroupingFacts::default()
    }
}

fn traces(table: &EffortTable, figures: &Moments) -> Vec<MeanTrace> {
    let n = table.n_steps();
    let of_region = |r: usize| {
        let steps = r * n..(r + 1) * n;
        MeanTrace {
            mean: figures.mean[steps.clone()].to_vec(),
            deviation: figures.variance[steps.clone()].iter().map(|v| v.sqrt()).collect(),
            least: figures.least[steps.clone()].to_vec(),
            most: figures.most[steps].to_vec(),
        }
    };
    (0..table.regions().len()).map(of_region).collect()
}
