//! What every reading of a Paraver trace begins, counts and ends with.

use std::collections::BTreeMap;
use std::path::Path;

use likewise::table::Nanos;
use serde::{Deserialize, Serialize};

use super::header::Header;
use super::scan::{self, Ends, Scanned, is_one_set};
use super::streams;
use crate::bytes::{Input, line_place};
use crate::error::{Error, Place, Result};
use crate::trace::{ReadReport, RecordCounts, Untraced, UntracedBy, Who};

/// What was counted in some lines, and whether the last one has its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sum {
    records: RecordCounts,
    untraced: BTreeMap<Who, scan::Untraced>,
    ends: BTreeMap<Who, Ends>,
    first: Option<u64>,
    lines: u64,
    ended: bool,
}

/// What was counted and what was wrong, over all blocks.
pub(crate) struct Records<'p> {
    pub(crate) path: &'p Path,
    lenient: bool,
    pub(crate) report: ReadReport,
    untraced: BTreeMap<Who, scan::Untraced>,
    ends: BTreeMap<Who, Ends>,
    /// When the first record begins, in the file's unit.
    first: Option<u64>,
    ended: bool,
}

impl<'p> Records<'p> {
    pub(crate) fn new(path: &'p Path, lenient: bool) -> Self {
        // The header is the first line, and no block holds it.
        Self::after(1, path, lenient)
    }

    /// From a line on; the first is 0.
    pub(crate) fn after(lines: u64, path: &'p Path, lenient: bool) -> Self {
        let report = ReadReport { lines, ..ReadReport::default() };
        let (untraced, ends) = (BTreeMap::new(), BTreeMap::new());
        Self { path, lenient, report, untraced, ends, first: None, ended: true }
    }

    /// Adds a block; its first problem is an error unless lenient.
    pub(crate) fn add(&mut self, scanned: Scanned) -> Result<()> {
        let RecordCounts { unknown, backwards, .. } = self.report.records;
        for (line, kind) in scanned.problems {
            let error = Error::at(self.path, line_place(self.report.lines, line), kind);
            if !self.lenient {
                return Err(error);
            }
            // A few show what the damage is; the count tells of the others.
            if self.report.records.skipped < 3 {
                self.report.warnings.push(format!("skipped: {error}"));
            }
        }
        let place = |line: u64| format!("{}:{}", self.path.display(), self.report.lines + line + 1);
        let unknown = scanned.unknown.filter(|_| unknown == 0);
        let unknown = unknown
            .map(|(line, shown)| format!("{}: unknown kind of record, not read: {shown}", place(line)));
        let backwards = scanned.backwards.filter(|_| backwards == 0).map(|(line, [begin, end])| {
            let place = place(line);
            format!(
                "{place}: a state ends before it begins, not read: it begins at {begin} and ends at {end}"
            )
        });
        self.report.warnings.extend(unknown.into_iter().chain(backwards));
        self.report.records.add(&scanned.counts);
        self.add_untraced(&scanned.untraced);
        self.add_first(scanned.first);
        self.add_ends(scanned.ends);
        self.report.lines += scanned.lines;
        // An empty block at the end says nothing about the last line.
        if scanned.lines > 0 {
            self.ended = scanned.ended;
        }
        Ok(())
    }

    /// After the last block; a cut gzip is a warning if lenient.
    pub(crate) fn done(&mut self, done: Result<()>) -> Result<()> {
        match done {
            Err(error) if self.lenient && error.kind.ends_gzip() => {
                self.report.warnings.push(error.to_string());
                Ok(())
            }
            other => other,
        }
    }

    /// What another process has counted in the lines that follow; `None` where
    /// it met what only the number of its line in the whole file can tell.
    pub(crate) fn sum(self) -> Option<Sum> {
        let Self {
            report: ReadReport { records, lines, warnings, .. }, untraced, ends, first, ended, ..
        } = self;
        warnings.is_empty().then_some(Sum { records, untraced, ends, first, lines, ended })
    }

    /// Adds it.
    pub(crate) fn add_sum(&mut self, next: &Sum) {
        self.report.records.add(&next.records);
        self.add_untraced(&next.untraced);
        self.add_first(next.first);
        self.add_ends(next.ends.iter().map(|(&who, &ends)| (who, ends)));
        self.report.lines += next.lines;
        if next.lines > 0 {
            self.ended = next.ended;
        }
    }

    fn add_first(&mut self, first: Option<u64>) {
        self.first = self.first.into_iter().chain(first).min();
    }

    fn add_ends(&mut self, more: impl IntoIterator<Item = (Who, Ends)>) {
        more.into_iter().for_each(|(who, ends)| self.ends.entry(who).or_default().add(ends));
    }

    /// Until when all threads are known, if the trace was cut while states were open and these were
    /// kept whole: no record of a thread that has states begins later, but of some of them states end
    /// later. Threads that end before the last record begins have ended by themselves.
    fn cut(&self, streams: &streams::Found) -> Option<u64> {
        let ends = self.ends.iter().filter(|(who, _)| !streams.has(who));
        let ends: Vec<(u64, u64)> = ends.filter_map(|(_, of)| Some((of.state?, of.record))).collect();
        let last = ends.iter().map(|(_, record)| *record).max()?;
        let first = ends.iter().map(|(state, _)| *state).filter(|state| *state >= last).min()?;
        ends.iter().any(|(state, _)| *state > first).then_some(first)
    }

    fn add_untraced(&mut self, more: &BTreeMap<Who, scan::Untraced>) {
        more.iter().for_each(|(&who, off)| self.untraced.entry(who).or_default().add(off));
    }

    /// All that was counted, after the end of the file; of times in units of so many ns. Streams of
    /// accelerators are not there before they are made, so nothing of them is missing.
    pub(crate) fn end(self, unit: u64, streams: &streams::Found) -> ReadReport {
        let nanos = |time: u64| Nanos(time.saturating_mul(unit));
        let [last, cut] = [self.ends.values().filter_map(|of| of.state).max(), self.cut(streams)];
        let mut report = self.report;
        report.begin = nanos(self.first.unwrap_or(0));
        [report.last_state, report.cut] = [last, cut].map(|time| time.map(nanos));
        let mut all = scan::Untraced::default();
        let of_threads = self.untraced.iter().filter(|(who, _)| !streams.has(who));
        of_threads.for_each(|(_, off)| all.add(off));
        let scan::Untraced { from, to, time } = all;
        report.untraced = (from < to).then(|| Untraced {
            from: nanos(from),
            to: nanos(to),
            time: nanos(time),
            why: UntracedBy::Disabled,
        });
        if !self.ended {
            let path = self.path.display();
            let text =
                "the last line has no end; the file may have been cut, and the last number in it with it";
            report.warnings.push(format!("{path}: {text}"));
        }
        report
    }
}

/// Takes the header off.
pub(crate) fn open(input: &mut Input) -> Result<Header> {
    let line = input.take_line()?;
    input.keep_together(is_one_set);
    Header::parse(&line).map_err(|kind| Error::at(input.path(), Place::Line(1), kind))
}
