use proptest::prelude::*;

use super::*;
use crate::tables::npy::tests::file;

fn parse(bytes: &[u8]) -> Result<EffortTable> {
    taken(bytes).map(|(table, _)| table)
}

fn taken(bytes: &[u8]) -> Result<(EffortTable, Taken)> {
    read(Path::new("e"), Input::from_bytes(bytes), &EffortOptions::default())
}

fn said(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().to_string()
}

#[test]
fn wide_tables_with_and_without_names() {
    let plain = parse(b"1,2,3\n4,5,6\n").unwrap();
    assert_eq!((plain.n_ranks(), plain.n_steps(), plain.row(1)), (2, 3, [4.0, 5.0, 6.0].as_slice()));
    assert_eq!(parse(b"s0,s1,s2\n1,2,3\n4,5,6\n").unwrap(), plain);
    assert_eq!(parse(b"s0,rank,s1,s2\n4,1,5,6\n1,0,2,3\n").unwrap(), plain);
    assert_eq!(said(b"1,2\n3,nan\n"), "e:2: column 2 (x2): expected a finite number, found 'nan'");
    assert!(said(b"rank,host,a\n0,n0,1\n").ends_with("(leave out columns of texts), found 'n0'"));
    assert_eq!(said(b"1,2\n3\n"), "e:2: expected 2 numbers as in the first line, found 1");
    assert!(said(b"rank,a\n0,1\n2,1\n").contains("rank 1 has no row"));
    assert!(said(b"rank,a\n0.5,1\n").contains("the rank is 0.5"));
    assert!(said(b"").contains("is empty"));
    // As pandas writes a table without names.
    let numbered = b"0,1,2,3,4,5,6,7\n5,5,5,5,5,5,5,5\n6,6,6,6,6,6,6,6\n";
    assert!(said(numbered).contains("its first line is 0, 1, 2, …, 7"));
    assert_eq!(parse(&numbered[16..]).unwrap().n_ranks(), 2);
}

#[test]
fn long_tables_in_any_order() {
    let text =
        b"step,region,rank,effort\n1,b,0,4\n0,b,0,3\n1,a,0,2\n0,a,0,1\n0,a,1,5\n1,a,1,6\n0,b,1,7\n1,b,1,8\n";
    let table = parse(text).unwrap();
    assert_eq!(table.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(table.regions()[1].name, "b");
    assert_eq!(parse(b"rank,step,effort\n0,1,2\n0,2,3\n").unwrap().row(0), [2.0, 3.0]);
    assert_eq!(
        said(b"rank,step,effort\n0,1,2\nx,2,3\n"),
        "e:3: column 1 (rank): expected a whole number from 0, found 'x'"
    );
    assert_eq!(
        said(b"rank,step,effort\n0,1,inf\n"),
        "e:2: column 3 (effort): expected a finite number, found 'inf'"
    );
    assert_eq!(
        said(b"rank,step\n0,1\n"),
        "e:1: the table has no column 'effort'; expected rank,step,region,effort (or process, iteration, function, time)"
    );
    assert!(
        said(b"rank,step,effort\n0,1,2\n0,1,2\n")
            .contains("rank 0, step 1, region 'effort' stands there twice")
    );
    assert!(said(b"rank,step,effort\n0,1,2\n18446744073709551615,1,2\n").contains("rank 1 has no row"));
    assert!(said(b"rank,step,effort\n0,1,2\n0,2,2\n1,1,2\n2,1,2\n2,2,9\n").contains("but rank 1 has 1"));
}

#[test]
fn long_tables_are_known_by_other_names_too() {
    let plain = parse(b"rank,step,effort\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n").unwrap();
    for text in [
        "Rank,Step,TIME\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n",
        ",Process;x,Iteration,time_us\n0,0,0,1\n1,0,1,2\n2,1,0,3\n3,1,1,4\n".replace(";x", "").as_str(),
        "process\titeration\tduration (ms)\thost\n0\t0\t1\ta\n0\t1\t2\ta\n1\t0\t3\tb\n1\t1\t4\tb\n",
        "MPI_Rank;step;effort\n1;0;3,0\n0;0;1,0\n1;1;4,0\n0;1;2,0\n",
        "task iter seconds\n1 0 1\n1 1 2\n2 0 3\n2 1 4\n",
        "# made on Monday\nrank,step,effort\n0,0,1\n# half\n0,1,2\n1,0,3\n1,1,4\n",
    ] {
        assert_eq!(parse(text.as_bytes()).unwrap(), plain, "{text}");
    }
    let (_, columns) = taken(b",rank,step,effort,host\n0,1,0,1,a\n1,2,0,1,b\n").unwrap();
    assert_eq!(columns.numbers, ["effort"]);
    assert_eq!(columns.names, ["rank", "step"]);
    let why = "it is no rank, step, region or effort";
    assert_eq!(
        columns.left_out,
        [("column 1", "it has no name"), ("host", why)].map(|(a, b)| (a.into(), b.into()))
    );
    assert_eq!(columns.notes, ["Ranks 1 to 2 of the table are ranks 0 to 1 here."]);
    assert_eq!(columns.first_rank, 1);
    let two = said(b"rank,step,time,duration\n0,0,1,1\n");
    assert!(two.contains("'time' and 'duration' may both be the effort"), "{two}");
    assert!(said(b"rank,step,effort\n1,0,1\n3,0,1\n").contains("rank 0 has no row"));
}

#[test]
fn the_index_of_a_data_frame_is_no_step() {
    let plain = parse(b"1,2\n4,5\n").unwrap();
    for text in [
        ",s0,s1\n0,1,2\n1,4,5\n",
        ",0,1\n0,1,2\n1,4,5\n",
        ",0,1\n1,1,2\n2,4,5\n",
        ",s0,s1\n7,1,2\n9,4,5\n",
        "\"\",\"s0\",\"s1\"\n\"1\",1,2\n\"2\",4,5\n",
        "\"s0\" \"s1\"\n\"1\" 1 2\n\"2\" 4 5\n",
        "   s0  s1\n0   1   2\n1   4   5\n",
        "Unnamed: 0,s0,s1\n0,1,2\n1,4,5\n",
        "rank,0,1\n1,4,5\n0,1,2\n",
    ] {
        assert_eq!(parse(text.as_bytes()).unwrap(), plain, "{text}");
    }
    let (_, columns) = taken(b",s0,s1\n0,1,2\n1,4,5\n").unwrap();
    assert_eq!(
        columns.told(),
        "Columns: numbers: s0, s1; left out: column 1 (it has no name and counts the rows, as the index of a data frame does)"
    );
    // Not an index: data that nobody named.
    assert_eq!(parse(b",s1\n0.5,1\n0.5,2\n").unwrap().n_steps(), 2);
}

#[test]
fn other_tables_are_not_efforts() {
    for (names, what) in [
        ("cluster,instances,total_ns", "a result of likewise"),
        ("rank,class,medoid", "a result of `likewise ranks`"),
        ("site,rank,event,value", "a table of counters"),
        ("task,thread,begin_ns,duration_ns,x", "this is a table of bursts"),
    ] {
        let error = said(format!("{names}\n1,1,1,1,1\n").as_bytes());
        assert!(error.contains(what), "{error}");
    }
    let (_, columns) = taken(b"init,solve\n1,2\n3,4\n").unwrap();
    assert!(
        columns.notes[0].starts_with("Each row is taken as a rank and each column as a step (init, solve).")
    );
    assert!(taken(b"t0,t1,t2\n1,2,3\n").unwrap().1.notes.is_empty());
    // A sum was a step, and its name was not told.
    let (_, columns) = taken(b"rank,t0,t1,t2,total\n0,1,2,3,6\n").unwrap();
    assert!(columns.notes[0].contains("named otherwise than most: total. If one"), "{:?}", columns.notes);
}

/// A step was named by its place alone: "step 16" of a table whose step 7 is not there.
#[test]
fn steps_with_other_numbers_are_noted() {
    let notes = |text: &str| taken(text.as_bytes()).unwrap().1.notes;
    let long = |steps: &[u64]| {
        let rows = steps.iter().flat_map(|step| (0..2).map(move |rank| format!("{rank},{step},1\n")));
        format!("rank,step,effort\n{}", rows.collect::<String>())
    };
    assert!(notes(&long(&[0, 1, 2])).is_empty());
    let gap =
        "Steps are numbered from 0: 0 to 1 of the table is 0 to 1 here, 3 to 4 of the table is 2 to 3 here.";
    assert_eq!(notes(&long(&[0, 1, 3, 4])), [gap]);
    assert_eq!(
        notes(&long(&[100, 101])),
        ["Steps are numbered from 0: 100 to 101 of the table is 0 to 1 here."]
    );
    assert!(notes(&long(&[1, 3, 5, 7, 9]))[0].ends_with("7 of the table is 3 here, and so on."));
    let wide = "Steps are numbered from 0: column t8 is step 0 here, and t10, the last, step 2.";
    assert_eq!(notes("t8,t9,t10\n1,2,3\n"), [wide]);
    assert!(notes("1,2,3\n4,5,7\n").is_empty());
}

#[test]
fn rows_that_are_steps_are_refused() {
    let error = said(b"step,0,1,2\n0,1,1,1\n1,1,1,1\n");
    assert!(error.contains("its rows are steps") && error.contains("transpose the table"), "{error}");
    let missing = said(b"rank,function,calls,time_ms\n0,compute,1,2.5\n");
    assert!(missing.contains("none for the step; give it a column 'step'"), "{missing}");
    // One step.
    assert_eq!(parse(b"rank,time_ms\n0,1\n1,2\n").unwrap().n_steps(), 1);
    assert_eq!(parse(b"step\n1\n2\n").unwrap().n_steps(), 1);
}

/// Such a table was read with its steps as ranks, and nothing was said.
#[test]
fn columns_that_are_ranks_are_refused() {
    for word in ["rank", "Rank ", "rank_", "mpi_rank_", "task", "proc", "PE", "node"] {
        let error = said(format!("{word}0,{word}1,{word}2\n1,2,3\n4,5,6\n").as_bytes());
        assert!(error.contains(&format!("named after ranks ('{word}0'), so its rows are steps")), "{error}");
        // A column says that rows are ranks.
        let table = format!("rank,{word}0,{word}1\n0,1,2\n1,4,5\n");
        assert_eq!(parse(table.as_bytes()).unwrap().n_steps(), 2);
    }
    // Words for anything else are steps; one of them alone is no word for all.
    for names in ["p0,p1,p2", "s0,s1,s2", "step0,step1,step2", "t0,t1,rank0", "ranking,b,c"] {
        assert_eq!(parse(format!("{names}\n1,2,3\n4,5,6\n").as_bytes()).unwrap().n_steps(), 3, "{names}");
    }
}

/// Steps by their times were the efforts of a rank: "rank 0 does 39 times as much".
#[test]
fn a_first_line_at_even_distances_is_noted() {
    let notes = |first: &str| taken(format!("{first}\n1.5,1.25,1.5,1.75\n").as_bytes()).unwrap().1.notes;
    let told = "The first line, 0, 10, …, 30, is taken as the efforts of rank 0. If these are names of steps, begin each \
                with a letter (t0).";
    assert_eq!(notes("0,10,20,30"), [told]);
    assert_eq!(notes("0.1,0.2,0.3,0.4").len(), 1);
    for first in ["0,10,20,31", "3,2,1,0", "5,5,5,5", "t0,t10,t20,t30"] {
        assert!(!notes(first).iter().any(|note| note.contains("first line")), "{first}");
    }
    // Behind a rank's name it is a header.
    for header in ["rank,0,10,20", "MPI_Rank,0.0,0.5,1.0", "task,7,8,9"] {
        let table = parse(format!("{header}\n0,5,6,7\n1,8,9,7\n").as_bytes()).unwrap();
        assert_eq!((table.n_ranks(), table.n_steps()), (2, 3), "{header}");
    }
    assert!(parse(b"rank,0,20,10\n0,5,6,7\n").is_err());
}

#[test]
fn several_rows_of_a_rank_want_a_step() {
    let error = said(b"rank,time\n0,1\n1,2\n0,3\n");
    assert!(
        error.contains("rows 1 and 3 (from 1) are both of rank 0") && error.contains("column 'step'"),
        "{error}"
    );
}

#[test]
fn a_region_without_a_name_is_called_so() {
    let table = parse(b"rank,step,region,effort\n0,0,,1\n0,0,a,2\n").unwrap();
    let names: Vec<&str> = table.regions().iter().map(|region| region.name.as_str()).collect();
    assert_eq!(names, ["(no name)", "a"]);
}

/// Ranks were the efforts of the first step.
#[test]
fn a_first_column_that_counts_is_the_rank() {
    let rows = |first: [f64; 4]| first.map(|x| format!("{x},1.5,2.5\n")).concat();
    let plain = parse("1.5,2.5\n".repeat(4).as_bytes()).unwrap();
    for (first, told) in [
        ([0.0, 1.0, 2.0, 3.0], "counts the rows from 0 to 3: it is taken as the rank."),
        ([1.0, 2.0, 3.0, 4.0], "counts the rows from 1 to 4: it is taken as the rank, which is 0 to 3 here."),
    ] {
        let (table, columns) = taken(rows(first).as_bytes()).unwrap();
        assert_eq!(table, plain);
        assert_eq!(columns.notes.len(), 1);
        assert!(columns.notes[0].ends_with(told), "{:?}", columns.notes);
    }
    for first in [[2.0, 3.0, 4.0, 5.0], [0.0, 1.0, 3.0, 2.0], [0.0, 0.5, 1.0, 1.5]] {
        assert_eq!(parse(rows(first).as_bytes()).unwrap().n_steps(), 3);
    }
    // Named, or of few ranks.
    assert_eq!(parse(format!("a,b,c\n{}", rows([0.0, 1.0, 2.0, 3.0])).as_bytes()).unwrap().n_steps(), 3);
    assert_eq!(parse(b"0,5\n1,5\n2,5\n").unwrap().n_steps(), 2);
}

#[test]
fn npy_in_both_orders() {
    let bytes = |v: &[f64]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let c = file("<f8", "(2, 3)", &bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let table = parse(&c).unwrap();
    assert_eq!(table.row(1), [4.0, 5.0, 6.0]);
    // As long as before, so that the header's length still holds.
    let fortran = file("<f8", "(2, 3)", &bytes(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let text = String::from_utf8_lossy(&fortran[..64]).find("False").unwrap_or(0);
    assert!(text > 0);
    let at = fortran.windows(5).position(|w| w == b"False").unwrap();
    let mut fortran = fortran;
    fortran[at..at + 5].copy_from_slice(b"True ");
    assert_eq!(parse(&fortran).unwrap(), table);
    let ints: Vec<u8> = [1i32, 2, 3, 4, 5, 6].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(parse(&file("<i4", "(2, 3)", &ints)).unwrap(), table);
    assert!(
        said(&file("<f8", "(1, 2)", &bytes(&[1.0, f64::NAN]))).contains("rank 0, step 1, region 'effort'")
    );
    assert!(said(&file("<f8", "(99999999999, 2)", &[])).contains("claims"));
    assert!(said(&file("<f8", "(0, 2)", &[])).contains("0 ranks"));
}

#[cfg(feature = "parquet")]
mod of_parquet {
    use super::*;
    use crate::bytes::tests::gzip;
    use crate::tables::parquet::tests::{Data, file};
    use crate::tables::parquet::{ColumnData, write_parquet};

    fn written(columns: &[(&str, ColumnData<'_>)]) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("e.parquet");
        write_parquet(&path, columns).unwrap().commit().unwrap();
        (dir, path)
    }

    #[test]
    fn long_and_wide() {
        let (_dir, path) = written(&[
            ("rank", ColumnData::U32(&[1, 0, 1, 0])),
            ("step", ColumnData::I64(&[0, 0, 1, 1])),
            ("region", ColumnData::Str(&["a", "a", "a", "a"])),
            ("effort", ColumnData::F64(&[3.0, 1.0, 4.0, 2.0])),
        ]);
        let long = read_effort(&path, &EffortOptions::default()).unwrap().0;
        assert_eq!((long.values(), long.regions()[0].name.as_str()), ([1.0, 2.0, 3.0, 4.0].as_slice(), "a"));
        let (_dir, path) = written(&[("a", ColumnData::F64(&[1.0, 3.0])), ("b", ColumnData::I64(&[2, 4]))]);
        assert_eq!(read_effort(&path, &EffortOptions::default()).unwrap().0.values(), long.values());
        let (_dir, path) = written(&[("a", ColumnData::Str(&["x"]))]);
        let error = read_effort(&path, &EffortOptions::default()).unwrap_err().to_string();
        assert!(error.ends_with("column 1 (a): expected numbers, found texts"), "{error}");
    }

    #[test]
    fn numbers_without_gaps_are_read_from_gzip_and_pipes_too() {
        use ::parquet::basic::Compression::SNAPPY;
        let of = |n: &[Option<i32>]| file("optional int32 a (UINT_32);", SNAPPY, &[&[Data::Int(n)]]);
        let whole = of(&[Some(7), Some(-1)]);
        let table = parse(&whole).unwrap();
        assert_eq!(table.values(), [7.0, 4_294_967_295.0]);
        assert_eq!(parse(&gzip(&whole)).unwrap(), table);
        let one = [
            Data::Bool(&[Some(true)]),
            Data::Int(&[Some(-2)]),
            Data::Long(&[Some(3)]),
            Data::Float(&[Some(0.5)]),
            Data::Double(&[Some(4.0)]),
        ];
        let schema =
            "optional boolean b; optional int32 i; optional int64 l; optional float f; optional double d;";
        assert_eq!(parse(&file(schema, SNAPPY, &[&one])).unwrap().row(0), [1.0, -2.0, 3.0, 0.5, 4.0]);
        let texts = said(&file("optional binary t (UTF8);", SNAPPY, &[&[Data::Text(&[Some("1")])]]));
        assert_eq!(texts, "e: column 1 (t): expected numbers, found texts");
        let gap = said(&of(&[Some(7), None]));
        assert_eq!(gap, "e: column 1 (a): a cell is empty; expected one value in every row");
        assert_eq!(said(&file("optional int32 a;", SNAPPY, &[])), "e: the table has no rows");
    }

    proptest! {
        #[test]
        fn damaged_files_are_read_or_refused(at in prop::collection::vec((any::<usize>(), any::<u8>()), 1..5), cut: usize) {
            let (_dir, path) = written(&[
                ("rank", ColumnData::U32(&[0, 1])),
                ("step", ColumnData::I64(&[0, 0])),
                ("effort", ColumnData::F64(&[3.0, 1.0])),
            ]);
            let mut bytes = std::fs::read(&path).unwrap();
            let n = bytes.len();
            at.iter().for_each(|&(at, byte)| bytes[at % n] = byte);
            if cut % 4 == 0 {
                bytes.truncate(cut / 4 % n);
            }
            std::fs::write(&path, bytes).unwrap();
            let _ = read_effort(&path, &EffortOptions::default());
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        start in prop::sample::select(vec![
            &b""[..], b"rank,step,effort\n", b"rank,step,region,effort\n0,0,a,1\n", b"1,2\n", b"rank,a\n0,1\n",
            b"\x93NUMPY\x01\x00", b"\x93NUMPY\x03\x00", b"\x1f\x8b"
        ]),
        text in "[0-9,.\\-\ne\"a]{0,60}", bytes in prop::collection::vec(any::<u8>(), 0..60)
    ) {
        let _ = parse(&[start, text.as_bytes()].concat());
        let _ = parse(&[start, bytes.as_slice()].concat());
    }

    #[test]
    fn any_npy_header_is_read_or_refused(
        order in "(True|False)", shape in "\\([0-9]{0,20},? ?[0-9]{0,20}\\)", descr in "[<>|][fiuc][1248]",
        data in prop::collection::vec(any::<u8>(), 0..80)
    ) {
        let mut bytes = file(&descr, &shape, &data);
        if order == "True" {
            let at = bytes.windows(5).position(|w| w == b"False").expect("an order");
            bytes[at..at + 5].copy_from_slice(b"True ");
        }
        let _ = parse(&bytes);
    }
}
