//! Long bursts that are compared with others of the same thread, where no other thread does the
//! step, or too few stretches have it.

use std::collections::BTreeMap;

use super::finding::{FEWEST, LEAST_APART};
use super::one_offs::limit;
use super::place::in_place_of;
use super::stretches::{Part, Stretches};
use crate::bursts::rates::instructions_and_cycles;
use crate::bursts::serial::is_nearly_all;
use crate::median;
use crate::table::{BurstTable, Values};

/// Bursts of other units are as long where they take this share of the time beyond the usual: they are
/// nearer to it than to the usual.
const OTHERS_TOO: f64 = 0.5;

/// Bursts that take far longer than their thread usually does.
pub(super) struct Stall {
    pub(super) label: u32,
    /// How many they are.
    pub(super) bursts: u64,
    /// How long others take: the thread itself, if it is the only one.
    pub(super) others: f64,
    /// By how much the stretch would be shorter.
    pub(super) won: f64,
    /// How much longer they take in all, and how many more instructions they have.
    pub(super) more: [f64; 2],
}

/// Whether the longest burst of the slowest unit takes `least` more than its thread usually does:
/// far more than its bursts of the phase usually differ, and hardly any of them so. A burst of no
/// phase is compared with those of the phase in whose place it stands. `of_phase` has the bursts of
/// a phase.
///
/// Where the thread is the only one, or has too few bursts of the phase and is compared with the
/// others of the step, it must have the same instructions: with more, it does something else. The
/// others must then take less than a tenth of it, or the step is uneven. So it is where others have
/// bursts as long in the same stretch.
pub(super) fn stall<'b>(
    stretches: &Stretches<'_>,
    part: &Part,
    least: f64,
    of_phase: impl Fn(u32) -> &'b [u32],
) -> Option<Stall> {
    let all = stretches.all;
    let is_only = stretches.n_units() == 1;
    let duration = all.duration(part.longest) as f64;
    if part.most.min(duration) < least {
        return None;
    }
    let ahead = if is_only { f64::INFINITY } else { ahead(stretches, part) };
    let own_label = all.label(part.longest);
    let (label, others) = match is_only {
        true if own_label == all.noise() => (in_own_place(stretches, part.longest, least, &of_phase)?, 0.0),
        true => (own_label, 0.0),
        false => in_place_of(stretches, part, &[part.unit])?,
    };
    if ahead < least || label == all.noise() {
        return None;
    }
    let is_own = |&burst: &u32| all.thread(burst) == all.thread(part.longest);
    let mut usually: Vec<u32> = of_phase(label).iter().copied().filter(is_own).collect();
    let is_beside = usually.len() < FEWEST && !is_only;
    if is_beside {
        let is_other = |&burst: &u32| stretches.unit(burst) != part.unit && all.label(burst) == label;
        usually = stretches.of_stretch(part.stretch).iter().copied().filter(is_other).collect();
    }
    let usual = Usual::of(stretches, &usually, least)?;
    let more = usual.longer(part.longest)?;
    if is_only || is_beside {
        usual.same_work(part.longest)?;
    }
    // A thread that is always slow takes longer than the others here too.
    if is_beside && !is_nearly_all(more, duration) {
        return None;
    }
    if is_only {
        return Some(Stall { label, bursts: 1, others: usual.time, won: more, more: [more, 0.0] });
    }
    let mut by_unit = long_by_unit(stretches, part, (label, own_label), &usual);
    let (mut bursts, mut told, _) = by_unit.remove(&part.unit)?;
    // Where others have such bursts, too, that is how the step is.
    let is_as_long =
        |(_, [time, _], longest): &Long| *time >= OTHERS_TOO * told[0] || *longest >= OTHERS_TOO * more;
    if by_unit.values().any(is_as_long) {
        return None;
    }
    // One that is most of it is told alone.
    if more >= 0.5 * told[0] {
        (bursts, told) = (1, [more, usual.more_work(part.longest)]);
    }
    let next = by_unit.into_values().map(|(_, [time, _], _)| time).fold(0.0, f64::max);
    let won = (told[0] - next).min(ahead);
    (won >= least).then_some(Stall { label, bursts, others, won, more: told })
}

/// How many bursts of a unit are too long, how much longer and with how many more instructions in
/// all, and how much longer the longest.
type Long = (u64, [f64; 2], f64);

/// Of each unit its bursts of some labels (and of no phase, where these are in the step) that are
/// longer than usual.
fn long_by_unit(
    stretches: &Stretches<'_>,
    part: &Part,
    (label, own): (u32, u32),
    usual: &Usual<'_>,
) -> BTreeMap<u32, Long> {
    let all = stretches.all;
    let is_like = |burst: &u32| {
        let other = all.label(*burst);
        other == label || (part.labels.contains(&other) && [own, all.noise()].contains(&other))
    };
    let mut by_unit: BTreeMap<u32, Long> = BTreeMap::new();
    for burst in stretches.of_stretch(part.stretch).iter().copied().filter(is_like) {
        let Some(longer) = usual.longer(burst) else { continue };
        let (bursts, [time, work], longest) = by_unit.entry(stretches.unit(burst)).or_default();
        (*bursts, *time, *work) = (*bursts + 1, *time + longer, *work + usual.more_work(burst));
        *longest = longest.max(longer);
    }
    by_unit
}

/// Whether the longest burst of units that are late in a part tells that they are late once. Where it
/// stands in the place of another phase than its own, they may just as well be slow always, and their
/// bursts be of other phases for it. Then the others must take less than a tenth of it, or it must be
/// far longer than its thread's bursts of that phase usually are.
pub(super) fn is_once<'b>(
    stretches: &Stretches<'_>,
    part: &Part,
    units: &[u32],
    least: f64,
    of_phase: impl Fn(u32) -> &'b [u32],
) -> bool {
    let all = stretches.all;
    let duration = all.duration(part.longest) as f64;
    let Some((label, others)) = in_place_of(stretches, part, units) else { return true };
    let is_in_place = label == all.label(part.longest) && label != all.noise();
    if is_in_place || 2.0 * duration < part.own || is_nearly_all(duration - others, duration) {
        return true;
    }
    if label == all.noise() {
        return false;
    }
    let is_own = |&burst: &u32| all.thread(burst) == all.thread(part.longest);
    let own: Vec<u32> = of_phase(label).iter().copied().filter(is_own).collect();
    own.len() >= FEWEST
        && Usual::of(stretches, &own, least).is_some_and(|usual| usual.longer(part.longest).is_some())
}

/// In a run of one thread, the phase in whose place a burst of no phase stands: it has the same
/// instructions and stands between the same two phases as some of its bursts. Of several the one
/// whose bursts are nearest to it. None where it takes as long as those of one usually do: the
/// grouping missed it, and nothing happened once.
fn in_own_place<'b>(
    stretches: &Stretches<'_>,
    burst: u32,
    least: f64,
    of_phase: &impl Fn(u32) -> &'b [u32],
) -> Option<u32> {
    let all = stretches.all;
    if all.duration(burst) < all.grouped_from.0 {
        return None;
    }
    let around = |three: &&[u32]| [all.label(three[0]), all.label(three[2])];
    let threes = || stretches.order().windows(3);
    let own = around(&threes().find(|three| three[1] == burst)?);
    let mut labels: Vec<u32> =
        threes().filter(|three| around(three) == own).map(|three| all.label(three[1])).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut found: Vec<(f64, u32)> = Vec::new();
    for label in labels.into_iter().filter(|&label| label != all.noise() && of_phase(label).len() >= FEWEST) {
        let usual = Usual::of(stretches, of_phase(label), least)?;
        if usual.same_work(burst).is_some() {
            found.push((usual.longer(burst)?, label));
        }
    }
    found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, label)| label)
}

/// What bursts of a phase usually are, and from what on one is longer.
struct Usual<'a> {
    table: &'a BurstTable,
    instructions: Option<&'a Values>,
    time: f64,
    work: f64,
    limit: f64,
}

impl<'a> Usual<'a> {
    fn of(stretches: &Stretches<'a>, bursts: &[u32], least: f64) -> Option<Self> {
        let table = stretches.all.table;
        let instructions = instructions_and_cycles(&table.counters)[0];
        let instructions = instructions.map(|counter| &table.counters[counter].values);
        let middle = |of: &dyn Fn(usize) -> f64| {
            median::upper(&median::sorted(bursts.iter().map(|&burst| of(burst as usize))))
        };
        let time = |burst: usize| table.duration[burst].0 as f64;
        let usual = middle(&time)?;
        let mut apart: Vec<f64> = bursts.iter().map(|&burst| (time(burst as usize) - usual).abs()).collect();
        let work = instructions.and_then(|values| middle(&|burst| values.get(burst)));
        let limit = limit(&mut apart, least);
        Some(Self { table, instructions, time: usual, work: work.unwrap_or(f64::NAN), limit })
    }

    /// How much longer than usual a burst takes, if it is far more than they differ.
    fn longer(&self, burst: u32) -> Option<f64> {
        let more = self.table.duration[burst as usize].0 as f64 - self.time;
        (more >= self.limit).then_some(more)
    }

    fn instructions(&self, burst: u32) -> f64 {
        self.instructions.map_or(f64::NAN, |values| values.get(burst as usize))
    }

    /// Nothing, if a burst has not as many instructions as usual. A count that is unknown is not
    /// the same.
    fn same_work(&self, burst: u32) -> Option<()> {
        ((self.instructions(burst) / self.work).ln().abs() <= LEAST_APART).then_some(())
    }

    /// How many more instructions than usual a burst has; 0 where that is not known.
    fn more_work(&self, burst: u32) -> f64 {
        let more = self.instructions(burst) - self.work;
        if more.is_finite() { more } else { 0.0 }
    }
}

/// By how much the slowest unit of a stretch computes longer than the next.
fn ahead(stretches: &Stretches<'_>, part: &Part) -> f64 {
    let mut times = vec![0.0; stretches.n_units()];
    for &burst in stretches.of_stretch(part.stretch) {
        times[stretches.unit(burst) as usize] += stretches.all.duration(burst) as f64;
    }
    times[part.unit as usize] = 0.0;
    part.most - times.into_iter().fold(0.0, f64::max)
}
