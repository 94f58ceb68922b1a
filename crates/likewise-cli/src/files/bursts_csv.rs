//! `bursts.csv`: every burst of the input with its cluster.

use super::label::{event_value, of_event_value, push_csv};
use super::push_number;
use crate::output::{SpreadRows, csv_cell, write_rows, write_rows_spread};
use anyhow::Result;
use likewise::bursts::BurstLabel;
use likewise::table::{BurstTable, CounterColumn, Metric, MetricValues, Nanos, Normalisation, Values};
use likewise_analysis::phases::{KeptCounters, Labelled, put_rows, take_rows};
use likewise_comm::Communicator;
use likewise_comm::wire::Taker;
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
    let of = (&prepared.metrics[..], &prepared.normalisations[..]);
    let cells = Cells::of(table, of, labelled.several_apps(), labelled.origin);
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
    /// What is added to times for those of the input.
    origin: Nanos,
}

impl<'a> Cells<'a> {
    /// # Panics
    /// If the table lacks a counter of the metrics: it was prepared with these.
    fn of(
        table: &'a BurstTable,
        (metrics, normalisations): (&'a [Metric], &'a [Normalisation]),
        with_app: bool,
        origin: Nanos,
    ) -> Self {
        let values = metrics.iter().map(|m| m.evaluate(table).expect("the table was prepared"));
        let counters = beside(table, metrics).map(|column| &column.values).collect();
        Self { table, metrics: values.zip(normalisations).collect(), counters, with_app, origin }
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
        let begin = table.begin[i].saturating_add(self.origin).0;
        app.chain([table.task[i].into(), table.thread[i].into(), begin, table.duration[i].0])
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
        about: about(labelled),
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
        let (&with_app, origin) = about.split_first()?;
        let origin = Nanos(u64::from_le_bytes(origin.try_into().ok()?));
        let cells = Cells::of(&table, (&kept.metrics, &kept.normalisations), with_app == 1, origin);
        let n = table.len();
        let text = |rows: Range<usize>| {
            let mut text = Vec::new();
            rows.for_each(|i| cells.push_row(i, labels[i], &mut text));
            text
        };
        Some((0..n.div_ceil(ROWS)).into_par_iter().map(|k| text(k * ROWS..n.min((k + 1) * ROWS))).collect())
    })
}

/// What is the same of all rows: whether they name applications, and where times count from.
fn about(labelled: &Labelled) -> Vec<u8> {
    let mut bytes = vec![labelled.several_apps().into()];
    bytes.extend(labelled.origin.0.to_le_bytes());
    bytes
}

/// What who writes some rows must know but for the counters.
fn of_rows(labelled: &Labelled, rows: Range<usize>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(20 * rows.len() + 100);
    put_rows(&mut bytes, &labelled.table, rows.clone());
    labelled.labels[rows].iter().for_each(|&label| bytes.extend(event_value(label).to_le_bytes()));
    bytes
}

/// The same as a table without counters, and the labels of its bursts.
fn rows_of(bytes: &[u8]) -> Option<(BurstTable, Vec<BurstLabel>)> {
    let mut taker = Taker::new(bytes);
    let table = take_rows(&mut taker)?;
    let (labels, rest) = taker.rest().as_chunks();
    let labels: Vec<BurstLabel> =
        labels.iter().map(|&value| of_event_value(u32::from_le_bytes(value))).collect();
    (labels.len() == table.len() && rest.is_empty()).then_some((table, labels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_analysis::phases::{Describing, Options, Reading, Share, label_bursts, label_bursts_on};
    use likewise_analysis::{Silent, Stages};
    use likewise_comm::run_on_threads;
    use likewise_trace::Apps;
    use std::fmt::Write as _;

    /// Two applications, more rows than all have in a turn, a quotient that some bursts lack, and
    /// a counter beside the metrics.
    #[test]
    fn several_processes_write_what_one_writes() {
        let mut text = "app,task,thread,begin_ns,duration_ns,a,b,c\n".to_owned();
        for i in 0..40_000u64 {
            let (app, task, at) = (1 + i / 30_000, 1 + i % 3, i / 3);
            let b = if i % 11 == 0 { String::new() } else { (1 + i % 7).to_string() };
            let (begin, long) = (77 + 1_000_000 * at, 400_000 + 100_000 * (i % 2) + i % 13);
            writeln!(text, "{app},{task},1,{begin},{long},{},{b},{}.5", 1_000 * (1 + i % 2), i)
                .expect("room");
        }
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("bursts.csv");
        std::fs::write(&path, text).expect("a file");
        let metrics = ["a", "q=a/b"].map(|metric| metric.parse().expect("a metric")).to_vec();
        let options = Options {
            reading: Reading { apps: Apps::All, ..Reading::default() },
            describing: Describing { metrics, ..Describing::default() },
            ..Options::default()
        };
        let alone = label_bursts(&path, &options, &mut Stages::default(), &Silent).expect("bursts");
        let mut expected = Vec::new();
        write(&mut expected, &alone).expect("there is room");
        assert!(expected.starts_with(b"app,task,thread,begin_ns,duration_ns,a,q,b,c,n_a,n_q,cluster\n"));
        for size in [2, 3] {
            let out = dir.path().join(format!("of_{size}.csv"));
            let files = run_on_threads(size, |comm| {
                let share = label_bursts_on(comm, &path, (&options, None), &mut Stages::default(), &Silent);
                let written = match share.expect("bursts") {
                    Share::Bursts(own) => write_spread(comm, Some((&out, &own)), &KeptCounters::default()),
                    Share::Counters(kept) => write_spread(comm, None, &kept),
                };
                Ok::<_, likewise_comm::CommError>(written.expect("it can be written"))
            });
            files.expect("they work together").remove(0).expect("of process 0").commit().expect("in place");
            assert!(std::fs::read(&out).expect("it is there") == expected, "{size} processes");
        }
        let bytes = of_rows(&alone, 29_990..30_010);
        assert!(rows_of(&bytes).is_some_and(|(table, _)| table.len() == 20));
        assert!((0..bytes.len()).all(|n| rows_of(&bytes[..n]).is_none()), "cut short");
    }
}
