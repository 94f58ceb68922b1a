//! What became of the columns of a table: which were taken, and which were
//! left out and why.

/// The most names that are kept for one kind of column. A wide table has a
/// column for each step, so beyond this only their number is kept.
const MOST_NAMES: usize = 200;

/// The columns of a table, by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Columns that are numbers here, safe to print; the first
    /// [`n_numbers`](Self::n_numbers) of more than 200.
    pub numbers: Vec<String>,
    /// How many columns are numbers.
    pub n_numbers: usize,
    /// Columns that say which row it is.
    pub names: Vec<String>,
    /// Columns that are not used, and why.
    pub left_out: Vec<(String, String)>,
    /// Columns whose numbers stand before a unit, or a percent sign, and which.
    pub units: Vec<(String, String)>,
    /// What else should be known of the reading, in sentences.
    pub notes: Vec<String>,
    /// The number that the table gives the first rank, which is 0 here.
    pub first_rank: u64,
}

impl Taken {
    pub(crate) fn new<'n>(numbers: impl IntoIterator<Item = &'n str>) -> Self {
        let mut taken = Self::default();
        numbers.into_iter().for_each(|name| taken.push(name));
        taken
    }

    /// One more column of numbers.
    pub(crate) fn push(&mut self, name: &str) {
        if self.n_numbers < MOST_NAMES {
            self.numbers.push(name.to_owned());
        }
        self.n_numbers += 1;
    }

    pub(crate) fn leave_out(&mut self, name: &str, why: impl Into<String>) {
        self.left_out.push((name.to_owned(), why.into()));
    }

    /// In one line: `numbers: a, b; names: site; left out: x (why)`.
    #[must_use]
    pub fn told(&self) -> String {
        let list = |names: &[String], n: usize| match n.saturating_sub(SHOWN) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names[..SHOWN.min(names.len())].join(", ")),
        };
        let mut parts = vec![format!(
            "numbers: {}",
            if self.n_numbers == 0 { "none".to_owned() } else { list(&self.numbers, self.n_numbers) }
        )];
        if !self.names.is_empty() {
            parts.push(format!("names: {}", list(&self.names, self.names.len())));
        }
        parts.extend(self.told_left_out().map(|told| format!("left out: {told}")));
        format!("Columns: {}", parts.join("; "))
    }

    /// The columns that were left out, each with the reason; none where there
    /// are none.
    #[must_use]
    pub fn told_left_out(&self) -> Option<String> {
        let shown = self.left_out.iter().take(SHOWN).map(|(name, why)| format!("{name} ({why})"));
        let more = match self.left_out.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!self.left_out.is_empty()).then(|| format!("{}{more}", shown.collect::<Vec<_>>().join(", ")))
    }

    /// The unit behind every number of a column.
    #[must_use]
    pub fn unit(&self, column: &str) -> Option<&str> {
        self.units.iter().find(|(name, _)| name == column).map(|(_, unit)| unit.as_str())
    }

    /// Notes for people: of what was left out, and all others.
    #[must_use]
    pub fn said(&self) -> Vec<String> {
        let left_out = self.told_left_out().map(|told| format!("Left out of the table: {told}."));
        let units: Vec<String> = self.units.iter().map(|(name, unit)| format!("{name} ({unit})")).collect();
        let units = (!units.is_empty())
            .then(|| format!("Read without the unit behind each number: {}.", units.join(", ")));
        left_out.into_iter().chain(units).chain(self.notes.iter().cloned()).collect()
    }
}

/// The most names in a line: a wide table has thousands.
const SHOWN: usize = 8;

/// Whether the column has no name of its own: none at all, or one that pandas
/// makes up when it reads or writes such a column.
pub(crate) fn is_unnamed(name: &str) -> bool {
    let made_up = name.strip_prefix("Unnamed: ").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    name.is_empty() || made_up || name.starts_with("__index_level_")
}

/// Whether these are 0, 1, 2, … or 1, 2, 3, ….
pub(crate) fn count_rows(numbers: &[f64]) -> bool {
    [0.0, 1.0].iter().any(|from| numbers.iter().zip(0u32..).all(|(x, n)| *x == from + f64::from(n)))
}

/// Why an unnamed column that counts the rows is left out.
pub(crate) const COUNTS: &str = "it has no name and counts the rows, as the index of a data frame does";

/// Why an unnamed column of these numbers is left out; `None` if it is data.
/// Data frames are written with an unnamed column that counts the rows from 0
/// or 1. If rows were taken out, it has a different whole number in each row.
pub(crate) fn index_fault(numbers: &[f64]) -> Option<&'static str> {
    if count_rows(numbers) {
        Some(COUNTS)
    } else if are_different_wholes(numbers) {
        Some(
            "it has no name and a different whole number in each row, as the index of a data frame does; name it to use it",
        )
    } else {
        None
    }
}

pub(crate) fn are_different_wholes(numbers: &[f64]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    numbers.iter().all(|x| x.fract() == 0.0 && *x >= 0.0) && sorted.windows(2).all(|pair| pair[0] < pair[1])
}

/// What an unnamed column is called where it is shown.
pub(crate) fn name_or_place(name: &str, at: usize) -> String {
    if name.is_empty() { format!("column {}", at + 1) } else { name.to_owned() }
}
