//! Aggregative refinement: phases without parameters.
//!
//! `docs/refinement.md` shows what each rule is for, with figures.

mod aggregate;
mod divide;
mod moments;
mod partition;
mod range;
mod rules;
mod substitution;
#[cfg(test)]
mod tests;

use crate::cluster::{Clustering, Points};
use crate::table::Nanos;

use super::{Alignment, SpmdScore};

pub use range::{EpsRange, default_min_points, eps_range};
pub use rules::RefineRules;

/// Bursts as the refinement sees them.
#[derive(Clone, Copy, Debug)]
pub struct RefineInput<'a> {
    /// A point per burst.
    pub points: Points<'a>,
    /// Of each burst its thread, from 0. Bursts of a thread stand together, in
    /// the order of time.
    pub thread: &'a [u32],
    /// How many threads there are; some may have no burst here.
    pub n_threads: usize,
    /// How long each burst is.
    pub duration: &'a [Nanos],
    /// Of each burst the code it runs, by any number, or [`NO_CODE`]; empty
    /// where the trace does not tell.
    pub code: &'a [u32],
    /// Of each burst what it must keep to, by any number: bursts of two
    /// numbers are never one phase. Empty where any may be.
    pub apart: &'a [u32],
}

/// The code of a burst of which it is not known.
pub const NO_CODE: u32 = u32::MAX;

/// From where to where the radius goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the finest grouping to coarser ones: fragments join.
    Aggregative,
    /// From the coarsest grouping to finer ones: what is no single step of
    /// the program is taken apart.
    Divisive,
}

/// The phases of a run, and how they came about.
#[derive(Clone, Debug)]
pub struct Refinement {
    /// Each burst's phase, in the order of the nodes.
    pub clustering: Clustering,
    /// Of each phase, its node.
    pub node_of_phase: Vec<u32>,
    /// How the tasks' sequences of phases lie over one another.
    pub alignment: Alignment,
    /// How well they do.
    pub score: SpmdScore,
    /// The groupings on the way, one per radius.
    pub levels: Vec<Level>,
    /// All groups that ever were.
    pub nodes: Vec<Node>,
    /// Lists of phases that stand in for one another, each ascending: they are at
    /// the same steps, in different tasks or iterations. They may be two modes of
    /// one region, or its imbalance.
    pub alternatives: Vec<Vec<u32>>,
}

/// The grouping at one radius.
#[derive(Clone, Debug)]
pub struct Level {
    /// The radius.
    pub eps: f64,
    /// The Cluster Sequence Score.
    pub score: f64,
    /// How many groups there are.
    pub n_clusters: usize,
    /// The time of the bursts in none.
    pub noise: Nanos,
    /// Of each burst the node it is in, or [`NO_NODE`].
    pub node_of_burst: Vec<u32>,
}

/// The node of a burst that is in none.
pub const NO_NODE: u32 = u32::MAX;

/// A group of bursts. It may grow by bursts that were in none.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The level at which it first was.
    pub level: usize,
    /// The nodes of earlier levels that it is made of, or part of.
    pub parents: Vec<u32>,
    /// Its Score per Cluster when it last had bursts of its own.
    pub score: f64,
    /// How many bursts it had then.
    pub instances: u64,
    /// Their time.
    pub total: Nanos,
}

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
/// at the end one or two of all.
///
/// # Panics
/// If `thread` or `duration` is not as long as the points, or a thread is not
/// below `n_threads`.
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
/// use likewise::table::Nanos;
///
/// // Four threads run two steps in turn, with values about 0 and about 1.
/// let value = |i: u32| f64::from(i % 2) + f64::from(i * 7919 % 101) * 1e-3;
/// let (data, thread): (Vec<f64>, Vec<u32>) = (0..160).map(|i| (value(i), i / 40)).unzip();
/// let points = Points::new(&data, 1)?;
/// let duration = vec![Nanos(1000); 160];
/// let input = RefineInput { points, thread: &thread, n_threads: 4, duration: &duration, code: &[], apart: &[] };
/// let range = eps_range(points, 4, None)?;
/// let found = refine(&input, &range, Direction::Aggregative, &RefineRules::default());
/// assert_eq!(found.clustering.n_clusters, 2);
/// assert!(found.score.score > 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn refine(
    input: &RefineInput<'_>,
    range: &EpsRange,
    direction: Direction,
    rules: &RefineRules,
) -> Refinement {
    assert_eq!(input.points.len(), input.thread.len(), "a thread for every burst");
    assert_eq!(input.points.len(), input.duration.len(), "a duration for every burst");
    assert!(input.code.is_empty() || input.code.len() == input.points.len(), "the code of every burst");
    assert!(input.apart.is_empty() || input.apart.len() == input.points.len(), "a number for every burst");
    match direction {
        Direction::Aggregative => aggregate::aggregate(input, range, rules),
        Direction::Divisive => divide::divide(input, range, rules),
    }
}
