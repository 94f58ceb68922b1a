//! Every function of MPI, called by name with words for arguments: for who
//! re-issues calls that a table describes.
//!
//! No argument of these functions is a floating-point number, so that each
//! goes into a register, or a place on the stack, that holds one word.

use crate::binding::Mpi;
use crate::library::Library;
use std::ffi::{c_int, c_void};

/// As many arguments as any function has, and more.
const MOST: usize = 16;

type Any = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> c_int;

/// A function of MPI.
#[derive(Clone, Copy, Debug)]
pub struct Function(Any);

/// Values of MPI's header, which differ between the two MPIs. What is not a
/// number is a handle, as a word.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Constants {
    pub comm_world: usize,
    pub comm_self: usize,
    pub group_empty: usize,
    pub info_null: usize,
    pub request_null: usize,
    pub errors_return: usize,
    pub byte: usize,
    pub int: usize,
    pub long: usize,
    pub bor: usize,
    pub no_op: usize,
    pub status_ignore: usize,
    pub any_tag: i32,
    pub any_source: i32,
    pub proc_null: i32,
    pub root: i32,
    pub lock_exclusive: i32,
    pub lock_shared: i32,
    /// The class of the error that a message is longer than its receive.
    pub error_truncate: i32,
    /// The attribute that says which tag is the greatest.
    pub tag_ub: i32,
    /// Bytes of a handle in an array of them.
    pub handle_bytes: usize,
}

impl Constants {
    const MPICH: Self = Self {
        comm_world: 0x4400_0000,
        comm_self: 0x4400_0001,
        group_empty: 0x4800_0000,
        info_null: 0x1c00_0000,
        request_null: 0x2c00_0000,
        errors_return: 0x5400_0001,
        byte: 0x4c00_010d,
        int: 0x4c00_0405,
        long: 0x4c00_0807,
        bor: 0x5800_0008,
        no_op: 0x5800_000e,
        status_ignore: 1,
        any_tag: -1,
        any_source: -2,
        proc_null: -1,
        root: -3,
        lock_exclusive: 234,
        lock_shared: 235,
        error_truncate: 14,
        tag_ub: 0x6440_0001,
        handle_bytes: 4,
    };

    const STANDARD: Self = Self {
        comm_world: 0x101,
        comm_self: 0x102,
        group_empty: 0x109,
        info_null: 0x130,
        request_null: 0x180,
        errors_return: 0x142,
        byte: 0x247,
        int: 0x209,
        long: 0x20a,
        bor: 0x29,
        no_op: 0x3d,
        status_ignore: 0,
        any_tag: -2,
        any_source: -1,
        proc_null: -3,
        root: -4,
        lock_exclusive: 301,
        lock_shared: 302,
        tag_ub: 501,
        handle_bytes: 8,
    };

    /// `None` if the library lacks an object that every Open MPI has.
    fn of_open_mpi(library: &Library) -> Option<Self> {
        let address = |symbol| library.find(symbol).map(|address| address as usize);
        Some(Self {
            comm_world: address("ompi_mpi_comm_world")?,
            comm_self: address("ompi_mpi_comm_self")?,
            group_empty: address("ompi_mpi_group_empty")?,
            info_null: address("ompi_mpi_info_null")?,
            request_null: address("ompi_request_null")?,
            errors_return: address("ompi_mpi_errors_return")?,
            byte: address("ompi_mpi_byte")?,
            int: address("ompi_mpi_int")?,
            long: address("ompi_mpi_long")?,
            bor: address("ompi_mpi_op_bor")?,
            no_op: address("ompi_mpi_op_no_op")?,
            status_ignore: 0,
            any_tag: -1,
            any_source: -1,
            proc_null: -2,
            root: -4,
            lock_exclusive: 1,
            lock_shared: 2,
            error_truncate: 15,
            tag_ub: 0,
            handle_bytes: 8,
        })
    }
}

/// The functions of an MPI by name. It has been begun.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    library: &'a Library,
}

impl<'a> Raw<'a> {
    pub(crate) fn new(library: &'a Library) -> Self {
        Self { library }
    }

    /// The values of its header; `None` if the library lacks one.
    #[must_use]
    pub fn constants(self) -> Option<Constants> {
        match self.library.mpi {
            Mpi::OpenMpi => Constants::of_open_mpi(self.library),
            Mpi::Mpich => Some(Constants::MPICH),
            Mpi::Standard => Some(Constants::STANDARD),
        }
    }

    /// The function of that name, such as `PMPI_Send`, if this MPI has it.
    #[must_use]
    pub fn find(self, name: &str) -> Option<Function> {
        let address = self.library.find(name)?;
        // SAFETY: the address is a function's, of which all arguments are words
        // (see the head of this file); it ignores those that it does not have.
        Some(Function(unsafe { std::mem::transmute::<*mut c_void, Any>(address) }))
    }

    /// What MPI says of an error.
    #[must_use]
    pub fn told(self, code: c_int) -> String {
        match self.library.check("", code) {
            Ok(()) => "no error".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

impl Function {
    /// Calls it.
    ///
    /// # Safety
    /// These must be arguments that the function can take: handles that live,
    /// pointers to enough memory, for as long as the function uses it.
    ///
    /// # Panics
    /// There are more arguments than any function has.
    #[must_use]
    pub unsafe fn call(self, words: &[usize]) -> c_int {
        let mut w = [0; MOST];
        w[..words.len()].copy_from_slice(words);
        // SAFETY: the caller answers for the arguments; those added are ignored.
        unsafe {
            (self.0)(
                w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13],
                w[14], w[15],
            )
        }
    }
}
