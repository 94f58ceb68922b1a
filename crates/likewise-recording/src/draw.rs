//! Times that are drawn from histograms: of each burst and call in turn, so
//! that the sums over a rank are those recorded, and the spread is that of all
//! ranks. In which order the times came was not kept.

use crate::column::{Unfold, Values};
use crate::hash::Map;
use crate::histogram::{Cell, Histogram};
use crate::part::{Broken, CellKey, Part};
use crate::recorder::NO_SYMBOL;

/// The next number of a histogram.
#[derive(Debug)]
struct Draw<'a> {
    histogram: &'a Histogram,
    /// So that the sum over the rank is that recorded.
    factor: f64,
    at: u64,
    /// What rounding has left over.
    rest: f64,
}

/// The place of the nth draw between 0 and 1: evenly spread, whatever the
/// number of draws (Weyl's sequence of the golden ratio).
fn share(n: u64) -> f64 {
    (n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1_u64 << 53) as f64
}

impl<'a> Draw<'a> {
    fn new(cell: &'a Cell, rank: u32, n: u64) -> Self {
        let sum = cell.sums.iter().find(|(known, _)| *known == rank).map_or(0, |(_, sum)| *sum);
        // Of many draws a part tells the mean of all.
        let tried = n.min(1 << 12);
        let drawn: f64 = (0..tried).map(|n| cell.all.quantile(share(n))).sum::<f64>();
        let mean = drawn / tried.max(1) as f64;
        let factor = if mean > 0.0 { sum as f64 / n.max(1) as f64 / mean } else { 0.0 };
        Self { histogram: &cell.all, factor, at: 0, rest: 0.0 }
    }

    fn next(&mut self) -> u64 {
        let exact = self.histogram.quantile(share(self.at)) * self.factor + self.rest;
        self.at += 1;
        let whole = exact.max(0.0).floor();
        self.rest = exact - whole;
        whole as u64
    }
}

/// Draws the times of a rank.
#[derive(Debug)]
pub(crate) struct Drawn<'a> {
    part: &'a Part,
    /// Pairs of symbols that have a histogram of their own on this rank.
    own: Map<(u32, u32), ()>,
    draws: Map<CellKey, Draw<'a>>,
    n_counters: u32,
}

impl<'a> Drawn<'a> {
    /// Goes through the sequence once, to know how often each number is asked
    /// for.
    pub(crate) fn new(
        part: &'a Part,
        rank: u32,
        mut sequence: Unfold,
        mut threads: Values,
    ) -> Result<Self, Broken> {
        let of_rank = |cell: &Cell| cell.sums.binary_search_by_key(&rank, |(known, _)| *known).is_ok();
        let own: Map<(u32, u32), ()> = part
            .cells
            .iter()
            .filter(|(_, cell)| of_rank(cell))
            .filter_map(|(key, _)| {
                if let CellKey::Gap(before, symbol) = *key { Some(((before, symbol), ())) } else { None }
            })
            .collect();
        let mut n: Map<CellKey, u64> = Map::default();
        let mut last: Vec<u32> = Vec::new();
        let events = part.ranks().iter().find(|meta| meta.rank == rank).map_or(0, |meta| meta.events);
        for _ in 0..events {
            let (Some(symbol), Some(thread)) = (sequence.next(), threads.next()) else { break };
            let place = usize::try_from(thread).ok().filter(|thread| *thread < 1 << 16);
            let place = place.ok_or_else(|| Broken { at: 0, what: "no such thread".to_owned() })?;
            if last.len() <= place {
                last.resize(place + 1, NO_SYMBOL);
            }
            let symbol = symbol as u32;
            let before = std::mem::replace(&mut last[place], symbol);
            *n.entry(CellKey::Length(symbol)).or_default() += 1;
            *n.entry(gap_key(&own, before, symbol)).or_default() += 1;
        }
        let mut draws = Map::default();
        for (key, cell) in &part.cells {
            let asked = match *key {
                // Not all bursts have counters: as many as there are, spread.
                CellKey::Counter(_, before, symbol) => CellKey::Gap(before, symbol),
                key => key,
            };
            if let Some(n) = n.get(&asked) {
                draws.insert(*key, Draw::new(cell, rank, *n));
            }
        }
        Ok(Self { part, own, draws, n_counters: part.counters.len() as u32 })
    }

    fn next(&mut self, key: CellKey) -> u64 {
        self.draws.get_mut(&key).map_or(0, Draw::next)
    }

    pub(crate) fn length(&mut self, symbol: u32) -> u64 {
        self.next(CellKey::Length(symbol))
    }

    pub(crate) fn gap(&mut self, before: u32, symbol: u32) -> u64 {
        self.next(gap_key(&self.own, before, symbol))
    }

    /// Counters only where every burst between the two symbols has them.
    pub(crate) fn counters(&mut self, before: u32, symbol: u32) -> Option<Vec<u64>> {
        if self.n_counters == 0 {
            return None;
        }
        let gap = gap_key(&self.own, before, symbol);
        let CellKey::Gap(before, symbol) = gap else { return None };
        let n = self.part.cells.get(&gap)?.all.n();
        let key = |counter| CellKey::Counter(counter, before, symbol);
        let all =
            (0..self.n_counters).all(|c| self.part.cells.get(&key(c)).is_some_and(|cell| cell.all.n() == n));
        all.then(|| (0..self.n_counters).map(|counter| self.next(key(counter))).collect())
    }
}

/// Pairs that came late share a histogram.
fn gap_key(own: &Map<(u32, u32), ()>, before: u32, symbol: u32) -> CellKey {
    let before = if own.contains_key(&(before, symbol)) { before } else { NO_SYMBOL };
    CellKey::Gap(before, symbol)
}
