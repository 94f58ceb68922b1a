//! `likewise counters`: which events, or which records, belong together.

use crate::commands::pareto::{Ranks, numbers_of, row_name};
use crate::commands::regimes::RegimeArgs;
use crate::common::{Common, Names, Usage};
use crate::counters::by_rank::{ByRank, Groups};
use crate::counters::find::{Found, Source, find};
use crate::counters::loadings::{Factors, factors};
use crate::counters::regimes::RegimeReport;
use crate::counters::rows::RowArgs;
use crate::counters::significance::{Significance, significance};
use crate::counters::{
    CountersReport, LeftOut, Measure, Order, ProfileSettings, Records, Scale, Settings, by_rank, json,
    matrix, newick, relations, table, text,
};
use crate::finish::finish;
use crate::output::OutputDir;
use crate::report_counters;
use crate::taken;
use crate::trace::stem;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use likewise::cluster::hierarchical::{Dissimilarity, Linkage};
use likewise::counters::pareto::{Goal, Objective, fonseca_fleming, goldberg};
use likewise::counters::significance::Precision;
use likewise::words::counted;
use likewise_analysis::Stages;
use likewise_analysis::definition::parse_share;
use likewise_trace::{ColumnTable, Taken, read_columns, read_square};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// Find which events of a counter table tell the same, or which records are alike
///
/// Columns of numbers are the profiles of the events (or rows those of the
/// records, with --rows). A dendrogram of n profiles has n partitions, from n
/// clusters to one. They are ranked by --objectives, and the clusters whose
/// forming gave one that no other dominates are strong. Writes
/// dendrogram.json, dendrogram.nwk, summary.json, report.html; with --rank-by
/// pareto.csv (and with --response too response_by_rank.csv), with --groups
/// significance.csv and dunn.csv, and with --parameters regimes.csv.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CountersArgs {
    /// CSV with a name over every column (or site,event,value, and a rank), also
    /// with semicolons, tabs or blanks; bursts.csv or clusters.csv of likewise,
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
    scale: Scale,
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
    objectives: Vec<Measure>,
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

/// What a call was made of, read and checked.
struct Input {
    names: Vec<String>,
    source: Source,
    dims: Option<usize>,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
    taken: Taken,
    /// Rows, if they are ranked.
    ranked: Option<(ColumnTable, Ranks)>,
    /// The response by rank, where there is one.
    by_rank: Vec<ByRank>,
    regimes: Option<RegimeReport>,
    significance: Option<Significance>,
    factors: Option<Factors>,
}

pub(crate) fn run(args: &CountersArgs, common: &Common) -> Result<()> {
    let (report, summary) = analyse(args, common, |_| Vec::new())?;
    for note in &report.notes {
        common.say(format_args!("note: {note}"));
    }
    common.print(&summary, || told(args, &report, common))
}

/// What is shown on the terminal.
pub(crate) fn told(args: &CountersArgs, report: &CountersReport, common: &Common) -> String {
    let (width, _) = common.terminal();
    let text = text::text(report, width);
    format!("{text}\nReport: {}\n", args.dir().join("report.html").display())
}

/// Reads, clusters, ranks and writes; what `notes` adds comes first.
pub(crate) fn analyse(
    args: &CountersArgs,
    common: &Common,
    notes: impl Fn(&CountersReport) -> Vec<String>,
) -> Result<(CountersReport, Value)> {
    let settings = args.settings()?;
    let dir = args.dir();
    OutputDir::check(&dir, &[args.input()], common)?;
    let mut stages = Stages::default();
    let at = || args.input().display().to_string();
    let input = args.read(&settings, common, &mut stages)?;
    let response = args.response_of(&input)?;
    let found = {
        let _bar = common.spinner("Clustering");
        find(input.source, &input.names, &settings, response, &mut stages).with_context(at)?
    };
    let Found { dendrogram, partitions, response } = found;
    let mut said = input.notes;
    said.extend(input.regimes.iter().flat_map(RegimeReport::notes));
    said.extend(input.significance.iter().flat_map(Significance::notes));
    said.extend(input.factors.iter().filter_map(Factors::note));
    said.extend(cautions(&settings, &partitions, input.names.len()));
    let mut report = CountersReport {
        input: at(),
        settings,
        names: input.names,
        dims: input.dims,
        order: Order::of(&dendrogram),
        dendrogram,
        partitions,
        left_out: input.left_out,
        response,
        records: input.ranked.as_ref().map(|(table, ranks)| records(args, table, ranks, &input.by_rank)),
        regimes: input.regimes,
        significance: input.significance,
        factors: input.factors,
        notes: said,
    };
    report.notes.splice(0..0, notes(&report));
    let mut out = OutputDir::create(&dir, &[args.input()], common)?;
    stages.time("write", || write(&report, input.ranked.as_ref(), &mut out))?;
    if args.relations {
        relations::check(report.partitions.len())?;
        stages.time("write", || out.write("relations.csv", |file| Ok(write_relations(&report, file)?)))?;
    }
    let mut summary = json::summary(&report);
    summary["columns"] = taken::to_json(&input.taken);
    let summary = finish(out, "summary.json", summary, &stages, common)?;
    Ok((report, summary))
}

/// Every two partitions, by how many clusters they have.
fn write_relations(report: &CountersReport, file: &mut impl Write) -> std::io::Result<()> {
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
        out.write("pareto.csv", |file| ranks.write(table, file))?;
    }
    if let Some(records) = report.records.as_ref().filter(|records| !records.by_rank.is_empty()) {
        out.write("response_by_rank.csv", |file| Ok(by_rank::write(&records.by_rank, file)?))?;
    }
    if let Some(regimes) = &report.regimes {
        out.write("regimes.csv", |file| Ok(regimes.write(file)?))?;
    }
    if let Some(found) = &report.significance {
        out.write("significance.csv", |file| Ok(found.write(file)?))?;
        out.write("dunn.csv", |file| Ok(found.write_pairs(file)?))?;
    }
    if let Some(factors) = &report.factors {
        out.write("loadings.csv", |file| Ok(factors.write(file)?))?;
    }
    out.write("report.html", |file| Ok(report_counters::write_html(report, file)?))
}

impl CountersArgs {
    fn input(&self) -> &std::path::Path {
        // One of both is there, or the command line is refused.
        self.table.as_deref().or(self.dissimilarity.as_deref()).unwrap_or(std::path::Path::new("-"))
    }

    fn dir(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.counters", stem(self.input()))))
    }

    fn settings(&self) -> Result<Settings> {
        let mut objectives = self.clustering.objectives.clone();
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

    fn read(&self, settings: &Settings, common: &Common, stages: &mut Stages) -> Result<Input> {
        let path = self.input();
        let mut table = {
            let bar = common.bytes("Reading");
            let report = |done, total| bar.set(done, total);
            stages.time("read", || match settings.profiles {
                Some(_) => read_columns(path, &Names::all(&self.columns.key), Some(&report)),
                None => read_square(path, Some(&report)),
            })?
        };
        let taken = table.taken.clone();
        taken::tell(&taken, common);
        let at = || match self.rows.chosen() {
            [(_, conditions), (_, per), _] if conditions.is_empty() && per.is_empty() => {
                path.display().to_string()
            }
            _ => format!("{}, the rows of --where and --per", path.display()),
        };
        let Some(profiles) = settings.profiles else {
            let (names, square) = matrix::square(&table).with_context(at)?;
            let source = Source::Dissimilarities(square);
            return Ok(Input {
                names,
                source,
                dims: None,
                left_out: Vec::new(),
                notes: taken.said(),
                taken,
                ranked: None,
                by_rank: Vec::new(),
                regimes: None,
                significance: None,
                factors: None,
            });
        };
        let n_columns = counted(table.columns.len() as u64, "column");
        common.tell(format_args!("{}, {n_columns}", counted(table.n_rows as u64, "row")));
        let left_out = |(name, why): &(String, String)| LeftOut { name: name.clone(), why: why.clone() };
        let mistaken = taken.left_out.iter().map(left_out).collect();
        let understood = table::understand(&mut table);
        let numbers = [&self.apart()[1][..], &Names::all(&self.rank_by), self.response.as_slice()].concat();
        let of_rows = self.rows.apply(&mut table, &numbers).with_context(at)?;
        let asked =
            table::Asked { columns: &Names::all(&self.columns.columns), apart: &self.apart(), mistaken };
        let selected = stages.time("prepare", || table::select(&table, asked, profiles));
        let selected = selected.with_context(at)?;
        let ranked = stages.time("rank", || self.ranks(&table))?;
        let by_rank = self.by_rank(&table, ranked.as_ref()).with_context(at)?;
        let regimes = match &self.response {
            Some(response) if self.regimes.is_asked() => {
                let _bar = common.spinner("Looking for regimes");
                Some(stages.time("regimes", || self.regimes.find(&table, response)).with_context(at)?)
            }
            _ => None,
        };
        let significance = stages.time("significance", || self.groups.test(&table, &selected.columns));
        let significance = significance.with_context(at)?;
        // Columns that were left out are listed with those that tell nothing.
        let read = Taken { left_out: Vec::new(), ..taken.clone() }.said();
        let notes = read.into_iter().chain(understood).chain(of_rows).chain(selected.notes);
        let mut notes: Vec<String> = notes.collect();
        let factors = stages.time("loadings", || factors(&table, &selected.columns));
        let factors = factors.unwrap_or_else(|error| {
            notes.push(format!("No factors: {error}."));
            None
        });
        Ok(Input {
            names: selected.names,
            dims: Some(selected.profiles.dims()),
            source: Source::Profiles(selected.profiles),
            left_out: selected.left_out,
            notes,
            taken,
            ranked: ranked.map(|ranks| (table, ranks)),
            by_rank,
            regimes,
            significance,
            factors,
        })
    }

    /// Those of the rows, if they are asked for.
    fn ranks(&self, table: &ColumnTable) -> Result<Option<Ranks>> {
        let rank_by = Names::all(&self.rank_by);
        if rank_by.is_empty() {
            return Ok(None);
        }
        if rank_by.len() < 2 {
            return Err(Usage("--rank-by needs two columns at least".to_owned()).into());
        }
        let objective =
            |name: &String| numbers_of(table, name).map(|(_, values)| Objective { values, goal: Goal::Max });
        let objectives = rank_by.iter().map(objective).collect::<Result<Vec<_>, _>>()?;
        let (goldberg, fonseca_fleming) = (goldberg(&objectives)?, fonseca_fleming(&objectives)?);
        Ok(Some(Ranks { goldberg, fonseca_fleming }))
    }

    /// The response by rank and group, where all are asked for.
    fn by_rank(&self, table: &ColumnTable, ranks: Option<&Ranks>) -> Result<Vec<ByRank>> {
        let (Some(response), Some(ranks)) = (&self.response, ranks) else { return Ok(Vec::new()) };
        let groups = Groups::of(table, self.groups.groups.as_deref())?;
        Ok(vec![ByRank::of(table, response, &groups, &ranks.goldberg)?])
    }

    /// Columns of groups and of parameters, which are no events.
    fn apart(&self) -> [Vec<String>; 2] {
        [self.groups.groups.iter().cloned().chain(self.rows.per()).collect(), self.regimes.parameters()]
    }

    fn response_of(&self, input: &Input) -> Result<Option<usize>> {
        let Some(asked) = &self.response else { return Ok(None) };
        if let Some(left) = input.left_out.iter().find(|left| left.name == *asked) {
            return Err(Usage(format!("'{asked}' was left out: {}", left.why)).into());
        }
        match input.names.iter().position(|name| name == asked) {
            Some(profile) => Ok(Some(profile)),
            None => {
                Err(Usage(format!("there is no profile '{asked}'; there are: {}", input.names.join(", ")))
                    .into())
            }
        }
    }
}

impl GroupArgs {
    fn test(&self, table: &ColumnTable, columns: &[String]) -> Result<Option<Significance>> {
        let Some(by) = &self.groups else { return Ok(None) };
        for (name, _) in self.round.iter().chain(&self.truncate) {
            name.as_ref().map_or(Ok(("", &[][..])), |name| numbers_of(table, name))?;
        }
        if let Some((name, _)) =
            self.round.iter().find(|(name, _)| self.truncate.iter().any(|(n, _)| n == name))
        {
            let what = name.as_ref().map_or("all columns".to_owned(), |name| format!("column '{name}'"));
            return Err(
                Usage(format!("--round and --truncate both name {what}; leave one of them out")).into()
            );
        }
        // What is said of the column itself counts before what is said of all.
        let of = |wanted: Option<&str>| {
            let unit = |units: &[(Option<String>, f64)]| {
                units.iter().rfind(|(name, _)| name.as_deref() == wanted).map(|&(_, unit)| unit)
            };
            unit(&self.round)
                .map(Precision::Rounded)
                .or_else(|| unit(&self.truncate).map(Precision::Truncated))
        };
        let precision = |column: &str| of(Some(column)).or_else(|| of(None)).unwrap_or(Precision::Full);
        significance(table, by, columns, precision).map(Some)
    }
}

/// The rows for the report.
fn records(args: &CountersArgs, table: &ColumnTable, ranks: &Ranks, by_rank: &[ByRank]) -> Records {
    let objectives = Names::all(&args.rank_by);
    let values = |at: usize| {
        let column = table.numbers().find(|(name, _)| *name == objectives[at]);
        column.map_or_else(Vec::new, |(_, values)| values.to_vec())
    };
    Records {
        values: [values(0), values(1)],
        goals: vec![Goal::Max; objectives.len()],
        objectives,
        names: (0..table.n_rows).map(|row| row_name(table, row)).collect(),
        goldberg: ranks.goldberg.clone(),
        by_rank: by_rank.to_vec(),
    }
}

/// What should be known before the result is believed.
fn cautions(settings: &Settings, partitions: &[crate::counters::RankedPartition], n: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if partitions.is_empty() {
        notes.push(format!(
            "There are too many profiles ({n}) to measure partitions: the dendrogram has neither ranks nor strong clusters."
        ));
        return notes;
    }
    let formed = partitions.len() - 1;
    let strong = partitions[1..].iter().filter(|partition| partition.goldberg == Some(0)).count();
    let oppose = [Measure::S1, Measure::H1].iter().all(|measure| settings.objectives.contains(measure));
    if oppose && formed > 4 && strong * 4 > formed * 3 {
        notes.push(format!(
            "{strong} of {formed} clusters are strong, which tells them hardly apart: separation never falls from merge to merge and the mean diameter seldom does. --objectives h1,silhouette or s1,r75 choose."
        ));
    }
    if settings.objectives.contains(&Measure::Density) {
        let infinite =
            |p: &&crate::counters::RankedPartition| p.measures.log_min_density == Some(f64::INFINITY);
        let infinite = partitions.iter().filter(infinite).count();
        if infinite > 1 {
            notes.push(format!(
                "The least density is infinite in {infinite} of {n} partitions (profiles that agree in one column), and tells nothing of these."
            ));
        }
    }
    let euclidean = settings.profiles.is_none_or(|profiles| profiles.metric == Dissimilarity::Euclidean);
    if settings.linkage == Linkage::Ward && !euclidean {
        notes.push(
            "Ward's linkage means Euclidean distances; with others its heights have no such meaning."
                .to_owned(),
        );
    }
    notes
}
