//! The same clusters on any number of ranks, and near those of PAM.

use proptest::prelude::*;

use super::*;
use crate::cluster::Dissimilarities;
use crate::cluster::medoids::pam;
use crate::comm::run_on_threads;
use crate::quality::{adjusted_rand, medoid_silhouette};
use crate::synth::effort::effort_traces;

#[expect(clippy::ptr_arg, reason = "a function of objects, and these are vectors")]
fn euclidean(a: &Vec<f64>, b: &Vec<f64>) -> f64 {
    crate::cluster::euclidean(a, b)
}

fn coordinates(x: &Vec<f64>) -> &[f64] {
    x
}

fn params(clusters: ClusterCount, mode: Mode) -> CapekParams<Vec<f64>> {
    CapekParams { mode, ..CapekParams::new(clusters, Criterion::Bic(coordinates)) }
}

/// All ranks' labels and dissimilarities one after the other, and the rest of
/// the first; all ranks must agree on that.
fn whole<T: Clone + PartialEq + std::fmt::Debug>(parts: Vec<Capek<T>>) -> Capek<T> {
    let first = parts[0].clone();
    for part in &parts {
        assert_eq!(part.medoids, first.medoids);
        assert_eq!((part.loss, &part.criterion), (first.loss, &first.criterion));
    }
    let labels = parts.iter().flat_map(|part| part.labels.clone()).collect();
    let dissimilarities = parts.iter().flat_map(|part| part.dissimilarities.clone()).collect();
    Capek { labels, dissimilarities, ..first }
}

/// `objects`, cut at `cuts` (ascending), on a rank each.
fn on_ranks(
    objects: &[Vec<f64>],
    cuts: &[usize],
    params: &CapekParams<Vec<f64>>,
) -> Result<Capek<Vec<f64>>, CapekError> {
    let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([objects.len()]).collect();
    let parts = run_on_threads(edges.len() - 1, |comm| {
        let part = &objects[edges[comm.rank()]..edges[comm.rank() + 1]];
        capek(comm, part, &euclidean, params)
    });
    parts.map(whole)
}

fn traces(n: usize, seed: u64) -> Vec<Vec<f64>> {
    effort_traces(n, 64, seed)
}

fn evenly(n: usize, ranks: usize) -> Vec<usize> {
    (1..ranks).map(|rank| rank * n / ranks).collect()
}

#[test]
fn exact_mode_is_pam() {
    let objects = traces(200, 3);
    let table = Dissimilarities::new(&objects, euclidean).expect("numbers");
    for k in [1, 2, 4, 6, 9] {
        let oracle = pam(&table, k).expect("enough objects");
        for ranks in [1, 3, 8] {
            let params = params(ClusterCount::Fixed(k), Mode::Exact);
            let found = on_ranks(&objects, &evenly(200, ranks), &params).expect("clusters");
            let medoids: Vec<usize> = found.medoids.iter().map(|m| m.index as usize).collect();
            assert_eq!(medoids, oracle.medoids, "{k} clusters, {ranks} ranks");
            assert_eq!(found.labels, oracle.labels);
            assert!((found.loss - oracle.loss).abs() <= 1e-9 * oracle.loss);
        }
    }
}

#[test]
fn samples_come_near_pam() {
    for seed in 0..3 {
        let objects = traces(512, seed);
        let table = Dissimilarities::new(&objects, euclidean).expect("numbers");
        for k in [2, 6, 8] {
            let oracle = pam(&table, k).expect("enough objects");
            let params = CapekParams { seed, ..params(ClusterCount::Fixed(k), Mode::Sampled) };
            let found = on_ranks(&objects, &evenly(512, 5), &params).expect("clusters");
            assert!(found.loss <= 1.015 * oracle.loss, "{k}: {} of {}", found.loss, oracle.loss);
        }
    }
}

#[test]
fn shares_of_a_sample_do_not_decide_which_groups_are_merged() {
    // In the pools of these seeds, kinds 2 and 5 are few.
    for seed in [2, 9] {
        let params = CapekParams { seed, ..params(ClusterCount::Fixed(4), Mode::Sampled) };
        let found = on_ranks(&traces(4096, seed), &evenly(4096, 3), &params).expect("clusters");
        let mut kinds: Vec<u64> = found.medoids.iter().map(|medoid| medoid.index % 6).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, [1, 3, 4, 5], "what PAM finds");
    }
}

#[test]
fn the_bic_finds_the_six_generators() {
    let truth =
        |n: usize| (0..n).map(|i| Some(crate::cluster::ClusterId::from_index(i % 6))).collect::<Vec<_>>();
    for (n, mode) in [(64, Mode::Exact), (512, Mode::Exact), (512, Mode::Sampled), (2048, Mode::Sampled)] {
        for seed in 0..3 {
            let params = CapekParams { seed, ..params(ClusterCount::UpTo(10), mode) };
            let found = on_ranks(&traces(n, seed), &evenly(n, 4), &params).expect("clusters");
            assert_eq!(found.medoids.len(), 6, "{n} {mode:?} {:?}", found.criterion);
            let id = |&label: &u32| Some(crate::cluster::ClusterId::from_index(label as usize));
            let labels: Vec<_> = found.labels.iter().map(id).collect();
            assert_eq!(adjusted_rand(&labels, &truth(n)).expect("labels").value, 1.0);
        }
    }
}

/// Strings under the number of places at which they differ.
#[test]
fn objects_need_not_be_vectors() {
    let word = |i: usize| {
        let mut word = vec![b"amz"[i % 3]; 8];
        word[i / 3 % 8] = b'b' + (i / 24) as u8;
        String::from_utf8(word).expect("letters")
    };
    let objects: Vec<String> = (0..80).map(word).collect();
    let differ = |a: &String, b: &String| a.bytes().zip(b.bytes()).filter(|(x, y)| x != y).count() as f64;
    for mode in [Mode::Exact, Mode::Sampled] {
        let params = CapekParams { mode, ..CapekParams::new(ClusterCount::UpTo(6), Criterion::Silhouette) };
        let found = run_on_threads(3, |comm| {
            let (from, to) = (comm.rank() * 80 / 3, (comm.rank() + 1) * 80 / 3);
            capek(comm, &objects[from..to], &differ, &params)
        });
        let found = whole(found.expect("clusters"));
        assert_eq!(found.medoids.len(), 3, "{:?}", found.criterion);
        let table = Dissimilarities::new(&objects, differ).expect("numbers");
        let medoids: Vec<usize> = found.medoids.iter().map(|m| m.index as usize).collect();
        let oracle = medoid_silhouette(&table, &medoids).expect("three medoids");
        let (_, told) = found.criterion.iter().find(|(k, _)| *k == 3).expect("three were tried");
        // Samples' medoids are made central after the criterion was asked.
        assert!(mode == Mode::Sampled || (told - oracle).abs() < 1e-12, "{told} {oracle}");
        let class = |at: usize| found.labels[at];
        assert!((0..80).all(|at| class(at) == class(at % 3)));
    }
}

#[test]
fn what_cannot_be_clustered_is_told_on_every_rank() {
    let equal = vec![vec![1.0, 2.0]; 30];
    for mode in [Mode::Exact, Mode::Sampled] {
        let two = params(ClusterCount::Fixed(2), mode);
        let error = CapekError::TooManyClusters { wanted: 2, distinct: 1 };
        assert_eq!(on_ranks(&equal, &[10, 20], &two), Err(error));
        assert_eq!(
            on_ranks(&equal, &[0, 30], &params(ClusterCount::UpTo(5), mode)).map(|c| c.medoids.len()),
            Ok(1)
        );
        let mut objects = traces(60, 1);
        objects[41][7] = f64::NAN;
        let found = on_ranks(&objects, &[20, 40], &two);
        assert!(matches!(found, Err(CapekError::NotFinite { .. })), "{found:?}");
        objects[41] = vec![0.0; 3];
        let found = on_ranks(&objects, &[20, 40], &params(ClusterCount::UpTo(3), mode));
        assert_eq!(found, Err(CapekError::Dimensions { least: 3, most: 64 }));
    }
    let none = on_ranks(&[], &[0, 0], &params(ClusterCount::Fixed(1), Mode::Auto));
    assert_eq!(none, Err(CapekError::TooManyClusters { wanted: 1, distinct: 0 }));
}

/// Once, rounding seemed a gain for ever.
#[test]
fn duplicates_end() {
    for copies in 2..12 {
        let values = [0.1, 0.7, 2.3, 1.0 / 3.0];
        let objects: Vec<Vec<f64>> = (0..4 * copies).map(|at| vec![values[at % 4], 0.1]).collect();
        for clusters in [ClusterCount::Fixed(4), ClusterCount::UpTo(8)] {
            for mode in [Mode::Exact, Mode::Sampled] {
                let found =
                    on_ranks(&objects, &evenly(objects.len(), 2), &params(clusters, mode)).expect("clusters");
                assert!(found.medoids.len() <= 4 && (found.medoids.len() < 4 || found.loss < 1e-12));
            }
        }
    }
}

/// Nobody is far, so the pool stays a sample.
#[test]
fn many_equal_objects_are_one_cluster() {
    let found = on_ranks(&vec![vec![2.5; 3]; 50_000], &[10], &params(ClusterCount::UpTo(5), Mode::Sampled));
    assert_eq!(found.map(|found| (found.medoids.len(), found.loss)), Ok((1, 0.0)));
}

/// Classes that no sample has.
#[test]
fn rare_classes_are_counted() {
    let mut objects = vec![vec![1.0, 1.0]; 20_000];
    for at in 0..5 {
        objects[4_001 * at + 17] = vec![50.0, 1.0];
        objects[3_001 * at + 29] = vec![1.0, 40.0];
    }
    for seed in 0..5 {
        for clusters in [ClusterCount::Fixed(2), ClusterCount::Fixed(3), ClusterCount::UpTo(6)] {
            let params = CapekParams { seed, ..params(clusters, Mode::Sampled) };
            let found = on_ranks(&objects, &evenly(20_000, 3), &params).expect("clusters");
            assert_eq!(found.medoids.len(), if clusters == ClusterCount::Fixed(2) { 2 } else { 3 });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn ranks_do_not_matter(
        values in prop::collection::vec((0u8..12, 0u8..12), 4..120),
        mut cuts in prop::collection::vec(0usize..120, 0..12),
        k in 1usize..5,
        up_to: bool,
        sampled: bool,
        seed: u64,
    ) {
        let objects: Vec<Vec<f64>> = values.iter().map(|&(x, y)| vec![f64::from(x), f64::from(y)]).collect();
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(objects.len()));
        cuts.sort_unstable();
        let clusters = if up_to { ClusterCount::UpTo(k) } else { ClusterCount::Fixed(k) };
        let mode = if sampled { Mode::Sampled } else { Mode::Exact };
        let params = CapekParams { seed, sample_size: Some(12), ..params(clusters, mode) };
        let alone = on_ranks(&objects, &[], &params);
        prop_assert_eq!(&alone, &on_ranks(&objects, &cuts, &params));
        if let Ok(found) = alone {
            // Every label is that of the nearest medoid, and the loss their sum.
            let near = |object: &Vec<f64>| found.medoids.iter().map(|m| euclidean(object, &m.object)).fold(f64::INFINITY, f64::min);
            for (object, distance) in objects.iter().zip(&found.dissimilarities) {
                prop_assert_eq!(near(object), *distance);
            }
            let loss: f64 = found.dissimilarities.iter().sum();
            prop_assert!((found.loss - loss).abs() <= 1e-9 * (1.0 + loss));
            prop_assert_eq!(found.medoids.iter().map(|m| m.size).sum::<u64>(), objects.len() as u64);
        }
    }
}
