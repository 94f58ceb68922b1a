//! A run of CAPEK on as many ranks as there are objects.

use super::network::{Network, Phase, Ranks};
use super::replay::{Done, Recorder, Replay, Step};
use likewise::cluster::euclidean;
use likewise::cluster::medoids::capek::{Capek, CapekParams, ClusterCount, Criterion, Mode, capek};
use likewise::cluster::medoids::subset;
use likewise::comm::Communicator;
use std::collections::{BTreeMap, BTreeSet};

/// The most clusters.
const CLUSTERS: usize = 10;

/// How many of those ranks that do what all do are run, and how often each
/// rank is: the least time of each stretch of work counts.
const ORDINARY: usize = 100;
const TURNS: usize = 5;

/// What is clustered.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// Of the paper.
    pub(crate) figure: usize,
    pub(crate) ranks: usize,
    /// As many clusters as the BIC likes, and not ten.
    pub(crate) up_to: bool,
    /// The object of a rank, by seed.
    pub(crate) make: fn(usize, u64) -> Vec<f64>,
    pub(crate) seed: u64,
}

/// What all ranks of a run do.
pub(crate) struct Recorded {
    n_ranks: usize,
    steps: Vec<Step>,
    /// By rank; between the steps.
    special: BTreeMap<usize, Vec<Done>>,
    /// Of the ranks that are not special: the median of some of them.
    ordinary: Vec<Done>,
    pub(crate) n_medoids: usize,
}

impl Case {
    pub(crate) fn params(&self) -> CapekParams<Vec<f64>> {
        let clusters = if self.up_to { ClusterCount::UpTo(CLUSTERS) } else { ClusterCount::Fixed(CLUSTERS) };
        let criterion = Criterion::Bic(|x: &Vec<f64>| x.as_slice());
        CapekParams { mode: Mode::Sampled, seed: self.seed, ..CapekParams::new(clusters, criterion) }
    }

    pub(crate) fn cluster<C: Communicator>(&self, comm: &C, objects: &[Vec<f64>]) -> Capek<Vec<f64>> {
        capek(comm, objects, &|a: &Vec<f64>, b: &Vec<f64>| euclidean(a, b), &self.params()).expect("clusters")
    }
}

impl Recorded {
    pub(crate) fn new(case: &Case) -> Self {
        // Work within a rank is on one thread, whose time is taken.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        pool.install(|| Self::on_this_thread(case))
    }

    fn on_this_thread(case: &Case) -> Self {
        let n_ranks = case.ranks;
        let objects: Vec<Vec<f64>> = (0..n_ranks).map(|rank| (case.make)(rank, case.seed)).collect();
        let recorder = Recorder::default();
        let found = case.cluster(&recorder, &objects);
        let steps = recorder.steps.into_inner();
        let run = |rank: usize| {
            let turns: Vec<Vec<Done>> = (0..TURNS)
                .map(|_| {
                    let comm = Replay::new(rank, n_ranks, &steps);
                    let own = case.cluster(&comm, &objects[rank..=rank]);
                    assert_eq!((own.medoids, own.loss), (found.medoids.clone(), found.loss), "rank {rank}");
                    comm.end()
                })
                .collect();
            (0..=steps.len()).map(|at| least(turns.iter().map(|turn| turn[at]))).collect::<Vec<Done>>()
        };
        let special = special(case, &steps);
        let others: Vec<usize> = (0..n_ranks).filter(|rank| !special.contains(rank)).collect();
        let some =
            (0..ORDINARY.min(others.len())).map(|i| others[i * others.len() / ORDINARY.min(others.len())]);
        let some: Vec<Vec<Done>> = some.map(run).collect();
        let ordinary = (0..=steps.len()).map(|at| median(some.iter().map(|done| done[at]))).collect();
        let special = special.into_iter().map(|rank| (rank, run(rank))).collect();
        let recorded = Self { n_ranks, steps, special, ordinary, n_medoids: found.medoids.len() };
        recorded.check_contributions();
        recorded
    }

    /// Nobody contributes but the special ranks.
    fn check_contributions(&self) {
        for (at, step) in self.steps.iter().enumerate() {
            let Step::Concatenate(all) = step else { continue };
            let theirs: usize = self.special.values().map(|done| done[at].bytes).sum();
            assert_eq!(theirs, all.len(), "bytes of step {at}");
        }
    }

    /// The phases, if work takes `slower` times as long as here.
    pub(crate) fn simulate(&self, network: Network, slower: f64) -> BTreeMap<String, Phase> {
        let mut ranks = Ranks::new(self.n_ranks, network);
        let mut done: Vec<Done> = vec![Done::default(); self.n_ranks];
        for at in 0..=self.steps.len() {
            done.fill(self.ordinary[at]);
            self.special.iter().for_each(|(&rank, its)| done[rank] = its[at]);
            ranks.work(|rank| done[rank].seconds * slower);
            match self.steps.get(at) {
                Some(Step::Phase(name)) => ranks.enter(name),
                Some(Step::AllReduce(values)) => ranks.all_reduce(8 * values.len()),
                Some(Step::SumBefore) => ranks.sum_before(),
                Some(Step::Concatenate(_)) => ranks.concatenate(|rank| done[rank].bytes),
                None => {}
            }
        }
        ranks.end()
    }

    /// Work in a phase of a rank that is not special.
    pub(crate) fn ordinary_work(&self, phase: &str) -> f64 {
        let mut present = "";
        let mut seconds = 0.0;
        for (at, done) in self.ordinary.iter().enumerate() {
            if present == phase {
                seconds += done.seconds;
            }
            if let Some(Step::Phase(name)) = self.steps.get(at) {
                present = name;
            }
        }
        seconds
    }

    /// How often all ranks hear from all in a phase.
    pub(crate) fn round_trips(&self, phase: &str) -> usize {
        let mut present = "";
        let mut count = 0;
        for step in &self.steps {
            match step {
                Step::Phase(name) => present = name,
                Step::AllReduce(_) | Step::Concatenate(_) | Step::SumBefore => {
                    count += usize::from(present == phase);
                }
            }
        }
        count
    }
}

/// Ranks that do what not all do: the root of the trees, those with a sampled
/// object, a far one, a trial, a number of clusters, or a central object.
fn special(case: &Case, steps: &[Step]) -> BTreeSet<usize> {
    let n = case.ranks;
    let params = case.params();
    let size = 40 + 2 * CLUSTERS;
    let sampled = (0..params.n_trials as u64).flat_map(|trial| subset(n as u64, size, params.seed, trial));
    let counts = if case.up_to { CLUSTERS } else { 1 };
    // A task is on the first rank of its share.
    let tasks =
        [params.n_trials, counts].into_iter().flat_map(|tasks| (0..tasks).map(move |t| t * n / tasks));
    let mut special: BTreeSet<usize> = sampled.map(|rank| rank as usize).chain(tasks).chain([0]).collect();
    let mut present = "";
    for step in steps {
        match step {
            Step::Phase(name) => present = name,
            Step::Concatenate(all) if present == "centre" => special.extend(numbers_of_objects(all)),
            // Numbers with weights come first; the objects are among these.
            Step::Concatenate(all) if present == "far" => {
                special.extend(all.as_chunks::<16>().0.iter().map(number));
                present = "";
            }
            _ => {}
        }
    }
    special
}

/// The number of an object before its weight.
fn number(record: &[u8; 16]) -> usize {
    u128::from_le_bytes(*record) as u64 as usize
}

/// The objects that were sent: each after its number and its length.
fn numbers_of_objects(mut bytes: &[u8]) -> Vec<usize> {
    let mut numbers = Vec::new();
    while let Some((number, rest)) = bytes.split_first_chunk() {
        let (length, rest) = rest.split_first_chunk().expect("a length");
        numbers.push(u64::from_le_bytes(*number) as usize);
        bytes = &rest[u64::from_le_bytes(*length) as usize..];
    }
    numbers
}

fn least(done: impl Iterator<Item = Done>) -> Done {
    done.reduce(|a, b| Done { seconds: a.seconds.min(b.seconds), ..a }).expect("a turn")
}

fn median(done: impl Iterator<Item = Done>) -> Done {
    let mut all: Vec<Done> = done.collect();
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    assert!(all.iter().all(|done| done.bytes == 0), "who contributes is special");
    all.get(all.len() / 2).copied().unwrap_or_default()
}
