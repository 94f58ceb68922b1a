//! The report in short: the table of phases and a small timeline.

use std::fmt::Write;
use std::ops::Range;

use anstyle::{Ansi256Color, Color, Style};
use likewise::bursts::BurstLabel;
use likewise::cluster::ClusterId;
use likewise::table::Nanos;
use likewise::words::{FAR, factor, grouped_digits, percent, si, whole_percent};

use crate::palette;

use super::code_names::{code_names, fit};
use super::{PhaseRow, ReportData, n_shown};

const MAX_COUNTERS: usize = 3;
const MAX_LINES: usize = 16;
const MAX_NAME: usize = 16;
const NARROWEST: usize = 40;
/// Symbols of phases without colour; later phases share `+`.
const SYMBOLS: &[u8] = b"123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Kinds of cells: one per symbol, then other phases, noise, filtered.
const KINDS: usize = SYMBOLS.len() + 3;
const OTHER: usize = SYMBOLS.len();
/// Where idle stands after the kinds.
const IDLE: usize = KINDS;
const KEY_BLANK: &str = "blank: idle, MPI";

/// The table of phases and a timeline of at most 16 lines, as text.
///
/// Small phases are summed in one line (`n_shown`), unless
/// `all` are wanted.
/// No line is wider than `width` columns, taken as 40 at least; columns of the
/// table that do not fit are left out. With
/// `colour`, cells are blocks in the colours of the phases (256-colour
/// escapes); without, they are symbols that the table repeats. Rows of the
/// timeline are grouped where there are more than lines. Over a line, every
/// phase and idle, which is blank, has its share of the cells (`picture`).
///
/// # Complexity
/// O(n + c) for n bursts and c cells that they reach into.
#[must_use]
pub fn terminal(data: &ReportData<'_>, width: usize, colour: bool, all: bool) -> String {
    let width = width.max(NARROWEST);
    let mut out = String::new();
    table(data, width, colour, all, &mut out);
    if !data.rows.is_empty() && !data.begin.is_empty() {
        out.push('\n');
        timeline(data, width, colour, &mut out);
    }
    out
}

/// What to look at first, as text of at most `width` columns a line; empty
/// where that is not known.
pub fn first(data: &ReportData<'_>, width: usize) -> String {
    let mut out = String::new();
    if !data.verdict.is_empty() {
        wrapped(&data.verdict, width, "", &mut out);
    }
    if !data.findings.is_empty() {
        out.push_str("What to look at first:\n");
    }
    for (i, finding) in data.findings.iter().enumerate() {
        wrapped(&finding.text, width, &format!("{}. ", i + 1), &mut out);
    }
    out
}

/// Lines of words after `head`; those that follow are indented as far.
fn wrapped(text: &str, width: usize, head: &str, out: &mut String) {
    let indent = head.chars().count();
    out.push_str(head);
    let mut used = indent;
    for (i, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if i > 0 && used + 1 + length > width {
            let _ = write!(out, "\n{:indent$}", "");
            used = indent;
        } else if i > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out.push('\n');
}

/// Cells of the table by line; the first is the symbol, already coloured.
struct Line {
    kind: Option<usize>,
    cells: Vec<String>,
}

fn table(data: &ReportData<'_>, width: usize, colour: bool, all: bool, out: &mut String) {
    let (phases, rest): (Vec<&PhaseRow>, Vec<&PhaseRow>) =
        data.phases.iter().partition(|p| p.label.phase().is_some());
    let n_shown = if all { phases.len() } else { n_shown(&data.phases) };
    let names = ["phase", "bursts", "total", "share", "mean", "imbalance"].map(str::to_owned);
    let counters = data.phase_columns.iter().take(MAX_COUNTERS).map(|name| fit(name, MAX_NAME));
    let mut header: Vec<String> = names.into_iter().chain(counters).collect();
    let mut lines: Vec<Line> = phases.iter().take(n_shown).map(|p| phase_line(p)).collect();
    if phases.len() > n_shown {
        lines.push(sum_line(&phases[n_shown..]));
    }
    lines.extend(rest.iter().map(|p| phase_line(p)));

    let symbols = colour || phases.len() > 9;
    let edge = if symbols { 2 } else { 0 };
    let width_of = |c: usize| {
        let cells = lines.iter().filter_map(|line| line.cells.get(c));
        cells.chain([&header[c]]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut used = edge;
    let widths: Vec<usize> = (0..header.len())
        .map(width_of)
        .take_while(|column| {
            used += column + 2;
            used - 2 <= width
        })
        .collect();
    header.truncate(widths.len());

    let bold = if colour { Style::new().bold() } else { Style::new() };
    let mut text = String::new();
    text.extend(std::iter::repeat_n(' ', edge));
    row(&header, &widths, &mut text);
    // The escapes must not count as width, so they come after alignment.
    let _ = writeln!(out, "{bold}{}{bold:#}", text.trim_end());
    // What is left of the line is for the code, if it is enough for a name.
    let room = width.saturating_sub(edge + widths.iter().map(|w| w + 2).sum::<usize>());
    let labels: Vec<BurstLabel> = phases.iter().take(n_shown).map(|p| p.label).collect();
    let code = if room >= MAX_NAME { code_names(data, &labels, room) } else { Vec::new() };
    let codes = code.into_iter().chain(std::iter::repeat(None));
    for (line, code) in lines.iter().zip(codes) {
        let mut text = String::new();
        if symbols {
            match line.kind {
                Some(kind) => cells(kind, 1, colour, &mut text),
                None => text.push(' '),
            }
            text.push(' ');
        }
        row(&line.cells, &widths, &mut text);
        if let Some(code) = code {
            let _ = write!(text, "  {code}");
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
    if lines.is_empty() {
        out.push_str("no bursts\n");
    }
}

fn row(cells: &[String], widths: &[usize], out: &mut String) {
    for (c, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        let _ = match c {
            0 => write!(out, "{cell:<width$}"),
            _ => write!(out, "  {cell:>width$}"),
        };
    }
}

fn phase_line(phase: &PhaseRow) -> Line {
    let name = match phase.label {
        BurstLabel::Noise => "noise".to_owned(),
        BurstLabel::Phase(id) => id.number().to_string(),
        BurstLabel::FilteredThreshold => "small".to_owned(),
        BurstLabel::FilteredDuration => "filtered".to_owned(),
        BurstLabel::FilteredRange => "out of range".to_owned(),
        BurstLabel::Missing => "missing".to_owned(),
    };
    let mut cells = figures(name, phase.instances, phase.total, phase.share, phase.mean);
    cells.push(match phase.imbalance {
        _ if phase.some_tasks == Some(1) => "one task".to_owned(),
        _ if phase.some_tasks.is_some() => format!("{} tasks", phase.some_tasks.unwrap_or_default()),
        Some(far) if far >= FAR => format!("{}×", factor(1.0 + far)),
        Some(imbalance) => whole_percent(imbalance),
        None => "–".to_owned(),
    });
    cells.extend(phase.counters.iter().take(MAX_COUNTERS).map(|counter| match counter {
        Some((mean, cv)) if cv.is_finite() => format!("{} ±{}", si(*mean), whole_percent(*cv)),
        Some((mean, _)) => si(*mean),
        None => "–".to_owned(),
    }));
    Line { kind: Some(kind(phase.label)), cells }
}

/// The line that stands for the phases not shown.
fn sum_line(phases: &[&PhaseRow]) -> Line {
    let instances = phases.iter().map(|p| p.instances).sum::<u64>();
    let total = phases.iter().fold(Nanos::ZERO, |sum, p| sum.saturating_add(p.total));
    let share = phases.iter().map(|p| p.share).sum();
    let mean = Nanos(total.0 / instances.max(1));
    Line { kind: None, cells: figures(format!("{} more", phases.len()), instances, total, share, mean) }
}

fn figures(name: String, instances: u64, total: Nanos, share: f64, mean: Nanos) -> Vec<String> {
    vec![name, grouped_digits(instances as usize as u64), total.to_string(), percent(share), mean.to_string()]
}

/// The kind of cell of a label.
fn kind(label: BurstLabel) -> usize {
    match label {
        BurstLabel::Noise => OTHER + 1,
        BurstLabel::Phase(id) => id.index().min(OTHER),
        _ => OTHER + 2,
    }
}

/// `n` cells of that kind.
fn cells(kind: usize, n: usize, colour: bool, out: &mut String) {
    if !colour {
        let symbol = match kind - kind.min(OTHER) {
            0 if kind < OTHER => SYMBOLS[kind] as char,
            0 => '+',
            1 => '.',
            _ => '-',
        };
        out.extend(std::iter::repeat_n(symbol, n));
        return;
    }
    let label = match kind - kind.min(OTHER) {
        0 => BurstLabel::Phase(ClusterId::from_index(kind)),
        1 => BurstLabel::Noise,
        _ => BurstLabel::FilteredDuration,
    };
    let style = Style::new().fg_color(Some(Color::Ansi256(Ansi256Color(palette::ansi(label)))));
    let _ = write!(out, "{style}{}{style:#}", "█".repeat(n));
}

fn timeline(data: &ReportData<'_>, width: usize, colour: bool, out: &mut String) {
    let n_rows = data.rows.len();
    let n_lines = n_rows.min(MAX_LINES);
    let first_row = |line: usize| (line * n_rows).div_ceil(n_lines);
    let names: Vec<String> = (0..n_lines).map(|line| fit(&data.rows[first_row(line)], MAX_NAME)).collect();
    let gutter = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let n_cells = width - gutter - 2;
    let span = data.span();
    let length = Nanos(span.end - span.start);
    let grid = picture(data, n_lines, n_cells);

    let _ = match n_rows.div_ceil(n_lines) {
        1 => writeln!(out, "{n_rows} rows × {length}"),
        rows => writeln!(out, "{} rows × {length}, up to {rows} rows a line", grouped_digits(n_rows as u64),),
    };
    for (name, line) in names.iter().zip(grid.chunks(n_cells)) {
        let _ = write!(out, "{name:>gutter$} ");
        let used = line.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        for run in line[..used].chunk_by(|a, b| a == b) {
            match run[0] {
                Some(kind) => cells(kind, run.len(), colour, out),
                None => out.extend(std::iter::repeat_n(' ', run.len())),
            }
        }
        out.push('\n');
    }
    // Times far from 0 would look alike.
    let (from, to) = match span.start {
        0 => ("0".to_owned(), length.to_string()),
        start => (Nanos(start).to_string(), format!("+ {length}")),
    };
    let rest = n_cells.saturating_sub(from.chars().count());
    let _ = writeln!(out, "{:gutter$} {from}{to:>rest$}", "");
    let key = if colour { KEY_BLANK.to_owned() } else { format!(". noise  - filtered  {KEY_BLANK}") };
    let indent = (gutter + 1).min(width - key.chars().count());
    let _ = writeln!(out, "{:indent$}{key}", "");
}

/// What each cell shows, by line; `None` is idle.
///
/// Most cells hold many bursts, so the phase with most time in a cell would
/// hide all others, and idle, everywhere. Instead the cells of a line are
/// dealt out: each kind is owed its share of every cell, and a cell goes to
/// the kind that is owed most among those with time in it (error diffusion
/// along the line). The lower kind is first among equals, idle last.
fn picture(data: &ReportData<'_>, n_lines: usize, n_cells: usize) -> Vec<Option<usize>> {
    let shares = shares(data, n_lines, n_cells);
    let mut grid = Vec::with_capacity(n_lines * n_cells);
    for line in shares.chunks(n_cells * (KINDS + 1)) {
        let mut owed = [0.0_f64; KINDS + 1];
        for cell in line.chunks(KINDS + 1) {
            let mut best = IDLE;
            for kind in 0..=KINDS {
                owed[kind] += cell[kind];
                let is_better = owed[kind] > owed[best] || cell[best] == 0.0;
                if cell[kind] > 0.0 && is_better {
                    best = kind;
                }
            }
            owed[best] -= 1.0;
            grid.push((best != IDLE).then_some(best));
        }
    }
    grid
}

/// The share of each kind, then of idle, in the time of each cell, by line.
fn shares(data: &ReportData<'_>, n_lines: usize, n_cells: usize) -> Vec<f64> {
    let Range { start, end } = data.span();
    let span = u128::from(end - start);
    let n_rows = data.rows.len();
    let line_of = |row: usize| row * n_lines / n_rows;
    let mut time = vec![0_u128; n_lines * n_cells * KINDS];
    // Times are counted in units of 1 / n_cells, so that the edges between
    // cells, at c · span, are whole.
    let scaled = |t: Nanos| u128::from(t.0.saturating_sub(start)) * n_cells as u128;
    for (i, &row) in data.burst_row.iter().enumerate() {
        let line = line_of(row as usize);
        let (begin, end) = (scaled(data.begin[i]), scaled(data.begin[i].saturating_add(data.duration[i])));
        let kind = kind(data.label[i]);
        let mut c = (begin / span) as usize;
        while c < n_cells && c as u128 * span < end {
            let inside = end.min((c as u128 + 1) * span) - begin.max(c as u128 * span);
            time[(line * n_cells + c) * KINDS + kind] += inside;
            c += 1;
        }
    }
    let mut rows_of_line = vec![0_u128; n_lines];
    (0..n_rows).for_each(|row| rows_of_line[line_of(row)] += 1);
    let of_cell = |(at, cell): (usize, &[u128])| {
        let room = rows_of_line[at / n_cells] * span;
        let busy: u128 = cell.iter().sum();
        // Bursts that overlap share the cell.
        let whole = room.max(busy) as f64;
        let idle = room.saturating_sub(busy) as f64 / whole;
        cell.iter().map(move |&t| t as f64 / whole).chain([idle]).collect::<Vec<_>>()
    };
    time.chunks(KINDS).enumerate().flat_map(of_cell).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{RegionRow, test_label};
    use super::*;
    use likewise::table::Runs;

    /// Two phases, noise and a filtered burst on four rows of 8 ms.
    fn with_sample<T>(check: impl FnOnce(ReportData<'_>) -> T) -> T {
        let ms = |t: f64| Nanos((t * 1e6) as u64);
        let begin: Vec<Nanos> = (0..4).flat_map(|r| [0.0, 4.0, 6.0 + f64::from(r) * 0.1]).map(ms).collect();
        let duration: Vec<Nanos> = (0..4).flat_map(|_| [3.0, 1.8, 1.0]).map(ms).collect();
        let burst_row: Runs = (0..12).map(|i| i / 3).collect();
        let mut label = [1, 2, 1, 1, 2, 0, 1, 2, 1, 1, 2, 0].map(test_label);
        label[11] = BurstLabel::FilteredDuration;
        let phase = |label: BurstLabel, instances, total, share, counters| PhaseRow {
            label,
            instances,
            total: ms(total),
            mean: ms(total / instances as f64),
            share,
            imbalance: (label == test_label(1)).then_some(0.18),
            some_tasks: None,
            spmd: None,
            silhouette: None,
            counters,
        };
        check(ReportData {
            end: ms(8.0),
            rows: (1..=4).map(|r| format!("Task {r}")).collect(),
            burst_row: &burst_row,
            begin: &begin,
            duration: &duration,
            label: &label,
            phases: vec![
                phase(test_label(1), 6, 14.0, 0.603, vec![Some((1.234, 0.05)), Some((4.33e6, 0.1))]),
                phase(test_label(2), 4, 7.2, 0.31, vec![Some((0.5, f64::NAN)), None]),
                phase(BurstLabel::Noise, 1, 1.0, 0.043, vec![None, None]),
                phase(BurstLabel::FilteredDuration, 1, 1.0, 0.043, vec![None, None]),
            ],
            phase_columns: vec!["IPC".to_owned(), "PAPI_TOT_INS".to_owned()],
            ..ReportData::default()
        })
    }

    #[test]
    fn golden() {
        let text = with_sample(|data| terminal(&data, 80, false, false));
        let expected = "\
phase     bursts    total  share     mean  imbalance       IPC  PAPI_TOT_INS
1              6  14.0 ms  60.3%  2.33 ms        18%  1.23 ±5%   4.33 M ±10%
2              4  7.20 ms  31.0%  1.80 ms          –     0.500             –
noise          1  1.00 ms   4.3%  1.00 ms          –         –             –
filtered       1  1.00 ms   4.3%  1.00 ms          –         –             –

4 rows × 8.00 ms
Task 1 111111111111111111111111111         2222222222222222  111111111
Task 2 111111111111111111111111111         2222222222222222   .........
Task 3 111111111111111111111111111         2222222222222222    111111111
Task 4 111111111111111111111111111         2222222222222222     ---------
       0                                                                8.00 ms
       . noise  - filtered  blank: idle, MPI
";
        assert_eq!(text, expected, "\n{text}");
    }

    /// A trace that begins at 1 s looks as one that begins at 0.
    #[test]
    fn the_time_axis_begins_with_the_trace() {
        let pictures = |from: u64| {
            with_sample(|data| {
                let begin: Vec<Nanos> = data.begin.iter().map(|begin| Nanos(begin.0 + from)).collect();
                let (start, end) = (Nanos(from), Nanos(data.end.0 + from));
                let text = terminal(&ReportData { start, end, begin: &begin, ..data }, 80, false, false);
                let at = text.find("4 rows").expect("a timeline");
                text[at..].lines().map(str::to_owned).collect::<Vec<_>>()
            })
        };
        let [here, far] = [0, 1_000_000_000].map(pictures);
        assert_eq!(far[..5], here[..5]);
        assert_eq!(far[5].split_whitespace().collect::<Vec<_>>(), ["1.00", "s", "+", "8.00", "ms"]);
        assert_eq!(far[5].chars().count(), here[5].chars().count());
    }

    #[test]
    fn what_is_left_of_a_line_names_the_code() {
        let region = |label: u32, names: [&str; 3], share_of_phase| {
            let [before, after, function] = names.map(str::to_owned);
            RegionRow {
                label: test_label(label),
                before,
                after,
                function,
                share_of_phase,
                ..RegionRow::default()
            }
        };
        let lines = |width: usize| {
            with_sample(|data| {
                let regions = vec![
                    region(1, ["MPI_Wait", "MPI_Send", "solve (a.c:7)"], 1.0),
                    region(2, ["MPI_Wait", "MPI_Send", ""], 0.75),
                    region(2, ["", "", "other"], 0.25),
                ];
                let text = terminal(&ReportData { regions, ..data }, width, false, false);
                text.lines().take(4).map(str::to_owned).collect::<Vec<_>>()
            })
        };
        let plain = with_sample(|data| terminal(&data, 100, false, false));
        let plain: Vec<&str> = plain.lines().collect();
        let named = lines(120);
        assert_eq!(named[0], plain[0], "the column needs no title");
        assert_eq!(named[1], format!("{}  solve (a.c:7)", plain[1]));
        assert_eq!(named[2], format!("{}  75.0%: MPI_Wait → MPI_Send", plain[2]), "the most of it");
        assert_eq!(named[3], plain[3], "noise has no code");
        // 76 columns of figures, two between, and room for 17.
        assert_eq!(lines(95)[2], format!("{}  75.0%: MPI_Wait …", plain[2]));
        assert_eq!(lines(80), plain[..4], "a piece of a name says nothing");
    }

    /// Every row: 2,000 steps of nine phases, the first with 21 % of the run,
    /// and idle between them, 51 % in all; a cell holds many steps.
    #[test]
    fn a_line_holds_each_phase_and_idle_in_proportion() {
        let shares = [210_u64, 80, 60, 40, 30, 25, 20, 15, 10];
        let (n_rows, steps) = (8_u32, 2_000_u64);
        let (mut begin, mut duration, mut label, mut burst_row) = (vec![], vec![], vec![], Runs::default());
        for row in 0..n_rows {
            for step in 0..steps {
                // No two steps begin alike, so that cells and steps do not march together.
                let mut at = step * 1_000 + (step * 37 + u64::from(row) * 11) % 10;
                for (phase, &share) in (1..).zip(&shares) {
                    begin.push(Nanos(at));
                    duration.push(Nanos(share));
                    label.push(test_label(phase));
                    burst_row.push(row);
                    at += share + 55;
                }
            }
        }
        let data = ReportData {
            end: Nanos(steps * 1_000),
            rows: (0..n_rows).map(|row| row.to_string()).collect(),
            burst_row: &burst_row,
            begin: &begin,
            duration: &duration,
            label: &label,
            ..ReportData::default()
        };
        let grid = picture(&data, 8, 100);
        for line in grid.chunks(100) {
            for (kind, &share) in shares.iter().enumerate() {
                let cells = line.iter().filter(|&&cell| cell == Some(kind)).count();
                assert!((cells as f64 - share as f64 / 10.0).abs() <= 1.5, "phase {}: {cells} %", kind + 1);
            }
            let idle = line.iter().filter(|cell| cell.is_none()).count();
            assert!((50..=52).contains(&idle), "idle: {idle} %");
        }
    }

    #[test]
    fn findings_are_numbered_and_wrapped() {
        let finding =
            |text: &str| crate::phases::FindingRow { text: text.to_owned(), labels: vec![test_label(1)] };
        let data = ReportData {
            findings: vec![finding("Phase 1: the slowest task takes long."), finding("Short.")],
            ..ReportData::default()
        };
        let expected = "What to look at first:\n1. Phase 1: the slowest\n   task takes long.\n2. Short.\n";
        assert_eq!(first(&data, 26), expected);
        let sound = ReportData { verdict: "Nothing stands out".to_owned(), ..ReportData::default() };
        assert_eq!(first(&sound, 40), "Nothing stands out\n");
        assert_eq!(first(&ReportData::default(), 40), "");
    }

    #[test]
    fn fits_the_width_in_colour_and_without() {
        for width in [40, 60, 72, 120] {
            for colour in [false, true] {
                let text = with_sample(|data| terminal(&data, width, colour, false));
                assert_eq!(text.contains('\u{1b}'), colour);
                for line in text.lines() {
                    let mut shown = 0;
                    let mut escape = false;
                    for c in line.chars() {
                        escape |= c == '\u{1b}';
                        shown += usize::from(!escape);
                        escape &= c != 'm';
                    }
                    assert!(shown <= width, "{shown} > {width}: {line}");
                }
            }
        }
    }

    #[test]
    fn many_rows_share_lines_and_many_phases_are_summed() {
        let n = 10_000_u32;
        let burst_row: Runs = (0..n).collect();
        let label: Vec<BurstLabel> = (0..n).map(|i| test_label(i * 40 / n + 1)).collect();
        let phases: Vec<PhaseRow> = (1..=40)
            .map(|n| PhaseRow { label: test_label(n), instances: 250, ..PhaseRow::default() })
            .collect();
        let data = ReportData {
            end: Nanos(10),
            rows: (0..n).map(|i| format!("row {i}")).collect(),
            burst_row: &burst_row,
            begin: &vec![Nanos(0); n as usize],
            duration: &vec![Nanos(10); n as usize],
            label: &label,
            phases,
            ..ReportData::default()
        };
        let text = terminal(&data, 80, false, false);
        assert!(text.contains("10,000 rows × 10 ns, up to 625 rows a line"), "{text}");
        assert!(text.contains("20 more   5,000"), "{text}");
        assert!(!terminal(&data, 80, false, true).contains("more"));
        assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("row ")).count(), 16);
        // A fifth of the line's rows is in phase 3, two fifths in 4, two in 5.
        assert!(text.lines().any(|line| line.starts_with(" row 625 45345")), "{text}");
    }

    #[test]
    fn names_cannot_speak_to_the_terminal() {
        let data = ReportData {
            end: Nanos(1),
            rows: vec!["\u{1b}[31mred\r\n".to_owned()],
            burst_row: &Runs::repeat(0, 1),
            begin: &[Nanos(0)],
            duration: &[Nanos(0)],
            label: &[BurstLabel::Missing],
            ..ReportData::default()
        };
        let text = terminal(&data, 80, false, false);
        assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text:?}");
        assert_eq!(terminal(&ReportData::default(), 80, false, false).lines().last(), Some("no bursts"));
    }
}
