//! `--definition FILE`: an analysis written down, in TOML or as a
//! ClusteringSuite XML definition.

#[cfg(test)]
mod epoch;
mod toml;
mod tree;
mod types;
mod xml;

use std::io::Read;
use std::path::Path;

use types::line_of;
pub use types::{Algorithm, Axis, Definition, DefinitionError, Plot, parse_share, parse_some};

/// A larger file is refused: it is probably a trace that was given by mistake.
const MAX_BYTES: u64 = 4 << 20;

/// Reads a definition file.
///
/// # Errors
/// Names the file, and the line where there is one.
pub fn read_definition(path: &Path) -> anyhow::Result<Definition> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| anyhow::anyhow!("{shown}: {e}"))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| anyhow::anyhow!("{shown}: {e}"))?;
    if bytes.len() as u64 > MAX_BYTES {
        anyhow::bail!("{shown}: more than {MAX_BYTES} bytes; expected a definition in TOML or XML");
    }
    parse_definition(&bytes).map_err(|e| anyhow::anyhow!("{shown}:{}: {}", e.line, e.message))
}

/// Reads a definition: XML if its first character is `<`, else TOML.
///
/// # Errors
/// [`DefinitionError`] with the line.
pub fn parse_definition(bytes: &[u8]) -> Result<Definition, DefinitionError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_xml = bytes.trim_ascii_start().starts_with(b"<");
    match std::str::from_utf8(bytes) {
        Ok(text) if is_xml => xml::parse(text),
        Ok(text) => toml::parse(text),
        // Editors of ClusteringSuite's days wrote comments in Latin-1.
        Err(_) if is_xml => {
            let mut definition = xml::parse(&bytes.iter().map(|&b| char::from(b)).collect::<String>())?;
            definition.notes.push("the file is not UTF-8; it was read as Latin-1".to_owned());
            Ok(definition)
        }
        Err(e) => {
            let message = "not UTF-8; expected a definition in TOML or XML";
            Err(DefinitionError::new(line_of(bytes, e.valid_up_to()), message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::table::DurationFilter;

    #[test]
    fn shares_are_percentages() {
        assert_eq!(parse_share("99%"), Ok(0.99));
        assert_eq!(parse_share(" 12.5 % "), Ok(0.125));
        for text in ["99", "0.99", "101%", "-1%", "nan%", "%", ""] {
            assert!(parse_share(text).is_err(), "{text}");
        }
        for (text, told) in
            [("0.95", "percentage, 95%"), ("0.07", ", 7%"), ("99.5", ", 99.5%"), ("1", "to 100%")]
        {
            let error = parse_share(text).expect_err("no percentage");
            assert!(error.ends_with(told), "{error}");
        }
    }

    #[test]
    fn the_format_is_seen_from_the_content() {
        let xml = b"\xef\xbb\xbf\n <clustering_definition duration_filter='5us'/>";
        let toml = b"duration_filter = '5us'";
        let latin = b"<!-- definici\xf3n --><clustering_definition duration_filter='5us'/>";
        for bytes in [&xml[..], toml, latin] {
            let found = parse_definition(bytes).expect("reads");
            assert_eq!(found.filter, Some(DurationFilter::Min(likewise::table::Nanos(5_000))));
        }
        assert_eq!(parse_definition(b"eps = 1\n\xff").expect_err("refused").line, 2);
        assert_eq!(parse_definition(b""), Ok(Definition::default()));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read_definition(Path::new("/nowhere/at/all.xml")).expect_err("refused");
        assert!(error.to_string().starts_with("/nowhere/at/all.xml: "));
    }
}
