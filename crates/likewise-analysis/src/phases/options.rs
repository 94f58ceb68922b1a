//! What is asked of an analysis of bursts.

use crate::Usage;
use anyhow::Result;
use likewise::bursts::Direction;
use likewise::table::{DurationFilter, Metric, Nanos, Scale};
use likewise_trace::Apps;
use std::path::PathBuf;

/// All that decides about the phases of a trace. The default is that of
/// `likewise bursts`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What is read.
    pub reading: Reading,
    /// What describes a burst.
    pub describing: Describing,
    /// How bursts are grouped.
    pub grouping: Grouping,
    /// Refine in this direction, whatever `grouping` leaves open.
    pub refine: Option<Direction>,
    /// Group at one density if no option says otherwise and an eps suggests
    /// itself: refining takes longer.
    pub one_density: bool,
    /// Do not align the tasks' sequences of phases, which takes long, and do not
    /// say how good the grouping is.
    pub unaligned: bool,
    /// Leave out the bursts before MPI_Init, or before the tracer has been set up, and behind
    /// MPI_Finalize, where the trace tells when these are: runs and ranks are compared by what they do
    /// in between.
    pub between_mpi: bool,
    /// Hide half of the counters from each burst, and find them again.
    pub check_extrapolation: bool,
}

/// What is read of a trace.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Applications.
    pub apps: Apps,
    /// Event types that open and close bursts, instead of Running states.
    pub burst_events: Vec<u32>,
    /// Whether malformed records are skipped.
    pub lenient: bool,
    /// Names of counters, where they are not beside the trace.
    pub pcf: Option<PathBuf>,
    /// What the command wants before such options, when a message names one: nothing, or `-- `.
    pub before_options: &'static str,
}

/// What describes a burst. What is `None` or empty is as the definition says,
/// or else as usual.
#[derive(Clone, Debug, Default)]
pub struct Describing {
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// A file that says what is not said here.
    pub definition: Option<PathBuf>,
    /// Which bursts are too short.
    pub filter: Option<DurationFilter>,
    /// How metrics are made comparable.
    pub scale: Option<Scale>,
    /// Number of principal components.
    pub pca: Option<usize>,
    /// Share of the clustered time (0 to 1) below which a cluster is left out.
    pub min_share: Option<f64>,
}

/// The filter if none is asked for. It leaves out the shortest bursts, as
/// González et al. 2009, §3.1, but less of the time (they kept 99% with filters
/// of 0.5 to 5 ms). It leaves out bursts under 10 µs, because a good part of
/// them is the tracer's own work, as long as the others hold this share of the
/// computing time.
pub const DEFAULT_FILTER: DurationFilter = DurationFilter::KeepTimeBelow(0.999, Nanos(10_000));

/// A method of grouping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By radii from fine to coarse, or back. It must know which task runs a
    /// burst, so it works only for bursts.
    Refine,
    /// By density.
    Dbscan,
    /// Around centroids, as many as BIC finds.
    Xmeans,
    /// By the calls that bursts lie between. It works only for bursts, where
    /// the trace tells these calls.
    Places,
}

/// How points are grouped.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// Radius of a neighbourhood, in the units of what is grouped; the knee of
    /// the k-distances if `None`.
    pub eps: Option<f64>,
    /// Points within eps that make a point core, itself included.
    pub min_points: Option<usize>,
    /// The method; DBSCAN if `None`, unless bursts are refined.
    pub method: Option<Method>,
    /// Fewest clusters that X-means looks for.
    pub k_min: Option<usize>,
    /// Most clusters that X-means looks for.
    pub k_max: Option<usize>,
    /// Group at most so many, spread evenly over the tasks; the others take the
    /// label of their nearest neighbour within eps.
    pub sample: Option<usize>,
    /// Seed of the sample and of X-means.
    pub seed: u64,
}

impl Default for Grouping {
    fn default() -> Self {
        Self { eps: None, min_points: None, method: None, k_min: None, k_max: None, sample: None, seed: 1 }
    }
}

/// The paper's choice for bursts: "usually 10" (González et al. 2009, §4).
pub(super) const MIN_POINTS: usize = 10;

/// The numbers of clusters that X-means looks for.
pub(super) const K_MIN: usize = 1;
pub(super) const K_MAX: usize = 50;

impl Grouping {
    /// Refuses parameters that do not go together, before anything is read.
    ///
    /// # Errors
    /// [`Usage`].
    pub fn check(&self) -> Result<()> {
        let xmeans = self.method == Some(Method::Xmeans);
        let places = self.method == Some(Method::Places);
        let wrong = if places && (self.eps.is_some() || self.min_points.is_some() || self.sample.is_some()) {
            "phases by their places need no eps, min-points or sample; leave them out, or take --method dbscan"
        } else if xmeans && (self.eps.is_some() || self.min_points.is_some()) {
            "X-means has no eps and no min-points; leave them out, or take --method dbscan"
        } else if !xmeans && (self.k_min.is_some() || self.k_max.is_some()) {
            "DBSCAN finds the number of clusters itself; --k-min and --k-max are for --method xmeans"
        } else if self.k_min.unwrap_or(K_MIN) > self.k_max.unwrap_or(K_MAX) {
            "the fewest clusters (--k-min) are more than the most (--k-max)"
        } else {
            return Ok(());
        };
        Err(Usage(wrong.to_owned()).into())
    }
}
