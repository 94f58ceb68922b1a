//! What is asked of classes of ranks.

use super::find::Signature;
use crate::phases;
use likewise::cluster::medoids::capek::{self, CapekParams, ClusterCount, Criterion};
use likewise::ranks::{PlanParams, Wavelet};

use super::settle::most_classes;

/// All that decides about classes of ranks, and about who is to be traced.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the efforts of a trace are of; `None` is for phases, and right for
    /// tables, too.
    pub regions: Option<Regions>,
    /// How ranks are grouped.
    pub classes: Classes,
    /// How exactly the mean efforts are to be known.
    pub plan: PlanParams,
    /// Ranks whose efforts differ by less, as a share, are alike.
    pub alike: f64,
    /// Group anew every so many steps as well.
    pub every: Option<usize>,
    /// How a trace is analysed.
    pub phases: phases::Options,
}

/// What makes a region of bursts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Regions {
    /// Phases, as `likewise bursts` finds them; those that stand in for one
    /// another on different ranks are one region
    #[default]
    Phases,
    /// The functions that call before and after
    Functions,
    /// The lines of these calls
    Calls,
}

/// How ranks are grouped.
#[derive(Clone, Debug)]
pub struct Classes {
    /// Just so many classes, whether or not the data support them.
    pub k: Option<usize>,
    /// At most so many.
    pub k_max: usize,
    /// The method; those other than [`Method::Capek`] run on one process.
    pub method: Method,
    /// Whether CAPEK looks at all ranks.
    pub mode: Option<Mode>,
    /// Levels of the wavelet transform, or 0 to compare all efforts; as the
    /// paper has it if `None`, until 16 to 31 numbers are left of each region.
    pub levels: Option<usize>,
    /// The wavelet of the signature.
    pub wavelet: Wavelet,
    /// What samples are drawn by.
    pub seed: u64,
    /// Share the work over so many threads as if they were processes; over all
    /// cores if `None`.
    pub threads: Option<usize>,
}

/// A method of grouping ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// k-medoids on processes that share the ranks.
    Capek,
    /// k-medoids by samples.
    Clara,
    /// k-medoids as Kaufman and Rousseeuw wrote it.
    Pam,
    /// The same, faster.
    Fasterpam,
}

impl Method {
    /// As options and files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Capek => "capek",
            Self::Clara => "clara",
            Self::Pam => "pam",
            Self::Fasterpam => "fasterpam",
        }
    }
}

/// Whether CAPEK looks at all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// At all where there are few.
    Auto,
    /// At samples.
    Sampled,
    /// At all.
    Exact,
}

impl Mode {
    /// As options and files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Sampled => "sampled",
            Self::Exact => "exact",
        }
    }
}

/// A wavelet as options and files have it.
#[must_use]
pub fn wavelet_name(wavelet: Wavelet) -> &'static str {
    match wavelet {
        Wavelet::Haar => "haar",
        Wavelet::Cdf53 => "cdf53",
        Wavelet::Cdf97 => "cdf97",
    }
}

impl Classes {
    pub(super) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(rayon::current_num_threads)
    }

    pub(super) fn capek_params(&self, n_ranks: usize) -> CapekParams<Vec<f64>> {
        let mode = match self.mode {
            None | Some(Mode::Auto) => capek::Mode::Auto,
            Some(Mode::Sampled) => capek::Mode::Sampled,
            Some(Mode::Exact) => capek::Mode::Exact,
        };
        let criterion: Criterion<Vec<f64>> = Criterion::Bic(|v| v);
        CapekParams { mode, seed: self.seed, ..CapekParams::new(self.clusters(n_ranks), criterion) }
    }

    pub(super) fn clusters(&self, n_ranks: usize) -> ClusterCount {
        match self.k {
            Some(k) => ClusterCount::Fixed(k),
            None => ClusterCount::UpTo(self.k_max.min(most_classes(n_ranks))),
        }
    }

    pub(super) fn signature(&self, n_steps: usize) -> Signature {
        // As the paper has it: 16 numbers.
        let usual = || (n_steps.max(1).ilog2() as usize).saturating_sub(4);
        match self.levels.unwrap_or_else(usual) {
            0 => Signature::Whole,
            levels => Signature::Wavelet(self.wavelet, levels),
        }
    }

    pub(super) fn signature_text(&self, signature: Signature) -> String {
        match signature {
            Signature::Whole => "all efforts".to_owned(),
            Signature::Wavelet(_, levels) => {
                format!("{} signature of level {levels}", wavelet_name(self.wavelet))
            }
            Signature::Halves => "means of two halves of the steps".to_owned(),
        }
    }
}
