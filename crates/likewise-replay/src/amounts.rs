//! How many bytes the calls of a recording move.

use crate::class::base;
use crate::fields::Fields;
use crate::handles::Comm;
use likewise_recording::Datatype;
use likewise_recording::role::{Kind, PROC_NULL, ROOT, Role};

/// The bytes that each argument stands for which counts elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amounts {
    /// Argument and bytes: one number, or one for each peer.
    pub(crate) of: Vec<(usize, Amount)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    One(i64),
    Each(Vec<i64>),
}

impl Amount {
    fn sum(&self) -> i64 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Each(bytes) => bytes.iter().fold(0, |sum: i64, bytes| sum.saturating_add(*bytes)),
        }
    }

    /// What is sent to, or received from, that rank.
    fn at(&self, rank: i64) -> i64 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Each(bytes) => {
                usize::try_from(rank).ok().and_then(|at| bytes.get(at)).map_or(0, |bytes| *bytes)
            }
        }
    }

    fn is_no_list(&self) -> bool {
        matches!(self, Self::Each(bytes) if bytes.is_empty())
    }

    fn is_multiple_of(&self, unit: i64) -> bool {
        match self {
            Self::One(bytes) => bytes % unit == 0,
            Self::Each(bytes) => bytes.iter().all(|bytes| bytes % unit == 0),
        }
    }
}

fn is_counts(role: Role) -> bool {
    matches!(role, Role::IntsComm | Role::IntsRoot | Role::IntsOut | Role::IntsIn)
}

fn size(types: &[Datatype], place: i64) -> i64 {
    usize::try_from(place).ok().and_then(|place| types.get(place)).map_or(0, |known| known.size.max(0))
}

impl Amounts {
    /// What the arguments say, as they are.
    pub(crate) fn said(fields: Fields, types: &[Datatype]) -> Self {
        let roles = fields.roles();
        let role = |at: usize| roles.get(at).copied().unwrap_or(Role::Skip);
        let (mut of, mut at) = (Vec::new(), 0);
        while at < roles.len() {
            if matches!(role(at), Role::Count | Role::Int) && role(at + 1) == Role::Type {
                let bytes = fields.of(at).max(0).saturating_mul(size(types, fields.of(at + 1)));
                of.push((at, Amount::One(bytes)));
            } else if is_counts(role(at)) {
                // Displacements, if any, then one datatype or many.
                let has_places =
                    is_counts(role(at + 1)) || matches!(role(at + 1), Role::AintsOut | Role::AintsIn);
                let of_type = at + 1 + usize::from(has_places);
                let places = fields.list_of(of_type);
                let counts = fields.list_of(at).iter().enumerate();
                let bytes = counts.map(|(peer, count)| {
                    let place = places.get(peer).or(places.first()).copied().unwrap_or(-1);
                    count.max(&0).saturating_mul(size(types, place))
                });
                of.push((at, Amount::Each(bytes.collect())));
                at += usize::from(has_places);
            }
            at += 1;
        }
        Self { of }
    }

    /// What a collective moves: without what this rank's arguments say but do
    /// not mean, as `MPI_IN_PLACE` was not recorded, and only the root's
    /// arguments count.
    pub(crate) fn meant(mut self, fields: Fields, comm: &Comm) -> Self {
        let [(_, send), (_, receive)] = self.of.as_mut_slice() else { return self };
        let base = base(fields.call);
        let is_inter = comm.remote > 0;
        let root = fields.get(Kind::Root).unwrap_or(PROC_NULL);
        let is_root = if is_inter { root == ROOT } else { root == comm.rank };
        match base {
            "Gather" | "Gatherv" if is_root && !is_inter => *send = Amount::One(receive.at(comm.rank)),
            "Scatter" | "Scatterv" if is_root && !is_inter => *receive = Amount::One(send.at(comm.rank)),
            "Gather" if !is_root => *receive = Amount::One(0),
            "Scatter" if !is_root => *send = Amount::One(0),
            "Allgather" | "Allgatherv" if !is_inter => *send = Amount::One(receive.at(comm.rank)),
            "Alltoall" if !is_inter => *send = receive.clone(),
            // In place there is no list of what is sent.
            "Alltoallv" | "Alltoallw" if !is_inter && send.is_no_list() => *send = receive.clone(),
            _ => {}
        }
        if is_inter && ["Gather", "Gatherv"].contains(&base) && [ROOT, PROC_NULL].contains(&root) {
            *send = Amount::One(0);
        }
        if is_inter && ["Scatter", "Scatterv"].contains(&base) && [ROOT, PROC_NULL].contains(&root) {
            *receive = Amount::One(0);
        }
        self
    }

    /// How much memory is sent from, and received into.
    pub(crate) fn room(&self, fields: Fields, comm: Option<&Comm>) -> (i64, i64) {
        let n = comm.map_or(1, Comm::peers);
        let (from, to) = comm.map_or((0, 0), |comm| comm.degrees);
        let (sends, receives) = match base(fields.call) {
            "Allgather" | "Gather" => (1, n),
            "Alltoall" => (n, n),
            "Scatter" | "Reduce_scatter_block" => (n, 1),
            "Neighbor_allgather" => (1, from),
            "Neighbor_alltoall" => (to, from),
            _ => (1, 1),
        };
        let bytes = |at: usize| self.of.get(at).map_or(0, |(_, amount)| amount.sum());
        let second = if self.of.len() > 1 { 1 } else { 0 };
        (bytes(0).saturating_mul(sends), bytes(second).saturating_mul(receives))
    }

    /// The amount of an argument.
    pub(crate) fn get(&self, argument: usize) -> Option<&Amount> {
        self.of.iter().find(|(known, _)| *known == argument).map(|(_, amount)| amount)
    }

    /// What the first argument of all that count says.
    pub(crate) fn first(&self) -> i64 {
        self.of.first().map_or(0, |(_, amount)| amount.sum())
    }

    /// The same with a receive of at least so many bytes.
    pub(crate) fn receiving(mut self, least: i64) -> Self {
        if let Some((_, Amount::One(bytes))) = self.of.last_mut() {
            *bytes = (*bytes).max(least);
        }
        self
    }

    pub(crate) fn are_multiples_of(&self, unit: i64) -> bool {
        self.of.iter().all(|(_, amount)| amount.is_multiple_of(unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_recording::CallId;
    use likewise_recording::calls::number;

    fn types() -> Vec<Datatype> {
        [1, 8].map(|size| Datatype { name: String::new(), size, extent: size }).into()
    }

    fn comm() -> Comm {
        Comm { handle: 0, rank: 1, size: 3, remote: 0, degrees: (2, 4), members: Vec::new() }
    }

    fn meant(call: CallId, values: &[i64]) -> (Amounts, (i64, i64)) {
        let fields = Fields::new(call, values);
        let amounts = Amounts::said(fields, &types()).meant(fields, &comm());
        let room = amounts.room(fields, Some(&comm()));
        (amounts, room)
    }

    #[test]
    fn messages_are_counts_of_types() {
        let (amounts, room) = meant(number::Send, &[5, 1, 1, 0, 0]);
        assert_eq!(amounts.of, [(1, Amount::One(40))]);
        assert_eq!(room, (40, 40));
        // Origin and target of a window.
        let (amounts, _) = meant(number::Put, &[5, 1, 1, 0, 40, 0, 0]);
        assert_eq!(amounts.of, [(1, Amount::One(40)), (5, Amount::One(40))]);
    }

    #[test]
    fn only_the_root_receives_what_is_gathered() {
        let at_root = [2, 1, 2, 1, 1, 0];
        assert_eq!(meant(number::Gather, &at_root).1, (16, 48));
        let elsewhere = [2, 1, 999, 1, 0, 0];
        assert_eq!(meant(number::Gather, &elsewhere).1, (16, 0));
        // In place: what the root sends says nothing.
        let in_place = [0, -1, 2, 1, 1, 0];
        assert_eq!(meant(number::Gather, &in_place).1, (16, 48));
    }

    #[test]
    fn vectors_count_for_each_peer() {
        // Send counts, places, type, receive counts, places, type, communicator.
        let values = [3, 1, 2, 3, 3, 0, 0, 0, 1, 3, 4, 2, 5, 3, 0, 0, 0, 1, 0];
        let (amounts, room) = meant(number::Alltoallv, &values);
        assert_eq!(amounts.of[0], (1, Amount::Each(vec![8, 16, 24])));
        assert_eq!(room, (48, 88));
        let in_place = [0, 0, -1, 3, 4, 2, 5, 3, 0, 0, 0, 1, 0];
        assert_eq!(meant(number::Alltoallv, &in_place).1, (88, 88));
    }

    #[test]
    fn neighbours_count_as_often_as_there_are() {
        assert_eq!(meant(number::Ineighbor_alltoall, &[1, 1, 1, 1, 0, 0]).1, (32, 16));
    }
}
