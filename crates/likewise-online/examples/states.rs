//! The states of made-up programs with known phases, as a table, each beside
//! what is expected:
//!
//! ```text
//! cargo run --release -p likewise-online --example states [RANKS…]
//! ```

#[path = "common/programs.rs"]
mod programs;

use likewise_comm::{CommError, run_on_threads};
use likewise_recording::State;
use programs::{Expected, Outcome, Program, run};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let asked: Vec<usize> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let sizes = if asked.is_empty() { vec![4, 8, 16, 1024] } else { asked };
    println!("| program | ranks | markers | C | L | AT | in L | call paths | leads | expected |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|---|");
    for program in Program::ALL {
        // What is the same for several numbers of ranks is one row.
        let mut rows: Vec<(String, Vec<String>)> = Vec::new();
        for size in &sizes {
            // All ranks know the same, so the first one may tell.
            let outcomes = run_on_threads::<_, CommError, _>(*size, |comm| run(comm, program))?;
            let row = row(&outcomes[0], &program.expected(*size));
            match rows.last_mut().filter(|(last, _)| *last == row) {
                Some((_, sizes)) => sizes.push(size.to_string()),
                None => rows.push((row, vec![size.to_string()])),
            }
        }
        for (row, sizes) in rows {
            println!("| {} | {} | {row} |", program.name(), sizes.join(", "));
        }
    }
    Ok(())
}

fn row(outcome: &Outcome, expected: &Expected) -> String {
    let states = [State::AllTracing, State::Clustering, State::Lead].map(|state| outcome.markers(state));
    let [at, c, l] = states;
    let n = outcome.states.len();
    let last = outcome.clusterings.last();
    let found = Expected { states, groups: last.map(Vec::len) };
    let (paths, leads) = last.map_or(("–".to_owned(), "–".to_owned()), |groups| {
        let paths = groups.iter().map(|group| group.call_path + 1).max().unwrap_or(0);
        (paths.to_string(), groups.len().to_string())
    });
    let verdict = if found == *expected { "as found".to_owned() } else { format!("{expected:?}") };
    format!("{n} | {c} | {l} | {at} | {:.0}% | {paths} | {leads} | {verdict}", 100.0 * l as f64 / n as f64)
}
