//! A response against the Pareto rank of its record, group by group.

/// The records of one group that have both a rank and a response.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupByRank {
    /// How many they are.
    pub n: usize,
    /// How far the response rises with the rank, −1 to 1 (Spearman's ρ, ties
    /// share their mean rank); `None` where either does not vary.
    pub spearman: Option<f64>,
    /// Each rank that a record of the group has, ascending.
    pub ranks: Vec<AtRank>,
}

/// The responses of one group's records of one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtRank {
    /// The Pareto rank.
    pub rank: u32,
    /// How many records.
    pub n: usize,
    /// The least response.
    pub min: f64,
    /// The middle one, or the mean of both middle ones.
    pub median: f64,
    /// The greatest.
    pub max: f64,
}

/// Sums up `response` by rank in each of `n_groups` groups. `ranks`, `response`
/// and `group` have an entry per record; records without a rank, a response
/// (NaN) or a group are left out.
///
/// # Panics
/// If the three differ in length, or a group is not below `n_groups`.
///
/// # Complexity
/// O(n log n), O(n) memory.
///
/// # Reference
/// Malard, *A role for Pareto optimality in mining performance data*, 2005,
/// figures 5 and 6: records of low rank have uniform times, spikes come with
/// higher ranks. The paper shows the points; the figures by rank and ρ are ours.
#[must_use]
pub fn response_by_rank(
    ranks: &[Option<u32>],
    response: &[f64],
    group: &[Option<usize>],
    n_groups: usize,
) -> Vec<GroupByRank> {
    assert!(ranks.len() == response.len() && ranks.len() == group.len(), "an entry per record");
    let mut members: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n_groups];
    for ((rank, &value), group) in ranks.iter().zip(response).zip(group) {
        if let (Some(rank), Some(group), false) = (rank, group, value.is_nan()) {
            members[*group].push((*rank, value));
        }
    }
    members.into_iter().map(of_group).collect()
}

fn of_group(mut members: Vec<(u32, f64)>) -> GroupByRank {
    members.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let at_rank = |same: &[(u32, f64)]| {
        let (n, value) = (same.len(), |at: usize| same[at].1);
        let median = f64::midpoint(value((n - 1) / 2), value(n / 2));
        AtRank { rank: same[0].0, n, min: value(0), median, max: value(n - 1) }
    };
    let ranks = members.chunk_by(|a, b| a.0 == b.0).map(at_rank).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = members.iter().map(|&(rank, value)| (f64::from(rank), value)).unzip();
    GroupByRank { n: members.len(), spearman: spearman(&x, &y), ranks }
}

/// The correlation of the ranks of `x` and `y`, which have no NaN; `None` where
/// either does not vary.
fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let (x, y) = (mid_ranks(x), mid_ranks(y));
    // Twice the ranks, less their mean: whole numbers, so sums are exact.
    let middle = (x.len() + 1) as i64;
    let product = |a: &[i64], b: &[i64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| i128::from(a - middle) * i128::from(b - middle)).sum::<i128>() as f64
    };
    let varies = product(&x, &x) * product(&y, &y);
    (varies > 0.0).then(|| (product(&x, &y) / varies.sqrt()).clamp(-1.0, 1.0))
}

/// Twice the rank of each value, from 2; equal ones share the mean of theirs.
fn mid_ranks(values: &[f64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut before = 0;
    for tie in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = (2 * before + tie.len() + 1) as i64;
        tie.iter().for_each(|&at| ranks[at] = rank);
        before += tie.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `tests/oracle/spearman.py`: lines `x`, `y` and `rho` by SciPy.
    #[test]
    fn equals_scipy() {
        let lines: Vec<Vec<f64>> = include_str!("../../tests/oracle/spearman.csv")
            .lines()
            .map(|line| line.split(',').skip(1).map(|x| x.parse().expect("a number")).collect())
            .collect();
        assert_eq!(lines.len(), 3 * 12);
        for case in lines.chunks(3) {
            let found = spearman(&case[0], &case[1]).expect("both vary");
            assert!((found - case[2][0]).abs() < 1e-12, "{found} is not {}", case[2][0]);
        }
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        let none = [Some(0); 3];
        let all = response_by_rank(&[Some(1), Some(1), None], &[2.0, 5.0, 9.0], &none, 2);
        assert_eq!((all[0].n, all[0].spearman, all[0].ranks.len()), (2, None, 1));
        assert_eq!(all[0].ranks[0], AtRank { rank: 1, n: 2, min: 2.0, median: 3.5, max: 5.0 });
        assert_eq!(all[1], GroupByRank { n: 0, spearman: None, ranks: Vec::new() });
        let rising = response_by_rank(&[Some(0), Some(3), Some(9)], &[-1.0, 0.5, 0.6], &none, 1);
        assert_eq!(rising[0].spearman, Some(1.0));
    }

    proptest! {
        #[test]
        fn equals_the_definitions(
            records in prop::collection::vec(
                (prop::option::weighted(0.9, 0u32..5), prop_oneof![9 => (-3i8..4).prop_map(f64::from), 1 => Just(f64::NAN)],
                 prop::option::weighted(0.9, 0usize..3)), 0..60)
        ) {
            let ranks: Vec<_> = records.iter().map(|r| r.0).collect();
            let response: Vec<_> = records.iter().map(|r| r.1).collect();
            let group: Vec<_> = records.iter().map(|r| r.2).collect();
            let found = response_by_rank(&ranks, &response, &group, 3);
            for (g, found) in found.iter().enumerate() {
                let mine: Vec<(u32, f64)> = records
                    .iter()
                    .filter(|r| r.2 == Some(g) && r.0.is_some() && !r.1.is_nan())
                    .map(|r| (r.0.unwrap(), r.1))
                    .collect();
                prop_assert_eq!(found.n, mine.len());
                prop_assert_eq!(found.ranks.iter().map(|r| r.n).sum::<usize>(), mine.len());
                prop_assert!(found.ranks.is_sorted_by(|a, b| a.rank < b.rank));
                for at in &found.ranks {
                    let mut values: Vec<f64> = mine.iter().filter(|m| m.0 == at.rank).map(|m| m.1).collect();
                    values.sort_by(f64::total_cmp);
                    let n = values.len();
                    let median = if n % 2 == 1 { values[n / 2] } else { (values[n / 2 - 1] + values[n / 2]) / 2.0 };
                    prop_assert_eq!((at.n, at.min, at.median, at.max), (n, values[0], median, values[n - 1]));
                }
                // Ranks by counting, their correlation by the book.
                let count = |test: &dyn Fn(&(u32, f64)) -> bool| mine.iter().filter(|m| test(m)).count() as f64;
                let x: Vec<f64> = mine.iter().map(|m| count(&|o| o.0 < m.0) + count(&|o| o.0 == m.0) / 2.0).collect();
                let y: Vec<f64> = mine.iter().map(|m| count(&|o| o.1 < m.1) + count(&|o| o.1 == m.1) / 2.0).collect();
                let n = mine.len() as f64;
                let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
                let (mx, my) = (mean(&x), mean(&y));
                let product = |a: &[f64], b: &[f64], ma: f64, mb: f64| -> f64 { a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum() };
                let varies = product(&x, &x, mx, mx) * product(&y, &y, my, my);
                match found.spearman {
                    None => prop_assert!(mine.is_empty() || varies < 1e-9),
                    Some(rho) => prop_assert!((rho - product(&x, &y, mx, my) / varies.sqrt()).abs() < 1e-9),
                }
            }
        }
    }
}
