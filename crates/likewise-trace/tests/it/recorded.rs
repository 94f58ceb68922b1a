//! Recordings of `likewise record`, read as traces.

use likewise_recording::calls::number;
use likewise_recording::role::{ANY, NONE, PROC_NULL};
use likewise_recording::{CallId, Part, RankMeta, Recorder, RecorderOptions, Stand, Times, Timing, file};
use likewise_testing::recorded::Program;
use likewise_trace::recording;
use likewise_trace::{ReadOptions, bursts_of, is_rereadable, is_ungrouped, read_bursts};

#[test]
fn bursts_lie_between_the_calls_with_counters_and_code() {
    let dir = tempfile::tempdir().unwrap();
    let log = Program::default().write(dir.path());
    let trace = read_bursts(dir.path(), &ReadOptions::default()).unwrap();
    let table = &trace.table;
    let expected: Vec<(u32, u64, u64)> = log
        .iter()
        .zip(1..)
        .flat_map(|(events, task)| events.iter().map(move |e| (task, e.time.0 - e.gap, e.gap)))
        .filter(|burst| burst.2 > 0)
        .collect();
    let found: Vec<_> =
        (0..table.len()).map(|i| (table.task[i], table.begin[i].0, table.duration[i].0)).collect();
    assert_eq!(found, expected);
    let counter = table.counter("instructions").expect("it was recorded");
    assert!(counter.values.iter().zip(&expected).all(|(count, burst)| count == 3.0 * burst.2 as f64));
    assert_eq!(counter.counter.preset(), Some("PAPI_TOT_INS"));
    let code = table.code.as_ref().expect("call paths");
    let named = |place: Option<likewise::table::PlaceId>| place.map_or("", |place| code.name(place));
    let region = code.regions.get(4);
    assert_eq!((named(region.before), named(region.after)), ("app+0x230", "app+0x240"));
    // What step calls returns to main at one place: without symbols, its address there.
    assert_eq!(named(region.function), "app+0x120");
    assert_eq!(trace.topology.as_ref().map(|t| (t.nodes, t.cpus.clone())), Some((2, vec![2, 2])));
    // How long a rank took is rounded to µs.
    let end = log.iter().map(|events| events.last().unwrap().time.1).max().unwrap();
    assert!(trace.end.0.abs_diff(end) <= 1_100, "{} {end}", trace.end.0);
    assert_eq!(trace.report.warnings.len(), 1, "{:?}", trace.report.warnings);
    assert!(trace.report.warnings[0].contains("no such file"), "{:?}", trace.report.warnings);
}

#[test]
fn drawn_times_are_told_first() {
    let dir = tempfile::tempdir().unwrap();
    let log = Program { times: Times::Histogram, ..Program::default() }.write(dir.path());
    let trace = read_bursts(dir.path(), &ReadOptions::default()).unwrap();
    assert!(
        trace.report.warnings[0].contains("`--times all`")
            || trace.report.warnings[0].contains("--times all")
    );
    let sum: u64 = log.iter().flatten().map(|event| event.gap).sum();
    let computed = trace.table.computing_time().0;
    assert!(computed.abs_diff(sum) * 1000 < 22 * sum, "{computed} of {sum}");
}

#[test]
fn folders_are_traces_only_with_a_recording() {
    let dir = tempfile::tempdir().unwrap();
    let error = read_bursts(dir.path(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("expected 'recording.likewise'"), "{error}");
    assert!(!is_rereadable(dir.path()));
    Program::default().write(dir.path());
    let file = dir.path().join("recording.likewise");
    assert!(is_rereadable(dir.path()) && bursts_of(dir.path()).unwrap().is_some());
    assert!(is_ungrouped(&file).unwrap());
    let of_file = read_bursts(&file, &ReadOptions::default()).unwrap().table;
    assert_eq!(of_file.begin, read_bursts(dir.path(), &ReadOptions::default()).unwrap().table.begin);
}

#[test]
fn a_cut_or_damaged_file_is_an_error_or_says_what_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    Program::default().write(dir.path());
    let file = dir.path().join("recording.likewise");
    let whole = std::fs::read(&file).unwrap();
    let n = read_bursts(dir.path(), &ReadOptions::default()).unwrap().table.len();
    for length in [0, 5, 8, 20, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&file, &whole[..length]).unwrap();
        match read_bursts(dir.path(), &ReadOptions::default()) {
            Ok(trace) => {
                let told = trace.report.warnings.iter().any(|warning| warning.contains("not complete"));
                assert!(told || trace.table.len() == n, "{length}: {:?}", trace.report.warnings);
            }
            Err(error) => assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}"),
        }
    }
}

#[test]
fn bursts_are_those_of_ranks_that_were_recorded_throughout() {
    let (whole, led) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    Program::default().write(whole.path());
    Program::default().write_led(led.path(), 10, 15);
    let [whole, trace] = [&whole, &led].map(|dir| read_bursts(dir.path(), &ReadOptions::default()).unwrap());
    let n = whole.table.task.iter().filter(|task| **task <= 2).count();
    assert_eq!(trace.table.begin, whole.table.begin[..n]);
    assert!(trace.table.task.iter().eq(whole.table.task.iter().take(n)));
    let said = |warnings: &[String], what: &str| warnings.iter().any(|warning| warning.contains(what));
    assert!(
        said(&trace.report.warnings, "2 of 4 ranks were recorded throughout"),
        "{:?}",
        trace.report.warnings
    );
    // Paraver's of the same ranks has the same bursts; that of all ranks says whose times it has.
    let recording = recording::open(led.path()).unwrap();
    let stem = led.path().join("measured");
    let (files, warnings) = recording::write_measured_prv(&recording, led.path(), &stem).unwrap();
    files.into_iter().for_each(|file| file.commit().unwrap());
    assert!(said(&warnings, "2 of 4 ranks"), "{warnings:?}");
    let measured = read_bursts(&stem.with_extension("prv"), &ReadOptions::default()).unwrap();
    assert_eq!(measured.table.begin, trace.table.begin);
    let (files, warnings) = recording::write_prv(&recording, led.path(), &led.path().join("all")).unwrap();
    assert!(files.len() == 3 && said(&warnings, "those of leads"), "{warnings:?}");
    let summary = recording::summarise(&recording, led.path()).unwrap();
    assert!(said(&summary.warnings, "those of leads"), "{:?}", summary.warnings);
    assert_eq!(summary.ranks.len(), 4);
}

#[test]
fn rows_of_ranks_behind_leads_have_their_own_peers() {
    let of = |write: fn(&Program, &std::path::Path)| {
        let dir = tempfile::tempdir().unwrap();
        let program = Program { times: Times::All, ..Program::default() };
        write(&program, dir.path());
        rows(dir.path())
    };
    let whole = of(|program, dir| drop(program.write(dir)));
    let led = of(|program, dir| drop(program.write_led(dir, 10, 15)));
    assert_eq!(whole.len(), led.len());
    for (whole, led) in whole.iter().zip(&led) {
        assert_eq!(whole[..10], led[..10]);
        assert!(led[12].is_empty() || (led[12] == "1" && whole[0] != "0"));
    }
    let stood = |rank: &str| led.iter().filter(|row| row[0] == rank && !row[12].is_empty()).count();
    assert_eq!((stood("0"), stood("1"), stood("2"), stood("3")), (0, 0, 21, 21));
}

#[test]
fn without_a_rank_that_was_recorded_throughout_there_are_no_bursts() {
    let dir = tempfile::tempdir().unwrap();
    let made = |rank: u32| {
        let mut recorder = Recorder::new(&RecorderOptions::default());
        let symbol = recorder.symbol(number::Barrier, 0);
        recorder.event(symbol, &[0], &Timing { gap: 5, length: 5, ..Timing::default() });
        let mut part = recorder.take(&RankMeta { rank, size: 2, ..RankMeta::default() });
        part.stand(vec![Stand { lead: rank, events: 1, ranks: vec![1 - rank] }]);
        part
    };
    let bytes = [file::head(), file::section(0, &made(0)), file::section(1, &made(1))].concat();
    std::fs::write(dir.path().join("recording.likewise"), bytes).unwrap();
    let error = read_bursts(dir.path(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("no rank was recorded throughout"), "{error}");
}

/// Rows of the CSV of a program.
fn events(program: &Program) -> Vec<Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    program.write(dir.path());
    rows(dir.path())
}

/// Rows of the CSV of a recording without its first line, as cells.
fn rows(dir: &std::path::Path) -> Vec<Vec<String>> {
    let recording = recording::open(dir).unwrap();
    let mut text = Vec::new();
    let (n, problems) = recording::write_events_csv(&recording, dir, &mut text).unwrap();
    assert_eq!(problems, Vec::<String>::new());
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("rank,index,call,comm,peer,tag,count,bytes,root,path,begin_ns,end_ns,lead")
    );
    let rows: Vec<Vec<String>> = lines.map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert_eq!(rows.len() as u64, n);
    rows
}

#[test]
fn every_event_is_a_row_with_peers_and_bytes() {
    let program = Program::default();
    let rows = events(&program);
    let log = program.write(tempfile::tempdir().unwrap().path());
    assert_eq!(rows.len(), log.iter().map(Vec::len).sum::<usize>());
    let mut row = rows.iter();
    for (rank, events) in log.iter().enumerate() {
        for (index, event) in events.iter().enumerate() {
            let row = row.next().unwrap();
            let expected = [rank.to_string(), index.to_string(), event.call.name().to_owned()];
            assert_eq!(row[..3], expected);
            assert_eq!(row[10..12], [event.time.0.to_string(), event.time.1.to_string()]);
        }
    }
    let first = |rank: &str, call: &str| {
        let row = rows.iter().find(|row| row[0] == rank && row[2] == call).unwrap();
        row[3..9].join(",")
    };
    assert_eq!(first("0", "MPI_Init"), ",,,,,");
    assert_eq!(first("0", "MPI_Comm_split"), "0,,,,,");
    assert_eq!(first("0", "MPI_Irecv"), "0,3,5,64,512,");
    assert_eq!(first("3", "MPI_Isend"), "0,0,5,64,512,");
    assert_eq!(first("2", "MPI_Allreduce"), "2,,,1,8,");
    assert_eq!(first("0", "MPI_Recv"), "0,1,7,8,32,", "whom the wildcard heard from");
    assert_eq!(first("3", "MPI_Send"), "0,0,7,8,32,");
    assert_eq!(first("1", "MPI_Alltoallv"), "0,,,,40,", "the sum of the counts");
    assert_eq!(first("1", "MPI_Comm_free"), "2,,,,,");
}

#[test]
fn frames_of_call_paths_are_rows() {
    let dir = tempfile::tempdir().unwrap();
    Program::default().write(dir.path());
    let recording = recording::open(dir.path()).unwrap();
    let mut source = recording::Source::new(recording.modules());
    let rows = recording::path_rows(&recording, &mut source);
    let mut text = Vec::new();
    recording::write_paths_csv(&rows, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("path,depth,function,file,line,module,offset\n"), "{text}");
    assert!(
        text.contains(",0,app+0x210,,,app,0x210\n") && text.contains(",1,app+0x120,,,app,0x120\n"),
        "{text}"
    );
}

#[test]
fn the_paraver_trace_has_the_same_bursts_and_all_messages() {
    for times in [Times::All, Times::Histogram] {
        let dir = tempfile::tempdir().unwrap();
        Program { times, ..Program::default() }.write(dir.path());
        let recording = recording::open(dir.path()).unwrap();
        let (files, _) = recording::write_prv(&recording, dir.path(), &dir.path().join("out")).unwrap();
        files.into_iter().for_each(|file| file.commit().unwrap());
        let prv = dir.path().join("out.prv");
        let direct = read_bursts(dir.path(), &ReadOptions::default()).unwrap();
        let copied = read_bursts(&prv, &ReadOptions::default()).unwrap();
        assert_eq!(copied.report.warnings, Vec::<String>::new());
        assert_eq!(direct.topology, copied.topology);
        assert_eq!(direct.end, copied.end);
        let (a, b) = (&direct.table, &copied.table);
        assert_eq!((&a.task, &a.thread, &a.begin, &a.duration), (&b.task, &b.thread, &b.begin, &b.duration));
        let [one, other] = [a, b].map(|table| table.code.as_ref().expect("calls are known"));
        assert_eq!(one.places, other.places);
        assert!(one.regions.iter().eq(other.regions.iter()));
        // The same path is the same in both, by whatever number.
        let pairs: std::collections::BTreeSet<_> =
            (0..a.len()).map(|i| (one.regions.path(i), other.regions.path(i))).collect();
        let of_one: std::collections::BTreeSet<_> = pairs.iter().map(|pair| pair.0).collect();
        let of_other: std::collections::BTreeSet<_> = pairs.iter().map(|pair| pair.1).collect();
        assert_eq!((of_one.len(), of_other.len()), (pairs.len(), pairs.len()), "{pairs:?}");
        assert!(pairs.len() > 3, "{pairs:?}");
        for (one, other) in a.counters.iter().zip(&b.counters) {
            assert_eq!((&one.counter, &one.values), (&other.counter, &other.values));
        }
        assert_eq!(a.counters.len(), 2);
        let text = std::fs::read_to_string(&prv).unwrap();
        // Four ranks send 20 messages around the ring, and three four times to rank 0.
        assert_eq!(copied.report.records.communications, 4 * 20 + 3 * 4);
        assert_eq!(copied.report.records.communicators, 1 + 4 + 2, "the world, four of one rank, the halves");
        let times = text.lines().filter(|line| line.starts_with(['1', '2', '3'])).map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            fields[if line.starts_with('3') { 6 } else { 5 }].parse::<u64>().unwrap()
        });
        assert!(times.is_sorted(), "records are in order of time");
    }
}

/// A recording of ranks that make these calls, each a microsecond after the last.
fn recorded(dir: &std::path::Path, ranks: &[&[(CallId, &[i64])]]) {
    let mut whole: Option<Part> = None;
    for (calls, rank) in ranks.iter().zip(0..) {
        let mut recorder =
            Recorder::new(&RecorderOptions { times: Times::All, ..RecorderOptions::default() });
        recorder.datatype("MPI_DOUBLE", 8, 8);
        let path = recorder.path(&[]);
        for (call, values) in *calls {
            let symbol = recorder.symbol(*call, path);
            recorder.event(symbol, values, &Timing { gap: 1_000, length: 100, ..Timing::default() });
        }
        let size = ranks.len() as u32;
        let part = recorder.take(&RankMeta { rank, size, node: "n".to_owned(), ..RankMeta::default() });
        match &mut whole {
            Some(whole) => whole.merge(&part),
            None => whole = Some(part),
        }
    }
    let section = file::section(0, &whole.unwrap());
    let bytes = [file::head(), section.clone(), file::foot(&[section.len()])].concat();
    std::fs::write(dir.join("recording.likewise"), bytes).unwrap();
}

/// What goes to nobody is no bytes; what goes to a rank is.
#[test]
fn a_call_without_another_side_moves_no_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let edge: &[(CallId, &[i64])] = &[
        (number::Send, &[100, 0, PROC_NULL, 9, 0]),
        (number::Isend, &[100, 0, PROC_NULL, 9, 0, 0]),
        (number::Send, &[3, 0, 1, 9, 0]),
    ];
    let inner: &[(CallId, &[i64])] = &[(number::Send, &[5, 0, 1, 9, 0]), (number::Send, &[7, 0, 1, 9, 0])];
    recorded(dir.path(), &[edge, inner]);
    let recording = recording::open(dir.path()).unwrap();
    let summary = recording::summarise(&recording, dir.path()).unwrap();
    let of = |call: &str| {
        let sites = summary.sites.iter().filter(|site| site.call == call);
        sites.fold((0, 0), |(n, bytes), site| {
            (n + site.count, bytes + site.bytes.expect("their bytes are known"))
        })
    };
    assert_eq!(of("MPI_Send"), (4, 8 * (3 + 5 + 7)));
    assert_eq!(of("MPI_Isend"), (1, 0));
}

#[test]
fn messages_of_persistent_wildcard_and_matched_receives_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let sender: &[(CallId, &[i64])] = &[
        (number::Send_init, &[1, 0, 1, 3, 0, 0]),
        (number::Start, &[0]),
        (number::Wait, &[0, 0]),
        (number::Start, &[0]),
        (number::Wait, &[0, 0]),
        (number::Isend, &[2, 0, 1, 4, 0, 1]),
        (number::Wait, &[1, 0]),
        (number::Send, &[3, 0, 1, 9, 0]),
        (number::Send, &[3, 0, PROC_NULL, 9, 0]),
        (number::Request_free, &[0]),
    ];
    let receiver: &[(CallId, &[i64])] = &[
        (number::Irecv, &[1, 0, ANY, ANY, 0, 0]),
        (number::Irecv, &[1, 0, ANY, 3, 0, 1]),
        // Both are done: the first heard tag 3 from the rank before.
        (number::Waitsome, &[2, 2, 0, 1, 2, 2, 1, 0, 4, 1, 3, 1, NONE]),
        (number::Iprobe, &[1, 4, 0, 0, NONE, NONE]),
        (number::Mprobe, &[ANY, 4, 0, 0, 1, NONE]),
        (number::Mrecv, &[2, 0, 0]),
        (number::Irecv, &[3, 0, 1, 9, 0, 0]),
        (number::Test, &[0, 0, 0]),
        (number::Test, &[0, 1, 0]),
    ];
    recorded(dir.path(), &[sender, receiver]);
    let recording = recording::open(dir.path()).unwrap();
    let (files, warnings) = recording::write_prv(&recording, dir.path(), &dir.path().join("out")).unwrap();
    files.into_iter().for_each(|file| file.commit().unwrap());
    assert_eq!(warnings, Vec::<String>::new());
    let text = std::fs::read_to_string(dir.path().join("out.prv")).unwrap();
    let messages: Vec<&str> = text.lines().filter(|line| line.starts_with('3')).collect();
    // The n-th call begins at 1,100 n − 100 and takes 100 ns.
    let expected = [
        "3:1:1:1:1:2100:2100:2:1:2:1:1000:3300:8:3",
        "3:1:1:1:1:4300:4300:2:1:2:1:2100:3300:8:3",
        "3:1:1:1:1:6500:6500:2:1:2:1:5400:6600:16:4",
        "3:1:1:1:1:8700:8700:2:1:2:1:7600:9900:24:9",
    ];
    assert_eq!(messages, expected, "{text}");
}
