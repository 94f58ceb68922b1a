//! Tables of bursts: `task,thread,begin_ns,duration_ns,<counters…>`, as text or
//! as Parquet, such as our own `bursts.csv` and `bursts.parquet`.
//!
//! The columns may stand in any order, `app` may be among them, `thread` may be
//! missing where tasks have one, and those that our own tables add (`n_…`, `cluster`) are left
//! out. An empty cell is a counter that the burst does not carry.

#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod text;

use std::iter::repeat_n;

use likewise::bursts::asked_of_bursts;
use likewise::table::{BurstTable, Counter, CounterColumn, Nanos, Runs, Values};

use super::rows::check_different;
use crate::error::ErrorKind;
use crate::folding::cover::Limits;
use crate::folding::table::without_impossible;
use crate::taken::{Taken, is_unnamed, name_or_place};
use crate::trace::{Apps, EventTypeInfo, RUNNING, ReadReport, StateInfo, Trace, TraceInfo};

const NEEDED: [&str; 3] = ["task", "begin_ns", "duration_ns"];
/// A table of tasks that have one thread each need not have it.
const THREAD: &str = "thread";

/// Whether columns of these names are those of a table of bursts.
pub(crate) fn is_header(names: &[String]) -> bool {
    // Two are enough, so that the error can name a column that is missing.
    let known = NEEDED.iter().chain([&THREAD]);
    known.filter(|known| place_of(known, names).is_some()).count() >= 2
}

/// The column of that name; without one, the only one that has it but for the case of letters.
pub(crate) fn place_of(wanted: &str, names: &[String]) -> Option<usize> {
    names.iter().position(|name| name == wanted).or_else(|| {
        let mut alike = (0..names.len()).filter(|&at| names[at].eq_ignore_ascii_case(wanted));
        alike.next().filter(|_| alike.next().is_none())
    })
}

/// Whether one of these columns holds clusters.
pub(crate) fn has_labels(names: &[String]) -> bool {
    place_of("cluster", names).is_some()
}

/// What a column is for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    App,
    Task,
    Thread,
    Begin,
    Duration,
    Counter(usize),
    Ignored,
}

/// The columns of a table of bursts.
pub(crate) struct Layout {
    pub(crate) names: Vec<String>,
    pub(crate) roles: Vec<Role>,
}

impl Layout {
    pub(crate) fn of(names: Vec<String>) -> std::result::Result<Self, ErrorKind> {
        for needed in NEEDED {
            if place_of(needed, &names).is_none() {
                let hint = "a CSV of bursts with task,thread,begin_ns,duration_ns and counters (efforts of ranks have the \
                            columns rank,step,region,effort)";
                return Err(ErrorKind::MissingColumn(needed.to_owned(), hint));
            }
        }
        check_different(&names)?;
        // Our bursts.csv has each metric twice, the second time normalised. In
        // other tables such a name is a counter.
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let is_ours = |name: &str| {
            name.strip_prefix("n_").is_some_and(|metric| place_of("cluster", &names).is_some() && has(metric))
        };
        let mut n_counters = 0;
        let named = [
            ("app", Role::App),
            ("task", Role::Task),
            (THREAD, Role::Thread),
            ("begin_ns", Role::Begin),
            ("duration_ns", Role::Duration),
            ("cluster", Role::Ignored),
        ];
        let of_name = |at: usize| named.iter().find(|(name, _)| place_of(name, &names) == Some(at));
        let role = |(at, name): (usize, &String)| match of_name(at) {
            Some((_, role)) => *role,
            None if is_unnamed(name) || is_ours(name) => Role::Ignored,
            None => {
                n_counters += 1;
                Role::Counter(n_counters - 1)
            }
        };
        Ok(Self { roles: names.iter().enumerate().map(role).collect(), names })
    }

    /// What becomes of each column.
    fn taken(&self) -> Taken {
        let mut taken = Taken::default();
        for (at, (name, role)) in self.names.iter().zip(&self.roles).enumerate() {
            match role {
                Role::Counter(_) => taken.push(name),
                Role::Ignored if name.eq_ignore_ascii_case("cluster") => {
                    taken.leave_out(name, "labels of a grouping")
                }
                Role::Ignored if is_unnamed(name) => {
                    taken.leave_out(&name_or_place(name, at), "it has no name")
                }
                Role::Ignored => taken.leave_out(name, "a metric as it was clustered"),
                _ => taken.names.push(name.clone()),
            }
        }
        taken
    }

    pub(crate) fn empty_table(&self) -> BurstTable {
        let counters = self.names.iter().zip(&self.roles).filter(|(_, r)| matches!(r, Role::Counter(_)));
        let column = |(name, _): (&String, &Role)| CounterColumn {
            counter: Counter { event_type: None, name: name.clone(), description: String::new() },
            values: Values::default(),
        };
        BurstTable { counters: counters.map(column).collect(), ..BurstTable::default() }
    }
}

/// The bursts of the applications asked for, in order, and notes about them.
pub(crate) fn finished(table: BurstTable, layout: &Layout, mut report: ReadReport, apps: Apps) -> Trace {
    report.records.states = table.len() as u64;
    let mut table = table;
    report.warnings.extend(ids_from_1(&mut table));
    let mut table = in_order(choose(table, apps));
    if !layout.roles.contains(&Role::Thread) {
        report.warnings.push(format!("there is no column '{THREAD}': each task is taken to have one thread"));
    }
    report.warnings.extend(overlap(&table));
    report.warnings.extend(without_impossible_counts(&mut table));
    report.columns = Some(layout.taken());
    let origin = from_first_burst(&mut table);
    report.warnings.extend(origin_note(origin));
    let end = last_end(&table);
    Trace { table, end, origin, topology: None, report }
}

/// Lets tasks count from 1, if there is a task 0, as MPI counts ranks; threads too. Says so.
fn ids_from_1(table: &mut BurstTable) -> Vec<String> {
    let mut notes = Vec::new();
    for (what, ids) in [("task", &mut table.task), ("thread", &mut table.thread)] {
        if ids.runs().all(|(id, _)| id != 0) {
            continue;
        }
        let last = ids.runs().map(|(id, _)| id).max().unwrap_or_default();
        let mut from_1 = Runs::default();
        ids.runs().for_each(|(id, rows)| from_1.push_run(id.saturating_add(1), rows.len()));
        *ids = from_1;
        notes.push(match last {
            0 => format!("{what} 0 of the table is {what} 1 here"),
            _ => format!("{what}s 0 to {last} of the table are {what}s 1 to {} here", last.saturating_add(1)),
        });
    }
    notes
}

/// Lets time 0 be the begin of the first burst, and says what it was. A table tells no begin of its
/// run, and its clock may count from when the computer started, or from 1970.
fn from_first_burst(table: &mut BurstTable) -> Nanos {
    let origin = table.begin.iter().min().copied().unwrap_or_default();
    if origin > Nanos::ZERO {
        table.begin.iter_mut().for_each(|begin| *begin = begin.saturating_sub(origin));
    }
    origin
}

fn origin_note(origin: Nanos) -> Option<String> {
    let said = || format!("the run is taken to begin with its first burst, at {} ns of the table", origin.0);
    (origin > Nanos::ZERO).then(|| format!("{}: times that are told count from there", said()))
}

/// Bursts that begin before an earlier one of their thread has ended.
fn overlap(table: &BurstTable) -> Option<String> {
    let (mut n, mut first) = (0u64, None);
    for (_, bursts) in table.threads() {
        let mut until = Nanos::ZERO;
        for i in bursts {
            if table.begin[i] < until {
                n += 1;
                first.get_or_insert(i);
            }
            until = until.max(table.end(i));
        }
    }
    let (_, task, thread) = table.thread_of(first?);
    let begin = table.begin[first?].0;
    let (bursts, begins) = if n == 1 { ("burst", "begins") } else { ("bursts", "begin") };
    Some(format!(
        "{n} {bursts} {begins} before an earlier one of the thread has ended, the first on task {task}, thread \
         {thread} at {begin} ns: that time is counted twice"
    ))
}

/// Makes counts of hardware missing that no processor can have, as those of traces are, and says so.
///
/// Names tell what the hardware counts: PAPI's, and all that are known to be instructions or cycles.
/// Any other column may hold anything.
fn without_impossible_counts(table: &mut BurstTable) -> Vec<String> {
    let BurstTable { counters, duration, .. } = table;
    let limits = Limits::new(1, |_| true);
    let known = asked_of_bursts(counters);
    let mut notes = Vec::new();
    for (column, known) in counters.iter_mut().zip(known) {
        if !known && !is_of_papi(&column.counter.name) {
            continue;
        }
        let is_impossible =
            |&(i, value): &(usize, f64)| !(0.0..=limits.most(duration[i].0) as f64).contains(&value);
        let counted = column.values.iter().enumerate().filter(|(_, value)| !value.is_nan());
        let impossible: Vec<usize> = counted.filter(is_impossible).map(|(i, _)| i).collect();
        impossible.iter().for_each(|&i| column.values.set(i, f64::NAN));
        notes.extend(without_impossible(column, impossible.len() as u64, ""));
    }
    notes
}

/// Whether a column is of one counter of PAPI, by its name; several are those of a quotient.
fn is_of_papi(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("PAPI_")) && name.chars().all(is_word)
}

/// The rows at `order`, in that order, but for whose they are.
fn select(table: &BurstTable, order: &[usize]) -> BurstTable {
    fn pick<T: Copy>(column: &[T], order: &[usize]) -> Vec<T> {
        order.iter().map(|&i| column[i]).collect()
    }
    let counter = |c: &CounterColumn| CounterColumn {
        counter: c.counter.clone(),
        values: order.iter().map(|&i| c.values.get(i)).collect(),
    };
    BurstTable {
        begin: pick(&table.begin, order),
        duration: pick(&table.duration, order),
        counters: table.counters.iter().map(counter).collect(),
        ..BurstTable::default()
    }
}

fn choose(table: BurstTable, apps: Apps) -> BurstTable {
    let app = match apps {
        Apps::All => return table,
        Apps::One(app) => app,
        Apps::First => table.app.iter().copied().min().unwrap_or(1),
    };
    if table.app.runs().all(|(of, _)| of == app) {
        return table;
    }
    let (mut order, mut chosen) = (Vec::new(), BurstTable::default());
    for ((of, task, thread), rows) in table.threads().filter(|((of, ..), _)| *of == app) {
        chosen.app.push_run(of, rows.len());
        chosen.task.push_run(task, rows.len());
        chosen.thread.push_run(thread, rows.len());
        order.extend(rows);
    }
    let BurstTable { app, task, thread, .. } = chosen;
    BurstTable { app, task, thread, ..select(&table, &order) }
}

/// Bursts in burst order, counters by name.
fn in_order(mut table: BurstTable) -> BurstTable {
    table.counters.sort_by(|a, b| a.counter.name.cmp(&b.counter.name));
    let threads = || table.threads().flat_map(|(thread, bursts)| repeat_n(thread, bursts.len()));
    if threads().zip(&table.begin).is_sorted() {
        return table;
    }
    // In the order of time there are about as many runs as bursts.
    let key: Vec<(u32, u32, u32)> = threads().collect();
    let mut order: Vec<usize> = (0..table.len()).collect();
    // Stable: bursts that begin together keep the order of the file.
    order.sort_by_key(|&i| (key[i], table.begin[i]));
    let picked = |of: fn(&(u32, u32, u32)) -> u32| order.iter().map(|&i| of(&key[i])).collect();
    let (app, task, thread) = (picked(|key| key.0), picked(|key| key.1), picked(|key| key.2));
    BurstTable { app, task, thread, ..select(&table, &order) }
}

fn last_end(table: &BurstTable) -> Nanos {
    (0..table.len()).map(|i| table.end(i)).max().unwrap_or_default()
}

/// What a table of bursts holds.
pub(crate) fn inspect(format: &'static str, compressed: bool, trace: Trace) -> TraceInfo {
    let running = StateInfo {
        value: RUNNING,
        name: "Running".into(),
        count: trace.table.len() as u64,
        time: trace.table.computing_time(),
    };
    TraceInfo {
        format,
        compressed,
        end: trace.end,
        topology: None,
        report: trace.report,
        states: vec![running],
        event_types: trace.table.counters.iter().map(counter_info).collect(),
        communication_bytes: 0,
    }
}

/// A column of counts. Its number is 0, because a table has no event types.
fn counter_info(column: &CounterColumn) -> EventTypeInfo {
    EventTypeInfo {
        event_type: 0,
        label: column.counter.name.clone(),
        count: column.values.iter().filter(|x| !x.is_nan()).count() as u64,
        zeros: 0,
        counter: true,
    }
}
