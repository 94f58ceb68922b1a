//! Whether values were read in whole steps of a clock.

/// Multiples of a step are so near to whole ones, up to so many steps: more leave
/// numbers of 53 bits too little.
const WHOLE: f64 = 1e-3;
const MOST_STEPS: f64 = 1e9;

/// So many neighbouring values must be one step apart: powers of two are all multiples of
/// the least of them, and were read in no steps.
const NEIGHBOURS: usize = 8;

/// The least difference of two values, if all are multiples of it and it is met often:
/// then they were read in such steps. Else 0.
pub(super) fn step_of(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let steps: Vec<f64> =
        sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).collect();
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let is_whole = |x: &f64| {
        let times = x / least;
        times.abs() <= MOST_STEPS && (times - times.round()).abs() <= WHOLE
    };
    let neighbours = steps.iter().filter(|step| (*step / least).round() == 1.0).count();
    if neighbours >= NEIGHBOURS && sorted.iter().all(is_whole) { least } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::step_of;

    #[test]
    fn a_clock_shows_in_whole_steps() {
        let ticks =
            |step: f64| -> Vec<f64> { (2..14).chain([40, 700]).map(|i| f64::from(i) * step).collect() };
        assert_eq!(step_of(&ticks(2.0)), 2.0);
        assert!((step_of(&ticks(1e-6)) - 1e-6).abs() < 1e-12);
        let mut between = ticks(1.0);
        between.push(5.3);
        assert_eq!(step_of(&between), 0.0);
        let powers: Vec<f64> = (6..30).map(|i| 2f64.powi(i)).collect();
        assert_eq!(step_of(&powers), 0.0);
        assert_eq!(step_of(&[3.0; 20]), 0.0);
        assert_eq!(step_of(&[]), 0.0);
    }
}
