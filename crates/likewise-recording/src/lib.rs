//! Recordings of MPI programs.
//!
//! A [`Recorder`] compresses the events of a rank while it runs, a [`Part`]
//! holds what several ranks recorded, and a [`Recording`] gives every event
//! back. The preload library writes, all others read. `docs/recording.md` has
//! the format.

pub mod calls;
pub mod file;
mod part;
mod recorder;
mod recording;
pub mod role;

pub use calls::CallId;
pub use part::{Broken, Part};
pub use recorder::{Frame, RankMeta, Recorder, RecorderOptions, Times, Timing};
pub use recording::{Datatype, Event, Events, Module, Nest, OpenError, Recording, Symbol};
