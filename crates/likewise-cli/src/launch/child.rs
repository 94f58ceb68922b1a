//! A program that runs in our place: it has our input and output, gets our
//! signals, and ends us with its exit code.

use anyhow::{Context, Result, anyhow};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// What a terminal sends to all programs in its foreground.
const TYPED: [Signal; 2] = [Signal::SIGINT, Signal::SIGQUIT];
const SENT: [Signal; 4] = [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2];

/// How a program ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// As a shell has it: of one that a signal killed, 128 and the signal.
    pub(crate) code: u8,
    /// From its start to its end.
    pub(crate) wall: Duration,
}

/// A failure of the program that was run, which has told it itself.
#[derive(Debug, thiserror::Error)]
#[error("the program ended with exit code {0}")]
pub(crate) struct Failed(pub(crate) u8);

/// Signals that wait for this process until somebody takes them. To be called
/// before there is another thread.
#[derive(Debug)]
pub(crate) struct Signals(SigSet);

impl Signals {
    /// From now on signals do not end this process.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn hold() -> Result<Self> {
        let held: SigSet = TYPED.into_iter().chain(SENT).collect();
        held.thread_block().context("signals cannot be held back")?;
        Ok(Self(held))
    }

    /// Hands every signal to that process, for as long as we live.
    fn forward_to(&self, child: Pid) {
        let held = self.0;
        std::thread::spawn(move || {
            while let Ok(signal) = held.wait() {
                // It had what was typed when we had.
                let typed = TYPED.contains(&signal) && in_foreground();
                if !typed {
                    let _ = kill(child, signal);
                }
            }
        });
    }
}

/// Whether what is typed on our terminal reaches us.
fn in_foreground() -> bool {
    std::fs::File::open("/dev/tty").is_ok_and(|tty| tcgetpgrp(tty) == Ok(getpgrp()))
}

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run(mut command: Command, signals: &Signals) -> Result<Ended> {
    let begin = Instant::now();
    let name = command.get_program().to_string_lossy().into_owned();
    // The standard library gives it no signal that is held back here.
    let mut child = command.spawn().map_err(|error| anyhow!("{name}: cannot be started: {error}"))?;
    signals.forward_to(Pid::from_raw(child.id().cast_signed()));
    let status = child.wait().with_context(|| format!("{name}: lost"))?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    Ok(Ended { code: u8::try_from(code).unwrap_or(1), wall: begin.elapsed() })
}
