//! gzip, and where in the file it ends.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use crate::error::ErrorKind;

/// What a member begins with.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The text of gzip members, one after the other. Unlike flate2's decoder of
/// many members it tells what follows the last one from a damaged one.
pub(super) struct Members<R> {
    /// `None` once all are read.
    member: Option<GzDecoder<Counted<R>>>,
}

impl<R: BufRead> Members<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { member: Some(GzDecoder::new(Counted { reader, consumed: 0 })) }
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
            let Some(mut rest) = self.member.take().map(GzDecoder::into_inner) else { break };
            let next = rest.fill_buf()?;
            if next.is_empty() {
                break;
            }
            // At the end of a buffer there may be only one byte to see.
            let seen = next.len().min(MAGIC.len());
            if next[..seen] != MAGIC[..seen] {
                return Err(io::Error::other(ErrorKind::GzipGarbage(rest.consumed)));
            }
            self.member = Some(GzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// A reader that knows how much was taken.
struct Counted<R> {
    reader: R,
    consumed: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.consumed += n as u64;
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.reader.consume(n);
        self.consumed += n as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::bytes::Input;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

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
}
