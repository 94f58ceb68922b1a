//! Where iterations begin, and how alike they are.

use super::signal::Signals;

/// Bursts of a phase nearer than this part of the period are one occurrence.
const NEAR: f64 = 0.125;
/// An iteration may be longer or shorter than the lag by at most this share.
const TOLERANCE: f64 = 0.15;
/// An odd iteration may be longer or shorter by at most this share: a burst of one of its
/// phases is noise, and does not count as the others of its phase do.
const TOLERANCE_OF_ODD: f64 = 0.5;
/// At most one begin in so many may be missing, and one iteration unlike the others: the
/// phase is nearly always there. So are threads: one in so many may do the same at other times.
pub(super) const MISSING: usize = 10;
/// From one begin to the next are at most so many lags: where one in ten is missing, three
/// in a row hardly are.
const IN_A_ROW: usize = 3;
/// The last iteration counts as whole if at most this share of it is missing, and
/// it ends with the run if at most this share of an iteration follows.
pub(super) const UNFINISHED: f64 = 0.1;
/// An iteration must correlate at least this much with the others.
pub(super) const LEAST_ALIKE: f64 = 0.5;
/// Iterations that correlate by this with the others, on the average, are nearly equal.
const NEARLY_EQUAL: f64 = 0.9;
/// An end of the run is no iteration if it lacks phases that have this share of an iteration's work.
const LACKED: f64 = 0.2;
/// Parts of an iteration in which work is compared, at most and at least.
const PARTS: (usize, usize) = (64, 8);
/// Numbers that iterations are compared by, in all.
const MOST_NUMBERS: usize = 1 << 18;

/// Fewer iterations repeat nothing.
pub(super) const LEAST_ITERATIONS: usize = 3;

/// Iterations that one phase and one lag lead to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Iterations {
    /// The place of the phase that begins each.
    pub(super) anchor: usize,
    /// Where each begins on the work clock, and where the last ends.
    pub(super) boundaries: Vec<f64>,
    /// Mean correlation of each with the others, 0 to 1.
    pub(super) confidence: f64,
    /// By how much the first and the last fall short of 1 in this.
    pub(super) odd_ends: [f64; 2],
}

impl Iterations {
    pub(super) fn n(&self) -> usize {
        self.boundaries.len() - 1
    }

    pub(super) fn work(&self) -> f64 {
        self.boundaries[self.n()] - self.boundaries[0]
    }

    /// Work of one.
    pub(super) fn period(&self) -> f64 {
        self.work() / self.n() as f64
    }

    /// Share of the run's work, times the share of what happens within an
    /// iteration that the others explain.
    pub(super) fn score(&self, confidence: f64, end: f64) -> f64 {
        self.work() / end * confidence * confidence
    }

    /// How long the parts are in which they were compared.
    pub(super) fn part(&self, signals: &Signals) -> f64 {
        self.period() / parts(self.n(), signals) as f64
    }

    /// How alike they are in parts of about this length, where these are longer than their own.
    pub(super) fn confidence_in(&self, part: f64, signals: &Signals) -> f64 {
        let (own, wanted) = (parts(self.n(), signals), (self.period() / part).round() as usize);
        if wanted >= own {
            return self.confidence;
        }
        let profiles = Profiles::of(&self.boundaries, signals, wanted.max(PARTS.1));
        mean(&profiles.likeness(0..self.n()))
    }
}

/// Where iterations may begin: begins of a phase, about `lag` apart, and where the
/// last ends. `None` if they are too few, or hold less than that share of the work up
/// to `end`. `stretches` are those of [`Stretch::of_bursts`].
///
/// # Complexity
/// O(s log s) for s stretches.
pub(super) fn boundaries(
    stretches: &[Stretch],
    lag: f64,
    (end, least_coverage): (f64, f64),
) -> Option<Vec<f64>> {
    let begins = occurrences(stretches, lag * NEAR);
    let mut boundaries = longest_chain(&begins, lag);
    let n = boundaries.len();
    if n < LEAST_ITERATIONS {
        return None;
    }
    let mean = (boundaries[n - 1] - boundaries[0]) / (n - 1) as f64;
    let rest = end - boundaries[n - 1];
    if rest >= (1.0 - UNFINISHED) * mean {
        let ends_with_run = rest <= (1.0 + UNFINISHED) * mean;
        boundaries.push(if ends_with_run { end } else { boundaries[n - 1] + mean });
    }
    let covered = boundaries[boundaries.len() - 1] - boundaries[0];
    (covered >= least_coverage * end).then_some(boundaries)
}

impl Iterations {
    /// The longest stretch of iterations that are alike, of those between
    /// `boundaries`, which begin with the phase `anchor`; without a start or an end of the run.
    ///
    /// # Complexity
    /// One pass over the cells of the signals.
    pub(super) fn alike(anchor: usize, boundaries: &[f64], signals: &Signals) -> Option<Self> {
        let n = boundaries.len() - 1;
        let profiles = Profiles::of(boundaries, signals, parts(n, signals));
        let all = 0..n;
        let likeness = profiles.likeness(all);
        let (from, to) = without_start_and_end(longest_stretch(&likeness), boundaries, signals);
        if to - from < LEAST_ITERATIONS {
            return None;
        }
        let likeness = profiles.likeness(from..to);
        Some(Self {
            anchor,
            boundaries: boundaries[from..=to].to_vec(),
            confidence: mean(&likeness),
            odd_ends: [0, likeness.len() - 1].map(|end| 1.0 - likeness[end]),
        })
    }
}

/// A stretch of the work clock in which a phase runs on some thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    begin: f64,
    end: f64,
    /// Of all threads.
    work: f64,
}

impl Stretch {
    /// The stretches of bursts that ascend; each is begin and end.
    pub(super) fn of_bursts(bursts: &[(f64, f64)]) -> Vec<Self> {
        joined(bursts.iter().map(|&(begin, end)| Self { begin, end, work: end - begin }), 0.0)
    }
}

/// Stretches with gaps of at most `near` are one.
fn joined(stretches: impl Iterator<Item = Stretch>, near: f64) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for next in stretches {
        match found.last_mut() {
            Some(last) if next.begin - last.end <= near => {
                last.end = last.end.max(next.end);
                last.work += next.work;
            }
            _ => found.push(next),
        }
    }
    found
}

/// Where a phase begins anew: stretches with gaps of at most `near` are one
/// occurrence. Those with less than half the work of a typical one (a task
/// by itself, a stray) are left out.
fn occurrences(stretches: &[Stretch], near: f64) -> Vec<f64> {
    let found = joined(stretches.iter().copied(), near);
    // The work of the occurrence in which a typical unit of work is done.
    let mut works: Vec<f64> = found.iter().map(|o| o.work).collect();
    works.sort_unstable_by(f64::total_cmp);
    let half = works.iter().sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let typical = works.into_iter().find(|work| {
        sum += work;
        sum >= half
    });
    let least = typical.unwrap_or(0.0) / 2.0;
    found.iter().filter(|o| o.work >= least).map(|o| o.begin).collect()
}

/// The longest chain of begins of which each is followed by the one nearest to `lag`
/// later, or else by one up to [`IN_A_ROW`] lags later: of the phase, a burst here and
/// there is noise. What is missing is put in between, unless it is more than one in
/// [`MISSING`]. An iteration in as many may be of an odd length. The first of equally long
/// ones.
fn longest_chain(begins: &[f64], lag: f64) -> Vec<f64> {
    let with_odd = chain(begins, lag, IN_A_ROW, TOLERANCE_OF_ODD);
    let is_odd = |ends: &&[f64]| {
        let lags = (ends[1] - ends[0]) / lag;
        (lags - lags.round().max(1.0)).abs() > TOLERANCE
    };
    let few_odd = with_odd.windows(2).filter(is_odd).count() * MISSING <= with_odd.len();
    let found = if few_odd { with_odd } else { chain(begins, lag, IN_A_ROW, TOLERANCE) };
    let mut whole: Vec<f64> = Vec::with_capacity(found.len());
    for &begin in &found {
        if let Some(&last) = whole.last() {
            let lags = ((begin - last) / lag).round().max(1.0);
            let part = |k: usize| last + (begin - last) * k as f64 / lags;
            whole.extend((1..lags as usize).map(part));
        }
        whole.push(begin);
    }
    if (whole.len() - found.len()) * MISSING > whole.len() { chain(begins, lag, 1, TOLERANCE) } else { whole }
}

/// The longest chain in which each is followed by the one nearest to `lag` later, or to
/// the least multiple of it, up to `most`, where there is one. Where there is none, by the
/// nearest one that the tolerance `of_odd` allows.
fn chain(begins: &[f64], lag: f64, most: usize, of_odd: f64) -> Vec<f64> {
    let n = begins.len();
    let mut next = vec![usize::MAX; n];
    let mut length = vec![0; n];
    // Of the begins, those from there on are not before the one that is wanted.
    let mut after = vec![n; most];
    for i in (0..n).rev() {
        let mut nearest = |times: usize, tolerance: f64| {
            let after = &mut after[times - 1];
            let wanted = begins[i] + times as f64 * lag;
            while *after > 0 && begins[*after - 1] >= wanted {
                *after -= 1;
            }
            let distance = |&j: &usize| (begins[j] - wanted).abs();
            let near = [after.saturating_sub(1), *after].into_iter().filter(|&j| i < j && j < n);
            let nearest = near.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.filter(|j| distance(j) <= tolerance * lag).map(|j| (j, times))
        };
        let found = (1..=most).find_map(|times| nearest(times, TOLERANCE)).or_else(|| nearest(1, of_odd));
        if let Some((j, times)) = found {
            next[i] = j;
            length[i] = length[j] + times;
        }
    }
    let first = (0..n).max_by_key(|&i| (length[i], std::cmp::Reverse(i)));
    std::iter::successors(first, |&i| Some(next[i]).filter(|&j| j != usize::MAX)).map(|i| begins[i]).collect()
}

/// The longest stretch of iterations that are alike, the first of equally long ones. Where
/// they are nearly equal, one between two of them need not be: of one task a burst that is
/// noise makes an iteration unlike the others. But of all no more than one in [`MISSING`].
fn longest_stretch(likeness: &[f64]) -> (usize, usize) {
    let (from, to) = longest_with_odd(likeness, true);
    let alike: Vec<f64> = likeness[from..to].iter().copied().filter(|&r| r >= LEAST_ALIKE).collect();
    let mean = alike.iter().sum::<f64>() / alike.len().max(1) as f64;
    if mean >= NEARLY_EQUAL { (from, to) } else { longest_with_odd(likeness, false) }
}

/// The same, where single odd iterations `may_be` between alike ones, or not.
///
/// # Complexity
/// O(n log n) for n iterations.
fn longest_with_odd(likeness: &[f64], may_be: bool) -> (usize, usize) {
    let is_alike = |i: usize| likeness.get(i).is_some_and(|&r| r >= LEAST_ALIKE);
    let mut best = (0, 0);
    let mut from = 0;
    while from < likeness.len() {
        // No two in a row are odd.
        let may_go_on =
            |&to: &usize| is_alike(to) || (may_be && to > from && is_alike(to - 1) && is_alike(to + 1));
        let to = (from..likeness.len()).find(|to| !may_go_on(to)).unwrap_or(likeness.len());
        let found = few_odd(&(from..to).map(is_alike).collect::<Vec<_>>());
        if found.1 - found.0 > best.1 - best.0 {
            best = (from + found.0, from + found.1);
        }
        from = to + 1;
    }
    best
}

/// The longest part, with both ends alike, of which no more than one in [`MISSING`] is
/// odd: the first of equally long ones.
fn few_odd(alike: &[bool]) -> (usize, usize) {
    // Each place is worth its one, and an odd one takes as many: the worth of an allowed
    // part is not below 0.
    let worth = |before: i64, is_alike: &bool| before + if *is_alike { 1 } else { 1 - MISSING as i64 };
    let sums: Vec<i64> = std::iter::once(0)
        .chain(alike.iter().scan(0, |sum, is_alike| {
            *sum = worth(*sum, is_alike);
            Some(*sum)
        }))
        .collect();
    // Only begins with less before them than all earlier begins can be the first.
    let mut begins: Vec<usize> = Vec::new();
    for begin in (0..alike.len()).filter(|&begin| alike[begin]) {
        if begins.last().is_none_or(|&last| sums[begin] < sums[last]) {
            begins.push(begin);
        }
    }
    let mut best = (0, 0);
    for end in (1..=alike.len()).filter(|&end| alike[end - 1]) {
        let at = begins.partition_point(|&begin| sums[begin] > sums[end]);
        if let Some(&begin) = begins.get(at).filter(|&&begin| begin < end && end - begin > best.1 - best.0) {
            best = (begin, end);
        }
    }
    best
}

/// Of the iterations `from..to` those but the first and the last, where these lack much of what
/// the others do: a start of the program, or an end, that is about as long as an iteration, and
/// may do much of one of its phases.
fn without_start_and_end(
    (from, to): (usize, usize),
    boundaries: &[f64],
    signals: &Signals,
) -> (usize, usize) {
    let work = |phase: usize, k: usize| {
        signals.before(phase, boundaries[k + 1]) - signals.before(phase, boundaries[k])
    };
    let usual = |phase: usize| {
        let mut works: Vec<f64> = (from..to).map(|k| work(phase, k)).collect();
        works.sort_unstable_by(f64::total_cmp);
        crate::median::lower(&works).unwrap_or(0.0)
    };
    let usual: Vec<f64> = (0..signals.n_phases()).map(usual).collect();
    let least = LACKED * usual.iter().sum::<f64>();
    let lacks = |k: usize| {
        let lacked = usual.iter().enumerate().filter(|&(phase, usual)| work(phase, k) < usual / 2.0);
        lacked.map(|(_, usual)| usual).sum::<f64>() >= least
    };
    // An end may lack what is done in every second iteration.
    let inner = from + 1..to.saturating_sub(1).max(from + 1);
    if inner.clone().filter(|&k| lacks(k)).count() * MISSING > inner.len() || inner.is_empty() {
        return (from, to);
    }
    let trimmed = (from + usize::from(lacks(from)), to - usize::from(lacks(to - 1)));
    // Of three there is none to spare.
    if trimmed.1 - trimmed.0 < LEAST_ITERATIONS { (from, to) } else { trimmed }
}

/// In how many parts so many iterations are compared.
fn parts(n: usize, signals: &Signals) -> usize {
    (MOST_NUMBERS / (n * signals.n_phases())).clamp(PARTS.1, PARTS.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// What each iteration does, phase by phase and part by part.
struct Profiles {
    /// Row-major: an iteration each.
    values: Vec<f64>,
    width: usize,
}

impl Profiles {
    /// Parts are equal parts of each iteration's own work. A phase's mean over
    /// the parts is taken off, since that says how much it does and not when:
    /// any long stretch of a random sequence has about as much of each.
    fn of(boundaries: &[f64], signals: &Signals, parts: usize) -> Self {
        let (n, n_phases) = (boundaries.len() - 1, signals.n_phases());
        let mut values = Vec::with_capacity(n * n_phases * parts);
        for ends in boundaries.windows(2) {
            let part = (ends[1] - ends[0]) / parts as f64;
            for phase in 0..n_phases {
                let before = |k: usize| signals.before(phase, ends[0] + k as f64 * part);
                let mean = (before(parts) - before(0)) / parts as f64;
                let mut last = before(0);
                values.extend((1..=parts).map(|k| {
                    let now = before(k);
                    (now - std::mem::replace(&mut last, now) - mean) / part
                }));
            }
        }
        Self { values, width: n_phases * parts }
    }

    /// The correlation of each with the sum of all others among them.
    fn likeness(&self, among: std::ops::Range<usize>) -> Vec<f64> {
        let row = |i: usize| &self.values[i * self.width..(i + 1) * self.width];
        let mut sum = vec![0.0; self.width];
        for i in among.clone() {
            sum.iter_mut().zip(row(i)).for_each(|(sum, x)| *sum += x);
        }
        let correlation = |i: usize| {
            let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
            for (&x, &sum) in row(i).iter().zip(&sum) {
                let y = sum - x;
                xy += x * y;
                xx += x * x;
                yy += y * y;
            }
            let norm = (xx * yy).sqrt();
            if norm > 0.0 { xy / norm } else { 0.0 }
        };
        among.map(correlation).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gaps_part_occurrences_and_strays_are_none() {
        let bursts = [(0.0, 10.0), (1.0, 9.0), (11.0, 15.0), (40.0, 42.0), (70.0, 90.0)];
        let stretches = Stretch::of_bursts(&bursts);
        assert_eq!(stretches.len(), 4);
        assert_eq!(stretches[0], Stretch { begin: 0.0, end: 10.0, work: 18.0 });
        assert_eq!(occurrences(&stretches, 2.0), [0.0, 70.0]);
        assert!(occurrences(&[], 2.0).is_empty());
    }

    #[test]
    fn chains_hop_over_what_is_between() {
        let begins = [0.0, 95.0, 100.0, 150.0, 207.0, 300.0, 500.0, 600.0];
        assert_eq!(longest_chain(&begins, 100.0), [0.0, 100.0, 207.0, 300.0]);
        // Of eleven, one is missing; of three, one is too many.
        let missing: Vec<f64> = (0..11).filter(|&i| i != 4).map(|i| 100.0 * f64::from(i)).collect();
        assert_eq!(longest_chain(&missing, 100.0), (0..11).map(|i| 100.0 * f64::from(i)).collect::<Vec<_>>());
        assert_eq!(longest_chain(&[0.0, 200.0, 300.0], 100.0), [200.0, 300.0]);
        let missing: Vec<f64> =
            (0..31).filter(|i| ![4, 5, 20].contains(i)).map(|i| 100.0 * f64::from(i)).collect();
        assert_eq!(longest_chain(&missing, 100.0), (0..31).map(|i| 100.0 * f64::from(i)).collect::<Vec<_>>());
        // One iteration is longer, as a burst of its other phase is noise; not a third of them.
        let odd = |every: usize| -> Vec<f64> {
            (0..30).map(|i| 100.0 * i as f64 + 30.0 * (i / every) as f64).collect()
        };
        assert_eq!(longest_chain(&odd(15), 100.0).len(), 30);
        assert_eq!(longest_chain(&odd(3), 100.0).len(), 3);
        assert!(longest_chain(&[], 1.0).is_empty());
    }

    #[test]
    fn one_odd_iteration_ends_no_stretch() {
        let of = |odd: &[usize], n: usize| {
            let likeness: Vec<f64> = (0..n).map(|i| if odd.contains(&i) { 0.2 } else { 0.95 }).collect();
            longest_stretch(&likeness)
        };
        assert_eq!(of(&[7], 20), (0, 20));
        assert_eq!(of(&[0, 19], 20), (1, 19));
        // Two in a row do, and more than one in ten.
        assert_eq!(of(&[7, 8], 20), (9, 20));
        assert_eq!(of(&[4, 10, 13], 20), (0, 10));
        // Of iterations that are hardly alike, one that is not ends the stretch.
        let hardly: Vec<f64> = (0..20).map(|i| if i == 7 { 0.2 } else { 0.8 }).collect();
        assert_eq!(longest_stretch(&hardly), (8, 20));
    }

    /// A stranger's run was told as 16 iterations instead of 15: a start that the grouping takes for
    /// the longest phase, and that is about as long as an iteration.
    #[test]
    fn a_start_about_as_long_as_an_iteration_is_none() {
        let begins: Vec<f64> = (0..15).map(|k| 60.0 + 66.0 * f64::from(k)).collect();
        let end = 60.0 + 15.0 * 66.0;
        let each = |from: f64, long: f64| begins.iter().map(move |begin| (begin + from, begin + from + long));
        let longest = std::iter::once((0.0, 60.0)).chain(each(0.0, 43.0)).collect();
        let bursts: Vec<Vec<(f64, f64)>> =
            vec![longest, each(43.0, 12.0).collect(), each(55.0, 11.0).collect()];
        let (signals, _) = Signals::of(&bursts, end, 1 << 14);
        let boundaries: Vec<f64> = std::iter::once(0.0).chain(begins.iter().copied()).chain([end]).collect();
        assert_eq!(without_start_and_end((0, 16), &boundaries, &signals), (1, 16));
        assert_eq!(without_start_and_end((1, 16), &boundaries, &signals), (1, 16));
        assert_eq!(without_start_and_end((0, 3), &boundaries, &signals), (0, 3), "none to spare");
        // The first may lack what every second iteration has.
        let every_second = each(43.0, 23.0).step_by(2).collect();
        let bursts: Vec<Vec<(f64, f64)>> = vec![bursts[0].clone(), every_second];
        let (signals, _) = Signals::of(&bursts, end, 1 << 14);
        assert_eq!(without_start_and_end((1, 16), &boundaries, &signals), (1, 16));
        assert_eq!(without_start_and_end((2, 16), &boundaries, &signals), (2, 16));
    }

    proptest! {
        #[test]
        fn the_longest_stretch_is_that_of_all(odd in prop::collection::vec(0..40usize, 0..12)) {
            let likeness: Vec<f64> = (0..40).map(|i| if odd.contains(&i) { 0.2 } else { 0.95 }).collect();
            let is_allowed = |&(from, to): &(usize, usize)| {
                let part: Vec<bool> = (from..to).map(|i| !odd.contains(&i)).collect();
                let n_odd = part.iter().filter(|alike| !**alike).count();
                part[0] && part[part.len() - 1] && n_odd * MISSING <= part.len()
                    && part.windows(2).all(|pair| pair[0] || pair[1])
            };
            let all = (0..40).flat_map(|from| (from + 1..=40).map(move |to| (from, to)));
            let longest = all.filter(is_allowed).max_by_key(|&(from, to)| (to - from, std::cmp::Reverse(from)));
            prop_assert_eq!(longest_stretch(&likeness), longest.unwrap_or((0, 0)));
        }
    }
}
