//! `regimes.csv`: where which model of a response holds.

use crate::files::push_number;
use crate::output::csv_cell;
use likewise::counters::regimes::{Coefficient, Estimate, Formula, Range, Region};
use likewise_analysis::counters::regimes::{RegimeReport, Unit, region_name};
use serde_json::{Value, json};
use std::io::{self, Write};

/// `regimes.csv`: a row per region.
pub(crate) fn write(found: &RegimeReport, out: &mut impl Write) -> io::Result<()> {
    let mut unknowns: Vec<&str> = Vec::new();
    for unknown in found.models.iter().flat_map(Formula::unknowns) {
        if !unknowns.contains(&unknown) {
            unknowns.push(unknown);
        }
    }
    let (s, per_s) = match (found.unit, found.counts_bytes()) {
        (Unit::None, _) => ("", ""),
        (_, true) => ("_s", "_bytes_per_s"),
        (_, false) => ("_s", "_per_s"),
    };
    write!(out, "region,model,rows,points,spread")?;
    for (name, unit) in [("latency", s), ("bandwidth", per_s)] {
        write!(out, ",{name}{unit},{name}_low{unit},{name}_high{unit}")?;
    }
    for name in &found.parameters {
        for end in ["above", "at_most", "least", "greatest"] {
            write!(out, ",{}", csv_cell(&format!("{name}_{end}")))?;
        }
    }
    for name in &unknowns {
        let heads = ["coef", "se", "low", "high"].map(|kind| csv_cell(&format!("{kind}_{name}")));
        write!(out, ",{}", heads.join(","))?;
    }
    writeln!(out)?;
    for (at, region) in found.found.regions.iter().enumerate() {
        write!(out, "{},{},{},{}", region_name(at), csv_cell(found.model(region)), found.rows(at), region.n)?;
        out.write_all(&numbers(found, region, &unknowns))?;
    }
    Ok(())
}

/// The end of a row.
fn numbers(found: &RegimeReport, region: &Region, unknowns: &[&str]) -> Vec<u8> {
    let mut cells = vec![region.spread];
    let interval = |estimate: Option<Estimate>| match estimate {
        Some(Estimate { value, low, high, .. }) => [value, low, high],
        None => [f64::NAN; 3],
    };
    cells.extend(interval(found.latency(region)));
    cells.extend(interval(found.bandwidth(region)));
    for range in &region.ranges {
        let bounds = [range.above, range.at_most].map(|bound| bound.unwrap_or(f64::NAN));
        cells.extend(bounds.into_iter().chain([range.least, range.greatest]));
    }
    for name in unknowns {
        let coefficient = region.coefficients.iter().find(|c| c.name == *name);
        cells.extend(match coefficient.and_then(|c| c.estimate) {
            Some(Estimate { value, std_error, low, high }) => [value, std_error, low, high],
            None => [f64::NAN; 4],
        });
    }
    let mut line = Vec::new();
    for cell in cells {
        line.push(b',');
        // An interval without an end has an empty cell there.
        push_number(if cell.is_finite() { cell } else { f64::NAN }, &mut line);
    }
    line.push(b'\n');
    line
}

/// For `summary.json`.
pub(crate) fn to_json(found: &RegimeReport) -> Value {
    let estimate = |estimate: Option<Estimate>| {
        let finite = |x: f64| x.is_finite().then_some(x);
        estimate.map_or(
            Value::Null,
            |e| json!({ "value": e.value, "low": finite(e.low), "high": finite(e.high) }),
        )
    };
    let region = |(at, region): (usize, &Region)| {
        let range = |(name, range): (&String, &Range)| {
            let ends = json!({ "above": range.above, "at_most": range.at_most, "least": range.least, "greatest": range.greatest });
            (name.clone(), ends)
        };
        let coefficient = |c: &Coefficient| (c.name.clone(), estimate(c.estimate));
        json!({
            "name": region_name(at),
            "model": found.model(region),
            "rows": found.rows(at),
            "points": region.n,
            "spread": region.spread,
            "fits": found.fits(at),
            "latency": estimate(found.latency(region)),
            "bandwidth": estimate(found.bandwidth(region)),
            "coefficients": region.coefficients.iter().map(coefficient).collect::<serde_json::Map<_, Value>>(),
            "ranges": found.parameters.iter().zip(&region.ranges).map(range).collect::<serde_json::Map<_, _>>(),
        })
    };
    json!({
        "response": found.response,
        "parameters": found.parameters,
        "models": found.models.iter().map(Formula::text).collect::<Vec<_>>(),
        "unit": if found.unit == Unit::None { "none" } else { "s" },
        "unit_is_told": found.unit_is_told,
        "noise": found.noise_name(),
        "repeats": found.repeats_name(),
        "min_points": found.min_points,
        "length_bytes": found.length_bytes,
        "within": found.within,
        "confidence": found.confidence,
        "rows": found.fitted.n.iter().sum::<usize>(),
        "points": found.fitted.n.len(),
        "missing": found.n_missing,
        "bic": found.found.bic,
        "bic_of_one": found.found.bic_of_one,
        "exact": found.found.exact,
        "regions": found.found.regions.iter().enumerate().map(region).collect::<Vec<_>>(),
    })
}
