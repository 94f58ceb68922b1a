//! `likewise bursts` on several processes of an MPI program.

use crate::support::{
    Call, LAUNCHERS, finish, likewise, names, read, shared_data, succeeds, summary, synth, text,
};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The program on so many processes of two threads; nothing where there is no
/// such launcher.
fn under(mpirun: &str, n: u32, args: &[&str]) -> Option<Command> {
    let mut command = likewise_testing::mpirun(&likewise_testing::IN_TIME, mpirun)?;
    let n = n.to_string();
    command.args(["-n", &n, env!("CARGO_BIN_EXE_likewise")]).args(args).args(["--threads", "2"]);
    Some(command)
}

/// A script on 3 processes, in which `$rank` is the process's number.
fn on_three(mpirun: &str, script: &str) -> Option<Call> {
    let mut command = likewise_testing::mpirun(&likewise_testing::IN_TIME, mpirun)?;
    let script = format!("rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {script}");
    Some(finish(command.args(["-n", "3", "sh", "-c", &script]).output().unwrap()))
}

/// All files of two results, but for how long they took.
fn same(one: &Path, other: &Path, what: &str) {
    assert_eq!(names(one), names(other), "{what}");
    for name in names(one) {
        let [a, b] = [one, other].map(|dir| std::fs::read(dir.join(&name)).unwrap());
        let is_timed = name == "summary.json" || name == "report.html";
        assert!(is_timed || a == b, "{what}: {name}");
    }
    let figures = [one, other].map(|dir| {
        let mut told = summary(dir);
        for key in ["timings", "peak_memory_bytes"] {
            told[key].take();
        }
        told
    });
    assert_eq!(figures[0], figures[1], "{what}");
    let pages = [one, other].map(|dir| without_times(&read(dir, "report.html")));
    assert!(pages[0] == pages[1], "{what}: report.html");
}

/// A page without what its data say of the time that each stage took.
fn without_times(page: &str) -> String {
    let (before, rest) = page.split_once("\"timings\":[").expect("timings");
    let (_, after) = rest.split_once("]]").expect("an end of the timings");
    before.to_owned() + after
}

fn call<'a>(trace: &'a Path, out: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["bursts", text(trace), "-o", text(out)], more].concat()
}

/// Runs under each launcher with so many processes, and wants the files of one.
fn same_on_many(dir: &Path, trace: &Path, more: &[&str], processes: &[u32]) -> String {
    let one = dir.join("one");
    succeeds(&call(trace, &one, more));
    let mut said = String::new();
    for mpirun in LAUNCHERS {
        for &n in processes {
            let many = dir.join(format!("{mpirun}-{n}"));
            let Some(mut command) = under(mpirun, n, &call(trace, &many, more)) else { continue };
            let call = finish(command.output().unwrap());
            assert_eq!(call.code, 0, "{mpirun} {n} {more:?}: {}", call.stderr);
            same(&one, &many, &format!("{mpirun} {n} {more:?}"));
            std::fs::remove_dir_all(&many).unwrap();
            said.push_str(&call.stderr);
        }
    }
    std::fs::remove_dir_all(&one).unwrap();
    said
}

#[test]
fn any_number_of_processes_gives_the_same_files() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 3_000);
    same_on_many(dir.path(), &trace, &[], &[2, 4, 16]);
    let eight = [
        "PAPI_TOT_INS,log",
        "PAPI_TOT_CYC",
        "duration,log",
        "IPC=PAPI_TOT_INS/PAPI_TOT_CYC",
        "A=PAPI_L1_DCM/PAPI_TOT_INS",
        "PAPI_L1_DCM",
        "PAPI_L2_DCM",
        "PAPI_L3_TCM",
    ];
    let eight: Vec<&str> = eight.iter().flat_map(|metric| ["-m", metric]).collect();
    for more in
        [&["--eps", "0.02"][..], &["--format", "parquet", "--min-points", "7"], &["--sample", "500"], &eight]
    {
        same_on_many(dir.path(), &trace, more, &[3]);
    }
}

#[test]
fn real_traces_give_the_same_files() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    for name in ["epoch", "lulesh", "openmp"] {
        let mut traces: Vec<_> =
            std::fs::read_dir(data.join(name)).unwrap().map(|e| e.unwrap().path()).collect();
        traces.retain(|path| path.to_string_lossy().contains(".prv"));
        traces.sort();
        let smallest = traces.iter().min_by_key(|path| path.metadata().unwrap().len()).expect("a trace");
        // Unpacked, so that it can be cut.
        let plain = dir.path().join("trace.prv");
        let bytes = std::fs::read(smallest).unwrap();
        if smallest.extension().is_some_and(|ending| ending == "gz") {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut text)
                .unwrap();
            std::fs::write(&plain, text).unwrap();
        } else {
            std::fs::write(&plain, bytes).unwrap();
        }
        let said = same_on_many(dir.path(), &plain, &[], &[3]);
        assert!(!said.contains("process 0 reads all"), "{said}");
    }
}

#[test]
fn what_cannot_be_cut_is_read_by_one_and_this_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 400);
    let packed = dir.path().join("packed.prv.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &std::fs::read(&trace).unwrap()).unwrap();
    std::fs::write(&packed, encoder.finish().unwrap()).unwrap();
    let said = same_on_many(dir.path(), &packed, &[], &[2]);
    assert!(said.is_empty() || said.contains("unpack a .gz first"), "{said}");
    // A damaged record, which only --lenient passes over.
    let damaged = dir.path().join("damaged.prv");
    std::fs::write(&damaged, std::fs::read_to_string(&trace).unwrap() + "1:1:1:1:1:9:x:1\n").unwrap();
    same_on_many(dir.path(), &damaged, &["--lenient"], &[3]);
    // A state that ends before it begins.
    std::fs::write(&damaged, std::fs::read_to_string(&trace).unwrap() + "1:1:1:1:1:9:8:1\n").unwrap();
    same_on_many(dir.path(), &damaged, &[], &[3]);
    // More processes than bursts.
    let few = dir.path().join("few.csv");
    std::fs::write(&few, "task,thread,begin_ns,duration_ns\n1,1,0,5\n1,1,7,5\n2,1,0,5\n").unwrap();
    same_on_many(dir.path(), &few, &["--eps", "0.1", "--min-points", "2"], &[8]);
}

#[test]
fn a_failure_is_told_once_and_as_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(dir.path(), 300), dir.path().join("out"));
    let good = std::fs::read_to_string(&trace).unwrap();
    let bad = dir.path().join("bad.prv");
    let middle = good[..good.len() / 2].rfind('\n').unwrap() + 1;
    let cases = [
        (format!("{}1:1:1:1:1:9:x:1\n{}", &good[..middle], &good[middle..]), &[][..]),
        (good.clone(), &["-m", "NO_SUCH_COUNTER"]),
        (good.clone(), &["--app", "7"]),
        (good.clone(), &["--min-duration", "100s"]),
        ("#Paraver (x):9_ns:0:1:1(1:1)\n".to_owned(), &[]),
    ];
    for (content, more) in cases {
        std::fs::write(&bad, content).unwrap();
        let args = [&["bursts", text(&bad), "-o", text(&out)], more].concat();
        let alone = likewise(&args);
        let said = alone.stderr.lines().find(|line| line.starts_with("error:")).expect("an error");
        for mpirun in LAUNCHERS {
            let Some(mut command) = under(mpirun, 3, &args) else { continue };
            let call = finish(command.output().unwrap());
            assert!(call.code != 0 && call.code != 124 && alone.code != 0, "{mpirun} {more:?}");
            assert_eq!(call.stderr.matches(said).count(), 1, "no {said} in {}", call.stderr);
            assert_eq!(call.stderr.matches("error:").count(), 1, "{}", call.stderr);
            assert!(!out.exists());
        }
    }
}

#[test]
fn processes_that_differ_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(dir.path(), 300), dir.path().join("out"));
    let other = dir.path().join("other.prv");
    std::fs::write(&other, std::fs::read_to_string(&trace).unwrap() + "# more\n").unwrap();
    let program = env!("CARGO_BIN_EXE_likewise");
    let (trace, other, to) = (text(&trace), text(&other), text(&out));
    for (script, says) in [
        (format!("exec {program} bursts {trace} --eps 0.1$rank -o {to}"), "was started with other options"),
        (
            format!("t={trace}; [ $rank = 2 ] && t={other}; exec {program} bursts $t -o {to}"),
            "does not see the file that process 0 sees",
        ),
    ] {
        for mpirun in LAUNCHERS {
            let Some(call) = on_three(mpirun, &script) else { continue };
            assert!(call.code != 0 && call.code != 124, "{mpirun} {script}: {}", call.code);
            assert!(call.stderr.contains(says), "{mpirun}: {}", call.stderr);
            assert!(!out.exists(), "{mpirun} {script}");
        }
    }
}

/// A command line that is wrong anywhere ends all, and is told once.
#[test]
fn a_wrong_command_line_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(dir.path(), 300), dir.path().join("out"));
    let program = env!("CARGO_BIN_EXE_likewise");
    let good = format!("exec {program} bursts {} -o {}", text(&trace), text(&out));
    let info = format!("exec {program} info {}", text(&trace));
    for (script, says, code) in [
        (format!("exec {program} bursts --nope"), "unexpected argument '--nope'", 2),
        (format!("[ $rank = 1 ] && exec {program} bursts --nope; {good}"), "unexpected argument '--nope'", 2),
        (format!("[ $rank = 0 ] && exec {program} bursts --nope; {info}"), "unexpected argument '--nope'", 2),
        (format!("[ $rank = 2 ] && {info}; {good}"), "leave the launcher out", 2),
        (format!("[ $rank = 2 ] && exec {program} --version; {good}"), env!("CARGO_PKG_VERSION"), 0),
        (format!("exec {program} ranks --help"), "Usage: likewise ranks", 0),
    ] {
        for mpirun in LAUNCHERS {
            let Some(call) = on_three(mpirun, &script) else { continue };
            assert_eq!(call.code, code, "{mpirun} {script}: {}", call.stderr);
            let all = call.stdout + &call.stderr;
            assert_eq!(all.matches(says).count(), 1, "{mpirun} {script}: {all}");
            assert_eq!(all.matches("error:").count(), usize::from(code != 0), "{mpirun} {script}: {all}");
            assert!(!out.exists(), "{mpirun} {script}");
        }
    }
}

/// What cannot be written is told with the name that people know, and no directory stays.
#[test]
fn what_cannot_be_written_is_told_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(dir.path(), 300), dir.path().join("a/b"));
    let compat = dir.path().join("none/x");
    for mpirun in LAUNCHERS {
        let args = call(&trace, &out, &["--compat", text(&compat)]);
        let Some(mut command) = under(mpirun, 3, &args) else { continue };
        let call = finish(command.output().unwrap());
        assert!(
            call.code == 1 && call.stderr.contains("none/x.DATA.csv: cannot be written"),
            "{}",
            call.stderr
        );
        assert!(!dir.path().join("a").exists(), "{mpirun}");
        for name in ["bursts.csv", "synth.prv"] {
            let full = dir.path().join("full");
            std::fs::create_dir(&full).unwrap();
            std::os::unix::fs::symlink("/dev/full", full.join(name)).unwrap();
            let args = self::call(&trace, &full, &[]);
            let Some(mut command) = under(mpirun, 3, &args) else { continue };
            let call = finish(command.output().unwrap());
            let says = format!("full/{name}: cannot be written");
            assert!(call.code == 1 && call.stderr.contains(&says), "{mpirun}: {}", call.stderr);
            assert_eq!(names(&full), [name], "{mpirun}");
            std::fs::remove_dir_all(&full).unwrap();
        }
    }
}

/// A pipe takes what one process writes.
#[test]
fn a_pipe_takes_the_rows() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, one, many) = (synth(dir.path(), 300), dir.path().join("one"), dir.path().join("many"));
    succeeds(&call(&trace, &one, &[]));
    for mpirun in LAUNCHERS {
        std::fs::create_dir(&many).unwrap();
        let pipe = many.join("bursts.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let args = call(&trace, &many, &[]);
        let Some(mut command) = under(mpirun, 3, &args) else { return };
        let reader = std::thread::spawn(move || std::fs::read(pipe).unwrap());
        let call = finish(command.output().unwrap());
        assert_eq!(call.code, 0, "{mpirun}: {}", call.stderr);
        assert!(reader.join().unwrap() == std::fs::read(one.join("bursts.csv")).unwrap(), "{mpirun}");
        std::fs::remove_dir_all(&many).unwrap();
    }
}

/// Where one process is killed, or may write no more, nothing stands under its name but
/// what is whole: one that is killed late may have done its part.
#[test]
fn a_process_that_ends_early_ends_all() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(dir.path(), 150_000), dir.path().join("out"));
    let one = dir.path().join("one");
    let start = Instant::now();
    succeeds(&call(&trace, &one, &["-q"]));
    // Three processes on few cores may need some times as long before one of them ends.
    let limit = Duration::from_secs(20) + 6 * start.elapsed();
    let call = format!("{} bursts {} -q -o {}", env!("CARGO_BIN_EXE_likewise"), text(&trace), text(&out));
    // Not before it reads: see `IN_TIME`.
    let reads = format!("grep -qs {} /proc/$$/maps", text(&trace));
    let killed = |after: &str| {
        let kill = format!("{reads} && {{ sleep {after}; kill -9 $$; break; }}");
        format!("[ $rank = 1 ] && while [ -d /proc/$$ ]; do {kill}; sleep 0.01; done & exec {call}")
    };
    let full = format!("trap '' XFSZ; [ $rank = 1 ] && ulimit -f 100; exec {call}");
    for (script, may_be_late) in [(killed("0"), true), (killed("0.1"), true), (full, false)] {
        for mpirun in LAUNCHERS {
            let start = Instant::now();
            let Some(call) = on_three(mpirun, &script) else { continue };
            assert!(start.elapsed() < limit, "{mpirun} {script}");
            assert!(call.code != 0 && call.code != 124, "{mpirun} {script}: {}", call.code);
            let left = if out.exists() { names(&out) } else { Vec::new() };
            let is_whole = |name: &String| match &name[..] {
                "summary.json" => summary(&out).is_object(),
                "report.html" => read(&out, name).trim_end().ends_with("</html>"),
                _ => std::fs::read(out.join(name)).ok() == Some(std::fs::read(one.join(name)).unwrap()),
            };
            for name in left.iter().filter(|name| !name.ends_with(".tmp")) {
                assert!(may_be_late && is_whole(name), "{mpirun} {script}: {name} of {left:?}");
            }
            std::fs::remove_dir_all(&out).ok();
        }
    }
}
