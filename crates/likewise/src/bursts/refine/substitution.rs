//! Which groups stand in for one another.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use super::RefineRules;
use super::levels::{NO_CODE, NO_NODE, RefineInput};
use super::moments::Moments;
use super::partition::{Scored, Tasks};

/// Where the bursts of one part stand in the alignment. Parts are what may join;
/// the alignment itself is of groups, and all parts of a group have one name
/// there.
#[derive(Clone, Default)]
struct Place {
    /// The group that it is part of.
    group: u32,
    bursts: u64,
    /// Its bursts in each column of the alignment.
    columns: HashMap<u32, u64>,
    /// Its bursts between each pair of groups: the one before, the one after.
    contexts: HashMap<(u32, u32), u64>,
    /// Its bursts in each piece of code.
    code: HashMap<u32, u64>,
    /// The tasks that show it.
    tasks: BTreeSet<u32>,
    /// Where its bursts lie among the points.
    moments: Moments,
}

/// The places of all parts.
pub(super) struct Substitution {
    places: HashMap<u32, Place>,
}

impl Substitution {
    /// Looks at an alignment of groups: `part_of` tells the part of every
    /// burst ([`NO_NODE`] for none), `group_of` the group that went into the
    /// alignment, of which the part is one.
    pub(super) fn measure(
        input: &RefineInput<'_>,
        tasks: &Tasks,
        scored: &Scored,
        part_of: &[u32],
        group_of: &[u32],
    ) -> Self {
        let is_kept = |&i: &usize| group_of[i] != NO_NODE && tasks.place(input.thread[i]).is_some();
        let kept: Vec<usize> = (0..group_of.len()).filter(is_kept).collect();
        let neighbour = |i: usize, at: Option<usize>| {
            let same = |j: &&usize| input.thread[**j] == input.thread[i];
            at.and_then(|at| kept.get(at)).filter(same).map_or(NO_NODE, |&j| group_of[j])
        };
        let mut places: HashMap<u32, Place> = HashMap::new();
        let mut next = vec![0usize; tasks.len()];
        for (at, &i) in kept.iter().enumerate() {
            let Some(thread) = tasks.place(input.thread[i]) else { continue };
            let sequence = &scored.alignment.sequences[scored.alignment.sequence_of[thread] as usize];
            let column = sequence.columns[next[thread]];
            next[thread] += 1;
            if part_of[i] != NO_NODE {
                let place = places.entry(part_of[i]).or_default();
                let context = (neighbour(i, at.checked_sub(1)), neighbour(i, Some(at + 1)));
                place.group = group_of[i];
                place.bursts += 1;
                place.tasks.insert(input.thread[i]);
                place.moments.push(input.points.row(i));
                *place.columns.entry(column).or_insert(0) += 1;
                *place.contexts.entry(context).or_insert(0) += 1;
                if let Some(&code) = input.code.get(i).filter(|&&code| code != NO_CODE) {
                    *place.code.entry(code).or_insert(0) += 1;
                }
            }
        }
        Self { places }
    }

    /// The same of nodes, all in one group.
    pub(super) fn of_nodes(input: &RefineInput<'_>, tasks: &Tasks, scored: &Scored, node_of: &[u32]) -> Self {
        let all_one: Vec<u32> = node_of.iter().map(|&n| if n == NO_NODE { NO_NODE } else { 0 }).collect();
        Self::measure(input, tasks, scored, node_of, &all_one)
    }

    /// Parts that stand in for one another, in at least `share` of the bursts of
    /// the rarer one. Returns lists of parts, ascending.
    pub(super) fn alternatives(&self, share: f64) -> Vec<Vec<u32>> {
        let same = |a: &Place, b: &Place| substitutes(a, b) >= share;
        self.join(same, |_, _| true)
    }

    /// Parts that are pieces of one phase. Two parts join if at least half of
    /// their bursts stand in for one another, come between the same groups or run
    /// the same code, or if their values overlap; unless they take turns, or
    /// `may` forbids it. Returns lists of parts, ascending.
    pub(super) fn fragments(&self, rules: &RefineRules, may: impl Fn(u32, u32) -> bool) -> Vec<Vec<u32>> {
        let same = |a: &Place, b: &Place| {
            let is_evidence = substitutes(a, b) >= rules.evidence
                || same_context(a, b) >= rules.evidence
                || same_code(a, b) >= rules.evidence
                || a.moments.separation(&b.moments) <= rules.apart;
            is_evidence && !takes_turns(a, b, rules)
        };
        self.join(same, may)
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
        self.join(same, |_, _| true)
    }

    /// Joins parts that are the `same`, larger ones first. Joined parts count as
    /// one from then on, so a small part cannot chain two large ones together.
    fn join(&self, same: impl Fn(&Place, &Place) -> bool, may: impl Fn(u32, u32) -> bool) -> Vec<Vec<u32>> {
        let mut order: Vec<u32> = self.places.keys().copied().collect();
        order.sort_unstable_by_key(|part| {
            (self.places[part].group, std::cmp::Reverse(self.places[part].bursts), *part)
        });
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for group in order.chunk_by(|a, b| self.places[a].group == self.places[b].group) {
            let mut joined: Vec<(Vec<u32>, Place)> = Vec::new();
            for &part in group {
                let place = &self.places[&part];
                let fits = |(list, all): &(Vec<u32>, Place)| {
                    list.iter().any(|&other| may(part, other)) && same(place, all)
                };
                match joined.iter().position(fits) {
                    Some(at) => {
                        joined[at].0.push(part);
                        joined[at].1.add(place);
                    }
                    None => joined.push((vec![part], place.clone())),
                }
            }
            lists.extend(joined.into_iter().map(|(list, _)| list).filter(|list| list.len() > 1));
        }
        lists.iter_mut().for_each(|list| list.sort_unstable());
        lists.sort_unstable();
        lists
    }
}

impl Place {
    fn add(&mut self, other: &Place) {
        self.bursts += other.bursts;
        add(&mut self.columns, &other.columns);
        add(&mut self.contexts, &other.contexts);
        add(&mut self.code, &other.code);
        self.tasks.extend(&other.tasks);
        self.moments.add(&other.moments);
    }
}

fn add<K: Copy + Eq + Hash>(to: &mut HashMap<K, u64>, from: &HashMap<K, u64>) {
    from.iter().for_each(|(&key, &n)| *to.entry(key).or_insert(0) += n);
}

/// The share of the rarer part's bursts that stand in a column of the other. In
/// each column, at most as many count as the other has there.
fn substitutes(a: &Place, b: &Place) -> f64 {
    let (few, many) = if a.columns.len() <= b.columns.len() { (a, b) } else { (b, a) };
    let shared = |(column, &n): (&u32, &u64)| many.columns.get(column).map_or(0, |&m| n.min(m));
    let shared: u64 = few.columns.iter().map(shared).sum();
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
    let shared = |(context, &n): (&(u32, u32), &u64)| {
        let m = b.contexts.get(context).copied().unwrap_or(0);
        (u128::from(n) * u128::from(b.bursts)).min(u128::from(m) * u128::from(a.bursts))
    };
    let shared: u128 = a.contexts.iter().map(shared).sum();
    shared as f64 / (a.bursts as f64 * b.bursts as f64)
}

/// Whether each part keeps to columns of its own, and these alternate: then they
/// are two steps that the program runs in some order. A phase that drifts
/// changes from one part to the other only once, and pieces made by chance share
/// their columns.
fn takes_turns(a: &Place, b: &Place, rules: &RefineRules) -> bool {
    let mut columns: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
    a.columns.iter().for_each(|(&column, n)| columns.entry(column).or_default()[0] += n);
    b.columns.iter().for_each(|(&column, n)| columns.entry(column).or_default()[1] += n);
    // Pairs of bursts, one of each part, in the same column; and how many there
    // would be if the bursts were dealt out over the columns by chance.
    let mixed: u64 = columns.values().map(|[a, b]| a * b).sum();
    let pairs: u64 = columns.values().map(|[a, b]| (a + b) * (a + b - 1)).sum();
    let (n_a, n_b) = (a.bursts as f64, b.bursts as f64);
    let by_chance = pairs as f64 * n_a * n_b / (n_a + n_b).powi(2);
    let whose: Vec<bool> = columns.values().filter(|[a, b]| a != b).map(|[a, b]| a > b).collect();
    let changes = whose.windows(2).filter(|pair| pair[0] != pair[1]).count();
    by_chance >= rules.pairs && (mixed as f64) < by_chance * rules.mixed && changes as f64 >= rules.turns
}
