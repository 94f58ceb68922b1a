//! `likewise counters`: which events, or which records, belong together.

use super::regimes::RegimeArgs;
use super::rows::RowArgs;
use crate::common::{Common, Names, Usage};
use crate::files::counters::{by_rank, json, loadings, newick, pareto, regimes, relations, significance};
use crate::finish::finish;
use crate::output::OutputDir;
use crate::taken;
use crate::trace::{say_notes, stem};
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise::cluster::hierarchical::{Dissimilarity, Linkage};
use likewise::counters::pareto::Objective;
use likewise_analysis::Stages;
use likewise_analysis::counters::{
    Analysed, CountersReport, Measure, Options, ProfileSettings, Ranks, Scale, Settings, analyse,
};
use likewise_analysis::definition::parse_share;
use likewise_report::counters as page;
use likewise_trace::ColumnTable;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Find which events of a counter table tell the same, or which records are alike
///
/// Each column of numbers is the profile of an event (with --rows, each row is
/// the profile of a record). The profiles are clustered to a dendrogram. Of n
/// profiles it holds n partitions, from n clusters to one, which are ranked by
/// --objectives. A cluster is strong if the merge that formed it gave a
/// partition that no other dominates. Writes
/// dendrogram.json, dendrogram.nwk, summary.json, report.html; with --rank-by
/// pareto.csv (and with --response too response_by_rank.csv), with --groups
/// significance.csv and dunn.csv, and with --parameters regimes.csv.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CountersArgs {
    /// CSV with a name over every column (or site,event,value, and a rank), also
    /// with semicolons, tabs, bars or blanks; bursts.csv or clusters.csv of likewise,
    /// Parquet, NumPy .npy, or '-' for standard input; empty cells, null, NaN
    /// and NA are missing
    #[arg(required_unless_present = "dissimilarity", conflicts_with = "dissimilarity")]
    table: Option<PathBuf>,
    /// Instead of a table: how unlike the objects are, as a square CSV with
    /// names over the columns and before the rows
    #[arg(long, value_name = "MATRIX", conflicts_with_all = PROFILE_OPTIONS)]
    dissimilarity: Option<PathBuf>,
    /// Directory for the result [default: the input's name with .counters]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    clustering: ClusteringArgs,
    /// List the profiles that are nearest to this one, such as the time
    #[arg(long, value_name = "COLUMN", conflicts_with = "rows")]
    response: Option<String>,
    /// Rank the rows on these columns too, those with the most of all first:
    /// Goldberg's rank in pareto.csv and in the report (`likewise pareto`
    /// takes --min too)
    #[arg(long, value_name = "COLUMN")]
    rank_by: Vec<Names>,
    /// Write relations.csv: of every two partitions which is better on which of
    /// --objectives
    #[arg(long)]
    relations: bool,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    regimes: RegimeArgs,
}

/// Options that say how profiles come from a table.
const PROFILE_OPTIONS: [&str; 11] = [
    "conditions",
    "per",
    "rows",
    "key",
    "columns",
    "max_missing",
    "metric",
    "scale",
    "rank_by",
    "groups",
    "parameters",
];

/// What of the table is clustered
#[derive(Debug, Args)]
#[command(next_help_heading = "Profiles")]
struct ColumnArgs {
    /// Cluster the rows, each by its values in all columns
    #[arg(long)]
    rows: bool,
    /// Columns that say which row it is, though they are numbers
    #[arg(long, value_name = "COLUMN")]
    key: Vec<Names>,
    /// These columns only
    #[arg(long, value_name = "COLUMN")]
    columns: Vec<Names>,
    /// Leave out columns (and with --rows, rows) of which more is missing
    #[arg(long, value_name = "SHARE", default_value = "50%", value_parser = parse_share)]
    max_missing: f64,
    /// What makes columns comparable, each by itself
    #[arg(long, value_enum, default_value = "range")]
    scale: ScaleArg,
    /// How unlike two profiles are
    #[arg(long, value_enum, default_value = "manhattan")]
    metric: MetricArg,
}

/// What differs between groups of rows
#[derive(Debug, Args)]
#[command(next_help_heading = "Groups of rows")]
struct GroupArgs {
    /// Test which columns differ between the groups of rows that have the same
    /// value here (Kruskal-Wallis), and which groups (Dunn, Holm)
    #[arg(long, value_name = "COLUMN")]
    groups: Option<String>,
    /// Round a column, or all, to multiples of a unit before the test: digits
    /// that mean nothing keep ties from being ties
    #[arg(long, value_name = "[COLUMN=]UNIT", value_delimiter = ',', value_parser = parse_unit, requires = "groups")]
    round: Vec<(Option<String>, f64)>,
    /// The same, but cut off towards 0
    #[arg(long, value_name = "[COLUMN=]UNIT", value_delimiter = ',', value_parser = parse_unit, requires = "groups")]
    truncate: Vec<(Option<String>, f64)>,
}

fn parse_unit(text: &str) -> Result<(Option<String>, f64), String> {
    let (name, unit) =
        text.rsplit_once('=').map_or((None, text), |(name, unit)| (Some(name.to_owned()), unit));
    let number = unit.parse::<f64>().ok().filter(|unit| *unit > 0.0 && unit.is_finite());
    number.map(|number| (name, number)).ok_or_else(|| format!("'{unit}' is no unit: write a positive number"))
}

/// How clusters form, and what makes one strong
#[derive(Debug, Args)]
#[command(next_help_heading = "Clusters")]
struct ClusteringArgs {
    /// How unlike two clusters are
    #[arg(long, value_enum, default_value = "complete")]
    linkage: LinkageArg,
    /// What partitions are ranked by
    #[arg(long, value_enum, value_delimiter = ',', default_value = "s1,h1")]
    objectives: Vec<MeasureArg>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LinkageArg {
    Complete,
    Single,
    Average,
    Ward,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MetricArg {
    Manhattan,
    Euclidean,
    Correlation,
}

/// What makes the values of columns comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScaleArg {
    /// From 0 to 1
    Range,
    /// Mean 0, standard deviation 1
    Z,
    /// As they are
    None,
}

/// What partitions are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureArg {
    /// Mean distance to the nearest other cluster: more is better
    S1,
    /// Mean diameter: less is better
    H1,
    /// Least density of a cluster: more is better
    Density,
    /// Largest diameter over that of the whole: near 0.75 is better
    R75,
    /// Mean silhouette: more is better
    Silhouette,
}

const EXAMPLES: &str = "\
Examples:
  likewise counters sites.csv -o out                         which events tell the same
  likewise counters sites.csv --response TOT_CYC             … and which are nearest to the time
  likewise counters sites.csv --rank-by SYC_INS,CA_ITV       … and the call sites worst on both
  likewise counters bcast.csv --response time_us --parameters p,bytes   where which model of it holds
  likewise counters bcast.csv --where 'p >= 32 and bytes >= 4194304' --response time_us --parameters p,bytes
  likewise counters ranks.csv --per site,nval --groups nval  does balance (time:max/mean) differ with nval
  likewise counters sites.csv --rows --key site -o out       which call sites behave alike
  likewise counters run.likewise/bursts.csv --metric correlation
  likewise counters --dissimilarity distances.csv -o out";

pub(crate) fn run(args: &CountersArgs, common: &Common) -> Result<()> {
    let (report, summary) = analyse_and_write(args, common, |_| Vec::new())?;
    say_notes(&report.notes, common);
    common.print(&summary, || told(args, &report, common))
}

/// What is shown on the terminal.
pub(super) fn told(args: &CountersArgs, report: &CountersReport, common: &Common) -> String {
    let (width, _) = common.terminal();
    let text = page::text(report, width);
    format!("{text}\nReport: {}\n", args.dir().join("report.html").display())
}

/// Reads, clusters, ranks and writes; what `notes` adds comes first.
pub(super) fn analyse_and_write(
    args: &CountersArgs,
    common: &Common,
    notes: impl Fn(&CountersReport) -> Vec<String>,
) -> Result<(CountersReport, Value)> {
    let options = args.options()?;
    let dir = args.dir();
    OutputDir::check(&dir, &[args.input()], common)?;
    let mut stages = Stages::default();
    let Analysed { mut report, columns, ranked } = analyse(args.input(), &options, &mut stages, common)?;
    report.notes.splice(0..0, notes(&report));
    let mut out = OutputDir::create(&dir, &[args.input()], common)?;
    stages.time("write", || write(&report, ranked.as_ref(), &mut out))?;
    if args.relations {
        relations::check(report.partitions.len())?;
        stages.time("write", || out.write("relations.csv", |file| Ok(write_relations(&report, file)?)))?;
    }
    let mut summary = json::summary(&report);
    summary["columns"] = taken::to_json(&columns);
    let summary = finish(out, "summary.json", summary, &stages, common)?;
    Ok((report, summary))
}

/// Every two partitions, by how many clusters they have.
fn write_relations(report: &CountersReport, file: &mut (impl Write + Send)) -> std::io::Result<()> {
    let (measures, partitions) = (&report.settings.objectives, &report.partitions);
    let values: Vec<Vec<f64>> =
        measures.iter().map(|measure| partitions.iter().map(|p| measure.of(&p.measures)).collect()).collect();
    let objectives = measures.iter().zip(&values);
    let objectives: Vec<Objective<'_>> =
        objectives.map(|(measure, values)| Objective { values, goal: measure.goal() }).collect();
    let names: Vec<String> = partitions.iter().map(|p| p.measures.n_clusters.to_string()).collect();
    relations::write(&names, &objectives, file)
}

/// All files but `summary.json`, which knows how long the others took.
fn write(report: &CountersReport, ranked: Option<&(ColumnTable, Ranks)>, out: &mut OutputDir) -> Result<()> {
    out.write("dendrogram.json", |file| Ok(writeln!(file, "{}", json::dendrogram(report))?))?;
    out.write("dendrogram.nwk", |file| Ok(newick::write(report, file)?))?;
    if let Some((table, ranks)) = ranked {
        out.write("pareto.csv", |file| pareto::write(ranks, table, file))?;
    }
    if let Some(records) = report.records.as_ref().filter(|records| !records.by_rank.is_empty()) {
        out.write("response_by_rank.csv", |file| Ok(by_rank::write(&records.by_rank, file)?))?;
    }
    if let Some(regimes_found) = &report.regimes {
        out.write("regimes.csv", |file| Ok(regimes::write(regimes_found, file)?))?;
    }
    if let Some(found) = &report.significance {
        out.write("significance.csv", |file| Ok(significance::write(found, file)?))?;
        out.write("dunn.csv", |file| Ok(significance::write_pairs(found, file)?))?;
    }
    if let Some(factors) = &report.factors {
        out.write("loadings.csv", |file| Ok(loadings::write(factors, file)?))?;
    }
    out.write("report.html", |file| Ok(page::write_html(report, file)?))
}

impl CountersArgs {
    fn input(&self) -> &Path {
        // One of both is there, or the command line is refused.
        self.table.as_deref().or(self.dissimilarity.as_deref()).unwrap_or(Path::new("-"))
    }

    fn dir(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.counters", stem(self.input()))))
    }

    fn options(&self) -> Result<Options> {
        Ok(Options {
            settings: self.settings()?,
            rows: self.rows.options(),
            key: Names::all(&self.columns.key),
            columns: Names::all(&self.columns.columns),
            response: self.response.clone(),
            rank_by: Names::all(&self.rank_by),
            groups: self.groups.groups.clone(),
            round: self.groups.round.clone(),
            truncate: self.groups.truncate.clone(),
            regimes: self.regimes.options(),
        })
    }

    fn settings(&self) -> Result<Settings> {
        let measure = |measure: &MeasureArg| match measure {
            MeasureArg::S1 => Measure::S1,
            MeasureArg::H1 => Measure::H1,
            MeasureArg::Density => Measure::Density,
            MeasureArg::R75 => Measure::R75,
            MeasureArg::Silhouette => Measure::Silhouette,
        };
        let mut objectives: Vec<Measure> = self.clustering.objectives.iter().map(measure).collect();
        objectives.dedup();
        let is_given = self.dissimilarity.is_some();
        if is_given && objectives.contains(&Measure::Density) {
            let text = "--objectives density needs a table: dissimilarities have no boxes";
            return Err(Usage(text.to_owned()).into());
        }
        let linkage = match self.clustering.linkage {
            LinkageArg::Complete => Linkage::Complete,
            LinkageArg::Single => Linkage::Single,
            LinkageArg::Average => Linkage::Average,
            LinkageArg::Ward => Linkage::Ward,
        };
        let metric = match self.columns.metric {
            MetricArg::Manhattan => Dissimilarity::Manhattan,
            MetricArg::Euclidean => Dissimilarity::Euclidean,
            MetricArg::Correlation => Dissimilarity::Correlation,
        };
        let ColumnArgs { rows, max_missing, scale, .. } = self.columns;
        let scale = match scale {
            ScaleArg::Range => Scale::Range,
            ScaleArg::Z => Scale::Z,
            ScaleArg::None => Scale::None,
        };
        let profiles = ProfileSettings { is_by_row: rows, metric, scale, max_missing };
        let profiles = (!is_given).then_some(profiles);
        Ok(Settings { linkage, profiles, objectives, chosen: self.chosen() })
    }

    /// Options that choose columns and groups, where they are given.
    fn chosen(&self) -> Vec<(&'static str, Vec<String>)> {
        let unit = |(name, unit): &(Option<String>, f64)| match name {
            Some(name) => format!("{name}={unit}"),
            None => unit.to_string(),
        };
        let all = [
            ("key", Names::all(&self.columns.key)),
            ("columns", Names::all(&self.columns.columns)),
            ("response", self.response.iter().cloned().collect()),
            ("rank-by", Names::all(&self.rank_by)),
            ("groups", self.groups.groups.iter().cloned().collect()),
            ("round", self.groups.round.iter().map(unit).collect()),
            ("truncate", self.groups.truncate.iter().map(unit).collect()),
        ];
        all.into_iter().chain(self.rows.chosen()).filter(|(_, given)| !given.is_empty()).collect()
    }
}
