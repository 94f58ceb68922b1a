//! The fast method against one that looks at every pair.

use super::params::{Dbscan, DbscanParams};
use super::{dbscan, grid, groups, rows, sparse, tree};
use crate::cluster::{ClusterId, Clustering, Points};
use proptest::prelude::*;

/// Ester et al. as written: grow one cluster after the other, in order.
fn dbscan_reference(points: Points<'_>, params: &DbscanParams) -> Dbscan {
    let n = points.len();
    let within = |i: usize, j: usize| {
        let square = |(a, b): (&f64, &f64)| (a - b) * (a - b);
        points.row(i).iter().zip(points.row(j)).map(square).sum::<f64>() <= params.eps() * params.eps()
    };
    let neighbours: Vec<Vec<usize>> = (0..n).map(|i| (0..n).filter(|&j| within(i, j)).collect()).collect();
    let core: Vec<bool> = neighbours.iter().map(|near| near.len() >= params.min_points()).collect();
    let (mut labels, mut n_clusters) = (vec![None; n], 0);
    for seed in 0..n {
        if labels[seed].is_some() || !core[seed] {
            continue;
        }
        let id = Some(ClusterId::from_index(n_clusters));
        n_clusters += 1;
        labels[seed] = id;
        let mut open = vec![seed];
        while let Some(i) = open.pop() {
            for &j in neighbours[i].iter().filter(|_| core[i]) {
                if labels[j].is_none() {
                    labels[j] = id;
                    open.push(j);
                }
            }
        }
    }
    Dbscan { clustering: Clustering { labels, n_clusters }, core }
}

fn check(data: &[f64], dims: usize, eps: f64, min_points: usize) {
    let points = Points::new(data, dims).expect("finite points");
    let params = DbscanParams::new(eps, min_points).expect("valid parameters");
    let expected = dbscan_reference(points, &params);
    assert_eq!(dbscan(points, &params), expected, "dims {dims}, eps {eps}, min_points {min_points}");
    if eps < sparse::MAX_EPS {
        assert_eq!(sparse::cluster::<16>(points, &params), expected, "sparse, dims {dims}, eps {eps}");
    }
    // `dbscan` chooses one way; all must agree.
    let input = rows::<16>(points);
    let (tree, by_leaf) = tree::Tree::new(&input, &params);
    assert_eq!(groups::cluster(&input, &by_leaf, &tree, &params), expected, "tree, eps {eps}");
    if dims == 2 {
        let input = rows::<2>(points);
        if let Some((grid, by_cell)) = grid::Grid::new(&input, &params) {
            assert_eq!(groups::cluster(&input, &by_cell, &grid, &params), expected, "grid, eps {eps}");
        }
    }
}

/// Coordinates on a coarse lattice (many equal points, distances of exactly
/// eps) mixed with free ones.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![(0..12i32).prop_map(|i| f64::from(i) * 0.1), 0.0..1.2f64, 0.3..0.32f64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn labels_are_those_of_the_reference(
        dims in 1..=16usize,
        coordinates in prop::collection::vec(coordinate(), 16..1600),
        eps in prop_oneof![Just(0.1), Just(0.2), 0.005..0.6f64],
        min_points in 1..8usize,
    ) {
        let whole = coordinates.len() / dims * dims;
        check(&coordinates[..whole], dims, eps, min_points);
    }

    #[test]
    fn clouds_of_many_points_too(
        seed in 0..u64::MAX,
        n in 200..900usize,
        dims in 2..=4usize,
        eps in 0.01..0.1f64,
        min_points in 2..30usize,
    ) {
        let mut state = seed;
        let mut uniform = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut data = Vec::new();
        for _ in 0..n {
            let centre = (uniform() * 4.0).floor() / 4.0;
            for k in 0..dims {
                let width = if k == 0 { 0.2 } else { 0.02 };
                data.push(centre + width * uniform() * uniform());
            }
        }
        check(&data, dims, eps, min_points);
    }
}

#[test]
fn extreme_coordinates_terminate() {
    let far = [0.0, 1e300, -1e300, 1e-300, f64::MAX, f64::MIN, 5e-324, 1.0, 1.0 + f64::EPSILON, 0.0];
    for eps in [1e-300, 1e-9, 1.0, 1e150] {
        check(&far, 1, eps, 2);
        check(&far, 2, eps, 2);
        check(&far, 5, eps, 2);
    }
}

#[test]
fn one_point_and_equal_points() {
    check(&[0.5, 0.5], 2, 0.1, 1);
    check(&[0.5, 0.5], 2, 0.1, 2);
    check(&[0.25; 64], 4, 0.1, 16);
    check(&[0.25; 64], 4, 0.1, 17);
}

#[test]
fn a_border_point_goes_to_the_first_cluster_that_reaches_it() {
    // Two clusters of four; the point at 0.5 reaches one of each, too few to be core.
    let data = [1.0, 1.0, 1.0, 0.9, 0.0, 0.0, 0.0, 0.1, 0.5];
    let points = Points::new(&data, 1).expect("finite");
    let params = DbscanParams::new(0.41, 4).expect("valid");
    let found = dbscan(points, &params);
    assert_eq!(found.clustering.n_clusters, 2);
    assert!(!found.core[8]);
    assert_eq!(found.clustering.labels[8], found.clustering.labels[0]);
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let data: Vec<f64> =
        (0..60_000u64).map(|i| (i.wrapping_mul(2654435761) % 100_003) as f64 / 1e5).collect();
    let run = |threads: usize, dims: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let params = DbscanParams::new(if dims == 2 { 0.004 } else { 0.1 }, 5).expect("valid");
        pool.install(|| dbscan(Points::new(&data, dims).expect("finite"), &params))
    };
    for dims in [2, 3, 4] {
        assert_eq!(run(1, dims), run(7, dims));
    }
}
