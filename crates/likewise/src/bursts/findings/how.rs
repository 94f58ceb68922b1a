//! By which of clock and IPC bursts are slower for the same instructions.

use super::finding::{How, LEAST_APART};
use super::shape::SLOPE;
use crate::bursts::rates::instructions_and_cycles;
use crate::table::{BurstTable, Values};

/// With fewer cycles per time than this share of the others', it may also be that a thread is not on
/// a core all the time.
const ON_CORE: f64 = 0.5;

/// The instructions of bursts.
pub(super) fn instructions(table: &BurstTable) -> Option<&Values> {
    instructions_and_cycles(&table.counters)[0].map(|counter| &table.counters[counter].values)
}

/// The counters that tell: instructions and cycles.
pub(super) fn counters(table: &BurstTable) -> Option<[&Values; 2]> {
    let [Some(instructions), Some(cycles)] = instructions_and_cycles(&table.counters) else { return None };
    Some([&table.counters[instructions].values, &table.counters[cycles].values])
}

/// What bursts count in all.
#[derive(Clone, Copy, Default)]
pub(super) struct Work {
    time: f64,
    instructions: f64,
    cycles: f64,
}

impl Work {
    /// Bursts without both counters do not count.
    pub(super) fn add(&mut self, counters: [&Values; 2], burst: u32, time: f64) {
        let [instructions, cycles] = counters.map(|values| values.get(burst as usize));
        if instructions > 0.0 && cycles > 0.0 {
            self.time += time;
            self.instructions += instructions;
            self.cycles += cycles;
        }
    }

    /// Why these take longer than others for the same instructions: most of ln(time per instruction)
    /// is ln(time per cycle) or ln(cycles per instruction).
    pub(super) fn against(&self, others: &Self) -> How {
        let by_clock = (self.time / self.cycles).ln() - (others.time / others.cycles).ln();
        let by_ipc = (self.cycles / self.instructions).ln() - (others.cycles / others.instructions).ln();
        let whole = by_clock + by_ipc;
        match () {
            () if !whole.is_finite() || whole <= LEAST_APART => How::Unknown,
            () if by_clock >= (1.0 - SLOPE) * whole && by_clock >= -ON_CORE.ln() => How::OffCore,
            () if by_clock >= (1.0 - SLOPE) * whole => How::Clock,
            () if by_ipc >= (1.0 - SLOPE) * whole => How::Ipc,
            () => How::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_and_ipc_are_told_apart_by_the_cycles() {
        let others = Work { time: 100.0, instructions: 1_000.0, cycles: 200.0 };
        let how =
            |time: f64, instructions: f64, cycles: f64| Work { time, instructions, cycles }.against(&others);
        assert_eq!(how(150.0, 1_000.0, 200.0), How::Clock);
        assert_eq!(how(150.0, 1_000.0, 300.0), How::Ipc);
        assert_eq!(how(150.0, 1_000.0, 250.0), How::Unknown, "both");
        assert_eq!(how(240.0, 1_000.0, 200.0), How::OffCore);
        assert_eq!(how(150.0, 1_500.0, 300.0), How::Unknown, "more work");
        assert_eq!(how(150.0, 1_000.0, 0.0), How::Unknown);
    }
}
