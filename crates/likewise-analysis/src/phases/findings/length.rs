//! How much of the run, or of the part of it that is looked at, bursts fill.

use super::{Analysis, Labelled};
use likewise::table::Nanos;
use std::ops::Range;

/// The share of the run behind its last burst. Of states it is not counted: the trace may have been
/// cut there. Events are known to its end.
pub(super) fn behind_the_last(analysis: &Analysis) -> f64 {
    let part = looked_at(analysis);
    let table = &*analysis.traced.times_looked_at(&analysis.table);
    let ends = (0..table.len()).filter(|&i| table.begin[i] < part.end).map(|i| table.end(i).min(part.end));
    let last = ends.max().unwrap_or(part.start);
    part.end.saturating_sub(last).0 as f64 / part.end.saturating_sub(part.start).0.max(1) as f64
}

/// The part of the run that findings are of.
pub(super) fn looked_at(analysis: &Analysis) -> Range<Nanos> {
    analysis.traced.part.clone().unwrap_or(analysis.begin..analysis.end)
}

/// Share of the time of all threads, up to the end, that they compute; of the part that is looked
/// at, where that is not the whole run.
pub(super) fn computing(analysis: &Analysis) -> f64 {
    let Analysis { labelled, .. } = analysis;
    let Labelled { table, rows, figures, traced, .. } = &**labelled;
    let table = &*traced.times_looked_at(table);
    let part = looked_at(analysis);
    let inside =
        |i: usize| table.end(i).min(part.end).saturating_sub(table.begin[i].max(part.start)).0 as f64;
    let slept = |i: usize| figures.on_core.asleep_bursts.get(i).is_some_and(|asleep| *asleep);
    let computed: f64 = (0..table.len()).filter(|&i| !slept(i)).map(inside).sum();
    computed / (rows.len() as f64 * part.end.saturating_sub(part.start).0 as f64).max(1.0)
}

/// That tasks compute in that part when they are done, if it is worth a word there.
pub(super) fn told_done(analysis: &Analysis) -> Option<String> {
    analysis.traced.told_done(&looked_at(analysis), (&analysis.table, analysis.rows.len()))
}
