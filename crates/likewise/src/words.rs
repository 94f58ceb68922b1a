//! Numbers in sentences: one way to write each.

/// A number with its thousands apart: `1,234,567`.
#[must_use]
pub fn grouped_digits(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number and what is counted: `1 burst`, `2 bursts`.
#[must_use]
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped_digits(n), if n == 1 { "" } else { "s" })
}

/// Four significant digits, without zeros at the end.
#[must_use]
pub fn short(x: f64) -> String {
    if x != 0.0 && !(1e-6..1e9).contains(&x.abs()) {
        return format!("{x:.3e}");
    }
    let digits = if x == 0.0 { 0 } else { (3 - x.abs().log10().floor() as i32).clamp(0, 12) as usize };
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Three significant digits with an SI prefix: `4.33 M`; `–` for what is no
/// number.
#[must_use]
pub fn si(value: f64) -> String {
    let size = value.abs();
    let (scale, prefix) = match size {
        _ if !value.is_finite() => return "–".to_owned(),
        1e15.. => return format!("{value:.2e}"),
        1e12.. => (1e12, " T"),
        1e9.. => (1e9, " G"),
        1e6.. => (1e6, " M"),
        1e3.. => (1e3, " k"),
        1e-3.. | 0.0 => (1.0, ""),
        _ => return format!("{value:.2e}"),
    };
    let value = value / scale;
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}{prefix}")
}

/// From so many times the whole on, a factor says more than a percentage.
pub const FAR: f64 = 5.0;

/// A factor with one decimal, or none where it is large: `12.6`, `1,258`.
#[must_use]
pub fn factor(times: f64) -> String {
    if (99.95..1e15).contains(&times) { grouped_digits(times.round() as u64) } else { format!("{times:.1}") }
}

/// A share with one decimal: `87.3%`. Of many times the whole, how many: `12.6×`.
#[must_use]
pub fn percent(share: f64) -> String {
    if share >= FAR { format!("{}×", factor(share)) } else { without_sign(format!("{:.1}%", 100.0 * share)) }
}

/// What rounds to zero has no sign.
fn without_sign(percent: String) -> String {
    if percent == "-0.0%" || percent == "-0%" { percent.replace('-', "") } else { percent }
}

/// A share without decimals, or how many times the whole: `87%`, `12.6×`.
#[must_use]
pub fn whole_percent(share: f64) -> String {
    if share >= FAR { percent(share) } else { without_sign(format!("{:.0}%", 100.0 * share)) }
}

/// By how much something is more than another: `87.3%`, or, where it is far more, how many times
/// as much it is: `a factor of 13.6`.
#[must_use]
pub fn apart(more: f64) -> String {
    if more >= FAR { format!("a factor of {}", factor(1.0 + more)) } else { percent(more) }
}

/// A share that may be tiny: `0.006%`.
#[must_use]
pub fn share_text(share: f64) -> String {
    match share * 100.0 {
        more if more >= 1.0 || more == 0.0 => percent(share),
        // Two digits that say something.
        percent => format!("{percent:.*}%", (1.0 - percent.log10().floor()).min(12.0) as usize),
    }
}

/// A share that somebody gave: `95%`.
#[must_use]
pub fn level(share: f64) -> String {
    format!("{}%", short(100.0 * share))
}

/// `4`, `4 and 6`, `4, 6 and 7`.
#[must_use]
pub fn listed<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    match &items[..] {
        [first @ .., before, last] => [first, &[format!("{before} and {last}")]].concat().join(", "),
        _ => items.join(""),
    }
}

/// The same with a capital first, to begin a sentence.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(["0", "999", "1,000", "1,234,567"], [0, 999, 1000, 1_234_567].map(grouped_digits));
        assert_eq!((counted(1, "burst"), counted(1200, "burst")), ("1 burst".into(), "1,200 bursts".into()));
        assert_eq!(["0", "0.5", "1235", "1.235e9"], [0.0, 0.5, 1234.56, 1.234_56e9].map(short));
        assert_eq!(["0.01", "0.01235", "2.700e-11"], [0.01, 0.012_345_6, 2.7e-11].map(short));
        assert_eq!(["4.33 M", "100", "0.500", "–"], [4.33e6, 100.0, 0.5, f64::NAN].map(si));
        assert_eq!(
            (percent(0.8734), share_text(0.000_06), level(0.95)),
            ("87.3%".into(), "0.0060%".into(), "95%".into())
        );
        assert_eq!(["499.0%", "5.0×", "66.1×", "1,258×"], [4.99, 5.0, 66.09, 1258.3].map(percent));
        assert_eq!(["87%", "12.6×"], [0.873, 12.58].map(whole_percent));
        assert_eq!(["30.0%", "a factor of 67.1"], [0.3, 66.091].map(apart));
        assert_eq!(["-3.0%", "NaN%"], [-0.03, f64::NAN].map(percent));
        assert_eq!(["0.0%", "0.0%", "-0.1%"], [-0.0, -0.000_4, -0.000_6].map(percent));
        assert_eq!(["0%", "0%", "-1%"], [-0.0, -0.004, -0.006].map(whole_percent));
        assert_eq!(["", "4", "4 and 6", "4, 6 and 7"], [&[][..], &[4], &[4, 6], &[4, 6, 7]].map(listed));
        assert_eq!((capital(""), capital("éa b")), (String::new(), "Éa b".into()));
    }
}
