//! How good a grouping is, and how alike two are.

mod agreement;
mod bic;
mod mean_silhouette;
mod medoid_silhouette;
mod silhouette;

pub use agreement::{Agreement, adjusted_rand, mirkin};
pub use bic::{SphericalFit, least_variance, spherical_bic};
pub use mean_silhouette::mean_silhouette;
pub use medoid_silhouette::medoid_silhouette;
pub use silhouette::{Silhouette, centroid_silhouette};
