#!/usr/bin/env python3
"""Complete linkage: ours beside SciPy's distances and fastcluster's linkage, in one run.

usage: linkage.py [--rows N] [--columns D] [--runs R] [--threads T] [--binary PATH] [--quick]

Makes tables of profiles, values 0 to 1: rows of 40 kinds and a tenth of none, and
uniform rows, each 14,268 x 132 as in Malard's paper, and the first one transposed.
Each program runs as a process of its own on the same file, in turn: ours with the
matrix, ours without, the peer; and ours with 5 % of the values missing, for which only
R's `dist` and `hclust` are peers, timed if `Rscript` is found. Only the method is
timed; memory is the kernel's peak of the process. The heights are compared.
Needs NumPy, SciPy and fastcluster (BSD).
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
R_CODE = """
args <- commandArgs(TRUE)
x <- matrix(readBin(args[1], "double", as.integer(args[2]) * as.integer(args[3])), as.integer(args[2]), byrow = TRUE)
x[is.nan(x)] <- NA
distances <- system.time(d <- dist(x, "manhattan"))[["elapsed"]]
linkage <- system.time(h <- hclust(d, "complete"))[["elapsed"]]
memory <- readLines("/proc/self/status")
peak <- as.numeric(gsub("[^0-9]", "", memory[grepl("VmHWM", memory)])) / 1024
cat(sprintf('{"distances": [%f], "linkage": [%f], "peak_mb": %.0f, "sum": %.17g}', distances, linkage, peak, sum(h$height)))
"""


def peer(path, metric):
    """What the peer needs, as a line of JSON."""
    import fastcluster
    import numpy as np
    from scipy.spatial.distance import pdist

    table = np.load(path)
    begin = time.perf_counter()
    distances = pdist(table, {"manhattan": "cityblock"}.get(metric, metric))
    middle = time.perf_counter()
    tree = fastcluster.linkage(distances, "complete", preserve_input=False)
    end = time.perf_counter()
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    print(json.dumps({
        "distances": [middle - begin], "linkage": [end - middle], "peak_mb": peak, "sum": tree[:, 2].sum(),
    }))


def tables(rows, columns):
    import numpy as np

    rng = np.random.default_rng(1)
    kinds = rng.random((40, columns))
    regimes = 0.8 * kinds[rng.integers(0, 40, rows)] + 0.2 * rng.random((rows, columns))
    stray = rng.random(rows) < 0.1
    regimes[stray] = rng.random((stray.sum(), columns))
    yield "regimes", regimes
    yield "uniform", rng.random((rows, columns))
    yield "regimes, transposed", np.ascontiguousarray(regimes.T)


def build():
    command = ["cargo", "build", "--release", "-p", "likewise", "--example", "linkage"]
    subprocess.run([*command, "--message-format=short"], check=True, cwd=ROOT)
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--no-deps"],
        check=True, cwd=ROOT, capture_output=True, text=True,
    )
    return str(Path(json.loads(metadata.stdout)["target_directory"]) / "release/examples/linkage")


def run(command):
    out = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(out.stdout.splitlines()[-1])


def seconds(turns, stages=("distances", "linkage", "free")):
    return [sum(turn[stage][0] for stage in stages if stage in turn) for turn in turns]


def ratio(these, those):
    return statistics.median(a / b for a, b in zip(these, those))


def compare(title, contenders, runs):
    """Runs all in turn and prints a row."""
    turns = {name: [] for name in contenders}
    for _ in range(runs):
        for name, command in contenders.items():
            turns[name].append(run(command))
    sums = [turn["sum"] for all_turns in turns.values() for turn in all_turns]
    assert max(sums) - min(sums) <= 1e-9 * max(sums), f"heights differ: {sums}"
    matrix = seconds(turns["matrix"])
    stage = lambda name, of: statistics.median(turn[of][0] for turn in turns[name])
    cells = [title]
    for name, all_turns in turns.items():
        peak = max(turn["peak_mb"] for turn in all_turns)
        parts = "" if name == "free" else f" ({stage(name, 'distances'):.3f} + {stage(name, 'linkage'):.4f})"
        total = seconds(all_turns)
        cells.append(f"{name} {statistics.median(total):.3f} s{parts}, {peak} MB, {ratio(total, matrix):.2f} × matrix")
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=14268)
    parser.add_argument("--columns", type=int, default=132)
    parser.add_argument("--metric", default="manhattan", choices=["manhattan", "euclidean"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--binary", help="the example `linkage`, already built")
    parser.add_argument("--peer", metavar="FILE", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        return peer(args.peer, args.metric)

    import numpy as np

    binary = args.binary or build()
    print(f"{args.metric}, {args.threads} threads, medians of {args.runs}; load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as folder:
        for title, table in tables(args.rows, args.columns):
            path = str(Path(folder) / "table.npy")
            np.save(path, table)
            ours = lambda way: [binary, path, way, args.metric, "1", str(args.threads)]
            other = [sys.executable, __file__, "--peer", path, "--metric", args.metric]
            shape = f"{title}, {table.shape[0]} × {table.shape[1]}"
            compare(shape, {"matrix": ours("matrix"), "free": ours("free"), "fastcluster": other}, args.runs)
            table = np.where(np.random.default_rng(2).random(table.shape) < 0.05, np.nan, table)
            np.save(path, table)
            contenders = {"matrix": ours("matrix"), "free": ours("free")}
            if shutil.which("Rscript") and args.metric == "manhattan":
                raw = str(Path(folder) / "table.f64")
                table.tofile(raw)
                contenders["R"] = ["Rscript", "-e", R_CODE, raw, str(table.shape[0]), str(table.shape[1])]
            compare(f"{shape}, 5 % missing", contenders, min(args.runs, 2) if "R" in contenders else args.runs)


if __name__ == "__main__":
    main()
