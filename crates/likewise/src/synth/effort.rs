//! Effort over time, as processes of six kinds spend it.

use super::draw::Stream;

/// How many kinds of trace there are; object `i` is of kind `i mod KINDS`.
pub const KINDS: usize = 6;

/// What a kind of process spends in a step, without noise.
///
/// # Panics
/// If `kind` is not below [`KINDS`].
#[must_use]
pub fn shape(kind: usize, step: usize) -> f64 {
    let c = step as f64;
    match kind {
        0 => 10.0 * (c / 5.0).sin(),
        1 => (c / 5.0).sin(),
        2 => 10.0 * (c / 5.0).sin().powi(2) * c.cos(),
        3 => 2.0 * c,
        4 => 20.0 * (10.0 * c).cos() * (c / 2.0).sin(),
        5 => 8.0,
        _ => panic!("there are {KINDS} kinds of trace, and {kind} is none"),
    }
}

/// Effort traces of `n_objects`, `n_steps` long: the [`shape`] of their kind
/// and noise, uniform in [0, 1).
///
/// Each object draws from its own stream, so that a rank can make its own
/// traces alone. Sines are the system's: another may differ in the last bit.
///
/// # Reference
/// The data of Gamblin et al., ICS 2010, §7.3 (64 steps).
#[must_use]
pub fn effort_traces(n_objects: usize, n_steps: usize, seed: u64) -> Vec<Vec<f64>> {
    (0..n_objects).map(|object| effort_trace(object, n_steps, seed)).collect()
}

/// One of the [`effort_traces`].
#[must_use]
pub fn effort_trace(object: usize, n_steps: usize, seed: u64) -> Vec<f64> {
    let mut noise = Stream::at(seed, [object as u64, 0, 0]);
    (0..n_steps).map(|step| shape(object % KINDS, step) + noise.uniform()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_its_shape_and_noise_below_one() {
        let traces = effort_traces(13, 64, 5);
        for (object, trace) in traces.iter().enumerate() {
            let noise: Vec<f64> =
                trace.iter().enumerate().map(|(c, x)| x - shape(object % KINDS, c)).collect();
            assert!(noise.iter().all(|x| (-1e-12..1.0 + 1e-12).contains(x)));
            let mean = noise.iter().sum::<f64>() / 64.0;
            assert!((mean - 0.5).abs() < 0.2, "{mean}");
            assert_eq!(*trace, effort_trace(object, 64, 5));
        }
        assert_ne!(traces[0], traces[6]);
        assert_ne!(traces, effort_traces(13, 64, 6));
    }
}
