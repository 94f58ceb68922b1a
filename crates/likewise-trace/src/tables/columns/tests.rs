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
    let csv = b"\xef\xbb\xbfsite,CYC, INS ,note,none\r\na,,1e3,,\r\n\"b, c\",NaN,-2,x,NA\nd,7,n,3,\n";
    assert!(
        of(csv, &[]).unwrap_err().contains(":4: column 3 (INS): expected a number, as above it, found 'n'")
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

/// They were gone without a word.
#[test]
fn numbers_that_are_not_read_as_such_are_left_out() {
    let left_out = |csv: &str, keys: &[&str]| of(csv.as_bytes(), keys).unwrap().taken.left_out;
    let why = |cell: &str| vec![("A".to_owned(), format!("of texts: '{cell}' is not read as a number"))];
    assert_eq!(left_out("s,A,B\na,1 234 567,1\nb,2 234 567,2\n", &[]), why("1 234 567"));
    assert_eq!(left_out("s,A,B\na,,1\nb,0x1F,2\nc,0X20,2\n", &[]), why("0x1F"));
    assert_eq!(left_out("s,A,B\na,1_000,1\nb,5,2\n", &[]), why("1_000"));
    // Fortran's exponents, decimal commas where other columns have points, and the reverse.
    assert_eq!(left_out("s,A,B\na,1.5D+03,1\nb,2d0,2\n", &[]), why("1.5D+03"));
    assert_eq!(left_out("s;v;A;B\na;2.0;0,5;0\nb;2.1;13,25e-3;1\n", &[]), why("0,5"));
    // Points may be decimal there, so the commas are not.
    let of_b = vec![("B".to_owned(), "of texts: '0,5' is not read as a number".to_owned())];
    assert_eq!(left_out("s;A;B;C\na;1.000;0,5;0\nb;2.100;2,5;2\n", &[]), of_b);
    assert_eq!(left_out("s;v;A\na;0.5;1.234.567,5\nb;1.5;3,5\n", &[]), why("1.234.567,5"));
    for names in ["1.2.3,1.2.4", "10.0.0.1,10.0.0.2", "d0,d1", "1d,2d", "12:30,12:31", "0-1,2-3"] {
        let (a, b) = names.split_once(',').unwrap();
        assert!(left_out(&format!("s,A,B\na,{a},1\nb,{b},2\n"), &[]).is_empty(), "{names}");
    }
    // Names, dates, and what groups are named by.
    assert!(left_out("s,A,B\na,x1,1\nb,0x,2\n", &[]).is_empty());
    assert!(left_out("s,A,B\na,2026-01-02,1\nb,2026-01-03,2\n", &[]).is_empty());
    assert!(left_out("s,A,B\na,0x1F,1\nb,0x20,2\n", &["A"]).is_empty());
}

/// Of times of 19 digits, those within 256 ns were equal, and nothing was said.
#[test]
fn whole_numbers_that_a_double_does_not_hold_are_noted() {
    let notes = |csv: &str| of(csv.as_bytes(), &[]).unwrap().taken.notes;
    let told = notes("s,A,B\na,1700000000000000000,1\nb,1700000000000000050,9007199254740992\n");
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("Whole numbers beyond 2^53") && told[0].ends_with(": A."), "{told:?}");
    assert!(notes("s,A\na,1700000000000000000\nb,-4\nc,1e300\n").is_empty());
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
    assert_eq!(table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["0", "1"]);
    assert_eq!(table.taken.left_out[0].0, "column 1");
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
        (b"a b\n1 2\n3\n", ":3: expected 2 cells as in the first line, found 1"),
        (b"a\tb\n1,234\t2\n", "nobody can tell whether 1,234 is 1.234 or 1234"),
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

/// Between columns that blanks separate, a bar is a column like others.
#[test]
fn bars_between_blanks_are_no_separators() {
    let table = of(b"site x y | z\na 1 2 | 3\nb 4 5 | 6\n", &[]).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["site", "x", "y", "|", "z"]);
    let table = of(b"path,x\nmain|f,1\nmain|g,2\n", &[]).unwrap();
    assert_eq!(table.columns.len(), 2);
}

#[test]
fn any_separator_gives_the_same_table() {
    let plain = of(b"site,x,y\na,1.5,2\nb,,-3e2\n", &[]).unwrap();
    for text in [
        "site;x;y\r\na;1.5;2\r\nb;;-3e2\r\n",
        "site;x;y\na;1,5;2\nb;NA;-3e2\n",
        "site\tx\ty\na\t1.5\t2\nb\t\t-3e2\n",
        "site x y\na  1.5  2\nb  NaN  -3e2\n",
        "site|x|y\na|1.5|2\nb||-3e2\n",
        "site | x | y\na | 1,5 | 2\nb | NA | -3e2\n",
        "# by hand\n\nsite,x,y\na,\"1.5\",2\n#,and\nb,<NA>,\"-3e2\"\n",
        ",site,x,y\n0,a,1.5,2\n1,b,,-3e2\n",
        "\"site\" \"x\" \"y\"\n\"1\" \"a\" 1.5 2\n\"2\" \"b\" NA -3e2\n",
    ] {
        let table = of(text.as_bytes(), &[]).unwrap();
        assert_eq!(format!("{:?}", table.columns), format!("{:?}", plain.columns), "{text}");
    }
}

#[test]
fn numbers_with_marks_are_read_where_the_column_agrees() {
    let csv =
        b"site,cyc,miss,time,rate,mixed\na,\"3,267,097\",3.3%,4.96e-01 s,1 MB/s,1 s\nb,967,NA,2 s,2 kB/s,x\n";
    let table = of(csv, &[]).unwrap();
    assert_eq!(numbers(&table, "cyc"), [Some(3_267_097.0), Some(967.0)]);
    assert_eq!(numbers(&table, "miss"), [Some(3.3), None]);
    assert_eq!(numbers(&table, "time"), [Some(0.496), Some(2.0)]);
    assert_eq!(table.taken.unit("time"), Some("s"));
    assert_eq!(table.taken.unit("miss"), Some("%"));
    assert_eq!(table.taken.names, ["site"]);
    let left_out = &table.taken.left_out;
    assert_eq!(left_out[0].0, "rate");
    assert_eq!(left_out[0].1, "of texts: not every number has the unit 'MB/s', such as '2 kB/s'");
    assert_eq!(left_out[1].1, "of texts: not every number has the unit 's', such as 'x'");
    let said = table.taken.said();
    assert_eq!(said[1], "Read without the unit behind each number: miss (%), time (s).");
    assert_eq!(said[2], "Commas between thousands are no part of the numbers in: cyc.");
    let error = of(b"a,b\n1,2\n3,4 s\n", &[]).unwrap_err();
    assert!(error.contains(":3: column 2 (b): expected a number, as above it, found '4 s'"), "{error}");
}

#[test]
fn long_tables_may_have_a_rank() {
    let csv = b"Site,rank,Event,Value\na,0,CYC,1\na,1,CYC,2\na,0,INS,3\nb,1,CYC,4\n";
    let table = of(csv, &[]).unwrap();
    let texts: Vec<(&str, &[String])> = table.texts().collect();
    assert_eq!(texts[0], ("Site", &["a".to_owned(), "a".into(), "b".into()][..]));
    assert_eq!(texts[1], ("rank", &["0".to_owned(), "1".into(), "1".into()][..]));
    assert_eq!(numbers(&table, "CYC"), [Some(1.0), Some(2.0), Some(4.0)]);
    assert_eq!(numbers(&table, "INS"), [Some(3.0), None, None]);
    assert!(table.taken.notes[0].contains("a row for each Site and rank"));
    // As pandas writes it.
    let with_index = b",site,event,value\n0,a,CYC,1\n1,b,CYC,4\n";
    assert_eq!(numbers(&of(with_index, &[]).unwrap(), "CYC"), [Some(1.0), Some(4.0)]);
    let twice = of(b"site,rank,event,value\na,0,CYC,1\na,0,CYC,1\n", &[]).unwrap_err();
    assert!(
        twice.contains("row 2 (from 1, without the names): its site, rank and event came before"),
        "{twice}"
    );
}

#[test]
fn numbers_without_a_name_name_the_rows() {
    let table = of(b",x\n3,1\n7,2\n", &[]).unwrap();
    assert_eq!(table.texts().next().unwrap(), ("column 1", &["3".to_owned(), "7".into()][..]));
    let table = of(b",x\n3,1\n3,2\n", &[]).unwrap();
    assert_eq!(numbers(&table, "column 1"), [Some(3.0), Some(3.0)]);
}
