//! Counters: which belong together, and which records are good on several at
//! once.

pub mod pareto;
