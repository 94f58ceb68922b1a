//! The best boxes, by dynamic programming over all of them.

use super::design::{Axis, Design};
use super::region::RegimeError;
use crate::linear::least_squares::LEAST_SHARE;

/// Numbers that all boxes together may take.
const MOST_NUMBERS: usize = 1 << 22;
/// Cells of one column, whose boxes are still within that.
const MOST_CELLS: usize = 1 << 9;
/// Twice the information criterion that makes a difference.
const MARGIN: f64 = 1e-6;
/// Steps that a bound is tried at on either side, if they fit.
const MOST_STEPS: usize = 8;
/// Parameters that a bound counts for.
const BOUND: f64 = 3.0;

/// A region, before it is fitted anew.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// First and last distinct value, column by column.
    pub(super) sides: Vec<(usize, usize)>,
    pub(super) model: usize,
    /// −2 × its share of the criterion.
    pub(super) cost: f64,
}

/// The best partition.
pub(super) struct Found {
    pub(super) leaves: Vec<Leaf>,
    /// −2 × the criterion, for weighted errors.
    pub(super) cost: f64,
    pub(super) cost_of_one: f64,
    pub(super) exact: bool,
}

/// Where columns may be cut: after which of their distinct values.
type Cuts = Vec<Vec<usize>>;

/// The partition of least cost: exactly, or from a coarse one refined.
pub(super) fn best(design: &Design<'_>) -> Result<Found, RegimeError> {
    let all: Cuts = design.axes.iter().map(|a| (0..cuts_of(a)).collect()).collect();
    let cuts = if n_boxes(&all) <= capacity(design) { all.clone() } else { coarse(design)? };
    let mut found = search(design, &cuts);
    found.exact = cuts == all;
    if !found.exact && found.cost.is_finite() {
        found = refined(design, found, &cuts);
    }
    if found.cost.is_finite() { Ok(found) } else { Err(RegimeError::NoFit) }
}

fn cuts_of(axis: &Axis) -> usize {
    if axis.splits { axis.distinct.len() - 1 } else { 0 }
}

fn n_boxes(cuts: &Cuts) -> f64 {
    cuts.iter().map(|c| (c.len() + 1) as f64 * (c.len() + 2) as f64 / 2.0).product()
}

fn capacity(design: &Design<'_>) -> f64 {
    (MOST_NUMBERS / Gram::numbers(design)) as f64
}

/// As many cuts as fit, the same for all columns as far as they have them,
/// with about as many rows between any two.
fn coarse(design: &Design<'_>) -> Result<Cuts, RegimeError> {
    let mut cells: Vec<usize> = design.axes.iter().map(|a| (cuts_of(a) + 1).min(MOST_CELLS)).collect();
    let boxes = |cells: &[usize]| cells.iter().map(|&m| m as f64 * (m + 1) as f64 / 2.0).product::<f64>();
    while boxes(&cells) > capacity(design) {
        let most = cells.iter().copied().max().unwrap_or(1);
        if most <= 2 {
            let varying = design.axes.iter().filter(|a| a.splits).count();
            return Err(RegimeError::TooManyParameters(varying));
        }
        if let Some(last) = cells.iter_mut().rfind(|m| **m == most) {
            *last -= 1;
        }
    }
    Ok(design.axes.iter().zip(cells).map(|(axis, m)| quantiles(axis, m)).collect())
}

fn quantiles(axis: &Axis, cells: usize) -> Vec<usize> {
    let n_cuts = cuts_of(axis);
    if n_cuts < cells {
        return (0..n_cuts).collect();
    }
    let mut upto = vec![0; axis.distinct.len()];
    axis.place.iter().for_each(|&place| upto[place as usize] += 1);
    for i in 1..upto.len() {
        upto[i] += upto[i - 1];
    }
    let n = axis.place.len();
    let cut = |k: usize| upto.partition_point(|&rows| rows * cells < k * n).min(n_cuts - 1);
    let mut cuts: Vec<usize> = (1..cells).map(cut).collect();
    cuts.dedup();
    cuts
}

/// Moves the bounds that were found, in ever smaller steps: first within a
/// cell, at last from value to value until nothing is gained.
fn refined(design: &Design<'_>, mut found: Found, cuts: &Cuts) -> Found {
    let widest = |cuts: &Vec<usize>, axis: &Axis| {
        let ends = cuts.iter().copied().chain([axis.distinct.len() - 1]);
        ends.scan(0, |from, to| Some(to - std::mem::replace(from, to))).max().unwrap_or(1)
    };
    let split = cuts.iter().zip(&design.axes).filter(|(_, axis)| axis.splits);
    let mut reach = split.map(|(cuts, axis)| widest(cuts, axis)).max().unwrap_or(1);
    loop {
        let near = |steps: usize| -> (usize, Cuts) {
            let step = reach.div_ceil(steps + 1);
            (step, (0..design.axes.len()).map(|j| moved(design, &found, j, steps, step)).collect())
        };
        let tried = (1..=MOST_STEPS).rev().map(near).find(|(_, cuts)| n_boxes(cuts) <= capacity(design));
        let Some((step, near)) = tried else { return found };
        let next = search(design, &near);
        let gains = next.cost < found.cost - MARGIN;
        if gains {
            found = next;
        }
        if step == 1 && !gains {
            return found;
        }
        // At steps of one, bounds may still have a way to go.
        reach = if step == 1 { reach } else { step };
    }
}

/// The bounds in use on column `j`, and those up to some steps away.
fn moved(design: &Design<'_>, found: &Found, j: usize, steps: usize, step: usize) -> Vec<usize> {
    let end = cuts_of(&design.axes[j]);
    let used = found.leaves.iter().map(|leaf| leaf.sides[j].1).filter(|&last| last < end);
    let near = used.flat_map(|at| {
        (0..=steps).flat_map(move |i| [at.checked_sub(i * step), Some(at + i * step)]).flatten()
    });
    let mut cuts: Vec<usize> = near.filter(|&at| at < end).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// What becomes of a box.
#[derive(Clone, Copy)]
enum Choice {
    Nothing,
    Model(usize),
    /// After which of its cells a column is cut.
    Cut {
        column: usize,
        after: usize,
    },
}

/// All boxes between cuts, in an order where parts go before the whole.
struct Boxes {
    /// Cells per column.
    cells: Vec<usize>,
    /// What the number of a box grows by with the number of its side.
    stride: Vec<usize>,
    /// First and last cell of the sides, by number: the same for all columns.
    sides: Vec<(usize, usize)>,
    n: usize,
}

impl Boxes {
    fn new(cuts: &Cuts) -> Self {
        let cells: Vec<usize> = cuts.iter().map(|c| c.len() + 1).collect();
        let mut stride = vec![1; cells.len()];
        let mut n = 1;
        for (stride, m) in stride.iter_mut().zip(&cells).rev() {
            *stride = n;
            n *= m * (m + 1) / 2;
        }
        let most = cells.iter().copied().max().unwrap_or(1);
        let sides = (0..most).flat_map(|last| (0..=last).rev().map(move |first| (first, last))).collect();
        Self { cells, stride, sides, n }
    }

    /// The number of a side: within any other, it goes before it.
    fn side(first: usize, last: usize) -> usize {
        last * (last + 1) / 2 + (last - first)
    }

    fn sides_of(&self, index: usize, sides: &mut Vec<(usize, usize)>) {
        sides.clear();
        let mut rest = index;
        for stride in &self.stride {
            sides.push(self.sides[rest / stride]);
            rest %= stride;
        }
    }

    /// Box `index` with another side on a column, where it has `from`.
    fn with(&self, index: usize, column: usize, from: (usize, usize), to: (usize, usize)) -> usize {
        index - Self::side(from.0, from.1) * self.stride[column]
            + Self::side(to.0, to.1) * self.stride[column]
    }
}

/// Products of weighted terms and response, summed over the rows of boxes.
///
/// Sums of boxes are made of those of their parts and never by subtraction:
/// relative weights span many orders of magnitude.
struct Gram {
    /// Terms, and the response as the last.
    width: usize,
    numbers: usize,
    sums: Vec<f64>,
    n: Vec<u32>,
}

impl Gram {
    fn numbers(design: &Design<'_>) -> usize {
        (design.terms.len() + 1) * (design.terms.len() + 2) / 2
    }

    /// With the boxes of one cell filled.
    fn new(design: &Design<'_>, boxes: &Boxes, cuts: &Cuts) -> Self {
        let (width, numbers) = (design.terms.len() + 1, Self::numbers(design));
        let mut gram = Self { width, numbers, sums: vec![0.0; boxes.n * numbers], n: vec![0; boxes.n] };
        let mut values = vec![0.0; width];
        for row in 0..design.n() {
            let side = |(axis, cuts): (&Axis, &Vec<usize>)| {
                let cell = cuts.partition_point(|&cut| cut < axis.place[row] as usize);
                Boxes::side(cell, cell)
            };
            let sides = design.axes.iter().zip(cuts).map(side);
            let index: usize = sides.zip(&boxes.stride).map(|(side, stride)| side * stride).sum();
            values.iter_mut().zip(&design.terms).for_each(|(value, term)| *value = term[row]);
            values[width - 1] = design.y[row] * design.weight[row];
            let sums = &mut gram.sums[index * numbers..][..numbers];
            let pairs = (0..width).flat_map(|i| (0..=i).map(move |j| (i, j)));
            sums.iter_mut().zip(pairs).for_each(|(sum, (i, j))| *sum += values[i] * values[j]);
            gram.n[index] += 1;
        }
        gram
    }

    /// Fills a box from two before it.
    fn join(&mut self, index: usize, parts: [usize; 2]) {
        let k = self.numbers;
        let (before, whole) = self.sums.split_at_mut(index * k);
        let [left, right] = parts.map(|part| &before[part * k..][..k]);
        whole[..k].iter_mut().zip(left.iter().zip(right)).for_each(|(sum, (a, b))| *sum = a + b);
        self.n[index] = self.n[parts[0]] + self.n[parts[1]];
    }

    fn product(&self, index: usize, a: usize, b: usize) -> f64 {
        let (high, low) = (a.max(b), a.min(b));
        self.sums[index * self.numbers + high * (high + 1) / 2 + low]
    }

    /// Squared error of a model and how many coefficients it has, by
    /// Cholesky's factors of its products. Terms that depend on earlier ones
    /// are left out.
    fn squared_error(&self, index: usize, model: &[usize], factor: &mut Vec<f64>) -> (f64, usize) {
        let y = self.width - 1;
        let mut error = self.product(index, y, y);
        let mut kept: Vec<usize> = Vec::new();
        factor.clear();
        for &term in model {
            // A row of the lower factor, with that of the response behind.
            let start = factor.len();
            let whole = self.product(index, term, term);
            let mut left = whole;
            let mut with_y = self.product(index, term, y);
            let mut offset = 0;
            for (i, &earlier) in kept.iter().enumerate() {
                let mut x = self.product(index, term, earlier);
                for j in 0..i {
                    x -= factor[start + j] * factor[offset + j];
                }
                x /= factor[offset + i];
                factor.push(x);
                left -= x * x;
                with_y -= x * factor[offset + i + 1];
                offset += i + 2;
            }
            if left <= LEAST_SHARE * whole {
                factor.truncate(start);
                continue;
            }
            let root = left.sqrt();
            factor.extend([root, with_y / root]);
            error -= (with_y / root).powi(2);
            kept.push(term);
        }
        (error.max(0.0), kept.len())
    }
}

/// The least cost over all ways to cut boxes into two, and the parts again.
fn search(design: &Design<'_>, cuts: &Cuts) -> Found {
    let boxes = Boxes::new(cuts);
    let mut gram = Gram::new(design, &boxes, cuts);
    let mut cost = vec![f64::INFINITY; boxes.n];
    let mut choice = vec![Choice::Nothing; boxes.n];
    let (mut sides, mut factor) = (Vec::new(), Vec::new());
    let mut cost_of_one = f64::INFINITY;
    for index in 0..boxes.n {
        boxes.sides_of(index, &mut sides);
        if let Some(j) = sides.iter().position(|(first, last)| first < last) {
            let (first, last) = sides[j];
            let parts = [(first, last - 1), (last, last)].map(|part| boxes.with(index, j, sides[j], part));
            gram.join(index, parts);
        }
        if (gram.n[index] as usize) < design.at_least {
            continue;
        }
        (cost[index], choice[index]) = one_model(design, &gram, index, &mut factor);
        cost_of_one = cost[index];
        let (least, cut) = cut_in_two(design, &boxes, &cost, index, &sides);
        if least < cost[index] - MARGIN {
            (cost[index], choice[index]) = (least, cut);
        }
    }
    let mut leaves = Vec::new();
    let whole = boxes.n - 1;
    if cost[whole].is_finite() {
        collect(design, &boxes, &gram, cuts, &choice, whole, &mut leaves);
    }
    Found { leaves, cost: cost[whole], cost_of_one, exact: false }
}

/// The best model for all of a box.
fn one_model(design: &Design<'_>, gram: &Gram, index: usize, factor: &mut Vec<f64>) -> (f64, Choice) {
    let mut best = (f64::INFINITY, Choice::Nothing);
    for model in 0..design.models.len() {
        let cost = model_cost(design, gram, index, model, factor);
        if cost < best.0 - MARGIN {
            best = (cost, Choice::Model(model));
        }
    }
    best
}

fn model_cost(design: &Design<'_>, gram: &Gram, index: usize, model: usize, factor: &mut Vec<f64>) -> f64 {
    let (error, coefficients) = gram.squared_error(index, &design.models[model], factor);
    if coefficients == 0 {
        return f64::INFINITY;
    }
    let n = f64::from(gram.n[index]);
    let variance = (error / n).max(design.floor);
    let log_likelihood = -n / 2.0 * (2.0 * std::f64::consts::PI * variance).ln() - error / variance / 2.0;
    (coefficients + 1) as f64 * (design.n() as f64).ln() - 2.0 * log_likelihood
}

fn cut_in_two(
    design: &Design<'_>,
    boxes: &Boxes,
    cost: &[f64],
    index: usize,
    sides: &[(usize, usize)],
) -> (f64, Choice) {
    let bound = BOUND * (design.n() as f64).ln();
    let mut best = (f64::INFINITY, Choice::Nothing);
    for (column, &side) in sides.iter().enumerate() {
        for after in side.0..side.1 {
            let left = cost[boxes.with(index, column, side, (side.0, after))];
            let right = cost[boxes.with(index, column, side, (after + 1, side.1))];
            let both = left + right + bound;
            if both < best.0 - MARGIN {
                best = (both, Choice::Cut { column, after });
            }
        }
    }
    best
}

/// The regions of a box, lower values first.
fn collect(
    design: &Design<'_>,
    boxes: &Boxes,
    gram: &Gram,
    cuts: &Cuts,
    choice: &[Choice],
    index: usize,
    leaves: &mut Vec<Leaf>,
) {
    let mut cells = Vec::new();
    boxes.sides_of(index, &mut cells);
    match choice[index] {
        Choice::Nothing => {}
        Choice::Model(model) => {
            let side = |j: usize| {
                let (first, last) = cells[j];
                let end = design.axes[j].distinct.len() - 1;
                let from = if first == 0 { 0 } else { cuts[j][first - 1] + 1 };
                (from, if last + 1 == boxes.cells[j] { end } else { cuts[j][last] })
            };
            let cost = model_cost(design, gram, index, model, &mut Vec::new());
            leaves.push(Leaf { sides: (0..cells.len()).map(side).collect(), model, cost });
        }
        Choice::Cut { column, after } => {
            let (first, last) = cells[column];
            for part in [(first, after), (after + 1, last)] {
                let part = boxes.with(index, column, cells[column], part);
                collect(design, boxes, gram, cuts, choice, part, leaves);
            }
        }
    }
}
