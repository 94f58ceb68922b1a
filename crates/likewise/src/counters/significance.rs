//! Whether groups of values differ, by ranks.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// What is done to values before they are ranked.
///
/// Counters have more digits than mean anything. Two values that are the same for
/// all purposes differ in their low bits, and so do not tie. Repeating a test in
/// coarser units shows whether its answer depends on these bits (Malard, 2005,
/// §4).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Precision {
    /// Nothing.
    #[default]
    Full,
    /// To the nearest multiple of a unit, halves away from 0.
    Rounded(f64),
    /// To the multiple of a unit that is next towards 0.
    Truncated(f64),
}

/// How pairs' p-values account for there being many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjustment {
    /// Holm's step-down method: never less powerful than Bonferroni's.
    #[default]
    Holm,
    /// Each p-value times the number of pairs.
    Bonferroni,
    /// Not at all.
    Unadjusted,
}

/// Why groups cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SignificanceError {
    /// There is nothing to compare with.
    #[error("{0} groups; at least 2 are compared")]
    TooFewGroups(usize),
    /// A group without a value.
    #[error("group {0} (from 0) has no value")]
    EmptyGroup(usize),
    /// The unit is none.
    #[error("the unit is {0}; it must be a positive number")]
    Unit(f64),
    /// A value is infinite, or is so in the unit.
    #[error("value {index} (from 0) of group {group} is infinite, or too large for the unit")]
    NotFinite {
        /// The group.
        group: usize,
        /// Which of its values.
        index: usize,
    },
}

/// Kruskal and Wallis's test of whether all groups come from one
/// distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct KruskalWallis {
    /// The statistic, corrected for ties; 0 where all values are equal.
    pub h: f64,
    /// Groups less one.
    pub freedom: usize,
    /// The chance of as large a statistic if nothing differs, from χ²: close
    /// if groups have five values or more.
    pub p: f64,
    /// 1 − Σ(t³ − t)/(N³ − N) over ties of t values: 1 without ties, 0 where
    /// all are equal.
    pub ties: f64,
    /// How many values each group has.
    pub sizes: Vec<usize>,
    /// The mean rank of each group, from 1; tied values share theirs.
    pub mean_ranks: Vec<f64>,
    /// How many values were missing.
    pub n_missing: usize,
}

/// Two groups compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The groups, the lower first.
    pub groups: (usize, usize),
    /// How far the mean rank of the first is above that of the second, in
    /// standard deviations.
    pub z: f64,
    /// The chance of as large a difference, either way, if there is none.
    pub p: f64,
    /// The same, adjusted for all pairs.
    pub p_adjusted: f64,
}

/// Tests whether the groups' values come from one distribution.
///
/// NaN are missing: they are left out and counted.
///
/// # Errors
/// [`SignificanceError`].
///
/// # Complexity
/// O(N log N), O(N) memory.
///
/// # Reference
/// Kruskal & Wallis, *JASA* 47, 1952. As `scipy.stats.kruskal`; differs where
/// all values are equal: nothing differs, so H = 0 and p = 1, not NaN.
///
/// # Example
/// ```
/// use likewise::counters::significance::{Precision, kruskal_wallis};
///
/// let groups: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], &[1.5, 2.5, 3.5]];
/// let test = kruskal_wallis(&groups, Precision::Full)?;
/// assert_eq!(test.mean_ranks, [3.0, 8.0, 4.0]);
/// assert!((test.h - 5.6).abs() < 1e-12 && (test.p - (-2.8f64).exp()).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn kruskal_wallis(groups: &[&[f64]], precision: Precision) -> Result<KruskalWallis, SignificanceError> {
    if groups.len() < 2 {
        return Err(SignificanceError::TooFewGroups(groups.len()));
    }
    let mut values = prepared(groups, precision)?;
    let mut sizes = vec![0; groups.len()];
    values.iter().for_each(|&(_, group)| sizes[group] += 1);
    if let Some(empty) = sizes.iter().position(|&size| size == 0) {
        return Err(SignificanceError::EmptyGroup(empty));
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let n = values.len() as f64;
    let mut rank_sums = vec![0.0; groups.len()];
    let (mut before, mut tied) = (0, 0.0);
    for tie in values.chunk_by(|a, b| a.0 == b.0) {
        let t = tie.len() as f64;
        let rank = before as f64 + (t + 1.0) / 2.0;
        tie.iter().for_each(|&(_, group)| rank_sums[group] += rank);
        tied += t * (t - 1.0) * (t + 1.0);
        before += tie.len();
    }
    let ties = 1.0 - tied / (n * (n - 1.0) * (n + 1.0));
    let mean_ranks: Vec<f64> = rank_sums.iter().zip(&sizes).map(|(sum, &size)| sum / size as f64).collect();
    let apart = |(mean, &size): (&f64, &usize)| size as f64 * (mean - (n + 1.0) / 2.0).powi(2);
    let between: f64 = mean_ranks.iter().zip(&sizes).map(apart).sum();
    let all_equal = before > 0 && values[0].0 == values[before - 1].0;
    let h = if all_equal { 0.0 } else { 12.0 / (n * (n + 1.0)) * between / ties };
    let freedom = groups.len() - 1;
    let p = ChiSquared::new(freedom as f64).expect("at least one degree of freedom").sf(h);
    let ties = if all_equal { 0.0 } else { ties };
    let n_missing = groups.iter().map(|group| group.len()).sum::<usize>() - before;
    Ok(KruskalWallis { h, freedom, p, ties, sizes, mean_ranks, n_missing })
}

/// Which pairs of groups differ, after [`kruskal_wallis`]: Dunn's test, all
/// pairs in order.
///
/// # Complexity
/// O(k² log k) for k groups.
///
/// # Reference
/// Dunn, *Technometrics* 6(3), 1964; Holm, *Scand. J. Statist.* 6, 1979. As
/// `scikit_posthocs.posthoc_dunn`, two-sided; differs where all values are
/// equal: z = 0 and p = 1.
///
/// # Example
/// ```
/// use likewise::counters::significance::{Adjustment, Precision, dunn, kruskal_wallis};
///
/// let groups: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], &[1.5, 2.5, 3.5]];
/// let pairs = dunn(&kruskal_wallis(&groups, Precision::Full)?, Adjustment::Holm);
/// assert_eq!(pairs[0].groups, (0, 1));
/// // Mean ranks of 3 and 8, five standard errors of 1/√5 apart.
/// assert!((pairs[0].z + 5.0f64.sqrt()).abs() < 1e-12);
/// assert!(pairs[0].p < 0.03 && pairs[0].p_adjusted < 0.08 && pairs[1].p_adjusted > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn dunn(test: &KruskalWallis, adjustment: Adjustment) -> Vec<Pair> {
    let n = test.sizes.iter().sum::<usize>() as f64;
    let variance = n * (n + 1.0) / 12.0 * test.ties;
    let normal = Normal::standard();
    let pair = |(i, j): (usize, usize)| {
        let per_value = 1.0 / test.sizes[i] as f64 + 1.0 / test.sizes[j] as f64;
        let difference = test.mean_ranks[i] - test.mean_ranks[j];
        let z = if variance > 0.0 { difference / (variance * per_value).sqrt() } else { 0.0 };
        let p = (2.0 * normal.sf(z.abs())).min(1.0);
        Pair { groups: (i, j), z, p, p_adjusted: p }
    };
    let k = test.sizes.len();
    let mut pairs: Vec<Pair> = (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j))).map(pair).collect();
    let p: Vec<f64> = pairs.iter().map(|pair| pair.p).collect();
    pairs.iter_mut().zip(adjusted(&p, adjustment)).for_each(|(pair, p)| pair.p_adjusted = p);
    pairs
}

/// p-values of several tests, adjusted for there being so many; in order.
///
/// # Complexity
/// O(m log m) for m of them.
#[must_use]
pub fn adjusted(p: &[f64], adjustment: Adjustment) -> Vec<f64> {
    let m = p.len();
    match adjustment {
        Adjustment::Unadjusted => p.to_vec(),
        Adjustment::Bonferroni => p.iter().map(|p| (p * m as f64).min(1.0)).collect(),
        Adjustment::Holm => {
            let mut order: Vec<usize> = (0..m).collect();
            order.sort_by(|&a, &b| p[a].total_cmp(&p[b]).then(a.cmp(&b)));
            let (mut greatest, mut adjusted) = (0.0_f64, vec![0.0; m]);
            for (i, &index) in order.iter().enumerate() {
                greatest = greatest.max(p[index] * (m - i) as f64).min(1.0);
                adjusted[index] = greatest;
            }
            adjusted
        }
    }
}

/// Values that are there, in their unit, with their group.
fn prepared(groups: &[&[f64]], precision: Precision) -> Result<Vec<(f64, usize)>, SignificanceError> {
    if let Precision::Rounded(unit) | Precision::Truncated(unit) = precision
        && !(unit > 0.0 && unit.is_finite())
    {
        return Err(SignificanceError::Unit(unit));
    }
    let mut values = Vec::with_capacity(groups.iter().map(|group| group.len()).sum());
    for (group, &all) in groups.iter().enumerate() {
        for (index, &value) in all.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            let value = match precision {
                Precision::Full => value,
                Precision::Rounded(unit) => in_units(value, unit).round(),
                Precision::Truncated(unit) => in_units(value, unit).trunc(),
            };
            if !value.is_finite() {
                return Err(SignificanceError::NotFinite { group, index });
            }
            // Adding 0 makes one value of both zeros.
            values.push((value + 0.0, group));
        }
    }
    Ok(values)
}

/// A value over its unit. Both are rounded, and so is what is divided: 0.3 / 0.1 is below 3.
/// What is as near to a whole number or a half as that makes it is taken as this.
fn in_units(value: f64, unit: f64) -> f64 {
    let units = value / unit;
    let near = (2.0 * units).round() / 2.0;
    // Three times half of the last bit, and less than four.
    if (units - near).abs() <= 2.0 * f64::EPSILON * units.abs() { near } else { units }
}

#[cfg(test)]
mod tests;
