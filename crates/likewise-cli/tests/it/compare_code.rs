//! `likewise compare` of OpenMP programs whose steps come in no order: their functions tell them.

use crate::support::{succeeds, summary, text};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Tasks of two functions, which are dealt out by lot to so many threads, after a step of the first
/// thread alone. `ns` is how long a task of each takes.
fn tasks(path: PathBuf, threads: u64, names: [&str; 2], ns: [u64; 2]) -> PathBuf {
    let (mut lot, mut records) = (threads, Vec::new());
    let mut add = |time: u64, thread: u64, record: String| records.push((time, thread, record));
    let mut state = |thread: u64, from: u64, to: u64, state: u64| {
        add(from, thread, format!("1:{thread}:1:1:{thread}:{from}:{to}:{state}"));
    };
    state(1, 0, 2_000_000, 1);
    let mut free = vec![2_000_000 + 1_000; threads as usize];
    let mut events =
        vec![(0, 1, "42000050:0".to_owned()), (2_000_000, 1, "60000001:3:42000050:2000000".into())];
    for task in 0..400 {
        lot = lot.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let thread = (0..free.len()).min_by_key(|&t| (free[t], t)).unwrap();
        let function = usize::from((lot >> 33) % 3 == 0);
        let (from, work) = (free[thread], [300_000, 400_000][function] + (lot >> 40) % 3_000);
        let to = from + ns[function] + task % 7 * 100;
        let thread_id = thread as u64 + 1;
        state(thread_id, from, to, 1);
        events.push((from, thread_id, format!("60000018:{}:42000050:0", function + 1)));
        events.push((to, thread_id, format!("60000018:0:42000050:{work}")));
        free[thread] = to + 500;
    }
    let end = free.iter().max().unwrap() + 1_000;
    events.push((end - 500, 1, "60000001:0:42000050:0".to_owned()));
    for (time, thread, pairs) in events {
        records.push((time, thread, format!("2:{thread}:1:1:{thread}:{time}:{pairs}")));
    }
    records.sort();
    let mut trace = format!("#Paraver (01/01/2025 at 12:00):{end}_ns:1({threads}):1:1({threads}:1)\n");
    records.iter().for_each(|(.., record)| writeln!(trace, "{record}").unwrap());
    std::fs::write(&path, trace).unwrap();
    let [f, g] = names;
    let pcf = format!(
        "EVENT_TYPE\n0 60000001 Parallel (OMP)\nVALUES\n0 close\n3 PARALLEL (OMP)\n\nEVENT_TYPE\n0 60000018 Executed \
         OpenMP parallel function\nVALUES\n0 End\n1 {f}\n2 {g}\n\nEVENT_TYPE\n7 42000050 PAPI_TOT_INS Instr completed\n"
    );
    std::fs::write(path.with_extension("pcf"), pcf).unwrap();
    path
}

/// What is said, and what is noted.
fn said(dir: &Path, runs: &[PathBuf]) -> [Vec<String>; 2] {
    let out = dir.join("out");
    let files: Vec<&str> = runs.iter().map(|run| text(run)).collect();
    succeeds(&[&["compare", "-q", "-o", text(&out)], &files[..]].concat());
    let found = summary(&out);
    ["findings", "notes"].map(|key| {
        found[key].as_array().unwrap().iter().map(|said| said.as_str().unwrap().to_owned()).collect()
    })
}

/// "Which phases scale cannot be told: none is known to be the same in two runs" was told of runs in
/// which every burst has the name of its function.
#[test]
fn functions_tell_which_phase_is_which_where_the_order_of_steps_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let (names, file) = (["solve", "copy"], |name: &str| dir.path().join(name));
    let few = tasks(file("few.prv"), 2, names, [100_000, 110_000]);
    // Twice as long on four threads.
    let many = tasks(file("many.prv"), 4, names, [100_000, 220_000]);
    let [findings, notes] = said(dir.path(), &[few.clone(), many]);
    let note = notes.iter().find(|note| note.contains("their code does")).expect("a note");
    let of_copy = |p: &u32| note.contains(&format!("{p} is copy"));
    let copy = (1..=3).find(of_copy).expect("copy has a number");
    let stops: Vec<&String> =
        findings.iter().filter(|said| said.contains("stops scaling at 4 threads")).collect();
    let of_copy =
        |said: &&&String| said.starts_with(&format!("Phase {copy} ")) && said.contains("per second, × 0.5");
    assert!(stops.iter().any(|said| of_copy(&said)), "{findings:?} {note}");
    let serial = findings.iter().find(|said| said.contains(" is serial, ")).expect("a serial phase");
    assert!(serial.contains("on 2 threads") && serial.contains("on 4 threads"), "{serial}");
    // Other names of what does the same tell nothing.
    let other = tasks(file("other.prv"), 4, ["a", "b"], [100_000, 220_000]);
    let [_, notes] = said(dir.path(), &[few, other]);
    assert!(!notes.iter().any(|note| note.contains("their code does")), "{notes:?}");
}
