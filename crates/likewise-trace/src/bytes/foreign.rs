//! Files of formats that are not read here, recognised by their first bytes.

use super::Input;
use crate::error::{Error, ErrorKind, Result};

/// What to do with UTF-16.
const TO_UTF_8: &str =
    "convert it first: iconv -f UTF-16 -t UTF-8 FILE > FILE.utf8, and put it in the place of FILE";

/// Bytes that are looked at.
const LOOKED_AT: usize = 4096;

/// First bytes of a format, what it is, and what to do about it; `FILE` there
/// stands for the path.
const FORMATS: [(&[u8], &str, &str); 13] = [
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it first: zstd -d FILE"),
    (b"\xfd7zXZ\0", "compressed by xz", "unpack it first: xz -dk FILE"),
    (b"BZh", "compressed by bzip2", "unpack it first: bzip2 -dk FILE"),
    (b"\x04\x22\x4d\x18", "compressed by lz4", "unpack it first: lz4 -d FILE"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first: 7z x FILE"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file", "save the sheet as CSV"),
    (
        b"\x89HDF\r\n\x1a\n",
        "HDF5",
        "write the table as CSV or Parquet, such as by pandas: pd.read_hdf('FILE').to_csv('table.csv', index=False)",
    ),
    (
        b"ARROW1",
        "an Arrow (Feather) file",
        "write it as Parquet: pd.read_feather('FILE').to_parquet('table.parquet')",
    ),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "write a table of it as CSV: sqlite3 -header -csv FILE 'select * from TABLE'",
    ),
    (b"\xff\xfe", "text in UTF-16", TO_UTF_8),
    (b"\xfe\xff", "text in UTF-16", TO_UTF_8),
    (b"Obj\x01", "Avro", "write it as CSV or Parquet"),
    (b"ORC", "ORC", "write it as Parquet: pd.read_orc('FILE').to_parquet('table.parquet')"),
];

/// What stands in the place of a large file in a clone without Git LFS.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

impl Input {
    /// Opens a file of which the format is known by its first bytes.
    ///
    /// # Errors
    /// It cannot be read, or it is of a known format that nothing here reads;
    /// the error says what to do.
    pub(crate) fn open_known(path: &std::path::Path) -> Result<Self> {
        let mut input = Self::open(path)?;
        let head = input.peek(LOOKED_AT)?;
        match foreign(&head[..head.len().min(LOOKED_AT)]) {
            None => Ok(input),
            Some((what, remedy)) => {
                let file = if super::is_stdin(path) { "FILE".to_owned() } else { path.display().to_string() };
                let problem = format!("this is {what}; {}", remedy.replace("FILE", &file));
                Err(Error::whole(path, ErrorKind::Table(problem)))
            }
        }
    }
}

/// What a file that begins so is, and what to do.
fn foreign(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if let Some((_, what, remedy)) = FORMATS.iter().find(|(magic, ..)| head.starts_with(magic)) {
        // Text may begin with the letters of a magic number.
        let is_text = head.is_ascii() && !head.contains(&0) && !magic_is_long(head);
        return (!is_text).then_some((*what, *remedy));
    }
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    if head.starts_with(LFS) {
        return Some((
            "a pointer of Git LFS, and not the file itself",
            "fetch that in the clone: git lfs pull (or copy the file from where the pointer was made)",
        ));
    }
    if head.starts_with(b"PK\x03\x04") {
        return Some(if has(b"[Content_Types].xml") || has(b"xl/") || has(b"_rels/") {
            (
                "an Excel workbook (.xlsx)",
                "save the sheet as CSV, or by pandas: pd.read_excel('FILE').to_csv('table.csv', index=False)",
            )
        } else if has(b"opendocument.spreadsheet") {
            ("an OpenDocument spreadsheet (.ods)", "save the sheet as CSV")
        } else if has(b".npy") {
            (
                "NumPy's archive of arrays (.npz)",
                "write one array of it: np.save('table.npy', np.load('FILE')['NAME'])",
            )
        } else {
            ("a zip archive", "unpack it first: unzip FILE")
        });
    }
    if head.trim_ascii_start().starts_with(b"{") || begins_json_list(head) {
        return Some(if has(b"papi_version") || has(b"\"PAPI_") || has(b"real_time_nsec") {
            (
                "PAPI's JSON",
                "make a CSV of it with the columns site,rank,event,value; docs/formats.md has a script that does",
            )
        } else {
            (
                "JSON",
                "write it as CSV or Parquet, such as by pandas: pd.read_json('FILE').to_csv('table.csv', index=False)",
            )
        });
    }
    None
}

/// Whether the first bytes are more than a few letters that a name may begin with.
fn magic_is_long(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3") || head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY")
}

/// Whether text begins with `[` and then a value of JSON.
fn begins_json_list(head: &[u8]) -> bool {
    let Some(rest) = head.trim_ascii_start().strip_prefix(b"[") else { return false };
    matches!(rest.trim_ascii_start().first(), Some(b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_first_bytes() {
        for (head, what) in [
            (&b"\x28\xb5\x2f\xfd\x24\x05"[..], "compressed by zstd"),
            (b"\xfd7zXZ\0\0\x04", "compressed by xz"),
            (b"BZh91AY&SY\x8f", "compressed by bzip2"),
            (b"PK\x03\x04\x14\0\0\0\x08\0[Content_Types].xml", "an Excel workbook (.xlsx)"),
            (b"PK\x03\x04\x14\0\0\0\x08\0a.npy", "NumPy's archive of arrays (.npz)"),
            (b"PK\x03\x04\x14\0\0\0\x08\0a.csv", "a zip archive"),
            (b"{\n  \"papi_version\": \"7.1.0.0\",", "PAPI's JSON"),
            (b"[{\"a\": 1}]", "JSON"),
            (b"\xff\xfea\0,\0", "text in UTF-16"),
            (b"ARROW1\0\0", "an Arrow (Feather) file"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:3ab0\nsize 246459\n",
                "a pointer of Git LFS, and not the file itself",
            ),
        ] {
            assert_eq!(foreign(head).map(|(told, _)| told), Some(what));
        }
        for text in [&b"BZhere,b\n1,2\n"[..], b"ORC,b\n1,2\n", b"[1],2\n", b"", b"PAR1\0"] {
            assert_eq!(foreign(text), None);
        }
    }
}
