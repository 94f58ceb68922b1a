//! Leaving out the clusters that take too little time to matter.

use crate::cluster::{ClusterId, Clustering};

/// A clustering without its least clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// The clusters that stay, in their order. Members of the others have no
    /// label, like noise.
    pub clustering: Clustering,
    /// The members of the others, ascending.
    pub dropped: Vec<u32>,
}

/// Leaves out every cluster that holds less than `min_share` (0 to 1) of the
/// total duration of all clusters; noise does not count.
///
/// `durations` has one entry per clustered object.
///
/// # Panics
/// If `durations` is not as long as the labels.
///
/// # Reference
/// The `threshold_filter` of ClusteringSuite as its manual defines it; the
/// program itself ignores it.
///
/// # Example
/// ```
/// use likewise::bursts::filter_clusters;
/// use likewise::cluster::{ClusterId, Clustering};
///
/// let labels = [0, 0, 1].map(|cluster| Some(ClusterId::from_index(cluster))).to_vec();
/// let clustering = Clustering { labels, n_clusters: 2 };
/// // The second cluster holds 5 of 205.
/// let kept = filter_clusters(&clustering, [100, 100, 5].into_iter(), 0.1);
/// assert_eq!((kept.clustering.n_clusters, kept.dropped), (1, vec![2]));
/// ```
#[must_use]
pub fn filter_clusters(
    clustering: &Clustering,
    durations: impl ExactSizeIterator<Item = u64>,
    min_share: f64,
) -> Threshold {
    assert_eq!(durations.len(), clustering.labels.len(), "a duration for every object");
    let mut total = vec![0u128; clustering.n_clusters];
    for (label, duration) in clustering.labels.iter().zip(durations) {
        if let Some(id) = label {
            total[id.index()] += u128::from(duration);
        }
    }
    let wanted = min_share * total.iter().sum::<u128>() as f64;
    let mut n_clusters = 0;
    let mut place = |&time: &u128| {
        (time as f64 >= wanted).then(|| {
            n_clusters += 1;
            ClusterId::from_index(n_clusters - 1)
        })
    };
    let places: Vec<Option<ClusterId>> = total.iter().map(&mut place).collect();
    let labels: Vec<Option<ClusterId>> = clustering.labels.iter().map(|l| places[(*l)?.index()]).collect();
    let was_dropped = |&i: &u32| clustering.labels[i as usize].is_some() && labels[i as usize].is_none();
    let dropped = (0..labels.len() as u32).filter(was_dropped).collect();
    Threshold { clustering: Clustering { labels, n_clusters }, dropped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_below_the_share_of_clustered_time_go() {
        let id = |i| Some(ClusterId::from_index(i));
        let clustering = Clustering { labels: vec![id(0), id(1), None, id(2), id(1)], n_clusters: 3 };
        // Of 100 in clusters: 60, 10 and 30; noise of 900 does not count.
        let filter = |share| filter_clusters(&clustering, [60, 4, 900, 30, 6].into_iter(), share);
        assert_eq!(filter(0.0).clustering, clustering);
        assert!(filter(0.1).dropped.is_empty(), "just the share stays");
        let found = filter(0.11);
        assert_eq!(
            found.clustering,
            Clustering { labels: vec![id(0), None, None, id(1), None], n_clusters: 2 }
        );
        assert_eq!(found.dropped, [1, 4]);
    }
}
