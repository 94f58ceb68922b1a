//! The `likewise` program.

fn main() {}
