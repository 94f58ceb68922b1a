//! NumPy's `.npy`: a small header in Python syntax, then the numbers.

use crate::error::ErrorKind;

/// First bytes of every `.npy`.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Float,
    Signed,
    Unsigned,
}

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) kind: Kind,
    /// Bytes of one number.
    pub(crate) width: usize,
    pub(crate) big_endian: bool,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Column by column instead of row by row.
    pub(crate) fortran: bool,
    /// Where the numbers begin.
    pub(crate) offset: usize,
}

fn wrong(problem: &str) -> ErrorKind {
    ErrorKind::Table(format!("wrong .npy: {problem}"))
}

impl Layout {
    /// Reads the header at the start of `bytes`, and checks that the numbers
    /// that it claims are there.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ErrorKind> {
        let cut = || wrong("the file ends within its header");
        let version = *bytes.get(MAGIC.len()).ok_or_else(cut)?;
        let (length, start) = match version {
            1 => {
                let field = bytes.get(8..10).ok_or_else(cut)?;
                (usize::from(u16::from_le_bytes([field[0], field[1]])), 10)
            }
            2 | 3 => {
                let field = bytes.get(8..12).ok_or_else(cut)?;
                (u32::from_le_bytes([field[0], field[1], field[2], field[3]]) as usize, 12)
            }
            other => return Err(wrong(&format!("version {other}; 1, 2 and 3 are known"))),
        };
        let offset = length.checked_add(start).ok_or_else(cut)?;
        let header = bytes.get(start..offset).ok_or_else(cut)?;
        let header = String::from_utf8_lossy(header);
        let descr = value(&header, "descr").ok_or_else(|| wrong("its header has no 'descr'"))?;
        let (kind, width, big_endian) = number_type(descr)?;
        let fortran = value(&header, "fortran_order").is_some_and(|v| v.starts_with("True"));
        let shape = value(&header, "shape").ok_or_else(|| wrong("its header has no 'shape'"))?;
        let (rows, columns) = dimensions(shape)?;
        let there = bytes.len() - offset;
        let needed = rows.checked_mul(columns).and_then(|n| n.checked_mul(width));
        if needed != Some(there) {
            let claim =
                format!("it claims {rows} × {columns} numbers of {width} bytes and holds {there} bytes");
            return Err(wrong(&claim));
        }
        Ok(Self { kind, width, big_endian, rows, columns, fortran, offset })
    }

    /// Refuses an array that is stored column by column.
    pub(crate) fn by_rows(self) -> Result<Self, ErrorKind> {
        if self.fortran {
            return Err(wrong("it is in Fortran order; save numpy.ascontiguousarray(x)"));
        }
        Ok(self)
    }

    /// One number out of its bytes.
    pub(crate) fn number(&self, bytes: &[u8]) -> f64 {
        let mut wide = [0u8; 8];
        for (i, to) in wide[..self.width].iter_mut().enumerate() {
            *to = if self.big_endian { bytes[self.width - 1 - i] } else { bytes[i] };
        }
        let bits = u64::from_le_bytes(wide);
        let shift = 64 - 8 * self.width as u32;
        match (self.kind, self.width) {
            (Kind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (Kind::Float, _) => f64::from_bits(bits),
            (Kind::Signed, _) => ((bits << shift).cast_signed() >> shift) as f64,
            (Kind::Unsigned, _) => bits as f64,
        }
    }
}

/// What follows `'key':` in the header's dictionary.
fn value<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let after = quoted.iter().find_map(|q| header.find(q).map(|at| &header[at + q.len()..]))?;
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}

fn number_type(descr: &str) -> Result<(Kind, usize, bool), ErrorKind> {
    let text: String = descr.chars().skip(1).take_while(|c| !matches!(c, '\'' | '"')).take(12).collect();
    let unknown = || {
        wrong(&format!("numbers of type '{text}'; f4, f8 and integers are read (x.astype('<f8') converts)"))
    };
    let mut chars = text.chars();
    let order = chars.next().ok_or_else(unknown)?;
    let kind = match chars.next() {
        Some('f') => Kind::Float,
        Some('i') => Kind::Signed,
        Some('u') => Kind::Unsigned,
        _ => return Err(unknown()),
    };
    let width = match (chars.as_str(), kind) {
        ("8", _) => 8,
        ("4", _) => 4,
        ("2", Kind::Signed | Kind::Unsigned) => 2,
        ("1", Kind::Signed | Kind::Unsigned) => 1,
        _ => return Err(unknown()),
    };
    match order {
        '<' | '|' | '=' => Ok((kind, width, false)),
        '>' => Ok((kind, width, true)),
        _ => Err(unknown()),
    }
}

fn dimensions(shape: &str) -> Result<(usize, usize), ErrorKind> {
    let inner = shape.strip_prefix('(').and_then(|s| s.split_once(')')).map(|(inner, _)| inner);
    let parts = inner.unwrap_or_default().split(',').map(str::trim).filter(|p| !p.is_empty());
    let sizes: Option<Vec<usize>> = parts.take(9).map(|p| p.parse().ok()).collect();
    match sizes.as_deref() {
        Some(&[n]) => Ok((n, 1)),
        Some(&[n, d]) => Ok((n, d)),
        _ => Err(wrong("its shape is not n or n × d")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
        while (header.len() + 11) % 64 != 0 {
            header.push(b' ');
        }
        header.push(b'\n');
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header);
        bytes.extend(data);
        bytes
    }

    #[test]
    fn reads_every_kind_of_number() {
        let first = |descr: &str, data: &[u8]| {
            let bytes = file(descr, "(1,)", data);
            let layout = Layout::parse(&bytes).unwrap();
            layout.number(&bytes[layout.offset..])
        };
        assert_eq!(first("<f8", &(-1.5f64).to_le_bytes()), -1.5);
        assert_eq!(first(">f8", &(-1.5f64).to_be_bytes()), -1.5);
        assert_eq!(first("<f4", &0.25f32.to_le_bytes()), 0.25);
        assert_eq!(first("<i8", &(-7i64).to_le_bytes()), -7.0);
        assert_eq!(first(">i2", &(-7i16).to_be_bytes()), -7.0);
        assert_eq!(first("|u1", &[200]), 200.0);
        assert_eq!(first("|i1", &[200]), -56.0);
    }

    #[test]
    fn says_what_is_wrong() {
        for (descr, shape, said) in [
            ("<c16", "(1,)", "numbers of type '<c16'"),
            ("<f8", "(1, 2, 3)", "its shape is not n or n × d"),
            ("<f8", "(999999999999, 2)", "claims 999999999999 × 2 numbers of 8 bytes and holds 8 bytes"),
            ("<f8", "(2, 1)", "holds 8 bytes"),
            ("|O", "(1,)", "numbers of type '|O'"),
        ] {
            let error = Layout::parse(&file(descr, shape, &[0; 8])).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(Layout::parse(b"\x93NUMPY\x01\x00\xff\xff{").is_err());
    }
}
