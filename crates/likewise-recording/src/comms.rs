//! What the communicators of a rank are, while one walks its events.

use crate::calls::{CallId, number};
use crate::events::Event;
use crate::role::{Field, Kind, NULL, Role};
use std::collections::BTreeMap;

/// The fields of an event with their values; a list is its values alone.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    fields: std::slice::Iter<'static, Field>,
    values: &'a [i64],
}

/// The fields of an event of that call. Where there are fewer values than the
/// fields ask for, the rest is left out.
#[must_use]
pub fn fields(call: CallId, event: &Event) -> Fields<'_> {
    Fields { fields: call.fields().iter(), values: &event.values }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Field, &'a [i64]);

    fn next(&mut self) -> Option<Self::Item> {
        let field = *self.fields.next()?;
        let (first, rest) = self.values.split_first()?;
        let (values, rest) = match field.is_list {
            false => self.values.split_at(1),
            true => rest.split_at_checked(usize::try_from(*first).ok()?)?,
        };
        self.values = rest;
        Some((field, values))
    }
}

/// Ranks of `MPI_COMM_WORLD` in an order: runs with a stride.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// Start, stride, and how many there are up to the end of the run.
    runs: Vec<(i64, i64, u64)>,
}

impl Members {
    /// From triples of start, stride and count.
    #[must_use]
    pub fn of(triples: &[i64]) -> Self {
        let mut runs = Vec::with_capacity(triples.len() / 3);
        let mut end = 0_u64;
        for triple in triples.chunks_exact(3) {
            end = end.saturating_add(u64::try_from(triple[2]).unwrap_or(0));
            runs.push((triple[0], triple[1], end));
        }
        Self { runs }
    }

    /// All ranks below `size`.
    fn world(size: u32) -> Self {
        Self::of(&[0, 1, i64::from(size)])
    }

    /// How many they are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.2)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rank in `MPI_COMM_WORLD` of the member with that rank.
    #[must_use]
    pub fn get(&self, rank: u64) -> Option<u32> {
        let at = self.runs.partition_point(|run| run.2 <= rank);
        let &(start, stride, _) = self.runs.get(at)?;
        let before = at.checked_sub(1).map_or(0, |at| self.runs[at].2);
        let steps = i64::try_from(rank - before).ok()?;
        u32::try_from(start.checked_add(stride.checked_mul(steps)?)?).ok()
    }

    /// Their ranks in `MPI_COMM_WORLD`, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map_while(|rank| self.get(rank))
    }

    /// A number for these members, equal on all ranks: each puts them into
    /// runs in the same way.
    fn digest(&self) -> u64 {
        let mut digest = mix(1, self.len());
        let mut before = 0;
        for &(start, stride, end) in &self.runs {
            let n = end - before;
            // The stride of a run of one rank means nothing.
            digest = mix(mix(digest, start as u64), if n > 1 { stride as u64 } else { 0 });
            digest = mix(digest, n);
            before = end;
        }
        digest
    }
}

/// One step of a hash of numbers (the finaliser of splitmix64).
fn mix(hash: u64, value: u64) -> u64 {
    let mut z = hash.rotate_left(5) ^ value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A communicator, as one of its ranks knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comm {
    /// A number that all its ranks give it; 0 is `MPI_COMM_WORLD`, 1
    /// `MPI_COMM_SELF`, which is another one on every rank.
    pub global: u64,
    /// The own rank in it.
    pub rank: u32,
    /// How many ranks it has (of the local group).
    pub size: u32,
    /// These ranks.
    pub members: Members,
    /// The ranks of the remote group, if there is one.
    pub remote: Option<Members>,
    /// How many communicators were made out of it so far.
    made: u64,
}

impl Comm {
    /// The ranks that messages go to and come from.
    #[must_use]
    pub fn peers(&self) -> &Members {
        self.remote.as_ref().unwrap_or(&self.members)
    }
}

/// The rank that a message goes to or comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its rank in the communicator (of the remote group, if there is one).
    pub rank: u64,
    /// Its rank in `MPI_COMM_WORLD`; none where that is not known, because it
    /// belongs to another program.
    pub world: Option<u32>,
}

/// The communicators of a rank at some point of its events.
#[derive(Clone, Debug)]
pub struct Comms {
    comms: Vec<Option<Comm>>,
    /// The communicator of every window, by its local number.
    windows: Vec<Option<i64>>,
    /// How often members alone made the same communicator.
    by_members: BTreeMap<u64, u64>,
}

impl Comms {
    /// Those that a rank has at first.
    #[must_use]
    pub fn new(rank: u32, size: u32) -> Self {
        let comm = |global, rank, size, members| Comm { global, rank, size, members, remote: None, made: 0 };
        let world = comm(0, rank, size, Members::world(size));
        let own = comm(1, 0, 1, Members::of(&[i64::from(rank), 1, 1]));
        Self { comms: vec![Some(world), Some(own)], windows: Vec::new(), by_members: BTreeMap::new() }
    }

    /// The communicator of that local number.
    #[must_use]
    pub fn get(&self, local: i64) -> Option<&Comm> {
        self.comms.get(usize::try_from(local).ok()?)?.as_ref()
    }

    /// The local number of the communicator that an event is about: its first
    /// one, or that of its window.
    #[must_use]
    pub fn local_of(&self, call: CallId, event: &Event) -> Option<i64> {
        for (field, values) in fields(call, event) {
            match field.kind {
                Kind::Comm | Kind::FreeComm => return Some(values[0]),
                Kind::Handle if call.roles()[usize::from(field.argument)] == Role::Win => {
                    return *self.windows.get(usize::try_from(values[0]).ok()?)?;
                }
                _ => {}
            }
        }
        None
    }

    /// The communicator that an event is about.
    #[must_use]
    pub fn of(&self, call: CallId, event: &Event) -> Option<&Comm> {
        self.get(self.local_of(call, event)?)
    }

    /// Whom a relative peer of an event means; none for what is no rank.
    #[must_use]
    pub fn peer(comm: &Comm, relative: i64) -> Option<Peer> {
        let relative = u64::try_from(relative).ok()?;
        let size = comm.peers().len();
        let rank = (u64::from(comm.rank) % size.max(1)).checked_add(relative)?.checked_rem(size)?;
        Some(Peer { rank, world: comm.peers().get(rank) })
    }

    /// Takes notice of what an event makes and frees.
    pub fn apply(&mut self, event: &Event, call: CallId) {
        if !call.fields().iter().any(|field| changes(field.kind)) {
            return;
        }
        let mut made: Option<Made<'_>> = None;
        for (field, values) in fields(call, event) {
            let made = match field.kind {
                Kind::FreeComm => {
                    self.free(values[0]);
                    continue;
                }
                Kind::FreeHandle if call.roles()[usize::from(field.argument)] == Role::FreeWin => {
                    if let Some(window) =
                        usize::try_from(values[0]).ok().and_then(|at| self.windows.get_mut(at))
                    {
                        *window = None;
                    }
                    continue;
                }
                Kind::NewHandle if call.roles()[usize::from(field.argument)] == Role::NewWin => {
                    let comm = self.local_of(call, event).unwrap_or(NULL);
                    put(&mut self.windows, values[0], comm);
                    continue;
                }
                Kind::NewComm => made.insert(Made { local: values[0], ..Made::default() }),
                _ => match &mut made {
                    Some(made) => made,
                    None => continue,
                },
            };
            match field.kind {
                Kind::CommSize => made.size = values[0],
                Kind::CommRank => made.rank = values[0],
                Kind::Members => made.members = values,
                Kind::Remote => made.remote = values,
                _ => {}
            }
        }
        if let Some(made) = made {
            self.make(&made, event, call);
        }
    }

    fn free(&mut self, local: i64) {
        if let Some(comm) = usize::try_from(local).ok().and_then(|at| self.comms.get_mut(at)) {
            *comm = None;
        }
    }

    fn make(&mut self, made: &Made<'_>, event: &Event, call: CallId) {
        let members = Members::of(made.members);
        let remote = (!made.remote.is_empty()).then(|| Members::of(made.remote));
        // Both sides of an intercommunicator give it the same number.
        let ours = members.digest();
        let theirs = remote.as_ref().map_or(0, Members::digest);
        let both = mix(ours.min(theirs), ours.max(theirs));
        let global = if let Some(tag) = tag_of_group(call, event) {
            // Collective over the members alone, so these alone count.
            let key = mix(mix(2, both), tag as u64);
            let times = self.by_members.entry(key).or_insert(0);
            *times += 1;
            mix(key, *times)
        } else {
            let parent = fields(call, event).find(|(field, _)| field.kind == Kind::Comm);
            let parent = parent.and_then(|(_, values)| usize::try_from(values[0]).ok());
            let parent = parent.and_then(|at| self.comms.get_mut(at)).and_then(Option::as_mut);
            let (of, times) = parent.map_or((u64::MAX, 0), |parent| {
                parent.made += 1;
                (parent.global, parent.made)
            });
            mix(mix(mix(3, of), times), both)
        };
        if made.local == NULL {
            return;
        }
        let (rank, size) = (u32::try_from(made.rank).unwrap_or(0), u32::try_from(made.size).unwrap_or(0));
        let comm = Comm { global: global.max(2), rank, size, members, remote, made: 0 };
        put(&mut self.comms, made.local, comm);
    }
}

/// What an event says of the communicator that it made.
#[derive(Default)]
struct Made<'a> {
    local: i64,
    size: i64,
    rank: i64,
    members: &'a [i64],
    remote: &'a [i64],
}

/// The tag of a call that only the members of the new communicator make.
fn tag_of_group(call: CallId, event: &Event) -> Option<i64> {
    match call {
        number::Comm_create_group | number::Intercomm_create => {
            let tag = fields(call, event).find(|(field, _)| field.kind == Kind::Tag);
            tag.map(|(_, values)| values[0])
        }
        number::Comm_create_from_group | number::Intercomm_create_from_groups => Some(-1),
        _ => None,
    }
}

/// Whether a field may make or free a communicator or a window.
fn changes(kind: Kind) -> bool {
    matches!(kind, Kind::NewComm | Kind::FreeComm | Kind::NewHandle | Kind::FreeHandle)
}

/// More communicators or windows than this at once are nonsense.
const MOST: usize = 1 << 20;

fn put<T: Clone>(all: &mut Vec<Option<T>>, at: i64, value: T) {
    let Some(at) = usize::try_from(at).ok().filter(|&at| at < MOST) else { return };
    if at >= all.len() {
        all.resize(at + 1, None);
    }
    all[at] = Some(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::{ANY, PROC_NULL};

    fn event(values: &[i64]) -> Event {
        Event { values: values.to_vec(), ..Event::default() }
    }

    /// What a call that makes a communicator says of it.
    fn made(before: &[i64], local: i64, rank: i64, members: &[i64], remote: &[i64]) -> Event {
        let size = members.chunks(3).map(|triple| triple[2]).sum();
        let mut values = before.to_vec();
        values.extend([local, size, rank]);
        for list in [members, remote] {
            values.push(list.len() as i64);
            values.extend(list);
        }
        event(&values)
    }

    #[test]
    fn fields_follow_lists_and_stop_where_values_end() {
        let wait = event(&[2, 2, 5, 6, 0]);
        let found: Vec<_> =
            fields(number::Waitall, &wait).map(|(field, values)| (field.kind, values)).collect();
        let expected: [(Kind, &[i64]); 3] =
            [(Kind::Int, &[2]), (Kind::Requests, &[5, 6]), (Kind::Statuses, &[])];
        assert_eq!(found, expected);
        assert_eq!(fields(number::Waitall, &event(&[2, 9, 5])).count(), 1, "a list that is longer than all");
        assert_eq!(fields(number::Waitall, &event(&[2, -9, 5])).count(), 1);
    }

    #[test]
    fn members_are_found_by_rank() {
        let members = Members::of(&[7, 0, 1, 4, -2, 3, 9, 5, 0]);
        assert_eq!(members.iter().collect::<Vec<_>>(), [7, 4, 2, 0]);
        assert_eq!((members.len(), members.get(4)), (4, None));
        assert_eq!(Members::of(&[1, -5, 2]).get(1), None, "no rank is negative");
        assert_eq!(Members::of(&[0, 1, -3]).len(), 0);
    }

    #[test]
    fn peers_are_relative_to_the_own_rank_in_the_communicator() {
        let mut comms = Comms::new(5, 8);
        // The odd ranks, split off.
        comms.apply(&made(&[0, 1, 5], 2, 2, &[1, 2, 4], &[]), number::Comm_split);
        let comm = comms.get(2).expect("it was made");
        assert_eq!((comm.rank, comm.size), (2, 4));
        let peer = |relative| Comms::peer(comm, relative).map(|peer| (peer.rank, peer.world));
        assert_eq!(peer(1), Some((3, Some(7))));
        assert_eq!(peer(2), Some((0, Some(1))), "modulo the size");
        assert_eq!((peer(ANY), peer(PROC_NULL)), (None, None));
        let send = event(&[1, 0, 1, 9, 2]);
        assert_eq!(comms.local_of(number::Send, &send), Some(2));
        comms.apply(&event(&[2]), number::Comm_free);
        assert!(comms.get(2).is_none());
    }

    #[test]
    fn all_members_give_a_communicator_the_same_number() {
        let globals = |rank: u32, color: i64, members: &[i64]| {
            let mut comms = Comms::new(rank, 4);
            let own = i64::from(rank / 2);
            comms.apply(&made(&[0, color, 0], 2, own, members, &[]), number::Comm_split);
            comms.apply(&made(&[0], 3, i64::from(rank), &[0, 1, 4], &[]), number::Comm_dup);
            comms.apply(&made(&[0], 4, i64::from(rank), &[0, 1, 4], &[]), number::Comm_dup);
            [2, 3, 4].map(|local| comms.get(local).expect("it was made").global)
        };
        let (even, odd) = ([0, 2, 2], [1, 2, 2]);
        let all = [globals(0, 0, &even), globals(1, 1, &odd), globals(2, 0, &even), globals(3, 1, &odd)];
        assert_eq!((all[0], all[1]), (all[2], all[3]));
        assert_ne!(all[0][0], all[1][0], "other members");
        assert_eq!(all[0][1..], all[1][1..]);
        assert_ne!(all[0][1], all[0][2], "made one after the other");
    }

    #[test]
    fn who_gets_no_communicator_counts_it_all_the_same() {
        let (mut with, mut without) = (Comms::new(0, 2), Comms::new(1, 2));
        with.apply(&made(&[0, 1, 0], 2, 0, &[0, 1, 1], &[]), number::Comm_split);
        without.apply(&made(&[0, -1, 0], NULL, NULL, &[], &[]), number::Comm_split);
        assert!(without.get(2).is_none());
        with.apply(&made(&[0], 3, 0, &[0, 1, 2], &[]), number::Comm_dup);
        without.apply(&made(&[0], 2, 1, &[0, 1, 2], &[]), number::Comm_dup);
        assert_eq!(with.get(3).map(|c| c.global), without.get(2).map(|c| c.global));
    }

    #[test]
    fn groups_and_intercommunicators_need_no_other_rank() {
        let (mut one, mut two) = (Comms::new(0, 4), Comms::new(2, 4));
        // Rank 2 has made another group's communicator before.
        two.apply(&made(&[0, 0, 7], 2, 0, &[2, 1, 2], &[]), number::Comm_create_group);
        one.apply(&made(&[0, 0, 7], 2, 0, &[0, 2, 2], &[]), number::Comm_create_group);
        two.apply(&made(&[0, 0, 7], 3, 1, &[0, 2, 2], &[]), number::Comm_create_group);
        assert_eq!(one.get(2).map(|c| c.global), two.get(3).map(|c| c.global));
        one.apply(&made(&[2, 0, 0, 2, 5], 3, 0, &[0, 1, 2], &[2, 1, 2]), number::Intercomm_create);
        two.apply(&made(&[2, 0, 0, 0, 5], 4, 0, &[2, 1, 2], &[0, 1, 2]), number::Intercomm_create);
        let inter = one.get(3).expect("it was made");
        assert_eq!(Some(inter.global), two.get(4).map(|c| c.global));
        assert_eq!(Comms::peer(inter, 1), Some(Peer { rank: 1, world: Some(3) }));
    }

    #[test]
    fn windows_know_their_communicator() {
        let mut comms = Comms::new(1, 4);
        comms.apply(&event(&[64, 8, 0, 0, 0]), number::Win_create);
        let put = event(&[1, 0, 2, 0, 1, 0, 0]);
        let comm = comms.of(number::Put, &put).expect("that of the window");
        assert_eq!(Comms::peer(comm, 2).and_then(|peer| peer.world), Some(3));
        comms.apply(&event(&[0]), number::Win_free);
        assert!(comms.of(number::Put, &put).is_none());
    }
}
