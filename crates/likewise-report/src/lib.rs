//! What people see of an analysis: pages of HTML, and their short forms for
//! the terminal.
//!
//! Nothing here opens a file, and the same data gives the same bytes. All
//! names in the data are untrusted: HTML shows them as text only, and the
//! terminal shows no control character.

#![forbid(unsafe_code)]

pub mod counters;
pub mod encode;
mod html;
pub mod palette;
pub mod phases;
pub mod ranks;
pub mod runs;
pub mod scripts;
mod text;

pub use html::escape;
