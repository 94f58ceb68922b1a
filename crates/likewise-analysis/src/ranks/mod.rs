//! Ranks in classes of like behaviour, and how few of them must be traced.

mod describe;
mod difference;
mod eventless;
mod find;
mod options;
mod passing;
mod regions;
mod report;
mod run;
#[doc(hidden)]
pub mod sample;
pub mod sampled;
mod settle;
pub mod traced;
mod verdict;
mod windows;

pub use difference::Difference;
pub use options::{Classes, Method, Mode, Options, Regions, wavelet_name};
pub use regions::OTHER;
pub use report::{Class, Criterion, GroupingFacts, MeanTrace, Parameters, Part, Plan, RanksReport};
pub use run::{Classified, check, classify, is_trace};
pub use settle::NAMED;
pub use verdict::{Kind, Verdict};
pub use windows::{Change, Window};
