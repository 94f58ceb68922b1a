//! The dendrogram for programs that draw trees.

use likewise_analysis::counters::CountersReport;
use std::io::{self, Write};

/// One tree in Newick's format: the length of a branch is what the height
/// rises over it, names are in quotes.
pub(crate) fn write(report: &CountersReport, out: &mut impl Write) -> io::Result<()> {
    enum Step {
        Node(usize, f64),
        Text(&'static str),
        Length(f64),
    }
    let n = report.names.len();
    let merges = report.dendrogram.merges();
    let height = |node: usize| node.checked_sub(n).map_or(0.0, |merge| merges[merge].height);
    // Trees may be as deep as there are profiles.
    let mut steps = vec![Step::Text(";\n"), Step::Node(n + merges.len() - 1, f64::NAN)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Text(text) => out.write_all(text.as_bytes())?,
            Step::Length(length) if length.is_nan() => {}
            Step::Length(length) => write!(out, ":{length}")?,
            Step::Node(node, length) => {
                steps.push(Step::Length(length));
                match node.checked_sub(n).map(|merge| merges[merge]) {
                    None => write!(out, "'{}'", report.names[node].replace('\'', "''"))?,
                    Some(merge) => {
                        let child = |child: usize| Step::Node(child, merge.height - height(child));
                        out.write_all(b"(")?;
                        steps.extend([Step::Text(")"), child(merge.b), Step::Text(","), child(merge.a)]);
                    }
                }
            }
        }
    }
    Ok(())
}
