//! The events of a rank, one by one.

use crate::broken::Broken;
use crate::bytes::Reader;
use crate::column::{Unfold, Values};
use crate::draw::Drawn;
use crate::hash::Map;
use crate::meta::{NO_SYMBOL, Times};
use crate::part::Key;
use crate::recording::{Piece, Recording};

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
    /// What the counters counted meanwhile, [`NOT_READ`](crate::NOT_READ) for
    /// one that was not read; none where none was.
    pub counters: Option<Vec<u64>>,
}

/// The events of a rank, see [`Recording::events`].
#[derive(Debug)]
pub struct Events<'a> {
    recording: &'a Recording,
    rank: u32,
    pieces: std::vec::IntoIter<&'a Piece>,
    open: Option<Open<'a>>,
    /// When each thread's last event ended.
    clocks: Vec<u64>,
    start: u64,
    event: Event,
}

impl<'a> Events<'a> {
    pub(crate) fn new(recording: &'a Recording, rank: u32, start: u64) -> Self {
        let pieces = recording.pieces(rank).collect::<Vec<_>>().into_iter();
        Self { recording, rank, pieces, open: None, clocks: Vec::new(), start, event: Event::default() }
    }

    /// The next event; none after the last.
    ///
    /// # Errors
    /// The file holds nonsense.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&Event>, Broken> {
        loop {
            if self.open.is_none() {
                let Some(piece) = self.pieces.next() else { return Ok(None) };
                self.open = Some(Open::new(self.recording, piece, self.rank)?);
            }
            let open = self.open.as_mut().expect("opened above");
            if open.next(&mut self.event)? {
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
        self.event.begin = clock.saturating_add(self.event.gap);
        self.event.end = self.event.begin.saturating_add(length);
        *clock = self.event.end;
        Ok(Some(&self.event))
    }
}

/// The columns of a field: of a list, also its values, and the last one.
type Field = (Values, Option<(Values, Vec<i64>)>);

#[derive(Debug)]
enum Clock<'a> {
    /// Gap, length and counters of every event.
    Each(Reader<'a>),
    Drawn(Box<Drawn<'a>>),
}

/// A piece that is being read.
#[derive(Debug)]
struct Open<'a> {
    piece: &'a Piece,
    rank: u32,
    sequence: Unfold,
    threads: Values,
    fields: Map<u32, Vec<Field>>,
    clock: Clock<'a>,
    last: Vec<u32>,
    left: u64,
    n_counters: usize,
}

impl<'a> Open<'a> {
    fn new(recording: &'a Recording, piece: &'a Piece, rank: u32) -> Result<Self, Broken> {
        let part = &piece.part;
        let threads = match part.column(rank, Key::Threads) {
            Some(bytes) => Values::read(&mut Reader::new(bytes))?,
            None => Values::Even(0, 0),
        };
        let sequence = part.sequence(rank)?;
        let clock = match part.times {
            Times::All => Clock::Each(Reader::new(part.column(rank, Key::Times).unwrap_or_default())),
            Times::Histogram => {
                let is_whole = recording.pieces(rank).count() == 1;
                Clock::Drawn(Box::new(Drawn::new(part, rank, sequence.clone(), threads.clone(), is_whole)?))
            }
        };
        let left = part.ranks().iter().find(|meta| meta.rank == rank).map_or(0, |meta| meta.events);
        Ok(Self {
            piece,
            rank,
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
        let place = event.thread as usize;
        if self.last.len() <= place {
            self.last.resize(place + 1, NO_SYMBOL);
        }
        let before = std::mem::replace(&mut self.last[place], symbol);
        match &mut self.clock {
            Clock::Each(reader) => {
                event.gap = reader.number()?;
                event.end = reader.number()?;
                let read = self.n_counters > 0 && reader.byte()? == 1;
                let n = self.n_counters;
                event.counters =
                    read.then(|| (0..n).map(|_| reader.number()).collect::<Result<_, _>>()).transpose()?;
            }
            Clock::Drawn(drawn) => {
                event.gap = drawn.gap(before, symbol);
                event.end = drawn.length(symbol);
                event.counters = drawn.counters(before, symbol);
            }
        }
        Ok(true)
    }

    fn values(&mut self, symbol: u32, values: &mut Vec<i64>) -> Result<(), Broken> {
        values.clear();
        let short = || Broken { at: 0, what: "fewer values than events".to_owned() };
        if !self.fields.contains_key(&symbol) {
            let fields = self.open_fields(symbol)?;
            self.fields.insert(symbol, fields);
        }
        let fields = self.fields.get_mut(&symbol).expect("put there above");
        for (column, list) in fields {
            let value = column.next().ok_or_else(short)?;
            let Some((items, last)) = list else {
                values.push(value);
                continue;
            };
            if value >= 0 {
                last.clear();
                for _ in 0..value {
                    last.push(items.next().ok_or_else(short)?);
                    if last.len() > 1 << 26 {
                        return Err(short());
                    }
                }
            }
            values.push(last.len() as i64);
            values.extend_from_slice(last);
        }
        Ok(())
    }

    fn open_fields(&self, symbol: u32) -> Result<Vec<Field>, Broken> {
        let part = &self.piece.part;
        let missing = || Broken { at: 0, what: "a column is missing".to_owned() };
        let read = |key| {
            let bytes = part.column(self.rank, key).ok_or_else(missing)?;
            Values::read(&mut Reader::new(bytes))
        };
        let mut fields = Vec::new();
        for (number, field) in part.tables.symbols[symbol as usize].0.fields().iter().enumerate() {
            let column = read(Key::Field(symbol, number as u32))?;
            let list = field.is_list.then(|| read(Key::List(symbol, number as u32)));
            fields.push((column, list.transpose()?.map(|values| (values, Vec::new()))));
        }
        Ok(fields)
    }
}
