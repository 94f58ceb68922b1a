//! Programs with known phases come to the states that they should.

#[path = "../../examples/common/programs.rs"]
mod programs;

use likewise_comm::{CommError, Communicator, run_on_threads};
use likewise_recording::State;
use programs::{Expected, Outcome, Program, run};

fn check(program: Program, outcome: &Outcome, size: usize) {
    let name = format!("{} on {size} ranks", program.name());
    let states = [State::AllTracing, State::Clustering, State::Lead].map(|state| outcome.markers(state));
    let groups = outcome.clusterings.last().map(Vec::len);
    assert_eq!(Expected { states, groups }, program.expected(size), "{name}");
    assert_eq!(outcome.clusterings.len(), states[1], "{name}: one clustering per marker in C");
    let irregular = matches!(program, Program::Alternating | Program::Never);
    assert!(irregular || 10 * states[2] > 7 * outcome.states.len(), "{name}: {states:?}");
    for groups in &outcome.clusterings {
        let mut ranks: Vec<u32> = groups.iter().flat_map(|group| group.ranks.iter()).collect();
        ranks.sort_unstable();
        assert_eq!(ranks, (0..size as u32).collect::<Vec<_>>(), "{name}: each rank is in one group");
        assert!(groups.iter().all(|group| group.ranks.contains(group.lead)), "{name}");
        assert_eq!(groups[0].lead, 0, "{name}");
    }
}

fn all_programs(size: usize) {
    let ranks = run_on_threads::<_, CommError, _>(size, |comm| {
        let outcomes =
            Program::ALL.into_iter().map(|program| run(comm, program)).collect::<Result<Vec<_>, _>>()?;
        if comm.rank() == 0 {
            Program::ALL
                .into_iter()
                .zip(&outcomes)
                .for_each(|(program, outcome)| check(program, outcome, size));
        }
        // All that a rank knows, as a number: 1,024 times the same groups take
        // memory.
        Ok(format!("{outcomes:?}").bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(31) + u64::from(byte)))
    });
    let ranks = ranks.unwrap();
    assert!(ranks.iter().all(|outcomes| *outcomes == ranks[0]), "all ranks know the same");
}

#[test]
fn four_ranks() {
    all_programs(4);
}

#[test]
fn eight_ranks() {
    all_programs(8);
}

#[test]
fn sixteen_ranks() {
    all_programs(16);
}

#[test]
fn a_thousand_ranks() {
    all_programs(1024);
}
