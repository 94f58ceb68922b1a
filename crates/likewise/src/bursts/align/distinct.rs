//! Equal sequences once, and symbols without gaps.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// So many symbols are worth being looked at by a thread of their own.
const SHORT: usize = 1 << 16;

/// The sequences that differ, in symbols from 0 without gaps.
pub(super) struct Distinct {
    pub(super) coded: Vec<Vec<u32>>,
    pub(super) n_tasks: Vec<u32>,
    pub(super) sequence_of: Vec<u32>,
    /// Of each code, the symbol; ascending.
    pub(super) alphabet: Vec<u32>,
}

impl Distinct {
    pub(super) fn of<S: AsRef<[u32]> + Sync>(tasks: &[S]) -> Self {
        let (first, sequence_of) = Self::numbered(tasks);
        Self::recoded(first.into_iter().map(|task| tasks[task].as_ref().to_vec()).collect(), sequence_of)
    }

    /// The same of sequences that are not needed any more.
    pub(super) fn of_all(mut tasks: Vec<Vec<u32>>) -> Self {
        let (first, sequence_of) = Self::numbered(&tasks);
        Self::recoded(first.into_iter().map(|task| std::mem::take(&mut tasks[task])).collect(), sequence_of)
    }

    fn recoded(mut sequences: Vec<Vec<u32>>, sequence_of: Vec<u32>) -> Self {
        let mut n_tasks = vec![0; sequences.len()];
        sequence_of.iter().for_each(|&sequence| n_tasks[sequence as usize] += 1);
        let alphabet = recode(&mut sequences);
        Self { coded: sequences, n_tasks, sequence_of, alphabet }
    }

    /// Of each distinct sequence, the first task that has it; of each task, which one
    /// it has.
    pub(super) fn numbered<S: AsRef<[u32]> + Sync>(tasks: &[S]) -> (Vec<usize>, Vec<u32>) {
        let hash = |task: &S| FxBuildHasher.hash_one(task.as_ref());
        let hashes: Vec<u64> = tasks.par_iter().with_min_len(at_once(tasks)).map(hash).collect();
        // Those of the same hash, which are equal but for chance.
        let mut numbers: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        let (mut first, mut sequence_of) = (Vec::new(), Vec::with_capacity(tasks.len()));
        for ((at, task), hash) in tasks.iter().enumerate().zip(hashes) {
            let known = numbers.entry(hash).or_default();
            let same = |&&number: &&u32| {
                let other: &S = &tasks[first[number as usize]];
                other.as_ref() == task.as_ref()
            };
            let number = known.iter().find(same).copied().unwrap_or_else(|| {
                first.push(at);
                known.push(first.len() as u32 - 1);
                first.len() as u32 - 1
            });
            sequence_of.push(number);
        }
        (first, sequence_of)
    }

    /// Of each distinct sequence, the first task that has it.
    pub(super) fn first_tasks(&self) -> Vec<usize> {
        let mut first = Vec::with_capacity(self.coded.len());
        for (task, &sequence) in self.sequence_of.iter().enumerate() {
            // They are numbered in the order of their first tasks.
            if sequence as usize == first.len() {
                first.push(task);
            }
        }
        first
    }

    /// Of sequences in some order, the distinct ones in the order of the first of
    /// each.
    pub(super) fn first_of_each(&self, order: &[u32]) -> Vec<usize> {
        let mut is_in = vec![false; self.coded.len()];
        let distinct = order.iter().map(|&sequence| self.sequence_of[sequence as usize] as usize);
        distinct.filter(|&number| !std::mem::replace(&mut is_in[number], true)).collect()
    }
}

/// So many sequences are looked at by one thread: all of them, if they are short.
fn at_once<S: AsRef<[u32]>>(sequences: &[S]) -> usize {
    let n_symbols: usize = sequences.iter().map(|sequence| sequence.as_ref().len()).sum();
    (SHORT * sequences.len() / n_symbols.max(1)).max(1)
}

/// Makes symbols numbers from 0 without gaps, and returns the old ones, ascending.
fn recode(sequences: &mut [Vec<u32>]) -> Vec<u32> {
    let at_once = at_once(sequences);
    let n: usize = sequences.iter().map(Vec::len).sum();
    let highest = sequences.par_iter().with_min_len(at_once).filter_map(|sequence| sequence.iter().max());
    let top = highest.max().map_or(0, |&top| top as usize);
    if top > 4 * n + 1024 {
        let mut alphabet: Vec<u32> = sequences.iter().flatten().copied().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let code = |symbol: &mut u32| *symbol = alphabet.binary_search(symbol).unwrap_or(0) as u32;
        sequences.iter_mut().flatten().for_each(code);
        return alphabet;
    }
    let is_seen: Vec<AtomicBool> = (0..=top).map(|_| AtomicBool::new(false)).collect();
    let see = |&symbol: &u32| {
        // Most were seen before, and what is only read stays in the cache of both.
        let is_seen = &is_seen[symbol as usize];
        if !is_seen.load(Relaxed) {
            is_seen.store(true, Relaxed);
        }
    };
    sequences.par_iter().with_min_len(at_once).for_each(|sequence| sequence.iter().for_each(see));
    let seen = (0..=top as u32).zip(is_seen).filter(|(_, is_seen)| is_seen.load(Relaxed));
    let alphabet: Vec<u32> = seen.map(|(symbol, _)| symbol).collect();
    let mut codes = vec![0; top + 1];
    alphabet.iter().zip(0..).for_each(|(&symbol, code)| codes[symbol as usize] = code);
    let code = |symbol: &mut u32| *symbol = codes[*symbol as usize];
    sequences.par_iter_mut().with_min_len(at_once).for_each(|sequence| sequence.iter_mut().for_each(code));
    alphabet
}
