//! What tells apart the spots of a program from which it calls on.
//!
//! The line does, where it is known. A program without debug data has none, and
//! a line may hold several calls: then what is called from there tells, and the
//! column in the line.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use likewise_recording::Frame;

use super::source::Location;

/// A spot in the program from which it calls MPI, or a function that does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spot {
    /// The function and the line, as far as they are known.
    pub(super) location: Location,
    /// What is called from there, such as `MPI_Send`; `MPI_Send #2` where no
    /// line tells several of them apart, or one line has several. Empty if the
    /// line alone tells.
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
    let mut of_line: HashMap<Location, BTreeMap<String, BTreeSet<u32>>> = HashMap::new();
    let mut of_call: HashMap<(String, String), BTreeSet<Frame>> = HashMap::new();
    for (frame, spots) in paths.values().flatten() {
        for Spot { location, call } in spots {
            if location.has_line() {
                let calls = of_line.entry(whole_line(location)).or_default();
                calls.entry(call.clone()).or_default().insert(location.column);
            } else {
                of_call.entry((location.function.clone(), call.clone())).or_default().insert(*frame);
            }
        }
    }
    for (frame, spots) in paths.values_mut().flatten() {
        for Spot { location, call } in spots {
            // A function that is an address tells it by itself.
            let is_address = location.function.ends_with(&format!("{:#x}", frame.offset));
            let place = if is_address {
                call.clear();
                None
            } else if location.has_line() {
                let calls = &of_line[&whole_line(location)];
                let columns = &calls[&*call];
                if calls.len() == 1 && columns.len() == 1 {
                    call.clear();
                }
                // Copies of a call that a compiler makes have its column: they are one.
                columns.iter().position(|column| *column == location.column).filter(|_| columns.len() > 1)
            } else {
                let frames = &of_call[&(location.function.clone(), call.clone())];
                frames.iter().position(|other| other == frame).filter(|_| frames.len() > 1)
            };
            if let Some(place) = place {
                *call = format!("{call} #{}", place + 1);
            }
        }
    }
}

/// Where all calls of a line lie.
fn whole_line(location: &Location) -> Location {
    Location { column: 0, ..location.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of frames: offset, function, line with the column in hundredths.
    type Told<'t> = &'t [(u64, &'t str, u32)];

    fn names(paths: &[(Told<'_>, &str)]) -> Vec<Vec<String>> {
        let frame = |&(offset, function, line): &(u64, &str, u32)| {
            let file = if line > 0 { "dir/a.c" } else { "" }.to_owned();
            let location =
                Location { function: function.to_owned(), file, line: line / 100, column: line % 100 };
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
            (&[(1, "main", 703)], "MPI_Bcast"),
            (&[(2, "main", 720)], "MPI_Barrier"),
            (&[(3, "main", 803)], "MPI_Barrier"),
            // A copy of it, as a compiler makes them.
            (&[(4, "main", 803)], "MPI_Barrier"),
        ]);
        let expected =
            ["main (a.c:7, MPI_Bcast)", "main (a.c:7, MPI_Barrier)", "main (a.c:8)", "main (a.c:8)"];
        assert_eq!(told.concat(), expected);
    }

    /// `MPI_Barrier(c); MPI_Barrier(c);`: a loop with both counted twice.
    #[test]
    fn the_same_call_twice_on_a_line_is_two_spots() {
        let told = names(&[
            (&[(9, "main", 720)], "MPI_Barrier"),
            (&[(2, "main", 703)], "MPI_Barrier"),
            (&[(12, "main", 720)], "MPI_Barrier"),
            (&[(3, "main", 740)], "MPI_Bcast"),
        ]);
        let expected = ["MPI_Barrier #2", "MPI_Barrier #1", "MPI_Barrier #2", "MPI_Bcast"]
            .map(|call| format!("main (a.c:7, {call})"));
        assert_eq!(told.concat(), expected);
        // Where the compiler names no columns, nothing tells them apart.
        let told = names(&[(&[(1, "main", 700)], "MPI_Barrier"), (&[(2, "main", 700)], "MPI_Barrier")]);
        assert_eq!(told.concat(), ["main (a.c:7)", "main (a.c:7)"]);
    }
}
