//! What ranks do differently in a few steps: that makes no class.

use super::find::Figures;
use super::report::{RanksReport, in_region};
use super::settle::{NAMED, Passing};
use super::verdict::few_of;
use likewise::median::{lower, sorted, weighted};
use likewise::ranks::Moments;
use likewise::words::{capital, counted};

impl RanksReport {
    /// What ranks did in a few steps, of classes that do not last.
    pub(super) fn passing_texts(&self, passing: &Passing) -> Vec<String> {
        let Passing { figures, classes } = passing;
        // What is a class of its own now is told as one.
        let is_told = |c: usize, ranks: &[u64]| {
            let class = ranks.first().map_or(0, |&rank| self.class_of[rank as usize]);
            let of_class = self.class_of.iter().filter(|&&of| of == class).count() as u64;
            self.classes.len() > 1 && 2 * figures.classes[c].n_ranks > of_class
        };
        let classes = classes.iter().filter(|(c, ranks)| !is_told(*c, ranks));
        classes.filter_map(|(class, ranks)| self.passing_text(figures, *class, ranks)).collect()
    }

    fn passing_text(&self, figures: &Figures, c: usize, ranks: &[u64]) -> Option<String> {
        let class = &figures.classes[c];
        let others: Vec<f64> =
            (0..class.mean.len()).map(|j| middle_of_others(&figures.classes, c, j)).collect();
        let apart: Vec<f64> = class.mean.iter().zip(&others).map(|(own, others)| own - others).collect();
        let j = (0..apart.len()).reduce(|a, b| if apart[b].abs() > apart[a].abs() { b } else { a })?;
        let (own, is_more) = (class.mean[j], apart[j] > 0.0);
        let (region, step) = (j / self.n_steps, j % self.n_steps);
        // If the steps beside it or other regions make up for it, a burst only
        // fell on the other side of a boundary, or into another phase. What they always do
        // makes up for nothing.
        let beside = step.saturating_sub(1)..(step + 2).min(self.n_steps);
        let regions: Vec<Vec<f64>> = apart.chunks(self.n_steps).map(beyond_usual).collect();
        let around: f64 = regions.iter().map(|beyond| beyond[beside.clone()].iter().sum::<f64>()).sum();
        // At the ends, what is missing may be outside of the steps.
        let is_outside = !is_more && (step == 0 || step + 1 == self.n_steps);
        if is_outside || 2.0 * around.abs() < regions[region][step].abs() {
            return None;
        }
        // What is said of several ranks must hold for each of them.
        let nearest = if is_more { class.least[j] } else { class.most[j] };
        if 2.0 * (nearest - others[j]) / apart[j] < 1.0 {
            return None;
        }
        let few = few_more(&regions[region], is_more)?;
        let who = match ranks.len() as u64 {
            n if n > NAMED => counted(class.n_ranks, "rank"),
            _ => self.ranks_text(ranks),
        };
        Some(format!(
            "{} differ{} from the others most in step {step}{} ({}, {}), nine tenths of that in {few} of {} steps: that \
             makes no class.",
            capital(&who),
            if ranks.len() == 1 { "s" } else { "" },
            self.region(region).map_or_else(String::new, in_region),
            self.effort(own),
            self.others_text(mean_of_others(&figures.classes, c, j), others[j], own),
            self.n_steps
        ))
    }

    /// What the others do on average; but what the middle one of them does, where one that is
    /// far from all moves that mean.
    fn others_text(&self, mean: f64, middle: f64, own: f64) -> String {
        match 4.0 * (mean - middle).abs() > (own - middle).abs() {
            true => format!("the middle of the others {}", self.effort(middle)),
            false => format!("the others {}", self.effort(mean)),
        }
    }
}

/// The other classes, each by how many ranks it has, in one number of the feature vectors.
fn of_others(classes: &[Moments], c: usize, j: usize) -> impl Iterator<Item = (f64, f64)> {
    let others = classes.iter().enumerate().filter(move |(other, _)| *other != c);
    others.map(move |(_, class)| (class.mean[j], class.n_ranks as f64))
}

fn mean_of_others(classes: &[Moments], c: usize, j: usize) -> f64 {
    let (sum, n) =
        of_others(classes, c, j).fold((0.0, 0.0), |(sum, n), (x, ranks)| (sum + x * ranks, n + ranks));
    sum / n
}

/// What the class of the middle one of all other ranks does; of two in the middle, their
/// mean. What a few of them did once leaves it as it is: in their mean it would look as if
/// this class had done otherwise.
fn middle_of_others(classes: &[Moments], c: usize, j: usize) -> f64 {
    let of_middle = |sign: f64| {
        let others = of_others(classes, c, j).map(|(x, ranks)| (sign * x, ranks));
        weighted(others.collect()).map_or(f64::NAN, |x| sign * x)
    };
    (of_middle(1.0) + of_middle(-1.0)) / 2.0
}

/// By how much more than usual ranks differ from others in each step.
fn beyond_usual(apart: &[f64]) -> Vec<f64> {
    let usual = lower(&sorted(apart.iter().copied())).unwrap_or(0.0);
    apart.iter().map(|x| x - usual).collect()
}

/// In how few steps ranks do nine tenths of what they do more (or less) than usual, which
/// is `beyond` in each step. `None` if it is half of the steps or more, or if what they do
/// less in other steps is more than a third of it.
fn few_more(beyond: &[f64], more: bool) -> Option<usize> {
    let beyond = beyond.iter().map(|&x| if more { x } else { -x });
    let [sum, both] = beyond.clone().fold([0.0; 2], |[sum, both], x| [sum + x, both + x.abs()]);
    few_of(beyond).filter(|_| 2.0 * sum >= both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::Class;

    /// A report of as many ranks as `class_of` has, and classes that do not last: their ranks
    /// and what they do in each step. The first lasts.
    fn told(class_of: &[u32], classes: &[(&[u64], &[f64])]) -> Vec<String> {
        let figures = Figures {
            classes: classes
                .iter()
                .map(|(ranks, steps)| Moments {
                    n_ranks: ranks.len() as u64,
                    mean: steps.to_vec(),
                    variance: vec![0.0; steps.len()],
                    least: steps.to_vec(),
                    most: steps.to_vec(),
                })
                .collect(),
            ..Figures::default()
        };
        let n_classes = class_of.iter().max().map_or(0, |most| most + 1);
        let report = RanksReport {
            regions: vec![String::new()],
            n_steps: classes[0].1.len(),
            class_of: class_of.to_vec(),
            classes: vec![Class::default(); n_classes as usize],
            ..RanksReport::default()
        };
        let some = classes.iter().enumerate().skip(1).map(|(c, (ranks, _))| (c, ranks.to_vec()));
        report.passing_texts(&Passing { figures, classes: some.collect() })
    }

    /// "Ranks 0, 1, 2, 4, 5 differ from the others most in step 4" was told of ranks that did
    /// there what they always do: rank 3 did nothing there, and so the others less on average.
    #[test]
    fn an_odd_rank_makes_no_others_odd() {
        let with = |usual: f64, odd: f64| (0..8).map(|step| if step == 4 { odd } else { usual }).collect();
        let [low, high, odd]: [Vec<f64>; 3] = [with(1.0, 1.0), with(1.3, 1.3), with(1.3, 0.0)];
        let classes: [(&[u64], &[f64]); 3] =
            [(&[6, 7, 8, 9, 10, 11], &low), (&[0, 1, 2, 4, 5], &high), (&[3], &odd)];
        let rank_3 = "Rank 3 differs from the others most in step 4 (0, the others 1.136), nine tenths of that in 1 of 8 \
                      steps: that makes no class.";
        assert_eq!(told(&[0; 12], &classes), [rank_3]);
        // What is a class now is told as one, also if it is the largest; rank 3 is one of its ranks.
        assert_eq!(told(&[0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1], &classes), [rank_3]);
        let alone = [[1; 6], [0; 6]].concat();
        assert_eq!(told(&alone, &classes), [rank_3]);
        assert!(told(&[1, 1, 1, 2, 1, 1, 0, 0, 0, 0, 0, 0], &classes).is_empty());
    }

    /// Nor is what the others do that which one of them did once.
    #[test]
    fn the_others_are_told_by_the_middle_one_where_one_is_far_from_all() {
        let with = |odd: f64| (0..8).map(|step| if step == 4 { odd } else { 1.0 }).collect();
        let [usual, more, much]: [Vec<f64>; 3] = [with(1.0), with(3.0), with(50.0)];
        let classes: [(&[u64], &[f64]); 3] = [(&[0, 1, 2, 3, 4, 5], &usual), (&[6], &more), (&[7], &much)];
        let texts = told(&[0; 8], &classes);
        let starts = [
            "Rank 6 differs from the others most in step 4 (3, the middle of the others 1), nine tenths of that in 1 of",
            "Rank 7 differs from the others most in step 4 (50, the others 1.286), nine tenths of that in 1 of 8",
        ];
        assert!(
            texts.len() == 2 && texts.iter().zip(starts).all(|(text, start)| text.starts_with(start)),
            "{texts:?}"
        );
    }

    #[test]
    fn few_steps_hold_what_is_done_beyond_the_usual() {
        let with = |usual: f64, odd: &[(usize, f64)]| {
            let mut apart = vec![usual; 12];
            odd.iter().for_each(|&(step, x)| apart[step] = x);
            apart
        };
        let few = |apart: Vec<f64>, more| few_more(&beyond_usual(&apart), more);
        assert_eq!(few(with(0.0, &[(3, 9.0)]), true), Some(1));
        // Beside what lasts.
        assert_eq!(few(with(-2.0, &[(3, 9.0), (4, 9.0)]), true), Some(2));
        assert_eq!(few(with(2.0, &[(3, -9.0)]), false), Some(1));
        // As much less elsewhere, and nothing at all.
        assert_eq!(few(with(0.0, &[(3, 9.0), (5, -9.0)]), true), None);
        assert_eq!(few(with(1.0, &[]), true), None);
    }
}
