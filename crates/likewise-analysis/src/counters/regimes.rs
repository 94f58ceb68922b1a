//! Where which model of a response holds, in files and in words.

mod misfit;
mod unit;

pub use misfit::Misfit;
pub(super) use misfit::{Measured, misfits};
pub use unit::Unit;

use super::clock::step_of;
use likewise::counters::regimes::{Coefficient, Estimate, Formula, Noise, Range, Regimes, Region};
use likewise::words::{FAR, counted, percent, short, si};

/// Regions that a sentence names.
const SHOWN: usize = 8;

/// What strays less, rows from their point or points from their model, is never worth a word.
const STRAY: f64 = 0.05;

/// Regions, and what they were found in.
#[derive(Clone, Debug)]
pub struct RegimeReport {
    /// The column that models are of.
    pub response: String,
    /// What it is measured in.
    pub unit: Unit,
    /// Whether anything tells that unit: its name, what stands behind the numbers, or who asks.
    pub unit_is_told: bool,
    /// The columns in whose space regions lie.
    pub parameters: Vec<String>,
    /// The models that were tried.
    pub models: Vec<Formula>,
    /// Bytes of a unit of the length; nothing where a formula says what tau
    /// multiplies.
    pub length_bytes: Option<f64>,
    /// Of the intervals of coefficients, from 0 to 1.
    pub confidence: f64,
    /// How the response strays from its model.
    pub noise: Noise,
    /// The fewest points that a region may have.
    pub min_points: usize,
    /// Whether rows with the same parameters are one point.
    pub is_median: bool,
    /// How far rows stray from their point, as a share of it.
    pub within: Option<f64>,
    /// The column that decides how rows stray, and what to do about it.
    pub told_by: Option<ToldBy>,
    /// What speaks against the model of each region.
    pub misfits: Vec<Vec<Misfit>>,
    /// Rows that lack a value.
    pub n_missing: usize,
    /// What models were fitted to.
    pub fitted: Fitted,
    /// The regions and their models.
    pub found: Regimes,
}

/// A column that is no parameter, and decides how rows stray.
#[derive(Clone, Debug)]
pub enum ToldBy {
    /// From the median of the rows with the same parameters.
    Median(String),
    /// From the model.
    Model(String),
}

/// The points that models were fitted to.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Of each point.
    pub response: Vec<f64>,
    /// The parameters, column by column.
    pub columns: Vec<Vec<f64>>,
    /// How many rows each point stands for.
    pub n: Vec<usize>,
    /// The point of each row that has all values.
    pub of_row: Vec<Option<usize>>,
}

/// Those of a region's model; 0 where its term has none.
pub(super) fn coefficients_of(region: &Region) -> Vec<f64> {
    region.coefficients.iter().map(|c| c.estimate.map_or(0.0, |estimate| estimate.value)).collect()
}

/// A, B, … Z, AA, …
pub fn region_name(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => letter.to_string(),
        more => format!("{}{letter}", region_name(more - 1)),
    }
}

fn scaled(estimate: Estimate, factor: f64) -> Estimate {
    let Estimate { value, std_error, low, high } = estimate;
    Estimate { value: factor * value, std_error: factor * std_error, low: factor * low, high: factor * high }
}

impl RegimeReport {
    /// In seconds, or in the unit of a response that is no time.
    pub fn latency(&self, region: &Region) -> Option<Estimate> {
        region.latency().map(|latency| scaled(latency, self.unit.seconds()))
    }

    /// Per second, or per unit of the response.
    pub fn bandwidth(&self, region: &Region) -> Option<Estimate> {
        region.bandwidth().map(|bandwidth| scaled(bandwidth, 1.0 / self.unit.seconds()))
    }

    /// Whether the length is in bytes, and the response a time.
    #[must_use]
    pub fn counts_bytes(&self) -> bool {
        self.length_bytes.is_some() && self.unit != Unit::None
    }

    /// ` in ms`; where nothing tells the unit, that it is taken as one.
    #[must_use]
    pub fn unit_told(&self) -> &'static str {
        if self.unit_is_told { self.unit.told() } else { " (taken as seconds)" }
    }

    /// How many rows of the table a region has.
    pub fn rows(&self, region: usize) -> usize {
        let of = self.found.labels.iter().zip(&self.fitted.n);
        of.filter(|(label, _)| **label == Some(region as u32)).map(|(_, n)| n).sum()
    }

    /// The model of a region, as it was written.
    pub fn model(&self, region: &Region) -> &str {
        self.models[region.model].text()
    }

    /// Which part of the space it is: `p > 2, h ≤ 65536`.
    pub fn extent(&self, region: &Region) -> String {
        let bounds =
            self.parameters.iter().zip(&region.ranges).filter_map(|(name, range)| bound(name, range));
        let bounds = bounds.collect::<Vec<_>>().join(", ");
        if bounds.is_empty() { "everywhere".to_owned() } else { bounds }
    }

    /// With its interval and unit.
    pub fn latency_told(&self, latency: Estimate) -> String {
        told(latency, |x| if self.unit == Unit::None { short(x) } else { duration(x) })
    }

    /// With its interval and unit.
    pub fn bandwidth_told(&self, bandwidth: Estimate) -> String {
        let per = if self.unit == Unit::None { "" } else { "/s" };
        let what = if self.counts_bytes() { "B" } else { "" };
        let show = |x: f64| {
            let number = si(x);
            let gap = if number.contains(' ') || what.is_empty() { "" } else { " " };
            format!("{number}{gap}{what}{per}")
        };
        // If the interval of tau reaches 0, the bandwidth has no upper limit.
        if bandwidth.high.is_finite() {
            told(bandwidth, show)
        } else {
            format!("at least {}", show(bandwidth.low))
        }
    }

    /// The coefficients that are told neither as latency nor as bandwidth.
    fn others(&self, region: &Region) -> Vec<String> {
        let is_told = |name: &str| match name {
            "lambda" | "λ" => region.latency().is_some(),
            "tau" | "τ" => region.bandwidth().is_some(),
            _ => false,
        };
        let others = region.coefficients.iter().filter(|c| !is_told(&c.name));
        others
            .map(|c| match c.estimate {
                Some(estimate) => format!("{} {}", c.name, told(estimate, short)),
                None => format!("{} cannot be told", c.name),
            })
            .collect()
    }

    /// Latency, bandwidth and what else the model has, in one line.
    pub fn coefficients(&self, region: &Region) -> String {
        let latency = self.latency(region).map(|x| format!("latency {}", self.latency_told(x)));
        let bandwidth = self.bandwidth(region).map(|x| format!("bandwidth {}", self.bandwidth_told(x)));
        latency.into_iter().chain(bandwidth).chain(self.others(region)).collect::<Vec<_>>().join(", ")
    }

    /// How far the response strays from the model.
    pub fn spread(&self, region: &Region) -> String {
        match self.noise {
            // What is less is rounding.
            Noise::Relative if region.spread < 1e-9 => "0%".to_owned(),
            Noise::Relative if region.spread >= FAR => percent(region.spread),
            Noise::Relative => format!("{}%", short(100.0 * region.spread)),
            Noise::Absolute => match self.unit {
                Unit::None => short(region.spread),
                unit => duration(region.spread * unit.seconds()),
            },
        }
    }

    /// What was fitted: `200 points (medians of 3,200 rows)`.
    pub fn points(&self) -> String {
        let points = counted(self.fitted.n.len() as u64, "point");
        let rows = self.fitted.n.iter().sum::<usize>();
        if rows == self.fitted.n.len() {
            return points;
        }
        format!("{points} (medians of {})", counted(rows as u64, "row"))
    }

    /// How the response strays, as files have it.
    #[must_use]
    pub fn noise_name(&self) -> &'static str {
        if self.noise == Noise::Relative { "relative" } else { "absolute" }
    }

    /// What rows with the same parameters count as, as files have it.
    #[must_use]
    pub fn repeats_name(&self) -> &'static str {
        if self.is_median { "median" } else { "each" }
    }

    /// What was asked for, for people.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let mut lines = vec![
            ("response", format!("{}{}", self.response, self.unit_told())),
            ("parameters", self.parameters.join(", ")),
            ("rows with the same parameters", self.repeats_name().to_owned()),
            ("noise", self.noise_name().to_owned()),
            ("fewest points", self.min_points.to_string()),
        ];
        lines.extend(self.length_bytes.map(|bytes| ("bytes of a unit of length", short(bytes))));
        lines.into_iter().map(|(name, value)| (format!("regimes: {name}"), value)).collect()
    }

    /// What was found, and what puts it into doubt.
    pub fn findings(&self) -> Vec<String> {
        let beside = [self.misfit(), self.negative(), self.one_by_one(), self.of_clock(), self.caution()];
        std::iter::once(self.finding()).chain(beside.into_iter().flatten()).collect()
    }

    /// Where even the best model does not fit, and why.
    fn misfit(&self) -> Option<String> {
        let why = |misfit: &Misfit, region: &Region| match misfit {
            Misfit::OneSided { points, of } => Some(format!(
                "the best strays by {}, and at {points} of {of} points all repetitions lie on one side of it",
                self.spread(region)
            )),
            Misfit::Negative { .. } => None,
        };
        let n_regions = self.found.regions.len();
        let told = |at: usize, why: String| match n_regions {
            1 => format!(": {why}"),
            _ => format!(" in {} ({}): {why}", region_name(at), self.extent(&self.found.regions[at])),
        };
        let (each, n) = self.of_misfits(why, told);
        let min_points = self.min_points;
        (n > 0).then(|| {
            format!(
                "Beware: none of the models fits{each}. What fits may be another model (--formula), or \
                 several of fewer than {min_points} points each (--min-points)."
            )
        })
    }

    /// Where a coefficient is below 0, and so is not what its name says.
    fn negative(&self) -> Option<String> {
        let why = |misfit: &Misfit, _: &Region| match misfit {
            Misfit::OneSided { .. } => None,
            Misfit::Negative { unknown } => Some(unknown.clone()),
        };
        let of = |name: &str| match ["lambda", "λ"].contains(&name) {
            true => "no latency",
            false => "no reciprocal of a bandwidth",
        };
        let told = |at: usize, name: String| {
            format!(" {name} of {} is below 0 and so {}", region_name(at), of(&name))
        };
        let (each, n) = self.of_misfits(why, told);
        (n > 0).then(|| format!("Beware:{each}."))
    }

    /// The first few regions of which something is told, and how many there are.
    fn of_misfits<W>(
        &self,
        why: impl Fn(&Misfit, &Region) -> Option<W>,
        told: impl Fn(usize, W) -> String,
    ) -> (String, usize) {
        let regions = self.found.regions.iter().enumerate();
        let all = regions.filter_map(|(at, region)| {
            let why = self.misfits[at].iter().find_map(|misfit| why(misfit, region))?;
            Some(told(at, why))
        });
        let all: Vec<String> = all.collect();
        let more = if all.len() > SHOWN { "; …" } else { "" };
        (format!("{}{more}", all[..all.len().min(SHOWN)].join(";")), all.len())
    }

    /// Whether nothing says that the best model of a region does not fit.
    #[must_use]
    pub fn fits(&self, region: usize) -> bool {
        !self.misfits[region].iter().any(Misfit::is_of_fit)
    }

    /// That the response was read in steps that are large beside it: where it is but a few
    /// of them, rows are equal that would differ, which looks like a regime.
    fn of_clock(&self) -> Option<String> {
        let step = step_of(&self.fitted.response);
        let few = self.fitted.response.iter().filter(|&&y| y < FEW_STEPS * step).count();
        let share = few as f64 / self.fitted.response.len().max(1) as f64;
        (self.found.regions.len() > 1 && share >= MANY_ROWS).then(|| {
            format!(
                "Beware: {} was read in steps of {}{}, and is less than {FEW_STEPS} of them in {} of the points: the steps \
                 may make regimes there.",
                self.response,
                short(step),
                self.unit.told().trim_start_matches(" in").trim_end(),
                percent(share)
            )
        })
    }

    /// A parameter on which no model tells how the response depends: regions are single
    /// values of it.
    fn one_by_one(&self) -> Option<String> {
        let of = |at: usize| self.found.regions.iter().map(move |region| region.ranges[at]);
        let at = (0..self.parameters.len()).find(|&at| is_one_by_one(of(at)))?;
        let (response, name) = (&self.response, &self.parameters[at]);
        Some(format!(
            "Most of these regimes are a single value of {name}: none of the models tells how {response} depends on {name} \
             (--formula takes another)."
        ))
    }

    /// The one coefficient of a model that a parameter multiplies, if it may be 0.
    fn may_be_0<'r>(&self, region: &'r Region) -> Option<&'r str> {
        let model = &self.models[region.model];
        let n = region.coefficients.len();
        let point = |at: usize| self.fitted.columns.iter().map(|column| column[at]).collect::<Vec<_>>();
        let depends = |coefficient: usize| {
            let unit: Vec<f64> = (0..n).map(|other| f64::from(u8::from(other == coefficient))).collect();
            let mut values = (0..self.fitted.response.len()).map(|at| model.value(&unit, &point(at)));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        // Several may each be 0 where not all are.
        let mut slopes = (0..n).filter(|&coefficient| depends(coefficient));
        let (Some(slope), None) = (slopes.next(), slopes.next()) else { return None };
        let Coefficient { name, estimate } = &region.coefficients[slope];
        estimate.filter(|of| of.low <= 0.0 && of.high >= 0.0).map(|_| name.as_str())
    }

    fn finding(&self) -> String {
        let over = self.parameters.join(", ");
        match &self.found.regions[..] {
            [one] if !self.fits(0) => format!(
                "No model of {} holds everywhere ({over}). The best is {}; {}.",
                self.response,
                self.model(one),
                self.coefficients(one)
            ),
            [one] if let Some(slope) = self.may_be_0(one) => format!(
                "No dependence of {} on {over} is seen: the best of the models is {}, and its {slope} may be 0; {}.",
                self.response,
                self.model(one),
                self.coefficients(one)
            ),
            [one] => format!(
                "One model of {} holds everywhere ({}): {}; {}.",
                self.response,
                over,
                self.model(one),
                self.coefficients(one)
            ),
            regions => {
                let each = regions.iter().enumerate().take(SHOWN);
                let each = each.map(|(at, region)| format!("{} ({})", region_name(at), self.extent(region)));
                let more = if regions.len() > SHOWN { ", …" } else { "" };
                format!(
                    "{} has {} regimes over {over}: {}{more}.",
                    self.response,
                    regions.len(),
                    each.collect::<Vec<_>>().join(", ")
                )
            }
        }
    }

    /// What should be known before the regimes are believed.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.unit_is_told {
            let name = &self.response;
            notes.push(format!(
                "Nothing tells the unit of '{name}': it is taken as seconds. --response-unit takes another (us), or none \
                 if it is no time."
            ));
        }
        if self.n_missing > 0 {
            let rows = counted(self.n_missing as u64, "row");
            notes.push(format!("Left out of the regimes, because a value is missing: {rows}."));
        }
        if !self.found.exact {
            notes.push(
                "There are too many different values for all boxes of the regimes: bounds were searched in ever finer \
                 steps, and narrow regions can be missed."
                    .to_owned(),
            );
        }
        notes
    }

    /// Where rows stray by what is no parameter.
    fn caution(&self) -> Option<String> {
        let apart = "Beware: what is no parameter decides between rows with the same parameters.";
        match &self.told_by {
            Some(ToldBy::Median(told)) => Some(format!("{apart} {told}")),
            Some(ToldBy::Model(told)) => Some(format!(
                "Beware: what is no parameter decides how far {} is from its model. {told}",
                self.response
            )),
            None => self.strays_far().map(|far| format!("{apart} {far}")),
        }
    }

    /// That rows that are one point stray much more than their medians do.
    fn strays_far(&self) -> Option<String> {
        let within = self.within?;
        let rows = self.fitted.n.iter().sum::<usize>() as f64 / self.fitted.n.len() as f64;
        let expected =
            self.found.regions.iter().map(|region| region.spread).fold(0.0, f64::max) * rows.sqrt();
        let is_far = self.noise == Noise::Relative && within > STRAY && within > 2.0 * expected;
        is_far.then(|| {
            let within = match within {
                far if far >= FAR => percent(far),
                near => format!("{}%", short((1000.0 * near).round() / 10.0)),
            };
            format!(
                "they stray by {within} from their median, much more than medians do from the model; --repeats each takes \
                 every row."
            )
        })
    }
}

/// A response of fewer steps of its clock is known to a twentieth at best, and models are
/// told apart by less.
const FEW_STEPS: f64 = 20.0;
/// Such rows are worth a word if they are this share of all.
const MANY_ROWS: f64 = 0.1;

/// With fewer regions of a single value, that a model fails there may be chance.
const SINGLE: usize = 3;

/// Whether most regions have a single value of a parameter.
fn is_one_by_one(ranges: impl Iterator<Item = Range>) -> bool {
    let single =
        |range: &Range| range.least == range.greatest && (range.above.is_some() || range.at_most.is_some());
    let (n, n_single) = ranges.fold((0, 0), |(n, k), range| (n + 1, k + usize::from(single(&range))));
    n_single >= SINGLE && 2 * n_single > n
}

/// What a region has of a parameter; nothing where it has all.
fn bound(name: &str, range: &Range) -> Option<String> {
    let (least, greatest) = (short(range.least), short(range.greatest));
    match (range.above, range.at_most) {
        (None, None) => None,
        _ if range.least == range.greatest => Some(format!("{name} = {least}")),
        (Some(above), None) => Some(format!("{name} > {}", short(above))),
        (None, Some(_)) => Some(format!("{name} ≤ {greatest}")),
        (Some(above), Some(_)) => Some(format!("{} < {name} ≤ {greatest}", short(above))),
    }
}

/// `334 (333.1 to 334.9) ns`; every number has its unit where they differ.
fn told(estimate: Estimate, show: impl Fn(f64) -> String) -> String {
    let all = [estimate.value, estimate.low, estimate.high].map(show);
    let split = all.each_ref().map(|text| text.split_once(' ').unwrap_or((text, "")));
    let [(value, unit), (low, _), (high, _)] = split;
    if split.iter().any(|(_, other)| *other != unit) {
        return format!("{} ({} to {})", all[0], all[1], all[2]);
    }
    format!("{value} ({low} to {high}) {unit}").trim_end().to_owned()
}

/// Seconds with a unit that suits them.
fn duration(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let unit = units.iter().find(|(size, _)| seconds.abs() >= *size);
    let &(size, name) = unit.unwrap_or(&(1e-9, "ns"));
    format!("{} {name}", short(seconds / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_have_letters() {
        let names: Vec<String> = [0, 25, 26, 51, 52, 701, 702].map(region_name).to_vec();
        assert_eq!(names, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }

    #[test]
    fn estimates_have_units_that_suit_them() {
        let estimate = Estimate { value: 2e-6, std_error: 0.0, low: 1.5e-6, high: 2.5e-6 };
        assert_eq!(told(estimate, duration), "2 (1.5 to 2.5) µs");
        assert_eq!(told(Estimate { low: 5e-7, ..estimate }, duration), "2 µs (500 ns to 2.5 µs)");
        assert_eq!(
            ["2.5e-3", "3.34e-7", "12"].map(|s| duration(s.parse().unwrap())),
            ["2.5 ms", "334 ns", "12 s"]
        );
    }

    #[test]
    fn single_values_are_no_regimes() {
        let range = |above: Option<f64>, at_most: Option<f64>, least: f64, greatest: f64| Range {
            above,
            at_most,
            least,
            greatest,
        };
        let single = [2.0, 4.0, 8.0].map(|p| range(Some(p / 2.0), Some(p), p, p));
        let wide = range(Some(8.0), None, 16.0, 64.0);
        assert!(is_one_by_one(single.into_iter()));
        assert!(is_one_by_one(single.into_iter().chain([wide, wide])));
        assert!(!is_one_by_one(single.into_iter().chain([wide; 3])));
        assert!(!is_one_by_one(single.into_iter().take(2)));
        // A parameter that nothing is split on.
        assert!(!is_one_by_one([range(None, None, 4.0, 4.0); 5].into_iter()));
    }

    #[test]
    fn bounds_are_told() {
        let range = |above, at_most, least, greatest| Range { above, at_most, least, greatest };
        assert_eq!(bound("p", &range(None, None, 1.0, 128.0)), None);
        assert_eq!(bound("p", &range(None, Some(1.0), 1.0, 1.0)).unwrap(), "p = 1");
        assert_eq!(bound("p", &range(None, Some(8.0), 1.0, 8.0)).unwrap(), "p ≤ 8");
        assert_eq!(bound("p", &range(Some(2.0), None, 4.0, 128.0)).unwrap(), "p > 2");
        assert_eq!(bound("p", &range(Some(2.0), Some(8.0), 4.0, 8.0)).unwrap(), "2 < p ≤ 8");
    }
}
