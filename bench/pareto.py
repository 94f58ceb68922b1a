#!/usr/bin/env python3
"""Goldberg ranks beside moocore's and jfb's, in turn; prints Markdown.

Needs NumPy and moocore (pip), for jfb also Java and the class path of
non-dominated-sorting's implementations with bench/Jfb.java compiled.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import moocore
import numpy as np

CASES = [
    (14_268, 2, "uniform"),
    (14_268, 2, "tied"),
    (14_268, 3, "uniform"),
    (14_268, 3, "tied"),
    (14_268, 132, "uniform"),
    (14_268, 132, "tied"),
    (100_000, 2, "uniform"),
    (100_000, 3, "uniform"),
    (1_000_000, 2, "uniform"),
    (1_000_000, 2, "tied"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", default="target/release/examples/pareto")
    parser.add_argument("--jfb", help="class path of jfb and Jfb.class")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=132, help="columns of which all pairs are ranked")
    args = parser.parse_args()
    print(f"load at the start: {os.getloadavg()[0]:.1f}\n")
    print("| records × objectives | ours, ms | moocore, ms | jfb, ms | best peer / ours | sorting, ms |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for n, h, kind in CASES:
            print(case(pathlib.Path(folder), n, h, kind, args), flush=True)
        print(pairs(pathlib.Path(folder), args), flush=True)


def points(n, h, kind):
    random = np.random.default_rng(1)
    if kind == "uniform":
        return random.random((n, h))
    common = random.random((n, 1))
    return np.floor((common + 0.5 * random.random((n, h))) * 100)


def case(folder, n, h, kind, args):
    data = points(n, h, kind)
    (folder / "columns").write_bytes(np.ascontiguousarray(data.T).tobytes())
    (folder / "rows").write_bytes(np.ascontiguousarray(data).tobytes())
    turns = []
    for _ in range(args.turns):
        ours = ours_s(folder, h, args, [str(folder / "ours")])
        start = time.perf_counter()
        theirs = moocore.pareto_rank(data)
        turn = {"ours": ours["goldberg_s"], "moocore": time.perf_counter() - start, "sort": ours["sort_s"]}
        check(folder / "ours", theirs)
        if args.jfb:
            turn["jfb"] = jfb_s(folder, n, h, args)
            check(folder / "ours", np.fromfile(folder / "jfb", dtype=">i4"))
        turns.append(turn)
    return row(f"{n:,} × {h}, {kind}", turns)


def pairs(folder, args):
    n, h = 14_268, args.pairs
    data = points(n, h, "uniform")
    (folder / "columns").write_bytes(np.ascontiguousarray(data.T).tobytes())
    ours = ours_s(folder, h, args, ["pairs"], runs=1)
    start = time.perf_counter()
    some = [(a, b) for a in range(h) for b in range(a + 1, h)][:: max(1, h * (h - 1) // 2 // 500)]
    for a, b in some:
        moocore.pareto_rank(data[:, [a, b]])
    # Only some pairs are measured, and scaled: every pair costs about the same.
    theirs = (time.perf_counter() - start) * (h * (h - 1) // 2) / len(some)
    turn = {"ours": ours["goldberg_s"], "moocore": theirs, "sort": float("nan")}
    return row(f"{n:,}, all pairs of {h} (moocore: {len(some)} of them, scaled)", [turn])


def ours_s(folder, h, args, rest, runs=5):
    command = [args.ours, str(folder / "columns"), str(h), str(runs), *rest]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def jfb_s(folder, n, h, args):
    command = ["java", "-Xmx4g", "-cp", args.jfb, "Jfb", folder / "rows", str(n), str(h), folder / "jfb"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def check(ours, theirs):
    differ = np.count_nonzero(np.fromfile(ours, dtype="<u4") != np.asarray(theirs))
    if differ:
        print(f"<!-- {differ} ranks differ -->")


def row(name, turns):
    of = lambda who: [turn[who] for turn in turns if who in turn]
    ms = lambda who: f"{1e3 * statistics.median(of(who)):.2f}" if of(who) else "–"
    ratios = [min(turn["moocore"], turn.get("jfb", np.inf)) / turn["ours"] for turn in turns]
    return f"| {name} | {ms('ours')} | {ms('moocore')} | {ms('jfb')} | {statistics.median(ratios):.2f} | {ms('sort')} |"


if __name__ == "__main__":
    main()
