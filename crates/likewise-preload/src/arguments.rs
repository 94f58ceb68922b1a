//! The arguments of a call, whatever its language.
//!
//! In C they are words; in Fortran all are addresses, handles are `INTEGER`s,
//! and what C says by constants are addresses of Fortran's own.

use crate::Dialect;
use crate::objects::Objects;
use crate::real::MOST_WORDS;
use likewise_mpi::abi::{Class, N_CLASSES};
use likewise_mpi::binding::{Handle, Source};
use likewise_recording::CallId;
use likewise_recording::calls::number;
use std::ffi::{c_int, c_void};

/// No list is longer: a length beyond it is the mistake of a call that fails.
const MOST: i64 = 1 << 28;

type Convert = unsafe extern "C" fn(c_int) -> Handle;

/// What Fortran says in other ways than C.
#[derive(Debug, Default)]
pub(crate) struct Fortran {
    /// `PMPI_*_f2c`, of each class; none where handles are the same as in C.
    convert: [Option<Convert>; N_CLASSES],
    /// The addresses that mean `MPI_STATUS_IGNORE`, `MPI_STATUSES_IGNORE` and
    /// `MPI_IN_PLACE`.
    status_ignore: Vec<usize>,
    statuses_ignore: Vec<usize>,
    in_place: Vec<usize>,
}

/// Symbols that are a constant: by their address (Open MPI's, MPICH's objects)
/// or by what they hold.
const STATUS_IGNORE: [(&str, bool); 4] = [
    ("mpi_fortran_status_ignore_", false),
    ("MPIR_F08_MPI_STATUS_IGNORE_OBJ", false),
    ("MPI_F_STATUS_IGNORE", true),
    ("MPI_F08_STATUS_IGNORE", true),
];
const STATUSES_IGNORE: [(&str, bool); 4] = [
    ("mpi_fortran_statuses_ignore_", false),
    ("MPIR_F08_MPI_STATUSES_IGNORE_OBJ", false),
    ("MPI_F_STATUSES_IGNORE", true),
    ("MPI_F08_STATUSES_IGNORE", true),
];
const IN_PLACE: [(&str, bool); 3] =
    [("mpi_fortran_in_place_", false), ("MPIR_F08_MPI_IN_PLACE", false), ("MPIR_F_MPI_IN_PLACE", true)];

impl Fortran {
    /// What the loaded MPI has. Only once MPI has begun do all symbols hold
    /// what they should.
    pub(crate) fn of(source: &Source) -> Self {
        let names =
            ["Comm", "Type", "Group", "Op", "Win", "File", "Info", "Errhandler", "Request", "Message"];
        let convert = names.map(|name| {
            let address = source.find(&format!("PMPI_{name}_f2c"))?;
            // SAFETY: the standard gives the function this signature, with handles as words.
            Some(unsafe { std::mem::transmute::<*mut c_void, Convert>(address) })
        });
        let addresses = |symbols: &[(&str, bool)]| {
            let one = |(symbol, holds): &(&str, bool)| {
                let address = source.find(symbol).or_else(|| crate::real::in_loaded(symbol))? as *const usize;
                // SAFETY: symbols of that kind hold an address.
                Some(if *holds { unsafe { address.read() } } else { address as usize })
            };
            symbols.iter().filter_map(one).filter(|address| *address != 0).collect()
        };
        Self {
            convert,
            status_ignore: addresses(&STATUS_IGNORE),
            statuses_ignore: addresses(&STATUSES_IGNORE),
            in_place: addresses(&IN_PLACE),
        }
    }
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    pub(crate) call: CallId,
    pub(crate) dialect: Dialect,
    pub(crate) words: &'a [usize; MOST_WORDS],
    pub(crate) fortran: &'a Fortran,
}

/// Arguments of C's that Fortran leaves out, at the front.
fn left_out(call: CallId) -> usize {
    let all = call == number::Init || call == number::Init_thread || call == number::Info_create_env;
    if all { 2 } else { 0 }
}

/// Where the word of an argument is.
pub(crate) fn place(call: CallId, dialect: Dialect, argument: usize) -> Option<usize> {
    match dialect {
        Dialect::C => Some(argument),
        _ => argument.checked_sub(left_out(call)),
    }
}

/// Whether C takes the request by value.
fn by_value(call: CallId) -> bool {
    [
        number::Request_get_status,
        number::Grequest_complete,
        number::Pready,
        number::Pready_list,
        number::Pready_range,
        number::Parrived,
    ]
    .contains(&call)
}

impl Arguments<'_> {
    pub(crate) fn is_fortran(&self) -> bool {
        self.dialect != Dialect::C
    }

    /// The word of an argument.
    pub(crate) fn word(&self, argument: usize) -> usize {
        place(self.call, self.dialect, argument).map_or(0, |at| self.words[at])
    }

    /// The place of Fortran's error code.
    pub(crate) fn error_place(call: CallId) -> usize {
        call.roles().len() - left_out(call)
    }

    /// An `int` at an address; 0 where there is none.
    pub(crate) fn int_at(address: usize, index: usize) -> i32 {
        if address == 0 {
            return 0;
        }
        // SAFETY: the program gives the address of as many ints, as the call demands.
        unsafe { (address as *const i32).wrapping_add(index).read_unaligned() }
    }

    /// 64 bits at an address; 0 where there is none.
    pub(crate) fn long_at(address: usize, index: usize) -> i64 {
        if address == 0 {
            return 0;
        }
        // SAFETY: the program gives the address of as many words, as the call demands.
        unsafe { (address as *const i64).wrapping_add(index).read_unaligned() }
    }

    pub(crate) fn int(&self, argument: usize) -> i32 {
        let word = self.word(argument);
        if self.is_fortran() { Self::int_at(word, 0) } else { word as i32 }
    }

    pub(crate) fn long(&self, argument: usize) -> i64 {
        let word = self.word(argument);
        match self.dialect {
            Dialect::C => word as i64,
            // Its stride was an INTEGER before there were address kinds.
            _ if self.call == number::Type_hvector => i64::from(Self::int_at(word, 0)),
            _ => Self::long_at(word, 0),
        }
    }

    /// How long a list is that an `int` argument counts.
    pub(crate) fn length(&self, argument: usize) -> usize {
        bounded(i64::from(self.int(argument)))
    }

    /// A handle as C has it.
    fn convert(&self, class: Class, handle: c_int) -> Handle {
        match self.fortran.convert[class as usize] {
            // SAFETY: it may be called with any number.
            Some(convert) => unsafe { convert(handle) },
            None => handle as u32 as usize,
        }
    }

    /// A handle by value.
    pub(crate) fn handle(&self, objects: &Objects, class: Class, argument: usize) -> Handle {
        let word = self.word(argument);
        let by_address = class == Class::Request && !by_value(self.call);
        if self.is_fortran() || by_address {
            return self.handle_at(objects, class, word, 0);
        }
        word & objects.abi.mask(class)
    }

    /// A handle in memory.
    pub(crate) fn handle_at(&self, objects: &Objects, class: Class, address: usize, index: usize) -> Handle {
        if address == 0 {
            objects.abi.nulls[class as usize]
        } else if self.is_fortran() {
            self.convert(class, Self::int_at(address, index))
        } else if objects.abi.handle_size(class) == 4 {
            Self::int_at(address, index) as u32 as usize
        } else {
            Self::long_at(address, index) as usize
        }
    }

    /// A string: of Fortran without the blanks at its end.
    pub(crate) fn text(&self, argument: usize) -> String {
        let address = self.word(argument);
        if address == 0 {
            return String::new();
        }
        if self.is_fortran() {
            // The lengths of strings follow the error code.
            let length = self.words[Self::error_place(self.call) + 1].min(1 << 16);
            // SAFETY: the program's string has that length.
            let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, length) };
            return String::from_utf8_lossy(bytes).trim_end_matches(' ').to_owned();
        }
        // SAFETY: the program's string ends with a zero.
        let text = unsafe { std::ffi::CStr::from_ptr(address as *const std::ffi::c_char) };
        text.to_string_lossy().into_owned()
    }

    /// Whether an argument is `MPI_STATUS_IGNORE`, or for several
    /// `MPI_STATUSES_IGNORE`.
    pub(crate) fn ignores(&self, objects: &Objects, argument: usize, several: bool) -> bool {
        let word = self.word(argument);
        if !self.is_fortran() {
            return word == objects.abi.status_ignore;
        }
        let known = if several { &self.fortran.statuses_ignore } else { &self.fortran.status_ignore };
        word == 0 || known.contains(&word)
    }

    /// Whether a buffer is `MPI_IN_PLACE`.
    pub(crate) fn is_in_place(&self, objects: &Objects, argument: usize) -> bool {
        let word = self.word(argument);
        if self.is_fortran() { self.fortran.in_place.contains(&word) } else { word == objects.abi.in_place }
    }

    /// Whether the call succeeded.
    pub(crate) fn succeeded(&self, result: usize) -> bool {
        if self.call == number::Pcontrol {
            // The one call that gives Fortran no error.
            true
        } else if self.is_fortran() {
            Self::int_at(self.words[Self::error_place(self.call)], 0) == 0
        } else {
            result as i32 == 0
        }
    }
}

/// A length that is one.
pub(crate) fn bounded(length: i64) -> usize {
    if (0..=MOST).contains(&length) { length as usize } else { 0 }
}
