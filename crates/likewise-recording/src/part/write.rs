//! A part as bytes. `docs/recording.md` describes them.

use super::{CellKey, Key, Part, Variant};
use crate::bytes::{Reader, Write, zigzag};
use crate::calls::number;
use crate::column::{CONSTANT, Column, EVEN, LISTED};
use crate::fold::{Item, Token, node_of};
use crate::hash::{Map, mixed};
use crate::histogram::{COARSE, Cell, FINE, Histogram, NOT_KEPT, STEPS, code, decode};
use crate::meta::{NO_SYMBOL, RankMeta, Times};
use std::collections::{BTreeMap, BTreeSet};

/// Every event has its own times.
pub(super) const ALL_TIMES: u8 = 1;
/// Sums of ranks are whole numbers and not rounded; times are in ns.
pub(super) const EXACT: u8 = 2;
/// Ranks stand behind leads.
pub(super) const STANDS: u8 = 4;
/// The times of every event tell of pauses before it.
pub(super) const PAUSES: u8 = 8;
/// Behind the other columns of ranks: which CPUs they may use.
pub(super) const CPUS: u8 = 16;
/// In place of the number of variants: numbers that differ from rank to rank,
/// as columns over the ranks.
pub(super) const ACROSS: u64 = 0;

/// With this one, no two calls of the table have the same hash.
const SEED: u64 = 26;

/// A call by its name, so that files outlive the numbers of the table.
pub(super) fn name_hash(name: &str) -> u16 {
    let hash = name.bytes().fold(SEED, |hash: u64, byte| mixed(hash.rotate_left(7) ^ u64::from(byte)));
    (hash >> 48) as u16
}

impl Part {
    /// As bytes, for a message: nothing is rounded.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        Writer { part: self, exact: true, lists: Lists::default() }.write(&mut bytes);
        bytes
    }

    /// As bytes, for a file: sums are rounded, see `histogram`, and when a rank
    /// began and how long it took.
    #[must_use]
    pub fn encode_rounded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        Writer { part: self, exact: false, lists: Lists::default() }.write(&mut bytes);
        bytes
    }
}

/// Lists of ranks, each written once; 0 is the list of all.
#[derive(Default)]
struct Lists {
    lists: Vec<Vec<u32>>,
    known: Map<Vec<u32>, u64>,
}

impl Lists {
    fn number(&mut self, ranks: &[u32]) -> u64 {
        if let Some(number) = self.known.get(ranks) {
            return *number;
        }
        let number = self.lists.len() as u64;
        self.lists.push(ranks.to_vec());
        self.known.insert(ranks.to_vec(), number);
        number
    }
}

/// What times of ranks are written in, in ns: where single times are drawn,
/// finer ones would tell nothing.
pub(super) fn unit(exact: bool, times: Times) -> u64 {
    match (exact, times) {
        (true, _) => 1,
        (false, Times::All) => 1000,
        (false, Times::Histogram) => 100_000,
    }
}

struct Writer<'a> {
    part: &'a Part,
    exact: bool,
    lists: Lists,
}

pub(super) fn column_of(values: impl Iterator<Item = i64>) -> Column {
    let mut column = Column::default();
    values.for_each(|value| column.push(value));
    column
}

impl Writer<'_> {
    fn write(&mut self, bytes: &mut Vec<u8>) {
        let part = self.part;
        let all: Vec<u32> = part.ranks.iter().map(|meta| meta.rank).collect();
        self.lists.number(&all);
        // The lists are known when all else is written.
        let mut rest = Vec::new();
        self.tables(&mut rest);
        self.structure(&mut rest);
        self.columns(&mut rest);
        self.cells(&mut rest);
        let flag = |flag: u8, is_so: bool| if is_so { flag } else { 0 };
        let stands = flag(STANDS, !part.stands.is_empty());
        let times = flag(ALL_TIMES, part.times == Times::All) | flag(PAUSES, part.pauses);
        let cpus = flag(CPUS, part.ranks.iter().any(|meta| meta.cpus.n > 0));
        bytes.push(times | flag(EXACT, self.exact) | stands | cpus);
        bytes.number(part.counters.len() as u64);
        part.counters.iter().for_each(|name| bytes.block(name.as_bytes()));
        self.ranks(bytes, cpus != 0);
        bytes.number(self.lists.lists.len() as u64 - 1);
        for list in &self.lists.lists[1..] {
            bytes.number(list.len() as u64);
            column_of(list.iter().map(|rank| i64::from(*rank))).write(bytes);
        }
        bytes.append(&mut rest);
        if stands != 0 {
            super::stand::write(&part.stands, bytes);
        }
    }

    fn ranks(&self, bytes: &mut Vec<u8>, with_cpus: bool) {
        let ranks = &self.part.ranks;
        let unit = unit(self.exact, self.part.times);
        let start = ranks.iter().map(|meta| meta.start).min().unwrap_or(0) / unit;
        bytes.number(ranks.len() as u64);
        bytes.number(ranks.first().map_or(0, |meta| u64::from(meta.size)));
        bytes.number(start);
        let mut nodes: Vec<&str> = Vec::new();
        for meta in ranks {
            if !nodes.contains(&&*meta.node) {
                nodes.push(&meta.node);
            }
        }
        bytes.number(nodes.len() as u64);
        nodes.iter().for_each(|node| bytes.block(node.as_bytes()));
        // All ranks end at nearly the same time.
        let end = |meta: &RankMeta| meta.start.saturating_add(meta.wall) / unit;
        let last = ranks.iter().map(end).max().unwrap_or(0);
        bytes.number(last.saturating_sub(start));
        let place = |meta: &RankMeta| nodes.iter().position(|node| *node == meta.node).unwrap_or(0);
        let mut column = |value: &dyn Fn(&RankMeta) -> i64| column_of(ranks.iter().map(value)).write(bytes);
        column(&|meta| i64::from(meta.rank));
        column(&|meta| (meta.start / unit - start) as i64);
        column(&|meta| (last - end(meta)) as i64);
        column(&|meta| meta.events as i64);
        column(&|meta| place(meta) as i64);
        if with_cpus {
            column(&|meta| i64::from(meta.cpus.first));
            column(&|meta| i64::from(meta.cpus.last));
            column(&|meta| i64::from(meta.cpus.n));
        }
    }

    fn tables(&self, bytes: &mut Vec<u8>) {
        let tables = &self.part.tables;
        bytes.number(tables.modules.len() as u64);
        for (id, file) in &tables.modules {
            bytes.block(id);
            bytes.block(file.as_bytes());
        }
        bytes.number(tables.paths.len() as u64);
        let mut last = vec![0_u64; tables.modules.len()];
        for (at, node) in tables.paths.iter().enumerate() {
            // The parent is mostly the path before.
            bytes.number(at as u64 - u64::from(node.parent));
            bytes.number(u64::from(node.frame.module));
            let last = &mut last[node.frame.module as usize];
            bytes.signed(node.frame.offset.wrapping_sub(*last) as i64);
            *last = node.frame.offset;
        }
        bytes.number(tables.symbols.len() as u64);
        let mut last = 0;
        for (call, path) in &tables.symbols {
            bytes.extend(name_hash(call.name()).to_le_bytes());
            bytes.signed(i64::from(*path) - last);
            last = i64::from(*path);
        }
    }

    fn structure(&mut self, bytes: &mut Vec<u8>) {
        bytes.number(self.part.nodes.len() as u64);
        let mut last = 0;
        for body in &self.part.nodes {
            bytes.number(body.len() as u64);
            body.iter().for_each(|token| write_near(bytes, *token, &mut last));
        }
        bytes.number(self.part.top.len() as u64);
        for variant in &self.part.top {
            bytes.number(self.lists.number(&variant.ranks));
            bytes.number(variant.what.len() as u64);
            let mut last = 0;
            for Item { token, count } in &variant.what {
                write_near(bytes, *token, &mut last);
                if node_of(*token).is_some() {
                    bytes.number(*count);
                }
            }
        }
    }

    /// In the order in which the reader asks for them.
    fn columns(&mut self, bytes: &mut Vec<u8>) {
        for key in self.part.keys() {
            let variants = self.part.columns.get(&key).map_or(&[][..], |variants| variants);
            let is_column = !matches!(key, Key::Types | Key::Strings | Key::Times);
            if let Some((ranks, across)) = across(variants).filter(|_| is_column) {
                bytes.number(ACROSS);
                bytes.number(self.lists.number(&ranks));
                bytes.extend(across);
                continue;
            }
            bytes.number(variants.len() as u64 + 1);
            for variant in variants {
                bytes.number(self.lists.number(&variant.ranks));
                match key {
                    Key::Types | Key::Strings | Key::Times => bytes.block(&variant.what),
                    _ => bytes.extend(&variant.what),
                }
            }
        }
    }

    fn cells(&mut self, bytes: &mut Vec<u8>) {
        let cells = &self.part.cells;
        let small = if self.exact { BTreeSet::new() } else { self.part.small() };
        bytes.number(cells.len() as u64);
        let mut last = [0_i64; 2];
        for (key, cell) in cells {
            let (kind, before, symbol) = match *key {
                CellKey::Length(symbol) => (0, 0, symbol),
                CellKey::Gap(before, symbol) => (1, before, symbol),
                CellKey::Counter(counter, before, symbol) => (2 + u64::from(counter), before, symbol),
            };
            bytes.number(kind << 1 | u64::from(small.contains(key)));
            for (last, symbol) in last.iter_mut().zip([before, symbol]) {
                let symbol = if symbol == NO_SYMBOL { -1 } else { i64::from(symbol) };
                bytes.signed(symbol - *last);
                *last = symbol;
            }
            let ranks: Vec<u32> = cell.sums.iter().map(|(rank, _)| *rank).collect();
            bytes.number(self.lists.number(&ranks));
            if small.contains(key) {
                bytes.number(cell.all.n());
                bytes.number(code(cell.all.mean(), STEPS) as u64);
            } else {
                self.cell(bytes, cell, steps_of(*key));
            }
        }
    }

    fn cell(&mut self, bytes: &mut Vec<u8>, cell: &Cell, steps: f64) {
        let joined = if self.exact { 1 } else { cell.all.joined() };
        let (first, counts) = cell.all.coarse(joined);
        bytes.number(u64::from(joined.ilog2()));
        bytes.number(first as u64);
        bytes.number(counts.len() as u64);
        counts.iter().for_each(|n| bytes.number(*n));
        if self.exact {
            bytes.number(cell.all.sum);
            if cell.sums.len() > 1 {
                cell.sums.iter().for_each(|(_, sum)| bytes.number(*sum));
            }
            return;
        }
        // As the reader will see it.
        let seen = Histogram::of_coarse(joined, first, &counts).map_or(0, |seen| seen.likely_sum());
        let all = code(cell.all.sum, FINE);
        bytes.signed(all - code(seen, FINE));
        if cell.sums.len() > 1 {
            // The reader has the rounded sum, whose mean may have another code.
            let mean = code(decode(all, FINE) / cell.sums.len() as u64, steps);
            let own = |sum: u64| if sum == NOT_KEPT { mean } else { code(sum, steps) };
            cell.sums.iter().for_each(|(_, sum)| bytes.signed(own(*sum) - mean));
        }
    }
}

/// How finely the sums of ranks are kept.
pub(super) fn steps_of(key: CellKey) -> f64 {
    if matches!(key, CellKey::Length(_)) { COARSE } else { STEPS }
}

/// A token: a leaf by its distance from the last leaf.
fn write_near(bytes: &mut Vec<u8>, token: Token, last: &mut i64) {
    if let Some(node) = node_of(token) {
        bytes.number(u64::from(node) << 1 | 1);
        return;
    }
    // The next symbol is what mostly comes.
    bytes.number(zigzag(token as i64 - *last - 1) << 1);
    *last = token as i64;
}

impl Part {
    /// The columns that there may be, in the order of the file.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys = vec![Key::Threads, Key::Types, Key::Strings];
        if self.times == Times::All {
            keys.push(Key::Times);
        }
        for (node, body) in self.nodes.iter().enumerate() {
            let loops = body.iter().enumerate().filter(|(_, token)| node_of(**token).is_some());
            keys.extend(loops.map(|(place, _)| Key::Count(node as u32, place as u32)));
        }
        for (symbol, (call, _)) in self.tables.symbols.iter().enumerate() {
            for (field, what) in call.fields().iter().enumerate() {
                keys.push(Key::Field(symbol as u32, field as u32));
                if what.is_list {
                    keys.push(Key::List(symbol as u32, field as u32));
                }
            }
        }
        keys
    }
}

/// Histograms of so little time, together, have only their mean.
const LITTLE: u64 = 500;

impl Part {
    /// The smallest histograms, which together hold less than a five-hundredth of
    /// the computing time, or of the time in MPI; and the counters of such
    /// bursts. MPI's own beginning and end do not count.
    fn small(&self) -> BTreeSet<CellKey> {
        let is_gap = |key: &CellKey| matches!(key, CellKey::Gap(..));
        let counts = |key: &CellKey| match *key {
            CellKey::Length(symbol) | CellKey::Gap(_, symbol) => {
                let call = self.tables.symbols[symbol as usize].0;
                ![number::Init, number::Init_thread, number::Finalize].contains(&call)
            }
            CellKey::Counter(..) => false,
        };
        let mut small = BTreeSet::new();
        for gaps in [false, true] {
            let own = |(key, _): &(&CellKey, &Cell)| counts(key) && is_gap(key) == gaps;
            let mut cells: Vec<(&CellKey, &Cell)> = self.cells.iter().filter(own).collect();
            cells.sort_by_key(|(_, cell)| cell.all.sum);
            let total: u64 = cells.iter().fold(0, |sum, (_, cell)| sum.saturating_add(cell.all.sum));
            let mut left = total / LITTLE;
            for (key, cell) in cells {
                let Some(rest) = left.checked_sub(cell.all.sum) else { break };
                left = rest;
                small.insert(*key);
            }
        }
        let of_small = |key: &&CellKey| match **key {
            CellKey::Counter(_, before, symbol) => small.contains(&CellKey::Gap(before, symbol)),
            _ => false,
        };
        let counters: Vec<CellKey> = self.cells.keys().filter(of_small).copied().collect();
        small.extend(counters);
        small
    }
}

/// The few numbers of a written column: of a constant one, of an arithmetic
/// one, or of a list.
fn numbers(written: &[u8]) -> Option<(u8, Vec<i64>)> {
    let mut reader = Reader::new(written);
    let kind = reader.byte().ok()?;
    let n = match kind {
        CONSTANT => 1,
        EVEN => 2,
        LISTED => reader.count().ok()?,
        _ => return None,
    };
    let numbers = (0..n).map(|_| reader.signed()).collect::<Result<_, _>>().ok()?;
    Some((kind, numbers))
}

/// Variants that have the same number of numbers, as a column over the ranks
/// for each number; with the ranks. None where that takes more bytes.
fn across(variants: &[Variant<Vec<u8>>]) -> Option<(Vec<u32>, Vec<u8>)> {
    if variants.len() < 2 {
        return None;
    }
    let mut of_rank: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    let (kind, first) = numbers(&variants[0].what)?;
    for variant in variants {
        let (own, numbers) = numbers(&variant.what)?;
        if own != kind || numbers.len() != first.len() {
            return None;
        }
        of_rank.extend(variant.ranks.iter().map(|rank| (*rank, numbers.clone())));
    }
    let mut bytes = vec![kind];
    bytes.number(first.len() as u64);
    for place in 0..first.len() {
        column_of(of_rank.values().map(|numbers| numbers[place])).write(&mut bytes);
    }
    // A list of ranks takes some bytes too.
    let apart: usize = variants.iter().map(|variant| variant.what.len() + 3).sum();
    (bytes.len() < apart).then(|| (of_rank.into_keys().collect(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::{CallId, N_CALLS};
    use crate::{Cpus, Recorder, RecorderOptions, Timing};

    /// Recordings made before CPUs were kept have no bit 4, and three columns less.
    #[test]
    fn a_part_without_cpus_of_ranks_is_read_as_it_is() {
        let part = |rank: u32, cpus: Cpus| {
            let mut recorder = Recorder::new(&RecorderOptions::default());
            let symbol = recorder.symbol(number::Barrier, 0);
            recorder.event(symbol, &[0], &Timing { gap: 10, length: 5, ..Timing::default() });
            recorder.take(&RankMeta { rank, size: 2, node: "a".to_owned(), cpus, ..RankMeta::default() })
        };
        let known = Cpus { first: 0, last: 3, n: 4 };
        let (old, new) = (part(0, Cpus::default()).encode(), part(1, known).encode());
        assert_eq!([old[0] & CPUS, new[0] & CPUS], [0, CPUS]);
        let read = |bytes: &[u8]| Part::decode(bytes).expect("a part").ranks().to_vec();
        let (old, new) = (read(&old), read(&new));
        assert_eq!((old[0].rank, &*old[0].node, old[0].cpus), (0, "a", Cpus::default()));
        assert_eq!((new[0].rank, &*new[0].node, new[0].cpus), (1, "a", known));
        // A bit that nobody knows is refused.
        let mut other = part(0, known).encode();
        other[0] |= 1 << 5;
        assert!(Part::decode(&other).is_err());
    }

    #[test]
    fn every_call_has_a_hash_of_its_own() {
        let mut hashes: Vec<u16> = (0..N_CALLS as u16).map(|call| name_hash(CallId(call).name())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), N_CALLS);
    }
}
