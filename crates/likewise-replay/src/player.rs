//! Walks the events of a rank and re-issues them.

use crate::agreement::{Agreement, LeftOut};
use crate::class::{Class, Reason, class};
use crate::clock::{Basis, Clock};
use crate::fields::Fields;
use crate::handles::{Comm, Handles, Kept, Request, Scratch};
use crate::lookahead::{Heard, Lookahead, completed, receives_any};
use crate::mpi::Mpi;
use crate::tally::Tally;
use crate::words::{Instead, Words, World};
use crate::{Options, Outcome, ReplayError, check};
use likewise_comm::{Communicator, Reduction};
use likewise_mpi::MpiComm;
use likewise_recording::calls::number;
use likewise_recording::role::{Kind, NONE, Role};
use likewise_recording::{CallId, Datatype, Event, NOT_READ, Recording};
use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::time::Instant;

/// The counter of processor time.
const PROCESSOR: &str = "CPU time (ns)";

/// A replay of a rank.
pub(crate) struct Player<'a> {
    pub(crate) mpi: Mpi<'a>,
    pub(crate) world: World<'a>,
    lookahead: Lookahead,
    tally: Tally,
    clock: Clock,
    /// What requests that nobody waits for any more may still read.
    abandoned: Vec<Request>,
    /// The memory of the buffer that is attached. MPI reads it until the buffer is detached, or
    /// MPI ended: a program need not detach it, so nothing else may free it.
    attached: ManuallyDrop<Vec<u8>>,
    /// Which counter is processor time.
    processor: Option<usize>,
    /// How much longer calls that find nothing may take, in ns.
    vain: i64,
    /// Of a recording by leads, what its ranks agree on.
    agreement: Option<Agreement>,
    /// Requests of messages that were left out.
    unmatched: BTreeSet<i64>,
}

/// Replays a recording on the ranks of a program. Collective.
///
/// # Errors
/// It cannot be replayed. Where a rank alone fails, the others wait for it
/// until [`Communicator::fail`] ends them.
pub fn replay(recording: &Recording, comm: &MpiComm, options: Options) -> Result<Outcome, ReplayError> {
    check(recording)?;
    if recording.size() as usize != comm.size() {
        return Err(ReplayError::Size { recorded: recording.size(), here: comm.size() });
    }
    let rank = comm.rank() as u32;
    let types = recording.datatypes(rank);
    let mut player = Player::new(recording, comm, &types, options)?;
    let is_measured = |rank: u32| recording.is_measured(rank);
    let by_leads = recording.ranks().iter().any(|meta| !is_measured(meta.rank));
    if by_leads {
        let agreement = Agreement::of(recording, comm, &types, &player.lookahead.heard)?;
        player.world.least_receive = agreement.largest;
        player.agreement = Some(agreement);
    }
    // None begins before all have read what they are to do.
    comm.all_reduce(Reduction::Sum, &mut [0])?;
    let replayed = player.play(recording, rank)?;
    let wall = player.lookahead.wall as i64;
    let mut longest = [wall, replayed as i64, if is_measured(rank) { wall } else { 0 }];
    comm.all_reduce(Reduction::Max, &mut longest)?;
    let tally = player.tally.of_all(comm)?;
    Ok(Outcome {
        recorded: if longest[2] > 0 { longest[2] } else { longest[0] } as u64,
        replayed: longest[1] as u64,
        issued: tally.issued(),
        skipped: tally.skipped(),
    })
}

/// Whether the recorded run had fewer cores than ranks, if it ran here.
fn was_crowded(recording: &Recording, rank: u32) -> bool {
    let here = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let Some(node) = recording.ranks().get(rank as usize).map(|meta| meta.node.as_str()) else {
        return false;
    };
    let beside = recording.ranks().iter().filter(|meta| meta.node == node).count();
    node == here.trim() && std::thread::available_parallelism().is_ok_and(|cores| beside > cores.get())
}

impl<'a> Player<'a> {
    fn new(
        recording: &Recording,
        comm: &'a MpiComm,
        types: &'a [Datatype],
        options: Options,
    ) -> Result<Self, ReplayError> {
        let rank = comm.rank() as u32;
        let mpi = Mpi::new(comm.raw())?;
        let processor = recording.counters().iter().position(|name| name == PROCESSOR);
        let basis = match processor {
            Some(_) => Basis::Counter,
            None if was_crowded(recording, rank) => Basis::Wall,
            None => Basis::Length,
        };
        let mut handles = Handles::default();
        let made =
            |handle, rank, size, members| Comm { handle, rank, size, remote: 0, degrees: (0, 0), members };
        let (own, size) = (i64::from(rank), comm.size() as i64);
        handles.comms.put(0, made(mpi.constants.comm_world, own, size, vec![0, 1, size]));
        handles.comms.put(1, made(mpi.constants.comm_self, 0, 1, vec![own, 1, 1]));
        let mut player = Self {
            world: World {
                constants: mpi.constants,
                types,
                handles,
                send: Scratch::default(),
                receive: Scratch::default(),
                tag_ub: 0,
                least_receive: 0,
            },
            mpi,
            lookahead: Lookahead::of(recording, rank)?,
            tally: Tally::new(),
            clock: Clock::new(options.compute, options.speed, basis),
            abandoned: Vec::new(),
            attached: ManuallyDrop::default(),
            processor,
            vain: 0,
            agreement: None,
            unmatched: BTreeSet::new(),
        };
        player.prepare()?;
        Ok(player)
    }

    /// Errors of the program's communicators come back, and the greatest tag
    /// is known.
    fn prepare(&mut self) -> Result<(), ReplayError> {
        let constants = self.mpi.constants;
        for comm in [constants.comm_world, constants.comm_self] {
            self.mpi.call(number::Comm_set_errhandler, &[comm, constants.errors_return])?;
        }
        let (mut value, mut found) = (0_usize, 0_i32);
        let words = [
            constants.comm_world,
            constants.tag_ub as usize,
            (&raw mut value) as usize,
            (&raw mut found) as usize,
        ];
        self.mpi.call(number::Comm_get_attr, &words)?;
        // What the standard promises at least.
        self.world.tag_ub = 32767;
        if found != 0 && value != 0 {
            // SAFETY: MPI gives the address of an `int` that stays.
            self.world.tag_ub = i64::from(unsafe { *(value as *const i32) });
        }
        Ok(())
    }

    /// Re-issues all events; returns how long it took, in ns.
    fn play(&mut self, recording: &Recording, rank: u32) -> Result<u64, ReplayError> {
        let mut events = recording.events(rank);
        let mut number = 0;
        let mut begun = Instant::now();
        self.clock.restart();
        loop {
            let at = |error| ReplayError::At { rank, event: number, error: Box::new(error) };
            let event =
                events.next().map_err(|broken| at(ReplayError::Broken { rank, what: broken.to_string() }))?;
            let Some(event) = event else { break };
            let call = recording.symbols()[event.symbol as usize].call;
            if call == number::Init || call == number::Init_thread {
                begun = Instant::now();
                self.clock.restart();
            } else if call == number::Finalize {
                self.burst(event);
                break;
            } else {
                self.event(call, event).map_err(at)?;
            }
            number += 1;
        }
        Ok(begun.elapsed().as_nanos() as u64)
    }

    fn burst(&mut self, event: &Event) {
        let counters = event.counters.as_deref().unwrap_or_default();
        let counted = self.processor.and_then(|at| counters.get(at)).copied();
        self.clock.burst(event.gap, counted.filter(|value| *value != NOT_READ));
    }

    fn event(&mut self, call: CallId, event: &Event) -> Result<(), ReplayError> {
        self.burst(event);
        let fields = Fields::new(call, &event.values);
        let length = event.end - event.begin;
        let left_out = self.agreement.as_mut().map_or_else(LeftOut::default, |known| known.next(call, event));
        if left_out.collective {
            self.skip(fields, Reason::Unmatched, length);
            self.clock.restart();
            return Ok(());
        }
        if found_nothing(fields) {
            return self.ask_in_vain(fields, length);
        }
        self.vain = 0;
        let skipped = match class(call) {
            Class::TimeOnly(reason) => Some(reason),
            _ if self.world.had_failed(fields) => Some(Reason::Failed),
            Class::Ends => None,
            Class::Refused => return Err(ReplayError::Refused { call: call.name() }),
            Class::Plain => self.message(fields, &left_out).map(|()| None)?,
            Class::Probe => self.probe(fields, &left_out).map(|()| None)?,
            Class::Completion => self.completion(fields, length)?,
            Class::Start => self.start(fields, &left_out.starts).map(|()| None)?,
            Class::Communicator => self.communicator(fields)?,
            Class::Window => self.window(fields)?,
            Class::Buffer => self.buffer(fields).map(|()| None)?,
        };
        match skipped {
            None if !left_out.is_nothing() => self.unmatched(fields, &left_out, length),
            None => self.tally.issue(call),
            Some(reason) => self.skip(fields, reason, length),
        }
        self.clock.restart();
        Ok(())
    }

    /// After a call of which a message was left out. What is left of it was
    /// re-issued; if nothing is, its time is waited.
    fn unmatched(&mut self, fields: Fields, left_out: &LeftOut, length: u64) {
        let n = [fields.has(Role::Dest), fields.has(Role::Source)].into_iter().filter(|side| *side).count();
        let left = [left_out.send, left_out.receive].into_iter().filter(|side| *side).count();
        let requests = match fields.get(Kind::NewRequest) {
            Some(request) => vec![request],
            None => left_out.starts.clone(),
        };
        self.unmatched.extend(requests);
        if left == n {
            self.clock.restart();
            self.clock.burst(length, None);
        }
        self.tally.skip(Reason::Unmatched, length);
    }

    /// A call that completes requests. If it waited for messages that are left
    /// out and for nothing else, it takes its time.
    fn completion(&mut self, fields: Fields, length: u64) -> Result<Option<Reason>, ReplayError> {
        let skipped = self.complete(fields)?;
        if !self.unmatched.is_empty() {
            let done = completed(fields);
            let left_out = done.iter().filter(|request| self.unmatched.remove(request)).count();
            if left_out > 0 && left_out == done.len() {
                self.clock.restart();
                self.clock.burst(length, None);
            }
        }
        Ok(skipped)
    }

    /// The peers of what is left out are nobody.
    fn nobody(&self, fields: Fields, left_out: &LeftOut) -> Vec<(usize, usize)> {
        let nobody = self.mpi.constants.proc_null as usize;
        let of =
            |role, is_left_out: bool| fields.argument(role).filter(|_| is_left_out).map(|at| (at, nobody));
        [of(Role::Dest, left_out.send), of(Role::Source, left_out.receive)].into_iter().flatten().collect()
    }

    /// A call that found nothing. Programs make as many as fit into the time
    /// that they wait; if one takes longer here than it did, so many do not
    /// fit, and some are left out.
    fn ask_in_vain(&mut self, fields: Fields, length: u64) -> Result<(), ReplayError> {
        self.vain = self.vain.saturating_add(length as i64);
        if self.vain <= 0 || fields.call == number::Win_test {
            self.tally.skip(Reason::InVain, length);
            return Ok(());
        }
        self.clock.restart();
        match class(fields.call) {
            Class::Probe => self.probe(fields, &LeftOut::default())?,
            _ => drop(self.complete(fields)?),
        }
        self.vain -= self.clock.elapsed();
        self.tally.issue(fields.call);
        self.clock.restart();
        Ok(())
    }

    /// A call that is not re-issued takes its time, and what it made is null.
    fn skip(&mut self, fields: Fields, reason: Reason, length: u64) {
        if let Some(number) = fields.get(Kind::NewRequest) {
            self.put_request(number, self.mpi.constants.request_null, false, Kept::default());
        }
        self.clock.restart();
        match reason {
            Reason::File => self.clock.idle(length),
            _ => self.clock.burst(length, None),
        }
        self.tally.skip(reason, length);
    }

    pub(crate) fn put_request(&mut self, number: i64, handle: usize, persistent: bool, kept: Kept) {
        let made = Request { handle, persistent, receives_any: None, _kept: kept };
        self.world.handles.requests.put(number, made);
    }

    /// Re-issues a call and takes up what it made.
    pub(crate) fn issue(
        &mut self,
        fields: Fields,
        as_call: CallId,
        instead: Instead,
    ) -> Result<(), ReplayError> {
        let made = self.world.words(fields, instead)?;
        self.mpi.call(as_call, &made.words)?;
        self.take_up(fields, made);
        Ok(())
    }

    /// Takes up what a call has made, and forgets what it has ended.
    fn take_up(&mut self, fields: Fields, made: Words) {
        let handles = &mut self.world.handles;
        let mut request = None;
        for (at, role) in fields.roles().iter().enumerate() {
            let (number, handle) = (fields.of(at), made.kept.places[at]);
            match role {
                Role::NewRequest => request = Some((number, handle, false)),
                Role::NewPersistent => request = Some((number, handle, true)),
                Role::NewGroup => handles.put_group(number, handle),
                Role::NewMessage => handles.messages.put(number, handle),
                Role::FreeComm => drop(handles.comms.take(number)),
                Role::FreeGroup => handles.take_group(number),
                Role::FreeWin => drop(handles.windows.take(number)),
                Role::FreeMessage => drop(handles.messages.take(number)),
                Role::FreeRequest => self.abandoned.extend(handles.requests.take(number)),
                Role::Request => {
                    if let Some(known) = handles.requests.get_mut(number) {
                        known.handle = handle;
                    }
                }
                _ => {}
            }
        }
        if let Some((number, handle, persistent)) = request {
            self.put_request(number, handle, persistent, made.kept);
        }
    }

    /// Whom the next receive of a wildcard heard from.
    pub(crate) fn next_heard(&mut self) -> Heard {
        self.lookahead.heard.pop_front().unwrap_or((NONE, NONE))
    }

    fn message(&mut self, fields: Fields, left_out: &LeftOut) -> Result<(), ReplayError> {
        // A receive need not have begun already when a ready send does.
        let as_call = match fields.call {
            number::Rsend => number::Send,
            number::Irsend => number::Isend,
            number::Rsend_init => number::Send_init,
            call => call,
        };
        let any = receives_any(fields);
        if any && fields.has(Role::NewPersistent) {
            return self.persistent_receive_of_any(fields);
        }
        let heard = match fields.get(Kind::NewRequest) {
            Some(_) if any => Some((self.next_heard(), true)),
            None if any => Some((told_by(fields), false)),
            _ => None,
        };
        if fields.call == number::Request_free && self.receives_any(fields.of(0)) {
            drop(self.world.handles.requests.take(fields.of(0)));
            return Ok(());
        }
        // What never was to be done, or is done, is null here.
        let ends = [number::Request_free, number::Cancel].contains(&fields.call);
        if ends && self.handle(fields.of(0)) == self.mpi.constants.request_null {
            return Ok(());
        }
        let nobody = self.nobody(fields, left_out);
        let instead = Instead { heard, words: &nobody };
        match fields.call {
            number::Sendrecv_replace if self.agreement.is_some() => {
                self.send_and_receive(fields, number::Sendrecv, instead)
            }
            number::Isendrecv_replace if self.agreement.is_some() => {
                self.send_and_receive(fields, number::Isendrecv, instead)
            }
            _ => self.issue(fields, as_call, instead),
        }
    }

    /// Sends and receives in place have one count, but what is received may be
    /// larger: so these are re-issued as the calls with two.
    fn send_and_receive(
        &mut self,
        fields: Fields,
        as_call: CallId,
        instead: Instead,
    ) -> Result<(), ReplayError> {
        let mut made = self.world.words(fields, instead)?;
        let count = made.words[1].max(usize::try_from(self.world.least_receive).unwrap_or(0));
        let (send, receive) = (self.world.send.of(made.words[1]), self.world.receive.of(count));
        made.words[0] = send;
        let byte = made.words[2];
        made.words.splice(5..5, [receive, count, byte]);
        self.mpi.call(as_call, &made.words)?;
        self.take_up(fields, made);
        Ok(())
    }

    fn receives_any(&self, request: i64) -> bool {
        self.world.handles.requests.get(request).is_some_and(|request| request.receives_any.is_some())
    }

    /// Each of its starts will begin a receive.
    fn persistent_receive_of_any(&mut self, fields: Fields) -> Result<(), ReplayError> {
        let number = fields.get(Kind::NewRequest).unwrap_or(NONE);
        self.put_request(number, self.mpi.constants.request_null, true, Kept::default());
        if let Some(request) = self.world.handles.requests.get_mut(number) {
            request.receives_any = Some((number::Irecv, fields.values().to_vec()));
        }
        Ok(())
    }

    fn probe(&mut self, fields: Fields, left_out: &LeftOut) -> Result<(), ReplayError> {
        let found = fields.get(Kind::Flag) != Some(0);
        let heard = receives_any(fields).then(|| (told_by(fields), false));
        // What was found is there, or will be; what was not must not be taken.
        let as_call = match (fields.call, found) {
            (number::Iprobe, true) => number::Probe,
            (number::Improbe, true) => number::Mprobe,
            (number::Improbe, false) => number::Iprobe,
            (call, _) => call,
        };
        let nobody = self.nobody(fields, left_out);
        let made = self.world.words(fields, Instead { heard, words: &nobody })?;
        // What the one has and the other has not: the flag and the message.
        let wanted = |role: &Role| match role {
            Role::Flag => [number::Iprobe, number::Improbe].contains(&as_call),
            Role::NewMessage => [number::Mprobe, number::Improbe].contains(&as_call),
            _ => true,
        };
        let roles = fields.roles().iter().zip(&made.words);
        let words: Vec<usize> = roles.filter(|(role, _)| wanted(role)).map(|(_, word)| *word).collect();
        self.mpi.call(as_call, &words)?;
        if found {
            self.take_up(fields, made);
        }
        Ok(())
    }

    fn buffer(&mut self, fields: Fields) -> Result<(), ReplayError> {
        if fields.call == number::Buffer_detach {
            let (mut address, mut size) = (0_usize, 0_i32);
            self.mpi.call(number::Buffer_detach, &[(&raw mut address) as usize, (&raw mut size) as usize])?;
            drop(ManuallyDrop::into_inner(std::mem::take(&mut self.attached)));
            return Ok(());
        }
        // The other MPI may add less to each message.
        let bytes = fields.of(1).clamp(0, 1 << 29) * 2 + (1 << 20);
        self.attached = ManuallyDrop::new(vec![0; bytes as usize]);
        let address = self.attached.as_mut_ptr() as usize;
        self.mpi.call(number::Buffer_attach, &[address, bytes as usize])
    }
}

/// Whether a call asked in vain.
fn found_nothing(fields: Fields) -> bool {
    let asks =
        matches!(class(fields.call), Class::Probe | Class::Completion) || fields.call == number::Win_test;
    let some = fields.call == number::Testsome && fields.get(Kind::Outcount) == Some(0);
    asks && (some || fields.get(Kind::Flag) == Some(0))
}

/// Whom a call that receives, or finds, a message of a wildcard heard from.
fn told_by(fields: Fields) -> Heard {
    let told = |kind| fields.get(kind).unwrap_or(NONE);
    (told(Kind::StatusSource), told(Kind::StatusTag))
}
