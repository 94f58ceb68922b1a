//! What a recording holds: all that `likewise info` shows of it.

use std::collections::BTreeMap;
use std::path::Path;

use likewise::table::Nanos;
use likewise_recording::role::Kind;
use likewise_recording::{Nest, Recording, Times, short_identity};
use rayon::prelude::*;

use super::leads::Lent;
use super::paths::Paths;
use super::read::end_of;
use super::rows::Facts;
use super::source::Source;
use super::walk::Walk;
use crate::error::{Error, ErrorKind, Place, Result};

/// What a recording holds.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The ranks that are recorded.
    pub ranks: Vec<u32>,
    /// How many ranks the program had.
    pub size: u32,
    /// Events of all ranks.
    pub events: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// When the last rank ends.
    pub end: Nanos,
    /// Whether times are drawn from histograms.
    pub times: Times,
    /// The names of the counters.
    pub counters: Vec<String>,
    /// How many different call paths there are.
    pub call_paths: usize,
    /// Of every call by its name, how often each rank makes it.
    pub calls: BTreeMap<&'static str, Vec<u64>>,
    /// Every call from every call path, in the order of the symbols.
    pub sites: Vec<CallSite>,
    /// How long all threads compute between calls.
    pub computing: Nanos,
    /// What is to be known, safe to print.
    pub warnings: Vec<String>,
}

/// A call from a call path.
#[derive(Clone, Debug, Default)]
pub struct CallSite {
    /// Which call.
    pub call: &'static str,
    /// The number of the call path.
    pub path: u32,
    /// The name of call and call path, in short: it is the same in each run.
    pub hash: String,
    /// The functions that lead to it, the innermost first, such as
    /// `f (a.c:7)`; safe to print.
    pub callers: Vec<String>,
    /// How often all ranks together make it.
    pub count: u64,
    /// Bytes that it sends, or receives if it only receives; `None` where they are not
    /// recorded.
    pub bytes: Option<u64>,
    /// How long all ranks together are in it.
    pub time: Nanos,
}

/// Count, bytes and time of every symbol on a rank.
struct OfRank {
    symbols: Vec<(u64, u64, u64)>,
    computing: u64,
    end: u64,
    lent: u64,
    problem: Option<String>,
}

/// Counts what a recording holds.
///
/// # Errors
/// Those of [`open`](super::open).
///
/// # Complexity
/// One pass over all events, in parallel over the ranks.
pub fn summarise(recording: &Recording, path: &Path) -> Result<Summary> {
    let ranks: Vec<OfRank> =
        recording.ranks().par_iter().map(|meta| of_rank(recording, meta.rank, path)).collect();
    let mut warnings = super::warnings(recording, path);
    warnings.extend(ranks.iter().filter_map(|rank| rank.problem.clone()));
    let mut lent = Lent::default();
    ranks.iter().for_each(|rank| lent.add(rank.lent));
    warnings.extend(lent.note());
    let mut source = Source::new(recording.modules());
    let paths = Paths::of(recording, &mut source);
    warnings.append(&mut source.notes);
    let mut sites = Vec::with_capacity(recording.symbols().len());
    let mut calls: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
    for (at, symbol) in recording.symbols().iter().enumerate() {
        let mut site = CallSite {
            call: symbol.call.name(),
            path: symbol.path,
            bytes: symbol.call.not_read().is_none().then_some(0),
            hash: short_identity(recording.identity(symbol)),
            callers: paths.callers(symbol.path).map(|spot| spot.location.name()).collect(),
            ..CallSite::default()
        };
        let counts = calls.entry(site.call).or_insert_with(|| vec![0; ranks.len()]);
        for (rank, all) in ranks.iter().zip(counts) {
            let (count, bytes, time) = rank.symbols[at];
            *all += count;
            site.count += count;
            site.bytes = site.bytes.map(|sum| sum.saturating_add(bytes));
            site.time = site.time.saturating_add(Nanos(time));
        }
        sites.push(site);
    }
    // A call of a table that no rank of these makes is none.
    calls.retain(|_, counts| counts.iter().any(|&count| count > 0));
    let mut distinct: Vec<u32> = recording.symbols().iter().map(|symbol| symbol.path).collect();
    distinct.sort_unstable();
    distinct.dedup();
    Ok(Summary {
        ranks: recording.ranks().iter().map(|meta| meta.rank).collect(),
        size: recording.size(),
        events: sites.iter().map(|site| site.count).sum(),
        bytes: super::bytes(path),
        end: Nanos(end_of(recording, ranks.iter().map(|rank| rank.end).max().unwrap_or(0))),
        times: recording.times(),
        counters: recording.counters().iter().map(|name| crate::printable(name.as_bytes(), 100)).collect(),
        call_paths: distinct.len(),
        calls,
        sites,
        computing: ranks.iter().fold(Nanos::ZERO, |sum, rank| sum.saturating_add(Nanos(rank.computing))),
        warnings,
    })
}

fn of_rank(recording: &Recording, rank: u32, path: &Path) -> OfRank {
    let mut walk = Walk::new(recording, rank, path);
    let types = recording.datatypes(rank);
    // Whether an event of the symbol says how much it moves.
    let moves = |symbol: &likewise_recording::Symbol| {
        symbol.call.fields().iter().any(|field| matches!(field.kind, Kind::Count | Kind::Ints))
    };
    let moves: Vec<bool> = recording.symbols().iter().map(moves).collect();
    let symbols = vec![(0, 0, 0); moves.len()];
    let mut found = OfRank { symbols, computing: 0, end: 0, lent: 0, problem: None };
    let mut n = 0_u64;
    loop {
        let step = match walk.next() {
            Ok(Some(step)) => step,
            Ok(None) => return found,
            Err(error) => {
                found.problem = Some(format!("rank {rank} is read up to event {n}: {error}"));
                return found;
            }
        };
        n += 1;
        found.lent += u64::from(step.event.lent);
        let symbol = step.event.symbol as usize;
        let facts = || Facts::of(step.call, step.event, &types);
        let facts = Some(symbol).filter(|&symbol| moves[symbol]).map(|_| facts());
        let bytes = facts.filter(|facts| !facts.is_with_none()).and_then(|facts| facts.bytes()).unwrap_or(0);
        let of = &mut found.symbols[symbol];
        of.0 += 1;
        of.1 = of.1.saturating_add(bytes.max(0) as u64);
        of.2 = of.2.saturating_add(step.end - step.begin);
        found.computing = found.computing.saturating_add(step.begin - step.start);
        found.end = found.end.max(step.end);
    }
}

/// The loop nest of a rank; of its calls the places in [`Summary::sites`].
///
/// # Errors
/// There is no such rank, or the file holds nonsense.
pub fn nest(recording: &Recording, rank: u32, path: &Path) -> Result<Vec<Nest>> {
    if recording.ranks().iter().all(|meta| meta.rank != rank) {
        let what = format!("rank {rank} is not recorded; there are {} ranks", recording.ranks().len());
        return Err(Error::whole(path, ErrorKind::Table(what)));
    }
    recording
        .nest(rank)
        .map_err(|broken| Error::at(path, Place::Byte(broken.at), ErrorKind::Table(broken.what)))
}
