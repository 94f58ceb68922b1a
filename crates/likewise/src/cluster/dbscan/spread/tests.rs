//! Points spread over ranks against all of them on one.

use super::super::dbscan;
use super::super::params::{Dbscan, DbscanParams};
use super::{Way, by, dbscan_spread};
use crate::cluster::{Clustering, Points};
use crate::comm::{CommError, Communicator, Counted, Solo, run_on_threads};
use proptest::prelude::*;

const SIZES: [usize; 6] = [1, 2, 3, 4, 7, 16];

/// Numbers from 0 to 1.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Where the rows of each of `size` ranks begin and end; some ranks have none.
fn shares(n: usize, size: usize, seed: u64) -> Vec<usize> {
    let mut uniform = uniform(seed);
    let mut cuts: Vec<usize> = (1..size).map(|_| (uniform() * (n + 1) as f64) as usize).collect();
    if seed.is_multiple_of(3) {
        // All on a few ranks.
        cuts.iter_mut().for_each(|cut| *cut = if *cut < n / 2 { 0 } else { n });
    }
    cuts.extend([0, n]);
    cuts.sort_unstable();
    cuts
}

fn on_ranks(points: Points<'_>, params: &DbscanParams, way: Way, size: usize, seed: u64) -> Vec<Dbscan> {
    let (cuts, dims) = (shares(points.len(), size, seed), points.dims());
    let found = run_on_threads(size, |comm| {
        let own = &points.data()[cuts[comm.rank()] * dims..cuts[comm.rank() + 1] * dims];
        by(Points::new(own, dims).expect("finite"), params, comm, way)
    });
    found.expect("no rank fails")
}

fn joined(parts: Vec<Dbscan>) -> Dbscan {
    let n_clusters = parts[0].clustering.n_clusters;
    assert!(parts.iter().all(|part| part.clustering.n_clusters == n_clusters));
    let labels = parts.iter().flat_map(|part| part.clustering.labels.clone()).collect();
    let core = parts.into_iter().flat_map(|part| part.core).collect();
    Dbscan { clustering: Clustering { labels, n_clusters }, core }
}

fn check(data: &[f64], dims: usize, eps: f64, min_points: usize, seed: u64) {
    let points = Points::new(data, dims).expect("finite points");
    let params = DbscanParams::new(eps, min_points).expect("valid parameters");
    let expected = dbscan(points, &params);
    for way in [Way::Owners, Way::Cells(1 << 16)] {
        if dims > 3 && way != Way::Owners {
            continue;
        }
        for size in SIZES {
            let found = joined(on_ranks(points, &params, way, size, seed));
            assert_eq!(found, expected, "{way:?} on {size}, dims {dims}, {params:?}, seed {seed}");
        }
    }
}

/// Coordinates on a coarse lattice (many equal points, distances of exactly
/// eps) mixed with free ones.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![(0..12i32).prop_map(|i| f64::from(i) * 0.1), 0.0..1.2f64, 0.3..0.32f64]
}

fn dims() -> impl Strategy<Value = usize> {
    prop_oneof![1..=3usize, 1..=3usize, Just(5), Just(8)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn lattices_and_free_points(
        dims in dims(),
        coordinates in prop::collection::vec(coordinate(), 0..1600),
        eps in prop_oneof![Just(0.1), Just(0.2), 0.005..0.6f64],
        min_points in prop_oneof![1..8usize, Just(5000)],
        seed in 0..u64::MAX,
    ) {
        let whole = coordinates.len() / dims * dims;
        check(&coordinates[..whole], dims, eps, min_points, seed);
    }

    #[test]
    fn blobs_with_duplicates(
        seed in 0..u64::MAX,
        n in 100..1200usize,
        dims in dims(),
        eps in 0.01..0.2f64,
        min_points in 1..80usize,
    ) {
        let mut uniform = uniform(seed);
        let mut data = Vec::new();
        for _ in 0..n {
            let centre = (uniform() * 3.0).floor() / 3.0;
            // Half of the points are equal to many others.
            let round = if uniform() < 0.5 { 100.0 } else { 1e9 };
            for _ in 0..dims {
                let x = centre + 0.4 * uniform() * uniform() * uniform();
                data.push((x * round).round() / round);
            }
        }
        check(&data, dims, eps, min_points, seed);
    }

    #[test]
    fn uniform_points(
        seed in 0..u64::MAX,
        n in 100..1500usize,
        dims in dims(),
        neighbours in 0.5..8.0f64,
        min_points in 1..8usize,
    ) {
        let mut uniform = uniform(seed);
        let data: Vec<f64> = (0..n * dims).map(|_| uniform()).collect();
        let eps = 0.6 * (neighbours / n as f64).powf(1.0 / dims as f64);
        check(&data, dims, eps, min_points, seed);
    }
}

#[test]
fn few_points_and_none() {
    check(&[], 2, 0.1, 1, 1);
    check(&[0.5, 0.5], 2, 0.1, 1, 1);
    check(&[0.5, 0.5], 2, 0.1, 2, 2);
    check(&[0.25; 640], 8, 0.1, 80, 4);
    check(&[0.25; 640], 8, 0.1, 81, 5);
}

#[test]
fn far_points() {
    let far = [0.0, 1e300, -1e300, 1e-300, f64::MAX, f64::MIN, 5e-324, 1.0, 1.0 + f64::EPSILON, 0.0];
    for eps in [1e-300, 1e-9, 1.0, 1e150, 1e200] {
        for dims in [1, 2, 5] {
            check(&far, dims, eps, 2, 7);
        }
    }
}

#[test]
fn one_rank_needs_no_other() {
    let points = Points::new(&[0.0, 0.1, 5.0], 1).expect("finite");
    let params = DbscanParams::new(0.2, 2).expect("valid");
    assert_eq!(dbscan_spread(points, &params, &Solo::default()), Ok(dbscan(points, &params)));
}

/// `n` points in tight squares, and some far from them.
fn tight(n: usize) -> Vec<f64> {
    let mut uniform = uniform(7);
    let mut data = Vec::new();
    for i in 0..n {
        let phase = (uniform() * 5.0).floor();
        let width = if i % 4000 == 0 && i < 800_000 { 3.0 } else { 0.02 };
        data.extend([phase + width * uniform(), phase * phase + width * uniform()]);
    }
    data
}

/// What all ranks send, if the points come in shares of many sizes, and whether
/// all is as on one rank.
fn bytes_sent(n: usize, size: usize) -> u64 {
    let data = tight(n);
    let points = Points::new(&data, 2).expect("finite points");
    let params = DbscanParams::new(0.01, 10).expect("valid parameters");
    let cuts = shares(n, size, 5);
    let found = run_on_threads(size, |comm| {
        let own = Points::new(&data[2 * cuts[comm.rank()]..2 * cuts[comm.rank() + 1]], 2).expect("finite");
        let counted = Counted::new(comm);
        let found = dbscan_spread(own, &params, &counted)?;
        Ok::<_, CommError>((found, counted.traffic().iter().map(|phase| phase.bytes).sum::<u64>()))
    });
    let (parts, sent): (Vec<Dbscan>, Vec<u64>) = found.expect("no rank fails").into_iter().unzip();
    assert!(joined(parts) == dbscan(points, &params), "{n} points on {size} ranks");
    sent.iter().sum()
}

#[test]
fn what_is_sent_does_not_grow_with_tight_clouds() {
    for size in [3, 8] {
        let (few, many) = (bytes_sent(200_000, size), bytes_sent(2_000_000, size));
        println!("{size} ranks: {few} bytes for 200,000 points, {many} for 2,000,000");
        assert!(many < few + few / 10, "{few} and {many} bytes on {size} ranks");
    }
}

#[test]
fn any_number_of_threads_and_ranks_gives_the_same() {
    let data = tight(150_000);
    for (dims, eps) in [(2, 0.01), (3, 0.01), (5, 0.05)] {
        let points = Points::new(&data, dims).expect("finite points");
        let params = DbscanParams::new(eps, 10).expect("valid parameters");
        let expected = dbscan(points, &params);
        for seed in 1..4 {
            let cuts = shares(points.len(), 5, seed);
            let found = run_on_threads(5, |comm| {
                let own = &data[cuts[comm.rank()] * dims..cuts[comm.rank() + 1] * dims];
                let own = Points::new(own, dims).expect("finite");
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1 + comm.rank()).build();
                pool.expect("threads").install(|| dbscan_spread(own, &params, comm))
            });
            assert!(joined(found.expect("no rank fails")) == expected, "dims {dims}, seed {seed}");
        }
    }
}

#[test]
fn an_error_of_one_rank_ends_all() {
    let params = DbscanParams::new(0.1, 2).expect("valid parameters");
    let found = run_on_threads(3, |comm| match comm.rank() {
        1 => Err(CommError::out_of_step("test")),
        _ => dbscan_spread(Points::new(&[0.5, 0.5], 2).expect("finite"), &params, comm),
    });
    assert_eq!(found, Err(CommError::out_of_step("test")));
}
