//! The `.pcf` of a labelled trace.

use super::{CLUSTER_EVENT, LabelValue};
use crate::bytes::lines;
use crate::paraver::pcf::{number, word};

/// Used if the input has no `.pcf`.
pub(super) const MINIMAL: &[u8] =
    b"DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n\n\
DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n0    Idle\n1    Running\n\n\n\
STATES_COLOR\n0    {117,195,255}\n1    {0,0,255}\n\n\n";

/// `pcf` with the legend: a block for [`CLUSTER_EVENT`], in place of an
/// earlier one, and the colours of its values. Paraver has one list of colours
/// for states and for values of events, so these replace those of the states
/// with the same number.
pub(super) fn with_legend(pcf: &[u8], legend: &[LabelValue]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pcf.len() + 64 * legend.len());
    let mut coloured = false;
    let mut in_colours = false;
    let mut block: Vec<&[u8]> = Vec::new();
    for line in lines(pcf) {
        let first = word(line).0;
        let starts_section = first.iter().all(|b| b.is_ascii_uppercase() || *b == b'_') && first.len() > 3;
        if starts_section && !matches!(first, b"VALUES" | b"PRECISION") {
            end_block(&mut out, &mut block);
            in_colours = first == b"STATES_COLOR";
            if first == b"EVENT_TYPE" {
                block.push(line);
                continue;
            }
        }
        let ours = |value: i64| legend.iter().any(|l| i64::from(l.value) == value);
        if !block.is_empty() {
            block.push(line);
        } else if !(in_colours && number(first).is_some_and(ours)) {
            push_line(&mut out, line);
        }
        if in_colours && !coloured && first == b"STATES_COLOR" {
            push_colours(&mut out, legend);
            coloured = true;
        }
    }
    end_block(&mut out, &mut block);
    if !coloured {
        out.extend_from_slice(b"\nSTATES_COLOR\n");
        push_colours(&mut out, legend);
    }
    out.extend_from_slice(format!("\nEVENT_TYPE\n9    {CLUSTER_EVENT}    Cluster ID\nVALUES\n").as_bytes());
    for LabelValue { value, name, .. } in legend {
        out.extend_from_slice(format!("{value}      {name}\n").as_bytes());
    }
    out.extend_from_slice(b"\n");
    out
}

fn push_line(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(line);
    out.push(b'\n');
}

fn push_colours(out: &mut Vec<u8>, legend: &[LabelValue]) {
    for LabelValue { value, colour: [r, g, b], .. } in legend {
        out.extend_from_slice(format!("{value}    {{{r},{g},{b}}}\n").as_bytes());
    }
}

/// Writes an EVENT_TYPE block without our type, or nothing if our type was the only one.
fn end_block(out: &mut Vec<u8>, block: &mut Vec<&[u8]>) {
    let ours = |line: &[u8]| number(word(word(line).1).0) == Some(i64::from(CLUSTER_EVENT));
    let values = block.iter().position(|l| word(l).0 == b"VALUES").unwrap_or(block.len());
    let is_type = |line: &&[u8]| number(word(line).0).is_some();
    let types = block[..values].iter().filter(|l| is_type(l)).count();
    let n_ours = block[..values].iter().filter(|l| is_type(l) && ours(l)).count();
    if n_ours == 0 || n_ours < types {
        for (i, line) in block.iter().enumerate() {
            if i >= values || !ours(line) {
                push_line(out, line);
            }
        }
    }
    block.clear();
}

#[cfg(test)]
mod tests {
    use super::super::legend;
    use super::*;
    use crate::paraver::pcf::Pcf;

    #[test]
    fn twice_is_as_once() {
        let pcf = b"STATES\n0 Idle\n1 Running\n\nSTATES_COLOR\n1 {0,0,255}\n90 {1,2,3}\n\n\
            EVENT_TYPE\n9 50000001 MPI\nVALUES\n0 End\n\nGRADIENT_COLOR\n0 {9,9,9}\n";
        let legend = legend(2, |v| [v as u8, 7, 7]);
        let once = with_legend(pcf, &legend);
        let (read, problems) = Pcf::parse(&once);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(read.value(CLUSTER_EVENT, 7), Some("Cluster 2"));
        assert_eq!(read.value(CLUSTER_EVENT, 5), Some("Noise"));
        assert_eq!(read.value(50_000_001, 0), Some("End"));
        assert_eq!((read.state_colours[&1], read.state_colours[&90]), ([1, 7, 7], [1, 2, 3]));
        assert_eq!(read.state(1), "Running");
        let twice = with_legend(&once, &legend);
        assert_eq!(Pcf::parse(&twice).0.event_types, read.event_types);
        assert_eq!(String::from_utf8_lossy(&twice).matches("90000001").count(), 1);
        assert_eq!(Pcf::parse(&with_legend(MINIMAL, &legend)).1, Vec::<String>::new());
    }

    #[test]
    fn a_shared_block_loses_only_our_line() {
        let text = with_legend(
            b"EVENT_TYPE\n9 90000001 Old\n9 7 Other\nVALUES\n1 90000001 x\n",
            &legend(1, |_| [0; 3]),
        );
        let (read, _) = Pcf::parse(&text);
        assert_eq!(read.event_types[&CLUSTER_EVENT].label, "Cluster ID");
        assert_eq!(read.value(7, 1), Some("90000001 x"));
    }
}
