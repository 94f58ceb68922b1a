//! What the processor at hand can do.
//!
//! Loops over short arrays become vector instructions by themselves in a
//! function compiled for them; only the mask of a comparison needs naming.
//! No path fuses a multiplication with an addition, so all give the same
//! bits.

use super::search::{Row, Search};
use super::tree::Tree;

/// Numbers compared at once.
pub(super) const LANES: usize = 8;

/// A set of vector instructions, as a token: who holds it may use them.
pub(super) trait Isa: Copy + Send + Sync {
    /// [`Search::leaf`], compiled for these instructions.
    fn search<const D: usize>(search: &mut Search<Self>, tree: &Tree<D>, leaf: usize) -> Row;

    /// [`Search::insert`], compiled for these instructions.
    fn insert(search: &mut Search<Self>, new: &Row);

    /// Bit `i` says whether `a[i] < b[i]`.
    fn below(self, a: &[f64; LANES], b: &[f64; LANES]) -> u8;
}

/// What every processor can do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl Isa for Portable {
    fn search<const D: usize>(search: &mut Search<Self>, tree: &Tree<D>, leaf: usize) -> Row {
        search.leaf(tree, leaf)
    }

    fn insert(search: &mut Search<Self>, new: &Row) {
        search.insert(new);
    }

    #[inline(always)]
    fn below(self, a: &[f64; LANES], b: &[f64; LANES]) -> u8 {
        let mut mask = 0;
        for i in 0..LANES {
            mask |= u8::from(a[i] < b[i]) << i;
        }
        mask
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Isa, LANES, Row, Search, Tree};
    use std::arch::x86_64::*;

    /// AVX2 is there.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Avx2(());

    impl Avx2 {
        pub(in super::super) fn detect() -> Option<Self> {
            is_x86_feature_detected!("avx2").then_some(Self(()))
        }
    }

    impl Isa for Avx2 {
        fn search<const D: usize>(search: &mut Search<Self>, tree: &Tree<D>, leaf: usize) -> Row {
            #[target_feature(enable = "avx2")]
            fn compiled<const D: usize>(search: &mut Search<Avx2>, tree: &Tree<D>, leaf: usize) -> Row {
                search.leaf(tree, leaf)
            }
            // SAFETY: the `Avx2` in `search` exists only where AVX2 was detected.
            unsafe { compiled(search, tree, leaf) }
        }

        fn insert(search: &mut Search<Self>, new: &Row) {
            #[target_feature(enable = "avx2")]
            fn compiled(search: &mut Search<Avx2>, new: &Row) {
                search.insert(new);
            }
            // SAFETY: as above.
            unsafe { compiled(search, new) }
        }

        #[inline(always)]
        fn below(self, a: &[f64; LANES], b: &[f64; LANES]) -> u8 {
            #[target_feature(enable = "avx2")]
            #[inline]
            fn half(a: &[f64; 4], b: &[f64; 4]) -> u8 {
                let a = _mm256_setr_pd(a[0], a[1], a[2], a[3]);
                let b = _mm256_setr_pd(b[0], b[1], b[2], b[3]);
                _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) as u8
            }
            let (a0, a1) = a.split_first_chunk::<4>().expect("eight lanes");
            let (b0, b1) = b.split_first_chunk::<4>().expect("eight lanes");
            let (a1, b1) = (a1.first_chunk().expect("four left"), b1.first_chunk().expect("four left"));
            // SAFETY: an `Avx2` exists only where AVX2 was detected.
            let low = unsafe { half(a0, b0) };
            // SAFETY: as above.
            let high = unsafe { half(a1, b1) };
            low | high << 4
        }
    }

    /// AVX-512F is there.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Avx512(());

    impl Avx512 {
        pub(in super::super) fn detect() -> Option<Self> {
            is_x86_feature_detected!("avx512f").then_some(Self(()))
        }
    }

    impl Isa for Avx512 {
        fn search<const D: usize>(search: &mut Search<Self>, tree: &Tree<D>, leaf: usize) -> Row {
            #[target_feature(enable = "avx512f")]
            fn compiled<const D: usize>(search: &mut Search<Avx512>, tree: &Tree<D>, leaf: usize) -> Row {
                search.leaf(tree, leaf)
            }
            // SAFETY: the `Avx512` in `search` exists only where AVX-512F was detected.
            unsafe { compiled(search, tree, leaf) }
        }

        fn insert(search: &mut Search<Self>, new: &Row) {
            #[target_feature(enable = "avx512f")]
            fn compiled(search: &mut Search<Avx512>, new: &Row) {
                search.insert(new);
            }
            // SAFETY: as above.
            unsafe { compiled(search, new) }
        }

        #[inline(always)]
        fn below(self, a: &[f64; LANES], b: &[f64; LANES]) -> u8 {
            #[target_feature(enable = "avx512f")]
            #[inline]
            fn mask(a: &[f64; LANES], b: &[f64; LANES]) -> u8 {
                let a = _mm512_setr_pd(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
                let b = _mm512_setr_pd(b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]);
                _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b)
            }
            // SAFETY: an `Avx512` exists only where AVX-512F was detected.
            unsafe { mask(a, b) }
        }
    }
}
