//! Calls that make communicators: those of a replay have the same members in
//! the same order, and the same neighbours.

use crate::ReplayError;
use crate::class::Reason;
use crate::fields::Fields;
use crate::handles::Comm;
use crate::player::Player;
use crate::words::Instead;
use likewise_recording::CallId;
use likewise_recording::calls::number;
use likewise_recording::role::{Kind, NULL, Role};

/// The colour of who gets no communicator, in either MPI.
const UNDEFINED: i32 = -32766;

/// Ranks from triples of start, stride and count.
fn ranks(triples: &[i64]) -> Vec<i32> {
    let run = |triple: &[i64]| {
        let (start, stride) = (triple[0], triple[1]);
        (0..triple[2]).map(move |at| (start + at * stride) as i32).collect::<Vec<_>>()
    };
    triples.chunks_exact(3).flat_map(run).collect()
}

fn is_null(fields: Fields) -> bool {
    fields.get(Kind::NewComm).is_none_or(|number| number == NULL)
}

impl Player<'_> {
    /// Re-issues a call that makes a communicator; returns why not, if it does
    /// not.
    pub(crate) fn communicator(&mut self, fields: Fields) -> Result<Option<Reason>, ReplayError> {
        let reorders = fields.argument(Role::NewComm).unwrap_or(1) - 1;
        match fields.call {
            number::Comm_get_parent if is_null(fields) => return Ok(Some(Reason::Local)),
            number::Comm_get_parent => return Err(ReplayError::Refused { call: fields.call.name() }),
            number::Comm_split_type => self.split_by_members(fields)?,
            // Who is left out does not know whether ranks were reordered.
            number::Cart_create | number::Graph_create if fields.of(reorders) != 0 => {
                if !is_null(fields) {
                    self.of_members(fields, reorders)?;
                }
            }
            number::Dist_graph_create | number::Dist_graph_create_adjacent => {
                let parent = self.world.comm(fields).map(|comm| comm.members.as_slice());
                if parent.is_none_or(|parent| ranks(parent) == ranks(fields.list(Kind::Members))) {
                    self.make(fields, fields.call, &[(reorders, 0)])?;
                } else {
                    self.of_members(fields, reorders)?;
                }
            }
            number::Comm_dup_with_info => self.make(fields, number::Comm_dup, &[])?,
            number::Comm_idup_with_info => self.make(fields, number::Comm_idup, &[])?,
            call => self.make(fields, call, &[])?,
        }
        Ok(None)
    }

    /// Re-issues the call, with some arguments changed.
    fn make(&mut self, fields: Fields, call: CallId, changed: &[(usize, usize)]) -> Result<(), ReplayError> {
        let mut made = self.world.words(fields, Instead { heard: None, words: changed })?;
        // The same without an info object.
        if call != fields.call
            && let Some(info) = fields.argument(Role::Info)
        {
            made.words.remove(info);
        }
        self.mpi.call(call, &made.words)?;
        let handle = fields.argument(Role::NewComm).map_or(0, |at| made.kept.places[at]);
        if let Some(at) = fields.argument(Role::NewRequest) {
            let request = made.kept.places[at];
            self.put_request(fields.of(at), request, false, made.kept);
        }
        self.put_comm(fields, handle)
    }

    fn put_comm(&mut self, fields: Fields, handle: usize) -> Result<(), ReplayError> {
        if is_null(fields) {
            return Ok(());
        }
        let value = |kind| fields.get(kind).unwrap_or(0);
        let remote = fields.list(Kind::Remote).chunks_exact(3).map(|triple| triple[2]).sum();
        let comm = Comm {
            handle,
            rank: value(Kind::CommRank),
            size: value(Kind::CommSize),
            remote,
            degrees: self.degrees(fields, handle)?,
            members: fields.list(Kind::Members).to_vec(),
        };
        self.world.handles.comms.put(value(Kind::NewComm), comm);
        Ok(())
    }

    /// How many neighbours there are to receive from, and to send to.
    fn degrees(&mut self, fields: Fields, handle: usize) -> Result<(i64, i64), ReplayError> {
        let n = |n: i64| Ok((n, n));
        match fields.call {
            number::Cart_create => n(2 * fields.of(1)),
            number::Cart_sub => n(2 * fields.list_of(1).iter().filter(|kept| **kept != 0).count() as i64),
            number::Graph_create => {
                let (rank, mut degree) = (fields.get(Kind::CommRank).unwrap_or(0), 0_i32);
                self.mpi.call(
                    number::Graph_neighbors_count,
                    &[handle, rank as usize, (&raw mut degree) as usize],
                )?;
                n(i64::from(degree))
            }
            number::Dist_graph_create | number::Dist_graph_create_adjacent => {
                let (mut from, mut to, mut weighted) = (0_i32, 0_i32, 0_i32);
                let words = [&raw mut from, &raw mut to, &raw mut weighted].map(|place| place as usize);
                self.mpi.call(number::Dist_graph_neighbors_count, &[handle, words[0], words[1], words[2]])?;
                Ok((i64::from(from), i64::from(to)))
            }
            number::Comm_dup
            | number::Comm_idup
            | number::Comm_dup_with_info
            | number::Comm_idup_with_info => {
                Ok(self.world.comm(fields).map_or((0, 0), |parent| parent.degrees))
            }
            _ => Ok((0, 0)),
        }
    }

    /// What the machine decided is decided by who was in it: ranks of one
    /// communicator have the colour of its first member.
    fn split_by_members(&mut self, fields: Fields) -> Result<(), ReplayError> {
        let first = ranks(fields.list(Kind::Members)).first().copied();
        let colour = if is_null(fields) { UNDEFINED } else { first.unwrap_or(0) };
        let parent = self.world.comm(fields).map_or(self.mpi.constants.comm_world, |comm| comm.handle);
        let key = fields.get(Kind::CommRank).unwrap_or(0);
        let mut handle = 0_usize;
        let words = [parent, colour as usize, key as usize, (&raw mut handle) as usize];
        self.mpi.call(number::Comm_split, &words)?;
        self.put_comm(fields, handle)
    }

    /// Makes a topology of its members in their order, where MPI had put them
    /// into another one.
    fn of_members(&mut self, fields: Fields, reorders: usize) -> Result<(), ReplayError> {
        let world = self.mpi.constants.comm_world;
        let parent = self.world.comm(fields).map_or(world, |comm| comm.handle);
        let members = ranks(fields.list(Kind::Members));
        let (mut all, mut some, mut comm) = (0_usize, 0_usize, 0_usize);
        self.mpi.call(number::Comm_group, &[world, (&raw mut all) as usize])?;
        let words = [all, members.len(), members.as_ptr() as usize, (&raw mut some) as usize];
        self.mpi.call(number::Group_incl, &words)?;
        self.mpi.call(number::Comm_create_group, &[parent, some, 0, (&raw mut comm) as usize])?;
        for group in [&mut all, &mut some] {
            self.mpi.call(number::Group_free, &[(&raw mut *group) as usize])?;
        }
        let parent = fields.argument(Role::Comm).unwrap_or(0);
        self.make(fields, fields.call, &[(parent, comm), (reorders, 0)])?;
        self.mpi.call(number::Comm_free, &[(&raw mut comm) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_runs_of_ranks() {
        assert_eq!(ranks(&[0, 2, 3, 1, 0, 1]), [0, 2, 4, 1]);
        assert!(ranks(&[]).is_empty());
    }
}
