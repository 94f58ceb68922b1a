//! At which radii points are core, where their k-distances are known.

use super::params::DbscanParams;
use crate::comm::wire::{self, Taker};
use rayon::prelude::*;

/// A distance nearer to a radius than this share of it decides nothing: the radius
/// and the distance were rounded, and their squares are what is compared.
const MARGIN: f64 = 1e-12;

/// Beyond these radii, squares leave the numbers of full precision.
const PLAIN: std::ops::Range<f64> = 1e-140..1e140;

/// Of a point: its distance decides nothing.
const OPEN: u8 = u8::MAX;

/// At which of some radii each point is core.
///
/// The k-distance of a point tells at which radii it is core for `min_points = k`.
/// Where DBSCAN runs with many radii, one search for the k nearest of each point then
/// replaces the counting of neighbours at each of them.
#[derive(Clone, Debug)]
pub struct CoreRadii {
    /// Ascending.
    radii: Vec<f64>,
    min_points: usize,
    /// Of each point, the first of the radii at which it is core, or [`OPEN`].
    from: Vec<u8>,
}

impl CoreRadii {
    /// `distances` are those of each point to its `min_points`-th nearest, itself
    /// counted, as [`k_distances`](crate::cluster::kdist::k_distances) gives them;
    /// radii ascend. A byte for each point is kept. Of more than 254 radii nothing is
    /// known.
    #[must_use]
    pub fn of(distances: &[f64], min_points: usize, radii: Vec<f64>) -> Self {
        let is_plain = radii.len() < usize::from(OPEN) && radii.iter().all(|eps| PLAIN.contains(eps));
        let first = |&distance: &f64| {
            let not = radii.partition_point(|eps| eps * (1.0 + MARGIN) < distance);
            let surely = radii.partition_point(|eps| eps * (1.0 - MARGIN) < distance);
            if is_plain && not == surely { not as u8 } else { OPEN }
        };
        let from = distances.par_iter().map(first).collect();
        Self { radii, min_points, from }
    }

    /// Appends it to a message.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        wire::put_number(bytes, self.min_points as u64);
        wire::put_number(bytes, self.radii.len() as u64);
        wire::put_reals(bytes, &self.radii);
        wire::put_block(bytes, &self.from);
    }

    /// What [`CoreRadii::put`] has put into a message.
    #[must_use]
    pub fn take(taker: &mut Taker<'_>) -> Option<Self> {
        let (min_points, n) = (taker.index()?, taker.index()?);
        let radii = wire::reals(taker.bytes(n.checked_mul(8)?)?)?.collect();
        Some(Self { min_points, radii, from: taker.block()?.to_vec() })
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.from.len()
    }

    /// Whether each point is core with these parameters, where that is known.
    pub(super) fn at(&self, params: &DbscanParams) -> Option<CoreAt<'_>> {
        let place = self.radii.iter().position(|&eps| eps == params.eps())?;
        (params.min_points() == self.min_points).then_some(CoreAt { from: &self.from, place: place as u8 })
    }
}

/// The same at one radius.
#[derive(Clone, Copy)]
pub(super) struct CoreAt<'a> {
    from: &'a [u8],
    place: u8,
}

impl CoreAt<'_> {
    /// Whether a row's point is core, if that is known.
    #[inline]
    pub(super) fn is_core(&self, row: u32) -> Option<bool> {
        match self.from[row as usize] {
            OPEN => None,
            from => Some(from <= self.place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_sure_is_told() {
        let told = |distances: &[f64], radii: &[f64], eps: f64| -> Vec<Option<bool>> {
            let cores = CoreRadii::of(distances, 3, radii.to_vec());
            let params = DbscanParams::new(eps, 3).expect("valid");
            let at = cores.at(&params).expect("one of the radii");
            (0..distances.len() as u32).map(|row| at.is_core(row)).collect()
        };
        let distances = [0.0, 0.2, 0.3, 0.5, f64::INFINITY];
        assert_eq!(
            told(&distances, &[0.1, 0.3, 1.0], 0.1),
            [Some(true), Some(false), None, Some(false), Some(false)]
        );
        assert_eq!(
            told(&distances, &[0.1, 0.3, 1.0], 0.3),
            [Some(true), Some(true), None, Some(false), Some(false)]
        );
        assert_eq!(
            told(&distances, &[0.1, 0.3, 1.0], 1.0),
            [Some(true), Some(true), None, Some(true), Some(false)]
        );
        // Squares of such radii are not precise.
        assert_eq!(told(&distances, &[1e-160, 0.3], 0.3), [None; 5]);
        assert_eq!(told(&distances, &[0.3; 300], 0.3), [None; 5]);
        let cores = CoreRadii::of(&distances, 3, vec![0.1]);
        let mut bytes = Vec::new();
        cores.put(&mut bytes);
        let there = CoreRadii::take(&mut Taker::new(&bytes)).expect("whole");
        assert_eq!(format!("{there:?}"), format!("{cores:?}"));
        assert!(CoreRadii::take(&mut Taker::new(&bytes[..bytes.len() - 1])).is_none());
        for (eps, min_points) in [(0.1, 4), (0.2, 3)] {
            assert!(cores.at(&DbscanParams::new(eps, min_points).expect("valid")).is_none());
        }
    }
}
