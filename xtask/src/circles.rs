//! Circles of files that import one another.
//!
//! A file imports another if its code, tests left out, names something that is
//! defined there; names that are only passed on (`pub use`) are followed to
//! where they are defined. Read as text: macros that make names are not seen.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files that may import one another in a circle.
const MOST: usize = 3;

/// Refuses circles of more than [`MOST`] files, and those of several folders.
pub(crate) fn check(crates: &Path) -> Result<()> {
    let mut largest: Vec<String> = Vec::new();
    for one in std::fs::read_dir(crates).context("the folder of the crates")? {
        let name = one?.file_name().to_string_lossy().into_owned();
        let sources = Sources::read(&crates.join(&name).join("src"))?;
        for circle in circles(&sources.imports()) {
            let folders: BTreeSet<&str> = circle.iter().map(|module| sources.folder(module)).collect();
            let told = format!("{name}: {}", circle.join(", "));
            ensure!(circle.len() <= MOST, "{} files import one another in a circle: {told}", circle.len());
            ensure!(folders.len() == 1, "files of several folders import one another in a circle: {told}");
            if circle.len() > largest.len() {
                largest = circle;
            }
        }
    }
    eprintln!("largest import circle: {} files ({})", largest.len(), largest.join(", "));
    Ok(())
}

/// The modules of a crate.
#[derive(Default)]
struct Sources {
    /// The code of each, without comments and tests, by path such as `a::b`; the
    /// root has none.
    files: BTreeMap<String, String>,
    /// What each module calls by other names: name, path, and whether others
    /// may use it.
    names: BTreeMap<String, Vec<(String, String, bool)>>,
}

impl Sources {
    fn read(folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(&next).with_context(|| next.display().to_string())? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    let inner = path.strip_prefix(folder)?.with_extension("");
                    let text = std::fs::read_to_string(&path)?;
                    files.insert(module(&inner), text);
                }
            }
        }
        Ok(Self::of(files))
    }

    fn of(files: BTreeMap<String, String>) -> Self {
        let is_test =
            |module: &String| module.split("::").any(|part| part == "tests" || part.ends_with("_tests"));
        let files = files.into_iter().filter(|(module, _)| !is_test(module));
        let files: BTreeMap<_, _> = files.map(|(module, text)| (module, code(&text))).collect();
        let names = files.iter().map(|(module, text)| (module.clone(), names(text))).collect();
        Self { files, names }
    }

    /// The folder that a module is in, or that it is the head of.
    fn folder<'m>(&self, module: &'m str) -> &'m str {
        let inner = format!("{module}::");
        let is_head = self.files.keys().any(|other| other.starts_with(&inner));
        if is_head { module } else { module.rsplit_once("::").map_or("", |(folder, _)| folder) }
    }

    fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let of = |(module, text): (&String, &String)| {
            let named = self.names[module].iter().filter(|(_, _, is_public)| !is_public);
            let mut paths: Vec<String> = named.map(|(_, path, _)| path.clone()).collect();
            for path in inline_paths(text) {
                let (first, rest) = path.split_once("::").unwrap_or((&path, ""));
                let alias = self.names[module].iter().find(|(name, _, _)| name == first);
                paths.push(alias.map_or_else(|| path.clone(), |(_, of, _)| format!("{of}::{rest}")));
            }
            let found = paths.iter().filter_map(|path| {
                let parts = self.absolute(module, path)?;
                // The name of a module alone says nothing of what is used of it.
                let is_module = self.files.contains_key(&parts.join("::"));
                if is_module { None } else { self.defined_in(&parts, 0) }
            });
            (module.clone(), found.filter(|other| other != module).collect())
        };
        self.files.iter().map(of).collect()
    }

    /// A path from the root; `None` if it leaves the crate.
    fn absolute(&self, module: &str, path: &str) -> Option<Vec<String>> {
        let mut base: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
        let mut parts = path.split("::").filter(|part| !part.is_empty()).peekable();
        match parts.peek().copied()? {
            "crate" => {
                parts.next();
                base.clear();
            }
            "self" => {
                parts.next();
            }
            "super" => {
                while parts.next_if_eq(&"super").is_some() {
                    base.pop();
                }
            }
            first if self.files.contains_key(&[&base[..], &[first]].concat().join("::")) => {}
            _ => return None,
        }
        Some(base.into_iter().chain(parts).map(str::to_owned).collect())
    }

    /// The module in which something is defined, by way of names that are
    /// passed on.
    fn defined_in(&self, parts: &[String], depth: usize) -> Option<String> {
        let mut module = String::new();
        for (at, part) in parts.iter().enumerate() {
            let inner = if module.is_empty() { part.clone() } else { format!("{module}::{part}") };
            if self.files.contains_key(&inner) {
                module = inner;
                continue;
            }
            let passed_on = self.names.get(&module)?.iter().find(|(name, _, _)| name == part);
            return match passed_on {
                Some((_, path, _)) if depth < 8 => {
                    let mut whole = self.absolute(&module, path)?;
                    whole.extend_from_slice(&parts[at + 1..]);
                    self.defined_in(&whole, depth + 1)
                }
                _ => Some(module),
            };
        }
        Some(module)
    }
}

/// `a/b/mod` is `a::b`.
fn module(inner: &Path) -> String {
    let parts: Vec<String> = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_folder = parts.last().is_some_and(|last| ["mod", "lib"].contains(&last.as_str()));
    parts[..parts.len() - usize::from(is_folder)].join("::")
}

/// Without comments, and up to the tests at the end.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.find("//").map_or(line, |at| &line[..at]));
    let lines: Vec<&str> = lines.collect();
    let is_test = |at: usize| {
        lines[at].trim() == "#[cfg(test)]"
            && lines.get(at + 1).is_some_and(|next| next.contains("mod ") && next.ends_with('{'))
    };
    let end = (0..lines.len()).find(|&at| is_test(at)).unwrap_or(lines.len());
    lines[..end].join("\n")
}

/// What a module's `use` items call what, and whether they pass it on.
fn names(text: &str) -> Vec<(String, String, bool)> {
    let mut names = Vec::new();
    for item in text.split(';').filter_map(use_item) {
        let (tree, is_public) = item;
        for path in leaves(&tree) {
            let (path, alias) = path.split_once(" as ").map_or((path.as_str(), None), |(a, b)| (a, Some(b)));
            let path = path.strip_suffix("::self").unwrap_or(path);
            let name = alias.or_else(|| path.rsplit("::").next()).unwrap_or(path);
            names.push((name.trim().to_owned(), path.trim().to_owned(), is_public));
        }
    }
    names
}

/// What stands before a `use` item that ends the text.
fn before_use(text: &str) -> Option<&str> {
    let mut at = 0;
    let mut starts = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line.trim_start())
    });
    let is_use = |line: &str| line.starts_with("use ") || (line.starts_with("pub") && line.contains("use "));
    let (start, _) = starts.by_ref().filter(|(_, line)| is_use(line)).last()?;
    Some(&text[..start])
}

/// The tree of a `use` item that ends the text.
fn use_item(text: &str) -> Option<(String, bool)> {
    let item = text[before_use(text)?.len()..].replace('\n', " ");
    let (before, tree) = item.split_once("use ")?;
    let tree: String = tree.split_whitespace().collect::<Vec<_>>().join(" ");
    Some((tree, before.contains("pub")))
}

/// `a::{b, c::d}` is `a::b` and `a::c::d`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.flat_map(|part| leaves(&format!("{before}{part}"))).collect()
}

/// Paths of two parts or more that stand in the code itself.
fn inline_paths(text: &str) -> Vec<String> {
    let statements = text.split_inclusive(';');
    let text: String =
        statements.map(|one| one.strip_suffix(';').and_then(before_use).unwrap_or(one)).collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches(':'));
    words.filter(|word| word.contains("::")).map(str::to_owned).collect()
}

/// Those that reach one another, larger ones first.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut next: Vec<&String> = imports[from].iter().collect();
        while let Some(module) = next.pop() {
            if imports.contains_key(module) && seen.insert(module) {
                next.extend(&imports[module]);
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> = imports.keys().map(|m| (m, reach(m))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, others) in &reached {
        let circle = others.iter().filter(|other| reached[*other].contains(module));
        let circle: Vec<String> = circle.map(|other| (*other).clone()).collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    let mut found: Vec<Vec<String>> = found.into_iter().collect();
    found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let file =
            |(name, text): &(&str, &str)| (module(&Path::new(name).with_extension("")), (*text).to_owned());
        circles(&Sources::of(files.iter().map(file).collect()).imports())
    }

    #[test]
    fn names_are_followed_to_where_they_are_defined() {
        let files = [
            ("lib.rs", "mod a;\nmod b;"),
            ("a/mod.rs", "mod inner;\npub use inner::Thing;\n"),
            ("a/inner.rs", "pub struct Thing;\nfn f() { crate::b::g() }"),
            ("b.rs", "use crate::{\n    a::Thing,\n};\npub fn g() {}"),
        ];
        assert_eq!(found(&files), [["a::inner", "b"]]);
        // The same by a name in the code, and none where only tests know the other.
        let by_test = "pub struct Thing;\n#[cfg(test)]\nmod tests {\n    use crate::b::g;\n}";
        let without = [files[0], files[1], ("a/inner.rs", by_test), files[3]];
        assert!(found(&without).is_empty());
    }

    #[test]
    fn a_circle_of_four_is_found() {
        let next =
            ["use super::b::B;", "use super::c::C;", "use super::d::{D};", "use super::a::{self, A as _};"];
        let names = ["a.rs", "b.rs", "c.rs", "d.rs"];
        let files: Vec<(&str, &str)> = names.into_iter().zip(next).collect();
        assert_eq!(found(&files), [["a", "b", "c", "d"]]);
    }
}
