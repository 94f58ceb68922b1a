//! What a response is measured in.

/// What the response is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
    /// It is no time
    None,
}

/// How units of time are written, in small letters and with u for µ. `min` and `m` are none of
/// them: in names of columns they are the least and the mean.
const SPELLINGS: [(Unit, &[&str]); 4] = [
    (Unit::S, &["s", "sec", "secs", "second", "seconds"]),
    (
        Unit::Ms,
        &["ms", "msec", "msecs", "milli", "millis", "millisec", "millisecs", "millisecond", "milliseconds"],
    ),
    (
        Unit::Us,
        &["us", "usec", "usecs", "micro", "micros", "microsec", "microsecs", "microsecond", "microseconds"],
    ),
    (Unit::Ns, &["ns", "nsec", "nsecs", "nano", "nanos", "nanosec", "nanosecs", "nanosecond", "nanoseconds"]),
];

impl Unit {
    /// What a word of a column's name says: `t_us`, `t [usec]`, `time_us_avg`, `t (µs)`. Words are
    /// runs of letters. Of several units it is the last. What is per unit of time (`MB/s`,
    /// `calls_per_us`) is no time. `None` if no word is a unit.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase().replace(['µ', 'μ'], "u");
        let words: Vec<&str> = name.split_inclusive(|c: char| !c.is_alphabetic()).collect();
        let letters = |at: usize| words[at].trim_end_matches(|c: char| !c.is_alphabetic());
        let at = (0..words.len()).rev().find(|&at| Self::spelt(letters(at)).is_some())?;
        let is_divided =
            words[..at].iter().rev().find(|part| !part.trim().is_empty()).is_some_and(|before| {
                before.trim_end().ends_with('/')
                    || before.trim_end_matches(|c: char| !c.is_alphabetic()) == "per"
            });
        if is_divided { Some(Self::None) } else { Self::spelt(letters(at)) }
    }

    fn spelt(word: &str) -> Option<Self> {
        SPELLINGS.iter().find(|(_, spellings)| spellings.contains(&word)).map(|(unit, _)| *unit)
    }

    /// ` in ms`
    pub fn told(self) -> &'static str {
        match self {
            Unit::S => " in s",
            Unit::Ms => " in ms",
            Unit::Us => " in µs",
            Unit::Ns => " in ns",
            Unit::None => "",
        }
    }

    /// Seconds in one; 1 where it is no time.
    pub(super) fn seconds(self) -> f64 {
        match self {
            Unit::S | Unit::None => 1.0,
            Unit::Ms => 1e-3,
            Unit::Us => 1e-6,
            Unit::Ns => 1e-9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_from_names() {
        let all = |unit: Unit, names: &[&str]| {
            for name in names {
                assert_eq!(Unit::of_name(name), Some(unit), "{name}");
            }
        };
        all(Unit::Ns, &["mean_ns", "t (ns)", "duration_nsec", "nanos", "ns/op", "time.nanoseconds"]);
        all(
            Unit::Us,
            &["bcast_us", "t [µs]", "t[μs]", "t[usec]", "t_avg[usec]", "time (usec)", "time_usecs"],
        );
        all(
            Unit::Us,
            &["t_micros", "time_us_avg", "t_us_median", "Avg Latency(us)", "Microseconds", "t_us_2"],
        );
        all(Unit::Ms, &["t(MS)", "elapsed_msec", "millis"]);
        all(Unit::S, &["t (s)", "seconds", "time_sec", "wall secs", "t_s"]);
        // The last of several.
        all(Unit::Ms, &["us_east_ms"]);
        all(Unit::None, &["bandwidth (MB/s)", "calls_per_us", "GB / sec", "msgs per second"]);
    }

    #[test]
    fn words_that_only_end_like_units_are_none() {
        for name in ["columns", "bytes (columns)", "time", "t_min", "status", "bus", "items", "t", ""] {
            assert_eq!(Unit::of_name(name), None, "{name}");
        }
    }
}
