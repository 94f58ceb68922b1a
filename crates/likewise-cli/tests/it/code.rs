//! Code regions, multiplexed counters, rates.

use crate::support::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A table without quoted cells, by column name.
fn table(dir: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = read(dir, name);
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row =
        |line: &str| names.iter().map(|n| (*n).to_owned()).zip(line.split(',').map(str::to_owned)).collect();
    lines.map(row).collect()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> f64 {
    row[name].parse().unwrap_or_else(|_| panic!("{name} in {row:?}"))
}

#[test]
fn every_phase_names_the_code_that_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 6_000);
    let out = dir.path().join("out");
    succeeds(&["bursts", text(&trace), "-q", "-o", text(&out)]);
    let clusters = summary(&out)["clusters"].as_u64().unwrap();
    let regions = table(&out, "regions.csv");
    for cluster in 1..=clusters {
        let mine: Vec<_> = regions.iter().filter(|row| row["cluster"] == cluster.to_string()).collect();
        let share: f64 = mine.iter().map(|row| number(row, "share_of_phase_time")).sum();
        assert!((share - 1.0).abs() < 1e-9, "{share}");
        // A made-up phase is one function, whose call ends each burst.
        let after = &mine[0]["region_after"];
        assert!(after.contains(".c:"), "{after}");
        let of_it = mine.iter().filter(|row| row["region_after"] == *after);
        assert!(of_it.map(|row| number(row, "share_of_phase_time")).sum::<f64>() > 0.99);
    }
    let report = read(&out, "report.html");
    assert!(report.contains("<table id=\"regions\">") && !report.contains("{{regions"));

    // The same trace without callers.
    let plain = dir.path().join("plain.prv");
    let lines = std::fs::read_to_string(&trace).unwrap();
    let without =
        lines.lines().map(|line| line.split(":70000001:").next().unwrap()).collect::<Vec<_>>().join("\n");
    std::fs::write(&plain, without + "\n").unwrap();
    std::fs::copy(trace.with_extension("pcf"), plain.with_extension("pcf")).unwrap();
    let none = dir.path().join("none");
    succeeds(&["bursts", text(&plain), "-q", "-o", text(&none)]);
    assert!(!names(&none).contains(&"regions.csv".to_owned()));
    assert!(!read(&none, "report.html").contains("id=\"regions\""));
    assert_eq!(read(&out, "bursts.csv"), read(&none, "bursts.csv"));
}

/// Two tasks, two phases of 100 and 400 µs, two counter sets that take turns
/// every ten iterations: L1 misses (a 100th of the instructions) with the
/// one, L2 misses (a 200th) with the other.
fn multiplexed(dir: &Path) -> PathBuf {
    let mut prv = String::new();
    let mut now = 0u64;
    for iteration in 0..80u64 {
        let set = 1 + iteration / 10 % 2;
        for (length, ipc) in [(100_000u64, 1), (400_000, 2)] {
            let end = now + length + 1000 * (iteration % 7);
            for task in [1, 2] {
                let who = format!("{task}:1:{task}:1");
                if iteration % 10 == 0 && ipc == 1 {
                    let _ = writeln!(prv, "2:{who}:{now}:41999999:{set}:42000050:0:42000059:0");
                }
                let cycles = 2 * (end - now);
                let ins = cycles * ipc;
                let (event_type, misses) =
                    if set == 1 { (42_000_000, ins / 100) } else { (42_000_002, ins / 200) };
                if iteration % 10 != 0 || ipc != 1 {
                    // Counters are read where the burst begins, as Extrae does.
                    let read = "50000003:0:42000050:0:42000059:0";
                    let _ = writeln!(prv, "2:{who}:{now}:{read}:{event_type}:0");
                }
                let _ = writeln!(prv, "1:{who}:{now}:{end}:1\n1:{who}:{end}:{}:15", end + 50);
                let _ = writeln!(
                    prv,
                    "2:{who}:{end}:50000003:31:42000050:{ins}:42000059:{cycles}:{event_type}:{misses}:\
                     70000001:{}:80000001:{}",
                    2 + ipc,
                    2 + ipc
                );
            }
            now = end + 50;
        }
    }
    let header = format!("#Paraver (01/01/26 at 00:00):{now}_ns:1(2):1:2(1:1,1:1),1\n");
    let path = dir.join("multiplexed.prv");
    std::fs::write(&path, header + &prv).unwrap();
    let pcf = "EVENT_TYPE\n7 42000050 PAPI_TOT_INS [Ins]\n7 42000059 PAPI_TOT_CYC [Cyc]\n7 42000000 PAPI_L1_DCM [L1]\n\
        7 42000002 PAPI_L2_DCM [L2]\n\nEVENT_TYPE\n0 70000001 Caller at level 1\nVALUES\n3 first\n4 second\n\n\
        EVENT_TYPE\n0 80000001 Caller line at level 1\nVALUES\n3 10 (a.c, x)\n4 20 (a.c, x)\n";
    std::fs::write(dir.join("multiplexed.pcf"), pcf).unwrap();
    path
}

#[test]
fn phases_of_a_multiplexed_run_have_every_counter() {
    let dir = tempfile::tempdir().unwrap();
    let trace = multiplexed(dir.path());
    let out = dir.path().join("out");
    let call = succeeds(&["bursts", text(&trace), "--eps", "0.05", "-o", text(&out)]);
    assert!(call.stderr.contains("2 of 4 counters are not carried by every burst"), "{}", call.stderr);
    let clusters = table(&out, "clusters.csv");
    for phase in &clusters[..2] {
        assert_eq!((phase["instances"].as_str(), phase["PAPI_TOT_INS_n"].as_str()), ("160", "160"));
        assert_eq!((phase["PAPI_L1_DCM_n"].as_str(), phase["PAPI_L2_DCM_n"].as_str()), ("80", "80"));
        let ins = number(phase, "PAPI_TOT_INS_mean");
        // Misses are whole numbers, so proportional but for a rest.
        assert!((number(phase, "PAPI_L1_DCM_mean") / (ins / 100.0) - 1.0).abs() < 1e-3);
        assert!((number(phase, "PAPI_L2_DCM_mean") / (ins / 200.0) - 1.0).abs() < 1e-3);
        assert!(number(phase, "PAPI_L1_DCM_se") < 1e-3 * ins / 100.0);
        assert!((number(phase, "L1_MPKI") - 10.0).abs() < 0.01);
        assert!((number(phase, "L2_MPKI") - 5.0).abs() < 0.01);
        assert!((number(phase, "MIPS") - 2000.0 * number(phase, "IPC")).abs() < 1e-6);
        assert!(!phase.contains_key("PAPI_TOT_INS_se"));
    }
    let extrapolated = &summary(&out)["extrapolated"];
    assert_eq!((&extrapolated[0]["name"], &extrapolated[0]["carried"]), (&"PAPI_L1_DCM".into(), &160.into()));
    let regions = table(&out, "regions.csv");
    let first = |cluster: &str| regions.iter().find(|row| row["cluster"] == cluster).unwrap();
    assert_eq!(first("1")["region_before"], "first (a.c:10)");
    assert_eq!(first("1")["region_after"], "second (a.c:20)");
    assert_eq!(first("2")["region_after"], "first (a.c:10)");
}

#[test]
fn the_check_of_the_extrapolation_says_how_far_off_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let trace = synth(dir.path(), 6_000);
    let check = |seed: &str| {
        let out = dir.path().join(seed);
        let args = ["bursts", text(&trace), "--no-trace", "--check-extrapolation", "--seed", seed];
        let call = succeeds(&[&args[..], &["-o", text(&out)]].concat());
        assert!(call.stderr.contains("Extrapolation check"), "{}", call.stderr);
        summary(&out)["extrapolation_check"].clone()
    };
    let one = check("1");
    let all = one["all"].as_array().unwrap();
    assert!(all.len() >= 6);
    assert_eq!(one["worst"].as_array().unwrap().len(), 6, "every counter that no metric is made of");
    for held in all {
        assert!(held["error"].as_f64().unwrap() < 0.05, "{held}");
        let estimator = held["estimator"].as_str().unwrap();
        let known = ["mean", "ratio to duration", "ratio to PAPI_TOT_INS", "ratio to PAPI_TOT_CYC"];
        assert!(known.contains(&estimator), "{held}");
    }
    assert_eq!(one, check("1"));
    assert_ne!(one, check("2"));
}

/// EPOCH's bursts as a table, from which `keep` hides cells by column and row.
fn epoch_table(from: &Path, to: &Path, keep: impl Fn(usize, usize) -> bool) {
    let text = read(from, "bursts.csv");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let kept = |c: &usize| !header[*c].starts_with("n_") && !["IPC", "cluster"].contains(&header[*c]);
    let columns: Vec<usize> = (0..header.len()).filter(kept).collect();
    let mut out = columns.iter().map(|&c| header[c]).collect::<Vec<_>>().join(",") + "\n";
    for (i, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let cells = columns.iter().enumerate().map(|(at, &c)| if keep(at, i) { cells[c] } else { "" });
        out += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    std::fs::write(to, out).unwrap();
}

#[test]
fn epochs_hidden_counters_are_found_again() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let (trace, pcf) = (data.join("epoch/epoch_16proc.prv.gz"), data.join("epoch/epoch_16proc.pcf"));
    // The phases of ClusteringSuite's method, of which five hold over 1% of the time.
    let all = ["bursts", text(&trace), "--pcf", text(&pcf), "--method", "dbscan", "--no-trace"];
    let all = [&all[..], &["--check-extrapolation"]].concat();
    succeeds(&[&all[..], &["-q", "-o", text(&path("all"))]].concat());
    let check = &summary(&path("all"))["extrapolation_check"];
    let held = check["all"].as_array().unwrap();
    let within = held.iter().filter(|held| held["error"].as_f64().unwrap() <= 0.05).count();
    assert!(held.len() == 30 && within >= 27, "{check}");
    // What is far off said so.
    for held in held.iter().filter(|held| held["error"].as_f64().unwrap() > 0.05) {
        assert!(held["relative_standard_error"].as_f64().unwrap() > 0.02, "{held}");
    }

    // The same through the program: a trace whose bursts lack counters by turns.
    let hidden = path("hidden.csv");
    let names = ["task", "thread", "begin_ns", "duration_ns", "PAPI_TOT_INS"];
    // A multiplicative hash of the row: half and half, in no step with the phases.
    let odd = |row: usize| (row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 2;
    // PAPI_TOT_CYC is the sixth counter beside PAPI_TOT_INS.
    let is_common = |at: usize| at < names.len() || at == names.len() + 5;
    epoch_table(&path("all"), &hidden, |at, row| is_common(at) || at % 2 == odd(row));
    let half = ["bursts", text(&hidden), "--method", "dbscan", "--no-trace", "-q"];
    succeeds(&[&half[..], &["-o", text(&path("half"))]].concat());
    let (all, half) = (table(&path("all"), "clusters.csv"), table(&path("half"), "clusters.csv"));
    let counters =
        ["PAPI_L1_DCM", "PAPI_L2_DCM", "PAPI_L3_TCM", "PAPI_BR_MSP", "PAPI_BR_INS", "RESOURCE_STALLS"];
    let mut far = Vec::new();
    for (a, h) in all.iter().zip(&half).filter(|(a, _)| number(a, "share") > 0.01 && a["cluster"] != "noise")
    {
        assert_eq!(a["instances"], h["instances"], "the phases are found without them");
        for counter in counters {
            let (truth, found) =
                (number(a, &format!("{counter}_mean")), number(h, &format!("{counter}_mean")));
            let error = (found / truth - 1.0).abs();
            assert!(number(h, &format!("{counter}_n")) < number(h, "instances"));
            if error > 0.05 {
                far.push((counter, error, number(h, &format!("{counter}_se")) / found));
            }
        }
    }
    assert!(
        far.len() <= 3 && far.iter().all(|(_, error, standard_error)| error / standard_error < 4.0),
        "{far:?}"
    );
}

#[test]
fn real_traces_name_their_code() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let regions = |name: &str| {
        let (trace, pcf) = (data.join(format!("{name}.prv.gz")), data.join(format!("{name}.pcf")));
        let out = dir.path().join(name);
        std::fs::create_dir_all(out.parent().unwrap()).unwrap();
        succeeds(&["bursts", text(&trace), "--pcf", text(&pcf), "--no-trace", "-q", "-o", text(&out)]);
        table(&out, "regions.csv")
    };
    let epoch = regions("epoch/epoch_16proc");
    // The particle push: from the fields' exchange to that of the particles.
    assert_eq!(epoch[0]["region_after"], "__partlist_MOD_partlist_sendrecv (partlist.F90:829)");
    assert_eq!(epoch[0]["region_before"], "__boundary_MOD_do_field_mpi_with_lengths (boundary.F90:299)");
    assert_eq!(number(&epoch[0], "share_of_phase_time"), 1.0);
    assert_eq!(epoch[1]["region_before"], "", "before the first call that names its callers");
    assert!(epoch[1]["region_after"].starts_with("__mpi_routines_MOD_mpi_minimal_init"), "{:?}", epoch[1]);
    let lulesh = regions("lulesh/lulesh_7+1");
    assert!(lulesh.iter().any(|row| row["region_after"] == "CommSend (lulesh-comm.cc:401)"));
    assert!(lulesh.iter().any(|row| row["region_after"] == "TimeIncrement (lulesh.cc:214)"));
}

/// ImageMagick with OpenMP: two parallel regions and what the first thread
/// computes outside of them, without an option.
#[test]
fn regions_of_an_openmp_program_are_phases_of_their_own() {
    let Some(data) = shared_data() else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    succeeds(&["bursts", text(&data.join("openmp/omp4.prv.gz")), "-q", "-o", text(&out)]);
    let regions = table(&out, "regions.csv");
    let clusters = summary(&out)["clusters"].as_u64().unwrap();
    let mut functions = BTreeSet::new();
    for cluster in 1..=clusters {
        let mine = regions.iter().filter(|row| row["cluster"] == cluster.to_string());
        let of_phase: BTreeSet<&str> = mine.map(|row| row["function"].as_str()).collect();
        assert_eq!(of_phase.len(), 1, "phase {cluster}: {of_phase:?}");
        functions.extend(of_phase);
    }
    let named = |name: &str| functions.iter().any(|function| function.starts_with(name));
    assert!(named("GetPixelBlue") && named("GetPixelGreen"), "{functions:?}");
    // Outside of the regions are four bursts, of 39 thousand to 39 billion instructions.
    let found = summary(&out);
    for (at, when) in
        ["5.03 s before the first burst of any other", "747 ms while no other does"].iter().enumerate()
    {
        let finding = &found["findings"][at];
        assert_eq!(
            (finding["kind"].as_str(), &finding["noise"]),
            (Some("serial"), &true.into()),
            "{finding}"
        );
        assert!(finding["text"].as_str().unwrap().contains(when), "{finding}");
    }
    // No instruction misses more than once.
    for row in table(&out, "clusters.csv") {
        for name in row.keys().filter(|name| name.ends_with("MPKI")) {
            assert!(row[name].is_empty() || number(&row, name) <= 1000.0, "{name} {}", row[name]);
        }
    }
}
