//! How far CAPEK's clusters of the paper's six generators are from PAM's.

use likewise::cluster::Dissimilarities;
use likewise::cluster::medoids::capek::{Capek, CapekParams, ClusterCount, Criterion, Mode, capek};
use likewise::cluster::medoids::{Medoids, pam};
use likewise::cluster::{ClusterId, euclidean};
use likewise::comm::{CommError, Communicator, run_on_threads};
use likewise::quality::mirkin;
use likewise::synth::effort::effort_traces;

/// Steps of a trace.
pub(crate) const STEPS: usize = 64;

/// Ranks that the objects are spread over; the clusters are the same on any.
const RANKS: usize = 4;

/// Traces, and how unlike they are.
pub(crate) struct Data {
    pub(crate) traces: Vec<Vec<f64>>,
    table: Dissimilarities,
    seed: u64,
}

/// CAPEK's clusters beside PAM's.
pub(crate) struct Beside {
    /// The normalised Mirkin distance.
    pub(crate) mirkin: f64,
    /// The loss over PAM's, both on the full traces.
    pub(crate) loss: f64,
    /// How many clusters CAPEK found.
    pub(crate) n_clusters: usize,
}

impl Data {
    pub(crate) fn new(n: usize, seed: u64) -> Self {
        let traces = effort_traces(n, STEPS, seed);
        let table = Dissimilarities::new(&traces, |a, b| euclidean(a, b)).expect("distances");
        Self { traces, table, seed }
    }

    pub(crate) fn pam(&self, k: usize) -> Medoids {
        pam(&self.table, k).expect("enough traces")
    }

    /// Clusters `objects`, which stand for the traces, and compares.
    pub(crate) fn beside(
        &self,
        pam: &Medoids,
        objects: &[Vec<f64>],
        clusters: ClusterCount,
        mode: Mode,
    ) -> Beside {
        let criterion = Criterion::Bic(|x: &Vec<f64>| x.as_slice());
        let params = CapekParams { mode, seed: self.seed, ..CapekParams::new(clusters, criterion) };
        let parts = run_on_threads(RANKS, |comm| {
            let edge = |rank: usize| rank * objects.len() / RANKS;
            let own = &objects[edge(comm.rank())..edge(comm.rank() + 1)];
            capek(comm, own, &|a: &Vec<f64>, b: &Vec<f64>| euclidean(a, b), &params)
                .map_err(|error| CommError::Transport { call: "capek", reason: error.to_string() })
        });
        let parts: Vec<Capek<Vec<f64>>> = parts.expect("clusters");
        let labels: Vec<Option<ClusterId>> = parts
            .iter()
            .flat_map(|part| part.labels.iter().map(|&label| Some(ClusterId::from_index(label as usize))))
            .collect();
        let medoids: Vec<usize> = parts[0].medoids.iter().map(|medoid| medoid.index as usize).collect();
        Beside {
            mirkin: mirkin(&labels, &pam.clustering().labels).expect("labels").value,
            loss: self.loss(&medoids) / pam.loss,
            n_clusters: medoids.len(),
        }
    }

    /// Of the full traces about these.
    fn loss(&self, medoids: &[usize]) -> f64 {
        let near = |object| medoids.iter().map(|&m| self.table.get(m, object)).fold(f64::INFINITY, f64::min);
        (0..self.traces.len()).map(near).sum()
    }
}
