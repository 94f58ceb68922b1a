//! Which code each phase is, and which phases each piece of code shows.

use std::collections::BTreeMap;
use std::ops::Range;

use super::NO_CODE;
use crate::cluster::{ClusterId, Clustering};
use crate::table::{BurstTable, Nanos, Prepared, Region, Rows};

/// A phase's bursts in one region of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRegion {
    /// Which phase; `None` is the noise.
    pub cluster: Option<ClusterId>,
    /// Which code.
    pub region: Region,
    /// How many bursts.
    pub bursts: u64,
    /// Their computing time.
    pub total: Nanos,
    /// Their share of the phase's time, 0 to 1.
    pub share_of_phase: f64,
    /// Their share of the time of all complete bursts of the region, noise
    /// included, 0 to 1.
    pub share_of_region: f64,
}

/// Every pair of phase and region that has bursts: phases in order, then the
/// noise, each with its regions by descending time, then by place. Empty if
/// the table does not tell the source.
///
/// `clustering` labels the complete bursts of `prepared`.
///
/// # Panics
/// If the clustering does not label just the complete bursts.
///
/// # Complexity
/// O(n log p) for n bursts and p pairs; memory for the pairs.
#[must_use]
pub fn phase_regions(table: &BurstTable, prepared: &Prepared, clustering: &Clustering) -> Vec<PhaseRegion> {
    let complete = &prepared.complete;
    assert_eq!(complete.len(), clustering.labels.len(), "a label for every complete burst");
    let Some(code) = &table.code else { return Vec::new() };
    let mut pairs: BTreeMap<(usize, Region), (u64, Nanos)> = BTreeMap::new();
    let mut phase_time = vec![Nanos::ZERO; clustering.n_clusters + 1];
    let mut region_time: BTreeMap<Region, Nanos> = BTreeMap::new();
    for (burst, label) in complete.iter().zip(&clustering.labels) {
        let burst = burst as usize;
        let phase = label.map_or(clustering.n_clusters, ClusterId::index);
        let (n, total) = pairs.entry((phase, code.regions.get(burst))).or_default();
        *n += 1;
        *total = total.saturating_add(table.duration[burst]);
    }
    for (&(phase, region), &(_, total)) in &pairs {
        let of_region = region_time.entry(region).or_default();
        *of_region = of_region.saturating_add(total);
        phase_time[phase] = phase_time[phase].saturating_add(total);
    }
    let share = |part: Nanos, whole: Nanos| if whole.0 > 0 { part.0 as f64 / whole.0 as f64 } else { 0.0 };
    let row = |((phase, region), (bursts, total)): ((usize, Region), (u64, Nanos))| PhaseRegion {
        cluster: (phase < clustering.n_clusters).then(|| ClusterId::from_index(phase)),
        region,
        bursts,
        total,
        share_of_phase: share(total, phase_time[phase]),
        share_of_region: share(total, region_time[&region]),
    };
    let mut rows: Vec<PhaseRegion> = pairs.into_iter().map(row).collect();
    let noise = |row: &PhaseRegion| row.cluster.is_none();
    rows.sort_by(|a, b| {
        let phase = (noise(a), a.cluster).cmp(&(noise(b), b.cluster));
        phase.then(b.total.cmp(&a.total)).then(a.region.cmp(&b.region))
    });
    rows
}

/// Of each of `bursts` a number for the region it runs, equal where the region
/// is, or [`NO_CODE`] where none is known; empty if the table does not tell
/// the source.
///
/// # Panics
/// If a burst is not in the table.
///
/// # Complexity
/// O(n + r log r) for n bursts and r regions.
#[must_use]
pub fn region_numbers(table: &BurstTable, bursts: &Rows) -> Vec<u32> {
    let Some(code) = &table.code else { return Vec::new() };
    let place = |burst: u32| code.regions.place(burst as usize);
    let list = code.regions.list();
    let mut occurs = vec![false; list.len()];
    bursts.iter().for_each(|burst| occurs[place(burst)] = true);
    let mut places: Vec<usize> = (0..list.len()).filter(|&at| occurs[at]).collect();
    places.sort_unstable_by_key(|&at| list[at]);
    let mut numbers = vec![NO_CODE; list.len()];
    for (number, at) in (0..).zip(places) {
        if list[at] != Region::default() {
            numbers[at] = number;
        }
    }
    bursts.iter().map(|burst| numbers[place(burst)]).collect()
}

/// The place of each of `bursts`, as a cluster: bursts between the same two
/// calls, in the same function, are one. Those of which the table tells nothing
/// have none.
///
/// # Panics
/// If a burst is not in the table.
///
/// # Complexity
/// O(n log r) for n bursts and r regions.
#[must_use]
pub fn cluster_by_place(table: &BurstTable, bursts: &Rows) -> Clustering {
    let numbers = region_numbers(table, bursts);
    let mut known: Vec<u32> = numbers.iter().copied().filter(|&number| number != NO_CODE).collect();
    known.sort_unstable();
    known.dedup();
    let label = |number: &u32| known.binary_search(number).ok().map(ClusterId::from_index);
    let labels = match numbers.is_empty() {
        true => vec![None; bursts.len()],
        false => numbers.iter().map(label).collect(),
    };
    Clustering { labels, n_clusters: known.len() }
}

/// Whether the table tells of every burst between which two calls it lies. No
/// call is before the first burst of a thread, and none behind its last.
#[must_use]
pub fn tells_all_places(table: &BurstTable) -> bool {
    let Some(code) = &table.code else { return false };
    let is_told = |i: usize, bursts: &Range<usize>| {
        let Region { before, after, .. } = code.regions.get(i);
        (before.is_some() || i == bursts.start) && (after.is_some() || i + 1 == bursts.end)
    };
    table.threads().all(|(_, bursts)| bursts.clone().all(|i| is_told(i, &bursts)))
}

/// Of each of `bursts` of an OpenMP program a number for the parallel function
/// that it runs, 0 outside of all; empty for other programs.
///
/// # Panics
/// If a burst is not in the table.
#[must_use]
pub fn parallel_numbers(table: &BurstTable, bursts: &Rows) -> Vec<u32> {
    let Some(code) = table.code.as_ref().filter(|code| code.parallel) else { return Vec::new() };
    let number = |burst: u32| code.regions.get(burst as usize).function.map_or(0, |f| f.index() as u32 + 1);
    bursts.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::extrapolate::tests::prepared_of;
    use super::*;
    use crate::table::{Code, PlaceId};

    fn place(i: usize) -> Option<PlaceId> {
        i.checked_sub(1).and_then(PlaceId::from_index)
    }

    #[test]
    fn without_code_there_is_no_region() {
        let table = BurstTable { duration: vec![Nanos(1)], begin: vec![Nanos(0)], ..BurstTable::default() };
        let clustering = Clustering { labels: vec![None], n_clusters: 0 };
        assert_eq!(phase_regions(&table, &prepared_of(&[0]), &clustering), []);
    }

    #[test]
    fn bursts_between_the_same_calls_are_one_cluster() {
        let region = |before, after| Region { before: place(before), after: place(after), function: None };
        let regions = [region(1, 2), region(2, 1), region(0, 0), region(1, 2)].into_iter().collect();
        let places = vec!["a".to_owned(), "b".to_owned()];
        let mut table = BurstTable {
            app: vec![1; 4].into(),
            task: vec![1; 4].into(),
            thread: vec![1; 4].into(),
            duration: vec![Nanos(1); 4],
            begin: vec![Nanos(0); 4],
            code: Some(Code { places, regions, parallel: false }),
            ..BurstTable::default()
        };
        let id = |i| Some(ClusterId::from_index(i));
        let found = cluster_by_place(&table, &Rows::first(4));
        assert_eq!((found.labels, found.n_clusters), (vec![id(0), id(1), None, id(0)], 2));
        assert!(!tells_all_places(&table));
        if let Some(code) = &mut table.code {
            // The third is between two calls, and nothing is behind the last.
            code.regions = [region(1, 2), region(2, 1), region(2, 2), region(1, 0)].into_iter().collect();
        }
        assert!(tells_all_places(&table));
        table.code = None;
        assert_eq!(
            cluster_by_place(&table, &Rows::first(2)),
            Clustering { labels: vec![None; 2], n_clusters: 0 }
        );
        assert!(!tells_all_places(&table));
    }

    proptest! {
        #[test]
        fn equals_the_definition_written_out(
            bursts in prop::collection::vec((0usize..4, 0usize..3, 0usize..3, 0u64..50, prop::bool::weighted(0.8)), 1..60)
        ) {
            let code = Code {
                places: vec!["a".to_owned(), "b".to_owned()],
                regions: bursts
                    .iter()
                    .map(|b| Region { before: place(b.1), after: place(b.2), function: None })
                    .collect(),
                parallel: false,
            };
            let table = BurstTable {
                duration: bursts.iter().map(|b| Nanos(b.3)).collect(),
                begin: vec![Nanos(0); bursts.len()],
                code: Some(code.clone()),
                ..BurstTable::default()
            };
            let complete: Vec<u32> = (0..bursts.len() as u32).filter(|&i| bursts[i as usize].4).collect();
            let labels: Vec<Option<ClusterId>> = complete
                .iter()
                .map(|&i| bursts[i as usize].0.checked_sub(1).map(ClusterId::from_index))
                .collect();
            let clustering = Clustering { labels, n_clusters: 3 };
            let rows = phase_regions(&table, &prepared_of(&complete), &clustering);

            let time = |wanted: &dyn Fn(usize) -> bool| -> (u64, u64) {
                let mine = complete.iter().map(|&i| i as usize).filter(|&i| wanted(i));
                mine.fold((0, 0), |(n, t), i| (n + 1, t + bursts[i].3))
            };
            prop_assert_eq!(rows.iter().map(|r| r.bursts).sum::<u64>(), complete.len() as u64);
            for row in &rows {
                let phase = row.cluster.map_or(0, |id| id.index() + 1);
                let (n, t) = time(&|i| bursts[i].0 == phase && code.regions.get(i) == row.region);
                let of_phase = time(&|i| bursts[i].0 == phase).1;
                let of_region = time(&|i| code.regions.get(i) == row.region).1;
                prop_assert_eq!((row.bursts, row.total.0), (n, t));
                prop_assert!(row.bursts > 0);
                prop_assert_eq!(row.share_of_phase, if of_phase > 0 { t as f64 / of_phase as f64 } else { 0.0 });
                prop_assert_eq!(row.share_of_region, if of_region > 0 { t as f64 / of_region as f64 } else { 0.0 });
            }
            let key = |r: &PhaseRegion| (r.cluster.map_or(9, |id| id.index()), u64::MAX - r.total.0, r.region);
            prop_assert!(rows.is_sorted_by_key(key));
        }
    }
}
