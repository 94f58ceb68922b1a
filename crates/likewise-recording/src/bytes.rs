//! Numbers as bytes: LEB128, signed ones in zigzag.

use crate::broken::Broken;

pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

pub(crate) trait Write {
    fn number(&mut self, value: u64);
    fn signed(&mut self, value: i64);
    fn block(&mut self, bytes: &[u8]);
}

impl Write for Vec<u8> {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    fn signed(&mut self, value: i64) {
        self.number(zigzag(value));
    }

    fn block(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.extend_from_slice(bytes);
    }
}

/// Reads what [`Write`] wrote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn broken(&self, what: &str) -> Broken {
        Broken { at: self.at as u64, what: what.to_owned() }
    }

    pub(crate) fn rest(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Broken> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.broken("the data end too early"))?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Broken> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.broken("a number has more than 64 bits"))
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Broken> {
        self.number().map(unzigzag)
    }

    /// A number of things that take at least a byte each.
    pub(crate) fn count(&mut self) -> Result<usize, Broken> {
        let count = self.number()?;
        if count > self.rest() as u64 {
            return Err(self.broken("more is announced than there are bytes"));
        }
        Ok(count as usize)
    }

    pub(crate) fn small(&mut self) -> Result<u32, Broken> {
        u32::try_from(self.number()?).map_err(|_| self.broken("a number has more than 32 bits"))
    }

    pub(crate) fn block(&mut self) -> Result<&'a [u8], Broken> {
        let length = self.count()?;
        self.take(length)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.broken("the data end too early"))?;
        let bytes = &self.bytes[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<String, Broken> {
        Ok(String::from_utf8_lossy(self.block()?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let values = [0, 1, -1, 63, 64, -65, i64::MAX, i64::MIN];
        let mut bytes = Vec::new();
        values.iter().for_each(|value| bytes.signed(*value));
        bytes.block(b"ab");
        let mut reader = Reader::new(&bytes);
        for value in values {
            assert_eq!(reader.signed(), Ok(value));
        }
        assert_eq!(reader.block(), Ok(&b"ab"[..]));
        assert!(reader.byte().is_err());
    }
}
