use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};

use super::*;
use crate::synth::broadcast::{BROADCAST_REGIMES, BYTES, BroadcastTable, broadcast_table};

mod formulas;

fn columns<'a>(names: &[&'a str], values: &'a [Vec<f64>]) -> Vec<Column<'a>> {
    names.iter().zip(values).map(|(&name, values)| Column { name, values }).collect()
}

fn broadcast_models() -> [Formula; 3] {
    collective_models("p", "h", BYTES, &["p", "h"]).expect("formulas")
}

fn of_broadcast(table: &BroadcastTable, params: &RegimeParams) -> Regimes {
    let columns =
        [Column { name: "p", values: &table.processes }, Column { name: "h", values: &table.length }];
    find_regimes(&table.seconds, &columns, &broadcast_models(), params).expect("regimes")
}

/// The four regions of the paper's Table 1, with latency and bandwidth.
#[test]
fn finds_the_regimes_of_a_broadcast() {
    let mut worst = [(0.0_f64, 0.0_f64); 4];
    let mut held = 0;
    for seed in 0..20 {
        let table = broadcast_table(16, 0.02, seed).expect("a table");
        let found = of_broadcast(&table, &RegimeParams::default());
        assert!(found.exact && found.bic > found.bic_of_one);
        assert_eq!(found.labels, labels(&table), "seed {seed}");
        for ((region, truth), worst) in found.regions.iter().zip(&BROADCAST_REGIMES).zip(&mut worst) {
            let [latency, bandwidth] = [region.latency(), region.bandwidth()].map(|e| e.expect("both"));
            worst.0 = worst.0.max((latency.value / truth.latency - 1.0).abs());
            worst.1 = worst.1.max((bandwidth.value / truth.bandwidth - 1.0).abs());
            let within = |e: Estimate, truth: f64| usize::from(e.low < truth && truth < e.high);
            held += within(latency, truth.latency) + within(bandwidth, truth.bandwidth);
            assert!((region.spread - 0.02).abs() < 0.003, "{}", region.spread);
            if seed == 0 {
                println!("{:.4e} s, {:.4e} B/s", latency.value, bandwidth.value);
            }
        }
        let models: Vec<usize> = found.regions.iter().map(|r| r.model).collect();
        assert_eq!(models, [0, 0, 1, 1]);
        let bounds = |region: usize, column: usize| {
            let range = found.regions[region].ranges[column];
            (range.above, range.at_most)
        };
        assert_eq!((bounds(0, 0), bounds(1, 0)), ((None, Some(1.0)), (Some(1.0), Some(2.0))));
        assert_eq!((bounds(2, 0), bounds(2, 1)), ((Some(2.0), None), (None, Some(65536.0))));
        assert_eq!(bounds(3, 1), (Some(65536.0), None));
    }
    println!("worst of 20 seeds, latency and bandwidth: {worst:.4?}; {held} of 160 intervals hold");
    assert!(worst.iter().all(|w| w.0 < 0.05 && w.1 < 0.05), "{worst:?}");
    assert!(held >= 144, "{held}");
}

fn labels(table: &BroadcastTable) -> Vec<Option<u32>> {
    table.regime.iter().map(|&r| Some(r as u32)).collect()
}

/// One measurement of each kind and five times the noise: the regions stay.
/// So they do where one time in a hundred is five times too long, if medians
/// are taken.
#[test]
fn finds_the_regimes_of_a_noisy_broadcast() {
    let (mut noisy, mut strayed) = (0, 0);
    for seed in 0..50 {
        let table = broadcast_table(1, 0.1, seed).expect("a table");
        noisy += usize::from(of_broadcast(&table, &RegimeParams::default()).labels == labels(&table));
        let mut table = broadcast_table(4, 0.02, seed).expect("a table");
        table.seconds.iter_mut().skip(seed as usize).step_by(97).for_each(|s| *s *= 5.0);
        let columns =
            [Column { name: "p", values: &table.processes }, Column { name: "h", values: &table.length }];
        let medians = medians(&table.seconds, &columns);
        let once = broadcast_table(1, 0.0, 0).expect("a table");
        assert_eq!(medians.columns, [once.processes, once.length]);
        table.processes.clone_from(&medians.columns[0]);
        table.length.clone_from(&medians.columns[1]);
        table.seconds = medians.response;
        table.regime = once.regime;
        strayed += usize::from(of_broadcast(&table, &RegimeParams::default()).labels == labels(&table));
    }
    println!("noise 0.1: {noisy} of 50; strays: {strayed} of 50");
    assert!(noisy >= 48 && strayed >= 48, "{noisy}, {strayed}");
}

/// Without regimes, no more than one table in a hundred is split.
#[test]
fn one_law_is_one_region() {
    let model = [Formula::parse("a + b*log2(p) + c*h", &["p", "h"]).expect("a formula")];
    let mut split = 0;
    for (seed, noise, repeats) in (0..50).flat_map(|s| [(s, 0.02, 2), (s, 0.1, 2), (s, 0.02, 1), (s, 0.1, 1)])
    {
        let exact = broadcast_table(repeats, 0.0, 0).expect("a table");
        let mut table = broadcast_table(repeats, noise, seed).expect("a table");
        for i in 0..table.seconds.len() {
            let law = 1e-3 + 966e-6 * table.processes[i].log2() + table.length[i] * BYTES / 215e6;
            table.seconds[i] *= law / exact.seconds[i];
        }
        let columns =
            [Column { name: "p", values: &table.processes }, Column { name: "h", values: &table.length }];
        let found = find_regimes(&table.seconds, &columns, &model, &RegimeParams::default());
        let found = found.expect("regimes");
        split += usize::from(found.regions.len() > 1);
        assert_eq!(found.bic == found.bic_of_one, found.regions.len() == 1);
    }
    println!("{split} of 200 split");
    assert!(split <= 2, "{split}");
}

/// `tests/oracle/regimes.py`.
#[test]
fn coefficients_and_errors_equal_statsmodels() {
    let lines = include_str!("../../../tests/oracle/regimes.csv").lines();
    let mut rows: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
    for line in lines {
        let (kind, rest) = line.split_once(',').expect("a kind");
        let values = rest.split(',').map(|x| x.parse().expect("a number")).collect();
        rows.entry(kind).or_default().push(values);
    }
    let data = [rows["p"][0].clone(), rows["h"][0].clone()];
    let model = Formula::parse("a + b*h + c*log2(p)", &["p", "h"]).expect("a formula");
    for (kind, noise) in [("relative", Noise::Relative), ("absolute", Noise::Absolute)] {
        let params = RegimeParams { noise, at_least: 60, ..Default::default() };
        let found =
            find_regimes(&rows["y"][0], &columns(&["p", "h"], &data), std::slice::from_ref(&model), &params);
        let region = &found.expect("one region").regions[0];
        let estimates: Vec<Estimate> = region.coefficients.iter().filter_map(|c| c.estimate).collect();
        let ours = [
            estimates.iter().map(|e| e.value).collect::<Vec<f64>>(),
            estimates.iter().map(|e| e.std_error).collect(),
            estimates.iter().map(|e| e.low).collect(),
            estimates.iter().map(|e| e.high).collect(),
            vec![region.spread],
        ];
        for (ours, theirs) in ours.iter().zip(&rows[kind]) {
            assert_eq!(ours.len(), theirs.len());
            for (a, b) in ours.iter().zip(theirs) {
                assert!((a - b).abs() <= 1e-7 * b.abs(), "{kind}: {a:e} is not {b:e}");
            }
        }
    }
}

/// 4,000 values of each parameter are too many to try all boxes: bounds are
/// first quantiles, then moved.
#[test]
fn moves_coarse_bounds_to_the_true_ones() {
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let (mut p, mut h, mut y) = (Vec::new(), Vec::new(), Vec::new());
    let is_slow = |p: f64, h: f64| p > 0.3 && h > 0.7;
    for _ in 0..4000 {
        let (at_p, at_h) = (uniform(), uniform());
        let law = if is_slow(at_p, at_h) { 5.0 + 4.0 * at_h } else { 3.0 + at_h };
        p.push(at_p);
        h.push(at_h);
        y.push(law * (0.97 + 0.06 * uniform()));
    }
    let data = [p, h];
    let model = [Formula::parse("a + b*h", &["p", "h"]).expect("a formula")];
    let found = find_regimes(&y, &columns(&["p", "h"], &data), &model, &RegimeParams::default());
    let found = found.expect("regimes");
    assert!(!found.exact);
    assert_eq!(found.regions.len(), 3);
    let wrong = (0..4000).filter(|&i| (found.labels[i] == Some(2)) != is_slow(data[0][i], data[1][i]));
    assert_eq!(wrong.count(), 0);
}

#[test]
fn steps_of_a_clock_are_no_regimes() {
    // Whole microseconds beyond 1,000: each is within 0.1 % of the line.
    let h: Vec<f64> = (0..400).map(|i| f64::from(i % 100) * 100.0).collect();
    let y: Vec<f64> = h.iter().map(|h| (1000.0 + 0.003 * h).floor()).collect();
    let data = [h];
    let model = [Formula::parse("a + b*h", &["h"]).expect("a formula")];
    let with = |params: RegimeParams| {
        let found = find_regimes(&y, &columns(&["h"], &data), &model, &params);
        found.expect("regimes").regions.len()
    };
    assert_eq!(with(RegimeParams::default()), 1);
    assert!(with(RegimeParams::default().with_least_spread(1e-6).expect("a share")) > 5);
}

#[test]
fn what_cannot_be_told_is_left_out() {
    let table = broadcast_table(4, 0.02, 3).expect("a table");
    let n = table.seconds.len();
    let mut seconds = table.seconds.clone();
    seconds[7] = f64::NAN;
    let mut length = table.length.clone();
    length[300] = f64::NAN;
    // The same order as p, a constant, and a copy: none of them bounds.
    let data =
        [table.processes.clone(), length, table.processes.iter().map(|p| p.log2()).collect(), vec![4.0; n]];
    let names = ["p", "h", "log p", "nodes"];
    let models: Vec<Formula> = ["lambda + tau*h", "lambda*log2(p) + tau*h", "a + b*nodes + c*'log p'"]
        .map(|text| Formula::parse(text, &names).expect("a formula"))
        .to_vec();
    let found = find_regimes(&seconds, &columns(&names, &data), &models, &RegimeParams::default());
    let found = found.expect("regimes");
    assert_eq!((found.n_missing, found.labels[7], found.labels[300]), (2, None, None));
    assert_eq!(found.regions.len(), 4);
    for range in found.regions.iter().flat_map(|r| &r.ranges[2..]) {
        assert_eq!((range.above, range.at_most), (None, None));
    }
    // On one process log p is 0, and a constant repeats another.
    let model = [Formula::parse("a*log2(p) + b + c*nodes", &names).expect("a formula")];
    let alone: Vec<f64> =
        (0..n).map(|i| if table.regime[i] == 0 { table.seconds[i] } else { f64::NAN }).collect();
    let found = find_regimes(&alone, &columns(&names, &data), &model, &RegimeParams::default());
    let region = &found.expect("regimes").regions[0];
    let known: Vec<bool> = region.coefficients.iter().map(|c| c.estimate.is_some()).collect();
    assert_eq!(known, [false, true, false]);
    let model = [Formula::parse("a*log2(p)", &names).expect("a formula")];
    let none = find_regimes(&alone, &columns(&names, &data), &model, &RegimeParams::default());
    assert_eq!(none, Err(RegimeError::NoFit));
}

#[test]
fn errors_say_where() {
    let data = [(0..20).map(f64::from).collect::<Vec<f64>>()];
    let h = columns(&["h"], &data);
    let y = vec![1.0; 20];
    let parse = |text| [Formula::parse(text, &["h"]).expect("a formula")];
    let error = |y: &[f64], model: &[Formula]| {
        find_regimes(y, &h, model, &RegimeParams::default()).expect_err("an error").to_string()
    };
    assert_eq!(error(&y, &[]), "there is no model; at least 1 is needed");
    assert!(error(&y[1..], &parse("a")).contains("'h' has 20 values"));
    assert!(error(&y, &parse("a*log2(h)")).contains("is -inf in row 0"));
    let with = |value: f64| [&y[..3], &[value], &y[4..]].concat();
    assert!(error(&with(-1.0), &parse("a")).contains("row 3 (from 0) of the response is -1"));
    assert!(error(&with(f64::INFINITY), &parse("a")).contains("row 3 (from 0) of 'the response'"));
    let few = vec![f64::NAN; 20];
    assert!(error(&few, &parse("a")).contains("0 rows have all values (20 lack one)"));
    let other = [Formula::parse("a*p", &["h", "p"]).expect("a formula")];
    assert!(error(&y, &other).contains("column 1"));
    assert!(RegimeParams::default().with_confidence(1.0).is_err());
    assert!(RegimeParams::default().with_least_spread(0.0).is_err());
}

/// The criterion of the best boxes, box by box from the rows, each fitted
/// by eigenvectors.
struct Slow<'a> {
    y: &'a [f64],
    data: &'a [Vec<f64>; 2],
    models: &'a [Formula],
    at_least: usize,
    known: BTreeMap<Vec<usize>, f64>,
}

impl Slow<'_> {
    fn best(&mut self, rows: Vec<usize>) -> f64 {
        if rows.len() < self.at_least {
            return f64::NEG_INFINITY;
        }
        if let Some(&known) = self.known.get(&rows) {
            return known;
        }
        let mut best = self.models.iter().map(|m| self.model(m, &rows)).fold(f64::NEG_INFINITY, f64::max);
        let bound = 1.5 * (self.y.len() as f64).ln();
        for column in self.data {
            for &row in &rows {
                let within = |&&i: &&usize| column[i] <= column[row];
                let left: Vec<usize> = rows.iter().filter(within).copied().collect();
                let right: Vec<usize> = rows.iter().filter(|i| !within(i)).copied().collect();
                if right.is_empty() {
                    continue;
                }
                best = best.max(self.best(left) + self.best(right) - bound);
            }
        }
        self.known.insert(rows, best);
        best
    }

    fn model(&self, model: &Formula, rows: &[usize]) -> f64 {
        let k = model.unknowns().count();
        let unit = |j: usize| (0..k).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        let mut x = DMatrix::from_fn(rows.len(), k, |i, j| {
            let row = rows[i];
            model.value(&unit(j), &[self.data[0][row], self.data[1][row]]) / self.y[row]
        });
        for mut column in x.column_iter_mut() {
            let norm = column.norm();
            column /= if norm > 0.0 { norm } else { 1.0 };
        }
        let ones = DVector::from_element(rows.len(), 1.0);
        // Eigenvectors of the products: nalgebra's singular values are wrong of
        // some matrices with two columns alike.
        let eigen = (x.transpose() * &x).symmetric_eigen();
        let large: Vec<usize> = (0..k).filter(|&i| eigen.eigenvalues[i] > 1e-9).collect();
        let rank = large.len();
        if rank == 0 {
            return f64::NEG_INFINITY;
        }
        let along = |&i: &usize| {
            let vector = eigen.eigenvectors.column(i);
            vector * (vector.dot(&(x.transpose() * &ones)) / eigen.eigenvalues[i])
        };
        let solution = large.iter().map(along).fold(DVector::zeros(k), |sum, part| sum + part);
        let error = (&ones - &x * solution).norm_squared();
        let n = rows.len() as f64;
        let variance = (error / n).max(1e-6);
        let units: f64 = rows.iter().map(|&row| self.y[row].ln()).sum();
        let likelihood =
            -n / 2.0 * (2.0 * std::f64::consts::PI * variance).ln() - error / variance / 2.0 - units;
        likelihood - (rank + 1) as f64 / 2.0 * (self.y.len() as f64).ln()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_other_boxes_are_better(
        cells in prop::collection::vec(0u8..4, 12),
        noise in prop::collection::vec(0.97..1.03f64, 36),
        keep in prop::collection::vec(0.0..1.0f64, 36),
    ) {
        let mut data = [Vec::new(), Vec::new()];
        let mut y = Vec::new();
        for i in (0..36).filter(|&i| keep[i] < 0.9) {
            let (p, h) = (f64::from(1u32 << (i % 3)), f64::from(1u32 << (2 * (i / 3 % 4))));
            data[0].push(p);
            data[1].push(h);
            // Cells next to one another are often alike.
            let law = [1.0 + h, 1.0 + h, 20.0 + p, 3.0 * p.log2() + h + 0.1][cells[i % 12] as usize];
            y.push(law * noise[i]);
        }
        let models = broadcast_models();
        let params = RegimeParams { at_least: 4, ..Default::default() };
        let columns = columns(&["p", "h"], &data);
        let found = find_regimes(&y, &columns, &models, &params).expect("regimes");
        let mut slow = Slow { y: &y, data: &data, models: &models, at_least: 4, known: BTreeMap::new() };
        let best = slow.best((0..y.len()).collect());
        prop_assert!((found.bic - best).abs() < 1e-4, "{} is not {best}", found.bic);
        // What is said of regions is what they are.
        let log_n = (y.len() as f64).ln();
        let sum: f64 = found.regions.iter().map(|r| r.bic).sum();
        let bounds = 1.5 * (found.regions.len() - 1) as f64 * log_n;
        prop_assert!((sum - bounds - found.bic).abs() < 1e-6);
        for (index, region) in found.regions.iter().enumerate() {
            let within = |i: usize| region.ranges.iter().zip(&data).all(|(range, column)| {
                range.above.is_none_or(|x| column[i] > x) && range.at_most.is_none_or(|x| column[i] <= x)
            });
            let rows: Vec<usize> = (0..y.len()).filter(|&i| within(i)).collect();
            prop_assert!(rows.iter().all(|&i| found.labels[i] == Some(index as u32)));
            prop_assert_eq!(rows.len(), region.n);
            prop_assert!((slow.model(&models[region.model], &rows) - region.bic).abs() < 1e-4);
        }
        prop_assert_eq!(found.regions.iter().map(|r| r.n).sum::<usize>(), y.len());
    }

    #[test]
    fn units_do_not_matter(seed in 0u64..1000, power in -12i32..12) {
        let mut table = broadcast_table(1, 0.05, seed).expect("a table");
        let before = of_broadcast(&table, &RegimeParams::default());
        table.seconds.iter_mut().for_each(|s| *s *= 10f64.powi(power));
        let after = of_broadcast(&table, &RegimeParams::default());
        prop_assert_eq!(before.labels, after.labels);
    }
}
