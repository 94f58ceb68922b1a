//! Efforts from bursts.

use std::collections::{BTreeMap, HashMap};

use super::{EffortError, EffortRegion, EffortTable};
use crate::table::{BurstTable, Code, Nanos, PlaceId, Region};

/// What makes a region of bursts.
#[derive(Clone, Copy, Debug)]
pub enum EffortRegions<'a> {
    /// The code between two calls to the runtime, told by their lines.
    Calls,
    /// The same, told by the functions that call: where one computation ends
    /// in one of several lines, as the ranks have it, it is one region.
    Functions,
    /// What each burst's label, an index into the names, says; bursts without
    /// one are left out.
    Named(&'a [Option<u32>], &'a [String]),
}

/// Why bursts make no effort table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FromBurstsError {
    /// The trace does not tell the source.
    #[error("the trace does not say between which calls bursts lie; take phases as regions")]
    NoCode,
    /// There are not two boundaries, or they do not ascend.
    #[error("steps need two or more boundaries in ascending order")]
    Boundaries,
    /// Bursts of more than one application.
    #[error("the bursts are of applications {0} and {1}; an effort table has one")]
    Applications(u32, u32),
    /// No burst runs within the boundaries.
    #[error("no burst runs within the boundaries, from {} ns to {} ns", .0.0, .1.0)]
    NoBurst(Nanos, Nanos),
    /// A task without any burst.
    #[error(
        "task {task} has no burst, and tasks up to {last} have some: ranks are compared by what each of them computes \
         (of a recording by leads, only the leads have bursts)"
    )]
    NoBurstOf {
        /// The first such task.
        task: u32,
        /// The last task with bursts.
        last: u32,
    },
    /// The table would not be one.
    #[error(transparent)]
    Table(#[from] EffortError),
}

/// The computing time, in seconds, of every task in every step and region.
///
/// `boundaries` are when each step begins and when the last one ends, such as
/// those of [`find_period`](crate::bursts::find_period). A burst that runs in
/// several steps counts in each for the time that it has there: ranks are not
/// quite in step, and where a boundary lies between the begins of one burst on
/// two of them, the whole burst would be in another step. What is before the
/// first and behind the last boundary is left out. Rank r is task r + 1, with
/// all its threads; where a task has no burst in a step and region, its effort
/// is 0. Regions are in order of their places in the source, or of their names.
///
/// # Errors
/// See [`FromBurstsError`].
///
/// # Panics
/// If there is not one label for each burst, or a label has no name.
///
/// # Complexity
/// O(n log s + c) for n bursts, s steps and c boundaries within bursts; memory
/// for tasks × regions × steps.
pub fn effort_from_bursts(
    table: &BurstTable,
    regions: EffortRegions<'_>,
    boundaries: &[Nanos],
) -> Result<EffortTable, FromBurstsError> {
    effort_in_steps(table, regions, |_| boundaries)
}

/// The same, where each task has steps of its own: `boundaries` has those of task r + 1 in
/// place r, as many of each.
///
/// # Errors
/// See [`FromBurstsError`].
///
/// # Panics
/// As [`effort_from_bursts`]; if there are no boundaries of a task.
pub fn effort_in_own_steps(
    table: &BurstTable,
    regions: EffortRegions<'_>,
    boundaries: &[Vec<Nanos>],
) -> Result<EffortTable, FromBurstsError> {
    effort_in_steps(table, regions, |task| &boundaries[task as usize - 1])
}

/// The same, by the boundaries of each task.
fn effort_in_steps<'a>(
    table: &BurstTable,
    regions: EffortRegions<'_>,
    steps_of: impl Fn(u32) -> &'a [Nanos],
) -> Result<EffortTable, FromBurstsError> {
    let tasks: Vec<u32> = table.tasks().map(|((_, task), _)| task).collect();
    let Some(&last) = tasks.last() else { return Err(FromBurstsError::NoBurst(Nanos(0), Nanos(0))) };
    let n_steps = steps_of(last).len().saturating_sub(1);
    let are_steps = |of: &[Nanos]| of.len() == n_steps + 1 && of.is_sorted_by(|a, b| a < b);
    if n_steps == 0 || !tasks.iter().all(|&task| are_steps(steps_of(task))) {
        return Err(FromBurstsError::Boundaries);
    }
    if let Some((other, rows)) = table.app.runs().nth(1) {
        return Err(FromBurstsError::Applications(table.app[rows.start - 1], other));
    }
    let key = key_of(table, regions)?;
    let boundaries = |i: usize| steps_of(table.task[i]);
    // A burst of no length is where it begins.
    let end = |i: usize| table.end(i).max(Nanos(table.begin[i].0.saturating_add(1)));
    let is_kept = |i: &usize| table.begin[*i] < boundaries(*i)[n_steps] && end(*i) > boundaries(*i)[0];
    let kept = || (0..table.len()).filter(is_kept).filter_map(|i| Some((i, key(i)?)));
    let mut places: BTreeMap<Key, usize> = kept().map(|(_, key)| (key, 0)).collect();
    if places.is_empty() {
        return Err(FromBurstsError::NoBurst(steps_of(last)[0], steps_of(last)[n_steps]));
    }
    places.values_mut().enumerate().for_each(|(i, place)| *place = i);
    // Tasks may be numbered far apart; the gap must be seen before the table is made.
    if let Some(task) = (1..).zip(&tasks).find_map(|(task, &known)| (known != task).then_some(task)) {
        return Err(FromBurstsError::NoBurstOf { task, last });
    }
    let mut values = vec![0.0; tasks.len() * places.len() * n_steps];
    for (i, key) in kept() {
        let boundaries = boundaries(i);
        let series = ((table.task[i] as usize - 1) * places.len() + places[&key]) * n_steps;
        let first = boundaries.partition_point(|&b| b <= table.begin[i]).saturating_sub(1);
        for step in (first..n_steps).take_while(|&step| boundaries[step] < end(i)) {
            let within =
                table.end(i).min(boundaries[step + 1]).saturating_sub(table.begin[i].max(boundaries[step]));
            values[series + step] += within.seconds();
        }
    }
    let region = |key: &Key| EffortRegion { name: name_of(table, regions, *key), unit: "s".into() };
    Ok(EffortTable::new(places.keys().map(region).collect(), n_steps, values)?)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Code(Option<PlaceId>, Option<PlaceId>),
    Name(u32),
}

/// The region of each burst, if it has one.
pub(super) fn key_of<'a>(
    table: &'a BurstTable,
    regions: EffortRegions<'a>,
) -> Result<Box<dyn Fn(usize) -> Option<Key> + 'a>, FromBurstsError> {
    let code = || table.code.as_ref().ok_or(FromBurstsError::NoCode);
    match regions {
        EffortRegions::Named(labels, names) => {
            assert_eq!(labels.len(), table.len(), "a label for every burst");
            assert!(
                labels.iter().flatten().all(|&label| (label as usize) < names.len()),
                "a name for a label"
            );
            Ok(Box::new(|i| labels[i].map(Key::Name)))
        }
        EffortRegions::Calls => {
            let code = code()?;
            let key = |Region { before, after, .. }| Some(Key::Code(before, after));
            Ok(Box::new(move |i| key(code.regions.get(i))))
        }
        EffortRegions::Functions => {
            let code = code()?;
            let first = first_of_function(code);
            let of = move |place: Option<PlaceId>| place.map(|place| first[place.index()]);
            let key = move |Region { before, after, .. }| Some(Key::Code(of(before), of(after)));
            Ok(Box::new(move |i| key(code.regions.get(i))))
        }
    }
}

/// Of each place, the first that lies in the same function.
fn first_of_function(code: &Code) -> Vec<PlaceId> {
    let mut first: HashMap<&str, PlaceId> = HashMap::new();
    let mut all = Vec::with_capacity(code.places.len());
    for (place, name) in
        code.places.iter().enumerate().filter_map(|(i, name)| Some((PlaceId::from_index(i)?, name)))
    {
        all.push(*first.entry(function_of(name)).or_insert(place));
    }
    all
}

/// `do_send2d` of `do_send2d (redblack.F90:71)`.
fn function_of(place: &str) -> &str {
    place.split_once(" (").map_or(place, |(function, _)| function)
}

fn name_of(table: &BurstTable, regions: EffortRegions<'_>, key: Key) -> String {
    let place = |id: Option<PlaceId>, none: &str| match (&table.code, id) {
        (Some(code), Some(id)) => match regions {
            EffortRegions::Functions => function_of(code.name(id)).to_owned(),
            _ => code.name(id).to_owned(),
        },
        _ => none.to_owned(),
    };
    match (key, regions) {
        (Key::Name(label), EffortRegions::Named(_, names)) => names[label as usize].clone(),
        (Key::Name(label), _) => label.to_string(),
        (Key::Code(before, after), _) => format!("{} → {}", place(before, "start"), place(after, "end")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Task, begin, duration in s, calls before and after.
    fn bursts(rows: &[(u32, u64, u64, usize, usize)]) -> BurstTable {
        let place = |i: usize| i.checked_sub(1).and_then(PlaceId::from_index);
        let region = |r: &(u32, u64, u64, usize, usize)| Region {
            before: place(r.3),
            after: place(r.4),
            function: place(1 + r.1 as usize % 2),
        };
        BurstTable {
            app: vec![1; rows.len()].into(),
            task: rows.iter().map(|r| r.0).collect(),
            thread: vec![1; rows.len()].into(),
            begin: rows.iter().map(|r| Nanos(r.1 * 1_000_000_000)).collect(),
            duration: rows.iter().map(|r| Nanos(r.2 * 1_000_000_000)).collect(),
            counters: Vec::new(),
            code: Some(Code {
                places: vec!["send (a.c:1)".into(), "wait (a.c:2)".into(), "wait (a.c:3)".into()],
                regions: rows.iter().map(region).collect(),
                parallel: false,
            }),
        }
    }

    const STEPS: [Nanos; 3] = [Nanos(10_000_000_000), Nanos(20_000_000_000), Nanos(30_000_000_000)];

    #[test]
    fn a_task_that_computes_at_other_times_is_a_rank_without_effort() {
        let table = bursts(&[(1, 0, 4, 1, 2), (2, 11, 3, 1, 2), (3, 12, 5, 1, 2), (4, 40, 5, 1, 2)]);
        let made = effort_from_bursts(&table, EffortRegions::Calls, &STEPS).expect("a table");
        assert_eq!(made.n_ranks(), 4);
        assert_eq!(made.values(), [0.0, 0.0, 3.0, 0.0, 5.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn sums_the_time_between_two_calls_by_step() {
        let table = bursts(&[
            (1, 0, 10, 1, 2),
            (1, 10, 1, 1, 2),
            (1, 15, 2, 1, 2),
            // Three seconds of it are in the second step.
            (1, 19, 4, 2, 0),
            (1, 23, 6, 1, 2),
            (2, 8, 3, 1, 2),
            (2, 29, 16, 1, 2),
            (2, 30, 100, 1, 2),
        ]);
        let made = effort_from_bursts(&table, EffortRegions::Calls, &STEPS).expect("a table");
        let names: Vec<&str> = made.regions().iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["send (a.c:1) → wait (a.c:2)", "wait (a.c:2) → end"]);
        assert_eq!(
            (made.row(0), made.row(1)),
            ([3.0, 6.0, 1.0, 3.0].as_slice(), [1.0, 1.0, 0.0, 0.0].as_slice())
        );
        let labels = [9, 0, 1, 9, 1, 9, 0, 0].map(|c: u32| (c < 9).then_some(c));
        let names = ["phase 1".to_owned(), "phase 2".to_owned()];
        let regions = EffortRegions::Named(&labels, &names);
        let made = effort_from_bursts(&table, regions, &STEPS).expect("a table");
        assert_eq!(
            (made.row(0), made.row(1)),
            ([1.0, 0.0, 2.0, 6.0].as_slice(), [0.0, 1.0, 0.0, 0.0].as_slice())
        );
        assert_eq!(made.regions()[1].name, "phase 2");
    }

    #[test]
    fn lines_of_one_function_are_one_region() {
        let table = bursts(&[(1, 10, 1, 1, 2), (2, 10, 2, 1, 3), (2, 15, 4, 2, 1)]);
        let made = |regions| effort_from_bursts(&table, regions, &STEPS[..2]).expect("a table");
        assert_eq!(made(EffortRegions::Calls).regions().len(), 3);
        let table = made(EffortRegions::Functions);
        let names: Vec<&str> = table.regions().iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["send → wait", "wait → send"]);
        assert_eq!((table.row(0), table.row(1)), ([1.0, 0.0].as_slice(), [2.0, 4.0].as_slice()));
    }

    #[test]
    fn says_why_there_is_no_table() {
        let mut table = bursts(&[(1, 10, 1, 1, 2), (3, 10, 1, 1, 2)]);
        let made = |table: &BurstTable, steps: &[Nanos]| {
            effort_from_bursts(table, EffortRegions::Calls, steps).unwrap_err().to_string()
        };
        assert!(made(&table, &STEPS).starts_with("task 2 has no burst, and tasks up to "));
        assert!(made(&table, &STEPS[..1]).starts_with("steps need two"));
        assert!(made(&table, &[Nanos(40), Nanos(50)]).contains("from 40 ns to 50 ns"));
        table.app = vec![1, 2].into();
        assert!(made(&table, &STEPS).contains("applications 1 and 2"));
        table.code = None;
        table.app = vec![1, 1].into();
        assert_eq!(made(&table, &STEPS), FromBurstsError::NoCode.to_string());
    }
}
