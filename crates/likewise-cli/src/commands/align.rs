//! `likewise align`: how alike the tasks' sequences of phases are.

use crate::common::Common;
use crate::files::push_number;
use crate::files::spmd;
use crate::finish::finish;
use crate::output::OutputDir;
use anyhow::{Context, Result, bail};
use clap::Args;
use likewise::bursts::{Alignment, SpmdScore, align_by_duration, spmd_score};
use likewise::table::Nanos;
use likewise::words::grouped_digits;
use likewise_analysis::Stages;
use likewise_analysis::phases::sequence_names;
use likewise_trace::{BurstKey, LabelTable, RowLabel, read_labels};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

/// Align the sequences of phases of all tasks, and say how alike they are (SPMDiness)
///
/// Reads bursts.csv of likewise or .DATA.csv of ClusteringSuite, plain or
/// gzip. Writes DIR/aligned.seq (each thread's phases, column by column, '-'
/// where it has none), DIR/spmd.csv (the score of each phase) and
/// DIR/summary.json.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AlignArgs {
    /// Labelled bursts
    bursts: PathBuf,
    /// Directory for the result
    #[arg(short, long, value_name = "DIR", default_value = "align.likewise")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  likewise align out/bursts.csv -o aligned
  likewise align run.DATA.csv.gz --json | jq .spmd.score";

/// The threads of the file and what each runs, in order of time.
struct Sequences {
    names: Vec<String>,
    /// Places of phases.
    sequences: Vec<Vec<u32>>,
    /// The number of each phase, ascending.
    phases: Vec<u32>,
    /// The time of each phase.
    durations: Vec<Nanos>,
}

pub(crate) fn run(args: &AlignArgs, common: &Common) -> Result<()> {
    OutputDir::check(&args.output, &[&args.bursts], common)?;
    let mut stages = Stages::default();
    let labels = stages.time("read", || read_labels(&args.bursts))?;
    let input = Sequences::of(&labels).with_context(|| args.bursts.display().to_string())?;
    let (alignment, score) = {
        let _bar = common.spinner("Aligning");
        stages.time("align", || {
            let alignment = align_by_duration(&input.sequences, &input.durations);
            let score = spmd_score(&alignment, &input.durations);
            (alignment, score)
        })
    };
    let mut out = OutputDir::create(&args.output, &[&args.bursts], common)?;
    stages.time("write", || {
        out.write("aligned.seq", |file| Ok(write_aligned(file, &input, &alignment)?))?;
        out.write("spmd.csv", |file| Ok(write_scores(file, &input, &alignment, &score)?))
    })?;
    let summary = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": args.bursts.display().to_string(),
        "phases": input.phases,
        "spmd": spmd::to_json(&alignment, &score),
    });
    let summary = finish(out, "summary.json", summary, &stages, common)?;
    common.print(&summary, || text(&input, &alignment, &score, args))
}

impl Sequences {
    fn of(labels: &LabelTable) -> Result<Self> {
        let (Some(keys), Some(durations)) = (&labels.keys, &labels.durations) else {
            bail!(
                "sequences need the columns task, thread, begin_ns, duration_ns and cluster, as bursts.csv has"
            );
        };
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&i| keys[i]);
        let mut phases: Vec<u32> = labels.labels.iter().filter_map(phase).collect();
        phases.sort_unstable();
        phases.dedup();
        if phases.is_empty() {
            bail!("no burst is in a phase");
        }
        let mut found = Self {
            names: Vec::new(),
            sequences: Vec::new(),
            durations: vec![Nanos::ZERO; phases.len()],
            phases,
        };
        let thread = |i: usize| BurstKey { begin: 0, ..keys[i] };
        let with_app = keys.iter().any(|key| key.app != 1);
        for bursts in order.chunk_by(|&i, &j| thread(i) == thread(j)) {
            let BurstKey { app, task, thread, .. } = thread(bursts[0]);
            found.names.push(if with_app {
                format!("{app}.{task}.{thread}")
            } else {
                format!("{task}.{thread}")
            });
            let mut sequence = Vec::new();
            for &i in bursts {
                let place =
                    phase(&labels.labels[i]).and_then(|number| found.phases.binary_search(&number).ok());
                if let Some(place) = place {
                    sequence.push(place as u32);
                    found.durations[place] = found.durations[place].saturating_add(Nanos(durations[i]));
                }
            }
            found.sequences.push(sequence);
        }
        Ok(found)
    }
}

fn phase(label: &RowLabel) -> Option<u32> {
    match *label {
        RowLabel::Cluster(number) => Some(number),
        _ => None,
    }
}

/// ClusteringSuite's `.seq` with gaps: a name, then one cell per column.
fn write_aligned(out: &mut impl Write, input: &Sequences, alignment: &Alignment) -> std::io::Result<()> {
    for (name, &sequence) in input.names.iter().zip(&alignment.sequence_of) {
        writeln!(out, ">Thread_{name}")?;
        let sequence = &alignment.sequences[sequence as usize];
        let mut cells = sequence.columns.iter().zip(&sequence.symbols).peekable();
        let mut row = Vec::new();
        for column in 0..alignment.n_columns as u32 {
            if column > 0 {
                row.push(b',');
            }
            match cells.next_if(|(at, _)| **at == column) {
                Some((_, &symbol)) => push_number(f64::from(input.phases[symbol as usize]), &mut row),
                None => row.push(b'-'),
            }
        }
        row.push(b'\n');
        out.write_all(&row)?;
    }
    Ok(())
}

fn write_scores(
    out: &mut impl Write,
    input: &Sequences,
    alignment: &Alignment,
    score: &SpmdScore,
) -> std::io::Result<()> {
    let mut columns = vec![Vec::new(); input.phases.len()];
    for sequence in &alignment.sequences {
        for (&symbol, &column) in sequence.symbols.iter().zip(&sequence.columns) {
            columns[symbol as usize].push(column);
        }
    }
    writeln!(out, "cluster,spmd_score,columns,bursts,total_ns")?;
    let mut bursts = vec![0usize; input.phases.len()];
    input.sequences.iter().flatten().for_each(|&place| bursts[place as usize] += 1);
    for (place, columns) in columns.iter_mut().enumerate() {
        columns.sort_unstable();
        columns.dedup();
        let score = score.per_cluster[place].unwrap_or(f64::NAN);
        let (number, total) = (input.phases[place], input.durations[place].0);
        writeln!(out, "{number},{score},{},{},{total}", columns.len(), bursts[place])?;
    }
    Ok(())
}

fn text(input: &Sequences, alignment: &Alignment, score: &SpmdScore, args: &AlignArgs) -> String {
    let longest = input.sequences.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = format!(
        "Cluster Sequence Score  {:.4}   (1: every task runs the same phases)\n\
         Columns                 {}   (longest sequence {})\n\
         Sequences               {}, {} of them different\n",
        score.score,
        grouped_digits(score.n_columns as u64),
        grouped_digits(longest as u64),
        grouped_digits(alignment.sequence_of.len() as u64),
        grouped_digits(alignment.sequences.len() as u64),
    );
    let widest = sequence_names(alignment, &input.names);
    if let Some((sequence, name)) = alignment.sequences.iter().zip(&widest).max_by_key(|(s, _)| s.n_tasks)
        && sequence.n_tasks > 1
    {
        let _ = writeln!(text, "Most common             threads {name}");
    }
    let _ = writeln!(text, "Aligned: {}", args.output.join("aligned.seq").display());
    text
}
