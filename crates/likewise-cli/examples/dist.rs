//! Shell completions and man pages: `cargo xtask dist DIR`.

use anyhow::{Context, Result};
use clap_complete::Shell;
use std::path::PathBuf;

fn main() -> Result<()> {
    let dir = PathBuf::from(std::env::args_os().nth(1).context("give the folder to write to")?);
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let mut command = likewise_cli::command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
        clap_complete::generate_to(shell, &mut command, "likewise", &dir)?;
    }
    clap_mangen::generate_to(likewise_cli::command(), &dir)?;
    println!("{} files in {}", std::fs::read_dir(&dir)?.count(), dir.display());
    Ok(())
}
