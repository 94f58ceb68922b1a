//! `likewise record` and `likewise replay`, with the programs of
//! `tests/programs` and with programs that know no MPI.

use likewise_recording::Recording;
use likewise_testing::is_installed;
use likewise_testing::recorded::Program;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

const LIKEWISE: &str = env!("CARGO_BIN_EXE_likewise");

/// Ranks spin while they wait: one run at a time.
static TURN: Mutex<()> = Mutex::new(());

fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let profile = || Path::new(LIKEWISE).parent().expect("a folder of cargo's");
    BUILT.get_or_init(|| likewise_testing::preload_library(profile()))
}

fn likewise(arguments: &[&str]) -> Command {
    let mut command = Command::new(LIKEWISE);
    command.args(arguments).env("LIKEWISE_PRELOAD", library()).env("OMPI_MCA_mpi_yield_when_idle", "1");
    command
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_program_without_mpi_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("recording");
    let record = |script: &str| {
        likewise(&["record", "-o"]).arg(&to).args(["--", "sh", "-c", script]).output().unwrap()
    };
    let output = record("echo $LIKEWISE_TIMES; echo told >&2; exit 7");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"histogram\n");
    let error = error_of(&output);
    assert!(error.starts_with("told\n") && error.contains("Nothing was recorded"), "{error}");
    assert!(!to.exists());
    assert_eq!(record("kill -9 $$").status.code(), Some(128 + 9));
    assert_eq!(record("kill -TERM $$").status.code(), Some(128 + 15));
}

#[test]
fn what_is_told_to_end_is_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    let mut command = likewise(&["record", "-o"]);
    command.arg(dir.path().join("recording")).args(["--", "sh", "-c", script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn what_cannot_be_recorded_is_said_before_the_program_runs() {
    let dir = tempfile::tempdir().unwrap();
    let marker = dir.path().join("ran");
    let fails = |mut command: Command, code: i32, words: &[&str]| {
        let output = command.args(["--", "touch"]).arg(&marker).output().unwrap();
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(code), "{error}");
        words.iter().for_each(|word| assert!(error.contains(word), "no {word} in {error}"));
        assert!(!marker.exists());
    };
    let mut missing = likewise(&["record"]);
    missing.env("LIKEWISE_PRELOAD", "/nowhere/x.so");
    fails(missing, 1, &["/nowhere/x.so", "LIKEWISE_PRELOAD"]);
    let full = dir.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("recording.likewise"), "").unwrap();
    let mut again = likewise(&["record", "-o"]);
    again.arg(&full);
    fails(again, 2, &["--force"]);
    // As another `likewise record` holds it.
    let taken = std::fs::File::open(dir.path()).unwrap();
    taken.lock().unwrap();
    let mut second = likewise(&["record", "--force", "-o"]);
    second.arg(dir.path());
    fails(second, 2, &["another likewise", "-o"]);
    let mut nowhere = likewise(&["record", "-o"]);
    nowhere.arg("/proc/nowhere");
    fails(nowhere, 1, &["/proc/nowhere"]);
    let output =
        likewise(&["record", "-o"]).arg(dir.path().join("x")).args(["--", "./no-such"]).output().unwrap();
    assert!(error_of(&output).contains("./no-such: cannot be started"), "{}", error_of(&output));
    assert!(!dir.path().join("x").exists());
    // What was there stays until there is something else.
    let old = full.join("recording.likewise");
    std::fs::write(&old, "old").unwrap();
    for program in ["./no-such", "true"] {
        let output =
            likewise(&["record", "--force", "-o"]).arg(&full).args(["--", program]).output().unwrap();
        assert!(error_of(&output).contains("was there before stays"), "{}", error_of(&output));
        assert_eq!(std::fs::read(&old).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(&full).unwrap().count(), 1);
    }
}

/// An MPI, with its program of all kinds.
struct Mpi {
    launcher: &'static str,
    program: PathBuf,
}

impl Mpi {
    /// Those that are here.
    fn all(dir: &Path) -> Vec<Self> {
        Self::with(dir, "-O1")
    }

    /// The same, with another option for the compiler.
    fn with(dir: &Path, option: &str) -> Vec<Self> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/r_kinds.c");
        let build = |suffix: &str, launcher: &'static str| {
            let compiler = format!("mpicc.{suffix}");
            if !is_installed(&compiler) || !is_installed(launcher) {
                return None;
            }
            let program = dir.join(format!("kinds-{suffix}"));
            // GCC takes constants of MPICH for arrays that are too short.
            let mut command = Command::new(&compiler);
            command.args([option, "-w", "-o"]).arg(&program).arg(&source);
            assert!(command.status().unwrap().success(), "{compiler}");
            Some(Self { launcher, program })
        };
        let all = [("openmpi", "mpirun.openmpi"), ("mpich", "mpirun.mpich")];
        all.into_iter().filter_map(|(suffix, launcher)| build(suffix, launcher)).collect()
    }

    fn words(&self, n: u32) -> Vec<String> {
        let command = likewise_testing::mpirun(&[], self.launcher).expect("it is installed");
        let mut words = vec![self.launcher.to_owned()];
        words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
        words.extend(["-n".to_owned(), n.to_string()]);
        words
    }

    fn record(&self, to: &Path, n: u32, arguments: &[&str]) -> Output {
        let mut command = likewise(&["record", "--force", "-o"]);
        command.arg(to).arg("--").args(self.words(n)).arg(&self.program).args(arguments);
        run(&mut command)
    }

    fn replay(&self, of: &Path, n: u32) -> Output {
        let mut command = likewise(&["replay", "--json"]);
        run(command.arg(of).arg("--").args(self.words(n)))
    }
}

/// Runs a command of MPI. MPICH's launcher itself dies of a broken pipe at
/// times: then again.
fn run(command: &mut Command) -> Output {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let output = command.stdin(Stdio::null()).output().unwrap();
        if output.status.code() != Some(128 + 13) && output.status.signal() != Some(13) {
            return output;
        }
    }
}

/// How often each call was recorded on all ranks.
fn recorded(recording: &Recording) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for rank in recording.ranks() {
        let mut events = recording.events(rank.rank);
        while let Some(event) = events.next().unwrap() {
            let call = recording.symbols()[event.symbol as usize].call;
            *counts.entry(call.name().to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Calls that may find nothing, of which a replay may make fewer.
const ASK: [&str; 6] =
    ["MPI_Improbe", "MPI_Iprobe", "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"];

/// Calls that no other rank sees.
const LOCAL: [&str; 8] = [
    "MPI_Init",
    "MPI_Finalize",
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Dims_create",
    "MPI_Cart_shift",
    "MPI_Get_count",
    "MPI_Cart_coords",
];

fn check_replay(recording: &Path, output: &Output) {
    let error = error_of(output);
    assert!(output.status.success(), "{}: {error}", recording.display());
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let recording = Recording::open(recording).unwrap();
    for (name, n) in recorded(&recording) {
        let issued = told["issued"][&name].as_u64().unwrap_or(0);
        match () {
            () if LOCAL.contains(&name.as_str()) => assert_eq!(issued, 0, "{name}"),
            () if ASK.contains(&name.as_str()) => assert!(issued <= n, "{name}: {issued} of {n}"),
            () => assert_eq!(issued, n, "{name}"),
        }
    }
    // It computes: 20 steps of half a millisecond. How near it comes to the
    // recorded time can be seen on an idle machine alone.
    let takes = told["replayed_s"].as_f64().unwrap();
    assert!(takes > 0.008, "replayed in {takes} s");
}

#[test]
fn every_kind_of_call_is_replayed_with_either_mpi() {
    let dir = tempfile::tempdir().unwrap();
    let all = Mpi::all(dir.path());
    for mpi in &all {
        for kind in ["ring", "persistent", "groups", "neighbours", "nonblocking", "master", "windows"] {
            let to = dir.path().join(kind);
            let output = mpi.record(&to, 2, &[kind, "20", "500"]);
            let error = error_of(&output);
            assert!(output.status.success(), "{kind}: {error}");
            assert!(error.contains("of 2 ranks on"), "{error}");
            assert!(String::from_utf8_lossy(&output.stdout).starts_with(kind));
            // What one MPI recorded the other replays.
            all.iter().for_each(|mpi| check_replay(&to, &mpi.replay(&to, 2)));
        }
    }
}

/// Three bursts of a step between three calls on one line, in a program with
/// debug data and in one without.
#[test]
fn bursts_between_different_calls_are_different_phases() {
    for option in ["-O1", "-g"] {
        let dir = tempfile::tempdir().unwrap();
        for mpi in Mpi::with(dir.path(), option) {
            let (to, out) = (dir.path().join("run"), dir.path().join("out"));
            let output = mpi.record(&to, 2, &["places", "30", "300"]);
            assert!(output.status.success(), "{}", error_of(&output));
            let output = run(likewise(&["bursts", "--json", "-q", "-o"]).arg(&out).arg(&to));
            assert!(output.status.success(), "{}", error_of(&output));
            let clusters = std::fs::read_to_string(out.join("clusters.csv")).unwrap();
            let of_loop = clusters.lines().filter(|line| line.split(',').nth(1) == Some("60")).count();
            // Of the step's last burst one on each rank is behind the loop.
            let last = clusters.lines().filter(|line| line.split(',').nth(1) == Some("58")).count();
            assert_eq!((of_loop, last), (2, 1), "{option}: {clusters}");
            let regions = std::fs::read_to_string(out.join("regions.csv")).unwrap();
            for call in ["MPI_Bcast", "MPI_Allreduce", "MPI_Barrier"] {
                assert!(regions.contains(&format!("{call})")), "{option}: {regions}");
            }
        }
    }
}

/// Whether more wants to run than this computer has cores, by the mean of the last minute.
fn is_busy() -> bool {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    std::thread::available_parallelism().is_ok_and(|cores| load > cores.get() as f64)
}

/// A step calls the same twice on one line: told as two iterations each before. And where two
/// ranks share a CPU, this is said.
#[test]
fn a_step_that_makes_a_call_twice_on_a_line_is_one_iteration() {
    let dir = tempfile::tempdir().unwrap();
    for mpi in Mpi::with(dir.path(), "-g") {
        let (to, out) = (dir.path().join("run"), dir.path().join("out"));
        for shared in [false, true] {
            let recorded = || {
                let mut record = likewise(&["record", "--times", "all", "--force", "-o"]);
                if shared {
                    let inner = std::mem::replace(&mut record, Command::new("taskset"));
                    record.args(["-c", &first_cpu()]).arg(inner.get_program()).args(inner.get_args());
                    record.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
                }
                record.arg(&to).arg("--").args(mpi.words(2)).arg(&mpi.program).args(["twice", "40", "300"]);
                let output = run(&mut record);
                assert!(output.status.success(), "{}", error_of(&output));
                let output = run(likewise(&["bursts", "--json", "--no-trace", "-o"]).arg(&out).arg(&to));
                let error = error_of(&output).replace('\n', " ");
                assert!(output.status.success(), "{error}");
                (error, serde_json::from_slice::<Value>(&output.stdout).unwrap())
            };
            let iterations = |told: &Value| told["period"]["iterations"].as_u64();
            // What else runs may hold a rank up for many turns, so that nothing can be told: then it is
            // recorded again. What is told is right each time.
            let (mut error, mut told) = recorded();
            for _ in 0..2 {
                if iterations(&told).is_none() {
                    (error, told) = recorded();
                }
            }
            let is_right = iterations(&told).map_or_else(is_busy, |n| (39..=40).contains(&n));
            assert!(is_right, "{}: {}", mpi.launcher, told["period"]);
            if shared {
                assert!(error.contains("2 ranks share 1 CPU on node "), "{}: {error}", mpi.launcher);
            } else if std::thread::available_parallelism().is_ok_and(|n| n.get() >= 2) {
                assert!(!error.contains("ranks share"), "{}: {error}", mpi.launcher);
            }
            std::fs::remove_dir_all(&out).unwrap();
            let compared = run(likewise(&["compare", "-o"]).arg(&out).arg(&to).arg(&to));
            let text = String::from_utf8_lossy(&compared.stdout).replace('\n', " ");
            let is_said = text.contains("Ranks shared CPUs in ");
            assert_eq!(is_said, error.contains("ranks share"), "{}: {text}", mpi.launcher);
            std::fs::remove_dir_all(&out).unwrap();
        }
    }
}

/// A CPU on which this process may run.
fn first_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a list");
    list.trim().split([',', '-']).next().expect("a CPU").to_owned()
}

/// One rank computes at any time, and no message arrives before it was sent: the clocks of the
/// ranks agree, though there are more ranks than cores, and the recorder takes time itself.
#[test]
fn ranks_that_take_turns_do_so_in_the_recording() {
    let dir = tempfile::tempdir().unwrap();
    for mpi in &Mpi::all(dir.path()) {
        let (to, out) = (dir.path().join("run"), dir.path().join("out"));
        let mut record = likewise(&["record", "--times", "all", "--force", "-o"]);
        record.arg(&to).arg("--").args(mpi.words(4)).arg(&mpi.program).args(["turns", "30", "1000"]);
        let output = run(&mut record);
        assert!(output.status.success(), "{}", error_of(&output));
        std::fs::remove_dir_all(&out).ok();
        let output = run(likewise(&["convert", "-q", "--to", "prv", "-o"]).arg(&out).arg(&to));
        assert!(output.status.success(), "{}", error_of(&output));
        // What is found is not sure where ranks share CPUs.
        let shown = run(likewise(&["bursts", "--no-trace", "-o"]).arg(dir.path().join("found")).arg(&to));
        let text = String::from_utf8_lossy(&shown.stdout);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("of the run would be won"), "{}: {text}", mpi.launcher);
        let is_shared = error_of(&shown).replace('\n', " ").contains("4 ranks share");
        assert_eq!(text.contains("Ranks shared CPUs (see the notes)"), is_shared, "{}: {text}", mpi.launcher);
        std::fs::remove_dir_all(dir.path().join("found")).unwrap();
        let trace = std::fs::read_to_string(out.join("run.prv")).unwrap();
        let records: Vec<Vec<&str>> = trace.lines().skip(1).map(|line| line.split(':').collect()).collect();
        let number = |text: &str| text.parse::<u64>().unwrap();
        let messages: Vec<_> = records.iter().filter(|fields| fields[0] == "3").collect();
        assert_eq!(messages.len(), 119, "{}", mpi.launcher);
        assert!(messages.iter().all(|fields| number(fields[6]) <= number(fields[12])), "{}", mpi.launcher);
        let running = records.iter().filter(|fields| fields[0] == "1" && fields[7] == "1");
        let mut bursts: Vec<(u64, u64)> = running
            .map(|fields| (number(fields[5]), number(fields[6])))
            .filter(|(a, b)| b - a > 500_000)
            .collect();
        bursts.sort_unstable();
        assert!(bursts.len() >= 120, "{}: {}", mpi.launcher, bursts.len());
        let overlap: u64 = bursts.windows(2).map(|two| two[0].1.saturating_sub(two[1].0)).sum();
        let all: u64 = bursts.iter().map(|(begin, end)| end - begin).sum();
        // A rank that waits for a core between two calls seems to compute; the rest is as it was.
        assert!(overlap * 10 < all, "{}: {overlap} of {all} ns", mpi.launcher);
    }
}

/// Two ranks stand behind a lead for half of the run; what it sends to whom
/// is theirs, so everything fits, and all of it is replayed.
#[test]
fn a_recording_by_leads_is_replayed_on_all_ranks() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    Program { with_counters: false, ..Program::default() }.write_led(&run, 5, 15);
    for mpi in &Mpi::all(dir.path()) {
        let output = mpi.replay(&run, 4);
        let error = error_of(&output);
        assert!(output.status.success(), "{}: {error}", mpi.launcher);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        for (name, n) in recorded(&Recording::open(&run).unwrap()) {
            let wanted = if LOCAL.contains(&name.as_str()) { 0 } else { n };
            assert_eq!(told["issued"][&name].as_u64().unwrap_or(0), wanted, "{name}: {told}");
        }
        assert_eq!(told["behind_leads"].as_u64(), Some(2));
        // How near that is can be seen on an idle machine alone.
        assert!(told["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{told}");
    }
}

/// A lead that makes more calls than who stands behind it ever did: nobody
/// waits for what has no other side.
#[test]
fn what_has_no_other_side_is_left_out_of_a_replay() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    // Rank 0 receives from all others; who stands behind it does so too.
    Program { with_counters: false, ..Program::default() }.write_behind(&run, 5, 15, 0);
    for mpi in &Mpi::all(dir.path()) {
        let output = mpi.replay(&run, 4);
        let error = error_of(&output);
        assert!(output.status.success(), "{}: {error}", mpi.launcher);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let skipped = told["skipped"].as_array().unwrap();
        let reason = |one: &&Value| one["reason"].as_str().unwrap().contains("stand behind leads");
        assert!(skipped.iter().find(reason).is_some_and(|one| one["count"].as_u64() > Some(0)), "{told}");
    }
}

#[test]
fn another_number_of_ranks_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    for mpi in &Mpi::all(dir.path()) {
        let to = dir.path().join("recording");
        assert!(mpi.record(&to, 2, &["ring", "5", "10"]).status.success());
        let output = mpi.replay(&to, 3);
        let error = error_of(&output);
        assert!(!output.status.success());
        assert_eq!(error.matches("the recorded run had 2 ranks, and this one has 3").count(), 1, "{error}");
    }
}
