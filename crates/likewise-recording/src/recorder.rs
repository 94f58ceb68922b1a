//! What a rank records: events in, compressed parts out.

use crate::bytes::Write;
use crate::calls::CallId;
use crate::column::Column;
use crate::fold::{Fold, Token};
use crate::hash::Map;
use crate::histogram::{Cell, Histogram};
use crate::meta::{Frame, MOST_OF_ID, NO_SYMBOL, NOT_READ, RankMeta, RecorderOptions, Times, Timing};
use crate::part::{CellKey, Key, Part, Variant};
use crate::tables::{PathNode, Tables};
use std::sync::Arc;

/// Loops of up to half as many calls are found.
const WINDOW: usize = 8192;

/// Pairs of symbols that have a histogram of their own for the burst between
/// them; those that come later share one for all bursts before the second.
const MOST_PAIRS: usize = 4096;

/// What is kept of a symbol's events.
#[derive(Debug)]
struct Calls {
    fields: Box<[Values]>,
    /// Events with the values of the one before, not yet in the columns.
    repeats: u64,
    lengths: Option<Histogram>,
    /// The last symbol before it, and the histograms of the burst between.
    before: u32,
    gap: u32,
}

/// The values of a field.
#[derive(Debug, Default)]
struct Values {
    /// Of a list: its length, or −1 where it is the same as the last one.
    column: Column,
    list: Option<Box<(Column, Vec<i64>)>>,
}

impl Values {
    fn push(&mut self, values: &[i64]) {
        let Some(list) = &mut self.list else {
            self.column.push(values[0]);
            return;
        };
        let (column, last) = &mut **list;
        let values = &values[1..];
        if self.column.len() > 0 && *last == values {
            self.column.push(-1);
            return;
        }
        self.column.push(values.len() as i64);
        values.iter().for_each(|value| column.push(*value));
        last.clear();
        last.extend_from_slice(values);
    }

    fn again(&mut self, times: u64) {
        if self.list.is_some() && times > 0 {
            self.column.push(-1);
            self.column.again(times - 1);
        } else {
            self.column.again(times);
        }
    }

    fn memory(&self) -> usize {
        self.column.memory() + self.list.as_ref().map_or(0, |list| list.0.memory() + list.1.capacity() * 8)
    }
}

/// The burst between two symbols.
#[derive(Debug, Default)]
struct Gap {
    time: Histogram,
    counters: Vec<Histogram>,
}

/// Records one rank.
#[derive(Debug)]
pub struct Recorder {
    options: RecorderOptions,
    tables: Tables,
    strings: Vec<String>,
    known_strings: Map<String, i64>,
    types: Vec<(String, i64, i64)>,
    sequence: Fold,
    threads: Column,
    calls: Vec<Calls>,
    /// The last symbol of each thread.
    last: Vec<u32>,
    gaps: Vec<((u32, u32), Gap)>,
    known_gaps: Map<(u32, u32), u32>,
    each: Vec<u8>,
    n_events: u64,
    taken: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new(&RecorderOptions::default())
    }
}

impl Recorder {
    /// An empty recorder.
    #[must_use]
    pub fn new(options: &RecorderOptions) -> Self {
        Self {
            options: options.clone(),
            tables: Tables::default(),
            strings: Vec::new(),
            known_strings: Map::default(),
            types: Vec::new(),
            sequence: Fold::new(WINDOW),
            threads: Column::default(),
            calls: Vec::new(),
            last: Vec::new(),
            gaps: Vec::new(),
            known_gaps: Map::default(),
            each: Vec::new(),
            n_events: 0,
            taken: 0,
        }
    }

    /// The module with this build id; with an empty one, of that name.
    pub fn module(&mut self, build_id: &[u8], path: &str) -> u32 {
        // Eight bytes tell objects apart, and random bytes cannot be packed.
        self.tables.module(&build_id[..build_id.len().min(MOST_OF_ID)], path)
    }

    /// The call path of these frames, the innermost first.
    pub fn path(&mut self, frames: &[Frame]) -> u32 {
        let outermost_first = frames.iter().rev();
        outermost_first.fold(0, |parent, frame| self.tables.path(PathNode { parent, frame: *frame }))
    }

    /// A call from a call path.
    pub fn symbol(&mut self, call: CallId, path: u32) -> u32 {
        let symbol = self.tables.symbol(call, path);
        while self.calls.len() <= symbol as usize {
            let (call, _) = self.tables.symbols[self.calls.len()];
            self.calls.push(Calls::of(call));
        }
        symbol
    }

    /// A string's place in the table.
    pub fn string(&mut self, text: &str) -> i64 {
        if let Some(place) = self.known_strings.get(text) {
            return *place;
        }
        let place = self.strings.len() as i64;
        self.strings.push(text.to_owned());
        self.known_strings.insert(text.to_owned(), place);
        place
    }

    /// A datatype's place in the table.
    pub fn datatype(&mut self, name: &str, size: i64, extent: i64) -> i64 {
        let same = |known: &(String, i64, i64)| known.0 == name && known.1 == size && known.2 == extent;
        let place = self.types.iter().position(same).unwrap_or_else(|| {
            self.types.push((name.to_owned(), size, extent));
            self.types.len() - 1
        });
        place as i64
    }

    /// Records an event. `values` are its fields in order, where a list is
    /// its length and then its values.
    ///
    /// # Panics
    /// If there are fewer values than the call has fields.
    pub fn event(&mut self, symbol: u32, values: &[i64], time: &Timing<'_>) {
        let calls = &mut self.calls[symbol as usize];
        calls.settle();
        let mut rest = values;
        for field in &mut *calls.fields {
            let taken = if field.list.is_some() { 1 + rest[0] as usize } else { 1 };
            let (own, after) = rest.split_at(taken);
            field.push(own);
            rest = after;
        }
        self.common(symbol, time);
    }

    /// Records an event whose values are those of the symbol's last one.
    #[inline]
    pub fn again(&mut self, symbol: u32, time: &Timing<'_>) {
        self.calls[symbol as usize].repeats += 1;
        self.common(symbol, time);
    }

    #[inline]
    fn common(&mut self, symbol: u32, time: &Timing<'_>) {
        self.n_events += 1;
        self.sequence.push(Token::from(symbol));
        self.threads.push(i64::from(time.thread));
        if self.last.len() <= time.thread as usize {
            self.last.resize(time.thread as usize + 1, NO_SYMBOL);
        }
        let before = std::mem::replace(&mut self.last[time.thread as usize], symbol);
        match self.options.times {
            Times::Histogram => self.count(before, symbol, time),
            Times::All => self.list(time),
        }
    }

    #[inline]
    fn count(&mut self, before: u32, symbol: u32, time: &Timing<'_>) {
        let calls = &mut self.calls[symbol as usize];
        calls.lengths.get_or_insert_default().add(time.length);
        if calls.before != before || calls.gap as usize >= self.gaps.len() {
            self.find_gap(before, symbol);
        }
        let gap = &mut self.gaps[self.calls[symbol as usize].gap as usize].1;
        gap.time.add(time.gap);
        if let Some(counters) = time.counters {
            gap.counters.resize_with(counters.len(), Histogram::default);
            let read = gap.counters.iter_mut().zip(counters).filter(|(_, value)| **value != NOT_READ);
            read.for_each(|(histogram, value)| histogram.add(*value));
        }
    }

    #[cold]
    fn find_gap(&mut self, before: u32, symbol: u32) {
        let own = self.known_gaps.contains_key(&(before, symbol)) || self.gaps.len() < MOST_PAIRS;
        let key = if own { (before, symbol) } else { (NO_SYMBOL, symbol) };
        let next = self.gaps.len() as u32;
        let gap = *self.known_gaps.entry(key).or_insert(next);
        if gap == next {
            self.gaps.push((key, Gap::default()));
        }
        let calls = &mut self.calls[symbol as usize];
        calls.before = before;
        calls.gap = gap;
    }

    fn list(&mut self, time: &Timing<'_>) {
        self.each.number(time.gap.min(u64::MAX >> 1) << 1 | u64::from(time.pause > 0));
        if time.pause > 0 {
            self.each.number(time.pause);
        }
        self.each.number(time.length);
        if self.options.counters.is_empty() {
            return;
        }
        self.each.push(u8::from(time.counters.is_some()));
        time.counters.into_iter().flatten().for_each(|value| self.each.number(*value));
    }

    /// How many events there are.
    #[must_use]
    pub fn n_events(&self) -> u64 {
        self.n_events
    }

    /// How many events there are since the last [`take`](Self::take).
    #[must_use]
    #[inline]
    pub fn n_open(&self) -> u64 {
        self.n_events - self.taken
    }

    /// The build id and the file of a module.
    ///
    /// # Panics
    /// If there is no such module.
    #[must_use]
    pub fn module_of(&self, module: u32) -> (&[u8], &str) {
        let (build_id, file) = &self.tables.modules[module as usize];
        (build_id, file)
    }

    /// About how many bytes of memory what was recorded takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let fields = self.calls.iter().flat_map(|calls| &calls.fields);
        self.sequence.memory()
            + self.threads.memory()
            + self.each.capacity()
            + self.gaps.len() * 1200
            + self.calls.len() * 1200
            + fields.map(Values::memory).sum::<usize>()
            + self.tables.paths.len() * 64
    }

    /// What was recorded since the last [`take`](Self::take).
    #[must_use]
    pub fn snapshot(&mut self, meta: &RankMeta) -> Part {
        self.calls.iter_mut().for_each(Calls::settle);
        let ranks: Arc<[u32]> = Arc::from([meta.rank]);
        let mut part = Part {
            times: self.options.times,
            pauses: self.options.times == Times::All,
            counters: self.options.counters.clone(),
            tables: self.tables.clone(),
            nodes: self.sequence.nodes.iter().map(|node| node.body.to_vec()).collect(),
            ranks: vec![RankMeta { events: self.n_events - self.taken, ..meta.clone() }],
            top: vec![Variant { ranks: ranks.clone(), what: self.sequence.items() }],
            ..Part::default()
        };
        let mut add =
            |key, what| part.columns.entry(key).or_default().push(Variant { ranks: ranks.clone(), what });
        let written = |column: &Column| {
            let mut bytes = Vec::new();
            column.write(&mut bytes);
            bytes
        };
        for (node, body) in self.sequence.nodes.iter().enumerate() {
            for (place, column) in &body.counts {
                add(Key::Count(node as u32, *place), written(column));
            }
        }
        for (symbol, calls) in self.calls.iter().enumerate() {
            for (field, values) in calls.fields.iter().enumerate().filter(|(_, v)| v.column.len() > 0) {
                add(Key::Field(symbol as u32, field as u32), written(&values.column));
                if let Some(list) = &values.list {
                    let mut bytes = Vec::new();
                    list.0.write_values(&mut bytes);
                    add(Key::List(symbol as u32, field as u32), bytes);
                }
            }
        }
        if self.threads.len() > 0 {
            add(Key::Threads, written(&self.threads));
        }
        add(Key::Types, self.written_types());
        add(Key::Strings, self.written_strings());
        if self.options.times == Times::All {
            add(Key::Times, self.each.clone());
        }
        part.cells = self.cells(meta.rank);
        part
    }

    fn cells(&self, rank: u32) -> std::collections::BTreeMap<CellKey, Cell> {
        let lengths = self.calls.iter().enumerate().filter_map(|(symbol, calls)| {
            Some((CellKey::Length(symbol as u32), Cell::of_rank(rank, calls.lengths.clone()?)))
        });
        let gaps = self.gaps.iter().flat_map(|((before, symbol), gap)| {
            let time = (CellKey::Gap(*before, *symbol), Cell::of_rank(rank, gap.time.clone()));
            let read = gap.counters.iter().enumerate().filter(|(_, histogram)| histogram.n() > 0);
            let counters = read.map(|(counter, histogram)| {
                let key = CellKey::Counter(counter as u32, *before, *symbol);
                (key, Cell::of_rank(rank, histogram.clone()))
            });
            std::iter::once(time).chain(counters)
        });
        lengths.chain(gaps).collect()
    }

    fn written_types(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.number(self.types.len() as u64);
        for (name, size, extent) in &self.types {
            // Those of MPI's own types begin alike.
            bytes.block(name.as_bytes());
            bytes.signed(*size);
            bytes.signed(*extent - *size);
        }
        bytes
    }

    fn written_strings(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.number(self.strings.len() as u64);
        self.strings.iter().for_each(|text| bytes.block(text.as_bytes()));
        bytes
    }

    /// What was recorded since the last time; the memory is free again.
    pub fn take(&mut self, meta: &RankMeta) -> Part {
        let part = self.snapshot(meta);
        self.sequence = Fold::new(WINDOW);
        self.threads = Column::default();
        for (calls, (call, _)) in self.calls.iter_mut().zip(&self.tables.symbols) {
            *calls = Calls::of(*call);
        }
        self.gaps.clear();
        self.known_gaps.clear();
        self.each = Vec::new();
        self.taken = self.n_events;
        part
    }
}

impl Calls {
    fn of(call: CallId) -> Self {
        let list = |is_list: bool| is_list.then(Box::default);
        let values =
            call.fields().iter().map(|field| Values { list: list(field.is_list), ..Values::default() });
        let fields = values.collect();
        Self { fields, repeats: 0, lengths: None, before: NO_SYMBOL, gap: u32::MAX }
    }

    /// Puts repeats into the columns.
    fn settle(&mut self) {
        if self.repeats > 0 {
            let times = std::mem::take(&mut self.repeats);
            self.fields.iter_mut().for_each(|field| field.again(times));
        }
    }
}
