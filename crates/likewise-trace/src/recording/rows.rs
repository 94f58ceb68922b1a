//! Events as rows of a table: peers and tags as MPI knows them, sizes in bytes.

use likewise_recording::comms::{Comms, fields};
use likewise_recording::role::{Kind, Role};
use likewise_recording::{CallId, Datatype, Event, Recording};

use super::walk::{Step, Walk};
use crate::error::Result;
use std::path::Path;

/// The names of the columns.
pub const COLUMNS: &str = "rank,index,call,comm,peer,tag,count,bytes,root,path,begin_ns,end_ns,lead";

/// An event, as a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Of `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Its place among the events of its rank, from 0.
    pub index: u64,
    /// Which call.
    pub call: CallId,
    /// The local number of its communicator.
    pub comm: Option<i64>,
    /// The rank in it that it sends to, else receives from, else that a
    /// window's data are of.
    pub peer: Option<u64>,
    /// The first tag; of a wildcard receive the one that it got.
    pub tag: Option<i64>,
    /// The first count.
    pub count: Option<i64>,
    /// How many bytes these are.
    pub bytes: Option<i64>,
    /// The root of a collective call.
    pub root: Option<i64>,
    /// The number of its call path.
    pub path: u32,
    /// When it began, in ns.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// The rank whose times these are, where the rank itself did not record.
    pub lead: Option<u32>,
    /// Whether parameters may be the lead's as well.
    pub lent: bool,
}

/// The rows of a rank, one by one.
pub struct Rows<'r> {
    walk: Walk<'r>,
    comms: Comms,
    types: Vec<Datatype>,
    rank: u32,
    index: u64,
}

impl<'r> Rows<'r> {
    /// Those of a rank; `path` is for messages.
    #[must_use]
    pub fn new(recording: &'r Recording, rank: u32, path: &'r Path) -> Self {
        Self {
            walk: Walk::new(recording, rank, path),
            comms: Comms::new(rank, recording.size()),
            types: recording.datatypes(rank),
            rank,
            index: 0,
        }
    }

    /// The next row.
    ///
    /// # Errors
    /// The file holds nonsense.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Row>> {
        let Some(Step { call, path, event, begin, end, .. }) = self.walk.next()? else { return Ok(None) };
        let facts = Facts::of(call, event, &self.types);
        let comm = self.comms.local_of(call, event);
        let relative = facts.peer.filter(|&peer| peer >= 0);
        let known = comm.and_then(|comm| self.comms.get(comm));
        let peer = relative.and_then(|peer| Comms::peer(known?, peer)).map(|peer| peer.rank);
        let row = Row {
            rank: self.rank,
            index: self.index,
            call,
            comm: comm.filter(|&comm| comm >= 0),
            peer,
            tag: facts.tag.filter(|&tag| tag >= 0),
            count: facts.count,
            bytes: facts.bytes(),
            root: facts.root.filter(|&root| root >= 0),
            path,
            begin,
            end,
            lead: event.lead,
            lent: event.lent,
        };
        self.comms.apply(event, call);
        self.index += 1;
        Ok(Some(row))
    }
}

/// What the fields of an event say, whatever its call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// Relative.
    peer: Option<i64>,
    tag: Option<i64>,
    count: Option<i64>,
    /// The size of what is counted.
    size: Option<i64>,
    /// Bytes of a list of counts, and whether its type is still to come.
    listed: Option<i64>,
    elements: Option<i64>,
    root: Option<i64>,
}

impl Facts {
    pub(super) fn of(call: CallId, event: &Event, types: &[Datatype]) -> Self {
        let mut facts = Self::default();
        let size = |place: i64| types.get(usize::try_from(place).ok()?).map(|t| t.size);
        let (mut dest, mut source, mut target) = (None, None, None);
        let mut counts: &[i64] = &[];
        for (field, values) in fields(call, event) {
            let Some(&value) = values.first() else { continue };
            match field.kind {
                Kind::Dest => dest = dest.or(Some(value)),
                Kind::Source => source = source.or(Some(value)),
                Kind::Target => target = target.or(Some(value)),
                Kind::Tag => facts.tag = facts.tag.or(Some(value)),
                Kind::StatusSource if source == Some(likewise_recording::role::ANY) => source = Some(value),
                // What a receive got; the tag that was asked for is any.
                Kind::StatusTag if value >= 0 && dest.is_none() => facts.tag = Some(value),
                Kind::Count => facts.count = facts.count.or(Some(value)),
                Kind::Root => facts.root = facts.root.or(Some(value)),
                Kind::Ints if counts.is_empty() && is_counts(call.roles()[usize::from(field.argument)]) => {
                    counts = values;
                    facts.elements = values.iter().try_fold(0_i64, |sum, n| sum.checked_add(*n));
                }
                Kind::Type if !counts.is_empty() => {
                    facts.listed = facts.listed.or_else(|| facts.elements?.checked_mul(size(value)?));
                }
                Kind::Type if facts.count.is_some() => facts.size = facts.size.or_else(|| size(value)),
                Kind::Types if !counts.is_empty() && facts.listed.is_none() => {
                    let bytes = |(n, place): (&i64, &i64)| n.checked_mul(size(*place)?);
                    facts.listed =
                        counts.iter().zip(values).try_fold(0_i64, |sum, one| sum.checked_add(bytes(one)?));
                }
                _ => {}
            }
        }
        facts.peer = dest.or(source).or(target);
        facts
    }

    /// The root, as the call names it.
    pub(super) fn root(&self) -> Option<i64> {
        self.root
    }

    /// Whether the call's other side is `MPI_PROC_NULL`: then nothing moves.
    pub(super) fn is_with_none(&self) -> bool {
        self.peer == Some(likewise_recording::role::PROC_NULL)
    }

    /// Of a call with a list of counts their sum, else the first count, times
    /// the size of the datatype.
    pub(super) fn bytes(&self) -> Option<i64> {
        self.listed.or_else(|| self.count?.checked_mul(self.size?))
    }
}

/// Whether a list says how much goes to or comes from every rank. (A list of
/// displacements follows one of counts.)
fn is_counts(role: Role) -> bool {
    matches!(role, Role::IntsComm | Role::IntsRoot | Role::IntsOut | Role::IntsIn)
}
