//! What is said of a recording that was made on line: states, leads, and what
//! it took.

use likewise::table::Nanos;
use likewise::words::{counted, grouped_digits, percent};
use likewise_recording::{Clustering, Log, Mode, Recording, State, Window};
use likewise_report::recording::ranks_text;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Leads that are shown.
const MOST_LEADS: usize = 20;
/// If markers take at least this share of the time of a rank, who records is told: it is more than
/// twice what they are to take unless `--overhead` says otherwise.
const DEAR: f64 = 0.05;
const STATES: [State; 4] = [State::AllTracing, State::Clustering, State::Lead, State::Final];

/// The leads of the last clustering, or the ranks of the last sample; of a run
/// that had neither, all ranks.
pub(crate) fn leads(recording: &Recording) -> Vec<u32> {
    let window = recording.strata().last().and_then(|window| Window::decode(window).ok());
    if let Some(window) = window {
        return window.sampled.iter().map(|sampled| sampled.rank).collect();
    }
    match recording.log().and_then(|log| log.clusterings.last()) {
        Some(last) => last.led.iter().map(|led| led.lead).collect(),
        None => recording.ranks().iter().map(|meta| meta.rank).collect(),
    }
}

/// The keys that a recording has beside those of what it holds.
pub(crate) fn to_json(recording: &Recording) -> Map<String, Value> {
    let log = recording.log();
    let clustering = |one: &Clustering| {
        let led = one
            .led
            .iter()
            .map(|led| json!({ "lead": led.lead, "call_path": led.call_path, "ranks": led.ranks }));
        json!({ "marker": one.marker, "at_ns": one.at, "leads": led.collect::<Vec<_>>() })
    };
    let state = |log: &Log| -> Map<String, Value> {
        STATES.iter().map(|state| (state.word().to_owned(), log.markers(*state).into())).collect()
    };
    let keys = [
        ("mode", log.map_or(Mode::Full, |log| log.mode).word().into()),
        ("marker", log.map(|log| log.marker.as_str()).filter(|marker| !marker.is_empty()).into()),
        ("states", log.map(state).into()),
        ("clusterings", log.map(|log| log.clusterings.len()).into()),
        ("leads", leads(recording).into()),
        (
            "clustered",
            log.map_or_else(Vec::new, |log| log.clusterings.iter().map(clustering).collect()).into(),
        ),
        ("bytes_by_rank", log.map(|log| log.bytes.clone()).into()),
        ("peak_bytes_by_rank", log.map(|log| log.peaks.clone()).into()),
        ("marker_cost_ns_by_rank", log.map(|log| log.costs.clone()).into()),
        ("stood_by_rank", (0..recording.size()).map(|rank| recording.stood(rank)).collect()),
        ("notes", log.map_or_else(Vec::new, |log| log.notes.clone()).into()),
    ];
    keys.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// How many markers ranks voted at; `MPI_Finalize`, where F begins, is none.
fn markers(log: &Log) -> u64 {
    STATES[..3].iter().map(|state| log.markers(*state)).sum()
}

/// Markers by state, such as `AT 2 · C 1 · L 57`.
fn states(log: &Log) -> String {
    let there = STATES[..3].iter().filter(|state| log.markers(**state) > 0);
    there
        .map(|state| format!("{} {}", state.word(), grouped_digits(log.markers(*state))))
        .collect::<Vec<_>>()
        .join(" · ")
}

/// How a run was recorded, in a sentence; nothing where all of it was, nor of strata whose
/// markers took little time.
pub(crate) fn told(recording: &Recording) -> Option<String> {
    let log = recording.log().filter(|log| [Mode::Leads, Mode::Strata].contains(&log.mode))?;
    let markers = markers(log);
    let dear = dearest(recording, log).filter(|(share, ..)| *share >= DEAR);
    // Of strata there is no more to say.
    if log.mode == Mode::Strata && (markers == 0 || dear.is_none()) {
        return None;
    }
    let mode = likewise::words::capital(log.mode.word());
    if markers == 0 {
        return Some(format!("{mode}: there was no marker, so all of it is recorded."));
    }
    let leads = match log.clusterings.last() {
        None => String::new(),
        Some(last) => format!(
            ", {}, {} of {} at the end",
            counted(log.clusterings.len() as u64, "clustering"),
            counted(last.led.len() as u64, "lead"),
            counted(u64::from(recording.size()), "rank"),
        ),
    };
    let dear = dear.map_or_else(String::new, |(share, cost, rank)| {
        format!(
            " Markers took {} of the time of rank {rank}, where they took the most ({}): ranks wait for each other at \
             them, which takes long where they share cores; --every N makes them fewer.",
            percent(share),
            Nanos(cost)
        )
    });
    Some(format!("{mode}: {} ({}){leads}.{dear}", counted(markers, "marker"), states(log)))
}

/// Rows of the table that `likewise info` begins with.
pub(crate) fn rows(recording: &Recording) -> Vec<(&'static str, String)> {
    let Some(log) = recording.log() else { return Vec::new() };
    let mut rows = vec![("Mode", log.mode.word().to_owned())];
    if !log.marker.is_empty() {
        rows.push(("Marker", log.marker.clone()));
    }
    let markers = markers(log);
    if markers > 0 {
        rows.push(("Markers", format!("{}: {}", grouped_digits(markers), states(log))));
    }
    if log.mode == Mode::Strata {
        rows.push(("Last sample", format!("ranks {}", ranks_text(&leads(recording)))));
    }
    if let Some(last) = log.clusterings.last().filter(|_| log.mode == Mode::Leads) {
        rows.push((
            "Clusterings",
            format!(
                "{}, the last at marker {}",
                grouped_digits(log.clusterings.len() as u64),
                grouped_digits(last.marker)
            ),
        ));
        let n = counted(u64::from(recording.size()), "rank");
        rows.push((
            "Leads",
            format!("{} of {n}: {}", grouped_digits(last.led.len() as u64), ranks_text(&leads(recording))),
        ));
    }
    rows.extend(stood(recording).map(|text| ("Stood for", text)));
    let of = |values: &[u64]| means(recording, log, values);
    rows.extend(of(&log.bytes).map(|text| ("Written", text)));
    rows.extend(of(&log.peaks).map(|text| ("Memory", text)));
    rows.extend(overhead(recording, log).map(|text| ("Overhead", text)));
    rows
}

/// What is a lead's and not the rank's own.
fn stood(recording: &Recording) -> Option<String> {
    let behind: Vec<_> = recording.ranks().iter().filter(|meta| !recording.is_measured(meta.rank)).collect();
    let all = behind.iter().fold(0_u64, |sum, meta| sum.saturating_add(meta.events));
    let stood = behind.iter().fold(0_u64, |sum, meta| sum.saturating_add(recording.stood(meta.rank)));
    (stood > 0).then(|| {
        format!(
            "{} of the events of {}: their order and times are their leads', their parameters their own as \
             far as what they recorded before shows them",
            percent(stood as f64 / all.max(stood) as f64),
            counted(behind.len() as u64, "rank"),
        )
    })
}

/// The mean of leads and of others, where there are both.
fn means(recording: &Recording, log: &Log, values: &[u64]) -> Option<String> {
    if values.iter().all(|value| *value == 0) {
        return None;
    }
    let leads = match log.clusterings.is_empty() {
        true => Vec::new(),
        false => leads(recording),
    };
    let (mut led, mut others) = (Vec::new(), Vec::new());
    for (rank, value) in values.iter().enumerate() {
        let is_lead = leads.contains(&(rank as u32));
        if is_lead { led.push(*value) } else { others.push(*value) }
    }
    let mean = |values: &[u64]| {
        let sum = values.iter().fold(0_u64, |sum, value| sum.saturating_add(*value));
        counted(sum / values.len().max(1) as u64, "byte")
    };
    Some(match (led.as_slice(), others.as_slice()) {
        ([], all) | (all, []) => format!("{} by a rank, in the mean", mean(all)),
        (led, others) => {
            let lead = if log.mode == Mode::Strata { "rank of the last sample" } else { "lead" };
            format!("{} by a {lead} and {} by another rank, in the mean", mean(led), mean(others))
        }
    })
}

/// What markers took on the rank where they took most of its time.
fn overhead(recording: &Recording, log: &Log) -> Option<String> {
    let (share, cost, rank) = dearest(recording, log)?;
    Some(format!(
        "markers took {} on rank {rank}, where they took the most: {} of its time",
        Nanos(cost),
        percent(share)
    ))
}

/// The share of its time and the ns that markers took on the rank where they took the largest share.
fn dearest(recording: &Recording, log: &Log) -> Option<(f64, u64, u32)> {
    let share = |rank: u32, cost: u64| {
        let wall = recording.ranks().iter().find(|meta| meta.rank == rank).map(|meta| meta.wall)?;
        (wall > 0).then(|| cost as f64 / wall as f64)
    };
    let all = log.costs.iter().zip(0..).filter_map(|(cost, rank)| Some((share(rank, *cost)?, *cost, rank)));
    all.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(_, cost, _)| *cost > 0)
}

/// The leads of the last clustering, a line each, and what is theirs and not
/// the ranks' own.
pub(crate) fn led(recording: &Recording, all: bool) -> String {
    let Some(last) = recording.log().and_then(|log| log.clusterings.last()) else { return String::new() };
    let mut out = format!("\n{:>8}{:>8}{:>11}  Stands for\n", "Lead", "Ranks", "Call path");
    let n = if all { last.led.len() } else { last.led.len().min(MOST_LEADS) };
    for led in &last.led[..n] {
        let ranks = likewise_report::svg::clipped(&ranks_text(&led.ranks), if all { usize::MAX } else { 60 });
        let _ = writeln!(
            out,
            "{:>8}{:>8}{:>11}  {ranks}",
            led.lead,
            grouped_digits(led.ranks.len() as u64),
            led.call_path
        );
    }
    if n < last.led.len() {
        let _ = writeln!(out, "… {} more; -v shows all", grouped_digits((last.led.len() - n) as u64));
    }
    out
}

/// What is worth a look, in sentences.
pub(crate) fn findings(recording: &Recording) -> Vec<String> {
    let Some(log) = recording.log() else { return Vec::new() };
    let mut told = Vec::new();
    let markers = markers(log);
    let lead = log.markers(State::Lead);
    if log.mode == Mode::Leads && markers > 0 {
        let share = percent(lead as f64 / markers as f64);
        told.push(format!(
            "{} of {} ({share}) are in L, where only leads record.",
            grouped_digits(lead),
            counted(markers, "marker")
        ));
    }
    if let Some(last) = log.clusterings.last().filter(|_| log.mode == Mode::Leads) {
        let most = last.led.iter().max_by_key(|led| (led.ranks.len(), std::cmp::Reverse(led.lead)));
        let most = most.map(|led| {
            format!(", most of all rank {} for {}", led.lead, counted(led.ranks.len() as u64, "rank"))
        });
        let mut paths: Vec<u32> = last.led.iter().map(|led| led.call_path).collect();
        paths.sort_unstable();
        paths.dedup();
        told.push(format!(
            "At the end {} stand for {} with {}{}.",
            counted(last.led.len() as u64, "lead"),
            counted(u64::from(recording.size()), "rank"),
            counted(paths.len() as u64, "different call path"),
            most.unwrap_or_default()
        ));
    }
    if log.mode == Mode::Leads && log.clusterings.is_empty() {
        told.push("The run never repeated itself at its markers, so this is a full recording.".to_owned());
    }
    told.extend(stood(recording).map(|text| format!("Leads stand for {text}.")));
    told.extend(overhead(recording, log).map(|text| format!("{}.", likewise::words::capital(&text))));
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_testing::recorded::Program;

    /// What is said where markers took this share of the time of rank 2.
    fn told_with(mode: Mode, share: f64) -> Option<String> {
        let dir = tempfile::tempdir().expect("a folder");
        Program::default().write(dir.path());
        let wall = Recording::open(dir.path()).expect("a recording").ranks()[2].wall;
        let log = Log {
            mode,
            states: vec![(State::AllTracing, 2, 0), (State::Lead, 16, 400_000)],
            costs: vec![0, 1_000, (share * wall as f64) as u64, 0],
            ..Log::default()
        };
        Program::default().write_with_log(dir.path(), Some(&log));
        told(&Recording::open(dir.path()).expect("a recording"))
    }

    #[test]
    fn markers_that_take_much_are_told() {
        let dear = told_with(Mode::Leads, 0.051).expect("a sentence");
        assert!(
            dear.starts_with("Leads: 18 markers (AT 2 · L 16). Markers took 5.1% of the time of rank 2, "),
            "{dear}"
        );
        assert!(dear.ends_with("; --every N makes them fewer."), "{dear}");
        let cheap = told_with(Mode::Leads, 0.049).expect("a sentence");
        assert_eq!(cheap, "Leads: 18 markers (AT 2 · L 16).");
        // Of strata it was not.
        let strata = told_with(Mode::Strata, 0.051).expect("a sentence");
        assert!(strata.starts_with("Strata: 18 markers (AT 2 · L 16). Markers took 5.1%"), "{strata}");
        assert_eq!(told_with(Mode::Strata, 0.049), None);
    }
}
