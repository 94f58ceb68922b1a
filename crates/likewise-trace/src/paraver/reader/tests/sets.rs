//! Events of one thread at one time that stand on several lines.

use super::*;

/// Two tasks compute and call; a function and its line stand on one line or on several.
fn calls(pcf: &[u8], separate: bool) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made.prv");
    let mut text = String::from("#Paraver (01/01/2025 at 12:00):9000:1(2):1:2(1:1,1:1),0\n");
    for (step, task) in (0..40).flat_map(|step| (1..=2).map(move |task| (step, task))) {
        let (begin, end) = (10 * step, 10 * step + 8);
        text += &format!("1:{task}:1:{task}:1:{begin}:{end}:1\n");
        let caller = format!("70000001:{}:80000001:{}", 3 + step % 2, 7 + step % 3);
        let events = format!("50000001:{}:42000050:{}:{caller}", 1 + step % 3, 100 + step);
        let events = if separate {
            let numbers: Vec<&str> = events.split(':').collect();
            numbers.chunks(2).map(|pair| pair.join(":")).collect()
        } else {
            vec![events]
        };
        for pairs in events {
            text += &format!("2:{task}:1:{task}:1:{end}:{pairs}\n");
        }
        // A call of no length: its end and the next one are no set with it.
        text += &format!(
            "2:{task}:1:{task}:1:{end}:50000001:0\n2:{task}:1:{task}:1:{end}:50000001:9:70000001:5\n"
        );
    }
    std::fs::write(&path, text).unwrap();
    std::fs::write(path.with_extension("pcf"), pcf).unwrap();
    (dir, path)
}

/// The source line of a call was lost where it stood on a line of its own.
#[test]
fn a_caller_and_its_line_are_told_together_on_whichever_lines_they_stand() {
    let pcf = b"EVENT_TYPE\n7 42000050 PAPI_TOT_INS\n\nEVENT_TYPE\n0 70000001 Caller at level 1\nVALUES\n\
        3 here\n4 there\n5 last\n\nEVENT_TYPE\n0 80000001 Caller line at level 1\nVALUES\n7 71 (a.cc, x)\n\
        8 72 (a.cc, x)\n9 73 (a.cc, x)\n";
    let options = ReadOptions::default();
    let [(_one, one), (_several, several)] = [false, true].map(|separate| calls(pcf, separate));
    let read = |path: &Path, block: usize| read(Input::open(path).unwrap(), &options, block).unwrap();
    let whole = read(&one, 1 << 20);
    let places = &whole.table.code.as_ref().unwrap().places;
    assert!(places.iter().any(|place| place == "here (a.cc:71)"), "{places:?}");
    for block in [1, 64, 333, 1 << 20] {
        assert_eq!(
            format!("{:?}", read(&several, block).table),
            format!("{:?}", whole.table),
            "blocks of {block}"
        );
    }
    let alone = read(&several, 64);
    assert_eq!(alone.report.records.events, whole.report.records.events + 3 * 80);
    for size in [2, 3, 5] {
        assert_eq!(spread_over(size, &several, &options), Some(format!("{alone:?}")), "{size} processes");
    }
}
