//! The counters of a recording by the numbers that Extrae gives them.

use likewise::table::Counter;

use crate::paraver::counter_name;

/// Counters that are known by the names of `perf` or of PAPI: type and label,
/// by which the default metrics find instructions and cycles.
const KNOWN: [(&[&str], u32, &str); 5] = [
    (&["PAPI_TOT_INS"], 42_000_050, "PAPI_TOT_INS [Instr completed]"),
    (&["PAPI_TOT_CYC"], 42_000_059, "PAPI_TOT_CYC [Total cycles]"),
    (&["instructions"], 42_000_050, "instructions [Instr completed]"),
    (&["cycles", "cpu-cycles"], 42_000_059, "cycles [Total cycles]"),
    (&["PAPI_L1_DCM"], 42_000_000, "PAPI_L1_DCM [L1D cache misses]"),
];

/// The types of all others, which the reader of `.prv` sums up too.
const OTHERS: u32 = 44_000_000;

/// A counter: its event type and its label in a `.pcf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) event_type: u32,
    pub(super) label: String,
}

/// The counters with these names, in their order.
pub(super) fn columns(names: &[String]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let known = KNOWN.iter().find(|(known, ..)| known.contains(&name.as_str()));
        let known = known.filter(|(_, event_type, _)| columns.iter().all(|c| c.event_type != *event_type));
        let other =
            || Column { event_type: OTHERS + at as u32, label: crate::printable(name.as_bytes(), 100) };
        columns.push(known.map_or_else(other, |(_, event_type, label)| Column {
            event_type: *event_type,
            label: (*label).to_owned(),
        }));
    }
    columns
}

/// The counter of that type, as a table of bursts names it.
pub(super) fn counter(columns: &[Column], event_type: u32) -> Counter {
    let label =
        columns.iter().find(|column| column.event_type == event_type).map_or("", |column| &column.label);
    let (name, description) = counter_name(label);
    let name = if name.is_empty() { event_type.to_string() } else { name.to_owned() };
    Counter { event_type: Some(event_type), name, description: description.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_found_by_what_perf_calls_them() {
        let names = ["cycles", "instructions", "page-faults"].map(str::to_owned);
        let columns = columns(&names);
        let types: Vec<u32> = columns.iter().map(|column| column.event_type).collect();
        assert_eq!(types, [42_000_059, 42_000_050, 44_000_002]);
        let instructions = counter(&columns, 42_000_050);
        assert_eq!(
            (instructions.name.as_str(), instructions.preset()),
            ("instructions", Some("PAPI_TOT_INS"))
        );
        assert_eq!(counter(&columns, 44_000_002).name, "page-faults");
    }
}
