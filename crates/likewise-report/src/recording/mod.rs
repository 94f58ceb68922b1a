//! The page of a recording: the states that it went through, who led and whom
//! each stands for, what it cost, and where its calls are made.

mod bars;
mod leads;
mod page;
mod states;
mod tables;

pub use page::write_html;

use likewise::table::Nanos;
use likewise_recording::Log;

/// What is shown of a recording.
#[derive(Clone, Debug, Default)]
pub struct RecordingReport {
    /// Its file or folder; untrusted text.
    pub input: String,
    /// How many ranks the program had, and how many are recorded.
    pub size: u32,
    /// As `size`.
    pub recorded: usize,
    /// Events of all ranks.
    pub events: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// When the last rank ends.
    pub end: Nanos,
    /// How long each rank was recorded; 0 of one that is not known.
    pub walls: Vec<Nanos>,
    /// What happened on line.
    pub log: Option<Log>,
    /// Every call from every call path, those of the most time first.
    pub sites: Vec<Site>,
    /// How many more there are.
    pub more_sites: usize,
    /// A rank and its loop nest; untrusted text.
    pub nest: (u32, String),
    /// What is to be looked at first.
    pub findings: Vec<String>,
    /// What the reader must know beside.
    pub notes: Vec<String>,
}

/// A call from a call path.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Which call.
    pub call: &'static str,
    /// The name of call and call path, in short.
    pub hash: String,
    /// How often all ranks make it.
    pub count: u64,
    /// Bytes that all ranks move by it; `None` where they are not recorded.
    pub bytes: Option<u64>,
    /// How long all ranks are in it.
    pub time: Nanos,
    /// The functions that lead to it, the innermost first; untrusted text.
    pub callers: Vec<String>,
}

impl RecordingReport {
    /// Whether a rank is a lead, by its number: of the last clustering.
    fn is_lead(&self) -> Vec<bool> {
        let mut is = vec![false; self.size as usize];
        let last = self.log.iter().flat_map(|log| log.clusterings.last());
        for led in last.flat_map(|clustering| &clustering.led) {
            if let Some(is) = is.get_mut(led.lead as usize) {
                *is = true;
            }
        }
        is
    }

    /// The place of a lead among those of all clusterings, from 1 in the order in
    /// which they first led; it decides the colour.
    fn numbers_of_leads(&self) -> std::collections::BTreeMap<u32, u32> {
        let mut numbers = std::collections::BTreeMap::new();
        for led in self.log.iter().flat_map(|log| &log.clusterings).flat_map(|clustering| &clustering.led) {
            let next = numbers.len() as u32 + 1;
            numbers.entry(led.lead).or_insert(next);
        }
        numbers
    }
}

/// Ranks in ascending order, as few words as may be: `0–3, 8`, and
/// `0–30 by 2` for every second.
#[must_use]
pub fn ranks_text(ranks: &[u32]) -> String {
    let mut runs: Vec<(u32, u32, u32)> = Vec::new();
    for &rank in ranks {
        match runs.last_mut() {
            // Two ranks are a run of any stride; the third decides.
            Some((first, last, stride)) if first == last && rank > *last => {
                *stride = rank - *last;
                *last = rank;
            }
            Some((_, last, stride)) if rank.checked_sub(*last) == Some(*stride) => *last = rank,
            Some((first, last, stride)) if *stride > 1 && *first + *stride == *last => {
                // Only two of them, so these are single ranks.
                let second = *last;
                *last = *first;
                *stride = 0;
                runs.push((second, rank.max(second), rank.saturating_sub(second)));
            }
            _ => runs.push((rank, rank, 0)),
        }
    }
    let text = |&(first, last, stride): &(u32, u32, u32)| match (last - first, stride) {
        (0, _) => first.to_string(),
        (_, 1) => format!("{first}–{last}"),
        (run, stride) if run == stride => format!("{first}, {last}"),
        (_, stride) => format!("{first}–{last} by {stride}"),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use likewise_recording::{Clustering, Led, Mode, State};

    /// A made-up run of `size` ranks with two phases: in the first, each
    /// quarter has a lead, in the second every second rank.
    pub(crate) fn sample(size: u32) -> RecordingReport {
        let led = |leads: u32, group: &dyn Fn(u32) -> u32| -> Vec<Led> {
            let of = |lead: u32| {
                let ranks: Vec<u32> = (0..size).filter(|rank| group(*rank) == lead).collect();
                Led { lead: ranks[0], ranks, call_path: lead % 2 }
            };
            (0..leads).map(of).collect()
        };
        let at = |ms: u64| ms * 1_000_000;
        let states = vec![
            (State::AllTracing, 2, at(10)),
            (State::Clustering, 1, at(30)),
            (State::Lead, 40, at(40)),
            (State::AllTracing, 1, at(440)),
            (State::Clustering, 1, at(450)),
            (State::Lead, 30, at(460)),
            (State::Final, 1, at(790)),
        ];
        let clusterings = vec![
            Clustering { marker: 3, at: at(30), led: led(4, &|rank| rank * 4 / size) },
            Clustering { marker: 45, at: at(450), led: led(2, &|rank| rank % 2) },
        ];
        let n = size as usize;
        let log = Log {
            mode: Mode::Leads,
            marker: "MPI_Allreduce@886917d0".to_owned(),
            states,
            clusterings,
            bytes: (0..size)
                .map(|rank| if rank < 2 { 40_000 } else { 9_000 + u64::from(rank % 7) * 100 })
                .collect(),
            peaks: (0..size).map(|rank| if rank < 2 { 900_000 } else { 400_000 }).collect(),
            costs: (0..size).map(|rank| 2_000_000 + u64::from(rank % 5) * 10_000).collect(),
            notes: vec!["<b>a note</b>".to_owned()],
        };
        RecordingReport {
            input: "/runs/<app>".to_owned(),
            size,
            recorded: n,
            events: 123_456,
            bytes: 50_000,
            end: Nanos(at(800)),
            walls: vec![Nanos(at(790)); n],
            log: Some(log),
            sites: vec![Site {
                call: "MPI_Send",
                hash: "0123abcd".to_owned(),
                count: 7,
                bytes: Some(56),
                time: Nanos(9),
                callers: vec!["<step> (a.c:7)".to_owned()],
            }],
            more_sites: 3,
            nest: (0, "  loop: 4 iterations\n    MPI_Send <x>\n".to_owned()),
            findings: vec!["71 of 76 markers are in L.".to_owned()],
            notes: vec!["<i>".to_owned()],
        }
    }

    #[test]
    fn ranks_are_told_in_few_words() {
        let is = |ranks: &[u32], expected: &str| assert_eq!(ranks_text(ranks), expected);
        is(&[], "");
        is(&[5], "5");
        is(&[0, 1, 2, 3, 8], "0–3, 8");
        is(&[0, 2, 4, 6], "0–6 by 2");
        is(&[0, 5], "0, 5");
        is(&[0, 5, 6, 7], "0, 5–7");
        is(&[1, 2], "1–2");
        is(&[0, 3, 4, 9, 14, 19, 20], "0, 3–4, 9–19 by 5, 20");
    }

    #[test]
    fn a_lead_keeps_its_number_in_all_clusterings() {
        let numbers = sample(16).numbers_of_leads();
        assert_eq!(numbers.into_iter().collect::<Vec<_>>(), [(0, 1), (1, 5), (4, 2), (8, 3), (12, 4)]);
    }
}
