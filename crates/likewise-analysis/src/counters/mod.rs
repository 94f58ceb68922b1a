//! Counters of call sites, runs or phases: which profiles belong together, and
//! which records are extreme on several accounts.

pub mod by_rank;
pub mod loadings;
pub mod regimes;
pub mod rows;
pub mod significance;

mod clock;
mod find;
mod fitting;
mod matrix;
mod pareto;
mod repeats;
mod run;
mod table;

pub use fitting::{RegimeOptions, Repeats};
pub use pareto::{Ranks, numbers_of, row_name};
pub use run::{Analysed, Options, analyse};

use by_rank::ByRank;
use likewise::cluster::hierarchical::Partition;
use likewise::cluster::hierarchical::{Dendrogram, Dissimilarity, Linkage};
use likewise::counters::pareto::Goal;
use likewise::words::{counted, short};
use loadings::Factors;
use regimes::RegimeReport;
use significance::Significance;

/// Values from 0 to 1 that differ by less, and correlations, differ by rounding.
const ROUNDING: f64 = 1e-12;

/// Whether all profiles of so many values are the same, but for rounding where these were scaled.
fn are_alike(settings: &Settings, dims: Option<usize>, dendrogram: &Dendrogram) -> bool {
    let rounding = match settings.profiles {
        Some(ProfileSettings { metric: Dissimilarity::Correlation, .. }) => ROUNDING,
        Some(ProfileSettings { scale: Scale::Range | Scale::Z, .. }) => ROUNDING * dims.unwrap_or(0) as f64,
        _ => 0.0,
    };
    dendrogram.merges().last().is_some_and(|merge| merge.height <= rounding)
}

/// Everything the files, the report and the terminal show.
#[derive(Clone, Debug)]
pub struct CountersReport {
    /// The file that was read.
    pub input: String,
    /// What was asked for.
    pub settings: Settings,
    /// What each profile is called.
    pub names: Vec<String>,
    /// How many values each has; nothing where dissimilarities were given.
    pub dims: Option<usize>,
    /// How profiles form clusters.
    pub dendrogram: Dendrogram,
    /// In which order profiles are drawn.
    pub order: Order,
    /// From that of all profiles alone to that of one cluster; none where
    /// there were too many profiles to measure them.
    pub partitions: Vec<RankedPartition>,
    /// What is no part of any profile.
    pub left_out: Vec<LeftOut>,
    /// The profile to which others are compared.
    pub response: Option<Response>,
    /// The rows and their ranks.
    pub records: Option<Records>,
    /// Where which model of the response holds.
    pub regimes: Option<RegimeReport>,
    /// Which columns differ between groups of rows.
    pub significance: Option<Significance>,
    /// Which columns vary together.
    pub factors: Option<Factors>,
    /// Sentences that the analyst must know.
    pub notes: Vec<String>,
}

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How unlike two clusters are.
    pub linkage: Linkage,
    /// Nothing where dissimilarities were given.
    pub profiles: Option<ProfileSettings>,
    /// What partitions are ranked by.
    pub objectives: Vec<Measure>,
    /// Options that choose columns and groups, as they were given.
    pub chosen: Vec<(&'static str, Vec<String>)>,
}

/// How profiles came from a table.
#[derive(Clone, Copy, Debug)]
pub struct ProfileSettings {
    /// Whether rows are clustered, not columns.
    pub is_by_row: bool,
    /// How unlike two profiles are.
    pub metric: Dissimilarity,
    /// What makes columns comparable.
    pub scale: Scale,
    /// Columns and rows of which a greater share (0 to 1) is missing are left out.
    pub max_missing: f64,
}

/// What makes the values of columns comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From 0 to 1
    Range,
    /// Mean 0, standard deviation 1
    Z,
    /// As they are
    None,
}

impl Scale {
    /// As options and files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::Z => "z",
            Self::None => "none",
        }
    }
}

/// A linkage as options and files have it.
#[must_use]
pub fn linkage_name(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Complete => "complete",
        Linkage::Single => "single",
        Linkage::Average => "average",
        Linkage::Ward => "ward",
    }
}

/// A dissimilarity as options and files have it.
#[must_use]
pub fn metric_name(metric: Dissimilarity) -> &'static str {
    match metric {
        Dissimilarity::Manhattan => "manhattan",
        Dissimilarity::Euclidean => "euclidean",
        Dissimilarity::Correlation => "correlation",
    }
}

/// What partitions are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
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

impl Measure {
    /// As options and files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::S1 => "s1",
            Self::H1 => "h1",
            Self::Density => "density",
            Self::R75 => "r75",
            Self::Silhouette => "silhouette",
        }
    }

    /// Whether more of it is better, or less.
    pub fn goal(self) -> Goal {
        match self {
            Measure::S1 | Measure::Density | Measure::Silhouette => Goal::Max,
            Measure::H1 | Measure::R75 => Goal::Min,
        }
    }

    /// NaN where a partition has none.
    pub fn of(self, partition: &Partition) -> f64 {
        match self {
            Measure::S1 => partition.separation.unwrap_or(f64::NAN),
            Measure::H1 => partition.mean_diameter,
            Measure::Density => partition.log_min_density.unwrap_or(f64::NAN),
            Measure::R75 => partition.ratio_from(0.75),
            Measure::Silhouette => partition.silhouette.unwrap_or(f64::NAN),
        }
    }

    /// In words, with what is good.
    pub fn told(self) -> &'static str {
        match self {
            Measure::S1 => "S₁, separation: more is better",
            Measure::H1 => "H₁, mean diameter: less is better",
            Measure::Density => "log least density: more is better",
            Measure::R75 => "|R − 0.75|: less is better",
            Measure::Silhouette => "mean silhouette: more is better",
        }
    }

    /// As people write it, with the sign of what is good.
    pub fn symbol(self) -> &'static str {
        match self {
            Measure::S1 => "S₁⁺",
            Measure::H1 => "H₁⁻",
            Measure::Density => "density⁺",
            Measure::R75 => "|R − 0.75|⁻",
            Measure::Silhouette => "silhouette⁺",
        }
    }
}

/// A partition and its ranks among all; none where an objective has no value.
#[derive(Clone, Debug)]
pub struct RankedPartition {
    /// How good it is.
    pub measures: Partition,
    /// Goldberg's rank: 0 where no partition dominates.
    pub goldberg: Option<u32>,
    /// Fonseca and Fleming's rank: how many partitions dominate.
    pub fonseca_fleming: Option<u32>,
}

/// A column or a row that is no part of any profile.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// What it is called.
    pub name: String,
    /// Why it is left out.
    pub why: String,
}

/// A profile that was asked for, and the others by how near they are.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its place among the profiles.
    pub profile: usize,
    /// The others, the nearest first, with their dissimilarity.
    pub nearest: Vec<(usize, f64)>,
}

/// Rows ranked on some of their columns.
#[derive(Clone, Debug)]
pub struct Records {
    /// Of the columns.
    pub objectives: Vec<String>,
    /// What is good in each.
    pub goals: Vec<Goal>,
    /// What each row is called.
    pub names: Vec<String>,
    /// Of each row, on the first objective and on the second.
    pub values: [Vec<f64>; 2],
    /// Goldberg's rank of each row; `None` of a row that lacks a value.
    pub goldberg: Vec<Option<u32>>,
    /// What of responses was found by rank.
    pub by_rank: Vec<ByRank>,
}

impl Records {
    /// The objectives with the signs of what is good, as the paper has them.
    pub fn ranked_by(&self) -> String {
        let sign = |goal: &Goal| if *goal == Goal::Max { "⁺" } else { "⁻" };
        let signed =
            self.objectives.iter().zip(&self.goals).map(|(name, goal)| format!("{name}{}", sign(goal)));
        signed.collect::<Vec<_>>().join(", ")
    }
}

/// A cluster whose forming gave a partition that none dominates.
#[derive(Clone, Debug, PartialEq)]
pub struct Strong {
    /// As the dendrogram numbers it.
    pub node: usize,
    /// The height at which it forms.
    pub height: f64,
    /// How many profiles it has.
    pub size: usize,
    /// How many strong clusters hold it.
    pub depth: usize,
}

/// A partition that stands out.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The mean silhouette.
    pub silhouette: f64,
    /// Profiles and clusters in the order of the drawing.
    pub clusters: Vec<Vec<usize>>,
}

impl CountersReport {
    /// What profiles are: `event`, `record` or `object`.
    pub fn kind(&self) -> &'static str {
        match self.settings.profiles {
            None => "object",
            Some(settings) if settings.is_by_row => "record",
            Some(_) => "event",
        }
    }

    /// What heights are, for people.
    #[must_use]
    pub fn height(&self) -> String {
        let Some(settings) = self.settings.profiles else { return "dissimilarity, as given".to_owned() };
        let what = match settings.metric {
            Dissimilarity::Manhattan => "Manhattan distance",
            Dissimilarity::Euclidean => "Euclidean distance",
            Dissimilarity::Correlation => return "1 − correlation".to_owned(),
        };
        let scale = match settings.scale {
            Scale::Range => " of columns scaled to 0–1",
            Scale::Z => " of standardised columns",
            Scale::None => "",
        };
        format!("{what}{scale}")
    }

    /// How many profiles of how many values, in words.
    pub fn extent(&self) -> String {
        let profiles = counted(self.names.len() as u64, self.kind());
        match (self.dims, self.kind()) {
            (None, _) => profiles,
            (Some(n), "record") => format!("{profiles} over {}", counted(n as u64, "event")),
            (Some(n), _) => format!("{profiles} over {}", counted(n as u64, "record")),
        }
    }

    /// The cluster whose forming gave the partition; none of the first.
    pub fn formed(&self, partition: usize) -> Option<usize> {
        partition.checked_sub(1).map(|merge| self.names.len() + merge)
    }

    /// The partition that a merge gives.
    pub fn partition_of(&self, node: usize) -> Option<&RankedPartition> {
        self.partitions.get(node + 1 - self.names.len())
    }

    /// Whether no other partition dominates the one that its forming gave.
    pub fn is_strong(&self, node: usize) -> bool {
        let is_best = |partition: &RankedPartition| partition.goldberg == Some(0);
        node >= self.names.len() && !self.are_alike() && self.partition_of(node).is_some_and(is_best)
    }

    /// The profiles in a cluster, in the order of the drawing.
    pub fn members(&self, node: usize) -> &[usize] {
        let size = node.checked_sub(self.names.len()).map_or(1, |merge| self.dendrogram.merges()[merge].size);
        let start = self.order.start[node];
        &self.order.leaves[start..start + size]
    }

    /// The two measures that partitions are drawn by: the first two objectives.
    pub fn drawn(&self) -> [Measure; 2] {
        match self.settings.objectives[..] {
            [one, other, ..] => [one, other],
            _ => [Measure::S1, Measure::H1],
        }
    }

    /// From the outermost to the innermost, those of a cluster together.
    pub fn strong(&self) -> Vec<Strong> {
        let n = self.names.len();
        let order = &self.order;
        let mut strong: Vec<Strong> = Vec::new();
        // Ends of the strong clusters that hold what comes next.
        let mut open: Vec<usize> = Vec::new();
        let mut nodes: Vec<usize> =
            (n..n + self.dendrogram.merges().len()).filter(|&node| self.is_strong(node)).collect();
        nodes.sort_by_key(|&node| (order.start[node], std::cmp::Reverse(node)));
        for node in nodes {
            let merge = self.dendrogram.merges()[node - n];
            let start = order.start[node];
            while open.last().is_some_and(|&end| end <= start) {
                open.pop();
            }
            strong.push(Strong { node, height: merge.height, size: merge.size, depth: open.len() });
            open.push(start + merge.size);
        }
        strong
    }

    /// Some names, and how many more there are.
    pub fn listed(&self, members: &[usize], most: usize) -> String {
        let shown: Vec<&str> = members.iter().take(most).map(|&m| self.names[m].as_str()).collect();
        let more = match members.len().saturating_sub(most) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", shown.join(", "))
    }

    /// The objectives, in one line.
    pub fn objectives(&self) -> String {
        self.settings.objectives.iter().map(|measure| measure.symbol()).collect::<Vec<_>>().join(", ")
    }

    /// The partition of the greatest silhouette, but for that of all profiles
    /// alone; the one of fewer clusters where two are equally good. `None` if no silhouette is
    /// above 0, or all profiles are the same.
    pub fn cut(&self) -> Option<Cut> {
        let silhouettes = self.partitions.iter().skip(1).filter_map(|partition| {
            let measures = &partition.measures;
            measures.silhouette.map(|silhouette| (silhouette, measures.n_clusters))
        });
        let (silhouette, n_clusters) = silhouettes.max_by(|a, b| a.0.total_cmp(&b.0))?;
        if silhouette <= 0.0 || self.are_alike() {
            return None;
        }
        let clustering = self.dendrogram.cut(n_clusters);
        let mut clusters = vec![Vec::new(); n_clusters];
        // Clusters by where they are drawn.
        let mut places = vec![None; n_clusters];
        let mut n_found = 0;
        for &profile in &self.order.leaves {
            let Some(id) = clustering.labels[profile] else { continue };
            let place = *places[id.index()].get_or_insert_with(|| {
                n_found += 1;
                n_found - 1
            });
            clusters[place].push(profile);
        }
        Some(Cut { silhouette, clusters })
    }

    fn are_alike(&self) -> bool {
        are_alike(&self.settings, self.dims, &self.dendrogram)
    }

    /// The partition that stands out, or that none does.
    fn told_of_clusters(&self) -> Option<String> {
        if self.are_alike() {
            let all = self.listed(&self.order.leaves, 8);
            return Some(format!("All {}s are the same, by {}: {all}.", self.kind(), self.height()));
        }
        let is_measured =
            self.partitions.iter().skip(1).any(|partition| partition.measures.silhouette.is_some());
        let Some(cut) = self.cut() else {
            let none = "No partition stands out: none has a mean silhouette above 0.";
            return is_measured.then(|| none.to_owned());
        };
        let clusters = cut.clusters.iter().take(8).map(|members| self.listed(members, 8));
        let more = if cut.clusters.len() > 8 { "; …" } else { "" };
        Some(format!(
            "The silhouette is greatest ({}) with {}: {}{more}.",
            short(cut.silhouette),
            counted(cut.clusters.len() as u64, "cluster"),
            clusters.collect::<Vec<_>>().join("; ")
        ))
    }

    /// What is to be known, in sentences.
    pub fn findings(&self) -> Vec<String> {
        self.told().into_iter().map(|(text, _)| text).collect()
    }

    /// The same, each with the part of the result that it is about: `regimes`,
    /// `tree`, `near`, `by-rank-0`, `groups`, `loadings` or `strong`.
    pub fn told(&self) -> Vec<(String, &'static str)> {
        let regimes = self.regimes.iter().flat_map(RegimeReport::findings);
        let mut found: Vec<(String, &'static str)> = regimes.map(|text| (text, "regimes")).collect();
        found.extend(self.told_of_clusters().map(|text| (text, "tree")));
        if let Some(response) = &self.response {
            let nearest = response.nearest.iter().take(5);
            let nearest: Vec<String> =
                nearest.map(|&(at, distance)| format!("{} ({})", self.names[at], short(distance))).collect();
            let name = &self.names[response.profile];
            found.push((format!("Nearest to {name}: {}.", nearest.join(", ")), "near"));
        }
        let by_rank = self.records.iter().flat_map(|records| &records.by_rank).map(ByRank::finding);
        found.extend(by_rank.map(|text| (text, "by-rank-0")));
        found.extend(self.significance.as_ref().map(|of| (of.finding(), "groups")));
        found.extend(self.factors.as_ref().and_then(Factors::finding).map(|text| (text, "loadings")));
        if let Some(formed) = self.partitions.len().checked_sub(1).filter(|_| !self.are_alike()) {
            let objectives = self.objectives();
            let text = match self.strong().len() {
                // The partition of all in one cluster has no objectives.
                _ if formed < 2 => "The only cluster has all profiles, so none is strong.".to_owned(),
                0 => format!(
                    "No cluster is strong: others dominate the partitions that their forming gave ({objectives})."
                ),
                n => format!(
                    "{n} of {formed} clusters {} strong: no other partition dominates the one that their forming gave ({objectives}).",
                    if n == 1 { "is" } else { "are" }
                ),
            };
            found.push((text, "strong"));
        }
        found
    }
}

/// The profiles in the order of the drawing: every cluster is a run of them.
/// Larger clusters come first.
#[derive(Clone, Debug)]
pub struct Order {
    /// The profiles as they are drawn.
    pub leaves: Vec<usize>,
    /// Of each cluster, profiles too, the place of its first profile.
    pub start: Vec<usize>,
}

impl Order {
    /// That of a dendrogram. Complexity: O(n) for n profiles.
    pub fn of(dendrogram: &Dendrogram) -> Self {
        let n = dendrogram.n_objects();
        let merges = dendrogram.merges();
        let size = |node: usize| node.checked_sub(n).map_or(1, |merge| merges[merge].size);
        let mut start = vec![0; n + merges.len()];
        for (at, merge) in merges.iter().enumerate().rev() {
            let (first, second) =
                if size(merge.b) > size(merge.a) { (merge.b, merge.a) } else { (merge.a, merge.b) };
            start[first] = start[n + at];
            start[second] = start[n + at] + size(first);
        }
        let mut leaves = vec![0; n];
        (0..n).for_each(|leaf| leaves[start[leaf]] = leaf);
        Self { leaves, start }
    }
}
