//! What becomes of a burst.

use crate::cluster::{ClusterId, Clustering};
use crate::table::{BurstClass, Prepared};

/// What became of a burst: it is in a phase, or why it is in none.
///
/// The order is that of the columns of a report's data: noise, the phases by
/// number, then what was set aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BurstLabel {
    /// It was clustered, and is in no cluster.
    #[default]
    Noise,
    /// It is in that phase.
    Phase(ClusterId),
    /// Its cluster holds too little time to be kept.
    FilteredThreshold,
    /// It is too short.
    FilteredDuration,
    /// A metric is outside of its range.
    FilteredRange,
    /// It lacks a counter that the clustering needs.
    Missing,
}

impl BurstLabel {
    /// The phase it is in.
    #[must_use]
    pub fn phase(self) -> Option<ClusterId> {
        if let Self::Phase(id) = self { Some(id) } else { None }
    }

    /// Whether it is neither in a phase nor noise: it was left out before
    /// clustering, or with its cluster behind it.
    #[must_use]
    pub fn is_set_aside(self) -> bool {
        !matches!(self, Self::Noise | Self::Phase(_))
    }
}

impl From<Option<ClusterId>> for BurstLabel {
    /// Of a burst that was clustered.
    fn from(label: Option<ClusterId>) -> Self {
        label.map_or(Self::Noise, Self::Phase)
    }
}

/// The label of every burst, in burst order.
///
/// `clustering` labels the complete bursts; `dropped` are those of them whose
/// cluster was left out ([`Threshold::dropped`](super::Threshold::dropped)).
///
/// # Panics
/// If a place in `dropped` is not that of a complete burst.
///
/// # Complexity
/// O(n); 8 bytes a burst.
///
/// # Example
/// ```
/// use likewise::bursts::{BurstLabel, burst_labels};
/// use likewise::cluster::{ClusterId, Clustering};
/// use likewise::table::{
///     BurstTable, DurationFilter, Expr, Metric, Nanos, Operand, Preparation, Scale, prepare,
/// };
///
/// let table = BurstTable {
///     app: vec![1; 3].into(),
///     task: vec![1; 3].into(),
///     thread: vec![1; 3].into(),
///     begin: [0, 10, 200].map(Nanos).to_vec(),
///     duration: [5, 100, 400].map(Nanos).to_vec(),
///     ..BurstTable::default()
/// };
/// let metrics = vec![Metric::new("duration", Expr::One(Operand::Duration))];
/// let filter = DurationFilter::Min(Nanos(10));
/// let prepared = prepare(&table, &Preparation { metrics, filter, scale: Scale::MinMax, pca: None })?;
/// // Of the two bursts that are long enough, one is in a phase.
/// let phase = ClusterId::from_index(0);
/// let clustering = Clustering { labels: vec![Some(phase), None], n_clusters: 1 };
/// let labels = burst_labels(&prepared, &clustering, &[]);
/// assert_eq!(labels, [BurstLabel::FilteredDuration, BurstLabel::Phase(phase), BurstLabel::Noise]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn burst_labels(prepared: &Prepared, clustering: &Clustering, dropped: &[u32]) -> Vec<BurstLabel> {
    let set_aside = |class: &BurstClass| match class {
        BurstClass::Missing => BurstLabel::Missing,
        BurstClass::FilteredDuration => BurstLabel::FilteredDuration,
        BurstClass::FilteredRange => BurstLabel::FilteredRange,
        BurstClass::Complete => BurstLabel::Noise,
    };
    let mut labels: Vec<BurstLabel> = prepared.class.iter().map(set_aside).collect();
    for (burst, &label) in prepared.complete.iter().zip(&clustering.labels) {
        labels[burst as usize] = label.into();
    }
    for &i in dropped {
        labels[prepared.complete.at(i as usize) as usize] = BurstLabel::FilteredThreshold;
    }
    labels
}
