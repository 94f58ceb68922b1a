//! Which sub-cells of two cells are within eps of each other.
//!
//! A point in sub-cell `s` of a dimension lies in `s..s + 1`, in sides of a
//! sub-cell, give or take 2^-26 (see [`Frame`]). So two points whose sub-cells
//! are `t` apart are more than `t - 1` and less than `t + 1` apart, give or
//! take 2^-25, and sums of these squares bound the squared distance. A
//! computed distance is off by a few units of its last place. Eps is 2^-20
//! more than √D sides of a cell, which is more than all that for `t + 1`. And
//! sums of whole squares that exceed the one of √D sides exceed it by 1, a
//! 2^-13th or more of it. So the bounds decide as the points' own computed
//! distances would.
//!
//! [`Frame`]: super::frame::Frame

use super::frame::{REACH, subs_per_side};

/// Neighbours along one dimension.
pub(super) const ACROSS: usize = 2 * REACH as usize + 1;

/// For each sub-cell of a cell, sets of sub-cells of another one.
pub(super) struct Reach {
    /// Those of which every point is within eps of every point here.
    pub(super) within: [u64; 64],
    /// Those of which a point may be within eps of one here.
    pub(super) near: [u64; 64],
}

impl Reach {
    /// From a cell to the one that is `offset` cells away.
    pub(super) fn new<const D: usize>(offset: [i64; D]) -> Self {
        let subs = i64::from(subs_per_side(D));
        let limit = D as i64 * subs * subs;
        // The last dimension runs fastest.
        let at = |s: i64| std::array::from_fn::<i64, D, _>(|k| s / subs.pow((D - 1 - k) as u32) % subs);
        let places: [[i64; D]; 64] = std::array::from_fn(|s| at(s as i64));
        let mut reach = Self { within: [0; 64], near: [0; 64] };
        for (s, from) in places.iter().enumerate() {
            for (t, to) in places.iter().enumerate() {
                let (mut far2, mut gap2) = (0, 0);
                for k in 0..D {
                    let apart = (offset[k] * subs + to[k] - from[k]).abs();
                    far2 += (apart + 1) * (apart + 1);
                    gap2 += (apart - 1).max(0) * (apart - 1).max(0);
                }
                reach.within[s] |= u64::from(far2 <= limit) << t;
                reach.near[s] |= u64::from(gap2 <= limit) << t;
            }
        }
        reach
    }

    /// Whether points in these sub-cells are joined: `None` if only their
    /// distances can tell.
    pub(super) fn joins(&self, from: u64, to: u64) -> Option<bool> {
        let mut answer = Some(false);
        for s in bits(from) {
            if self.within[s] & to != 0 {
                return Some(true);
            }
            if self.near[s] & to != 0 {
                answer = None;
            }
        }
        answer
    }

    /// The sub-cells of `to` that may hold a point within eps of one in `from`.
    pub(super) fn near_any(&self, from: u64, to: u64) -> u64 {
        bits(from).fold(0, |near, s| near | self.near[s]) & to
    }
}

/// The places of the bits that are set.
pub(super) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let i = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (i < 64).then_some(i)
    })
}
