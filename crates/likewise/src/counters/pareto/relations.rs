//! Which of two records is better on which objective.

use super::objective::{Goal, Objective};

/// How one record compares with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Per objective whether the first is better; `None` where either lacks a
    /// value.
    pub better: Vec<Option<bool>>,
    /// What that makes of the two.
    pub dominance: Dominance,
}

/// What one record is to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dominance {
    /// At least as good on every objective, and better on one.
    Dominates,
    /// The other dominates it.
    Dominated,
    /// As good on every objective.
    Equal,
    /// Each is better on some objective.
    Neither,
    /// Either lacks an objective: nobody can say.
    Unknown,
}

/// Compares record `a` with record `b`.
///
/// # Panics
/// If an objective has no such record.
///
/// # Complexity
/// O(h) for h objectives.
///
/// # Reference
/// Malard, *A role for Pareto optimality in mining performance data*, 2005,
/// Table 4. There, too, a digit is 1 only where the first is strictly better.
///
/// # Example
/// ```
/// use likewise::counters::pareto::{Dominance, Goal, Objective, relation};
///
/// let (seconds, misses) = ([1.0, 3.0], [3.0, 3.0]);
/// let least = |values| Objective { values, goal: Goal::Min };
/// let found = relation(&[least(&seconds), least(&misses)], 0, 1);
/// assert_eq!(found.better, [Some(true), Some(false)]);
/// assert_eq!(found.dominance, Dominance::Dominates);
/// ```
#[must_use]
pub fn relation(objectives: &[Objective<'_>], a: usize, b: usize) -> Relation {
    let is_better = |x: f64, y: f64, goal: Goal| match goal {
        Goal::Max => x > y,
        Goal::Min => x < y,
    };
    let mut better = Vec::with_capacity(objectives.len());
    let (mut wins, mut losses) = (false, false);
    for Objective { values, goal } in objectives {
        let (x, y) = (values[a], values[b]);
        let known = !x.is_nan() && !y.is_nan();
        better.push(known.then(|| is_better(x, y, *goal)));
        wins |= is_better(x, y, *goal);
        losses |= is_better(y, x, *goal);
    }
    let dominance = match (wins, losses) {
        _ if better.iter().any(Option::is_none) => Dominance::Unknown,
        (true, false) => Dominance::Dominates,
        (false, true) => Dominance::Dominated,
        (false, false) => Dominance::Equal,
        (true, true) => Dominance::Neither,
    };
    Relation { better, dominance }
}
