//! Metrics: what a burst is described by, made from its duration and counters.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;

use super::{BurstTable, Counter};

/// How a metric is written, for `--help`.
pub const METRIC_SYNTAX: &str = "\
[NAME=]OPERAND[OP OPERAND][,OPTION]...
OPERAND is a counter's name or number, or 'duration' (ns). OP is one of + - * /.
Names may hold '-' (perf::CACHE-MISSES), so '-' subtracts only with a space on both sides
or beside a quoted operand; so does any operator whose sign stands in a name. Quotes, single or
double, keep a name whole. NAME holds no ':', so that skx_unc_imc0::RD:cpu=0 is a counter.
OPTION: log or linear (default: log, but linear for ratios and differences),
factor=F (weight after normalisation), min=X and max=X (raw values, inclusive).
Examples: PAPI_TOT_INS · IPC=PAPI_TOT_INS/PAPI_TOT_CYC,min=0.1 · 'stalls=\"A-B\" / PAPI_TOT_CYC'";

/// One number per burst: an expression over what the burst carries, and how
/// it enters the normalisation.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// The operand itself.
    One(Operand),
    /// Two operands and what is done to them.
    Two(Operand, Op, Operand),
}

/// Something that a burst carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The burst's duration in nanoseconds.
    Duration,
    /// A counter by its name, its number (`42000050`), or the label of the
    /// trace (`PAPI_TOT_INS [Instr completed]`).
    Counter(String),
}

/// What is done to two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let fail = |reason| Err(ParseMetricError { text: self.name.clone(), reason });
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
    /// `NaN` where an operand is missing, where the divisor is zero, and
    /// where the result overflows.
    ///
    /// # Errors
    /// [`MetricError`] if the trace has no such counter.
    ///
    /// # Complexity
    /// O(n), in parallel; allocates the result only.
    pub fn evaluate(&self, table: &BurstTable) -> Result<Vec<f64>, MetricError> {
        let column = |operand: &Operand| Column::of(table, operand).map_err(|e| e.in_metric(&self.name));
        let finite = |x: f64| if x.is_finite() { x } else { f64::NAN };
        let rows = (0..table.len()).into_par_iter().with_min_len(1 << 12);
        Ok(match &self.expr {
            Expr::One(a) => {
                let a = column(a)?;
                rows.map(|i| finite(a.at(i))).collect()
            }
            Expr::Two(a, op, b) => {
                let (a, b) = (column(a)?, column(b)?);
                rows.map(|i| finite(op.apply(a.at(i), b.at(i)))).collect()
            }
        })
    }
}

/// The values an operand stands for.
#[derive(Clone, Copy)]
enum Column<'a> {
    Duration(&'a [super::Nanos]),
    Counter(&'a [f64]),
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
            Column::Counter(values) => values[i],
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

/// Why a text is not a metric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("metric '{text}': {reason}")]
pub struct ParseMetricError {
    text: String,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
enum Reason {
    #[error("an operand is missing")]
    NoOperand,
    #[error("it has no name")]
    NoName,
    #[error("more than one operator; define the parts as metrics of two operands")]
    TooManyOperators,
    #[error("a quote is not closed")]
    OpenQuote,
    #[error("text beside the quotes of '{0}'")]
    Quotes(String),
    #[error("no option '{0}': log, linear, factor=F, min=X or max=X")]
    Option(String),
    #[error("'{0}' of option '{1}' is not a number")]
    Number(String, String),
    #[error("the factor is {0}; it must be positive")]
    Factor(f64),
    #[error("the range from {0} to {1} is empty")]
    Range(f64, f64),
}

impl FromStr for Metric {
    type Err = ParseMetricError;

    /// Reads `[NAME=]OPERAND[OP OPERAND][,OPTION]…`; the rules are
    /// [`METRIC_SYNTAX`].
    ///
    /// A quoted operand is always a counter, even `"duration"`. An operator
    /// with a space on both sides goes before one without; without spaces
    /// only `/ * +` divide a text into operands.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map_err(|reason| ParseMetricError { text: text.to_owned(), reason })
    }
}

impl FromStr for Expr {
    type Err = ParseMetricError;

    /// Reads `OPERAND[OP OPERAND]` by the rules of [`METRIC_SYNTAX`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |reason| ParseMetricError { text: text.to_owned(), reason };
        let marks = Marks::of(text).map_err(fail)?;
        parse_expr(text, &marks).map_err(fail)
    }
}

/// Which bytes of a text are bare: neither quotes nor within them.
struct Marks(Vec<bool>);

impl Marks {
    fn of(text: &str) -> Result<Self, Reason> {
        let mut open = None;
        let mut bare = Vec::with_capacity(text.len());
        for byte in text.bytes() {
            match (open, byte) {
                (None, b'"' | b'\'') => open = Some(byte),
                (Some(quote), _) if quote == byte => open = None,
                (None, _) => {
                    bare.push(true);
                    continue;
                }
                _ => {}
            }
            bare.push(false);
        }
        if open.is_some() { Err(Reason::OpenQuote) } else { Ok(Marks(bare)) }
    }

    /// Byte positions of bare characters that satisfy `wanted`.
    fn positions<'a>(
        &'a self,
        text: &'a str,
        wanted: impl Fn(u8) -> bool + 'a,
    ) -> impl Iterator<Item = usize> + 'a {
        text.bytes().enumerate().filter(move |&(i, b)| self.0[i] && wanted(b)).map(|(i, _)| i)
    }
}

fn parse(text: &str) -> Result<Metric, Reason> {
    let marks = Marks::of(text)?;
    let commas: Vec<usize> = marks.positions(text, |b| b == b',').collect();
    let body = &text[..commas.first().copied().unwrap_or(text.len())];
    // A native counter's name may hold '=' too, but then a ':' before it.
    let equals = marks.positions(body, |b| b == b'=').next().filter(|&at| !body[..at].contains(':'));
    let start = equals.map_or(0, |at| at + 1);
    let tail = Marks(marks.0[start..body.len()].to_vec());
    let expr = parse_expr(&body[start..], &tail)?;
    let name = match equals {
        Some(at) => unquote(&body[..at])?.0.to_owned(),
        None => expr.to_string().replace(' ', ""),
    };
    if name.is_empty() {
        return Err(Reason::NoName);
    }
    let mut metric = Metric::new(name, expr);
    for (i, &at) in commas.iter().enumerate() {
        let end = commas.get(i + 1).copied().unwrap_or(text.len());
        set_option(&mut metric, text[at + 1..end].trim())?;
    }
    metric.check().map_err(|e| e.reason)?;
    Ok(metric)
}

fn set_option(metric: &mut Metric, option: &str) -> Result<(), Reason> {
    let (key, value) = option.split_once('=').map_or((option, None), |(k, v)| (k.trim(), Some(v.trim())));
    let number = || {
        let value = value.ok_or_else(|| Reason::Option(option.to_owned()))?;
        let parsed = value.parse::<f64>().ok().filter(|x| x.is_finite());
        parsed.ok_or_else(|| Reason::Number(value.to_owned(), key.to_owned()))
    };
    match key {
        "log" if value.is_none() => metric.log = true,
        "linear" if value.is_none() => metric.log = false,
        "factor" => metric.factor = number()?,
        "min" => metric.min = Some(number()?),
        "max" => metric.max = Some(number()?),
        _ => return Err(Reason::Option(option.to_owned())),
    }
    Ok(())
}

fn parse_expr(text: &str, marks: &Marks) -> Result<Expr, Reason> {
    let bytes = text.as_bytes();
    let signs: Vec<usize> = marks.positions(text, |b| Op::from_sign(b.into()).is_some()).collect();
    let space = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_whitespace);
    let quote = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(|b| matches!(b, b'"' | b'\''));
    let spaced: Vec<usize> =
        signs.iter().copied().filter(|&i| space(i.checked_sub(1)) && space(Some(i + 1))).collect();
    let divides = |&i: &usize| bytes[i] != b'-' || quote(i.checked_sub(1)) || quote(Some(i + 1));
    let chosen = if spaced.is_empty() { signs.into_iter().filter(divides).collect() } else { spaced };
    match chosen[..] {
        [] => Ok(Expr::One(parse_operand(text)?)),
        [at] => {
            let op = Op::from_sign(bytes[at].into()).ok_or(Reason::NoOperand)?;
            Ok(Expr::Two(parse_operand(&text[..at])?, op, parse_operand(&text[at + 1..])?))
        }
        _ => Err(Reason::TooManyOperators),
    }
}

fn parse_operand(text: &str) -> Result<Operand, Reason> {
    let (name, quoted) = unquote(text)?;
    if name.is_empty() {
        return Err(Reason::NoOperand);
    }
    if !quoted && name.eq_ignore_ascii_case("duration") {
        return Ok(Operand::Duration);
    }
    Ok(Operand::Counter(name.to_owned()))
}

/// The text without the quotes around it, and whether it had them.
fn unquote(text: &str) -> Result<(&str, bool), Reason> {
    let text = text.trim();
    let inner = ['"', '\''].iter().find_map(|&q| text.strip_prefix(q)?.strip_suffix(q));
    let bare = inner.unwrap_or(text);
    if bare.contains('"') || (inner.is_none() && bare.contains('\'')) {
        return Err(Reason::Quotes(text.to_owned()));
    }
    Ok((bare, inner.is_some()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{CounterColumn, Nanos};
    use super::*;

    fn counter(name: &str) -> Operand {
        Operand::Counter(name.to_owned())
    }

    fn expr(text: &str) -> Expr {
        text.parse::<Metric>().unwrap_or_else(|e| panic!("{e}")).expr
    }

    fn table() -> BurstTable {
        let column = |event_type, name: &str, description: &str, values: &[f64]| CounterColumn {
            counter: Counter { event_type, name: name.to_owned(), description: description.to_owned() },
            values: values.to_vec(),
        };
        BurstTable {
            app: vec![1; 3],
            task: vec![1; 3],
            thread: vec![1; 3],
            begin: vec![Nanos(0), Nanos(10), Nanos(20)],
            duration: vec![Nanos(5), Nanos(6), Nanos(7)],
            counters: vec![
                column(Some(42_000_050), "PAPI_TOT_INS", "Instr completed", &[10.0, f64::NAN, 1e300]),
                column(Some(42_000_059), "PAPI_TOT_CYC", "Total cycles", &[4.0, 5.0, 0.0]),
                column(None, "perf::CACHE-MISSES", "", &[1.0, 2.0, 1e300]),
            ],
        }
    }

    #[test]
    fn reads_names_operators_and_options() {
        assert_eq!(expr("PAPI_TOT_INS"), Expr::One(counter("PAPI_TOT_INS")));
        assert_eq!(expr("42000050"), Expr::One(counter("42000050")));
        assert_eq!(expr("duration"), Expr::One(Operand::Duration));
        let ipc: Metric =
            "IPC=PAPI_TOT_INS/PAPI_TOT_CYC,log,factor=2,min=1e3,max=1e4".parse().expect("reads");
        assert_eq!(ipc.name, "IPC");
        assert_eq!(ipc.expr, Expr::Two(counter("PAPI_TOT_INS"), Op::Div, counter("PAPI_TOT_CYC")));
        assert_eq!((ipc.log, ipc.factor, ipc.min, ipc.max), (true, 2.0, Some(1e3), Some(1e4)));
        assert_eq!("A*B".parse::<Metric>().expect("reads").name, "A*B");
    }

    #[test]
    fn amounts_are_logarithmic_unless_told_otherwise() {
        let log = |text: &str| text.parse::<Metric>().expect("reads").log;
        assert!(log("A") && log("A+B") && log("A*B") && log("duration") && log("A/B,log"));
        assert!(!log("A/B") && !log("A - B") && !log("A,linear"));
    }

    #[test]
    fn native_names_stay_whole() {
        assert_eq!(expr("perf::CACHE-MISSES"), Expr::One(counter("perf::CACHE-MISSES")));
        let uncore = "skx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=0";
        assert_eq!(expr(uncore), Expr::One(counter(uncore)));
        assert_eq!(expr(&format!("RD={uncore}")), Expr::One(counter(uncore)));
        let rate = Expr::Two(counter("perf::CACHE-MISSES"), Op::Div, counter("MEM_LOAD_RETIRED:L3_MISS"));
        assert_eq!(expr("r=perf::CACHE-MISSES/MEM_LOAD_RETIRED:L3_MISS"), rate);
        assert_eq!(expr("A-B - C"), Expr::Two(counter("A-B"), Op::Sub, counter("C")));
        assert_eq!(expr("'A'-'B'"), Expr::Two(counter("A"), Op::Sub, counter("B")));
        assert_eq!(expr("\"cpu/mem,x/\"/B"), Expr::Two(counter("cpu/mem,x/"), Op::Div, counter("B")));
        assert_eq!(expr("cpu/mem/ - B"), Expr::Two(counter("cpu/mem/"), Op::Sub, counter("B")));
        assert_eq!(expr("'duration'"), Expr::One(counter("duration")));
    }

    #[test]
    fn refuses_what_is_not_a_metric() {
        for text in [
            "",
            "=A",
            "A/",
            "/A",
            "A/B/C",
            "A / B * C",
            "'A",
            "A'B'",
            "A,loud",
            "A,factor=x",
            "A,factor=0",
            "A,factor=-1",
            "A,min=2,max=1",
            "A,min=nan",
            "A,log=1",
            "A,min",
            ",log",
            "''",
        ] {
            assert!(text.parse::<Metric>().is_err(), "'{text}' was taken");
        }
    }

    #[test]
    fn missing_values_and_zero_divisors_are_missing() {
        let value =
            |text: &str| text.parse::<Metric>().expect("reads").evaluate(&table()).expect("evaluates");
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

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[A-C:'\"=,+*/ é-]{0,24}") {
            if let Ok(metric) = text.parse::<Metric>() {
                prop_assert!(!metric.name.is_empty());
                prop_assert!(metric.check().is_ok());
            }
        }
    }
}
