//! Where the part of a run is that is looked at: MPI_Init, MPI_Finalize and the last state.

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
