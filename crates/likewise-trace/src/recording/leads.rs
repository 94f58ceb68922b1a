//! Runs in which leads recorded for all: what was measured, and what is known
//! of the others.

use std::path::Path;

use likewise_recording::Recording;

use crate::error::{Error, ErrorKind, Result};

/// The ranks that were recorded throughout. What others did meanwhile has the
/// times of their leads: read as theirs, they would make ranks look alike that
/// nobody measured.
///
/// # Returns
/// The ranks, and a warning where they are not all.
///
/// # Errors
/// No rank was recorded throughout.
pub(super) fn measured(recording: &Recording, path: &Path) -> Result<(Vec<u32>, Option<String>)> {
    let all = recording.ranks().iter().map(|meta| meta.rank);
    let measured: Vec<u32> = all.filter(|rank| recording.is_measured(*rank)).collect();
    let (n, there) = (measured.len(), recording.ranks().len());
    if n == there {
        return Ok((measured, None));
    }
    if n == 0 {
        let what = "no rank was recorded throughout: the run was recorded by leads, and each of its ranks stood \
                    behind another one for some time. There are no times of a rank from begin to end; `likewise \
                    info`, `convert` and `replay` work";
        return Err(Error::whole(path, ErrorKind::Table(what.to_owned())));
    }
    let warning = format!(
        "{}: {n} of {there} ranks were recorded throughout and are read; the others were recorded by leads while the \
         run repeated",
        path.display()
    );
    Ok((measured, Some(warning)))
}

/// What is to be known where all ranks are taken.
pub(super) fn warning(recording: &Recording, path: &Path) -> Option<String> {
    let stood: Vec<u64> =
        recording.ranks().iter().map(|meta| recording.stood(meta.rank)).filter(|n| *n > 0).collect();
    let all: u64 = recording.ranks().iter().fold(0, |all, meta| all.saturating_add(meta.events));
    let events = stood.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
    (events > 0).then(|| {
        format!(
            "{}: {events} of {all} events were not recorded on their ranks: their times, and how many calls these are, \
             are those of leads; {} of {} ranks did not record while the run repeated",
            path.display(),
            stood.len(),
            recording.ranks().len()
        )
    })
}

/// Calls of which not all parameters are known to be the rank's own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lent {
    calls: u64,
    ranks: u32,
}

impl Lent {
    /// Adds those of a rank.
    pub(super) fn add(&mut self, calls: u64) {
        self.calls += calls;
        self.ranks += u32::from(calls > 0);
    }

    pub(super) fn note(self) -> Option<String> {
        (self.calls > 0).then(|| {
            format!(
                "parameters of {} calls of {} ranks may be their leads', in part or all: what these ranks recorded \
                 before does not show their own",
                self.calls, self.ranks
            )
        })
    }
}
