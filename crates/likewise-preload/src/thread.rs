//! What each thread of the program has.

use crate::counters;
use crate::decode::Before;
use crate::path::Cache;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The state of a thread that has called MPI.
#[derive(Default)]
pub(crate) struct Thread {
    /// From 0 in the order of the first calls. One that has ended leaves its
    /// number to the next that begins.
    pub(crate) number: u32,
    /// The stack of the call that is being made, 0 if there is none. Calls from
    /// further down are MPI's own.
    pub(crate) outermost: usize,
    /// When the program went on after the last call; none before the first.
    pub(crate) resumed: Option<u64>,
    /// When the last call ended (of the thread that had the number before, if there was none
    /// yet). What lies between is our own work.
    pub(crate) ended: u64,
    pub(crate) paths: Cache,
    pub(crate) before: Before,
    /// The last call, by its symbol.
    pub(crate) last: u32,
    pub(crate) counters: counters::Thread,
    /// Whether the counters are those of this thread.
    pub(crate) has_counters: bool,
    /// Whether the burst before this call was counted.
    pub(crate) is_counted: bool,
    /// Room for statuses that the program does not want.
    pub(crate) statuses: Vec<u64>,
}

thread_local! {
    static CURRENT: Cell<*mut Thread> = const { Cell::new(null_mut()) };
}

/// The numbers of threads that have ended, and when their last calls did.
static ENDED: Mutex<Vec<(u32, u64)>> = Mutex::new(Vec::new());
static STARTED: AtomicU32 = AtomicU32::new(0);

impl Thread {
    /// That of the calling thread. Nobody else has it.
    #[inline]
    pub(crate) fn current() -> *mut Self {
        let thread = CURRENT.get();
        if thread.is_null() { Self::begin() } else { thread }
    }

    #[cold]
    #[inline(never)]
    fn begin() -> *mut Self {
        let ended = ENDED.lock().ok().and_then(|mut ended| ended.pop());
        let (number, ended) = ended.unwrap_or_else(|| (STARTED.fetch_add(1, Ordering::Relaxed), 0));
        let thread = Box::into_raw(Box::new(Self { number, ended, ..Self::default() }));
        CURRENT.set(thread);
        if let Some(key) = key() {
            // SAFETY: the key is valid; the value is what its destructor takes.
            unsafe { libc::pthread_setspecific(key, thread.cast()) };
        }
        thread
    }
}

/// The key whose destructor is called when a thread ends. (A destructor of
/// Rust's would be called before those of C++, which may call MPI.)
fn key() -> Option<libc::pthread_key_t> {
    static KEY: Mutex<Option<libc::pthread_key_t>> = Mutex::new(None);
    let mut known = KEY.lock().ok()?;
    if known.is_none() {
        let mut key = 0;
        // SAFETY: `end` takes what is set for the key.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } == 0 {
            *known = Some(key);
        }
    }
    *known
}

unsafe extern "C" fn end(thread: *mut c_void) {
    CURRENT.set(null_mut());
    // SAFETY: it came from Box::into_raw, and its thread has no more use for it.
    let thread = unsafe { Box::from_raw(thread.cast::<Thread>()) };
    if let Ok(mut ended) = ENDED.lock() {
        ended.push((thread.number, thread.ended));
    }
}
