//! Whether ranks agree on what passes between them. In a recording by leads,
//! a rank's events may be those of another: then a message may have no
//! receiver, or a collective not all its ranks, and who waited for it would
//! wait for ever. So before such a recording is replayed the ranks count what
//! each has, tell each other, and leave out what has no counterpart: of a
//! channel or a communicator all, for which of them lacks the other side is not
//! known, and a message taken for a later one could make two ranks wait for
//! each other.

use crate::ReplayError;
use crate::class::{Class, base, class, is_collective};
use crate::fields::Fields;
use crate::lookahead::{Heard, receives_any};
use likewise_comm::{CommError, Communicator, Reduction, wire};
use likewise_recording::calls::number;
use likewise_recording::comms::{Comm, Comms, Members};
use likewise_recording::role::{ANY, Kind, NONE, Role};
use likewise_recording::{Broken, CallId, Datatype, Event, Recording};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Communicator, the other rank in the world, and tag.
type Channel = (u64, u32, i64);

/// How many messages a channel has.
type Counts = BTreeMap<Channel, u64>;

/// Collectives on a communicator: those that make something, or the others.
type Collectives = (u64, bool);

/// A message, as one of its ranks sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Sent(Channel),
    Received(Channel),
}

/// What of an event is to be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The message that it sends.
    pub(crate) send: bool,
    /// The message that it receives, or finds.
    pub(crate) receive: bool,
    /// All of it: not all ranks have this collective.
    pub(crate) collective: bool,
    /// Persistent requests that are not to be started.
    pub(crate) starts: Vec<i64>,
}

impl LeftOut {
    /// Whether nothing of the event is left out.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// What an event does that other ranks see.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    messages: Vec<Message>,
    /// Only looks for a message.
    looks_for: Option<Channel>,
    /// A collective: its communicator, and which it is.
    collective: Option<(u64, u32)>,
    /// Of starts: each request with what it begins.
    starts: Vec<(i64, Message)>,
}

/// A persistent request.
#[derive(Clone, Copy, Debug)]
enum Persistent {
    Message(Message),
    /// A receive of a wildcard, by communicator (its number on this rank), source
    /// and tag: each start hears from somebody else.
    Any(i64, i64, i64),
}

/// Walks the events of a rank. A first walk counts, a second one knows with
/// the same counts what to leave out.
struct Walker {
    comms: Comms,
    persistent: BTreeMap<i64, Persistent>,
    heard: VecDeque<Heard>,
    /// Of communicators with collectives the first member, and how many there
    /// are.
    members: BTreeMap<u64, (u32, u64)>,
}

/// The first member of a communicator, and how many there are.
fn both_sides(comm: &Comm) -> (u32, u64) {
    let sides = || [Some(&comm.members), comm.remote.as_ref()].into_iter().flatten();
    (sides().filter_map(|side| side.get(0)).min().unwrap_or(0), sides().map(Members::len).sum())
}

/// Which collective a call is: all ranks of a communicator make the same.
fn digest(call: CallId, root: i64) -> u32 {
    let bytes = call.name().bytes().chain(root.to_le_bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Whether all ranks of the communicator make the call.
fn is_of_all(call: CallId) -> bool {
    match class(call) {
        Class::Communicator => ![number::Comm_create_group, number::Comm_get_parent].contains(&call),
        Class::Plain => {
            is_collective(base(call)) || call == number::Comm_disconnect || call == number::Comm_free
        }
        Class::Window => ["Win_create", "Win_allocate", "Win_fence", "Win_free"]
            .iter()
            .any(|name| base(call).starts_with(name)),
        _ => false,
    }
}

/// Whether what it makes is needed later.
fn makes(call: CallId) -> bool {
    class(call) == Class::Communicator || (class(call) == Class::Window && call != number::Win_fence)
}

impl Walker {
    fn new(rank: u32, size: u32, heard: VecDeque<Heard>) -> Self {
        Self { comms: Comms::new(rank, size), persistent: BTreeMap::new(), heard, members: BTreeMap::new() }
    }

    fn channel(comm: &Comm, relative: i64, tag: i64) -> Option<Channel> {
        Some((comm.global, Comms::peer(comm, relative)?.world?, tag))
    }

    /// Source and tag of a receive, where it names no wildcard, or somebody was heard.
    fn heard_of(source: i64, tag: i64, heard: Heard) -> (i64, i64) {
        let of = |named: i64, heard: i64| if named == ANY && heard != NONE { heard } else { named };
        (of(source, heard.0), of(tag, heard.1))
    }

    fn next(&mut self, call: CallId, event: &Event) -> Seen {
        let fields = Fields::new(call, &event.values);
        let mut seen = Seen::default();
        self.starts(fields, &mut seen);
        if let Some(comm) = self.comms.of(call, event).cloned() {
            self.messages(fields, &comm, &mut seen);
            if is_of_all(call) {
                // Both sides of an intercommunicator name another root.
                let root = if comm.remote.is_some() { 0 } else { fields.get(Kind::Root).unwrap_or(0) };
                seen.collective = Some((comm.global, digest(call, root)));
                self.members.entry(comm.global).or_insert_with(|| both_sides(&comm));
            }
        }
        self.comms.apply(event, call);
        seen
    }

    fn messages(&mut self, fields: Fields, comm: &Comm, seen: &mut Seen) {
        let is_p2p =
            matches!(class(fields.call), Class::Plain | Class::Probe) && !is_collective(base(fields.call));
        let has_failed = fields.get(Kind::NewRequest).is_some_and(|request| request < 0);
        if !is_p2p || has_failed || fields.get(Kind::Flag) == Some(0) {
            return;
        }
        let persistent = fields.has(Role::NewPersistent);
        let mut found: Vec<Message> = Vec::new();
        if let Some(at) = fields.argument(Role::Dest) {
            let tag = fields.argument(Role::Tag).map_or(0, |tag| fields.of(tag));
            found.extend(Self::channel(comm, fields.of(at), tag).map(Message::Sent));
        }
        if let Some(at) = fields.argument(Role::Source) {
            let (source, tag) = (
                fields.of(at),
                fields.roles().iter().rposition(|role| *role == Role::Tag).map_or(0, |tag| fields.of(tag)),
            );
            let any = receives_any(fields);
            if any && persistent {
                let local = fields.get(Kind::Comm).unwrap_or(NONE);
                self.keep(fields, Some(Persistent::Any(local, source, tag)));
                return;
            }
            let heard = match fields.get(Kind::NewRequest) {
                Some(_) if any => self.heard.pop_front().unwrap_or((NONE, NONE)),
                _ => (
                    fields.get(Kind::StatusSource).unwrap_or(NONE),
                    fields.get(Kind::StatusTag).unwrap_or(NONE),
                ),
            };
            let (source, tag) = Self::heard_of(source, tag, heard);
            let channel = Self::channel(comm, source, tag);
            if [number::Probe, number::Iprobe].contains(&fields.call) {
                seen.looks_for = channel;
                return;
            }
            found.extend(channel.map(Message::Received));
        }
        match persistent {
            true => self.keep(fields, found.first().copied().map(Persistent::Message)),
            false => seen.messages = found,
        }
    }

    /// What a persistent request does; nothing if it is to or from nobody.
    fn keep(&mut self, fields: Fields, what: Option<Persistent>) {
        let Some(number) = fields.get(Kind::NewRequest) else { return };
        match what {
            Some(what) => self.persistent.insert(number, what),
            None => self.persistent.remove(&number),
        };
    }

    fn starts(&mut self, fields: Fields, seen: &mut Seen) {
        if let Some(number) = fields.argument(Role::FreeRequest).map(|at| fields.of(at)) {
            self.persistent.remove(&number);
        }
        if class(fields.call) != Class::Start {
            return;
        }
        let one = [fields.of(0)];
        let requests = if fields.call == number::Start { &one } else { fields.list(Kind::Requests) };
        for request in requests {
            let message = match self.persistent.get(request) {
                Some(Persistent::Message(message)) => Some(*message),
                Some(&Persistent::Any(local, source, tag)) => {
                    let heard = self.heard.pop_front().unwrap_or((NONE, NONE));
                    let (source, tag) = Self::heard_of(source, tag, heard);
                    let comm = self.comms.get(local);
                    comm.and_then(|comm| Self::channel(comm, source, tag)).map(Message::Received)
                }
                None => None,
            };
            seen.starts.extend(message.map(|message| (*request, message)));
        }
    }
}

/// What a rank has, counted.
#[derive(Debug, Default)]
struct Counted {
    sends: Counts,
    receives: Counts,
    /// Of every communicator its collectives in order.
    collectives: BTreeMap<Collectives, Vec<u32>>,
    members: BTreeMap<u64, (u32, u64)>,
    /// The largest message.
    largest: i64,
}

impl Counted {
    fn message(&mut self, message: Message) {
        let (of, channel) = match message {
            Message::Sent(channel) => (&mut self.sends, channel),
            Message::Received(channel) => (&mut self.receives, channel),
        };
        *of.entry(channel).or_default() += 1;
    }
}

/// What is left out, and what comes next.
pub(crate) struct Agreement {
    walker: Walker,
    sends: BTreeSet<Channel>,
    receives: BTreeSet<Channel>,
    collectives: BTreeSet<u64>,
    /// The largest message of the recording, in bytes.
    pub(crate) largest: i64,
}

impl Agreement {
    /// What the ranks agree on. Collective.
    ///
    /// # Errors
    /// The recording holds nonsense, its ranks make different communicators, or
    /// they cannot tell each other.
    pub(crate) fn of(
        recording: &Recording,
        comm: &impl Communicator,
        types: &[Datatype],
        heard: &VecDeque<Heard>,
    ) -> Result<Self, ReplayError> {
        let rank = comm.rank() as u32;
        let counted = count(recording, rank, types, heard)?;
        let (sends, receives) = match_messages(comm, &counted)?;
        let collectives = match_collectives(comm, &counted)?;
        let mut largest = [counted.largest];
        comm.all_reduce(Reduction::Max, &mut largest)?;
        let walker = Walker::new(rank, recording.size(), heard.clone());
        Ok(Self { walker, sends, receives, collectives, largest: largest[0] })
    }

    /// What of the next event is to be left out.
    pub(crate) fn next(&mut self, call: CallId, event: &Event) -> LeftOut {
        let seen = self.walker.next(call, event);
        let mut left_out = LeftOut::default();
        for message in &seen.messages {
            match message {
                Message::Sent(channel) => left_out.send = self.sends.contains(channel),
                Message::Received(channel) => left_out.receive = self.receives.contains(channel),
            }
        }
        if let Some(channel) = &seen.looks_for {
            left_out.receive = self.receives.contains(channel);
        }
        for (request, message) in seen.starts {
            let over = match message {
                Message::Sent(channel) => self.sends.contains(&channel),
                Message::Received(channel) => self.receives.contains(&channel),
            };
            left_out.starts.extend(over.then_some(request));
        }
        left_out.collective =
            !makes(call) && seen.collective.is_some_and(|(comm, _)| self.collectives.contains(&comm));
        left_out
    }
}

fn count(
    recording: &Recording,
    rank: u32,
    types: &[Datatype],
    heard: &VecDeque<Heard>,
) -> Result<Counted, ReplayError> {
    let broken = |broken: Broken| ReplayError::Broken { rank, what: broken.to_string() };
    let mut walker = Walker::new(rank, recording.size(), heard.clone());
    let mut counted = Counted::default();
    let mut events = recording.events(rank);
    while let Some(event) = events.next().map_err(broken)? {
        let call = recording.symbols()[event.symbol as usize].call;
        let seen = walker.next(call, event);
        let starts = seen.starts.iter().map(|(_, message)| *message);
        seen.messages.iter().copied().chain(starts).for_each(|message| counted.message(message));
        if let Some((comm, which)) = seen.collective {
            counted.collectives.entry((comm, makes(call))).or_default().push(which);
        }
        let fields = Fields::new(call, &event.values);
        if fields.has(Role::Dest) {
            let said = crate::amounts::Amounts::said(fields, types);
            counted.largest = counted.largest.max(said.first());
        }
    }
    counted.members = walker.members;
    Ok(counted)
}

fn not_understood() -> CommError {
    let reason = "what ranks have told of their events is not understood".to_owned();
    CommError::Transport { call: "matching", reason }
}

/// Each rank tells its peers what it sends them and receives from them. The
/// channels, of sends and of receives, with another number on the other side.
fn match_messages(
    comm: &impl Communicator,
    counted: &Counted,
) -> Result<(BTreeSet<Channel>, BTreeSet<Channel>), ReplayError> {
    let mut parcels: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for (kind, all) in [(0, &counted.sends), (1, &counted.receives)] {
        for (&(number, peer, tag), &n) in
            all.iter().filter(|((_, peer, _), _)| (*peer as usize) < comm.size())
        {
            let parcel = parcels.entry(peer as usize).or_default();
            wire::put_numbers(parcel, [kind, number, tag as u64, n]);
        }
    }
    let mut theirs = [Counts::new(), Counts::new()];
    for (from, bytes) in comm.route(parcels.into_iter().collect())? {
        let numbers: Vec<u64> = wire::numbers(&bytes).ok_or_else(not_understood)?.collect();
        for four in numbers.chunks_exact(4) {
            let known = theirs.get_mut(four[0] as usize).ok_or_else(not_understood)?;
            known.insert((four[1], from as u32, four[2] as i64), four[3]);
        }
    }
    let [sent, received] = theirs;
    let odd = |own: &Counts, other: &Counts| -> BTreeSet<Channel> {
        own.iter().filter(|(channel, n)| other.get(channel) != Some(n)).map(|(channel, _)| *channel).collect()
    };
    Ok((odd(&counted.sends, &received), odd(&counted.receives, &sent)))
}

/// Collectives as one number.
fn digest_of(all: &[u32]) -> u64 {
    let step = |hash: u64, which: &u32| {
        (hash.rotate_left(7) ^ u64::from(*which)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    all.iter().fold(7, step)
}

/// The communicators whose ranks do not all have the same collectives. The
/// first member of each compares.
fn match_collectives(comm: &impl Communicator, counted: &Counted) -> Result<BTreeSet<u64>, ReplayError> {
    let odd = compare(comm, counted)?;
    // Of what is made, all that comes later would be left out.
    let mut makes = [i64::from(odd.iter().any(|(_, makes)| *makes))];
    comm.all_reduce(Reduction::Max, &mut makes)?;
    match makes[0] {
        0 => Ok(odd.into_iter().map(|(number, _)| number).collect()),
        _ => Err(ReplayError::Disagree),
    }
}

/// Of every communicator each rank tells its first member which collectives it
/// has; that one tells all whether they are the same.
fn compare(comm: &impl Communicator, counted: &Counted) -> Result<BTreeSet<Collectives>, ReplayError> {
    let mut parcels = Vec::new();
    for ((number, makes), all) in &counted.collectives {
        let (first, size) = counted.members.get(number).copied().unwrap_or_default();
        let mut bytes = Vec::new();
        wire::put_numbers(&mut bytes, [*number, u64::from(*makes), size, all.len() as u64, digest_of(all)]);
        parcels.push(((first as usize).min(comm.size() - 1), bytes));
    }
    let mut told: BTreeMap<[u64; 2], Vec<(usize, [u64; 3])>> = BTreeMap::new();
    for (from, bytes) in comm.route(parcels)? {
        let numbers: Vec<u64> = wire::numbers(&bytes).ok_or_else(not_understood)?.collect();
        let [number, makes, size, n, digest] = numbers[..] else { return Err(not_understood().into()) };
        told.entry([number, makes]).or_default().push((from, [size, n, digest]));
    }
    let mut parcels = Vec::new();
    for (which, told) in told {
        let [size, ..] = told[0].1;
        if size != told.len() as u64 || told.iter().any(|(_, one)| *one != told[0].1) {
            let mut bytes = Vec::new();
            wire::put_numbers(&mut bytes, which);
            parcels.extend(told.iter().map(|(rank, _)| (*rank, bytes.clone())));
        }
    }
    let mut odd = BTreeSet::new();
    for (_, bytes) in comm.route(parcels)? {
        let numbers: Vec<u64> = wire::numbers(&bytes).ok_or_else(not_understood)?.collect();
        let [number, makes] = numbers[..] else { return Err(not_understood().into()) };
        odd.insert((number, makes == 1));
    }
    Ok(odd)
}

#[cfg(test)]
mod tests;
