//! From a table of efforts, or a trace, to classes of ranks: on one process or
//! on many.

use super::describe::{Described, describe};
use super::find::{Alone, Found, Mine, Signature, alone, by_capek, of_ranks};
use super::options::{Classes, Method, Mode, Options};
use super::regions::{OfTrace, efforts_of_trace};
use super::report::{Parameters, RanksReport};
use super::windows::windows;
use crate::together::{same_input, told_once};
use crate::{Stages, ToldElsewhere, Usage, Watch};
use anyhow::Result;
use likewise::comm::{Communicator, Reduction, run_on_threads};
use likewise::ranks::{EffortPart, EffortTable, part};
use likewise::words::{counted, grouped_digits};
use likewise_trace::{
    EffortOptions, SpreadError, Taken, bursts_of, is_rereadable, read_effort, read_effort_part,
};
use std::path::Path;

/// Bytes of the distances between ranks that a process holds at once: 8 GiB.
const MOST_DISTANCES: u128 = 8 << 30;

/// Classes of ranks, and what was read.
#[derive(Clone, Debug)]
pub struct Classified {
    /// The classes, and all that is to be said of them.
    pub report: RanksReport,
    /// Which columns of a table were read; `None` of a trace.
    pub columns: Option<Taken>,
}

/// Whether the input is bursts, not efforts.
#[must_use]
pub fn is_trace(input: &Path) -> bool {
    // A folder is that of a recording, or the reader says what was expected.
    input.is_dir() || is_rereadable(input) && bursts_of(input).is_ok_and(|bursts| bursts.is_some())
}

/// Refuses options that so many processes cannot follow.
///
/// # Errors
/// [`Usage`], on each process.
pub fn check(processes: usize, input: &Path, classes: &Classes) -> Result<()> {
    let usage = |text: String| Err(Usage(text).into());
    if classes.method != Method::Capek {
        if processes > 1 {
            return usage(format!(
                "--method {} works on one process, and there are {processes}; leave mpirun out, or use capek",
                classes.method.name()
            ));
        }
        if classes.mode.is_some() {
            return usage(format!("--mode is for capek, not for --method {}", classes.method.name()));
        }
    }
    // MPICH's mpirun ends all processes if its standard input is read too
    // slowly.
    if processes > 1 && input.as_os_str() == "-" {
        return usage("standard input is not safe under mpirun; give a file".to_owned());
    }
    Ok(())
}

/// Classes of the ranks of a table or a trace. On several processes, each works
/// on some of the ranks, and process 0 alone has the result.
///
/// # Errors
/// Of one process, all tell: one what it is, the others [`ToldElsewhere`].
pub fn classify<C: Communicator>(
    comm: Option<&C>,
    input: &Path,
    options: &Options,
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Option<Classified>> {
    let rank = comm.map_or(0, Communicator::rank);
    let mut of_bursts = vec![u8::from(is_trace(input))];
    if let Some(comm) = comm {
        // A trace is read by process 0 alone.
        comm.broadcast(0, &mut of_bursts)?;
        if of_bursts == [0] {
            told_once(Some(comm), same_input(comm, input))?;
        }
    }
    let read = stages.time("read", || match of_bursts[..] {
        [1] => of_trace(comm, input, options, watch),
        _ => of_table(comm, input, options, watch),
    });
    let efforts = told_once(comm, read)?;
    check_size(comm, &efforts.part.table, input)?;
    let n_ranks = efforts.part.n_ranks;
    match find_all(comm, options, &efforts, stages) {
        Ok(found) => Ok(found.map(|found| described(input, options, efforts, found, stages))),
        // The same everywhere.
        Err(_) if rank != 0 => Err(ToldElsewhere.into()),
        Err(error) => Err(of_ranks(error, n_ranks).context(input.display().to_string())),
    }
}

/// Efforts below 2 to this power have squares of a few digits alone, or of none: less than a
/// part in 10⁸ of one is below the least double.
const LEAST_POWER: i64 = -480;

/// Refuses efforts that are so small that distances would be 0. (Those that are too large are
/// found where distances are computed.) The same on all processes.
fn check_size<C: Communicator>(comm: Option<&C>, table: &EffortTable, input: &Path) -> Result<()> {
    let largest = table.values().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    // Nothing but zeros is no size.
    let mut power = [if largest > 0.0 { largest.log2().floor() as i64 } else { i64::MIN }];
    if let Some(comm) = comm {
        comm.all_reduce(Reduction::Max, &mut power)?;
    }
    if power[0] != i64::MIN && power[0] < LEAST_POWER {
        if comm.is_some_and(|comm| comm.rank() != 0) {
            return Err(ToldElsewhere.into());
        }
        let text = "the efforts are so small that their squares are no numbers; give them in another unit";
        return Err(anyhow::anyhow!("{}: {text}", input.display()));
    }
    Ok(())
}

/// Efforts of the ranks of this process, and what is to be known of them.
struct Efforts {
    part: EffortPart,
    is_time: bool,
    /// They are known within this factor; 1 where they are exact.
    rounding: f64,
    notes: Vec<String>,
    columns: Option<Taken>,
    /// The task of each rank, where some are left out; on process 0.
    tasks: Vec<u32>,
}

fn of_table<C: Communicator>(
    comm: Option<&C>,
    input: &Path,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Efforts> {
    if options.regions.is_some() {
        return Err(Usage("--regions is for traces; this is an effort table".to_owned()).into());
    }
    let bar = watch.bytes("Reading");
    let report = |done, total| bar.set(done, total);
    let options = EffortOptions { progress: Some(&report), ..EffortOptions::default() };
    let (part, taken) = match comm {
        None => {
            let (table, taken) = read_effort(input, &options)?;
            (EffortPart::whole(table), taken)
        }
        Some(comm) => read_effort_part(comm, input, &options).map_err(|error| match error {
            SpreadError::File(error) => error.into(),
            SpreadError::Elsewhere => ToldElsewhere.into(),
            SpreadError::Comm(error) => anyhow::Error::from(error),
        })?,
    };
    watch.tell(&taken.told());
    Ok(Efforts {
        part,
        is_time: false,
        rounding: 1.0,
        notes: taken.said(),
        columns: Some(taken),
        tasks: Vec::new(),
    })
}

/// Efforts of a trace. Grouping needs all bursts in one process, so process 0
/// does it.
fn of_trace<C: Communicator>(
    comm: Option<&C>,
    input: &Path,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Efforts> {
    let made = || efforts_of_trace(input, options, watch);
    let of = |part, rounding, (notes, tasks)| Efforts {
        part,
        is_time: true,
        rounding,
        notes,
        columns: None,
        tasks,
    };
    let Some(comm) = comm else {
        let OfTrace { table, notes, rounding, tasks } = made()?;
        return Ok(of(EffortPart::whole(table), rounding, (notes, tasks)));
    };
    let (table, told) = match (comm.rank() == 0).then(made).transpose() {
        Ok(Some(OfTrace { table, notes, rounding, tasks })) => (Some(table), Ok(((notes, tasks), rounding))),
        Ok(None) => (None, Ok((Default::default(), 1.0))),
        Err(error) => (None, Err(error)),
    };
    let mut rounding = told.as_ref().map_or(1.0, |(_, rounding)| *rounding).to_le_bytes().to_vec();
    comm.broadcast(0, &mut rounding)?;
    let rounding = rounding.try_into().map_or(1.0, f64::from_le_bytes);
    match EffortPart::share_out(comm, table)? {
        Some(part) => Ok(of(part, rounding, told?.0)),
        None => Err(told.err().unwrap_or_else(|| ToldElsewhere.into())),
    }
}

/// The classes of the whole run, and those of each window of it, with the step
/// in which that begins and that before which it ends.
struct AllFound {
    whole: Found,
    windows: Vec<(usize, usize, Found)>,
}

/// As [`find`], of all windows as well.
fn find_all<C: Communicator>(
    comm: Option<&C>,
    options: &Options,
    efforts: &Efforts,
    stages: &mut Stages,
) -> Result<Option<AllFound>> {
    let rounding = efforts.rounding;
    let whole = find(comm, &options.classes, (&efforts.part, rounding), stages)?;
    let EffortPart { table, n_ranks } = &efforts.part;
    let mut windows = Vec::new();
    if let Some(every) = options.every {
        for first in (0..table.n_steps()).step_by(every) {
            let steps = first..(first + every).min(table.n_steps());
            let part = EffortPart { table: table.steps(steps.clone()), n_ranks: *n_ranks };
            if let Some(found) = find(comm, &options.classes, (&part, rounding), stages)? {
                windows.push((first, steps.end, found));
            }
        }
    }
    Ok(whole.map(|whole| AllFound { whole, windows }))
}

/// The classes; nothing where another process has them.
fn find<C: Communicator>(
    comm: Option<&C>,
    classes: &Classes,
    (efforts, rounding): (&EffortPart, f64),
    stages: &mut Stages,
) -> Result<Option<Found>> {
    let EffortPart { table, n_ranks } = efforts;
    check_distances(classes, *n_ranks, comm.map_or(1, Communicator::size))?;
    let signature = classes.signature(table.n_steps());
    let clusters = classes.clusters(*n_ranks);
    let all = Mine { table, ranks: 0..table.n_ranks(), rounding };
    let method = match classes.method {
        Method::Capek => None,
        Method::Clara => Some(Alone::Clara),
        Method::Pam => Some(Alone::Pam),
        Method::Fasterpam => Some(Alone::Fasterpam),
    };
    if let Some(method) = method {
        let objects = stages.time("signature", || all.objects(signature));
        return stages
            .time("cluster", || alone(method, &all, (&objects, signature), clusters, classes.seed))
            .map(Some);
    }
    let params = classes.capek_params(*n_ranks);
    if let Some(comm) = comm {
        let objects = stages.time("signature", || all.objects(signature));
        return stages.time("cluster", || by_capek(comm, &all, (&objects, signature), &params));
    }
    let found = stages.time("cluster", || {
        run_on_threads(classes.threads(), |comm| {
            let mine = Mine { table, ranks: part(*n_ranks, comm.rank(), comm.size()), rounding };
            by_capek(comm, &mine, (&mine.objects(signature), signature), &params)
        })
    })?;
    Ok(found.into_iter().next().flatten())
}

/// Refuses to hold more distances than [`MOST_DISTANCES`] on one of so many
/// processes; the same on all of them.
fn check_distances(classes: &Classes, n_ranks: usize, processes: usize) -> Result<()> {
    let Classes { method, mode, .. } = *classes;
    let of_two = |n: u128| 8 * n * n;
    let (n, k) = (n_ranks as u128, classes.k.unwrap_or(classes.k_max));
    let all = of_two(n);
    let (bytes, of_all) = match method {
        Method::Pam | Method::Fasterpam => (all, true),
        Method::Clara => (of_two(n.min(40 + 2 * k as u128)), false),
        Method::Capek => {
            // Threads work as if they were processes, but all of them here.
            let threads = classes.threads();
            let (size, here) = if processes > 1 { (processes, 1) } else { (threads, threads) };
            let bytes = classes.capek_params(n_ranks).dissimilarity_bytes(n_ranks as u64, size, here);
            let is_exact = mode == Some(Mode::Exact);
            (bytes, is_exact && all.div_ceil(processes as u128) > MOST_DISTANCES)
        }
    };
    if bytes <= MOST_DISTANCES {
        return Ok(());
    }
    let gib = |bytes: u128| grouped_digits(bytes.div_ceil(1 << 30) as u64);
    let ranks = counted(n_ranks as u64, "rank");
    let option = match (method, mode) {
        (Method::Capek, Some(mode)) => format!("--mode {}", mode.name()),
        (method, _) => format!("--method {}", method.name()),
    };
    let most = format!("{option} holds at most {} GiB on a process", gib(MOST_DISTANCES));
    let text = if of_all {
        let instead = if method == Method::Capek { "" } else { "--method capek " };
        let all = gib(all);
        format!(
            "the distances of every two of {ranks} take {all} GiB, and {most}: \
             use {instead}--mode sampled, which looks at samples"
        )
    } else {
        format!(
            "{} classes of {ranks} take distances of {} GiB, and {most}: ask for fewer classes (--k, --k-max)",
            grouped_digits(k as u64),
            gib(bytes),
        )
    };
    Err(Usage(text).into())
}

/// What is told of the classes that were found.
fn described(
    input: &Path,
    options: &Options,
    efforts: Efforts,
    AllFound { whole: found, windows: of_windows }: AllFound,
    stages: &mut Stages,
) -> Classified {
    let Options { classes, plan, alike, every, .. } = options;
    let Efforts { part: EffortPart { table, .. }, is_time, rounding, notes, columns, tasks } = efforts;
    let signature = found.other.unwrap_or_else(|| classes.signature(table.n_steps()));
    let how = Described { params: *plan, error: *alike, seed: classes.seed, is_time, rounding };
    let mut report = stages.time("plan", || describe(&table, found, &how));
    let of_window =
        |(first, end, found): (usize, usize, Found)| (first, describe(&table.steps(first..end), found, &how));
    report.every = *every;
    report.windows = windows(of_windows.into_iter().map(of_window).collect());
    report.input = input.display().to_string();
    report.first_rank = columns.as_ref().map_or(0, |columns| columns.first_rank);
    (report.notes, report.tasks) = (notes, tasks);
    let grouping = &mut report.grouping;
    classes.method.name().clone_into(&mut grouping.method);
    grouping.signature = classes.signature_text(signature);
    grouping.dims = signature.dims(&table);
    grouping.parameters = Parameters {
        k: classes.k,
        k_max: classes.k_max,
        mode: classes.mode,
        wavelet: classes.wavelet,
        levels: match signature {
            Signature::Whole | Signature::Halves => 0,
            Signature::Wavelet(_, levels) => levels,
        },
    };
    report.notes.extend(report.note_on_count(classes.k_max));
    Classified { report, columns }
}
