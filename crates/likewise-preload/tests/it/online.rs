//! Recording by leads: what is kept is what every rank did, and the state
//! tables are those of programs whose phases are known.

use crate::life::expect_as_logged;
use crate::programs::{Mpi, Run, build, expect_success, fresh};
use likewise_recording::{Log, Recording, State};
use std::collections::BTreeSet;
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
        // Where a marker is found depends on how far apart the ranks are.
        let steps = if kind == "bare" { 10 * STEPS } else { STEPS }.to_string();
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

    /// The log of a run, of which every event of every rank was kept.
    fn exact(&self, kind: &str, n_ranks: u32, variables: &[&str]) -> Option<Log> {
        let (recording, folder) = self.recorded(kind, n_ranks, variables)?;
        assert_eq!(recording.incomplete(), None, "{kind}");
        for rank in 0..n_ranks {
            expect_as_logged(&recording, &folder, rank, &format!("{kind}, {:?}, {variables:?}", self.mpi));
        }
        Some(recording.log().expect("what happened on line").clone())
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

fn states(log: &Log) -> [u64; 4] {
    [State::AllTracing, State::Clustering, State::Lead, State::Final].map(|state| log.markers(state))
}

/// The calls with their call paths that a rank has made.
fn call_paths(recording: &Recording, rank: u32) -> BTreeSet<u128> {
    let mut events = recording.events(rank);
    let mut paths = BTreeSet::new();
    while let Some(event) = events.next().expect("a whole recording") {
        paths.insert(recording.identity(&recording.symbols()[event.symbol as usize]));
    }
    paths
}

/// Each marker, and one lead for each call path.
const PLAIN: [&str; 2] = ["LIKEWISE_EVERY=1", "LIKEWISE_K=1"];

#[test]
fn one_clustering_for_each_phase_and_every_event_of_every_rank() {
    for mpi in Mpi::ALL {
        let Some(built) = Built::new("leads", mpi) else { return };
        let sizes: &[u32] = if mpi == Mpi::Open { &[4, 8] } else { &[4] };
        for n_ranks in sizes {
            // AT, C, L, F; the first interval has MPI_Init in it.
            for (kind, expected, groups) in [
                ("one", [2, 1, 57, 1], 1),
                ("two", [3, 2, 55, 1], 1),
                ("blocks", [6, 5, 49, 1], 1),
                ("alternate", [60, 0, 0, 1], 0),
                ("branch", [2, 1, 57, 1], 2),
                ("master", [2, 1, 57, 1], 2),
                ("once", [4, 2, 54, 1], 1),
                ("never", [60, 0, 0, 1], 0),
            ] {
                let Some(log) = built.exact(kind, *n_ranks, &PLAIN) else { return };
                assert_eq!(states(&log), expected, "{kind}, {n_ranks} ranks: {log:?}");
                assert_eq!(log.clusterings.last().map_or(0, |last| last.led.len()), groups, "{kind}");
                assert_eq!(log.notes.is_empty(), groups > 0, "{kind}: {:?}", log.notes);
                assert_eq!(log.marker, "MPI_Pcontrol(10)");
            }
        }
    }
}

#[test]
fn loops_of_any_length_do_not_part_ranks() {
    let Some(built) = Built::new("leads-counts", Mpi::Open) else { return };
    let Some((recording, folder)) = built.recorded("counts", 4, &PLAIN) else { return };
    let log = recording.log().expect("what happened on line");
    assert_eq!((states(log), log.clusterings[0].led.len()), ([2, 1, 57, 1], 1), "{log:?}");
    let Some((full, _)) = built.recorded("counts", 4, &["LIKEWISE_MODE=full"]) else { return };
    for rank in 0..4 {
        assert_eq!(call_paths(&recording, rank), call_paths(&full, rank), "rank {rank}");
    }
    // A rank that was recorded throughout has all of its events.
    expect_as_logged(&recording, &folder, 0, "counts");
}

#[test]
fn leads_are_chosen_as_asked() {
    let Some(built) = Built::new("leads-chosen", Mpi::Open) else { return };
    for (kind, variables, n_leads) in [
        ("pairs", ["LIKEWISE_EVERY=1", "LIKEWISE_K=100", "LIKEWISE_SELECT=farthest"], 2),
        ("one", ["LIKEWISE_EVERY=1", "LIKEWISE_K=1", "LIKEWISE_SELECT=medoids"], 1),
        ("pairs", ["LIKEWISE_EVERY=1", "LIKEWISE_K=2", "LIKEWISE_SELECT=random"], 2),
        ("one", ["LIKEWISE_EVERY=7", "LIKEWISE_K=1", "LIKEWISE_PARAMETERS=1"], 4),
    ] {
        let Some(log) = built.exact(kind, 4, &variables) else { return };
        assert_eq!(log.clusterings.len(), 1, "{variables:?}");
        assert_eq!(log.clusterings[0].led.len(), n_leads, "{variables:?}");
    }
}

#[test]
fn a_marker_is_found_or_named() {
    for mpi in Mpi::ALL {
        let Some(built) = Built::new("leads-found", mpi) else { return };
        let Some(log) = built.exact("bare", 4, &["LIKEWISE_EVERY=1"]) else { return };
        // The first that is proposed, unless a rank held up others there (on a busy machine): then
        // another call that each step makes once.
        let is_marker = |name: &str| log.marker.starts_with(name);
        assert!(["MPI_Allreduce@", "MPI_Waitall@"].into_iter().any(is_marker), "{log:?}");
        assert!(log.clusterings.len() == 1 && log.markers(State::Lead) > 10, "{log:?}");
        let name = format!("LIKEWISE_MARKER={}", log.marker);
        let Some(log) = built.exact("bare", 4, &["LIKEWISE_EVERY=1", &name]) else { return };
        assert_eq!(states(&log), [2, 1, 10 * STEPS - 3, 1], "{log:?}");
        let Some(log) = built.exact("bare", 4, &["LIKEWISE_MARKER=pcontrol"]) else { return };
        assert!(log.notes[0].contains("No marker"), "{log:?}");
    }
}

#[test]
fn markers_of_fortran() {
    for mpi in Mpi::ALL {
        let folder = fresh("leads-fortran", mpi);
        for source in ["l_mpifh.f90", "l_usempi.f90"] {
            let Some(program) = build(source, mpi, &folder) else { continue };
            let command = ["env", "LIKEWISE_MODE=leads", "LIKEWISE_EVERY=1", text(&program)];
            let place = folder.join(source);
            let Some(output) = (Run { mpi, n_ranks: 3, command: &command, before: None }).record(&place)
            else {
                return;
            };
            expect_success(&output, source);
            let recording = Recording::open(&place.join("recording")).expect("a recording");
            assert_eq!(states(recording.log().expect("a log")), [2, 1, 17, 1], "{source}, {mpi:?}");
        }
    }
}

/// Ranks that do not come to the same markers wait no longer than they are
/// told, and go on as they would.
#[test]
fn ranks_without_the_same_markers_are_recorded_in_full() {
    for mpi in Mpi::ALL {
        let Some(built) = Built::new("leads-apart", mpi) else { return };
        let variables = ["LIKEWISE_EVERY=1", "LIKEWISE_PATIENCE=0.3"];
        let note = |log: &Log| log.notes.iter().any(|note| note.contains("different numbers"));
        let Some(log) = built.exact("half", 4, &variables) else { return };
        assert!(note(&log), "{log:?}");
        // Here the lead leaves out a marker itself, so its followers' calls come
        // in another order than its own; all the same, none is missing.
        let Some((recording, folder)) = built.recorded("unequal", 4, &variables) else { return };
        assert!(recording.log().is_some_and(note), "{:?}", recording.log());
        expect_as_logged(&recording, &folder, 0, "unequal");
        for meta in &recording.ranks()[1..] {
            assert_eq!(meta.events, recording.ranks()[0].events + STEPS / 10, "rank {}", meta.rank);
        }
    }
}

#[test]
fn what_is_left_of_a_run_that_ends_early_is_readable() {
    for mpi in Mpi::ALL {
        let Some(built) = Built::new("leads-early", mpi) else { return };
        for (kind, code) in [("abort", 3), ("exit", 4), ("die", 5), ("kill", 137)] {
            let Some((output, folder)) = built.run(kind, 4, &["LIKEWISE_EVERY=1"]) else { return };
            if mpi == Mpi::Open {
                assert_eq!(output.status.code(), Some(code), "{kind}: {output:?}");
            }
            assert!(!output.status.success(), "{kind}, {mpi:?}: {output:?}");
            let recording = Recording::open(&folder).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert!(recording.incomplete().is_some());
            let log = recording.log().unwrap_or_else(|| panic!("{kind}, {mpi:?}: no log"));
            assert_eq!(log.clusterings.len(), 1, "{kind}");
            // At least what was flushed when leads were chosen.
            for rank in 0..4 {
                assert!(call_paths(&recording, rank).len() > 5, "{kind}, {mpi:?}, rank {rank}");
            }
        }
    }
}
