//! Where a class does otherwise than others.

use super::regions::OTHER;
use super::report::{Class, RanksReport, in_region};
use super::verdict::few_of;
use likewise::ranks::beyond_chance;
use std::fmt::Write as _;

/// A class and where it does most otherwise than others, over all steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The place of the class.
    pub class: usize,
    /// The class that it is compared with; `None` if these are all others.
    pub against: Option<usize>,
    /// The place of the region.
    pub region: usize,
    /// The mean effort of its ranks there.
    pub own: f64,
    /// The mean of the other ranks.
    pub others: f64,
    /// How far the two are apart in each quarter of the steps, or in each step where it is
    /// more than chance makes, whichever does more, summed up.
    pub size: f64,
}

/// By how much a class does more than others do.
#[derive(Clone, Copy, Debug)]
struct Apart {
    more: f64,
    /// More than chance makes, as ranks of a class differ.
    is_sure: bool,
}

/// What a class does, and what others do.
struct Sides<'a> {
    own: &'a Class,
    others: Vec<&'a Class>,
    spread: &'a Spread,
}

/// How ranks of a class differ, by all classes.
struct Spread {
    /// How many ranks there are beyond the classes: the degrees of freedom.
    freedom: f64,
    /// The variance of each region in each step.
    steps: Vec<Vec<f64>>,
    /// The same over all steps.
    sums: Vec<f64>,
}

impl Spread {
    fn of(report: &RanksReport) -> Self {
        let beyond_one = |class: &Class| class.ranks as f64 - 1.0;
        let freedom = report.classes.iter().map(beyond_one).sum::<f64>();
        let variance = |of: &dyn Fn(&Class) -> f64| {
            report.classes.iter().map(|class| beyond_one(class) * of(class)).sum::<f64>() / freedom
        };
        let n_regions = report.classes.first().map_or(0, |class| class.regions.mean.len());
        let step =
            |region: usize, step: usize| variance(&|class| class.traces[region].deviation[step].powi(2));
        Self {
            freedom,
            steps: (0..n_regions).map(|r| (0..report.n_steps).map(|s| step(r, s)).collect()).collect(),
            sums: (0..n_regions).map(|r| variance(&|class| class.regions.variance[r])).collect(),
        }
    }
}

impl<'a> Sides<'a> {
    fn of(report: &'a RanksReport, spread: &'a Spread, class: usize, against: Option<usize>) -> Option<Self> {
        let is_other = |c: usize| c != class && against.is_none_or(|against| against == c);
        let others = report.classes.iter().enumerate().filter(|(c, _)| is_other(*c)).map(|(_, of)| of);
        let sides = Self { own: report.classes.get(class)?, others: others.collect(), spread };
        (!sides.others.is_empty()).then_some(sides)
    }

    /// The mean of a number that each class has, over the ranks of the others.
    fn mean_of_others(&self, of: impl Fn(&Class) -> f64) -> f64 {
        let sum = |(sum, n): (f64, f64), class: &&Class| {
            (sum + class.ranks as f64 * of(class), n + class.ranks as f64)
        };
        let (sum, n) = self.others.iter().fold((0.0, 0.0), sum);
        sum / n.max(1.0)
    }

    /// The difference of a number, by its mean in each class and its variance within classes. It is
    /// beyond chance if it is more than so many deviations.
    fn apart(&self, beyond: f64, mean: impl Fn(&Class) -> f64, variance: f64) -> Apart {
        let others: f64 = self.others.iter().map(|class| class.ranks as f64).sum();
        let of_means = variance * (1.0 / self.own.ranks as f64 + 1.0 / others);
        let more = mean(self.own) - self.mean_of_others(&mean);
        // Without a spread within classes any difference is sure; if that is not known, none is.
        let is_sure = self.spread.freedom > 0.0 && more != 0.0 && more.abs() >= beyond * of_means.sqrt();
        Apart { more, is_sure }
    }

    /// In every step.
    fn by_step(&self, region: usize, n_steps: usize) -> Vec<Apart> {
        let beyond = beyond_chance(n_steps, self.spread.freedom);
        let of = |step: usize| {
            self.apart(beyond, |class| class.traces[region].mean[step], self.spread.steps[region][step])
        };
        (0..n_steps).map(of).collect()
    }

    /// Over all steps.
    fn over_all(&self, region: usize) -> Apart {
        let beyond = beyond_chance(1, self.spread.freedom);
        self.apart(beyond, |class| class.regions.mean[region], self.spread.sums[region])
    }
}

impl RanksReport {
    /// Where a class does most otherwise than all others. A class that is far nearer to the
    /// mean of all others than to any of them is compared with the nearest: what they do on
    /// average none of them does. `None` of a single class, or if chance makes as much.
    pub fn difference(&self, class: usize) -> Option<Difference> {
        let spread = Spread::of(self);
        let most = |against| {
            let all = self.differences(&spread, class, against).into_iter();
            all.reduce(|a, b| if b.size > a.size { b } else { a })
        };
        let of_all = most(None)?;
        let others = (0..self.classes.len()).filter(|&other| other != class);
        let nearest = others
            .filter_map(|other| most(Some(other)))
            .reduce(|a, b| if b.size < a.size { b } else { a })?;
        let is_between = self.classes.len() > 2 && nearest.size > 2.0 * of_all.size;
        let found = if is_between { nearest } else { of_all };
        found.is_sure(self, &spread).then_some(found)
    }

    /// The same of each region; none of a single class.
    fn differences(&self, spread: &Spread, class: usize, against: Option<usize>) -> Vec<Difference> {
        let Some(sides) = Sides::of(self, spread, class, against) else { return Vec::new() };
        let of_region = |region: usize| {
            let own = sides.own.regions.mean[region];
            let others = sides.mean_of_others(|class| class.regions.mean[region]);
            let apart = sides.by_step(region, self.n_steps);
            let parts = self.n_steps.min(self.parts.len()).max(1);
            let of_part = |part: usize| {
                let steps = part * self.n_steps / parts..(part + 1) * self.n_steps / parts;
                apart[steps].iter().map(|step| step.more).sum::<f64>().abs()
            };
            let of_steps = apart.iter().filter(|step| step.is_sure).map(|step| step.more.abs()).sum();
            let size = (0..parts).map(of_part).sum::<f64>().max(of_steps);
            Difference { class, against, region, own, others, size }
        };
        (0..sides.own.regions.mean.len()).map(of_region).collect()
    }
}

impl Difference {
    /// How many times the others' effort it is.
    pub fn ratio(&self) -> Option<f64> {
        (self.others > 0.0 && self.own >= 0.0).then(|| self.own / self.others)
    }

    /// Whether it is more than chance makes, in all or in some step.
    fn is_sure(&self, report: &RanksReport, spread: &Spread) -> bool {
        let sides = Sides::of(report, spread, self.class, self.against);
        sides.is_some_and(|sides| {
            sides.over_all(self.region).is_sure
                || sides.by_step(self.region, report.n_steps).iter().any(|step| step.is_sure)
        })
    }

    pub(super) fn sentence(&self, report: &RanksReport) -> String {
        let steps = report.n_steps as f64;
        let each = if report.n_steps == 1 { "" } else { " a step" };
        let mut text = format!("Class {}, {}, differs", self.class + 1, report.class_text(self.class));
        let others = match self.against {
            None => "the others".to_owned(),
            Some(other) => {
                let _ = write!(text, " from the nearest, class {},", other + 1);
                format!("class {}", other + 1)
            }
        };
        let name = report.region(self.region).map_or_else(String::new, in_region);
        let effort = |of: f64| report.effort(of / steps);
        let spread = Spread::of(report);
        let _ = write!(text, " most{name}: {}{each}, {others} {}", effort(self.own), effort(self.others));
        if let Some(ratio) = self.ratio().filter(|ratio| *ratio < 1000.0) {
            let _ = write!(text, " (× {ratio:.2})");
        }
        if let Some(beside) = self.beside(report, &spread) {
            let (own, of_others) = (effort(beside.own), effort(beside.others));
            let _ = write!(text, " and in bursts of no phase {own}, {others} {of_others}");
        }
        if let Some(ratio) = self.all_ratio(report, &spread).filter(|_| report.regions.len() > 1) {
            let _ = write!(text, ", in all regions × {ratio:.2}");
        }
        text + &self.course(report, &spread).unwrap_or_default() + "."
    }

    /// In which steps it is, where it is not in all of them. Only steps that differ by more
    /// than chance makes tell.
    fn course(&self, report: &RanksReport, spread: &Spread) -> Option<String> {
        let sides = Sides::of(report, spread, self.class, self.against)?;
        let apart = sides.by_step(self.region, report.n_steps);
        let more = self.own - self.others;
        if 2.0 * more.abs() < self.size {
            let side = |sign: f64| {
                let steps = apart.iter().filter(|step| step.is_sure && step.more * sign > 0.0);
                let steps: Vec<f64> = steps.map(|step| step.more.abs()).collect();
                (steps.len(), report.effort(steps.iter().sum::<f64>() / steps.len().max(1) as f64))
            };
            let ((above, by), (below, less)) = (side(1.0), side(-1.0));
            return (above > 0 && below > 0).then(|| {
                format!(", but {by} more in {above} of {} steps and {less} less in {below}", report.n_steps)
            });
        }
        let few = few_of(apart.iter().map(|step| more.signum() * step.more))?;
        let mut apart = apart;
        apart.sort_by(|a, b| (more.signum() * b.more).total_cmp(&(more.signum() * a.more)));
        let are_sure = apart[..few].iter().all(|step| step.is_sure);
        are_sure.then(|| format!(", nine tenths of it in {few} of {} steps", report.n_steps))
    }

    /// The part that may be in bursts of no phase: these differ in the same
    /// direction, by at least a tenth of the difference.
    fn beside(&self, report: &RanksReport, spread: &Spread) -> Option<Difference> {
        let other = report.regions.iter().position(|name| name == OTHER)?;
        let apart = |of: &Difference| of.own - of.others;
        let all = report.differences(spread, self.class, self.against);
        let beside = all.into_iter().find(|of| of.region == other);
        beside.filter(|of| self.region != other && apart(of) / apart(self) >= 0.1)
    }

    /// How many times the others' effort its effort in all regions is.
    fn all_ratio(&self, report: &RanksReport, spread: &Spread) -> Option<f64> {
        let sides = Sides::of(report, spread, self.class, self.against)?;
        let others = sides.mean_of_others(|class| class.effort.0);
        (others > 0.0).then(|| sides.own.effort.0 / others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{MeanTrace, Part};
    use likewise::ranks::Moments;

    /// Classes of so many ranks each, with their means in the steps of each region and the
    /// deviation of ranks in each step.
    fn report(classes: &[(u64, &[Vec<f64>])], deviation: f64) -> RanksReport {
        let n_steps = classes[0].1[0].len();
        let class = |(number, &(ranks, regions)): (usize, &(u64, &[Vec<f64>]))| {
            let trace = |mean: &Vec<f64>| MeanTrace {
                mean: mean.clone(),
                deviation: vec![deviation; n_steps],
                least: mean.clone(),
                most: mean.clone(),
            };
            let sums: Vec<f64> = regions.iter().map(|mean| mean.iter().sum()).collect();
            Class {
                medoid: number as u64,
                ranks,
                effort: (sums.iter().sum(), 0.0),
                regions: Moments {
                    n_ranks: ranks,
                    variance: vec![n_steps as f64 * deviation.powi(2); sums.len()],
                    least: sums.clone(),
                    most: sums.clone(),
                    mean: sums,
                },
                traces: regions.iter().map(trace).collect(),
                ..Class::default()
            }
        };
        let regions = (0..classes[0].1.len()).map(|region| format!("r{region}"));
        RanksReport {
            regions: if classes[0].1.len() == 1 { vec![String::new()] } else { regions.collect() },
            n_steps,
            parts: vec![Part::default(); n_steps.min(4)],
            class_of: (0..).zip(classes).flat_map(|(c, of)| vec![c; of.0 as usize]).collect(),
            classes: classes.iter().enumerate().map(class).collect(),
            ..RanksReport::default()
        }
    }

    fn told(report: &RanksReport, class: usize) -> Option<String> {
        Some(report.difference(class)?.sentence(report))
    }

    /// Some noise that adds up to nothing.
    fn noise(step: usize, seed: usize) -> f64 {
        0.01 * ((step * 7 + seed * 5) % 11) as f64 - 0.05
    }

    /// Of ranks that do more in turn the wrong region was named, with noise as its course.
    #[test]
    fn who_does_more_in_turn_differs_in_every_step() {
        let of = |odd: usize| {
            let turns = (0..40).map(|step| if step % 2 == odd { 3.0 } else { 1.0 }).collect();
            [(0..40).map(|step| 4.0 + noise(step, odd)).collect::<Vec<f64>>(), turns]
        };
        let report = report(&[(8, &of(0)), (8, &of(1))], 0.05);
        let text = told(&report, 1).expect("a sentence");
        let expected = "differs most in r1: 2 a step, the others 2 (× 1.00), in all regions × 1.00, but 2 more in 20 of \
                        40 steps and 2 less in 20.";
        assert!(text.ends_with(expected), "{text}");
        // In a few steps alone.
        let once =
            |more: f64| vec![(0..40).map(|step| if step == 7 { more } else { 1.0 }).collect::<Vec<f64>>()];
        let report = self::report(&[(8, &once(1.0)), (8, &once(9.0))], 0.05);
        let text = told(&report, 1).expect("a sentence");
        assert!(text.ends_with(" (× 1.20), nine tenths of it in 1 of 40 steps."), "{text}");
    }

    /// "1.6 a step, the others 1.6 (× 1.00), nine tenths of it in 3 of 30 steps" was told of a
    /// class in the middle.
    #[test]
    fn a_class_in_the_middle_is_compared_with_the_nearest() {
        let of = |level: f64, seed| vec![(0..30).map(|step| level + noise(step, seed)).collect::<Vec<f64>>()];
        let levels = [of(1.2, 1), of(1.6, 2), of(1.0, 3), of(2.2, 4), of(2.0, 5)];
        let classes: Vec<(u64, &[Vec<f64>])> = levels.iter().map(|level| (10, &level[..])).collect();
        let report = report(&classes, 0.1);
        let text = told(&report, 1).expect("a sentence");
        assert!(
            text.contains(" differs from the nearest, class ") && !text.contains("nine tenths"),
            "{text}"
        );
        let text = told(&report, 2).expect("a sentence");
        assert!(text.contains("differs most: 1 a step, the others 1.75 (× 0.57)."), "{text}");
        // Of two classes of one rank, others tell how far ranks differ.
        let levels = [of(3.2, 1), of(2.0, 2), of(1.0, 3), of(0.7, 4)];
        let classes: Vec<(u64, &[Vec<f64>])> =
            [5, 1, 1, 5].into_iter().zip(levels.iter().map(|l| &l[..])).collect();
        let report = self::report(&classes, 0.01);
        assert!((0..4).all(|class| told(&report, class).is_some()));
        // Classes that differ by noise alone do not differ.
        let [a, b] = [of(1.0, 1), of(1.0, 2)];
        assert_eq!(told(&self::report(&[(10, &a), (10, &b)], 0.1), 1), None);
    }
}
