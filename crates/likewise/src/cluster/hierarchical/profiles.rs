//! Objects described by numbers, some of which are missing.

use crate::simd::LANES;

/// The largest size of a value: squares of greater ones, added up, could
/// overflow.
pub const MAX_VALUE: f64 = 1e140;

/// Profiles of `dims` values each: counters over call sites, or call sites
/// over counters. A missing value is NaN.
///
/// Rows are padded to whole vectors and kept beside a bit for each value that
/// is there: 8.1 bytes a value.
#[derive(Clone, Debug)]
pub struct Profiles {
    n: usize,
    dims: usize,
    /// Vectors in a row.
    stride: usize,
    /// Rows one after the other; zeros behind the last value of each.
    data: Vec<[f64; LANES]>,
    /// A bit for each value that is there, by row; empty where none is missing.
    known: Vec<u64>,
}

/// Why numbers are not profiles, or have no dissimilarity.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProfilesError {
    /// Profiles without a value.
    #[error("profiles of 0 values cannot be compared; at least 1 is needed")]
    NoDims,
    /// The numbers do not fill the last row.
    #[error("{len} numbers do not make rows of {dims}")]
    Ragged {
        /// How many numbers were given.
        len: usize,
        /// How many make a row.
        dims: usize,
    },
    /// More rows than a `u32` can number.
    #[error("{0} profiles are more than 2,147,483,647")]
    TooMany(usize),
    /// A value is infinite, or its square would be.
    #[error(
        "row {row}, column {column} (from 0) is {value}; a value must be missing (NaN) \
         or at most {MAX_VALUE:e} in size"
    )]
    TooLarge {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// No column has a value in both profiles.
    #[error("profiles {a} and {b} (from 0) have no column where both have a value; leave one of them out")]
    NothingInCommon {
        /// A profile.
        a: usize,
        /// A later one.
        b: usize,
    },
    /// A correlation with what does not vary.
    #[error(
        "profile {profile} (from 0) does not vary over the columns that it has in common with \
         profile {other}, so they have no correlation; leave one of them out"
    )]
    Constant {
        /// The profile that does not vary.
        profile: usize,
        /// The one it was compared with.
        other: usize,
    },
}

impl Profiles {
    /// Those in `data`, `n × dims`, row by row; NaN is missing.
    ///
    /// # Errors
    /// [`ProfilesError`] names what is wrong, and the first offending value,
    /// row by row.
    pub fn new(data: &[f64], dims: usize) -> Result<Self, ProfilesError> {
        if dims == 0 {
            return Err(ProfilesError::NoDims);
        }
        if !data.len().is_multiple_of(dims) {
            return Err(ProfilesError::Ragged { len: data.len(), dims });
        }
        let n = data.len() / dims;
        // Merges are numbered after the profiles, in the same 32 bits.
        if n > (u32::MAX / 2) as usize {
            return Err(ProfilesError::TooMany(n));
        }
        if let Some(at) = data.iter().position(|x| x.abs() > MAX_VALUE) {
            return Err(ProfilesError::TooLarge { row: at / dims, column: at % dims, value: data[at] });
        }
        let stride = dims.div_ceil(LANES);
        let mut padded = vec![[0.0; LANES]; n * stride];
        for (row, to) in data.chunks_exact(dims).zip(padded.chunks_exact_mut(stride)) {
            to.as_flattened_mut()[..dims].copy_from_slice(row);
        }
        let known = if data.iter().any(|x| x.is_nan()) { bits(data, dims) } else { Vec::new() };
        Ok(Self { n, dims, stride, data: padded, known })
    }

    /// Number of profiles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is no profile.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Values of each profile.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// One profile.
    #[must_use]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.vectors(i).as_flattened()[..self.dims]
    }

    /// Whether any value is missing.
    #[must_use]
    pub fn has_missing(&self) -> bool {
        !self.known.is_empty()
    }

    /// The same profiles after a change to each, none of them missing a value
    /// before.
    pub(super) fn map_rows(&self, change: impl Fn(&mut [f64])) -> Self {
        let mut changed = self.clone();
        for row in changed.data.chunks_exact_mut(self.stride) {
            change(&mut row.as_flattened_mut()[..self.dims]);
        }
        changed
    }

    /// One profile, padded with zeros.
    #[inline(always)]
    pub(super) fn vectors(&self, i: usize) -> &[[f64; LANES]] {
        &self.data[i * self.stride..(i + 1) * self.stride]
    }

    /// The bits of one profile's values that are there.
    ///
    /// # Panics
    /// If none is missing anywhere.
    #[inline(always)]
    pub(super) fn known(&self, i: usize) -> &[u64] {
        let words = self.dims.div_ceil(64);
        &self.known[i * words..(i + 1) * words]
    }

    /// The first pair, row by row, that shares no column.
    ///
    /// # Complexity
    /// O(n·d), and O(d) more for each pair of profiles that both lack half of
    /// their values or nearly so.
    pub(super) fn check_common(&self) -> Result<(), ProfilesError> {
        use rayon::prelude::*;
        if !self.has_missing() {
            return Ok(());
        }
        let count = |i| self.known(i).iter().map(|word| word.count_ones() as usize).sum();
        let counts: Vec<usize> = (0..self.n).map(count).collect();
        // Two that have more values than there are columns must share one.
        let least = counts.iter().copied().min().unwrap_or(0);
        let few: Vec<usize> = (0..self.n).filter(|&i| counts[i] + least <= self.dims).collect();
        let apart = |&a: &usize| {
            let later = &few[few.partition_point(|&b| b <= a)..];
            let disjoint = |b: usize| self.known(a).iter().zip(self.known(b)).all(|(a, b)| a & b == 0);
            later.iter().find(|&&b| disjoint(b)).map(|&b| (a, b))
        };
        match few.par_iter().find_map_first(apart) {
            Some((a, b)) => Err(ProfilesError::NothingInCommon { a, b }),
            None => Ok(()),
        }
    }
}

/// A bit for each value that is there, row by row, whole words a row.
fn bits(data: &[f64], dims: usize) -> Vec<u64> {
    let word = |values: &[f64]| {
        values.iter().enumerate().fold(0, |word, (at, x)| word | u64::from(!x.is_nan()) << at)
    };
    data.chunks_exact(dims).flat_map(|row| row.chunks(64).map(word)).collect()
}
