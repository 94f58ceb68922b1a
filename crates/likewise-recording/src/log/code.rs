//! A log as bytes. `docs/recording.md` describes them.

use super::{Clustering, Led, Log, Mode, State};
use crate::broken::Broken;
use crate::bytes::{Reader, Write};
use crate::column::{Column, Values};

const MODES: [Mode; 3] = [Mode::Full, Mode::Leads, Mode::Strata];
const STATES: [State; 4] = [State::AllTracing, State::Clustering, State::Lead, State::Final];

/// The ranks in the lists of a log, all together: no few bytes make more.
const MOST_RANKS: u64 = 1 << 25;

fn place<T: PartialEq>(known: &[T], one: &T) -> u8 {
    known.iter().position(|other| other == one).unwrap_or(0) as u8
}

impl Log {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![place(&MODES, &self.mode)];
        bytes.block(self.marker.as_bytes());
        bytes.number(self.states.len() as u64);
        let mut last = 0_u64;
        for (state, n, at) in &self.states {
            bytes.push(place(&STATES, state));
            bytes.number(*n);
            bytes.signed(at.wrapping_sub(last) as i64);
            last = *at;
        }
        bytes.number(self.clusterings.len() as u64);
        self.clusterings.iter().for_each(|clustering| write_clustering(clustering, &mut bytes));
        for numbers in [&self.bytes, &self.peaks, &self.costs] {
            bytes.number(numbers.len() as u64);
            numbers.iter().for_each(|number| bytes.number(*number));
        }
        bytes.number(self.notes.len() as u64);
        self.notes.iter().for_each(|note| bytes.block(note.as_bytes()));
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Broken> {
        let mut reader = Reader::new(bytes);
        let mode = known(&mut reader, &MODES)?;
        let marker = reader.text()?;
        let mut last = 0_u64;
        let mut state = |reader: &mut Reader<'_>| {
            let (state, n) = (known(reader, &STATES)?, reader.number()?);
            last = last.wrapping_add(reader.signed()? as u64);
            Ok((state, n, last))
        };
        let states = (0..reader.count()?).map(|_| state(&mut reader)).collect::<Result<_, Broken>>()?;
        let mut left = MOST_RANKS;
        let n = reader.count()?;
        let clusterings =
            (0..n).map(|_| read_clustering(&mut reader, &mut left)).collect::<Result<_, Broken>>()?;
        let mut numbers = || (0..reader.count()?).map(|_| reader.number()).collect::<Result<_, Broken>>();
        let (bytes, peaks, costs) = (numbers()?, numbers()?, numbers()?);
        let notes = (0..reader.count()?).map(|_| reader.text()).collect::<Result<_, Broken>>()?;
        if reader.rest() > 0 {
            return Err(reader.broken("more bytes than a log has"));
        }
        Ok(Self { mode, marker, states, clusterings, bytes, peaks, costs, notes })
    }
}

fn known<T: Copy>(reader: &mut Reader<'_>, known: &[T]) -> Result<T, Broken> {
    let place = reader.byte()?;
    known.get(usize::from(place)).copied().ok_or_else(|| reader.broken("made by a newer likewise"))
}

fn write_clustering(clustering: &Clustering, bytes: &mut Vec<u8>) {
    bytes.number(clustering.marker);
    bytes.number(clustering.at);
    bytes.number(clustering.led.len() as u64);
    for led in &clustering.led {
        bytes.number(u64::from(led.lead));
        bytes.number(u64::from(led.call_path));
        bytes.number(led.ranks.len() as u64);
        let mut column = Column::default();
        led.ranks.iter().for_each(|rank| column.push(i64::from(*rank)));
        column.write(bytes);
    }
}

fn read_clustering(reader: &mut Reader<'_>, left: &mut u64) -> Result<Clustering, Broken> {
    let (marker, at) = (reader.number()?, reader.number()?);
    let mut clustering = Clustering { marker, at, led: Vec::new() };
    for _ in 0..reader.count()? {
        let (lead, call_path) = (reader.small()?, reader.small()?);
        let n = reader.number()?;
        *left = left.checked_sub(n).ok_or_else(|| reader.broken("a log of too many ranks"))?;
        let mut values = Values::read(reader)?;
        let rank = |_| values.next().and_then(|rank| u32::try_from(rank).ok());
        let ranks = (0..n).map(rank).collect::<Option<_>>();
        let ranks = ranks.ok_or_else(|| reader.broken("no such rank"))?;
        clustering.led.push(Led { lead, ranks, call_path });
    }
    Ok(clustering)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn made() -> Log {
        let led = |lead: u32, call_path| Led { lead, ranks: vec![lead, lead + 2, lead + 5], call_path };
        Log {
            mode: Mode::Leads,
            marker: "MPI_Allreduce from main".to_owned(),
            states: vec![(State::AllTracing, 2, 7), (State::Lead, 500, 1 << 40), (State::Final, 1, u64::MAX)],
            clusterings: vec![Clustering { marker: 3, at: 1 << 33, led: vec![led(0, 0), led(1, 1)] }],
            bytes: vec![1, 2, 3],
            peaks: vec![u64::MAX, 0],
            costs: Vec::new(),
            notes: vec!["ranks came to different numbers of markers".to_owned()],
        }
    }

    #[test]
    fn a_log_comes_back() {
        for log in [made(), Log::default()] {
            assert_eq!(Log::decode(&log.encode()).unwrap(), log);
        }
    }

    #[test]
    fn broken_logs_are_refused_or_read() {
        let whole = made().encode();
        for at in 0..whole.len() {
            assert!(Log::decode(&whole[..at]).is_err());
            for value in 0..=255 {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let _ = Log::decode(&bytes);
            }
        }
    }

    #[test]
    fn few_bytes_are_not_many_ranks() {
        // A constant column has no end.
        let led = |n: u64| {
            let mut bytes = vec![1, 0, 0, 1, 3, 0, 1, 0, 0];
            bytes.number(n);
            bytes.extend([0, 0, 0, 0, 0, 0]);
            bytes
        };
        assert_eq!(Log::decode(&led(3)).unwrap().clusterings[0].led[0].ranks, [0; 3]);
        assert!(Log::decode(&led(1 << 40)).is_err());
    }
}
