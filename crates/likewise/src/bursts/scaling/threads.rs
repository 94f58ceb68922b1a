//! The threads of a run, and which of their steps are aligned.

use std::ops::Range;

use super::matched::RunBursts;
use super::steps::Steps;

/// At most so many steps of a thread are aligned. Of runs with longer threads some are chosen,
/// by where they stand and not by how long they take: if one step is slower in one of two runs,
/// the longest of its thread are others there.
const MAX_STEPS: usize = 4096;
/// So many stretches of steps in a row are aligned, at equal distances, from the begin to the end
/// of a run. The fewer they are, the longer is an iteration that one of them holds; the more, the
/// less of what a program does only for a while is missed.
const STRETCHES: usize = 4;
/// A step that takes at least one in so many parts of its thread's time is aligned wherever it
/// stands: what is done a few times in a run may be between the stretches. There are no more
/// of them than this.
const LONG: usize = 100;
/// The steps of a stretch.
const IN_A_ROW: usize = (MAX_STEPS - LONG) / STRETCHES;
/// If at most this share of a thread's steps hold [`NEARLY_ALL`] of its time, the others are left
/// out before: a stretch of very short steps would hold few others.
const FEW: f64 = 0.1;
/// See [`FEW`].
const NEARLY_ALL: f64 = 0.95;
/// Short steps are left out of a thread only if the others take this share of its time: what
/// is short beside the steps of one thread may be all that another one does.
const MOST: f64 = 0.5;

/// The threads of a run that have complete bursts, in order.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    /// What of each is aligned.
    pub(super) steps: Vec<Steps>,
    /// The one that the others are aligned to; `None` if there is none.
    pub(super) guide: Option<usize>,
}

impl Threads {
    /// # Complexity
    /// O(n log n) for n bursts.
    pub(super) fn of(run: &RunBursts<'_>) -> Self {
        let mut threads: Vec<Vec<u32>> = ranges(run).map(Range::collect).collect();
        let is_long = |threads: &[Vec<u32>]| threads.iter().any(|steps| steps.len() > MAX_STEPS);
        if is_long(&threads) {
            let least = least_length(run, longest(&threads));
            threads.iter_mut().for_each(|steps| leave_out_short(run, steps, least));
        }
        let most = longest(&threads).len();
        let rows = match is_long(&threads) {
            true => stretches(most),
            false => std::iter::once(0..most).collect(),
        };
        let guide = guide(run, &threads, &rows);
        if let Some(guide) = guide.filter(|_| is_long(&threads)) {
            let times: Vec<Range<u64>> =
                rows.iter().map(|rows| time_of(run, &threads[guide], rows)).collect();
            threads.iter_mut().for_each(|steps| {
                *steps = chosen(run, steps, if steps.len() == most { &rows } else { &[] }, &times);
            });
        }
        let steps = threads.into_iter().map(|bursts| steps(run, bursts)).collect();
        Self { steps, guide }
    }
}

/// The most steps that a thread of the run has.
pub(super) fn most_steps(run: &RunBursts<'_>) -> usize {
    ranges(run).map(|own| own.len()).max().unwrap_or(0)
}

/// The complete bursts of each thread that has any.
fn ranges<'a>(run: &'a RunBursts<'_>) -> impl Iterator<Item = Range<u32>> + 'a {
    let own = |rows: Range<usize>| {
        let [from, to] = [rows.start, rows.end].map(|row| run.complete.before(row) as u32);
        from..to
    };
    run.table.threads().map(move |(_, rows)| own(rows)).filter(|own| !own.is_empty())
}

fn duration(run: &RunBursts<'_>, burst: u32) -> u64 {
    run.table.duration[run.complete.at(burst as usize) as usize].0
}

fn begin(run: &RunBursts<'_>, burst: u32) -> u64 {
    run.table.begin[run.complete.at(burst as usize) as usize].0
}

fn time(run: &RunBursts<'_>, bursts: &[u32]) -> f64 {
    bursts.iter().map(|&burst| duration(run, burst) as f64).sum()
}

/// The first of the threads with the most steps.
fn longest(threads: &[Vec<u32>]) -> &[u32] {
    threads.iter().rev().max_by_key(|steps| steps.len()).map_or(&[], Vec::as_slice)
}

/// What a step has to take, if few of a thread take nearly all of its time; it is in the middle
/// (of logarithms) between the shortest of these and the longest after a tenth of all.
fn least_length(run: &RunBursts<'_>, bursts: &[u32]) -> f64 {
    let mut lengths: Vec<f64> = bursts.iter().map(|&burst| duration(run, burst) as f64).collect();
    lengths.sort_unstable_by(|a, b| b.total_cmp(a));
    let enough = NEARLY_ALL * lengths.iter().sum::<f64>();
    let few = (FEW * lengths.len() as f64) as usize;
    let mut sum = 0.0;
    let held = lengths.iter().take(few).position(|length| {
        sum += length;
        sum >= enough
    });
    held.map_or(0.0, |last| (lengths[last] * lengths[few]).sqrt())
}

fn leave_out_short(run: &RunBursts<'_>, steps: &mut Vec<u32>, least: f64) {
    let is_long = |&burst: &u32| duration(run, burst) as f64 >= least;
    let long: Vec<u32> = steps.iter().copied().filter(is_long).collect();
    if time(run, &long) >= MOST * time(run, steps) {
        *steps = long;
    }
}

/// Where the stretches of a thread of `n` steps are.
fn stretches(n: usize) -> Vec<Range<usize>> {
    let from = |k: usize| k * (n - IN_A_ROW) / (STRETCHES - 1);
    (0..STRETCHES).map(|k| from(k)..from(k) + IN_A_ROW).collect()
}

/// From the begin of a stretch to that of the step after it; the first and the last have no bounds
/// where the thread has none.
fn time_of(run: &RunBursts<'_>, steps: &[u32], rows: &Range<usize>) -> Range<u64> {
    let from = if rows.start == 0 { 0 } else { begin(run, steps[rows.start]) };
    from..steps.get(rows.end).map_or(u64::MAX, |&next| begin(run, next))
}

/// The steps of a thread that are in the stretches, and those that take long. Threads that do as
/// many steps are in step with one another; of others it is the time that tells where they are.
fn chosen(run: &RunBursts<'_>, steps: &[u32], rows: &[Range<usize>], times: &[Range<u64>]) -> Vec<u32> {
    let at = |time: u64| steps.partition_point(|&burst| begin(run, burst) < time);
    let within = |time: &Range<u64>| {
        let from = at(time.start);
        from..at(time.end).min(from + IN_A_ROW)
    };
    let rows = if rows.is_empty() { times.iter().map(within).collect() } else { rows.to_vec() };
    let long = time(run, steps) / LONG as f64;
    let is_chosen =
        |k: usize| rows.iter().any(|rows| rows.contains(&k)) || duration(run, steps[k]) as f64 >= long;
    (0..steps.len()).filter(|&k| is_chosen(k)).map(|k| steps[k]).collect()
}

fn steps(run: &RunBursts<'_>, bursts: Vec<u32>) -> Steps {
    let average = (time(run, &bursts) / bursts.len() as f64).max(1.0);
    Steps { weight: bursts.iter().map(|&burst| duration(run, burst) as f64 / average).collect(), bursts }
}

/// Of the threads with the most steps, the first whose steps take the median time but for half
/// of it, or else the one that comes nearest. The first is mostly the same one in several runs,
/// and what it does at its start is, too. But where one step is uneven, it may have a tenth of
/// it, and is like no thread of a run in which it is even.
fn guide(run: &RunBursts<'_>, threads: &[Vec<u32>], rows: &[Range<usize>]) -> Option<usize> {
    let most = threads.iter().map(Vec::len).max()?;
    let longest: Vec<usize> = (0..threads.len()).filter(|&t| threads[t].len() == most).collect();
    let mut usual = 0u128;
    let mut apart = vec![0u128; longest.len()];
    for step in rows.iter().cloned().flatten() {
        let times: Vec<u64> = longest.iter().map(|&t| duration(run, threads[t][step])).collect();
        let mut sorted = times.clone();
        let middle = *sorted.select_nth_unstable((times.len() - 1) / 2).1;
        usual += u128::from(middle);
        for (apart, time) in apart.iter_mut().zip(&times) {
            *apart += u128::from(time.abs_diff(middle));
        }
    }
    let nearest = || (0..longest.len()).min_by_key(|&i| apart[i]);
    apart.iter().position(|apart| 2 * apart <= usual).or_else(nearest).map(|i| longest[i])
}

#[cfg(test)]
mod tests {
    use super::super::tests::Made;
    use super::*;
    use crate::cluster::Clustering;
    use crate::table::{BurstTable, Nanos, Rows};

    /// A run of threads with bursts of so many ns, each at a time of its own: burst k of m begins
    /// at k/m of the run.
    fn run(threads: &[Vec<u64>]) -> Made {
        let mut table = BurstTable::default();
        let mut tasks = Vec::new();
        let longest: u64 = threads.iter().flatten().copied().max().unwrap_or(1);
        let steps = threads.iter().map(Vec::len).max().unwrap_or(0) as u64;
        for (t, lengths) in threads.iter().enumerate() {
            for (k, &length) in lengths.iter().enumerate() {
                tasks.push(t as u32 + 1);
                table.begin.push(Nanos(k as u64 * steps / lengths.len() as u64 * 2 * longest));
                table.duration.push(Nanos(length));
            }
        }
        let n = tasks.len();
        (table.app, table.task, table.thread) = (vec![1; n].into(), tasks.into(), vec![1; n].into());
        Made {
            table,
            complete: Rows::first(n),
            clustering: Clustering { labels: vec![None; n], n_clusters: 0 },
        }
    }

    fn chosen_of(threads: &[Vec<u64>]) -> Vec<Vec<u32>> {
        let made = run(threads);
        Threads::of(&made.bursts()).steps.into_iter().map(|steps| steps.bursts).collect()
    }

    #[test]
    fn the_same_steps_are_aligned_whichever_is_slower() {
        let steps = |slow: usize| -> Vec<u64> {
            (0..12_001).map(|k| [90, 40, 20, 10][k % 4] * if k % 4 == slow { 3 } else { 1 }).collect()
        };
        let usual = chosen_of(&[steps(9), steps(9)]);
        assert!(usual.iter().all(|bursts| bursts.len() == STRETCHES * IN_A_ROW), "{}", usual[0].len());
        assert_eq!((usual[0][0], usual[0][3995]), (0, 12_000), "from the begin to the end");
        for slow in 0..4 {
            assert_eq!(chosen_of(&[steps(slow), steps(slow)]), usual, "step {slow}");
        }
        let short: Vec<u32> = (0..4096).collect();
        assert_eq!(chosen_of(&[steps(9)[..4096].to_vec()]), [short], "all there are");
    }

    #[test]
    fn what_takes_long_is_aligned_wherever_it_stands() {
        let mut steps = vec![10; 20_000];
        steps[4_000] = 2_100;
        assert!(!chosen_of(&[vec![10; 20_000]])[0].contains(&4_000));
        let chosen = chosen_of(&[steps]);
        assert!(chosen[0].contains(&4_000) && chosen[0].len() == STRETCHES * IN_A_ROW + 1);
    }

    #[test]
    fn threads_of_fewer_steps_are_aligned_at_the_same_times() {
        let chosen = chosen_of(&[vec![10; 5_000], vec![10; 10_000], vec![10; 10_000]]);
        assert!((1_997..=2_000).contains(&chosen[0].len()), "{}", chosen[0].len());
        let at = |burst: u32| if burst < 5_000 { 2 * burst } else { burst - 5_000 };
        let guide: Vec<u32> = chosen[1].iter().map(|&burst| at(burst)).collect();
        assert!(chosen[0].iter().all(|&burst| guide.binary_search(&at(burst)).is_ok()));
        let of_last: Vec<u32> = chosen[1].iter().map(|burst| burst + 10_000).collect();
        assert_eq!(chosen[2], of_last, "as many steps, so the same ones");
    }

    #[test]
    fn few_long_steps_among_very_short_ones_are_all_aligned() {
        // One in fifty takes 97% of the time.
        let steps = |long: u64| (0..100_000).map(|k| if k % 50 == 7 { long } else { 10 }).collect();
        let expected: Vec<u32> = (0..2_000).map(|k| 50 * k + 7).collect();
        assert_eq!(chosen_of(&[steps(20_000)]), [expected]);
        // One that takes as much in all is not left out, nor is what is all that a thread does.
        let chosen = chosen_of(&[steps(2_000)]);
        assert!(chosen[0].iter().any(|k| k % 50 != 7), "{}", chosen[0].len());
        let chosen = chosen_of(&[steps(20_000), vec![10; 3_000]]);
        assert_eq!(chosen[1].len(), 3_000);
    }
}
