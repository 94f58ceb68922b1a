//! What this rank does between two markers, and whether its events are kept.

use crate::effort::Effort;
use crate::hash::Map;
use likewise_online::{Rolling, Signature};
use likewise_recording::calls::number;
use likewise_recording::role::Kind;
use likewise_recording::{CallId, Structure, short_identity};

/// The level of `MPI_Pcontrol` that is a marker.
pub(crate) const LEVEL: i32 = 10;

/// How often a rank looks whether a marker was proposed, in events.
pub(crate) const LOOK: u64 = 64;

/// What is asked for as the marker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Marker {
    /// To be found.
    #[default]
    Auto,
    /// `MPI_Pcontrol` alone.
    Pcontrol,
    /// A call; from this call path, if one is named.
    Call(CallId, Option<(u128, u32)>),
}

impl Marker {
    /// `auto`, `pcontrol`, `MPI_Name` or `MPI_Name@` and the first digits of
    /// the call path's hash.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (name, path) = match text.split_once('@') {
            Some((name, path)) => (name, Some(path)),
            None => (text, None),
        };
        let path = match path {
            Some(digits) if (1..=32).contains(&digits.len()) => {
                Some((u128::from_str_radix(digits, 16).ok()?, 4 * digits.len() as u32))
            }
            Some(_) => return None,
            None => None,
        };
        match name {
            "auto" if path.is_none() => Some(Self::Auto),
            "pcontrol" if path.is_none() => Some(Self::Pcontrol),
            name => Some(Self::Call(CallId::named(name)?, path)),
        }
    }

    fn is(&self, call: CallId, identity: u128) -> bool {
        match self {
            Self::Call(wanted, path) => {
                *wanted == call && path.is_none_or(|(digits, bits)| identity >> (128 - bits) == digits)
            }
            _ => call == number::Pcontrol,
        }
    }
}

/// Which of an event's values say whom it is sent to, and from whom it comes.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    source: Option<usize>,
    dest: Option<usize>,
    comm: Option<usize>,
}

impl Places {
    fn of(call: CallId) -> Self {
        let fields = call.fields();
        // Behind a list, places vary; no call that sends or receives has one there.
        let ahead = fields.iter().take_while(|field| !field.is_list);
        let mut places = Self::default();
        for (at, field) in ahead.enumerate() {
            match field.kind {
                Kind::Source => places.source = places.source.or(Some(at)),
                Kind::Dest | Kind::Target => places.dest = places.dest.or(Some(at)),
                Kind::Comm => places.comm = places.comm.or(Some(at)),
                _ => {}
            }
        }
        places
    }
}

/// Of calls that could be a marker, those that wait for all ranks are best,
/// then those that wait for one.
fn worth(call: CallId, comm: Option<i64>) -> u32 {
    const ALL: [&str; 14] = [
        "Allgather",
        "Allgatherv",
        "Allreduce",
        "Alltoall",
        "Alltoallv",
        "Alltoallw",
        "Barrier",
        "Bcast",
        "Gather",
        "Gatherv",
        "Reduce",
        "Reduce_scatter",
        "Scan",
        "Scatter",
    ];
    const ONE: [&str; 6] = ["Recv", "Sendrecv", "Sendrecv_replace", "Wait", "Waitall", "Waitany"];
    let name = call.name().trim_start_matches("MPI_");
    match comm {
        Some(0) if ALL.contains(&name) => 3,
        _ if ONE.contains(&name) => 2,
        _ => u32::from(ALL.contains(&name)),
    }
}

/// What is known of a symbol.
#[derive(Clone, Copy, Debug)]
struct Known {
    call: CallId,
    identity: u128,
    places: Places,
    /// The communicator of its last event.
    comm: Option<i64>,
    /// How many events there were.
    n: u64,
    /// Of its last event.
    source: Option<i64>,
    dest: Option<i64>,
    parameters: u64,
    is_marker: bool,
}

impl Known {
    fn new(call: CallId, identity: u128, is_marker: bool) -> Self {
        Self {
            call,
            identity,
            places: Places::of(call),
            comm: None,
            n: 0,
            source: None,
            dest: None,
            parameters: 0,
            is_marker,
        }
    }
}

/// What a rank has done since the last marker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) signature: Signature,
    /// Whether it is that of the interval before.
    pub(crate) is_same: bool,
    /// Whether this rank, which was not to record, began to.
    pub(crate) has_tail: bool,
    /// The markers at which it has seen that all ranks were there.
    pub(crate) passed: u64,
    /// How many events of the open part were recorded at the last of these, and
    /// at the one before.
    pub(crate) marked: [u64; 2],
    /// How many events it has made since either before the first call path that
    /// the intervals before did not have.
    pub(crate) before_tail: [u64; 2],
}

/// Watches one rank.
pub(crate) struct Watch {
    marker: Marker,
    with_parameters: bool,
    /// Where efforts are sampled: no event is recorded.
    effort: Option<Effort>,
    rolling: Rolling,
    symbols: Vec<Known>,
    by_identity: Map<u128, u32>,
    /// What was proposed as the marker, and from which of its events on.
    expected: Option<(u32, u64)>,
    /// All events, where a marker is to be found; how long the body of the loop
    /// is in which one was found, and in which one was proposed.
    search: Structure,
    found_in: usize,
    looked_in: usize,
    /// Of the interval before.
    parameters: u64,
    /// In state L: whether this rank records nothing,
    follows: bool,
    /// until it meets a call path that is new.
    tail: bool,
    before_tail: [u64; 2],
    passed: u64,
    marked: [u64; 2],
    /// Events since the last marker that all ranks came to, and since the one
    /// before.
    n: [u64; 2],
    /// All events, whether they are recorded or not.
    n_events: u64,
}

impl Watch {
    pub(crate) fn new(marker: Marker, with_parameters: bool, samples: bool) -> Self {
        Self {
            marker,
            with_parameters,
            effort: samples.then(Effort::default),
            rolling: Rolling::new(),
            symbols: Vec::new(),
            by_identity: Map::default(),
            expected: None,
            search: Structure::new(),
            found_in: 0,
            looked_in: 0,
            parameters: 0,
            follows: false,
            tail: false,
            before_tail: [0; 2],
            passed: 0,
            marked: [0; 2],
            n: [0; 2],
            n_events: 0,
        }
    }

    /// A new symbol.
    pub(crate) fn know(&mut self, symbol: u32, call: CallId, identity: u128) {
        if self.symbols.len() > symbol as usize {
            return;
        }
        // Symbols are numbered as they come.
        self.symbols.push(Known::new(call, identity, self.marker.is(call, identity)));
        self.by_identity.insert(identity, symbol);
        self.rolling.know(symbol, identity);
    }

    /// Whether a call from a symbol is a marker, if `MPI_Pcontrol` has this
    /// level.
    #[inline]
    pub(crate) fn is_marker(&self, symbol: u32, call: CallId, level: i32) -> bool {
        self.symbols.get(symbol as usize).is_some_and(|known| known.is_marker)
            && (call != number::Pcontrol || level == LEVEL || matches!(self.marker, Marker::Call(..)))
    }

    /// Before an event: whether the rank begins to record with it, because it
    /// stood behind a lead and does something new.
    #[inline]
    pub(crate) fn begins(&mut self, symbol: u32) -> bool {
        if !self.follows || self.tail || self.rolling.is_steady(symbol) {
            return false;
        }
        self.before_tail = self.n;
        self.tail = true;
        true
    }

    /// Whether events are recorded.
    #[inline]
    pub(crate) fn keeps(&self) -> bool {
        self.effort.is_none() && (!self.follows || self.tail)
    }

    /// Where efforts are sampled: the burst before an event took so long, in ns.
    #[inline]
    pub(crate) fn burst(&mut self, before: u32, symbol: u32, ns: u64) {
        if let Some(effort) = &mut self.effort {
            effort.add([before, symbol], ns);
        }
    }

    /// What was computed since the last time, by region.
    pub(crate) fn take_effort(&mut self) -> Vec<(u128, u64)> {
        let identity = |symbol: u32| self.symbols.get(symbol as usize).map_or(0, |known| known.identity);
        self.effort.as_mut().map_or_else(Vec::new, |effort| effort.take(identity))
    }

    /// What a region is called.
    pub(crate) fn region_name(&self, region: u128) -> String {
        let symbols = self.effort.as_ref().and_then(|effort| effort.symbols(region));
        let names = symbols.map(|symbols| symbols.map(|symbol| self.full_name(symbol)));
        match names {
            Some([before, symbol]) if before.is_empty() => format!("before {symbol}"),
            Some([before, symbol]) => format!("{before} to {symbol}"),
            None => String::new(),
        }
    }

    /// The values of an event that differ from those of the symbol's last one.
    #[inline]
    pub(crate) fn values(&mut self, symbol: u32, values: &[i64]) {
        let Some(known) = self.symbols.get_mut(symbol as usize) else { return };
        known.source = known.places.source.and_then(|at| values.get(at)).copied();
        known.dest = known.places.dest.and_then(|at| values.get(at)).copied();
        known.comm = known.places.comm.and_then(|at| values.get(at)).copied();
        if self.with_parameters {
            known.parameters = values.iter().fold(0, |hash: u64, value| {
                (hash.rotate_left(5) ^ *value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            });
        }
    }

    /// An event.
    #[inline]
    pub(crate) fn event(&mut self, symbol: u32) {
        if let Some(known) = self.symbols.get_mut(symbol as usize) {
            known.n += 1;
            self.n[0] += 1;
            self.n[1] += 1;
            self.n_events += 1;
            if self.marker == Marker::Auto {
                self.search.push(symbol);
            }
            self.rolling.event(symbol, known.source, known.dest, known.parameters);
        }
    }

    /// The interval since the last marker; the next one begins.
    pub(crate) fn end(&mut self, n_open: u64) -> Interval {
        let signature = self.rolling.end();
        let is_same = self.rolling.repeats() && self.parameters == signature.parameters;
        self.parameters = signature.parameters;
        let has_tail = self.follows && self.tail;
        Interval {
            signature,
            is_same,
            has_tail,
            passed: self.passed,
            marked: self.marked.map(|marked| marked.min(n_open)),
            before_tail: self.before_tail,
        }
    }

    /// All ranks were at this marker; so many events of the open part are
    /// recorded.
    pub(crate) fn passed(&mut self, n_open: u64) {
        self.passed += 1;
        (self.marked, self.n) = ([n_open, self.marked[0]], [0, self.n[0]]);
    }

    /// State L begins.
    pub(crate) fn lead(&mut self, follows: bool) {
        (self.follows, self.tail) = (follows, false);
    }

    /// State L ends: this rank records.
    pub(crate) fn record_all(&mut self) {
        (self.follows, self.tail, self.marked) = (false, false, [0; 2]);
    }

    /// The recorder begins anew.
    pub(crate) fn taken(&mut self) {
        self.marked = [0; 2];
    }

    /// Within state L, because the ranks cannot vote any more: this rank
    /// records from now on. Whether it did not before.
    pub(crate) fn give_up(&mut self) -> bool {
        let begins = self.follows && !self.tail;
        if begins {
            (self.before_tail, self.tail) = (self.n, true);
        }
        begins
    }

    /// How many events there were, recorded or not.
    #[inline]
    pub(crate) fn n_events(&self) -> u64 {
        self.n_events
    }

    /// Whether this rank takes part in finding a marker.
    #[inline]
    pub(crate) fn seeks(&self) -> bool {
        self.marker == Marker::Auto
    }

    /// The best call that comes once in each turn of the outermost loop, which
    /// has so many turns, and was not tried; and how many events it has. Where
    /// there is a marker already, the loop is one around that loop.
    pub(crate) fn candidate(&mut self, turns: u64, tried: &[u128]) -> Option<(u128, u64)> {
        let repeated = self.search.repeated().filter(|repeated| repeated.iterations >= turns)?;
        if repeated.length <= self.found_in {
            return None;
        }
        self.looked_in = repeated.length;
        let known = repeated.once.iter().filter_map(|symbol| self.symbols.get(*symbol as usize));
        let untried = known.filter(|known| !tried.contains(&known.identity));
        let worth = |known: &&Known| worth(known.call, known.comm);
        let best = untried.filter(|known| worth(known) > 0).max_by_key(worth)?;
        Some((best.identity, best.n))
    }

    /// Whether a call can be the marker from one of its events on.
    pub(crate) fn is_candidate(&self, identity: u128, begin: u64) -> bool {
        let Some(symbol) = self.by_identity.get(&identity) else { return false };
        let is_ahead = self.symbols[*symbol as usize].n < begin;
        is_ahead && self.search.repeated().is_some_and(|repeated| repeated.once.contains(symbol))
    }

    /// A call is to be tried as the marker at one of its events.
    pub(crate) fn expect(&mut self, identity: u128, begin: u64) {
        self.expected = self.by_identity.get(&identity).map(|symbol| (*symbol, begin));
    }

    /// What was expected does not come.
    pub(crate) fn expect_no_more(&mut self) {
        self.expected = None;
    }

    /// At which of its events a call is to be tried; 0 if none is.
    pub(crate) fn expected_at(&self) -> u64 {
        self.expected.map_or(0, |(_, begin)| begin)
    }

    /// Whether a symbol's last event is that at which it is to be tried.
    #[inline]
    pub(crate) fn is_trial(&self, symbol: u32) -> bool {
        self.expected.is_some_and(|(expected, begin)| {
            expected == symbol && self.symbols.get(symbol as usize).is_some_and(|known| known.n == begin)
        })
    }

    /// What came of a trial. Of a marker its name; the first interval begins.
    pub(crate) fn tried(&mut self, is_found: bool) -> Option<String> {
        let (symbol, _) = self.expected.take()?;
        if !is_found {
            return None;
        }
        self.found_in = self.looked_in;
        self.symbols.iter_mut().for_each(|known| known.is_marker &= known.call == number::Pcontrol);
        self.symbols[symbol as usize].is_marker = true;
        Some(self.name(symbol))
    }

    /// The name of a marker.
    pub(crate) fn name(&self, symbol: u32) -> String {
        match self.symbols.get(symbol as usize) {
            Some(known) if known.call == number::Pcontrol => format!("MPI_Pcontrol({LEVEL})"),
            _ => self.full_name(symbol),
        }
    }

    /// A call with its call path.
    fn full_name(&self, symbol: u32) -> String {
        let known = self.symbols.get(symbol as usize);
        known.map_or_else(String::new, |known| {
            format!("{}@{}", known.call.name(), short_identity(known.identity))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_read() {
        assert_eq!(Marker::read("auto"), Some(Marker::Auto));
        assert_eq!(Marker::read("pcontrol"), Some(Marker::Pcontrol));
        assert_eq!(Marker::read("MPI_Barrier"), Some(Marker::Call(number::Barrier, None)));
        assert_eq!(Marker::read("MPI_Barrier@0f"), Some(Marker::Call(number::Barrier, Some((15, 8)))));
        assert_eq!(Marker::read("MPI_Barrier@"), None);
        assert_eq!(Marker::read("MPI_Bar"), None);
        assert_eq!(Marker::read("auto@12"), None);
    }

    #[test]
    fn a_call_path_is_told_by_its_first_digits() {
        let marker = Marker::read("MPI_Barrier@0f").unwrap();
        assert!(marker.is(number::Barrier, 0x0f << 120 | 77));
        assert!(!marker.is(number::Barrier, 0x1f << 120));
        assert!(!marker.is(number::Bcast, 0x0f << 120));
    }

    #[test]
    fn a_follower_records_from_the_first_new_call_path_on() {
        let mut watch = Watch::new(Marker::Auto, false, false);
        (0..3).for_each(|symbol| watch.know(symbol, number::Barrier, u128::from(symbol) + 7));
        for _ in 0..2 {
            watch.event(0);
            watch.event(1);
            watch.end(0);
            watch.passed(0);
        }
        watch.lead(true);
        assert!(!watch.begins(0) && !watch.keeps());
        watch.event(0);
        assert!(watch.begins(2) && watch.keeps());
        assert!(!watch.begins(2));
        watch.event(2);
        let interval = watch.end(1);
        assert!(interval.has_tail && !interval.is_same && interval.before_tail[0] == 1);
        watch.record_all();
        assert!(watch.keeps());
    }
}
