//! How the ranks talk: by `PMPI_*`, so that nobody records it.

use crate::objects::{Calls, Objects};
use likewise_comm::{CommError, Communicator};
use likewise_mpi::abi::Abi;
use likewise_mpi::binding::Handle;
use std::ffi::c_int;

/// MPI counts in `int`s, so a longer message goes in pieces.
const PIECE: usize = 1 << 30;
const TAG: c_int = 0;

/// The ranks that were started together, and how they talk.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(super) calls: Calls,
    pub(super) abi: Abi,
    pub(super) comm: Handle,
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
        Some(Self { rank: rank.try_into().ok()?, size: size.try_into().ok()?, calls, abi, comm })
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

    fn send_bytes(&self, to: usize, bytes: &[u8]) -> Result<(), CommError> {
        let byte = self.abi.handles.byte;
        bytes.chunks(PIECE).try_for_each(|piece| {
            let (place, n) = (piece.as_ptr().cast(), piece.len() as c_int);
            // SAFETY: there are that many bytes.
            let code = unsafe { (self.calls.send)(place, n, byte, to as c_int, TAG, self.comm) };
            checked("PMPI_Send", code)
        })
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
