//! What each phase is like.

use std::ops::Range;

use rayon::prelude::*;

use crate::cluster::{ClusterId, Clustering};
use crate::table::{BurstTable, Nanos, Prepared, Rows};

/// Mean and spread of a column over those bursts of a phase that carry it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// How many bursts carry a value.
    pub n: u64,
    /// Their mean; 0 if there is none.
    pub mean: f64,
    /// Their standard deviation, divisor `n`: they are all there is, not a
    /// sample.
    pub deviation: f64,
}

/// A phase in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseStats {
    /// Which; `None` is the noise.
    pub cluster: Option<ClusterId>,
    /// Its bursts.
    pub instances: u64,
    /// Their computing time.
    pub total: Nanos,
    /// Their duration in ns.
    pub duration: Moments,
    /// The shortest; zero if there is none.
    pub min: Nanos,
    /// The longest.
    pub max: Nanos,
    /// Share of the computing time of all bursts of the table, whatever
    /// their class.
    pub share: f64,
    /// Share of the computing time of the complete bursts alone, noise
    /// included: ClusteringSuite's `% Total Duration`.
    pub share_of_complete: f64,
    /// How many tasks have it.
    pub tasks: u64,
    /// How many tasks compute at all in the applications that have it.
    pub of_tasks: u64,
    /// Imbalance over tasks: the largest time of a task in the phase over
    /// the mean of all tasks that compute at all in the applications that
    /// have it, minus 1. 0 is balanced. The field's load balance (mean over
    /// maximum, POP) is `1 / (1 + imbalance)`. A task without the phase
    /// counts with no time, as it waits while the others compute. Where tasks
    /// have unlike numbers of threads, their times are those per thread.
    pub imbalance: f64,
    /// Each counter of the table.
    pub counters: Vec<Moments>,
    /// Each metric, raw.
    pub metrics: Vec<Moments>,
}

/// Statistics of each cluster in order, then of the noise (the last entry,
/// also where there is none).
///
/// `clustering` labels the complete bursts of `prepared`.
///
/// # Panics
/// If the clustering does not label just the complete bursts.
///
/// # Complexity
/// One pass per column, columns in parallel, each in burst order: the sums do
/// not depend on the thread count.
#[must_use]
pub fn phase_stats(table: &BurstTable, prepared: &Prepared, clustering: &Clustering) -> Vec<PhaseStats> {
    let complete = &prepared.complete;
    assert_eq!(complete.len(), clustering.labels.len(), "a label for every complete burst");
    let phases = Phases { complete, clustering };
    let raw = prepared.raw(table);
    let (mut stats, moments) = rayon::join(
        || durations(table, phases),
        || {
            let counters = table.counters.par_iter();
            let counters = counters.map(|c| column_moments(phases, |i| c.values.get(i)));
            let metrics = raw.par_iter().map(|raw| column_moments(phases, |i| raw.get(i)));
            counters.chain(metrics).collect::<Vec<_>>()
        },
    );
    let (counters, metrics) = moments.split_at(table.counters.len());
    let all = table.computing_time().0 as f64;
    let of_complete: f64 = stats.iter().map(|s| u128::from(s.total.0)).sum::<u128>() as f64;
    let ratio = |part: u64, whole: f64| if whole > 0.0 { part as f64 / whole } else { 0.0 };
    for (p, phase) in stats.iter_mut().enumerate() {
        phase.share = ratio(phase.total.0, all);
        phase.share_of_complete = ratio(phase.total.0, of_complete);
        phase.counters = counters.iter().map(|c| c[p]).collect();
        phase.metrics = metrics.iter().map(|m| m[p]).collect();
    }
    stats
}

/// The phase of each complete burst; the number of clusters stands for noise.
#[derive(Clone, Copy)]
struct Phases<'a> {
    complete: &'a Rows,
    clustering: &'a Clustering,
}

impl Phases<'_> {
    fn noise(&self) -> usize {
        self.clustering.n_clusters
    }

    /// Of the bursts in these rows of the table: the row, and the phase.
    fn within(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let places = self.complete.before(rows.start)..self.complete.before(rows.end);
        let phase = |label: &Option<ClusterId>| label.map_or(self.noise(), ClusterId::index);
        let phases = self.clustering.labels[places.clone()].iter().map(phase);
        places.map(|place| self.complete.at(place) as usize).zip(phases)
    }

    fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        self.within(0..usize::MAX)
    }
}

/// Running moments (Welford, *Technometrics* 4, 1962): sums of squares would
/// lose the spread of large counts.
#[derive(Clone, Copy, Default)]
pub(super) struct Running {
    n: u64,
    mean: f64,
    squares: f64,
}

impl Running {
    pub(super) fn push(&mut self, x: f64) {
        self.n += 1;
        let before = x - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (x - self.mean);
    }

    pub(super) fn moments(self) -> Moments {
        Moments { n: self.n, mean: self.mean, deviation: (self.squares / self.n.max(1) as f64).sqrt() }
    }
}

/// Moments of `value` in each phase and the noise; `NaN` is left out.
fn column_moments(phases: Phases<'_>, value: impl Fn(usize) -> f64) -> Vec<Moments> {
    let mut running = vec![Running::default(); phases.noise() + 1];
    for (burst, phase) in phases.all() {
        let x = value(burst);
        if !x.is_nan() {
            running[phase].push(x);
        }
    }
    running.into_iter().map(Running::moments).collect()
}

/// All that durations and tasks say of each phase.
fn durations(table: &BurstTable, phases: Phases<'_>) -> Vec<PhaseStats> {
    let (moments, noise) = (column_moments(phases, |i| table.duration[i].0 as f64), phases.noise());
    let empty = |(p, duration): (usize, Moments)| PhaseStats {
        cluster: (p < noise).then(|| ClusterId::from_index(p)),
        instances: duration.n,
        total: Nanos::ZERO,
        duration,
        min: Nanos(u64::MAX),
        max: Nanos::ZERO,
        share: 0.0,
        share_of_complete: 0.0,
        tasks: 0,
        of_tasks: 0,
        imbalance: 0.0,
        counters: Vec::new(),
        metrics: Vec::new(),
    };
    let mut stats: Vec<PhaseStats> = moments.into_iter().enumerate().map(empty).collect();
    for (burst, phase) in phases.all() {
        let (phase, duration) = (&mut stats[phase], table.duration[burst]);
        phase.total = phase.total.saturating_add(duration);
        phase.min = phase.min.min(duration);
        phase.max = phase.max.max(duration);
    }
    for phase in stats.iter_mut().filter(|phase| phase.instances == 0) {
        phase.min = Nanos::ZERO;
    }
    imbalance(table, phases, &mut stats);
    stats
}

/// Tasks and imbalance of each phase. Bursts are ordered by task, so that one
/// task's times suffice at any moment.
fn imbalance(table: &BurstTable, phases: Phases<'_>, stats: &mut [PhaseStats]) {
    let mut time = vec![0u64; stats.len()];
    // Of a thread, on average over those of the task.
    let mut largest = vec![0.0f64; stats.len()];
    // Threads of the applications that have the phase, and the tasks that these are of.
    let mut threads = vec![0u64; stats.len()];
    let mut concerned = vec![0u64; stats.len()];
    // Bursts of an application, or of a task, stand together.
    let tasks: Vec<((u32, u32), Range<usize>)> = table.tasks().collect();
    for of_app in tasks.chunk_by(|a, b| a.0.0 == b.0.0) {
        let (mut present, mut threads_of_app) = (vec![false; stats.len()], 0);
        for (_, rows) in of_app {
            let own = table.threads_within(rows.clone()).count() as u64;
            threads_of_app += own;
            let mut seen = vec![false; stats.len()];
            for (burst, phase) in phases.within(rows.clone()) {
                time[phase] = time[phase].saturating_add(table.duration[burst].0);
                seen[phase] = true;
            }
            for (p, phase) in stats.iter_mut().enumerate().filter(|(p, _)| seen[*p]) {
                phase.tasks += 1;
                largest[p] = largest[p].max(std::mem::take(&mut time[p]) as f64 / own as f64);
                present[p] = true;
            }
        }
        let tasks = of_app.len() as u64;
        for p in (0..stats.len()).filter(|&p| present[p]) {
            concerned[p] += tasks;
            threads[p] += threads_of_app;
        }
    }
    for (p, phase) in stats.iter_mut().enumerate().filter(|(_, phase)| phase.total > Nanos::ZERO) {
        phase.of_tasks = concerned[p];
        phase.imbalance = largest[p] * threads[p] as f64 / phase.total.0 as f64 - 1.0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::{
        Counter, CounterColumn, DurationFilter, Expr, Metric, Operand, Preparation, Scale, prepare,
    };

    /// Bursts of (app, task, duration, value, cluster; 0 is noise, 9 filtered).
    type Burst = (u32, u32, u64, f64, usize);

    fn stats(bursts: &[Burst]) -> Vec<PhaseStats> {
        let n = bursts.len();
        let counter = Counter { event_type: None, name: "A".to_owned(), description: String::new() };
        let part = |b: &Burst| if b.4 == 9 { 0.0 } else { 1.0 };
        let table = BurstTable {
            app: bursts.iter().map(|b| b.0).collect(),
            task: bursts.iter().map(|b| b.1).collect(),
            thread: vec![1; n].into(),
            begin: (0..n as u64).map(Nanos).collect(),
            duration: bursts.iter().map(|b| Nanos(b.2)).collect(),
            counters: vec![
                CounterColumn { counter: counter.clone(), values: bursts.iter().map(|b| b.3).collect() },
                CounterColumn {
                    counter: Counter { name: "PART".to_owned(), ..counter },
                    values: bursts.iter().map(part).collect(),
                },
            ],
            code: None,
        };
        let preparation = Preparation {
            metrics: vec!["PART,linear,min=1".parse().expect("a metric")],
            filter: DurationFilter::Min(Nanos::ZERO),
            scale: Scale::None,
            pca: None,
        };
        let prepared = prepare(&table, &preparation).expect("prepares");
        let labels: Vec<Option<ClusterId>> = bursts
            .iter()
            .filter(|b| b.4 != 9)
            .map(|b| b.4.checked_sub(1).map(ClusterId::from_index))
            .collect();
        let n_clusters = labels.iter().flatten().map(|id| id.index() + 1).max().unwrap_or(0);
        phase_stats(&table, &prepared, &Clustering { labels, n_clusters })
    }

    /// Of 3 threads of one task and 5 of the other, each as long, 25% were told.
    #[test]
    fn tasks_of_unlike_numbers_of_threads_are_compared_per_thread() {
        let table = BurstTable {
            app: vec![1; 8].into(),
            task: vec![1, 1, 1, 2, 2, 2, 2, 2].into(),
            thread: vec![1, 2, 3, 1, 2, 3, 4, 5].into(),
            begin: vec![Nanos(0); 8],
            duration: [100, 100, 100, 90, 90, 90, 90, 90].map(Nanos).to_vec(),
            ..BurstTable::default()
        };
        let metrics = vec![Metric::new("duration", Expr::One(Operand::Duration))];
        let filter = DurationFilter::Min(Nanos(1));
        let prepared = prepare(&table, &Preparation { metrics, filter, scale: Scale::None, pca: None });
        let clustering = Clustering { labels: vec![Some(ClusterId::from_index(0)); 8], n_clusters: 1 };
        let found = phase_stats(&table, &prepared.expect("bursts"), &clustering);
        assert!((found[0].imbalance - (100.0 * 8.0 / 750.0 - 1.0)).abs() < 1e-12, "{:?}", found[0]);
    }

    #[test]
    fn durations_shares_and_imbalance() {
        let found = stats(&[
            (1, 1, 30, 1.0, 1),
            (1, 1, 10, f64::NAN, 1),
            (1, 1, 5, 7.0, 0),
            (1, 2, 20, 4.0, 1),
            (1, 3, 35, 9.0, 9),
            (2, 1, 100, 1.0, 2),
        ]);
        let first = &found[0];
        assert_eq!(
            (first.instances, first.total, first.min, first.max),
            (3, Nanos(60), Nanos(10), Nanos(30))
        );
        assert_eq!(first.duration.mean, 20.0);
        assert_eq!(first.counters[0], Moments { n: 2, mean: 2.5, deviation: 1.5 });
        assert_eq!((first.share, first.share_of_complete), (0.3, 60.0 / 165.0));
        // 40, 20 and none of three tasks: 40 over a mean of 20.
        assert_eq!((first.tasks, first.imbalance), (2, 1.0));
        assert_eq!((found[1].tasks, found[1].imbalance), (1, 0.0));
        assert_eq!((found[2].cluster, found[2].instances, found[2].tasks), (None, 1, 1));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn noise_that_is_none_has_its_entry() {
        let noise = &stats(&[(1, 1, 30, 1.0, 1)])[1];
        assert_eq!((noise.instances, noise.min, noise.share, noise.imbalance), (0, Nanos::ZERO, 0.0, 0.0));
        assert_eq!(noise.counters[0], Moments::default());
    }

    proptest! {
        #[test]
        fn equals_the_definitions_written_out(
            mut bursts in prop::collection::vec(
                (1u32..3, 1u32..5, 0u64..100, 0.0..1e6f64, prop::sample::select(vec![0usize, 1, 2, 3, 9])), 1..60
            )
        ) {
            bursts.push((2, 5, 7, 1.0, 3));
            bursts.sort_by_key(|b| (b.0, b.1));
            for (p, phase) in stats(&bursts).iter().enumerate() {
                let mine: Vec<&Burst> = bursts.iter().filter(|b| b.4 == (p + 1) % 4).collect();
                let time = |f: &dyn Fn(&Burst) -> bool| mine.iter().filter(|b| f(b)).map(|b| b.2).sum::<u64>() as f64;
                prop_assert_eq!(phase.instances as usize, mine.len());
                let n = mine.len().max(1) as f64;
                let mean = mine.iter().map(|b| b.3).sum::<f64>() / n;
                let variance = mine.iter().map(|b| (b.3 - mean).powi(2)).sum::<f64>() / n;
                prop_assert!((phase.counters[0].mean - mean).abs() < 1e-6);
                prop_assert!((phase.counters[0].deviation - variance.sqrt()).abs() < 1e-5);
                let apps: Vec<u32> = mine.iter().map(|b| b.0).collect();
                let mut tasks: Vec<(u32, u32)> =
                    bursts.iter().filter(|b| apps.contains(&b.0)).map(|b| (b.0, b.1)).collect();
                tasks.dedup();
                let times: Vec<f64> = tasks.iter().map(|t| time(&|b| (b.0, b.1) == *t)).collect();
                let total = time(&|_| true);
                if total > 0.0 {
                    let largest = times.iter().copied().fold(0.0, f64::max);
                    prop_assert!((phase.imbalance - (largest / (total / times.len() as f64) - 1.0)).abs() < 1e-9);
                }
                prop_assert_eq!(phase.total.0 as f64, total);
            }
        }
    }
}
