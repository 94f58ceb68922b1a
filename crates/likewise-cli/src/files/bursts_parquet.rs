//! `bursts.parquet`: the columns of `bursts.csv`, for data frames.

use super::bursts_csv::counters_beside;
use super::label::push_csv;
use likewise::bursts::BurstLabel;
use likewise::table::{MetricValues, Nanos};
use likewise_analysis::phases::Labelled;
use likewise_trace::{AtomicFile, ColumnData, Error, write_parquet};
use rayon::prelude::*;
use std::path::Path;

/// Missing values are NaN; `cluster` is a text, as in the CSV.
pub(crate) fn write(path: &Path, labelled: &Labelled) -> Result<AtomicFile, Error> {
    let (table, prepared) = (&labelled.table, &labelled.prepared);
    let times: Vec<Vec<i64>> = [(&table.begin, labelled.origin), (&table.duration, Nanos::ZERO)]
        .map(|(column, from)| {
            let time = |t: &Nanos| i64::try_from(t.saturating_add(from).0).unwrap_or(i64::MAX);
            column.par_iter().map(time).collect()
        })
        .into();
    let metrics = prepared.raw(table);
    let all = || (0..table.len()).into_par_iter();
    let normalised = |(m, raw): (usize, &MetricValues<'_>)| -> Vec<f64> {
        all().map(|i| prepared.normalised(m, raw.get(i))).collect()
    };
    let normalised: Vec<Vec<f64>> = metrics.iter().enumerate().map(normalised).collect();
    let n_names: Vec<String> = labelled.metrics.iter().map(|m| format!("n_{}", m.name)).collect();
    let mut columns: Vec<(&str, ColumnData<'_>)> = Vec::new();
    if labelled.several_apps() {
        columns.push(("app", ColumnData::Runs(&table.app)));
    }
    columns.push(("task", ColumnData::Runs(&table.task)));
    columns.push(("thread", ColumnData::Runs(&table.thread)));
    columns.push(("begin_ns", ColumnData::I64(&times[0])));
    columns.push(("duration_ns", ColumnData::I64(&times[1])));
    for (metric, &raw) in labelled.metrics.iter().zip(&metrics) {
        columns.push((&metric.name, ColumnData::Metric(raw)));
    }
    for column in counters_beside(labelled) {
        columns.push((&column.counter.name, ColumnData::Metric(MetricValues::from(&column.values))));
    }
    for (name, values) in n_names.iter().zip(&normalised) {
        columns.push((name, ColumnData::F64(values)));
    }
    let mut distinct = labelled.labels.clone();
    distinct.par_sort_unstable();
    distinct.dedup();
    let name = |&label: &BurstLabel| {
        let mut text = Vec::new();
        push_csv(label, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let names: Vec<String> = distinct.iter().map(name).collect();
    let place = |label: &BurstLabel| distinct.binary_search(label).unwrap_or_default();
    let labels: Vec<&str> = labelled.labels.par_iter().map(|label| names[place(label)].as_str()).collect();
    columns.push(("cluster", ColumnData::Str(&labels)));
    write_parquet(path, &columns)
}
