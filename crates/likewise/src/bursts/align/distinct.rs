//! Equal sequences once, and symbols without gaps.

use rustc_hash::FxHashMap;

/// The sequences that differ, in symbols from 0 without gaps.
pub(super) struct Distinct {
    pub(super) coded: Vec<Vec<u32>>,
    pub(super) n_tasks: Vec<u32>,
    pub(super) sequence_of: Vec<u32>,
    /// Of each code, the symbol; ascending.
    pub(super) alphabet: Vec<u32>,
}

impl Distinct {
    pub(super) fn of<S: AsRef<[u32]>>(tasks: &[S]) -> Self {
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
    pub(super) fn numbered<S: AsRef<[u32]>>(tasks: &[S]) -> (Vec<usize>, Vec<u32>) {
        let mut numbers: FxHashMap<&[u32], u32> = FxHashMap::default();
        let (mut first, mut sequence_of) = (Vec::new(), Vec::with_capacity(tasks.len()));
        for (at, task) in tasks.iter().enumerate() {
            let number = numbers.entry(task.as_ref()).or_insert_with(|| {
                first.push(at);
                first.len() as u32 - 1
            });
            sequence_of.push(*number);
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

/// Makes symbols numbers from 0 without gaps, and returns the old ones, ascending.
fn recode(sequences: &mut [Vec<u32>]) -> Vec<u32> {
    let symbols = || sequences.iter().flatten();
    let (n, top) = (symbols().count(), symbols().max().map_or(0, |&top| top as usize));
    if top > 4 * n + 1024 {
        let mut alphabet: Vec<u32> = symbols().copied().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let code = |symbol: &mut u32| *symbol = alphabet.binary_search(symbol).unwrap_or(0) as u32;
        sequences.iter_mut().flatten().for_each(code);
        return alphabet;
    }
    let mut codes = vec![0; top + 1];
    symbols().for_each(|&symbol| codes[symbol as usize] = 1);
    let alphabet: Vec<u32> = (0..=top as u32).filter(|&symbol| codes[symbol as usize] == 1).collect();
    alphabet.iter().zip(0..).for_each(|(&symbol, code)| codes[symbol as usize] = code);
    sequences.iter_mut().flatten().for_each(|symbol| *symbol = codes[*symbol as usize]);
    alphabet
}
