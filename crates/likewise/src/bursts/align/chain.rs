//! The heaviest chain of matches between a sequence and the columns near it.

use std::ops::Range;

/// A match takes a chain about as long as this many cells take a table, which
/// works on eight at once.
const FEW: usize = 32;

/// Where the columns of each symbol are.
pub(super) struct Places<'a> {
    /// Of each column.
    symbols: &'a [u32],
    /// The columns by symbol, and ascending.
    columns: Vec<u32>,
    /// Of each symbol, where its columns start; one more at the end.
    starts: Vec<u32>,
    /// Of each column, its place in `columns`.
    place_of: Vec<u32>,
}

impl<'a> Places<'a> {
    /// Of columns with these symbols, which are small numbers.
    pub(super) fn of(symbols: &'a [u32]) -> Self {
        let mut starts = vec![0u32; symbols.iter().max().map_or(0, |&top| top as usize + 1) + 1];
        symbols.iter().for_each(|&symbol| starts[symbol as usize + 1] += 1);
        (1..starts.len()).for_each(|s| starts[s] += starts[s - 1]);
        let mut next = starts.clone();
        let mut columns = vec![0; symbols.len()];
        let place = |(&symbol, column): (&u32, u32)| {
            let place = next[symbol as usize];
            next[symbol as usize] += 1;
            columns[place as usize] = column;
            place
        };
        let place_of = symbols.iter().zip(0..).map(place).collect();
        Self { symbols, columns, starts, place_of }
    }

    /// Whether so few columns hold the symbols of these that [`Chain`] takes less
    /// time than a table: one in [`FEW`].
    pub(super) fn are_few(&self, columns: &[u32]) -> bool {
        let alike: usize = columns.iter().map(|&column| self.alike(column).len()).sum();
        alike * FEW < columns.len() * self.columns.len()
    }

    /// The range in `columns` of those with the symbol of this one.
    fn alike(&self, column: u32) -> Range<usize> {
        let symbol = self.symbols[column as usize] as usize;
        self.starts[symbol] as usize..self.starts[symbol + 1] as usize
    }

    /// The columns with the symbol of this one that are in a range it is in,
    /// descending.
    fn within(&self, column: u32, range: Range<u32>) -> impl Iterator<Item = u32> {
        let Range { start, end } = self.alike(column);
        let at = self.place_of[column as usize] as usize;
        let after = self.columns[at..end].iter().take_while(|&&c| c < range.end).count();
        self.columns[start..at + after].iter().rev().copied().take_while(move |&c| c >= range.start)
    }
}

/// A match of a symbol with a column.
struct Match {
    symbol: u32,
    column: u32,
    /// The one before it in its chain.
    before: Option<u32>,
}

/// What a chain is worth whose last match is in this column.
struct Step {
    column: u32,
    worth: i32,
    last: u32,
}

/// The heaviest chain, and the memory for it, which is used again and again.
///
/// `steps` are the chains so far that no other beats: by column, and none is
/// worth less than one before it. Of equal ones, later columns have earlier
/// symbols.
#[derive(Default)]
pub(super) struct Chain {
    matches: Vec<Match>,
    steps: Vec<Step>,
}

impl Chain {
    /// Finds it for a sequence that is in `columns`, counted from `low`, and may
    /// shift by `reach` columns; `values` are of all columns it may be in. Returns
    /// what it is worth.
    ///
    /// # Complexity
    /// O(p log c) for `p` columns within reach of a symbol like theirs, and chains in
    /// `c` of them; more where many matches beat many others.
    ///
    /// # Reference
    /// Hunt & Szymanski (*CACM* 20, 1977). Differs: matches have weights. Of equal
    /// chains it finds the one that [`super::table::Table`] does.
    pub(super) fn find(
        &mut self,
        places: &Places<'_>,
        low: usize,
        columns: &[u32],
        (values, reach): (&[i32], usize),
    ) -> i32 {
        self.matches.clear();
        self.steps.clear();
        let (low, reach, all) = (low as u32, reach as u32, values.len() as u32);
        let width = all.min(2 * reach);
        for (&column, number) in columns.iter().zip(0..) {
            let first = low + column.saturating_sub(reach).min(all - width);
            // Columns descend, so that no symbol joins a chain that it is in.
            let mut n_before = self.steps.len();
            for column in places.within(low + column, first..first + width) {
                let column = column - low;
                n_before = before(&self.steps[..n_before], column);
                self.add(number, column, values[column as usize], n_before);
            }
        }
        self.steps.last().map_or(0, |step| step.worth)
    }

    /// A match of this worth goes on from the best of `n_before` steps.
    fn add(&mut self, symbol: u32, column: u32, worth: i32, n_before: usize) {
        let from = self.steps[..n_before].last();
        let worth = worth + from.map_or(0, |step| step.worth);
        let is_beaten = |step: &Step| step.column <= column && step.worth >= worth;
        if worth == 0 || from.is_some_and(is_beaten) || self.steps.get(n_before).is_some_and(is_beaten) {
            return;
        }
        let before = from.map(|step| step.last);
        let last = self.matches.len() as u32;
        let beats = |step: &&Step| {
            step.worth < worth || step.worth == worth && self.matches[step.last as usize].symbol == symbol
        };
        let n_beaten = self.steps[n_before..].iter().take_while(beats).count();
        self.matches.push(Match { symbol, column, before });
        let step = Step { column, worth, last };
        match n_beaten {
            0 => self.steps.insert(n_before, step),
            _ => {
                self.steps[n_before] = step;
                self.steps.drain(n_before + 1..n_before + n_beaten);
            }
        }
    }

    /// Of each symbol, the column it joins; `None` is a column of its own.
    pub(super) fn placement(&self, n_symbols: usize) -> Vec<Option<u32>> {
        let mut placement = vec![None; n_symbols];
        let mut next = self.steps.last().map(|step| step.last);
        while let Some(number) = next {
            let Match { symbol, column, before } = self.matches[number as usize];
            placement[symbol as usize] = Some(column);
            next = before;
        }
        placement
    }
}

/// How many steps are in columns before this one. It is looked for from the
/// end, where it most often is.
fn before(steps: &[Step], column: u32) -> usize {
    let mut size = 1;
    while size < steps.len() && steps[steps.len() - size].column >= column {
        size *= 2;
    }
    let start = steps.len().saturating_sub(size);
    start + steps[start..].partition_point(|step| step.column < column)
}

#[cfg(test)]
mod tests {
    use super::super::table::Table;
    use super::*;
    use proptest::prelude::*;

    fn columns() -> impl Strategy<Value = Vec<(u32, i32, bool)>> {
        prop_oneof![1..3u32, 2..40u32]
            .prop_flat_map(|kinds| prop::collection::vec((0..kinds, 0..4i32, any::<bool>()), 1..300))
    }

    proptest! {
        #[test]
        fn the_chain_is_where_the_table_says(all in columns(), low in 0..40usize, reach in 1..80usize) {
            let symbols: Vec<u32> = all.iter().map(|&(symbol, _, _)| symbol).collect();
            let low = low.min(all.len() - 1);
            let values: Vec<i32> = all[low..].iter().map(|&(_, value, _)| value).collect();
            let shown = (0..).zip(&all[low..]).filter(|(_, (_, _, is_shown))| *is_shown);
            let columns: Vec<u32> = shown.map(|(column, _)| column).collect();
            let mut rows = Vec::new();
            let table = Table::new(&symbols[low..], &columns, (&values, reach), &mut rows);
            let mut chain = Chain::default();
            let best = chain.find(&Places::of(&symbols), low, &columns, (&values, reach));
            prop_assert_eq!(best, table.best());
            prop_assert_eq!(chain.placement(columns.len()), table.placement());
        }
    }
}
