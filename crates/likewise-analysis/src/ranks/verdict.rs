//! Whether there are classes, and if not, what there is.

use super::find::{Totals, left_out};
use super::report::RanksReport;
use super::settle::Evidence;
use super::settle::NAMED;
use likewise::ranks::{LEAST_RANKS, Support, is_significant, pearson, spearman};
use likewise::words::{FAR, apart, counted, factor, percent, share_text};
use likewise::{Gap, gap};

/// What the efforts say of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Classes that the data support.
    Classes,
    /// Classes that were asked for, and that the data do not support.
    Unsupported,
    /// Ranks differ by degrees: steadily from step to step, or along their
    /// numbers.
    Gradient,
    /// There are too few ranks to prove a class, but some are far from all
    /// others.
    Apart,
    /// No rank differs by more than the error that a sample may make.
    #[default]
    Alike,
    /// They differ, and nothing says how.
    Unclear,
}

impl Kind {
    /// As files have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::Unsupported => "unsupported",
            Self::Gradient => "gradient",
            Self::Apart => "apart",
            Self::Alike => "alike",
            Self::Unclear => "unclear",
        }
    }
}

/// What the efforts say of classes, with its figures.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// What there is.
    pub kind: Kind,
    /// Of the classes taken, or of those that came nearest to being classes.
    pub support: Option<Support>,
    /// Efforts over all steps.
    pub range: Range,
    /// The ranks on the smaller side of the widest gap between efforts, if that
    /// gap is most of the range.
    pub apart: Option<Apart>,
    /// The correlation between the ranks' efforts in the two halves of the
    /// steps, without events that happened once. `None` with one step, or if
    /// nothing varies.
    pub steadiness: Option<f64>,
    /// Spearman's correlation of effort and number of the rank.
    pub by_rank: Option<f64>,
    /// The spread that is left without the greatest steps of each rank.
    pub lasting: f64,
    /// The least effort without those steps.
    pub lasting_least: f64,
    /// Whether ranks differ in what they do, but hardly in how much.
    pub only_regions: bool,
    /// Whether they hardly differ in parts of the steps, but much in single ones.
    pub only_sums: bool,
    /// Whether ranks differ steadily, and whether in classes or by degrees is not known.
    pub is_open: bool,
    /// What differs only now and then.
    pub passing: Vec<String>,
}

/// From the rank of the least effort to that of the most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    pub least: (usize, f64),
    pub most: (usize, f64),
    pub mean: f64,
}

impl Range {
    fn of(efforts: &[f64]) -> Self {
        let mut range = Self { least: (0, f64::INFINITY), most: (0, f64::NEG_INFINITY), mean: 0.0 };
        for (rank, &effort) in efforts.iter().enumerate() {
            if effort < range.least.1 {
                range.least = (rank, effort);
            }
            if effort > range.most.1 {
                range.most = (rank, effort);
            }
        }
        range.mean = efforts.iter().sum::<f64>() / efforts.len().max(1) as f64;
        range
    }

    /// By how much the most exceeds the least, as a share of the least; if the
    /// least is 0, as a share of the mean.
    pub fn spread(&self) -> f64 {
        spread(self.least.1, self.most.1, self.mean)
    }

    /// The same in words.
    pub fn apart(&self) -> String {
        apart_text(self.spread(), self.least.1 > 0.0)
    }
}

/// See [`Range::spread`].
pub(super) fn spread(least: f64, most: f64, mean: f64) -> f64 {
    let whole = if least > 0.0 { least } else { mean.abs() };
    if most == least { 0.0 } else { (most - least) / whole }
}

/// [`Range::spread`] in words; the least has some effort, or none.
pub(super) fn apart_text(spread: f64, has_least: bool) -> String {
    match spread {
        more if has_least => apart(more),
        times if times >= FAR => format!("{} times the mean", factor(times)),
        share => percent(share),
    }
}

/// Ranks that are far from all others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Apart {
    pub ranks: Vec<u64>,
    /// The least and the greatest of their efforts, and of the others'.
    pub efforts: [f64; 2],
    pub others: [f64; 2],
}

impl Apart {
    fn of(efforts: &[f64]) -> Option<Self> {
        let Gap { low, high } = gap(efforts)?;
        let ends = |side: &[usize]| [efforts[side[0]], efforts[side[side.len() - 1]]];
        let (few, many) = if high.len() <= low.len() { (high, low) } else { (low, high) };
        let mut ranks: Vec<u64> = few.iter().map(|&rank| rank as u64).collect();
        ranks.sort_unstable();
        Some(Self { ranks, efforts: ends(&few), others: ends(&many) })
    }
}

/// With a correlation above this, the two halves share more than half of their
/// variance.
const STEADY: f64 = 0.5;
/// Ranks that differ by degrees are seldom explained better by classes than chance makes
/// them on average, by so many deviations. Where they are, they may be classes too few of
/// which have enough ranks to be proved.
const USUAL: f64 = 1.0;

/// Whether ranks do as much as others.
struct Even {
    /// Over all steps, and in each part of them.
    is_even: bool,
    /// But not in single steps.
    only_sums: bool,
    /// In every region and in single steps, too.
    is_alike: bool,
}

impl Even {
    /// Within `tolerance`, a share; `is_steady` if the same ranks do more in both halves of
    /// the steps.
    fn of(report: &RanksReport, range: &Range, tolerance: f64, is_steady: bool) -> Self {
        // Chance makes ranks differ by more in a part of the steps than over all.
        let by_chance = if is_steady { 1.0 } else { (report.parts.len() as f64).sqrt() };
        let of_part = tolerance * by_chance;
        let is_even = range.spread() <= tolerance && report.parts.iter().all(|part| part.spread <= of_part);
        let in_regions = is_even
            && report.region_spread() <= tolerance
            && report.parts.iter().all(|part| part.region_spread <= of_part);
        // Single steps by more, for the same reason; else they make up for one another.
        let only_sums = in_regions && report.step_spread() > tolerance * (report.n_steps as f64).sqrt();
        let is_alike = in_regions && !only_sums;
        Self { is_even, only_sums, is_alike }
    }
}

impl Verdict {
    /// Of ranks with these efforts; `tolerance` is
    /// the error that a sample may make.
    pub(super) fn of(report: &RanksReport, totals: &[Totals], evidence: &Evidence, tolerance: f64) -> Self {
        // Equal numbers may be so far apart.
        let of_rounding = report.rounding.max(1.0).powi(2) - 1.0;
        let tolerance = tolerance.max(of_rounding);
        let efforts: Vec<f64> = totals.iter().map(|of| of.run).collect();
        let range = Range::of(&efforts);
        let k = report.classes.len();
        let support = match k {
            // What came nearest.
            1 => evidence.support.iter().copied().reduce(|a, b| if margin(&b) > margin(&a) { b } else { a }),
            _ => evidence.support.iter().copied().find(|s| s.n_classes == k),
        };
        let steadiness = match report.n_steps {
            1 => None,
            _ => pearson(totals.iter().map(|of| (of.halves[0], of.halves[1]))),
        };
        let by_rank = spearman(&efforts);
        let n = efforts.len();
        let is_steady = steadiness.is_some_and(|r| r > STEADY && is_significant(r, n));
        let follows = by_rank.is_some_and(|r| is_significant(r, n));
        let apart = Apart::of(&efforts);
        let differ = is_steady || (follows && apart.is_none());
        let is_open = k == 1 && is_steady && apart.is_none() && support.is_some_and(|s| margin(&s) > USUAL);
        let quiet: Vec<f64> = totals.iter().map(|of| of.halves[0] + of.halves[1]).collect();
        let quiet = Range::of(&quiet);
        let (lasting, lasting_least) = (quiet.spread(), quiet.least.1);
        let Even { is_even, only_sums, is_alike } = Even::of(report, &range, tolerance, is_steady);
        let kind = if k > 1 && evidence.is_supported {
            Kind::Classes
        } else if k > 1 {
            Kind::Unsupported
        } else if is_alike {
            Kind::Alike
        } else if is_even || !mostly(lasting, range.spread()) {
            Kind::Unclear
        } else if is_steady && apart.is_some() {
            Kind::Apart
        } else if is_open {
            Kind::Unclear
        } else if differ {
            Kind::Gradient
        } else {
            Kind::Unclear
        };
        let by_rank = by_rank.filter(|_| follows);
        let passing =
            evidence.passing.as_ref().map_or_else(Vec::new, |passing| report.passing_texts(passing));
        let only_regions = is_even && !is_alike;
        Self {
            kind,
            support,
            range,
            apart,
            steadiness,
            by_rank,
            lasting,
            lasting_least,
            only_regions,
            only_sums,
            is_open,
            passing,
        }
    }

    /// The first sentence: how the ranks behave.
    pub fn sentence(&self, report: &RanksReport) -> String {
        let ranks = counted(report.n_ranks() as u64, "rank");
        let k = report.classes.len();
        if report.n_ranks() == 1 {
            return "There is one rank, so nothing to compare it with.".to_owned();
        }
        // Of one class that was asked for it is not known whether there are more.
        let [no_classes, none_told] = match report.is_one_as_asked() {
            true => ["One class, as asked"; 2],
            false => ["No classes", "No classes can be told"],
        };
        match (self.kind, self.support) {
            (Kind::Classes, Some(s)) => format!(
                "{ranks} behave in {k} ways{}: these classes explain {} of the variance, where classes of ranks \
                 without any explain {} on average and {} at most.",
                report.as_asked(),
                share_text(s.explained),
                share_text(s.by_chance),
                share_text(s.at_most_by_chance)
            ),
            (Kind::Unsupported, support) => {
                let figures = support.map_or_else(String::new, |s| {
                    format!(
                        ": they explain {} of the variance, and classes of ranks without any {} on average",
                        share_text(s.explained),
                        share_text(s.by_chance)
                    )
                });
                format!("{ranks} are in {k} classes as asked, but the data do not support them{figures}.")
            }
            (Kind::Alike, _) => format!(
                "{no_classes}: {ranks} are alike within {}{} {}{}.",
                apart(self.within(report)),
                self.ends(report),
                report.over_all(),
                report.widest_part().map_or_else(String::new, |(part, widest)| {
                    format!(", and within {} in {part}", apart(widest))
                })
            ),
            (Kind::Apart, _) => self.apart_text(report),
            (Kind::Gradient, _) => {
                let what = if self.by_rank.is_some() { "lie on a gradient" } else { "differ by degrees" };
                format!("{no_classes}: {ranks} {what}{}{}.", self.ends(report), self.along())
            }
            _ if self.only_sums || self.only_regions => format!(
                "{none_told}: {ranks} are alike within {}{} {}, but not in {}.",
                apart(self.within(report)),
                self.ends(report),
                report.over_all(),
                if self.only_sums { "single steps" } else { "every region" }
            ),
            _ => format!(
                "{none_told}: {ranks} differ by {}{} {}, {}.",
                self.range.apart(),
                self.ends(report),
                report.over_all(),
                self.why(report)
            ),
        }
    }

    /// Facts only: what chance makes of few ranks is not known.
    fn apart_text(&self, report: &RanksReport) -> String {
        let Some(apart) = &self.apart else { return String::new() };
        let n = apart.ranks.len();
        let who = match n as u64 {
            few if few <= NAMED => report.ranks_text(&apart.ranks),
            many => counted(many, "rank"),
        };
        let between = |[least, most]: [f64; 2]| match (report.effort(least), report.effort(most)) {
            (least, most) if least == most => least,
            (least, most) => format!("{least} to {most}"),
        };
        format!(
            "{}{who} {} apart from all others: {} {}, the other {} {}.",
            match report.is_one_as_asked() {
                true => "One class, as asked: ",
                false => "No classes can be proved, but ",
            },
            if n == 1 { "is" } else { "are" },
            between(apart.efforts),
            report.over_all(),
            counted((report.n_ranks() - n) as u64, "rank"),
            between(apart.others)
        )
    }

    /// Ranks are no further apart than this share, rounded as their efforts are.
    fn within(&self, report: &RanksReport) -> f64 {
        (1.0 + self.range.spread()) * report.rounding.max(1.0).powi(2) - 1.0
    }

    fn ends(&self, report: &RanksReport) -> String {
        let Range { least, most, .. } = self.range;
        if least.1 == most.1 {
            return String::new();
        }
        let apart = match self.kind {
            Kind::Gradient => format!(", {} from the least to the most", self.range.apart()),
            _ => String::new(),
        };
        format!(
            "{apart} (rank {}: {}; rank {}: {})",
            least.0,
            report.effort(least.1),
            most.0,
            report.effort(most.1)
        )
    }

    fn along(&self) -> String {
        match (self.by_rank, self.steadiness) {
            (Some(r), _) if r > 0.0 => "; effort grows with the number of the rank".to_owned(),
            (Some(_), _) => "; effort falls with the number of the rank".to_owned(),
            (None, Some(r)) => format!("; one half of the steps correlates with the other by {r:.2}"),
            (None, None) => String::new(),
        }
    }

    fn why(&self, report: &RanksReport) -> String {
        let few = left_out(report.n_steps);
        match self.steadiness {
            _ if !mostly(self.lasting, self.range.spread()) && few > 0 => format!(
                "and by {} where the {} in which each does most are left out",
                apart_text(self.lasting, self.lasting_least > 0.0),
                counted(few as u64, "step")
            ),
            _ if report.n_ranks() < LEAST_RANKS => {
                "and so few ranks do not tell classes from a gradient".to_owned()
            }
            _ if let (true, Some(s)) = (self.is_open, self.support) => open(&s),
            None if report.n_steps == 1 => "and a single step does not tell what lasts".to_owned(),
            Some(r) if r > STEADY => "and how cannot be told".to_owned(),
            Some(_) | None => "but not steadily the same ranks".to_owned(),
        }
    }
}

/// The smallest number of steps that hold nine tenths of a difference, if it is
/// less than half of the steps.
pub(super) fn few_of(apart: impl Iterator<Item = f64>) -> Option<usize> {
    let mut steps: Vec<f64> = apart.collect();
    steps.sort_by(|a, b| b.total_cmp(a));
    let whole: f64 = steps.iter().sum();
    let mut sum = 0.0;
    let few = steps.iter().take_while(|x| {
        let open = sum < 0.9 * whole;
        sum += **x;
        open
    });
    Some(few.count()).filter(|few| (1..steps.len().div_ceil(2)).contains(few))
}

/// Whether most of the difference between ranks lasts over the steps.
fn mostly(lasting: f64, spread: f64) -> bool {
    2.0 * lasting > spread
}

/// How far above chance, in deviations.
fn margin(s: &Support) -> f64 {
    // Without spread, the quotient of two zeros would be NaN.
    s.gap / s.deviation.max(f64::MIN_POSITIVE)
}

/// Why it is open whether ranks differ in classes or by degrees.
fn open(support: &Support) -> String {
    let Support { n_classes, explained, by_chance, at_most_by_chance, .. } = *support;
    let told = format!(
        "the same ranks, and whether in classes or by degrees is open: {n_classes} classes explain {} of the variance",
        share_text(explained)
    );
    if explained > at_most_by_chance {
        let most = share_text(at_most_by_chance);
        return format!(
            "{told}, more than of any ranks that differ by degrees ({most} at most), but some of them are not apart, \
             or do not last"
        );
    }
    format!(
        "{told}, where ranks that differ by degrees are explained by {} on average and {} at most",
        share_text(by_chance),
        share_text(at_most_by_chance)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_a_share_of_the_least() {
        let range = Range::of(&[4.0, 2.0, 3.0]);
        assert_eq!((range.least, range.most, range.spread()), ((1, 2.0), (0, 4.0), 1.0));
        assert_eq!(Range::of(&[0.0, 0.0]).spread(), 0.0);
        assert_eq!(Range::of(&[0.0, 4.0]).spread(), 2.0);
    }

    /// "Differ by 6609.1%" was told of ranks of which one does 67 times as much.
    #[test]
    fn ranks_that_are_far_apart_differ_by_a_factor() {
        let told = |efforts: &[f64]| Range::of(efforts).apart();
        assert_eq!(told(&[1.0, 1.3]), "30.0%");
        assert_eq!(told(&[1.0, 67.091]), "a factor of 67.1");
        // Nothing has no multiple: then it is a share of the mean.
        assert_eq!((told(&[0.0, 4.0]), told(&[0.0, 0.0])), ("200.0%".into(), "0.0%".into()));
        let one_of_eight = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0];
        assert_eq!(told(&one_of_eight), "8.0 times the mean");
    }

    #[test]
    fn ranks_are_apart_where_one_step_is_most_of_the_range() {
        let apart = Apart::of(&[1.0, 5.0, 1.2, 1.1]).unwrap();
        assert_eq!((apart.ranks, apart.efforts, apart.others), (vec![1], [5.0, 5.0], [1.0, 1.2]));
        let below = Apart::of(&[9.0, 1.0, 9.5, 1.5, 9.2]).unwrap();
        assert_eq!((below.ranks, below.efforts, below.others), (vec![1, 3], [1.0, 1.5], [9.0, 9.5]));
        assert_eq!(Apart::of(&[1.0, 2.0, 3.0, 4.0]), None);
        // Half is not most.
        assert_eq!(Apart::of(&[0.0, 1.0, 2.0]), None);
        assert_eq!(Apart::of(&[1.0, 1.0]), None);
        assert_eq!(Apart::of(&[]), None);
    }
}
