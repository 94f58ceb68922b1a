//! The second reading, for threads whose records are in no order.
//!
//! It holds every record of those threads in memory, which the first reading
//! does not. No tracer writes such traces, so this is rare.

use std::collections::BTreeSet;
use std::path::Path;

use super::code::Site;
use super::event_types::is_hardware;
use super::header::Header;
use super::reading::{Records, open};
use super::rules::{Interpreter, Rules};
use super::scan::{Threads, scan};
use crate::bytes::Input;
use crate::error::Result;
use crate::folding::bursts::ByThread;
use crate::folding::cover::Limits;
use crate::folding::fold::Fold;
use crate::folding::sites::Sites;
use crate::folding::steps::{Mark, Move, Opened, Steps};
use crate::trace::{ReadOptions, Who};

enum Step {
    Boundary(Option<Opened>),
    Counter(u32, i128),
    Code(Move<Site>),
}

/// Every step of a block, with its thread's slot and its time.
#[derive(Default)]
struct Raw(Vec<(usize, u64, Step)>);

impl Steps<Site> for Raw {
    fn boundary(&mut self, slot: usize, time: u64, open: Option<Opened>) {
        self.0.push((slot, time, Step::Boundary(open)));
    }

    fn counters(&mut self, slot: usize, time: u64, counters: &[(u32, i128)]) {
        let step = |&(event_type, value): &(u32, i128)| (slot, time, Step::Counter(event_type, value));
        self.0.extend(counters.iter().map(step));
    }

    fn code(&mut self, slot: usize, time: u64, step: Move<Site>) {
        self.0.push((slot, time, Step::Code(step)));
    }

    // The first reading already has the other threads.
    fn openmp(&mut self, _slot: usize, _time: u64, _mark: Mark<Site>) {}
}

/// Reads the bursts of `wanted` threads by sorting their records by time;
/// records of one time keep their order.
pub(crate) fn read(
    path: &Path,
    header: &Header,
    rules: &Rules,
    options: &ReadOptions<'_>,
    block: usize,
    wanted: &[Who],
    sites: &mut Sites<Site>,
) -> Result<ByThread> {
    let mut input = Input::open_text(path)?;
    open(&mut input)?;
    let wanted: BTreeSet<Who> = wanted.iter().copied().collect();
    let mut steps: std::collections::BTreeMap<Who, Vec<(u64, Step)>> = std::collections::BTreeMap::new();
    let mut records = Records::new(path, options.lenient);
    let work = |bytes: &[u8]| {
        let mut threads = Threads::new(header);
        let mut interpreter = Interpreter::new(rules, Raw::default());
        let scanned = scan(bytes, &mut threads, options.lenient, &mut interpreter);
        let mut raw = interpreter.steps.0;
        raw.retain(|(slot, ..)| wanted.contains(&threads.who[*slot]));
        (scanned, threads.who, raw)
    };
    let done = input.for_each_block(block, options.progress, work, |(scanned, who, raw)| {
        records.add(scanned)?;
        for (slot, time, step) in raw {
            steps.entry(who[slot]).or_default().push((time, step));
        }
        Ok(())
    });
    records.done(done)?;
    let end = header.end.0 / header.unit.nanos();
    let mut fold = |(who, mut steps): (Who, Vec<(u64, Step)>)| {
        steps.sort_by_key(|&(time, _)| time);
        let limits = Limits::new(header.unit.nanos(), is_hardware);
        let mut fold = Fold::new(steps.first().map_or(0, |s| s.0), limits);
        for (time, step) in steps {
            match step {
                Step::Boundary(open) => {
                    fold.cut(time);
                    if let Some(Opened { end, state }) = open {
                        fold.open(time, end, state);
                    }
                }
                Step::Counter(event_type, value) => fold.counters(time, &[(event_type, value)]),
                Step::Code(step) => {
                    if let Some(step) = sites.number(step) {
                        fold.code(time, step);
                    }
                }
            }
        }
        (who, fold.finish(end))
    };
    Ok(steps.into_iter().map(&mut fold).collect())
}
