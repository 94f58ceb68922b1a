//! How near CAPEK comes to PAM, beside what Figure 9 of Gamblin et al. (ICS
//! 2010) tells: `cargo run --release -p likewise --example figure9 [SEEDS
//! [N…]]`.
//!
//! Prints CSV: per number of traces, of clusters and of values per object the
//! mean normalised Mirkin distance to PAM's clusters of the full traces, mean
//! and worst loss over PAM's, and in how many runs there were six clusters.
//! `bench/capek_plots.py` draws it.

mod quality;

use likewise::cluster::medoids::capek::{ClusterCount, Mode};
use likewise::ranks::{Wavelet, decompose, signature};
use quality::{Beside, Data, STEPS};

const SEEDS: u64 = 10;
const SIZES: [usize; 5] = [64, 256, 512, 1024, 4096];
const CLUSTERS: [usize; 5] = [2, 4, 6, 8, 10];
/// The BIC is asked for at most so many.
const MOST: usize = 10;
/// What the data has; PAM is asked for so many where CAPEK asks the BIC.
const TRUE: usize = 6;

/// Mirkin distance and loss over PAM's of muster 1.0.1 (10 seeds, generators
/// as here, noise of its own), by [`SIZES`]; rows by [`CLUSTERS`], then the
/// BIC's. It knows one mode.
const MUSTER: [[(f64, f64); 5]; 6] = [
    [(0.0, 1.0), (0.0, 1.001), (0.0, 1.001), (0.0, 1.001), (0.0, 1.005)],
    [(0.0, 1.0), (0.007, 1.008), (0.007, 1.010), (0.022, 1.021), (0.022, 1.033)],
    [(0.0, 1.002), (0.0, 1.019), (0.0, 1.026), (0.0, 1.033), (0.0, 1.043)],
    [(0.015, 1.001), (0.042, 1.021), (0.041, 1.029), (0.041, 1.036), (0.044, 1.044)],
    [(0.008, 1.0), (0.067, 1.023), (0.069, 1.029), (0.070, 1.038), (0.072, 1.046)],
    [(0.0, 1.002), (0.002, 1.016), (0.008, 1.014), (0.065, 1.037), (0.068, 1.051)],
];

/// What stands for a trace.
const SHORT: [(&str, usize); 6] = [
    ("trace", 0),
    ("signature", 1),
    ("signature", 2),
    ("signature", 3),
    ("lowest band", 2),
    ("lowest band", 3),
];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().expect("a number"));
    let seeds = arguments.next().map_or(SEEDS, |seeds| seeds as u64);
    let sizes: Vec<usize> = arguments.collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    println!(
        "n,clusters,objects,values,mode,mirkin,loss,worst_loss,six_clusters,seeds,muster_mirkin,muster_loss"
    );
    for n in sizes {
        Experiment::new(n, seeds).print();
    }
}

/// All seeds of one size.
struct Experiment {
    n: usize,
    seeds: u64,
    /// By row of the table.
    found: Vec<(Row, Vec<Beside>)>,
}

/// A line of the table.
#[derive(Clone, Copy, PartialEq)]
struct Row {
    /// Of [`SHORT`].
    object: usize,
    /// Nothing is the BIC.
    clusters: Option<usize>,
    mode: Mode,
}

impl Experiment {
    fn new(n: usize, seeds: u64) -> Self {
        let mut experiment = Self { n, seeds, found: Vec::new() };
        (0..seeds).for_each(|seed| experiment.run(&Data::new(n, seed)));
        experiment
    }

    fn run(&mut self, data: &Data) {
        for clusters in CLUSTERS.map(Some).into_iter().chain([None]) {
            let pam = data.pam(clusters.unwrap_or(TRUE));
            let count = clusters.map_or(ClusterCount::UpTo(MOST), ClusterCount::Fixed);
            for (object, (kind, levels)) in SHORT.into_iter().enumerate() {
                let objects: Vec<Vec<f64>> = data.traces.iter().map(|t| short(kind, levels, t)).collect();
                for mode in [Mode::Sampled, Mode::Exact] {
                    let found = data.beside(&pam, &objects, count, mode);
                    self.add(Row { object, clusters, mode }, found);
                }
            }
        }
    }

    fn add(&mut self, row: Row, found: Beside) {
        match self.found.iter_mut().find(|(known, _)| *known == row) {
            Some((_, all)) => all.push(found),
            None => self.found.push((row, vec![found])),
        }
    }

    fn print(&self) {
        for (row, all) in &self.found {
            let mean = |of: fn(&Beside) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
            let worst = all.iter().map(|beside| beside.loss).fold(0.0, f64::max);
            let six = all.iter().filter(|beside| beside.n_clusters == TRUE).count();
            let (kind, levels) = SHORT[row.object];
            let values = short(kind, levels, &[0.0; STEPS]).len();
            let muster = (levels == 0).then(|| self.muster(row.clusters)).flatten();
            println!(
                "{},{},{kind},{values},{:?},{:.4},{:.4},{worst:.4},{six},{},{},{}",
                self.n,
                row.clusters.map_or("BIC".into(), |k| k.to_string()),
                row.mode,
                mean(|beside| beside.mirkin),
                mean(|beside| beside.loss),
                self.seeds,
                muster.map_or(String::new(), |(mirkin, _)| mirkin.to_string()),
                muster.map_or(String::new(), |(_, loss)| loss.to_string()),
            );
        }
    }

    fn muster(&self, clusters: Option<usize>) -> Option<(f64, f64)> {
        let column = SIZES.iter().position(|&n| n == self.n)?;
        let row = clusters.map_or(Some(CLUSTERS.len()), |k| CLUSTERS.iter().position(|&other| other == k))?;
        Some(MUSTER[row][column])
    }
}

/// A trace as it is clustered: itself, its signature of so many levels, or the
/// lowest band of that alone, as the paper has it.
fn short(kind: &str, levels: usize, trace: &[f64]) -> Vec<f64> {
    match kind {
        "trace" => trace.to_vec(),
        "signature" => signature(trace, levels, Wavelet::default()),
        _ => decompose(trace, levels, Wavelet::default()).low,
    }
}
