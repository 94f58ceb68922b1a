//! A first pass over the events of a rank: what a replay must know before it
//! begins. Whom a receive from any source heard from is recorded where it was
//! completed, which is later than where it began.

use crate::ReplayError;
use crate::class::{Class, class};
use crate::fields::Fields;
use likewise_recording::calls::number;
use likewise_recording::role::{ANY, Kind, NONE, NULL, Role, UNDEFINED};
use likewise_recording::{Broken, CallId, Recording};
use std::collections::VecDeque;

/// Whom a receive of a wildcard heard from: source (relative) and tag, each
/// [`NONE`] where the receive named it, or where it was never done.
pub(crate) type Heard = (i64, i64);

/// What is known before a replay of a rank begins.
#[derive(Debug, Default)]
pub(crate) struct Lookahead {
    /// Of every receive of a wildcard that a request stands for, in the order
    /// in which they began.
    pub(crate) heard: VecDeque<Heard>,
    /// From the end of `MPI_Init` to the begin of `MPI_Finalize`.
    pub(crate) wall: u64,
}

/// A request, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
struct Request {
    receives_any: bool,
    persistent: bool,
    /// Which receive of `heard` it stands for, while it is under way.
    receive: Option<usize>,
}

/// Whether a call begins a receive that names a wildcard.
pub(crate) fn receives_any(fields: Fields) -> bool {
    let tag = fields.roles().iter().rposition(|role| *role == Role::Tag);
    fields.get(Kind::Source).is_some_and(|source| source == ANY)
        || (fields.has(Role::Source) && tag.is_some_and(|tag| fields.of(tag) == ANY))
}

/// The requests that a call completed, in the order of their statuses.
pub(crate) fn completed(fields: Fields) -> Vec<i64> {
    let requests = match fields.get(Kind::Request) {
        Some(request) => vec![request],
        None => fields.list(Kind::Requests).to_vec(),
    };
    let is_one = |request: &i64| *request != NULL;
    let at = |index: i64| usize::try_from(index).ok().and_then(|index| requests.get(index).copied());
    if fields.call == number::Request_get_status || fields.get(Kind::Flag) == Some(0) {
        return Vec::new();
    }
    if let Some(index) = fields.get(Kind::Index) {
        return at(index).filter(|_| index != UNDEFINED).into_iter().filter(is_one).collect();
    }
    if fields.get(Kind::Outcount).is_some() {
        return fields.list(Kind::Indices).iter().filter_map(|index| at(*index)).filter(is_one).collect();
    }
    requests.into_iter().filter(is_one).collect()
}

#[derive(Debug, Default)]
struct Pass {
    requests: Vec<Request>,
    heard: VecDeque<Heard>,
}

impl Pass {
    fn request(&mut self, number: i64) -> Option<&mut Request> {
        let number = usize::try_from(number).ok().filter(|number| *number < 1 << 28)?;
        if self.requests.len() <= number {
            self.requests.resize(number + 1, Request::default());
        }
        self.requests.get_mut(number)
    }

    fn begin(&mut self, number: i64) {
        let next = self.heard.len();
        if let Some(request) = self.request(number)
            && request.receives_any
        {
            request.receive = Some(next);
            self.heard.push_back((NONE, NONE));
        }
    }

    fn event(&mut self, fields: Fields) {
        if let Some(number) = fields.get(Kind::NewRequest) {
            let persistent = fields.has(Role::NewPersistent);
            let made = Request { receives_any: receives_any(fields), persistent, receive: None };
            if let Some(request) = self.request(number) {
                *request = made;
            }
            if !persistent {
                self.begin(number);
            }
        }
        match class(fields.call) {
            Class::Start if fields.call == number::Start => self.begin(fields.of(0)),
            Class::Start => fields.list(Kind::Requests).iter().for_each(|number| self.begin(*number)),
            Class::Completion => self.complete(fields),
            _ => {}
        }
    }

    fn complete(&mut self, fields: Fields) {
        let mut statuses = fields.list(Kind::Statuses).chunks_exact(2);
        for number in completed(fields) {
            let Some(request) = self.request(number) else { continue };
            let receive = request.receive.take();
            if !request.persistent {
                *request = Request::default();
            }
            if let Some(receive) = receive
                && let Some(status) = statuses.next()
            {
                // The status of a receive that was cancelled names no source.
                let named = |value| if value == ANY { NONE } else { value };
                self.heard[receive] = (named(status[0]), named(status[1]));
            }
        }
    }
}

impl Lookahead {
    /// Reads all events of a rank.
    ///
    /// # Errors
    /// It holds nonsense, or what a replay cannot do.
    pub(crate) fn of(recording: &Recording, rank: u32) -> Result<Self, ReplayError> {
        let broken = |broken: Broken| ReplayError::Broken { rank, what: broken.to_string() };
        let mut events = recording.events(rank);
        let (mut pass, mut begin, mut end) = (Pass::default(), 0, 0);
        let mut finalized = false;
        while let Some(event) = events.next().map_err(broken)? {
            let call = recording.symbols()[event.symbol as usize].call;
            if event.thread != 0 && !matches!(class(call), Class::TimeOnly(_)) {
                return Err(ReplayError::Threads { rank, call: call.name() });
            }
            if call == number::Init || call == number::Init_thread {
                begin = event.end;
            }
            end = event.end;
            if call == number::Finalize {
                end = event.begin;
                finalized = true;
            }
            pass.event(Fields::new(call, &event.values));
        }
        if !finalized {
            return Err(ReplayError::NoFinalize { rank });
        }
        Ok(Self { heard: pass.heard, wall: end.saturating_sub(begin) })
    }
}

/// The first call of a recording that cannot be re-issued.
pub(crate) fn refused(recording: &Recording) -> Option<CallId> {
    recording.symbols().iter().map(|symbol| symbol.call).find(|call| class(*call) == Class::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(events: &[(CallId, &[i64])]) -> Vec<Heard> {
        let mut pass = Pass::default();
        events.iter().for_each(|(call, values)| pass.event(Fields::new(*call, values)));
        pass.heard.into()
    }

    #[test]
    fn receives_learn_whom_they_heard_from_where_they_were_done() {
        // Count, type, source, tag, communicator, request.
        let any = |request| [8, 0, ANY, 5, 0, request];
        let found = heard(&[
            (number::Irecv, &any(0)),
            (number::Irecv, &[8, 0, 3, 5, 0, 1]),
            (number::Irecv, &any(2)),
            (number::Waitall, &[2, 2, 1, 2, 2, 4, NONE]),
            (number::Irecv, &any(1)),
            (number::Test, &[1, 0, 0]),
            (number::Test, &[1, 1, 2, 2, NONE]),
            (number::Waitany, &[2, 2, NULL, 0, 1, 2, 6, NONE]),
        ]);
        assert_eq!(found, [(6, NONE), (4, NONE), (2, NONE)]);
    }

    #[test]
    fn each_start_of_a_persistent_receive_hears_anew() {
        let found = heard(&[
            (number::Recv_init, &[8, 0, ANY, ANY, 0, 0]),
            (number::Start, &[0]),
            (number::Wait, &[0, 2, 1, 10]),
            (number::Startall, &[1, 1, 0]),
            (number::Waitsome, &[1, 1, 0, 1, 1, 0, 2, 3, 11]),
            (number::Start, &[0]),
        ]);
        assert_eq!(found, [(1, 10), (3, 11), (NONE, NONE)]);
    }
}
