//! An MPI library, found and bound when the program runs.
//!
//! Handles are pointers in Open MPI and `int`s in MPICH. Both fit into a
//! machine word and go to a function in the same register, so all are `usize`
//! here. If MPICH writes an `int`, the upper half keeps its initial zero.

use crate::InitError;
use crate::launcher::Launcher;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::path::Path;

/// Which MPI it is; this decides what its handles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    /// Open MPI.
    OpenMpi,
    /// MPICH, and what has its binary interface.
    Mpich,
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        })
    }
}

impl Mpi {
    /// The names that the loader knows; Debian's folder where it knows none.
    fn libraries(self) -> &'static [&'static str] {
        match self {
            Self::OpenMpi => &["libmpi.so.40", "libmpi.so.80", OPEN_MPI_OF_DEBIAN],
            Self::Mpich => &["libmpich.so.12", "libmpi.so.12"],
        }
    }
}

#[cfg(target_arch = "aarch64")]
const OPEN_MPI_OF_DEBIAN: &str = "/usr/lib/aarch64-linux-gnu/openmpi/lib/libmpi.so";
#[cfg(not(target_arch = "aarch64"))]
const OPEN_MPI_OF_DEBIAN: &str = "/usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so";

/// A handle of either MPI.
pub(crate) type Handle = usize;

/// Where functions are looked up.
struct Source {
    name: String,
    library: *mut c_void,
}

impl Source {
    fn find(&self, symbol: &str) -> Option<*mut c_void> {
        let symbol = CString::new(symbol).ok()?;
        // SAFETY: the handle is RTLD_DEFAULT or came from dlopen and is never closed.
        let address = unsafe { libc::dlsym(self.library, symbol.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    fn get(&self, symbol: &'static str) -> Result<*mut c_void, InitError> {
        self.find(symbol).ok_or_else(|| InitError::NoSymbol { library: self.name.clone(), symbol })
    }

    /// Loads a library, or says why it cannot be.
    fn open(name: &str, flags: c_int) -> Result<Self, String> {
        let path = CString::new(name).map_err(|_| format!("{name}: not a path"))?;
        // SAFETY: MPI's libraries ask nothing of the process that loads them.
        let library = unsafe { libc::dlopen(path.as_ptr(), flags) };
        if !library.is_null() {
            return Ok(Self { name: name.to_owned(), library });
        }
        // SAFETY: it follows a failed call of the same thread.
        let message = unsafe { libc::dlerror() };
        if message.is_null() {
            return Err(name.to_owned());
        }
        // SAFETY: dlerror gives a string that lives until the thread's next call.
        Err(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned())
    }

    /// The MPI that this process already has.
    fn present() -> Option<Self> {
        let linked = Self { name: "the MPI of this program".into(), library: libc::RTLD_DEFAULT };
        if linked.find("PMPI_Init_thread").is_some() {
            return Some(linked);
        }
        // A library that was loaded for one module alone (Python, Julia) does
        // not show in the program's own symbols.
        let names = [Mpi::OpenMpi, Mpi::Mpich].into_iter().flat_map(Mpi::libraries);
        names.filter_map(|name| Self::open(name, libc::RTLD_NOLOAD | libc::RTLD_NOW).ok()).next()
    }

    fn load(launcher: &Launcher) -> Result<Self, InitError> {
        // If either would do, Open MPI goes first, because it speaks PMIx.
        let mpis = launcher.mpi.map_or_else(|| vec![Mpi::OpenMpi, Mpi::Mpich], |mpi| vec![mpi]);
        Self::first(launcher, mpis.into_iter().flat_map(Mpi::libraries).copied())
    }

    fn first<'a>(launcher: &Launcher, names: impl Iterator<Item = &'a str>) -> Result<Self, InitError> {
        let mut tried = Vec::new();
        for name in names {
            // Global, because Open MPI's components look up symbols of it.
            match Self::open(name, libc::RTLD_NOW | libc::RTLD_GLOBAL) {
                Ok(source) => return Ok(source),
                Err(reason) => tried.push(reason),
            }
        }
        Err(InitError::NoLibrary { launcher: launcher.name.into(), tried })
    }
}

/// One line for each MPI function that is called.
macro_rules! calls {
    ($($field:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// MPI's functions.
        pub(crate) struct Calls {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Calls {
            fn bind(source: &Source) -> Result<Self, InitError> {
                Ok(Self { $($field: {
                    let address = source.get($symbol)?;
                    // SAFETY: the standard gives the function this signature, with
                    // handles as words (see the head of this file).
                    unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(
                            address,
                        )
                    }
                },)* })
            }
        }
    };
}

type In = *const c_void;
type Out = *mut c_void;

calls! {
    init_thread = "PMPI_Init_thread"(*mut c_int, *mut c_void, c_int, *mut c_int);
    initialized = "PMPI_Initialized"(*mut c_int);
    finalize = "PMPI_Finalize"();
    abort = "PMPI_Abort"(Handle, c_int);
    error_string = "PMPI_Error_string"(c_int, *mut c_char, *mut c_int);
    comm_dup = "PMPI_Comm_dup"(Handle, *mut Handle);
    comm_free = "PMPI_Comm_free"(*mut Handle);
    comm_set_errhandler = "PMPI_Comm_set_errhandler"(Handle, Handle);
    comm_rank = "PMPI_Comm_rank"(Handle, *mut c_int);
    comm_size = "PMPI_Comm_size"(Handle, *mut c_int);
    isend = "PMPI_Isend"(In, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    iprobe = "PMPI_Iprobe"(c_int, c_int, Handle, *mut c_int, *mut Status);
    get_count = "PMPI_Get_count"(*const Status, Handle, *mut c_int);
    recv = "PMPI_Recv"(Out, c_int, Handle, c_int, c_int, Handle, *mut Status);
    test = "PMPI_Test"(*mut Handle, *mut c_int, *mut Status);
    wait = "PMPI_Wait"(*mut Handle, *mut Status);
    allreduce = "PMPI_Allreduce"(In, Out, c_int, Handle, Handle, Handle);
    bcast = "PMPI_Bcast"(Out, c_int, Handle, c_int, Handle);
    exscan = "PMPI_Exscan"(In, Out, c_int, Handle, Handle, Handle);
}

/// Room for a status: 24 bytes in Open MPI, 20 in MPICH. Only MPI reads it.
#[repr(C, align(16))]
#[derive(Default)]
pub(crate) struct Status([u64; 8]);

/// The constants of MPI's header, whose values differ between the two MPIs.
pub(crate) struct Handles {
    pub(crate) world: Handle,
    pub(crate) errors_return: Handle,
    pub(crate) byte: Handle,
    /// 64 bits on every system that these libraries run on.
    pub(crate) long: Handle,
    pub(crate) sum: Handle,
    pub(crate) min: Handle,
    pub(crate) max: Handle,
}

impl Handles {
    /// The constants of MPICH's interface, the same since its version 3.
    const MPICH: Self = Self {
        world: 0x4400_0000,
        errors_return: 0x5400_0001,
        byte: 0x4c00_010d,
        long: 0x4c00_0807,
        max: 0x5800_0001,
        min: 0x5800_0002,
        sum: 0x5800_0003,
    };

    /// In Open MPI these handles are the addresses of objects.
    fn of_open_mpi(source: &Source) -> Result<Self, InitError> {
        let address = |symbol| source.get(symbol).map(|address| address as Handle);
        Ok(Self {
            world: address("ompi_mpi_comm_world")?,
            errors_return: address("ompi_mpi_errors_return")?,
            byte: address("ompi_mpi_byte")?,
            long: address("ompi_mpi_long")?,
            sum: address("ompi_mpi_op_sum")?,
            min: address("ompi_mpi_op_min")?,
            max: address("ompi_mpi_op_max")?,
        })
    }
}

/// An MPI library, bound.
pub(crate) struct Library {
    pub(crate) name: String,
    pub(crate) mpi: Mpi,
    pub(crate) calls: Calls,
    pub(crate) handles: Handles,
    source: Source,
}

impl Library {
    /// The address of a function or of an object that MPI exports.
    pub(crate) fn find(&self, symbol: &str) -> Option<*mut c_void> {
        self.source.find(symbol)
    }

    /// The MPI that the process already has.
    pub(crate) fn present() -> Option<Result<Self, InitError>> {
        Source::present().map(Self::bind)
    }

    /// The launcher's MPI, or the one at `path`.
    pub(crate) fn load(launcher: &Launcher, path: Option<&Path>) -> Result<Self, InitError> {
        let source = match path.map(Path::to_string_lossy) {
            Some(path) => Source::first(launcher, [path.as_ref()].into_iter()),
            None => Source::load(launcher),
        };
        Self::bind(source?)
    }

    fn bind(source: Source) -> Result<Self, InitError> {
        let is_open_mpi = source.find("ompi_mpi_comm_world").is_some();
        let mpi = if is_open_mpi { Mpi::OpenMpi } else { Mpi::Mpich };
        let handles = if is_open_mpi { Handles::of_open_mpi(&source)? } else { Handles::MPICH };
        Ok(Self { mpi, calls: Calls::bind(&source)?, handles, name: source.name.clone(), source })
    }
}
