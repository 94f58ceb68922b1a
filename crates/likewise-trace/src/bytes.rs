//! Bytes of a file, a pipe or a gzip stream, in blocks that end at line ends.

mod counted;
mod foreign;
mod gzip;
mod line;
mod piece;
mod together;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use memchr::{memchr, memrchr};
use memmap2::Mmap;

use crate::error::{Error, ErrorKind, Place, Result};
use counted::Counted;
use line::in_order;
pub(crate) use piece::Piece;
use together::{Together, edge_from, edge_until, never};

/// Bytes of one block. Smaller blocks would not pay for setting up the states
/// of their threads; many of larger ones would not stay in memory.
pub(crate) const BLOCK: usize = 4 << 20;
/// A line longer than this is not a line of a trace: without a limit, a file
/// without line ends would fill the memory.
pub(crate) const MAX_LINE: usize = 64 << 20;
/// Gzip that expands by more than this is refused. Real traces compress 6 to
/// 20 times; deflate reaches 1032 times only on one repeated byte. The first
/// [`BOMB_FREE`] bytes may be anything.
const BOMB_RATIO: u64 = 400;
const BOMB_FREE: u64 = 64 << 20;

/// The most bytes that so many stored bytes may expand to.
pub(crate) fn most_expanded(stored: u64) -> u64 {
    BOMB_FREE.max(stored.saturating_mul(BOMB_RATIO))
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Who waits for a slow pipe looks up so often, whether there was an error.
const LOOK_UP: Duration = Duration::from_millis(50);

/// Called with the bytes that are done and all bytes; 0 if that is unknown.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Whether the path stands for the standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether opening `path` again gives the same bytes: true for regular files
/// alone, not for `-` (the standard input), pipes and devices.
#[must_use]
pub(crate) fn is_rereadable(path: &Path) -> bool {
    !is_stdin(path) && path.is_file()
}

/// An opened file; `-` is the standard input. Gzip is recognised by its first
/// bytes and decompressed.
pub(crate) struct Input {
    path: PathBuf,
    body: Body,
    /// Bytes of the file as stored; unknown for a pipe.
    size: Option<u64>,
    consumed: Arc<AtomicU64>,
    compressed: bool,
    /// Which lines are in one block.
    together: Together,
}

enum Body {
    /// The bytes from `pos` to `end`.
    Map {
        map: Mmap,
        pos: usize,
        end: usize,
    },
    Stream {
        stream: Stream,
        head: Vec<u8>,
    },
}

/// A whole file in memory.
pub(crate) enum Whole {
    Map(Mmap, Range<usize>),
    Bytes(Vec<u8>),
}

impl std::ops::Deref for Whole {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Whole::Map(map, range) => &map[range.clone()],
            Whole::Bytes(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Input {
    /// As [`open`](Self::open), without the byte order mark that some editors
    /// put before text.
    pub(crate) fn open_text(path: &Path) -> Result<Self> {
        let mut input = Self::open_known(path)?;
        input.skip_mark()?;
        Ok(input)
    }

    pub(crate) fn open(path: &Path) -> Result<Self> {
        let error = |e| Error::read(path, e);
        let consumed = Arc::new(AtomicU64::new(0));
        if is_stdin(path) {
            return Self::from_reader(path, Box::new(io::stdin()), None, consumed);
        }
        let mut file = File::open(path).map_err(error)?;
        let metadata = file.metadata().map_err(error)?;
        if metadata.is_dir() {
            return Err(error(io::ErrorKind::IsADirectory.into()));
        }
        let size = metadata.is_file().then_some(metadata.len());
        if size.is_some_and(|s| s > 0) {
            let mut magic = [0; 2];
            let n = file.read(&mut magic).map_err(error)?;
            let gzip = n == 2 && magic == gzip::MAGIC;
            // SAFETY: the map is only read, as bytes, and any bytes are valid. A
            // file that someone cuts meanwhile ends the process: see `heed_files`.
            let map = if gzip { None } else { unsafe { Mmap::map(&file) }.ok() };
            if let Some(map) = map {
                let body = Body::Map { pos: 0, end: map.len(), map };
                return Ok(Self {
                    path: path.to_owned(),
                    body,
                    size,
                    consumed,
                    compressed: false,
                    together: never,
                });
            }
            let again = io::Cursor::new(magic[..n].to_vec()).chain(file);
            return Self::from_reader(path, Box::new(again), size, consumed);
        }
        Self::from_reader(path, Box::new(file), size, consumed)
    }

    /// The plain-read way, for pipes, gzip and files that cannot be mapped.
    fn from_reader(
        path: &Path,
        reader: Box<dyn Read + Send>,
        size: Option<u64>,
        consumed: Arc<AtomicU64>,
    ) -> Result<Self> {
        let counted = Counted { reader, consumed: Arc::clone(&consumed) };
        let mut reader = BufReader::with_capacity(1 << 18, counted);
        let mut magic = Vec::new();
        reader.by_ref().take(2).read_to_end(&mut magic).map_err(|e| Error::read(path, e))?;
        let compressed = magic == gzip::MAGIC;
        let whole = io::Cursor::new(magic).chain(reader);
        let reader: Box<dyn Read + Send> =
            if compressed { Box::new(gzip::Members::new(whole)) } else { Box::new(whole) };
        let stream = Stream { reader, out: 0, consumed: Arc::clone(&consumed), compressed, failed: None };
        let body = Body::Stream { stream, head: Vec::new() };
        Ok(Self { path: path.to_owned(), body, size, consumed, compressed, together: never })
    }

    #[cfg(test)]
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let reader = Box::new(io::Cursor::new(bytes.to_vec()));
        Self::from_reader(Path::new("test.prv"), reader, None, Arc::default()).expect("bytes are readable")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is gzip.
    pub(crate) fn compressed(&self) -> bool {
        self.compressed
    }

    /// Bytes of the file as stored; unknown for a pipe.
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Bytes that are still to come, where that is known.
    pub(crate) fn left(&self) -> Option<usize> {
        match &self.body {
            Body::Map { pos, end, .. } => Some(end - pos),
            Body::Stream { .. } => None,
        }
    }

    /// Bytes read so far, as stored.
    pub(crate) fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    /// The next bytes: at least `n`, unless the input ends or fails before. A
    /// failure becomes an error only after everything before it is taken.
    pub(crate) fn peek(&mut self, n: usize) -> Result<&[u8]> {
        match &mut self.body {
            Body::Map { map, pos, end } => Ok(&map[*pos..*end]),
            Body::Stream { stream, head } => {
                if let Err(kind) = stream.fill(head, n) {
                    if head.is_empty() {
                        return Err(Error::whole(&self.path, kind));
                    }
                    stream.failed = Some(kind);
                }
                Ok(head)
            }
        }
    }

    /// Takes off `n` bytes that [`peek`](Self::peek) showed.
    pub(crate) fn advance(&mut self, n: usize) {
        match &mut self.body {
            Body::Map { pos, .. } => *pos += n,
            Body::Stream { head, .. } => drop(head.drain(..n)),
        }
    }

    /// Takes a byte order mark off, if there is one.
    pub(crate) fn skip_mark(&mut self) -> Result<()> {
        if self.peek(BYTE_ORDER_MARK.len())?.starts_with(BYTE_ORDER_MARK) {
            self.advance(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// The failure of the reading behind the bytes that were peeked at.
    fn failure(&mut self) -> Option<Error> {
        match &mut self.body {
            Body::Map { .. } => None,
            Body::Stream { stream, .. } => stream.failed.take().map(|kind| Error::whole(&self.path, kind)),
        }
    }

    /// Takes the next line off, without its end and the blanks before that.
    pub(crate) fn take_line(&mut self) -> Result<Vec<u8>> {
        Ok(trim_end(&self.take_whole_line()?).to_vec())
    }

    /// Takes the next line off as it stands; the last one may have no end.
    pub(crate) fn take_whole_line(&mut self) -> Result<Vec<u8>> {
        let mut want = 1 << 12;
        loop {
            let head = self.peek(want)?;
            let end = memchr(b'\n', &head[..head.len().min(MAX_LINE)]);
            if end.is_none() && head.len() >= want && want < MAX_LINE {
                want *= 2;
                continue;
            }
            if end.is_none() && head.len() >= MAX_LINE {
                return Err(Error::whole(&self.path, ErrorKind::LongLine(MAX_LINE)));
            }
            let (line, used) = match end {
                Some(end) => (head[..=end].to_vec(), end + 1),
                None => (head.to_vec(), head.len()),
            };
            if end.is_none()
                && let Some(error) = self.failure()
            {
                return Err(error);
            }
            self.advance(used);
            return Ok(line);
        }
    }

    /// Everything that is left.
    pub(crate) fn read_all(self) -> Result<Whole> {
        match self.body {
            Body::Map { map, pos, end } => Ok(Whole::Map(map, pos..end)),
            Body::Stream { mut stream, mut head } => {
                stream.fill(&mut head, usize::MAX).map_err(|kind| Error::whole(&self.path, kind))?;
                Ok(Whole::Bytes(head))
            }
        }
    }

    /// Everything that is left, as a stream; see [`stream_error`].
    pub(crate) fn into_reader(self) -> impl Read {
        InputReader(self)
    }

    /// Calls `work` on every block in parallel, and `merge` on the results in
    /// the order of the file. Blocks end at line ends; only the last block may
    /// lack its line end. A few blocks for each thread are held at once.
    pub(crate) fn for_each_block<T: Send>(
        self,
        block: usize,
        progress: Option<Progress<'_>>,
        work: impl Fn(&[u8]) -> T + Sync,
        mut merge: impl FnMut(T) -> Result<()> + Send,
    ) -> Result<()> {
        let Input { path, body, size, consumed, together, .. } = self;
        let mapped;
        let mut blocks = match body {
            Body::Map { map, pos, end } => {
                mapped = map;
                Blocks::Map { map: &mapped, end, pos, block, consumed: &consumed, together }
            }
            Body::Stream { stream, head } => Blocks::Stream(start_reader(stream, head, block, together)),
        };
        let (map, may_wait) = match &blocks {
            Blocks::Map { map, .. } => (Some(*map), false),
            Blocks::Stream(_) => (None, true),
        };
        let mut ending = Ok(());
        let next = |ended: &AtomicBool| {
            blocks.next(ended).unwrap_or_else(|kind| {
                ending = Err(kind);
                None
            })
        };
        let work = |block: Cow<'_, [u8]>| {
            map.inspect(|map| bring(map, &block));
            let end = map.map(|map| block.as_ptr().addr() - map.as_ptr().addr() + block.len());
            (end, work(&block))
        };
        let mut forgotten = 0;
        let merge = |(end, done): (Option<usize>, T)| {
            // All before is done. (Where a block is forgotten while the next is read, looking at the
            // page that they share maps more of the first again.)
            if let Some((map, end)) = map.zip(end) {
                forget(map, std::mem::replace(&mut forgotten, end)..end);
            }
            merge(done)?;
            if let Some(progress) = progress {
                progress(consumed.load(Ordering::Relaxed), size.unwrap_or(0));
            }
            Ok(())
        };
        in_order(next, (most_held(block), may_wait), work, merge)?;
        ending.map_err(|kind| Error::whole(&path, kind))
    }
}

/// How many blocks are held at once: several for each thread, as none takes as long as the
/// next. Of large blocks fewer.
fn most_held(block: usize) -> usize {
    (4 * BLOCK / block.max(1)).clamp(2, 4) * rayon::current_num_threads()
}

struct InputReader(Input);

impl Read for InputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = match &mut self.0.body {
            Body::Map { map, pos, end } => &map[*pos..*end],
            Body::Stream { stream, head } => {
                if head.is_empty() {
                    stream.fill(head, 1 << 16).map_err(io::Error::other)?;
                }
                head
            }
        };
        let n = available.len().min(buffer.len());
        buffer[..n].copy_from_slice(&available[..n]);
        match &mut self.0.body {
            Body::Map { pos, .. } => {
                *pos += n;
                self.0.consumed.store(*pos as u64, Ordering::Relaxed);
            }
            Body::Stream { head, .. } => drop(head.drain(..n)),
        }
        Ok(n)
    }
}

/// The error behind a failed read of [`Input::into_reader`].
pub(crate) fn stream_error(path: &Path, error: io::Error) -> Error {
    match error.downcast::<ErrorKind>() {
        Ok(kind) => Error::whole(path, kind),
        Err(error) => Error::read(path, error),
    }
}

/// `line` without the line end and the blanks before it.
pub(crate) fn trim_end(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

/// The lines of a block, without their ends.
pub(crate) fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut pos = 0;
    std::iter::from_fn(move || {
        let rest = &block[pos..];
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        pos += (end + 1).min(rest.len());
        Some(&rest[..end])
    })
}

/// Maps the pages of a part at once, as the first look at each one costs more.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
fn bring(map: &Mmap, part: &[u8]) {
    #[cfg(target_os = "linux")]
    {
        let at = part.as_ptr().addr() - map.as_ptr().addr();
        // Where the system cannot do it, only time is lost.
        let _ = map.advise_range(memmap2::Advice::PopulateRead, at, part.len());
    }
}

/// What was read need not stay in memory: it is in the file. The page at the end stays, as the
/// next block may begin there.
fn forget(map: &Mmap, part: Range<usize>) {
    const PAGE: usize = 1 << 12;
    let (from, end) = (part.start / PAGE * PAGE, part.end / PAGE * PAGE);
    // SAFETY: the mapping is read-only and of a file, so its pages come
    // back as they were if they are looked at again.
    let advice = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, from, end - from) };
    // Where the system cannot do it, only memory is lost.
    drop(advice);
}

enum Blocks<'a> {
    Map { map: &'a Mmap, end: usize, pos: usize, block: usize, consumed: &'a AtomicU64, together: Together },
    Stream(Receiver<Message>),
}

impl<'a> Blocks<'a> {
    /// The next block, if there is one, and one is still wanted.
    fn next(&mut self, ended: &AtomicBool) -> std::result::Result<Option<Cow<'a, [u8]>>, ErrorKind> {
        match self {
            Blocks::Map { map, end, pos, block, consumed, together } => {
                let data = &map[..*end];
                if *pos >= data.len() {
                    consumed.store(*pos as u64, Ordering::Relaxed);
                    return Ok(None);
                }
                let least = pos.saturating_add(*block).min(data.len());
                // Where the block's last line begins: how long it may be does not depend on
                // where blocks end.
                let line = memrchr(b'\n', &data[*pos..least]).map_or(*pos, |n| *pos + n + 1);
                let most = line.saturating_add(MAX_LINE).clamp(least, data.len());
                // From the byte before: the block may end with a line.
                let end = match memchr(b'\n', &data[least - 1..most]) {
                    Some(n) => least + n,
                    None if most == data.len() => most,
                    None => return Err(ErrorKind::LongLine(MAX_LINE)),
                };
                let end = *pos + edge_from(&data[*pos..], end - *pos, *together);
                let next = &data[*pos..end];
                *pos = end;
                consumed.store(end as u64, Ordering::Relaxed);
                Ok(Some(Cow::Borrowed(next)))
            }
            Blocks::Stream(receiver) => loop {
                match receiver.recv_timeout(LOOK_UP) {
                    Ok(Message::Block(block)) => return Ok(Some(Cow::Owned(block))),
                    Ok(Message::End(result)) => return result.map(|()| None),
                    Err(RecvTimeoutError::Timeout) if ended.load(Ordering::Relaxed) => return Ok(None),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(ErrorKind::Read(io::Error::other("the reading thread stopped")));
                    }
                }
            },
        }
    }
}

enum Message {
    Block(Vec<u8>),
    End(std::result::Result<(), ErrorKind>),
}

/// Reads and decompresses on a thread of its own while others work on the
/// blocks. Nobody waits for this thread: after an error it may hang on a slow
/// pipe.
fn start_reader(stream: Stream, head: Vec<u8>, block: usize, together: Together) -> Receiver<Message> {
    // Two blocks wait at most, so that the reader does not fill the memory.
    let (sender, receiver) = sync_channel(2);
    std::thread::spawn(move || {
        // Sending fails only if nobody listens any more.
        let _ = send_blocks(stream, head, (block, together), &sender);
    });
    receiver
}

fn send_blocks(
    mut stream: Stream,
    mut carry: Vec<u8>,
    (block, together): (usize, Together),
    sender: &SyncSender<Message>,
) -> std::result::Result<(), std::sync::mpsc::SendError<Message>> {
    let mut want = block;
    loop {
        let filled = stream.fill(&mut carry, want);
        let ended = matches!(filled, Ok(n) if n < want);
        if ended {
            sender.send(Message::Block(carry))?;
            return sender.send(Message::End(Ok(())));
        }
        if let Some(cut) = memrchr(b'\n', &carry) {
            let cut = edge_until(&carry, cut + 1, together) - 1;
            let mut rest = Vec::with_capacity(block + (carry.len() - cut));
            rest.extend_from_slice(&carry[cut + 1..]);
            carry.truncate(cut + 1);
            sender.send(Message::Block(std::mem::replace(&mut carry, rest)))?;
            want = carry.len() + block;
        } else if carry.len() >= MAX_LINE {
            return sender.send(Message::End(Err(ErrorKind::LongLine(MAX_LINE))));
        } else {
            // Doubling: a long line is searched for its end only log n times.
            want = (carry.len() * 2).max(block);
        }
        if let Err(kind) = filled {
            // The text is complete, so its last line needs no line end.
            if matches!(kind, ErrorKind::GzipGarbage(_)) {
                sender.send(Message::Block(carry))?;
            }
            return sender.send(Message::End(Err(kind)));
        }
    }
}

/// A reader that knows how much came in and went out.
struct Stream {
    reader: Box<dyn Read + Send>,
    out: u64,
    consumed: Arc<AtomicU64>,
    compressed: bool,
    /// The failure of the last read, until it is reported.
    failed: Option<ErrorKind>,
}

impl Stream {
    /// Reads until `buffer` holds `want` bytes, or the input ends. After a
    /// failure, `buffer` holds the bytes before it.
    fn fill(&mut self, buffer: &mut Vec<u8>, want: usize) -> std::result::Result<usize, ErrorKind> {
        while buffer.len() < want {
            if let Some(kind) = self.failed.take() {
                return Err(kind);
            }
            // In steps, so that a bomb is seen before it fills the memory.
            let step = (want - buffer.len()).min(1 << 20) as u64;
            let before = buffer.len();
            let got = self.reader.by_ref().take(step).read_to_end(buffer);
            self.out += (buffer.len() - before) as u64;
            match got {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(self.failure(error)),
            }
            if self.compressed && self.out > most_expanded(self.consumed.load(Ordering::Relaxed)) {
                return Err(ErrorKind::GzipBomb(BOMB_RATIO));
            }
        }
        Ok(buffer.len())
    }

    fn failure(&self, error: io::Error) -> ErrorKind {
        let error = match error.downcast::<ErrorKind>() {
            Ok(kind) => return kind,
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::UnexpectedEof if self.compressed => ErrorKind::GzipEndsEarly(self.out),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if self.compressed => {
                ErrorKind::GzipDamaged(self.out, error.to_string())
            }
            _ => ErrorKind::Read(error),
        }
    }
}

/// The place of line `index` (from 0) after `before` lines.
pub(crate) fn line_place(before: u64, index: u64) -> Place {
    Place::Line(before + index + 1)
}

#[cfg(test)]
pub(crate) mod tests;
