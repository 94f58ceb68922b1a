//! Checks that all processes do the same job. They must take part in the same
//! exchanges with the same numbers of classes and ranks. A process that does
//! not would make the others wait for ever, or get wrong results.

use crate::{ToldElsewhere, Usage};
use anyhow::{Context, Result, anyhow};
use likewise::comm::{Communicator, Reduction, wire};
use likewise::words::{counted, grouped_digits};
use likewise_trace::{Digest, is_rereadable, recording};
use std::path::Path;

/// Where any process failed, all fail, and the first of them says why.
///
/// # Errors
/// That of this process, or [`ToldElsewhere`].
pub fn told_once<C: Communicator, T>(comm: Option<&C>, result: Result<T>) -> Result<T> {
    let Some(comm) = comm else { return result };
    // Who knows why goes before who only knows that another failed.
    let mine = match &result {
        Ok(_) => i64::MAX,
        Err(error) if error.is::<ToldElsewhere>() => (comm.size() + comm.rank()) as i64,
        Err(_) => comm.rank() as i64,
    };
    let mut first = [mine];
    comm.all_reduce(Reduction::Min, &mut first)?;
    let failed = (first[0] != i64::MAX).then_some(first[0] as usize % comm.size());
    match failed {
        Some(first) if first == comm.rank() => result,
        Some(_) => Err(ToldElsewhere.into()),
        None => result,
    }
}

/// Refuses `options` that are not those of process 0; `arguments` is what it
/// was called with, for people.
///
/// # Errors
/// On each process that differs.
pub fn same_options<C: Communicator>(comm: &C, options: &str, arguments: &str) -> Result<()> {
    let mut first = [options, arguments].join("\0").into_bytes();
    comm.broadcast(0, &mut first)?;
    let first = String::from_utf8_lossy(&first);
    let (first, first_arguments) = first.split_once('\0').context("options come with the arguments")?;
    if first == options {
        return Ok(());
    }
    let text = format!(
        "process {} was started with other options than process 0, and all must have the same: \
         `{arguments}` and `{first_arguments}`",
        comm.rank()
    );
    Err(Usage(text).into())
}

/// Refuses a file that does not hold what it holds for process 0.
///
/// # Errors
/// On each process whose file differs or cannot be read. If process 0 cannot
/// read the file, nothing is refused here: process 0 reports it when it reads.
pub fn same_input<C: Communicator>(comm: &C, path: &Path) -> Result<()> {
    let file = if path.is_dir() { &path.join(recording::FILE) } else { path };
    let mine = if is_rereadable(file) {
        Digest::in_short(file)
    } else if file.exists() {
        Err(std::io::Error::other("it is no regular file"))
    } else {
        Err(std::io::Error::other("there is none"))
    };
    let mut first = Vec::new();
    if let (0, Ok(Digest { size, xxh64 })) = (comm.rank(), &mine) {
        wire::put_numbers(&mut first, [*size, *xxh64]);
    }
    comm.broadcast(0, &mut first)?;
    let mut first = wire::Taker::new(&first);
    let (Some(size), Some(xxh64)) = (first.number(), first.number()) else { return Ok(()) };
    let first = Digest { size, xxh64 };
    let differs = match mine {
        Ok(mine) if mine == first => return Ok(()),
        Ok(mine) if mine.size != first.size => {
            let bytes = counted(first.size, "byte");
            format!("{} instead of {bytes}", grouped_digits(mine.size))
        }
        Ok(_) => "other content of the same size".to_owned(),
        Err(error) => format!("it cannot be read ({error})"),
    };
    Err(anyhow!(
        "{}: process {} does not see the file that process 0 sees: {differs}; give one that is the same for all",
        path.display(),
        comm.rank()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::comm::run_on_threads;

    #[test]
    fn who_knows_why_tells() {
        for knows in 0..3 {
            let told = run_on_threads(3, |comm| {
                let result: Result<()> = match comm.rank() {
                    rank if rank == knows => Err(anyhow!("why")),
                    2 => Ok(()),
                    _ => Err(ToldElsewhere.into()),
                };
                let error = told_once(Some(comm), result).expect_err("all fail");
                Ok::<_, likewise::comm::CommError>(error.is::<ToldElsewhere>())
            });
            let expected: Vec<bool> = (0..3).map(|rank| rank != knows).collect();
            assert_eq!(told.unwrap(), expected);
        }
    }

    #[test]
    fn who_differs_says_so() {
        let told = run_on_threads(3, |comm| {
            let options = if comm.rank() == 2 { "k 3" } else { "k 2" };
            let told = same_options(comm, options, &format!("ranks --{options}"));
            Ok::<_, likewise::comm::CommError>(told.map_err(|error| error.to_string()))
        });
        let told = told.unwrap();
        assert_eq!((&told[0], &told[1]), (&Ok(()), &Ok(())));
        let text = told[2].as_ref().unwrap_err();
        assert!(
            text.starts_with("process 2 was") && text.ends_with("`ranks --k 3` and `ranks --k 2`"),
            "{text}"
        );
    }

    #[test]
    fn who_sees_another_file_says_so() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("0", "1,2\n"), ("1", "1,2\n"), ("2", "1,3\n"), ("3", "1,2\n3\n")] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let told = |size| {
            let told = run_on_threads(size, |comm| {
                let told = same_input(comm, &dir.path().join(comm.rank().to_string()));
                Ok::<_, likewise::comm::CommError>(told.map_err(|error| error.to_string()))
            });
            told.unwrap()
        };
        let parts = ["", "", "other content of the same size", "6 instead of 4 bytes", "it cannot be read"];
        for (result, part) in told(5).iter().zip(parts) {
            match result {
                Ok(()) => assert_eq!(part, ""),
                Err(text) => assert!(!part.is_empty() && text.contains(part), "{text}"),
            }
        }
        std::fs::remove_file(dir.path().join("0")).unwrap();
        assert!(told(3).iter().all(Result::is_ok), "process 0 says it when it reads");
    }
}
