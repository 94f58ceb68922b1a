//! Rates that analysts read instead of counts.

use super::stats::PhaseStats;
use crate::table::{BurstTable, Counter, CounterColumn};

/// Bytes that a cache miss or a column access of the memory moves.
const LINE: f64 = 64.0;

/// A rate of each phase: a quotient of the phase's totals, not a mean of the
/// bursts' quotients.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// Short name, such as `L1_MPKI`.
    pub name: &'static str,
    /// Its unit; empty for a plain quotient.
    pub unit: &'static str,
    /// What was divided by what, with the trace's names of the counters.
    pub meaning: String,
    /// Of each entry of the statistics; `None` where it lacks a counter.
    pub values: Vec<Option<f64>>,
}

/// What a rate divides by.
#[derive(Clone, Copy, PartialEq)]
enum Per {
    Instruction,
    Cycle,
    /// The burst's duration.
    Nanosecond,
}

/// Counters that are added up, each with a weight. The later is a choice for
/// traces that lack the earlier.
type Sums = &'static [&'static [(&'static str, f64)]];

struct Definition {
    name: &'static str,
    unit: &'static str,
    counters: Sums,
    per: Per,
    factor: f64,
}

const INSTRUCTIONS: Sums = &[
    &[("PAPI_TOT_INS", 1.0)],
    &[("INSTRUCTION_RETIRED", 1.0)],
    &[("INST_RETIRED:ANY_P", 1.0)],
    &[("INST_RETIRED:ANY", 1.0)],
    &[("INSTRUCTIONS", 1.0)],
    &[("INST_RETIRED", 1.0)],
];
const CYCLES: Sums = &[
    &[("PAPI_TOT_CYC", 1.0)],
    &[("UNHALTED_CORE_CYCLES", 1.0)],
    &[("CPU_CLK_UNHALTED:THREAD_P", 1.0)],
    &[("CPU_CLK_UNHALTED:THREAD", 1.0)],
    &[("CYCLES", 1.0)],
    &[("CPU-CYCLES", 1.0)],
    &[("CPU_CYCLES", 1.0)],
];
const L3_MISSES: Sums = &[
    &[("PAPI_L3_TCM", 1.0)],
    &[("LONGEST_LAT_CACHE:MISS", 1.0)],
    &[("LLC_MISSES", 1.0)],
    &[("CACHE-MISSES", 1.0)],
    &[("PAPI_L3_DCM", 1.0)],
];
/// Operations per instruction: one per double or float in the register.
const OPERATIONS: Sums = &[
    &[("PAPI_FP_OPS", 1.0)],
    &[("PAPI_DP_OPS", 1.0), ("PAPI_SP_OPS", 1.0)],
    &[
        ("FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", 1.0),
        ("FP_ARITH_INST_RETIRED:SCALAR_SINGLE", 1.0),
        ("FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", 2.0),
        ("FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", 4.0),
        ("FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", 4.0),
        ("FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", 8.0),
        ("FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE", 8.0),
        ("FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", 16.0),
    ],
];

const fn per_1000(name: &'static str, counters: Sums) -> Definition {
    Definition { name, unit: "per 1,000 instructions", counters, per: Per::Instruction, factor: 1000.0 }
}

const fn per_nanosecond(name: &'static str, unit: &'static str, counters: Sums, factor: f64) -> Definition {
    Definition { name, unit, counters, per: Per::Nanosecond, factor }
}

/// In the order in which they are shown. Of two of one name, the first that
/// the trace allows.
const RATES: &[Definition] = &[
    Definition { name: "IPC", unit: "", counters: INSTRUCTIONS, per: Per::Cycle, factor: 1.0 },
    // Instructions per µs are millions per second.
    per_nanosecond("MIPS", "million/s", INSTRUCTIONS, 1e3),
    per_1000("L1_MPKI", &[&[("PAPI_L1_DCM", 1.0)], &[("PAPI_L1_TCM", 1.0)]]),
    per_1000("L2_MPKI", &[&[("PAPI_L2_DCM", 1.0)], &[("PAPI_L2_TCM", 1.0)]]),
    per_1000("L3_MPKI", L3_MISSES),
    per_1000("BR_MPKI", &[&[("PAPI_BR_MSP", 1.0)], &[("BR_MISP_RETIRED", 1.0)], &[("BRANCH-MISSES", 1.0)]]),
    Definition {
        name: "STALL_SHARE",
        unit: "of cycles",
        counters: &[
            &[("RESOURCE_STALLS", 1.0)],
            &[("RESOURCE_STALLS:ANY", 1.0)],
            &[("PAPI_RES_STL", 1.0)],
            &[("CYCLE_ACTIVITY:STALLS_TOTAL", 1.0)],
            &[("PAPI_STL_ICY", 1.0)],
        ],
        per: Per::Cycle,
        factor: 1.0,
    },
    per_nanosecond("MEM_GBPS", "GB/s", &[&[(CAS, 1.0)]], LINE),
    per_nanosecond("MEM_GBPS", "GB/s", L3_MISSES, LINE),
    per_nanosecond("GFLOPS", "Gflop/s", OPERATIONS, 1.0),
];

/// Stands for the column accesses of all memory controllers.
const CAS: &str = "CAS_COUNT";

/// The rates that the counters allow, in every phase of `stats`.
///
/// `stats` are of that table; means that were extrapolated are taken as they
/// are. IPC; MIPS (instructions per µs of
/// computing time); misses of the L1, L2 and L3 cache and mispredicted
/// branches per 1,000 instructions; the share of cycles stalled for
/// resources; memory traffic (64 B times column accesses, else misses of the
/// last cache) and floating-point operations per time. All are per thread.
/// Counters are known by PAPI's names and by Intel's native ones, with and
/// without the name of the unit (`skx::…`) and attributes (`:cpu=0`). A rate
/// that no phase has is left out, and so is one of a counter that is
/// [silent](CounterColumn::is_silent).
///
/// # Complexity
/// O(n·c + p) for n bursts, c counters and p phases.
#[must_use]
pub fn rates(table: &BurstTable, stats: &[PhaseStats]) -> Vec<Rate> {
    let counters = &table.counters;
    let name =
        |c: &CounterColumn| if c.is_silent(&table.duration) { String::new() } else { known_as(&c.counter) };
    let names: Vec<String> = counters.iter().map(name).collect();
    let mut rates: Vec<Rate> = Vec::new();
    for definition in RATES {
        if rates.iter().any(|rate| rate.name == definition.name) {
            continue;
        }
        let choices = definition.counters.iter();
        rates.extend(choices.filter_map(|sum| rate(definition, sum, &names, counters, stats)).next());
    }
    rates
}

/// The name by which [`rates`] knows a counter, whatever the trace calls it.
fn known_as(counter: &Counter) -> String {
    counter.preset().map_or_else(|| plain(&counter.name), str::to_owned)
}

/// Where the instructions and the cycles are among the counters, by the names
/// that [`rates`] knows; those that no burst carries do not count.
pub(super) fn instructions_and_cycles(counters: &[CounterColumn]) -> [Option<usize>; 2] {
    let names: Vec<String> = counters.iter().map(|c| known_as(&c.counter)).collect();
    let carried = |&(c, _): &(usize, f64)| counters[c].values.iter().any(|x| !x.is_nan());
    [INSTRUCTIONS, CYCLES]
        .map(|sums| sums.iter().find_map(|sum| terms(sum, &names).into_iter().find(carried)).map(|(c, _)| c))
}

/// Whether single bursts are asked for a counter, for each: findings ask for instructions, cycles
/// and time on a core. All else is said of phases.
#[must_use]
pub fn asked_of_bursts(counters: &[CounterColumn]) -> Vec<bool> {
    let names: Vec<String> = counters.iter().map(|c| known_as(&c.counter)).collect();
    let mut asked: Vec<bool> = counters.iter().map(|c| c.counter.is_cpu_time_in_ns()).collect();
    let sums = INSTRUCTIONS.iter().chain(CYCLES);
    sums.flat_map(|sum| terms(sum, &names)).for_each(|(c, _)| asked[c] = true);
    asked
}

/// One rate of one choice of counters, if any phase has it.
fn rate(
    definition: &Definition,
    sum: &[(&str, f64)],
    names: &[String],
    counters: &[CounterColumn],
    stats: &[PhaseStats],
) -> Option<Rate> {
    let above = terms(sum, names);
    let below = match definition.per {
        Per::Instruction => first(INSTRUCTIONS, names, stats)?,
        Per::Cycle => first(CYCLES, names, stats)?,
        Per::Nanosecond => Vec::new(),
    };
    let value = |phase: &PhaseStats| {
        let below = match definition.per {
            Per::Nanosecond => (phase.instances > 0).then_some(phase.duration.mean),
            _ => total(&below, phase),
        };
        Some(definition.factor * total(&above, phase)? / below.filter(|&b| b > 0.0)?)
    };
    let values: Vec<Option<f64>> = stats.iter().map(value).collect();
    let name = |&(c, weight): &(usize, f64)| match weight {
        1.0 => counters[c].counter.name.clone(),
        _ => format!("{weight}·{}", counters[c].counter.name),
    };
    let text = |terms: &[(usize, f64)]| terms.iter().map(name).collect::<Vec<_>>().join(" + ");
    let below = if definition.per == Per::Nanosecond { "duration".to_owned() } else { text(&below) };
    let factor = match definition.factor {
        1.0 => String::new(),
        factor if definition.per == Per::Nanosecond && factor == LINE => "64 B · ".to_owned(),
        factor => format!("{factor} · "),
    };
    let above = if above.len() > 1 { format!("({})", text(&above)) } else { text(&above) };
    values.iter().any(Option::is_some).then(|| Rate {
        name: definition.name,
        unit: definition.unit,
        meaning: format!("{factor}{above} / {below}"),
        values,
    })
}

/// The first choice that any phase has.
fn first(sums: Sums, names: &[String], stats: &[PhaseStats]) -> Option<Vec<(usize, f64)>> {
    let carried = |terms: &Vec<(usize, f64)>| stats.iter().any(|phase| total(terms, phase).is_some());
    sums.iter().map(|sum| terms(sum, names)).find(carried)
}

/// The counters of a sum that the trace has, with their weights.
fn terms(sum: &[(&str, f64)], names: &[String]) -> Vec<(usize, f64)> {
    let mut terms = Vec::new();
    for &(wanted, weight) in sum {
        let is = |name: &String| match wanted {
            CAS => is_memory_access(name),
            _ => name == wanted,
        };
        terms.extend((0..names.len()).filter(|&c| is(&names[c])).map(|c| (c, weight)));
    }
    terms
}

/// A sum's mean per burst; `None` if the phase lacks one of its counters.
fn total(terms: &[(usize, f64)], phase: &PhaseStats) -> Option<f64> {
    let carried = |&(c, _): &(usize, f64)| phase.counters[c].n > 0;
    let mean = |&(c, weight): &(usize, f64)| weight * phase.counters[c].mean;
    (!terms.is_empty() && terms.iter().all(carried)).then(|| terms.iter().map(mean).sum())
}

/// `skx::INST_RETIRED.ANY:cpu=0` is `INST_RETIRED:ANY`.
fn plain(name: &str) -> String {
    let name = name.rsplit_once("::").map_or(name, |(_, name)| name).to_uppercase().replace('.', ":");
    let parts: Vec<&str> = name.split(':').filter(|part| !part.contains('=')).collect();
    parts.join(":")
}

/// Reads or writes of the memory; not both together, were they counted apart
/// and as `ALL`.
fn is_memory_access(name: &str) -> bool {
    name.contains(CAS) && (name.ends_with(":RD") || name.ends_with(":WR"))
}

#[cfg(test)]
mod tests {
    use super::super::stats::Moments;
    use super::*;
    use crate::table::{Counter, Nanos, Values};

    fn table(names: &[&str]) -> BurstTable {
        let column = |name: &&str| CounterColumn {
            counter: Counter { event_type: None, name: (*name).to_owned(), description: String::new() },
            values: Values::default(),
        };
        BurstTable { counters: names.iter().map(column).collect(), ..BurstTable::default() }
    }

    /// A phase of two bursts of 1 µs in the mean; 0 stands for a counter that none carries.
    fn phase(means: &[f64]) -> PhaseStats {
        PhaseStats {
            cluster: None,
            instances: 2,
            total: Nanos(2000),
            duration: Moments { n: 2, mean: 1000.0, deviation: 0.0 },
            min: Nanos(1000),
            max: Nanos(1000),
            share: 1.0,
            share_of_complete: 1.0,
            tasks: 1,
            of_tasks: 1,
            imbalance: 0.0,
            counters: means
                .iter()
                .map(|&mean| Moments { n: u64::from(mean != 0.0), mean, deviation: 0.0 })
                .collect(),
            metrics: Vec::new(),
        }
    }

    fn found(names: &[&str], phases: &[&[f64]]) -> Vec<(&'static str, Vec<Option<f64>>)> {
        let stats: Vec<PhaseStats> = phases.iter().map(|p| phase(p)).collect();
        rates(&table(names), &stats).into_iter().map(|rate| (rate.name, rate.values)).collect()
    }

    #[test]
    fn papi_presets() {
        let names =
            ["PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L1_DCM", "PAPI_L3_TCM", "PAPI_BR_MSP", "RESOURCE_STALLS"];
        let all = found(&names, &[&[3000.0, 2000.0, 60.0, 15.0, 3.0, 500.0]]);
        let expected = [
            ("IPC", 1.5),
            ("MIPS", 3000.0),
            ("L1_MPKI", 20.0),
            ("L3_MPKI", 5.0),
            ("BR_MPKI", 1.0),
            ("STALL_SHARE", 0.25),
            ("MEM_GBPS", 0.96),
        ];
        assert_eq!(all, expected.map(|(name, value)| (name, vec![Some(value)])));
    }

    #[test]
    fn instructions_and_cycles_by_whatever_name() {
        for names in [
            ["PAPI_TOT_INS", "PAPI_TOT_CYC"],
            ["papi_tot_ins", "papi_tot_cyc"],
            ["Instr completed", "Total cycles"],
            ["42000050", "42000059"],
            ["skx::INST_RETIRED:ANY_P:u=0", "CPU-CYCLES"],
        ] {
            let mut table = table(&names);
            table.counters.iter_mut().for_each(|column| column.values = vec![1.0].into());
            assert_eq!(instructions_and_cycles(&table.counters), [Some(0), Some(1)], "{names:?}");
            table.counters[0].values = vec![f64::NAN].into();
            assert_eq!(instructions_and_cycles(&table.counters), [None, Some(1)], "{names:?}");
        }
    }

    #[test]
    fn native_names_and_memory_controllers() {
        let names = [
            "skx::INST_RETIRED:ANY_P:u=0",
            "skx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=0",
            "skx_unc_imc0::UNC_M_CAS_COUNT:WR:cpu=0",
            "skx_unc_imc0::UNC_M_CAS_COUNT:ALL:cpu=0",
            "LONGEST_LAT_CACHE.MISS",
            "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE",
            "FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE",
        ];
        let all = found(&names, &[&[1000.0, 10.0, 5.0, 99.0, 2.0, 100.0, 50.0]]);
        let expected = [("MIPS", 1000.0), ("L3_MPKI", 2.0), ("MEM_GBPS", 0.96), ("GFLOPS", 0.3)];
        assert_eq!(all, expected.map(|(name, value)| (name, vec![Some(value)])));
        let stats = [phase(&[1000.0, 10.0, 5.0, 99.0, 2.0, 100.0, 50.0])];
        let meaning = &rates(&table(&names), &stats)[3].meaning;
        let sum = "(FP_ARITH_INST_RETIRED:SCALAR_DOUBLE + 4·FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE)";
        assert_eq!(*meaning, format!("{sum} / duration"));
    }

    #[test]
    fn a_counter_that_is_0_nearly_everywhere_has_no_rates() {
        let with = |zeros: usize| {
            let mut table = table(&["PAPI_TOT_INS", "PAPI_BR_MSP"]);
            table.duration = vec![Nanos(10); 100];
            table.counters[0].values = vec![1000.0; 100].into();
            table.counters[1].values = (0..100).map(|i| if i < zeros { 0.0 } else { 3.0 }).collect();
            let rates = rates(&table, &[phase(&[1000.0, 3.0])]);
            rates.into_iter().map(|rate| rate.name).collect::<Vec<_>>()
        };
        assert_eq!(with(95), ["MIPS", "BR_MPKI"]);
        assert_eq!(with(96), ["MIPS"]);
    }

    #[test]
    fn what_a_phase_lacks_it_does_not_have() {
        let names = ["PAPI_TOT_INS", "PAPI_DP_OPS", "PAPI_L2_DCM"];
        let all = found(&names, &[&[1000.0, 500.0, 0.0], &[0.0, 250.0, 0.0]]);
        let expected = [("MIPS", vec![Some(1000.0), None]), ("GFLOPS", vec![Some(0.5), Some(0.25)])];
        assert_eq!(all, expected);
        assert_eq!(found(&["A"], &[&[1.0]]), []);
        assert_eq!(found(&[], &[]), []);
    }
}
