//! A counter table of a distributed hash table, in which it is known which
//! events belong together.

use super::draw::Stream;

/// Rows and columns of a made-up table.
#[derive(Clone, Debug)]
pub struct CounterTable {
    /// The rows.
    pub sites: Vec<CounterSite>,
    /// The columns.
    pub events: Vec<CounterEvent>,
}

/// A call to the hash table, in one run of the benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterSite {
    /// Operation and number of the run.
    pub name: String,
    /// Processes of the run: 4 to 44.
    pub processes: u64,
    /// Values that each call transfers: 1 to 8.
    pub values: u64,
    /// Calls that are under way at a time: 10 to 200.
    pub requests: u64,
}

/// What was counted.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterEvent {
    /// As PAPI calls it.
    pub name: &'static str,
    /// What drives it; nothing where it tells nothing.
    pub group: Option<&'static str>,
    /// Of each site; NaN where it was not counted.
    pub counts: Vec<f64>,
}

/// Events by what drives them, with their size.
const GROUPS: [(&str, &[(&str, f64)]); 4] = [
    ("messages", &[("TOT_CYC", 8e7), ("SYC_INS", 4e5), ("CA_ITV", 9e4), ("LST_INS", 2e7)]),
    ("data", &[("L1_DCM", 3e6), ("L2_STM", 4e5), ("TLB_DM", 2e4), ("PRF_DM", 7e5)]),
    ("code", &[("TOT_INS", 5e7), ("INT_INS", 2e7), ("L1_ICM", 1e5)]),
    ("branches", &[("BR_INS", 9e6), ("BR_MSP", 5e5), ("BTAC_M", 2e5)]),
];
const OPERATIONS: [&str; 3] = ["insert", "find", "delete"];
/// Shares of cells that were not counted: of all events, and of one that
/// shared its register.
const MISSING: f64 = 0.02;
const RARE: f64 = 0.85;

/// Counters of `n_sites` call sites. Events of a group follow one quantity,
/// within a tenth: messages, data, code or branches, which have little to do
/// with one another. Time is spent on messages. Some counts are missing; one
/// event is missing mostly, and one is always 0.
///
/// The same arguments give the same table on every machine.
#[must_use]
pub fn counter_table(n_sites: usize, seed: u64) -> CounterTable {
    let sites: Vec<CounterSite> = (0..n_sites).map(|site| counter_site(site, seed)).collect();
    let mut events = Vec::new();
    for (g, (group, members)) in GROUPS.iter().enumerate() {
        for &(name, size) in *members {
            let column = events.len() as u64;
            let count = |(at, site): (usize, &CounterSite)| {
                let mut noise = Stream::at(seed, [1, at as u64, column]);
                let count = size * drive(site, g, at, seed) * (0.9 + 0.2 * noise.uniform());
                if noise.uniform() < MISSING { f64::NAN } else { count.round() }
            };
            let counts = sites.iter().enumerate().map(count).collect();
            events.push(CounterEvent { name, group: Some(group), counts });
        }
    }
    let rare = |at: usize| {
        let mut noise = Stream::at(seed, [2, at as u64, 0]);
        if noise.uniform() < RARE { f64::NAN } else { (1e3 * noise.uniform()).round() }
    };
    events.push(CounterEvent { name: "HW_INT", group: None, counts: (0..n_sites).map(rare).collect() });
    events.push(CounterEvent { name: "FP_INS", group: None, counts: vec![0.0; n_sites] });
    CounterTable { sites, events }
}

fn counter_site(site: usize, seed: u64) -> CounterSite {
    let run = site / OPERATIONS.len();
    // Operations of a run share its parameters.
    let mut draw = Stream::at(seed, [0, run as u64, 0]);
    CounterSite {
        name: format!("{} {run}", OPERATIONS[site % OPERATIONS.len()]),
        processes: 4 * (1 + draw.below(11)),
        values: 1 + draw.below(8),
        requests: 10 * (1 + draw.below(20)),
    }
}

/// How much of a group's quantity there is at a site, 0 to 1.
fn drive(site: &CounterSite, group: usize, at: usize, seed: u64) -> f64 {
    let mut chance = Stream::at(seed, [3, at as u64, group as u64]);
    let share = chance.uniform();
    match group {
        // More processes send more, and wait longer for one another.
        0 => site.processes as f64 / 44.0 * (0.5 + 0.5 * share),
        1 => site.values as f64 / 8.0 * (0.6 + 0.4 * share),
        // Finding is done with least code, inserting with most.
        2 => [1.0, 0.35, 0.7][at % OPERATIONS.len()] * (0.8 + 0.2 * share),
        // Lengths of chains, which are short but for a few.
        _ => share * share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::hierarchical::{Dissimilarity, Linkage, Profiles, dissimilarities, linkage};

    #[test]
    fn events_of_a_group_are_nearest_to_one_another() {
        let table = counter_table(300, 4);
        let events: Vec<&CounterEvent> = table.events.iter().filter(|event| event.group.is_some()).collect();
        let scaled = |event: &&CounterEvent| {
            let most = event.counts.iter().copied().fold(0.0, f64::max);
            event.counts.iter().map(|x| x / most).collect::<Vec<f64>>()
        };
        let data: Vec<f64> = events.iter().flat_map(scaled).collect();
        let profiles = Profiles::new(&data, 300).unwrap();
        let square = dissimilarities(&profiles, Dissimilarity::Manhattan).unwrap();
        let cut = linkage(square, Linkage::Complete).cut(GROUPS.len());
        for (a, first) in events.iter().enumerate() {
            for (b, second) in events.iter().enumerate() {
                assert_eq!(
                    cut.labels[a] == cut.labels[b],
                    first.group == second.group,
                    "{first:?} {second:?}"
                );
            }
        }
    }

    #[test]
    fn some_counts_are_missing_and_one_event_is_constant() {
        let table = counter_table(1000, 1);
        let missing = |event: &CounterEvent| event.counts.iter().filter(|x| x.is_nan()).count();
        assert!((5..40).contains(&missing(&table.events[0])), "{}", missing(&table.events[0]));
        assert!(missing(&table.events[14]) > 800);
        assert!(table.events[15].counts.iter().all(|&x| x == 0.0));
        assert_eq!(counter_table(3, 1).sites, table.sites[..3]);
    }
}
