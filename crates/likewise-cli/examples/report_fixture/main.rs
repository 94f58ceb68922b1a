//! Writes reports of made-up runs for the browser test and for looking at.
//!
//! `cargo run --example report_fixture -- DIR` writes `sample.html` and the
//! odd cases; with `--large`, `large.html` of 1,000,000 bursts and
//! `largeviews.html`, the same with a tree of 10 levels and an alignment of
//! 500 sequences in 10,000 columns, as well; with `--terminal`, it prints the
//! sample's terminal form.

mod views;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use likewise::table::Nanos;
use likewise_cli::report::{
    FILTERED_DURATION, KDistance, NOISE, PhaseRow, ReportData, ReportMetric, terminal, write_html,
};

/// A run in columns.
#[derive(Default)]
struct Run {
    rows: Vec<String>,
    burst_row: Vec<u32>,
    begin: Vec<Nanos>,
    duration: Vec<Nanos>,
    label: Vec<u32>,
    instructions: Vec<f64>,
    ipc: Vec<f64>,
    misses: Vec<f64>,
}

/// SplitMix64 as a number in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal, mean 0, deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Milliseconds, mean IPC and spread of the phases of an iteration; the
/// label is the place in this table, from 1.
const PHASES: [(f64, f64, f64); 12] = [
    (9.0, 1.9, 0.02),
    (6.5, 0.8, 0.05),
    (4.8, 1.35, 0.03),
    (3.1, 2.3, 0.01),
    (2.4, 0.45, 0.04),
    (1.8, 1.1, 0.08),
    (1.2, 1.7, 0.02),
    (0.9, 0.6, 0.03),
    (0.6, 2.0, 0.05),
    (0.4, 1.2, 0.02),
    (0.3, 0.9, 0.04),
    (0.2, 1.5, 0.03),
];

fn run(tasks: u32, iterations: u32) -> Run {
    let mut random = Random(7);
    let mut run = Run::default();
    for task in 0..tasks {
        run.rows.push(format!("Task {}", task + 1));
        let mut now = random.next() * 2e5;
        for _ in 0..iterations {
            for (phase, &(ms, ipc, spread)) in PHASES.iter().enumerate() {
                // The third phase is imbalanced over the tasks.
                let work = if phase == 2 { 0.6 + 0.8 * f64::from(task) / f64::from(tasks) } else { 1.0 };
                let odd = random.next() < 0.01;
                let ipc =
                    ipc * (1.0 + spread * random.normal()) * if odd { 0.4 + random.next() } else { 1.0 };
                let instructions = ms * work * PHASES[phase].1 * 2.5e6 * (1.0 + 0.01 * random.normal());
                let duration = instructions / ipc / 2.5;
                let label = match phase as u32 + 1 {
                    _ if odd => NOISE,
                    12 if random.next() < 0.3 => FILTERED_DURATION,
                    label => label,
                };
                run.burst_row.push(task);
                run.begin.push(Nanos(now as u64));
                run.duration.push(Nanos(duration as u64));
                run.label.push(label);
                run.instructions.push(instructions);
                run.ipc.push(ipc);
                run.misses.push(if random.next() < 0.02 {
                    f64::NAN
                } else {
                    (1e6 * random.next().powi(6)).floor()
                });
                now += duration * (1.05 + 0.1 * random.next());
            }
            now += 4e5;
        }
    }
    run
}

fn phase_rows(run: &Run) -> Vec<PhaseRow> {
    let total: f64 = run.duration.iter().map(|d| d.0 as f64).sum();
    let mut labels: Vec<u32> = run.label.clone();
    labels.sort_unstable_by_key(|&l| (l == NOISE || l >= FILTERED_DURATION, l));
    labels.dedup();
    let row = |&label: &u32| {
        let of = |values: &[f64]| {
            let mine: Vec<f64> = values
                .iter()
                .zip(&run.label)
                .filter(|&(v, &l)| l == label && !v.is_nan())
                .map(|(&v, _)| v)
                .collect();
            let mean = mine.iter().sum::<f64>() / mine.len() as f64;
            let variance = mine.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / mine.len() as f64;
            Some((mean, variance.sqrt() / mean))
        };
        let mut time = vec![0.0; run.rows.len()];
        let mut instances = 0;
        for i in (0..run.label.len()).filter(|&i| run.label[i] == label) {
            time[run.burst_row[i] as usize] += run.duration[i].0 as f64;
            instances += 1;
        }
        let sum: f64 = time.iter().sum();
        let is_phase = label < FILTERED_DURATION && label != NOISE;
        PhaseRow {
            label,
            instances,
            total: Nanos(sum as u64),
            mean: Nanos((sum / instances as f64) as u64),
            share: sum / total,
            imbalance: is_phase
                .then(|| time.iter().copied().fold(0.0, f64::max) * time.len() as f64 / sum - 1.0),
            some_tasks: Some(time.iter().filter(|&&time| time > 0.0).count())
                .filter(|&n| is_phase && n < time.len())
                .map(|n| n as u64),
            // As the analysis does, noise has none.
            spmd: is_phase.then(|| if label % 3 == 0 { 1.0 } else { 1.0 - f64::from(label) / 40.0 }),
            silhouette: (is_phase && label != 7).then(|| 0.9 - f64::from(label).powi(2) / 110.0),
            counters: vec![of(&run.instructions), of(&run.ipc), of(&run.misses)],
        }
    };
    labels.iter().map(row).collect()
}

fn report(run: &Run) -> ReportData<'_> {
    let metric = |name: &str, unit: &str, values, log, clustering| ReportMetric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        values: Cow::Borrowed(values),
        log,
        clustering,
    };
    let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
    let n = run.begin.len();
    ReportData {
        title: "sample.prv".to_owned(),
        subtitle: format!("{} tasks, made-up SPMD run", run.rows.len()),
        facts: vec![
            ("Bursts".to_owned(), n.to_string()),
            ("Phases".to_owned(), PHASES.len().to_string()),
            ("Computing time".to_owned(), "18.3 s".to_owned()),
            ("Noise".to_owned(), "1.0 % of time".to_owned()),
        ],
        notes: vec!["PAPI_L3_TCM is missing in 2 % of the bursts.".to_owned()],
        end: Nanos(run.begin.iter().zip(&run.duration).map(|(b, d)| b.0 + d.0).max().unwrap_or(0)),
        rows: run.rows.clone(),
        burst_row: &run.burst_row,
        begin: &run.begin,
        duration: &run.duration,
        label: &run.label,
        metrics: vec![
            metric("PAPI_TOT_INS", "", &run.instructions, true, true),
            metric("IPC", "", &run.ipc, false, true),
            metric("PAPI_L3_TCM", "", &run.misses, true, false),
            metric("duration", "ns", &[], true, false),
        ],
        phases: phase_rows(run),
        phase_columns: ["PAPI_TOT_INS", "IPC", "PAPI_L3_TCM"].map(str::to_owned).to_vec(),
        regions: Vec::new(),
        functions: None,
        findings: Vec::new(),
        verdict: String::new(),
        curve: Some(KDistance {
            k: 4,
            ranks: (0..500).map(|i| f64::from(i) * n as f64 / 500.0).collect(),
            values: (0..500).map(|i| 0.3 / (1.0 + f64::from(i)).powf(0.8) + 1e-4).collect(),
            eps: 0.0082,
            suggested: true,
            rule: "Rule: the point of the curve farthest from the chord between its ends.".to_owned(),
        }),
        alignment: None,
        tree: None,
        parameters: pairs(&[("metrics", "PAPI_TOT_INS (log), IPC"), ("eps", "0.0082"), ("min points", "4")]),
        timings: [("read", 0.123), ("prepare", 0.004), ("cluster", 0.051), ("write", 0.2)]
            .map(|(name, seconds)| (name.to_owned(), seconds))
            .to_vec(),
        version: "0.1.0".to_owned(),
    }
}

/// The same with an alignment and a tree.
fn with_views<'a>(
    run: &'a Run,
    sequences: u32,
    columns: u32,
    levels: usize,
    splinters: u32,
) -> ReportData<'a> {
    let n_tasks = if sequences == 500 { 10_000 } else { run.rows.len() };
    ReportData {
        alignment: Some(views::alignment(sequences, n_tasks, columns)),
        tree: Some(views::tree(run, levels, splinters)),
        ..report(run)
    }
}

/// Names that would speak if they were taken for HTML or script.
fn hostile(mut data: ReportData<'_>) -> ReportData<'_> {
    let bad = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{title}}<!--";
    data.title = bad.to_owned();
    data.subtitle = bad.to_owned();
    data.rows = data.rows.iter().map(|row| format!("{bad}{row}")).collect();
    data.metrics[0].name = bad.to_owned();
    data.metrics[1].unit = bad.to_owned();
    data.phase_columns[0] = bad.to_owned();
    for row in data.alignment.iter_mut().flat_map(|view| &mut view.rows) {
        row.name.push_str(bad);
    }
    for pairs in [&mut data.facts, &mut data.parameters] {
        pairs.push((bad.to_owned(), bad.to_owned()));
    }
    data.notes.push(bad.to_owned());
    data.timings.push((bad.to_owned(), f64::NAN));
    data
}

fn write(folder: &Path, name: &str, data: &ReportData<'_>) -> io::Result<()> {
    let path = folder.join(format!("{name}.html"));
    let mut out = BufWriter::new(File::create(&path)?);
    write_html(data, &mut out)?;
    out.flush()?;
    println!("{} {} bytes", path.display(), path.metadata()?.len());
    Ok(())
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder =
        arguments.iter().find(|a| !a.starts_with("--")).ok_or_else(|| io::Error::other("name a folder"))?;
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder)?;

    let sample = run(32, 12);
    write(folder, "sample", &with_views(&sample, 6, 144, 5, 60))?;
    write(folder, "plain", &report(&sample))?;
    write(folder, "hostile", &hostile(with_views(&sample, 3, 24, 2, 8)))?;
    if arguments.iter().any(|a| a == "--terminal") {
        print!("{}", terminal(&report(&sample), 100, true, false));
    }

    write(folder, "empty", &ReportData { title: "empty".to_owned(), ..ReportData::default() })?;
    let mut one = run(1, 1);
    one.burst_row.truncate(1);
    one.begin.truncate(1);
    one.duration.truncate(1);
    one.label.truncate(1);
    one.instructions.truncate(1);
    one.ipc.truncate(1);
    one.misses.truncate(1);
    write(folder, "one", &report(&one))?;
    let mut noise = run(4, 3);
    noise.label.fill(NOISE);
    write(folder, "nophase", &with_views(&noise, 0, 0, 2, 0))?;
    let mut equal = run(4, 3);
    equal.instructions.fill(5.0);
    equal.ipc.fill(0.0);
    equal.misses.fill(f64::NAN);
    equal.duration.fill(Nanos(1000));
    equal.label.fill(1);
    write(folder, "equal", &report(&equal))?;
    // More tasks than pixels.
    write(folder, "wide", &with_views(&run(10_000, 1), 40, 12, 10, 2_000))?;

    if arguments.iter().any(|a| a == "--large") {
        let large = run(64, 1303);
        write(folder, "large", &report(&large))?;
        let mut views = with_views(&large, 500, 10_000, 10, 3_000);
        write(folder, "largeviews", &views)?;
        views.alignment = None;
        write(folder, "largetree", &views)?;
    }
    Ok(())
}
