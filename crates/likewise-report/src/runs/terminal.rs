//! The comparison on the terminal.

use super::page::colour_labels;
use crate::palette;
use crate::text::styled;
use anstyle::{Ansi256Color, Color, Style};
use likewise::bursts::scaling::{Change, Measured, Per};
use likewise::table::Nanos;
use likewise::words::{counted, percent};
use likewise_analysis::runs::{Comparison, InRun, Phase, Run, cause_of, per};
use std::fmt::Write;

/// The runs, a line per phase, and what stops scaling. Columns that do not fit
/// `width` are left out.
pub fn table(comparison: &Comparison, width: usize, colour: bool) -> String {
    let mut out = String::new();
    let n = comparison.runs.len();
    if comparison.same_threads() {
        let _ = writeln!(out, "{n} runs of {} each", comparison.threads_of(0));
        for (r, run) in comparison.runs.iter().enumerate() {
            let n =
                run.iterations.map_or_else(String::new, |(n, _)| format!(", {}", counted(n, "iteration")));
            let _ = writeln!(
                out,
                "  {}: {}, {} from begin to end{n}",
                short(comparison, r),
                run.name,
                run.elapsed
            );
        }
        out.push('\n');
    } else {
        let given = comparison.scaling_told_by();
        let _ = writeln!(out, "{n} runs, {} scaling ({given})\n", comparison.scaling_name());
    }
    let mut lines = vec![header(comparison)];
    lines.push(whole_line(comparison));
    lines.extend(comparison.shown().iter().map(|phase| phase_line(comparison, phase)));
    let labels = colour_labels(comparison);
    let style = |i: usize| match (colour, i) {
        (false, _) | (true, 1) => Style::new(),
        (true, 0) => Style::new().bold(),
        _ => {
            let label = labels[i - 2];
            Style::new().fg_color(Some(Color::Ansi256(Ansi256Color(palette::ansi(label)))))
        }
    };
    out += &styled(&lines, width, style);
    let small = comparison.phases.len() - comparison.shown().len();
    if small > 0 {
        let _ = writeln!(
            out,
            "and {small} of less than {} in each run",
            percent(likewise_analysis::runs::LEAST_SHARE)
        );
    }
    if lines.iter().flatten().any(|cell| cell.starts_with(CHANCE)) {
        let _ = writeln!(out, "{CHANCE} may be chance: repetitions in one run differ as much");
    }
    if lines.iter().flatten().any(|cell| cell.starts_with(OFF_CORE)) {
        let _ =
            writeln!(out, "{OFF_CORE} by the clock alone: as far as is known, CPU times do not differ so");
    }
    out.push('\n');
    for finding in comparison.findings() {
        let _ = writeln!(out, "{finding}");
    }
    out
}

/// What a run is called in columns: its threads, or a letter where they tell
/// none apart.
fn short(comparison: &Comparison, r: usize) -> String {
    match u8::try_from(r) {
        Ok(letter @ 0..26) if comparison.same_threads() => char::from(b'A' + letter).to_string(),
        _ if comparison.same_threads() => (r + 1).to_string(),
        _ => comparison.runs[r].whole.run_threads.to_string(),
    }
}

fn header(comparison: &Comparison) -> Vec<String> {
    let run = |what: &str, r: usize| format!("{what}{}", short(comparison, r));
    let (efficiency, stops) =
        if comparison.same_threads() { ("speed/", "slower in") } else { ("eff/", "stops at") };
    let runs = || 0..comparison.runs.len();
    let mut cells = vec!["phase".to_owned()];
    cells.extend(unlike(comparison).then(|| "per".to_owned()));
    cells.extend(runs().map(|r| run("time/", r)));
    cells.extend(runs().map(|r| run(efficiency, r)));
    cells.extend([stops, "because of", "match"].map(str::to_owned));
    cells.extend(runs().map(|r| run("share/", r)));
    cells.extend(runs().map(|r| run("IPC/", r)));
    cells
}

/// Whether anything is compared per something else than the whole run.
fn unlike(comparison: &Comparison) -> bool {
    comparison.phases.iter().any(|phase| phase.per != Per::Run)
}

/// Where something stops scaling, or is slower.
fn stopping(comparison: &Comparison, r: usize) -> String {
    if comparison.same_threads() { short(comparison, r) } else { comparison.threads_of(r) }
}

fn known(x: Option<f64>, text: impl Fn(f64) -> String) -> String {
    x.map_or_else(|| "–".to_owned(), text)
}

fn time(mean: f64) -> String {
    Nanos(mean as u64).to_string()
}

/// An efficiency; one that may be chance has a mark.
fn efficiency(comparison: &Comparison, change: Option<&Change>) -> String {
    let mark = |c: &Change| match comparison.threshold {
        threshold if c.may_be_chance(threshold) => CHANCE,
        threshold if c.is_off_core(threshold) => OFF_CORE,
        _ => "",
    };
    change.map_or_else(|| "–".to_owned(), |c| format!("{}{}", mark(c), percent(c.efficiency)))
}

/// Before a time of what may be another phase, and in place of what compares it, or other work.
const UNSURE: &str = "?";

/// Before a figure that differs by no more than repetitions do.
const CHANCE: &str = "~";

/// Before a figure that differs by the clock alone, and not in CPU time.
const OFF_CORE: &str = "*";

fn whole_line(comparison: &Comparison) -> Vec<String> {
    let whole = &comparison.whole;
    let figures = || comparison.runs.iter().map(|run| &run.whole);
    let mut cells = vec!["all".to_owned()];
    cells.extend(unlike(comparison).then(|| comparison.per.map_or("run", per).to_owned()));
    let mean = |run: &Run| run.all.as_ref().map_or_else(|| run.whole.mean(), Measured::mean);
    cells.extend(comparison.runs.iter().map(|run| time(mean(run))));
    let is_sure = |r: usize| whole.changes[r].is_none() || comparison.is_sure_of_all(r);
    let told = |r: usize| match is_sure(r) {
        true => efficiency(comparison, whole.changes[r].as_ref()),
        false => UNSURE.to_owned(),
    };
    cells.extend((0..whole.changes.len()).map(told));
    let change = whole.stops_at.and_then(|r| whole.changes[r].as_ref());
    cells.push(whole.stops_at.map_or_else(|| "–".to_owned(), |r| stopping(comparison, r)));
    cells.push(change.map_or("–", cause_of).to_owned());
    cells.push(String::new());
    cells.extend(figures().map(|f| percent(f.share)));
    cells.extend(figures().map(|f| known(f.ipc(), |x| format!("{x:.2}"))));
    cells
}

fn phase_line(comparison: &Comparison, phase: &Phase) -> Vec<String> {
    let runs = || phase.runs.iter().map(Option::as_ref);
    let figures = || runs().map(|run| run.map(InRun::figures));
    let mut cells = vec![phase.number.to_string()];
    cells.extend(unlike(comparison).then(|| per(phase.per).to_owned()));
    let sure = |r: usize, text: String| {
        if phase.is_sure(r) || phase.runs[r].is_none() { text } else { format!("{UNSURE}{text}") }
    };
    let each = || phase.runs.iter().enumerate();
    cells.extend(each().map(|(r, run)| sure(r, known(run.as_ref().map(|run| run.measured.mean()), time))));
    cells.extend((0..phase.runs.len()).map(|r| match phase.is_sure(r) || phase.runs[r].is_none() {
        true => efficiency(comparison, phase.change(r)),
        false => UNSURE.to_owned(),
    }));
    cells.push(phase.scaling.stops_at.map_or_else(|| "–".to_owned(), |r| stopping(comparison, r)));
    cells.push(phase.cause().unwrap_or("–").to_owned());
    cells.push(known(phase.confidence(), |x| format!("{x:.2}")));
    cells.extend(figures().map(|f| known(f.map(|f| f.share), percent)));
    cells.extend(figures().map(|f| known(f.and_then(|f| f.ipc()), |x| format!("{x:.2}"))));
    cells
}
