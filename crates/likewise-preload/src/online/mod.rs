//! Clustering while the program runs: what happens at a marker.
//!
//! Every rank ends its interval, and all vote; the state machine says what
//! follows. Only a change of state needs more than the vote, and before one the
//! ranks vote once more, so that a rank that has gone on alone is noticed (see
//! `votes.rs`). What is known of this rank alone is in `watch.rs`.
//!
//! Reference: Bahmani and Mueller, "Chameleon: online clustering of MPI program
//! traces". What differs is in `docs/chameleon.md`.

mod flush;
mod found;
mod sample;
mod votes;

use crate::clock;
use crate::job::{Job, guarded};
use crate::link::World;
use crate::memory;
use crate::modes::Modes;
use crate::out::Out;
use crate::state::{self, State, Then};
use crate::watch::{Interval, Watch};
use found::Finder;
use likewise_comm::Communicator;
use likewise_online::{Action, Group, Machine, choose};
use likewise_recording::{Clustering, Led, Log, Mode, State as Phase, file};
use sample::Sampling;
use std::sync::{Mutex, MutexGuard, PoisonError};
use votes::{Vote, Votes};

/// When so many more intervals were not like those before them than were,
/// intervals are made longer.
const UNSTEADY: u32 = 6;
/// Ranks wait for each other where a marker is tried as long as so many turns of
/// its loop took until then, but not less nor more than this (in ns).
const TURNS_OF_PATIENCE: u64 = 20;
const LEAST_PATIENCE: u64 = 20_000_000;
const MOST_PATIENCE: u64 = 1_000_000_000;
/// The least time between two lines of progress, in ns.
const TELL: u64 = 500_000_000;

/// What all ranks do together.
pub(crate) struct Online {
    options: Modes,
    world: World,
    votes: Votes,
    finder: Option<Finder>,
    /// Where efforts are sampled.
    sampling: Option<Sampling>,
    machine: Machine,
    /// On rank 0.
    out: Option<Out>,
    log: Log,
    groups: Vec<Group>,
    /// Calls of the marker.
    calls: u64,
    every: u64,
    /// Since `every` was last changed: what markers took and how long they were
    /// apart, in ns.
    took: u64,
    passed: u64,
    last: u64,
    /// How long the last vote took, and all else at that marker.
    waited: u64,
    worked: u64,
    cost: u64,
    /// Whether the ranks do nothing together any more.
    gave_up: bool,
    /// By how many more intervals were not like those before them than were.
    unsteady: u32,
    /// Whether this rank has recorded all that it should.
    is_whole: bool,
    /// On rank 0: why not all that was given is in the file.
    failed: Option<String>,
    /// On rank 0: what was not recorded.
    missing: Option<String>,
    told: u64,
}

static ONLINE: Mutex<Option<Online>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Online>> {
    ONLINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// MPI has begun. Collective.
pub(crate) fn begin(options: &Modes, world: &World) -> Option<()> {
    let (votes, parts) = (world.clone().duplicated()?, world.clone().duplicated()?);
    let finder = if options.marker == crate::watch::Marker::Auto {
        Some(Finder::new(world.clone().duplicated()?, world.clone().duplicated()?))
    } else {
        None
    };
    let sampling = match options.mode {
        Mode::Strata => Some(Sampling::new(&options.strata)?),
        _ => None,
    };
    *lock() = Some(Online {
        votes: Votes::new(votes, options.patience),
        world: parts,
        finder,
        sampling,
        machine: Machine::new(),
        out: None,
        log: Log { mode: options.mode, ..Log::default() },
        groups: Vec::new(),
        calls: 0,
        every: options.every.unwrap_or(1),
        took: 0,
        passed: 0,
        last: clock::ticks(),
        waited: 0,
        worked: 0,
        cost: 0,
        gave_up: false,
        unsteady: 0,
        is_whole: true,
        failed: None,
        missing: None,
        told: clock::ticks(),
        options: options.clone(),
    });
    Some(())
}

/// Does what is to be done after a call.
#[cold]
#[inline(never)]
pub(crate) fn on(then: Then) {
    let mut online = lock();
    let Some(online) = online.as_mut() else { return };
    match then {
        Then::Nothing | Then::Stop | Then::Write => {}
        Then::Marker(symbol) => online.marker(symbol),
        Then::Trial => online.trial(),
        Then::Look => online.look(),
    }
}

/// This rank records no more, and goes on without the others.
pub(crate) fn leave() {
    // Whoever holds the state must not wait for this.
    if let Ok(mut online) = ONLINE.try_lock()
        && let Some(online) = online.as_mut()
        && !online.gave_up
    {
        online.gave_up = true;
        online.votes.post(Vote::of(Vote::LEFT));
    }
}

/// At the beginning of `MPI_Finalize`: waits for all ranks, if this is recorded
/// on line.
pub(crate) fn wait_for_all() -> bool {
    let mut online = lock();
    if let Some(online) = online.as_mut() {
        online.gave_up |= online.votes.last(Vote::at_the_end()).is_none();
        if let Some(finder) = online.finder.take() {
            finder.end();
        }
    }
    online.is_some()
}

/// At the end of `MPI_Finalize`. None where nothing was recorded on line.
pub(crate) fn finish(is_whole: bool) -> Option<Result<(), String>> {
    let online = lock().take()?;
    Some(online.finish(is_whole))
}

impl Online {
    /// This rank has come to a marker.
    fn marker(&mut self, symbol: u32) {
        self.calls += 1;
        if self.gave_up {
            return;
        }
        if let Some(sampling) = &mut self.sampling {
            sampling.step();
        }
        if !self.calls.is_multiple_of(self.every) {
            return;
        }
        let begin = clock::ticks();
        if self.log.marker.is_empty() {
            let state = state::lock();
            let watch = state.as_ref().and_then(|state| state.watch.as_ref());
            self.log.marker = watch.map_or_else(String::new, |watch| watch.name(symbol));
        }
        let Some((interval, number)) = ended() else { return };
        let voted = self.vote(&interval, number);
        let waited = clock::ns(begin, clock::ticks());
        match voted {
            Some(vote) if self.sampling.is_some() => self.sample(&vote),
            Some(vote) => {
                passed();
                self.step(&interval, &vote);
            }
            None => {
                self.give_up("ranks came to different numbers of markers, or waited too long for each other")
            }
        }
        if !self.gave_up {
            // Nobody waits for a message while this rank computes.
            let _ = self.world.settle(0);
        }
        let end = clock::ticks();
        self.account(voted, begin, waited, end);
        self.tell(end);
    }

    fn vote(&mut self, interval: &Interval, number: u32) -> Option<Vote> {
        let mut vote = Vote::between();
        // Efforts are sampled whatever the ranks do.
        vote.0[Vote::DIFFERS] = i64::from(!interval.is_same && self.sampling.is_none());
        vote.0[Vote::TAIL] = i64::from(interval.has_tail);
        vote.0[Vote::NUMBER] = i64::from(number);
        vote.0[Vote::WAITED] = -(self.waited as i64);
        vote.0[Vote::WORKED] = self.worked as i64;
        vote.0[Vote::PASSED] = clock::ns(self.last, clock::ticks()) as i64;
        self.votes.cast(vote)
    }

    /// Looks whether a marker was proposed, or may be.
    fn look(&mut self) {
        // Whoever has put markers into the program knows better.
        let may = !self.gave_up && !self.log.marker.starts_with("MPI_Pcontrol");
        let Some(finder) = &mut self.finder else { return };
        if let Some(State { watch: Some(watch), .. }) = state::lock().as_mut() {
            finder.look(watch, may);
        }
    }

    /// This rank has come to where a call that was proposed would be the marker.
    fn trial(&mut self) {
        let Some(finder) = &mut self.finder else { return };
        let elapsed = elapsed();
        let turns =
            state::lock().as_ref().and_then(|state| state.watch.as_ref()).map_or(1, Watch::expected_at);
        let patience = (TURNS_OF_PATIENCE * elapsed / turns.max(1)).clamp(LEAST_PATIENCE, MOST_PATIENCE);
        let is_found = finder.try_it(patience);
        let found = state::lock().as_mut().and_then(|state| state.watch.as_mut()?.tried(is_found));
        if let Some(marker) = found {
            self.log.marker = marker;
            // How often is found anew.
            self.every = self.options.every.unwrap_or(1);
            (self.took, self.passed, self.unsteady) = (0, 0, 0);
        }
    }

    /// What follows from a vote.
    fn step(&mut self, interval: &Interval, vote: &Vote) {
        if vote.is(Vote::FINAL) {
            return self.give_up("ranks came to different numbers of markers");
        }
        let mut next = self.machine;
        let step = next.marker(vote.is(Vote::DIFFERS));
        if step.action != Action::None && !self.agree() {
            return self.give_up("ranks waited too long for each other at a marker");
        }
        self.machine = next;
        self.note_state(step.state);
        let number = vote.0[Vote::NUMBER] as u32;
        let done = match step.action {
            Action::None => Some(()),
            Action::Cluster => self.cluster(interval, number),
            Action::Lead => self.lead(),
            Action::Flush => self.flush(interval, number, vote.is(Vote::TAIL)),
        };
        if done.is_none() {
            self.give_up("the ranks could not reach each other");
        }
    }

    /// Whether all ranks are still here.
    fn agree(&mut self) -> bool {
        self.votes.cast(Vote::between()).is_some_and(|vote| !vote.is(Vote::FINAL))
    }

    fn note_state(&mut self, state: Phase) {
        let at = elapsed();
        match self.log.states.last_mut() {
            Some((last, n, _)) if *last == state => *n += 1,
            _ => self.log.states.push((state, 1, at)),
        }
    }

    /// From now on every rank records, and nothing is done together before
    /// `MPI_Finalize`.
    fn give_up(&mut self, why: &str) {
        if std::mem::replace(&mut self.gave_up, true) {
            return;
        }
        let follows =
            if self.sampling.is_some() { "no more steps are told apart" } else { "all ranks record" };
        let note = format!("From marker {} on {follows}: {why}.", self.calls);
        if self.world.rank == 0 {
            eprintln!("likewise: {note}");
        }
        self.log.notes.push(note);
        if let Some(state) = state::lock().as_mut()
            && state.watch.as_mut().is_some_and(|watch| watch.give_up())
        {
            state.forget_last();
        }
    }

    /// State C: leads are chosen, and what all ranks have recorded is put
    /// together.
    fn cluster(&mut self, interval: &Interval, number: u32) -> Option<()> {
        self.groups = choose(&self.world, &interval.signature, &self.options.leads).ok()?;
        self.give_all(number)?;
        let at = elapsed();
        if self.world.rank == 0 {
            let led = |group: &Group| Led {
                lead: group.lead,
                ranks: group.ranks.iter().collect(),
                call_path: group.call_path,
            };
            let led = self.groups.iter().map(led).collect();
            self.log.clusterings.push(Clustering { marker: self.calls, at, led });
        }
        self.write_log();
        Some(())
    }

    /// State L begins: followers drop what they have recorded since C.
    fn lead(&mut self) -> Option<()> {
        let mut state = state::lock();
        let state = state.as_mut()?;
        let own = self.groups.iter().find(|group| group.lead == self.world.rank);
        let job = state.job.as_mut()?;
        match own {
            Some(group) => {
                let followers: Vec<u32> = group.ranks.iter().filter(|rank| *rank != group.lead).collect();
                let stand = likewise_recording::Stand {
                    lead: group.lead,
                    events: state.recorder.n_open(),
                    ranks: followers,
                };
                job.stands = if stand.ranks.is_empty() { Vec::new() } else { vec![stand] };
            }
            None => {
                drop(job.take(&mut state.recorder));
                job.number += 1;
                state.forget_last();
            }
        }
        state.watch.as_mut()?.lead(own.is_none());
        Some(())
    }

    /// What markers take, and how often there is one.
    fn account(&mut self, voted: Option<Vote>, begin: u64, waited: u64, end: u64) {
        let total = clock::ns(begin, end);
        (self.waited, self.worked) = (waited, total - waited.min(total));
        let Some(vote) = voted else { return };
        // Of the marker before: whoever came last waited least.
        let (least, most) = ((-vote.0[Vote::WAITED]).max(0) as u64, vote.0[Vote::WORKED].max(0) as u64);
        self.cost += least + self.worked;
        if self.options.every.is_some() {
            return;
        }
        // All ranks must come to the same, so only what was voted on counts.
        self.unsteady = match vote.is(Vote::DIFFERS) {
            true => self.unsteady + 1,
            false => self.unsteady.saturating_sub(1),
        };
        // What changes from step to step may be the same over several.
        if self.unsteady == UNSTEADY {
            self.seldomer();
        }
        self.took += least + most;
        self.passed += vote.0[Vote::PASSED].max(0) as u64;
        if self.took as f64 > self.options.overhead * self.passed as f64 && self.passed > 0 {
            self.seldomer();
        }
    }

    fn seldomer(&mut self) {
        self.every = seldomer(self.every);
        (self.took, self.passed, self.unsteady) = (0, 0, 0);
    }

    fn tell(&mut self, now: u64) {
        self.last = now;
        if !self.options.progress || self.world.rank > 0 || clock::ns(self.told, now) < TELL {
            return;
        }
        self.told = now;
        let (size, n) = (self.world.size as usize, self.groups.len());
        let last = self.log.states.last().map(|(state, ..)| *state);
        let what = match (&self.sampling, last) {
            (Some(sampling), _) => format!("{} of {size} ranks write", sampling.n_sampled),
            (None, Some(state @ Phase::Lead)) => format!("{}, {n} of {size} ranks record", state.word()),
            (None, state) => format!("{}, {size} ranks record", state.map_or("", Phase::word)),
        };
        eprintln!(
            "likewise: marker {}: {what}; {} clusterings; markers took {:.2} % of the time",
            self.calls,
            self.log.clusterings.len(),
            100.0 * self.cost as f64 / elapsed().max(1) as f64,
        );
    }

    /// The last of all: what is left is given, and the file is ended.
    fn finish(mut self, is_whole: bool) -> Result<(), String> {
        self.is_whole = is_whole;
        let given = if self.sampling.is_some() { self.sample_last() } else { self.give_last() };
        let written = self.end_file();
        let Online { world, votes, missing, .. } = self;
        world.free();
        votes.free();
        written.and(given).and(missing.map_or(Ok(()), Err))
    }

    fn give_last(&mut self) -> Result<(), String> {
        let is_lead = self.machine.state() == Phase::Lead;
        let given = match ended() {
            Some((interval, number)) => {
                let number = agreed(&self.world, number);
                let given = if is_lead { self.flush(&interval, number, true) } else { self.give_all(number) };
                given.ok_or_else(|| "the ranks could not reach each other".to_owned())
            }
            None => Err("nothing was recorded".to_owned()),
        };
        self.machine.finish();
        self.note_state(Phase::Final);
        if self.log.clusterings.is_empty() && self.log.notes.is_empty() {
            let why = if self.calls == 0 {
                "No marker was found, so all ranks recorded all."
            } else {
                "No interval between markers was like the one before, so all ranks recorded all."
            };
            self.log.notes.push(why.to_owned());
        }
        given
    }

    fn end_file(&mut self) -> Result<(), String> {
        let bytes = state::lock().as_ref().and_then(|state| state.job.as_ref()).map_or(0, |job| job.bytes);
        complete(&mut self.log, &self.world, bytes, self.cost);
        let Some(out) = &mut self.out else { return Ok(()) };
        if let Some(why) = self.failed.take() {
            // Ranks have files of their own: with them, what is here is read.
            self.write_log();
            return Err(why);
        }
        out.section(&file::log_section(&self.log));
        let to = state::lock().as_ref().and_then(|state| state.job.as_ref()).map(Job::whole);
        to.map_or(Ok(()), |to| out.close_packed(&to))
    }
}

/// The next of 1, 2, 4, 10, 20, 40, 100 and so on: what programs do each so many
/// steps, they mostly do each round number of steps.
fn seldomer(every: u64) -> u64 {
    let mut ten = 1;
    while ten < 1_000_000 {
        if let Some(next) = [ten, 2 * ten, 4 * ten].into_iter().find(|next| *next > every) {
            return next;
        }
        ten *= 10;
    }
    every
}

/// The bytes, the memory and the cost of each rank. Collective.
pub(crate) fn complete(log: &mut Log, world: &impl Communicator, bytes: u64, cost: u64) -> Option<()> {
    let own: Vec<u8> = [bytes, memory::peak(), cost].iter().flat_map(|value| value.to_le_bytes()).collect();
    let all = world.gather(0, &own).ok()?;
    for of_rank in all {
        let (values, _) = of_rank.as_chunks::<8>();
        let [bytes, peak, cost] = values else { continue };
        log.bytes.push(u64::from_le_bytes(*bytes));
        log.peaks.push(u64::from_le_bytes(*peak));
        log.costs.push(u64::from_le_bytes(*cost));
    }
    Some(())
}

/// The greatest number of all ranks.
fn agreed(world: &World, number: u32) -> u32 {
    let mut all = [i64::from(number)];
    match world.all_reduce(likewise_comm::Reduction::Max, &mut all) {
        Ok(()) => all[0] as u32,
        Err(_) => number,
    }
}

/// How long this rank has been recorded, in ns.
fn elapsed() -> u64 {
    state::lock().as_ref().and_then(|state| state.job.as_ref()).map_or(0, Job::elapsed)
}

/// Ends this rank's interval; and the number of its open part.
fn ended() -> Option<(Interval, u32)> {
    let mut state = state::lock();
    let State { watch, recorder, job, .. } = state.as_mut()?;
    let interval = watch.as_mut()?.end(recorder.n_open());
    Some((interval, job.as_ref()?.number))
}

/// All ranks were at this marker.
fn passed() {
    if let Some(State { watch: Some(watch), recorder, job, .. }) = state::lock().as_mut() {
        let n = recorder.n_open();
        watch.passed(n);
        // So that copies of what a lead has recorded say it too.
        job.iter_mut().flat_map(|job| &mut job.stands).for_each(|stand| stand.events = n);
    }
}

/// The log of a full recording whose bytes and memory were asked for.
pub(crate) fn full_log(world: &World, bytes: u64) -> Option<Log> {
    let mut log = Log { mode: Mode::Full, ..Log::default() };
    guarded(|| complete(&mut log, world, bytes, 0))?;
    Some(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_become_longer_by_round_numbers() {
        let longer: Vec<u64> =
            std::iter::successors(Some(1), |every| Some(seldomer(*every))).take(9).collect();
        assert_eq!(longer, [1, 2, 4, 10, 20, 40, 100, 200, 400]);
        assert_eq!([3, 7, 1_000_000].map(seldomer), [4, 10, 1_000_000]);
    }
}
