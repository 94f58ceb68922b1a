//! `likewise demo --regimes`: times of a broadcast, made up from four models,
//! analysed, and how near the latencies and bandwidths are that were found.

use super::demo_counters::analyse_call;
use crate::common::Common;
use crate::files::push_number;
use crate::output::{OutputDir, write_rows};
use anyhow::Result;
use likewise::synth::broadcast::{BROADCAST_REGIMES, BroadcastTable, broadcast_table};
use likewise::words::short;
use likewise_analysis::counters::CountersReport;
use likewise_analysis::counters::regimes::RegimeReport;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

const REPEATS: usize = 16;
const NOISE: f64 = 0.02;
const SEED: u64 = 1;

pub(super) fn run(output: &Path, common: &Common) -> Result<()> {
    let table = broadcast_table(REPEATS, NOISE, SEED)?;
    let input = output.join("input");
    write(&table, &input, common)?;
    let call: [OsString; 10] = [
        "counters".into(),
        input.join("broadcast.csv").into(),
        "--response".into(),
        "seconds".into(),
        "--parameters".into(),
        "processes,length".into(),
        "--length-bytes".into(),
        "8".into(),
        "-o".into(),
        output.into(),
    ];
    analyse_call(call, common, |report| verdict(&table, report))
}

/// The table, and what it was made from.
fn write(table: &BroadcastTable, dir: &Path, common: &Common) -> Result<()> {
    let mut out = OutputDir::create(dir, &[], common)?;
    out.write("broadcast.csv", |file| {
        writeln!(file, "processes,length,seconds")?;
        write_rows(file, table.seconds.len(), |row, buffer| {
            for (at, column) in [&table.processes, &table.length, &table.seconds].into_iter().enumerate() {
                buffer.extend_from_slice(if at > 0 { b"," } else { b"" });
                push_number(column[row], buffer);
            }
            buffer.push(b'\n');
        })?;
        Ok(())
    })?;
    out.write("truth.csv", |file| {
        writeln!(file, "processes,length,latency_s,bandwidth_bytes_per_s")?;
        let range = |(low, high): (u32, u32)| format!("{}-{}", 1u32 << low, 1u32 << high);
        BROADCAST_REGIMES.iter().try_for_each(|regime| {
            let (processes, length) = (range(regime.log2_processes), range(regime.log2_length));
            writeln!(file, "{processes},{length},{},{}", regime.latency, regime.bandwidth)
        })?;
        Ok(())
    })?;
    out.commit()
}

/// Whether the regions are those that were made up, and how far off the
/// worst latency and bandwidth are.
fn verdict(table: &BroadcastTable, report: &CountersReport) -> String {
    let found = report.regimes.as_ref().expect("regimes were asked for");
    let n = BROADCAST_REGIMES.len();
    let Some(regions) = matched(table, found) else {
        return format!(
            "The times were made up with {n} regimes; {} were found, and they are others.",
            found.found.regions.len()
        );
    };
    let mut worst = [0.0f64; 2];
    for (truth, &at) in BROADCAST_REGIMES.iter().zip(&regions) {
        let region = &found.found.regions[at];
        let off = |estimate: Option<likewise::counters::regimes::Estimate>, truth: f64| {
            estimate.map_or(f64::INFINITY, |e| (e.value / truth - 1.0).abs())
        };
        worst[0] = worst[0].max(off(found.latency(region), truth.latency));
        worst[1] = worst[1].max(off(found.bandwidth(region), truth.bandwidth));
    }
    format!(
        "The times were made up with {n} regimes and {}% noise: all were found, to the row, with latencies within {}% \
         and bandwidths within {}%.",
        short(100.0 * NOISE),
        short(100.0 * worst[0]),
        short(100.0 * worst[1])
    )
}

/// The region of each regime, if they have the same rows.
fn matched(table: &BroadcastTable, found: &RegimeReport) -> Option<Vec<usize>> {
    let mut regions = vec![None; BROADCAST_REGIMES.len()];
    for (&regime, point) in table.regime.iter().zip(&found.fitted.of_row) {
        let region = found.found.labels[(*point)?]?;
        if *regions[regime].get_or_insert(region) != region {
            return None;
        }
    }
    let regions: Vec<usize> = regions.into_iter().flatten().map(|region| region as usize).collect();
    let same_number = found.found.regions.len() == BROADCAST_REGIMES.len();
    (same_number && regions.iter().enumerate().all(|(at, r)| !regions[..at].contains(r))).then_some(regions)
}
