//! Numbers and blocks as the bytes of a message. A number is eight bytes,
//! little-endian; a block follows its length.

/// Appends a whole number.
pub fn put_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// Appends whole numbers.
pub fn put_numbers(bytes: &mut Vec<u8>, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|number| put_number(bytes, number));
}

/// Appends reals by their bits, so that every value arrives as it was, NaN too.
pub fn put_reals<'a>(bytes: &mut Vec<u8>, reals: impl IntoIterator<Item = &'a f64>) {
    put_numbers(bytes, reals.into_iter().map(|real| real.to_bits()));
}

/// Appends a block of bytes after its length.
pub fn put_block(bytes: &mut Vec<u8>, block: &[u8]) {
    put_number(bytes, block.len() as u64);
    bytes.extend_from_slice(block);
}

/// The whole numbers in `bytes`; `None` if some bytes are left over.
#[must_use]
pub fn numbers(bytes: &[u8]) -> Option<impl ExactSizeIterator<Item = u64>> {
    let (numbers, rest) = bytes.as_chunks();
    rest.is_empty().then(|| numbers.iter().map(|&number| u64::from_le_bytes(number)))
}

/// The reals in `bytes`; `None` if some bytes are left over.
#[must_use]
pub fn reals(bytes: &[u8]) -> Option<impl ExactSizeIterator<Item = f64>> {
    Some(numbers(bytes)?.map(f64::from_bits))
}

/// Takes values in the order in which they were put. Each function returns
/// `None` if the bytes do not hold the value, and allocates nothing for a
/// length that is only claimed.
#[derive(Clone, Debug)]
pub struct Taker<'a> {
    rest: &'a [u8],
}

impl<'a> Taker<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that are not taken yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether all bytes are taken.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next whole number.
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*number))
    }

    /// The next whole number, as an index or a length in memory.
    pub fn index(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// The next real.
    pub fn real(&mut self) -> Option<f64> {
        self.number().map(f64::from_bits)
    }

    /// The next `n` bytes.
    pub fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(bytes)
    }

    /// The next block.
    pub fn block(&mut self) -> Option<&'a [u8]> {
        let length = self.index()?;
        self.bytes(length)
    }

    /// The next block, if it is text.
    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.block()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_put_is_taken(
            reals in prop::collection::vec(any::<f64>(), 0..9),
            block in prop::collection::vec(any::<u8>(), 0..20),
            number: u64,
        ) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            put_block(&mut bytes, &block);
            put_reals(&mut bytes, &reals);
            let mut taker = Taker::new(&bytes);
            prop_assert_eq!(taker.number(), Some(number));
            prop_assert_eq!(taker.block(), Some(&block[..]));
            let all: Vec<u64> = self::reals(taker.rest()).unwrap().map(f64::to_bits).collect();
            prop_assert_eq!(all, reals.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            // A message that is cut short is refused.
            let cut = &bytes[..bytes.len() - 1];
            prop_assert!(cut.len() < 16 + block.len() || self::reals(&cut[16 + block.len()..]).is_none());
        }
    }

    #[test]
    fn what_is_claimed_is_not_believed() {
        let mut bytes = Vec::new();
        put_number(&mut bytes, u64::MAX);
        bytes.extend([1, 2, 3]);
        let mut taker = Taker::new(&bytes);
        assert_eq!((taker.block(), taker.number(), taker.is_done()), (None, None, false));
    }
}
