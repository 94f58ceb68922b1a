//! The `likewise` program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: likewise_trace::Allocator = likewise_trace::Allocator;

fn main() -> ExitCode {
    likewise_cli::run(std::env::args_os())
}
