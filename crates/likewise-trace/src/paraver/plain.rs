//! Records as tracers write nearly all of them, read in one pass.
//!
//! The number that ends such a line is followed by the line's end, so nobody has
//! to look for the end before. What is not as plain as that (signs, numbers over
//! sixteen digits, a carriage return, the end of a block, damage) is left to
//! [`parse`](super::records::parse), which also says what is wrong.

use super::records::{Known, POWERS, Record, TYPE_BITS, eight_digits, four_fields};
use crate::trace::Who;

/// Reads the line at the begin of some bytes: the record, and the line's length
/// with its end. `known` receives an event's types and values. `None` tells
/// nothing about the line.
#[inline(always)]
pub(crate) fn parse_plain(bytes: &[u8], known: &mut Known) -> Option<(Record, usize)> {
    let mut numbers = Numbers { bytes, pos: 2 };
    let record = match bytes {
        [b'1', b':', ..] => numbers.state(known)?,
        [b'2', b':', ..] => numbers.event(known)?,
        [b'3', b':', ..] => numbers.communication(known)?,
        _ => return None,
    };
    Some((record, numbers.pos))
}

struct Numbers<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl Numbers<'_> {
    // States and events are apart from their caller, in which the loops would have
    // too few registers.
    #[inline(never)]
    fn state(&mut self, known: &mut Known) -> Option<Record> {
        let who = self.who(known)?;
        let begin = self.before(b':')?;
        let end = self.before(b':')?;
        let value = u32::try_from(self.before(b'\n')?).ok()?;
        (begin <= end).then_some(Record::State { who, begin, end: Some(end), value })
    }

    #[inline(never)]
    fn event(&mut self, known: &mut Known) -> Option<Record> {
        let who = self.who(known)?;
        let time = self.before(b':')?;
        known.pairs.clear();
        loop {
            let event_type = self.event_type(known)?;
            let (value, next) = self.number()?;
            known.pairs.push((event_type, i128::from(value)));
            match next {
                b':' => {}
                b'\n' => return Some(Record::Event { who, time }),
                _ => return None,
            }
        }
    }

    fn communication(&mut self, known: &mut Known) -> Option<Record> {
        let mut side = || -> Option<Who> {
            let who = self.who(known)?;
            self.before(b':')?;
            self.before(b':')?;
            Some(who)
        };
        let (from, to) = (side()?, side()?);
        let size = self.before(b':')?;
        self.before(b'\n')?;
        Some(Record::Communication { from, to, size })
    }

    /// A CPU and a thread, of up to sixteen bytes.
    #[inline(always)]
    fn who(&mut self, known: &mut Known) -> Option<Who> {
        let (text, len) = four_fields(self.bytes, self.pos)?;
        if let Some(who) = known.thread(text) {
            self.pos += len;
            return Some(who);
        }
        self.new_who(text, known)
    }

    #[cold]
    fn new_who(&mut self, text: u128, known: &mut Known) -> Option<Who> {
        self.before(b':')?;
        let mut id = || u32::try_from(self.before(b':')?).ok();
        let who = Who { app: id()?, task: id()?, thread: id()? };
        known.learn(text, who);
        Some(who)
    }

    /// A type and the colon behind it. Comparing its text with one that is known
    /// takes less than reading its digits.
    #[inline(always)]
    fn event_type(&mut self, known: &mut Known) -> Option<u32> {
        let window: &[u8; 9] = self.bytes.get(self.pos..)?.first_chunk()?;
        let text = u64::from_le_bytes(*window.first_chunk()?);
        let mixed = text.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = &mut known.types[(mixed >> (64 - TYPE_BITS)) as usize];
        if place.0 == text && window[8] == b':' {
            self.pos += 9;
            return Some(place.1);
        }
        let start = self.pos;
        let event_type = u32::try_from(self.before(b':')?).ok()?;
        if self.pos == start + 9 {
            *place = (text, event_type);
        }
        Some(event_type)
    }

    /// A number with that byte behind it.
    #[inline(always)]
    fn before(&mut self, end: u8) -> Option<u64> {
        let (value, next) = self.number()?;
        (next == end).then_some(value)
    }

    /// A number of up to sixteen digits, and the byte behind it.
    #[inline(always)]
    fn number(&mut self) -> Option<(u64, u8)> {
        let window: &[u8; 17] = self.bytes.get(self.pos..)?.first_chunk()?;
        let (first, rest) = window.split_first_chunk()?;
        let (mut value, mut n) = eight_digits(u64::from_le_bytes(*first));
        if n == 8 && window[8] != b':' {
            let (more, m) = eight_digits(u64::from_le_bytes(*rest.first_chunk()?));
            (value, n) = (value * POWERS[m] + more, 8 + m);
        }
        self.pos += n + 1;
        (n > 0).then(|| (value, window[n]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::parse;
    use super::*;
    use proptest::prelude::*;

    /// What is plain is read as every other line is.
    fn check(line: &[u8], behind: &[u8], known: &mut Known, other: &mut Known) -> Result<(), TestCaseError> {
        let all = [line, b"\n", behind].concat();
        let Some((record, used)) = parse_plain(&all, known) else {
            // The other way makes the thread known.
            let _ = parse(line, known);
            return Ok(());
        };
        let pairs = known.pairs.clone();
        prop_assert_eq!(used, line.len() + 1);
        prop_assert_eq!(record, parse(line, other).expect("a line that is plain has no fault"));
        if matches!(record, Record::Event { .. }) {
            prop_assert_eq!(pairs, other.pairs.clone());
        }
        Ok(())
    }

    #[test]
    fn most_lines_are_plain() {
        let mut known = Known::default();
        let behind = b"1:1:1:1:1:10:20:1\n";
        for line in
            ["1:1:1:1:1:0:5:1", "2:1:1:1:1:5:42000050:123456789012:7:0", "3:1:1:1:1:1:2:1:1:1:1:3:4:5:6"]
        {
            let all = [line.as_bytes(), b"\n", behind].concat();
            let _ = parse(line.as_bytes(), &mut known);
            let (record, used) = parse_plain(&all, &mut known).unwrap();
            assert_eq!(
                (record, used),
                (parse(line.as_bytes(), &mut Known::default()).unwrap(), line.len() + 1)
            );
        }
    }

    proptest! {
        #[test]
        fn plain_lines_agree_with_the_other_way(
            lines in proptest::collection::vec("[123]:[1-3]:1:[12]:1:[0-9]{1,18}:[0-9]{1,9}:([0-9]{0,17}|-1)(:[0-9x]{1,9}){0,5}\r?", 1..20),
        ) {
            let (mut known, mut other) = (Known::default(), Known::default());
            for line in &lines {
                check(line.as_bytes(), b"1:1:1:1:1:10:20:1\n", &mut known, &mut other)?;
                check(line.as_bytes(), b"", &mut known, &mut other)?;
            }
        }

        #[test]
        fn arbitrary_lines_agree_with_the_other_way(
            line in proptest::collection::vec(prop_oneof![Just(b':'), b'0'..=b'9', any::<u8>()], 0..60),
            kind in 0..4usize,
        ) {
            let mut known = Known::default();
            let mut text = [&b""[..], b"1:1:1:1:1:", b"2:1:1:1:1:5:", b"3:1:1:1:1:"][kind].to_vec();
            text.extend(line.iter().filter(|&&b| b != b'\n'));
            let _ = parse(b"1:1:1:1:1:5:6:1", &mut known);
            check(&text, b"2:1:1:1:1:5:6:1\n", &mut known, &mut Known::default())?;
        }
    }
}
