//! `likewise demo`: a made-up run, analysed, and how well it was understood.

use super::bursts::{ResultOf, Truth};
use super::compare::likeness;
use super::synth::write_trace;
use super::{demo_counters, demo_regimes};
use crate::common::Common;
use anyhow::Result;
use clap::Args;
use likewise::bursts::BurstLabel;
use likewise::synth::{Run, RunSpec};
use likewise_analysis::Stages;
use likewise_analysis::phases::{Labelled, Options, label_bursts};
use likewise_trace::{BurstKey, LabelTable, RowLabel, read_labels};
use std::path::PathBuf;

/// Make up a run with known phases, analyse it, and say how well that went
///
/// Needs no input and no network. Then open DIR/report.html in a browser.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  likewise demo\n  likewise demo -o /tmp/demo\n  likewise demo --counters\n  likewise demo --regimes"
)]
pub(crate) struct DemoArgs {
    /// Directory for the trace and the result
    /// [default: demo.likewise, demo-counters.likewise or demo-regimes.likewise]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Make up a table of hardware counters instead, as `likewise counters` reads
    #[arg(long, conflicts_with = "regimes")]
    counters: bool,
    /// Make up times of a broadcast instead, which four models obey
    #[arg(long)]
    regimes: bool,
}

pub(crate) fn run(args: &DemoArgs, common: &Common) -> Result<()> {
    let kind = ["", "-counters", "-regimes"][usize::from(args.counters) + 2 * usize::from(args.regimes)];
    let output = args.output.clone().unwrap_or_else(|| format!("demo{kind}.likewise").into());
    if args.counters {
        return demo_counters::run(&output, common);
    }
    if args.regimes {
        return demo_regimes::run(&output, common);
    }
    let run = Run::new(RunSpec::demo())?;
    let input = output.join("input");
    {
        let _bar = common.spinner("Making up a run");
        write_trace(&run, &input, "demo", common)?;
    }
    let trace = input.join("demo.prv");
    let mut stages = Stages::default();
    let labelled = label_bursts(&trace, &Options::default(), &mut stages, common)?;

    let truth = read_labels(&input.join("truth.csv"))?;
    let found = found_labels(&labelled);
    let phases = likeness(&found, &truth, false)?;
    let with_noise = likeness(&found, &truth, true)?;
    let verdict = format!(
        "The run was made up with {} phases; {} were found. Adjusted Rand index against the truth: \
         {:.4} over the bursts that are in a phase in both, {:.4} with noise as one more group (1 is perfect).",
        run.n_clusters(),
        labelled.grouped.clustering.n_clusters,
        phases.adjusted_rand,
        with_noise.adjusted_rand,
    );
    let (reading, metrics, writing) = Default::default();
    let result: ResultOf<'_> =
        ResultOf { trace: &trace, dir: output, reading: &reading, metrics: &metrics, writing: &writing };
    let truth = Truth { note: verdict.clone(), figures: phases.to_json() };
    let done = result.write(labelled, Some(truth), stages, common)?;
    common.print(&done.summary, || {
        let open = "Open it in a browser: it needs no network.";
        format!("{}\n{verdict}\n{open}\n", done.text)
    })
}

/// What was found, as `likewise compare` would read it from `bursts.csv`.
fn found_labels(labelled: &Labelled) -> LabelTable {
    let table = &labelled.table;
    let key = |i: usize| BurstKey {
        app: table.app[i],
        task: table.task[i],
        thread: table.thread[i],
        begin: table.begin[i].0,
    };
    let label = |&label: &BurstLabel| match label {
        BurstLabel::Noise => RowLabel::Noise,
        BurstLabel::Phase(id) => RowLabel::Cluster(id.number()),
        _ => RowLabel::Unclassified,
    };
    LabelTable {
        keys: Some((0..table.len()).map(key).collect()),
        labels: labelled.labels.iter().map(label).collect(),
        durations: None,
    }
}
