//! What becomes of a program for which there is no memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator. Where it has no memory left, the program ends with
/// one sentence that says how much was asked for, and without the files that
/// it was writing. (Rust would abort, which removes nothing.)
#[derive(Debug)]
pub struct Allocator;

// SAFETY: it is `System`, but for allocations that fail, which do not return.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Memory that is given back is kept for so many threads apart, and no more. By default there are
/// eight such keepers for each core, and what one has, threads of another do not get: after a few
/// stages that is as much as the bursts take. Nobody is overruled who has set `MALLOC_ARENA_MAX`.
/// To be called before threads start.
pub fn keep_memory_for(threads: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if std::env::var_os("MALLOC_ARENA_MAX").is_none() {
        let most = i32::try_from(threads).unwrap_or(i32::MAX);
        // SAFETY: it sets a number, of which the allocator is told.
        unsafe { nix::libc::mallopt(nix::libc::M_ARENA_MAX, most) };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = threads;
}

/// Gives the system back what memory was freed. The allocator does so by itself only at the end
/// of what it has, and keeps what lies between: after large stages that may be a quarter.
pub fn give_memory_back() {
    // SAFETY: it takes a number, and touches only what is free.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        nix::libc::malloc_trim(0);
    }
}

fn or_end(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() {
        end(size);
    }
    block
}

/// Ends the program: without allocations before the message, and with small
/// ones at most after it.
#[cold]
fn end(size: usize) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    thread_local! { static HERE: Cell<bool> = const { Cell::new(false) } }
    if HERE.get() {
        // Not even a small one is to be had.
        std::process::abort();
    }
    HERE.set(true);
    if ENDING.swap(true, Ordering::SeqCst) {
        // Another thread is at it.
        std::thread::sleep(std::time::Duration::from_secs(10));
        std::process::abort();
    }
    let mut text = [0u8; 256];
    let mut rest = &mut text[..];
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let _ = write!(rest, "error: there is no memory for {size} bytes more ({} MiB)", mib(size as u64));
    if let Some(used) = in_use() {
        let _ = write!(rest, " beside the {} MiB in use", mib(used));
    }
    let _ =
        writeln!(rest, ": give the program more, or less to do; what this process was writing is removed");
    let left = rest.len();
    let written = text.len() - left;
    let _ = std::io::stderr().write_all(&text[..written]);
    crate::try_remove_unfinished();
    std::process::exit(1);
}

/// Bytes of memory that the process holds, read without an allocation; nothing
/// where the system does not tell.
fn in_use() -> Option<u64> {
    let mut status = [0u8; 4096];
    let length = File::open("/proc/self/status").ok()?.read(&mut status).ok()?;
    let mut lines = status[..length].split(|&byte| byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(b"VmRSS:"))?;
    let kib: u64 = str::from_utf8(line).ok()?.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
