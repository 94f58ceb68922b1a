//! Which scatter plots are drawn.

use crate::definition::{Axis, Plot};
use likewise::table::{BurstTable, Metric};

/// The plots of the definition, or else the first two metrics.
///
/// The second list has the plots of the definition that name something which is
/// not there.
pub(super) fn planned(
    metrics: &[Metric],
    table: &BurstTable,
    wanted: &[Plot],
    every_pair: bool,
) -> (Vec<Plot>, Vec<String>) {
    let axis = |metric: &Metric| Axis {
        metric: metric.name.clone(),
        title: metric.name.clone(),
        min: None,
        max: None,
    };
    let pair = |x: &Metric, y: &Metric| Plot { x: axis(x), y: Some(axis(y)), z: None, raw: true };
    let known = |axis: &Axis| {
        let name = axis.metric.as_str();
        is_duration(name)
            || metrics.iter().any(|m| m.name == name)
            || table.counters.iter().any(|c| c.counter.name == name)
    };
    let (mut plots, mut unknown) = (Vec::new(), Vec::new());
    for plot in wanted {
        let axes = [Some(&plot.x), plot.y.as_ref(), plot.z.as_ref()];
        match axes.into_iter().flatten().find(|axis| !known(axis)) {
            Some(axis) => {
                unknown.push(format!("No plot of '{}': there is no such metric or counter.", axis.metric))
            }
            None => plots.push(plot.clone()),
        }
    }
    if every_pair {
        let pairs = (0..metrics.len()).flat_map(|i| (i + 1..metrics.len()).map(move |j| (i, j)));
        plots.extend(pairs.map(|(i, j)| pair(&metrics[i], &metrics[j])));
    }
    if plots.is_empty() {
        let [x, y] = axes(metrics);
        plots.push(pair(x, y));
    }
    (plots, unknown)
}

/// Whether an axis of that name is the burst's own duration.
#[must_use]
pub fn is_duration(name: &str) -> bool {
    name.eq_ignore_ascii_case("duration")
}

/// The two metrics that pictures show first: IPC across, as the papers draw it.
pub(super) fn axes(metrics: &[Metric]) -> [&Metric; 2] {
    let first = &metrics[0];
    [metrics.get(1).unwrap_or(first), first]
}
