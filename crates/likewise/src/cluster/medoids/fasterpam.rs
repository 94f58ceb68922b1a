//! Medoids by eager swaps.

use rand_core::Rng;
use rayon::prelude::*;

use super::subset::floyd;
use super::{Medoids, MedoidsError, assign, check};
use crate::cluster::Dissimilarities;

/// Medoids to start from.
pub enum Start<'a> {
    /// One after the other, each the one that lowers the loss most.
    Build,
    /// These, in any order.
    Medoids(&'a [usize]),
    /// Drawn from all objects.
    Random(&'a mut dyn Rng),
}

/// Candidates looked at together: the fewest, after a swap, and the most.
const BLOCK: std::ops::Range<usize> = 4..512;

/// Partial sums of one candidate, so that an addition need not wait for the
/// one before.
const LANES: usize = 4;

/// Groups objects about `n_clusters` medoids by eager swaps. Each object in turn is
/// tried in the place of the medoid that can best be spared, and takes it if that
/// lowers the loss; this goes on until no object does.
///
/// The result is a local optimum, as [`pam`](super::pam)'s: no swap lowers the
/// loss by more than rounding. Which one may differ, because the first swap
/// that helps is made and not the best.
///
/// # Errors
/// [`MedoidsError`] if there are no clusters, more than distinct objects, or
/// the start is not that many objects.
///
/// # Complexity
/// O(n² + nk) a pass over all objects, in parallel, and O(n) a swap; passes
/// are few. BUILD: O(n²) for the first two medoids, mostly much less for each
/// later one.
///
/// # Reference
/// Schubert & Rousseeuw, *Information Systems* 101, 2021 (FasterPAM). Differs:
/// a swap is made only if the loss, summed anew, is lower, so that rounding
/// cannot make it circle; candidates are weighed in blocks by several threads,
/// and those after a swap anew, so that the result is that of one thread.
///
/// # Example
/// ```
/// use likewise::cluster::Dissimilarities;
/// use likewise::cluster::medoids::{Start, fasterpam};
///
/// let objects = [0.0, 1.0, 2.0, 10.0, 11.0, 12.0f64];
/// let matrix = Dissimilarities::new(&objects, |a, b| (a - b).abs())?;
/// let found = fasterpam(&matrix, 2, Start::Build)?;
/// assert_eq!(found.medoids, [1, 4]);
/// assert_eq!(found.labels, [0, 0, 0, 1, 1, 1]);
/// assert_eq!(found.loss, 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fasterpam(
    dissimilarities: &Dissimilarities,
    n_clusters: usize,
    start: Start<'_>,
) -> Result<Medoids, MedoidsError> {
    let d = dissimilarities;
    check(d, n_clusters)?;
    let mut medoids = match start {
        Start::Build => build(d, n_clusters),
        Start::Medoids(given) => given.to_vec(),
        Start::Random(rng) => {
            floyd(d.len() as u64, n_clusters, rng).into_iter().map(|at| at as usize).collect()
        }
    };
    medoids.sort_unstable();
    let distinct = medoids.is_sorted_by(|a, b| a < b) && medoids.last().is_some_and(|&last| last < d.len());
    if !distinct || medoids.len() != n_clusters {
        return Err(MedoidsError::Start { given: medoids, n_clusters, n_objects: d.len() });
    }
    let mut search = Search::new(d, medoids);
    let n_swaps = search.run();
    Ok(assign(d, search.medoids, n_swaps))
}

/// PAM's BUILD, equal to the bit, without computing the gain of most objects. From
/// one medoid to the next a gain can only shrink, even as rounded, because no term
/// of its sum grows. So an object whose gain was last below the best one now need
/// not be looked at.
fn build(d: &Dissimilarities, k: usize) -> Vec<usize> {
    let n = d.len();
    let losses: Vec<f64> = (0..n).into_par_iter().map(|c| d.row(c).iter().sum()).collect();
    let first = (0..n).min_by(|&a, &b| losses[a].total_cmp(&losses[b]).then(a.cmp(&b)));
    let mut medoids = vec![first.expect("an object")];
    let mut nearest = d.row(medoids[0]).to_vec();
    // Gains as they were when last computed, largest first.
    let mut bounds: Vec<(f64, usize)> =
        (0..n).filter(|&c| c != medoids[0]).map(|c| (f64::INFINITY, c)).collect();
    while medoids.len() < k {
        let mut best = (f64::NEG_INFINITY, 0);
        let (mut done, mut width) = (0, if medoids.len() == 1 { n } else { 16 });
        while done < bounds.len() && bounds[done].0 >= best.0 {
            let end = (done + width).min(bounds.len());
            bounds[done..end].par_iter_mut().with_min_len(4).for_each(|b| b.0 = gain(d.row(b.1), &nearest));
            for &(gain, c) in &bounds[done..end] {
                if gain > best.0 || (gain == best.0 && c < best.1) {
                    best = (gain, c);
                }
            }
            (done, width) = (end, 2 * width);
        }
        let medoid = best.1;
        medoids.push(medoid);
        nearest.iter_mut().zip(d.row(medoid)).for_each(|(near, x)| *near = near.min(*x));
        bounds.retain(|b| b.1 != medoid);
        bounds.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    medoids
}

/// By how much a new medoid with that row lowers the loss.
fn gain(row: &[f64], nearest: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (rows, nears) = (row.chunks_exact(8), nearest.chunks_exact(8));
    let rest = rows.remainder().iter().zip(nears.remainder());
    let rest: f64 = rest.map(|(x, near)| (near - x).max(0.0)).sum();
    for (x, near) in rows.zip(nears) {
        for lane in 0..8 {
            sums[lane] += (near[lane] - x[lane]).max(0.0);
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// An object as the swaps see it.
#[derive(Clone, Copy)]
struct Near {
    /// Dissimilarity to the nearest medoid.
    first: f64,
    /// And to the second nearest.
    second: f64,
    /// Place of the nearest.
    place: u32,
    /// Place of the second nearest.
    second_place: u32,
}

struct Search<'a> {
    d: &'a Dissimilarities,
    medoids: Vec<usize>,
    near: Vec<Near>,
    /// By how much the loss grows if that medoid goes.
    removal: Vec<f64>,
    loss: f64,
    /// What stands for the second nearest where there is only one medoid. No
    /// candidate is farther than this, so any is nearer; and it is finite, which
    /// keeps ∞ − ∞ out of the sums.
    beyond: f64,
}

impl<'a> Search<'a> {
    fn new(d: &'a Dissimilarities, medoids: Vec<usize>) -> Self {
        let beyond = if medoids.len() == 1 { d.largest() } else { f64::INFINITY };
        let near = (0..d.len()).map(|o| two_nearest(d, &medoids, o, beyond)).collect();
        let mut search = Self { d, medoids, near, removal: Vec::new(), loss: 0.0, beyond };
        search.sum_up();
        search
    }

    /// Swaps until nothing helps; how often.
    fn run(&mut self) -> usize {
        let n = self.d.len();
        let (mut n_swaps, mut next, mut idle, mut width) = (0, 0, 0, BLOCK.start);
        // `idle` candidates in a row did not help.
        while idle < n {
            let count = width.min(n - idle);
            let found = (0..count).into_par_iter().with_min_len(8).find_map_first(|step| {
                let candidate = (next + step) % n;
                let place = self.weigh(candidate)?;
                (self.loss_after(candidate, place) < self.loss).then_some((step, candidate, place))
            });
            let Some((step, candidate, place)) = found else {
                (next, idle, width) = ((next + count) % n, idle + count, (2 * width).min(BLOCK.end));
                continue;
            };
            self.swap(candidate, place);
            n_swaps += 1;
            (next, idle, width) = ((candidate + 1) % n, 0, (step + 1).clamp(BLOCK.start, BLOCK.end));
        }
        n_swaps
    }

    /// The medoid that is best to lose for a candidate, if that seems to
    /// lower the loss.
    fn weigh(&self, candidate: usize) -> Option<usize> {
        if self.medoids.contains(&candidate) {
            return None;
        }
        let k = self.medoids.len();
        let mut change = vec![0.0; LANES * k];
        let mut shared = [0.0; LANES];
        let row = self.d.row(candidate);
        for (x, near) in row.chunks(LANES).zip(self.near.chunks(LANES)) {
            for (lane, (&x, near)) in x.iter().zip(near).enumerate() {
                // Nearer than the first: all gain, whoever goes. If the first
                // goes, the object falls no farther than to the candidate.
                shared[lane] += (x - near.first).min(0.0);
                change[lane * k + near.place as usize] += x.max(near.first).min(near.second) - near.second;
            }
        }
        let shared: f64 = shared.iter().sum();
        let mut best = (f64::INFINITY, 0);
        for place in 0..k {
            let saved: f64 = (0..LANES).map(|lane| change[lane * k + place]).sum();
            let total = self.removal[place] + saved;
            let lower = self.medoids[place] < self.medoids[best.1];
            if total < best.0 || (total == best.0 && lower) {
                best = (total, place);
            }
        }
        (shared + best.0 < 0.0).then_some(best.1)
    }

    /// The loss if that swap were made.
    fn loss_after(&self, candidate: usize, place: usize) -> f64 {
        let rest = |near: &Near| if near.place as usize == place { near.second } else { near.first };
        self.d.row(candidate).iter().zip(&self.near).map(|(x, near)| x.min(rest(near))).sum()
    }

    fn swap(&mut self, candidate: usize, place: usize) {
        self.medoids[place] = candidate;
        let (d, medoids, beyond) = (self.d, &self.medoids, self.beyond);
        for (o, (near, &x)) in self.near.iter_mut().zip(d.row(candidate)).enumerate() {
            if near.place as usize == place {
                if x < near.second {
                    near.first = x;
                } else {
                    *near = two_nearest(d, medoids, o, beyond);
                }
            } else if x < near.first {
                (near.second, near.second_place) = (near.first, near.place);
                (near.first, near.place) = (x, place as u32);
            } else if near.second_place as usize == place && x > near.second {
                *near = two_nearest(d, medoids, o, beyond);
            } else if x < near.second || near.second_place as usize == place {
                (near.second, near.second_place) = (x, place as u32);
            }
        }
        self.sum_up();
    }

    /// The sums that depend on where objects belong.
    fn sum_up(&mut self) {
        let mut removal = vec![0.0; self.medoids.len()];
        for near in &self.near {
            removal[near.place as usize] += near.second - near.first;
        }
        self.removal = removal;
        self.loss = self.near.iter().map(|near| near.first).sum();
    }
}

/// Rows are those of medoids: where objects have weights, columns are scaled.
fn two_nearest(d: &Dissimilarities, medoids: &[usize], object: usize, beyond: f64) -> Near {
    let mut near = Near { first: f64::INFINITY, second: beyond, place: 0, second_place: u32::MAX };
    for (place, &medoid) in medoids.iter().enumerate() {
        let x = d.get(medoid, object);
        if x < near.first {
            if place > 0 {
                (near.second, near.second_place) = (near.first, near.place);
            }
            (near.first, near.place) = (x, place as u32);
        } else if x < near.second {
            (near.second, near.second_place) = (x, place as u32);
        }
    }
    near
}
