//! The time of each thread in each repetition of a phase: what of a difference
//! may be chance, and which tasks it is about.

use std::iter::repeat_n;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::matched::RunBursts;
use crate::median;
use crate::table::Nanos;

/// A difference counts as real only if chance makes one so large with at most
/// this probability.
const CHANCE: f64 = 1e-4;
/// Fewer repetitions do not tell how much they vary.
const LEAST_REPETITIONS: usize = 5;
/// Fewer tasks do not tell which of them is odd.
const LEAST_TASKS: usize = 3;
/// Numbers of bursts that differ by at most this share are the same.
const SAME_BURSTS: f64 = 0.1;
/// A task is odd if it is this many deviations from the others.
const ODD: f64 = 5.0;
/// From a median absolute deviation to a standard deviation.
const MAD: f64 = 1.4826;
/// Of normal values, the median absolute deviation of all tells the standard
/// deviation only as surely as the mean square of this share of them does
/// (Rousseeuw & Croux, *J. Am. Stat. Assoc.* 88, 1993).
const WORTH_OF_MAD: f64 = 0.37;

/// Task and thread, with their application, of each thread that computes.
pub(super) fn threads_of(run: &RunBursts<'_>) -> (Vec<(u32, u32, u32)>, Vec<u32>) {
    let table = run.table;
    let (mut keys, mut of_burst) = (Vec::new(), Vec::with_capacity(table.len()));
    for (key, bursts) in table.threads() {
        of_burst.extend(repeat_n(keys.len() as u32, bursts.len()));
        keys.push(key);
    }
    (keys, of_burst)
}

/// What each thread of a run computes within some time, or in all, in ns, by
/// application, task and thread.
///
/// # Complexity
/// O(n) for n bursts.
#[must_use]
pub fn computing_within(run: &RunBursts<'_>, within: Option<(Nanos, Nanos)>) -> Vec<((u32, u32, u32), f64)> {
    let (keys, thread_of) = threads_of(run);
    let mut sums = vec![0u64; keys.len()];
    let (from, to) = within.unwrap_or((Nanos::ZERO, Nanos(u64::MAX)));
    for (i, &thread) in thread_of.iter().enumerate() {
        let (begin, end) = (run.table.begin[i].max(from), run.table.end(i).min(to));
        let sum = &mut sums[thread as usize];
        *sum = sum.saturating_add(end.saturating_sub(begin).0);
    }
    keys.into_iter().zip(sums.into_iter().map(|sum| sum as f64)).collect()
}

/// At most one in so many repetitions of a thread is odd; more are the way it is.
const FEW: usize = 10;

/// Time of each thread (rows) in each repetition, in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Times {
    n_threads: usize,
    n: usize,
    x: Vec<f64>,
    /// The mean time of a thread in each repetition, if none had a burst more than others.
    even: Vec<f64>,
}

/// So many bursts each that are in no order tell chance; with more, several threads have as many.
const OF_ONE: usize = 16;

/// Bursts in burst order (thread and duration), as if dealt out to `n` threads in turn.
fn dealt_out(bursts: &[(u32, f64)], n: usize) -> Vec<(u32, f64)> {
    let of_thread = |t: usize| bursts.iter().skip(t).step_by(n).map(move |&(_, time)| (t as u32, time));
    (0..n).flat_map(of_thread).collect()
}

/// Bursts in burst order (thread and duration), as if each thread had as many of them: the mean of
/// those that have any.
pub(super) fn as_many_each(bursts: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let of_threads = || bursts.chunk_by(|a, b| a.0 == b.0);
    let mean = bursts.len() as f64 / of_threads().count().max(1) as f64;
    let level = |own: &[(u32, f64)]| mean / own.len() as f64;
    of_threads().flat_map(|own| own.iter().map(move |&(thread, time)| (thread, time * level(own)))).collect()
}

impl Times {
    /// Of bursts in burst order (`bursts`, with their `thread`s and durations),
    /// in `n` repetitions: burst k of m of its thread is in repetition ⌊k·n/m⌋.
    ///
    /// If m is no multiple of n, some repetitions hold a burst more than others. What all threads
    /// take longer for that is no chance; how many bursts one of them has may be.
    pub(super) fn of(bursts: &[(u32, f64)], n_threads: usize, n: usize) -> Self {
        let mut x = vec![0.0; n_threads * n];
        let mut even = vec![0.0; n];
        let mut counts = vec![0.0; n];
        for own in bursts.chunk_by(|a, b| a.0 == b.0) {
            let row = own[0].0 as usize * n;
            let row = &mut x[row..row + n];
            counts.fill(0.0);
            for (k, &(_, time)) in own.iter().enumerate() {
                let repetition = k * n / own.len();
                row[repetition] += time;
                counts[repetition] += 1.0;
            }
            let per_burst = |(sum, count): (&f64, &f64)| if own.len() > n { sum / count } else { *sum };
            let own: Vec<f64> = row.iter().zip(&counts).map(per_burst).collect();
            let whole = row.iter().sum::<f64>() / own.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            let scale = whole / n_threads.max(1) as f64;
            even.iter_mut().zip(own).for_each(|(even, time)| *even += scale * time);
        }
        Self { n_threads, n, x, even }
    }

    /// Of bursts that may be any thread's. Of few, each is a repetition: then chance is told by
    /// how much bursts differ.
    pub(super) fn in_no_order(bursts: &[(u32, f64)], n_threads: usize) -> Self {
        let few = (bursts.len() / OF_ONE).clamp(1, n_threads.max(1));
        Self::of(&dealt_out(bursts, few), n_threads, (bursts.len() / few).max(1))
    }

    /// Adds `weight` times another of as many threads and repetitions.
    pub(super) fn add(&mut self, other: &Self, weight: f64) {
        self.x.iter_mut().zip(&other.x).for_each(|(x, y)| *x += weight * y);
        self.even.iter_mut().zip(&other.even).for_each(|(x, y)| *x += weight * y);
    }

    pub(super) fn n(&self) -> usize {
        self.n
    }

    pub(super) fn row(&self, thread: usize) -> &[f64] {
        &self.x[thread * self.n..(thread + 1) * self.n]
    }

    /// The mean time of a thread in each repetition.
    fn means(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.n];
        for thread in 0..self.n_threads {
            means.iter_mut().zip(self.row(thread)).for_each(|(mean, x)| *mean += x);
        }
        means.iter_mut().for_each(|mean| *mean /= self.n_threads.max(1) as f64);
        means
    }

    /// The load balance: the mean time of the threads over that of the longest,
    /// each found in every block of `block` repetitions and summed over the
    /// blocks. The fewer repetitions in a block, the farther a thread is from the
    /// mean by chance; so runs are compared in blocks of the same size.
    pub(super) fn balance(&self, block: usize) -> Option<f64> {
        let n_blocks = self.n / block.max(1);
        let (mut mean, mut longest) = (0.0, 0.0);
        for b in 0..n_blocks {
            let of_thread = |t: usize| self.row(t)[b * block..(b + 1) * block].iter().sum::<f64>();
            let sums: Vec<f64> = (0..self.n_threads).map(of_thread).collect();
            mean += sums.iter().sum::<f64>() / self.n_threads as f64;
            longest += sums.iter().copied().fold(0.0, f64::max);
        }
        (longest > 0.0).then(|| mean / longest)
    }

    /// The load balance if the repetitions in which a thread takes far longer than it does
    /// otherwise were usual ones. A thread in which they are more than one in [`FEW`] is so.
    /// `None` where threads repeat too little to have a usual one.
    pub(super) fn usual_balance(&self, block: usize) -> Option<f64> {
        if self.n < LEAST_REPETITIONS {
            return None;
        }
        let mut usual = self.clone();
        for row in usual.x.chunks_exact_mut(self.n) {
            let (middle, far) = (middle_of(row), far_by_chance(row));
            let is_odd = |x: &f64| *x - middle > far;
            if row.iter().filter(|x| is_odd(x)).count() * FEW <= row.len() {
                row.iter_mut().filter(|x| is_odd(x)).for_each(|x| *x = middle);
            }
        }
        usual.balance(block)
    }

    /// How much the mean of all repetitions varies by chance, relative to it.
    pub(super) fn variance_of_mean(&self) -> Option<Variance> {
        if self.n < LEAST_REPETITIONS {
            return None;
        }
        let n = self.n as f64;
        let mean = self.even.iter().sum::<f64>() / n;
        let squares: f64 = self.even.iter().map(|x| (x - mean).powi(2)).sum();
        (mean > 0.0).then(|| Variance { value: squares / (n - 1.0) / n / (mean * mean), freedom: n - 1.0 })
    }

    /// How much one thread's sum of `block` repetitions varies by chance,
    /// relative to its mean, apart from what all threads do together.
    pub(super) fn variance_of_thread(&self, block: usize) -> Option<Variance> {
        if self.n < 2 || self.n_threads < 2 {
            return None;
        }
        let means = self.means();
        let mean = means.iter().sum::<f64>() / self.n as f64;
        let freedom = ((self.n - 1) * (self.n_threads - 1)) as f64;
        let squares: f64 = (0..self.n_threads)
            .map(|t| {
                let own = self.row(t).iter().sum::<f64>() / self.n as f64;
                let rest = self.row(t).iter().zip(&means).map(|(x, m)| (x - own - m + mean).powi(2));
                rest.sum::<f64>()
            })
            .sum();
        let value = squares / freedom / block.max(1) as f64 / (mean * mean);
        (mean > 0.0).then_some(Variance { value, freedom })
    }
}

/// A variance, and how many values it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variance {
    pub(super) value: f64,
    pub(super) freedom: f64,
}

/// Whether two figures whose ratio has this logarithm may be the same.
///
/// # Reference
/// Welch's t-test, *Biometrika* 34, 1947, of logarithms.
pub(super) fn may_be_chance(ln_ratio: f64, a: Option<Variance>, b: Option<Variance>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    let sum = a.value + b.value;
    if sum <= 0.0 {
        return ln_ratio == 0.0;
    }
    let freedom = sum * sum / (a.value * a.value / a.freedom + b.value * b.value / b.freedom);
    ln_ratio.abs() <= deviations(freedom) * sum.sqrt()
}

/// Whether the mean lengths of the iterations of two runs may differ by chance
/// only. `a` and `b` are the lengths, in any unit; `None` where a run has fewer
/// than five.
#[must_use]
pub fn lengths_may_be_alike(a: &[f64], b: &[f64]) -> Option<bool> {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (of_a, of_b) = (of_one(a).variance_of_mean()?, of_one(b).variance_of_mean()?);
    Some(may_be_chance((mean(a) / mean(b)).ln(), Some(of_a), Some(of_b)))
}

/// The times of one thread.
fn of_one(x: &[f64]) -> Times {
    Times { n_threads: 1, n: x.len(), x: x.to_vec(), even: x.to_vec() }
}

/// The median; NaN of no values.
fn middle_of(values: &[f64]) -> f64 {
    median::mean(&median::sorted(values.iter().copied())).unwrap_or(f64::NAN)
}

/// The standard deviation of values of which some may be odd.
fn deviation(values: &[f64]) -> f64 {
    let middle = middle_of(values);
    MAD * middle_of(&values.iter().map(|x| (x - middle).abs()).collect::<Vec<_>>())
}

/// How far one of some values may be from their median by chance, judged by the
/// values alone. Few values tell little of their spread ([`WORTH_OF_MAD`]), so
/// the fewer they are, the farther it is.
pub(super) fn far_by_chance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let far = ODD.max(deviations_at(CHANCE / n.max(1.0), WORTH_OF_MAD * (n - 1.0)));
    let deviation = deviation(values);
    if deviation > 0.0 { far * deviation } else { 0.0 }
}

fn deviations(freedom: f64) -> f64 {
    deviations_at(CHANCE, freedom)
}

/// So many standard deviations are exceeded, either way, with this probability.
fn deviations_at(probability: f64, freedom: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom.max(1.0));
    t.map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - probability / 2.0))
}

/// Tasks that take longer than in another run, while the other tasks do not.
#[derive(Clone, Debug, PartialEq)]
pub struct OddTasks {
    /// Application and task, ascending.
    pub tasks: Vec<(u32, u32)>,
    /// Their time over that in the other run.
    pub factor: f64,
    /// The same of the others: the median.
    pub others: f64,
    /// What each of them takes longer, per repetition, than if it were as the
    /// others: the mean in ns.
    pub lost: f64,
    /// The same of the one that loses most.
    pub most_lost: f64,
}

/// What each task does in one repetition of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ByTask {
    /// Its time in ns.
    pub(super) time: Vec<f64>,
    /// Its bursts.
    pub(super) bursts: Vec<f64>,
}

/// The tasks whose time grew from `base` to `now` by more than that of the
/// others. `noise` is by how much the logarithm of the ratio of their times
/// varies by chance, if repetitions tell it. A task with more or fewer bursts
/// than in the other run is left out: it does other work, or some of its bursts
/// were taken for another phase. Where it has a few more, single ones must take
/// that much longer, too.
pub(super) fn odd_tasks(
    tasks: &[(u32, u32)],
    (base, now): (&ByTask, &ByTask),
    noise: Option<f64>,
    least: f64,
) -> Option<OddTasks> {
    let is_same = |t: usize| (base.bursts[t] - now.bursts[t]).abs() <= SAME_BURSTS * base.bursts[t];
    let more = |t: usize| (now.bursts[t] / base.bursts[t]).ln().max(0.0);
    let mores: Vec<f64> = (0..tasks.len()).map(more).collect();
    // What all have more is in the median of the ratios.
    let usual = middle_of(&mores);
    let (base, now) = (&base.time, &now.time);
    let ratios: Vec<f64> = base.iter().zip(now).map(|(a, b)| (b / a).ln()).collect();
    let known: Vec<usize> = (0..ratios.len()).filter(|&t| ratios[t].is_finite() && is_same(t)).collect();
    if known.len() < LEAST_TASKS.max(ratios.len().div_ceil(2)) {
        return None;
    }
    let known_ratios: Vec<f64> = known.iter().map(|&t| ratios[t]).collect();
    let middle = middle_of(&known_ratios);
    let by_chance = match noise {
        Some(noise) => ODD * noise.max(deviation(&known_ratios)),
        None => far_by_chance(&known_ratios),
    };
    let least = least.max(by_chance);
    let odd: Vec<usize> =
        known.iter().copied().filter(|&t| ratios[t] - (mores[t] - usual).max(0.0) - middle > least).collect();
    if odd.is_empty() || 2 * odd.len() >= known.len() {
        return None;
    }
    let sum = |of: &Vec<f64>| odd.iter().map(|&t| of[t]).sum::<f64>();
    let others = middle.exp();
    let lost = |t: usize| now[t] - others * base[t];
    Some(OddTasks {
        tasks: odd.iter().map(|&t| tasks[t]).collect(),
        factor: sum(now) / sum(base),
        others,
        lost: odd.iter().map(|&t| lost(t)).sum::<f64>() / odd.len() as f64,
        most_lost: odd.iter().map(|&t| lost(t)).fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_spread_over_repetitions() {
        let bursts = [(0, 1.0), (0, 2.0), (0, 4.0), (0, 8.0), (2, 3.0)];
        let times = Times::of(&bursts, 3, 2);
        assert_eq!(
            (times.row(0), times.row(1), times.row(2)),
            (&[3.0, 12.0][..], &[0.0; 2][..], &[3.0, 0.0][..])
        );
        assert_eq!(times.balance(2), Some(18.0 / 3.0 / 15.0));
        assert_eq!(times.balance(1), Some(18.0 / 3.0 / 15.0));
        assert_eq!(Times::default().balance(1), None);
    }

    /// The step before the loop is one burst more than there are iterations. One of these had two
    /// bursts, and twice the time, so that 10 % in every burst could be chance.
    #[test]
    fn a_repetition_with_a_burst_more_takes_no_longer() {
        let of = |burst: f64, n_bursts: usize, noise: f64| {
            let time = |k: usize| burst * (1.0 + noise * ((k * 7 % 11) as f64 / 5.0 - 1.0));
            let bursts: Vec<(u32, f64)> =
                (0..4).flat_map(|t| (0..n_bursts).map(move |k| (t, time(k)))).collect();
            Times::of(&bursts, 4, 20)
        };
        for n_bursts in [21, 22, 30, 41] {
            let even = of(10.0, n_bursts, 0.0);
            assert!(even.even.iter().all(|x| (x - n_bursts as f64 / 2.0).abs() < 1e-9), "{even:?}");
            let variance = |burst, noise| of(burst, n_bursts, noise).variance_of_mean();
            assert!(!may_be_chance(1.1f64.ln(), variance(10.0, 0.01), variance(11.0, 0.01)));
            assert!(may_be_chance(1.1f64.ln(), variance(10.0, 0.3), variance(11.0, 0.3)));
        }
        let mut twice = of(10.0, 21, 0.0);
        twice.add(&of(10.0, 41, 0.0), 2.0);
        assert!(twice.even.iter().all(|x| (x - 51.5).abs() < 1e-9), "{twice:?}");
        // A thread that does a step in some repetitions takes no time in the others.
        assert_eq!(Times::of(&[(0, 3.0), (0, 5.0)], 1, 4).even, [3.0, 0.0, 5.0, 0.0]);
    }

    /// Workers have so many jobs as they happen to get.
    #[test]
    fn how_many_bursts_a_thread_has_may_be_chance() {
        let bursts: Vec<(u32, f64)> =
            (0..6).flat_map(|t| (0..18 + t as usize).map(move |_| (t, 10.0))).collect();
        let times = Times::of(&bursts, 6, 20);
        let of_one = times.variance_of_thread(20).expect("they repeat");
        assert!(of_one.value.sqrt() > 0.03, "{of_one:?}");
    }

    #[test]
    fn a_repetition_that_takes_long_once_is_no_imbalance() {
        let even = |t: usize, k: usize| 100.0 + (t * 7 + k * 3) as f64 % 5.0;
        let of = |x: &dyn Fn(usize, usize) -> f64| {
            let rows = (0..8).flat_map(|t| (0..40).map(move |k| x(t, k)));
            Times { n_threads: 8, n: 40, x: rows.collect(), even: Vec::new() }
        };
        let usual = of(&even).usual_balance(10).expect("they repeat");
        assert!((usual - of(&even).balance(10).expect("they take time")).abs() < 1e-12 && usual > 0.99);
        let once = of(&|t, k| even(t, k) * if (t, k) == (3, 21) { 9.0 } else { 1.0 });
        assert_eq!(once.usual_balance(10).map(|balance| balance > 0.99), Some(true));
        assert!(once.balance(10).is_some_and(|balance| balance < 0.9));
        // A thread that always takes longer, and one that often does.
        let slow = of(&|t, k| even(t, k) * if t == 3 { 1.5 } else { 1.0 });
        assert!(slow.usual_balance(10).is_some_and(|balance| balance < 0.75));
        let often = of(&|t, k| even(t, k) * if t == 3 && k % 5 < 2 { 1.5 } else { 1.0 });
        let late = of(&|t, k| even(t, k) * if t == 3 && k >= 24 { 3.0 } else { 1.0 });
        let all = of(&|t, k| even(t, k) * if (t + k) % 6 == 0 { 1.5 } else { 1.0 });
        for often in [often, late, all] {
            assert_eq!(often.usual_balance(10), often.balance(10));
        }
        let few = Times { n_threads: 2, n: 4, x: vec![1.0; 8], even: vec![1.0; 4] };
        assert_eq!(few.usual_balance(1), None);
    }

    #[test]
    fn what_varies_may_be_chance_and_what_does_not_is_none() {
        let of = |x: &[f64]| of_one(x).variance_of_mean();
        let steady = of(&[10.0, 10.1, 9.9, 10.0, 10.1, 9.9]);
        let wild = of(&[10.0, 14.0, 6.0, 12.0, 8.0, 11.0]);
        assert!(!may_be_chance(1.3f64.ln(), steady, steady));
        assert!(may_be_chance(1.3f64.ln(), wild, steady));
        assert!(of(&[1.0; 4]).is_none() && !may_be_chance(0.1, None, steady));
        assert!(may_be_chance(0.0, of(&[1.0; 6]), of(&[2.0; 6])));
        let stall = [10.0, 10.1, 9.9, 10.0, 25.0, 9.9];
        assert_eq!(lengths_may_be_alike(&stall, &[10.0, 10.1, 9.9, 10.0, 10.1]), Some(true));
        assert_eq!(lengths_may_be_alike(&stall[..4], &[11.0, 11.1, 10.9, 11.0, 11.1]), None);
        assert_eq!(
            lengths_may_be_alike(&[10.0, 10.1, 9.9, 10.0, 10.1], &[11.0, 11.1, 11.0, 11.1, 11.0]),
            Some(false)
        );
    }

    #[test]
    fn bursts_in_no_order_are_dealt_out_anew() {
        let bursts: Vec<(u32, f64)> = (0..40).map(|k| (k / 10, f64::from(10 + k % 3))).collect();
        let times = Times::in_no_order(&bursts, 4);
        let sums: Vec<f64> = (0..4).map(|t| times.row(t).iter().sum()).collect();
        assert!(times.n() == 20 && sums[2] == 0.0 && sums[0] + sums[1] == 439.0, "{sums:?}");
        let few = Times::in_no_order(&bursts[..12], 4);
        assert!(few.n() == 12 && few.variance_of_mean().is_some(), "single bursts");
        assert_eq!(Times::in_no_order(&bursts[..1], 4).n(), 1);
    }

    #[test]
    fn threads_of_unlike_numbers_of_bursts_are_even_where_bursts_are() {
        let bursts = [(0, 10.0), (0, 10.0), (0, 10.0), (1, 10.0), (3, 20.0), (3, 20.0)];
        let even = as_many_each(&bursts);
        let of = |thread: u32| even.iter().filter(|own| own.0 == thread).map(|own| own.1).sum::<f64>();
        // Two bursts each, of 10 and of 20.
        assert!(
            [(0, 20.0), (1, 20.0), (2, 0.0), (3, 40.0)].iter().all(|&(t, sum)| (of(t) - sum).abs() < 1e-9)
        );
        assert_eq!(as_many_each(&[]), []);
    }

    #[test]
    fn tasks_that_differ_from_the_others_are_odd() {
        let tasks: Vec<(u32, u32)> = (1..=6).map(|t| (1, t)).collect();
        let of = |time: [f64; 6]| ByTask { time: time.to_vec(), bursts: vec![3.0; 6] };
        let base = [10.0, 11.0, 12.0, 10.0, 11.0, 12.0];
        let mut slow = base.map(|x| 1.1 * x);
        slow[1] *= 2.0;
        let (base, now) = (of(base), of(slow));
        let odd = odd_tasks(&tasks, (&base, &now), Some(0.0), 0.05).expect("one is");
        assert_eq!(odd.tasks, [(1, 2)]);
        assert!((odd.factor - 2.2).abs() < 1e-12 && (odd.others - 1.1).abs() < 1e-12);
        assert!((odd.lost - 12.1).abs() < 1e-9 && odd.lost == odd.most_lost);
        assert_eq!(odd_tasks(&tasks, (&base, &now), Some(0.2), 0.05), None, "as likely chance");
        assert_eq!(odd_tasks(&tasks, (&base, &base), Some(0.0), 0.05), None);
        let mut chance = base.clone();
        let ratios = [1.01, 1.08, 0.995, 1.0, 0.985, 1.01];
        chance.time.iter_mut().zip(ratios).for_each(|(x, ratio)| *x *= ratio);
        assert_eq!(odd_tasks(&tasks, (&base, &chance), None, 0.05), None, "done once, by six tasks");
        assert!(odd_tasks(&tasks, (&base, &now), None, 0.05).is_some(), "twice as long is no chance");
        // 24 tasks within 3% or so; one of them is further off.
        let many: Vec<(u32, u32)> = (1..=24).map(|t| (1, t)).collect();
        let uneven = |last: f64| ByTask {
            time: (0..24).map(|t| if t == 23 { last } else { 1.0 + 0.03 * f64::sin(f64::from(t)) }).collect(),
            bursts: vec![1.0; 24],
        };
        let even = ByTask { time: vec![1.0; 24], bursts: vec![1.0; 24] };
        assert_eq!(odd_tasks(&many, (&even, &uneven(1.15)), None, 0.05), None, "one of 24, done once");
        assert!(odd_tasks(&many, (&even, &uneven(1.6)), None, 0.05).is_some(), "60% is no chance");
        let half = of([20.0, 22.0, 24.0, 10.0, 11.0, 12.0]);
        assert_eq!(odd_tasks(&tasks, (&base, &half), Some(0.0), 0.05), None, "half of them are not odd");
        let mut more = now.clone();
        more.bursts[1] = 6.0;
        assert_eq!(odd_tasks(&tasks, (&base, &more), Some(0.0), 0.05), None, "it has more bursts");
        let [mut fifteen, mut sixteen] = [base.clone(), base.clone()];
        fifteen.bursts = vec![15.0; 6];
        sixteen.bursts = vec![15.0, 15.0, 15.0, 15.0, 15.0, 16.0];
        sixteen.time[5] *= 16.0 / 15.0;
        assert_eq!(odd_tasks(&tasks, (&fifteen, &sixteen), Some(0.0), 0.05), None, "it has one more burst");
        sixteen.time[5] *= 1.1;
        assert!(odd_tasks(&tasks, (&fifteen, &sixteen), Some(0.0), 0.05).is_some(), "and each takes longer");
    }
}
