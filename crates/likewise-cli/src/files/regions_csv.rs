//! `regions.csv`: which code each phase is.

use super::push_number;
use crate::output::csv_cell;
use likewise::bursts::PhaseRegion;
use likewise::table::{Code, PlaceId};
use likewise_analysis::phases::Analysis;
use std::io::{self, Write};

/// A row per phase (then the noise) and region of the source that it has
/// bursts in, by descending time in each. `region_before` is the last call
/// until the burst, `region_after` the first from its end on; `function` the
/// innermost instrumented function. A cell is empty where the trace does not
/// tell. Shares from 0 to 1, among the clustered bursts and the noise.
pub(crate) fn write(out: &mut impl Write, analysis: &Analysis, code: &Code) -> io::Result<()> {
    writeln!(
        out,
        "cluster,region_before,region_after,bursts,total_ns,share_of_phase_time,share_of_region_time,function"
    )?;
    let name = |place: Option<PlaceId>| place.map_or_else(String::new, |place| csv_cell(code.name(place)));
    for PhaseRegion { cluster, region, bursts, total, share_of_phase, share_of_region } in
        &analysis.figures.regions
    {
        let mut row = cluster.map_or_else(|| "noise".to_owned(), |id| id.number().to_string()).into_bytes();
        for text in [name(region.before), name(region.after), bursts.to_string(), total.0.to_string()] {
            row.push(b',');
            row.extend(text.bytes());
        }
        for share in [*share_of_phase, *share_of_region] {
            row.push(b',');
            push_number(share, &mut row);
        }
        row.push(b',');
        row.extend(name(region.function).bytes());
        row.push(b'\n');
        out.write_all(&row)?;
    }
    Ok(())
}
