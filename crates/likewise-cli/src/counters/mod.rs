//! Counters of call sites, runs or phases: which profiles belong together, and
//! which records are extreme on several accounts.

pub(crate) mod by_rank;
pub(crate) mod find;
pub(crate) mod json;
pub(crate) mod loadings;
pub(crate) mod matrix;
pub(crate) mod newick;
pub(crate) mod regimes;
pub(crate) mod relations;
pub(crate) mod repeats;
pub(crate) mod rows;
pub(crate) mod significance;
pub(crate) mod table;
pub(crate) mod text;

use by_rank::ByRank;
use clap::ValueEnum;
use likewise::cluster::hierarchical::Partition;
use likewise::cluster::hierarchical::{Dendrogram, Dissimilarity, Linkage};
use likewise::counters::pareto::Goal;
use likewise::words::{counted, short};
use loadings::Factors;
use regimes::RegimeReport;
use significance::Significance;

/// Everything the files, the report and the terminal show.
#[derive(Clone, Debug)]
pub(crate) struct CountersReport {
    pub(crate) input: String,
    pub(crate) settings: Settings,
    /// What each profile is called.
    pub(crate) names: Vec<String>,
    /// How many values each has; nothing where dissimilarities were given.
    pub(crate) dims: Option<usize>,
    pub(crate) dendrogram: Dendrogram,
    pub(crate) order: Order,
    /// From that of all profiles alone to that of one cluster; none where
    /// there were too many profiles to measure them.
    pub(crate) partitions: Vec<RankedPartition>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) response: Option<Response>,
    pub(crate) records: Option<Records>,
    pub(crate) regimes: Option<RegimeReport>,
    pub(crate) significance: Option<Significance>,
    pub(crate) factors: Option<Factors>,
    pub(crate) notes: Vec<String>,
}

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) linkage: Linkage,
    /// Nothing where dissimilarities were given.
    pub(crate) profiles: Option<ProfileSettings>,
    pub(crate) objectives: Vec<Measure>,
    /// Options that choose columns and groups, as they were given.
    pub(crate) chosen: Vec<(&'static str, Vec<String>)>,
}

/// How profiles came from a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProfileSettings {
    pub(crate) is_by_row: bool,
    pub(crate) metric: Dissimilarity,
    pub(crate) scale: Scale,
    pub(crate) max_missing: f64,
}

/// What makes the values of columns comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scale {
    /// From 0 to 1
    Range,
    /// Mean 0, standard deviation 1
    Z,
    /// As they are
    None,
}

/// What partitions are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
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
    pub(crate) fn goal(self) -> Goal {
        match self {
            Measure::S1 | Measure::Density | Measure::Silhouette => Goal::Max,
            Measure::H1 | Measure::R75 => Goal::Min,
        }
    }

    /// NaN where a partition has none.
    pub(crate) fn of(self, partition: &Partition) -> f64 {
        match self {
            Measure::S1 => partition.separation.unwrap_or(f64::NAN),
            Measure::H1 => partition.mean_diameter,
            Measure::Density => partition.log_min_density.unwrap_or(f64::NAN),
            Measure::R75 => partition.ratio_from(0.75),
            Measure::Silhouette => partition.silhouette.unwrap_or(f64::NAN),
        }
    }

    /// In words, with what is good.
    pub(crate) fn told(self) -> &'static str {
        match self {
            Measure::S1 => "S₁, separation: more is better",
            Measure::H1 => "H₁, mean diameter: less is better",
            Measure::Density => "log least density: more is better",
            Measure::R75 => "|R − 0.75|: less is better",
            Measure::Silhouette => "mean silhouette: more is better",
        }
    }

    /// As people write it, with the sign of what is good.
    pub(crate) fn symbol(self) -> &'static str {
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
pub(crate) struct RankedPartition {
    pub(crate) measures: Partition,
    pub(crate) goldberg: Option<u32>,
    pub(crate) fonseca_fleming: Option<u32>,
}

/// A column or a row that is no part of any profile.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeftOut {
    pub(crate) name: String,
    pub(crate) why: String,
}

/// A profile that was asked for, and the others by how near they are.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) profile: usize,
    pub(crate) nearest: Vec<(usize, f64)>,
}

/// Rows ranked on some of their columns.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    /// Of the columns.
    pub(crate) objectives: Vec<String>,
    /// What is good in each.
    pub(crate) goals: Vec<Goal>,
    pub(crate) names: Vec<String>,
    /// Of each row, on the first objective and on the second.
    pub(crate) values: [Vec<f64>; 2],
    pub(crate) goldberg: Vec<Option<u32>>,
    /// What of responses was found by rank.
    pub(crate) by_rank: Vec<ByRank>,
}

impl Records {
    /// The objectives with the signs of what is good, as the paper has them.
    pub(crate) fn ranked_by(&self) -> String {
        let sign = |goal: &Goal| if *goal == Goal::Max { "⁺" } else { "⁻" };
        let signed =
            self.objectives.iter().zip(&self.goals).map(|(name, goal)| format!("{name}{}", sign(goal)));
        signed.collect::<Vec<_>>().join(", ")
    }
}

/// A cluster whose forming gave a partition that none dominates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strong {
    /// As the dendrogram numbers it.
    pub(crate) node: usize,
    pub(crate) height: f64,
    pub(crate) size: usize,
    /// How many strong clusters hold it.
    pub(crate) depth: usize,
}

/// A partition that stands out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cut {
    pub(crate) silhouette: f64,
    /// Profiles and clusters in the order of the drawing.
    pub(crate) clusters: Vec<Vec<usize>>,
}

impl CountersReport {
    /// What profiles are: `event`, `record` or `object`.
    pub(crate) fn kind(&self) -> &'static str {
        match self.settings.profiles {
            None => "object",
            Some(settings) if settings.is_by_row => "record",
            Some(_) => "event",
        }
    }

    /// How many profiles of how many values, in words.
    pub(crate) fn extent(&self) -> String {
        let profiles = counted(self.names.len() as u64, self.kind());
        match (self.dims, self.kind()) {
            (None, _) => profiles,
            (Some(n), "record") => format!("{profiles} over {}", counted(n as u64, "event")),
            (Some(n), _) => format!("{profiles} over {}", counted(n as u64, "record")),
        }
    }

    /// The cluster whose forming gave the partition; none of the first.
    pub(crate) fn formed(&self, partition: usize) -> Option<usize> {
        partition.checked_sub(1).map(|merge| self.names.len() + merge)
    }

    /// The partition that a merge gives.
    pub(crate) fn partition_of(&self, node: usize) -> Option<&RankedPartition> {
        self.partitions.get(node + 1 - self.names.len())
    }

    pub(crate) fn is_strong(&self, node: usize) -> bool {
        node >= self.names.len() && self.partition_of(node).is_some_and(|p| p.goldberg == Some(0))
    }

    /// The profiles in a cluster, in the order of the drawing.
    pub(crate) fn members(&self, node: usize) -> &[usize] {
        let size = node.checked_sub(self.names.len()).map_or(1, |merge| self.dendrogram.merges()[merge].size);
        let start = self.order.start[node];
        &self.order.leaves[start..start + size]
    }

    /// The two measures that partitions are drawn by: the first two objectives.
    pub(crate) fn drawn(&self) -> [Measure; 2] {
        match self.settings.objectives[..] {
            [one, other, ..] => [one, other],
            _ => [Measure::S1, Measure::H1],
        }
    }

    /// From the outermost to the innermost, those of a cluster together.
    pub(crate) fn strong(&self) -> Vec<Strong> {
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
    pub(crate) fn listed(&self, members: &[usize], most: usize) -> String {
        let shown: Vec<&str> = members.iter().take(most).map(|&m| self.names[m].as_str()).collect();
        let more = match members.len().saturating_sub(most) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", shown.join(", "))
    }

    /// The objectives, in one line.
    pub(crate) fn objectives(&self) -> String {
        self.settings.objectives.iter().map(|measure| measure.symbol()).collect::<Vec<_>>().join(", ")
    }

    /// The partition of the greatest silhouette, but for that of all profiles
    /// alone; the one of fewer clusters where two are equally good.
    pub(crate) fn cut(&self) -> Option<Cut> {
        let silhouettes = self.partitions.iter().skip(1).filter_map(|partition| {
            let measures = &partition.measures;
            measures.silhouette.map(|silhouette| (silhouette, measures.n_clusters))
        });
        let (silhouette, n_clusters) = silhouettes.max_by(|a, b| a.0.total_cmp(&b.0))?;
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

    /// What is to be known, in sentences.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut found: Vec<String> = self.regimes.iter().flat_map(RegimeReport::findings).collect();
        if let Some(cut) = self.cut() {
            let clusters = cut.clusters.iter().take(8).map(|members| self.listed(members, 8));
            let more = if cut.clusters.len() > 8 { "; …" } else { "" };
            found.push(format!(
                "The silhouette is greatest ({}) with {}: {}{more}.",
                short(cut.silhouette),
                counted(cut.clusters.len() as u64, "cluster"),
                clusters.collect::<Vec<_>>().join("; ")
            ));
        }
        if let Some(response) = &self.response {
            let nearest = response.nearest.iter().take(5);
            let nearest: Vec<String> =
                nearest.map(|&(at, distance)| format!("{} ({})", self.names[at], short(distance))).collect();
            found.push(format!("Nearest to {}: {}.", self.names[response.profile], nearest.join(", ")));
        }
        found.extend(self.records.iter().flat_map(|records| &records.by_rank).map(ByRank::finding));
        found.extend(self.significance.as_ref().map(Significance::finding));
        found.extend(self.factors.as_ref().and_then(Factors::finding));
        if let Some(formed) = self.partitions.len().checked_sub(1) {
            let objectives = self.objectives();
            found.push(match self.strong().len() {
                0 => format!("No cluster is strong: others dominate the partitions that their forming gave ({objectives})."),
                n => format!(
                    "{n} of {formed} clusters {} strong: no other partition dominates the one that their forming gave ({objectives}).",
                    if n == 1 { "is" } else { "are" }
                ),
            });
        }
        found
    }
}

/// The profiles in the order of the drawing: every cluster is a run of them.
/// Larger clusters come first.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) leaves: Vec<usize>,
    /// Of each cluster, profiles too, the place of its first profile.
    pub(crate) start: Vec<usize>,
}

impl Order {
    pub(crate) fn of(dendrogram: &Dendrogram) -> Self {
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
