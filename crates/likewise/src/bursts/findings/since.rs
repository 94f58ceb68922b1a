//! When something is other than in the rest of the run.

use std::ops::Range;

use super::finding::LEAST_APART;

/// A stretch of time has at least so many steps, and at least as many are outside.
pub(super) const FEWEST: usize = 4;

/// Where each step is a round of all threads, so few are enough on one of the two sides.
pub(super) const TWICE: usize = 2;

/// Within the stretch, and within the rest, values may change by at most this share
/// of the difference between both. In values that grow little by little, the
/// change within each half is half of that difference.
const EVEN: f64 = 0.25;

/// Of more steps than this, neighbours are taken together, so that comparing all
/// stretches stays fast. The moment of a change is then known to one in so many
/// parts of the run.
const MOST_STEPS: usize = 1_000;

/// The one stretch of steps in which values are larger than in all others, as
/// a range of their places. `None` where there is none, or more than one, or
/// where values change little by little.
///
/// Values are logarithms of times. The others must be within 3 % of 0.
///
/// # Complexity
/// O(n + m²) for n values, and m of at most 1,000.
pub(super) fn since(values: &[f64]) -> Option<Range<usize>> {
    let place = stretch(values, FEWEST)?;
    let (inside, others) = means_of(values, &place);
    (inside > LEAST_APART && others <= LEAST_APART).then_some(place)
}

/// The same for values of any level, of `fewest` steps at least; it or the rest has four.
pub(super) fn stretch(values: &[f64], fewest: usize) -> Option<Range<usize>> {
    let width = values.len().div_ceil(MOST_STEPS).max(1);
    let means: Vec<f64> =
        values.chunks(width).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect();
    let found = best(&means, LEAST_APART, fewest)?;
    let (inside, others) = means_of(&means, &found);
    let pieces = [&means[found.clone()], &means[..found.start], &means[found.end..]];
    let even = LEAST_APART.max(EVEN * (inside - others));
    let is_one = is_clear(&means, &found)
        && is_apart(&means, &found)
        && pieces.iter().all(|piece| best(piece, even, FEWEST).is_none());
    is_one.then(|| found.start * width..(found.end * width).min(values.len()))
}

/// Whether a stretch has values above half way, and the rest below: nine of ten. Of what comes now
/// and then, no stretch has nearly all and the rest hardly any.
fn is_clear(values: &[f64], found: &Range<usize>) -> bool {
    let (inside, others) = means_of(values, found);
    let half = 0.5 * (inside + others);
    let high = |values: &[f64]| values.iter().filter(|&&value| value > half).count();
    let (within, all) = (high(&values[found.clone()]), high(values));
    let n_others = values.len() - found.len();
    inside > others && 10 * within >= 9 * found.len() && 10 * (all - within) <= n_others
}

/// Of less than four values on one side, the two sides must be two groups, as [`crate::gap`] has them:
/// the mean and the spread of two or three say little.
fn is_apart(values: &[f64], found: &Range<usize>) -> bool {
    if found.len().min(values.len() - found.len()) >= FEWEST {
        return true;
    }
    let inside = values[found.clone()].iter().copied();
    let others = || values[..found.start].iter().chain(&values[found.end..]).copied();
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let apart = least(&mut inside.clone()) - most(&mut others());
    apart > 0.5 * (most(&mut inside.clone()) - least(&mut others()))
}

/// Where values rise to the end, little by little or in several steps: until where they have not
/// risen yet, and from where on they rise no more. `None` where they do not, or also fall, or where
/// one step is all.
///
/// # Complexity
/// O(n + m² log m) for n values, and m of at most 1,000.
pub(super) fn rise(values: &[f64]) -> Option<[usize; 2]> {
    let width = values.len().div_ceil(MOST_STEPS).max(1);
    let means: Vec<f64> =
        values.chunks(width).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect();
    let step = |part: Range<usize>| {
        let values = &means[part.clone()];
        let Some(found) = best(values, LEAST_APART, FEWEST) else { return Ok(None) };
        let (inside, others) = means_of(values, &found);
        if found.end < values.len() || inside < others {
            return Err(());
        }
        // What is not clear is no step, and no fall.
        Ok(is_clear(values, &found).then_some(part.start + found.start))
    };
    let middle = step(0..means.len()).ok()??;
    let (mut first, mut last) = (middle, middle);
    while let Some(earlier) = step(0..first).ok()? {
        first = earlier;
    }
    while let Some(later) = step(last..means.len()).ok()? {
        last = later;
    }
    (first < last).then_some([first * width, last * width])
}

/// The stretch whose mean differs most from that of the other values (by the sum of
/// squares between both); `None` if the means differ by at most `least`, or if
/// chance could make such a difference. It and the rest have `fewest` values or more, and one of them
/// [`FEWEST`].
fn best(values: &[f64], least: f64, fewest: usize) -> Option<Range<usize>> {
    let n = values.len();
    let mut sums = vec![0.0];
    values.iter().for_each(|value| sums.push(sums[sums.len() - 1] + value));
    let mean = sums[n] / n.max(1) as f64;
    let total: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let mut found = (0.0, 0..0);
    let is_end = |at: usize| at == 0 || at == n || (at >= fewest && n - at >= fewest);
    for begin in (0..n).filter(|&begin| is_end(begin)) {
        for end in (begin + fewest..=n).filter(|&end| is_end(end)) {
            let inside = (end - begin) as f64;
            let others = n as f64 - inside;
            let apart = sums[end] - sums[begin] - inside * mean;
            let between = apart * apart * n as f64 / (inside * others);
            let is_enough = others >= fewest as f64 && inside.max(others) >= FEWEST as f64;
            if is_enough && between > found.0 {
                found = (between, begin..end);
            }
        }
    }
    let (between, mut place) = found;
    // The same, where it is what begins or ends the run that is smaller.
    if means_of(values, &place).0 < mean && place.start == 0 {
        place = place.end..n;
    } else if means_of(values, &place).0 < mean && place.end == n {
        place = 0..place.start;
    }
    let (inside, others) = means_of(values, &place);
    let within = (total - between).max(0.0) / n.max(1) as f64;
    // Of the n²/2 stretches the largest square of chance is about 2 ln(n²).
    let is_sure = between > 4.0 * (n as f64).ln() * within;
    (is_sure && (inside - others).abs() > least).then_some(place)
}

/// The mean within a range, and of all others.
pub(super) fn means_of(values: &[f64], place: &Range<usize>) -> (f64, f64) {
    let inside: f64 = values[place.clone()].iter().sum();
    let all: f64 = values.iter().sum();
    let n = place.len() as f64;
    (inside / n, (all - inside) / (values.len() as f64 - n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `n` steps, disturbed by up to 1 %.
    fn steps(n: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let chance = |i: usize| ((i * 7_919 + 13) % 101) as f64 / 5_050.0 - 0.01;
        (0..n).map(|i| value(i) + chance(i)).collect()
    }

    #[test]
    fn a_stretch_has_a_begin_and_an_end() {
        for (begin, end) in [(10, 20), (0, 12), (25, 40), (4, 36), (18, 22)] {
            let values = steps(40, |i| if (begin..end).contains(&i) { 0.26 } else { 0.0 });
            assert_eq!(since(&values), Some(begin..end));
        }
        // Of very many steps, to a thousandth of them.
        let values = steps(5_000, |i| if (1_000..2_500).contains(&i) { 0.26 } else { 0.0 });
        assert_eq!(since(&values), Some(1_000..2_500));
    }

    #[test]
    fn two_or_three_steps_on_one_side_are_enough_if_they_are_a_group_of_their_own() {
        for (n, begin, end) in [(10, 2, 10), (10, 7, 10), (6, 4, 6), (9, 0, 2)] {
            let values = steps(n, |i| if (begin..end).contains(&i) { 0.26 } else { 0.0 });
            assert_eq!(stretch(&values, TWICE), Some(begin..end));
            assert_eq!(stretch(&values, FEWEST), None);
        }
        assert_eq!(stretch(&steps(10, |i| if i == 9 { 0.26 } else { 0.0 }), TWICE), None, "once");
        assert_eq!(stretch(&steps(5, |i| if i > 2 { 0.26 } else { 0.0 }), TWICE), None, "too few");
        let spread = |i: usize| [0.0, 0.03, 0.08, 0.02, 0.05, 0.01, 0.12, 0.15][i];
        assert_eq!(stretch(&steps(8, spread), TWICE), None);
    }

    #[test]
    fn what_comes_now_and_then_makes_no_stretch() {
        for seed in 0..50_u64 {
            let mut state = seed * 0x9e37_79b9 + 1;
            let mut draw = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f64 / (1_u64 << 24) as f64
            };
            let values: Vec<f64> = (0..40).map(|_| if draw() < 0.25 { 0.6 } else { 0.0 }).collect();
            assert_eq!(since(&values), None, "{values:?}");
        }
    }

    #[test]
    fn what_rises_little_by_little_or_in_steps_is_no_stretch() {
        let [first, last] = rise(&steps(60, |i| 0.01 * i as f64)).expect("a rise");
        assert!(first < 15 && last >= 45, "{first} {last}");
        let levels = |i: usize| [0.0, 0.1, 0.35][usize::from(i >= 15) + usize::from(i >= 40)];
        assert_eq!(rise(&steps(60, levels)), Some([15, 40]));
        // One step, none, a rise that ends before the run does, a fall, and now and then.
        assert_eq!(rise(&steps(60, |i| if i > 20 { 0.3 } else { 0.0 })), None);
        assert_eq!(rise(&steps(60, |_| 0.3)), None);
        assert_eq!(rise(&steps(60, |i| if i < 40 { 0.01 * i as f64 } else { 0.0 })), None);
        assert_eq!(rise(&steps(60, |i| -0.01 * i as f64)), None);
        assert_eq!(rise(&steps(60, |i| if i % 4 == 0 { 0.5 } else { 0.0 })), None);
        assert_eq!(rise(&[]), None);
    }

    #[test]
    fn what_is_not_one_stretch_is_not_placed() {
        assert_eq!(since(&steps(40, |_| 0.0)), None);
        assert_eq!(since(&steps(40, |_| 0.3)), None);
        assert_eq!(since(&steps(40, |i| 0.02 * i as f64)), None, "little by little");
        assert_eq!(since(&steps(40, |i| if i % 4 == 0 { 0.5 } else { 0.0 })), None, "now and then");
        let twice = steps(60, |i| if (10..20).contains(&i) || (35..45).contains(&i) { 0.3 } else { 0.0 });
        assert_eq!(since(&twice), None, "twice");
        assert_eq!(since(&steps(40, |i| if i > 20 { 0.3 } else { 0.1 })), None, "slow before, too");
        assert_eq!(since(&[0.0, 0.0, 1.0]), None);
        assert_eq!(since(&[]), None);
    }
}
