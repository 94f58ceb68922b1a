//! Factors turned until each column loads on few of them.

use super::{Factor, oriented};

/// Sweeps over all pairs of factors, at most. Factors of groups take about 5,
/// pure noise some hundred.
const MAX_SWEEPS: usize = 1000;
/// A slope of the criterion, per column, that rounding alone could make.
const FLAT: f64 = 1e-13;
/// Columns whose loadings are below this share of the largest column's are
/// rounding, and would be made as long as all others.
const NEGLIGIBLE: f64 = 1e-12;
/// How far above 1 an eigenvalue is that is not 1 but for rounding.
const ABOVE_ONE: f64 = 1.0 + 1e-9;

/// A factor after rotation.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotated {
    /// The sum of squared loadings, divided by the number of columns: the
    /// share of their variance. All together they are what the factors
    /// explained before, where [`Loadings::clipped`](super::Loadings::clipped)
    /// is 0; [`Factor::explained`] is divided by what remains after clipping.
    pub explained: f64,
    /// One per column. The entry of largest magnitude is positive; the first
    /// of those equal within 10⁻⁹.
    pub loadings: Vec<f64>,
}

/// How many factors are worth rotating: those with an eigenvalue above 1, which
/// explain more than one column does, but at least one of those there are.
///
/// This is a convention, not a test: of columns that have nothing to do with one
/// another, nearly half the eigenvalues are above 1. `factors` are in descending
/// order, as [`factor_loadings`](super::factor_loadings) gives them.
///
/// # Reference
/// Kaiser, *Educational and Psychological Measurement* 20, 1960. Differs:
/// eigenvalues within 10⁻⁹ of 1 are not above it.
#[must_use]
pub fn n_above_one(factors: &[Factor]) -> usize {
    let above = factors.iter().take_while(|factor| factor.eigenvalue > ABOVE_ONE).count();
    above.max(1).min(factors.len())
}

/// Rotates factors so that the squared loadings on each vary as much as
/// possible (varimax): large on few columns, small on all others.
///
/// The factors stay uncorrelated, and explain as much of every column as
/// before, but none of them is a principal component any more. One factor is
/// left as it is. Which factors are given decides what is found: leave out those
/// that are noise, see [`n_above_one`].
///
/// # Returns
/// As many factors as given, by descending share of variance.
///
/// # Panics
/// If factors have unlike numbers of loadings.
///
/// # Complexity
/// O(sweeps·m·k²) for m columns and k factors, O(m·k) memory.
///
/// # Reference
/// Kaiser, *Psychometrika* 23, 1958: the best angle of every pair of factors in
/// turn, until none changes, of loadings divided by the root of their column's
/// communality ("normal" varimax). Differs: columns that no factor explains stay
/// 0 and do not count; a pair that no angle improves beyond rounding is left
/// alone; roots instead of arcs, so that all machines agree. As of any such
/// method, the maximum found is that of every pair, and may not be that of all.
///
/// # Example
/// ```
/// use likewise::counters::Column;
/// use likewise::counters::loadings::{factor_loadings, n_above_one, varimax};
///
/// // Two pairs of columns that say the same: any two directions in the plane of
/// // both are principal components, and varimax takes those along the pairs.
/// let (a, b) = ([1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]);
/// let columns = [("a", &a), ("2", &a), ("b", &b), ("4", &b)];
/// let columns = columns.map(|(name, values)| Column { name, values });
/// let factors = factor_loadings(&columns)?.factors;
/// let turned = varimax(&factors[..n_above_one(&factors)]);
/// let rounded = |i: usize| turned[i].loadings.iter().map(|x| x.round() as i32).collect::<Vec<_>>();
/// let mut found = [rounded(0), rounded(1)];
/// found.sort();
/// assert_eq!(found, [[0, 0, 1, 1], [1, 1, 0, 0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn varimax(factors: &[Factor]) -> Vec<Rotated> {
    let mut turned = turnable(factors);
    let mut sweeps = 0;
    while sweeps < MAX_SWEEPS && sweep(&mut turned) {
        sweeps += 1;
    }
    let rotated = |Turned { loadings, .. }: Turned| {
        let squares: f64 = loadings.iter().map(|x| x * x).sum();
        Rotated { explained: squares / loadings.len().max(1) as f64, loadings: oriented(loadings) }
    };
    let mut rotated: Vec<Rotated> = turned.into_iter().map(rotated).collect();
    // Stable: equal ones stay in the order in which they were given.
    rotated.sort_by(|a, b| b.explained.total_cmp(&a.explained));
    rotated
}

struct Turned {
    loadings: Vec<f64>,
    /// Those of the columns that count, which have communality 1.
    normal: Vec<f64>,
}

fn turnable(factors: &[Factor]) -> Vec<Turned> {
    let m = factors.first().map_or(0, |factor| factor.loadings.len());
    assert!(factors.iter().all(|factor| factor.loadings.len() == m), "{m} loadings on every factor");
    let length = |j: usize| factors.iter().map(|factor| factor.loadings[j].powi(2)).sum::<f64>().sqrt();
    let lengths: Vec<f64> = (0..m).map(length).collect();
    let least = NEGLIGIBLE * lengths.iter().copied().fold(0.0, f64::max);
    let turned = |factor: &Factor| {
        let counted = factor.loadings.iter().zip(&lengths).filter(|&(_, &length)| length > least);
        let normal = counted.map(|(x, length)| x / length).collect();
        Turned { loadings: factor.loadings.clone(), normal }
    };
    factors.iter().map(turned).collect()
}

/// Turns every pair of factors to its best angle; whether any was not there.
fn sweep(factors: &mut [Turned]) -> bool {
    let mut any = false;
    for second in 1..factors.len() {
        let (before, rest) = factors.split_at_mut(second);
        let y = &mut rest[0];
        for x in before {
            if let Some(angle) = best_turn(&x.normal, &y.normal) {
                any = true;
                turn(&mut x.normal, &mut y.normal, angle);
                turn(&mut x.loadings, &mut y.loadings, angle);
            }
        }
    }
    any
}

/// An angle, without its size.
#[derive(Clone, Copy)]
struct Angle {
    cos: f64,
    sin: f64,
}

impl Angle {
    /// The half of an angle from −π to π.
    fn half(self) -> Self {
        // The root of the larger one: the other would be a small difference.
        let root = f64::midpoint(1.0, self.cos.abs()).sqrt();
        let other = self.sin / (2.0 * root);
        if self.cos >= 0.0 {
            Self { cos: root, sin: other }
        } else {
            Self { cos: other.abs(), sin: root.copysign(self.sin) }
        }
    }
}

/// The angle φ that maximises the criterion in the plane of two factors;
/// nothing where they are there already.
///
/// With u = x² − y² and v = 2xy, the criterion is a constant and half the
/// variance of u·cos 2φ + v·sin 2φ; that is a constant and half of
/// (var u − var v)·cos 4φ + 2·cov(u, v)·sin 4φ.
fn best_turn(x: &[f64], y: &[f64]) -> Option<Angle> {
    let m = x.len().max(1) as f64;
    let [mut u_sum, mut v_sum, mut difference, mut product] = [0.0; 4];
    for (x, y) in x.iter().zip(y) {
        let (u, v) = (x * x - y * y, 2.0 * x * y);
        u_sum += u;
        v_sum += v;
        difference += u * u - v * v;
        product += u * v;
    }
    let (u_mean, v_mean) = (u_sum / m, v_sum / m);
    let cos = difference / m - (u_mean * u_mean - v_mean * v_mean);
    let sin = 2.0 * (product / m - u_mean * v_mean);
    if sin.abs() <= FLAT && cos >= -FLAT {
        return None;
    }
    let size = (cos * cos + sin * sin).sqrt();
    Some(Angle { cos: cos / size, sin: sin / size }.half().half())
}

fn turn(x: &mut [f64], y: &mut [f64], Angle { cos, sin }: Angle) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (*x * cos + *y * sin, *y * cos - *x * sin);
    }
}

#[cfg(test)]
mod tests;
