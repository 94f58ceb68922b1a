//! The events of a rank with their bursts, times in order on every thread.

use likewise_recording::{CallId, Event, Events, NOT_READ, Recording};

use super::counters::Column;

use crate::error::{Error, ErrorKind, Place};
use std::path::Path;

/// Threads of a rank beyond this are nonsense.
pub(super) const MAX_THREADS: u32 = 1 << 16;

/// An event with what belongs to it.
#[derive(Debug)]
pub(super) struct Step<'e> {
    pub(super) call: CallId,
    pub(super) path: u32,
    pub(super) event: &'e Event,
    /// When the burst before it began: where the last event ended, or the recorder's work
    /// after it.
    pub(super) start: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl Step<'_> {
    /// What the counters counted in the burst before, by their types: those
    /// that were read.
    pub(super) fn counters<'s>(&'s self, columns: &'s [Column]) -> impl Iterator<Item = (u32, u64)> + 's {
        let values = self.event.counters.iter().flatten();
        let read = columns.iter().zip(values).filter(|(_, value)| **value != NOT_READ);
        read.map(|(column, value)| (column.event_type, *value))
    }
}

/// Walks the events of a rank.
pub(super) struct Walk<'r> {
    recording: &'r Recording,
    events: Events<'r>,
    /// When the last event of each thread ended.
    last: Vec<u64>,
    file: &'r Path,
}

impl<'r> Walk<'r> {
    pub(super) fn new(recording: &'r Recording, rank: u32, file: &'r Path) -> Self {
        Self { recording, events: recording.events(rank), last: Vec::new(), file }
    }

    /// The next event; an error where the file holds nonsense.
    pub(super) fn next(&mut self) -> Result<Option<Step<'_>>, Error> {
        let broken = |broken: likewise_recording::Broken| {
            Error::at(self.file, Place::Byte(broken.at), ErrorKind::Table(broken.what))
        };
        let Some(event) = self.events.next().map_err(broken)? else { return Ok(None) };
        let nonsense = |what: &str| Error::whole(self.file, ErrorKind::Table(what.to_owned()));
        let Some(symbol) = self.recording.symbols().get(event.symbol as usize) else {
            return Err(nonsense("an event has no call"));
        };
        if event.thread >= MAX_THREADS {
            return Err(nonsense("an event is of a thread with an impossible number"));
        }
        let thread = event.thread as usize;
        if thread >= self.last.len() {
            self.last.resize(thread + 1, 0);
        }
        let begin = event.begin.max(self.last[thread]);
        let start = event.begin.saturating_sub(event.gap).max(self.last[thread]);
        let end = event.end.max(begin);
        self.last[thread] = end;
        Ok(Some(Step { call: symbol.call, path: symbol.path, event, start, begin, end }))
    }
}
