//! The bursts of a section of the run, and how its tasks wait for one another.

use rayon::prelude::*;

use super::Run;
use super::draw::{self, Drawn, Stream};
use super::spec::{Call, N_COUNTERS, START_STEPS};
use crate::cluster::ClusterId;
use crate::table::Nanos;

/// From a call to when its message is on the way.
const SEND: u64 = 400;
/// From when a message is there to when the receiver's call ends.
const RECEIVE: u64 = 300;
/// A message of no bytes takes so long.
const LATENCY: u64 = 1_500;
/// Bytes of a message per nanosecond.
const BANDWIDTH: u64 = 8;
/// From when the last task came to when a collective ends.
const COLLECTIVE: u64 = 6_000;
/// Tasks leave a collective within so long of one another.
const SKEW: u64 = 1_500;
/// A call that waits for nobody.
const LOCAL: u64 = 350;
/// Numbers the skew with which a section begins, beyond all its steps.
const BEFORE_STEPS: usize = u32::MAX as usize;
/// From when the last thread of a task is done to when all go on.
const JOIN: u64 = 200;
/// Bursts that are computed at once, so that every thread has its part and
/// memory stays small.
const BLOCK_BURSTS: usize = 1 << 17;

/// A burst and the call that ends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Task, from 1.
    pub task: u32,
    /// Thread within its task, from 1.
    pub thread: u32,
    /// When it begins; the call before it ends here.
    pub begin: Nanos,
    /// How long it takes.
    pub duration: Nanos,
    /// What the counters read, in the order of [`COUNTERS`](super::COUNTERS).
    pub counters: [u64; N_COUNTERS],
    /// The phase the program is in, from 0; `None` in the start.
    pub phase: Option<u32>,
    /// The cluster it truly belongs to; `None` is noise.
    pub cluster: Option<ClusterId>,
    /// The call before it and how long that took; `None` for a thread's
    /// first burst.
    pub preceding: Option<(Call, Nanos)>,
    /// The call that ends it.
    pub call: Call,
    /// When that call ends, and the thread's next burst begins.
    pub call_end: Nanos,
}

impl Burst {
    /// When it ends, and its call begins.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.begin.saturating_add(self.duration)
    }
}

/// A message between the first threads of two tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The task that sends it, from 1.
    pub from: u32,
    /// The task that receives it, from 1.
    pub to: u32,
    /// When the sender calls.
    pub called: Nanos,
    /// When it leaves.
    pub sent: Nanos,
    /// When the receiver calls.
    pub posted: Nanos,
    /// When it is there, and the receiver has called.
    pub received: Nanos,
    /// Its size.
    pub bytes: u64,
    /// Its tag.
    pub tag: u32,
}

/// A part of the run that all tasks end together: the start, or an iteration.
///
/// All that happens in it is before all that happens in the next.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its place in the run, from 0.
    pub index: usize,
    /// Step by step; within a step, by task and thread.
    pub bursts: Vec<Burst>,
    /// By step, then by sender.
    pub messages: Vec<Message>,
    /// When it begins.
    pub begin: Nanos,
    /// When it ends, and the next may begin.
    pub end: Nanos,
}

/// A burst on every thread, and what it ends with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) phase: Option<u32>,
    pub(super) call: Call,
}

/// The steps of a section; the last may be for the first threads only.
struct Steps {
    steps: Vec<Step>,
    threads_in_last: usize,
}

impl Run {
    /// How many sections the run has: one for the start if there is one,
    /// and one per iteration; the unfinished iteration belongs to the last.
    #[must_use]
    pub fn n_sections(&self) -> usize {
        (usize::from(self.spec.start) + self.spec.iterations).max(1)
    }

    /// When the run ends. Computes it, which takes a part of the time that
    /// [`for_each_section`](Self::for_each_section) takes.
    #[must_use]
    pub fn end(&self) -> Nanos {
        // Sections in time order are not needed for a sum.
        Nanos((0..self.n_sections()).into_par_iter().map(|i| generate(self, i).end.0).sum())
    }

    /// Computes all sections, several at once, and hands what `render` makes
    /// of each to `sink`, in order of time.
    ///
    /// `render` runs on any thread; `sink` on the caller's.
    ///
    /// # Errors
    /// The first that `sink` returns; nothing is computed after it.
    ///
    /// # Complexity
    /// Time grows with the bursts; memory with those of one section or with
    /// 131,072, whichever are more, however many iterations there are.
    pub fn for_each_section<R: Send, E>(
        &self,
        render: impl Fn(&Section) -> R + Sync,
        mut sink: impl FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        let n_sections = self.n_sections();
        let per_section = (self.n_threads() * self.cycle.len()).max(1);
        let block = (BLOCK_BURSTS / per_section).max(1);
        let mut clock = Nanos::ZERO;
        let mut preceding = vec![None; self.n_threads()];
        for first in (0..n_sections).step_by(block) {
            let indices = first..(first + block).min(n_sections);
            let mut sections: Vec<Section> = indices.into_par_iter().map(|i| generate(self, i)).collect();
            for section in &mut sections {
                section.follow(&mut clock, &mut preceding);
            }
            let rendered: Vec<R> = sections.par_iter().map(&render).collect();
            rendered.into_iter().try_for_each(&mut sink)?;
        }
        Ok(())
    }

    fn steps(&self, section: usize) -> Steps {
        let n_threads = self.n_threads();
        let mut steps = if self.spec.start && section == 0 {
            let calls: [Call; START_STEPS] = [Call::Init, Call::Broadcast];
            calls.map(|call| Step { phase: None, call }).to_vec()
        } else if self.spec.iterations > 0 {
            self.cycle.clone()
        } else {
            Vec::new()
        };
        if let Some(last) = steps.last_mut().filter(|s| !s.call.synchronises()) {
            last.call = Call::Allreduce;
        }
        let mut threads_in_last = n_threads;
        if section + 1 == self.n_sections() {
            let extra = self.spec.extra_bursts as usize;
            steps.extend_from_slice(&self.cycle[..extra.div_ceil(n_threads)]);
            let n = steps.len();
            steps[n - 1].call = Call::Finalize;
            if !extra.is_multiple_of(n_threads) {
                threads_in_last = extra % n_threads;
                // Who makes one step less goes on to the end from here.
                steps[n - 2].call = Call::CommSize;
            }
        }
        Steps { steps, threads_in_last }
    }
}

impl Section {
    /// Puts a section that was computed from time zero after the others.
    fn follow(&mut self, clock: &mut Nanos, preceding: &mut [Option<(Call, Nanos)>]) {
        let n_threads = preceding.len();
        let move_on = |time: &mut Nanos| *time = time.saturating_add(*clock);
        for (i, burst) in self.bursts.iter_mut().enumerate() {
            move_on(&mut burst.begin);
            move_on(&mut burst.call_end);
            let thread = i % n_threads;
            burst.preceding = preceding[thread];
            preceding[thread] = Some((burst.call, burst.call_end.saturating_sub(burst.end())));
        }
        for message in &mut self.messages {
            let Message { called, sent, posted, received, .. } = message;
            [called, sent, posted, received].into_iter().for_each(move_on);
        }
        self.begin = *clock;
        move_on(&mut self.end);
        *clock = self.end;
    }
}

/// How far the tasks' times at one place are apart, from their streams.
fn skew(run: &Run, section: usize, step: usize, task: usize, most: u64) -> u64 {
    const SKEWS: u64 = 1 << 40;
    Stream::at(run.spec.seed, [section as u64, SKEWS + step as u64, task as u64]).below(most)
}

/// When a task begins a section, after the section's own begin.
fn first_begin(run: &Run, section: usize, task: usize) -> u64 {
    match section {
        // Processes start one by one.
        0 => 100_000 + skew(run, section, BEFORE_STEPS, task, 800_000),
        _ => skew(run, section, BEFORE_STEPS, task, SKEW),
    }
}

/// One section, computed as if it began at time zero.
fn generate(run: &Run, index: usize) -> Section {
    let Steps { steps, threads_in_last } = run.steps(index);
    let n_threads = run.n_threads();
    let per_task = run.spec.threads_per_task;
    let mut bursts = Vec::with_capacity(steps.len() * n_threads);
    let mut messages = Vec::new();
    let mut ready: Vec<u64> = (0..n_threads).map(|lane| first_begin(run, index, lane / per_task)).collect();
    for (s, step) in steps.iter().enumerate() {
        let is_last = s + 1 == steps.len();
        let active = if is_last { threads_in_last } else { n_threads };
        let first = bursts.len();
        bursts.extend((0..active).map(|lane| burst(run, index, s, *step, lane, ready[lane])));
        if s + 2 == steps.len() {
            finish_early(&mut bursts[first..], threads_in_last);
        }
        let now = &mut bursts[first..];
        if !is_last {
            match step.call {
                Call::Exchange => exchange(run, index, s, now, &mut messages),
                Call::CommSize => now.iter_mut().for_each(|b| b.call_end = Nanos(b.end().0 + LOCAL)),
                _ => synchronise(run, index, s, now),
            }
            join(now, per_task);
            now.iter().zip(&mut ready).for_each(|(b, r)| *r = b.call_end.0);
        }
    }
    // Step by step means that these are each thread's last.
    let lasts = bursts.len() - n_threads;
    let end = end_together(run, index, &mut bursts[lasts..]);
    Section { index, bursts, messages, begin: Nanos::ZERO, end: Nanos(end) }
}

fn burst(run: &Run, section: usize, s: usize, step: Step, lane: usize, begin: u64) -> Burst {
    let per_task = run.spec.threads_per_task;
    let (task, thread) = (lane / per_task, lane % per_task);
    let mut stream = Stream::at(run.spec.seed, [section as u64, s as u64, lane as u64]);
    let mut drawn = match step.phase {
        None if run.spec.even_start => draw::draw_even_start(&run.range, &mut stream),
        None => draw::draw_start(&run.range, &mut stream),
        Some(p) => {
            let place = (task as f64 + 0.5) / run.spec.tasks as f64 - 0.5;
            let (model, number) = (&run.models[p as usize], task as u32 + 1);
            draw::draw_phase(model, &run.range, run.spec.noise_share, number, place, &mut stream)
        }
    };
    if let Some(defect) = run.spec.defect.as_ref().filter(|_| run.stalled == Some([section, s, lane])) {
        drawn = drawn.stalled(defect.factor);
    }
    let Drawn { counters, cycles, cluster } = drawn;
    // The clock is steady to a few parts in a thousand.
    let time = cycles / run.spec.frequency_ghz * (1.0 + 0.002 * stream.uniform());
    let begin = Nanos(begin);
    Burst {
        task: task as u32 + 1,
        thread: thread as u32 + 1,
        begin,
        duration: Nanos((time.round() as u64).max(1)),
        counters,
        phase: step.phase,
        cluster,
        preceding: None,
        call: if thread == 0 { step.call } else { Call::Join },
        call_end: begin,
    }
}

/// Threads beyond these have no part in the last step and end before it.
fn finish_early(bursts: &mut [Burst], threads_in_last: usize) {
    for burst in bursts.iter_mut().skip(threads_in_last).filter(|b| b.thread == 1) {
        burst.call = Call::Finalize;
    }
}

/// `MPI_Sendrecv` along the ring, to the right and to the left in turn.
fn exchange(run: &Run, section: usize, s: usize, bursts: &mut [Burst], messages: &mut Vec<Message>) {
    let per_task = run.spec.threads_per_task;
    let tasks = bursts.len() / per_task;
    let bytes = 1_024 << (bursts[0].phase.unwrap_or(0) % 6);
    let called: Vec<u64> = bursts.iter().step_by(per_task).map(|b| b.end().0).collect();
    for to in 0..tasks {
        let from = if s.is_multiple_of(2) { (to + tasks - 1) % tasks } else { (to + 1) % tasks };
        let sent = called[from] + SEND;
        let there = sent + LATENCY + bytes / BANDWIDTH + skew(run, section, s, to, 500);
        let received = there.max(called[to] + SEND);
        bursts[to * per_task].call_end = Nanos(received + RECEIVE);
        messages.push(Message {
            from: from as u32 + 1,
            to: to as u32 + 1,
            called: Nanos(called[from]),
            sent: Nanos(sent),
            posted: Nanos(called[to]),
            received: Nanos(received),
            bytes,
            tag: bursts[0].phase.unwrap_or(0),
        });
    }
}

/// A collective: nobody leaves before the last has come.
fn synchronise(run: &Run, section: usize, s: usize, bursts: &mut [Burst]) {
    let last = bursts.iter().map(|b| b.end().0).max().unwrap_or(0);
    for burst in bursts {
        let skew = skew(run, section, s, burst.task as usize - 1, SKEW);
        burst.call_end = Nanos(last + COLLECTIVE + skew);
    }
}

/// The threads of a task go on together, when its call and all are done.
fn join(bursts: &mut [Burst], per_task: usize) {
    if per_task == 1 {
        return;
    }
    for team in bursts.chunks_mut(per_task) {
        let slowest = team.iter().map(|b| b.end().0).max().unwrap_or(0) + JOIN;
        let together = Nanos(team[0].call_end.0.max(slowest));
        team.iter_mut().for_each(|b| b.call_end = together);
    }
}

/// The collective that closes the section, given each thread's last burst.
/// Returns when the section ends.
fn end_together(run: &Run, index: usize, lasts: &mut [Burst]) -> u64 {
    let is_final = index + 1 == run.n_sections();
    let end = lasts.iter().map(|b| b.end().0).max().unwrap_or(0) + COLLECTIVE;
    for burst in lasts {
        let after = if is_final { 0 } else { first_begin(run, index + 1, burst.task as usize - 1) };
        burst.call_end = Nanos(end + after);
    }
    end
}
