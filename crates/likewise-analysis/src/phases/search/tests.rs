use super::first::{Desk, Question, Ranks};
use super::*;
use anyhow::Result;
use likewise::comm::{Communicator, run_on_threads};
use likewise::table::{
    Counter, CounterColumn, DurationFilter, Expr, Metric, Nanos, Operand, Preparation, Runs, Scale, Values,
    prepare,
};
use std::sync::Mutex;
use std::sync::mpsc::channel;

/// Points of three tight clouds and some noise.
fn points(n: usize) -> Vec<f64> {
    let noise = |i: usize| ((i * 7919) % 1009) as f64 / 1009.0;
    let at = |i: usize| if i.is_multiple_of(17) { 3.0 * noise(i) } else { (i % 3) as f64 + 0.01 * noise(i) };
    (0..n).flat_map(|i| [at(i), at(i + 51)]).collect()
}

#[test]
fn all_find_what_one_finds() {
    for n in [0, 1, 3, 500] {
        let data = points(n);
        let points = Points::new(&data, 2).expect("finite");
        let [params, wider] = [0.02, 0.4].map(|eps| DbscanParams::new(eps, 4).expect("valid"));
        for size in [1, 2, 5] {
            let found = run_on_threads(size, |comm| {
                if comm.rank() > 0 {
                    return serve(comm).map(|kept| {
                        assert!(kept.is_some());
                        None
                    });
                }
                let found = on_all(comm, |search| {
                    let distances = search.k_distances(points, &[3, 2]);
                    let core = search.k_distances(points, &[4, 3, 5]);
                    let radii = vec![params.eps(), wider.eps()];
                    let cores = core.ok().map(|found| CoreRadii::of(&found[0], 4, radii));
                    if size > 1 {
                        search.ahead(points, &[params, wider], cores.as_ref());
                    }
                    let along = Along::of(points);
                    let found = [params, wider, params].map(|params| match &cores {
                        Some(cores) => search.dbscan_knowing(&along, &params, cores),
                        None => search.dbscan(points, &params),
                    });
                    // Nobody asks for what was announced.
                    search.ahead(points, &vec![wider; if size > 1 { 5 } else { 0 }], None);
                    assert_eq!(search.dbscan(points, &params), found[0]);
                    Ok((found, distances))
                });
                Ok(Some(found.expect("it works")))
            });
            let (clusters, distances) = found.expect("it works").remove(0).expect("of process 0");
            let expected = [params, wider, params].map(|params| Here.dbscan(points, &params));
            assert_eq!(clusters, expected, "{n} points, {size} processes");
            assert_eq!(distances, Here.k_distances(points, &[3, 2]), "{n} points, {size} processes");
        }
    }
}

/// What the others are asked of two radii that are announced, and what is asked of them when
/// the first is wanted.
#[test]
fn of_two_processes_the_first_finds_the_first_radius_itself() {
    let data = points(60);
    let points = Points::new(&data, 2).expect("finite");
    let radii = [0.02, 0.4].map(|eps| DbscanParams::new(eps, 4).expect("valid"));
    for (size, of_others) in [(2, &radii[1..]), (3, &radii[..])] {
        let ((questions, asked), (answers, answered)) = (channel(), channel());
        answers.send(Vec::new()).expect("it is listened to: all has come");
        let ranks = Ranks { size, desk: Mutex::new(Desk::new(questions, answered)) };
        ranks.ahead(points, &radii, None);
        assert!(matches!(asked.try_recv(), Ok(Question::Points(2, _))));
        let Ok(Question::Ahead(_, ahead, _found)) = asked.try_recv() else { panic!("asked ahead") };
        assert_eq!(ahead, of_others, "{size} processes");
        if size == 2 {
            assert_eq!(ranks.dbscan(points, &radii[0]), dbscan(points, &radii[0]));
            assert!(asked.try_recv().is_err(), "nothing is asked of the other");
        }
    }
}

#[test]
fn the_others_know_that_the_work_failed() {
    let ended = run_on_threads(3, |comm| {
        if comm.rank() > 0 {
            return serve(comm).map(|kept| kept.is_some());
        }
        let done: Result<()> = on_all(comm, |_| anyhow::bail!("no"));
        assert_eq!(done.expect_err("it fails").to_string(), "no");
        Ok(false)
    });
    assert_eq!(ended.expect("they work together"), [false; 3]);
}

/// While process 0 groups, it has no counters; then it has them as they were, and each of the
/// others those of its rows.
#[test]
fn the_others_keep_counters() {
    let n = 50_000;
    let counter = |name: &str, value: fn(usize) -> f64| CounterColumn {
        counter: Counter { event_type: Some(7), name: name.to_owned(), description: "what".to_owned() },
        values: (0..n).map(value).collect(),
    };
    let one = |_| {
        let mut runs = Runs::default();
        runs.push_run(1, n);
        runs
    };
    let table = || BurstTable {
        app: one(()),
        task: one(()),
        thread: one(()),
        begin: (0..n as u64).map(Nanos).collect(),
        duration: (0..n as u64).map(|i| Nanos(1 + i % 9)).collect(),
        counters: vec![
            counter("whole", |i| if i % 5 == 0 { f64::NAN } else { i as f64 }),
            counter("any", |i| i as f64 / 3.0),
        ],
        code: None,
    };
    let metrics = vec![Metric::new("whole", Expr::One(Operand::Counter("whole".to_owned())))];
    let preparation =
        Preparation { metrics, filter: DurationFilter::Min(Nanos(3)), scale: Scale::MinMax, pca: None };
    let prepared = prepare(&table(), &preparation).expect("it has the counter");
    let bits = |values: &Values| values.iter().map(f64::to_bits).collect::<Vec<_>>();
    for size in [1, 2, 4] {
        let kept = run_on_threads(size, |comm| {
            if comm.rank() > 0 {
                return serve(comm);
            }
            on_all(comm, |search| {
                let mut own = table();
                search.keep_counters(&mut own, &prepared);
                assert_eq!(own.counters.is_empty(), size > 1, "{size} processes");
                search.counters_back(&mut own);
                for (own, expected) in own.counters.iter().zip(&table().counters) {
                    assert_eq!(
                        (&own.counter, bits(&own.values)),
                        (&expected.counter, bits(&expected.values))
                    );
                }
                assert_eq!(own.counters.len(), 2);
                Ok(())
            })
            .expect("it works");
            Ok(None)
        });
        let kept = kept.expect("they work together");
        let deal = super::super::Deal::among(size);
        for (other, kept) in kept[1..].iter().enumerate() {
            let kept = kept.as_ref().expect("the others keep some");
            assert_eq!((&kept.metrics, &kept.normalisations), (&prepared.metrics, &prepared.normalisations));
            let mut first = 0;
            for rows in deal.rows_of(other, n) {
                let own = kept.of_rows(first, rows.len());
                first += rows.len();
                for (own, all) in own.iter().zip(&table().counters) {
                    assert_eq!(bits(&own.values), bits(&all.values.rows(std::iter::once(rows.clone()))));
                }
            }
            assert!(first > 0 && kept.of_rows(first, 9).iter().all(|column| column.values.is_empty()));
        }
    }
}
