//! When recording begins and ends, and what is written meanwhile.

use crate::counters::Plan;
use crate::job::{Job, LogOf};
use crate::link::World;
use crate::modes::Modes;
use crate::raw::RawLog;
use crate::settings::{self, Options, options};
use crate::state::{self, State, Then, lock};
use crate::watch::Watch;
use crate::{clock, job, online};
use likewise_recording::{Cpus, Mode, RankMeta, Recorder, RecorderOptions, Times};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Once, OnceLock};

/// What was asked for and cannot be had.
static MISSING: OnceLock<Vec<String>> = OnceLock::new();
/// The number of this rank; −1 until MPI has begun.
static RANK: AtomicI32 = AtomicI32::new(-1);
static OFF: AtomicU32 = AtomicU32::new(0);
/// What the page that [`ON`] leads to holds while we record,
const RECORDING: u32 = 1;
/// and once recording has ended before the program did.
const STOPPED: u32 = 2;
/// [`OFF`], or a page. A child that is forked finds 0 in it: the kernel wipes
/// the page.
static ON: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

/// Whether we record.
#[inline]
pub(crate) fn is_on() -> bool {
    let on = ON.load(Ordering::Acquire);
    if on.is_null() {
        return start();
    }
    // SAFETY: it is OFF, or the page, which is never unmapped.
    unsafe { &*on }.load(Ordering::Relaxed) == RECORDING
}

/// Whether recording has ended on this rank alone.
pub(crate) fn is_stopped() -> bool {
    // SAFETY: as above; `is_on` has found one.
    unsafe { &*ON.load(Ordering::Acquire) }.load(Ordering::Relaxed) == STOPPED
}

/// From now on no call is recorded.
fn set(what: u32) {
    let on = ON.load(Ordering::Acquire);
    // SAFETY: it is OFF, or the page, which is never unmapped.
    if !on.is_null() && unsafe { &*on }.load(Ordering::Relaxed) != 0 {
        // SAFETY: it is not OFF, so it is the page, which may be written.
        unsafe { &*on }.store(what, Ordering::Relaxed);
    }
}

/// Recording ends on this rank, and the program goes on. If MPI has begun, the
/// rank still takes part in what all do in the end.
pub(crate) fn stop(why: &str) {
    set(if RANK.load(Ordering::Relaxed) < 0 { 0 } else { STOPPED });
    online::leave();
    say(why);
}

/// One line for the job, by the first rank.
fn say(why: &str) {
    static SAID: Once = Once::new();
    if RANK.load(Ordering::Relaxed) <= 0 {
        SAID.call_once(|| eprintln!("likewise: not recorded: {why}"));
    }
}

/// The first call of MPI: whether to record.
#[cold]
fn start() -> bool {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let page = std::panic::catch_unwind(begin_recording).ok().flatten();
        ON.store(page.unwrap_or((&raw const OFF).cast_mut()), Ordering::Release);
    });
    is_on()
}

fn begin_recording() -> Option<*mut AtomicU32> {
    let folder = PathBuf::from(std::env::var_os("LIKEWISE_DIR").filter(|folder| !folder.is_empty())?);
    // Panics of ours are caught, and are not for the user of the program.
    std::panic::set_hook(Box::new(|_| {}));
    let (modes, mut wrong) = Modes::read();
    let samples = modes.mode == Mode::Strata;
    let watch =
        (modes.mode != Mode::Full).then(|| Watch::new(modes.marker.clone(), modes.parameters, samples));
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
    let options = Options {
        folder,
        verify: is_set("LIKEWISE_VERIFY"),
        raw: is_set("LIKEWISE_RAW"),
        all_times: std::env::var_os("LIKEWISE_TIMES").is_some_and(|times| times == "all"),
        modes: Some(modes),
    };
    let times = if options.all_times { Times::All } else { Times::Histogram };
    let (plan, missing) = Plan::new(std::env::var("LIKEWISE_COUNTERS").ok().as_deref());
    let recorder = Recorder::new(&RecorderOptions { times, counters: plan.names.clone() });
    wrong.extend(missing.into_iter().map(|name| format!("{name}, which this machine does not count")));
    let _ = MISSING.set(wrong);
    let raw = options.raw.then(RawLog::default);
    clock::start();
    settings::set(options, plan);
    *lock() = Some(State::new(recorder, raw, watch));
    page()
}

/// A page that holds 1 here, and 0 in every process that is forked from here.
fn page() -> Option<*mut AtomicU32> {
    const SIZE: usize = 4096;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: it maps new memory.
    let page = unsafe { libc::mmap(null_mut(), SIZE, access, kind, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the page is ours. Linux before 4.14 cannot do it, and we do not record there.
    if unsafe { libc::madvise(page, SIZE, libc::MADV_WIPEONFORK) } != 0 {
        return None;
    }
    let page = page.cast::<AtomicU32>();
    // SAFETY: the page is ours, and zero.
    unsafe { &*page }.store(RECORDING, Ordering::Relaxed);
    Some(page)
}

/// MPI has begun: the ranks agree on a number for their files.
pub(crate) fn begin() {
    let mut state = lock();
    let Some(state) = state.as_mut() else { return };
    state.forget_fortran();
    let Some(ranks) = state.objects().and_then(|objects| World::of(objects)) else { return };
    let folder = &options().folder;
    let claimed = if ranks.rank == 0 { Some(job::claim(folder)) } else { None };
    let number = match &claimed {
        Some(Ok(number)) => i64::from(*number),
        _ => -1,
    };
    let Ok(number) = u32::try_from(ranks.agree(number)) else {
        set(0);
        if let Some(Err(error)) = claimed {
            say(&format!("{}: {error}", folder.display()));
        }
        return;
    };
    RANK.store(ranks.rank as i32, Ordering::Relaxed);
    if let Some(missing) = MISSING.get().filter(|missing| !missing.is_empty()) {
        say(&missing.join("; "));
    }
    let node = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let meta = RankMeta {
        rank: ranks.rank,
        size: ranks.size,
        start: clock::begun_since_1970(),
        node: node.trim().to_owned(),
        cpus: cpus(),
        ..RankMeta::default()
    };
    if let Some(raw) = &mut state.raw {
        raw.open(folder, number, ranks.rank);
    }
    let online = options().modes.as_ref().filter(|_| state.watch.is_some());
    if online.is_some_and(|online| online::begin(online, &ranks).is_none()) {
        say("MPI_Comm_dup failed, so all ranks record all");
        state.watch = None;
    }
    state.job = Some(Job::new(folder, number, meta, clock::begun()));
}

/// On which CPUs this thread may run.
fn cpus() -> Cpus {
    // Room for 8,192; of more, nothing is known.
    let mut set = [0_u64; 128];
    // SAFETY: the kernel writes no more bytes than it is told.
    let answer = unsafe { libc::sched_getaffinity(0, size_of_val(&set), set.as_mut_ptr().cast()) };
    if answer != 0 {
        return Cpus::default();
    }
    let is_in = |cpu: &u32| set[*cpu as usize / 64] >> (cpu % 64) & 1 == 1;
    let all = || (0..64 * set.len() as u32).filter(is_in);
    Cpus { first: all().next().unwrap_or(0), last: all().next_back().unwrap_or(0), n: all().count() as u32 }
}

/// Does what is to be done after a call, if it is no matter of the other ranks.
#[cold]
pub(crate) fn on(then: Then) {
    match then {
        Then::Stop => stop("no memory left"),
        Then::Write => {
            if let Some(state) = lock().as_mut() {
                write(state, clock::ticks());
            }
        }
        _ => {}
    }
}

#[cold]
#[inline(never)]
fn write(state: &mut State, now: u64) {
    let Some(job) = &mut state.job else { return };
    // SAFETY: it gives the address of this thread's.
    let errno_at = unsafe { libc::__errno_location() };
    // SAFETY: it is valid as long as the thread lives.
    let errno = unsafe { errno_at.read() };
    match job.look(&mut state.recorder) {
        Ok(false) => {}
        Ok(true) => {
            state.forget_last();
            if let Some(watch) = &mut state.watch {
                watch.taken();
            }
        }
        // What follows would take more memory.
        Err(_) => {
            set(STOPPED);
            online::leave();
        }
    }
    if let Some(job) = state.job.as_mut().filter(|job| job.is_due(now)) {
        if let Some(raw) = &mut state.raw {
            raw.flush();
        }
        // A failure may pass (a disk that is full for a while); the end will tell.
        let _ = job.copy(&mut state.recorder);
    }
    // SAFETY: as above.
    unsafe { errno_at.write(errno) };
}

/// Waits for all ranks at the beginning of `MPI_Finalize`, so that this wait is
/// recorded as part of it.
pub(crate) fn wait_for_all() {
    if online::wait_for_all() {
        return;
    }
    let ranks =
        lock().as_mut().filter(|state| state.job.is_some()).and_then(|state| World::of(state.objects()?));
    if let Some(ranks) = ranks {
        ranks.wait_for_all();
    }
}

/// The program ends MPI: by `MPI_Finalize`, where the ranks put together what
/// they have, or by `MPI_Abort`.
pub(crate) fn end(is_finalize: bool) {
    let is_whole = !is_stopped();
    set(0);
    let mut guard = lock();
    let Some(state) = guard.as_mut() else { return };
    if let Some(raw) = &mut state.raw {
        raw.flush();
    }
    if options().verify {
        let (checked, wrong) = (state::CHECKED.load(Ordering::Relaxed), state::WRONG.load(Ordering::Relaxed));
        let rank = RANK.load(Ordering::Relaxed);
        eprintln!("likewise: rank {rank}: of {checked} call paths {wrong} were wrong");
    }
    if !is_finalize {
        if let Some(job) = &mut state.job {
            let _ = job.copy(&mut state.recorder);
        }
        return;
    }
    drop(guard);
    let finished = online::finish(is_whole).unwrap_or_else(|| end_full(is_whole));
    if let Err(why) = finished {
        say(&why);
    }
}

/// The end of a full recording.
fn end_full(is_whole: bool) -> Result<(), String> {
    let mut state = lock();
    let Some(state) = state.as_mut() else { return Ok(()) };
    let Some(job) = state.job.take() else { return Ok(()) };
    let ranks = state.objects().and_then(|objects| World::of(objects)).and_then(World::duplicated);
    let Some(ranks) = ranks else { return Err("MPI_Comm_dup failed".to_owned()) };
    let accounts = options().modes.as_ref().is_some_and(|online| online.accounts);
    let log: Option<&LogOf<World>> = if accounts { Some(&online::full_log) } else { None };
    let finished = job.finish(&mut state.recorder, &ranks, is_whole, log);
    ranks.free();
    finished
}

/// The process exits. If MPI was not ended, what is recorded is written for
/// those who read what such a run has left.
extern "C" fn exit() {
    let on = ON.load(Ordering::Acquire);
    // SAFETY: it is OFF, or the page, which is never unmapped.
    if on.is_null() || unsafe { &*on }.load(Ordering::Relaxed) == 0 {
        // Also in a child that was forked.
        return;
    }
    let written = std::panic::catch_unwind(|| {
        // Another thread may be recording, and may not end.
        let Some(mut state) = state::try_lock() else { return };
        if let Some(State { job: Some(job), recorder, raw, .. }) = state.as_mut() {
            raw.iter_mut().for_each(RawLog::flush);
            let _ = job.copy(recorder);
        }
    });
    drop(written);
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = exit;
