//! What is counted in each burst: hardware events where the machine has them,
//! else what the kernel counts.

use crate::clock;
use std::ffi::c_void;
use std::sync::atomic::{Ordering, compiler_fence};

/// A counter that was not read in a burst although others were.
const NOT_READ: u64 = likewise_recording::NOT_READ;

/// A set is counted for so many bursts, then the next one.
const BURSTS_OF_A_SET: u32 = 64;

/// Without being asked, CPU time is kept of bursts that take longer, in ns, and
/// read where such a burst is expected: it costs some 300 ns at each end.
const LONG: u64 = 20_000;

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Type and configuration of a hardware event.
    Event(u32, u64),
    Cpu,
    Faults,
    Switches,
}

/// What to count: sets, of which one at a time is counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) names: Vec<String>,
    sets: Vec<Vec<(usize, Kind)>>,
    /// Only where a long burst is expected.
    pub(crate) only_long: bool,
}

const HARDWARE: u32 = 0;
const RAW: u32 = 4;
const EVENTS: [(&str, u64); 6] = [
    ("cycles", 0),
    ("instructions", 1),
    ("cache-references", 2),
    ("cache-misses", 3),
    ("branches", 4),
    ("branch-misses", 5),
];

fn kind_of(name: &str) -> Option<Kind> {
    match name {
        "cpu" => return Some(Kind::Cpu),
        "faults" => return Some(Kind::Faults),
        "switches" => return Some(Kind::Switches),
        _ => {}
    }
    if let Some((_, number)) = EVENTS.iter().find(|(known, _)| *known == name) {
        return Some(Kind::Event(HARDWARE, *number));
    }
    let raw = name.strip_prefix('r')?;
    u64::from_str_radix(raw, 16).ok().map(|config| Kind::Event(RAW, config))
}

/// Names as traces have them, so that IPC and the like are found.
fn name_of(name: &str) -> String {
    match name {
        "cycles" => "PAPI_TOT_CYC".to_owned(),
        "instructions" => "PAPI_TOT_INS".to_owned(),
        "cpu" => "CPU time (ns)".to_owned(),
        "faults" => "Page faults".to_owned(),
        "switches" => "Context switches".to_owned(),
        name => name.to_owned(),
    }
}

impl Plan {
    /// Whether what was counted in a burst of that length (ns) is kept.
    #[inline]
    pub(crate) fn keeps(&self, gap: u64) -> bool {
        !self.only_long || gap >= LONG
    }

    pub(crate) const fn nothing() -> Self {
        Self { names: Vec::new(), sets: Vec::new(), only_long: false }
    }

    /// What `LIKEWISE_COUNTERS` asks for, and what of it this machine lacks.
    pub(crate) fn new(asked: Option<&str>) -> (Self, Vec<String>) {
        let default = || {
            let hardware = Thread::open(&[(0, Kind::Event(HARDWARE, 0)), (1, Kind::Event(HARDWARE, 1))]);
            if hardware.is_some() { "cycles,instructions" } else { "cpu" }
        };
        let text = asked.unwrap_or_else(default);
        let mut plan = Self { only_long: asked.is_none() && text == "cpu", ..Self::default() };
        let mut missing = Vec::new();
        for set in text.split('/').filter(|_| text != "none") {
            let mut kinds = Vec::new();
            for name in set.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                let there = kind_of(name).filter(|kind| Thread::open(&[(0, *kind)]).is_some());
                let Some(kind) = there else {
                    missing.push(name.to_owned());
                    continue;
                };
                kinds.push((plan.names.len(), kind));
                plan.names.push(name_of(name));
            }
            if !kinds.is_empty() {
                plan.sets.push(kinds);
            }
        }
        (plan, missing)
    }
}

/// A hardware event of a thread.
struct Event {
    file: i32,
    /// What the kernel shares for reading without a call; null without.
    page: *mut c_void,
}

const PAGE: usize = 4096;

impl Event {
    fn open(kind: u32, config: u64) -> Option<Self> {
        // The first version of the kernel's record: 64 bytes.
        let mut attributes = [0_u64; 8];
        attributes[0] = u64::from(kind) | 64 << 32;
        attributes[1] = config;
        // Total time enabled and running, to undo the kernel's own multiplexing.
        attributes[4] = 0b11;
        // Not of the kernel, nor of a hypervisor: so it needs no rights.
        attributes[5] = 1 << 5 | 1 << 6;
        let (this_thread, any_core, no_group, flags) = (0, -1, -1, 8);
        // SAFETY: the record has the size that it says.
        let file = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                attributes.as_ptr(),
                this_thread,
                any_core,
                no_group,
                flags,
            )
        } as i32;
        if file < 0 {
            return None;
        }
        // SAFETY: a new mapping of a page of the event's file.
        let page =
            unsafe { libc::mmap(std::ptr::null_mut(), PAGE, libc::PROT_READ, libc::MAP_SHARED, file, 0) };
        let page = if page == libc::MAP_FAILED { std::ptr::null_mut() } else { page };
        Some(Self { file, page })
    }

    fn read(&self) -> u64 {
        self.read_here().unwrap_or_else(|| self.read_by_call())
    }

    /// By the kernel: count, time enabled, time running.
    fn read_by_call(&self) -> u64 {
        let mut values = [0_u64; 3];
        // SAFETY: there is room for the three values.
        let n = unsafe { libc::read(self.file, values.as_mut_ptr().cast(), 24) };
        if n == 24 { scaled(values[0], values[1], values[2]) } else { 0 }
    }

    /// By the processor itself, as the kernel's header `perf_event.h` says.
    #[cfg(target_arch = "x86_64")]
    fn read_here(&self) -> Option<u64> {
        // Places in the page, in words of 32 bits.
        const LOCK: usize = 2;
        const INDEX: usize = 3;
        const OFFSET: usize = 4;
        const CAPABILITIES: usize = 10;
        const WIDTH: usize = 12;
        const MAY_READ: u32 = 1 << 2;
        if self.page.is_null() {
            return None;
        }
        let word = |at: usize| {
            // SAFETY: the page is mapped for as long as the event lives.
            unsafe { self.page.cast::<u32>().wrapping_add(at).read_volatile() }
        };
        loop {
            let lock = word(LOCK);
            compiler_fence(Ordering::SeqCst);
            let index = word(INDEX);
            if word(CAPABILITIES) & MAY_READ == 0 || index == 0 {
                return None;
            }
            let offset = u64::from(word(OFFSET)) | u64::from(word(OFFSET + 1)) << 32;
            let width = word(WIDTH) & 0xffff;
            let (low, high): (u32, u32);
            // SAFETY: the page says that the counter may be read.
            unsafe {
                std::arch::asm!("rdpmc", in("ecx") index - 1, out("eax") low, out("edx") high, options(nomem, nostack));
            };
            compiler_fence(Ordering::SeqCst);
            if word(LOCK) == lock {
                let unused = 64 - width.clamp(1, 64);
                let count = ((u64::from(high) << 32 | u64::from(low)) << unused) as i64 >> unused;
                return Some(offset.wrapping_add(count as u64));
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn read_here(&self) -> Option<u64> {
        None
    }
}

fn scaled(count: u64, enabled: u64, running: u64) -> u64 {
    match running {
        0 => 0,
        running if running == enabled => count,
        running => (u128::from(count) * u128::from(enabled) / u128::from(running)) as u64,
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.page.is_null() {
            // SAFETY: it was mapped in `open`.
            unsafe { libc::munmap(self.page, PAGE) };
        }
        // SAFETY: it was opened in `open`.
        unsafe { libc::close(self.file) };
    }
}

enum Source {
    Event(Event),
    Cpu,
    Faults,
    Switches,
}

/// The counters of a thread.
#[derive(Default)]
pub(crate) struct Thread {
    sources: Vec<(usize, Source)>,
    set: usize,
    bursts: u32,
    /// What they were when the burst began; empty if they were not read.
    begin: Vec<u64>,
    counted: Vec<u64>,
}

fn usage() -> libc::rusage {
    // SAFETY: all zeros are a valid record.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    // SAFETY: it is a valid place for one.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage
}

impl Thread {
    fn open(set: &[(usize, Kind)]) -> Option<Vec<(usize, Source)>> {
        let open = |(at, kind): &(usize, Kind)| {
            let source = match kind {
                Kind::Event(kind, config) => Source::Event(Event::open(*kind, *config)?),
                Kind::Cpu => Source::Cpu,
                Kind::Faults => Source::Faults,
                Kind::Switches => Source::Switches,
            };
            Some((*at, source))
        };
        set.iter().map(open).collect()
    }

    /// To be called on the thread itself.
    pub(crate) fn new(plan: &Plan) -> Self {
        let sources = plan.sets.first().and_then(|set| Self::open(set)).unwrap_or_default();
        Self { sources, set: 0, bursts: 0, begin: Vec::new(), counted: Vec::new() }
    }

    fn read(&self) -> Vec<u64> {
        let mut usage_then = None;
        let mut of = |read: fn(&libc::rusage) -> i64| read(usage_then.get_or_insert_with(usage)) as u64;
        let one = |(_, source): &(usize, Source)| match source {
            Source::Event(event) => event.read(),
            Source::Cpu => clock::of_thread(),
            Source::Faults => of(|usage| usage.ru_minflt + usage.ru_majflt),
            Source::Switches => of(|usage| usage.ru_nvcsw + usage.ru_nivcsw),
        };
        self.sources.iter().map(one).collect()
    }

    /// A burst begins, which is expected to take so long (ns); returns whether
    /// it is counted.
    #[inline]
    pub(crate) fn begin(&mut self, plan: &Plan, expected: u64) -> bool {
        if plan.sets.is_empty() || plan.only_long && expected < LONG {
            return false;
        }
        self.bursts += 1;
        if plan.sets.len() > 1 && self.bursts >= BURSTS_OF_A_SET {
            self.bursts = 0;
            self.set = (self.set + 1) % plan.sets.len();
            self.sources = Self::open(&plan.sets[self.set]).unwrap_or_default();
        }
        self.begin = self.read();
        true
    }

    /// What was counted in the last burst that was counted.
    pub(crate) fn counted(&self) -> &[u64] {
        &self.counted
    }

    /// The burst ends; returns whether it was counted.
    #[inline]
    pub(crate) fn end(&mut self, plan: &Plan) -> bool {
        if self.begin.is_empty() {
            return false;
        }
        let end = self.read();
        self.counted.clear();
        self.counted.resize(plan.names.len(), NOT_READ);
        for (((at, _), begin), end) in self.sources.iter().zip(&self.begin).zip(end) {
            self.counted[*at] = end.saturating_sub(*begin);
        }
        self.begin.clear();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_counted() {
        let (plan, missing) = Plan::new(Some("cpu,faults/switches"));
        assert!(missing.is_empty());
        assert_eq!(plan.names, ["CPU time (ns)", "Page faults", "Context switches"]);
        let mut thread = Thread::new(&plan);
        thread.begin(&plan, 0);
        let begin = std::time::Instant::now();
        while begin.elapsed().as_millis() < 20 {}
        assert!(thread.end(&plan));
        let counted = thread.counted();
        assert!(counted[0] > 1_000_000 && counted[2] == NOT_READ, "{counted:?}");
        assert!(!thread.end(&plan));
    }

    #[test]
    fn what_the_machine_lacks_is_said() {
        let (plan, missing) = Plan::new(Some("cpu,furlongs"));
        assert_eq!((plan.names.len(), missing), (1, vec!["furlongs".to_owned()]));
        assert!(Plan::new(Some("none")).0.names.is_empty());
    }

    #[test]
    fn cpu_time_alone_is_for_long_bursts() {
        let plan = Plan { only_long: true, ..Plan::new(Some("cpu")).0 };
        let mut thread = Thread::new(&plan);
        thread.begin(&plan, LONG - 1);
        assert!(!thread.end(&plan));
        thread.begin(&plan, LONG);
        assert!(thread.end(&plan));
    }
}
