//! The figures, as HTML tables.

use crate::{escape, table};
use likewise::bursts::scaling::{Change, Evidence, FactorKind, Measured, Per, RunFigures};
use likewise::table::Nanos;
use likewise::words::{grouped_digits, percent, si};
use likewise_analysis::runs::{Comparison, InRun, Phase, clusters, evidence, per};
use std::fmt::Write;

const HEADER: [&str; 18] = [
    "phase",
    "on",
    "clusters",
    "bursts",
    "per",
    "time each",
    "longest",
    "share",
    "instructions",
    "IPC",
    "GHz",
    "speed-up",
    "efficiency",
    INSTRUCTIONS,
    "IPC ×",
    "frequency ×",
    "balance ×",
    "on a core ×",
];

const INSTRUCTIONS: &str = "instructions ×";

/// One line per phase and run, with all computation on top.
pub(super) fn phases(comparison: &Comparison) -> String {
    let mut out = String::from("<table><thead><tr>");
    // Without instructions the factor is that of the computing time.
    let all = comparison.phases.iter().map(|phase| &phase.scaling).chain([&comparison.whole]);
    let factors = all.flat_map(|scaling| scaling.changes.iter().flatten()).flat_map(|change| &change.factors);
    let is_time = factors.into_iter().any(|factor| factor.kind == FactorKind::Time);
    let named = |name| if is_time && name == INSTRUCTIONS { "time ×" } else { name };
    out.extend(HEADER.map(|name| format!("<th scope=\"col\">{}</th>", named(name))));
    out.push_str("<th scope=\"col\">match</th></tr></thead>");
    let runs = comparison.runs.len();
    let _ = write!(out, "<tbody{}>", table::marked("all"));
    for (r, run) in comparison.runs.iter().enumerate() {
        let name = if r == 0 { head("All computation", "", runs) } else { String::new() };
        let change = comparison.whole.changes[r].as_ref().filter(|_| comparison.is_sure_of_all(r));
        let compared = comparison.per.zip(run.all.as_ref());
        let stops = comparison.whole.stops_at == Some(r);
        out.push_str(&line(
            comparison,
            r,
            &name,
            Line { figures: &run.whole, run: None, compared, change },
            stops,
        ));
    }
    out.push_str("</tbody>");
    comparison.shown().iter().for_each(|phase| out.push_str(&body(comparison, phase)));
    out.push_str("</table>");
    out
}

fn head(name: &str, more: &str, rows: usize) -> String {
    format!(
        "<th scope=\"rowgroup\" rowspan=\"{rows}\"><i class=\"swatch\"></i>{name}<small>{more}</small></th>"
    )
}

fn body(comparison: &Comparison, phase: &Phase) -> String {
    let class = format!("p{}", phase.number);
    let mut out = format!("<tbody{}>", table::marked(&class));
    let more = match (phase.scaling.stops_at, phase.cause()) {
        (Some(at), Some(cause)) => {
            let how = if comparison.same_threads() { "slower in" } else { "stops at" };
            format!("{how} {}: {cause}", escape(&comparison.place(at)))
        }
        _ => String::new(),
    };
    for (r, run) in phase.runs.iter().enumerate() {
        let name = if r == 0 {
            head(&format!("Phase {}", phase.number), &more, phase.runs.len())
        } else {
            String::new()
        };
        match run {
            Some(run) => {
                let stops = phase.scaling.stops_at == Some(r);
                let compared = Some((phase.per, &run.measured));
                let figures = run.figures();
                let of_run = Line { figures, run: Some(run), compared, change: phase.change(r) };
                out.push_str(&line(comparison, r, &name, of_run, stops));
            }
            None => {
                let on = comparison.threads_of(r);
                let _ = write!(
                    out,
                    "<tr>{name}<td>{on}</td><td colspan=\"{}\" class=\"none\">not found</td></tr>",
                    HEADER.len() - 1
                );
            }
        }
    }
    out.push_str("</tbody>");
    out
}

/// A phase in a run, or all of a run.
struct Line<'a> {
    figures: &'a RunFigures,
    run: Option<&'a InRun>,
    /// What it is compared per.
    compared: Option<(Per, &'a Measured)>,
    change: Option<&'a Change>,
}

fn line(
    comparison: &Comparison,
    r: usize,
    name: &str,
    Line { figures, run, compared, change }: Line<'_>,
    stops: bool,
) -> String {
    let threshold = comparison.threshold;
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.2}"));
    let factor = |kinds: &[FactorKind]| {
        let factor = change.and_then(|c| c.factors.iter().find(|f| kinds.contains(&f.kind)));
        let low = factor.is_some_and(|f| f.value < threshold);
        (number(factor.map(|f| f.value)), low)
    };
    let efficiency = change.map(|c| c.efficiency);
    let mark = match change {
        Some(c) if c.may_be_chance(threshold) => "~",
        Some(c) if c.is_off_core(threshold) => "*",
        _ => "",
    };
    let told = |e: f64| format!("{mark}{}", percent(e));
    let matched = run.map(|run| &run.matched);
    let mean = compared.map_or_else(|| figures.mean(), |(_, measured)| measured.mean());
    let longest = compared.map_or(figures.longest.0 as f64, |(_, measured)| measured.longest);
    let sure = matched.map_or_else(String::new, |m| match m.evidence {
        Evidence::Reference => "reference".to_owned(),
        of => format!("{:.2}, {}", m.confidence, evidence(of)),
    });
    let cells = [
        (comparison.threads_of(r), false),
        (matched.map_or_else(String::new, clusters), false),
        (grouped_digits(figures.instances), false),
        (compared.map_or("run", |(of, _)| per(of)).to_owned(), false),
        (Nanos(mean as u64).to_string(), false),
        (Nanos(longest as u64).to_string(), false),
        (percent(figures.share), false),
        (figures.instructions.map_or_else(|| "–".to_owned(), si), false),
        (number(figures.ipc()), false),
        (number(figures.frequency()), false),
        (number(change.map(|c| c.speedup)), false),
        (efficiency.map_or_else(|| "–".to_owned(), told), change.is_some_and(|c| c.is_below(threshold))),
        factor(&[FactorKind::Instructions, FactorKind::Time]),
        factor(&[FactorKind::Ipc, FactorKind::Rate]),
        factor(&[FactorKind::Frequency]),
        factor(&[FactorKind::LoadBalance]),
        factor(&[FactorKind::OnCore]),
        (sure, false),
    ];
    let mut out = format!("<tr{}>{name}", if stops { " class=\"stops\"" } else { "" });
    for (cell, low) in cells {
        let _ = write!(out, "<td{}>{}</td>", if low { " class=\"low\"" } else { "" }, escape(&cell));
    }
    out.push_str("</tr>");
    out
}

/// The runs that were compared.
pub(super) fn runs(comparison: &Comparison) -> String {
    let mut out = String::from(
        "<table><thead><tr><th>run</th><th>tasks</th><th>threads</th><th>iterations</th><th>elapsed</th><th>computing</th>\
         <th>parallel efficiency</th><th>clusters of its own</th><th>in no phase</th></tr></thead><tbody>",
    );
    for run in &comparison.runs {
        let whole = &run.whole;
        let parallel = whole.mean() / run.elapsed.0.max(1) as f64;
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&run.name),
            run.tasks,
            whole.run_threads,
            run.iterations.map_or_else(|| "not known".to_owned(), |(n, _)| grouped_digits(n)),
            run.elapsed,
            whole.total,
            percent(parallel),
            run.clusters,
            percent(run.left.share)
        );
    }
    out.push_str("</tbody></table>");
    out
}
