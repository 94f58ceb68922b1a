//! What the efforts of a trace are of.

use super::eventless::with_events;
use super::options::{Options, Regions};
use crate::phases::{self, Analysis, phases_of};
use crate::watch::Hushed;
use crate::{Stages, Watch};
use anyhow::{Context, Result, anyhow, bail};
use likewise::bursts::Period;
use likewise::bursts::scaling::{AlikeBy, RunBursts, match_runs, phases_between};
use likewise::ranks::{
    EffortRegions, EffortTable, FromBurstsError, OwnSteps, effort_from_bursts, effort_in_own_steps, own_steps,
};
use likewise::table::{BurstTable, Moment, Nanos};
use likewise::words::{counted, percent};
use likewise_recording::ROUNDING;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// What bursts are in that are in no phase.
pub const OTHER: &str = "in no phase";

/// What a trace tells of the efforts of its ranks.
pub(super) struct OfTrace {
    pub(super) table: EffortTable,
    pub(super) notes: Vec<String>,
    /// Efforts are known within this factor; 1 where they are exact.
    pub(super) rounding: f64,
    /// The task of each rank, where some are left out; else none.
    pub(super) tasks: Vec<u32>,
}

/// The efforts of a trace, in each iteration of the run, and what is to be
/// known of them.
pub(super) fn efforts_of_trace(input: &Path, options: &Options, watch: &dyn Watch) -> Result<OfTrace> {
    // Phases are those of `bursts`; calls need none but for the period.
    let of_bursts = phases::Options {
        one_density: options.regions.is_some_and(|regions| regions != Regions::Phases),
        unaligned: true,
        between_mpi: true,
        ..options.phases.clone()
    };
    let analysis = phases_of(input, &of_bursts, &mut Stages::default(), &Hushed(watch))?;
    analysis.has_all_states()?;
    if analysis.endless {
        bail!(
            "{}: ranks cannot be compared: the chosen events have values and no ends, so bursts fill the time of each of \
             them, whatever it does. `likewise info --events` lists the types",
            analysis.input
        );
    }
    let (table, compared) = match analysis.settings.burst_events.is_empty() {
        true => (Cow::Borrowed(&analysis.table), None),
        false => with_events(&analysis.table, &analysis.input)?,
    };
    let mut notes = analysis.notes.clone();
    notes.extend(compared.iter().map(|compared| compared.note.clone()));
    // Where durations are drawn, phases by density are chance; the functions
    // that call before and after a burst are known. Lines, by which phases by
    // place go, are not taken: ranks take different ones for the same computation.
    let by_function = options.regions.is_none() && analysis.drawn_times && analysis.table.code.is_some();
    let regions = if by_function { Regions::Functions } else { options.regions.unwrap_or_default() };
    if by_function {
        notes.push(
            "Regions are the functions that call MPI before and after; --regions phases takes phases."
                .to_owned(),
        );
    }
    let boundaries = match &analysis.period().found {
        // Of a rank its sums are recorded; single steps would compare draws.
        _ if analysis.drawn_times => {
            notes.push(format!(
                "The whole run is one step: the recording has histograms, so what each rank took in one iteration \
                 is not known. What it took in all is rounded by up to {}; `likewise record --times all` rounds \
                 nothing.",
                percent(ROUNDING - 1.0)
            ));
            vec![Nanos(0), Nanos(analysis.end.0 + 1)]
        }
        Ok(period) => period.boundaries.clone(),
        Err(why) => {
            notes.push(format!("No iterations are known, so the whole run is one step: {why}."));
            vec![Nanos(0), Nanos(analysis.end.0 + 1)]
        }
    };
    let period = analysis.period().found.as_ref().ok().filter(|_| !analysis.drawn_times);
    let (efforts, own) = efforts((&analysis, &table), regions, &boundaries, period.is_some())
        .map_err(|error| match error {
            FromBurstsError::NoCode => {
                anyhow!("the trace does not say between which calls bursts lie; take --regions phases")
            }
            error => anyhow!(error),
        })
        .with_context(|| input.display().to_string())?;
    notes.extend(period.map(|period| match &own {
        Some(own) => in_own_steps(own),
        None => outside(period, analysis.begin..analysis.end),
    }));
    let rounding = if analysis.drawn_times { ROUNDING } else { 1.0 };
    let tasks = compared.map_or_else(Vec::new, |compared| compared.tasks);
    Ok(OfTrace { table: efforts, notes, rounding, tasks })
}

/// That ranks are compared by their own iterations.
fn in_own_steps(own: &OwnSteps) -> String {
    let n_steps = own.boundaries.first().map_or(0, Vec::len).saturating_sub(1);
    format!(
        "Ranks do not end their iterations together: over the run one falls behind the middle one, or gets ahead of it, \
         by {:.1} times what an iteration takes. So step n is the n-th iteration of each rank by itself, of {n_steps}, and no \
         time of the run; the last one, of which the end is not known, is not compared.",
        own.drift
    )
}

/// What part of the run the steps are.
fn outside(period: &Period, run: Range<Nanos>) -> String {
    let (from, to) = period.region();
    let whole = run.end.saturating_sub(run.start);
    let share = to.saturating_sub(from).0 as f64 / whole.0.max(1) as f64;
    format!(
        "{} from {} to {}, {} of a run of {whole}: what is outside of them is not compared.",
        counted(period.n_iterations() as u64, "step"),
        Moment(from),
        Moment(to),
        percent(share)
    )
}

/// The effort of every task of the table in every step and region; if there are iterations, in
/// those of each rank where ranks do not end theirs together.
fn efforts(
    (analysis, table): (&Analysis, &BurstTable),
    regions: Regions,
    boundaries: &[Nanos],
    is_repeated: bool,
) -> std::result::Result<(EffortTable, Option<OwnSteps>), FromBurstsError> {
    let named = (regions == Regions::Phases).then(|| phases(analysis));
    let regions = match (&named, regions) {
        (Some((labels, names)), _) => EffortRegions::Named(labels, names),
        (None, Regions::Calls) => EffortRegions::Calls,
        (None, _) => EffortRegions::Functions,
    };
    let own = if is_repeated { own_steps(table, regions, boundaries) } else { None };
    let efforts = match &own {
        Some(own) => effort_in_own_steps(table, regions, &own.boundaries),
        None => effort_from_bursts(table, regions, boundaries),
    };
    Ok((efforts?, own))
}

/// As a serial phase is nearly all of its time alone (`bursts::serial`).
const NEARLY_ALL: f64 = 0.9;

/// If a burst of a cluster takes this many times as long as those of another
/// region, or this many times less, it does other work.
const OTHER_WORK: f64 = 4.0;

/// Mean time of the bursts of each region's own clusters, in ns.
fn mean_times(analysis: &Analysis, own: &[Vec<usize>]) -> Vec<f64> {
    let of = |region: &Vec<usize>| {
        let stats = region.iter().map(|&cluster| &analysis.stats[cluster]);
        let (time, n) =
            stats.fold((0.0, 0.0), |sum, s| (sum.0 + s.total.0 as f64, sum.1 + s.instances as f64));
        time / n
    };
    own.iter().map(of).collect()
}

/// The region of every burst, and the names of the regions.
///
/// The same computation may be a phase of its own on ranks that run it more
/// slowly, or noise. What is the same step of the program is told by the
/// order of the bursts: clusters that stand at the same places of it are one
/// region.
fn phases(analysis: &Analysis) -> (Vec<Option<u32>>, Vec<String>) {
    let (complete, clustering) = (&analysis.prepared.complete, &analysis.grouped.clustering);
    let run = RunBursts { table: &analysis.table, complete, clustering };
    let matched = match_runs(&[run]);
    // How many bursts of each cluster a region has.
    let mut counts = vec![vec![0u64; clustering.n_clusters]; matched.phases.len()];
    let of_complete = &matched.phase_of[0];
    for (region, label) in of_complete.iter().zip(&clustering.labels) {
        if let (Some(region), Some(id)) = (region, label) {
            counts[*region as usize][id.index()] += 1;
        }
    }
    // A region is named by the clusters that are mostly its own. If nearly all
    // of a cluster is in a region, all of it is: the places of the few other
    // bursts are wrong.
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); counts.len()];
    let mut whole: Vec<Option<usize>> = vec![None; clustering.n_clusters];
    for cluster in 0..clustering.n_clusters {
        // The first of equal ones: `max_by_key` takes the last.
        let most = (0..counts.len()).rev().max_by_key(|&region| counts[region][cluster]);
        if let Some(region) = most.filter(|&region| counts[region][cluster] > 0) {
            own[region].push(cluster);
            let all: u64 = counts.iter().map(|of_region| of_region[cluster]).sum();
            whole[cluster] =
                Some(region).filter(|_| counts[region][cluster] as f64 >= NEARLY_ALL * all as f64);
        }
    }
    let means = mean_times(analysis, &own);
    let mut order: Vec<usize> = (0..own.len()).filter(|&region| !own[region].is_empty()).collect();
    order.sort_by_key(|&region| own[region][0]);
    let mut place = vec![None; own.len()];
    order.iter().enumerate().for_each(|(to, &from)| place[from] = Some(to as u32));
    let mut of_burst = vec![None; complete.len()];
    let bursts = complete.iter().zip(of_complete).zip(&clustering.labels);
    for (known, ((burst, region), label)) in of_burst.iter_mut().zip(bursts) {
        // A burst without a place goes where most of its cluster is.
        let of_cluster = || label.and_then(|id| (0..own.len()).find(|&r| own[r].contains(&id.index())));
        let is_alike = |region: &usize| {
            let times = analysis.table.duration[burst as usize].0 as f64 / means[*region];
            label.is_none() || (1.0 / OTHER_WORK..=OTHER_WORK).contains(&times)
        };
        let of_place = || region.map(|r| r as usize).filter(is_alike).or_else(of_cluster);
        *known = label.and_then(|id| whole[id.index()]).or_else(of_place).and_then(|region| place[region]);
    }
    // A step of a few ranks, or one that is noise once in a while.
    for (burst, region) in phases_between(&run, &of_burst, AlikeBy::Length) {
        of_burst[burst as usize] = Some(region);
    }
    let other = order.len() as u32;
    let mut labels = vec![Some(other); analysis.table.len()];
    for (burst, region) in complete.iter().zip(of_burst) {
        labels[burst as usize] = Some(region.unwrap_or(other));
    }
    (labels, order.iter().map(|&region| name_of(&own[region])).chain([OTHER.to_owned()]).collect())
}

/// A region by its clusters.
fn name_of(clusters: &[usize]) -> String {
    match clusters {
        [only] => format!("phase {}", only + 1),
        several => {
            let numbers: Vec<String> = several.iter().map(|c| (c + 1).to_string()).collect();
            format!("phases {}", numbers.join(", "))
        }
    }
}
