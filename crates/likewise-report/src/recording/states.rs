//! The states of the run over time.

use super::RecordingReport;
use crate::escape;
use crate::svg::{Axis, Frame};
use crate::table;
use likewise::table::Nanos;
use likewise::words::{counted, grouped_digits, percent};
use likewise_recording::{Log, State};
use std::fmt::Write;

const WIDTH: f64 = 1120.0;
const HEIGHT: f64 = 92.0;
const LEFT: f64 = 26.0;
const RIGHT: f64 = 1088.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 62.0;
/// Of more stretches than this, those within one of as many equal times are
/// drawn as the one that takes most of it.
const MOST_STRETCHES: usize = 1_000;
/// Clusterings with a line of their own.
const MOST_LINES: usize = 300;

pub(super) const STATES: [State; 4] = [State::AllTracing, State::Clustering, State::Lead, State::Final];

/// The class that gives a state its colour.
pub(super) fn mark(state: State) -> String {
    let at = STATES.iter().position(|known| *known == state).unwrap_or(0);
    format!("s{}", at + 1)
}

fn told(state: State) -> &'static str {
    match state {
        State::AllTracing => "all ranks record",
        State::Clustering => "leads are chosen, and all ranks record",
        State::Lead => "only leads record",
        State::Final => "the end",
    }
}

/// A stretch of the run in one state, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    state: State,
    markers: u64,
    from: u64,
    to: u64,
}

/// Each state holds from its first marker to the first of the next.
fn stretches(log: &Log, end: Nanos) -> Vec<Stretch> {
    let ends = log.states.iter().skip(1).map(|(_, _, at)| *at).chain([end.0]);
    let one = |(&(state, markers, from), to): (&(State, u64, u64), u64)| Stretch {
        state,
        markers,
        from: from.min(end.0),
        to: to.clamp(from.min(end.0), end.0),
    };
    log.states.iter().zip(ends).map(one).collect()
}

/// As many as can be seen.
fn drawn(all: Vec<Stretch>, end: Nanos) -> Vec<Stretch> {
    if all.len() <= MOST_STRETCHES {
        return all;
    }
    let mut out: Vec<Stretch> = Vec::new();
    let mut at = 0;
    for cell in 0..MOST_STRETCHES as u64 {
        let edge = |cell: u64| (u128::from(end.0) * u128::from(cell) / MOST_STRETCHES as u128) as u64;
        let (from, to) = (edge(cell), edge(cell + 1));
        let mut shares = [(0_u64, 0_u64); STATES.len()];
        while let Some(stretch) = all.get(at).filter(|stretch| stretch.from < to) {
            let share = &mut shares[STATES.iter().position(|s| *s == stretch.state).unwrap_or(0)];
            share.0 += stretch.to.min(to).saturating_sub(stretch.from.max(from));
            share.1 += stretch.markers;
            if stretch.to > to {
                break;
            }
            at += 1;
        }
        let Some((place, most)) = shares.iter().enumerate().max_by_key(|(_, (time, _))| *time) else {
            continue;
        };
        if most.0 == 0 {
            continue;
        }
        match out.last_mut().filter(|last| last.state == STATES[place] && last.to == from) {
            Some(last) => {
                last.to = to;
                last.markers += most.1;
            }
            None => out.push(Stretch { state: STATES[place], markers: most.1, from, to }),
        }
    }
    out
}

/// The band, with a line for each clustering.
pub(super) fn band(report: &RecordingReport, log: &Log) -> String {
    let all = stretches(log, report.end);
    let n = all.len();
    let x = Axis::linear(0.0, report.end.0.max(1) as f64, LEFT, RIGHT);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"States of the run over time\">\
         <rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        RIGHT - LEFT,
        BOTTOM - TOP
    );
    for stretch in drawn(all, report.end) {
        let (from, to) = (x.at(stretch.from as f64), x.at(stretch.to as f64));
        let title = format!(
            "{}: {}, from {} to {}",
            stretch.state.word(),
            counted(stretch.markers, "marker"),
            Nanos(stretch.from),
            Nanos(stretch.to)
        );
        let _ = write!(
            svg,
            "<rect class=\"state {mark}\" data-phase=\"{mark}\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" \
             height=\"{:.1}\"><title>{}</title></rect>",
            // One marker among thousands can still be seen.
            (to - from).max(1.5),
            BOTTOM - TOP,
            escape(&title),
            mark = mark(stretch.state),
        );
    }
    for clustering in log.clusterings.iter().take(MOST_LINES) {
        let at = x.at(clustering.at.min(report.end.0) as f64);
        let title = format!(
            "Clustering at marker {}: {}",
            clustering.marker,
            counted(clustering.led.len() as u64, "lead")
        );
        let _ = write!(
            svg,
            "<path class=\"clustering\" d=\"M{:.1} {}h8l-4 9z\"><title>{}</title></path>",
            at - 4.0,
            TOP - 12.0,
            escape(&title)
        );
    }
    let frame = Frame { left: LEFT, right: RIGHT, top: BOTTOM, bottom: BOTTOM + 4.0 };
    let marks = x.ticks(8).into_iter().map(|value| (x.at(value), Nanos(value.max(0.0) as u64).to_string()));
    svg.push_str(&frame.up(marks));
    svg.push_str("</svg>");
    if n > MOST_STRETCHES {
        let _ = write!(
            svg,
            "<p class=\"muted\">The state changed {} times; each thousandth of the run shows that of most of its time.</p>",
            grouped_digits(n as u64)
        );
    }
    svg
}

/// How many markers are in each state, and for how long.
pub(super) fn table(report: &RecordingReport, log: &Log) -> String {
    let all = stretches(log, report.end);
    let markers: u64 = STATES.iter().map(|state| log.markers(*state)).sum();
    let mut out = table::open(&["state", "markers", "share", "time", "share", "what it is"]);
    for state in STATES {
        let of = all.iter().filter(|stretch| stretch.state == state);
        let time = of.fold(0_u64, |sum, stretch| sum.saturating_add(stretch.to - stretch.from));
        let n = log.markers(state);
        let mark = mark(state);
        out.push_str(&table::row(
            &format!("<i class=\"swatch\"></i>{}", state.word()),
            &format!(" class=\"{mark}\" data-phase=\"{mark}\""),
            &[
                grouped_digits(n),
                percent(n as f64 / markers.max(1) as f64),
                Nanos(time).to_string(),
                percent(time as f64 / report.end.0.max(1) as f64),
                told(state).to_owned(),
            ],
        ));
    }
    out.push_str("</table>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests::sample;

    #[test]
    fn a_state_holds_until_the_next() {
        let report = sample(16);
        let all = stretches(report.log.as_ref().expect("a log"), report.end);
        let lead = Stretch { state: State::Lead, markers: 40, from: 40_000_000, to: 440_000_000 };
        assert_eq!((all.len(), all[2]), (7, lead));
        assert_eq!(all[6].to, report.end.0);
        // A file may claim any times.
        let log = Log { states: vec![(State::Lead, 1, u64::MAX), (State::Final, 1, 3)], ..Log::default() };
        assert!(stretches(&log, Nanos(10)).iter().all(|s| s.from <= s.to && s.to <= 10));
    }

    #[test]
    fn many_changes_are_drawn_as_few() {
        let one = |at: u64| (if at.is_multiple_of(10) { State::AllTracing } else { State::Lead }, 1, at * 10);
        let log = Log { states: (0..100_000).map(one).collect(), ..Log::default() };
        let end = Nanos(1_000_000);
        let shown = drawn(stretches(&log, end), end);
        assert_eq!(shown.len(), 1, "{:?}", &shown[..3.min(shown.len())]);
        assert_eq!((shown[0].state, shown[0].from, shown[0].to), (State::Lead, 0, 1_000_000));
    }
}
