//! The values of a symbol's events, one event after the other.

use crate::broken::Broken;
use crate::bytes::Reader;
use crate::column::Values;
use crate::part::{Key, Part};

/// Values in a list, at most.
const MOST: usize = 1 << 26;

/// The columns of a symbol's fields.
#[derive(Debug)]
pub(crate) struct Fields(Vec<Field>);

/// The column of a field: of a list, also its values, and the last list.
type Field = (Values, Option<(Values, Vec<i64>)>);

impl Fields {
    pub(crate) fn open(part: &Part, rank: u32, symbol: u32) -> Result<Self, Broken> {
        let missing = || Broken { at: 0, what: "a column is missing".to_owned() };
        let read = |key| {
            let bytes = part.column(rank, key).ok_or_else(missing)?;
            Values::read(&mut Reader::new(bytes))
        };
        let mut fields = Vec::new();
        for (number, field) in part.tables.symbols[symbol as usize].0.fields().iter().enumerate() {
            let column = read(Key::Field(symbol, number as u32))?;
            let list = field.is_list.then(|| read(Key::List(symbol, number as u32)));
            fields.push((column, list.transpose()?.map(|values| (values, Vec::new()))));
        }
        Ok(Self(fields))
    }

    /// The values of the next event.
    pub(crate) fn next(&mut self, values: &mut Vec<i64>) -> Result<(), Broken> {
        self.next_of(MOST, values)
    }

    /// The same, of lists no longer than that.
    pub(crate) fn next_of(&mut self, most: usize, values: &mut Vec<i64>) -> Result<(), Broken> {
        values.clear();
        let short = || Broken { at: 0, what: "fewer values than events".to_owned() };
        for (column, list) in &mut self.0 {
            let value = column.next().ok_or_else(short)?;
            let Some((items, last)) = list else {
                values.push(value);
                continue;
            };
            if value >= 0 {
                last.clear();
                for _ in 0..value {
                    last.push(items.next().ok_or_else(short)?);
                    if last.len() > most {
                        return Err(short());
                    }
                }
            }
            values.push(last.len() as i64);
            values.extend_from_slice(last);
        }
        Ok(())
    }
}
