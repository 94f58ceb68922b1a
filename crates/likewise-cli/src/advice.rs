//! Which option helps, where a file cannot be used as it is. The readers know
//! no options.

use crate::cli::Task;
use likewise_trace::{Error, ErrorKind, Place};

/// What to add to the message of `error`, if an option of `task` helps.
pub(crate) fn advice(error: &anyhow::Error, task: &Task) -> Option<String> {
    let error = error.chain().find_map(|cause| cause.downcast_ref::<Error>())?;
    let lenient = match task {
        Task::Bursts(_) | Task::Cut(_) | Task::Info(_) => Some("--lenient"),
        Task::Ranks(args) if args.is_trace() => Some("-- --lenient"),
        Task::Compare(args) if args.are_runs() => Some("-- --lenient"),
        _ => None,
    };
    let (option, does) = match (&*error.kind, task) {
        // The first line is the header, which cannot be skipped.
        (
            ErrorKind::Expected { .. }
            | ErrorKind::Cell { .. }
            | ErrorKind::UnknownThread { .. }
            | ErrorKind::TimeOverflow,
            _,
        ) if matches!(error.place, Place::Line(2..)) => (lenient?, "skips such records"),
        (ErrorKind::Truncated(_), _) => (lenient?, "skips the line"),
        // Where nothing was read there is nothing to go on with.
        (ErrorKind::GzipEndsEarly(0) | ErrorKind::GzipDamaged(0, _), _) => return None,
        (ErrorKind::GzipEndsEarly(_) | ErrorKind::GzipGarbage(_) | ErrorKind::GzipDamaged(..), _) => {
            (lenient?, "reads what is there")
        }
        (ErrorKind::SparseIds { .. }, Task::Bursts(_)) => ("--no-trace", "leaves it out"),
        (ErrorKind::RawNumbers, Task::Points(_)) => ("--dims", "gives it"),
        _ => return None,
    };
    Some(format!("{option} {does}"))
}
