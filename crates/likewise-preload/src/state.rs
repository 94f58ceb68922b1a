//! What is recorded of a rank, and how an event gets into it.

use crate::arguments::{Arguments, Fortran};
use crate::decode::{Before, Call, Decoder};
use crate::hash::Map;
use crate::job::Job;
use crate::objects::Objects;
use crate::path::{Site, Stack};
use crate::plan::{Compare, MOST_COMPARED, Plan};
use crate::raw::RawLog;
use crate::real::MOST_WORDS;
use crate::settings::{counters, options};
use crate::thread::Thread;
use crate::watch::{LOOK, Watch};
use crate::{Dialect, clock, counters, job, memory, modules};
use likewise_mpi::abi::Class;
use likewise_mpi::binding::Source;
use likewise_recording::calls::number;
use likewise_recording::{CallId, Frame, NO_FILE, Recorder, Timing, identity};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls from more different paths than this have a path of one frame.
const MOST_PATHS: usize = 1 << 16;

/// Of how many call paths was looked whether the cache is right, and of how
/// many it was not.
pub(crate) static CHECKED: AtomicU64 = AtomicU64::new(0);
pub(crate) static WRONG: AtomicU64 = AtomicU64::new(0);

/// A call that was made.
pub(crate) struct Made<'a> {
    pub(crate) call: CallId,
    pub(crate) dialect: Dialect,
    pub(crate) words: &'a [usize; MOST_WORDS],
    pub(crate) plan: &'static Plan,
    pub(crate) result: usize,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) site: Site,
}

/// The arguments of a symbol's last event.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Of which epoch of objects they are; 0 if they say nothing.
    epoch: u64,
    arguments: [u64; MOST_COMPARED],
    /// For the raw log alone.
    values: Vec<i64>,
}

/// All that is known of a rank.
pub(crate) struct State {
    pub(crate) recorder: Recorder,
    objects: Option<Objects>,
    fortran: Option<Fortran>,
    /// What calls of C take for Fortran's.
    no_fortran: Fortran,
    seen: Vec<Seen>,
    values: Vec<i64>,
    modules: modules::Objects,
    paths: Map<u32, ()>,
    /// The call path of each symbol.
    path_of: Vec<u32>,
    /// How long the burst after each symbol takes on average, in ns;
    /// `UNKNOWN` until there was one.
    bursts: Vec<u64>,
    pub(crate) raw: Option<RawLog>,
    /// The job's files, once MPI has begun.
    pub(crate) job: Option<Job>,
    /// What is done on line; none in a full recording.
    pub(crate) watch: Option<Watch>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// The state, once we record. Whoever holds it calls no function of MPI that
/// waits for others.
#[inline]
pub(crate) fn lock() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, if nobody else has it.
pub(crate) fn try_lock() -> Option<MutexGuard<'static, Option<State>>> {
    STATE.try_lock().ok()
}

/// A burst that has not been seen may be long.
const UNKNOWN: u64 = u64::MAX;

impl State {
    pub(crate) fn new(recorder: Recorder, raw: Option<RawLog>, watch: Option<Watch>) -> Self {
        Self {
            recorder,
            objects: None,
            fortran: None,
            no_fortran: Fortran::default(),
            seen: Vec::new(),
            values: Vec::new(),
            modules: modules::Objects::default(),
            paths: Map::default(),
            path_of: Vec::new(),
            bursts: Vec::new(),
            raw,
            job: None,
            watch,
        }
    }

    /// MPI's objects, and what Fortran needs.
    #[inline]
    pub(crate) fn bound(&mut self, dialect: Dialect) -> Option<(&mut Objects, &Fortran)> {
        if self.objects.is_none() || (dialect != Dialect::C && self.fortran.is_none()) {
            self.bind(dialect);
        }
        let fortran = match dialect {
            Dialect::C => &self.no_fortran,
            _ => self.fortran.as_ref()?,
        };
        Some((self.objects.as_mut()?, fortran))
    }

    #[cold]
    fn bind(&mut self, dialect: Dialect) {
        let Some(source) = Source::present() else { return };
        if self.objects.is_none() {
            self.objects = Objects::new(&source);
        }
        if dialect != Dialect::C {
            self.fortran = Some(Fortran::of(&source));
        }
    }

    /// MPI's objects, once they are bound.
    pub(crate) fn objects(&mut self) -> Option<&mut Objects> {
        self.objects.as_mut()
    }

    /// After this burst: how long the one that follows a symbol will take. The
    /// average is of about the last eight.
    #[inline]
    fn expected(&mut self, last: u32, symbol: u32, gap: u64) -> u64 {
        if let Some(average) = self.bursts.get_mut(last as usize) {
            *average = if *average == UNKNOWN { gap } else { *average - *average / 8 + gap / 8 };
        }
        self.bursts.get(symbol as usize).copied().unwrap_or(UNKNOWN)
    }

    /// The recorder has begun anew: no event has a last one.
    pub(crate) fn forget_last(&mut self) {
        self.seen.clear();
    }

    /// What MPICH's Fortran says by addresses is only known after `MPI_Init`.
    pub(crate) fn forget_fortran(&mut self) {
        self.fortran = None;
    }

    /// `last` is the symbol of the thread's event before.
    fn record(&mut self, symbol: u32, last: u32, before: &Before, made: &Made<'_>, time: &Timing<'_>) {
        if let Some(watch) = &mut self.watch
            && watch.begins(symbol)
        {
            self.forget_last();
        }
        let is_again = self.is_again(symbol, made);
        if !is_again {
            self.decoded(symbol, before, made);
        } else if let Some(raw) = &mut self.raw {
            raw.line(made.call, self.path_of[symbol as usize], &self.seen[symbol as usize].values);
        }
        if let Some(watch) = &mut self.watch {
            if !is_again {
                watch.values(symbol, &self.values);
            }
            watch.event(symbol);
            watch.burst(last, symbol, time.gap);
            if !watch.keeps() {
                return;
            }
        }
        match is_again {
            true => self.recorder.again(symbol, time),
            false => self.recorder.event(symbol, &self.values, time),
        }
    }

    /// Whether the arguments that matter are those of the symbol's last event.
    #[inline]
    fn is_again(&self, symbol: u32, made: &Made<'_>) -> bool {
        let (Some(compared), Some(objects)) = (&made.plan.compared, &self.objects) else { return false };
        let Some(seen) = self.seen.get(symbol as usize) else { return false };
        let fortran = self.fortran.as_ref().unwrap_or(&self.no_fortran);
        let arguments = Arguments { call: made.call, dialect: made.dialect, words: made.words, fortran };
        seen.epoch == objects.epoch
            && compared
                .iter()
                .zip(&seen.arguments)
                .all(|((at, how), last)| compare(objects, &arguments, usize::from(*at), *how) == *last)
    }

    #[inline(never)]
    fn decoded(&mut self, symbol: u32, before: &Before, made: &Made<'_>) {
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        let mut varies = true;
        let mut remembered = [0; MOST_COMPARED];
        if self.bound(made.dialect).is_some()
            && let Some(objects) = &mut self.objects
        {
            let fortran = match made.dialect {
                Dialect::C => &self.no_fortran,
                _ => self.fortran.as_ref().unwrap_or(&self.no_fortran),
            };
            let arguments = Arguments { call: made.call, dialect: made.dialect, words: made.words, fortran };
            let ok = arguments.succeeded(made.result);
            let call = Call { arguments, plan: made.plan, before, ok };
            let mut decoder = Decoder::new(objects, &mut self.recorder, &mut values);
            decoder.decode(&call);
            varies = decoder.varies || !ok;
            for ((at, how), place) in made.plan.compared.iter().flatten().zip(&mut remembered) {
                *place = compare(objects, &arguments, usize::from(*at), *how);
            }
        } else {
            // No MPI that could be asked: a call without a list says nothing.
            values.resize(made.call.fields().len(), 0);
        }
        if made.plan.compared.is_some() {
            self.remember(symbol, remembered, &values, varies);
        }
        if let Some(raw) = &mut self.raw {
            raw.line(made.call, self.path_of[symbol as usize], &values);
        }
        self.values = values;
    }

    fn remember(&mut self, symbol: u32, arguments: [u64; MOST_COMPARED], values: &[i64], varies: bool) {
        let at = symbol as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, Seen::default());
        }
        let epoch = match &self.objects {
            Some(objects) if !varies => objects.epoch,
            _ => 0,
        };
        let seen = &mut self.seen[at];
        (seen.epoch, seen.arguments) = (epoch, arguments);
        if self.raw.is_some() {
            values.clone_into(&mut seen.values);
        }
    }

    /// The symbol of a call from these return addresses.
    fn symbol(&mut self, call: CallId, addresses: &[usize], is_cut: bool) -> (u32, usize) {
        let mut kept = addresses.len();
        if addresses.iter().any(|address| self.modules.find(address - 1).is_none()) {
            self.modules.refresh();
        }
        if !is_cut {
            kept -= self.n_outside(addresses);
        }
        let inside = addresses[..kept].iter().take_while(|pc| self.is_mpi(**pc)).count();
        let frames = &addresses[inside.min(kept.saturating_sub(1))..kept];
        let frames: Vec<Frame> = frames.iter().map(|address| self.frame(*address)).collect();
        let mut path = self.recorder.path(&frames);
        if self.paths.len() >= MOST_PATHS && !self.paths.contains_key(&path) {
            path = self.recorder.path(&frames[..frames.len().min(1)]);
        } else {
            self.paths.insert(path, ());
        }
        let symbol = self.recorder.symbol(call, path);
        self.know(symbol, call, &frames);
        if self.path_of.len() <= symbol as usize {
            self.path_of.resize(symbol as usize + 1, 0);
            self.bursts.resize(symbol as usize + 1, UNKNOWN);
        }
        self.path_of[symbol as usize] = path;
        (symbol, kept)
    }

    /// What is to be done after a call.
    #[inline]
    fn then(&self, symbol: u32, made: &Made<'_>) -> Then {
        let Some(job) = &self.job else { return Then::Nothing };
        if memory::is_short() {
            return Then::Stop;
        }
        // Where efforts are sampled, nothing is ever open.
        let n_open = self.recorder.n_open();
        let is_due = n_open > 0 && n_open & (job::LOOK - 1) == 0 || job.is_due(made.end);
        let Some(watch) = &self.watch else { return if is_due { Then::Write } else { Then::Nothing } };
        let level = made.words[0] as i32;
        if made.call == number::Pcontrol && made.dialect != Dialect::C {
            // Fortran gives the address of the level.
            return match self.fortran_level(made) {
                Some(level) if watch.is_marker(symbol, made.call, level) => Then::Marker(symbol),
                _ => Then::Nothing,
            };
        }
        if watch.is_marker(symbol, made.call, level) {
            Then::Marker(symbol)
        } else if watch.is_trial(symbol) {
            Then::Trial
        } else if is_due {
            Then::Write
        } else if watch.seeks() && watch.n_events() & (LOOK - 1) == 0 {
            Then::Look
        } else {
            Then::Nothing
        }
    }

    fn fortran_level(&self, made: &Made<'_>) -> Option<i32> {
        let fortran = self.fortran.as_ref()?;
        Some(Arguments { call: made.call, dialect: made.dialect, words: made.words, fortran }.int(0))
    }

    /// A new symbol is also watched.
    fn know(&mut self, symbol: u32, call: CallId, frames: &[Frame]) {
        let Some(watch) = &mut self.watch else { return };
        let frames = frames.iter().map(|frame| {
            let (build_id, file) = self.recorder.module_of(frame.module);
            (build_id, file, frame.offset)
        });
        watch.know(symbol, call, identity(call, frames));
    }

    /// How many frames, the outermost, are not the program's: what the C
    /// library does before `main` or before a thread's function.
    fn n_outside(&mut self, addresses: &[usize]) -> usize {
        let mut is_libc = |at: usize| {
            addresses.get(at).is_some_and(|pc| self.modules.find(pc - 1).is_some_and(|object| object.is_libc))
        };
        let mut kept = addresses.len();
        // `_start`, of the program, is outside of them.
        if kept >= 2 && !is_libc(kept - 1) && is_libc(kept - 2) {
            kept -= 1;
        }
        while kept > 1 && is_libc(kept - 1) {
            kept -= 1;
        }
        addresses.len() - kept
    }

    fn is_mpi(&mut self, address: usize) -> bool {
        self.modules.find(address - 1).is_some_and(|object| object.is_mpi)
    }

    fn frame(&mut self, address: usize) -> Frame {
        let recorder = &mut self.recorder;
        match self.modules.find(address - 1) {
            Some(object) => {
                let module =
                    *object.module.get_or_insert_with(|| recorder.module(&object.build_id, &object.path));
                Frame { module, offset: (address - object.base) as u64 }
            }
            // Code that was made while the program runs.
            None => Frame { module: recorder.module(&[], NO_FILE), offset: 0 },
        }
    }
}

/// What of an argument is compared.
#[inline]
fn compare(objects: &Objects, arguments: &Arguments<'_>, at: usize, how: Compare) -> u64 {
    match how {
        Compare::Int => u64::from(arguments.int(at) as u32),
        Compare::Long => arguments.long(at) as u64,
        Compare::Handle if arguments.is_fortran() => u64::from(arguments.int(at) as u32),
        // Files are as wide as any handle can be.
        Compare::Handle => (arguments.word(at) & objects.abi.mask(Class::Comm)) as u64,
        Compare::InPlace => u64::from(arguments.is_in_place(objects, at)),
    }
}

/// What is to be done after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Nothing,
    /// There is no memory left.
    Stop,
    /// Something may be to be written.
    Write,
    /// The symbol is the marker.
    Marker(u32),
    Trial,
    Look,
}

/// Records a call that was made.
#[inline]
pub(crate) fn record(thread: &mut Thread, made: &Made<'_>) -> Then {
    let known = thread.paths.find(&made.site, modules::generation());
    let mut is_slow = false;
    let symbol = match known {
        Some(symbol) if !options().verify => symbol,
        known => {
            is_slow = true;
            new_path(thread, made, known)
        }
    };
    // A wait for another thread that records is our work too.
    let mut state = try_lock().unwrap_or_else(|| {
        is_slow = true;
        lock()
    });
    let Some(state) = state.as_mut() else { return Then::Nothing };
    let counters = counters();
    let (pause, gap) = match thread.resumed {
        Some(resumed) => (clock::ns(thread.ended, resumed), clock::ns(resumed, made.begin)),
        // Before its first call a thread may not have been there.
        None => (clock::ns(thread.ended.max(clock::begun()), made.begin), 0),
    };
    let is_counted = thread.is_counted && counters.keeps(gap);
    let time = Timing {
        thread: thread.number,
        pause,
        gap,
        length: clock::ns(made.begin, made.end),
        counters: is_counted.then(|| thread.counters.counted()),
    };
    state.record(symbol, thread.last, &thread.before, made, &time);
    let expected = if counters.only_long { state.expected(thread.last, symbol, time.gap) } else { 0 };
    thread.last = symbol;
    let then = state.then(symbol, made);
    if !thread.has_counters {
        thread.has_counters = true;
        thread.counters = counters::Thread::new(counters);
    }
    is_slow |= thread.counters.begin(counters, expected);
    // What took us long is no part of the program's next burst.
    thread.ended = made.end;
    thread.resumed = Some(if is_slow { clock::ticks() } else { made.end });
    then
}

/// What was done on line, or while recording began, is no part of the program's
/// next burst either.
#[cold]
pub(crate) fn resume(thread: &mut Thread) {
    // Of a burst whose length nobody knows, all is counted.
    thread.counters.begin(counters(), UNKNOWN);
    thread.resumed = Some(clock::ticks());
}

/// Unwinds the stack, and keeps the path in the thread's cache.
#[cold]
#[inline(never)]
fn new_path(thread: &mut Thread, made: &Made<'_>, known: Option<u32>) -> u32 {
    let stack = Stack::unwind();
    let addresses = stack.addresses(&made.site);
    let mut state = lock();
    let Some(state) = state.as_mut() else { return 0 };
    state.modules.refresh();
    let (symbol, kept) = state.symbol(made.call, &addresses, Stack::is_cut(&addresses));
    match known {
        Some(known) => {
            CHECKED.fetch_add(1, Ordering::Relaxed);
            WRONG.fetch_add(u64::from(known != symbol), Ordering::Relaxed);
        }
        None => thread.paths.keep(&made.site, &stack, kept, symbol),
    }
    symbol
}
