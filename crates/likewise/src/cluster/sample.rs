//! Clustering a sample, and labelling the rest by it.

use rand_core::Rng;
use rayon::prelude::*;

use super::{ClusterId, Points};

/// Chooses at most `n_max` objects, from each stratum in proportion to its
/// size, spread over its length. Returns their indices, ascending; all, if
/// there are no more.
///
/// `stratum` names each object's stratum (for bursts: the task); equal names
/// must be consecutive. A stratum of `m` of all `n` objects gives `m·n_max/n`,
/// rounded so that the sum is `n_max` (largest remainders; the first of equal
/// ones). It is cut into as many stretches of equal length, and one object is
/// drawn from each: evenly spaced choices would fall into step with the
/// iterations of the program and miss whole phases.
///
/// # Complexity
/// O(n).
#[must_use]
pub fn stratified_sample<S: PartialEq>(stratum: &[S], n_max: usize, rng: &mut impl Rng) -> Vec<u32> {
    let n = stratum.len();
    if n <= n_max {
        return (0..n as u32).collect();
    }
    let sizes: Vec<usize> = stratum.chunk_by(PartialEq::eq).map(<[S]>::len).collect();
    let mut chosen = Vec::with_capacity(n_max);
    let mut start = 0;
    for (&size, quota) in sizes.iter().zip(quotas(&sizes, n_max)) {
        for j in 0..quota {
            let (from, to) = (j * size / quota, (j + 1) * size / quota);
            let within = (u128::from(rng.next_u64()) * (to - from) as u128) >> 64;
            chosen.push((start + from + within as usize) as u32);
        }
        start += size;
    }
    chosen
}

/// `n_max` shared out in proportion to `sizes`.
fn quotas(sizes: &[usize], n_max: usize) -> Vec<usize> {
    let n: usize = sizes.iter().sum();
    let share = |size: usize| (size as u128 * n_max as u128, n as u128);
    let mut quotas: Vec<usize> = sizes.iter().map(|&size| (share(size).0 / share(size).1) as usize).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(share(sizes[i]).0 % share(sizes[i]).1), i));
    let left = n_max - quotas.iter().sum::<usize>();
    order.iter().take(left).for_each(|&i| quotas[i] += 1);
    quotas
}

/// Labels every point by a clustered sample: a sampled point keeps its label,
/// any other takes that of its nearest sampled point within `eps` (noise if
/// that is noise; the one of lowest index among equally near ones), and is
/// noise if there is none.
///
/// `sample` holds indices of points, ascending; `labels` their labels. A
/// point at a squared distance of exactly `eps²` is within.
///
/// # Panics
/// If there is not one label per sampled point, or an index is out of bounds.
///
/// # Complexity
/// O(s log s) to build a tree on `s` sampled points, O(log s) expected per
/// point, in parallel; memory for a copy of the sampled points.
///
/// # Reference
/// ClusteringSuite's `-m`; the tree is Bentley's k-d tree, 1975, with boxes.
#[must_use]
pub fn label_by_nearest(
    points: &Points<'_>,
    sample: &[u32],
    labels: &[Option<ClusterId>],
    eps: f64,
) -> Vec<Option<ClusterId>> {
    assert_eq!(sample.len(), labels.len(), "a label for every sampled point");
    let tree = Tree::build(points, sample);
    let label = |i: usize| match sample.binary_search(&(i as u32)) {
        Ok(at) => labels[at],
        Err(_) => tree.nearest(points.row(i), eps * eps).and_then(|at| labels[at as usize]),
    };
    (0..points.len()).into_par_iter().with_min_len(256).map(label).collect()
}

/// Most points of a leaf.
const LEAF: usize = 16;

/// A balanced k-d tree. Its nodes lie as in a binary heap: the children of
/// node `i` are `2i + 1` and `2i + 2`, and each level halves the points.
struct Tree {
    dims: usize,
    /// Positions within the sample, in tree order.
    order: Vec<u32>,
    /// Their coordinates in the same order, row-major.
    rows: Vec<f64>,
    /// Per node, the box around its points: `dims` lower, then upper bounds.
    boxes: Vec<f64>,
    /// How often points are halved from the root to a leaf.
    depth: u32,
}

impl Tree {
    fn build(points: &Points<'_>, sample: &[u32]) -> Self {
        let dims = points.dims();
        let mut order: Vec<u32> = (0..sample.len() as u32).collect();
        let mut depth = 0;
        while sample.len() >> depth > LEAF {
            depth += 1;
        }
        let row = |at: u32| points.row(sample[at as usize] as usize);
        let mut boxes = vec![0.0; 2 * dims * ((2 << depth) - 1)];
        // (node, its points in `order`, how often they are still halved)
        let mut stack = vec![(0, 0..order.len(), depth)];
        while let Some((node, range, levels)) = stack.pop() {
            let bounds = &mut boxes[2 * dims * node..2 * dims * (node + 1)];
            enclose(bounds, order[range.clone()].iter().map(|&at| row(at)));
            if levels == 0 {
                continue;
            }
            let (low, high) = bounds.split_at(dims);
            let extent = |j: usize| high[j] - low[j];
            let widest = (1..dims).fold(0, |best, j| if extent(j) > extent(best) { j } else { best });
            let middle = range.len() / 2;
            order[range.clone()].select_nth_unstable_by(middle, |&a, &b| {
                row(a)[widest].total_cmp(&row(b)[widest]).then(a.cmp(&b))
            });
            let middle = range.start + middle;
            stack.push((2 * node + 1, range.start..middle, levels - 1));
            stack.push((2 * node + 2, middle..range.end, levels - 1));
        }
        let rows = order.iter().flat_map(|&at| row(at)).copied().collect();
        Tree { dims, order, rows, boxes, depth }
    }

    /// The position in the sample of the point nearest to `query`, if its
    /// squared distance is at most `limit`.
    fn nearest(&self, query: &[f64], limit: f64) -> Option<u32> {
        let mut best = (limit, u32::MAX);
        if !self.order.is_empty() {
            self.descend(query, 0, 0..self.order.len(), self.depth, &mut best);
        }
        (best.1 != u32::MAX).then_some(best.1)
    }

    fn descend(
        &self,
        query: &[f64],
        node: usize,
        range: std::ops::Range<usize>,
        levels: u32,
        best: &mut (f64, u32),
    ) {
        if levels == 0 {
            let rows = self.rows[range.start * self.dims..range.end * self.dims].chunks_exact(self.dims);
            for (row, &at) in rows.zip(&self.order[range]) {
                let distance = row.iter().zip(query).map(|(x, q)| (x - q) * (x - q)).sum::<f64>();
                if distance < best.0 || (distance == best.0 && at < best.1) {
                    *best = (distance, at);
                }
            }
            return;
        }
        let middle = range.start + range.len() / 2;
        let (left, right) = (2 * node + 1, 2 * node + 2);
        let (to_left, to_right) = (self.box_distance(query, left), self.box_distance(query, right));
        let children = [(to_left, left, range.start..middle), (to_right, right, middle..range.end)];
        let nearer_first = if to_left <= to_right { [0, 1] } else { [1, 0] };
        for i in nearer_first {
            let (distance, child, range) = children[i].clone();
            // An equally near box may hold an equally near point of lower index.
            if distance <= best.0 {
                self.descend(query, child, range, levels - 1, best);
            }
        }
    }

    /// Squared distance to a node's box. Rounded, it still does not exceed
    /// that to any point within, because each term is summed in the same order
    /// and none is larger.
    fn box_distance(&self, query: &[f64], node: usize) -> f64 {
        let (low, high) = self.boxes[2 * self.dims * node..2 * self.dims * (node + 1)].split_at(self.dims);
        let gap = |j: usize| (low[j] - query[j]).max(query[j] - high[j]).max(0.0);
        (0..self.dims).map(|j| gap(j) * gap(j)).sum()
    }
}

fn enclose<'a>(bounds: &mut [f64], rows: impl Iterator<Item = &'a [f64]>) {
    let (low, high) = bounds.split_at_mut(bounds.len() / 2);
    low.fill(f64::INFINITY);
    high.fill(f64::NEG_INFINITY);
    for row in rows {
        low.iter_mut().zip(row).for_each(|(l, x)| *l = l.min(*x));
        high.iter_mut().zip(row).for_each(|(h, x)| *h = h.max(*x));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn each_stratum_gives_its_share() {
        let stratum: Vec<u32> =
            [(1, 700), (2, 200), (3, 100)].iter().flat_map(|&(s, n)| vec![s; n]).collect();
        let chosen = stratified_sample(&stratum, 50, &mut Xoshiro256PlusPlus::seed_from_u64(3));
        let of = |s: u32| chosen.iter().filter(|&&i| stratum[i as usize] == s).count();
        assert_eq!((of(1), of(2), of(3)), (35, 10, 5));
        assert!(chosen.is_sorted_by(|a, b| a < b));
        // One from each stretch of 20.
        assert!(chosen[..35].iter().enumerate().all(|(j, &i)| i as usize / 20 == j));
    }

    #[test]
    fn a_sample_of_at_least_all_is_all() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        assert_eq!(stratified_sample(&[1, 1, 2], 3, &mut rng), [0, 1, 2]);
        assert!(stratified_sample(&[1, 1, 2], 0, &mut rng).is_empty());
        assert!(stratified_sample::<u32>(&[], 0, &mut rng).is_empty());
    }

    /// By looking at every sampled point.
    fn reference(
        points: &Points<'_>,
        sample: &[u32],
        labels: &[Option<ClusterId>],
        eps: f64,
    ) -> Vec<Option<ClusterId>> {
        let label = |i: usize| {
            if let Some(at) = sample.iter().position(|&s| s as usize == i) {
                return labels[at];
            }
            let distance = |at: usize| -> f64 {
                let other = points.row(sample[at] as usize);
                points.row(i).iter().zip(other).map(|(x, y)| (x - y) * (x - y)).sum()
            };
            let nearest = (0..sample.len()).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))?;
            if distance(nearest) <= eps * eps { labels[nearest] } else { None }
        };
        (0..points.len()).map(label).collect()
    }

    proptest! {
        #[test]
        fn every_quota_is_met_and_distinct(
            sizes in prop::collection::vec(1usize..40, 1..10), n_max in 0usize..200, seed: u64
        ) {
            let stratum: Vec<usize> = sizes.iter().enumerate().flat_map(|(s, &n)| vec![s; n]).collect();
            let chosen = stratified_sample(&stratum, n_max, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            prop_assert_eq!(chosen.len(), n_max.min(stratum.len()));
            prop_assert!(chosen.is_sorted_by(|a, b| a < b));
            for (s, &size) in sizes.iter().enumerate() {
                let exact = (size * n_max) as f64 / stratum.len() as f64;
                let count = chosen.iter().filter(|&&i| stratum[i as usize] == s).count() as f64;
                prop_assert!(n_max >= stratum.len() || (count - exact).abs() < 1.0);
            }
        }

        #[test]
        fn the_tree_equals_looking_at_every_point(
            (dims, grid, taken, eps) in (1usize..=16).prop_flat_map(|dims| (
                Just(dims),
                // Few distinct coordinates, so that ties are common.
                prop::collection::vec(0u8..6, dims * 150),
                prop::collection::vec(any::<bool>(), 150),
                0.0..4.0f64,
            ))
        ) {
            let data: Vec<f64> = grid.into_iter().map(|x| f64::from(x) * 0.5).collect();
            let points = Points::new(&data, dims).expect("points");
            let sample: Vec<u32> = (0..150).filter(|&i| taken[i as usize]).collect();
            let labels: Vec<_> = sample.iter().map(|&i| (i % 5 > 0).then(|| ClusterId::from_index(i as usize))).collect();
            for eps in [eps, 1.0] {
                prop_assert_eq!(
                    label_by_nearest(&points, &sample, &labels, eps),
                    reference(&points, &sample, &labels, eps)
                );
            }
        }
    }
}
