//! NumPy's arrays of ranks × steps.

use std::path::Path;

use super::parts::{Efforts, Share};
use crate::bytes::{Input, Piece};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::npy::Layout;
use crate::taken::Taken;

pub(super) fn read(path: &Path, input: Input, piece: Piece) -> Result<Option<Share>> {
    if input.compressed() && !piece.is_whole() {
        return Ok(None);
    }
    let whole = input.read_all()?;
    let layout = Layout::parse(&whole).map_err(|kind| Error::whole(path, kind))?;
    if layout.rows == 0 || layout.columns == 0 {
        let problem = format!("it has {} ranks of {} steps", layout.rows, layout.columns);
        return Err(Error::whole(path, ErrorKind::Table(problem)));
    }
    // The layout has checked that the file holds as many numbers as it claims.
    // The file is mapped if possible, so only this piece of it is read.
    let bytes = &whole[layout.offset..];
    let number = |i: usize| layout.number(&bytes[i * layout.width..]);
    let (rows, columns) = (layout.rows, layout.columns);
    let ranks = piece.of(rows);
    let places = ranks.start * columns..ranks.end * columns;
    let values = if layout.fortran {
        places.map(|i| number(i % columns * rows + i / columns)).collect()
    } else {
        places.map(number).collect()
    };
    let taken = Taken { n_numbers: columns, ..Taken::default() };
    Ok(Some(Share { efforts: Efforts::Rows { n_steps: columns, values }, taken }))
}
