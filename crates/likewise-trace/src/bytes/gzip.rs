//! gzip, and where in the file it ends.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flate2::bufread::GzDecoder;

use super::counted::Counted;
use crate::error::ErrorKind;

/// What a member begins with.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The text of gzip members, one after the other. Unlike flate2's decoder of
/// many members, it can tell garbage after the last member from a damaged one.
pub(super) struct Members<R> {
    /// `None` once all are read.
    member: Option<GzDecoder<Counted<R>>>,
}

impl<R: BufRead> Members<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { member: Some(GzDecoder::new(Counted { reader, consumed: Arc::default() })) }
    }
}

impl<R: BufRead> Read for Members<R> {
    /// # Errors
    /// [`ErrorKind::GzipGarbage`], wrapped; and those of the decoder.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(buffer)?;
            if n > 0 || buffer.is_empty() {
                return Ok(n);
            }
            // The member is taken only after this read has succeeded: an
            // interrupted read is tried again.
            let rest = member.get_mut();
            let next = rest.fill_buf()?;
            let (ended, seen) = (next.is_empty(), next.len().min(MAGIC.len()));
            // At the end of a buffer only one of the two magic bytes may show.
            let garbage = next[..seen] != MAGIC[..seen];
            let at = rest.consumed.load(Ordering::Relaxed);
            let rest = self.member.take().map(GzDecoder::into_inner);
            if ended {
                break;
            }
            if garbage {
                return Err(io::Error::other(ErrorKind::GzipGarbage(at)));
            }
            self.member = rest.map(GzDecoder::new);
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Input;
    use crate::bytes::tests::gzip;

    #[test]
    fn what_follows_gzip_is_named_by_its_byte() {
        let text = b"one\ntwo\n".repeat(50_000);
        let packed = gzip(&text);
        let end = packed.len() as u64;
        let read = |bytes: &[u8]| {
            let mut seen = Vec::new();
            let done = Input::from_bytes(bytes).for_each_block(1 << 10, None, <[u8]>::to_vec, |b| {
                seen.extend(b);
                Ok(())
            });
            (seen, done)
        };
        for garbage in [&b"x"[..], b"garbage behind the end", &[0; 600], b"\x1f\x8c more of it"] {
            let (seen, done) = read(&[&packed[..], garbage].concat());
            assert_eq!(seen, text);
            let error = done.expect_err("it is no gzip");
            assert!(matches!(*error.kind, ErrorKind::GzipGarbage(at) if at == end), "{error}");
        }
        let (_, cut) = read(&[&packed[..], &MAGIC].concat());
        let error = cut.expect_err("a member is cut");
        assert!(matches!(*error.kind, ErrorKind::GzipEndsEarly(_)), "{error}");
        // Members one after the other are one file.
        let (seen, done) = read(&packed.repeat(2));
        assert!(done.is_ok() && seen == text.repeat(2));
    }

    #[test]
    fn a_last_line_without_its_end_stands_before_what_follows() {
        for text in [&b"one\ntwo"[..], b"one"] {
            let mut seen = Vec::new();
            let bytes = [&gzip(text)[..], b"garbage"].concat();
            let done = Input::from_bytes(&bytes).for_each_block(1 << 10, None, <[u8]>::to_vec, |b| {
                seen.extend(b);
                Ok(())
            });
            assert!(matches!(*done.expect_err("it is no gzip").kind, ErrorKind::GzipGarbage(_)));
            assert_eq!(seen, text);
        }
    }

    /// Is interrupted once, at byte `at`.
    struct Interrupted {
        bytes: io::Cursor<Vec<u8>>,
        at: Option<u64>,
    }

    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.bytes.read(buffer)
        }
    }

    impl BufRead for Interrupted {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            if self.at.take_if(|at| *at == self.bytes.position()).is_some() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.bytes.fill_buf()
        }

        fn consume(&mut self, n: usize) {
            self.bytes.consume(n);
        }
    }

    #[test]
    fn an_interrupt_between_members_loses_none() {
        let packed = gzip(b"one\n");
        let at = Some(packed.len() as u64);
        let mut text = Vec::new();
        let reader = Interrupted { bytes: io::Cursor::new(packed.repeat(2)), at };
        Members::new(reader).read_to_end(&mut text).expect("it is tried again");
        assert_eq!(text, b"one\none\n");
    }
}
