//! What sampled ranks of a run tell of all, as they were recorded by strata.

use anyhow::{Context, Result, bail};
use likewise::ranks::{Estimate, Measured, estimate_strata};
use likewise_recording::{SampledRank, Window};
use std::collections::BTreeMap;

/// What is estimated of a window.
#[derive(Clone, Debug)]
pub struct SampledWindow {
    /// As it was recorded.
    pub window: Window,
    /// Of each stratum, its ranks, and how many of them were sampled.
    pub strata: Vec<(u64, usize)>,
    /// The mean effort of a rank in each step, and in all steps of the window,
    /// in s. The spread is that of all ranks, which was summed on line.
    pub trace: Vec<Estimate>,
    /// As `trace`.
    pub total: Estimate,
    /// The mean effort of a rank in each region and step, region by region; the
    /// last ones are of all other regions together. The spread is the sample's.
    pub regions: Vec<Vec<Estimate>>,
    /// The mean effort of a rank in each region over the window.
    pub region_totals: Vec<Estimate>,
}

/// The mean effort of a rank in a region.
#[derive(Clone, Debug)]
pub struct SampledRegion {
    /// Its name.
    pub name: String,
    /// In all windows that tell it apart.
    pub effort: Estimate,
    /// How many steps these have.
    pub n_steps: u64,
}

/// What sampled ranks tell of a run.
#[derive(Clone, Debug)]
pub struct SampledRun {
    /// How many ranks it had.
    pub n_ranks: u64,
    /// How many steps.
    pub n_steps: u64,
    /// The chance of all intervals.
    pub confidence: f64,
    /// In order.
    pub windows: Vec<SampledWindow>,
    /// The mean effort of a rank over the run, in s.
    pub total: Estimate,
    /// What it was, in s: ranks summed it on line.
    pub whole: f64,
    /// The regions, that of most effort first.
    pub regions: Vec<SampledRegion>,
    /// In all other regions, where there is any.
    pub others: Option<SampledRegion>,
    /// What the reader must know beside.
    pub notes: Vec<String>,
}

impl SampledWindow {
    /// The mean effort of a rank in each step, in s: ranks summed it on line.
    pub fn truth(&self) -> impl Iterator<Item = f64> {
        self.window.whole.iter().map(|whole| *whole as f64 / 1e9 / self.window.n_ranks() as f64)
    }

    /// Names of the regions of this window, the other ones last.
    fn of_regions(&self) -> impl Iterator<Item = Option<u128>> {
        self.window.regions.iter().map(|region| Some(region.id)).chain([None])
    }
}

impl SampledRun {
    /// How many ranks were sampled in a window, on the average over steps.
    #[must_use]
    pub fn sampled(&self) -> f64 {
        let of = |w: &SampledWindow| w.window.sampled.len() as f64 * w.window.n_steps as f64;
        self.windows.iter().map(of).sum::<f64>() / self.n_steps as f64
    }

    /// Of how many steps the interval holds the mean of all ranks, and how many
    /// steps there are.
    #[must_use]
    pub fn covered(&self) -> (u64, u64) {
        let holds = |(told, truth): (&Estimate, f64)| {
            // Sums of few or of many ranks are rounded in other places.
            (told.mean - truth).abs() <= told.half_width + 1e-9 * truth
        };
        let of =
            |w: &SampledWindow| w.trace.iter().zip(w.truth()).filter(|pair| holds((pair.0, pair.1))).count();
        (self.windows.iter().map(of).sum::<usize>() as u64, self.n_steps)
    }

    /// The name of a region.
    #[must_use]
    pub fn name(&self, id: u128) -> String {
        let regions = self.windows.iter().flat_map(|w| &w.window.regions);
        let named = regions.filter(|region| region.id == id && !region.name.is_empty());
        named.map(|region| region.name.clone()).next().unwrap_or_else(|| format!("region {:08x}", id >> 96))
    }
}

/// What the windows of a recording tell.
///
/// # Errors
/// A window is broken, or has a stratum of which no rank was sampled.
pub fn sampled_run(blocks: &[Vec<u8>], confidence: f64) -> Result<SampledRun> {
    let mut windows = Vec::with_capacity(blocks.len());
    for (number, block) in (1..).zip(blocks) {
        let window = Window::decode(block).with_context(|| format!("window {number} of the strata"))?;
        windows
            .push(of_window(window, confidence).with_context(|| format!("window {number} of the strata"))?);
    }
    windows.sort_by_key(|w| w.window.first_step);
    let (Some(n_ranks), n_steps) =
        (windows.first().map(|w| w.window.n_ranks()), windows.iter().map(|w| w.window.n_steps).sum())
    else {
        bail!("no step was recorded by strata");
    };
    if windows.iter().any(|w| w.window.n_ranks() != n_ranks) {
        bail!("windows of the strata have different numbers of ranks");
    }
    let totals: Vec<Estimate> = windows.iter().map(|w| w.total).collect();
    let mut run = SampledRun {
        n_ranks,
        n_steps,
        confidence,
        total: Estimate::sum(&totals, confidence),
        whole: windows.iter().flat_map(SampledWindow::truth).sum(),
        regions: Vec::new(),
        others: None,
        notes: Vec::new(),
        windows,
    };
    regions(&mut run);
    run.notes = notes(&run);
    Ok(run)
}

/// The regions over all windows that tell them apart: their samples are
/// independent.
fn regions(run: &mut SampledRun) {
    let mut of: BTreeMap<Option<u128>, (u64, Vec<Estimate>)> = BTreeMap::new();
    for window in &run.windows {
        for (id, told) in window.of_regions().zip(&window.region_totals) {
            let entry = of.entry(id).or_default();
            entry.0 += window.window.n_steps;
            entry.1.push(*told);
        }
    }
    let confidence = run.confidence;
    let region = |name: String, (n_steps, told): (u64, Vec<Estimate>)| SampledRegion {
        name,
        effort: Estimate::sum(&told, confidence),
        n_steps,
    };
    run.others = of.remove(&None).map(|told| region("other regions".to_owned(), told));
    run.others = run.others.take().filter(|others| others.effort.mean > 0.0);
    let named = of.into_iter().filter_map(|(id, told)| Some(region(run.name(id?), told)));
    run.regions = named.collect();
    run.regions.sort_by(|a, b| b.effort.mean.total_cmp(&a.effort.mean).then_with(|| a.name.cmp(&b.name)));
}

fn notes(run: &SampledRun) -> Vec<String> {
    let mut notes = vec![
        "Only the effort of sampled ranks was recorded; what is said of all ranks is an estimate, but for their mean \
         effort in all regions, which they summed while the program ran."
            .to_owned(),
    ];
    if run.windows.iter().any(|w| w.window.expected_error > w.window.error * (1.0 + 1e-9)) {
        notes.push("In some windows ranks differ by more than their sample allows for: the promise is not kept there.".to_owned());
    }
    if run.regions.iter().any(|region| region.n_steps < run.n_steps) {
        notes.push(
            "Some regions are told apart in some windows only; in the others their effort is in that of other regions."
                .to_owned(),
        );
    }
    if run.regions.iter().any(|region| region.effort.half_width.is_nan()) {
        notes.push(
            "Of a stratum of several ranks one was sampled: how sure regions are is not known.".to_owned(),
        );
    }
    notes
}

fn of_window(window: Window, confidence: f64) -> Result<SampledWindow> {
    let (width, n_steps) = (window.regions.len() + 1, window.n_steps as usize);
    let in_strata = in_strata(&window);
    if in_strata.is_empty() || n_steps == 0 {
        bail!("it has no ranks or no steps");
    }
    if let Some(stratum) = in_strata.iter().position(|(_, sampled)| sampled.is_empty()) {
        bail!("of stratum {} no rank was sampled, so nothing is known of it", stratum + 1);
    }
    // Of each sampled rank the effort in each step, then in all; and in each
    // region and step, then in each region over all steps.
    let trace = |sampled: &SampledRank| -> Vec<f64> {
        let step = |row: &[u64]| row.iter().map(|ns| *ns as f64).sum::<f64>() / 1e9;
        let steps: Vec<f64> = sampled.effort.chunks_exact(width).map(step).collect();
        let total = steps.iter().sum();
        [steps, vec![total]].concat()
    };
    let by_region = |sampled: &SampledRank| -> Vec<f64> {
        let columns = (0..width).map(|column| sampled.effort.iter().skip(column).step_by(width));
        let series: Vec<Vec<f64>> = columns.map(|ns| ns.map(|ns| *ns as f64 / 1e9).collect()).collect();
        let totals = series.iter().map(|series| series.iter().sum()).collect();
        [series.concat(), totals].concat()
    };
    let variances: Vec<Vec<f64>> = window
        .deviations
        .iter()
        .map(|of_stratum| of_stratum.iter().map(|ns| (ns / 1e9).powi(2)).collect())
        .collect();
    let rows = |of: &dyn Fn(&SampledRank) -> Vec<f64>| -> Vec<Vec<Vec<f64>>> {
        in_strata.iter().map(|(_, sampled)| sampled.iter().map(|rank| of(rank)).collect()).collect()
    };
    let sizes: Vec<u64> = in_strata.iter().map(|(n, _)| *n).collect();
    let of_trace = rows(&trace);
    let mut trace = estimate_strata(&measured(&sizes, &of_trace, Some(&variances)), confidence)?;
    let total = trace.pop().context("no step")?;
    let of_regions = rows(&by_region);
    let mut regions = estimate_strata(&measured(&sizes, &of_regions, None), confidence)?;
    let region_totals = regions.split_off(n_steps * width);
    let regions = regions.chunks(n_steps.max(1)).map(<[_]>::to_vec).collect();
    let strata = in_strata.iter().map(|(n, sampled)| (*n, sampled.len())).collect();
    Ok(SampledWindow { strata, trace, total, regions, region_totals, window })
}

/// Strata of so many ranks, with what was measured of some of them.
fn measured<'r>(
    sizes: &[u64],
    rows: &'r [Vec<Vec<f64>>],
    variances: Option<&'r [Vec<f64>]>,
) -> Vec<Measured<'r>> {
    let mut strata = Vec::with_capacity(sizes.len());
    for (at, (n_ranks, rows)) in sizes.iter().zip(rows).enumerate() {
        let variance = variances.map(|variances| variances[at].as_slice());
        strata.push(Measured { n_ranks: *n_ranks, rows: rows.iter().map(Vec::as_slice).collect(), variance });
    }
    strata
}

/// Of each stratum its number of ranks, and those that were sampled.
fn in_strata(window: &Window) -> Vec<(u64, Vec<&SampledRank>)> {
    let mut strata = vec![(0, Vec::new()); window.n_strata()];
    let mut sampled = window.sampled.iter().peekable();
    let mut end = 0;
    for &(stratum, n) in &window.strata {
        end += n;
        let of = &mut strata[stratum as usize];
        of.0 += n;
        while let Some(rank) = sampled.next_if(|sampled| u64::from(sampled.rank) < end) {
            of.1.push(rank);
        }
    }
    strata
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_recording::{Choice, EffortRegion};

    fn window() -> Window {
        let rank =
            |rank, effort: [u64; 4]| SampledRank { rank, effort: effort.map(|ms| ms * 1_000_000).to_vec() };
        Window {
            first_step: 0,
            n_steps: 2,
            regions: vec![EffortRegion { id: 5, name: "solve".into() }],
            strata: vec![(0, 3), (1, 2), (0, 5)],
            choice: Choice::Stratified,
            error: 0.05,
            confidence: 0.95,
            whole: vec![200_000_000, 100_000_000],
            deviations: vec![vec![3e6; 3], vec![0.0; 3]],
            sampled: vec![
                rank(1, [10, 0, 5, 1]),
                rank(3, [60, 0, 30, 0]),
                rank(4, [60, 0, 30, 0]),
                rank(9, [14, 0, 5, 1]),
            ],
            ..Window::default()
        }
    }

    #[test]
    fn an_estimate_by_hand() {
        let run = sampled_run(&[window().encode()], 0.95).unwrap();
        assert_eq!((run.n_ranks, run.n_steps, run.windows[0].strata.clone()), (10, 2, vec![(8, 2), (2, 2)]));
        let trace = &run.windows[0].trace;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        close(trace[0].mean, 0.8 * 0.012 + 0.2 * 0.060);
        close(trace[0].standard_error, 0.8 * 0.003 * (1.0 / 2.0 - 1.0 / 8.0_f64).sqrt());
        close(run.total.mean, 0.8 * 0.018 + 0.2 * 0.090);
        close(run.whole, 0.030);
        // Of the region, the spread is that of the sample: 10 and 14 ms.
        let told = run.windows[0].regions[0][0];
        close(told.standard_error, 0.8 * 8e-6_f64.sqrt() * (1.0 / 2.0 - 1.0 / 8.0_f64).sqrt());
        assert_eq!((told.freedom, run.regions[0].name.as_str()), (1.0, "solve"));
        close(run.others.as_ref().unwrap().effort.mean, 0.0008);
        assert_eq!((run.covered(), run.sampled()), ((2, 2), 4.0));
    }

    #[test]
    fn windows_are_added() {
        let second = Window {
            first_step: 2,
            regions: vec![
                EffortRegion { id: 6, name: "other".into() },
                EffortRegion { id: 5, name: String::new() },
            ],
            sampled: window()
                .sampled
                .into_iter()
                .map(|s| SampledRank {
                    effort: [s.effort[..2].to_vec(), vec![0], s.effort[2..].to_vec(), vec![0]].concat(),
                    ..s
                })
                .collect(),
            ..window()
        };
        let run = sampled_run(&[second.encode(), window().encode()], 0.95).unwrap();
        assert_eq!((run.n_steps, run.windows[0].window.first_step), (4, 0));
        assert!((run.total.mean - 2.0 * 0.0324).abs() < 1e-12);
        let steps: Vec<_> = run.regions.iter().map(|region| (region.name.as_str(), region.n_steps)).collect();
        assert_eq!(steps, [("solve", 4), ("other", 2)]);
        assert_eq!(run.notes.len(), 2);
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        let mut bare = window();
        bare.sampled.retain(|sampled| sampled.rank > 4);
        let error = sampled_run(&[bare.encode()], 0.95).unwrap_err();
        assert!(format!("{error:#}").contains("of stratum 2 no rank was sampled"), "{error:#}");
        assert!(sampled_run(&[], 0.95).is_err());
        assert!(sampled_run(&[vec![9]], 0.95).is_err());
        assert!(sampled_run(&[Window::default().encode()], 0.95).is_err());
    }
}
