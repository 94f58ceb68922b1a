//! `likewise synth`: a made-up run whose phases are known.

use crate::cli::Common;
use crate::grouping::parse_count;
use crate::output::OutputDir;
use anyhow::Result;
use clap::Args;
use likewise::synth::{Run, RunSpec};
use likewise_trace::paraver::{TraceFiles, write_synthetic};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Make up a trace with known phases
///
/// A plausible SPMD run: an exchange with neighbours and collectives between
/// phases, one phase imbalanced, one with two modes, some noise. Writes
/// NAME.prv, .pcf and .row, and the true phase of every burst in truth.csv.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SynthArgs {
    /// Tasks (ranks)
    #[arg(long, value_name = "N", default_value_t = 16)]
    tasks: usize,
    /// Iterations of the main loop
    #[arg(long, value_name = "N", default_value_t = 50, conflicts_with = "bursts", value_parser = parse_count)]
    iterations: usize,
    /// Bursts in all, instead of iterations
    #[arg(long, value_name = "N")]
    bursts: Option<u64>,
    /// Computation phases
    #[arg(long, value_name = "N", default_value_t = 8)]
    phases: usize,
    /// Phases of two densities, one RATIO times the other, which no single eps
    /// tells apart
    #[arg(long, value_name = "RATIO", conflicts_with = "phases")]
    densities: Option<f64>,
    /// Seed: the same seed gives the same trace, byte for byte
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Name of the files
    #[arg(long, default_value = "synth", value_parser = parse_name)]
    name: String,
    /// Directory for the files
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  likewise synth --tasks 64 --bursts 100000 -o run
  likewise synth --densities 30 -o uneven
  likewise synth --tasks 1024 --iterations 200 --phases 12 --seed 7 -o big";

/// Every file stands in the directory of `--output`.
fn parse_name(text: &str) -> Result<String, String> {
    let plain = Path::new(text).file_name().is_some_and(|name| name == text);
    if plain {
        Ok(text.to_owned())
    } else {
        Err("expected the name of a file, without a directory".to_owned())
    }
}

pub(crate) fn run(args: &SynthArgs, common: &Common) -> Result<()> {
    let spec = match args.densities {
        Some(ratio) => RunSpec::densities(args.tasks, args.iterations, ratio, args.seed)?,
        None => RunSpec::plausible(args.tasks, args.iterations, args.phases, args.seed)?,
    };
    let spec = match args.bursts {
        Some(bursts) => spec.with_bursts(bursts),
        None => spec,
    };
    let run = Run::new(spec)?;
    let _bar = common.progress().spinner("Making up a run");
    write_trace(&run, &args.output, &args.name)?;
    let result = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "trace": args.output.join(format!("{}.prv", args.name)).display().to_string(),
        "truth": args.output.join("truth.csv").display().to_string(),
        "bursts": run.n_bursts(),
        "tasks": args.tasks,
        "seed": args.seed,
    });
    common.print(&result, || {
        format!("{} bursts in {}\n", run.n_bursts(), args.output.join(format!("{}.prv", args.name)).display())
    })
}

/// Writes the trace and its truth into `dir`.
pub(crate) fn write_trace(run: &Run, dir: &Path, name: &str) -> Result<()> {
    let mut out = OutputDir::create(dir, &[])?;
    let file = |ending: &str| likewise_trace::AtomicFile::create(&dir.join(format!("{name}{ending}")));
    let (mut prv, mut pcf, mut row) = (file(".prv")?, file(".pcf")?, file(".row")?);
    let mut truth = likewise_trace::AtomicFile::create(&dir.join("truth.csv"))?;
    write_synthetic(
        run,
        TraceFiles { prv: &mut prv, pcf: &mut pcf, row: &mut row, truth: Some(&mut truth) },
    )?;
    for file in [prv, pcf, row, truth] {
        out.adopt(file)?;
    }
    out.commit()
}
