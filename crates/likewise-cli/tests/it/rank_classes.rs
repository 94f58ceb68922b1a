//! `likewise ranks`: what it says of classes, and where there are none.

use crate::ranks::{classes, same_under_mpi, under, write_csv};
use crate::support::{LAUNCHERS, finish, likewise, read, seeds, succeeds, summary, text};
use likewise::synth::effort::effort_traces;
use std::path::Path;

/// Two levels, and ranks that differ by degrees about each: the finer they are
/// told apart, the better for the BIC.
#[test]
fn no_more_classes_than_the_data_support() {
    let dir = tempfile::tempdir().unwrap();
    let level = |rank: usize| [1.0, 1.1, 1.25, 1.4, 1.6, 1.7, 9.0, 9.2, 9.3, 9.45, 9.65][rank];
    let traces: Vec<Vec<f64>> = (0..11).map(|rank| vec![level(rank); 40]).collect();
    let file = write_csv(dir.path(), &traces);
    for method in ["pam", "capek"] {
        let out = dir.path().join(method);
        let call = succeeds(&["ranks", text(&file), "--method", method, "-o", text(&out)]);
        let told = summary(&out);
        assert_eq!((&told["k"], &told["criterion"]), (&2.into(), &"gap".into()), "{method}: {}", told["bic"]);
        assert_eq!(told["support"].as_array().unwrap().len(), 5, "two to six classes");
        assert!(call.stdout.contains("classes by gap"), "{}", call.stdout);
        assert!(call.stderr.contains("which the data do not support"), "{}", call.stderr);
        assert!(read(&out, "report.html").contains("BIC of each number of classes; 2 was taken"));
    }
    same_under_mpi(dir.path(), &file, &[], &dir.path().join("capek"));
}

/// What `ranks` says of a table with a row for each of these, on one process.
fn told_alone(rows: &[Vec<f64>]) -> (serde_json::Value, String) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let file = write_csv(dir.path(), rows);
    let call = succeeds(&["ranks", text(&file), "-o", text(&out)]);
    (summary(&out), call.stdout)
}

/// The same, and that it is the same under MPI.
fn told_of(rows: &[Vec<f64>], more: &[&str]) -> (serde_json::Value, String) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let file = write_csv(dir.path(), rows);
    let call = succeeds(&[&["ranks", text(&file), "-o", text(&out)], more].concat());
    same_under_mpi(dir.path(), &file, more, &out);
    (summary(&out), call.stdout)
}

#[test]
fn a_gradient_and_noise_and_alike_ranks_are_no_classes() {
    let jitter = |rank: usize, step: usize| effort_traces(rank + 1, step + 1, 9)[rank][step].fract().abs();
    for n in [5, 8, 16, 40] {
        let rows = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..n).map(|rank| (0..20).map(|step| of(rank, step)).collect()).collect()
        };
        let slope = rows(&|rank, step| 100.0 + 30.0 * rank as f64 / n as f64 + 0.1 * jitter(rank, step));
        let (told, text) = told_alone(&slope);
        assert_eq!((&told["k"], &told["classes_found"]), (&1.into(), &false.into()), "{n}: {text}");
        let strata = told["strata"].as_array().unwrap();
        assert_eq!((strata.len(), &strata[0]["sample_size"]), (1, &told["sample_size"]));
        if n >= 6 {
            assert_eq!(told["verdict"], "gradient");
            assert!(text.contains("effort grows with the number of the rank"), "{text}");
        } else {
            assert!(text.contains("so few ranks do not tell"), "{text}");
        }
        let noise = rows(&|rank, step| 100.0 + jitter(rank, step));
        let (told, text) = told_alone(&noise);
        assert_eq!((&told["k"], &told["verdict"]), (&1.into(), &"alike".into()), "{n}: {text}");
        let (told, text) = told_alone(&rows(&|_, step| 10.5 + step as f64));
        assert_eq!((&told["verdict"], &told["spread"]), (&"alike".into(), &0.0.into()), "{n}: {text}");
        assert!(
            text.contains(&format!(
                "No classes: {n} ranks are alike within 0.0% over all 20 steps, and within 0.0% in each quarter of them."
            )),
            "{text}"
        );
    }
}

#[test]
fn classes_that_are_asked_for_are_made_and_judged() {
    let slope: Vec<Vec<f64>> = (0..16).map(|rank| vec![100.0 + f64::from(rank); 10]).collect();
    let (told, text) = told_of(&slope, &["--k", "4"]);
    assert_eq!((&told["k"], &told["verdict"]), (&4.into(), &"unsupported".into()));
    assert!(text.contains("16 ranks are in 4 classes as asked, but the data do not support them"), "{text}");
    assert_eq!(told["stratification"]["pays"], true, "strata of a gradient pay");
}

/// "No classes can be proved" was told where nobody had looked for any.
#[test]
fn one_class_that_is_asked_for_denies_no_others() {
    let rows: Vec<Vec<f64>> = (0..12).map(|rank| vec![if rank < 4 { 130.0 } else { 100.0 }; 10]).collect();
    for one in [["--k", "1"], ["--k-max", "1"]] {
        let (told, text) = told_of(&rows, &one);
        assert_eq!(&told["verdict"], "apart");
        assert!(
            text.contains("One class, as asked: ranks 0, 1, 2, 3 are apart from all others: 1300"),
            "{text}"
        );
        assert!(!text.contains("No classes"), "{text}");
    }
    let (_, text) = told_of(&rows, &[]);
    assert!(text.contains("12 ranks behave in 2 ways"), "{text}");
}

/// One rank is held up once: that is no way to behave.
#[test]
fn what_happens_once_is_no_class() {
    let mut rows = vec![vec![10.0; 20]; 12];
    rows[7][13] = 500.0;
    let (told, text) = told_of(&rows, &[]);
    assert_eq!((&told["k"], &told["classes_found"]), (&1.into(), &false.into()), "{text}");
    assert!(
        text.contains(
            "Rank 7 differs from the others most in step 13 (500, the others 10), nine tenths of that in 1 of 20 steps: \
             that makes no class."
        ),
        "{text}"
    );
    assert!(text.contains("and by 0.0% where the 3 steps in which each does most are left out."), "{text}");
    // And one that is slow throughout is a class of its own.
    rows[7] = vec![500.0; 20];
    let (told, text) = told_of(&rows, &[]);
    assert_eq!((&told["k"], &told["classes_found"]), (&2.into(), &true.into()), "{text}");
    assert!(text.contains("Class 2, rank 7, differs most: 500 a step, the others 10 (× 50.00)."), "{text}");
}

/// The event lies on both sides of a cut between two steps, one of even number
/// and one of odd.
#[test]
fn what_happens_once_is_no_class_where_steps_cut_it_in_two() {
    for at in [0, 8, 13, 28] {
        let mut rows = noisy(12, 30, 0.01, at as u64);
        rows[7][at] += 9.0;
        rows[7][at + 1] += 14.0;
        let (told, text) = told_alone(&rows);
        assert_eq!(told["classes_found"], false, "{text}");
        assert!(["unclear", "alike"].contains(&told["verdict"].as_str().unwrap()), "{at}: {text}");
        assert!(text.contains("Rank 7 differs from the others most in step"), "{at}: {text}");
        assert!(text.contains("nine tenths of that in 2 of 30 steps"), "{at}: {text}");
    }
}

/// One of eight takes a quarter longer in every step, among noise: with so few
/// ranks that may be no proof of classes, but it is no gradient.
#[test]
fn one_slow_rank_is_no_gradient() {
    for seed in 1..=20 {
        let mut rows = noisy(8, 30, 0.03, seed);
        rows[3].iter_mut().for_each(|x| *x *= 1.25);
        let (told, text) = told_alone(&rows);
        match told["verdict"].as_str().unwrap() {
            "classes" => assert!(text.contains("Class 2, rank 3, differs most"), "{text}"),
            "apart" => {
                assert_eq!(told["apart"]["ranks"], serde_json::json!([3]));
                assert!(text.contains("but rank 3 is apart from all others"), "{text}");
            }
            other => panic!("{other}: {text}"),
        }
        // Without it, noise is nothing.
        let (told, text) = told_alone(&noisy(8, 30, 0.03, seed));
        assert_eq!(told["verdict"], "alike", "{text}");
    }
}

/// "No classes: 8 ranks differ by degrees" was told of four levels with two ranks each,
/// which are too few to be proved.
#[test]
fn levels_of_few_ranks_are_not_told_as_degrees() {
    for seed in 1..=20 {
        let scaled = |of: &dyn Fn(usize) -> f64| {
            let mut rows = noisy(8, 20, 0.05, seed);
            let each = rows.iter_mut().zip([3, 7, 0, 4, 1, 6, 2, 5]);
            each.for_each(|(row, place)| row.iter_mut().for_each(|x| *x *= of(place)));
            told_alone(&rows)
        };
        let (told, text) = scaled(&|place| [1.0, 1.4, 1.9, 2.6][place / 2]);
        assert_ne!(told["verdict"], "gradient", "{text}");
        assert!(told["verdict"] == "classes" || text.contains("No classes can be told"), "{text}");
        let (told, text) = scaled(&|place| 1.0 + 0.2 * place as f64);
        assert_eq!(told["verdict"], "gradient", "{text}");
        assert!(text.contains("8 ranks differ by degrees"), "{text}");
    }
}

/// Efforts of 10 with noise of that deviation, about.
fn noisy(ranks: usize, steps: usize, noise: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut effort = || 10.0 * (1.0 + noise * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0));
    (0..ranks).map(|_| (0..steps).map(|_| effort()).collect()).collect()
}

/// The work of one grows, so that over all steps it is within 5 %: it is not
/// told to be alike, and where the difference is small the sentence says so of
/// every quarter.
#[test]
fn what_grows_is_seen() {
    for seed in seeds(4) {
        for growth in [0.08, 0.03] {
            let mut rows = noisy(12, 40, 0.005, seed);
            let n = rows[4].len() as f64;
            rows[4].iter_mut().enumerate().for_each(|(i, x)| *x *= 1.0 + growth * i as f64 / n);
            let (told, text) = told_alone(&rows);
            let parts: Vec<f64> =
                told["part_spreads"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let [first, .., last] = parts[..] else { panic!("{parts:?}") };
            assert!(told["spread"].as_f64().unwrap() < 0.05, "{seed}: {text}");
            assert!(last > first && (last - 0.875 * growth).abs() < 0.01, "{seed}: {parts:?}");
            match told["verdict"].as_str().unwrap() {
                "alike" => {
                    assert!(growth < 0.05, "{seed}: {text}");
                    assert!(text.contains("% in each quarter of them."), "{seed}: {text}");
                }
                "apart" => assert!(text.contains("rank 4 is apart from all others"), "{seed}: {text}"),
                "classes" => assert!(text.contains("Class 2, rank 4, differs most"), "{seed}: {text}"),
                other => panic!("{seed}: {other}: {text}"),
            }
        }
    }
}

/// Two classes that last, and a rank that is held up once: the rank makes no
/// third one, and hides the two at most from what chance explains.
#[test]
fn a_class_beside_others_does_not_rest_on_one_step() {
    for seed in seeds(4) {
        let mut rows = noisy(16, 30, 0.01, seed);
        rows[10..].iter_mut().flatten().for_each(|x| *x *= 1.3);
        rows[2][17] += 25.0;
        let (told, text) = told_alone(&rows);
        assert!(text.contains("Rank 2 differs from the others most in step 17"), "{seed}: {text}");
        match told["verdict"].as_str().unwrap() {
            "classes" => assert!(text.contains("Class 2, ranks 10, 11, 12, 13, 14, 15, differs"), "{text}"),
            "apart" => assert!(text.contains("ranks 10, 11, 12, 13, 14, 15 are apart"), "{seed}: {text}"),
            other => panic!("{seed}: {other}: {text}"),
        }
        assert!(told["k"].as_u64().unwrap() <= 2, "{seed}: {text}");
    }
}

/// Every second, third or fourth step a rank does more: that lasts.
#[test]
fn what_comes_every_few_steps_is_a_class() {
    for (every, first) in [(2, 1), (3, 0), (3, 1), (3, 2), (4, 3), (5, 2), (6, 5), (8, 7)] {
        let mut rows = noisy(12, 60, 0.01, every as u64);
        rows[5].iter_mut().skip(first).step_by(every).for_each(|x| *x *= 1.8);
        let (told, text) = told_alone(&rows);
        assert_eq!((&told["k"], &told["verdict"]), (&2.into(), &"classes".into()), "{every}: {text}");
    }
}

/// More in the first half, less in the second: as much in all, and no mean says
/// in how few steps that is.
#[test]
fn what_evens_out_over_the_steps_is_told_so() {
    let mut rows = noisy(12, 40, 0.01, 2);
    rows[5].iter_mut().enumerate().for_each(|(i, x)| *x *= if i < 20 { 1.25 } else { 0.75 });
    let (told, text) = told_alone(&rows);
    assert_eq!((&told["k"], &told["verdict"]), (&2.into(), &"classes".into()), "{text}");
    assert!(text.contains(" more in 20 of 40 steps and ") && text.contains(" less in 20."), "{text}");
}

/// Ranks share their work out over the regions in unlike ways, and do as much.
#[test]
fn as_much_work_of_other_kinds_is_not_alike() {
    let mut text = "rank,step,region,effort\n".to_owned();
    for rank in 0..8 {
        for step in 0..12 {
            let other = [0.0, 3.0, -1.0, 2.0, -2.5, 1.0, -3.0, 0.5][rank];
            text += &format!("{rank},{step},a,{}\n{rank},{step},b,{}\n", 10.0 + other, 20.0 - other);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("efforts.csv"), dir.path().join("out"));
    std::fs::write(&file, text).unwrap();
    let call = succeeds(&["ranks", crate::support::text(&file), "-o", crate::support::text(&out)]);
    assert_eq!(summary(&out)["verdict"], "unclear", "{}", call.stdout);
    assert!(
        call.stdout.contains("8 ranks are alike within 0.0% over all 12 steps, but not in every region.")
    );
    assert!(call.stdout.contains("They differ most in a: 72 from the least to the most"), "{}", call.stdout);
}

/// Held up time and again, which is a way to behave: the sentence says when.
#[test]
fn a_class_that_differs_in_few_steps_is_told_so() {
    let mut rows = noisy(12, 30, 0.001, 5);
    for step in [2, 9, 15, 16, 27] {
        rows[4][step] += 20.0;
    }
    let (told, text) = told_alone(&rows);
    assert_eq!(told["classes_found"], true, "{text}");
    assert!(text.contains("nine tenths of it in 5 of 30 steps."), "{text}");
}

#[test]
fn two_ranks_that_differ_are_not_said_to_be_alike() {
    let (told, text) = told_of(&[vec![1.0, 1.1], vec![1.7, 1.6]], &[]);
    assert_eq!((&told["k"], &told["verdict"]), (&1.into(), &"unclear".into()));
    assert!(text.contains("No classes can be told: 2 ranks differ by 57.1%"), "{text}");
    let (_, text) = told_of(&[vec![1.0]], &[]);
    assert!(text.contains("There is one rank, so nothing to compare it with."), "{text}");
}

/// `synth` with these options, and what `ranks` says of it.
fn told_of_run(dir: &Path, options: &[&str]) -> (serde_json::Value, String) {
    let made = dir.join("made");
    succeeds(&[&["synth", "-q", "-o", text(&made)], options].concat());
    let out = dir.join("out");
    let call = succeeds(&["ranks", text(&made.join("synth.prv")), "-o", text(&out)]);
    (summary(&out), call.stdout)
}

#[test]
fn two_slow_ranks_are_found_and_their_phase_with_its_size() {
    for seed in seeds(4) {
        let dir = tempfile::tempdir().unwrap();
        let seed = seed.to_string();
        let options = ["--tasks", "16", "--iterations", "30", "--seed", &seed, "--defect", "slow-ranks"];
        let more = ["--defect-phase", "3", "--defect-tasks", "4,9", "--defect-factor", "2"];
        let (told, text) = told_of_run(dir.path(), &[&options[..], &more].concat());
        assert_eq!((&told["k"], &told["verdict"]), (&2.into(), &"classes".into()), "seed {seed}: {text}");
        let found = classes(&dir.path().join("out"));
        let slow: Vec<usize> = (0..16).filter(|&rank| found[rank] == 2).collect();
        assert_eq!(slow, [3, 8], "seed {seed}: {text}");
        assert!(
            text.contains("Class 2, ranks 3, 8 (tasks 4, 9), differs most in phase"),
            "seed {seed}: {text}"
        );
        let ratio = told["strata"][1]["differs_most"]["ratio"].as_f64().unwrap();
        assert!((ratio / 2.0 - 1.0).abs() < 0.05, "seed {seed}: {ratio}: {text}");
    }
}

/// Every rank does one step, and the first ones another as well.
fn with_a_step_of_some(dir: &Path, some: u64, noise: f64) -> std::path::PathBuf {
    let (ranks, steps) = (16_u64, 60_u64);
    let lengths = noisy(2 * ranks as usize, steps as usize, noise, some);
    let works = noisy(2 * ranks as usize, steps as usize, noise / 3.0, some + 1);
    let mut records = Vec::new();
    for (rank, step) in (0..ranks).flat_map(|rank| (0..steps).map(move |step| (rank, step))) {
        for (kind, offset, length, instructions) in
            [(0, 0, 500_000.0, 800_000.0), (ranks, 8_000_000, 300_000.0, 900_000.0)]
        {
            if kind > 0 && rank >= some {
                continue;
            }
            let of =
                |table: &[Vec<f64>], unit: f64| (unit * table[(kind + rank) as usize][step as usize]) as u64;
            let begin = 20_000_000 * step + offset;
            let (length, instructions) = (of(&lengths, length), of(&works, instructions));
            let (who, end) = (format!("{0}:1:{0}:1", rank + 1), begin + length);
            records
                .push((begin, format!("1:{who}:{begin}:{end}:1\n2:{who}:{begin}:42000050:0:42000059:0\n")));
            let counts = format!("42000050:{instructions}:42000059:{}", 2 * length);
            records.push((end, format!("2:{who}:{end}:{counts}\n")));
        }
    }
    records.sort();
    let of_tasks = vec!["1:1"; ranks as usize].join(",");
    let header =
        format!("#Paraver (01/01/26 at 00:00):{}_ns:1({ranks}):1:{ranks}({of_tasks})\n", 20_000_000 * steps);
    let file = dir.join("some.prv");
    std::fs::write(&file, header + &records.into_iter().map(|(_, text)| text).collect::<String>()).unwrap();
    let pcf = "EVENT_TYPE\n7 42000050 PAPI_TOT_INS\n7 42000059 PAPI_TOT_CYC\n";
    std::fs::write(file.with_extension("pcf"), pcf).unwrap();
    file
}

#[test]
fn ranks_that_never_do_a_step_are_a_class() {
    for (some, noise) in [(4, 0.01), (8, 0.02), (8, 0.05), (12, 0.02)] {
        let dir = tempfile::tempdir().unwrap();
        let (file, out) = (with_a_step_of_some(dir.path(), some, noise), dir.path().join("out"));
        let call = succeeds(&["ranks", text(&file), "-o", text(&out)]);
        let told = summary(&out);
        assert_eq!((&told["k"], &told["verdict"]), (&2.into(), &"classes".into()), "{some}: {}", call.stdout);
        let found = classes(&out);
        assert!(found.iter().enumerate().all(|(rank, class)| (*class == found[0]) == ((rank as u64) < some)));
        assert!(call.stdout.contains("differs most in phase 2:"), "{some}: {}", call.stdout);
    }
}

#[test]
fn a_balanced_run_has_no_classes() {
    for seed in seeds(4) {
        let dir = tempfile::tempdir().unwrap();
        let seed = seed.to_string();
        let options = ["--tasks", "16", "--iterations", "30", "--seed", &seed, "--defect", "none"];
        let (told, text) = told_of_run(dir.path(), &options);
        assert_eq!((&told["k"], &told["verdict"]), (&1.into(), &"alike".into()), "seed {seed}: {text}");
    }
}

#[test]
fn ranks_that_were_traced_tell_of_all() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<Vec<f64>> =
        (0..60).map(|r| vec![f64::from(1 + r % 3), f64::from(10 * (1 + r % 3) + r % 2)]).collect();
    let file = write_csv(dir.path(), &rows);
    let plan = dir.path().join("plan");
    succeeds(&["ranks", text(&file), "-q", "--k", "3", "-o", text(&plan)]);
    let table = read(&plan, "ranks.csv");
    let traced =
        table.lines().skip(1).enumerate().filter(|(_, line)| line.ends_with(",1")).map(|(rank, _)| rank);
    let long: String = traced
        .flat_map(|r| (0..2).map(move |s| (r, s)))
        .fold("rank,step,effort\n".to_owned(), |all, (r, s)| all + &format!("{r},{s},{}\n", rows[r][s]));
    let measured = dir.path().join("traced.csv");
    std::fs::write(&measured, &long).unwrap();
    let out = dir.path().join("estimate");
    let args = ["ranks", text(&measured), "--traced", text(&plan), "-o", text(&out)];
    let call = succeeds(&args);
    let told = summary(&out);
    assert_eq!((&told["ranks"], &told["steps"]), (&60.into(), &2.into()));
    // In the first step, all ranks of a class do the same.
    let estimates = read(&out, "estimates.csv");
    let mut lines = estimates.lines();
    assert_eq!(lines.next(), Some("region,step,mean,standard_error,low,high,freedom"));
    assert_eq!(lines.next(), Some("effort,0,2,0,2,2,"));
    let (low, high) = (told["effort"]["low"].as_f64().unwrap(), told["effort"]["high"].as_f64().unwrap());
    assert!(low <= 22.5 && 22.5 <= high, "{}", call.stdout);
    // A class without any traced rank is not known, nor is a rank that is in none.
    let one: String = long
        .lines()
        .filter(|l| l.starts_with("rank") || l.split(',').next().unwrap().parse::<usize>().unwrap() % 3 == 0)
        .map(|l| l.to_owned() + "\n")
        .collect();
    for (content, says) in [
        (one, "no rank was traced"),
        ("rank,step,effort\n99,0,1\n".into(), "rank 99 is in no class"),
        ("1,2\n".into(), "a column 'rank' says it"),
    ] {
        std::fs::write(&measured, content).unwrap();
        let call = likewise(&args);
        assert!(call.code == 1 && call.stderr.contains(says), "{}: {}", call.code, call.stderr);
    }
    assert_eq!(likewise(&[&args[..], &["--k", "3"]].concat()).code, 2);
}

#[test]
fn a_plan_may_bound_each_class_or_the_error_itself() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<Vec<f64>> =
        (0..200).map(|r| vec![f64::from(100 * (1 + r % 2)) + f64::from(r * 7 % 41) - 20.0; 3]).collect();
    let file = write_csv(dir.path(), &rows);
    let size = |more: &[&str]| {
        let out = dir.path().join("out");
        succeeds(&[&["ranks", text(&file), "-q", "-o", text(&out)], more].concat());
        let told = summary(&out);
        assert!(told["expected_error"].as_f64().unwrap() > 0.0);
        (told["k"].as_u64().unwrap(), told["sample_size"].as_u64().unwrap(), told)
    };
    let (k, all, _) = size(&[]);
    let (_, each, told) = size(&["--each-stratum"]);
    assert_eq!((k, &told["each_stratum"]), (2, &true.into()));
    assert!(each > all, "{each} {all}");
    // The mean is 150: 5% of it are 7.5.
    let (_, absolute, told) = size(&["--error-abs", "7.5"]);
    assert_eq!((&told["error"], &told["error_abs"]), (&serde_json::Value::Null, &7.5.into()));
    assert!(absolute.abs_diff(all) <= 1, "{absolute} {all}");
    assert!(size(&["--error-abs", "1"]).1 > absolute);
    assert_eq!(likewise(&["ranks", text(&file), "--error", "5%", "--error-abs", "1"]).code, 2);
    assert_eq!(likewise(&["ranks", text(&file), "--error-abs", "0"]).code, 2);
    // 0.005 was taken for it, whatever the unit of the table is.
    let refused = likewise(&["ranks", text(&file), "--error-abs", "5ms"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--error-abs 5.00 ms is for traces"), "{}", refused.stderr);
}

/// Figure 3 of the paper: ranks change their class between windows.
#[test]
fn classes_follow_ranks_that_move() {
    // In the second half, ranks 0 to 3 do what the others of their class do not.
    let level = |rank: usize, step: usize| if (rank < 8) ^ (step >= 6 && rank < 4) { 1.0 } else { 5.0 };
    let rows: Vec<Vec<f64>> = (0..16)
        .map(|rank| (0..12).map(|step| level(rank, step) + 0.01 * (rank * 7 % 5) as f64).collect())
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let file = write_csv(dir.path(), &rows);
    let out = dir.path().join("out");
    let call = succeeds(&["ranks", text(&file), "--every", "3", "-o", text(&out)]);
    let told = summary(&out);
    let windows = told["windows"].as_array().unwrap();
    let moved: Vec<Option<u64>> = windows.iter().map(|w| w["moved"].as_u64()).collect();
    assert_eq!(moved, [None, Some(0), Some(4), Some(0)]);
    assert!(windows.iter().all(|w| w["classes"] == 2));
    let said = "Clustered again every 3 steps: ranks changed class in 1 of 3 changes of window, most at step 6 (4 of 16 ranks";
    assert!(call.stdout.contains(said), "{}", call.stdout);
    assert_eq!(read(&out, "windows.csv").lines().count(), 5);
    assert_eq!(read(&out, "window_ranks.csv").lines().count(), 1 + 4 * 16);
    assert!(read(&out, "report.html").contains("Classes anew every few steps"));
    for mpirun in LAUNCHERS {
        let many = dir.path().join(mpirun);
        let args = ["ranks", text(&file), "--every", "3", "-q", "-o", text(&many)];
        let Some(mut command) = under(mpirun, &args) else { continue };
        assert_eq!(finish(command.output().unwrap()).code, 0);
        for name in ["windows.csv", "window_ranks.csv", "report.html"] {
            assert_eq!(read(&out, name), read(&many, name));
        }
    }
}

/// The smallest traces: `bursts` reads them, and so do `ranks` and `cut`.
#[test]
fn the_smallest_traces_are_read() {
    let dir = tempfile::tempdir().unwrap();
    for (tasks, bursts) in [(1u32, 1u32), (1, 2), (1, 3), (2, 1), (2, 2), (4, 2), (3, 3)] {
        let row = |task: u32| {
            (0..bursts).map(move |b| {
                format!(
                    "{task},1,{},{},{},{}\n",
                    b * 1_000_000,
                    500_000 + task * 1000 + b,
                    900_000 + b,
                    800_000
                )
            })
        };
        let rows: String = (1..=tasks).flat_map(row).collect();
        let file = dir.path().join("small.csv");
        std::fs::write(&file, format!("task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n{rows}"))
            .unwrap();
        let out = dir.path().join(format!("{tasks}-{bursts}"));
        succeeds(&["bursts", text(&file), "-q", "-o", text(&out.join("bursts"))]);
        let call = succeeds(&["ranks", text(&file), "-o", text(&out.join("ranks"))]);
        assert!(call.stderr.contains("so the whole run is one step"), "{}", call.stderr);
        assert_eq!(summary(&out.join("ranks"))["ranks"], tasks);
    }
}
