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
    /// Not a time, or one that is not written in these units.
    None,
}

/// How units of time are written, in small letters and with u for µ. `min` and `m` are none of
/// them: in names of columns they are the least and the mean.
const SPELLINGS: [(Unit, &[&str]); 5] = [
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
    // Shown as they are.
    (Unit::None, &["minute", "minutes", "mins", "hour", "hours", "hrs", "day", "days"]),
];

/// Words that are also something else (`second_run`, `micro_kernel`): units only at the end.
const AT_END: [&str; 6] = ["s", "second", "micro", "milli", "nano", "day"];

/// What is measured in units of time: divided by one (`t/ms`), it is in this unit.
const TIMES: [&str; 9] =
    ["t", "time", "times", "latency", "duration", "elapsed", "wall", "walltime", "runtime"];

/// What comes in numbers: `flop s-1` and `GB s` are rates.
const AMOUNTS: [&str; 14] =
    ["b", "kb", "mb", "gb", "kib", "mib", "gib", "byte", "bytes", "flop", "flops", "gflop", "gflops", "ops"];

impl Unit {
    /// What a word of a column's name says: `t_us`, `t [usec]`, `time_us_avg`, `t (µs)`,
    /// `wallTimeMs`. Words are runs of letters. Of several units it is the last. What is per unit
    /// of time (`MB/s`, `calls_per_us`) is no time. `None` if no word is a unit.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = in_words(name);
        let words: Vec<&str> = name.split_inclusive(|c: char| !c.is_alphabetic()).collect();
        let at = (0..words.len()).rev().find(|&at| is_unit(&words, at))?;
        let before = words[..at].iter().rev().find(|part| !part.trim().is_empty()).copied().unwrap_or("");
        let word = words[..at].iter().rev().map(|part| letters(part)).find(|word| !word.is_empty());
        let word = word.unwrap_or("");
        let is_divided = before.trim_end().ends_with('/') && !TIMES.contains(&word);
        let is_rate = is_divided || word == "per" || AMOUNTS.contains(&word);
        if is_rate { Some(Self::None) } else { Self::spelt(letters(words[at])) }
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

/// A name in small letters and with u for µ, its words apart: a capital behind a small letter
/// begins one.
fn in_words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut was_small = false;
    for c in name.chars() {
        if was_small && c.is_uppercase() {
            words.push('_');
        }
        was_small = c.is_lowercase();
        words.extend(c.to_lowercase());
    }
    words.replace(['µ', 'μ'], "u")
}

fn letters(word: &str) -> &str {
    word.trim_end_matches(|c: char| !c.is_alphabetic())
}

/// Whether a word is a unit where it stands. At the begin of a name it is only one where the
/// name is no more, or it is divided (`ns/op`): `us_east_time`. The `s` of `rank(s)` is a plural.
fn is_unit(words: &[&str], at: usize) -> bool {
    let word = letters(words[at]);
    if Unit::spelt(word).is_none() {
        return false;
    }
    let has_more = words[at + 1..].iter().any(|word| !letters(word).is_empty());
    let is_divided = words[at].trim_end().ends_with('/');
    if (at == 0 && has_more && !is_divided)
        || (AT_END.contains(&word) && (has_more || words[at].ends_with(|c: char| c.is_ascii_digit())))
    {
        return false;
    }
    let before = at.checked_sub(1).map_or("", |before| words[before]);
    word != "s" || !before.ends_with('(') || letters(before).is_empty() || TIMES.contains(&letters(before))
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
        all(Unit::None, &["bandwidth (MB/s)", "calls_per_us", "GB / sec", "msgs per second", "bw_GB_s"]);
        // Divided by a unit it is in this unit; words begin with capitals, too.
        all(Unit::Us, &["t/us", "time / µs"]);
        all(Unit::Ms, &["wallTimeMs", "time/ms", "time_ms_s1"]);
        // Other units of time are shown as they are.
        all(Unit::None, &["elapsed_minutes", "hours"]);
    }

    #[test]
    fn words_that_only_end_like_units_are_none() {
        for name in ["rank(s)", "us_east_time", "ns_solver", "second_run", "time_micro_kernel", "t_s64"] {
            assert_eq!(Unit::of_name(name), None, "{name}");
        }
        for name in ["columns", "bytes (columns)", "time", "t_min", "status", "bus", "items", "t", ""] {
            assert_eq!(Unit::of_name(name), None, "{name}");
        }
    }
}
