//! What is a column of numbers, and what is told of a table that is none.

use std::io::Write;

use super::*;

pub(super) fn of(bytes: &[u8], keys: &[&str]) -> std::result::Result<ColumnTable, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
    read_columns(file.path(), &keys, None).map_err(|error| {
        let text = error.to_string();
        text.strip_prefix(&file.path().display().to_string()).unwrap_or(&text).to_owned()
    })
}

pub(super) fn numbers(table: &ColumnTable, name: &str) -> Vec<Option<f64>> {
    let (_, numbers) = table.numbers().find(|(known, _)| *known == name).expect("a column of numbers");
    numbers.iter().map(|&x| (!x.is_nan()).then_some(x)).collect()
}

#[test]
fn cells_are_numbers_texts_or_missing() {
    let csv = b"\xef\xbb\xbfsite,CYC, INS ,note,none\r\na,,1e3,,\r\n\"b, c\",NaN,-2,x,NA\nd,7,na,3,\n";
    assert!(
        of(csv, &[]).unwrap_err().contains(":4: column 3 (INS): expected a number, as above it, found 'na'")
    );
    let csv = b"\xef\xbb\xbfsite,CYC, INS ,note,none\r\na,,1e3,,\r\n\"b, c\",NaN,-2,x,NA\nd,7,N/A,3,\n";
    let table = of(csv, &[]).unwrap();
    assert_eq!(table.n_rows, 3);
    assert_eq!(numbers(&table, "CYC"), [None, None, Some(7.0)]);
    assert_eq!(numbers(&table, "INS"), [Some(1000.0), Some(-2.0), None]);
    assert_eq!(numbers(&table, "none"), [None; 3]);
    let texts: Vec<(&str, &[String])> = table.texts().collect();
    assert_eq!(texts[0], ("site", &["a".to_owned(), "b, c".into(), "d".into()][..]));
    assert_eq!(texts[1], ("note", &[String::new(), "x".into(), "3".into()][..]));
}

#[test]
fn keys_are_texts() {
    let table = of(b"run,x\n007,1\n8,2\n", &["run"]).unwrap();
    assert_eq!(table.texts().next().unwrap().1, ["007", "8"]);
    assert!(of(b"run,x\n007,1\n", &["job"]).unwrap_err().contains("no column 'job'"));
}

#[test]
fn long_tables_get_a_column_for_each_event() {
    let table = of(b"event,site,value\nCYC,b,1\nINS,b,2\nCYC,a,3\n", &[]).unwrap();
    assert_eq!(table.texts().next().unwrap().1, ["b", "a"]);
    assert_eq!(numbers(&table, "CYC"), [Some(1.0), Some(3.0)]);
    assert_eq!(numbers(&table, "INS"), [Some(2.0), None]);
    let twice = of(b"event,site,value\nCYC,b,1\nCYC,b,2\n", &[]).unwrap_err();
    assert!(twice.contains("row 2"), "{twice}");
}

#[test]
fn long_tables_are_not_believed_to_be_full() {
    let sparse = |n: usize| {
        let rows: String = (0..n).map(|i| format!("s{i},e{i},{i}\n")).collect();
        format!("site,event,value\n{rows}")
    };
    let error = of(sparse(5000).as_bytes(), &[]).unwrap_err();
    assert!(error.contains("5000 sites and 5000 events would make a table of 25000000 cells"), "{error}");
    assert_eq!(of(sparse(50).as_bytes(), &[]).unwrap().columns.len(), 51);
}

#[test]
fn numbers_are_names_behind_an_empty_cell() {
    let table = of(b",0,1\n0,0,5\n1,5,0\n", &[]).unwrap();
    assert_eq!(
        table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["column 1", "0", "1"]
    );
}

#[test]
fn columns_of_npy_are_numbered() {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";
    let mut bytes =
        [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    bytes.extend([1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0].iter().flat_map(|x: &f64| x.to_le_bytes()));
    let table = of(&bytes, &[]).unwrap();
    assert_eq!(table.columns.len(), 3);
    assert_eq!(numbers(&table, "2"), [None, Some(6.0)]);
    bytes.pop();
    assert!(of(&bytes, &[]).is_err());
}

#[test]
fn what_is_no_table_is_told() {
    for (bytes, told) in [
        (b"".as_slice(), "the file is empty"),
        (b"a,b\n", "header but no rows"),
        (b"1,2\n3,4\n", ":1: expected the names of the columns"),
        (b"a,a\n1,2\n", ":1: two columns are called 'a'"),
        (b"a,b\n1\n", ":2: expected 2 cells"),
        (b"a;b\n1;2\n", ":1: expected names with commas between them"),
        (b"a\tb\n1\t2\n", ":1: expected names with commas between them"),
        (b"a\0b", "neither text, .npy nor Parquet"),
        #[cfg(not(feature = "parquet"))]
        (b"PAR1\0", "built without (feature 'parquet')"),
        #[cfg(feature = "parquet")]
        (b"PAR1\0", "wrong Parquet"),
    ] {
        let error = of(bytes, &[]).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}
