//! `bursts.csv`: every burst of the input with its cluster.

use super::label::{event_value, of_event_value, push_csv};
use super::push_number;
use crate::output::{SpreadRows, csv_cell, write_rows, write_rows_spread};
use anyhow::Result;
use likewise::bursts::BurstLabel;
use likewise::table::{CounterColumn, MetricValues};
use likewise_analysis::phases::Labelled;
use likewise_comm::{Communicator, wire};
use likewise_trace::AtomicFile;
use std::io::{self, Write};
use std::path::Path;

/// The counters that are not among the metrics of the grouping.
pub(crate) fn counters_beside(labelled: &Labelled) -> impl Iterator<Item = &CounterColumn> {
    let is_metric = |c: &CounterColumn| labelled.metrics.iter().any(|m| m.name == c.counter.name);
    labelled.table.counters.iter().filter(move |c| !is_metric(c))
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
    let cells = Cells::of(labelled);
    out.write_all(&cells.header())?;
    write_rows(out, labelled.table.len(), |i, buffer| {
        push_row(cells.whole(i), cells.reals(i), labelled.labels[i], buffer);
    })
}

/// A row of the file.
fn push_row(
    whole: impl Iterator<Item = u64>,
    reals: impl Iterator<Item = f64>,
    label: BurstLabel,
    buffer: &mut Vec<u8>,
) {
    let mut integer = itoa::Buffer::new();
    for value in whole {
        buffer.extend_from_slice(integer.format(value).as_bytes());
        buffer.push(b',');
    }
    for value in reals {
        push_number(value, buffer);
        buffer.push(b',');
    }
    push_csv(label, buffer);
    buffer.push(b'\n');
}

/// What stands in the cells of each burst.
struct Cells<'a> {
    labelled: &'a Labelled,
    metrics: Vec<MetricValues<'a>>,
    counters: Vec<&'a CounterColumn>,
    with_app: bool,
}

impl<'a> Cells<'a> {
    fn of(labelled: &'a Labelled) -> Self {
        let metrics = labelled.prepared.raw(&labelled.table);
        let counters = counters_beside(labelled).collect();
        Self { labelled, metrics, counters, with_app: labelled.several_apps() }
    }

    fn header(&self) -> Vec<u8> {
        let names: Vec<String> = column_names(self.labelled).iter().map(|name| csv_cell(name)).collect();
        format!("{}\n", names.join(",")).into_bytes()
    }

    /// The whole numbers.
    fn whole(&self, i: usize) -> impl Iterator<Item = u64> {
        let table = &self.labelled.table;
        let app = self.with_app.then(|| table.app[i].into()).into_iter();
        app.chain([table.task[i].into(), table.thread[i].into(), table.begin[i].0, table.duration[i].0])
    }

    fn n_whole(&self) -> usize {
        4 + usize::from(self.with_app)
    }

    fn reals(&self, i: usize) -> impl Iterator<Item = f64> {
        let prepared = &self.labelled.prepared;
        let raw = move || self.metrics.iter().map(move |metric| metric.get(i));
        let rest = self.counters.iter().map(move |column| column.values.get(i));
        let normalised = raw().enumerate().map(move |(m, value)| prepared.normalised(m, value));
        raw().chain(rest).chain(normalised)
    }

    fn n_reals(&self) -> usize {
        2 * self.metrics.len() + self.counters.len()
    }
}

/// The same file at `path`, by several processes. Collective; process 0 passes
/// in the bursts, and gets the file.
///
/// # Errors
/// On the process that cannot write; then all must be told.
pub(crate) fn write_spread<C: Communicator>(
    comm: &C,
    of: Option<(&Path, &Labelled)>,
) -> Result<Option<AtomicFile>> {
    let cells = of.map(|(path, labelled)| (path, Cells::of(labelled)));
    let rows = cells.as_ref().map(|(path, cells)| SpreadRows {
        path,
        header: cells.header(),
        n: cells.labelled.table.len(),
        shape: [cells.n_whole(), cells.n_reals()],
        encode: Box::new(|i, bytes| {
            wire::put_numbers(bytes, cells.whole(i));
            wire::put_numbers(bytes, cells.reals(i).map(f64::to_bits));
            wire::put_number(bytes, event_value(cells.labelled.labels[i]).into());
        }),
    });
    write_rows_spread(comm, rows, |[n_whole, _], row, buffer| {
        let (whole, rest) = row.split_at(8 * n_whole);
        let (reals, label) = rest.split_at(rest.len() - 8);
        let numbers = |bytes| wire::numbers(bytes).into_iter().flatten();
        let label = numbers(label).next().unwrap_or_default() as u32;
        push_row(numbers(whole), numbers(reals).map(f64::from_bits), of_event_value(label), buffer);
    })
}
