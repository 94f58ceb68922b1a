//! The report of several runs: one self-contained HTML file, drawn here as
//! SVG, so that it prints and needs no script to be read.
//!
//! Names of files are untrusted: they appear as escaped text only.

mod bars;
mod page;
mod plot;
mod tables;
mod terminal;

pub use page::write_html;
pub use terminal::table;

/// Its own style.
const STYLE: &str = include_str!("assets/style.css");

/// Phases that are drawn: as many as colours are told apart.
const MAX_DRAWN: usize = 10;
