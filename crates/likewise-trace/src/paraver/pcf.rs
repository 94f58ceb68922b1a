//! Names of states, event types and their values.

use std::collections::BTreeMap;

use likewise::table::Counter;

use super::header::{Header, TimeUnit};
use crate::error::printable;
use crate::trace::TRACING_DISABLED;

/// An event type's label and where the names of its values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventType {
    /// Label, such as `PAPI_TOT_INS [Instr completed]`.
    pub(crate) label: String,
    values: usize,
}

/// A `.pcf` file. All names are safe to print on a terminal, but not safe in
/// HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pcf {
    /// Names of states.
    pub(crate) states: BTreeMap<i64, String>,
    /// Colours of states, in red, green and blue.
    pub(crate) state_colours: BTreeMap<i64, [u8; 3]>,
    /// Event types.
    pub(crate) event_types: BTreeMap<u32, EventType>,
    /// Names of values; several types may share one table.
    values: Vec<BTreeMap<i64, String>>,
    units: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Other,
    Options,
    States,
    Colours,
    Types,
    Values,
}

/// The longest name that is kept.
const MAX_NAME: usize = 400;
const MAX_PROBLEMS: usize = 5;

impl Pcf {
    /// Reads the file. Lines without a meaning are left out and described; each
    /// description begins with `:line: `.
    pub(crate) fn parse(bytes: &[u8]) -> (Self, Vec<String>) {
        let mut pcf = Self::default();
        let mut problems = Vec::new();
        let mut section = Section::Other;
        for (n, line) in crate::bytes::lines(bytes).enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if let Some(next) = section_of(line) {
                section = next;
                // The types of a block share the names of values after them.
                if next == Section::Types {
                    pcf.values.push(BTreeMap::new());
                }
            } else if let Err(problem) = pcf.line(section, line)
                && problems.len() < MAX_PROBLEMS
            {
                problems.push(format!(":{}: {problem}", n + 1));
            }
        }
        if let Some(name) = pcf.states.get(&1)
            && !name.to_lowercase().contains("running")
        {
            problems.push(format!(": state 1 is called '{name}'; it is taken as Running, as Paraver does"));
        }
        (pcf, problems)
    }

    /// Whether the bytes have any section of a `.pcf`.
    pub(crate) fn is_one(bytes: &[u8]) -> bool {
        bytes.trim_ascii().is_empty()
            || crate::bytes::lines(bytes).any(|line| section_of(line.trim_ascii()).is_some())
    }

    fn line(&mut self, section: Section, line: &[u8]) -> Result<(), String> {
        let bad = |what: &str| format!("expected {what}, found '{}'", printable(line, 40));
        let (first, rest) = word(line);
        match section {
            Section::Other => {}
            Section::Options => {
                if first == b"UNITS" {
                    self.units = Some(printable(rest, 40));
                }
            }
            Section::States => {
                let value = number(first).ok_or_else(|| bad("a state and its name"))?;
                self.states.insert(value, printable(rest, MAX_NAME));
            }
            Section::Colours => {
                let colour = colour(rest).ok_or_else(|| bad("a state and its {r,g,b}"))?;
                self.state_colours.insert(number(first).ok_or_else(|| bad("a state"))?, colour);
            }
            Section::Types => {
                let (event_type, label) = word(rest);
                let event_type = number(first)
                    .and_then(|_| number(event_type))
                    .and_then(|t| u32::try_from(t).ok())
                    .ok_or_else(|| bad("a gradient, an event type and its label"))?;
                return self.event_type(event_type, printable(label, MAX_NAME));
            }
            Section::Values => {
                let value = number(first).ok_or_else(|| bad("a value and its name"))?;
                if let Some(values) = self.values.last_mut() {
                    values.insert(value, printable(rest, MAX_NAME));
                }
            }
        }
        Ok(())
    }

    fn event_type(&mut self, number: u32, label: String) -> Result<(), String> {
        let values = self.values.len().saturating_sub(1);
        match self.event_types.get(&number) {
            Some(before) if before.label != label => Err(format!(
                "event type {number} is '{label}' here and '{}' before, which is used",
                before.label
            )),
            _ => {
                self.event_types.insert(number, EventType { label, values });
                Ok(())
            }
        }
    }

    /// The unit in the file, if it differs from that of the header.
    pub(crate) fn contradicts(&self, header: &Header) -> Option<&str> {
        let unit = match self.units.as_deref()? {
            "NANOSEC" => TimeUnit::Nanoseconds,
            "MICROSEC" => TimeUnit::Microseconds,
            "MILLISEC" => TimeUnit::Milliseconds,
            _ => return None,
        };
        (unit != header.unit).then_some(self.units.as_deref()?)
    }

    /// The name of a state, or its number.
    #[must_use]
    pub(crate) fn state(&self, value: u32) -> String {
        self.states.get(&i64::from(value)).cloned().unwrap_or_else(|| value.to_string())
    }

    /// Whether the state of a thread that is not traced is called so, or by no name.
    #[must_use]
    pub(crate) fn has_untraced_state(&self) -> bool {
        let name = self.states.get(&i64::from(TRACING_DISABLED));
        name.is_none_or(|name| name.to_ascii_lowercase().contains("disabled"))
    }

    /// The name of an event's value, if there is one.
    #[must_use]
    pub(crate) fn value(&self, event_type: u32, value: i64) -> Option<&str> {
        let values = self.values.get(self.event_types.get(&event_type)?.values)?;
        values.get(&value).map(String::as_str)
    }

    /// The counter that an event type is.
    #[must_use]
    pub(crate) fn counter(&self, event_type: u32) -> Counter {
        let label = self.event_types.get(&event_type).map_or("", |t| &t.label);
        let (name, description) = counter_name(label);
        let name = if name.is_empty() { event_type.to_string() } else { name.to_owned() };
        Counter { event_type: Some(event_type), name, description: description.to_owned() }
    }
}

/// Short name and description in a counter's label: `(PAPI_X) desc`,
/// `PAPI_X [desc]` and `PAPI_X ([desc])` all give `PAPI_X` and `desc`.
#[must_use]
pub fn counter_name(label: &str) -> (&str, &str) {
    let label = label.trim();
    if let Some((name, description)) = label.strip_prefix('(').and_then(|l| l.split_once(')')) {
        return (name.trim(), description.trim());
    }
    let cut = [" ([", " [", " (", "\t"].iter().filter_map(|open| label.find(open)).min();
    let Some(cut) = cut else { return (label, "") };
    let description = label[cut..].trim();
    let inner = description.strip_prefix('(').and_then(|d| d.strip_suffix(')')).unwrap_or(description);
    let inner = inner.strip_prefix('[').and_then(|d| d.strip_suffix(']')).unwrap_or(inner);
    (label[..cut].trim(), inner.trim())
}

fn section_of(line: &[u8]) -> Option<Section> {
    match word(line).0 {
        b"DEFAULT_OPTIONS" => Some(Section::Options),
        b"STATES" => Some(Section::States),
        b"STATES_COLOR" => Some(Section::Colours),
        b"EVENT_TYPE" => Some(Section::Types),
        b"VALUES" => Some(Section::Values),
        b"DEFAULT_SEMANTIC" | b"GRADIENT_COLOR" | b"GRADIENT_NAMES" | b"PRECISION" => Some(Section::Other),
        _ => None,
    }
}

/// The first word, and what follows it.
pub(crate) fn word(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.trim_ascii_start();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    (&line[..end], line[end..].trim_ascii())
}

pub(crate) fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn colour(text: &[u8]) -> Option<[u8; 3]> {
    let inner = text.strip_prefix(b"{")?.strip_suffix(b"}")?;
    let mut parts = inner.split(|&b| b == b',').map(|p| number(p.trim_ascii()));
    let mut next = || parts.next().flatten().and_then(|v| u8::try_from(v).ok());
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_by_section() {
        let text = b"DEFAULT_OPTIONS\n\nLEVEL THREAD\nUNITS  NANOSEC\n\nSTATES\n0\tIdle\n1    Running\n\n\
            STATES_COLOR\n1 {0, 0,255}\n\nEVENT_TYPE\n9 50000001 MPI p2p\n9\t50000002\tMPI coll\nVALUES\n0 End\n\
            31 MPI_Init\n\nEVENT_TYPE\n7  42000050 PAPI_TOT_INS ([Instr completed])\nPRECISION 2\n";
        let (pcf, problems) = Pcf::parse(text);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!((pcf.state(1), pcf.state(9)), ("Running".into(), "9".into()));
        assert_eq!(pcf.state_colours[&1], [0, 0, 255]);
        assert_eq!(pcf.value(50000001, 31), Some("MPI_Init"));
        assert_eq!(pcf.value(50000002, 0), Some("End"));
        assert_eq!(pcf.value(42000050, 0), None);
        assert_eq!(pcf.counter(42000050).name, "PAPI_TOT_INS");
        assert_eq!(pcf.counter(42000050).description, "Instr completed");
        assert_eq!(pcf.counter(42000059).name, "42000059");
    }

    #[test]
    fn a_contradiction_keeps_the_first_and_says_so() {
        let (pcf, problems) = Pcf::parse(b"EVENT_TYPE\n7 5 A\nx y z\n7 5 B\nSTATES\n1 Sleeping\n");
        assert_eq!(pcf.event_types[&5].label, "A");
        assert!(problems[0].starts_with(":3: expected a gradient"), "{problems:?}");
        assert!(problems[1].starts_with(":4: event type 5 is 'B' here and 'A' before"));
        assert!(problems[2].contains("Sleeping"));
    }

    #[test]
    fn takes_the_short_name_out_of_every_form() {
        for (label, name, description) in [
            ("(PAPI_TOT_INS) Instr completed", "PAPI_TOT_INS", "Instr completed"),
            ("PAPI_TOT_INS [Instr completed]", "PAPI_TOT_INS", "Instr completed"),
            ("PAPI_TOT_INS ([Instr completed])", "PAPI_TOT_INS", "Instr completed"),
            ("x::RD:cpu=0 ([TBD, masks:DRAM CAS (Column)])", "x::RD:cpu=0", "TBD, masks:DRAM CAS (Column)"),
            ("PAPI_L1_DCM", "PAPI_L1_DCM", ""),
            ("Active hardware counter set", "Active hardware counter set", ""),
            ("", "", ""),
            ("é (", "é", "("),
        ] {
            assert_eq!(counter_name(label), (name, description), "{label}");
        }
    }
}
