//! The files of an analysis of bursts.

pub(crate) mod bursts_csv;
#[cfg(feature = "parquet")]
pub(crate) mod bursts_parquet;
pub(crate) mod clusters_csv;
pub(crate) mod compat;
pub(crate) mod counters;
pub(crate) mod findings;
pub(crate) mod gnuplot;
pub(crate) mod grouped;
pub(crate) mod label;
pub(crate) mod period;
pub(crate) mod ranks;
pub(crate) mod refinement;
pub(crate) mod regions_csv;
pub(crate) mod representatives_csv;
pub(crate) mod runs;
pub(crate) mod spmd;
pub(crate) mod summary;

/// Appends a number in the shortest form that reads back the same; nothing
/// for NaN.
pub(crate) fn push_number(value: f64, buffer: &mut Vec<u8>) {
    // Counts are the rule, and integers are much faster to write. (`trunc` may
    // be a call of a function.)
    let whole = value as i64;
    if whole as f64 == value && value.abs() < 9e15 {
        buffer.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
    } else if !value.is_nan() {
        buffer.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::push_number;

    #[test]
    fn numbers_are_short_and_exact() {
        let text = |x| {
            let mut buffer = Vec::new();
            push_number(x, &mut buffer);
            String::from_utf8(buffer).expect("digits")
        };
        assert_eq!(text(4329544.0), "4329544");
        assert_eq!(text(0.1), "0.1");
        assert_eq!(text(-3.0), "-3");
        assert_eq!(text(-0.0), "0");
        assert_eq!(text(f64::INFINITY), "inf");
        assert_eq!(text(f64::NAN), "");
        for x in [1e300, 1.025362e-7, 9.1e15, 1.0 / 3.0] {
            assert_eq!(text(x).parse(), Ok(x));
        }
    }
}
