//! An MPI library, found and bound when the program runs.

use crate::InitError;
use crate::binding::{Handle, Handles, Mpi, Source, Status, calls};
use crate::launcher::Launcher;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

fn load(launcher: &Launcher) -> Result<Source, InitError> {
    // If either would do, Open MPI goes first, because it speaks PMIx.
    let mpis = launcher.mpi.map_or_else(|| vec![Mpi::OpenMpi, Mpi::Mpich], |mpi| vec![mpi]);
    first(launcher, mpis.into_iter().flat_map(Mpi::libraries).copied())
}

fn first<'a>(launcher: &Launcher, names: impl Iterator<Item = &'a str>) -> Result<Source, InitError> {
    let mut tried = Vec::new();
    for name in names {
        // Global, because Open MPI's components look up symbols of it.
        match Source::open(name, libc::RTLD_NOW | libc::RTLD_GLOBAL) {
            Ok(source) => return Ok(source),
            Err(reason) => tried.push(reason),
        }
    }
    Err(InitError::NoLibrary { launcher: launcher.name.into(), tried })
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
    iallreduce = "PMPI_Iallreduce"(In, Out, c_int, Handle, Handle, Handle, *mut Handle);
    ibcast = "PMPI_Ibcast"(Out, c_int, Handle, c_int, Handle, *mut Handle);
    iexscan = "PMPI_Iexscan"(In, Out, c_int, Handle, Handle, Handle, *mut Handle);
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

    /// Where its functions are.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The MPI that the process already has.
    pub(crate) fn present() -> Option<Result<Self, InitError>> {
        Source::present().map(Self::bind)
    }

    /// The launcher's MPI, or the one at `path`.
    pub(crate) fn load(launcher: &Launcher, path: Option<&Path>) -> Result<Self, InitError> {
        let source = match path.map(Path::to_string_lossy) {
            Some(path) => first(launcher, [path.as_ref()].into_iter()),
            None => load(launcher),
        };
        Self::bind(source?)
    }

    fn bind(source: Source) -> Result<Self, InitError> {
        let mpi = Mpi::of(&source);
        let missing = |symbol| InitError::NoSymbol { library: source.name.clone(), symbol };
        let handles = Handles::of(mpi, &source).map_err(missing)?;
        let calls = Calls::bind(&source).map_err(missing)?;
        Ok(Self { mpi, calls, handles, name: source.name.clone(), source })
    }
}
