//! Aggregative refinement: phases without parameters.
//!
//! `docs/refinement.md` shows what each rule is for, with figures.

mod aggregate;
mod columns;
mod density;
mod divide;
mod far;
mod levels;
mod moments;
mod nearest;
mod partition;
mod range;
mod rules;
mod step;
mod substitution;
#[cfg(test)]
mod tests;

pub use levels::{Direction, Level, NO_CODE, NO_COHORT, NO_NODE, Node, RefineInput, Refinement};

pub use range::{EpsRange, default_min_points, eps_range};
pub use rules::RefineRules;

use crate::cluster::{Along, ClusterId, DbscanParams, dbscan};

/// Finds phases at all densities, with no parameter but how many bursts make
/// a group.
///
/// DBSCAN runs with one radius after the other from `range`. Aggregative: groups
/// that a larger radius connects become one only if something speaks for it:
///
/// - they **stand in for one another** (in one column of the alignment some tasks
///   show the one, and others the other),
/// - they **come between the same neighbours**, or
/// - they **run the same code**, each in at least half of their bursts; or
/// - their **values overlap**;
///
/// and only if they do not take turns in columns of their own, and the radius is
/// not far above the distances within them. So two steps that every task runs
/// stay two, however near they are, while the fragments of one phase join. The
/// last radius only joins groups, and adds no burst. At the end, a group that no
/// task shows twice joins the group that runs the same code at the same step.
///
/// # Complexity
/// Per radius, DBSCAN and one or two alignments of the
/// sequences of at most 32 tasks ([`align_by_duration`](super::align_by_duration));
/// at the end one or two of all. Where tasks do the same, all but DBSCAN is linear
/// in the bursts, and so is DBSCAN of tight phases. All radii together keep four
/// bytes for each burst.
///
/// # Panics
/// If `thread` or `duration` is not as long as the points, a thread is not
/// below `n_threads`, or there are more than 65,535 radii.
///
/// # Reference
/// *Structure detection of parallel applications*, §3; radii and `min_points` as ClusteringSuite's `-ra`.
/// Differs: there, all that a larger radius connects becomes one, groups of score
/// 1 are left alone from then on, and at the end groups of one column become one,
/// however far apart they are. Here a join must show in the alignment, and groups
/// of one column are reported as [`Refinement::alternatives`]: two modes of a
/// phase are worth knowing.
///
/// # Example
/// ```
/// use likewise::bursts::{Direction, RefineInput, RefineRules, eps_range, refine};
/// use likewise::cluster::Points;
/// use likewise::table::{Nanos, Runs};
///
/// // Four threads run two steps in turn, with values about 0 and about 1.
/// let value = |i: u32| f64::from(i % 2) + f64::from(i * 7919 % 101) * 1e-3;
/// let data: Vec<f64> = (0..160).map(value).collect();
/// let thread: Runs = (0..160).map(|i| i / 40).collect();
/// let points = Points::new(&data, 1)?;
/// let duration = vec![Nanos(1000); 160];
/// let input = RefineInput { points, thread: &thread, n_threads: 4, duration: &duration, code: &[], apart: &[] };
/// let range = eps_range(points, &duration, 4, None)?;
/// let found = refine(&input, range, Direction::Aggregative, &RefineRules::default());
/// assert_eq!(found.clustering.n_clusters, 2);
/// assert!(found.score.score > 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn refine(
    input: &RefineInput<'_>,
    range: EpsRange,
    direction: Direction,
    rules: &RefineRules,
) -> Refinement {
    let along = Along::of(input.points);
    refine_by(input, &along, range, direction, rules, &|params| {
        dbscan(input.points, params).clustering.labels
    })
}

/// Labels all points of the input by [`dbscan`].
pub type Connect<'a> = &'a (dyn Fn(&DbscanParams) -> Vec<Option<ClusterId>> + Sync);

/// As [`refine`], where `connect` finds what a radius connects: the points may be
/// spread over processes; divisive refinement does not ask `connect`. `along` has the same points.
///
/// # Panics
/// As [`refine`].
#[must_use]
pub fn refine_by(
    input: &RefineInput<'_>,
    along: &Along<'_>,
    range: EpsRange,
    direction: Direction,
    rules: &RefineRules,
    connect: Connect<'_>,
) -> Refinement {
    assert_eq!(input.points.len(), input.thread.len(), "a thread for every burst");
    assert_eq!(input.points.len(), input.duration.len(), "a duration for every burst");
    assert!(input.code.is_empty() || input.code.len() == input.points.len(), "the code of every burst");
    assert!(input.apart.is_empty() || input.apart.len() == input.points.len(), "a number for every burst");
    match direction {
        Direction::Aggregative => aggregate::aggregate(input, along, range, rules, connect),
        Direction::Divisive => divide::divide(input, along, &range, rules),
    }
}
