//! `representatives.csv`: the bursts that stand for each phase.

use likewise::bursts::Representative;
use likewise_analysis::phases::Analysis;
use std::io::{self, Write};

/// For each phase its medoid, then a burst of each stratum of its duration;
/// `weight` says how many bursts each stands for.
pub(crate) fn write(out: &mut impl Write, analysis: &Analysis) -> io::Result<()> {
    let (table, representatives) = (&analysis.table, &analysis.representatives);
    let with_app = analysis.several_apps();
    let app = if with_app { "app," } else { "" };
    writeln!(out, "phase,kind,{app}task,thread,begin_ns,duration_ns,weight")?;
    for phase in representatives {
        let mut row = |kind: &str, Representative { burst, weight }: Representative| {
            let i = burst as usize;
            let app = if with_app { format!("{},", table.app[i]) } else { String::new() };
            writeln!(
                out,
                "{},{kind},{app}{},{},{},{},{weight}",
                phase.cluster.number(),
                table.task[i],
                table.thread[i],
                table.begin[i].saturating_add(analysis.origin).0,
                table.duration[i].0
            )
        };
        row("medoid", phase.medoid)?;
        phase.strata.iter().try_for_each(|&stratum| row("stratum", stratum))?;
    }
    Ok(())
}
