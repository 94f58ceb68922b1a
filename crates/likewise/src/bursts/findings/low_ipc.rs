//! Phases that have far fewer instructions per cycle than the rest of the run.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::counted::Counted;
use super::finding::{Finding, FindingKind, LEAST_SHARE, ThreadName};
use crate::bursts::on_core::is_known;
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::{Scope, is_nearly_all};
use crate::table::{Nanos, Values};

/// IPC under this share of the rest of the run's is low. Sound phases of one
/// program differ by up to a factor of two.
const LOW_IPC: f64 = 0.5;

/// What is compared with must have at least this share of all that is computed: the IPC of next to
/// nothing is no measure of what a run can do.
const YARDSTICK: f64 = 0.01;

/// What bursts count in all.
#[derive(Clone, Copy, Default)]
struct Sum {
    instructions: f64,
    cycles: f64,
    time: f64,
    /// Of the bursts that have both counters.
    counted: f64,
}

impl Sum {
    fn joined(self, other: Self) -> Self {
        Self {
            instructions: self.instructions + other.instructions,
            cycles: self.cycles + other.cycles,
            time: self.time + other.time,
            counted: self.counted + other.counted,
        }
    }

    fn less(self, other: Self) -> Self {
        let Self { instructions, cycles, time, counted } = other;
        self.joined(Self { instructions: -instructions, cycles: -cycles, time: -time, counted: -counted })
    }

    /// `None` where half of the time is not counted: few bursts say nothing of the others.
    fn ipc(self) -> Option<f64> {
        let ipc = self.instructions / self.cycles;
        (is_known(self.counted, self.time) && ipc.is_finite()).then_some(ipc)
    }

    /// For what share of its time it runs, if all else runs throughout: a thread that waits in a
    /// burst counts fewer cycles, and no other IPC makes its wait shorter.
    fn running(self, others: Self) -> f64 {
        let share = (self.cycles / self.counted) / (others.cycles / others.counted);
        if share.is_finite() { share.min(1.0) } else { 1.0 }
    }
}

/// Bursts that are judged together: those of a phase, or those of no phase that run the same code.
#[derive(Clone, Default)]
struct Kind {
    /// Those that count, and those that another finding names.
    own: Sum,
    named: Sum,
    /// How many bursts these are.
    bursts: [f64; 2],
    /// The place among the regions of the code, where nearly all of it runs one that has a function.
    code: Option<usize>,
    /// The longest burst that counts and has the counters, the first of equal ones.
    longest: Option<u32>,
}

impl Kind {
    fn whole(&self) -> Sum {
        self.own.joined(self.named)
    }

    /// The time of all its bursts, were those that are named as long as the others.
    fn time(&self) -> f64 {
        let [own, named] = self.bursts;
        if own > 0.0 { self.own.time * (own + named) / own } else { 0.0 }
    }
}

/// Low kinds that run the same code, or a single one.
struct Low {
    kinds: Vec<usize>,
    own: Sum,
    whole: Sum,
}

/// Phases that most threads have, with an IPC far below that of all else. Phases of the same function are
/// one thing, and so are the bursts of no phase in it, where the table tells functions. The bursts that
/// another finding names do not count: they may be slow, and only they. `told` has these findings.
pub(super) fn low_ipc(counted: &Counted<'_>, end: Nanos, told: &[&Finding]) -> Vec<Finding> {
    let counters = &counted.table.counters;
    let [Some(instructions), Some(cycles)] = instructions_and_cycles(counters) else {
        return Vec::new();
    };
    let named = named(counted, told);
    let kinds = kinds(counted, [instructions, cycles].map(|counter| &counters[counter].values), &named);
    let all = kinds.iter().fold(Sum::default(), |all, kind| all.joined(kind.whole()));
    let mut low = low(&kinds, all, counted.noise() as usize);
    let n_threads = counted.names().len();
    let threads = threads(counted, &kinds, &low, &named);
    let mut n_threads_of = threads.into_iter();
    low.retain(|_| n_threads_of.next().is_some_and(|n| n > 0 && 2 * n >= n_threads));
    let rest_of = |low: &[Low]| low.iter().fold(all, |rest, low| rest.less(low.whole));
    let whole = n_threads as f64 * end.0 as f64;
    // What is low and not worth a finding is a part of all else.
    let rest = rest_of(&low);
    let is_worth_it = |finding: Finding| finding.share >= LEAST_SHARE;
    low.retain(|low| finding(counted, &kinds, low, (rest, whole), true).is_some_and(is_worth_it));
    let rest = rest_of(&low);
    if rest.time < YARDSTICK * all.time {
        return Vec::new();
    }
    let among = low.len() > 1;
    low.iter().filter_map(|low| finding(counted, &kinds, low, (rest, whole), among)).collect()
}

/// What is said of some low kinds beside the rest of a run, in which all threads have so much time.
/// `among` says whether there are other findings of that kind.
fn finding(
    counted: &Counted<'_>,
    kinds: &[Kind],
    low: &Low,
    (rest, whole): (Sum, f64),
    among: bool,
) -> Option<Finding> {
    let (ipc, others) = (low.own.ipc()?, rest.ipc()?);
    let of_low = || low.kinds.iter().map(|&kind| &kinds[kind]);
    let longest = of_low().filter_map(|kind| kind.longest);
    let longest = longest.max_by_key(|&burst| (counted.duration(burst), Reverse(counted.begin(burst))))?;
    let less = low.own.running(rest) * (1.0 - ipc / others) / whole;
    let time = of_low().map(Kind::time).sum::<f64>();
    let kind = FindingKind::LowIpc { ipc: low.whole.ipc()?, others, among };
    let worth = (time * less, counted.duration(longest) as f64 * less);
    Some(of_kinds(counted, kind, &low.kinds, worth, counted.begin(longest)))
}

/// When which thread is named in a phase.
type Named = BTreeMap<(u32, u32), Vec<Range<Nanos>>>;

fn named(counted: &Counted<'_>, told: &[&Finding]) -> Named {
    let place = |name: &ThreadName| counted.names().binary_search(name).ok();
    let mut named = Named::new();
    for finding in told {
        let when = finding.from.unwrap_or(Nanos::ZERO)..finding.until.unwrap_or(Nanos(u64::MAX));
        for phase in &finding.phases {
            for thread in finding.threads.iter().filter_map(place) {
                named.entry((phase.index() as u32, thread as u32)).or_default().push(when.clone());
            }
        }
    }
    named
}

fn is_named(counted: &Counted<'_>, named: &Named, burst: u32) -> bool {
    let times = named.get(&(counted.label(burst), counted.thread(burst)));
    times.is_some_and(|times| times.iter().any(|when| when.contains(&counted.begin(burst))))
}

/// The region of a burst, where it has a function.
fn region(counted: &Counted<'_>, burst: u32) -> Option<usize> {
    let regions = &counted.table.code.as_ref()?.regions;
    regions.get(burst as usize).function.map(|_| regions.place(burst as usize))
}

/// The place of a burst's kind: that of its label, or behind these.
fn place(counted: &Counted<'_>, burst: u32) -> usize {
    let label = counted.label(burst);
    match region(counted, burst).filter(|_| label == counted.noise()) {
        Some(region) => counted.n_labels() + region,
        None => label as usize,
    }
}

fn kinds(counted: &Counted<'_>, [instructions, cycles]: [&Values; 2], named: &Named) -> Vec<Kind> {
    let n_regions = counted.table.code.as_ref().map_or(0, |code| code.regions.list().len());
    let mut kinds = vec![Kind::default(); counted.n_labels() + n_regions];
    let mut of_region: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for &burst in &counted.order {
        let place = place(counted, burst);
        let kind = &mut kinds[place];
        let (instructions, cycles) = (instructions.get(burst as usize), cycles.get(burst as usize));
        let time = counted.duration(burst) as f64;
        let is_counted = instructions >= 0.0 && cycles > 0.0;
        let is_named = is_named(counted, named, burst);
        let sum = if is_named { &mut kind.named } else { &mut kind.own };
        *sum = sum.joined(match is_counted {
            true => Sum { instructions, cycles, time, counted: time },
            // These are taken to be like those that have the counters.
            false => Sum { time, ..Sum::default() },
        });
        kind.bursts[usize::from(is_named)] += 1.0;
        let is_longer = |most: u32| counted.duration(burst) > counted.duration(most);
        if is_counted && !is_named && kind.longest.is_none_or(is_longer) {
            kind.longest = Some(burst);
        }
        if let Some(region) = region(counted, burst) {
            *of_region.entry((place, region)).or_insert(0.0) += time;
        }
    }
    for ((place, region), time) in of_region {
        if is_nearly_all(time, kinds[place].whole().time) {
            kinds[place].code = Some(region);
        }
    }
    kinds
}

/// The kinds whose IPC is low beside all others, or whose code is, all kinds of it together; those of
/// one code as one. What has no code and is in no phase (`noise`) is none.
fn low(kinds: &[Kind], all: Sum, noise: usize) -> Vec<Low> {
    let mut codes: BTreeMap<usize, [Sum; 2]> = BTreeMap::new();
    for kind in kinds {
        if let Some(code) = kind.code {
            let [own, whole] = codes.entry(code).or_default();
            (*own, *whole) = (own.joined(kind.own), whole.joined(kind.whole()));
        }
    }
    let is_low =
        |own: Sum, rest: Sum| own.ipc().zip(rest.ipc()).is_some_and(|(ipc, others)| ipc <= LOW_IPC * others);
    let mut found: Vec<Low> = Vec::new();
    for (place, kind) in kinds.iter().enumerate().filter(|&(place, _)| place != noise) {
        let code = kind.code.map(|code| codes[&code]);
        let of_code = code
            .is_some_and(|[own, whole]| is_low(own, all.less(whole)) && is_low(kind.own, all.less(whole)));
        if !of_code && !is_low(kind.own, all.less(kind.whole())) {
            continue;
        }
        let is_same = |low: &&mut Low| kind.code.is_some() && kinds[low.kinds[0]].code == kind.code;
        match found.iter_mut().find(is_same) {
            Some(same) => {
                same.kinds.push(place);
                (same.own, same.whole) = (same.own.joined(kind.own), same.whole.joined(kind.whole()));
            }
            None => found.push(Low { kinds: vec![place], own: kind.own, whole: kind.whole() }),
        }
    }
    // Those with most time first.
    let time = |kind: usize| kinds[kind].whole().time;
    found.iter_mut().for_each(|low| low.kinds.sort_by(|&a, &b| time(b).total_cmp(&time(a)).then(a.cmp(&b))));
    found
}

/// How many threads have bursts that count, of each of `low`.
fn threads(counted: &Counted<'_>, kinds: &[Kind], low: &[Low], named: &Named) -> Vec<usize> {
    let mut of_kind = vec![None; kinds.len()];
    for (place, low) in low.iter().enumerate() {
        low.kinds.iter().for_each(|&kind| of_kind[kind] = Some(place));
    }
    let mut has = vec![vec![false; counted.names().len()]; low.len()];
    for &burst in &counted.order {
        if let Some(low) = of_kind[place(counted, burst)]
            && !is_named(counted, named, burst)
        {
            has[low][counted.thread(burst) as usize] = true;
        }
    }
    has.into_iter().map(|threads| threads.into_iter().filter(|&has| has).count()).collect()
}

/// A finding of kinds that are worth such a share of the run, and their longest burst such a one.
fn of_kinds(
    counted: &Counted<'_>,
    kind: FindingKind,
    kinds: &[usize],
    (share, most): (f64, f64),
    begin: Nanos,
) -> Finding {
    let noise = counted.noise() as usize;
    Finding {
        share,
        most,
        phases: counted.phases(kinds.iter().filter(|&&kind| kind < noise).map(|&kind| kind as u32)),
        noise: kinds.iter().any(|&kind| kind > noise),
        begin,
        ..Finding::of(kind, Scope::Run)
    }
}
