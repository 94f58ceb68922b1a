//! The constants of the binary interfaces: one row for each MPI.
//!
//! A tool that reads the arguments of MPI calls needs them; the values are
//! those of the headers of Open MPI 4, MPICH 4 and the standard's `mpi.h`.

use crate::binding::{Handle, Handles, Mpi, Source};
use std::ffi::c_int;

/// What a handle is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A communicator.
    Comm,
    /// A datatype.
    Type,
    /// A group.
    Group,
    /// An operation.
    Op,
    /// A window.
    Win,
    /// A file.
    File,
    /// An info object.
    Info,
    /// An error handler.
    Errhandler,
    /// A request.
    Request,
    /// A matched message.
    Message,
}

/// How many classes there are.
pub const N_CLASSES: usize = 10;

/// How the constructors of datatypes are called, in the order of their numbers
/// in Open MPI (from 0) and MPICH (from 1).
const COMBINERS: [&str; 19] = [
    "named",
    "dup",
    "contiguous",
    "vector",
    "hvector_integer",
    "hvector",
    "indexed",
    "hindexed_integer",
    "hindexed",
    "indexed_block",
    "struct_integer",
    "struct",
    "subarray",
    "darray",
    "f90_real",
    "f90_complex",
    "f90_integer",
    "resized",
    "hindexed_block",
];

/// The same in the standard's interface (from 101).
const COMBINERS_OF_STANDARD: [&str; 17] = [
    "named",
    "dup",
    "contiguous",
    "vector",
    "hvector",
    "indexed",
    "hindexed",
    "indexed_block",
    "hindexed_block",
    "struct",
    "subarray",
    "darray",
    "f90_integer",
    "f90_real",
    "f90_complex",
    "resized",
    "value_index",
];

/// What a datatype is called that no constructor made.
pub const NAMED: &str = COMBINERS[0];

/// MPI's own operations, in the order of MPICH's numbers.
pub const OPERATIONS: [&str; 14] = [
    "max", "min", "sum", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "minloc", "maxloc", "replace",
    "no_op",
];

/// The topology of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// None.
    None,
    /// Cartesian.
    Cart,
    /// A graph that every rank knows.
    Graph,
    /// A graph of which every rank knows its neighbours.
    DistGraph,
}

/// Where a status has its source and its tag, and how long it is, in bytes.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct StatusLayout {
    pub size: usize,
    pub source: usize,
    pub tag: usize,
}

/// `MPI_UNDEFINED`, the same in all.
pub const UNDEFINED: c_int = -32766;

/// The row of an MPI.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Abi {
    pub mpi: Mpi,
    pub handles: Handles,
    pub any_source: c_int,
    pub any_tag: c_int,
    pub proc_null: c_int,
    pub root: c_int,
    pub in_place: usize,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub status_ignore: usize,
    pub status: StatusLayout,
    pub comm_self: Handle,
    /// The null handle of each [`Class`].
    pub nulls: [Handle; N_CLASSES],
    /// In the order of [`OPERATIONS`].
    pub operations: [Handle; OPERATIONS.len()],
    pub group_empty: Handle,
    pub errors_are_fatal: Handle,
    cart: c_int,
    graph: c_int,
    dist_graph: c_int,
}

impl Abi {
    /// The row of the MPI that is found here; none if it lacks a symbol that
    /// the row needs.
    #[must_use]
    pub fn of(source: &Source) -> Option<Self> {
        let mpi = Mpi::of(source);
        let handles = Handles::of(mpi, source).ok()?;
        match mpi {
            Mpi::OpenMpi => Self::open_mpi(handles, source),
            Mpi::Mpich => Some(Self::mpich(handles)),
            Mpi::Standard => Some(Self::standard(handles)),
        }
    }

    fn open_mpi(handles: Handles, source: &Source) -> Option<Self> {
        let at = |symbol: &str| source.find(symbol).map(|address| address as Handle);
        let mut nulls = [0; N_CLASSES];
        for (class, symbol) in NULLS_OF_OPEN_MPI {
            nulls[class as usize] = at(symbol)?;
        }
        let mut operations = [0; OPERATIONS.len()];
        for (place, name) in operations.iter_mut().zip(OPERATIONS) {
            *place = at(&format!("ompi_mpi_op_{name}"))?;
        }
        Some(Self {
            mpi: Mpi::OpenMpi,
            handles,
            any_source: -1,
            any_tag: -1,
            proc_null: -2,
            root: -4,
            in_place: 1,
            status_ignore: 0,
            status: StatusLayout { size: 24, source: 0, tag: 4 },
            comm_self: at("ompi_mpi_comm_self")?,
            nulls,
            operations,
            group_empty: at("ompi_mpi_group_empty")?,
            errors_are_fatal: at("ompi_mpi_errors_are_fatal")?,
            cart: 1,
            graph: 2,
            dist_graph: 3,
        })
    }

    fn mpich(handles: Handles) -> Self {
        let mut operations = [0; OPERATIONS.len()];
        operations.iter_mut().zip(0x5800_0001..).for_each(|(place, handle)| *place = handle);
        Self {
            mpi: Mpi::Mpich,
            handles,
            any_source: -2,
            any_tag: -1,
            proc_null: -1,
            root: -3,
            in_place: usize::MAX,
            status_ignore: 1,
            status: StatusLayout { size: 20, source: 8, tag: 12 },
            comm_self: 0x4400_0001,
            nulls: [
                0x0400_0000,
                0x0c00_0000,
                0x0800_0000,
                0x1800_0000,
                0x2000_0000,
                0,
                0x1c00_0000,
                0x1400_0000,
                0x2c00_0000,
                0x2c00_0000,
            ],
            operations,
            group_empty: 0x4800_0000,
            errors_are_fatal: 0x5400_0000,
            cart: 2,
            graph: 1,
            dist_graph: 3,
        }
    }

    fn standard(handles: Handles) -> Self {
        Self {
            mpi: Mpi::Standard,
            handles,
            any_source: -1,
            any_tag: -2,
            proc_null: -3,
            root: -4,
            in_place: 1,
            status_ignore: 0,
            status: StatusLayout { size: 32, source: 0, tag: 4 },
            comm_self: 0x102,
            nulls: [0x100, 0x200, 0x108, 0x20, 0x110, 0x118, 0x130, 0x140, 0x180, 0x128],
            operations: [0x23, 0x22, 0x21, 0x24, 0x30, 0x28, 0x31, 0x29, 0x32, 0x2a, 0x38, 0x39, 0x3c, 0x3d],
            group_empty: 0x109,
            errors_are_fatal: 0x141,
            cart: 211,
            graph: 212,
            dist_graph: 213,
        }
    }

    /// Which bits of a word are the handle. MPICH's are `int`s, of which only
    /// files are pointers; the upper half of an argument's word is anything.
    #[must_use]
    pub fn mask(&self, class: Class) -> usize {
        if self.mpi == Mpi::Mpich && class != Class::File { u32::MAX as usize } else { usize::MAX }
    }

    /// Bytes of a handle in memory.
    #[must_use]
    pub fn handle_size(&self, class: Class) -> usize {
        if self.mask(class) == usize::MAX { 8 } else { 4 }
    }

    /// What a combiner of `MPI_Type_get_envelope` is called.
    #[must_use]
    pub fn combiner(&self, number: c_int) -> &'static str {
        let (names, first): (&'static [&'static str], c_int) = match self.mpi {
            Mpi::OpenMpi => (&COMBINERS, 0),
            Mpi::Mpich => (&COMBINERS, 1),
            Mpi::Standard => (&COMBINERS_OF_STANDARD, 101),
        };
        usize::try_from(number - first).ok().and_then(|at| names.get(at)).copied().unwrap_or("derived")
    }

    /// What `MPI_Topo_test` says.
    #[must_use]
    pub fn topology(&self, number: c_int) -> Topology {
        match number {
            _ if number == self.cart => Topology::Cart,
            _ if number == self.graph => Topology::Graph,
            _ if number == self.dist_graph => Topology::DistGraph,
            _ => Topology::None,
        }
    }
}

const NULLS_OF_OPEN_MPI: [(Class, &str); N_CLASSES] = [
    (Class::Comm, "ompi_mpi_comm_null"),
    (Class::Type, "ompi_mpi_datatype_null"),
    (Class::Group, "ompi_mpi_group_null"),
    (Class::Op, "ompi_mpi_op_null"),
    (Class::Win, "ompi_mpi_win_null"),
    (Class::File, "ompi_mpi_file_null"),
    (Class::Info, "ompi_mpi_info_null"),
    (Class::Errhandler, "ompi_mpi_errhandler_null"),
    (Class::Request, "ompi_request_null"),
    (Class::Message, "ompi_message_null"),
];
