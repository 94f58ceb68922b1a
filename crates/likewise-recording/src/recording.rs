//! A recording that is read: its ranks, and their events one by one.

use crate::broken::Broken;
use crate::bytes::Reader;
use crate::calls::CallId;
use crate::column::{Unfold, Values};
use crate::file;
use crate::fold::node_of;
use crate::hash::Map;
use crate::log::Log;
use crate::meta::{Cpus, Frame, RankMeta, Times};
use crate::part::{Key, Part, Stand};
use crate::tables::Tables;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::path::{Path, PathBuf};

/// The file of a recording in its folder.
pub const FILE: &str = "recording.likewise";

/// A loaded object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its build id; empty where it has none.
    pub build_id: Vec<u8>,
    /// Its file; [`NO_FILE`] where it has none.
    pub path: String,
}

/// What stands in the place of the file of code that was made while the program ran.
pub const NO_FILE: &str = "?";

/// A call from a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The call.
    pub call: CallId,
    /// The call path; see [`Recording::frames`].
    pub path: u32,
}

/// A datatype of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Datatype {
    /// Its name; of a derived one, how it was made.
    pub name: String,
    /// Bytes of one element.
    pub size: i64,
    /// From one element to the next.
    pub extent: i64,
}

/// A part, and what its symbols are called here.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) part: Part,
    pub(crate) symbols: Vec<u32>,
}

/// What a rank did in a piece: its own events, or the first so many of a lead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) piece: usize,
    pub(crate) lead: Option<(u32, u64)>,
}

/// What is to be known where all sections are whole, but the last one is not there.
const NO_FINALIZE: &str =
    "not every rank reached MPI_Finalize: this is what the ranks had written until then";

/// A recording.
#[derive(Debug)]
pub struct Recording {
    tables: Tables,
    symbols: Vec<Symbol>,
    modules: Vec<Module>,
    ranks: Vec<RankMeta>,
    pieces: Vec<Piece>,
    /// What each rank did, in order.
    of_rank: BTreeMap<u32, Vec<Span>>,
    incomplete: Option<String>,
    log: Option<Log>,
    strata: Vec<Vec<u8>>,
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
            let lost = found.broken.map(|broken| match broken.at == bytes.len() as u64 {
                true => NO_FINALIZE.to_owned(),
                false => format!("what follows is lost: {broken}"),
            });
            return Ok(Self { log: found.log, strata: found.strata, ..Self::of_parts(found.parts, lost) });
        }
        let found = crate::unfinished::read(path)?;
        let parts = Self::of_parts(found.parts, Some(NO_FINALIZE.to_owned()));
        Ok(Self { log: found.log, strata: found.strata, ..parts })
    }

    /// The effort of sampled ranks that a recording has, as
    /// [`strata`](Self::strata) gives it, without reading the parts of a complete
    /// one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn strata_of(path: &Path) -> Result<Vec<Vec<u8>>, OpenError> {
        let whole = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
        if !whole.exists() {
            return Ok(crate::unfinished::read(path)?.strata);
        }
        let bytes = std::fs::read(&whole).map_err(|error| OpenError::Io(whole.clone(), error))?;
        file::strata(&bytes).map_err(|broken| OpenError::Broken(whole, broken))
    }

    /// A recording of these parts, each with its number.
    #[must_use]
    pub fn of_parts(mut parts: Vec<(u32, Part)>, incomplete: Option<String>) -> Self {
        parts.sort_by_key(|(number, part)| (*number, part.ranks()[0].rank));
        let ranks = metas(&parts);
        let mut tables = Tables::default();
        let mut of_rank: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
        let mut pieces: Vec<Piece> = Vec::new();
        for (piece, (_, part)) in parts.into_iter().enumerate() {
            // What a rank recorded itself came after it stood behind a lead.
            for stand in part.stands().iter().filter(|stand| stand.events > 0) {
                let span = Span { piece, lead: Some((stand.lead, stand.events)) };
                stand.ranks.iter().for_each(|rank| of_rank.entry(*rank).or_default().push(span));
            }
            let own = Span { piece, lead: None };
            part.ranks().iter().for_each(|meta| of_rank.entry(meta.rank).or_default().push(own));
            pieces.push(Piece { symbols: tables.take_up(&part.tables, |_| true), part });
        }
        let symbols = tables.symbols.iter().map(|(call, path)| Symbol { call: *call, path: *path }).collect();
        let module = |(id, path): &(Vec<u8>, String)| Module { build_id: id.clone(), path: path.clone() };
        let modules = tables.modules.iter().map(module).collect();
        Self { tables, symbols, modules, ranks, pieces, of_rank, incomplete, log: None, strata: Vec::new() }
    }

    /// How many ranks the program had.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.ranks.first().map_or(0, |meta| meta.size)
    }

    /// The ranks that are recorded, in order, those that only stand behind leads
    /// too: these have the times of their leads, and no node.
    #[must_use]
    pub fn ranks(&self) -> &[RankMeta] {
        &self.ranks
    }

    /// Whether all events of a rank are its own.
    #[must_use]
    pub fn is_measured(&self, rank: u32) -> bool {
        self.of_rank.get(&rank).is_some_and(|spans| spans.iter().all(|span| span.lead.is_none()))
    }

    /// The lead that a rank stands behind, the last one if there are several.
    #[must_use]
    pub fn lead_of(&self, rank: u32) -> Option<u32> {
        self.of_rank.get(&rank)?.iter().rev().find_map(|span| span.lead).map(|(lead, _)| lead)
    }

    /// How many events of a rank are those of leads.
    #[must_use]
    pub fn stood(&self, rank: u32) -> u64 {
        let stood = self.of_rank.get(&rank).into_iter().flatten().filter_map(|span| span.lead);
        stood.fold(0, |sum, (_, events)| sum.saturating_add(events))
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

    /// The effort of sampled ranks, window by window, where the run was recorded
    /// by strata: [`Window`](crate::Window) reads it.
    #[must_use]
    pub fn strata(&self) -> &[Vec<u8>] {
        &self.strata
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

    /// The datatypes of a rank, and behind them those of its leads that it does
    /// not have.
    #[must_use]
    pub fn datatypes(&self, rank: u32) -> Vec<Datatype> {
        self.table(rank, Part::datatypes).0
    }

    /// The strings of a rank, and behind them those of its leads that it does not
    /// have.
    #[must_use]
    pub fn strings(&self, rank: u32) -> Vec<String> {
        self.table(rank, Part::strings).0
    }

    /// The table of a rank, and where in it the entries of each lead's are that
    /// it stands behind, by piece and lead. The last part of a rank has all that
    /// the parts before it had.
    pub(crate) fn table<T: Clone + Eq + Hash>(
        &self,
        rank: u32,
        of: impl Fn(&Part, u32) -> Vec<T>,
    ) -> (Vec<T>, Places) {
        let spans = self.of_rank.get(&rank).map_or(&[][..], |spans| spans);
        let last = spans.iter().rev().find(|span| span.lead.is_none());
        let mut all = last.map_or_else(Vec::new, |span| of(&self.pieces[span.piece].part, rank));
        let mut known: Map<T, i64> = Map::default();
        for (entry, place) in all.iter().zip(0..) {
            known.entry(entry.clone()).or_insert(place);
        }
        let mut places = Places::new();
        for (piece, lead) in spans.iter().filter_map(|span| Some((span.piece, span.lead?.0))) {
            let of_lead = of(&self.pieces[piece].part, lead).into_iter().map(|entry| {
                let next = all.len() as i64;
                let place = *known.entry(entry.clone()).or_insert(next);
                if place == next {
                    all.push(entry);
                }
                place
            });
            places.insert((piece, lead), of_lead.collect());
        }
        (all, places)
    }

    /// What a rank did, in order.
    pub(crate) fn spans(&self, rank: u32) -> &[Span] {
        self.of_rank.get(&rank).map_or(&[], |spans| spans)
    }

    pub(crate) fn piece(&self, at: usize) -> &Piece {
        &self.pieces[at]
    }
}

/// Where the entries of a lead's table are in that of a rank which stands
/// behind it, by piece and lead.
pub(crate) type Places = BTreeMap<(usize, u32), Vec<i64>>;

/// What is known of all ranks of these parts. Of a rank that stands behind
/// another, this is when the other ended.
fn metas(parts: &[(u32, Part)]) -> Vec<RankMeta> {
    let mut metas: BTreeMap<u32, RankMeta> = BTreeMap::new();
    for meta in parts.iter().flat_map(|(_, part)| part.ranks()) {
        let known = metas.entry(meta.rank).or_insert_with(|| RankMeta { events: 0, ..meta.clone() });
        known.events = known.events.saturating_add(meta.events);
        known.wall = known.wall.max(meta.wall);
    }
    for (_, part) in parts {
        for Stand { lead, events, ranks } in part.stands() {
            let Some(lead) = part.ranks().iter().find(|meta| meta.rank == *lead) else { continue };
            for rank in ranks {
                let of_lead = || {
                    let (node, cpus) = (String::new(), Cpus::default());
                    RankMeta { rank: *rank, events: 0, node, cpus, ..lead.clone() }
                };
                let known = metas.entry(*rank).or_insert_with(of_lead);
                known.events = known.events.saturating_add(*events);
                let end = lead.start.saturating_add(lead.wall);
                known.wall = known.wall.max(end.saturating_sub(known.start));
            }
        }
    }
    metas.into_values().collect()
}

impl Part {
    /// What a column holds for a rank.
    pub(crate) fn column(&self, rank: u32, key: Key) -> Option<&[u8]> {
        let variants = self.columns.get(&key)?;
        let variant = variants.iter().find(|variant| variant.ranks.binary_search(&rank).is_ok())?;
        Some(&variant.what)
    }

    /// How many events a rank has in this part.
    pub(crate) fn n_events(&self, rank: u32) -> u64 {
        let at = self.ranks.binary_search_by_key(&rank, |meta| meta.rank);
        at.map_or(0, |at| self.ranks[at].events)
    }

    fn datatypes(&self, rank: u32) -> Vec<Datatype> {
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
        self.column(rank, Key::Types).and_then(|bytes| read(bytes).ok()).unwrap_or_default()
    }

    fn strings(&self, rank: u32) -> Vec<String> {
        let read = |bytes: &[u8]| -> Result<Vec<String>, Broken> {
            let mut reader = Reader::new(bytes);
            (0..reader.count()?).map(|_| reader.text()).collect()
        };
        self.column(rank, Key::Strings).and_then(|bytes| read(bytes).ok()).unwrap_or_default()
    }

    /// The tables of a rank in this part.
    pub(crate) fn tables_of(&self, rank: u32) -> (Vec<Datatype>, Vec<String>) {
        (self.datatypes(rank), self.strings(rank))
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
