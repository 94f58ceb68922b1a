//! The report of several runs: one self-contained HTML file, drawn here as
//! SVG, so that it prints and needs no script to be read.
//!
//! Names of files are untrusted: they appear as escaped text only.

use crate::scripts::Module;

mod bars;
mod page;
mod plot;
mod tables;
mod terminal;

pub use page::{items, on, write_html};
pub use terminal::table;

/// Style and script that other reports of this kind share.
pub const STYLE: &str = include_str!("assets/style.css");
/// The script of these.
pub const SCRIPT: Module = ("runs.js", include_str!("assets/runs.js"));

/// Phases that are drawn: as many as colours are told apart.
const MAX_DRAWN: usize = 10;

/// A text element; `attributes` are ours, `text` is anybody's.
fn text(x: f64, y: f64, attributes: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", crate::escape(text))
}
