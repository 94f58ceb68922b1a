//! Numeric tables for the clustering of anything.

use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::bytes::{BLOCK, Input, Piece, Progress, Whole, line_place, lines};
use crate::error::{Error, ErrorKind, Place, Result, found};
use crate::tables::dialect::{Dialect, Head};
use crate::tables::npy::{Kind, Layout, MAGIC};
use crate::tables::parquet::MAGIC as PARQUET;
use crate::tables::rows;
use crate::taken::{Taken, index_fault, is_unnamed, name_or_place};

/// `rows × dims` numbers, row-major. A file that holds exactly these bytes is
/// mapped, not copied.
#[derive(Debug)]
pub struct PointsTable {
    data: Data,
    dims: usize,
    names: Vec<String>,
    taken: Taken,
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

    /// What became of the columns.
    #[must_use]
    pub fn taken(&self) -> &Taken {
        &self.taken
    }

    /// Leaves out the index of a data frame, and names columns without a name.
    fn leave_index_out(&mut self) {
        let dims = self.dims;
        let unnamed = self.names.iter().position(|name| is_unnamed(name)).filter(|_| dims > 1);
        let of = |at| self.iter().skip(at).step_by(dims).copied().collect::<Vec<f64>>();
        let why = unnamed.and_then(|at| index_fault(&of(at)));
        if let (Some(place), Some(why)) = (unnamed, why) {
            self.taken.leave_out(&name_or_place(&self.names.remove(place), place), why);
            let kept = self.iter().enumerate().filter(|(at, _)| at % dims != place);
            self.data = Data::Owned(kept.map(|(_, number)| *number).collect());
            self.dims -= 1;
        }
        for (at, name) in self.names.iter_mut().enumerate() {
            *name = name_or_place(name, at);
            self.taken.push(name);
        }
    }

    /// The numbers alone.
    pub(crate) fn into_numbers(self) -> Vec<f64> {
        match self.data {
            Data::Owned(numbers) => numbers,
            Data::Map { .. } => self.to_vec(),
        }
    }

    fn new(data: Data, dims: usize) -> Self {
        let names = numbered(dims);
        let taken = Taken::new(names.iter().map(String::as_str));
        Self { data, dims, names, taken }
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
                // SAFETY: every bit pattern is an f64. The middle part that
                // `align_to` gives is aligned and inside `bytes`; `view` checked
                // that the start is aligned, so this part is all of it.
                unsafe { bytes.align_to::<f64>() }.1
            }
        }
    }
}

/// Reads a table of numbers, one point a row: text (its first line may name
/// the columns), Parquet, or `.npy` of one or two dimensions; plain or gzip.
/// The index of a data frame is left out.
///
/// # Errors
/// [`Error`] names the line and column that is no finite number, or what the
/// `.npy` has that is not read.
///
/// # Complexity
/// A `.npy` of `<f8` is mapped, not copied. CSV is read in parallel.
pub fn read_points_table(path: &Path, progress: Option<Progress<'_>>) -> Result<PointsTable> {
    let mut input = Input::open_known(path)?;
    let head = input.peek(4096)?;
    if head.is_empty() {
        return Err(Error::whole(path, ErrorKind::Empty("a table of numbers")));
    }
    if head.starts_with(MAGIC) {
        return npy(path, input.read_all()?);
    }
    if head.starts_with(PARQUET) {
        #[cfg(not(feature = "parquet"))]
        return Err(crate::tables::parquet::not_built(path));
        #[cfg(feature = "parquet")]
        return of_parquet(path, input);
    }
    // Text has no zero byte, so these must be numbers as they are in memory.
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
    // The header of a .npy knows the shape, so `dims` is only compared with it.
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

/// Every column is a coordinate.
#[cfg(feature = "parquet")]
fn of_parquet(path: &Path, input: Input) -> Result<PointsTable> {
    crate::tables::parquet::read::with_table(path, input, |file| {
        let names = crate::tables::bursts::parquet::names(file);
        let finite = |value: Option<crate::tables::parquet::read::Value<'_>>| {
            let number = value.and_then(|value| value.number()).filter(|number| number.is_finite());
            number.ok_or("expected a finite number in every row")
        };
        let columns = (0..names.len()).map(|at| file.collected(at, finite)).collect::<Result<Vec<_>>>()?;
        let n_rows = columns.first().map_or(0, Vec::len);
        if n_rows == 0 {
            return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
        }
        let numbers = (0..n_rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        let data = Data::Owned(numbers);
        let mut table = PointsTable { data, dims: names.len(), names, taken: Taken::default() };
        table.leave_index_out();
        Ok(table)
    })
}

fn npy(path: &Path, whole: Whole) -> Result<PointsTable> {
    let layout = Layout::parse(&whole).and_then(Layout::by_rows).map_err(|kind| Error::whole(path, kind))?;
    let len = layout.rows * layout.columns;
    // These are the bytes that f64 has in memory, so they need no conversion.
    if layout.kind == Kind::Float && layout.width == 8 && !layout.big_endian {
        return Ok(PointsTable::new(view(whole, layout.offset, len), layout.columns));
    }
    let numbers = whole[layout.offset..].chunks_exact(layout.width).map(|b| layout.number(b)).collect();
    Ok(PointsTable::new(Data::Owned(numbers), layout.columns))
}

/// `len` little-endian `f64` at `offset`; in place if alignment and byte order allow it.
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

/// The rows of a piece of a table, which may have none. `None` if the input
/// can only be read as a whole.
pub(crate) fn text(
    path: &Path,
    mut input: Input,
    progress: Option<Progress<'_>>,
    block: usize,
    piece: Piece,
) -> Result<Option<PointsTable>> {
    let head = Head::take(&mut input)?;
    let has_names = head.has_names();
    let dialect = head.dialect;
    let mut names = head.names();
    let (mut numbers, mut before) = (Vec::new(), head.n_before);
    let mut line = Vec::new();
    if head.comment().is_none() {
        line = input.take_line()?;
        before += 1;
        // The line may be longer than what was looked at.
        names = dialect.names(&line);
        names.splice(0..0, head.is_short().then(String::new));
    }
    let names = if has_names { names } else { numbered(names.len()) };
    if names.is_empty() {
        let kind = ErrorKind::Expected { what: "numbers or names of columns".into(), found: found(&line) };
        return Err(Error::at(path, Place::Line(before.max(1)), kind));
    }
    let has_index = has_names && names.iter().any(|name| is_unnamed(name));
    if has_index && !piece.is_whole() || !input.keep(piece) {
        return Ok(None);
    }
    let reader = RowReader { dialect, names: &names };
    if !has_names && piece.is_first() {
        reader.row(&line, &mut numbers).map_err(|kind| Error::at(path, Place::Line(before), kind))?;
    }
    let mut n_comments = head.n_comments;
    input.for_each_block(
        block,
        progress,
        |bytes| reader.rows(bytes),
        |block| {
            if let Some((line, kind)) = block.problem {
                return Err(Error::at(path, line_place(before, line), kind));
            }
            before += block.n_lines;
            n_comments += block.n_comments;
            numbers.extend_from_slice(&block.numbers);
            Ok(())
        },
    )?;
    if numbers.is_empty() && piece.is_whole() {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
    }
    if !has_names && piece.is_first() && are_names(&numbers, names.len()) {
        let last = names.len() - 1;
        let shown =
            if last > 2 { format!("0, 1, 2, …, {last}") } else { ["0, 1", "0, 1, 2"][last - 1].to_owned() };
        let problem = format!(
            "its first line is {shown}: if these are names of columns, give others, such as x0; if they are numbers, \
             put a line of names over them"
        );
        return Err(Error::at(path, Place::Line(head.n_before + 1), ErrorKind::Table(problem)));
    }
    let mut table =
        PointsTable { data: Data::Owned(numbers), dims: names.len(), names, taken: Taken::default() };
    table.leave_index_out();
    table.taken.notes = rows::notes(dialect, n_comments);
    Ok(Some(table))
}

/// With at least this many columns, numbers that count from 0 look like names
/// that a program wrote.
const NAMES: usize = 8;

/// Whether the first row is 0, 1, 2, …, and may therefore be a row of names:
/// if there are many columns, or if other rows have fractions.
fn are_names(numbers: &[f64], dims: usize) -> bool {
    let (first, rest) = numbers.split_at(dims.min(numbers.len()));
    let counts = (0..).zip(first).all(|(at, x)| *x == f64::from(at));
    dims > 1 && counts && (dims >= NAMES || rest.iter().any(|x| x.fract() != 0.0))
}

/// Makes numbers of lines.
struct RowReader<'a> {
    dialect: Dialect,
    names: &'a [String],
}

#[derive(Default)]
struct Block {
    numbers: Vec<f64>,
    n_lines: u64,
    n_comments: u64,
    /// The line, from 0.
    problem: Option<(u64, ErrorKind)>,
}

impl RowReader<'_> {
    fn rows(&self, bytes: &[u8]) -> Block {
        let mut block = Block { numbers: Vec::with_capacity(bytes.len() / 8), ..Block::default() };
        for line in lines(bytes) {
            if line.starts_with(b"#") {
                block.n_comments += 1;
            } else if let Err(kind) = self.row(line, &mut block.numbers) {
                block.problem = Some((block.n_lines, kind));
                return block;
            }
            block.n_lines += 1;
        }
        block
    }

    fn row(&self, line: &[u8], numbers: &mut Vec<f64>) -> std::result::Result<(), ErrorKind> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let before = numbers.len();
        for (i, cell) in self.dialect.cells(line).enumerate() {
            match self.dialect.number(cell).filter(|number| number.is_finite()) {
                Some(value) => numbers.push(value),
                None => {
                    let name = self.names.get(i).filter(|name| !name.is_empty());
                    let name = name.cloned().unwrap_or_else(|| format!("x{}", i + 1));
                    let what = "a finite number";
                    return Err(ErrorKind::Cell { column: i + 1, name, what, found: found(cell) });
                }
            }
        }
        let (n, dims) = (numbers.len() - before, self.names.len());
        if n == dims {
            return Ok(());
        }
        Err(ErrorKind::Expected {
            what: format!("{dims} numbers as in the first line"),
            found: n.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::dialect::Separator;
    use crate::tables::npy::tests::file;

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
        assert_eq!(&*table("a", b",0,1\n7,5,6\n").unwrap(), [5.0, 6.0]);
        assert_eq!(&*table("a", b",a,b\n7.5,5,6\n").unwrap(), [7.5, 5.0, 6.0]);
        for bytes in
            [b"12.5x,13\n14,15\n".as_slice(), b"x,13\n14,15\n", b"12.5x,13 ms\n14,15\n", b"12.5x\n14\n"]
        {
            let error = table("a", bytes).unwrap_err().to_string();
            assert!(error.contains("a:1: column 1 (x1): expected a finite number"), "{error}");
        }
        assert_eq!(&*table("a", b"rank,0,1\n7,5,6\n").unwrap(), [7.0, 5.0, 6.0]);
        let error = table("a", b"0,1\n7.5,5\n").unwrap_err().to_string();
        assert!(error.contains("a:1: its first line is 0, 1: if these are names"), "{error}");
        assert_eq!(table("a", b"0,1\n7,5\n").unwrap().len(), 4);
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
            let separator = Head::of(head.as_bytes()).unwrap().dialect.separator;
            let between = if let Separator::Byte(byte) = separator { char::from(byte) } else { ' ' };
            let t = table("a", format!("{head}\n1{between}2\n").as_bytes()).unwrap();
            assert_eq!((t.names(), &*t), (names.map(String::from).as_slice(), [1.0, 2.0].as_slice()));
        }
        assert_eq!(&*table("a", b"\"a,b\",c\n1,2\n3,\"4\"\n").unwrap(), [1.0, 2.0, 3.0, 4.0]);
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
