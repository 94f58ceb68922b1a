//! Which groups stand in for one another.

use std::hash::Hash;
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::AlignedSequence;
use super::RefineRules;
use super::columns::Columns;
use super::levels::{NO_CODE, NO_NODE, RefineInput};
use super::moments::Moments;
use super::partition::{Partition, Scored, Tasks};
use super::step::BY_CHANCE;

/// How often there is what.
type Counts<K> = FxHashMap<K, u64>;

/// So many bursts of a part are worth being looked at by a thread of their own.
const SMALL: usize = 1 << 14;

/// Where the bursts of one part stand in the alignment. Parts are what may join;
/// the alignment itself is of groups, and all parts of a group have one name
/// there.
#[derive(Clone, Default)]
struct Place {
    /// The group that it is part of.
    group: u32,
    bursts: u64,
    /// The columns of the alignment that hold its bursts.
    columns: Columns,
    /// Pairs of its bursts in the same column.
    pairs: u64,
    /// Its bursts between each pair of groups: the one before, the one after.
    contexts: Counts<u64>,
    /// Its bursts in each piece of code.
    code: Counts<u32>,
    /// The tasks that show it, ascending.
    tasks: Vec<u32>,
    /// Where its bursts lie among the points.
    moments: Moments,
}

/// A burst that is in a part.
#[derive(Clone, Copy, Default)]
struct Seen {
    burst: u32,
    /// Its place in the sequence of its thread.
    at: u32,
}

/// What bursts go by.
pub(super) struct Names<P, G> {
    /// More than any part.
    pub(super) n_parts: usize,
    /// The part of a burst, or [`NO_NODE`].
    pub(super) part_of: P,
    /// The group of a burst that went into the alignment, of which its part is one,
    /// or [`NO_NODE`].
    pub(super) group_of: G,
    pub(super) detail: Detail,
}

/// What is looked at; each also all before it.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Detail {
    /// Where bursts stand in the columns.
    Columns,
    /// The code that they run.
    Code,
    /// What is about them, and where their points lie.
    All,
}

/// The bursts of a thread that are in a part.
struct Sorted<'a> {
    /// By part, and within each as they were.
    seen: Vec<Seen>,
    /// Where each part begins, and where the last ends.
    starts: Vec<u32>,
    sequence: &'a AlignedSequence,
}

impl<'a> Sorted<'a> {
    /// `seen` has those bursts, each with its part.
    fn of<I>(seen: impl Fn() -> I, n_parts: usize, sequence: &'a AlignedSequence) -> Self
    where
        I: Iterator<Item = (u32, Seen)>,
    {
        let mut starts = vec![0; n_parts + 1];
        seen().for_each(|(part, _)| starts[part as usize + 1] += 1);
        (0..n_parts).for_each(|part| starts[part + 1] += starts[part]);
        let mut next = starts.clone();
        let mut sorted = vec![Seen::default(); starts[n_parts] as usize];
        for (part, seen) in seen() {
            let place = &mut next[part as usize];
            sorted[*place as usize] = seen;
            *place += 1;
        }
        Self { seen: sorted, starts, sequence }
    }

    fn of_part(&self, part: usize) -> OfThread<'_> {
        let seen = &self.seen[self.starts[part] as usize..self.starts[part + 1] as usize];
        OfThread { seen, sequence: self.sequence }
    }
}

/// The bursts of a part on one thread.
struct OfThread<'a> {
    seen: &'a [Seen],
    sequence: &'a AlignedSequence,
}

impl OfThread<'_> {
    /// What stands before and after a burst in its sequence.
    fn context(&self, Seen { at, .. }: Seen) -> u64 {
        let symbol = |at: Option<u32>| {
            let symbol = at.and_then(|at| self.sequence.symbols.get(at as usize));
            u64::from(symbol.copied().unwrap_or(NO_NODE))
        };
        symbol(at.checked_sub(1)) << 32 | symbol(at.checked_add(1))
    }
}

/// The places of all parts.
pub(super) struct Substitution<'a> {
    /// By part, ascending.
    places: Vec<(u32, Place)>,
    threads: Vec<Sorted<'a>>,
}

impl<'a> Substitution<'a> {
    /// Looks at an alignment of groups. Only parts of groups that are `asked` for
    /// have places.
    pub(super) fn measure<P: Fn(u32) -> u32 + Sync, G: Fn(u32) -> u32 + Sync>(
        input: &RefineInput<'_>,
        tasks: &Tasks,
        scored: &'a Scored,
        names: &Names<P, G>,
        asked: impl Fn(u32) -> bool + Sync,
    ) -> Self {
        let aligned = &scored.alignment;
        let of_thread = |(bursts, &sequence): (&Range<u32>, &u32)| {
            let seen = || seen(names, bursts.clone(), &asked);
            Sorted::of(seen, names.n_parts, &aligned.sequences[sequence as usize])
        };
        let threads: Vec<Sorted<'a>> =
            tasks.bursts().par_iter().zip(&aligned.sequence_of).map(of_thread).collect();
        let of_part = |part: usize| {
            let seen: Vec<OfThread<'_>> = threads.iter().map(|thread| thread.of_part(part)).collect();
            let first = seen.iter().find_map(|of_thread| of_thread.seen.first())?;
            Some((part as u32, Place::of(input, (names.group_of)(first.burst), &seen, names.detail)))
        };
        let places = (0..names.n_parts).into_par_iter().filter_map(of_part).collect();
        Self { places, threads }
    }

    /// The same of nodes, all in one group.
    pub(super) fn of_nodes(
        input: &RefineInput<'_>,
        tasks: &Tasks,
        scored: &'a Scored,
        partition: &Partition,
        detail: Detail,
    ) -> Self {
        let names = Names {
            n_parts: partition.nodes.len(),
            part_of: |burst| partition.node_of(burst),
            group_of: |burst| if partition.node_of(burst) == NO_NODE { NO_NODE } else { 0 },
            detail,
        };
        Self::measure(input, tasks, scored, &names, |_| true)
    }

    /// Parts that stand in for one another, in at least `share` of the bursts of
    /// the rarer one. Returns lists of parts, ascending.
    pub(super) fn alternatives(&self, share: f64) -> Vec<Vec<u32>> {
        self.join_in_columns(|a, b| substitutes(a, b) >= share)
    }

    /// Parts that are pieces of one phase. Two parts join if at least half of
    /// their bursts stand in for one another, come between the same groups or run
    /// the same code, or if their values overlap; unless they take turns, in the
    /// columns or on the tasks, or `may` forbids it. Returns lists of parts, ascending.
    pub(super) fn fragments(
        &self,
        rules: &RefineRules,
        may: impl Fn(u32, u32) -> bool + Sync,
    ) -> Vec<Vec<u32>> {
        let same = |a: &Place, b: &Place| {
            // What is soonest computed comes first.
            let is_evidence = a.moments.separation(&b.moments) <= rules.apart
                || same_code(a, b) >= rules.evidence
                || same_context(a, b) >= rules.evidence
                || substitutes(a, b) >= rules.evidence;
            is_evidence && !takes_turns(a, b, rules)
        };
        self.join(same, may, |a, b| self.alternate(a, b, rules))
    }

    /// Parts that are pieces of one step: they stand at the same steps and run the
    /// same code, and at least one of them occurs at most once in every task. A
    /// mode of a phase would come back; a part that does not is only the
    /// imbalance of the tasks. Returns lists of parts, ascending.
    pub(super) fn one_step(&self, rules: &RefineRules) -> Vec<Vec<u32>> {
        let once = |place: &Place| place.bursts == place.tasks.len() as u64;
        let same = |a: &Place, b: &Place| {
            (once(a) || once(b))
                && substitutes(a, b) >= rules.evidence
                && same_code(a, b) >= rules.evidence
                && !takes_turns(a, b, rules)
        };
        self.join_in_columns(same)
    }

    /// Whether two parts alternate on the tasks: between two bursts of the rarer one
    /// there is none of the other far less often than if the task did them in any order.
    /// The alignment cannot tell where all parts have one name, and noise has moved the
    /// tasks against one another.
    fn alternate(&self, a: u32, b: u32, rules: &RefineRules) -> bool {
        let bursts = |part: u32| -> usize {
            self.threads.iter().map(|thread| thread.of_part(part as usize).seen.len()).sum()
        };
        let (few, many) = if bursts(a) <= bursts(b) { (a, b) } else { (b, a) };
        let (mut together, mut expected, mut variance) = (0_u64, 0.0, 0.0);
        for thread in &self.threads {
            let [few, many] = [few, many].map(|part| thread.of_part(part as usize).seen);
            let pairs = few.len().saturating_sub(1) as f64;
            let between = many.len() as f64 / (many.len() + few.len()).saturating_sub(1).max(1) as f64;
            expected += pairs * (1.0 - between);
            variance += pairs * between * (1.0 - between);
            let has_between = |ends: &&[Seen]| {
                let next = many.partition_point(|seen| seen.at < ends[0].at);
                many.get(next).is_some_and(|seen| seen.at < ends[1].at)
            };
            together += few.windows(2).filter(|ends| !has_between(ends)).count() as u64;
        }
        let together = together as f64;
        together < expected * rules.mixed && together < expected - BY_CHANCE * variance.sqrt()
    }

    /// Joins parts that are the `same`, larger ones first. Joined parts count as
    /// one from then on, so a small part cannot chain two large ones together; nor
    /// does a part join one whose largest part `keeps` it out.
    fn join(
        &self,
        same: impl Fn(&Place, &Place) -> bool + Sync,
        may: impl Fn(u32, u32) -> bool + Sync,
        keeps: impl Fn(u32, u32) -> bool + Sync,
    ) -> Vec<Vec<u32>> {
        self.by_group(|group| {
            let mut joined: Vec<Joined> = Vec::new();
            for (part, place) in group {
                let fits = |(list, all): &Joined| {
                    list.iter().any(|&other| may(*part, other)) && same(place, all) && !keeps(*part, list[0])
                };
                let at = joined.iter().position(fits);
                put(&mut joined, at, *part, place);
            }
            joined
        })
    }

    /// As [`Self::join`], where parts without a common column are never the same, as of those that
    /// must share more than nothing: so these are not compared. There may be as many parts as bursts.
    fn join_in_columns(&self, same: impl Fn(&Place, &Place) -> bool + Sync) -> Vec<Vec<u32>> {
        self.by_group(|group| {
            let mut joined: Vec<Joined> = Vec::new();
            // What is joined in each column.
            let mut in_column: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
            for (part, place) in group {
                let columns = place.columns.whole();
                let near = columns.iter().filter_map(|(column, _)| in_column.get(column)).flatten();
                let mut near: Vec<usize> = near.copied().collect();
                near.sort_unstable();
                near.dedup();
                let at = near.into_iter().find(|&at| same(place, &joined[at].1));
                let at = put(&mut joined, at, *part, place);
                for &(column, _) in &*columns {
                    let own = in_column.entry(column).or_default();
                    if !own.contains(&at) {
                        own.push(at);
                    }
                }
            }
            joined
        })
    }

    /// Lists of parts of one group that are `joined`, each ascending.
    fn by_group(&self, joined: impl Fn(&[&(u32, Place)]) -> Vec<Joined> + Sync) -> Vec<Vec<u32>> {
        let mut order: Vec<&(u32, Place)> = self.places.iter().collect();
        order.sort_unstable_by_key(|(part, place)| (place.group, std::cmp::Reverse(place.bursts), *part));
        let groups: Vec<&[&(u32, Place)]> =
            order.chunk_by(|a, b| a.1.group == b.1.group).filter(|group| group.len() > 1).collect();
        let lists = |group: &&[&(u32, Place)]| -> Vec<Vec<u32>> {
            joined(group).into_iter().map(|(list, _)| list).filter(|list| list.len() > 1).collect()
        };
        let mut lists: Vec<Vec<u32>> = groups.par_iter().map(lists).collect::<Vec<Vec<Vec<u32>>>>().concat();
        lists.iter_mut().for_each(|list| list.sort_unstable());
        lists.sort_unstable();
        lists
    }
}

/// Parts that are one, and their places together.
type Joined = (Vec<u32>, Place);

/// Puts a part to those joined at a place, or apart; returns where.
fn put(joined: &mut Vec<Joined>, at: Option<usize>, part: u32, place: &Place) -> usize {
    match at {
        Some(at) => {
            joined[at].0.push(part);
            joined[at].1.add(place);
            at
        }
        None => {
            joined.push((vec![part], place.clone()));
            joined.len() - 1
        }
    }
}

/// Those of a thread's bursts that are in a part, each with it.
fn seen<P: Fn(u32) -> u32, G: Fn(u32) -> u32>(
    names: &Names<P, G>,
    bursts: Range<u32>,
    asked: &impl Fn(u32) -> bool,
) -> impl Iterator<Item = (u32, Seen)> {
    let grouped = bursts.map(|burst| (burst, (names.group_of)(burst)));
    let part = |((burst, group), at): ((u32, u32), u32)| {
        let part = if asked(group) { (names.part_of)(burst) } else { NO_NODE };
        (part, Seen { burst, at })
    };
    let in_sequence = grouped.filter(|&(_, group)| group != NO_NODE).zip(0..);
    in_sequence.map(part).filter(|&(part, _)| part != NO_NODE)
}

impl Place {
    /// Of the bursts of a part, thread by thread, in their order.
    fn of(input: &RefineInput<'_>, group: u32, threads: &[OfThread<'_>], detail: Detail) -> Self {
        let n: usize = threads.iter().map(|of_thread| of_thread.seen.len()).sum();
        // A part with much of the run would keep one thread busy while the others wait.
        let at_once = (SMALL * threads.len() / n.max(1)).max(1);
        let of_threads = threads.par_iter().with_min_len(at_once);
        let of_threads: Vec<(Self, Vec<u32>)> =
            of_threads.map(|of_thread| Self::of_thread(input, of_thread, detail)).collect();
        let mut place = Self { group, bursts: n as u64, ..Self::default() };
        let mut columns = Vec::with_capacity(n);
        for (mut own, mut own_columns) in of_threads {
            columns.append(&mut own_columns);
            add(&mut place.contexts, &own.contexts);
            add(&mut place.code, &own.code);
            place.tasks.append(&mut own.tasks);
            place.moments.add(&own.moments);
        }
        place.columns = Columns::of(columns);
        place.pairs = place.columns.pairs();
        place.tasks.sort_unstable();
        place
    }

    /// What a thread has of it, and the columns of its bursts.
    fn of_thread(input: &RefineInput<'_>, of_thread: &OfThread<'_>, detail: Detail) -> (Self, Vec<u32>) {
        let mut place = Self::default();
        place.tasks.extend(of_thread.seen.first().map(|seen| input.thread[seen.burst as usize]));
        let mut columns = Vec::with_capacity(of_thread.seen.len());
        for &seen in of_thread.seen {
            columns.push(of_thread.sequence.columns[seen.at as usize]);
            if detail == Detail::All {
                *place.contexts.entry(of_thread.context(seen)).or_insert(0) += 1;
            }
            let code = if detail >= Detail::Code { input.code.get(seen.burst as usize) } else { None };
            if let Some(&code) = code.filter(|&&code| code != NO_CODE) {
                *place.code.entry(code).or_insert(0) += 1;
            }
        }
        if detail == Detail::All {
            let rows = of_thread.seen.iter().map(|seen| input.points.row(seen.burst as usize));
            place.moments = Moments::of(rows, input.points.dims());
        }
        (place, columns)
    }

    fn add(&mut self, other: &Self) {
        self.bursts += other.bursts;
        self.pairs += other.pairs + 2 * self.columns.in_common(&other.columns, |n, m| n * m);
        self.columns.add(&other.columns);
        add(&mut self.contexts, &other.contexts);
        add(&mut self.code, &other.code);
        self.tasks.extend(&other.tasks);
        self.tasks.sort_unstable();
        self.tasks.dedup();
        self.moments.add(&other.moments);
    }
}

fn add<K: Copy + Eq + Hash>(to: &mut Counts<K>, from: &Counts<K>) {
    from.iter().for_each(|(&key, &n)| *to.entry(key).or_insert(0) += n);
}

/// The share of the rarer part's bursts that stand in a column of the other. In
/// each column, at most as many count as the other has there.
fn substitutes(a: &Place, b: &Place) -> f64 {
    let shared = a.columns.in_common(&b.columns, u64::min);
    shared as f64 / a.bursts.min(b.bursts) as f64
}

/// The share of the rarer part's bursts that run code which the other runs too.
/// Of each piece of code, at most as many count as the other has.
fn same_code(a: &Place, b: &Place) -> f64 {
    let (few, many) = if a.bursts <= b.bursts { (a, b) } else { (b, a) };
    let shared = |(code, &n): (&u32, &u64)| many.code.get(code).map_or(0, |&m| n.min(m));
    few.code.iter().map(shared).sum::<u64>() as f64 / few.bursts as f64
}

/// How much of both comes between the same groups, 0 to 1.
fn same_context(a: &Place, b: &Place) -> f64 {
    // In whole numbers, so that the order of summing does not matter.
    let (few, many) = if a.contexts.len() <= b.contexts.len() { (a, b) } else { (b, a) };
    let shared = |(context, &n): (&u64, &u64)| {
        let m = many.contexts.get(context).copied().unwrap_or(0);
        (u128::from(n) * u128::from(many.bursts)).min(u128::from(m) * u128::from(few.bursts))
    };
    let shared: u128 = few.contexts.iter().map(shared).sum();
    shared as f64 / (a.bursts as f64 * b.bursts as f64)
}

/// Whether each part keeps to columns of its own, and these alternate: then they
/// are two steps that the program runs in some order. A phase that drifts
/// changes from one part to the other only once, and pieces made by chance share
/// their columns.
fn takes_turns(a: &Place, b: &Place, rules: &RefineRules) -> bool {
    // Pairs of bursts, one of each part, in the same column; and how many there
    // would be if the bursts were dealt out over the columns by chance.
    let mixed = a.columns.in_common(&b.columns, |n, m| n * m);
    let pairs = a.pairs + b.pairs + 2 * mixed;
    let (n_a, n_b) = (a.bursts as f64, b.bursts as f64);
    let by_chance = pairs as f64 * n_a * n_b / (n_a + n_b).powi(2);
    if by_chance < rules.pairs || (mixed as f64) >= by_chance * rules.mixed {
        return false;
    }
    a.columns.turns(&b.columns) as f64 >= rules.turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Parts without a common column need not be compared.
        #[test]
        fn parts_are_joined_as_if_all_were_compared(
            parts in prop::collection::vec((0..2u32, prop::collection::vec(0..30u32, 1..8)), 0..24),
            share in 0.01..1.0f64,
        ) {
            let place = |(part, (group, columns)): (u32, (u32, Vec<u32>))| {
                let (bursts, columns) = (columns.len() as u64, Columns::of(columns));
                (part, Place { group, bursts, pairs: columns.pairs(), columns, ..Place::default() })
            };
            let places: Vec<(u32, Place)> = (0..).zip(parts).map(place).collect();
            let all = Substitution { places, threads: Vec::new() };
            let same = |a: &Place, b: &Place| substitutes(a, b) >= share;
            prop_assert_eq!(all.alternatives(share), all.join(same, |_, _| true, |_, _| false));
        }
    }
}
