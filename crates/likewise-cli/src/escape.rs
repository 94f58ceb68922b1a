//! Where text leaves the program for a terminal: what a terminal would obey is
//! shown instead, whoever wrote it. Names come from files, from their paths and
//! from the command line, and none of them may move the cursor, set a title or
//! turn text around.

use likewise_trace::is_hidden;
use std::borrow::Cow;
use std::fmt::Write;

/// Text without colours, as it may be shown.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, |_| None, |c, out| out.extend(c.escape_unicode()))
}

/// Text with the colours that this program uses; no other escape sequence is
/// let through.
pub(crate) fn coloured(text: &str) -> Cow<'_, str> {
    escaped(text, colour, |c, out| out.extend(c.escape_unicode()))
}

/// JSON, in which such characters stand in strings only: they are escaped as
/// JSON has it, and mean the same.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |_| None,
        |c, out| {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        },
    )
}

/// The length of the escape sequence that a text begins with, if it is bold,
/// one of 256 colours, or the end of both.
fn colour(text: &str) -> Option<usize> {
    let (code, _) = text.strip_prefix("\x1b[")?.split_once('m')?;
    let known = match code.strip_prefix("38;5;") {
        Some(colour) => colour.parse::<u8>().is_ok_and(|number| number.to_string() == colour),
        None => ["0", "1"].contains(&code),
    };
    known.then_some("\x1b[m".len() + code.len())
}

fn escaped(
    text: &str,
    allowed: impl Fn(&str) -> Option<usize>,
    escape: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    let is_shown = |c: char| !is_hidden(c) || matches!(c, '\n' | '\t');
    if text.chars().all(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if is_shown(c) {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        } else if let Some(length) = allowed(rest) {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        } else {
            escape(c, &mut out);
            rest = &rest[c.len_utf8()..];
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOSTILE: &str = "a\x1b]0;title\x07\u{9b}2J\u{202e}b\r\n\tc\u{61c}\u{2066}\x7f";

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let shown =
            r"a\u{1b}]0;title\u{7}\u{9b}2J\u{202e}b\u{d}".to_owned() + "\n\tc" + r"\u{61c}\u{2066}\u{7f}";
        assert_eq!(plain(HOSTILE), shown);
        assert_eq!(coloured(HOSTILE), shown);
        assert!(matches!(plain("phase 1: 5 µs…\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn only_our_colours_pass() {
        for ours in [anstyle::Style::new().bold(), anstyle::Ansi256Color(117).on_default()] {
            let text = format!("{ours}phase{ours:#}");
            assert_eq!(coloured(&text), text);
            assert!(!plain(&text).contains('\x1b'));
        }
        for other in
            ["\x1b[8m", "\x1b[38;5;300m", "\x1b[38;5;+1m", "\x1b[31m", "\x1b[", "\x1b[1", "\x1b[1;31m"]
        {
            assert!(!coloured(other).contains('\x1b'), "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn json_stays_what_it_was(text in "\\PC*|[\u{0}-\u{a0}\u{2020}-\u{2070}]*") {
            let value = serde_json::json!({ &text: [&text] });
            let pretty = format!("{value:#}");
            let shown = json(&pretty);
            prop_assert!(!shown.chars().any(|c| is_hidden(c) && c != '\n'));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
            prop_assert!(!plain(&text).contains(|c| is_hidden(c) && !matches!(c, '\n' | '\t')));
        }
    }
}
