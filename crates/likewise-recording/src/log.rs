//! What happened on line: which state the run was in at each marker, and which
//! ranks led.

mod code;

/// How a run was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Every event of every rank.
    #[default]
    Full,
    /// Once the run repeats, only leads: one rank or some for each call path.
    Leads,
    /// Effort of sampled ranks alone.
    Strata,
}

impl Mode {
    /// As the option of `likewise record` says it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Leads => "leads",
            Self::Strata => "strata",
        }
    }
}

/// The state of a run at a marker (Chameleon, figure 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// All ranks record.
    #[default]
    AllTracing,
    /// Leads were chosen here; all ranks record until the next marker.
    Clustering,
    /// Only leads record.
    Lead,
    /// The run has ended.
    Final,
}

impl State {
    /// As the paper calls it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AllTracing => "AT",
            Self::Clustering => "C",
            Self::Lead => "L",
            Self::Final => "F",
        }
    }
}

/// A lead, and the ranks that it stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Led {
    /// The lead.
    pub lead: u32,
    /// The ranks, with the lead itself, in order.
    pub ranks: Vec<u32>,
    /// Which call path they have: its number in this clustering, from 0.
    pub call_path: u32,
}

/// Leads that were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clustering {
    /// At which marker, from 1.
    pub marker: u64,
    /// When, in ns since the first rank began.
    pub at: u64,
    /// By lead.
    pub led: Vec<Led>,
}

/// What happened on line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// How the run was recorded.
    pub mode: Mode,
    /// What was taken for the marker, for a reader: `MPI_Pcontrol(10)`, or a
    /// call with its call path. Empty where there was none.
    pub marker: String,
    /// The markers in order, those of one state that follow each other together:
    /// state, how many, and when the first was, in ns since the first rank
    /// began.
    pub states: Vec<(State, u64, u64)>,
    /// In order.
    pub clusterings: Vec<Clustering>,
    /// What each rank wrote, or sent to be written.
    pub bytes: Vec<u64>,
    /// The most memory that the recorder had on each rank.
    pub peaks: Vec<u64>,
    /// What each rank took for markers, in ns: votes, clusterings, and what was
    /// written there; without what it waited for later ranks.
    pub costs: Vec<u64>,
    /// What is not as it should be, in sentences: no marker was found, ranks
    /// came to different numbers of markers, intervals of ranks were not
    /// recorded.
    pub notes: Vec<String>,
}

impl Log {
    /// How many markers there were in a state.
    #[must_use]
    pub fn markers(&self, state: State) -> u64 {
        self.states.iter().filter(|(known, ..)| *known == state).map(|(_, n, _)| n).sum()
    }
}
