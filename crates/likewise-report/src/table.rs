//! Tables and legends of reports, as HTML.

use std::fmt::Write;

use crate::escape;

/// The beginning of a table with these heads; [`row`] writes its rows, and the
/// caller `</table>`.
#[must_use]
pub fn open(columns: &[&str]) -> String {
    let head = |name: &&str| match *name {
        // A column of pictures needs no name.
        "" => "<td></td>".to_owned(),
        name => format!("<th scope=\"col\">{name}</th>"),
    };
    let heads: String = columns.iter().map(head).collect();
    format!("<table><thead><tr>{heads}</tr></thead>")
}

/// A body of one row: `head` is HTML, `attributes` are those of the body, the
/// cells are anybody's text.
#[must_use]
pub fn row(head: &str, attributes: &str, cells: &[String]) -> String {
    let mut out = format!("<tbody{attributes}><tr><th scope=\"row\">{head}</th>");
    cells.iter().for_each(|cell| _ = write!(out, "<td>{}</td>", escape(cell)));
    out.push_str("</tr></tbody>");
    out
}

/// The attributes of what belongs to a phase or a class; its `id`, by which a
/// finding leads to it, is to be given to one only.
#[must_use]
pub fn marked(mark: &str) -> String {
    format!(" id=\"{mark}\" class=\"{mark}\" data-phase=\"{mark}\"")
}

/// Of a legend: what lights up with it, its name, and something beside it.
pub struct Key {
    /// `p3`, `c1`.
    pub mark: String,
    /// Anybody's text.
    pub name: String,
    /// As `name`.
    pub more: String,
}

/// Buttons, each with its colour.
#[must_use]
pub fn legend(label: &str, keys: impl Iterator<Item = Key>) -> String {
    let mut out = format!("<ul class=\"legend\" aria-label=\"{label}\">");
    for Key { mark, name, more } in keys {
        let more = match more.as_str() {
            "" => String::new(),
            more => format!(" <span class=\"count\">{}</span>", escape(more)),
        };
        let _ = write!(
            out,
            "<li><button type=\"button\" class=\"key {mark}\" data-phase=\"{mark}\"><i class=\"swatch\"></i>{}{more}\
             </button></li>",
            escape(&name)
        );
    }
    out.push_str("</ul>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_names_are_text() {
        assert!(open(&["a", ""]).ends_with("<th scope=\"col\">a</th><td></td></tr></thead>"));
        let text = row("<b>1</b>", &marked("p1"), &["<".to_owned()]);
        assert!(text.contains("id=\"p1\"") && text.contains("<b>1</b>") && text.contains("<td>&lt;</td>"));
        let key = Key { mark: "c2".to_owned(), name: "<".to_owned(), more: String::new() };
        assert!(legend("Classes", [key].into_iter()).contains("</i>&lt;</button>"));
    }
}
