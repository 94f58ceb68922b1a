//! NumPy's arrays of ranks × steps.

use std::path::Path;

use likewise::ranks::EffortTable;

use super::{EffortOptions, table_error};
use crate::bytes::Input;
use crate::error::{Error, ErrorKind, Result};
use crate::npy::Layout;

pub(super) fn read(path: &Path, input: Input, options: &EffortOptions<'_>) -> Result<EffortTable> {
    let whole = input.read_all()?;
    let layout = Layout::parse(&whole).map_err(|kind| Error::whole(path, kind))?;
    if layout.rows == 0 || layout.columns == 0 {
        let problem = format!("it has {} ranks of {} steps", layout.rows, layout.columns);
        return Err(Error::whole(path, ErrorKind::Table(problem)));
    }
    // The layout has seen that the file holds as many numbers as it claims.
    let bytes = &whole[layout.offset..];
    let number = |i: usize| layout.number(&bytes[i * layout.width..]);
    let (rows, columns) = (layout.rows, layout.columns);
    let values: Vec<f64> = if layout.fortran {
        (0..rows * columns).map(|i| number(i % columns * rows + i / columns)).collect()
    } else {
        (0..rows * columns).map(number).collect()
    };
    EffortTable::new(vec![options.region.clone()], columns, values).map_err(|e| table_error(path, &e))
}
