//! The report of ranks in classes: one self-contained HTML file. The pictures
//! are drawn here as SVG, so that they print and need no script; only the map
//! of ranks, which may have a million cells, is drawn in the browser.
//!
//! Names of files and regions are untrusted: they appear as escaped text only.

mod map;
mod page;
mod panels;
mod tables;
mod terminal;

pub use page::write_html;
pub use terminal::table;

/// Classes that are drawn: as many as there are colours.
const MAX_DRAWN: usize = crate::palette::N_COLOURS as usize;
