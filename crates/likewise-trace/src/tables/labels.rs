//! The cluster of every row of a result, to compare two results.

use std::path::Path;

use csv::ByteRecord;

use crate::bytes::Input;
use crate::error::{Error, ErrorKind, Place, Result, found};
use crate::tables::bursts::place_of;
use crate::tables::dialect::whole_number;
use crate::tables::parquet::MAGIC as PARQUET;
use crate::tables::rows::Rows;

/// What a result says of one row. It is not the core's `BurstLabel`: numbers are the
/// file's own, 0 included, and other programs do not say why a burst was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLabel {
    /// It is in the cluster of that number.
    Cluster(u32),
    /// It was clustered and is in none.
    Noise,
    /// It was not clustered: filtered, or its data are missing.
    Unclassified,
}

/// Which burst a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BurstKey {
    /// Application, from 1; 1 where the file does not say.
    pub app: u32,
    /// Task, from 1.
    pub task: u32,
    /// Thread, from 1.
    pub thread: u32,
    /// Begin, in the file's unit: nanoseconds, except in old `.DATA.csv`.
    pub begin: u64,
}

/// The labels of a result, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelTable {
    /// The burst of every row, where the file says.
    pub keys: Option<Vec<BurstKey>>,
    /// The label of every row.
    pub labels: Vec<RowLabel>,
    /// The duration of every row, where the file says, in the unit of the begin.
    pub durations: Option<Vec<u64>>,
}

/// Where a file keeps its keys and labels.
struct Layout {
    app: Option<usize>,
    /// Task, thread, begin.
    key: Option<[usize; 3]>,
    cluster: usize,
    duration: Option<usize>,
    names: Vec<String>,
    /// ClusteringSuite's: ids from 0, cluster k as k + 5.
    suite: bool,
}

const KINDS: &str = "bursts.csv or .parquet, labels.csv, or a .DATA.csv of ClusteringSuite";

/// Reads `bursts.csv`, `labels.csv`, or a `.DATA.csv` of ClusteringSuite,
/// plain or gzip, or `bursts.parquet`; the names of the columns say which.
///
/// # Errors
/// [`Error`] names the line and the cell that is wrong.
pub fn read_labels(path: &Path) -> Result<LabelTable> {
    let mut input = Input::open_text(path)?;
    if input.peek(PARQUET.len())?.starts_with(PARQUET) {
        #[cfg(not(feature = "parquet"))]
        return Err(crate::tables::parquet::not_built(path));
        #[cfg(feature = "parquet")]
        return of_parquet(path, input);
    }
    let mut rows = Rows::open(input, KINDS)?;
    let layout = Layout::of(rows.names.clone()).map_err(|kind| rows.wrong(rows.header_line, kind))?;
    let mut table = layout.empty();
    while let Some((record, line)) = rows.next()? {
        let pushed = layout.push(record, &mut table);
        pushed.map_err(|kind| Error::at(path, Place::Line(line), kind))?;
    }
    if table.labels.is_empty() {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
    }
    Ok(table)
}

#[cfg(feature = "parquet")]
fn of_parquet(path: &Path, input: Input) -> Result<LabelTable> {
    use crate::tables::bursts::parquet::{ids, names, times};
    crate::tables::parquet::read::with_table(path, input, |file| {
        let layout = Layout::of(names(file)).map_err(|kind| Error::whole(path, kind))?;
        let mut table = layout.empty();
        let texts =
            file.collected(layout.cluster, |value| Ok(value.map_or_else(String::new, |v| v.text(80))))?;
        for (row, text) in texts.iter().enumerate() {
            let label = layout.label(text.as_bytes()).map_err(|kind| {
                let problem = format!("row {} (from 1): {kind}", row + 1);
                Error::whole(path, ErrorKind::Table(problem))
            })?;
            table.labels.push(label);
        }
        if let (Some(keys), Some([task, thread, begin])) = (&mut table.keys, layout.key) {
            let [task, thread] = [ids(file, task, 1)?, ids(file, thread, 1)?];
            let app = layout.app.map_or_else(|| Ok(vec![1; task.len()]), |at| ids(file, at, 1))?;
            let begin = times(file, begin)?;
            let key =
                |i: usize| BurstKey { app: app[i], task: task[i], thread: thread[i], begin: begin[i].0 };
            keys.extend((0..task.len()).map(key));
        }
        if let (Some(durations), Some(at)) = (&mut table.durations, layout.duration) {
            durations.extend(times(file, at)?.iter().map(|time| time.0));
        }
        match table.labels.is_empty() {
            true => Err(Error::whole(path, ErrorKind::OnlyHeader("rows"))),
            false => Ok(table),
        }
    })
}

impl Layout {
    fn of(names: Vec<String>) -> std::result::Result<Self, ErrorKind> {
        let place = |name: &str| place_of(name, &names);
        // The first line of a `.DATA.csv` begins with '# '.
        let suite = names.first().is_some_and(|n| n == "Instance");
        let (label, duration, keys) = if suite {
            ("ClusterID", "Duration", ["TaskId", "ThreadId", "Begin_Time"])
        } else {
            ("cluster", "duration_ns", ["task", "thread", "begin_ns"])
        };
        let cluster = place(label).ok_or_else(|| ErrorKind::MissingColumn(label.to_owned(), KINDS))?;
        let key = match keys.map(place) {
            [Some(task), Some(thread), Some(begin)] => Some([task, thread, begin]),
            _ => None,
        };
        Ok(Self { app: place("app"), key, cluster, duration: place(duration), suite, names })
    }

    fn empty(&self) -> LabelTable {
        LabelTable {
            keys: self.key.map(|_| Vec::new()),
            labels: Vec::new(),
            durations: self.duration.map(|_| Vec::new()),
        }
    }

    fn push(&self, record: &ByteRecord, table: &mut LabelTable) -> std::result::Result<(), ErrorKind> {
        if let (Some(keys), Some(key)) = (&mut table.keys, self.key(record)?) {
            keys.push(key);
        }
        table.labels.push(self.label(self.cell(record, self.cluster))?);
        if let (Some(durations), Some(column)) = (&mut table.durations, self.duration) {
            durations.push(self.time(record, column, "a duration")?);
        }
        Ok(())
    }

    fn cell<'r>(&self, record: &'r ByteRecord, column: usize) -> &'r [u8] {
        record.get(column).unwrap_or_default().trim_ascii()
    }

    fn bad(&self, column: usize, what: &'static str, cell: &[u8]) -> ErrorKind {
        ErrorKind::Cell { column: column + 1, name: self.names[column].clone(), what, found: found(cell) }
    }

    fn key(&self, record: &ByteRecord) -> std::result::Result<Option<BurstKey>, ErrorKind> {
        let Some([task, thread, begin]) = self.key else { return Ok(None) };
        let id = |column: usize| {
            let cell = self.cell(record, column);
            // ClusteringSuite counts from 0, all other tables from 1.
            let id = whole_number(cell).and_then(|n| n.checked_add(u64::from(self.suite)));
            id.and_then(|n| u32::try_from(n).ok()).ok_or_else(|| self.bad(column, "an id", cell))
        };
        Ok(Some(BurstKey {
            app: self.app.map_or(Ok(1), id)?,
            task: id(task)?,
            thread: id(thread)?,
            begin: self.time(record, begin, "a time")?,
        }))
    }

    fn time(
        &self,
        record: &ByteRecord,
        column: usize,
        what: &'static str,
    ) -> std::result::Result<u64, ErrorKind> {
        let cell = self.cell(record, column);
        whole_number(cell).ok_or_else(|| self.bad(column, what, cell))
    }

    fn label(&self, cell: &[u8]) -> std::result::Result<RowLabel, ErrorKind> {
        let number = whole_number(cell).and_then(|n| u32::try_from(n).ok());
        match (self.suite, number, cell) {
            (true, Some(id @ 6..), _) => Ok(RowLabel::Cluster(id - 5)),
            (true, Some(5), _) => Ok(RowLabel::Noise),
            (true, Some(_), _) => Ok(RowLabel::Unclassified),
            (false, Some(id), _) => Ok(RowLabel::Cluster(id)),
            (false, None, b"noise" | b"-1") => Ok(RowLabel::Noise),
            (false, None, b"" | b"missing") => Ok(RowLabel::Unclassified),
            (false, None, cell) if cell.starts_with(b"filtered_") => Ok(RowLabel::Unclassified),
            (true, ..) => Err(self.bad(self.cluster, "a cluster's number", cell)),
            (false, ..) => {
                Err(self.bad(self.cluster, "a cluster's number, noise, filtered_… or missing", cell))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LabelTable> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("labels");
        std::fs::write(&path, text).unwrap();
        read_labels(&path)
    }

    #[test]
    fn reads_the_three_kinds() {
        let ours =
            "task,thread,begin_ns,duration_ns,cluster\n2,1,7,1,3\n1,1,0,1,noise\n1,1,5,1,filtered_range\n";
        let table = read(ours).unwrap();
        assert_eq!(table.labels, [RowLabel::Cluster(3), RowLabel::Noise, RowLabel::Unclassified]);
        assert_eq!(table.keys.unwrap()[0], BurstKey { app: 1, task: 2, thread: 1, begin: 7 });
        let plain = read("\u{feff}cluster\n1\n-1\n").unwrap();
        assert_eq!((plain.keys, plain.labels), (None, vec![RowLabel::Cluster(1), RowLabel::Noise]));
        let suite = "# Instance,TaskId,ThreadId,Begin_Time, Line, d_X,ClusterID\n\
            0,8,0,7,30, 1.5,12\n1,5,0,9,31, 1.5,5\n2,5,0,11,31, 1.5,2\n";
        let table = read(suite).unwrap();
        assert_eq!(table.labels, [RowLabel::Cluster(7), RowLabel::Noise, RowLabel::Unclassified]);
        assert_eq!(table.keys.unwrap()[0], BurstKey { app: 1, task: 9, thread: 1, begin: 7 });
    }

    #[test]
    fn says_what_is_wrong() {
        let error = read("a,b\n1,2\n").unwrap_err().to_string();
        assert!(error.contains("labels:1: the table has no column 'cluster'"), "{error}");
        let error = read("cluster\n1\nabc\n").unwrap_err().to_string();
        assert!(error.contains("labels:3: column 1 (cluster): expected a cluster's number"), "{error}");
        let error = read("").unwrap_err().to_string();
        assert!(error.contains("the file is empty; expected bursts.csv or .parquet"), "{error}");
        let error = read("task,cluster\n").unwrap_err().to_string();
        assert!(error.ends_with("labels: the table has a header but no rows"), "{error}");
    }
}
