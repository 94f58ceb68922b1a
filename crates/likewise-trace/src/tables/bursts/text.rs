//! A table of bursts as text.

use csv::ByteRecord;
use likewise::table::{BurstTable, Nanos};

use super::{Layout, Role, finished};
use crate::bytes::Input;
use crate::error::{Error, ErrorKind, Place, Result, TRACE_OR_BURSTS, found};
use crate::tables::dialect::{Dialect, is_missing, whole_number};
use crate::tables::rows::Rows;
use crate::trace::{ReadOptions, ReadReport, Trace};

/// One row; counters beside it.
struct Row {
    app: u32,
    task: u32,
    thread: u32,
    begin: u64,
    duration: u64,
}

fn row(
    layout: &Layout,
    dialect: Dialect,
    record: &ByteRecord,
    counters: &mut [f64],
) -> std::result::Result<Row, ErrorKind> {
    let (mut begin, mut duration) = ((0, 0.0), (0, 0.0));
    let mut row = Row { app: 1, task: 0, thread: 1, begin: 0, duration: 0 };
    for (i, (cell, role)) in record.iter().zip(&layout.roles).enumerate() {
        let cell = cell.trim_ascii();
        let bad =
            |what| ErrorKind::Cell { column: i + 1, name: layout.names[i].clone(), what, found: found(cell) };
        let id = |least: u32, what| {
            let id = whole_number(cell).and_then(|n| u32::try_from(n).ok());
            id.filter(|id| (least..u32::MAX).contains(id)).ok_or_else(|| bad(what))
        };
        let time = || dialect.time(cell).ok_or_else(|| bad("a time in nanoseconds"));
        match *role {
            Role::App => row.app = id(1, "a number from 1")?,
            Role::Task => row.task = id(0, "a number from 0")?,
            Role::Thread => row.thread = id(0, "a number from 0")?,
            Role::Begin => begin = time()?,
            Role::Duration => duration = time()?,
            Role::Counter(c) if is_missing(cell) => counters[c] = f64::NAN,
            Role::Counter(c) => {
                let value = dialect.number(cell).filter(|v| v.is_finite());
                counters[c] = value.ok_or_else(|| bad("a finite number, or nothing where it is missing"))?;
            }
            Role::Ignored => {}
        }
    }
    (row.begin, row.duration) = in_whole_ns(begin, duration).ok_or(ErrorKind::TimeOverflow)?;
    Ok(row)
}

/// Begin and duration in whole ns, of whole numbers and fractions. Begin and end are rounded, so that
/// bursts that follow one another still do. `None` if the end is beyond all times.
fn in_whole_ns(begin: (u64, f64), duration: (u64, f64)) -> Option<(u64, u64)> {
    let end = begin.0.checked_add(duration.0)?.checked_add((begin.1 + duration.1).round() as u64)?;
    let begin = begin.0.checked_add(begin.1.round() as u64)?;
    // Both are rounded alike, and no burst ends before it begins.
    Some((begin, end.checked_sub(begin)?))
}

/// Reads a table of bursts.
pub(crate) fn read(input: Input, options: &ReadOptions<'_>) -> Result<Trace> {
    let mut rows = Rows::open(input, TRACE_OR_BURSTS)?;
    let layout = Layout::of(rows.names.clone()).map_err(|kind| rows.wrong(rows.header_line, kind))?;
    let mut table = layout.empty_table();
    let mut report = ReadReport { lines: 1, ..ReadReport::default() };
    let mut counters = vec![f64::NAN; table.counters.len()];
    loop {
        let dialect = rows.dialect;
        let next = match rows.next() {
            Ok(None) => break,
            Ok(Some((record, line))) => {
                row(&layout, dialect, record, &mut counters).map_err(|kind| (line, kind))
            }
            // Only a wrong number of cells lets the reading go on.
            Err(Error { place: Place::Line(line), kind, .. })
                if matches!(*kind, ErrorKind::Expected { .. }) =>
            {
                Err((line, *kind))
            }
            Err(error) => return Err(error),
        };
        report.lines += 1;
        match next.map_err(|(line, kind)| rows.wrong(line, kind)) {
            Ok(row) => push(&mut table, &row, &counters),
            Err(error) if options.lenient => {
                report.records.skipped += 1;
                if report.records.skipped <= 3 {
                    report.warnings.push(format!("skipped: {error}"));
                }
            }
            Err(error) => return Err(error),
        }
        rows.report(options.progress);
    }
    if report.lines == 1 {
        return Err(Error::whole(&rows.path, ErrorKind::OnlyHeader("bursts")));
    }
    report.bytes = rows.consumed();
    report.warnings.extend(rows.notes());
    Ok(finished(table, &layout, report, options.apps))
}

fn push(table: &mut BurstTable, row: &Row, counters: &[f64]) {
    table.app.push(row.app);
    table.task.push(row.task);
    table.thread.push(row.thread);
    table.begin.push(Nanos(row.begin));
    table.duration.push(Nanos(row.duration));
    for (column, &value) in table.counters.iter_mut().zip(counters) {
        column.values.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Apps;

    fn parse(text: &str) -> Result<Trace> {
        read(Input::from_bytes(text.as_bytes()), &ReadOptions::default())
    }

    #[test]
    fn reads_what_bursts_csv_writes() {
        let text = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS,\"a, b\",n_PAPI_TOT_INS,cluster\n\
            2,1,5,10,100,1.5,0.5,noise\n1,1,7,3,,2e3,,missing\n1,1,0,7,8,9,0.1,1\n";
        let trace = parse(text).unwrap();
        let t = &trace.table;
        assert!(t.task == [1, 1, 2] && t.thread == [1, 1, 1]);
        assert_eq!(t.begin, [Nanos(0), Nanos(7), Nanos(5)]);
        let names: Vec<&str> = t.counters.iter().map(|c| c.counter.name.as_str()).collect();
        assert_eq!(names, ["PAPI_TOT_INS", "a, b"]);
        let ins: Vec<f64> = t.counters[0].values.iter().collect();
        assert!(ins[0] == 8.0 && ins[1].is_nan() && ins[2] == 100.0);
        assert!(t.counters[1].values.iter().eq([9.0, 2000.0, 1.5]));
    }

    #[test]
    fn without_a_column_of_threads_each_task_has_one() {
        let trace = parse("begin_ns,task,duration_ns\n5,2,10\n0,1,7\n20,2,1\n").unwrap();
        assert!(trace.table.task == [1, 2, 2] && trace.table.thread == [1, 1, 1]);
        let said = ["there is no column 'thread': each task is taken to have one thread"];
        assert_eq!(trace.report.warnings, said);
        assert!(parse("task,thread,begin_ns,duration_ns\n1,1,0,7\n").unwrap().report.warnings.is_empty());
    }

    #[test]
    fn the_run_begins_with_the_first_burst() {
        let text = |from: u64| {
            let of = |at: u64| 1_700_000_000_000_000_000 * from + at;
            format!(
                "app,task,begin_ns,duration_ns\n2,1,{},7\n1,2,{},10\n1,1,{},7\n",
                of(0),
                of(25),
                of(5 + from)
            )
        };
        let read = |from| {
            let options = ReadOptions { apps: Apps::One(1), ..ReadOptions::default() };
            read(Input::from_bytes(text(from).as_bytes()), &options).unwrap()
        };
        // That of the application that is read.
        for (from, origin, begin) in [(0, 5, 20), (1, 1_700_000_000_000_000_006, 19)] {
            let trace = read(from);
            assert_eq!((&trace.table.begin[..], trace.origin), (&[0, begin].map(Nanos)[..], Nanos(origin)));
            assert_eq!(trace.end, Nanos(begin + 10));
            let said = format!("the run is taken to begin with its first burst, at {origin} ns of the table");
            assert!(trace.report.warnings.last().is_some_and(|note| note.starts_with(&said)));
        }
        let trace = parse("task,thread,begin_ns,duration_ns\n1,1,9,1\n2,1,0,7\n").unwrap();
        assert!(trace.origin == Nanos::ZERO && trace.report.warnings.is_empty());
    }

    #[test]
    fn rows_in_the_order_of_time_come_by_thread() {
        let row = |i: u64| format!("{},{},{},{i},1,{}\n", 2 - i / 3 % 2, 1 + i % 3, 1 + i / 6 % 2, 10 * i);
        let rows: String = (0..60).map(row).collect();
        let text = format!("app,task,thread,begin_ns,duration_ns,N\n{rows}");
        for (apps, expected) in [(Apps::All, 1..3), (Apps::One(2), 2..3), (Apps::First, 1..2)] {
            let options = ReadOptions { apps, ..ReadOptions::default() };
            let Trace { table, origin, .. } = read(Input::from_bytes(text.as_bytes()), &options).unwrap();
            let key = |i: usize| (table.thread_of(i), table.begin[i]);
            assert!((1..table.len()).all(|i| key(i - 1) < key(i)));
            assert_eq!(table.len(), 30 * expected.len());
            assert_eq!(table.threads().count(), 6 * expected.len());
            for i in 0..table.len() {
                let Nanos(begin) = table.begin[i].saturating_add(origin);
                let (app, task, thread) = table.thread_of(i);
                assert!(expected.contains(&app) && u64::from(app) == 2 - begin / 3 % 2);
                assert_eq!((u64::from(task), u64::from(thread)), (1 + begin % 3, 1 + begin / 6 % 2));
                assert_eq!(table.counters[0].values.get(i), 10.0 * begin as f64);
            }
        }
    }

    #[test]
    fn says_line_and_column_of_what_is_wrong() {
        let head = "task,thread,begin_ns,duration_ns,ins\n1,1,0,5,1\n";
        for (row, said) in [
            ("1,1,0,5,inf", "test.prv:3: column 5 (ins): expected a finite number"),
            ("1,1,0,5,-inf", "column 5 (ins)"),
            ("1,1,0,5,x", "found 'x'"),
            ("-1,1,0,5,1", "column 1 (task): expected a number from 0, found '-1'"),
            ("4294967295,1,0,5,1", "column 1 (task): expected a number from 0"),
            ("1,1,-1,5,1", "column 3 (begin_ns): expected a time in nanoseconds, found '-1'"),
            ("1,1,0,5", "test.prv:3: expected 5 cells as in the first line, found 4"),
            ("1,1,18446744073709551615,5,1", "exceed"),
        ] {
            let error = parse(&format!("{head}{row}\n")).unwrap_err().to_string();
            assert!(error.contains(said), "{row}: {error}");
        }
        let error = parse("task,thread,begin_ns,x\n").unwrap_err().to_string();
        assert!(error.contains("no column 'duration_ns'"), "{error}");
        let error = parse("task,thread,begin_ns,duration_ns\n").unwrap_err().to_string();
        assert_eq!(error, "test.prv: the table has a header but no bursts");
    }

    #[test]
    fn a_counter_may_be_called_as_our_normalised_metrics_are() {
        let names = |header: &str, row: &str| {
            let text = format!("task,thread,begin_ns,duration_ns,{header}\n1,1,0,10,{row}\n");
            let input = Input::from_bytes(text.as_bytes());
            let table = read(input, &ReadOptions::default()).unwrap().table;
            let mut names: Vec<String> = table.counters.into_iter().map(|c| c.counter.name).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names("n_calls,IPC", "5,1"), ["IPC", "n_calls"]);
        assert_eq!(names("IPC,n_IPC,n_calls,cluster", "1,0.5,7,noise"), ["IPC", "n_calls"]);
    }

    #[test]
    fn times_may_have_fractions() {
        let times = |text: &str| {
            let trace = parse(text).unwrap();
            assert!(trace.report.warnings.iter().all(|note| !note.contains("counted twice")), "{text}");
            let table = trace.table;
            (0..table.len()).map(|i| (table.begin[i].0, table.duration[i].0)).collect::<Vec<_>>()
        };
        let head = "task,thread,begin_ns,duration_ns\n";
        // The second begins when the first ends, and both are rounded up.
        let text = format!("{head}1,1,0,0.5\n1,1,0.5,0.5\n1,1,1,5342402.5\n1,1,1.7e19,0.25\n");
        assert_eq!(times(&text), [(0, 1), (1, 0), (1, 5_342_403), (17_000_000_000_000_000_000, 0)]);
        // Larger than what a number in floating point tells apart.
        let text = format!("{head}1,1,0,1\n1,1,1700000000000000001.5,2.5\n");
        assert_eq!(times(&text)[1], (1_700_000_000_000_000_002, 2));
        let commas = "task;thread;begin_ns;duration_ns\n1;1;0,0;2,5\n1;1;1000,25;2,5\n";
        assert_eq!(times(commas), [(0, 3), (1000, 3)]);
        for wrong in ["-0.5", "1.5x", "nan", "1.9e19", "1.-5", "."] {
            let error = parse(&format!("{head}1,1,{wrong},1\n")).unwrap_err().to_string();
            assert!(error.contains("expected a time in nanoseconds"), "{wrong}: {error}");
        }
    }

    #[test]
    fn tasks_and_threads_may_count_from_0() {
        let text = "task,thread,begin_ns,duration_ns\n2,1,0,1\n0,1,0,1\n1,2,0,1\n";
        let trace = parse(text).unwrap();
        assert!(trace.table.task == [1, 2, 3] && trace.table.thread == [1, 2, 1]);
        assert_eq!(trace.report.warnings, ["tasks 0 to 2 of the table are tasks 1 to 3 here"]);
        let trace = parse("task,thread,begin_ns,duration_ns\n4,0,0,1\n").unwrap();
        assert!(trace.table.task == [4] && trace.table.thread == [1]);
        assert_eq!(trace.report.warnings, ["thread 0 of the table is thread 1 here"]);
    }

    #[test]
    fn the_case_of_letters_does_not_matter() {
        let layout = |names: &str| Layout::of(names.split(',').map(str::to_owned).collect());
        let trace = parse("TASK,Thread,Begin_NS,DURATION_NS,PAPI_TOT_INS\n1,1,0,7,9\n").unwrap();
        assert_eq!((trace.table.duration[0], trace.table.counters.len()), (Nanos(7), 1));
        // A name that is written as it should be is the column; another one is a counter.
        let roles = layout("task,TASK,begin_ns,duration_ns").unwrap().roles;
        assert!(roles[..2] == [Role::Task, Role::Counter(0)]);
        // Which of two is meant, nobody can tell.
        assert!(layout("Task,TASK,begin_ns,duration_ns").is_err());
    }

    #[test]
    fn impossible_counts_are_missing() {
        // 100 for each ns, and 1 µs more; of a burst of 10 ns, 101,000.
        let text = |counts: [&str; 2]| {
            let head = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS,instructions,bytes,PAPI_A/PAPI_B\n";
            let row = |(i, n): (usize, &&str)| format!("1,1,{},10,{n},7,{n},{n}\n", 10 * i);
            head.to_owned() + &counts.iter().enumerate().map(row).collect::<String>()
        };
        let counts = |trace: &Trace, name: &str| -> Vec<f64> {
            trace.table.counter(name).unwrap().values.iter().collect()
        };
        for possible in ["0", "101000", ""] {
            assert_eq!(parse(&text(["5", possible])).unwrap().report.warnings, [""; 0], "{possible}");
        }
        for impossible in ["101001", "4611686018427387904", "-1"] {
            let trace = parse(&text(["5", impossible])).unwrap();
            let said = "the counts of 'PAPI_TOT_INS' are impossible in 1 burst of 2 (negative, or over 100 a \
                        nanosecond); they are missing there";
            assert_eq!(trace.report.warnings, [said]);
            let known = counts(&trace, "PAPI_TOT_INS");
            assert!(known[0] == 5.0 && known[1].is_nan());
            // What else a column may be called, nobody can tell what it holds.
            for other in ["bytes", "PAPI_A/PAPI_B"] {
                assert_eq!(counts(&trace, other)[1], impossible.parse::<f64>().unwrap());
            }
        }
        let trace = parse(&text(["-5", "-5"])).unwrap();
        assert!(trace.report.warnings[0].ends_with("so many that the counter is left out"));
        assert!(counts(&trace, "PAPI_TOT_INS").iter().all(|n| n.is_nan()));
        assert_eq!(counts(&trace, "instructions"), [7.0, 7.0]);
        let text = text(["5", "6"]).replace("bytes", "INST_RETIRED:ANY").replace(",7,6,", ",7,1e9,");
        assert_eq!(parse(&text).unwrap().report.warnings.len(), 1);
    }

    #[test]
    fn lenient_skips_and_counts() {
        let text = "task,thread,begin_ns,duration_ns\n1,1,0,5\nx,1,0,5\n1,1\n1,1,9,5\n";
        let options = ReadOptions { lenient: true, ..ReadOptions::default() };
        let trace = read(Input::from_bytes(text.as_bytes()), &options).unwrap();
        assert_eq!((trace.table.len(), trace.report.records.skipped), (2, 2));
    }

    #[test]
    fn bursts_that_overlap_are_told() {
        let text =
            "task,thread,begin_ns,duration_ns\n2,1,8,1\n1,1,0,10\n1,1,3,2\n1,2,4,9\n1,1,9,5\n2,1,9,1\n";
        let trace = parse(text).unwrap();
        assert_eq!(
            trace.report.warnings,
            [
                "2 bursts begin before an earlier one of the thread has ended, the first on task 1, thread 1 at 3 ns: \
              that time is counted twice"
            ]
        );
        assert!(
            parse("task,thread,begin_ns,duration_ns\n1,1,0,3\n1,1,3,1\n").unwrap().report.warnings.is_empty()
        );
    }

    #[test]
    fn any_separator_and_missing_values() {
        let plain = parse("task,thread,begin_ns,duration_ns,ins,x\n1,1,0,5,,1.5\n1,1,7,5,8,2\n").unwrap();
        for text in [
            ",task;thread;begin_ns;duration_ns;ins;x\n0;1;1;0;5;NA;1,5\n1;1;1;7;5;8;2\n"
                .replace(",task", ";task"),
            "task thread begin_ns duration_ns ins x\n1 1 0 5 NaN 1.5\n1 1 7 5 8 2\n".to_owned(),
            "# a\ntask\tthread\tbegin_ns\tduration_ns\tins\tx\r\n1\t1\t0\t5\tnull\t1.5\r\n1\t1\t7\t5\t8\t2"
                .to_owned(),
        ] {
            let trace = parse(&text).unwrap();
            assert_eq!(format!("{:?}", trace.table), format!("{:?}", plain.table), "{text}");
        }
        let taken = plain.report.columns.unwrap();
        assert_eq!((taken.numbers, taken.names.len()), (vec!["ins".to_owned(), "x".into()], 4));
    }
}
