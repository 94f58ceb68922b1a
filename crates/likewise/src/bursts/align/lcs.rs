//! Longest common subsequences, 64 symbols at a time.

mod short;

/// Bytes of difference rows that a traceback may hold at once. Longer inputs
/// keep every some-th row and compute the others again, block by block.
const ROWS_BYTES: usize = 32 << 20;

/// Where each symbol of a sequence stands.
///
/// A symbol that fills more than a word per 64 places has a bit vector; there
/// are at most 64 such. The places of the others are written into a scratch
/// vector when they are needed, so that no alphabet is too large.
#[derive(Clone)]
struct Masks {
    words: usize,
    dense: Vec<u64>,
    /// Of each symbol, its vector in `dense`.
    slots: Vec<Option<u32>>,
    /// Of each symbol, where its places start; one more at the end.
    starts: Vec<u32>,
    places: Vec<u32>,
    scratch: Vec<u64>,
}

impl Masks {
    fn new(a: &[u32]) -> Self {
        let words = a.len().div_ceil(64);
        let symbols = a.iter().max().map_or(0, |&top| top as usize + 1);
        let mut starts = vec![0u32; symbols + 1];
        a.iter().for_each(|&symbol| starts[symbol as usize + 1] += 1);
        (0..symbols).for_each(|s| starts[s + 1] += starts[s]);
        let mut next = starts.clone();
        let mut places = vec![0; a.len()];
        for (i, &symbol) in a.iter().enumerate() {
            places[next[symbol as usize] as usize] = i as u32;
            next[symbol as usize] += 1;
        }
        let mut masks = Self {
            words,
            dense: Vec::new(),
            slots: vec![None; symbols],
            starts,
            places,
            scratch: vec![0; words],
        };
        for symbol in 0..symbols {
            let range = masks.range(symbol);
            if range.len() > words {
                let at = masks.dense.len();
                masks.slots[symbol] = Some((at / words) as u32);
                masks.dense.resize(at + words, 0);
                set(&mut masks.dense[at..], &masks.places[range]);
            }
        }
        masks
    }

    fn range(&self, symbol: usize) -> std::ops::Range<usize> {
        self.starts[symbol] as usize..self.starts[symbol + 1] as usize
    }

    /// The row of the empty sequence.
    fn first_row(&self) -> Vec<u64> {
        vec![u64::MAX; self.words]
    }

    /// The row after one more symbol.
    fn step(&mut self, symbol: u32, row: &[u64], out: &mut [u64]) {
        let symbol = symbol as usize;
        match self.slots.get(symbol) {
            None => out.copy_from_slice(row),
            Some(&Some(slot)) => {
                advance_to(out, row, &self.dense[slot as usize * self.words..][..self.words]);
            }
            Some(None) => {
                let range = self.range(symbol);
                set(&mut self.scratch, &self.places[range.clone()]);
                advance_to(out, row, &self.scratch);
                self.places[range].iter().for_each(|&i| self.scratch[i as usize / 64] = 0);
            }
        }
    }

    /// Makes `row` the one after one more symbol, which matches within `words`.
    fn step_within(&mut self, symbol: u32, row: &mut [u64], words: std::ops::Range<usize>) {
        let symbol = symbol as usize;
        match self.slots.get(symbol) {
            None => {}
            Some(&Some(slot)) => {
                let mask = &self.dense[slot as usize * self.words..][..self.words];
                advance(&mut row[words.clone()], &mask[words]);
            }
            Some(None) => {
                let range = self.range(symbol);
                set(&mut self.scratch, &self.places[range.clone()]);
                advance(&mut row[words.clone()], &self.scratch[words]);
                self.places[range].iter().for_each(|&i| self.scratch[i as usize / 64] = 0);
            }
        }
    }
}

fn set(bits: &mut [u64], places: &[u32]) {
    places.iter().for_each(|&i| bits[i as usize / 64] |= 1 << (i % 64));
}

/// Makes a row the one after one more symbol. Bit i of a row is 0 where the
/// length of the longest common subsequence grows with the i-th symbol.
fn advance(row: &mut [u64], mask: &[u64]) {
    let mut carry = false;
    row.iter_mut().zip(mask).for_each(|(v, &m)| *v = advanced(*v, m, &mut carry));
}

/// As [`advance`], to another row.
fn advance_to(out: &mut [u64], row: &[u64], mask: &[u64]) {
    let mut carry = false;
    out.iter_mut().zip(row).zip(mask).for_each(|((out, &v), &m)| *out = advanced(v, m, &mut carry));
}

#[inline(always)]
fn advanced(v: u64, m: u64, carry: &mut bool) -> u64 {
    let (sum, out) = v.carrying_add(v & m, *carry);
    *carry = out;
    sum | (v & !m)
}

/// How long the longest common subsequences of one sequence with others are.
///
/// Symbols are small numbers: the memory grows with the largest one.
pub(super) struct Lengths {
    len: usize,
    masks: Masks,
    row: Vec<u64>,
    /// How far a match may lie off the diagonal, at first.
    reach: usize,
}

impl Lengths {
    pub(super) fn of(a: &[u32]) -> Self {
        Self { len: a.len(), masks: Masks::new(a), row: Vec::new(), reach: 64 }
    }

    /// How many symbols the longest common subsequence with `b` holds.
    ///
    /// Where `d` symbols of both are in no match, no match lies further off
    /// the diagonal than half of `d` and of what the lengths differ by. So the
    /// matches of any band give a band in which the longest ones are.
    ///
    /// # Complexity
    /// O(|a|·|b|/64), and where only `d` symbols differ O(d·|b|/64).
    pub(super) fn with(&mut self, b: &[u32]) -> usize {
        let off = self.len.abs_diff(b.len());
        let all = self.len + b.len();
        let needed = |length: usize| (all - 2 * length + off).div_ceil(2);
        let found = self.within(b, self.reach.max(off));
        let needed = needed(found);
        let length = if needed <= self.reach.max(off) { found } else { self.within(b, needed) };
        // The next one is likely to differ about as much.
        self.reach = needed + needed / 8;
        length
    }

    /// As [`Self::with`], of matches `reach` off the diagonal at most, and
    /// some beyond.
    fn within(&mut self, b: &[u32], reach: usize) -> usize {
        let words = self.masks.words;
        self.row.clear();
        self.row.resize(words, u64::MAX);
        for (j, &symbol) in b.iter().enumerate() {
            // The row stays as it is where nothing matches.
            let first = (j.saturating_sub(reach) / 64).min(words);
            let end = ((j + reach) / 64 + 1).min(words);
            self.masks.step_within(symbol, &mut self.row, first..end);
        }
        grown(&self.row, self.len)
    }
}

fn grown(row: &[u64], len: usize) -> usize {
    // Carries may clear bits beyond the end.
    (0..row.len()).map(|w| (!row[w] & below(len - w * 64)).count_ones() as usize).sum()
}

/// A word whose lowest `n` bits are set.
fn below(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// The pairs of places, ascending, of one longest common subsequence.
///
/// # Complexity
/// O(|a|·|b|/64) time, twice that beyond 2²⁸ cells; 32 MB at most and a bit
/// vector per √|b| symbols.
///
/// # Reference
/// Hyyrö, *Bit-parallel LCS-length computation revisited*, AWOCA 2004, for
/// the rows; the traceback reads the rows as they are, without lengths.
pub(super) fn lcs_pairs(a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
    short::pairs(a, b).unwrap_or_else(|| pairs_in_blocks(a, b, ROWS_BYTES))
}

fn pairs_in_blocks(a: &[u32], b: &[u32], rows_bytes: usize) -> Vec<(u32, u32)> {
    let mut masks = Masks::new(a);
    let block = (rows_bytes / (8 * masks.words).max(1)).max(b.len().isqrt() + 1);
    let checkpoints = checkpoints(&mut masks, b, block);
    let mut rows: Vec<u64> = Vec::new();
    let mut pairs = Vec::new();
    let mut i = a.len();
    for (number, start) in checkpoints.iter().enumerate().rev() {
        let symbols = &b[number * block..b.len().min((number + 1) * block)];
        rows_from(&mut masks, start, symbols, &mut rows);
        i = trace(&rows, masks.words, number * block, i, &mut pairs);
    }
    pairs.reverse();
    pairs
}

/// Pairs of one sequence with several others, all of them short.
#[derive(Clone)]
pub(super) struct Matches<'a> {
    a: &'a [u32],
    masks: Masks,
    rows: Vec<u64>,
}

impl<'a> Matches<'a> {
    pub(super) fn of(a: &'a [u32]) -> Self {
        Self { a, masks: Masks::new(a), rows: Vec::new() }
    }

    /// The pairs of places, ascending, of one longest common subsequence.
    ///
    /// What both begin with, and what they end with, is in one that is longest.
    ///
    /// # Complexity
    /// O(|a| + |b|), and O(|a|·|b|/64) between the first difference and the last.
    pub(super) fn with(&mut self, b: &[u32]) -> Vec<(u32, u32)> {
        let a = self.a;
        let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let (rest_a, rest_b) = (&a[head..], &b[head..]);
        let tail = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(x, y)| x == y).count();
        let (end_a, end_b) = (a.len() - tail, b.len() - tail);
        let mut pairs: Vec<(u32, u32)> =
            (0..tail).rev().map(|i| ((a.len() - 1 - i) as u32, (b.len() - 1 - i) as u32)).collect();
        pairs.reverse();
        let mut i = end_a;
        if head < end_a && head < end_b {
            self.rows_between(head, end_a, &b[head..end_b]);
            let words = self.masks.words;
            i = trace(&self.rows[..(end_b - head + 1) * words], words, head, end_a, &mut pairs);
        }
        pairs.extend((0..i.min(head) as u32).rev().map(|i| (i, i)));
        pairs.reverse();
        pairs
    }

    /// The row of what both begin with, and those after each of `symbols`.
    fn rows_between(&mut self, head: usize, end: usize, symbols: &[u32]) {
        let words = self.masks.words;
        // What earlier ones left is overwritten.
        let size = (symbols.len() + 1) * words;
        self.rows.resize(size.max(self.rows.len()), 0);
        self.rows[..words]
            .iter_mut()
            .enumerate()
            .for_each(|(w, row)| *row = !below(head.saturating_sub(w * 64)));
        for (j, &symbol) in symbols.iter().enumerate() {
            self.rows.copy_within(j * words..(j + 1) * words, (j + 1) * words);
            let row = &mut self.rows[(j + 1) * words..][..words];
            self.masks.step_within(symbol, row, head / 64..end.div_ceil(64));
        }
    }
}

/// The row before each block.
fn checkpoints(masks: &mut Masks, b: &[u32], block: usize) -> Vec<Vec<u64>> {
    let mut row = masks.first_row();
    let mut next = row.clone();
    let mut kept = vec![row.clone()];
    let whole = b.len().saturating_sub(1) / block * block;
    for (j, &symbol) in b[..whole].iter().enumerate() {
        masks.step(symbol, &row, &mut next);
        std::mem::swap(&mut row, &mut next);
        if (j + 1) % block == 0 {
            kept.push(row.clone());
        }
    }
    kept
}

/// The row before the first of `symbols` and those after each.
fn rows_from(masks: &mut Masks, start: &[u64], symbols: &[u32], rows: &mut Vec<u64>) {
    let words = masks.words;
    rows.resize((symbols.len() + 1) * words, 0);
    rows[..words].copy_from_slice(start);
    for (j, &symbol) in symbols.iter().enumerate() {
        let (done, open) = rows.split_at_mut((j + 1) * words);
        masks.step(symbol, &done[j * words..], &mut open[..words]);
    }
}

/// Follows one block of rows up to its first, from the end of the first `i`
/// symbols; returns how many of them are left.
#[inline]
fn trace(rows: &[u64], words: usize, first: usize, mut i: usize, pairs: &mut Vec<(u32, u32)>) -> usize {
    let grows = |j: usize, i: usize| rows[j * words + i / 64] >> (i % 64) & 1 == 0;
    let mut j = rows.len().checked_div(words).map_or(0, |rows| rows - 1);
    while i > 0 && j > 0 {
        if !grows(j, i - 1) {
            i -= 1;
        } else {
            // The k-th step of a row moves left or stays. Where it stays, the
            // symbol of this row adds nothing; else it made the step.
            j -= 1;
            if !grows(j, i - 1) {
                i -= 1;
                pairs.push((i as u32, (first + j) as u32));
            }
        }
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bursts::align::tests::lcs_reference;
    use proptest::prelude::*;

    fn sequence() -> impl Strategy<Value = Vec<u32>> {
        prop_oneof![prop::collection::vec(0..4u32, 0..200), prop::collection::vec(0..90u32, 0..200)]
    }

    proptest! {
        #[test]
        fn length_is_that_of_the_whole_table(a in sequence(), b in sequence()) {
            prop_assert_eq!(Lengths::of(&a).with(&b), lcs_reference(&a, &b));
            prop_assert_eq!(Lengths::of(&a).within(&b, 200), lcs_reference(&a, &b));
        }

        #[test]
        fn one_sequence_meets_several(
            a in prop::collection::vec(0..6u32, 0..900),
            others in prop::collection::vec((prop::collection::vec(0..6u32, 0..300), 0..900usize), 1..4),
            reach in 0..100usize,
        ) {
            let mut lengths = Lengths { reach, ..Lengths::of(&a) };
            for (new, at) in others {
                let at = at.min(a.len());
                let like = [&a[..at], &new, &a[(at + new.len() / 2).min(a.len())..]].concat();
                prop_assert_eq!(lengths.with(&like), lcs_reference(&a, &like));
                prop_assert_eq!(lengths.with(&new), lcs_reference(&a, &new));
                prop_assert_eq!(lengths.with(&a), a.len());
            }
        }

        #[test]
        fn pairs_with_several_are_longest(
            a in sequence(),
            edits in prop::collection::vec((0..200usize, 0..30usize, sequence()), 1..4),
        ) {
            let mut matches = Matches::of(&a);
            for (at, gone, new) in edits {
                let at = at.min(a.len());
                let new = &new[..new.len() / 8];
                for b in [[&a[..at], new, &a[(at + gone).min(a.len())..]].concat(), new.to_vec()] {
                    let pairs = matches.with(&b);
                    prop_assert_eq!(pairs.len(), lcs_reference(&a, &b));
                    prop_assert!(pairs.is_sorted_by(|p, q| p.0 < q.0 && p.1 < q.1));
                    prop_assert!(pairs.iter().all(|&(i, j)| a[i as usize] == b[j as usize]));
                }
            }
        }

        #[test]
        fn pairs_are_a_longest_common_subsequence(a in sequence(), b in sequence(), bytes in 0..4000usize) {
            let pairs = pairs_in_blocks(&a, &b, bytes);
            prop_assert_eq!(pairs.len(), lcs_reference(&a, &b));
            prop_assert!(pairs.is_sorted_by(|p, q| p.0 < q.0 && p.1 < q.1));
            prop_assert!(pairs.iter().all(|&(i, j)| a[i as usize] == b[j as usize]));
            prop_assert_eq!(pairs, lcs_pairs(&a, &b));
        }

        #[test]
        fn short_ones_have_the_same_pairs(
            a in prop::collection::vec(0..9u32, 0..980),
            edits in prop::collection::vec((0..980usize, 0..30usize, 0..12u32), 0..40),
        ) {
            let mut b = a.clone();
            for (at, gone, new) in edits {
                let at = at.min(b.len());
                b.splice(at..(at + gone / 8).min(b.len()), [new; 1]);
            }
            for (a, b) in [(&a, &b), (&b, &a)] {
                prop_assert_eq!(short::pairs(a, b), Some(pairs_in_blocks(a, b, ROWS_BYTES)));
            }
        }
    }

    #[test]
    fn long_ones_take_no_room_of_short_ones() {
        let (few, many): (Vec<u32>, Vec<u32>) = ((0..9).collect(), (0..20_000).map(|i| i % 10).collect());
        assert!(short::pairs(&few, &few).is_some());
        assert!(short::pairs(&few, &many).is_none() && short::pairs(&many, &few).is_none());
        assert!(short::pairs(&[5, u32::MAX], &few).is_none());
        for (a, b) in [(&few, &many), (&many, &few)] {
            assert_eq!(lcs_pairs(a, b).len(), 9);
        }
    }
}
