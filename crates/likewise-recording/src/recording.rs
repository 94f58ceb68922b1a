//! A recording that is read: its ranks, and their events one by one.

use crate::calls::CallId;
use crate::part::Broken;
use crate::recorder::{Frame, RankMeta, Times};
use std::path::Path;

/// A loaded object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its build id; empty where it has none.
    pub build_id: Vec<u8>,
    /// Its file.
    pub path: String,
}

/// A call from a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The call.
    pub call: CallId,
    /// The call path; see [`Recording::frames`].
    pub path: u32,
}

/// A datatype of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datatype {
    /// Its name; of a derived one, how it was made.
    pub name: String,
    /// Bytes of one element.
    pub size: i64,
    /// From one element to the next.
    pub extent: i64,
}

/// An event of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// Its place in [`Recording::symbols`].
    pub symbol: u32,
    /// Which thread called, from 0.
    pub thread: u32,
    /// Its fields in order, see [`CallId::fields`]; a list is its length and
    /// then its values.
    pub values: Vec<i64>,
    /// When it began, in ns since the first rank did. With histograms, times
    /// are drawn from them.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// How long the thread computed before it.
    pub gap: u64,
    /// What the counters counted meanwhile; none where they were not read.
    pub counters: Option<Vec<u64>>,
}

/// A node of the loop nest of a rank.
#[derive(Clone, Debug, PartialEq)]
pub enum Nest {
    /// A call: symbol, and how often it is executed in all.
    Call(u32, u64),
    /// A loop: its body, how often it is entered, how many iterations it has
    /// in all.
    Loop(Vec<Nest>, u64, u64),
}

/// A recording.
#[derive(Debug)]
pub struct Recording {}

impl Recording {
    /// Reads a recording: a folder, or the file in it. Of a run that did not
    /// end, what its ranks had written.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(_path: &Path) -> Result<Self, OpenError> {
        unimplemented!()
    }

    /// How many ranks the program had.
    #[must_use]
    pub fn size(&self) -> u32 {
        unimplemented!()
    }

    /// The ranks that are recorded, in order.
    #[must_use]
    pub fn ranks(&self) -> &[RankMeta] {
        unimplemented!()
    }

    /// What is missing, for a message; none if the recording is complete.
    #[must_use]
    pub fn incomplete(&self) -> Option<&str> {
        unimplemented!()
    }

    /// How times and counters were kept.
    #[must_use]
    pub fn times(&self) -> Times {
        unimplemented!()
    }

    /// The names of the counters.
    #[must_use]
    pub fn counters(&self) -> &[String] {
        unimplemented!()
    }

    /// The calls with their call paths.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        unimplemented!()
    }

    /// The loaded objects.
    #[must_use]
    pub fn modules(&self) -> &[Module] {
        unimplemented!()
    }

    /// A call path, the innermost frame first.
    #[must_use]
    pub fn frames(&self, _path: u32) -> Vec<Frame> {
        unimplemented!()
    }

    /// The datatypes of a rank.
    #[must_use]
    pub fn datatypes(&self, _rank: u32) -> Vec<Datatype> {
        unimplemented!()
    }

    /// The strings of a rank.
    #[must_use]
    pub fn strings(&self, _rank: u32) -> Vec<String> {
        unimplemented!()
    }

    /// The events of a rank, in order.
    #[must_use]
    pub fn events(&self, _rank: u32) -> Events<'_> {
        unimplemented!()
    }

    /// The loop nest of a rank.
    #[must_use]
    pub fn nest(&self, _rank: u32) -> Vec<Nest> {
        unimplemented!()
    }
}

/// The events of a rank, see [`Recording::events`].
#[derive(Debug)]
pub struct Events<'a> {
    recording: &'a Recording,
}

impl Events<'_> {
    /// The next event, or an error where the file holds nonsense.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&Event>, Broken> {
        let _ = self.recording;
        unimplemented!()
    }
}

/// Why a recording cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The file cannot be read.
    Io(std::path::PathBuf, std::io::Error),
    /// It is not a recording, or nothing of it is whole.
    Broken(std::path::PathBuf, Broken),
}
