//! One value for each burst, in four bytes where counts allow it.

use std::ops::Range;

/// A value for each burst; `NaN` where a burst has none.
///
/// Four bytes each while all are whole numbers from 0 to 2^32 − 2, as most
/// counts are; eight from the first that is not. Then counts are exact up to
/// 2^53, nine million seconds of cycles at 1 GHz.
///
/// # Example
/// ```
/// use likewise::table::Values;
///
/// let mut values = Values::from(vec![7.0, f64::NAN, 3e9]);
/// assert!(values.get(1).is_nan());
/// values.push(0.5);
/// assert_eq!((values.get(2), values.get(3)), (3e9, 0.5));
/// ```
#[derive(Clone, Debug)]
pub struct Values(Kept);

#[derive(Clone, Debug)]
enum Kept {
    /// [`MISSING`] stands for `NaN`.
    Whole(Vec<u32>),
    Any(Vec<f64>),
    /// So many that nobody asks for any more.
    Gone(usize),
}

const GONE: &str = "nobody asks for values that were let go";

const MISSING: u32 = u32::MAX;

/// The number that stands for a value in four bytes, if it gives back the same bits.
fn number_of(value: f64) -> Option<u32> {
    if value.is_nan() {
        return Some(MISSING);
    }
    let number = value as u32;
    (number != MISSING && f64::from(number).to_bits() == value.to_bits()).then_some(number)
}

fn value_of(number: u32) -> f64 {
    if number == MISSING { f64::NAN } else { f64::from(number) }
}

impl Values {
    /// The largest count that is kept in four bytes.
    pub const MOST_IN_FOUR_BYTES: u32 = MISSING - 1;

    /// `n` zeros to be written over. `small` says that each value will be missing
    /// or a count of at most [`Self::MOST_IN_FOUR_BYTES`].
    #[must_use]
    pub fn zeros(n: usize, small: bool) -> Self {
        Self(if small { Kept::Whole(vec![0; n]) } else { Kept::Any(vec![0.0; n]) })
    }

    /// As many values as there are bursts.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Whole(all) => all.len(),
            Kept::Any(all) => all.len(),
            Kept::Gone(n) => *n,
        }
    }

    /// Lets them go: no value may be asked for or changed any more.
    pub fn let_go(&mut self) {
        self.0 = Kept::Gone(self.len());
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of burst `i`.
    ///
    /// # Panics
    /// If there is no such burst, or if the values were let go.
    #[must_use]
    #[inline]
    pub fn get(&self, i: usize) -> f64 {
        match &self.0 {
            Kept::Whole(all) => value_of(all[i]),
            Kept::Any(all) => all[i],
            Kept::Gone(_) => panic!("{GONE}"),
        }
    }

    /// All values, in burst order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator + Clone + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Appends a value.
    ///
    /// # Complexity
    /// O(1) amortised; O(n) for the first that needs eight bytes.
    pub fn push(&mut self, value: f64) {
        match (&mut self.0, number_of(value)) {
            (Kept::Whole(all), Some(number)) => all.push(number),
            (Kept::Any(all), _) => all.push(value),
            (Kept::Whole(_), None) => self.widened().push(value),
            (Kept::Gone(_), _) => panic!("{GONE}"),
        }
    }

    /// Replaces the value of burst `i`.
    ///
    /// # Panics
    /// If there is no such burst.
    ///
    /// # Complexity
    /// As [`Self::push`].
    pub fn set(&mut self, i: usize, value: f64) {
        match (&mut self.0, number_of(value)) {
            (Kept::Whole(all), Some(number)) => all[i] = number,
            (Kept::Any(all), _) => all[i] = value,
            (Kept::Whole(_), None) => self.widened()[i] = value,
            (Kept::Gone(_), _) => panic!("{GONE}"),
        }
    }

    /// Makes a value missing. Of a counter that is let go none is asked for, so none is lost.
    pub fn lose(&mut self, i: usize) {
        if !matches!(self.0, Kept::Gone(_)) {
            self.set(i, f64::NAN);
        }
    }

    /// Makes all values missing.
    pub fn clear(&mut self) {
        self.0 = Kept::Whole(vec![MISSING; self.len()]);
    }

    /// The rows to write to, by several at once.
    pub fn rows_mut(&mut self) -> ValuesMut<'_> {
        match &mut self.0 {
            Kept::Whole(all) => ValuesMut(KeptMut::Whole(all)),
            Kept::Any(all) => ValuesMut(KeptMut::Any(all)),
            Kept::Gone(_) => panic!("{GONE}"),
        }
    }

    /// Some of the rows, in this order, as new values that take as many bytes each.
    ///
    /// # Panics
    /// If there are no such bursts.
    #[must_use]
    pub fn rows(&self, ranges: impl Iterator<Item = Range<usize>>) -> Self {
        Self(match &self.0 {
            Kept::Whole(all) => Kept::Whole(ranges.flat_map(|rows| &all[rows]).copied().collect()),
            Kept::Any(all) => Kept::Any(ranges.flat_map(|rows| &all[rows]).copied().collect()),
            Kept::Gone(_) => panic!("{GONE}"),
        })
    }

    /// Has room for so many more, in as many bytes each as now.
    pub fn reserve(&mut self, more: usize) {
        match &mut self.0 {
            Kept::Whole(all) => all.reserve_exact(more),
            Kept::Any(all) => all.reserve_exact(more),
            Kept::Gone(_) => panic!("{GONE}"),
        }
    }

    /// Appends those rows of others.
    ///
    /// # Panics
    /// If the others have no such rows.
    pub fn extend_by(&mut self, others: &Self, rows: Range<usize>) {
        match (&mut self.0, &others.0) {
            (Kept::Whole(all), Kept::Whole(others)) => all.extend_from_slice(&others[rows]),
            (Kept::Any(all), Kept::Any(others)) => all.extend_from_slice(&others[rows]),
            _ => rows.for_each(|row| self.push(others.get(row))),
        }
    }

    /// As bytes: how many each value takes, then all values.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        fn all<const N: usize>(values: impl ExactSizeIterator<Item = [u8; N]>) -> Vec<u8> {
            let mut bytes = Vec::with_capacity(1 + N * values.len());
            bytes.push(N as u8);
            values.for_each(|value| bytes.extend(value));
            bytes
        }
        match &self.0 {
            Kept::Whole(values) => all(values.iter().map(|value| value.to_le_bytes())),
            Kept::Any(values) => all(values.iter().map(|value| value.to_le_bytes())),
            Kept::Gone(_) => panic!("{GONE}"),
        }
    }

    /// What [`Self::to_bytes`] has made bytes of; `None` if it has not made these.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        fn all<const N: usize, T>(bytes: &[u8], of: fn([u8; N]) -> T) -> Option<Vec<T>> {
            let (values, rest) = bytes.as_chunks();
            rest.is_empty().then(|| values.iter().map(|&value| of(value)).collect())
        }
        let (size, values) = bytes.split_first()?;
        Some(Self(match size {
            4 => Kept::Whole(all(values, u32::from_le_bytes)?),
            8 => Kept::Any(all(values, f64::from_le_bytes)?),
            _ => return None,
        }))
    }

    fn widened(&mut self) -> &mut Vec<f64> {
        if let Kept::Whole(all) = &self.0 {
            self.0 = Kept::Any(all.iter().copied().map(value_of).collect());
        }
        match &mut self.0 {
            Kept::Any(all) => all,
            Kept::Whole(_) | Kept::Gone(_) => unreachable!("they were widened"),
        }
    }
}

impl Default for Values {
    fn default() -> Self {
        Self(Kept::Whole(Vec::new()))
    }
}

impl From<Vec<f64>> for Values {
    fn from(all: Vec<f64>) -> Self {
        let small: Option<Vec<u32>> = match all.iter().all(|&value| number_of(value).is_some()) {
            true => all.iter().copied().map(number_of).collect(),
            false => None,
        };
        Self(small.map_or(Kept::Any(all), Kept::Whole))
    }
}

impl FromIterator<f64> for Values {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut all = Self::default();
        values.into_iter().for_each(|value| all.push(value));
        all
    }
}

/// The values are equal; as of numbers, `NaN` equals none.
impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// Some rows of [`Values`], to be written to.
#[derive(Debug)]
pub struct ValuesMut<'v>(KeptMut<'v>);

#[derive(Debug)]
enum KeptMut<'v> {
    Whole(&'v mut [u32]),
    Any(&'v mut [f64]),
}

impl ValuesMut<'_> {
    /// Takes the first `n` rows off.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn take_first(&mut self, n: usize) -> Self {
        fn first<'v, T>(rest: &mut &'v mut [T], n: usize) -> &'v mut [T] {
            let (first, others) = std::mem::take(rest).split_at_mut(n);
            *rest = others;
            first
        }
        Self(match &mut self.0 {
            KeptMut::Whole(rest) => KeptMut::Whole(first(rest, n)),
            KeptMut::Any(rest) => KeptMut::Any(first(rest, n)),
        })
    }

    /// Makes the values of those rows missing.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn clear(&mut self, rows: Range<usize>) {
        match &mut self.0 {
            KeptMut::Whole(all) => all[rows].fill(MISSING),
            KeptMut::Any(all) => all[rows].fill(f64::NAN),
        }
    }

    /// Writes to those rows, as many values as there are.
    ///
    /// # Panics
    /// If there are no such rows, or if a value is larger than was said.
    pub fn write(&mut self, rows: Range<usize>, values: impl Iterator<Item = f64>) {
        let small = |value| number_of(value).expect("a count that four bytes hold");
        match &mut self.0 {
            KeptMut::Whole(all) => all[rows].iter_mut().zip(values).for_each(|(to, x)| *to = small(x)),
            KeptMut::Any(all) => all[rows].iter_mut().zip(values).for_each(|(to, x)| *to = x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = f64> {
        let limit = f64::from(u32::MAX);
        let odd = [-0.0, -1.0, 0.5, limit, limit + 1.0, f64::INFINITY, f64::NEG_INFINITY];
        prop_oneof![
            8 => (0..=Values::MOST_IN_FOUR_BYTES).prop_map(f64::from),
            2 => Just(f64::NAN),
            1 => prop::sample::select(odd.to_vec()),
        ]
    }

    fn bits(values: impl Iterator<Item = f64>) -> Vec<u64> {
        values.map(f64::to_bits).collect()
    }

    fn in_four_bytes(values: &Values) -> bool {
        matches!(values.0, Kept::Whole(_))
    }

    proptest! {
        #[test]
        fn values_are_those_that_were_put_in(plain in prop::collection::vec(any_value(), 0..40)) {
            let expected = bits(plain.iter().copied());
            let (at_once, one_by_one) = (Values::from(plain.clone()), plain.iter().copied().collect::<Values>());
            prop_assert_eq!(bits(at_once.iter()), expected.clone());
            prop_assert_eq!(bits(one_by_one.iter()), expected.clone());
            prop_assert_eq!(in_four_bytes(&at_once), in_four_bytes(&one_by_one));
            let mut set = Values::zeros(plain.len(), true);
            plain.iter().enumerate().for_each(|(i, &value)| set.set(i, value));
            prop_assert_eq!(bits(set.iter()), expected);
            set.clear();
            prop_assert!(in_four_bytes(&set) && set.len() == plain.len() && set.iter().all(f64::is_nan));
        }

        #[test]
        fn rows_are_written_in_parts(n in 0..20usize, cut in 0..20usize, small: bool) {
            let cut = cut.min(n);
            let value = |i: usize| if i.is_multiple_of(3) { f64::NAN } else { i as f64 };
            let mut values = Values::zeros(n, small);
            let mut second = values.rows_mut();
            let mut first = second.take_first(cut);
            first.clear(0..cut);
            second.write(0..n - cut, (cut..n).map(value));
            let expected = (0..n).map(|i| if i < cut { f64::NAN } else { value(i) });
            prop_assert_eq!(bits(values.iter()), bits(expected));
            prop_assert_eq!(in_four_bytes(&values), small);
        }
    }

    proptest! {
        #[test]
        fn rows_travel_as_bytes(plain in prop::collection::vec(any_value(), 0..40), a in 0..40usize, b in 0..40usize) {
            let n = plain.len();
            let (a, b) = (a.min(n), b.min(n));
            let all = Values::from(plain.clone());
            let some = all.rows([0..a, b..n].into_iter());
            let expected = bits(plain[..a].iter().chain(&plain[b..]).copied());
            prop_assert_eq!(bits(some.iter()), expected.clone());
            let bytes = some.to_bytes();
            let come = Values::of_bytes(&bytes).expect("they are whole");
            prop_assert_eq!((bits(come.iter()), in_four_bytes(&come)), (expected.clone(), in_four_bytes(&all)));
            prop_assert!(bytes.len() == 1 || Values::of_bytes(&bytes[..bytes.len() - 1]).is_none());
            let mut again = Values::default();
            again.extend_by(&come, 0..a);
            again.extend_by(&come, a..come.len());
            prop_assert_eq!(bits(again.iter()), expected);
        }
    }

    #[test]
    #[should_panic(expected = "were let go")]
    fn what_was_let_go_is_never_a_number() {
        let mut values = Values::from(vec![1.0, 2.0]);
        values.let_go();
        assert_eq!(values.len(), 2);
        let _ = values.get(1);
    }

    #[test]
    fn the_largest_small_count_is_one_below_the_mark() {
        let most = f64::from(Values::MOST_IN_FOUR_BYTES);
        assert!(in_four_bytes(&Values::from(vec![most, 0.0, f64::NAN])));
        assert!(!in_four_bytes(&Values::from(vec![most + 1.0])));
        assert!(!in_four_bytes(&Values::from(vec![-0.0])));
    }

    #[test]
    #[should_panic(expected = "four bytes")]
    fn no_value_is_cut_off() {
        Values::zeros(1, true).rows_mut().write(0..1, std::iter::once(0.5));
    }
}
