//! `bursts.csv`: every burst of the input with its cluster.

use super::label::{event_value, of_event_value, push_csv};
use super::push_number;
use crate::output::{SpreadRows, csv_cell, write_rows, write_rows_spread};
use anyhow::Result;
use likewise::bursts::BurstLabel;
use likewise::table::{BurstTable, CounterColumn, Metric, MetricValues, Nanos, Normalisation, Values};
use likewise_analysis::phases::{KeptCounters, Labelled};
use likewise_comm::Communicator;
use likewise_comm::wire::{self, Taker};
use likewise_trace::AtomicFile;
use rayon::prelude::*;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// The counters that are not among the metrics of the grouping.
pub(crate) fn counters_beside(labelled: &Labelled) -> impl Iterator<Item = &CounterColumn> {
    beside(&labelled.table, &labelled.metrics)
}

fn beside<'a>(table: &'a BurstTable, metrics: &'a [Metric]) -> impl Iterator<Item = &'a CounterColumn> {
    let is_metric = |c: &CounterColumn| metrics.iter().any(|m| m.name == c.counter.name);
    table.counters.iter().filter(move |c| !is_metric(c))
}

/// Names of the columns, as [`write`] writes them.
pub(crate) fn column_names(labelled: &Labelled) -> Vec<String> {
    let metrics = || labelled.metrics.iter().map(|m| m.name.clone());
    let app = labelled.several_apps().then_some("app").into_iter();
    app.chain(["task", "thread", "begin_ns", "duration_ns"])
        .map(str::to_owned)
        .chain(metrics())
        .chain(counters_beside(labelled).map(|c| c.counter.name.clone()))
        .chain(metrics().map(|name| format!("n_{name}")))
        .chain(["cluster".to_owned()])
        .collect()
}

/// `task,thread,begin_ns,duration_ns,<raw metrics…>,<n_…>,cluster`.
///
/// Raw metrics are those of the grouping, then the counters that are not
/// among them. `n_…` are the normalised metrics, empty for bursts that lack
/// one. A column `app` comes first where several applications were read.
pub(crate) fn write(out: &mut (impl Write + Send), labelled: &Labelled) -> io::Result<()> {
    let Labelled { table, prepared, labels, .. } = labelled;
    let cells = Cells::of(table, (&prepared.metrics, &prepared.normalisations), labelled.several_apps());
    out.write_all(&header(labelled))?;
    write_rows(out, table.len(), |i, buffer| cells.push_row(i, labels[i], buffer))
}

fn header(labelled: &Labelled) -> Vec<u8> {
    let names: Vec<String> = column_names(labelled).iter().map(|name| csv_cell(name)).collect();
    format!("{}\n", names.join(",")).into_bytes()
}

/// What stands in the cells of each burst.
struct Cells<'a> {
    table: &'a BurstTable,
    metrics: Vec<(MetricValues<'a>, &'a Normalisation)>,
    counters: Vec<&'a Values>,
    with_app: bool,
}

impl<'a> Cells<'a> {
    /// # Panics
    /// If the table lacks a counter of the metrics: it was prepared with these.
    fn of(
        table: &'a BurstTable,
        (metrics, normalisations): (&'a [Metric], &'a [Normalisation]),
        with_app: bool,
    ) -> Self {
        let values = metrics.iter().map(|m| m.evaluate(table).expect("the table was prepared"));
        let counters = beside(table, metrics).map(|column| &column.values).collect();
        Self { table, metrics: values.zip(normalisations).collect(), counters, with_app }
    }

    /// A row of the file.
    fn push_row(&self, i: usize, label: BurstLabel, buffer: &mut Vec<u8>) {
        let mut integer = itoa::Buffer::new();
        for value in self.whole(i) {
            buffer.extend_from_slice(integer.format(value).as_bytes());
            buffer.push(b',');
        }
        for value in self.reals(i) {
            push_number(value, buffer);
            buffer.push(b',');
        }
        push_csv(label, buffer);
        buffer.push(b'\n');
    }

    /// The whole numbers.
    fn whole(&self, i: usize) -> impl Iterator<Item = u64> {
        let table = self.table;
        let app = self.with_app.then(|| table.app[i].into()).into_iter();
        app.chain([table.task[i].into(), table.thread[i].into(), table.begin[i].0, table.duration[i].0])
    }

    fn reals(&self, i: usize) -> impl Iterator<Item = f64> {
        let raw = self.metrics.iter().map(move |(metric, _)| metric.get(i));
        let rest = self.counters.iter().map(move |values| values.get(i));
        let normalised = self.metrics.iter().map(move |(metric, of)| of.apply(metric.get(i)));
        raw.chain(rest).chain(normalised)
    }
}

/// Rows that one thread makes text of at a time.
const ROWS: usize = 1 << 12;

/// The same file at `path`, by several processes, each of which keeps the counters of its rows.
/// Collective; process 0 passes in the bursts, and gets the file.
///
/// # Errors
/// On the process that cannot write; then all must be told.
pub(crate) fn write_spread<C: Communicator>(
    comm: &C,
    of: Option<(&Path, &Labelled)>,
    kept: &KeptCounters,
) -> Result<Option<AtomicFile>> {
    let rows = of.map(|(path, labelled)| SpreadRows {
        path,
        header: header(labelled),
        n: labelled.table.len(),
        about: vec![labelled.several_apps().into()],
        encode: Box::new(|rows| of_rows(labelled, rows)),
    });
    let mut done = 0;
    write_rows_spread(comm, rows, |about, rows| {
        let (mut table, labels) = rows_of(rows)?;
        table.counters = kept.of_rows(done, table.len());
        done += table.len();
        if table.counters.iter().any(|column| column.values.len() != table.len()) {
            return None;
        }
        let cells = Cells::of(&table, (&kept.metrics, &kept.normalisations), about == [1]);
        let n = table.len();
        let text = |rows: Range<usize>| {
            let mut text = Vec::new();
            rows.for_each(|i| cells.push_row(i, labels[i], &mut text));
            text
        };
        Some((0..n.div_ceil(ROWS)).into_par_iter().map(|k| text(k * ROWS..n.min((k + 1) * ROWS))).collect())
    })
}

/// What who writes some rows must know but for the counters.
fn of_rows(labelled: &Labelled, rows: Range<usize>) -> Vec<u8> {
    let Labelled { table, labels, .. } = labelled;
    let mut bytes = Vec::with_capacity(20 * rows.len() + 100);
    let threads: Vec<_> = table.threads_within(rows.clone()).collect();
    wire::put_number(&mut bytes, threads.len() as u64);
    for ((app, task, thread), bursts) in threads {
        wire::put_numbers(&mut bytes, [app.into(), task.into(), thread.into(), bursts.len() as u64]);
    }
    for times in [&table.begin, &table.duration] {
        wire::put_numbers(&mut bytes, times[rows.clone()].iter().map(|time| time.0));
    }
    labels[rows].iter().for_each(|&label| bytes.extend(event_value(label).to_le_bytes()));
    bytes
}

/// The same as a table without counters, and the labels of its bursts.
fn rows_of(bytes: &[u8]) -> Option<(BurstTable, Vec<BurstLabel>)> {
    let mut taker = Taker::new(bytes);
    let mut table = BurstTable::default();
    let mut n = 0usize;
    for _ in 0..taker.number()? {
        let [app, task, thread] = [taker.number()?, taker.number()?, taker.number()?].map(|of| of as u32);
        let own = taker.index()?;
        table.app.push_run(app, own);
        table.task.push_run(task, own);
        table.thread.push_run(thread, own);
        n = n.checked_add(own)?;
    }
    let mut times = || {
        let times = wire::numbers(taker.bytes(n.checked_mul(8)?)?)?;
        Some(times.map(Nanos).collect())
    };
    (table.begin, table.duration) = (times()?, times()?);
    let (labels, rest) = taker.rest().as_chunks();
    let labels: Vec<BurstLabel> =
        labels.iter().map(|&value| of_event_value(u32::from_le_bytes(value))).collect();
    (labels.len() == n && rest.is_empty()).then_some((table, labels))
}
