//! Loops compiled several times, for vectors of different widths; the widest
//! that the processor has are used.
//!
//! A loop that is worth this is a type that implements [`Work`]; [`widest`] or
//! [`up_to`] runs it. Loops over short arrays become vector instructions by
//! themselves once they are compiled for them; [`Isa`] names the operations
//! where that does not happen.
//!
//! Every width gives the same bits: no path fuses a multiplication with an
//! addition, and sums run in the same eight lanes on every path.

/// Numbers added up side by side, whatever the width of a vector.
pub(crate) const LANES: usize = 8;

/// A loop that is compiled once for each width. `run`, and all that it calls
/// in its loop, must be `inline(always)`: a function that is not inlined is
/// compiled only once, for every processor.
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

    /// The greatest number so far; 0 if there was none.
    type Greatest: Copy + Default;

    /// Does the work, compiled for these instructions. For what is called from
    /// other work and is too large to be inlined there.
    fn run<W: Work>(self, work: W) -> W::Out;

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

    /// Bit `i` says whether `a[i] < b[i]`.
    fn below(self, a: &[f64; LANES], b: &[f64; LANES]) -> u8;

    /// Of each number, the greatest up to it and of those before. None is below 0.
    fn running_max(self, x: [i32; LANES], before: &mut Self::Greatest) -> [i32; LANES];
}

/// How wide vectors may be, the narrower first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// What every processor of the kind can do.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare the paths"))]
    Portable,
    /// AVX2.
    Avx2,
    /// AVX-512 F, DQ, VL and BW.
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
        let found = x86::found();
        if most >= Width::Avx512
            && let Some(isa) = found.avx512
        {
            return isa.run(work);
        }
        if most >= Width::Avx2
            && let Some(isa) = found.avx2
        {
            return isa.run(work);
        }
    }
    let _ = most;
    Portable.run(work)
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
    type Greatest = i32;

    #[inline(always)]
    fn run<W: Work>(self, work: W) -> W::Out {
        work.run::<_, 2>(self)
    }

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

    #[inline(always)]
    fn below(self, a: &[f64; LANES], b: &[f64; LANES]) -> u8 {
        let mut mask = 0;
        for i in 0..LANES {
            mask |= u8::from(a[i] < b[i]) << i;
        }
        mask
    }

    #[inline(always)]
    fn running_max(self, mut x: [i32; LANES], before: &mut i32) -> [i32; LANES] {
        for x in &mut x {
            *before = (*before).max(*x);
            *x = *before;
        }
        x
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::sync::OnceLock;

    use super::{Isa, LANES, Work};

    /// What this processor has.
    pub(super) struct Found {
        pub(super) avx512: Option<Avx512>,
        pub(super) avx2: Option<Avx2>,
    }

    /// The processor is asked once.
    #[inline]
    pub(super) fn found() -> &'static Found {
        static FOUND: OnceLock<Found> = OnceLock::new();
        FOUND.get_or_init(|| Found { avx512: Avx512::detect(), avx2: Avx2::detect() })
    }

    /// AVX-512 F, DQ, VL and BW are there.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Avx512(());

    impl Avx512 {
        fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("popcnt"))
            .then_some(Self(()))
        }
    }

    /// AVX2 is there.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Avx2(());

    impl Avx2 {
        fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")).then_some(Self(()))
        }
    }

    /// Methods of a token that are one function of `std::arch` each.
    macro_rules! operations {
        ($features:literal, $($name:ident($($x:ident: $type:ty),*) -> $out:ty = $of:expr;)*) => {$(
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

    /// The greatest number so far, eight times.
    #[derive(Clone, Copy)]
    pub(super) struct Greatest(__m256i);

    impl Default for Greatest {
        fn default() -> Self {
            // SAFETY: eight numbers of 32 bits may have any bits.
            Self(unsafe { std::mem::zeroed() })
        }
    }

    /// In three steps: of two, of four, and of all.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn running_max(x: [i32; LANES], before: &mut Greatest) -> [i32; LANES] {
        let x = _mm256_setr_epi32(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
        let x = _mm256_max_epi32(x, _mm256_slli_si256::<4>(x));
        let x = _mm256_max_epi32(x, _mm256_slli_si256::<8>(x));
        // The fourth is the greatest of the lower half: all of the upper one see it.
        let low = _mm256_permute2x128_si256::<0x08>(x, x);
        let x = _mm256_max_epi32(x, _mm256_shuffle_epi32::<0xFF>(low));
        let all = _mm256_max_epi32(x, before.0);
        let mut to = [0; LANES];
        // SAFETY: eight numbers fit.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), all) };
        // The next eight wait for this alone.
        before.0 = _mm256_max_epi32(before.0, _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(7)));
        to
    }

    impl Isa for Avx512 {
        type Vector = __m512d;
        type Greatest = Greatest;

        fn run<W: Work>(self, work: W) -> W::Out {
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt")]
            fn compiled<W: Work>(isa: Avx512, work: W) -> W::Out {
                work.run::<_, 4>(isa)
            }
            // SAFETY: an `Avx512` exists only where its instructions were detected.
            unsafe { compiled(self, work) }
        }

        operations! { "avx512f,avx512dq,avx512vl",
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
            below(a: &[f64; LANES], b: &[f64; LANES]) -> u8 = {
                let a = _mm512_setr_pd(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
                let b = _mm512_setr_pd(b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]);
                _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b)
            };
            running_max(x: [i32; LANES], before: &mut Greatest) -> [i32; LANES] = running_max(x, before);
        }
    }

    impl Isa for Avx2 {
        type Vector = [__m256d; 2];
        type Greatest = Greatest;

        fn run<W: Work>(self, work: W) -> W::Out {
            #[target_feature(enable = "avx2,popcnt")]
            fn compiled<W: Work>(isa: Avx2, work: W) -> W::Out {
                work.run::<_, 2>(isa)
            }
            // SAFETY: an `Avx2` exists only where its instructions were detected.
            unsafe { compiled(self, work) }
        }

        operations! { "avx2",
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
            below(a: &[f64; LANES], b: &[f64; LANES]) -> u8 = {
                let low = _mm256_cmp_pd::<_CMP_LT_OQ>(
                    _mm256_setr_pd(a[0], a[1], a[2], a[3]),
                    _mm256_setr_pd(b[0], b[1], b[2], b[3]),
                );
                let high = _mm256_cmp_pd::<_CMP_LT_OQ>(
                    _mm256_setr_pd(a[4], a[5], a[6], a[7]),
                    _mm256_setr_pd(b[4], b[5], b[6], b[7]),
                );
                (_mm256_movemask_pd(low) | _mm256_movemask_pd(high) << 4) as u8
            };
            running_max(x: [i32; LANES], before: &mut Greatest) -> [i32; LANES] = running_max(x, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every operation, in one pass.
    struct All<'a>(&'a [f64; LANES], &'a [f64; LANES]);

    impl Work for All<'_> {
        type Out = (Vec<u64>, u8);

        #[inline(always)]
        fn run<I: Isa, const SIDE: usize>(self, isa: I) -> (Vec<u64>, u8) {
            let (x, y) = (isa.load(self.0), isa.load(self.1));
            let of = [isa.add(x, y), isa.sub(x, y), isa.mul(x, y), isa.abs(x), isa.max(x, y), isa.min(x, y)];
            let bits = of.into_iter().flat_map(|x| isa.store(x)).map(f64::to_bits);
            (bits.collect(), isa.below(self.0, self.1))
        }
    }

    proptest! {
        #[test]
        fn every_width_does_what_its_name_says(
            x in prop::array::uniform8(-2.0..2.0f64), y in prop::array::uniform8(-2.0..2.0f64)
        ) {
            let of = |f: fn(f64, f64) -> f64| (0..LANES).map(move |i| f(x[i], y[i]).to_bits());
            let plain: Vec<u64> = of(|x, y| x + y)
                .chain(of(|x, y| x - y))
                .chain(of(|x, y| x * y))
                .chain(of(|x, _| x.abs()))
                .chain(of(f64::max))
                .chain(of(f64::min))
                .collect();
            let below = (0..LANES).fold(0, |mask, i| mask | u8::from(x[i] < y[i]) << i);
            for most in [Width::Portable, Width::Avx2, Width::Avx512] {
                prop_assert_eq!(up_to(most, All(&x, &y)), (plain.clone(), below));
            }
        }
    }

    /// The running maximum of all.
    struct Running<'a>(&'a [[i32; LANES]]);

    impl Work for Running<'_> {
        type Out = Vec<i32>;

        #[inline(always)]
        fn run<I: Isa, const SIDE: usize>(self, isa: I) -> Vec<i32> {
            let mut before = I::Greatest::default();
            self.0.iter().flat_map(|&x| isa.running_max(x, &mut before)).collect()
        }
    }

    proptest! {
        #[test]
        fn the_running_maximum_is_that_of_all_so_far(
            x in prop::collection::vec(prop::array::uniform8(0..40i32), 1..4)
        ) {
            let all = x.concat();
            let expected: Vec<i32> = (0..all.len()).filter_map(|i| all[..=i].iter().max().copied()).collect();
            for most in [Width::Portable, Width::Avx2, Width::Avx512] {
                prop_assert_eq!(&up_to(most, Running(&x)), &expected);
            }
        }
    }

    #[test]
    fn of_a_number_and_none_the_second_is_taken() {
        let none = [f64::NAN; LANES];
        let some = [1.0; LANES];
        for most in [Width::Portable, Width::Avx2, Width::Avx512] {
            let one = |x, y| up_to(most, All(x, y));
            let (bits, below) = one(&none, &some);
            assert_eq!(bits[4 * LANES..], [1.0f64.to_bits(); 2 * LANES]);
            assert_eq!(below, 0);
            let (bits, below) = one(&some, &none);
            assert!(bits[4 * LANES..].iter().all(|&x| f64::from_bits(x).is_nan()));
            assert_eq!(below, 0);
        }
    }
}
