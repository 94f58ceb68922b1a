//! Where long sequences are cut, so that their pieces are aligned one by one.
//!
//! Sequences of one program are nearly equal, but an alignment of whole
//! sequences takes time by the square of their length. So one of them, the
//! reference, is walked from its start to its end in steps of [`STEP`] symbols.
//! At each step the others are aligned to what comes next of it, and all are
//! cut where most of them show the same symbol of it. A sequence that does not
//! go on like the reference waits: it has empty pieces until it is found again.
//! What is left of sequences when the reference ends is walked anew, by a
//! reference of its own. This is linear in all symbols where sequences are
//! alike.

use rayon::prelude::*;

use super::distinct::Distinct;
use super::lcs::Matches;

/// Sequences that are no longer than this are not cut.
pub(super) const WHOLE: usize = 2048;

/// How long pieces are, about.
const STEP: usize = 256;

/// A piece that has come to be longer by more than this may hold what belongs to
/// another one.
pub(super) const LONGER: usize = STEP / 4;

/// So many equal symbols on each side of a cut are enough.
const SURE: usize = 8;

/// How many steps ahead a sequence is searched for the reference.
const AHEAD: usize = 16;

/// A sequence that waits is searched each time it has waited for so many steps.
/// Where it has waited for a power of two, it is searched further ahead, by as
/// many times.
const PATIENCE: usize = 16;

/// Pieces of all sequences that are aligned together.
pub(super) struct Cut {
    /// Where the piece of each sequence ends.
    pub(super) ends: Vec<u32>,
    /// The sequences by how much they are like the reference, which is the first.
    /// `None` where there was none.
    pub(super) order: Option<Vec<u32>>,
}

impl Cut {
    /// The same of tasks, of which each has one of the sequences.
    pub(super) fn of_tasks(&self, sequence_of: &[u32]) -> Self {
        let ends = sequence_of.iter().map(|&sequence| self.ends[sequence as usize]).collect();
        let mut place = vec![0; self.ends.len()];
        let order = self.order.as_ref().map(|order| {
            order.iter().zip(0..).for_each(|(&sequence, at): (_, u32)| place[sequence as usize] = at);
            let mut tasks: Vec<u32> = (0..sequence_of.len() as u32).collect();
            tasks.sort_by_key(|&task| place[sequence_of[task as usize] as usize]);
            tasks
        });
        Self { ends, order }
    }

    /// The same of distinct sequences, where this is of tasks.
    pub(super) fn of_sequences(&self, input: &Distinct) -> Self {
        let ends = input.first_tasks().into_iter().map(|task| self.ends[task]).collect();
        let order = self
            .order
            .as_ref()
            .map(|order| input.first_of_each(order).into_iter().map(|sequence| sequence as u32).collect());
        Self { ends, order }
    }
}

/// The pieces of all sequences, window by window.
///
/// Pieces begin where those of the window before end, and those of the last
/// window end with their sequences. Some are empty.
///
/// # Complexity
/// O(l) for `l` symbols in all, where sequences are alike: [`STEP`] / 16 words each.
/// A sequence that is unlike the reference costs up to 2 · [`AHEAD`] times as much,
/// for each reference there is.
pub(super) fn windows<S: AsRef<[u32]>>(sequences: &[S], n_tasks: &[u32]) -> Vec<Cut> {
    let sequences: Vec<&[u32]> = sequences.iter().map(AsRef::as_ref).collect();
    let mut walk = Walk { sequences: &sequences, at: vec![0; sequences.len()], cuts: Vec::new() };
    while let Some(reference) = walk.reference(n_tasks) {
        walk.along(reference, n_tasks);
    }
    let ends = sequences.iter().map(|s| s.len() as u32).collect();
    walk.cuts.push(Cut { ends, order: None });
    walk.cuts
}

struct Walk<'a> {
    sequences: &'a [&'a [u32]],
    /// Where each sequence was cut last.
    at: Vec<usize>,
    cuts: Vec<Cut>,
}

/// Where the reference's next symbols are in a sequence.
struct Found {
    /// From where on it was compared.
    from: usize,
    /// Pairs of places: from the last cut of the reference, and from `from`.
    pairs: Vec<(u32, u32)>,
}

impl Walk<'_> {
    fn rest(&self, sequence: usize) -> &[u32] {
        &self.sequences[sequence][self.at[sequence]..]
    }

    /// Of the tasks that have anything left, one that has as much as half of
    /// them at most; `None` where nothing needs to be cut.
    fn reference(&self, n_tasks: &[u32]) -> Option<usize> {
        let mut left: Vec<usize> =
            (0..self.at.len()).filter(|&sequence| !self.rest(sequence).is_empty()).collect();
        left.sort_by_key(|&sequence| self.rest(sequence).len());
        if self.rest(*left.last()?).len() <= WHOLE {
            return None;
        }
        let all: u64 = left.iter().map(|&sequence| u64::from(n_tasks[sequence])).sum();
        let mut before = 0;
        left.into_iter().find(|&sequence| {
            before += u64::from(n_tasks[sequence]);
            2 * before >= all
        })
    }

    /// Cuts all sequences along one of them, up to its end.
    fn along(&mut self, reference: usize, n_tasks: &[u32]) {
        let mut waited = vec![0usize; self.at.len()];
        while !self.rest(reference).is_empty() {
            let rest = self.rest(reference);
            // What would be left for a short last piece goes with this one.
            let is_last = rest.len() < 3 * STEP;
            let piece = if is_last { rest } else { &rest[..2 * STEP] };
            let matches = Matches::of(piece);
            let found: Vec<Option<Found>> = (0..self.at.len())
                .into_par_iter()
                .map_init(
                    || matches.clone(),
                    |matches, sequence| self.find(sequence, waited[sequence], piece, matches),
                )
                .collect();
            let cut = if is_last { piece.len() - 1 } else { best_cut(&found, n_tasks) };
            let mut likeness = vec![0.0; self.at.len()];
            for (sequence, found) in found.into_iter().enumerate() {
                let len = self.sequences[sequence].len();
                let start = self.at[sequence];
                let mut n_matches = 0;
                match found {
                    Some(found) => {
                        waited[sequence] = 0;
                        n_matches = found.pairs.partition_point(|&(place, _)| place as usize <= cut);
                        if let Some(&(_, last)) = found.pairs[..n_matches].last() {
                            self.at[sequence] = found.from + last as usize + 1;
                        }
                    }
                    None => waited[sequence] += 1,
                }
                if is_last && len - start <= WHOLE {
                    self.at[sequence] = len;
                }
                let all = cut + 1 + self.at[sequence] - start;
                likeness[sequence] = 2.0 * n_matches as f64 / all as f64;
            }
            likeness[reference] = f64::INFINITY;
            let mut order: Vec<u32> = (0..self.at.len() as u32).collect();
            order.sort_by(|&a, &b| likeness[b as usize].total_cmp(&likeness[a as usize]));
            let ends = self.at.iter().map(|&at| at as u32).collect();
            self.cuts.push(Cut { ends, order: Some(order) });
        }
    }

    /// Where a sequence goes on like `piece`, which is in `matches`: where it
    /// stands, or else where it shows most of it further on. There at least half of the symbols match.
    fn find(
        &self,
        sequence: usize,
        waited: usize,
        piece: &[u32],
        matches: &mut Matches<'_>,
    ) -> Option<Found> {
        let rest = self.rest(sequence);
        let ahead = match waited {
            _ if waited.is_power_of_two() => AHEAD * waited,
            _ if waited.is_multiple_of(PATIENCE) => AHEAD,
            _ => return None,
        };
        let mut compare = |step: usize| {
            let from = step * STEP;
            let other = rest.get(from..).filter(|other| !other.is_empty())?;
            let other = &other[..other.len().min(piece.len())];
            let pairs = matches.with(other);
            let is_alike = 2 * pairs.len() >= piece.len().min(other.len());
            is_alike.then_some(Found { from: self.at[sequence] + from, pairs })
        };
        let here = compare(0);
        if here.is_some() {
            return here;
        }
        (1..=ahead.min(rest.len() / STEP))
            .filter_map(compare)
            .reduce(|best, other| if other.pairs.len() > best.pairs.len() { other } else { best })
    }
}

/// The place, in the middle of what was compared, about which most tasks show
/// the same symbols one after the other: there nothing is ambiguous. A task
/// counts by how many on each side, up to [`SURE`].
fn best_cut(found: &[Option<Found>], n_tasks: &[u32]) -> usize {
    let mut sure = vec![0u64; 2 * STEP];
    for (found, &n) in found.iter().zip(n_tasks) {
        let pairs = found.as_ref().map_or(&[][..], |found| &found.pairs);
        for run in pairs.chunk_by(|a, b| (a.0 + 1, a.1 + 1) == (b.0, b.1)) {
            for (i, &(place, _)) in run.iter().enumerate() {
                let around = (i + 1).min(run.len() - i).min(SURE);
                sure[place as usize] += u64::from(n) * around as u64;
            }
        }
    }
    let middle = STEP / 2..STEP + STEP / 2;
    middle.max_by_key(|&place| (sure[place], std::cmp::Reverse(place.abs_diff(STEP)))).unwrap_or(STEP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each window's pieces.
    fn pieces<'a>(sequences: &[&'a [u32]]) -> Vec<Vec<&'a [u32]>> {
        let mut from = vec![0; sequences.len()];
        let n_tasks = vec![1; sequences.len()];
        let cut = |Cut { ends, .. }| {
            let piece = |((s, &from), &end): ((&&'a [u32], &u32), &u32)| &s[from as usize..end as usize];
            let cut = sequences.iter().zip(&from).zip(&ends).map(piece).collect();
            from = ends;
            cut
        };
        windows(sequences, &n_tasks).into_iter().map(cut).collect()
    }

    fn loops(iterations: usize, phases: u32) -> Vec<u32> {
        (0..iterations).flat_map(|_| 0..phases).collect()
    }

    proptest! {
        #[test]
        fn pieces_are_the_sequences(
            seeds in prop::collection::vec((0..9000usize, 1..40u32, 0..3usize), 1..6),
        ) {
            let sequence = |&(n, phases, gap): &(usize, u32, usize)| {
                let mut symbols = loops(n / phases as usize, phases);
                symbols.drain(symbols.len() / 3..(symbols.len() / 3 + gap * 700).min(symbols.len()));
                symbols
            };
            let sequences: Vec<Vec<u32>> = seeds.iter().map(sequence).collect();
            let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
            let pieces = pieces(&sequences);
            for (i, sequence) in sequences.iter().enumerate() {
                prop_assert_eq!(pieces.iter().map(|piece| piece[i]).collect::<Vec<_>>().concat(), *sequence);
            }
        }
    }

    #[test]
    fn short_sequences_are_not_cut() {
        let sequence = loops(WHOLE / 8, 8);
        assert_eq!(pieces(&[&sequence, &sequence[3..]]).len(), 1);
        let longer = loops(WHOLE / 8 + 1, 8);
        assert!(pieces(&[&longer, &sequence]).len() > 1);
    }

    #[test]
    fn a_sequence_that_lacks_a_part_is_found_again() {
        // 20,000 steps, none like another; the second task leaves out 5,000.
        let all: Vec<u32> = (0..20_000).collect();
        let some = [&all[..6000], &all[11_000..]].concat();
        for (one, other) in [(&all, &some), (&some, &all)] {
            let pieces = pieces(&[one, other]);
            let alike: usize =
                pieces.iter().filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].len()).sum();
            assert!(alike > some.len() - (PATIENCE + 4) * STEP, "{alike} in {}", pieces.len());
        }
    }

    #[test]
    fn what_the_reference_lacks_is_cut_too() {
        // Two programs: 10,000 steps each, and none in common.
        let (ocean, air) = (loops(1000, 10), (100..110).cycle().take(10_000).collect::<Vec<_>>());
        let pieces = pieces(&[&ocean, &air, &ocean, &air]);
        assert!(pieces.iter().flatten().all(|piece| piece.len() <= WHOLE));
        assert!(pieces.iter().all(|p| p[0] == p[2] && p[1] == p[3]));
    }
}
