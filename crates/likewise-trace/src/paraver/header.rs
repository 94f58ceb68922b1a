//! The first line of a Paraver trace.

use likewise::table::Nanos;

use crate::error::{ErrorKind, found};
use crate::trace::{Task, Topology};

/// Unit of every time in a Paraver trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    /// `_ns`.
    Nanoseconds,
    /// `_us`, and where nothing is said.
    Microseconds,
    /// `_ms`.
    Milliseconds,
}

impl TimeUnit {
    /// How many nanoseconds it is.
    #[must_use]
    pub(crate) fn nanos(self) -> u64 {
        match self {
            TimeUnit::Nanoseconds => 1,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Milliseconds => 1_000_000,
        }
    }
}

/// What the header declares.
///
/// `#Paraver (dd/mm/yy at hh:mm):ENDTIME[_ns|_us|_ms]:NODES:NAPPS:APP[:APP…]`,
/// APP = `ntasks(threads:node,…)[,ncomms]`. Real files differ: the count of
/// communicators follows every application or only the last; an application
/// may leave its count of tasks empty; some tools put a comma between
/// applications, or a colon behind the count of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Text between the first parentheses, as it stands; not safe to print.
    pub(crate) date: String,
    /// When the trace ends.
    pub(crate) end: Nanos,
    /// Unit of the times in the file.
    pub(crate) unit: TimeUnit,
    /// Where its tasks run.
    pub(crate) topology: Topology,
}

impl Header {
    /// Reads the line, without its end.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, ErrorKind> {
        let mut text = Text { line, pos: 0 };
        if !text.skip(b"#Paraver") {
            return Err(text.expected("'#Paraver'"));
        }
        text.skip_blanks();
        let date = text.parenthesised()?;
        text.colon()?;
        let (end, unit) = text.end_time()?;
        text.colon()?;
        let (nodes, cpus) = text.nodes()?;
        text.colon()?;
        let n_apps = text.number("the number of applications")?;
        let mut apps = Vec::new();
        while text.skip(b":") {
            if text.at_end() {
                break;
            }
            apps.push(text.app()?);
            while text.another_app() {
                apps.push(text.app()?);
            }
        }
        text.skip_blanks();
        if !text.at_end() {
            return Err(text.expected("':' or the end of the line"));
        }
        if n_apps != apps.len() as u64 {
            let problem = format!("it claims {n_apps} applications and lists {}", apps.len());
            return Err(ErrorKind::Header(problem));
        }
        let end = end.checked_mul(unit.nanos()).ok_or(ErrorKind::TimeOverflow)?;
        Ok(Self { date, end: Nanos(end), unit, topology: Topology { cpus, nodes, apps } })
    }
}

struct Text<'a> {
    line: &'a [u8],
    pos: usize,
}

impl Text<'_> {
    fn rest(&self) -> &[u8] {
        &self.line[self.pos..]
    }

    fn at_end(&self) -> bool {
        self.pos == self.line.len()
    }

    fn skip(&mut self, text: &[u8]) -> bool {
        let there = self.rest().starts_with(text);
        self.pos += if there { text.len() } else { 0 };
        there
    }

    fn skip_blanks(&mut self) {
        while self.skip(b" ") || self.skip(b"\t") {}
    }

    fn expected(&self, what: &str) -> ErrorKind {
        let rest = self.rest();
        let shown = &rest[..rest.len().min(24)];
        ErrorKind::Header(format!("expected {what} at column {}, found {}", self.pos + 1, found(shown)))
    }

    fn colon(&mut self) -> Result<(), ErrorKind> {
        if self.skip(b":") { Ok(()) } else { Err(self.expected("':'")) }
    }

    fn number(&mut self, what: &str) -> Result<u64, ErrorKind> {
        self.skip_blanks();
        let digits = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
        let text = std::str::from_utf8(&self.rest()[..digits]).unwrap_or("");
        let value = text.parse().map_err(|_| self.expected(what))?;
        self.pos += digits;
        Ok(value)
    }

    fn small(&mut self, what: &str) -> Result<u32, ErrorKind> {
        let start = self.pos;
        let value = self.number(what)?;
        u32::try_from(value).map_err(|_| {
            self.pos = start;
            self.expected(what)
        })
    }

    fn parenthesised(&mut self) -> Result<String, ErrorKind> {
        if !self.skip(b"(") {
            return Err(self.expected("the date in parentheses"));
        }
        let Some(end) = self.rest().iter().position(|&b| b == b')') else {
            return Err(self.expected("the date and ')'"));
        };
        let inner = String::from_utf8_lossy(&self.rest()[..end]).into_owned();
        self.pos += end + 1;
        Ok(inner)
    }

    fn end_time(&mut self) -> Result<(u64, TimeUnit), ErrorKind> {
        let end = self.number("the end time")?;
        let unit = if self.skip(b"_ns") {
            TimeUnit::Nanoseconds
        } else if self.skip(b"_ms") {
            TimeUnit::Milliseconds
        } else if self.skip(b"_us") || self.rest().starts_with(b":") {
            TimeUnit::Microseconds
        } else {
            return Err(self.expected("'_ns', '_us', '_ms' or ':'"));
        };
        Ok((end, unit))
    }

    /// `n(cpus,…)`, `n` or `0`. Dimemas 5.4 wrote a comma behind the last node, and for some days
    /// none at all: then how many CPUs nodes have is not known, and nothing else depends on it.
    fn nodes(&mut self) -> Result<(u32, Vec<u32>), ErrorKind> {
        let nodes = self.small("the number of nodes")?;
        let mut cpus = Vec::new();
        if self.skip(b"(") {
            while !self.skip(b")") {
                if !cpus.is_empty() && !self.skip(b",") {
                    return Err(self.expected("',' or ')'"));
                }
                if !self.rest().starts_with(b")") || cpus.is_empty() {
                    cpus.push(self.small("the CPUs of a node")?);
                }
            }
            if cpus.len() as u64 != u64::from(nodes) {
                cpus.clear();
            }
        }
        Ok((nodes, cpus))
    }

    /// `[n](threads:node,…)[,ncomms]`.
    fn app(&mut self) -> Result<Vec<Task>, ErrorKind> {
        self.skip_blanks();
        let claimed =
            if self.rest().starts_with(b"(") { None } else { Some(self.number("the number of tasks")?) };
        // nsys2prv writes a colon there.
        if claimed.is_some() {
            self.skip(b":");
        }
        let mut tasks = Vec::new();
        if !self.skip(b"(") {
            return Err(self.expected("'(' and the tasks of an application"));
        }
        while !self.skip(b")") {
            if !tasks.is_empty() && !self.skip(b",") {
                return Err(self.expected("',' or ')'"));
            }
            let threads = self.small("the threads of a task")?;
            let node = if self.skip(b":") { self.small("the node of a task")? } else { 0 };
            tasks.push(Task { threads, node, streams: 0 });
        }
        if claimed.is_some_and(|n| n != tasks.len() as u64) {
            let claimed = claimed.unwrap_or(0);
            let problem = format!("an application claims {claimed} tasks and lists {}", tasks.len());
            return Err(ErrorKind::Header(problem));
        }
        Ok(tasks)
    }

    /// Takes a count of communicators after an application. Returns whether
    /// another application follows without the ':', instead of the count or
    /// after it.
    fn another_app(&mut self) -> bool {
        while self.skip(b",") {
            let digits = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
            if self.rest().get(digits) == Some(&b'(') {
                return true;
            }
            self.pos += digits;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Header {
        Header::parse(line.as_bytes()).unwrap_or_else(|e| panic!("{line}: {e}"))
    }

    #[test]
    fn reads_every_variant() {
        let h = parse("#Paraver (09/10/2019 at 16:10):2339_ns:1(16):1:2(1:1,3:1),17");
        assert_eq!((h.end, h.unit, h.topology.nodes), (Nanos(2339), TimeUnit::Nanoseconds, 1));
        let task = |threads| Task { threads, node: 1, streams: 0 };
        assert_eq!(h.topology.apps, [vec![task(1), task(3)]]);
        assert_eq!(h.date, "09/10/2019 at 16:10");
        let h = parse("#Paraver (31/01/22 at 11:46):5:2(4,4):2:1(1:1),3:2(1:1,1:2),14");
        assert_eq!(
            (h.end, h.topology.apps.len(), h.topology.cpus.as_slice()),
            (Nanos(5_000), 2, [4, 4].as_slice())
        );
        let h = parse("#Paraver (a):7:1(20):2:2(1:1,1:1),1(1:1),14");
        assert_eq!(h.topology.apps.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        let h = parse("#Paraver (a):7_ms:0:1:1(1:1)");
        assert_eq!((h.end, h.topology.cpus.len()), (Nanos(7_000_000), 0));
        let h = parse("#Paraver (a):7_us:4:1:(1:1)");
        assert_eq!((h.end, h.topology.nodes, h.topology.n_tasks()), (Nanos(7_000), 4, 1));
        assert!(
            h.topology.declares(1, 1, 1)
                && !h.topology.declares(1, 1, 2)
                && !h.topology.declares(0, 1, 1)
                && !h.topology.declares(1, 2, 1)
        );
        let h = parse("#Paraver (a):7_ns:0:1:2:(2:1,3:1)");
        assert_eq!((h.topology.n_tasks(), h.topology.n_threads()), (2, 5));
        // "expected the CPUs of a node" and "it claims 2 nodes and lists 1" were said of these.
        let h = parse("#Paraver (10/05/22 at 04:07):2308018051_ns:2(1,1,):1:2(1:1,1:2),3");
        assert_eq!(
            (h.topology.nodes, h.topology.cpus.as_slice(), h.topology.n_tasks()),
            (2, [1, 1].as_slice(), 2)
        );
        let h = parse("#Paraver (a):9:2(22):1:2(1:1,1:2)");
        assert_eq!((h.topology.nodes, h.topology.cpus.len(), h.topology.n_tasks()), (2, 0, 2));
    }

    #[test]
    fn says_what_is_wrong() {
        for (line, said) in [
            ("#Paraver", "the date in parentheses at column 9, found nothing"),
            ("#Paraver (x):abc:1:1:1(1:1)", "expected the end time at column 14, found 'abc:1:1:1(1:1)'"),
            ("#Paraver (x):9_h:1:1:1(1:1)", "'_ns', '_us', '_ms' or ':'"),
            ("#Paraver (x):9:1:1:1000000000(1:1)", "claims 1000000000 tasks and lists 1"),
            ("#Paraver (x):9:1:2:1(1:1)", "claims 2 applications and lists 1"),
            ("#Paraver (x):9:3(1,,1):1:1(1:1)", "the CPUs of a node at column 20, found ',1):1:1(1:1)'"),
            ("#Paraver (x):9:1:1:1(1:1", "',' or ')'"),
            ("#Paraver (x):9:1:1:1(99999999999:1)", "the threads of a task"),
            ("#Paraver (x):99999999999999999_ms:1:1:1(1:1)", "exceed"),
        ] {
            let error = Header::parse(line.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
