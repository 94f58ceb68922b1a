//! The scripts of a page: ES modules, put together without a tool, so that a
//! build needs neither Node nor a network.
//!
//! Modules are written for `tsc --checkJs` and a linter, which `cargo xtask
//! test` runs. In the page they are one module: each stands after those that
//! it imports, without its lines of `import`, and without the word `export`.
//! So all share one scope, and no two may give the same name to something at
//! their top level: a browser refuses a module that does, and a test here
//! names it.

use std::collections::BTreeSet;

/// A module: the name of its file, and its text.
pub type Module = (&'static str, &'static str);

/// What several pages use.
pub const SHARED: [Module; 6] = [
    ("columns.js", include_str!("assets/columns.js")),
    ("dom.js", include_str!("assets/dom.js")),
    ("format.js", include_str!("assets/format.js")),
    ("hash.js", include_str!("assets/hash.js")),
    ("static.js", include_str!("assets/static.js")),
    ("theme.js", include_str!("assets/theme.js")),
];

/// The script of reports that are drawn as SVG.
#[must_use]
pub fn of_static_page() -> String {
    bundle(&SHARED, &["static.js"])
}

/// One text of those of `modules` that `entries` need: each after those that
/// it imports, and the entries in their order.
///
/// # Panics
/// Where a module imports what is not among `modules`, imports itself by way
/// of others, or says `import` or `export` in another way than on whole lines
/// `import { a, b } from "./x.js";` and before a declaration: the modules are
/// part of this program, and every page has a test.
///
/// # Complexity
/// O(characters).
#[must_use]
pub fn bundle(modules: &[Module], entries: &[&str]) -> String {
    let mut out = String::new();
    let mut done = BTreeSet::new();
    for entry in entries {
        add(modules, entry, &mut Vec::new(), &mut done, &mut out);
    }
    out
}

fn add<'a>(
    modules: &'a [Module],
    name: &str,
    above: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
    out: &mut String,
) {
    let found = modules.iter().find(|module| module.0 == name);
    let &(name, text) = found.unwrap_or_else(|| panic!("no script is called {name}"));
    if done.contains(name) {
        return;
    }
    assert!(!above.contains(&name), "scripts import each other: {above:?}, {name}");
    above.push(name);
    text.lines().filter_map(imported).for_each(|from| add(modules, from, above, done, out));
    above.pop();
    done.insert(name);
    for line in text.lines().filter(|line| imported(line).is_none()) {
        let bare = line.strip_prefix("export ").unwrap_or(line);
        let declares = ["function ", "async function ", "const ", "let ", "class "];
        let is_known = bare.len() == line.len() || declares.iter().any(|word| bare.starts_with(word));
        assert!(is_known && !bare.starts_with("import"), "{name} has a line that is not understood: {line}");
        out.push_str(bare);
        out.push('\n');
    }
}

/// The file that a line imports names of.
fn imported(line: &str) -> Option<&str> {
    let (_, from) = line.strip_prefix("import {")?.split_once("} from \"")?;
    let path = from.strip_suffix("\";")?;
    path.rsplit('/').next()
}

/// Names that modules give at their top level, which must differ.
#[cfg(test)]
pub(crate) fn names_given_twice(modules: &[Module]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut twice = Vec::new();
    for (_, text) in modules {
        for line in text.lines() {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let line = line.strip_prefix("async ").unwrap_or(line);
            let rest =
                ["function ", "const ", "let ", "class "].iter().find_map(|word| line.strip_prefix(word));
            let name = rest.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$'));
            let Some(name) = name.and_then(|mut names| names.next()) else { continue };
            if !seen.insert(name) {
                twice.push(name.to_owned());
            }
        }
    }
    twice
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULES: [Module; 4] = [
        ("main.js", "import { a } from \"./a.js\";\nimport { b } from \"../up/b.js\";\n\na(b);\n"),
        ("a.js", "import { b } from \"../up/b.js\";\nexport async function a() {\n  export_(b);\n}\n"),
        ("b.js", "// b\nexport const b = 1;\n"),
        ("unused.js", "export const a = 1;\n"),
    ];

    #[test]
    fn modules_stand_after_what_they_import_and_once() {
        let text = bundle(&MODULES, &["main.js"]);
        assert_eq!(text, "// b\nconst b = 1;\nasync function a() {\n  export_(b);\n}\n\na(b);\n");
        assert_eq!(bundle(&MODULES, &["b.js", "main.js"]), text);
    }

    #[test]
    #[should_panic(expected = "import each other")]
    fn a_circle_is_refused() {
        let modules =
            [("a.js", "import { b } from \"./b.js\";\n"), ("b.js", "import { a } from \"./a.js\";\n")];
        let _ = bundle(&modules, &["a.js"]);
    }

    #[test]
    #[should_panic(expected = "not understood")]
    fn other_ways_to_export_are_refused() {
        let _ = bundle(&[("a.js", "export { b };\n")], &["a.js"]);
    }

    #[test]
    fn what_is_given_twice_is_found() {
        assert_eq!(names_given_twice(&MODULES), ["a"]);
        assert!(names_given_twice(&SHARED).is_empty());
    }
}
