use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;
use crate::synth::effort::effort_traces;

/// The loss, by its definition.
fn loss(d: &Dissimilarities, medoids: &[usize]) -> f64 {
    let near = |o: usize| medoids.iter().map(|&m| d.get(m, o)).fold(f64::INFINITY, f64::min);
    (0..d.len()).map(near).sum()
}

/// The least loss of any `k` objects.
fn exhaustive(d: &Dissimilarities, k: usize) -> f64 {
    let sets = (0u32..1 << d.len()).filter(|set| set.count_ones() as usize == k);
    let members = |set: u32| (0..d.len()).filter(|i| set >> i & 1 == 1).collect::<Vec<_>>();
    sets.map(|set| loss(d, &members(set))).fold(f64::INFINITY, f64::min)
}

/// Each object at the nearest medoid, by the rules for ties.
fn labels(d: &Dissimilarities, medoids: &[usize]) -> Vec<u32> {
    let label = |o: usize| {
        medoids.iter().position(|&m| m == o).unwrap_or_else(|| {
            (0..medoids.len())
                .min_by(|&a, &b| d.get(medoids[a], o).total_cmp(&d.get(medoids[b], o)))
                .expect("a medoid")
        }) as u32
    };
    (0..d.len()).map(label).collect()
}

/// The least loss after one swap.
fn best_swap(d: &Dissimilarities, medoids: &[usize]) -> f64 {
    let swapped = |place: usize, c: usize| {
        let mut medoids = medoids.to_vec();
        medoids[place] = c;
        loss(d, &medoids)
    };
    (0..medoids.len())
        .flat_map(|place| (0..d.len()).filter(|c| !medoids.contains(c)).map(move |c| swapped(place, c)))
        .fold(f64::INFINITY, f64::min)
}

fn coherent(d: &Dissimilarities, k: usize, found: &Medoids) {
    assert_eq!(found.medoids.len(), k);
    assert!(found.medoids.is_sorted_by(|a, b| a < b));
    assert_eq!(found.loss, loss(d, &found.medoids));
    assert_eq!(found.labels, labels(d, &found.medoids));
    assert_eq!(found.clustering().n_clusters, k);
    // Not below by more than rounding.
    assert!(best_swap(d, &found.medoids) >= found.loss * (1.0 - 1e-12));
}

fn line(places: &[f64]) -> Dissimilarities {
    Dissimilarities::new(places, |a, b| (a - b).abs()).expect("dissimilarities")
}

fn euclid(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

fn traces(n: usize) -> Dissimilarities {
    Dissimilarities::new(&effort_traces(n, 64, 1), |a, b| euclid(a, b)).expect("dissimilarities")
}

/// Points on a small lattice, so that ties and duplicates are common, or
/// anywhere.
fn points() -> impl Strategy<Value = Vec<[f64; 2]>> {
    let lattice = (0u8..4, 0u8..4).prop_map(|(x, y)| [f64::from(x), f64::from(y)]);
    let anywhere = (0.0..1.0f64, 0.0..1.0f64).prop_map(|(x, y)| [x, y]);
    prop_oneof![prop::collection::vec(lattice, 1..40), prop::collection::vec(anywhere, 1..40)]
}

fn distinct(points: &[[f64; 2]]) -> usize {
    let mut bits: Vec<[u64; 2]> = points.iter().map(|p| p.map(f64::to_bits)).collect();
    bits.sort_unstable();
    bits.dedup();
    bits.len()
}

proptest! {
    #[test]
    fn medoids_are_local_optima_with_nearest_labels(points in points(), k in 1usize..7, seed: u64) {
        let d = Dissimilarities::new(&points, |a, b| euclid(a, b)).expect("dissimilarities");
        let distinct = distinct(&points);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        if k > distinct {
            let error = Err(MedoidsError::TooFewDistinct { n_clusters: k, distinct });
            prop_assert_eq!(pam(&d, k), error.clone());
            prop_assert_eq!(fasterpam(&d, k, Start::Random(&mut rng)), error);
            return Ok(());
        }
        let plain = pam(&d, k).expect("enough objects");
        coherent(&d, k, &plain);
        prop_assert!(best_swap(&d, &plain.medoids) >= plain.loss);
        let built = fasterpam(&d, k, Start::Build).expect("enough objects");
        let random = fasterpam(&d, k, Start::Random(&mut rng)).expect("enough objects");
        let given = fasterpam(&d, k, Start::Medoids(&plain.medoids)).expect("enough objects");
        for found in [&built, &random, &given] {
            coherent(&d, k, found);
            // A swap-optimal set is within five times the best in any metric
            // space (Arya et al., SIAM J. Comput. 33, 2004), and the best is
            // no worse than the plain.
            prop_assert!(found.loss <= 5.0 * plain.loss + 1e-9);
        }
        prop_assert!(given.loss <= plain.loss);
        if points.len() <= 9 {
            let least = exhaustive(&d, k);
            prop_assert!(least <= plain.loss && least <= built.loss);
            prop_assert!(plain.loss <= 5.0 * least + 1e-9);
        }
    }

    #[test]
    fn a_line_of_one_cluster_has_the_best_centre(places in prop::collection::vec(-9i8..9, 1..30), start in 0usize..30) {
        let places: Vec<f64> = places.into_iter().map(f64::from).collect();
        let d = line(&places);
        let least = exhaustive_one(&d);
        let from = [start % places.len()];
        prop_assert_eq!(pam(&d, 1).expect("an object").loss, least);
        prop_assert_eq!(fasterpam(&d, 1, Start::Build).expect("an object").loss, least);
        prop_assert_eq!(fasterpam(&d, 1, Start::Medoids(&from)).expect("an object").loss, least);
    }

    #[test]
    fn subsets_ascend_and_are_distinct(n in 0u64..10_000, size in 0usize..200, seed: u64, trial: u64) {
        let drawn = subset(n, size, seed, trial);
        prop_assert_eq!(drawn.len() as u64, n.min(size as u64));
        prop_assert!(drawn.is_sorted_by(|a, b| a < b));
        prop_assert!(drawn.last().is_none_or(|&last| last < n));
        prop_assert_eq!(drawn, subset(n, size, seed, trial));
    }
}

fn exhaustive_one(d: &Dissimilarities) -> f64 {
    (0..d.len()).map(|c| loss(d, &[c])).fold(f64::INFINITY, f64::min)
}

#[test]
fn ties_take_the_lowest_index() {
    // 1 is as near to 0 as to 2; 3 and 4 are twins.
    let d = line(&[0.0, 5.0, 10.0, 90.0, 90.0]);
    let found = fasterpam(&d, 3, Start::Medoids(&[4, 2, 0])).expect("three");
    assert_eq!((found.medoids, found.labels), (vec![0, 2, 4], vec![0, 0, 1, 2, 2]));
    assert_eq!(pam(&d, 2).expect("two").medoids, [1, 3]);
    assert_eq!(fasterpam(&d, 2, Start::Build).expect("two").medoids, [1, 3]);
    // Of the two middles, the first.
    assert_eq!(pam(&line(&[0.0, 1.0, 2.0, 3.0]), 1).expect("one").medoids, [1]);
}

#[test]
fn a_medoid_is_its_own_even_where_nothing_tells_it_apart() {
    // Not a metric: 1 is like 0 and like 2, which are unlike.
    let d = Dissimilarities::from_matrix(vec![0., 0., 9., 0., 0., 0., 9., 0., 0.], 3).expect("symmetric");
    let found = fasterpam(&d, 2, Start::Medoids(&[0, 1])).expect("two");
    assert_eq!((found.labels, found.n_swaps), (vec![0, 1, 1], 0));
}

#[test]
fn build_and_swap_equal_the_plain_ones_on_effort_traces() {
    let d = traces(300);
    for k in [2, 6, 9] {
        let (plain, fast) = (pam(&d, k).expect("traces"), fasterpam(&d, k, Start::Build).expect("traces"));
        assert!(fast.loss <= plain.loss * 1.005, "k = {k}: {} against {}", fast.loss, plain.loss);
        coherent(&d, k, &fast);
    }
    let kinds: Vec<u32> = (0..300).map(|i| i % 6).collect();
    let found = pam(&d, 6).expect("traces");
    let of = |kind: u32| found.labels[kinds.iter().position(|&x| x == kind).expect("one")];
    assert!((0..300).all(|i| found.labels[i] == of(kinds[i])));
}

#[test]
fn threads_change_nothing() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let d = traces(500);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
            let random = fasterpam(&d, 11, Start::Random(&mut rng));
            let sampled = clara(&effort_traces(500, 64, 1), |a, b| euclid(a, b), &ClaraParams::new(8, 3));
            (pam(&d, 7), fasterpam(&d, 11, Start::Build), random, sampled)
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn effort_that_is_nan_is_an_error_and_names_the_pair() {
    let mut traces = effort_traces(9, 4, 1);
    traces[5][2] = f64::NAN;
    let found = Dissimilarities::new(&traces, |a, b| euclid(a, b)).expect_err("NaN");
    assert!(matches!(found, DissimilaritiesError::Invalid { a: 0, b: 5, value } if value.is_nan()));
    assert!(found.to_string().contains("objects 0 and 5"), "{found}");
    let found = clara(&traces, |a, b| euclid(a, b), &ClaraParams::new(2, 1)).expect_err("NaN");
    assert!(matches!(found, MedoidsError::Dissimilarities(DissimilaritiesError::Invalid { a: 0, b: 5, .. })));
    let found = Dissimilarities::new(&[1.0, 3.0], |a, b| a - b).expect_err("negative");
    assert_eq!(found, DissimilaritiesError::Invalid { a: 0, b: 1, value: -2.0 });
}

#[test]
fn a_matrix_is_checked() {
    let matrix = |data: &[f64]| Dissimilarities::from_matrix(data.to_vec(), 2).expect_err("no matrix");
    assert_eq!(matrix(&[0.0; 3]), DissimilaritiesError::Size { len: 3, n: 2 });
    assert_eq!(matrix(&[0.0, 1.0, 1.0, 2.0]), DissimilaritiesError::Diagonal { object: 1, value: 2.0 });
    let asymmetric = DissimilaritiesError::Asymmetric { a: 0, b: 1, there: 1.0, back: 2.0 };
    assert_eq!(matrix(&[0.0, 1.0, 2.0, 0.0]), asymmetric);
    let invalid = DissimilaritiesError::Invalid { a: 1, b: 0, value: f64::INFINITY };
    assert_eq!(matrix(&[0.0, 1.0, f64::INFINITY, 0.0]), invalid);
}

#[test]
fn the_matrix_is_mirrored() {
    let places: Vec<f64> = (0..101u32).map(|i| f64::from(i * i % 97)).collect();
    let d = line(&places);
    for a in 0..places.len() {
        for b in 0..places.len() {
            assert_eq!(d.get(a, b), (places[a] - places[b]).abs());
        }
    }
    let data = (0..d.len()).flat_map(|i| d.row(i)).copied().collect();
    assert_eq!(Dissimilarities::from_matrix(data, 101), Ok(d));
}

#[test]
fn impossible_numbers_of_clusters_are_errors() {
    let d = line(&[1.0, 1.0, 2.0]);
    let none = MedoidsError::NoClusters { n_objects: 3 };
    assert_eq!(pam(&d, 0), Err(none.clone()));
    assert_eq!(fasterpam(&d, 0, Start::Build), Err(none.clone()));
    assert_eq!(clara(&[1.0, 1.0, 2.0f64], |a, b| (a - b).abs(), &ClaraParams::new(0, 1)), Err(none));
    let few = pam(&d, 3).expect_err("two distinct");
    assert_eq!(few.to_string(), "3 clusters are asked of 2 distinct objects");
    assert_eq!(clara(&[1.0, 1.0, 2.0f64], |a, b| (a - b).abs(), &ClaraParams::new(3, 1)), Err(few));
    for start in [&[0][..], &[0, 0], &[0, 3]] {
        assert!(matches!(fasterpam(&d, 2, Start::Medoids(start)), Err(MedoidsError::Start { .. })));
    }
    assert!(pam(&line(&[]), 1).is_err());
}

#[test]
fn clara_is_pam_where_the_sample_is_all_and_near_it_elsewhere() {
    let objects = effort_traces(400, 64, 2);
    let d = Dissimilarities::new(&objects, |a, b| euclid(a, b)).expect("dissimilarities");
    let whole = ClaraParams { sample_size: 400, ..ClaraParams::new(6, 1) };
    let found = clara(&objects, |a, b| euclid(a, b), &whole).expect("traces");
    assert_eq!(found, fasterpam(&d, 6, Start::Build).expect("traces"));
    let found = clara(&objects, |a, b| euclid(a, b), &ClaraParams::new(6, 1)).expect("traces");
    assert_eq!(found.loss, loss(&d, &found.medoids));
    assert_eq!(found.labels, labels(&d, &found.medoids));
    assert!(found.loss < 1.05 * pam(&d, 6).expect("traces").loss);
    // The best trial is kept.
    for n_samples in 1..5 {
        let fewer = ClaraParams { n_samples, ..ClaraParams::new(6, 1) };
        assert!(found.loss <= clara(&objects, |a, b| euclid(a, b), &fewer).expect("traces").loss);
    }
}

#[test]
fn subsets_are_uniform() {
    // Every pair of 12, over 60,000 trials; 65 degrees of freedom.
    let mut counts = [[0u32; 12]; 12];
    for trial in 0..60_000 {
        let drawn = subset(12, 2, 7, trial);
        counts[drawn[0] as usize][drawn[1] as usize] += 1;
    }
    let expected = 60_000.0 / 66.0;
    let pairs = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
    let chi_square: f64 = pairs.map(|(a, b)| (f64::from(counts[a][b]) - expected).powi(2) / expected).sum();
    // Mean 65, deviation 11.4: five deviations either way.
    assert!((8.0..122.0).contains(&chi_square), "{chi_square}");
    // Each of 1,000, in samples of 50 from other seeds.
    let mut counts = [0u32; 1_000];
    for seed in 0..4_000 {
        subset(1_000, 50, seed, 3).iter().for_each(|&i| counts[i as usize] += 1);
    }
    let chi_square: f64 = counts.iter().map(|&c| (f64::from(c) - 200.0).powi(2) / 200.0).sum();
    // 999 degrees of freedom, less by 1 − 50/1,000: mean 950, deviation 42.
    assert!((740.0..1_160.0).contains(&chi_square), "{chi_square}");
}
