//! Work compiled for the widest vectors that the processor has.
//!
//! No path fuses a multiplication with an addition, and sums run in the same
//! eight lanes on every one, so all give the same bits.

/// Numbers added up side by side, whatever the width of a vector.
pub(crate) const LANES: usize = 8;

/// What is worth compiling several times. `run` must be `inline(always)`, or
/// it is compiled only once.
pub(crate) trait Work {
    /// What comes out.
    type Out;

    /// Does it; `SIDE × SIDE` sums of eight lanes fit the registers.
    fn run<I: Isa, const SIDE: usize>(self, isa: I) -> Self::Out;
}

/// A set of vector instructions, as a token: who holds it may use them.
pub(crate) trait Isa: Copy {
    /// Eight numbers.
    type Vector: Copy;

    fn load(self, from: &[f64; LANES]) -> Self::Vector;

    fn store(self, x: Self::Vector) -> [f64; LANES];

    fn add(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    fn sub(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    fn mul(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    fn abs(self, x: Self::Vector) -> Self::Vector;

    /// The greater of each two, of the second vector where one is NaN.
    fn max(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;

    /// The lesser of each two, of the second vector where one is NaN.
    fn min(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
}

/// How wide vectors may be, the narrower first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// What every processor of the kind can do.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare the paths"))]
    Portable,
    /// AVX2.
    Avx2,
    /// AVX-512 F, DQ and VL.
    Avx512,
}

/// Does the work with the widest vectors there are.
#[inline]
pub(crate) fn widest<W: Work>(work: W) -> W::Out {
    up_to(Width::Avx512, work)
}

/// Does the work with the widest vectors there are, but none wider than
/// `most`.
#[inline]
pub(crate) fn up_to<W: Work>(most: Width, work: W) -> W::Out {
    #[cfg(target_arch = "x86_64")]
    {
        if most >= Width::Avx512
            && let Some(isa) = x86::Avx512::detect()
        {
            return isa.run(work);
        }
        if most >= Width::Avx2
            && let Some(isa) = x86::Avx2::detect()
        {
            return isa.run(work);
        }
    }
    let _ = most;
    work.run::<_, 2>(Portable)
}

/// What every processor can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

/// Applies an operation to each pair of eight.
#[inline(always)]
fn each(x: [f64; LANES], y: [f64; LANES], of: impl Fn(f64, f64) -> f64) -> [f64; LANES] {
    std::array::from_fn(|i| of(x[i], y[i]))
}

impl Isa for Portable {
    type Vector = [f64; LANES];

    #[inline(always)]
    fn load(self, from: &[f64; LANES]) -> [f64; LANES] {
        *from
    }

    #[inline(always)]
    fn store(self, x: [f64; LANES]) -> [f64; LANES] {
        x
    }

    #[inline(always)]
    fn add(self, x: [f64; LANES], y: [f64; LANES]) -> [f64; LANES] {
        each(x, y, |x, y| x + y)
    }

    #[inline(always)]
    fn sub(self, x: [f64; LANES], y: [f64; LANES]) -> [f64; LANES] {
        each(x, y, |x, y| x - y)
    }

    #[inline(always)]
    fn mul(self, x: [f64; LANES], y: [f64; LANES]) -> [f64; LANES] {
        each(x, y, |x, y| x * y)
    }

    #[inline(always)]
    fn abs(self, x: [f64; LANES]) -> [f64; LANES] {
        x.map(f64::abs)
    }

    #[inline(always)]
    fn max(self, x: [f64; LANES], y: [f64; LANES]) -> [f64; LANES] {
        each(x, y, |x, y| if x > y { x } else { y })
    }

    #[inline(always)]
    fn min(self, x: [f64; LANES], y: [f64; LANES]) -> [f64; LANES] {
        each(x, y, |x, y| if x < y { x } else { y })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Isa, LANES, Work};

    /// AVX-512 F, DQ and VL are there.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Avx512(());

    impl Avx512 {
        pub(super) fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("popcnt"))
            .then_some(Self(()))
        }

        /// The work, compiled for these instructions.
        pub(super) fn run<W: Work>(self, work: W) -> W::Out {
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
            fn compiled<W: Work>(isa: Avx512, work: W) -> W::Out {
                work.run::<_, 4>(isa)
            }
            // SAFETY: an `Avx512` exists only where its instructions were detected.
            unsafe { compiled(self, work) }
        }
    }

    /// AVX2 is there.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Avx2(());

    impl Avx2 {
        pub(super) fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")).then_some(Self(()))
        }

        /// The work, compiled for these instructions.
        pub(super) fn run<W: Work>(self, work: W) -> W::Out {
            #[target_feature(enable = "avx2,popcnt")]
            fn compiled<W: Work>(isa: Avx2, work: W) -> W::Out {
                work.run::<_, 2>(isa)
            }
            // SAFETY: an `Avx2` exists only where its instructions were detected.
            unsafe { compiled(self, work) }
        }
    }

    /// Methods of a token that are one function of `std::arch` each.
    macro_rules! operations {
        ($features:literal, $vector:ty, $($name:ident($($x:ident: $type:ty),*) -> $out:ty = $of:expr;)*) => {$(
            #[inline(always)]
            fn $name(self, $($x: $type),*) -> $out {
                #[target_feature(enable = $features)]
                #[inline]
                fn operation($($x: $type),*) -> $out {
                    $of
                }
                // SAFETY: `self` exists only where the instructions were detected.
                unsafe { operation($($x),*) }
            }
        )*};
    }

    impl Isa for Avx512 {
        type Vector = __m512d;

        operations! { "avx512f,avx512dq,avx512vl", __m512d,
            load(x: &[f64; LANES]) -> __m512d =
                _mm512_setr_pd(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
            store(x: __m512d) -> [f64; LANES] = {
                let mut to = [0.0; LANES];
                // SAFETY: eight numbers fit.
                unsafe { _mm512_storeu_pd(to.as_mut_ptr(), x) };
                to
            };
            add(x: __m512d, y: __m512d) -> __m512d = _mm512_add_pd(x, y);
            sub(x: __m512d, y: __m512d) -> __m512d = _mm512_sub_pd(x, y);
            mul(x: __m512d, y: __m512d) -> __m512d = _mm512_mul_pd(x, y);
            abs(x: __m512d) -> __m512d = _mm512_abs_pd(x);
            max(x: __m512d, y: __m512d) -> __m512d = _mm512_max_pd(x, y);
            min(x: __m512d, y: __m512d) -> __m512d = _mm512_min_pd(x, y);
        }
    }

    impl Isa for Avx2 {
        type Vector = [__m256d; 2];

        operations! { "avx2", [__m256d; 2],
            load(x: &[f64; LANES]) -> [__m256d; 2] =
                [_mm256_setr_pd(x[0], x[1], x[2], x[3]), _mm256_setr_pd(x[4], x[5], x[6], x[7])];
            store(x: [__m256d; 2]) -> [f64; LANES] = {
                let mut to = [0.0; LANES];
                let (low, high) = to.split_at_mut(4);
                // SAFETY: four numbers fit.
                unsafe { _mm256_storeu_pd(low.as_mut_ptr(), x[0]) };
                // SAFETY: as above.
                unsafe { _mm256_storeu_pd(high.as_mut_ptr(), x[1]) };
                to
            };
            add(x: [__m256d; 2], y: [__m256d; 2]) -> [__m256d; 2] =
                [_mm256_add_pd(x[0], y[0]), _mm256_add_pd(x[1], y[1])];
            sub(x: [__m256d; 2], y: [__m256d; 2]) -> [__m256d; 2] =
                [_mm256_sub_pd(x[0], y[0]), _mm256_sub_pd(x[1], y[1])];
            mul(x: [__m256d; 2], y: [__m256d; 2]) -> [__m256d; 2] =
                [_mm256_mul_pd(x[0], y[0]), _mm256_mul_pd(x[1], y[1])];
            abs(x: [__m256d; 2]) -> [__m256d; 2] = {
                let sign = _mm256_set1_pd(-0.0);
                [_mm256_andnot_pd(sign, x[0]), _mm256_andnot_pd(sign, x[1])]
            };
            max(x: [__m256d; 2], y: [__m256d; 2]) -> [__m256d; 2] =
                [_mm256_max_pd(x[0], y[0]), _mm256_max_pd(x[1], y[1])];
            min(x: [__m256d; 2], y: [__m256d; 2]) -> [__m256d; 2] =
                [_mm256_min_pd(x[0], y[0]), _mm256_min_pd(x[1], y[1])];
        }
    }
}
