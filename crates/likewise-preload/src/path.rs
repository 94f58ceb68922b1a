//! Call paths: from a call to `main`, in 20 ns where a full unwinding takes
//! thousands.
//!
//! A cache knows, for a return address and the stack's height there, which
//! words of the stack hold the return addresses of the frames above. If they
//! still hold what they did, the path is the same one. A frame whose place is
//! found by rbp also pins the word (or register) that rbp was restored from.
//! Else the stack is unwound, once for each path. This is proven for all frames
//! but those whose place is an expression in DWARF; `LIKEWISE_VERIFY=1` unwinds
//! at every call, and says how often the cache was wrong.

use crate::modules::{Module, loaded};
use likewise_recording::{Frame, Recorder};
use std::ffi::{c_int, c_void};

/// The frames of a path that are kept, the innermost first.
const MOST_FRAMES: usize = 64;

/// Paths of a rank; of those that come later only the innermost frame counts.
const MOST_PATHS: usize = 1 << 16;

const SLOTS: usize = 4096;
const WAYS: usize = 64;

/// rbp in DWARF's numbers.
const RBP: c_int = 6;

unsafe extern "C" {
    fn _Unwind_Backtrace(each: extern "C" fn(*mut c_void, *mut c_void) -> c_int, data: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}

/// Where a wrapper was called from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// Which thread: another's stack must not be looked at.
    pub(crate) thread: u32,
    pub(crate) return_address: usize,
    /// The stack pointer before the call (the canonical frame address).
    pub(crate) cfa: usize,
    pub(crate) rbp: usize,
}

struct Entry {
    thread: u32,
    return_address: usize,
    cfa: usize,
    rbp: Option<usize>,
    /// Places on the stack, and what they must hold.
    words: Box<[(usize, usize)]>,
    path: u32,
}

impl Entry {
    #[inline]
    fn holds(&self, caller: &Caller) -> bool {
        self.return_address == caller.return_address
            && self.cfa == caller.cfa
            && self.thread == caller.thread
            && self.rbp.is_none_or(|rbp| rbp == caller.rbp)
            && self.words.iter().all(|(place, word)| {
                // SAFETY: the places lie above the caller's frame, on the stack
                // of the same thread, which is still there.
                unsafe { *(*place as *const usize) == *word }
            })
    }
}

/// The call paths of a rank.
pub(crate) struct Paths {
    /// Each with its number in the recorder, once it has one.
    modules: Vec<(Module, Option<u32>)>,
    cache: Vec<Vec<Entry>>,
    n_paths: usize,
    verify: bool,
    /// Paths that the cache knew, and those of them that were wrong.
    checked: (u64, u64),
}

/// What unwinding finds, frame by frame.
struct Frames {
    /// Where each frame goes on.
    pc: [usize; MOST_FRAMES + 16],
    /// The stack pointer there.
    cfa: [usize; MOST_FRAMES + 16],
    rbp: [usize; MOST_FRAMES + 16],
    n: usize,
}

extern "C" fn each(context: *mut c_void, frames: *mut c_void) -> c_int {
    const STOP: c_int = 5;
    // SAFETY: it is what was given to the unwinder.
    let frames = unsafe { &mut *frames.cast::<Frames>() };
    // SAFETY: the context is the unwinder's.
    let pc = unsafe { _Unwind_GetIP(context) };
    if pc == 0 || frames.n == frames.pc.len() {
        return STOP;
    }
    frames.pc[frames.n] = pc;
    // SAFETY: as above.
    frames.cfa[frames.n] = unsafe { _Unwind_GetCFA(context) };
    // SAFETY: as above.
    frames.rbp[frames.n] = unsafe { _Unwind_GetGR(context, RBP) };
    frames.n += 1;
    0
}

fn unwind() -> Box<Frames> {
    const N: usize = MOST_FRAMES + 16;
    let mut frames = Box::new(Frames { pc: [0; N], cfa: [0; N], rbp: [0; N], n: 0 });
    // SAFETY: `each` takes what goes with it.
    unsafe { _Unwind_Backtrace(each, (&raw mut *frames).cast()) };
    frames
}

impl Paths {
    pub(crate) fn new(verify: bool) -> Self {
        let cache = (0..SLOTS).map(|_| Vec::new()).collect();
        Self { modules: Vec::new(), cache, n_paths: 0, verify, checked: (0, 0) }
    }

    /// The call path of a caller.
    #[inline]
    pub(crate) fn capture(&mut self, caller: &Caller, recorder: &mut Recorder) -> u32 {
        let mixed = caller.return_address ^ caller.cfa.rotate_left(20) ^ (caller.thread as usize) << 40;
        let slot = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52 & (SLOTS - 1);
        let entries = &mut self.cache[slot];
        let Some(at) = entries.iter().position(|entry| entry.holds(caller)) else {
            return self.miss(caller, slot, recorder);
        };
        let path = entries[at].path;
        if at > 0 {
            // What is asked for often moves to the front.
            entries.swap(at, at - 1);
        }
        if self.verify {
            self.check(caller, path, recorder);
        }
        path
    }

    #[cold]
    fn check(&mut self, caller: &Caller, path: u32, recorder: &mut Recorder) {
        let frames = unwind();
        let own = own_frames(&frames, caller);
        self.checked.0 += 1;
        self.checked.1 += u64::from(self.intern(&frames.pc[own..frames.n], recorder) != path);
    }

    /// With `LIKEWISE_VERIFY`: how many paths the cache gave, and how many of
    /// them were wrong.
    pub(crate) fn checked(&self) -> Option<(u64, u64)> {
        self.verify.then_some(self.checked)
    }

    #[cold]
    fn miss(&mut self, caller: &Caller, slot: usize, recorder: &mut Recorder) -> u32 {
        let frames = unwind();
        let own = own_frames(&frames, caller);
        if own == frames.n {
            // The unwinder did not come through.
            return self.intern(&[caller.return_address], recorder);
        }
        let (words, rbp) = pinned(&frames, own, caller);
        let path = self.intern(&frames.pc[own..frames.n], recorder);
        let entries = &mut self.cache[slot];
        if entries.len() >= WAYS {
            entries.pop();
        }
        let Caller { thread, return_address, cfa, .. } = *caller;
        let words = words.into_boxed_slice();
        entries.insert(0, Entry { thread, return_address, cfa, rbp, words, path });
        path
    }

    fn intern(&mut self, pcs: &[usize], recorder: &mut Recorder) -> u32 {
        let pcs = &pcs[..pcs.len().min(MOST_FRAMES)];
        let mut frames: Vec<(usize, Frame)> = Vec::new();
        for pc in pcs {
            let Some(at) = self.module(*pc) else { break };
            let (module, number) = &mut self.modules[at];
            let number = *number.get_or_insert_with(|| recorder.module(&module.build_id, &module.file));
            frames.push((at, Frame { module: number, offset: (*pc - module.base) as u64 }));
        }
        self.leave_out_start(&mut frames);
        let mut frames: Vec<Frame> = frames.into_iter().map(|(_, frame)| frame).collect();
        if self.n_paths >= MOST_PATHS {
            frames.truncate(1);
        }
        self.n_paths += 1;
        recorder.path(&frames)
    }

    /// Leaves out what called `main`, or began the thread.
    fn leave_out_start(&self, frames: &mut Vec<(usize, Frame)>) {
        let libc =
            |frame: Option<&(usize, Frame)>| frame.is_some_and(|(at, _)| self.modules[*at].0.is_libc());
        let n = frames.len();
        if n >= 3 && !libc(frames.last()) && libc(frames.get(n - 2)) {
            frames.pop();
        }
        while frames.len() > 1 && libc(frames.last()) {
            frames.pop();
        }
    }

    /// The module that an address lies in. Modules may have been loaded since
    /// the last time.
    fn module(&mut self, pc: usize) -> Option<usize> {
        let find = |modules: &[(Module, Option<u32>)]| {
            modules.iter().position(|(module, _)| module.code.contains(&pc))
        };
        find(&self.modules).or_else(|| {
            self.modules = loaded().into_iter().map(|module| (module, None)).collect();
            find(&self.modules)
        })
    }
}

/// How many frames are those of this library.
fn own_frames(frames: &Frames, caller: &Caller) -> usize {
    let found = frames.pc[..frames.n].iter().position(|pc| *pc == caller.return_address);
    found.unwrap_or(frames.n)
}

/// The words of the stack that must stay for the path to stay, and rbp where a
/// frame is found by it.
fn pinned(frames: &Frames, own: usize, caller: &Caller) -> (Vec<(usize, usize)>, Option<usize>) {
    let word = |place: usize| {
        // SAFETY: the unwinder has just come through these frames.
        unsafe { *(place as *const usize) }
    };
    let Frames { pc, cfa, rbp, n } = frames;
    let mut words = Vec::new();
    let mut register = None;
    for frame in own + 1..*n {
        let place = cfa[frame] - 8;
        if word(place) == pc[frame] {
            words.push((place, pc[frame]));
        }
    }
    for frame in own..n.saturating_sub(1) {
        if rbp[frame].wrapping_add(16) != cfa[frame + 1] {
            continue;
        }
        if (own..=frame).all(|below| rbp[below] == caller.rbp) {
            register = Some(caller.rbp);
            continue;
        }
        // It was saved by the first frame below that has another.
        let saver = (own..frame).rev().find(|below| rbp[*below] != rbp[frame]);
        let Some(saver) = saver else { continue };
        let from = if saver == own { caller.cfa } else { cfa[saver] };
        let below = |place: &usize| Some(*place - 8).filter(|place| *place >= from);
        let top = Some(cfa[saver + 1].saturating_sub(16)).filter(|top| *top >= from);
        if let Some(place) = std::iter::successors(top, below).find(|place| word(*place) == rbp[frame]) {
            words.push((place, rbp[frame]));
        }
    }
    (words, register)
}
