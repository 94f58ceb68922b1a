//! What the page and the terminal show of an analysis.

use super::{
    AlignedRow, AlignmentView, FindingRow, FunctionsView, KDistance, PhaseRow, RegionRow, ReportData,
    ReportMetric, TreeLevel, TreeNode, TreeView,
};
use likewise::bursts::{BurstLabel, Finding, PhaseRegion, PhaseStats, Rate};
use likewise::table::{Expr, Metric, MetricValues, Nanos, Op, Operand};
use likewise::words::{counted, grouped_digits, short};
use likewise_analysis::phases::{Analysis, Method, findings, phase_of_node, sequence_names};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// All that the report shows, but for the time it took.
#[must_use]
pub fn report_data(analysis: &Analysis) -> ReportData<'_> {
    let table = &analysis.table;
    ReportData {
        title: analysis.input.clone(),
        subtitle: subtitle(analysis),
        facts: facts(analysis),
        findings: finding_rows(analysis),
        verdict: findings::verdict(analysis),
        notes: analysis.notes.clone(),
        start: analysis.begin,
        end: analysis.end,
        rows: analysis.rows.clone(),
        burst_row: &analysis.burst_row,
        begin: &table.begin,
        duration: &table.duration,
        label: &analysis.labels,
        metrics: metrics(analysis),
        phases: phases(analysis),
        phase_columns: phase_columns(analysis),
        regions: regions(analysis),
        functions: FunctionsView::of(table),
        curve: curve(analysis),
        alignment: alignment(analysis),
        tree: tree(analysis),
        parameters: parameters(analysis),
        timings: Vec::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What to look at first, and the phases that it is about.
fn finding_rows(analysis: &Analysis) -> Vec<FindingRow> {
    let list = analysis.findings.iter().flat_map(|found| &found.list);
    let row = |(finding, text): (&Finding, String)| FindingRow {
        text,
        labels: finding.phases.iter().map(|&id| BurstLabel::Phase(id)).collect(),
    };
    list.zip(findings::sentences(analysis)).map(row).collect()
}

fn subtitle(analysis: &Analysis) -> String {
    let metrics: Vec<String> = analysis
        .metrics
        .iter()
        .map(|m| if m.log { format!("log {}", m.name) } else { m.name.clone() })
        .collect();
    let grouped = &analysis.grouped;
    let method = match grouped.method {
        Method::Dbscan => {
            let how = if grouped.eps_is_suggested { " (suggested)" } else { "" };
            let eps = grouped.eps.map_or_else(String::new, |eps| format!("eps {}{how}, ", short(eps)));
            format!("DBSCAN, {eps}min-points {}", grouped.min_points)
        }
        Method::Refine => format!("refinement, min-points {}", grouped.min_points),
        Method::Xmeans => "X-means".to_owned(),
        Method::Places => {
            return format!("Grouped by the calls that bursts lie between{}", shortest(analysis));
        }
    };
    let components = analysis.prepared.pca.as_ref().map(|pca| {
        let kept: f64 = pca.explained.iter().sum();
        format!(
            ", {} with {} of the variance",
            counted(pca.explained.len() as u64, "component"),
            percent(kept)
        )
    });
    let (components, shortest) = (components.unwrap_or_default(), shortest(analysis));
    format!("Grouped by {}{components}: {method}{shortest}", metrics.join(" and "))
}

fn shortest(analysis: &Analysis) -> String {
    match analysis.prepared.min_duration {
        Nanos::ZERO => String::new(),
        min => format!(", bursts from {min}"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

fn facts(analysis: &Analysis) -> Vec<(String, String)> {
    let clustered: f64 = analysis.stats.iter().map(|phase| phase.share).sum();
    let facts = [
        ("Phases", grouped_digits(analysis.grouped.clustering.n_clusters as u64)),
        ("Bursts", grouped_digits(analysis.table.len() as u64)),
        ("Clustered", grouped_digits(analysis.prepared.complete.len() as u64)),
        ("Threads", grouped_digits(analysis.rows.len() as u64)),
        ("Computing time", analysis.table.computing_time().to_string()),
        ("of it clustered", percent(clustered)),
        ("of it noise", percent(analysis.noise_share())),
        ("Trace", analysis.length().to_string()),
    ];
    let structure = &analysis.structure;
    let spmd = structure.spmd.as_ref().map(|(_, score)| ("SPMD score", format!("{:.3}", score.score)));
    let silhouette = analysis.silhouette.as_ref().map(|s| ("Silhouette", format!("{:.3}", s.mean)));
    let facts = facts.into_iter().chain(spmd).chain(silhouette);
    facts.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The metrics of the grouping first, then duration, then the other counters.
fn metrics(analysis: &Analysis) -> Vec<ReportMetric<'_>> {
    let [x, y] = analysis.axes();
    let mut metrics: Vec<ReportMetric<'_>> = Vec::new();
    // The first two make the first picture.
    let mut order: Vec<usize> = (0..analysis.metrics.len()).collect();
    order.sort_by_key(|&i| {
        let name = &analysis.metrics[i].name;
        if *name == x.name {
            0
        } else if *name == y.name {
            1
        } else {
            2
        }
    });
    let raw = analysis.prepared.raw(&analysis.table);
    for i in order {
        let metric = &analysis.metrics[i];
        let is_duration = metric.name.eq_ignore_ascii_case("duration");
        metrics.push(ReportMetric {
            name: metric.name.clone(),
            unit: if is_duration { "ns".to_owned() } else { String::new() },
            values: Some(raw[i]),
            log: metric.log,
            clustering: true,
        });
    }
    if !metrics.iter().any(|m| m.name.eq_ignore_ascii_case("duration")) {
        metrics.push(ReportMetric {
            name: "Duration".to_owned(),
            unit: "ns".to_owned(),
            values: None,
            log: true,
            clustering: false,
        });
    }
    for column in &analysis.table.counters {
        if metrics.iter().all(|m| m.name != column.counter.name) {
            metrics.push(ReportMetric {
                name: column.counter.name.clone(),
                unit: String::new(),
                values: Some(MetricValues::from(&column.values)),
                log: true,
                clustering: false,
            });
        }
    }
    metrics
}

/// The rates that no metric is called like; they stand after the metrics.
fn rates(analysis: &Analysis) -> impl Iterator<Item = &Rate> {
    let is_metric = |rate: &Rate| analysis.metrics.iter().any(|m| m.name == rate.name);
    analysis.figures.rates.iter().filter(move |rate| !is_metric(rate))
}

/// How many of the columns of figures are metrics.
fn n_metric_columns(analysis: &Analysis) -> usize {
    analysis.metrics.iter().filter(|m| !m.name.eq_ignore_ascii_case("duration")).count()
}

fn phase_columns(analysis: &Analysis) -> Vec<String> {
    let mut names: Vec<String> = analysis.columns().iter().map(|(name, _)| (*name).to_owned()).collect();
    let at = n_metric_columns(analysis);
    names.splice(at..at, rates(analysis).map(|rate| rate.name.to_owned()));
    names
}

/// The quotient of a phase's totals, of a metric that is a quotient: the mean of the quotients of
/// single bursts gives a short burst the weight of a long one.
fn of_totals(analysis: &Analysis, column: &str, phase: &PhaseStats) -> Option<f64> {
    let metric = analysis.metrics.iter().find(|metric| metric.name == column)?;
    let Expr::Two(above, Op::Div, below) = &metric.expr else { return None };
    let mean = |operand: &Operand| match operand {
        Operand::Duration => Some(phase.duration.mean),
        Operand::Counter(name) => {
            let counter = &analysis.table.counter(name)?.counter;
            let at = analysis.table.counters.iter().position(|c| c.counter.name == counter.name)?;
            phase.counters.get(at).filter(|moments| moments.n > 0).map(|moments| moments.mean)
        }
    };
    Some(mean(above)? / mean(below)?).filter(|quotient| quotient.is_finite())
}

fn phases(analysis: &Analysis) -> Vec<PhaseRow> {
    let columns = analysis.columns();
    let at = n_metric_columns(analysis);
    let mut rows: Vec<PhaseRow> = Vec::new();
    let lacking = lacking(analysis);
    for (p, phase) in analysis.stats.iter().enumerate().filter(|(_, phase)| phase.instances > 0) {
        let counters = columns.iter().map(|(name, moments)| {
            let m = moments(phase);
            let spread = match (m.n, m.mean) {
                // One of several tells no spread.
                (1, _) if phase.instances > 1 => f64::NAN,
                (_, 0.0) => 0.0,
                (_, mean) => m.deviation / mean.abs(),
            };
            let mean = of_totals(analysis, name, phase).unwrap_or(m.mean);
            (m.n > 0 && !mean.is_nan()).then_some((mean, spread))
        });
        let mut counters: Vec<Option<(f64, f64)>> = counters.collect();
        // A quotient of totals has no spread.
        counters.splice(at..at, rates(analysis).map(|rate| Some((rate.values[p]?, f64::NAN))));
        rows.push(PhaseRow {
            counters,
            spmd: analysis.structure.spmd_of(p),
            silhouette: analysis.silhouette_of(p),
            ..phase_row(phase, lacking[p])
        });
    }
    let whole = analysis.table.computing_time();
    let set_aside = [
        BurstLabel::FilteredThreshold,
        BurstLabel::FilteredRange,
        BurstLabel::FilteredDuration,
        BurstLabel::Missing,
    ];
    let of_label = |label: BurstLabel| {
        let all = analysis.labels.par_iter().zip(&analysis.table.duration);
        let own = all.filter(|(own, _)| **own == label).map(|(_, &duration)| (1u64, duration));
        own.reduce(|| (0, Nanos::ZERO), |a, b| (a.0 + b.0, a.1.saturating_add(b.1)))
    };
    for label in set_aside {
        let (n, total) = of_label(label);
        if n > 0 {
            rows.push(PhaseRow {
                label,
                instances: n,
                total,
                mean: Nanos(total.0 / n),
                share: if whole.0 > 0 { total.0 as f64 / whole.0 as f64 } else { 0.0 },
                imbalance: None,
                some_tasks: None,
                spmd: None,
                silhouette: None,
                counters: vec![None; columns.len() + rates(analysis).count()],
            });
        }
    }
    rows
}

/// Which code each phase is.
fn regions(analysis: &Analysis) -> Vec<RegionRow> {
    let Some(code) = &analysis.table.code else { return Vec::new() };
    let name = |place: Option<_>| place.map_or_else(String::new, |place| code.name(place).to_owned());
    let row = |row: &PhaseRegion| RegionRow {
        label: row.cluster.into(),
        before: name(row.region.before),
        after: name(row.region.after),
        function: name(row.region.function),
        bursts: row.bursts,
        total: row.total,
        share_of_phase: row.share_of_phase,
        share_of_region: row.share_of_region,
    };
    analysis.figures.regions.iter().map(row).collect()
}

/// A metric as `--metric` would take it.
fn metric_text(m: &Metric) -> String {
    let mut text = format!("{} = {}", m.name, m.expr);
    if m.log {
        text.push_str(", log");
    }
    if m.factor != 1.0 {
        text.push_str(&format!(", factor {}", m.factor));
    }
    for (name, bound) in [("min", m.min), ("max", m.max)] {
        if let Some(bound) = bound {
            text.push_str(&format!(", {name} {bound}"));
        }
    }
    text
}

/// Of each phase, the time that tasks lack which have fewer bursts of it than
/// the one with most, in ns; of the noise none.
fn lacking(analysis: &Analysis) -> Vec<f64> {
    let of_task = |(task, rows): (u32, Range<usize>)| {
        let mut own: Vec<(BurstLabel, u64)> = Vec::new();
        for &label in analysis.labels[rows].iter().filter(|label| !label.is_set_aside()) {
            match own.binary_search_by_key(&label, |&(label, _)| label) {
                Ok(at) => own[at].1 += 1,
                Err(at) => own.insert(at, (label, 1)),
            }
        }
        (task, own)
    };
    let tasks: Vec<(u32, Range<usize>)> = analysis.table.task.runs().collect();
    let of_tasks: Vec<_> = tasks.into_par_iter().map(of_task).collect();
    let mut counts: BTreeMap<(BurstLabel, u32), u64> = BTreeMap::new();
    for (task, own) in of_tasks {
        own.into_iter().for_each(|(label, n)| *counts.entry((label, task)).or_default() += n);
    }
    let lack = |phase: &PhaseStats| {
        let label = BurstLabel::from(phase.cluster);
        let of_tasks: Vec<u64> = counts.range((label, 0)..=(label, u32::MAX)).map(|(_, &n)| n).collect();
        let most = of_tasks.iter().max().copied().unwrap_or(0);
        of_tasks.iter().map(|n| most - n).sum::<u64>() as f64 * phase.duration.mean
    };
    let noise = analysis.stats.last().map_or(0.0, |noise| noise.total.0 as f64);
    // Only what the bursts of no phase could hold.
    analysis.stats.iter().map(|phase| lack(phase).min(noise)).collect()
}

/// Where what tasks lack is half of the imbalance or more, and bursts of no
/// phase may be that, the imbalance is not known; nor is it where there is one task.
fn imbalance(phase: &PhaseStats, lacking: f64) -> Option<f64> {
    let lost = phase.imbalance * phase.total.0 as f64;
    let is_compared = phase.cluster.is_some() && phase.of_tasks > 1;
    (is_compared && (lacking == 0.0 || lacking < 0.5 * lost)).then_some(phase.imbalance)
}

fn phase_row(phase: &PhaseStats, lacking: f64) -> PhaseRow {
    PhaseRow {
        label: phase.cluster.into(),
        instances: phase.instances,
        total: phase.total,
        mean: Nanos(phase.duration.mean.round() as u64),
        share: phase.share,
        imbalance: imbalance(phase, lacking),
        some_tasks: (phase.cluster.is_some() && phase.tasks < phase.of_tasks).then_some(phase.tasks),
        spmd: None,
        silhouette: None,
        counters: Vec::new(),
    }
}

fn curve(analysis: &Analysis) -> Option<KDistance> {
    let curve = analysis.grouped.curve.as_ref()?;
    let levels = analysis.grouped.refinement.as_ref().map(|refinement| &refinement.levels);
    Some(KDistance {
        k: curve.k,
        ranks: curve.points.iter().map(|&(rank, _)| rank as f64).collect(),
        values: curve.points.iter().map(|&(_, distance)| distance).collect(),
        eps: analysis.grouped.eps.or_else(|| Some(levels?.last()?.eps))?,
        suggested: analysis.grouped.eps_is_suggested || levels.is_some(),
        rule: match curve.knee {
            _ if levels.is_some() => "The refinement goes through smaller radii up to this one.".to_owned(),
            Some((eps, rule)) => format!("The knee is at eps {}: {rule}", short(eps)),
            None => "The curve has no knee.".to_owned(),
        },
    })
}

fn alignment(analysis: &Analysis) -> Option<AlignmentView<'_>> {
    let (alignment, score) = analysis.structure.spmd.as_ref()?;
    let names = sequence_names(alignment, &analysis.rows);
    let rows = alignment.sequences.iter().zip(names).map(|(sequence, name)| AlignedRow {
        name,
        n_tasks: sequence.n_tasks,
        phases: &sequence.symbols,
        columns: &sequence.columns,
    });
    Some(AlignmentView { score: score.score, n_columns: score.n_columns, rows: rows.collect() })
}

fn tree(analysis: &Analysis) -> Option<TreeView<'_>> {
    let refinement = analysis.grouped.refinement.as_ref()?;
    let phase = phase_of_node(refinement, &analysis.grouped.clustering);
    let whole = analysis.table.computing_time().0.max(1) as f64;
    let levels = refinement.levels.iter().map(|level| TreeLevel {
        eps: level.eps,
        score: level.score,
        clusters: level.n_clusters,
        noise_share: level.noise.0 as f64 / whole,
        nodes: &level.node_of_cohort,
    });
    let nodes = refinement.nodes.iter().zip(phase).map(|(node, phase)| TreeNode {
        level: node.level,
        parents: node.parents.clone(),
        score: node.score,
        instances: node.instances,
        total: node.total,
        last: phase.is_some(),
        phase,
    });
    let (bursts, cohorts) = (&analysis.prepared.complete, &refinement.cohort_of_burst);
    Some(TreeView { bursts, cohorts, levels: levels.collect(), nodes: nodes.collect() })
}

fn parameters(analysis: &Analysis) -> Vec<(String, String)> {
    let mut parameters: Vec<(String, String)> = analysis
        .metrics
        .iter()
        .enumerate()
        .map(|(i, m)| (format!("Metric {}", i + 1), metric_text(m)))
        .collect();
    let mut add = |name: &str, value: String| parameters.push((name.to_owned(), value));
    add("Shortest burst", analysis.prepared.min_duration.to_string());
    if let Some(eps) = analysis.grouped.eps {
        let how = if analysis.grouped.eps_is_suggested { " (suggested)" } else { "" };
        add("eps", format!("{}{how}", short(eps)));
        add("min-points", analysis.grouped.min_points.to_string());
    }
    if let Some(refinement) = &analysis.grouped.refinement {
        let radii: Vec<String> = refinement.levels.iter().map(|level| short(level.eps)).collect();
        add("Radii", radii.join(", "));
        add("min-points", analysis.grouped.min_points.to_string());
    }
    for rate in rates(analysis) {
        let unit = if rate.unit.is_empty() { String::new() } else { format!(" ({})", rate.unit) };
        add(rate.name, format!("{}{unit}", rate.meaning));
    }
    for (name, value) in analysis.components() {
        add(&name, value);
    }
    parameters
}
