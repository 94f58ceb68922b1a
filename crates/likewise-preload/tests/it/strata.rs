//! Recording by strata: what the sampled ranks tell is what all did, and what
//! goes wrong changes nothing.

use crate::programs::{Mpi, Run, build, expect_success, fresh};
use likewise_recording::{Recording, Window};
use std::path::Path;
use std::process::Output;

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

/// Runs `words` into `FOLDER/recording`, by strata.
fn run(mpi: Mpi, folder: &Path, n_ranks: u32, words: &[&str]) -> Option<Output> {
    let _ = std::fs::remove_dir_all(folder.join("recording"));
    let command = [&["env", "LIKEWISE_MODE=strata"], words].concat();
    Run { mpi, n_ranks, command: &command, before: None }.record(folder)
}

fn windows(recording: &Recording) -> Vec<Window> {
    recording.strata().iter().map(|window| Window::decode(window).expect("a window")).collect()
}

/// Of all steps and ranks, in ns: what the sample tells, and what all summed.
fn efforts(window: &Window) -> (f64, f64) {
    let sum = |effort: &[u64]| effort.iter().sum::<u64>() as f64;
    let mut strata = vec![(0, 0, 0.0); window.n_strata()];
    let mut first = 0;
    for (stratum, n) in &window.strata {
        let of = &mut strata[*stratum as usize];
        of.0 += n;
        let inside = |rank: &u32| (first..first + n).contains(&u64::from(*rank));
        for sampled in window.sampled.iter().filter(|sampled| inside(&sampled.rank)) {
            of.1 += 1;
            of.2 += sum(&sampled.effort);
        }
        first += n;
    }
    (strata.into_iter().map(|(n, sampled, ns)| n as f64 / f64::from(sampled) * ns).sum(), sum(&window.whole))
}

#[test]
fn what_sampled_ranks_compute_tells_what_all_do() {
    for (mpi, n_ranks) in [(Mpi::Open, 16), (Mpi::Mpich, 8)] {
        let folder = fresh("strata", mpi);
        let Some(program) = build("l_classes.c", mpi, &folder) else { continue };
        let words = ["LIKEWISE_WINDOW=8", "LIKEWISE_EVERY=1", text(&program), "40", "2000"];
        let Some(output) = run(mpi, &folder, n_ranks, &words) else { continue };
        expect_success(&output, "l_classes");
        let told = String::from_utf8_lossy(&output.stdout);
        let measured: f64 = told.lines().map(|line| line.parse::<f64>().expect("ns")).sum();
        let recording = Recording::open(&folder.join("recording")).expect("a recording");
        assert_eq!(recording.incomplete(), None);
        let windows = windows(&recording);
        // What follows the last marker is a step too.
        assert_eq!(windows.iter().map(|window| window.n_steps).collect::<Vec<_>>(), [8, 8, 8, 8, 8, 1]);
        let all: f64 = windows.iter().map(|window| efforts(window).1).sum();
        // Between its calls a rank also begins, and waits for a processor.
        assert!(measured <= all && all < 3.0 * measured, "{mpi:?}: {measured} ns of {all}");
        for window in &windows {
            let (told, whole) = efforts(window);
            let limit = 2.0 * window.error * whole + 1e6 * f64::from(n_ranks);
            assert!((told - whole).abs() < limit, "{mpi:?}: {told} of {whole}: {window:?}");
            assert_eq!(window.n_ranks(), u64::from(n_ranks));
        }
        assert!(windows[1].n_strata() > 1 && windows[0].is_redrawn, "{:?}", windows[1]);
        let mut regions = windows[0].regions.iter();
        let heaviest = windows[1].regions[0].id;
        let name = regions.find(|region| region.id == heaviest).map(|region| &region.name[..]);
        assert!(
            name.is_some_and(|name| name.starts_with("MPI_Pcontrol@") && name.contains(" to MPI_Allreduce@")),
            "{name:?}"
        );
        let log = recording.log().expect("a log");
        assert_eq!((log.marker.as_str(), log.clusterings.len()), ("MPI_Pcontrol(10)", 6));
        assert_eq!(log.bytes.len(), n_ranks as usize);
    }
}

/// A program that has no marker of its own, with this variable.
fn bare(name: &str, variable: &str, steps: &str) -> Option<Recording> {
    let folder = fresh(name, Mpi::Open);
    let program = build("l_phases.c", Mpi::Open, &folder)?;
    let output = run(Mpi::Open, &folder, 4, &[variable, text(&program), "bare", steps])?;
    expect_success(&output, "bare");
    Some(Recording::open(&folder.join("recording")).expect("a recording"))
}

#[test]
fn a_run_without_markers_is_one_step() {
    let Some(recording) = bare("strata-bare", "LIKEWISE_MARKER=pcontrol", "60") else { return };
    let windows = windows(&recording);
    assert_eq!((windows.len(), windows[0].n_steps), (1, 1));
    assert!(recording.log().is_some_and(|log| log.notes[0].contains("No marker was found")));
}

/// Where nothing is recorded, events are counted all the same.
#[test]
fn a_marker_is_found_where_efforts_are_sampled() {
    let Some(recording) = bare("strata-found", "LIKEWISE_EVERY=1", "300") else { return };
    let steps: u64 = windows(&recording).iter().map(|window| window.n_steps).sum();
    let log = recording.log().expect("a log");
    assert!(!log.marker.is_empty() && steps > 50, "{steps} steps, '{}'", log.marker);
}

#[test]
fn windows_before_a_run_ends_early_are_kept() {
    for (mpi, kind, code) in [
        (Mpi::Open, "abort", Some(3)),
        (Mpi::Open, "kill", Some(137)),
        (Mpi::Open, "half", Some(0)),
        (Mpi::Open, "unequal", Some(0)),
        (Mpi::Mpich, "abort", Some(3)),
    ] {
        let folder = fresh("strata-early", mpi);
        let Some(program) = build("l_phases.c", mpi, &folder) else { continue };
        let often = ["LIKEWISE_EVERY=1", "LIKEWISE_WINDOW=4", "LIKEWISE_PATIENCE=0.3"];
        let words = [&often[..], &[text(&program), kind, "60"]].concat();
        let Some(output) = run(mpi, &folder, 4, &words) else { continue };
        assert_eq!(output.status.code(), code, "{kind}, {mpi:?}: {output:?}");
        let recording = Recording::open(&folder.join("recording"))
            .unwrap_or_else(|error| panic!("{kind}, {mpi:?}: {error}"));
        let ends = code == Some(0);
        assert_eq!(recording.incomplete().is_some(), !ends, "{kind}, {mpi:?}");
        let notes = recording.log().map_or(&[][..], |log| &log.notes);
        let said =
            notes.iter().any(|note| note.contains("no more steps are told apart: ranks came to different"));
        assert_eq!(said, ends, "{kind}, {mpi:?}: {notes:?}");
        assert!(kind == "half" || !windows(&recording).is_empty(), "{kind}, {mpi:?}: {notes:?}");
    }
}

#[test]
fn what_goes_wrong_changes_nothing() {
    let mpi = Mpi::Open;
    let folder = fresh("strata-wrong", mpi);
    let recorded = folder.join("recording");
    for (source, argument, n_ranks, code) in
        [("p_fork.c", "", 1, 5), ("p_limit.c", "", 2, 9), ("p_memory.c", "", 1, 7)]
    {
        let Some(program) = build(source, mpi, &folder) else { continue };
        let words = ["LIKEWISE_MARKER=pcontrol", text(&program), argument];
        let Some(output) = run(mpi, &folder, n_ranks, &words) else { continue };
        assert_eq!(output.status.code(), Some(code), "{source}, {mpi:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).matches("likewise: not recorded: ").count();
        // The limit is on the size of files; where memory is short, what is recorded ends there.
        assert_eq!(said, usize::from(source == "p_limit.c"), "{source}, {mpi:?}: {output:?}");
    }
    let Some(program) = build("p_end.c", mpi, &folder) else { return };
    for place in ["/proc/nowhere", "/dev/full", "/no/such/folder"] {
        let Some(output) = run(mpi, &folder, 2, &[&format!("LIKEWISE_DIR={place}"), text(&program), "well"])
        else {
            continue;
        };
        let said = String::from_utf8_lossy(&output.stderr).matches("likewise: not recorded: ").count();
        assert_eq!((output.status.code(), said), (Some(6), 1), "{mpi:?}, {place}: {output:?}");
    }
    let Some(program) = build("l_phases.c", mpi, &folder) else { return };
    let _ = std::fs::remove_dir_all(&recorded);
    std::fs::create_dir_all(&recorded).expect("the folder");
    std::os::unix::fs::symlink("/dev/full", recorded.join(".1-online")).expect("a link");
    let command = ["env", "LIKEWISE_MODE=strata", text(&program), "one", "60"];
    let Some(output) = (Run { mpi, n_ranks: 2, command: &command, before: None }).record(&folder) else {
        return;
    };
    expect_success(&output, "a full disk");
    let said = String::from_utf8_lossy(&output.stderr).matches("likewise: not recorded: ").count();
    assert_eq!(said, 1, "{mpi:?}: {output:?}");
}
