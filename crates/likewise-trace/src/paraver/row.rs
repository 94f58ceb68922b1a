//! Labels of CPUs, nodes, tasks and threads.

use crate::error::printable;

/// A `.row` file: `LEVEL CPU|NODE|TASK|THREAD|… SIZE n`, then n labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    levels: Vec<(String, Vec<String>)>,
}

impl Row {
    /// Reads the file; problems begin with `:line: `.
    pub(crate) fn parse(bytes: &[u8]) -> (Self, Vec<String>) {
        let mut row = Self::default();
        let mut problems = Vec::new();
        let mut left = 0u64;
        for (n, line) in crate::bytes::lines(bytes).enumerate() {
            let line = line.trim_ascii();
            if let Some((level, size)) = level(line) {
                if left > 0 {
                    problems.push(format!(":{}: {left} labels are missing before this level", n + 1));
                }
                row.levels.push((level, Vec::new()));
                left = size;
            } else if left > 0
                && let Some((_, labels)) = row.levels.last_mut()
            {
                labels.push(printable(line, 200));
                left -= 1;
            } else if !line.is_empty() && problems.len() < 3 {
                problems.push(format!(
                    ":{}: expected 'LEVEL … SIZE n', found '{}'",
                    n + 1,
                    printable(line, 40)
                ));
            }
        }
        if left > 0 {
            problems.push(format!(": the file ends before its last {left} labels"));
        }
        (row, problems)
    }

    /// The labels of a level, in order; none if it is not there.
    #[must_use]
    pub(crate) fn labels(&self, level: &str) -> &[String] {
        self.levels.iter().find(|(name, _)| name == level).map_or(&[], |(_, labels)| labels)
    }
}

fn level(line: &[u8]) -> Option<(String, u64)> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
    if words.next()? != b"LEVEL" {
        return None;
    }
    let name = printable(words.next()?, 40);
    if words.next()? != b"SIZE" {
        return None;
    }
    Some((name, std::str::from_utf8(words.next()?).ok()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_labels_by_level() {
        let (row, problems) =
            Row::parse(b"LEVEL NODE SIZE 1\nn1\n\nLEVEL THREAD SIZE 2\r\nTHREAD 1.1.1\nT 2\n");
        assert_eq!(row.labels("THREAD"), ["THREAD 1.1.1", "T 2"]);
        assert_eq!((row.labels("NODE"), row.labels("CPU").len()), (["n1".to_owned()].as_slice(), 0));
        assert!(problems.is_empty());
    }

    #[test]
    fn a_claimed_size_takes_no_memory() {
        let (row, problems) = Row::parse(b"x\nLEVEL CPU SIZE 99999999999999\na\n");
        assert_eq!(row.labels("CPU"), ["a"]);
        assert_eq!(problems.len(), 2);
    }
}
