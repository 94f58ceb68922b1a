//! A part from bytes. Nothing is believed that they claim.

use super::write::{ACROSS, ALL_TIMES, CPUS, EXACT, PAUSES, STANDS, name_hash, steps_of, unit};
use super::{CellKey, Key, Part, Room, Variant};
use crate::broken::Broken;
use crate::bytes::{Reader, Write, unzigzag};
use crate::calls::{CallId, N_CALLS};
use crate::column::{CONSTANT, EVEN, LISTED, Values};
use crate::fold::{Item, Token, loop_token, node_of};
use crate::hash::Map;
use crate::histogram::{Cell, FINE, Histogram, NOT_KEPT, STEPS, code, decode};
use crate::meta::{Cpus, Frame, NO_SYMBOL, RankMeta, Times};
use crate::tables::{PathNode, Tables};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ranks of a program. More is nonsense, of which few bytes would make much.
const MOST_RANKS: u32 = 1 << 20;

/// What a recording keeps of each rank of a part, in bytes.
pub(super) const OF_RANK: usize = 64;

impl Part {
    /// From bytes.
    ///
    /// # Errors
    /// They are not those of a part.
    pub fn decode(bytes: &[u8]) -> Result<Self, Broken> {
        Self::decode_within(bytes, &mut Room::default())
    }

    /// The same, with so much room for what is said of many ranks in few bytes.
    pub(crate) fn decode_within(bytes: &[u8], room: &mut Room) -> Result<Self, Broken> {
        let mut reader = Reader::new(bytes);
        let flags = reader.byte()?;
        if flags & !(ALL_TIMES | EXACT | STANDS | PAUSES | CPUS) != 0 {
            return Err(reader.broken("made by a newer likewise"));
        }
        let mut part = Self::default();
        if flags & ALL_TIMES != 0 {
            part.times = Times::All;
        }
        part.pauses = flags & PAUSES != 0;
        let n = reader.count()?;
        part.counters = (0..n).map(|_| reader.text()).collect::<Result<_, _>>()?;
        let exact = flags & EXACT != 0;
        part.ranks = ranks(&mut reader, (unit(exact, part.times), flags & CPUS != 0), room)?;
        let lists = lists(&mut reader, &part.ranks, room)?;
        part.tables = tables(&mut reader)?;
        structure(&mut reader, &mut part, &lists)?;
        columns(&mut reader, &mut part, &lists, room)?;
        part.cells = cells(&mut reader, &part, &lists, exact, room)?;
        if flags & STANDS != 0 {
            part.stands = super::stand::read(&mut reader, &part, room)?;
        }
        if reader.rest() > 0 {
            return Err(reader.broken("more bytes than a part has"));
        }
        Ok(part)
    }
}

pub(super) fn some(reader: &mut Reader<'_>, n: usize) -> Result<Vec<i64>, Broken> {
    let mut values = Values::read(reader)?;
    let all = (0..n).map(|_| values.next()).collect::<Option<Vec<_>>>();
    all.ok_or_else(|| reader.broken("a column is too short"))
}

fn ranks(
    reader: &mut Reader<'_>,
    (unit, with_cpus): (u64, bool),
    room: &mut Room,
) -> Result<Vec<RankMeta>, Broken> {
    let n = reader.number()?;
    let size = reader.small()?;
    if n == 0 || n > u64::from(size) || size > MOST_RANKS {
        return Err(reader.broken("no such number of ranks"));
    }
    let n = n as usize;
    let start = reader.number()?;
    let n_nodes = reader.count()?;
    let nodes = (0..n_nodes).map(|_| reader.text()).collect::<Result<Vec<_>, _>>()?;
    let longest = nodes.iter().map(String::len).max().unwrap_or(0);
    room.take(n, size_of::<RankMeta>() + longest + OF_RANK, reader)?;
    let last = reader.number()?;
    let mut column = || some(reader, n);
    let (numbers, starts, ends, events, places) = (column()?, column()?, column()?, column()?, column()?);
    let mut of_cpus = || if with_cpus { column() } else { Ok(vec![0; n]) };
    let (firsts, lasts, n_cpus) = (of_cpus()?, of_cpus()?, of_cpus()?);
    let meta = |at: usize| {
        Some(RankMeta {
            rank: u32::try_from(numbers[at]).ok().filter(|rank| *rank < size)?,
            size,
            start: start.checked_add(u64::try_from(starts[at]).ok()?)?.checked_mul(unit)?,
            wall: last
                .checked_sub(u64::try_from(ends[at]).ok()?)?
                .saturating_sub(starts[at] as u64)
                .checked_mul(unit)?,
            events: u64::try_from(events[at]).ok()?,
            node: nodes.get(usize::try_from(places[at]).ok()?)?.clone(),
            cpus: Cpus {
                first: firsts[at].try_into().ok()?,
                last: lasts[at].try_into().ok()?,
                n: n_cpus[at].try_into().ok()?,
            },
        })
    };
    let ranks = (0..n).map(meta).collect::<Option<Vec<_>>>();
    let ranks = ranks.filter(|ranks| ranks.windows(2).all(|two| two[0].rank < two[1].rank));
    ranks.ok_or_else(|| reader.broken("no such rank"))
}

fn lists(reader: &mut Reader<'_>, ranks: &[RankMeta], room: &mut Room) -> Result<Vec<Arc<[u32]>>, Broken> {
    let mut lists = vec![ranks.iter().map(|meta| meta.rank).collect::<Arc<[u32]>>()];
    for _ in 0..reader.count()? {
        let n = reader.number()?;
        if n == 0 || n > ranks.len() as u64 {
            return Err(reader.broken("no such number of ranks"));
        }
        room.take(n as usize, size_of::<u32>(), reader)?;
        let list: Vec<i64> = some(reader, n as usize)?;
        // Both are in order.
        let mut all = lists[0].iter();
        if !list.iter().all(|rank| all.any(|known| i64::from(*known) == *rank)) {
            return Err(reader.broken("a list of ranks that are not there"));
        }
        lists.push(list.into_iter().map(|rank| rank as u32).collect());
    }
    Ok(lists)
}

fn list<'a>(reader: &mut Reader<'_>, lists: &'a [Arc<[u32]>]) -> Result<&'a Arc<[u32]>, Broken> {
    let number = reader.number()?;
    lists.get(number as usize).ok_or_else(|| reader.broken("no such list of ranks"))
}

fn tables(reader: &mut Reader<'_>) -> Result<Tables, Broken> {
    let mut tables = Tables::default();
    for _ in 0..reader.count()? {
        let id = reader.block()?.to_vec();
        tables.modules.push((id, reader.text()?));
    }
    let n = reader.count()?;
    let mut last = vec![0_u64; tables.modules.len()];
    for at in 0..n as u64 {
        let back = reader.number()?;
        let module = reader.small()?;
        let parent = at.checked_sub(back).ok_or_else(|| reader.broken("no such call path"))? as u32;
        let last = last.get_mut(module as usize).ok_or_else(|| reader.broken("no such module"))?;
        *last = last.wrapping_add(reader.signed()? as u64);
        let node = PathNode { parent, frame: Frame { module, offset: *last } };
        if u64::from(tables.path(node)) != at + 1 {
            return Err(reader.broken("a call path that is there already"));
        }
    }
    let calls: Map<u16, CallId> =
        (0..N_CALLS as u16).map(|call| (name_hash(CallId(call).name()), CallId(call))).collect();
    let mut last = 0_i64;
    for at in 0..reader.count()? {
        let hash = u16::from_le_bytes([reader.byte()?, reader.byte()?]);
        let call =
            *calls.get(&hash).ok_or_else(|| reader.broken("a call that this likewise does not know"))?;
        last = last.saturating_add(reader.signed()?);
        let known = (0..=n as i64).contains(&last);
        if !known || tables.symbol(call, last as u32) as usize != at {
            return Err(reader.broken("no such call path"));
        }
    }
    Ok(tables)
}

fn read_near(
    reader: &mut Reader<'_>,
    last: &mut i64,
    n_symbols: usize,
    n_nodes: usize,
) -> Result<Token, Broken> {
    let number = reader.number()?;
    if number & 1 == 1 {
        let node = number >> 1;
        return if node < n_nodes as u64 {
            Ok(loop_token(node as u32))
        } else {
            Err(reader.broken("no such loop"))
        };
    }
    *last = last.saturating_add(unzigzag(number >> 1)).saturating_add(1);
    if !(0..n_symbols as i64).contains(last) {
        return Err(reader.broken("no such symbol"));
    }
    Ok(*last as Token)
}

fn structure(reader: &mut Reader<'_>, part: &mut Part, lists: &[Arc<[u32]>]) -> Result<(), Broken> {
    let n_symbols = part.tables.symbols.len();
    let n_nodes = reader.count()?;
    let mut last = 0;
    for node in 0..n_nodes {
        let length = reader.count()?;
        if length == 0 {
            return Err(reader.broken("an empty loop"));
        }
        // A loop holds only loops before it, so that none holds itself.
        let body = (0..length).map(|_| read_near(reader, &mut last, n_symbols, node));
        part.nodes.push(body.collect::<Result<_, _>>()?);
    }
    for _ in 0..reader.count()? {
        let ranks = Arc::clone(list(reader, lists)?);
        let mut last = 0;
        let mut what = Vec::new();
        for _ in 0..reader.count()? {
            let token = read_near(reader, &mut last, n_symbols, n_nodes)?;
            let count = if node_of(token).is_some() { reader.number()? } else { 1 };
            what.push(Item { token, count });
        }
        part.top.push(Variant { ranks, what });
    }
    Ok(())
}

fn columns(
    reader: &mut Reader<'_>,
    part: &mut Part,
    lists: &[Arc<[u32]>],
    room: &mut Room,
) -> Result<(), Broken> {
    for key in part.keys() {
        let n = reader.number()?;
        let mut variants = Vec::new();
        if n == ACROSS {
            across(reader, lists, &mut variants, room)?;
        }
        for _ in 1..n {
            let ranks = Arc::clone(list(reader, lists)?);
            let what = match key {
                Key::Types | Key::Strings | Key::Times => reader.block()?,
                _ => {
                    let mut end = *reader;
                    Values::read(&mut end)?;
                    reader.take(end.at() - reader.at())?
                }
            };
            variants.push(Variant { ranks, what: what.to_vec() });
        }
        if !variants.is_empty() {
            variants.sort_by_key(|variant| variant.ranks[0]);
            part.columns.insert(key, variants);
        }
    }
    Ok(())
}

/// Numbers that differ from rank to rank.
fn across(
    reader: &mut Reader<'_>,
    lists: &[Arc<[u32]>],
    variants: &mut Vec<Variant<Vec<u8>>>,
    room: &mut Room,
) -> Result<(), Broken> {
    let ranks = list(reader, lists)?;
    let kind = reader.byte()?;
    let n = reader.count()?;
    let right = match kind {
        CONSTANT => n == 1,
        EVEN => n == 2,
        kind => kind == LISTED,
    };
    if !right {
        return Err(reader.broken("no such kind of column"));
    }
    // Each rank may become a variant of its own.
    let variant = size_of::<Variant<Vec<u8>>>() + 64;
    room.take(ranks.len(), variant + 10 * n, reader)?;
    let columns = (0..n).map(|_| some(reader, ranks.len())).collect::<Result<Vec<_>, _>>()?;
    let mut known: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
    for (at, rank) in ranks.iter().enumerate() {
        let mut what = vec![kind];
        if kind == LISTED {
            what.number(n as u64);
        }
        columns.iter().for_each(|column| what.signed(column[at]));
        known.entry(what).or_default().push(*rank);
    }
    variants.extend(known.into_iter().map(|(what, ranks)| Variant { ranks: ranks.into(), what }));
    Ok(())
}

fn cells(
    reader: &mut Reader<'_>,
    part: &Part,
    lists: &[Arc<[u32]>],
    exact: bool,
    room: &mut Room,
) -> Result<BTreeMap<CellKey, Cell>, Broken> {
    let n_symbols = part.tables.symbols.len() as i64;
    let mut last = [0_i64; 2];
    let mut cells = BTreeMap::new();
    for _ in 0..reader.count()? {
        let kind = reader.number()?;
        let (kind, is_small) = (kind >> 1, kind & 1 == 1);
        let mut symbols = [0_u32; 2];
        for (last, symbol) in last.iter_mut().zip(&mut symbols) {
            *last = last.saturating_add(reader.signed()?);
            *symbol = match *last {
                -1 => NO_SYMBOL,
                known if (0..n_symbols).contains(&known) => known as u32,
                _ => return Err(reader.broken("no such symbol")),
            };
        }
        let [before, symbol] = symbols;
        let key = match kind {
            0 => CellKey::Length(symbol),
            1 => CellKey::Gap(before, symbol),
            kind if kind - 2 < part.counters.len() as u64 => {
                CellKey::Counter((kind - 2) as u32, before, symbol)
            }
            _ => return Err(reader.broken("no such counter")),
        };
        let ranks = list(reader, lists)?;
        room.take(ranks.len(), size_of::<(u32, u64)>(), reader)?;
        let cell = if is_small { small(reader, ranks)? } else { cell(reader, ranks, exact, steps_of(key))? };
        cells.insert(key, cell);
    }
    Ok(cells)
}

/// Of which there is little, the mean alone is known.
fn small(reader: &mut Reader<'_>, ranks: &[u32]) -> Result<Cell, Broken> {
    let n = reader.number()?;
    let mean = decode(reader.number()?.min(1 << 12) as i64, STEPS);
    let sums = ranks.iter().map(|rank| (*rank, NOT_KEPT)).collect();
    Ok(Cell { all: Histogram::of_mean(mean, n), sums })
}

fn cell(reader: &mut Reader<'_>, ranks: &[u32], exact: bool, steps: f64) -> Result<Cell, Broken> {
    let joined = reader.number()?;
    let first = reader.number()?;
    let n = reader.count()?;
    let counts = (0..n).map(|_| reader.number()).collect::<Result<Vec<_>, _>>()?;
    let all = if joined <= 4 { Histogram::of_coarse(1 << joined, first as usize, &counts) } else { None };
    let mut cell = Cell { all: all.ok_or_else(|| reader.broken("no such bin"))?, sums: Vec::new() };
    cell.all.sum = if exact {
        reader.number()?
    } else {
        decode(code(cell.all.likely_sum(), FINE).saturating_add(reader.signed()?), FINE)
    };
    if let [rank] = ranks[..] {
        cell.sums.push((rank, cell.all.sum));
        return Ok(cell);
    }
    let mean = code(cell.all.sum / ranks.len() as u64, steps);
    for rank in ranks {
        let sum = if exact { reader.number()? } else { decode(mean.saturating_add(reader.signed()?), steps) };
        cell.sums.push((*rank, sum));
    }
    Ok(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The begin of a part of so many ranks, which takes some twenty bytes.
    fn begin(n: u64) -> Vec<u8> {
        let mut bytes = vec![0, 0];
        bytes.number(n);
        bytes.number(n);
        bytes.extend([0, 1, 1, b'x', 0, EVEN, 0, 2]);
        bytes.extend([CONSTANT, 0].repeat(4));
        bytes
    }

    #[test]
    fn few_bytes_do_not_take_gigabytes() {
        // No lists, tables, structure, columns of threads, types, strings, nor histograms.
        let rest = [0; 6].into_iter().chain([1, 1, 1, 0]);
        let of = |n| begin(n).into_iter().chain(rest.clone()).collect::<Vec<u8>>();
        assert_eq!(Part::decode(&of(1000)).unwrap().ranks().len(), 1000);
        assert!(Part::decode(&of(1 << 26)).is_err());
        let mut room = Room::of(1 << 24);
        let n = (0..100).take_while(|_| Part::decode_within(&of(1 << 14), &mut room).is_ok()).count();
        assert!((1..20).contains(&n), "{n} parts");
        // Lists of all these ranks, again and again.
        let mut bytes = begin(1 << 14);
        bytes.number(5000);
        for _ in 0..5000 {
            bytes.number(1 << 14);
            bytes.extend([EVEN, 0, 2]);
        }
        let error = Part::decode_within(&bytes, &mut Room::of(1 << 24)).unwrap_err();
        assert!(error.what.contains("1 GB"), "{error}");
        // A number of each rank, for each column.
        let mut bytes = begin(1 << 14);
        bytes.extend([0; 4]);
        bytes.extend([0, 0]);
        for _ in 0..3 {
            bytes.extend([ACROSS as u8, 0, EVEN, 2, EVEN, 0, 2, EVEN, 0, 2]);
        }
        bytes.push(0);
        assert_eq!(Part::decode(&bytes).unwrap().ranks().len(), 1 << 14);
        assert!(Part::decode_within(&bytes, &mut Room::of(1 << 21)).is_err());
    }
}
