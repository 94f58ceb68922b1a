//! Bytes of files, plain and packed.

use super::*;
use std::io::{Seek, SeekFrom, Write};

fn blocks_of(input: Input, block: usize) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    input.for_each_block(block, None, <[u8]>::to_vec, |b| {
        all.push(b);
        Ok(())
    })?;
    Ok(all)
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn blocks_end_at_line_ends_and_hold_everything() {
    let text: Vec<u8> = (0..1000).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, &text).unwrap();
    for block in [1, 7, 64, 1 << 20] {
        for input in [Input::open(&path).unwrap(), Input::from_bytes(&text), Input::from_bytes(&gzip(&text))]
        {
            let blocks = blocks_of(input, block).unwrap();
            assert!(blocks.iter().all(|b| b.is_empty() || b.ends_with(b"\n")));
            assert_eq!(blocks.concat(), text);
        }
    }
}

#[test]
fn takes_lines_off_the_front() {
    let mut input = Input::from_bytes(b"one\r\ntwo\nthree");
    assert_eq!(input.take_line().unwrap(), b"one");
    assert_eq!(input.take_line().unwrap(), b"two");
    assert_eq!(blocks_of(input, 64).unwrap().concat(), b"three");
    let mut input = Input::from_bytes(b"one \r\ntwo");
    assert_eq!(input.take_whole_line().unwrap(), b"one \r\n");
    assert_eq!(input.take_whole_line().unwrap(), b"two");
}

#[test]
fn a_cut_gzip_says_so() {
    let text: Vec<u8> = (0..100_000).flat_map(|i| format!("{}\n", i * 7919).into_bytes()).collect();
    let whole = gzip(&text);
    let error = blocks_of(Input::from_bytes(&whole[..whole.len() / 2]), 1 << 16).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::GzipEndsEarly(_)), "{error}");
}

#[test]
fn what_stands_before_a_cut_can_be_peeked_at_and_taken() {
    let whole = gzip(&(0..9000u32).flat_map(|i| format!("{i}\n").into_bytes()).collect::<Vec<_>>());
    let mut input = Input::from_bytes(&whole[..whole.len() - 4000]);
    let seen = input.peek(BLOCK).unwrap().len();
    assert!(seen > 1000 && input.peek(BLOCK).unwrap().len() == seen);
    assert_eq!(input.take_line().unwrap(), b"0");
    let mut blocks = Vec::new();
    let done = input.for_each_block(64, None, <[u8]>::to_vec, |b| {
        blocks.push(b);
        Ok(())
    });
    assert!(matches!(*done.unwrap_err().kind, ErrorKind::GzipEndsEarly(_)));
    let text = blocks.concat();
    assert!(text.starts_with(b"1\n2\n") && text.ends_with(b"\n") && text.len() + 20 > seen);
    let error = Input::from_bytes(&gzip(&[b'x'; 99])[..20]).take_line().unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::GzipEndsEarly(_)), "{error}");
}

#[test]
fn a_gzip_bomb_is_not_followed() {
    let bomb = gzip(&vec![b'\n'; 80 << 20]);
    let error = blocks_of(Input::from_bytes(&bomb), BLOCK).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::GzipBomb(_)), "{error}");
    let line = gzip(&vec![b'x'; 60 << 20]).repeat(2);
    let error = blocks_of(Input::from_bytes(&line), BLOCK).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::GzipBomb(_) | ErrorKind::LongLine(_)), "{error}");
}

/// How long a line may be does not depend on where blocks end. Holes cost no disk.
#[test]
fn a_line_is_as_long_whatever_the_block() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for (length, may) in [(MAX_LINE as u64 - 2, true), (MAX_LINE as u64 + 2, false)] {
        file.as_file().set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(b"a\n").unwrap();
        file.seek(SeekFrom::Start(2 + length)).unwrap();
        file.write_all(b"\nb\n").unwrap();
        for block in [4 << 20, 40 << 20] {
            let mut read = 0;
            let done = Input::open(file.path()).unwrap().for_each_block(block, None, <[u8]>::len, |n| {
                read += n;
                Ok(())
            });
            assert_eq!(done.is_ok(), may, "a line of {length} bytes in blocks of {block}");
            assert!(!may || read as u64 == length + 5);
        }
    }
}
