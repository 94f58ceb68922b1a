//! What people see of an analysis: pages of HTML, and their short forms for
//! the terminal.
//!
//! Nothing here opens a file, and the same data gives the same bytes. All
//! names in the data are untrusted: HTML shows them as text only, and the
//! terminal shows no control character.

#![forbid(unsafe_code)]

pub mod counters;
pub mod encode;
mod first;
mod html;
pub mod palette;
pub mod phases;
pub mod ranks;
pub mod recording;
pub mod runs;
pub mod sampled;
pub mod scripts;
pub mod shell;
pub mod svg;
pub mod table;
mod text;

pub use first::first;
pub use html::escape;
