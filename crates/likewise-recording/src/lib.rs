//! Recordings of MPI programs.
//!
//! A [`Recorder`] compresses the events of a rank while it runs, a [`Part`]
//! holds what several ranks recorded, and a [`Recording`] gives every event
//! back. The preload library writes, all others read. `docs/recording.md` has
//! the format.

mod broken;
mod bytes;
pub mod calls;
mod column;
pub mod comms;
mod draw;
mod events;
mod fields;
pub mod file;
mod fold;
mod follow;
mod hash;
mod histogram;
mod identity;
mod log;
mod meta;
mod nest;
mod pack;
mod part;
mod recorder;
mod recording;
pub mod role;
mod structure;
mod tables;
pub mod unfinished;
mod window;

pub use broken::Broken;
pub use calls::CallId;
pub use events::{Event, Events};
pub use histogram::ROUNDING;
pub use identity::{identity, short_identity};
pub use log::{Clustering, Led, Log, Mode, State};
pub use meta::{Cpus, Frame, MOST_OF_ID, NOT_READ, RankMeta, RecorderOptions, Times, Timing};
pub use nest::Nest;
pub use part::{Part, Stand};
pub use recorder::Recorder;
pub use recording::{Datatype, FILE, Module, NO_FILE, OpenError, Recording, Symbol};
pub use structure::{Repeated, Structure};
pub use window::{Choice, EffortRegion, SampledRank, Window};
