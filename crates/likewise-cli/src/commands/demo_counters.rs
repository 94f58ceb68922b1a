//! `likewise demo --counters`: a made-up counter table, analysed, and whether
//! the events that belong together were found to.

use super::counters::{CountersArgs, analyse_and_write, told};
use crate::common::Common;
use crate::files::push_number;
use crate::output::{OutputDir, csv_cell, write_rows};
use anyhow::Result;
use clap::Parser;
use likewise::synth::{CounterTable, counter_table};
use likewise_analysis::counters::CountersReport;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

const SITES: usize = 600;
const SEED: u64 = 1;

/// `likewise counters` as a user would call it.
#[derive(Parser)]
struct Call {
    #[command(flatten)]
    args: CountersArgs,
}

/// Analyses what was made up, and says how well it was understood.
pub(super) fn analyse_call(
    call: impl IntoIterator<Item = OsString>,
    common: &Common,
    verdict: impl Fn(&CountersReport) -> String,
) -> Result<()> {
    let args = Call::try_parse_from(call)?.args;
    let (mut report, summary) = analyse_and_write(&args, common, |report| vec![verdict(report)])?;
    let verdict = report.notes.remove(0);
    common.print(&summary, || {
        let open = "Open it in a browser: it needs no network.";
        format!("{}\n{verdict}\n{open}\n", told(&args, &report, common))
    })
}

pub(super) fn run(output: &Path, common: &Common) -> Result<()> {
    let table = counter_table(SITES, SEED);
    let input = output.join("input");
    write(&table, &input, common)?;
    let call: [OsString; 14] = [
        "counters".into(),
        input.join("counters.csv").into(),
        "--key".into(),
        "site,processes,values,requests".into(),
        "--response".into(),
        "TOT_CYC".into(),
        "--rank-by".into(),
        "SYC_INS,CA_ITV".into(),
        "--groups".into(),
        "processes".into(),
        "--objectives".into(),
        "h1,silhouette".into(),
        "-o".into(),
        output.into(),
    ];
    analyse_call(call, common, |report| verdict(&table, report))
}

/// The table, and which event is driven by what.
fn write(table: &CounterTable, dir: &Path, common: &Common) -> Result<()> {
    let mut out = OutputDir::create(dir, &[], common)?;
    out.write("counters.csv", |file| {
        write!(file, "site,processes,values,requests")?;
        table.events.iter().try_for_each(|event| write!(file, ",{}", csv_cell(event.name)))?;
        writeln!(file)?;
        write_rows(file, table.sites.len(), |row, buffer| {
            let site = &table.sites[row];
            buffer.extend(csv_cell(&site.name).bytes());
            for number in [site.processes, site.values, site.requests] {
                buffer.push(b',');
                push_number(number as f64, buffer);
            }
            for event in &table.events {
                buffer.push(b',');
                push_number(event.counts[row], buffer);
            }
            buffer.push(b'\n');
        })?;
        Ok(())
    })?;
    out.write("truth.csv", |file| {
        writeln!(file, "event,group")?;
        let line = |event: &likewise::synth::CounterEvent| (event.name, event.group.unwrap_or(""));
        table.events.iter().map(line).try_for_each(|(name, group)| writeln!(file, "{name},{group}"))?;
        Ok(())
    })?;
    out.commit()
}

/// How many groups there are, and how many of them were found.
fn verdict(table: &CounterTable, report: &CountersReport) -> String {
    let mut groups: Vec<&str> = table.events.iter().filter_map(|event| event.group).collect();
    groups.dedup();
    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.join(" ")
    };
    let named = |members: &[usize]| sorted(members.iter().map(|&at| report.names[at].as_str()).collect());
    let clusters: Vec<String> =
        report.cut().map_or_else(Vec::new, |cut| cut.clusters.iter().map(|members| named(members)).collect());
    let strong: Vec<String> =
        report.strong().iter().map(|cluster| named(report.members(cluster.node))).collect();
    let truth = |group: &&str| {
        sorted(
            table.events.iter().filter(|event| event.group == Some(*group)).map(|event| event.name).collect(),
        )
    };
    let truths: Vec<String> = groups.iter().map(truth).collect();
    let among = |clusters: &[String]| truths.iter().filter(|truth| clusters.contains(truth)).count();
    format!(
        "The table was made up with {} groups of events: {} of them are strong clusters, and {} are clusters of the \
         partition with the greatest silhouette, which has {}.",
        truths.len(),
        among(&strong),
        among(&clusters),
        clusters.len()
    )
}
