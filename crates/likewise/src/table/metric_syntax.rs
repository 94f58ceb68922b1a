//! How metrics are written.

use std::str::FromStr;

use super::{Expr, Metric, Op, Operand};

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

/// Why a text is not a metric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("metric '{text}': {reason}")]
pub struct ParseMetricError {
    text: String,
    reason: Reason,
}

impl ParseMetricError {
    pub(super) fn new(text: &str, reason: Reason) -> Self {
        ParseMetricError { text: text.to_owned(), reason }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum Reason {
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
        parse(text).map_err(|reason| ParseMetricError::new(text, reason))
    }
}

impl FromStr for Expr {
    type Err = ParseMetricError;

    /// Reads `OPERAND[OP OPERAND]` by the rules of [`METRIC_SYNTAX`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |reason| ParseMetricError::new(text, reason);
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

    use super::*;

    fn counter(name: &str) -> Operand {
        Operand::Counter(name.to_owned())
    }

    fn expr(text: &str) -> Expr {
        text.parse::<Metric>().unwrap_or_else(|e| panic!("{e}")).expr
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
