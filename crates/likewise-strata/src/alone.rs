//! Work that stays on the thread that does it.

/// Does work that would otherwise be shared out to a thread for every core: the
/// cores are the program's. This thread becomes the only one of a pool, and no
/// thread is started.
pub(crate) fn alone<R>(work: impl FnOnce() -> R) -> R {
    // It fails only where the thread is in such a pool already: it stays in it.
    let _pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    work()
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    #[test]
    fn no_other_thread_works() {
        let me = std::thread::current().id();
        for _ in 0..3 {
            let threads = super::alone(|| {
                (0..1000).into_par_iter().map(|_| std::thread::current().id()).collect::<Vec<_>>()
            });
            assert!(threads.iter().all(|thread| *thread == me));
        }
    }
}
