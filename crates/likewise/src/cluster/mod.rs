//! Grouping: points in, [`Clustering`] out.

mod along;
mod dbscan;
mod euclidean;

pub use along::Along;
pub(crate) use along::{box_of, empty, with};
pub use dbscan::{CoreRadii, Dbscan, DbscanParams, DbscanParamsError, dbscan, dbscan_knowing, dbscan_spread};
pub use euclidean::{euclidean, squared_euclidean};
pub mod hierarchical;
pub mod kdist;
mod kmeans;
mod matrix;
pub mod medoids;
mod sample;
mod spread;
mod xmeans;

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

pub use matrix::{Dissimilarities, DissimilaritiesError};
pub use sample::{label_by_nearest, stratified_sample};
pub use xmeans::{Xmeans, XmeansParams, XmeansParamsError, xmeans};

/// The most dimensions that the clustering methods take.
pub const MAX_DIMS: usize = 16;

/// A cluster's number, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClusterId(NonZeroU32);

impl ClusterId {
    /// The cluster at that place, counted from 0.
    ///
    /// # Panics
    /// If `index` is `u32::MAX` or more.
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("fewer clusters than u32 can number"))
    }

    /// Its place, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// Its number, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0.get()
    }
}

/// A partition of `labels.len()` objects into clusters and noise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clustering {
    /// Each object's cluster; `None` is noise.
    pub labels: Vec<Option<ClusterId>>,
    /// How many clusters there are; every one has a member.
    pub n_clusters: usize,
}

impl Clustering {
    /// The same partition, clusters numbered by descending total weight
    /// (for bursts: duration); ties keep their order. `weight` tells the
    /// weight of an object by its place.
    #[must_use]
    pub fn ordered_by(mut self, weight: impl Fn(usize) -> u64 + Sync) -> Clustering {
        use rayon::prelude::*;
        const BLOCK: usize = 1 << 16;
        let block_totals = |(block, labels): (usize, &[Option<ClusterId>])| {
            let mut total = vec![0u128; self.n_clusters];
            for (i, label) in labels.iter().enumerate() {
                if let Some(id) = label {
                    total[id.index()] += u128::from(weight(block * BLOCK + i));
                }
            }
            total
        };
        let add = |mut a: Vec<u128>, b: Vec<u128>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let blocks = self.labels.par_chunks(BLOCK).enumerate();
        let total = blocks.map(block_totals).reduce(|| vec![0; self.n_clusters], add);
        let mut order: Vec<usize> = (0..self.n_clusters).collect();
        order.sort_by(|&a, &b| total[b].cmp(&total[a]).then(a.cmp(&b)));
        let mut place = vec![ClusterId::from_index(0); self.n_clusters];
        for (to, &from) in order.iter().enumerate() {
            place[from] = ClusterId::from_index(to);
        }
        self.labels.par_iter_mut().flatten().for_each(|id| *id = place[id.index()]);
        self
    }
}

/// Points of `dims` coordinates each, row-major, all finite.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    data: &'a [f64],
    dims: usize,
}

/// Why numbers are not points.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PointsError {
    /// No dimension, or more than [`MAX_DIMS`].
    #[error("points have {0} dimensions; 1 to {MAX_DIMS} are supported")]
    Dims(usize),
    /// The numbers do not fill the last row.
    #[error("{len} numbers do not make rows of {dims}")]
    Ragged {
        /// How many numbers were given.
        len: usize,
        /// How many make a row.
        dims: usize,
    },
    /// More rows than a `u32` can number.
    #[error("{0} points are more than 4,294,967,294")]
    TooMany(usize),
    /// A coordinate is NaN or infinite.
    #[error("row {row}, column {column} (from 0) is {value}; every coordinate must be finite")]
    NotFinite {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
        /// What stands there.
        value: f64,
    },
}

impl<'a> Points<'a> {
    /// Checks `data` as rows of `dims` finite numbers.
    ///
    /// # Errors
    /// [`PointsError`] names what is wrong and the first offending row.
    pub fn new(data: &'a [f64], dims: usize) -> Result<Self, PointsError> {
        use rayon::prelude::*;
        if dims == 0 || dims > MAX_DIMS {
            return Err(PointsError::Dims(dims));
        }
        if !data.len().is_multiple_of(dims) {
            return Err(PointsError::Ragged { len: data.len(), dims });
        }
        if data.len() / dims >= u32::MAX as usize {
            return Err(PointsError::TooMany(data.len() / dims));
        }
        // Summing x·0 is 0 for finite x and NaN otherwise, and it vectorises.
        let finite = |chunk: &[f64]| chunk.iter().map(|x| x * 0.0).sum::<f64>() == 0.0;
        let bad = data.par_chunks(1 << 14).position_first(|chunk| !finite(chunk));
        if let Some(chunk) = bad {
            let start = chunk << 14;
            let at = start + data[start..].iter().position(|x| !x.is_finite()).unwrap_or(0);
            return Err(PointsError::NotFinite { row: at / dims, column: at % dims, value: data[at] });
        }
        Ok(Self { data, dims })
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len() / self.dims
    }

    /// Whether there is no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Coordinates of each point.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// All coordinates, row-major.
    #[must_use]
    pub fn data(&self) -> &'a [f64] {
        self.data
    }

    /// One point.
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [f64] {
        &self.data[i * self.dims..(i + 1) * self.dims]
    }
}
