//! CAPEK's clusters are those of PAM: Figure 9 of the paper, small.

#[path = "../../examples/figure9/quality.rs"]
mod quality;

use likewise::cluster::medoids::capek::{ClusterCount, Mode};
use likewise::ranks::{Wavelet, signature};
use quality::{Beside, Data};

const SEEDS: u64 = 3;

/// All seeds, full traces or signatures.
fn runs(n: usize, clusters: ClusterCount, mode: Mode, levels: usize) -> Vec<Beside> {
    let run = |seed| {
        let data = Data::new(n, seed);
        let objects: Vec<Vec<f64>> =
            data.traces.iter().map(|trace| signature(trace, levels, Wavelet::default())).collect();
        let k = if let ClusterCount::Fixed(k) = clusters { k } else { 6 };
        data.beside(&data.pam(k), if levels == 0 { &data.traces } else { &objects }, clusters, mode)
    };
    (0..SEEDS).map(run).collect()
}

fn mean_mirkin(runs: &[Beside]) -> f64 {
    runs.iter().map(|beside| beside.mirkin).sum::<f64>() / runs.len() as f64
}

#[test]
fn samples_come_as_near_to_pam_as_they_should() {
    // At most what muster has, by number of clusters, at 64 and 256 objects.
    for (n, bounds) in [(64, [0.0, 0.0, 0.0, 0.015, 0.008]), (256, [0.0, 0.007, 0.0, 0.042, 0.067])] {
        for (k, bound) in [2, 4, 6, 8, 10].into_iter().zip(bounds) {
            let sampled = runs(n, ClusterCount::Fixed(k), Mode::Sampled, 0);
            // Three seeds stand for ten.
            let slack = if k > 6 { 0.005 } else { 0.0 };
            let mirkin = mean_mirkin(&sampled);
            assert!(mirkin <= bound + slack, "{k} clusters of {n}: {mirkin}");
            assert!(sampled.iter().all(|beside| beside.loss <= 1.015), "{k} clusters of {n}");
        }
    }
}

#[test]
fn exact_mode_gives_pams_clusters() {
    for k in [2, 4, 6, 8, 10] {
        for beside in runs(150, ClusterCount::Fixed(k), Mode::Auto, 0) {
            assert_eq!(beside.mirkin, 0.0, "{k} clusters");
            assert!((beside.loss - 1.0).abs() < 1e-9, "{k} clusters: {}", beside.loss);
        }
    }
}

#[test]
fn the_bic_finds_six() {
    for mode in [Mode::Sampled, Mode::Exact] {
        for beside in runs(256, ClusterCount::UpTo(10), mode, 0) {
            assert_eq!((beside.n_clusters, beside.mirkin), (6, 0.0), "{mode:?}");
        }
    }
}

#[test]
fn signatures_keep_the_groups() {
    for mode in [Mode::Sampled, Mode::Exact] {
        for (k, bound) in [(4, 0.1), (6, 0.02)] {
            let mirkin = mean_mirkin(&runs(256, ClusterCount::Fixed(k), mode, 2));
            assert!(mirkin <= bound, "{mode:?}, {k} clusters: {mirkin}");
        }
    }
}
