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
//! 2. Sequences of more than 2,048 symbols are cut into windows, where most of
//!    them show the same symbol (`windows`). Each window is aligned by itself, so
//!    that time grows with the sequences and not with their squares.
//! 3. The sequence most like all others starts; the rest joins in the order
//!    of likeness to it (`guide`), each by a longest common subsequence with
//!    all columns so far (`lcs`, exact). More than 64 do so in groups, which
//!    then join one another.
//! 4. One after the other is taken out and put back where it needs the fewest
//!    columns of its own, and then where most others stand (`refine`): by a `table`
//!    of all cells, or by a `chain` of matches where there are few. Both find the same.
//! 5. Columns are laid over one another (`columns`).

mod chain;
mod columns;
mod distinct;
mod guide;
mod lcs;
mod profile;
mod refine;
mod score;
mod table;
#[cfg(test)]
mod tests;
mod windows;

use std::ops::Range;

use rayon::prelude::*;

use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};
use distinct::Distinct;
use profile::{Member, Profile};
use refine::Worth;
use windows::{Cut, LONGER};

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
    /// How many windows the sequences were cut into, each aligned by itself; 1
    /// where they were aligned as a whole.
    pub n_windows: usize,
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

impl Alignment {
    /// The same of some of the symbols, by other numbers. They stand where they did,
    /// and columns that hold none are gone.
    ///
    /// # Complexity
    /// O(n) for n symbols of sequences that differ.
    pub(super) fn of_some(&self, number_of: impl Fn(u32) -> Option<u32> + Sync) -> Self {
        let kept = |sequence: &AlignedSequence| -> (Vec<u32>, Vec<u32>) {
            let all = sequence.symbols.iter().zip(&sequence.columns);
            all.filter_map(|(&symbol, &column)| Some((number_of(symbol)?, column))).unzip()
        };
        let mut kept: Vec<(Vec<u32>, Vec<u32>)> = self.sequences.par_iter().map(kept).collect();
        // Sequences that are equal now are one, where the first of them stands.
        let symbols: Vec<&[u32]> = kept.iter().map(|(symbols, _)| &symbols[..]).collect();
        let (first, number) = Distinct::numbered(&symbols);
        let mut is_held = vec![false; self.n_columns];
        first.iter().flat_map(|&s| &kept[s].1).for_each(|&column| is_held[column as usize] = true);
        let mut n_columns = 0;
        let place = |is_held: &bool| {
            n_columns += u32::from(*is_held);
            n_columns - u32::from(*is_held)
        };
        let places: Vec<u32> = is_held.iter().map(place).collect();
        let aligned = |s: usize| {
            let (symbols, mut columns) = std::mem::take(&mut kept[s]);
            columns.iter_mut().for_each(|column| *column = places[*column as usize]);
            AlignedSequence { symbols, columns, n_tasks: 0 }
        };
        let mut sequences: Vec<AlignedSequence> = first.into_iter().map(aligned).collect();
        let sequence_of: Vec<u32> = self.sequence_of.iter().map(|&s| number[s as usize]).collect();
        sequence_of.iter().for_each(|&s| sequences[s as usize].n_tasks += 1);
        Self { n_columns: n_columns as usize, sequences, sequence_of, n_windows: self.n_windows }
    }
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
/// Two sequences of at most 2,048 symbols are aligned exactly: matches are a
/// longest common subsequence. Longer ones are, between the cuts. More than two
/// are aligned step by step, and there may be better. Results do not depend on
/// the number of threads.
///
/// # Complexity
/// With `s` distinct sequences of `n` symbols and `c` columns of one symbol, in
/// windows of `w` symbols and `v` columns (`w` is about 256 where sequences were cut):
/// O(s·n·v/64) to join, O(s·c) times a hundred per round of putting back, or
/// times 100/k where k > 32 kinds of symbols are about as frequent. There are up to
/// eight rounds; a sequence shifts by 48 of its symbols per
/// round at most. The guide compares 16 sequences with all, in O(s·n·d/4) where two
/// differ in d symbols, or their ends alone where that is beyond 2³⁰ words; where
/// sequences were cut, cutting tells the order. Memory is O(s·n).
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
pub fn align<S: AsRef<[u32]> + Sync>(tasks: &[S]) -> Alignment {
    align_with(Distinct::of(tasks), None)
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
pub fn align_by_duration<S: AsRef<[u32]> + Sync>(tasks: &[S], durations: &[Nanos]) -> Alignment {
    align_with(Distinct::of(tasks), Some(durations))
}

/// The same of sequences that are not needed any more.
pub(super) fn align_all_by_duration(tasks: Vec<Vec<u32>>, durations: &[Nanos]) -> Alignment {
    align_with(Distinct::of_all(tasks), Some(durations))
}

/// As [`align`], but no sequence is put back: several times as fast, and a few
/// columns more. Also tells where long sequences were cut.
pub(super) fn align_roughly(tasks: Vec<Vec<u32>>) -> (Alignment, Cuts) {
    let input = Distinct::of_all(tasks);
    let cuts = windows::windows(&input.coded, &input.n_tasks);
    let of_tasks = Cuts(cuts.iter().map(|cut| cut.of_tasks(&input.sequence_of)).collect());
    (aligned(input, &cuts, None), of_tasks)
}

/// As [`align_roughly`], where it is known where to cut.
pub(super) fn align_roughly_along(tasks: Vec<Vec<u32>>, cuts: &Cuts) -> Alignment {
    let input = Distinct::of_all(tasks);
    let cuts: Vec<Cut> = cuts.0.iter().map(|cut| cut.of_sequences(&input)).collect();
    aligned(input, &cuts, None)
}

/// Where the tasks' sequences were cut.
pub(super) struct Cuts(Vec<Cut>);

impl Cuts {
    /// The same by other numbers: `ends` has them of all cuts of a task.
    pub(super) fn renumbered(&self, n_tasks: usize, ends: impl Fn(usize, &[u32]) -> Vec<u32> + Sync) -> Self {
        let of_task = |task: usize| {
            let old: Vec<u32> = self.0.iter().map(|cut| cut.ends[task]).collect();
            ends(task, &old)
        };
        let of_tasks: Vec<Vec<u32>> = (0..n_tasks).into_par_iter().map(of_task).collect();
        let cut = |(at, cut): (usize, &Cut)| Cut {
            ends: of_tasks.iter().map(|ends| ends[at]).collect(),
            order: cut.order.clone(),
        };
        Self(self.0.iter().enumerate().map(cut).collect())
    }

    /// Whether no piece is much longer than it was.
    pub(super) fn are_as_close_as(&self, before: &Self) -> bool {
        let length = |cuts: &Self, at: usize, task: usize| {
            let start = at.checked_sub(1).map_or(0, |before| cuts.0[before].ends[task]);
            cuts.0[at].ends[task] - start
        };
        let is_close = |at: usize, task: usize| {
            length(self, at, task).saturating_sub(length(before, at, task)) as usize <= LONGER
        };
        (0..self.0.len()).all(|at| (0..self.0[at].ends.len()).all(|task| is_close(at, task)))
    }
}

fn align_with(input: Distinct, durations: Option<&[Nanos]>) -> Alignment {
    let worth = worth(&input, durations);
    let cuts = windows::windows(&input.coded, &input.n_tasks);
    aligned(input, &cuts, Some(&worth))
}

/// Aligns sequences window by window, and then lays columns over one another.
/// With what a column of each symbol is worth, sequences are put back.
fn aligned(input: Distinct, cuts: &[Cut], worth: Option<&[f64]>) -> Alignment {
    let coded: Vec<&[u32]> = input.coded.iter().map(Vec::as_slice).collect();
    let n_symbols: usize = coded.iter().map(|sequence| sequence.len()).sum();
    let window = |number: usize| {
        let start = |s: usize| number.checked_sub(1).map_or(0, |before| cuts[before].ends[s] as usize);
        let pieces: Vec<&[u32]> =
            (0..coded.len()).map(|s| &coded[s][start(s)..cuts[number].ends[s] as usize]).collect();
        Window::of(&pieces, (&input.n_tasks, cuts[number].order.as_deref()), n_symbols)
    };
    let windows: Vec<Window> = (0..cuts.len()).into_par_iter().map(window).collect();
    let mut profile = joined(&coded, windows);
    if let Some(worth) = worth {
        refine::refine(&mut profile, &Worth::new(worth, &coded));
    }
    profile.members.sort_by_key(|member| member.sequence);
    let (places, n_columns) = columns::share_columns(&profile);
    let Distinct { coded, n_tasks, sequence_of, alphabet } = input;
    let aligned = |((mut symbols, Member { mut columns, .. }), n_tasks): ((Vec<u32>, Member), u32)| {
        symbols.iter_mut().for_each(|symbol| *symbol = alphabet[*symbol as usize]);
        columns.iter_mut().for_each(|column| *column = places[*column as usize]);
        AlignedSequence { symbols, columns, n_tasks: n_tasks as usize }
    };
    // Members are in the order of sequences, one for each, so both vectors are used again.
    let sequences = coded.into_par_iter().zip(profile.members).zip(n_tasks).map(aligned).collect();
    Alignment { n_columns, sequences, sequence_of, n_windows: cuts.len() }
}

/// All sequences as their windows are, one after the other.
fn joined(sequences: &[&[u32]], mut windows: Vec<Window>) -> Profile {
    if windows.len() == 1
        && let Some(window) = windows.pop()
    {
        // No two sequences are equal, so each is its own piece, in the order in
        // which they joined.
        return window.profile;
    }
    windows.par_iter_mut().for_each(Window::show);
    let first = |before: &mut u32, window: &Window| {
        let first = *before;
        *before += window.profile.symbols.len() as u32;
        Some(first)
    };
    let first_columns: Vec<u32> = windows.iter().scan(0, first).collect();
    let member = |(sequence, symbols): (usize, &&[u32])| {
        let mut columns = Vec::with_capacity(symbols.len());
        for (window, first) in windows.iter().zip(&first_columns) {
            let piece = &window.profile.members[window.piece_of[sequence] as usize];
            columns.extend(piece.columns.iter().map(|column| first + column));
        }
        Member { sequence, columns }
    };
    let members = sequences.par_iter().enumerate().map(member).collect();
    let mut profile = Profile { members, ..Profile::empty() };
    for Window { profile: mut window, .. } in windows {
        profile.symbols.append(&mut window.symbols);
        profile.shown.append(&mut window.shown);
    }
    profile
}

/// Pieces of all sequences, joined.
struct Window {
    /// Its members are the pieces that differ, its symbols those of all sequences.
    profile: Profile,
    /// Of each sequence, its piece.
    piece_of: Vec<u32>,
}

impl Window {
    /// `n_symbols` are in all windows together: each takes its share of the
    /// time that there is. The order is in which pieces join, if it is known.
    fn of(pieces: &[&[u32]], (n_tasks, order): (&[u32], Option<&[u32]>), n_symbols: usize) -> Self {
        let mut input = Distinct::of(pieces);
        input.n_tasks.fill(0);
        input.sequence_of.iter().zip(n_tasks).for_each(|(&s, n)| input.n_tasks[s as usize] += n);
        let coded: Vec<&[u32]> = input.coded.iter().map(Vec::as_slice).collect();
        let order = match order {
            Some(order) => input.first_of_each(order),
            None => {
                let own: usize = pieces.iter().map(|piece| piece.len()).sum();
                guide::joining_order(&coded, &input.n_tasks, own as f64 / n_symbols.max(1) as f64)
            }
        };
        let mut profile = join_all(&coded, &order);
        profile.symbols.iter_mut().for_each(|symbol| *symbol = input.alphabet[*symbol as usize]);
        Self { profile, piece_of: input.sequence_of }
    }

    /// Counts in each column all sequences instead of the pieces, which come to stand
    /// by number.
    fn show(&mut self) {
        let Self { profile, piece_of } = self;
        profile.members.sort_by_key(|member| member.sequence);
        profile.shown.fill(0);
        for &piece in piece_of.iter() {
            let columns = &profile.members[piece as usize].columns;
            columns.iter().for_each(|&column| profile.shown[column as usize] += 1);
        }
    }
}

/// How many sequences join one profile before profiles join one another.
const GROUP: usize = 64;

/// All sequences in one profile, which they join in this order.
fn join_all(sequences: &[&[u32]], order: &[usize]) -> Profile {
    let join = |profile: Profile, next: Profile| {
        let pairs = lcs::lcs_pairs(&profile.symbols, &next.symbols);
        profile.join(next, &pairs)
    };
    let in_order =
        |group: &[usize]| Profile::of_all(group.iter().map(|&s| (s, sequences[s])), lcs::lcs_pairs);
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
fn worth(input: &Distinct, durations: Option<&[Nanos]>) -> Vec<f64> {
    let mut most = vec![0usize; input.alphabet.len()];
    for sequence in &input.coded {
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
    let symbols =
        |bursts: Range<usize>| labels[bursts].iter().flatten().map(|id| id.index() as u32).collect();
    table.threads().map(|(_, bursts)| symbols(bursts)).collect()
}
