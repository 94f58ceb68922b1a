//! Synthetic runs as Extrae would trace them.

use std::io::{self, Write};

use likewise::synth::{Burst, COUNTERS, Call, Message, N_COUNTERS, Run, Section};
use likewise::table::Nanos;

/// Threads of a node, and its processors.
const NODE_THREADS: usize = 32;

/// The date of all synthetic runs; it is fixed, so that the same run gives the same file.
const DATE: &str = "01/01/2026 at 00:00";

/// The first value of a call site; Extrae keeps 1 and 2 for unresolved ones.
const FIRST_SITE: usize = 3;

/// Call site values before those of the phases.
const N_START_SITES: usize = 1;

/// Where a trace is written. Only the text of one part of the run is buffered
/// here at a time, so the writers can be plain files.
pub struct TraceFiles<'a> {
    /// Records, `.prv`.
    pub prv: &'a mut dyn Write,
    /// Names of what the records hold, `.pcf`.
    pub pcf: &'a mut dyn Write,
    /// Names of processors and threads, `.row`.
    pub row: &'a mut dyn Write,
    /// What each burst truly is, as CSV; see [`write_synthetic`].
    pub truth: Option<&'a mut dyn Write>,
}

/// Writes `run` as a Paraver trace in the manner of Extrae.
///
/// States cover each thread's time from 0 to the end without a gap. Counters
/// stand with the event that begins an MPI call (what the burst did) and with
/// the one that ends it (what the call did). Records are in order of time,
/// communications by physical send; at the same time, a state comes before
/// the thread's event. The line that opens a thread resets its counter set
/// (41999999), as Extrae's does.
///
/// The truth has the columns `task,thread,begin_ns,duration_ns,cluster`;
/// `cluster` is a number from 1 in order of the program's phases, or
/// `noise`. Rows are by iteration, then step, then task and thread.
///
/// The first line holds the end of the trace. So the run is computed twice and
/// written once, and any `Write` will do, even a pipe. Memory does not grow
/// with the number of iterations.
///
/// # Errors
/// What the writers return.
pub fn write_synthetic(run: &Run, files: TraceFiles<'_>) -> io::Result<()> {
    let TraceFiles { prv, pcf, row, mut truth } = files;
    write_pcf(run, pcf)?;
    write_row(run, row)?;
    write_header(run, prv)?;
    if let Some(truth) = &mut truth {
        truth.write_all(b"task,thread,begin_ns,duration_ns,cluster\n")?;
    }
    let wants_truth = truth.is_some();
    let threads = ThreadNames::new(run);
    run.for_each_section(
        |section| {
            let labels = if wants_truth { truth_of(section) } else { Vec::new() };
            (records_of(run, &threads, section), labels)
        },
        |(records, labels)| {
            prv.write_all(&records)?;
            truth.as_mut().map_or(Ok(()), |truth| truth.write_all(&labels))
        },
    )?;
    prv.flush()?;
    pcf.flush()?;
    row.flush()?;
    truth.map_or(Ok(()), |truth| truth.flush())
}

fn n_nodes(run: &Run) -> usize {
    run.n_threads().div_ceil(NODE_THREADS)
}

fn write_header(run: &Run, prv: &mut dyn Write) -> io::Result<()> {
    let mut out = Vec::new();
    let tasks = run.spec().tasks;
    write!(out, "#Paraver ({DATE}):{}_ns:{}(", run.end().0, n_nodes(run))?;
    for node in 0..n_nodes(run) {
        write!(out, "{}{NODE_THREADS}", comma(node))?;
    }
    write!(out, "):1:{tasks}(")?;
    let per_task = run.spec().threads_per_task;
    for task in 0..tasks {
        write!(out, "{}{per_task}:{}", comma(task), task * per_task / NODE_THREADS + 1)?;
    }
    write!(out, "),1\nc:1:1:{tasks}")?;
    for task in 1..=tasks {
        write!(out, ":{task}")?;
    }
    out.push(b'\n');
    prv.write_all(&out)
}

fn comma(index: usize) -> &'static str {
    if index == 0 { "" } else { "," }
}

/// `cpu:application:task:thread:` of every thread, ready to be copied.
struct ThreadNames {
    text: Vec<u8>,
    ends: Vec<usize>,
    per_task: usize,
}

impl ThreadNames {
    fn new(run: &Run) -> Self {
        let per_task = run.spec().threads_per_task;
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        for lane in 0..run.n_threads() {
            text.extend_from_slice(
                format!("{}:1:{}:{}:", lane + 1, lane / per_task + 1, lane % per_task + 1).as_bytes(),
            );
            ends.push(text.len());
        }
        Self { text, ends, per_task }
    }

    fn get(&self, task: u32, thread: u32) -> &[u8] {
        let lane = (task as usize - 1) * self.per_task + thread as usize - 1;
        let begin = if lane == 0 { 0 } else { self.ends[lane - 1] };
        &self.text[begin..self.ends[lane]]
    }
}

/// What happens at a time, in the order in which it is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// The thread is not there yet.
    Created,
    /// A burst begins.
    Begin,
    /// It ends, and its call begins.
    Call,
    /// The last call of a thread ends.
    Finished,
    /// A message leaves.
    Message,
}

/// The records of a section, in order of time.
fn records_of(run: &Run, threads: &ThreadNames, section: &Section) -> Vec<u8> {
    let mut moments: Vec<(Nanos, u32, Moment)> = Vec::with_capacity(section.bursts.len() * 5 / 2);
    for (i, burst) in (0u32..).zip(&section.bursts) {
        if burst.preceding.is_none() {
            moments.push((Nanos::ZERO, i, Moment::Created));
        }
        moments.push((burst.begin, i, Moment::Begin));
        moments.push((burst.end(), i, Moment::Call));
        if burst.call == Call::Finalize {
            moments.push((burst.call_end, i, Moment::Finished));
        }
    }
    let sends = (0u32..).zip(&section.messages).map(|(i, m)| (m.sent, i, Moment::Message));
    moments.extend(sends);
    // No two moments are equal, so an unstable sort gives only one order.
    moments.sort_unstable();
    let mut lines =
        Lines { out: Vec::with_capacity(480 * section.bursts.len()), digits: itoa::Buffer::new(), threads };
    for (_, i, moment) in moments {
        if moment == Moment::Message {
            lines.message(&section.messages[i as usize]);
            continue;
        }
        let burst = &section.bursts[i as usize];
        match moment {
            Moment::Created => lines.state(burst, Nanos::ZERO, burst.begin, 2),
            Moment::Begin => lines.burst_begins(run, burst),
            Moment::Call => lines.call_begins(burst),
            _ => lines.finished(run, burst),
        }
    }
    lines.out
}

fn truth_of(section: &Section) -> Vec<u8> {
    let mut out = Vec::with_capacity(40 * section.bursts.len());
    let mut digits = itoa::Buffer::new();
    for burst in &section.bursts {
        let numbers = [burst.task.into(), burst.thread.into(), burst.begin.0, burst.duration.0];
        for number in numbers {
            out.extend_from_slice(digits.format(number).as_bytes());
            out.push(b',');
        }
        match burst.cluster {
            Some(id) => out.extend_from_slice(digits.format(id.number()).as_bytes()),
            None => out.extend_from_slice(b"noise"),
        }
        out.push(b'\n');
    }
    out
}

/// Lines of a `.prv`, as they come.
struct Lines<'a> {
    out: Vec<u8>,
    digits: itoa::Buffer,
    threads: &'a ThreadNames,
}

impl Lines<'_> {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.out.extend_from_slice(self.digits.format(number).as_bytes());
    }

    fn state(&mut self, burst: &Burst, begin: Nanos, end: Nanos, state: u64) {
        self.text("1:");
        self.out.extend_from_slice(self.threads.get(burst.task, burst.thread));
        self.number(begin.0);
        self.out.push(b':');
        self.number(end.0);
        self.out.push(b':');
        self.number(state);
        self.out.push(b'\n');
    }

    /// The begin of an event line; pairs follow, then a line end.
    fn events(&mut self, burst: &Burst, time: Nanos) {
        self.text("2:");
        self.out.extend_from_slice(self.threads.get(burst.task, burst.thread));
        self.number(time.0);
    }

    fn event(&mut self, event_type: u64, value: u64) {
        self.out.push(b':');
        self.number(event_type);
        self.out.push(b':');
        self.number(value);
    }

    fn counters(&mut self, values: &[u64; N_COUNTERS]) {
        for (value, text) in values.iter().zip(COUNTER_PAIRS) {
            self.text(text);
            self.number(*value);
        }
    }

    /// The thread runs; what it did until now ends.
    fn burst_begins(&mut self, run: &Run, burst: &Burst) {
        self.state(burst, burst.begin, burst.end(), 1);
        self.events(burst, burst.begin);
        match burst.preceding {
            None => {
                self.event(APPLICATION, 1);
                self.event(COUNTER_SET, 1);
                self.counters(&[0; N_COUNTERS]);
            }
            Some((call, time)) => {
                let value = if call == Call::Join { site_of(burst.phase) } else { 0 };
                self.event(CallCodes::of(call).event_type, value);
                self.counters(&run.call_counters(time));
            }
        }
        self.out.push(b'\n');
    }

    fn call_begins(&mut self, burst: &Burst) {
        let codes = CallCodes::of(burst.call);
        self.state(burst, burst.end(), burst.call_end, codes.state);
        self.events(burst, burst.end());
        self.event(codes.event_type, codes.value);
        if let Call::Broadcast | Call::Allreduce = burst.call {
            self.event(50_100_001, 8);
            self.event(50_100_002, 8);
            self.event(50_100_004, 1);
        }
        self.counters(&burst.counters);
        if burst.call != Call::Join {
            let site = site_of(burst.phase);
            self.event(CALLER, site);
            self.event(CALLER_LINE, site);
        }
        self.out.push(b'\n');
    }

    fn finished(&mut self, run: &Run, burst: &Burst) {
        self.events(burst, burst.call_end);
        self.event(CallCodes::of(burst.call).event_type, 0);
        self.counters(&run.call_counters(burst.call_end.saturating_sub(burst.end())));
        self.event(APPLICATION, 0);
        self.out.push(b'\n');
    }

    fn message(&mut self, message: &Message) {
        self.text("3:");
        self.out.extend_from_slice(self.threads.get(message.from, 1));
        self.number(message.called.0);
        self.out.push(b':');
        self.number(message.sent.0);
        self.out.push(b':');
        self.out.extend_from_slice(self.threads.get(message.to, 1));
        for number in [message.posted.0, message.received.0, message.bytes] {
            self.number(number);
            self.out.push(b':');
        }
        self.number(message.tag.into());
        self.out.push(b'\n');
    }
}

const APPLICATION: u64 = 40_000_001;
const PARALLEL_FUNCTION: u64 = 60_000_018;
const COUNTER_SET: u64 = 41_999_999;
const CALLER: u64 = 70_000_001;
/// Where in the source, as [`CALLER`] says in which function.
const CALLER_LINE: u64 = 80_000_001;

/// `:type:` of every counter, in the core's order.
const COUNTER_PAIRS: [&str; N_COUNTERS] = [
    ":42000050:",
    ":42000059:",
    ":42000000:",
    ":42000002:",
    ":42000008:",
    ":42000055:",
    ":42000046:",
    ":42001047:",
];

/// How a call is written: Extrae's numbers.
struct CallCodes {
    event_type: u64,
    value: u64,
    state: u64,
}

impl CallCodes {
    fn of(call: Call) -> Self {
        let (event_type, value, state) = match call {
            Call::Exchange => (50_000_001, 41, 16),
            Call::Broadcast => (50_000_002, 7, 13),
            Call::Barrier => (50_000_002, 8, 13),
            Call::Allreduce => (50_000_002, 10, 13),
            Call::CommSize => (50_000_003, 20, 15),
            Call::Init => (50_000_003, 31, 15),
            Call::Finalize => (50_000_003, 32, 15),
            // The function of the parallel region, which ends here.
            Call::Join => (PARALLEL_FUNCTION, 0, 7),
        };
        Self { event_type, value, state }
    }
}

fn site_of(phase: Option<u32>) -> u64 {
    (FIRST_SITE + phase.map_or(0, |p| p as usize + N_START_SITES)) as u64
}

/// The sections that do not depend on the run.
const PCF_HEAD: &str = include_str!("synth/head.pcf");

fn write_pcf(run: &Run, pcf: &mut dyn Write) -> io::Result<()> {
    let mut out = PCF_HEAD.as_bytes().to_vec();
    writeln!(out, "EVENT_TYPE")?;
    for counter in COUNTERS {
        writeln!(out, "7  {} {} [{}]", counter.event_type, counter.name, counter.description)?;
    }
    writeln!(out, "7  {COUNTER_SET} Active hardware counter set\n\n")?;
    let names: Vec<&str> =
        std::iter::once("read_input").chain(run.spec().phases.iter().map(|p| p.name.as_str())).collect();
    let blocks = [(CALLER, "Caller at level 1"), (PARALLEL_FUNCTION, "Executed OpenMP parallel function")];
    for (event_type, label) in blocks {
        writeln!(out, "EVENT_TYPE\n0    {event_type}    {label}\nVALUES")?;
        writeln!(out, "0   End\n1 Unresolved\n2 _NOT_Found")?;
        for (site, name) in (FIRST_SITE..).zip(&names) {
            writeln!(out, "{site} {name}")?;
        }
        writeln!(out, "\n")?;
    }
    writeln!(out, "EVENT_TYPE\n0    {CALLER_LINE}    Caller line at level 1\nVALUES")?;
    writeln!(out, "0   End\n1 0 (Unresolved)\n2 0 (_NOT_Found)")?;
    for (i, (site, name)) in (FIRST_SITE..).zip(&names).enumerate() {
        writeln!(out, "{site} {} ({name}.c, synthetic)", 61 + 37 * i)?;
    }
    writeln!(out, "\n")?;
    pcf.write_all(&out)
}

fn write_row(run: &Run, row: &mut dyn Write) -> io::Result<()> {
    let mut out = Vec::new();
    let n_threads = run.n_threads();
    writeln!(out, "LEVEL CPU SIZE {n_threads}")?;
    for cpu in 0..n_threads {
        writeln!(out, "{}.node{}", cpu + 1, cpu / NODE_THREADS + 1)?;
    }
    writeln!(out, "\nLEVEL NODE SIZE {}", n_nodes(run))?;
    for node in 1..=n_nodes(run) {
        writeln!(out, "node{node}")?;
    }
    writeln!(out, "\nLEVEL THREAD SIZE {n_threads}")?;
    let per_task = run.spec().threads_per_task;
    for lane in 0..n_threads {
        writeln!(out, "THREAD 1.{}.{}", lane / per_task + 1, lane % per_task + 1)?;
    }
    row.write_all(&out)
}

#[cfg(test)]
mod tests;
