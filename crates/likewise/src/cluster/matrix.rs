//! How unlike every two objects are.

use rayon::prelude::*;

/// Columns mirrored at a time: a few lines of cache of each row.
const STRIP: usize = 32;

/// The dissimilarities of every two of `n` objects: finite, not negative,
/// symmetric, 0 of an object to itself.
///
/// The full matrix, 8 n² bytes: the methods read whole rows, which half a
/// matrix would scatter.
#[derive(Clone, Debug, PartialEq)]
pub struct Dissimilarities {
    pub(in crate::cluster) n: usize,
    pub(in crate::cluster) data: Vec<f64>,
}

/// Why numbers are not dissimilarities.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DissimilaritiesError {
    /// NaN, infinite or negative.
    #[error("the dissimilarity of objects {a} and {b} (from 0) is {value}; it must be finite and at least 0")]
    Invalid {
        /// An object.
        a: usize,
        /// The other.
        b: usize,
        /// What stands there.
        value: f64,
    },
    /// Unlike itself.
    #[error("the dissimilarity of object {object} (from 0) to itself is {value}; it must be 0")]
    Diagonal {
        /// The object.
        object: usize,
        /// What stands there.
        value: f64,
    },
    /// Different there and back.
    #[error("the dissimilarity of objects {a} and {b} (from 0) is {there}, but {back} the other way")]
    Asymmetric {
        /// An object.
        a: usize,
        /// A later one.
        b: usize,
        /// From `a` to `b`.
        there: f64,
        /// From `b` to `a`.
        back: f64,
    },
    /// Not n × n numbers.
    #[error("{len} numbers are no matrix of {n} by {n}")]
    Size {
        /// How many numbers were given.
        len: usize,
        /// How many rows they should make.
        n: usize,
    },
    /// More objects than a `u32` can number.
    #[error("{0} objects are more than 4,294,967,294")]
    TooMany(usize),
}

/// The dissimilarity if it is one.
pub(in crate::cluster) fn valid(a: usize, b: usize, value: f64) -> Result<f64, DissimilaritiesError> {
    if value.is_finite() && value >= 0.0 {
        // Negative zero would compare below zero in a total order.
        Ok(value.abs())
    } else {
        Err(DissimilaritiesError::Invalid { a, b, value })
    }
}

impl Dissimilarities {
    /// Those of `objects`. `dissimilarity` is called once for each pair, the
    /// earlier object first, and never for an object and itself.
    ///
    /// # Errors
    /// [`DissimilaritiesError::Invalid`] names the first pair, row by row,
    /// whose dissimilarity is NaN, infinite or negative.
    ///
    /// # Complexity
    /// n(n − 1)/2 calls, in parallel; 8 n² bytes.
    pub fn new<T: Sync>(
        objects: &[T],
        dissimilarity: impl Fn(&T, &T) -> f64 + Sync,
    ) -> Result<Self, DissimilaritiesError> {
        let n = objects.len();
        check_count(n)?;
        let mut data = vec![0.0; n * n];
        let fill = |(a, row): (usize, &mut [f64])| {
            for b in a + 1..n {
                match valid(a, b, dissimilarity(&objects[a], &objects[b])) {
                    Ok(value) => row[b] = value,
                    Err(error) => return Some(error),
                }
            }
            None
        };
        // One row a task at least: rows get shorter, and idle threads steal.
        let rows = data.par_chunks_mut(n.max(1)).enumerate();
        if let Some(error) = rows.with_max_len(1).find_map_first(fill) {
            return Err(error);
        }
        mirror(&mut data, n);
        Ok(Self { n, data })
    }

    /// Those of a full matrix, row by row.
    ///
    /// # Errors
    /// [`DissimilaritiesError`] names the first pair, row by row, that is
    /// invalid, asymmetric, or an object unlike itself.
    pub fn from_matrix(data: Vec<f64>, n: usize) -> Result<Self, DissimilaritiesError> {
        check_count(n)?;
        if n.checked_mul(n) != Some(data.len()) {
            return Err(DissimilaritiesError::Size { len: data.len(), n });
        }
        let fault = |a: usize| {
            (a..n).find_map(|b| {
                let (there, back) = (data[a * n + b], data[b * n + a]);
                if let Err(error) = valid(a, b, there).and_then(|_| valid(b, a, back)) {
                    return Some(error);
                }
                if a == b && there != 0.0 {
                    return Some(DissimilaritiesError::Diagonal { object: a, value: there });
                }
                (there != back).then_some(DissimilaritiesError::Asymmetric { a, b, there, back })
            })
        };
        match (0..n).into_par_iter().find_map_first(fault) {
            Some(error) => Err(error),
            None => Ok(Self { n, data }),
        }
    }

    /// Counts each object so many times: `get(a, b)` is then what `b` adds to
    /// the loss if `a` is its medoid, and no longer symmetric.
    pub(in crate::cluster) fn weigh(&mut self, weights: &[f64]) {
        for row in self.data.chunks_exact_mut(self.n.max(1)) {
            row.iter_mut().zip(weights).for_each(|(value, weight)| *value *= weight);
        }
    }

    /// The largest; 0 of no objects.
    pub(in crate::cluster) fn largest(&self) -> f64 {
        self.data.iter().copied().fold(0.0, f64::max)
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is no object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Those of one object to all.
    #[must_use]
    pub fn row(&self, object: usize) -> &[f64] {
        &self.data[object * self.n..(object + 1) * self.n]
    }

    /// That of two objects.
    #[must_use]
    pub fn get(&self, a: usize, b: usize) -> f64 {
        self.row(a)[b]
    }
}

fn check_count(n: usize) -> Result<(), DissimilaritiesError> {
    if n >= u32::MAX as usize { Err(DissimilaritiesError::TooMany(n)) } else { Ok(()) }
}

/// Copies what is above the diagonal below it.
fn mirror(data: &mut [f64], n: usize) {
    for start in (0..n).step_by(STRIP) {
        let end = (start + STRIP).min(n);
        let (above, below) = data.split_at_mut(end * n);
        let strip = &mut above[start * n..];
        below.par_chunks_mut(n).enumerate().with_min_len(64).for_each(|(at, row)| {
            for (column, from) in row[start..end].iter_mut().zip(strip.chunks_exact(n)) {
                *column = from[end + at];
            }
        });
        for a in 0..end - start {
            for b in 0..a {
                strip[a * n + start + b] = strip[b * n + start + a];
            }
        }
    }
}
