//! Efforts of sampled ranks: what happens at a marker in mode `strata`.

use super::votes::Vote;
use super::{Online, elapsed};
use crate::out::Out;
use crate::state::{self, State};
use crate::watch::Watch;
use likewise_comm::{Communicator, Counted, Traffic};
use likewise_recording::{Clustering, file};
use likewise_strata::{Adapted, Options, Sampler, StrataError};

/// What this rank does to sample. Every marker ends a step, also where ranks do
/// not vote; whether all have made as many steps, the next vote tells.
pub(super) struct Sampling {
    sampler: Sampler,
    /// The steps since the last vote.
    steps: Vec<Vec<(u128, u64)>>,
    /// How many ranks write the present window.
    pub(super) n_sampled: usize,
}

impl Sampling {
    /// None if what is asked for is impossible.
    pub(super) fn new(options: &Options) -> Option<Self> {
        Some(Self { sampler: Sampler::new(options.clone()).ok()?, steps: Vec::new(), n_sampled: 0 })
    }

    /// A step of this rank has ended.
    pub(super) fn step(&mut self) {
        self.steps.push(effort());
    }
}

/// What a region is called.
fn name(region: u128) -> String {
    let state = state::lock();
    let watch = state.as_ref().and_then(|state| state.watch.as_ref());
    watch.map_or_else(String::new, |watch| watch.region_name(region))
}

/// What this rank has computed since the last step.
fn effort() -> Vec<(u128, u64)> {
    let mut state = state::lock();
    let watch = state.as_mut().and_then(|state| state.watch.as_mut());
    watch.map_or_else(Vec::new, Watch::take_effort)
}

/// What this rank has sent of its effort.
fn sent<C: Communicator>(counted: &Counted<'_, C>) -> u64 {
    let writes = |traffic: &&Traffic| traffic.phase == "strata: write";
    counted.traffic().iter().filter(writes).map(|traffic| traffic.bytes).sum()
}

impl Online {
    /// All ranks are at a marker.
    pub(super) fn sample(&mut self, vote: &Vote) {
        if vote.is(Vote::FINAL) {
            return self.give_up("ranks came to different numbers of markers");
        }
        let Some(Sampling { sampler, steps, .. }) = &mut self.sampling else { return };
        let is_full = steps.drain(..).fold(false, |_, step| sampler.step(&step));
        if !is_full {
            return;
        }
        if !self.agree() {
            return self.give_up("ranks waited too long for each other at a marker");
        }
        let Some(sampling) = &mut self.sampling else { return };
        let counted = Counted::new(&self.world);
        let adapted = sampling.sampler.adapt(&counted, name);
        if let Ok(adapted) = &adapted {
            sampling.n_sampled = adapted.n_sampled;
        }
        let sent = sent(&counted);
        self.take_window(adapted, sent);
    }

    /// The last window, in `MPI_Finalize`. What follows the last marker is a step.
    pub(super) fn sample_last(&mut self) -> Result<(), String> {
        let Some(Sampling { mut sampler, mut steps, .. }) = self.sampling.take() else { return Ok(()) };
        let last = effort();
        if self.gave_up {
            // Ranks may have made different numbers of them.
            steps = vec![steps.concat()];
            steps[0].extend(last);
        } else {
            steps.push(last);
        }
        for step in steps {
            sampler.step(&step);
        }
        let note = match self.calls {
            0 => "No marker was found, so all of the run is one step.",
            _ => "The last step is what follows the last marker at which steps were told apart.",
        };
        self.log.notes.push(note.to_owned());
        let counted = Counted::new(&self.world);
        let adapted = sampler.finish(&counted, name);
        let sent = sent(&counted);
        self.take_window(adapted, sent);
        if let Some(State { job: Some(job), recorder, .. }) = state::lock().as_mut() {
            job.leave_nothing();
            // Without events: its call paths name the regions.
            let part = job.take(recorder);
            self.out.iter_mut().for_each(|out| out.section(&file::quick_section(job.number, &part)));
        }
        match &self.out {
            None if self.world.rank == 0 => Err("no effort could be sampled".to_owned()),
            _ => Ok(()),
        }
    }

    fn take_window(&mut self, adapted: Result<Adapted, StrataError>, sent: u64) {
        let window = match adapted {
            Ok(adapted) => adapted.window,
            Err(error) => {
                return self.log.notes.push(format!("Not recorded, before marker {}: {error}.", self.calls));
            }
        };
        let online = state::lock().as_mut().and_then(|state| {
            let job = state.job.as_mut()?;
            job.bytes += sent;
            Some(job.online())
        });
        if let Some((window, online)) = window.zip(online) {
            let out = self.out.get_or_insert_with(|| Out::create(&online));
            out.section(&file::strata_section(&window));
            let led = Vec::new();
            self.log.clusterings.push(Clustering { marker: self.calls, at: elapsed(), led });
            self.write_log();
        }
    }
}
