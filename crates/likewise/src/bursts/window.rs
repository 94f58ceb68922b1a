//! The iterations to keep of a periodic run, and how well they stand for all.

use rayon::prelude::*;

use super::Period;
use super::representatives::{TaskRepresentative, representative_tasks, time_within};
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// What is asked of a cut.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowLimits {
    /// Share of all bursts that is kept, at most.
    pub max_share: f64,
    /// Relative error of the computing time, and of the counters of
    /// `counters`, at most.
    pub max_error: f64,
    /// Counters, by their place in the table, that `max_error` is for.
    pub counters: Vec<usize>,
    /// Just so many iterations; as few as do if not given.
    pub iterations: Option<usize>,
}

/// What a sum over the kept part says of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The sum over the whole region that repeats.
    pub region: f64,
    /// What the kept part makes of it.
    pub estimated: f64,
    /// The sum over the whole run.
    pub run: f64,
}

impl Estimate {
    /// Relative error over the region; 0 where both are 0.
    #[must_use]
    pub fn error(&self) -> f64 {
        ratio(self.estimated - self.region, self.region)
    }

    /// Relative error over the run, if what is before and behind the region
    /// is known exactly.
    #[must_use]
    pub fn run_error(&self) -> f64 {
        ratio(self.estimated - self.region, self.run)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole != 0.0 {
        part / whole
    } else if part == 0.0 {
        0.0
    } else {
        f64::INFINITY
    }
}

/// The part of a run that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// From when to when.
    pub from: Nanos,
    /// See `from`.
    pub to: Nanos,
    /// The first iteration that is kept, from 0, and how many.
    pub first: usize,
    /// See `first`.
    pub n_iterations: usize,
    /// The tasks that are kept, and how many each stands for; all, each for
    /// itself, unless that were too much.
    pub tasks: Vec<TaskRepresentative>,
    /// Share of all bursts of the run that lie in it, or reach into it.
    pub share: f64,
    /// Bursts that are cut where it begins and ends.
    pub n_cut: usize,
    /// Of the computing time in ns.
    pub time: Estimate,
    /// Of each counter of the table; bursts that lack it count nothing.
    pub counters: Vec<Estimate>,
    /// The largest error among the computing time and the counters that were
    /// limited.
    pub error: f64,
    /// Whether both limits are met.
    pub within_limits: bool,
}

/// Chooses the iterations to keep, and the tasks.
///
/// Numbers of successive iterations are tried from one up to half of all, from
/// eight on in steps of a half. For each number, the most typical window is taken
/// among those whose limited errors are within the limit: the one with the least
/// of the larger of two numbers, its greatest error over all counters and the
/// distance of its time from that of as many median iterations. If the window is
/// too large to keep, only some representative tasks of it are kept, as many as
/// the limit allows. The first window within both limits is returned; if there is
/// none, the one with the least error among those that are not too large; and if
/// all are too large, the smallest.
///
/// What is kept is measured as it will be read from the cut trace: a burst's
/// time is clipped to the window, and its counters count if it ends there.
/// The estimate of a sum is that over the kept iterations, each task times
/// the tasks it stands for, times all iterations over those kept.
///
/// # Panics
/// If there is not one label for each burst, or a counter is not in the table.
///
/// # Complexity
/// O(n·c) for n bursts and c counters, for each number of iterations that is
/// tried, and as much for each number of tasks.
///
/// # Example
/// ```
/// use likewise::bursts::{WindowLimits, choose_window, find_period};
/// use likewise::cluster::ClusterId;
/// use likewise::table::{BurstTable, Nanos};
///
/// // Two phases in turn, on one thread: one iteration stands for all.
/// let table = BurstTable {
///     app: vec![1; 40].into(),
///     task: vec![1; 40].into(),
///     thread: vec![1; 40].into(),
///     begin: (0..40).map(|i| Nanos(100 * i)).collect(),
///     duration: (0..40).map(|i| Nanos(if i % 2 == 0 { 80 } else { 30 })).collect(),
///     ..BurstTable::default()
/// };
/// let labels: Vec<_> = (0..40).map(|i| Some(ClusterId::from_index(i % 2))).collect();
/// let period = find_period(&table, &labels)?;
/// let limits = WindowLimits { max_share: 0.2, max_error: 0.05, counters: Vec::new(), iterations: None };
/// let window = choose_window(&table, &labels, &period, &limits);
/// assert!(window.within_limits && window.n_iterations == 1 && window.time.error().abs() < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn choose_window(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    period: &Period,
    limits: &WindowLimits,
) -> Window {
    let sums = Sums::of(table, period);
    let n = period.n_iterations();
    let most = (n / 2).max(1);
    let grow = |&k: &usize| if k < 8 { k + 1 } else { k + k / 2 };
    let all = std::iter::successors(Some(1), |k| Some(grow(k))).take_while(|&k| k <= most);
    let tried: Vec<usize> = limits.iterations.map_or_else(|| all.collect(), |k| vec![k.clamp(1, n)]);
    let mut best: Option<Window> = None;
    for n_iterations in tried {
        let first = sums.best_window(n_iterations, limits);
        let window = reduce(table, labels, period, limits, first, n_iterations, &sums);
        if window.within_limits {
            return window;
        }
        let fits = |w: &Window| w.share <= limits.max_share;
        let better = best.as_ref().is_none_or(|b| match (fits(&window), fits(b)) {
            (true, true) => window.error < b.error,
            (false, false) => window.share < b.share,
            (now, _) => now,
        });
        // More iterations of fewer tasks still, and then none at all.
        let done = !fits(&window);
        if better {
            best = Some(window);
        }
        if done {
            break;
        }
    }
    best.expect("one number of iterations is tried")
}

/// The window of those iterations, of all tasks or of as many as may be.
fn reduce(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    period: &Period,
    limits: &WindowLimits,
    first: usize,
    n_iterations: usize,
    sums: &Sums,
) -> Window {
    let region = period.region();
    let n_tasks = tasks_of(table).len();
    let measured = |n: usize| {
        let tasks = representative_tasks(table, labels, region, n);
        measure(table, period, limits, (first, n_iterations), tasks, sums)
    };
    let all =
        tasks_of(table).iter().map(|&(app, task)| TaskRepresentative { app, task, weight: 1 }).collect();
    let whole = measure(table, period, limits, (first, n_iterations), all, sums);
    if whole.share <= limits.max_share || n_tasks == 1 {
        return whole;
    }
    let mut n = ((limits.max_share / whole.share * n_tasks as f64) as usize).clamp(1, n_tasks - 1);
    loop {
        let window = measured(n);
        if window.share <= limits.max_share || n == 1 {
            return window;
        }
        n -= 1;
    }
}

fn measure(
    table: &BurstTable,
    period: &Period,
    limits: &WindowLimits,
    (first, n_iterations): (usize, usize),
    tasks: Vec<TaskRepresentative>,
    sums: &Sums,
) -> Window {
    let (from, to) = (period.boundaries[first], period.boundaries[first + n_iterations]);
    let repeats = period.n_iterations() as f64 / n_iterations as f64;
    let mut kept = vec![0.0; sums.width];
    let (mut n_bursts, mut n_cut) = (0usize, 0usize);
    let weight = |i: usize| {
        let place = tasks.binary_search_by_key(&(table.app[i], table.task[i]), |t| (t.app, t.task));
        place.ok().map(|place| tasks[place].weight as f64)
    };
    for i in 0..table.len() {
        let (begin, end) = (table.begin[i], table.end(i));
        if end < from || begin > to {
            continue;
        }
        let Some(weight) = weight(i) else { continue };
        kept[0] += weight * time_within(table, i, from, to) as f64;
        if ends_within(end, from, to) {
            add_counters(table, i, weight, &mut kept);
        }
        n_bursts += usize::from(end > from && begin < to);
        n_cut += usize::from(begin < from && end > from) + usize::from(begin < to && end > to);
    }
    let estimate =
        |k: usize| Estimate { region: sums.region[k], estimated: kept[k] * repeats, run: sums.run[k] };
    let estimates: Vec<Estimate> = (0..sums.width).map(estimate).collect();
    let limited = limits.counters.iter().map(|&c| estimates[c + 1].error().abs());
    let error = limited.fold(estimates[0].error().abs(), f64::max);
    let share = n_bursts as f64 / table.len().max(1) as f64;
    Window {
        from,
        to,
        first,
        n_iterations,
        tasks,
        share,
        n_cut,
        time: estimates[0],
        counters: estimates[1..].to_vec(),
        error,
        within_limits: error <= limits.max_error && share <= limits.max_share,
    }
}

/// Sums over iterations, the region and the run: the computing time, then
/// each counter.
struct Sums {
    width: usize,
    /// Row-major, an iteration each.
    iterations: Vec<f64>,
    /// How long each takes, in ns, and their median.
    lengths: Vec<f64>,
    median: f64,
    region: Vec<f64>,
    run: Vec<f64>,
}

impl Sums {
    fn of(table: &BurstTable, period: &Period) -> Self {
        let width = 1 + table.counters.len();
        let (n, cuts) = (period.n_iterations(), &period.boundaries);
        let mut iterations = vec![0.0; n * width];
        let mut run = vec![0.0; width];
        for i in 0..table.len() {
            let (begin, end) = (table.begin[i], table.end(i));
            run[0] += table.duration[i].0 as f64;
            add_counters(table, i, 1.0, &mut run);
            let first = cuts.partition_point(|&c| c <= begin).saturating_sub(1);
            for k in (first..n).take_while(|&k| cuts[k] < end) {
                iterations[k * width] += time_within(table, i, cuts[k], cuts[k + 1]) as f64;
            }
            // An iteration has the bursts that end in it, those at its end too. Of a burst that
            // is not wholly in the region, this has as much of the counters as of the time.
            let ends = cuts.partition_point(|&c| c < end).min(n);
            if ends > 0 && (begin < cuts[n] || end == cuts[n]) {
                let inside = time_within(table, i, cuts[0], cuts[n]) as f64;
                let share = if begin == end { 1.0 } else { inside / table.duration[i].0 as f64 };
                add_counters(table, i, share, &mut iterations[(ends - 1) * width..ends * width]);
            }
        }
        let mut region = vec![0.0; width];
        for row in iterations.chunks(width) {
            region.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        let lengths = period.lengths().iter().map(|length| length.0 as f64).collect();
        Self { width, iterations, lengths, median: period.median().0 as f64, region, run }
    }

    /// Where the best window of that many iterations begins.
    fn best_window(&self, n_iterations: usize, limits: &WindowLimits) -> usize {
        let width = self.width;
        let n = self.iterations.len() / width;
        let repeats = n as f64 / n_iterations as f64;
        let errors = |first: usize| {
            let rows = &self.iterations[first * width..(first + n_iterations) * width];
            let error = |k: usize| {
                let kept: f64 = rows.iter().skip(k).step_by(width).sum();
                ratio(kept * repeats - self.region[k], self.region[k]).abs()
            };
            let limited = limits.counters.iter().map(|&c| error(c + 1)).fold(error(0), f64::max);
            let all = (0..width).map(error).fold(0.0, f64::max);
            let time: f64 = self.lengths[first..first + n_iterations].iter().sum();
            let typical = n_iterations as f64 * self.median;
            let untypical = ratio(time - typical, typical).abs();
            // Within the limit, all that is measured counts; beyond it, what is limited.
            (limited.max(limits.max_error), all.max(untypical), first)
        };
        let order = |a: &(f64, f64, usize), b: &(f64, f64, usize)| {
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        };
        (0..=n - n_iterations).into_par_iter().map(errors).min_by(order).map_or(0, |(.., first)| first)
    }
}

/// Counters stand at the end of a burst, and a trace that is cut from one
/// time to another has what stands at both.
fn ends_within(end: Nanos, from: Nanos, to: Nanos) -> bool {
    from < end && end <= to
}

fn add_counters(table: &BurstTable, i: usize, weight: f64, sums: &mut [f64]) {
    for (sum, column) in sums[1..].iter_mut().zip(&table.counters) {
        let value = column.values.get(i);
        if !value.is_nan() {
            *sum += weight * value;
        }
    }
}

/// The tasks that have bursts, ascending.
fn tasks_of(table: &BurstTable) -> Vec<(u32, u32)> {
    table.tasks().map(|(task, _)| task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Counter, CounterColumn};

    /// `n` iterations of 100 ns on 4 tasks: bursts of 40 and 30 ns, whose
    /// counter is their duration; iteration `odd` computes twice as much.
    fn run(n: u64, odd: u64) -> (BurstTable, Vec<Option<ClusterId>>, Period) {
        let mut table = BurstTable::default();
        let mut values = Vec::new();
        for task in 1..=4 {
            for i in 0..n {
                for (at, duration) in [(0, 20), (50, 15)] {
                    let duration = if i == odd { 2 * duration } else { duration };
                    table.app.push(1);
                    table.task.push(task);
                    table.thread.push(1);
                    table.begin.push(Nanos(100 * i + at));
                    table.duration.push(Nanos(duration));
                    values.push(duration as f64);
                }
            }
        }
        let counter = Counter { event_type: None, name: "C".to_owned(), description: String::new() };
        table.counters.push(CounterColumn { counter, values: values.into() });
        let labels = vec![Some(ClusterId::from_index(0)); table.len()];
        let boundaries = (0..=n).map(|i| Nanos(100 * i)).collect();
        let period = Period { boundaries, confidence: 1.0, coverage: 1.0, anchor: ClusterId::from_index(0) };
        (table, labels, period)
    }

    fn limits(max_share: f64, max_error: f64) -> WindowLimits {
        WindowLimits { max_share, max_error, counters: vec![0], iterations: None }
    }

    #[test]
    fn one_iteration_stands_for_all_that_are_like_it() {
        let (table, labels, period) = run(40, 7);
        let window = choose_window(&table, &labels, &period, &limits(0.05, 0.03));
        assert_eq!((window.first, window.n_iterations, window.tasks.len()), (0, 1, 4));
        assert!(window.within_limits && window.n_cut == 0);
        assert_eq!(window.share, 1.0 / 40.0);
        // 40 of 41 are estimated.
        assert!((window.time.error() + 1.0 / 41.0).abs() < 1e-12, "{}", window.time.error());
        assert_eq!(window.counters[0].error(), window.time.error());
    }

    #[test]
    fn of_a_burst_across_the_edge_of_the_region_only_a_part_is_in_it() {
        let (mut table, _, period) = run(10, 99);
        let whole = Sums::of(&table, &period).region;
        // The first burst of a task begins 980 earlier, the last of another ends 985 later.
        table.begin.iter_mut().for_each(|begin| begin.0 += 1000);
        table.begin[0].0 -= 980;
        table.duration[0].0 = 1000;
        let last = table.len() - 1;
        table.duration[last].0 = 1050;
        table.counters[0].values = table.duration.iter().map(|d| d.0 as f64).collect();
        let boundaries = period.boundaries.iter().map(|at| Nanos(at.0 + 1000)).collect();
        let sums = Sums::of(&table, &Period { boundaries, ..period });
        let added = (sums.region[0] - whole[0]) as i64;
        assert_eq!((added, (sums.region[1] - whole[1]).round() as i64), (35, 35));
        assert_eq!(sums.run[1] - whole[1], 980.0 + 1035.0);
    }

    #[test]
    fn more_iterations_where_one_does_not_do_and_fewer_tasks_where_they_are_too_much() {
        let (table, labels, period) = run(20, 7);
        // One errs by 1/21; with it nine are 10 · 20/9 of 21: not within 4 %, and 19 are too many.
        let window = choose_window(&table, &labels, &period, &limits(0.02, 0.05));
        assert_eq!((window.n_iterations, window.tasks.len()), (1, 1));
        assert_eq!(window.tasks[0].weight, 4);
        assert_eq!(window.share, 1.0 / 80.0);
        assert!(window.within_limits);
        let strict = choose_window(&table, &labels, &period, &limits(0.02, 0.001));
        assert!(!strict.within_limits && strict.share <= 0.02, "{strict:?}");
        let asked = WindowLimits { iterations: Some(20), ..limits(1.0, 0.001) };
        let asked = choose_window(&table, &labels, &period, &asked);
        assert_eq!((asked.n_iterations, asked.error, asked.within_limits), (20, 0.0, true));
    }

    /// The same work, but every third iteration waits for as long again.
    #[test]
    fn what_is_kept_takes_as_long_as_most_do() {
        let (table, labels, mut period) = run(12, 99);
        let waits = |i: u64| i / 3 * 100;
        period.boundaries = (0..=12).map(|i| Nanos(100 * i + waits(i))).collect();
        let mut table = table;
        for i in 0..table.len() {
            table.begin[i].0 += waits(table.begin[i].0 / 100);
        }
        assert_eq!((period.lengths()[2], period.lengths()[5]), (Nanos(200), Nanos(200)));
        for n in 1..=2 {
            let asked = WindowLimits { iterations: Some(n), ..limits(1.0, 0.5) };
            let window = choose_window(&table, &labels, &period, &asked);
            assert_eq!(window.to.saturating_sub(window.from), Nanos(100 * n as u64), "{window:?}");
        }
    }

    #[test]
    fn bursts_across_a_boundary_are_clipped_as_in_the_trace() {
        let (mut table, labels, period) = run(4, 9);
        // The second burst of task 1's first iteration runs until 120.
        table.duration[1] = Nanos(70);
        table.counters[0].values.set(1, 70.0);
        let sums = Sums::of(&table, &period);
        assert_eq!(sums.iterations[..4], [20.0 + 50.0 + 105.0, 20.0 + 105.0, 160.0, 70.0 + 140.0]);
        assert_eq!(sums.region, sums.run);
        let window = choose_window(
            &table,
            &labels,
            &period,
            &WindowLimits { iterations: Some(2), ..limits(1.0, 1.0) },
        );
        let kept: f64 = sums.iterations[window.first * 2..][..4].iter().step_by(2).sum();
        assert_eq!(window.time.estimated, 2.0 * kept, "measured burst by burst, and from the sums");
    }
}
