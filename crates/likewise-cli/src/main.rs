//! The `likewise` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    likewise_cli::run(std::env::args_os())
}
