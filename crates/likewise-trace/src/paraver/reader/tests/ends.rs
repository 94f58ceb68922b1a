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
