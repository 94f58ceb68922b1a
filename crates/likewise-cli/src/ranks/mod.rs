//! Ranks in classes of like behaviour, and how few of them must be traced.

pub(crate) mod csv;
pub(crate) mod describe;
pub(crate) mod few;
pub(crate) mod find;
pub(crate) mod handshake;
pub(crate) mod json;
pub(crate) mod text;

use crate::files::report_data::{counted, grouped_digits, short};
use likewise::table::Nanos;
use serde_json::Value;

/// Everything the files, the report and the terminal show. Plain data: the
/// same on rank 0 whoever did the work.
#[derive(Clone, Debug, Default)]
pub(crate) struct RanksReport {
    pub(crate) input: String,
    /// How the classes were found.
    pub(crate) grouping: GroupingFacts,
    /// What the efforts are of; one region without a name where the input
    /// tells none apart.
    pub(crate) regions: Vec<String>,
    /// Steps of each region.
    pub(crate) n_steps: usize,
    /// Whether efforts are seconds.
    pub(crate) is_time: bool,
    /// By descending number of ranks, then by medoid.
    pub(crate) classes: Vec<Class>,
    /// Of each rank, the place of its class.
    pub(crate) class_of: Vec<u32>,
    /// Of each rank, its dissimilarity to the medoid of its class.
    pub(crate) dissimilarity: Vec<f64>,
    /// Of each rank, whether the plan has it traced.
    pub(crate) sampled: Vec<bool>,
    pub(crate) plan: Plan,
    pub(crate) notes: Vec<String>,
}

/// How the classes were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupingFacts {
    pub(crate) method: String,
    /// Whether all ranks were looked at, not samples.
    pub(crate) is_exact: bool,
    /// What is compared, in a few words.
    pub(crate) signature: String,
    /// Numbers that are compared of each rank.
    pub(crate) dims: usize,
    /// The sum of the dissimilarities to the medoids.
    pub(crate) loss: f64,
    /// The BIC of each number of classes that was tried; the larger, the better.
    pub(crate) bic: Vec<(usize, f64)>,
    /// The mean silhouettes, where they decided because the BIC could not.
    pub(crate) silhouettes: Vec<(usize, f64)>,
    pub(crate) criterion: Criterion,
    pub(crate) seed: u64,
    /// Other settings, for programs.
    pub(crate) parameters: Value,
}

/// What decided on the number of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Criterion {
    /// It was given.
    Given,
    #[default]
    Bic,
    Silhouette,
}

impl Criterion {
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Given => None,
            Self::Bic => Some("BIC"),
            Self::Silhouette => Some("silhouette"),
        }
    }
}

/// Ranks that behave alike.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    /// The rank that stands for all.
    pub(crate) medoid: u64,
    pub(crate) ranks: u64,
    /// Mean and standard deviation of what its ranks did in the whole run.
    pub(crate) effort: (f64, f64),
    /// Mean and maximum of the dissimilarities to the medoid.
    pub(crate) dissimilarity: (f64, f64),
    /// Region by region.
    pub(crate) traces: Vec<MeanTrace>,
}

/// What the ranks of a class did in a region, step by step.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeanTrace {
    pub(crate) mean: Vec<f64>,
    pub(crate) deviation: Vec<f64>,
    pub(crate) least: Vec<f64>,
    pub(crate) most: Vec<f64>,
}

/// How many ranks of each class to trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) confidence: f64,
    /// Relative to the mean.
    pub(crate) error: f64,
    /// Of each class, how many ranks to trace.
    pub(crate) sample: Vec<u64>,
    /// How many it would be without classes.
    pub(crate) without_classes: u64,
    /// Half the width of the confidence interval that the plan gives, at its
    /// widest over the steps, relative to the mean.
    pub(crate) expected_error: f64,
}

impl Plan {
    pub(crate) fn sample_size(&self) -> u64 {
        self.sample.iter().sum()
    }
}

/// Ranks that are named one by one, at most.
const NAMED: u64 = 8;

impl RanksReport {
    pub(crate) fn n_ranks(&self) -> usize {
        self.class_of.len()
    }

    /// An effort as people read it.
    pub(crate) fn effort(&self, value: f64) -> String {
        if self.is_time { Nanos((value.max(0.0) * 1e9).round() as u64).to_string() } else { short(value) }
    }

    /// A part of all ranks.
    pub(crate) fn share(&self, ranks: u64) -> f64 {
        ranks as f64 / self.n_ranks().max(1) as f64
    }

    /// The mean effort of all ranks.
    pub(crate) fn mean_effort(&self) -> f64 {
        let sum: f64 = self.classes.iter().map(|class| class.effort.0 * class.ranks as f64).sum();
        sum / self.n_ranks().max(1) as f64
    }

    /// The ranks of a class in their order, if they are few.
    pub(crate) fn named_ranks(&self, class: usize) -> Option<Vec<usize>> {
        let few = self.classes[class].ranks <= NAMED;
        few.then(|| (0..self.n_ranks()).filter(|&r| self.class_of[r] as usize == class).collect())
    }

    /// A region's name; `None` where there is only one, without a name.
    pub(crate) fn region(&self, region: usize) -> Option<&str> {
        self.regions.get(region).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// What is to be known, in sentences.
    pub(crate) fn findings(&self) -> Vec<String> {
        let n = self.n_ranks();
        let given = if self.grouping.criterion == Criterion::Given { ", as asked" } else { "" };
        let ways = match self.classes.len() {
            1 => format!("{} behave alike{given}.", counted(n as u64, "rank")),
            k => format!("{} behave in {k} ways{given}.", counted(n as u64, "rank")),
        };
        let plan = &self.plan;
        let size = plan.sample_size();
        let without = match plan.without_classes {
            without if without > size => {
                format!("; without classes it would take {}", grouped_digits(without))
            }
            _ => String::new(),
        };
        let enough = format!(
            "To know the mean effort of every step within {} at {} confidence, tracing {} ({}) is enough{without}.",
            level(plan.error),
            level(plan.confidence),
            counted(size, "rank"),
            share_text(self.share(size)),
        );
        [ways, enough].into_iter().chain(self.heaviest()).chain(self.small_classes()).collect()
    }

    /// What is to be known of how many classes there are.
    pub(crate) fn note_on_count(&self, k_max: usize) -> Option<String> {
        let (k, grouping) = (self.classes.len(), &self.grouping);
        let best =
            |values: &[(usize, f64)]| values.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        match grouping.criterion {
            Criterion::Silhouette => {
                let (bic, _) = best(&grouping.bic)?;
                let decided = match best(&grouping.silhouettes) {
                    Some((_, value)) if k > 1 => {
                        format!("the mean silhouette is greatest at {k} ({value:.2})")
                    }
                    Some((_, value)) => format!(
                        "no mean silhouette is above {} (at most {value:.2}), so there is one class",
                        few::LEAST_SILHOUETTE
                    ),
                    None => "there is one class".to_owned(),
                };
                Some(format!(
                    "The BIC is greatest at {bic} classes, of fewer than two ranks on average, where it is not to be \
                     trusted: {decided}."
                ))
            }
            Criterion::Bic if k == k_max && self.n_ranks() > k => Some(
                "The BIC likes the greatest number of classes that was tried; --k-max tries more.".to_owned(),
            ),
            Criterion::Bic | Criterion::Given => None,
        }
    }

    /// The class that does clearly more than the mean.
    fn heaviest(&self) -> Option<String> {
        let mean = self.mean_effort();
        let by_effort = |&(_, class): &(usize, &Class)| class.effort.0;
        let (c, class) =
            self.classes.iter().enumerate().max_by(|a, b| by_effort(a).total_cmp(&by_effort(b)))?;
        let ratio = class.effort.0 / mean;
        (self.classes.len() > 1 && mean > 0.0 && ratio > 1.05).then(|| {
            let ranks = counted(class.ranks, "rank");
            format!("Class {} ({ranks}) does the most: {ratio:.2} times the mean effort.", c + 1)
        })
    }

    /// Classes of a few ranks among many.
    fn small_classes(&self) -> Vec<String> {
        let small = |c: &usize| self.classes[*c].ranks * 20 <= self.n_ranks() as u64;
        let name = |c: usize| {
            let ranks: Vec<String> = self.named_ranks(c)?.iter().map(usize::to_string).collect();
            let what = if ranks.len() == 1 { "rank" } else { "ranks" };
            Some(format!("Class {} is {what} {} alone.", c + 1, ranks.join(", ")))
        };
        (0..self.classes.len()).filter(small).filter_map(name).take(4).collect()
    }
}

/// A share that somebody gave: `95%`.
pub(crate) fn level(share: f64) -> String {
    format!("{}%", short(100.0 * share))
}

/// A share that may be tiny: `0.006%`.
pub(crate) fn share_text(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 1.0 || percent == 0.0 => format!("{percent:.1}%"),
        // Two digits that say something.
        percent => format!("{percent:.*}%", (1.0 - percent.log10().floor()).min(12.0) as usize),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two classes of ranks, one of them small, in two regions.
    pub(crate) fn sample() -> RanksReport {
        let trace = |level: f64| MeanTrace {
            mean: (0..20).map(|s| level + f64::from(s)).collect(),
            deviation: vec![0.5; 20],
            least: (0..20).map(|s| level + f64::from(s) - 1.0).collect(),
            most: (0..20).map(|s| level + f64::from(s) + 1.0).collect(),
        };
        let class = |medoid, ranks, level| Class {
            medoid,
            ranks,
            effort: (level * 20.0, 3.0),
            dissimilarity: (1.5, 4.0),
            traces: vec![trace(level), trace(2.0 * level)],
        };
        let class_of: Vec<u32> = (0..64).map(|r| u32::from(r % 32 == 7)).collect();
        RanksReport {
            input: "run <b>.csv".to_owned(),
            grouping: GroupingFacts {
                method: "capek".to_owned(),
                is_exact: true,
                signature: "haar, level 2".to_owned(),
                dims: 10,
                loss: 96.0,
                bic: vec![(1, -900.0), (2, -300.5), (3, -310.0)],
                seed: 7,
                ..GroupingFacts::default()
            },
            regions: vec!["MPI_Send → <i>".to_owned(), "b".to_owned()],
            n_steps: 20,
            classes: vec![class(3, 62, 10.0), class(7, 2, 30.0)],
            dissimilarity: (0..64).map(|r| if r == 3 || r == 7 { 0.0 } else { 1.5 }).collect(),
            sampled: (0..64).map(|r| r == 7 || r == 5 || r == 6).collect(),
            class_of,
            plan: Plan {
                confidence: 0.95,
                error: 0.05,
                sample: vec![2, 1],
                without_classes: 60,
                expected_error: 0.04,
            },
            ..RanksReport::default()
        }
    }

    #[test]
    fn findings_say_what_matters() {
        let found = sample().findings();
        assert_eq!(found[0], "64 ranks behave in 2 ways.");
        assert_eq!(
            found[1],
            "To know the mean effort of every step within 5% at 95% confidence, tracing 3 ranks (4.7%) is enough; \
             without classes it would take 60."
        );
        assert!(found[2].starts_with("Class 2 (2 ranks) does the most: 2.82 times"), "{}", found[2]);
        assert_eq!(found[3], "Class 2 is ranks 7, 39 alone.");
    }

    #[test]
    fn tiny_shares_are_not_zero() {
        assert_eq!(share_text(0.25), "25.0%");
        assert_eq!(share_text(4.0 / 65_536.0), "0.0061%");
        assert_eq!(share_text(0.0), "0.0%");
        assert_eq!(share_text(0.007_353), "0.74%");
    }
}
