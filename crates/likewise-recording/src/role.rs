//! What an argument of an MPI call is, and which fields of an event it makes.

/// What an argument is. Where lists are, the role says how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Not recorded: buffers, results of questions, names, callbacks.
    Skip,
    /// An `int` by value.
    Int,
    /// How many elements; the datatype that follows it says of what.
    Count,
    /// An `MPI_Aint`, `MPI_Offset` or `MPI_Count` by value.
    Aint,
    /// A string, kept in the table of strings.
    Str,
    /// A datatype.
    Type,
    /// A datatype by pointer (`MPI_Type_commit`).
    TypeAt,
    /// The rank that a message goes to.
    Dest,
    /// The rank that a message comes from; may be any.
    Source,
    /// The rank whose window is meant.
    Target,
    /// A tag; may be any.
    Tag,
    /// The root of a collective call.
    Root,
    /// A communicator.
    Comm,
    /// An operation of a reduction.
    Op,
    /// A group.
    Group,
    /// A window.
    Win,
    /// A file.
    File,
    /// An info object.
    Info,
    /// An error handler.
    Errhandler,
    /// A communicator that the call makes.
    NewComm,
    /// A datatype that the call makes.
    NewType,
    /// A group that the call makes.
    NewGroup,
    /// An operation that the call makes.
    NewOp,
    /// A window that the call makes.
    NewWin,
    /// A file that the call opens.
    NewFile,
    /// An info object that the call makes.
    NewInfo,
    /// An error handler that the call makes or gives.
    NewErrhandler,
    /// A message that a matched probe found.
    NewMessage,
    /// A communicator by pointer, that the call ends.
    FreeComm,
    /// A datatype by pointer, that the call ends.
    FreeType,
    /// A group by pointer, that the call ends.
    FreeGroup,
    /// An operation by pointer, that the call ends.
    FreeOp,
    /// A window by pointer, that the call ends.
    FreeWin,
    /// A file by pointer, that the call closes.
    FreeFile,
    /// An info object by pointer, that the call ends.
    FreeInfo,
    /// An error handler by pointer, that the call ends.
    FreeErrhandler,
    /// A message by pointer, which the call receives.
    FreeMessage,
    /// A request that the call makes and starts.
    NewRequest,
    /// A persistent request that the call makes, not started.
    NewPersistent,
    /// A request by pointer (or, of a question, by value).
    Request,
    /// A request by pointer, that the call ends without waiting.
    FreeRequest,
    /// A persistent request by pointer, that the call starts.
    Start,
    /// Requests, as many as argument 0 says.
    Requests,
    /// Persistent requests that the call starts, as many as argument 0 says.
    Starts,
    /// Whether it was done.
    Flag,
    /// Which request was done.
    Index,
    /// How many requests were done.
    Outcount,
    /// Which requests were done, as many as the outcount says.
    Indices,
    /// The status of one message.
    Status,
    /// The statuses of several messages.
    Statuses,
    /// `int`s, as many as argument 0 says.
    IntsOf0,
    /// `int`s, as many as argument 1 says.
    IntsOf1,
    /// `int`s, as many as argument 2 says.
    IntsOf2,
    /// `int`s, as many as argument 4 says.
    IntsOf4,
    /// `int`s, one for each rank of the communicator (of the remote group, if
    /// it has one).
    IntsComm,
    /// As `IntsComm`, but at the root alone.
    IntsRoot,
    /// `int`s, one for each neighbour that is sent to.
    IntsOut,
    /// `int`s, one for each neighbour that is received from.
    IntsIn,
    /// `int`s, one for each dimension of the Cartesian communicator.
    IntsDims,
    /// Triples of `int`s, as many as argument 1 says.
    RangesOf1,
    /// The edges of `MPI_Graph_create`: as many as its last index says.
    GraphEdges,
    /// The targets of `MPI_Dist_graph_create`: as many as its degrees say.
    GraphTargets,
    /// `MPI_Aint`s, as many as argument 0 says.
    AintsOf0,
    /// `MPI_Aint`s, one for each neighbour that is sent to.
    AintsOut,
    /// `MPI_Aint`s, one for each neighbour that is received from.
    AintsIn,
    /// Datatypes, as many as argument 0 says.
    TypesOf0,
    /// Datatypes, one for each rank that is sent to.
    TypesSend,
    /// Datatypes, one for each rank that is received from.
    TypesRecv,
    /// Datatypes, one for each neighbour that is sent to.
    TypesOut,
    /// Datatypes, one for each neighbour that is received from.
    TypesIn,
}

/// A peer that is `MPI_ANY_SOURCE`, or a tag that is `MPI_ANY_TAG`.
pub const ANY: i64 = -1;
/// A peer that is `MPI_PROC_NULL`.
pub const PROC_NULL: i64 = -2;
/// A root that is `MPI_ROOT`.
pub const ROOT: i64 = -3;
/// Nothing was to be said: the status of a receive that named its source.
pub const NONE: i64 = -4;
/// A handle that is null: `MPI_REQUEST_NULL`, `MPI_COMM_NULL` and the like.
pub const NULL: i64 = -1;
/// An index that is `MPI_UNDEFINED`.
pub const UNDEFINED: i64 = -1;

/// What a field of an event is.
///
/// Peers ([`Dest`](Self::Dest), [`Source`](Self::Source),
/// [`Target`](Self::Target), [`StatusSource`](Self::StatusSource), and those
/// of [`Statuses`](Self::Statuses)) are relative: (peer − own rank in the
/// communicator) modulo its size, or one of [`ANY`], [`PROC_NULL`],
/// [`NONE`]. A root is absolute, or [`ROOT`] or [`PROC_NULL`].
///
/// Handles are small numbers, the least that is free when they are made:
/// communicators (0 is `MPI_COMM_WORLD`, 1 `MPI_COMM_SELF`), requests,
/// windows, files, messages and groups. MPI's own operations come first: 0 to 13
/// are max, min, sum, prod, land, band, lor, bor, lxor, bxor, minloc, maxloc,
/// replace and no_op; the empty group is 0, and the error handlers 0 and 1 are
/// the fatal one and the one that returns. Datatypes and strings are places in
/// the tables of the rank.
///
/// Of an intercommunicator, peers are modulo the size of the remote group. Lists
/// that a rank need not give (at other ranks than the root, or with
/// `MPI_IN_PLACE`) are empty, and a datatype there that is none is [`NULL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number as it is.
    Int,
    /// How many elements.
    Count,
    /// A datatype: its place in the rank's table.
    Type,
    /// A datatype that the call made.
    NewType,
    /// The string's place in the rank's table.
    Str,
    /// Relative.
    Dest,
    /// Relative.
    Source,
    /// Relative.
    Target,
    /// Itself, or [`ANY`].
    Tag,
    /// Absolute.
    Root,
    /// A communicator.
    Comm,
    /// A communicator that the call made, or [`NULL`].
    NewComm,
    /// How many ranks the new communicator has (of the local group).
    CommSize,
    /// The own rank in the new communicator.
    CommRank,
    /// The ranks of the new communicator in `MPI_COMM_WORLD`: triples of
    /// start, stride and count.
    Members,
    /// The ranks of the remote group, in the same way; empty if there is none.
    Remote,
    /// A communicator that the call ended.
    FreeComm,
    /// Operation, group, window, file, info object, error handler or message.
    Handle,
    /// One of these that the call made.
    NewHandle,
    /// One of these that the call ended.
    FreeHandle,
    /// A request that the call made.
    NewRequest,
    /// A request, or [`NULL`].
    Request,
    /// Requests, or [`NULL`] where there is none.
    Requests,
    /// 1 or 0.
    Flag,
    /// Which request, or [`UNDEFINED`].
    Index,
    /// How many, or [`UNDEFINED`].
    Outcount,
    /// Which.
    Indices,
    /// Whom a receive from any source heard from: relative, or [`NONE`].
    StatusSource,
    /// Which tag a receive of any tag got, or [`NONE`].
    StatusTag,
    /// Of each wildcard receive that was done here, in the order of the
    /// requests: source (relative, or [`NONE`]) and tag (or [`NONE`]).
    Statuses,
    /// Numbers.
    Ints,
    /// Datatypes.
    Types,
}

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// What it is.
    pub kind: Kind,
    /// Which argument it comes from.
    pub argument: u8,
    /// Whether it is a list. In an event, a list is its length and then its
    /// values.
    pub is_list: bool,
}

pub(crate) fn fields_of(roles: &[Role]) -> Vec<Field> {
    let mut fields = Vec::new();
    let has = |wanted: &[Role]| roles.iter().any(|role| wanted.contains(role));
    let receives = has(&[Role::Source]);
    let completes = has(&[Role::Request, Role::Requests]);
    for (argument, role) in roles.iter().enumerate() {
        let mut add = |kind, is_list| fields.push(Field { kind, argument: argument as u8, is_list });
        match role {
            Role::Skip => {}
            Role::Int | Role::Aint => add(Kind::Int, false),
            Role::Count => add(Kind::Count, false),
            Role::Str => add(Kind::Str, false),
            Role::Type | Role::TypeAt | Role::FreeType => add(Kind::Type, false),
            Role::NewType => add(Kind::NewType, false),
            Role::Dest => add(Kind::Dest, false),
            Role::Source => add(Kind::Source, false),
            Role::Target => add(Kind::Target, false),
            Role::Tag => add(Kind::Tag, false),
            Role::Root => add(Kind::Root, false),
            Role::Comm => add(Kind::Comm, false),
            Role::NewComm => {
                add(Kind::NewComm, false);
                add(Kind::CommSize, false);
                add(Kind::CommRank, false);
                add(Kind::Members, true);
                add(Kind::Remote, true);
            }
            Role::FreeComm => add(Kind::FreeComm, false),
            Role::Op | Role::Group | Role::Win | Role::File | Role::Info | Role::Errhandler => {
                add(Kind::Handle, false);
            }
            Role::NewOp
            | Role::NewGroup
            | Role::NewWin
            | Role::NewFile
            | Role::NewInfo
            | Role::NewErrhandler
            | Role::NewMessage => add(Kind::NewHandle, false),
            Role::FreeOp
            | Role::FreeGroup
            | Role::FreeWin
            | Role::FreeFile
            | Role::FreeInfo
            | Role::FreeErrhandler
            | Role::FreeMessage => add(Kind::FreeHandle, false),
            Role::NewRequest | Role::NewPersistent => add(Kind::NewRequest, false),
            Role::Request | Role::FreeRequest | Role::Start => add(Kind::Request, false),
            Role::Requests | Role::Starts => add(Kind::Requests, true),
            Role::Flag => add(Kind::Flag, false),
            Role::Index => add(Kind::Index, false),
            Role::Outcount => add(Kind::Outcount, false),
            Role::Indices => add(Kind::Indices, true),
            Role::Status | Role::Statuses if completes => add(Kind::Statuses, true),
            Role::Status if receives => {
                add(Kind::StatusSource, false);
                add(Kind::StatusTag, false);
            }
            Role::Status | Role::Statuses => {}
            Role::IntsOf0
            | Role::IntsOf1
            | Role::IntsOf2
            | Role::IntsOf4
            | Role::IntsComm
            | Role::IntsRoot
            | Role::IntsOut
            | Role::IntsIn
            | Role::IntsDims
            | Role::RangesOf1
            | Role::GraphEdges
            | Role::GraphTargets
            | Role::AintsOf0
            | Role::AintsOut
            | Role::AintsIn => add(Kind::Ints, true),
            Role::TypesOf0 | Role::TypesSend | Role::TypesRecv | Role::TypesOut | Role::TypesIn => {
                add(Kind::Types, true);
            }
        }
    }
    fields
}
