//! `bursts.csv`: every burst of the input with its cluster.

use super::push_number;
use crate::analysis::Analysis;
use crate::label::push_csv;
use crate::output::{csv_cell, write_rows};
use likewise::table::CounterColumn;
use std::io::{self, Write};

/// The counters that are not among the metrics of the grouping.
pub(crate) fn counters_beside(analysis: &Analysis) -> impl Iterator<Item = &CounterColumn> {
    let is_metric = |c: &CounterColumn| analysis.metrics.iter().any(|m| m.name == c.counter.name);
    analysis.table.counters.iter().filter(move |c| !is_metric(c))
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
    let raw = metrics.iter().map(|m| csv_cell(&m.name));
    let rest = counters.iter().map(|c| csv_cell(&c.counter.name));
    let normalised = metrics.iter().map(|m| csv_cell(&format!("n_{}", m.name)));
    let columns: Vec<String> = raw.chain(rest).chain(normalised).collect();
    let app = if with_app { "app," } else { "" };
    writeln!(out, "{app}task,thread,begin_ns,duration_ns,{},cluster", columns.join(","))?;

    write_rows(out, table.len(), |i, buffer| {
        let mut integer = itoa::Buffer::new();
        let mut cell = |value: u64, buffer: &mut Vec<u8>| {
            buffer.extend(integer.format(value).bytes());
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
