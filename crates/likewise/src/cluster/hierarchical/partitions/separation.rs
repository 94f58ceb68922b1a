//! How near the nearest other cluster is, in the mean over a partition's.

use super::super::{Linkage, Merge, chain};
use crate::cluster::Dissimilarities;
use crate::simd::{Isa, LANES, Work, widest};

/// The mean before each merge.
///
/// Two passes. Forth, the merges are made once more in order of height. Each
/// leaves a row, in the place of the cluster that goes: how near the nearer of its
/// two parts was to every other cluster. Back, these rows alone tell how near the
/// nearest cluster of each is. For two clusters that were merged were the nearest
/// of each other; and a cluster whose nearest was a merged one is no farther from
/// one of its two parts.
pub(super) fn separations(mut square: Dissimilarities, linkage: Linkage, merges: &[Merge]) -> Vec<f64> {
    match linkage {
        Linkage::Complete => means(square, chain::Complete, merges, |x| x),
        Linkage::Single => means(square, chain::Single, merges, |x| x),
        Linkage::Average => means(square, chain::Average, merges, |x| x),
        Linkage::Ward => {
            chain::to_squares(&mut square);
            means(square, chain::Ward, merges, f64::sqrt)
        }
    }
}

fn means<U: chain::Update>(
    square: Dissimilarities,
    update: U,
    merges: &[Merge],
    read: impl Fn(f64) -> f64 + Copy,
) -> Vec<f64> {
    let n = square.len();
    let mut rows = chain::Rows::new(square, update);
    // The slot of each cluster is that of its lowest object.
    let mut slots: Vec<usize> = (0..n).collect();
    let mut made = Vec::with_capacity(merges.len());
    for merge in merges {
        let (a, b) = (slots[merge.a].min(slots[merge.b]), slots[merge.a].max(slots[merge.b]));
        rows.catch_up(a);
        let height = rows.row(a)[b];
        rows.merge(a, b, height);
        slots.push(a);
        made.push((a, b, height));
    }
    // How near the nearest is, of the clusters there are; 0 in other slots.
    let mut nearest = vec![0.0; n];
    let mut means = vec![0.0; merges.len()];
    for (at, &(a, b, height)) in made.iter().enumerate().rev() {
        (nearest[a], nearest[b]) = (height, height);
        let sum = widest(Nearer { nearest: &mut nearest, parts: rows.row(b), read });
        means[at] = sum / (n - at) as f64;
    }
    means
}

/// Lowers what is nearest to what the parts of a merge are, and adds it up.
struct Nearer<'a, R> {
    nearest: &'a mut [f64],
    parts: &'a [f64],
    read: R,
}

impl<R: Fn(f64) -> f64> Work for Nearer<'_, R> {
    type Out = f64;

    #[inline(always)]
    fn run<I: Isa, const SIDE: usize>(self, _: I) -> f64 {
        let mut lanes = [0.0; LANES];
        for (nearest, parts) in self.nearest.chunks_mut(LANES).zip(self.parts.chunks(LANES)) {
            for ((lane, nearest), &part) in lanes.iter_mut().zip(nearest).zip(parts) {
                *nearest = if part < *nearest { part } else { *nearest };
                *lane += (self.read)(*nearest);
            }
        }
        lanes.iter().sum()
    }
}
