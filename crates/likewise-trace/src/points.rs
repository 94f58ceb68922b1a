//! Numeric tables for the clustering of anything.

use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::bytes::{BLOCK, Input, Piece, Progress, Whole, line_place, lines};
use crate::error::{Error, ErrorKind, Place, Result, found, printable};
use crate::npy::{Kind, Layout, MAGIC};

/// `rows × dims` numbers, row-major; a file that holds them as they are is
/// not copied.
#[derive(Debug)]
pub struct PointsTable {
    data: Data,
    dims: usize,
    names: Vec<String>,
}

#[derive(Debug)]
enum Data {
    /// `len` numbers at byte `offset`, which is a multiple of 8.
    Map {
        map: Mmap,
        offset: usize,
        len: usize,
    },
    Owned(Vec<f64>),
}

impl PointsTable {
    /// Numbers in a row.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Names of the columns, safe to print; `x1`, `x2`, … where the file has
    /// none.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The numbers alone.
    pub(crate) fn into_numbers(self) -> Vec<f64> {
        match self.data {
            Data::Owned(numbers) => numbers,
            Data::Map { .. } => self.to_vec(),
        }
    }

    fn new(data: Data, dims: usize) -> Self {
        Self { data, dims, names: numbered(dims) }
    }
}

fn numbered(dims: usize) -> Vec<String> {
    (1..=dims).map(|i| format!("x{i}")).collect()
}

impl Deref for PointsTable {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match &self.data {
            Data::Owned(numbers) => numbers,
            Data::Map { map, offset, len } => {
                let bytes = &map[*offset..*offset + 8 * *len];
                // SAFETY: every bit pattern is an f64, and the middle part that
                // `align_to` gives is aligned and inside `bytes`; `view` saw that
                // the start is aligned, so that it is all of it.
                unsafe { bytes.align_to::<f64>() }.1
            }
        }
    }
}

/// Reads a table of numbers, one point a row: CSV (its first line may name
/// the columns), or `.npy` of one or two dimensions; plain or gzip.
///
/// # Errors
/// [`Error`] names the line and column that is no finite number, or what the
/// `.npy` has that is not read.
///
/// # Complexity
/// A `.npy` of `<f8` is mapped, not copied. CSV is read in parallel.
pub fn read_points_table(path: &Path, progress: Option<Progress<'_>>) -> Result<PointsTable> {
    let mut input = Input::open(path)?;
    let head = input.peek(4096)?;
    if head.is_empty() {
        return Err(Error::whole(path, ErrorKind::Empty("a table of numbers")));
    }
    if head.starts_with(MAGIC) {
        return npy(path, input.read_all()?);
    }
    if head[..head.len().min(4096)].contains(&0) {
        return Err(Error::whole(path, ErrorKind::RawNumbers));
    }
    let table = text(path, input, progress, BLOCK, Piece::WHOLE)?;
    Ok(table.expect("all of a file can be read"))
}

/// Reads raw little-endian `f64`, `dims` to a row.
///
/// # Errors
/// The bytes do not fill the last row.
pub fn read_raw_points(path: &Path, dims: usize) -> Result<PointsTable> {
    let whole = Input::open(path)?.read_all()?;
    if whole.starts_with(MAGIC) {
        let table = npy(path, whole)?;
        if table.dims() != dims {
            let problem = format!("this is .npy with {} columns, not {dims}", table.dims());
            return Err(Error::whole(path, ErrorKind::Table(problem)));
        }
        return Ok(table);
    }
    if dims == 0 || whole.len() % (8 * dims) != 0 {
        let problem = format!("{} bytes do not make rows of {dims} f64", whole.len());
        return Err(Error::whole(path, ErrorKind::Table(problem)));
    }
    let len = whole.len() / 8;
    Ok(PointsTable::new(view(whole, 0, len), dims))
}

fn npy(path: &Path, whole: Whole) -> Result<PointsTable> {
    let layout = Layout::parse(&whole).and_then(Layout::by_rows).map_err(|kind| Error::whole(path, kind))?;
    let len = layout.rows * layout.columns;
    if layout.kind == Kind::Float && layout.width == 8 && !layout.big_endian {
        return Ok(PointsTable::new(view(whole, layout.offset, len), layout.columns));
    }
    let numbers = whole[layout.offset..].chunks_exact(layout.width).map(|b| layout.number(b)).collect();
    Ok(PointsTable::new(Data::Owned(numbers), layout.columns))
}

/// `len` little-endian `f64` at `offset`, in place where that can be.
fn view(whole: Whole, offset: usize, len: usize) -> Data {
    match whole {
        Whole::Map(map, range)
            if cfg!(target_endian = "little")
                && (map.as_ptr() as usize + range.start + offset).is_multiple_of(align_of::<f64>()) =>
        {
            Data::Map { map, offset: range.start + offset, len }
        }
        whole => {
            let bytes = whole[offset..offset + 8 * len].chunks_exact(8);
            Data::Owned(bytes.map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
        }
    }
}

/// What stands between two numbers.
#[derive(Clone, Copy)]
enum Separator {
    Byte(u8),
    Blanks,
}

impl Separator {
    fn of(line: &[u8]) -> Self {
        let is_there = |byte: &u8| outside_quotes(line, |b| b == *byte).nth(1).is_some();
        let byte = [b',', b';', b'\t'].into_iter().find(is_there);
        byte.map_or(Separator::Blanks, Separator::Byte)
    }

    fn is(self, byte: u8) -> bool {
        match self {
            Separator::Byte(separator) => byte == separator,
            Separator::Blanks => byte.is_ascii_whitespace(),
        }
    }

    /// The cells of a line of numbers.
    fn cells(self, line: &[u8]) -> impl Iterator<Item = &[u8]> {
        self.trimmed(line.split(move |&b| self.is(b)))
    }

    /// The cells of a first line, where names may be in quotes.
    fn names(self, line: &[u8]) -> impl Iterator<Item = &[u8]> {
        self.trimmed(outside_quotes(line, move |b| self.is(b)))
    }

    fn trimmed<'l>(self, pieces: impl Iterator<Item = &'l [u8]>) -> impl Iterator<Item = &'l [u8]> {
        let keep = move |cell: &&[u8]| matches!(self, Separator::Byte(_)) || !cell.is_empty();
        pieces.filter(keep).map(<[u8]>::trim_ascii)
    }
}

/// The pieces of `line` between separators that are in no quotes; a quote
/// without its other is a letter.
fn outside_quotes(line: &[u8], is_separator: impl Fn(u8) -> bool) -> impl Iterator<Item = &[u8]> {
    let paired = memchr::memchr_iter(b'"', line).count().is_multiple_of(2);
    let mut inside = false;
    line.split(move |&b| {
        inside ^= paired && b == b'"';
        !inside && is_separator(b)
    })
}

/// A name without its quotes, of which two inside are one; safe to print.
fn unquoted(name: &[u8]) -> String {
    let inner = name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\""));
    inner.map_or_else(|| printable(name, 200), |n| printable(n, 200).replace("\"\"", "\""))
}

fn number(cell: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(cell).ok().filter(|v| v.is_finite())
}

/// The rows of a piece of a table, which may have none; nothing where the
/// input can only be read as a whole.
pub(crate) fn text(
    path: &Path,
    mut input: Input,
    progress: Option<Progress<'_>>,
    block: usize,
    piece: Piece,
) -> Result<Option<PointsTable>> {
    input.skip_mark()?;
    let line = input.take_line()?;
    let separator = Separator::of(&line);
    // A name in the first cell makes the line a header, as does none: that is
    // how an index is written. NaN or infinity is a wrong number, and so is a
    // name or nothing after a number: else a row would be lost in silence.
    let is_number = |cell: &[u8]| fast_float2::parse::<f64, _>(cell).is_ok();
    let has_header = !separator.names(&line).next().is_some_and(is_number);
    let names: Vec<String> = separator.names(&line).map(unquoted).collect();
    let names = if has_header { names } else { numbered(names.len()) };
    if names.is_empty() {
        let kind = ErrorKind::Expected { what: "numbers or names of columns".into(), found: found(&line) };
        return Err(Error::at(path, Place::Line(1), kind));
    }
    let mut numbers = Vec::new();
    if !input.keep(piece) {
        return Ok(None);
    }
    if !has_header && piece.is_first() {
        row(&line, separator, &names, &mut numbers).map_err(|kind| Error::at(path, Place::Line(1), kind))?;
    }
    let mut before = 1;
    input.for_each_block(
        block,
        progress,
        |bytes| rows(bytes, separator, &names),
        |(these, n_lines, problem)| {
            if let Some((line, kind)) = problem {
                return Err(Error::at(path, line_place(before, line), kind));
            }
            before += n_lines;
            numbers.extend_from_slice(&these);
            Ok(())
        },
    )?;
    if numbers.is_empty() && piece.is_whole() {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
    }
    Ok(Some(PointsTable { data: Data::Owned(numbers), dims: names.len(), names }))
}

type Rows = (Vec<f64>, u64, Option<(u64, ErrorKind)>);

fn rows(bytes: &[u8], separator: Separator, names: &[String]) -> Rows {
    let mut numbers = Vec::with_capacity(bytes.len() / 8);
    let mut n_lines = 0;
    for line in lines(bytes) {
        if let Err(kind) = row(line, separator, names, &mut numbers) {
            return (numbers, n_lines, Some((n_lines, kind)));
        }
        n_lines += 1;
    }
    (numbers, n_lines, None)
}

fn row(
    line: &[u8],
    separator: Separator,
    names: &[String],
    numbers: &mut Vec<f64>,
) -> std::result::Result<(), ErrorKind> {
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return Ok(());
    }
    let before = numbers.len();
    for (i, cell) in separator.cells(line).enumerate() {
        match number(cell) {
            Some(value) => numbers.push(value),
            None => {
                let name = names.get(i).cloned().unwrap_or_else(|| format!("x{}", i + 1));
                let what = "a finite number";
                return Err(ErrorKind::Cell { column: i + 1, name, what, found: found(cell) });
            }
        }
    }
    let n = numbers.len() - before;
    if n == names.len() {
        return Ok(());
    }
    let dims = names.len();
    Err(ErrorKind::Expected { what: format!("{dims} numbers as in the first line"), found: n.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::tests::file;

    fn table(name: &str, bytes: &[u8]) -> Result<PointsTable> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read_points_table(&path, None)
    }

    #[test]
    fn reads_text_with_and_without_names() {
        let t = table("a.csv", b"a,\"b\"\n1,2\n\n3.5,-4e2\r\n5,6").unwrap();
        assert_eq!((&*t, t.dims()), ([1.0, 2.0, 3.5, -400.0, 5.0, 6.0].as_slice(), 2));
        assert_eq!(t.names(), ["a", "b"]);
        let t = table("a.txt", b" 1  2\n3 4\n").unwrap();
        assert_eq!(
            (&*t, t.names()),
            ([1.0, 2.0, 3.0, 4.0].as_slice(), ["x1", "x2"].map(String::from).as_slice())
        );
        assert_eq!(&*table("a.csv", b"7\n8").unwrap(), [7.0, 8.0]);
    }

    #[test]
    fn a_first_row_that_lacks_a_number_is_no_header() {
        for bytes in [b"1,,3\n4,5,6\n".as_slice(), b"1,2,x\n4,5,6\n"] {
            let error = table("a", bytes).unwrap_err().to_string();
            assert!(error.contains("a:1: column ") && error.contains("expected a finite number"), "{error}");
        }
        assert_eq!(&*table("a", b",0,1\n7,5,6\n").unwrap(), [7.0, 5.0, 6.0]);
    }

    #[test]
    fn names_may_be_in_quotes_and_hold_separators() {
        for (head, names) in [
            ("\u{feff}\"a,b\",\"say \"\"c;d\"\"\"", ["a,b", "say \"c;d\""]),
            ("\"a,b\";c", ["a,b", "c"]),
            ("\"a b\" \"c\"", ["a b", "c"]),
            ("5\",x", ["5\"", "x"]),
            ("\"1\",\"2\"", ["1", "2"]),
        ] {
            let separator = Separator::of(head.as_bytes());
            let between = if let Separator::Byte(byte) = separator { char::from(byte) } else { ' ' };
            let t = table("a", format!("{head}\n1{between}2\n").as_bytes()).unwrap();
            assert_eq!((t.names(), &*t), (names.map(String::from).as_slice(), [1.0, 2.0].as_slice()));
        }
        let error = table("a", b"\"a,b\",c\n1,2\n3,\"4\"\n").unwrap_err().to_string();
        assert!(error.ends_with(":3: column 2 (c): expected a finite number, found '\"4\"'"), "{error}");
    }

    #[test]
    fn a_table_without_rows_says_so() {
        assert!(
            table("a", b"x,y\n").unwrap_err().to_string().ends_with("a: the table has a header but no rows")
        );
        let error = table("a", b"").unwrap_err().to_string();
        assert!(error.ends_with("the file is empty; expected a table of numbers"), "{error}");
    }

    #[test]
    fn says_where_text_is_wrong_in_any_block() {
        let mut text = String::from("a,b\n");
        for i in 0..50 {
            text.push_str(&format!("{i},{i}\n"));
        }
        text.push_str("1,x\n");
        for block in [1, 16, 1 << 20] {
            let error =
                super::text(Path::new("t"), Input::from_bytes(text.as_bytes()), None, block, Piece::WHOLE)
                    .unwrap_err();
            assert_eq!(error.to_string(), "t:52: column 2 (b): expected a finite number, found 'x'");
        }
        assert!(table("a", b"1,nan\n").unwrap_err().to_string().contains(":1: column 2"));
        assert!(table("a", b"1,2\n3\n").unwrap_err().to_string().contains(":2: expected 2 numbers"));
        assert!(table("a", b"\0\0").unwrap_err().to_string().contains("number of columns"));
    }

    #[test]
    fn a_mapped_npy_is_not_copied() {
        let data: Vec<u8> = [1.0f64, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let t = table("a.npy", &file("<f8", "(2, 2)", &data)).unwrap();
        assert_eq!((&*t, t.dims()), ([1.0, 2.0, 3.0, 4.0].as_slice(), 2));
        assert!(matches!(t.data, Data::Map { .. }));
        let t = table("a.npy", &file("<i2", "(2,)", &[1, 0, 255, 255])).unwrap();
        assert_eq!((&*t, t.dims()), ([1.0, -1.0].as_slice(), 1));
    }

    #[test]
    fn reads_raw_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.f64");
        std::fs::write(&path, [1.5f64.to_le_bytes(), (-2.0f64).to_le_bytes()].concat()).unwrap();
        assert_eq!(&*read_raw_points(&path, 2).unwrap(), [1.5, -2.0]);
        assert!(read_raw_points(&path, 3).is_err() && read_raw_points(&path, 0).is_err());
    }
}
