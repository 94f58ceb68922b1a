//! The report of an analysis: one self-contained HTML file, and its short
//! form for the terminal.
//!
//! [`ReportData`] is plain data that borrows the columns of the analysis.
//! [`write_html`] writes the whole file to any writer, [`terminal`] returns
//! the table of phases and a small timeline. Neither opens a file, and the
//! same data gives the same bytes.
//!
//! All names in the data are untrusted: the HTML shows them as text only,
//! and the terminal shows no control character.

mod code_names;
mod data;
mod functions;
mod html;
mod regions;
mod sections;
mod select;
mod terminal;
mod views;

use std::io;
use std::ops::Range;

use crate::palette;
use likewise::bursts::BurstLabel;
use likewise::cluster::ClusterId;
use likewise::table::{MetricValues, Nanos, Runs};
use rayon::prelude::*;

pub use data::report_data;
pub use functions::FunctionsView;
pub use html::{Content, write_html};
pub use regions::RegionRow;
pub use select::{MAX_BURSTS, counters_shown};
pub use terminal::{first, terminal};
pub use views::{AlignedRow, AlignmentView, TreeLevel, TreeNode, TreeView};

/// So many bursts are looked at together.
const PART: usize = 1 << 15;

/// Everything a report shows.
///
/// The burst columns `burst_row`, `begin`, `duration`, `label` and every
/// [`ReportMetric::values`] have one entry per burst, in any order.
#[derive(Clone, Debug, Default)]
pub struct ReportData<'a> {
    /// What was analysed: the input file, usually.
    pub title: String,
    /// One line about it: application, tasks, method.
    pub subtitle: String,
    /// Names and values of the strip of figures under the title, in order.
    pub facts: Vec<(String, String)>,
    /// What to look at first, worst first.
    pub findings: Vec<FindingRow>,
    /// The sentence shown if nothing was found; empty if that is not known.
    pub verdict: String,
    /// Sentences that the analyst must know.
    pub notes: Vec<String>,
    /// When what was traced begins: the time axis does, too.
    pub start: Nanos,
    /// End of the trace.
    pub end: Nanos,
    /// Names of the timeline's rows, one per (application, task, thread).
    pub rows: Vec<String>,
    /// Row of each burst, an index into `rows`.
    pub burst_row: &'a Runs,
    /// Begin of each burst since the start of the trace.
    pub begin: &'a [Nanos],
    /// Duration of each burst.
    pub duration: &'a [Nanos],
    /// What became of each burst.
    pub label: &'a [BurstLabel],
    /// Metrics to choose from in the scatter.
    pub metrics: Vec<ReportMetric<'a>>,
    /// The table of phases, in order; noise and filtered bursts below.
    pub phases: Vec<PhaseRow>,
    /// Names of the entries of [`PhaseRow::counters`].
    pub phase_columns: Vec<String>,
    /// Which code the phases are, phase by phase; empty where unknown.
    pub regions: Vec<RegionRow>,
    /// The function of every burst, where the trace tells.
    pub functions: Option<FunctionsView<'a>>,
    /// The k-distance curve, if eps came from it or was compared with it.
    pub curve: Option<KDistance>,
    /// The sequences of the tasks laid over one another, if they were.
    pub alignment: Option<AlignmentView<'a>>,
    /// How the refinement came to its phases, if there was one.
    pub tree: Option<TreeView<'a>>,
    /// Parameters of the analysis, in order.
    pub parameters: Vec<(String, String)>,
    /// Seconds by stage, in order.
    pub timings: Vec<(String, f64)>,
    /// Version of the program.
    pub version: String,
}

/// One thing to look at.
#[derive(Clone, Debug, Default)]
pub struct FindingRow {
    /// What it is, in a sentence.
    pub text: String,
    /// The phases it concerns: values of [`ReportData::label`].
    pub labels: Vec<BurstLabel>,
}

/// A metric that the scatter can show.
///
/// The first two with `clustering` set are the first picture; in a very
/// large report they are kept first. A metric named `duration` (any case) is
/// drawn from [`ReportData::duration`], so it needs no `values`.
#[derive(Clone, Debug)]
pub struct ReportMetric<'a> {
    /// Name, such as `PAPI_TOT_INS`.
    pub name: String,
    /// Unit, or nothing; `s` and `ns` are times and get SI prefixes.
    pub unit: String,
    /// One value per burst, `NaN` where it is missing.
    pub values: Option<MetricValues<'a>>,
    /// Whether the axis is logarithmic until the reader changes it.
    pub log: bool,
    /// Whether the bursts were clustered by it.
    pub clustering: bool,
}

/// One row of the table of phases.
#[derive(Clone, Debug, Default)]
pub struct PhaseRow {
    /// Which bursts: a value of [`ReportData::label`].
    pub label: BurstLabel,
    /// Number of bursts.
    pub instances: u64,
    /// Their duration together.
    pub total: Nanos,
    /// Their mean duration.
    pub mean: Nanos,
    /// Their share of the computing time, from 0 to 1.
    pub share: f64,
    /// Longest time of a task over the mean time of the tasks, less 1 (0 is
    /// balanced), where it has a meaning.
    pub imbalance: Option<f64>,
    /// How many tasks have the phase, if others have none of it. Those may do
    /// another phase instead, so the times of this one tell no imbalance.
    pub some_tasks: Option<u64>,
    /// Score per Cluster, from 0 to 1: how alike the tasks' steps are where
    /// the phase occurs.
    pub spmd: Option<f64>,
    /// Mean silhouette of the bursts, from −1 to 1.
    pub silhouette: Option<f64>,
    /// Mean and coefficient of variation (a ratio) of each counter, in the
    /// order of [`ReportData::phase_columns`]; `None` where it is missing.
    pub counters: Vec<Option<(f64, f64)>>,
}

/// Phases that hold this share of the time of all phases, in percent, are
/// shown. The rest is folded, because a run has many phases that take hardly
/// any time.
const SHOWN_PERCENT: u128 = 99;

/// No more phases than this are shown.
const MAX_SHOWN: usize = 20;

/// How many phases are shown; the smaller ones are folded into one line. Shown
/// are those that hold 99 % of the phases' time, at most 20. A single small
/// phase is not folded, because its line would be no shorter. `phases` are in
/// order of descending time; noise and filtered bursts do not count.
pub fn n_shown(phases: &[PhaseRow]) -> usize {
    let is_phase = |p: &&PhaseRow| p.label.phase().is_some();
    let times: Vec<u128> = phases.iter().filter(is_phase).map(|p| u128::from(p.total.0)).collect();
    let whole: u128 = times.iter().sum();
    let mut sum = 0;
    let open = |time: &&u128| {
        let is_open = sum * 100 < whole * SHOWN_PERCENT || whole == 0;
        sum += **time;
        is_open
    };
    let n = times.iter().take_while(open).count().min(MAX_SHOWN);
    if n + 1 == times.len() { times.len() } else { n }
}

/// The sorted k-distance curve.
#[derive(Clone, Debug, Default)]
pub struct KDistance {
    /// Neighbour whose distance is meant.
    pub k: usize,
    /// Rank of each value among all points, from 0, ascending.
    pub ranks: Vec<f64>,
    /// Distances to the k-th neighbour, sorted in either direction;
    /// downsampled to a few thousand at most.
    pub values: Vec<f64>,
    /// The eps that was used.
    pub eps: f64,
    /// Whether eps was suggested by the curve, not given.
    pub suggested: bool,
    /// The rule of the suggestion, in a sentence.
    pub rule: String,
}

impl ReportData<'_> {
    /// Checks that the columns agree.
    ///
    /// # Errors
    /// `InvalidInput` names the first column that does not.
    fn check(&self) -> io::Result<()> {
        let n = self.begin.len();
        let bad = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        let columns = [
            ("burst_row", self.burst_row.len()),
            ("duration", self.duration.len()),
            ("label", self.label.len()),
        ];
        for (name, len) in columns {
            if len != n {
                return bad(format!("report: column '{name}' has {len} values, 'begin' has {n}"));
            }
        }
        for metric in &self.metrics {
            let len = metric.values.map_or(0, |values| values.len());
            if len != n && !metric.is_duration() {
                return bad(format!("report: metric '{}' has {len} values, 'begin' has {n}", metric.name));
            }
        }
        let rows = self.rows.len();
        if let Some((row, _)) = self.burst_row.runs().find(|&(row, _)| row as usize >= rows) {
            return bad(format!("report: a burst is in row {row} of {rows}"));
        }
        if let Some(curve) = &self.curve
            && curve.ranks.len() != curve.values.len()
        {
            return bad("report: the k-distance curve has as many ranks as values".to_owned());
        }
        self.functions.as_ref().map_or(Ok(()), |functions| functions.check(n))?;
        self.alignment.as_ref().map_or(Ok(()), AlignmentView::check)?;
        self.tree.as_ref().map_or(Ok(()), |tree| tree.check(n))
    }

    /// Both ends of the time axis, in nanoseconds: it begins with what was traced, and ends with the
    /// trace, or with the last burst if that is later; at least 1 behind the begin.
    fn span(&self) -> Range<u64> {
        let ends = self.begin.par_iter().zip(self.duration);
        let ends = ends.map(|(&begin, &duration)| begin.saturating_add(duration));
        self.start.0..ends.reduce(|| self.end, Nanos::max).0.max(self.start.0.saturating_add(1))
    }

    /// How long the time axis is, in nanoseconds.
    fn length(&self) -> u64 {
        let Range { start, end } = self.span();
        end - start
    }

    /// The labels that the pictures and the table show, in order: phases,
    /// noise if there is any, then what was set aside.
    ///
    /// Complexity: O(n log k) for n bursts and k labels.
    fn labels(&self) -> Vec<BurstLabel> {
        let distinct = |labels: &[BurstLabel]| {
            let mut found: Vec<BurstLabel> = Vec::new();
            for label in labels.chunk_by(|a, b| a == b).map(|equal| equal[0]) {
                if let Err(at) = found.binary_search(&label) {
                    found.insert(at, label);
                }
            }
            found
        };
        let mut labels: Vec<BurstLabel> = self.label.par_chunks(PART).flat_map_iter(distinct).collect();
        let aligned = self.alignment.iter().flat_map(|view| &view.rows).map(|row| row.phases);
        let n_aligned = aligned.clone().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut is_aligned = vec![false; n_aligned];
        aligned.flatten().for_each(|&phase| is_aligned[phase as usize] = true);
        let places = (0..n_aligned).filter(|&place| is_aligned[place]);
        labels.extend(places.map(|place| BurstLabel::Phase(ClusterId::from_index(place))));
        labels.extend(self.phases.iter().map(|phase| phase.label));
        labels.sort_unstable();
        labels.dedup();
        // Noise is less than a phase, but is shown after all of them.
        labels.sort_by_key(|&label| (label.phase().is_none(), label));
        labels
    }
}

impl ReportMetric<'_> {
    /// Whether it is the burst's own duration.
    fn is_duration(&self) -> bool {
        self.name.eq_ignore_ascii_case("duration")
    }
}

/// The colour of a value of event 90000001 in a labelled trace, so that
/// Paraver shows a phase as the report does.
#[must_use]
pub fn trace_colour(value: u32) -> [u8; 3] {
    let label = match value {
        0..=4 => BurstLabel::FilteredDuration,
        5 => BurstLabel::Noise,
        cluster => BurstLabel::Phase(ClusterId::from_index(cluster as usize - 6)),
    };
    palette::colours(label).0
}

/// Name of a label for people.
fn label_name(label: BurstLabel) -> String {
    match label {
        BurstLabel::Noise => "Noise".to_owned(),
        BurstLabel::Phase(id) => format!("Phase {}", id.number()),
        BurstLabel::FilteredThreshold => "In small clusters".to_owned(),
        BurstLabel::FilteredDuration => "Filtered by duration".to_owned(),
        BurstLabel::FilteredRange => "Filtered by range".to_owned(),
        BurstLabel::Missing => "Missing data".to_owned(),
    }
}

/// The phase of that number, or noise for 0.
#[cfg(test)]
pub(crate) fn test_label(number: u32) -> BurstLabel {
    number.checked_sub(1).map(|index| ClusterId::from_index(index as usize)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_phases_then_noise_then_the_rest() {
        let phase = test_label;
        let label =
            [BurstLabel::Missing, phase(3), phase(0), phase(1), phase(1), BurstLabel::FilteredDuration];
        let data = ReportData {
            label: &label,
            phases: vec![PhaseRow { label: phase(2), ..PhaseRow::default() }],
            ..ReportData::default()
        };
        assert_eq!(data.labels()[..3], [1, 2, 3].map(phase));
        let rest = [BurstLabel::Noise, BurstLabel::FilteredDuration, BurstLabel::Missing];
        assert_eq!(data.labels()[3..], rest);
    }

    #[test]
    fn a_short_column_is_named() {
        let data = ReportData { begin: &[Nanos(1)], ..ReportData::default() };
        assert!(data.check().unwrap_err().to_string().contains("'burst_row'"));
        let data = ReportData {
            begin: &[Nanos(1)],
            duration: &[Nanos(1)],
            label: &[BurstLabel::Noise],
            burst_row: &Runs::repeat(4, 1),
            rows: vec!["a".to_owned()],
            ..ReportData::default()
        };
        assert!(data.check().unwrap_err().to_string().contains("row 4 of 1"));
    }
}

#[cfg(test)]
mod fold_tests {
    use super::*;

    fn shown(totals: &[u64]) -> usize {
        let row = |(number, total): (u32, &u64)| PhaseRow {
            label: test_label(number),
            total: Nanos(*total),
            ..PhaseRow::default()
        };
        let noise = PhaseRow { label: BurstLabel::Noise, total: Nanos(1_000), ..PhaseRow::default() };
        n_shown(&(1..).zip(totals).map(row).chain([noise]).collect::<Vec<_>>())
    }

    #[test]
    fn phases_up_to_99_percent_of_the_time_are_shown() {
        assert_eq!(shown(&[700, 280, 10, 5, 3, 2]), 3);
        assert_eq!(shown(&[700, 290, 10]), 3, "one alone is not folded");
        assert_eq!(shown(&[500, 500]), 2);
        assert_eq!(shown(&[1; 40]), 20);
        assert_eq!(shown(&[0; 3]), 3);
        assert_eq!(shown(&[]), 0);
    }
}
