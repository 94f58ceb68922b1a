//! How often runs repeat what they do, so that the same work is compared.

use super::factors::{RunFigures, whole_run};
use super::matched::{RunBursts, RunMatch};
use super::ratios::{AGREE, Ratio, Ratios};
use super::steps::instructions;
use super::times::{Variance, may_be_chance};
use crate::bursts::period::Period;
use crate::bursts::serial::is_nearly_all;
use crate::median;

/// Numbers of bursts that differ by at most this share are the same: bursts at
/// the edge of a phase are in its cluster in one run and not in another.
const SAME_COUNT: f64 = 0.1;
/// Two phases nearly agree on the number of iterations if one says at most this
/// many times the other.
const NEARLY: f64 = 1.5;
/// Fewer threads do not tell how much their numbers of bursts vary.
const LEAST_THREADS: f64 = 5.0;
/// A phase belongs to the loop if its bursts per iteration (seen in the region
/// that repeats), times all iterations of the run, make at least this share of
/// all its bursts.
const OF_THE_LOOP: f64 = 0.5;
/// The iterations of a run without a period are taken from its bursts if the phases of the loop
/// that it has in common with a run that has one hold this share of its time.
const MUCH: f64 = 0.5;
/// Whole runs do the same work if phases with at least this share of each run's
/// time are run equally often; a phase does as much in two runs if one does at least this share of
/// the instructions of the other.
const SAME_WORK: f64 = 0.95;

/// What figures are compared per.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// The whole run: all runs do it as often.
    Run,
    /// An iteration of the loop.
    Iteration,
    /// A burst of each thread: how often it is to be run is not known.
    Burst,
}

/// Where a number of iterations is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationsFrom {
    /// The run has a period.
    Period,
    /// A run that has one repeats the same phases, so many times as often.
    Bursts,
}

/// How often a phase is run.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRepeats {
    /// What its figures are compared per.
    pub per: Per,
    /// How many of these each run has of it; 1 per run, and where it lacks
    /// the phase.
    pub times: Vec<f64>,
    /// Whether it belongs to the loop, as far as one is known.
    pub in_loop: bool,
}

/// How often runs repeat what they do.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeats {
    /// Iterations of each run, where known.
    pub iterations: Vec<Option<(u64, IterationsFrom)>>,
    /// How many of these iterations each run's own period holds.
    pub in_period: Vec<u64>,
    /// Of each phase.
    pub phases: Vec<PhaseRepeats>,
    /// What all computation is compared per; `None` where that is not known.
    pub whole: Option<Per>,
    /// Periods were found, but it cannot be told that they are of the same thing.
    pub unlike_periods: bool,
    /// Bursts come in no order, and which thread has one says nothing: those of a phase are
    /// compared as if dealt out anew.
    pub in_no_order: bool,
}

/// Bursts of one phase in one run.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    bursts: f64,
    /// In the region that repeats.
    in_region: f64,
    threads: f64,
    time: f64,
    /// Instructions; no number where not all are known.
    work: f64,
    /// Bursts of the thread that was added last.
    of_thread: f64,
    /// Sum of the squares of each thread's.
    squares: f64,
}

impl Count {
    /// For each thread that runs it at all.
    fn per_thread(self) -> f64 {
        if self.threads > 0.0 { self.bursts / self.threads } else { 0.0 }
    }

    /// How much that number varies by chance, relative to it, if threads differ
    /// only by chance. Too few threads do not tell.
    fn variance(self) -> Option<Variance> {
        if self.threads < LEAST_THREADS {
            return None;
        }
        let mean = self.per_thread();
        let of_one = (self.squares - self.bursts * mean).max(0.0) / (self.threads - 1.0);
        Some(Variance { value: of_one / self.threads / (mean * mean), freedom: self.threads - 1.0 })
    }
}

/// Whether all runs do about the same work (95 %), over all of their threads.
#[must_use]
pub fn is_same_work(runs: &[RunBursts<'_>]) -> bool {
    let whole: Vec<RunFigures> = runs.iter().map(whole_run).collect();
    let counted = whole.iter().all(|run| run.instructions.is_some());
    let work = |run: &RunFigures| run.instructions.filter(|_| counted).unwrap_or(run.total.0 as f64);
    let ends = |(least, most): (f64, f64), x: f64| (least.min(x), most.max(x));
    let (least, most) = whole.iter().map(work).fold((f64::INFINITY, 0.0f64), ends);
    least >= SAME_WORK * most
}

/// How often each run repeats each phase.
///
/// Runs with equally many iterations do the same work, and are compared as they
/// are. Otherwise phases of the loop are compared per iteration, and phases
/// outside of it per run. The number of iterations of a phase may be off by a
/// little: a loop that is traced from its middle on has a burst more or less of
/// some phases, and a step may be in another phase at times. Where two runs
/// differ by no more than that, the bursts of the phase give its number of
/// iterations. Without a period, phases that are run equally often in all runs,
/// or do as much work on as many threads, are compared as they are, and the others
/// per burst. `total` says that all runs do the same work.
///
/// # Returns
/// Iterations are those of the whole run: the region that repeats may be a
/// part of it. Where an iteration of one run holds several of another, they
/// are counted in the shorter ones.
///
/// # Panics
/// If there is not one period, or `None`, for each run.
///
/// # Complexity
/// O(n + p·r) for n bursts, p phases and r runs.
#[must_use]
pub fn repeats(runs: &[RunBursts<'_>], found: &RunMatch, periods: &[Option<Period>], total: bool) -> Repeats {
    assert_eq!(runs.len(), periods.len(), "a period, or none, for every run");
    let counts: Vec<Vec<Count>> = (0..runs.len())
        .map(|r| counts(&runs[r], &found.phase_of[r], found.phases.len(), periods[r].as_ref()))
        .collect();
    let own: Vec<Option<f64>> = counts.iter().zip(periods).map(|(c, p)| iterations(c, p.as_ref()?)).collect();
    let in_loop: Vec<bool> = (0..found.phases.len())
        .map(|p| (0..runs.len()).any(|r| is_in_loop(&counts[r][p], own[r], periods[r].as_ref())))
        .collect();
    let loops = Loops { counts: &counts, in_loop: &in_loop };
    let (mut iterations, mut unlike_periods) = loops.iterations(&own);
    let counted = || runs.iter().all(|run| whole_run(run).instructions.is_some());
    if may_be_miscounted(&iterations) && counted() && is_same_work(runs) {
        (iterations, unlike_periods) = (vec![None; runs.len()], true);
    }
    let known: Option<Vec<f64>> = iterations.iter().map(|known| known.map(|(n, _)| n as f64)).collect();
    let per = match &known {
        _ if total => Some(Per::Run),
        Some(n) => Some(if n.windows(2).all(|two| two[0] == two[1]) { Per::Run } else { Per::Iteration }),
        None => None,
    };
    let phases: Vec<PhaseRepeats> = (0..found.phases.len())
        .map(|p| match (per, &known) {
            (Some(per), Some(n)) if in_loop[p] && !total => loops.per_iteration(p, n, per),
            (Some(_), _) => PhaseRepeats { per: Per::Run, times: vec![1.0; runs.len()], in_loop: in_loop[p] },
            (None, _) => loops.per_burst(p),
        })
        .collect();
    let whole = per.or_else(|| loops.same_work(&phases).then_some(Per::Run));
    let in_period = |(own, all): (&Option<f64>, &Option<(u64, _)>)| match (own, all) {
        (Some(own), Some((all, _))) => all / (*own as u64).max(1),
        _ => 1,
    };
    let in_period = own.iter().zip(&iterations).map(in_period).collect();
    Repeats { iterations, in_period, phases, whole, unlike_periods, in_no_order: false }
}

/// Whether the iterations of runs that do the same work in all are not to be believed: there are more
/// in one run than in another, and in one of them bursts alone tell them.
fn may_be_miscounted(iterations: &[Option<(u64, IterationsFrom)>]) -> bool {
    let known = || iterations.iter().flatten();
    let (most, least) = (known().map(|(n, _)| *n).max(), known().map(|(n, _)| *n).min());
    let is_unlike = most.zip(least).is_some_and(|(most, least)| !is_same(most as f64, least as f64));
    is_unlike && known().any(|(_, from)| *from == IterationsFrom::Bursts)
}

/// Of runs that were [matched by their work](super::match_by_work): phases are compared per
/// burst, and all computation together is not.
#[must_use]
pub fn repeats_in_no_order(runs: &[RunBursts<'_>], found: &RunMatch) -> Repeats {
    let n = found.phases.len();
    let counts: Vec<Vec<Count>> =
        (0..runs.len()).map(|r| counts(&runs[r], &found.phase_of[r], n, None)).collect();
    // So many for each thread of the run, whether it has any or not.
    let each = |r: usize, p: usize| match counts[r][p].bursts {
        bursts if bursts > 0.0 => bursts / runs[r].threads().max(1) as f64,
        _ => 1.0,
    };
    let times = |p: usize| (0..runs.len()).map(|r| each(r, p)).collect();
    Repeats {
        iterations: vec![None; runs.len()],
        in_period: vec![1; runs.len()],
        phases: (0..n).map(|p| PhaseRepeats { per: Per::Burst, times: times(p), in_loop: false }).collect(),
        whole: None,
        unlike_periods: false,
        in_no_order: true,
    }
}

fn counts(
    run: &RunBursts<'_>,
    phase_of: &[Option<u32>],
    n_phases: usize,
    period: Option<&Period>,
) -> Vec<Count> {
    let table = run.table;
    let mut found = vec![Count::default(); n_phases];
    let mut last: Vec<Option<usize>> = vec![None; n_phases];
    let thread = |i: usize| table.thread_of(i);
    let work = instructions(run);
    for (i, phase) in run.complete.iter().zip(phase_of) {
        let (i, Some(p)) = (i as usize, phase.map(|p| p as usize)) else { continue };
        let count = &mut found[p];
        count.bursts += 1.0;
        count.time += table.duration[i].0 as f64;
        count.work += work.map_or(f64::NAN, |column| column.values.get(i));
        if last[p].replace(i).is_none_or(|before| thread(before) != thread(i)) {
            count.threads += 1.0;
            count.of_thread = 0.0;
        }
        count.squares += 2.0 * count.of_thread + 1.0;
        count.of_thread += 1.0;
        let is_in = |period: &Period| {
            let (from, to) = period.region();
            (from..to).contains(&table.begin[i])
        };
        count.in_region += f64::from(u8::from(period.is_some_and(is_in)));
    }
    found
}

/// The iterations of the whole run: how often the phases of the region that
/// repeats are run in all, over how often in one of its iterations. A step can be
/// in one phase at times and in another at other times; then only the two
/// together have the right number. So phases that nearly agree with the median
/// are counted together, by their time. The region may begin or end within an iteration (its first
/// may be the start of the run, and what is left of the first iteration), and have one burst more or
/// less of a phase than iterations.
fn iterations(counts: &[Count], period: &Period) -> Option<f64> {
    let n = period.n_iterations() as f64;
    let known = || counts.iter().filter(|c| c.in_region > 0.0);
    let of_phase = |c: &Count| {
        let each = c.in_region / n / c.threads;
        let whole = each.round();
        let is_at_edges = c.bursts > c.in_region && whole >= 1.0 && (each - whole).abs() * n <= 1.0 + 1e-9;
        c.per_thread() / if is_at_edges { whole } else { each }
    };
    let within = |c: &Count| c.time * c.in_region / c.bursts;
    let middle = median::weighted(known().map(|c| (of_phase(c), within(c))).collect())?;
    let near = known().filter(|c| (of_phase(c) / middle).ln().abs() <= NEARLY.ln());
    let (all, of_one) = near.fold((0.0, 0.0), |sum, c| (sum.0 + c.time, sum.1 + c.time / of_phase(c)));
    Some((all / of_one).round())
}

fn is_in_loop(count: &Count, iterations: Option<f64>, period: Option<&Period>) -> bool {
    let (Some(all), Some(period)) = (iterations, period) else { return false };
    count.bursts > 0.0 && count.in_region / period.n_iterations() as f64 * all >= OF_THE_LOOP * count.bursts
}

/// The whole number that a number is meant to be.
fn whole(x: f64) -> Option<f64> {
    let near = x.round();
    (near >= 1.0 && (x - near).abs() <= SAME_COUNT * near).then_some(near)
}

pub(super) fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_COUNT * a.max(b)
}

/// What is known of the loops of all runs.
struct Loops<'a> {
    /// Of each run and phase.
    counts: &'a [Vec<Count>],
    in_loop: &'a [bool],
}

impl Loops<'_> {
    /// Whether nearly all that two runs do in their loops is in phases that both have.
    fn is_common(&self, a: usize, b: usize) -> bool {
        let time = |r: usize, all: bool| -> f64 {
            let of = |&p: &usize| {
                self.in_loop[p] && (all || self.counts[a][p].bursts * self.counts[b][p].bursts > 0.0)
            };
            (0..self.in_loop.len()).filter(of).map(|p| self.counts[r][p].time).sum()
        };
        [a, b].into_iter().all(|r| is_nearly_all(time(r, false), time(r, true)))
    }

    /// Whether the phases of the loop that run `r` has in common with the base hold much of what it
    /// does in all. If not, it does something else, and they say nothing of it.
    fn is_much(&self, r: usize, base: usize) -> bool {
        let both =
            |p: &usize| self.in_loop[*p] && self.counts[r][*p].bursts * self.counts[base][*p].bursts > 0.0;
        let common: f64 = (0..self.in_loop.len()).filter(both).map(|p| self.counts[r][p].time).sum();
        common >= MUCH * self.counts[r].iter().map(|c| c.time).sum::<f64>()
    }

    /// How many times as often run `a` does each phase of the loop as run `b` does.
    fn ratios(&self, (a, b): (usize, usize), own: &[Option<f64>]) -> Ratios {
        let time = |r: usize| self.counts[r].iter().map(|c| c.time).sum::<f64>().max(1.0);
        let (all_a, all_b) = (time(a), time(b));
        let both = (0..self.in_loop.len())
            .filter(|&p| self.in_loop[p] && self.counts[a][p].bursts > 0.0 && self.counts[b][p].bursts > 0.0);
        let of_phase = |p: usize| {
            let (x, y) = (self.counts[a][p], self.counts[b][p]);
            Ratio {
                ratio: x.per_thread() / y.per_thread(),
                weight: (x.time / all_a).min(y.time / all_b),
                in_own: own[a].zip(own[b]).map(|(m, n)| [x.per_thread() / m, y.per_thread() / n]),
            }
        };
        Ratios(both.map(of_phase).collect())
    }

    /// Iterations of all runs, in units of the shortest, and whether periods do not fit one
    /// another: then their numbers are not to be compared, and none is known.
    fn iterations(&self, own: &[Option<f64>]) -> (Vec<Option<(u64, IterationsFrom)>>, bool) {
        let unknown = || vec![None; own.len()];
        let Some(base) = own.iter().position(Option::is_some) else { return (unknown(), false) };
        let n_base = own[base].unwrap_or(1.0);
        let ratios = |r: usize| self.ratios((r, base), own);
        let often: Vec<Option<f64>> =
            (0..own.len()).map(|r| ratios(r).iterations(own[r]? / n_base)).collect();
        // How much of an iteration of the base one of each run is.
        let size = |r: usize| -> Option<f64> { Some(often[r]? * n_base / own[r]?) };
        let known: Vec<usize> = (0..own.len()).filter(|&r| own[r].is_some()).collect();
        let Some(sizes) = known.iter().map(|&r| size(r)).collect::<Option<Vec<f64>>>() else {
            return (unknown(), true);
        };
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let Some(parts) = sizes.iter().map(|size| whole(size / least)).collect::<Option<Vec<f64>>>() else {
            return (unknown(), true);
        };
        // Where a loop changes while it runs, its later iterations are other phases, and what
        // two runs have in common says nothing of the rest.
        if parts.iter().any(|parts| *parts > 1.0) && !known.iter().all(|&r| self.is_common(r, base)) {
            return (unknown(), true);
        }
        let mut found = vec![None; own.len()];
        // Runs that do the phases of the loop equally often have as many iterations: which of two
        // neighbouring numbers a run is given depends on where its phases begin and end.
        let is_as_often = |r: usize| often[r].is_some_and(|often| (often - 1.0).abs() < 1e-9);
        let of_run = |(&r, parts): (&usize, &f64)| own[r].map(|n| (r, (n * parts) as u64));
        let counted: Vec<(usize, u64)> = known.iter().zip(&parts).filter_map(of_run).collect();
        let most = counted.iter().filter(|(r, _)| is_as_often(*r)).map(|(_, n)| *n).max();
        for (r, n) in counted {
            let n = most.filter(|most| is_as_often(r) && most - n <= 1).unwrap_or(n);
            found[r] = Some((n, IterationsFrom::Period));
        }
        let n_base = found[base].map_or(n_base, |(n, _)| n as f64);
        for r in (0..own.len()).filter(|&r| own[r].is_none()) {
            let ratio = ratios(r).middle().filter(|(_, agree)| *agree >= AGREE && self.is_much(r, base));
            let n = ratio.and_then(|(ratio, _)| whole(ratio * n_base));
            found[r] = n.map(|n| (n as u64, IterationsFrom::Bursts));
        }
        (found, false)
    }

    /// A phase of the loop, where run r has `n[r]` iterations: compared per
    /// iteration, or as it is where all have as many.
    fn per_iteration(&self, p: usize, n: &[f64], per: Per) -> PhaseRepeats {
        let runs = || (0..n.len()).filter(|&r| self.counts[r][p].bursts > 0.0);
        let each = |r: usize| self.counts[r][p].per_thread();
        let most = runs().rev().max_by(|&a, &b| n[a].total_cmp(&n[b])).unwrap_or(0);
        let in_one = each(most) / n[most];
        // The loop's edges: a burst more or less in each of the two runs.
        let by_edges = per == Per::Iteration
            && runs().all(|r| (each(r) / n[r] - in_one).abs() <= (1.0 / n[r] + 1.0 / n[most]) * (1.0 + 1e-9));
        // A step that is in this phase at times, and at times in another.
        let variance = |r: usize| self.counts[r][p].variance();
        let by_chance =
            runs().all(|r| may_be_chance((each(r) / n[r] / in_one).ln(), variance(r), variance(most)));
        // What one of the two lacks of it may be in phases that the other has not.
        let elsewhere = |r: usize| {
            let (own, of_most) = (each(r) / n[r], in_one);
            let (few, many) = if own < of_most { (r, most) } else { (most, r) };
            let others = (0..self.in_loop.len()).filter(|&q| self.in_loop[q]);
            let unknown = others.filter(|&q| self.counts[many][q].bursts == 0.0);
            let unknown = unknown.map(|q| self.counts[few][q].per_thread() / n[few]).sum::<f64>();
            (own - of_most).abs() <= unknown * (1.0 + SAME_COUNT)
        };
        let whole = |r: usize| if per == Per::Run { n[r] } else { 1.0 };
        let times = |r: usize| match self.counts[r][p].bursts > 0.0 {
            true if by_edges || by_chance || elsewhere(r) => each(r) / in_one / whole(r),
            _ => n[r] / whole(r),
        };
        PhaseRepeats { per, times: (0..n.len()).map(times).collect(), in_loop: true }
    }

    /// A phase of runs whose iterations are not known. In more bursts that do as much work in all,
    /// on as many threads, it is done in smaller parts.
    fn per_burst(&self, p: usize) -> PhaseRepeats {
        let each: Vec<f64> = self.counts.iter().map(|of_run| of_run[p].per_thread()).collect();
        let mut present = each.iter().copied().filter(|n| *n > 0.0);
        let first = present.next().unwrap_or(0.0);
        let work = || self.counts.iter().map(|of_run| of_run[p]).filter(|c| c.bursts > 0.0).map(|c| c.work);
        let most = work().fold(0.0, f64::max);
        let threads = |of_run: &Vec<Count>| of_run[p].threads;
        let as_many = || self.counts.windows(2).all(|two| threads(&two[0]) == threads(&two[1]));
        let is_as_much = || most > 0.0 && as_many() && work().all(|work| work >= SAME_WORK * most);
        let (per, times) = if present.all(|n| is_same(n, first)) || is_as_much() {
            (Per::Run, vec![1.0; each.len()])
        } else {
            (Per::Burst, each.iter().map(|&n| if n > 0.0 { n } else { 1.0 }).collect())
        };
        PhaseRepeats { per, times, in_loop: self.in_loop[p] }
    }

    /// Whether nearly all of every run is run as often in all.
    fn same_work(&self, phases: &[PhaseRepeats]) -> bool {
        let everywhere = |p: usize| self.counts.iter().all(|of_run| of_run[p].bursts > 0.0);
        self.counts.iter().all(|of_run| {
            let all: f64 = of_run.iter().map(|c| c.time).sum();
            let same = (0..phases.len()).filter(|&p| phases[p].per == Per::Run && everywhere(p));
            same.map(|p| of_run[p].time).sum::<f64>() >= SAME_WORK * all
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two phases of a loop, each so often on both of two threads.
    fn of_run(often: f64) -> Vec<Count> {
        let count = |time| Count { bursts: 2.0 * often, threads: 2.0, time, ..Count::default() };
        vec![count(5e6), count(3e6)]
    }

    #[test]
    fn a_region_that_begins_within_an_iteration_makes_none_more() {
        let period = Period {
            boundaries: (0..28).map(crate::table::Nanos).collect(),
            confidence: 1.0,
            coverage: 1.0,
            anchor: crate::cluster::ClusterId::from_index(0),
        };
        let count =
            |bursts, in_region, time| Count { bursts, in_region, threads: 4.0, time, ..Count::default() };
        // The first iteration of the region has the start of the run in the place of the longest phase.
        let counts = [count(108.0, 104.0, 57e6), count(216.0, 216.0, 35e6), count(108.0, 108.0, 2e6)];
        assert_eq!(iterations(&counts, &period), Some(27.0));
        // A part of the run, and a step that is in one phase at times and in another at others.
        let counts = [count(216.0, 108.0, 57e6), count(160.0, 80.0, 30e6), count(56.0, 28.0, 10e6)];
        assert_eq!(iterations(&counts, &period), Some(54.0));
        // Inner steps of which iterations have 10 or 11: no edge of the region makes them so.
        let counts = [count(1116.0, 1116.0, 57e6), count(108.0, 108.0, 3e6)];
        assert_eq!(iterations(&counts, &period), Some(27.0));
    }

    #[test]
    fn loops_that_are_done_equally_often_have_as_many_iterations() {
        let of = |often: [f64; 2], own: [f64; 2]| {
            let counts = often.map(of_run);
            let loops = Loops { counts: &counts, in_loop: &[true; 2] };
            loops.iterations(&own.map(Some)).0.into_iter().map(|n| n.map(|(n, _)| n)).collect::<Vec<_>>()
        };
        // The period of the second begins and ends elsewhere.
        assert_eq!(of([60.0, 60.0], [60.0, 59.0]), [Some(60), Some(60)]);
        assert_eq!(of([60.0, 60.0], [59.0, 60.0]), [Some(60), Some(60)]);
        // A run without a period is told by its bursts, unless most of it is something else.
        let without = |other: f64| {
            let mut counts = [of_run(60.0), of_run(30.0)];
            counts.iter_mut().for_each(|counts| counts.push(Count::default()));
            counts[1][2] = Count { bursts: 9.0, threads: 2.0, time: other, ..Count::default() };
            let loops = Loops { counts: &counts, in_loop: &[true, true, false] };
            loops.iterations(&[Some(60.0), None]).0[1]
        };
        assert_eq!(without(7e6), Some((30, IterationsFrom::Bursts)));
        assert_eq!(without(9e6), None);
        // An inner loop that is done twice as often, with most of the time, leaves as many iterations.
        let inner = |often: f64| {
            let mut counts = of_run(10.0 * often);
            counts[1] = Count { bursts: 2.0 * 6.0, ..counts[1] };
            counts
        };
        let counts = [inner(6.0), inner(12.0)];
        let loops = Loops { counts: &counts, in_loop: &[true; 2] };
        let six = Some((6, IterationsFrom::Period));
        assert_eq!(loops.iterations(&[Some(6.0); 2]), (vec![six; 2], false));
        // One that is done less often has fewer.
        assert_eq!(of([60.0, 59.0], [60.0, 59.0]), [Some(60), Some(59)]);
        assert_eq!(of([60.0, 30.0], [60.0, 30.0]), [Some(60), Some(30)]);
    }

    /// "320 iterations against 107" was told of two runs of the same work, one of which has no
    /// period, and "an efficiency of 137.4 %".
    #[test]
    fn unlike_iterations_of_the_same_work_are_not_believed() {
        let of =
            |a: (u64, IterationsFrom), b: (u64, IterationsFrom)| may_be_miscounted(&[Some(a), Some(b), None]);
        let (period, bursts) = (IterationsFrom::Period, IterationsFrom::Bursts);
        assert!(of((320, period), (107, bursts)) && of((107, bursts), (320, period)));
        // Two periods are two witnesses; one more or less is no other number.
        assert!(!of((31, period), (24, period)) && !of((60, period), (59, bursts)));
        assert!(!may_be_miscounted(&[None, None]));
    }

    /// Without iterations: as much work in twice the bursts is one step in two halves.
    #[test]
    fn as_much_work_in_more_bursts_is_compared_as_it_is() {
        let per = |bursts: f64, work: f64| {
            let of = |bursts, work| vec![Count { bursts, threads: 2.0, work, ..Count::default() }];
            let counts = [of(60.0, 6e6), of(bursts, work)];
            Loops { counts: &counts, in_loop: &[false] }.per_burst(0).per
        };
        assert_eq!((per(60.0, 9e6), per(120.0, 5.9e6)), (Per::Run, Per::Run));
        assert_eq!((per(120.0, 12e6), per(120.0, f64::NAN)), (Per::Burst, Per::Burst));
        let none = [60.0, 120.0].map(|bursts| vec![Count { bursts, threads: 2.0, ..Count::default() }]);
        assert_eq!(Loops { counts: &none, in_loop: &[false] }.per_burst(0).per, Per::Burst, "no work at all");
    }
}
