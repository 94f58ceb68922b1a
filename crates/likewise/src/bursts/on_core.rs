//! Whether threads are on a core while their bursts last.

use rayon::prelude::*;

use super::clock::Clock;
use crate::cluster::ClusterId;
use crate::table::{BurstTable, CounterColumn, Nanos, Values};

/// Where bursts are on a core for less than this share of their time, a note is worth it: for
/// most of it they compute nothing.
const LEAST: f64 = 0.5;
/// Bursts of a phase that are on a core for less than this share of their time sleep, if those of
/// other phases are on one for [`LEAST`], and if all of them together keep less than this share
/// of one core busy: else they wait for a core. Where cores are shared, those of others are on
/// one for less: then theirs must be less than this share of that, and a burst of theirs be off
/// core for longer, on average, than any of those of others ever waits.
const ASLEEP: f64 = 0.1;
/// If these others have this share of all time: where everything sleeps, short steps do not.
const OTHERS: f64 = 0.01;
/// What is known of this share of the time of a phase is taken for all of it.
const KNOWN: f64 = 0.5;
/// From so long on, the cycles of a burst tell of it alone whether it sleeps, in a phase that
/// computes: in shorter ones it counts that times may be whole microseconds, and that it takes one
/// to read counters.
const ALONE_FROM: Nanos = Nanos(10_000);

/// Whether what bursts of so much time tell is taken for all of a time: they hold at least half
/// of it.
pub(super) fn is_known(known: f64, time: f64) -> bool {
    known > 0.0 && known >= KNOWN * time
}

/// For what share of their time bursts were on a core, where the trace tells.
///
/// A burst is the time between two calls. A thread may sleep then, or wait for another thread
/// in a way that no call of MPI shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnCore {
    /// Of each phase; `None` where at least half of its time is not known.
    pub of_phases: Vec<Option<f64>>,
    /// Of all bursts that are in a phase.
    pub of_all: Option<f64>,
    /// By phase, whether its bursts sleep while those of others compute.
    pub asleep: Vec<bool>,
    /// By burst of the table, whether it is in such a phase, or those of its thread sleep while
    /// others of its phase compute, or it sleeps by its own cycles; empty where none does.
    pub asleep_bursts: Vec<bool>,
    /// Set where cycles tell who sleeps, and no CPU time. For what share of the time of others
    /// bursts are on a core is then not known, as a clock may be slower.
    pub by_cycles: Option<ByCycles>,
    /// Set where cycles could tell it, but do not fit the times of the trace: so many are counted per ns.
    pub misfit: Option<f64>,
}

/// Bursts in which hardly any cycles are counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByCycles {
    /// Of each phase, its cycles over those that it would count at the clock of the run; `None`
    /// where too little is known.
    pub of_phases: Vec<Option<f64>>,
}

/// What tells for how long a burst is on a core.
enum Known<'t> {
    CpuTime(&'t Values),
    Cycles(Clock<'t>),
}

impl Known<'_> {
    /// In ns; NaN where it is not known.
    fn time(&self, burst: usize) -> f64 {
        match self {
            Self::CpuTime(values) => values.get(burst),
            Self::Cycles(clock) => clock.time(burst),
        }
    }

    /// So many cores must bursts keep busy, all together, if they wait for a core.
    fn busy_cores(&self, cores: Option<u32>) -> f64 {
        match self {
            Self::CpuTime(_) => ASLEEP,
            // Where there are more cores, a few of them that are busy keep nobody waiting.
            Self::Cycles(_) => LEAST * f64::from(cores.unwrap_or(1)),
        }
    }
}

impl OnCore {
    /// By the counter of CPU time (in ns), if there is one, or else by cycles. `labels` has the
    /// phase of every burst of the table, and there are `n_phases`; so many `cores`, if that is known.
    ///
    /// # Complexity
    /// O(n) for n bursts, and O(s log s) for s that may sleep.
    #[must_use]
    pub fn of(table: &BurstTable, labels: &[Option<ClusterId>], n_phases: usize, cores: Option<u32>) -> Self {
        let clock = if cpu_time(table).is_some() { None } else { Clock::of(table) };
        let misfit = clock.as_ref().and_then(Clock::misfit);
        let known = match cpu_time(table) {
            Some(column) => Some(Known::CpuTime(&column.values)),
            None => clock.filter(|_| misfit.is_none()).map(Known::Cycles),
        };
        let Some(known) = known else {
            return Self {
                of_phases: vec![None; n_phases],
                asleep: vec![false; n_phases],
                misfit,
                ..Self::default()
            };
        };
        let (mut sums, mut off) = (vec![Sum::default(); n_phases], vec![OffCore::default(); n_phases]);
        for (i, label) in labels.iter().enumerate() {
            if let Some(id) = label {
                let (duration, cpu) = (table.duration[i].0 as f64, known.time(i));
                sums[id.index()].add(duration, cpu);
                off[id.index()].add(duration, cpu);
            }
        }
        let cores = known.busy_cores(cores);
        let (sleeps, busy) = sleeps(table, labels, &sums, cores);
        let (mut all, mut others) = (Sum::default(), Sum::default());
        for (sum, sleeps) in sums.iter().zip(&sleeps) {
            all = all.joined(*sum);
            // A phase of which nothing is known says neither that others compute nor that none does.
            others = if *sleeps || sum.share().is_none() { others } else { others.joined(*sum) };
        }
        let are_others = others.time >= OTHERS * all.time;
        let share = match known {
            Known::CpuTime(_) => others.share().filter(|_| are_others).unwrap_or(0.0),
            // Who computes makes the clock.
            Known::Cycles(_) => 1.0,
        };
        // Where those of others wait for a core, none of them waits for as long as these do.
        let awake = off.iter().zip(&sleeps).filter(|(_, sleeps)| !**sleeps);
        let longest = awake.fold(0.0, |most: f64, (off, _)| most.max(off.longest));
        let is_long = |phase: usize| {
            sums[phase].share().is_some_and(|own| own < ASLEEP * share) && off[phase].mean() > longest
        };
        let asleep: Vec<bool> =
            (0..n_phases).map(|phase| sleeps[phase] && (share >= LEAST || is_long(phase))).collect();
        let mut asleep_bursts = asleep_bursts(table, labels, (&known, &sums), (&asleep, &busy));
        let of_phases = sums.iter().map(Sum::share).collect();
        let Known::Cycles(clock) = known else {
            return Self { of_phases, of_all: all.share(), asleep, asleep_bursts, by_cycles: None, misfit };
        };
        let computes = |phase: usize| !asleep[phase] && !busy[phase];
        let apart = apart(table, labels, &clock, (n_phases, cores), computes);
        if !apart.is_empty() {
            asleep_bursts.resize(table.len(), false);
            apart.into_iter().for_each(|i| asleep_bursts[i] = true);
        }
        let by_cycles = Some(ByCycles { of_phases });
        Self { of_phases: vec![None; n_phases], of_all: None, asleep, asleep_bursts, by_cycles, misfit }
    }

    /// Whether the run's threads are hardly on a core, whatever they do: there are more threads
    /// than cores, or all sleep.
    #[must_use]
    pub fn is_hardly(&self) -> bool {
        self.of_all.is_some_and(|share| share < LEAST) && !self.asleep.contains(&true)
    }

    /// The phases that are on a core for less than half of their time.
    pub fn hardly(&self) -> impl Iterator<Item = (ClusterId, f64)> + '_ {
        let of_phase = |(at, share): (usize, &Option<f64>)| Some((ClusterId::from_index(at), (*share)?));
        self.of_phases.iter().enumerate().filter_map(of_phase).filter(|&(_, share)| share < LEAST)
    }
}

/// The counter of CPU time in ns, if the bursts have one.
pub(super) fn cpu_time(table: &BurstTable) -> Option<&CounterColumn> {
    table.counters.iter().find(|column| column.counter.is_cpu_time_in_ns())
}

/// The phases that sleep, if others compute, and those that would, if they did not keep so many
/// cores busy: these wait for one.
fn sleeps(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    sums: &[Sum],
    cores: f64,
) -> (Vec<bool>, Vec<bool>) {
    let may_sleep = |sum: &Sum| sum.share().is_some_and(|share| share < ASLEEP);
    let mut sleeps: Vec<bool> = sums.iter().map(may_sleep).collect();
    let mut busy = vec![false; sums.len()];
    if sleeps.contains(&true) {
        let covered = covered(table, labels, &sleeps);
        for phase in (0..sums.len()).filter(|&phase| may_sleep(&sums[phase])) {
            busy[phase] = sums[phase].cpu >= cores * covered[phase] as f64;
            sleeps[phase] = !busy[phase];
        }
    }
    (sleeps, busy)
}

/// The bursts that sleep by themselves, as the clock tells it of each: those of no phase, and those of
/// phases that compute as a whole. Not those of a phase that all together keep so many cores busy.
fn apart(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    clock: &Clock<'_>,
    (n_phases, cores): (usize, f64),
    computes: impl Fn(usize) -> bool + Sync,
) -> Vec<usize> {
    let may_sleep =
        |i: usize| labels[i].is_none_or(|id| table.duration[i] >= ALONE_FROM && computes(id.index()));
    let sleeps = |&i: &usize| clock.time(i) < ASLEEP * table.duration[i].0 as f64 && may_sleep(i);
    let mut apart: Vec<usize> = (0..table.len()).into_par_iter().filter(sleeps).collect();
    let group = |i: usize| labels[i].map_or(n_phases, ClusterId::index);
    let (mut time, mut spans) = (vec![0.0; n_phases + 1], vec![Vec::new(); n_phases + 1]);
    for &i in &apart {
        time[group(i)] += clock.time(i);
        spans[group(i)].push((table.begin[i].0, table.end(i).0));
    }
    let covered: Vec<u64> = spans.into_par_iter().map(union).collect();
    apart.retain(|&i| time[group(i)] < cores * covered[group(i)] as f64);
    apart
}

/// What [`OnCore::asleep_bursts`] has of phases; `sums`, `asleep` and `busy` are of these.
fn asleep_bursts(
    table: &BurstTable,
    labels: &[Option<ClusterId>],
    (known, sums): (&Known<'_>, &[Sum]),
    (asleep, busy): (&[bool], &[bool]),
) -> Vec<bool> {
    let mut bursts = Vec::new();
    // Of one thread after the other, by phase; `met` has the phases that it has bursts of.
    let mut own = vec![Sum::default(); sums.len()];
    let mut met: Vec<usize> = Vec::new();
    // Of those, which sleep on it.
    let mut marked = vec![false; sums.len()];
    for (_, rows) in table.threads() {
        for i in rows.clone() {
            let Some(id) = labels[i] else { continue };
            let sum = &mut own[id.index()];
            if sum.is_empty() {
                met.push(id.index());
            }
            sum.add(table.duration[i].0 as f64, known.time(i));
        }
        let sleeps = |phase: usize| {
            let others = sums[phase].less(own[phase]);
            let others_compute = match known {
                Known::CpuTime(_) => others.share().is_some_and(|share| share >= LEAST),
                Known::Cycles(_) => !busy[phase],
            };
            let alone = own[phase].share().is_some_and(|share| share < ASLEEP) && others_compute;
            alone || asleep[phase]
        };
        met.iter().for_each(|&phase| marked[phase] = sleeps(phase));
        if met.iter().any(|&phase| marked[phase]) {
            bursts.resize(table.len(), false);
            rows.for_each(|i| bursts[i] = labels[i].is_some_and(|id| marked[id.index()]));
        }
        met.drain(..).for_each(|phase| own[phase] = Sum::default());
    }
    bursts
}

/// Of each phase that is `asked` for, how long any of its bursts lasts; 0 of others.
fn covered(table: &BurstTable, labels: &[Option<ClusterId>], asked: &[bool]) -> Vec<u64> {
    let mut bursts: Vec<Vec<(u64, u64)>> = vec![Vec::new(); asked.len()];
    for (i, label) in labels.iter().enumerate() {
        if let Some(id) = label.filter(|id| asked[id.index()]) {
            bursts[id.index()].push((table.begin[i].0, table.end(i).0));
        }
    }
    bursts.into_par_iter().map(union).collect()
}

/// For how long any of some bursts, with their begins and ends, lasts.
fn union(mut bursts: Vec<(u64, u64)>) -> u64 {
    bursts.sort_unstable();
    let (mut until, mut sum) = (0, 0_u64);
    for (begin, end) in bursts {
        sum = sum.saturating_add(end.saturating_sub(begin.max(until)));
        until = end.max(until);
    }
    sum
}

/// For how long bursts are on no core, where that is known.
#[derive(Clone, Copy, Default)]
struct OffCore {
    sum: f64,
    n: f64,
    longest: f64,
}

impl OffCore {
    fn add(&mut self, duration: f64, cpu: f64) {
        if cpu >= 0.0 {
            let off = (duration - cpu).max(0.0);
            *self = Self { sum: self.sum + off, n: self.n + 1.0, longest: self.longest.max(off) };
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.n.max(1.0)
    }
}

/// Times of bursts.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    cpu: f64,
    /// Of the bursts of which the CPU time is known.
    known: f64,
    pub(super) time: f64,
}

impl Sum {
    pub(super) fn add(&mut self, duration: f64, cpu: f64) {
        self.time += duration;
        if cpu >= 0.0 {
            self.known += duration;
            self.cpu += cpu;
        }
    }

    fn joined(self, other: Self) -> Self {
        let Self { cpu, known, time } = other;
        Self { cpu: self.cpu + cpu, known: self.known + known, time: self.time + time }
    }

    fn less(self, other: Self) -> Self {
        let Self { cpu, known, time } = other;
        Self { cpu: self.cpu - cpu, known: self.known - known, time: self.time - time }
    }

    fn is_empty(&self) -> bool {
        self.time == 0.0
    }

    /// The share of their time that they are on a core, if enough is known.
    pub(super) fn share(&self) -> Option<f64> {
        is_known(self.known, self.time).then(|| self.cpu / self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Counter, Nanos};

    /// Bursts of 100 ns, each with its phase and CPU time.
    fn on_core(name: &str, bursts: &[(usize, f64)]) -> OnCore {
        let counter = Counter { event_type: None, name: name.to_owned(), description: "ns".to_owned() };
        let values = bursts.iter().map(|&(_, cpu)| cpu).collect();
        let table = BurstTable {
            begin: (0..bursts.len() as u64).map(|i| Nanos(100 * i)).collect(),
            duration: vec![Nanos(100); bursts.len()],
            counters: vec![CounterColumn { counter, values }],
            ..BurstTable::default()
        };
        let labels: Vec<_> = bursts.iter().map(|&(phase, _)| Some(ClusterId::from_index(phase))).collect();
        OnCore::of(&table, &labels, 3, None)
    }

    #[test]
    fn who_sleeps_while_others_compute_is_told_apart_from_who_waits_for_a_core() {
        let some = on_core("CPU time", &[(0, 99.0), (0, 97.0), (1, 1.0), (2, 40.0), (2, f64::NAN)]);
        assert_eq!(some.of_phases, [Some(0.98), Some(0.01), Some(0.4)]);
        assert_eq!((some.is_hardly(), &some.asleep[..]), (false, &[false, true, false][..]));
        assert_eq!(some.hardly().map(|(id, _)| id.number()).collect::<Vec<_>>(), [2, 3]);
        // However long it sleeps.
        let long = on_core("CPU time", &[(0, 99.0), (1, 1.0), (1, 0.0), (1, 2.0)]);
        assert_eq!((long.is_hardly(), &long.asleep[..]), (false, &[false, true, false][..]));
        // However much else is not known.
        let half_known = [&[(0, 99.0), (1, 1.0), (1, 2.0)][..], &[(2, f64::NAN); 3]].concat();
        let known = on_core("CPU time", &half_known);
        assert_eq!((known.is_hardly(), &known.asleep[..]), (false, &[false, true, false][..]));
        // Where of nothing else anything is known, nobody is known to compute.
        let alone = on_core("CPU time", &[(1, 1.0), (2, f64::NAN), (2, f64::NAN), (2, f64::NAN)]);
        assert_eq!(&alone.asleep[..], &[false; 3][..]);
        // But where everything sleeps, a short step is no other.
        let short = on_core("CPU time", &[&[(1, 1.0); 120][..], &[(0, 99.0)]].concat());
        assert_eq!((short.is_hardly(), &short.asleep[..]), (true, &[false; 3][..]));
        // Of all phases alike: there are more ranks than cores, or all sleep.
        let all = on_core("CPU time", &[(0, 20.0), (1, 5.0), (2, 25.0)]);
        assert_eq!((all.is_hardly(), &all.asleep[..]), (true, &[false; 3][..]));
    }

    /// "Task 1 computes for 2.00 s while all others wait" was told of one that slept: ranks
    /// shared cores, so the others were on one for less than half of their time.
    #[test]
    fn who_sleeps_where_cores_are_shared_is_told_by_how_long_it_is_off_core() {
        let asleep = |length: u64, cpu: f64| {
            let counter =
                Counter { event_type: None, name: "CPU time".to_owned(), description: "ns".to_owned() };
            let others = (0..30).map(|i| (0, 500 + 10 * i, 200.0 + 4.0 * i as f64));
            let bursts: Vec<(usize, u64, f64)> = others.chain([(1, length, cpu)]).collect();
            let begins = bursts.iter().scan(0, |at, burst| Some(Nanos(std::mem::replace(at, *at + burst.1))));
            let table = BurstTable {
                begin: begins.collect(),
                duration: bursts.iter().map(|burst| Nanos(burst.1)).collect(),
                counters: vec![CounterColumn {
                    counter,
                    values: bursts.iter().map(|burst| burst.2).collect(),
                }],
                ..BurstTable::default()
            };
            let labels: Vec<_> = bursts.iter().map(|burst| Some(ClusterId::from_index(burst.0))).collect();
            let found = OnCore::of(&table, &labels, 2, None);
            assert_eq!(found.of_phases[0], Some(0.4));
            found.asleep[1]
        };
        assert!(asleep(20_000, 10.0));
        // It may wait for a core as long as others do, or have one now and then.
        assert!(!asleep(400, 2.0) && !asleep(20_000, 1_000.0));
    }

    /// Where the first rank sleeps between two calls and the second computes there.
    #[test]
    fn a_thread_that_sleeps_where_others_compute_is_told_by_itself() {
        let counter = Counter { event_type: None, name: "CPU time".to_owned(), description: "ns".to_owned() };
        let table = BurstTable {
            app: vec![1; 6].into(),
            task: vec![1, 1, 1, 2, 2, 2].into(),
            thread: vec![1; 6].into(),
            begin: [0, 200, 400, 0, 200, 400].map(Nanos).to_vec(),
            duration: vec![Nanos(100); 6],
            counters: vec![CounterColumn { counter, values: vec![1.0, 2.0, 90.0, 99.0, 98.0, 90.0].into() }],
            ..BurstTable::default()
        };
        let labels: Vec<_> = [0, 0, 1, 0, 0, 1].map(|phase| Some(ClusterId::from_index(phase))).to_vec();
        let found = OnCore::of(&table, &labels, 2, None);
        assert_eq!(found.asleep, [false; 2]);
        assert_eq!(found.asleep_bursts, [true, true, false, false, false, false]);
    }

    /// 24 bursts at once that share two cores each get 8 % of one: they wait for a core.
    #[test]
    fn who_shares_a_core_does_not_sleep() {
        let counter = Counter { event_type: None, name: "CPU time".to_owned(), description: "ns".to_owned() };
        let table = BurstTable {
            begin: [vec![Nanos(0); 24], vec![Nanos(100); 8]].concat(),
            duration: vec![Nanos(100); 32],
            counters: vec![CounterColumn {
                counter,
                values: [vec![8.0; 24], vec![100.0; 8]].concat().into(),
            }],
            ..BurstTable::default()
        };
        let labels: Vec<_> = (0..32).map(|i| Some(ClusterId::from_index(usize::from(i >= 24)))).collect();
        let found = OnCore::of(&table, &labels, 2, None);
        assert_eq!((&found.of_phases[..], found.asleep), (&[Some(0.08), Some(1.0)][..], vec![false; 2]));
    }

    /// Bursts of 1 ms that begin together: the phase of each, if it is in one, and its cycles per ns.
    fn by_cycles(bursts: &[(Option<usize>, f64)], cores: Option<u32>) -> OnCore {
        let name = "PAPI_TOT_CYC".to_owned();
        let counter = Counter { event_type: None, name, description: String::new() };
        let table = BurstTable {
            app: vec![1; bursts.len()].into(),
            task: (1..=bursts.len() as u32).collect(),
            thread: vec![1; bursts.len()].into(),
            begin: vec![Nanos(0); bursts.len()],
            duration: vec![Nanos(1_000_000); bursts.len()],
            counters: vec![CounterColumn {
                counter,
                values: bursts.iter().map(|burst| (1e6 * burst.1).round()).collect(),
            }],
            ..BurstTable::default()
        };
        let labels: Vec<_> = bursts.iter().map(|burst| burst.0.map(ClusterId::from_index)).collect();
        OnCore::of(&table, &labels, 2, cores)
    }

    /// "Thread 1.1 computes for 291 ms: 73.3% of the run would be won" was told of one that counted
    /// 0.008 cycles per ns, where others have 3.
    #[test]
    fn who_counts_hardly_any_cycles_sleeps() {
        let some =
            by_cycles(&[(Some(0), 3.0), (Some(0), 2.9), (Some(1), 0.02), (None, 0.01), (None, 2.0)], None);
        assert_eq!(some.asleep, [false, true]);
        assert_eq!(some.asleep_bursts, [false, false, true, true, false]);
        let told = some.by_cycles.as_ref().expect("cycles are counted");
        assert!(told.of_phases[1].is_some_and(|share| (share - 0.007).abs() < 0.001), "{told:?}");
        // A slow clock is none that stands: what share of the time it is on a core is not told.
        let slow = by_cycles(&[(Some(0), 3.0), (Some(1), 0.8), (None, 0.8)], None);
        assert_eq!((&slow.asleep[..], slow.asleep_bursts.len()), (&[false, false][..], 0));
        assert_eq!((&slow.of_phases[..], slow.of_all, slow.is_hardly()), (&[None, None][..], None, false));
        // Nobody needs to compute at the clock for that.
        let slow = [(Some(0), 0.008), (Some(1), 0.005), (None, 0.21)];
        assert_eq!(by_cycles(&slow, None).asleep, [true, true]);
        // "Their threads sleep" was told of all bursts of a trace with simulated times.
        let misfit = by_cycles(&slow[..2], None);
        assert_eq!((&misfit.asleep[..], misfit.asleep_bursts.len()), (&[false, false][..], 0));
        assert!(misfit.misfit.is_some() && misfit.by_cycles.is_none(), "{misfit:?}");
        // What is not counted is not known.
        assert_eq!(by_cycles(&[(Some(0), 3.0), (Some(1), f64::NAN)], None).asleep, [false, false]);
        // "Their threads sleep" was told of a task whose counters are all 0: they are lost.
        let lost = by_cycles(&[(Some(0), 3.0), (Some(1), 0.0), (None, 0.0)], None);
        assert_eq!((&lost.asleep[..], lost.asleep_bursts.len()), (&[false, false][..], 0));
    }

    /// "Tasks 1 and 15 take 30.1 ms once, where the others take 525 µs (phase 1)" was told of bursts
    /// of 0.006 cycles per ns, in a phase that computes.
    #[test]
    fn a_burst_of_a_phase_that_computes_may_sleep_alone() {
        let name = "PAPI_TOT_CYC".to_owned();
        let counter = Counter { event_type: None, name, description: String::new() };
        // Of one thread after the other: how long, and its cycles per ns.
        let of = |bursts: &[(u64, f64)]| {
            let begins = bursts.iter().scan(0, |at, burst| Some(Nanos(std::mem::replace(at, *at + burst.0))));
            let table = BurstTable {
                app: vec![1; bursts.len()].into(),
                task: vec![1; bursts.len()].into(),
                thread: vec![1; bursts.len()].into(),
                begin: begins.collect(),
                duration: bursts.iter().map(|burst| Nanos(burst.0)).collect(),
                counters: vec![CounterColumn {
                    counter: counter.clone(),
                    values: bursts.iter().map(|burst| (burst.0 as f64 * burst.1).round()).collect(),
                }],
                ..BurstTable::default()
            };
            OnCore::of(&table, &vec![Some(ClusterId::from_index(0)); bursts.len()], 1, None)
        };
        let ms = 1_000_000;
        let some = of(&[(20 * ms, 3.0), (30 * ms, 0.006), (20 * ms, 2.8), (30 * ms, f64::NAN)]);
        assert_eq!(
            (&some.asleep[..], &some.asleep_bursts[..]),
            (&[false][..], &[false, true, false, false][..])
        );
        // Of a short one its cycles do not tell it, nor of one that is slow.
        let short = of(&[(20 * ms, 3.0), (9_000, 0.006), (20 * ms, 0.4)]);
        assert_eq!(short.asleep_bursts.len(), 0);
    }

    /// 20 bursts at once that get 5 % of the clock each may share a core; not if there are 20.
    #[test]
    fn who_may_share_a_core_does_not_sleep_by_its_cycles() {
        let bursts = [vec![(Some(1), 0.15); 20], vec![(Some(0), 3.0); 8]].concat();
        for cores in [None, Some(1)] {
            let found = by_cycles(&bursts, cores);
            assert_eq!((&found.asleep[..], found.asleep_bursts.len()), (&[false, false][..], 0));
        }
        let found = by_cycles(&bursts, Some(20));
        assert_eq!((&found.asleep[..], found.asleep_bursts[19]), (&[false, true][..], true));
        // So may those of no phase.
        let apart = |cores| {
            let bursts = [vec![(None, 0.15); 20], vec![(Some(0), 3.0); 8]].concat();
            by_cycles(&bursts, cores).asleep_bursts.into_iter().filter(|asleep| *asleep).count()
        };
        assert_eq!((apart(None), apart(Some(20))), (0, 20));
    }

    #[test]
    fn what_is_not_known_is_not_told() {
        assert_eq!(on_core("cycles", &[(0, 1.0)]).of_all, None);
        let few = on_core("CPU time", &[(0, f64::NAN), (0, f64::NAN), (0, 1.0), (1, 100.0)]);
        assert_eq!(few.of_phases, [None, Some(1.0), None]);
    }
}
