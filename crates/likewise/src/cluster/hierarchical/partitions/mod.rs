//! How good every partition of a dendrogram is.

mod boxes;
mod separation;
mod silhouettes;
#[cfg(test)]
pub(super) mod tests;

use super::{Dendrogram, Linkage, Merge, Profiles};
use crate::cluster::Dissimilarities;
use boxes::least_log_densities;
use separation::separations;
use silhouettes::{Rows, rows};

/// The measures of one partition. None is better than another in itself; that
/// is what Pareto ranks are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partition {
    /// How many clusters it has.
    pub n_clusters: usize,
    /// The mean diameter of its clusters, H₁: how unlike the two most unlike
    /// members are, 0 for a single one. Less is better.
    pub mean_diameter: f64,
    /// The mean, over its clusters, of how near the nearest other is, as the
    /// linkage has it, S₁. More is better. `None` of a single cluster.
    pub separation: Option<f64>,
    /// The largest diameter of a cluster over that of the whole, R: 0 to 1;
    /// 0 where no two objects differ.
    pub diameter_ratio: f64,
    /// The mean silhouette of the objects: −1 to 1; 0 for one alone in its
    /// cluster. More is better. `None` of a single cluster.
    pub silhouette: Option<f64>,
    /// The natural logarithm of the least density of a cluster: its members
    /// over the volume of the smallest box that holds them; infinite where
    /// every box is flat. More is better. `None` without profiles.
    pub log_min_density: Option<f64>,
}

impl Partition {
    /// How far R is from a threshold, |R − t|; the paper's t is 0.75.
    #[must_use]
    pub fn ratio_from(&self, threshold: f64) -> f64 {
        (self.diameter_ratio - threshold).abs()
    }
}

/// How good every partition of the dendrogram is: first that of all objects
/// alone, then that after each merge.
///
/// The square holds the dissimilarities that the dendrogram was made of, and
/// is used up. `profiles` are the same objects', for the densities: a box has
/// a side for each column where two members have a value, and where that is
/// not every column, the logarithm of its volume is scaled up by their share.
///
/// # Panics
/// If square, dendrogram and profiles are not of as many objects.
///
/// # Complexity
/// O(n²) for all partitions together, in parallel but for the separation, and
/// O(n·d) for the densities; the square and O(n) memory, and two or three
/// times the profiles' with them. No partition is measured from scratch: going
/// from the last merge back to the first, one cluster is replaced by its two
/// parts. Of these, one is at least as near to any other cluster (or, in the
/// mean, to any object) as the whole was. So the least distance so far only has to
/// be compared with those of the two parts, and no search is repeated.
///
/// # Reference
/// Malard, *A role for Pareto optimality in mining performance data*, §2.2;
/// silhouettes: Rousseeuw, *J. Comput. Appl. Math.* 20, 1987. Differs:
/// `docs/counters.md` has the figures of the paper's Table 3 that its own
/// definitions do not give.
///
/// # Example
/// ```
/// use likewise::cluster::Dissimilarities;
/// use likewise::cluster::hierarchical::{Linkage, linkage, partitions};
///
/// let objects = [0.0, 1.0, 5.0, 7.0f64];
/// let square = Dissimilarities::new(&objects, |a, b| (a - b).abs())?;
/// let tree = linkage(square.clone(), Linkage::Complete);
/// // After two of three merges: {0, 1} and {5, 7}.
/// let two = partitions(square, Linkage::Complete, &tree, None)[2];
/// assert_eq!((two.n_clusters, two.mean_diameter, two.separation), (2, 1.5, Some(7.0)));
/// assert_eq!(two.diameter_ratio, 2.0 / 7.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn partitions(
    square: Dissimilarities,
    linkage: Linkage,
    dendrogram: &Dendrogram,
    profiles: Option<&Profiles>,
) -> Vec<Partition> {
    let n = dendrogram.n_objects();
    assert_eq!(square.len(), n, "a square of the dendrogram's objects");
    assert!(profiles.is_none_or(|profiles| profiles.len() == n), "profiles of the dendrogram's objects");
    let merges = dendrogram.merges();
    let densities = profiles.map(|profiles| least_log_densities(profiles, merges));
    let Rows { across, silhouettes } = rows(&square, merges);
    let separations = separations(square, linkage, merges);
    let diameters = diameters(n, merges, &across);
    let whole = diameters.last().copied().unwrap_or(0.0);
    let (mut total, mut largest) = (Sum::default(), 0.0f64);
    let partition = |at: usize| {
        if let Some(merge) = at.checked_sub(1).map(|before| merges[before]) {
            total.add(-diameters[merge.a]);
            total.add(-diameters[merge.b]);
            total.add(diameters[n + at - 1]);
            largest = largest.max(diameters[n + at - 1]);
        }
        let n_clusters = n - at;
        Partition {
            n_clusters,
            mean_diameter: total.value() / n_clusters as f64,
            separation: separations.get(at).copied(),
            diameter_ratio: if whole > 0.0 { largest / whole } else { 0.0 },
            silhouette: silhouettes.get(at).copied(),
            log_min_density: densities.as_ref().map(|densities| densities[at]),
        }
    };
    (0..n).map(partition).collect()
}

/// The diameter of every cluster, from how unlike the most unlike objects of
/// each two merged ones are.
fn diameters(n: usize, merges: &[Merge], across: &[f64]) -> Vec<f64> {
    let mut diameters = vec![0.0f64; n];
    for (merge, &across) in merges.iter().zip(across) {
        diameters.push(diameters[merge.a].max(diameters[merge.b]).max(across));
    }
    diameters
}

/// A running sum with compensation (double-double): subtracting a value that was
/// added gives back the old sum, but for rounding at twice the digits. A plain sum
/// would drift, since every merge takes two diameters out and puts one in.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    /// Knuth's two-sum, and what it leaves over.
    fn add(&mut self, x: f64) {
        let sum = self.high + x;
        let part = sum - self.high;
        self.low += (self.high - (sum - part)) + (x - part);
        self.high = sum;
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}
