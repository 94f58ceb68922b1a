//! Ranks on three objectives.

use super::prepare::Ranked;

/// Steps of a staircase that stand together.
const STEPS: usize = 256;

/// Goes through the records in the order of the first objective. The records of a
/// front, on the other two objectives, are a staircase; a new record is dominated
/// by one of them if it lies above the staircase. If a front dominates it, so does
/// every earlier front; so a binary search finds its own.
pub(super) fn goldberg(ranked: &Ranked) -> Vec<u32> {
    let (second, third) = (ranked.column(1), ranked.column(2));
    let mut fronts: Vec<Staircase> = Vec::new();
    let rank_of = |(&y, &z): (&u32, &u32)| {
        let rank = fronts.partition_point(|front| front.is_below(y, z));
        if rank == fronts.len() {
            fronts.push(Staircase::default());
        }
        fronts[rank].add(y, z);
        rank as u32
    };
    second.iter().zip(third).map(rank_of).collect()
}

/// Points of which none is below another, ascending by y and so descending by
/// z, in blocks, none empty.
#[derive(Default)]
struct Staircase {
    /// The first y of each block.
    starts: Vec<u32>,
    blocks: Vec<Vec<(u32, u32)>>,
}

impl Staircase {
    /// The block and the step of the last point whose y is at most this.
    fn last_up_to(&self, y: u32) -> Option<(usize, usize)> {
        let block = self.starts.partition_point(|&start| start <= y).checked_sub(1)?;
        let step = self.blocks[block].partition_point(|point| point.0 <= y) - 1;
        Some((block, step))
    }

    /// Whether a point lies to the left of it and not above.
    fn is_below(&self, y: u32, z: u32) -> bool {
        self.last_up_to(y).is_some_and(|(block, step)| self.blocks[block][step].1 <= z)
    }

    /// Adds a point that none is below; those that it is below go.
    fn add(&mut self, y: u32, z: u32) {
        let (mut block, mut step) = match self.last_up_to(y) {
            // As far left, and so above.
            Some((block, step)) if self.blocks[block][step].0 == y => (block, step),
            Some((block, step)) => (block, step + 1),
            None => (0, 0),
        };
        self.remove_above(block, step, z);
        if block == self.blocks.len() {
            // All from there on went, or there was nothing.
            match block.checked_sub(1) {
                Some(last) => (block, step) = (last, self.blocks[last].len()),
                None => {
                    self.starts.push(y);
                    self.blocks.push(Vec::with_capacity(STEPS));
                }
            }
        }
        self.blocks[block].insert(step, (y, z));
        self.starts[block] = self.blocks[block][0].0;
        if self.blocks[block].len() == STEPS {
            let rest = self.blocks[block].split_off(STEPS / 2);
            self.starts.insert(block + 1, rest[0].0);
            self.blocks.insert(block + 1, rest);
        }
    }

    /// Removes the points from there on whose z is at least this.
    fn remove_above(&mut self, block: usize, step: usize, z: u32) {
        let Some(points) = self.blocks.get_mut(block) else { return };
        let below = points[step..].partition_point(|point| point.1 >= z);
        let is_rest = step + below == points.len();
        points.drain(step..step + below);
        if !is_rest {
            return;
        }
        // Whole blocks after it, and the begin of the first that stays.
        let after = self.blocks[block + 1..]
            .partition_point(|points| points.last().is_some_and(|point| point.1 >= z));
        let gone = block + 1..block + 1 + after;
        self.blocks.drain(gone.clone());
        self.starts.drain(gone);
        if let Some(points) = self.blocks.get_mut(block + 1) {
            let below = points.partition_point(|point| point.1 >= z);
            points.drain(..below);
            self.starts[block + 1] = points[0].0;
        }
        if self.blocks[block].is_empty() {
            self.blocks.remove(block);
            self.starts.remove(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_staircase_is_its_points(points in prop::collection::vec((0u32..400, 0u32..400), 1..600)) {
            let mut stairs = Staircase::default();
            let mut plain: Vec<(u32, u32)> = Vec::new();
            for (y, z) in points {
                let below = plain.iter().any(|point| point.0 <= y && point.1 <= z);
                prop_assert_eq!(stairs.is_below(y, z), below);
                if !below {
                    stairs.add(y, z);
                    plain.retain(|point| point.0 < y || point.1 < z);
                    plain.push((y, z));
                }
                let mut sorted = plain.clone();
                sorted.sort_unstable();
                prop_assert_eq!(stairs.blocks.concat(), sorted);
                prop_assert!(stairs.blocks.iter().zip(&stairs.starts).all(|(b, s)| b[0].0 == *s));
            }
        }
    }
}
