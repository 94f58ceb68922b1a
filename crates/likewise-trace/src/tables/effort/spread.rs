//! One table, read by several processes.

use std::path::Path;

use likewise::comm::{CommError, Communicator, Reduction};
use likewise::ranks::EffortPart;

use super::parts::{EffortOptions, Efforts, Share};
use super::{read_effort, share};
use crate::bytes::{Input, Piece, is_rereadable};
use crate::error::{Result, SpreadError};
use crate::taken::Taken;

/// Reads an effort table, as [`read_effort`] does, on several processes that
/// see the same file; each has some of the ranks.
///
/// Each process reads a piece of the file: of `.npy` its ranks, of CSV its
/// share of the bytes, of Parquet its share of the row groups. Rows that name
/// their rank travel to the process that has the rank. If that is impossible
/// (gzip, pipes, a cell in quotes in a long table, or an error on any process),
/// process 0 reads all, and shares it out or reports the error. So the table
/// and the error do not depend on the number of processes. Only process 0
/// knows what became of the columns.
///
/// # Errors
/// [`SpreadError`], on all processes.
pub fn read_effort_part<C: Communicator>(
    comm: &C,
    path: &Path,
    options: &EffortOptions<'_>,
) -> std::result::Result<(EffortPart, Taken), SpreadError> {
    let piece = Piece { index: comm.rank(), count: comm.size() };
    if !piece.is_whole()
        && let Some(part) = joined(comm, of_piece(path, options, piece), options)?
    {
        return Ok(part);
    }
    let whole = (comm.rank() == 0).then(|| read_effort(path, options)).transpose();
    let (table, taken, error) = match whole.map(Option::unzip) {
        Ok((table, taken)) => (table, taken, None),
        Err(error) => (None, None, Some(error)),
    };
    let part = EffortPart::share_out(comm, table)?;
    let part = part.ok_or_else(|| error.map_or(SpreadError::Elsewhere, SpreadError::File))?;
    Ok((part, taken.unwrap_or_default()))
}

/// A piece of the file, and the size of the whole. `None` if the file can be
/// read only once, or only as a whole.
fn of_piece(path: &Path, options: &EffortOptions<'_>, piece: Piece) -> Result<Option<(u64, Share)>> {
    if !is_rereadable(path) {
        return Ok(None);
    }
    let input = Input::open_known(path)?;
    let size = input.size().unwrap_or(0);
    Ok(share(path, input, options, piece)?.map(|share| (size, share)))
}

/// The part of this process, if all processes have read pieces of the same
/// file that together make a table.
fn joined<C: Communicator>(
    comm: &C,
    mine: Result<Option<(u64, Share)>>,
    options: &EffortOptions<'_>,
) -> std::result::Result<Option<(EffortPart, Taken)>, CommError> {
    // All processes must agree on this; a process without a piece agrees with
    // none. Its least and its greatest are found in one reduction, by signs.
    let kind = match &mine {
        Ok(Some((size, Share { efforts: Efforts::Rows { n_steps, .. }, .. }))) => {
            [1, *size as i64, *n_steps as i64]
        }
        Ok(Some((size, Share { efforts: Efforts::Cells(_), .. }))) => [2, *size as i64, 0],
        Ok(None) | Err(_) => [0; 3],
    };
    let mut bounds = [kind, kind.map(|x| -x)].concat();
    comm.all_reduce(Reduction::Min, &mut bounds)?;
    let alike = (0..3).all(|i| bounds[i] == -bounds[3 + i]);
    match mine {
        Ok(Some((_, share))) if alike => {
            let part = match share.efforts {
                Efforts::Rows { n_steps, values } => {
                    EffortPart::of_rows(comm, options.region.clone(), n_steps, values)
                }
                Efforts::Cells(cells) => {
                    let mut last = [cells.last_step()];
                    comm.all_reduce(Reduction::Max, &mut last)?;
                    let part = cells.part(comm, &options.region.unit)?;
                    // Of steps with other numbers there is a note, which needs all of them.
                    Ok(part.filter(|part| last == [part.table.n_steps() as i64 - 1]))
                }
            };
            Ok(part?.map(|part| (part, share.taken)))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bytes::tests::gzip;
    use crate::tables::npy::tests::file;
    use likewise::comm::run_on_threads;
    use likewise::ranks::EffortTable;

    /// What `size` processes read, together: the table, or what process 0 says.
    fn read_on(size: usize, path: &Path) -> std::result::Result<EffortTable, String> {
        let parts = run_on_threads(size, |comm| -> std::result::Result<_, CommError> {
            Ok(read_effort_part(comm, path, &EffortOptions::default()).map(|(part, _)| part))
        });
        let mut parts = parts.expect("no process fails").into_iter();
        let first = parts.next().expect("a process").map_err(|error| {
            assert!(parts.all(|other| matches!(other, Err(SpreadError::Elsewhere))), "all fail");
            error.to_string()
        })?;
        let mut values = first.table.values().to_vec();
        for part in parts {
            let part = part.expect("a part, as process 0 has one");
            assert_eq!(part.n_ranks, first.n_ranks);
            assert_eq!(part.table.regions(), first.table.regions());
            values.extend(part.table.values());
        }
        let table = EffortTable::new(first.table.regions().to_vec(), first.table.n_steps(), values);
        let table = table.expect("the parts are a table");
        assert_eq!(table.n_ranks(), first.n_ranks);
        Ok(table)
    }

    /// On any number of processes the table, or the error, of one.
    fn same(bytes: &[u8]) -> std::result::Result<EffortTable, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("e");
        std::fs::write(&path, bytes).unwrap();
        let one = read_effort(&path, &EffortOptions::default())
            .map(|(table, _)| table)
            .map_err(|error| error.to_string());
        for size in [1, 2, 3, 7] {
            assert_eq!(read_on(size, &path), one, "{size}: {:?}", String::from_utf8_lossy(bytes));
        }
        one
    }

    #[test]
    fn any_number_of_processes_reads_the_same_table() {
        let wide: String = (0..20).map(|r| format!("{r}.5,{},{}\n", r * r, r % 3)).collect();
        assert_eq!(same(wide.as_bytes()).unwrap().n_ranks(), 20);
        assert!(same(format!("a,b,\"c\nd\"\n{wide}").as_bytes()).is_err());
        assert_eq!(same(format!("a,b,c\r\n{}", wide.replace('\n', "\r\n")).as_bytes()).unwrap().n_steps(), 3);
        assert_eq!(same(&gzip(wide.as_bytes())).unwrap().n_ranks(), 20);
        let named: String = (0..20).map(|r| format!("{},{}\n", (r * 7) % 20, r)).collect();
        assert_eq!(same(format!("rank,a\n{named}").as_bytes()).unwrap().row(7), [1.0]);
        let long = |name: &str| {
            let row = |i: usize| format!("{},{name}{},{i},{}\n", i % 4, i / 4 % 2, (i / 8 + 3) % 5);
            format!("step,region,effort,rank\n{}", (0..40).map(row).collect::<String>())
        };
        assert_eq!(same(long("x").as_bytes()).unwrap().regions().len(), 2);
        // A line end in quotes, at which a piece might begin.
        let quoted = long("\"a\n0,b,1,2\"").replace("\"0,", "0\",").replace("\"1,", "1\",");
        assert_eq!(same(quoted.as_bytes()).unwrap().n_ranks(), 5);
        assert_eq!(same(b"1,2").unwrap().n_ranks(), 1);
    }

    #[test]
    fn any_number_of_processes_reads_the_same_npy() {
        let bytes: Vec<u8> = (0..22).flat_map(|i| (f64::from(i) / 3.0).to_le_bytes()).collect();
        let mut npy = file("<f8", "(11, 2)", &bytes);
        assert_eq!(same(&npy).unwrap().row(10)[1], 7.0);
        assert!(same(&gzip(&npy)).is_ok() && same(&npy[..npy.len() - 1]).is_err());
        let at = npy.windows(5).position(|w| w == b"False").unwrap();
        npy[at..at + 5].copy_from_slice(b"True ");
        assert_eq!(same(&npy).unwrap().row(10), [10.0 / 3.0, 7.0]);
    }

    #[test]
    fn any_number_of_processes_says_the_same_is_wrong() {
        let rows = "1,2\n".repeat(30);
        let error = |bytes: String| same(bytes.as_bytes()).unwrap_err();
        assert!(
            error(format!("{rows}3,nan\n{rows}x,4\n"))
                .ends_with(":31: column 2 (x2): expected a finite number, found 'nan'")
        );
        assert!(error(format!("{rows}3\n")).contains(":31: expected 2 numbers"));
        assert!(error(format!("rank,x\n{rows}")).contains("are both of rank 1, and a row is all of a rank"));
        assert!(error("rank,x\n0,1\n1,1\n3,1\n".to_owned()).contains("rank 2 has no row"));
        assert!(error("rank,step,effort\n0,0,1\n0,1,1\n1,0,1\n".to_owned()).contains("steps"));
        assert!(error("rank,step,effort\n0,0,1\n0,1,inf\n".to_owned()).contains(":3: column 3"));
        // All rows have one length, which is not the header's.
        assert!(
            error("rank,step,effort\n0,0,1,9\n1,0,1,9\n2,0,1,9\n".to_owned()).contains("expected 3 cells")
        );
        assert!(error("x,y\n".to_owned()).contains("header but no rows"));
        assert!(error(String::new()).contains("is empty"));
        assert!(error("a\0".to_owned()).contains("neither text"));
    }

    #[test]
    fn a_file_that_is_not_there_is_told_by_process_0() {
        let error = read_on(3, Path::new("/nowhere/e.csv")).unwrap_err();
        assert!(error.starts_with("/nowhere/e.csv: cannot be read"), "{error}");
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn any_number_of_processes_reads_the_same_parquet() {
        use crate::tables::parquet::{ColumnData, write_parquet};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("e.parquet");
        let columns = [
            ("rank", ColumnData::U32(&[1, 0, 1, 0])),
            ("step", ColumnData::I64(&[0, 0, 1, 1])),
            ("region", ColumnData::Str(&["a", "a", "a", "a"])),
            ("effort", ColumnData::F64(&[3.0, 1.0, 4.0, 2.0])),
        ];
        write_parquet(&path, &columns).unwrap().commit().unwrap();
        let (one, _) = read_effort(&path, &EffortOptions::default()).unwrap();
        assert_eq!(read_on(3, &path), Ok(one.clone()));
        std::fs::write(&path, gzip(&std::fs::read(&path).unwrap())).unwrap();
        assert_eq!(read_on(3, &path), Ok(one));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_alike(
            start in prop::sample::select(vec!["", "rank,step,effort\n", "rank,step,region,effort\n0,0,a,1\n", "rank,a\n"]),
            text in "[0-3,.\n\r\"a]{0,40}"
        ) {
            let _ = same(format!("{start}{text}").as_bytes());
        }

        #[test]
        fn any_rows_of_a_long_table_are_read_or_refused_alike(
            rows in prop::collection::vec((0u32..3, 0u32..2, "[ab]", 0u32..9), 0..14)
        ) {
            let row = |(rank, step, region, effort): &(u32, u32, String, u32)| {
                format!("{rank},{step},{region},{effort}\n")
            };
            let rows: String = rows.iter().map(row).collect();
            let _ = same(format!("rank,step,region,effort\n{rows}").as_bytes());
        }
    }
}
