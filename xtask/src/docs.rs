//! What the documents name must exist: paths, and commands with their options.

use crate::root;
use clap::Command;
use std::path::Path;

/// Folders that a run makes, and the real traces, which not every machine has.
const NOT_TRACKED: [&str; 3] = ["target", "bench/work", "shared/data"];

/// The documents that have code spans, by path from the project's folder.
fn documents() -> Vec<(String, String)> {
    let top = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "bench/README.md"].map(String::from);
    let docs = paths(&root().join("docs"), "docs").into_iter().filter(|path| path.ends_with(".md"));
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        (path, text)
    };
    top.into_iter().chain(docs).map(read).collect()
}

/// All paths below a folder, each after `name`; folders too.
fn paths(folder: &Path, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let own = entry.file_name().into_string().unwrap();
        let path = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
        if own == ".git" || own == "node_modules" || NOT_TRACKED.contains(&path.as_str()) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            found.extend(paths(&entry.path(), &path));
        }
        found.push(path);
    }
    found
}

/// The lines of a document's fenced blocks, and the code spans of its text.
fn code(text: &str) -> (Vec<&str>, Vec<&str>) {
    let parts: Vec<&str> = text.split("```").collect();
    assert!(parts.len() % 2 == 1, "a code block has no end");
    let blocks = parts.iter().skip(1).step_by(2).flat_map(|block| block.lines()).collect();
    let spans = parts.iter().step_by(2).flat_map(|prose| prose.lines());
    (blocks, spans.flat_map(|line| line.split('`').skip(1).step_by(2)).collect())
}

/// The path that a code span names, if it is one of this project.
///
/// Names in capitals (`NAME.prv`, `DIR/…`) stand for the reader's own.
fn named_path(span: &str) -> Option<&str> {
    let path = span.trim_end_matches('/');
    let is_source = [".rs", ".py", ".mjs", ".cpp"].iter().any(|end| path.ends_with(end));
    let is_plain = span.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    let placeholder = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
    // Others' paths begin at the root.
    let is_path = is_plain
        && !span.starts_with('/')
        && (is_source || span.contains('/'))
        && !span.split('/').any(placeholder);
    let is_made = NOT_TRACKED.iter().any(|folder| path == *folder || path.starts_with(&format!("{folder}/")));
    (is_path && !is_made).then_some(path)
}

/// The options of a call such as `likewise bursts TRACE --eps 0.01` that the
/// program does not know, or the command itself.
fn unknown(program: &Command, call: &str) -> Vec<String> {
    let mut words = call.split_whitespace().skip_while(|word| *word != "likewise").skip(1);
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let Some(name) = words.next().filter(is_name) else {
        return Vec::new();
    };
    let Some(mut command) = program.find_subcommand(name) else {
        return vec![name.to_owned()];
    };
    let mut missing = Vec::new();
    // What follows `--` is for the analysis of each run, or the line that is run.
    let runs_another = ["record", "replay"].contains(&name);
    for word in words.take_while(|word| !["|", "#", "&&", ">", "likewise"].contains(word)) {
        if word == "--" && runs_another {
            break;
        }
        if word == "--" {
            command = program.find_subcommand("bursts").unwrap_or(command);
        } else if !knows(program, command, word) {
            missing.push(format!("{name} {word}"));
        }
    }
    missing
}

/// Whether a word is no option, or one of the command or of the whole program.
fn knows(program: &Command, command: &Command, word: &str) -> bool {
    let option = word.split('=').next().unwrap_or(word).trim_end_matches([',', ';']);
    let mut arguments = command.get_arguments().chain(program.get_arguments());
    match (option.strip_prefix("--"), option.strip_prefix('-')) {
        (Some(long), _) => long == "help" || arguments.any(|argument| argument.get_long() == Some(long)),
        (None, Some(short)) if short.len() == 1 => {
            arguments.any(|argument| argument.get_short() == short.chars().next())
        }
        _ => true,
    }
}

#[test]
fn every_path_that_a_document_names_exists() {
    let tree = paths(&root(), "");
    // The documents name a file of a crate by the end of its path.
    let exists = |path: &str| {
        tree.iter().any(|known| {
            let known = known.strip_suffix(".rs").filter(|_| !path.ends_with(".rs")).unwrap_or(known);
            known.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    };
    let mut checked = 0;
    let mut missing = Vec::new();
    for (document, text) in documents() {
        for path in code(&text).1.into_iter().filter_map(named_path) {
            checked += 1;
            if !exists(path) {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "paths that do not exist:\n{}", missing.join("\n"));
    assert!(checked > 50, "only {checked} paths were found");
}

#[test]
fn every_option_that_a_document_names_is_known() {
    let program = likewise_cli::command();
    let any = |option: &str| program.get_subcommands().any(|command| knows(&program, command, option));
    let mut checked = 0;
    let mut missing = Vec::new();
    for (document, text) in documents() {
        let (blocks, spans) = code(&text);
        for call in blocks.iter().chain(&spans).filter(|line| line.contains("likewise ")) {
            checked += 1;
            missing.extend(unknown(&program, call).into_iter().map(|what| format!("{document}: {what}")));
        }
        // The options of `bench/run.py` and of `cargo xtask` are not the program's.
        let own = !["bench/README.md", "CONTRIBUTING.md"].contains(&document.as_str());
        for option in spans.iter().filter(|span| own && span.starts_with("--") && span.len() > 2) {
            checked += 1;
            let first = option.split_whitespace().next().unwrap_or(option);
            if !any(first) {
                missing.push(format!("{document}: {option}"));
            }
        }
    }
    assert!(missing.is_empty(), "commands or options that do not exist:\n{}", missing.join("\n"));
    assert!(checked > 80, "only {checked} calls and options were found");
}

#[test]
fn what_does_not_exist_is_seen() {
    let program = likewise_cli::command();
    assert_eq!(unknown(&program, "likewise bursts run.prv --eps=1 -o out -q"), [""; 0]);
    assert_eq!(unknown(&program, "mpirun -n 4 likewise ranks a.csv --epsilon 1"), ["ranks --epsilon"]);
    assert_eq!(unknown(&program, "likewise ranks a.prv -- --eps 1 --k 3"), ["ranks --k"]);
    assert_eq!(unknown(&program, "likewise record -- mpirun -n 4 ./app --own"), [""; 0]);
    assert_eq!(unknown(&program, "likewise cluster run.prv"), ["cluster"]);
    assert_eq!(named_path("ranks/gone.rs"), Some("ranks/gone.rs"));
    assert_eq!(named_path("commands/"), Some("commands"));
    for span in ["target/release/likewise", "NAME.prv/.pcf/.row", "DIR/.likewise.lock", "a / b", "--eps"] {
        assert_eq!(named_path(span), None, "{span}");
    }
}
