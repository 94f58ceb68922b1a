//! Units that the type system keeps apart.

use crate::words::grouped_digits;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A time or a duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);

    /// Sum, or the largest time there is.
    #[must_use]
    pub fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }

    /// Difference, or zero.
    #[must_use]
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// The same in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

impl fmt::Display for Nanos {
    /// Three or four significant digits with the unit that suits: `93.7 µs`;
    /// from 100 s on, minutes and hours: `2 min 13 s`, `3 h 12 min`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        let seconds = self.0.saturating_add(500_000_000) / 1_000_000_000;
        if seconds >= 100 {
            let minutes = seconds.saturating_add(30) / 60;
            return match seconds {
                ..3600 => write!(f, "{} min {} s", seconds / 60, seconds % 60),
                3600..360_000 => write!(f, "{} h {} min", minutes / 60, minutes % 60),
                _ => write!(f, "{} h", minutes / 60),
            };
        }
        let (value, unit) = match self.0 {
            0..1_000 => return write!(f, "{} ns", self.0),
            1_000..1_000_000 => (ns / 1e3, "µs"),
            1_000_000..1_000_000_000 => (ns / 1e6, "ms"),
            _ => (ns / 1e9, "s"),
        };
        let decimals = if value < 10.0 {
            2
        } else if value < 100.0 {
            1
        } else {
            0
        };
        write!(f, "{value:.decimals$} {unit}")
    }
}

/// When something is, for people: as [`Nanos`], but from 100 s on in seconds with their milliseconds.
/// A clock may count from long before the run: then all of it is at `277 h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Nanos);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Nanos(ns)) = self;
        let ms = ns.saturating_add(500_000) / 1_000_000;
        match ms {
            ..100_000 => write!(f, "{}", self.0),
            _ => write!(f, "{}.{:03} s", grouped_digits(ms / 1_000), ms % 1_000),
        }
    }
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a duration: write a number and a unit, such as 5us, 1.5ms or 2s")]
pub struct ParseNanosError(String);

impl FromStr for Nanos {
    type Err = ParseNanosError;

    /// A number with a unit: `ns`, `us` (or `µs`), `ms`, `s`, `m` or `min`, `h`.
    /// Zero needs none.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseNanosError(text.to_owned());
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
        let number: f64 = trimmed[..split].parse().map_err(|_| error())?;
        let scale = match trimmed[split..].trim() {
            "" if number == 0.0 => 1.0,
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            _ => return Err(error()),
        };
        Ok(Nanos((number * scale).round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, Nanos};

    #[test]
    fn reads_durations_with_units() {
        assert_eq!("5us".parse(), Ok(Nanos(5_000)));
        assert_eq!("1.5 ms".parse(), Ok(Nanos(1_500_000)));
        assert_eq!("2s".parse(), Ok(Nanos(2_000_000_000)));
        assert_eq!("0".parse(), Ok(Nanos::ZERO));
        assert!("5".parse::<Nanos>().is_err());
        assert!("five us".parse::<Nanos>().is_err());
        assert!("-5us".parse::<Nanos>().is_err());
    }

    #[test]
    fn shows_the_unit_that_suits() {
        assert_eq!(Nanos(999).to_string(), "999 ns");
        assert_eq!(Nanos(93_731).to_string(), "93.7 µs");
        assert_eq!(Nanos(1_234_567_890).to_string(), "1.23 s");
        let seconds = |n: u64| Nanos(n * 1_000_000_000).to_string();
        assert_eq!(["99.0 s", "1 min 40 s", "59 min 59 s"], [99, 100, 3599].map(seconds));
        assert_eq!(["1 h 0 min", "3 h 13 min", "100 h"], [3600, 11_555, 360_000].map(seconds));
        assert_eq!(Nanos(99_499_999_999).to_string(), "99.5 s");
    }

    #[test]
    fn moments_of_a_run_are_told_apart_whenever_its_clock_began() {
        let at = |ns: u64| Moment(Nanos(ns)).to_string();
        assert_eq!(["32.0 ms", "99.5 s"], [32_000_000, 99_499_999_999].map(at));
        assert_eq!(at(100_000_000_000), "100.000 s");
        assert_eq!(at(1_000_000_032_499_999), "1,000,000.032 s");
        assert_eq!(at(u64::MAX), "18,446,744,073.709 s");
    }
}
