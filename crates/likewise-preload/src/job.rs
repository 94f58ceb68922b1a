//! The files of a rank, and the one file of the job.

use crate::clock;
use crate::limit::spared;
use likewise_recording::{FILE, Part, RankMeta, Recorder, file, unfinished};
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

/// How ranks reach each other: messages in order, of any size.
pub(crate) trait Link {
    fn send(&mut self, to: u32, message: &[u8]) -> Option<()>;
    fn receive(&mut self, from: u32) -> Option<Vec<u8>>;
}

/// The recording of this rank's job.
pub(crate) struct Job {
    folder: PathBuf,
    world: u32,
    pub(crate) meta: RankMeta,
    /// Sizes of the sealed sections.
    sealed: Vec<usize>,
    /// The last part, where there was no room to seal it.
    unsealed: Option<Part>,
    /// When the next copy is due, in ticks.
    begun: u64,
    last: u64,
    pause: u64,
}

/// The recording of the Kth job in a folder.
fn whole(folder: &Path, world: u32) -> PathBuf {
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
fn guarded<T>(ours: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(ours)).ok().flatten()
}

impl Job {
    /// The job of that number in the folder, which began at that tick.
    pub(crate) fn new(folder: &Path, world: u32, meta: RankMeta, begun: u64) -> Self {
        let last = clock::ticks();
        Self {
            folder: folder.to_owned(),
            world,
            meta,
            sealed: Vec::new(),
            unsealed: None,
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
        let part = recorder.snapshot(self.until(now));
        let section = file::quick_section(self.sealed.len() as u32, &part);
        let written = write_whole(&self.open(), &[&file::head(), &section]);
        self.last = clock::ticks();
        self.pause = PAUSE.max(SHARE * clock::ns(now, self.last));
        written
    }

    /// Seals what is recorded, where it takes too much memory. Returns whether
    /// it did; the recorder has then begun anew.
    pub(crate) fn look(&mut self, recorder: &mut Recorder) -> std::io::Result<bool> {
        let is_full = recorder.memory() > MOST_MEMORY;
        if is_full {
            self.seal(recorder)?;
        }
        Ok(is_full)
    }

    fn seal(&mut self, recorder: &mut Recorder) -> std::io::Result<()> {
        let part = recorder.take(self.until(clock::ticks()));
        let section = file::section(self.sealed.len() as u32, &part);
        let head = if self.sealed.is_empty() { file::head() } else { Vec::new() };
        if let Err(error) = append(&self.sealed(), &[&head, &section]) {
            self.unsealed = Some(part);
            return Err(error);
        }
        self.sealed.push(section.len());
        // The copy of the open part is older than what is sealed.
        match remove_file(self.open()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Puts the ranks together over a binary tree, and leaves the one file of
    /// the job. Collective; a rank of which nothing can be had takes part.
    ///
    /// Parts that are large, or that were sealed, go to rank 0 one after the
    /// other, and are not put together.
    ///
    /// # Errors
    /// On rank 0: what is not recorded, and why.
    pub(crate) fn finish(
        mut self,
        recorder: &mut Recorder,
        link: &mut impl Link,
        is_whole: bool,
    ) -> Result<(), String> {
        let mut own = Gathered { n_cut: u32::from(!is_whole), ..Gathered::default() };
        let mut large = Vec::new();
        let _ = guarded(|| self.own_part(recorder, &mut own, &mut large));
        self.gather(own, &large, link).unwrap_or_else(|| Err("the ranks cannot reach each other".into()))
    }

    /// What this rank has: a part, or, where it is large, its last section.
    fn own_part(&mut self, recorder: &mut Recorder, own: &mut Gathered, large: &mut Vec<u8>) -> Option<()> {
        let number = self.sealed.len() as u32;
        let part = match self.unsealed.take() {
            Some(part) => part,
            None => recorder.take(self.until(clock::ticks())),
        };
        if number > 0 || part.encode().len() > MOST_BYTES {
            *large = file::section(number, &part);
            own.large.push(self.meta.rank);
        } else {
            own.part = Some(part);
        }
        Some(())
    }

    fn gather(&self, mut own: Gathered, large: &[u8], link: &mut impl Link) -> Option<Result<(), String>> {
        let (rank, size) = (self.meta.rank, self.meta.size);
        let mut below = Vec::new();
        let mut step = 1;
        while step < size && rank.is_multiple_of(2 * step) {
            if rank + step < size {
                below.push(rank + step);
                let message = link.receive(rank + step)?;
                // Who cannot be understood is missing.
                let _ = guarded(|| own.take(&message));
            }
            step *= 2;
        }
        let parent = rank - rank.min(step);
        let result = if rank == 0 {
            self.write(&own, large, link)
        } else {
            let message = guarded(|| Some(own.encode())).unwrap_or_default();
            link.send(parent, &message)?;
            if own.large.contains(&rank) {
                self.give(large, link)?;
            }
            if link.receive(parent)? == [1] { Ok(()) } else { Err(String::new()) }
        };
        // Whoever was below is told, and what is whole elsewhere is removed.
        below.iter().rev().try_for_each(|to| link.send(*to, &[u8::from(result.is_ok())]))?;
        if result.is_ok() {
            let _ = remove_file(self.open());
            let _ = remove_file(self.sealed());
        }
        let n_there = own.part.as_ref().map_or(0, |part| part.ranks().len()) + own.large.len();
        Some(match size as usize - n_there {
            _ if rank > 0 || result.is_err() => result,
            0 if own.n_cut == 0 => Ok(()),
            0 => Err(format!("what {} of {size} ranks did after an error or a full disk", own.n_cut)),
            missing => Err(format!("{missing} of {size} ranks, where an error occurred")),
        })
    }

    /// On rank 0.
    fn write(&self, own: &Gathered, large: &[u8], link: &mut impl Link) -> Result<(), String> {
        let path = whole(&self.folder, self.world);
        let new = path.with_extension("new");
        let mut out = Out { file: File::create(&new), sections: Vec::new() };
        out.bytes(&file::head());
        let section = guarded(|| own.part.as_ref().map(|part| file::section(0, part)));
        if let Some(section) = &section {
            out.section(section);
        }
        let mut reached = own.part.is_none() || section.is_some();
        for rank in &own.large {
            let done = if *rank == 0 {
                self.sections(large, &mut |bytes, section| out.piece(bytes, section))
            } else {
                take(*rank, link, &mut out)
            };
            reached &= done.is_some();
        }
        let foot = file::foot(&out.sections);
        out.bytes(&foot);
        let written = out.file.and_then(|_| rename(&new, &path));
        match written {
            Ok(()) if reached => Ok(()),
            Ok(()) => Err(format!("{}: not all parts could be put together", path.display())),
            Err(error) => {
                let _ = remove_file(&new);
                Err(format!("{}: {error}", path.display()))
            }
        }
    }

    /// Sends this rank's sections to rank 0 when it asks.
    fn give(&self, large: &[u8], link: &mut impl Link) -> Option<()> {
        link.receive(0)?;
        let mut failed = false;
        let sent = self.sections(large, &mut |bytes, ends| {
            let message = [&[u8::from(ends)], bytes].concat();
            failed |= link.send(0, &message).is_none();
        });
        // An empty message ends it; a lone 2 says that something is missing.
        link.send(0, if sent.is_some() { &[] } else { &[2] })?;
        (!failed).then_some(())
    }

    /// All sections of this rank, in pieces; whether a piece ends a section.
    fn sections(&self, last: &[u8], each: &mut impl FnMut(&[u8], bool)) -> Option<()> {
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

/// Takes a rank's sections.
fn take(rank: u32, link: &mut impl Link, out: &mut Out) -> Option<()> {
    link.send(rank, &[])?;
    loop {
        let message = link.receive(rank)?;
        match message.split_first() {
            None => return Some(()),
            Some((2, _)) => return None,
            Some((ends, bytes)) => out.piece(bytes, *ends == 1),
        }
    }
}

/// The file of the job, while it is written. After an error nothing more is.
struct Out {
    file: std::io::Result<File>,
    sections: Vec<usize>,
}

impl Out {
    fn bytes(&mut self, bytes: &[u8]) {
        if let Ok(file) = &mut self.file
            && let Err(error) = spared(|| file.write_all(bytes))
        {
            self.file = Err(error);
        }
    }

    fn section(&mut self, bytes: &[u8]) {
        self.piece(bytes, true);
    }

    fn piece(&mut self, bytes: &[u8], ends: bool) {
        self.bytes(bytes);
        match self.sections.last_mut() {
            Some(open) if *open & OPEN != 0 => *open += bytes.len(),
            _ => self.sections.push(OPEN | bytes.len()),
        }
        if ends && let Some(open) = self.sections.last_mut() {
            *open &= !OPEN;
        }
    }
}

/// Marks the size of a section that goes on.
const OPEN: usize = 1 << 63;

/// What a subtree of ranks has gathered.
#[derive(Default)]
struct Gathered {
    /// How many ranks stopped recording before the end.
    n_cut: u32,
    part: Option<Part>,
    /// The ranks whose parts are too large to be gathered.
    large: Vec<u32>,
}

impl Gathered {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = self.n_cut.to_le_bytes().to_vec();
        bytes.extend((self.large.len() as u32).to_le_bytes());
        self.large.iter().for_each(|rank| bytes.extend(rank.to_le_bytes()));
        self.part.iter().for_each(|part| bytes.extend(part.encode()));
        bytes
    }

    fn take(&mut self, message: &[u8]) -> Option<()> {
        let (n_cut, rest) = message.split_first_chunk::<4>()?;
        let (n, rest) = rest.split_first_chunk::<4>()?;
        self.n_cut += u32::from_le_bytes(*n_cut);
        let (large, part) = rest.split_at_checked(4 * u32::from_le_bytes(*n) as usize)?;
        let (ranks, _) = large.as_chunks::<4>();
        self.large.extend(ranks.iter().map(|rank| u32::from_le_bytes(*rank)));
        if part.is_empty() {
            return Some(());
        }
        let part = Part::decode(part).ok()?;
        match &mut self.part {
            Some(own) => own.merge(&part),
            None => self.part = Some(part),
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_recording::calls::number;
    use likewise_recording::{Frame, RecorderOptions, Recording, Times, Timing};
    use std::collections::BTreeMap;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Ranks that are threads.
    struct Threads {
        to: BTreeMap<u32, Sender<Vec<u8>>>,
        from: BTreeMap<u32, Receiver<Vec<u8>>>,
    }

    impl Link for Threads {
        fn send(&mut self, to: u32, message: &[u8]) -> Option<()> {
            self.to[&to].send(message.to_vec()).ok()
        }

        fn receive(&mut self, from: u32) -> Option<Vec<u8>> {
            self.from[&from].recv().ok()
        }
    }

    fn links(n: u32) -> Vec<Threads> {
        let mut links: Vec<Threads> =
            (0..n).map(|_| Threads { to: BTreeMap::new(), from: BTreeMap::new() }).collect();
        for a in 0..n {
            for b in 0..n {
                let (to, from) = channel();
                links[a as usize].to.insert(b, to);
                links[b as usize].from.insert(a, from);
            }
        }
        links
    }

    /// Events of a rank: every third has so many that parts are sealed.
    fn n_events(rank: u32) -> u64 {
        if rank % 3 == 2 { 300_000 } else { 50 }
    }

    fn run(folder: &Path, rank: u32, size: u32, link: &mut Threads) {
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
        job.finish(&mut recorder, link, true).unwrap();
    }

    #[test]
    fn one_file_of_all_ranks_is_left() {
        clock::start();
        let folder = std::env::temp_dir().join(format!("likewise-job-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(claim(&folder).unwrap(), 1);
        std::thread::scope(|scope| {
            for (rank, mut link) in links(7).into_iter().enumerate() {
                let folder = &folder;
                scope.spawn(move || run(folder, rank as u32, 7, &mut link));
            }
        });
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
