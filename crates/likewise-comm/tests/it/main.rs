//! Communicators, from outside.

mod checks;
mod threads;
