//! The communicator over MPI.

use crate::InitError;
use crate::binding::{Handle, Mpi, Status};
use crate::launcher::Launcher;
use crate::library::Library;
use crate::raw::Raw;
use likewise_comm::{CommError, Communicator, Reduction};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{c_char, c_int};
use std::io::Write;
use std::marker::PhantomData;
use std::path::Path;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// MPI counts in `int`s, so a longer message goes in pieces of this many
/// bytes. The last piece is shorter than the others, and may be empty; by this
/// the receiver knows that it is the last.
const PIECE: usize = 1 << 30;

/// One tag is enough: all messages are on a communicator of our own.
const TAG: c_int = 0;

/// How often a rank looks for a message before it leaves the core to others.
const SPINS: usize = 200;

/// The longest sleep of a rank that waits.
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// So long a rank that waits only yields: to sleep takes the system some 50 µs.
const AWAKE: Duration = Duration::from_millis(2);

/// Leaves the core to others for a while: after some time for a sixteenth of what was
/// waited already, so that a message is not seen much later. Who only yields takes up
/// to half of the core from a thread that computes.
fn wait_on(since: Instant) {
    match since.elapsed() {
        waited if waited < AWAKE => std::thread::yield_now(),
        waited => std::thread::sleep((waited / 16).min(LONGEST_SLEEP)),
    }
}

/// A message that is being sent. MPI reads its bytes until the request is done.
struct Pending {
    request: usize,
    message: Vec<u8>,
}

/// One of the ranks of an MPI program.
///
/// Use it only on the thread that began it. Its messages are on a duplicate
/// of `MPI_COMM_WORLD`, so they never meet those of the rest of the program.
pub struct MpiComm {
    library: Library,
    comm: usize,
    rank: usize,
    size: usize,
    piece: usize,
    /// In the order of sending.
    pending: RefCell<VecDeque<Pending>>,
    /// Whether MPI was begun here, and must therefore be ended here.
    ours: bool,
    one_thread: PhantomData<*const ()>,
}

impl MpiComm {
    /// Begins MPI, or joins that of a program which has begun it. Collective.
    ///
    /// # Returns
    /// `None` if there is neither MPI nor a launcher.
    ///
    /// # Errors
    /// [`InitError`] says which library was tried, or that the library is not
    /// the launcher's.
    pub fn init() -> Result<Option<Self>, InitError> {
        Self::init_with(None)
    }

    /// Like [`init`](Self::init), but loads the library at this path if the
    /// program has none yet.
    ///
    /// # Errors
    /// See [`init`](Self::init).
    pub fn init_with(path: Option<&Path>) -> Result<Option<Self>, InitError> {
        let launcher = Launcher::of_this_process();
        let library = match (Library::present(), &launcher) {
            (Some(library), _) => library?,
            (None, Some(launcher)) => Library::load(launcher, path)?,
            (None, None) => return Ok(None),
        };
        let ours = !library.is_initialized()?;
        if ours && launcher.is_none() {
            return Ok(None);
        }
        if ours {
            library.begin()?;
        }
        Self::join(library, ours, launcher).map(Some)
    }

    fn join(library: Library, ours: bool, launcher: Option<Launcher>) -> Result<Self, InitError> {
        let world = library.handles.world;
        let known = library.size(world)?;
        if let Some(Launcher { name, n_ranks: Some(launched), .. }) = launcher
            && launched > 1
            && known == 1
        {
            let (mpi, library) = (library.mpi, library.name);
            return Err(InitError::OtherMpi { launcher: name.into(), launched, mpi, library, known });
        }
        let (mut comm, mut rank) = (0, 0);
        // SAFETY: `comm` is a valid place for a handle.
        library.check("PMPI_Comm_dup", unsafe { (library.calls.comm_dup)(world, &raw mut comm) })?;
        // SAFETY: both are valid handles.
        let status = unsafe { (library.calls.comm_set_errhandler)(comm, library.handles.errors_return) };
        library.check("PMPI_Comm_set_errhandler", status)?;
        // SAFETY: `rank` is a valid place for an int.
        library.check("PMPI_Comm_rank", unsafe { (library.calls.comm_rank)(comm, &raw mut rank) })?;
        Ok(Self {
            size: known,
            rank: rank as usize,
            comm,
            library,
            piece: PIECE,
            pending: RefCell::default(),
            ours,
            one_thread: PhantomData,
        })
    }

    /// Whose MPI this is.
    pub fn mpi(&self) -> Mpi {
        self.library.mpi
    }

    /// The library, as it was found.
    pub fn library(&self) -> &str {
        &self.library.name
    }

    /// All functions of MPI, by name.
    #[must_use]
    pub fn raw(&self) -> Raw<'_> {
        Raw::new(&self.library)
    }

    /// Sends messages in pieces of this many bytes, the same on all ranks.
    /// Tests use it.
    ///
    /// # Panics
    /// If it is zero, or too many for MPI.
    #[must_use]
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        assert!((1..=PIECE).contains(&bytes), "pieces of 1 to {PIECE} bytes");
        self.piece = bytes;
        self
    }

    fn check(&self, call: &'static str, status: c_int) -> Result<(), CommError> {
        self.library.check(call, status)
    }

    fn send_piece(&self, to: usize, piece: &[u8]) -> Result<(), CommError> {
        let mut pending = Pending { request: 0, message: piece.to_vec() };
        let (bytes, byte) = (pending.message.as_ptr().cast(), self.library.handles.byte);
        let (length, to) = (piece.len() as c_int, to as c_int);
        // SAFETY: the message lives, unmoved on the heap, until the request is done.
        let status = unsafe {
            (self.library.calls.isend)(bytes, length, byte, to, TAG, self.comm, &raw mut pending.request)
        };
        self.check("PMPI_Isend", status)?;
        self.pending.borrow_mut().push_back(pending);
        Ok(())
    }

    /// Drops the messages that have been sent.
    fn reap(&self) -> Result<(), CommError> {
        let mut pending = self.pending.borrow_mut();
        while let Some(first) = pending.front_mut() {
            let (mut done, mut status) = (0, Status::default());
            // SAFETY: the request is MPI's, and the others are valid places for results.
            let code =
                unsafe { (self.library.calls.test)(&raw mut first.request, &raw mut done, &raw mut status) };
            self.check("PMPI_Test", code)?;
            if done == 0 {
                break;
            }
            pending.pop_front();
        }
        Ok(())
    }

    /// Waits for the next piece. Every look for it also lets MPI carry on with
    /// pending messages.
    fn receive_piece(&self, from: usize, message: &mut Vec<u8>) -> Result<usize, CommError> {
        let calls = &self.library.calls;
        let (from, byte) = (from as c_int, self.library.handles.byte);
        let (mut found, mut length, mut status) = (0, 0, Status::default());
        let mut since = None;
        for round in 0_usize.. {
            // SAFETY: `found` and `status` are valid places for results.
            let code = unsafe { (calls.iprobe)(from, TAG, self.comm, &raw mut found, &raw mut status) };
            self.check("PMPI_Iprobe", code)?;
            if found != 0 {
                break;
            }
            // MPI would spin. With more ranks than cores, that keeps the
            // sender from sending, and other threads from computing.
            if round > SPINS {
                self.reap()?;
                self.wait_on(&mut since);
            }
        }
        // SAFETY: the status is that of the message found.
        let code = unsafe { (calls.get_count)(&raw const status, byte, &raw mut length) };
        self.check("PMPI_Get_count", code)?;
        let start = message.len();
        message.resize(start + length as usize, 0);
        let place = message[start..].as_mut_ptr().cast();
        // SAFETY: `place` has room for `length` bytes.
        let code = unsafe { (calls.recv)(place, length, byte, from, TAG, self.comm, &raw mut status) };
        self.check("PMPI_Recv", code)?;
        Ok(length as usize)
    }

    /// Waits until `begin` is done, which starts a collective call. MPI's own waiting
    /// calls would spin, and keep a core from threads that compute.
    fn done(&self, call: &'static str, begin: impl FnOnce(*mut Handle) -> c_int) -> Result<(), CommError> {
        let (mut request, mut done, mut status) = (0, 0, Status::default());
        self.check(call, begin(&raw mut request))?;
        // MPI uses what it was given until then, so nothing else may end the wait.
        let (mut since, mut reaped) = (None, Ok(()));
        for round in 0_usize.. {
            // SAFETY: the request is MPI's, and the others are valid places for results.
            let code = unsafe { (self.library.calls.test)(&raw mut request, &raw mut done, &raw mut status) };
            self.check(call, code)?;
            if done != 0 {
                break;
            }
            if round > SPINS {
                reaped = reaped.and_then(|()| self.reap());
                self.wait_on(&mut since);
            }
        }
        reaped
    }

    /// Leaves the core to others for a while, after which there is another look.
    fn wait_on(&self, since: &mut Option<Instant>) {
        match self.pending.borrow().is_empty() {
            true => wait_on(*since.get_or_insert_with(Instant::now)),
            // Every look also sends something of what is on its way.
            false => std::thread::yield_now(),
        }
    }

    fn broadcast_piece(&self, root: usize, piece: &mut [u8]) -> Result<(), CommError> {
        let (place, length) = (piece.as_mut_ptr().cast(), piece.len() as c_int);
        let (byte, root) = (self.library.handles.byte, root as c_int);
        // SAFETY: the piece has one length on all ranks, is written on all but the root, and lives
        // until the call is done.
        self.done("PMPI_Ibcast", |request| unsafe {
            (self.library.calls.ibcast)(place, length, byte, root, self.comm, request)
        })
    }

    /// Ends what `init` began; returns the first error.
    fn end(&mut self) -> Result<(), CommError> {
        for mut pending in self.pending.take() {
            let mut status = Status::default();
            // SAFETY: the request is MPI's, and its message lives until then.
            let code = unsafe { (self.library.calls.wait)(&raw mut pending.request, &raw mut status) };
            self.check("PMPI_Wait", code)?;
        }
        // SAFETY: nothing is under way on the communicator, which is not used again.
        let code = unsafe { (self.library.calls.comm_free)(&raw mut self.comm) };
        self.check("PMPI_Comm_free", code)?;
        if self.ours {
            // SAFETY: MPI was begun here, and nobody calls it after this.
            self.check("PMPI_Finalize", unsafe { (self.library.calls.finalize)() })?;
        }
        Ok(())
    }
}

impl Communicator for MpiComm {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        assert!(to < self.size, "a message to rank {to} of {}", self.size);
        self.reap()?;
        let mut rest = message;
        while rest.len() >= self.piece {
            let (piece, after) = rest.split_at(self.piece);
            self.send_piece(to, piece)?;
            rest = after;
        }
        self.send_piece(to, rest)
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        assert!(from < self.size, "a message from rank {from} of {}", self.size);
        let mut message = Vec::new();
        while self.receive_piece(from, &mut message)? == self.piece {}
        Ok(message)
    }

    fn fail(&self, reason: &str) {
        // In one piece: the launcher writes to the same place, and came between "rank" and the number.
        let told = format!("rank {}: {reason}\n", self.rank);
        let _ = std::io::stderr().write_all(told.as_bytes());
        // SAFETY: it may be called at any time between begin and end.
        unsafe { (self.library.calls.abort)(self.comm, 1) };
    }

    fn all_reduce(&self, reduction: Reduction, values: &mut [i64]) -> Result<(), CommError> {
        let handles = &self.library.handles;
        let operation = match reduction {
            Reduction::Sum => handles.sum,
            Reduction::Min => handles.min,
            Reduction::Max => handles.max,
        };
        for values in values.chunks_mut(self.piece.div_ceil(8)) {
            let ours = values.to_vec();
            let (from, to, length) = (ours.as_ptr().cast(), values.as_mut_ptr().cast(), ours.len() as c_int);
            // SAFETY: both hold `length` values of 64 bits, and live until the call is done.
            self.done("PMPI_Iallreduce", |request| unsafe {
                (self.library.calls.iallreduce)(from, to, length, handles.long, operation, self.comm, request)
            })?;
        }
        Ok(())
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), CommError> {
        assert!(root < self.size, "the root is rank {root} of {}", self.size);
        let mut length = (bytes.len() as u64).to_le_bytes();
        self.broadcast_piece(root, &mut length)?;
        bytes.resize(u64::from_le_bytes(length) as usize, 0);
        bytes.chunks_mut(self.piece).try_for_each(|piece| self.broadcast_piece(root, piece))
    }

    fn sum_before(&self, value: i64) -> Result<i64, CommError> {
        let (long, sum) = (self.library.handles.long, self.library.handles.sum);
        let mut before = 0_i64;
        let (from, to) = ((&raw const value).cast(), (&raw mut before).cast());
        // SAFETY: both are one value of 64 bits, and live until the call is done.
        self.done("PMPI_Iexscan", |request| unsafe {
            (self.library.calls.iexscan)(from, to, 1, long, sum, self.comm, request)
        })?;
        // The standard does not define the result of the first rank.
        Ok(if self.rank == 0 { 0 } else { before })
    }
}

impl Drop for MpiComm {
    fn drop(&mut self) {
        // This rank is on its way out, and the others would wait for it.
        if std::thread::panicking() {
            return self.fail("it panicked");
        }
        if let Err(error) = self.end() {
            self.fail(&error.to_string());
        }
    }
}

impl Library {
    pub(crate) fn check(&self, call: &'static str, status: c_int) -> Result<(), CommError> {
        if status == 0 {
            return Ok(());
        }
        // Twice the length that either MPI asks for.
        let (mut text, mut length) = ([0_u8; 1024], 0);
        let place = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: there is room for the longest text.
        let described = unsafe { (self.calls.error_string)(status, place, &raw mut length) } == 0;
        let text = if described { text.get(..length as usize).unwrap_or_default() } else { &[] };
        let reason = format!("{} ({} {status})", String::from_utf8_lossy(text), self.mpi);
        Err(CommError::Transport { call, reason })
    }

    fn is_initialized(&self) -> Result<bool, CommError> {
        let mut flag = 0;
        // SAFETY: it may be called at any time.
        self.check("PMPI_Initialized", unsafe { (self.calls.initialized)(&raw mut flag) })?;
        Ok(flag != 0)
    }

    fn begin(&self) -> Result<(), CommError> {
        // One thread alone calls MPI.
        let (funneled, mut provided) = (self.mpi.thread_funneled(), 0);
        // SAFETY: MPI is not begun yet, and takes no arguments for none.
        let status = unsafe { (self.calls.init_thread)(null_mut(), null_mut(), funneled, &raw mut provided) };
        self.check("PMPI_Init_thread", status)
    }

    fn size(&self, comm: usize) -> Result<usize, CommError> {
        let mut size = 0;
        // SAFETY: `size` is a valid place for an int.
        self.check("PMPI_Comm_size", unsafe { (self.calls.comm_size)(comm, &raw mut size) })?;
        Ok(size as usize)
    }
}
