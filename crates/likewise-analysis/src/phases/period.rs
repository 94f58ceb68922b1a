//! Whether the analysed run repeats itself.

use super::grouped::{Threads, group_bursts, ordered, refined};
use super::grouping::Grouped;
use super::options::{Grouping, Method};
use super::search::{Here, Search};
use super::structure::of_all_bursts;
use super::{Labelled, Settings};
use crate::{Silent, Stages};
use anyhow::Result;
use likewise::bursts::scaling::{AlikeBy, RunBursts, phases_between};
use likewise::bursts::{
    Direction, NotPeriodic, Period, cluster_by_place, find_period, find_period_in_order, is_nearly_all,
};
use likewise::cluster::{ClusterId, Clustering, Points};
use likewise::table::{BurstTable, Prepared, Rows};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// What was looked at to see whether a run repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SoughtIn {
    /// Phases: bursts that are alike.
    Phases,
    /// Places: bursts between the same two calls.
    Places,
    /// Parallel functions of an OpenMP program.
    Functions,
}

impl SoughtIn {
    /// What these are, for people.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::Phases => "phases",
            Self::Places => "the order of calls on each thread",
            Self::Functions => "the order of parallel functions on each thread",
        }
    }

    /// A word for programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Phases => "phases",
            Self::Places => "places",
            Self::Functions => "functions",
        }
    }
}

/// The period of a run, and what it was looked for in.
#[derive(Clone, Debug)]
pub struct PeriodSearch {
    /// The period, or why there is none.
    pub found: Result<Period, NotPeriodic>,
    /// What it was looked for in.
    pub sought_in: SoughtIn,
    /// The phase or place of every burst; noise, filtered bursts and those of
    /// which no place is known have none.
    ///
    /// Phases are those of one density. A refinement may make so many phases
    /// that no two iterations have the same ones. So if the analysis refined,
    /// its bursts are grouped again by DBSCAN at the suggested eps. If no eps
    /// suggests itself, as among few bursts, the phases of the refinement
    /// serve. They do too where one density makes one phase of several, so that
    /// what would be an iteration is a part of one; and where their iterations are
    /// more alike, for one density may leave out what happens once in each
    /// iteration. All commands ask here, and so find the same period.
    pub labels: Vec<Option<ClusterId>>,
}

impl PeriodSearch {
    /// Phases are asked first, as they also tell apart what one place does in
    /// turn; then places, where the trace has them: their order is the
    /// program's own and holds where durations vary too much for phases. Where
    /// durations were drawn, a burst's phase is chance and its place is not, so
    /// only places are asked; and where phases are places anyway.
    pub(super) fn of(labelled: &Labelled) -> Self {
        Self::among(&Sought::of(labelled), labelled.take_at_one_density())
    }

    /// The same among these; with the phases of one density, where bursts were refined.
    pub(super) fn among(sought: &Sought<'_>, at_one_density: Option<Clustering>) -> Self {
        let Sought { table, complete, clustering, only_places, are_drawn, is_refined, may_refine } = *sought;
        if only_places && let Some(by_place) = Self::by_place(table, are_drawn) {
            return by_place;
        }
        if let Some(by_function) = Self::by_function(table, are_drawn) {
            return by_function;
        }
        let labels = |clustering: &Clustering| Labels::of(table, complete, clustering);
        let of = |clustering| Self::by_phase(table, labels(clustering));
        // What is grouped for this alone is gone once its labels are known: both take memory.
        let of_own = |own: Clustering| {
            let labels = labels(&own);
            drop(own);
            labels
        };
        let by_phase = if is_refined {
            match at_one_density.map(of_own) {
                Some(one_density) => {
                    let has_all = one_density.has_nearly_all_of(clustering, table, complete);
                    let found = Self::by_phase(table, one_density);
                    let phases = of_all_bursts(table, complete, clustering);
                    let has_whole = |found: &Self| {
                        found.found.as_ref().map_or(true, |period| !has_parts(period, table, &phases))
                    };
                    if has_whole(&found) {
                        found.or_better(has_all, || Some(of(clustering)))
                    } else {
                        let mut refined = of(clustering);
                        if !has_whole(&refined) {
                            refined.found = Err(NotPeriodic::NothingRepeats);
                        }
                        refined
                    }
                }
                None => of(clustering),
            }
        } else if let Some(labelled) = may_refine {
            let refined = || Some(Self::by_phase(table, of_own(labelled.refined_phases().ok()?)));
            of(clustering).or_better(true, refined)
        } else {
            of(clustering)
        };
        if by_phase.found.is_ok() {
            return by_phase;
        }
        let by_place = if is_parallel(table) { None } else { Self::by_place(table, are_drawn) };
        by_place.filter(|by_place| by_place.found.is_ok()).unwrap_or(by_phase)
    }

    fn by_phase(table: &BurstTable, labels: Labels) -> Self {
        let Labels { mut of_bursts, between } = labels;
        between.iter().for_each(|&(i, phase)| of_bursts[i as usize] = Some(phase));
        let found = find_period(table, &of_bursts);
        between.iter().for_each(|&(i, _)| of_bursts[i as usize] = None);
        Self { found, sought_in: SoughtIn::Phases, labels: of_bursts }
    }

    /// Another search, if the iterations of this one are not nearly equal or its phases do not
    /// have nearly all of what the others have, and if those of the other are more alike and
    /// explain about as much.
    fn or_better(self, has_all: bool, other: impl FnOnce() -> Option<Self>) -> Self {
        if has_all && self.found.as_ref().is_ok_and(Period::is_nearly_equal) {
            return self;
        }
        let is_better = |other: &Self| match (&other.found, &self.found) {
            (Ok(other), Ok(own)) => other.is_better_than(own),
            (other, _) => other.is_ok(),
        };
        other().filter(is_better).unwrap_or(self)
    }

    /// By the order of parallel functions, of an OpenMP program in which that shows.
    fn by_function(table: &BurstTable, are_drawn: bool) -> Option<Self> {
        let by_place = is_parallel(table).then(|| Self::by_place(table, are_drawn)).flatten()?;
        let is_shown = has_more_than_one(by_place.found.as_ref().ok()?, table, &by_place.labels);
        is_shown.then_some(Self { sought_in: SoughtIn::Functions, ..by_place })
    }

    /// `None` where the trace names no places.
    fn by_place(table: &BurstTable, are_drawn: bool) -> Option<Self> {
        let labels = places(table)?;
        Some(Self {
            found: find_period_in_order(table, &labels, are_drawn),
            sought_in: SoughtIn::Places,
            labels,
        })
    }

    /// The phase of the analysis in which bursts of the period's anchor spend
    /// most time, the first of equal ones.
    pub(super) fn first_phase(
        &self,
        table: &BurstTable,
        complete: &Rows,
        clustering: &Clustering,
    ) -> Option<u32> {
        let anchor = self.found.as_ref().ok()?.anchor;
        let mut time = vec![0u64; clustering.n_clusters];
        for (i, own) in complete.iter().map(|i| i as usize).zip(&clustering.labels) {
            if let Some(own) = own.filter(|_| self.labels[i] == Some(anchor)) {
                time[own.index()] = time[own.index()].saturating_add(table.duration[i].0);
            }
        }
        // `max_by_key` takes the last of equal ones; reversed, the first.
        let most = (0..time.len()).rev().max_by_key(|&c| time[c]).filter(|&c| time[c] > 0)?;
        Some(ClusterId::from_index(most).number())
    }
}

/// All that the period of a run is sought in, but for the phases of one density.
#[derive(Clone, Copy)]
pub(super) struct Sought<'a> {
    pub(super) table: &'a BurstTable,
    /// The bursts that are labelled.
    pub(super) complete: &'a Rows,
    pub(super) clustering: &'a Clustering,
    pub(super) only_places: bool,
    /// Whether durations are drawn from histograms.
    pub(super) are_drawn: bool,
    /// Whether `clustering` comes from a refinement.
    pub(super) is_refined: bool,
    /// The bursts, where these may be refined, and are not.
    pub(super) may_refine: Option<&'a Labelled>,
}

impl<'a> Sought<'a> {
    pub(super) fn of(labelled: &'a Labelled) -> Self {
        let Labelled { table, prepared, grouped, drawn_times, left, .. } = labelled;
        Self {
            table,
            complete: &prepared.complete,
            clustering: &grouped.clustering,
            are_drawn: *drawn_times,
            only_places: *drawn_times || grouped.method == Method::Places,
            is_refined: grouped.method == Method::Refine,
            may_refine: left.or_refine.then_some(labelled),
        }
    }
}

impl Labelled {
    /// Who seeks the period takes the phases of one density: they take memory.
    pub(super) fn take_at_one_density(&self) -> Option<Clustering> {
        self.left.at_one_density.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The phases that a refinement finds, where bursts were grouped at one density.
    fn refined_phases(&self) -> Result<Clustering> {
        let Self { table, prepared, settings, burst_row, rows, traced, .. } = self;
        let threads = Threads { of_burst: burst_row, n: rows.len(), cpus: traced.cpus };
        let asked = (Direction::Aggregative, &settings.grouping);
        let grouped = refined(table, prepared, threads, asked, &Here, &mut Stages::default(), &Silent)?;
        Ok(ordered(grouped.clustering, table, prepared, settings.min_share).0)
    }
}

/// Phases in which a period is sought.
struct Labels {
    /// The phase of every burst.
    of_bursts: Vec<Option<ClusterId>>,
    /// Bursts in no phase, each with the phase that its thread has otherwise where it stands. They
    /// are of it while the period is sought: without them an iteration is shorter, and unlike the
    /// others.
    between: Vec<(u32, ClusterId)>,
}

impl Labels {
    fn of(table: &BurstTable, complete: &Rows, clustering: &Clustering) -> Self {
        let phases: Vec<Option<u32>> =
            clustering.labels.iter().map(|label| label.map(|id| id.index() as u32)).collect();
        // By lengths alone: a process may hold no counters while it seeks the period.
        let found = phases_between(&RunBursts { table, complete, clustering }, &phases, AlikeBy::Length);
        let in_table =
            |(k, phase): (u32, u32)| (complete.at(k as usize), ClusterId::from_index(phase as usize));
        Self {
            of_bursts: of_all_bursts(table, complete, clustering),
            between: found.into_iter().map(in_table).collect(),
        }
    }

    /// Whether nearly all of the time that is in these phases or in others is in these.
    fn has_nearly_all_of(&self, others: &Clustering, table: &BurstTable, complete: &Rows) -> bool {
        let (mut own, mut either) = (0.0, 0.0);
        let mut is_in: Vec<bool> = self.of_bursts.iter().map(Option::is_some).collect();
        self.between.iter().for_each(|&(i, _)| is_in[i as usize] = true);
        for (k, label) in others.labels.iter().enumerate() {
            let i = complete.at(k) as usize;
            let time = table.duration[i].0 as f64;
            own += if is_in[i] { time } else { 0.0 };
            either += if is_in[i] || label.is_some() { time } else { 0.0 };
        }
        is_nearly_all(own, either)
    }
}

/// Two iterations with less than this share of their time in common do other things. Steps of a loop of
/// which every second one does more (output) have more than half in common, unless that takes longer
/// than all else.
const OTHERS: f64 = 0.5;
/// Those with this share in common do the same: bursts at the edge of a phase may be in another one.
const SAME: f64 = 0.9;
/// An iteration is taken to consist of so many parts at most.
const PARTS: usize = 16;

/// Whether what are told as iterations are parts of longer ones: each does other phases than the next,
/// and the same as one some further on.
fn has_parts(period: &Period, table: &BurstTable, phases: &[Option<ClusterId>]) -> bool {
    let n = period.n_iterations();
    let mut times = vec![BTreeMap::new(); n];
    for (i, phase) in phases.iter().enumerate() {
        let at = period.boundaries.partition_point(|&boundary| boundary <= table.begin[i]);
        if let (Some(phase), Some(of)) = (phase, at.checked_sub(1).and_then(|at| times.get_mut(at))) {
            *of.entry(phase.index()).or_insert(0.0) += table.duration[i].0 as f64;
        }
    }
    let in_common = |a: &BTreeMap<usize, f64>, b: &BTreeMap<usize, f64>| {
        let both: f64 = a.iter().filter_map(|(phase, time)| Some(time.min(*b.get(phase)?))).sum();
        both / a.values().sum::<f64>().max(b.values().sum()).max(1.0)
    };
    let alike = |apart: usize| {
        let pairs = times.iter().zip(&times[apart..]);
        pairs.map(|(a, b)| in_common(a, b)).sum::<f64>() / (n - apart) as f64
    };
    n >= 4 && alike(1) < OTHERS && (2..=PARTS.min(n / 2)).any(|apart| alike(apart) >= SAME)
}

/// Whether bursts are of an OpenMP program.
fn is_parallel(table: &BurstTable) -> bool {
    table.code.as_ref().is_some_and(|code| code.parallel)
}

/// Whether some thread does something else in each turn than what turns begin with. A function has
/// a burst from each barrier to the next: one after the other, they tell nothing of how often it is
/// called, nor of a loop within.
fn has_more_than_one(period: &Period, table: &BurstTable, labels: &[Option<ClusterId>]) -> bool {
    let (begin, end) = period.region();
    let is_other =
        |&i: &usize| labels[i] != Some(period.anchor) && table.begin[i] >= begin && table.end(i) <= end;
    let n = |rows: std::ops::Range<usize>| rows.filter(is_other).count();
    table.threads().any(|(_, rows)| n(rows) + 1 >= period.n_iterations())
}

/// The place of every burst, by descending time as [`find_period_in_order`] wants it;
/// `None` where no burst has one.
fn places(table: &BurstTable) -> Option<Vec<Option<ClusterId>>> {
    let by_place = cluster_by_place(table, &Rows::first(table.len()));
    (by_place.n_clusters > 0).then(|| by_place.ordered_by(|i| table.duration[i].0).labels)
}

/// The phases of refined bursts at the one radius that suggests itself.
pub(super) fn at_one_density(
    table: &BurstTable,
    prepared: &Prepared,
    refined: &Grouped,
    settings: &Settings,
    search: &dyn Search,
) -> Result<Clustering> {
    let points = Points::new(&prepared.points, prepared.dims)?;
    let clustering = match &refined.one_density {
        Some(curve) => search.dbscan(points, &curve.suggested(points.len())?).clustering,
        None => {
            let asked = Grouping { method: Some(Method::Dbscan), ..settings.grouping.clone() };
            group_bursts(table, prepared, &asked, search, &mut Stages::default(), &Silent)?.clustering
        }
    };
    Ok(ordered(clustering, table, prepared, settings.min_share).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::table::{Code, Nanos, PlaceId, Region};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    /// Bursts of one thread at these places, with durations that tell nothing.
    fn table(places: &[usize]) -> BurstTable {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let duration: Vec<Nanos> = places.iter().map(|_| Nanos(1_000 + rng.next_u64() % 9_000)).collect();
        let mut end = 0;
        let begin = duration.iter().map(|d| {
            end += d.0 + 100;
            Nanos(end - d.0)
        });
        let region = |&place: &usize| Region { after: PlaceId::from_index(place), ..Region::default() };
        let n = places.len();
        BurstTable {
            app: vec![1; n].into(),
            task: vec![1; n].into(),
            thread: vec![1; n].into(),
            begin: begin.collect(),
            code: Some(Code {
                places: (0..8).map(|i| format!("f{i}")).collect(),
                regions: places.iter().map(region).collect(),
                parallel: false,
            }),
            duration,
            ..BurstTable::default()
        }
    }

    fn found(table: &BurstTable) -> Option<Period> {
        PeriodSearch::by_place(table, false).and_then(|search| search.found.ok())
    }

    #[test]
    fn places_repeat_where_durations_do_not() {
        let period = found(&table(&[0, 1, 2, 3, 1, 4].repeat(50))).expect("a period");
        assert!((49..=50).contains(&period.n_iterations()), "{period:?}");
    }

    /// An OpenMP program of 4 threads, of which each does the bursts of `in_region` in every one of 50
    /// steps; the first does `outside` bursts in between.
    fn of_regions(in_region: usize, outside: usize) -> Option<usize> {
        let step = |thread: usize| {
            let alone = if thread == 1 { outside } else { 0 };
            [vec![None; alone], vec![Some(0); in_region]].concat()
        };
        let mut all = table(&[]);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut regions: Vec<Region> = Vec::new();
        for thread in 1..5 {
            for (k, function) in step(thread).repeat(50).into_iter().enumerate() {
                let place = k % (in_region + outside) + if thread == 1 { 0 } else { outside };
                let step = k / step(thread).len();
                all.app.push(1);
                all.task.push(1);
                all.thread.push(thread as u32);
                all.begin.push(Nanos(1_000_000 * step as u64 + 100_000 * place as u64));
                all.duration.push(Nanos(50_000 + rng.next_u64() % 20_000));
                let function = function.and_then(PlaceId::from_index);
                regions.push(Region { function, ..Region::default() });
            }
        }
        let places = vec!["f".to_owned()];
        all.code = Some(Code { places, regions: regions.into_iter().collect(), parallel: true });
        let n = all.len();
        let clustering = Clustering { labels: vec![None; n], n_clusters: 0 };
        let sought = Sought {
            table: &all,
            complete: &Rows::first(n),
            clustering: &clustering,
            only_places: false,
            are_drawn: false,
            is_refined: false,
            may_refine: None,
        };
        PeriodSearch::among(&sought, None).found.ok().map(|period| period.n_iterations())
    }

    /// Of 1,000 steps of heat 493, 676 and 740 were told, "with a confidence of 0.98", by phases.
    #[test]
    fn parallel_functions_repeat_as_often_as_they_are_called() {
        assert_eq!(of_regions(1, 1), Some(50));
        // Where all are in one function, barriers part it: how often it is called is not known.
        assert_eq!(of_regions(1, 0), None);
        assert_eq!(of_regions(2, 0), None);
    }

    /// Iterations of two bursts each; each burst is of the phase that `phase` says of its number.
    fn of_parts(phase: fn(usize) -> usize) -> bool {
        let table = table(&[0; 24]);
        let phases: Vec<Option<ClusterId>> = (0..24).map(|i| Some(ClusterId::from_index(phase(i)))).collect();
        let boundaries = (0..24).step_by(2).map(|i| table.begin[i]).chain([table.end(23)]).collect();
        let period = Period { boundaries, confidence: 1.0, coverage: 1.0, anchor: ClusterId::from_index(0) };
        // Each burst counts as much.
        has_parts(&period, &BurstTable { duration: vec![Nanos(1_000); 24], ..table }, &phases)
    }

    #[test]
    fn what_does_other_phases_than_the_next_is_a_part_of_an_iteration() {
        assert!(of_parts(|i| i % 4) && of_parts(|i| i % 6) && of_parts(|i| i / 2 % 2));
        assert!(!of_parts(|i| i % 2), "all are alike");
        assert!(
            !of_parts(|i| if i % 4 == 3 { 2 } else { i % 2 }),
            "every second one has another phase beside"
        );
        assert!(!of_parts(|i| i), "no two are alike");
    }

    #[test]
    fn places_in_no_order_have_no_period() {
        for seed in 0..10 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let places: Vec<usize> = (0..300).map(|_| (rng.next_u64() % 8) as usize).collect();
            assert_eq!(found(&table(&places)), None, "seed {seed}");
        }
        assert_eq!(found(&BurstTable { code: None, ..table(&[0, 1]) }), None);
    }
}
