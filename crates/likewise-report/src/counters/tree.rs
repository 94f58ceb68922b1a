//! The dendrogram, lying on its side: profiles on the left, heights to the
//! right, strong clusters outlined, the rank of its partition at every node.

use super::{Coloured, Ramp};
use crate::escape;
use crate::svg::{Axis, clipped, text, tick};
use likewise::words::{counted, short};
use likewise_analysis::counters::{CountersReport, Strong};
use std::fmt::Write;

const WIDTH: f64 = 1040.0;
const RIGHT: f64 = 1008.0;
const TOP: f64 = 30.0;
/// Profiles or clusters that are drawn, at most.
const MAX_TIPS: usize = 240;
/// Characters of a name.
const MAX_NAME: usize = 34;
/// Outlines inside one another; of more only the nodes are marked.
const MAX_OUTLINES: usize = 6;

/// Where everything is.
struct Layout<'r> {
    report: &'r CountersReport,
    strong: &'r [Strong],
    /// What is drawn as an end: profiles, or clusters where these are too many.
    tips: Vec<usize>,
    /// Merges that are inside of tips.
    hidden: usize,
    /// Of each node that is drawn.
    y: Vec<f64>,
    x: Axis,
    row: f64,
    left: f64,
}

/// The whole picture.
pub(super) fn dendrogram(report: &CountersReport, strong: &[Strong], coloured: &Coloured) -> String {
    let layout = Layout::of(report, strong);
    let bottom = TOP + layout.tips.len() as f64 * layout.row;
    let mut svg = format!(
        "<svg class=\"tree\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Dendrogram of {}\">",
        bottom + 40.0,
        escape(&counted(report.names.len() as u64, report.kind()))
    );
    layout.axis(bottom, &mut svg);
    layout.outlines(&mut svg);
    layout.branches(coloured, &mut svg);
    layout.names(coloured, &mut svg);
    layout.nodes(coloured, &mut svg);
    svg.push_str("</svg>");
    svg
}

/// What is said below it.
pub(super) fn caption(report: &CountersReport) -> String {
    let n = report.names.len();
    let top = if n > MAX_TIPS {
        format!(
            " Only the top of the tree is drawn, {MAX_TIPS} clusters of {} (names end in how many more a cluster \
             holds); dendrogram.json and dendrogram.nwk have all of it.",
            counted(n as u64, report.kind())
        )
    } else {
        String::new()
    };
    let ranks = if report.partitions.is_empty() {
        String::new()
    } else {
        format!(
            " The number at a node is Goldberg's rank of the partition that its forming gave, by {}; 0 is dominated \
             by none, and makes the cluster a strong one (large dot and outline). Only the partition of one cluster has \
             no rank where its separation is asked for.",
            report.objectives()
        )
    };
    let colours = if report.partitions.is_empty() {
        ""
    } else {
        " Colours are the clusters of the greatest silhouette."
    };
    format!("Height: {}.{colours}{ranks}{top}", report.height())
}

impl<'r> Layout<'r> {
    fn of(report: &'r CountersReport, strong: &'r [Strong]) -> Self {
        let n = report.names.len();
        let merges = report.dendrogram.merges();
        let hidden = n.saturating_sub(MAX_TIPS);
        let mut is_tip: Vec<bool> = (0..n + merges.len()).map(|node| node < n + hidden).collect();
        for merge in &merges[..hidden] {
            (is_tip[merge.a], is_tip[merge.b]) = (false, false);
        }
        let mut tips: Vec<usize> = (0..n + hidden).filter(|&node| is_tip[node]).collect();
        tips.sort_by_key(|&tip| report.order.start[tip]);
        let row = match tips.len() {
            0..=60 => 21.0,
            61..=120 => 17.0,
            _ => 13.5,
        };
        let mut y = vec![f64::NAN; n + merges.len()];
        tips.iter().enumerate().for_each(|(at, &tip)| y[tip] = TOP + (at as f64 + 0.5) * row);
        for (at, merge) in merges.iter().enumerate().skip(hidden) {
            y[n + at] = f64::midpoint(y[merge.a], y[merge.b]);
        }
        let mut layout =
            Self { report, strong, tips, hidden, y, x: Axis::linear(0.0, 1.0, 0.0, 1.0), row, left: 0.0 };
        let widest = layout.tips.iter().map(|&tip| layout.label(tip).chars().count()).max().unwrap_or(0);
        layout.left = 30.0 + widest as f64 * layout.letter();
        let heights: Vec<f64> = merges.iter().map(|merge| merge.height).collect();
        layout.x = Axis::heights(&heights, layout.left, RIGHT);
        layout
    }

    /// The width of a letter of a name.
    fn letter(&self) -> f64 {
        if self.row > 14.0 { 8.0 } else { 6.8 }
    }

    fn is_drawn(&self, node: usize) -> bool {
        node >= self.report.names.len() + self.hidden
    }

    fn height(&self, node: usize) -> f64 {
        let merge = node.checked_sub(self.report.names.len());
        merge.map_or(0.0, |merge| self.report.dendrogram.merges()[merge].height)
    }

    /// A profile's name, or that of a cluster's first.
    fn label(&self, tip: usize) -> String {
        let members = self.report.members(tip);
        let first = &self.report.names[members[0]];
        match members.len() - 1 {
            0 => clipped(first, MAX_NAME),
            more => format!("{} +{more}", clipped(first, MAX_NAME - 6)),
        }
    }

    fn axis(&self, bottom: f64, svg: &mut String) {
        for value in self.x.ticks(8) {
            let x = self.x.at(value);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>");
            for y in [TOP - 10.0, bottom + 16.0] {
                svg.push_str(&tick(x, y, "middle", &short(value)));
            }
        }
        let middle = f64::midpoint(self.left, RIGHT);
        let log = if self.x.is_log() { " (logarithmic; 0 is where the names end)" } else { "" };
        let name = format!("{}{log}", self.report.height());
        svg.push_str(&text(middle, bottom + 33.0, "class=\"axis\" text-anchor=\"middle\"", &name));
    }

    fn outlines(&self, svg: &mut String) {
        for cluster in self.strong {
            if cluster.depth >= MAX_OUTLINES || !self.is_drawn(cluster.node) {
                continue;
            }
            let place = |tip: &usize| self.report.order.start[*tip];
            let start = place(&cluster.node);
            let before = self.tips.partition_point(|tip| place(tip) < start);
            let rows = self.tips.partition_point(|tip| place(tip) < start + cluster.size) - before;
            // No line through a name.
            let inset = 1.0 + (cluster.depth as f64 * 0.8).min((self.row / 2.0 - 7.5).max(0.0));
            let (x, right) = (3.0 + 3.0 * cluster.depth as f64, self.x.at(cluster.height) + 9.0);
            let _ = write!(
                svg,
                "<rect class=\"outline\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"5\"/>",
                TOP + before as f64 * self.row + inset,
                right - x,
                rows as f64 * self.row - 2.0 * inset
            );
        }
    }

    fn branches(&self, coloured: &Coloured, svg: &mut String) {
        let n = self.report.names.len();
        for (at, merge) in self.report.dendrogram.merges().iter().enumerate().skip(self.hidden) {
            let x = self.x.at(merge.height);
            let (a, b) = (merge.a, merge.b);
            let _ = write!(
                svg,
                "<path class=\"branch{}\" d=\"M{:.1} {:.1}H{x:.1}V{:.1}H{:.1}\"/>",
                coloured.mark(n + at),
                self.x.at(self.height(a)),
                self.y[a],
                self.y[b],
                self.x.at(self.height(b))
            );
        }
        // A cluster that is drawn as an end: how high it reaches.
        for &tip in self.tips.iter().filter(|tip| **tip >= n) {
            let (x, y) = (self.x.at(self.height(tip)), self.y[tip]);
            let half = self.row / 2.0 - 2.0;
            let _ = write!(
                svg,
                "<path class=\"heap{}\" d=\"M{:.1} {:.1}L{x:.1} {y:.1}L{:.1} {:.1}Z\"/>",
                coloured.mark(tip),
                self.left,
                y - half,
                self.left,
                y + half
            );
        }
    }

    fn names(&self, coloured: &Coloured, svg: &mut String) {
        let small = if self.row > 14.0 { "" } else { " small" };
        for &tip in &self.tips {
            let _ = write!(
                svg,
                "<g class=\"leaf{small}{}\"><title>{}</title>",
                coloured.mark(tip),
                escape(&self.report.listed(self.report.members(tip), 12))
            );
            svg.push_str(&text(self.left - 8.0, self.y[tip] + 4.0, "text-anchor=\"end\"", &self.label(tip)));
            svg.push_str("</g>");
        }
    }

    /// A dot and the rank at every node, and what it is.
    fn nodes(&self, coloured: &Coloured, svg: &mut String) {
        let n = self.report.names.len();
        let ramp = Ramp::of(self.report.partitions.iter().map(|partition| &partition.goldberg));
        for (at, merge) in self.report.dendrogram.merges().iter().enumerate().skip(self.hidden) {
            let (node, x, y) = (n + at, self.x.at(merge.height), self.y[n + at]);
            let rank = self.report.partition_of(node).and_then(|partition| partition.goldberg);
            let told = self.told(node);
            let (radius, shade) = match rank {
                Some(0) => (4.5, 0),
                Some(rank) => (3.0, ramp.shade(rank)),
                None => (2.5, super::SHADES),
            };
            let _ = write!(
                svg,
                "<g class=\"node{}\"><title>{}</title><circle class=\"r{shade}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>",
                coloured.mark(node),
                escape(&told)
            );
            if let Some(rank) = rank {
                svg.push_str(&text(x + 6.0, y - 4.0, "class=\"rank\"", &rank.to_string()));
            }
            svg.push_str("</g>");
        }
    }

    fn told(&self, node: usize) -> String {
        let members = self.report.listed(self.report.members(node), 12);
        let mut told = format!("{members}\nheight {}", short(self.height(node)));
        if let Some(partition) = self.report.partition_of(node) {
            let measures = &partition.measures;
            let _ = write!(told, "; then there are {}", counted(measures.n_clusters as u64, "cluster"));
            if let Some(separation) = measures.separation {
                let _ = write!(told, ", S₁ {}", short(separation));
            }
            let _ =
                write!(told, ", H₁ {}, R {}", short(measures.mean_diameter), short(measures.diameter_ratio));
            if let (Some(goldberg), Some(fonseca)) = (partition.goldberg, partition.fonseca_fleming) {
                let _ = write!(told, "; rank {goldberg} (Goldberg), {fonseca} (Fonseca and Fleming)");
            }
        }
        told
    }
}
