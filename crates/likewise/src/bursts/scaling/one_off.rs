//! Bursts that take far longer than their thread does otherwise.

use super::matched::RunBursts;
use super::steps::{cycles, instructions};
use super::strays::Strays;
use crate::bursts::findings::LEAST_SHARE;
use crate::bursts::on_core::cpu_time;
use crate::cluster::ClusterId;
use crate::median;
use crate::table::{BurstTable, Nanos};

/// With fewer bursts in a phase than this, a thread has no usual time of a burst.
const LEAST_BURSTS: usize = 5;
/// A burst is odd from this many times the median distance on: that of the
/// phase's bursts from the usual time of their threads.
const FAR: f64 = 10.0;
/// At most one in this many bursts of a phase is odd; more are the way the phase
/// is.
const FEW: usize = 10;

/// What a thread does so often is no one-off: as often at even distances in a phase, or in so many
/// bursts, of whatever phases, with other work than is usual in that phase. Nor is a cluster that
/// comes so often.
const RECURS: usize = 3;
/// A cluster that comes less often than this may come less than [`RECURS`] times in another run.
const OFTEN: usize = 2 * RECURS;
/// Two bursts do the same work if their instructions differ by at most this share.
const SAME_WORK: f64 = 0.1;

/// A burst that took much longer than its thread's others in that phase.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOff {
    /// The phase.
    pub phase: u32,
    /// Application, task and thread.
    pub thread: (u32, u32, u32),
    /// When it began.
    pub begin: Nanos,
    /// How long it took.
    pub duration: Nanos,
    /// What the thread takes otherwise: the median.
    pub usual: Nanos,
}

/// A run without what happened once.
#[derive(Clone, Debug, Default)]
pub struct Calm {
    /// By phase, thread and begin.
    pub one_offs: Vec<OneOff>,
    /// The run's bursts, as if these had been as a usual one of their thread;
    /// `None` where there are none.
    pub table: Option<BurstTable>,
    /// Phases of which a thread has so few bursts that it has no usual one, but one that takes so
    /// much longer than another that it would be odd among more; or of which a cluster of such bursts
    /// comes just too often to be odd.
    pub untold: Vec<u32>,
}

impl Calm {
    /// Whether a burst of a phase counts as usual here, while one as odd may count as it is in
    /// another run, or the other way round. Where both are so, as in a run and itself, they are alike.
    #[must_use]
    pub fn is_unlike(&self, other: &Self, phase: u32) -> bool {
        let is_odd = |calm: &Self| calm.one_offs.iter().any(|one| one.phase == phase);
        let counts_else = |a: &Self, b: &Self| is_odd(a) && b.untold.contains(&phase);
        counts_else(self, other) != counts_else(other, self)
    }
}

/// Finds single bursts that took far longer than the others of their thread in
/// the same phase, and makes the run as if they had been usual ones. What is
/// compared is what the program does as a rule, and a thread that stood still
/// once would spoil every mean.
///
/// A burst is such a one-off if it is at least twice as long as the median of its
/// thread, longer by half a percent of the run (`length`), and longer by ten times
/// the usual distance of the phase's bursts from their threads' medians (itself a
/// median). At most a tenth of a phase's bursts (rounded up) are one-offs, and a thread with
/// fewer than five bursts in a phase has none. A burst whose cluster belongs to
/// another phase is none either: it may be here by mistake. Nor is one of another cluster than the
/// usual burst's, where two clusters are one phase: what makes a cluster that comes three
/// times or more is done again and again. Nor is one that recurs: three or
/// more at even distances that are no neighbours (of one iteration that stood still), or, of other
/// work (instructions) than the usual burst has, more than a tenth (rounded up) of the thread's in
/// that phase, or one of three of the thread with that work, in whatever phase, that takes as long
/// rather than as long as the usual one. `phase_of` is as in
/// [`RunMatch::phase_of`](super::RunMatch::phase_of).
///
/// # Complexity
/// O(n log n) for n bursts.
#[must_use]
pub fn calm(run: &RunBursts<'_>, phase_of: &[Option<u32>], length: Nanos) -> Calm {
    let n_phases = phase_of.iter().flatten().max().map_or(0, |&p| p as usize + 1);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); n_phases];
    let Strays { is_stray, .. } = Strays::of(run, phase_of, n_phases);
    for ((i, phase), _) in run.complete.iter().zip(phase_of).zip(&is_stray).filter(|(_, stray)| !**stray) {
        phase.iter().for_each(|&p| members[p as usize].push(i));
    }
    let least = LEAST_SHARE * length.0 as f64;
    let of_phases = || (0u32..).zip(&members);
    let (mut odd, mut untold) = (Vec::new(), Vec::new());
    for (p, bursts) in of_phases() {
        let (found, may_be_more) = self::odd(run, bursts, least);
        odd.extend(found.into_iter().map(|odd| (p, odd)));
        if may_be_more || may_be_odd(run.table, bursts, least) {
            untold.push(p);
        }
    }
    let table = run.table;
    let one_off = |(phase, odd): &(u32, Odd)| {
        let i = odd.burst;
        OneOff {
            phase: *phase,
            thread: table.thread_of(i),
            begin: table.begin[i],
            duration: table.duration[i],
            usual: table.duration[odd.usual],
        }
    };
    let one_offs: Vec<OneOff> = odd.iter().map(one_off).collect();
    Calm { table: (!odd.is_empty()).then(|| replaced(run, &odd)), one_offs, untold }
}

/// A burst, and one that is as usual.
struct Odd {
    burst: usize,
    usual: usize,
    /// Which of its thread's bursts in the phase it is, and of how many.
    place: (usize, usize),
}

/// How often each cluster comes in a phase, several bursts in a row of a thread counted once.
fn times_of_clusters(run: &RunBursts<'_>, bursts: &[u32]) -> Vec<usize> {
    let mut times = vec![0; run.clustering.n_clusters];
    for own in of_threads(run.table, bursts) {
        let label = |i: &u32| run.clustering.labels[run.complete.before(*i as usize)];
        let mut rows = own.iter().map(label).collect::<Vec<_>>();
        rows.dedup();
        rows.into_iter().flatten().for_each(|id| times[id.index()] += 1);
    }
    times
}

/// The odd bursts of one phase, in burst order; and whether there are others that would be some if
/// they came a little less often.
fn odd(run: &RunBursts<'_>, bursts: &[u32], least: f64) -> (Vec<Odd>, bool) {
    let table = run.table;
    let duration = |i: usize| table.duration[i].0 as f64;
    let (mut all, mut off) = (Vec::with_capacity(bursts.len()), Vec::with_capacity(bursts.len()));
    for own in of_threads(table, bursts).filter(|own| own.len() >= LEAST_BURSTS) {
        let usual = usual(table, own);
        let odd = |(k, &i): (usize, &u32)| Odd { burst: i as usize, usual, place: (k, own.len()) };
        all.extend(own.iter().enumerate().map(odd));
        off.extend(own.iter().map(|&i| (duration(i as usize) - duration(usual)).abs()));
    }
    off.sort_unstable_by(f64::total_cmp);
    let Some(typical) = median::upper(&off) else { return (Vec::new(), false) };
    let limit = least.max(FAR * typical);
    let n = all.len();
    let label = |i: usize| run.clustering.labels[run.complete.before(i)];
    let times = times_of_clusters(run, bursts);
    let is_one = |odd: &Odd, least_often: usize| {
        let is_rare = |own: ClusterId| times[own.index()] < least_often;
        label(odd.burst).is_none_or(|own| label(odd.usual) == Some(own) || is_rare(own))
    };
    all.retain(|odd| is_longer(table, odd.burst, odd.usual, limit));
    let may_be_more = all.iter().any(|odd| !is_one(odd, RECURS) && is_one(odd, OFTEN));
    all.retain(|odd| is_one(odd, RECURS));
    if all.len() > n.div_ceil(FEW) {
        return (Vec::new(), may_be_more);
    }
    (drop_recurring(run, all), may_be_more)
}

/// The bursts of each thread, of bursts in order.
fn of_threads<'a>(table: &'a BurstTable, bursts: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
    let thread = |&i: &u32| table.thread_of(i as usize);
    bursts.chunk_by(move |a, b| thread(a) == thread(b))
}

/// The burst of median length.
fn usual(table: &BurstTable, bursts: &[u32]) -> usize {
    let mut by_time = bursts.to_vec();
    by_time.sort_unstable_by_key(|&i| (table.duration[i as usize], i));
    median::lower(&by_time).expect("as many as are asked for") as usize
}

/// Whether a burst takes twice as long as the usual one, and longer by `limit`.
fn is_longer(table: &BurstTable, burst: usize, usual: usize, limit: f64) -> bool {
    let [long, usual] = [burst, usual].map(|i| table.duration[i].0 as f64);
    long - usual >= limit && long - usual >= usual
}

/// Whether a thread with too few bursts to have a usual one has one that takes so much longer.
fn may_be_odd(table: &BurstTable, bursts: &[u32], least: f64) -> bool {
    of_threads(table, bursts).filter(|own| own.len() < LEAST_BURSTS).any(|own| {
        let usual = usual(table, own);
        own.iter().any(|&i| is_longer(table, i as usize, usual, least))
    })
}

/// Leaves out what a thread does again and again: a step of the program that came to stand in
/// this phase, or a step that is longer every tenth time.
fn drop_recurring(run: &RunBursts<'_>, mut odd: Vec<Odd>) -> Vec<Odd> {
    let thread = |odd: &Odd| run.table.thread_of(odd.burst);
    let recurring: Vec<bool> =
        odd.chunk_by(|a, b| thread(a) == thread(b)).flat_map(|own| recurring(run, own)).collect();
    let mut recurring = recurring.into_iter();
    odd.retain(|_| recurring.next() == Some(false));
    odd
}

/// Which of the odd bursts of a thread in a phase recur.
fn recurring(run: &RunBursts<'_>, odd: &[Odd]) -> Vec<bool> {
    let distances = odd.windows(2).map(|two| two[1].place.0 - two[0].place.0);
    let is_even = odd.len() >= RECURS
        && distances.clone().min() == distances.clone().max()
        && distances.min().is_some_and(|apart| apart > 1);
    let Some(work) = instructions(run).filter(|_| !is_even) else { return vec![is_even; odd.len()] };
    let work = |i: usize| work.values.get(i).max(1.0).ln();
    let is_same = |i: usize, j: usize| (work(i) - work(j)).abs() <= SAME_WORK;
    let ln_time = |i: usize| (run.table.duration[i].0.max(1) as f64).ln();
    let apart = |i: usize, j: usize| (ln_time(i) - ln_time(j)).abs();
    let is_other = |odd: &Odd| !is_same(odd.burst, odd.usual);
    let rows = run.table.threads().map(|(_, rows)| rows).find(|rows| rows.contains(&odd[0].burst));
    let own = rows.map_or(0..0, |rows| run.complete.before(rows.start)..run.complete.before(rows.end));
    let comes_often = |odd: &Odd| {
        let is_alike = |&i: &usize| is_same(i, odd.burst) && apart(i, odd.burst) < apart(i, odd.usual);
        own.clone().map(|k| run.complete.at(k) as usize).filter(is_alike).take(RECURS).count() == RECURS
    };
    let others = odd.iter().filter(|odd| is_other(odd)).count();
    odd.iter().map(|odd| is_other(odd) && (others > odd.place.1.div_ceil(FEW) || comes_often(odd))).collect()
}

/// The table, where odd bursts have the time, CPU time, instructions and cycles of usual
/// ones.
fn replaced(run: &RunBursts<'_>, odd: &[(u32, Odd)]) -> BurstTable {
    let mut table = run.table.clone();
    let columns = [instructions(run), cycles(run), cpu_time(run.table)];
    let places: Vec<usize> = (0..table.counters.len())
        .filter(|&c| columns.into_iter().flatten().any(|column| std::ptr::eq(column, &run.table.counters[c])))
        .collect();
    for (_, Odd { burst, usual, .. }) in odd {
        table.duration[*burst] = run.table.duration[*usual];
        for &c in &places {
            table.counters[c].values.set(*burst, run.table.counters[c].values.get(*usual));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Clustering;
    use crate::table::Rows;

    /// Bursts of one phase: of each thread, the durations in order.
    fn one_offs(threads: &[&[u64]], end: u64) -> Vec<(u32, u64, u64)> {
        let calm = calmed(threads, end);
        if let Some(calm) = &calm.table {
            assert!(calm.duration.iter().all(|d| d.0 < 130), "{:?}", calm.duration);
        }
        calm.one_offs.iter().map(|o| (o.thread.1, o.duration.0, o.usual.0)).collect()
    }

    fn calmed(threads: &[&[u64]], end: u64) -> Calm {
        let mut table = BurstTable::default();
        for (t, durations) in threads.iter().enumerate() {
            for (k, &duration) in durations.iter().enumerate() {
                table.app.push(1);
                table.task.push(t as u32 + 1);
                table.thread.push(1);
                table.begin.push(Nanos(1_000 * k as u64));
                table.duration.push(Nanos(duration));
            }
        }
        let n = table.len();
        let complete = Rows::first(n);
        let clustering = Clustering { labels: vec![Some(ClusterId::from_index(0)); n], n_clusters: 1 };
        let run = RunBursts { table: &table, complete: &complete, clustering: &clustering };
        let calm = calm(&run, &vec![Some(0); n], Nanos(end));
        assert_eq!(calm.table.is_some(), !calm.one_offs.is_empty());
        calm
    }

    #[test]
    fn a_burst_that_takes_long_once_is_found_and_what_is_always_so_is_not() {
        let steady: &[u64] = &[100, 102, 98, 101, 99, 100];
        let once: &[u64] = &[100, 102, 98, 900, 99, 100];
        let slow: &[u64] = &[250, 252, 248, 251, 249, 250];
        assert_eq!(one_offs(&[steady, once], 10_000), [(2, 900, 100)]);
        assert_eq!(one_offs(&[steady, steady, slow], 10_000), [], "a slow thread is so each time");
        assert_eq!(one_offs(&[steady, once], 1_000_000), [], "it costs less than half a percent");
        assert_eq!(one_offs(&[&[100, 900], &[100, 100]], 10_000), [], "of two, none is usual");
        let modes: &[u64] = &[100, 900, 100, 900, 100, 100];
        assert_eq!(one_offs(&[modes, modes], 10_000), [], "a third of the bursts");
    }

    /// Of two clusters that are one phase, where the longer bursts have that label.
    fn of_two_clusters(at: &[u64], long: Option<usize>) -> Calm {
        let mut table = BurstTable::default();
        for k in 0..40 {
            table.app.push(1);
            table.task.push(1);
            table.thread.push(1);
            table.begin.push(Nanos(1_000 * k));
            table.duration.push(Nanos(if at.contains(&k) { 900 } else { 100 + k % 3 }));
        }
        let label = |duration: &Nanos| if duration.0 > 500 { long } else { Some(0) };
        let labels = table.duration.iter().map(|d| label(d).map(ClusterId::from_index)).collect();
        let (clustering, complete) = (Clustering { labels, n_clusters: 2 }, Rows::first(40));
        let run = RunBursts { table: &table, complete: &complete, clustering: &clustering };
        calm(&run, &[Some(0); 40], Nanos(10_000))
    }

    #[test]
    fn what_is_a_cluster_of_its_own_is_no_one_off() {
        let n = |at: &[u64], long| of_two_clusters(at, long).one_offs.len();
        let found = [None, Some(0), Some(1)].map(|long| n(&[4, 14, 27], long));
        assert_eq!(found, [3, 3, 0]);
        assert_eq!(n(&[4, 14], Some(1)), 2, "twice is not again and again");
        assert_eq!(n(&[14, 15, 16], Some(1)), 3, "one iteration stood still");
    }

    #[test]
    fn a_cluster_that_comes_a_little_less_often_elsewhere_cannot_be_told() {
        let at = [2, 9, 14, 22, 31, 36];
        let is_untold = [2, 3, 5, 6].map(|times| of_two_clusters(&at[..times], Some(1)).untold == [0]);
        assert_eq!(is_untold, [false, true, true, false]);
    }

    #[test]
    fn what_is_longer_at_even_distances_is_no_one_off() {
        let longer = |at: [usize; 3]| {
            (0..40).map(|k| if at.contains(&k) { 900 } else { 100 + k as u64 % 3 }).collect()
        };
        let (even, uneven): (Vec<u64>, Vec<u64>) = (longer([4, 14, 24]), longer([4, 14, 27]));
        assert_eq!(one_offs(&[&even], 10_000), []);
        assert_eq!(one_offs(&[&uneven], 10_000).len(), 3);
        // One iteration, in which the phase is done three times, stood still: nobody was told.
        let in_a_row: Vec<u64> = longer([14, 15, 16]);
        assert_eq!(one_offs(&[&in_a_row], 10_000).len(), 3);
    }

    /// A thread does phase 0 ten times and phase 1 five times; one burst of phase 0 takes 900 ns
    /// and executes as much as it takes, those of phase 1 take 900 ns and execute `other`.
    fn with_other_phase(other: f64) -> usize {
        let bursts: Vec<(u64, f64, u32)> = (0..15u64)
            .map(|k| match k {
                4 => (900, 900.0, 0),
                k if k % 3 == 2 => (890 + k, other, 1),
                k => (100 + k % 2, 100.0, 0),
            })
            .collect();
        let n = bursts.len();
        let counter = crate::table::Counter {
            event_type: None,
            name: "PAPI_TOT_INS".into(),
            description: String::new(),
        };
        let values = bursts.iter().map(|(_, count, _)| *count).collect();
        let table = BurstTable {
            app: vec![1; n].into(),
            task: vec![1; n].into(),
            thread: vec![1; n].into(),
            begin: (0..n as u64).map(|k| Nanos(1_000 * k)).collect(),
            duration: bursts.iter().map(|(time, ..)| Nanos(*time)).collect(),
            counters: vec![crate::table::CounterColumn { counter, values }],
            code: None,
        };
        let label = |(_, _, p): &(u64, f64, u32)| Some(ClusterId::from_index(*p as usize));
        let clustering = Clustering { labels: bursts.iter().map(label).collect(), n_clusters: 2 };
        // The long burst of phase 0 has no cluster, so that nothing but what it does tells.
        let clustering = Clustering {
            labels: clustering.labels.iter().enumerate().map(|(k, id)| id.filter(|_| k != 4)).collect(),
            ..clustering
        };
        let phase_of: Vec<Option<u32>> = bursts.iter().map(|(_, _, p)| Some(*p)).collect();
        let complete = Rows::first(n);
        let run = RunBursts { table: &table, complete: &complete, clustering: &clustering };
        calm(&run, &phase_of, Nanos(20_000)).one_offs.len()
    }

    #[test]
    fn a_step_that_came_to_stand_in_another_phase_is_no_one_off() {
        assert_eq!(with_other_phase(900.0), 0);
        assert_eq!(with_other_phase(400.0), 1, "what it does is done once");
    }

    #[test]
    fn what_cannot_be_told_in_one_run_is_not_taken_out_of_the_other_alone() {
        let many: &[u64] = &[100, 102, 98, 900, 99, 100];
        let (told, few, calm) =
            (calmed(&[many], 10_000), calmed(&[&[100, 900, 101]], 10_000), calmed(&[&[100, 102]], 10_000));
        assert_eq!((told.one_offs.len(), &few.untold[..], &calm.untold[..]), (1, &[0][..], &[][..]));
        assert!(told.is_unlike(&few, 0) && few.is_unlike(&told, 0));
        assert!(!told.is_unlike(&calm, 0) && !few.is_unlike(&calm, 0) && !told.is_unlike(&told, 0));
        let both = Calm { untold: few.untold, ..told };
        assert!(!both.is_unlike(&both.clone(), 0), "a run and itself");
    }
}
