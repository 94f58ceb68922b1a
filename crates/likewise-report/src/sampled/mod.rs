//! What sampled ranks tell of a run: the page, and the terminal's text.

mod page;

pub use page::write_html;

use likewise::ranks::Estimate;
use likewise::table::Nanos;
use likewise::words::{counted, level, percent};
use likewise_analysis::ranks::sampled::{SampledRegion, SampledRun, SampledWindow};
use likewise_recording::Choice;
use std::fmt::Write as _;

/// Windows that the terminal shows.
const SHOWN: usize = 12;
/// Regions that the terminal shows.
const REGIONS: usize = 10;

/// Seconds as a time.
fn time(seconds: f64) -> String {
    Nanos((seconds.max(0.0) * 1e9).round() as u64).to_string()
}

/// A mean with its interval.
fn interval(e: &Estimate) -> String {
    match e.half_width.is_finite() {
        true => format!("{} ± {}", time(e.mean), time(e.half_width)),
        false => format!("{} (how sure is not known)", time(e.mean)),
    }
}

/// Why there are strata, or none.
fn choice(window: &SampledWindow) -> String {
    let why = match window.window.choice {
        Choice::Stratified => "strata",
        Choice::Alike => "one: ranks are alike",
        Choice::DoesNotPay => "one: strata do not pay (equation 2)",
        Choice::TakesMore => "one: strata take more ranks",
    };
    let drawn = if window.window.is_redrawn { ", drawn by this window" } else { "" };
    format!("{why}{drawn}")
}

fn sampled_of(window: &SampledWindow) -> String {
    window.strata.iter().map(|(n, sampled)| format!("{sampled} of {n}")).collect::<Vec<_>>().join(", ")
}

fn steps(window: &SampledWindow) -> String {
    let first = window.window.first_step;
    format!("{first}–{}", first + window.window.n_steps.saturating_sub(1))
}

/// What to look at first.
#[must_use]
pub fn findings(run: &SampledRun) -> Vec<String> {
    let told = &run.total;
    let share = |x: f64| percent(if told.mean > 0.0 { x / told.mean } else { 0.0 });
    let off = (told.mean - run.whole).abs();
    let (covered, steps) = run.covered();
    let mut findings = vec![
        format!(
            "Mean effort of a rank in {}: {} at {} confidence (± {}), from {} of {} on average ({}).",
            counted(run.n_steps, "step"),
            interval(told),
            level(run.confidence),
            share(told.half_width),
            likewise::words::short(run.sampled()),
            counted(run.n_ranks, "rank"),
            percent(run.sampled() / run.n_ranks as f64)
        ),
        format!(
            "All ranks summed {} on line: the estimate is off by {}. The intervals of {covered} of {} hold what it was.",
            time(run.whole),
            share(off),
            counted(steps, "step")
        ),
    ];
    let stratified = run.windows.iter().filter(|w| w.window.choice == Choice::Stratified).count();
    let redrawn = run.windows.iter().filter(|w| w.window.is_redrawn).count();
    findings.push(format!(
        "Stratifying pays in {stratified} of {}; {redrawn} {} drawn by its own effort (the first one, and those unlike \
         the one before).",
        counted(run.windows.len() as u64, "window"),
        if redrawn == 1 { "was" } else { "were each" }
    ));
    findings
}

/// The regions, the other ones last.
fn regions(run: &SampledRun) -> impl Iterator<Item = &SampledRegion> {
    run.regions.iter().chain(&run.others)
}

/// What the terminal shows.
#[must_use]
pub fn text(run: &SampledRun) -> String {
    let mut text = findings(run).join("\n");
    text.push_str("\n\nRegions, mean effort of a rank:\n");
    for region in regions(run).take(REGIONS) {
        let some = match region.n_steps == run.n_steps {
            true => String::new(),
            false => format!(" (in {})", counted(region.n_steps, "step")),
        };
        let _ = writeln!(text, "  {}: {}{some}", region.name, interval(&region.effort));
    }
    let more = regions(run).count().saturating_sub(REGIONS);
    if more > 0 {
        let _ = writeln!(text, "  … {more} more in estimates.csv");
    }
    text.push_str("\nWindows (steps: mean effort of a rank; sampled ranks by stratum):\n");
    for window in run.windows.iter().take(SHOWN) {
        let _ = writeln!(
            text,
            "  {}: {}; {} ({})",
            steps(window),
            interval(&window.total),
            sampled_of(window),
            choice(window)
        );
    }
    if run.windows.len() > SHOWN {
        let _ = writeln!(text, "  … {} more in windows.csv", run.windows.len() - SHOWN);
    }
    text
}
