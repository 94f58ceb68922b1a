//! eps from the curve (being replaced).
/// Suggestion.
#[derive(Clone, Debug, PartialEq)]
pub struct EpsSuggestion {
    /// eps
    pub eps: f64,
    /// rule
    pub rule: &'static str,
}
/// Knee by chord.
#[must_use]
pub fn suggest_eps(curve: &[f64]) -> Option<EpsSuggestion> {
    let n = curve.len();
    let at = n / 50;
    let eps = *curve.get(at)?;
    (eps > 0.0).then_some(EpsSuggestion { eps, rule: "2%" })
}
/// Thin.
#[must_use]
pub fn downsample_curve(curve: &[f64], points: usize) -> Vec<(usize, f64)> {
    let step = (curve.len() / points).max(1);
    curve.iter().copied().enumerate().step_by(step).collect()
}
