//! What a hostile or unlucky user does: names that a terminal obeys, too little
//! memory, processes that do not do the same job.

use crate::support::*;
use std::path::Path;
use std::process::Command;

/// A title, a cursor, C1, and text turned around.
const NAME: &str = "a\x1b]0;x\x07\x1b[2J\u{9b}31m\u{202e}b";

fn is_harmless(text: &str) -> bool {
    !text.contains(|c| likewise_trace::is_hidden(c) && !matches!(c, '\n' | '\t'))
}

#[test]
fn no_name_reaches_the_terminal_raw() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join(format!("{NAME}.csv"));
    let rows: String = (0..40).map(|i| format!("1,1,{},50000,{}\n", 100_000 * i, i % 2)).collect();
    std::fs::write(&trace, format!("task,thread,begin_ns,duration_ns,A\n{rows}")).unwrap();
    let toml = dir.path().join("d.toml");
    std::fs::write(&toml, "\"\\u001b[2J\\u009b\" = 1\n").unwrap();
    let out = dir.path().join(format!("out{NAME}"));
    let (trace, out, metric) = (text(&trace), text(&out), format!("{NAME}=A/A"));
    let formula = format!("f(x)={NAME}");
    let calls: [&[&str]; 12] = [
        &["bursts", trace, "-o", out, "-v"],
        &["bursts", trace, "-o", out, "-m", &metric, "-m", "A", "--eps", "0.1"],
        &["bursts", trace, "-o", out, "--json"],
        &["bursts", trace, "-o", out, "-m", NAME],
        &["bursts", trace, "-o", out, "--definition", text(&toml)],
        &["bursts", NAME, "-o", out],
        &["bursts", trace, "--eps", NAME],
        &[NAME],
        &["compare", trace, trace, "-o", out, "--", "--eps", NAME],
        &["ranks", trace, "-o", out, "--", NAME],
        &["counters", trace, "--formula", &formula, "-o", out],
        &["info", trace],
    ];
    for call in calls {
        for colour in ["never", "always"] {
            let said = likewise(&[call, &["--color", colour]].concat());
            let ours = |text: &str| match colour {
                "always" => without_our_colours(text),
                _ => text.to_owned(),
            };
            assert!(is_harmless(&ours(&said.stdout)), "{call:?}: {:?}", said.stdout);
            assert!(is_harmless(&ours(&said.stderr)), "{call:?}: {:?}", said.stderr);
        }
    }
    let said = likewise(&["bursts", trace, "-o", out, "--color", "always"]);
    assert!(said.stdout.contains("\x1b[1m") && said.stdout.contains("\x1b[38;5;"), "{}", said.stdout);
    assert!(said.stdout.contains(r"\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{202e}b"), "{}", said.stdout);
}

fn without_our_colours(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_once('m').expect("a colour");
        let is_colour = ["0", "1", "1;31", "31"].contains(&code) || code.starts_with("38;5;");
        assert!(is_colour, "ESC[{code}m in {text:?}");
        out.push_str(rest);
    }
    out
}

/// A process that may have 400 MiB, for what takes 800.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_told_in_a_sentence_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    std::fs::write(&table, (0..10_000).map(|i| format!("{}\n", i % 977)).collect::<String>()).unwrap();
    let script = format!(
        "ulimit -v 400000; exec {} ranks {} --method pam --k 3 --threads 1 -o {}",
        env!("CARGO_BIN_EXE_likewise"),
        text(&table),
        text(&out)
    );
    let call = finish(Command::new("bash").args(["-c", &script]).output().unwrap());
    assert_eq!(call.code, 1, "{}", call.stderr);
    assert!(
        call.stderr.starts_with("error: there is no memory for 800000000 bytes more (763 MiB) beside the "),
        "{}",
        call.stderr
    );
    assert_eq!(call.stderr.lines().count(), 1, "{}", call.stderr);
    assert!(!out.exists());
}

/// A script on 3 processes, in which `$rank` is the process's number; nothing
/// where there is no such launcher.
fn on_three(mpirun: &str, script: &str) -> Option<Call> {
    // One that waits for ever is ended, and says so by its code.
    let mut command = likewise_testing::mpirun(&likewise_testing::IN_TIME, mpirun)?;
    let script = format!("rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {script}");
    Some(finish(command.args(["-n", "3", "sh", "-c", &script]).output().unwrap()))
}

/// Only process 2 differs, and it says so, once.
fn is_refused(script: &str, says: &str, out: &Path) {
    for mpirun in LAUNCHERS {
        let Some(call) = on_three(mpirun, script) else { continue };
        assert!(call.code != 0 && call.code != 124, "{mpirun} {script}: {}", call.code);
        assert_eq!(call.stderr.matches("error:").count(), 1, "{mpirun} {script}: {}", call.stderr);
        assert!(call.stderr.contains(says) && !call.stderr.contains("panicked"), "{script}: {}", call.stderr);
        assert!(!out.exists(), "{mpirun} {script}");
    }
}

#[test]
fn processes_with_other_options_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (table, out) = (dir.path().join("t.csv"), dir.path().join("out"));
    std::fs::write(&table, (0..40).map(|i| format!("{},{i}\n", i % 3)).collect::<String>()).unwrap();
    let program = env!("CARGO_BIN_EXE_likewise");
    let options: [[&str; 2]; 9] = [
        ["--k 2", "--k 3"],
        ["--k-max 5", "--k-max 6"],
        ["--mode sampled --seed 1", "--mode sampled --seed 2"],
        ["--wavelet haar", "--wavelet cdf53"],
        ["--signature 1", "--signature none"],
        ["--mode exact", "--mode sampled"],
        ["--method pam", ""],
        ["--error 5%", "--error 6%"],
        ["", "-- --app 1"],
    ];
    for [all, one] in options {
        let script = format!(
            "if [ $rank = 2 ]; then set -- {one}; else set -- {all}; fi; exec {program} ranks {} -o {} \"$@\"",
            text(&table),
            text(&out)
        );
        is_refused(&script, "process 2 was started with other options than process 0", &out);
    }
}

#[test]
fn processes_that_see_another_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (program, out) = (env!("CARGO_BIN_EXE_likewise"), dir.path().join("out"));
    let contents = ["1,2\n3,4\n5,6\n", "1,2\n3,4\n5,7\n", "1,2\n3,4\n5,6\n7,8\n"];
    for (name, content) in ["same", "other", "longer"].into_iter().zip(contents) {
        std::fs::create_dir(dir.path().join(name)).unwrap();
        std::fs::write(dir.path().join(name).join("t.csv"), content).unwrap();
    }
    for (folder, says) in [
        ("other", "other content of the same size"),
        ("longer", "16 instead of 12 bytes"),
        (".", "it cannot be read"),
    ] {
        let script = format!(
            "cd {}; if [ $rank = 2 ]; then cd {folder}; else cd same; fi; exec {program} ranks t.csv --k 2 -o {}",
            text(dir.path()),
            text(&out)
        );
        is_refused(&script, says, &out);
    }
}

#[test]
fn commands_that_share_no_work_are_refused_under_mpi() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (synth(&dir.path().join("in"), 500), dir.path().join("out"));
    let program = env!("CARGO_BIN_EXE_likewise");
    let (trace, to) = (text(&trace), text(&out));
    for call in [
        format!("cut {trace} -o {to}"),
        format!("compare {trace} {trace} -o {to}"),
        format!("info {trace}"),
        format!("demo -o {to}"),
    ] {
        is_refused(&format!("exec {program} {call}"), "has started 3 processes", &out);
    }
    for mpirun in LAUNCHERS {
        let Some(call) = on_three(mpirun, &format!("exec {program} --version")) else { continue };
        assert_eq!(call.code, 0, "{}", call.stderr);
    }
}

/// As many classes as ranks take the distances of all, whatever the method.
#[test]
fn classes_that_no_memory_holds_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("many.csv"), dir.path().join("out"));
    std::fs::write(&file, (0..40_000).map(|i| format!("{i}\n")).collect::<String>()).unwrap();
    for options in [
        ["--k", "39999", "--seed", "0"],
        ["--k-max", "20000", "--mode", "sampled"],
        ["--k", "39999", "--method", "clara"],
        ["--k", "39999", "--mode", "auto"],
    ] {
        let call =
            likewise(&[&["ranks", text(&file), "--threads", "1", "-o", text(&out)], &options[..]].concat());
        assert!(
            call.code == 2 && call.stderr.contains("of 40,000 ranks take distances of 12 GiB"),
            "{}",
            call.stderr
        );
        assert!(call.stderr.contains("ask for fewer classes") && !out.exists(), "{}", call.stderr);
    }
}
