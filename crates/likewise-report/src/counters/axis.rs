//! From numbers to places in a picture.

use crate::escape;

/// How many times the middle height the last one may be on a linear scale.
const FAR: f64 = 20.0;

/// A scale, linear or logarithmic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_log: bool,
}

impl Axis {
    /// For finite `values`: logarithmic if they are positive and span more
    /// than three decades.
    pub(super) fn spread(values: &[f64], from: f64, to: f64) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self::linear(0.0, 1.0, from, to);
        }
        if low > 0.0 && high / low > 1e3 {
            return Self { low: low.log10(), high: high.log10(), from, to, is_log: true };
        }
        let low = if low > 0.0 && low < 0.6 * high { 0.0 } else { low };
        Self::linear(low, high, from, to)
    }

    /// For heights, in ascending order. The scale is logarithmic, with 0 at its
    /// begin, if the last height is so large that the others would lie on one
    /// another.
    pub(super) fn heights(heights: &[f64], from: f64, to: f64) -> Self {
        let last = heights.last().copied().unwrap_or(0.0);
        let middle = heights.get(heights.len() / 2).copied().unwrap_or(0.0);
        let least = heights.iter().copied().find(|&height| height > 0.0).unwrap_or(0.0);
        if last <= FAR * middle.max(least) || least == 0.0 {
            return Self::linear(0.0, last, from, to);
        }
        Self { low: (least / 1.5).log10(), high: last.log10(), from, to, is_log: true }
    }

    /// For measured values, different and ascending. The scale is logarithmic
    /// if the middle value is nearer to the geometric mean of the ends than to
    /// their arithmetic mean.
    pub(super) fn grid(values: &[f64], from: f64, to: f64) -> Self {
        let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
            return Self::linear(0.0, 1.0, from, to);
        };
        let middle = values[values.len() / 2];
        if low > 0.0 && values.len() > 2 && middle < (low * high).sqrt().midpoint(low.midpoint(high)) {
            return Self { low: low.log10(), high: high.log10(), from, to, is_log: true };
        }
        Self::linear(low, high, from, to)
    }

    /// A share of the way from one value to another, as it is drawn.
    pub(super) fn between(self, from: f64, to: f64, share: f64) -> f64 {
        if self.is_log { from * (to / from).powf(share) } else { from + share * (to - from) }
    }

    pub(super) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        // One value: as much room as it is large.
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Self { low, high, from, to, is_log: false }
    }

    pub(super) fn is_log(self) -> bool {
        self.is_log
    }

    pub(super) fn at(self, value: f64) -> f64 {
        let value = if self.is_log { value.log10().max(self.low) } else { value };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// About so many round numbers.
    pub(super) fn ticks(self, about: usize) -> Vec<f64> {
        let span = self.high - self.low;
        let rough = span / about as f64;
        let power = 10f64.powf(rough.log10().floor());
        let round = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= rough * 0.999);
        let step = round.unwrap_or(10.0 * power).max(if self.is_log { 1.0 } else { 0.0 });
        // A span at an end of what doubles hold has no round numbers.
        if !step.is_normal() {
            return vec![self.low, self.high];
        }
        let (first, last) =
            ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        let value = |tick: i64| if self.is_log { 10f64.powf(tick as f64 * step) } else { tick as f64 * step };
        (first..=last).map(value).collect()
    }
}

/// A text element; `text` is anybody's.
pub(super) fn text(x: f64, y: f64, attributes: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escape(text))
}

/// At most so many characters.
pub(super) fn clipped(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_makes_heights_logarithmic() {
        assert!(!Axis::heights(&[0.0, 1.0, 2.0], 0.0, 10.0).is_log());
        let axis = Axis::heights(&[0.0, 1.0, 2.0, 100.0], 0.0, 10.0);
        assert!(axis.is_log());
        assert_eq!((axis.at(0.0), axis.at(100.0)), (0.0, 10.0));
        assert!(axis.at(1.0) > 0.0);
        assert_eq!(Axis::heights(&[0.0, 0.0], 3.0, 10.0).at(0.0), 3.0);
    }

    #[test]
    fn ticks_are_round_and_within() {
        let ticks = Axis::linear(0.0, 5.43, 0.0, 1.0).ticks(6);
        assert_eq!(ticks, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let axis = Axis::spread(&[1.0, 1e6], 0.0, 60.0);
        assert!(axis.is_log());
        assert_eq!(axis.at(1e3).round(), 30.0);
        assert_eq!(axis.ticks(4).len(), 4);
        assert_eq!(Axis::spread(&[7.0, 7.0], 0.0, 10.0).at(7.0), 0.0);
        assert!(Axis::grid(&[1.0, 2.0, 4.0, 8.0, 16.0], 0.0, 60.0).is_log());
        assert!(!Axis::grid(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.0, 60.0).is_log());
        assert_eq!(axis.between(1.0, 100.0, 0.5), 10.0);
        assert!(Axis::spread(&[], 0.0, 10.0).at(0.5).is_finite());
        for high in [5e-324, 1e-310, 3e-308, 1e-300, 1e300, f64::MAX] {
            for axis in [Axis::linear(0.0, high, 0.0, 1.0), Axis::linear(-high, high, 0.0, 1.0)] {
                let ticks = axis.ticks(6);
                assert!(
                    (1..=30).contains(&ticks.len()) && ticks.iter().all(|tick| tick.abs() <= 1.01 * high),
                    "{ticks:?}"
                );
            }
        }
    }
}
