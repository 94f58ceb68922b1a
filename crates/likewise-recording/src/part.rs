//! A part of a recording: some ranks, from one reset of the recorder to the
//! next.

/// A part of a recording.
#[derive(Clone, Debug, Default)]
pub struct Part {}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which byte.
    pub at: u64,
    /// What is wrong.
    pub what: String,
}

impl Part {
    /// Puts the ranks of another part beside these. Both are of the same
    /// number of resets.
    pub fn merge(&mut self, _other: &Self) {
        unimplemented!()
    }

    /// As bytes, for a file or a message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        unimplemented!()
    }

    /// From bytes.
    ///
    /// # Errors
    /// They are not those of a part.
    pub fn decode(_bytes: &[u8]) -> Result<Self, Broken> {
        unimplemented!()
    }
}
