//! Parquet as others write it: nullable, unsigned, in row groups, or damaged.

use ::parquet::basic::Compression;

use super::super::tests::{numbers, of};
use super::super::*;
use crate::bytes::tests::gzip;
use crate::tables::parquet::tests::{Data, file};
use crate::tables::parquet::{ColumnData, write_parquet};

/// Two row groups of call sites with gaps.
fn sites(codec: Compression) -> Vec<u8> {
    let schema = "optional binary site (UTF8); optional double time; optional int32 n; optional int32 none;
        optional float ratio; optional boolean hot; optional binary note (UTF8);";
    let none = [None; 3];
    let first = [
        Data::Text(&[Some("a"), Some("b\u{1b}"), None]),
        Data::Double(&[Some(1.5), None, Some(f64::NAN)]),
        Data::Int(&[Some(-7), None, Some(3)]),
        Data::Int(&none),
        Data::Float(&[Some(0.5), Some(0.25), None]),
        Data::Bool(&[Some(true), None, Some(false)]),
        Data::Text(&[None; 3]),
    ];
    let second = [
        Data::Text(&[Some("d")]),
        Data::Double(&[Some(2.0)]),
        Data::Int(&[None]),
        Data::Int(&none[..1]),
        Data::Float(&[None]),
        Data::Bool(&[Some(true)]),
        Data::Text(&[None]),
    ];
    file(schema, codec, &[&first, &second])
}

fn texts<'t>(table: &'t ColumnTable, name: &str) -> &'t [String] {
    table.texts().find(|(known, _)| *known == name).expect("a column of texts").1
}

#[test]
fn nulls_are_missing_in_every_row_group() {
    for bytes in [sites(Compression::SNAPPY), sites(Compression::UNCOMPRESSED)] {
        let table = of(&bytes, &[]).unwrap();
        assert_eq!((table.n_rows, table.columns.len()), (4, 7));
        assert_eq!(texts(&table, "site"), ["a", "b\\u{1b}", "", "d"]);
        assert_eq!(texts(&table, "note"), [""; 4]);
        assert_eq!(numbers(&table, "time"), [Some(1.5), None, None, Some(2.0)]);
        assert_eq!(numbers(&table, "n"), [Some(-7.0), None, Some(3.0), None]);
        assert_eq!(numbers(&table, "none"), [None; 4]);
        assert_eq!(numbers(&table, "ratio"), [Some(0.5), Some(0.25), None, None]);
        assert_eq!(numbers(&table, "hot"), [Some(1.0), None, Some(0.0), Some(1.0)]);
        let as_text = |table: &ColumnTable| format!("{table:?}");
        assert_eq!(as_text(&of(&gzip(&bytes), &[]).unwrap()), as_text(&table));
    }
}

#[test]
fn an_index_and_times_are_no_counters() {
    let schema = "optional double x; optional int32 day (DATE); optional int64 __index_level_0__;";
    let rows = [
        Data::Double(&[Some(1.0), Some(2.0)]),
        Data::Int(&[Some(20_000), Some(20_001)]),
        Data::Long(&[Some(7), Some(8)]),
    ];
    let table = of(&file(schema, Compression::SNAPPY, &[&rows]), &[]).unwrap();
    assert_eq!(numbers(&table, "x"), [Some(1.0), Some(2.0)]);
    assert_eq!(texts(&table, "day"), ["20000", "20001"]);
    assert_eq!(texts(&table, "__index_level_0__"), ["7", "8"]);
}

#[test]
fn keys_are_exact_texts() {
    let schema = "optional int64 id; optional int32 cluster; optional double x; optional double y;";
    let bytes = file(
        schema,
        Compression::SNAPPY,
        &[&[
            Data::Long(&[Some(i64::MAX), Some(i64::MAX - 1), None]),
            Data::Int(&[Some(1), None, Some(2)]),
            Data::Double(&[Some(1.0), Some(0.1), None]),
            Data::Double(&[Some(1.0), Some(0.1), None]),
        ]],
    );
    let table = of(&bytes, &["id", "x"]).unwrap();
    assert_eq!(texts(&table, "id"), ["9223372036854775807", "9223372036854775806", ""]);
    assert_eq!(texts(&table, "cluster"), ["1", "", "2"]);
    assert_eq!(texts(&table, "x"), ["1", "0.1", ""]);
    assert_eq!(numbers(&table, "y"), [Some(1.0), Some(0.1), None]);
    assert!(of(&bytes, &["job"]).unwrap_err().contains(": the table has no column 'job'"));
}

#[test]
fn unsigned_integers_are_not_negative() {
    let schema =
        "optional int32 a (INTEGER(32,false)); optional int64 b (UINT_64); optional int32 c (UINT_8);
        optional int32 d (INTEGER(8,true));";
    let bytes = file(
        schema,
        Compression::SNAPPY,
        &[&[
            Data::Int(&[Some(-1)]),
            Data::Long(&[Some(-1)]),
            Data::Int(&[Some(200)]),
            Data::Int(&[Some(-1)]),
        ]],
    );
    let table = of(&bytes, &[]).unwrap();
    let row: Vec<f64> = table.numbers().map(|(_, numbers)| numbers[0]).collect();
    assert_eq!(row, [4_294_967_295.0, 2f64.powi(64), 200.0, -1.0]);
    assert_eq!(texts(&of(&bytes, &["b"]).unwrap(), "b"), ["18446744073709551615"]);
}

#[test]
fn our_own_files_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    let columns = [
        ("task", ColumnData::U32(&[1, u32::MAX])),
        ("begin_ns", ColumnData::I64(&[5, -7])),
        ("ipc", ColumnData::F64(&[0.5, f64::NAN])),
        ("cluster", ColumnData::Str(&["1", "noise"])),
    ];
    write_parquet(&path, &columns).unwrap().commit().unwrap();
    let done = std::sync::Mutex::new((0, 0));
    let table = read_columns(&path, &[], Some(&|of, all| *done.lock().unwrap() = (of, all))).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert_eq!(done.into_inner().unwrap(), (size, size));
    assert_eq!(numbers(&table, "task"), [Some(1.0), Some(4_294_967_295.0)]);
    assert_eq!(numbers(&table, "begin_ns"), [Some(5.0), Some(-7.0)]);
    assert_eq!(numbers(&table, "ipc"), [Some(0.5), None]);
    assert_eq!(texts(&table, "cluster"), ["1", "noise"]);
}

#[test]
fn long_tables_get_a_column_for_each_event() {
    let schema = "optional binary event (UTF8); optional int32 site; optional double value;";
    let events = [Some("CYC"), Some("INS"), Some("CYC")];
    let bytes = |sites: &[Option<i32>]| {
        let values = [Some(1.0), Some(2.0), None];
        file(schema, Compression::SNAPPY, &[&[Data::Text(&events), Data::Int(sites), Data::Double(&values)]])
    };
    let table = of(&bytes(&[Some(8), Some(8), Some(9)]), &[]).unwrap();
    assert_eq!(texts(&table, "site"), ["8", "9"]);
    assert_eq!(numbers(&table, "CYC"), [Some(1.0), None]);
    assert_eq!(numbers(&table, "INS"), [Some(2.0), None]);
    assert!(of(&bytes(&[Some(8); 3]), &[]).unwrap_err().contains("row 3"));
}

#[test]
fn what_is_no_plain_table_is_told() {
    let refused = |schema: &str, groups: &[&[Data<'_>]]| {
        of(&file(schema, Compression::SNAPPY, groups), &[]).unwrap_err()
    };
    for (schema, told) in [
        (
            "optional int32 n; optional group xs (LIST) { repeated group list { optional int32 element; } }",
            "column 2 (xs.list.element): it is a list or nested",
        ),
        ("optional group s { optional int32 a; }", "column 1 (s.a): it is a list or nested"),
        ("repeated int32 xs;", "column 1 (xs): it is a list or nested"),
        ("optional int32 d (DECIMAL(9,2));", "column 1 (d): decimals are not read"),
        ("optional binary d (DECIMAL(9,2));", "column 1 (d): decimals are not read"),
        ("optional int96 t;", "column 1 (t): times of type INT96 are not read"),
        ("optional fixed_len_byte_array(16) u;", "column 1 (u): values of a fixed length are not read"),
        ("", "the table has no columns"),
        ("optional int32 n;", "header but no rows"),
        ("optional int32 n; optional int32 n;", "two columns are called 'n'"),
    ] {
        let error = refused(schema, &[]);
        assert!(error.contains(told), "{schema}: {error}");
    }
    let none = refused("optional int32 n;", &[&[Data::Int(&[])]]);
    assert!(none.contains("header but no rows"), "{none}");
}

/// Ten million rows in some kilobytes, as the format allows.
#[test]
fn what_expands_beyond_all_measure_is_not_followed() {
    let none = vec![None; 10_000_000];
    let bytes = file("optional int32 n;", Compression::SNAPPY, &[&[Data::Int(&none)]]);
    assert!(bytes.len() < 30_000, "{}", bytes.len());
    let error = of(&bytes, &[]).unwrap_err();
    assert!(error.contains("column 1 (n): it expands more than any table does"), "{error}");
}

/// Every byte in turn is another one, or the last.
#[test]
fn damaged_files_are_read_or_refused() {
    for codec in [Compression::SNAPPY, Compression::UNCOMPRESSED] {
        let whole = sites(codec);
        for at in 0..whole.len() {
            for byte in [whole[at] ^ 1, whole[at] ^ 0x80, 0, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let _ = of(&bytes, &[]);
            }
            let error = of(&whole[..at], &[]).unwrap_err();
            assert!(!error.is_empty(), "cut at {at}");
        }
    }
}

/// As `tests/data/parquet.py` writes them.
#[test]
fn other_codecs_and_writers_give_the_same_table() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for name in ["polars-zstd", "arrow-zstd", "arrow-zstd-v2", "arrow-gzip", "arrow-brotli", "arrow-lz4"] {
        let bytes = std::fs::read(dir.join(format!("{name}.parquet"))).unwrap();
        let table = of(&bytes, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(table.n_rows, 300);
        let expected: Vec<Option<f64>> =
            (0..300).map(|i| (i % 5 != 0).then_some(f64::from(i) * 0.25)).collect();
        assert_eq!(numbers(&table, "x"), expected, "{name}");
        let squares: Vec<Option<f64>> = (0..300).map(|i| Some(f64::from(i * i))).collect();
        assert_eq!(numbers(&table, "n"), squares, "{name}");
        let sites: Vec<String> = (0..300).map(|i| format!("site {}", i % 7)).collect();
        assert_eq!(texts(&table, "site"), sites, "{name}");
        // Damage in any byte is read or refused.
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let _ = of(&damaged, &[]);
        }
    }
}
