//! Reals as whole numbers, for the least and the greatest of all ranks.

/// A whole number per real, in the same order.
#[must_use]
pub fn order(value: f64) -> i64 {
    // Of all reals, those below 0 reversed.
    let bits = value.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The real that [`order`] gave this for.
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
