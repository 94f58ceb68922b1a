//! What DBSCAN needs to know, and what it gives.

use crate::cluster::Clustering;

/// Points that a thread takes at once.
pub(super) const PART: usize = 1 << 12;

/// What DBSCAN needs to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DbscanParams {
    eps: f64,
    min_points: usize,
}

/// Why parameters make no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DbscanParamsError {
    /// Zero, negative, NaN or infinite.
    #[error("eps is {0}; it must be a finite number above 0")]
    Eps(f64),
    /// No point is needed for a core point.
    #[error("min-points is 0; it must be 1 or more (a point counts itself)")]
    MinPoints,
}

impl DbscanParams {
    /// `eps` in the units of the points; `min_points` counts the point itself.
    ///
    /// # Errors
    /// [`DbscanParamsError`] if no clustering is defined for them.
    pub fn new(eps: f64, min_points: usize) -> Result<Self, DbscanParamsError> {
        if !(eps > 0.0 && eps.is_finite()) {
            return Err(DbscanParamsError::Eps(eps));
        }
        if min_points == 0 {
            return Err(DbscanParamsError::MinPoints);
        }
        Ok(Self { eps, min_points })
    }

    /// The radius of a neighbourhood.
    #[must_use]
    pub fn eps(&self) -> f64 {
        self.eps
    }

    /// How many points, itself included, a core point has within eps.
    #[must_use]
    pub fn min_points(&self) -> usize {
        self.min_points
    }

    pub(super) fn eps2(&self) -> f64 {
        self.eps * self.eps
    }
}

/// A partition by density.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dbscan {
    /// Clusters in order of their first core point; `None` is noise.
    pub clustering: Clustering,
    /// Which points are core.
    pub core: Vec<bool>,
}
