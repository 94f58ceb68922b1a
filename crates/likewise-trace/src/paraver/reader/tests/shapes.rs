//! Records in shapes that change nothing.

use super::*;

#[test]
fn states_of_no_length_change_no_burst_wherever_they_stand() {
    let running = "1:1:1:1:1:0:20:1\n1:1:1:1:1:20:50:1\n";
    let all = |records: &str| {
        let trace = read_text(&format!("{HEAD}{records}"), &ReadOptions::default()).unwrap();
        let times =
            trace.table.begin.iter().zip(&trace.table.duration).map(|(begin, long)| (begin.0, long.0));
        (times.collect::<Vec<_>>(), trace.report.warnings.iter().any(|said| said.contains("overlap")))
    };
    let expected = (vec![(0, 20_000), (20_000, 30_000)], false);
    assert_eq!(all(running), expected);
    let none = "1:1:1:1:1:20:20:13\n";
    let (first, second) = running.split_at(17);
    assert_eq!(all(&format!("{first}{none}{second}")), expected, "before the second");
    assert_eq!(all(&format!("{running}{none}")), expected, "behind it");
    assert_eq!(all(&format!("{running}1:1:1:1:1:30:30:9\n")), expected, "within it");
}

#[test]
fn blanks_behind_a_record_are_no_part_of_it() {
    let text = format!("{HEAD}1:1:1:1:1:0:5:1 \n2:1:1:1:1:5:42000050:7\t \r\n");
    let trace = read_text(&text, &ReadOptions::default()).unwrap();
    assert_eq!((trace.table.len(), trace.table.counters[0].values.get(0)), (1, 7.0));
}
