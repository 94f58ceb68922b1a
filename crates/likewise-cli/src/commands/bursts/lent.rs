//! Threads that process 0 has while the others of its computer wait for it.

use anyhow::Result;
use likewise_comm::wire::{Taker, put_block, put_number, put_numbers};
use likewise_comm::{CommError, Communicator};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads of some processes, and the cores that these may run on.
#[derive(Debug, Default)]
pub(super) struct Lent {
    /// Of process 0 alone.
    own: usize,
    threads: usize,
    cores: Vec<usize>,
}

impl Lent {
    /// What the processes of process 0's computer have together. Collective; the same on all.
    ///
    /// # Reference
    /// Garcia, Corbalan, Labarta, *LeWI: A Runtime Balancing Algorithm for Nested Parallelism*,
    /// ICPP 2009: who waits in MPI lends its cores. Differs: only process 0 borrows, at fixed
    /// places, and nobody asks for cores back: who works meanwhile shares them.
    pub(super) fn of<C: Communicator>(comm: &C) -> Result<Self, CommError> {
        let mut own = Vec::new();
        // Of the kernel that runs, whatever a container calls itself.
        let computer = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        put_block(&mut own, &computer);
        put_number(&mut own, rayon::current_num_threads() as u64);
        put_numbers(&mut own, own_cores().into_iter().map(|core| core as u64));
        let all = comm.all_gather(&own)?;
        Self::together(&all).ok_or(CommError::out_of_step("all_gather"))
    }

    /// Of each process, what `of` has sent.
    fn together(all: &[Vec<u8>]) -> Option<Self> {
        let (mut lent, mut first) = (Self::default(), None);
        for bytes in all {
            let mut taker = Taker::new(bytes);
            let computer = taker.block()?;
            let threads = taker.index()?;
            // Where the computer is not known, process 0 has its own threads alone.
            let &mut (of_first, own) = first.get_or_insert((computer, threads));
            lent.own = own;
            if lent.threads > 0 && (computer.is_empty() || computer != of_first) {
                continue;
            }
            lent.threads += threads;
            while !taker.is_done() {
                lent.cores.push(taker.index()?);
            }
            lent.cores.sort_unstable();
            lent.cores.dedup();
            // No more than there are cores, but for threads that process 0 was given.
            lent.threads = lent.threads.min(lent.cores.len().max(own));
        }
        Some(lent)
    }

    /// As many threads, each on any of the cores; of process 0.
    pub(super) fn pool(self) -> Result<ThreadPool> {
        let mut set = CpuSet::new();
        for core in self.cores {
            let _ = set.set(core);
        }
        // Where the launcher holds each process on cores of its own (Slurm, by control groups), the
        // others' cannot be had, and more threads would only share those of process 0.
        let given = std::thread::spawn(move || {
            let _ = sched_setaffinity(Pid::from_raw(0), &set);
            own_cores().len()
        });
        let threads = self.threads.min(given.join().unwrap_or(0)).max(self.own);
        let start = move |_| {
            let _ = sched_setaffinity(Pid::from_raw(0), &set);
        };
        Ok(ThreadPoolBuilder::new().num_threads(threads).start_handler(start).build()?)
    }
}

/// The cores that this thread may run on; none where nobody tells.
fn own_cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(computer: &str, threads: u64, cores: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_block(&mut bytes, computer.as_bytes());
        put_number(&mut bytes, threads);
        put_numbers(&mut bytes, cores.iter().copied());
        bytes
    }

    #[test]
    fn threads_of_one_computer_are_lent() {
        let of = |all: &[(&str, u64, &[u64])]| {
            let all: Vec<_> = all.iter().map(|&(computer, n, cores)| sent(computer, n, cores)).collect();
            Lent::together(&all).map(|lent| (lent.threads > lent.own, lent.threads, lent.cores))
        };
        assert_eq!(of(&[("a", 1, &[3]), ("a", 1, &[5])]), Some((true, 2, vec![3, 5])));
        assert_eq!(of(&[("a", 2, &[0, 1]), ("b", 2, &[0, 1])]), Some((false, 2, vec![0, 1])));
        // Not bound, and more than there are cores.
        assert_eq!(
            of(&[("a", 1, &[0, 1]), ("a", 1, &[0, 1]), ("a", 1, &[0, 1])]),
            Some((true, 2, vec![0, 1]))
        );
        // Asked for.
        assert_eq!(of(&[("a", 4, &[0, 1]), ("a", 4, &[0, 1])]), Some((false, 4, vec![0, 1])));
        // Nobody tells.
        assert_eq!(of(&[("", 2, &[]), ("", 2, &[])]), Some((false, 2, Vec::new())));
        assert!(Lent::together(&[vec![1, 2]]).is_none());
    }

    #[test]
    fn a_pool_has_the_threads_and_their_cores() {
        let cores = own_cores();
        let lent = |threads: usize, own: usize, cores: &[usize]| {
            let pool = Lent { own, threads, cores: cores.to_vec() }.pool().expect("threads start");
            pool.install(|| (rayon::current_num_threads(), own_cores()))
        };
        assert_eq!(lent(cores.len(), 1, &cores), (cores.len(), cores.clone()));
        // Of cores that do not exist, none is given, and those that one has stay.
        let none = CpuSet::count() - 1;
        assert_eq!(lent(cores.len() + 9, 1, &[&cores[..], &[none]].concat()), (cores.len(), cores.clone()));
        assert_eq!(lent(3, 3, &cores[..1]), (3, cores[..1].to_vec()));
    }
}
