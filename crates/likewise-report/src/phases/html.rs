//! The report as one HTML file.
//!
//! Its main part is `assets/page.html` (see [`shell`]); one JSON object and the
//! columns of bursts follow, which the scripts read.

use std::io::{self, Write};
use std::sync::LazyLock;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::regions;
use super::sections::{self, LevelCodes};
use super::select::{self, MAX_BURSTS, Selection};
use super::{ReportData, label_name};
use crate::encode::{self, Block, Scale};
use crate::palette;
use crate::scripts::{self, Module, SHARED};
use crate::shell::{self, Page};
use likewise::bursts::BurstLabel;
use likewise::words::grouped_digits;

const PAGE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");
/// Those of this page; `main.js` needs all of them.
const MODULES: &[Module] = &[
    ("alignment.js", include_str!("assets/alignment.js")),
    ("bars.js", include_str!("assets/bars.js")),
    ("choices.js", include_str!("assets/choices.js")),
    ("cloud.js", include_str!("assets/cloud.js")),
    ("curve.js", include_str!("assets/curve.js")),
    ("data.js", include_str!("assets/data.js")),
    ("findings.js", include_str!("assets/findings.js")),
    ("frames.js", include_str!("assets/frames.js")),
    ("functions.js", include_str!("assets/functions.js")),
    ("gestures.js", include_str!("assets/gestures.js")),
    ("grid.js", include_str!("assets/grid.js")),
    ("grouping.js", include_str!("assets/grouping.js")),
    ("legend.js", include_str!("assets/legend.js")),
    ("lines.js", include_str!("assets/lines.js")),
    ("look.js", include_str!("assets/look.js")),
    ("main.js", include_str!("assets/main.js")),
    ("map.js", include_str!("assets/map.js")),
    ("pointed.js", include_str!("assets/pointed.js")),
    ("scatter.js", include_str!("assets/scatter.js")),
    ("selection.js", include_str!("assets/selection.js")),
    ("shares.js", include_str!("assets/shares.js")),
    ("stack.js", include_str!("assets/stack.js")),
    ("surface.js", include_str!("assets/surface.js")),
    ("table.js", include_str!("assets/table.js")),
    ("timeline.js", include_str!("assets/timeline.js")),
    ("tooltip.js", include_str!("assets/tooltip.js")),
    ("tree.js", include_str!("assets/tree.js")),
    ("treelayout.js", include_str!("assets/treelayout.js")),
    ("view.js", include_str!("assets/view.js")),
    ("words.js", include_str!("assets/words.js")),
];

/// All scripts of the page, as one.
fn scripts() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| scripts::bundle(&[MODULES, &SHARED[..]].concat(), &["main.js"]));
    &TEXT
}

/// What the scripts of a page read: all of it that takes long to make.
///
/// Above [`MAX_BURSTS`] bursts the pictures keep a selection, stratified by
/// phase, and above a few million values only some of the metrics, those of
/// the clustering first; the report then says so.
pub struct Content {
    meta: Value,
    blocks: Vec<Block>,
}

impl Content {
    /// Of a report.
    ///
    /// # Errors
    /// `InvalidInput` when the columns of `data` do not agree.
    ///
    /// # Complexity
    /// O(n m) for n bursts and m metrics, plus sorting where the bursts are not
    /// in order of row and begin.
    pub fn of(data: &ReportData<'_>) -> io::Result<Self> {
        Self::limited(data, MAX_BURSTS)
    }

    fn limited(data: &ReportData<'_>, limit: usize) -> io::Result<Self> {
        data.check()?;
        let labels = data.labels();
        let selection = select::select(data, &labels, limit);
        // The second takes one thread, at times.
        let main = || data.tree.as_ref().map(|view| sections::main_labels(data, view, &labels));
        let (columns, main) = rayon::join(|| columns(data, &labels, &selection.bursts), main);
        let columns = columns?;
        let meta = meta(data, &labels, &selection, &columns, &main.unwrap_or_default());
        Ok(Self { meta, blocks: columns.all.into_iter().map(|column| column.block).collect() })
    }
}

/// Writes the report as one self-contained HTML file. `content` is of the same
/// report; the times of the analysis are those of `data`.
///
/// # Errors
/// Those of `out`.
pub fn write_html(data: &ReportData<'_>, content: Content, out: &mut impl Write) -> io::Result<()> {
    let Content { mut meta, blocks } = content;
    meta["timings"] = json!(data.timings);
    // A name with `</script>` or `<!--` in it must not end the element.
    let meta = serde_json::to_string(&meta)?.replace('<', "\\u003c");

    let inputs = std::slice::from_ref(&data.title);
    let page = Page {
        brand: "likewise",
        version: &data.version,
        kind: "phases",
        inputs,
        subtitle: &data.subtitle,
        style: STYLE,
        // The script makes it, with a button for each phase.
        first: "",
        body: PAGE,
        notes: &[],
        script: scripts(),
    };
    shell::write(&page, out, |slot, out| match slot {
        "regions" => out.write_all(regions::section(data).as_bytes()),
        "data" => write_data(&meta, &blocks, out),
        _ => unreachable!("the page has no other slot"),
    })
}

fn write_data(meta: &str, blocks: &[Block], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "<script type=\"application/json\" id=\"meta\">{meta}</script>")?;
    for (i, block) in blocks.iter().enumerate() {
        writeln!(out, "<script type=\"text/plain\" id=\"column-{i}\">{}</script>", block.text)?;
    }
    Ok(())
}

/// Makes a column.
pub(super) type Make<'a> = Box<dyn Fn() -> io::Result<Column> + Send + Sync + 'a>;

/// A column of integers as it is written, most of them one per kept burst.
pub(super) struct Column {
    /// Index into the metrics of the report, for a metric.
    metric: Option<usize>,
    scale: Option<Scale>,
    pub(super) block: Block,
}

impl Column {
    /// Integers that stand for themselves, as they are asked for.
    pub(super) fn plain(codes: impl Iterator<Item = u64> + Clone) -> io::Result<Self> {
        Ok(Self { metric: None, scale: None, block: encode::block(codes)? })
    }

    /// Codes of real numbers, perhaps of a metric.
    fn quantised(metric: Option<usize>, values: impl Iterator<Item = f64> + Clone) -> io::Result<Self> {
        let (scale, codes) = encode::quantise(values);
        Ok(Self { metric, scale: Some(scale), block: encode::block(codes.into_iter().map(u64::from))? })
    }
}

/// The columns of a page, and where those of a part start.
struct Columns {
    all: Vec<Column>,
    alignment: usize,
    tree: usize,
    functions: usize,
    levels: Vec<LevelCodes>,
}

/// Those of bursts, then those of the alignment, then the levels of the tree,
/// then the functions.
fn columns(data: &ReportData<'_>, labels: &[BurstLabel], bursts: &[u32]) -> io::Result<Columns> {
    let made = |columns: Vec<Make<'_>>| -> io::Result<Vec<Column>> {
        columns.into_par_iter().map(|make| make()).collect()
    };
    let mut all = made(burst_columns(data, labels, bursts))?;
    let alignment = all.len();
    if let Some(view) = &data.alignment {
        all.extend(made(sections::alignment_columns(view, labels))?);
    }
    let tree = all.len();
    let mut levels = Vec::new();
    if let Some(view) = &data.tree {
        let (columns, codes): (Vec<_>, _) = sections::tree_columns(view, bursts)?.into_iter().unzip();
        all.extend(columns);
        levels = codes;
    }
    let functions = all.len();
    if let Some(view) = &data.functions {
        all.push(view.column(bursts)?);
    }
    Ok(Columns { all, alignment, tree, functions, levels })
}

/// Bursts per row, label, begin, duration, then the metrics.
fn burst_columns<'a>(data: &'a ReportData<'_>, labels: &[BurstLabel], bursts: &'a [u32]) -> Vec<Make<'a>> {
    let per_row = || {
        let mut per_row = vec![0_u64; data.rows.len()];
        bursts.iter().for_each(|&i| per_row[data.burst_row[i as usize] as usize] += 1);
        Column::plain(per_row.into_iter())
    };
    let mut sorted: Vec<(BurstLabel, u32)> = labels.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let label = move || {
        let index = |&i: &u32| {
            let at = sorted.binary_search_by_key(&data.label[i as usize], |&(label, _)| label);
            at.map_or(0, |at| sorted[at].1)
        };
        // It is asked for twice or more, and found by a search.
        let all: Vec<u32> = bursts.iter().map(index).collect();
        Column::plain(all.into_iter().map(u64::from))
    };
    let steps = || {
        let tick = encode::tick(bursts.len(), data.rows.len(), data.length());
        let place = |&i: &u32| (data.burst_row[i as usize], data.begin[i as usize].0 / tick);
        let step = |(at, i): (usize, &u32)| {
            let (row, begin) = place(i);
            let before = at.checked_sub(1).map(|before| place(&bursts[before]));
            before.filter(|before| before.0 == row).map_or(begin, |before| begin - before.1)
        };
        Column::plain(bursts.iter().enumerate().map(step))
    };
    let duration = || {
        let durations = bursts.iter().map(|&i| data.duration[i as usize].0);
        if encode::exact_durations(bursts.len()) {
            return Column::plain(durations);
        }
        Column::quantised(None, durations.map(|ns| ns as f64))
    };
    let mut columns: Vec<Make<'a>> =
        vec![Box::new(per_row), Box::new(label), Box::new(steps), Box::new(duration)];
    columns.extend(kept_metrics(data, bursts.len()).into_iter().map(|m| -> Make<'a> {
        Box::new(move || {
            let value = |&i: &u32| data.metrics[m].values.map_or(f64::NAN, |values| values.get(i as usize));
            Column::quantised(Some(m), bursts.iter().map(value))
        })
    }));
    columns
}

/// Metrics that are stored, those of the clustering first.
fn kept_metrics(data: &ReportData<'_>, n_bursts: usize) -> Vec<usize> {
    let mut metrics: Vec<usize> =
        (0..data.metrics.len()).filter(|&m| !data.metrics[m].is_duration()).collect();
    metrics.sort_by_key(|&m| !data.metrics[m].clustering);
    metrics.truncate(select::metric_limit(n_bursts));
    metrics
}

/// How the page reads a column.
#[derive(Serialize)]
pub(super) struct MetaColumn<'a> {
    id: usize,
    width: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<&'a Scale>,
}

/// `main` has the label of each node of the tree.
fn meta(
    data: &ReportData<'_>,
    labels: &[BurstLabel],
    selection: &Selection,
    columns: &Columns,
    main: &[Option<usize>],
) -> Value {
    let column = |i: usize| {
        let Column { scale, block, .. } = &columns.all[i];
        MetaColumn { id: i, width: block.width, scale: scale.as_ref() }
    };
    let metrics: Vec<Value> = columns
        .all
        .iter()
        .enumerate()
        .filter_map(|(i, c)| c.metric.map(|m| (i, &data.metrics[m])))
        .map(|(i, m)| {
            json!({"name": m.name, "unit": m.unit, "log": m.log, "clustering": m.clustering, "column": column(i)})
        })
        .collect();
    let duration = data.metrics.iter().find(|m| m.is_duration());
    let curve = data.curve.as_ref().map(|c| {
        json!({"k": c.k, "ranks": c.ranks, "values": c.values, "eps": c.eps,
               "suggested": c.suggested, "rule": c.rule})
    });
    let alignment = data.alignment.as_ref().map(|view| {
        let columns: Vec<_> = (columns.alignment..columns.tree).map(column).collect();
        sections::alignment_meta(view, &columns)
    });
    let tree = data.tree.as_ref().map(|view| {
        let read: Vec<_> = (columns.tree..columns.functions).map(column).collect();
        sections::tree_meta(data, view, main, &columns.levels, &read)
    });
    json!({
        "facts": data.facts,
        "verdict": data.verdict,
        "findings": findings(data, labels),
        "notes": notes(data, selection.bursts.len(), metrics.len()),
        "begin": data.span().start,
        "end": data.span().end,
        "rows": data.rows,
        "bursts": selection.bursts.len(),
        "tick": encode::tick(selection.bursts.len(), data.rows.len(), data.length()),
        "labels": labels.iter().zip(&selection.weights).map(|(&l, &w)| label(l, w)).collect::<Vec<_>>(),
        "columns": {"per_row": column(0), "label": column(1), "begin": column(2), "duration": column(3)},
        "duration": {"log": duration.is_none_or(|d| d.log), "clustering": duration.is_some_and(|d| d.clustering)},
        "metrics": metrics,
        "phases": phases(data, labels),
        "phase_columns": data.phase_columns,
        "curve": curve,
        "functions": data.functions.as_ref().map(|view| view.meta(&column(columns.functions))),
        "alignment": alignment,
        "tree": tree,
        "parameters": data.parameters,
        "timings": data.timings,
    })
}

fn label(label: BurstLabel, weight: f64) -> Value {
    let (light, dark) = palette::colours(label);
    let kind = match label {
        BurstLabel::Noise => "noise",
        BurstLabel::Phase(_) => "phase",
        _ => "filtered",
    };
    json!({"name": label_name(label), "kind": kind, "light": palette::hex(light), "dark": palette::hex(dark),
           "folded": label.phase().is_some_and(|id| id.number() > palette::N_COLOURS), "weight": weight})
}

fn phases(data: &ReportData<'_>, labels: &[BurstLabel]) -> Vec<Value> {
    let n_shown = super::n_shown(&data.phases);
    let row = |(i, phase): (usize, &super::PhaseRow)| {
        json!({"label": labels.iter().position(|&l| l == phase.label), "instances": phase.instances,
               "small": phase.label.phase().is_some() && i >= n_shown,
               "total": phase.total.0, "mean": phase.mean.0, "share": phase.share,
               "imbalance": phase.imbalance, "some_tasks": phase.some_tasks, "spmd": phase.spmd, "silhouette": phase.silhouette,
               "counters": phase.counters})
    };
    data.phases.iter().enumerate().map(row).collect()
}

/// What to look at first, and the places of its phases among the labels.
fn findings(data: &ReportData<'_>, labels: &[BurstLabel]) -> Vec<Value> {
    let row = |row: &super::FindingRow| {
        let places = row.labels.iter().filter_map(|label| labels.iter().position(|l| l == label));
        json!({"text": row.text, "labels": places.collect::<Vec<_>>()})
    };
    data.findings.iter().map(row).collect()
}

/// The caller's notes, and what this file leaves out.
fn notes(data: &ReportData<'_>, kept: usize, n_metrics: usize) -> Vec<String> {
    let mut notes = data.notes.clone();
    let n = data.begin.len();
    if kept < n {
        notes.push(format!(
            "The pictures show {} of {} bursts: every phase keeps its share or 1,000 bursts, evenly spread over \
             tasks and time. The table counts them all.",
            grouped_digits(kept as u64),
            grouped_digits(n as u64)
        ));
    }
    if !encode::exact_durations(kept) {
        notes.push("In the pictures, times are rounded to keep this file small.".to_owned());
    }
    let all = data.metrics.iter().filter(|m| !m.is_duration()).count();
    if n_metrics < all {
        notes.push(format!(
            "The pictures offer {n_metrics} of {all} metrics beside the duration, to keep this file small; those of \
             the clustering come first."
        ));
    }
    notes
}

#[cfg(test)]
mod tests {

    use likewise::table::{MetricValues, Nanos, Rows, Runs, Values};

    use super::super::{AlignedRow, AlignmentView, ReportMetric, TreeLevel, TreeNode, TreeView};
    use super::*;
    use likewise::bursts::NO_NODE;

    fn page(data: &ReportData<'_>, limit: usize) -> String {
        let mut out = Vec::new();
        write_html(data, Content::limited(data, limit).unwrap(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The JSON object of a page.
    fn meta_of(page: &str) -> Value {
        let start = page.split_once("id=\"meta\">").unwrap().1;
        serde_json::from_str(start.split_once("</script>").unwrap().0).unwrap()
    }

    fn with_bursts<T>(n: u32, check: impl FnOnce(ReportData<'_>) -> T) -> T {
        let begin: Vec<Nanos> = (0..n).map(|i| Nanos(u64::from(i) * 10)).collect();
        let values: Values = (0..n).map(f64::from).collect();
        let metric = |name: &str, clustering| ReportMetric {
            name: name.to_owned(),
            unit: String::new(),
            values: Some(MetricValues::from(&values)),
            log: false,
            clustering,
        };
        check(ReportData {
            title: "a & <b>".to_owned(),
            rows: vec!["</script><!--".to_owned()],
            burst_row: &Runs::repeat(0, n as usize),
            begin: &begin,
            duration: &vec![Nanos(4); n as usize],
            label: &vec![crate::phases::test_label(1); n as usize],
            metrics: vec![metric("other", false), metric("IPC", true), metric("Duration", true)],
            ..ReportData::default()
        })
    }

    #[test]
    fn names_stay_text() {
        let (page, scripts) = with_bursts(3, |data| {
            let columns = 4 + 2;
            (page(&data, 10), columns + 2)
        });
        assert_eq!(page.matches("</script>").count(), scripts, "one end per element of ours");
        assert!(page.contains("<title>a &amp; &lt;b&gt;"));
        assert_eq!(meta_of(&page)["rows"][0], "</script><!--");
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("http://") && !page.contains("https://"), "nothing to fetch");
    }

    #[test]
    fn metrics_of_the_clustering_come_first_and_duration_is_not_stored_twice() {
        let meta = meta_of(&with_bursts(3, |data| page(&data, 10)));
        let names: Vec<&str> =
            meta["metrics"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["IPC", "other"]);
        assert_eq!(meta["duration"]["clustering"], true);
        assert_eq!(meta["end"], 24, "the last burst ends after the trace");
        assert_eq!(meta["notes"].as_array().unwrap().len(), 0);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let meta = meta_of(&with_bursts(5_000, |data| page(&data, 2_000)));
        assert_eq!(meta["bursts"], 2_000);
        assert_eq!(meta["labels"][0]["weight"], 2.5);
        assert!(meta["notes"][0].as_str().unwrap().starts_with("The pictures show 2,000 of 5,000 bursts"));
    }

    #[test]
    fn sections_are_there_only_when_given() {
        static BURSTS: Rows = Rows::first(3);
        with_bursts(3, |mut data| {
            let meta = meta_of(&page(&data, 10));
            assert!(meta["alignment"].is_null() && meta["tree"].is_null());
            let row = AlignedRow { name: "1".to_owned(), n_tasks: 1, phases: &[6], columns: &[2] };
            data.alignment = Some(AlignmentView { score: 1.0, n_columns: 3, rows: vec![row] });
            let level = TreeLevel { nodes: &[0, NO_NODE], ..TreeLevel::default() };
            let nodes = vec![TreeNode::default()];
            data.tree = Some(TreeView { bursts: &BURSTS, cohorts: &[0, 0, 1], levels: vec![level], nodes });
            let text = page(&data, 10);
            let meta = meta_of(&text);
            assert_eq!(meta["labels"][1]["name"], "Phase 7", "a phase of the alignment alone has a colour");
            assert_eq!(meta["alignment"]["symbols"], 1);
            assert_eq!(meta["tree"]["nodes"][0]["main"], 0);
            let level = &meta["tree"]["levels"][0];
            let id = level["column"]["id"].as_u64().unwrap();
            assert!(text.contains(&format!("id=\"column-{id}\"")));
            assert!(!text.contains(&format!("id=\"column-{}\"", id + 1)));
        });
    }

    #[test]
    fn scripts_are_one_module_in_one_scope() {
        let twice = scripts::names_given_twice(&[MODULES, &SHARED[..]].concat());
        assert!(twice.is_empty(), "{twice:?}");
        assert!(!scripts().contains("\nimport ") && !scripts().contains("\nexport "));
    }

    #[test]
    fn same_data_same_bytes() {
        with_bursts(1_000, |data| assert_eq!(page(&data, 500), page(&data, 500)));
    }
}
