//! `likewise pareto`: which rows of a table are good on several accounts.

use super::rows::RowArgs;
use crate::common::{Common, Names, Usage};
use crate::files::counters::{by_rank, pareto as csv, relations};
use crate::finish::finish;
use crate::output::OutputDir;
use crate::taken;
use crate::trace::stem;
use anyhow::{Context, Result};
use clap::Args;
use likewise::counters::pareto::{Goal, Objective};
use likewise::words::{counted, grouped_digits, short};
use likewise_analysis::Stages;
use likewise_analysis::counters::by_rank::{ByRank, Groups};
use likewise_analysis::counters::{Ranks, Records, numbers_of, row_name};
use likewise_report::counters::{self as page, ParetoReport};
use likewise_trace::{ColumnTable, read_columns};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Rank the rows of any table on several columns at once
///
/// A row dominates another if it is at least as good in every column and
/// better in one. Goldberg's rank is 0 for rows that no row dominates; without
/// these rows, 1 for those that no row dominates; and so on. Fonseca and
/// Fleming's rank is the number of rows that dominate a row. Rows that lack a value have no rank. Writes DIR/pareto.csv (the
/// order of the rows is kept), DIR/report.html and DIR/summary.json; with
/// --response DIR/response_by_rank.csv.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ParetoArgs {
    /// CSV with a name over every column, also with semicolons, tabs, bars or blanks,
    /// Parquet, NumPy .npy (its columns are called 0, 1, …), or '-' for standard
    /// input; empty cells, null, NaN and NA are missing
    table: PathBuf,
    /// Columns of which more is better
    #[arg(long, value_name = "COLUMN")]
    max: Vec<Names>,
    /// Columns of which less is better
    #[arg(long, value_name = "COLUMN")]
    min: Vec<Names>,
    /// Columns that say which row it is, though they are numbers
    #[arg(long, value_name = "COLUMN")]
    key: Vec<Names>,
    #[command(flatten)]
    rows: RowArgs,
    /// Show these columns, such as times, against Goldberg's rank, and how far
    /// they rise with it
    #[arg(long, value_name = "COLUMN")]
    response: Vec<Names>,
    /// With --response: each group of rows that have the same value here by itself
    #[arg(long, value_name = "COLUMN", requires = "response")]
    groups: Option<String>,
    /// Write relations.csv: of every two rows which is better in which column,
    /// and which dominates which
    #[arg(long)]
    relations: bool,
    /// Directory for the result [default: the table's name with .pareto]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  likewise pareto sites.csv --min time --min L2_misses -o out
  likewise pareto sites.csv --max SYC_INS,CA_ITV          the call sites that are worst on both
  likewise pareto sites.csv --min SYC_INS,CA_ITV --response init_us,done_us --groups procs
  likewise pareto partitions.csv --max S1 --min H1,R75 --relations       which is better on which
  likewise pareto points.npy --min 0,1 --quiet -o out";

/// So many of the best rows are shown.
const SHOWN: usize = 12;

pub(crate) fn run(args: &ParetoArgs, common: &Common) -> Result<()> {
    if args.max.is_empty() && args.min.is_empty() {
        return Err(Usage("name at least one column by --max or --min".to_owned()).into());
    }
    let dir = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.pareto", stem(&args.table))));
    OutputDir::check(&dir, &[&args.table], common)?;
    let mut stages = Stages::default();
    let mut table = {
        let bar = common.bytes("Reading");
        let report = |done, total| bar.set(done, total);
        stages.time("read", || read_columns(&args.table, &Names::all(&args.key), Some(&report)))?
    };
    taken::say(&table.taken, common);
    let at = || args.table.display().to_string();
    let asked = [&args.max[..], &args.min, &args.response].concat();
    let notes = args.rows.options().apply(&mut table, &Names::all(&asked)).with_context(at)?;
    notes.iter().for_each(|note| common.say(format_args!("note: {note}")));
    let notes = table.taken.said().into_iter().chain(notes).collect();
    let objectives = args.objectives(&table)?;
    if args.relations {
        relations::check(table.n_rows)?;
    }
    let ranks = {
        let _bar = common.spinner("Ranking");
        stages.time("rank", || Ranks::of(&objectives))?
    };
    let by_rank = args.by_rank(&table, &ranks).with_context(at)?;
    let mut out = OutputDir::create(&dir, &[&args.table], common)?;
    stages.time("write", || out.write("pareto.csv", |file| csv::write(&ranks, &table, file)))?;
    if !by_rank.is_empty() {
        out.write("response_by_rank.csv", |file| Ok(by_rank::write(&by_rank, file)?))?;
    }
    if args.relations {
        let names: Vec<String> = (0..table.n_rows).map(|row| row_name(&table, row)).collect();
        out.write("relations.csv", |file| Ok(relations::write(&names, &objectives, file)?))?;
    }
    let report = args.report(&table, &objectives, &ranks, by_rank, notes);
    stages.time("write", || out.write("report.html", |file| Ok(page::write_pareto(&report, file)?)))?;
    let sizes = ranks.sizes();
    let summary = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "input": args.table.display().to_string(),
        "max": Names::all(&args.max),
        "min": Names::all(&args.min),
        "columns": taken::to_json(&table.taken),
        "rows": table.n_rows,
        "unranked": ranks.goldberg.iter().filter(|rank| rank.is_none()).count(),
        "ranks": sizes.len(),
        "efficient": sizes.first().copied().unwrap_or(0),
        "by_rank": report.records.by_rank.iter().map(by_rank::to_json).collect::<Vec<_>>(),
        "notes": report.notes,
    });
    let summary = finish(out, "summary.json", summary, &stages, common)?;
    let n_columns = counted(table.columns.len() as u64, "column");
    common.tell(format_args!("{}, {n_columns}", counted(table.n_rows as u64, "row")));
    common.print(&summary, || {
        let text = text(&ranks, &table, args, &objectives);
        let found = report.records.by_rank.iter().map(|one| format!("{}\n", one.finding()));
        format!("{text}{}Report: {}\n", found.collect::<String>(), dir.join("report.html").display())
    })
}

impl ParetoArgs {
    /// The responses by rank and group, if they are asked for.
    fn by_rank(&self, table: &ColumnTable, ranks: &Ranks) -> Result<Vec<ByRank>> {
        let groups = Groups::of(table, self.groups.as_deref())?;
        let responses = Names::all(&self.response);
        responses.iter().map(|response| ByRank::of(table, response, &groups, &ranks.goldberg)).collect()
    }

    fn report(
        &self,
        table: &ColumnTable,
        objectives: &[Objective<'_>],
        ranks: &Ranks,
        by_rank: Vec<ByRank>,
        notes: Vec<String>,
    ) -> ParetoReport {
        let values = |at: usize| objectives.get(at).map_or_else(Vec::new, |o| o.values.to_vec());
        let records = Records {
            objectives: [Names::all(&self.max), Names::all(&self.min)].concat(),
            goals: objectives.iter().map(|objective| objective.goal).collect(),
            names: (0..table.n_rows).map(|row| row_name(table, row)).collect(),
            values: [values(0), values(1)],
            goldberg: ranks.goldberg.clone(),
            by_rank,
        };
        ParetoReport { input: self.table.display().to_string(), records, notes, sizes: ranks.sizes() }
    }

    /// The columns that are named, `--max` first.
    fn objectives<'t>(&self, table: &'t ColumnTable) -> Result<Vec<Objective<'t>>> {
        let of = |names: &[Names], goal| Names::all(names).into_iter().map(move |name| (name, goal));
        let mut known: Vec<String> = Vec::new();
        let mut objectives = Vec::new();
        for (name, goal) in of(&self.max, Goal::Max).chain(of(&self.min, Goal::Min)) {
            if known.contains(&name) {
                return Err(Usage(format!("column '{name}' is named twice")).into());
            }
            let (_, values) = numbers_of(table, &name)?;
            known.push(name);
            objectives.push(Objective { values, goal });
        }
        Ok(objectives)
    }
}

fn text(ranks: &Ranks, table: &ColumnTable, args: &ParetoArgs, objectives: &[Objective<'_>]) -> String {
    let sizes = ranks.sizes();
    let unranked = ranks.goldberg.iter().filter(|rank| rank.is_none()).count();
    let mut text = format!("{} on {}", counted(table.n_rows as u64, "row"), objectives.len());
    let plural = if objectives.len() == 1 { "" } else { "s" };
    let _ = writeln!(text, " objective{plural}: {}", counted(sizes.len() as u64, "rank"));
    if unranked > 0 {
        let _ = writeln!(text, "{} lack a value and have no rank", grouped_digits(unranked as u64));
    }
    let first = sizes.first().copied().unwrap_or(0);
    let _ = writeln!(
        text,
        "{} that no other dominates{}",
        counted(first as u64, "row"),
        match first {
            0 => ".",
            _ if first > SHOWN => ", the first:",
            _ => ":",
        }
    );
    let best = (0..table.n_rows).filter(|&row| ranks.goldberg[row] == Some(0)).take(SHOWN);
    let names = [Names::all(&args.max), Names::all(&args.min)].concat();
    for row in best {
        let values =
            objectives.iter().zip(&names).map(|(o, name)| format!("{name} {}", short(o.values[row])));
        let _ = writeln!(text, "  {}: {}", row_name(table, row), values.collect::<Vec<_>>().join(", "));
    }
    text
}
