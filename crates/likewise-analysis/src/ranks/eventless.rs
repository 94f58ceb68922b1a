//! Tasks without any of the events that bursts are made of.

use anyhow::{Result, bail};
use likewise::table::BurstTable;
use likewise::words::{counted, listed};
use std::borrow::Cow;

/// The tasks that are compared, where some are not.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compared {
    /// The task of each rank.
    pub(super) tasks: Vec<u32>,
    /// What is said of the others.
    pub(super) note: String,
}

/// The bursts of events with tasks in a row: those without any are left out. A task that executes
/// none of what the events tell is another part of the program, such as a master, and what it is
/// apart from the others is no difference between them. (Of states it is not known why a task has
/// none.)
///
/// # Errors
/// One task alone has such bursts, and there are others.
pub(super) fn with_events<'t>(
    table: &'t BurstTable,
    input: &str,
) -> Result<(Cow<'t, BurstTable>, Option<Compared>)> {
    let tasks: Vec<u32> = table.tasks().map(|((_, task), _)| task).collect();
    let last = tasks.last().copied().unwrap_or(0);
    if last as usize == tasks.len() || table.app.first() != table.app.last() {
        return Ok((Cow::Borrowed(table), None));
    }
    if tasks.len() < 2 {
        bail!(
            "{input}: ranks cannot be compared: of tasks 1 to {last} only task {last} has bursts of the chosen events. \
             `likewise bursts` with these compares the threads of that task"
        );
    }
    let place = |task: &u32| tasks.binary_search(task).map_or(0, |at| at as u32 + 1);
    let dense = BurstTable { task: table.task.iter().map(place).collect(), ..table.clone() };
    let note = format!(
        "{} no burst of the chosen events: such tasks are a class of their own, and in none of those below. Ranks are \
         numbered without them: rank 0 is task {}, and 'task' in ranks.csv is that of each.",
        without(&tasks),
        tasks[0]
    );
    Ok((Cow::Owned(dense), Some(Compared { tasks, note })))
}

/// Gaps between tasks that are named.
const NAMED: usize = 6;

/// Which tasks before the last of these are not among them: `Task 1 has`, `3 tasks (1 and 4–5) have`.
fn without(tasks: &[u32]) -> String {
    let before = [0].into_iter().chain(tasks.iter().copied());
    // Ids may be far apart, so gaps are named, and not each task.
    let gaps = before.zip(tasks).filter(|&(before, &next)| next > before + 1);
    let mut names: Vec<String> = gaps
        .map(|(before, &next)| match next - before {
            2 => (before + 1).to_string(),
            _ => format!("{}–{}", before + 1, next - 1),
        })
        .collect();
    let n = u64::from(tasks.last().copied().unwrap_or(0)) - tasks.len() as u64;
    if n == 1 {
        return format!("Task {} has", names[0]);
    }
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("others".to_owned());
    }
    format!("{} ({}) have", counted(n, "task"), listed(&names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::table::Nanos;

    fn bursts(tasks: &[u32]) -> BurstTable {
        BurstTable {
            app: vec![1; tasks.len()].into(),
            task: tasks.to_vec().into(),
            thread: vec![1; tasks.len()].into(),
            begin: vec![Nanos(0); tasks.len()],
            duration: vec![Nanos(1); tasks.len()],
            ..BurstTable::default()
        }
    }

    #[test]
    fn tasks_without_events_are_left_out_and_told() {
        let all = bursts(&[1, 2, 2, 3]);
        let (table, compared) = with_events(&all, "run.prv").expect("ranks");
        assert!(matches!(table, Cow::Borrowed(_)) && compared.is_none());
        let some = bursts(&[2, 2, 3, 6]);
        let (table, compared) = with_events(&some, "run.prv").expect("ranks");
        assert_eq!(table.task, [1, 1, 2, 3]);
        let Compared { tasks, note } = compared.expect("some are left out");
        assert_eq!(tasks, [2, 3, 6]);
        assert!(note.starts_with("3 tasks (1 and 4–5) have no burst of the chosen events"), "{note}");
        assert!(note.contains("rank 0 is task 2"), "{note}");
        let note = with_events(&bursts(&[1, 3]), "run.prv").expect("ranks").1.expect("one is left out").note;
        assert!(note.starts_with("Task 2 has no burst of"), "{note}");
        let many: Vec<u32> = (1..=8).map(|task| 2 * task).collect();
        assert_eq!(without(&many), "8 tasks (1, 3, 5, 7, 9, 11 and others) have");
    }

    #[test]
    fn one_task_with_events_is_no_ranks() {
        let error = with_events(&bursts(&[2, 2]), "run.prv").expect_err("one rank").to_string();
        assert!(error.contains("of tasks 1 to 2 only task 2 has bursts of the chosen events"), "{error}");
    }
}
