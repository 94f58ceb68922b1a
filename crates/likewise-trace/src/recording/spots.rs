//! What tells apart the spots of a program from which it calls on.
//!
//! The line does, where it is known. A program without debug data has none, and
//! a line may hold several calls: then what is called from there tells.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use likewise_recording::Frame;

use super::source::Location;

/// A spot in the program from which it calls MPI, or a function that does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spot {
    /// The function and the line, as far as they are known.
    pub(super) location: Location,
    /// What is called from there, such as `MPI_Send`; `MPI_Send #2` where no
    /// line tells several of them apart. Empty if the line alone tells.
    pub(super) call: String,
}

impl Spot {
    /// `function (file:line)`, `function (call)` or `function (file:line, call)`:
    /// no two spots have the same. Copies of one call that the compiler made are
    /// one spot where lines are known.
    pub(super) fn name(&self) -> String {
        match self.line() {
            line if line.is_empty() => self.location.function.clone(),
            line => format!("{} ({line})", self.location.function),
        }
    }

    /// Where in its function it is: `file:line`, `call` or `file:line, call`.
    pub(super) fn line(&self) -> String {
        match (self.location.has_line(), self.call.is_empty()) {
            (true, true) => format!("{}:{}", self.location.base(), self.location.line),
            (true, false) => format!("{}:{}, {}", self.location.base(), self.location.line, self.call),
            (false, _) => self.call.clone(),
        }
    }
}

/// A frame with the spots in it, the innermost first.
pub(super) type Spots = (Frame, Vec<Spot>);

/// Gives each spot of the call paths the call that tells it from the others.
/// Each path has its frames, the innermost first, and the MPI calls that are
/// made from it.
pub(super) fn tell_apart(paths: &mut BTreeMap<u32, Vec<Spots>>, calls: &BTreeMap<u32, BTreeSet<&str>>) {
    for (path, frames) in &mut *paths {
        let mpi = calls.get(path).map_or_else(Vec::new, |calls| calls.iter().copied().collect());
        let mut called = mpi.join(" or ");
        for spot in frames.iter_mut().flat_map(|(_, spots)| spots) {
            spot.call = std::mem::replace(&mut called, spot.location.function.clone());
        }
    }
    let mut of_line: HashMap<Location, BTreeSet<String>> = HashMap::new();
    let mut of_call: HashMap<(String, String), BTreeSet<Frame>> = HashMap::new();
    for (frame, spots) in paths.values().flatten() {
        for Spot { location, call } in spots {
            if location.has_line() {
                of_line.entry(location.clone()).or_default().insert(call.clone());
            } else {
                of_call.entry((location.function.clone(), call.clone())).or_default().insert(*frame);
            }
        }
    }
    for (frame, spots) in paths.values_mut().flatten() {
        for Spot { location, call } in spots {
            // A function that is an address tells it by itself.
            let is_address = location.function.ends_with(&format!("{:#x}", frame.offset));
            if location.has_line() || is_address {
                if is_address || of_line[location].len() == 1 {
                    call.clear();
                }
                continue;
            }
            let mut all = of_call[&(location.function.clone(), call.clone())].iter();
            if all.len() > 1
                && let Some(place) = all.position(|other| other == frame)
            {
                *call = format!("{call} #{}", place + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of frames: offset, function, line.
    type Told<'t> = &'t [(u64, &'t str, u32)];

    fn names(paths: &[(Told<'_>, &str)]) -> Vec<Vec<String>> {
        let frame = |&(offset, function, line): &(u64, &str, u32)| {
            let file = if line > 0 { "dir/a.c" } else { "" }.to_owned();
            let location = Location { function: function.to_owned(), file, line };
            (Frame { module: 0, offset }, vec![Spot { location, call: String::new() }])
        };
        let mut all: BTreeMap<u32, Vec<Spots>> =
            (0..).zip(paths).map(|(path, (told, _))| (path, told.iter().map(frame).collect())).collect();
        let calls = (0..).zip(paths).map(|(path, &(_, call))| (path, BTreeSet::from([call]))).collect();
        tell_apart(&mut all, &calls);
        all.into_values()
            .map(|path| path.iter().flat_map(|(_, spots)| spots).map(Spot::name).collect())
            .collect()
    }

    #[test]
    fn without_lines_calls_tell_spots_apart() {
        let told = names(&[
            (&[(1, "main", 0)], "MPI_Bcast"),
            (&[(2, "main", 0)], "MPI_Barrier"),
            (&[(9, "main", 0)], "MPI_Barrier"),
            (&[(20, "step", 0), (5, "main", 0)], "MPI_Send"),
            (&[(20, "step", 0), (7, "main", 0)], "MPI_Send"),
            (&[(30, "step", 0), (7, "main", 0)], "MPI_Recv"),
        ]);
        assert_eq!(
            told[..3].concat(),
            ["main (MPI_Bcast)", "main (MPI_Barrier #1)", "main (MPI_Barrier #2)"]
        );
        assert_eq!(told[3], ["step (MPI_Send)", "main (step #1)"]);
        assert_eq!(told[4], ["step (MPI_Send)", "main (step #2)"]);
        assert_eq!(told[5], ["step (MPI_Recv)", "main (step #2)"]);
    }

    #[test]
    fn of_several_calls_on_a_line_each_is_a_spot() {
        let told = names(&[
            (&[(1, "main", 7)], "MPI_Bcast"),
            (&[(2, "main", 7)], "MPI_Barrier"),
            (&[(3, "main", 8)], "MPI_Barrier"),
            // A copy of it, as a compiler makes them.
            (&[(4, "main", 8)], "MPI_Barrier"),
        ]);
        let expected =
            ["main (a.c:7, MPI_Bcast)", "main (a.c:7, MPI_Barrier)", "main (a.c:8)", "main (a.c:8)"];
        assert_eq!(told.concat(), expected);
    }
}
