//! Streams of accelerators, which a trace has as threads.

use super::{Labelled, Reading};
use anyhow::{Result, bail};
use likewise::words::{capital, counted};
use likewise_trace::Streams;

/// That threads of a trace are streams, and what became of them.
pub(super) fn note(streams: &Streams, reading: &Reading) -> String {
    let Streams { count, name, time, least, most, with_counters, kernels, are_read } = streams;
    let all = counted(*count as u64, "thread");
    let are = match count {
        1 => format!("{all} is a stream of an accelerator ({name})"),
        _ => format!("{all} are streams of accelerators (the first is {name})"),
    };
    if *are_read {
        return format!(
            "{}, and bursts are on these. A stream is no thread that computes, and does not wait for others as threads \
             do, so what to look at first is not said.",
            capital(&are)
        );
    }
    let kernels = match kernels {
        // Other commands have another word for it, or refuse kernels.
        Some(kernels) if reading.before_options.is_empty() => {
            format!(" --burst-events {kernels} makes bursts of what runs there.")
        }
        _ => String::new(),
    };
    let (is, they) = if *count == 1 { ("is", "It is") } else { ("are", "They are") };
    let of_tasks = match (least, most) {
        // What is told alike is not worth a word.
        (Some((of_least, least)), Some((of_most, most))) if least.to_string() != most.to_string() => {
            format!(", from {least} in task {of_least} to {most} in task {of_most}")
        }
        _ => String::new(),
    };
    let busy = match time {
        Some(time) if time.0 > 0 => format!(" {they} busy for {time} in all{of_tasks}."),
        _ => String::new(),
    };
    let computing = match with_counters {
        0 => String::new(),
        n => format!(
            " Of {n} counters were read, which kernels have not: what a thread may have computed there is left out too."
        ),
    };
    format!(
        "{}, and {is} left out: what runs there is no computing of a thread.{busy} A thread may wait for kernels where it \
         does not compute.{computing}{kernels}",
        capital(&are)
    )
}

/// Whether bursts are on streams of accelerators.
pub(super) fn are_read(streams: Option<&Streams>) -> bool {
    streams.is_some_and(|streams| streams.are_read)
}

impl Labelled {
    /// Whether bursts are on streams of accelerators.
    pub(super) fn is_of_streams(&self) -> bool {
        are_read(self.streams.as_ref())
    }

    /// Refuses bursts on streams of accelerators, for what compares threads that wait for one another.
    pub(crate) fn is_of_threads(&self) -> Result<()> {
        let Some(streams) = self.streams.as_ref().filter(|streams| streams.are_read) else { return Ok(()) };
        bail!(
            "{}: bursts are on {} of accelerators ({}): these are no threads that compute, so their efficiency is not \
             told. `likewise bursts` shows what there is",
            self.input,
            counted(streams.count as u64, "stream"),
            streams.name
        )
    }
}
