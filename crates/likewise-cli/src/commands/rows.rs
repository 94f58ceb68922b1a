//! Options that say which rows of a table are taken.

use crate::args::name;
use crate::common::Names;
use clap::{Args, ValueEnum};
use likewise_analysis::counters::rows::{Aggregate, Conditions, Rows};

/// Which rows are taken, and what they are rows of
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Rows")]
pub(super) struct RowArgs {
    /// Take only rows that meet this, such as 'bytes >= 1024 and ranks <= 64'
    /// (also > < = !=); once more for another. Names and texts that hold
    /// blanks or signs stand in quotes; a missing value meets nothing
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Conditions>,
    /// Make one row of all that have the same values here, such as
    /// --per site of a table with a row for each site and process
    #[arg(long, value_name = "COLUMN")]
    per: Vec<Names>,
    /// What --per makes of the other columns: NAME for the mean, else NAME:min,
    /// NAME:max, NAME:max/mean (how far from balance; 1 is balanced)
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mean,max/mean", requires = "per")]
    aggregate: Vec<AggregateArg>,
}

/// What is made of the values of several rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AggregateArg {
    Mean,
    Min,
    Max,
    /// The largest over the mean, where no value is negative and one is not 0
    #[value(name = "max/mean")]
    MaxOverMean,
}

impl RowArgs {
    pub(super) fn options(&self) -> Rows {
        let aggregate = self.aggregate.iter().map(|one| match one {
            AggregateArg::Mean => Aggregate::Mean,
            AggregateArg::Min => Aggregate::Min,
            AggregateArg::Max => Aggregate::Max,
            AggregateArg::MaxOverMean => Aggregate::MaxOverMean,
        });
        Rows {
            conditions: self.conditions.clone(),
            per: Names::all(&self.per),
            aggregate: aggregate.collect(),
        }
    }

    /// Options as they were given, by name.
    pub(super) fn chosen(&self) -> [(&'static str, Vec<String>); 3] {
        let aggregate = self.aggregate.iter().filter(|_| !self.per.is_empty());
        [
            ("where", self.conditions.iter().map(|one| one.text.clone()).collect()),
            ("per", Names::all(&self.per)),
            ("aggregate", aggregate.map(|&one| name(one)).collect()),
        ]
    }
}
