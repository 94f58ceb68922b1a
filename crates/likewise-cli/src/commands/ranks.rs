//! `likewise ranks`: which processes behave alike, and how few must be traced.

use crate::args::parse_count;
use crate::common::{Common, ToldElsewhere, Usage};
use crate::finish::finish;
use crate::output::OutputDir;
use crate::ranks::describe::{self, Described};
use crate::ranks::find::{Alone, Found, Mine, Signature, agree, alone, by_capek, of_ranks};
use crate::ranks::handshake::{same_input, same_options};
use crate::ranks::regions::{RegionsArg, efforts_of_trace};
use crate::ranks::settle::most_classes;
use crate::ranks::{self, RanksReport, traced, windows};
use crate::report_ranks;
use crate::taken;
use crate::trace::stem;
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise::cluster::medoids::capek::{CapekParams, ClusterCount, Criterion, Mode};
use likewise::comm::{Communicator, run_on_threads};
use likewise::ranks::{Allocation, Bound, EffortPart, EffortTable, PlanParams, Wavelet};
use likewise::table::Nanos;
use likewise::words::{counted, grouped_digits};
use likewise_analysis::Stages;
use likewise_analysis::definition::parse_share;
use likewise_mpi::MpiComm;
use likewise_trace::{
    EffortOptions, SpreadError, Taken, bursts_of, is_rereadable, read_effort, read_effort_part,
};
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;

/// Find which processes behave alike, and how few must be traced
///
/// Reads the effort of every rank in every step (CSV with a row per rank, CSV
/// with columns rank,step,region,effort, .npy, or Parquet), or takes it from a
/// Paraver trace: regions are then phases, steps the iterations of the run.
/// Groups the ranks about medoids (CAPEK), says whether the data support these
/// classes or what else they show (a gradient, alike ranks), and writes
/// ranks.csv, classes.csv, traces.csv, summary.json and report.html. Under
/// mpirun each process reads and works on some of the ranks; the result is the
/// same.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RanksArgs {
    /// Effort table, Paraver trace, or '-' for a table on standard input
    input: PathBuf,
    /// Directory for the result [default: the input's name with .ranks]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What the efforts of a trace are of [default: phases]
    #[arg(long, value_enum, value_name = "WHAT")]
    regions: Option<RegionsArg>,
    #[command(flatten)]
    classes: ClassesArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// The input has the efforts of only those ranks that were traced: estimate
    /// the mean of all, with its error, by the classes in DIR, the result of an
    /// earlier run (or its ranks.csv)
    #[arg(long, value_name = "DIR", conflicts_with_all = OF_CLASSES)]
    traced: Option<PathBuf>,
    /// Group anew every N steps as well, and say how far the classes moved
    #[arg(long, value_name = "N", value_parser = parse_count)]
    every: Option<usize>,
    /// Options of `likewise bursts` for the analysis of a trace: those that say
    /// what to read, what describes a burst, and how to group
    #[arg(last = true, value_name = "OPTIONS")]
    bursts: Vec<OsString>,
}

/// Options that make classes, and so are not for ranks whose classes are known.
const OF_CLASSES: [&str; 6] = ["ClassesArgs", "every", "error", "error_abs", "each_stratum", "regions"];

/// How ranks are grouped
#[derive(Debug, Args)]
#[command(next_help_heading = "Classes")]
struct ClassesArgs {
    /// Just so many classes, whether or not the data support them [default: as
    /// many as the BIC likes best and the data support]
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with = "k_max")]
    k: Option<usize>,
    /// At most so many classes
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "10")]
    k_max: usize,
    /// Method; those other than capek run on one process alone
    #[arg(long, value_enum, default_value = "capek")]
    method: MethodArg,
    /// Look at all ranks (n of them take 8 n² bytes, shared by the processes),
    /// or at samples of them [default: all where there are at most 4,096]
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// Compare the lowest band after so many wavelet levels and the energies of
    /// the other bands, or all efforts ('none') [default: until 16 to 31 numbers
    /// are left of each region]
    #[arg(long, value_name = "LEVELS", value_parser = parse_levels)]
    signature: Option<Levels>,
    /// Wavelet of the signature
    #[arg(long, value_enum, default_value = "haar")]
    wavelet: WaveletArg,
    /// What samples are drawn by
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Share the work over N threads as if they were processes
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u16).range(1..=256))]
    ranks: Option<u16>,
}

/// How many ranks are to be traced
#[derive(Debug, Args)]
#[command(next_help_heading = "Sampling plan")]
struct PlanArgs {
    /// The mean of every step is to be known with this confidence
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = parse_open_share)]
    confidence: f64,
    /// The mean of every step may be off by this share of it
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = parse_open_share)]
    error: f64,
    /// The mean of every step may be off by so much: a number in the unit of
    /// the table, for a trace a time such as 5ms
    #[arg(long, value_name = "EFFORT", value_parser = parse_effort, conflicts_with = "error")]
    error_abs: Option<f64>,
    /// The mean of each class must be within the error, not only that of all
    /// ranks: takes more ranks
    #[arg(long)]
    each_stratum: bool,
}

impl PlanArgs {
    fn params(&self) -> Result<PlanParams> {
        let bound = self.error_abs.map_or(Bound::Relative(self.error), Bound::Absolute);
        let allocation = if self.each_stratum { Allocation::EachStratum } else { Allocation::default() };
        let mut params = PlanParams::new(self.confidence, bound)?;
        params.allocation = allocation;
        Ok(params)
    }
}

/// A number, or a time in seconds.
fn parse_effort(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().or_else(|| Some(text.parse::<Nanos>().ok()?.seconds()));
    let positive = |x: &f64| *x > 0.0 && x.is_finite();
    number.filter(positive).ok_or_else(|| "expected a number above 0, or a time such as 5ms".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    Capek,
    Clara,
    Pam,
    Fasterpam,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    Auto,
    Sampled,
    Exact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WaveletArg {
    Haar,
    Cdf53,
    Cdf97,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Levels {
    None,
    Some(usize),
}

fn parse_levels(text: &str) -> Result<Levels, String> {
    match text {
        "none" => Ok(Levels::None),
        _ => {
            let levels = text.parse().ok().filter(|levels| *levels <= 40).map(Levels::Some);
            levels.ok_or_else(|| "expected a number of levels up to 40, or 'none'".to_owned())
        }
    }
}

fn parse_open_share(text: &str) -> Result<f64, String> {
    let share = parse_share(text)?;
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        Err("expected more than 0% and less than 100%".to_owned())
    }
}

const EXAMPLES: &str = "\
Examples:
  likewise ranks effort.npy -o out
  likewise ranks effort.csv --k 6 --method fasterpam -o out
  likewise ranks run.prv.gz -o out -- --app 1
  likewise ranks run.prv.gz --regions functions -o out
  likewise ranks effort.csv --error-abs 0.5 --each-stratum -o plan
  likewise ranks traced.csv --traced plan -o estimate
  likewise ranks effort.csv --every 20 -o out
  mpirun -n 4 likewise ranks effort.npy --mode sampled --confidence 99% --error 2% -o out";

/// Bytes of the distances between ranks that a process holds at once: 8 GiB.
const MOST_DISTANCES: u128 = 8 << 30;

/// Efforts of the ranks of this process, and what is to be known of them.
struct Efforts {
    part: EffortPart,
    is_time: bool,
    notes: Vec<String>,
    /// Which columns of a table were read; `None` of a trace.
    columns: Option<Taken>,
}

pub(crate) fn run(args: &RanksArgs, common: &Common) -> Result<()> {
    let mpi = MpiComm::init()?;
    let rank = mpi.as_ref().map_or(0, Communicator::rank);
    let quiet = common.quieter();
    let common = if rank == 0 { common } else { &quiet };
    if let Some(plan) = &args.traced {
        let checked = args.check_traced(mpi.as_ref().map_or(1, Communicator::size), common);
        told_once(mpi.as_ref(), checked)?;
        let (measured, dir, confidence) = (&args.input, args.dir(), args.plan.confidence);
        return traced::run(&traced::Call { measured, plan, dir, confidence }, common);
    }
    let mut stages = Stages::default();
    if let Some(comm) = &mpi {
        told_once(Some(comm), same_options(comm, &args.options(), &common.call.arguments.join(" ")))?;
    }
    let checked = args.check(mpi.as_ref().map_or(1, Communicator::size));
    // Process 0 writes.
    let checked = checked.and_then(|()| {
        if rank == 0 { OutputDir::check(&args.dir(), &[&args.input], common) } else { Ok(()) }
    });
    told_once(mpi.as_ref(), checked)?;
    let mut is_trace = vec![u8::from(args.is_trace())];
    if let Some(comm) = &mpi {
        // A trace is read by process 0 alone.
        comm.broadcast(0, &mut is_trace)?;
        if is_trace == [0] {
            told_once(Some(comm), same_input(comm, &args.input))?;
        }
    }
    let read = stages.time("read", || args.read(is_trace == [1], mpi.as_ref(), common));
    let efforts = told_once(mpi.as_ref(), read)?;
    let n_ranks = efforts.part.n_ranks;
    let done = match find_all(args, mpi.as_ref(), &efforts, &mut stages) {
        Ok(found) => found.map(|found| write(args, efforts, found, &mut stages, common)).transpose(),
        // The same everywhere.
        Err(_) if rank != 0 => Err(ToldElsewhere.into()),
        Err(error) => Err(of_ranks(error, n_ranks).context(args.input.display().to_string())),
    };
    let Some((report, summary)) = told_once(mpi.as_ref(), done)? else { return Ok(()) };
    for note in &report.notes {
        common.say(format_args!("note: {note}"));
    }
    common.print(&summary, || {
        let (width, colour) = common.terminal();
        let table = ranks::text::table(&report, width, colour);
        format!("{table}\nReport: {}\n", args.dir().join("report.html").display())
    })
}

/// Where any process failed, all fail, and the first of them says why.
fn told_once<T>(mpi: Option<&MpiComm>, result: Result<T>) -> Result<T> {
    let Some(comm) = mpi else { return result };
    match agree(comm, result.is_err())? {
        Some(first) if first == comm.rank() => result,
        Some(_) => Err(ToldElsewhere.into()),
        None => result,
    }
}

impl RanksArgs {
    fn dir(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.ranks", stem(&self.input))))
    }

    fn check(&self, processes: usize) -> Result<()> {
        let usage = |text: String| Err(Usage(text).into());
        let method = self.classes.method;
        if method != MethodArg::Capek {
            if processes > 1 {
                return usage(format!(
                    "--method {} works on one process, and there are {processes}; leave mpirun out, or use capek",
                    name(method)
                ));
            }
            if self.classes.mode.is_some() {
                return usage(format!("--mode is for capek, not for --method {}", name(method)));
            }
        }
        // MPICH's mpirun ends all where it is read too slowly.
        if processes > 1 && self.input.as_os_str() == "-" {
            return usage("standard input is not safe under mpirun; give a file".to_owned());
        }
        Ok(())
    }

    fn check_traced(&self, processes: usize, common: &Common) -> Result<()> {
        if processes > 1 {
            let text = format!("--traced works on one process, and there are {processes}; leave mpirun out");
            return Err(Usage(text).into());
        }
        if self.is_trace() {
            let text = "--traced reads a table of efforts with a column 'rank', not a trace";
            return Err(Usage(text.to_owned()).into());
        }
        OutputDir::check(&self.dir(), &[&self.input], common)
    }

    /// Whether the input is bursts, not efforts.
    pub(crate) fn is_trace(&self) -> bool {
        is_rereadable(&self.input) && bursts_of(&self.input).is_ok_and(|bursts| bursts.is_some())
    }

    /// Reads a table, or makes one of a trace.
    fn read(&self, is_trace: bool, mpi: Option<&MpiComm>, common: &Common) -> Result<Efforts> {
        if is_trace {
            return self.of_trace(mpi, common);
        }
        if let Some(option) = self.bursts.first() {
            let text = format!("'-- {}' is for traces; this is an effort table", option.to_string_lossy());
            return Err(Usage(text).into());
        }
        if self.regions.is_some() {
            return Err(Usage("--regions is for traces; this is an effort table".to_owned()).into());
        }
        let bar = common.bytes("Reading");
        let report = |done, total| bar.set(done, total);
        let options = EffortOptions { progress: Some(&report), ..EffortOptions::default() };
        let (part, taken) = match mpi {
            None => {
                let (table, taken) = read_effort(&self.input, &options)?;
                (EffortPart::whole(table), taken)
            }
            Some(comm) => read_effort_part(comm, &self.input, &options).map_err(|error| match error {
                SpreadError::File(error) => error.into(),
                SpreadError::Elsewhere => ToldElsewhere.into(),
                SpreadError::Comm(error) => anyhow::Error::from(error),
            })?,
        };
        taken::tell(&taken, common);
        Ok(Efforts { part, is_time: false, notes: taken.said(), columns: Some(taken) })
    }

    /// Efforts of a trace. Its bursts are grouped first, for which every
    /// process would have to know all of them; so process 0 does that.
    fn of_trace(&self, mpi: Option<&MpiComm>, common: &Common) -> Result<Efforts> {
        let Some(comm) = mpi else {
            let (table, notes) = self.efforts_of_trace(common)?;
            return Ok(Efforts { part: EffortPart::whole(table), is_time: true, notes, columns: None });
        };
        let made = (comm.rank() == 0).then(|| self.efforts_of_trace(common)).transpose();
        let (table, told) = match made {
            Ok(made) => {
                let (table, notes) = made.unzip();
                (table, Ok(notes.unwrap_or_default()))
            }
            Err(error) => (None, Err(error)),
        };
        match EffortPart::share_out(comm, table)? {
            Some(part) => Ok(Efforts { part, is_time: true, notes: told?, columns: None }),
            None => Err(told.err().unwrap_or_else(|| ToldElsewhere.into())),
        }
    }

    fn efforts_of_trace(&self, common: &Common) -> Result<(EffortTable, Vec<String>)> {
        efforts_of_trace(&self.input, self.regions.unwrap_or_default(), &self.bursts, common)
    }

    /// Refuses to hold more distances than [`MOST_DISTANCES`] on one of so many
    /// processes; the same on all of them.
    fn check_distances(&self, n_ranks: usize, processes: usize) -> Result<()> {
        let ClassesArgs { method, mode, .. } = self.classes;
        let of_two = |n: u128| 8 * n * n;
        let (n, k) = (n_ranks as u128, self.classes.k.unwrap_or(self.classes.k_max));
        let all = of_two(n);
        let (bytes, of_all) = match method {
            MethodArg::Pam | MethodArg::Fasterpam => (all, true),
            MethodArg::Clara => (of_two(n.min(40 + 2 * k as u128)), false),
            MethodArg::Capek => {
                // Threads work as if they were processes, but all of them here.
                let threads = self.threads();
                let (size, here) = if processes > 1 { (processes, 1) } else { (threads, threads) };
                let bytes = self.capek_params(n_ranks).dissimilarity_bytes(n_ranks as u64, size, here);
                let is_exact = mode == Some(ModeArg::Exact);
                (bytes, is_exact && all.div_ceil(processes as u128) > MOST_DISTANCES)
            }
        };
        if bytes <= MOST_DISTANCES {
            return Ok(());
        }
        let gib = |bytes: u128| grouped_digits(bytes.div_ceil(1 << 30) as u64);
        let ranks = counted(n_ranks as u64, "rank");
        let option = match (method, mode) {
            (MethodArg::Capek, Some(mode)) => format!("--mode {}", name(mode)),
            (method, _) => format!("--method {}", name(method)),
        };
        let most = format!("{option} holds at most {} GiB on a process", gib(MOST_DISTANCES));
        let text = if of_all {
            let instead = if method == MethodArg::Capek { "" } else { "--method capek " };
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

    fn threads(&self) -> usize {
        self.classes.ranks.map_or_else(rayon::current_num_threads, usize::from)
    }

    fn capek_params(&self, n_ranks: usize) -> CapekParams<Vec<f64>> {
        let mode = match self.classes.mode {
            None | Some(ModeArg::Auto) => Mode::Auto,
            Some(ModeArg::Sampled) => Mode::Sampled,
            Some(ModeArg::Exact) => Mode::Exact,
        };
        let criterion: Criterion<Vec<f64>> = Criterion::Bic(|v| v);
        CapekParams { mode, seed: self.classes.seed, ..CapekParams::new(self.clusters(n_ranks), criterion) }
    }

    /// All that decides about the result, but for the input. (Only process 0
    /// needs to know where to write.)
    fn options(&self) -> String {
        let Self { input: _, output: _, regions, classes, plan, traced, every, bursts } = self;
        format!("{:?}", (env!("CARGO_PKG_VERSION"), regions, classes, plan, traced, every, bursts))
    }

    fn clusters(&self, n_ranks: usize) -> ClusterCount {
        match self.classes.k {
            Some(k) => ClusterCount::Fixed(k),
            None => ClusterCount::UpTo(self.classes.k_max.min(most_classes(n_ranks))),
        }
    }

    fn signature(&self, n_steps: usize) -> Signature {
        let wavelet = match self.classes.wavelet {
            WaveletArg::Haar => Wavelet::Haar,
            WaveletArg::Cdf53 => Wavelet::Cdf53,
            WaveletArg::Cdf97 => Wavelet::Cdf97,
        };
        match self.classes.signature {
            Some(Levels::None | Levels::Some(0)) => Signature::Whole,
            Some(Levels::Some(levels)) => Signature::Wavelet(wavelet, levels),
            // As the paper has it: 16 numbers.
            None => match (n_steps.max(1).ilog2() as usize).saturating_sub(4) {
                0 => Signature::Whole,
                levels => Signature::Wavelet(wavelet, levels),
            },
        }
    }

    fn signature_text(&self, signature: Signature) -> String {
        match signature {
            Signature::Whole => "all efforts".to_owned(),
            Signature::Wavelet(_, levels) => {
                format!("{} signature of level {levels}", name(self.classes.wavelet))
            }
        }
    }
}

pub(crate) fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The classes of the whole run, and those of each window of it, with the step
/// in which that begins.
struct AllFound {
    whole: Found,
    windows: Vec<(usize, usize, Found)>,
}

/// As [`find`], of all windows as well.
fn find_all(
    args: &RanksArgs,
    mpi: Option<&MpiComm>,
    efforts: &Efforts,
    stages: &mut Stages,
) -> Result<Option<AllFound>> {
    let whole = find(args, mpi, &efforts.part, stages)?;
    let EffortPart { table, n_ranks } = &efforts.part;
    let mut windows = Vec::new();
    if let Some(every) = args.every {
        for first in (0..table.n_steps()).step_by(every) {
            let steps = first..(first + every).min(table.n_steps());
            let part = EffortPart { table: table.steps(steps.clone()), n_ranks: *n_ranks };
            if let Some(found) = find(args, mpi, &part, stages)? {
                windows.push((first, steps.end, found));
            }
        }
    }
    Ok(whole.map(|whole| AllFound { whole, windows }))
}

/// The classes; nothing where another process has them.
fn find(
    args: &RanksArgs,
    mpi: Option<&MpiComm>,
    part: &EffortPart,
    stages: &mut Stages,
) -> Result<Option<Found>> {
    let EffortPart { table, n_ranks } = part;
    args.check_distances(*n_ranks, mpi.map_or(1, Communicator::size))?;
    let signature = args.signature(table.n_steps());
    let clusters = args.clusters(*n_ranks);
    let seed = args.classes.seed;
    let all = Mine { table, ranks: 0..table.n_ranks() };
    let method = match args.classes.method {
        MethodArg::Capek => None,
        MethodArg::Clara => Some(Alone::Clara),
        MethodArg::Pam => Some(Alone::Pam),
        MethodArg::Fasterpam => Some(Alone::Fasterpam),
    };
    if let Some(method) = method {
        let objects = stages.time("signature", || all.objects(signature));
        return stages.time("cluster", || alone(method, &all, &objects, clusters, seed)).map(Some);
    }
    let params = args.capek_params(*n_ranks);
    if let Some(comm) = mpi {
        let objects = stages.time("signature", || all.objects(signature));
        return stages.time("cluster", || by_capek(comm, &all, &objects, &params));
    }
    let threads = args.threads();
    let found = stages.time("cluster", || {
        run_on_threads(threads, |comm| {
            let mine = Mine { table, ranks: likewise::ranks::part(*n_ranks, comm.rank(), comm.size()) };
            by_capek(comm, &mine, &mine.objects(signature), &params)
        })
    })?;
    Ok(found.into_iter().next().flatten())
}

/// Writes every file, or none.
fn write(
    args: &RanksArgs,
    efforts: Efforts,
    AllFound { whole: found, windows: of_windows }: AllFound,
    stages: &mut Stages,
    common: &Common,
) -> Result<(RanksReport, serde_json::Value)> {
    let params = args.plan.params()?;
    let Efforts { part: EffortPart { table, .. }, is_time, notes, columns } = efforts;
    let signature = args.signature(table.n_steps());
    let how = Described { params, error: args.plan.error, seed: args.classes.seed, is_time };
    let mut report = stages.time("plan", || describe::describe(&table, found, &how));
    let of_window = |(first, end, found): (usize, usize, Found)| {
        (first, describe::describe(&table.steps(first..end), found, &how))
    };
    report.every = args.every;
    report.windows = windows::windows(of_windows.into_iter().map(of_window).collect());
    report.input = args.input.display().to_string();
    report.notes = notes;
    let grouping = &mut report.grouping;
    grouping.method = name(args.classes.method);
    grouping.signature = args.signature_text(signature);
    grouping.dims = signature.dims(&table);
    grouping.parameters = json!({
        "k": args.classes.k,
        "k_max": args.classes.k.is_none().then_some(args.classes.k_max),
        "mode": args.classes.mode.map(name),
        "wavelet": name(args.classes.wavelet),
        "levels": match signature { Signature::Whole => 0, Signature::Wavelet(_, levels) => levels },
    });
    report.notes.extend(report.note_on_count(args.classes.k_max));
    let dir = args.dir();
    let mut out = OutputDir::create(&dir, &[&args.input], common)?;
    stages.time("write", || -> Result<()> {
        out.write("ranks.csv", |file| Ok(ranks::csv::ranks(&report, file)?))?;
        out.write("classes.csv", |file| Ok(ranks::csv::classes(&report, file)?))?;
        out.write("traces.csv", |file| Ok(ranks::csv::traces(&report, file)?))?;
        if !report.windows.is_empty() {
            out.write("windows.csv", |file| Ok(windows::csv(&report.windows, file)?))?;
            out.write("window_ranks.csv", |file| Ok(windows::ranks_csv(&report.windows, file)?))?;
        }
        out.write("report.html", |file| Ok(report_ranks::write_html(&report, file)?))
    })?;
    let mut summary = ranks::json::summary(&report);
    summary["columns"] = columns.as_ref().map(taken::to_json).into();
    let [ranks, steps, regions] =
        [(report.n_ranks(), "rank"), (report.n_steps, "step"), (report.regions.len(), "region")]
            .map(|(n, what)| counted(n as u64, what));
    common.tell(format_args!("{ranks} × {steps} × {regions}"));
    let summary = finish(out, "summary.json", summary, stages, common)?;
    Ok((report, summary))
}
