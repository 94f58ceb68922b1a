//! The events of a rank, one by one.

use crate::broken::Broken;
use crate::bytes::Reader;
use crate::column::{Unfold, Values};
use crate::draw::Drawn;
use crate::fields::Fields;
use crate::follow::Follower;
use crate::hash::Map;
use crate::meta::{NO_SYMBOL, Times};
use crate::part::Key;
use crate::recording::{Piece, Recording, Span};
use std::collections::hash_map::Entry;

/// An event of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// Its place in [`Recording::symbols`].
    pub symbol: u32,
    /// Which thread called, from 0.
    pub thread: u32,
    /// Its fields in order, see [`CallId::fields`](crate::CallId::fields); a
    /// list is its length and then its values.
    pub values: Vec<i64>,
    /// When it began, in ns since the first rank did. With histograms, times
    /// are drawn from them.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// How long the thread computed before it.
    pub gap: u64,
    /// How long the recorder was at work before that.
    pub pause: u64,
    /// Whose times and counters these are, where the rank itself did not record:
    /// its lead.
    pub lead: Option<u32>,
    /// Whether some of the values are the lead's too, since it is not known which
    /// of the rank's own go with them.
    pub lent: bool,
    /// What the counters counted meanwhile, [`NOT_READ`](crate::NOT_READ) for
    /// one that was not read; none where none was.
    pub counters: Option<Vec<u64>>,
}

impl Recording {
    /// The events of a rank, in order.
    #[must_use]
    pub fn events(&self, rank: u32) -> Events<'_> {
        let first = self.ranks().iter().map(|meta| meta.start).min().unwrap_or(0);
        let own = self.ranks().iter().find(|meta| meta.rank == rank).map_or(first, |meta| meta.start);
        Events::new(self, rank, own - first)
    }
}

/// The events of a rank, see [`Recording::events`].
#[derive(Debug)]
pub struct Events<'a> {
    recording: &'a Recording,
    rank: u32,
    spans: std::slice::Iter<'a, Span>,
    open: Option<Open<'a>>,
    /// What the values of leads are called by this rank; only where it has any.
    follower: Option<Follower<'a>>,
    /// When each thread's last event ended.
    clocks: Vec<u64>,
    start: u64,
    event: Event,
}

impl<'a> Events<'a> {
    fn new(recording: &'a Recording, rank: u32, start: u64) -> Self {
        let spans = recording.spans(rank).iter();
        let follower = recording.lead_of(rank).map(|_| Follower::new(recording, rank));
        let (open, clocks, event) = (None, Vec::new(), Event::default());
        Self { recording, rank, spans, open, follower, clocks, start, event }
    }

    /// The next event; none after the last.
    ///
    /// # Errors
    /// The file holds nonsense.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&Event>, Broken> {
        loop {
            if self.open.is_none() {
                let Some(span) = self.spans.next() else { return Ok(None) };
                self.open = Some(Open::new(self.recording, *span, self.rank)?);
            }
            let open = self.open.as_mut().expect("opened above");
            if open.next(&mut self.event)? {
                if let (Some(lead), Some(follower)) = (self.event.lead, &mut self.follower) {
                    let Event { symbol, values, .. } = &mut self.event;
                    self.event.lent = !follower.map((open.at, lead), *symbol, values);
                }
                break;
            }
            self.open = None;
        }
        let thread = self.event.thread as usize;
        if self.clocks.len() <= thread {
            self.clocks.resize(thread + 1, self.start);
        }
        let clock = &mut self.clocks[thread];
        // `Open` has put the length there.
        let length = self.event.end;
        self.event.begin = clock.saturating_add(self.event.pause).saturating_add(self.event.gap);
        self.event.end = self.event.begin.saturating_add(length);
        *clock = self.event.end;
        Ok(Some(&self.event))
    }
}

#[derive(Debug)]
enum Clock<'a> {
    /// Pause (if there are any), gap, length and counters of every event.
    Each(Reader<'a>),
    Drawn(Box<Drawn<'a>>),
}

/// A piece that is being read.
#[derive(Debug)]
struct Open<'a> {
    piece: &'a Piece,
    /// Its place.
    at: usize,
    /// The rank that was measured.
    measured: u32,
    lead: Option<u32>,
    sequence: Unfold,
    threads: Values,
    fields: Map<u32, Fields>,
    clock: Clock<'a>,
    last: Vec<u32>,
    left: u64,
    n_counters: usize,
}

impl<'a> Open<'a> {
    fn new(recording: &'a Recording, span: Span, rank: u32) -> Result<Self, Broken> {
        let piece = recording.piece(span.piece);
        let part = &piece.part;
        let lead = span.lead.map(|(lead, _)| lead);
        let measured = lead.unwrap_or(rank);
        let threads = match part.column(measured, Key::Threads) {
            Some(bytes) => Values::read(&mut Reader::new(bytes))?,
            None => Values::Even(0, 0),
        };
        let sequence = part.sequence(measured)?;
        let clock = match part.times {
            Times::All => Clock::Each(Reader::new(part.column(measured, Key::Times).unwrap_or_default())),
            Times::Histogram => {
                // Of a rank that stands behind it, the times are those drawn for the lead.
                let is_whole = recording.spans(measured).len() == 1;
                Clock::Drawn(Box::new(Drawn::new(
                    part,
                    measured,
                    sequence.clone(),
                    threads.clone(),
                    is_whole,
                )?))
            }
        };
        let left = span.lead.map_or_else(|| part.n_events(rank), |(_, events)| events);
        Ok(Self {
            piece,
            at: span.piece,
            measured,
            lead,
            sequence,
            threads,
            fields: Map::default(),
            clock,
            last: Vec::new(),
            left,
            n_counters: recording.counters().len(),
        })
    }

    /// Reads the next event; its length stands in `end`.
    fn next(&mut self, event: &mut Event) -> Result<bool, Broken> {
        let short = || Broken { at: 0, what: "fewer events than it says".to_owned() };
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let symbol = self.sequence.next().ok_or_else(short)? as u32;
        let thread = self.threads.next().and_then(|thread| u32::try_from(thread).ok());
        event.thread = thread.filter(|thread| *thread < 1 << 16).ok_or_else(short)?;
        event.symbol = self.piece.symbols[symbol as usize];
        self.values(symbol, &mut event.values)?;
        event.lead = self.lead;
        event.lent = false;
        let place = event.thread as usize;
        if self.last.len() <= place {
            self.last.resize(place + 1, NO_SYMBOL);
        }
        let before = std::mem::replace(&mut self.last[place], symbol);
        match &mut self.clock {
            Clock::Each(reader) => {
                (event.gap, event.pause) = (reader.number()?, 0);
                if self.piece.part.pauses {
                    if event.gap & 1 == 1 {
                        event.pause = reader.number()?;
                    }
                    event.gap >>= 1;
                }
                event.end = reader.number()?;
                let read = self.n_counters > 0 && reader.byte()? == 1;
                let n = self.n_counters;
                event.counters =
                    read.then(|| (0..n).map(|_| reader.number()).collect::<Result<_, _>>()).transpose()?;
            }
            Clock::Drawn(drawn) => {
                event.pause = 0;
                event.gap = drawn.gap(before, symbol);
                event.end = drawn.length(symbol);
                event.counters = drawn.counters(before, symbol);
            }
        }
        Ok(true)
    }

    /// Its values, as the rank that was measured has them.
    fn values(&mut self, symbol: u32, values: &mut Vec<i64>) -> Result<(), Broken> {
        let fields = match self.fields.entry(symbol) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Fields::open(&self.piece.part, self.measured, symbol)?),
        };
        fields.next(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Write as _;
    use crate::calls::number;
    use crate::meta::{RankMeta, RecorderOptions, Timing};
    use crate::recorder::Recorder;

    /// Recordings of before pauses were kept have times of another form; both may be in one.
    #[test]
    fn times_without_pauses_are_read_as_they_are() {
        let options = RecorderOptions { times: Times::All, ..RecorderOptions::default() };
        let mut recorder = Recorder::new(&options);
        let symbol = recorder.symbol(number::Barrier, 0);
        for (pause, gap) in [(0, 10), (7, 20)] {
            recorder.event(symbol, &[0], &Timing { pause, gap, length: 5, ..Timing::default() });
        }
        let new = recorder.take(&RankMeta { size: 1, ..RankMeta::default() });
        let mut old = new.clone();
        old.pauses = false;
        let mut times = Vec::new();
        [30, 5, 40, 5].into_iter().for_each(|number| times.number(number));
        old.columns.get_mut(&Key::Times).expect("it has times")[0].what = times;
        let decoded = |part: &crate::Part| crate::Part::decode(&part.encode()).expect("a part");
        let recording = Recording::of_parts(vec![(0, decoded(&new)), (1, decoded(&old))], None);
        let (mut events, mut found) = (recording.events(0), Vec::new());
        while let Some(event) = events.next().expect("it is whole") {
            found.push((event.pause, event.gap, event.begin));
        }
        assert_eq!(found, [(0, 10, 10), (7, 20, 42), (0, 30, 77), (0, 40, 122)]);
    }
}
