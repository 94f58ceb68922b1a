//! The functions behind the stubs, and how they are called.

use crate::Dialect;
use likewise_mpi::binding::Source;
use likewise_recording::CallId;
use likewise_recording::calls::N_CALLS;
use std::ffi::CString;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Words that a Fortran routine may get beside those of C: the error code and
/// the lengths of up to three strings.
const MORE_IN_FORTRAN: usize = 4;

/// The most words that a call takes, those of Fortran included.
pub(crate) const MOST_WORDS: usize = 20;

/// `MPI_ERR_OTHER` of most.
const ERROR: usize = 16;

static FOUND: [AtomicUsize; 3 * N_CALLS] = [const { AtomicUsize::new(0) }; 3 * N_CALLS];

/// The address of the MPI's own function.
#[inline]
pub(crate) fn find(call: CallId, dialect: Dialect) -> usize {
    let place = &FOUND[dialect as usize * N_CALLS + usize::from(call.0)];
    match place.load(Ordering::Relaxed) {
        0 => {
            let address = look_up(call, dialect);
            place.store(address, Ordering::Relaxed);
            address
        }
        address => address,
    }
}

/// Notes the MPI's own function, unless there was one before.
pub(crate) fn know(call: CallId, dialect: Dialect, address: usize) {
    let place = &FOUND[dialect as usize * N_CALLS + usize::from(call.0)];
    // One that is noted already stays.
    let _ = place.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed);
}

#[cold]
#[inline(never)]
fn look_up(call: CallId, dialect: Dialect) -> usize {
    let name = match dialect {
        Dialect::C => format!("P{}", call.name()),
        // The next definition of the same name: `PMPI` of MPICH's Fortran 2008
        // is called otherwise, and other tools may be loaded behind this one.
        Dialect::Fortran => format!("{}_", call.name().to_lowercase()),
        Dialect::Fortran2008 => format!("{}_f08_", call.name().to_lowercase()),
    };
    let symbol = CString::new(name.clone()).unwrap_or_default();
    // SAFETY: the name ends with a zero.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, symbol.as_ptr()) };
    let found = if next.is_null() {
        // The default scope has our own Fortran stubs.
        let elsewhere = Source::present().filter(|_| dialect == Dialect::C);
        elsewhere.and_then(|source| source.find(&name)).or_else(|| in_loaded(&name))
    } else {
        Some(next)
    };
    found.map_or(fails as *const () as usize, |address| address as usize)
}

/// The symbol in one of the loaded objects whose name begins as MPI's do, for
/// programs that load theirs for one module alone.
pub(crate) fn in_loaded(name: &str) -> Option<*mut std::ffi::c_void> {
    likewise_mpi::binding::loaded_objects().into_iter().find_map(|path| {
        let source = Source::open(&path, libc::RTLD_NOLOAD | libc::RTLD_LAZY).ok()?;
        source.find(name)
    })
}

/// What is called in a program without MPI.
extern "C" fn fails() -> usize {
    ERROR
}

/// How many words a call takes in a dialect.
pub(crate) fn n_words(call: CallId, dialect: Dialect) -> usize {
    call.roles().len() + if dialect == Dialect::C { 0 } else { MORE_IN_FORTRAN }
}

macro_rules! by_words {
    ($address:expr, $words:expr; $($at:literal)*) => {{
        macro_rules! word { ($at2:literal) => { usize } }
        // SAFETY: a function of MPI takes words alone, and does not mind more of them.
        let function = unsafe {
            std::mem::transmute::<usize, unsafe extern "C-unwind" fn($(word!($at)),*) -> usize>($address)
        };
        // SAFETY: these are the words that the program gave.
        unsafe { function($($words[$at]),*) }
    }};
}

/// Calls a function with the first words of these. Too many do no harm: they
/// are the caller's to remove.
#[inline]
pub(crate) fn forward(address: usize, n_words: usize, words: &[usize; MOST_WORDS]) -> usize {
    match n_words {
        0..=6 => by_words!(address, words; 0 1 2 3 4 5),
        7..=12 => by_words!(address, words; 0 1 2 3 4 5 6 7 8 9 10 11),
        _ => by_words!(address, words; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19),
    }
}
