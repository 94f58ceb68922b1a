//! A recording that is read: its ranks, and their events one by one.

use crate::broken::Broken;
use crate::bytes::Reader;
use crate::calls::CallId;
use crate::column::{Unfold, Values};
use crate::events::Events;
use crate::file;
use crate::fold::{Item, Token, node_of};
use crate::log::Log;
use crate::meta::{Frame, RankMeta, Times};
use crate::part::{Key, Part};
use crate::tables::Tables;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The file of a recording in its folder.
pub const FILE: &str = "recording.likewise";

/// A loaded object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its build id; empty where it has none.
    pub build_id: Vec<u8>,
    /// Its file.
    pub path: String,
}

/// A call from a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The call.
    pub call: CallId,
    /// The call path; see [`Recording::frames`].
    pub path: u32,
}

/// A datatype of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datatype {
    /// Its name; of a derived one, how it was made.
    pub name: String,
    /// Bytes of one element.
    pub size: i64,
    /// From one element to the next.
    pub extent: i64,
}

/// A node of the loop nest of a rank.
#[derive(Clone, Debug, PartialEq)]
pub enum Nest {
    /// A call: symbol, and how often it is executed in all.
    Call(u32, u64),
    /// A loop: its body, how often it is entered, how many iterations it has
    /// in all.
    Loop(Vec<Nest>, u64, u64),
}

/// A part, and what its symbols are called here.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) part: Part,
    pub(crate) symbols: Vec<u32>,
}

/// A recording.
#[derive(Debug)]
pub struct Recording {
    tables: Tables,
    symbols: Vec<Symbol>,
    modules: Vec<Module>,
    ranks: Vec<RankMeta>,
    pieces: Vec<Piece>,
    /// The pieces of each rank, in order.
    of_rank: BTreeMap<u32, Vec<usize>>,
    incomplete: Option<String>,
    log: Option<Log>,
}

impl Recording {
    /// Reads a recording: a folder, or the file in it. Of a run that did not
    /// end, what its ranks had written.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let whole = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        if whole.exists() {
            let bytes = std::fs::read(&whole).map_err(|error| OpenError::Io(whole.clone(), error))?;
            let found = file::read(&bytes).map_err(|broken| OpenError::Broken(whole, broken))?;
            let lost = found.broken.map(|broken| format!("what follows is lost: {broken}"));
            return Ok(Self { log: found.log, ..Self::of_parts(found.parts, lost) });
        }
        let found = crate::unfinished::read(path)?;
        let said = "the program did not reach MPI_Finalize: this is what its ranks had written until then";
        Ok(Self { log: found.log, ..Self::of_parts(found.parts, Some(said.to_owned())) })
    }

    /// A recording of these parts, each with its number.
    #[must_use]
    pub fn of_parts(mut parts: Vec<(u32, Part)>, incomplete: Option<String>) -> Self {
        parts.sort_by_key(|(number, part)| (*number, part.ranks()[0].rank));
        let mut tables = Tables::default();
        let mut of_rank: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut metas: BTreeMap<u32, RankMeta> = BTreeMap::new();
        let mut pieces: Vec<Piece> = Vec::new();
        for (_, part) in parts {
            for meta in part.ranks() {
                of_rank.entry(meta.rank).or_default().push(pieces.len());
                let known = metas.entry(meta.rank).or_insert_with(|| RankMeta { events: 0, ..meta.clone() });
                known.events += meta.events;
                known.wall = known.wall.max(meta.wall);
            }
            pieces.push(Piece { symbols: tables.take_up(&part.tables), part });
        }
        let symbols = tables.symbols.iter().map(|(call, path)| Symbol { call: *call, path: *path }).collect();
        let module = |(id, path): &(Vec<u8>, String)| Module { build_id: id.clone(), path: path.clone() };
        let modules = tables.modules.iter().map(module).collect();
        let ranks = metas.into_values().collect();
        Self { tables, symbols, modules, ranks, pieces, of_rank, incomplete, log: None }
    }

    /// How many ranks the program had.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.ranks.first().map_or(0, |meta| meta.size)
    }

    /// The ranks that are recorded, in order.
    #[must_use]
    pub fn ranks(&self) -> &[RankMeta] {
        &self.ranks
    }

    /// What is missing, for a message; none if the recording is complete.
    #[must_use]
    pub fn incomplete(&self) -> Option<&str> {
        self.incomplete.as_deref()
    }

    /// What happened on line, where the run was not recorded in full.
    #[must_use]
    pub fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// How times and counters were kept.
    #[must_use]
    pub fn times(&self) -> Times {
        self.pieces.first().map_or(Times::Histogram, |piece| piece.part.times)
    }

    /// The names of the counters.
    #[must_use]
    pub fn counters(&self) -> &[String] {
        self.pieces.first().map_or(&[], |piece| &piece.part.counters)
    }

    /// The calls with their call paths.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The loaded objects.
    #[must_use]
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// A call path, the innermost frame first.
    #[must_use]
    pub fn frames(&self, path: u32) -> Vec<Frame> {
        self.tables.frames(path)
    }

    /// The datatypes of a rank.
    #[must_use]
    pub fn datatypes(&self, rank: u32) -> Vec<Datatype> {
        let read = |bytes: &[u8]| -> Result<Vec<Datatype>, Broken> {
            let mut reader = Reader::new(bytes);
            let n = reader.count()?;
            let one = |_| {
                let name = reader.text()?;
                let size = reader.signed()?;
                Ok(Datatype { name, size, extent: size.wrapping_add(reader.signed()?) })
            };
            (0..n).map(one).collect()
        };
        self.table(rank, Key::Types).and_then(|bytes| read(bytes).ok()).unwrap_or_default()
    }

    /// The strings of a rank.
    #[must_use]
    pub fn strings(&self, rank: u32) -> Vec<String> {
        let read = |bytes: &[u8]| -> Result<Vec<String>, Broken> {
            let mut reader = Reader::new(bytes);
            (0..reader.count()?).map(|_| reader.text()).collect()
        };
        self.table(rank, Key::Strings).and_then(|bytes| read(bytes).ok()).unwrap_or_default()
    }

    /// The last part of a rank has all that the parts before it had.
    fn table(&self, rank: u32, key: Key) -> Option<&[u8]> {
        let last = self.of_rank.get(&rank)?.last()?;
        self.pieces[*last].part.column(rank, key)
    }

    /// The events of a rank, in order.
    #[must_use]
    pub fn events(&self, rank: u32) -> Events<'_> {
        let first = self.ranks.iter().map(|meta| meta.start).min().unwrap_or(0);
        let own = self.ranks.iter().find(|meta| meta.rank == rank).map_or(first, |meta| meta.start);
        Events::new(self, rank, own - first)
    }

    /// The pieces of a rank, in order.
    pub(crate) fn pieces(&self, rank: u32) -> impl Iterator<Item = &Piece> {
        self.of_rank.get(&rank).into_iter().flatten().map(|at| &self.pieces[*at])
    }

    /// The loop nest of a rank.
    ///
    /// # Errors
    /// The file holds nonsense.
    pub fn nest(&self, rank: u32) -> Result<Vec<Nest>, Broken> {
        let mut nest = Vec::new();
        for piece in self.pieces(rank) {
            let sequence = piece.part.sequence(rank)?;
            let mut walker = Nester { piece, sequence };
            let items: Vec<Item> = walker.sequence.items.clone().collect();
            for item in items {
                walker.place(item, 1, &mut nest);
            }
        }
        Ok(nest)
    }
}

/// Builds loop nests. Counts of inner loops are taken from their columns: as
/// many as the loop around them has iterations.
struct Nester<'a> {
    piece: &'a Piece,
    sequence: Unfold,
}

impl Nester<'_> {
    /// Of a loop, `item.count` is the number of its iterations in all.
    fn place(&mut self, item: Item, entered: u64, nest: &mut Vec<Nest>) {
        let Some(node) = node_of(item.token) else {
            nest.push(Nest::Call(self.piece.symbols[item.token as usize], item.count));
            return;
        };
        let body = self.sequence.nodes[node as usize].clone();
        let mut inner = Vec::new();
        for (place, token) in body.into_iter().enumerate() {
            let count = self.times(node, place as u32, token, item.count);
            self.place(Item { token, count }, item.count, &mut inner);
        }
        nest.push(Nest::Loop(inner, entered, item.count));
    }

    fn times(&mut self, node: u32, place: u32, token: Token, iterations: u64) -> u64 {
        if node_of(token).is_none() {
            return iterations;
        }
        let columns = &mut self.sequence.counts[node as usize];
        let Some((_, column)) = columns.iter_mut().find(|(known, _)| *known == place) else { return 0 };
        if let Values::Even(value, 0) = column {
            return (*value as u64).saturating_mul(iterations);
        }
        (0..iterations).map_while(|_| column.next()).fold(0, |sum, count| sum.saturating_add(count as u64))
    }
}

impl Part {
    /// What a column holds for a rank.
    pub(crate) fn column(&self, rank: u32, key: Key) -> Option<&[u8]> {
        let variants = self.columns.get(&key)?;
        let variant = variants.iter().find(|variant| variant.ranks.binary_search(&rank).is_ok())?;
        Some(&variant.what)
    }

    /// The sequence of symbols of a rank.
    pub(crate) fn sequence(&self, rank: u32) -> Result<Unfold, Broken> {
        let missing = || Broken { at: 0, what: format!("nothing of rank {rank}") };
        let top = self.top.iter().find(|variant| variant.ranks.binary_search(&rank).is_ok());
        let items = top.ok_or_else(missing)?.what.clone();
        let mut counts = Vec::with_capacity(self.nodes.len());
        for (node, body) in self.nodes.iter().enumerate() {
            let mut columns = Vec::new();
            for place in (0..body.len()).filter(|place| node_of(body[*place]).is_some()) {
                // A rank without the loop has no column of its counts.
                if let Some(bytes) = self.column(rank, Key::Count(node as u32, place as u32)) {
                    columns.push((place as u32, Values::read(&mut Reader::new(bytes))?));
                }
            }
            counts.push(columns);
        }
        Ok(Unfold::new(self.nodes.clone(), items, counts))
    }
}

/// Why a recording cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The file cannot be read.
    Io(PathBuf, std::io::Error),
    /// It is not a recording, or nothing of it is whole.
    Broken(PathBuf, Broken),
    /// There is no recording in this folder.
    Nothing(PathBuf),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Broken(path, broken) => write!(f, "{}: {broken}", path.display()),
            Self::Nothing(path) => {
                write!(f, "{}: no recording in this folder: there is no {FILE} in it", path.display())
            }
        }
    }
}

impl std::error::Error for OpenError {}
