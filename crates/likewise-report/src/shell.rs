//! The page around every report: head, header, what to look at first, main
//! part, notes. A content security policy forbids it every connection.
//!
//! A report gives its own part as a template with slots `{{name}}`, which
//! [`fill`] fills: one way for all.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::escape;

const SHELL: &str = include_str!("assets/shell.html");
/// The style of reports that are drawn as SVG, beside that of all.
pub const STATIC: &str = include_str!("assets/static.css");
const THEME: &str = include_str!("assets/theme.css");
/// The colours of a dark page, of which the theme has two copies: for readers
/// who ask for it, and for systems that do.
const DARK: &str = include_str!("assets/dark.css");

/// What a report gives.
pub struct Page<'a> {
    /// What stands before the version: `likewise compare`.
    pub brand: &'a str,
    /// Its version.
    pub version: &'a str,
    /// What kind of report it is, for its scripts and tests: a word.
    pub kind: &'a str,
    /// What was analysed: names of files, perhaps with their folders, which
    /// are shown when pointed at.
    pub inputs: &'a [String],
    /// One line about it.
    pub subtitle: &'a str,
    /// Its own style, after that of all.
    pub style: &'a str,
    /// What to look at first, as [`crate::first`] writes it; items of a list.
    pub first: &'a str,
    /// The template of its main part.
    pub body: &'a str,
    /// What the reader must know beside that.
    pub notes: &'a [String],
    /// Its scripts (see [`crate::scripts`]).
    pub script: &'a str,
}

/// Writes the page; `slot` fills the slots of its main part, and `data`.
///
/// # Errors
/// Those of `out` and of `slot`.
pub fn write<W: Write>(
    page: &Page<'_>,
    out: &mut W,
    mut slot: impl FnMut(&str, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    let title = page.inputs.iter().map(|input| escape(file_name(input))).collect::<Vec<_>>().join(", ");
    fill(SHELL, out, |name, out| {
        let text = match name {
            "title" => title.clone(),
            "path" => escape(&page.inputs.join(", ")),
            "brand" => escape(page.brand),
            "version" => escape(page.version),
            "kind" => escape(page.kind),
            "subtitle" => escape(page.subtitle),
            "style" => return style(page.style, out),
            "first" => page.first.to_owned(),
            "first-hidden" => if page.first.is_empty() { " hidden" } else { "" }.to_owned(),
            "notes" => page.notes.iter().fold(String::new(), |mut list, note| {
                let _ = write!(list, "<li>{}</li>", escape(note));
                list
            }),
            "body" => return fill(page.body, out, &mut slot),
            "script" => page.script.to_owned(),
            "data" => return slot(name, out),
            _ => unreachable!("the shell has no slot {name}"),
        };
        out.write_all(text.as_bytes())
    })
}

fn style<W: Write>(own: &str, out: &mut W) -> io::Result<()> {
    fill(THEME, out, |_, out| out.write_all(DARK.as_bytes()))?;
    out.write_all(own.as_bytes())
}

/// Writes a template, whose slots `{{name}}` are filled by `slot`.
///
/// # Errors
/// Those of `out` and of `slot`.
pub fn fill<W: Write>(
    template: &str,
    out: &mut W,
    mut slot: impl FnMut(&str, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        slot(name, out)?;
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// The last part of a path; all of it where it has no other.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_filled_and_names_are_text() {
        let mut out = Vec::new();
        let page = Page {
            brand: "likewise compare",
            version: "1",
            kind: "runs",
            inputs: &["/a/<b>.prv".to_owned(), "c".to_owned()],
            subtitle: "&",
            style: "b {}",
            first: "",
            body: "[{{x}}]",
            notes: &["<n>".to_owned()],
            script: "s",
        };
        write(&page, &mut out, |name, out| write!(out, "{name}!")).expect("a vector takes all");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("<title>&lt;b&gt;.prv, c · likewise compare</title>"), "{text}");
        assert!(text.contains("title=\"/a/&lt;b&gt;.prv, c\""));
        assert!(text.contains("[x!]") && text.contains("data!") && text.contains("<li>&lt;n&gt;</li>"));
        assert!(!text.contains("{{") && !text.contains("}}"));
        assert_eq!(text.matches("--page: #101316").count(), 2, "dark is asked for, or the system is");
    }

    #[test]
    fn the_last_part_of_a_path_is_its_name() {
        assert_eq!(["a", "b", "c", "/"], ["a", "x/b", "C:\\d\\c", "/"].map(file_name));
    }
}
