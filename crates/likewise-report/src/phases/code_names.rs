//! The code of phases, in a column of the terminal.

use likewise::bursts::BurstLabel;
use likewise::words::percent;
use likewise_trace::is_hidden;

use super::{RegionRow, ReportData};

/// The code in which each of the phases spends most of its time, and how much of it, in at most
/// `width` characters: the function, if the trace tells, else the calls around it. Where several
/// phases are in one function, the calls follow that tell them apart: a program without symbols
/// has one name for all that is called from one place.
pub(super) fn code_names(data: &ReportData<'_>, phases: &[BurstLabel], width: usize) -> Vec<Option<String>> {
    let most = |label: &BurstLabel| data.regions.iter().find(|region| region.label == *label);
    let rows: Vec<Option<&RegionRow>> = phases.iter().map(most).collect();
    let name = |row: &&RegionRow| {
        let head = match row.share_of_phase {
            part if part < 0.995 => format!("{}: ", percent(part)),
            _ => String::new(),
        };
        match [&row.function, &row.before, &row.after].map(String::as_str) {
            ["", "", ""] => None,
            ["", before, after] => Some(fit(&format!("{head}{before} → {after}"), width)),
            [function, ..] => {
                let others = || rows.iter().flatten().filter(|other| other.function == row.function);
                Some(joined(&format!("{head}{function}"), &apart(row, others), width))
            }
        }
    };
    rows.iter().map(|row| row.as_ref().and_then(name)).collect()
}

/// A place, and the words before it.
type Told = (&'static str, String);

/// What tells a phase apart from others of its function: the call that it ends with, or the one
/// that it begins with, or both. Nothing, if there are no others, or both are alike.
fn apart<'r, I: Iterator<Item = &'r &'r RegionRow>>(
    row: &RegionRow,
    of_function: impl Fn() -> I,
) -> Vec<Told> {
    let n = of_function().count();
    let alike = |same: &dyn Fn(&RegionRow) -> bool| of_function().filter(|other| same(other)).count();
    let module = row.function.rfind("+0x").map(|at| &row.function[..at]);
    // Of the same file, the address alone.
    let place = |name: &str| match module.and_then(|module| name.strip_prefix(module)) {
        Some(address) if address.starts_with("+0x") => address.to_owned(),
        _ => name.to_owned(),
    };
    let (before, after) = (place(&row.before), place(&row.after));
    match n {
        0 | 1 => Vec::new(),
        _ if alike(&|other| other.after == row.after) == 1 => vec![(", to ", after)],
        _ if alike(&|other| other.before == row.before) == 1 => vec![(", from ", before)],
        _ if alike(&|other| (&other.before, &other.after) == (&row.before, &row.after)) == n => Vec::new(),
        _ => vec![(", ", before), (" → ", after)],
    }
}

/// A name and the places that follow it. Of too long a name the end is left out, and of a place
/// the begin, as files and lines stand at the end.
fn joined(name: &str, places: &[Told], width: usize) -> String {
    let words: usize = places.iter().map(|(words, _)| words.chars().count()).sum();
    let of_places: usize = places.iter().map(|(_, place)| place.chars().count()).sum();
    // Half of the line is for what follows, or what the name leaves.
    let half = (width / 2).saturating_sub(words);
    let room = of_places.min(half.max(width.saturating_sub(name.chars().count() + words)));
    let mut text = String::new();
    for (at, (words, place)) in places.iter().enumerate() {
        let before: usize = text.chars().count();
        let used = before - places[..at].iter().map(|(words, _)| words.chars().count()).sum::<usize>();
        text.push_str(words);
        text.push_str(&fit_end(place, (room - used) / (places.len() - at)));
    }
    let head = fit(name, width.saturating_sub(text.chars().count()).max(1));
    head + &text
}

/// The end of an untrusted name, in at most `width` columns.
fn fit_end(name: &str, width: usize) -> String {
    let n = name.chars().count();
    match n > width {
        true => ['…'].into_iter().chain(fit(name, n).chars().skip(n + 1 - width.max(1))).collect(),
        false => fit(name, width.max(1)),
    }
}

/// An untrusted name in at most `width` columns, without control characters.
pub(super) fn fit(name: &str, width: usize) -> String {
    let mut text: String = name.chars().take(width + 1).map(|c| if is_hidden(c) { '·' } else { c }).collect();
    if text.chars().count() > width {
        text = text.chars().take(width - 1).chain(['…']).collect();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::test_label;
    use super::*;

    fn names(rows: &[(&str, &str, &str)], width: usize) -> Vec<String> {
        let row = |(i, &(function, before, after)): (usize, &(&str, &str, &str))| RegionRow {
            label: test_label(i as u32 + 1),
            function: function.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
            share_of_phase: 1.0,
            ..RegionRow::default()
        };
        let data =
            ReportData { regions: rows.iter().enumerate().map(row).collect(), ..ReportData::default() };
        let labels: Vec<BurstLabel> = (0..rows.len()).map(|i| test_label(i as u32 + 1)).collect();
        code_names(&data, &labels, width).into_iter().map(|name| name.expect("it has code")).collect()
    }

    /// Without symbols, four phases of CP2K were all `cp2k.psmp+0x5b58c0`.
    #[test]
    fn phases_of_one_function_have_names_that_differ() {
        let stripped = [
            ("a.out+0x10", "a.out+0x1", "a.out+0x2"),
            ("a.out+0x10", "a.out+0x1", "a.out+0x3"),
            ("a.out+0x10", "a.out+0x4", "a.out+0x3"),
            ("a.out+0x20", "a.out+0x1", "a.out+0x2"),
            ("step", "", ""),
        ];
        let told = ["a.out+0x10, to +0x2", "a.out+0x10, +0x1 → +0x3", "a.out+0x10, from +0x4", "a.out+0x20"];
        assert_eq!(names(&stripped, 40)[..4], told);
        assert_eq!(names(&stripped, 40)[4], "step");
        // What cannot be told apart has one name.
        let alike = names(&[("f", "a", "b"), ("f", "a", "b")], 40);
        assert_eq!(alike, ["f", "f"]);
    }

    #[test]
    fn long_names_keep_what_tells_them_apart() {
        let long = "Comm::forward_comm (comm.cpp:512)";
        let names = names(&[("Verlet::run(int)", "x", long), ("Verlet::run(int)", "x", "y (a.cpp:3)")], 30);
        assert_eq!(names, ["Verlet::run(in…, to ….cpp:512)", "Verlet::run(in…, to …(a.cpp:3)"]);
        assert!(names.iter().all(|name| name.chars().count() <= 30));
    }
}
