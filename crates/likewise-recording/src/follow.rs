//! What a rank would have recorded where its lead did: the lead's events with
//! the rank's own values.
//!
//! Before leads were chosen, both recorded. There, the values of each symbol
//! are walked in parallel: which of the rank's goes with which of the lead's
//! is what is taken for what follows. It is said to be the rank's own only where
//! that is shown: where what came in the second half of the walk had come before,
//! and nothing new has come since.

mod history;

use crate::calls::CallId;
use crate::fields::Fields;
use crate::hash::Map;
use crate::nest::{Nest, whole};
use crate::part::Key;
use crate::recording::{Places, Recording};
use crate::role::Kind;
use history::History;

/// Events of a symbol that are walked.
const MOST_EVENTS: u64 = 1 << 13;

/// Values of a symbol that are walked, and in a list of them.
const MOST_VALUES: usize = 1 << 18;

/// A difference between the values of two ranks that always is the same goes on,
/// once so many different values had it.
const FEW: usize = 3;

/// How often each symbol is called.
type Counts = Map<u32, u64>;

/// A part, and a lead in it.
type Place = (usize, u32);

/// A rank that stands behind leads.
#[derive(Debug)]
pub(crate) struct Follower<'a> {
    recording: &'a Recording,
    rank: u32,
    types: Places,
    strings: Places,
    counts: Map<Place, Counts>,
    /// Where it stands now, and what is known there by symbol.
    at: Option<Place>,
    known: Map<u32, Pairs>,
    values: Vec<i64>,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(recording: &'a Recording, rank: u32) -> Self {
        let types = recording.table(rank, |part, rank| part.tables_of(rank).0).1;
        let strings = recording.table(rank, |part, rank| part.tables_of(rank).1).1;
        let (counts, known, values) = (Map::default(), Map::default(), Vec::new());
        Self { recording, rank, types, strings, counts, at: None, known, values }
    }

    /// Puts the rank's values in place of the lead's. False where some are not
    /// known.
    pub(crate) fn map(&mut self, at: Place, symbol: u32, values: &mut Vec<i64>) -> bool {
        if values.is_empty() {
            return true;
        }
        let call = self.recording.symbols()[symbol as usize].call;
        if self.at != Some(at) {
            // Nothing of a part is needed once the next one is read.
            (self.at, self.known, self.counts) = (Some(at), Map::default(), Map::default());
        }
        if !self.known.contains_key(&symbol) {
            // What cannot be read is not known.
            let pairs = self.pairs(at, symbol, call).unwrap_or_default();
            self.known.insert(symbol, pairs);
        }
        let pairs = self.known.get_mut(&symbol).expect("put there above");
        let whole = pairs.events.get(values);
        pairs.holds &= whole.is_some();
        let whole = whole.and_then(Option::as_ref);
        let is_shown = whole.is_some() && pairs.holds;
        let mut all = true;
        // What depends on the values before is told of all of them.
        if !is_shown || pairs.fields.iter().any(|field| field.history.is_some()) {
            self.values.clear();
            let mut rest = &values[..];
            for (number, field) in call.fields().iter().enumerate() {
                let of_lead = taken(&mut rest, field.is_list);
                let places = match field.kind {
                    Kind::Type | Kind::NewType | Kind::Types => self.types.get(&at),
                    Kind::Str => self.strings.get(&at),
                    _ => None,
                };
                let places = places.map(|places| &places[..]);
                let begin = self.values.len();
                if field.is_list {
                    self.values.push(0);
                }
                let pair = pairs.fields.get_mut(number);
                all &= own_values(pair, field.kind, of_lead, places, &mut self.values);
                if field.is_list {
                    self.values[begin] = (self.values.len() - begin - 1) as i64;
                }
            }
        }
        if let Some(own) = whole {
            let is_known = is_shown || all && *own == self.values;
            values.clone_from(own);
            return is_known;
        }
        std::mem::swap(values, &mut self.values);
        all
    }

    /// What goes with what for a symbol, by the last part before where both were
    /// measured and have it.
    fn pairs(&mut self, at: Place, symbol: u32, call: CallId) -> Option<Pairs> {
        let (stands, lead) = at;
        let recording = self.recording;
        let before = recording.spans(self.rank).iter().rev().filter(|span| span.piece < stands);
        let own = before.filter(|span| span.lead.is_none()).map(|span| span.piece);
        let (piece, local) = own.into_iter().find_map(|at| {
            let local = recording.piece(at).symbols.iter().position(|known| *known == symbol)? as u32;
            let has = |rank| recording.piece(at).part.column(rank, Key::Field(local, 0)).is_some();
            (has(lead) && has(self.rank)).then_some((at, local))
        })?;
        let part = &recording.piece(piece).part;
        // Nothing is between what both have and where the rank stands.
        let goes_on = !recording.spans(lead).iter().any(|span| piece < span.piece && span.piece < stands);
        let n = [lead, self.rank].map(|rank| self.count(piece, rank, symbol));
        let fields =
            || Some([Fields::open(part, lead, local).ok()?, Fields::open(part, self.rank, local).ok()?]);
        if n[0] == n[1] { parallel(fields()?, n[0], call, goes_on) } else { constant(fields()?, n, call) }
    }

    /// How often a rank makes a call in a piece.
    fn count(&mut self, piece: usize, rank: u32, symbol: u32) -> u64 {
        let recording = self.recording;
        let counts = self.counts.entry((piece, rank)).or_insert_with(|| {
            let mut nest = Vec::new();
            // Of nonsense nothing is known.
            let _ = whole(recording.piece(piece), rank, &mut nest);
            let mut counts = Counts::default();
            add_up(&nest, &mut counts);
            counts
        });
        counts.get(&symbol).copied().unwrap_or(0)
    }
}

fn add_up(nest: &[Nest], counts: &mut Counts) {
    for node in nest {
        match node {
            Nest::Call(symbol, n) => {
                let all = counts.entry(*symbol).or_default();
                *all = all.saturating_add(*n);
            }
            Nest::Loop(inner, ..) => add_up(inner, counts),
        }
    }
}

/// The values of the next field, of a list without its length.
fn taken<'v>(rest: &mut &'v [i64], is_list: bool) -> &'v [i64] {
    let begin = usize::from(is_list).min(rest.len());
    let n = if is_list { rest.first().map_or(0, |n| *n as usize) } else { 1 };
    let end = (begin + n).min(rest.len());
    let own = &rest[begin..end];
    *rest = &rest[end..];
    own
}

/// Which values of a rank go with which of its lead's, for a symbol.
#[derive(Debug, Default)]
struct Pairs {
    /// All values of an event; none where they differ from time to time.
    events: Map<Vec<i64>, Option<Vec<i64>>>,
    /// Whether nothing speaks against it that they always go together.
    holds: bool,
    fields: Vec<Field>,
}

/// The same for a field; a number is a list of one.
#[derive(Debug, Default)]
struct Field {
    whole: Map<Vec<i64>, Vec<i64>>,
    elements: Map<i64, i64>,
    /// A list of the lead's goes with several of the rank's,
    is_torn: bool,
    /// or a number in it does, or they are not as long.
    is_torn_within: bool,
    /// When the last list of the lead's came that had not come before.
    newest: usize,
    /// Whether nothing speaks against it that lists always go together.
    holds: bool,
    /// What the rank's numbers are more than the lead's, if they all are; and
    /// whether it were many.
    more: Option<(i64, bool)>,
    /// What is known where it is torn.
    history: Option<History>,
}

impl Field {
    /// At that place came these for the first time together.
    fn add(&mut self, place: usize, of_lead: &[i64], own: &[i64]) {
        if !self.is_torn {
            match self.whole.get(of_lead) {
                Some(known) => self.is_torn = known != own,
                None => {
                    self.whole.insert(of_lead.to_vec(), own.to_vec());
                    self.newest = place;
                }
            }
        }
        self.is_torn_within |= of_lead.len() != own.len();
        if !self.is_torn_within {
            let mut pairs = of_lead.iter().zip(own);
            self.is_torn_within =
                pairs.any(|(of_lead, own)| self.elements.entry(*of_lead).or_insert(*own) != own);
        }
    }

    /// All `n` are added.
    fn closed(mut self, n: usize) -> Self {
        self.holds = holds(self.newest, n);
        if self.is_torn {
            self.whole = Map::default();
        }
        if self.is_torn || self.is_torn_within {
            self.elements = Map::default();
        }
        let mut more = self.elements.iter().map(|(of_lead, own)| own.wrapping_sub(*of_lead));
        let first = more.next();
        let are_many = self.elements.len() >= FEW;
        let first = first.filter(|first| (are_many || *first == 0) && more.all(|other| other == *first));
        self.more = first.map(|first| (first, are_many));
        self
    }
}

/// Whether what goes together in `n` places does so always, as far as these tell,
/// where the newest came at that place: all in the second half had come before.
/// Of what changes with the data, something new comes in each half.
fn holds(newest: usize, n: usize) -> bool {
    newest == 0 || 2 * newest < n
}

/// Both make the call as often: what one has at a time goes with what the other
/// has at the same.
fn parallel([mut of_lead, mut own]: [Fields; 2], n: u64, call: CallId, goes_on: bool) -> Option<Pairs> {
    // What came together, and where first.
    let mut kinds: Vec<(usize, [Vec<i64>; 2])> = Vec::new();
    let (mut numbers, mut order) = (Map::default(), Vec::new());
    let (mut first, mut second, mut both) = (Vec::new(), Vec::new(), Vec::<i64>::new());
    let mut left = MOST_VALUES;
    for _ in 0..n.min(MOST_EVENTS) {
        of_lead.next_of(MOST_VALUES, &mut first).ok()?;
        own.next_of(MOST_VALUES, &mut second).ok()?;
        let Some(rest) = left.checked_sub(first.len() + second.len()) else { break };
        left = rest;
        both.clear();
        both.extend(first.iter().chain(&second));
        let number = numbers.get(&both).copied().unwrap_or(kinds.len() as u32);
        if number as usize == kinds.len() {
            numbers.insert(both.clone(), number);
            kinds.push((order.len(), [first.clone(), second.clone()]));
        }
        order.push(number);
    }
    let newest = kinds.last().map_or(0, |(place, _)| *place);
    let mut pairs = Pairs { holds: holds(newest, order.len()), ..Pairs::default() };
    let mut fields: Vec<(Field, Vec<[&[i64]; 2]>)> =
        call.fields().iter().map(|_| Default::default()).collect();
    for (place, [first, second]) in &kinds {
        let known = pairs.events.entry(first.clone());
        known.and_modify(|own| *own = None).or_insert_with(|| Some(second.clone()));
        let (mut first, mut second) = (&first[..], &second[..]);
        for ((pair, values), field) in fields.iter_mut().zip(call.fields()) {
            let both = [&mut first, &mut second].map(|rest| taken(rest, field.is_list));
            pair.add(*place, both[0], both[1]);
            values.push(both);
        }
    }
    let goes_on = goes_on && order.len() as u64 == n;
    let closed = |(pair, values): (Field, Vec<[&[i64]; 2]>)| {
        let history = if pair.is_torn { History::of(values.into_iter(), &order, goes_on) } else { None };
        Field { history, ..pair.closed(order.len()) }
    };
    pairs.fields = fields.into_iter().map(closed).collect();
    Some(pairs)
}

/// One makes the call more often: what is always the same on both goes together.
fn constant(both: [Fields; 2], n: [u64; 2], call: CallId) -> Option<Pairs> {
    let mut only: [Vec<Option<Vec<i64>>>; 2] = Default::default();
    for ((mut fields, n), only) in both.into_iter().zip(n).zip(&mut only) {
        let mut values = Vec::new();
        let mut left = MOST_VALUES;
        for turn in 0..n.min(MOST_EVENTS) {
            fields.next_of(MOST_VALUES, &mut values).ok()?;
            let Some(rest) = left.checked_sub(values.len()) else { break };
            left = rest;
            let mut rest = &values[..];
            for (at, field) in call.fields().iter().enumerate() {
                let own = taken(&mut rest, field.is_list);
                match only.get_mut(at) {
                    None if turn == 0 => only.push(Some(own.to_vec())),
                    Some(known) if known.as_deref() != Some(own) => *known = None,
                    _ => {}
                }
            }
        }
    }
    let [of_lead, own] = only;
    let pair = |(of_lead, own): (Option<Vec<i64>>, Option<Vec<i64>>)| Field {
        whole: of_lead.zip(own).into_iter().collect(),
        holds: true,
        ..Field::default()
    };
    Some(Pairs { fields: of_lead.into_iter().zip(own).map(pair).collect(), ..Pairs::default() })
}

/// Puts the rank's values behind `into`; false where it is not shown that they
/// are its own. `places` says where the entries of the lead's table are in the
/// rank's.
fn own_values(
    field: Option<&mut Field>,
    kind: Kind,
    of_lead: &[i64],
    places: Option<&[i64]>,
    into: &mut Vec<i64>,
) -> bool {
    let place = |value: &i64| {
        let place = places.and_then(|places| places.get(usize::try_from(*value).ok()?));
        place.copied().unwrap_or(*value)
    };
    let begin = into.len();
    let Some(field) = field else {
        into.extend(of_lead.iter().map(place));
        return false;
    };
    if let Some(history) = &mut field.history {
        let own = history.next(of_lead);
        match own {
            Some(own) => into.extend(own),
            None => into.extend(of_lead.iter().map(place)),
        }
        return own.is_some();
    }
    let (more, is_known) = field.more.unwrap_or_default();
    if let Some(own) = field.whole.get(of_lead) {
        into.extend(own);
        return field.holds || is_known;
    }
    field.holds &= is_known;
    let own: Option<Vec<i64>> = of_lead.iter().map(|value| field.elements.get(value).copied()).collect();
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        into.extend(own);
        return is_known;
    }
    into.extend(of_lead.iter().map(place));
    if more == 0 {
        return is_known && into[begin..] == *of_lead;
    }
    let is_number = matches!(kind, Kind::Int | Kind::Count | Kind::Tag) && of_lead.iter().all(|n| *n >= 0);
    if is_number {
        into[begin..].iter_mut().for_each(|value| *value = value.wrapping_add(more));
    }
    is_number
}
