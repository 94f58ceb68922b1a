//! The search for the period, by another process than the one that has the bursts.
//!
//! Nothing else that is told of a run needs the period, so it may be sought while the rest is
//! found and written.

use super::period::{PeriodSearch, Sought};
use super::wire::{put_threads, take_threads};
use super::{Labelled, SoughtIn};
use likewise::bursts::{NotPeriodic, Period};
use likewise::cluster::{ClusterId, Clustering};
use likewise::comm::wire::{Taker, numbers, put_number, put_numbers};
use likewise::comm::{CommError, Communicator};
use likewise::table::{BurstTable, Code, Nanos, PathId, PlaceId, Region, Regions, Rows};
use serde::{Deserialize, Serialize};

/// What is told of the period of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundPeriod {
    /// The period, or why there is none.
    pub found: Result<Period, NotPeriodic>,
    /// What it was looked for in.
    pub sought_in: SoughtIn,
    /// The phase of the analysis in which iterations begin.
    pub first_phase: Option<u32>,
}

impl FoundPeriod {
    /// What a search has found in the bursts of an analysis.
    #[must_use]
    pub fn of(search: &PeriodSearch, labelled: &Labelled) -> Self {
        Self::among(search, &Sought::of(labelled))
    }

    fn among(search: &PeriodSearch, sought: &Sought<'_>) -> Self {
        let first_phase = search.first_phase(sought.table, sought.complete, sought.clustering);
        Self { found: search.found.clone(), sought_in: search.sought_in, first_phase }
    }
}

/// A search for the period, with all that it needs: 20 to 28 bytes for each burst.
#[derive(Debug)]
pub struct PeriodErrand {
    /// Without counters, and without the names of places.
    table: BurstTable,
    complete: Rows,
    clustering: Clustering,
    at_one_density: Option<Clustering>,
    only_places: bool,
    are_drawn: bool,
    is_refined: bool,
}

/// The process that has the bursts, and the one that seeks.
const SENDER: usize = 0;
const SEEKER: usize = 1;

impl PeriodErrand {
    /// Sends process 1 to seek the period of the bursts that process 0 has; of two processes or
    /// more. Collective; only process 1 has an errand then.
    ///
    /// # Errors
    /// The processes could not work together.
    pub fn sent<C: Communicator + ?Sized>(
        comm: &C,
        labelled: Option<&Labelled>,
    ) -> Result<Option<Self>, CommError> {
        match (comm.rank(), labelled) {
            (SENDER, Some(labelled)) => send(comm, labelled).map(|()| None),
            (SEEKER, _) => received(comm).map(Some),
            _ => Ok(None),
        }
    }

    /// Seeks it.
    #[must_use]
    pub fn done(self) -> FoundPeriod {
        let Self { table, complete, clustering, at_one_density, only_places, are_drawn, is_refined } = self;
        let sought = Sought {
            table: &table,
            complete: &complete,
            clustering: &clustering,
            only_places,
            are_drawn,
            is_refined,
            may_refine: None,
        };
        FoundPeriod::among(&PeriodSearch::among(&sought, at_one_density), &sought)
    }

    /// Tells process 0 what was found, which has it then. Collective.
    ///
    /// # Errors
    /// The processes could not work together.
    pub fn told<C: Communicator + ?Sized>(
        comm: &C,
        found: Option<FoundPeriod>,
    ) -> Result<Option<FoundPeriod>, CommError> {
        match (comm.rank(), found) {
            (SEEKER, Some(found)) => {
                comm.send(SENDER, &postcard::to_stdvec(&found).map_err(out_of_step)?)?;
                Ok(None)
            }
            (SENDER, _) => postcard::from_bytes(&comm.receive(SEEKER)?).map(Some).map_err(out_of_step),
            _ => Ok(None),
        }
    }
}

fn out_of_step(_: postcard::Error) -> CommError {
    CommError::out_of_step("period")
}

/// One column after the other: as bytes, all together would take as much memory again.
fn send<C: Communicator + ?Sized>(comm: &C, labelled: &Labelled) -> Result<(), CommError> {
    let at_one_density = labelled.take_at_one_density();
    let Sought { table, complete, clustering, only_places, are_drawn, is_refined, may_refine: _ } =
        Sought::of(labelled);
    let n_clusters = |clustering: &Clustering| clustering.n_clusters as u64;
    let mut head = Vec::new();
    let is_one = at_one_density.is_some();
    put_numbers(&mut head, [only_places, are_drawn, is_refined, is_one, table.code.is_some()].map(u64::from));
    put_numbers(&mut head, [n_clusters(clustering), at_one_density.as_ref().map_or(0, n_clusters)]);
    put_threads(&mut head, table, 0..table.len());
    comm.send(SEEKER, &head)?;
    let times = |times: &[Nanos]| {
        let mut bytes = Vec::with_capacity(8 * times.len());
        put_numbers(&mut bytes, times.iter().map(|time| time.0));
        comm.send(SEEKER, &bytes)
    };
    times(&table.begin)?;
    times(&table.duration)?;
    comm.send(SEEKER, &four_bytes(labels_of_all(table.len(), complete, clustering)))?;
    if let Some(one) = at_one_density {
        comm.send(SEEKER, &four_bytes(one.labels.iter().map(|label| label.map_or(0, ClusterId::number))))?;
    }
    if let Some(code) = &table.code {
        let mut list = Vec::new();
        let number = |place: Option<PlaceId>| place.map_or(0, |place| place.index() as u64 + 1);
        for (Region { before, after, function }, path) in code.regions.ends() {
            put_numbers(&mut list, [before, after, function].map(number));
            put_number(&mut list, path.map_or(0, |path| u64::from(path.0) + 1));
        }
        put_number(&mut list, code.parallel.into());
        comm.send(SEEKER, &list)?;
        comm.send(SEEKER, &four_bytes((0..table.len()).map(|i| code.regions.end(i))))?;
    }
    Ok(())
}

/// Of every burst of the table: 0 of one that is not complete, 1 of noise, and from 2 on the
/// phases.
fn labels_of_all<'l>(
    n: usize,
    complete: &'l Rows,
    clustering: &'l Clustering,
) -> impl ExactSizeIterator<Item = u32> + 'l {
    let mut next = complete.iter().zip(&clustering.labels).peekable();
    (0..n as u32).map(move |row| {
        let own = next.next_if(|&(complete, _)| complete == row);
        own.map_or(0, |(_, label)| 1 + label.map_or(0, ClusterId::number))
    })
}

fn four_bytes(numbers: impl ExactSizeIterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * numbers.len());
    numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes
}

fn of_four_bytes(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
    bytes.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number))
}

fn label_of(number: u32) -> Option<ClusterId> {
    number.checked_sub(1).map(|index| ClusterId::from_index(index as usize))
}

fn received<C: Communicator + ?Sized>(comm: &C) -> Result<PeriodErrand, CommError> {
    let next = || comm.receive(SENDER);
    let broken = || CommError::out_of_step("period");
    let head = next()?;
    let mut head = Taker::new(&head);
    let mut number = || head.number().ok_or_else(broken);
    let [only_places, are_drawn, is_refined, is_one, has_code] =
        [number()? != 0, number()? != 0, number()? != 0, number()? != 0, number()? != 0];
    let (n_clusters, n_at_one) = (number()? as usize, number()? as usize);
    let (mut table, _) = take_threads(&mut head).ok_or_else(broken)?;
    let times = || -> Result<Vec<Nanos>, CommError> {
        Ok(numbers(&next()?).ok_or_else(broken)?.map(Nanos).collect())
    };
    (table.begin, table.duration) = (times()?, times()?);
    let all = next()?;
    let labels = of_four_bytes(&all);
    let complete: Vec<u32> = (0..).zip(labels.clone()).filter(|&(_, n)| n > 0).map(|(row, _)| row).collect();
    let labels = labels.filter_map(|n| n.checked_sub(1)).map(label_of).collect();
    drop(all);
    let at_one_density = match is_one {
        true => {
            let labels = of_four_bytes(&next()?).map(label_of).collect();
            Some(Clustering { labels, n_clusters: n_at_one })
        }
        false => None,
    };
    if has_code {
        let list = next()?;
        let mut taker = Taker::new(&list);
        let mut ends = Vec::new();
        while taker.rest().len() > 8 {
            let mut place = || -> Result<Option<PlaceId>, CommError> {
                let number = taker.index().ok_or_else(broken)?;
                Ok(number.checked_sub(1).and_then(PlaceId::from_index))
            };
            let region = Region { before: place()?, after: place()?, function: place()? };
            let path = taker.number().ok_or_else(broken)?.checked_sub(1);
            ends.push((region, path.and_then(|path| u32::try_from(path).ok()).map(PathId)));
        }
        let parallel = taker.number().ok_or_else(broken)? != 0;
        let of_bursts = next()?;
        let end = |number: u32| ends.get(number as usize).copied().unwrap_or_default();
        let regions: Regions = of_four_bytes(&of_bursts).map(end).collect();
        table.code = Some(Code { places: Vec::new(), regions, parallel });
    }
    let clustering = Clustering { labels, n_clusters };
    Ok(PeriodErrand {
        table,
        complete: Rows::from(complete),
        clustering,
        at_one_density,
        only_places,
        are_drawn,
        is_refined,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phases::{Options, label_bursts};
    use crate::{Silent, Stages};
    use likewise::comm::run_on_threads;
    use std::fmt::Write;

    /// Three threads that do three steps 30 times, and between them bursts too short to be
    /// looked at. `places` says that the steps lie between calls, too.
    fn labelled(places: bool) -> Labelled {
        let mut text = "task,thread,begin_ns,duration_ns\n".to_owned();
        for thread in 1..=3 {
            for turn in 0..30u64 {
                let begin = 4_000_000 * turn + 1_000 * thread;
                for (after, long) in [(0, 2_000_000), (2_100_000, 300), (2_200_000, 900_000 + 500 * turn)] {
                    writeln!(text, "1,{thread},{},{long}", begin + after).expect("text has room");
                }
            }
        }
        let dir = tempfile::tempdir().expect("a place for files");
        let path = dir.path().join("bursts.csv");
        std::fs::write(&path, text).expect("a file");
        let found = label_bursts(&path, &Options::default(), &mut Stages::default(), &Silent);
        let mut labelled = found.expect("it is a table of bursts");
        if places {
            let place = |i: usize| PlaceId::from_index(i % 3);
            let region = |i| Region { before: place(i), after: place(i + 1), function: None };
            let end = |i| (region(i), Some(PathId(i as u32 % 3)));
            let regions = (0..labelled.table.len()).map(end).collect();
            let places = ["a", "b", "c"].map(str::to_owned).to_vec();
            labelled.table.code = Some(Code { places, regions, parallel: false });
        }
        labelled
    }

    /// All that the period is sought in has come as it was.
    fn arrived(errand: &PeriodErrand, own: &Labelled) {
        let (table, sent) = (&errand.table, &own.table);
        assert_eq!((&table.begin, &table.duration), (&sent.begin, &sent.duration));
        assert_eq!((&table.app, &table.task, &table.thread), (&sent.app, &sent.task, &sent.thread));
        assert_eq!(
            table.code.as_ref().map(|code| &code.regions),
            sent.code.as_ref().map(|code| &code.regions)
        );
        assert_eq!((&errand.complete, &errand.clustering), (&own.prepared.complete, &own.grouped.clustering));
        assert_eq!((errand.are_drawn, errand.only_places), (own.drawn_times, own.drawn_times));
        let one = own.take_at_one_density();
        assert!(errand.is_refined && one.is_some(), "bursts are refined, and one density suggests itself");
        assert_eq!(errand.at_one_density, one);
    }

    #[test]
    fn another_process_finds_the_same() {
        for (places, drawn) in [(false, false), (true, false), (true, true)] {
            let labelled = || Labelled { drawn_times: drawn, ..labelled(places) };
            let own = labelled();
            assert!(own.prepared.complete.len() < own.table.len(), "some are not complete");
            let expected = FoundPeriod::of(&PeriodSearch::of(&own), &own);
            assert!(expected.found.is_ok(), "{expected:?}");
            for size in [2, 3] {
                let found = run_on_threads(size, |comm| {
                    let own = (comm.rank() == 0).then(labelled);
                    let errand = PeriodErrand::sent(comm, own.as_ref())?;
                    assert_eq!(errand.is_some(), comm.rank() == 1);
                    if let Some(errand) = &errand {
                        arrived(errand, &labelled());
                    }
                    PeriodErrand::told(comm, errand.map(PeriodErrand::done))
                });
                let mut found = found.expect("they work together");
                assert_eq!(found.remove(0), Some(expected.clone()), "{places} {drawn}, {size} processes");
                assert!(found.iter().all(Option::is_none));
            }
        }
    }
}
