//! Which part of a run stands for all of it.

use crate::Usage;
use crate::phases::Analysis;
use anyhow::{Result, anyhow, bail};
use likewise::bursts::{Estimate, Period, Window, WindowLimits, choose_window};
use likewise::ranks::{is_significant, spearman};
use likewise::table::{BurstTable, CounterColumn, Nanos, counters_of};
use likewise::words::grouped_digits;

/// How little is to be kept, and how much it may be off.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At most this share (0 to 1) of the bursts and of the records.
    pub keep: f64,
    /// At most this error (0 to 1) of the computing time, and of the counters
    /// that the metrics use.
    pub max_error: f64,
    /// Just so many iterations; as few as the error allows if `None`.
    pub iterations: Option<usize>,
}

/// The iterations that stand for all.
#[derive(Debug)]
pub struct Cut<'a> {
    /// The run.
    pub analysis: &'a Analysis,
    /// Its iterations.
    pub period: &'a Period,
    /// Which of them are kept, and of which tasks.
    pub window: Window,
    /// What was asked for.
    pub asked: Limits,
    limits: WindowLimits,
    /// Of each counter, the share of the computing time of all iterations in which it is known.
    known: Vec<f64>,
}

/// A counter is compared if it is known for this share of the computing time of what is compared
/// at least: what is missing changes its sum by no more than what an error is wanted to be.
/// Where sets of counters take turns, one is known in a few iterations only.
const KNOWN: f64 = 0.95;

impl<'a> Cut<'a> {
    /// Chooses the iterations by their bursts.
    ///
    /// # Errors
    /// Times of states are wrong, so that no part can be cut out; the run does not repeat, or
    /// [`Usage`]: not as often as asked.
    pub fn of(analysis: &'a Analysis, asked: Limits) -> Result<Self> {
        if analysis.odd_clocks {
            bail!("{}", no_part(&analysis.input, None));
        }
        let period = analysis.period().found.as_ref().map_err(|why| {
            anyhow!(
                "{}: no period was found, so nothing was cut: {why}. --from and --to cut by hand",
                analysis.input
            )
        })?;
        if let Some(asked) = asked.iterations.filter(|&asked| asked > period.n_iterations()) {
            let there = period.n_iterations();
            return Err(Usage(format!(
                "--iterations {asked} is more than there are: the run repeats {there}"
            ))
            .into());
        }
        let (from, to) = period.region();
        let known = known(&analysis.table, (from, to), |_| true);
        let mut counters = counters_of(&analysis.metrics, &analysis.table);
        counters.retain(|&counter| known[counter] >= KNOWN);
        let limits = WindowLimits {
            max_share: asked.keep,
            max_error: asked.max_error,
            counters,
            iterations: asked.iterations,
        };
        let window = choose_window(&analysis.table, &analysis.period().labels, period, &limits);
        Ok(Self { analysis, period, window, asked, limits, known })
    }

    /// Chooses fewer bursts where the window holds this share of the records
    /// and that is too much: records are not spread quite as bursts are.
    /// Returns whether it did; if not, there is nothing better.
    pub fn choose_less(&mut self, records: f64) -> bool {
        let could_be_less = self.window.share <= self.limits.max_share && self.window.tasks.len() > 1;
        let does = records > self.asked.keep && could_be_less;
        if does {
            self.limits.max_share = self.window.share * (self.asked.keep / records).min(0.98);
            let labels = &self.analysis.period().labels;
            self.window = choose_window(&self.analysis.table, labels, self.period, &self.limits);
        }
        does
    }

    /// Application and task of those that are kept; `None` if all are.
    #[must_use]
    pub fn tasks(&self) -> Option<Vec<(u32, u32)>> {
        let tasks: Vec<(u32, u32)> = self.window.tasks.iter().map(|t| (t.app, t.task)).collect();
        (tasks.len() < self.n_tasks()).then_some(tasks)
    }

    /// How many tasks the run has.
    #[must_use]
    pub fn n_tasks(&self) -> usize {
        self.analysis.table.tasks().count()
    }

    /// Of each counter, whether it is known in nearly all of what is compared.
    fn is_known(&self) -> Vec<bool> {
        let Window { from, to, tasks, .. } = &self.window;
        let table = &self.analysis.table;
        let is_kept = |i: usize| {
            tasks.binary_search_by_key(&(table.app[i], table.task[i]), |t| (t.app, t.task)).is_ok()
        };
        let kept = known(table, (*from, *to), is_kept);
        self.known.iter().zip(kept).map(|(&all, kept)| all.min(kept) >= KNOWN).collect()
    }

    /// The counters that are not in [`Cut::estimates`]: they are known in too little of the
    /// iterations, or of what is kept of them.
    #[must_use]
    pub fn not_told(&self) -> Vec<&str> {
        let counters = self.analysis.table.counters.iter().zip(self.is_known());
        counters.filter(|(_, is_known)| !is_known).map(|(c, _)| c.counter.name.as_str()).collect()
    }

    /// Wall time, computing time, then every counter that is known in nearly all of what is
    /// compared; and whether the limit is for it.
    #[must_use]
    pub fn estimates(&self) -> Vec<(&str, Estimate, bool)> {
        let counters = self.analysis.table.counters.iter().zip(&self.window.counters).enumerate();
        let counters = counters.zip(self.is_known()).filter(|(_, is_known)| *is_known);
        let counters = counters.map(|((i, (c, &estimate)), _)| {
            (c.counter.name.as_str(), estimate, self.limits.counters.contains(&i))
        });
        [("wall time", self.wall(), false), ("computing time", self.window.time, true)]
            .into_iter()
            .chain(counters)
            .collect()
    }

    /// How long the iterations take, and what the kept ones make of it.
    fn wall(&self) -> Estimate {
        let (from, to) = self.period.region();
        let kept = self.window.to.saturating_sub(self.window.from).0 as f64;
        Estimate {
            region: to.saturating_sub(from).0 as f64,
            estimated: kept * self.period.n_iterations() as f64 / self.window.n_iterations as f64,
            run: self.analysis.length().0 as f64,
        }
    }

    /// Whether what was asked for is met by a window of which this share of the
    /// records is kept; the limits that it was chosen by may be lower.
    #[must_use]
    pub fn meets(&self, records: f64) -> bool {
        meets(&self.asked, &self.window, records)
    }

    /// Share of the computing time of all that the iterations hold, each burst
    /// with what of it is in them.
    #[must_use]
    pub fn computing_share(&self) -> f64 {
        let (from, to) = self.period.region();
        let table = &self.analysis.table;
        let inside = |i: usize| table.end(i).min(to).saturating_sub(table.begin[i].max(from)).0;
        (0..table.len()).map(inside).sum::<u64>() as f64 / table.computing_time().0.max(1) as f64
    }

    /// Iterations of different length, or that become longer: said of those that
    /// differ by more than a tenth, which other runs of one program do.
    #[must_use]
    pub fn lengths_text(&self) -> String {
        if self.analysis.drawn_times {
            return "How long each iteration took is not known, since the times are drawn from histograms.\n"
                .to_owned();
        }
        let period = self.period;
        let lengths = period.lengths();
        let (least, most) = (lengths.iter().min().copied(), lengths.iter().max().copied());
        let (Some(least), Some(most)) = (least, most) else { return String::new() };
        if most.0 as f64 <= 1.1 * period.median().0 as f64 && least.0 as f64 >= 0.9 * period.median().0 as f64
        {
            return String::new();
        }
        let times: Vec<f64> = lengths.iter().map(|length| length.0 as f64).collect();
        let tenth = times.len().div_ceil(10);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (first, last) = (mean(&times[..tenth]), mean(&times[times.len() - tenth..]));
        let trend = spearman(&times).filter(|&r| is_significant(r, times.len()));
        let goes = match trend {
            Some(r) if r > 0.0 && last > 1.1 * first => "become longer",
            Some(r) if r < 0.0 && first > 1.1 * last => "become shorter",
            _ => return format!("Iterations take {least} to {most}; the period is their median.\n"),
        };
        format!(
            "Iterations {goes}, from {} to {} (means of the first and the last tenth); the period is their median.\n",
            Nanos(first as u64),
            Nanos(last as u64)
        )
    }
}

/// Why no part can be cut out of a trace in which so many states end before they begin (or some,
/// where the number is not known): what is left would look like a trace in which times are right.
#[must_use]
pub fn no_part(trace: &str, states: Option<u64>) -> String {
    let which = match states {
        Some(1) => "1 state ends before it begins".to_owned(),
        Some(n) => format!("{} states end before they begin", grouped_digits(n)),
        None => "states end before they begin".to_owned(),
    };
    format!("{trace}: no part of it can be cut out: {which}, so times of states are wrong")
}

/// Of each counter, the share of the computing time of some bursts that end between two times in
/// which it is known; 1 where there is none.
fn known(table: &BurstTable, (from, to): (Nanos, Nanos), is_asked: impl Fn(usize) -> bool) -> Vec<f64> {
    let is_in = |i: &usize| table.end(*i) > from && table.end(*i) <= to && is_asked(*i);
    let bursts: Vec<usize> = (0..table.len()).filter(is_in).collect();
    let time = |i: &usize| table.duration[*i].0 as f64;
    let all: f64 = bursts.iter().map(time).sum();
    let of_counter = |column: &CounterColumn| {
        let known: f64 = bursts.iter().filter(|&&i| !column.values.get(i).is_nan()).map(time).sum();
        if all > 0.0 { known / all } else { 1.0 }
    };
    table.counters.iter().map(of_counter).collect()
}

fn meets(asked: &Limits, window: &Window, records: f64) -> bool {
    window.error <= asked.max_error && window.share.max(records) <= asked.keep
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::table::Counter;

    /// Two counters take turns from burst to burst, a third is always read.
    #[test]
    fn a_counter_is_known_in_the_time_of_the_bursts_that_have_it() {
        let column = |has: fn(usize) -> bool| CounterColumn {
            values: (0..10).map(|i| if has(i) { 5.0 } else { f64::NAN }).collect::<Vec<f64>>().into(),
            counter: Counter { event_type: None, name: "C".to_owned(), description: String::new() },
        };
        let table = BurstTable {
            app: vec![1; 10].into(),
            task: vec![1; 10].into(),
            thread: vec![1; 10].into(),
            begin: (0..10).map(|i| Nanos(100 * i)).collect(),
            duration: (0..10).map(|i| Nanos(if i % 2 == 0 { 30 } else { 90 })).collect(),
            counters: vec![column(|i| i % 2 == 0), column(|i| i % 2 == 1), column(|_| true)],
            ..BurstTable::default()
        };
        assert_eq!(known(&table, (Nanos(0), Nanos(1_000)), |_| true), [0.25, 0.75, 1.0]);
        assert_eq!(known(&table, (Nanos(0), Nanos(1_000)), |i| i == 1), [0.0, 1.0, 1.0]);
        assert_eq!(known(&table, (Nanos(2_000), Nanos(3_000)), |_| true), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn what_is_met_is_what_was_asked_for() {
        let asked = Limits { keep: 0.05, max_error: 0.02, iterations: None };
        // Chosen by a lower limit on bursts, since records were too many.
        let window = |share, error| Window {
            from: Nanos(0),
            to: Nanos(1),
            first: 0,
            n_iterations: 1,
            tasks: Vec::new(),
            share,
            n_cut: 0,
            time: Estimate::default(),
            counters: Vec::new(),
            error,
            within_limits: false,
        };
        let meets = |share, error, records| meets(&asked, &window(share, error), records);
        assert!(meets(0.04, 0.01, 0.05));
        assert!(!meets(0.06, 0.01, 0.05) && !meets(0.04, 0.03, 0.05) && !meets(0.04, 0.01, 0.06));
    }
}
