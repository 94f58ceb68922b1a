//! Ranks as threads of one process.

use super::{CommError, Communicator};
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// Stack of each thread: enough for the methods that use a communicator, and
/// little enough for thousands of ranks. The kernel gives memory only to
/// pages that are touched.
const STACK: usize = 1 << 20;

/// What [`Mailbox::waits_for`] holds while its rank waits for nobody.
const NOBODY: usize = usize::MAX;

/// What one rank has been sent and not yet received.
struct Mailbox {
    /// By sender; an empty queue is removed.
    queues: Mutex<HashMap<usize, VecDeque<Vec<u8>>>>,
    /// Signals that a message has come, or that none will come any more.
    changed: Condvar,
    /// The rank for whose message this rank waits.
    waits_for: AtomicUsize,
    /// Whether this rank will send nothing more.
    ended: AtomicBool,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, VecDeque<Vec<u8>>>> {
        // Nothing panics while the lock is held, so a poisoned one is sound.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the rank look again. Without the lock, the rank could go to sleep
    /// between its last look and this signal, and miss it.
    fn wake(&self) {
        let _queues = self.lock();
        self.changed.notify_all();
    }
}

/// What all ranks share.
struct World {
    mailboxes: Vec<Mailbox>,
    /// Who failed first, and why.
    failed: OnceLock<(usize, String)>,
}

impl World {
    fn new(n_ranks: usize) -> Self {
        let mailbox = |_| Mailbox {
            queues: Mutex::default(),
            changed: Condvar::new(),
            waits_for: AtomicUsize::new(NOBODY),
            ended: AtomicBool::new(false),
        };
        Self { mailboxes: (0..n_ranks).map(mailbox).collect(), failed: OnceLock::new() }
    }

    fn failure(&self) -> Option<CommError> {
        self.failed.get().map(|(rank, reason)| CommError::Peer { rank: *rank, reason: reason.clone() })
    }

    fn fail(&self, rank: usize, reason: String) {
        if self.failed.set((rank, reason)).is_ok() {
            self.mailboxes.iter().for_each(Mailbox::wake);
        }
    }

    /// Marks that a rank returned, and wakes the ranks that would wait for it
    /// in vain.
    fn end(&self, rank: usize) {
        self.mailboxes[rank].ended.store(true, Ordering::SeqCst);
        for mailbox in &self.mailboxes {
            if mailbox.waits_for.load(Ordering::SeqCst) == rank {
                mailbox.wake();
            }
        }
    }
}

/// One of several ranks that are threads; see [`run_on_threads`].
///
/// Each receiver has a queue of messages without a bound, so sending never
/// blocks.
pub struct ThreadComm {
    rank: usize,
    world: Arc<World>,
}

impl Communicator for ThreadComm {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.world.mailboxes.len()
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        if let Some(failure) = self.world.failure() {
            return Err(failure);
        }
        let mailbox = &self.world.mailboxes[to];
        mailbox.lock().entry(self.rank).or_default().push_back(message.to_vec());
        mailbox.changed.notify_all();
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        let mailbox = &self.world.mailboxes[self.rank];
        let mut queues = mailbox.lock();
        // This store comes before `ended` is read, and `end` stores `ended`
        // before it reads this. So one of the two always sees the other.
        mailbox.waits_for.store(from, Ordering::SeqCst);
        let result = loop {
            if let Some(failure) = self.world.failure() {
                break Err(failure);
            }
            // Read before the queue: a rank sends all its messages before it
            // ends, so after `ended` the queue is complete.
            let ended = self.world.mailboxes[from].ended.load(Ordering::SeqCst);
            if let Some(queue) = queues.get_mut(&from)
                && let Some(message) = queue.pop_front()
            {
                if queue.is_empty() {
                    queues.remove(&from);
                }
                break Ok(message);
            }
            if ended {
                let reason = format!("it ended without the message that rank {} waits for", self.rank);
                break Err(CommError::Peer { rank: from, reason });
            }
            queues = mailbox.changed.wait(queues).unwrap_or_else(PoisonError::into_inner);
        };
        mailbox.waits_for.store(NOBODY, Ordering::SeqCst);
        result
    }

    fn fail(&self, reason: &str) {
        self.world.fail(self.rank, reason.to_owned());
    }
}

/// Runs `work` on `n_ranks` threads, each of which is one rank.
///
/// # Returns
/// What the ranks returned, in their order.
///
/// # Errors
/// The error of the first rank that failed. A panic is a [`CommError::Peer`]
/// with its message. On the other ranks, the present or next wait ends with
/// [`CommError::Peer`].
pub fn run_on_threads<R, E, F>(n_ranks: usize, work: F) -> Result<Vec<R>, E>
where
    R: Send,
    E: From<CommError> + Display + Send,
    F: Fn(&ThreadComm) -> Result<R, E> + Sync,
{
    let world = Arc::new(World::new(n_ranks));
    let work = &work;
    let mut results: Vec<Option<Result<R, E>>> = std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(n_ranks);
        for rank in 0..n_ranks {
            let comm = ThreadComm { rank, world: Arc::clone(&world) };
            let thread = std::thread::Builder::new().name(format!("rank {rank}")).stack_size(STACK);
            match thread.spawn_scoped(scope, move || run_rank(&comm, work)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    world.fail(rank, format!("no thread for it: {error}"));
                    break;
                }
            }
        }
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    let Some(failure) = world.failure() else {
        return Ok(results
            .into_iter()
            .map(|result| result.and_then(Result::ok).expect("no failure"))
            .collect());
    };
    let first = world.failed.get().map_or(0, |(rank, _)| *rank);
    match results.get_mut(first).and_then(Option::take) {
        Some(Err(error)) => Err(error),
        // The rank panicked, never started, or called `fail` and still returned a result.
        _ => Err(failure.into()),
    }
}

/// Runs one rank from its begin to its end; `None` if it panicked.
fn run_rank<R, E: Display>(
    comm: &ThreadComm,
    work: impl Fn(&ThreadComm) -> Result<R, E>,
) -> Option<Result<R, E>> {
    // A panic may leave data half done. Nobody looks at them: all ranks end.
    let result = catch_unwind(AssertUnwindSafe(|| work(comm)));
    match &result {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => comm.fail(&error.to_string()),
        Err(panic) => comm.fail(panic_message(panic.as_ref())),
    }
    comm.world.end(comm.rank);
    result.ok()
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(rank: usize, reason: &str) -> CommError {
        CommError::Peer { rank, reason: reason.into() }
    }

    #[test]
    fn messages_of_one_rank_come_in_order() {
        let received = run_on_threads(3, |comm| {
            if comm.rank() > 0 {
                comm.send(0, &[comm.rank() as u8])?;
                comm.send(0, &[])?;
                return Ok(Vec::new());
            }
            [2, 1, 1, 2].into_iter().map(|from| comm.receive(from)).collect::<Result<_, CommError>>()
        });
        assert_eq!(received.unwrap()[0], [vec![2], vec![1], vec![], vec![]]);
    }

    #[test]
    fn an_error_of_one_rank_ends_all() {
        let result = run_on_threads(20, |comm| {
            if comm.rank() == 7 {
                return Err(CommError::Transport { call: "test", reason: "enough".into() });
            }
            let error = comm.receive((comm.rank() + 1) % 20).unwrap_err();
            assert_eq!(error, peer(7, "test failed: enough"));
            Err::<(), _>(error)
        });
        assert_eq!(result.unwrap_err(), CommError::Transport { call: "test", reason: "enough".into() });
    }

    #[test]
    fn a_panic_of_one_rank_ends_all() {
        let result = run_on_threads(20, |comm| {
            assert!(comm.rank() != 3, "three is wrong");
            comm.receive(comm.rank())
        });
        assert_eq!(result.unwrap_err(), peer(3, "three is wrong"));
    }

    #[test]
    fn who_calls_fail_fails_whatever_it_returns() {
        let result = run_on_threads::<(), CommError, _>(2, |comm| {
            if comm.rank() == 1 {
                comm.fail("no more");
            }
            Ok(())
        });
        assert_eq!(result.unwrap_err(), peer(1, "no more"));
    }

    #[test]
    fn waiting_for_a_rank_that_ended_is_no_hang() {
        let result = run_on_threads(2, |comm| {
            if comm.rank() == 0 {
                comm.receive(1)?;
                comm.receive(1)?;
            } else {
                comm.send(0, b"one")?;
            }
            Ok::<_, CommError>(())
        });
        assert_eq!(result.unwrap_err(), peer(1, "it ended without the message that rank 0 waits for"));
    }

    #[test]
    fn no_rank_is_no_result() {
        assert!(run_on_threads(0, |_| Ok::<_, CommError>(())).unwrap().is_empty());
    }
}
