//! Classes of ranks for tests of what shows them.

use super::report::{Class, GroupingFacts, MeanTrace, Plan, RanksReport};
use super::verdict::{Kind, Verdict};
use likewise::ranks::{Moments, Stratification, Support};

/// Two classes of ranks, one of them small, in two regions.
#[must_use]
pub fn sample() -> RanksReport {
    let trace = |level: f64| MeanTrace {
        mean: (0..20).map(|s| level + f64::from(s)).collect(),
        deviation: vec![0.5; 20],
        least: (0..20).map(|s| level + f64::from(s) - 1.0).collect(),
        most: (0..20).map(|s| level + f64::from(s) + 1.0).collect(),
    };
    let class = |medoid, ranks, level| Class {
        medoid,
        ranks,
        effort: (level * 20.0, 3.0),
        ends: (level * 20.0 - 1.0, level * 20.0 + 1.0),
        dissimilarity: (1.5, 4.0),
        regions: Moments {
            n_ranks: ranks,
            mean: vec![level * 20.0, level * 40.0],
            variance: vec![9.0; 2],
            least: vec![level * 20.0 - 1.0, level * 40.0 - 1.0],
            most: vec![level * 20.0 + 1.0, level * 40.0 + 1.0],
        },
        traces: vec![trace(level), trace(2.0 * level)],
    };
    let class_of: Vec<u32> = (0..64).map(|r| u32::from(r % 32 == 7)).collect();
    RanksReport {
        input: "run <b>.csv".to_owned(),
        grouping: GroupingFacts {
            method: "capek".to_owned(),
            is_exact: true,
            signature: "haar, level 2".to_owned(),
            dims: 10,
            loss: 96.0,
            bic: vec![(1, -900.0), (2, -300.5), (3, -310.0)],
            seed: 7,
            ..GroupingFacts::default()
        },
        regions: vec!["MPI_Send → <i>".to_owned(), "b".to_owned()],
        n_steps: 20,
        classes: vec![class(3, 62, 10.0), class(7, 2, 30.0)],
        dissimilarity: (0..64).map(|r| if r == 3 || r == 7 { 0.0 } else { 1.5 }).collect(),
        sampled: (0..64).map(|r| r == 7 || r == 5 || r == 6).collect(),
        class_of,
        plan: Plan {
            confidence: 0.95,
            sample: vec![2, 1],
            without_classes: 60,
            expected_error: 0.04,
            stratification: Stratification {
                between: 90.0,
                within: 10.0,
                variance: 1.0,
                variance_in_strata: 0.1,
            },
            pays: 0.5,
            ..Plan::default()
        },
        verdict: Verdict {
            kind: Kind::Classes,
            support: Some(Support {
                n_classes: 2,
                explained: 0.98,
                by_chance: 0.75,
                at_most_by_chance: 0.81,
                gap: 2.5,
                deviation: 0.1,
                is_supported: true,
            }),
            ..Verdict::default()
        },
        ..RanksReport::default()
    }
}

#[cfg(test)]
mod tests {
    use super::sample;
    use likewise::words::share_text;

    #[test]
    fn findings_say_what_matters() {
        let found = sample().findings();
        assert_eq!(
            found[0],
            "64 ranks behave in 2 ways: these classes explain 98.0% of the variance, where classes of ranks without \
             any explain 75.0% on average and 81.0% at most."
        );
        assert_eq!(
            found[1],
            "Class 2, ranks 7, 39, differs most in b: 60 a step, the others 20 (× 3.00), in all regions × 3.00."
        );
        assert!(found[2].starts_with("Class 2 (2 ranks) does the most: 2.82 times"), "{}", found[2]);
        assert_eq!(
            found[3],
            "To know the mean effort of every step and region within 5% at 95% confidence, tracing 3 ranks (4.7%) is enough; \
             without classes it would take 60."
        );
        assert_eq!(
            found[4],
            "Sampling by class pays (equation 2): for the effort over all 20 steps, the variance within classes is 10.0% of \
             that of all ranks; it pays in 50.0% of the steps and regions."
        );
    }

    #[test]
    fn tiny_shares_are_not_zero() {
        assert_eq!(share_text(0.25), "25.0%");
        assert_eq!(share_text(4.0 / 65_536.0), "0.0061%");
        assert_eq!(share_text(0.0), "0.0%");
        assert_eq!(share_text(0.007_353), "0.74%");
    }
}
