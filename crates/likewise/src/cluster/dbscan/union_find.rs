//! Components that many threads join at once.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A forest over `0..n` in which every root is the least of its component,
/// so that the components' names do not depend on the order of joining.
///
/// Lock-free: parents only ever decrease, and a stale read costs a retry.
pub(super) struct UnionFind(Vec<AtomicU32>);

impl UnionFind {
    pub(super) fn new(n: usize) -> Self {
        Self((0..n as u32).map(AtomicU32::new).collect())
    }

    /// The root of `x`, halving the path on the way.
    #[inline]
    pub(super) fn find(&self, mut x: u32) -> u32 {
        loop {
            let parent = self.0[x as usize].load(Relaxed);
            if parent == x {
                return x;
            }
            let grandparent = self.0[parent as usize].load(Relaxed);
            if grandparent != parent {
                // Losing this race is harmless: somebody else shortened the path.
                let _ = self.0[x as usize].compare_exchange_weak(parent, grandparent, Relaxed, Relaxed);
            }
            x = grandparent;
        }
    }

    /// Whether both are in one component now; a `false` may be out of date.
    #[inline]
    pub(super) fn same(&self, a: u32, b: u32) -> bool {
        self.find(a) == self.find(b)
    }

    pub(super) fn join(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                return;
            }
            let (low, high) = (a.min(b), a.max(b));
            if self.0[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return;
            }
        }
    }
}
