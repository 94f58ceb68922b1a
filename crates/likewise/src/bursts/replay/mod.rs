//! A run again, with other times for its bursts: what threads wait for each
//! other is found anew, everything else stays as it was measured.
//!
//! Between two bursts a thread is in the runtime: a **gap**, as a rule one call.
//! What it does there by itself (a send, to enter a collective operation) comes
//! as long after the gap's begin `a` as it did; `o` is the last of it, or `a`.
//! What it waits for is the send of each message that it receives there, and
//! the last to enter a collective operation; `s` is the last of it. The rest of
//! the gap, until its end `b` (transfer, copies), is taken to be as long as it
//! was. So it ends at `max(a' + (o − a), s') + (b − max(o, s))`, where `x'` is
//! when `x` happens in the new run.

mod clock;
mod order;
#[cfg(test)]
mod tests;

pub use clock::Clock;

/// A burst, and how long it takes in the new run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// When it began.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// How long it takes now.
    pub now: u64,
}

/// A message between two threads, given by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sent it.
    pub from: usize,
    /// When it left.
    pub sent: u64,
    /// Who received it.
    pub to: usize,
    /// When it was there.
    pub received: u64,
}

/// A thread in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its index.
    pub thread: usize,
    /// When it entered.
    pub enter: u64,
    /// When it left.
    pub exit: u64,
}

/// Who waits for whom in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All for all, as in a barrier.
    All,
    /// All others for that member, as in a broadcast.
    FromRoot(usize),
    /// That member for all others, as in a reduction.
    ToRoot(usize),
}

/// A collective operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The threads in it.
    pub members: Vec<Member>,
    /// Who waits for whom.
    pub pattern: Pattern,
}

/// What was measured, in any unit of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// When it ended; no time is later.
    pub end: u64,
    /// When each thread did the last that is known of it. One that is not told of goes on
    /// until the end.
    pub lasts: Vec<u64>,
    /// The bursts of each thread, in order.
    pub threads: Vec<Vec<Stretch>>,
    /// All messages.
    pub messages: Vec<Message>,
    /// All collective operations.
    pub collectives: Vec<Collective>,
}

/// The run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// When what happens on each thread.
    pub clocks: Vec<Clock>,
    /// When it ends.
    pub end: u64,
    /// Messages that arrived while their receiver computed, so that it waits
    /// for them before that burst or not at all.
    pub n_inside: u64,
    /// Messages and collective operations in which somebody was done before
    /// what it waits for: clocks that differ. Nobody waits for these.
    pub n_skewed: u64,
    /// Gaps that wait, at one instant, for one another: some of what they wait
    /// for is passed over.
    pub n_unresolved: u64,
}

/// Why there is no new run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Bursts of a thread overlap, or reach beyond the end.
    #[error("burst {burst} of thread {thread} (both from 0) overlaps the one before, or ends after the run")]
    Overlap {
        /// The thread.
        thread: usize,
        /// Its burst.
        burst: usize,
    },
    /// The new run is so long that its times cannot be told.
    #[error("the new run would be longer than 2^62 units of time")]
    TooLong,
}

/// Runs again, with the new durations of bursts.
///
/// With the old durations the result is what was measured, to the unit.
///
/// # Panics
/// If a message or a member names a thread that is not there, or a pattern a
/// member that is not.
///
/// # Errors
/// [`ReplayError`].
///
/// # Complexity
/// O((b + m + c) log b) for b bursts, m messages and c members of collective
/// operations; memory as much.
///
/// # Reference
/// BSC's structure detection, §4.2: times of simulated representatives put back
/// into the whole run, whose communication is then simulated (Dimemas: Labarta
/// et al., *DiP*, Euro-Par 1996). Differs: there is no model of the network;
/// what was measured of a transfer stays as it was.
///
/// # Example
/// ```
/// use likewise::bursts::replay::{Message, Run, Stretch, replay};
///
/// // Thread 0 computes and sends; thread 1 waits for that and computes again.
/// let run = Run {
///     end: 20,
///     threads: vec![
///         vec![Stretch { begin: 0, end: 10, now: 30 }],
///         vec![Stretch { begin: 0, end: 4, now: 4 }, Stretch { begin: 12, end: 20, now: 8 }],
///     ],
///     messages: vec![Message { from: 0, sent: 10, to: 1, received: 12 }],
///     ..Run::default()
/// };
/// // Computing takes 20 longer, and all that comes after it happens 20 later.
/// assert_eq!(replay(&run)?.end, 40);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn replay(run: &Run) -> Result<Replayed, ReplayError> {
    check(run)?;
    let plan = order::Plan::of(run);
    let (clocks, n_unresolved) = plan.solve(run);
    let end = new_end(run, &clocks);
    let clocks = clocks.into_iter().map(|clock| clock.ending((run.end, end))).collect();
    let (n_inside, n_skewed) = (plan.n_inside, plan.n_skewed);
    Ok(Replayed { clocks, end, n_inside, n_skewed, n_unresolved })
}

/// When the run ends: as long after the last that any thread does as before. What comes
/// on a thread behind its own last is no work, and holds up nobody.
fn new_end(run: &Run, clocks: &[Clock]) -> u64 {
    let last = |thread: usize| run.lasts.get(thread).map_or(run.end, |&last| last.min(run.end));
    let of_all = (0..clocks.len()).map(last).max();
    let new = clocks.iter().enumerate().map(|(thread, clock)| clock.until(last(thread))).max();
    new.zip(of_all).map_or(run.end, |(new, last)| new + (run.end - last))
}

fn check(run: &Run) -> Result<(), ReplayError> {
    let mut total = u128::from(run.end);
    for (thread, bursts) in run.threads.iter().enumerate() {
        let mut before = 0;
        for (burst, stretch) in bursts.iter().enumerate() {
            if stretch.begin < before || stretch.end < stretch.begin || stretch.end > run.end {
                return Err(ReplayError::Overlap { thread, burst });
            }
            before = stretch.end;
            total += u128::from(stretch.now);
        }
    }
    // No chain of waits is longer than all bursts, one after the other, and
    // once the time between them.
    if total > 1 << 62 { Err(ReplayError::TooLong) } else { Ok(()) }
}
