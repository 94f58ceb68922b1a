//! MPI's objects: handles as small numbers, and what decoding needs to know
//! of communicators, windows and datatypes.

use crate::hash::Map;
use crate::requests::{Numbers, Requests};
use likewise_mpi::abi::{Abi, Class, N_CLASSES, NAMED, Topology};
use likewise_mpi::binding::{Handle, Mpi, Source, calls};
use likewise_recording::Recorder;
use likewise_recording::role::{ANY, NONE, NULL, PROC_NULL};
use std::ffi::{CStr, c_char, c_int, c_void};

calls! {
    comm_rank = "PMPI_Comm_rank"(Handle, *mut c_int);
    comm_size = "PMPI_Comm_size"(Handle, *mut c_int);
    comm_remote_size = "PMPI_Comm_remote_size"(Handle, *mut c_int);
    comm_test_inter = "PMPI_Comm_test_inter"(Handle, *mut c_int);
    comm_group = "PMPI_Comm_group"(Handle, *mut Handle);
    comm_remote_group = "PMPI_Comm_remote_group"(Handle, *mut Handle);
    comm_dup = "PMPI_Comm_dup"(Handle, *mut Handle);
    comm_free = "PMPI_Comm_free"(*mut Handle);
    comm_set_errhandler = "PMPI_Comm_set_errhandler"(Handle, Handle);
    group_size = "PMPI_Group_size"(Handle, *mut c_int);
    group_free = "PMPI_Group_free"(*mut Handle);
    group_translate = "PMPI_Group_translate_ranks"(Handle, c_int, *const c_int, Handle, *mut c_int);
    topo_test = "PMPI_Topo_test"(Handle, *mut c_int);
    cartdim_get = "PMPI_Cartdim_get"(Handle, *mut c_int);
    graph_neighbors_count = "PMPI_Graph_neighbors_count"(Handle, c_int, *mut c_int);
    dist_graph_neighbors_count =
        "PMPI_Dist_graph_neighbors_count"(Handle, *mut c_int, *mut c_int, *mut c_int);
    type_get_name = "PMPI_Type_get_name"(Handle, *mut c_char, *mut c_int);
    type_get_envelope =
        "PMPI_Type_get_envelope"(Handle, *mut c_int, *mut c_int, *mut c_int, *mut c_int);
    type_size_x = "PMPI_Type_size_x"(Handle, *mut i64);
    type_get_extent = "PMPI_Type_get_extent"(Handle, *mut isize, *mut isize);
    bcast = "PMPI_Bcast"(*mut c_void, c_int, Handle, c_int, Handle);
    barrier = "PMPI_Barrier"(Handle);
    isend = "PMPI_Isend"(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    recv = "PMPI_Recv"(*mut c_void, c_int, Handle, c_int, c_int, Handle, usize);
    iallreduce =
        "PMPI_Iallreduce"(*const c_void, *mut c_void, c_int, Handle, Handle, Handle, *mut Handle);
    ibcast = "PMPI_Ibcast"(*mut c_void, c_int, Handle, c_int, Handle, *mut Handle);
    test = "PMPI_Test"(*mut Handle, *mut c_int, usize);
}

/// A communicator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comm {
    pub(crate) rank: i32,
    /// How many ranks its own group has.
    pub(crate) size: i32,
    /// Of an intercommunicator, how many the remote group has.
    pub(crate) remote: Option<i32>,
    /// Neighbours that are received from and sent to, and dimensions; none
    /// where nobody has asked yet.
    neighbours: Option<Neighbours>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Neighbours {
    pub(crate) from: i32,
    pub(crate) to: i32,
    pub(crate) dimensions: i32,
}

impl Comm {
    /// How many ranks peers are counted modulo.
    pub(crate) fn peers(&self) -> i32 {
        self.remote.unwrap_or(self.size)
    }
}

/// What is known of a handle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) number: i64,
    /// How often the program was given it; MPI's own are never freed.
    given: u32,
    /// Of a communicator, or of that of a window.
    comm: Option<Comm>,
}

const FOREVER: u32 = u32::MAX;

/// What a call is about to free; see [`Objects::retire`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retired {
    class: Class,
    handle: Handle,
    known: Known,
}

impl Retired {
    pub(crate) fn number(&self) -> i64 {
        self.known.number
    }
}

/// All objects of a rank.
pub(crate) struct Objects {
    pub(crate) abi: Abi,
    pub(crate) calls: Calls,
    pub(crate) requests: Requests,
    known: [Map<Handle, Known>; N_CLASSES],
    numbers: [Numbers; N_CLASSES],
    world_group: Option<Handle>,
    /// Counts handles that were made or freed: what was decoded before may mean
    /// something else now.
    pub(crate) epoch: u64,
}

impl Objects {
    /// Those of a program that has made none yet; none if its MPI lacks what
    /// every MPI 3 has.
    pub(crate) fn new(source: &Source) -> Option<Self> {
        let mut objects = Self {
            abi: Abi::of(source)?,
            calls: Calls::bind(source).ok()?,
            requests: Requests::default(),
            known: Default::default(),
            numbers: Default::default(),
            world_group: None,
            epoch: 1,
        };
        let abi = objects.abi.clone();
        for handle in abi.operations {
            objects.own(Class::Op, handle);
        }
        objects.own(Class::Group, abi.group_empty);
        objects.own(Class::Errhandler, abi.errors_are_fatal);
        objects.own(Class::Errhandler, abi.handles.errors_return);
        // MPI_COMM_WORLD and MPI_COMM_SELF; nothing is known of them before MPI_Init.
        objects.numbers[Class::Comm as usize].take();
        objects.numbers[Class::Comm as usize].take();
        Some(objects)
    }

    /// One of MPI's own handles, which has its number from the beginning.
    fn own(&mut self, class: Class, handle: Handle) {
        let number = i64::from(self.numbers[class as usize].take());
        self.known[class as usize].insert(handle, Known { number, given: FOREVER, comm: None });
    }

    pub(crate) fn is_null(&self, class: Class, handle: Handle) -> bool {
        handle == self.abi.nulls[class as usize]
    }

    fn add(&mut self, class: Class, handle: Handle, comm: Option<Comm>) -> i64 {
        let number = match class {
            Class::Comm if handle == self.abi.handles.world => 0,
            Class::Comm if handle == self.abi.comm_self => 1,
            _ => i64::from(self.numbers[class as usize].take()),
        };
        self.known[class as usize].insert(handle, Known { number, given: 1, comm });
        number
    }

    /// The number of a handle that a call was given. Where the call failed, an
    /// unknown handle may be anything, and is null.
    pub(crate) fn number(&mut self, class: Class, handle: Handle, ok: bool) -> i64 {
        if self.is_null(class, handle) {
            return NULL;
        }
        match self.known[class as usize].get(&handle) {
            Some(known) => known.number,
            None if ok => self.add(class, handle, None),
            None => NULL,
        }
    }

    /// The number of a handle that a call gave. The same handle may be given
    /// several times (error handlers, predefined groups).
    pub(crate) fn given(&mut self, class: Class, handle: Handle, comm: Option<Comm>) -> i64 {
        // No message is among the arguments that are compared with the last ones.
        self.epoch += u64::from(class != Class::Message);
        if self.is_null(class, handle) {
            return NULL;
        }
        let shared = matches!(class, Class::Errhandler | Class::Group | Class::Message | Class::Comm);
        if shared && let Some(known) = self.known[class as usize].get_mut(&handle) {
            known.given = known.given.saturating_add(1);
            return known.number;
        }
        // Another object had this handle, and its end was not seen.
        if let Some(known) = self.known[class as usize].remove(&handle) {
            self.release(class, known);
        }
        self.add(class, handle, comm)
    }

    fn release(&mut self, class: Class, known: Known) {
        if known.given != FOREVER && class != Class::Type {
            self.numbers[class as usize].release(known.number as u32);
        }
    }

    /// A call is about to free the handle. From now on it may be another
    /// object's, on another thread; its number stays taken until
    /// [`ended`](Self::ended).
    pub(crate) fn retire(&mut self, class: Class, handle: Handle) -> Option<Retired> {
        self.epoch += u64::from(class != Class::Message);
        let known = self.known[class as usize].get_mut(&handle)?;
        let before = *known;
        if known.given == FOREVER || known.given > 1 {
            known.given -= u32::from(known.given != FOREVER);
        } else {
            self.known[class as usize].remove(&handle);
        }
        Some(Retired { class, handle, known: before })
    }

    /// What was retired is no more; or, where the call failed, is still there.
    pub(crate) fn ended(&mut self, retired: Retired, ok: bool) {
        let Retired { class, handle, known } = retired;
        match (ok, known.given) {
            (true, 1) => self.release(class, known),
            (false, 1) => {
                self.known[class as usize].insert(handle, known);
            }
            (false, given) if given != FOREVER => {
                self.given(class, handle, None);
            }
            _ => {}
        }
    }

    /// A communicator that a call was given; none if it is null, or unknown
    /// and the call failed.
    pub(crate) fn comm(&mut self, handle: Handle, ok: bool) -> Option<(i64, Comm)> {
        if self.is_null(Class::Comm, handle) {
            return None;
        }
        if let Some(Known { number, comm: Some(comm), .. }) = self.known[Class::Comm as usize].get(&handle) {
            return Some((*number, *comm));
        }
        if !ok {
            return None;
        }
        let comm = self.ask(handle);
        Some((self.add(Class::Comm, handle, Some(comm)), comm))
    }

    fn int(f: unsafe extern "C" fn(Handle, *mut c_int) -> c_int, handle: Handle) -> c_int {
        let mut value = 0;
        // SAFETY: the handle is valid, since a call with it succeeded.
        unsafe { f(handle, &raw mut value) };
        value
    }

    /// What MPI knows of a communicator.
    pub(crate) fn ask(&self, handle: Handle) -> Comm {
        let is_inter = Self::int(self.calls.comm_test_inter, handle) != 0;
        Comm {
            rank: Self::int(self.calls.comm_rank, handle),
            size: Self::int(self.calls.comm_size, handle),
            remote: is_inter.then(|| Self::int(self.calls.comm_remote_size, handle)),
            neighbours: None,
        }
    }

    /// The neighbours in the topology of a communicator.
    pub(crate) fn neighbours(&mut self, handle: Handle) -> Neighbours {
        let Some((_, comm)) = self.comm(handle, true) else { return Neighbours::default() };
        if let Some(known) = comm.neighbours {
            return known;
        }
        let neighbours = match self.abi.topology(Self::int(self.calls.topo_test, handle)) {
            Topology::None => Neighbours::default(),
            Topology::Cart => {
                let dimensions = Self::int(self.calls.cartdim_get, handle);
                Neighbours { from: 2 * dimensions, to: 2 * dimensions, dimensions }
            }
            Topology::Graph => {
                let mut n = 0;
                // SAFETY: the communicator has a graph, and `n` is a valid place for an int.
                unsafe { (self.calls.graph_neighbors_count)(handle, comm.rank, &raw mut n) };
                Neighbours { from: n, to: n, dimensions: 0 }
            }
            Topology::DistGraph => {
                let (mut from, mut to, mut weighted) = (0, 0, 0);
                let (places, ask) = ((&raw mut from, &raw mut to), self.calls.dist_graph_neighbors_count);
                // SAFETY: the communicator has such a graph, and all are valid places for ints.
                unsafe { ask(handle, places.0, places.1, &raw mut weighted) };
                Neighbours { from, to, dimensions: 0 }
            }
        };
        if let Some(Known { comm: Some(comm), .. }) = self.known[Class::Comm as usize].get_mut(&handle) {
            comm.neighbours = Some(neighbours);
        }
        neighbours
    }

    /// The communicator of a window.
    pub(crate) fn win(&self, handle: Handle) -> Option<Comm> {
        self.known[Class::Win as usize].get(&handle)?.comm
    }

    /// The ranks of a communicator's group in `MPI_COMM_WORLD`, as triples of
    /// start, stride and count.
    pub(crate) fn members(&mut self, comm: Handle, remote: bool) -> Vec<i64> {
        let (mut group, mut n) = (0, 0);
        let ask = if remote { self.calls.comm_remote_group } else { self.calls.comm_group };
        // SAFETY: the communicator is valid (and has a remote group), `group` is a place for a handle.
        if unsafe { ask(comm, &raw mut group) } != 0 {
            return Vec::new();
        }
        let world = self.world_group();
        // SAFETY: the group is valid, and `n` is a place for an int.
        unsafe { (self.calls.group_size)(group, &raw mut n) };
        let ranks: Vec<c_int> = (0..n).collect();
        let mut in_world = vec![-1; ranks.len()];
        let (from, to) = (ranks.as_ptr(), in_world.as_mut_ptr());
        // SAFETY: both groups are valid, and both arrays have `n` ints.
        unsafe { (self.calls.group_translate)(group, n, from, world, to) };
        // SAFETY: the group is ours to free.
        unsafe { (self.calls.group_free)(&raw mut group) };
        // Ranks of other worlds (spawned ones) have no number in this one.
        in_world.iter_mut().for_each(|rank| *rank = (*rank).max(-1));
        runs(&in_world)
    }

    fn world_group(&mut self) -> Handle {
        if let Some(group) = self.world_group {
            return group;
        }
        let mut group = 0;
        // SAFETY: a communicator was made, so MPI has begun; `group` is a place for a handle.
        unsafe { (self.calls.comm_group)(self.abi.handles.world, &raw mut group) };
        *self.world_group.insert(group)
    }

    /// A datatype's place in the recorder's table.
    pub(crate) fn datatype(&mut self, recorder: &mut Recorder, handle: Handle, ok: bool) -> i64 {
        if self.is_null(Class::Type, handle) {
            return NULL;
        }
        match self.known[Class::Type as usize].get(&handle) {
            Some(known) => known.number,
            None if ok => self.new_datatype(recorder, handle),
            None => NULL,
        }
    }

    /// Whether a word is one of MPI's own datatypes, as far as can be told
    /// without asking for it: who asks for what is none ends the program.
    pub(crate) fn is_own_type(&self, word: Handle) -> bool {
        match self.abi.mpi {
            // The last byte is its number, of some seventy.
            Mpi::Mpich => word >> 24 == 0x4c && (1..0x48).contains(&(word & 0xff)),
            Mpi::Standard => (0x201..0x300).contains(&word),
            Mpi::OpenMpi => is_object_of_open_mpi(word),
        }
    }

    /// As [`datatype`](Self::datatype), for one that a call has just made.
    pub(crate) fn new_datatype(&mut self, recorder: &mut Recorder, handle: Handle) -> i64 {
        self.epoch += 1;
        if self.is_null(Class::Type, handle) {
            return NULL;
        }
        let (mut size, mut low, mut extent) = (0, 0, 0);
        // SAFETY: the type is valid, and `size` is a place for an MPI_Count.
        unsafe { (self.calls.type_size_x)(handle, &raw mut size) };
        // SAFETY: the type is valid, and both are places for an MPI_Aint.
        unsafe { (self.calls.type_get_extent)(handle, &raw mut low, &raw mut extent) };
        let number = recorder.datatype(&self.type_name(handle), size, extent as i64);
        self.known[Class::Type as usize].insert(handle, Known { number, given: 1, comm: None });
        number
    }

    /// The name of one of MPI's own datatypes; of others, how they were made.
    fn type_name(&self, handle: Handle) -> String {
        let (mut ints, mut addresses, mut types, mut combiner) = (0, 0, 0, 0);
        let ask = self.calls.type_get_envelope;
        let places = (&raw mut ints, &raw mut addresses, &raw mut types, &raw mut combiner);
        // SAFETY: the type is valid, and all are places for ints.
        unsafe { ask(handle, places.0, places.1, places.2, places.3) };
        let made = self.abi.combiner(combiner);
        if made != NAMED {
            return made.to_owned();
        }
        // Twice the length that any MPI asks for.
        let (mut text, mut length) = ([0_u8; 256], 0);
        // SAFETY: there is room for the longest name.
        unsafe { (self.calls.type_get_name)(handle, text.as_mut_ptr().cast(), &raw mut length) };
        CStr::from_bytes_until_nul(&text).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// A peer relative to the own rank.
    pub(crate) fn peer(&self, peer: i32, rank: i32, size: i32) -> i64 {
        if peer == self.abi.any_source {
            ANY
        } else if peer == self.abi.proc_null {
            PROC_NULL
        } else if !(0..size.max(1)).contains(&peer) {
            // No rank of the communicator: the call has failed.
            NONE
        } else {
            (i64::from(peer) - i64::from(rank)).rem_euclid(i64::from(size.max(1)))
        }
    }
}

/// Whether it is the address of an object that Open MPI exports.
fn is_object_of_open_mpi(address: usize) -> bool {
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: any address may be asked for, and `found` is a place for the answer.
    let is_known = unsafe { libc::dladdr(address as *const c_void, &raw mut found) } != 0;
    if !is_known || found.dli_sname.is_null() || found.dli_saddr as usize != address {
        return false;
    }
    // SAFETY: the loader's names end with a zero.
    unsafe { CStr::from_ptr(found.dli_sname) }.to_bytes().starts_with(b"ompi_mpi_")
}

/// Numbers as triples of start, stride and count.
fn runs(numbers: &[c_int]) -> Vec<i64> {
    let mut triples = Vec::new();
    let mut rest = numbers;
    while let [start, after @ ..] = rest {
        let stride = after.first().map_or(1, |next| next - start);
        let more = rest.windows(2).take_while(|pair| pair[1] - pair[0] == stride).count();
        triples.extend([i64::from(*start), i64::from(stride), more as i64 + 1]);
        rest = &rest[more + 1..];
    }
    triples
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn members_are_runs() {
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[5]), [5, 1, 1]);
        assert_eq!(runs(&[0, 2, 4, 5, 6]), [0, 2, 3, 5, 1, 2]);
        assert_eq!(runs(&[-1, -1]), [-1, 0, 2]);
    }
}
