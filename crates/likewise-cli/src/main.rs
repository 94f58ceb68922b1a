//! The `likewise` program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: likewise_cli::Allocator = likewise_cli::Allocator;

fn main() -> ExitCode {
    likewise_cli::run(std::env::args_os())
}
