//! The rows that one thread's bursts have in the table of all.

use likewise::table::{Nanos, PlaceId, Region};

use super::bursts::Bursts;
use super::cover::Cover;
use crate::error::ErrorKind;
use crate::trace::Who;

/// What holds for the bursts of all threads.
pub(super) struct Rules<'r> {
    /// The event type of each column of counters, ascending.
    pub(super) types: &'r [u32],
    /// Which place each site is.
    pub(super) numbers: &'r [Option<PlaceId>],
    /// Nanoseconds of a unit of time.
    pub(super) unit: u64,
    /// Whether the tracer also reads counters when bursts begin.
    pub(super) at_begins: bool,
}

/// In how many bursts a counter is missing, and why.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Missing {
    pub(super) impossible: u64,
    /// The count is not of the burst alone, or not of all of it.
    pub(super) part: u64,
}

/// What is to be said of a thread's bursts.
pub(super) struct Told {
    /// By column.
    pub(super) missing: Vec<Missing>,
    /// How many counts include what came since the burst before.
    pub(super) since_end: u64,
}

/// Rows of the table, column by column.
pub(super) struct Rows<'t> {
    pub(super) app: &'t mut [u32],
    pub(super) task: &'t mut [u32],
    pub(super) thread: &'t mut [u32],
    pub(super) begin: &'t mut [Nanos],
    pub(super) duration: &'t mut [Nanos],
    pub(super) counters: Vec<&'t mut [f64]>,
    /// Empty where no place has a name.
    pub(super) regions: &'t mut [Region],
}

/// Takes the first `n` off.
fn first<'t, T>(rest: &mut &'t mut [T], n: usize) -> &'t mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(n);
    *rest = others;
    first
}

impl<'t> Rows<'t> {
    /// Takes the first `n` rows off.
    pub(super) fn take(&mut self, n: usize) -> Self {
        let n_regions = n.min(self.regions.len());
        Self {
            app: first(&mut self.app, n),
            task: first(&mut self.task, n),
            thread: first(&mut self.thread, n),
            begin: first(&mut self.begin, n),
            duration: first(&mut self.duration, n),
            counters: self.counters.iter_mut().map(|column| first(column, n)).collect(),
            regions: first(&mut self.regions, n_regions),
        }
    }

    /// Writes the bursts of a thread, as many as there are rows.
    pub(super) fn fill(&mut self, who: Who, bursts: &Bursts, rules: &Rules<'_>) -> Result<Told, ErrorKind> {
        self.app.fill(who.app);
        self.task.fill(who.task);
        self.thread.fill(who.thread);
        self.counters.iter_mut().for_each(|column| column.fill(f64::NAN));
        for (row, region) in self.regions.iter_mut().zip(bursts.regions(rules.numbers)) {
            *row = region;
        }
        let nanos = |time: u64| time.checked_mul(rules.unit).map(Nanos).ok_or(ErrorKind::TimeOverflow);
        let mut told = Told { missing: vec![Missing::default(); rules.types.len()], since_end: 0 };
        let (mut last, mut places): (&[u32], Vec<usize>) = (&[], Vec::new());
        let mut start = 0;
        for (row, &n_counters) in bursts.n_counters.iter().enumerate() {
            let (begin, end) = (bursts.begin[row], bursts.end[row]);
            nanos(end)?;
            (self.begin[row], self.duration[row]) = (nanos(begin)?, nanos(end - begin)?);
            let range = start..start + n_counters as usize;
            start = range.end;
            // Most bursts carry the same counters as the burst before.
            let types = &bursts.types[range.clone()];
            if types != last {
                last = types;
                places.clear();
                let place = |t| rules.types.binary_search(t).expect("every type was collected");
                places.extend(types.iter().map(place));
            }
            let sums = bursts.sums[range.clone()].iter().zip(&bursts.covers[range]);
            for (&place, (&sum, &cover)) in places.iter().zip(sums) {
                match cover {
                    Cover::Impossible => told.missing[place].impossible += 1,
                    Cover::Part => told.missing[place].part += 1,
                    // This tracer also reads counters at begins, so the count
                    // has something of the time before the burst.
                    Cover::SinceEnd if rules.at_begins => told.missing[place].part += 1,
                    Cover::SinceEnd | Cover::Whole => {
                        told.since_end += u64::from(cover == Cover::SinceEnd);
                        self.counters[place][row] = sum as f64;
                    }
                }
            }
        }
        Ok(told)
    }
}
