use std::ops::Range;

use proptest::prelude::*;

use super::near::with_capacity;
use super::tiles::{Block, Sink};
use super::*;
use crate::cluster::Dissimilarities;
use crate::simd::{LANES, Width};

const LINKAGES: [Linkage; 4] = [Linkage::Complete, Linkage::Single, Linkage::Average, Linkage::Ward];
const SUMS: [Dissimilarity; 2] = [Dissimilarity::Manhattan, Dissimilarity::Euclidean];

/// How unlike two clusters are, by definition.
pub(crate) fn between(d: &Dissimilarities, linkage: Linkage, a: &[usize], b: &[usize]) -> f64 {
    let pairs = |a: &[usize], b: &[usize]| -> Vec<f64> {
        a.iter().flat_map(|&i| b.iter().map(move |&j| d.get(i, j))).collect()
    };
    let across = pairs(a, b);
    let n = |x: &[usize]| x.len() as f64;
    let mean_square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    match linkage {
        Linkage::Complete => across.into_iter().fold(0.0, f64::max),
        Linkage::Single => across.into_iter().fold(f64::INFINITY, f64::min),
        Linkage::Average => across.iter().sum::<f64>() / across.len() as f64,
        Linkage::Ward => {
            // The squared distance of the means.
            let apart =
                mean_square(&across) - mean_square(&pairs(a, a)) / 2.0 - mean_square(&pairs(b, b)) / 2.0;
            (2.0 * n(a) * n(b) / (n(a) + n(b)) * apart.max(0.0)).sqrt()
        }
    }
}

/// That every merge is of two clusters than which no two are nearer, that it
/// stands in its place, and that its height and size are right.
fn is_greedy(d: &Dissimilarities, linkage: Linkage, dendrogram: &Dendrogram) -> Result<(), TestCaseError> {
    let n = d.len();
    let mut clusters: Vec<Option<Vec<usize>>> = (0..n).map(|i| Some(vec![i])).collect();
    // Squares of rounding weigh more near 0.
    let scale = d.data.iter().copied().fold(0.0, f64::max) * 1e-7;
    let exact = matches!(linkage, Linkage::Complete | Linkage::Single);
    let mut last = 0.0;
    for merge in dendrogram.merges() {
        let living: Vec<&Vec<usize>> = clusters.iter().flatten().collect();
        let pairs = (0..living.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let least =
            pairs.map(|(i, j)| between(d, linkage, living[i], living[j])).fold(f64::INFINITY, f64::min);
        let [a, b] = [merge.a, merge.b].map(|at| clusters[at].take().expect("a cluster that lives"));
        let height = between(d, linkage, &a, &b);
        if exact {
            prop_assert_eq!(height, merge.height);
            prop_assert_eq!(least, merge.height);
        } else {
            prop_assert!((height - merge.height).abs() <= scale, "{} for {height}", merge.height);
            prop_assert!(merge.height <= least + scale, "{} above {least}", merge.height);
        }
        prop_assert!(merge.height >= last && merge.a < merge.b);
        last = merge.height;
        prop_assert_eq!(merge.size, a.len() + b.len());
        clusters.push(Some([a, b].concat()));
    }
    prop_assert_eq!(dendrogram.merges().len() + 1, n.max(1));
    Ok(())
}

/// The tree that `kodama` finds: `(a, b, height, size)`.
fn kodama_tree(d: &Dissimilarities, linkage: Linkage) -> Vec<(usize, usize, f64, usize)> {
    let n = d.len();
    let mut condensed: Vec<f64> = (0..n).flat_map(|i| d.row(i)[i + 1..].to_vec()).collect();
    let method = match linkage {
        Linkage::Complete => kodama::Method::Complete,
        Linkage::Single => kodama::Method::Single,
        Linkage::Average => kodama::Method::Average,
        Linkage::Ward => kodama::Method::Ward,
    };
    let tree = kodama::linkage(&mut condensed, n, method);
    tree.steps().iter().map(|s| (s.cluster1, s.cluster2, s.dissimilarity, s.size)).collect()
}

fn same_tree(ours: &Dendrogram, other: &[(usize, usize, f64, usize)]) -> Result<(), TestCaseError> {
    prop_assert_eq!(ours.merges().len(), other.len());
    for (merge, &(a, b, height, size)) in ours.merges().iter().zip(other) {
        prop_assert_eq!((merge.a, merge.b, merge.size), (a, b, size));
        prop_assert!((merge.height - height).abs() <= 1e-12 * height, "{} for {height}", merge.height);
    }
    Ok(())
}

/// A sum in the lanes and the order of the tiles.
fn in_lanes(terms: impl Iterator<Item = f64>) -> f64 {
    let mut s = [0.0; LANES];
    terms.enumerate().for_each(|(k, term)| s[k % LANES] += term);
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// How unlike two profiles are, by definition.
fn unlike(how: Dissimilarity, x: &[f64], y: &[f64]) -> f64 {
    let known = |x: &f64, y: &f64| !x.is_nan() && !y.is_nan();
    let term = |(x, y): (&f64, &f64)| match how {
        _ if !known(x, y) => 0.0,
        Dissimilarity::Manhattan => (x - y).abs(),
        _ => (x - y) * (x - y),
    };
    let common: Vec<(f64, f64)> =
        x.iter().zip(y).filter(|(x, y)| known(x, y)).map(|(&x, &y)| (x, y)).collect();
    let n = common.len() as f64;
    let sum = in_lanes(x.iter().zip(y).map(term)) / (n / x.len() as f64);
    match how {
        Dissimilarity::Manhattan => sum,
        Dissimilarity::Euclidean => sum.sqrt(),
        Dissimilarity::Correlation => {
            let mean = |of: fn(&(f64, f64)) -> f64| common.iter().map(of).sum::<f64>() / n;
            let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
            let product =
                |of: &dyn Fn(f64, f64) -> f64| common.iter().map(|p| of(p.0 - mx, p.1 - my)).sum::<f64>();
            1.0 - product(&|x, y| x * y) / (product(&|x, _| x * x) * product(&|_, y| y * y)).sqrt()
        }
    }
}

/// Rows of `dims` numbers, no two alike, some missing.
fn rows(n: Range<usize>, dims: Range<usize>, missing: f64) -> impl Strategy<Value = (Vec<f64>, usize)> {
    (n, dims).prop_flat_map(move |(n, dims)| {
        let value = (0.0..1.0f64, 0.0..1.0f64).prop_map(move |(x, u)| if u < missing { f64::NAN } else { x });
        (prop::collection::vec(value, n * dims), Just(dims))
    })
}

/// Rows on a small lattice, where ties abound.
fn lattice() -> impl Strategy<Value = (Vec<f64>, usize)> {
    (2usize..24, 1usize..4).prop_flat_map(|(n, dims)| {
        (prop::collection::vec((0u8..3).prop_map(f64::from), n * dims), Just(dims))
    })
}

fn square_of(data: &[f64], dims: usize, how: Dissimilarity) -> Dissimilarities {
    dissimilarities(&Profiles::new(data, dims).expect("profiles"), how).expect("dissimilarities")
}

/// Collects the dissimilarities of a block.
struct Collect(Vec<(usize, usize, u64)>);

impl Sink for Collect {
    fn wants(&mut self, _: Range<usize>, _: Range<usize>) -> bool {
        true
    }

    fn take<const SIDE: usize>(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        values: &[[f64; SIDE]; SIDE],
    ) {
        for (i, values) in rows.zip(values) {
            columns.clone().zip(values).for_each(|(j, value)| self.0.push((i, j, value.to_bits())));
        }
    }
}

proptest! {
    #[test]
    fn dissimilarities_are_their_definition((data, dims) in rows(1..80, 1..40, 0.2)) {
        let Ok(profiles) = Profiles::new(&data, dims) else { unreachable!() };
        for how in SUMS {
            match dissimilarities(&profiles, how) {
                Ok(square) => {
                    for a in 0..profiles.len() {
                        prop_assert_eq!(square.get(a, a), 0.0);
                        for b in (0..profiles.len()).filter(|&b| b != a) {
                            prop_assert_eq!(square.get(a, b), unlike(how, profiles.row(a), profiles.row(b)));
                        }
                    }
                }
                Err(error) => {
                    let apart = |a: usize, b: usize| profiles.row(a).iter().zip(profiles.row(b)).all(|(x, y)| (x + y).is_nan());
                    let n = profiles.len();
                    let first = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).find(|&(a, b)| apart(a, b));
                    let (a, b) = first.expect("a pair without a common column");
                    prop_assert_eq!(error, ProfilesError::NothingInCommon { a, b });
                }
            }
        }
    }

    #[test]
    fn correlations_are_their_definition(missing in prop_oneof![Just(0.0), Just(0.1)], seed in rows(2..30, 12..40, 0.0), holes in prop::collection::vec(0.0..1.0f64, 30 * 40)) {
        let (mut data, dims) = seed;
        data.iter_mut().zip(&holes).filter(|&(_, &u)| u < missing).for_each(|(x, _)| *x = f64::NAN);
        let profiles = Profiles::new(&data, dims).expect("profiles");
        if let Ok(square) = dissimilarities(&profiles, Dissimilarity::Correlation) {
            for a in 0..profiles.len() {
                for b in (0..profiles.len()).filter(|&b| b != a) {
                    let expected = unlike(Dissimilarity::Correlation, profiles.row(a), profiles.row(b));
                    prop_assert!((square.get(a, b) - expected).abs() < 1e-9);
                    prop_assert_eq!(square.get(a, b), square.get(b, a));
                }
            }
        }
    }

    #[test]
    fn every_width_gives_the_same_bits((data, dims) in rows(1..20, 1..40, 0.1), complete: bool) {
        let data: Vec<f64> = data.iter().map(|x| if complete && x.is_nan() { 0.5 } else { *x }).collect();
        let profiles = Profiles::new(&data, dims).expect("profiles");
        let n = profiles.len();
        let order: Vec<u32> = (0..n as u32).rev().collect();
        for dissimilarity in SUMS {
            let of = |most| {
                let mut sink = Collect(Vec::new());
                Block { profiles: &profiles, dissimilarity, order: Some(&order), rows: 0..n, columns: 0..n, sink: &mut sink }.compute_up_to(most);
                sink.0.sort_unstable();
                sink.0
            };
            let portable = of(Width::Portable);
            prop_assert_eq!(portable.len(), n * n);
            prop_assert_eq!(&portable, &of(Width::Avx2));
            prop_assert_eq!(&portable, &of(Width::Avx512));
        }
    }

    #[test]
    fn trees_without_ties_are_those_of_kodama((data, dims) in rows(2..30, 1..6, 0.0)) {
        let square = square_of(&data, dims, Dissimilarity::Euclidean);
        for method in LINKAGES {
            let dendrogram = linkage(square.clone(), method);
            same_tree(&dendrogram, &kodama_tree(&square, method))?;
            is_greedy(&square, method, &dendrogram)?;
        }
    }

    #[test]
    fn trees_with_ties_are_greedy((data, dims) in lattice()) {
        for how in SUMS {
            let square = square_of(&data, dims, how);
            for method in LINKAGES {
                // Ward's sums are about means only where distances are.
                if method != Linkage::Ward || how == Dissimilarity::Euclidean {
                    is_greedy(&square, method, &linkage(square.clone(), method))?;
                }
            }
        }
    }

    #[test]
    fn without_the_matrix_the_tree_is_the_same((data, dims) in rows(1..60, 1..12, 0.0), capacity in 1usize..300) {
        let profiles = Profiles::new(&data, dims).expect("profiles");
        for how in SUMS {
            let near = with_capacity(&profiles, how, capacity).expect("a tree");
            prop_assert_eq!(near, linkage(square_of(&data, dims, how), Linkage::Complete));
        }
    }

    #[test]
    fn without_the_matrix_trees_with_ties_are_greedy((data, dims) in lattice(), capacity in 1usize..300) {
        let profiles = Profiles::new(&data, dims).expect("profiles");
        for how in SUMS {
            let near = with_capacity(&profiles, how, capacity).expect("a tree");
            is_greedy(&square_of(&data, dims, how), Linkage::Complete, &near)?;
        }
    }

    #[test]
    fn a_cut_undoes_the_last_merges((data, dims) in lattice()) {
        let square = square_of(&data, dims, Dissimilarity::Manhattan);
        let (n, dendrogram) = (square.len(), linkage(square, Linkage::Average));
        let mut clusters: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        let mut living: Vec<usize> = (0..n).collect();
        for k in (1..=n).rev() {
            let mut parts: Vec<&Vec<usize>> = living.iter().map(|&at| &clusters[at]).collect();
            parts.sort_by_key(|part| part.iter().min());
            let cut = dendrogram.cut(k);
            prop_assert_eq!(cut.n_clusters, k);
            for (at, part) in parts.into_iter().enumerate() {
                prop_assert!(part.iter().all(|&i| cut.labels[i].map(|id| id.index()) == Some(at)));
            }
            if let Some(merge) = dendrogram.merges().get(n - k) {
                living.retain(|&at| at != merge.a && at != merge.b);
                living.push(clusters.len());
                clusters.push([clusters[merge.a].clone(), clusters[merge.b].clone()].concat());
            }
        }
    }
}

/// Points without ties that are neither uniform nor in a good order.
fn spread(n: usize, dims: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n * dims).map(|i| ((i / dims * 7) % 5) as f64 + next() * next()).collect()
}

#[test]
fn rows_that_are_squeezed_and_several_lists_change_nothing() {
    let (n, dims) = (700, 5);
    let data = spread(n, dims);
    let profiles = Profiles::new(&data, dims).expect("profiles");
    let square = square_of(&data, dims, Dissimilarity::Euclidean);
    for method in LINKAGES {
        let ours = linkage(square.clone(), method);
        same_tree(&ours, &kodama_tree(&square, method)).expect("kodama's tree");
    }
    let complete = linkage(square, Linkage::Complete);
    assert_eq!(complete_linkage(&profiles, Dissimilarity::Euclidean), Ok(complete.clone()));
    for capacity in [10, 1000, 20_000, 1_000_000] {
        assert_eq!(with_capacity(&profiles, Dissimilarity::Euclidean, capacity), Ok(complete.clone()));
    }
}

#[test]
fn threads_change_nothing() {
    let (n, dims) = (300, 9);
    let mut data = spread(n, dims);
    data.iter_mut().step_by(23).for_each(|x| *x = f64::NAN);
    let profiles = Profiles::new(&data, dims).expect("profiles");
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let square = dissimilarities(&profiles, Dissimilarity::Manhattan).expect("a square");
            let trees = LINKAGES.map(|method| linkage(square.clone(), method));
            (square, trees, with_capacity(&profiles, Dissimilarity::Manhattan, 500))
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn a_missing_value_counts_as_the_mean_of_the_others() {
    let nan = f64::NAN;
    let data = [nan, 1.0, 5.0, 2.0, 0.0, 3.0, 3.0, nan];
    // |1 − 3| + |5 − 3| over two of four columns.
    assert_eq!(square_of(&data, 4, Dissimilarity::Manhattan).get(0, 1), 4.0 / 0.5);
    assert_eq!(square_of(&data, 4, Dissimilarity::Euclidean).get(0, 1), (8.0f64 / 0.5).sqrt());
}

#[test]
fn what_cannot_be_compared_is_named() {
    let nan = f64::NAN;
    let profiles = |data: &[f64], dims| Profiles::new(data, dims).expect("profiles");
    assert_eq!(Profiles::new(&[], 0).map(|_| ()), Err(ProfilesError::NoDims));
    assert_eq!(Profiles::new(&[1.0; 5], 2).map(|_| ()), Err(ProfilesError::Ragged { len: 5, dims: 2 }));
    let large = Profiles::new(&[1.0, nan, 1.0, f64::INFINITY], 2).map(|_| ());
    assert_eq!(large, Err(ProfilesError::TooLarge { row: 1, column: 1, value: f64::INFINITY }));
    let apart = profiles(&[1.0, 1.0, 2.0, nan, nan, 3.0], 2);
    let expected = ProfilesError::NothingInCommon { a: 1, b: 2 };
    assert_eq!(dissimilarities(&apart, Dissimilarity::Manhattan), Err(expected.clone()));
    assert_eq!(complete_linkage(&apart, Dissimilarity::Manhattan), Err(expected));
    for flat in [[0.0, 1.0, 2.0, 4.0, 4.0, 4.0], [0.0, 1.0, 2.0, 4.0, 4.0, nan]] {
        let flat = profiles(&flat, 3);
        let expected = ProfilesError::Constant { profile: 1, other: 0 };
        assert_eq!(dissimilarities(&flat, Dissimilarity::Correlation), Err(expected.clone()));
        assert_eq!(complete_linkage(&flat, Dissimilarity::Correlation), Err(expected));
    }
}

#[test]
fn few_objects_and_equal_ones() {
    for n in 0..4 {
        let profiles = Profiles::new(&vec![2.5; n * 3], 3).expect("profiles");
        for method in LINKAGES {
            let square = dissimilarities(&profiles, Dissimilarity::Manhattan).expect("a square");
            let dendrogram = linkage(square, method);
            assert_eq!(dendrogram.merges().len(), n.saturating_sub(1));
            assert!(dendrogram.merges().iter().all(|merge| merge.height == 0.0));
        }
    }
    let alike = Profiles::new(&[7.0; 900], 3).expect("profiles");
    for capacity in [1, 50, 100_000] {
        let dendrogram = with_capacity(&alike, Dissimilarity::Manhattan, capacity).expect("a tree");
        assert!(dendrogram.merges().iter().all(|merge| merge.height == 0.0));
    }
    let nothing = Profiles::new(&[f64::NAN], 1).expect("a profile");
    assert_eq!(dissimilarities(&nothing, Dissimilarity::Manhattan).map(|square| square.get(0, 0)), Ok(0.0));
}

#[test]
fn dissimilarities_far_from_one() {
    for scale in [1e-140, 1e139] {
        let data: Vec<f64> = spread(40, 4).iter().map(|x| x * scale).collect();
        let square = square_of(&data, 4, Dissimilarity::Euclidean);
        for method in LINKAGES {
            let merges = linkage(square.clone(), method);
            assert!(merges.merges().iter().all(|merge| merge.height.is_finite() && merge.height > 0.0));
        }
    }
    // What a caller's own matrix may hold.
    let most = |a: &f64, b: &f64| if ((a + b) as u8).is_multiple_of(2) { f64::MAX } else { 1.0 };
    let huge = Dissimilarities::new(&[1.0, 2.0, 3.0, 4.0], most).expect("dissimilarities");
    for method in LINKAGES {
        let dendrogram = linkage(huge.clone(), method);
        assert!(dendrogram.merges().iter().all(|merge| merge.height.is_finite()));
    }
}

/// Table 2 of the paper.
#[test]
fn six_profiles_merge_as_the_paper_says() {
    let dendrogram = linkage(super::partitions::tests::table_2(), Linkage::Complete);
    let merges: Vec<_> = dendrogram.merges().iter().map(|m| (m.a, m.b, m.height)).collect();
    assert_eq!(merges, [(1, 2, 1.63), (4, 5, 1.79), (3, 6, 2.17), (0, 7, 2.61), (8, 9, 5.43)]);
}
