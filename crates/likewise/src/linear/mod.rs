//! Linear algebra: the directions in which rows vary ([`pca`]), and what a
//! linear model makes of them (`least_squares`).

pub(crate) mod least_squares;
mod pca;

pub use pca::{Pca, pca};
pub(crate) use pca::{PrincipalAxis, principal_axes};

/// The scalar product, added up in order.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
