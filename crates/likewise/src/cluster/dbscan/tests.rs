//! The fast method against one that looks at every pair.

use super::cells::{CellTable, MAX_KEYS, count};
use super::frame::{Frame, subs_per_side};
use super::geometry::Aabb;
use super::groups::Known;
use super::params::{Dbscan, DbscanParams};
use super::{CoreRadii, dbscan, grid, groups, rows, sparse, stay, subcells, tree};
use crate::cluster::kdist::k_distances;
use crate::cluster::{Along, ClusterId, Clustering, Points};
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
    let (tree, sorted) = tree::Tree::new(&input, &params);
    let known = Known::by_size(&sorted.groups, &params);
    assert_eq!(groups::cluster(&input, sorted, (&known, None), &tree, &params), expected, "tree, eps {eps}");
    if let Ok(distances) = k_distances(points, min_points) {
        let cores = CoreRadii::of(&distances, min_points, vec![eps / 2.0, eps, eps * 2.0]);
        let (tree, sorted) = tree::Tree::new(&input, &params);
        let told = (&Known::by_size(&sorted.groups, &params), cores.at(&params));
        assert_eq!(groups::cluster(&input, sorted, told, &tree, &params), expected, "told, eps {eps}");
    }
    match dims {
        1 => check_cells::<1>(points, &params, &expected),
        2 => check_cells::<2>(points, &params, &expected),
        3 => check_cells::<3>(points, &params, &expected),
        _ => {}
    }
}

fn check_cells<const D: usize>(points: Points<'_>, params: &DbscanParams, expected: &Dbscan) {
    let input = rows::<D>(points);
    let few_keys = |frame: &Frame<D>| frame.n_keys() <= MAX_KEYS;
    let Some(frame) = Frame::new(&Aabb::of(&input), params.eps()).filter(few_keys) else { return };
    if let Some((grid, sorted)) = grid::sort(&input, None, &frame, params) {
        let known = Known::by_size(&sorted.groups, params);
        assert_eq!(
            &groups::cluster(&input, sorted, (&known, None), &grid, params),
            expected,
            "grid, {D}-D, {params:?}"
        );
    }
    if frame.has_sub_cells() {
        let (index, sorted, known) = stay::sort(&input, frame, params);
        assert_eq!(
            &groups::cluster(&input, sorted, (&known, None), &index, params),
            expected,
            "stay, {D}-D, {params:?}"
        );
    }
}

/// Coordinates on a coarse lattice (many equal points, distances of exactly
/// eps) mixed with free ones.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![(0..12i32).prop_map(|i| f64::from(i) * 0.1), 0.0..1.2f64, 0.3..0.32f64]
}

/// Numbers from 0 to 1.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
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
        let mut uniform = uniform(seed);
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

/// Where sub-cells begin and end, just before and after, and many times: in units of
/// a sub-cell of `dims` dimensions for an eps of 1.
fn near_a_border(dims: usize) -> impl Strategy<Value = f64> {
    let side = 1.0 / (dims as f64).sqrt() / f64::from(subs_per_side(dims));
    (0..24u32, prop_oneof![Just(0.0), Just(1e-15), Just(-1e-15), Just(0.5), Just(1e-7), -0.01..0.01f64])
        .prop_map(move |(i, off)| (f64::from(i) + off).max(0.0) * side)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn points_on_borders_of_cells(
        (dims, near) in (1..=3usize).prop_flat_map(|dims| {
            (Just(dims), prop::collection::vec(near_a_border(dims), 12..900))
        }),
        scale in prop_oneof![Just(1.0), Just(1e-130), Just(1e130), 0.1..10.0f64],
        origin in prop_oneof![Just(0.0), Just(1.0), Just(-1e3), Just(1e9), Just(1e15)],
        min_points in prop_oneof![1..6usize, 10..60usize],
    ) {
        let whole = near.len() / dims * dims;
        let data: Vec<f64> = near[..whole].iter().map(|x| (x + origin) * scale).collect();
        check(&data, dims, scale, min_points);
    }

    #[test]
    fn blobs_with_cells_about_as_full_as_min_points(
        seed in 0..u64::MAX,
        n in 100..1200usize,
        dims in 1..=3usize,
        eps in 0.01..0.2f64,
        min_points in 2..80usize,
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
        check(&data, dims, eps, min_points);
    }

    #[test]
    fn tables_add_up_in_any_order(
        seed in 0..u64::MAX,
        n in 1..2000usize,
        parts in 1..6usize,
        eps in 0.01..0.5f64,
    ) {
        let mut uniform = uniform(seed);
        let points: Vec<[f64; 2]> = (0..n).map(|_| [uniform() * uniform(), uniform()]).collect();
        let frame = Frame::new(&Aabb::of(&points), eps).expect("few cells");
        let whole = count(&points, &frame).table;
        let len = n.div_ceil(parts);
        let mut tables: Vec<CellTable> = Vec::new();
        for (i, part) in points.chunks(len).enumerate() {
            let mut table = count(part, &frame).table;
            table.cells.iter_mut().for_each(|cell| cell.first += (i * len) as u32);
            tables.push(table);
        }
        while tables.len() > 1 {
            let a = tables.swap_remove((uniform() * tables.len() as f64) as usize);
            let b = tables.swap_remove((uniform() * tables.len() as f64) as usize);
            prop_assert_eq!(a.add(&b), b.add(&a));
            tables.push(a.add(&b));
        }
        prop_assert_eq!(&tables[0], &whole);
        prop_assert_eq!(whole.cells.iter().map(|cell| cell.count as usize).sum::<usize>(), n);
    }
}

/// Keys of the cells take more than 32 bits. Where the points lie near one another
/// but for two, one bucket has most of the cells.
#[test]
fn grids_may_have_many_cells() {
    fn check<const D: usize>(side: f64, within: f64, seed: u64) {
        let mut uniform = uniform(seed);
        let mut near = [0.0; D];
        let mut data: Vec<f64> = [0.0, side].iter().flat_map(|&x| [x; D]).collect();
        for i in 0..600 {
            if i % 20 == 0 {
                near = std::array::from_fn(|_| (0.9 * within * uniform()).floor());
            }
            data.extend(near.map(|x| x + 0.3 * uniform()));
        }
        let points = Points::new(&data, D).expect("finite");
        let input = rows::<D>(points);
        for eps in [0.1, 0.3] {
            let params = DbscanParams::new(eps, 4).expect("valid");
            let expected = dbscan_reference(points, &params);
            assert!(expected.clustering.n_clusters > 5);
            let frame = Frame::new(&Aabb::of(&input), eps).expect("not too many");
            assert!(frame.n_keys() > 1 << 33);
            for along in [None, Some(&Along::of(points))] {
                let (grid, sorted) = grid::sort(&input, along, &frame, &params).expect("cells are small");
                let known = Known::by_size(&sorted.groups, &params);
                assert_eq!(groups::cluster(&input, sorted, (&known, None), &grid, &params), expected);
            }
            assert_eq!(dbscan(points, &params), expected);
        }
    }
    for seed in 0..5 {
        for (plane, space) in [(5e4, 1e3), (40.0, 8.0)] {
            check::<2>(5e4, plane, seed);
            check::<3>(1e3, space, seed);
        }
    }
}

#[test]
fn sub_cells_bound_the_distances_of_their_points() {
    fn check<const D: usize>(seed: u64) {
        let (mut uniform, eps) = (uniform(seed), 0.7);
        let points: Vec<[f64; D]> = (0..400).map(|_| std::array::from_fn(|_| 3.0 * uniform())).collect();
        let frame = Frame::new(&Aabb::of(&points), eps).expect("few cells");
        let whole = count(&points, &frame).table;
        let keys = whole.keys.iter().map(|&key| key.into()).collect();
        let index = grid::Grid::new(keys, &frame, 1, &DbscanParams::new(eps, 3).expect("valid"));
        let reach = stay::reaches::<D>();
        let place = |p: &[f64; D]| {
            let (key, sub) = frame.key_and_sub(p);
            (whole.keys.binary_search(&key).expect("it is there"), sub as usize)
        };
        let placed: Vec<(usize, usize)> = points.iter().map(place).collect();
        for (p, &(c, s)) in points.iter().zip(&placed) {
            let mut offset_to = vec![None; whole.len()];
            index.each_near(c, |h, offset| offset_to[h] = Some(offset));
            for (q, &(h, t)) in points.iter().zip(&placed).filter(|(_, (h, _))| *h != c) {
                let within = super::geometry::distance2(p, q) <= eps * eps;
                let reach: Option<&subcells::Reach> = offset_to[h].map(|offset| &reach[offset]);
                assert!(within || reach.is_none_or(|reach| reach.within[s] >> t & 1 == 0));
                assert!(!within || reach.is_some_and(|reach| reach.near[s] >> t & 1 == 1));
            }
        }
    }
    for seed in 1..6 {
        check::<1>(seed);
        check::<2>(seed);
        check::<3>(seed);
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
    let stay = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let points: Vec<[f64; 2]> = data.as_chunks().0.to_vec();
            let params = DbscanParams::new(0.02, 5).expect("valid");
            let frame = Frame::new(&Aabb::of(&points), params.eps()).expect("few cells");
            let (index, sorted, known) = stay::sort(&points, frame, &params);
            groups::cluster(&points, sorted, (&known, None), &index, &params)
        })
    };
    assert_eq!(stay(1), stay(2));
    assert_eq!(stay(1), stay(5));
}
