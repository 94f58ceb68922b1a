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
        let (n, m) = (self.symbols.len(), other.symbols.len());
        let (mut ours, mut theirs) = (vec![0; n], vec![0; m]);
        let (mut i, mut j, mut column) = (0, 0, 0);
        for &(x, y) in pairs.iter().chain(&[(n as u32, m as u32)]) {
            let (x, y) = (x as usize, y as usize);
            let own = ours[i..x].iter_mut().chain(&mut theirs[j..y]);
            own.for_each(|place| {
                *place = column;
                column += 1;
            });
            if x < n {
                (ours[x], theirs[y]) = (column, column);
                column += 1;
            }
            (i, j) = (x + 1, y + 1);
        }
        let mut joined =
            Self { symbols: vec![0; column as usize], shown: vec![0; column as usize], ..Self::empty() };
        for (profile, map) in [(&mut self, ours), (&mut other, theirs)] {
            for (old, &new) in map.iter().enumerate() {
                joined.symbols[new as usize] = profile.symbols[old];
                joined.shown[new as usize] += profile.shown[old];
            }
            profile.renumber(&map);
            joined.members.append(&mut profile.members);
        }
        joined
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
