//! What the numbers of a recording stand for in a replay.

use likewise_recording::CallId;

/// More handles than any program has at a time.
const MOST: usize = 1 << 28;

/// Things by the number that the recording gives them.
#[derive(Debug)]
pub(crate) struct Table<T>(Vec<Option<T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Table<T> {
    pub(crate) fn get(&self, number: i64) -> Option<&T> {
        self.0.get(usize::try_from(number).ok()?)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: i64) -> Option<&mut T> {
        self.0.get_mut(usize::try_from(number).ok()?)?.as_mut()
    }

    /// A null handle is nowhere.
    pub(crate) fn put(&mut self, number: i64, thing: T) {
        let Some(number) = usize::try_from(number).ok().filter(|number| *number < MOST) else { return };
        if self.0.len() <= number {
            self.0.resize_with(number + 1, || None);
        }
        self.0[number] = Some(thing);
    }

    pub(crate) fn take(&mut self, number: i64) -> Option<T> {
        self.0.get_mut(usize::try_from(number).ok()?)?.take()
    }
}

/// A communicator.
#[derive(Clone, Debug)]
pub(crate) struct Comm {
    pub(crate) handle: usize,
    pub(crate) rank: i64,
    /// Of the own group.
    pub(crate) size: i64,
    /// Of the other group; 0 if there is none.
    pub(crate) remote: i64,
    /// Neighbours that are received from, and that are sent to.
    pub(crate) degrees: (i64, i64),
    /// Ranks in `MPI_COMM_WORLD`: triples of start, stride and count.
    pub(crate) members: Vec<i64>,
}

impl Comm {
    /// How many ranks one may send to.
    pub(crate) fn peers(&self) -> i64 {
        if self.remote > 0 { self.remote } else { self.size }
    }
}

/// Memory that MPI reads while a request is under way.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) ints: Vec<Box<[i32]>>,
    pub(crate) longs: Vec<Box<[i64]>>,
    pub(crate) bytes: Vec<Box<[u8]>>,
    pub(crate) places: Box<[usize]>,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) handle: usize,
    pub(crate) persistent: bool,
    /// A persistent receive of a wildcard: the call, and its values. Each
    /// start begins a receive from whom the recorded one heard.
    pub(crate) receives_any: Option<(CallId, Vec<i64>)>,
    pub(crate) _kept: Kept,
}

/// A window.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) handle: usize,
    pub(crate) rank: i64,
    pub(crate) size: i64,
    /// Of `MPI_Win_create_dynamic`.
    pub(crate) is_dynamic: bool,
    pub(crate) _memory: Vec<u8>,
}

/// All that the numbers of a recording stand for.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    pub(crate) comms: Table<Comm>,
    pub(crate) requests: Table<Request>,
    /// A call may give the same group several times; it lives until each is
    /// freed.
    pub(crate) groups: Table<Vec<usize>>,
    pub(crate) windows: Table<Window>,
    pub(crate) messages: Table<usize>,
}

impl Handles {
    pub(crate) fn put_group(&mut self, number: i64, handle: usize) {
        match self.groups.get_mut(number) {
            Some(known) => known.push(handle),
            None => self.groups.put(number, vec![handle]),
        }
    }

    pub(crate) fn take_group(&mut self, number: i64) {
        if let Some(known) = self.groups.get_mut(number) {
            known.pop();
        }
    }
}

/// Memory that messages are sent from and received into, all from and into
/// the same.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The last one is in use; of the others, requests may be.
    regions: Vec<Vec<u8>>,
}

impl Scratch {
    /// The address of at least so many bytes.
    pub(crate) fn of(&mut self, bytes: usize) -> usize {
        let known = self.regions.last().map_or(0, Vec::len);
        if known < bytes || known == 0 {
            // Written to, so that the system has given the memory before a
            // message needs it.
            self.regions.push(vec![1; bytes.max(2 * known).max(1 << 16)]);
        }
        self.regions.last_mut().map_or(0, |region| region.as_mut_ptr() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_stand_for_nothing_are_no_harm() {
        let mut table = Table::default();
        table.put(-1, 5);
        table.put(i64::MAX, 5);
        table.put(3, 6);
        assert_eq!((table.get(-1), table.get(2), table.get(3)), (None, None, Some(&6)));
        assert_eq!((table.take(3), table.take(3)), (Some(6), None));
    }

    #[test]
    fn scratch_grows_and_stays() {
        let mut scratch = Scratch::default();
        let first = scratch.of(10);
        assert_eq!(scratch.of(1 << 16), first);
        assert_ne!(scratch.of(1 << 17), first);
        assert_eq!(scratch.regions.len(), 2);
    }
}
