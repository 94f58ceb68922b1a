//! The report of counters: one self-contained HTML file, drawn here as SVG, so
//! that it prints and needs no script to be read.
//!
//! Names of columns and rows are untrusted: they appear as escaped text only.

mod by_rank;
mod factors;
mod page;
mod pareto;
mod plot;
mod regimes;
mod tables;
mod terminal;
mod tree;

pub use page::write_html;
pub use pareto::{ParetoReport, write_pareto};
pub use terminal::text;

use likewise_analysis::counters::CountersReport;

/// Clusters that have a colour.
const MAX_COLOURS: usize = crate::palette::N_COLOURS as usize;

/// The clusters of several profiles in the best partition, which are
/// coloured; a cluster's class is by its place among these.
struct Coloured {
    clusters: Vec<Vec<usize>>,
    /// Of each cluster of the tree, profiles too, the coloured one it lies in.
    of_node: Vec<Option<usize>>,
}

impl Coloured {
    fn of(report: &CountersReport) -> Self {
        let mut clusters = report.cut().map_or_else(Vec::new, |cut| cut.clusters);
        clusters.retain(|members| members.len() > 1);
        clusters.truncate(MAX_COLOURS);
        let merges = report.dendrogram.merges();
        let mut of_node = vec![None; report.names.len()];
        for (at, members) in clusters.iter().enumerate() {
            members.iter().for_each(|&profile| of_node[profile] = Some(at));
        }
        for merge in merges {
            let (a, b) = (of_node[merge.a], of_node[merge.b]);
            of_node.push(if a == b { a } else { None });
        }
        Self { clusters, of_node }
    }

    /// Class and mark of a node, by which all of its cluster lights up.
    fn mark(&self, node: usize) -> String {
        match self.of_node[node] {
            Some(at) => format!(" c{0}\" data-phase=\"c{0}", at + 1),
            None => String::new(),
        }
    }
}

/// How a rank is coloured: its own class up to 6, or an equal share of all.
#[derive(Clone, Copy)]
struct Ramp {
    most: u32,
}

/// Classes of ranks but 0.
const SHADES: u32 = 6;

impl Ramp {
    fn of<'r>(ranks: impl Iterator<Item = &'r Option<u32>>) -> Self {
        Self { most: ranks.flatten().copied().max().unwrap_or(0) }
    }

    fn shade(self, rank: u32) -> u32 {
        if self.most <= SHADES || rank == 0 { rank } else { 1 + (rank - 1) * SHADES / self.most }
    }

    /// The first and the last rank of every shade there is.
    fn shades(self) -> Vec<(u32, u32, u32)> {
        let mut shades: Vec<(u32, u32, u32)> = Vec::new();
        for rank in 0..=self.most {
            match shades.last_mut() {
                Some(last) if last.0 == self.shade(rank) => last.2 = rank,
                _ => shades.push((self.shade(rank), rank, rank)),
            }
        }
        shades
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_a_shade_and_0_its_own() {
        let ramp = Ramp::of([Some(2), None].iter());
        assert_eq!(ramp.shades(), [(0, 0, 0), (1, 1, 1), (2, 2, 2)]);
        let shades = Ramp { most: 228 }.shades();
        assert_eq!(shades.len(), 7);
        assert_eq!((shades[0], shades[1], shades[6].2), ((0, 0, 0), (1, 1, 38), 228));
    }
}
