//! ClusteringSuite's XML definitions, read as ClusteringSuite 2.6 reads them.
//!
//! Differs: `normalize_data="no"` and `threshold_filter`, which it parses and
//! ignores, work; an element it does not know is a note, not an error.

use likewise::table::{DurationFilter, Expr, Metric, Nanos, Op, Operand, Scale};

use super::tree::{self, Element};
use super::types::{Algorithm, Axis, Definition, DefinitionError, Plot};

type Result<T> = std::result::Result<T, DefinitionError>;

/// Reads a definition in XML.
pub(super) fn parse(text: &str) -> Result<Definition> {
    let root = tree::read(text)?;
    if root.name != "clustering_definition" {
        let message = format!("the root element is <{}>; expected <clustering_definition>", root.name);
        return Err(DefinitionError::new(root.line, message));
    }
    let mut found = Definition::default();
    let root_keys = [
        "use_duration",
        "apply_log",
        "normalize_data",
        "duration_filter",
        "threshold_filter",
        "accumulate_parameters",
    ];
    root.note_unknown_attributes(&root_keys, &mut found);
    if root.attribute("accumulate_parameters").is_some() {
        found.note(
            root.line,
            "accumulate_parameters is passed over: counters are always summed over the burst",
        );
    }
    if let Some(filter) = root.attribute("duration_filter") {
        found.filter = Some(DurationFilter::Min(duration(filter, root.line)?));
    }
    if let Some(percent) = root.attribute("threshold_filter") {
        found.min_share = Some(threshold(percent, root.line)?);
    }
    if root.attribute("normalize_data").is_some() {
        let normalised = root.yes("normalize_data", true, &mut found);
        found.scale = Some(if normalised { Scale::MinMax } else { Scale::None });
    }
    let mut metrics = Vec::new();
    if root.yes("use_duration", false, &mut found) {
        let mut metric = Metric::new("Duration", Expr::One(Operand::Duration));
        metric.log = root.yes("apply_log", false, &mut found);
        metrics.push(metric);
    }
    for child in &root.children {
        match child.name.as_str() {
            "clustering_algorithm" => algorithm(child, &mut found)?,
            "clustering_parameters" => metrics.append(&mut parameters(child, &mut found)?),
            "extrapolation_parameters" => {
                // Every counter is reported, whatever it says.
                child.note_unknown_attributes(&["all_counters"], &mut found);
                let mut extrapolate = parameters(child, &mut found)?;
                found.extrapolate.append(&mut extrapolate);
            }
            "output_plots" => plots(child, &mut found)?,
            _ => found.note_unknown(child),
        }
    }
    if !metrics.is_empty() {
        found.metrics = Some(metrics);
    }
    Ok(found)
}

impl Definition {
    fn note(&mut self, line: usize, message: impl std::fmt::Display) {
        self.notes.push(format!("line {line}: {message}"));
    }

    fn note_unknown(&mut self, element: &Element) {
        self.note(element.line, format_args!("<{}> is not known here and was passed over", element.name));
    }
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim())
    }

    /// Whether an attribute says yes. Anything but `yes` is no there: here
    /// with a note.
    fn yes(&self, name: &str, default: bool, found: &mut Definition) -> bool {
        let Some(value) = self.attribute(name) else { return default };
        if !matches!(value, "yes" | "no") {
            found.note(self.line, format_args!("{name}=\"{value}\" is neither yes nor no; it counts as no"));
        }
        value == "yes"
    }

    fn note_unknown_attributes(&self, known: &[&str], found: &mut Definition) {
        for (key, _) in self.attributes.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            found.note(self.line, format_args!("{key} of <{}> is not known and was passed over", self.name));
        }
    }

    fn number(&self) -> Result<f64> {
        number(&self.text, self.line, &format!("<{}>", self.name))
    }

    fn count(&self) -> Result<usize> {
        let count = self.text.parse::<usize>().ok().filter(|&n| n > 0);
        count.ok_or_else(|| {
            self.error(format_args!("'{}' in <{}> is not a positive whole number", self.text, self.name))
        })
    }

    fn error(&self, message: impl std::fmt::Display) -> DefinitionError {
        DefinitionError::new(self.line, message.to_string())
    }
}

/// A finite number such as `.010` or `1e10`.
fn number(text: &str, line: usize, place: &str) -> Result<f64> {
    let parsed = text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    parsed.ok_or_else(|| DefinitionError::new(line, format!("'{text}' in {place} is not a number")))
}

/// A duration whose unit is µs unless it says D, H, M, s or S, m, u, n, ms,
/// us or ns. `m` is a millisecond and `M` a minute, unlike elsewhere.
fn duration(text: &str, line: usize) -> Result<Nanos> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let scale = match text[split..].trim() {
        "" | "u" | "us" | "µs" => 1e3,
        "n" | "ns" => 1.0,
        "m" | "ms" => 1e6,
        "s" | "S" => 1e9,
        "M" => 60e9,
        "H" => 3600e9,
        "D" => 86400e9,
        unit => {
            let message = format!(
                "duration_filter has the unit '{unit}'; expected D, H, M, s, m (ms), u (µs) or n (ns)"
            );
            return Err(DefinitionError::new(line, message));
        }
    };
    Ok(Nanos((number(&text[..split], line, "duration_filter")? * scale).round() as u64))
}

/// A percentage of the time of all clusters.
fn threshold(text: &str, line: usize) -> Result<f64> {
    let percent = number(text.trim_end_matches('%'), line, "threshold_filter")?;
    if !(0.0..=100.0).contains(&percent) {
        let message = format!("threshold_filter is {percent}; expected a percentage from 0 to 100");
        return Err(DefinitionError::new(line, message));
    }
    Ok(percent / 100.0)
}

fn algorithm(element: &Element, found: &mut Definition) -> Result<()> {
    let name = element.attribute("name");
    let name =
        name.ok_or_else(|| element.error("<clustering_algorithm> has no name; expected DBSCAN or GMEANS"))?;
    found.algorithm = Some(match name {
        "DBSCAN" => Algorithm::Dbscan,
        "MUSTER_DBSCAN" => {
            found.note(element.line, "MUSTER_DBSCAN is read as DBSCAN");
            Algorithm::Dbscan
        }
        "GMEANS" => {
            found.note(
                element.line,
                "GMEANS is read as X-means, which chooses by BIC; critical_value is passed over",
            );
            Algorithm::Xmeans
        }
        "MUSTER_PAM" | "MUSTER_XCLARA" | "MUSTER_CAPEK" => {
            let message = format!(
                "{name} groups ranks around medoids and comes with `likewise ranks`; bursts take DBSCAN or X-means (GMEANS)"
            );
            return Err(element.error(message));
        }
        _ => {
            return Err(
                element.error(format_args!("no clustering algorithm '{name}'; expected DBSCAN or GMEANS"))
            );
        }
    });
    for child in &element.children {
        match child.name.as_str() {
            "epsilon" => {
                let eps = child.number()?;
                if eps <= 0.0 {
                    return Err(child.error(format_args!("epsilon is {eps}; it must be positive")));
                }
                found.eps = Some(eps);
            }
            "min_points" => found.min_points = Some(child.count()?),
            "max_clusters" => found.k_max = Some(child.count()?),
            "critical_value" => {}
            _ => found.note_unknown(child),
        }
    }
    Ok(())
}

/// The metrics of `clustering_parameters` or `extrapolation_parameters`.
fn parameters(element: &Element, found: &mut Definition) -> Result<Vec<Metric>> {
    let mut metrics = Vec::new();
    for child in &element.children {
        match child.name.as_str() {
            "single_event" | "mixed_events" => metrics.push(metric(child, found)?),
            _ => found.note_unknown(child),
        }
    }
    Ok(metrics)
}

fn metric(element: &Element, found: &mut Definition) -> Result<Metric> {
    let name = element.attribute("name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| element.error(format_args!("<{}> has no name", element.name)))?;
    let mixed = element.name == "mixed_events";
    let known: &[&str] = if mixed { &["name", "apply_log", "operation"] } else { &["name", "apply_log"] };
    element.note_unknown_attributes(known, found);
    let mut operands: [Option<Operand>; 2] = [None, None];
    let mut metric = Metric::new(name, Expr::One(Operand::Duration));
    metric.log = element.yes("apply_log", false, found);
    for child in &element.children {
        match (child.name.as_str(), mixed) {
            ("event_type", false) | ("event_type_a", true) => operands[0] = Some(operand(child)?),
            ("event_type_b", true) => operands[1] = Some(operand(child)?),
            ("factor", _) => metric.factor = child.number()?,
            ("range_min", _) => metric.min = limit(child)?,
            ("range_max", _) => metric.max = limit(child)?,
            _ => found.note_unknown(child),
        }
    }
    metric.expr = match operands {
        [Some(a), Some(b)] if mixed => Expr::Two(a, operation(element)?, b),
        [a, _] if mixed => {
            let lacking = if a.is_none() { "event_type_a" } else { "event_type_b" };
            return Err(element.error(format_args!("<mixed_events> '{name}' has no <{lacking}>")));
        }
        // Without a type, the name is the label of the counter.
        [a, _] => Expr::One(a.unwrap_or_else(|| Operand::Counter(name.to_owned()))),
    };
    metric.check().map_err(|e| element.error(e))?;
    Ok(metric)
}

fn operand(element: &Element) -> Result<Operand> {
    match element.text.as_str() {
        "" => Err(element
            .error(format_args!("<{}> is empty; expected a number, a label or duration", element.name))),
        "duration" => Ok(Operand::Duration),
        counter => Ok(Operand::Counter(counter.to_owned())),
    }
}

/// The first character of `operation` is the operation, as there.
fn operation(element: &Element) -> Result<Op> {
    let text = element.attribute("operation").unwrap_or_default();
    let op = text.chars().next().and_then(Op::from_sign);
    op.ok_or_else(|| element.error(format_args!("operation is '{text}'; expected +, -, * or /")))
}

/// An end of a range; −1 is none.
fn limit(element: &Element) -> Result<Option<f64>> {
    Ok(Some(element.number()?).filter(|&x| x != -1.0))
}

fn plots(element: &Element, found: &mut Definition) -> Result<()> {
    element.note_unknown_attributes(&["all_plots", "gnuplot_vers"], found);
    found.all_plots |= element.yes("all_plots", false, found);
    for child in &element.children {
        if child.name == "plot_definition" {
            let plot = plot(child, found)?;
            found.plots.push(plot);
        } else {
            found.note_unknown(child);
        }
    }
    Ok(())
}

fn plot(element: &Element, found: &mut Definition) -> Result<Plot> {
    element.note_unknown_attributes(&["raw_metrics"], found);
    let mut axes: [Option<Axis>; 3] = [None, None, None];
    for child in &element.children {
        let Some(at) = ["x_metric", "y_metric", "z_metric"].iter().position(|name| *name == child.name)
        else {
            found.note_unknown(child);
            continue;
        };
        if axes[at].is_some() {
            return Err(child.error(format_args!("a second <{}> in one plot", child.name)));
        }
        axes[at] = Some(axis(child, found)?);
    }
    let [x, y, z] = axes;
    let x = x.ok_or_else(|| element.error("<plot_definition> has no <x_metric>"))?;
    // Raw is what they draw unless told no.
    let raw = element.attribute("raw_metrics") != Some("no");
    Ok(Plot { x, y, z, raw })
}

fn axis(element: &Element, found: &mut Definition) -> Result<Axis> {
    element.note_unknown_attributes(&["title", "min", "max"], found);
    if element.text.is_empty() {
        return Err(element.error(format_args!("<{}> is empty; expected the name of a metric", element.name)));
    }
    let end = |key| element.attribute(key).map(|text| number(text, element.line, key)).transpose();
    Ok(Axis {
        metric: if element.text == "Duration" { "duration".to_owned() } else { element.text.clone() },
        title: element.attribute("title").unwrap_or(&element.text).to_owned(),
        min: end("min")?,
        max: end("max")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"<?xml version="1.0"?>
<clustering_definition use_duration="yes" apply_log="yes" normalize_data="no" duration_filter="1000" threshold_filter="2.5">
  <clustering_algorithm name="DBSCAN">
    <epsilon>.010</epsilon> <min_points> 4 </min_points>
  </clustering_algorithm>
  <clustering_parameters>
    <single_event apply_log="yes" name="Instructions">
      <event_type>42000050</event_type><!-- <factor>9</factor> -->
      <range_min>-1</range_min><range_max>1e10</range_max><factor>2</factor>
    </single_event>
    <single_event name="PAPI_L1_DCM"/>
    <mixed_events name="IPS" operation="/" apply_log="no">
      <event_type_a>PAPI_TOT_INS [Instr completed]</event_type_a><event_type_b>duration</event_type_b>
    </mixed_events>
    <surprise/>
  </clustering_parameters>
  <extrapolation_parameters all_counters="no">
    <single_event name="Cycles"><event_type>42000059</event_type></single_event>
  </extrapolation_parameters>
  <output_plots all_plots="no">
    <plot_definition raw_metrics="no">
      <x_metric title="I &amp; S" min="0.1" max="2">IPS</x_metric>
      <y_metric>Duration</y_metric>
    </plot_definition>
  </output_plots>
</clustering_definition>"#;

    #[test]
    fn reads_what_it_says() {
        let found = parse(FULL).expect("reads");
        assert_eq!(found.filter, Some(DurationFilter::Min(Nanos(1_000_000))));
        assert_eq!((found.min_share, found.scale), (Some(0.025), Some(Scale::None)));
        assert_eq!(
            (found.algorithm, found.eps, found.min_points),
            (Some(Algorithm::Dbscan), Some(0.01), Some(4))
        );
        let metrics = found.metrics.expect("metrics");
        let shown: Vec<String> =
            metrics.iter().map(|m| format!("{}={} log={}", m.name, m.expr, m.log)).collect();
        assert_eq!(
            shown,
            [
                "Duration=duration log=true",
                "Instructions=42000050 log=true",
                "PAPI_L1_DCM=PAPI_L1_DCM log=false",
                "IPS=PAPI_TOT_INS [Instr completed] / duration log=false",
            ]
        );
        assert_eq!((metrics[1].factor, metrics[1].min, metrics[1].max), (2.0, None, Some(1e10)));
        assert_eq!(found.extrapolate.len(), 1);
        let plot = &found.plots[0];
        assert_eq!(
            (plot.x.title.as_str(), plot.x.min, plot.x.max, plot.raw),
            ("I & S", Some(0.1), Some(2.0), false)
        );
        assert_eq!(plot.y.as_ref().map(|y| y.metric.as_str()), Some("duration"));
        assert_eq!(found.notes, ["line 15: <surprise> is not known here and was passed over"]);
    }

    #[test]
    fn durations_have_their_units() {
        let ns = |text| duration(text, 1).map(|d| d.0).ok();
        for (text, expected) in [
            ("5", 5_000),
            ("5us", 5_000),
            ("5u", 5_000),
            ("7n", 7),
            ("7ns", 7),
            ("3m", 3_000_000),
            ("3ms", 3_000_000),
            ("2s", 2_000_000_000),
            ("2S", 2_000_000_000),
            ("1M", 60_000_000_000),
            ("1H", 3_600_000_000_000),
            ("1D", 86_400_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(ns(text), Some(expected), "{text}");
        }
        assert!(ns("us").is_none() && ns("5x").is_none() && ns("").is_none() && ns("-5").is_none());
    }

    #[test]
    fn errors_have_their_line() {
        for (from, to, line, expected) in [
            (".010", "x", 4, "'x' in <epsilon> is not a number"),
            (".010", "0", 4, "must be positive"),
            (" 4 ", "4.5", 4, "positive whole number"),
            ("DBSCAN", "MUSTER_CAPEK", 3, "likewise ranks"),
            ("DBSCAN", "KMEANS", 3, "no clustering algorithm 'KMEANS'"),
            ("operation=\"/\"", "operation=\"%\"", 12, "expected +, -, * or /"),
            ("event_type_b>", "event_type_c>", 12, "no <event_type_b>"),
            ("<factor>2", "<factor>0", 7, "must be positive"),
            ("1e10", "many", 9, "not a number"),
            ("2.5", "250", 2, "from 0 to 100"),
            ("\"1000\"", "\"1000y\"", 2, "unit 'y'"),
            ("</clustering_parameters>", "</parameters>", 16, "broken XML"),
            ("y_metric", "x_metric", 23, "a second <x_metric>"),
        ] {
            let error = parse(&FULL.replace(from, to)).expect_err(to);
            assert_eq!(error.line, line, "{error}");
            assert!(error.message.contains(expected), "{error}");
        }
        assert_eq!(parse("\n<html/>").expect_err("refused").line, 2);
    }

    #[test]
    fn other_algorithms_are_read_as_the_nearest_there_is() {
        let text = "<clustering_definition><clustering_algorithm name='GMEANS'>
            <critical_value>1</critical_value><max_clusters>12</max_clusters>
            </clustering_algorithm></clustering_definition>";
        let found = parse(text).expect("reads");
        assert_eq!((found.algorithm, found.k_max), (Some(Algorithm::Xmeans), Some(12)));
        assert!(found.notes[0].contains("X-means"));
        let muster = parse(&FULL.replace("DBSCAN", "MUSTER_DBSCAN")).expect("reads");
        assert_eq!((muster.algorithm, muster.notes.len()), (Some(Algorithm::Dbscan), 2));
    }

    #[test]
    fn reads_the_definition_of_the_epoch_trace() {
        let Some(data) = likewise_testing::real_data() else { return };
        let found = super::super::read_definition(&data.join("epoch/cluster.xml")).expect("reads");
        assert_eq!((found.eps, found.min_points), (Some(0.01), Some(10)));
        assert_eq!(found.filter, Some(DurationFilter::Min(Nanos(5_000))));
        assert_eq!((found.scale, found.min_share), (Some(Scale::MinMax), Some(0.0)));
        let metrics = found.metrics.expect("metrics");
        assert_eq!(metrics[0].expr, Expr::One(Operand::Counter("42000050".to_owned())));
        assert!(metrics[0].log && !metrics[1].log);
        assert_eq!((metrics[0].min, metrics[0].max), (None, None));
        assert_eq!((found.plots.len(), found.plots[0].raw), (1, true));
        assert_eq!(found.notes, Vec::<String>::new());
    }
}
