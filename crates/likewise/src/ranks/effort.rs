//! Work by rank, step and region.

use std::ops::Range;

/// A piece of code whose work is measured in every step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffortRegion {
    /// Its name; untrusted text.
    pub name: String,
    /// The unit of its effort, such as `s`; may be empty.
    pub unit: String,
}

/// One number of a table, where it is not known yet that the table is whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffortCell {
    /// The rank, from 0.
    pub rank: u64,
    /// The step; any numbers, the same for all ranks.
    pub step: u64,
    /// The region, by its place in the table's list.
    pub region: usize,
    /// The effort.
    pub effort: f64,
}

/// Why numbers are not an effort table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EffortError {
    /// There is nothing.
    #[error("there is no {0}")]
    Empty(&'static str),
    /// A number is NaN or infinite.
    #[error("rank {rank}, step {step}, region '{region}': the effort is {value}; it must be finite")]
    NotFinite {
        /// The rank, from 0.
        rank: u64,
        /// The step.
        step: u64,
        /// The region's name.
        region: String,
        /// What stands there.
        value: f64,
    },
    /// Not all ranks have as many steps.
    #[error("most ranks have {most} steps, but {}", counts(.others, *.more))]
    Steps {
        /// What most have; the greatest of equally frequent numbers.
        most: usize,
        /// The first ranks that have another number, with that number.
        others: Vec<(u64, usize)>,
        /// How many more there are.
        more: usize,
    },
    /// A rank below the greatest has nothing.
    #[error("rank {rank} has no row, but ranks up to {last} are there (ranks count from 0)")]
    NoRow {
        /// The first such rank.
        rank: u64,
        /// The greatest rank that has rows.
        last: u64,
    },
    /// A rank has a step, but not in this region.
    #[error("rank {rank} has no effort for step {step} in region '{region}'")]
    Missing {
        /// The rank, from 0.
        rank: u64,
        /// The step.
        step: u64,
        /// The region's name.
        region: String,
    },
    /// Two numbers for one place.
    #[error("rank {rank}, step {step}, region '{region}' stands there twice")]
    Twice {
        /// The rank, from 0.
        rank: u64,
        /// The step.
        step: u64,
        /// The region's name.
        region: String,
    },
    /// Two regions of one name.
    #[error("there are two regions '{0}'")]
    RegionTwice(String),
    /// The numbers do not fill the last rank.
    #[error("{len} numbers do not make ranks of {regions} regions × {steps} steps")]
    Ragged {
        /// How many numbers were given.
        len: usize,
        /// How many regions there are.
        regions: usize,
        /// How many steps there are.
        steps: usize,
    },
}

fn counts(others: &[(u64, usize)], more: usize) -> String {
    let named: Vec<String> = others.iter().map(|(rank, n)| format!("rank {rank} has {n}")).collect();
    let rest = if more > 0 { format!(" (and {more} more differ)") } else { String::new() };
    named.join(", ") + &rest
}

/// Work of every rank in every step and region, all finite.
///
/// A step is an iteration of the program's outer loop, which all ranks take
/// together; a region is code within it that may take more or less time.
///
/// # Reference
/// Gamblin et al., ICS 2010, §4.
#[derive(Clone, Debug, PartialEq)]
pub struct EffortTable {
    regions: Vec<EffortRegion>,
    n_steps: usize,
    /// By rank, then region, then step.
    values: Vec<f64>,
}

impl EffortTable {
    /// The table of these numbers, by rank, then region, then step.
    ///
    /// # Errors
    /// See [`EffortError`]; the first number that is not finite is named.
    pub fn new(regions: Vec<EffortRegion>, n_steps: usize, values: Vec<f64>) -> Result<Self, EffortError> {
        if regions.is_empty() {
            return Err(EffortError::Empty("region"));
        }
        if n_steps == 0 {
            return Err(EffortError::Empty("step"));
        }
        if values.is_empty() {
            return Err(EffortError::Empty("rank"));
        }
        Self::of_some(regions, n_steps, values)
    }

    /// As [`new`](Self::new), for some of the ranks, of which there may be
    /// none.
    pub(super) fn of_some(
        regions: Vec<EffortRegion>,
        n_steps: usize,
        values: Vec<f64>,
    ) -> Result<Self, EffortError> {
        let mut names: Vec<&str> = regions.iter().map(|r| r.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
            return Err(EffortError::RegionTwice(twice[0].to_owned()));
        }
        let ragged = EffortError::Ragged { len: values.len(), regions: regions.len(), steps: n_steps };
        let width = regions.len().checked_mul(n_steps).ok_or_else(|| ragged.clone())?;
        if !values.len().is_multiple_of(width) {
            return Err(ragged);
        }
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            let (rank, within) = ((at / width) as u64, at % width);
            let region = regions[within / n_steps].name.clone();
            let step = (within % n_steps) as u64;
            return Err(EffortError::NotFinite { rank, step, region, value: values[at] });
        }
        Ok(Self { regions, n_steps, values })
    }

    /// The table of one region, from the series of each rank.
    ///
    /// # Errors
    /// As [`new`](Self::new); ranks with different numbers of steps, and
    /// ranks with none, are named.
    pub fn from_series(region: EffortRegion, series: &[Vec<f64>]) -> Result<Self, EffortError> {
        let lengths: Vec<usize> = series.iter().map(Vec::len).collect();
        let last = lengths.len().saturating_sub(1) as u64;
        if let Some(rank) = lengths.iter().position(|&n| n == 0) {
            return Err(EffortError::NoRow { rank: rank as u64, last });
        }
        let n_steps = same_steps(&lengths)?;
        Self::new(vec![region], n_steps, series.concat())
    }

    /// The table of cells in any order.
    ///
    /// # Errors
    /// See [`EffortError`]: every rank up to the greatest must have every step
    /// in every region, once.
    ///
    /// # Panics
    /// If a cell's region is not in the list.
    ///
    /// # Complexity
    /// O(n log n) for n cells, whatever ranks and steps they claim.
    pub fn from_cells(regions: Vec<EffortRegion>, mut cells: Vec<EffortCell>) -> Result<Self, EffortError> {
        let name = |cell: &EffortCell| regions[cell.region].name.clone();
        let Some(last) = cells.iter().map(|c| c.rank).max() else { return Err(EffortError::Empty("rank")) };
        cells.sort_by_key(|c| (c.rank, c.region, c.step));
        for pair in cells.windows(2) {
            let key = |c: &EffortCell| (c.rank, c.region, c.step);
            if key(&pair[0]) == key(&pair[1]) {
                let EffortCell { rank, step, .. } = pair[0];
                return Err(EffortError::Twice { rank, step, region: name(&pair[0]) });
            }
        }
        if let Some(c) = cells.iter().find(|c| !c.effort.is_finite()) {
            let (rank, step, value) = (c.rank, c.step, c.effort);
            return Err(EffortError::NotFinite { rank, step, region: name(c), value });
        }
        let by_rank: Vec<&[EffortCell]> = cells.chunk_by(|a, b| a.rank == b.rank).collect();
        if let Some(rank) = (0..).zip(&by_rank).find_map(|(rank, of)| (of[0].rank != rank).then_some(rank)) {
            return Err(EffortError::NoRow { rank, last });
        }
        let steps_of = |of: &[EffortCell]| {
            let mut steps: Vec<u64> = of.iter().map(|c| c.step).collect();
            steps.sort_unstable();
            steps.dedup();
            steps
        };
        let lengths: Vec<usize> = by_rank.iter().map(|of| steps_of(of).len()).collect();
        let n_steps = same_steps(&lengths)?;
        let mut steps: Vec<u64> = cells.iter().map(|c| c.step).collect();
        steps.sort_unstable();
        steps.dedup();
        // As long as nothing is missing, cells stand in the order of the table.
        let missing = |rank: u64, step: u64, region: usize| EffortError::Missing {
            rank,
            step,
            region: regions[region].name.clone(),
        };
        for (rank, of) in by_rank.iter().enumerate() {
            let mut found = of.iter();
            for region in 0..regions.len() {
                for &step in &steps {
                    if found.next().is_none_or(|c| (c.region, c.step) != (region, step)) {
                        return Err(missing(rank as u64, step, region));
                    }
                }
            }
        }
        let values = cells.iter().map(|c| c.effort).collect();
        Self::new(regions, n_steps, values)
    }

    /// The regions.
    #[must_use]
    pub fn regions(&self) -> &[EffortRegion] {
        &self.regions
    }

    /// How many ranks there are.
    #[must_use]
    pub fn n_ranks(&self) -> usize {
        self.values.len() / self.dims()
    }

    /// How many steps every rank has.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// Numbers of a rank: regions × steps.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.regions.len() * self.n_steps
    }

    /// The table of some of the steps, which are counted from 0.
    ///
    /// # Panics
    /// If there are no such steps.
    #[must_use]
    pub fn steps(&self, steps: Range<usize>) -> Self {
        assert!(steps.start < steps.end && steps.end <= self.n_steps, "steps of the table");
        let of_series = |series: &[f64]| series[steps.clone()].to_vec();
        let values = self.values.chunks_exact(self.n_steps).flat_map(of_series).collect();
        Self { regions: self.regions.clone(), n_steps: steps.len(), values }
    }

    /// A rank's feature vector: the series of its regions, one after another.
    ///
    /// # Panics
    /// If there is no such rank.
    #[must_use]
    pub fn row(&self, rank: usize) -> &[f64] {
        &self.values[rank * self.dims()..(rank + 1) * self.dims()]
    }

    /// A rank's effort in a region, step by step.
    ///
    /// # Panics
    /// If there is no such rank or region.
    #[must_use]
    pub fn series(&self, rank: usize, region: usize) -> &[f64] {
        &self.row(rank)[region * self.n_steps..(region + 1) * self.n_steps]
    }

    /// All numbers, by rank, then region, then step.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// The number of steps that all ranks have.
fn same_steps(lengths: &[usize]) -> Result<usize, EffortError> {
    const NAMED: usize = 8;
    let mut frequency = std::collections::BTreeMap::new();
    for &n in lengths {
        *frequency.entry(n).or_insert(0usize) += 1;
    }
    let most = frequency.iter().max_by_key(|(n, count)| (**count, **n)).map(|(n, _)| *n);
    let most = most.ok_or(EffortError::Empty("rank"))?;
    let differ = (0..).zip(lengths).filter(|(_, n)| **n != most).map(|(rank, n)| (rank, *n));
    let others: Vec<(u64, usize)> = differ.clone().take(NAMED).collect();
    let more = differ.count() - others.len();
    if others.is_empty() { Ok(most) } else { Err(EffortError::Steps { most, others, more }) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn region(name: &str) -> EffortRegion {
        EffortRegion { name: name.into(), unit: "s".into() }
    }

    fn cell(rank: u64, step: u64, region: usize, effort: f64) -> EffortCell {
        EffortCell { rank, step, region, effort }
    }

    #[test]
    fn says_which_rank_step_and_region_is_wrong() {
        let two = || vec![region("a"), region("b")];
        let error = |e: Result<EffortTable, EffortError>| e.unwrap_err().to_string();
        assert_eq!(
            error(EffortTable::new(two(), 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, f64::NAN])),
            "rank 1, step 1, region 'b': the effort is NaN; it must be finite"
        );
        assert_eq!(
            error(EffortTable::from_series(region("a"), &[vec![1.0; 3], vec![1.0; 2], vec![1.0; 3]])),
            "most ranks have 3 steps, but rank 1 has 2"
        );
        let cells = vec![cell(0, 1, 0, 1.0), cell(2, 1, 0, 1.0)];
        assert_eq!(
            error(EffortTable::from_cells(vec![region("a")], cells)),
            "rank 1 has no row, but ranks up to 2 are there (ranks count from 0)"
        );
        let cells = vec![cell(0, 1, 0, 1.0), cell(0, 1, 1, 1.0), cell(1, 1, 1, 1.0)];
        assert_eq!(
            error(EffortTable::from_cells(two(), cells)),
            "rank 1 has no effort for step 1 in region 'a'"
        );
        let cells = vec![cell(0, 1, 0, 1.0); 2];
        assert_eq!(
            error(EffortTable::from_cells(vec![region("a")], cells)),
            "rank 0, step 1, region 'a' stands there twice"
        );
        assert_eq!(error(EffortTable::new(two(), 2, vec![])), "there is no rank");
        assert!(EffortTable::new(two(), usize::MAX, vec![1.0]).is_err());
    }

    proptest! {
        #[test]
        fn cells_in_any_order_make_the_table(
            (ranks, regions, steps) in (1usize..5, 1usize..4, 1usize..6), first in 0u64..9, seed in 0usize..1000
        ) {
            let names: Vec<_> = (0..regions).map(|i| region(&format!("r{i}"))).collect();
            let values: Vec<f64> = (0..ranks * regions * steps).map(|i| i as f64).collect();
            let table = EffortTable::new(names.clone(), steps, values).expect("a table");
            let mut cells = Vec::new();
            for rank in 0..ranks {
                for r in 0..regions {
                    for (s, &effort) in table.series(rank, r).iter().enumerate() {
                        cells.push(cell(rank as u64, first + 3 * s as u64, r, effort));
                    }
                }
            }
            cells.sort_by_key(|c| (c.effort as usize * 7919 + seed) % 1009);
            prop_assert_eq!(EffortTable::from_cells(names, cells).expect("a table"), table);
        }
    }
}
