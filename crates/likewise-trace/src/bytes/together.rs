//! Lines that must stay in one block, because they mean something together.

use memchr::{memchr, memrchr};

/// Whether a line is told together with the one before it, which comes first here.
pub(crate) type Together = fn(&[u8], &[u8]) -> bool;

/// No line is.
pub(super) fn never(_line: &[u8], _next: &[u8]) -> bool {
    false
}

/// The line that begins there, without its end.
fn line_at(bytes: &[u8], at: usize) -> &[u8] {
    let rest = &bytes[at..];
    &rest[..memchr(b'\n', rest).unwrap_or(rest.len())]
}

/// Where the line begins that ends just before `at`.
fn line_before(bytes: &[u8], at: usize) -> usize {
    memrchr(b'\n', &bytes[..at.saturating_sub(1)]).map_or(0, |n| n + 1)
}

/// The first edge from `at`, where a line begins, that parts no lines that are told together.
pub(super) fn edge_from(bytes: &[u8], mut at: usize, together: Together) -> usize {
    if at == 0 {
        return at;
    }
    let mut line = line_at(bytes, line_before(bytes, at));
    while at < bytes.len() {
        let next = line_at(bytes, at);
        if !together(line, next) {
            break;
        }
        at = (at + next.len() + 1).min(bytes.len());
        line = next;
    }
    at
}

/// The last edge up to `at`, where a line begins that is not known yet, with the same; `at` itself
/// where there is none.
pub(super) fn edge_until(bytes: &[u8], at: usize, together: Together) -> usize {
    let mut begin = line_before(bytes, at);
    let mut line = line_at(bytes, begin);
    if !together(line, line) {
        return at;
    }
    while begin > 0 {
        let before = line_before(bytes, begin);
        let previous = line_at(bytes, before);
        if !together(previous, line) {
            return begin;
        }
        (begin, line) = (before, previous);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_part_no_lines_of_one_begin() {
        let same: Together = |line, next| !line.is_empty() && line.first() == next.first();
        let bytes = b"a1\nb1\nb2\nb3\nc1\n";
        let from = [0, 3, 6, 9, 12, 15].map(|at| edge_from(bytes, at, same));
        assert_eq!(from, [0, 3, 12, 12, 12, 15]);
        assert_eq!(edge_from(b"a\nb\nb", 4, same), 5, "the last line may have no end");
        let until = [3, 6, 9, 12, 15].map(|at| edge_until(bytes, at, same));
        assert_eq!(until, [3, 3, 3, 3, 12]);
        assert_eq!([3, 6, 9].map(|at| edge_until(bytes, at, never)), [3, 6, 9]);
    }
}
