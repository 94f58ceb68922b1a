//! What a trace holds, without its bursts.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use likewise::table::{Moment, Nanos};

use super::companions::{read_pcf, read_row};
use super::reading::{Records, open};
use super::rules::Rules;
use super::scan::{Scanned, Sink, Threads, scan};
use super::streams::{self, is_of_stream};
use crate::bytes::Input;
use crate::error::Result;
use crate::trace::{EventTypeInfo, ReadOptions, StateInfo, TraceInfo, Who};

/// Reads the whole trace and counts.
pub(crate) fn inspect(mut input: Input, options: &ReadOptions<'_>, block: usize) -> Result<TraceInfo> {
    let path = input.path().to_owned();
    let compressed = input.compressed();
    let header = open(&mut input)?;
    let mut records = Records::new(&path, options.lenient);
    let mut all = Tally::default();
    let mut of_streams: BTreeMap<Who, u32> = BTreeMap::new();
    let work = |bytes: &[u8]| -> (Scanned, Tally, Vec<Who>) {
        let mut tally = Tally::default();
        let mut threads = Threads::new(&header);
        let scanned = scan(bytes, &mut threads, options.lenient, &mut tally);
        (scanned, tally, threads.who)
    };
    let done = input.for_each_block(block, options.progress, work, |(scanned, tally, who)| {
        all.add(&tally);
        of_streams.extend(tally.streams.iter().map(|(&slot, &event_type)| (who[slot], event_type)));
        records.add(scanned)
    });
    records.done(done)?;
    let mut of_row = Vec::new();
    let row = read_row(&path, &header, &mut of_row);
    let streams = streams::Found::of(&row, &header.topology, &of_streams);
    of_row.extend(streams.unplaced(&row, &header.topology));
    let mut report = records.end(header.unit.nanos(), &streams);
    let pcf = read_pcf(&path, options.pcf.as_deref(), &header, &mut report.warnings)?;
    report.warnings.extend(of_row);
    let rules = Rules::new(options);
    let scale = header.unit.nanos();
    let last = Nanos(all.last.saturating_mul(scale));
    report.warnings.extend(late(&path, (last, header.end)));
    let mut states: Vec<StateInfo> = Vec::with_capacity(all.states.len());
    for (value, (count, time)) in sorted(&all.states) {
        let time = Nanos(time.saturating_mul(scale));
        states.push(StateInfo { value, name: pcf.state(value), count, time });
    }
    let end = header.end.max(last);
    report.warnings.extend(overlapping(&path, &states, (header.topology.n_threads(), end)));
    let mut event_types = Vec::with_capacity(all.types.len());
    for (event_type, (count, zeros)) in sorted(&all.types) {
        let label = pcf.event_types.get(&event_type).map_or(String::new(), |t| t.label.clone());
        let counter = rules.is_counter(event_type);
        event_types.push(EventTypeInfo { event_type, label, count, zeros, counter });
    }
    let mut topology = header.topology;
    streams.note_in(&mut topology);
    Ok(TraceInfo {
        format: "Paraver",
        compressed,
        end,
        topology: Some(topology),
        report,
        states,
        event_types,
        communication_bytes: all.bytes,
    })
}

/// That records go on behind the end that the header gives.
fn late(path: &Path, (last, end): (Nanos, Nanos)) -> Option<String> {
    (last > end).then(|| {
        format!(
            "{}: records go on until {}, {} after the end of the trace that its header gives",
            path.display(),
            Moment(last),
            last.saturating_sub(end)
        )
    })
}

/// That states of one value last longer than all threads together, so that they overlap. Threads
/// have had the time from 0 on: the run may be told to begin later, behind a state in which nothing
/// is traced.
fn overlapping(path: &Path, states: &[StateInfo], (threads, length): (u64, Nanos)) -> Option<String> {
    let most = Nanos(length.0.saturating_mul(threads));
    let longest = states.iter().max_by_key(|state| state.time).filter(|state| state.time > most)?;
    Some(format!(
        "{}: states overlap: {} takes {}, and all threads together have {most}",
        path.display(),
        longest.name,
        longest.time
    ))
}

/// The time of the last record of a trace, or end of a state, in the file's unit: it may be later
/// than the end in the header.
pub(super) fn last_time(mut input: Input, lenient: bool, block: usize) -> Result<u64> {
    let path = input.path().to_owned();
    let header = open(&mut input)?;
    let mut records = Records::new(&path, lenient);
    let mut last = 0;
    let work = |bytes: &[u8]| {
        let mut tally = Tally::default();
        let scanned = scan(bytes, &mut Threads::new(&header), lenient, &mut tally);
        (scanned, tally.last)
    };
    let done = input.for_each_block(block, None, work, |(scanned, of_block)| {
        last = of_block.max(last);
        records.add(scanned)
    });
    records.done(done)?;
    Ok(last)
}

/// By key: a hash map has no fixed order, so no result may depend on it.
fn sorted<V: Copy>(map: &HashMap<u32, V>) -> BTreeMap<u32, V> {
    map.iter().map(|(&k, &v)| (k, v)).collect()
}

/// Counts of one block, or of all.
#[derive(Default)]
struct Tally {
    /// Count and time of every state value.
    states: HashMap<u32, (u64, u64)>,
    /// How often every event type stands there, and how often its value is 0.
    types: HashMap<u32, (u64, u64)>,
    bytes: u64,
    /// Slots of a block with events that only streams of accelerators have, and the type of these.
    streams: BTreeMap<usize, u32>,
    /// The time of the last record, or end of a state.
    last: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        for (value, (count, time)) in sorted(&other.states) {
            let total = self.states.entry(value).or_default();
            *total = (total.0 + count, total.1.saturating_add(time));
        }
        for (event_type, (count, zeros)) in sorted(&other.types) {
            let total = self.types.entry(event_type).or_default();
            *total = (total.0 + count, total.1 + zeros);
        }
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.last = self.last.max(other.last);
    }
}

impl Sink for Tally {
    fn state(&mut self, _slot: usize, begin: u64, end: Option<u64>, value: u32) {
        let total = self.states.entry(value).or_default();
        total.0 += 1;
        self.last = self.last.max(end.unwrap_or(begin));
        // A state without an end is counted, but nobody knows its time.
        total.1 = total.1.saturating_add(end.map_or(0, |end| end - begin));
    }

    fn event(&mut self, slot: usize, time: u64, pairs: &[(u32, i128)]) {
        self.last = self.last.max(time);
        for &(event_type, value) in pairs {
            let total = self.types.entry(event_type).or_default();
            *total = (total.0 + 1, total.1 + u64::from(value == 0));
            if is_of_stream(event_type) {
                self.streams.entry(slot).or_insert(event_type);
            }
        }
    }

    fn communication(&mut self, size: u64) {
        self.bytes = self.bytes.saturating_add(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_last_longer_than_all_threads_are_told() {
        let state = |value, time| StateInfo { value, name: format!("s{value}"), count: 1, time: Nanos(time) };
        let told = |times: [u64; 2]| {
            overlapping(Path::new("run.prv"), &[state(1, times[0]), state(2, times[1])], (2, Nanos(1_000)))
        };
        assert_eq!(told([2_000, 1_500]), None);
        let text = told([1_500, 2_100]).expect("they overlap");
        assert_eq!(text, "run.prv: states overlap: s2 takes 2.10 µs, and all threads together have 2.00 µs");
    }

    /// Nothing is traced for most of the time, and the run is told to begin behind that.
    #[test]
    fn states_that_follow_one_another_from_0_on_do_not_overlap() {
        let text = "#Paraver (x):900000_ns:1(1):1:2(1:1,1:1),0\n1:1:1:2:1:0:899000:2\n1:1:1:2:1:899000:900000:1\n\
                    2:1:1:2:1:899000:60000019:7\n2:1:1:2:1:900000:60000019:0\n";
        let options = ReadOptions::default();
        let info = inspect(Input::from_bytes(text.as_bytes()), &options, 1 << 20).expect("a trace");
        let said = &info.report.warnings;
        assert!(said.iter().all(|warning| !warning.contains("overlap")), "{said:?}");
        assert_eq!((info.event_types[0].count, info.event_types[0].zeros), (2, 1));
    }
}
