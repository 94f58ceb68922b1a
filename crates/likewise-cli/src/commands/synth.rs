//! `likewise synth`: a made-up run whose phases are known.

use crate::args::parse_count;
use crate::common::Common;
use crate::output::OutputDir;
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise::synth::{Defect, DefectKind, Run, RunSpec};
use likewise::words::counted;
use likewise_trace::paraver::{TraceFiles, write_synthetic};
use serde_json::{Value, json};
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
    /// Make phases of two densities, one RATIO times the other; no single eps
    /// separates all of them
    #[arg(long, value_name = "RATIO", conflicts_with = "phases")]
    densities: Option<f64>,
    /// A balanced run, strongly scaled over --tasks, with just this defect
    #[arg(long, value_name = "KIND", value_enum, conflicts_with = "densities")]
    defect: Option<Kind>,
    /// Phase that has the defect, from 1 in the program's order, or 'all' where
    /// ranks are slow in all of them [default: drawn from the seed]
    #[arg(long, value_name = "P", requires = "defect", value_parser = parse_phase)]
    defect_phase: Option<Phase>,
    /// Tasks that have the defect, from 1: those that are slow, the one that
    /// works alone or stalls [default: one, drawn from the seed]
    #[arg(long, value_name = "N,N", requires = "defect", value_delimiter = ',')]
    defect_tasks: Vec<u32>,
    /// How large the defect is [default: drawn from the seed]
    ///
    /// imbalance: work of the last task over that of the first. serial: work of
    /// the task that works alone, over what each does otherwise. slow-ranks,
    /// low-ipc, stall: how many times longer it takes, for the same
    /// instructions. grows: work of a task over that on half as many, where 0.5
    /// is no defect.
    #[arg(long, value_name = "X", requires = "defect")]
    defect_factor: Option<f64>,
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

/// What can be wrong with a made-up run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Nothing: all tasks do the same in all phases, at a good IPC
    None,
    /// Work rises over the tasks in one phase
    Imbalance,
    /// One task does the work of a phase while all others wait
    Serial,
    /// Some tasks take longer in one phase, for the same instructions
    SlowRanks,
    /// One phase with much time has a far lower IPC than the others
    LowIpc,
    /// The work of a task in one phase does not shrink with more tasks
    Grows,
    /// One burst takes very long, once
    Stall,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    All,
    Number(usize),
}

fn parse_phase(text: &str) -> Result<Phase, String> {
    match text {
        "all" => Ok(Phase::All),
        _ => parse_count(text).map(Phase::Number),
    }
}

const EXAMPLES: &str = "\
Examples:
  likewise synth --tasks 64 --bursts 100000 -o run
  likewise synth --densities 30 -o uneven
  likewise synth --defect slow-ranks --defect-tasks 3,4 --defect-factor 2 -o slow
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
    let (tasks, iterations, phases) = (args.tasks, args.iterations, args.phases);
    let spec = match (args.densities, args.defect) {
        (Some(ratio), _) => RunSpec::densities(tasks, iterations, ratio, args.seed)?,
        (None, None) => RunSpec::plausible(tasks, iterations, phases, args.seed)?,
        (None, Some(_)) => RunSpec::balanced(tasks, iterations, phases, args.seed)?,
    };
    let mut spec = match args.bursts {
        Some(bursts) => spec.with_bursts(bursts),
        None => spec,
    };
    spec.defect = args.defect_of(&spec)?;
    let run = Run::new(spec)?;
    let _bar = common.spinner("Making up a run");
    write_trace(&run, &args.output, &args.name, common)?;
    let result = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "trace": args.output.join(format!("{}.prv", args.name)).display().to_string(),
        "truth": args.output.join("truth.csv").display().to_string(),
        "bursts": run.n_bursts(),
        "tasks": args.tasks,
        "seed": args.seed,
        "defect": defect_json(args, &run),
    });
    common.print(&result, || {
        let trace = args.output.join(format!("{}.prv", args.name));
        let bursts = counted(run.n_bursts(), "burst");
        format!("{bursts} in {}\n{}", trace.display(), defect_line(args, &run))
    })
}

impl SynthArgs {
    /// What is wrong with the run: as drawn, but for what was asked.
    fn defect_of(&self, spec: &RunSpec) -> Result<Option<Defect>> {
        let kind = match self.defect {
            None | Some(Kind::None) => {
                let given = self.defect_phase.is_some()
                    || !self.defect_tasks.is_empty()
                    || self.defect_factor.is_some();
                anyhow::ensure!(!given, "--defect none has no phase, no tasks and no factor");
                return Ok(None);
            }
            Some(Kind::Imbalance) => DefectKind::Imbalance,
            Some(Kind::Serial) => DefectKind::Serial,
            Some(Kind::SlowRanks) => DefectKind::SlowTasks,
            Some(Kind::LowIpc) => DefectKind::LowIpc,
            Some(Kind::Grows) => DefectKind::Grows,
            Some(Kind::Stall) => DefectKind::Stall,
        };
        let phase = match self.defect_phase {
            None => None,
            Some(Phase::All) => Some(None),
            Some(Phase::Number(number)) => Some(Some(number - 1)),
        };
        let mut defect = Defect::drawn(kind, spec, phase.flatten())?;
        if let Some(phase) = phase {
            defect.phase = phase;
        }
        if !self.defect_tasks.is_empty() {
            defect.tasks.clone_from(&self.defect_tasks);
        }
        defect.factor = self.defect_factor.unwrap_or(defect.factor);
        Ok(Some(defect))
    }
}

fn defect_json(args: &SynthArgs, run: &Run) -> Value {
    let kind = args.defect.and_then(|kind| kind.to_possible_value());
    let kind = kind.map(|value| value.get_name().to_owned());
    let defect = run.spec().defect.as_ref();
    match (kind, defect) {
        (None, _) => Value::Null,
        (Some(kind), None) => json!({ "kind": kind }),
        (Some(kind), Some(defect)) => json!({
            "kind": kind,
            "phase": defect.phase.map(|phase| phase + 1),
            "function": defect.phase.map(|phase| run.spec().phases[phase].name.as_str()),
            "tasks": defect.tasks,
            "factor": defect.factor,
        }),
    }
}

fn defect_line(args: &SynthArgs, run: &Run) -> String {
    let Some(defect) = &run.spec().defect else {
        return String::new();
    };
    let kind = args.defect.and_then(|kind| kind.to_possible_value());
    let phase = match defect.phase {
        Some(phase) => format!("phase {} ({})", phase + 1, run.spec().phases[phase].name),
        None => "all phases".to_owned(),
    };
    let tasks: Vec<String> = defect.tasks.iter().map(u32::to_string).collect();
    let tasks = if tasks.is_empty() { String::new() } else { format!(", task {}", tasks.join(", ")) };
    let name = kind.as_ref().map_or("", |value| value.get_name());
    format!("defect: {name} in {phase}{tasks}, factor {:.4}\n", defect.factor)
}

/// Writes the trace and its truth into `dir`.
pub(crate) fn write_trace(run: &Run, dir: &Path, name: &str, common: &Common) -> Result<()> {
    // Of several traces in one directory none is a part of another.
    let mut out = OutputDir::create(dir, &[], common)?.beside_others();
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
