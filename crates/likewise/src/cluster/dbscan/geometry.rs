//! Boxes and distances, each rounded the same way.
//!
//! Every squared distance sums squares in order of dimension, without fused
//! multiply-add. Rounding is monotone, so a box's bound computed the same way
//! bounds the *computed* distances, not only the true ones: box tests decide
//! exactly as the point tests would, and the labels equal those of a program
//! that looks at every pair.

#![expect(clippy::needless_range_loop, reason = "one index runs through several arrays at once")]

/// The tight box around some points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aabb<const D: usize> {
    pub(super) lo: [f64; D],
    pub(super) hi: [f64; D],
}

impl<const D: usize> Aabb<D> {
    /// Holds nothing; grows by [`Aabb::merge`] and [`Aabb::add`].
    pub(super) const EMPTY: Self = Self { lo: [f64::INFINITY; D], hi: [f64::NEG_INFINITY; D] };

    #[inline]
    pub(super) fn of(points: &[[f64; D]]) -> Self {
        let mut b = Self::EMPTY;
        for p in points {
            b.add(p);
        }
        b
    }

    #[inline]
    pub(super) fn point(p: &[f64; D]) -> Self {
        Self { lo: *p, hi: *p }
    }

    #[inline]
    pub(super) fn add(&mut self, p: &[f64; D]) {
        for k in 0..D {
            // A plain comparison compiles to one instruction; f64::min does not.
            self.lo[k] = if p[k] < self.lo[k] { p[k] } else { self.lo[k] };
            self.hi[k] = if p[k] > self.hi[k] { p[k] } else { self.hi[k] };
        }
    }

    pub(super) fn merge(mut self, other: &Self) -> Self {
        self.add(&other.lo);
        self.add(&other.hi);
        self
    }

    /// The dimension in which it is widest, and how wide.
    #[inline]
    pub(super) fn widest(&self) -> (usize, f64) {
        let mut best = (0, self.hi[0] - self.lo[0]);
        for k in 1..D {
            let width = self.hi[k] - self.lo[k];
            if width > best.1 {
                best = (k, width);
            }
        }
        best
    }
}

/// Squared Euclidean distance.
#[inline(always)]
pub(super) fn distance2<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    let mut sum = 0.0;
    for k in 0..D {
        let t = a[k] - b[k];
        sum += t * t;
    }
    sum
}

/// No point of `a` is nearer than this to a point of `b`.
#[inline(always)]
pub(super) fn min2<const D: usize>(a: &Aabb<D>, b: &Aabb<D>) -> f64 {
    let mut sum = 0.0;
    for k in 0..D {
        let (left, right) = (a.lo[k] - b.hi[k], b.lo[k] - a.hi[k]);
        let gap = if left > right { left } else { right };
        let gap = if gap > 0.0 { gap } else { 0.0 };
        sum += gap * gap;
    }
    sum
}

/// No point of `a` is farther than this from a point of `b`.
#[inline(always)]
pub(super) fn max2<const D: usize>(a: &Aabb<D>, b: &Aabb<D>) -> f64 {
    let mut sum = 0.0;
    for k in 0..D {
        let (left, right) = (a.hi[k] - b.lo[k], b.hi[k] - a.lo[k]);
        let span = if left > right { left } else { right };
        sum += span * span;
    }
    sum
}

/// How many of `points` are within √`eps2` of `p`; stops early at `enough`.
#[inline]
pub(super) fn count_within<const D: usize>(
    p: &[f64; D],
    points: &[[f64; D]],
    eps2: f64,
    enough: usize,
) -> usize {
    let mut count = 0;
    for block in points.chunks(32) {
        count += block.iter().map(|q| u32::from(distance2(p, q) <= eps2)).sum::<u32>() as usize;
        if count >= enough {
            break;
        }
    }
    count
}

/// Whether any point of `a` is within √`eps2` of any of `b`: boxes first, then
/// the halves of the larger side, so that two touching clouds meet early.
/// Reorders both.
pub(super) fn any_within<const D: usize>(
    (a, box_a): (&mut [[f64; D]], Aabb<D>),
    (b, box_b): (&mut [[f64; D]], Aabb<D>),
    eps2: f64,
) -> bool {
    if a.is_empty() || b.is_empty() || min2(&box_a, &box_b) > eps2 {
        return false;
    }
    if max2(&box_a, &box_b) <= eps2 {
        return true;
    }
    if a.len() * b.len() <= 1024 {
        return a.iter().any(|p| count_within(p, b, eps2, 1) > 0);
    }
    let (large, box_l, small, box_s) =
        if a.len() >= b.len() { (a, box_a, b, box_b) } else { (b, box_b, a, box_a) };
    let (left, right) = halve(large, &box_l);
    let (box_left, box_right) = (Aabb::of(left), Aabb::of(right));
    let left_first = min2(&box_left, &box_s) <= min2(&box_right, &box_s);
    let (near, far) = if left_first {
        ((left, box_left), (right, box_right))
    } else {
        ((right, box_right), (left, box_left))
    };
    any_within(near, (&mut *small, box_s), eps2) || any_within(far, (small, box_s), eps2)
}

/// Parts `points` at the middle of the widest side of their box.
fn halve<'a, const D: usize>(
    points: &'a mut [[f64; D]],
    around: &Aabb<D>,
) -> (&'a mut [[f64; D]], &'a mut [[f64; D]]) {
    let (k, _) = around.widest();
    let middle = 0.5 * around.lo[k] + 0.5 * around.hi[k];
    let mut at = partition(points, |p| p[k] < middle);
    if at == 0 || at == points.len() {
        at = points.len() / 2;
    }
    points.split_at_mut(at)
}

/// Moves what `is_left` to the front; returns how many.
#[inline]
pub(super) fn partition<T>(items: &mut [T], is_left: impl Fn(&T) -> bool) -> usize {
    let (mut i, mut j) = (0, items.len());
    loop {
        while i < j && is_left(&items[i]) {
            i += 1;
        }
        while i < j && !is_left(&items[j - 1]) {
            j -= 1;
        }
        if i >= j {
            return i;
        }
        items.swap(i, j - 1);
        i += 1;
        j -= 1;
    }
}
