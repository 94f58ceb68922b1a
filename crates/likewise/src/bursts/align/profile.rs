//! Aligned sequences: columns of one symbol each.

use rayon::prelude::*;

/// Places to move before the work is shared among threads.
const PARALLEL_PLACES: usize = 1 << 17;

/// Sequences aligned to columns of one symbol each: a common supersequence.
pub(super) struct Profile {
    /// Of each column, its symbol.
    pub(super) symbols: Vec<u32>,
    /// Of each column, how many members show it.
    pub(super) shown: Vec<u32>,
    pub(super) members: Vec<Member>,
}

/// One sequence of a profile.
pub(super) struct Member {
    /// Its place among the distinct sequences.
    pub(super) sequence: usize,
    /// Of each symbol, its column; ascending.
    pub(super) columns: Vec<u32>,
}

/// The columns of two profiles that have become one.
struct Joined {
    symbols: Vec<u32>,
    shown: Vec<u32>,
    /// Of each column of the first and the second, where it is now.
    maps: [Vec<u32>; 2],
}

impl Profile {
    /// No sequence.
    pub(super) fn empty() -> Self {
        Self { symbols: Vec::new(), shown: Vec::new(), members: Vec::new() }
    }

    /// One sequence on its own.
    pub(super) fn of(sequence: usize, symbols: &[u32]) -> Self {
        let columns = (0..symbols.len() as u32).collect();
        Self {
            symbols: symbols.to_vec(),
            shown: vec![1; symbols.len()],
            members: vec![Member { sequence, columns }],
        }
    }

    /// Both in one: columns paired by `pairs` become one column each.
    pub(super) fn join(mut self, mut other: Profile, pairs: &[(u32, u32)]) -> Profile {
        let Joined { symbols, shown, maps } = self.joined(&other, pairs);
        let [ours, theirs] = maps;
        self.renumber(&ours);
        other.renumber(&theirs);
        self.members.append(&mut other.members);
        Self { symbols, shown, members: self.members }
    }

    /// Sequences that join one after the other; `pairs` tells which columns of all
    /// before and of the next one become one.
    ///
    /// # Complexity
    /// O(n · c) for n sequences and c columns: where each one stands is told at the
    /// end, from the last to the first.
    pub(super) fn of_all<'a>(
        mut sequences: impl Iterator<Item = (usize, &'a [u32])>,
        pairs: impl Fn(&[u32], &[u32]) -> Vec<(u32, u32)>,
    ) -> Self {
        let Some((first, symbols)) = sequences.next() else { return Self::empty() };
        let mut all = Self::of(first, symbols);
        let mut maps = Vec::new();
        for (sequence, symbols) in sequences {
            let mut next = Self::of(sequence, symbols);
            let pairs = pairs(&all.symbols, &next.symbols);
            let joined = all.joined(&next, &pairs);
            (all.symbols, all.shown) = (joined.symbols, joined.shown);
            all.members.append(&mut next.members);
            maps.push(joined.maps);
        }
        // Of each column after a join, the one in the end.
        let mut last: Vec<u32> = (0..all.symbols.len() as u32).collect();
        for (n, [mut ours, mut theirs]) in maps.into_iter().enumerate().rev() {
            theirs.iter_mut().chain(&mut ours).for_each(|column| *column = last[*column as usize]);
            all.members[n + 1].columns = theirs;
            last = ours;
        }
        all.members[0].columns = last;
        all
    }

    /// What comes of both.
    fn joined(&self, other: &Profile, pairs: &[(u32, u32)]) -> Joined {
        let (n, m) = (self.symbols.len(), other.symbols.len());
        let (mut ours, mut theirs) = (Vec::with_capacity(n), Vec::with_capacity(m));
        let n_columns = n + m - pairs.len();
        let (mut symbols, mut shown) = (Vec::with_capacity(n_columns), Vec::with_capacity(n_columns));
        for &(x, y) in pairs.iter().chain(&[(n as u32, m as u32)]) {
            let (x, y) = (x as usize, y as usize);
            for (profile, map, end) in [(self, &mut ours, x), (other, &mut theirs, y)] {
                let own = map.len()..end;
                if !own.is_empty() {
                    map.extend(symbols.len() as u32..(symbols.len() + own.len()) as u32);
                    symbols.extend_from_slice(&profile.symbols[own.clone()]);
                    shown.extend_from_slice(&profile.shown[own]);
                }
            }
            if x < n {
                ours.push(symbols.len() as u32);
                theirs.push(symbols.len() as u32);
                symbols.push(self.symbols[x]);
                shown.push(self.shown[x] + other.shown[y]);
            }
        }
        Joined { symbols, shown, maps: [ours, theirs] }
    }

    /// Moves every member's symbols to the columns that `map` gives.
    pub(super) fn renumber(&mut self, map: &[u32]) {
        let places: usize = self.members.iter().map(|m| m.columns.len()).sum();
        let renumber = |member: &mut Member| member.columns.iter_mut().for_each(|c| *c = map[*c as usize]);
        if places < PARALLEL_PLACES {
            self.members.iter_mut().for_each(renumber);
        } else {
            self.members.par_iter_mut().for_each(renumber);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lcs::lcs_pairs;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_stand_where_one_after_the_other_puts_them(
            sequences in prop::collection::vec(prop::collection::vec(0..5u32, 0..40), 0..8),
        ) {
            let numbered = || sequences.iter().enumerate().map(|(s, symbols)| (s, &symbols[..]));
            let all = Profile::of_all(numbered(), lcs_pairs);
            let join = |profile: Profile, next: Profile| {
                let pairs = lcs_pairs(&profile.symbols, &next.symbols);
                profile.join(next, &pairs)
            };
            let expected =
                numbered().map(|(s, symbols)| Profile::of(s, symbols)).reduce(join).unwrap_or_else(Profile::empty);
            prop_assert_eq!((&all.symbols, &all.shown), (&expected.symbols, &expected.shown));
            let members = |profile: &Profile| -> Vec<(usize, Vec<u32>)> {
                profile.members.iter().map(|member| (member.sequence, member.columns.clone())).collect()
            };
            prop_assert_eq!(members(&all), members(&expected));
            for (sequence, columns) in members(&all) {
                let shown: Vec<u32> = columns.iter().map(|&c| all.symbols[c as usize]).collect();
                prop_assert_eq!(&shown, &sequences[sequence]);
            }
        }
    }
}
