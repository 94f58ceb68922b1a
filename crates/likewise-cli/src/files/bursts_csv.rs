//! `bursts.csv`: every burst of the input with its cluster.

use super::label::push_csv;
use super::push_number;
use crate::output::{csv_cell, write_rows};
use likewise::table::CounterColumn;
use likewise_analysis::phases::Analysis;
use std::io::{self, Write};

/// The counters that are not among the metrics of the grouping.
pub(crate) fn counters_beside(analysis: &Analysis) -> impl Iterator<Item = &CounterColumn> {
    let is_metric = |c: &CounterColumn| analysis.metrics.iter().any(|m| m.name == c.counter.name);
    analysis.table.counters.iter().filter(move |c| !is_metric(c))
}

/// Names of the columns, as [`write`] writes them.
pub(crate) fn column_names(analysis: &Analysis) -> Vec<String> {
    let metrics = || analysis.metrics.iter().map(|m| m.name.clone());
    let app = analysis.several_apps().then_some("app").into_iter();
    app.chain(["task", "thread", "begin_ns", "duration_ns"])
        .map(str::to_owned)
        .chain(metrics())
        .chain(counters_beside(analysis).map(|c| c.counter.name.clone()))
        .chain(metrics().map(|name| format!("n_{name}")))
        .chain(["cluster".to_owned()])
        .collect()
}

/// `task,thread,begin_ns,duration_ns,<raw metrics…>,<n_…>,cluster`.
///
/// Raw metrics are those of the grouping, then the counters that are not
/// among them. `n_…` are the normalised metrics, empty for bursts that lack
/// one. A column `app` comes first where several applications were read.
pub(crate) fn write(out: &mut impl Write, analysis: &Analysis) -> io::Result<()> {
    let (table, prepared) = (&analysis.table, &analysis.prepared);
    let metrics = &analysis.metrics;
    let counters: Vec<_> = counters_beside(analysis).collect();
    let with_app = analysis.several_apps();
    let names: Vec<String> = column_names(analysis).iter().map(|name| csv_cell(name)).collect();
    writeln!(out, "{}", names.join(","))?;

    write_rows(out, table.len(), |i, buffer| {
        let mut integer = itoa::Buffer::new();
        let mut cell = |value: u64, buffer: &mut Vec<u8>| {
            buffer.extend_from_slice(integer.format(value).as_bytes());
            buffer.push(b',');
        };
        if with_app {
            cell(table.app[i].into(), buffer);
        }
        cell(table.task[i].into(), buffer);
        cell(table.thread[i].into(), buffer);
        cell(table.begin[i].0, buffer);
        cell(table.duration[i].0, buffer);
        let raw = prepared.raw.iter().map(|column| column[i]);
        let rest = counters.iter().map(|column| column.values[i]);
        let normalised = (0..metrics.len()).map(|m| prepared.normalised(m, i));
        for value in raw.chain(rest).chain(normalised) {
            push_number(value, buffer);
            buffer.push(b',');
        }
        push_csv(analysis.labels[i], buffer);
        buffer.push(b'\n');
    })
}
