//! Reals as whole numbers, so that a reduction of whole numbers finds the
//! least and the greatest real of all ranks.

/// A whole number for each real; the order stays the same.
#[must_use]
pub fn order(value: f64) -> i64 {
    // The bits of negative reals, read as a number, run the wrong way: flip
    // them all but the sign.
    let bits = value.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The real that has this number by [`order`].
#[must_use]
pub fn from_order(key: i64) -> f64 {
    f64::from_bits((key ^ ((key >> 63) as u64 >> 1) as i64) as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn order_is_that_of_reals(a in prop::num::f64::NORMAL, b in prop::num::f64::NORMAL) {
            prop_assert_eq!(order(a).cmp(&order(b)), a.total_cmp(&b));
            prop_assert_eq!(from_order(order(a)).to_bits(), a.to_bits());
        }
    }
}
