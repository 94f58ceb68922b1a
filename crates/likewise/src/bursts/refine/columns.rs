//! Where the bursts of a part stand in the columns of an alignment.

use std::borrow::Cow;

/// Once what came late is more than one in so many, it is put among the rest.
const LATE: usize = 8;

/// How many bursts stand in each column that has any.
///
/// A large part takes in many small ones, one after the other. What they bring is
/// kept aside until it is worth going through all columns.
#[derive(Clone, Default)]
pub(super) struct Columns {
    /// By column, ascending.
    most: Vec<(u32, u32)>,
    /// What came since; also ascending.
    late: Vec<(u32, u32)>,
}

impl Columns {
    /// Of the columns of all bursts.
    ///
    /// # Complexity
    /// O(b + n) for `b` bursts and `n` columns from the first to the last, or
    /// O(b log b) where that is less. Those of a thread ascend, which a stable sort
    /// makes use of.
    pub(super) fn of(mut columns: Vec<u32>) -> Self {
        let most = match columns.iter().copied().min().zip(columns.iter().copied().max()) {
            Some((first, last)) if ((last - first) as usize) < columns.len() => {
                let mut counts = vec![0u32; (last - first) as usize + 1];
                columns.iter().for_each(|&column| counts[(column - first) as usize] += 1);
                (first..).zip(counts).filter(|&(_, n)| n > 0).collect()
            }
            _ => {
                columns.sort();
                columns.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
            }
        };
        Self { most, late: Vec::new() }
    }

    /// Takes in the bursts of another.
    ///
    /// # Complexity
    /// O(m + n/8) for `n` columns and `m` of the other, which are one in eight or
    /// fewer; O(n + m) where they are more, or have come to be.
    pub(super) fn add(&mut self, other: &Self) {
        self.late = sum(&self.late, &other.whole());
        if self.late.len() * LATE > self.most.len() {
            self.most = sum(&self.most, &self.late);
            self.late.clear();
        }
    }

    /// All columns, ascending.
    pub(super) fn whole(&self) -> Cow<'_, [(u32, u32)]> {
        if self.late.is_empty() { Cow::Borrowed(&self.most) } else { Cow::Owned(sum(&self.most, &self.late)) }
    }

    /// Pairs of bursts in the same column, each counted both ways.
    pub(super) fn pairs(&self) -> u64 {
        self.whole().iter().map(|&(_, n)| u64::from(n) * u64::from(n - 1)).sum()
    }

    /// The sum over the columns that both have, of what both have there.
    ///
    /// # Complexity
    /// O(few · log(many)), or that of a merge where it is less.
    pub(super) fn in_common(&self, other: &Self, of: impl Fn(u64, u64) -> u64) -> u64 {
        let at_most = |columns: &Self| columns.most.len() + columns.late.len();
        let (few, many) = if at_most(self) <= at_most(other) { (self, other) } else { (other, self) };
        let (mut most, mut late) = (&many.most[..], &many.late[..]);
        let shared = |&(column, n): &(u32, u32)| match skip_to(&mut most, column) + skip_to(&mut late, column)
        {
            0 => 0,
            m => of(n.into(), m.into()),
        };
        few.whole().iter().map(shared).sum()
    }

    /// How often it changes, from one column to the next of those where both do not
    /// have equally many, which of them has more.
    pub(super) fn turns(&self, other: &Self) -> usize {
        let (own, others) = (self.whole(), other.whole());
        let mut whose = Both(&own, &others).map(|(_, n, m)| n.cmp(&m)).filter(|whose| whose.is_ne());
        let Some(mut before) = whose.next() else { return 0 };
        whose.filter(|&whose| std::mem::replace(&mut before, whose) != whose).count()
    }
}

/// Skips what is before a column; how many there are in it.
fn skip_to(columns: &mut &[(u32, u32)], column: u32) -> u32 {
    // How far it is to the next is not known: twice as far each time.
    let mut ahead = 1;
    while columns.get(ahead).is_some_and(|&(other, _)| other < column) {
        ahead *= 2;
    }
    let near = &columns[..columns.len().min(ahead + 1)];
    *columns = &columns[near.partition_point(|&(other, _)| other < column)..];
    columns.first().filter(|&&(other, _)| other == column).map_or(0, |&(_, n)| n)
}

/// The columns of either, ascending, and how many each has there.
struct Both<'a>(&'a [(u32, u32)], &'a [(u32, u32)]);

impl Iterator for Both<'_> {
    type Item = (u32, u32, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let column = match (self.0.first(), self.1.first()) {
            (Some(a), Some(b)) => a.0.min(b.0),
            (Some(one), None) | (None, Some(one)) => one.0,
            (None, None) => return None,
        };
        Some((column, take(&mut self.0, column), take(&mut self.1, column)))
    }
}

/// How many the first has, if it is this column; then it is gone.
fn take(columns: &mut &[(u32, u32)], column: u32) -> u32 {
    match columns.split_first() {
        Some((&(first, n), rest)) if first == column => {
            *columns = rest;
            n
        }
        _ => 0,
    }
}

fn sum(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    all.extend(Both(a, b).map(|(column, n, m)| (column, n + m)));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn map<'a>(columns: impl IntoIterator<Item = &'a u32>) -> BTreeMap<u32, u64> {
        let mut map = BTreeMap::new();
        columns.into_iter().for_each(|&column| *map.entry(column).or_insert(0) += 1);
        map
    }

    proptest! {
        #[test]
        fn columns_are_what_maps_say(
            a in prop::collection::vec(0u32..400, 0..400),
            b in prop::collection::vec(0u32..400, 0..100),
            parts in prop::collection::vec(prop::collection::vec(0u32..400, 0..20), 0..20),
        ) {
            let (mut all, other) = (Columns::of(a.clone()), Columns::of(b.clone()));
            parts.iter().for_each(|part| all.add(&Columns::of(part.clone())));
            let (a, b) = (map(a.iter().chain(parts.iter().flatten())), map(&b));
            let whole: Vec<(u32, u64)> = all.whole().iter().map(|&(c, n)| (c, u64::from(n))).collect();
            prop_assert_eq!(whole, a.clone().into_iter().collect::<Vec<_>>());
            prop_assert_eq!(all.pairs(), a.values().map(|n| n * (n - 1)).sum::<u64>());
            let of_b = |column: &u32| b.get(column).copied().unwrap_or(0);
            let pairs: u64 = a.iter().map(|(column, n)| n * of_b(column)).sum();
            let least: u64 = a.iter().map(|(column, &n)| n.min(of_b(column))).sum();
            prop_assert_eq!(all.in_common(&other, |n, m| n * m), pairs);
            prop_assert_eq!(other.in_common(&all, u64::min), least);
            let mut both = a.clone();
            b.keys().for_each(|&column| _ = both.entry(column).or_insert(0));
            let whose = both.iter().map(|(column, n)| n.cmp(&of_b(column)));
            let whose: Vec<_> = whose.filter(|whose| whose.is_ne()).collect();
            prop_assert_eq!(all.turns(&other), whose.windows(2).filter(|pair| pair[0] != pair[1]).count());
        }
    }
}
