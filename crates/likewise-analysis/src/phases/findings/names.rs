//! How threads and phases are called in sentences.

use likewise::bursts::{Finding, Scope, ThreadName};
use likewise::table::BurstTable;
use likewise::words::listed;
use std::collections::BTreeSet;

/// `Phases 4, 7 and noise`.
pub(super) fn place(finding: &Finding) -> String {
    const SHOWN: usize = 6;
    let mut names: Vec<String> =
        finding.phases.iter().take(SHOWN).map(|id| id.number().to_string()).collect();
    if finding.phases.len() > SHOWN {
        names.push(format!("{} more", finding.phases.len() - SHOWN));
    }
    match (names.is_empty(), finding.noise) {
        (true, _) => "Bursts of no phase".to_owned(),
        (false, noise) => {
            if noise {
                names.push("noise".to_owned());
            }
            let word = if names.len() > 1 { "Phases" } else { "Phase" };
            format!("{word} {}", listed(&names))
        }
    }
}

/// How threads are called.
pub(super) struct Names {
    pub(super) all: BTreeSet<ThreadName>,
    pub(super) with_threads: bool,
    pub(super) is_hybrid: bool,
    /// Whether it is an OpenMP program.
    pub(super) in_parallel: bool,
}

/// Threads, as they are called.
pub(super) struct Who {
    pub(super) text: String,
    pub(super) plural: bool,
}

impl Names {
    pub(super) fn of(table: &BurstTable) -> Self {
        let names = table.threads().map(|((_, task, thread), _)| ThreadName { task, thread });
        let all: BTreeSet<ThreadName> = names.collect();
        let with_threads = all.iter().any(|name| name.thread != 1);
        let is_hybrid = with_threads && all.first().map(|n| n.task) != all.last().map(|n| n.task);
        let in_parallel = table.code.as_ref().is_some_and(|code| code.parallel);
        Self { all, with_threads, is_hybrid, in_parallel }
    }

    /// `task 3`, `thread 1.2`.
    pub(super) fn one(&self, ThreadName { task, thread }: ThreadName) -> String {
        if self.with_threads { format!("thread {task}.{thread}") } else { format!("task {task}") }
    }

    /// Whether these are all threads of the run, or of their tasks.
    pub(super) fn are_all(&self, names: &[ThreadName], scope: Scope) -> bool {
        let is_compared =
            |name: &&ThreadName| scope == Scope::Run || names.iter().any(|named| named.task == name.task);
        self.all.iter().filter(is_compared).count() == names.len()
    }

    pub(super) fn everyone(&self) -> String {
        if self.with_threads { "all threads" } else { "all tasks" }.to_owned()
    }

    /// `task 3`, `tasks 1–4 and 7`, `thread 1.2`, `thread 4 of each task`.
    pub(super) fn who(&self, names: &[ThreadName]) -> Who {
        let n_tasks = |names: &mut dyn Iterator<Item = &ThreadName>| {
            names.map(|name| name.task).collect::<BTreeSet<u32>>().len()
        };
        let one_number = names.iter().all(|name| name.thread == names[0].thread);
        if self.is_hybrid && one_number && n_tasks(&mut names.iter()) == n_tasks(&mut self.all.iter()) {
            return Who { text: format!("thread {} of each task", names[0].thread), plural: false };
        }
        let of_task = |task: u32| ThreadName { task, thread: 0 }..=ThreadName { task, thread: u32::MAX };
        let is_whole = |names: &[ThreadName]| names.len() == self.all.range(of_task(names[0].task)).count();
        let whole =
            !self.with_threads || (self.is_hybrid && names.chunk_by(|a, b| a.task == b.task).all(is_whole));
        if whole {
            let mut tasks: Vec<u32> = names.iter().map(|name| name.task).collect();
            tasks.dedup();
            called("task", &tasks, |task| task.to_string(), |a, b| a + 1 == b)
        } else {
            let follows = |a: ThreadName, b: ThreadName| a.task == b.task && a.thread + 1 == b.thread;
            called("thread", names, |name| format!("{}.{}", name.task, name.thread), follows)
        }
    }
}

/// Those that follow one another as a range.
fn called<T: Copy + PartialEq>(
    word: &str,
    names: &[T],
    one: impl Fn(T) -> String,
    follows: impl Fn(T, T) -> bool,
) -> Who {
    const SHOWN: usize = 6;
    let runs: Vec<&[T]> = names.chunk_by(|&a, &b| follows(a, b)).collect();
    let mut shown: Vec<String> = Vec::new();
    for run in runs.iter().take(SHOWN) {
        match run {
            [single] => shown.push(one(*single)),
            [from, .., to] => shown.push(format!("{}–{}", one(*from), one(*to))),
            [] => {}
        }
    }
    if runs.len() > SHOWN {
        shown.push("others".to_owned());
    }
    let plural = names.len() > 1;
    Who { text: format!("{word}{} {}", if plural { "s" } else { "" }, listed(&shown)), plural }
}
