//! Regions of a recording by strata, by the functions that compute there.

use super::paths::Paths;
use super::source::Source;
use likewise_recording::{Recording, Symbol, short_identity};
use std::collections::HashMap;

/// The call paths of rank 0, by call and hash.
pub struct RegionNames {
    paths: Paths,
    known: HashMap<String, u32>,
}

impl RegionNames {
    /// Those that a recording knows.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let paths = Paths::of(recording, &mut Source::new(recording.modules()));
        let symbols = recording.symbols().iter();
        let key = |symbol: &Symbol| {
            format!("{}@{}", symbol.call.name(), short_identity(recording.identity(symbol)))
        };
        Self { paths, known: symbols.map(|symbol| (key(symbol), symbol.path)).collect() }
    }

    /// A region, with the function that computes there if it is known: of
    /// `MPI_Bcast@0123abcd to MPI_Send@4567abcd`, `solve (app.c:12), MPI_Bcast to
    /// MPI_Send`.
    #[must_use]
    pub fn named(&self, region: &str) -> String {
        let between = || {
            let (before, after) = region.split_once(" to ")?;
            let spot = self.paths.between(*self.known.get(before)?, *self.known.get(after)?)?;
            let call = |text: &str| text.split('@').next().unwrap_or_default().to_owned();
            Some(format!("{}, {} to {}", spot.name(), call(before), call(after)))
        };
        between().unwrap_or_else(|| region.to_owned())
    }
}
