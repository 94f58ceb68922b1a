//! Recording by leads: what is kept is what every rank did, and the state
//! tables are those of programs whose phases are known.

use crate::life::expect_as_logged;
use crate::programs::{Mpi, Run, build, expect_success, fresh};
use likewise_recording::{Log, Recording, State};
use std::path::{Path, PathBuf};
use std::process::Output;

const STEPS: u64 = 60;

struct Built {
    mpi: Mpi,
    folder: PathBuf,
    program: PathBuf,
}

impl Built {
    fn new(name: &str, mpi: Mpi) -> Option<Self> {
        let folder = fresh(name, mpi);
        let program = build("l_phases.c", mpi, &folder)?;
        Some(Self { mpi, folder, program })
    }

    /// Runs a kind with these variables; its recording is in `KIND/recording`.
    fn run(&self, kind: &str, n_ranks: u32, variables: &[&str]) -> Option<(Output, PathBuf)> {
        let folder = self.folder.join(format!("{kind}-{n_ranks}{}", variables.concat()));
        std::fs::create_dir_all(&folder).expect("the folder of a run");
        let steps = STEPS.to_string();
        let mut words = vec!["env", "LIKEWISE_RAW=1", "LIKEWISE_MODE=leads"];
        words.extend(variables);
        words.extend([text(&self.program), kind, &steps]);
        let output = Run { mpi: self.mpi, n_ranks, command: &words, before: None }.record(&folder)?;
        Some((output, folder.join("recording")))
    }

    fn recorded(&self, kind: &str, n_ranks: u32, variables: &[&str]) -> Option<(Recording, PathBuf)> {
        let (output, folder) = self.run(kind, n_ranks, variables)?;
        expect_success(&output, kind);
        Some((Recording::open(&folder).expect("a recording"), folder))
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

fn states(log: &Log) -> [u64; 4] {
    [State::AllTracing, State::Clustering, State::Lead, State::Final].map(|state| log.markers(state))
}

/// Fails unless every rank's events are those of its raw log.
fn expect_all_as_logged(recording: &Recording, folder: &Path, what: &str) {
    for rank in 0..recording.size() {
        expect_as_logged(recording, folder, rank, what);
    }
}

#[test]
fn one_clustering_for_each_phase_and_every_event_of_every_rank() {
    for mpi in Mpi::ALL {
        let Some(built) = Built::new("leads", mpi) else { return };
        let sizes: &[u32] = if mpi == Mpi::Open { &[4, 8] } else { &[4] };
        for n_ranks in sizes {
            for (kind, expected, groups) in [
                ("one", [2, 1, 57, 1], 1),
                ("two", [3, 2, 55, 1], 1),
                ("branch", [2, 1, 57, 1], 2),
                ("master", [2, 1, 57, 1], 2),
            ] {
                let Some((recording, folder)) =
                    built.recorded(kind, *n_ranks, &["LIKEWISE_K=1", "LIKEWISE_EVERY=1"])
                else {
                    return;
                };
                let log = recording.log().expect("what happened on line");
                assert_eq!(states(log), expected, "{kind}, {n_ranks} ranks: {log:?}");
                assert_eq!(log.clusterings.last().map(|last| last.led.len()), Some(groups), "{kind}");
                assert_eq!(recording.incomplete(), None);
                assert!(log.notes.is_empty(), "{kind}: {:?}", log.notes);
                expect_all_as_logged(&recording, &folder, kind);
            }
        }
    }
}
