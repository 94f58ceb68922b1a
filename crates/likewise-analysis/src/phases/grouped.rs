//! How the bursts of a run are grouped.

use super::grouping::{Grouped, group};
use super::options::{Grouping, Method};
use super::refining::refine_bursts;
use super::search::Search;
use crate::{Stages, Usage, Watch};
use anyhow::Result;
use likewise::bursts::{
    Direction, RefineInput, Threshold, cluster_by_place, filter_clusters, parallel_numbers, region_numbers,
};
use likewise::cluster::{Clustering, Points};
use likewise::table::{BurstTable, Prepared, Runs};
use likewise::words::counted;
use std::borrow::Cow;

/// How bursts are to be grouped.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) grouping: &'a Grouping,
    /// Refinement, instead of what `grouping` says.
    pub(super) refine: Option<Direction>,
    /// Refine where no density suggests itself, instead of an error.
    pub(super) or_refine: bool,
}

/// The threads of a run.
#[derive(Clone, Copy)]
pub(super) struct Threads<'a> {
    /// That of every burst.
    pub(super) of_burst: &'a Runs,
    pub(super) n: usize,
    /// CPUs of all nodes, where the trace names them.
    pub(super) cpus: Option<u32>,
}

impl Threads<'_> {
    /// How many may do the same step at once: no more than there are CPUs.
    fn at_once(self) -> usize {
        self.cpus.map_or(self.n, |cpus| self.n.min(cpus as usize))
    }
}

/// Groups the complete bursts, or refines them.
pub(super) fn grouped(
    table: &BurstTable,
    prepared: &Prepared,
    threads: Threads<'_>,
    how: How<'_>,
    search: &dyn Search,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Grouped> {
    if how.grouping.method == Some(Method::Places) {
        return by_place(table, prepared);
    }
    let direction = match how.refine {
        Some(direction) => direction,
        None => match group_bursts(table, prepared, how.grouping, search, stages, watch) {
            Err(_) if how.or_refine => Direction::Aggregative,
            grouped => return grouped,
        },
    };
    refined(table, prepared, threads, (direction, how.grouping), search, stages, watch)
}

/// Refines the complete bursts.
pub(super) fn refined(
    table: &BurstTable,
    prepared: &Prepared,
    threads: Threads<'_>,
    (direction, asked): (Direction, &Grouping),
    search: &dyn Search,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Grouped> {
    let thread = runs_of_complete(threads.of_burst, prepared);
    let duration = of_complete(&table.duration, prepared);
    let points = Points::new(&prepared.points, prepared.dims)?;
    let code = region_numbers(table, &prepared.complete);
    let apart = parallel_numbers(table, &prepared.complete);
    let input = RefineInput {
        points,
        thread: &thread,
        n_threads: threads.n,
        duration: &duration,
        code: &code,
        apart: &apart,
    };
    let limits = (prepared.farthest_alike(), threads.at_once());
    Ok(refine_bursts((&input, limits), direction, asked, search, stages, watch))
}

/// Bursts between the same two calls are a phase.
fn by_place(table: &BurstTable, prepared: &Prepared) -> Result<Grouped> {
    let mut grouped = Grouped::new(Method::Places, 1);
    grouped.clustering = cluster_by_place(table, &prepared.complete);
    if grouped.clustering.n_clusters == 0 {
        let why = "the trace does not tell between which calls its bursts lie, so there are no phases by \
                   --method places; leave it out";
        return Err(Usage(why.to_owned()).into());
    }
    Ok(grouped)
}

/// Groups the complete bursts as asked.
pub(super) fn group_bursts(
    table: &BurstTable,
    prepared: &Prepared,
    asked: &Grouping,
    search: &dyn Search,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Grouped> {
    let tasks = if asked.sample.is_some() { tasks_of_complete(table, prepared) } else { Vec::new() };
    group(Points::new(&prepared.points, prepared.dims)?, &tasks, asked, search, stages, watch)
}

/// Sorts the clusters by descending total time. Also returns the bursts of
/// clusters that are too small to be kept.
pub(super) fn ordered(
    clustering: Clustering,
    table: &BurstTable,
    prepared: &Prepared,
    threshold: Option<f64>,
) -> (Clustering, Vec<u32>) {
    let duration = |i: usize| table.duration[prepared.complete.at(i) as usize].0;
    let clustering = clustering.ordered_by(duration);
    match threshold.filter(|&share| share > 0.0) {
        Some(share) => {
            let kept: Threshold =
                filter_clusters(&clustering, (0..prepared.complete.len()).map(duration), share);
            (kept.clustering, kept.dropped)
        }
        None => (clustering, Vec::new()),
    }
}

/// Why no burst can be in a cluster, where there are fewer than make one.
pub(super) fn too_few(grouped: &Grouped, n: usize) -> Option<String> {
    let least = match grouped.method {
        Method::Dbscan => grouped.min_points,
        // Radii come from the distance to one more.
        Method::Refine => grouped.min_points.saturating_add(1),
        Method::Xmeans | Method::Places => 0,
    };
    let n_bursts = counted(n as u64, "burst");
    (n < least).then(|| format!("There are too few bursts for a phase ({n_bursts}; {least} are needed)."))
}

pub(super) fn too_small(dropped: &[u32]) -> Option<String> {
    let n = counted(dropped.len() as u64, "burst");
    (!dropped.is_empty()).then(|| format!("Clusters too small to be kept (threshold filter) hold {n}."))
}

/// What a column says of the complete bursts. Where these are all, it is not copied.
fn of_complete<'a, T: Copy>(column: &'a [T], prepared: &Prepared) -> Cow<'a, [T]> {
    if prepared.complete.len() == column.len() {
        return Cow::Borrowed(column);
    }
    Cow::Owned(prepared.complete.iter().map(|i| column[i as usize]).collect())
}

/// The same of runs.
fn runs_of_complete(column: &Runs, prepared: &Prepared) -> Runs {
    let mut of_complete = Runs::default();
    for (value, rows) in column.runs() {
        of_complete
            .push_run(value, prepared.complete.before(rows.end) - prepared.complete.before(rows.start));
    }
    of_complete
}

/// The application and task of each complete burst.
fn tasks_of_complete(table: &BurstTable, prepared: &Prepared) -> Vec<(u32, u32)> {
    let task = |i: u32| (table.app[i as usize], table.task[i as usize]);
    prepared.complete.iter().map(task).collect()
}
