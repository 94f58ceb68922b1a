//! Which code bursts are of, in names that hold in every run.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::matched::RunBursts;
use crate::table::{Code, Region};

/// The region of each complete burst of a run, by a number that all runs share; `None` where
/// it is not known.
pub(super) type RegionOf = Vec<Option<u32>>;

/// The regions of all runs. Places are known by their names without the number of the line,
/// which another version of the program has elsewhere. Regions of the same names are told apart
/// by their lines where all runs that have such regions have them at the same lines: then nothing
/// was moved there. Of no run, if one tells nothing.
///
/// # Complexity
/// O(n + r log r) for n bursts and the r regions that runs list.
pub(super) fn regions(runs: &[RunBursts<'_>]) -> Vec<RegionOf> {
    let nothing = || runs.iter().map(|run| vec![None; run.complete.len()]).collect();
    let Some(codes) = runs.iter().map(|run| run.table.code.as_ref()).collect::<Option<Vec<&Code>>>() else {
        return nothing();
    };
    let moved = moved(&codes);
    let mut known: FxHashMap<Names<'_>, u32> = FxHashMap::default();
    let mut of_runs = Vec::with_capacity(runs.len());
    for (run, code) in runs.iter().zip(codes) {
        let mut number = |region: &Region| {
            let names = names(code, region);
            let without = names.map(without_line);
            let names = if moved.contains(&without) { without } else { names };
            let new = known.len() as u32;
            (*region != Region::default()).then(|| *known.entry(names).or_insert(new))
        };
        let of_list: Vec<Option<u32>> = code.regions.list().iter().map(&mut number).collect();
        of_runs.push(run.complete.iter().map(|i| of_list[code.regions.place(i as usize)]).collect());
    }
    of_runs
}

/// The names of the places before and after a region, and of the one that it is in.
type Names<'a> = [&'a str; 3];

fn names<'a>(code: &'a Code, region: &Region) -> Names<'a> {
    [region.before, region.after, region.function].map(|place| place.map_or("", |place| code.name(place)))
}

/// Names without lines of which not all runs that have them have the same lines.
fn moved<'a>(codes: &[&'a Code]) -> FxHashSet<Names<'a>> {
    let mut first: FxHashMap<Names<'_>, BTreeSet<Names<'_>>> = FxHashMap::default();
    let mut moved = FxHashSet::default();
    for code in codes {
        let mut lines: BTreeMap<Names<'_>, BTreeSet<Names<'_>>> = BTreeMap::new();
        for names in code.regions.list().iter().map(|region| names(code, region)) {
            lines.entry(names.map(without_line)).or_default().insert(names);
        }
        for (without, lines) in lines {
            if *first.entry(without).or_insert_with(|| lines.clone()) != lines {
                moved.insert(without);
            }
        }
    }
    moved
}

/// `f (a.c)` of `f (a.c:12)`: the part before the number is the same.
fn without_line(name: &str) -> &str {
    let digits = name.strip_suffix(')').unwrap_or(name).trim_end_matches(|c: char| c.is_ascii_digit());
    digits
        .strip_suffix(':')
        .filter(|_| name.ends_with(|c: char| c == ')' || c.is_ascii_digit()))
        .unwrap_or(name)
}

/// The time of each phase of a run in each region, as a share of the phase's time in known
/// regions; and the share of its time that is in known ones.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeOfPhase {
    shares: FxHashMap<u32, f64>,
    known: f64,
}

impl CodeOfPhase {
    /// Of the phases of a run, of `n`.
    pub(super) fn of_all(
        run: &RunBursts<'_>,
        (regions, phase_of): (&RegionOf, &[Option<u32>]),
        n: usize,
    ) -> Vec<Self> {
        let mut found = vec![Self::default(); n];
        let mut times = vec![0.0; n];
        for ((i, region), phase) in run.complete.iter().zip(regions).zip(phase_of) {
            let Some(p) = phase.map(|p| p as usize) else { continue };
            let time = run.table.duration[i as usize].0 as f64;
            times[p] += time;
            if let Some(region) = region {
                *found[p].shares.entry(*region).or_default() += time;
                found[p].known += time;
            }
        }
        for (code, time) in found.iter_mut().zip(times) {
            code.shares.values_mut().for_each(|share| *share /= code.known);
            code.known /= f64::max(time, 1.0);
        }
        found
    }

    /// Whether most of what two runs do in a phase, each as far as it is known, is other code.
    pub(super) fn is_other(&self, other: &Self) -> bool {
        let mut common: Vec<f64> =
            self.shares.iter().filter_map(|(id, share)| Some(share.min(*other.shares.get(id)?))).collect();
        // In one order, so that the sum is the same each time.
        common.sort_by(f64::total_cmp);
        self.known.min(other.known) > MOST && common.iter().sum::<f64>() < MOST
    }
}

/// More than this share is most of it.
const MOST: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::super::by_calls::tests::named;
    use super::*;

    #[test]
    fn a_phase_between_other_calls_is_other_code() {
        let one = named(10, |phase| format!("f{phase} (a.c:{phase})"));
        let moved = named(20, |phase| format!("f{phase} (a.c:{})", phase + 7));
        // One of the phases comes before another call.
        let name = |phase| if phase == 1 { "g (a.c:1)".to_owned() } else { format!("f{phase} (a.c:1)") };
        let other = named(10, name);
        let runs = [one.bursts(), moved.bursts(), other.bursts()];
        let n = one.clustering.n_clusters;
        let regions = regions(&runs);
        let code = |r: usize| {
            let phase_of: Vec<Option<u32>> =
                runs[r].clustering.labels.iter().map(|label| label.map(|id| id.index() as u32)).collect();
            CodeOfPhase::of_all(&runs[r], (&regions[r], &phase_of), n)
        };
        let [one, moved, other] = [0, 1, 2].map(code);
        for phase in 0..n {
            assert!(!one[phase].is_other(&moved[phase]), "phase {phase}");
            assert_eq!(one[phase].is_other(&other[phase]), phase == 1, "phase {phase}");
        }
        // Who does not tell is not other.
        assert!(!one[0].is_other(&CodeOfPhase::default()) && !CodeOfPhase::default().is_other(&one[0]));
    }

    #[test]
    fn a_place_is_the_same_on_another_line() {
        assert_eq!(without_line("f (a.c:12)"), "f (a.c");
        assert_eq!(without_line("f (a.c:7)"), without_line("f (a.c:12)"));
        assert_ne!(without_line("f (a.c:7)"), without_line("f (b.c:7)"));
        assert_eq!(without_line("a::b (MPI_Send)"), "a::b (MPI_Send)");
        assert_eq!(without_line("a:12"), "a");
        assert_eq!(without_line("a:"), "a:");
        assert_eq!(without_line(""), "");
    }
}
