//! `likewise points`: the clustering alone, for any table of numbers.

use crate::args::GroupingArgs;
use crate::common::{Common, Usage};
use crate::files::grouped;
use crate::files::push_number;
use crate::finish::finish;
use crate::output::{OutputDir, write_rows};
use crate::taken;
use anyhow::{Context, Result, bail};
use clap::Args;
use likewise::bursts::suggest_eps;
use likewise::cluster::{Clustering, Points, kdist::k_distances};
use likewise::words::{counted, grouped_digits, short};
use likewise_analysis::Stages;
use likewise_analysis::phases::{Grouped, Grouping, Here, Method, group};
use likewise_trace::{PointsTable, read_points_table, read_raw_points};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Group the rows of any table of numbers
///
/// Every column is a coordinate, taken as it stands: normalise first. Writes
/// DIR/labels.csv (column `cluster`: 1 is the largest, or `noise`) and
/// DIR/summary.json.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PointsArgs {
    /// CSV, also with semicolons, tabs, bars or blanks; Parquet; NumPy .npy (n × d), or
    /// with --dims raw little-endian f64
    table: PathBuf,
    /// Columns of a table of raw numbers
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u8).range(1..=16))]
    dims: Option<u8>,
    #[command(flatten)]
    grouping: GroupingArgs,
    /// Add a column `core` (1 or 0) to labels.csv
    #[arg(long)]
    core: bool,
    /// Instead of grouping: the distance of every row to its K-th nearest,
    /// itself counted, in DIR/k_distances.csv
    #[arg(long, value_name = "K")]
    k_distances: Option<usize>,
    /// Directory for the result
    #[arg(short, long, value_name = "DIR", default_value = "points.likewise")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  likewise points cloud.npy -o out
  likewise points cloud.csv --eps 0.01 --min-points 10 --core -o out
  likewise points cloud.f64 --dims 2 --eps 0.01 -o out";

pub(crate) fn run(args: &PointsArgs, common: &Common) -> Result<()> {
    args.check()?;
    OutputDir::check(&args.output, &[&args.table], common)?;
    let mut stages = Stages::default();
    let table = {
        let bar = common.bytes("Reading");
        let report = |done, total| bar.set(done, total);
        stages.time("read", || match args.dims {
            Some(dims) => read_raw_points(&args.table, usize::from(dims)),
            None => read_points_table(&args.table, Some(&report)),
        })?
    };
    taken::say(table.taken(), common);
    let columns = taken::to_json(table.taken());
    let points = stages
        .time("prepare", || Points::new(&table, table.dims()))
        .with_context(|| format!("{}", args.table.display()))?;
    if args.grouping.options().eps.is_none() {
        check_squares(&table).with_context(|| format!("{}", args.table.display()))?;
    }
    if let Some(k) = args.k_distances {
        return measure(points, k, args, &columns, common, stages);
    }
    let one_task = vec![(); points.len()];
    let mut grouped = group(points, &one_task, &args.grouping.options(), &Here, &mut stages, common)?;
    if let Some(note) = grouped.note() {
        common.say(format_args!("note: {note}"));
    }
    grouped.clustering = stages.time("cluster", || std::mem::take(&mut grouped.clustering).ordered_by(|_| 1));
    let clustering = &grouped.clustering;

    let mut out = OutputDir::create(&args.output, &[&args.table], common)?;
    let core = grouped.core.as_deref().filter(|_| args.core);
    stages.time("write", || out.write("labels.csv", |file| Ok(write_labels(file, clustering, core)?)))?;
    let n_noise = clustering.labels.iter().filter(|label| label.is_none()).count();
    let summary = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": args.table.display().to_string(),
        "parameters": grouped::to_json(&grouped),
        "columns": columns,
        "points": points.len(),
        "dims": points.dims(),
        "clusters": clustering.n_clusters,
        "noise": n_noise,
        "core": grouped.core.as_ref().map(|core| core.iter().filter(|&&c| c).count()),
    });
    let summary = finish(out, "summary.json", summary, &stages, common)?;
    common.print(&summary, || text(&grouped, n_noise, args))
}

impl PointsArgs {
    fn check(&self) -> Result<()> {
        let asked = self.grouping.options();
        asked.check()?;
        let Grouping { eps, min_points, method, sample, .. } = &asked;
        let grouping = [
            (eps.is_some(), "--eps"),
            (min_points.is_some(), "--min-points"),
            (method.is_some(), "--method"),
            (sample.is_some(), "--sample"),
            (self.core, "--core"),
        ];
        if let (Some(_), Some((_, option))) = (self.k_distances, grouping.iter().find(|(given, _)| *given)) {
            let text = format!(
                "--k-distances measures and does not group, so it does not go with {option}; leave one of both out"
            );
            return Err(Usage(text).into());
        }
        let by_density = *method != Some(Method::Xmeans) && sample.is_none();
        if self.core && !by_density {
            let text = "--core needs DBSCAN of all points: it goes with neither --sample nor --method xmeans";
            return Err(Usage(text.to_owned()).into());
        }
        Ok(())
    }
}

/// Distances are roots of sums of squares: of values that are too far apart these are infinite,
/// and tell neither a radius nor clusters. With a radius that is given, such points are just far.
fn check_squares(table: &PointsTable) -> Result<()> {
    let dims = table.dims();
    let ends = (0..dims).map(|dim| {
        let values = table.iter().skip(dim).step_by(dims);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
    });
    let ends: Vec<(f64, f64)> = ends.collect();
    let square = |&(low, high): &(f64, f64)| (high - low).powi(2);
    if ends.iter().map(square).sum::<f64>() < f64::INFINITY || table.is_empty() {
        return Ok(());
    }
    let widest = (0..dims).max_by(|&a, &b| square(&ends[a]).total_cmp(&square(&ends[b]))).unwrap_or(0);
    let name = table.names().get(widest).map_or_else(|| (widest + 1).to_string(), |name| format!("'{name}'"));
    let (low, high) = ends[widest];
    bail!(
        "column {name} has values from {} to {}: they are so far apart that squares of distances do not fit in a number; \
         divide all columns by a common factor, or give --eps",
        short(low),
        short(high)
    )
}

/// The k-distances alone, and the eps at the knee of their curve.
fn measure(
    points: Points<'_>,
    k: usize,
    args: &PointsArgs,
    columns: &Value,
    common: &Common,
    mut stages: Stages,
) -> Result<()> {
    let distances = {
        let _bar = common.spinner("Measuring distances");
        stages.time("k_distance", || k_distances(points, k))?
    };
    let mut out = OutputDir::create(&args.output, &[&args.table], common)?;
    stages.time("write", || {
        out.write("k_distances.csv", |file| {
            file.write_all(b"distance\n")?;
            write_rows(file, distances.len(), |i, buffer| {
                push_number(distances[i], buffer);
                buffer.push(b'\n');
            })?;
            Ok(())
        })
    })?;
    let mut curve = distances;
    curve.par_sort_unstable_by(|a, b| b.total_cmp(a));
    let knee = suggest_eps(&curve, k);
    let summary = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": args.table.display().to_string(),
        "parameters": { "k": k },
        "columns": columns,
        "points": points.len(),
        "dims": points.dims(),
        "eps_knee": knee.as_ref().map(|knee| knee.eps),
        "eps_rule": knee.as_ref().map(|knee| knee.rule),
    });
    let summary = finish(out, "summary.json", summary, &stages, common)?;
    common.print(&summary, || match knee {
        Some(knee) => format!("Knee of the {k}-distances: eps {} ({})\n", short(knee.eps), knee.rule),
        None => format!("The {k}-distances have no knee\n"),
    })
}

fn write_labels(
    out: &mut (impl Write + Send),
    clustering: &Clustering,
    core: Option<&[bool]>,
) -> std::io::Result<()> {
    out.write_all(if core.is_some() { b"cluster,core\n" } else { b"cluster\n" })?;
    write_rows(out, clustering.labels.len(), |i, buffer| {
        match clustering.labels[i] {
            Some(id) => buffer.extend(itoa::Buffer::new().format(id.number()).bytes()),
            None => buffer.extend(b"noise"),
        }
        if let Some(core) = core {
            buffer.extend(if core[i] { b",1" } else { b",0" });
        }
        buffer.push(b'\n');
    })
}

fn text(grouped: &Grouped, n_noise: usize, args: &PointsArgs) -> String {
    let clustering = &grouped.clustering;
    let n = clustering.labels.len();
    let how = match grouped.eps {
        Some(eps) if grouped.eps_is_suggested => {
            format!("eps {} (suggested), min-points {}", short(eps), grouped.min_points)
        }
        Some(eps) => format!("eps {}, min-points {}", short(eps), grouped.min_points),
        None => "X-means".to_owned(),
    };
    format!(
        "{}, {}, {} noise ({:.2}%); {how}\nLabels: {}\n",
        counted(n as u64, "point"),
        counted(clustering.n_clusters as u64, "cluster"),
        grouped_digits(n_noise as u64),
        100.0 * n_noise as f64 / n.max(1) as f64,
        args.output.join("labels.csv").display(),
    )
}
