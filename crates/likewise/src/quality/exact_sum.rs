//! Sums of reals that do not depend on the order.

/// Bits of a limb that hold digits; the rest is room for carries.
const DIGITS: u32 = 32;

/// Limbs for every bit of a finite `f64`, from 2⁻¹⁰⁷⁴ to 2¹⁰²³, and carries.
pub const LIMBS: usize = 68;

/// A sum of finite reals without rounding, so that any order and any
/// partition into parts gives the same: 68 limbs of 32 bits.
///
/// Up to 2³⁰ reals may be added, on all parts together, before the limbs of
/// the parts are summed ([`limbs`](Self::limbs)).
///
/// # Reference
/// Kulisch's long accumulator (*Computer Arithmetic and Validity*, 2nd ed., §8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactSum {
    limbs: [i64; LIMBS],
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { limbs: [0; LIMBS] }
    }
}

impl ExactSum {
    /// Adds a real.
    ///
    /// # Panics
    /// If it is not finite.
    pub fn add(&mut self, value: f64) {
        assert!(value.is_finite(), "only finite reals have a sum");
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as u32;
        let fraction = bits & ((1 << 52) - 1);
        // As mantissa · 2^(shift - 1074).
        let (mantissa, shift) =
            if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let wide = u128::from(mantissa) << (shift % DIGITS);
        let at = (shift / DIGITS) as usize;
        let sign = if value.is_sign_negative() { -1 } else { 1 };
        for part in 0..3 {
            let digits = (wide >> (DIGITS * part)) as u32;
            self.limbs[at + part as usize] += sign * i64::from(digits);
        }
    }

    /// Its limbs: sums over several parts are the sums of their limbs, place
    /// by place.
    #[must_use]
    pub fn limbs(&self) -> &[i64; LIMBS] {
        &self.limbs
    }

    /// The sum whose limbs these are.
    ///
    /// # Panics
    /// If there are not [`LIMBS`].
    #[must_use]
    pub fn from_limbs(limbs: &[i64]) -> Self {
        Self { limbs: limbs.try_into().expect("as many limbs as a sum has") }
    }

    /// The sum, rounded to the nearest from its 65 leading bits, at least.
    #[must_use]
    pub fn value(&self) -> f64 {
        let mut limbs = [0i64; LIMBS + 1];
        let mut carry = 0;
        for (to, &limb) in limbs.iter_mut().zip(&self.limbs) {
            let all = limb + carry;
            carry = all >> DIGITS;
            *to = all & ((1 << DIGITS) - 1);
        }
        limbs[LIMBS] = carry;
        if carry < 0 {
            let mut minus = self.clone();
            minus.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            return -minus.value();
        }
        let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        let limb = |below: usize| top.checked_sub(below).map_or(0, |at| limbs[at] as u128);
        let leading = limb(0) << 64 | limb(1) << 32 | limb(2);
        // The top limb is at least 1, so at least 65 bits are exact.
        let scale = (top as i32 - 2) * DIGITS as i32 - 1074;
        times_power(leading as f64, scale)
    }
}

/// `value · 2^power`, where the power alone may be out of range.
fn times_power(value: f64, power: i32) -> f64 {
    let half = power / 2;
    value * 2f64.powi(half) * 2f64.powi(power - half)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        values.iter().for_each(|&value| sum.add(value));
        sum
    }

    #[test]
    fn small_and_large_keep_their_bits() {
        assert_eq!(sum(&[1e300, 1.0, -1e300]).value(), 1.0);
        assert_eq!(sum(&[0.1; 10]).value(), 1.0);
        assert_eq!(sum(&[f64::MIN_POSITIVE / 4.0, 0.0]).value(), f64::MIN_POSITIVE / 4.0);
        assert_eq!(sum(&[-2.5, 1.0]).value(), -1.5);
        assert_eq!(sum(&[f64::MAX]).value(), f64::MAX);
        assert_eq!(sum(&[]).value(), 0.0);
    }

    proptest! {
        #[test]
        fn any_partition_has_the_same_sum(values in prop::collection::vec(-1e12f64..1e12, 0..200), cut in 0usize..200) {
            let whole = sum(&values);
            let (a, b) = values.split_at(cut.min(values.len()));
            let parts: Vec<i64> = sum(b).limbs().iter().zip(sum(a).limbs()).map(|(x, y)| x + y).collect();
            prop_assert_eq!(&ExactSum::from_limbs(&parts).value(), &whole.value());
            let plain: f64 = values.iter().sum();
            let size: f64 = values.iter().map(|x| x.abs()).sum();
            prop_assert!((whole.value() - plain).abs() <= size * 1e-13);
        }
    }
}
