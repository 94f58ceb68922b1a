//! Alignment of the tasks' phase sequences, and how alike they are.
//!
//! # Columns
//! What the score counts is columns: a cluster's score is how often tasks show
//! it, over tasks times the columns that hold it. How often they show it is
//! given, so the best alignment is the one with the fewest columns per
//! cluster, and a shared column of two clusters is worth nothing to either.
//! Sequences are therefore first aligned to columns of one symbol each: a
//! common supersequence, as short as can be found. Columns that no task shows
//! both of are then laid over one another where order allows. That changes no
//! score for the worse, and shows what stands *in place of* what: two clusters
//! in one column are alternatives of one phase.
//!
//! # Steps
//! 1. Equal sequences become one (`Distinct`).
//! 2. The sequence most like all others starts; the rest joins in the order
//!    of likeness to it (`guide`), each by a longest common subsequence with
//!    all columns so far (`lcs`, exact). More than 64 do so in groups, which
//!    then join one another.
//! 3. One after the other is taken out and put back where it needs the fewest
//!    columns of its own, and then where most others stand (`refine`).
//! 4. Columns are laid over one another (`columns`).

mod columns;
mod guide;
mod lcs;
mod profile;
mod refine;
mod score;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use rayon::prelude::*;

use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};
use profile::{Member, Profile};
use refine::Worth;

pub use score::{SpmdScore, spmd_score};

/// Sequences laid over one another, so that what is the same step stands in
/// the same column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// How many columns there are. Every one holds a symbol.
    pub n_columns: usize,
    /// The sequences that differ, in the order of their first tasks.
    pub sequences: Vec<AlignedSequence>,
    /// Of each task, the place of its sequence in `sequences`.
    pub sequence_of: Vec<u32>,
}

/// A sequence, and where its symbols stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedSequence {
    /// Its symbols, as they were given.
    pub symbols: Vec<u32>,
    /// Of each symbol, its column from 0; ascending.
    pub columns: Vec<u32>,
    /// How many tasks have this sequence.
    pub n_tasks: usize,
}

/// Aligns the tasks' sequences to as few columns as it can find.
///
/// Symbols are any numbers. Noise and filtered bursts are no steps of the
/// program: leave them out, as [`phase_sequences`] does. A task may have an empty
/// sequence, and counts.
///
/// # Returns
/// An alignment in which each symbol has a column, ascending along its
/// sequence. A column may hold several symbols, but no sequence twice, and
/// equal symbols share columns only because they match: unequal ones are
/// never worth a column.
///
/// Two sequences are aligned exactly: matches are a longest common
/// subsequence. More are aligned step by step, and there may be better.
/// Results do not depend on the number of threads.
///
/// # Complexity
/// With `s` distinct sequences of `n` symbols and `c` columns of one symbol:
/// O(s·n·c/64) to join, O(s·c) times a hundred per round of putting back, of
/// which there are up to eight; a sequence shifts by 48 of its symbols per
/// round at most. The guide compares all pairs, in O(s²·n·d/64) where two differ
/// in d symbols, or their ends alone where O(s²·n²/64) is beyond 2³⁰ words. Memory is O(s·n), and O(c) times
/// 400 bytes for each thread.
///
/// # Reference
/// *Applications structure detection using cluster analysis* (BSC), §2, for
/// aligning phases. Differs: ClusteringSuite uses a protein aligner, of 23
/// letters and rewards for unequal ones. Progressive alignment is Feng &
/// Doolittle's (*J. Mol. Evol.* 25, 1987), putting back one sequence at a time
/// Barton & Sternberg's (*J. Mol. Biol.* 198, 1987). Differs: guided by
/// likeness to the centre, not by a tree. On 16 tasks of EPOCH that needed
/// fewer columns before sequences are put back, and about as many after.
///
/// # Example
/// ```
/// use likewise::bursts::align;
///
/// // The second task skips a step, the third takes another in its place.
/// let aligned = align(&[vec![1, 2, 3, 1], vec![1, 3, 1], vec![1, 7, 3, 1]]);
/// let columns: Vec<&[u32]> = aligned.sequences.iter().map(|s| &s.columns[..]).collect();
/// assert_eq!(columns, [&[0, 1, 2, 3][..], &[0, 2, 3], &[0, 1, 2, 3]]);
/// ```
#[must_use]
pub fn align<S: AsRef<[u32]>>(tasks: &[S]) -> Alignment {
    align_with(tasks, None)
}

/// As [`align`], but where not all symbols can have few columns, those that
/// take much time come first.
///
/// A column is worth 1, plus its symbol's share of all time per column it
/// needs at least, over what an average column has. So a column that holds as
/// much time as forty others weighs about as much as they do. This is what
/// [`spmd_score`] counts. Two sequences are not aligned exactly in this sense:
/// they start from a longest common subsequence and shift within reach.
///
/// # Panics
/// If a symbol of a sequence is not less than the number of `durations`.
#[must_use]
pub fn align_by_duration<S: AsRef<[u32]>>(tasks: &[S], durations: &[Nanos]) -> Alignment {
    align_with(tasks, Some(durations))
}

/// As [`align`], but no sequence is put back: several times as fast, and a few
/// columns more.
pub(super) fn align_roughly<S: AsRef<[u32]>>(tasks: &[S]) -> Alignment {
    aligned(tasks, |_, _| ())
}

fn align_with<S: AsRef<[u32]>>(tasks: &[S], durations: Option<&[Nanos]>) -> Alignment {
    aligned(tasks, |input, profile| {
        let coded: Vec<&[u32]> = input.coded.iter().map(Vec::as_slice).collect();
        let worth = worth(input, &coded, durations);
        refine::refine(profile, &Worth::new(&worth, &coded));
    })
}

fn aligned<S: AsRef<[u32]>>(tasks: &[S], improve: impl FnOnce(&Distinct, &mut Profile)) -> Alignment {
    let input = Distinct::of(tasks);
    let coded: Vec<&[u32]> = input.coded.iter().map(Vec::as_slice).collect();
    let mut profile = join_all(&coded, &input.n_tasks);
    improve(&input, &mut profile);
    let (places, n_columns) = columns::share_columns(&profile);
    profile.members.sort_by_key(|member| member.sequence);
    let aligned = |member: Member| AlignedSequence {
        symbols: coded[member.sequence].iter().map(|&c| input.alphabet[c as usize]).collect(),
        columns: member.columns.iter().map(|&c| places[c as usize]).collect(),
        n_tasks: input.n_tasks[member.sequence] as usize,
    };
    let sequences = profile.members.into_iter().map(aligned).collect();
    Alignment { n_columns, sequences, sequence_of: input.sequence_of }
}

/// How many sequences join one profile before profiles join one another.
const GROUP: usize = 64;

/// All sequences in one profile.
fn join_all(sequences: &[&[u32]], n_tasks: &[u32]) -> Profile {
    let join = |profile: Profile, next: Profile| {
        let pairs = lcs::lcs_pairs(&profile.symbols, &next.symbols);
        profile.join(next, &pairs)
    };
    let in_order = |group: &[usize]| {
        let profiles = group.iter().map(|&s| Profile::of(s, sequences[s]));
        profiles.reduce(join).unwrap_or_else(Profile::empty)
    };
    let order = guide::joining_order(sequences, n_tasks);
    let mut profiles: Vec<Profile> = order.par_chunks(GROUP).map(in_order).collect();
    while profiles.len() > 1 {
        let mut open = profiles.into_iter();
        let mut pairs = Vec::new();
        while let Some(first) = open.next() {
            pairs.push((first, open.next()));
        }
        let joined = pairs.into_par_iter().map(|(first, second)| match second {
            Some(second) => join(first, second),
            None => first,
        });
        profiles = joined.collect();
    }
    profiles.pop().unwrap_or_else(Profile::empty)
}

/// What a column of each symbol is worth: 1, and with durations as much again
/// on average, by the share of time that a column of this symbol holds.
fn worth(input: &Distinct, sequences: &[&[u32]], durations: Option<&[Nanos]>) -> Vec<f64> {
    let mut most = vec![0usize; input.alphabet.len()];
    for sequence in sequences {
        let mut counts = vec![0; most.len()];
        sequence.iter().for_each(|&symbol| counts[symbol as usize] += 1);
        most.iter_mut().zip(counts).for_each(|(most, count)| *most = count.max(*most));
    }
    let Some(durations) = durations else { return vec![1.0; most.len()] };
    let n_columns = most.iter().sum::<usize>() as f64;
    let time: Vec<f64> = input.alphabet.iter().map(|&s| durations[s as usize].0 as f64).collect();
    let total = time.iter().sum::<f64>();
    let share = |(time, most): (&f64, usize)| {
        if total > 0.0 { 1.0 + time / total * n_columns / most as f64 } else { 1.0 }
    };
    time.iter().zip(most).map(share).collect()
}

/// What each task runs, in order: of each thread (an application, task and
/// thread), in burst order, the places of its bursts' clusters
/// ([`ClusterId::index`]).
///
/// `labels` are of all bursts of the table. Those without a cluster are noise
/// or filtered; they are no part of a sequence. A thread none of whose bursts
/// has a cluster has an empty sequence, and counts.
///
/// # Panics
/// If there is not one label for each burst.
#[must_use]
pub fn phase_sequences(table: &BurstTable, labels: &[Option<ClusterId>]) -> Vec<Vec<u32>> {
    assert_eq!(table.len(), labels.len(), "a label for every burst");
    let thread = |i: usize| (table.app[i], table.task[i], table.thread[i]);
    let bursts: Vec<usize> = (0..table.len()).collect();
    let symbols =
        |bursts: &[usize]| bursts.iter().filter_map(|&i| labels[i]).map(|id| id.index() as u32).collect();
    bursts.chunk_by(|&i, &j| thread(i) == thread(j)).map(symbols).collect()
}

/// The sequences that differ, in symbols from 0 without gaps.
struct Distinct {
    coded: Vec<Vec<u32>>,
    n_tasks: Vec<u32>,
    sequence_of: Vec<u32>,
    /// Of each code, the symbol; ascending.
    alphabet: Vec<u32>,
}

impl Distinct {
    fn of<S: AsRef<[u32]>>(tasks: &[S]) -> Self {
        let mut numbers: HashMap<&[u32], u32> = HashMap::new();
        let (mut first, mut n_tasks) = (Vec::new(), Vec::new());
        let mut sequence_of = Vec::with_capacity(tasks.len());
        for task in tasks {
            let number = *numbers.entry(task.as_ref()).or_insert_with(|| {
                first.push(task.as_ref());
                n_tasks.push(0);
                first.len() as u32 - 1
            });
            n_tasks[number as usize] += 1;
            sequence_of.push(number);
        }
        let mut alphabet: Vec<u32> = first.iter().copied().flatten().copied().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let code = |s: &u32| alphabet.binary_search(s).unwrap_or(0) as u32;
        let coded = first.iter().map(|symbols| symbols.iter().map(code).collect()).collect();
        Self { coded, n_tasks, sequence_of, alphabet }
    }
}
