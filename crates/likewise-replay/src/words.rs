//! The arguments of a call that is re-issued, made from the fields of its
//! event by the roles of the table.

use crate::ReplayError;
use crate::amounts::{Amount, Amounts};
use crate::class::{base, is_collective};
use crate::fields::Fields;
use crate::handles::{Comm, Handles, Kept, Scratch};
use crate::lookahead::Heard;
use likewise_mpi::Constants;
use likewise_recording::Datatype;
use likewise_recording::calls::number;
use likewise_recording::role::{ANY, Kind, NONE, NULL, PROC_NULL, ROOT, Role};

/// What words are made from.
pub(crate) struct World<'a> {
    pub(crate) constants: Constants,
    pub(crate) types: &'a [Datatype],
    pub(crate) handles: Handles,
    pub(crate) send: Scratch,
    pub(crate) receive: Scratch,
    /// The greatest tag.
    pub(crate) tag_ub: i64,
    /// Receives have room for so many bytes at least: where counts may be
    /// another rank's, a message may be larger than its receive says.
    pub(crate) least_receive: i64,
}

/// The arguments of a call.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) words: Vec<usize>,
    /// What they point to. `places` has a word for each argument that MPI
    /// changes.
    pub(crate) kept: Kept,
}

/// What a call is re-issued with that is not in its event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instead<'a> {
    /// Whom a receive of a wildcard heard from, and whether a request stands
    /// for it.
    pub(crate) heard: Option<(Heard, bool)>,
    /// Arguments with other words.
    pub(crate) words: &'a [(usize, usize)],
}

/// A pointer to what is kept.
fn pointer<T>(kept: &[T]) -> usize {
    kept.as_ptr() as usize
}

impl World<'_> {
    fn window(&self, fields: Fields) -> Option<(i64, i64)> {
        let number = fields.argument(Role::Win).map(|at| fields.of(at))?;
        self.handles.windows.get(number).map(|window| (window.rank, window.size))
    }

    /// The communicator that a call works on.
    pub(crate) fn comm(&self, fields: Fields) -> Option<&Comm> {
        self.handles.comms.get(fields.get(Kind::Comm)?)
    }

    /// A rank that the recording names relative to this one.
    fn peer(&self, fields: Fields, relative: i64) -> usize {
        let (rank, size) = self
            .window(fields)
            .or_else(|| self.comm(fields).map(|comm| (comm.rank, comm.peers())))
            .unwrap_or((0, 1));
        let absolute = match relative {
            ANY => i64::from(self.constants.any_source),
            0.. => relative.wrapping_add(rank) % size.max(1),
            _ => i64::from(self.constants.proc_null),
        };
        absolute as usize
    }

    fn source(&self, fields: Fields, recorded: i64, heard: Option<(Heard, bool)>) -> usize {
        match heard {
            // It was never done: nobody is to wait for it.
            Some(((NONE, NONE), true)) => self.constants.proc_null as usize,
            Some(((source, _), _)) if recorded == ANY && source != NONE => self.peer(fields, source),
            _ => self.peer(fields, recorded),
        }
    }

    fn tag(&self, recorded: i64, heard: Option<(Heard, bool)>) -> usize {
        let tag = match heard {
            Some(((_, tag), _)) if recorded == ANY && tag != NONE => tag,
            _ => recorded,
        };
        match tag {
            // The other MPI may have had more tags.
            0.. => (tag % self.tag_ub.saturating_add(1)) as usize,
            _ => self.constants.any_tag as usize,
        }
    }

    fn root(&self, recorded: i64) -> usize {
        match recorded {
            ROOT => self.constants.root as usize,
            PROC_NULL => self.constants.proc_null as usize,
            rank => rank as usize,
        }
    }

    fn comm_handle(&self, number: i64) -> usize {
        // Where only one of the ranks names a communicator, others name none.
        self.handles.comms.get(number).map_or(self.constants.comm_self, |comm| comm.handle)
    }

    /// The handle that a call changes or ends, before it does.
    fn before(&self, role: Role, number: i64) -> usize {
        match role {
            Role::FreeComm => self.comm_handle(number),
            Role::FreeGroup => self.group(number),
            Role::FreeWin => self.handles.windows.get(number).map_or(0, |window| window.handle),
            Role::FreeMessage => self.handles.messages.get(number).copied().unwrap_or(0),
            Role::Request | Role::FreeRequest | Role::Start => {
                self.handles.requests.get(number).map_or(self.constants.request_null, |r| r.handle)
            }
            _ => 0,
        }
    }

    fn group(&self, number: i64) -> usize {
        self.handles
            .groups
            .get(number)
            .and_then(|known| known.last())
            .copied()
            .unwrap_or(self.constants.group_empty)
    }

    /// Whether the arguments are such that the call must have failed: the
    /// recording does not say what calls returned.
    pub(crate) fn had_failed(&self, fields: Fields) -> bool {
        let size = self.comm(fields).map_or(i64::MAX, Comm::peers);
        let is_wrong = |(at, role): (usize, &Role)| {
            let value = fields.of(at);
            match role {
                Role::Count => value < 0 || (value > 0 && fields.of(at + 1) == NULL),
                Role::Root => value >= size || value < ROOT,
                Role::Tag => value < ANY,
                // A rank that the communicator does not have.
                Role::Dest | Role::Source | Role::Target => value == NONE,
                Role::Comm => value == NULL && !fields.has(Role::NewComm),
                Role::Win | Role::FreeWin | Role::FreeComm | Role::FreeGroup | Role::NewWin => value == NULL,
                Role::NewRequest | Role::NewPersistent => value == NULL,
                _ => false,
            }
        };
        fields.roles().iter().enumerate().any(is_wrong)
    }

    /// The amounts that a call moves.
    fn amounts(&self, fields: Fields) -> Amounts {
        let said = Amounts::said(fields, self.types);
        match self.comm(fields) {
            Some(comm) if is_collective(base(fields.call)) => said.meant(fields, comm),
            _ if receives_alone(fields) => said.receiving(self.least_receive),
            _ => said,
        }
    }

    /// The datatype that amounts are counted in, and its size. Reductions work
    /// on words where they can, as most do in programs.
    fn unit(&self, fields: Fields, amounts: &Amounts) -> (usize, i64) {
        let constants = &self.constants;
        if [number::Fetch_and_op, number::Compare_and_swap].contains(&fields.call) {
            let place = fields.get(Kind::Type).unwrap_or(NULL);
            let size =
                usize::try_from(place).ok().and_then(|place| self.types.get(place)).map_or(1, |t| t.size);
            return match size {
                8.. => (constants.long, 8),
                4.. => (constants.int, 4),
                _ => (constants.byte, 1),
            };
        }
        match fields.has(Role::Op) && amounts.are_multiples_of(8) {
            true => (constants.long, 8),
            false => (constants.byte, 1),
        }
    }

    /// The arguments with which a call is re-issued.
    ///
    /// # Errors
    /// It moves more than an `int` can count.
    pub(crate) fn words(&mut self, fields: Fields, instead: Instead) -> Result<Words, ReplayError> {
        let amounts = self.amounts(fields);
        let (send, receive) = amounts.room(fields, self.comm(fields));
        let graph: usize = match fields.call.name().starts_with("MPI_Dist_graph") {
            // Weights: one `int` for each edge, all the same.
            true => {
                4 * fields.roles().iter().enumerate().map(|(at, _)| fields.list_of(at).len()).sum::<usize>()
            }
            false => 0,
        };
        let room = |bytes: i64| usize::try_from(bytes).unwrap_or(0).max(16);
        let buffers = [self.send.of(room(send).max(graph)), self.receive.of(room(receive).max(graph))];
        let mut maker = Maker {
            world: self,
            fields,
            heard: instead.heard,
            unit: self.unit(fields, &amounts),
            amounts,
            made: Words { words: Vec::new(), kept: Kept::default() },
        };
        let roles = fields.roles();
        maker.made.kept.places = vec![0; roles.len()].into();
        while maker.made.words.len() < roles.len() {
            maker.push()?;
        }
        let mut made = maker.made;
        place_buffers(fields, buffers, &mut made.words);
        instead.words.iter().for_each(|(argument, word)| made.words[*argument] = *word);
        Ok(made)
    }
}

/// Puts buffers where the table has nothing to say: the first of several is
/// sent from, the others are received into.
fn place_buffers(fields: Fields, [send, receive]: [usize; 2], words: &mut [usize]) {
    let skipped =
        || fields.roles().iter().enumerate().filter(|(_, role)| **role == Role::Skip).map(|(at, _)| at);
    let sends = fields.has(Role::Dest) && !fields.has(Role::Source);
    let alone = skipped().count() == 1 && !sends;
    for (number, at) in skipped().enumerate() {
        words[at] = if number == 0 && !alone { send } else { receive };
    }
}

/// Makes one word after the other.
struct Maker<'a> {
    world: &'a World<'a>,
    fields: Fields<'a>,
    heard: Option<(Heard, bool)>,
    unit: (usize, i64),
    amounts: Amounts,
    made: Words,
}

impl Maker<'_> {
    fn int(&self, bytes: i64) -> Result<i32, ReplayError> {
        i32::try_from(bytes).map_err(|_| ReplayError::Long { call: self.fields.call.name(), bytes })
    }

    fn push(&mut self) -> Result<(), ReplayError> {
        let at = self.made.words.len();
        let (world, fields, role) = (self.world, self.fields, self.fields.roles()[at]);
        let (constants, value) = (&world.constants, fields.of(at));
        match self.amounts.get(at) {
            Some(Amount::One(bytes)) => {
                let count = self.int(bytes / self.unit.1)?;
                self.made.words.push(count as usize);
                return Ok(());
            }
            Some(Amount::Each(bytes)) => {
                let bytes = bytes.clone();
                return self.push_each(at, &bytes);
            }
            None => {}
        }
        let word = match role {
            Role::Type => self.unit.0,
            Role::Dest | Role::Target => world.peer(fields, value),
            Role::Source => world.source(fields, value, self.heard),
            Role::Tag => world.tag(value, if self.is_of_receive(at) { self.heard } else { None }),
            Role::Root => world.root(value),
            Role::Comm => world.comm_handle(value),
            Role::Group => world.group(value),
            Role::Win => world.handles.windows.get(value).map_or(0, |window| window.handle),
            Role::Info => constants.info_null,
            Role::Status | Role::Statuses => constants.status_ignore,
            Role::Op
                if matches!(self.amounts.of.first(), Some((_, Amount::One(0)))) && fields.has(Role::Win) =>
            {
                constants.no_op
            }
            Role::Op => constants.bor,
            Role::Skip | Role::Int | Role::Aint | Role::Count => value as usize,
            Role::TypesSend | Role::TypesRecv | Role::TypesOut | Role::TypesIn => self.types(at),
            _ if is_ints(role) => self.ints(fields.list_of(at).iter().map(|value| *value as i32).collect()),
            _ => {
                self.made.kept.places[at] = world.before(role, value);
                self.made.kept.places[at..].as_mut_ptr() as usize
            }
        };
        self.made.words.push(word);
        Ok(())
    }

    /// Of a call that sends and receives, the last tag is the receive's.
    fn is_of_receive(&self, at: usize) -> bool {
        let roles = self.fields.roles();
        roles.iter().rposition(|role| *role == Role::Tag) == Some(at) && self.fields.has(Role::Source)
    }

    fn ints(&mut self, values: Box<[i32]>) -> usize {
        self.made.kept.ints.push(values);
        self.made.kept.ints.last().map_or(0, |kept| pointer(kept))
    }

    /// As many datatypes as the counts before them.
    fn types(&mut self, at: usize) -> usize {
        let n = self
            .amounts
            .of
            .iter()
            .rev()
            .find(|(argument, _)| *argument < at)
            .map_or(0, |(_, amount)| if let Amount::Each(bytes) = amount { bytes.len() } else { 0 });
        let word = self.unit.0.to_le_bytes();
        let array =
            std::iter::repeat_n(&word[..self.world.constants.handle_bytes], n).flatten().copied().collect();
        self.made.kept.bytes.push(array);
        self.made.kept.bytes.last().map_or(0, |kept| pointer(kept))
    }

    /// Counts, and displacements if the call has any: one message after the
    /// other.
    fn push_each(&mut self, at: usize, bytes: &[i64]) -> Result<(), ReplayError> {
        let unit = self.unit.1;
        let counts = bytes.iter().map(|bytes| self.int(bytes / unit)).collect::<Result<_, _>>()?;
        let counts = self.ints(counts);
        self.made.words.push(counts);
        let mut next = 0_i64;
        let mut place = |bytes: &i64| {
            next += bytes / unit;
            next - bytes / unit
        };
        let places: Vec<i64> = bytes.iter().map(&mut place).collect();
        match self.fields.roles().get(at + 1) {
            Some(Role::AintsIn | Role::AintsOut) => {
                self.made.kept.longs.push(places.into());
                let word = self.made.kept.longs.last().map_or(0, |kept| pointer(kept));
                self.made.words.push(word);
            }
            Some(Role::IntsComm | Role::IntsRoot | Role::IntsIn | Role::IntsOut) => {
                // Where an `int` is too small, all use the same memory.
                let fits = i32::try_from(next).is_ok();
                let places = places.iter().map(|place| if fits { *place as i32 } else { 0 });
                let word = self.ints(places.collect());
                self.made.words.push(word);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether the last count of a call is that of a message which it receives,
/// and not also of one that it sends.
fn receives_alone(fields: Fields) -> bool {
    let in_place = [number::Sendrecv_replace, number::Isendrecv_replace].contains(&fields.call);
    !in_place && (fields.has(Role::Source) || fields.has(Role::FreeMessage))
}

fn is_ints(role: Role) -> bool {
    matches!(
        role,
        Role::IntsOf0
            | Role::IntsOf1
            | Role::IntsOf2
            | Role::IntsOf4
            | Role::IntsDims
            | Role::RangesOf1
            | Role::GraphEdges
            | Role::GraphTargets
    )
}
