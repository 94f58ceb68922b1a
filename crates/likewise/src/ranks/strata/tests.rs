use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;
use crate::ranks::EffortRegion;
use crate::ranks::estimate::quantile;
use crate::ranks::{Spread, estimate};
use crate::synth::{BoxSpec, Boxed};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn table(n_steps: usize, values: Vec<f64>) -> EffortTable {
    let region = EffortRegion { name: "r".into(), unit: "s".into() };
    EffortTable::new(vec![region], n_steps, values).expect("a table")
}

fn classes(of: &[usize]) -> Vec<Option<ClusterId>> {
    of.iter().map(|&c| Some(ClusterId::from_index(c))).collect()
}

#[test]
fn quantiles_equal_scipy() {
    for (confidence, z) in
        [(0.9, 1.644_853_626_951_472_2), (0.95, 1.959_963_984_540_054), (0.99, 2.575_829_303_548_900_4)]
    {
        assert!((two_sided(confidence) - z).abs() < 1e-9);
        assert_eq!(quantile(confidence, f64::INFINITY), two_sided(confidence));
    }
    for (freedom, t) in
        [(1.0, 12.706_204_736_432_095), (4.0, 2.776_445_105_197_793), (30.0, 2.042_272_456_301_238)]
    {
        assert!((quantile(0.95, freedom) - t).abs() < 1e-6, "{}", quantile(0.95, freedom));
    }
}

#[test]
fn equation_1_by_hand() {
    // (1.96 · 5/5)² = 3.84: 4 ranks of very many, whatever their number.
    let z = two_sided(0.95);
    assert_eq!(sample_size(1 << 20, 0.05, 0.05, z), 4);
    // (1.96 · 10/1)² = 384.1, and 1000 · 384.1 / 1384.1 = 277.5.
    assert_eq!(sample_size(1000, 10.0, 1.0, z), 278);
    assert_eq!(sample_size(1000, 0.0, 1.0, z), 0);
    assert_eq!(sample_size(10, 1.0, 0.0, z), 10);
}

#[test]
fn says_what_cannot_be_planned() {
    assert_eq!(PlanParams::new(1.0, Bound::Absolute(1.0)), Err(PlanError::Confidence(1.0)));
    assert!(PlanParams::new(0.95, Bound::Relative(f64::NAN)).is_err());
    let params = PlanParams::new(0.95, Bound::Relative(0.05)).expect("parameters");
    let made = plan(&table(1, vec![1.0; 3]), &classes(&[0, 0]), &params, &mut rng(1));
    assert_eq!(made, Err(PlanError::Labels { labels: 2, ranks: 3 }));
}

#[test]
fn a_mean_of_nothing_takes_all_that_differ() {
    let params = PlanParams::new(0.95, Bound::Relative(0.05)).expect("parameters");
    let made = plan(&table(1, vec![-1.0, 1.0, 3.0, -3.0]), &classes(&[0; 4]), &params, &mut rng(1));
    assert_eq!(made.expect("a plan").n_chosen(), 4);
    let made = plan(&table(1, vec![0.0; 4]), &classes(&[0; 4]), &params, &mut rng(1)).expect("a plan");
    assert_eq!((made.n_chosen(), made.expected_error), (2, 0.0));
}

/// As NumPy has it: strata of 4 and 6 ranks, of which 3 and 2 were measured.
#[test]
fn an_estimate_by_hand() {
    let stratum = |ranks: std::ops::Range<usize>, chosen: Vec<usize>| PlannedStratum {
        all: Stratum { ranks: ranks.collect(), mean: vec![0.0], variance: vec![f64::NAN] },
        chosen,
    };
    let plan = Plan {
        strata: vec![stratum(0..4, vec![0, 1, 3]), stratum(4..10, vec![4, 9])],
        expected_error: 0.0,
        pays: 0.0,
    };
    let values = [1.0, 2.0, 0.0, 3.0, 10.0, 0.0, 0.0, 0.0, 0.0, 14.0].map(|x| [x]);
    let told = estimate(&plan, |rank| &values[rank], 0.95, Spread::Sampled).expect("an estimate")[0];
    // 0.4 · 2 + 0.6 · 12; 0.16 · 1 · (1/3 − 1/4) + 0.36 · 8 · (1/2 − 1/6); Satterthwaite; t.
    assert!((told.mean - 8.0).abs() < 1e-12);
    assert!((told.standard_error - 0.986_576_572_463_249).abs() < 1e-12, "{}", told.standard_error);
    assert!((told.freedom - 1.027_871_540_167_807_8).abs() < 1e-9, "{}", told.freedom);
    assert!((told.half_width / told.standard_error - quantile(0.95, told.freedom)).abs() < 1e-12);
}

#[test]
fn joined_strata_are_those_of_one_class() {
    let boxed = BoxSpec { sides: [5, 6, 7], ..BoxSpec::default() }.boxed(7);
    let strata = strata_of(&boxed.table, &boxed.labels_of_three()).expect("strata");
    let one = strata_of(&boxed.table, &vec![None; boxed.table.n_ranks()]).expect("a stratum");
    let joined = Stratum::joined(&strata);
    assert_eq!((strata.len(), &joined.ranks), (3, &one[0].ranks));
    for (a, b) in joined.mean.iter().chain(&joined.variance).zip(one[0].mean.iter().chain(&one[0].variance)) {
        assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    }
}

/// Means of all, and the promise, over seeds.
fn within(boxed: &Boxed, labels: &[Option<ClusterId>], params: &PlanParams, seeds: u64) -> (u64, usize) {
    let n = boxed.table.n_ranks();
    let step = |j: usize| (0..n).map(|r| boxed.table.row(r)[j]).sum::<f64>() / n as f64;
    let truth: Vec<f64> = (0..boxed.table.dims()).map(step).collect();
    let (mut kept, mut chosen) = (0, 0);
    for seed in 0..seeds {
        let plan = plan(&boxed.table, labels, params, &mut rng(seed)).expect("a plan");
        chosen = plan.n_chosen();
        let row = |rank: usize| boxed.table.row(rank);
        let means = estimate(&plan, row, 0.95, Spread::Planned).expect("an estimate");
        kept += u64::from((means[0].mean / truth[0] - 1.0).abs() <= 0.05);
    }
    (kept, chosen)
}

#[test]
fn the_box_needs_few_ranks_and_keeps_its_promise() {
    let boxed = BoxSpec { sides: [16, 16, 16], ..BoxSpec::default() }.boxed(7);
    let mut params = PlanParams::new(0.95, Bound::Relative(0.05)).expect("parameters");
    let three = boxed.labels_of_three();
    // A few of edges and corners, in proportion, are too skewed a sample for
    // the normal quantile; one class each is not.
    let four: Vec<_> = boxed.classes.iter().map(|&c| Some(ClusterId::from_index(c as usize))).collect();
    for (allocation, labels) in
        [(Allocation::EachStratum, &three), (Allocation::Neyman, &three), (Allocation::Proportional, &four)]
    {
        params.allocation = allocation;
        let (kept, chosen) = within(&boxed, labels, &params, 1000);
        // 950 are promised; chance alone makes it 930 once in 500 times.
        assert!(kept >= 930, "{allocation:?}: {kept} of 1000 with {chosen} ranks");
    }
}

proptest! {
    /// Wright's order is the best of all shares, for any number of ranks.
    #[test]
    fn no_other_shares_have_a_smaller_variance(
        strata in prop::collection::vec((1usize..6, 0.0f64..4.0), 2..4), total in 3usize..9
    ) {
        let sizes: Vec<usize> = strata.iter().map(|s| s.0).collect();
        let weights: Vec<f64> = strata.iter().map(|s| s.0 as f64 * s.1).collect();
        let total = total.clamp(sizes.len(), sizes.iter().sum());
        let variance = |counts: &[usize]| -> f64 {
            weights.iter().zip(counts).map(|(w, &n)| w * w / n as f64).sum()
        };
        let mut counts = vec![1; sizes.len()];
        let order = additions(&sizes, &weights, &counts);
        order[..total - sizes.len()].iter().for_each(|&s| counts[s as usize] += 1);
        let mut trial = vec![1; sizes.len()];
        loop {
            if trial.iter().sum::<usize>() == total {
                prop_assert!(variance(&counts) <= variance(&trial) + 1e-9);
            }
            let Some(at) = (0..trial.len()).find(|&i| trial[i] < sizes[i]) else { break };
            trial[at] += 1;
            trial[..at].fill(1);
        }
    }

    /// Equation 2 against the variances that it stands for.
    #[test]
    fn equation_2_compares_the_variances(
        strata in prop::collection::vec(prop::collection::vec(0.0f64..10.0, 2..6), 2..5)
    ) {
        let of = |values: &[f64]| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            (values.len(), mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
        };
        let rows: Vec<_> = strata.iter().map(|s| of(s)).collect();
        let all = of(&strata.concat());
        let stratified = rows.iter().map(|r| r.0 as f64 * r.2).sum::<f64>() / all.0 as f64;
        prop_assume!((stratified - all.2).abs() > 1e-9);
        let told = Stratification::of(&rows);
        prop_assert_eq!(told.pays(), stratified < all.2);
        prop_assert!((told.variance - all.2).abs() < 1e-9 && (told.variance_in_strata - stratified).abs() < 1e-9);
    }

    #[test]
    fn plans_keep_their_bounds(
        of in prop::collection::vec((0usize..3, 1.0f64..3.0, 1.0f64..3.0), 3..60),
        error in 0.01f64..0.5, at_least in 0usize..4, which in 0usize..3, seed: u64
    ) {
        let labels = classes(&of.iter().map(|o| o.0).collect::<Vec<_>>());
        let table = table(2, of.iter().flat_map(|o| [o.1, o.2]).collect());
        let mut params = PlanParams::new(0.9, Bound::Relative(error)).expect("parameters");
        params.allocation = [Allocation::EachStratum, Allocation::Proportional, Allocation::Neyman][which];
        params.at_least = at_least;
        let plan = plan(&table, &labels, &params, &mut rng(seed)).expect("a plan");
        prop_assert_eq!(plan.n_ranks(), of.len());
        for stratum in &plan.strata {
            let (n, size) = (stratum.chosen.len(), stratum.all.ranks.len());
            prop_assert!(n >= at_least.max(1).min(size) && n <= size);
            prop_assert!(stratum.chosen.is_sorted_by(|a, b| a < b));
            prop_assert!(stratum.chosen.iter().all(|r| stratum.all.ranks.contains(r)));
        }
        prop_assert!(plan.expected_error <= error * (1.0 + 1e-9), "{}", plan.expected_error);
        let told = estimate(&plan, |rank| table.row(rank), 0.9, Spread::Planned).expect("an estimate");
        for (j, told) in told.iter().enumerate() {
            let mean = (0..of.len()).map(|r| table.row(r)[j]).sum::<f64>() / of.len() as f64;
            prop_assert!(told.half_width <= error * mean * (1.0 + 1e-9));
            prop_assert!(plan.n_chosen() < of.len() || (told.mean - mean).abs() < 1e-12);
        }
    }
}
