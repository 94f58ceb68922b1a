//! The table of phases and their code, as plain HTML: it needs no script.

use std::fmt::Write;

use likewise::bursts::BurstLabel;
use likewise::table::Nanos;

use super::{ReportData, label_name};
use crate::escape;
use likewise::words::{grouped_digits, percent};

/// Phases and regions of each that are shown; regions.csv has all.
const MAX_PHASES: usize = 60;
const MAX_REGIONS: usize = 6;

/// A phase's bursts in one region of the source.
#[derive(Clone, Debug, Default)]
pub struct RegionRow {
    /// Which phase: a value of [`ReportData::label`].
    pub label: BurstLabel,
    /// The call before and the call after the bursts; untrusted text,
    /// empty where unknown.
    pub before: String,
    /// As `before`.
    pub after: String,
    /// The function, where functions were traced.
    pub function: String,
    /// How many bursts.
    pub bursts: u64,
    /// Their computing time.
    pub total: Nanos,
    /// Their share of the phase's time, 0 to 1.
    pub share_of_phase: f64,
    /// Their share of the region's time, 0 to 1.
    pub share_of_region: f64,
}

/// The section, or nothing if the trace does not tell the source. Rows of a
/// phase stand together, in the order of [`ReportData::regions`].
pub(super) fn section(data: &ReportData<'_>) -> String {
    if data.regions.is_empty() {
        return String::new();
    }
    let with_function = data.regions.iter().any(|row| !row.function.is_empty());
    let function = if with_function { "<th scope=\"col\" class=\"name\">Function</th>" } else { "" };
    let mut out = format!(
        "<section class=\"block\" aria-labelledby=\"regions-title\">\n<h2 id=\"regions-title\">Phases and their \
         code</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"regions-title\">\
         <table id=\"regions\">\n<thead><tr><th scope=\"col\">Phase</th>\
         <th scope=\"col\" class=\"name\">From the call at</th>\
         <th scope=\"col\" class=\"name\">to the call at</th>{function}<th scope=\"col\">Bursts</th>\
         <th scope=\"col\">Total time</th><th scope=\"col\">of the phase</th>\
         <th scope=\"col\">of the region</th></tr></thead>\n<tbody>\n"
    );
    let by_phase = data.regions.chunk_by(|a, b| a.label == b.label);
    for rows in by_phase.take(MAX_PHASES) {
        rows.iter().take(MAX_REGIONS).for_each(|row| line(row, with_function, &mut out));
    }
    let shown: usize = data
        .regions
        .chunk_by(|a, b| a.label == b.label)
        .take(MAX_PHASES)
        .map(|rows| rows.len().min(MAX_REGIONS))
        .sum();
    let more = match data.regions.len() - shown {
        0 => String::new(),
        n => format!(" {} more rows are in regions.csv.", grouped_digits(n as u64)),
    };
    let _ = write!(
        out,
        "</tbody></table></div>\n<p class=\"caption\">A burst is the code between two calls to the runtime. Shares \
         of time: how much of the phase is that code, and how much of that code's time the phase takes.{more}</p>\n\
         </section>\n"
    );
    out
}

fn line(row: &RegionRow, with_function: bool, out: &mut String) {
    let text = |name: &str| if name.is_empty() { "–".to_owned() } else { escape(name) };
    let function = if with_function {
        format!("<td class=\"name\">{}</td>", text(&row.function))
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "<tr><th scope=\"row\">{}</th><td class=\"name\">{}</td><td class=\"name\">{}</td>{function}\
         <td>{}</td><td>{}</td><td>{}</td>\
         <td>{}</td></tr>",
        escape(&label_name(row.label)),
        text(&row.before),
        text(&row.after),
        grouped_digits(row.bursts as usize as u64),
        row.total,
        percent(row.share_of_phase),
        percent(row.share_of_region),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_and_long_tables_are_cut() {
        assert_eq!(section(&ReportData::default()), "");
        let row = |label, i: u64| RegionRow {
            label,
            before: "<b>&".to_owned(),
            bursts: 1000 + i,
            total: Nanos(5),
            share_of_phase: 0.5,
            ..RegionRow::default()
        };
        let regions = (0..20).map(|i| row(super::super::test_label(1 + (i / 10) as u32), i)).collect();
        let html = section(&ReportData { regions, ..ReportData::default() });
        assert_eq!(html.matches("<tr><th scope=\"row\">Phase 2</th>").count(), 6);
        assert!(
            html.contains(
                "&lt;b&gt;&amp;</td><td class=\"name\">–</td><td>1,010</td><td>5 ns</td><td>50.0%</td>"
            ),
            "{html}"
        );
        assert!(html.contains("8 more rows") && !html.contains("Function"));
    }
}
