"""Labels of `likewise` against scikit-learn's DBSCAN, point for point.

usage: oracle.py LIKEWISE WORKDIR

On made-up points in 1 to 16 dimensions, on a synthetic trace, and on the
EPOCH trace where a folder shared/data lies beside or above the checkout.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import DBSCAN
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

likewise, work = sys.argv[1], Path(sys.argv[2])
checked = failed = 0


def check(name, ok, detail=""):
    global checked, failed
    checked += 1
    failed += not ok
    print(f"{'ok  ' if ok else 'FAIL'} {name} {detail}")


def run(*args):
    subprocess.run([likewise, *map(str, args), "-q"], check=True)


def read_column(path, name):
    with open(path, newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


def as_numbers(labels):
    return np.array([-1 if label == "noise" else int(label) for label in labels])


def same_partition(ours, theirs):
    """Equal up to the clusters' numbers, noise and border points included."""
    pairs = set(zip(ours, theirs))
    return len({a for a, _ in pairs}) == len(pairs) == len({b for _, b in pairs}) and all(
        (a == -1) == (b == -1) for a, b in pairs
    )


def clouds():
    """Points with ties, duplicates, distances of exactly eps, and outliers."""
    rng = np.random.default_rng(20261120)
    for dims in range(1, 17):
        centres = rng.random((6, dims))
        tight = centres[rng.integers(0, 6, 1500)] + rng.normal(0, 0.01, (1500, dims))
        yield f"phases, {dims}-D", np.vstack([tight, tight[:300], rng.random((200, dims))]), 0.01 * dims**0.5, 8
        # Multiples of 1/8 and their differences are exact in binary.
        yield f"lattice, {dims}-D", rng.integers(0, 5, (800, dims)) / 8.0, 0.125, 4
        yield f"uniform, {dims}-D", rng.random((1200, dims)), 0.05 * dims, 5


def points():
    for name, data, eps, min_points in clouds():
        np.save(work / "cloud.npy", data)
        run("points", work / "cloud.npy", "--eps", eps, "--min-points", min_points, "--core", "-o", work / "cloud")
        ours = as_numbers(read_column(work / "cloud/labels.csv", "cluster"))
        core = np.array(read_column(work / "cloud/labels.csv", "core")) == "1"
        theirs = DBSCAN(eps=eps, min_samples=min_points, algorithm="kd_tree").fit(data)
        their_core = np.zeros(len(data), bool)
        their_core[theirs.core_sample_indices_] = True
        ok = same_partition(ours, theirs.labels_) and (core == their_core).all()
        check(name, ok, f"clusters {ours.max(initial=0)}, noise {(ours == -1).sum()}")
        k = min_points
        run("points", work / "cloud.npy", "--k-distances", k, "-o", work / "cloud")
        ours = np.array(read_column(work / "cloud/k_distances.csv", "distance"), float)
        # With brute force, scikit-learn computes |a|² + |b|² − 2ab, where digits cancel.
        theirs = NearestNeighbors(n_neighbors=k, algorithm="kd_tree").fit(data).kneighbors(data)[0][:, -1]
        check(f"k-distances, {name}", np.allclose(ours, theirs, rtol=1e-12, atol=1e-15))


def bursts(name, trace, *args):
    """The labels of complete bursts, from the normalised columns themselves."""
    out = work / name
    run("bursts", trace, *args, "-o", out)
    summary = json.loads((out / "summary.json").read_text())
    with open(out / "bursts.csv", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["cluster"] == "noise" or r["cluster"].isdigit()]
    columns = [m["name"] for m in summary["parameters"]["metrics"]]
    data = np.array([[float(r[f"n_{c}"]) for c in columns] for r in rows])
    theirs = DBSCAN(eps=summary["parameters"]["eps"], min_samples=summary["parameters"]["min_points"]).fit(data)
    ours = as_numbers([r["cluster"] for r in rows])
    check(f"{name}: labels", same_partition(ours, theirs.labels_), f"{len(rows)} bursts, {summary['clusters']} clusters")
    return rows, ours


def shared_data():
    for folder in Path(__file__).resolve().parents:
        if (folder / "shared/data").is_dir():
            return folder / "shared/data"
    return None


def epoch(data):
    import gzip

    rows, ours = bursts("epoch", data / "epoch/epoch_16proc.prv.gz", "--definition", data / "epoch/cluster.xml")
    with gzip.open(data / "epoch/bsc-dbscan.DATA.csv.gz", "rt") as file:
        header = [name.strip() for name in file.readline().lstrip("# ").split(",")]
        golden = [dict(zip(header, line.strip().split(","))) for line in file]
    key = lambda g: (int(g["TaskId"]) + 1, int(g["Begin_Time"]))
    golden = {key(g): g for g in golden}
    mine = {(int(r["task"]), int(r["begin_ns"])): (r, label) for r, label in zip(rows, ours)}
    check("epoch: the same complete bursts", golden.keys() == mine.keys(), f"{len(mine)} and {len(golden)}")
    counters = [name[2:] for name in header if name.startswith("x_")]
    equal = all(
        int(g["Duration"]) == int(mine[k][0]["duration_ns"])
        and all(float(g[f"x_{c}"]) == float(mine[k][0][c]) for c in counters)
        for k, g in golden.items()
    )
    check(f"epoch: duration and {len(counters)} counters equal", equal)
    both = [(int(g["ClusterID"]), mine[k][1]) for k, g in golden.items() if g["ClusterID"] != "5" and mine[k][1] != -1]
    index = adjusted_rand_score(*zip(*both))
    check("epoch: adjusted Rand index with ClusteringSuite", index >= 0.999, f"{index:.6f} over {len(both)}")


work.mkdir(parents=True, exist_ok=True)
points()
run("synth", "--tasks", 8, "--bursts", 12000, "--seed", 5, "-o", work / "synth-input")
dbscan = work / "synth-input/synth.prv", "--method", "dbscan"
bursts("synth", *dbscan)
bursts("synth-3d", *dbscan, "-m", "PAPI_TOT_INS", "-m", "IPC=PAPI_TOT_INS/PAPI_TOT_CYC", "-m", "PAPI_L1_DCM")
if data := shared_data():
    epoch(data)
else:
    print("skipped: EPOCH, there is no folder shared/data beside or above the checkout")
print(f"{checked - failed} passed, {failed} failed")
sys.exit(failed > 0)
