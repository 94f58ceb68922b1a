//! How many ranks of a box must be measured, beside what Table 1 of Gamblin
//! et al. (ICS 2010) prints: `cargo run --release -p likewise --example box`.

use likewise::cluster::medoids::capek::{CapekParams, ClusterCount, Criterion, Mode, capek};
use likewise::cluster::{ClusterId, euclidean};
use likewise::comm::Solo;
use likewise::ranks::{Allocation, Bound, EffortTable, PlanParams, Spread, estimate, plan};
use likewise::synth::{BoxSpec, Boxed};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Sides, and what the paper needs at 1, 3, 6 and 9 clusters.
type Case = ([usize; 3], [Option<usize>; 4]);
const CASES: [Case; 7] = [
    ([16, 16, 16], [Some(4095), Some(5), Some(9), Some(14)]),
    ([16, 16, 32], [Some(8191), Some(5), Some(10), Some(14)]),
    ([16, 32, 32], [Some(16383), Some(6), Some(10), Some(17)]),
    ([32, 32, 32], [None, Some(6), Some(13), Some(18)]),
    ([32, 32, 64], [None, Some(4), Some(10), Some(13)]),
    ([64, 64, 64], [None; 4]),
    ([128, 128, 64], [None; 4]),
];
const CLUSTERS: [usize; 4] = [1, 3, 6, 9];
const SEEDS: u64 = 100;
/// More of them for the box of 65,536, where chance shall not speak.
const MANY_SEEDS: u64 = 1000;

fn main() {
    println!(
        "ranks,clusters,by,allocation,at_least,chosen_mean,chosen_most,percent,paper,expected_error,kept,kept_of_first_{SEEDS},worst_error"
    );
    for (sides, paper) in CASES {
        let boxed = BoxSpec { sides, ..BoxSpec::default() }.boxed(1);
        let truth = mean(&boxed.table);
        for (k, paper) in CLUSTERS.into_iter().zip(paper) {
            let plans = [(Allocation::EachStratum, 1), (Allocation::Neyman, 1), (Allocation::Neyman, 2)];
            let params = |(allocation, at_least)| {
                let mut params = PlanParams::new(0.95, Bound::Relative(0.05)).expect("parameters");
                (params.allocation, params.at_least) = (allocation, at_least);
                params
            };
            let labels = breaks(&boxed, k);
            for choice in plans {
                row(&boxed, "squares", |_| labels.clone(), &params(choice), &truth, (k, paper));
            }
            if k > 1 {
                row(&boxed, "CAPEK", |seed| classes(&boxed, k, seed), &params(plans[2]), &truth, (k, paper));
            }
        }
    }
}

/// Plans with many seeds, each with strata of its own.
fn row(
    boxed: &Boxed,
    by: &str,
    strata: impl Fn(u64) -> Vec<Option<ClusterId>>,
    params: &PlanParams,
    truth: &[f64],
    (k, paper): (usize, Option<usize>),
) {
    let n = boxed.table.n_ranks();
    let (mut kept, mut worst, mut chosen, mut most, mut expected) = (0, 0.0f64, 0, 0, 0.0);
    // A plan looks at all ranks; large boxes need not do so a hundred times.
    let seeds = if n > 1 << 17 { SEEDS / 5 } else { SEEDS };
    let seeds = if n == 1 << 16 && k == 3 { MANY_SEEDS } else { seeds };
    let mut of_hundred = 0;
    for seed in 0..seeds {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let plan = plan(&boxed.table, &strata(seed), params, &mut rng).expect("a plan");
        (chosen, expected) = (chosen + plan.n_chosen(), expected + plan.expected_error);
        most = most.max(plan.n_chosen());
        let told = estimate(&plan, |rank| boxed.table.row(rank), 0.95, Spread::Planned).expect("means");
        let error = (told[0].mean / truth[0] - 1.0).abs();
        kept += u64::from(error <= 0.05);
        of_hundred += u64::from(error <= 0.05 && seed < SEEDS);
        worst = worst.max(error);
    }
    println!(
        "{n},{k},{by},{:?},{},{:.2},{most},{:.4},{},{:.4},{kept}/{seeds},{of_hundred},{worst:.4}",
        params.allocation,
        params.at_least,
        chosen as f64 / seeds as f64,
        100.0 * most as f64 / n as f64,
        paper.map_or("-".into(), |p| p.to_string()),
        expected / seeds as f64,
    );
}

/// The classes that CAPEK finds in samples.
fn classes(boxed: &Boxed, k: usize, seed: u64) -> Vec<Option<ClusterId>> {
    let objects: Vec<Vec<f64>> =
        (0..boxed.table.n_ranks()).map(|rank| boxed.table.row(rank).to_vec()).collect();
    let criterion: Criterion<Vec<f64>> = Criterion::Bic(|object| object);
    let params =
        CapekParams { seed, mode: Mode::Sampled, ..CapekParams::new(ClusterCount::Fixed(k), criterion) };
    let distance = |a: &Vec<f64>, b: &Vec<f64>| euclidean(a, b);
    let found = capek(&Solo::default(), &objects, &distance, &params);
    let labels = found.expect("classes").labels;
    labels.into_iter().map(|label| Some(ClusterId::from_index(label as usize))).collect()
}

fn mean(table: &EffortTable) -> Vec<f64> {
    let n = table.n_ranks();
    (0..table.dims()).map(|j| (0..n).map(|r| table.row(r)[j]).sum::<f64>() / n as f64).collect()
}

/// The k classes of least squared error among 400 bins of the ranks' means,
/// by dynamic programming: the best that a clustering can find.
fn breaks(boxed: &Boxed, k: usize) -> Vec<Option<ClusterId>> {
    const BINS: usize = 400;
    let table = &boxed.table;
    let of: Vec<f64> = (0..table.n_ranks()).map(|r| table.row(r).iter().sum()).collect();
    let (low, high) = of.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
    let bin = |x: f64| (((x - low) / (high - low) * BINS as f64) as usize).min(BINS - 1);
    let mut sums = [[0.0; 3]; BINS + 1];
    for &x in &of {
        let sum = &mut sums[bin(x) + 1];
        (0..3).for_each(|power| sum[power] += x.powi(power as i32));
    }
    for i in 1..=BINS {
        (0..3).for_each(|power| sums[i][power] += sums[i - 1][power]);
    }
    let error = |from: usize, to: usize| {
        let [n, x, xx] = [0, 1, 2].map(|power| sums[to][power] - sums[from][power]);
        if n > 0.0 { xx - x * x / n } else { 0.0 }
    };
    let mut best = vec![(0..=BINS).map(|to| (error(0, to), 0)).collect::<Vec<_>>()];
    for level in 1..k {
        let last = &best[level - 1];
        let at = |to: usize| {
            let with = |from: usize| (last[from].0 + error(from, to), from);
            (0..=to).map(with).min_by(|a, b| a.0.total_cmp(&b.0)).expect("a break")
        };
        best.push((0..=BINS).map(at).collect());
    }
    let (mut class, mut to) = (vec![0; BINS], BINS);
    for level in (0..k).rev() {
        let from = if level > 0 { best[level][to].1 } else { 0 };
        class[from..to].fill(level);
        to = from;
    }
    of.iter().map(|&x| Some(ClusterId::from_index(class[bin(x)]))).collect()
}
