//! What the rules of the refinement find on every trace at hand, as they are
//! and with each number halved and doubled.
//!
//! ```text
//! cargo run --release -p likewise-trace --example refine -- shared/data
//! cargo run --release -p likewise-trace --example refine -- shared/data sparse=6 only=EPOCH
//! cargo run --release -p likewise-trace --example refine -- shared/data sweep
//! cargo run --release -p likewise-trace --example refine -- shared/data more=bench/nested
//! ```
//!
//! With `more`, also each `NAME.csv` of a folder, with the truth in `NAME.truth.csv`.
//!
//! Of each trace: phases, those that hold 99 % of the time, Cluster Sequence
//! Score, noise in percent of the computing time, adjusted Rand index with
//! the truth (for EPOCH 16 ClusteringSuite's labels) over the bursts that both
//! group, and with noise as one more group.

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use likewise::bursts::{
    Direction, RefineInput, RefineRules, eps_range, parallel_numbers, refine, region_numbers,
};
use likewise::cluster::{ClusterId, Points};
use likewise::quality::adjusted_rand;
use likewise::synth::{Defect, DefectKind, Run, RunSpec};
use likewise::table::{
    BurstTable, DurationFilter, Nanos, Preparation, Prepared, Runs, Scale, default_metrics, prepare,
};
use likewise_trace::paraver::{TraceFiles, write_synthetic};
use likewise_trace::{ReadOptions, RowLabel, read_bursts, read_labels};
use rayon::prelude::*;

/// The filter of `likewise bursts`.
const FILTER: DurationFilter = DurationFilter::KeepTimeBelow(0.999, Nanos(10_000));

type Labels = Vec<Option<ClusterId>>;

/// A trace, ready to be refined.
struct Trace {
    name: String,
    table: BurstTable,
    prepared: Prepared,
    thread: Runs,
    n_threads: usize,
    duration: Vec<Nanos>,
    /// The truth of each complete burst with noise in none, and as a group.
    truth: Option<[Labels; 2]>,
}

impl Trace {
    fn read(name: &str, path: &Path, truth: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let table = read_bursts(path, &ReadOptions::default())?.table;
        let (metrics, _) = default_metrics(&table);
        let preparation = Preparation { metrics, filter: FILTER, scale: Scale::MinMax, pca: None };
        let prepared = prepare(&table, &preparation)?;
        let mut rows = Runs::default();
        let mut n_threads = 0;
        for (_, bursts) in table.threads() {
            rows.push_run(n_threads, bursts.len());
            n_threads += 1;
        }
        let of = |i: u32| rows[i as usize];
        let truth = truth.map(|path| truth_of(path, &table, &prepared)).transpose()?;
        Ok(Self {
            name: name.to_owned(),
            thread: prepared.complete.iter().map(of).collect(),
            n_threads: n_threads as usize,
            duration: prepared.complete.iter().map(|i| table.duration[i as usize]).collect(),
            table,
            prepared,
            truth,
        })
    }

    fn made(name: String, spec: RunSpec, dir: &Path) -> Result<Self, Box<dyn Error>> {
        let run = Run::new(spec)?;
        let file = |ending: &str| std::fs::File::create(dir.join(ending)).map(std::io::BufWriter::new);
        let (mut prv, mut pcf, mut row) = (file("run.prv")?, file("run.pcf")?, file("run.row")?);
        let mut truth = file("truth.csv")?;
        let files = TraceFiles { prv: &mut prv, pcf: &mut pcf, row: &mut row, truth: Some(&mut truth) };
        write_synthetic(&run, files)?;
        drop((prv, pcf, row, truth));
        Self::read(&name, &dir.join("run.prv"), Some(&dir.join("truth.csv")))
    }

    fn refined(&self, rules: &RefineRules) -> String {
        let points = Points::new(&self.prepared.points, self.prepared.dims).expect("points");
        let code = region_numbers(&self.table, &self.prepared.complete);
        let apart = parallel_numbers(&self.table, &self.prepared.complete);
        let input = RefineInput {
            points,
            thread: &self.thread,
            n_threads: self.n_threads,
            duration: &self.duration,
            code: &code,
            apart: &apart,
        };
        let Ok(range) = eps_range(points, &self.duration, self.n_threads, None) else {
            return "too few bursts".to_owned();
        };
        let range = range.within(self.prepared.farthest_alike());
        let found = refine(&input, range, Direction::Aggregative, rules);
        let mut time = vec![0; found.clustering.n_clusters];
        let mut noise = 0;
        for (label, duration) in found.clustering.labels.iter().zip(&self.duration) {
            *label.map_or(&mut noise, |id| &mut time[id.index()]) += duration.0;
        }
        let all = self.table.computing_time().0 as f64;
        time.sort_unstable_by_key(|&t| std::cmp::Reverse(t));
        let whole: u64 = time.iter().sum();
        let mut sum = 0;
        let large = time.iter().take_while(|&&t| {
            let open = (sum as f64) < 0.99 * whole as f64;
            sum += t;
            open
        });
        let large = large.count();
        let rand = self.truth.as_ref().map_or(String::new(), |[truth, with_noise]| {
            let mine: Labels = found.clustering.labels.iter().map(|&l| l.or(Some(noise_group()))).collect();
            let rand = |a: &Labels, b: &Labels| adjusted_rand(a, b).map_or(f64::NAN, |a| a.value);
            format!(
                " {:.3} {:.3} of {}",
                rand(&found.clustering.labels, truth),
                rand(&mine, with_noise),
                truth.iter().flatten().max().map_or(0, |id| id.index())
            )
        });
        format!(
            "{:3} ({large:2}) {:.4} {:.2} %{rand}",
            found.clustering.n_clusters,
            found.score.score,
            noise as f64 / all * 100.0
        )
    }
}

/// The group that noise is, where it is one.
fn noise_group() -> ClusterId {
    ClusterId::from_index(1 << 20)
}

fn truth_of(path: &Path, table: &BurstTable, prepared: &Prepared) -> Result<[Labels; 2], Box<dyn Error>> {
    let labels = read_labels(path)?;
    let keys = labels.keys.as_ref().ok_or("no keys")?;
    let by_key: HashMap<_, _> =
        keys.iter().map(|k| (k.task, k.thread, k.begin)).zip(&labels.labels).collect();
    let of = |i: u32| {
        let i = i as usize;
        let label = by_key.get(&(table.task[i], table.thread[i], table.begin[i].0));
        match label {
            Some(RowLabel::Cluster(n)) => (Some(ClusterId::from_index(*n as usize)), true),
            Some(RowLabel::Noise) => (None, true),
            _ => (None, false),
        }
    };
    let found: Vec<_> = prepared.complete.iter().map(of).collect();
    let with =
        |&(id, known): &(Option<ClusterId>, bool)| if known { id.or(Some(noise_group())) } else { None };
    Ok([found.iter().map(|f| f.0).collect(), found.iter().map(with).collect()])
}

fn traces(data: &Path, only: &str, more: Option<&Path>) -> Result<Vec<Trace>, Box<dyn Error>> {
    let dir = std::env::temp_dir().join(format!("likewise-refine-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let mut traces = Vec::new();
    let wanted = |name: &str| only.is_empty() || only.split(',').any(|o| name.contains(o));
    let bsc = data.join("epoch/bsc-dbscan.DATA.csv.gz");
    for (name, path, truth) in [
        ("EPOCH 1", "epoch/epoch_1proc.prv.gz", None),
        ("EPOCH 4", "epoch/epoch_4proc.prv.gz", None),
        ("EPOCH 16", "epoch/epoch_16proc.prv.gz", Some(bsc.as_path())),
        ("LULESH", "lulesh/lulesh_7+1.prv.gz", None),
        ("OpenMP", "openmp/omp4.prv.gz", None),
    ] {
        if !wanted(name) {
            continue;
        }
        match Trace::read(name, &data.join(path), truth) {
            Ok(trace) => traces.push(trace),
            Err(error) => eprintln!("{name}: {error}"),
        }
    }
    let mut specs: Vec<(String, RunSpec)> = vec![("demo".to_owned(), RunSpec::demo())];
    for seed in 1..=6 {
        specs.push((format!("densities s{seed}"), RunSpec::densities(16, 50, 30.0, seed)?));
    }
    for tasks in [1, 2, 4, 8, 16, 64] {
        for seed in 1..=4 {
            let phases = [8, 12, 5, 20][seed as usize - 1];
            let iterations = if tasks > 16 { 20 } else { 50 };
            specs.push((
                format!("synth t{tasks} p{phases} s{seed}"),
                RunSpec::plausible(tasks, iterations, phases, seed)?,
            ));
        }
    }
    for (kind, name) in [
        (DefectKind::Imbalance, "imbalance"),
        (DefectKind::Serial, "serial"),
        (DefectKind::SlowTasks, "slow tasks"),
        (DefectKind::LowIpc, "low IPC"),
        (DefectKind::Stall, "stall"),
    ] {
        let mut spec = RunSpec::balanced(16, 30, 8, 1)?;
        spec.defect = Some(Defect::drawn(kind, &spec, None)?);
        specs.push((format!("defect {name}"), spec));
    }
    for (name, spec) in specs {
        if wanted(&name) {
            traces.push(Trace::made(name, spec, &dir)?);
        }
    }
    std::fs::remove_dir_all(&dir)?;
    let more = more.map(std::fs::read_dir).transpose()?.into_iter().flatten();
    let mut more = more.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    more.sort();
    for truth in more {
        let name = truth.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(name) = name.strip_suffix(".truth.csv").filter(|name| wanted(name)) {
            traces.push(Trace::read(name, &truth.with_file_name(format!("{name}.csv")), Some(&truth))?);
        }
    }
    Ok(traces)
}

fn number<'a>(rules: &'a mut RefineRules, name: &str) -> Option<&'a mut f64> {
    Some(match name {
        "evidence" => &mut rules.evidence,
        "apart" => &mut rules.apart,
        "mixed" => &mut rules.mixed,
        "pairs" => &mut rules.pairs,
        "turns" => &mut rules.turns,
        "sparse" => &mut rules.sparse,
        "scattered" => &mut rules.scattered,
        "always" => &mut rules.always,
        _ => return None,
    })
}

const NUMBERS: [&str; 8] = ["evidence", "apart", "mixed", "pairs", "turns", "sparse", "scattered", "always"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let data = PathBuf::from(args.next().ok_or("the folder of the traces")?);
    let mut rules = RefineRules::default();
    let (mut only, mut more, mut sweep) = (String::new(), None, false);
    for arg in args {
        match arg.split_once('=') {
            Some(("only", name)) => only = name.to_owned(),
            Some(("more", folder)) => more = Some(PathBuf::from(folder)),
            Some((name, value)) => {
                *number(&mut rules, name).ok_or(format!("no number {name}"))? = value.parse()?
            }
            None if arg == "sweep" => sweep = true,
            None => return Err(format!("what is {arg}?").into()),
        }
    }
    let traces = traces(&data, &only, more.as_deref())?;
    let mut columns = vec![("as they are".to_owned(), rules.clone())];
    if sweep {
        for name in NUMBERS {
            for factor in [0.5, 2.0] {
                let mut rules = rules.clone();
                *number(&mut rules, name).expect("a number") *= factor;
                columns.push((format!("{name} × {factor}"), rules));
            }
        }
    }
    for trace in &traces {
        println!("{} ({} bursts)", trace.name, trace.thread.len());
        let found: Vec<String> = columns.par_iter().map(|(_, rules)| trace.refined(rules)).collect();
        for ((name, _), row) in columns.iter().zip(&found) {
            if *row != found[0] || name == "as they are" {
                println!("  {name:18} {row}");
            }
        }
    }
    Ok(())
}
