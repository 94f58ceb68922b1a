//! Objects that travel.

/// An object that can be sent to another rank.
pub trait Portable: Sized {
    /// Appends the object to `bytes`.
    fn to_bytes(&self, bytes: &mut Vec<u8>);

    /// The object that those bytes are; nothing, if they are none.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl Portable for Vec<f64> {
    fn to_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<8>();
        rest.is_empty().then(|| values.iter().map(|&value| f64::from_le_bytes(value)).collect())
    }
}

impl<const N: usize> Portable for [f64; N] {
    fn to_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Vec::from_bytes(bytes)?.try_into().ok()
    }
}

impl Portable for String {
    fn to_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.as_bytes());
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        String::from_utf8(bytes.to_vec()).ok()
    }
}

/// An object with its number, as they are sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sent<T> {
    pub(super) index: u64,
    pub(super) object: T,
}

impl<T: Portable> Sent<T> {
    pub(super) fn pack(index: u64, object: &T, bytes: &mut Vec<u8>) {
        bytes.extend(index.to_le_bytes());
        let length_at = bytes.len();
        bytes.extend([0; 8]);
        object.to_bytes(bytes);
        let length = (bytes.len() - length_at - 8) as u64;
        bytes[length_at..length_at + 8].copy_from_slice(&length.to_le_bytes());
    }

    /// All objects that were packed one after the other.
    pub(super) fn unpack_all(mut bytes: &[u8]) -> Option<Vec<Self>> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let (index, rest) = bytes.split_first_chunk()?;
            let (length, rest) = rest.split_first_chunk()?;
            let (object, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            all.push(Self { index: u64::from_le_bytes(*index), object: T::from_bytes(object)? });
            bytes = rest;
        }
        Some(all)
    }
}
