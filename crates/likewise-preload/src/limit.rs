//! A limit of the size of files (`ulimit -f`): a process that writes more gets
//! a signal, which ends it.

use std::mem::zeroed;
use std::ptr::null_mut;

/// Writes what is ours: where the limit is reached, that fails, and the program
/// goes on.
pub(crate) fn spared<T>(write: impl FnOnce() -> T) -> T {
    // SAFETY: a set of signals is plain memory; it is emptied below.
    let mut ours: libc::sigset_t = unsafe { zeroed() };
    let mut before = ours;
    // SAFETY: the set is ours.
    unsafe { libc::sigemptyset(&raw mut ours) };
    // SAFETY: the set is ours, and the signal exists.
    unsafe { libc::sigaddset(&raw mut ours, libc::SIGXFSZ) };
    // SAFETY: both sets are ours. The signal comes to the thread that writes.
    let held = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const ours, &raw mut before) } == 0;
    let result = write();
    // SAFETY: the set was filled above.
    if held && unsafe { libc::sigismember(&raw const before, libc::SIGXFSZ) } == 0 {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: all are ours. It takes the signal, if there is one, and does not wait.
        unsafe { libc::sigtimedwait(&raw const ours, null_mut(), &raw const now) };
        // SAFETY: the set was filled above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut()) };
    }
    result
}
