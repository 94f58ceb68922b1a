//! A program that runs in our place: it has our input and output, gets our
//! signals, and ends us with its exit code.

use anyhow::{Context, Result, anyhow};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
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

fn held() -> SigSet {
    TYPED.into_iter().chain(SENT).collect()
}

/// Whether we were told to end while no signal was held back.
static TOLD: AtomicBool = AtomicBool::new(false);

/// The program that runs; 0 before. What is told to end is known to a thread of
/// its own: it may look here after [`run`] has looked at [`TOLD`], or before.
static CHILD: AtomicI32 = AtomicI32::new(0);

fn told_to_end() {
    TOLD.store(true, Ordering::SeqCst);
    let child = CHILD.load(Ordering::SeqCst);
    if child != 0 {
        let _ = kill(Pid::from_raw(child), Signal::SIGTERM);
    }
}

/// From now on signals do not end this process, but wait until [`run`] hands
/// them on. To be called before there is another thread.
pub(crate) fn hold_signals() {
    // It fails for a signal that does not exist.
    let _ = held().thread_block();
    let _ = ctrlc::set_handler(told_to_end);
}

/// Hands every signal to that process, for as long as we live.
fn forward_to(child: Pid) {
    std::thread::spawn(move || {
        while let Ok(signal) = held().wait() {
            // It had what was typed when we had.
            let typed = TYPED.contains(&signal) && in_foreground();
            if !typed {
                let _ = kill(child, signal);
            }
        }
    });
}

/// Whether what is typed on our terminal reaches us.
fn in_foreground() -> bool {
    std::fs::File::open("/dev/tty").is_ok_and(|tty| tcgetpgrp(tty) == Ok(getpgrp()))
}

/// Runs a command to its end. It gets the signals that we get.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run(mut command: Command) -> Result<Ended> {
    let begin = Instant::now();
    let name = command.get_program().to_string_lossy().into_owned();
    // What is held back here would be held back there.
    let _ = held().thread_unblock();
    let child = command.spawn();
    let _ = held().thread_block();
    let mut child = child.map_err(|error| anyhow!("{name}: cannot be started: {error}"))?;
    let id = Pid::from_raw(child.id().cast_signed());
    CHILD.store(id.as_raw(), Ordering::SeqCst);
    if TOLD.load(Ordering::SeqCst) {
        let _ = kill(id, Signal::SIGTERM);
    }
    forward_to(id);
    let status = child.wait().with_context(|| format!("{name}: lost"))?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    Ok(Ended { code: u8::try_from(code).unwrap_or(1), wall: begin.elapsed() })
}
