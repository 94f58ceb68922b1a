//! Which records cannot be improved on all accounts, and how far the others
//! are from those.
//!
//! A record **dominates** another if it is at least as good on every objective
//! and better on one. Records that lack an objective are comparable with none:
//! they have no rank, and nobody's rank depends on them.

mod many;
mod objective;
mod prepare;
mod relations;
#[cfg(test)]
mod tests;
mod three;
mod two;

pub use objective::{Goal, Objective, ParetoError};
use prepare::Ranked;
pub use relations::{Dominance, Relation, relation};

/// Goldberg's rank of each record: 0 of those that no other dominates, and
/// k + 1 of those that no other would if all of rank up to k were gone.
/// Nothing where a value is missing.
///
/// # Errors
/// [`ParetoError`].
///
/// # Complexity
/// n records, F ranks. One or two objectives: O(n log n). Three:
/// O(n log n log F). More, h: O(n² h) at worst, but a few instructions compare
/// thirty-two records at once, and most comparisons end after few objectives;
/// O(n h) memory.
///
/// # Reference
/// Goldberg, *Genetic Algorithms in Search, Optimization and Machine
/// Learning*, 1989; as used by Malard, *A role for Pareto optimality in mining
/// performance data*, 2005, §2.2. The search among fronts: Zhang et al., *IEEE
/// TEVC* 19(2), 2015 (ENS-BS), with Jensen's (*IEEE TEVC* 7(5), 2003) order of
/// fronts by their last record in two objectives, and staircases in three.
///
/// # Example
/// ```
/// use likewise::counters::pareto::{Goal, Objective, goldberg};
///
/// let (seconds, misses) = ([1.0, 2.0, 3.0, 2.0], [3.0, 1.0, 3.0, f64::NAN]);
/// let least = |values| Objective { values, goal: Goal::Min };
/// // Two records that none dominates, one that both do, and one that lacks a value.
/// assert_eq!(goldberg(&[least(&seconds), least(&misses)])?, [Some(0), Some(0), Some(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn goldberg(objectives: &[Objective<'_>]) -> Result<Vec<Option<u32>>, ParetoError> {
    let n = check(objectives)?;
    if let [a] | [a, _] = objectives {
        return Ok(two::goldberg(n, a, objectives.last().unwrap_or(a)));
    }
    let ranked = Ranked::new(n, objectives);
    let ranks = if objectives.len() == 3 { three::goldberg(&ranked) } else { many::goldberg(&ranked) };
    Ok(ranked.spread(&ranks))
}

/// How many records dominate each record. Nothing where a value is missing.
///
/// # Errors
/// [`ParetoError`].
///
/// # Complexity
/// One or two objectives: O(n log n). h of them: O(n² h) at worst, as
/// [`goldberg`].
///
/// # Reference
/// Fonseca & Fleming, *Proc. ICGA*, 1993. Differs: they count from 1.
///
/// # Example
/// ```
/// use likewise::counters::pareto::{Goal, Objective, fonseca_fleming};
///
/// let (seconds, misses) = ([1.0, 2.0, 3.0, 2.0], [3.0, 1.0, 3.0, f64::NAN]);
/// let least = |values| Objective { values, goal: Goal::Min };
/// assert_eq!(fonseca_fleming(&[least(&seconds), least(&misses)])?, [Some(0), Some(0), Some(2), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fonseca_fleming(objectives: &[Objective<'_>]) -> Result<Vec<Option<u32>>, ParetoError> {
    let n = check(objectives)?;
    if let [a] | [a, _] = objectives {
        return Ok(two::dominators(n, a, objectives.last().unwrap_or(a)));
    }
    let ranked = Ranked::new(n, objectives);
    Ok(ranked.spread(&many::dominators(&ranked)))
}

/// The number of records.
fn check(objectives: &[Objective<'_>]) -> Result<usize, ParetoError> {
    let expected = objectives.first().ok_or(ParetoError::NoObjective)?.values.len();
    for (objective, Objective { values, .. }) in objectives.iter().enumerate() {
        if values.len() != expected {
            return Err(ParetoError::Lengths { objective, len: values.len(), expected });
        }
    }
    if expected >= u32::MAX as usize {
        return Err(ParetoError::TooMany(expected));
    }
    Ok(expected)
}
