//! What ranks do differently in a few steps: that makes no class.

use super::find::Figures;
use super::report::{RanksReport, in_region};
use super::settle::{NAMED, Passing};
use super::verdict::few_of;
use likewise::ranks::Moments;
use likewise::words::{capital, counted};

impl RanksReport {
    /// What ranks did in a few steps, of classes that do not last.
    pub(super) fn passing_texts(&self, passing: &Passing) -> Vec<String> {
        // What is a class of its own now is told as one.
        let is_told = |ranks: &[u64]| ranks.iter().any(|&rank| self.class_of[rank as usize] > 0);
        let classes = passing.classes.iter().filter(|(_, ranks)| !is_told(ranks));
        classes.filter_map(|(class, ranks)| self.passing_text(&passing.figures, *class, ranks)).collect()
    }

    fn passing_text(&self, figures: &Figures, c: usize, ranks: &[u64]) -> Option<String> {
        let classes = &figures.classes;
        let others = |j: usize| {
            let of = |(i, m): (usize, &Moments)| {
                if i == c { (0.0, 0.0) } else { (m.n_ranks as f64 * m.mean[j], m.n_ranks as f64) }
            };
            let (sum, n) = classes.iter().enumerate().map(of).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            sum / n
        };
        let differences = (0..classes[c].mean.len()).map(|j| (j, classes[c].mean[j], others(j)));
        let (j, own, others_at) =
            differences.reduce(|a, b| if (b.1 - b.2).abs() > (a.1 - a.2).abs() { b } else { a })?;
        let (region, step) = (j / self.n_steps, j % self.n_steps);
        // If the steps beside it or other regions make up for it, a burst only
        // fell on the other side of a boundary, or into another phase.
        let beside = step.saturating_sub(1)..(step + 2).min(self.n_steps);
        let numbers = (0..classes[c].mean.len()).filter(|j| beside.contains(&(j % self.n_steps)));
        let around: f64 = numbers.map(|j| classes[c].mean[j] - others(j)).sum();
        // At the ends, what is missing may be outside of the steps.
        let is_outside = own < others_at && (step == 0 || step + 1 == self.n_steps);
        if is_outside || 2.0 * around.abs() < (own - others_at).abs() {
            return None;
        }
        // What is said of several ranks must hold for each of them.
        let nearest = if own > others_at { classes[c].least[j] } else { classes[c].most[j] };
        if 2.0 * (nearest - others_at) / (own - others_at) < 1.0 {
            return None;
        }
        let steps = region * self.n_steps..(region + 1) * self.n_steps;
        let few = few_more(steps.map(|j| classes[c].mean[j] - others(j)).collect(), own > others_at)?;
        let who = match ranks.len() as u64 {
            n if n > NAMED => counted(classes[c].n_ranks, "rank"),
            _ => self.ranks_text(ranks),
        };
        Some(format!(
            "{} differ{} from the others most in step {step}{} ({}, the others {}), nine tenths of that in {few} \
             of {} steps: that makes no class.",
            capital(&who),
            if ranks.len() == 1 { "s" } else { "" },
            self.region(region).map_or_else(String::new, in_region),
            self.effort(own),
            self.effort(others_at),
            self.n_steps
        ))
    }
}

/// In how few steps ranks do nine tenths of what they do more (or less) than usual;
/// `apart` has by how much they differ from others in each step. `None` if it is half of
/// the steps or more, or if what they do less in other steps is more than a third of it.
fn few_more(apart: Vec<f64>, more: bool) -> Option<usize> {
    let mut sorted = apart.clone();
    sorted.sort_by(f64::total_cmp);
    let usual = likewise::median::lower(&sorted)?;
    let beyond = apart.into_iter().map(|x| if more { x - usual } else { usual - x });
    let [sum, both] = beyond.clone().fold([0.0; 2], |[sum, both], x| [sum + x, both + x.abs()]);
    few_of(beyond).filter(|_| 2.0 * sum >= both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_steps_hold_what_is_done_beyond_the_usual() {
        let with = |usual: f64, odd: &[(usize, f64)]| {
            let mut apart = vec![usual; 12];
            odd.iter().for_each(|&(step, x)| apart[step] = x);
            apart
        };
        assert_eq!(few_more(with(0.0, &[(3, 9.0)]), true), Some(1));
        // Beside what lasts.
        assert_eq!(few_more(with(-2.0, &[(3, 9.0), (4, 9.0)]), true), Some(2));
        assert_eq!(few_more(with(2.0, &[(3, -9.0)]), false), Some(1));
        // As much less elsewhere, and nothing at all.
        assert_eq!(few_more(with(0.0, &[(3, 9.0), (5, -9.0)]), true), None);
        assert_eq!(few_more(with(1.0, &[]), true), None);
    }
}
