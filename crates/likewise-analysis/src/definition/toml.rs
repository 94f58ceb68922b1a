//! Definitions in TOML. Every key may be absent; one that is not known is an
//! error.
//!
//! ```toml
//! metrics = ["PAPI_TOT_INS", "IPC=PAPI_TOT_INS/PAPI_TOT_CYC,min=0.1"]  # as for --metric
//! extrapolate = ["MPKI=PAPI_L3_TCM/PAPI_TOT_INS"]  # reported per cluster, not clustered by
//! duration_filter = "5us"      # or: keep_time = "99%"
//! threshold_filter = "0.5%"    # clusters with a smaller share of the clusters' time go
//! scale = "min-max"            # or "z-score", "none"
//! pca = 2
//! algorithm = "dbscan"         # or "xmeans"
//! eps = 0.01
//! min_points = 10
//! k_min = 1                    # X-means
//! k_max = 50
//! sample = 20000
//! all_plots = false
//!
//! [[plot]]                     # y and z may be absent
//! x = "IPC"
//! x_title = "Instructions per cycle"
//! x_range = [0.0, 4.0]
//! y = "PAPI_TOT_INS"
//! raw = true
//! ```

use ::toml::Spanned;
use likewise::table::{DurationFilter, Nanos, Scale};
use serde::Deserialize;
use std::num::NonZeroUsize;

use super::types::{Algorithm, Axis, Definition, DefinitionError, Plot, line_of, parse_share};

/// The file as written; every key may be absent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    metrics: Option<Vec<Spanned<String>>>,
    extrapolate: Option<Vec<Spanned<String>>>,
    duration_filter: Option<Spanned<String>>,
    keep_time: Option<Spanned<String>>,
    threshold_filter: Option<Spanned<String>>,
    algorithm: Option<AlgorithmName>,
    eps: Option<Spanned<f64>>,
    min_points: Option<Spanned<usize>>,
    k_min: Option<NonZeroUsize>,
    k_max: Option<NonZeroUsize>,
    scale: Option<ScaleName>,
    pca: Option<usize>,
    sample: Option<NonZeroUsize>,
    #[serde(default)]
    plot: Vec<PlotTable>,
    #[serde(default)]
    all_plots: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum AlgorithmName {
    Dbscan,
    Xmeans,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ScaleName {
    MinMax,
    ZScore,
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlotTable {
    x: String,
    x_title: Option<String>,
    x_range: Option<Range>,
    y: Option<String>,
    y_title: Option<String>,
    y_range: Option<Range>,
    z: Option<String>,
    z_title: Option<String>,
    z_range: Option<Range>,
    #[serde(default = "raw_by_default")]
    raw: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "[f64; 2]")]
struct Range([f64; 2]);

impl TryFrom<[f64; 2]> for Range {
    type Error = &'static str;

    fn try_from([min, max]: [f64; 2]) -> Result<Self, Self::Error> {
        let good = min.is_finite() && max.is_finite() && min < max;
        if good { Ok(Self([min, max])) } else { Err("a range is [least, greatest], two finite numbers") }
    }
}

fn raw_by_default() -> bool {
    true
}

/// Reads a definition in TOML.
pub(super) fn parse(text: &str) -> Result<Definition, DefinitionError> {
    let line = |at: usize| line_of(text.as_bytes(), at);
    let file: File = ::toml::from_str(text).map_err(|e| {
        DefinitionError::new(line(e.span().map_or(0, |span| span.start)), e.message().replace('\n', ", "))
    })?;
    /// Converts a value, or says on which line it stands.
    fn convert<T, U, E: ToString>(
        value: &Spanned<T>,
        line: impl Fn(usize) -> usize,
        f: impl Fn(&T) -> Result<U, E>,
    ) -> Result<U, DefinitionError> {
        f(value.get_ref()).map_err(|e| DefinitionError::new(line(value.span().start), e.to_string()))
    }
    let metrics = |list: Vec<Spanned<String>>| {
        list.iter().map(|m| convert(m, line, |text| text.parse())).collect::<Result<Vec<_>, _>>()
    };
    let share = |text: &Spanned<String>| convert(text, line, |text| parse_share(text));
    let filter = match (&file.duration_filter, &file.keep_time) {
        (Some(_), Some(keep)) => {
            let message = "duration_filter and keep_time exclude each other";
            return Err(DefinitionError::new(line(keep.span().start), message));
        }
        (Some(min), None) => Some(DurationFilter::Min(convert(min, line, |text| text.parse::<Nanos>())?)),
        (None, Some(keep)) => Some(DurationFilter::KeepTime(share(keep)?)),
        (None, None) => None,
    };
    let positive = |x: &f64| if x.is_finite() && *x > 0.0 { Ok(*x) } else { Err("eps must be positive") };
    let some = |n: &usize| if *n > 0 { Ok(*n) } else { Err("min_points must be at least 1") };
    Ok(Definition {
        metrics: file.metrics.map(metrics).transpose()?,
        extrapolate: file.extrapolate.map(metrics).transpose()?.unwrap_or_default(),
        filter,
        min_share: file.threshold_filter.as_ref().map(share).transpose()?,
        algorithm: file.algorithm.map(|name| match name {
            AlgorithmName::Dbscan => Algorithm::Dbscan,
            AlgorithmName::Xmeans => Algorithm::Xmeans,
        }),
        eps: file.eps.as_ref().map(|eps| convert(eps, line, positive)).transpose()?,
        min_points: file.min_points.as_ref().map(|n| convert(n, line, some)).transpose()?,
        k_min: file.k_min.map(NonZeroUsize::get),
        k_max: file.k_max.map(NonZeroUsize::get),
        scale: file.scale.map(|name| match name {
            ScaleName::MinMax => Scale::MinMax,
            ScaleName::ZScore => Scale::ZScore,
            ScaleName::None => Scale::None,
        }),
        pca: file.pca,
        sample: file.sample.map(NonZeroUsize::get),
        plots: file.plot.into_iter().map(PlotTable::plot).collect(),
        all_plots: file.all_plots,
        notes: Vec::new(),
    })
}

impl PlotTable {
    fn plot(self) -> Plot {
        let axis = |metric: String, title: Option<String>, range: Option<Range>| Axis {
            title: title.unwrap_or_else(|| metric.clone()),
            metric,
            min: range.map(|r| r.0[0]),
            max: range.map(|r| r.0[1]),
        };
        Plot {
            x: axis(self.x, self.x_title, self.x_range),
            y: self.y.map(|y| axis(y, self.y_title, self.y_range)),
            z: self.z.map(|z| axis(z, self.z_title, self.z_range)),
            raw: self.raw,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_key() {
        let text = r#"
            metrics = ["PAPI_TOT_INS", "IPC=PAPI_TOT_INS/PAPI_TOT_CYC,min=0.1"]
            extrapolate = ["MPKI=PAPI_L3_TCM/PAPI_TOT_INS"]
            keep_time = "99%"
            threshold_filter = "0.5%"
            algorithm = "dbscan"
            eps = 0.01
            min_points = 10
            k_min = 2
            k_max = 20
            scale = "z-score"
            pca = 2
            sample = 20000
            all_plots = false
            [[plot]]
            x = "IPC"
            x_title = "Instructions per cycle"
            y = "PAPI_TOT_INS"
            y_range = [1e3, 1e10]
            raw = false
        "#;
        let found = parse(text).expect("reads");
        let metrics = found.metrics.expect("metrics");
        assert_eq!((metrics[1].name.as_str(), metrics[1].min), ("IPC", Some(0.1)));
        assert_eq!(found.extrapolate[0].name, "MPKI");
        assert_eq!(found.filter, Some(DurationFilter::KeepTime(0.99)));
        assert_eq!((found.min_share, found.eps, found.min_points), (Some(0.005), Some(0.01), Some(10)));
        assert_eq!(
            (found.k_min, found.k_max, found.pca, found.sample),
            (Some(2), Some(20), Some(2), Some(20000))
        );
        assert_eq!((found.algorithm, found.scale), (Some(Algorithm::Dbscan), Some(Scale::ZScore)));
        let plot = &found.plots[0];
        assert_eq!((plot.x.title.as_str(), plot.raw), ("Instructions per cycle", false));
        assert_eq!(plot.y.as_ref().map(|y| (y.title.as_str(), y.max)), Some(("PAPI_TOT_INS", Some(1e10))));
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let error = |text: &str| parse(text).expect_err("refused");
        let unknown = error("eps = 0.1\nepsilon = 0.2\n");
        assert_eq!(unknown.line, 2);
        assert!(unknown.message.contains("unknown field `epsilon`"), "{unknown}");
        assert!(unknown.message.contains("`min_points`"), "{unknown}");
        assert_eq!(error("\nmetrics = [\n'A',\n'B,loud']").line, 4);
        assert_eq!(error("eps = 1\nduration_filter = '5'").line, 2);
        assert_eq!(error("eps = -1").line, 1);
        assert_eq!(error("\nmin_points = 0").line, 2);
        assert_eq!(error("duration_filter = '5us'\nkeep_time = '9%'").line, 2);
        assert_eq!(error("\n\nscale = 'loud'").line, 3);
        assert_eq!(error("eps = 1\neps == 2").line, 2);
        assert_eq!(error("[[plot]]\ny = 'A'").line, 1);
        assert_eq!(error("[[plot]]\nx = 'A'\nx_range = [2, 1]").line, 3);
    }
}
