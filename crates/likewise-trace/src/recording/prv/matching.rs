//! Which receive got which message.

use std::collections::BTreeMap;

use likewise_recording::comms::{Comms, Members, fields};
use likewise_recording::role::{ANY, Field, Kind, NONE, PROC_NULL, Role};
use likewise_recording::{CallId, Datatype, Event, Recording};
use rayon::prelude::*;

use super::super::leads::Lent;
use super::super::rows::Facts;
use super::super::walk::{Step, Walk};
use crate::error::Result;
use std::path::Path;

/// A message that was sent and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Rank and thread, from 0.
    pub(super) from: (u32, u32),
    pub(super) to: (u32, u32),
    pub(super) sent: u64,
    /// When the receive was posted, and when it was done.
    pub(super) posted: u64,
    pub(super) done: u64,
    pub(super) bytes: i64,
    pub(super) tag: i64,
}

/// Whose message it is: communicator, sender and receiver in the world, tag.
type Channel = (u64, u32, u32, i64);

#[derive(Clone, Copy, Debug)]
struct Send {
    channel: Channel,
    from: (u32, u32),
    sent: u64,
    bytes: i64,
}

#[derive(Clone, Copy, Debug)]
struct Receive {
    /// Communicator, source in the world, tag; of a wildcard receive filled in
    /// when it is done.
    comm: u64,
    source: Option<u32>,
    tag: i64,
    thread: u32,
    posted: u64,
    done: Option<u64>,
}

/// What a pass over a rank finds.
#[derive(Default)]
struct OfRank {
    rank: u32,
    sends: Vec<Send>,
    receives: Vec<Receive>,
    threads: u32,
    end: u64,
    comms: Vec<((u64, u32), Members)>,
    lent: u64,
    unknown: u64,
}

/// What a first pass over all events finds.
pub(super) struct Found {
    /// By the time they were sent.
    pub(super) messages: Vec<Message>,
    /// Sends and receives without a counterpart.
    pub(super) unmatched: u64,
    /// Those of which it is not known whom they are with.
    pub(super) unknown: u64,
    pub(super) threads: BTreeMap<u32, u32>,
    pub(super) end: u64,
    /// Communicators with their members; that of `MPI_COMM_SELF` by its rank.
    pub(super) comms: BTreeMap<(u64, u32), Members>,
    pub(super) lent: Lent,
}

/// Matches the messages: the n-th that a rank sends to another with a tag is
/// the n-th that this one receives from it with that tag, in the order in
/// which the receives were posted.
pub(super) fn find(recording: &Recording, ranks: &[u32], path: &Path) -> Found {
    let ranks: Vec<OfRank> = ranks.par_iter().map(|rank| of_rank(recording, *rank, path)).collect();
    let mut found = Found {
        messages: Vec::new(),
        unmatched: 0,
        unknown: ranks.iter().map(|rank| rank.unknown).sum(),
        threads: ranks.iter().map(|rank| (rank.rank, rank.threads)).collect(),
        end: ranks.iter().map(|rank| rank.end).max().unwrap_or(0),
        comms: ranks.iter().flat_map(|rank| rank.comms.iter().cloned()).collect(),
        lent: Lent::default(),
    };
    ranks.iter().for_each(|rank| found.lent.add(rank.lent));
    let mut sends: Vec<Send> = Vec::new();
    let mut receives: Vec<(Channel, Receive, u32)> = Vec::new();
    for OfRank { rank, sends: sent, receives: received, .. } in ranks {
        sends.extend(sent);
        let known = |r: Receive| Some(((r.comm, r.source?, rank, r.tag), r, rank));
        let done = received.into_iter().filter(|r| r.done.is_some());
        let (with, without): (Vec<_>, Vec<_>) = done.partition(|r| r.source.is_some());
        found.unknown += without.len() as u64;
        receives.extend(with.into_iter().filter_map(known));
    }
    // Stable: within a channel, in the order of the rank's own events.
    sends.par_sort_by_key(|send| send.channel);
    receives.par_sort_by_key(|receive| receive.0);
    let mut left = receives.into_iter().peekable();
    for send in sends {
        while left.next_if(|receive| receive.0 < send.channel).is_some() {
            found.unmatched += 1;
        }
        let Some((_, receive, rank)) = left.next_if(|receive| receive.0 == send.channel) else {
            found.unmatched += 1;
            continue;
        };
        found.messages.push(Message {
            from: send.from,
            to: (rank, receive.thread),
            sent: send.sent,
            posted: receive.posted,
            done: receive.done.unwrap_or(receive.posted),
            bytes: send.bytes.max(0),
            tag: send.channel.3,
        });
    }
    found.unmatched += left.count() as u64;
    found.messages.par_sort_by_key(|message| (message.sent, message.from));
    found
}

fn of_rank(recording: &Recording, rank: u32, path: &Path) -> OfRank {
    let mut walk = Walk::new(recording, rank, path);
    let mut tracker = Tracker {
        types: recording.datatypes(rank),
        comms: Comms::new(rank, recording.size()),
        requests: BTreeMap::new(),
        probed: BTreeMap::new(),
        found: OfRank { rank, ..OfRank::default() },
    };
    tracker.note(0);
    tracker.note(1);
    // What cannot be read is told by who writes the records.
    let next = |walk: &mut Walk<'_>, tracker: &mut Tracker| -> Result<bool> {
        let Some(step) = walk.next()? else { return Ok(false) };
        tracker.found.lent += u64::from(step.event.lent);
        tracker.step(&step);
        Ok(true)
    };
    while next(&mut walk, &mut tracker).unwrap_or(false) {}
    tracker.found
}

/// A request that was made.
#[derive(Clone, Copy, Debug)]
enum Request {
    /// Its receive, if it is of one.
    Once(Option<Wanted>),
    /// A persistent one: what it does when it is started, and the receive that
    /// was started last.
    Again(Kept, Option<Wanted>),
}

/// A receive that is not done.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    at: usize,
    is_wild: bool,
    /// The communicator's local number when it was posted.
    comm: i64,
}

/// What a persistent request does.
#[derive(Clone, Copy, Debug)]
enum Kept {
    Send(Send),
    Receive(Receive, bool, i64),
    /// A message, and it is not known with whom.
    Unknown,
    Other,
}

/// Follows the requests of a rank.
struct Tracker {
    types: Vec<Datatype>,
    comms: Comms,
    requests: BTreeMap<i64, Request>,
    /// Messages that a matched probe found.
    probed: BTreeMap<i64, usize>,
    found: OfRank,
}

/// The fields of an event that matter here.
#[derive(Default)]
struct Said<'e> {
    dest: Option<i64>,
    source: Option<i64>,
    send_tag: i64,
    receive_tag: i64,
    status: Option<(i64, i64)>,
    statuses: &'e [i64],
    requests: &'e [i64],
    flag: Option<i64>,
    index: Option<i64>,
    indices: &'e [i64],
    new_request: Option<i64>,
    new_message: Option<i64>,
    message: Option<i64>,
}

impl<'e> Said<'e> {
    fn by(call: CallId, event: &'e Event) -> Self {
        let mut of = Self { send_tag: ANY, receive_tag: ANY, ..Self::default() };
        for (field, values) in fields(call, event) {
            let value = values.first().copied().unwrap_or(0);
            let role = call.roles()[usize::from(field.argument)];
            match field.kind {
                Kind::Dest => of.dest = Some(value),
                Kind::Source => of.source = Some(value),
                Kind::Tag if of.source.is_some() => of.receive_tag = value,
                Kind::Tag => of.send_tag = value,
                Kind::StatusSource => of.status = Some((value, ANY)),
                Kind::StatusTag => of.status = of.status.map(|(source, _)| (source, value)),
                Kind::Statuses => of.statuses = values,
                Kind::Request | Kind::Requests => of.requests = values,
                Kind::Flag => of.flag = Some(value),
                Kind::Index => of.index = Some(value),
                Kind::Indices => of.indices = values,
                Kind::NewRequest => of.new_request = Some(value),
                Kind::NewHandle if role == Role::NewMessage => of.new_message = Some(value),
                Kind::FreeHandle if role == Role::FreeMessage => of.message = Some(value),
                _ => {}
            }
        }
        of
    }
}

impl Tracker {
    fn step(&mut self, step: &Step<'_>) {
        let thread = step.event.thread;
        self.found.threads = self.found.threads.max(thread + 1);
        self.found.end = self.found.end.max(step.end);
        let call = step.call;
        if let Some(read) = call.not_read().filter(|read| *read != call) {
            let ends = |field: &&Field| matches!(field.kind, Kind::Dest | Kind::Source);
            self.found.unknown += read.fields().iter().filter(ends).count() as u64;
        }
        if call.fields().iter().any(|field| matters(field.kind)) {
            let of = Said::by(call, step.event);
            self.messages(step, &of);
            self.completions(step, &of);
        }
        if call.fields().iter().any(|field| field.kind == Kind::NewComm) {
            self.comms.apply(step.event, call);
            let made = fields(call, step.event).find(|(field, _)| field.kind == Kind::NewComm);
            made.into_iter().for_each(|(_, values)| self.note(values[0]));
        } else {
            self.comms.apply(step.event, call);
        }
    }

    /// Notes a communicator for the list of all.
    fn note(&mut self, local: i64) {
        if let Some(comm) = self.comms.get(local) {
            let own = if comm.global == 1 { self.found.rank } else { 0 };
            self.found.comms.push(((comm.global, own), comm.members.clone()));
        }
    }

    /// What an event sends, receives or prepares.
    fn messages(&mut self, step: &Step<'_>, of: &Said<'_>) {
        let role = |role| step.call.roles().contains(&role);
        let is_kept = role(Role::NewPersistent);
        let local = self.comms.local_of(step.call, step.event).unwrap_or(-1);
        let unknown = self.unknown(step, of, local);
        let mut kept = if unknown > 0 { Kept::Unknown } else { Kept::Other };
        self.found.unknown += if is_kept { 0 } else { unknown };
        let mut wanted = None;
        if let Some(send) = self.send(step, of, local) {
            match is_kept {
                true => kept = Kept::Send(send),
                false => self.found.sends.push(send),
            }
        }
        if let Some((receive, is_wild)) = self.receive(step, of, local) {
            // A probe that does not take its message receives nothing.
            let takes = !step.call.name().contains("robe") || of.new_message.is_some_and(|m| m >= 0);
            if is_kept {
                kept = Kept::Receive(receive, is_wild, local);
            } else if takes {
                wanted = Some(self.post(receive, is_wild, local, step));
            }
        }
        if let Some(wanted) = wanted
            && of.new_request.is_none()
        {
            // A receive that waits, or a probe that has found its message.
            self.fill(wanted, of.status);
            match of.new_message {
                Some(message) => drop(self.probed.insert(message, wanted.at)),
                None => self.found.receives[wanted.at].done = Some(step.end),
            }
        }
        if let Some(at) = of.message.and_then(|message| self.probed.remove(&message)) {
            match of.new_request {
                Some(_) => wanted = Some(Wanted { at, is_wild: false, comm: local }),
                None => self.found.receives[at].done = Some(step.end),
            }
        }
        if let Some(request) = of.new_request.filter(|&request| request >= 0) {
            let made = if is_kept { Request::Again(kept, None) } else { Request::Once(wanted) };
            self.requests.insert(request, made);
        }
    }

    /// How many messages an event sends or receives of which it is not known with whom: ranks
    /// of another `MPI_COMM_WORLD` have no place in this one. A probe receives none.
    fn unknown(&self, step: &Step<'_>, of: &Said<'_>, local: i64) -> u64 {
        let is_one = |peer: Option<i64>| peer.is_some_and(|peer| ![PROC_NULL, NONE].contains(&peer));
        let is_probe = step.call.name().contains("robe");
        let sent = is_one(of.dest) && self.send(step, of, local).is_none();
        let received = !is_probe && is_one(of.source) && self.receive(step, of, local).is_none();
        u64::from(sent) + u64::from(received)
    }

    fn send(&self, step: &Step<'_>, of: &Said<'_>, local: i64) -> Option<Send> {
        let comm = self.comms.get(local)?;
        let to = Comms::peer(comm, of.dest?)?.world?;
        let from = (self.found.rank, step.event.thread);
        let bytes = Facts::of(step.call, step.event, &self.types).bytes().unwrap_or(0);
        Some(Send { channel: (comm.global, from.0, to, of.send_tag), from, sent: step.begin, bytes })
    }

    /// A receive, and whether its source or tag may be any.
    fn receive(&self, step: &Step<'_>, of: &Said<'_>, local: i64) -> Option<(Receive, bool)> {
        let comm = self.comms.get(local)?;
        let asked = of.source?;
        let source = Comms::peer(comm, asked).and_then(|peer| peer.world);
        // From nobody (MPI_PROC_NULL) comes nothing.
        (source.is_some() || asked == ANY).then_some(())?;
        let receive = Receive {
            comm: comm.global,
            source,
            tag: of.receive_tag,
            thread: step.event.thread,
            posted: step.begin,
            done: None,
        };
        Some((receive, asked == ANY || of.receive_tag == ANY))
    }

    fn post(&mut self, receive: Receive, is_wild: bool, comm: i64, step: &Step<'_>) -> Wanted {
        self.found.receives.push(Receive { posted: step.begin, thread: step.event.thread, ..receive });
        Wanted { at: self.found.receives.len() - 1, is_wild, comm }
    }

    /// Takes source and tag that a wildcard receive got.
    fn fill(&mut self, wanted: Wanted, status: Option<(i64, i64)>) {
        let Some((source, tag)) = status.filter(|_| wanted.is_wild) else { return };
        let peer = self.comms.get(wanted.comm).and_then(|comm| Comms::peer(comm, source));
        let receive = &mut self.found.receives[wanted.at];
        receive.source = receive.source.or_else(|| peer.and_then(|peer| peer.world));
        if receive.tag == ANY {
            receive.tag = tag;
        }
    }

    /// What an event completes, starts or ends of earlier requests.
    fn completions(&mut self, step: &Step<'_>, of: &Said<'_>) {
        let name = step.call.name();
        match name {
            "MPI_Start" | "MPI_Startall" => of.requests.iter().for_each(|request| self.start(*request, step)),
            "MPI_Cancel" | "MPI_Request_free" => {
                of.requests.iter().for_each(|request| self.forget(*request, name))
            }
            _ if name.starts_with("MPI_Wait") || name.starts_with("MPI_Test") => {
                let mut statuses = of.statuses.chunks_exact(2);
                for request in completed(name, of) {
                    self.complete(request, &mut statuses, step.end);
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, request: i64, step: &Step<'_>) {
        let Some(Request::Again(kept, _)) = self.requests.get(&request).copied() else { return };
        let wanted = match kept {
            Kept::Send(send) => {
                let from = (send.from.0, step.event.thread);
                self.found.sends.push(Send { sent: step.begin, from, ..send });
                None
            }
            Kept::Receive(receive, is_wild, comm) => Some(self.post(receive, is_wild, comm, step)),
            Kept::Unknown => {
                self.found.unknown += 1;
                None
            }
            Kept::Other => None,
        };
        self.requests.insert(request, Request::Again(kept, wanted));
    }

    /// A cancelled receive gets nothing; one that is freed is done some time.
    fn forget(&mut self, request: i64, name: &str) {
        match self.requests.get_mut(&request) {
            Some(Request::Once(wanted) | Request::Again(_, wanted)) if name == "MPI_Cancel" => *wanted = None,
            _ => drop(self.requests.remove(&request)),
        }
    }

    fn complete(&mut self, request: i64, statuses: &mut std::slice::ChunksExact<'_, i64>, end: u64) {
        let wanted = match self.requests.get_mut(&request) {
            Some(Request::Again(_, wanted)) => wanted.take(),
            Some(Request::Once(wanted)) => {
                let wanted = *wanted;
                self.requests.remove(&request);
                wanted
            }
            None => None,
        };
        let Some(wanted) = wanted else { return };
        if wanted.is_wild {
            let status = statuses.next().map(|pair| (pair[0], pair[1]));
            self.fill(wanted, status);
        }
        self.found.receives[wanted.at].done = Some(end);
    }
}

/// Whether a field may say something of messages or requests.
fn matters(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Dest | Kind::Source | Kind::Request | Kind::Requests | Kind::NewRequest | Kind::FreeHandle
    )
}

/// The requests that an event has completed, in their order.
fn completed(name: &str, of: &Said<'_>) -> Vec<i64> {
    let at = |index: i64| usize::try_from(index).ok().and_then(|index| of.requests.get(index)).copied();
    if of.flag == Some(0) {
        return Vec::new();
    }
    if name.ends_with("any") {
        return of.index.and_then(at).into_iter().collect();
    }
    if name.ends_with("some") {
        let mut indices = of.indices.to_vec();
        indices.sort_unstable();
        return indices.into_iter().filter_map(at).collect();
    }
    of.requests.to_vec()
}
