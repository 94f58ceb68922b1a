//! The core from outside.

mod figure9;
mod scale;
