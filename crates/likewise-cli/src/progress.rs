//! Bars for work that takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Shows how far each stage is: on a terminal only, after a second only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    /// Silent if `quiet`, or where standard error is not a terminal.
    #[must_use]
    pub(crate) fn new(quiet: bool) -> Self {
        Self { shown: !quiet && std::io::stderr().is_terminal() }
    }

    /// A stage measured in bytes.
    #[must_use]
    pub(crate) fn bytes(self, what: &'static str) -> Bar {
        self.start(what, "{spinner} {msg} {wide_bar} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}")
    }

    /// A stage of unknown length.
    #[must_use]
    pub(crate) fn spinner(self, what: &'static str) -> Bar {
        self.start(what, "{spinner} {msg} {elapsed}")
    }

    fn start(self, what: &'static str, template: &str) -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if self.shown {
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_message(what);
            let late = bar.downgrade();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(1));
                if let Some(bar) = late.upgrade().filter(|bar| !bar.is_finished()) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        Bar(bar)
    }
}

/// A running stage; its bar goes when it is dropped.
#[derive(Debug)]
pub(crate) struct Bar(ProgressBar);

impl likewise_analysis::Bar for Bar {
    fn set(&self, done: u64, total: u64) {
        Self::set(self, done, total);
    }
}

impl Bar {
    /// `done` of `total` are done.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
