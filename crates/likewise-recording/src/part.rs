//! A part of a recording: some ranks, from one reset of the recorder to the
//! next.
//!
//! The loop nest, and every column of values, is there once for all ranks that
//! have the same, with the list of these ranks (a [`Variant`]). So a program
//! whose ranks do the same takes the space of one rank.

mod read;
mod room;
mod stand;
mod write;

use crate::fold::{Item, Token, loop_token, node_of};
use crate::hash::Map;
use crate::histogram::Cell;
use crate::meta::{NO_SYMBOL, RankMeta, Times};
use crate::tables::Tables;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

pub(crate) use room::Room;
pub use stand::Stand;

/// What a column is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// The iteration counts of the loop at a place of a node's body.
    Count(u32, u32),
    /// The values of a symbol's field; of a list, its lengths.
    Field(u32, u32),
    /// The values in the lists of a symbol's field.
    List(u32, u32),
    /// The thread of each event.
    Threads,
    /// Not a column: the table of datatypes.
    Types,
    /// Not a column: the table of strings.
    Strings,
    /// Not a column: pause, gap, length and counters of every event.
    Times,
}

/// What a histogram is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CellKey {
    /// How long a symbol's calls take.
    Length(u32),
    /// How long the burst between two symbols takes.
    Gap(u32, u32),
    /// What a counter counts in the burst between two symbols.
    Counter(u32, u32, u32),
}

/// What some ranks have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant<T> {
    /// In order. Lists are shared, since many columns have the same.
    pub(crate) ranks: Arc<[u32]>,
    pub(crate) what: T,
}

/// A part of a recording.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub(crate) times: Times,
    /// Whether the times of every event tell of pauses before it.
    pub(crate) pauses: bool,
    pub(crate) counters: Vec<String>,
    pub(crate) tables: Tables,
    /// The bodies of loops.
    pub(crate) nodes: Vec<Vec<Token>>,
    /// In order.
    pub(crate) ranks: Vec<RankMeta>,
    pub(crate) top: Vec<Variant<Vec<Item>>>,
    pub(crate) columns: BTreeMap<Key, Vec<Variant<Vec<u8>>>>,
    pub(crate) cells: BTreeMap<CellKey, Cell>,
    /// In order of the leads.
    pub(crate) stands: Vec<Stand>,
}

impl Part {
    /// The same without calls that no event here is of.
    #[must_use]
    pub fn compact(&self) -> Self {
        let Self { times, pauses, .. } = *self;
        let mut part = Self { times, pauses, counters: self.counters.clone(), ..Self::default() };
        part.merge(self);
        part
    }

    /// Whether another part says the same of each event.
    pub(crate) fn is_of_one_kind(&self, other: &Self) -> bool {
        let of = |part: &Self| (part.times, part.pauses);
        of(self) == of(other) && self.counters == other.counters
    }

    /// By symbol, whether anything here is of it.
    fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.tables.symbols.len()];
        let of_top = self.top.iter().flat_map(|variant| &variant.what).map(|item| item.token);
        for token in self.nodes.iter().flatten().copied().chain(of_top) {
            if node_of(token).is_none() {
                used[token as usize] = true;
            }
        }
        let of_columns = self.columns.keys().flat_map(|key| match *key {
            Key::Field(symbol, _) | Key::List(symbol, _) => [symbol, NO_SYMBOL],
            _ => [NO_SYMBOL; 2],
        });
        let of_cells = self.cells.keys().flat_map(|key| match *key {
            CellKey::Length(symbol) => [symbol, NO_SYMBOL],
            CellKey::Gap(before, symbol) | CellKey::Counter(_, before, symbol) => [before, symbol],
        });
        of_columns.chain(of_cells).filter(|symbol| *symbol != NO_SYMBOL).for_each(|symbol| {
            used[symbol as usize] = true;
        });
        used
    }

    /// Puts the ranks of another part beside these. Both are of the same
    /// number of resets, and have no rank in common.
    ///
    /// # Complexity
    /// Linear in what is different.
    pub fn merge(&mut self, other: &Self) {
        let used = other.used();
        let symbols = self.tables.take_up(&other.tables, |symbol| used[symbol as usize]);
        let nodes = self.take_up_nodes(&other.nodes, &symbols);
        let renamed = |token: Token| match node_of(token) {
            Some(node) => loop_token(nodes[node as usize]),
            None => Token::from(symbols[token as usize]),
        };
        let item = |item: &Item| Item { token: renamed(item.token), count: item.count };
        let top = other.top.iter().map(|variant| Variant {
            ranks: variant.ranks.clone(),
            what: variant.what.iter().map(item).collect::<Vec<_>>(),
        });
        add_variants(&mut self.top, top);
        let name = |symbol: u32| symbols.get(symbol as usize).copied().unwrap_or(symbol);
        for (key, variants) in &other.columns {
            let key = match *key {
                Key::Count(node, place) => Key::Count(nodes[node as usize], place),
                Key::Field(symbol, field) => Key::Field(name(symbol), field),
                Key::List(symbol, field) => Key::List(name(symbol), field),
                key => key,
            };
            add_variants(self.columns.entry(key).or_default(), variants.iter().cloned());
        }
        for (key, cell) in &other.cells {
            // A burst before the first event has no symbol before it.
            let key = match *key {
                CellKey::Length(symbol) => CellKey::Length(name(symbol)),
                CellKey::Gap(before, symbol) => CellKey::Gap(name(before), name(symbol)),
                CellKey::Counter(counter, before, symbol) => {
                    CellKey::Counter(counter, name(before), name(symbol))
                }
            };
            self.cells.entry(key).or_default().merge(cell);
        }
        self.ranks.extend(other.ranks.iter().cloned());
        self.ranks.sort_by_key(|meta| meta.rank);
        self.stands.extend(other.stands.iter().cloned());
        self.stands.sort_by_key(|stand| stand.lead);
    }

    fn take_up_nodes(&mut self, others: &[Vec<Token>], symbols: &[u32]) -> Vec<u32> {
        let mut known: Map<Vec<Token>, u32> = Map::default();
        known.extend(self.nodes.iter().cloned().zip(0..));
        let mut numbers = Vec::new();
        for body in others {
            let renamed = |token: &Token| match node_of(*token) {
                Some(node) => loop_token(numbers[node as usize]),
                None => Token::from(symbols[*token as usize]),
            };
            let body: Vec<Token> = body.iter().map(renamed).collect();
            let next = self.nodes.len() as u32;
            let number = *known.entry(body.clone()).or_insert(next);
            if number == next {
                self.nodes.push(body);
            }
            numbers.push(number);
        }
        numbers
    }

    /// The ranks that are measured in this part, in order.
    #[must_use]
    pub fn ranks(&self) -> &[RankMeta] {
        &self.ranks
    }
}

fn add_variants<T: Eq + Hash>(own: &mut Vec<Variant<T>>, others: impl Iterator<Item = Variant<T>>) {
    let mut known: Map<u64, Vec<usize>> = Map::default();
    let hasher = known.hasher().clone();
    for (at, variant) in own.iter().enumerate() {
        known.entry(hasher.hash_one(&variant.what)).or_default().push(at);
    }
    for other in others {
        let places = known.entry(hasher.hash_one(&other.what)).or_default();
        if let Some(at) = places.iter().find(|at| own[**at].what == other.what) {
            let mut ranks = [&own[*at].ranks[..], &other.ranks].concat();
            ranks.sort_unstable();
            own[*at].ranks = ranks.into();
        } else {
            places.push(own.len());
            own.push(other);
        }
    }
    own.sort_by_key(|variant| variant.ranks[0]);
}
