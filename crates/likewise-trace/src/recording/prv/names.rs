//! The `.pcf` and `.row` beside a Paraver trace.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use likewise_recording::Recording;

use super::numbers::{STATES, TYPES};
use super::{
    CALLER, CALLER_LINE, COMMUNICATOR, COUNTERS_BEGIN, FUNCTION, FUNCTION_LINE, MAX_CALLERS, ROOT, SENT,
};
use crate::recording::counters::Column;
use crate::recording::spots::Spot;
use crate::trace::Topology;

/// Extrae gives the values below to callers that it cannot name.
const FIRST: u32 = 3;

/// The names that values of events stand for.
#[derive(Default)]
pub(super) struct Tables {
    /// Calls, by event type and value.
    pub(super) calls: BTreeMap<(u32, u32), &'static str>,
    functions: Numbers,
    lines: Numbers,
}

/// Texts with their numbers.
#[derive(Default)]
struct Numbers {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Numbers {
    fn of(&mut self, text: String) -> u32 {
        if let Some(&number) = self.numbers.get(&text) {
            return number;
        }
        let number = FIRST + self.texts.len() as u32;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    fn block(&self, types: impl Iterator<Item = (u32, String)>, fixed: &[&str], out: &mut String) {
        if self.texts.is_empty() {
            return;
        }
        out.push_str("EVENT_TYPE\n");
        for (event_type, label) in types {
            let _ = writeln!(out, "0    {event_type}    {label}");
        }
        out.push_str("VALUES\n");
        for (number, text) in (0..FIRST).zip(fixed) {
            let _ = writeln!(out, "{number}      {text}");
        }
        for (text, number) in self.texts.iter().zip(FIRST..) {
            let _ = writeln!(out, "{number}      {text}");
        }
        out.push_str("\n\n");
    }
}

impl Tables {
    /// The numbers of a spot's function and of its line, or of the call that
    /// tells it apart; 0 if nothing is known of it.
    pub(super) fn numbers(&mut self, spot: &Spot) -> (u32, u32) {
        let function = self.functions.of(spot.location.function.clone());
        let (file, line) = (spot.location.base(), spot.line());
        let line = match (line.is_empty(), spot.call.is_empty()) {
            (true, _) => return (function, 0),
            (_, true) => format!("{} ({file}, {file})", spot.location.line),
            _ => line,
        };
        (function, self.lines.of(line))
    }
}

/// The text of the `.pcf`.
pub(super) fn pcf(tables: &Tables, counters: &[Column]) -> String {
    let mut out = String::from(
        "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\n\
         SPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n\
         DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n",
    );
    for (value, name, _) in STATES {
        let _ = writeln!(out, "{value}    {name}");
    }
    out.push_str("\n\nSTATES_COLOR\n");
    for (value, _, [r, g, b]) in STATES {
        let _ = writeln!(out, "{value}    {{{r},{g},{b}}}");
    }
    out.push_str("\n\n");
    for (event_type, label) in TYPES {
        let mut calls = tables.calls.range((event_type, 0)..(event_type + 1, 0)).peekable();
        if calls.peek().is_some() {
            let _ = writeln!(out, "EVENT_TYPE\n9    {event_type}    {label}\nVALUES");
            for ((_, value), name) in calls {
                let _ = writeln!(out, "{value}      {name}");
            }
            out.push_str("0      Outside MPI\n\n\n");
        }
    }
    let of_collectives = [
        (SENT, "Send Size in MPI Global OP"),
        (ROOT, "Root in MPI Global OP"),
        (COMMUNICATOR, "Communicator in MPI Global OP"),
    ];
    out.push_str("EVENT_TYPE\n");
    for (number, label) in of_collectives {
        let _ = writeln!(out, "1    {number}    {label}");
    }
    out.push_str("\n\n");
    if !counters.is_empty() {
        let _ = writeln!(out, "EVENT_TYPE\n7    {COUNTERS_BEGIN}    Counters begin anew");
        for c in counters {
            let _ = writeln!(out, "7    {}    {}", c.event_type, c.label);
        }
        out.push_str("\n\n");
    }
    let levels = |first: u32, label: &'static str| {
        (0..MAX_CALLERS as u32).map(move |level| (first + level, format!("{label} {}", level + 1)))
    };
    let unknown = ["End", "Unresolved", "_NOT_Found"];
    tables.functions.block(levels(CALLER, "Caller at level"), &unknown, &mut out);
    tables.lines.block(levels(CALLER_LINE, "Caller line at level"), &unknown, &mut out);
    tables.functions.block([(FUNCTION, "User function".to_owned())].into_iter(), &unknown, &mut out);
    tables.lines.block([(FUNCTION_LINE, "User function line".to_owned())].into_iter(), &unknown, &mut out);
    out
}

/// The text of the `.row`.
pub(super) fn row(topology: &Topology, recording: &Recording) -> String {
    let mut nodes: Vec<&str> = Vec::new();
    for meta in recording.ranks() {
        if !nodes.contains(&&*meta.node) {
            nodes.push(&meta.node);
        }
    }
    let name = |node: &str| crate::printable(node.as_bytes(), 100);
    let mut out = String::new();
    let n_cpus: u32 = topology.cpus.iter().sum();
    let _ = writeln!(out, "LEVEL CPU SIZE {n_cpus}");
    for (node, &cpus) in nodes.iter().zip(&topology.cpus) {
        for cpu in 1..=cpus {
            let _ = writeln!(out, "{cpu}.{}", name(node));
        }
    }
    let _ = writeln!(out, "\nLEVEL NODE SIZE {}", nodes.len());
    for node in &nodes {
        let _ = writeln!(out, "{}", name(node));
    }
    let tasks = &topology.apps[0];
    let _ = writeln!(out, "\nLEVEL THREAD SIZE {}", topology.n_threads());
    for (task, number) in tasks.iter().zip(1..) {
        for thread in 1..=task.threads {
            let _ = writeln!(out, "THREAD 1.{number}.{thread}");
        }
    }
    out
}

/// `dd/mm/yyyy at hh:mm` of nanoseconds since 1970 (UTC).
pub(super) fn date(nanos: u64) -> String {
    let minutes = nanos / 60_000_000_000;
    let (days, minute) = (minutes / 1440, minutes % 1440);
    // Days since 1970 as a date: Hinnant's algorithm, from 0000-03-01.
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * m + 2) / 5 + 1;
    let month = if m < 10 { m + 3 } else { m - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{day:02}/{month:02}/{year} at {:02}:{:02}", minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "01/01/1970 at 00:00"),
            (951_782_400, "29/02/2000 at 00:00"),
            (1_795_372_260, "22/11/2026 at 18:31"),
        ] {
            assert_eq!(date(seconds * 1_000_000_000), expected);
        }
    }
}
