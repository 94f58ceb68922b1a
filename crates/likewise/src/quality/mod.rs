//! How good a grouping is, and how alike two are.

mod agreement;
mod bic;
mod silhouette;

pub use agreement::{Agreement, adjusted_rand, mirkin};
pub use bic::{SphericalFit, spherical_bic};
pub use silhouette::{Silhouette, centroid_silhouette};
