use super::super::MAX_DIMS;
use super::*;
use proptest::prelude::*;

/// All distances of all pairs.
fn reference(points: Points<'_>, k: usize) -> Vec<f64> {
    let squared = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    (0..points.len())
        .map(|i| {
            let mut all: Vec<f64> =
                (0..points.len()).map(|j| squared(points.row(i), points.row(j))).collect();
            all.sort_by(f64::total_cmp);
            all[k - 1].sqrt()
        })
        .collect()
}

fn bits(distances: &[f64]) -> Vec<u64> {
    distances.iter().map(|x| x.to_bits()).collect()
}

fn on_threads<T: Send>(n: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool").install(f)
}

/// Every path gives the bits of the reference.
fn check(data: &[f64], dims: usize, k: usize) {
    let points = Points::new(data, dims).expect("finite points");
    let expected = bits(&reference(points, k));
    assert_eq!(bits(&k_distances(points, k).expect("enough points")), expected);
    for most in [Width::Portable, Width::Avx2] {
        assert_eq!(bits(&k_distances_up_to(most, points, [k]).expect("enough points")[0]), expected);
    }
}

/// Rows with tight groups, exact duplicates, flat dimensions and outliers.
fn clouds() -> impl Strategy<Value = (Vec<f64>, usize)> {
    let value = prop_oneof![
        3 => (-4i8..4).prop_map(f64::from),
        3 => (0u16..1000).prop_map(|x| 0.3 + f64::from(x) * 1e-6),
        2 => -1.0..1.0f64,
        1 => -1e9..1e9f64,
    ];
    (1..=MAX_DIMS, 1..200usize).prop_flat_map(move |(dims, n)| {
        let flat = prop::collection::vec(prop::bool::weighted(0.2), dims);
        let copies = prop::collection::vec((0..n, prop::bool::weighted(0.4)), n);
        (prop::collection::vec(value.clone(), n * dims), flat, copies).prop_map(
            move |(mut data, flat, copies)| {
                for (to, (from, copy)) in copies.into_iter().enumerate() {
                    if copy {
                        data.copy_within(from * dims..(from + 1) * dims, to * dims);
                    }
                }
                for row in data.chunks_exact_mut(dims) {
                    row.iter_mut().zip(&flat).filter(|(_, flat)| **flat).for_each(|(x, _)| *x = 0.1);
                }
                (data, dims)
            },
        )
    })
}

proptest! {
    #[test]
    fn equals_the_reference((data, dims) in clouds(), k in any::<prop::sample::Index>()) {
        check(&data, dims, 1 + k.index(data.len() / dims));
    }

    #[test]
    fn equals_the_reference_for_small_k((data, dims) in clouds(), k in 1..12usize) {
        check(&data, dims, k.min(data.len() / dims));
    }
}

/// A sequence without pattern, in [0, 1).
fn scattered(n: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn every_number_of_dimensions() {
    let data = scattered(300 * MAX_DIMS);
    for dims in 1..=MAX_DIMS {
        check(&data[..300 * dims], dims, 7);
    }
}

#[test]
fn first_neighbour_is_the_point_itself() {
    let data = scattered(1000);
    let points = Points::new(&data, 2).expect("finite points");
    assert_eq!(k_distances(points, 1).expect("enough points"), vec![0.0; 500]);
}

#[test]
fn last_neighbour_is_the_farthest() {
    check(&scattered(150), 1, 150);
    check(&[3.0, 4.0], 2, 1);
}

#[test]
fn equal_points_have_no_distance() {
    let data = vec![0.7; 40_000 * 3];
    let points = Points::new(&data, 3).expect("finite points");
    assert_eq!(k_distances(points, 100).expect("enough points"), vec![0.0; 40_000]);
}

#[test]
fn distances_beyond_f64_are_infinite_and_tiny_ones_zero() {
    let data: Vec<f64> = (0..60).map(|i| f64::from(i % 3 - 1) * 1e308).collect();
    check(&data, 2, 12);
    check(&data, 1, 30);
    let data: Vec<f64> = (0..60).map(|i| f64::from(i) * 1e-170).collect();
    check(&data, 1, 5);
}

/// Bounds from other queries are no bounds where squares vanish or have no number.
#[test]
fn the_same_with_many_neighbours() {
    let data: Vec<f64> = (0..600).map(|i| f64::from(i % 3 - 1) * 1e308).collect();
    check(&data, 2, 120);
    check(&data, 1, 300);
    for scale in [1e-170, 1e-162, 1e-161, 1e-150, 1e150] {
        let data: Vec<f64> = scattered(1200).into_iter().map(|x| x * scale).collect();
        (1..4).for_each(|dims| check(&data, dims, 100));
    }
}

#[test]
fn several_k_in_any_order() {
    let data = scattered(2 * 900);
    let points = Points::new(&data, 2).expect("finite points");
    for ks in [[70, 200, 3], [200, 199, 200], [64, 1, 63]] {
        let found = k_distances_of(points, ks).expect("enough points");
        for (found, k) in found.iter().zip(ks) {
            assert_eq!(bits(found), bits(&reference(points, k)), "{k} of {ks:?}");
        }
    }
}

#[test]
fn threads_change_nothing() {
    let data = scattered(3 * 20_000);
    let points = Points::new(&data, 3).expect("finite points");
    let one = on_threads(1, || k_distances(points, 10).expect("enough points"));
    let four = on_threads(4, || k_distances(points, 10).expect("enough points"));
    assert_eq!(bits(&one), bits(&four));
}

#[test]
fn curve_descends() {
    let data = scattered(2 * 500);
    let points = Points::new(&data, 2).expect("finite points");
    let mut expected = k_distances(points, 4).expect("enough points");
    expected.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(k_distance_curve(points, 4), Ok(expected));
}

#[test]
fn too_few_points_are_an_error() {
    let points = Points::new(&[0.0, 1.0], 1).expect("finite points");
    assert_eq!(k_distances(points, 3), Err(KDistError::TooFewPoints { points: 2, k: 3 }));
    assert_eq!(k_distances(points, 0), Err(KDistError::Zero));
    let none = Points::new(&[], 4).expect("no points are points");
    assert_eq!(k_distances(none, 1), Err(KDistError::TooFewPoints { points: 0, k: 1 }));
}
