//! Metrics: what a burst is described by, made from its duration and counters.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::metric_syntax::{ParseMetricError, Reason};
use super::{BurstTable, Counter, Nanos, Values};

/// One number per burst: an expression over what the burst carries, and how
/// it enters the normalisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What columns and axes are titled.
    pub name: String,
    /// Where the value comes from.
    pub expr: Expr,
    /// Whether the natural logarithm is taken before normalisation.
    pub log: bool,
    /// Weight after normalisation, positive.
    pub factor: f64,
    /// Smallest raw value that is kept, inclusive.
    pub min: Option<f64>,
    /// Largest raw value that is kept, inclusive.
    pub max: Option<f64>,
}

/// An operand, or an operation on two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expr {
    /// The operand itself.
    One(Operand),
    /// Two operands and what is done to them.
    Two(Operand, Op, Operand),
}

/// Something that a burst carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operand {
    /// The burst's duration in nanoseconds.
    Duration,
    /// A counter by its name, its number (`42000050`), or the label of the
    /// trace (`PAPI_TOT_INS [Instr completed]`).
    Counter(String),
}

/// What is done to two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// `a + b`
    Add,
    /// `a − b`
    Sub,
    /// `a · b`
    Mul,
    /// `a / b`; missing where `b` is zero.
    Div,
}

impl Op {
    /// The operation of that sign.
    #[must_use]
    pub fn from_sign(sign: char) -> Option<Self> {
        Some(match sign {
            '+' => Op::Add,
            '-' => Op::Sub,
            '*' => Op::Mul,
            '/' => Op::Div,
            _ => return None,
        })
    }

    fn sign(self) -> char {
        match self {
            Op::Add => '+',
            Op::Sub => '-',
            Op::Mul => '*',
            Op::Div => '/',
        }
    }

    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Div => a / b,
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operand::Duration => "duration",
            Operand::Counter(name) => name,
        })
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::One(a) => a.fmt(f),
            Expr::Two(a, op, b) => write!(f, "{a} {} {b}", op.sign()),
        }
    }
}

impl Expr {
    /// Whether such values are looked at as logarithms unless told otherwise:
    /// amounts are; ratios and differences, which may be negative or already
    /// of order one, are not.
    #[must_use]
    pub fn log_by_default(&self) -> bool {
        !matches!(self, Expr::Two(_, Op::Sub | Op::Div, _))
    }
}

impl Metric {
    /// A metric with no range, a factor of 1 and the default of
    /// [`Expr::log_by_default`].
    #[must_use]
    pub fn new(name: impl Into<String>, expr: Expr) -> Self {
        let log = expr.log_by_default();
        Metric { name: name.into(), expr, log, factor: 1.0, min: None, max: None }
    }

    /// Checks the numbers of a metric that was not parsed.
    ///
    /// # Errors
    /// [`ParseMetricError`] for a factor that is not positive and finite, a
    /// range that is empty, or no name.
    pub fn check(&self) -> Result<(), ParseMetricError> {
        let fail = |reason| Err(ParseMetricError::new(&self.name, reason));
        if self.name.trim().is_empty() {
            return fail(Reason::NoName);
        }
        if !(self.factor.is_finite() && self.factor > 0.0) {
            return fail(Reason::Factor(self.factor));
        }
        let (min, max) = (self.min.unwrap_or(f64::NEG_INFINITY), self.max.unwrap_or(f64::INFINITY));
        if min.is_nan() || max.is_nan() || min > max {
            return fail(Reason::Range(min, max));
        }
        Ok(())
    }

    /// The metric's value in every burst, raw: before logarithm and factor.
    ///
    /// # Errors
    /// [`MetricError`] if the trace has no such counter.
    ///
    /// # Complexity
    /// O(1) for each counter of the table. Values are computed when they are asked for.
    pub fn evaluate<'t>(&self, table: &'t BurstTable) -> Result<MetricValues<'t>, MetricError> {
        let column = |operand: &Operand| Column::of(table, operand).map_err(|e| e.in_metric(&self.name));
        Ok(match &self.expr {
            Expr::One(a) => MetricValues { of: column(a)?, and: None },
            Expr::Two(a, op, b) => MetricValues { of: column(a)?, and: Some((*op, column(b)?)) },
        })
    }
}

/// The counters that metrics are made of, by their places in the table, ascending.
#[must_use]
pub fn counters_of(metrics: &[Metric], table: &BurstTable) -> Vec<usize> {
    let operands = metrics.iter().flat_map(|metric| match &metric.expr {
        Expr::One(a) => [Some(a), None],
        Expr::Two(a, _, b) => [Some(a), Some(b)],
    });
    let place = |operand: &Operand| match operand {
        Operand::Duration => None,
        Operand::Counter(text) => {
            let column = find(table, text)?;
            table.counters.iter().position(|own| std::ptr::eq(own, column))
        }
    };
    let mut places: Vec<usize> = operands.flatten().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// A metric's value in every burst of a table, raw. It stands in the columns of
/// the table, or is computed of two of them each time.
#[derive(Clone, Copy, Debug)]
pub struct MetricValues<'t> {
    of: Column<'t>,
    and: Option<(Op, Column<'t>)>,
}

impl MetricValues<'_> {
    /// As many values as there are bursts.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.of {
            Column::Duration(values) => values.len(),
            Column::Counter(values) => values.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of burst `i`; `NaN` where an operand is missing, where the
    /// divisor is zero, and where the result overflows.
    ///
    /// # Panics
    /// If there is no such burst.
    #[must_use]
    #[inline]
    pub fn get(&self, i: usize) -> f64 {
        let value = match self.and {
            None => self.of.at(i),
            Some((op, other)) => op.apply(self.of.at(i), other.at(i)),
        };
        if value.is_finite() { value } else { f64::NAN }
    }

    /// All values, in burst order.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl<'t> From<&'t Values> for MetricValues<'t> {
    fn from(counter: &'t Values) -> Self {
        Self { of: Column::Counter(counter), and: None }
    }
}

/// The values an operand stands for.
#[derive(Clone, Copy, Debug)]
enum Column<'a> {
    Duration(&'a [Nanos]),
    Counter(&'a Values),
}

impl<'a> Column<'a> {
    fn of(table: &'a BurstTable, operand: &Operand) -> Result<Self, MetricError> {
        match operand {
            Operand::Duration => Ok(Column::Duration(&table.duration)),
            Operand::Counter(text) => match find(table, text) {
                Some(column) => Ok(Column::Counter(&column.values)),
                None => Err(MetricError::unknown(table, text)),
            },
        }
    }

    fn at(self, i: usize) -> f64 {
        match self {
            Column::Duration(values) => values[i].0 as f64,
            Column::Counter(values) => values.get(i),
        }
    }
}

/// By name, number or label; labels are compared by their letters and digits,
/// because writers differ in how they bracket a description.
fn find<'a>(table: &'a BurstTable, text: &str) -> Option<&'a super::CounterColumn> {
    let letters = |s: &str| s.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    table.counter(text).or_else(|| {
        let wanted = letters(text);
        table.counters.iter().find(|c| {
            let Counter { name, description, .. } = &c.counter;
            !wanted.is_empty() && !description.is_empty() && letters(name) + &letters(description) == wanted
        })
    })
}

/// A counter that the trace does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct MetricError {
    /// The metric that asks for it.
    pub metric: String,
    /// What was asked for.
    pub counter: String,
    /// Names that differ little from it, nearest first.
    pub near: Vec<String>,
    /// Every counter of the trace.
    pub known: Vec<String>,
}

/// How many counters an error message lists.
const MAX_LISTED: usize = 40;

impl MetricError {
    fn unknown(table: &BurstTable, counter: &str) -> Self {
        let known: Vec<String> = table.counters.iter().map(|c| c.counter.name.clone()).collect();
        let near = near_names(counter, &known);
        MetricError { metric: String::new(), counter: counter.to_owned(), near, known }
    }

    fn in_metric(mut self, name: &str) -> Self {
        name.clone_into(&mut self.metric);
        self
    }
}

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "metric '{}': no counter '{}' in the trace", self.metric, self.counter)?;
        if !self.near.is_empty() {
            write!(f, "; did you mean {}?", self.near.join(" or "))?;
        } else if self.counter.contains('-') {
            write!(f, "; a difference is written with spaces, 'A - B'")?;
        }
        if self.known.is_empty() {
            return write!(f, " (it carries no counter at all; 'duration' is always there)");
        }
        let listed = &self.known[..self.known.len().min(MAX_LISTED)];
        write!(f, " (it has {}", listed.join(", "))?;
        if self.known.len() > MAX_LISTED {
            write!(f, " and {} more", self.known.len() - MAX_LISTED)?;
        }
        write!(f, ")")
    }
}

/// At most three names that hold the text or are a few letters from it.
fn near_names(text: &str, known: &[String]) -> Vec<String> {
    let wanted = text.to_lowercase();
    let allowed = (wanted.chars().count() / 4).max(2);
    let mut found: Vec<(usize, &String)> = known
        .iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let within = wanted.len() >= 3 && lower.contains(&wanted);
            let distance = edit_distance(&wanted, &lower);
            (within || distance <= allowed).then_some((distance, name))
        })
        .collect();
    found.sort();
    found.into_iter().take(3).map(|(_, name)| name.clone()).collect()
}

/// Insertions, deletions and substitutions between two words (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::super::CounterColumn;
    use super::*;

    fn table() -> BurstTable {
        let column = |event_type, name: &str, description: &str, values: &[f64]| CounterColumn {
            counter: Counter { event_type, name: name.to_owned(), description: description.to_owned() },
            values: values.to_vec().into(),
        };
        BurstTable {
            app: vec![1; 3].into(),
            task: vec![1; 3].into(),
            thread: vec![1; 3].into(),
            begin: vec![Nanos(0), Nanos(10), Nanos(20)],
            duration: vec![Nanos(5), Nanos(6), Nanos(7)],
            counters: vec![
                column(Some(42_000_050), "PAPI_TOT_INS", "Instr completed", &[10.0, f64::NAN, 1e300]),
                column(Some(42_000_059), "PAPI_TOT_CYC", "Total cycles", &[4.0, 5.0, 0.0]),
                column(None, "perf::CACHE-MISSES", "", &[1.0, 2.0, 1e300]),
            ],
            code: None,
        }
    }

    #[test]
    fn missing_values_and_zero_divisors_are_missing() {
        let table = table();
        let value = |text: &str| -> Vec<f64> {
            text.parse::<Metric>().expect("reads").evaluate(&table).expect("evaluates").iter().collect()
        };
        let ipc = value("PAPI_TOT_INS/42000059");
        assert_eq!(ipc[0], 2.5);
        assert!(ipc[1].is_nan() && ipc[2].is_nan());
        let product = value("PAPI_TOT_INS*perf::CACHE-MISSES");
        assert_eq!(product[0], 10.0);
        assert!(product[2].is_nan(), "an overflow is no value");
        assert_eq!(value("duration"), [5.0, 6.0, 7.0]);
        assert_eq!(value("PAPI_TOT_CYC - duration"), [-1.0, -1.0, -7.0]);
        assert_eq!(value("'PAPI_TOT_CYC [Total cycles]'"), [4.0, 5.0, 0.0]);
    }

    #[test]
    fn an_unknown_counter_is_named_with_those_there_are() {
        let error =
            |text: &str| text.parse::<Metric>().expect("reads").evaluate(&table()).expect_err("unknown");
        let e = error("x=TOT_INS/PAPI_TOT_CYC");
        assert_eq!(e.near, ["PAPI_TOT_INS"]);
        assert!(e.to_string().contains("did you mean PAPI_TOT_INS?"));
        assert!(e.to_string().contains("PAPI_TOT_INS, PAPI_TOT_CYC, perf::CACHE-MISSES"));
        assert_eq!(error("papi_tot_cyx").near[0], "PAPI_TOT_CYC");
        assert!(error("PAPI_TOT_INS-PAPI_TOT_CYC").to_string().contains("with spaces"));
    }
}
