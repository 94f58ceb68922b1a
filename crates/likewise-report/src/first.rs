//! What to look at first, as items of a list: where a sentence names a phase
//! or a class, a click goes there.

use std::fmt::Write;

use crate::escape;

/// Words that name what numbers follow, and the letter of its mark.
const WORDS: [(&str, char); 4] = [("phase", 'p'), ("phases", 'p'), ("class", 'c'), ("classes", 'c')];

/// Sentences as items; `has` says which numbers the page has a row for, by the
/// letter of its mark: `p` of phases, `c` of classes. `to` of a sentence is
/// the section that it is about, or nothing.
#[must_use]
pub fn first(sentences: &[(String, &str)], has: impl Fn(char, u32) -> bool) -> String {
    let mut out = String::new();
    for (text, to) in sentences {
        let _ = write!(out, "<li>{}", linked(text, &has));
        if !to.is_empty() {
            let _ = write!(out, " <a class=\"goto\" href=\"#h-{to}\">See there</a>");
        }
        out.push_str("</li>");
    }
    out
}

/// The text, in which every number of a phase or class is a link to its row.
fn linked(text: &str, has: &impl Fn(char, u32) -> bool) -> String {
    let mut out = String::new();
    let mut mark = None;
    for word in text.split_inclusive(' ') {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let known = WORDS.iter().find(|(name, _)| bare.eq_ignore_ascii_case(name));
        let number = mark.zip(bare.parse::<u32>().ok()).filter(|&(mark, n)| has(mark, n));
        match (known, number) {
            (Some(&(_, letter)), _) => {
                mark = Some(letter);
                out.push_str(&escape(word));
            }
            (_, Some((letter, n))) => {
                let (before, after) = word.split_once(bare).unwrap_or(("", word));
                let _ = write!(
                    out,
                    "{}<a href=\"#{letter}{n}\" data-phase=\"{letter}{n}\">{n}</a>{}",
                    escape(before),
                    escape(after)
                );
                // A list goes on after a comma or `and`.
                if !(after.trim().is_empty() || after.trim() == ",") {
                    mark = None;
                }
            }
            _ => {
                if bare != "and" {
                    mark = None;
                }
                out.push_str(&escape(word));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_phases_are_links_and_others_are_not() {
        let has = |letter: char, n: u32| letter == 'p' && n < 9;
        let link = |n: u32| format!("<a href=\"#p{n}\" data-phase=\"p{n}\">{n}</a>");
        assert_eq!(linked("Phase 3 is slow.", &has), format!("Phase {} is slow.", link(3)));
        let text = linked("(phases 3, 4 and 6): 7 of 8 <b>", &has);
        assert_eq!(text, format!("(phases {}, {} and {}): 7 of 8 &lt;b&gt;", link(3), link(4), link(6)));
        assert_eq!(linked("Phase 12, class 2, 3 tasks", &has), "Phase 12, class 2, 3 tasks");
        assert_eq!(linked("phase", &has), "phase");
    }

    #[test]
    fn a_sentence_about_a_section_leads_there() {
        let text = first(&[("a".to_owned(), "tree"), ("<".to_owned(), "")], |_, _| false);
        assert_eq!(text, "<li>a <a class=\"goto\" href=\"#h-tree\">See there</a></li><li>&lt;</li>");
    }
}
