//! What a run that did not end has left: of each rank a file of parts that are
//! done with, and one of the part that was open; and the file that the run
//! appended to, where it was recorded by leads.

use crate::file::{self, Found};
use crate::part::Part;
use crate::recording::OpenError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How the name of the file ends that the run appends to.
const ONLINE: &str = "-online";

/// So often are files read that change meanwhile.
const TURNS: u32 = 5;

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

/// The file that the run appends to while ranks record by leads: parts of
/// many ranks, and the log.
#[must_use]
pub fn online(folder: &Path, world: u32) -> PathBuf {
    folder.join(format!(".{world}{ONLINE}"))
}

/// The files that a run has left, those of each world: first the one that it
/// appended to, then those of its ranks, by rank.
///
/// # Errors
/// The folder cannot be read.
pub fn files(folder: &Path) -> std::io::Result<BTreeMap<u32, Vec<PathBuf>>> {
    let mut worlds: BTreeMap<u32, Vec<(Option<u32>, PathBuf)>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some((world, rank)) = path.file_name().and_then(|name| name.to_str()).and_then(numbers) {
            worlds.entry(world).or_default().push((rank, path));
        }
    }
    let in_order = |mut files: Vec<(Option<u32>, PathBuf)>| {
        // What is sealed comes first: a copy of the same part is older.
        files.sort_by(|(a, a_path), (b, b_path)| a.cmp(b).then_with(|| b_path.cmp(a_path)));
        files.into_iter().map(|(_, path)| path).collect()
    };
    Ok(worlds.into_iter().map(|(world, files)| (world, in_order(files))).collect())
}

/// World and rank of a file; no rank of the one that the run appends to.
fn numbers(name: &str) -> Option<(u32, Option<u32>)> {
    let name = name.strip_prefix('.')?;
    if let Some(world) = name.strip_suffix(ONLINE) {
        return Some((world.parse().ok()?, None));
    }
    let name = name.strip_suffix(".sealed").or_else(|| name.strip_suffix(".open"))?;
    let (world, rank) = name.split_once("-rank-")?;
    Some((world.parse().ok()?, Some(rank.parse().ok()?)))
}

/// What the first world that a run has left holds.
pub(crate) fn read(folder: &Path) -> Result<Found, OpenError> {
    let worlds = files(folder).map_err(|error| OpenError::Io(folder.to_owned(), error))?;
    let nothing = || OpenError::Nothing(folder.to_owned());
    parts_of(worlds.values().next().ok_or_else(nothing)?)?.ok_or_else(nothing)
}

/// What these files of a world hold, with the ranks' own parts of one number
/// put together. None where nothing is whole.
///
/// A rank's own part is not taken where the run has appended one of its number,
/// or of a later one, with this rank in it, or standing behind a lead.
///
/// # Errors
/// A file cannot be read.
pub fn parts_of(files: &[PathBuf]) -> Result<Option<Found>, OpenError> {
    let online = files.iter().find(|path| is_online(path));
    let size = || online.and_then(|path| path.metadata().ok()).map(|file| file.len());
    let mut turns = TURNS;
    loop {
        let before = size();
        let found = parts_once(files)?;
        turns -= 1;
        // What a running job appends meanwhile is no longer in the files of the ranks.
        if turns == 0 || size() == before {
            return Ok(found);
        }
    }
}

fn is_online(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ONLINE))
}

fn parts_once(files: &[PathBuf]) -> Result<Option<Found>, OpenError> {
    let mut found = Found::default();
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    // The last number of each rank in what was appended.
    let mut appended: BTreeMap<u32, u32> = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for path in files {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            // The run has removed it meanwhile: what it held was appended.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(OpenError::Io(path.clone(), error)),
        };
        // A file that ends early holds what was whole before.
        let Ok(file) = file::read(&bytes) else { continue };
        if is_online(path) {
            for (number, part) in &file.parts {
                let standing = part.stands().iter().flat_map(|stand| &stand.ranks);
                for rank in part.ranks().iter().map(|meta| &meta.rank).chain(standing) {
                    let last = appended.entry(*rank).or_default();
                    *last = (*last).max(*number);
                }
            }
            found.parts.extend(file.parts);
            found.log = file.log;
            found.strata = file.strata;
            continue;
        }
        for (number, part) in file.parts {
            let rank = part.ranks()[0].rank;
            let is_appended = appended.get(&rank).is_some_and(|last| *last >= number);
            // Between sealing a part and removing its last copy there are two.
            if is_appended || !seen.insert((number, rank)) {
                continue;
            }
            match parts.get_mut(&number) {
                // Only of one job are all of one kind.
                Some(known) if !known.is_of_one_kind(&part) => {}
                Some(known) => known.merge(&part),
                None => {
                    parts.insert(number, part);
                }
            }
        }
    }
    found.parts.extend(parts);
    Ok((!found.parts.is_empty() || !found.strata.is_empty()).then_some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_comes_before_the_copy() {
        let folder = std::env::temp_dir().join(format!("likewise-unfinished-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let ranks = [2, 10].into_iter().flat_map(|rank| [sealed(&folder, 1, rank), open(&folder, 1, rank)]);
        let expected: Vec<PathBuf> = std::iter::once(online(&folder, 1)).chain(ranks).collect();
        expected.iter().for_each(|file| std::fs::write(file, "").unwrap());
        let found = files(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.unwrap(), BTreeMap::from([(1, expected)]));
    }
}
