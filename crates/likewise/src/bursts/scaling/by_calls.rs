//! Phases of runs that are told by their code: by the calls that bursts lie between, or by the
//! functions that they run.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::code::{RegionOf, regions};
use super::group::{Total, counts_alike};
use super::matched::{Evidence, MatchedPhase, PhaseInRun, RunBursts, RunMatch};
use super::reference;
use crate::cluster::ClusterId;
use crate::median;
use crate::table::Nanos;

/// Bursts between the same calls are the same phase in all runs, by the names of the calls and
/// of the functions that make them. Nothing is aligned, and nothing is compared but how often
/// the runs do each. Clusters of a run that have the same names are one phase. `None` where a
/// cluster holds bursts of two regions, or of none: then the names are not those of the clusters.
///
/// # Returns
/// As of [`match_runs`](super::match_runs); the confidence of a match is how well the numbers
/// of bursts per thread agree.
///
/// # Panics
/// If a clustering does not label just the complete bursts.
///
/// # Complexity
/// O(n log r) for n bursts in r regions.
#[must_use]
pub fn match_by_calls(runs: &[RunBursts<'_>]) -> Option<RunMatch> {
    by_regions(runs, Evidence::Calls)
}

/// Bursts of the same parallel function are the same phase in all runs of an OpenMP program, and
/// so is what is outside of regions between the same two. The function is what a burst runs, and
/// not what stands around it: so clusters tell nothing here, and neither does how many bursts a
/// thread has. `None` where the bursts of a run are not of OpenMP's regions.
///
/// # Returns
/// As of [`match_runs`](super::match_runs), with a confidence of 1.
///
/// # Panics
/// If a clustering does not label just the complete bursts.
///
/// # Complexity
/// As of [`match_by_calls`].
#[must_use]
pub fn match_by_code(runs: &[RunBursts<'_>]) -> Option<RunMatch> {
    let is_parallel = |run: &RunBursts<'_>| run.table.code.as_ref().is_some_and(|code| code.parallel);
    runs.iter().all(is_parallel).then(|| by_regions(runs, Evidence::Code)).flatten()
}

fn by_regions(runs: &[RunBursts<'_>], evidence: Evidence) -> Option<RunMatch> {
    for run in runs {
        assert_eq!(run.complete.len(), run.clustering.labels.len(), "a label for every complete burst");
    }
    let of_runs = regions(runs);
    let in_run = |(run, regions)| by_region(run, regions, evidence);
    let seen: Vec<BTreeMap<u32, InRun>> = runs.iter().zip(&of_runs).map(in_run).collect::<Option<_>>()?;
    let reference = reference(runs);
    let totals: Vec<f64> = seen.iter().map(|of_run| of_run.values().map(|r| r.time).sum()).collect();
    let share = |region: u32| {
        let of_run =
            seen.iter().zip(&totals).map(|(of, total)| of.get(&region).map_or(0.0, |r| r.time / total));
        of_run.fold(0.0, f64::max)
    };
    let mut order: Vec<u32> = seen.iter().flat_map(BTreeMap::keys).copied().collect();
    order.sort_unstable();
    order.dedup();
    order.sort_by_cached_key(|&region| Reverse(Total(share(region))));
    let times: Vec<f64> = seen.iter().map(|of_run| times(of_run, &seen[reference])).collect();
    let told = |&region: &u32| phase_in_runs(region, &seen, (reference, &times), evidence);
    let phase = |region: &u32| MatchedPhase { runs: told(region) };
    let phases = order.iter().map(phase).collect();
    let number: BTreeMap<u32, u32> = order.iter().zip(0..).map(|(&region, p)| (region, p)).collect();
    let phase_of =
        of_runs.iter().map(|of| of.iter().map(|region| Some(number[&(*region)?])).collect()).collect();
    Some(RunMatch { reference, phases, phase_of })
}

/// What a run does in one region.
#[derive(Clone, Debug, Default)]
struct InRun {
    /// Its clusters, and how many of its bursts are in each.
    clusters: BTreeMap<ClusterId, u64>,
    bursts: u64,
    noise: u64,
    threads: u64,
    last: Option<(u32, u32, u32)>,
    time: f64,
}

impl InRun {
    /// For each thread that runs it at all.
    fn per_thread(&self) -> f64 {
        self.bursts as f64 / self.threads.max(1) as f64
    }

    /// The most frequent first.
    fn clusters(&self) -> Vec<ClusterId> {
        let mut found: Vec<ClusterId> = self.clusters.keys().copied().collect();
        found.sort_by_key(|id| Reverse(self.clusters[id]));
        found
    }
}

fn by_region(run: &RunBursts<'_>, regions: &RegionOf, evidence: Evidence) -> Option<BTreeMap<u32, InRun>> {
    let is_by_cluster = evidence == Evidence::Calls;
    let mut found: BTreeMap<u32, InRun> = BTreeMap::new();
    let mut region_of: Vec<Option<u32>> = vec![None; run.clustering.n_clusters];
    for ((i, label), region) in run.complete.iter().zip(&run.clustering.labels).zip(regions) {
        let Some(region) = *region else {
            // A cluster that no calls tell of.
            if label.is_some() && is_by_cluster {
                return None;
            }
            continue;
        };
        let here = found.entry(region).or_default();
        if let Some(id) = label {
            let of_cluster = *region_of[id.index()].get_or_insert(region);
            if of_cluster != region && is_by_cluster {
                return None;
            }
            *here.clusters.entry(*id).or_default() += 1;
        }
        let i = i as usize;
        here.noise += u64::from(label.is_none());
        here.bursts += 1;
        let thread = Some(run.table.thread_of(i));
        here.threads += u64::from(here.last != thread);
        here.last = thread;
        let Nanos(time) = run.table.duration[i];
        here.time += time as f64;
    }
    Some(found)
}

/// How many times as often a run repeats its regions as the reference does: the median,
/// weighted by their time.
fn times(run: &BTreeMap<u32, InRun>, reference: &BTreeMap<u32, InRun>) -> f64 {
    let ratio = |(region, here): (&u32, &InRun)| {
        let there = reference.get(region)?;
        Some((here.per_thread() / there.per_thread(), here.time))
    };
    median::weighted(run.iter().filter_map(ratio).collect()).unwrap_or(1.0)
}

fn phase_in_runs(
    region: u32,
    seen: &[BTreeMap<u32, InRun>],
    (reference, times): (usize, &[f64]),
    evidence: Evidence,
) -> Vec<Option<PhaseInRun>> {
    let present = |&r: &usize| seen[r].contains_key(&region);
    let base = std::iter::once(reference).chain(0..seen.len()).find(present).unwrap_or(reference);
    let in_run = |r: usize| {
        let (here, there) = (seen[r].get(&region)?, seen[base].get(&region)?);
        let counts = |of: &InRun, r: usize| (of.per_thread(), times[r]);
        let (confidence, evidence) = match evidence {
            _ if r == base => (1.0, Evidence::Reference),
            Evidence::Code => (1.0, evidence),
            _ => (counts_alike(counts(here, r), counts(there, base)), evidence),
        };
        Some(PhaseInRun { clusters: here.clusters(), noise: here.noise, confidence, evidence })
    };
    (0..seen.len()).map(in_run).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{Made, made};
    use super::*;
    use crate::synth::RunSpec;
    use crate::table::{Code, PlaceId, Region};

    /// A run of so many iterations of phases that each end at a call of their own, by `name`
    /// of the phase.
    pub(in super::super) fn named(iterations: usize, name: impl Fn(usize) -> String) -> Made {
        let mut run = made(RunSpec::balanced(2, iterations, 3, 3).expect("few phases"));
        let names: Vec<String> = (0..run.clustering.n_clusters).map(name).collect();
        let mut places = names.clone();
        places.sort_unstable();
        places.dedup();
        let place =
            |id: ClusterId| places.binary_search(&names[id.index()]).ok().and_then(PlaceId::from_index);
        let region = |label: &Option<ClusterId>| Region { after: label.and_then(place), ..Region::default() };
        let regions = run.clustering.labels.iter().map(region).collect();
        run.table.code = Some(Code { places, regions, parallel: false });
        run
    }

    #[test]
    fn bursts_before_the_same_call_are_a_phase_however_long_they_take() {
        let one = named(10, |phase| format!("f{phase} (a.c:{phase})"));
        // Other numbers of clusters, other lines, other times, and one burst is noise.
        let mut other = named(20, |phase| format!("f{phase} (a.c:{})", phase + 7));
        let n = other.clustering.n_clusters;
        let turned = |id: ClusterId| ClusterId::from_index((id.index() + 1) % n);
        other.clustering.labels.iter_mut().for_each(|label| *label = label.map(turned));
        let first =
            (0..other.table.len()).find(|&k| other.clustering.labels[k].is_some()).expect("a cluster");
        other.clustering.labels[first] = None;
        let slow = |(i, time): (usize, &mut Nanos)| {
            time.0 *= if other.table.code.as_ref().is_some_and(|c| c.regions.place(i) == 1) { 50 } else { 1 };
        };
        other.table.duration.iter_mut().enumerate().for_each(slow);
        let found = match_by_calls(&[one.bursts(), other.bursts()]).expect("names tell");
        assert_eq!(found.phases.len(), n);
        let names = |run: &Made, phase_of: &[Option<u32>]| -> Vec<(Option<u32>, String)> {
            let code = run.table.code.as_ref().expect("code");
            let name =
                |i: usize| code.regions.get(i).after.map_or(String::new(), |p| code.name(p).to_owned());
            let mut all: Vec<_> = (0..run.table.len())
                .map(|i| (phase_of[i], name(i).split(' ').next().unwrap_or_default().to_owned()))
                .collect();
            all.sort();
            all.dedup();
            all
        };
        assert_eq!(names(&one, &found.phase_of[0]), names(&other, &found.phase_of[1]));
        let of_other =
            |phase: &MatchedPhase| phase.runs.iter().flatten().map(|r| (r.confidence, r.noise)).collect();
        let all: Vec<Vec<(f64, u64)>> = found.phases.iter().map(of_other).collect();
        assert!(all.iter().flatten().all(|(confidence, _)| *confidence > 0.9), "{all:?}");
        assert_eq!(all.iter().flatten().map(|(_, noise)| noise).sum::<u64>(), 1);
    }

    /// Two steps of one function are between calls of one name.
    #[test]
    fn steps_of_one_name_are_told_by_their_lines_or_are_one_phase() {
        let lines = |more: usize| move |phase: usize| format!("f{} (a.c:{})", phase / 2, phase + more);
        let one = named(10, lines(1));
        let n = one.clustering.n_clusters;
        let phases =
            |other: &Made| match_by_calls(&[one.bursts(), other.bursts()]).expect("names tell").phases;
        let clusters = |phase: &MatchedPhase| phase.runs.iter().flatten().map(|r| r.clusters.len()).collect();
        let counted = |phases: &[MatchedPhase]| -> Vec<Vec<usize>> { phases.iter().map(clusters).collect() };
        let same = phases(&named(20, lines(1)));
        assert_eq!(counted(&same), vec![vec![1, 1]; n]);
        assert!(same.iter().flat_map(|phase| phase.runs.iter().flatten()).all(|run| run.confidence > 0.9));
        // Another build has them at other lines: which is which is not known.
        let moved = counted(&phases(&named(20, lines(7))));
        assert_eq!(moved.len(), n.div_ceil(2));
        assert_eq!(moved.iter().map(|of| of[0]).sum::<usize>(), n);
        assert!(moved.iter().all(|of| of[0] == of[1]));
    }

    /// Bursts of parallel functions by phase, `function` of each; the rest is outside of regions.
    fn parallel(iterations: usize, function: impl Fn(usize) -> Option<usize>) -> Made {
        let mut run = named(iterations, |phase| format!("f{phase} (a.c:1)"));
        let places: Vec<String> = (0..run.clustering.n_clusters).map(|f| format!("f{f} (a.c:1)")).collect();
        let place = |f: usize| PlaceId::from_index(f);
        let region = |label: &Option<ClusterId>| match label.and_then(|id| function(id.index())) {
            Some(f) => Region { function: place(f), ..Region::default() },
            None => Region { before: place(0), after: place(1), ..Region::default() },
        };
        let regions = run.clustering.labels.iter().map(region).collect();
        run.table.code = Some(Code { places, regions, parallel: true });
        run
    }

    #[test]
    fn a_function_is_a_phase_whatever_its_clusters_are() {
        let one = parallel(10, |phase| (phase > 0).then_some(phase));
        let n = one.clustering.n_clusters;
        assert!(n > 2);
        // One cluster of all bursts, and other numbers of bursts.
        let mut other = parallel(25, |phase| (phase > 0).then_some(phase));
        other.clustering.labels.iter_mut().for_each(|label| *label = Some(ClusterId::from_index(0)));
        other.clustering.n_clusters = 1;
        assert_eq!(match_by_calls(&[one.bursts(), other.bursts()]), None, "clusters of unlike code");
        let found = match_by_code(&[one.bursts(), other.bursts()]).expect("functions tell");
        assert_eq!(found.phases.len(), n);
        for phase in &found.phases {
            let evidence: Vec<_> = phase.runs.iter().flatten().map(|r| (r.evidence, r.confidence)).collect();
            assert_eq!(evidence.len(), 2, "{phase:?}");
            assert!(
                evidence.contains(&(Evidence::Code, 1.0)) && evidence.contains(&(Evidence::Reference, 1.0))
            );
        }
        // Two functions that one run has in one, as it was inlined: one phase is not found there.
        let inlined = parallel(10, |phase| (phase > 0).then_some(phase.min(n - 2)));
        let found = match_by_code(&[one.bursts(), inlined.bursts()]).expect("functions tell");
        assert_eq!(found.phases.iter().filter(|phase| phase.runs.iter().any(Option::is_none)).count(), 1);
        // Calls are no functions.
        let calls = named(10, |phase| format!("f{phase} (a.c:1)"));
        assert_eq!(match_by_code(&[one.bursts(), calls.bursts()]), None);
    }

    #[test]
    fn clusters_that_calls_do_not_tell_of_tell_nothing() {
        let one = named(10, |phase| format!("f{phase} (a.c)"));
        let mut without = one.table.clone();
        without.code = None;
        assert_eq!(match_by_calls(&[one.bursts(), RunBursts { table: &without, ..one.bursts() }]), None);
        // A cluster of bursts between unlike calls.
        let mut mixed = named(10, |phase| format!("f{phase} (a.c)"));
        let labels = &mut mixed.clustering.labels;
        labels.iter_mut().for_each(|label| *label = label.map(|id| ClusterId::from_index(id.index() / 2)));
        assert_eq!(match_by_calls(&[one.bursts(), mixed.bursts()]), None);
    }
}
