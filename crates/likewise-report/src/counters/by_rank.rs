//! A response against the rank of its record, a picture for each group: the
//! paper's figures 5 and 6.

use super::page::{scroll, section};
use super::tables::{MAX_LINES, more};
use crate::escape;
use crate::svg::{Axis, Frame, text};
use crate::table::{open, row};
use likewise::words::short;
use likewise_analysis::counters::Records;
use likewise_analysis::counters::by_rank::ByRank;
use std::fmt::Write;

/// Pictures of a response; the groups with the most rows have one.
const MAX_PICTURES: usize = 12;
/// Points of a picture, at most.
const MAX_POINTS: usize = 3_000;
const WIDTH: f64 = 372.0;
const HEIGHT: f64 = 262.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 362.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 222.0;

/// A section per response.
pub(super) fn sections(records: &Records) -> Vec<String> {
    let one = |(at, found): (usize, &ByRank)| {
        let id = format!("by-rank-{at}");
        let title = format!("{} against Goldberg's rank", escape(&found.response));
        let body =
            format!("<div class=\"panels by-ranks\">{}</div>{}", pictures(found), scroll(&id, &table(found)));
        section(&id, &title, &body, &caption(records, found))
    };
    records.by_rank.iter().enumerate().map(one).collect()
}

fn caption(records: &Records, found: &ByRank) -> String {
    let mut caption = format!(
        "Ranks by {}; 0 is dominated by none. The line is the median of each rank; all pictures have the same axes. ρ \
         is Spearman's rank correlation: 1 where {} always rises with the rank.",
        records.ranked_by(),
        found.response
    );
    if shown(found).len() < found.found.len() {
        let _ = write!(caption, " The {MAX_PICTURES} groups with the most rows have a picture.");
    }
    if found.points.len() > MAX_POINTS {
        caption.push_str(
            " Of many points a share is drawn, evenly by rank, with the least and the greatest of each rank.",
        );
    }
    caption
}

/// The groups that have a picture.
fn shown(found: &ByRank) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..found.found.len()).filter(|&group| found.found[group].n > 0).collect();
    groups.sort_by_key(|&group| std::cmp::Reverse(found.found[group].n));
    groups.truncate(MAX_PICTURES);
    groups.sort_unstable();
    groups
}

fn pictures(found: &ByRank) -> String {
    let values: Vec<f64> = found.points.iter().map(|&(_, value, _)| value).collect();
    let most = found.points.iter().map(|&(rank, ..)| rank).max().unwrap_or(0);
    let x = Axis::linear(0.0, f64::from(most), LEFT + 8.0, RIGHT - 8.0);
    let y = Axis::spread(&values, BOTTOM - 8.0, TOP + 8.0);
    shown(found).into_iter().map(|group| picture(found, group, x, y)).collect()
}

fn picture(found: &ByRank, group: usize, x: Axis, y: Axis) -> String {
    let title = escape(&found.title(group));
    let mut svg = format!(
        "<svg class=\"by-rank\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}, {title}\">",
        escape(&found.response)
    );
    let frame = Frame { left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM };
    let whole = |value: &f64| value.fract() == 0.0;
    let ranks = x.ticks(5).into_iter().filter(whole).map(|value| (x.at(value), short(value)));
    svg.push_str(&frame.up(ranks));
    svg.push_str(&frame.across(y.marks(4)));
    let one = &found.found[group];
    let rho = one
        .spearman
        .map_or_else(String::new, |rho| format!(", ρ {}", short((rho * 1000.0).round() / 1000.0)));
    let head = format!("{}: {} rows{rho}", found.title(group), one.n);
    svg.push_str(&text(LEFT, 13.0, "class=\"axis\"", &head));
    let log = if y.is_log() { ", logarithmic" } else { "" };
    let below = format!("Goldberg's rank; up: {}{log}", found.response);
    let middle = f64::midpoint(LEFT, RIGHT);
    svg.push_str(&text(
        middle,
        HEIGHT - 6.0,
        "class=\"axis\" text-anchor=\"middle\"",
        &crate::svg::clipped(&below, 52),
    ));
    for (rank, value) in drawn(found, group) {
        let (cx, cy) = (x.at(f64::from(rank)), y.at(value));
        let _ = write!(svg, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"2\"/>");
    }
    let medians =
        one.ranks.iter().map(|at| format!("{:.1} {:.1}", x.at(f64::from(at.rank)), y.at(at.median)));
    let _ = write!(svg, "<path class=\"median\" d=\"M{}\"/>", medians.collect::<Vec<_>>().join("L"));
    svg.push_str("</svg>");
    svg
}

/// The points of a group by rank; of many, every so-many-th of each rank, its
/// least and its greatest.
fn drawn(found: &ByRank, group: usize) -> Vec<(u32, f64)> {
    let mut points: Vec<(u32, f64)> =
        found.points.iter().filter(|point| point.2 == group).map(|&(rank, value, _)| (rank, value)).collect();
    points.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let every = points.len().div_ceil(MAX_POINTS).max(1);
    let of_rank = |same: &[(u32, f64)]| -> Vec<(u32, f64)> {
        let keep = |at: usize| at.is_multiple_of(every) || at + 1 == same.len();
        same.iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, point)| *point).collect()
    };
    points.chunk_by(|a, b| a.0 == b.0).flat_map(of_rank).collect()
}

fn table(found: &ByRank) -> String {
    let mut out = open(&["group", "rows", "ρ", "ranks", "least", "median of rank 0", "greatest", "at rank"]);
    for (group, one) in found.found.iter().enumerate().take(MAX_LINES) {
        let greatest = one.ranks.iter().max_by(|a, b| a.max.total_cmp(&b.max).then(b.rank.cmp(&a.rank)));
        let least = one.ranks.iter().map(|at| at.min).min_by(f64::total_cmp);
        let best = one.ranks.iter().find(|at| at.rank == 0);
        let or_none = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), short);
        let cells = [
            one.n.to_string(),
            or_none(one.spearman),
            one.ranks.len().to_string(),
            or_none(least),
            or_none(best.map(|at| at.median)),
            or_none(greatest.map(|at| at.max)),
            or_none(greatest.map(|at| f64::from(at.rank))),
        ];
        out.push_str(&row(&escape(&found.title(group)), "", &cells));
    }
    out.push_str("</table>");
    more(found.found.len(), "groups", "response_by_rank.csv", &mut out);
    out
}
