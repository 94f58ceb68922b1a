//! Which rows of a table are taken, and rows of several processes made one.

use crate::Usage;
use anyhow::{Result, bail};
use likewise::words::{counted, grouped_digits};
use likewise_trace::{Cells, Column, ColumnTable};
use std::collections::BTreeMap;

/// Which rows are taken, and what they are rows of.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Only rows that meet all of these.
    pub conditions: Vec<Conditions>,
    /// One row of all that have the same values here; rows as they are if empty.
    pub per: Vec<String>,
    /// What is then made of the other columns.
    pub aggregate: Vec<Aggregate>,
}

/// What is made of the values of several rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// The mean.
    Mean,
    /// The least.
    Min,
    /// The largest.
    Max,
    /// The largest over the mean, where no value is negative and one is not 0.
    MaxOverMean,
}

impl Aggregate {
    fn name(self, column: &str) -> String {
        match self {
            Self::Mean => column.to_owned(),
            Self::Min => format!("{column}:min"),
            Self::Max => format!("{column}:max"),
            Self::MaxOverMean => format!("{column}:max/mean"),
        }
    }

    /// Of values without NaN; NaN where there is none.
    fn of(self, values: &[f64]) -> f64 {
        let Some(&first) = values.first() else { return f64::NAN };
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // If all values are equal, the result is that value: a rounded sum
        // could differ from it.
        let is_constant = values.iter().all(|&x| x == first);
        let mean = if is_constant { first } else { values.iter().sum::<f64>() / values.len() as f64 };
        match self {
            Self::Mean => mean,
            Self::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => max,
            Self::MaxOverMean if mean > 0.0 && values.iter().all(|&x| x >= 0.0) => max / mean,
            Self::MaxOverMean => f64::NAN,
        }
    }
}

impl Rows {
    /// Takes the rows that are asked for; returns what was done, in sentences.
    /// Columns of `numbers` stay so though `--per` names them.
    ///
    /// # Errors
    /// A column is not there or of another kind, or no row is left.
    pub fn apply(&self, table: &mut ColumnTable, numbers: &[String]) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        if !self.conditions.is_empty() {
            notes.push(self.filter(table)?);
        }
        if !self.per.is_empty() {
            notes.extend(aggregate(table, &self.per, &self.aggregate, numbers)?);
        }
        Ok(notes)
    }

    fn filter(&self, table: &mut ColumnTable) -> Result<String> {
        let all: Vec<&Condition> = self.conditions.iter().flat_map(|one| &one.all).collect();
        let mut keep = vec![true; table.n_rows];
        for condition in &all {
            condition.narrow(table, &mut keep)?;
        }
        let rows: Vec<usize> = (0..table.n_rows).filter(|&row| keep[row]).collect();
        let texts: Vec<&str> = self.conditions.iter().map(|one| one.text.as_str()).collect();
        let asked = texts.join(" and ");
        if rows.is_empty() {
            bail!("none of {} meets --where '{asked}'", counted(table.n_rows as u64, "row"));
        }
        let note = format!(
            "{} of {} meet '{asked}'.",
            grouped_digits(rows.len() as u64),
            counted(table.n_rows as u64, "row")
        );
        take(table, &rows);
        Ok(note)
    }
}

/// Those rows only. Where no text names them, their numbers do.
fn take(table: &mut ColumnTable, rows: &[usize]) {
    for column in &mut table.columns {
        match &mut column.cells {
            Cells::Numbers(cells) => *cells = rows.iter().map(|&row| cells[row]).collect(),
            Cells::Texts(cells) => *cells = rows.iter().map(|&row| std::mem::take(&mut cells[row])).collect(),
        }
    }
    let is_taken = table.columns.iter().any(|column| column.name == "row");
    if table.texts().next().is_none() && !is_taken {
        let cells = Cells::Texts(rows.iter().map(usize::to_string).collect());
        table.columns.insert(0, Column { name: "row".to_owned(), cells });
    }
    table.n_rows = rows.len();
}

/// The column, or which there are.
fn column<'t>(table: &'t ColumnTable, name: &str) -> Result<&'t Column, Usage> {
    table.columns.iter().find(|column| column.name == name).ok_or_else(|| {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).take(20).collect();
        Usage(format!("the table has no column '{name}'; there are: {}", names.join(", ")))
    })
}

/// One row for each combination of the keys' values, in the order in which
/// they come.
fn aggregate(
    table: &mut ColumnTable,
    keys: &[String],
    how: &[Aggregate],
    numbers: &[String],
) -> Result<Vec<String>> {
    let text = |cells: &Cells, row: usize| match cells {
        Cells::Texts(texts) => texts[row].clone(),
        Cells::Numbers(values) if values[row].is_nan() => String::new(),
        // Adding 0 makes one of both zeros.
        Cells::Numbers(values) => (values[row] + 0.0).to_string(),
    };
    let key_columns = keys.iter().map(|key| column(table, key)).collect::<Result<Vec<_>, _>>()?;
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut unnamed = 0;
    for row in 0..table.n_rows {
        let key: Vec<String> = key_columns.iter().map(|column| text(&column.cells, row)).collect();
        if key.iter().any(String::is_empty) {
            unnamed += 1;
            continue;
        }
        let place = *places.entry(key).or_insert(members.len());
        members.resize(members.len().max(place + 1), Vec::new());
        members[place].push(row);
    }
    if members.is_empty() {
        bail!("no row has a value in {}", keys.join(", "));
    }
    let (mut columns, mut dropped) = (Vec::new(), Vec::new());
    for column in &table.columns {
        let is_key = keys.contains(&column.name);
        let stays = !is_key || numbers.contains(&column.name);
        match &column.cells {
            Cells::Numbers(values) if stays => columns.extend(summed_up(column, values, &members, how)),
            cells => {
                let alike =
                    |rows: &Vec<usize>| rows.iter().all(|&row| text(cells, row) == text(cells, rows[0]));
                if members.iter().all(alike) {
                    let texts = members.iter().map(|rows| text(cells, rows[0])).collect();
                    columns.push(Column { name: column.name.clone(), cells: Cells::Texts(texts) });
                } else {
                    dropped.push(column.name.clone());
                }
            }
        }
    }
    let sizes = members.iter().map(Vec::len);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let each = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let mut notes = vec![format!(
        "{} became {}, one for each value of {}, of {each} rows each.",
        counted((table.n_rows - unnamed) as u64, "row"),
        members.len(),
        keys.join(", ")
    )];
    if unnamed > 0 {
        notes.push(format!("{} without a value of --per left out.", counted(unnamed as u64, "row")));
    }
    if !dropped.is_empty() {
        notes.push(format!("Not one value for each row of --per, and left out: {}.", dropped.join(", ")));
    }
    check_names(&columns)?;
    *table = ColumnTable { columns, n_rows: members.len(), taken: std::mem::take(&mut table.taken) };
    Ok(notes)
}

/// Aggregates a column of numbers in every way that was asked for. If the rows
/// of each site agree, the column stays one column.
fn summed_up<'a>(
    column: &'a Column,
    values: &'a [f64],
    members: &'a [Vec<usize>],
    how: &'a [Aggregate],
) -> impl Iterator<Item = Column> + 'a {
    let known: Vec<Vec<f64>> = members
        .iter()
        .map(|rows| rows.iter().map(|&row| values[row]).filter(|x| !x.is_nan()).collect())
        .collect();
    let agree = known.iter().all(|values| values.iter().all(|&x| x == values[0]));
    let how = if agree { &[Aggregate::Mean][..] } else { how };
    how.iter().map(move |one| Column {
        name: one.name(&column.name),
        cells: Cells::Numbers(known.iter().map(|values| one.of(values)).collect()),
    })
}

/// A table may have a column `time:max` already.
fn check_names(columns: &[Column]) -> Result<()> {
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].iter().any(|other| other.name == column.name) {
            bail!("--per would make two columns called '{}'; rename one in the table", column.name);
        }
    }
    Ok(())
}

/// Conditions that must all be met, as they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// The text.
    pub text: String,
    all: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    name: String,
    is: Is,
    value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
    Other,
}

/// `>=` comes before `>`: the first sign that fits is taken.
const SIGNS: [(&str, Is); 7] = [
    (">=", Is::AtLeast),
    ("<=", Is::AtMost),
    ("!=", Is::Other),
    ("==", Is::Equal),
    (">", Is::Above),
    ("<", Is::Below),
    ("=", Is::Equal),
];

impl Is {
    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::AtLeast => a >= b,
            Self::AtMost => a <= b,
            Self::Above => a > b,
            Self::Below => a < b,
            Self::Equal => a == b,
            Self::Other => a != b,
        }
    }
}

impl Condition {
    /// Unmarks the rows that do not meet it.
    fn narrow(&self, table: &ColumnTable, keep: &mut [bool]) -> Result<(), Usage> {
        let (name, value) = (&self.name, &self.value);
        let number = value.parse::<f64>().ok().filter(|x| !x.is_nan());
        match (&column(table, name)?.cells, number) {
            (Cells::Numbers(_), None) => {
                Err(Usage(format!("column '{name}' is of numbers, and '{value}' in --where is none")))
            }
            (Cells::Numbers(cells), Some(number)) => {
                let met = |x: f64| !x.is_nan() && self.is.holds(x, number);
                keep.iter_mut().zip(cells).for_each(|(keep, &x)| *keep &= met(x));
                Ok(())
            }
            (Cells::Texts(_), None) if !matches!(self.is, Is::Equal | Is::Other) => Err(Usage(format!(
                "column '{name}' is of texts; '{value}' in --where can be compared by = and != only"
            ))),
            (Cells::Texts(cells), number) => {
                let met = |text: &String| match (text.parse::<f64>(), number) {
                    (Ok(x), Some(number)) => self.is.holds(x, number),
                    _ if text.is_empty() => false,
                    _ => match self.is {
                        Is::Equal => text == value,
                        Is::Other => text != value,
                        _ => false,
                    },
                };
                keep.iter_mut().zip(cells).for_each(|(keep, text)| *keep &= met(text));
                Ok(())
            }
        }
    }
}

impl std::str::FromStr for Conditions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text.trim_start();
        let mut all = Vec::new();
        let at = |rest: &str| text[..text.len() - rest.len()].chars().count() + 1;
        loop {
            let (name, after) =
                word(rest).ok_or_else(|| format!("expected a column at character {}", at(rest)))?;
            let after = after.trim_start();
            let sign = SIGNS.iter().find(|(sign, _)| after.starts_with(sign));
            let (sign, is) =
                sign.ok_or_else(|| format!("expected one of >= <= > < = != at character {}", at(after)))?;
            let after = after[sign.len()..].trim_start();
            let (value, after) = word(after)
                .ok_or_else(|| format!("expected a number or a text at character {}", at(after)))?;
            all.push(Condition { name, is: *is, value });
            rest = after.trim_start();
            if rest.is_empty() {
                return Ok(Self { text: text.trim().to_owned(), all });
            }
            let joined = rest.strip_prefix("&&").or_else(|| {
                let (and, after) = rest.split_at_checked(3)?;
                (and.eq_ignore_ascii_case("and") && after.starts_with(char::is_whitespace)).then_some(after)
            });
            rest = joined.ok_or_else(|| format!("expected 'and' at character {}", at(rest)))?.trim_start();
        }
    }
}

/// A word up to a blank or a sign, or what is in quotes; and what follows.
fn word(text: &str) -> Option<(String, &str)> {
    if let Some(quote @ ('"' | '\'')) = text.chars().next() {
        let (word, after) = text[1..].split_once(quote)?;
        return Some((word.to_owned(), after));
    }
    let ends = |c: char| c.is_whitespace() || ['<', '>', '=', '!', '&', '"', '\''].contains(&c);
    let end = text.find(ends).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(name: &str, cells: &[f64]) -> Column {
        Column { name: name.to_owned(), cells: Cells::Numbers(cells.to_vec()) }
    }

    fn texts(name: &str, cells: &[&str]) -> Column {
        Column { name: name.to_owned(), cells: Cells::Texts(cells.iter().map(|&t| t.to_owned()).collect()) }
    }

    fn args(conditions: &[&str], per: &str, aggregate: &[Aggregate]) -> Rows {
        let per = if per.is_empty() { Vec::new() } else { vec![per.parse().unwrap()] };
        let conditions = conditions.iter().map(|text| text.parse().unwrap()).collect();
        Rows { conditions, per, aggregate: aggregate.to_vec() }
    }

    #[test]
    fn conditions_are_read_and_errors_have_their_place() {
        let parse = |text: &str| text.parse::<Conditions>().map(|found| found.all);
        let one = |name: &str, is, value: &str| Condition { name: name.into(), is, value: value.into() };
        assert_eq!(
            parse("bytes>=1024 AND 'wall time' < 2e-3&&host!=\"n 1\""),
            Ok(vec![
                one("bytes", Is::AtLeast, "1024"),
                one("wall time", Is::Below, "2e-3"),
                one("host", Is::Other, "n 1")
            ])
        );
        for (text, error) in [
            ("", "expected a column at character 1"),
            ("a", "expected one of >= <= > < = != at character 2"),
            ("a > ", "expected a number or a text at character 5"),
            ("a>1 b<2", "expected 'and' at character 5"),
            ("a>1 and", "expected 'and' at character 5"),
            ("a>1 and ", "expected a column at character 9"),
            ("'a > 1", "expected a column at character 1"),
            ("é>1 or b<2", "expected 'and' at character 5"),
        ] {
            assert_eq!(parse(text.trim_end_matches('\n')).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn rows_are_those_that_meet_all() {
        let table = || ColumnTable {
            columns: vec![numbers("p", &[1.0, 2.0, 4.0, f64::NAN]), numbers("h", &[9.0, 8.0, 7.0, 6.0])],
            n_rows: 4,
            ..ColumnTable::default()
        };
        let mut taken = table();
        let notes = args(&["p>=2 and h<9"], "", &[]).apply(&mut taken, &[]).unwrap();
        assert_eq!(notes, ["2 of 4 rows meet 'p>=2 and h<9'."]);
        assert_eq!(taken.columns[0], texts("row", &["1", "2"]), "their numbers in the file");
        assert_eq!(taken.columns[2], numbers("h", &[8.0, 7.0]));
        let mut missing = table();
        args(&["p != 1"], "", &[]).apply(&mut missing, &[]).unwrap();
        assert_eq!(missing.n_rows, 2, "a missing value is not other than 1");
        let error =
            |condition: &str| args(&[condition], "", &[]).apply(&mut table(), &[]).unwrap_err().to_string();
        assert_eq!(error("p > 9"), "none of 4 rows meets --where 'p > 9'");
        assert!(error("q > 9").contains("no column 'q'; there are: p, h"));
        assert!(error("p = x").contains("is of numbers"));
    }

    #[test]
    fn labels_compare_as_numbers_where_both_are() {
        let mut table = ColumnTable {
            columns: vec![texts("cluster", &["1", "noise", "12", ""])],
            n_rows: 4,
            ..ColumnTable::default()
        };
        args(&["cluster>=2"], "", &[]).apply(&mut table, &[]).unwrap();
        assert_eq!(table.columns[0], texts("cluster", &["12"]));
        let mut table = ColumnTable {
            columns: vec![texts("cluster", &["1", "noise", "12", ""])],
            n_rows: 4,
            ..ColumnTable::default()
        };
        args(&["cluster!=noise"], "", &[]).apply(&mut table, &[]).unwrap();
        assert_eq!(table.columns[0], texts("cluster", &["1", "12"]));
    }

    #[test]
    fn processes_become_one_row() {
        let all = [Aggregate::Mean, Aggregate::Min, Aggregate::Max, Aggregate::MaxOverMean];
        let mut table = ColumnTable {
            columns: vec![
                texts("site", &["a", "b", "a", "b"]),
                texts("host", &["n1", "n1", "n2", "n1"]),
                numbers("nval", &[0.1, 0.2, 0.1, 0.2]),
                numbers("time", &[1.0, 2.0, 3.0, f64::NAN]),
                numbers("drift", &[-1.0, 0.0, 3.0, 0.5]),
            ],
            n_rows: 4,
            ..ColumnTable::default()
        };
        let notes = args(&[], "site", &all).apply(&mut table, &[]).unwrap();
        assert_eq!(notes[0], "4 rows became 2, one for each value of site, of 2 rows each.");
        assert!(notes[1].ends_with("left out: host."), "{notes:?}");
        assert_eq!(table.columns[0], texts("site", &["a", "b"]));
        assert_eq!(table.columns[1], numbers("nval", &[0.1, 0.2]), "what rows agree in is as it was");
        assert_eq!(
            table.columns[2..6],
            [
                numbers("time", &[2.0, 2.0]),
                numbers("time:min", &[1.0, 2.0]),
                numbers("time:max", &[3.0, 2.0]),
                numbers("time:max/mean", &[1.5, 1.0])
            ]
        );
        let Cells::Numbers(drift) = &table.columns[9].cells else { panic!("numbers") };
        assert!(drift[0].is_nan() && drift[1] == 2.0, "no ratio of negative values: {drift:?}");
    }

    #[test]
    fn keys_stay_numbers_where_they_are_needed_as_such() {
        let table = || ColumnTable {
            columns: vec![numbers("p", &[1.0, 1.0, 2.0]), numbers("t", &[3.0, 5.0, 7.0])],
            n_rows: 3,
            ..ColumnTable::default()
        };
        let (mut named, mut needed) = (table(), table());
        args(&[], "p", &[Aggregate::Mean]).apply(&mut named, &[]).unwrap();
        args(&[], "p", &[Aggregate::Mean]).apply(&mut needed, &["p".to_owned()]).unwrap();
        assert_eq!(named.columns[0], texts("p", &["1", "2"]));
        assert_eq!(needed.columns[0], numbers("p", &[1.0, 2.0]));
        assert_eq!(needed.columns[1], numbers("t", &[4.0, 7.0]));
    }
}
