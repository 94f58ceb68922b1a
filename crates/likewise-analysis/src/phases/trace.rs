//! From a file to its phases.

use super::names::{check_counters, check_names, rename_counters};
use super::options::{DEFAULT_FILTER, Grouping, Method, Options, Reading};
use super::search::{Here, Search};
use super::traced::Marked;
use super::{Analysis, Input, Labelled, Plan, Settings, Traced, endless, labelled, streams};
use crate::definition::{Algorithm, Definition, read_definition};
use crate::{Stages, Watch};
use anyhow::{Context, Result, bail};
use likewise::bursts::{Direction, tells_all_places};
use likewise::table::{
    BurstTable, Counter, CounterColumn, DurationFilter, Expr, Metric, Operand, Preparation, Scale,
    default_metrics,
};
use likewise::words::{counted, grouped_digits};
use likewise_trace::{Apps, ReadOptions, ReadReport, RecordCounts, Topology, Trace, read_bursts};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The phases of a trace, or of a table of bursts.
///
/// # Errors
/// [`crate::Usage`] where options do not go together; otherwise the file is
/// named, and where in it something is wrong.
pub fn phases_of(
    trace: &Path,
    options: &Options,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Analysis> {
    let labelled = label_bursts(trace, options, stages, watch)?;
    Ok(Arc::new(labelled).analysed(stages, watch))
}

/// The first part of [`phases_of`], after which each burst has its phase.
///
/// # Errors
/// As of [`phases_of`].
pub fn label_bursts(
    trace: &Path,
    options: &Options,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Labelled> {
    let definition = checked(options)?;
    let read = read(trace, options, &definition, stages, watch, |path, how| Ok(read_bursts(path, how)?))?;
    labelled_in(trace, read, (options, &definition), &Here, stages, watch)
}

/// The bursts of a trace that is read; `search` finds their neighbours.
pub(super) fn labelled_in(
    trace: &Path,
    read: Trace,
    (options, definition): (&Options, &Definition),
    search: &dyn Search,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Labelled> {
    let mut input = input_of(trace, read, options, definition, watch)?;
    let mut grouping = grouping(&options.grouping, definition);
    // The options override the definition, which only gives defaults.
    let Grouping { eps, min_points, .. } = options.grouping;
    Grouping { eps, min_points, ..grouping.clone() }.check()?;
    let describing = &options.describing;
    let scale = describing.scale.or(definition.scale).unwrap_or(Scale::MinMax);
    let filter = describing.filter.or(definition.filter).unwrap_or(DEFAULT_FILTER);
    let metrics = metrics(options, definition, &mut input, watch)?;
    if places_tell_most(options, definition, &grouping, &metrics, &input.table) {
        watch.say("phases are by place: bursts between the same calls are one (--refine groups by duration)");
        grouping.method = Some(Method::Places);
    }
    let refine = direction(options, &grouping);
    let or_refine = options.one_density && refine.is_some();
    let settings = Settings {
        scale,
        min_share: describing.min_share.or(definition.min_share),
        keep_time: kept_time(filter),
        apps: apps_read(&input.table),
        burst_events: options.reading.burst_events.clone(),
        lenient: options.reading.lenient,
        definition: describing.definition.clone(),
        grouping,
    };
    let plan = Plan {
        preparation: Preparation { metrics, filter, scale, pca: describing.pca.or(definition.pca) },
        settings,
        refine: refine.filter(|_| !or_refine),
        or_refine,
        unaligned: options.unaligned,
        one_density: options.one_density,
        check_extrapolation: options.check_extrapolation,
        plots: &definition.plots,
        all_plots: definition.all_plots,
    };
    let labelled =
        labelled(input, plan, search, stages, watch).with_context(|| trace.display().to_string())?;
    for (name, loads) in labelled.components() {
        watch.tell(&format!("{name}: {loads}"));
    }
    Ok(labelled)
}

/// The definition, if what is asked for is possible; before the trace is read.
pub(super) fn checked(options: &Options) -> Result<Definition> {
    options.grouping.check()?;
    check_names(&options.describing.metrics)?;
    let definition = options.describing.definition.as_deref().map(read_definition);
    let definition = definition.transpose()?.unwrap_or_default();
    check_names(definition.metrics.as_deref().unwrap_or_default())?;
    Ok(definition)
}

/// The bursts, and what is to be known of them before they are grouped.
fn input_of(
    trace: &Path,
    read: Trace,
    options: &Options,
    definition: &Definition,
    watch: &dyn Watch,
) -> Result<Input> {
    let Options { reading, describing, .. } = options;
    let Trace { mut table, end, origin, topology, mut report } = read;
    let mut notes = std::mem::take(&mut report.warnings);
    if let Some(columns) = &report.columns {
        watch.tell(&columns.told());
    }
    notes.extend(skipped(&report.records));
    notes.extend(report.streams.as_ref().map(|found| streams::note(found, reading)));
    if table.is_empty() {
        // The notes may tell why there is no burst, and no result will show them.
        notes.iter().for_each(|note| watch.say(&format!("note: {note}")));
        let rows = report.columns.is_some().then_some(report.records.states);
        bail!("{}: {}", trace.display(), no_burst(trace, reading, rows, report.records.total()));
    }
    for metric in &definition.extrapolate {
        add_column(&mut table, metric)?;
    }
    notes.extend(rename_counters(&mut table));
    let marked = Marked::of(&report, reading);
    let mut run = report.begin..end;
    if options.between_mpi {
        notes.extend(marked.leave(&mut table, &mut run));
    }
    let Range { start: begin, end } = run;
    let mut traced = Traced::of(report.untraced, topology.as_ref(), begin..end, (marked, &table));
    traced.runtime = report.runtime;
    if reading.burst_events.is_empty() {
        traced.done = std::mem::take(&mut report.done);
    }
    notes.extend(traced.note(report.untraced, begin..end));
    let mut alone = None;
    if report.part.is_none() && !streams::are_read(report.streams.as_ref()) {
        let left_out = topology.as_ref().and_then(|topology| idle(topology, &table));
        alone = left_out.filter(|_| table.threads().count() == 1).map(|(what, _, all)| (what, all));
        traced.without_bursts = left_out.map(in_no_figure);
        notes.extend(traced.without_bursts.clone());
    }
    notes.extend(topology.and_then(|topology| one_of_several(topology.apps.len(), &table, reading)));
    notes.extend(few_of_many(&table, &report.records, reading));
    watch.tell(&told(&report.records));
    notes.extend(of_definition(definition, describing.definition.as_deref()));
    let odd_clocks = report.records.backwards > 0;
    let endless = endless::note(trace, &table, reading);
    notes.extend(endless.clone());
    let ReadReport { columns, drawn_times, shared_cpus, part, streams, .. } = report;
    let name = trace.display().to_string();
    Ok(Input {
        name,
        begin,
        end,
        origin,
        table,
        columns,
        drawn_times,
        odd_clocks,
        endless: endless.is_some(),
        alone,
        traced,
        streams,
        shared_cpus,
        part,
        notes,
    })
}

/// What is to be said of a definition, with its file.
fn of_definition(definition: &Definition, path: Option<&Path>) -> Vec<String> {
    let of = path.map_or_else(String::new, |path| format!("{}: ", path.display()));
    definition.notes.iter().map(|note| format!("{of}{note}")).collect()
}

/// How many records there are.
fn told(records: &RecordCounts) -> String {
    format!(
        "{} states, {} events, {} communications",
        grouped_digits(records.states),
        grouped_digits(records.events),
        grouped_digits(records.communications)
    )
}

/// The metrics that are said here, else in the definition, else the usual ones.
fn metrics(
    options: &Options,
    definition: &Definition,
    input: &mut Input,
    watch: &dyn Watch,
) -> Result<Vec<Metric>> {
    let (metrics, asked) = match (&options.describing.metrics[..], &definition.metrics) {
        ([], Some(metrics)) => (metrics.clone(), true),
        ([], None) => {
            let (metrics, why) = default_metrics(&input.table);
            watch.say(&why);
            (metrics, false)
        }
        (metrics, _) => (metrics.to_vec(), true),
    };
    input.notes.extend(check_counters(&metrics, asked, &mut input.table)?);
    Ok(metrics)
}

/// What is said here, else what the definition says.
fn grouping(asked: &Grouping, definition: &Definition) -> Grouping {
    let method = definition.algorithm.map(|algorithm| match algorithm {
        Algorithm::Dbscan => Method::Dbscan,
        Algorithm::Xmeans => Method::Xmeans,
    });
    Grouping {
        eps: asked.eps.or(definition.eps),
        min_points: asked.min_points.or(definition.min_points),
        method: asked.method.or(method),
        k_min: asked.k_min.or(definition.k_min),
        k_max: asked.k_max.or(definition.k_max),
        sample: asked.sample.or(definition.sample),
        seed: asked.seed,
    }
}

/// Whether phases are by place, where nobody asks for others: nothing but its
/// duration describes a burst, but the trace tells of each between which calls
/// it lies. Different code may take as long, and the same code longer at times,
/// so the calls tell phases apart and durations do not.
fn places_tell_most(
    options: &Options,
    definition: &Definition,
    grouping: &Grouping,
    metrics: &[Metric],
    table: &BurstTable,
) -> bool {
    let Grouping { eps, min_points, method, k_min, k_max, sample, seed: _ } = grouping;
    let counts = [min_points, k_min, k_max, sample];
    let said =
        options.refine.is_some() || eps.is_some() || method.is_some() || counts.iter().any(|n| n.is_some());
    let asked = !options.describing.metrics.is_empty() || definition.metrics.is_some();
    let only_duration = matches!(metrics, [Metric { expr: Expr::One(Operand::Duration), .. }]);
    !said && !asked && only_duration && tells_all_places(table)
}

/// Bursts are refined only if no option says how to group them.
fn direction(options: &Options, grouping: &Grouping) -> Option<Direction> {
    let said = grouping.eps.is_some() || grouping.method.is_some() || grouping.sample.is_some();
    options.refine.or_else(|| (!said).then_some(Direction::Aggregative))
}

/// Records that were passed over.
#[must_use]
pub fn skipped(records: &RecordCounts) -> Vec<String> {
    let mut notes = Vec::new();
    for (n, what) in [(records.skipped, "malformed"), (records.unknown, "of no known kind")] {
        if n > 0 {
            let records = if n == 1 { "record was" } else { "records were" };
            notes.push(format!("{} {records} {what} and skipped.", grouped_digits(n)));
        }
    }
    if records.backwards > 0 {
        let what = match records.backwards {
            1 => "1 state ends before it begins, and is not read".to_owned(),
            n => format!("{} states end before they begin, and are not read", grouped_digits(n)),
        };
        notes.push(format!("{what}: times of states are wrong, and when each thread computes is not known."));
    }
    if records.untimed > 0 {
        let what = match records.untimed {
            1 => "1 record has a negative time and is".to_owned(),
            n => format!("{} records have a negative time and are", grouped_digits(n)),
        };
        notes.push(format!("{what} not read (Paraver's cutter writes such behind the last record)."));
    }
    notes
}

/// The applications of the bursts, ascending.
fn apps_read(table: &BurstTable) -> Vec<u32> {
    // Bursts are in burst order, so those of an application stand together.
    table.app.runs().map(|(app, _)| app).collect()
}

/// Which application was chosen, where there was a choice and none was made.
fn one_of_several(n_apps: usize, table: &BurstTable, reading: &Reading) -> Option<String> {
    let chosen = table.app.first().filter(|_| n_apps > 1 && reading.apps == Apps::First)?;
    let option = format!("{}--app", reading.before_options);
    Some(format!(
        "Application {chosen} of {n_apps} was read, the first that computes; {option} N reads another, {option} all \
         reads all."
    ))
}

/// How many tasks, or threads of tasks, of the applications that were read have bursts, and how many
/// there are, where some have none: what is said of a run is of those that have.
fn idle(topology: &Topology, table: &BurstTable) -> Option<(&'static str, u64, u64)> {
    let apps = apps_read(table);
    let declared =
        || apps.iter().filter_map(|&app| topology.apps.get((app as usize).checked_sub(1)?)).flatten();
    let mut tasks: Vec<(u32, u32)> = table.threads().map(|((app, task, _), _)| (app, task)).collect();
    tasks.dedup();
    let n_threads: u64 = declared().map(|task| u64::from(task.threads.saturating_sub(task.streams))).sum();
    let of = [
        ("task", tasks.len() as u64, declared().count() as u64),
        ("thread", table.threads().count() as u64, n_threads),
    ];
    of.into_iter().find(|(_, own, all)| own < all)
}

fn in_no_figure((what, own, all): (&str, u64, u64)) -> String {
    let are = if all - own == 1 { "has no burst and is" } else { "have no burst and are" };
    format!("{} of {} {are} in no figure.", grouped_digits(all - own), counted(all, what))
}

/// Events for each burst, from which on these are told to be few.
const FEW_OF: u64 = 100;

/// That the bursts are few among many events, which may mark what else could be a burst: a
/// trace of tasks or of user functions may say of each thread that it runs, and no more.
fn few_of_many(table: &BurstTable, records: &RecordCounts, reading: &Reading) -> Option<String> {
    let (n, in_parallel) = (table.len() as u64, table.code.as_ref().is_some_and(|code| code.parallel));
    let are_few = reading.burst_events.is_empty() && !in_parallel && records.events >= FEW_OF * n;
    are_few.then(|| {
        format!(
            "The Running states are {}, and there are {} events. If some begin and end what is of interest (tasks, \
             user functions), {}--burst-events TYPE makes bursts of it; `likewise info --events` lists the types.",
            counted(n, "burst"),
            grouped_digits(records.events),
            reading.before_options
        )
    })
}

/// Why there may be no burst; of a table, that has so many rows that were read, and of a trace, that
/// has so many records.
fn no_burst(trace: &Path, reading: &Reading, rows: Option<u64>, records: u64) -> String {
    let of = match reading.apps {
        Apps::One(n) => format!(" in application {n}"),
        _ => String::new(),
    };
    match rows {
        None if records == 0 => return "there is no record behind the header".to_owned(),
        Some(0) => return "there is no burst: no row of the table could be read as one".to_owned(),
        Some(_) => return format!("there is no burst{of}"),
        None => {}
    }
    if !reading.burst_events.is_empty() {
        return format!(
            "there is no CPU burst{of} (none of the events); `likewise info --events` shows what there is"
        );
    }
    format!("there is no CPU burst{of} (no Running state){}", endless::advice(trace, reading))
}

/// Reads the trace as it is asked for, by `reader`.
pub(super) fn read<T>(
    trace: &Path,
    options: &Options,
    definition: &Definition,
    stages: &mut Stages,
    watch: &dyn Watch,
    reader: impl FnOnce(&Path, &ReadOptions<'_>) -> Result<T>,
) -> Result<T> {
    let bar = watch.bytes("Reading");
    let progress = |done, total| bar.set(done, total);
    let Options { reading, describing, .. } = options;
    let metrics =
        describing.metrics.iter().chain(definition.metrics.iter().flatten()).chain(&definition.extrapolate);
    let options = ReadOptions {
        lenient: reading.lenient,
        burst_events: reading.burst_events.clone(),
        counters: metrics.flat_map(event_types).collect(),
        apps: reading.apps,
        progress: Some(&progress),
        pcf: reading.pcf.clone(),
    };
    stages.time("read", || reader(trace, &options))
}

/// Event types that a metric names by number, and which need not be counters.
fn event_types(metric: &Metric) -> impl Iterator<Item = u32> {
    let (a, b) = match &metric.expr {
        Expr::One(a) => (Some(a), None),
        Expr::Two(a, _, b) => (Some(a), Some(b)),
    };
    let number = |operand: &Operand| match operand {
        Operand::Counter(name) => name.parse().ok(),
        Operand::Duration => None,
    };
    a.and_then(number).into_iter().chain(b.and_then(number))
}

/// Adds a metric that is only reported, unless a counter has its name.
fn add_column(table: &mut BurstTable, metric: &Metric) -> Result<()> {
    if table.counter(&metric.name).is_none() {
        let counter =
            Counter { event_type: None, name: metric.name.clone(), description: metric.expr.to_string() };
        table.counters.push(CounterColumn { values: metric.evaluate(table)?.iter().collect(), counter });
    }
    Ok(())
}

/// The share of the computing time that a filter keeps, where it is by that.
fn kept_time(filter: DurationFilter) -> Option<f64> {
    match filter {
        DurationFilter::KeepTime(share) | DurationFilter::KeepTimeBelow(share, _) => Some(share),
        DurationFilter::Min(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::table::Nanos;
    use likewise_trace::Task;

    #[test]
    fn tasks_without_bursts_are_told() {
        let topology = |threads: u32| {
            let app = |tasks: usize| vec![Task { threads, node: 1, streams: 0 }; tasks];
            Topology { cpus: Vec::new(), nodes: 1, apps: vec![app(4), app(9)] }
        };
        let table = |tasks: &[u32]| BurstTable {
            app: vec![1; tasks.len()].into(),
            task: tasks.to_vec().into(),
            thread: vec![1; tasks.len()].into(),
            begin: vec![Nanos::ZERO; tasks.len()],
            duration: vec![Nanos(9); tasks.len()],
            ..BurstTable::default()
        };
        let told = |threads, tasks: &[u32]| idle(&topology(threads), &table(tasks)).map(in_no_figure);
        assert_eq!(told(1, &[1, 1, 2, 3, 4]), None, "the other application is not read");
        assert_eq!(told(1, &[1, 2, 4]).as_deref(), Some("1 of 4 tasks has no burst and is in no figure."));
        assert_eq!(told(2, &[1]).as_deref(), Some("3 of 4 tasks have no burst and are in no figure."));
        assert_eq!(
            told(2, &[1, 2, 3, 4]).as_deref(),
            Some("4 of 8 threads have no burst and are in no figure.")
        );
    }
}
