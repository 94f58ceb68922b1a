use super::*;
use likewise::cluster::medoids::capek::{Criterion, Mode};
use likewise::ranks::{EffortRegion, part};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn table(objects: &[Vec<f64>]) -> EffortTable {
    let region = EffortRegion { name: String::new(), unit: String::new() };
    EffortTable::from_series(region, objects).unwrap()
}

/// Where PAM is what CAPEK does, the criterion is the same too.
#[test]
fn the_bic_of_one_process_is_that_of_many() {
    for objects in [likewise::synth::effort::effort_traces(40, 16, 1), vec![vec![3.0, 4.0]; 9]] {
        let clusters = ClusterCount::UpTo(8);
        let table = table(&objects);
        let mine = Mine { ranks: 0..objects.len(), table: &table, rounding: 1.0 };
        let pam = alone(Alone::Pam, &mine, (&objects, Signature::Whole), clusters, 0).unwrap();
        let params = CapekParams {
            mode: Mode::Exact,
            ..CapekParams::new(clusters, Criterion::Bic(|object: &Vec<f64>| object))
        };
        let found = likewise::comm::run_on_threads(3, |comm| {
            capek(comm, &objects[part(objects.len(), comm.rank(), 3)], &distance, &params)
        });
        let criterion = &found.unwrap()[0].criterion;
        assert_eq!(criterion.len(), pam.bic.len());
        for (one, many) in pam.bic.iter().zip(criterion) {
            assert_eq!(one.0, many.0);
            assert!((one.1 - many.1).abs() <= 1e-9 * one.1.abs() || one.1 == many.1, "{one:?} {many:?}");
        }
    }
}

#[test]
fn every_method_finds_six_kinds() {
    let objects = likewise::synth::effort::effort_traces(60, 64, 3);
    let table = table(&objects);
    let mine = Mine { ranks: 0..60, table: &table, rounding: 1.0 };
    for method in [Alone::Pam, Alone::Fasterpam, Alone::Clara] {
        let found = alone(method, &mine, (&objects, Signature::Whole), ClusterCount::UpTo(10), 0).unwrap();
        assert_eq!(found.medoids.len(), 6, "{method:?} {:?}", found.bic);
        for (rank, &label) in found.labels.iter().enumerate() {
            assert_eq!(found.medoids[label as usize] as usize % 6, rank % 6);
        }
    }
}

/// Near a normal number, of mean 0 and deviation 1.
fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
}

/// The classes of ranks with these mean efforts, of which each of `n_steps` strays.
fn classes(means: &[Vec<f64>], strays: &[f64], n_steps: usize, seed: u64) -> Found {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let region = |i: usize| EffortRegion { name: i.to_string(), unit: String::new() };
    let regions = (0..strays.len()).map(region).collect();
    let mut values = Vec::new();
    for (mean, stray) in means.iter().flat_map(|of_rank| of_rank.iter().zip(strays)) {
        values.extend((0..n_steps).map(|_| mean * (1.0 + stray * normal(&mut rng)).abs()));
    }
    let table = EffortTable::new(regions, n_steps, values).unwrap();
    let mine = Mine { ranks: 0..means.len(), table: &table, rounding: 1.0 };
    let levels = (n_steps.ilog2() as usize).saturating_sub(4);
    let signature = if levels == 0 { Signature::Whole } else { Signature::Wavelet(Wavelet::Haar, levels) };
    alone(Alone::Pam, &mine, (&mine.objects(signature), signature), ClusterCount::UpTo(10), 0).unwrap()
}

#[test]
fn noise_of_many_steps_hides_no_levels() {
    for seed in 0..5 {
        let means: Vec<Vec<f64>> = (0..64).map(|rank| vec![1.0 + 0.1 * f64::from(rank % 3)]).collect();
        let found = classes(&means, &[0.05], 500, seed);
        let by_halves = matches!(found.other, Some(Signature::Halves));
        assert_eq!((found.medoids.len(), by_halves), (3, true), "seed {seed}");
        for (rank, &label) in found.labels.iter().enumerate() {
            assert_eq!(found.medoids[label as usize] as usize % 3, rank % 3);
        }
        // Two levels in a few steps need no second look, beside a region in which ranks
        // hardly do anything.
        let means: Vec<Vec<f64>> = (0..16).map(|rank| vec![1.0 + 0.1 * f64::from(rank % 2), 0.001]).collect();
        let found = classes(&means, &[0.01, 0.3], 16, seed);
        assert_eq!((found.medoids.len(), found.other.is_none()), (2, true), "seed {seed}");
    }
}

#[test]
fn skew_efforts_are_no_classes() {
    for (seed, n_steps) in (0..40).flat_map(|seed| [(seed, 20), (seed, 60)]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1000 + seed);
        let n_ranks = [16, 24, 32][seed as usize % 3];
        let means: Vec<Vec<f64>> = (0..n_ranks).map(|_| vec![normal(&mut rng).exp()]).collect();
        let found = classes(&means, &[0.02], n_steps, seed);
        assert_eq!(found.medoids.len(), 1, "seed {seed}, {n_steps} steps");
    }
}

/// Ranks that differ in each step, in turn, were "alike within 0.8%": a signature keeps of
/// quick changes how large they are alone, and sums over the steps are the same.
#[test]
fn ranks_that_do_more_in_turn_are_classes() {
    for (seed, period) in (0..2).flat_map(|seed| [(seed, 1), (seed, 2), (seed, 4)]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut effort = |rank: usize, step: usize| {
            let more = (step / period + rank).is_multiple_of(2);
            (if more { 1.5 } else { 0.5 }) * (1.0 + 0.02 * normal(&mut rng))
        };
        let objects: Vec<Vec<f64>> =
            (0..24).map(|rank| (0..64).map(|step| effort(rank, step)).collect()).collect();
        let table = table(&objects);
        let mine = Mine { ranks: 0..24, table: &table, rounding: 1.0 };
        let signature = Signature::Wavelet(Wavelet::Haar, 3);
        let objects = mine.objects(signature);
        let found = alone(Alone::Pam, &mine, (&objects, signature), ClusterCount::UpTo(10), 0).unwrap();
        assert_eq!(found.medoids.len(), 2, "seed {seed}, period {period}");
        assert!(
            found
                .labels
                .iter()
                .zip(0..)
                .all(|(label, rank)| { found.medoids[*label as usize] % 2 == rank % 2 })
        );
    }
    // Noise does not make up over the steps, and is no class.
    for seed in 0..8 {
        let found = classes(&vec![vec![1.0]; 24], &[0.05], 64, seed);
        assert_eq!((found.medoids.len(), found.figures.make_up(64)), (1, false), "seed {seed}");
    }
}
