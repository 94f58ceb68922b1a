//! What becomes of a program whose files are cut, or may not grow.

use nix::libc::{_exit, c_int};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use std::sync::atomic::{AtomicBool, Ordering};

/// From now on, a file that may not grow (`ulimit -f`) is an error of writing, and
/// one that is cut while it is read ends the program with a sentence. (The system
/// would kill it without one.) Files that were being written then stay until the
/// next run: a handler must not touch them.
///
/// A library may take these signals for itself, as those of MPI do: call it again
/// after their start.
pub fn heed_files() {
    let action = |handler| SigAction::new(handler, SaFlags::empty(), SigSet::empty());
    // SAFETY: a signal that is ignored runs no code.
    let _ = unsafe { sigaction(Signal::SIGXFSZ, &action(SigHandler::SigIgn)) };
    // SAFETY: the handler calls nothing but what a handler may.
    let _ = unsafe { sigaction(Signal::SIGBUS, &action(SigHandler::Handler(end))) };
}

extern "C" fn end(_: c_int) {
    const TEXT: &[u8] =
        b"error: a file became smaller while it was read, or its disk failed; run again when \
        nothing else writes it\n";
    // Several threads may meet the end of the file at once.
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if IS_TOLD.swap(true, Ordering::Relaxed) {
        // The thread that tells it ends the process.
        loop {
            // SAFETY: it waits, and may be called in a handler.
            unsafe { nix::libc::pause() };
        }
    }
    let _ = nix::unistd::write(std::io::stderr(), TEXT);
    // SAFETY: it ends the process, and may be called in a handler.
    unsafe { _exit(1) }
}
