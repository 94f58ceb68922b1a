//! Where the calls are made, and the loop nest of a rank.

use super::RecordingReport;
use crate::escape;
use crate::table;
use likewise::words::grouped_digits;
use std::fmt::Write;

pub(super) fn sites(report: &RecordingReport) -> String {
    let mut out = table::open(&["call", "count", "bytes", "time", "hash", "call path"]);
    for site in &report.sites {
        out.push_str(&table::row(
            site.call,
            "",
            &[
                grouped_digits(site.count),
                site.bytes.map_or_else(|| "?".to_owned(), grouped_digits),
                site.time.to_string(),
                site.hash.clone(),
                site.callers.join(" < "),
            ],
        ));
    }
    out.push_str("</table>");
    if report.more_sites > 0 {
        let more = grouped_digits(report.more_sites as u64);
        let _ = write!(out, "<p class=\"muted\">… {more} more; `likewise info -v` shows all</p>");
    }
    out
}

pub(super) fn nest(report: &RecordingReport) -> String {
    format!("<pre class=\"nest\">{}</pre>", escape(&report.nest.1))
}
