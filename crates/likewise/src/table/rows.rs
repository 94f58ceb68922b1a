//! Rows of a table that take part.

/// Some rows of a table, ascending. The first `n` rows, and so all rows, take no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    n: usize,
    /// `None` if they are the first `n`.
    some: Option<Vec<u32>>,
}

impl Rows {
    /// The first `n` rows.
    #[must_use]
    pub const fn first(n: usize) -> Self {
        Self { n, some: None }
    }

    /// The rows for which `is` is true, out of `n`. It is asked twice, so that no more memory
    /// is taken than the result needs.
    pub(crate) fn those(n: usize, is: impl Fn(u32) -> bool + Sync) -> Self {
        use rayon::prelude::*;
        let n_some = (0..n as u32).into_par_iter().filter(|&row| is(row)).count();
        if n_some == n {
            // Without a list of them.
            return Self::first(n);
        }
        let mut some = Vec::with_capacity(n_some);
        some.extend((0..n as u32).filter(|&row| is(row)));
        Self::from(some)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The row in a place.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn at(&self, place: usize) -> u32 {
        assert!(place < self.n, "place {place} of {} rows", self.n);
        self.some.as_ref().map_or(place as u32, |some| some[place])
    }

    /// All, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone + '_ {
        (0..self.n).map(|place| self.at(place))
    }

    /// How many are before that row of the table.
    #[must_use]
    pub fn before(&self, row: usize) -> usize {
        match &self.some {
            None => row.min(self.n),
            Some(some) => some.partition_point(|&own| (own as usize) < row),
        }
    }

    /// The place of a row of the table, if it is among them.
    #[must_use]
    pub fn place(&self, row: u32) -> Option<usize> {
        let before = self.before(row as usize);
        (before < self.n && self.at(before) == row).then_some(before)
    }

    /// All, ascending, as a list.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u32> {
        self.iter().collect()
    }
}

/// # Panics
/// If the rows do not ascend.
impl From<Vec<u32>> for Rows {
    fn from(some: Vec<u32>) -> Self {
        assert!(some.is_sorted_by(|a, b| a < b), "rows ascend");
        let n = some.len();
        let is_first = some.last().is_none_or(|&last| last as usize + 1 == n);
        Self { n, some: Some(some).filter(|_| !is_first) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_those_of_a_list(is in prop::collection::vec(any::<bool>(), 0..40), all: bool) {
            let is: Vec<bool> = is.into_iter().map(|is| is || all).collect();
            let rows = Rows::those(is.len(), |row| is[row as usize]);
            let list: Vec<u32> = (0..is.len() as u32).filter(|&row| is[row as usize]).collect();
            let is_first = list.last().is_none_or(|&last| last as usize + 1 == list.len());
            prop_assert_eq!(rows.some.is_none(), is_first);
            prop_assert_eq!(&rows, &Rows::from(list.clone()));
            prop_assert_eq!((rows.len(), rows.is_empty()), (list.len(), list.is_empty()));
            prop_assert_eq!(rows.to_vec(), list.clone());
            prop_assert!(rows.iter().rev().eq(list.iter().rev().copied()));
            prop_assert!(list.iter().enumerate().all(|(place, &row)| rows.at(place) == row));
            for row in 0..is.len() + 2 {
                let before = list.iter().filter(|&&own| (own as usize) < row).count();
                prop_assert_eq!(rows.before(row), before);
                prop_assert_eq!(rows.place(row as u32), list.binary_search(&(row as u32)).ok());
            }
        }
    }
}
