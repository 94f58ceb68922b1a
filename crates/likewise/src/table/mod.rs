//! Bursts and their counters, by column.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

mod code;
mod defaults;
mod metric;
mod metric_syntax;
mod prepare;
mod rows;
mod runs;
mod scale;
mod units;
mod values;

pub use code::{Code, PathId, PlaceId, Region, Regions};
pub use defaults::default_metrics;
pub use metric::{Expr, Metric, MetricError, MetricValues, Op, Operand, counters_of};
pub use metric_syntax::{METRIC_SYNTAX, ParseMetricError};
pub use prepare::{BurstClass, DurationFilter, Preparation, PrepareError, Prepared, prepare};
pub use rows::Rows;
pub use runs::Runs;
pub use scale::{Normalisation, Scale};
pub use units::{Moment, Nanos, ParseNanosError};
pub use values::{Values, ValuesMut};

/// A performance counter as the trace names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Event type in the trace (42000050 is `PAPI_TOT_INS`), if it had one.
    pub event_type: Option<u32>,
    /// Short name, such as `PAPI_TOT_INS`.
    pub name: String,
    /// The trace's own description, without the name; may be empty.
    pub description: String,
}

/// How a recording names the CPU time of a burst.
const CPU_TIME: &str = "CPU time";

impl Counter {
    /// Whether it is named after the CPU time of a burst, as in a recording: a time, and no work.
    #[must_use]
    pub fn is_cpu_time(&self) -> bool {
        self.name.starts_with(CPU_TIME)
    }

    /// Whether it is this time in ns: the recorder's `CPU time (ns)`.
    #[must_use]
    pub fn is_cpu_time_in_ns(&self) -> bool {
        self.name == CPU_TIME && self.description == "ns"
    }

    /// The preset of PAPI that the counter is, if it counts instructions or
    /// cycles: by its name, by its label (PAPI's own words for the preset; the
    /// numbers of the types differ between versions), or, where it has no name
    /// at all, by its number.
    #[must_use]
    pub fn preset(&self) -> Option<&'static str> {
        const PRESETS: [(&str, &str, &str); 2] =
            [("PAPI_TOT_INS", "instr completed", "42000050"), ("PAPI_TOT_CYC", "total cycles", "42000059")];
        let is =
            |text: &str| self.name.eq_ignore_ascii_case(text) || self.description.eq_ignore_ascii_case(text);
        let words = self.name.split(|c: char| !c.is_alphanumeric() && c != '_');
        // A name of PAPI's says more than a label; several are those of a quotient.
        let named: Vec<&str> =
            words.filter(|word| word.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("PAPI_"))).collect();
        let preset = PRESETS.iter().find(|p| match named[..] {
            [] => is(p.1) || self.name == p.2,
            [only] => only.eq_ignore_ascii_case(p.0),
            _ => false,
        });
        preset.map(|p| p.0)
    }
}

/// One counter's value in every burst.
#[derive(Clone, Debug)]
pub struct CounterColumn {
    /// What was counted.
    pub counter: Counter,
    /// One value per burst; `NaN` where the burst does not carry the counter.
    pub values: Values,
}

/// A counter that is 0 for more of the computing time than this counts nothing
/// in this program, or does not work. Of the traces at hand, counters that
/// work are 0 for at most 0.05 % of the time (of the bursts, 26 %), and those
/// that do not for at least 96 %.
const SILENT: f64 = 0.95;

/// So many bursts are looked at by one thread.
const PART: usize = 1 << 16;

impl CounterColumn {
    /// Whether the counter is 0 for nearly all the time in which it was
    /// counted; `duration` is that of every burst.
    ///
    /// # Complexity
    /// O(n).
    #[must_use]
    pub fn is_silent(&self, duration: &[Nanos]) -> bool {
        // In whole numbers, so that the order of summing does not matter.
        let times = |(part, durations): (usize, &[Nanos])| {
            let (mut all, mut zero) = (0u128, 0u128);
            for (i, &Nanos(time)) in (part * PART..).zip(durations) {
                let value = self.values.get(i);
                all += if value.is_nan() { 0 } else { u128::from(time) };
                zero += if value == 0.0 { u128::from(time) } else { 0 };
            }
            (all, zero)
        };
        let n = self.values.len().min(duration.len());
        let parts = duration[..n].par_chunks(PART).enumerate().map(times);
        let (all, zero) = parts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        zero as f64 > SILENT * all as f64
    }
}

/// CPU bursts: what a thread computed between two calls to the runtime.
///
/// Columns are of equal length. Rows are ordered by application, task,
/// thread and begin, whatever the order in the file; "burst order" always
/// means this order.
#[derive(Clone, Debug, Default)]
pub struct BurstTable {
    /// Application of each burst, from 1.
    pub app: Runs,
    /// Task (rank) within its application, from 1.
    pub task: Runs,
    /// Thread within its task, from 1.
    pub thread: Runs,
    /// When the burst began, since the start of the trace.
    pub begin: Vec<Nanos>,
    /// How long it took.
    pub duration: Vec<Nanos>,
    /// Counters, in order of event type, then of name.
    pub counters: Vec<CounterColumn>,
    /// Where in the source each burst lies, if the trace tells.
    pub code: Option<Code>,
}

impl BurstTable {
    /// Number of bursts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.begin.len()
    }

    /// Whether there is no burst.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.begin.is_empty()
    }

    /// The application, task and thread of burst `i`. To ask of all in their order,
    /// [`BurstTable::threads`] is faster.
    #[must_use]
    pub fn thread_of(&self, i: usize) -> (u32, u32, u32) {
        (self.app[i], self.task[i], self.thread[i])
    }

    /// Each application, task and thread, and its bursts. Neighbours differ.
    pub fn threads(&self) -> impl Iterator<Item = ((u32, u32, u32), Range<usize>)> + '_ {
        self.threads_within(0..self.len())
    }

    /// The same of some bursts, as far as there are any.
    pub fn threads_within(
        &self,
        bursts: Range<usize>,
    ) -> impl Iterator<Item = ((u32, u32, u32), Range<usize>)> + '_ {
        let mut start = bursts.start;
        let mut apps = self.app.runs_within(bursts.clone());
        let mut tasks = self.task.runs_within(bursts.clone());
        let mut threads = self.thread.runs_within(bursts);
        let (mut app, mut task, mut thread) = (apps.next(), tasks.next(), threads.next());
        std::iter::from_fn(move || {
            let (of_app, of_task, of_thread) = (app.clone()?, task.clone()?, thread.clone()?);
            let end = of_app.1.end.min(of_task.1.end).min(of_thread.1.end);
            if end == of_app.1.end {
                app = apps.next();
            }
            if end == of_task.1.end {
                task = tasks.next();
            }
            if end == of_thread.1.end {
                thread = threads.next();
            }
            Some(((of_app.0, of_task.0, of_thread.0), std::mem::replace(&mut start, end)..end))
        })
    }

    /// Each application and task, and its bursts.
    pub fn tasks(&self) -> impl Iterator<Item = ((u32, u32), Range<usize>)> + '_ {
        let mut threads = self.threads().peekable();
        std::iter::from_fn(move || {
            let ((app, task, _), mut bursts) = threads.next()?;
            while let Some((_, more)) = threads.next_if(|((a, t, _), _)| (*a, *t) == (app, task)) {
                bursts.end = more.end;
            }
            Some(((app, task), bursts))
        })
    }

    /// The bursts that lie wholly within a time, as a table of their own.
    ///
    /// # Complexity
    /// O(n) for n bursts, with their counters.
    #[must_use]
    pub fn within(&self, time: &Range<Nanos>) -> Self {
        let is_within = |&i: &usize| self.begin[i] >= time.start && self.end(i) <= time.end;
        let rows: Vec<usize> = (0..self.len()).filter(is_within).collect();
        let mut table = Self::default();
        for ((app, task, thread), bursts) in self.threads() {
            let before = |row: usize| rows.partition_point(|&kept| kept < row);
            let n = before(bursts.end) - before(bursts.start);
            table.app.push_run(app, n);
            table.task.push_run(task, n);
            table.thread.push_run(thread, n);
        }
        table.begin = rows.iter().map(|&i| self.begin[i]).collect();
        table.duration = rows.iter().map(|&i| self.duration[i]).collect();
        let column = |column: &CounterColumn| CounterColumn {
            counter: column.counter.clone(),
            values: column.values.rows(rows.iter().map(|&i| i..i + 1)),
        };
        table.counters = self.counters.iter().map(column).collect();
        table.code = self.code.as_ref().map(|code| Code {
            places: code.places.clone(),
            regions: rows.iter().map(|&i| (code.regions.get(i), code.regions.path(i))).collect(),
            parallel: code.parallel,
        });
        table
    }

    /// The bursts as if the run had ended at that moment: those that reach over it end there, and what
    /// they counted until then is not known.
    #[must_use]
    pub fn ended_at(mut self, end: Nanos) -> Self {
        let open: Vec<usize> = (0..self.len()).filter(|&i| self.end(i) > end).collect();
        for &i in &open {
            self.duration[i] = end.saturating_sub(self.begin[i]);
        }
        for column in &mut self.counters {
            open.iter().for_each(|&i| column.values.lose(i));
        }
        self
    }

    /// When each thread computes, without counters and code.
    #[must_use]
    pub fn of_times(&self) -> Self {
        Self {
            app: self.app.clone(),
            task: self.task.clone(),
            thread: self.thread.clone(),
            begin: self.begin.clone(),
            duration: self.duration.clone(),
            ..Self::default()
        }
    }

    /// When burst `i` ended.
    #[must_use]
    pub fn end(&self, i: usize) -> Nanos {
        self.begin[i].saturating_add(self.duration[i])
    }

    /// The counter of that name, or of that number (`"42000050"`).
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<&CounterColumn> {
        let number = name.parse::<u32>().ok();
        self.counters
            .iter()
            .find(|c| c.counter.name == name || (number.is_some() && c.counter.event_type == number))
    }

    /// Computing time of all bursts together.
    #[must_use]
    pub fn computing_time(&self) -> Nanos {
        self.duration.iter().fold(Nanos::ZERO, |sum, &d| sum.saturating_add(d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_within_a_time_keep_their_threads_counters_and_code() {
        let counter = Counter { event_type: None, name: "A".to_owned(), description: String::new() };
        let region = |i: usize| Region { before: PlaceId::from_index(i), ..Region::default() };
        let table = BurstTable {
            app: vec![1; 6].into(),
            task: vec![1, 1, 2, 2, 3, 3].into(),
            thread: vec![1; 6].into(),
            begin: [0, 20, 5, 30, 0, 45].map(Nanos).to_vec(),
            duration: vec![Nanos(10); 6],
            counters: vec![CounterColumn { counter, values: (0..6).map(f64::from).collect() }],
            code: Some(Code {
                places: vec!["p".to_owned(); 6],
                regions: (0..6).map(|i| (region(i), Some(PathId(i as u32)))).collect(),
                parallel: true,
            }),
        };
        // Of those that reach over the end of a run it is not known what they count until then.
        let ended = table.clone().ended_at(Nanos(35));
        assert_eq!((ended.end(3), ended.duration[1]), (Nanos(35), Nanos(10)));
        let known: Vec<bool> = ended.counters[0].values.iter().map(|value| !value.is_nan()).collect();
        assert_eq!(known, [true, true, true, false, true, false]);
        // The first begins before, the last ends behind; the third task has none.
        let within = table.within(&(Nanos(5)..Nanos(50)));
        assert_eq!(within.begin, [20, 5, 30].map(Nanos));
        let threads: Vec<_> = within.threads().collect();
        assert_eq!(threads, [((1, 1, 1), 0..1), ((1, 2, 1), 1..3)]);
        assert_eq!(within.counters[0].values.iter().collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
        let code = within.code.expect("as before");
        assert_eq!((code.regions.get(1), code.regions.path(2)), (region(2), Some(PathId(3))));
        assert!(code.parallel && code.places.len() == 6);
    }

    /// Of a counter that nobody asks for any more there is nothing to lose: process 0 of several lets
    /// such counters go before it looks at a trace that was cut.
    #[test]
    fn bursts_end_with_the_run_whether_counters_are_kept_or_not() {
        let column = |name: &str| CounterColumn {
            counter: Counter { event_type: None, name: name.to_owned(), description: String::new() },
            values: [7.0, 8.0].into_iter().collect(),
        };
        let mut table = BurstTable {
            app: vec![1; 2].into(),
            task: vec![1; 2].into(),
            thread: vec![1; 2].into(),
            begin: [0, 20].map(Nanos).to_vec(),
            duration: vec![Nanos(10); 2],
            counters: vec![column("A"), column("B")],
            code: None,
        };
        table.counters[1].values.let_go();
        let ended = table.clone().ended_at(Nanos(25));
        assert_eq!(ended.duration, [Nanos(10), Nanos(5)]);
        assert_eq!(ended.counters[0].values.get(0), 7.0);
        assert!(ended.counters[0].values.get(1).is_nan());
        let times = table.of_times();
        assert_eq!((times.len(), times.counters.len(), &times.begin), (2, 0, &table.begin));
    }
}
