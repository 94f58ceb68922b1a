//! One line of a Paraver trace.
//!
//! Numbers are read eight digits at a time, because most fields of a trace
//! have about as many: event types, times since the last event, counters.
//! Most lines are [plain](super::plain) and do not come here.

use crate::bytes::trim_end;
use crate::error::{ErrorKind, found};
use crate::trace::Who;

/// A record; the pairs of an event are put into a buffer beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// `1:cpu:app:task:thread:begin:end:state`; no end where it is −1.
    State { who: Who, begin: u64, end: Option<u64>, value: u32 },
    /// A state that ends before it begins: where the clocks of tasks do not agree.
    Backwards { who: Who, begin: u64, end: u64 },
    /// A state or an event with a negative time, as Paraver's cutter writes them behind the last
    /// record to end what is open.
    Untimed { who: Who },
    /// `2:cpu:app:task:thread:time:type:value[:type:value…]`.
    Event { who: Who, time: u64 },
    /// `3:cpu:app:task:thread:lsend:psend:cpu:app:task:thread:lrecv:precv:size:tag`.
    Communication { from: Who, to: Who, size: u64 },
    /// `4:…`, obsolete.
    GlobalOperation,
    /// `c:…`, `C:…`, `i:…`, `I:…`.
    Communicator,
    /// `#…`.
    Comment,
    /// An empty line.
    Blank,
    /// Anything else.
    Unknown,
}

/// What lines repeat of the lines before, so that it is not read again.
#[derive(Debug)]
pub(crate) struct Known {
    /// An event's types and values, in order.
    pub(super) pairs: Vec<(u32, i128)>,
    /// Types of eight digits, as most are, by a hash of their text.
    pub(super) types: [(u64, u32); TYPES],
    /// CPUs and threads, by a hash of their text.
    threads: Vec<(u128, Who)>,
}

/// The places of [`Known::types`], and the bits of their numbers.
const TYPES: usize = 1 << TYPE_BITS;
pub(super) const TYPE_BITS: u32 = 7;

/// The places of [`Known::threads`].
const THREADS: usize = 512;

impl Default for Known {
    fn default() -> Self {
        // No text is 0: it has colons.
        let nobody = (0, Who { app: 0, task: 0, thread: 0 });
        Self { pairs: Vec::new(), types: [(0, 0); TYPES], threads: vec![nobody; THREADS] }
    }
}

impl Known {
    /// Types and values of the last event.
    pub(crate) fn pairs(&self) -> &[(u32, i128)] {
        &self.pairs
    }

    /// The thread of such a text, if it is known.
    #[inline(always)]
    pub(super) fn thread(&self, text: u128) -> Option<Who> {
        let (known, who) = self.threads[place_of(text)];
        (known == text).then_some(who)
    }

    pub(super) fn learn(&mut self, text: u128, who: Who) {
        self.threads[place_of(text)] = (text, who);
    }
}

/// Where [`Known::threads`] has such a text.
#[inline(always)]
fn place_of(text: u128) -> usize {
    let mixed = (text as u64 ^ ((text >> 64) as u64).rotate_left(31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 55) as usize % THREADS
}

/// The text up to the fourth colon from `pos` on, and its length, if it has
/// at most sixteen bytes.
#[inline(always)]
pub(super) fn four_fields(bytes: &[u8], pos: usize) -> Option<(u128, usize)> {
    const ONES: u128 = u128::MAX / 255;
    let bytes: &[u8; 16] = bytes.get(pos..)?.first_chunk()?;
    let text = u128::from_le_bytes(*bytes);
    // The high bit of every byte that is a colon.
    let other = text ^ (0x3a * ONES);
    let mut colons = !(((other & (0x7f * ONES)) + 0x7f * ONES) | other) & (0x80 * ONES);
    for _ in 0..3 {
        colons &= colons.wrapping_sub(1);
    }
    let bits = colons.trailing_zeros() + 1;
    (colons != 0).then(|| (text & (u128::MAX >> (128 - bits)), bits as usize / 8))
}

/// Reads one line without its end. `known` receives an event's types and values.
pub(crate) fn parse(line: &[u8], known: &mut Known) -> Result<Record, ErrorKind> {
    let line = trim_end(line);
    let mut fields = Fields { bytes: line, pos: 2 };
    match line {
        [b'1', b':', ..] => state(&mut fields, known),
        [b'2', b':', ..] => event(&mut fields, known),
        [b'3', b':', ..] => communication(&mut fields, known),
        [b'1' | b'2' | b'3'] => {
            fields.pos = 1;
            Err(fields.expected("':' and the fields of the record", 1))
        }
        [b'4', b':', ..] => Ok(Record::GlobalOperation),
        [b'c' | b'C' | b'i' | b'I', b':', ..] => Ok(Record::Communicator),
        [b'#', ..] => Ok(Record::Comment),
        _ if line.trim_ascii().is_empty() => Ok(Record::Blank),
        _ => Ok(Record::Unknown),
    }
}

/// The time that orders a record in the file: the begin of a state, the time
/// of an event, the physical send of a communication. `None` for other lines.
pub(crate) fn time_of(line: &[u8]) -> Option<u64> {
    // Behind the CPU and the thread, and in a communication one time more.
    let behind = match line {
        [b'1' | b'2', b':', ..] => 0,
        [b'3', b':', ..] => 1,
        _ => return None,
    };
    let mut fields = Fields { bytes: line, pos: 2 };
    let left = match four_fields(line, fields.pos) {
        Some((_, len)) => {
            fields.pos += len;
            behind
        }
        None => 4 + behind,
    };
    for _ in 0..left {
        let rest = line.get(fields.pos..)?;
        fields.pos += rest.iter().position(|&b| b == b':')? + 1;
    }
    fields.digits()
}

/// CPU and thread of a state or event line.
pub(crate) fn cpu_and_thread(line: &[u8]) -> Option<(u32, Who)> {
    if !matches!(line, [b'1' | b'2', b':', ..]) {
        return None;
    }
    let mut fields = Fields { bytes: line, pos: 2 };
    Some((fields.small("").ok()?, fields.who().ok()?))
}

fn state(fields: &mut Fields<'_>, known: &mut Known) -> Result<Record, ErrorKind> {
    let who = fields.cpu_and_who(known)?;
    let begin = fields.time("a begin time")?;
    let is_open = fields.rest(fields.pos).starts_with(b"-1:");
    let end = fields.time("an end time")?;
    let value = fields.last("a state")?;
    let value = u32::try_from(value).map_err(|_| fields.expected("a state", fields.pos))?;
    match (begin, end) {
        (Some(begin), Some(end)) if end < begin => Ok(Record::Backwards { who, begin, end }),
        (Some(begin), end) if end.is_some() || is_open => Ok(Record::State { who, begin, end, value }),
        _ => Ok(Record::Untimed { who }),
    }
}

fn event(fields: &mut Fields<'_>, known: &mut Known) -> Result<Record, ErrorKind> {
    let who = fields.cpu_and_who(known)?;
    let time = fields.time("a time")?;
    known.pairs.clear();
    loop {
        let event_type = fields.small("an event type")?;
        let value = fields.signed("an event value (from -2^63 to 2^64 - 1)")?;
        known.pairs.push((event_type, value));
        if fields.pos >= fields.bytes.len() {
            return Ok(time.map_or(Record::Untimed { who }, |time| Record::Event { who, time }));
        }
        fields.colon("':' or the end of the line")?;
    }
}

fn communication(fields: &mut Fields<'_>, known: &mut Known) -> Result<Record, ErrorKind> {
    let mut side = |time: &str| -> Result<Who, ErrorKind> {
        let who = fields.cpu_and_who(known)?;
        fields.signed(time)?;
        fields.colon("':'")?;
        fields.signed(time)?;
        fields.colon("':'")?;
        Ok(who)
    };
    let from = side("a send time")?;
    let to = side("a receive time")?;
    let size = fields.unsigned("a size")?;
    fields.signed("a tag")?;
    if fields.pos < fields.bytes.len() {
        return Err(fields.expected("the end of the line", fields.pos));
    }
    Ok(Record::Communication { from, to, size })
}

struct Fields<'a> {
    /// The line.
    bytes: &'a [u8],
    /// After a last field, this is one past the end.
    pos: usize,
}

pub(super) const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

impl Fields<'_> {
    /// Up to eight bytes from `pos`, the first one in the lowest byte. Bytes
    /// past the end of all are zero.
    #[inline]
    fn word(&self) -> u64 {
        match self.bytes.get(self.pos..self.pos + 8) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().expect("eight bytes")),
            None => self.last_word(),
        }
    }

    #[cold]
    fn last_word(&self) -> u64 {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(bytes)
    }

    /// The line from there on.
    fn rest(&self, start: usize) -> &[u8] {
        self.bytes.get(start..).unwrap_or_default()
    }

    /// Whether a colon is next.
    #[inline]
    fn is_at_colon(&self) -> bool {
        self.bytes.get(self.pos) == Some(&b':')
    }

    /// A run of decimal digits; `None` if there is none or it exceeds `u64`.
    #[inline]
    fn digits(&mut self) -> Option<u64> {
        let (value, n) = eight_digits(self.word());
        self.pos += n;
        match n {
            0 => None,
            1..8 => Some(value),
            _ if self.is_at_colon() => Some(value),
            _ => self.more_digits(value),
        }
    }

    #[inline]
    fn more_digits(&mut self, mut value: u64) -> Option<u64> {
        loop {
            let (more, n) = eight_digits(self.word());
            self.pos += n;
            value = value.checked_mul(POWERS[n])?.checked_add(more)?;
            if n < 8 {
                return Some(value);
            }
        }
    }

    #[inline]
    fn colon(&mut self, what: &str) -> Result<(), ErrorKind> {
        if self.is_at_colon() {
            self.pos += 1;
            Ok(())
        } else {
            Err(self.expected(what, self.pos))
        }
    }

    /// A number and the colon after it.
    #[inline]
    fn unsigned(&mut self, what: &str) -> Result<u64, ErrorKind> {
        let start = self.pos;
        match self.digits() {
            Some(value) if self.is_at_colon() => {
                self.pos += 1;
                Ok(value)
            }
            // A line that was cut: what it has is well.
            Some(_) if self.pos == self.bytes.len() => {
                Err(self.expected(&format!("':' after {what}"), self.pos))
            }
            _ => Err(self.expected(what, start)),
        }
    }

    /// A time and the colon after it; `None` where it is negative.
    #[inline]
    fn time(&mut self, what: &str) -> Result<Option<u64>, ErrorKind> {
        if self.bytes.get(self.pos) != Some(&b'-') {
            return self.unsigned(what).map(Some);
        }
        let start = self.pos;
        self.pos += 1;
        // With its sign it is told whole.
        self.unsigned(what).map_err(|_| self.expected(what, start))?;
        Ok(None)
    }

    #[inline]
    fn small(&mut self, what: &str) -> Result<u32, ErrorKind> {
        let start = self.pos;
        let value = self.unsigned(what)?;
        u32::try_from(value).map_err(|_| self.expected(what, start))
    }

    /// A CPU and a thread, four numbers with a colon behind each.
    fn cpu_and_who(&mut self, known: &mut Known) -> Result<Who, ErrorKind> {
        let Some((text, len)) = four_fields(self.bytes, self.pos) else { return self.read_cpu_and_who() };
        if let Some(who) = known.thread(text) {
            self.pos += len;
            return Ok(who);
        }
        let who = self.read_cpu_and_who()?;
        known.learn(text, who);
        Ok(who)
    }

    fn read_cpu_and_who(&mut self) -> Result<Who, ErrorKind> {
        self.unsigned("a CPU")?;
        self.who()
    }

    #[inline]
    fn who(&mut self) -> Result<Who, ErrorKind> {
        let app = self.small("an application")?;
        let task = self.small("a task")?;
        let thread = self.small("a thread")?;
        Ok(Who { app, task, thread })
    }

    /// A number that ends the line.
    #[inline]
    fn last(&mut self, what: &str) -> Result<u64, ErrorKind> {
        let start = self.pos;
        match self.digits() {
            Some(value) if self.pos >= self.bytes.len() => Ok(value),
            _ => Err(self.expected(what, start)),
        }
    }

    /// A number with an optional sign; what follows is not looked at. Extrae
    /// writes values without a sign, up to 2^64 - 1; other tools write negative
    /// ones. So both ranges must fit.
    fn signed(&mut self, what: &str) -> Result<i128, ErrorKind> {
        let start = self.pos;
        let negative = self.rest(start).first() == Some(&b'-');
        self.pos += usize::from(negative);
        let value = match self.digits() {
            Some(value) if !negative => Some(i128::from(value)),
            Some(value) if value <= 1 << 63 => Some(-i128::from(value)),
            _ => None,
        };
        match value {
            Some(value) if self.pos >= self.bytes.len() || self.is_at_colon() => Ok(value),
            _ => Err(self.expected(what, start)),
        }
    }

    #[cold]
    fn expected(&self, what: &str, start: usize) -> ErrorKind {
        let rest = self.rest(start);
        let end = rest.iter().position(|&b| b == b':').unwrap_or(rest.len());
        let found = match (rest.is_empty(), end) {
            (true, _) => "the end of the line".to_owned(),
            (_, 0) => "nothing".to_owned(),
            _ => found(&rest[..end]),
        };
        ErrorKind::Expected { what: what.to_owned(), found }
    }
}

/// The decimal digits at the begin of `word` (lowest byte first): their value,
/// and how many there are, 0 to 8.
#[inline(always)]
pub(super) fn eight_digits(word: u64) -> (u64, usize) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let t = word ^ (0x30 * ONES);
    // A byte above 9 gets its high bit set. A carry reaches only bytes behind
    // it, and the first byte that is no digit is all that counts.
    let others = (t.wrapping_add(0x76 * ONES) | t) & (0x80 * ONES);
    let n = (others.trailing_zeros() / 8) as usize;
    if n == 0 {
        return (0, 0);
    }
    // Shift leading zeros in for the bytes that are no digits. Then join pairs,
    // fours and eights of digits, each in one multiplication.
    let t = t << (64 - 8 * n);
    let t = (t.wrapping_mul(10).wrapping_add(t >> 8)) & 0x00ff_00ff_00ff_00ff;
    let t = (t.wrapping_mul(100).wrapping_add(t >> 16)) & 0x0000_ffff_0000_ffff;
    let t = (t.wrapping_mul(10_000).wrapping_add(t >> 32)) & 0xffff_ffff;
    (t, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> Result<(Record, Vec<(u32, i128)>), String> {
        let mut known = Known::default();
        let record = parse(line.as_bytes(), &mut known);
        record.map(|record| (record, known.pairs)).map_err(|e| e.to_string())
    }

    #[test]
    fn reads_each_kind() {
        let who = Who { app: 1, task: 2, thread: 3 };
        let state = Record::State { who, begin: 10, end: Some(20), value: 1 };
        assert_eq!(read("1:0:1:2:3:10:20:1").unwrap().0, state);
        assert_eq!(read("1:0:1:2:3:10:20:1\r").unwrap().0, state);
        let open = Record::State { who, begin: 10, end: None, value: 7 };
        assert_eq!(read("1:0:1:2:3:10:-1:7").unwrap().0, open);
        for untimed in
            ["1:0:1:2:3:-2:20:1", "1:0:1:2:3:-2:-1:1", "1:0:1:2:3:10:-2:1", "2:1:1:2:3:-2:40000003:0"]
        {
            assert_eq!(read(untimed).unwrap().0, Record::Untimed { who }, "{untimed}");
        }
        let (event, pairs) =
            read("2:1:1:2:3:10:42000050:-5:42000050:18446744073709551615:1:-9223372036854775808").unwrap();
        assert_eq!(event, Record::Event { who, time: 10 });
        assert_eq!(pairs, [(42000050, -5), (42000050, u64::MAX.into()), (1, i64::MIN.into())]);
        let comm = Record::Communication { from: who, to: Who { app: 1, task: 1, thread: 1 }, size: 99 };
        assert_eq!(read("3:1:1:2:3:5:6:1:1:1:1:-1:8:99:-2").unwrap().0, comm);
        assert_eq!(read("c:1:1:-1").unwrap().0, Record::Communicator);
        assert_eq!(read("# note").unwrap().0, Record::Comment);
        assert_eq!(read("4:1").unwrap().0, Record::GlobalOperation);
        assert_eq!(read("12:1:2").unwrap().0, Record::Unknown);
        assert_eq!(read("  ").unwrap().0, Record::Blank);
    }

    #[test]
    fn says_what_it_expected() {
        for (line, error) in [
            ("1", "expected ':' and the fields of the record, found the end of the line"),
            ("1:1:1:1:1:abc:3:1", "expected a begin time, found 'abc'"),
            ("1:1:1:1:1:-x:3:1", "expected a begin time, found '-x'"),
            ("2:1:1:1:1:-:7:8", "expected a time, found '-'"),
            (
                "2:1:1:1:1:-5:7:",
                "expected an event value (from -2^63 to 2^64 - 1), found the end of the line",
            ),
            ("1:1:1:1:1:5:9", "expected ':' after an end time, found the end of the line"),
            ("1:1:1:1:1:5:9:", "expected a state, found the end of the line"),
            ("1:1:1:1:1:5:9:1:2", "expected a state, found '1'"),
            ("1:1:99999999999:1:1:5:9:1", "expected an application, found '99999999999'"),
            ("1:1:1:1:1:99999999999999999999:9:1", "expected a begin time, found '99999999999999999999'"),
            ("2:1:1:1:1:5", "expected ':' after a time, found the end of the line"),
            ("2:1:1:1:1:5:7", "expected ':' after an event type, found the end of the line"),
            ("2:1:1:1:1:5:7:", "expected an event value (from -2^63 to 2^64 - 1), found the end of the line"),
            ("2:1:1:1:1:5:7:8:9", "expected ':' after an event type, found the end of the line"),
            ("2:1:1:1:1:5:7:8x", "expected an event value (from -2^63 to 2^64 - 1), found '8x'"),
            (
                "2:1:1:1:1:5:7:18446744073709551616",
                "expected an event value (from -2^63 to 2^64 - 1), found '18446744073709551616'",
            ),
            (
                "2:1:1:1:1:5:7:-9223372036854775809",
                "expected an event value (from -2^63 to 2^64 - 1), found '-9223372036854775809'",
            ),
            ("2:1:1:1:1:5:7:99999999999999999999", "expected an event value"),
            ("3:1:1:1:1:5:6:1:1:1:1:7:8:99", "expected ':' after a size, found the end of the line"),
        ] {
            let said = read(line).unwrap_err();
            assert!(said.starts_with(error), "{line}: {said}");
        }
    }

    #[test]
    fn finds_the_time_that_orders_a_line() {
        assert_eq!(time_of(b"1:1:1:1:1:5:9:1"), Some(5));
        assert_eq!(time_of(b"2:1:1:1:1:123456789012:9:1"), Some(123_456_789_012));
        assert_eq!(time_of(b"3:1:1:1:1:5:6:1:1:1:1:7:8:99:0"), Some(6));
        assert_eq!(time_of(b"c:1:1:1"), None);
        assert_eq!(time_of(b"2:1:1:1:1:-2:9:1"), None);
        assert_eq!(time_of(b"2:1:1"), None);
    }

    proptest! {
        #[test]
        fn digits_agree_with_the_standard_library(text in "[0-9]{0,22}[:\n\r/a-z\u{80}-\u{ff}]{0,9}") {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let mut fields = Fields { bytes: text.as_bytes(), pos: 0 };
            prop_assert_eq!(fields.digits(), text[..digits].parse::<u64>().ok());
        }

        #[test]
        fn arbitrary_lines_never_panic(line in proptest::collection::vec(any::<u8>(), 0..60), kind in 0..4usize) {
            let mut text = [&b""[..], b"1:", b"2:1:", b"3:1:1"][kind].to_vec();
            text.extend(line);
            let _ = parse(&text, &mut Known::default());
            let _ = time_of(&text);
            let _ = cpu_and_thread(&text);
        }
    }
}
