//! Simulated ranks send what ranks send.

#[path = "../../examples/scale/check.rs"]
mod check;
#[path = "../../examples/scale/network.rs"]
#[allow(dead_code, reason = "times are for the example")]
mod network;
#[path = "../../examples/scale/replay.rs"]
mod replay;
#[path = "../../examples/scale/simulate.rs"]
#[allow(dead_code, reason = "times are for the example")]
mod simulate;

use likewise::synth::effort::effort_trace;
use simulate::Case;

#[test]
fn simulated_messages_are_those_of_threads() {
    for (ranks, up_to) in [(16, false), (100, true), (129, false), (200, true)] {
        let make = |rank, seed| effort_trace(rank, 64, seed);
        let phases = check::compare(&Case { figure: 5, ranks, up_to, make, seed: 3 });
        assert!(phases.iter().any(|phase| phase.phase == "gather" && phase.bytes > 0));
        for phase in phases {
            // No phase has more than a few collective functions.
            let bound = 60 * ranks as u64 * u64::from(ranks.next_power_of_two().trailing_zeros());
            assert!(phase.messages <= bound, "{}: {}", phase.phase, phase.messages);
            assert!(phase.thread_work >= 0.0 && phase.replayed_work >= 0.0);
        }
    }
}
