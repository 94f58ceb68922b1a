//! `likewise ranks`: which processes behave alike, and how few must be traced.

use crate::cli::{Common, ToldElsewhere, Usage};
use crate::commands::bursts::{BurstsArgs, MetricArgs, ReadingArgs, RefiningArgs, analyse_trace, stem};
use crate::definition::parse_share;
use crate::files::report_data::{counted, grouped_digits};
use crate::grouping::{GroupingArgs, Method, parse_count};
use crate::output::OutputDir;
use crate::period;
use crate::ranks::find::{Alone, Found, Mine, Signature, agree, alone, by_capek, of_ranks};
use crate::ranks::handshake::{same_input, same_options};
use crate::ranks::{self, RanksReport, describe};
use crate::report_ranks;
use crate::stages::{Stages, peak_memory};
use anyhow::{Context, Result, anyhow};
use clap::{Args, Parser, ValueEnum};
use likewise::bursts::find_period;
use likewise::cluster::{CapekParams, ClusterCount, Criterion, Mode};
use likewise::comm::{Communicator, run_on_threads};
use likewise::ranks::{
    Bound, EffortPart, EffortRegions, EffortTable, FromBurstsError, PlanParams, Wavelet, effort_from_bursts,
    part,
};
use likewise_mpi::MpiComm;
use likewise_trace::{
    EffortOptions, SpreadError, is_rereadable, is_ungrouped, read_effort, read_effort_part,
};
use serde_json::json;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Find which processes behave alike, and how few must be traced
///
/// Reads the effort of every rank in every step (CSV with a row per rank, CSV
/// with columns rank,step,region,effort, .npy, or Parquet), or takes it from a
/// Paraver trace: regions are then the code between two calls, steps the
/// iterations of the run. Groups the ranks about medoids (CAPEK), and writes
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
    #[command(flatten)]
    classes: ClassesArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Options of `likewise bursts` for the analysis of a trace: those that say
    /// what to read, what describes a burst, and how to group
    #[arg(last = true, value_name = "OPTIONS")]
    bursts: Vec<OsString>,
}

/// How ranks are grouped
#[derive(Debug, Args)]
#[command(next_help_heading = "Classes")]
struct ClassesArgs {
    /// Just so many classes [default: as many as the BIC likes best; the mean
    /// silhouette where that leaves fewer than two ranks to a class]
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
  mpirun -n 4 likewise ranks effort.npy --mode sampled --confidence 99% --error 2% -o out";

/// The options of `likewise bursts` that say how to analyse a trace.
#[derive(Parser)]
#[command(name = "likewise ranks TRACE --", no_binary_name = true, disable_version_flag = true)]
struct TraceCall {
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    grouping: GroupingArgs,
}

/// Bytes of the distances between ranks that a process holds at once: 8 GiB.
const MOST_DISTANCES: u128 = 8 << 30;

/// Efforts of the ranks of this process, and what is to be known of them.
struct Efforts {
    part: EffortPart,
    is_time: bool,
    notes: Vec<String>,
}

pub(crate) fn run(args: &RanksArgs, common: &Common) -> Result<()> {
    let mpi = MpiComm::init()?;
    let rank = mpi.as_ref().map_or(0, Communicator::rank);
    let quiet = common.quieter();
    let common = if rank == 0 { common } else { &quiet };
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
    let done = match find(args, mpi.as_ref(), &efforts, &mut stages) {
        Ok(found) => found.map(|found| write(args, efforts, found, &mut stages, common)).transpose(),
        // The same everywhere.
        Err(_) if rank != 0 => Err(ToldElsewhere.into()),
        Err(error) => Err(of_ranks(error, efforts.part.n_ranks).context(args.input.display().to_string())),
    };
    let Some((report, summary)) = told_once(mpi.as_ref(), done)? else { return Ok(()) };
    let regions = report.regions.len();
    common.tell(format_args!("{} ranks × {} steps × {regions} regions", report.n_ranks(), report.n_steps));
    stages.tell(common);
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

    /// Whether the input is bursts, not efforts.
    pub(crate) fn is_trace(&self) -> bool {
        is_rereadable(&self.input) && is_ungrouped(&self.input).unwrap_or(false)
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
        let bar = common.progress().bytes("Reading");
        let report = |done, total| bar.set(done, total);
        let options = EffortOptions { progress: Some(&report), ..EffortOptions::default() };
        let part = match mpi {
            None => EffortPart::whole(read_effort(&self.input, &options)?),
            Some(comm) => read_effort_part(comm, &self.input, &options).map_err(|error| match error {
                SpreadError::File(error) => error.into(),
                SpreadError::Elsewhere => ToldElsewhere.into(),
                SpreadError::Comm(error) => anyhow::Error::from(error),
            })?,
        };
        Ok(Efforts { part, is_time: false, notes: Vec::new() })
    }

    /// Efforts of a trace. Its bursts are grouped first, for which every
    /// process would have to know all of them; so process 0 does that.
    fn of_trace(&self, mpi: Option<&MpiComm>, common: &Common) -> Result<Efforts> {
        let Some(comm) = mpi else {
            let (table, notes) = self.table_of_trace(common)?;
            return Ok(Efforts { part: EffortPart::whole(table), is_time: true, notes });
        };
        let made = (comm.rank() == 0).then(|| self.table_of_trace(common)).transpose();
        let (table, told) = match made {
            Ok(made) => {
                let (table, notes) = made.unzip();
                (table, Ok(notes.unwrap_or_default()))
            }
            Err(error) => (None, Err(error)),
        };
        match EffortPart::share_out(comm, table)? {
            Some(part) => Ok(Efforts { part, is_time: true, notes: told? }),
            None => Err(told.err().unwrap_or_else(|| ToldElsewhere.into())),
        }
    }

    fn table_of_trace(&self, common: &Common) -> Result<(EffortTable, Vec<String>)> {
        let TraceCall { reading, metrics, grouping } = TraceCall::try_parse_from(&self.bursts)?;
        // At one density, as the period asks for: to refine takes longer.
        let method = grouping.method.or(metrics.definition.is_none().then_some(Method::Dbscan));
        let grouping = GroupingArgs { method, ..grouping };
        let refining = RefiningArgs::default();
        let call = BurstsArgs::without_files(self.input.clone(), reading, metrics, grouping, refining);
        let (analysis, _) = analyse_trace(&call, &common.quieter())?;
        let mut notes = analysis.notes.clone();
        let phases = period::phases(&analysis)?;
        let period = find_period(&analysis.table, &phases);
        let period = period
            .map_err(|why| anyhow!("{}: not periodic, so there are no steps: {why}", self.input.display()))?;
        let of = |regions| effort_from_bursts(&analysis.table, regions, &period.boundaries);
        let table = match of(EffortRegions::Code) {
            Err(FromBurstsError::NoCode) => {
                let text =
                    "The trace does not say between which calls its bursts lie, so phases are the regions.";
                notes.push(text.to_owned());
                of(EffortRegions::Phases(&phases))
            }
            table => table,
        };
        Ok((table.with_context(|| self.input.display().to_string())?, notes))
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
        let Self { input: _, output: _, classes, plan, bursts } = self;
        format!("{:?}", (env!("CARGO_PKG_VERSION"), classes, plan, bursts))
    }

    fn clusters(&self, n_ranks: usize) -> ClusterCount {
        match self.classes.k {
            Some(k) => ClusterCount::Fixed(k),
            None => ClusterCount::UpTo(self.classes.k_max.min(n_ranks)),
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

/// The classes; nothing where another process has them.
fn find(
    args: &RanksArgs,
    mpi: Option<&MpiComm>,
    efforts: &Efforts,
    stages: &mut Stages,
) -> Result<Option<Found>> {
    let EffortPart { table, n_ranks } = &efforts.part;
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
            let mine = Mine { table, ranks: part(*n_ranks, comm.rank(), comm.size()) };
            by_capek(comm, &mine, &mine.objects(signature), &params)
        })
    })?;
    Ok(found.into_iter().next().flatten())
}

/// Writes every file, or none.
fn write(
    args: &RanksArgs,
    efforts: Efforts,
    found: Found,
    stages: &mut Stages,
    common: &Common,
) -> Result<(RanksReport, serde_json::Value)> {
    let params = PlanParams::new(args.plan.confidence, Bound::Relative(args.plan.error))?;
    let Efforts { part: EffortPart { table, .. }, is_time, notes } = efforts;
    let signature = args.signature(table.n_steps());
    let mut report = stages
        .time("plan", || describe::describe(&table, found, &params, args.plan.error, args.classes.seed));
    report.input = args.input.display().to_string();
    report.is_time = is_time;
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
        out.write("report.html", |file| Ok(report_ranks::write_html(&report, file)?))
    })?;
    let mut summary = ranks::json::summary(&report);
    summary["timings"] = stages.to_json();
    summary["peak_memory_bytes"] = peak_memory().into();
    out.write("summary.json", |file| Ok(writeln!(file, "{summary:#}")?))?;
    out.commit()?;
    Ok((report, summary))
}
