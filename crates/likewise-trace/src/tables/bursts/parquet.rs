//! A table of bursts as Parquet, such as our own `bursts.parquet`.

use likewise::table::{BurstTable, Nanos};

use super::{Layout, Role, finished};
use crate::bytes::Input;
use crate::error::{Error, ErrorKind, Result, printable};
use crate::tables::parquet::read::{Table, Value, with_table};
use crate::trace::{ReadOptions, ReadReport, Trace};

/// Names of columns, safe to print.
pub(crate) fn names(table: &Table<'_>) -> Vec<String> {
    table.names().map(|name| printable(name.as_bytes(), 400)).collect()
}

/// Reads a table of bursts.
pub(crate) fn read(input: Input, options: &ReadOptions<'_>) -> Result<Trace> {
    let path = input.path().to_owned();
    with_table(&path, input, |table| {
        let layout = Layout::of(names(table)).map_err(|kind| Error::whole(&path, kind))?;
        let mut bursts = layout.empty_table();
        for (at, &role) in layout.roles.iter().enumerate() {
            fill(table, at, role, &mut bursts)?;
            if let Some(progress) = options.progress {
                progress(table.size() * (at as u64 + 1) / layout.roles.len() as u64, table.size());
            }
        }
        let n = bursts.task.len();
        if n == 0 {
            return Err(Error::whole(&path, ErrorKind::OnlyHeader("bursts")));
        }
        // Columns that may be missing.
        [&mut bursts.app, &mut bursts.thread].into_iter().for_each(|ids| ids.push_run(1, n - ids.len()));
        if (0..n).any(|i| bursts.begin[i].0.checked_add(bursts.duration[i].0).is_none()) {
            return Err(Error::whole(&path, ErrorKind::TimeOverflow));
        }
        let report = ReadReport { bytes: table.size(), ..ReadReport::default() };
        Ok(finished(bursts, &layout, report, options.apps))
    })
}

/// One column of the table.
fn fill(table: &Table<'_>, at: usize, role: Role, bursts: &mut BurstTable) -> Result<()> {
    match role {
        Role::App => bursts.app = ids(table, at, 1)?.into(),
        Role::Task => bursts.task = ids(table, at, 0)?.into(),
        Role::Thread => bursts.thread = ids(table, at, 0)?.into(),
        Role::Begin => bursts.begin = times(table, at)?,
        Role::Duration => bursts.duration = times(table, at)?,
        Role::Counter(counter) => {
            let values = table.collected(at, |value| match value {
                None => Ok(f64::NAN),
                Some(value) => match value.number() {
                    Some(number) if !number.is_infinite() => Ok(number),
                    _ => Err("expected finite numbers, or null or NaN where one is missing"),
                },
            });
            bursts.counters[counter].values = values?.into();
        }
        Role::Ignored => {}
    }
    Ok(())
}

/// Ids from `least`, which is 0 or 1.
pub(crate) fn ids(table: &Table<'_>, at: usize, least: u32) -> Result<Vec<u32>> {
    let id = |value: Value<'_>| {
        let id = value.whole().and_then(|id| u32::try_from(id).ok());
        id.filter(|id| (least..u32::MAX).contains(id))
    };
    let expected = match least {
        0 => "expected a number from 0 in every row",
        _ => "expected a number from 1 in every row",
    };
    table.collected(at, |value| value.and_then(id).ok_or(expected))
}

/// Times in nanoseconds.
pub(crate) fn times(table: &Table<'_>, at: usize) -> Result<Vec<Nanos>> {
    let time = |value: Value<'_>| value.whole().and_then(|time| u64::try_from(time).ok()).map(Nanos);
    table.collected(at, |value| value.and_then(time).ok_or("expected a time in nanoseconds in every row"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::parquet::{ColumnData, write_parquet};

    fn parsed(columns: &[(&str, ColumnData<'_>)]) -> Trace {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("bursts.parquet");
        write_parquet(&path, columns).expect("a table").commit().expect("it is written");
        read(Input::open(&path).expect("it opens"), &ReadOptions::default()).expect("bursts")
    }

    /// As of text.
    #[test]
    fn without_a_column_of_threads_each_task_has_one() {
        let (task, thread): (&[u32], &[u32]) = (&[2, 1, 2], &[1, 2, 1]);
        let mut columns = vec![
            ("task", ColumnData::U32(task)),
            ("begin_ns", ColumnData::I64(&[5, 0, 20])),
            ("duration_ns", ColumnData::I64(&[10, 7, 1])),
        ];
        let trace = parsed(&columns);
        assert!(
            trace.table.task == [1, 2, 2] && trace.table.thread == [1, 1, 1] && trace.table.app == [1; 3]
        );
        assert_eq!(trace.table.begin, [0, 5, 20].map(Nanos));
        let said = ["there is no column 'thread': each task is taken to have one thread"];
        assert_eq!(trace.report.warnings, said);
        columns.push(("thread", ColumnData::U32(thread)));
        let trace = parsed(&columns);
        assert!(trace.table.thread == [2, 1, 1] && trace.report.warnings.is_empty());
    }
}
