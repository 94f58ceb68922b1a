//! The numbers of the map of ranks, for the page's script.

use super::MAX_DRAWN;
use crate::encode::{Block, block, quantise};
use crate::palette::{colours, hex};
use likewise_analysis::ranks::RanksReport;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Columns of one number per rank, and what they mean.
pub(super) struct Map {
    meta: String,
    columns: Vec<Block>,
}

impl Map {
    /// Class, dissimilarity (rounded) and whether to be traced, of each rank.
    pub(super) fn of(report: &RanksReport) -> io::Result<Self> {
        let class: Vec<u64> = report.class_of.iter().map(|&c| u64::from(c)).collect();
        let (scale, distance) = quantise(report.dissimilarity.iter().copied());
        let sampled: Vec<u64> = report.sampled.iter().map(|&s| u64::from(s)).collect();
        let distance = distance.into_iter().map(u64::from).collect();
        let columns = [class, distance, sampled]
            .iter()
            .map(|c| block(c.iter().copied()))
            .collect::<io::Result<Vec<_>>>()?;
        let column = |id: usize| json!({ "id": id, "width": columns[id].width });
        let class = |(c, class): (usize, &likewise_analysis::ranks::Class)| -> Value {
            let (light, dark) = colours(c as u32 + 1);
            json!({ "medoid": class.medoid, "ranks": class.ranks, "light": hex(light), "dark": hex(dark) })
        };
        let meta = json!({
            "ranks": report.n_ranks(),
            "drawn": MAX_DRAWN,
            "classes": report.classes.iter().enumerate().map(class).collect::<Vec<_>>(),
            "class": column(0),
            "distance": { "id": 1, "width": columns[1].width, "scale": scale },
            "sampled": column(2),
        });
        Ok(Self { meta: meta.to_string().replace('<', "\\u003c"), columns })
    }

    /// The columns, then what they mean.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (i, block) in self.columns.iter().enumerate() {
            writeln!(out, "<script type=\"text/plain\" id=\"column-{i}\">{}</script>", block.text)?;
        }
        writeln!(out, "<script type=\"application/json\" id=\"meta\">{}</script>", self.meta)
    }
}
