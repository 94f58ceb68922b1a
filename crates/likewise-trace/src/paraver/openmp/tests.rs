//! Made-up programs of OpenMP with known regions.

use super::super::reader::read;
use crate::bytes::Input;
use crate::trace::{ReadOptions, Trace};
use std::io::Write;

/// Records of one task of several threads, by time.
#[derive(Default)]
struct Program {
    records: Vec<(u64, String)>,
}

impl Program {
    fn state(&mut self, thread: u32, begin: u64, end: u64, state: u32) {
        self.records.push((begin, format!("1:{thread}:1:1:{thread}:{begin}:{end}:{state}")));
    }

    /// An event, and the instructions since the last one.
    fn event(&mut self, thread: u32, time: u64, pairs: &str, instructions: u64) {
        let who = format!("2:{thread}:1:1:{thread}:{time}");
        self.records.push((time, format!("{who}:{pairs}:42000050:{instructions}")));
    }

    /// Runs from `begin` to `end`, with a lock of 2 ns in the middle.
    fn runs(&mut self, thread: u32, begin: u64, end: u64) {
        let lock = (begin + end) / 2;
        self.state(thread, begin, lock, 1);
        self.state(thread, lock, lock + 2, 5);
        self.event(thread, lock, "60000006:3", 40);
        self.state(thread, lock + 2, end, 1);
        self.event(thread, lock + 2, "60000006:6", 1);
    }

    /// A region on two threads, the second of which is done 10 ns earlier.
    fn region(&mut self, begin: u64, end: u64, function: u32) {
        self.state(1, begin - 5, begin, 7);
        self.event(1, begin - 5, "60000001:3", 50);
        for (thread, end) in [(1, end), (2, end - 10)] {
            self.event(thread, begin, &format!("60000018:{function}:60000118:{function}"), 3);
            self.runs(thread, begin, end);
            self.event(thread, end, "60000018:0:60000118:0", 60);
        }
        self.state(1, end, end + 5, 7);
        self.event(1, end + 5, "60000001:0", 2);
    }

    fn read(mut self) -> Trace {
        self.records.sort_by_key(|r| r.0);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.prv");
        let mut file = std::fs::File::create(&path).unwrap();
        writeln!(file, "#Paraver (x):1000_ns:0:1:1(2:1)").unwrap();
        self.records.iter().for_each(|(_, line)| writeln!(file, "{line}").unwrap());
        std::fs::write(dir.path().join("run.pcf"), PCF).unwrap();
        let mut traces = [64, 1 << 20].map(|block| {
            let trace = read(Input::open(&path).unwrap(), &ReadOptions::default(), block).unwrap();
            (bursts(&trace), trace)
        });
        assert_eq!(traces[0].0, traces[1].0, "blocks of any size");
        let [_, (_, trace)] = &mut traces;
        trace.clone()
    }
}

const PCF: &str = "EVENT_TYPE\n0 60000018 Executed OpenMP parallel function\n\
    0 60000023 Executed OpenMP task function\nVALUES\n0 End\n3 first\n4 second\n\n\
    EVENT_TYPE\n0 60000118 Executed OpenMP parallel function line and file\n\
    0 60000123 Executed OpenMP task function line and file\nVALUES\n0 End\n3 12 (a.c, a)\n4 34 (b.c, a)\n";

/// Thread, begin, end, instructions, code.
type Made = (u32, u64, u64, Option<u64>, String);

fn bursts(trace: &Trace) -> Vec<Made> {
    let table = &trace.table;
    let instructions = table.counters.iter().find(|c| c.counter.event_type == Some(42_000_050)).unwrap();
    let row = |i: usize| {
        let code = table.code.as_ref().unwrap();
        let region = code.regions.get(i);
        let name = |place: Option<_>| place.map_or("-", |place| code.name(place));
        let code = match region.function {
            Some(_) => name(region.function).to_owned(),
            None => format!("{} .. {}", name(region.before), name(region.after)),
        };
        let count = instructions.values.get(i);
        let count = (!count.is_nan()).then_some(count as u64);
        (table.thread[i], table.begin[i].0, table.end(i).0, count, code)
    };
    (0..table.len()).map(row).collect()
}

fn serial_and_two_regions() -> Program {
    let mut program = Program::default();
    program.event(1, 0, "40000001:1:41999999:1", 0);
    program.runs(1, 0, 95);
    program.region(100, 200, 3);
    // The worker is said to run, but has nothing to do.
    program.state(2, 190, 300, 1);
    program.runs(1, 205, 295);
    program.region(300, 400, 4);
    program
}

#[test]
fn regions_and_what_lies_between_are_bursts_whatever_the_locks() {
    let trace = serial_and_two_regions().read();
    let made = |thread, begin, end, count, code: &str| (thread, begin, end, count, code.to_owned());
    let expected = [
        // 40 until the lock, 1 in it, 50 until the region opens.
        made(1, 0, 95, Some(91), "- .. first (a.c:12)"),
        made(1, 100, 200, Some(101), "first (a.c:12)"),
        made(1, 205, 295, Some(91), "first (a.c:12) .. second (b.c:34)"),
        made(1, 300, 400, Some(101), "second (b.c:34)"),
        made(2, 100, 190, Some(101), "first (a.c:12)"),
        made(2, 300, 390, Some(101), "second (b.c:34)"),
    ];
    assert_eq!(bursts(&trace), expected);
    let said = &trace.report.warnings[0];
    assert!(
        said.starts_with("OpenMP: the bursts are what threads compute in parallel regions and tasks (4)"),
        "{said}"
    );
    assert!(said.contains("outside of them (2); 2.12%") && said.contains("110 ns that threads"), "{said}");
}

/// 5.08% were told of a run with a region that waits for a lock in 88% of its time: most of the run was
/// the start of the tracer.
#[test]
fn regions_that_hardly_compute_are_named() {
    let said = |lock: u64| {
        let mut program = serial_and_two_regions();
        program.event(1, 500, "60000018:4:60000118:4", 1);
        program.state(1, 500, 510, 1);
        program.state(1, 510, 510 + lock, 5);
        program.event(1, 510, "60000006:3", 10);
        program.state(1, 510 + lock, 600, 1);
        program.event(1, 510 + lock, "60000006:6", 1);
        program.event(1, 600, "60000018:0:60000118:0", 10);
        program.read().report.warnings[0].clone()
    };
    // Two locks of 2 ns in the first call of it, which takes 190 ns.
    let much = said(80);
    let expected = "13.83% of their time is in locks, critical sections and scheduling (it is 29.0% of the \
                    290 ns in second (b.c:34))";
    assert!(much.contains(expected), "{much}");
    let little = said(20);
    assert!(!little.contains("(it is"), "{little}");
}

#[test]
fn calls_to_mpi_and_barriers_end_a_burst_of_a_region() {
    let mut program = serial_and_two_regions();
    // MPI_Barrier (a state of Synchronization, but no event of OpenMP), then
    // a barrier of OpenMP, in a third region of one thread.
    program.state(1, 405, 500, 1);
    program.event(1, 500, "60000018:3", 9);
    program.state(1, 500, 520, 1);
    program.state(1, 520, 530, 5);
    program.event(1, 520, "50000002:8", 20);
    program.state(1, 530, 540, 1);
    program.event(1, 530, "50000002:0", 1000);
    program.state(1, 540, 550, 5);
    program.event(1, 540, "60000005:1", 10);
    program.state(1, 550, 560, 1);
    program.event(1, 550, "60000005:0", 2000);
    program.event(1, 560, "60000018:0", 11);
    let made = bursts(&program.read());
    let third: Vec<_> = made.iter().filter(|b| b.0 == 1 && b.1 >= 500).map(|b| (b.1, b.2, b.3)).collect();
    assert_eq!(third, [(500, 520, Some(20)), (530, 540, Some(10)), (550, 560, Some(11))]);
}

/// What a third region, of the first thread alone, computes if it is interrupted at 520 by what these
/// pairs begin and `end` ends: begin, end and instructions.
fn interrupted(begin: &[&str], end: &str) -> Vec<(u64, u64, Option<u64>)> {
    let mut program = serial_and_two_regions();
    program.state(1, 405, 500, 1);
    program.event(1, 500, "60000018:3", 9);
    program.state(1, 500, 520, 1);
    program.state(1, 520, 540, 5);
    program.event(1, 520, begin[0], 20);
    begin[1..].iter().for_each(|pairs| program.event(1, 520, pairs, 0));
    program.state(1, 540, 560, 1);
    program.event(1, 540, end, 1000);
    program.event(1, 560, "60000018:0", 11);
    let made = bursts(&program.read());
    made.iter().filter(|b| b.0 == 1 && b.1 >= 500).map(|b| (b.1, b.2, b.3)).collect()
}

#[test]
fn waiting_for_other_threads_ends_a_burst_and_work_of_the_runtime_does_not() {
    let (apart, whole) =
        (vec![(500, 520, Some(20)), (540, 560, Some(11))], vec![(500, 560, Some(20 + 1000 + 11))]);
    for (name, begin, end, expected) in [
        ("barrier", "60000005:1", "60000005:0", &apart),
        ("taskwait", "60000022:1", "60000022:0", &apart),
        ("end of a taskgroup", "60000025:2", "60000025:0:60000027:0", &apart),
        ("begin of a taskgroup", "60000025:1:60000027:1", "60000025:0", &whole),
        ("creation of a task", "60000024:3:60000124:3", "60000024:0:60000124:0", &whole),
        ("taskloop", "60000029:1", "60000029:0", &whole),
        ("chunk of a loop", "60000011:1", "60000011:0", &whole),
        ("critical section", "60000007:3", "60000007:6", &whole),
    ] {
        assert_eq!(interrupted(&[begin], end), *expected, "{name}");
        // PAPI_L1_DCM is 42000000, PAPI_L2_DCM 42000002 and PAPI_L3_TCM 42000008.
        let counted = format!("{begin}:42000000:3:42000002:2:42000008:1");
        assert_eq!(interrupted(&[&counted], end), *expected, "{name} with counters of caches");
        let late = ["60000011:1", "60000011:0", begin];
        assert_eq!(interrupted(&late, end), *expected, "{name} behind a call that took no time");
    }
}

/// With one thread there is nobody to wait for, and a trace in µs has no time for it: bursts are
/// those of many threads all the same.
#[test]
fn a_wait_of_no_length_ends_a_burst() {
    let mut program = serial_and_two_regions();
    program.state(1, 405, 500, 1);
    program.event(1, 500, "60000018:3", 9);
    program.state(1, 500, 520, 1);
    program.event(1, 520, "60000005:1", 20);
    program.event(1, 520, "60000005:0", 0);
    program.state(1, 520, 560, 1);
    program.event(1, 560, "60000018:0", 11);
    let made = bursts(&program.read());
    let third: Vec<_> = made.iter().filter(|b| b.0 == 1 && b.1 >= 500).map(|b| (b.1, b.2, b.3)).collect();
    assert_eq!(third, [(500, 520, Some(20)), (520, 560, Some(11))]);
}

/// The region of the second thread ends at once, and it computes in tasks: one, in which another
/// is, while it waits for that.
#[test]
fn tasks_are_computed_outside_of_the_region_too() {
    let mut program = serial_and_two_regions();
    program.state(2, 400, 410, 7);
    program.state(2, 410, 500, 1);
    program.event(2, 410, "60000023:3:60000123:3", 5);
    program.event(2, 440, "60000023:4:60000123:4", 30);
    program.event(2, 460, "60000023:0:60000123:0", 20);
    program.event(2, 480, "60000023:0:60000123:0", 21);
    let program = |split: bool| {
        let mut program = Program { records: program.records.clone() };
        if split {
            // As tracers write it: a state ends where a task begins or ends.
            program.records.retain(|(_, line)| !line.starts_with("1:2:1:1:2:410:"));
            for (begin, end) in [(410, 440), (440, 460), (460, 480), (480, 500)] {
                program.state(2, begin, end, 1);
            }
        }
        program
    };
    let made = |begin, end, count, code: &str| (2, begin, end, Some(count), code.to_owned());
    let trace = program(true).read();
    let found: Vec<Made> = bursts(&trace).into_iter().filter(|b| b.0 == 2 && b.1 >= 400).collect();
    let (first, second) = ("first (a.c:12)", "second (b.c:34)");
    assert_eq!(
        found,
        [made(410, 440, 30, first), made(440, 460, 20, second), made(460, 480, 21, first)],
        "what follows the task is not its own"
    );
    let said = &trace.report.warnings[0];
    assert!(said.contains("regions and tasks (7)") && said.contains("130 ns that threads"), "{said}");
}

#[test]
fn burst_events_are_what_they_were() {
    let mut program = serial_and_two_regions();
    program.records.sort_by_key(|r| r.0);
    let text: String = program.records.iter().map(|(_, line)| format!("{line}\n")).collect();
    let text = format!("#Paraver (x):1000_ns:0:1:1(2:1)\n{text}");
    let options = ReadOptions { burst_events: vec![60_000_001], ..ReadOptions::default() };
    let table = read(Input::from_bytes(text.as_bytes()), &options, 64).unwrap().table;
    let begins: Vec<u64> = table.begin.iter().map(|b| b.0).collect();
    assert_eq!(begins, [95, 295]);
}
