//! Arguments and results of a call as the values of an event.

use crate::arguments::{Arguments, bounded};
use crate::objects::{Comm, Objects, Retired};
use crate::plan::{Plan, counts_own_group};
use crate::requests::Slot;
use likewise_mpi::abi::{Class, UNDEFINED};
use likewise_mpi::binding::Handle;
use likewise_recording::Recorder;
use likewise_recording::calls::number;
use likewise_recording::role::{self, ANY, NONE, NULL, PROC_NULL, ROOT, Role};

/// What was read before the call, because the call overwrites it.
#[derive(Default)]
pub(crate) struct Before {
    /// Handles in memory, in the order of the arguments.
    pub(crate) handles: Vec<Handle>,
    pub(crate) retired: Option<Retired>,
}

/// A call that is made.
pub(crate) struct Call<'a> {
    pub(crate) arguments: Arguments<'a>,
    pub(crate) plan: &'static Plan,
    pub(crate) before: &'a Before,
    pub(crate) ok: bool,
}

/// What decoding works on.
pub(crate) struct Decoder<'a> {
    pub(crate) objects: &'a mut Objects,
    pub(crate) recorder: &'a mut Recorder,
    pub(crate) values: &'a mut Vec<i64>,
    /// Whether the values depend on more than the arguments.
    pub(crate) varies: bool,
    /// The numbers of the requests that the event names, `None` where null.
    pub(crate) named: Vec<Option<u32>>,
    comm: Option<Comm>,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(
        objects: &'a mut Objects,
        recorder: &'a mut Recorder,
        values: &'a mut Vec<i64>,
    ) -> Self {
        values.clear();
        Self { objects, recorder, values, varies: false, named: Vec::new(), comm: None }
    }

    /// Puts the values of the event into the list.
    pub(crate) fn decode(&mut self, call: &Call<'_>) {
        self.comm = self.comm_of(call);
        if call.plan.before && !call.plan.frees {
            self.name_requests(call);
        }
        for (argument, role) in call.arguments.call.roles().iter().enumerate() {
            if self.is_left_out(call, argument) {
                self.left_out(call, argument, *role);
            } else {
                self.argument(call, argument, *role);
            }
        }
        self.complete(call);
        // Of a call that reads nothing before, there is what was read last.
        if call.plan.before
            && let Some(retired) = call.before.retired
        {
            self.objects.ended(retired, call.ok);
        }
    }

    /// The communicator that peers are of: of a window, its own.
    fn comm_of(&mut self, call: &Call<'_>) -> Option<Comm> {
        let arguments = &call.arguments;
        if let Some(at) = call.plan.comm {
            let handle = arguments.handle(self.objects, Class::Comm, at);
            return self.objects.comm(handle, call.ok).map(|(_, comm)| comm);
        }
        self.objects.win(arguments.handle(self.objects, Class::Win, call.plan.win?))
    }

    /// Whether an argument is one that this rank need not give.
    fn is_left_out(&self, call: &Call<'_>, argument: usize) -> bool {
        let sides = &call.plan.sides;
        let is_root = || match (call.plan.root, self.comm) {
            (Some(at), Some(comm)) => match (call.arguments.int(at), comm.remote) {
                (root, Some(_)) => root == self.objects.abi.root,
                (root, None) => root == comm.rank,
            },
            _ => true,
        };
        // Between two groups a root gives nothing to itself, and who is no
        // root gives or gets alone.
        let is_between = self.comm.is_some_and(|comm| comm.remote.is_some());
        let is_left_out =
            |side: &Option<(usize, std::ops::Range<usize>)>, only_root: bool, never_root: bool| {
                side.as_ref().is_some_and(|(buffer, others)| {
                    others.contains(&argument)
                        && ((only_root && !is_root())
                            || (never_root && is_between && is_root())
                            || call.arguments.is_in_place(self.objects, *buffer))
                })
            };
        is_left_out(&sides.send, sides.root_sends, sides.root_receives)
            || is_left_out(&sides.receive, sides.root_receives, sides.root_sends)
    }

    /// Most programs give such arguments all the same, but nobody has to: a
    /// number is recorded as it is, a datatype if it is one, and a list is empty.
    fn left_out(&mut self, call: &Call<'_>, at: usize, role: Role) {
        match role {
            Role::Count => self.values.push(i64::from(call.arguments.int(at))),
            Role::Type => {
                let handle = call.arguments.handle(self.objects, Class::Type, at);
                let ok = call.ok && self.objects.is_own_type(handle);
                self.values.push(self.objects.datatype(self.recorder, handle, ok));
            }
            _ => self.values.push(0),
        }
    }

    fn argument(&mut self, call: &Call<'_>, at: usize, role: Role) {
        let arguments = &call.arguments;
        match role {
            Role::Skip => {}
            Role::Int | Role::Count => self.values.push(i64::from(arguments.int(at))),
            Role::Aint => self.values.push(arguments.long(at)),
            Role::Str => {
                let text = arguments.text(at);
                self.values.push(self.recorder.string(&text));
            }
            Role::Dest | Role::Source | Role::Target => self.peer(arguments.int(at)),
            Role::Tag => {
                let tag = arguments.int(at);
                self.values.push(if tag == self.objects.abi.any_tag { ANY } else { i64::from(tag) });
            }
            Role::Root => self.root(arguments.int(at)),
            Role::Flag => {
                let flag = Arguments::int_at(arguments.word(at), 0);
                self.values.push(i64::from(call.ok && flag != 0));
            }
            Role::Index => self.index(call, at),
            Role::Outcount => {
                let count = Arguments::int_at(arguments.word(at), 0);
                let known = call.ok && count != UNDEFINED;
                self.values.push(if known { i64::from(count) } else { role::UNDEFINED });
            }
            Role::Indices => {
                let indices = self.indices(call);
                self.list(indices.into_iter().map(|index| index as i64));
            }
            Role::Status | Role::Statuses => self.status(call),
            _ if self.handle(call, at, role) || self.made(call, at, role) => {}
            _ => self.lists(call, at, role),
        }
    }

    fn peer(&mut self, peer: i32) {
        let (rank, size) = self.comm.map_or((0, i32::MAX), |comm| (comm.rank, comm.peers()));
        self.values.push(self.objects.peer(peer, rank, size));
    }

    fn root(&mut self, root: i32) {
        let abi = &self.objects.abi;
        self.values.push(match root {
            _ if root == abi.root => ROOT,
            _ if root == abi.proc_null => PROC_NULL,
            _ => i64::from(root),
        });
    }

    /// An index counts from 0; Fortran's from 1.
    fn index(&mut self, call: &Call<'_>, at: usize) {
        let index = Arguments::int_at(call.arguments.word(at), 0);
        let known = call.ok && index != UNDEFINED;
        let from_0 = i64::from(index) - i64::from(call.arguments.is_fortran());
        self.values.push(if known { from_0 } else { role::UNDEFINED });
    }

    /// Which requests the call says are done.
    pub(crate) fn indices(&self, call: &Call<'_>) -> Vec<usize> {
        let (Some(outcount), Some(indices)) = (call.plan.outcount, call.plan.indices) else {
            return Vec::new();
        };
        let arguments = &call.arguments;
        let n = Arguments::int_at(arguments.word(outcount), 0);
        let n = bounded(i64::from(n)).min(arguments.length(0));
        let first = i32::from(arguments.is_fortran());
        let index = |at| Arguments::int_at(arguments.word(indices), at) - first;
        (0..n).map(|at| bounded(i64::from(index(at)))).collect()
    }

    /// What a receive from any source, or of any tag, heard.
    fn status(&mut self, call: &Call<'_>) {
        let Some(source) = call.plan.source else { return };
        let arguments = &call.arguments;
        let any_source = arguments.int(source) == self.objects.abi.any_source;
        let any_tag = call.plan.tag.is_some_and(|tag| arguments.int(tag) == self.objects.abi.any_tag);
        let found = call.plan.flag.is_none_or(|flag| Arguments::int_at(arguments.word(flag), 0) != 0);
        self.varies |= any_source || any_tag;
        let (mut from, mut tag) = (NONE, NONE);
        if call.ok
            && found
            && (any_source || any_tag)
            && let Some(status) = call.plan.status
        {
            let (rank, size) = self.comm.map_or((0, i32::MAX), |comm| (comm.rank, comm.peers()));
            let heard = self.heard(arguments.word(status), rank, size);
            from = if any_source { heard.0 } else { NONE };
            tag = if any_tag { heard.1 } else { NONE };
        }
        self.values.extend([from, tag]);
    }

    /// Source and tag in a status.
    pub(crate) fn heard(&self, status: usize, rank: i32, size: i32) -> (i64, i64) {
        let layout = self.objects.abi.status;
        if status == 0 || status == self.objects.abi.status_ignore {
            return (NONE, NONE);
        }
        let tag = Arguments::int_at(status + layout.tag, 0);
        let source = Arguments::int_at(status + layout.source, 0);
        let tag = if tag == self.objects.abi.any_tag { ANY } else { i64::from(tag) };
        (self.objects.peer(source, rank, size), tag)
    }

    /// A handle that the call was given.
    fn handle(&mut self, call: &Call<'_>, at: usize, role: Role) -> bool {
        let arguments = &call.arguments;
        let class = match role {
            Role::Comm => {
                let handle = arguments.handle(self.objects, Class::Comm, at);
                let known = self.objects.comm(handle, call.ok);
                self.values.push(known.map_or(NULL, |(number, _)| number));
                return true;
            }
            Role::Type | Role::TypeAt => {
                let word = arguments.word(at);
                let handle = match role {
                    Role::TypeAt => arguments.handle_at(self.objects, Class::Type, word, 0),
                    _ => arguments.handle(self.objects, Class::Type, at),
                };
                self.values.push(self.objects.datatype(self.recorder, handle, call.ok));
                return true;
            }
            Role::Op => Class::Op,
            Role::Group => Class::Group,
            Role::Win => Class::Win,
            Role::File => Class::File,
            Role::Info => Class::Info,
            Role::Errhandler => Class::Errhandler,
            _ => return false,
        };
        let handle = arguments.handle(self.objects, class, at);
        self.values.push(self.objects.number(class, handle, call.ok));
        true
    }

    /// A handle that the call made, ended or completed.
    fn made(&mut self, call: &Call<'_>, at: usize, role: Role) -> bool {
        let class = match role {
            Role::NewComm => return self.new_comm(call, at),
            Role::NewRequest | Role::NewPersistent => return self.new_request(call, at, role),
            Role::NewType => {
                let handle = self.made_handle(call, Class::Type, at);
                self.values.push(self.objects.new_datatype(self.recorder, handle));
                return true;
            }
            Role::FreeComm
            | Role::FreeType
            | Role::FreeGroup
            | Role::FreeOp
            | Role::FreeWin
            | Role::FreeFile
            | Role::FreeInfo
            | Role::FreeErrhandler
            | Role::FreeMessage => {
                self.values.push(call.before.retired.map_or(NULL, |retired| retired.number()));
                return true;
            }
            Role::Request | Role::FreeRequest | Role::Start => {
                self.values.push(self.named.first().copied().flatten().map_or(NULL, i64::from));
                return true;
            }
            Role::Requests | Role::Starts => {
                let named = std::mem::take(&mut self.named);
                self.list(named.iter().map(|number| number.map_or(NULL, i64::from)));
                self.named = named;
                return true;
            }
            Role::NewGroup => Class::Group,
            Role::NewOp => Class::Op,
            Role::NewWin => Class::Win,
            Role::NewFile => Class::File,
            Role::NewInfo => Class::Info,
            Role::NewErrhandler => Class::Errhandler,
            Role::NewMessage => Class::Message,
            _ => return false,
        };
        let handle = self.made_handle(call, class, at);
        let comm = if class == Class::Win { self.comm } else { None };
        self.values.push(self.objects.given(class, handle, comm));
        true
    }

    /// A handle that the call gave; null if it failed, or found no message.
    fn made_handle(&self, call: &Call<'_>, class: Class, at: usize) -> Handle {
        let found = call.plan.flag.is_none_or(|flag| Arguments::int_at(call.arguments.word(flag), 0) != 0);
        if call.ok && found {
            call.arguments.handle_at(self.objects, class, call.arguments.word(at), 0)
        } else {
            self.objects.abi.nulls[class as usize]
        }
    }

    fn new_comm(&mut self, call: &Call<'_>, at: usize) -> bool {
        let handle = self.made_handle(call, Class::Comm, at);
        if self.objects.is_null(Class::Comm, handle) {
            self.values.extend([NULL, 0, NULL, 0, 0]);
            return true;
        }
        // That of MPI_Comm_idup must not be asked before it is complete; it
        // will be as its parent.
        let asked = match call.arguments.call {
            number::Comm_idup | number::Comm_idup_with_info => {
                call.arguments.handle(self.objects, Class::Comm, 0)
            }
            _ => handle,
        };
        let comm = self.objects.ask(asked);
        let members = self.objects.members(asked, false);
        let remote = if comm.remote.is_some() { self.objects.members(asked, true) } else { Vec::new() };
        let number = self.objects.given(Class::Comm, handle, Some(comm));
        self.values.extend([number, i64::from(comm.size), i64::from(comm.rank)]);
        self.list(members.into_iter());
        self.list(remote.into_iter());
        true
    }

    fn new_request(&mut self, call: &Call<'_>, at: usize, role: Role) -> bool {
        let handle = self.made_handle(call, Class::Request, at);
        if self.objects.is_null(Class::Request, handle) {
            self.values.push(NULL);
            return true;
        }
        let (arguments, abi) = (&call.arguments, &self.objects.abi);
        let comm = self.comm;
        let slot = Slot {
            persistent: role == Role::NewPersistent,
            any_source: call.plan.source.is_some_and(|at| arguments.int(at) == abi.any_source),
            any_tag: call.plan.tag.is_some_and(|at| arguments.int(at) == abi.any_tag),
            rank: comm.map_or(0, |comm| comm.rank),
            size: comm.map_or(i32::MAX, |comm| comm.peers()),
            ..Slot::default()
        };
        if slot.any_source || slot.any_tag {
            crate::completion::wildcards_exist();
        }
        let number = self.objects.requests.add(handle, slot);
        self.values.push(i64::from(number));
        true
    }

    /// A list: its length, and its values.
    pub(crate) fn list(&mut self, list: impl Iterator<Item = i64>) {
        let at = self.values.len();
        self.values.push(0);
        self.values.extend(list);
        self.values[at] = (self.values.len() - at - 1) as i64;
    }

    fn lists(&mut self, call: &Call<'_>, at: usize, role: Role) {
        let arguments = &call.arguments;
        let address = arguments.word(at);
        let n = if address == 0 { 0 } else { self.length(call, role) };
        match role {
            Role::AintsOf0 | Role::AintsOut | Role::AintsIn => {
                self.list((0..n).map(|index| Arguments::long_at(address, index)));
            }
            Role::TypesOf0 | Role::TypesSend | Role::TypesRecv | Role::TypesOut | Role::TypesIn => {
                self.values.push(n as i64);
                for index in 0..n {
                    let handle = arguments.handle_at(self.objects, Class::Type, address, index);
                    self.values.push(self.objects.datatype(self.recorder, handle, call.ok));
                }
            }
            _ => self.list((0..n).map(|index| i64::from(Arguments::int_at(address, index)))),
        }
    }

    /// How long a list is.
    fn length(&mut self, call: &Call<'_>, role: Role) -> usize {
        let arguments = &call.arguments;
        match role {
            Role::IntsOf0 | Role::AintsOf0 | Role::TypesOf0 => arguments.length(0),
            Role::IntsOf1 => arguments.length(1),
            Role::IntsOf2 => arguments.length(2),
            Role::IntsOf4 => arguments.length(4),
            Role::RangesOf1 => 3 * arguments.length(1),
            Role::GraphEdges => match arguments.length(1) {
                0 => 0,
                n => bounded(i64::from(Arguments::int_at(arguments.word(2), n - 1))),
            },
            Role::GraphTargets => {
                let degree = |at| i64::from(Arguments::int_at(arguments.word(3), at));
                bounded((0..arguments.length(1)).map(degree).sum())
            }
            Role::IntsComm | Role::IntsRoot | Role::TypesSend | Role::TypesRecv => {
                let own = counts_own_group(arguments.call);
                self.comm.map_or(0, |comm| bounded(i64::from(if own { comm.size } else { comm.peers() })))
            }
            _ => self.neighbours(call, role),
        }
    }

    fn neighbours(&mut self, call: &Call<'_>, role: Role) -> usize {
        let (Some(at), Some(_)) = (call.plan.comm, self.comm) else { return 0 };
        let handle = call.arguments.handle(self.objects, Class::Comm, at);
        let neighbours = self.objects.neighbours(handle);
        bounded(i64::from(match role {
            Role::IntsDims => neighbours.dimensions,
            Role::IntsOut | Role::AintsOut | Role::TypesOut => neighbours.to,
            _ => neighbours.from,
        }))
    }
}
