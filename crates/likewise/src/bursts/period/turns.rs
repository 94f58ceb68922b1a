//! Loops of one thread, by the calls that it makes in each turn.

use std::ops::Range;

use super::iterations::{LEAST_ALIKE, LEAST_ITERATIONS, MISSING, UNFINISHED};
use super::{FEW, LEAST_CONFIDENCE_OF_FEW, LEAST_COVERAGE};
use crate::median;

/// A burst counts at least this part of the mean of its thread: each is a step of the
/// program, however short.
const LEAST_OF_MEAN: f64 = 4.0;
/// Loops that are looked at: those whose turns, if they are turns, hold most work.
const LOOPS: usize = 32;
/// Calls that are made equally often are tried with so many loops of as many turns.
const AS_MANY_TURNS: usize = 8;
/// Turns of a loop are at least this alike. (Of recorded programs those that are turns were so by
/// 0.93 to 1.00; halo exchanges of MG, which differ by the level of the grid, by 0.81, and
/// evaluations of ExaML, which differ by what is asked, by 0.80.)
const LEAST_CONFIDENCE: f64 = 0.9;
/// A turn of a loop with one call is nothing but that; so many of them are a loop, if they are
/// this share of the thread's work. Of a random sequence hardly so many are, and who polls does
/// hardly any work.
const OF_ONE_CALL: (usize, f64) = (10, 0.5);
/// Turns are compared with so many on either side, so that they may become longer or shorter.
const NEAR: usize = 2;
/// Those that take more than so many times the median of these, or as much less, are odd. These
/// may be ...
const ALIKE: f64 = 2.0;
/// ... this share of them, or ...
const ODD: f64 = 0.05;
/// ... this share of them, where no more than half of them come at one distance (what comes in
/// every third is a part of a turn of three) and ...
const ODD_AT_MOST: f64 = 0.4;
/// ... where they hold no more than this share of the time: otherwise they may be what an outer loop
/// computes. (Odd steps of LIGGGHTS hold 0.25 to 0.35 where a rank has grains, and what ExaML does
/// 1,153 times 0.92 and 0.96.)
const ODD_TIME: f64 = 0.5;

/// What a thread does, burst by burst.
pub(super) struct Turns<'a> {
    /// The call that each burst ends with, whoever calls the function that makes it: this is what a
    /// turn does.
    pub(super) calls: &'a [u32],
    /// The same, told apart by who calls: such a call begins turns.
    pub(super) paths: &'a [u32],
    /// From this number on, callers are known. Of a call below it they are not: it may be made twice
    /// in a turn without a loop within.
    pub(super) first_known: u32,
    /// The place of each burst, told apart by the path of the call. Where a call is made several times
    /// in a turn, it may stand once behind a certain other.
    pub(super) places: &'a [u32],
    /// What each burst takes, as a rule: the median of its place on this thread.
    pub(super) typical: &'a [f64],
    /// What each burst took; nothing where this was only drawn.
    pub(super) durations: Option<&'a [f64]>,
}

/// A loop of a thread.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turned {
    /// The bursts that turns begin with, and the one behind the last.
    pub(super) begins: Vec<usize>,
    /// How alike the turns are: of what is in one or in a typical one the share that is in both,
    /// on the average by work.
    pub(super) confidence: f64,
    /// Share of the thread's work.
    pub(super) coverage: f64,
}

impl Turned {
    pub(super) fn n(&self) -> usize {
        self.begins.len() - 1
    }

    pub(super) fn score(&self) -> f64 {
        self.coverage * self.confidence * self.confidence
    }
}

impl Turns<'_> {
    /// The loops of the thread, in no order; of equally many turns only the best. Turns begin with
    /// the first call of a class, and also end with the last: of either the first or the last turn
    /// may differ from the others.
    ///
    /// # Complexity
    /// O(n log n) for n bursts.
    pub(super) fn loops(&self) -> Vec<Turned> {
        let is_known = |own: &[u32]| own.first().is_some_and(|&i| self.paths[i as usize] >= self.first_known);
        let path = |own: Vec<u32>| Of { is_known: is_known(&own), own, is_path: true };
        let mut occurrences: Vec<Of> = self::occurrences(self.paths).into_iter().map(path).collect();
        if self.places != self.paths {
            let place = |own| Of { own, is_path: false, is_known: false };
            occurrences.extend(self::occurrences(self.places).into_iter().map(place));
        }
        let work = Work::of(self);
        let mut classes = classes(&occurrences);
        classes.sort_by(|a, b| {
            let held = |class: &Class<'_>| class.held(&work);
            held(b).total_cmp(&held(a)).then(b.first.len().cmp(&a.first.len())).then(a.first.cmp(b.first))
        });
        classes.truncate(LOOPS);
        let ways = classes.iter().flat_map(|class| [(class, false), (class, true)]);
        let mut found: Vec<Turned> =
            ways.filter_map(|(class, at_end)| self.alike(class, at_end, &work)).collect();
        found.sort_by(|a, b| {
            a.n().cmp(&b.n()).then(b.score().total_cmp(&a.score())).then(a.begins.cmp(&b.begins))
        });
        found.dedup_by_key(|turned| turned.n());
        found
    }

    /// Where the turns of a class begin, and the last ends; `at_end` if its last call ends them.
    fn begins(&self, class: &Class<'_>, at_end: bool, work: &Work) -> Vec<usize> {
        let to = |ends: &[u32]| ends.iter().map(|&i| i as usize + usize::from(at_end)).collect();
        if at_end {
            let mut begins: Vec<usize> = to(class.last);
            begins.insert(0, class.first[0] as usize);
            let typical = self.contents(&begins, at_end, work);
            let mut left = typical.typical(1..typical.n());
            // Without the call that ends it, which what is typical is also without.
            for i in begins[0]..begins[1] - 1 {
                take(&mut left, self.calls[i], work.is_new[i]);
            }
            begins[0] = self.begin_of_first(begins[0], left, work);
            return begins;
        }
        let mut begins: Vec<usize> = to(class.first);
        let last = begins[begins.len() - 1];
        let end = class.last[class.last.len() - 1] as usize + 1;
        begins.push(end);
        let turns = self.contents(&begins, at_end, work);
        let typical = turns.typical(0..turns.n());
        *begins.last_mut().expect("there is an end") = end.max(self.end_of_last(last, typical, work));
        begins
    }

    fn contents<'w>(&self, begins: &[usize], at_end: bool, work: &'w Work) -> Contents<'w> {
        Contents::of(self.calls, begins, at_end, work)
    }

    /// The longest part of a loop in which the turns are alike, if they are enough.
    fn alike(&self, class: &Class<'_>, at_end: bool, work: &Work) -> Option<Turned> {
        let begins = self.begins(class, at_end, work);
        let turns = self.contents(&begins, at_end, work);
        let mut part = 0..turns.n();
        for _ in 0..2 {
            let alike = turns.likeness(&turns.typical(part.clone()));
            let is_alike: Vec<bool> = alike.iter().map(Alike::is_enough).collect();
            part = most_alike(&is_alike);
            if part.len() < LEAST_ITERATIONS {
                return None;
            }
        }
        let typical = turns.typical(part.clone());
        let alike = turns.likeness(&typical)[part.clone()].to_vec();
        let begins = begins[part.start..=part.end].to_vec();
        let works: Vec<f64> = begins.windows(2).map(|ends| work.between(ends[0]..ends[1])).collect();
        let sum: f64 = alike.iter().zip(&works).map(|(of, work)| of.whole * work).sum();
        let confidence = sum / works.iter().sum::<f64>();
        let without = alike.iter().map(|of| of.without_first).sum::<f64>() / alike.len() as f64;
        let coverage = work.share(begins[0]..begins[part.len()], self.long_before(&begins));
        let convinces = match typical.is_empty() {
            false => without >= of_others(part.len()) && coverage >= LEAST_COVERAGE,
            true => {
                let odd = alike.iter().filter(|of| of.without_first < 1.0).count();
                part.len() >= OF_ONE_CALL.0 && odd * MISSING <= part.len() && coverage >= OF_ONE_CALL.1
            }
        };
        let is_sure = convinces && confidence >= LEAST_CONFIDENCE;
        let is_loop = is_sure
            && !self.misleads(class, &begins)
            && !turns.is_double(&typical, part, &class.calls(self.calls))
            && self.take_as_long(class, &begins);
        is_loop.then_some(Turned { begins, confidence, coverage })
    }

    /// Whether a place does not begin turns: where its call is made once in a turn, that call does;
    /// where it is made twice as often as in others, there is a turn in it that begins at another
    /// place; and where it is made half as often, the place stands twice in a turn.
    fn misleads(&self, class: &Class<'_>, begins: &[usize]) -> bool {
        if class.has_path {
            return false;
        }
        let own = self.paths[class.first[0] as usize];
        let often = |ends: &[usize]| self.paths[ends[0]..ends[1]].iter().filter(|&&path| path == own).count();
        let mut often: Vec<usize> = begins.windows(2).map(often).collect();
        often.sort_unstable();
        let typical = often[(often.len() - 1) / 2];
        typical < 2 || often[often.len() - 1] >= 2 * typical || 2 * often[0] <= typical
    }

    /// Where a turn ends behind which no other begins: behind the last call that may be of it.
    fn end_of_last(&self, begin: usize, mut left: Vec<(u32, u32)>, work: &Work) -> usize {
        let mut end = begin + 1;
        // Polls count once, so what is not new is of the turn if the one before it is.
        let is_of_turn = |end: usize, &call: &u32, left: &mut _| !work.is_new[end] || take(left, call, true);
        while self.calls.get(end).is_some_and(|call| is_of_turn(end, call, &mut left)) {
            end += 1;
        }
        end
    }

    /// Where a turn begins before which no other ends: with the first call that may be of it.
    fn begin_of_first(&self, first: usize, mut left: Vec<(u32, u32)>, work: &Work) -> usize {
        let mut from = first;
        while from > 0 && take(&mut left, self.calls[from - 1], work.is_new[from - 1]) {
            from -= 1;
        }
        from
    }

    /// How much longer the first burst is than those that other turns begin with: it may have begun
    /// long before the loop.
    fn long_before(&self, begins: &[usize]) -> f64 {
        let mut all: Vec<f64> = begins[..begins.len() - 1].iter().map(|&at| self.typical[at]).collect();
        let own = all[0];
        all.sort_by(f64::total_cmp);
        (own - median::lower(&all).unwrap_or(own)).max(0.0)
    }

    /// Whether turns are about as long. Of a call that is made twice in a turn, every second may
    /// be behind what takes long; then half of a turn is no turn. Drawn durations do not tell: then
    /// only a call is believed of which all callers are known.
    fn take_as_long(&self, class: &Class<'_>, begins: &[usize]) -> bool {
        let Some(durations) = self.durations else {
            return class.has_known_path;
        };
        let of_turn = |ends: &[usize]| durations[ends[0]..ends[1]].iter().sum::<f64>();
        // The first turn begins with a burst that may have begun long before.
        let times: Vec<f64> = begins[1..].windows(2).map(of_turn).collect();
        let is_odd = |&k: &usize| {
            // Without itself: of two kinds in turn, it would be one of the more frequent.
            let until = times.len().min(k + NEAR + 1);
            let mut near = [&times[k.saturating_sub(NEAR)..k], &times[k + 1..until]].concat();
            near.sort_by(f64::total_cmp);
            let typical = median::lower(&near).unwrap_or(0.0);
            times[k] > ALIKE * typical || times[k] * ALIKE < typical
        };
        let odd: Vec<usize> = (0..times.len()).filter(is_odd).collect();
        let share = odd.len() as f64 / times.len() as f64;
        let time: f64 = odd.iter().map(|&k| times[k]).sum();
        let is_little = time <= ODD_TIME * times.iter().sum::<f64>();
        share <= ODD || (share <= ODD_AT_MOST && is_little && !at_one_distance(&odd))
    }
}

/// Takes a call out of those that are left of a turn, if it is among them.
fn take(left: &mut [(u32, u32)], call: u32, is_new: bool) -> bool {
    let at = left.binary_search_by_key(&call, |own| own.0).ok();
    let Some(times) = at.map(|at| &mut left[at].1).filter(|times| **times > 0) else { return false };
    *times -= u32::from(is_new);
    true
}

/// Whether more than half come as far behind the one before, with others between; of fewer than four
/// nobody can tell.
fn at_one_distance(ascending: &[usize]) -> bool {
    let mut distances: Vec<usize> = ascending.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort_unstable();
    let most = distances.chunk_by(|a, b| a == b).filter(|same| same[0] > 1).map(<[usize]>::len).max();
    ascending.len() >= 4 && most.is_some_and(|most| 2 * most > distances.len())
}

/// The part with most alike turns, where each odd one takes away [`MISSING`]: they may stand
/// between many that are alike, and not between a few and all others. The first of equal ones.
fn most_alike(alike: &[bool]) -> Range<usize> {
    let (mut best, mut most) = (0..0, 0);
    let (mut from, mut sum) = (0, 0);
    for (i, &is_alike) in alike.iter().enumerate() {
        sum += if is_alike { 1 } else { 1 - MISSING as i64 };
        if sum <= 0 {
            (from, sum) = (i + 1, 0);
        } else if sum > most {
            (best, most) = (from..i + 1, sum);
        }
    }
    best
}

/// What is before each; one entry more.
fn sums(of: impl Iterator<Item = f64>) -> Vec<f64> {
    let sums = of.scan(0.0, |sum, own| {
        *sum += own;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// How many there may be.
fn numbers(numbers: &[u32]) -> usize {
    numbers.iter().max().map_or(0, |&most| most as usize + 1)
}

/// Of each number where it stands.
fn occurrences(numbers: &[u32]) -> Vec<Vec<u32>> {
    let mut found = vec![Vec::new(); self::numbers(numbers)];
    for (i, &number) in (0..).zip(numbers) {
        found[number as usize].push(i);
    }
    found
}

/// How alike they are without the call that each begins with, at the least: of a random sequence
/// this is all that may be alike, and few may be so by chance.
fn of_others(n: usize) -> f64 {
    if n < FEW { LEAST_CONFIDENCE_OF_FEW } else { super::LEAST_CONFIDENCE }
}

/// Where a path or a place stands.
struct Of {
    own: Vec<u32>,
    is_path: bool,
    /// It is a path, and all callers are known.
    is_known: bool,
}

/// Calls that are made in turn: between two of one of them is one of each other.
struct Class<'a> {
    /// The bursts that end with the first.
    first: &'a [u32],
    /// Those that end with the last.
    last: &'a [u32],
    /// The first burst that ends with each.
    members: Vec<u32>,
    /// Whether one of them is a path, and not a place.
    has_path: bool,
    /// Whether of one of these all callers are known.
    has_known_path: bool,
}

impl Class<'_> {
    /// Which calls these are, ascending.
    fn calls(&self, of: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> = self.members.iter().map(|&i| of[i as usize]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The share of the work between turns that take about as much of it.
    fn held(&self, work: &Work) -> f64 {
        let mut works: Vec<f64> =
            self.first.windows(2).map(|ends| work.between(ends[0] as usize..ends[1] as usize)).collect();
        works.sort_by(f64::total_cmp);
        let typical = median::lower(&works).unwrap_or(0.0);
        let near = works.iter().filter(|&&own| own <= ALIKE * typical && own * ALIKE >= typical);
        near.sum::<f64>() / work.all()
    }
}

/// The classes of calls that are made often enough.
///
/// # Complexity
/// O(n + c log c) for n bursts that end with c calls.
fn classes(occurrences: &[Of]) -> Vec<Class<'_>> {
    let mut often: Vec<&Of> = occurrences.iter().filter(|of| of.own.len() >= LEAST_ITERATIONS).collect();
    often.sort_by(|a, b| a.own.len().cmp(&b.own.len()).then(a.own[0].cmp(&b.own[0])));
    let mut found: Vec<Class<'_>> = Vec::new();
    for as_many in often.chunk_by(|a, b| a.own.len() == b.own.len()) {
        let start = found.len();
        for Of { own, is_path, is_known } in as_many {
            let is_in = |class: &&mut Class<'_>| take_turns(class.first, own);
            if let Some(class) = found[start..].iter_mut().find(is_in) {
                class.members.push(own[0]);
                class.has_path |= is_path;
                class.has_known_path |= is_known;
                if own[own.len() - 1] > class.last[own.len() - 1] {
                    class.last = own;
                }
            } else if found.len() - start < AS_MANY_TURNS {
                let (has_path, has_known_path) = (*is_path, *is_known);
                found.push(Class { first: own, last: own, members: vec![own[0]], has_path, has_known_path });
            }
        }
    }
    found
}

/// Whether between two of the first is one of the other, and one behind the last.
fn take_turns(first: &[u32], other: &[u32]) -> bool {
    let is_between = |(k, at): (usize, &u32)| first[k] < *at && first.get(k + 1).is_none_or(|next| at < next);
    other.iter().enumerate().all(is_between)
}

/// Work before each burst; one entry more.
struct Work {
    /// Of each call what a burst that it ends counts, on the average; of several in a row, all.
    weight: Vec<f64>,
    /// Whether a burst is counted where calls are. Of a call that is made several times in a row, with
    /// short bursts before it, nobody counts how often: who polls does so until something happens.
    is_new: Vec<bool>,
    before: Vec<f64>,
    /// The same, where short bursts count for no more than they are.
    typical_before: Vec<f64>,
}

impl Work {
    fn of(turns: &Turns<'_>) -> Self {
        let n = turns.calls.len();
        let least = turns.typical.iter().sum::<f64>() / (n.max(1) as f64 * LEAST_OF_MEAN);
        let counted = |&typical: &f64| typical.max(least);
        let is_short_again = |i: usize| turns.calls[i - 1] == turns.calls[i] && turns.typical[i] < least;
        let is_new: Vec<bool> = (0..n).map(|i| i == 0 || !is_short_again(i)).collect();
        let mut of_calls = vec![(0.0, 0.0); numbers(turns.calls)];
        for (i, (&call, typical)) in turns.calls.iter().zip(turns.typical).enumerate() {
            let (sum, n) = &mut of_calls[call as usize];
            *sum += counted(typical);
            *n += if is_new[i] { 1.0 } else { 0.0 };
        }
        let weight = of_calls.into_iter().map(|(sum, n): (f64, f64)| sum / n.max(1.0)).collect();
        let before = sums(turns.typical.iter().map(counted));
        Self { before, weight, is_new, typical_before: sums(turns.typical.iter().copied()) }
    }

    /// A call, so many times.
    fn of_calls(&self, &(call, times): &(u32, u32)) -> f64 {
        self.weight[call as usize] * f64::from(times)
    }

    fn all(&self) -> f64 {
        self.before[self.before.len() - 1]
    }

    fn between(&self, bursts: Range<usize>) -> f64 {
        self.before[bursts.end] - self.before[bursts.start]
    }

    /// The share of these bursts less what is not theirs, where short ones count for no more than
    /// they are.
    fn share(&self, bursts: Range<usize>, other: f64) -> f64 {
        let of = &self.typical_before;
        (of[bursts.end] - of[bursts.start] - other).max(0.0) / of[of.len() - 1].max(f64::MIN_POSITIVE)
    }
}

/// How often each call is made anew in each turn, but for the one that turns begin or end with.
struct Contents<'a> {
    /// Turn by turn, calls and how often they are made.
    counts: Vec<(u32, u32)>,
    /// Where those of each turn begin; one entry more.
    turns: Vec<usize>,
    first: f64,
    work: &'a Work,
}

/// How alike a turn is to a typical one.
#[derive(Clone, Copy)]
struct Alike {
    /// The share of what is in either that is in both.
    whole: f64,
    /// The same without the call that both begin with.
    without_first: f64,
}

impl Alike {
    /// Where the first call is most of the work, turns that have nothing else in common are as alike.
    fn is_enough(&self) -> bool {
        self.whole.min(self.without_first) >= LEAST_ALIKE
    }
}

impl<'a> Contents<'a> {
    fn of(calls: &[u32], begins: &[usize], at_end: bool, work: &'a Work) -> Self {
        let first = if at_end { calls[begins[1] - 1] } else { calls[begins[0]] };
        let mut often = vec![0; work.weight.len()];
        let (mut counts, mut turns) = (Vec::new(), vec![0]);
        for ends in begins.windows(2) {
            let others = if at_end { ends[0]..ends[1] - 1 } else { ends[0] + 1..ends[1] };
            let own = others.clone().filter(|&i| work.is_new[i]).map(|i| calls[i] as usize);
            own.for_each(|call| often[call] += 1);
            for &call in &calls[others] {
                let times = std::mem::take(&mut often[call as usize]);
                if times > 0 {
                    counts.push((call, times));
                }
            }
            turns.push(counts.len());
        }
        Self { counts, turns, first: work.weight[first as usize], work }
    }

    fn n(&self) -> usize {
        self.turns.len() - 1
    }

    /// How often each call is made in a typical turn of a part: the median, where this is not 0.
    fn typical(&self, part: Range<usize>) -> Vec<(u32, u32)> {
        let n = part.len();
        let mut counts = self.counts[self.turns[part.start]..self.turns[part.end]].to_vec();
        counts.sort_unstable();
        let of_call = |of_call: &[(u32, u32)]| {
            let without = n - of_call.len();
            ((n - 1) / 2).checked_sub(without).map(|middle| of_call[middle])
        };
        counts.chunk_by(|a, b| a.0 == b.0).filter_map(of_call).collect()
    }

    /// Whether a turn of a part does all that a typical one does twice, but for what is made once in
    /// each: then there are two in it, and what begins turns is not done in all of them. (Or a loop
    /// within does twice as many turns: nobody can tell.)
    fn is_double(&self, typical: &[(u32, u32)], part: Range<usize>, once: &[u32]) -> bool {
        // The call of a place that is there once may be made more often.
        let is_once = |&(call, times): &(u32, u32)| times == 1 && once.binary_search(&call).is_ok();
        let others: Vec<(u32, u32)> = typical.iter().filter(|own| !is_once(own)).copied().collect();
        let sum =
            |of: &mut dyn Iterator<Item = &(u32, u32)>| of.map(|own| self.work.of_calls(own)).sum::<f64>();
        let all = sum(&mut others.iter());
        let done_twice = |&(call, times): &(u32, u32)| {
            let at = others.binary_search_by_key(&call, |own| own.0).ok()?;
            (times >= 2 * others[at].1).then_some(&others[at])
        };
        let is_double = |ends: &[usize]| {
            let turn = &self.counts[ends[0]..ends[1]];
            sum(&mut turn.iter().filter_map(done_twice)) >= (1.0 - UNFINISHED) * all
        };
        !others.is_empty() && self.turns[part.start..=part.end].windows(2).any(is_double)
    }

    fn likeness(&self, typical: &[(u32, u32)]) -> Vec<Alike> {
        let weight = |own: &(u32, u32)| self.work.of_calls(own);
        let all: f64 = typical.iter().map(weight).sum();
        let in_both = |&(call, times): &(u32, u32)| {
            let at = typical.binary_search_by_key(&call, |own| own.0).ok();
            at.map_or(0.0, |at| weight(&(call, times.min(typical[at].1))))
        };
        let of_turn = |ends: &[usize]| {
            let own = &self.counts[ends[0]..ends[1]];
            let both: f64 = own.iter().map(in_both).sum();
            let either = all + own.iter().map(weight).sum::<f64>() - both;
            Alike {
                whole: (both + self.first) / (either + self.first),
                without_first: if either > 0.0 { both / either } else { 1.0 },
            }
        };
        self.turns.windows(2).map(of_turn).collect()
    }
}

#[cfg(test)]
mod tests;
