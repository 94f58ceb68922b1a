//! The clock that every event is timed with: the processor's counter where
//! the kernel itself trusts it, which takes a few ns, else `CLOCK_MONOTONIC`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// ns per tick, in 2^32nds; 0 until [`start`] was called.
static SCALE: AtomicU64 = AtomicU64::new(0);
/// A tick is a nanosecond.
const NANOSECONDS: u64 = 1 << 32;

/// When the clock was started: ticks and ns.
static START: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
/// When it had been: ticks, and ns since 1970.
static BEGUN: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for a time.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// So often two clocks are read one after the other: where the process has to wait in between,
/// for a core, the clocks of ranks would be apart by that.
const TRIES: usize = 16;

/// Ticks, and what another clock shows at that moment: of several tries, the one in which
/// they were read nearest to one another.
fn both(ticks: impl Fn() -> u64, id: libc::clockid_t) -> (u64, u64) {
    let tried = (0..TRIES).map(|_| {
        let (before, shown, after) = (ticks(), clock(id), ticks());
        let took = after.saturating_sub(before);
        (took, (before + took / 2, shown))
    });
    tried.min_by_key(|&(took, _)| took).map_or((0, 0), |(_, both)| both)
}

/// The tick at which the clock was started.
pub(crate) fn begun() -> u64 {
    BEGUN[0].load(Relaxed)
}

/// The same in ns since 1970.
pub(crate) fn begun_since_1970() -> u64 {
    BEGUN[1].load(Relaxed)
}

/// CPU time of this thread, in ns.
pub(crate) fn of_thread() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[cfg(target_arch = "x86_64")]
fn counter() -> u64 {
    // SAFETY: every x86-64 has it, and no Linux forbids it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Whether the kernel measures its own time with the processor's counter: then
/// it is steady and the same on all cores.
fn counter_is_steady() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(target_arch = "x86_64") && std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc")
}

/// Starts the clock. Call it once, before any other.
pub(crate) fn start() {
    let steady = counter_is_steady();
    SCALE.store(if steady { 0 } else { NANOSECONDS }, Relaxed);
    let (tick, ns) = both(counter, libc::CLOCK_MONOTONIC);
    START[0].store(tick, Relaxed);
    START[1].store(ns, Relaxed);
    if steady {
        std::thread::sleep(std::time::Duration::from_micros(200));
        measure();
    }
    let (begun, since_1970) = both(ticks, libc::CLOCK_REALTIME);
    BEGUN[0].store(begun, Relaxed);
    BEGUN[1].store(since_1970, Relaxed);
}

/// Measures the counter again: the longer since the start, the better.
pub(crate) fn measure() {
    if SCALE.load(Relaxed) == NANOSECONDS {
        return;
    }
    let (ticks, ns) = both(counter, libc::CLOCK_MONOTONIC);
    let (ticks, ns) = (ticks.wrapping_sub(START[0].load(Relaxed)), ns - START[1].load(Relaxed));
    let scale = (u128::from(ns) << 32) / u128::from(ticks.max(1));
    SCALE.store((scale as u64).max(1), Relaxed);
}

/// Ticks of the clock.
#[inline]
pub(crate) fn ticks() -> u64 {
    if SCALE.load(Relaxed) == NANOSECONDS { clock(libc::CLOCK_MONOTONIC) } else { counter() }
}

/// ns from one moment to a later one; 0 where it is not later. What follows one another adds up
/// to the whole, to the nanosecond: nothing is rounded twice.
#[inline]
pub(crate) fn ns(from: u64, to: u64) -> u64 {
    let (scale, begun) = (i128::from(SCALE.load(Relaxed)), i128::from(begun()));
    let since_begun = |tick: u64| ((i128::from(tick) - begun) * scale) >> 32;
    (since_begun(to) - since_begun(from)).max(0) as u64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Starts the clock, once for all tests of the program.
    pub(crate) fn started() {
        static STARTED: std::sync::Once = std::sync::Once::new();
        STARTED.call_once(start);
    }

    #[test]
    fn the_clock_goes_as_that_of_the_kernel() {
        started();
        let (before, first) = (clock(libc::CLOCK_MONOTONIC), ticks());
        std::thread::sleep(std::time::Duration::from_millis(50));
        measure();
        let (after, last) = (clock(libc::CLOCK_MONOTONIC), ticks());
        let (theirs, ours) = ((after - before) as f64, ns(first, last) as f64);
        assert!((ours / theirs - 1.0).abs() < 0.01, "{ours} ns, and {theirs}");
        assert_eq!(ns(5, 3), 0);
        // In however many steps.
        let ticks = (0..1000_u64).map(|i| first + i * i * 7);
        let steps: Vec<u64> = ticks.collect();
        let sum: u64 = steps.windows(2).map(|two| ns(two[0], two[1])).sum();
        assert_eq!(sum, ns(steps[0], steps[999]));
    }

    #[test]
    fn a_wait_between_two_clocks_does_not_count() {
        // Every second reading is kept waiting, as by other processes on the same core.
        let n = std::cell::Cell::new(0);
        let ticks = || {
            n.set(n.get() + 1);
            if n.get() % 4 == 2 {
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
            clock(libc::CLOCK_MONOTONIC)
        };
        let (ticks, shown) = both(ticks, libc::CLOCK_MONOTONIC);
        assert!(ticks.abs_diff(shown) < 1_000_000, "{}", ticks.abs_diff(shown));
    }
}
