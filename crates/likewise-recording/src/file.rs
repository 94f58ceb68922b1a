//! Files of parts: a head, then sections of a part, a log or sampled effort
//! each, with their sizes and checksums, then where the sections begin.

use crate::broken::Broken;
use crate::bytes::{Reader, Write};
use crate::log::Log;
use crate::pack::{MOST as MOST_PACKED, as_it_is, pack, unpack};
use crate::part::{Part, Room};

/// The first bytes of a file; the last one is the version of the format.
pub const MAGIC: &[u8; 8] = b"LIKEREC\x03";

/// What stands before the places of the sections.
const FOOT: u8 = 0;
/// What stands before a section with a part.
const SECTION: u8 = 1;
/// What stands before a section with a log.
const LOG: u8 = 2;

/// What stands before a section with all parts and the log.
const TOGETHER: u8 = 3;
/// What stands before a section with the effort of sampled ranks.
const STRATA: u8 = 4;

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

/// The same, for bytes that are soon written anew: its columns are not packed, so it takes less time and is larger.
#[must_use]
pub fn quick_section(number: u32, part: &Part) -> Vec<u8> {
    framed(number, &as_it_is(&part.encode_rounded()))
}

fn framed(number: u32, packed: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    content.number(u64::from(number));
    content.extend(packed);
    checked(SECTION, &content)
}

/// A section with a log. Of several in a file the last one counts.
#[must_use]
pub fn log_section(log: &Log) -> Vec<u8> {
    checked(LOG, &pack(&log.encode()))
}

/// A section with the effort of sampled ranks in a window of steps; see
/// [`Window`](crate::Window).
#[must_use]
pub fn strata_section(window: &[u8]) -> Vec<u8> {
    // Times in ns are hardly made fewer, and the run goes on meanwhile.
    checked(STRATA, &as_it_is(window))
}

/// A file of which all sections with parts are one: what parts have in common is packed
/// once. None where that is too much to be packed, or something is broken.
#[must_use]
pub fn together(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(bytes.get(MAGIC.len()..)?);
    let (mut log, mut parts, mut strata) = (Log::default().encode(), Vec::new(), Vec::new());
    while reader.rest() > 0 {
        match raw(&mut reader).ok()?? {
            (LOG, content) => log = unpack(content).ok()?,
            (SECTION, content) => {
                let mut inner = Reader::new(content);
                let number = inner.small().ok()?;
                parts.push((number, unpack(inner.take(inner.rest()).ok()?).ok()?));
            }
            (STRATA, content) => strata.push(checked(STRATA, content)),
            _ => return None,
        }
        if parts.iter().map(|(_, part)| part.len()).sum::<usize>() > MOST_PACKED {
            return None;
        }
    }
    let mut all = Vec::new();
    all.block(&log);
    all.number(parts.len() as u64);
    for (number, part) in &parts {
        all.number(u64::from(*number));
        all.block(part);
    }
    if all.len() > MOST_PACKED {
        return None;
    }
    let sections = [vec![checked(TOGETHER, &pack(&all))], strata].concat();
    let sizes: Vec<usize> = sections.iter().map(Vec::len).collect();
    Some([head(), sections.concat(), foot(&sizes)].concat())
}

/// What [`together`] has put together.
fn apart(bytes: &[u8], room: &mut Room) -> Result<Section, Broken> {
    let mut reader = Reader::new(bytes);
    let log = Log::decode(reader.block()?)?;
    let n = reader.count()?;
    let part = |_| Ok((reader.small()?, Part::decode_within(reader.block()?, room)?));
    let parts = (0..n).map(part).collect::<Result<Vec<_>, Broken>>()?;
    Ok(Section::Together(parts, log))
}

fn checked(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.block(content);
    bytes.extend(checksum(content).to_le_bytes());
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

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Parts with their numbers.
    pub parts: Vec<(u32, Part)>,
    /// The last log.
    pub log: Option<Log>,
    /// The effort of sampled ranks, window by window; see
    /// [`Window`](crate::Window).
    pub strata: Vec<Vec<u8>>,
    /// What is wrong with what follows them, if anything is.
    pub broken: Option<Broken>,
}

/// What follows the head.
fn opened(bytes: &[u8]) -> Result<Reader<'_>, Broken> {
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
    Ok(Reader::new(&bytes[8..]))
}

/// What is whole in a file.
///
/// # Errors
/// It is not a recording, or none of it is whole.
pub fn read(bytes: &[u8]) -> Result<Found, Broken> {
    let mut reader = opened(bytes)?;
    let mut found = Found::default();
    let mut room = Room::default();
    loop {
        match one(&mut reader, &mut room) {
            Ok(Some(Section::Part(number, part))) => found.parts.push((number, part)),
            Ok(Some(Section::Log(log))) => found.log = Some(log),
            Ok(Some(Section::Strata(window))) => found.strata.push(window),
            Ok(Some(Section::Together(parts, log))) => {
                found.parts.extend(parts);
                found.log = Some(log);
            }
            Ok(None) => return Ok(found),
            Err(error) => {
                let error = Broken { at: error.at + 8, ..error };
                if found.parts.is_empty() && found.log.is_none() && found.strata.is_empty() {
                    return Err(error);
                }
                found.broken = Some(error);
                return Ok(found);
            }
        }
    }
}

/// The sections with the effort of sampled ranks, up to where something is
/// broken.
pub(crate) fn strata(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Broken> {
    let mut reader = opened(bytes)?;
    let (mut strata, mut room) = (Vec::new(), Room::default());
    while let Ok(Some((kind, content))) = raw(&mut reader) {
        if kind == STRATA {
            let Ok(window) = unpacked(content, &mut room) else { break };
            strata.push(window);
        }
    }
    Ok(strata)
}

enum Section {
    Part(u32, Part),
    Log(Log),
    Strata(Vec<u8>),
    Together(Vec<(u32, Part)>, Log),
}

/// The next section as it is: its kind, and what is in it. None at the foot.
fn raw<'a>(reader: &mut Reader<'a>) -> Result<Option<(u8, &'a [u8])>, Broken> {
    let begin = *reader;
    let kind = reader.byte()?;
    match kind {
        FOOT => return Ok(None),
        SECTION | LOG | TOGETHER | STRATA => {}
        _ => return Err(begin.broken("no section begins here")),
    }
    let content = reader.block()?;
    let sum = reader.take(4)?;
    if checksum(content).to_le_bytes() != sum {
        return Err(begin.broken("the checksum of a section is wrong"));
    }
    Ok(Some((kind, content)))
}

fn one(reader: &mut Reader<'_>, room: &mut Room) -> Result<Option<Section>, Broken> {
    let begin = *reader;
    let Some((kind, content)) = raw(reader)? else { return Ok(None) };
    let within = |error: Broken| begin.broken(&format!("in the section that begins here, {error}"));
    if kind == LOG {
        let log = unpacked(content, room).and_then(|bytes| Log::decode(&bytes)).map_err(within)?;
        return Ok(Some(Section::Log(log)));
    }
    if kind == STRATA {
        return Ok(Some(Section::Strata(unpacked(content, room).map_err(within)?)));
    }
    if kind == TOGETHER {
        let all = unpacked(content, room).and_then(|bytes| apart(&bytes, room)).map_err(within)?;
        return Ok(Some(all));
    }
    let mut inner = Reader::new(content);
    let number = inner.small()?;
    let packed = inner.take(inner.rest())?;
    let bytes = unpacked(packed, room).map_err(within)?;
    let part = Part::decode_within(&bytes, room).map_err(within)?;
    Ok(Some(Section::Part(number, part)))
}

/// Bytes that were packed; what they are more than before takes room.
fn unpacked(packed: &[u8], room: &mut Room) -> Result<Vec<u8>, Broken> {
    let bytes = unpack(packed)?;
    room.take(bytes.len().saturating_sub(packed.len()), 8, &Reader::new(packed))?;
    Ok(bytes)
}
