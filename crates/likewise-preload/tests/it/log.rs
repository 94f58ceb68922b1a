//! Every call of a run, as a log has it, against what the recorder says.

use crate::counts::{open, walk};
use crate::life::expect_as_logged;
use crate::programs::{Mpi, Run, build, build_library, expect_success, fresh};
use likewise_recording::comms::{Comms, fields};
use likewise_recording::role::{ANY, Kind, NONE, NULL, PROC_NULL, ROOT};
use likewise_recording::{CallId, Datatype, Event, Recording};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Reads an event as `log_c.c` writes a row.
struct Rows<'a> {
    comms: Comms,
    types: &'a [Datatype],
    rank: u32,
    size: u32,
}

impl Rows<'_> {
    fn peer(&self, call: CallId, event: &Event, relative: i64) -> String {
        match relative {
            ANY => return "any".to_owned(),
            PROC_NULL => return "null".to_owned(),
            _ => {}
        }
        let of_call = self.comms.of(call, event).and_then(|comm| Comms::peer(comm, relative));
        // A call that completes a request names no communicator; that of the
        // receives of any source is MPI_COMM_WORLD in this program.
        let of_world = (i64::from(self.rank) + relative).rem_euclid(i64::from(self.size));
        of_call.map_or(of_world, |peer| peer.rank as i64).to_string()
    }

    /// `call,peer,tag,count,bytes,root`.
    fn row(&mut self, call: CallId, event: &Event) -> String {
        let (mut peer, mut tag, mut count, mut bytes, mut root) = (None, None, None, None, None);
        for (field, values) in fields(call, event) {
            let value = values.first().copied().unwrap_or(NONE);
            match field.kind {
                Kind::Dest | Kind::Source if peer.is_none() => peer = Some(value),
                Kind::StatusSource if value != NONE && peer == Some(ANY) => peer = Some(value),
                Kind::Tag if tag.is_none() => tag = Some(value),
                Kind::StatusTag if value != NONE && tag == Some(ANY) => tag = Some(value),
                Kind::Count if count.is_none() => count = Some(value),
                // Counts that MPI does not read here, of what is in place or
                // the root's alone, are recorded as nothing.
                Kind::Type if value == NULL && bytes.is_none() => count = None,
                Kind::Type if bytes.is_none() => bytes = count.map(|n| n * self.types[value as usize].size),
                Kind::Root => root = Some(value),
                Kind::Statuses if values.len() == 2 => peer = Some(value),
                _ => {}
            }
        }
        let text = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
        let tag = if tag == Some(ANY) { "any".to_owned() } else { text(tag) };
        let peer = peer.map_or_else(String::new, |peer| self.peer(call, event, peer));
        let root = match root {
            Some(ROOT) => "root".to_owned(),
            Some(PROC_NULL) => "null".to_owned(),
            root => text(root),
        };
        let row = format!("{},{peer},{tag},{},{},{root}", call.name(), text(count), text(bytes));
        self.comms.apply(event, call);
        row
    }
}

/// A log of a rank.
struct Log {
    /// From the name of the call on.
    rows: Vec<String>,
    /// The calls that are logged by name alone, and in full. None: all are.
    logged: Option<[BTreeSet<String>; 2]>,
}

impl Log {
    fn read(file: &Path) -> Self {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let names = |prefix: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(prefix))?;
            Some(line.split_whitespace().map(str::to_owned).collect())
        };
        let rows = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        let rows = rows.map(|line| line.split_once(',').expect("a row has cells").1.to_owned()).collect();
        Self { rows, logged: names("#by name").and_then(|by_name| Some([by_name, names("#in full")?])) }
    }

    fn has(&self, call: &str) -> bool {
        self.logged.as_ref().is_none_or(|kinds| kinds.iter().any(|names| names.contains(call)))
    }

    /// How many cells of such a row are compared.
    fn cells(&self, call: &str) -> usize {
        match &self.logged {
            Some([by_name, _]) if by_name.contains(call) => 1,
            // The tag is recorded only where the receive took any.
            None if call == "MPI_Wait" => 2,
            _ => usize::MAX,
        }
    }
}

/// Compares the logs `NAME-RANK.csv` in a folder with the recording there, call
/// by call. Returns how many were compared.
fn compare(folder: &Path, name: &str, n_ranks: u32, what: &str) -> usize {
    let recording: Recording = open(folder, n_ranks);
    let mut n_compared = 0;
    for rank in 0..n_ranks {
        let log = Log::read(&folder.join(format!("{name}-{rank}.csv")));
        let types = recording.datatypes(rank);
        let mut rows = Rows { comms: Comms::new(rank, n_ranks), types: &types, rank, size: n_ranks };
        let mut at = 0;
        walk(&recording, rank, |call, event| {
            let row = rows.row(call, event);
            if !log.has(call.name()) {
                return;
            }
            let logged = log.rows.get(at).map_or("nothing more", String::as_str);
            let n_cells = log.cells(call.name());
            let is_same = row.split(',').take(n_cells).eq(logged.split(',').take(n_cells));
            assert!(is_same, "{what}, rank {rank} of {n_ranks}, call {at}: recorded {row}, logged {logged}");
            at += 1;
        });
        assert_eq!(at, log.rows.len(), "{what}, rank {rank}: calls that were recorded");
        n_compared += at;
    }
    n_compared
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

#[test]
fn a_program_that_logs_its_calls() {
    for mpi in Mpi::ALL {
        for n_ranks in [1, 4] {
            let folder = fresh(&format!("log{n_ranks}"), mpi);
            let Some(program) = build("log_c.c", mpi, &folder) else { continue };
            let run = Run { mpi, n_ranks, command: &[text(&program)], before: None };
            let Some(output) = run.record(&folder) else { continue };
            expect_success(&output, "log_c");
            compare(&folder, "log", n_ranks, &format!("log_c, {mpi:?}"));
        }
    }
}

/// Runs a program with the raw log before the recorder, and the recorder's own
/// log of what it was given. `inputs`: a folder of files for the program.
fn check_raw(mpi: Mpi, name: &str, n_ranks: u32, command: &[&str], inputs: Option<&Path>) {
    let folder = fresh(&format!("raw-{name}"), mpi);
    let Some(log) = build_library(&["rawlog.c", "rawlog_names.c"], mpi, &folder) else { return };
    for file in inputs.iter().flat_map(|inputs| std::fs::read_dir(inputs).expect("the inputs")) {
        let file = file.expect("an input");
        std::fs::copy(file.path(), folder.join(file.file_name())).expect("an input");
    }
    let command = [&["LIKEWISE_RAW=1"], command].concat();
    let Some(output) = (Run { mpi, n_ranks, command: &command, before: Some(&log) }).record(&folder) else {
        return;
    };
    expect_success(&output, name);
    let what = format!("{name}, {mpi:?}");
    let n_compared = compare(&folder, "rawlog", n_ranks, &what);
    let recording = open(&folder, n_ranks);
    let n_calls: usize =
        (0..n_ranks).map(|rank| expect_as_logged(&recording, &folder.join("recording"), rank, &what)).sum();
    println!("{what}, {n_ranks} ranks: {n_calls} calls, {n_compared} of them in the other log too");
}

#[test]
fn the_raw_log_of_own_programs() {
    for mpi in Mpi::ALL {
        let folder = fresh("raw-programs", mpi);
        for (source, argument) in
            [("log_c.c", "30"), ("k_stencil.c", "30"), ("k_master.c", "50"), ("k_aperiodic.c", "3000")]
        {
            let Some(program) = build(source, mpi, &folder) else { continue };
            check_raw(mpi, source.trim_end_matches(".c"), 4, &[text(&program), argument], None);
        }
    }
}

/// Programs of others, built for Open MPI, with the arguments and inputs of
/// `bench/programs/programs.py`: those on the PATH, and those in the folder that
/// `LIKEWISE_PROGRAMS` names.
#[test]
fn the_raw_log_of_programs_of_others() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/programs/programs.py");
    let inputs = fresh("raw-inputs", Mpi::Open);
    let folder = std::env::var_os("LIKEWISE_PROGRAMS").unwrap_or_default();
    let listed = Command::new("python3").arg("-B").arg(&table).arg(&inputs).arg(folder).output();
    let Ok(listed) = listed else {
        return likewise_testing::skip("no python3, to read bench/programs/programs.py");
    };
    expect_success(&listed, "bench/programs/programs.py");
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, n_ranks, command @ ..] = &cells[..] else { panic!("programs.py says {line}") };
        if command.is_empty() {
            likewise_testing::skip(&format!("{name} is not on the PATH or in LIKEWISE_PROGRAMS"));
        } else if !name.ends_with(".W") {
            // The larger NAS benchmarks make the same calls more often.
            let n_ranks = n_ranks.parse().expect("a number of ranks");
            check_raw(Mpi::Open, &format!("{name}-{n_ranks}"), n_ranks, command, Some(&inputs.join(name)));
        }
    }
}
