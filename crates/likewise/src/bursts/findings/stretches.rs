//! The run between moments at which no thread computes, and what each stretch
//! costs.

use std::collections::BTreeMap;

use super::{FindingsInput, ThreadName};
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// A thread that does a label at least so many times more often than the
/// mean thread does it instead of another.
const MORE: f64 = 0.25;

/// A thread that does a label so many times less often than the mean thread
/// does another instead.
const LESS: f64 = -0.5;

/// Labels that hold less than this share of the time that was exchanged are
/// no part of a step.
const MINOR: f64 = 0.1;

/// Only some threads do a phase if its counts differ from their mean by this
/// share of them: at most three of four threads do it.
const OF_SOME: f64 = 0.499;

/// Counts of a phase are even over two stretches together where they differ by
/// at most this share of what they differ by in each.
const EVEN: f64 = 0.5;

/// The bursts of a run by stretch.
pub(super) struct Stretches<'a> {
    table: &'a BurstTable,
    /// Of each burst of the table; phases by their place, then the noise.
    label: Vec<u32>,
    noise: u32,
    /// Of each label, the least of those that threads do one instead of the other.
    step: Vec<u32>,
    /// Of each burst of the table.
    thread: Vec<u32>,
    names: Vec<ThreadName>,
    /// The bursts that count, by begin.
    order: Vec<u32>,
    /// Where in `order` each stretch begins, and where the last ends.
    bounds: Vec<usize>,
}

/// What a step costs in one stretch: one label, or several where threads do
/// one instead of the other.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) stretch: u32,
    /// The step of the phase with most time among the labels.
    pub(super) key: u32,
    pub(super) labels: Vec<u32>,
    /// Time of all threads in each of them, in ns.
    pub(super) times: Vec<f64>,
    /// The thread that computes longest in the stretch.
    pub(super) thread: u32,
    /// Its longest burst of these labels, or that of any thread where it has none.
    pub(super) longest: u32,
    /// What balance would win here, in ns.
    pub(super) gain: f64,
    /// Time of the thread in it, and the mean of all threads.
    pub(super) own: f64,
    pub(super) mean: f64,
    /// Time of the thread in bursts of no phase.
    pub(super) own_noise: f64,
    /// By how much the thread is behind the last but one, in the stretch.
    pub(super) ahead: f64,
    /// By how much the stretch would be shorter without the long bursts of no
    /// phase, and whose they are; of the noise alone.
    pub(super) removal: f64,
    pub(super) long: Vec<u32>,
}

/// What all threads do of a label in a stretch.
#[derive(Clone, Copy, Default)]
struct Sum {
    label: u32,
    time: f64,
    count: f64,
    own: f64,
    own_count: f64,
    /// How often the thread does it that does it most often.
    most_count: f64,
    longest: u32,
    own_longest: Option<u32>,
}

impl<'a> Stretches<'a> {
    pub(super) fn of(input: &FindingsInput<'a>) -> Self {
        let table = input.table;
        let noise = input.phase.iter().flatten().map(|id| id.index() as u32 + 1).max().unwrap_or(0);
        let label = input.phase.iter().map(|phase| phase.map_or(noise, |id| id.index() as u32)).collect();
        let (mut names, mut thread) = (Vec::new(), Vec::with_capacity(table.len()));
        for (&task, &number) in table.task.iter().zip(&table.thread) {
            let name = ThreadName { task, thread: number };
            if names.last() != Some(&name) {
                names.push(name);
            }
            thread.push(names.len() as u32 - 1);
        }
        let counts = |&i: &u32| table.duration[i as usize] >= input.shortest.max(Nanos(1));
        let mut order: Vec<u32> = (0..table.len() as u32).filter(counts).collect();
        order.sort_unstable_by_key(|&i| (table.begin[i as usize], i));
        let step = (0..=noise).collect();
        let mut stretches = Self { table, label, noise, step, thread, names, order, bounds: Vec::new() };
        stretches.cut();
        stretches.find_steps();
        stretches.join();
        stretches
    }

    /// Begins a stretch wherever all bursts before have ended.
    fn cut(&mut self) {
        let mut end = Nanos::ZERO;
        for (at, &burst) in self.order.iter().enumerate() {
            if at == 0 || self.begin(burst) >= end {
                self.bounds.push(at);
            }
            end = end.max(self.table.end(burst as usize));
        }
        self.bounds.push(self.order.len());
    }

    /// Makes one step of a phase that only some threads do and what the others
    /// do instead in half of its time or more.
    fn find_steps(&mut self) {
        let n = self.n_labels();
        let counts = self.counts(&self.order);
        let is_of_some = |label: usize| {
            counts.get(&(label as u32)).is_some_and(|counts| {
                uneven(counts, self.n_threads() as f64) >= OF_SOME * counts.values().sum::<f64>()
            })
        };
        let mut total = vec![0.0; n];
        let mut instead: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); n];
        for part in self.parts(f64::INFINITY) {
            let mut order: Vec<usize> = (0..part.labels.len()).collect();
            order.retain(|&i| part.labels[i] != self.noise);
            order.sort_by(|&a, &b| part.times[b].total_cmp(&part.times[a]).then(a.cmp(&b)));
            // Each is done instead of the largest, and that instead of the next.
            for (place, &i) in order.iter().enumerate() {
                let label = part.labels[i] as usize;
                total[label] += part.times[i];
                if let Some(&other) = order.get(usize::from(place == 0)) {
                    *instead[label].entry(part.labels[other]).or_insert(0.0) += part.times[i];
                }
            }
        }
        let mut step = self.step.clone();
        for label in (0..n).filter(|&label| is_of_some(label)) {
            let most = instead[label].iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
            let Some((&key, _)) = most.filter(|(_, time)| **time >= 0.5 * total[label]) else {
                continue;
            };
            let (a, b) = (step[label], step[key as usize]);
            step.iter_mut().filter(|step| **step == a.max(b)).for_each(|step| *step = a.min(b));
        }
        self.step = step;
    }

    /// Joins neighbouring stretches in which threads do the same phase at
    /// different moments: where threads wait for their neighbours only, none
    /// may compute for a moment although some are steps ahead of others.
    fn join(&mut self) {
        let stretches = std::mem::take(&mut self.bounds);
        let mut current = Counts::new();
        for bounds in stretches.windows(2) {
            let next = self.counts(&self.order[bounds[0]..bounds[1]]);
            let joins = next.iter().any(|(label, b)| {
                current.get(label).is_some_and(|a| evens_out(a, b, self.n_threads() as f64))
            });
            if !joins {
                self.bounds.push(bounds[0]);
                current.clear();
            }
            for (label, threads) in next {
                let sums = current.entry(label).or_default();
                threads.into_iter().for_each(|(thread, n)| *sums.entry(thread).or_insert(0.0) += n);
            }
        }
        self.bounds.extend(stretches.last());
    }

    fn counts(&self, bursts: &[u32]) -> Counts {
        let mut counts = Counts::new();
        for &burst in bursts.iter().filter(|&&burst| self.label(burst) != self.noise) {
            *counts
                .entry(self.step[self.label(burst) as usize])
                .or_default()
                .entry(self.thread(burst))
                .or_insert(0.0) += 1.0;
        }
        counts
    }

    /// What each step costs in each stretch. `long` is how long a burst of no
    /// phase has to be to be taken out, in ns.
    pub(super) fn parts(&self, long: f64) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut times = vec![0.0; self.n_threads()];
        for (stretch, bounds) in self.bounds.windows(2).enumerate() {
            let bursts = &self.order[bounds[0]..bounds[1]];
            for &burst in bursts {
                times[self.thread(burst) as usize] += self.duration(burst) as f64;
            }
            let first = parts.len();
            self.parts_of(bursts, &mut times, &mut parts, long);
            parts[first..].iter_mut().for_each(|part| part.stretch = stretch as u32);
            bursts.iter().for_each(|&burst| times[self.thread(burst) as usize] = 0.0);
        }
        parts
    }

    fn parts_of(&self, bursts: &[u32], times: &mut [f64], parts: &mut Vec<Part>, long: f64) {
        let (slowest, ahead) = self.slowest(bursts, times);
        let step = |label: u32| self.step[label as usize];
        let sums = self.sums(bursts, slowest, &|label| label);
        let n = self.n_threads() as f64;
        let joined = instead(&self.sums(bursts, slowest, &step), self.noise, n);
        let mut by_step: BTreeMap<u32, Vec<Sum>> = BTreeMap::new();
        sums.iter().for_each(|sum| by_step.entry(step(sum.label)).or_default().push(*sum));
        let (together, apart): (Vec<_>, Vec<_>) =
            by_step.into_iter().partition(|(label, _)| joined.contains(label));
        let mut groups: Vec<Vec<Sum>> = apart.into_iter().map(|(_, sums)| sums).collect();
        if !together.is_empty() {
            groups.push(together.into_iter().flat_map(|(_, sums)| sums).collect());
        }
        let excess = |group: &[Sum]| group.iter().map(|sum| sum.own - sum.time / n).sum::<f64>();
        let net: f64 = groups.iter().map(|group| excess(group)).sum();
        let above: f64 = groups.iter().map(|group| excess(group).max(0.0)).sum();
        for group in groups {
            let mut part = self.part(&group, slowest, ahead);
            if above > 0.0 {
                part.gain = excess(&group).max(0.0) * net.max(0.0) / above;
            }
            if part.key == self.noise {
                self.without_long(bursts, times, long, &mut part);
            }
            parts.push(part);
        }
    }

    /// The thread with most time, and by how much it is behind the next.
    fn slowest(&self, bursts: &[u32], times: &[f64]) -> (u32, f64) {
        let mut slowest = self.thread(bursts[0]);
        for &burst in bursts {
            let thread = self.thread(burst);
            let (time, most) = (times[thread as usize], times[slowest as usize]);
            if time > most || (time == most && thread < slowest) {
                slowest = thread;
            }
        }
        let others = bursts.iter().map(|&burst| self.thread(burst)).filter(|&thread| thread != slowest);
        let next = others.map(|thread| times[thread as usize]).fold(0.0, f64::max);
        (slowest, times[slowest as usize] - next)
    }

    /// By what `of` makes of the labels, ascending.
    ///
    /// Short bursts of no phase are not counted: they are of any step.
    fn sums(&self, bursts: &[u32], slowest: u32, of: &dyn Fn(u32) -> u32) -> Vec<Sum> {
        let longest = bursts.iter().map(|&burst| self.duration(burst)).max().unwrap_or(0) as f64;
        let is_counted =
            |burst: u32, time: u64| self.label(burst) != self.noise || time as f64 >= MINOR * longest;
        let mut by_label = bursts.to_vec();
        by_label.sort_unstable_by_key(|&burst| (of(self.label(burst)), burst));
        let of_label = |bursts: &[u32]| {
            let mut last = (self.thread(bursts[0]), 0.0);
            let mut sum = Sum { label: of(self.label(bursts[0])), longest: bursts[0], ..Sum::default() };
            for &burst in bursts {
                let time = self.duration(burst);
                sum.time += time as f64;
                let counted = f64::from(u8::from(is_counted(burst, time)));
                sum.count += counted;
                // Bursts are in order of threads.
                let before = if last.0 == self.thread(burst) { last.1 } else { 0.0 };
                last = (self.thread(burst), before + counted);
                sum.most_count = sum.most_count.max(last.1);
                if time > self.duration(sum.longest) {
                    sum.longest = burst;
                }
                if self.thread(burst) == slowest {
                    sum.own += time as f64;
                    sum.own_count += counted;
                    if sum.own_longest.is_none_or(|longest| time > self.duration(longest)) {
                        sum.own_longest = Some(burst);
                    }
                }
            }
            sum
        };
        by_label.chunk_by(|&a, &b| of(self.label(a)) == of(self.label(b))).map(of_label).collect()
    }

    fn part(&self, group: &[Sum], thread: u32, ahead: f64) -> Part {
        let by_time = |sum: &&Sum| (sum.label != self.noise, sum.time);
        let order = |a: &&Sum, b: &&Sum| {
            by_time(a).0.cmp(&by_time(b).0).then(a.time.total_cmp(&b.time)).then(b.label.cmp(&a.label))
        };
        let main = group.iter().max_by(order).expect("a group has a label");
        let longest =
            group.iter().filter_map(|sum| sum.own_longest).max_by_key(|&burst| self.duration(burst));
        Part {
            stretch: 0,
            key: self.step[main.label as usize],
            labels: group.iter().map(|sum| sum.label).collect(),
            times: group.iter().map(|sum| sum.time).collect(),
            thread,
            longest: longest.unwrap_or(main.longest),
            gain: 0.0,
            own: group.iter().map(|sum| sum.own).sum(),
            mean: group.iter().map(|sum| sum.time).sum::<f64>() / self.n_threads() as f64,
            own_noise: group.iter().filter(|sum| sum.label == self.noise).map(|sum| sum.own).sum(),
            ahead,
            removal: 0.0,
            long: Vec::new(),
        }
    }

    /// What the stretch would be without its long bursts of no phase.
    fn without_long(&self, bursts: &[u32], times: &mut [f64], long: f64, part: &mut Part) {
        let is_long = |&burst: &u32| self.label(burst) == self.noise && self.duration(burst) as f64 >= long;
        let taken: Vec<u32> = bursts.iter().copied().filter(is_long).collect();
        let Some(&longest) = taken.iter().max_by_key(|&&burst| (self.duration(burst), !burst)) else {
            return;
        };
        let most = |times: &[f64]| {
            bursts.iter().map(|&burst| times[self.thread(burst) as usize]).fold(0.0, f64::max)
        };
        let before = most(times);
        for &burst in &taken {
            times[self.thread(burst) as usize] -= self.duration(burst) as f64;
        }
        part.removal = before - most(times);
        part.longest = longest;
        part.long = taken.iter().map(|&burst| self.thread(burst)).collect();
        part.long.sort_unstable();
        part.long.dedup();
    }

    /// Mean time of the threads but the slowest in a part.
    pub(super) fn others(&self, part: &Part) -> f64 {
        let n = self.n_threads() as f64;
        (part.mean * n - part.own).max(0.0) / (n - 1.0).max(1.0)
    }

    /// The stretches, each with its bursts.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.bounds.windows(2).map(|bounds| &self.order[bounds[0]..bounds[1]])
    }

    /// How long any thread computes.
    pub(super) fn busy(&self) -> Nanos {
        let (mut end, mut busy) = (Nanos::ZERO, 0u64);
        for &burst in &self.order {
            let (begin, to) = (self.begin(burst).max(end), self.table.end(burst as usize));
            busy = busy.saturating_add(to.saturating_sub(begin).0);
            end = end.max(to);
        }
        Nanos(busy)
    }

    /// How many threads have each label.
    pub(super) fn threads_by_label(&self) -> Vec<usize> {
        let mut pairs: Vec<(u32, u32)> =
            self.order.iter().map(|&burst| (self.label(burst), self.thread(burst))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut counts = vec![0; self.n_labels()];
        pairs.iter().for_each(|&(label, _)| counts[label as usize] += 1);
        counts
    }

    pub(super) fn n_threads(&self) -> usize {
        self.names.len()
    }

    pub(super) fn n_labels(&self) -> usize {
        self.noise as usize + 1
    }

    pub(super) fn noise(&self) -> u32 {
        self.noise
    }

    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    pub(super) fn label(&self, burst: u32) -> u32 {
        self.label[burst as usize]
    }

    pub(super) fn thread(&self, burst: u32) -> u32 {
        self.thread[burst as usize]
    }

    pub(super) fn duration(&self, burst: u32) -> u64 {
        self.table.duration[burst as usize].0
    }

    pub(super) fn begin(&self, burst: u32) -> Nanos {
        self.table.begin[burst as usize]
    }

    pub(super) fn names(&self, threads: &[u32]) -> Vec<ThreadName> {
        threads.iter().map(|&thread| self.names[thread as usize]).collect()
    }

    /// The phases among labels.
    pub(super) fn phases(&self, labels: impl Iterator<Item = u32>) -> Vec<ClusterId> {
        labels
            .filter(|&label| label != self.noise)
            .map(|label| ClusterId::from_index(label as usize))
            .collect()
    }
}

/// How often each thread does each phase.
type Counts = BTreeMap<u32, BTreeMap<u32, f64>>;

/// By how much the counts of `n` threads differ from their mean, in all.
fn uneven(counts: &BTreeMap<u32, f64>, n: f64) -> f64 {
    let mean = counts.values().sum::<f64>() / n;
    counts.values().map(|count| (count - mean).abs()).sum::<f64>() + (n - counts.len() as f64) * mean
}

/// Whether `n` threads do a phase about as often as one another in two
/// stretches together, but not in either.
fn evens_out(a: &BTreeMap<u32, f64>, b: &BTreeMap<u32, f64>, n: f64) -> bool {
    let mut both = a.clone();
    b.iter().for_each(|(&thread, count)| *both.entry(thread).or_insert(0.0) += count);
    let (a, b, both) = (uneven(a, n), uneven(b, n), uneven(&both, n));
    a > 1e-9 && b > 1e-9 && both <= EVEN * (a + b)
}

/// The labels that threads do one instead of the other: those that the
/// slowest does more often than the mean thread, and those that it does less
/// often. Empty where there are not both, unless bursts of no phase stand for
/// those that some threads lack.
fn instead(sums: &[Sum], noise: u32, n: f64) -> Vec<u32> {
    let times_more = |sum: &Sum| sum.own_count - sum.count / n;
    let is_more = |sum: &&Sum| times_more(sum) >= MORE && sum.own > sum.time / n;
    let is_less = |sum: &&Sum| {
        let times = times_more(sum);
        times <= LESS || (sum.own_count == 0.0 && times < 0.0)
    };
    let side = |is_one: &dyn Fn(&&Sum) -> bool, size: &dyn Fn(&Sum) -> f64| {
        let most = sums.iter().filter(is_one).map(size).fold(0.0, f64::max);
        let major = |sum: &&Sum| is_one(sum) && size(sum) >= MINOR * most;
        sums.iter().filter(major).map(|sum| sum.label).collect::<Vec<u32>>()
    };
    let more = side(&is_more, &|sum| sum.own - sum.time / n);
    let less = side(&is_less, &|sum| sum.time);
    let mut joined = if more.is_empty() || less.is_empty() { Vec::new() } else { [more, less].concat() };
    // Where just as many bursts are missing as there are of no phase.
    let odd = sums.iter().find(|sum| sum.label == noise).map_or(0.0, |sum| sum.count);
    let missing = |sum: &&Sum| sum.label != noise && odd > 0.0 && n * sum.most_count - sum.count == odd;
    let lacking = sums.iter().filter(missing).max_by(|a, b| a.time.total_cmp(&b.time));
    if let Some(lacking) = lacking.filter(|sum| joined.is_empty() || joined.contains(&sum.label)) {
        joined.extend([lacking.label, noise]);
    }
    joined
}
