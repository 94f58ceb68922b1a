//! Files of parts: a head, then sections of a part each, with their sizes
//! and checksums, then where the sections begin.

use crate::broken::Broken;
use crate::bytes::{Reader, Write};
use crate::pack::{as_it_is, pack, unpack};
use crate::part::Part;

/// The first bytes of a file; the last one is the version of the format.
pub const MAGIC: &[u8; 8] = b"LIKEREC\x02";

/// What stands before the places of the sections.
const FOOT: u8 = 0;
/// What stands before a section.
const SECTION: u8 = 1;

/// A checksum of 32 bits (CRC-32 of IEEE 802.3).
fn checksum(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut value = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[byte] = value;
            byte += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |sum: u32, byte| sum >> 8 ^ TABLE[usize::from(sum as u8 ^ byte)])
}

/// The head of a file; sections follow.
#[must_use]
pub fn head() -> Vec<u8> {
    MAGIC.to_vec()
}

/// A section: a part, which of its ranks' parts it is (from 0), and a
/// checksum.
#[must_use]
pub fn section(number: u32, part: &Part) -> Vec<u8> {
    framed(number, &pack(&part.encode_rounded()))
}

/// The same, written in a tenth of the time, and larger.
#[must_use]
pub fn quick_section(number: u32, part: &Part) -> Vec<u8> {
    framed(number, &as_it_is(&part.encode_rounded()))
}

fn framed(number: u32, packed: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    content.number(u64::from(number));
    content.extend(packed);
    let mut bytes = vec![SECTION];
    bytes.block(&content);
    bytes.extend(checksum(&content).to_le_bytes());
    bytes
}

/// What stands at the end of a complete file: the sizes of its sections, and, in the last four bytes, how long all
/// this is before them. So a section is found without reading those before it.
#[must_use]
pub fn foot(sections: &[usize]) -> Vec<u8> {
    let mut content = Vec::new();
    content.number(sections.len() as u64);
    sections.iter().for_each(|size| content.number(*size as u64));
    let mut bytes = vec![FOOT];
    bytes.extend(&content);
    bytes.extend(checksum(&content).to_le_bytes());
    let length = bytes.len() as u32;
    bytes.extend(length.to_le_bytes());
    bytes
}

/// Parts with their numbers, and what is wrong with what follows them.
pub type Found = (Vec<(u32, Part)>, Option<Broken>);

/// The parts of a file with their numbers, and what is wrong with the rest, if
/// anything is.
///
/// # Errors
/// It is not a recording, or none of it is whole.
pub fn read(bytes: &[u8]) -> Result<Found, Broken> {
    let broken = |at: usize, what: &str| Broken { at: at as u64, what: what.to_owned() };
    if bytes.len() < 8 || bytes[..7] != MAGIC[..7] {
        return Err(broken(0, "not a recording of likewise"));
    }
    if bytes[7] != MAGIC[7] {
        return Err(broken(
            7,
            &format!("version {} of the format; this likewise reads {}", bytes[7], MAGIC[7]),
        ));
    }
    let mut reader = Reader::new(&bytes[8..]);
    let mut parts = Vec::new();
    let end = loop {
        match one(&mut reader) {
            Ok(Some(part)) => parts.push(part),
            Ok(None) => break None,
            Err(error) => break Some(Broken { at: error.at + 8, ..error }),
        }
    };
    match end {
        Some(error) if parts.is_empty() => Err(error),
        end => Ok((parts, end)),
    }
}

fn one(reader: &mut Reader<'_>) -> Result<Option<(u32, Part)>, Broken> {
    let begin = *reader;
    match reader.byte()? {
        FOOT => return Ok(None),
        SECTION => {}
        _ => return Err(begin.broken("no section begins here")),
    }
    let content = reader.block()?;
    let sum = reader.take(4)?;
    if checksum(content).to_le_bytes() != sum {
        return Err(begin.broken("the checksum of a section is wrong"));
    }
    let mut inner = Reader::new(content);
    let number = inner.small()?;
    let packed = inner.take(inner.rest())?;
    let within = |error: Broken| begin.broken(&format!("in the section that begins here, {error}"));
    let part = unpack(packed).and_then(|bytes| Part::decode(&bytes)).map_err(within)?;
    Ok(Some((number, part)))
}
