//! What goes wrong in and around a program must stay what it is, and what was
//! recorded until then must be readable.

use crate::programs::{Mpi, Run, build, expect_success, fresh, library};
use likewise_recording::{CallId, FILE, Recording};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

/// Runs a program with the recorder, with these words before it (variables of
/// the environment).
fn record((mpi, mode): (Mpi, &str), folder: &Path, n_ranks: u32, words: &[&str]) -> Option<Output> {
    let mode = format!("LIKEWISE_MODE={mode}");
    let command = [&["env", mode.as_str()], words].concat();
    Run { mpi, n_ranks, command: &command, before: None }.record(folder)
}

/// What goes wrong does so in every mode.
const CASES: [(Mpi, &str); 3] = [(Mpi::Open, ""), (Mpi::Mpich, ""), (Mpi::Open, "leads")];

/// The events of a rank: name, call path and values, as the raw log has them.
fn expanded(recording: &Recording, rank: u32, what: &str) -> Vec<String> {
    let mut events = recording.events(rank);
    let mut lines: Vec<String> = Vec::new();
    loop {
        let event = match events.next() {
            Ok(Some(event)) => event,
            Ok(None) => return lines,
            Err(error) => panic!("{what}, rank {rank}: after {} events {error}", lines.len()),
        };
        let call = recording.symbols()[event.symbol as usize].call;
        let values: Vec<String> = event.values.iter().map(i64::to_string).collect();
        lines.push(format!("{}\t{}", call.name(), values.join(" ")));
    }
}

/// The raw log of a rank without its call paths, whose numbers are the rank's.
fn logged(folder: &Path, rank: u32) -> Vec<String> {
    let log = std::fs::read_to_string(folder.join(format!("raw-{rank}.log"))).expect("the raw log");
    let line = |line: &str| {
        let mut cells = line.split('\t');
        format!("{}\t{}", cells.next().unwrap_or_default(), cells.nth(1).unwrap_or_default())
    };
    log.lines().map(line).collect()
}

/// Fails unless the events of a rank are those of the raw log in the folder.
/// Returns how many they are.
pub(crate) fn expect_as_logged(recording: &Recording, folder: &Path, rank: u32, what: &str) -> usize {
    let (ours, log) = (expanded(recording, rank, what), logged(folder, rank));
    assert_eq!(ours.len(), log.len(), "{what}, rank {rank}");
    let differs = ours.iter().zip(&log).position(|(ours, log)| ours != log);
    assert_eq!(differs.map(|at| (&ours[at], &log[at])), None, "{what}, rank {rank}");
    ours.len()
}

/// The files of a recording, hidden ones too.
fn files(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = std::fs::read_dir(folder).expect("the folder").map(name).collect();
    names.sort();
    names
}

fn calls(recording: &Recording, rank: u32) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    let mut events = recording.events(rank);
    while let Some(event) = events.next().expect("what is there is whole") {
        let call: CallId = recording.symbols()[event.symbol as usize].call;
        *counts.entry(call.name()).or_default() += 1;
    }
    counts
}

#[test]
fn what_is_recorded_is_what_the_raw_log_has() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("raw{mode}"), mpi);
        for (source, n_ranks, argument) in [
            ("p_requests.c", 3, ""),
            ("p_errors.c", 2, ""),
            ("p_paths.c", 1, "300"),
            ("p_aperiodic.c", 2, "5000"),
            ("counts_c.c", 2, ""),
        ] {
            let Some(program) = build(source, mpi, &folder) else { continue };
            for times in ["LIKEWISE_TIMES=histogram", "LIKEWISE_TIMES=all"] {
                let recorded = folder.join("recording");
                let _ = std::fs::remove_dir_all(&recorded);
                let words = ["LIKEWISE_RAW=1", times, text(&program), argument];
                let Some(output) = record((mpi, mode), &folder, n_ranks, &words) else { continue };
                expect_success(&output, source);
                let recording = Recording::open(&recorded).expect("the recording");
                for rank in 0..n_ranks {
                    expect_as_logged(&recording, &recorded, rank, &format!("{source}, {mpi:?}, {times}"));
                }
            }
        }
    }
}

#[test]
fn requests_have_numbers_of_their_own() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("requests{mode}"), mpi);
        let Some(program) = build("p_requests.c", mpi, &folder) else { continue };
        let words = ["LIKEWISE_RAW=1", text(&program)];
        let Some(output) = record((mpi, mode), &folder, 3, &words) else { continue };
        expect_success(&output, "p_requests");
        let log = logged(&folder.join("recording"), 1);
        let waits: Vec<&str> = log.iter().filter_map(|line| line.strip_prefix("MPI_Waitall\t")).collect();
        // The source (one before this rank, of three) of each wildcard receive.
        let first = "8 8 0 1 2 3 4 5 6 7 8 2 -4 2 -4 2 -4 2 -4";
        let second = "8 8 -1 -1 -1 -1 -1 -1 -1 -1 0";
        assert_eq!(waits, [first, second].repeat(3), "{mpi:?}");
        let tests: Vec<&str> = log.iter().filter_map(|line| line.strip_prefix("MPI_Testall\t")).collect();
        let done = tests.iter().filter(|line| **line == "2 2 0 1 1 2 2 9").count();
        let not_done = tests.iter().filter(|line| **line == "2 2 0 1 0 0").count();
        assert_eq!((done, done + not_done), (5, tests.len()), "{mpi:?}: {tests:?}");
        let free = log.iter().filter(|line| line.starts_with("MPI_Request_free")).count();
        assert_eq!(free, 2);
        assert!(log.contains(&"MPI_Recv\t1 0 -1 -1 0 2 3".to_owned()), "{mpi:?}: {log:?}");
    }
}

#[test]
fn call_paths_are_right_whatever_the_stack() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("paths{mode}"), mpi);
        let Some(program) = build("p_paths.c", mpi, &folder) else { continue };
        let words = ["LIKEWISE_VERIFY=1", text(&program), "3000"];
        let Some(output) = record((mpi, mode), &folder, 1, &words) else { continue };
        expect_success(&output, "p_paths");
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| line.contains("call paths")).unwrap_or_default();
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(numbers[0] > 1000 && numbers[1] == 0, "{mpi:?}: {said}");
    }
}

#[test]
fn forks_and_shells_are_not_recorded() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("fork{mode}"), mpi);
        let Some(program) = build("p_fork.c", mpi, &folder) else { continue };
        let Some(output) = record((mpi, mode), &folder, 1, &[text(&program)]) else { continue };
        assert_eq!(output.status.code(), Some(5), "{mpi:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "rank 0: 7 9 3\n");
        let recorded = folder.join("recording");
        assert_eq!(files(&recorded), [FILE]);
        let recording = Recording::open(&recorded).expect("the recording");
        assert_eq!(calls(&recording, 0)["MPI_Initialized"], 200, "{mpi:?}");
    }
}

#[test]
fn what_a_run_that_does_not_end_has_left_is_readable() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("end{mode}"), mpi);
        let Some(program) = build("p_end.c", mpi, &folder) else { continue };
        for how in ["kill", "abort", "exit", "well"] {
            let recorded = folder.join("recording");
            let _ = std::fs::remove_dir_all(&recorded);
            let without = record((mpi, mode), &folder, 2, &["LD_PRELOAD=", text(&program), how]);
            let (Some(without), Some(with)) =
                (without, record((mpi, mode), &folder, 2, &[text(&program), how]))
            else {
                continue;
            };
            let codes = [with.status.code(), without.status.code()];
            // Which of two deaths the launcher tells first is a matter of
            // chance: the signal, or the error of a rank that lost its peer.
            let is_same = how == "kill" && codes.iter().all(|code| matches!(code, Some(1 | 9 | 137)))
                || codes[0] == codes[1];
            assert!(is_same, "{mpi:?}, {how}: {without:?}, {with:?}");
            let recording = Recording::open(&recorded)
                .unwrap_or_else(|error| panic!("{mpi:?}, {how}: {error:?}: {:?}", files(&recorded)));
            assert_eq!(recording.incomplete().is_some(), how != "well", "{mpi:?}, {how}");
            assert!(calls(&recording, 0)["MPI_Allreduce"] > 10, "{mpi:?}, {how}");
            assert_eq!(files(&recorded) == [FILE], how == "well", "{mpi:?}: {:?}", files(&recorded));
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_changes_nothing() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("folders{mode}"), mpi);
        let Some(program) = build("p_end.c", mpi, &folder) else { continue };
        for place in ["/proc/nowhere", "/dev/full", "/no/such/folder"] {
            let dir = format!("LIKEWISE_DIR={place}");
            let Some(output) = record((mpi, mode), &folder, 2, &[&dir, text(&program)]) else { continue };
            assert_eq!(output.status.code(), Some(6), "{mpi:?}, {place}: {output:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said.matches("likewise: not recorded: ").count(), 1, "{mpi:?}, {place}: {said}");
        }
    }
}

#[test]
fn a_disk_that_fills_up_changes_nothing() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("full{mode}"), mpi);
        let Some(program) = build("p_aperiodic.c", mpi, &folder) else { continue };
        // What would be written where goes to a device that is always full.
        let whole = if mode.is_empty() { "recording.new" } else { ".1-online" };
        for (file, n) in [(whole, "3000"), (".1-rank-0.new", "3000"), (".1-rank-0.sealed", "3000000")] {
            let recorded = folder.join("recording");
            let _ = std::fs::remove_dir_all(&recorded);
            std::fs::create_dir_all(&recorded).expect("the folder");
            std::os::unix::fs::symlink("/dev/full", recorded.join(file)).expect("a link");
            // Without markers, all is recorded.
            let words = ["LIKEWISE_TIMES=all", "LIKEWISE_MARKER=pcontrol", text(&program), n];
            let Some(output) = record((mpi, mode), &folder, 1, &words) else { continue };
            expect_success(&output, file);
            let said = String::from_utf8_lossy(&output.stderr).matches("likewise: not recorded: ").count();
            // Checkpoints may fail for a while.
            let is_needed = usize::from(file != ".1-rank-0.new");
            assert_eq!(said, is_needed, "{mpi:?}, {file}: {output:?}");
        }
    }
}

#[test]
fn a_limit_of_the_size_of_files_changes_nothing() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("limit{mode}"), mpi);
        let Some(program) = build("p_limit.c", mpi, &folder) else { continue };
        let Some(output) = record((mpi, mode), &folder, 2, &[text(&program)]) else { continue };
        assert_eq!(output.status.code(), Some(9), "{mpi:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.matches("likewise: not recorded: ").count(), 1, "{mpi:?}: {said}");
    }
}

/// What a program calls from functions that MPI calls is a part of the call
/// that is being made, and no event.
#[test]
fn calls_within_calls_are_not_recorded() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("callbacks{mode}"), mpi);
        let Some(program) = build("p_callbacks.c", mpi, &folder) else { continue };
        let Some(output) = record((mpi, mode), &folder, 2, &[text(&program)]) else { continue };
        expect_success(&output, "p_callbacks");
        let recording = Recording::open(&folder.join("recording")).expect("the recording");
        for rank in 0..2 {
            let calls = calls(&recording, rank);
            let counts =
                ["MPI_Barrier", "MPI_Allreduce", "MPI_Wait", "MPI_Comm_free", "MPI_Grequest_complete"]
                    .map(|name| calls[name]);
            assert_eq!(counts, [2, 10, 11, 2, 1], "{mpi:?}: {calls:?}");
            let inner = ["MPI_Comm_rank", "MPI_Type_size", "MPI_Error_string", "MPI_Status_set_elements"];
            assert!(inner.iter().all(|name| !calls.contains_key(name)), "{mpi:?}: {calls:?}");
        }
    }
}

#[test]
fn programs_without_mpi_are_left_alone() {
    let folder = fresh("plain", Mpi::Open);
    let program = folder.join("p_plain");
    let source = crate::programs::sources().join("p_plain.c");
    let built = Command::new("cc").arg("-o").arg(&program).arg(source).status();
    if !built.is_ok_and(|status| status.success()) {
        return likewise_testing::skip("no C compiler");
    }
    let shell: PathBuf = "/bin/sh".into();
    for (program, arguments, code) in
        [(&program, vec![], 11), (&shell, vec!["-c", "echo nothing of MPI; exit 12"], 12)]
    {
        let recorded = folder.join("recording");
        let output = Command::new(program)
            .args(arguments)
            .env("LD_PRELOAD", library())
            .env("LIKEWISE_DIR", &recorded)
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "nothing of MPI\n");
        assert!(output.stderr.is_empty() && !recorded.exists());
    }
}

#[test]
fn a_program_without_memory_goes_on() {
    for (mpi, mode) in CASES {
        let folder = fresh(&format!("memory{mode}"), mpi);
        let Some(program) = build("p_memory.c", mpi, &folder) else { continue };
        let Some(output) = record((mpi, mode), &folder, 1, &["LIKEWISE_MARKER=pcontrol", text(&program)])
        else {
            continue;
        };
        let (told, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(told.contains("sum 32"), "{mpi:?}: {told}{complained}");
        assert!(output.status.code() == Some(7), "{mpi:?}: {:?}{complained}", output.status);
        assert!(complained.contains("no memory left"), "{mpi:?}: {complained}");
        let recording = Recording::open(&folder.join("recording")).expect("what was recorded until then");
        assert!(calls(&recording, 0)["MPI_Bcast"] > 10_000);
    }
}
