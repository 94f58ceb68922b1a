//! The files of a rank, and what it gives to the one file of the job.

use crate::clock;
use crate::gather::{End, Gathered, Give, Ranks, gather};
use crate::limit::spared;
use crate::out::Out;
use likewise_comm::Communicator;
use likewise_recording::{FILE, Log, Part, RankMeta, Recorder, Stand, file, unfinished};
use std::fs::{File, OpenOptions, remove_file, rename};
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A part that takes more memory is sealed.
const MOST_MEMORY: usize = 16 << 20;
/// How often the memory is looked at, in events.
pub(crate) const LOOK: u64 = 4096;
/// The least time between two copies of what is recorded, in ns; and copies
/// may take one of so many parts of the time. Ranks that wait for each other
/// wait for all their copies, so it is little.
const PAUSE: u64 = 100_000_000;
const SHARE: u64 = 1000;
/// Parts with more bytes are not put together with those of other ranks: rank
/// 0 would have to hold them all.
const MOST_BYTES: usize = 4 << 20;
/// More jobs than this do not record into one folder.
const MOST_JOBS: u32 = 100_000;
/// Bytes that rank 0 takes at a time.
const PIECE: usize = 1 << 20;

/// Makes a log, from the ranks and the bytes that this rank has given.
pub(crate) type LogOf<C> = dyn Fn(&C, u64) -> Option<Log>;

/// The recording of this rank's job.
pub(crate) struct Job {
    folder: PathBuf,
    world: u32,
    pub(crate) meta: RankMeta,
    /// The number of the open part.
    pub(crate) number: u32,
    /// Sizes of the sealed sections.
    sealed: Vec<usize>,
    /// The last part, where there was no room to seal it.
    unsealed: Option<Part>,
    /// Of a lead: the ranks that stand behind it, and how many of its events
    /// were theirs at the last marker.
    pub(crate) stands: Vec<Stand>,
    /// Whether there may be a copy of the open part.
    has_copy: bool,
    /// The bytes of all that this rank gave to the job's file.
    pub(crate) bytes: u64,
    /// When the next copy is due, in ticks.
    begun: u64,
    last: u64,
    pause: u64,
}

/// The recording of the Kth job in a folder.
pub(crate) fn whole(folder: &Path, world: u32) -> PathBuf {
    match world {
        1 => folder.join(FILE),
        world => folder.join(format!("recording-{world}.likewise")),
    }
}

/// On rank 0: claims the first number that no other job has.
///
/// # Errors
/// Nothing can be written there.
pub(crate) fn claim(folder: &Path) -> std::io::Result<u32> {
    for world in 1..MOST_JOBS {
        if whole(folder, world).exists() {
            continue;
        }
        let first = unfinished::open(folder, world, 0);
        match OpenOptions::new().write(true).create_new(true).open(first) {
            Ok(_) => return Ok(world),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other("there are too many recordings"))
}

/// Writes a file that is there as a whole or not at all.
fn write_whole(path: &Path, pieces: &[&[u8]]) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let write = |mut file: File| spared(|| pieces.iter().try_for_each(|piece| file.write_all(piece)));
    let written = File::create(&new).and_then(write);
    written.and_then(|()| rename(&new, path)).inspect_err(|_| {
        let _ = remove_file(&new);
    })
}

/// Adds to the end of a file; if that fails, it is as it was.
fn append(path: &Path, pieces: &[&[u8]]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    spared(|| pieces.iter().try_for_each(|piece| file.write_all(piece))).inspect_err(|_| {
        let _ = file.set_len(length);
    })
}

/// Runs what may panic on one rank alone: the others wait for its messages.
pub(crate) fn guarded<T>(ours: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(ours)).ok().flatten()
}

/// Removes a file that need not be there.
fn remove(path: &Path) -> std::io::Result<()> {
    match remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl Job {
    /// The job of that number in the folder, which began at that tick.
    pub(crate) fn new(folder: &Path, world: u32, meta: RankMeta, begun: u64) -> Self {
        let last = clock::ticks();
        Self {
            folder: folder.to_owned(),
            world,
            meta,
            number: 0,
            sealed: Vec::new(),
            unsealed: None,
            stands: Vec::new(),
            // Rank 0 has made one to claim the number.
            has_copy: true,
            bytes: 0,
            begun,
            last,
            pause: PAUSE,
        }
    }

    fn open(&self) -> PathBuf {
        unfinished::open(&self.folder, self.world, self.meta.rank)
    }

    fn sealed(&self) -> PathBuf {
        unfinished::sealed(&self.folder, self.world, self.meta.rank)
    }

    /// The file that grows while the program runs.
    pub(crate) fn online(&self) -> PathBuf {
        unfinished::online(&self.folder, self.world)
    }

    /// The file that is left in the end.
    pub(crate) fn whole(&self) -> PathBuf {
        whole(&self.folder, self.world)
    }

    /// How long this rank has been recorded, in ns.
    pub(crate) fn elapsed(&self) -> u64 {
        clock::ns(self.begun, clock::ticks())
    }

    fn until(&mut self, now: u64) -> &RankMeta {
        self.meta.wall = clock::ns(self.begun, now);
        &self.meta
    }

    /// Whether a copy is due.
    #[inline]
    pub(crate) fn is_due(&self, now: u64) -> bool {
        clock::ns(self.last, now) > self.pause
    }

    /// Leaves a copy of what is recorded, in case the program is killed.
    pub(crate) fn copy(&mut self, recorder: &mut Recorder) -> std::io::Result<()> {
        let now = clock::ticks();
        clock::measure();
        if recorder.n_open() == 0 {
            self.last = now;
            return Ok(());
        }
        let mut part = recorder.snapshot(self.until(now));
        part.stand(self.stands.clone());
        let section = file::quick_section(self.number, &part);
        let written = write_whole(&self.open(), &[&file::head(), &section]);
        self.has_copy = true;
        self.last = clock::ticks();
        self.pause = PAUSE.max(SHARE * clock::ns(now, self.last));
        written
    }

    /// Seals what is recorded, where it takes too much memory. Returns whether
    /// it did; the recorder has then begun anew.
    pub(crate) fn look(&mut self, recorder: &mut Recorder) -> std::io::Result<bool> {
        let is_full = recorder.memory() > MOST_MEMORY;
        if is_full {
            let mut part = self.take(recorder);
            // Whoever stands behind a lead did all of this too, as far as is known.
            let events = part.ranks()[0].events;
            self.stands.iter_mut().for_each(|stand| stand.events = events);
            part.stand(self.stands.clone());
            self.stands.iter_mut().for_each(|stand| stand.events = 0);
            self.seal(part)?;
        }
        Ok(is_full)
    }

    /// What is recorded since the last time; the recorder begins anew. If there
    /// was no room to seal it, what was to be sealed.
    pub(crate) fn take(&mut self, recorder: &mut Recorder) -> Part {
        if let Some(part) = self.unsealed.take() {
            return part;
        }
        let meta = self.until(clock::ticks());
        recorder.take(meta)
    }

    /// Puts a part into a file of this rank's own.
    pub(crate) fn seal(&mut self, part: Part) -> std::io::Result<()> {
        let section = file::section(self.number, &part);
        let head = if self.sealed.is_empty() { file::head() } else { Vec::new() };
        if let Err(error) = append(&self.sealed(), &[&head, &section]) {
            self.unsealed = Some(part);
            return Err(error);
        }
        self.sealed.push(section.len());
        self.number += 1;
        // The copy of the open part is older than what is sealed.
        self.has_copy = false;
        remove(&self.open())
    }

    /// Nothing that this rank has left in files is needed.
    pub(crate) fn leave_nothing(&mut self) {
        if self.has_copy {
            let _ = remove_file(self.open());
            self.has_copy = false;
        }
        if !self.sealed.is_empty() {
            let _ = remove_file(self.sealed());
            self.sealed.clear();
        }
    }

    /// In the end of a full recording: puts the ranks together, and leaves the
    /// one file of the job, with what `log` makes of each rank's bytes in the
    /// end. Collective; a rank of which nothing can be had takes part.
    ///
    /// # Errors
    /// On rank 0: what is not recorded, and why.
    pub(crate) fn finish<C: Communicator>(
        mut self,
        recorder: &mut Recorder,
        link: &C,
        is_whole: bool,
        log: Option<&LogOf<C>>,
    ) -> Result<(), String> {
        let path = self.whole();
        let mut out = (self.meta.rank == 0).then(|| Out::create(&path.with_extension("new")));
        let part = guarded(|| Some(self.take(recorder)));
        let end = if log.is_some() { End::Log } else { End::Foot(&path) };
        let ranks = Ranks::all(self.meta.size);
        let given = self.give(part, is_whole, &ranks, link, out.as_mut(), end);
        let made = log.and_then(|log| log(link, self.bytes));
        if let Some(out) = &mut out {
            if given.is_err() && (out.written().is_err() || log.is_none() && !path.exists()) {
                out.remove();
            } else if log.is_some() {
                made.iter().for_each(|log| out.section(&file::log_section(log)));
                out.close(&path)?;
            }
        }
        given?.map_or(Ok(()), Err)
    }

    /// Puts the parts of ranks together, and adds them to the job's file.
    /// Collective over these ranks; those that have nothing give none.
    ///
    /// Parts that are large, or that were sealed, go to rank 0 one after the
    /// other, and are not put together.
    ///
    /// # Returns
    /// On rank 0: what is missing of what was given.
    ///
    /// # Errors
    /// Nothing was given (why, on rank 0). Nothing of what this rank has left in
    /// files is removed then.
    pub(crate) fn give(
        &mut self,
        part: Option<Part>,
        is_whole: bool,
        ranks: &Ranks<'_>,
        link: &impl Communicator,
        out: Option<&mut Out>,
        end: End<'_>,
    ) -> Result<Option<String>, String> {
        let mut own = Gathered { n_cut: u32::from(!is_whole), ..Gathered::default() };
        let mut large = Vec::new();
        let _ = guarded(|| self.own_part(part, &mut own, &mut large));
        let give = Give {
            rank: self.meta.rank,
            number: self.number,
            end,
            sections: &|each| self.sections(&large, each),
        };
        let given = gather(own, &give, ranks, link, out);
        let given = given.unwrap_or_else(|| Err("the ranks cannot reach each other".into()));
        if given.is_ok() {
            self.leave_nothing();
        }
        given
    }

    /// What this rank has: a part, or, where it is large, its last section.
    fn own_part(&mut self, part: Option<Part>, own: &mut Gathered, large: &mut Vec<u8>) -> Option<()> {
        let Some(part) = part else {
            if !self.sealed.is_empty() {
                own.large.push(self.meta.rank);
            }
            return Some(());
        };
        let length = part.encode().len();
        self.bytes += length as u64 + self.sealed.iter().sum::<usize>() as u64;
        if !self.sealed.is_empty() || length > MOST_BYTES {
            *large = file::section(self.number, &part);
            own.large.push(self.meta.rank);
        } else {
            own.part = Some(part);
        }
        Some(())
    }

    /// All sections of this rank, in pieces; whether a piece ends a section.
    fn sections(&self, last: &[u8], each: &mut dyn FnMut(&[u8], bool)) -> Option<()> {
        if !self.sealed.is_empty() {
            let mut file = File::open(self.sealed()).ok()?;
            file.read_exact(&mut vec![0; file::head().len()]).ok()?;
            for size in &self.sealed {
                let mut left = *size;
                while left > 0 {
                    let mut piece = vec![0; left.min(PIECE)];
                    file.read_exact(&mut piece).ok()?;
                    left -= piece.len();
                    each(&piece, left == 0);
                }
            }
        }
        let n = last.chunks(PIECE).len();
        last.chunks(PIECE).enumerate().for_each(|(at, piece)| each(piece, at + 1 == n));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_comm::{CommError, ThreadComm, run_on_threads};
    use likewise_recording::calls::number;
    use likewise_recording::{Frame, RecorderOptions, Recording, Times, Timing};
    /// Events of a rank: every third has so many that parts are sealed.
    fn n_events(rank: u32) -> u64 {
        if rank % 3 == 2 { 300_000 } else { 50 }
    }

    fn run(folder: &Path, comm: &ThreadComm) {
        let (rank, size) = (comm.rank() as u32, comm.size() as u32);
        let meta = RankMeta { rank, size, ..RankMeta::default() };
        let mut job = Job::new(folder, 1, meta, clock::ticks());
        let mut recorder =
            Recorder::new(&RecorderOptions { times: Times::All, ..RecorderOptions::default() });
        let module = recorder.module(&[1], "program");
        let path = recorder.path(&[Frame { module, offset: 16 }]);
        let symbol = recorder.symbol(number::Bcast, path);
        let mut random = u64::from(rank) + 1;
        for event in 0..n_events(rank) {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let values = [(random >> 10) as i64, 0, 0, 0];
            recorder.event(symbol, &values, &Timing { gap: event, length: 1, ..Timing::default() });
            if event % LOOK == 0 {
                let _ = job.look(&mut recorder).unwrap();
            }
            if event == 40 {
                job.copy(&mut recorder).unwrap();
            }
        }
        job.finish(&mut recorder, comm, true, None).unwrap();
    }

    #[test]
    fn one_file_of_all_ranks_is_left() {
        clock::tests::started();
        let folder = std::env::temp_dir().join(format!("likewise-job-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(claim(&folder).unwrap(), 1);
        let ran: Result<Vec<()>, CommError> = run_on_threads(7, |comm| {
            run(&folder, comm);
            Ok(())
        });
        assert!(ran.is_ok());
        let left: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [FILE]);
        let recording = Recording::open(&folder).unwrap();
        assert_eq!(recording.incomplete(), None);
        for rank in 0..7 {
            let mut events = recording.events(rank);
            let mut n = 0;
            while let Some(event) = events.next().unwrap() {
                assert_eq!(event.gap, n);
                n += 1;
            }
            assert_eq!(n, n_events(rank), "rank {rank}");
        }
        assert_eq!(claim(&folder).unwrap(), 2);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn nothing_is_claimed_where_nothing_can_be_written() {
        assert!(claim(Path::new("/proc/no such folder")).is_err());
    }
}
