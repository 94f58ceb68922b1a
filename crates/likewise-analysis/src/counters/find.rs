//! The dendrogram, how good its partitions are, and their ranks.

use super::table::by_name;
use super::{Measure, RankedPartition, Response, Settings};
use crate::Stages;
use crate::Usage;
use anyhow::Result;
use likewise::cluster::Dissimilarities;
use likewise::cluster::hierarchical::{
    Dendrogram, Dissimilarity, Linkage, Profiles, complete_linkage, dissimilarities, linkage,
};
use likewise::cluster::hierarchical::{Partition, partitions};
use likewise::counters::pareto::{Objective, fonseca_fleming, goldberg};
use likewise::words::{counted, grouped_digits};

/// At most this many profiles have all their pairs held at once: 2 GiB.
const MAX_SQUARE: usize = 1 << 14;

/// What is clustered.
pub(super) enum Source {
    Profiles(Profiles),
    Dissimilarities(Dissimilarities),
}

/// What was found.
pub(super) struct Found {
    pub(super) dendrogram: Dendrogram,
    /// None where there are too many profiles.
    pub(super) partitions: Vec<RankedPartition>,
    pub(super) response: Option<Response>,
}

/// Clusters, measures and ranks.
///
/// # Errors
/// Profiles cannot be compared, or the options do not go with them.
pub(super) fn find(
    source: Source,
    names: &[String],
    settings: &Settings,
    response: Option<usize>,
    stages: &mut Stages,
) -> Result<Found> {
    let metric = settings.profiles.map_or(Dissimilarity::Manhattan, |profiles| profiles.metric);
    let pairs = |profiles: &Profiles, stages: &mut Stages| {
        let square = stages.time("dissimilarities", || dissimilarities(profiles, metric));
        square.map_err(|error| by_name(error, names))
    };
    let (profiles, square) = match source {
        Source::Profiles(profiles) if profiles.len() > MAX_SQUARE => {
            return without_square(&profiles, names, settings, metric, stages);
        }
        Source::Profiles(profiles) => {
            let square = pairs(&profiles, stages)?;
            (Some(profiles), square)
        }
        Source::Dissimilarities(square) => (None, square),
    };
    let response = response.map(|profile| Response { profile, nearest: nearest(&square, profile) });
    // The linkage uses up the square, and so do the measures. It is computed
    // twice, because that costs less than holding it twice.
    let (dendrogram, square) = match &profiles {
        Some(profiles) => {
            let dendrogram = stages.time("linkage", || linkage(square, settings.linkage));
            (dendrogram, pairs(profiles, stages)?)
        }
        None => (stages.time("linkage", || linkage(square.clone(), settings.linkage)), square),
    };
    let found =
        stages.time("partitions", || partitions(square, settings.linkage, &dendrogram, profiles.as_ref()));
    let partitions = stages.time("rank", || ranked(found, &settings.objectives))?;
    Ok(Found { dendrogram, partitions, response })
}

fn without_square(
    profiles: &Profiles,
    names: &[String],
    settings: &Settings,
    metric: Dissimilarity,
    stages: &mut Stages,
) -> Result<Found> {
    if settings.linkage != Linkage::Complete {
        let text = format!(
            "{} are too many for all pairs; of more than {} there is complete linkage only",
            counted(profiles.len() as u64, "profile"),
            grouped_digits(MAX_SQUARE as u64)
        );
        return Err(Usage(text).into());
    }
    let dendrogram = stages.time("linkage", || complete_linkage(profiles, metric));
    let dendrogram = dendrogram.map_err(|error| by_name(error, names))?;
    Ok(Found { dendrogram, partitions: Vec::new(), response: None })
}

/// All others, the nearest first.
fn nearest(square: &Dissimilarities, profile: usize) -> Vec<(usize, f64)> {
    let row = square.row(profile);
    let mut others: Vec<(usize, f64)> =
        row.iter().copied().enumerate().filter(|&(other, _)| other != profile).collect();
    others.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    others
}

fn ranked(partitions: Vec<Partition>, objectives: &[Measure]) -> Result<Vec<RankedPartition>> {
    let values: Vec<Vec<f64>> = objectives
        .iter()
        .map(|measure| partitions.iter().map(|partition| measure.of(partition)).collect())
        .collect();
    let objectives: Vec<Objective<'_>> = objectives
        .iter()
        .zip(&values)
        .map(|(measure, values)| Objective { values, goal: measure.goal() })
        .collect();
    let ranks = goldberg(&objectives)?.into_iter().zip(fonseca_fleming(&objectives)?);
    let ranked =
        |(measures, (goldberg, fonseca_fleming))| RankedPartition { measures, goldberg, fonseca_fleming };
    Ok(partitions.into_iter().zip(ranks).map(ranked).collect())
}
