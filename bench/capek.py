#!/usr/bin/env python3
"""CAPEK beside muster's, under mpirun, pair by pair; prints Markdown."""

import argparse
import json
import os
import statistics
import subprocess

CASES = [
    (kind, k, criterion)
    for kind, k in (("2d", 10), ("64", 10))
    for criterion in ("fixed", "bic")
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", default="target/release/examples/capek")
    parser.add_argument("--muster", required=True, help="bench/muster.cpp, built with muster")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 8, 16])
    parser.add_argument("--objects", type=int, default=10_000, help="on each rank")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each program")
    parser.add_argument("--seeds", type=int, default=5, help="runs in each turn")
    args = parser.parse_args()
    print(f"load at the start: {os.getloadavg()[0]:.1f}\n")
    print("| ranks | objects | k | ours, ms | muster, ms | time, ours / muster | loss, ours / muster |")
    print("|---|---|---|---|---|---|---|")
    for ranks in args.ranks:
        for kind, k, criterion in CASES:
            turns = [
                [run(program, ranks, kind, k, criterion, args) for program in (args.ours, args.muster)]
                for _ in range(args.rounds)
            ]
            print(row(ranks, kind, k, criterion, turns), flush=True)


def run(program, ranks, kind, k, criterion, args):
    command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    command += ["-n", str(ranks), program, kind, str(args.objects), str(k), criterion, str(args.seeds)]
    environment = os.environ | {"OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def row(ranks, kind, k, criterion, turns):
    ours, theirs = ([turn[side]["ms_median"] for turn in turns] for side in (0, 1))
    ratios = sorted(a / b for a, b in zip(ours, theirs))
    # Seeds are the same in every turn, and so are the losses.
    loss = turns[0][0]["loss_mean"] / turns[0][1]["loss_mean"]
    found = [turns[0][side]["k_mean"] for side in (0, 1)]
    told = f"BIC to {k}: {found[0]:g}, {found[1]:g}" if criterion == "bic" else str(k)
    # Losses of different numbers of clusters cannot be compared.
    told_loss = f"{loss:.4f}" if found[0] == found[1] else "–"
    time = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f})"
    return (
        f"| {ranks} | {'2-D' if kind == '2d' else '64 values'} | {told} "
        f"| {statistics.median(ours):.1f} | {statistics.median(theirs):.1f} | {time} | {told_loss} |"
    )


if __name__ == "__main__":
    main()
