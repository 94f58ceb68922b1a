//! Which columns differ between groups of rows, in files and in words.

use crate::Usage;
use anyhow::{Result, bail};
use likewise::counters::significance::{
    Adjustment, KruskalWallis, Pair, Precision, SignificanceError, adjusted, dunn, kruskal_wallis,
};
use likewise::median;
use likewise::words::{counted, short};
use likewise_trace::{Cells, Column, ColumnTable};
use std::collections::BTreeMap;

/// The most groups that are compared: the number of their pairs grows with the
/// square.
const MAX_GROUPS: usize = 200;
/// The p-value below which something is said to differ.
const LEVEL: f64 = 0.05;

/// The column of our own tables that holds the number of a cluster, or why
/// there is none.
const LABEL: &str = "cluster";

/// What of each column differs between groups.
#[derive(Clone, Debug)]
pub struct Significance {
    /// The column that says which group a row is of.
    pub by: String,
    /// By descending effect.
    pub tests: Vec<Test>,
    /// Columns that cannot be tested.
    pub untested: Vec<String>,
    /// Columns of which each group has one value: whatever these are, the test gives the same.
    pub single: Vec<String>,
    /// Rows without a group, and all rows.
    pub without: (usize, usize),
}

/// The tests of one column.
#[derive(Clone, Debug)]
pub struct Test {
    /// The column.
    pub name: String,
    /// What is tested: groups with a value.
    pub groups: Vec<String>,
    /// The test of Kruskal and Wallis.
    pub test: KruskalWallis,
    /// Adjusted for all columns, by Holm.
    pub p_adjusted: f64,
    /// Dunn's test of every two groups.
    pub pairs: Vec<Pair>,
    /// The same of the values as they stand, where the test is of rounded or
    /// truncated ones.
    pub exact: Option<Exact>,
}

/// The test of a column in all its digits.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// The statistic.
    pub h: f64,
    /// Its p-value.
    pub p: f64,
    /// Adjusted for all columns, by Holm.
    pub p_adjusted: f64,
}

impl Test {
    /// Whether its groups differ in all digits.
    fn differs_exactly(&self) -> bool {
        self.exact.map_or(self.p_adjusted, |exact| exact.p_adjusted) < LEVEL
    }

    /// Rows that have a value and a group.
    pub fn rows(&self) -> usize {
        self.test.sizes.iter().sum()
    }

    /// ε², from 0 to 1: how much of the ranks' variance the groups explain.
    pub fn effect(&self) -> f64 {
        self.test.h / (self.rows() as f64 - 1.0)
    }

    /// Pairs of groups that differ.
    pub fn differing(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.p_adjusted < LEVEL).count()
    }

    /// The groups of the least and of the greatest mean rank.
    pub fn ends(&self) -> (&str, &str) {
        let ranks = &self.test.mean_ranks;
        let by = |a: &usize, b: &usize| ranks[*a].total_cmp(&ranks[*b]).then(b.cmp(a));
        let least = (0..ranks.len()).min_by(|a, b| ranks[*a].total_cmp(&ranks[*b]));
        let greatest = (0..ranks.len()).max_by(by);
        (&self.groups[least.unwrap_or(0)], &self.groups[greatest.unwrap_or(0)])
    }
}

/// Tests the columns that are named.
///
/// # Errors
/// There are too few groups or too many, or a value is infinite.
pub(super) fn significance(
    table: &ColumnTable,
    by: &str,
    names: &[String],
    precision: impl Fn(&str) -> Precision,
) -> Result<Significance> {
    let Some(column) = table.columns.iter().find(|column| column.name == by) else {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).take(20).collect();
        return Err(Usage(format!("the table has no column '{by}'; there are: {}", names.join(", "))).into());
    };
    let (groups, of_row) = groups(column);
    match groups.len() {
        0 | 1 if by == LABEL => {
            bail!("column '{by}' has no two clusters, which are numbers: nothing to compare")
        }
        0 | 1 => bail!("column '{by}' has no two different values: there is nothing to compare"),
        n if n > MAX_GROUPS => {
            bail!("column '{by}' has {n} different values; at most {MAX_GROUPS} groups are compared")
        }
        _ => {}
    }
    let without = (of_row.iter().filter(|group| group.is_none()).count(), of_row.len());
    let (mut tests, mut untested, mut single) = (Vec::new(), Vec::new(), Vec::new());
    for (name, values) in table.numbers().filter(|(name, _)| *name != by && names.iter().any(|n| n == name)) {
        let (known, sorted) = sorted(values, groups.len(), &of_row);
        let values: Vec<&[f64]> = sorted.iter().map(Vec::as_slice).collect();
        if values.len() > 1 && values.iter().all(|group| group.len() == 1) {
            single.push(name.to_owned());
            continue;
        }
        let test = match kruskal_wallis(&values, precision(name)) {
            Ok(test) => test,
            Err(SignificanceError::TooFewGroups(_)) => {
                untested.push(name.to_owned());
                continue;
            }
            Err(error) => bail!("'{name}' by '{by}': {error}"),
        };
        let pairs = dunn(&test, Adjustment::Holm);
        let exact = (precision(name) != Precision::Full).then(|| kruskal_wallis(&values, Precision::Full));
        let exact = exact.transpose()?.map(|KruskalWallis { h, p, .. }| Exact { h, p, p_adjusted: p });
        let groups = known.iter().map(|&group| groups[group].clone()).collect();
        tests.push(Test { name: name.to_owned(), groups, p_adjusted: test.p, test, pairs, exact });
    }
    let exact: Vec<f64> = tests.iter().map(|test| test.exact.map_or(test.test.p, |exact| exact.p)).collect();
    for (test, p) in tests.iter_mut().zip(adjusted(&exact, Adjustment::Holm)) {
        test.exact.iter_mut().for_each(|exact| exact.p_adjusted = p);
    }
    let all: Vec<f64> = tests.iter().map(|test| test.test.p).collect();
    tests.iter_mut().zip(adjusted(&all, Adjustment::Holm)).for_each(|(test, p)| test.p_adjusted = p);
    tests.sort_by(|a, b| b.effect().total_cmp(&a.effect()));
    Ok(Significance { by: by.to_owned(), tests, untested, single, without })
}

/// The groups, in the order in which they appear, and the group of each row. A
/// row has none if its cell is empty or, in a column of clusters, is `noise` or
/// another word.
pub(super) fn groups(column: &Column) -> (Vec<String>, Vec<Option<usize>>) {
    let texts: Vec<Option<String>> = match &column.cells {
        Cells::Texts(texts) => {
            let is_group =
                |text: &String| !text.is_empty() && (column.name != LABEL || text.parse::<u64>().is_ok());
            texts.iter().map(|text| Some(text.clone()).filter(is_group)).collect()
        }
        // Adding 0 makes one group of both zeros.
        Cells::Numbers(numbers) => {
            numbers.iter().map(|x| (!x.is_nan()).then(|| (x + 0.0).to_string())).collect()
        }
    };
    let (mut groups, mut places) = (Vec::new(), BTreeMap::new());
    let mut place = |text: String| {
        *places.entry(text).or_insert_with_key(|text| {
            groups.push(text.clone());
            groups.len() - 1
        })
    };
    let of_row = texts.into_iter().map(|text| text.map(&mut place)).collect();
    (groups, of_row)
}

/// The groups that have values, and these.
fn sorted(values: &[f64], n_groups: usize, of_row: &[Option<usize>]) -> (Vec<usize>, Vec<Vec<f64>>) {
    let mut sorted: Vec<Vec<f64>> = vec![Vec::new(); n_groups];
    for (&value, group) in values.iter().zip(of_row) {
        if let Some(group) = group.filter(|_| !value.is_nan()) {
            sorted[group].push(value);
        }
    }
    let known: Vec<usize> = (0..n_groups).filter(|&group| !sorted[group].is_empty()).collect();
    sorted.retain(|values| !values.is_empty());
    (known, sorted)
}

/// What a column tells of values.
pub(super) struct Told {
    /// H as a share of its largest possible value: that of groups that do not
    /// overlap, in the order of their mean ranks.
    pub share: f64,
    /// How many groups there are.
    pub groups: usize,
    /// The greatest median of a group over the least.
    pub ratio: f64,
    /// The chance of as large an H.
    pub p: f64,
}

/// Nothing where a column hardly groups rows, or not at all.
pub(super) fn told(column: &Column, values: &[f64]) -> Option<Told> {
    let (groups, of_row) = groups(column);
    let (known, sorted) = sorted(values, groups.len(), &of_row);
    let (k, n) = (known.len(), sorted.iter().map(Vec::len).sum::<usize>());
    if k > MAX_GROUPS || 3 * k > n {
        return None;
    }
    let values: Vec<&[f64]> = sorted.iter().map(Vec::as_slice).collect();
    let test = kruskal_wallis(&values, Precision::Full).ok()?;
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| test.mean_ranks[a].total_cmp(&test.mean_ranks[b]));
    let (mut before, mut sum) = (0.0, 0.0);
    for group in order {
        let size = test.sizes[group] as f64;
        let apart = before + (size + 1.0) / 2.0 - (n as f64 + 1.0) / 2.0;
        sum += size * apart * apart;
        before += size;
    }
    let most = 12.0 / (n as f64 * (n as f64 + 1.0)) * sum / test.ties.max(f64::MIN_POSITIVE);
    let medians = sorted.iter().filter_map(|values| median::upper(&median::sorted(values.iter().copied())));
    let (least, greatest) = medians.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    Some(Told { share: (test.h / most).min(1.0), groups: k, ratio: greatest / least, p: test.p })
}

impl Significance {
    /// Which columns differ, in a sentence.
    pub fn finding(&self) -> String {
        if self.tests.is_empty() {
            return format!("Whether columns differ between groups of {} cannot be tested.", self.by);
        }
        let differing: Vec<&Test> = self.tests.iter().filter(|test| test.p_adjusted < LEVEL).collect();
        let most = differing.iter().take(5);
        let most = most.map(|test| format!("{} ({})", test.name, short(test.effect()))).collect::<Vec<_>>();
        let which = if most.is_empty() { String::new() } else { format!("; most: {}", most.join(", ")) };
        format!(
            "{} of {} differ between groups of {}{which}.",
            differing.len(),
            counted(self.tests.len() as u64, "column"),
            self.by
        )
    }

    /// What should be known of it.
    pub fn notes(&self) -> Vec<String> {
        let of = |names: &[String]| names.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
        let untested = (!self.untested.is_empty()).then(|| {
            format!(
                "Not compared, since fewer than two groups of {} have values: {}.",
                self.by,
                of(&self.untested)
            )
        });
        let single = (!self.single.is_empty()).then(|| {
            let columns = of(&self.single);
            format!("Not compared, since each group of {} has one value alone: {columns}.", self.by)
        });
        let (rows, all) = self.without;
        let without = (rows > 0).then(|| {
            format!("{rows} of {all} rows have no group in {}, and are not compared with others.", self.by)
        });
        let turned = |differs: bool| -> Vec<String> {
            let is = |test: &&Test| test.differs_exactly() == differs && (test.p_adjusted < LEVEL) != differs;
            self.tests.iter().filter(is).map(|test| test.name.clone()).collect()
        };
        let lost = turned(true);
        let lost = (!lost.is_empty()).then(|| {
            format!("Differ between groups of {} only by digits below the unit: {}.", self.by, of(&lost))
        });
        let gained = turned(false);
        let gained = (!gained.is_empty()).then(|| {
            format!(
                "Differ between groups of {} only in the unit, not in all digits: {}.",
                self.by,
                of(&gained)
            )
        });
        without.into_iter().chain(untested).chain(single).chain(lost).chain(gained).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two columns, by these groups.
    fn of(groups: &[&str]) -> Significance {
        let values: Vec<f64> = (0..groups.len() as u32).map(f64::from).collect();
        let column = |name: &str, cells| Column { name: name.to_owned(), cells };
        let table = ColumnTable {
            columns: vec![
                column("g", Cells::Texts(groups.iter().map(|&group| group.to_owned()).collect())),
                column("A", Cells::Numbers(values)),
            ],
            n_rows: groups.len(),
            ..ColumnTable::default()
        };
        significance(&table, "g", &["A".to_owned()], |_| Precision::Full).expect("groups")
    }

    /// "0 of 1 column differ" was told of groups of one row each.
    #[test]
    fn groups_of_one_value_cannot_be_compared() {
        let single = of(&["a", "b", "c", "d"]);
        assert_eq!(single.finding(), "Whether columns differ between groups of g cannot be tested.");
        assert_eq!(single.notes(), ["Not compared, since each group of g has one value alone: A."]);
        let some = of(&["a", "a", "a", "a", "b", "b", "b", "b", "", "c"]);
        assert!(some.finding().starts_with("1 of 1 column differ between groups of g"), "{}", some.finding());
        assert_eq!(some.notes(), ["1 of 10 rows have no group in g, and are not compared with others."]);
    }
}
