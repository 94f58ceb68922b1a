//! What the efforts of a trace are of.

use super::eventless::with_events;
use super::options::{Options, Regions};
use crate::phases::{self, Analysis, phases_of};
use crate::watch::Hushed;
use crate::{Stages, Watch};
use anyhow::{Context, Result, anyhow, bail};
use likewise::bursts::scaling::{AlikeBy, RunBursts, match_runs, phases_between};
use likewise::bursts::{BurstLabel, Period, stand_ins};
use likewise::cluster::ClusterId;
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
    let mut named = (regions == Regions::Phases).then(|| phases(&analysis));
    if let Some((labels, names)) = &mut named
        && let Some(note) = apart_uncounted(&analysis, (labels, names), options.alike)
    {
        notes.push(note);
        // What is known of all ranks alike is how long they compute.
        labels.fill(Some(0));
        *names = vec!["in all bursts".to_owned()];
    }
    let (efforts, own) = efforts(&table, (regions, named.as_ref()), &boundaries, period.is_some())
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
    table: &BurstTable,
    (regions, named): (Regions, Option<&Phases>),
    boundaries: &[Nanos],
    is_repeated: bool,
) -> std::result::Result<(EffortTable, Option<OwnSteps>), FromBurstsError> {
    let regions = match (named, regions) {
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

/// The region of every burst, and the names of the regions.
type Phases = (Vec<Option<u32>>, Vec<String>);

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
fn phases(analysis: &Analysis) -> Phases {
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
    stand_in(analysis, &mut labels, other);
    (labels, order.iter().map(|&region| name_of(&own[region])).chain([OTHER.to_owned()]).collect())
}

/// Gives bursts without counters the region that their rank lacks; else they are in `other`.
fn stand_in(analysis: &Analysis, labels: &mut [Option<u32>], other: u32) {
    let region = |label: &Option<u32>| label.filter(|&region| region != other);
    let known: Vec<Option<ClusterId>> = labels
        .iter()
        .map(|label| region(label).map(|region| ClusterId::from_index(region as usize)))
        .collect();
    let run = Nanos(0)..Nanos(analysis.end.0.saturating_add(1));
    let from = analysis.prepared.min_duration;
    let found = stand_ins(&analysis.table, &known, |i| is_uncounted(analysis, i), (from, &run));
    for (label, found) in labels.iter_mut().zip(found) {
        *label = found.map(|id| id.index() as u32).or(*label);
    }
}

/// Whether a burst lacks the counters that tell its phase.
fn is_uncounted(analysis: &Analysis, burst: usize) -> bool {
    analysis.labels[burst] == BurstLabel::Missing
}

/// That some ranks have more of their time than others in bursts without counters, of which nothing
/// tells the phase, by more than what ranks that are `alike` may differ by: their regions cannot be
/// compared then.
fn apart_uncounted(
    analysis: &Analysis,
    (labels, names): (&[Option<u32>], &[String]),
    alike: f64,
) -> Option<String> {
    let other = names.len() as u32 - 1;
    let table = &analysis.table;
    let shares = table.tasks().map(|((_, task), bursts)| {
        let time = |is_one: &dyn Fn(usize) -> bool| {
            bursts.clone().filter(|&i| is_one(i)).map(|i| table.duration[i].0 as f64).sum::<f64>()
        };
        let unknown = time(&|i| labels[i] == Some(other) && is_uncounted(analysis, i));
        (task, unknown / time(&|_| true).max(1.0))
    });
    let shares: Vec<(u32, f64)> = shares.collect();
    let least = shares.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = shares.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (most.1 - least.1 > alike).then(|| {
        format!(
            "What ranks do in single phases cannot be compared: counters are missing in {} of the computing time of task \
             {}, and in {} of that of task {}, so which phase that is cannot be told. Compared is how long ranks compute \
             in all.",
            percent(most.1),
            most.0,
            percent(least.1),
            least.0
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use likewise::bursts::BurstLabel;
    use std::fmt::Write as _;

    /// 8 tasks in 20 steps of two phases; of some bursts there are no counters. What their efforts are
    /// of, and the note on counters.
    fn regions(has_none: fn(u32, u32, u32) -> bool) -> (Vec<String>, bool) {
        let mut text = String::from("task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n");
        for (task, step, phase) in
            (1..9).flat_map(|task| (0..20).flat_map(move |step| [0, 1].map(|phase| (task, step, phase))))
        {
            let begin = 20_000_000 * u64::from(step) + 10_000_000 * u64::from(phase);
            // By up to 2 % apart.
            let mut seed = u64::from(1_000 * step + 10 * task + phase);
            let mut about = |mean: u64| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                mean + (mean / 50) * (seed >> 54) / 1_024
            };
            let [time, work, cycles] =
                [[4_000_000, 9_000_000, 12_000_000], [6_000_000, 36_000_000, 18_000_000]][phase as usize]
                    .map(&mut about);
            let counters =
                if has_none(task, step, phase) { ",".to_owned() } else { format!("{work},{cycles}") };
            let _ = writeln!(text, "{task},1,{begin},{time},{counters}");
        }
        let dir = tempfile::tempdir().expect("a place for files");
        let table = dir.path().join("bursts.csv");
        std::fs::write(&table, text).expect("a file");
        let analysis =
            phases_of(&table, &phases::Options::default(), &mut Stages::default(), &Silent).expect("a table");
        let (labels, names) = phases(&analysis);
        let note = apart_uncounted(&analysis, (&labels, &names), 0.05);
        assert_eq!(analysis.labels.contains(&BurstLabel::Missing), (1..9).any(|task| has_none(task, 0, 1)));
        let found = labels.iter().map(|label| names[label.expect("all have one") as usize].clone());
        (found.collect::<std::collections::BTreeSet<_>>().into_iter().collect(), note.is_some())
    }

    /// "Class 3, ranks 3, 9, 11 …, differs most in bursts of no phase: 15.1 ms" was told of ranks whose
    /// bursts have no counters.
    #[test]
    fn ranks_without_counters_make_no_class() {
        let are_known = |has_none| {
            let (names, is_told) = regions(has_none);
            !is_told && !names.contains(&OTHER.to_owned())
        };
        assert!(are_known(|_, _, _| false));
        // Of two tasks, a phase has none, or all that they do: they do what the others do.
        assert!(are_known(|task, _, phase| task > 6 && phase == 1));
        assert!(are_known(|task, _, _| task > 6));
        // Of a half, nothing tells what they do.
        let (names, is_told) = regions(|task, _, _| task > 4);
        assert!(is_told && names.contains(&OTHER.to_owned()), "{names:?}");
    }
}
