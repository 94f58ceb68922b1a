//! How an MPI is found in a process, and what its binary interface is.
//!
//! Handles are pointers in Open MPI and `int`s in MPICH. Both fit into a
//! machine word and go to a function in the same register, so all are `usize`
//! here. If MPICH writes an `int`, the upper half keeps its initial zero.
//!
//! The communicator of this crate and the library that records programs both
//! bind MPI by this module. It needs `libc` alone.

use std::ffi::{CStr, CString, c_int, c_void};
use std::fmt;

/// Which MPI it is; this decides what its handles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    /// Open MPI.
    OpenMpi,
    /// MPICH, and what has its binary interface.
    Mpich,
    /// A library with the standard's own binary interface (MPI 5).
    Standard,
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
            Self::Standard => "MPI with the standard's binary interface",
        })
    }
}

impl Mpi {
    /// The MPI that a library is.
    #[must_use]
    pub fn of(source: &Source) -> Self {
        if source.find("ompi_mpi_comm_world").is_some() {
            Self::OpenMpi
        } else if source.find("MPI_Abi_get_version").is_some() && source.find("MPIR_Process").is_none() {
            // MPICH has the function too, in libraries of its own interface.
            Self::Standard
        } else {
            Self::Mpich
        }
    }

    /// `MPI_THREAD_FUNNELED`.
    #[must_use]
    pub fn thread_funneled(self) -> c_int {
        if self == Self::Standard { 1024 } else { 1 }
    }

    /// The names that the loader knows; Debian's folder where it knows none.
    #[must_use]
    pub fn libraries(self) -> &'static [&'static str] {
        match self {
            Self::OpenMpi => &["libmpi.so.40", "libmpi.so.80", OPEN_MPI_OF_DEBIAN],
            Self::Mpich => &["libmpich.so.12", "libmpi.so.12"],
            Self::Standard => &["libmpi_abi.so.0", "libmpi_abi.so.1"],
        }
    }
}

#[cfg(target_arch = "aarch64")]
const OPEN_MPI_OF_DEBIAN: &str = "/usr/lib/aarch64-linux-gnu/openmpi/lib/libmpi.so";
#[cfg(not(target_arch = "aarch64"))]
const OPEN_MPI_OF_DEBIAN: &str = "/usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so";

/// A handle of any MPI.
pub type Handle = usize;

/// Where functions are looked up.
#[derive(Debug)]
pub struct Source {
    /// For messages.
    pub name: String,
    library: *mut c_void,
}

impl Source {
    /// The address of a symbol.
    #[must_use]
    pub fn find(&self, symbol: &str) -> Option<*mut c_void> {
        let symbol = CString::new(symbol).ok()?;
        // SAFETY: the handle is RTLD_DEFAULT or came from dlopen and is never closed.
        let address = unsafe { libc::dlsym(self.library, symbol.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    /// Loads a library.
    ///
    /// # Errors
    /// What the loader said.
    pub fn open(name: &str, flags: c_int) -> Result<Self, String> {
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
    #[must_use]
    pub fn present() -> Option<Self> {
        let linked = Self { name: "the MPI of this program".into(), library: libc::RTLD_DEFAULT };
        if linked.find(EVERY_MPI_HAS).is_some() {
            return Some(linked);
        }
        // A library that was loaded for one module alone (Python, Julia) does
        // not show in the program's own symbols.
        loaded_objects().into_iter().find_map(|path| {
            let source = Self::open(&path, libc::RTLD_NOLOAD | libc::RTLD_NOW).ok()?;
            source.find(EVERY_MPI_HAS).is_some().then_some(source)
        })
    }
}

const EVERY_MPI_HAS: &str = "PMPI_Init_thread";

/// The paths of the loaded objects that are an MPI by their name.
#[must_use]
pub fn loaded_objects() -> Vec<String> {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, paths: *mut c_void) -> c_int {
        // SAFETY: the loader gives a valid record.
        let name = unsafe { (*info).dlpi_name };
        if name.is_null() {
            return 0;
        }
        // SAFETY: the loader's names end with a zero.
        let path = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        if path.rsplit('/').next().is_some_and(|file| file.starts_with("libmpi")) {
            // SAFETY: it is the vector that was given below.
            unsafe { &mut *paths.cast::<Vec<String>>() }.push(path.into_owned());
        }
        0
    }
    let mut paths: Vec<String> = Vec::new();
    // SAFETY: `add` takes the vector that goes with it.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut paths).cast()) };
    paths
}

/// Makes a struct `Calls` of MPI's functions: one line for each that is called.
/// Handles are words (see the head of the module).
#[macro_export]
macro_rules! calls {
    ($($field:ident = $symbol:literal ($($argument:ty),*);)*) => {
        /// MPI's functions.
        #[derive(Clone, Copy)]
        pub(crate) struct Calls {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> ::std::ffi::c_int,)*
        }

        impl Calls {
            /// Looks them up; the error names the first that is missing.
            fn bind(source: &$crate::binding::Source) -> Result<Self, &'static str> {
                Ok(Self { $($field: {
                    let address = source.find($symbol).ok_or($symbol)?;
                    // SAFETY: the standard gives the function this signature.
                    unsafe {
                        ::std::mem::transmute::<
                            *mut ::std::ffi::c_void,
                            unsafe extern "C" fn($($argument),*) -> ::std::ffi::c_int,
                        >(address)
                    }
                },)* })
            }
        }
    };
}

pub use calls;

/// Room for a status: 24 bytes in Open MPI, 20 in MPICH, 32 in the standard.
#[repr(C, align(16))]
#[derive(Clone, Debug, Default)]
pub struct Status([u64; 8]);

/// The handles of MPI's header that we use, whose values differ between MPIs.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Handles {
    pub world: Handle,
    pub errors_return: Handle,
    pub byte: Handle,
    /// 64 bits on every system that these libraries run on.
    pub long: Handle,
    pub sum: Handle,
    pub min: Handle,
    pub max: Handle,
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

    /// Those of the standard's interface.
    const STANDARD: Self = Self {
        world: 0x101,
        errors_return: 0x142,
        byte: 0x247,
        long: 0x20a,
        sum: 0x21,
        min: 0x22,
        max: 0x23,
    };

    /// The handles of an MPI.
    ///
    /// # Errors
    /// The symbol that Open MPI lacks: there these handles are the addresses
    /// of objects.
    pub fn of(mpi: Mpi, source: &Source) -> Result<Self, &'static str> {
        let address = |symbol| source.find(symbol).map(|address| address as Handle).ok_or(symbol);
        Ok(match mpi {
            Mpi::Mpich => Self::MPICH,
            Mpi::Standard => Self::STANDARD,
            Mpi::OpenMpi => Self {
                world: address("ompi_mpi_comm_world")?,
                errors_return: address("ompi_mpi_errors_return")?,
                byte: address("ompi_mpi_byte")?,
                long: address("ompi_mpi_long")?,
                sum: address("ompi_mpi_op_sum")?,
                min: address("ompi_mpi_op_min")?,
                max: address("ompi_mpi_op_max")?,
            },
        })
    }
}
