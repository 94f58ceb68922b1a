//! What a trace holds, without its bursts.

use std::collections::{BTreeMap, HashMap};

use likewise::table::Nanos;

use super::companions::{check_row, read_pcf};
use super::reading::{Records, open};
use super::rules::Rules;
use super::scan::{Scanned, Sink, Threads, scan};
use crate::bytes::Input;
use crate::error::Result;
use crate::trace::{EventTypeInfo, ReadOptions, StateInfo, TraceInfo};

/// Reads the whole trace and counts.
pub(crate) fn inspect(mut input: Input, options: &ReadOptions<'_>, block: usize) -> Result<TraceInfo> {
    let path = input.path().to_owned();
    let compressed = input.compressed();
    let header = open(&mut input)?;
    let mut records = Records::new(&path, options.lenient);
    let mut all = Tally::default();
    let work = |bytes: &[u8]| -> (Scanned, Tally) {
        let mut tally = Tally::default();
        let mut threads = Threads::new(&header);
        let scanned = scan(bytes, &mut threads, options.lenient, &mut tally);
        (scanned, tally)
    };
    let done = input.for_each_block(block, options.progress, work, |(scanned, tally)| {
        all.add(&tally);
        records.add(scanned)
    });
    records.done(done)?;
    let mut report = records.end(header.unit.nanos());
    let pcf = read_pcf(&path, options.pcf.as_deref(), &header, &mut report.warnings)?;
    check_row(&path, &header, &mut report.warnings);
    let rules = Rules::new(options);
    let scale = header.unit.nanos();
    let last = Nanos(all.last.saturating_mul(scale));
    if last > header.end {
        let (path, end) = (path.display(), header.end);
        report.warnings.push(format!(
            "{path}: records go on until {last}, after the end of the trace that its header gives, {end}"
        ));
    }
    let mut states: Vec<StateInfo> = Vec::with_capacity(all.states.len());
    for (value, (count, time)) in sorted(&all.states) {
        let time = Nanos(time.saturating_mul(scale));
        states.push(StateInfo { value, name: pcf.state(value), count, time });
    }
    let mut event_types = Vec::with_capacity(all.types.len());
    for (event_type, count) in sorted(&all.types) {
        let label = pcf.event_types.get(&event_type).map_or(String::new(), |t| t.label.clone());
        event_types.push(EventTypeInfo { event_type, label, count, counter: rules.is_counter(event_type) });
    }
    Ok(TraceInfo {
        format: "Paraver",
        compressed,
        end: header.end.max(last),
        topology: Some(header.topology),
        report,
        states,
        event_types,
        communication_bytes: all.bytes,
    })
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
    types: HashMap<u32, u64>,
    bytes: u64,
    /// The time of the last record, or end of a state.
    last: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        for (value, (count, time)) in sorted(&other.states) {
            let total = self.states.entry(value).or_default();
            *total = (total.0 + count, total.1.saturating_add(time));
        }
        for (event_type, count) in sorted(&other.types) {
            *self.types.entry(event_type).or_default() += count;
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

    fn event(&mut self, _slot: usize, time: u64, pairs: &[(u32, i128)]) {
        self.last = self.last.max(time);
        for &(event_type, _) in pairs {
            *self.types.entry(event_type).or_default() += 1;
        }
    }

    fn communication(&mut self, size: u64) {
        self.bytes = self.bytes.saturating_add(size);
    }
}
