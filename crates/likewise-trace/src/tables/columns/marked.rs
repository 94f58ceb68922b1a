//! Numbers as people write them: `3,267,097`, `3.3%`, `4.96e-01 s`.

use crate::tables::dialect::{Dialect, Separator};

/// A longer text behind a number is no unit.
const LONGEST_UNIT: usize = 12;

/// A number, and what is written around it.
#[derive(Debug, PartialEq)]
pub(super) struct Marked<'c> {
    pub(super) value: f64,
    /// Thousands are set apart.
    pub(super) is_grouped: bool,
    /// What stands behind it.
    pub(super) unit: &'c str,
}

/// A number with marks between its thousands, or with a percent sign or a unit
/// behind it; `None` for any other text.
pub(super) fn marked(cell: &[u8], dialect: Dialect) -> Option<Marked<'_>> {
    let cell = std::str::from_utf8(cell).ok()?;
    let length = number_length(cell.as_bytes(), dialect);
    let (number, unit) = cell.split_at(length);
    let unit = unit.trim_start();
    let is_unit = |c: char| c.is_alphabetic() || matches!(c, '%' | '/' | '°' | '·');
    let begins = unit.chars().next().is_none_or(|c| c.is_alphabetic() || matches!(c, '%' | '°'));
    if !begins || !unit.chars().all(is_unit) || unit.chars().count() > LONGEST_UNIT {
        return None;
    }
    if let Some(value) = dialect.number(number.as_bytes()).filter(|x| x.is_finite()) {
        return Some(Marked { value, is_grouped: false, unit });
    }
    Some(Marked { value: grouped(number, dialect)?, is_grouped: true, unit })
}

/// Bytes of the sign, digits, points, commas and exponent at the begin.
fn number_length(cell: &[u8], dialect: Dialect) -> usize {
    let sign = usize::from(matches!(cell.first(), Some(b'-' | b'+')));
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',');
    let mut length = sign + cell[sign..].iter().take_while(|byte| is_part(byte)).count();
    if let Some(b'e' | b'E') = cell.get(length) {
        let signed = usize::from(matches!(cell.get(length + 1), Some(b'-' | b'+')));
        let digits = cell[length + 1 + signed..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let with_exponent = length + 1 + signed + digits;
        if digits > 0 && dialect.number(&cell[..with_exponent]).is_some() {
            length = with_exponent;
        }
    }
    length
}

/// A number with commas between its thousands. If the separator of cells is no
/// comma, a single comma could also be a decimal point, so it does not count.
fn grouped(number: &str, dialect: Dialect) -> Option<f64> {
    let (mark, point) = if dialect.decimal_comma { ('.', ',') } else { (',', '.') };
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    let (whole, fraction) = digits.split_once(point).map_or((digits, None), |(w, f)| (w, Some(f)));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(mark);
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let fits = all_digits(first)
        && first.len() <= 3
        && !first.starts_with('0')
        && !rest.is_empty()
        && rest.iter().all(|group| group.len() == 3 && all_digits(group))
        && fraction.is_none_or(|fraction| fraction.is_empty() || all_digits(fraction));
    let is_sure = rest.len() > 1 || fraction.is_some() || dialect.separator == Separator::Byte(b',');
    if !fits || !is_sure {
        return None;
    }
    let plain: String =
        number.chars().filter(|c| *c != mark).map(|c| if c == point { '.' } else { c }).collect();
    fast_float2::parse(plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAS: Dialect = Dialect { separator: Separator::Byte(b','), decimal_comma: false };
    const TABS: Dialect = Dialect { separator: Separator::Byte(b'\t'), decimal_comma: false };
    const GERMAN: Dialect = Dialect { separator: Separator::Byte(b';'), decimal_comma: true };

    #[test]
    fn numbers_as_people_write_them() {
        for (dialect, cell, value, is_grouped, unit) in [
            (COMMAS, "3,267,097", 3_267_097.0, true, ""),
            (COMMAS, "-1,234.5", -1234.5, true, ""),
            (COMMAS, "3.3%", 3.3, false, "%"),
            (COMMAS, "4.96e-01 s", 0.496, false, "s"),
            (COMMAS, "12 MB/s", 12.0, false, "MB/s"),
            (COMMAS, "5e", 5.0, false, "e"),
            (COMMAS, "7µs", 7.0, false, "µs"),
            (TABS, "3,267,097", 3_267_097.0, true, ""),
            (TABS, "3,267.5", 3267.5, true, ""),
            (GERMAN, "3.267,5 ms", 3267.5, true, "ms"),
            (GERMAN, "2,5 ms", 2.5, false, "ms"),
        ] {
            assert_eq!(marked(cell.as_bytes(), dialect), Some(Marked { value, is_grouped, unit }), "{cell}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for (dialect, cell) in [
            (COMMAS, "main"),
            (COMMAS, ""),
            (COMMAS, "%"),
            (COMMAS, "0x1F"),
            (COMMAS, "1.2.3"),
            (COMMAS, "12:30"),
            (COMMAS, "2024-01-02"),
            (COMMAS, "0,123"),
            (COMMAS, "1,23"),
            (COMMAS, "1,2345"),
            (COMMAS, "3 a b"),
            (COMMAS, "inf s"),
            (TABS, "3,267"),
            (GERMAN, "3.267"),
            (GERMAN, "3,267,097"),
        ] {
            assert_eq!(marked(cell.as_bytes(), dialect), None, "{cell}");
        }
    }
}
