//! Every function of MPI, called by name with words for arguments: for who
//! re-issues calls that a table describes.
//!
//! No argument of these functions is a floating-point number, so that each
//! goes into a register, or a place on the stack, that holds one word.

use crate::abi::{Abi, Class, OPERATIONS};
use crate::binding::{Handle, Mpi};
use crate::library::Library;
use std::ffi::{c_int, c_void};

/// As many arguments as any function has, and more.
const MOST: usize = 16;

#[rustfmt::skip]
type Any = unsafe extern "C" fn(
    usize, usize, usize, usize, usize, usize, usize, usize,
    usize, usize, usize, usize, usize, usize, usize, usize,
) -> c_int;

/// A function of MPI.
#[derive(Clone, Copy, Debug)]
pub struct Function(Any);

/// Values of MPI's header that only who re-issues calls needs, beside those of
/// [`Abi`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
struct More {
    int: Handle,
    lock_exclusive: c_int,
    lock_shared: c_int,
    error_truncate: c_int,
    tag_ub: c_int,
}

impl More {
    fn of(library: &Library) -> Option<Self> {
        Some(match library.mpi {
            Mpi::OpenMpi => Self {
                int: library.find("ompi_mpi_int")? as Handle,
                lock_exclusive: 1,
                lock_shared: 2,
                error_truncate: 15,
                tag_ub: 0,
            },
            Mpi::Mpich => Self {
                int: 0x4c00_0405,
                lock_exclusive: 234,
                lock_shared: 235,
                error_truncate: 14,
                tag_ub: 0x6440_0001,
            },
            Mpi::Standard => {
                Self { int: 0x209, lock_exclusive: 301, lock_shared: 302, error_truncate: 15, tag_ub: 501 }
            }
        })
    }
}

/// Values of MPI's header, which differ between MPIs. What is not a number is
/// a handle, as a word.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Constants {
    pub comm_world: Handle,
    pub comm_self: Handle,
    pub group_empty: Handle,
    pub info_null: Handle,
    pub request_null: Handle,
    pub errors_return: Handle,
    pub byte: Handle,
    pub int: Handle,
    pub long: Handle,
    pub bor: Handle,
    pub no_op: Handle,
    pub status_ignore: usize,
    pub any_tag: c_int,
    pub any_source: c_int,
    pub proc_null: c_int,
    pub root: c_int,
    pub lock_exclusive: c_int,
    pub lock_shared: c_int,
    /// The class of the error that a message is longer than its receive.
    pub error_truncate: c_int,
    /// The attribute that says which tag is the greatest.
    pub tag_ub: c_int,
    /// Bytes of a request or a datatype in an array.
    pub handle_bytes: usize,
}

impl Constants {
    /// `None` if the library lacks an object that every one of its kind has.
    fn of(library: &Library) -> Option<Self> {
        let (abi, more) = (Abi::of(library.source())?, More::of(library)?);
        let operation = |name| Some(abi.operations[OPERATIONS.iter().position(|known| *known == name)?]);
        Some(Self {
            comm_world: abi.handles.world,
            comm_self: abi.comm_self,
            group_empty: abi.group_empty,
            info_null: abi.nulls[Class::Info as usize],
            request_null: abi.nulls[Class::Request as usize],
            errors_return: abi.handles.errors_return,
            byte: abi.handles.byte,
            int: more.int,
            long: abi.handles.long,
            bor: operation("bor")?,
            no_op: operation("no_op")?,
            status_ignore: abi.status_ignore,
            any_tag: abi.any_tag,
            any_source: abi.any_source,
            proc_null: abi.proc_null,
            root: abi.root,
            lock_exclusive: more.lock_exclusive,
            lock_shared: more.lock_shared,
            error_truncate: more.error_truncate,
            tag_ub: more.tag_ub,
            handle_bytes: abi.handle_size(Class::Request),
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
        Constants::of(self.library)
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
