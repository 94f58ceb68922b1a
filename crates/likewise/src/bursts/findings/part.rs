//! What a step costs in one stretch of the run.

/// What a step costs in one stretch. A step is one label, or several that threads
/// do one instead of the other.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) stretch: u32,
    /// The step of the phase with most time among the labels.
    pub(super) key: u32,
    pub(super) labels: Vec<u32>,
    /// Its bursts, by begin.
    pub(super) bursts: Box<[u32]>,
    /// Time of all threads in each of them, in ns.
    pub(super) times: Vec<f64>,
    /// How many units the stretch is among, and the one that computes longest in it.
    pub(super) n: f64,
    pub(super) unit: u32,
    /// Its longest burst of these labels, or that of any thread where it has none.
    pub(super) longest: u32,
    /// What balance would win here, in ns.
    pub(super) gain: f64,
    /// Time of that unit in it, and the mean of all.
    pub(super) own: f64,
    pub(super) mean: f64,
    /// Time of that other unit in it that has most of it.
    pub(super) next: f64,
    /// Time of the unit in bursts of no phase.
    pub(super) own_noise: f64,
    /// How long the unit computes in the stretch, and from begin to end of that.
    pub(super) most: f64,
    pub(super) wall: f64,
    /// By how much the stretch would be shorter without the long bursts of no
    /// phase, and which these are; of the noise alone.
    pub(super) removal: f64,
    pub(super) long: Vec<u32>,
    /// Time of the unit, in ns, and its instructions, that are told as long bursts and no more count.
    pub(super) told: [f64; 2],
}

impl Part {
    /// Takes out by how much bursts of the slowest unit are too long, `more` time and instructions:
    /// the stretch is then shorter by `won`.
    pub(super) fn without(&mut self, won: f64, more: [f64; 2]) {
        self.gain = (self.gain - won + more[0] / self.n).max(0.0);
        (self.own, self.mean) = (self.own - more[0], self.mean - more[0] / self.n);
        self.told = more;
    }

    /// Time of all units in it.
    pub(super) fn time(&self) -> f64 {
        self.mean * self.n
    }

    /// Mean time of the units but the slowest.
    pub(super) fn others(&self) -> f64 {
        (self.time() - self.own).max(0.0) / (self.n - 1.0).max(1.0)
    }
}
