//! A response against the Pareto rank of its row, group by group: the paper's
//! figures 5 and 6, as numbers.

use super::pareto::numbers_of;
use super::significance::groups;
use crate::Usage;
use anyhow::{Result, bail};
use likewise::counters::by_rank::{GroupByRank, response_by_rank};
use likewise::words::{counted, short};
use likewise_trace::ColumnTable;

/// Groups, at most: each is a picture of its own.
const MAX_GROUPS: usize = 200;

/// A column of the table, and the groups that it makes of the rows.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The column.
    pub by: Option<String>,
    /// Numbers ascending, texts in the order in which they come; one without a
    /// name where rows are not grouped.
    pub names: Vec<String>,
    /// The group of each row.
    pub of_row: Vec<Option<usize>>,
}

impl Groups {
    /// # Errors
    /// There is no such column, or it makes too many groups.
    pub fn of(table: &ColumnTable, by: Option<&str>) -> Result<Self> {
        let Some(by) = by else {
            return Ok(Self { by: None, names: vec![String::new()], of_row: vec![Some(0); table.n_rows] });
        };
        let Some(column) = table.columns.iter().find(|column| column.name == by) else {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).take(20).collect();
            return Err(
                Usage(format!("the table has no column '{by}'; there are: {}", names.join(", "))).into()
            );
        };
        let (names, of_row) = groups(column);
        if names.len() > MAX_GROUPS {
            bail!("column '{by}' has {} different values; at most {MAX_GROUPS} are groups", names.len());
        }
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        let mut order: Vec<usize> = (0..names.len()).collect();
        if let Some(numbers) = numbers {
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        }
        let mut place = vec![0; names.len()];
        order.iter().enumerate().for_each(|(at, &group)| place[group] = at);
        let names = order.iter().map(|&group| names[group].clone()).collect();
        let of_row = of_row.into_iter().map(|group| group.map(|group| place[group])).collect();
        Ok(Self { by: Some(by.to_owned()), names, of_row })
    }
}

/// A response by rank.
#[derive(Clone, Debug)]
pub struct ByRank {
    /// The column of the response.
    pub response: String,
    /// Which row is in which group.
    pub groups: Groups,
    /// As [`Groups::names`].
    pub found: Vec<GroupByRank>,
    /// Rank, response and group of each row that has all three.
    pub points: Vec<(u32, f64, usize)>,
}

impl ByRank {
    /// # Errors
    /// The response is no column of numbers, or a value is infinite.
    pub fn of(table: &ColumnTable, response: &str, groups: &Groups, ranks: &[Option<u32>]) -> Result<Self> {
        let (_, values) = numbers_of(table, response)?;
        if let Some(row) = values.iter().position(|x| x.is_infinite()) {
            bail!("'{response}', row {} (from 1, without the names), is infinite", row + 1);
        }
        let found = response_by_rank(ranks, values, &groups.of_row, groups.names.len());
        let points = ranks.iter().zip(values).zip(&groups.of_row);
        let points = points.filter_map(|((rank, &value), group)| Some(((*rank)?, value, (*group)?)));
        let points = points.filter(|(_, value, _)| !value.is_nan()).collect();
        Ok(Self { response: response.to_owned(), groups: groups.clone(), found, points })
    }

    /// What a group is called, in a sentence or over a picture.
    pub fn title(&self, group: usize) -> String {
        match &self.groups.by {
            Some(by) => format!("{by} {}", self.groups.names[group]),
            None => "all rows".to_owned(),
        }
    }

    /// How far the response goes with the rank.
    pub fn finding(&self) -> String {
        let group = |(at, found): (usize, &GroupByRank)| {
            let rho = found.spearman.map_or_else(|| "none".to_owned(), short);
            format!("{} {rho} ({})", self.title(at), counted(found.n as u64, "row"))
        };
        let shown: Vec<String> = self.found.iter().enumerate().take(12).map(group).collect();
        let more = if self.found.len() > 12 { "; …" } else { "" };
        format!("Rank correlation of {} with Goldberg's rank: {}{more}.", self.response, shown.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_trace::{Cells, Column};

    #[test]
    fn groups_of_numbers_ascend() {
        let column = |name: &str, cells| Column { name: name.to_owned(), cells };
        let table = ColumnTable {
            columns: vec![
                column("p", Cells::Numbers(vec![16.0, 4.0, f64::NAN, 16.0])),
                column("t", Cells::Numbers(vec![1.0, 2.0, 3.0, f64::NAN])),
            ],
            n_rows: 4,
            ..ColumnTable::default()
        };
        let groups = Groups::of(&table, Some("p")).unwrap();
        assert_eq!(groups.names, ["4", "16"]);
        assert_eq!(groups.of_row, [Some(1), Some(0), None, Some(1)]);
        let found = ByRank::of(&table, "t", &groups, &[Some(0), Some(2), Some(1), Some(1)]).unwrap();
        assert_eq!(found.points, [(0, 1.0, 1), (2, 2.0, 0)]);
        let told = |group: &GroupByRank| group.ranks.iter().map(|at| (at.rank, at.n, at.median)).collect();
        let told: Vec<Vec<_>> = found.found.iter().map(told).collect();
        assert_eq!(told, [[(2, 1, 2.0)], [(0, 1, 1.0)]]);
        assert!(Groups::of(&table, Some("q")).unwrap_err().to_string().contains("no column 'q'"));
    }
}
