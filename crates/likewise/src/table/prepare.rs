//! From bursts to the points that are clustered.

use rayon::prelude::*;

use super::scale::{self, Normalisation, Scale};
use super::{BurstTable, Metric, MetricError, MetricValues, Nanos, ParseMetricError, Rows};
use crate::cluster::MAX_DIMS;
use crate::linear::{Pca, pca};

/// Bursts that differ by this factor and more are not alike, and not neighbours in a phase. Less
/// would part phases whose bursts are spread (docs/refinement.md has what factors of 2 to 8 make of
/// 97 runs of known phases).
const ALIKE: f64 = 8.0;

/// Which metrics describe a burst, which bursts are looked at, and how their
/// values become coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    /// One coordinate each.
    pub metrics: Vec<Metric>,
    /// Which bursts are too short.
    pub filter: DurationFilter,
    /// How metrics are made comparable.
    pub scale: Scale,
    /// To how many principal components the coordinates are reduced.
    pub pca: Option<usize>,
}

/// Which bursts are too short to look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DurationFilter {
    /// Those shorter than this; a burst of just this duration stays.
    Min(Nanos),
    /// Those shorter than the longest duration `d` for which the bursts of at
    /// least `d` hold at least this share (0 to 1) of the computing time, all
    /// among the bursts that carry every metric.
    KeepTime(f64),
    /// As [`DurationFilter::KeepTime`], but a burst of this duration or more
    /// always stays: a phase of long bursts may hold little time in all, and
    /// half of it would be cut away.
    KeepTimeBelow(f64, Nanos),
}

impl DurationFilter {
    /// The shortest duration that stays, were all bursts to carry every metric.
    ///
    /// # Complexity
    /// O(n log n), or O(1) for [`DurationFilter::Min`].
    #[must_use]
    pub fn shortest(self, table: &BurstTable) -> Nanos {
        self.of(table, |_| true)
    }

    /// The same, among those bursts that `carries` admits.
    fn of(self, table: &BurstTable, carries: impl Fn(usize) -> bool + Sync) -> Nanos {
        match self {
            Self::Min(duration) => duration,
            Self::KeepTime(share) => keep_time(table, share, carries),
            Self::KeepTimeBelow(share, long) => keep_time(table, share, carries).min(long),
        }
    }
}

/// What becomes of a burst before clustering; the first that applies, in this
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum BurstClass {
    /// A metric has no value, or a negative one where its logarithm is taken.
    Missing,
    /// Too short.
    FilteredDuration,
    /// A metric is outside of its range.
    FilteredRange,
    /// It takes part.
    Complete,
}

/// Bursts ready for clustering.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Each burst's class, in burst order.
    pub class: Vec<BurstClass>,
    /// The complete bursts, ascending.
    pub complete: Rows,
    /// What describes a burst.
    pub metrics: Vec<Metric>,
    /// Per metric, what makes coordinates of raw values.
    pub normalisations: Vec<Normalisation>,
    /// The coordinates of the complete bursts, row-major, `dims` each.
    pub points: Vec<f64>,
    /// As many as metrics, or principal components.
    pub dims: usize,
    /// The shortest duration that takes part.
    pub min_duration: Nanos,
    /// The principal components, if asked for.
    pub pca: Option<Pca>,
    /// What an analyst would want to know, a sentence each.
    pub notes: Vec<String>,
}

impl Prepared {
    /// Per metric, its raw value in every burst of `table`, from which the bursts
    /// were prepared; `NaN` where missing.
    ///
    /// # Panics
    /// If `table` lacks a counter of the metrics: then it is another.
    ///
    /// # Complexity
    /// As [`Metric::evaluate`].
    #[must_use]
    pub fn raw<'t>(&self, table: &'t BurstTable) -> Vec<MetricValues<'t>> {
        self.metrics.iter().map(|m| m.evaluate(table).expect("the table was prepared")).collect()
    }

    /// The normalised value of a metric that is `raw`, before any reduction to
    /// principal components: what `n_…` columns hold. `NaN` where missing;
    /// for a filtered burst, what the normalisation of the others makes of it.
    #[must_use]
    pub fn normalised(&self, metric: usize, raw: f64) -> f64 {
        self.normalisations[metric].apply(raw)
    }

    /// How far bursts that are alike may be from one another: so far that no logarithm of a metric
    /// differs by a factor of 8, and no other metric by half of its largest value. Infinite where
    /// no metric tells.
    ///
    /// Coordinates are shares of the range of a metric, and where a run has bursts of
    /// microseconds and of seconds, half of the range is a factor of a thousand.
    #[must_use]
    pub fn farthest_alike(&self) -> f64 {
        let farthest = |of: &Normalisation| match (of.divisor, of.factor) {
            (divisor, factor) if divisor == 0.0 || factor == 0.0 => f64::INFINITY,
            (divisor, factor) if of.log => ALIKE.ln() * factor.abs() / divisor,
            // Nothing is known of the values where they are as they are.
            (divisor, _) if divisor == 1.0 && of.offset == 0.0 => f64::INFINITY,
            (divisor, factor) => 0.5 * (of.offset.abs() + divisor) * factor.abs() / divisor,
        };
        self.normalisations.iter().map(farthest).fold(f64::INFINITY, f64::min)
    }

    /// How many bursts are of that class.
    #[must_use]
    pub fn count(&self, class: BurstClass) -> usize {
        self.class.par_iter().filter(|&&c| c == class).count()
    }
}

/// Why there is nothing to cluster.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrepareError {
    /// No metric at all.
    #[error("no metric is given")]
    NoMetric,
    /// A metric asks for what the trace does not have.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A metric's factor, range or name makes no sense.
    #[error(transparent)]
    Definition(#[from] ParseMetricError),
    /// Two metrics of one name.
    #[error("two metrics are named '{0}'")]
    SameName(String),
    /// More coordinates than clustering takes.
    #[error("{0} metrics make too many coordinates (at most {MAX_DIMS}); reduce them with PCA")]
    TooManyDims(usize),
    /// No such number of components.
    #[error("{asked} principal components of {metrics} metrics; 1 to {} are possible", (*.metrics).min(MAX_DIMS))]
    Components {
        /// How many were asked for.
        asked: usize,
        /// Of how many metrics.
        metrics: usize,
    },
    /// A share of computing time outside of (0, 1].
    #[error("{0} of the computing time cannot be kept; give more than 0% and at most 100%")]
    KeepTime(f64),
    /// More bursts than there are numbers of 32 bits for their begins and ends.
    #[error("{0} bursts are more than 2,147,483,647; give a trace of a part of the run")]
    TooMany(usize),
    /// The table has no burst.
    #[error("there is no burst")]
    Empty,
    /// No burst takes part.
    #[error(
        "none of {total} bursts is left: {missing} lack a metric, \
         {filtered_duration} are shorter than {min_duration}, {filtered_range} are out of range"
    )]
    NothingLeft {
        /// How many bursts there are.
        total: usize,
        /// How many lack a metric.
        missing: usize,
        /// How many are too short.
        filtered_duration: usize,
        /// How many are out of range.
        filtered_range: usize,
        /// The shortest duration that takes part.
        min_duration: Nanos,
    },
}

/// Evaluates, classifies, filters and normalises bursts.
///
/// Bursts are classed first, on raw values, ranges inclusive; then the natural
/// logarithm is taken where a metric asks for it, 0 counting as half of the
/// smallest positive value among the complete bursts; then values are scaled
/// over the complete bursts only and weighted by the factor; at last they are
/// reduced to principal components.
///
/// # Errors
/// [`PrepareError`] if the preparation makes no sense, the trace lacks a
/// counter, or no burst is left.
///
/// # Complexity
/// O(n·m) for m metrics, in parallel; O(n log n) for
/// [`DurationFilter::KeepTime`]. Holds the points, and no raw values: these are in `table`.
///
/// # Reference
/// González, Giménez & Labarta, IPDPS 2009, §III. Differs from
/// ClusteringSuite: a quotient by zero is missing, not 0; 0 under a logarithm
/// is not the smallest positive double, which would squeeze all other bursts
/// into a corner; a metric that does not vary is 0, not `NaN`.
///
/// # Example
/// ```
/// use likewise::table::{
///     BurstClass, BurstTable, DurationFilter, Expr, Metric, Nanos, Operand, Preparation, Scale, prepare,
/// };
///
/// // Four bursts, described by the logarithm of their duration; one is too short.
/// let table = BurstTable {
///     app: vec![1; 4].into(),
///     task: vec![1; 4].into(),
///     thread: vec![1; 4].into(),
///     begin: [0, 10, 200, 900].map(Nanos).to_vec(),
///     duration: [5, 100, 400, 1600].map(Nanos).to_vec(),
///     ..BurstTable::default()
/// };
/// let metrics = vec![Metric::new("duration", Expr::One(Operand::Duration))];
/// let filter = DurationFilter::Min(Nanos(10));
/// let found = prepare(&table, &Preparation { metrics, filter, scale: Scale::MinMax, pca: None })?;
/// assert_eq!((found.class[0], found.complete.to_vec()), (BurstClass::FilteredDuration, vec![1, 2, 3]));
/// assert!(found.points.iter().zip([0.0, 0.5, 1.0]).all(|(x, expected)| (x - expected).abs() < 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn prepare(table: &BurstTable, preparation: &Preparation) -> Result<Prepared, PrepareError> {
    let metrics = &preparation.metrics;
    check(table, preparation)?;
    let raw = metrics.iter().map(|m| m.evaluate(table)).collect::<Result<Vec<MetricValues<'_>>, _>>()?;
    let mut notes = negative_notes(metrics, &raw);
    let carries = |i: usize| {
        metrics.iter().zip(&raw).all(|(m, x)| if m.log { x.get(i) >= 0.0 } else { !x.get(i).is_nan() })
    };
    let min_duration = preparation.filter.of(table, carries);
    let in_range = |i: usize| {
        let inside = |(m, x): (&Metric, &MetricValues<'_>)| {
            m.min.is_none_or(|min| x.get(i) >= min) && m.max.is_none_or(|max| x.get(i) <= max)
        };
        metrics.iter().zip(&raw).all(inside)
    };
    let class_of = |i| match i {
        _ if !carries(i) => BurstClass::Missing,
        _ if table.duration[i] < min_duration => BurstClass::FilteredDuration,
        _ if !in_range(i) => BurstClass::FilteredRange,
        _ => BurstClass::Complete,
    };
    let class: Vec<BurstClass> =
        (0..table.len()).into_par_iter().with_min_len(1 << 12).map(class_of).collect();
    let complete = Rows::those(class.len(), |row| class[row as usize] == BurstClass::Complete);
    if complete.is_empty() {
        return Err(nothing_left(&class, min_duration));
    }
    let fit = |(m, x): (&Metric, &MetricValues<'_>)| {
        scale::fit(m, |i| x.get(i), &complete, preparation.scale, &mut notes)
    };
    let normalisations: Vec<Normalisation> = metrics.iter().zip(&raw).map(fit).collect();
    let points = coordinates(&raw, &normalisations, &complete);
    let pca = preparation.pca.map(|dims| pca(&points, metrics.len(), dims));
    let (points, dims) = match &pca {
        Some(found) => (found.project(&points), found.components.len()),
        None => (points, metrics.len()),
    };
    let metrics = metrics.clone();
    Ok(Prepared { class, complete, metrics, normalisations, points, dims, min_duration, pca, notes })
}

fn check(table: &BurstTable, preparation: &Preparation) -> Result<(), PrepareError> {
    let metrics = &preparation.metrics;
    if metrics.is_empty() {
        return Err(PrepareError::NoMetric);
    }
    for (i, metric) in metrics.iter().enumerate() {
        metric.check()?;
        if metrics[..i].iter().any(|other| other.name == metric.name) {
            return Err(PrepareError::SameName(metric.name.clone()));
        }
    }
    match preparation.pca {
        Some(asked) if asked == 0 || asked > metrics.len().min(MAX_DIMS) => {
            return Err(PrepareError::Components { asked, metrics: metrics.len() });
        }
        None if metrics.len() > MAX_DIMS => return Err(PrepareError::TooManyDims(metrics.len())),
        _ => {}
    }
    if let DurationFilter::KeepTime(share) | DurationFilter::KeepTimeBelow(share, _) = preparation.filter
        && !(share > 0.0 && share <= 1.0)
    {
        return Err(PrepareError::KeepTime(share));
    }
    if table.is_empty() {
        return Err(PrepareError::Empty);
    }
    if table.len() >= 1 << 31 {
        return Err(PrepareError::TooMany(table.len()));
    }
    Ok(())
}

fn negative_notes(metrics: &[Metric], raw: &[MetricValues<'_>]) -> Vec<String> {
    let negative = |(metric, values): (&Metric, &MetricValues<'_>)| {
        let all = if metric.log { 0..values.len() } else { 0..0 };
        let count = all.into_par_iter().with_min_len(1 << 12).filter(|&i| values.get(i) < 0.0).count();
        let name = &metric.name;
        (count > 0).then(|| {
            format!("{count} bursts have a negative {name}, which has no logarithm: they count as missing")
        })
    };
    metrics.iter().zip(raw).filter_map(negative).collect()
}

/// The longest duration such that the bursts of at least it hold `share` of
/// the time of all that `carries` admits; zero if there is none.
fn keep_time(table: &BurstTable, share: f64, carries: impl Fn(usize) -> bool + Sync) -> Nanos {
    let mut durations: Vec<u64> =
        (0..table.len()).into_par_iter().filter(|&i| carries(i)).map(|i| table.duration[i].0).collect();
    durations.par_sort_unstable();
    let total: u128 = durations.iter().map(|&d| u128::from(d)).sum();
    let wanted = share * total as f64;
    let mut kept = 0u128;
    for &duration in durations.iter().rev() {
        kept += u128::from(duration);
        if kept as f64 >= wanted {
            return Nanos(duration);
        }
    }
    Nanos::ZERO
}

fn nothing_left(class: &[BurstClass], min_duration: Nanos) -> PrepareError {
    let count = |wanted| class.iter().filter(|&&c| c == wanted).count();
    PrepareError::NothingLeft {
        total: class.len(),
        missing: count(BurstClass::Missing),
        filtered_duration: count(BurstClass::FilteredDuration),
        filtered_range: count(BurstClass::FilteredRange),
        min_duration,
    }
}

/// Normalised values of the complete bursts, row-major.
fn coordinates(raw: &[MetricValues<'_>], normalisations: &[Normalisation], complete: &Rows) -> Vec<f64> {
    const ROWS: usize = 1 << 12;
    let dims = raw.len();
    let mut points = vec![0.0; complete.len() * dims];
    points.par_chunks_mut(ROWS * dims).enumerate().for_each(|(at, to)| {
        for (m, (values, normalisation)) in raw.iter().zip(normalisations).enumerate() {
            for (row, place) in to.chunks_exact_mut(dims).zip(at * ROWS..) {
                row[m] = normalisation.apply(values.get(complete.at(place) as usize));
            }
        }
    });
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Counter, CounterColumn};
    use super::*;

    fn table(durations: &[u64], values: &[f64]) -> BurstTable {
        let n = durations.len();
        let counter = Counter { event_type: None, name: "A".to_owned(), description: String::new() };
        BurstTable {
            app: vec![1; n].into(),
            task: vec![1; n].into(),
            thread: vec![1; n].into(),
            begin: (0..n as u64).map(|i| Nanos(i * 1000)).collect(),
            duration: durations.iter().map(|&d| Nanos(d)).collect(),
            counters: vec![CounterColumn { counter, values: values.to_vec().into() }],
            code: None,
        }
    }

    fn preparation(metrics: &[&str]) -> Preparation {
        Preparation {
            metrics: metrics.iter().map(|m| m.parse().expect("a metric")).collect(),
            filter: DurationFilter::Min(Nanos::ZERO),
            scale: Scale::MinMax,
            pca: None,
        }
    }

    #[test]
    fn what_differs_eightfold_is_too_far() {
        // Of counts from 1 to 4096, a factor of eight is a quarter of the range.
        let counts = table(&[1, 1, 1, 1], &[1.0, 4096.0, 64.0, 8.0]);
        let farthest = |table: &BurstTable, metric: &str, scale| {
            let preparation = Preparation { scale, ..preparation(&[metric]) };
            prepare(table, &preparation).expect("it is prepared").farthest_alike()
        };
        assert!((farthest(&counts, "A,log", Scale::MinMax) - 0.25).abs() < 1e-9);
        assert!((farthest(&counts, "A,log,factor=2", Scale::MinMax) - 0.5).abs() < 1e-9);
        assert!((farthest(&counts, "A,log", Scale::None) - 8f64.ln()).abs() < 1e-9);
        // Of numbers from 3 to 4, half of the largest is twice the range.
        let ratios = table(&[1, 1, 1], &[3.0, 4.0, 3.5]);
        assert!((farthest(&ratios, "A,linear", Scale::MinMax) - 2.0).abs() < 1e-9);
        assert_eq!(farthest(&ratios, "A,linear", Scale::None), f64::INFINITY);
        assert_eq!(farthest(&table(&[1, 1], &[5.0, 5.0]), "A,log", Scale::MinMax), f64::INFINITY);
    }

    #[test]
    fn classes_have_their_precedence_and_ranges_are_inclusive() {
        let table = table(&[4, 5, 5, 4, 6, 7], &[f64::NAN, 1.0, 9.0, 9.0, 2.0, -1.0]);
        let mut wanted = preparation(&["A,min=1,max=2"]);
        wanted.filter = DurationFilter::Min(Nanos(5));
        let prepared = prepare(&table, &wanted).expect("prepares");
        use BurstClass::{Complete, FilteredDuration, FilteredRange, Missing};
        assert_eq!(prepared.class, [Missing, Complete, FilteredRange, FilteredDuration, Complete, Missing],);
        assert_eq!(prepared.complete.to_vec(), [1, 4]);
        assert_eq!(prepared.points, [0.0, 1.0]);
        assert!(prepared.normalised(0, 9.0) > 1.0 && prepared.normalised(0, f64::NAN).is_nan());
        assert!(prepared.notes[0].contains("1 bursts have a negative A"), "{:?}", prepared.notes);
        assert_eq!(prepared.count(Missing), 2);
    }

    #[test]
    fn the_scale_is_that_of_complete_bursts_only() {
        let table = table(&[1, 9, 9, 9], &[1e9, 1.0, 2.0, 3.0]);
        let mut wanted = preparation(&["A,linear,factor=4", "duration"]);
        wanted.filter = DurationFilter::Min(Nanos(2));
        let prepared = prepare(&table, &wanted).expect("prepares");
        assert_eq!(prepared.points, [0.0, 0.0, 2.0, 0.0, 4.0, 0.0]);
        assert!(prepared.notes.iter().any(|n| n.contains("duration is 9 in every burst")));
    }

    #[test]
    fn principal_components_replace_the_metrics() {
        let table = table(&[1, 2, 3, 4], &[10.0, 20.0, 30.0, 40.0]);
        let mut wanted = preparation(&["A,linear", "duration,linear"]);
        wanted.pca = Some(1);
        let prepared = prepare(&table, &wanted).expect("prepares");
        assert_eq!((prepared.dims, prepared.points.len()), (1, 4));
        let pca = prepared.pca.expect("asked for");
        assert!((pca.explained[0] - 1.0).abs() < 1e-12);
        wanted.pca = Some(3);
        assert_eq!(prepare(&table, &wanted).err(), Some(PrepareError::Components { asked: 3, metrics: 2 }));
    }

    #[test]
    fn nonsense_is_refused() {
        let some = table(&[5], &[1.0]);
        let error = |t: &BurstTable, p: &Preparation| prepare(t, p).expect_err("refused");
        assert_eq!(error(&some, &preparation(&[])), PrepareError::NoMetric);
        assert_eq!(
            error(&some, &preparation(&["x=A", "x=duration"])),
            PrepareError::SameName("x".to_owned())
        );
        assert_eq!(error(&table(&[], &[]), &preparation(&["A"])), PrepareError::Empty);
        assert!(matches!(error(&some, &preparation(&["B"])), PrepareError::Metric(_)));
        let mut wanted = preparation(&["A"]);
        for share in [0.0, -0.5, 1.01, f64::NAN] {
            wanted.filter = DurationFilter::KeepTime(share);
            assert!(matches!(error(&some, &wanted), PrepareError::KeepTime(_)));
        }
        wanted.filter = DurationFilter::Min(Nanos(6));
        assert!(error(&some, &wanted).to_string().contains("1 are shorter than 6 ns"));
        let names: Vec<String> = (0..=MAX_DIMS).map(|i| format!("m{i}=A")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(error(&some, &preparation(&names)), PrepareError::TooManyDims(MAX_DIMS + 1));
    }

    /// By trying every duration.
    fn keep_time_reference(durations: &[u64], share: f64) -> u64 {
        let time = |filter: u64| durations.iter().filter(|&&d| d >= filter).sum::<u64>() as f64;
        let enough = |&&d: &&u64| time(d) >= share * time(0);
        durations.iter().filter(enough).max().copied().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn keep_time_finds_the_longest_filter(
            bursts in prop::collection::vec((0u64..20, prop::bool::weighted(0.8)), 1..40), share in 0.01..=1.0f64,
        ) {
            let (durations, carried): (Vec<u64>, Vec<bool>) = bursts.into_iter().unzip();
            let values: Vec<f64> = carried.iter().map(|&c| if c { 1.0 } else { f64::NAN }).collect();
            let kept: Vec<u64> = durations.iter().zip(&carried).filter(|(_, c)| **c).map(|(d, _)| *d).collect();
            let mut wanted = preparation(&["A"]);
            wanted.filter = DurationFilter::KeepTime(share);
            match prepare(&table(&durations, &values), &wanted) {
                Ok(prepared) => prop_assert_eq!(prepared.min_duration.0, keep_time_reference(&kept, share)),
                Err(_) => prop_assert!(kept.is_empty()),
            }
            wanted.filter = DurationFilter::KeepTimeBelow(share, Nanos(40));
            if let Ok(prepared) = prepare(&table(&durations, &values), &wanted) {
                prop_assert_eq!(prepared.min_duration.0, keep_time_reference(&kept, share).min(40));
            }
        }

        #[test]
        fn points_do_not_depend_on_the_thread_count(
            values in prop::collection::vec(prop::option::weighted(0.9, 0.0..1e9f64), 1..300)
        ) {
            // Long enough for several chunks.
            let values: Vec<f64> = (0..50_000).map(|i| values[i * 7919 % values.len()].unwrap_or(f64::NAN)).collect();
            let table = table(&(1..=50_000).collect::<Vec<u64>>(), &values);
            let mut wanted = preparation(&["A", "r=A/duration"]);
            (wanted.scale, wanted.pca) = (Scale::ZScore, Some(2));
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                pool.install(|| prepare(&table, &wanted).map(|p| (p.points, p.complete, p.notes)))
            };
            prop_assert_eq!(on(1), on(3));
        }
    }
}
