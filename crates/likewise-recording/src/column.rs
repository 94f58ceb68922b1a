//! A column of numbers: a constant, an arithmetic progression, or else folded
//! differences.
//!
//! Of a column that is neither constant nor arithmetic, the differences are
//! folded into loops (see [`crate::fold`]): what is periodic, with a drift or
//! without, or nested, takes the space of one period. What has no period is
//! listed.

use crate::broken::Broken;
use crate::bytes::{Reader, Write, unzigzag, zigzag};
use crate::fold::{Fold, Item, Token, node_of, read_item, read_token};

/// Loops of up to half as many differences are found.
const WINDOW: usize = 512;

/// Steps through loops without a leaf, after which a file is nonsense.
const MOST_STEPS: usize = 1 << 20;

/// Differences whose zigzag needs more bits are kept in a list of their own.
const LONG: Token = 1 << 62;

/// The first byte of a written column: it is always the same number.
pub(crate) const CONSTANT: u8 = 0;
/// It is arithmetic.
pub(crate) const EVEN: u8 = 1;
/// Its differences are folded.
const UNEVEN: u8 = 2;
/// Its numbers stand there one by one.
pub(crate) const LISTED: u8 = 3;

/// The values of lists are listed where they are so few. Then ranks that
/// differ in them alone are seen to.
const FEW: u64 = 12;

/// A column that grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    n: u64,
    first: i64,
    last: i64,
    step: i64,
    folded: Option<Box<Folded>>,
}

#[derive(Clone, Debug)]
struct Folded {
    fold: Fold,
    long: Vec<i64>,
}

impl Folded {
    fn push(&mut self, difference: i64) {
        let token = zigzag(difference);
        if token < LONG {
            self.fold.push(token);
            return;
        }
        let at = self.long.iter().position(|known| *known == difference).unwrap_or_else(|| {
            self.long.push(difference);
            self.long.len() - 1
        });
        self.fold.push(LONG | at as Token);
    }
}

impl Column {
    /// Adds a number.
    #[inline]
    pub(crate) fn push(&mut self, value: i64) {
        let difference = value.wrapping_sub(self.last);
        self.n += 1;
        self.last = value;
        if let Some(folded) = &mut self.folded {
            folded.push(difference);
        } else if self.n > 2 {
            if difference != self.step {
                self.fold(difference);
            }
        } else if self.n == 2 {
            self.step = difference;
        } else {
            self.first = value;
        }
    }

    /// Adds the last number again, so often.
    pub(crate) fn again(&mut self, times: u64) {
        if self.folded.is_none() && self.n > 1 && self.step == 0 {
            self.n += times;
        } else {
            (0..times).for_each(|_| self.push(self.last));
        }
    }

    #[cold]
    fn fold(&mut self, difference: i64) {
        let mut folded = Folded { fold: Fold::new(WINDOW), long: Vec::new() };
        (0..self.n - 2).for_each(|_| folded.push(self.step));
        folded.push(difference);
        self.folded = Some(Box::new(folded));
    }

    pub(crate) fn len(&self) -> u64 {
        self.n
    }

    /// About how many bytes of memory this takes.
    pub(crate) fn memory(&self) -> usize {
        let folded = self.folded.as_ref();
        size_of::<Self>() + folded.map_or(0, |folded| folded.fold.memory() + folded.long.capacity() * 8)
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        if let Some(folded) = &self.folded {
            bytes.push(UNEVEN);
            bytes.signed(self.first);
            folded.fold.write(bytes);
            bytes.number(folded.long.len() as u64);
            folded.long.iter().for_each(|value| bytes.signed(*value));
        } else if self.n > 1 && self.step != 0 {
            bytes.push(EVEN);
            bytes.signed(self.first);
            bytes.signed(self.step);
        } else {
            bytes.push(CONSTANT);
            bytes.signed(self.first);
        }
    }

    /// A column of the values of lists.
    pub(crate) fn write_values(&self, bytes: &mut Vec<u8>) {
        if self.n > FEW {
            self.write(bytes);
            return;
        }
        let mut written = Vec::new();
        self.write(&mut written);
        let mut values = Values::read(&mut Reader::new(&written)).expect("written above");
        bytes.push(LISTED);
        bytes.number(self.n);
        (0..self.n).map_while(|_| values.next()).for_each(|value| bytes.signed(value));
    }
}

/// A column, as it is read.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// Of a constant or arithmetic column: the next one, and the step. It has
    /// no end; who reads knows how many there are.
    Even(i64, i64),
    /// Of a list, what is left of it, the last value first.
    Listed(Vec<i64>),
    /// The value before the next one, and the differences from here on.
    Uneven { last: i64, started: bool, differences: Box<Unfold>, long: Vec<i64> },
}

impl Values {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Broken> {
        match reader.byte()? {
            CONSTANT => Ok(Self::Even(reader.signed()?, 0)),
            EVEN => Ok(Self::Even(reader.signed()?, reader.signed()?)),
            UNEVEN => {
                let last = reader.signed()?;
                let differences = Box::new(Unfold::read(reader)?);
                let n = reader.count()?;
                let long = (0..n).map(|_| reader.signed()).collect::<Result<_, _>>()?;
                Ok(Self::Uneven { last, started: false, differences, long })
            }
            LISTED => {
                let n = reader.count()?;
                let mut values = (0..n).map(|_| reader.signed()).collect::<Result<Vec<_>, _>>()?;
                values.reverse();
                Ok(Self::Listed(values))
            }
            _ => Err(reader.broken("no such kind of column")),
        }
    }

    /// The next number; none if there are no more.
    pub(crate) fn next(&mut self) -> Option<i64> {
        match self {
            Self::Even(next, step) => {
                let value = *next;
                *next = value.wrapping_add(*step);
                Some(value)
            }
            Self::Listed(rest) => rest.pop(),
            Self::Uneven { last, started, differences, long } => {
                if *started {
                    let token = differences.next()?;
                    let difference = if token & LONG == 0 {
                        unzigzag(token)
                    } else {
                        *long.get((token & !LONG) as usize)?
                    };
                    *last = last.wrapping_add(difference);
                }
                *started = true;
                Some(*last)
            }
        }
    }
}

/// A folded sequence, as it is read: leaf by leaf.
#[derive(Clone, Debug)]
pub(crate) struct Unfold {
    /// Bodies; a body holds only loops that come before it.
    pub(crate) nodes: Vec<Vec<Token>>,
    pub(crate) items: std::vec::IntoIter<Item>,
    /// The counts of the loops in each body, in order.
    pub(crate) counts: Vec<Vec<(u32, Values)>>,
    stack: Vec<(u32, u32, u64)>,
}

impl Unfold {
    pub(crate) fn new(nodes: Vec<Vec<Token>>, items: Vec<Item>, counts: Vec<Vec<(u32, Values)>>) -> Self {
        Self { nodes, items: items.into_iter(), counts, stack: Vec::new() }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Broken> {
        let nodes = read_nodes(reader)?;
        let n = reader.count()?;
        let items = (0..n).map(|_| read_item(reader)).collect::<Result<Vec<_>, _>>()?;
        let wrong = |item: &Item| node_of(item.token).is_some_and(|node| node as usize >= nodes.len());
        if items.iter().any(wrong) {
            return Err(reader.broken("no such loop"));
        }
        let mut counts = Vec::new();
        for body in &nodes {
            let places = body.iter().enumerate().filter(|(_, token)| node_of(**token).is_some());
            let columns = places.map(|(place, _)| Ok((place as u32, Values::read(reader)?)));
            counts.push(columns.collect::<Result<_, _>>()?);
        }
        Ok(Self::new(nodes, items, counts))
    }

    /// The next leaf; none at the end, or where counts are missing.
    pub(crate) fn next(&mut self) -> Option<Token> {
        // Loops that are entered no time at all must not last for ever.
        for _ in 0..MOST_STEPS {
            let Some((node, at, left)) = self.stack.last_mut() else {
                let item = self.items.next()?;
                let Some(node) = node_of(item.token) else { return Some(item.token) };
                self.enter(node, item.count);
                continue;
            };
            let body = &self.nodes[*node as usize];
            if *at as usize == body.len() {
                *at = 0;
                *left -= 1;
                if *left == 0 {
                    self.stack.pop();
                }
                continue;
            }
            let (token, place) = (body[*at as usize], *at);
            *at += 1;
            let Some(inner) = node_of(token) else { return Some(token) };
            let counts = &mut self.counts[*node as usize];
            let column = counts.iter_mut().find(|(known, _)| *known == place);
            let count = column.and_then(|(_, values)| values.next())?;
            self.enter(inner, count as u64);
        }
        None
    }

    fn enter(&mut self, node: u32, count: u64) {
        if count > 0 {
            self.stack.push((node, 0, count));
        }
    }
}

/// Bodies of loops: none is empty, and each holds only loops before it.
pub(crate) fn read_nodes(reader: &mut Reader<'_>) -> Result<Vec<Vec<Token>>, Broken> {
    let n = reader.count()?;
    let mut nodes: Vec<Vec<Token>> = Vec::with_capacity(n);
    for number in 0..n {
        let length = reader.count()?;
        let body = (0..length).map(|_| read_token(reader)).collect::<Result<Vec<_>, _>>()?;
        let wrong = |token: &Token| node_of(*token).is_some_and(|node| node as usize >= number);
        if body.is_empty() || body.iter().any(wrong) {
            return Err(reader.broken("a loop that holds itself, or nothing"));
        }
        nodes.push(body);
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of(values: &[i64]) -> Vec<u8> {
        let mut column = Column::default();
        values.iter().for_each(|value| column.push(*value));
        let mut bytes = Vec::new();
        column.write(&mut bytes);
        bytes
    }

    fn check(values: &[i64]) -> usize {
        let bytes = bytes_of(values);
        let mut reader = Reader::new(&bytes);
        let mut read = Values::read(&mut reader).unwrap();
        assert_eq!(reader.rest(), 0);
        for (at, value) in values.iter().enumerate() {
            assert_eq!(read.next(), Some(*value), "value {at}");
        }
        bytes.len()
    }

    #[test]
    fn regular_columns_are_short() {
        assert_eq!(check(&[5; 1000]), 2);
        assert_eq!(check(&(0..1000).map(|i| 3 * i).collect::<Vec<_>>()), 3);
        let periodic: Vec<i64> = (0..1000).map(|i| [4, 9, 1][i % 3]).collect();
        assert!(check(&periodic) < 16);
        let nested: Vec<i64> = (0..10_000).map(|i| i % 100 / 10 * 7 + i % 10).collect();
        assert!(check(&nested) < 64, "{}", check(&nested));
        let counts: Vec<i64> = (0..1000).flat_map(|i| vec![i; (i % 7) as usize]).collect();
        check(&counts);
    }

    #[test]
    fn any_difference_is_kept() {
        check(&[i64::MIN, i64::MAX, 0, i64::MAX, i64::MIN, -1, i64::MIN, i64::MAX, 0]);
        check(&[]);
        check(&[i64::MIN]);
    }

    proptest! {
        #[test]
        fn columns_come_back(values in prop::collection::vec(-3..4_i64, 0..3000)) {
            check(&values);
        }

        #[test]
        fn nests_come_back(
            body in prop::collection::vec((0..5_i64, 0..6_usize), 1..6),
            outer in 1..200_usize,
            noise in prop::collection::vec((0..2000_usize, 0..9_i64), 0..4),
        ) {
            let mut values = Vec::new();
            for turn in 0..outer {
                for (at, (value, times)) in body.iter().enumerate() {
                    let times = if at == 0 { (times + turn) % 5 } else { *times };
                    values.extend(std::iter::repeat_n(*value, times));
                }
            }
            for (at, value) in noise {
                values.insert(at.min(values.len()), value);
            }
            check(&values);
        }

        #[test]
        fn broken_bytes_are_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            bytes.insert(0, 2);
            if let Ok(mut values) = Values::read(&mut Reader::new(&bytes)) {
                (0..100_000).for_each(|_| { values.next(); });
            }
        }
    }
}
