//! Which counts are those of their burst.

use super::*;

/// The counts of `42000050` in every burst, and what is said of those that are missing.
fn counts(records: &str) -> (Vec<f64>, Vec<String>) {
    let trace =
        read_text(&format!("#Paraver (x):100_ns:0:1:1(1:1)\n{records}"), &ReadOptions::default()).unwrap();
    let said = trace.report.warnings.into_iter().filter(|w| w.contains("count") && !w.contains(".pcf"));
    (trace.table.counters[0].values.iter().collect(), said.collect())
}

#[test]
fn a_count_since_before_the_burst_is_not_the_bursts() {
    let state = |begin: u64, end: u64| format!("1:1:1:1:1:{begin}:{end}:1\n");
    let read = |time: u64, count: u64| format!("2:1:1:1:1:{time}:42000050:{count}\n");
    let first = format!("{}{}{}", read(0, 0), state(0, 10), read(10, 7));
    let missing = |values: &[f64]| values.iter().map(|v| v.is_nan()).collect::<Vec<_>>();
    // Read at both ends, or inside too.
    let both = format!("{first}{}{}{}{}", read(20, 500), state(20, 40), read(30, 5), read(40, 6));
    assert_eq!(counts(&both), (vec![7.0, 11.0], vec![]));
    // Between the bursts will do.
    let between = format!("{both}{}{}{}", read(45, 500), state(50, 60), read(60, 8));
    assert_eq!(counts(&between), (vec![7.0, 11.0, 8.0], vec![]));
    // Not at all since the burst before, or since long before it.
    for gone in [String::new(), state(42, 45)] {
        let late = format!("{both}{gone}{}{}", state(50, 60), read(60, 508));
        let (values, said) = counts(&late);
        assert!(values.last().unwrap().is_nan() && values[..2] == [7.0, 11.0], "{values:?}");
        assert!(said[0].contains("42000050 in 1 burst") && said.len() == 1, "{said:?}");
    }
    // Another set of counters begins anew: at the begin that is a read, inside
    // it is a loss.
    let set = |time: u64| format!("2:1:1:1:1:{time}:41999999:2\n");
    let changed = format!("{both}{}{}{}", set(50), state(50, 60), read(60, 8));
    assert_eq!(counts(&changed).0, [7.0, 11.0, 8.0]);
    let changed = format!("{both}{}{}{}{}", read(50, 9), state(50, 60), set(55), read(60, 8));
    assert_eq!(missing(&counts(&changed).0), [false, false, true]);
}

#[test]
fn where_counters_are_read_at_the_ends_alone_they_count() {
    let burst = |i: u64| format!("1:1:1:1:1:{}:{}:1\n2:1:1:1:1:{1}:42000050:9\n", 20 * i, 20 * i + 10);
    let (values, said) = counts(&(0..4).map(burst).collect::<String>());
    assert_eq!(values, [9.0; 4]);
    assert!(
        said[0].starts_with("each count includes what the thread did since the burst before"),
        "{said:?}"
    );
}

#[test]
fn a_counter_that_is_not_read_at_the_end_of_a_burst_counts_a_part_of_it() {
    let burst = |begin: u64, reads: &[u64]| {
        let read = |time: &u64| format!("2:1:1:1:1:{time}:42000050:9\n");
        format!("1:1:1:1:1:{begin}:{}:1\n{}", begin + 10, reads.iter().map(read).collect::<String>())
    };
    let whole = format!("2:1:1:1:1:0:42000050:0\n{}", burst(0, &[5, 10]));
    assert_eq!(counts(&whole), (vec![18.0], vec![]));
    let (values, said) = counts(&format!("{whole}{}{}", burst(20, &[20, 24, 28]), burst(40, &[40, 50])));
    assert!(values[1].is_nan() && [values[0], values[2]] == [18.0, 9.0], "{values:?}");
    assert!(said[0].contains("when it ended") && said[0].contains("42000050 in 1 burst"), "{said:?}");
}

/// As where counters are read at functions of the program alone.
#[test]
fn a_counter_that_is_first_read_in_a_later_burst_counts_the_earlier_ones_too() {
    let state = |begin: u64, end: u64| format!("1:1:1:1:1:{begin}:{end}:1\n");
    let read = |time: u64, count: u64| format!("2:1:1:1:1:{time}:42000050:{count}\n");
    let rest = format!("{}{}{}{}", state(60, 70), read(70, 8), state(70, 80), read(80, 9));
    // As much as is possible in the burst, and more than that.
    for first in [900, 104_000] {
        let (values, said) = counts(&format!("{}{}{}{rest}", state(0, 40), state(50, 60), read(60, first)));
        assert!(values[0].is_nan() && values[1].is_nan() && values[2..] == [8.0, 9.0], "{values:?}");
        assert!(said[0].contains("42000050 in 1 burst") && said.len() == 1, "{said:?}");
    }
}

#[test]
fn a_count_is_impossible_if_it_is_in_the_time_since_the_read_before() {
    let burst = |(begin, end): (u64, u64), count: u64| {
        format!("1:1:1:1:1:{begin}:{end}:1\n2:1:1:1:1:{end}:42000050:{count}\n")
    };
    let of = |count: u64| {
        let (values, said) =
            counts(&format!("{}{}{}", burst((0, 10), 7), burst((50, 60), count), burst((60, 70), 9)));
        assert!(values[1].is_nan() && [values[0], values[2]] == [7.0, 9.0], "{values:?}");
        said.join(" ")
    };
    // 100 in each of 50 ns, and 1 µs more. What was counted in between is not the burst's.
    let said = of(105_000);
    assert!(said.contains("not of their burst alone") && !said.contains("impossible"), "{said}");
    let said = of(105_001);
    assert!(said.contains("impossible in 1 burst of 3") && !said.contains("burst alone"), "{said}");
}
