//! DBSCAN, or k-distances, of points spread over ranks that are threads: what ranks send,
//! compute and keep, by phase.
//!
//! `cargo run --release -p likewise --example spread -- N RANKS DIMS PHASES WIDTH EPS [K]`: N points
//! in as many tight phases, of which a hundredth is spread evenly; 0 phases: all. With K, the
//! distances to the K-th nearest. Prints CSV. All ranks wait for each other where a phase ends,
//! so that CPU time and memory of the process are those of the phase; they share one pool of
//! threads (`RAYON_NUM_THREADS`).
use likewise::cluster::kdist::{k_distances, k_distances_spread};
use likewise::cluster::{DbscanParams, Points, dbscan, dbscan_spread};
use likewise::comm::{CommError, Communicator, Counted, Reduction, ThreadComm, Traffic, run_on_threads};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts what is allocated.
struct Counting;

impl Counting {
    fn add(n: usize) {
        PEAK.fetch_max(LIVE.fetch_add(n, Relaxed) + n, Relaxed);
    }
}

// SAFETY: all is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: what holds for the caller holds for the system.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: what holds for the caller holds for the system.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: what holds for the caller holds for the system.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Relaxed);
        Self::add(size);
        // SAFETY: what holds for the caller holds for the system.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Seconds of all threads.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `time` only.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What the process took in a phase.
#[derive(Clone, Default)]
struct Cost {
    cpu: f64,
    /// Above what there was before the first phase.
    peak: usize,
}

/// Counts messages, and separates phases.
struct Phased<'a> {
    comm: &'a ThreadComm,
    counted: Counted<'a, ThreadComm>,
    /// By phase, on rank 0. The last one is the present one.
    costs: RefCell<Vec<(String, Cost)>>,
    start: RefCell<(f64, usize)>,
}

impl<'a> Phased<'a> {
    fn new(comm: &'a ThreadComm) -> Result<Self, CommError> {
        let phased = Self {
            comm,
            counted: Counted::new(comm),
            costs: RefCell::new(Vec::new()),
            start: RefCell::new((0.0, 0)),
        };
        phased.wait()?;
        *phased.start.borrow_mut() = (cpu_seconds(), LIVE.load(Relaxed));
        phased.begin("start")?;
        Ok(phased)
    }

    /// Until all ranks are here; not counted.
    fn wait(&self) -> Result<(), CommError> {
        self.comm.all_reduce(Reduction::Sum, &mut [])
    }

    fn begin(&self, name: &str) -> Result<(), CommError> {
        self.wait()?;
        if self.comm.rank() == 0 {
            self.end();
            self.costs.borrow_mut().push((name.to_owned(), Cost::default()));
            self.start.borrow_mut().0 = cpu_seconds();
            PEAK.store(LIVE.load(Relaxed), Relaxed);
        }
        self.counted.phase(name);
        self.wait()
    }

    fn end(&self) {
        let (cpu, live) = *self.start.borrow();
        if let Some((_, cost)) = self.costs.borrow_mut().last_mut() {
            *cost = Cost { cpu: cpu_seconds() - cpu, peak: PEAK.load(Relaxed).saturating_sub(live) };
        }
    }

    fn measured(self) -> Result<Measured, CommError> {
        self.begin("end")?;
        Ok((self.costs.into_inner(), self.counted.traffic()))
    }
}

type Measured = (Vec<(String, Cost)>, Vec<Traffic>);

impl Communicator for Phased<'_> {
    fn rank(&self) -> usize {
        self.counted.rank()
    }

    fn size(&self) -> usize {
        self.counted.size()
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        self.counted.send(to, message)
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        self.counted.receive(from)
    }

    fn fail(&self, reason: &str) {
        self.counted.fail(reason);
    }

    fn phase(&self, name: &str) {
        self.begin(name).expect("no rank fails");
    }
}

/// N points in the unit cube.
fn cloud(n: usize, dims: usize, phases: f64, width: f64) -> Vec<f64> {
    let mut state = 7u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let centres: Vec<f64> = (0..phases as usize * dims).map(|_| uniform()).collect();
    let mut data = Vec::with_capacity(n * dims);
    for i in 0..n {
        let phase = (uniform() * phases) as usize;
        for k in 0..dims {
            let even = phases == 0.0 || i % 100 == 0;
            data.push(if even {
                uniform()
            } else {
                centres[phase * dims + k] + width * (uniform() + uniform() + uniform() - 1.5)
            });
        }
    }
    data
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<f64> = std::env::args().skip(1).map(|arg| arg.parse()).collect::<Result<_, _>>()?;
    let (&[n, ranks, dims, phases, width, eps], k) = match given.split_at_checked(6) {
        Some((first, rest)) => (<&[f64; 6]>::try_from(first)?, rest.first().map(|&k| k as usize)),
        None => return Err("six numbers are needed, or seven".into()),
    };
    let (n, ranks, dims) = (n as usize, ranks as usize, dims as usize);
    let data = cloud(n, dims, phases, width);
    let points = Points::new(&data, dims)?;
    let params = DbscanParams::new(eps, 10)?;
    let grouped = if k.is_none() { Some(dbscan(points, &params)) } else { None };
    let distances = k.map(|k| k_distances(points, k)).transpose()?;
    let found = run_on_threads(ranks, |comm| {
        let (from, to) = (n * comm.rank() / ranks, n * (comm.rank() + 1) / ranks);
        let own = Points::new(&data[from * dims..to * dims], dims).expect("finite");
        let phased = Phased::new(comm)?;
        let mut same = true;
        if let Some(all) = &grouped {
            let found = dbscan_spread(own, &params, &phased)?;
            same = found.clustering.labels == all.clustering.labels[from..to]
                && found.core == all.core[from..to];
        }
        if let (Some(all), Some(k)) = (&distances, k) {
            let found = k_distances_spread(own, k, &phased).expect("as on one rank");
            same = found == all[from..to];
        }
        Ok::<_, CommError>((same, phased.measured()?))
    })?;
    print(
        &given,
        found.iter().all(|(same, _)| *same),
        found.into_iter().map(|(_, measured)| measured).collect(),
    );
    Ok(())
}

fn print(given: &[f64], same: bool, measured: Vec<Measured>) {
    println!(
        "points,ranks,dims,phases,width,eps,k,same,phase,bytes,most_bytes,messages,most_messages,\
         most_bytes_received,cpu_seconds,peak_bytes"
    );
    let given: Vec<String> = (0..7).map(|i| given.get(i).map_or(String::new(), f64::to_string)).collect();
    let given = given.join(",");
    let traffic: Vec<&Traffic> = measured.iter().flat_map(|(_, traffic)| traffic).collect();
    for (name, Cost { cpu, peak }) in measured[0].0.iter().filter(|(name, _)| name != "end") {
        let of_phase: Vec<&Traffic> =
            traffic.iter().copied().filter(|traffic| traffic.phase == *name).collect();
        let sum = |of: fn(&Traffic) -> u64| of_phase.iter().map(|traffic| of(traffic)).sum::<u64>();
        let most = |of: fn(&Traffic) -> u64| of_phase.iter().map(|traffic| of(traffic)).max().unwrap_or(0);
        let (bytes, messages) = (sum(|t| t.bytes), sum(|t| t.messages));
        let (most_bytes, most_messages) = (most(|t| t.bytes), most(|t| t.messages));
        let received = most(|t| t.bytes_received);
        println!(
            "{given},{same},{name},{bytes},{most_bytes},{messages},{most_messages},{received},{cpu:.6},{peak}"
        );
    }
}
