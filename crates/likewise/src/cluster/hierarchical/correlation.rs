//! One minus the correlation of two profiles: 0 to 2.

use std::borrow::Cow;

use super::Dissimilarity;
use super::profiles::{Profiles, ProfilesError};
use crate::simd::LANES;

/// The profiles as [`Block`](super::tiles::Block) takes them.
///
/// Of profiles centred and scaled to length 1, 1 − r is half the squared
/// distance, which is never negative and exactly 0 for equal ones. With no
/// value missing that scaling is done once, else for each pair, on the columns
/// that both have.
pub(super) fn comparable(profiles: &Profiles, how: Dissimilarity) -> Cow<'_, Profiles> {
    if how == Dissimilarity::Correlation && !profiles.has_missing() {
        Cow::Owned(profiles.map_rows(standardise))
    } else {
        Cow::Borrowed(profiles)
    }
}

/// Why two profiles have no correlation.
pub(super) fn undefined(profiles: &Profiles, a: usize, b: usize) -> ProfilesError {
    let mut own = common(profiles.row(a), profiles.row(b)).map(|(x, _)| x);
    let first = own.next();
    let (profile, other) = if own.all(|x| Some(x) == first) { (a, b) } else { (b, a) };
    ProfilesError::Constant { profile, other }
}

/// Space for the values that two profiles have in common.
pub(super) type Scratch = (Vec<f64>, Vec<f64>);

/// 1 − r of two profiles; NaN where one does not vary.
pub(super) fn pair(a: &[f64], b: &[f64], (x, y): &mut Scratch) -> f64 {
    x.clear();
    y.clear();
    for (a, b) in common(a, b) {
        x.push(a);
        y.push(b);
    }
    standardise(x);
    standardise(y);
    x.iter_mut().zip(y).for_each(|(x, y)| *x -= *y);
    at_most_two(sum_of(x, |t| t * t) / 2.0)
}

/// The values that both have.
fn common<'a>(a: &'a [f64], b: &'a [f64]) -> impl Iterator<Item = (f64, f64)> {
    a.iter().copied().zip(b.iter().copied()).filter(|(x, y)| !x.is_nan() && !y.is_nan())
}

/// Centres values and gives them length 1; NaN where they do not vary.
fn standardise(values: &mut [f64]) {
    if values.iter().all(|x| *x == values[0]) {
        return values.fill(f64::NAN);
    }
    let mean = sum_of(values, |x| x) / values.len() as f64;
    values.iter_mut().for_each(|x| *x -= mean);
    let length = sum_of(values, |x| x * x).sqrt();
    values.iter_mut().for_each(|x| *x /= length);
}

/// What rounding lifts above 2 is 2; NaN stays.
#[inline(always)]
pub(super) fn at_most_two(x: f64) -> f64 {
    if x > 2.0 { 2.0 } else { x }
}

/// Summed in lanes, so that additions need not wait for one another.
fn sum_of(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, &x)| *lane += of(x));
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, &x)| *lane += of(x));
    lanes.iter().sum()
}
