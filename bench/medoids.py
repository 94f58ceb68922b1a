#!/usr/bin/env python3
"""k-medoids: ours beside PyPI kmedoids, on the same matrices, in one run.

usage: medoids.py [--n N] [--k K] [--runs R] [--threads T]

Makes effort traces (six generators and noise, 64 steps) and uniform points in the
square, and their Euclidean distances. Both start from BUILD, and both from the same
random medoids, and look at the objects in their order, which is the peer's default (in
a shuffled order its loss is by up to 2% lower or higher, as luck has it); runs take
turns. Only the method is timed. The loss is over the lesser of the peer's. Needs NumPy and
`kmedoids` (GPL: installed from PyPI to measure it, nothing of it is in this project).
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import kmedoids
import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def traces(n, rng):
    c = np.arange(64.0)
    shapes = np.array([
        10 * np.sin(c / 5),
        np.sin(c / 5),
        10 * np.sin(c / 5) ** 2 * np.cos(c),
        2 * c,
        20 * np.cos(10 * c) * np.sin(c / 2),
        np.full(64, 8.0),
    ])
    return shapes[np.arange(n) % 6] + rng.random((n, 64))


def distances(points):
    """Euclidean, row by row: exact zeros and exact symmetry."""
    matrix = np.empty((len(points), len(points)))
    for i, point in enumerate(points):
        matrix[i] = np.sqrt(((points - point) ** 2).sum(axis=1))
    return matrix


def ours(binary, path, k, start, threads):
    command = [binary, path, str(k), start, "1", str(threads)]
    out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return out["seconds"][0], out["loss"], out["swaps"]


def peer(matrix, k, start, threads):
    medoids = k if start == "build" else np.array([int(m) for m in start.split(",")], dtype=np.uint64)
    begin = time.perf_counter()
    found = kmedoids.fasterpam(matrix, medoids, init="build", n_cpu=threads)
    return time.perf_counter() - begin, found.loss, found.n_swap


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--k", type=int, default=12)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--binary", help="the example `medoids`, already built")
    args = parser.parse_args()
    binary = args.binary
    if not binary:
        build = ["cargo", "build", "--release", "-p", "likewise", "--example", "medoids"]
        subprocess.run([*build, "--message-format=short"], check=True, cwd=ROOT)
        metadata = subprocess.run(
            ["cargo", "metadata", "--format-version=1", "--no-deps"],
            check=True, cwd=ROOT, capture_output=True, text=True,
        )
        binary = str(Path(json.loads(metadata.stdout)["target_directory"]) / "release/examples/medoids")
    rng = np.random.default_rng(1)
    print(f"n = {args.n}, k = {args.k}, {args.threads} threads, medians of {args.runs}\n")
    print("| data | start | ours s | kmedoids s | kmedoids, 1 thread, s | ours / kmedoids | loss / loss | swaps |")
    print("|---|---|---|---|---|---|---|---|")
    for title, points in (("64-D traces", traces(args.n, rng)), ("2-D uniform", rng.random((args.n, 2)))):
        matrix = distances(points)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "matrix.npy")
            np.save(path, matrix)
            random = ",".join(map(str, rng.choice(args.n, args.k, replace=False)))
            for name, start in (("BUILD", "build"), ("random", random)):
                turns = []
                for _ in range(args.runs):
                    mine = ours(binary, path, args.k, start, args.threads)
                    turns.append((mine, *(peer(matrix, args.k, start, t) for t in (args.threads, 1))))
                mine, theirs, alone = ([turn[who] for turn in turns] for who in range(3))
                time_of = lambda runs: statistics.median(run[0] for run in runs)
                fastest = [min(turn[1][0], turn[2][0]) for turn in turns]
                ratio = statistics.median(turn[0][0] / least for turn, least in zip(turns, fastest))
                least_loss = min(theirs[0][1], alone[0][1])
                print(f"| {title} | {name} | {time_of(mine):.3f} | {time_of(theirs):.3f} | {time_of(alone):.3f} "
                      f"| {ratio:.2f} | {mine[0][1] / least_loss:.6f} | {mine[0][2]} / {theirs[0][2]} |", flush=True)


if __name__ == "__main__":
    main()
