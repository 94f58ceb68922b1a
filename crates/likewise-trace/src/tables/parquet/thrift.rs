//! Thrift's compact protocol, in which Parquet's headers are written.

/// Structs and lists may nest this deep; Parquet 2 needs seven levels.
const DEEPEST: usize = 24;

/// Goes through the struct at the begin of `bytes`. It passes every whole
/// number to `seen`, with the ids of the fields around it; elements of a list
/// have the list's ids. Returns the length of the struct, or `None` if the
/// bytes are no struct. Maps and lists of booleans are refused: Parquet has
/// none.
pub(super) fn walk(bytes: &[u8], mut seen: impl FnMut(&[i16], i64)) -> Option<usize> {
    let mut walk = Walk { rest: bytes, path: Vec::new(), seen: &mut seen };
    walk.fields()?;
    Some(bytes.len() - walk.rest.len())
}

struct Walk<'b, 's> {
    rest: &'b [u8],
    path: Vec<i16>,
    seen: &'s mut dyn FnMut(&[i16], i64),
}

impl Walk<'_, '_> {
    fn skip(&mut self, n: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(n).ok()?..)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        self.rest.split_off_first().copied()
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// The sign is the lowest bit ("zigzag").
    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn fields(&mut self) -> Option<()> {
        let mut id = 0i16;
        loop {
            let head = self.byte()?;
            if head & 0xf == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.signed()?.try_into().ok()?,
                step => id.checked_add(step.into())?,
            };
            self.path.push(id);
            self.value(head & 0xf, DEEPEST)?;
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1).filter(|_| self.path.len() < DEEPEST)?;
        match kind {
            // A boolean has no bytes: its type is its value.
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => {
                let value = self.signed()?;
                (self.seen)(&self.path, value);
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.unsigned()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth),
            12 => self.fields(),
            13 => self.skip(16),
            _ => None,
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.unsigned()?,
            length => length.into(),
        };
        let kind = head & 0xf;
        // Some writers give an empty list no type.
        if (kind < 3 && length > 0) || length > self.rest.len() as u64 {
            return None;
        }
        (0..length).try_for_each(|_| self.value(kind, depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_seen_with_the_ids_of_their_fields() {
        // 1: -3; 2: [5, 6]; 4: { 1: true, 2: "ab", 17: 300 }; 5: 1.5
        let bytes = [
            &[0x15, 5, 0x19, 0x25, 10, 12, 0x2c, 0x11, 0x18, 2, b'a', b'b', 0xf5, 0xd8, 4, 0, 0x17][..],
            &1.5f64.to_le_bytes(),
            &[0, 99],
        ]
        .concat();
        let mut all = Vec::new();
        let length = walk(&bytes, |path, value| all.push((path.to_vec(), value)));
        assert_eq!(length, Some(bytes.len() - 1));
        assert_eq!(all, [(vec![1], -3), (vec![2], 5), (vec![2], 6), (vec![4, 17], 300)]);
        for cut in 0..bytes.len() - 1 {
            assert_eq!(walk(&bytes[..cut], |_, _| ()), None, "{cut}");
        }
    }

    #[test]
    fn what_would_take_long_is_none() {
        for bytes in [
            [0x1c; 4096].as_slice(),
            &[0x19; 4096],
            // Lists and maps of 2³¹ booleans take no bytes at all.
            &[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0],
            &[0x1b, 0xff, 0xff, 0xff, 0xff, 7, 0x11, 0],
            &[0x19, 0xf3, 0xff, 0xff, 0xff, 0xff, 7, 0],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0],
        ] {
            assert_eq!(walk(bytes, |_, _| ()), None, "{bytes:?}");
        }
    }
}
