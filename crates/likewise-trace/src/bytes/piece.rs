//! Pieces of a file, where several processes read one each.

use std::ops::Range;

use likewise::ranks::part;
use memchr::memchr;

use super::together::{Together, edge_from};
use super::{Body, Input};

/// One of several pieces of a file, from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) index: usize,
    pub(crate) count: usize,
}

impl Piece {
    pub(crate) const WHOLE: Self = Self { index: 0, count: 1 };

    pub(crate) fn is_whole(self) -> bool {
        self.count == 1
    }

    pub(crate) fn is_first(self) -> bool {
        self.index == 0
    }

    /// Its share of `n` things in a row.
    pub(crate) fn of(self, n: usize) -> Range<usize> {
        part(n, self.index, self.count)
    }
}

impl Input {
    /// Takes the part of the input that belongs to this piece, if that is
    /// possible without the rest; otherwise changes nothing. A part has the
    /// whole lines that begin in the piece's share of the bytes.
    pub(crate) fn keep(&mut self, piece: Piece) -> bool {
        piece.is_whole() || self.keep_share(|n| piece.of(n))
    }

    /// From here on, lines that are told together are in one block, and in one piece.
    pub(crate) fn keep_together(&mut self, together: Together) {
        self.together = together;
    }

    /// As [`keep`](Self::keep), for the share of the `n` bytes that `share` says.
    pub(crate) fn keep_share(&mut self, share: impl FnOnce(usize) -> Range<usize>) -> bool {
        let together = self.together;
        let Body::Map { map, pos, end } = &mut self.body else { return false };
        let bytes = &map[*pos..*end];
        let Range { start, end: stop } = share(bytes.len());
        // A line that begins before the edge belongs to the piece before.
        let line_end = |at: usize| match at {
            0 => 0,
            at => {
                let end = memchr(b'\n', &bytes[at - 1..]).map_or(bytes.len(), |n| at + n);
                edge_from(bytes, end, together)
            }
        };
        (*pos, *end) = (*pos + line_end(start), *pos + line_end(stop));
        self.size = Some(*end as u64);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_lines_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for text in ["", "one", "one\n", "a\n\nbb\nccc\n", "a long line and\nb\nc", "\n\n\n"] {
            std::fs::write(&path, format!("head\n{text}")).unwrap();
            for count in [1, 2, 3, 5, 40] {
                let piece = |index| {
                    let mut input = Input::open(&path).unwrap();
                    input.take_line().unwrap();
                    assert!(input.keep(Piece { index, count }));
                    String::from_utf8(input.read_all().unwrap().to_vec()).unwrap()
                };
                let pieces: Vec<String> = (0..count).map(piece).collect();
                assert_eq!(pieces.concat(), text, "{count}");
                let inner = pieces.iter().rev().skip_while(|piece| piece.is_empty()).skip(1);
                assert!(
                    inner.into_iter().all(|piece| piece.is_empty() || piece.ends_with('\n')),
                    "{pieces:?}"
                );
            }
        }
        assert!(!Input::from_bytes(b"1\n2\n").keep(Piece { index: 0, count: 2 }));
        assert!(Input::from_bytes(b"1\n2\n").keep(Piece::WHOLE));
    }
}
