//! What happens in a call: the time, the MPI's own function, the time again,
//! and the record.

use crate::arguments::Arguments;
use crate::attach::attach;
use crate::completion::{own_status, read_before};
use crate::life;
use crate::path::Site;
use crate::plan::{Plan, plan};
use crate::real::{self, MOST_WORDS};
use crate::settings::counters;
use crate::state::{self, Made, Then, lock};
use crate::stubs::DIALECT;
use crate::thread::Thread;
use crate::{Dialect, clock, online};
use likewise_recording::CallId;
use likewise_recording::calls::number;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Words of a stub's frame before the stack's arguments: six registers, the
/// caller's `rbp`, and where the call returns to.
const REGISTERS: usize = 6;
const RBP: usize = 6;
const RETURNS_TO: usize = 7;
const STACK: usize = 8;

/// Makes the call whose arguments are in a stub's frame.
///
/// Exceptions of the program may pass (from error handlers and callbacks); a
/// panic of ours does not.
pub(crate) unsafe extern "C-unwind" fn handle(frame: *const usize, stub: u32) -> usize {
    let call = CallId(stub as u16);
    let dialect = match stub / DIALECT {
        0 => Dialect::C,
        1 => Dialect::Fortran,
        _ => Dialect::Fortran2008,
    };
    let n_words = real::n_words(call, dialect);
    let mut words = [0; MOST_WORDS];
    // SAFETY: the stub's frame begins with the registers.
    words[..REGISTERS].copy_from_slice(unsafe { std::slice::from_raw_parts(frame, REGISTERS) });
    if n_words > REGISTERS {
        let rest = n_words.min(MOST_WORDS) - REGISTERS;
        // SAFETY: the caller's part of the stack follows; it has the arguments, and goes on beyond them.
        let stack = unsafe { std::slice::from_raw_parts(frame.wrapping_add(STACK), rest) };
        words[REGISTERS..][..rest].copy_from_slice(stack);
    }
    let address = real::find(call, dialect);
    if !life::is_on() {
        if call == number::Finalize && life::is_stopped() {
            // The other ranks wait for what this one has.
            guarded(life::wait_for_all);
            guarded(|| life::end(true));
        }
        return real::forward(address, n_words, &words);
    }
    // SAFETY: the word is in the stub's frame.
    let rbp = unsafe { frame.wrapping_add(RBP).read() };
    // SAFETY: the word is in the stub's frame.
    let returns_to = unsafe { frame.wrapping_add(RETURNS_TO).read() };
    let site = Site { returns_to, cfa: frame.wrapping_add(STACK) as usize, rbp, call: stub };
    recorded(call, dialect, site, address, n_words, &mut words)
}

fn recorded(
    call: CallId,
    dialect: Dialect,
    site: Site,
    address: usize,
    n_words: usize,
    words: &mut [usize; MOST_WORDS],
) -> usize {
    // SAFETY: it is this thread's own, and calls within this one return below.
    let thread = unsafe { &mut *Thread::current() };
    // Calls from further down the stack are made by MPI itself, or by us. (One
    // from further up means that the last call never returned: an exception or
    // a long jump has left it.)
    if thread.outermost != 0 && site.cfa < thread.outermost {
        return real::forward(address, n_words, words);
    }
    let begin = clock::ticks();
    thread.outermost = site.cfa;
    thread.is_counted = thread.has_counters && thread.counters.end(counters());
    let plan = plan(call);
    let mut no_error = 0_i32;
    if dialect == Dialect::Fortran2008 {
        let error = &mut words[Arguments::error_place(call)];
        if *error == 0 {
            // Optional there; we want to know.
            *error = &raw mut no_error as usize;
        }
    }
    if plan.before || plan.status.is_some() {
        guarded(|| before(call, dialect, plan, words, thread));
    }
    if call == number::Finalize || call == number::Abort {
        let is_finalize = call == number::Finalize;
        if is_finalize {
            guarded(life::wait_for_all);
        }
        guarded(|| {
            let made = Made { call, dialect, words, plan, result: 0, begin, end: clock::ticks(), site };
            let _ = state::record(thread, &made);
        });
        guarded(|| life::end(is_finalize));
        thread.outermost = 0;
        return real::forward(address, n_words, words);
    }
    let begins = call == number::Init || call == number::Init_thread;
    if begins {
        // The MPI may have been loaded since the process started.
        guarded(attach);
    }
    let result = real::forward(address, n_words, words);
    let end = clock::ticks();
    if begins {
        // At its start the clock was measured in a moment, and this may take long.
        clock::measure();
    }
    guarded(|| {
        let made = Made { call, dialect, words, plan, result, begin, end, site };
        let then = state::record(thread, &made);
        if then != Then::Nothing {
            life::on(then);
            online::on(then);
            state::resume(thread);
        }
        if begins {
            life::begin();
            state::resume(thread);
        }
    });
    thread.outermost = 0;
    result
}

/// Reads what the call will overwrite, and gives it a status if it has none
/// that we need.
#[inline(never)]
fn before(call: CallId, dialect: Dialect, plan: &Plan, words: &mut [usize; MOST_WORDS], thread: &mut Thread) {
    let mut state = lock();
    let Some((objects, fortran)) = state.as_mut().and_then(|state| state.bound(dialect)) else { return };
    let arguments = Arguments { call, dialect, words, fortran };
    if plan.before {
        read_before(objects, &arguments, &mut thread.before);
    }
    let own = own_status(objects, &arguments, plan, &mut thread.statuses);
    if let Some((place, address)) = own {
        words[place] = address;
    }
}

/// Runs what is ours alone: if it panics, recording ends and the program goes on.
#[inline]
fn guarded(ours: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(ours)).is_err() {
        life::stop("a mistake in likewise's library");
    }
}
