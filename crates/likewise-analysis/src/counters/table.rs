//! Profiles from a table: which columns and rows, and how they are scaled.

use super::pareto::{numbers_of, row_name};
use super::{LeftOut, ProfileSettings, Scale};
use crate::Usage;
use anyhow::{Result, bail};
use likewise::cluster::hierarchical::{MAX_VALUE, Profiles, ProfilesError};
use likewise::words::{counted, short};
use likewise_trace::{Cells, ColumnTable};

/// Columns of `bursts.csv` that say which burst it is, and not what it did.
const BURST: [&str; 4] = ["task", "thread", "begin_ns", "duration_ns"];
/// Columns of `clusters.csv` that are about the phase's place among the others.
const PHASE: [&str; 12] = [
    "instances",
    "total_ns",
    "sd_ns",
    "min_ns",
    "max_ns",
    "share",
    "share_of_clustered",
    "tasks",
    "imbalance",
    "spmd_score",
    "silhouette",
    "serial",
];

/// Profiles, what they are called, and what is no part of them.
pub(super) struct Selected {
    pub(super) names: Vec<String>,
    /// The columns that are used.
    pub(super) columns: Vec<String>,
    pub(super) profiles: Profiles,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) notes: Vec<String>,
}

/// A column that is used.
struct Used<'t> {
    name: &'t str,
    values: &'t [f64],
}

/// What is known of our own tables: columns that name rows become texts, and
/// those that are no counters are dropped, with a note.
pub(super) fn understand(table: &mut ColumnTable) -> Option<String> {
    let has = |name: &str| table.columns.iter().any(|column| column.name == name);
    let is_bursts = BURST.iter().all(|name| has(name));
    let is_phases = ["cluster", "instances", "mean_ns"].iter().all(|name| has(name));
    if !is_bursts && !is_phases {
        return None;
    }
    table.columns.retain(|column| {
        let name = column.name.as_str();
        if is_bursts {
            !name.starts_with("n_")
        } else {
            !PHASE.contains(&name) && !["_sd", "_n", "_se"].iter().any(|end| name.ends_with(end))
        }
    });
    for column in &mut table.columns {
        let is_key = column.name == "app" || BURST[..3].contains(&column.name.as_str());
        if let (true, Cells::Numbers(numbers)) = (is_bursts && is_key, &column.cells) {
            column.cells = Cells::Texts(numbers.iter().map(f64::to_string).collect());
        }
    }
    let told = if is_bursts {
        "The table is of bursts: task, thread, begin and phase name the rows, and normalised columns (n_…) are passed over."
    } else {
        "The table is of phases: of its columns the means and the rates are used."
    };
    Some(told.to_owned())
}

/// Which columns are to be used.
pub(super) struct Asked<'a> {
    /// These only, if any are named.
    pub(super) columns: &'a [String],
    /// Neither these of groups nor these of parameters, where none are named
    /// and enough others are there.
    pub(super) apart: &'a [Vec<String>; 2],
    /// What is known to be left out.
    pub(super) mistaken: Vec<LeftOut>,
}

/// Profiles of the columns that are named, or of all columns of numbers.
///
/// # Errors
/// A column is not there, or too little is left.
pub(super) fn select(table: &ColumnTable, asked: Asked<'_>, how: ProfileSettings) -> Result<Selected> {
    let mut left_out = asked.mistaken;
    let mut used = Vec::new();
    for column in named(table, asked.columns, asked.apart, how.max_missing)? {
        check_size(&column)?;
        match fault(column.values, how.max_missing) {
            Some(why) => left_out.push(LeftOut { name: column.name.to_owned(), why }),
            None => used.push(column),
        }
    }
    if used.is_empty() && table.n_rows == 1 && !left_out.is_empty() {
        bail!("the table has one row, in which nothing varies; at least 2 rows are needed");
    }
    if used.is_empty() && table.columns.len() == 1 && left_out.is_empty() {
        bail!(
            "no column is left; the table has one, '{}', and it is none of numbers. Cells are separated by commas, \
             semicolons, tabs, bars (|) or blanks",
            table.columns[0].name
        );
    }
    if used.is_empty() {
        bail!("no column is left{}", all_left_out(&left_out, "; the table has none of numbers"));
    }
    let scaled: Vec<Vec<f64>> = used.iter().map(|column| scaled(column.values, how.scale)).collect();
    if how.is_by_row {
        return by_row(table, &used, &scaled, left_out, how);
    }
    if used.len() < 2 {
        bail!("only column '{}' is left, and 2 are needed{}", used[0].name, all_left_out(&left_out, ""));
    }
    let profiles = Profiles::new(&scaled.concat(), table.n_rows)?;
    let columns = columns_of(&used);
    Ok(Selected { names: columns.clone(), columns, profiles, left_out, notes: Vec::new() })
}

fn columns_of(used: &[Used<'_>]) -> Vec<String> {
    used.iter().map(|column| column.name.to_owned()).collect()
}

/// A profile for each row that has enough values.
fn by_row(
    table: &ColumnTable,
    used: &[Used<'_>],
    scaled: &[Vec<f64>],
    mut left_out: Vec<LeftOut>,
    how: ProfileSettings,
) -> Result<Selected> {
    let (mut names, mut data) = (Vec::new(), Vec::new());
    let mut gone = 0;
    for row in 0..table.n_rows {
        let known = used.iter().filter(|column| !column.values[row].is_nan()).count();
        let missing = 1.0 - known as f64 / used.len() as f64;
        if known == 0 || missing > how.max_missing {
            gone += 1;
            if gone <= MAX_NAMED {
                let why = missing_share(missing);
                left_out.push(LeftOut { name: row_name(table, row), why });
            }
        } else {
            names.push(row_name(table, row));
            data.extend(scaled.iter().map(|column| column[row]));
        }
    }
    let mut notes = Vec::new();
    if gone > MAX_NAMED {
        notes.push(format!(
            "{} lack too many values; the first {MAX_NAMED} are named.",
            counted(gone as u64, "row")
        ));
    }
    if names.len() < 2 {
        bail!("{} left, and 2 are needed{}", counted(names.len() as u64, "row"), all_left_out(&left_out, ""));
    }
    let profiles = Profiles::new(&data, used.len())?;
    Ok(Selected { names, columns: columns_of(used), profiles, left_out, notes })
}

/// Rows that are named one by one.
const MAX_NAMED: usize = 20;

/// Those of `columns`, in their order, or all but those `apart` if two are left that tell
/// anything.
fn named<'t>(
    table: &'t ColumnTable,
    columns: &[String],
    apart: &[Vec<String>; 2],
    max_missing: f64,
) -> Result<Vec<Used<'t>>> {
    if columns.is_empty() {
        let [groups, parameters] = apart;
        let without = |apart: &[&[String]]| -> Vec<Used<'t>> {
            let is_apart = |name: &str| apart.iter().any(|names| names.iter().any(|other| other == name));
            let all = table.numbers().map(|(name, values)| Used { name, values });
            all.filter(|column| !is_apart(column.name)).collect()
        };
        let tried = [without(&[groups, parameters]), without(&[groups])];
        let tells = |column: &&Used<'_>| fault(column.values, max_missing).is_none();
        let are_enough = |used: &Vec<Used<'_>>| used.iter().filter(tells).count() >= 2;
        return Ok(tried.into_iter().find(are_enough).unwrap_or_else(|| without(&[])));
    }
    let mut found: Vec<Used<'t>> = Vec::new();
    for asked in columns {
        let (name, values) = numbers_of(table, asked)?;
        if found.iter().any(|column| column.name == name) {
            return Err(Usage(format!("column '{name}' is named twice")).into());
        }
        found.push(Used { name, values });
    }
    Ok(found)
}

fn check_size(column: &Used<'_>) -> Result<()> {
    match column.values.iter().position(|x| x.abs() > MAX_VALUE) {
        None => Ok(()),
        Some(row) => bail!(
            "column '{}', row {} (from 1, without the names) is {}; values must be at most {MAX_VALUE:e} in size",
            column.name,
            row + 1,
            short(column.values[row])
        ),
    }
}

/// Why a column tells nothing.
fn fault(values: &[f64], max_missing: f64) -> Option<String> {
    let known: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    let missing = 1.0 - known.len() as f64 / values.len().max(1) as f64;
    if known.is_empty() || missing > max_missing {
        return Some(missing_share(missing));
    }
    let first = known[0];
    known.iter().all(|&x| x == first).then(|| format!("constant: {}", short(first)))
}

fn missing_share(missing: f64) -> String {
    if missing == 1.0 {
        "all values are missing".to_owned()
    } else {
        format!("{:.1}% are missing", 100.0 * missing)
    }
}

/// `none` is what to say if there are none.
fn all_left_out(left_out: &[LeftOut], none: &str) -> String {
    let shown: Vec<String> = left_out.iter().take(5).map(|l| format!("{} ({})", l.name, l.why)).collect();
    match left_out.len() {
        0 => none.to_owned(),
        n if n > 5 => format!("; left out are {}, …", shown.join(", ")),
        _ => format!("; left out are {}", shown.join(", ")),
    }
}

/// Values of a column that is not constant, comparable with those of others.
fn scaled(values: &[f64], scale: Scale) -> Vec<f64> {
    if scale == Scale::None {
        return values.to_vec();
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ranged: Vec<f64> = values.iter().map(|x| (x - low) / (high - low)).collect();
    if scale == Scale::Range {
        return ranged;
    }
    // Scaled to 0–1 first, so that no square exceeds the range of a double.
    let known = || ranged.iter().copied().filter(|x| !x.is_nan());
    let n = known().count() as f64;
    let mean = known().sum::<f64>() / n;
    let deviation = (known().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    ranged.iter().map(|x| (x - mean) / deviation).collect()
}

/// What is wrong with profiles, by their names.
pub(super) fn by_name(error: ProfilesError, names: &[String]) -> anyhow::Error {
    match error {
        ProfilesError::NothingInCommon { a, b } => {
            let (a, b) = (&names[a], &names[b]);
            anyhow::anyhow!("'{a}' and '{b}' are never known together; leave one of them out")
        }
        ProfilesError::Constant { profile, other } => {
            let (profile, other) = (&names[profile], &names[other]);
            anyhow::anyhow!("'{profile}' does not vary where '{other}' is known, so they have no correlation")
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_scaled_over_what_is_known() {
        assert_eq!(scaled(&[2.0, 4.0, 3.0], Scale::Range), [0.0, 1.0, 0.5]);
        let z = scaled(&[1e-200, f64::NAN, 3e-200], Scale::Z);
        assert_eq!((z[0], z[2]), (-1.0, 1.0));
        assert!(z[1].is_nan());
    }

    #[test]
    fn what_tells_nothing_is_said_to() {
        assert_eq!(fault(&[1.0, f64::NAN, 1.0], 0.5), Some("constant: 1".to_owned()));
        assert_eq!(fault(&[1.0, f64::NAN, f64::NAN], 0.5), Some("66.7% are missing".to_owned()));
        assert_eq!(fault(&[f64::NAN], 1.0), Some("all values are missing".to_owned()));
        assert_eq!(fault(&[1.0, f64::NAN, 2.0, f64::NAN], 0.5), None);
    }
}
