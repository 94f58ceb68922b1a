//! The run between moments at which no thread computes, and what each stretch
//! costs.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rayon::prelude::*;

use super::counted::Counted;
use super::counts::{self, Counts, both, evens_out, sum, uneven};
use super::finding::ThreadName;
use super::instead::{instead, is_near, lacking};
use super::launch;
pub(super) use super::part::Part;
use crate::bursts::serial::is_nearly_all;
use crate::table::Nanos;

/// A phase is one of some threads only, if the distances of its counts from their
/// mean add up to at least this share of all its bursts: that is so if at most
/// three in four threads run it.
const OF_SOME: f64 = 0.499;

/// Who is compared with whom.
pub(super) enum Among<'s, 'a> {
    /// All threads of the run.
    Threads,
    /// The threads of each task.
    ThreadsOfTask,
    /// The tasks, each by one thread: in every stretch of the task, the thread
    /// that its others wait for.
    Tasks(&'s Stretches<'a>),
}

/// The bursts of a run by stretch.
pub(super) struct Stretches<'a> {
    pub(super) all: &'a Counted<'a>,
    /// Of each label, its step: the least label among those that threads do one
    /// instead of the other.
    pub(super) step: Vec<u32>,
    /// Of each thread, what is compared: itself, or its task.
    unit: Vec<u32>,
    /// Of each unit, the place of those that it is compared with.
    group: Vec<u32>,
    /// How many units each group has.
    peers: Vec<f64>,
    /// The bursts of the units by group and begin.
    order: Cow<'a, [u32]>,
    /// Where in `order` each stretch begins, and where the last ends.
    bounds: Vec<usize>,
}

/// What the stretches that a processor works on use one after the other.
struct Room {
    /// Of each unit, its time; 0 between two stretches.
    times: Vec<f64>,
    /// Of each label that the stretch has, the place of its part.
    places: Vec<usize>,
}

/// What all threads do of a label in a stretch.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) label: u32,
    pub(super) time: f64,
    pub(super) count: f64,
    pub(super) own: f64,
    pub(super) own_count: f64,
    /// How often the thread does it that does it most often.
    pub(super) most_count: f64,
    pub(super) longest: u32,
    pub(super) own_longest: Option<u32>,
}

impl<'a> Stretches<'a> {
    pub(super) fn of(all: &'a Counted<'a>, among: &Among<'_, 'a>) -> Self {
        let names = all.names();
        let mut task: Vec<u32> = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let before = task.last().copied().unwrap_or(0);
            task.push(before + u32::from(i > 0 && names[i - 1].task != name.task));
        }
        let threads: Vec<u32> = (0..names.len() as u32).collect();
        let (unit, group, mut order) = match among {
            Among::Threads => (threads, vec![0; names.len()], Cow::Borrowed(&all.order[..])),
            Among::ThreadsOfTask => (threads, task, Cow::Borrowed(&all.order[..])),
            Among::Tasks(within) => (task, vec![0; all.n_tasks()], Cow::Owned(within.slowest_bursts())),
        };
        let mut peers = vec![0.0; group.iter().map(|&g| g as usize + 1).max().unwrap_or(0)];
        group.iter().for_each(|&g| peers[g as usize] += 1.0);
        let group_of = |&burst: &u32| group[unit[all.thread(burst) as usize] as usize];
        if peers.len() > 1 || unit.len() > peers[0] as usize {
            order.to_mut().par_sort_unstable_by_key(|burst| (group_of(burst), all.begin(*burst), *burst));
        }
        let step = (0..=all.noise()).collect();
        let mut stretches = Self { all, step, unit, group, peers, order, bounds: Vec::new() };
        stretches.cut();
        stretches.bounds = launch::joined(&stretches, &stretches.bounds);
        stretches.find_steps();
        stretches.join();
        stretches
    }

    /// Cuts the run: a stretch begins where all earlier bursts of the group have
    /// ended, and no thread starts its next burst at the very same moment.
    fn cut(&mut self) {
        let mut end = Nanos::ZERO;
        let mut ends = vec![None; self.all.names().len()];
        for (at, &burst) in self.order.iter().enumerate() {
            let goes_on = |&next: &u32| ends[self.all.thread(next) as usize] == Some(self.all.begin(next));
            let mut now = self.order[at..].iter().take_while(|&&next| self.all.begin(next) == end);
            let is_new = at == 0 || self.group(burst) != self.group(self.order[at - 1]);
            if is_new || (self.all.begin(burst) >= end && !now.any(goes_on)) {
                self.bounds.push(at);
                end = Nanos::ZERO;
            }
            ends[self.all.thread(burst) as usize] = Some(self.all.end(burst));
            end = end.max(self.all.end(burst));
        }
        self.bounds.push(self.order.len());
    }

    /// In each stretch, the bursts of the thread that takes longest.
    fn slowest_bursts(&self) -> Vec<u32> {
        let mut times = vec![0.0; self.n_units()];
        let mut found = Vec::new();
        for bursts in self.each() {
            bursts
                .iter()
                .for_each(|&burst| times[self.unit(burst) as usize] += self.all.duration(burst) as f64);
            let slowest = self.slowest(bursts, &times);
            found.extend(bursts.iter().copied().filter(|&burst| self.unit(burst) == slowest));
            bursts.iter().for_each(|&burst| times[self.unit(burst) as usize] = 0.0);
        }
        found
    }

    /// Finds phases that threads do one instead of the other, and makes one step
    /// of them. A phase that only some threads do is joined with the phase that
    /// others do instead, if that holds for at least half of its time. What is
    /// done instead is what has the same instructions (of several, what the costs of a stretch pair it
    /// with, if it is one of these); or else what most others do in its place of
    /// their sequence; or what the costs of a stretch pair it with for most of its time; if nothing
    /// is, it is what others begin next to it and its own threads hardly do.
    fn find_steps(&mut self) {
        let n = self.all.n_labels();
        let counts = self.counts(&self.order);
        let is_of_some = |label: usize| {
            counts
                .get(&(label as u32))
                .is_some_and(|counts| uneven(counts, self.n_units() as f64) >= OF_SOME * sum(counts))
        };
        let mut total = vec![0.0; n];
        let mut instead: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); n];
        for part in self.parts_by(|room, stretch| self.parts_of_stretch(room, stretch, f64::INFINITY)) {
            let mut order: Vec<usize> = (0..part.labels.len()).collect();
            order.retain(|&i| part.labels[i] != self.all.noise());
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
        let lengths = OnceCell::new();
        let is_like = |a: u32, b: u32| {
            let lengths = lengths.get_or_init(|| self.lengths());
            is_near(lengths[a as usize], lengths[b as usize])
        };
        let of_some: Vec<bool> = (0..n).map(is_of_some).collect();
        let (mut step, work) = (self.step.clone(), OnceCell::new());
        let (in_place, begins) = (OnceCell::new(), OnceCell::new());
        for label in (0..n).filter(|&label| of_some[label]) {
            // What holds for at least half of its time.
            let most = |by: &BTreeMap<u32, f64>| {
                let most = by.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
                most.filter(|(_, time)| **time >= 0.5 * total[label]).map(|(&key, _)| key)
            };
            let is_same = |key: &u32| self.is_same_work([label as u32, *key], &counts, &work);
            // Bursts that take hardly any of the time of others stand beside them by accident.
            let near = |by: &BTreeMap<u32, f64>| most(by).filter(|&key| is_like(label as u32, key));
            let key = (self.same_work(label as u32, &counts, &work))
                .or_else(|| most(&instead[label]).filter(is_same))
                .or_else(|| near(&in_place.get_or_init(|| self.in_place())[label]))
                .or_else(|| near(&instead[label]))
                .or_else(|| near(&begins.get_or_init(|| self.others_begin(&of_some, &counts))[label]));
            let Some(key) = key else { continue };
            let (a, b) = (step[label], step[key as usize]);
            step.iter_mut().filter(|step| **step == a.max(b)).for_each(|step| *step = a.min(b));
        }
        self.step = step;
    }

    /// Joins neighbouring stretches in which threads do the same phase at
    /// different moments. Where threads wait only for their neighbours, there can
    /// be a moment at which none computes although some are steps ahead of others;
    /// such a moment ends no stretch.
    fn join(&mut self) {
        let stretches = std::mem::take(&mut self.bounds);
        let mut current = Counts::new();
        for bounds in stretches.windows(2) {
            let bursts = &self.order[bounds[0]..bounds[1]];
            let (n, next) = (self.n(bursts), self.counts(bursts));
            let evens = |(label, b)| current.get(label).is_some_and(|a| evens_out(a, b, n));
            let last = self.order[bounds[0].saturating_sub(1)];
            if self.group(last) != self.group(bursts[0]) || !next.iter().any(evens) {
                self.bounds.push(bounds[0]);
                current.clear();
            }
            for (label, units) in next {
                match current.entry(label) {
                    Entry::Vacant(entry) => _ = entry.insert(units),
                    Entry::Occupied(mut entry) => _ = entry.insert(both(entry.get(), &units)),
                }
            }
        }
        self.bounds.extend(stretches.last());
    }

    fn counts(&self, bursts: &[u32]) -> Counts {
        let in_phase = bursts.iter().filter(|&&burst| self.all.label(burst) != self.all.noise());
        let pairs = in_phase.map(|&burst| (self.step[self.all.label(burst) as usize], self.unit(burst)));
        let most = self.all.n_labels() * self.n_units();
        if most <= 4 * bursts.len() { counts::dense(pairs, self.n_units()) } else { counts::sparse(pairs) }
    }

    /// What each step costs in each stretch. `long` is how long a burst of no
    /// phase has to be to be taken out, in ns.
    pub(super) fn parts(&self, long: f64) -> Vec<Part> {
        let mut parts = self.parts_by(|room, stretch| {
            let mut parts = self.parts_of_stretch(room, stretch, long);
            self.give_bursts(room, &mut parts);
            parts
        });
        self.adopt(&mut parts);
        parts
    }

    /// What `of_stretch` makes of each stretch.
    fn parts_by(&self, of_stretch: impl Fn(&mut Room, u32) -> Vec<Part> + Sync + Send) -> Vec<Part> {
        let room = || Room { times: vec![0.0; self.n_units()], places: vec![0; self.all.n_labels()] };
        (0..self.bounds.len() as u32 - 1)
            .into_par_iter()
            .with_min_len(16)
            .map_init(room, of_stretch)
            .flatten_iter()
            .collect()
    }

    fn parts_of_stretch(&self, Room { times, .. }: &mut Room, stretch: u32, long: f64) -> Vec<Part> {
        let bursts = self.of_stretch(stretch);
        for &burst in bursts {
            times[self.unit(burst) as usize] += self.all.duration(burst) as f64;
        }
        let mut parts = Vec::new();
        self.parts_of(bursts, times, &mut parts, long);
        parts.iter_mut().for_each(|part| part.stretch = stretch);
        bursts.iter().for_each(|&burst| times[self.unit(burst) as usize] = 0.0);
        parts
    }

    /// Deals the bursts of a stretch out to its parts.
    fn give_bursts(&self, Room { times, places }: &mut Room, parts: &mut [Part]) {
        let Some(stretch) = parts.first().map(|part| part.stretch) else { return };
        for (place, part) in parts.iter().enumerate() {
            part.labels.iter().for_each(|&label| places[label as usize] = place);
        }
        let mut dealt: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
        for &burst in self.of_stretch(stretch) {
            dealt[places[self.all.label(burst) as usize]].push(burst);
        }
        for (part, bursts) in parts.iter_mut().zip(dealt) {
            for &burst in bursts.iter().filter(|&&burst| self.unit(burst) != part.unit) {
                let time = &mut times[self.unit(burst) as usize];
                *time += self.all.duration(burst) as f64;
                part.next = part.next.max(*time);
            }
            bursts.iter().for_each(|&burst| times[self.unit(burst) as usize] = 0.0);
            part.bursts = bursts.into();
        }
    }

    /// Gives bursts of no phase a phase, where there are several groups (tasks,
    /// each with its threads): the phase that most other groups do at the same
    /// moment, if this group does it less often than most.
    fn adopt(&self, parts: &mut [Part]) {
        if self.n_groups() < 2 {
            return;
        }
        let noise = self.all.noise();
        let span = |part: &Part| {
            let bursts = self.of_stretch(part.stretch);
            let end = bursts.iter().map(|&burst| self.all.end(burst)).max();
            (self.all.begin(bursts[0]), end.unwrap_or(Nanos::ZERO))
        };
        let mut counts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut spans = Vec::new();
        for part in parts.iter().filter(|part| part.key != noise && part.gain > 0.0) {
            let group = self.group_of(part.unit);
            counts.entry(part.key).or_insert_with(|| vec![0; self.n_groups()])[group] += 1;
            let (begin, end) = span(part);
            spans.push((begin, end, part.key, group));
        }
        spans.sort_unstable();
        let longest = spans.iter().map(|&(begin, end, ..)| end.saturating_sub(begin)).max();
        for part in parts.iter_mut().filter(|part| part.key == noise && part.gain > 0.0) {
            let (group, (begin, end)) = (self.group_of(part.unit), span(part));
            let mut beside: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
            let least = begin.saturating_sub(longest.unwrap_or(Nanos::ZERO));
            let first = spans.partition_point(|&(from, ..)| from < least);
            for &(_, to, key, other) in spans[first..].iter().take_while(|&&(from, ..)| from < end) {
                if begin < to {
                    beside.entry(key).or_default().insert(other);
                }
            }
            let lacks = |key: &u32| {
                let mut all = counts[key].clone();
                all.sort_unstable();
                counts[key][group] < all[all.len() / 2]
            };
            let most = beside.iter().filter(|(key, _)| lacks(key)).max_by_key(|(_, groups)| groups.len());
            if let Some((&key, _)) = most.filter(|(_, groups)| 2 * groups.len() > self.n_groups()) {
                part.key = key;
                if let Some(counts) = counts.get_mut(&key) {
                    counts[group] += 1;
                }
            }
        }
    }

    fn parts_of(&self, bursts: &[u32], times: &mut [f64], parts: &mut Vec<Part>, long: f64) {
        let slowest = self.slowest(bursts, times);
        let step = |label: u32| self.step[label as usize];
        let sums = self.sums(bursts, slowest, &|label| label);
        let n = self.n(bursts);
        let begin = self.all.begin(bursts[0]);
        let end = bursts.iter().map(|&burst| self.all.end(burst)).max().unwrap_or(begin);
        let wall = end.saturating_sub(begin).0 as f64;
        // Before steps are found, each label is one.
        let is_same = sums.iter().all(|sum| step(sum.label) == sum.label);
        let by_steps = (!is_same).then(|| self.sums(bursts, slowest, &step));
        let is_missing = |of: &Sum| self.is_missing(bursts, of);
        let by_steps = by_steps.as_ref().unwrap_or(&sums);
        let [mut joined, missing] = instead(by_steps, self.all.noise(), n, is_missing);
        if joined.is_empty()
            && let Some(lacking) = lacking(by_steps, self.all.noise(), n)
        {
            joined = self.only_of_lacking(bursts, (lacking.label, lacking.most_count));
        }
        let mut by_step: BTreeMap<u32, Vec<Sum>> = BTreeMap::new();
        sums.iter().for_each(|sum| by_step.entry(step(sum.label)).or_default().push(*sum));
        let together = [joined, missing].map(|labels| {
            let sums =
                labels.iter().collect::<BTreeSet<_>>().into_iter().filter_map(|label| by_step.remove(label));
            sums.flatten().collect::<Vec<Sum>>()
        });
        let mut groups: Vec<Vec<Sum>> = by_step.into_values().collect();
        groups.extend(together.into_iter().filter(|sums| !sums.is_empty()));
        let excess = |group: &[Sum]| group.iter().map(|sum| sum.own - sum.time / n).sum::<f64>();
        let net: f64 = groups.iter().map(|group| excess(group)).sum();
        let above: f64 = groups.iter().map(|group| excess(group).max(0.0)).sum();
        for group in groups {
            let mut part = self.part(&group, slowest, n);
            (part.most, part.wall) = (times[slowest as usize], wall);
            if above > 0.0 {
                part.gain = excess(&group).max(0.0) * net.max(0.0) / above;
            }
            if part.key == self.all.noise() {
                self.without_long(bursts, times, long, &mut part);
            }
            parts.push(part);
        }
    }

    /// The thread with most time.
    fn slowest(&self, bursts: &[u32], times: &[f64]) -> u32 {
        let mut slowest = self.unit(bursts[0]);
        for &burst in bursts {
            let thread = self.unit(burst);
            let (time, most) = (times[thread as usize], times[slowest as usize]);
            if time > most || (time == most && thread < slowest) {
                slowest = thread;
            }
        }
        slowest
    }

    /// By what `of` makes of the labels, ascending.
    fn sums(&self, bursts: &[u32], slowest: u32, of: &dyn Fn(u32) -> u32) -> Vec<Sum> {
        let key = |&burst: &u32| u64::from(of(self.all.label(burst))) << 32 | u64::from(burst);
        let mut keys: Vec<u64> = bursts.iter().map(key).collect();
        keys.sort_unstable();
        let of_label = |keys: &[u64]| {
            let (label, first) = ((keys[0] >> 32) as u32, keys[0] as u32);
            let mut last = (self.unit(first), 0.0);
            let mut sum = Sum { label, longest: first, ..Sum::default() };
            for burst in keys.iter().map(|&key| key as u32) {
                let time = self.all.duration(burst);
                sum.time += time as f64;
                sum.count += 1.0;
                // Bursts are in order of threads.
                let before = if last.0 == self.unit(burst) { last.1 } else { 0.0 };
                last = (self.unit(burst), before + 1.0);
                sum.most_count = sum.most_count.max(last.1);
                if time > self.all.duration(sum.longest) {
                    sum.longest = burst;
                }
                if self.unit(burst) == slowest {
                    sum.own += time as f64;
                    sum.own_count += 1.0;
                    if sum.own_longest.is_none_or(|longest| time > self.all.duration(longest)) {
                        sum.own_longest = Some(burst);
                    }
                }
            }
            sum
        };
        keys.chunk_by(|a, b| a >> 32 == b >> 32).map(of_label).collect()
    }

    fn part(&self, group: &[Sum], unit: u32, n: f64) -> Part {
        let by_time = |sum: &&Sum| (sum.label != self.all.noise(), sum.time);
        let order = |a: &&Sum, b: &&Sum| {
            by_time(a).0.cmp(&by_time(b).0).then(a.time.total_cmp(&b.time)).then(b.label.cmp(&a.label))
        };
        let main = group.iter().max_by(order).expect("a group has a label");
        let longest =
            group.iter().filter_map(|sum| sum.own_longest).max_by_key(|&burst| self.all.duration(burst));
        Part {
            stretch: 0,
            key: self.step[main.label as usize],
            labels: group.iter().map(|sum| sum.label).collect(),
            bursts: Box::default(),
            times: group.iter().map(|sum| sum.time).collect(),
            n,
            unit,
            longest: longest.unwrap_or(main.longest),
            gain: 0.0,
            own: group.iter().map(|sum| sum.own).sum(),
            mean: group.iter().map(|sum| sum.time).sum::<f64>() / n,
            next: 0.0,
            own_noise: group.iter().filter(|sum| sum.label == self.all.noise()).map(|sum| sum.own).sum(),
            most: 0.0,
            wall: 0.0,
            removal: 0.0,
            long: Vec::new(),
            told: [0.0; 2],
        }
    }

    /// What the stretch would be without its long bursts of no phase.
    fn without_long(&self, bursts: &[u32], times: &mut [f64], long: f64, part: &mut Part) {
        let is_long = |&burst: &u32| {
            self.all.label(burst) == self.all.noise()
                && self.all.duration(burst) as f64 >= long
                && self.all.duration(burst) >= self.all.grouped_from.0
        };
        // Of one thread nothing says whether it should be shorter: nobody waits for it.
        if self.n_units() == 1 {
            return;
        }
        let taken: Vec<u32> = bursts.iter().copied().filter(is_long).collect();
        let mut units: Vec<u32> = taken.iter().map(|&burst| self.unit(burst)).collect();
        units.sort_unstable();
        units.dedup();
        // What most units do is a step of the program, and no single burst.
        if 2 * units.len() > self.n_units() {
            return;
        }
        let Some(&longest) = taken.iter().max_by_key(|&&burst| (self.all.duration(burst), !burst)) else {
            return;
        };
        let most =
            |times: &[f64]| bursts.iter().map(|&burst| times[self.unit(burst) as usize]).fold(0.0, f64::max);
        let before = most(times);
        for &burst in &taken {
            times[self.unit(burst) as usize] -= self.all.duration(burst) as f64;
        }
        part.removal = before - most(times);
        part.longest = longest;
        part.long = taken;
    }

    pub(super) fn of_stretch(&self, stretch: u32) -> &[u32] {
        &self.order[self.bounds[stretch as usize]..self.bounds[stretch as usize + 1]]
    }

    /// The stretches, each with its bursts.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.bounds.windows(2).map(|bounds| &self.order[bounds[0]..bounds[1]])
    }

    pub(super) fn n_units(&self) -> usize {
        self.group.len()
    }

    pub(super) fn n_groups(&self) -> usize {
        self.peers.len()
    }

    /// When the first burst of each unit begins, however short.
    pub(super) fn first_begins(&self) -> Vec<Nanos> {
        let mut first = vec![Nanos(u64::MAX); self.n_units()];
        for (&unit, begin) in self.unit.iter().zip(self.all.first_begins()) {
            let first = &mut first[unit as usize];
            *first = begin.min(*first);
        }
        first
    }

    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    pub(super) fn unit(&self, burst: u32) -> u32 {
        self.unit[self.all.thread(burst) as usize]
    }

    pub(super) fn group_of(&self, unit: u32) -> usize {
        self.group[unit as usize] as usize
    }

    /// The units of a group: they are in order of groups.
    pub(super) fn units_of(&self, group: usize) -> Range<usize> {
        let first = |group: usize| self.group.partition_point(|&other| (other as usize) < group);
        first(group)..first(group + 1)
    }

    pub(super) fn group(&self, burst: u32) -> usize {
        self.group_of(self.unit(burst))
    }

    /// How many units are compared with one, and itself.
    pub(super) fn peers(&self, unit: u32) -> f64 {
        self.peers[self.group_of(unit)]
    }

    /// How many units the bursts of a stretch are among.
    fn n(&self, bursts: &[u32]) -> f64 {
        bursts.first().map_or(0.0, |&burst| self.peers[self.group(burst)])
    }

    /// Names of units. A task goes by the thread that has nearly all of its time in
    /// these labels; but if that is the same thread number in all tasks, the
    /// thread says nothing, and the task goes by all its threads.
    pub(super) fn names(&self, units: &[u32], labels: &BTreeSet<u32>) -> Vec<ThreadName> {
        let names = self.all.names();
        if self.unit.len() == self.n_units() {
            return units.iter().map(|&unit| names[unit as usize]).collect();
        }
        let mut times = vec![0.0; names.len()];
        for &burst in self.order.iter().filter(|&&burst| labels.contains(&self.all.label(burst))) {
            times[self.all.thread(burst) as usize] += self.all.duration(burst) as f64;
        }
        // Threads are in order of tasks.
        let first = |unit: u32| self.unit.partition_point(|&other| other < unit);
        let threads = |unit: u32| first(unit)..first(unit + 1);
        let total = |unit: u32| threads(unit).map(|thread| times[thread]).sum::<f64>();
        let one = |unit: u32| threads(unit).find(|&thread| is_nearly_all(times[thread], total(unit)));
        let mut numbers: Vec<Option<u32>> = (0..self.n_units() as u32)
            .filter(|&unit| total(unit) > 0.0)
            .map(|unit| one(unit).map(|thread| names[thread].thread))
            .collect();
        let n_tasks = numbers.len();
        numbers.dedup();
        let is_any = n_tasks > 1 && numbers.len() == 1;
        let called = |unit: u32| match one(unit).filter(|_| !is_any) {
            Some(thread) => vec![names[thread]],
            None => threads(unit).map(|thread| names[thread]).collect(),
        };
        units.iter().flat_map(|&unit| called(unit)).collect()
    }
}
