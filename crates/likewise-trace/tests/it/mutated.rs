//! 10,000 damaged files: no panic, no hang, no memory beyond what they hold.

use std::fs;
use std::io::Write;
use std::path::Path;

use likewise_trace::{
    Apps, ReadOptions, inspect, legend, read_bursts, read_labels, read_points_table, write_labelled,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n.max(1) as u64) as usize
    }

    /// Damages the bytes in one to four places.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        const PIECES: [&[u8]; 12] = [
            b":",
            b"\n",
            b"-1",
            b"99999999999999999999",
            b"18446744073709551615",
            b"nan",
            b"(",
            b"1:1:1:1:1:0:-1:1\n",
            b"\0",
            b"\"",
            b"2:1:1:1:1:5:41999999:1\n",
            b",",
        ];
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            let length = self.below(bytes.len() - at).min(1 + self.below(60));
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 if !bytes.is_empty() => bytes[at] = self.below(256) as u8,
                2 => bytes.truncate(at),
                3 => drop(bytes.drain(at..at + length)),
                4 => {
                    let copy = bytes[at..at + length].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, copy);
                }
                _ => {
                    let piece = PIECES[self.below(PIECES.len())];
                    bytes.splice(at..at, piece.iter().copied());
                }
            }
        }
    }
}

const PRV: &str = "#Paraver (09/10/2019 at 16:10):900_ns:1(16):2:2(1:1,2:1),1:1(1:1),1\nc:1:1:2:1:2\n\
    1:1:1:1:1:0:10:1\n2:1:1:1:1:0:41999999:1:42000050:0\n1:2:1:2:1:0:20:1\n1:1:1:1:1:10:15:15\n\
    2:1:1:1:1:10:42000050:777:42000059:999:44000001:5\n3:1:1:1:1:10:11:2:1:2:1:19:20:64:7\n\
    1:1:1:1:1:15:40:1\n2:2:1:2:1:20:42000050:5:50000001:31\n1:2:1:2:1:20:-1:9\n2:3:1:2:2:25:46000001:3\n\
    2:1:1:1:1:40:42000050:8:41999999:2:42000059:0\n1:1:1:1:1:40:60:1\n1:3:2:1:1:44:50:1\n\
    2:1:1:1:1:60:70000001:3:80000001:4:60000019:5:60000119:6:60000019:0\n";
const PCF: &str = "DEFAULT_OPTIONS\n\nUNITS NANOSEC\n\nSTATES\n0 Idle\n1 Running\n\nSTATES_COLOR\n0 {1,2,3}\n\n\
    EVENT_TYPE\n7 42000050 PAPI_TOT_INS [Instr completed]\n7 42000059 (PAPI_TOT_CYC) x\n\n\
    EVENT_TYPE\n9 50000001 MPI\nVALUES\n0 End\n31 MPI_Init\n";
const ROW: &str = "LEVEL CPU SIZE 2\na\nb\n\nLEVEL THREAD SIZE 3\nx\ny\nz\n";
const BURSTS: &str = "task,thread,begin_ns,duration_ns,PAPI_TOT_INS,n_x,cluster\n1,1,0,10,5,0.1,1\n\
    1,1,10,5,,0.2,noise\n2,1,0,7,1e3,0.3,filtered_range\n";
const DATA: &str =
    "# Instance,TaskId,ThreadId,Begin_Time,End_Time, d_X,ClusterID\n0,8,0,0,9, 1.5,12\n1,5,0,3,4, 1,5\n";
const POINTS: &str = "x,y\n1,2\n3.5,-4e2\n5,6\n";

fn npy() -> Vec<u8> {
    let header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header);
    bytes.extend([0; 32]);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Every reader on whatever the folder holds; what is read is written, too.
fn exercise(dir: &Path, file: &str, random: &mut Random, read: &mut usize) {
    let path = dir.join(file);
    let options = ReadOptions {
        lenient: random.below(2) == 0,
        burst_events: if random.below(4) == 0 { vec![42_000_050] } else { Vec::new() },
        apps: [Apps::First, Apps::All, Apps::One(2)][random.below(3)],
        ..ReadOptions::default()
    };
    match file {
        "points.csv" | "points.npy" => *read += usize::from(read_points_table(&path, None).is_ok()),
        "labels.csv" => *read += usize::from(read_labels(&path).is_ok()),
        _ => {
            if random.below(4) == 0 {
                let _ = inspect(&path, &options).map_err(|e| e.to_string());
            }
            let trace = match read_bursts(&path, &options) {
                Ok(trace) => trace,
                Err(error) => {
                    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
                    return;
                }
            };
            *read += 1;
            let table = &trace.table;
            let keys: Vec<_> = (0..table.len())
                .map(|i| (table.app[i], table.task[i], table.thread[i], table.begin[i]))
                .collect();
            assert!(keys.is_sorted());
            assert!(table.counters.iter().all(|c| c.values.len() == table.len()));
            if random.below(8) == 0 {
                let values = vec![6; table.len()];
                let _ = write_labelled(
                    &path,
                    &dir.join("out"),
                    table,
                    &values,
                    &legend(1, |_| [0; 3]),
                    options.lenient,
                    None,
                );
            }
        }
    }
}

#[test]
fn ten_thousand_damaged_files_are_read_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let seeds: [(&str, Vec<u8>); 9] = [
        ("t.prv", PRV.into()),
        ("t.prv.gz", gzip(PRV.as_bytes())),
        ("gz-of-damaged", PRV.into()),
        ("t.pcf", PCF.into()),
        ("t.row", ROW.into()),
        ("bursts.csv", BURSTS.into()),
        ("labels.csv", DATA.into()),
        ("points.csv", POINTS.into()),
        ("points.npy", npy()),
    ];
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(20_261_120));
    let (mut read, mut damaged) = (0, 0);
    while damaged < 10_000 {
        for (name, seed) in &seeds {
            // Half of the damaged files are traces.
            let kind = if damaged % 2 == 0 { "t.prv" } else { *name };
            let mut bytes = if kind == "t.prv" { PRV.as_bytes().to_vec() } else { seed.clone() };
            random.mutate(&mut bytes);
            let file = match kind {
                "gz-of-damaged" => {
                    bytes = gzip(&bytes);
                    "t.prv.gz"
                }
                kind => kind,
            };
            fs::write(dir.join(file), &bytes).unwrap();
            // Names are read beside a trace, which must then be read.
            let trace = if matches!(file, "t.pcf" | "t.row") { "t.prv" } else { file };
            if trace != file {
                fs::write(dir.join(trace), PRV).unwrap();
            }
            exercise(dir, trace, &mut random, &mut read);
            damaged += 1;
        }
    }
    println!("{read} of {damaged} damaged files could be read");
    assert!(read > damaged / 20 && read < damaged);
}
