//! What behaves alike in a parallel run.
//!
//! The core of `likewise`: tables of bursts, the clustering methods, and the
//! measures of their quality. It opens no file and reads no environment;
//! randomness is passed in. Data flows one way:
//! [`table`] → [`cluster`] → [`quality`] and [`bursts`]. What several ranks
//! do together stands on [`comm`].

pub mod bursts;
pub mod cluster;
pub use likewise_comm as comm;
pub mod counters;
mod gap;
pub mod linear;
pub mod median;
mod pages;
mod parallel;
pub mod quality;
pub mod ranks;
mod simd;
pub mod synth;
pub mod table;
pub mod words;

pub use gap::{Gap, gap};
