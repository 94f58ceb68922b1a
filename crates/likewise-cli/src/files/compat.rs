//! ClusteringSuite's own files, under its own names.
//!
//! `PREFIX.DATA.csv`, `PREFIX.clusters_info.csv`, `PREFIX.seq` and a gnuplot
//! script, so that BSC's `tracking` and its users' scripts go on working. Ids
//! count from 0 and a cluster is its number + 5, as there. Differs: `Line`,
//! the burst's line in the trace, is 0, because bursts are not kept by line;
//! and bursts are in burst order, not by end.

use super::gnuplot::quoted;
use super::label::event_value;
use super::push_number;
use crate::output::write_rows;
use anyhow::Result;
use likewise::table::Nanos;
use likewise_analysis::phases::Analysis;
use likewise_trace::AtomicFile;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes all of them; they appear when the caller commits.
pub(crate) fn write(prefix: &Path, analysis: &Analysis) -> Result<Vec<AtomicFile>> {
    let with_ending = |ending: &str| -> PathBuf {
        let mut name = OsString::from(prefix);
        name.push(ending);
        name.into()
    };
    let mut files = Vec::new();
    let mut add = |ending: &str, fill: &dyn Fn(&mut AtomicFile) -> std::io::Result<()>| -> Result<()> {
        let mut file = AtomicFile::create(&with_ending(ending))?;
        fill(&mut file)?;
        file.flush()?;
        files.push(file);
        Ok(())
    };
    let [x, y] = analysis.axes();
    let data_name = with_ending(".DATA.csv");
    let data_name = data_name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = |name: &str| name.replace(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c)), "_");
    add(".DATA.csv", &|out| data(out, analysis))?;
    add(".clusters_info.csv", &|out| clusters_info(out, analysis))?;
    add(".seq", &|out| sequences(out, analysis))?;
    let plot = format!(".{}.{}.gnuplot", plain(&x.name), plain(&y.name));
    add(&plot, &|out| gnuplot(out, analysis, &data_name))?;
    Ok(files)
}

fn data(out: &mut (impl Write + Send), analysis: &Analysis) -> std::io::Result<()> {
    let (table, prepared) = (&analysis.table, &analysis.prepared);
    write!(out, "# Instance,TaskId,ThreadId,Begin_Time,End_Time,Duration, Line")?;
    for metric in &analysis.metrics {
        write!(out, ", d_{}", metric.name)?;
    }
    for metric in &analysis.metrics {
        write!(out, ", n_{}", metric.name)?;
    }
    for column in &table.counters {
        write!(out, ", x_{}", column.counter.name)?;
    }
    writeln!(out, ",ClusterID")?;
    let metrics = prepared.raw(table);
    write_rows(out, prepared.complete.len(), |row, buffer| {
        let i = prepared.complete.at(row) as usize;
        let ids = [i as u64, u64::from(table.task[i] - 1), u64::from(table.thread[i] - 1)];
        let of_file = |time: Nanos| time.saturating_add(analysis.origin).0;
        let times = [of_file(table.begin[i]), of_file(table.end(i)), table.duration[i].0, 0];
        for value in ids.into_iter().chain(times) {
            buffer.extend(itoa::Buffer::new().format(value).bytes());
            buffer.push(b',');
        }
        let raw = || metrics.iter().map(|metric| metric.get(i));
        let normalised = raw().enumerate().map(|(m, value)| prepared.normalised(m, value));
        let counters = table.counters.iter().map(|c| or_zero(c.values.get(i)));
        for value in raw().chain(normalised).chain(counters) {
            push_number(value, buffer);
            buffer.push(b',');
        }
        buffer.extend(itoa::Buffer::new().format(event_value(analysis.labels[i])).bytes());
        buffer.push(b'\n');
    })
}

/// A counter that is missing is 0 there.
fn or_zero(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value }
}

/// One column per cluster, the noise first; counters are means.
fn clusters_info(out: &mut impl Write, analysis: &Analysis) -> std::io::Result<()> {
    let (noise, clusters) = match analysis.stats.split_last() {
        Some((noise, clusters)) => (noise, clusters),
        None => return Ok(()),
    };
    let phases: Vec<_> = std::iter::once(noise).chain(clusters).collect();
    let mut line = |name: &str, cells: Vec<String>| writeln!(out, "{name},{}", cells.join(","));
    let names =
        phases.iter().map(|p| p.cluster.map_or("NOISE".to_owned(), |id| format!("Cluster {}", id.number())));
    line("Cluster Name", names.collect())?;
    line("Density", phases.iter().map(|p| p.instances.to_string()).collect())?;
    line("Total Duration", phases.iter().map(|p| p.total.0.to_string()).collect())?;
    line("Avg. Duration", phases.iter().map(|p| format!("{:.0}", p.duration.mean)).collect())?;
    line("% Total Duration", phases.iter().map(|p| format!("{:.5}", p.share_of_complete)).collect())?;
    for (i, column) in analysis.table.counters.iter().enumerate() {
        // Counts are whole there; what a definition derives need not be.
        let decimals = if column.counter.event_type.is_some() { 0 } else { 6 };
        let means = phases.iter().map(|p| format!("{:.decimals$}", or_zero(p.counters[i].mean)));
        line(&column.counter.name, means.collect())?;
    }
    Ok(())
}

/// The clusters of every thread in order of time, FASTA-like: a name, then
/// cluster ids (+5) between commas; what was not clustered is left out.
fn sequences(out: &mut impl Write, analysis: &Analysis) -> std::io::Result<()> {
    let table = &analysis.table;
    let thread = |i: usize| table.thread_of(i);
    let mut separator = "";
    for i in 0..table.len() {
        if i == 0 || thread(i) != thread(i - 1) {
            let end = if i == 0 { "" } else { "\n" };
            writeln!(out, "{end}>Thread_{}.{}", table.task[i], table.thread[i])?;
            separator = "";
        }
        let value = event_value(analysis.labels[i]);
        if value >= 5 {
            write!(out, "{separator}{value}")?;
            separator = ",";
        }
    }
    if table.is_empty() { Ok(()) } else { writeln!(out) }
}

fn gnuplot(out: &mut impl Write, analysis: &Analysis, data_name: &str) -> std::io::Result<()> {
    let [x, y] = analysis.axes();
    let place = |name: &str| 8 + analysis.metrics.iter().position(|m| m.name == name).unwrap_or(0);
    let (x_at, y_at) = (place(&x.name), place(&y.name));
    let id_at = 8 + 2 * analysis.metrics.len() + analysis.table.counters.len();
    writeln!(out, "set datafile separator \",\"\nset key outside")?;
    writeln!(out, "set xlabel {} noenhanced\nset ylabel {} noenhanced", quoted(&x.name), quoted(&y.name))?;
    let of = |id: u32| format!("using ((${id_at} == {id}) ? ${x_at} : NaN):{y_at}");
    write!(out, "plot {} {} title \"NOISE\" with points", quoted(data_name), of(5))?;
    for id in 1..=analysis.grouped.clustering.n_clusters as u32 {
        write!(out, ", \\\n  '' {} title \"Cluster {id}\" with points", of(id + 5))?;
    }
    writeln!(out)
}
