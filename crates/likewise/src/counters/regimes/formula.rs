//! Formulas that are linear in what is unknown.

use std::str::FromStr;

use super::syntax::{self, FormulaError};

/// A model of the response: a sum of terms, each with an unknown coefficient.
///
/// An unknown called `lambda` (or `λ`) is a latency, and one called `tau`
/// (or `τ`) the reciprocal of a bandwidth.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    pub(super) unknowns: Vec<Unknown>,
}

/// A coefficient to be estimated, and what it multiplies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unknown {
    pub(super) name: String,
    pub(super) term: Expr,
}

impl Formula {
    /// Reads a formula such as `a + b*h + c*log2(p)` by the rules of
    /// [`FORMULA_SYNTAX`](super::FORMULA_SYNTAX).
    ///
    /// Names found among `columns` are parameters, in that order; all others
    /// are unknowns.
    ///
    /// # Errors
    /// [`FormulaError`] names the character and what was expected there.
    pub fn parse(text: &str, columns: &[&str]) -> Result<Self, FormulaError> {
        Ok(Formula { text: text.trim().to_owned(), unknowns: syntax::parse(text, columns)? })
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The unknowns, in order of their first use.
    pub fn unknowns(&self) -> impl Iterator<Item = &str> {
        self.unknowns.iter().map(|unknown| unknown.name.as_str())
    }

    /// Whether a column, by its place among those named, is in it.
    #[must_use]
    pub fn uses(&self, column: usize) -> bool {
        self.unknowns.iter().any(|unknown| unknown.term.uses(column))
    }

    /// The value for a row of parameters, where the unknowns are known.
    ///
    /// # Panics
    /// If there are fewer coefficients than unknowns, or fewer parameters
    /// than columns were named.
    #[must_use]
    pub fn value(&self, coefficients: &[f64], parameters: &[f64]) -> f64 {
        let term = |(i, u): (usize, &Unknown)| coefficients[i] * u.term.value(&|column| parameters[column]);
        self.unknowns.iter().enumerate().map(term).sum()
    }
}

/// What is computed from the parameters of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Number(f64),
    Column(usize),
    Binary(Box<Expr>, Operator, Box<Expr>),
    Call(Function, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Multiply,
    Divide,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Log2,
    Ln,
    Log10,
    Sqrt,
}

impl FromStr for Function {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "log2" => Ok(Self::Log2),
            "ln" => Ok(Self::Ln),
            "log10" => Ok(Self::Log10),
            "sqrt" => Ok(Self::Sqrt),
            _ => Err(()),
        }
    }
}

impl Expr {
    pub(super) const ONE: Expr = Expr::Number(1.0);

    /// `self` and `other` under an operator; products with 1 are the other
    /// factor, so that a term looks the same however it was written.
    pub(super) fn with(self, operator: Operator, other: Expr) -> Expr {
        match (operator, &self, &other) {
            (Operator::Multiply, Expr::Number(1.0), _) => other,
            (Operator::Multiply | Operator::Divide, _, Expr::Number(1.0)) => self,
            _ => Expr::Binary(Box::new(self), operator, Box::new(other)),
        }
    }

    fn uses(&self, column: usize) -> bool {
        match self {
            Expr::Number(_) => false,
            Expr::Column(index) => *index == column,
            Expr::Call(_, inner) => inner.uses(column),
            Expr::Binary(left, _, right) => left.uses(column) || right.uses(column),
        }
    }

    /// One more than the greatest column it uses.
    pub(super) fn n_columns(&self) -> usize {
        match self {
            Expr::Number(_) => 0,
            Expr::Column(index) => index + 1,
            Expr::Call(_, inner) => inner.n_columns(),
            Expr::Binary(left, _, right) => left.n_columns().max(right.n_columns()),
        }
    }

    pub(super) fn value(&self, column: &impl Fn(usize) -> f64) -> f64 {
        match self {
            Expr::Number(x) => *x,
            Expr::Column(index) => column(*index),
            Expr::Call(function, inner) => {
                let x = inner.value(column);
                match function {
                    Function::Log2 => x.log2(),
                    Function::Ln => x.ln(),
                    Function::Log10 => x.log10(),
                    Function::Sqrt => x.sqrt(),
                }
            }
            Expr::Binary(left, operator, right) => {
                let (x, y) = (left.value(column), right.value(column));
                match operator {
                    Operator::Add => x + y,
                    Operator::Multiply => x * y,
                    Operator::Divide => x / y,
                    Operator::Power => x.powf(y),
                }
            }
        }
    }
}

/// The models of a collective operation among `processes` that moves
/// `length`, in the order in which equal ones are preferred.
///
/// > λ + τh, λ log₂ p + τh, (λ + τh) log₂ p
///
/// The first is that of a single message; the second that of a message in
/// pieces (scatter and gather by recursive doubling), the third that of a
/// tree of whole messages. `bytes` are those of one unit of `length`: τ is in
/// seconds per byte, whose reciprocal is the bandwidth. Both names must be
/// among `columns`.
///
/// # Errors
/// [`FormulaError`] where a column is not there or its name holds a double quote.
///
/// # Reference
/// Malard, *A role for Pareto optimality in mining performance data*, 2005,
/// §2. Differs: the constant of the first is called λ, as in the paper's own
/// Table 1, and the logarithm is that of base 2, the axis of that table.
pub fn collective_models(
    processes: &str,
    length: &str,
    bytes: f64,
    columns: &[&str],
) -> Result<[Formula; 3], FormulaError> {
    let (p, h) = (syntax::name(processes), sized(length, bytes));
    let read = |text: String| Formula::parse(&text, columns);
    Ok([
        message_model(length, bytes, columns)?,
        read(format!("lambda*log2({p}) + tau*{h}"))?,
        read(format!("(lambda + tau*{h})*log2({p})"))?,
    ])
}

/// The model of one message of `length`: λ + τh, with the errors and the
/// meaning of [`collective_models`].
///
/// # Errors
/// Those of [`collective_models`].
pub fn message_model(length: &str, bytes: f64, columns: &[&str]) -> Result<Formula, FormulaError> {
    Formula::parse(&format!("lambda + tau*{}", sized(length, bytes)), columns)
}

/// The length in bytes.
fn sized(length: &str, bytes: f64) -> String {
    let length = syntax::name(length);
    if bytes == 1.0 { length } else { format!("{bytes}*{length}") }
}
