//! Whether the best model of a region fits at all.

use super::{Fitted, STRAY, coefficients_of};
use crate::counters::clock::step_of;
use likewise::counters::regimes::{Formula, Noise, Regimes, Region};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Repetitions that agree on another time than the model has count only if so many of them
/// would by chance in less than one region of a thousand. One test is made of each region, and
/// there are few.
const CHANCE: f64 = 1e-3;

/// A coefficient is below 0 if it is by so many standard errors. By chance one of 0 is, of ten
/// points and two unknowns, in less than one region of a hundred, of many points in one of a
/// thousand.
const BELOW: f64 = 3.0;

/// What speaks against the model of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// At so many points all repetitions lie on one side of the model.
    OneSided {
        /// How many points these are.
        points: usize,
        /// How many points have repetitions.
        of: usize,
    },
    /// A latency or the reciprocal of a bandwidth is below 0: the model may fit, but this is
    /// none. (Where a region does not begin at length 0, a latency is only where its line
    /// would end.)
    Negative {
        /// Its name in the formula.
        unknown: String,
    },
}

/// The share of points that may be far from a model that fits: measured while something else
/// ran, they draw the fit away from all others.
const FEW: f64 = 0.25;

/// Rounds of leaving out the farthest points and fitting the others again.
const ROUNDS: usize = 5;

impl Misfit {
    /// Whether it says that the model does not fit.
    #[must_use]
    pub fn is_of_fit(&self) -> bool {
        matches!(self, Misfit::OneSided { .. })
    }
}

/// What was measured, and where.
pub(in crate::counters) struct Measured<'m> {
    /// The response, row by row.
    pub(in crate::counters) response: &'m [f64],
    /// Rows with the same parameters have the same number here.
    pub(in crate::counters) cells: &'m [Option<usize>],
    /// How it strays.
    pub(in crate::counters) noise: Noise,
    /// Whether it is known to be a time.
    pub(in crate::counters) is_time: bool,
}

/// What speaks against the models, region by region.
pub(in crate::counters) fn misfits(
    measured: &Measured<'_>,
    fitted: &Fitted,
    models: &[Formula],
    found: &Regimes,
) -> Vec<Vec<Misfit>> {
    let modelled = fitted.modelled(models, found);
    let of = |(at, region): (usize, &Region)| {
        let of_region = |point: usize| found.labels[point] == Some(at as u32);
        let points: Vec<usize> = (0..modelled.len()).filter(|&point| of_region(point)).collect();
        let here = points.iter().map(|&point| (point, modelled[point])).collect();
        let one_sided = measured.one_sided(fitted, &here);
        let one_sided = one_sided.filter(|_| {
            let most = measured.without_few(fitted, &models[region.model], here);
            measured.one_sided(fitted, &most).is_some()
        });
        let negative = measured.is_time.then(|| negative(region)).flatten();
        one_sided.into_iter().chain(negative).collect()
    };
    found.regions.iter().enumerate().map(of).collect()
}

/// Points and what a model has for them.
type Modelled = Vec<(usize, f64)>;

impl Measured<'_> {
    /// Whether repetitions and points are far from a model.
    fn one_sided(&self, fitted: &Fitted, modelled: &Modelled) -> Option<Misfit> {
        // NaN is no stray that is known.
        if self.stray(fitted, modelled).partial_cmp(&STRAY) != Some(Ordering::Greater) {
            return None;
        }
        // What is nearer to the model than a step of the clock agrees with it.
        let step = step_of(self.response);
        let of_point: BTreeMap<usize, f64> = modelled.iter().copied().collect();
        let mut cells: BTreeMap<usize, Cell> = BTreeMap::new();
        for (row, &y) in self.response.iter().enumerate() {
            let (Some(point), Some(cell)) = (fitted.of_row[row], self.cells[row]) else { continue };
            let Some(model) = of_point.get(&point) else { continue };
            let cell = cells.entry(cell).or_default();
            cell.n += 1;
            cell.above += usize::from(y - model > step);
            cell.below += usize::from(model - y > step);
        }
        one_sided(&cells.into_values().filter(|cell| cell.n > 1).collect::<Vec<_>>())
    }

    /// How far points stray from the model: as a share of it, or of the response as a whole
    /// where noise is absolute.
    fn stray(&self, fitted: &Fitted, modelled: &Modelled) -> f64 {
        let (far, all) = modelled.iter().fold((0.0, 0.0), |(far, all), &(point, model)| {
            let y = fitted.response[point];
            match self.noise {
                Noise::Relative => (far + (y / model - 1.0).powi(2), all + 1.0),
                Noise::Absolute => (far + (y - model).powi(2), all + y * y),
            }
        });
        if all > 0.0 { (far / all).sqrt() } else { 0.0 }
    }

    /// The model fitted to all points but the few that are farthest from it (concentration
    /// steps of least trimmed squares: Rousseeuw & Van Driessen, 2006).
    fn without_few(&self, fitted: &Fitted, model: &Formula, mut modelled: Modelled) -> Modelled {
        let n = modelled.len() - (FEW * modelled.len() as f64) as usize;
        for round in 0..=ROUNDS {
            let far = |&(point, model): &(usize, f64)| match self.noise {
                Noise::Relative => (fitted.response[point] / model - 1.0).abs(),
                Noise::Absolute => (fitted.response[point] - model).abs(),
            };
            modelled.sort_by(|a, b| far(a).total_cmp(&far(b)).then(a.0.cmp(&b.0)));
            // A model that is not positive says nothing of shares of it.
            let is_positive = modelled[..n].iter().all(|&(_, value)| value > 0.0);
            if round < ROUNDS && (is_positive || matches!(self.noise, Noise::Absolute)) {
                let coefficients = self.refitted(fitted, model, &modelled[..n]);
                modelled
                    .iter_mut()
                    .for_each(|(point, value)| *value = model.value(&coefficients, &fitted.at(*point)));
            }
        }
        modelled.truncate(n);
        modelled
    }

    /// The coefficients of a model of these points alone. Errors are divided by what the round
    /// before made of them where noise is relative.
    fn refitted(&self, fitted: &Fitted, model: &Formula, kept: &[(usize, f64)]) -> Vec<f64> {
        let weight = |modelled: f64| match self.noise {
            Noise::Relative => 1.0 / modelled,
            Noise::Absolute => 1.0,
        };
        let n = model.unknowns().count();
        let term = |of: usize| -> Vec<f64> {
            let unit: Vec<f64> = (0..n).map(|other| f64::from(u8::from(other == of))).collect();
            let value =
                |&(point, modelled): &(usize, f64)| model.value(&unit, &fitted.at(point)) * weight(modelled);
            kept.iter().map(value).collect()
        };
        let y: Vec<f64> =
            kept.iter().map(|&(point, modelled)| fitted.response[point] * weight(modelled)).collect();
        solved(&(0..n).map(term).collect::<Vec<_>>(), &y)
    }
}

/// A column of which less remains beside the others depends on them.
const DEPENDS: f64 = 1e-9;

/// Least squares by the normal equations of columns of length 1; 0 for one that depends on those
/// before it. Eight digits are enough to tell which points are far.
fn solved(columns: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let n = columns.len();
    let sizes: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt().max(f64::MIN_POSITIVE)).collect();
    let of = |i: usize| -> Vec<f64> {
        let products = (0..n).map(|j| dot(&columns[i], &columns[j]) / sizes[i] / sizes[j]);
        products.chain([dot(&columns[i], y) / sizes[i]]).collect()
    };
    let mut rows: Vec<Vec<f64>> = (0..n).map(of).collect();
    let mut coefficients = vec![0.0; n];
    let kept: Vec<usize> = (0..n).filter(|&at| eliminated(&mut rows, at)).collect();
    kept.iter().for_each(|&at| coefficients[at] = rows[at][n] / rows[at][at] / sizes[at]);
    coefficients
}

/// Takes an unknown out of all equations but its own, if it has one.
fn eliminated(rows: &mut [Vec<f64>], at: usize) -> bool {
    let own = rows[at].clone();
    if own[at].is_nan() || own[at] < DEPENDS {
        return false;
    }
    for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != at) {
        let factor = row[at] / own[at];
        row.iter_mut().zip(&own).for_each(|(x, own)| *x -= factor * own);
    }
    true
}

/// The rows with the same parameters.
#[derive(Clone, Copy, Default)]
struct Cell {
    n: usize,
    /// Rows above the model, and below it.
    above: usize,
    below: usize,
}

/// If the model were right, each repetition would be above it as often as below. Then all n of a
/// point are on one side with probability 2^(1 − n). So neither a few times that are far too
/// long nor noise that differs from point to point speak against a model.
///
/// Hoeffding's bound (*JASA* 58, 1963, theorem 1) holds for probabilities that differ from
/// point to point.
fn one_sided(cells: &[Cell]) -> Option<Misfit> {
    let n = cells.len() as f64;
    let points = cells.iter().filter(|cell| cell.above == cell.n || cell.below == cell.n).count();
    let share = points as f64 / n;
    let expected = cells.iter().map(|cell| 0.5f64.powi(cell.n as i32 - 1)).sum::<f64>() / n;
    // Where most points agree with the model, it fits but for a few.
    if cells.is_empty() || share <= expected.max(0.5) {
        return None;
    }
    let apart = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    let chance = (-n * (apart(share, expected) + apart(1.0 - share, 1.0 - expected))).exp();
    (chance < CHANCE).then_some(Misfit::OneSided { points, of: cells.len() })
}

/// A latency, or the reciprocal of a bandwidth, that is surely below 0.
fn negative(region: &Region) -> Option<Misfit> {
    let names = ["tau", "τ", "lambda", "λ"];
    let is_below = |name: &&str| {
        let mut of = region.coefficients.iter().filter(|c| c.name == **name);
        of.any(|c| c.estimate.is_some_and(|of| of.value < -BELOW * of.std_error))
    };
    names.into_iter().find(is_below).map(|name| Misfit::Negative { unknown: name.to_owned() })
}

impl Fitted {
    /// The parameters of a point.
    fn at(&self, point: usize) -> Vec<f64> {
        self.columns.iter().map(|column| column[point]).collect()
    }

    /// What the model of its region makes of each point; NaN if it has no region.
    pub(in crate::counters) fn modelled(&self, models: &[Formula], found: &Regimes) -> Vec<f64> {
        let coefficients: Vec<Vec<f64>> = found.regions.iter().map(coefficients_of).collect();
        let of = |point: usize| {
            let Some(region) = found.labels[point] else { return f64::NAN };
            models[found.regions[region as usize].model]
                .value(&coefficients[region as usize], &self.at(point))
        };
        (0..self.response.len()).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(n: usize, sides: &[(usize, usize)]) -> Option<Misfit> {
        let cells: Vec<Cell> = sides.iter().map(|&(above, below)| Cell { n, above, below }).collect();
        one_sided(&cells)
    }

    #[test]
    fn least_squares_are_solved() {
        let (one, x) = (vec![1.0; 4], vec![1.0, 2.0, 3.0, 4.0]);
        let y: Vec<f64> = x.iter().map(|x| 5e-6 + 2e-9 * x).collect();
        let found = solved(&[one.clone(), x.clone(), vec![2.0; 4], vec![0.0; 4]], &y);
        assert!((found[0] / 5e-6 - 1.0).abs() < 1e-8 && (found[1] / 2e-9 - 1.0).abs() < 1e-4, "{found:?}");
        assert_eq!(found[2..], [0.0, 0.0]);
        // The mean of what strays.
        assert!((solved(&[one], &x)[0] - 2.5).abs() < 1e-12);
    }

    #[test]
    fn repetitions_on_one_side_speak_against_a_model() {
        assert_eq!(cells(3, &[(3, 0); 13]), Some(Misfit::OneSided { points: 13, of: 13 }));
        // One time that is far too long in a third of the points.
        let with_strays = [[(0, 5); 4], [(5, 0); 4], [(1, 4); 4]].concat();
        assert_eq!(cells(5, &with_strays), Some(Misfit::OneSided { points: 8, of: 12 }));
        assert_eq!(cells(5, &[(3, 2); 40]), None);
        // Of two repetitions half are on one side by chance.
        assert_eq!(cells(2, &[vec![(2, 0); 12], vec![(1, 1); 8]].concat()), None);
        assert_eq!(cells(2, &[(0, 2); 9]), None);
        assert_eq!(cells(2, &[(0, 2); 10]), Some(Misfit::OneSided { points: 10, of: 10 }));
        // Most points agree with the model.
        assert_eq!(cells(9, &[vec![(9, 0); 19], vec![(5, 4); 21]].concat()), None);
        assert_eq!(cells(5, &[]), None);
    }
}
