//! Classes of ranks, and what is said of them.

use super::options::Mode;
use super::regions::OTHER;
use super::settle::NAMED;
use super::verdict::{Kind, Verdict, apart_text};
use super::windows::{self, Window};
use likewise::ranks::{Bound, Moments, Stratification, Support, Wavelet};
use likewise::table::Nanos;
use likewise::words::{FAR, counted, factor, grouped_digits, level, percent, share_text, short};

/// Everything the files, the report and the terminal show. Plain data: the
/// same on rank 0 whoever did the work.
#[derive(Clone, Debug, Default)]
pub struct RanksReport {
    /// The file that was read.
    pub input: String,
    /// How the classes were found.
    pub grouping: GroupingFacts,
    /// What the efforts are of; one region without a name where the input
    /// tells none apart.
    pub regions: Vec<String>,
    /// Steps of each region.
    pub n_steps: usize,
    /// Whether efforts are seconds.
    pub is_time: bool,
    /// They are known within this factor; 1, or 0 in a report of nothing, where they are exact.
    pub rounding: f64,
    /// How far ranks are apart in each quarter of the steps, or, of four or
    /// fewer, in each.
    pub parts: Vec<Part>,
    /// By descending number of ranks, then by medoid.
    pub classes: Vec<Class>,
    /// The number that the input gives rank 0.
    pub first_rank: u64,
    /// The task of each rank, where tasks of a trace are left out; else none.
    pub tasks: Vec<u32>,
    /// Of each rank, the place of its class.
    pub class_of: Vec<u32>,
    /// Of each rank, its dissimilarity to the medoid of its class.
    pub dissimilarity: Vec<f64>,
    /// Of each rank, whether the plan has it traced.
    pub sampled: Vec<bool>,
    /// How many ranks of each class to trace.
    pub plan: Plan,
    /// Whether there are classes, and if not, what there is.
    pub verdict: Verdict,
    /// Classes found anew every so many steps, where that was asked for.
    pub every: Option<usize>,
    /// Those classes.
    pub windows: Vec<Window>,
    /// Sentences that the analyst must know.
    pub notes: Vec<String>,
}

/// How far ranks are apart in a part of the steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// What the greatest effort is above the least, as a share of the least.
    pub spread: f64,
    /// Whether the least is more than nothing; else it is a share of the mean.
    pub has_least: bool,
    /// How far ranks are apart in any one region, as a share of the mean effort
    /// in all.
    pub region_spread: f64,
}

/// How the classes were found.
#[derive(Clone, Debug, Default)]
pub struct GroupingFacts {
    /// Name of the method.
    pub method: String,
    /// Whether all ranks were looked at, not samples.
    pub is_exact: bool,
    /// What is compared, in a few words.
    pub signature: String,
    /// Numbers that are compared of each rank.
    pub dims: usize,
    /// The sum of the dissimilarities to the medoids.
    pub loss: f64,
    /// The BIC of each number of classes that was tried; the larger, the better.
    pub bic: Vec<(usize, f64)>,
    /// Of numbers of classes from two on, what they explain beside chance.
    pub support: Vec<Support>,
    /// What decided on the number of classes.
    pub criterion: Criterion,
    /// What samples are drawn by.
    pub seed: u64,
    /// Other settings.
    pub parameters: Parameters,
}

/// Settings of the grouping.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters {
    /// The number of classes, if it was given.
    pub k: Option<usize>,
    /// The most classes, if it was not.
    pub k_max: usize,
    /// Whether CAPEK was to look at all ranks.
    pub mode: Option<Mode>,
    /// The wavelet of the signature.
    pub wavelet: Wavelet,
    /// Its levels; 0 where all efforts are compared.
    pub levels: usize,
}

/// What decided on the number of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// It was given.
    Given,
    #[default]
    /// The Bayesian information criterion.
    Bic,
    /// The data do not support as many as the BIC likes best.
    Gap,
}

impl Criterion {
    /// Its name; `None` where nothing was to decide.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Given => None,
            Self::Bic => Some("BIC"),
            Self::Gap => Some("gap"),
        }
    }
}

/// Ranks that behave alike.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// The rank that stands for all.
    pub medoid: u64,
    /// How many ranks it has.
    pub ranks: u64,
    /// Mean and standard deviation of what its ranks did over all steps.
    pub effort: (f64, f64),
    /// The least and the most that one of its ranks did.
    pub ends: (f64, f64),
    /// Mean and maximum of the dissimilarities to the medoid.
    pub dissimilarity: (f64, f64),
    /// What its ranks did in each region, over all steps.
    pub regions: Moments,
    /// Region by region.
    pub traces: Vec<MeanTrace>,
}

/// What the ranks of a class did in a region, step by step.
#[derive(Clone, Debug, Default)]
pub struct MeanTrace {
    /// Mean over its ranks.
    pub mean: Vec<f64>,
    /// Standard deviation over its ranks.
    pub deviation: Vec<f64>,
    /// The least of a rank.
    pub least: Vec<f64>,
    /// The most of a rank.
    pub most: Vec<f64>,
}

/// How many ranks of each class to trace.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Probability (0 to 1) that the mean is within the bound.
    pub confidence: f64,
    /// How far the estimate may be off.
    pub bound: Bound,
    /// Whether it is to hold for each class, not only for the mean of all.
    pub each_stratum: bool,
    /// Of each class, how many ranks to trace.
    pub sample: Vec<u64>,
    /// How many it would be without classes.
    pub without_classes: u64,
    /// How many it would be for the effort over all steps alone.
    pub whole_run: u64,
    /// Half the width of the confidence interval that the plan gives, at its
    /// widest over the steps, in the unit of the bound.
    pub expected_error: f64,
    /// What the classes do to a sample of the efforts over all steps.
    pub stratification: Stratification,
    /// Share of the steps and regions in which they pay (equation 2).
    pub pays: f64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            bound: Bound::Relative(0.05),
            each_stratum: false,
            sample: Vec::new(),
            without_classes: 0,
            whole_run: 0,
            expected_error: 0.0,
            stratification: Stratification::default(),
            pays: 0.0,
        }
    }
}

impl Plan {
    /// Ranks to trace, of all classes.
    pub fn sample_size(&self) -> u64 {
        self.sample.iter().sum()
    }
}

/// Classes of which it is said how they differ, at most.
const TOLD: usize = 5;

impl RanksReport {
    /// How many ranks there are.
    pub fn n_ranks(&self) -> usize {
        self.class_of.len()
    }

    /// An effort as people read it.
    pub fn effort(&self, value: f64) -> String {
        if self.is_time { Nanos((value.max(0.0) * 1e9).round() as u64).to_string() } else { short(value) }
    }

    /// A part of all ranks.
    pub fn share(&self, ranks: u64) -> f64 {
        ranks as f64 / self.n_ranks().max(1) as f64
    }

    /// The mean effort of all ranks.
    pub fn mean_effort(&self) -> f64 {
        let sum: f64 = self.classes.iter().map(|class| class.effort.0 * class.ranks as f64).sum();
        sum / self.n_ranks().max(1) as f64
    }

    /// The ranks of a class in their order, if they are few.
    pub fn named_ranks(&self, class: usize) -> Option<Vec<usize>> {
        let few = self.classes[class].ranks <= NAMED;
        few.then(|| (0..self.n_ranks()).filter(|&r| self.class_of[r] as usize == class).collect())
    }

    /// A region's name; `None` where there is only one, without a name.
    pub fn region(&self, region: usize) -> Option<&str> {
        self.regions.get(region).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// What is to be known, in sentences.
    pub fn findings(&self) -> Vec<String> {
        let first = self.verdict.sentence(self);
        if self.n_ranks() == 1 {
            return vec![first];
        }
        let differences = (1..self.classes.len()).filter_map(|c| self.difference(c)).take(TOLD);
        let told = std::iter::once(first).chain(self.changing()).chain(self.in_single_steps());
        let told = told.chain(self.uneven_region());
        let told = told.chain(self.verdict.passing.iter().take(TOLD).cloned());
        let told = told
            .chain(differences.map(|d| d.sentence(self)))
            .chain(self.heaviest())
            .chain([self.plan_text()]);
        let windows = self.every.and_then(|every| windows::sentence(&self.windows, every));
        told.chain(self.strata_text()).chain(windows).collect()
    }

    /// How many ranks to trace.
    fn plan_text(&self) -> String {
        let plan = &self.plan;
        let (size, all) = (plan.sample_size(), self.n_ranks() as u64);
        let of_steps = format!(
            "To know the mean effort of {} within {} at {} confidence",
            self.planned(),
            self.bound_text(),
            level(plan.confidence)
        );
        // A sample of most ranks saves nothing.
        if all > 1 && 2 * size > all {
            let who =
                if size == all { format!("all {}", counted(all, "rank")) } else { counted(size, "rank") };
            let (whole, verb) = (counted(plan.whole_run, "rank"), if size == 1 { "has" } else { "have" });
            let alone = match (self.regions.len(), self.n_steps) {
                (0 | 1, 1) => String::new(),
                // By the same absolute error a sum takes more than each of its parts.
                _ if plan.whole_run > size => {
                    format!("; to know the mean of their sum within as much, {whole}")
                }
                _ => format!("; to know only the mean of their sum, {whole}"),
            };
            return format!("{of_steps}, {who} {verb} to be traced{alone}.");
        }
        let without = match plan.without_classes {
            without if without > size => {
                format!("; without classes it would take {}", grouped_digits(without))
            }
            _ => String::new(),
        };
        let share = share_text(self.share(size));
        format!("{of_steps}, tracing {} ({share}) is enough{without}.", counted(size, "rank"))
    }

    /// What the plan has the mean of.
    pub fn planned(&self) -> &'static str {
        match (self.regions.len(), self.plan.each_stratum) {
            (0 | 1, false) => "every step",
            (0 | 1, true) => "every step and class",
            (_, false) => "every step and region",
            (_, true) => "every step, region and class",
        }
    }

    /// What a sum over the steps is of.
    pub fn over_all(&self) -> String {
        match self.n_steps {
            1 => "in the one step".to_owned(),
            n => format!("over all {} steps", grouped_digits(n as u64)),
        }
    }

    /// The widest spread in any part of the steps, and what the parts are;
    /// nothing of a single step.
    pub fn widest_part(&self) -> Option<(&'static str, f64)> {
        let name = if self.parts.len() == self.n_steps { "each of them" } else { "each quarter of them" };
        let widest = self.parts.iter().map(|part| part.spread).reduce(f64::max);
        widest.filter(|_| self.n_steps > 1).map(|widest| (name, widest))
    }

    /// How far ranks are apart from part to part, where they are not alike.
    fn changing(&self) -> Option<String> {
        let is_told = self.classes.len() == 1 && self.verdict.kind != Kind::Alike;
        let spreads: Vec<String> =
            self.parts.iter().map(|part| apart_text(part.spread, part.has_least)).collect();
        let (last, first) = spreads.split_last().filter(|(_, first)| is_told && !first.is_empty())?;
        let parts = if self.parts.len() == self.n_steps { "steps" } else { "quarters of the steps" };
        Some(format!("In the {parts} they differ by {} and {last}.", first.join(", ")))
    }

    /// How far ranks are apart in a single step, in that region where it is most, as a share of
    /// the mean effort in a step: in half of the steps it is as much or more.
    pub fn step_spread(&self) -> f64 {
        let mean = self.mean_effort().abs() / self.n_steps.max(1) as f64;
        let apart = |step: usize| {
            let of_region = |region: usize| {
                let traces = || self.classes.iter().map(|class| &class.traces[region]);
                let least = traces().map(|trace| trace.least[step]).fold(f64::INFINITY, f64::min);
                traces().map(|trace| trace.most[step]).fold(f64::NEG_INFINITY, f64::max) - least
            };
            (0..self.regions.len()).map(of_region).fold(0.0, f64::max)
        };
        let mut steps: Vec<f64> = (0..self.n_steps).map(apart).collect();
        steps.sort_by(f64::total_cmp);
        likewise::median::lower(&steps).filter(|_| mean > 0.0).map_or(0.0, |apart| apart / mean)
    }

    /// How far ranks that are alike in all are apart in single steps, where these decide how
    /// many ranks have to be traced.
    fn in_single_steps(&self) -> Option<String> {
        let Verdict { kind, only_sums, .. } = self.verdict;
        let (apart, all) = (self.step_spread(), self.n_ranks() as u64);
        let is_more = match self.plan.bound {
            Bound::Relative(error) => apart > error,
            Bound::Absolute(_) => false,
        };
        let decides = kind == Kind::Alike && is_more && 2 * self.plan.sample_size() > all;
        let place = if self.regions.len() > 1 { " in some region" } else { "" };
        let is_asked = kind == Kind::Unclear && only_sums;
        (is_asked || decides && self.n_steps > self.parts.len()).then(|| {
            format!(
                "In half of the single steps they differ{place} by {} of the mean effort in a step, or more.",
                percent(apart)
            )
        })
    }

    /// The error that a sample may make, as people read it.
    pub fn bound_text(&self) -> String {
        match self.plan.bound {
            Bound::Relative(share) => level(share),
            Bound::Absolute(effort) => self.effort(effort),
        }
    }

    /// Whether stratifying pays (equation 2).
    fn strata_text(&self) -> Option<String> {
        let s = &self.plan.stratification;
        (self.classes.len() > 1 && s.variance > 0.0).then(|| {
            let within = format!(
                "for the effort {}, the variance within classes is {} of that of all ranks",
                self.over_all(),
                percent(s.variance_in_strata / s.variance)
            );
            let steps = format!("in {} of the steps and regions", percent(self.plan.pays));
            // The plan is for single steps; of their sum something else may be true.
            match (s.pays(), 2.0 * self.plan.pays >= 1.0) {
                (true, true) => {
                    format!("Sampling by class pays (equation 2): {within}; it pays {steps}.")
                }
                (false, true) => format!(
                    "Sampling by class pays {steps} (equation 2), but not for their sum: {within}."
                ),
                (true, false) => format!(
                    "Sampling by class pays for the sum of all steps (equation 2), but only {steps}: {within}."
                ),
                (false, false) => {
                    format!("Sampling by class does not pay (equation 2): {within}; it pays {steps}.")
                }
            }
        })
    }

    /// A class as it is called: of one class alone, all ranks.
    pub fn class_name(&self, class: usize) -> String {
        if self.classes.len() == 1 { "All ranks".to_owned() } else { format!("Class {}", class + 1) }
    }

    /// Whether no other number of classes than one was looked for.
    pub(super) fn is_one_as_asked(&self) -> bool {
        let Parameters { k, k_max, .. } = self.grouping.parameters;
        k == Some(1) || k.is_none() && k_max == 1
    }

    /// What follows a number of classes that was given.
    pub fn as_asked(&self) -> &'static str {
        if self.grouping.criterion == Criterion::Given { ", as asked" } else { "" }
    }

    /// What is to be known of how many classes there are.
    pub fn note_on_count(&self, k_max: usize) -> Option<String> {
        let (k, grouping) = (self.classes.len(), &self.grouping);
        match grouping.criterion {
            Criterion::Gap => {
                let best = grouping.bic.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
                let best = best.map_or(1, |(k, _)| k);
                let nearest = self.verdict.support.filter(|_| k == 1).map_or_else(String::new, |s| {
                    let which = if s.n_classes == best { "" } else { ", which come nearest," };
                    let figures = format!(
                        "{}{which} would explain {} of the variance, and {} on average, {} at most, where there are none",
                        s.n_classes,
                        share_text(s.explained),
                        share_text(s.by_chance),
                        share_text(s.at_most_by_chance)
                    );
                    match s.is_supported {
                        true if self.rounding > 1.0 => {
                            format!(": {figures}; but they are not apart, or no further than efforts are rounded")
                        }
                        true => format!(": {figures}; but they are not apart, or one does not last"),
                        false => format!(": {figures}"),
                    }
                });
                // More classes may be supported where fewer are not.
                let more = match best == k_max && self.n_ranks() > 2 * best {
                    true => ". That is the greatest number that was tried; --k-max tries more",
                    false => "",
                };
                Some(format!(
                    "The BIC is greatest at {best} classes, which the data do not support{nearest}{more}."
                ))
            }
            Criterion::Bic if k == k_max && self.n_ranks() > 2 * k => Some(
                "The BIC likes the greatest number of classes that was tried; --k-max tries more.".to_owned(),
            ),
            Criterion::Bic | Criterion::Given => None,
        }
    }

    /// The region whose efforts are farthest apart, with how far.
    fn uneven(&self) -> Option<(usize, f64)> {
        let apart = |r: usize| {
            let least = self.classes.iter().map(|class| class.regions.least[r]).fold(f64::INFINITY, f64::min);
            let most =
                self.classes.iter().map(|class| class.regions.most[r]).fold(f64::NEG_INFINITY, f64::max);
            most - least
        };
        let n = self.classes.first().map_or(0, |class| class.regions.least.len());
        (0..n).map(|r| (r, apart(r))).reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// How far ranks are apart in any one region, as a share of the mean effort
    /// in all.
    pub fn region_spread(&self) -> f64 {
        let mean = self.mean_effort().abs();
        self.uneven().filter(|_| mean > 0.0).map_or(0.0, |(_, apart)| apart / mean)
    }

    /// In which region ranks differ, where there are no classes that tell.
    fn uneven_region(&self) -> Option<String> {
        let (region, apart) = self.uneven().filter(|(_, apart)| *apart > 0.0)?;
        let place = in_region(self.region(region).filter(|_| self.classes.len() == 1)?);
        let share = match self.region_spread() {
            share if share < FAR => format!("{} of", percent(share)),
            times => format!("{} times", factor(times)),
        };
        Some(format!(
            "They differ most{place}: {} from the least to the most {}, {share} the mean effort in all regions.",
            self.effort(apart),
            self.over_all()
        ))
    }

    /// Ranks by name, of traces with their tasks: `ranks 3, 8 (tasks 4, 9)`.
    pub fn ranks_text(&self, ranks: &[u64]) -> String {
        let list = |first: u64| ranks.iter().map(|r| (r + first).to_string()).collect::<Vec<_>>().join(", ");
        let s = if ranks.len() == 1 { "" } else { "s" };
        let tasks = if self.is_time { format!(" (task{s} {})", list(1)) } else { String::new() };
        format!("rank{s} {}{tasks}", list(0))
    }

    pub(super) fn class_text(&self, class: usize) -> String {
        match self.named_ranks(class) {
            Some(ranks) => self.ranks_text(&ranks.iter().map(|&r| r as u64).collect::<Vec<_>>()),
            None => counted(self.classes[class].ranks, "rank"),
        }
    }

    /// The class that does clearly more than the mean.
    fn heaviest(&self) -> Option<String> {
        let mean = self.mean_effort();
        let by_effort = |&(_, class): &(usize, &Class)| class.effort.0;
        let (c, class) =
            self.classes.iter().enumerate().max_by(|a, b| by_effort(a).total_cmp(&by_effort(b)))?;
        let ratio = class.effort.0 / mean;
        // None of its ranks does less than one of another class.
        let is_apart =
            self.classes.iter().enumerate().all(|(o, other)| o == c || other.ends.1 < class.ends.0);
        // Efforts below 0 have no multiples: their mean may be next to nothing.
        let has_multiples = self.classes.iter().all(|class| class.ends.0 >= 0.0);
        (self.classes.len() > 1 && is_apart && mean > 0.0 && ratio > 1.05 && has_multiples).then(|| {
            let ranks = counted(class.ranks, "rank");
            format!("Class {} ({ranks}) does the most: {ratio:.2} times the mean effort.", c + 1)
        })
    }
}

/// Where: in a phase, or among the bursts of none.
pub(super) fn in_region(name: &str) -> String {
    if name == OTHER { " in bursts of no phase".to_owned() } else { format!(" in {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "The BIC is greatest at 5 classes, which the data do not support: 6 would explain 99.7%".
    #[test]
    fn two_numbers_of_classes_in_a_sentence_are_told_apart() {
        let support = |n_classes| Support {
            n_classes,
            explained: 0.997,
            by_chance: 0.9,
            at_most_by_chance: 0.99,
            gap: 1.0,
            deviation: 0.1,
            is_supported: true,
        };
        let note = |nearest| {
            let mut report = RanksReport { classes: vec![Class::default()], ..RanksReport::default() };
            report.grouping.criterion = Criterion::Gap;
            report.grouping.bic = vec![(1, 0.0), (5, 9.0), (6, 8.0)];
            report.verdict.support = Some(support(nearest));
            report.note_on_count(10).unwrap_or_default()
        };
        let five = note(5);
        assert!(five.contains("support: 5 would explain 99.7%"), "{five}");
        let six = note(6);
        assert!(six.contains("support: 6, which come nearest, would explain 99.7%"), "{six}");
    }

    /// "11 ranks have to be traced; to know only the mean of their sum, 16 ranks".
    #[test]
    fn by_the_same_error_a_sum_takes_more_ranks_than_its_parts() {
        let text = |whole_run| {
            let plan = Plan { sample: vec![11], whole_run, bound: Bound::Absolute(1.0), ..Plan::default() };
            RanksReport { class_of: vec![0; 16], n_steps: 4, plan, ..RanksReport::default() }.plan_text()
        };
        let (more, less) = (text(16), text(3));
        assert!(more.ends_with("; to know the mean of their sum within as much, 16 ranks."), "{more}");
        assert!(less.ends_with("; to know only the mean of their sum, 3 ranks."), "{less}");
    }
}
