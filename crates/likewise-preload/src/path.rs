//! Call paths, by a cache that is verified at every use.
//!
//! An entry is known by where the call returns to and by where its frame is
//! (CFA). It lists, for each frame of the path, the place of the stack that
//! holds its return address, and what it held when the stack was unwound. If
//! all still hold the same, the path is the same: where a frame's own frame
//! lies follows from its return address alone, save for frames that are found
//! by `rbp`, whose saved value is therefore checked too. So a hit takes a few
//! comparisons and no unwinding. What is not proven: frames whose CFA is a
//! DWARF expression of other registers; `LIKEWISE_VERIFY` unwinds at every call
//! and counts what was wrong.

use std::ffi::{c_int, c_void};

/// Paths are cut after this many frames, the innermost first.
const MOST_FRAMES: usize = 64;
/// Buckets of the cache.
const BUCKETS: usize = 1 << 10;
/// When the cache has this many entries it is emptied.
const MOST_ENTRIES: usize = 1 << 14;
/// The register that frames may be found by, in DWARF's numbers.
const RBP: c_int = 6;
/// What stops the unwinder.
const END: c_int = 5;

const NONE: u32 = u32::MAX;

unsafe extern "C" {
    fn _Unwind_Backtrace(step: extern "C" fn(*mut c_void, *mut c_void) -> c_int, data: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}

/// Where a call comes from: what the stub found in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Where the call returns to.
    pub(crate) returns_to: usize,
    /// The stack before the call.
    pub(crate) cfa: usize,
    /// The caller's `rbp`.
    pub(crate) rbp: usize,
    /// Which call it is: one place may call several by a pointer.
    pub(crate) call: u32,
}

/// A path that is known, and where the stack must hold what.
#[derive(Debug)]
struct Entry {
    site: Site,
    /// Whether the caller's `rbp` matters.
    needs_rbp: bool,
    symbol: u32,
    next: u32,
    first: u32,
    end: u32,
}

/// The return addresses of a stack, the innermost first.
#[derive(Debug)]
pub(crate) struct Stack {
    frames: [Unwound; MOST_FRAMES + MOST_OWN],
    n: usize,
}

/// Frames of ours between the unwinder and the program.
const MOST_OWN: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Unwound {
    pc: usize,
    cfa: usize,
    rbp: usize,
}

/// The call paths of a thread.
#[derive(Debug)]
pub(crate) struct Cache {
    buckets: Box<[u32; BUCKETS]>,
    entries: Vec<Entry>,
    /// Address, and what it must hold.
    slots: Vec<(usize, usize)>,
    /// Which loading of objects the entries are of.
    generation: u64,
}

impl Default for Cache {
    fn default() -> Self {
        Self { buckets: Box::new([NONE; BUCKETS]), entries: Vec::new(), slots: Vec::new(), generation: 0 }
    }
}

fn bucket(site: &Site) -> usize {
    let mixed = (site.returns_to ^ site.cfa.rotate_left(20)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed >> (64 - BUCKETS.trailing_zeros())
}

#[inline]
fn holds(slot: (usize, usize)) -> bool {
    // SAFETY: it is a place of this thread's stack, further out than the caller's frame.
    unsafe { (slot.0 as *const usize).read() == slot.1 }
}

impl Cache {
    /// The symbol of the path to a site, if the path is known.
    #[inline]
    pub(crate) fn find(&mut self, site: &Site, generation: u64) -> Option<u32> {
        if self.generation != generation {
            self.clear();
            self.generation = generation;
        }
        let bucket = bucket(site);
        let (mut at, mut before) = (self.buckets[bucket], NONE);
        while let Some(entry) = self.entries.get(at as usize) {
            let slots = &self.slots[entry.first as usize..entry.end as usize];
            let same = entry.site.returns_to == site.returns_to
                && entry.site.cfa == site.cfa
                && entry.site.call == site.call
                && (!entry.needs_rbp || entry.site.rbp == site.rbp);
            if same && slots.iter().all(|slot| holds(*slot)) {
                let symbol = entry.symbol;
                self.move_to_front(bucket, at, before);
                return Some(symbol);
            }
            (before, at) = (at, entry.next);
        }
        None
    }

    #[inline]
    fn move_to_front(&mut self, bucket: usize, at: u32, before: u32) {
        if before != NONE {
            self.entries[before as usize].next = self.entries[at as usize].next;
            self.entries[at as usize].next = self.buckets[bucket];
            self.buckets[bucket] = at;
        }
    }

    fn clear(&mut self) {
        self.buckets.fill(NONE);
        self.entries.clear();
        self.slots.clear();
    }

    /// Keeps the symbol of a path: that of the first `kept` frames of the
    /// program on the stack. The frame after them is checked too, because it
    /// is what ends the path.
    pub(crate) fn keep(&mut self, site: &Site, stack: &Stack, kept: usize, symbol: u32) {
        if self.entries.len() >= MOST_ENTRIES {
            self.clear();
        }
        let first = self.slots.len() as u32;
        let frames = stack.of_program(site);
        let Some(needs_rbp) = pin(site, &frames[..frames.len().min(kept + 1)], &mut self.slots) else {
            self.slots.truncate(first as usize);
            return;
        };
        let bucket = bucket(site);
        let next = self.buckets[bucket];
        self.buckets[bucket] = self.entries.len() as u32;
        let end = self.slots.len() as u32;
        self.entries.push(Entry { site: *site, needs_rbp, symbol, next, first, end });
    }
}

/// Lists what the stack must hold for these frames to be the path; says whether
/// the caller's `rbp` matters. None if a return address is not where it should
/// be (then the path cannot be verified).
fn pin(site: &Site, frames: &[Unwound], slots: &mut Vec<(usize, usize)>) -> Option<bool> {
    for frame in frames.get(1..)? {
        let slot = (frame.cfa - 8, frame.pc);
        if !holds(slot) {
            return None;
        }
        slots.push(slot);
    }
    let mut needs_rbp = false;
    for at in 0..frames.len().saturating_sub(1) {
        let rbp = frames[at].rbp;
        // The frame may be found by rbp: it is 16 below the frame's own CFA.
        if rbp.wrapping_add(16) != frames[at + 1].cfa {
            continue;
        }
        let saved_by = frames[..at].iter().rposition(|frame| frame.rbp != rbp);
        match saved_by {
            None if rbp == site.rbp => needs_rbp = true,
            // Some frame between has saved it on the stack.
            saver => {
                let saver = saver.unwrap_or(0);
                let low = if saver == 0 { site.cfa } else { frames[saver].cfa };
                let high = frames[saver + 1].cfa - 16;
                let place = (low..=high).rev().step_by(8).find(|place| holds((*place, rbp)))?;
                slots.push((place, rbp));
            }
        }
    }
    Some(needs_rbp)
}

impl Stack {
    /// Unwinds the stack of this thread.
    #[inline(never)]
    pub(crate) fn unwind() -> Self {
        let mut stack = Self { frames: [Unwound::default(); MOST_FRAMES + MOST_OWN], n: 0 };
        // SAFETY: `step` takes the stack that goes with it.
        unsafe { _Unwind_Backtrace(step, (&raw mut stack).cast()) };
        stack
    }

    /// The frames from the caller of the stub on; the caller's own alone if the
    /// stack cannot be unwound.
    fn of_program(&self, site: &Site) -> Vec<Unwound> {
        let all = &self.frames[..self.n];
        // A frame's CFA as the unwinder has it is that of the frame it called.
        match all.iter().position(|frame| frame.pc == site.returns_to && frame.cfa == site.cfa) {
            Some(first) => all[first..].iter().take(MOST_FRAMES).copied().collect(),
            None => vec![Unwound { pc: site.returns_to, cfa: site.cfa, rbp: site.rbp }],
        }
    }

    /// The return addresses of the program.
    pub(crate) fn addresses(&self, site: &Site) -> Vec<usize> {
        self.of_program(site).iter().map(|frame| frame.pc).collect()
    }

    /// Whether frames further out may be missing.
    pub(crate) fn is_cut(addresses: &[usize]) -> bool {
        addresses.len() == MOST_FRAMES
    }
}

extern "C" fn step(context: *mut c_void, stack: *mut c_void) -> c_int {
    // SAFETY: it is the stack that was given to the unwinder.
    let stack = unsafe { &mut *stack.cast::<Stack>() };
    // SAFETY: the unwinder gives a valid context.
    let pc = unsafe { _Unwind_GetIP(context) };
    if pc == 0 || stack.n == stack.frames.len() {
        return END;
    }
    // SAFETY: as above.
    let cfa = unsafe { _Unwind_GetCFA(context) };
    // SAFETY: as above; rbp is saved or kept by every function.
    let rbp = unsafe { _Unwind_GetGR(context, RBP) };
    stack.frames[stack.n] = Unwound { pc, cfa, rbp };
    stack.n += 1;
    0
}
