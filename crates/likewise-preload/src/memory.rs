//! The memory of this library. Where the system has none left, a reserve is
//! used, so that the program goes on, and recording ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Enough for what a rank holds at most, and for writing it. Pages that are
/// never touched take no memory.
const SIZE: usize = 64 << 20;

#[repr(align(64))]
struct Reserve(UnsafeCell<[u8; SIZE]>);

// SAFETY: each byte is given out once.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve(UnsafeCell::new([0; SIZE]));
static GIVEN: AtomicUsize = AtomicUsize::new(0);
static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// How much memory is in use, and the most that ever was.
static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The most memory that this library has used at a time, in bytes.
pub(crate) fn peak() -> u64 {
    PEAK.load(Ordering::Relaxed) as u64
}

fn taken(size: usize) {
    let used = USED.fetch_add(size, Ordering::Relaxed) + size;
    if used > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(used, Ordering::Relaxed);
    }
}

fn given_back(size: usize) {
    USED.fetch_sub(size, Ordering::Relaxed);
}

/// Whether the system had no memory.
pub(crate) fn is_short() -> bool {
    IS_SHORT.load(Ordering::Relaxed)
}

struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

fn is_reserve(place: *mut u8) -> bool {
    let begin = RESERVE.0.get() as usize;
    (begin..begin + SIZE).contains(&(place as usize))
}

#[cold]
fn of_reserve(layout: Layout) -> *mut u8 {
    IS_SHORT.store(true, Ordering::Relaxed);
    // Room for any alignment that is asked for.
    let size = layout.size() + layout.align();
    let at = GIVEN.fetch_add(size, Ordering::Relaxed);
    if at + size > SIZE {
        return std::ptr::null_mut();
    }
    let begin = RESERVE.0.get().cast::<u8>().wrapping_add(at);
    begin.wrapping_add(begin.align_offset(layout.align()))
}

// SAFETY: memory is the system's, or a part of the reserve that nobody else has.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let place = unsafe { System.alloc(layout) };
        taken(layout.size());
        if place.is_null() { of_reserve(layout) } else { place }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        given_back(layout.size());
        if !is_reserve(place) {
            // SAFETY: it is the system's.
            unsafe { System.dealloc(place, layout) }
        }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_reserve(place) {
            // SAFETY: it is the system's.
            let moved = unsafe { System.realloc(place, layout, size) };
            if !moved.is_null() {
                taken(size);
                given_back(layout.size());
                return moved;
            }
        }
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return std::ptr::null_mut() };
        // SAFETY: the size is not 0, as the caller promises.
        let moved = unsafe { self.alloc(wanted) };
        if !moved.is_null() {
            // SAFETY: both have so many bytes, and they are apart.
            unsafe { std::ptr::copy_nonoverlapping(place, moved, layout.size().min(size)) };
            // SAFETY: it was given out here.
            unsafe { self.dealloc(place, layout) };
        }
        moved
    }
}
