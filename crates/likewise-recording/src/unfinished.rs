//! What the ranks of a run that did not end have left: a file of parts that
//! are done with, and one of the part that was open.

use crate::file;
use crate::part::Part;
use crate::recording::OpenError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file of the parts of a rank that are done with.
#[must_use]
pub fn sealed(folder: &Path, world: u32, rank: u32) -> PathBuf {
    folder.join(format!(".{world}-rank-{rank}.sealed"))
}

/// The file of a rank's open part.
#[must_use]
pub fn open(folder: &Path, world: u32, rank: u32) -> PathBuf {
    folder.join(format!(".{world}-rank-{rank}.open"))
}

/// The files that ranks have left, those of each world by rank.
///
/// # Errors
/// The folder cannot be read.
pub fn files(folder: &Path) -> std::io::Result<BTreeMap<u32, Vec<PathBuf>>> {
    let mut worlds: BTreeMap<u32, Vec<(u32, PathBuf)>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some((world, rank)) = path.file_name().and_then(|name| name.to_str()).and_then(numbers) {
            worlds.entry(world).or_default().push((rank, path));
        }
    }
    let in_order = |mut files: Vec<(u32, PathBuf)>| {
        // What is sealed comes first: a copy of the same part is older.
        files.sort_by(|(a, a_path), (b, b_path)| a.cmp(b).then_with(|| b_path.cmp(a_path)));
        files.into_iter().map(|(_, path)| path).collect()
    };
    Ok(worlds.into_iter().map(|(world, files)| (world, in_order(files))).collect())
}

fn numbers(name: &str) -> Option<(u32, u32)> {
    let name = name.strip_prefix('.')?;
    let name = name.strip_suffix(".sealed").or_else(|| name.strip_suffix(".open"))?;
    let (world, rank) = name.split_once("-rank-")?;
    Some((world.parse().ok()?, rank.parse().ok()?))
}

/// The parts of the first world that a run has left, with the ranks that have
/// the same number of parts put together.
pub(crate) fn read(folder: &Path) -> Result<Vec<(u32, Part)>, OpenError> {
    let worlds = files(folder).map_err(|error| OpenError::Io(folder.to_owned(), error))?;
    let nothing = || OpenError::Nothing(folder.to_owned());
    parts_of(worlds.values().next().ok_or_else(nothing)?)?.ok_or_else(nothing)
}

/// The parts in these files, with those of one number put together. None where
/// no part is whole.
///
/// # Errors
/// A file cannot be read.
pub fn parts_of(files: &[PathBuf]) -> Result<Option<Vec<(u32, Part)>>, OpenError> {
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for path in files {
        let bytes = std::fs::read(path).map_err(|error| OpenError::Io(path.clone(), error))?;
        // A file that ends early holds what was whole before.
        for (number, part) in file::read(&bytes).map_or_else(|_| Vec::new(), |(parts, _)| parts) {
            // Between sealing a part and removing its last copy there are two.
            if !seen.insert((number, part.ranks()[0].rank)) {
                continue;
            }
            match parts.get_mut(&number) {
                Some(known) => known.merge(&part),
                None => {
                    parts.insert(number, part);
                }
            }
        }
    }
    Ok((!parts.is_empty()).then(|| parts.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_comes_before_the_copy() {
        let folder = std::env::temp_dir().join(format!("likewise-unfinished-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let expected =
            [sealed(&folder, 1, 2), open(&folder, 1, 2), sealed(&folder, 1, 10), open(&folder, 1, 10)];
        expected.iter().for_each(|file| std::fs::write(file, "").unwrap());
        let found = files(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.unwrap(), BTreeMap::from([(1, expected.to_vec())]));
    }
}
