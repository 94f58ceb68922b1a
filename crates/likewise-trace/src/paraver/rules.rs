//! What the records of a Paraver trace mean for its bursts.

use std::collections::BTreeMap;

use super::code::{self, Site};
use super::event_types::is_hardware;
use super::mpi;
use super::openmp;
use super::scan::Sink;
use super::streams;
use crate::folding::steps::{Mark, Opened, SET_CHANGE, Steps};
use crate::trace::{RUNNING, ReadOptions};

/// What makes a burst, and what a burst carries.
pub(crate) struct Rules {
    burst_events: Vec<u32>,
    counters: Vec<u32>,
    pub(crate) openmp: OpenMp,
}

/// What becomes of OpenMP's parallel regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMp {
    /// Nothing.
    Ignored,
    /// The reading stops at the first one, and starts again.
    Sought,
    /// They are bursts.
    Joined,
}

impl Rules {
    pub(crate) fn new(options: &ReadOptions<'_>) -> Self {
        let (burst_events, counters) = (options.burst_events.clone(), options.counters.clone());
        Self { burst_events, counters, openmp: OpenMp::Ignored }
    }

    /// The types of events that make bursts; none where states do.
    pub(crate) fn burst_events(&self) -> &[u32] {
        &self.burst_events
    }

    /// PAPI, native and uncore counters, and those asked for. Extrae's absolute
    /// values (43…, 45…, 47…) are not differences, so they cannot be summed.
    #[inline]
    pub(crate) fn is_counter(&self, event_type: u32) -> bool {
        is_hardware(event_type) || self.counters.contains(&event_type)
    }
}

/// Turns records into steps.
pub(crate) struct Interpreter<'r, S> {
    rules: &'r Rules,
    pub(crate) steps: S,
    /// What the last event counts.
    counts: Vec<(u32, i128)>,
    /// Threads (by slot) with an event that only streams have, and its type.
    pub(crate) streams: BTreeMap<usize, u32>,
    /// When threads (by slot) call MPI_Init and MPI_Finalize, and their tracer is set up.
    pub(crate) mpi: BTreeMap<usize, mpi::Calls>,
}

impl<'r, S> Interpreter<'r, S> {
    pub(crate) fn new(rules: &'r Rules, steps: S) -> Self {
        Self { rules, steps, counts: Vec::new(), streams: BTreeMap::new(), mpi: BTreeMap::new() }
    }
}

impl<S: Steps<Site>> Sink for Interpreter<'_, S> {
    #[inline]
    fn state(&mut self, slot: usize, begin: u64, end: Option<u64>, value: u32) {
        // What takes no time ends nothing: of two states that begin together, the file may have the
        // one of no length last. (A burst may be shorter than the unit of time.)
        if end == Some(begin) && value != RUNNING {
            return;
        }
        if self.rules.openmp == OpenMp::Joined {
            // Every state counts, because `folding::openmp` joins their pieces.
            self.steps.boundary(slot, begin, Some(Opened { end, state: value }));
        } else if self.rules.burst_events.is_empty() {
            self.steps.boundary(slot, begin, (value == RUNNING).then_some(Opened { end, state: value }));
        }
    }

    #[inline]
    fn event(&mut self, slot: usize, time: u64, pairs: &[(u32, i128)]) {
        let rules = self.rules;
        let (mut has_code, mut has_openmp) = (false, false);
        let (mut of_stream, mut of_mpi): (_, Option<mpi::Calls>) = (None, None);
        if rules.burst_events.is_empty() {
            self.counts.clear();
            for &(event_type, value) in pairs {
                if event_type == SET_CHANGE || rules.is_counter(event_type) {
                    self.counts.push((event_type, value));
                    // Most events are counters of hardware, and these are nothing else.
                    if is_hardware(event_type) {
                        continue;
                    }
                }
                has_code |= code::is_code(event_type);
                if let Some(call) = mpi::call((event_type, value), time) {
                    of_mpi.get_or_insert_default().add(call);
                }
                has_openmp |= openmp::is_openmp(event_type);
                of_stream = of_stream.or(Some(event_type).filter(|&of| streams::is_of_stream(of)));
            }
            self.steps.counters(slot, time, &self.counts);
        } else {
            for pair in pairs {
                if pair.0 == SET_CHANGE || rules.is_counter(pair.0) {
                    self.steps.counters(slot, time, std::slice::from_ref(pair));
                }
                if rules.burst_events.contains(&pair.0) {
                    // Only the next event of this type tells when the burst ends.
                    let burst = Opened { end: None, state: RUNNING };
                    self.steps.boundary(slot, time, (pair.1 != 0).then_some(burst));
                }
                has_code |= code::is_code(pair.0);
                if let Some(call) = mpi::call(*pair, time) {
                    of_mpi.get_or_insert_default().add(call);
                }
                has_openmp |= openmp::is_openmp(pair.0);
                of_stream = of_stream.or(Some(pair.0).filter(|&of| streams::is_of_stream(of)));
            }
        }
        if let Some(event_type) = of_stream {
            self.streams.entry(slot).or_insert(event_type);
        }
        if let Some(call) = of_mpi {
            self.mpi.entry(slot).or_default().add(call);
        }
        if has_code {
            code::moves(pairs, |step| self.steps.code(slot, time, step));
        }
        if rules.openmp != OpenMp::Ignored && has_openmp {
            self.openmp(slot, time, pairs);
        }
    }
}

impl<S: Steps<Site>> Interpreter<'_, S> {
    fn openmp(&mut self, slot: usize, time: u64, pairs: &[(u32, i128)]) {
        for (i, &(event_type, value)) in pairs.iter().enumerate() {
            match openmp::mark(event_type, value) {
                Some(Mark::Enter(())) => {
                    let site = code::function(&pairs[i..], event_type, value);
                    self.steps.openmp(slot, time, Mark::Enter(site));
                }
                Some(Mark::Leave) => self.steps.openmp(slot, time, Mark::Leave),
                Some(Mark::Fork) => self.steps.openmp(slot, time, Mark::Fork),
                Some(Mark::Runtime) => self.steps.openmp(slot, time, Mark::Runtime),
                Some(Mark::Wait) => self.steps.openmp(slot, time, Mark::Wait),
                None => {}
            }
        }
    }
}
