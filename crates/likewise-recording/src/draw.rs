//! Times that are drawn from histograms: of each burst and call in turn, so
//! that the sums over a rank are those recorded, and the spread is that of all
//! ranks. In which order the times came was not kept.

use crate::broken::Broken;
use crate::column::{Unfold, Values};
use crate::hash::Map;
use crate::histogram::{Cell, NOT_KEPT, quantile};
use crate::meta::{NO_SYMBOL, NOT_READ};
use crate::part::{CellKey, Part};

/// Sums of times in MPI are rounded by no more.
const MOST_ROUNDING: f64 = 1.1;

/// The next number of a histogram.
#[derive(Debug)]
struct Draw {
    steps: Vec<(f64, f64, f64)>,
    n: f64,
    /// So that the sum over the rank is that recorded.
    factor: f64,
    /// That sum.
    sum: f64,
    at: u64,
    /// What rounding has left over.
    rest: f64,
}

/// The place of the nth draw between 0 and 1: evenly spread, whatever the
/// number of draws (Weyl's sequence of the golden ratio).
fn share(n: u64) -> f64 {
    (n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1_u64 << 53) as f64
}

impl Draw {
    fn new(cell: &Cell, rank: u32, n: u64) -> Self {
        let sum = match cell.sums.binary_search_by_key(&rank, |(known, _)| *known) {
            Ok(at) if cell.sums[at].1 == NOT_KEPT => cell.all.mean().saturating_mul(n),
            Ok(at) => cell.sums[at].1,
            Err(_) => 0,
        };
        // Of many draws a part tells the mean of all.
        let tried = n.min(1 << 12);
        let (steps, all) = (cell.all.steps(), cell.all.n() as f64);
        let drawn: f64 = (0..tried).map(|n| quantile(&steps, all, share(n))).sum::<f64>();
        let mean = drawn / tried.max(1) as f64;
        let factor = if mean > 0.0 { sum as f64 / n.max(1) as f64 / mean } else { 0.0 };
        Self { steps, n: all, factor, sum: sum as f64, at: 0, rest: 0.0 }
    }

    fn next(&mut self) -> u64 {
        let exact = quantile(&self.steps, self.n, share(self.at)) * self.factor + self.rest;
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
    draws: Map<CellKey, Draw>,
    n_counters: u32,
}

impl<'a> Drawn<'a> {
    /// Goes through the sequence once, to know how often each number is asked
    /// for. Where the part is all that the rank did (`is_whole`), on one thread,
    /// times in MPI are such that all together take as long as it was recorded.
    pub(crate) fn new(
        part: &'a Part,
        rank: u32,
        mut sequence: Unfold,
        mut threads: Values,
        is_whole: bool,
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
                CellKey::Counter(_, before, symbol) => CellKey::Gap(before, symbol),
                key => key,
            };
            // Of bursts, not all may have the counter: the same share on all ranks.
            let bursts = part.cells.get(&asked).map_or(1, |cell| cell.all.n()).max(1);
            let share = |n: &u64| (u128::from(*n) * u128::from(cell.all.n()) / u128::from(bursts)) as u64;
            if let Some(n) = n.get(&asked).map(share).filter(|n| *n > 0) {
                draws.insert(*key, Draw::new(cell, rank, n));
            }
        }
        if is_whole && last.len() == 1 {
            fit_to_wall(part, rank, &mut draws);
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

    /// Of the bursts between two symbols, as many have a counter as had it when
    /// they were recorded; which of them is not known.
    pub(crate) fn counters(&mut self, before: u32, symbol: u32) -> Option<Vec<u64>> {
        if self.n_counters == 0 {
            return None;
        }
        let gap = gap_key(&self.own, before, symbol);
        let CellKey::Gap(before, symbol) = gap else { return None };
        let all = self.part.cells.get(&gap)?.all.n().max(1);
        // The draw of the gap itself came before.
        let turn = self.draws.get(&gap)?.at;
        let mut any = false;
        let mut one = |counter| {
            let key = CellKey::Counter(counter, before, symbol);
            let read = self.part.cells.get(&key).map_or(0, |cell| cell.all.n());
            let so_far = |turn: u64| u128::from(turn) * u128::from(read) / u128::from(all);
            if so_far(turn) == so_far(turn.saturating_sub(1)) {
                return NOT_READ;
            }
            any = true;
            self.draws.get_mut(&key).map_or(NOT_READ, Draw::next)
        };
        let counters = (0..self.n_counters).map(&mut one).collect();
        any.then_some(counters)
    }
}

/// The sums of calls were rounded most; what they are together is known.
fn fit_to_wall(part: &Part, rank: u32, draws: &mut Map<CellKey, Draw>) {
    let wall = part.ranks().iter().find(|meta| meta.rank == rank).map_or(0, |meta| meta.wall);
    let (mut gaps, mut lengths) = (0.0, 0.0);
    // In the order of the keys, so that the sums are always the same.
    for draw in part.cells.keys().filter_map(|key| Some((key, draws.get(key)?))) {
        match draw.0 {
            CellKey::Gap(..) => gaps += draw.1.sum,
            CellKey::Length(_) => lengths += draw.1.sum,
            CellKey::Counter(..) => {}
        }
    }
    let factor = (wall as f64 - gaps) / lengths;
    // Beyond what rounding can do, something else is the cause.
    if !(1.0 / MOST_ROUNDING..MOST_ROUNDING).contains(&factor) {
        return;
    }
    for key in part.cells.keys().filter(|key| matches!(key, CellKey::Length(_))) {
        if let Some(draw) = draws.get_mut(key) {
            draw.factor *= factor;
        }
    }
}

/// Pairs that came late share a histogram.
fn gap_key(own: &Map<(u32, u32), ()>, before: u32, symbol: u32) -> CellKey {
    let before = if own.contains_key(&(before, symbol)) { before } else { NO_SYMBOL };
    CellKey::Gap(before, symbol)
}
