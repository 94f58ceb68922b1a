//! The phases of one run, found by several processes.

use super::search::{Search, on_all, serve};
use super::trace::{checked, labelled_in, read};
use super::{KeptCounters, Labelled, Options};
use crate::together::{same_input, told_once};
use crate::{Stages, ToldElsewhere, Usage, Watch};
use anyhow::Result;
use likewise::comm::Communicator;
use likewise_trace::{SpreadError, read_bursts_spread};
use rayon::ThreadPool;
use std::path::Path;

/// What a process has when each burst has its phase.
#[derive(Debug)]
pub enum Share {
    /// Process 0 the bursts.
    Bursts(Box<Labelled>),
    /// Each of the others counters of some rows.
    Counters(KeptCounters),
}

/// As [`label_bursts`](super::label_bursts), on several processes that see the same
/// file. Collective; process 0 has the bursts, the others counters of the rows that they will write.
///
/// Each process reads a piece of the trace, and looks for the neighbours of a
/// part of the bursts, by [`dbscan_spread`](likewise::cluster::dbscan_spread) and
/// [`k_distances_spread`](likewise::cluster::kdist::k_distances_spread). Process
/// 0 has all bursts, and does what is left, on the threads of `pool` if it is given one. The
/// result depends neither on these nor on the number of processes.
///
/// # Errors
/// As of [`label_bursts`](super::label_bursts), on one process; the others have
/// [`ToldElsewhere`].
pub fn label_bursts_on<C: Communicator>(
    comm: &C,
    trace: &Path,
    (options, pool): (&Options, Option<&ThreadPool>),
    stages: &mut Stages,
    watch: &dyn Watch,
) -> Result<Share> {
    let ready = checked(options).and_then(|definition| {
        if trace.as_os_str() == "-" {
            let text = "standard input is not safe under mpirun; give a file";
            return Err(Usage(text.to_owned()).into());
        }
        Ok(definition)
    });
    let definition = told_once(Some(comm), ready)?;
    told_once(Some(comm), same_input(comm, trace))?;
    let alone = || {
        // Of what is no file the error says enough.
        if std::fs::metadata(trace).is_ok_and(|file| file.is_file() && file.len() > 0) {
            watch.say(
                "process 0 reads all, the others wait: only a plain Paraver trace without damaged records can be cut \
                 into pieces (unpack a .gz first)",
            );
        }
    };
    let found = read(trace, options, &definition, stages, watch, |path, how| {
        read_bursts_spread(comm, path, how, alone).map_err(|error| match error {
            SpreadError::File(error) => error.into(),
            SpreadError::Elsewhere => ToldElsewhere.into(),
            SpreadError::Comm(error) => anyhow::Error::from(error),
        })
    });
    let found = told_once(Some(comm), found)?;
    let Some(found) = found else {
        return serve(comm)?.map(Share::Counters).ok_or_else(|| ToldElsewhere.into());
    };
    let work = |search: &dyn Search| {
        let labelled = || labelled_in(trace, found, (options, &definition), search, stages, watch);
        match pool {
            Some(pool) => pool.install(labelled),
            None => labelled(),
        }
    };
    on_all(comm, work).map(|labelled| Share::Bursts(Box::new(labelled)))
}
