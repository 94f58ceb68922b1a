//! A box of ranks, each beside its neighbours in three directions.

use super::draw::Stream;
use crate::cluster::ClusterId;
use crate::ranks::{EffortRegion, EffortTable};

/// Where in the box a rank lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoxClass {
    /// On no side.
    Interior,
    /// On one side.
    Face,
    /// On two sides.
    Edge,
    /// On three sides.
    Corner,
}

/// What a box looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxSpec {
    /// Ranks in each direction; at least 1.
    pub sides: [usize; 3],
    /// Steps.
    pub n_steps: usize,
    /// Mean effort of interior, faces, edges and corners.
    pub means: [f64; 4],
    /// Deviation of a rank's effort within its class, as a share of its mean.
    pub spread: f64,
}

impl Default for BoxSpec {
    /// Corners have ten times the work of the interior; 5 % within a class.
    fn default() -> Self {
        Self { sides: [16; 3], n_steps: 4, means: [1.0, 2.15, 4.64, 10.0], spread: 0.05 }
    }
}

/// A box as it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Boxed {
    /// The efforts.
    pub table: EffortTable,
    /// Where each rank lies.
    pub classes: Vec<BoxClass>,
}

impl BoxSpec {
    /// Makes the box. Nine tenths of a rank's variance are its own in all
    /// steps, the rest is another in every step; the first direction is the
    /// fastest.
    ///
    /// # Panics
    /// If a side or the number of steps is 0, or a number is not finite.
    #[must_use]
    pub fn boxed(&self, seed: u64) -> Boxed {
        let [x, y, z] = self.sides;
        let class = |rank: usize| {
            let place = [rank % x, rank / x % y, rank / x / y];
            let on_side = (0..3).filter(|&i| place[i] == 0 || place[i] + 1 == self.sides[i]).count();
            [BoxClass::Interior, BoxClass::Face, BoxClass::Edge, BoxClass::Corner][on_side]
        };
        let classes: Vec<BoxClass> = (0..x * y * z).map(class).collect();
        let (own, step) = (self.spread * 0.9f64.sqrt(), self.spread * 0.1f64.sqrt());
        let mut values = Vec::with_capacity(classes.len() * self.n_steps);
        for (rank, &class) in classes.iter().enumerate() {
            let mut stream = Stream::at(seed, [rank as u64, 0, 0]);
            let mean = self.means[class as usize];
            let of_rank = 1.0 + own * stream.normal();
            values.extend((0..self.n_steps).map(|_| mean * (of_rank + step * stream.normal())));
        }
        let region = EffortRegion { name: "solver".into(), unit: "s".into() };
        let table = EffortTable::new(vec![region], self.n_steps, values).expect("finite efforts");
        Boxed { table, classes }
    }
}

impl Boxed {
    /// Three strata: interior, faces, and edges with corners.
    #[must_use]
    pub fn labels_of_three(&self) -> Vec<Option<ClusterId>> {
        self.classes.iter().map(|&c| Some(ClusterId::from_index((c as usize).min(2)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_corners_edges_faces_and_the_rest() {
        let boxed = BoxSpec { sides: [4, 5, 6], ..BoxSpec::default() }.boxed(1);
        let count = |class: BoxClass| boxed.classes.iter().filter(|&&c| c == class).count();
        assert_eq!(count(BoxClass::Corner), 8);
        assert_eq!(count(BoxClass::Edge), 4 * (2 + 3 + 4));
        assert_eq!(count(BoxClass::Face), 2 * (2 * 3 + 2 * 4 + 3 * 4));
        assert_eq!(count(BoxClass::Interior), 2 * 3 * 4);
        assert_eq!(boxed, BoxSpec { sides: [4, 5, 6], ..BoxSpec::default() }.boxed(1));
    }
}
