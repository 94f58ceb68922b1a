use proptest::prelude::*;

use super::*;
use crate::cluster::Clustering;
use crate::cluster::hierarchical::tests::between;
use crate::cluster::hierarchical::{Dissimilarity, dissimilarities, linkage};

/// Table 2 of Malard's paper: Euclidean distances of six profiles.
pub(in crate::cluster::hierarchical) fn table_2() -> Dissimilarities {
    let rows = vec![
        [0.0, 3.08, 3.86, 2.74, 1.86, 2.61],
        [3.08, 0.0, 1.63, 2.17, 3.52, 4.59],
        [3.86, 1.63, 0.0, 1.99, 4.37, 5.43],
        [2.74, 2.17, 1.99, 0.0, 3.20, 4.20],
        [1.86, 3.52, 4.37, 3.20, 0.0, 1.79],
        [2.61, 4.59, 5.43, 4.20, 1.79, 0.0],
    ];
    let given = Dissimilarities::from_matrix(rows.into_flattened(), 6);
    given.expect("dissimilarities")
}

fn members(clustering: &Clustering) -> Vec<Vec<usize>> {
    let mut clusters = vec![Vec::new(); clustering.n_clusters];
    for (i, label) in clustering.labels.iter().enumerate() {
        label.iter().for_each(|id| clusters[id.index()].push(i));
    }
    clusters
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// The measures of one partition from scratch, by definition.
fn from_scratch(
    d: &Dissimilarities,
    method: Linkage,
    clusters: &[Vec<usize>],
    profiles: Option<&Profiles>,
) -> Partition {
    let far = |a: &[usize]| between(d, Linkage::Complete, a, a);
    let others = |own: usize| clusters.iter().enumerate().filter(move |&(at, _)| at != own).map(|(_, c)| c);
    let nearest = |own: usize| {
        others(own).map(|other| between(d, method, &clusters[own], other)).fold(f64::INFINITY, f64::min)
    };
    let several = clusters.len() > 1;
    let all: Vec<usize> = (0..d.len()).collect();
    let largest = clusters.iter().map(|c| far(c)).fold(0.0, f64::max);
    Partition {
        n_clusters: clusters.len(),
        mean_diameter: mean(clusters.iter().map(|c| far(c))),
        separation: several.then(|| mean((0..clusters.len()).map(nearest))),
        diameter_ratio: if far(&all) > 0.0 { largest / far(&all) } else { 0.0 },
        silhouette: several.then(|| silhouette(d, clusters)),
        log_min_density: profiles
            .map(|profiles| clusters.iter().map(|c| log_density(profiles, c)).fold(f64::INFINITY, f64::min)),
    }
}

fn silhouette(d: &Dissimilarities, clusters: &[Vec<usize>]) -> f64 {
    let of = |own: &Vec<usize>, i: usize| {
        if own.len() == 1 {
            return 0.0;
        }
        let sum = |c: &[usize]| c.iter().map(|&j| d.get(i, j)).sum::<f64>();
        let a = sum(own) / (own.len() - 1) as f64;
        let others = clusters.iter().filter(|c| *c != own);
        let b = others.map(|c| sum(c) / c.len() as f64).fold(f64::INFINITY, f64::min);
        if a.max(b) > 0.0 { (b - a) / a.max(b) } else { 0.0 }
    };
    clusters.iter().flat_map(|c| c.iter().map(move |&i| of(c, i))).sum::<f64>() / d.len() as f64
}

fn log_density(profiles: &Profiles, cluster: &[usize]) -> f64 {
    let side = |column: usize| {
        let values = cluster.iter().map(|&i| profiles.row(i)[column]).filter(|x| !x.is_nan());
        let values: Vec<f64> = values.collect();
        let (low, high) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
        (values.len() > 1).then_some(high - low)
    };
    let sides: Vec<f64> = (0..profiles.dims()).filter_map(side).collect();
    if sides.is_empty() {
        return f64::INFINITY;
    }
    let share = sides.len() as f64 / profiles.dims() as f64;
    (cluster.len() as f64).ln() - sides.iter().map(|side| side.ln()).sum::<f64>() / share
}

fn close(x: f64, y: f64, scale: f64) -> bool {
    x == y || (x - y).abs() <= 1e-7 * scale
}

fn all_agree(
    d: &Dissimilarities,
    method: Linkage,
    tree: &Dendrogram,
    profiles: Option<&Profiles>,
) -> Result<(), TestCaseError> {
    let n = d.len();
    let found = partitions(d.clone(), method, tree, profiles);
    prop_assert_eq!(found.len(), n);
    let scale = d.row(0).iter().copied().fold(1e-3, f64::max);
    for (at, found) in found.iter().enumerate() {
        let expected = from_scratch(d, method, &members(&tree.cut(n - at)), profiles);
        prop_assert_eq!(found.n_clusters, expected.n_clusters);
        prop_assert!(
            close(found.mean_diameter, expected.mean_diameter, 1e-5 * scale),
            "{found:?} {expected:?}"
        );
        prop_assert_eq!(found.diameter_ratio, expected.diameter_ratio);
        let pairs = [
            (found.separation, expected.separation, scale),
            (found.silhouette, expected.silhouette, 1e-3),
            (found.log_min_density, expected.log_min_density, 1e-3),
        ];
        for (found, expected, scale) in pairs {
            prop_assert_eq!(found.is_some(), expected.is_some());
            let same = found.zip(expected).is_none_or(|(x, y)| close(x, y, scale));
            prop_assert!(same, "{found:?} for {expected:?} at {at}");
        }
    }
    Ok(())
}

/// Rows of a few columns: anywhere, some missing, or on a lattice.
fn rows() -> impl Strategy<Value = (Vec<f64>, usize)> {
    (1usize..16, 1usize..5, 0usize..3).prop_flat_map(|(n, dims, kind)| {
        let value = (0.0..1.0f64, 0u8..9).prop_map(move |(x, u)| match kind {
            0 => x,
            1 if u == 0 => f64::NAN,
            1 => x,
            _ => f64::from(u % 3),
        });
        (prop::collection::vec(value, n * dims), Just(dims))
    })
}

proptest! {
    #[test]
    fn every_partition_is_as_good_as_from_scratch((data, dims) in rows()) {
        let profiles = Profiles::new(&data, dims).expect("profiles");
        if let Ok(square) = dissimilarities(&profiles, Dissimilarity::Euclidean) {
            for method in [Linkage::Complete, Linkage::Single, Linkage::Average] {
                let tree = linkage(square.clone(), method);
                all_agree(&square, method, &tree, Some(&profiles))?;
            }
            if !profiles.has_missing() {
                let tree = linkage(square.clone(), Linkage::Ward);
                all_agree(&square, Linkage::Ward, &tree, None)?;
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    let data: Vec<f64> = (0..900).map(|i| f64::from(i * 7919 % 1009)).collect();
    let profiles = Profiles::new(&data, 3).expect("profiles");
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let square = dissimilarities(&profiles, Dissimilarity::Manhattan).expect("a square");
            let tree = linkage(square.clone(), Linkage::Complete);
            partitions(square, Linkage::Complete, &tree, Some(&profiles))
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

/// Table 3 of the paper, where it follows from Table 2; see docs/counters.md
/// for where it does not.
#[test]
fn six_profiles_are_measured_as_the_paper_defines() {
    let tree = linkage(table_2(), Linkage::Complete);
    let found = partitions(table_2(), Linkage::Complete, &tree, None);
    let cents = |x: f64| (x * 100.0).round() / 100.0;
    let rows: Vec<_> = found
        .iter()
        .map(|p| (p.n_clusters, p.separation.map(cents), cents(p.mean_diameter), cents(p.ratio_from(0.75))))
        .collect();
    let expected = [
        (6, Some(1.78), 0.0, 0.75),
        (5, Some(1.96), 0.33, 0.45),
        (4, Some(2.39), 0.86, 0.42),
        (3, Some(3.03), 1.32, 0.35),
        (2, Some(5.43), 2.39, 0.27),
        (1, None, 5.43, 0.25),
    ];
    assert_eq!(rows, expected);
}
