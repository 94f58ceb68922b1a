//! Bursts in groups, and how their sequences align.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::cluster::{ClusterId, Clustering};
use crate::table::Nanos;

use super::super::{
    Alignment, Cuts, SpmdScore, align_all_by_duration, align_roughly, align_roughly_along, spmd_score,
};
use super::levels::{Level, NO_COHORT, NO_NODE, Node, RefineInput};

/// Which node every burst is in, and all nodes so far.
///
/// Bursts that have always been in the same node are a cohort. Nodes join and go
/// cohort by cohort, which costs nothing per burst.
pub(super) struct Partition {
    /// Of each burst its cohort, or [`NO_COHORT`].
    pub(super) cohort_of: Vec<u32>,
    /// Of each cohort the node it is in, or [`NO_NODE`].
    pub(super) node_of_cohort: Vec<u32>,
    /// Of each cohort what it holds.
    held: Vec<Held>,
    /// Time of the bursts that never were in a node.
    outside: u128,
    pub(super) nodes: Vec<Node>,
}

/// How many bursts, and their time in ns.
#[derive(Clone, Copy, Default)]
pub(super) struct Held {
    bursts: u64,
    time: u128,
}

impl Held {
    fn add(&mut self, other: Self) {
        (self.bursts, self.time) = (self.bursts + other.bursts, self.time + other.time);
    }
}

/// As much as there is room for.
fn nanos(time: u128) -> Nanos {
    Nanos(u64::try_from(time).unwrap_or(u64::MAX))
}

/// The groups that have bursts, ascending.
fn live(held: &[Held]) -> Vec<u32> {
    (0..).zip(held).filter(|(_, held)| held.bursts > 0).map(|(group, _)| group).collect()
}

/// The time of each of these.
fn times(groups: &[u32], held: &[Held]) -> Vec<Nanos> {
    groups.iter().map(|&group| nanos(held[group as usize].time)).collect()
}

/// So many tasks are aligned on the way.
const ALIGNED: usize = 32;

/// And thoroughly, if they have no more bursts than this.
const THOROUGH: usize = 1 << 15;

/// Sequences that have grown by more than one in so many symbols are cut anew. With one
/// in four, the score of 10,000,000 made-up bursts was 0.0064 less than with new cuts
/// at each radius, with one in sixteen 0.0009 less; both save as much time.
const GROWN: usize = 16;

/// If fewer than one in so many bursts leave an alignment, hardly one in so many of
/// its columns could be saved.
const FEW: u64 = 100;

/// Which tasks are aligned, and how well.
pub(super) struct Tasks {
    /// The threads that are aligned, each with its bursts.
    aligned: Vec<Range<u32>>,
    thorough: bool,
}

impl Tasks {
    /// Every thread, as well as can be.
    pub(super) fn all(input: &RefineInput<'_>) -> Self {
        Self { aligned: bursts_of_threads(input), thorough: true }
    }

    /// At most [`ALIGNED`] threads, evenly spaced, the first among them; as
    /// well as can be where they have few bursts.
    pub(super) fn some(input: &RefineInput<'_>) -> Self {
        let n = ALIGNED.min(input.n_threads);
        let bursts = bursts_of_threads(input);
        let aligned: Vec<Range<u32>> = (0..n).map(|i| bursts[i * input.n_threads / n].clone()).collect();
        let n_bursts: usize = aligned.iter().map(Range::len).sum();
        Self { aligned, thorough: n_bursts <= THOROUGH }
    }

    /// How many are aligned.
    pub(super) fn len(&self) -> usize {
        self.aligned.len()
    }

    /// The bursts of each thread that is aligned.
    pub(super) fn bursts(&self) -> &[Range<u32>] {
        &self.aligned
    }
}

/// The bursts of each thread.
fn bursts_of_threads(input: &RefineInput<'_>) -> Vec<Range<u32>> {
    let mut bursts = vec![0..0; input.n_threads];
    for (thread, rows) in input.thread.runs() {
        bursts[thread as usize] = rows.start as u32..rows.end as u32;
    }
    bursts
}

/// A partition's sequences, aligned and scored by place among the nodes that
/// have bursts.
pub(super) struct Scored {
    /// The nodes that have bursts, ascending.
    pub(super) live: Vec<u32>,
    pub(super) alignment: Alignment,
    pub(super) score: SpmdScore,
    /// Where sequences were cut, if they were not aligned as well as can be.
    cuts: Option<Arc<CutBefore>>,
}

/// Where sequences were cut.
struct CutBefore {
    /// How many symbols they had.
    n_symbols: usize,
    /// Among these symbols.
    cuts: Cuts,
    /// Before which of the bursts of each task, in a group or not.
    bursts: Cuts,
}

impl CutBefore {
    fn of(cuts: Cuts, n_symbols: usize, kept: &Kept<'_>) -> Self {
        let bursts = cuts.renumbered(kept.bursts.len(), |task, ends| kept.bursts_at(task, ends));
        Self { n_symbols, cuts, bursts }
    }

    /// The same in sequences of these bursts, unless all together or a piece of one
    /// has come to be much longer.
    fn cuts(&self, n_symbols: usize, kept: &Kept<'_>) -> Option<Cuts> {
        if n_symbols > self.n_symbols + self.n_symbols / GROWN {
            return None;
        }
        let cuts = self.bursts.renumbered(kept.bursts.len(), |task, ends| kept.before(task, ends));
        Some(cuts).filter(|cuts| cuts.are_as_close_as(&self.cuts))
    }
}

/// The bursts of the tasks that are in a group.
struct Kept<'a> {
    /// Of each task, all of its bursts.
    bursts: &'a [Range<u32>],
    cohort_of: &'a [u32],
    /// Of each cohort, the place of its group, or [`NO_NODE`].
    place_of_cohort: &'a [u32],
}

impl Kept<'_> {
    /// Of each burst of a task the place of its group, or [`NO_NODE`].
    fn places(&self, task: usize) -> impl Iterator<Item = u32> + '_ {
        let Range { start, end } = self.bursts[task];
        let place = |&cohort: &u32| self.place_of_cohort.get(cohort as usize).copied().unwrap_or(NO_NODE);
        self.cohort_of[start as usize..end as usize].iter().map(place)
    }

    /// The places of the groups of those that are in one.
    fn sequence(&self, task: usize) -> Vec<u32> {
        let mut sequence: Vec<u32> = self.places(task).filter(|&place| place != NO_NODE).collect();
        // It is kept as part of the alignment.
        sequence.shrink_to_fit();
        sequence
    }

    /// How many of a task are before each of its bursts with these numbers, which
    /// ascend.
    fn before(&self, task: usize, numbers: &[u32]) -> Vec<u32> {
        let mut places = self.places(task);
        let (mut number, mut n) = (0, 0);
        let count = |&end: &u32| {
            let part = places.by_ref().take((end - number) as usize);
            n += part.filter(|&place| place != NO_NODE).count() as u32;
            number = end;
            n
        };
        numbers.iter().map(count).collect()
    }

    /// The number, among the bursts of a task, of each of these, which ascend; behind
    /// the last, how many bursts there are.
    fn bursts_at(&self, task: usize, kept: &[u32]) -> Vec<u32> {
        let n = self.bursts[task].len() as u32;
        let mut numbers = (0..).zip(self.places(task)).filter(|&(_, place)| place != NO_NODE).peekable();
        let mut at = 0;
        let number = |&of: &u32| {
            while at < of && numbers.next().is_some() {
                at += 1;
            }
            numbers.peek().map_or(n, |&(number, _)| number)
        };
        kept.iter().map(number).collect()
    }
}

/// What tasks have of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeCounts {
    /// How many show it.
    pub(super) tasks: u64,
    pub(super) bursts: u64,
    /// Bursts of the task that has most, and of the next; as many where two have as many.
    pub(super) most: u64,
    pub(super) next: u64,
}

impl Partition {
    /// All bursts in no node.
    pub(super) fn new(input: &RefineInput<'_>) -> Self {
        let outside = input.duration.par_iter().map(|d| u128::from(d.0)).sum();
        let cohort_of = vec![NO_COHORT; input.points.len()];
        Self { cohort_of, node_of_cohort: Vec::new(), held: Vec::new(), outside, nodes: Vec::new() }
    }

    /// A node without bursts yet.
    pub(super) fn add(&mut self, level: usize, parents: Vec<u32>) -> u32 {
        self.nodes.push(Node { level, parents, score: 0.0, instances: 0, total: Nanos::ZERO });
        self.nodes.len() as u32 - 1
    }

    /// The node of a burst, or [`NO_NODE`].
    pub(super) fn node_of(&self, burst: u32) -> u32 {
        let cohort = self.cohort_of[burst as usize] as usize;
        self.node_of_cohort.get(cohort).copied().unwrap_or(NO_NODE)
    }

    /// Bursts that never were in a node come into these; those of one node are
    /// a new cohort.
    pub(super) fn enter(&mut self, input: &RefineInput<'_>, entries: &[(u32, u32)]) {
        let mut cohort_of_node = vec![NO_COHORT; self.nodes.len()];
        for &(burst, node) in entries {
            let cohort = &mut cohort_of_node[node as usize];
            if *cohort == NO_COHORT {
                *cohort = self.held.len() as u32;
                self.held.push(Held::default());
                self.node_of_cohort.push(node);
            }
            self.cohort_of[burst as usize] = *cohort;
            let time = u128::from(input.duration[burst as usize].0);
            self.held[*cohort as usize].add(Held { bursts: 1, time });
            self.outside -= time;
        }
    }

    /// Every burst is in the node that `node_of` tells, or in none. Cohorts that
    /// are no longer together become several, also in the levels so far.
    pub(super) fn divide(&mut self, input: &RefineInput<'_>, node_of: &[u32], levels: &mut [Level]) {
        let mut parts: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let before = self.held.len();
        let mut is_kept = vec![false; before];
        self.held.fill(Held::default());
        self.outside = 0;
        for ((cohort, &node), duration) in self.cohort_of.iter_mut().zip(node_of).zip(input.duration) {
            let held = Held { bursts: 1, time: u128::from(duration.0) };
            if *cohort == NO_COHORT && node == NO_NODE {
                self.outside += held.time;
                continue;
            }
            let from = *cohort;
            *cohort = *parts.entry((from, node)).or_insert_with(|| {
                match is_kept.get_mut(from as usize) {
                    Some(kept) if !*kept => {
                        *kept = true;
                        self.node_of_cohort[from as usize] = node;
                        return from;
                    }
                    _ => {}
                }
                levels.iter_mut().for_each(|level| level.node_of_cohort.push(level.node_of(from)));
                self.node_of_cohort.push(node);
                self.held.push(Held::default());
                self.held.len() as u32 - 1
            });
            self.held[*cohort as usize].add(held);
        }
    }

    /// Scores the partition, and tells its nodes what they hold; `before` is how the
    /// same tasks were aligned last.
    pub(super) fn score(&mut self, tasks: &Tasks, before: Option<&Scored>) -> Scored {
        let held = self.held_by(&self.node_of_cohort, self.nodes.len());
        let scored = Scored::of(tasks, &self.cohort_of, (&self.node_of_cohort, &held), before);
        self.tell(&scored, &held);
        scored
    }

    /// The same, as the nodes that still have bursts were aligned before.
    pub(super) fn score_rest(&mut self, before: &Scored) -> Scored {
        let held = self.held_by(&self.node_of_cohort, self.nodes.len());
        let live = live(&held);
        let place = |node: u32| live.binary_search(&node).ok().map(|at| at as u32);
        let alignment = before.alignment.of_some(|symbol| place(before.live[symbol as usize]));
        let score = spmd_score(&alignment, &times(&live, &held));
        let scored = Scored { live, alignment, score, cuts: None };
        self.tell(&scored, &held);
        scored
    }

    /// Tells nodes what they hold.
    fn tell(&mut self, scored: &Scored, held: &[Held]) {
        // Nodes that are part of others keep what they last held.
        for (&node, score) in scored.live.iter().zip(&scored.score.per_cluster) {
            let Held { bursts, time } = held[node as usize];
            let node = &mut self.nodes[node as usize];
            (node.instances, node.total, node.score) = (bursts, nanos(time), score.unwrap_or(0.0));
        }
    }

    /// What each of `n` groups of cohorts holds.
    pub(super) fn held_by(&self, group_of_cohort: &[u32], n: usize) -> Vec<Held> {
        let mut held = vec![Held::default(); n];
        for (&group, own) in group_of_cohort.iter().zip(&self.held) {
            if let Some(held) = held.get_mut(group as usize) {
                held.add(*own);
            }
        }
        held
    }

    /// The share of all bursts' time that those in some nodes take, [`NO_NODE`] among them.
    pub(super) fn share_of_time(&self, is_asked: impl Fn(u32) -> bool) -> f64 {
        let all: u128 = self.held.iter().map(|held| held.time).sum();
        let cohorts = self.node_of_cohort.iter().zip(&self.held);
        let asked: u128 = cohorts.filter(|(node, _)| is_asked(**node)).map(|(_, held)| held.time).sum();
        let outside = if is_asked(NO_NODE) { self.outside } else { 0 };
        (asked + outside) as f64 / (all + self.outside).max(1) as f64
    }

    /// What a level came to.
    pub(super) fn close(&self, eps: f64, scored: &Scored) -> Level {
        let cohorts = self.node_of_cohort.iter().zip(&self.held);
        let gone: u128 = cohorts.filter(|(node, _)| **node == NO_NODE).map(|(_, held)| held.time).sum();
        Level {
            eps,
            score: scored.score.score,
            n_clusters: scored.live.len(),
            noise: nanos(self.outside + gone),
            node_of_cohort: self.node_of_cohort.clone(),
        }
    }

    /// Each list of nodes becomes one new node.
    pub(super) fn merge(&mut self, level: usize, lists: Vec<Vec<u32>>) {
        let mut target: Vec<u32> = (0..self.nodes.len() as u32).collect();
        for list in lists {
            let node = self.add(level, list.clone());
            list.into_iter().for_each(|part| target[part as usize] = node);
        }
        for node in self.node_of_cohort.iter_mut().filter(|node| **node != NO_NODE) {
            *node = target[*node as usize];
        }
    }

    /// What the aligned tasks have of each node.
    pub(super) fn counts_by_node(&self, tasks: &Tasks) -> Vec<NodeCounts> {
        let of_task = |bursts: &Range<u32>| -> Vec<(u32, u64)> {
            let mut of_cohort = vec![0u64; self.node_of_cohort.len()];
            for &cohort in &self.cohort_of[bursts.start as usize..bursts.end as usize] {
                if let Some(n) = of_cohort.get_mut(cohort as usize) {
                    *n += 1;
                }
            }
            let mut of_node: BTreeMap<u32, u64> = BTreeMap::new();
            for (n, &node) in of_cohort.into_iter().zip(&self.node_of_cohort) {
                if n > 0 && node != NO_NODE {
                    *of_node.entry(node).or_default() += n;
                }
            }
            of_node.into_iter().collect()
        };
        let found: Vec<Vec<(u32, u64)>> = tasks.aligned.par_iter().map(of_task).collect();
        let mut counts = vec![NodeCounts::default(); self.nodes.len()];
        for (node, n) in found.into_iter().flatten() {
            let counts = &mut counts[node as usize];
            counts.tasks += 1;
            counts.bursts += n;
            (counts.most, counts.next) = (n.max(counts.most), n.min(counts.most).max(counts.next));
        }
        counts
    }

    /// The nodes that have bursts become phases, in their order.
    pub(super) fn clustering(&self, live: &[u32]) -> Clustering {
        let place = |node: &u32| live.binary_search(node).ok().map(ClusterId::from_index);
        let of_cohort: Vec<Option<ClusterId>> = self.node_of_cohort.iter().map(place).collect();
        let label = |&cohort: &u32| of_cohort.get(cohort as usize).copied().flatten();
        Clustering { labels: self.cohort_of.par_iter().map(label).collect(), n_clusters: live.len() }
    }
}

impl Scored {
    /// Whether the alignment may stay when so many bursts leave it: where sequences
    /// are so long that they were cut, and one burst in [`FEW`] leaves at most.
    /// Otherwise a new one may need fewer columns.
    pub(super) fn stands_without(&self, n_bursts: u64) -> bool {
        let all: usize = self.alignment.sequences.iter().map(|s| s.n_tasks * s.symbols.len()).sum();
        self.alignment.n_windows > 1 && n_bursts * FEW <= all as u64
    }

    /// Aligns the threads' sequences of groups; `group_of_cohort` has the group
    /// of each cohort, and `held` what each group holds. `before` is how tasks were
    /// aligned last: long sequences are cut as they were then, as long as they have
    /// not grown much.
    pub(super) fn of(
        tasks: &Tasks,
        cohort_of: &[u32],
        (group_of_cohort, held): (&[u32], &[Held]),
        before: Option<&Scored>,
    ) -> Self {
        let live = live(held);
        let place = |group: &u32| live.binary_search(group).map_or(NO_NODE, |at| at as u32);
        let place_of_cohort: Vec<u32> = group_of_cohort.iter().map(place).collect();
        let kept = Kept { bursts: &tasks.aligned, cohort_of, place_of_cohort: &place_of_cohort };
        let sequences: Vec<Vec<u32>> =
            (0..tasks.len()).into_par_iter().map(|task| kept.sequence(task)).collect();
        let durations = times(&live, held);
        let (alignment, cuts) = if tasks.thorough {
            (align_all_by_duration(sequences, &durations), None)
        } else {
            let n_symbols = sequences.iter().map(Vec::len).sum();
            let before = before.and_then(|before| before.cuts.as_ref());
            match before.and_then(|cut| Some((cut, cut.cuts(n_symbols, &kept)?))) {
                Some((cut, cuts)) => (align_roughly_along(sequences, &cuts), Some(cut.clone())),
                None => {
                    let (alignment, cuts) = align_roughly(sequences);
                    (alignment, Some(Arc::new(CutBefore::of(cuts, n_symbols, &kept))))
                }
            }
        };
        let score = spmd_score(&alignment, &durations);
        Self { live, alignment, score, cuts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Points;
    use crate::table::Runs;

    /// Two tasks of 3,000 bursts; of the second, those from 1,000 on that are noise at
    /// first come in later.
    #[test]
    fn cuts_serve_until_sequences_have_grown() {
        let bursts = [0..3000, 3000..6000];
        let cohorts = |noise: Range<u32>| -> Vec<u32> {
            (0..6000).map(|i| if noise.contains(&i) { NO_COHORT } else { i % 7 }).collect()
        };
        let places: Vec<u32> = (0..7).collect();
        for (n, serve) in [(0, true), (60, true), (70, false), (300, false), (2000, false)] {
            let (some, all) = (cohorts(4000..4000 + n), cohorts(0..0));
            let kept = |cohort_of| Kept { bursts: &bursts, cohort_of, place_of_cohort: &places };
            let (some, all) = (kept(&some[..]), kept(&all[..]));
            let sequences = |kept: &Kept<'_>| -> Vec<Vec<u32>> { (0..2).map(|t| kept.sequence(t)).collect() };
            let (_, cuts) = align_roughly(sequences(&some));
            let cut = CutBefore::of(cuts, 6000 - n as usize, &some);
            let again = cut.cuts(6000 - n as usize, &some).expect("the same sequences");
            assert_eq!(align_roughly_along(sequences(&some), &again), align_roughly(sequences(&some)).0);
            let later = cut.cuts(6000, &all);
            assert_eq!(later.is_some(), serve, "{n} came in");
            if let Some(later) = later {
                let n_columns = align_roughly_along(sequences(&all), &later).n_columns;
                assert!((3000..3070).contains(&n_columns), "{n_columns}");
            }
        }
    }

    /// Two tasks of 3,000 bursts take two steps in turn; ten bursts of each are noise
    /// in a group of their own, at other places in each.
    #[test]
    fn an_alignment_stands_without_a_few_bursts() {
        let n = 6000;
        let (data, duration) = (vec![0.0; n], vec![Nanos(10); n]);
        let thread: Runs = (0..n).map(|i| i as u32 / 3000).collect();
        let points = Points::new(&data, 1).expect("points");
        let input =
            RefineInput { points, thread: &thread, n_threads: 2, duration: &duration, code: &[], apart: &[] };
        let mut partition = Partition::new(&input);
        (0..3).for_each(|_| _ = partition.add(0, Vec::new()));
        let is_noise = |i: u32| i % 300 == 100 + 50 * (i / 3000);
        let node = |i: u32| if is_noise(i) { 2 } else { i % 2 };
        let entries: Vec<(u32, u32)> = (0..n as u32).map(|i| (i, node(i))).collect();
        partition.enter(&input, &entries);
        let all = Tasks::all(&input);
        let before = partition.score(&all, None);
        assert!(before.alignment.n_windows > 1 && before.live == [0, 1, 2]);
        assert!(before.stands_without(60) && !before.stands_without(61));
        partition.node_of_cohort[2] = NO_NODE;
        let rest = partition.score_rest(&before);
        let nodes = partition.nodes.clone();
        let anew = partition.score(&all, None);
        assert_eq!((&rest.live, &rest.alignment.sequence_of), (&anew.live, &anew.alignment.sequence_of));
        let symbols = |scored: &Scored| -> Vec<Vec<u32>> {
            scored.alignment.sequences.iter().map(|sequence| sequence.symbols.clone()).collect()
        };
        assert_eq!(symbols(&rest), symbols(&anew));
        assert!(rest.alignment.n_columns.abs_diff(anew.alignment.n_columns) <= 20);
        // A node tells what it holds; one that has gone, what it last held.
        assert_eq!(nodes.iter().map(|node| node.instances).collect::<Vec<_>>(), [2980, 3000, 20]);
        assert_eq!(nodes[0].score, rest.score.per_cluster[0].expect("it has bursts"));
    }
}
