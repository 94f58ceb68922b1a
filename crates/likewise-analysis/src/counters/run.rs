//! From a table to the profiles that belong together.

use super::by_rank::{ByRank, Groups};
use super::find::{Found, Source, find};
use super::fitting::RegimeOptions;
use super::loadings::{Factors, factors};
use super::pareto::{Ranks, numbers_of, row_name};
use super::regimes::RegimeReport;
use super::rows::Rows;
use super::significance::{Significance, significance};
use super::{
    CountersReport, LeftOut, Measure, Order, RankedPartition, Records, Settings, are_alike, matrix, table,
};
use crate::{Stages, Usage, Watch};
use anyhow::{Context, Result};
use likewise::cluster::hierarchical::{Dissimilarity, Linkage};
use likewise::counters::pareto::{Goal, Objective};
use likewise::counters::significance::Precision;
use likewise::words::counted;
use likewise_trace::{ColumnTable, Taken, read_columns, read_square};
use std::path::Path;

/// What is asked of a table of counters.
#[derive(Clone, Debug)]
pub struct Options {
    /// How profiles form clusters, and what makes one strong. Without
    /// `profiles` the file is a square of dissimilarities, and only `response`
    /// has a meaning of what follows.
    pub settings: Settings,
    /// Which rows are taken.
    pub rows: Rows,
    /// Columns that say which row it is, though they are numbers.
    pub key: Vec<String>,
    /// Columns to use; all of numbers if empty.
    pub columns: Vec<String>,
    /// The profile to which others are compared.
    pub response: Option<String>,
    /// Columns that rows are ranked on, those with the most first.
    pub rank_by: Vec<String>,
    /// The column whose values make groups of rows.
    pub groups: Option<String>,
    /// Units that columns, or all (`None`), are rounded to before groups are
    /// compared.
    pub round: Vec<(Option<String>, f64)>,
    /// The same, cut off towards 0.
    pub truncate: Vec<(Option<String>, f64)>,
    /// Where which model of the response holds.
    pub regimes: Option<RegimeOptions>,
}

/// What was found in a table.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// The clusters, and all that is to be said of them.
    pub report: CountersReport,
    /// Which columns were read.
    pub columns: Taken,
    /// The rows and their ranks, if they were asked for.
    pub ranked: Option<(ColumnTable, Ranks)>,
}

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

/// Reads, clusters and ranks.
///
/// # Errors
/// [`Usage`] where a column that was named is not there; else the file is
/// named, and what in it cannot be used.
pub fn analyse(path: &Path, options: &Options, stages: &mut Stages, watch: &dyn Watch) -> Result<Analysed> {
    let at = || path.display().to_string();
    let input = options.read(path, stages, watch)?;
    let response = options.response_of(&input)?;
    let settings = &options.settings;
    let found = {
        let _bar = watch.spinner("Clustering");
        find(input.source, &input.names, settings, response, stages).with_context(at)?
    };
    let Found { dendrogram, partitions, response } = found;
    let mut said = input.notes;
    said.extend(input.regimes.iter().flat_map(RegimeReport::notes));
    said.extend(input.significance.iter().flat_map(Significance::notes));
    said.extend(input.factors.iter().filter_map(Factors::note));
    let differ = !are_alike(settings, input.dims, &dendrogram);
    said.extend(cautions(settings, &partitions, (input.names.len(), differ)));
    let records = |(table, ranks): &(ColumnTable, Ranks)| options.records(table, ranks, &input.by_rank);
    let report = CountersReport {
        input: at(),
        settings: settings.clone(),
        names: input.names,
        dims: input.dims,
        order: Order::of(&dendrogram),
        dendrogram,
        partitions,
        left_out: input.left_out,
        response,
        records: input.ranked.as_ref().map(records),
        regimes: input.regimes,
        significance: input.significance,
        factors: input.factors,
        notes: said,
    };
    Ok(Analysed { report, columns: input.taken, ranked: input.ranked })
}

impl Options {
    fn read(&self, path: &Path, stages: &mut Stages, watch: &dyn Watch) -> Result<Input> {
        let settings = &self.settings;
        let mut table = {
            let bar = watch.bytes("Reading");
            let report = |done, total| bar.set(done, total);
            stages.time("read", || match settings.profiles {
                Some(_) => read_columns(path, &self.key, Some(&report)),
                None => read_square(path, Some(&report)),
            })?
        };
        let taken = table.taken.clone();
        watch.tell(&taken.told());
        let at = || match self.rows.conditions.is_empty() && self.rows.per.is_empty() {
            true => path.display().to_string(),
            false => format!("{}, the rows of --where and --per", path.display()),
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
        watch.tell(&format!("{}, {n_columns}", counted(table.n_rows as u64, "row")));
        let left_out = |(name, why): &(String, String)| LeftOut { name: name.clone(), why: why.clone() };
        let mistaken = taken.left_out.iter().map(left_out).collect();
        let understood = table::understand(&mut table);
        let numbers = [&self.apart()[1][..], &self.rank_by, self.response.as_slice()].concat();
        let of_rows = self.rows.apply(&mut table, &numbers).with_context(at)?;
        let asked = table::Asked { columns: &self.columns, apart: &self.apart(), mistaken };
        let selected = stages.time("prepare", || table::select(&table, asked, profiles));
        let selected = selected.with_context(at)?;
        let ranked = stages.time("rank", || self.ranks(&table))?;
        let by_rank = self.by_rank(&table, ranked.as_ref()).with_context(at)?;
        let regimes = match self.response.as_ref().zip(self.regimes.as_ref()) {
            Some((response, regimes)) => {
                let _bar = watch.spinner("Looking for regimes");
                Some(stages.time("regimes", || regimes.find(&table, response)).with_context(at)?)
            }
            None => None,
        };
        let significance = stages.time("significance", || self.test(&table, &selected.columns));
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
        if self.rank_by.is_empty() {
            return Ok(None);
        }
        if self.rank_by.len() < 2 {
            return Err(Usage("--rank-by needs two columns at least".to_owned()).into());
        }
        let objective =
            |name: &String| numbers_of(table, name).map(|(_, values)| Objective { values, goal: Goal::Max });
        let objectives = self.rank_by.iter().map(objective).collect::<Result<Vec<_>, _>>()?;
        Ranks::of(&objectives).map(Some)
    }

    /// The response by rank and group, where all are asked for.
    fn by_rank(&self, table: &ColumnTable, ranks: Option<&Ranks>) -> Result<Vec<ByRank>> {
        let (Some(response), Some(ranks)) = (&self.response, ranks) else { return Ok(Vec::new()) };
        let groups = Groups::of(table, self.groups.as_deref())?;
        Ok(vec![ByRank::of(table, response, &groups, &ranks.goldberg)?])
    }

    /// Columns of groups and of parameters, which are no events.
    fn apart(&self) -> [Vec<String>; 2] {
        let parameters = self.regimes.iter().flat_map(|regimes| regimes.parameters.iter().cloned());
        [self.groups.iter().chain(&self.rows.per).cloned().collect(), parameters.collect()]
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

    /// The rows for the report.
    fn records(&self, table: &ColumnTable, ranks: &Ranks, by_rank: &[ByRank]) -> Records {
        let objectives = self.rank_by.clone();
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
}

/// Notes that an analyst should read before believing the result, on `n` profiles. Where these do
/// not `differ` no cluster is strong.
fn cautions(settings: &Settings, partitions: &[RankedPartition], (n, differ): (usize, bool)) -> Vec<String> {
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
    if oppose && differ && formed > 4 && strong * 4 > formed * 3 {
        notes.push(format!(
            "{strong} of {formed} clusters are strong, which tells them hardly apart: separation never falls from merge to merge and the mean diameter seldom does. --objectives h1,silhouette or s1,r75 choose."
        ));
    }
    if settings.objectives.contains(&Measure::Density) {
        let infinite = |p: &&RankedPartition| p.measures.log_min_density == Some(f64::INFINITY);
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
