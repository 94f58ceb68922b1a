//! What ranks have recorded goes into the file that grows.

use super::Online;
use crate::gather::{End, Ranks};
use crate::job::Job;
use crate::out::Out;
use crate::state;
use crate::watch::Interval;
use likewise_comm::Communicator;
use likewise_online::{Ranklist, gather};
use likewise_recording::{Part, Stand, file};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What a rank has done in the interval that ends state L.
const FOLLOWED: u8 = 0;
const TAIL: u8 = 1;
const LED: u8 = 2;

/// A lead in the end of state L.
struct Lead {
    path: u128,
    /// Events in its part: all, at the last marker, and at the one before.
    events: u64,
    marked: [u64; 2],
    passed: u64,
}

impl Lead {
    /// How many of its events a rank made too that counts its own since the
    /// last marker that it has passed, and since the one before. Of two ranks,
    /// one may have passed one marker more, where that was the last that any
    /// rank passed.
    fn with(&self, passed: u64, [since, before]: [u64; 2]) -> u64 {
        let events = match passed.cmp(&self.passed) {
            Ordering::Equal => self.marked[0] + since,
            Ordering::Less => self.marked[1] + since,
            Ordering::Greater => self.marked[0] + before,
        };
        events.min(self.events)
    }
}

/// What a rank says: its lead, its call path, what it did, the markers that it
/// has passed; of a lead its events, all and at the last two markers; of a tail
/// the events that it made before it since the last two markers.
type Key = (u32, u128, u8, [u64; 4]);

fn key((lead, path, kind, counts): Key) -> Vec<u8> {
    let mut bytes = lead.to_le_bytes().to_vec();
    bytes.extend(path.to_le_bytes());
    bytes.push(kind);
    counts.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
    bytes
}

fn read_key(bytes: &[u8]) -> Option<Key> {
    let (lead, rest) = bytes.split_first_chunk::<4>()?;
    let (path, rest) = rest.split_first_chunk::<16>()?;
    let (kind, rest) = rest.split_first()?;
    let (words, _) = rest.as_chunks::<8>();
    let mut counts = [0; 4];
    counts.iter_mut().zip(words).for_each(|(count, word)| *count = u64::from_le_bytes(*word));
    Some((u32::from_le_bytes(*lead), u128::from_le_bytes(*path), *kind, counts))
}

/// Who stands behind whom; how many ranks have an interval that nobody
/// recorded; and how many have tails.
fn stands(keys: &[(Vec<u8>, Ranklist)]) -> (Vec<Stand>, usize, usize) {
    let read: Vec<_> = keys.iter().filter_map(|(key, ranks)| Some((read_key(key)?, ranks))).collect();
    let mut leads: BTreeMap<u32, Lead> = BTreeMap::new();
    for ((lead, path, kind, [passed, events, last, before]), _) in &read {
        if *kind == LED {
            let known = Lead { path: *path, events: *events, marked: [*last, *before], passed: *passed };
            leads.insert(*lead, known);
        }
    }
    let (mut all, mut lost, mut tails) = (Vec::new(), 0, 0);
    for ((lead, path, kind, [passed, since, before, _]), ranks) in &read {
        let Some(of_lead) = leads.get(lead).filter(|_| *kind != LED) else { continue };
        let events = match *kind {
            TAIL => {
                tails += ranks.len() as usize;
                of_lead.with(*passed, [*since, *before])
            }
            _ if *path == of_lead.path => of_lead.events,
            _ => {
                lost += ranks.len() as usize;
                of_lead.with(*passed, [0, 0])
            }
        };
        all.push(Stand { lead: *lead, events, ranks: ranks.iter().collect() });
    }
    (all, lost, tails)
}

fn encode(stands: &[Stand]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for stand in stands {
        bytes.extend(stand.lead.to_le_bytes());
        bytes.extend(stand.events.to_le_bytes());
        Ranklist::of(&stand.ranks).encode(&mut bytes);
    }
    bytes
}

/// Those of one lead.
fn decode(mut bytes: &[u8], own: u32) -> Option<Vec<Stand>> {
    let mut stands = Vec::new();
    while !bytes.is_empty() {
        let (lead, rest) = bytes.split_first_chunk::<4>()?;
        let (events, rest) = rest.split_first_chunk::<8>()?;
        bytes = rest;
        let ranks = Ranklist::decode(&mut bytes).ok()?;
        if u32::from_le_bytes(*lead) == own {
            let ranks = ranks.iter().collect();
            stands.push(Stand { lead: own, events: u64::from_le_bytes(*events), ranks });
        }
    }
    Some(stands)
}

impl Online {
    /// This rank's job, which others of its threads do not have meanwhile; and
    /// what is recorded, if it is to be given.
    fn take_job(&self, takes: bool) -> Option<(Job, Option<Part>)> {
        let mut state = state::lock();
        let state = state.as_mut()?;
        let mut job = state.job.take()?;
        let part = takes.then(|| job.take(&mut state.recorder).compact());
        if takes {
            state.forget_last();
            if let Some(watch) = &mut state.watch {
                watch.taken();
            }
        }
        Some((job, part))
    }

    fn put_job(job: Job) {
        if let Some(state) = state::lock().as_mut() {
            state.job = Some(job);
        }
    }

    /// Gives a part to the file, over a tree of these ranks. What cannot be written
    /// there stays in this rank's own file.
    fn give(&mut self, job: &mut Job, part: Option<Part>, ranks: &Ranks<'_>) {
        if self.world.rank == 0 && self.out.is_none() {
            self.out = Some(Out::create(&job.online()));
        }
        let n = self.out.as_ref().map_or(0, Out::len);
        let kept = part.clone();
        let given = job.give(part, self.is_whole, ranks, &self.world, self.out.as_mut(), End::Open);
        match given {
            Ok(None) => {}
            Ok(Some(missing)) => {
                self.log.notes.push(format!("Not recorded: {missing}."));
                self.missing = Some(missing);
            }
            Err(why) => {
                if let Some(out) = &mut self.out {
                    out.cut(n);
                }
                let sealed = kept.map_or(Ok(()), |part| job.seal(part));
                let lost = if sealed.is_err() { ", and what was recorded until then is lost" } else { "" };
                if self.world.rank == 0 {
                    self.failed = Some(format!("{why}{lost}"));
                }
                self.give_up("the file of all ranks could not be written");
            }
        }
    }

    /// Every rank gives what it has recorded.
    pub(super) fn give_all(&mut self, number: u32) -> Option<()> {
        let (mut job, part) = self.take_job(true)?;
        job.number = number;
        self.give(&mut job, part, &Ranks::all(self.world.size));
        job.number = job.number.max(number + 1);
        Self::put_job(job);
        Some(())
    }

    /// State L ends: the leads give what they have recorded, with who stands
    /// behind them, and followers what they have recorded since they met a call
    /// path that was new.
    pub(super) fn flush(&mut self, interval: &Interval, number: u32, any_tail: bool) -> Option<()> {
        let rank = self.world.rank;
        let lead = self.groups.iter().find(|group| group.ranks.contains(rank))?.lead;
        let is_lead = lead == rank;
        let takes = is_lead || interval.has_tail;
        let (mut job, mut part) = self.take_job(takes)?;
        job.stands.clear();
        let kind = if is_lead {
            LED
        } else if interval.has_tail {
            TAIL
        } else {
            FOLLOWED
        };
        let events = part.as_ref().map_or(0, |part| part.ranks()[0].events);
        let ([last, before], [since, since_before]) = (interval.marked, interval.before_tail);
        let counts = match kind {
            LED => [interval.passed, events, last, before],
            TAIL => [interval.passed, since, since_before, 0],
            _ => [interval.passed, 0, 0, 0],
        };
        let own = key((lead, interval.signature.path, kind, counts));
        let keys = gather(&self.world, &own).ok()?;
        let (all, lost, tails) = stands(&keys);
        if lost > 0 {
            self.log.notes.push(format!(
                "Before marker {} the last interval of {lost} ranks was recorded by nobody: they did what \
                 they had done before, in another order, or in part.",
                self.calls
            ));
        }
        let mut bytes = encode(&all);
        self.world.broadcast(0, &mut bytes).ok()?;
        let mut leads: Vec<u32> = self.groups.iter().map(|group| group.lead).collect();
        let n_leads = leads.len();
        leads.push(0);
        leads.sort_unstable();
        leads.dedup();
        job.number = number;
        if leads.binary_search(&rank).is_ok() {
            let own = if is_lead { part.take() } else { None };
            let own = own.map(|mut part| {
                part.stand(decode(&bytes, rank).unwrap_or_default());
                part
            });
            self.give(&mut job, own, &Ranks::these(&leads).giving(n_leads));
        }
        job.number = number + 1;
        if any_tail {
            self.give(&mut job, part, &Ranks::all(self.world.size).giving(tails));
        }
        job.number = job.number.max(number + 2);
        Self::put_job(job);
        if let Some(state) = state::lock().as_mut() {
            // What was the last event of a symbol may not have been recorded.
            state.forget_last();
            if let Some(watch) = &mut state.watch {
                watch.record_all();
            }
        }
        self.write_log();
        Some(())
    }

    /// On rank 0: what is known until now, for those who look while the program
    /// runs.
    pub(super) fn write_log(&mut self) {
        if let Some(out) = &mut self.out {
            out.section(&file::log_section(&self.log));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn followers_stand_behind_what_they_did_as_their_lead() {
        let keys = [
            ((0, 7, LED, [5, 100, 80, 60]), &[0][..]),
            ((0, 7, FOLLOWED, [5, 0, 0, 0]), &[1, 2]),
            ((0, 8, FOLLOWED, [5, 0, 0, 0]), &[3]),
            ((0, 9, TAIL, [5, 10, 30, 0]), &[4, 5]),
            ((0, 9, TAIL, [4, 10, 30, 0]), &[6]),
            ((0, 9, TAIL, [6, 5, 15, 0]), &[7]),
        ];
        let keys: Vec<_> =
            keys.into_iter().map(|(of_key, ranks)| (key(of_key), Ranklist::of(ranks))).collect();
        let (all, lost, tails) = stands(&keys);
        let stand = |events, ranks: &[u32]| Stand { lead: 0, events, ranks: ranks.to_vec() };
        let expected =
            [stand(100, &[1, 2]), stand(80, &[3]), stand(90, &[4, 5]), stand(70, &[6]), stand(95, &[7])];
        assert_eq!(all, expected);
        assert_eq!((lost, tails), (1, 4));
        assert_eq!(decode(&encode(&all), 0), Some(all));
        assert_eq!(decode(&[1, 2, 3], 0), None);
    }
}
