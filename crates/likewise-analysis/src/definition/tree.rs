//! A small XML document as a tree whose elements know their lines.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::types::DefinitionError;

/// An element.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// Its own text, comments left out, trimmed.
    pub(super) text: String,
    /// Where it begins, from 1.
    pub(super) line: usize,
}

/// Deeper than any definition; keeps recursion over the tree bounded.
const MAX_DEPTH: usize = 32;

/// Counts lines up to positions that only grow.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn to(&mut self, position: u64) -> usize {
        let position = usize::try_from(position).unwrap_or(usize::MAX).clamp(self.at, self.text.len());
        self.line += self.text[self.at..position].iter().filter(|&&b| b == b'\n').count();
        self.at = position;
        self.line
    }
}

/// Reads a document and returns its root.
pub(super) fn read(text: &str) -> Result<Element, DefinitionError> {
    let mut reader = Reader::from_str(text);
    let mut lines = Lines { text: text.as_bytes(), at: 0, line: 1 };
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    loop {
        let line = lines.to(reader.buffer_position());
        let event = reader.read_event().map_err(|e| {
            DefinitionError::new(lines.to(reader.error_position()), format!("broken XML: {e}"))
        })?;
        match event {
            Event::Start(start) => {
                if open.len() == MAX_DEPTH || root.is_some() {
                    return Err(misplaced(&start, line, open.len()));
                }
                open.push(element(&start, line)?);
            }
            Event::Empty(start) => {
                if root.is_some() {
                    return Err(misplaced(&start, line, open.len()));
                }
                let empty = element(&start, line)?;
                attach(empty, &mut open, &mut root);
            }
            Event::End(_) => {
                let Some(mut done) = open.pop() else {
                    return Err(DefinitionError::new(line, "broken XML: an end without a beginning"));
                };
                done.text = done.text.trim().to_owned();
                attach(done, &mut open, &mut root);
            }
            Event::Text(content) => add_text(&content.xml10_content(), &mut open, line)?,
            Event::CData(content) => add_text(&content.xml10_content(), &mut open, line)?,
            Event::GeneralRef(reference) => add_text(&resolve(&reference, line)?, &mut open, line)?,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    if let Some(unclosed) = open.last() {
        return Err(DefinitionError::new(
            unclosed.line,
            format!("broken XML: <{}> is never closed", unclosed.name),
        ));
    }
    root.ok_or_else(|| DefinitionError::new(lines.line, "broken XML: there is no element"))
}

fn misplaced(start: &BytesStart<'_>, line: usize, depth: usize) -> DefinitionError {
    let name = start.name().into_inner();
    let reason = if depth == MAX_DEPTH { "is nested too deeply" } else { "stands after the root element" };
    DefinitionError::new(line, format!("broken XML: <{name}> {reason}"))
}

fn attach(element: Element, open: &mut [Element], root: &mut Option<Element>) {
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None => *root = Some(element),
    }
}

fn add_text(text: &str, open: &mut [Element], line: usize) -> Result<(), DefinitionError> {
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        None if text.trim().is_empty() => {}
        None => return Err(DefinitionError::new(line, "broken XML: text outside of the root element")),
    }
    Ok(())
}

fn element(start: &BytesStart<'_>, line: usize) -> Result<Element, DefinitionError> {
    let broken = |e: &dyn std::fmt::Display| DefinitionError::new(line, format!("broken XML: {e}"));
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|e| broken(&e))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|e| broken(&e))?;
        attributes.push((attribute.key.into_inner().to_owned(), value.into_owned()));
    }
    let name = start.name().into_inner().to_owned();
    Ok(Element { name, attributes, children: Vec::new(), text: String::new(), line })
}

fn resolve(reference: &quick_xml::events::BytesRef<'_>, line: usize) -> Result<String, DefinitionError> {
    let name = reference.xml10_content();
    let known = match name.as_ref() {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => reference.resolve_char_ref().ok().flatten(),
    };
    known
        .map(String::from)
        .ok_or_else(|| DefinitionError::new(line, format!("broken XML: no entity &{name};")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elements_know_their_lines_and_text() {
        let root = read(
            "<?xml version='1.0'?>\n<!-- a\nb -->\n<r a='1 &lt; 2'>\n <c>x<!-- no -->&amp;y\n</c><e/></r>\n",
        )
        .expect("reads");
        assert_eq!((root.name.as_str(), root.line), ("r", 4));
        assert_eq!(root.attributes, [("a".to_owned(), "1 < 2".to_owned())]);
        assert_eq!((root.children[0].text.as_str(), root.children[0].line), ("x&y", 5));
        assert_eq!((root.children[1].name.as_str(), root.children[1].line), ("e", 6));
    }

    #[test]
    fn what_is_broken_has_a_line() {
        for (text, line) in [
            ("", 1),
            ("<a>\n<b>\n</a>", 3),
            ("<a>\n<b>", 2),
            ("<a/>\n<b/>", 2),
            ("<a>\n&nosuch;</a>", 2),
            ("<a>\n\n<b x=1/></a>", 3),
            ("<a>\n<b", 2),
            ("</a>", 1),
            ("<a/>\ntext", 1),
            ("<a>\n<!-- open", 2),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.message.starts_with("broken XML"), "{error}");
        }
        assert!(read(&"<a>".repeat(100_000)).expect_err("too deep").message.contains("deep"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[<>/a-c='\"&;!\\-?\\[\\] \n]{0,60}") {
            if let Err(e) = read(&text) {
                prop_assert!((1..=text.matches('\n').count() + 1).contains(&e.line));
            }
        }
    }
}
