//! `windows.csv` and `window_ranks.csv`: classes that are found anew every few
//! steps.

use likewise_analysis::ranks::Window;
use std::io::{self, Write};

/// A row per window.
pub(crate) fn csv(windows: &[Window], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "window,first_step,steps,classes,verdict,explained,sample_size,adjusted_rand,moved")?;
    for (i, w) in windows.iter().enumerate() {
        let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{}",
            i + 1,
            w.first_step,
            w.n_steps,
            w.n_classes,
            w.kind.name(),
            number(w.explained),
            w.sample_size,
            number(w.change.map(|c| c.adjusted_rand)),
            w.change.map_or_else(String::new, |c| c.moved.to_string())
        )?;
    }
    Ok(())
}

/// A row per window and rank.
pub(crate) fn ranks_csv(windows: &[Window], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "window,rank,class,sampled")?;
    for (i, window) in windows.iter().enumerate() {
        for (rank, (class, sampled)) in window.class_of.iter().zip(&window.sampled).enumerate() {
            writeln!(out, "{},{rank},{},{}", i + 1, class + 1, u8::from(*sampled))?;
        }
    }
    Ok(())
}
