//! How formulas are written.

use super::formula::{Expr, Function, Operator, Unknown};

/// How a formula is written, for `--help`.
pub const FORMULA_SYNTAX: &str = "\
A sum of terms, each with one unknown coefficient: a + b*h + c*log2(p), (lambda + tau*h)*log2(p).
Names of columns are parameters, in single or double quotes if they hold more than letters, digits,
'_', '.' and ':'. All other names are unknowns. + - * / ^ and parentheses; log2, ln, log10, sqrt;
numbers such as 8 or 1e-6. No unknown is multiplied by another, divided by, or within a function.";

/// Characters that a formula may have: deep nesting cannot exhaust the stack.
const LONGEST: usize = 1000;
/// Parentheses and functions within one another.
const DEEPEST: usize = 64;
/// Unknowns in one formula.
const MOST_UNKNOWNS: usize = 8;

/// Why a text is not a formula.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("formula '{text}', character {at}: {reason}")]
pub struct FormulaError {
    text: String,
    /// The character, from 1.
    at: usize,
    reason: Reason,
}

impl FormulaError {
    /// Which character it is about, from 1.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
enum Reason {
    #[error("a number, a name or '(' is expected")]
    NoOperand,
    #[error("an operator (+ - * / ^) or the end is expected")]
    NoOperator,
    #[error("'(' is not closed")]
    OpenParenthesis,
    #[error("a quote is not closed")]
    OpenQuote,
    #[error("'{0}' is not a number")]
    Number(String),
    #[error("no function '{0}': log2, ln, log10 or sqrt")]
    Function(String),
    #[error("no column '{0}'")]
    NoColumn(String),
    #[error("'{0}' is no column, and an unknown cannot be {1}")]
    NotLinear(String, &'static str),
    #[error("this term has no unknown coefficient")]
    Known,
    #[error("'{0}' and '{1}' multiply the same term, so neither can be told from the other")]
    SameTerm(String, String),
    #[error("more than {MOST_UNKNOWNS} unknowns")]
    TooManyUnknowns,
    #[error("more than {DEEPEST} parentheses within one another")]
    TooDeep,
    #[error("a formula has at most {LONGEST} characters")]
    TooLong,
}

/// A column's name as a formula has it: in quotes where it would be read as
/// something else.
pub(super) fn name(column: &str) -> String {
    let mut chars = column.chars();
    let is_plain = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(is_inner);
    let quote = if column.contains('"') { '\'' } else { '"' };
    if is_plain { column.to_owned() } else { format!("{quote}{column}{quote}") }
}

/// Whether a name has it behind its first character.
fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':')
}

/// A sum in the making: what is known, and each unknown's factor.
#[derive(Default)]
struct Linear {
    /// With the place of its first part.
    known: Option<(Expr, usize)>,
    /// Index of the unknown, its factor, where it was first used.
    unknown: Vec<(usize, Expr, usize)>,
}

struct Parser<'a> {
    text: &'a str,
    chars: Vec<char>,
    /// The next character.
    at: usize,
    columns: &'a [&'a str],
    unknowns: Vec<String>,
    depth: usize,
}

type Parsed<T> = Result<T, FormulaError>;

/// The unknowns of a formula and what each multiplies.
pub(super) fn parse(text: &str, columns: &[&str]) -> Parsed<Vec<Unknown>> {
    let chars: Vec<char> = text.chars().collect();
    let mut parser = Parser { text, chars, at: 0, columns, unknowns: Vec::new(), depth: 0 };
    if parser.chars.len() > LONGEST {
        parser.text = "…";
        return Err(parser.error(LONGEST, Reason::TooLong));
    }
    let sum = parser.sum()?;
    if parser.peek().is_some() {
        return Err(parser.error(parser.at, Reason::NoOperator));
    }
    if let Some((_, at)) = sum.known {
        return Err(parser.error(at, Reason::Known));
    }
    for (i, (unknown, term, at)) in sum.unknown.iter().enumerate() {
        if let Some((twin, ..)) = sum.unknown[..i].iter().find(|(_, earlier, _)| earlier == term) {
            let names = [twin, unknown].map(|&index| parser.unknowns[index].clone());
            let [first, second] = names;
            return Err(parser.error(*at, Reason::SameTerm(first, second)));
        }
    }
    let named =
        |(index, term, _): (usize, Expr, usize)| Unknown { name: parser.unknowns[index].clone(), term };
    Ok(sum.unknown.into_iter().map(named).collect())
}

impl Parser<'_> {
    fn error(&self, at: usize, reason: Reason) -> FormulaError {
        FormulaError { text: self.text.to_owned(), at: at + 1, reason }
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.chars.get(self.at).copied()
    }

    /// Takes the next character if it is one of those wanted.
    fn take(&mut self, wanted: &str) -> Option<(char, usize)> {
        let next = self.peek().filter(|&c| wanted.contains(c))?;
        self.at += 1;
        Some((next, self.at - 1))
    }

    fn sum(&mut self) -> Parsed<Linear> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(self.at, Reason::TooDeep));
        }
        let mut sum = self.product()?;
        while let Some((sign, _)) = self.take("+-") {
            let term = self.product()?;
            sum = plus(sum, if sign == '-' { negated(term) } else { term });
        }
        self.depth -= 1;
        Ok(sum)
    }

    fn product(&mut self) -> Parsed<Linear> {
        // A sign before a product: −a*h is (−1)·(a*h), and −2^2 is −4.
        if let Some((sign, at)) = self.take("+-") {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(self.error(at, Reason::TooDeep));
            }
            let inner = self.product()?;
            self.depth -= 1;
            return Ok(if sign == '-' { negated(inner) } else { inner });
        }
        let mut product = self.power()?;
        while let Some((sign, _)) = self.take("*/") {
            let start = self.at;
            let factor = self.power()?;
            product = if sign == '*' {
                self.times(product, factor)?
            } else {
                let divisor = self.known(factor, start, "divided by")?;
                scaled(product, |x| x.with(Operator::Divide, divisor.clone()))
            };
        }
        Ok(product)
    }

    fn power(&mut self) -> Parsed<Linear> {
        self.peek();
        let start = self.at;
        let base = self.operand()?;
        if self.take("^").is_none() {
            return Ok(base);
        }
        let base = self.known(base, start, "raised to a power")?;
        let negative = self.take("-").is_some();
        let at = self.at;
        let exponent = self.operand()?;
        let mut exponent = self.known(exponent, at, "an exponent")?;
        if negative {
            exponent = exponent.with(Operator::Multiply, Expr::Number(-1.0));
        }
        Ok(Linear { known: Some((base.with(Operator::Power, exponent), start)), unknown: Vec::new() })
    }

    fn operand(&mut self) -> Parsed<Linear> {
        let next = self.peek();
        let start = self.at;
        let known = |expr| Ok(Linear { known: Some((expr, start)), unknown: Vec::new() });
        match next {
            Some('(') => self.parenthesis(),
            Some(quote @ ('\'' | '"')) => {
                let length = self.chars[start + 1..].iter().position(|&c| c == quote);
                let length = length.ok_or_else(|| self.error(start, Reason::OpenQuote))?;
                let name: String = self.chars[start + 1..start + 1 + length].iter().collect();
                self.at = start + length + 2;
                let column = self.columns.iter().position(|&column| column == name);
                known(Expr::Column(column.ok_or_else(|| self.error(start, Reason::NoColumn(name)))?))
            }
            Some(c) if c.is_ascii_digit() || c == '.' => known(Expr::Number(self.number()?)),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.error(start, Reason::NoOperand)),
        }
    }

    fn parenthesis(&mut self) -> Parsed<Linear> {
        let start = self.at;
        self.at += 1;
        let inner = self.sum()?;
        self.take(")").ok_or_else(|| self.error(start, Reason::OpenParenthesis))?;
        Ok(inner)
    }

    fn number(&mut self) -> Parsed<f64> {
        let start = self.at;
        while let Some(&c) = self.chars.get(self.at) {
            let sign =
                matches!(c, '+' | '-') && matches!(self.chars[self.at - 1], 'e' | 'E') && self.at > start;
            if !(c.is_alphanumeric() || c == '.' || sign) {
                break;
            }
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().collect();
        let parsed = text.parse::<f64>().ok().filter(|x| x.is_finite());
        parsed.ok_or_else(|| self.error(start, Reason::Number(text)))
    }

    /// A function, a column or an unknown.
    fn name(&mut self) -> Parsed<Linear> {
        let start = self.at;
        let rest = self.chars[start..].iter();
        self.at += rest.take_while(|&&c| is_inner(c)).count();
        let name: String = self.chars[start..self.at].iter().collect();
        if self.peek() == Some('(') {
            let function: Function =
                name.parse().map_err(|()| self.error(start, Reason::Function(name.clone())))?;
            let inside = self.at + 1;
            let inner = self.parenthesis()?;
            let inner = self.known(inner, inside, "within a function")?;
            return Ok(Linear {
                known: Some((Expr::Call(function, Box::new(inner)), start)),
                unknown: Vec::new(),
            });
        }
        if let Some(column) = self.columns.iter().position(|&column| column == name) {
            return Ok(Linear { known: Some((Expr::Column(column), start)), unknown: Vec::new() });
        }
        let index = self.unknowns.iter().position(|known| *known == name).unwrap_or(self.unknowns.len());
        if index == MOST_UNKNOWNS {
            return Err(self.error(start, Reason::TooManyUnknowns));
        }
        if index == self.unknowns.len() {
            self.unknowns.push(name);
        }
        Ok(Linear { known: None, unknown: vec![(index, Expr::ONE, start)] })
    }

    /// What has no unknown; one that is there cannot be `what`.
    fn known(&self, value: Linear, start: usize, what: &'static str) -> Parsed<Expr> {
        if let Some((index, _, at)) = value.unknown.first() {
            return Err(self.error(*at, Reason::NotLinear(self.unknowns[*index].clone(), what)));
        }
        value.known.map(|(expr, _)| expr).ok_or_else(|| self.error(start, Reason::NoOperand))
    }

    fn times(&self, left: Linear, right: Linear) -> Parsed<Linear> {
        let start = left.known.as_ref().map(|&(_, at)| at);
        let mut product = if left.unknown.is_empty() {
            let factor = self.known(left, self.at, "multiplied by another")?;
            scaled(right, |x| factor.clone().with(Operator::Multiply, x))
        } else {
            let factor = self.known(right, self.at, "multiplied by another")?;
            scaled(left, |x| x.with(Operator::Multiply, factor.clone()))
        };
        if let (Some((_, at)), Some(start)) = (&mut product.known, start) {
            *at = start;
        }
        Ok(product)
    }
}

/// Every part of a sum changed alike.
fn scaled(sum: Linear, change: impl Fn(Expr) -> Expr) -> Linear {
    Linear {
        known: sum.known.map(|(expr, at)| (change(expr), at)),
        unknown: sum.unknown.into_iter().map(|(index, expr, at)| (index, change(expr), at)).collect(),
    }
}

fn negated(sum: Linear) -> Linear {
    scaled(sum, |x| x.with(Operator::Multiply, Expr::Number(-1.0)))
}

fn plus(mut sum: Linear, right: Linear) -> Linear {
    sum.known = match (sum.known, right.known) {
        (Some((x, at)), Some((y, _))) => Some((x.with(Operator::Add, y), at)),
        (x, y) => x.or(y),
    };
    for (index, expr, at) in right.unknown {
        match sum.unknown.iter_mut().find(|(known, ..)| *known == index) {
            Some((_, total, _)) => *total = std::mem::replace(total, Expr::ONE).with(Operator::Add, expr),
            None => sum.unknown.push((index, expr, at)),
        }
    }
    sum
}
