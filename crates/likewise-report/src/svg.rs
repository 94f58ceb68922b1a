//! Pictures: from numbers to places, axes, lines and texts, as SVG.

use std::fmt::Write;

use crate::escape;
use likewise::words::short;

/// How many times the middle height the last one may be on a linear scale.
const FAR: f64 = 20.0;

/// A scale, linear or logarithmic.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_log: bool,
}

impl Axis {
    /// For finite `values`: logarithmic if they are positive and span more
    /// than three decades.
    #[must_use]
    pub fn spread(values: &[f64], from: f64, to: f64) -> Self {
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
    #[must_use]
    pub fn heights(heights: &[f64], from: f64, to: f64) -> Self {
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
    #[must_use]
    pub fn grid(values: &[f64], from: f64, to: f64) -> Self {
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
    #[must_use]
    pub fn between(self, from: f64, to: f64, share: f64) -> f64 {
        if self.is_log { from * (to / from).powf(share) } else { from + share * (to - from) }
    }

    /// From one value to another, at places `from` and `to`.
    #[must_use]
    pub fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        // One value: as much room as it is large.
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Self { low, high, from, to, is_log: false }
    }

    /// Whether places go by the logarithm.
    #[must_use]
    pub fn is_log(self) -> bool {
        self.is_log
    }

    /// The place of a value.
    #[must_use]
    pub fn at(self, value: f64) -> f64 {
        let value = if self.is_log { value.log10().max(self.low) } else { value };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// About so many round numbers.
    #[must_use]
    pub fn ticks(self, about: usize) -> Vec<f64> {
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
#[must_use]
pub fn text(x: f64, y: f64, attributes: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escape(text))
}

/// The text of a tick; `anchor` is `start`, `middle` or `end`.
#[must_use]
pub fn tick(x: f64, y: f64, anchor: &str, name: &str) -> String {
    text(x, y, &format!("class=\"tick\" text-anchor=\"{anchor}\""), name)
}

/// A line through points, closed or not.
#[must_use]
pub fn path(class: &str, points: &[(f64, f64)], is_closed: bool) -> String {
    let mut out = format!("<path class=\"{class}\" d=\"M");
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{x:.1} {y:.1}", if i > 0 { "L" } else { "" });
    }
    out.push_str(if is_closed { "Z\"/>" } else { "\"/>" });
    out
}

/// Where the axes of a picture are.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Of the vertical axis.
    pub left: f64,
    /// Where lines across end.
    pub right: f64,
    /// Where lines up end.
    pub top: f64,
    /// Of the horizontal axis.
    pub bottom: f64,
}

impl Frame {
    /// Lines across with their texts.
    #[must_use]
    pub fn across(self, marks: impl Iterator<Item = (f64, String)>) -> String {
        let Self { left, right, .. } = self;
        let mut svg = String::new();
        for (y, name) in marks {
            let _ = write!(svg, "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>");
            svg.push_str(&tick(left - 6.0, y + 4.0, "end", &name));
        }
        svg
    }

    /// Lines up with their texts below.
    #[must_use]
    pub fn up(self, marks: impl Iterator<Item = (f64, String)>) -> String {
        let Self { top, bottom, .. } = self;
        let mut svg = String::new();
        for (x, name) in marks {
            let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {top}V{bottom}\"/>");
            svg.push_str(&tick(x, bottom + 17.0, "middle", &name));
        }
        svg
    }

    /// Names of the axes: the one below at height `y`, the other turned, at the left.
    #[must_use]
    pub fn named(self, y: f64, below: &str, left: &str) -> String {
        let middle = f64::midpoint(self.left, self.right);
        let turn = f64::midpoint(self.top, self.bottom);
        text(middle, y, "class=\"axis\" text-anchor=\"middle\"", below)
            + &text(
                14.0,
                turn,
                &format!("class=\"axis\" text-anchor=\"middle\" transform=\"rotate(-90 14 {turn})\""),
                left,
            )
    }
}

impl Axis {
    /// About so many round numbers, with their places and texts.
    pub fn marks(self, about: usize) -> impl Iterator<Item = (f64, String)> {
        self.ticks(about).into_iter().map(move |value| (self.at(value), short(value)))
    }

    /// Its name, which says where it is logarithmic.
    #[must_use]
    pub fn named(self, name: &str) -> String {
        if self.is_log { format!("{name} (logarithmic)") } else { name.to_owned() }
    }
}

/// At most so many characters.
#[must_use]
pub fn clipped(name: &str, most: usize) -> String {
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
