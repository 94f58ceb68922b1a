//! The time that the program computed between its calls.
//!
//! A burst is given back as the processor time that it took, where that was
//! recorded or can be told, and the rest of its length asleep. So a replay on
//! fewer cores takes longer, as the program would, and one on the cores of the
//! recorded run takes as long as it did: there, what ranks took from each
//! other was in the length of bursts, not in their processor time.

use crate::Compute;
use std::time::{Duration, Instant};

/// Bursts that are shorter are measured by the wall clock, which is quick to
/// read, in ns.
const SHORT: i64 = 20_000;

/// What sleeping may take longer than it should, in ns.
const SLEEP_SLACK: i64 = 80_000;

/// The most that bursts are cut short for what earlier ones took too long, in
/// ns, where processor time is not known. It makes up for what re-issuing a
/// call takes, not for a core that others had.
const MOST_DEBT: i64 = 50_000;

/// How the processor time of a burst is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A counter tells it, at least of long bursts.
    Counter,
    /// No counter does: all of a burst's length.
    Length,
    /// No counter does, and the recorded run had fewer cores than ranks: as
    /// long by the wall clock, whoever has the core.
    Wall,
}

/// Computes for as long as the program did.
#[derive(Debug)]
pub(crate) struct Clock {
    compute: Compute,
    speed: f64,
    basis: Basis,
    /// When the last call ended.
    last: Instant,
    /// Time that is still to be spent, in ns: bursts so far less what they
    /// took here.
    owed: i64,
}

fn processor_time() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

impl Clock {
    pub(crate) fn new(compute: Compute, speed: f64, basis: Basis) -> Self {
        Self { compute, speed, basis, last: Instant::now(), owed: 0 }
    }

    /// A call has ended now.
    pub(crate) fn restart(&mut self) {
        self.last = Instant::now();
    }

    /// Since the last call ended, in ns.
    pub(crate) fn elapsed(&self) -> i64 {
        self.last.elapsed().as_nanos() as i64
    }

    /// Computes a burst, which began with the end of the last call; `processor`
    /// is the processor time that it took, if that is known.
    pub(crate) fn burst(&mut self, gap: u64, processor: Option<u64>) {
        let scaled = |time: u64| (time as f64 / self.speed) as i64;
        let (gap, processor) = (scaled(gap), processor.map(scaled));
        match self.compute {
            Compute::None => {}
            Compute::Sleep => self.sleep(gap),
            Compute::Busy => self.busy(gap, processor),
        }
    }

    /// Waits without a core: nothing was computed meanwhile.
    pub(crate) fn idle(&mut self, time: u64) {
        if self.compute != Compute::None {
            self.sleep((time as f64 / self.speed) as i64);
            self.restart();
        }
    }

    /// The time that is due is slept as soon as it is worth it.
    fn sleep(&mut self, gap: i64) {
        self.owed += gap;
        let due = self.owed - self.elapsed();
        if due > SLEEP_SLACK {
            std::thread::sleep(Duration::from_nanos((due - SLEEP_SLACK).unsigned_abs()));
            self.spin(self.owed);
        }
        self.owed -= self.elapsed();
    }

    fn busy(&mut self, gap: i64, processor: Option<i64>) {
        self.owed += gap;
        if gap < SHORT || self.basis == Basis::Wall {
            self.spin(self.owed);
        } else {
            // Re-issuing calls has used some of it.
            let used = self.elapsed().min(SHORT);
            let catch_up = (gap - self.owed).clamp(0, MOST_DEBT);
            burn(processor.unwrap_or(gap).min(gap) - used - catch_up);
            if processor.is_some() {
                self.rest();
            }
        }
        self.owed -= self.elapsed();
        // Otherwise a burst's length has what was spent waiting for a core, and
        // bursts that took too long here have others rest less.
        if self.basis == Basis::Length {
            self.owed = self.owed.max(-MOST_DEBT);
        }
    }

    /// Sleeps for what of the burst was not computed.
    fn rest(&self) {
        let due = self.owed - self.elapsed();
        if due > SLEEP_SLACK {
            std::thread::sleep(Duration::from_nanos((due - SLEEP_SLACK).unsigned_abs()));
        }
    }

    /// Busy until so much time has passed since the last call.
    fn spin(&self, until: i64) {
        while self.elapsed() < until {
            std::hint::spin_loop();
        }
    }
}

/// Uses so much processor time.
fn burn(time: i64) {
    let end = processor_time() + time;
    while processor_time() < end {
        for _ in 0..16 {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(compute: Compute, bursts: &[(u64, Option<u64>)]) -> (f64, f64) {
        let (begin, processor) = (Instant::now(), processor_time());
        let mut clock = Clock::new(compute, 2.0, Basis::Counter);
        for (gap, processor) in bursts {
            clock.burst(*gap, *processor);
            clock.restart();
        }
        (begin.elapsed().as_secs_f64(), (processor_time() - processor) as f64 * 1e-9)
    }

    #[test]
    fn bursts_take_their_time() {
        let near = |value: f64, wanted: f64| (0.95 * wanted..2.0 * wanted).contains(&value);
        // At twice the speed, 50 ms.
        let (wall, processor) = took(Compute::Busy, &[(20_000_000, None); 5]);
        assert!(near(processor, 0.05) && wall > 0.045, "{wall} {processor}");
        let (wall, processor) = took(Compute::Busy, &[(20_000_000, Some(4_000_000)); 5]);
        assert!(near(wall, 0.05) && processor < 0.02, "{wall} {processor}");
        let (wall, processor) = took(Compute::Sleep, &[(100_000, None); 1000]);
        assert!(near(wall, 0.05) && processor < 0.05, "{wall} {processor}");
        let (wall, _) = took(Compute::Busy, &[(1000, None); 20_000]);
        assert!(near(wall, 0.01), "{wall}");
        assert!(took(Compute::None, &[(1_000_000_000, None)]).0 < 0.1);
    }
}
