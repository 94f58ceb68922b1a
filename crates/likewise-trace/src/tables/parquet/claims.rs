//! Checks what headers claim, before the library believes them and allocates
//! that much.

use super::thrift::walk;

/// The most columns that may have columns within; a plain table has one, the
/// table itself. The library descends into them by recursion, and many would
/// overflow the stack.
const MOST_GROUPS: usize = 256;
/// A page may expand by this factor. Snappy makes at most 64 bytes of 3, or 21.
const MOST_EXPANDED: i64 = 32;

/// Checks the footer of a whole file.
pub(super) fn of_footer(file: &[u8]) -> Result<(), &'static str> {
    // Encrypted files end with an E; the library reports them.
    let Some((rest, [a, b, c, d, b'P', b'A', b'R', b'1' | b'E'])) = file.split_last_chunk() else {
        return Err("it does not end with PAR1, so it was cut; copy it again");
    };
    let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
    let start = rest.len().checked_sub(length).ok_or("its footer is longer than the file")?;
    let (mut groups, mut most) = (0, 0);
    let seen = |path: &[i16], value: i64| {
        if path == CHILDREN && value > 0 {
            groups += 1;
            most = most.max(value);
        }
    };
    walk(&rest[start..], seen).ok_or("its footer is damaged")?;
    if groups > MOST_GROUPS {
        return Err("its columns are nested; a table has one value in every row and column");
    }
    if most > length as i64 {
        return Err("it claims more columns than its footer holds");
    }
    Ok(())
}

/// How many columns lie within one, in the footer: schema, number of children.
const CHILDREN: [i16; 2] = [2, 5];

/// The kind of page that does not hold values of a column.
const INDEX: i64 = 1;

/// What the header of a page claims.
#[derive(Default)]
struct Page {
    kind: i64,
    uncompressed: i64,
    compressed: i64,
    /// Values of a dictionary.
    values: i64,
    encoding: i64,
}

impl Page {
    fn note(&mut self, path: &[i16], value: i64) {
        match path {
            [1] => self.kind = value,
            [2] => self.uncompressed = value,
            [3] => self.compressed = value,
            [7, 1] => self.values = value,
            // The encoding in the first and in the second version of pages.
            [5, 2] | [8, 4] => self.encoding = value,
            _ => {}
        }
    }
}

/// Checks the pages of a column, one after the other; returns how many bytes
/// each claims to hold. `most` is the limit for a page with a codec that can
/// expand more than Snappy.
pub(super) fn of_pages(mut pages: &[u8], most: Option<u64>) -> Result<Vec<usize>, &'static str> {
    let mut sizes = Vec::new();
    while !pages.is_empty() {
        let mut page = Page::default();
        let length = walk(pages, |path, value| page.note(path, value)).ok_or("a page is damaged")?;
        let compressed = usize::try_from(page.compressed).ok();
        let rest = compressed.and_then(|n| pages[length..].get(n..));
        pages = rest.ok_or("a page goes on behind its end")?;
        let by_snappy = page.compressed.saturating_mul(MOST_EXPANDED).saturating_add(64);
        let most = most.map_or(by_snappy, |most| i64::try_from(most).unwrap_or(i64::MAX));
        // A value of a dictionary takes at least four bytes.
        if page.uncompressed > most || page.values > page.uncompressed / 4 {
            return Err("a page claims more than it holds");
        }
        // DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY: the number of texts stands
        // in the compressed data, where it is not checked, and the library
        // believes it.
        if matches!(page.encoding, 6 | 7) {
            return Err("its texts are written as differences; write them plain or with a dictionary");
        }
        if page.kind != INDEX {
            sizes.push(usize::try_from(page.uncompressed).map_err(|_| "a page is damaged")?);
        }
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A varint of what is not negative.
    fn whole(value: u32) -> Vec<u8> {
        let mut rest = u64::from(value) << 1;
        let mut bytes = Vec::new();
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes
    }

    /// A page of a type with a header of its own, and what it holds.
    fn page(uncompressed: u32, compressed: u32, header: &[u8], held: usize) -> Vec<u8> {
        let [uncompressed, compressed] = [uncompressed, compressed].map(whole);
        let parts = [&[0x15, 0, 0x15][..], &uncompressed, &[0x15], &compressed, header, &[0]];
        [parts.concat(), vec![0; held]].concat()
    }

    #[test]
    fn a_page_holds_what_it_claims() {
        // 5: number of values, encoding; 7: number of values.
        let of_encoding = |encoding: u8| [0x2c, 0x15, 40, 0x15, 2 * encoding, 0];
        let dictionary = |values: u32| [&[0x4c, 0x15][..], &whole(values), &[0x15, 0, 0]].concat();
        let plain = page(9, 9, &of_encoding(0), 9);
        assert_eq!(of_pages(&plain, None), Ok(vec![9]));
        assert_eq!(
            of_pages(&[plain.clone(), page(400, 20, &dictionary(100), 20)].concat(), None),
            Ok(vec![9, 400])
        );
        // Zstandard makes 4 kB of a few bytes if they are all equal.
        let constant = page(4000, 9, &of_encoding(0), 9);
        assert!(of_pages(&constant, None).is_err());
        assert_eq!(of_pages(&constant, Some(4000)), Ok(vec![4000]));
        assert!(of_pages(&constant, Some(3999)).unwrap_err().contains("claims more"));
        let delta = [6, 7].map(|encoding| page(9, 9, &of_encoding(encoding), 9));
        for (next, told) in [
            (page(9, 9, &of_encoding(0), 8), "behind its end"),
            (page(i32::MAX as u32, 9, &of_encoding(0), 9), "claims more than it holds"),
            (page(400, 20, &dictionary(101), 20), "claims more than it holds"),
            (page(400, 20, &dictionary(i32::MAX as u32), 20), "claims more than it holds"),
            (delta[0].clone(), "as differences"),
            (delta[1].clone(), "as differences"),
            (vec![0x15, 0], "is damaged"),
        ] {
            let error = of_pages(&[&plain[..], &next].concat(), None).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_footer_holds_what_it_claims() {
        // 2: a list of elements of the schema, each (5) of so many columns.
        let file = |elements: usize, columns: u32| {
            let element = [&[0x55][..], &whole(columns), &[0]].concat();
            let list = [0x29, 0xfc, elements as u8 | 0x80, (elements >> 7) as u8];
            let footer = [&list[..], &element.repeat(elements), &[0]].concat();
            [&footer[..], &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
        };
        assert_eq!(of_footer(&file(256, 1)), Ok(()));
        assert!(of_footer(&file(257, 1)).unwrap_err().contains("nested"));
        assert!(of_footer(&file(1, i32::MAX as u32)).unwrap_err().contains("more columns"));
        let damaged = [&[0x1d, 0][..], &2u32.to_le_bytes(), b"PAR1"].concat();
        assert_eq!(of_footer(&damaged), Err("its footer is damaged"));
        assert!(of_footer(b"PAR1PAR1").unwrap_err().contains("longer than the file"));
        assert!(of_footer(b"PAR1").unwrap_err().contains("was cut"));
    }
}
