//! How the ranks talk: by `PMPI_*`, so that nobody records it.

use crate::objects::{Calls, Objects};
use likewise_comm::{CommError, Communicator};
use likewise_mpi::abi::Abi;
use likewise_mpi::binding::Handle;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_int;

/// MPI counts in `int`s, so a longer message goes in pieces.
const PIECE: usize = 1 << 30;
const TAG: c_int = 0;
/// When more bytes than this are under way, a rank waits for those that receive.
/// Only what goes up a tree is so much.
const MOST_UNDER_WAY: usize = 8 << 20;

/// The ranks that were started together, and how they talk.
pub(crate) struct World {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(super) calls: Calls,
    pub(super) abi: Abi,
    pub(super) comm: Handle,
    /// Messages that are under way: MPI reads them until their requests are done.
    sent: RefCell<VecDeque<Sent>>,
}

struct Sent {
    bytes: Box<[u8]>,
    request: Handle,
}

impl Clone for World {
    /// The same ranks; what is under way stays with the first.
    fn clone(&self) -> Self {
        Self { calls: self.calls, abi: self.abi.clone(), sent: RefCell::default(), ..*self }
    }
}

impl World {
    /// That of this rank; none if MPI does not tell.
    pub(crate) fn of(objects: &Objects) -> Option<Self> {
        let (calls, abi) = (objects.calls, objects.abi.clone());
        let comm = abi.handles.world;
        let (mut rank, mut size) = (-1, -1);
        // SAFETY: MPI has begun, and `rank` is a place for an int.
        unsafe { (calls.comm_rank)(comm, &raw mut rank) };
        // SAFETY: MPI has begun, and `size` is a place for an int.
        unsafe { (calls.comm_size)(comm, &raw mut size) };
        Some(Self {
            rank: rank.try_into().ok()?,
            size: size.try_into().ok()?,
            calls,
            abi,
            comm,
            sent: RefCell::default(),
        })
    }

    /// The same with a communicator of our own, on which errors return.
    pub(crate) fn duplicated(mut self) -> Option<Self> {
        let mut comm = 0;
        // SAFETY: `comm` is a place for a handle.
        if unsafe { (self.calls.comm_dup)(self.comm, &raw mut comm) } != 0 {
            return None;
        }
        // SAFETY: both are valid handles.
        unsafe { (self.calls.comm_set_errhandler)(comm, self.abi.handles.errors_return) };
        self.comm = comm;
        Some(self)
    }

    /// Ends what [`duplicated`](Self::duplicated) made.
    pub(crate) fn free(mut self) {
        if self.settle(0).is_err() {
            // MPI may still read what is kept.
            return std::mem::forget(self);
        }
        // SAFETY: the communicator is ours, and nothing is under way on it.
        unsafe { (self.calls.comm_free)(&raw mut self.comm) };
    }

    /// The first rank's number, on all ranks.
    pub(crate) fn agree(&self, number: i64) -> i64 {
        let mut bytes = number.to_ne_bytes();
        let (place, n) = (bytes.as_mut_ptr().cast(), bytes.len() as c_int);
        // SAFETY: there are that many bytes.
        unsafe { (self.calls.bcast)(place, n, self.abi.handles.byte, 0, self.comm) };
        i64::from_ne_bytes(bytes)
    }

    /// Waits until all ranks are here.
    pub(crate) fn wait_for_all(&self) {
        // SAFETY: all ranks do it, at the beginning of MPI_Finalize.
        unsafe { (self.calls.barrier)(self.comm) };
    }

    /// Sends without waiting for the receiver.
    fn send_bytes(&self, to: usize, bytes: &[u8]) -> Result<(), CommError> {
        let byte = self.abi.handles.byte;
        bytes.chunks(PIECE).try_for_each(|piece| {
            let mut sent = Sent { bytes: piece.into(), request: 0 };
            let (place, n) = (sent.bytes.as_ptr().cast(), piece.len() as c_int);
            let request = &raw mut sent.request;
            // SAFETY: there are that many bytes, which are kept until the request is done.
            let code = unsafe { (self.calls.isend)(place, n, byte, to as c_int, TAG, self.comm, request) };
            self.sent.borrow_mut().push_back(sent);
            checked("PMPI_Isend", code)
        })?;
        self.settle(MOST_UNDER_WAY)
    }

    /// Waits until no more bytes than these are under way.
    pub(crate) fn settle(&self, most: usize) -> Result<(), CommError> {
        let mut sent = self.sent.borrow_mut();
        let mut under_way: usize = sent.iter().map(|sent| sent.bytes.len()).sum();
        while let Some(first) = sent.front_mut() {
            let mut done: c_int = 0;
            let (request, ignore) = (&raw mut first.request, self.abi.status_ignore);
            // SAFETY: the request is ours and under way.
            checked("PMPI_Test", unsafe { (self.calls.test)(request, &raw mut done, ignore) })?;
            if done != 0 {
                under_way -= first.bytes.len();
                sent.pop_front();
            } else if under_way > most {
                std::thread::yield_now();
            } else {
                break;
            }
        }
        Ok(())
    }

    fn receive_bytes(&self, from: usize, bytes: &mut [u8]) -> Result<(), CommError> {
        let (byte, ignore) = (self.abi.handles.byte, self.abi.status_ignore);
        bytes.chunks_mut(PIECE).try_for_each(|piece| {
            let (place, n) = (piece.as_mut_ptr().cast(), piece.len() as c_int);
            // SAFETY: there is room for that many bytes.
            let code = unsafe { (self.calls.recv)(place, n, byte, from as c_int, TAG, self.comm, ignore) };
            checked("PMPI_Recv", code)
        })
    }
}

fn checked(call: &'static str, code: c_int) -> Result<(), CommError> {
    match code {
        0 => Ok(()),
        code => Err(CommError::Transport { call, reason: format!("error {code}") }),
    }
}

impl Communicator for World {
    fn rank(&self) -> usize {
        self.rank as usize
    }

    fn size(&self) -> usize {
        self.size as usize
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        self.send_bytes(to, &(message.len() as u64).to_ne_bytes())?;
        self.send_bytes(to, message)
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        let mut length = [0; 8];
        self.receive_bytes(from, &mut length)?;
        let mut message = vec![0; u64::from_ne_bytes(length) as usize];
        self.receive_bytes(from, &mut message)?;
        Ok(message)
    }

    /// The program must go on: a rank that cannot work with the others says so
    /// in what it sends.
    fn fail(&self, _reason: &str) {}
}
