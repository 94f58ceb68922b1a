//! Where the part of a run is that is looked at: MPI_Init, MPI_Finalize, the last state, and where the
//! tracer has been set up.

use super::*;

/// Two tasks start up, compute, and end; the calls stand in different pieces of the file.
#[test]
fn calls_of_mpi_and_the_last_state_are_known_on_several_processes() {
    let mut text = String::from("#Paraver (01/01/2025 at 12:00):9000:1(2):1:2(1:1,1:1),0\n");
    for task in 1..=2 {
        text += &format!("1:{task}:1:{task}:1:0:400:1\n2:{task}:1:{task}:1:400:50000003:31\n");
        text += &format!("2:{task}:1:{task}:1:{}:50000003:0\n", 410 + task);
    }
    for step in 0..40 {
        for task in 1..=2 {
            let begin = 420 + 10 * step;
            text += &format!("1:{task}:1:{task}:1:{begin}:{}:1\n", begin + 8);
        }
    }
    for task in 1..=2 {
        text += &format!("2:{task}:1:{task}:1:{}:50000003:32\n1:{task}:1:{task}:1:830:850:7\n", 820 + task);
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let options = ReadOptions::default();
    let alone = read(Input::open(file.path()).unwrap(), &options, 64).unwrap();
    let micros = |time: u64| Some(Nanos(1_000 * time));
    let report = &alone.report;
    assert_eq!(
        (report.mpi_init, report.mpi_finalize, report.last_state),
        (micros(411), micros(822), micros(850))
    );
    assert_eq!(report.done, [((1, 1), Nanos(821_000)), ((1, 2), Nanos(822_000))].into());
    assert_eq!(report.cut, None, "all end together");
    for size in [2, 3, 5] {
        assert_eq!(spread_over(size, file.path(), &options), Some(format!("{alone:?}")), "{size} processes");
    }
}

/// Extrae is set up, and two threads compute regions of OpenMP.
#[test]
fn when_the_tracer_has_been_set_up_is_known_on_several_processes() {
    let mut text = String::from("#Paraver (01/01/2025 at 12:00):9000:1(2):1:1(2:1),0\n");
    text += "1:1:1:1:1:0:400:1\n1:2:1:1:2:0:420:2\n2:1:1:1:1:400:40000002:1:40000018:77\n";
    text += "1:1:1:1:1:400:402:15\n2:1:1:1:1:402:40000002:0\n1:1:1:1:1:402:420:1\n";
    for step in 0..40 {
        for thread in 1..=2 {
            let begin = 420 + 10 * step;
            text += &format!("2:{thread}:1:1:{thread}:{begin}:60000018:5\n");
            text += &format!("1:{thread}:1:1:{thread}:{begin}:{}:1\n", begin + 8);
            text += &format!("2:{thread}:1:1:{thread}:{}:60000018:0\n", begin + 8);
        }
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let options = ReadOptions::default();
    let alone = read(Input::open(file.path()).unwrap(), &options, 64).unwrap();
    assert_eq!((alone.report.mpi_init, alone.report.set_up), (None, Some(Nanos(400_000))));
    for size in [2, 3, 5] {
        assert_eq!(spread_over(size, file.path(), &options), Some(format!("{alone:?}")), "{size} processes");
    }
}

/// Until when all threads are known of a trace whose states were kept whole where it was cut, in µs;
/// asked of one process and of several. Three tasks compute and wait in turns until 400, their last
/// states end at `last`, and `more` lines follow.
fn cut(last: [u64; 3], more: &str) -> Option<u64> {
    let mut text = String::from("#Paraver (01/01/2025 at 12:00):9000:1(3):1:3(1:1,1:1,1:1),0\n");
    for (step, task) in (0..40).flat_map(|step| (1..=3).map(move |task| (step, task))) {
        let begin = 10 * step + task;
        text += &format!("1:{task}:1:{task}:1:{begin}:{}:1\n2:{task}:1:{task}:1:{begin}:5:7\n", begin + 8);
    }
    for (task, end) in (1..).zip(last) {
        text += &format!("1:{task}:1:{task}:1:{}:{end}:1\n", 400 + task);
    }
    // What is open is closed where the file ends.
    text += more;
    (1..=3).for_each(|task| text += &format!("2:{task}:1:{task}:1:9000:5:0:6:0\n"));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let alone = read(Input::open(file.path()).unwrap(), &ReadOptions::default(), 64).unwrap();
    for size in [2, 3] {
        let of_several = spread_over(size, file.path(), &ReadOptions::default());
        assert_eq!(of_several, Some(format!("{alone:?}")), "{size} processes");
    }
    alone.report.cut.map(|time| time.0 / 1_000)
}

/// "Tasks 1–2, 6–9 … hardly take part. Even, 20.0% of the run would be won" was told of the bursts
/// that 21 of 48 tasks had just begun where the trace was cut.
#[test]
fn states_that_were_open_where_a_trace_was_cut_are_told() {
    assert_eq!(cut([405, 600, 590], ""), Some(405));
    // A task that has ended before cuts nothing, and what it does later is a part of the run.
    assert_eq!(cut([402, 600, 590], ""), Some(590));
    // Nor is a run cut in which tasks end one after the other, or all at once.
    assert_eq!(cut([405, 600, 590], "2:2:1:2:1:600:5:0\n"), None);
    assert_eq!(cut([405, 600, 590], "2:2:1:2:1:600:5:9\n"), None);
    assert_eq!(cut([405, 600, 590], "1:2:1:2:1:600:620:7\n"), None);
    assert_eq!(cut([600; 3], ""), None);
}
