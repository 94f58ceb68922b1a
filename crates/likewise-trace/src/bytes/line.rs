//! Blocks that all threads work on, and that one after the other is merged in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::Scope;

/// Calls `work` on every block that `next` gives, in parallel, and `merge` on the results in
/// the order of the blocks, one at a time. No thread waits for the others but where the first
/// of `most` blocks that are taken is not done yet. `may_wait` says that `next` may wait for
/// its block; then one thread at most does so, and it is told whether no block is wanted any more. A thread that has come here while it waited for
/// other work of the pool goes on with that, once it is there, after the block that it has.
///
/// # Errors
/// The first of `merge`; nothing is merged after it.
pub(super) fn in_order<B, T: Send, E: Send>(
    next: impl FnMut(&AtomicBool) -> Option<B> + Send,
    (most, may_wait): (usize, bool),
    work: impl Fn(B) -> T + Sync,
    merge: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let state = State { taken: 0, merged: 0, done: BTreeMap::new(), resting: 0, merging: false };
    let line = Line {
        next: Mutex::new(next),
        work,
        merge: Mutex::new((merge, Ok(()))),
        state: Mutex::new(state),
        ended: AtomicBool::new(false),
        most: most.max(1),
        may_wait,
    };
    rayon::scope(|scope| {
        (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|scope| line.step(scope)));
    });
    line.merge.into_inner().unwrap_or_else(PoisonError::into_inner).1
}

struct Line<N, W, M, T, E> {
    next: Mutex<N>,
    work: W,
    merge: Mutex<(M, Result<(), E>)>,
    state: Mutex<State<T>>,
    /// No block is to be taken any more. It changes only while the state is held.
    ended: AtomicBool,
    most: usize,
    may_wait: bool,
}

/// Of each block its number: how many are before it.
struct State<T> {
    taken: usize,
    merged: usize,
    /// What is to be merged.
    done: BTreeMap<usize, T>,
    /// Steps that found nothing to do, and begin again when there may be something.
    resting: usize,
    /// Somebody merges, and will find what is done meanwhile.
    merging: bool,
}

impl<T> State<T> {
    fn is_full(&self, most: usize) -> bool {
        self.taken - self.merged >= most
    }
}

impl<N, W, M, B, T, E> Line<N, W, M, T, E>
where
    N: FnMut(&AtomicBool) -> Option<B> + Send,
    W: Fn(B) -> T + Sync,
    M: FnMut(T) -> Result<(), E> + Send,
    T: Send,
    E: Send,
{
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a block, works on it, and goes on with another.
    fn step<'s>(&'s self, scope: &Scope<'s>) {
        let Some((number, block)) = self.take(scope) else { return };
        let done = (self.work)(block);
        self.put(number, done, scope);
        scope.spawn(|scope| self.step(scope));
    }

    fn take<'s>(&'s self, scope: &Scope<'s>) -> Option<(usize, B)> {
        let next = if self.may_wait { self.next.try_lock().ok() } else { self.next.lock().ok() };
        let Some(mut next) = next else {
            self.state().resting += 1;
            return None;
        };
        {
            let mut state = self.state();
            if self.ended.load(Ordering::Relaxed) {
                return None;
            }
            if state.is_full(self.most) {
                state.resting += 1;
                return None;
            }
        }
        let block = next(&self.ended);
        let mut state = self.state();
        let Some(block) = block else {
            self.ended.store(true, Ordering::Relaxed);
            return None;
        };
        let number = state.taken;
        state.taken += 1;
        drop(next);
        self.wake(&mut state, scope);
        Some((number, block))
    }

    fn wake<'s>(&'s self, state: &mut State<T>, scope: &Scope<'s>) {
        if !state.is_full(self.most) {
            (0..std::mem::take(&mut state.resting)).for_each(|_| scope.spawn(|scope| self.step(scope)));
        }
    }

    /// Merges all whose turn it is, unless somebody does.
    fn put<'s>(&'s self, number: usize, done: T, scope: &Scope<'s>) {
        let mut state = self.state();
        state.done.insert(number, done);
        if state.merging {
            return;
        }
        state.merging = true;
        loop {
            let number = state.merged;
            let Some(done) = state.done.remove(&number) else { break };
            drop(state);
            let mut merge = self.merge.lock().unwrap_or_else(PoisonError::into_inner);
            let went = (merge.0)(done);
            let failed = went.is_err();
            if failed {
                merge.1 = went;
            }
            drop(merge);
            state = self.state();
            if failed {
                // Nobody merges any more: this stays as it is.
                self.ended.store(true, Ordering::Relaxed);
                state.done.clear();
                return;
            }
            state.merged += 1;
            self.wake(&mut state, scope);
        }
        state.merging = false;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn on<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(run)
    }

    #[test]
    fn blocks_are_merged_in_their_order_and_few_are_held() {
        for threads in [1, 2, 7] {
            for (n, most, may_wait) in
                [(0, 3, false), (1, 1, true), (200, 1, false), (200, 4, true), (200, 50, false)]
            {
                let (held, most_held) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let (mut blocks, mut merged) = (0..n, Vec::new());
                let work = |i: usize| {
                    // Some take long.
                    (0..(i * 7919 % 13) * 400).for_each(|i| _ = std::hint::black_box(i));
                    i
                };
                let next = |_: &AtomicBool| {
                    most_held.fetch_max(held.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                    blocks.next()
                };
                let merge = |i| {
                    merged.push(i);
                    held.fetch_sub(1, Ordering::SeqCst);
                    Ok::<(), ()>(())
                };
                on(threads, || in_order(next, (most, may_wait), work, merge)).expect("all is well");
                assert_eq!(merged, (0..n).collect::<Vec<_>>(), "{threads} threads, {most} at most");
                assert!(most_held.into_inner() <= most);
            }
        }
    }

    #[test]
    fn nothing_is_merged_after_an_error() {
        for threads in [1, 3] {
            let (mut blocks, mut merged) = (0.., Vec::new());
            let merge = |i| {
                merged.push(i);
                if i == 20 { Err("no more") } else { Ok(()) }
            };
            let went = on(threads, || in_order(|_| blocks.next(), (8, false), |i: i32| i, merge));
            assert_eq!(went, Err("no more"));
            assert_eq!(merged, (0..=20).collect::<Vec<_>>());
            assert!(blocks.next().expect("endless") <= 30, "it ends soon after");
        }
    }

    /// Blocks come late, and other work of the pool goes on meanwhile.
    #[test]
    fn blocks_that_come_late_are_waited_for_by_one() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let sending = std::thread::spawn(move || {
            for n in 0..100 {
                std::thread::yield_now();
                sender.send(n).expect("it is received");
            }
        });
        let mut merged = Vec::new();
        let merge = |n: usize| {
            merged.push(n);
            Ok::<(), ()>(())
        };
        on(3, || {
            let other = || (0..1000).map(|n| rayon::join(|| n, || n)).map(|(a, b)| a + b).sum::<usize>();
            let next = move |_: &AtomicBool| receiver.recv().ok();
            let (done, sum) = rayon::join(|| in_order(next, (8, true), |n| n, merge), other);
            assert_eq!((done, sum), (Ok(()), 999_000));
        });
        sending.join().expect("all are sent");
        assert_eq!(merged, (0..100).collect::<Vec<_>>());
    }
}
