//! Loops over threads whose frame is compiled once, whatever they do.
//!
//! A loop of rayon's is compiled anew for everything that it is given: some
//! 8,000 lines of LLVM for each, and code for every number of dimensions and
//! every processor gives it much. Here the work is called through a pointer,
//! once for many objects.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Calls `work` with the parts of `0..n`, of `len` each but the last, on all
/// threads.
pub(crate) fn each(n: usize, len: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    (0..n.div_ceil(len)).into_par_iter().for_each(|part| work(part * len..n.min((part + 1) * len)));
}

/// Fills `out` on all threads: `work` gets parts of `len` objects, each with
/// the place of its first.
pub(crate) fn fill<T: Send>(out: &mut [T], len: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let parts: Vec<Mutex<&mut [T]>> = out.chunks_mut(len).map(Mutex::new).collect();
    each(parts.len(), 1, &|range| {
        for part in range {
            // Nobody else takes this part, so there is nothing to wait for.
            let mut slice = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
            work(part * len, &mut slice);
        }
    });
}

/// Both, at once where a thread is free.
pub(crate) fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn every_place_is_visited_once() {
        for n in [0, 1, 2, 15, 16, 17, 1000] {
            for len in [1, 2, 16, 1000, 2000] {
                let visits: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
                each(n, len, &|range| {
                    assert!(range.len() <= len);
                    range.for_each(|i| {
                        visits[i].fetch_add(1, Relaxed);
                    });
                });
                assert!(visits.iter().all(|visits| visits.load(Relaxed) == 1), "{n} by {len}");
                let mut out = vec![usize::MAX; n];
                fill(&mut out, len, &|first, part| {
                    part.iter_mut().enumerate().for_each(|(i, x)| *x = first + i);
                });
                assert!(out.iter().copied().eq(0..n), "{n} by {len}");
            }
        }
        let (mut a, mut b) = (0, 0);
        both(&mut || a += 1, &mut || b += 2);
        assert_eq!((a, b), (1, 2));
    }
}
