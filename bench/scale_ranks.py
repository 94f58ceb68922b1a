"""What ranks send, compute and keep: counted on thread-ranks, modelled beyond.

    python3 bench/scale_ranks.py --count [--only cells-2d-weak] [--most-ranks 1024]
    python3 bench/scale_ranks.py --plot

The first runs the example `spread` of the crate likewise, one process at a time,
and puts what it prints into docs/scale.csv; the largest runs take 10 GB. The
second reads that file, prints Markdown and draws docs/scale-*.svg; it needs
matplotlib.
"""

import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CSV = ROOT / "docs/scale.csv"
RANKS = [16, 64, 256, 1024, 4096]


def evenly(n):
    """The eps at which evenly spread points in the unit cube have 4.2 neighbours."""
    return round((1 / n) ** (1 / 3), 6)


def series():
    """By name, the runs: POINTS RANKS DIMS PHASES WIDTH EPS [K]."""
    tight_2d, tight_3d, tight_8d = (2, 40, 0.005, 0.04), (3, 40, 0.005, 0.15), (8, 40, 0.005, 0.1)
    even = lambda n: (3, 0, 0, evenly(n))
    runs = {
        "cells-2d-weak": [(8192 * ranks, ranks, *tight_2d) for ranks in RANKS],
        "cells-3d-weak": [(8192 * ranks, ranks, *tight_3d) for ranks in RANKS],
        "cells-2d-strong": [(1 << 22, ranks, *tight_2d) for ranks in RANKS],
        "cells-2d-eps": [(1 << 22, 64, 2, 40, 0.005, eps) for eps in [0.04, 0.02, 0.01, 0.005, 0.0025, 0.00125]],
        # What a rank keeps of the sample grows with the ranks: 4,096 with 1,000 points each do not fit.
        "owners-3d-weak": [(1000 * ranks, ranks, *even(1000 * ranks)) for ranks in RANKS[:-1]],
        "owners-3d-points": [(per_rank * 64, 64, *even(per_rank * 64)) for per_rank in [100, 10_000, 100_000]],
        "owners-3d-strong": [(1 << 15, ranks, *even(1 << 15)) for ranks in RANKS],
        "owners-8d-weak": [(1000 * ranks, ranks, *tight_8d) for ranks in RANKS[:-2]],
        "owners-8d-strong": [(1 << 14, ranks, *tight_8d) for ranks in RANKS],
        "kdist-3d-weak": [(1000 * ranks, ranks, *even(1000 * ranks), 10) for ranks in RANKS[:-1]],
        "kdist-3d-strong": [(1 << 15, ranks, *even(1 << 15), 10) for ranks in RANKS],
        "cells-2d-10000": [(1_000_000, 10_000, *tight_2d)],
        "owners-3d-10000": [(10_000, 10_000, *even(10_000))],
    }
    return runs


def count(args):
    environment = os.environ | {"RAYON_NUM_THREADS": "1"}
    known = list(csv.DictReader(CSV.open())) if CSV.exists() else []
    for name, runs in series().items():
        if args.only and name not in args.only:
            continue
        known = [row for row in known if row["series"] != name]
        for run in runs:
            if run[1] > args.most_ranks:
                continue
            command = [str(args.spread), *map(str, run)]
            print(name, *command[1:], file=sys.stderr, flush=True)
            ended = subprocess.run(command, env=environment, capture_output=True, text=True)
            if ended.returncode != 0:
                print(f"  ended with {ended.returncode}: {ended.stderr.strip()[-300:]}", file=sys.stderr)
                continue
            known += [{"series": name} | row for row in csv.DictReader(ended.stdout.splitlines())]
            with CSV.open("w", newline="") as file:
                writer = csv.DictWriter(file, known[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(known)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true", help="run all series")
    parser.add_argument("--plot", action="store_true", help="tables and pictures of what was counted")
    parser.add_argument("--only", nargs="+", choices=series(), help="run only these series")
    parser.add_argument("--most-ranks", type=int, default=10_000, help="run only with so many ranks or fewer")
    spread = ROOT / "target/release/examples/spread"
    parser.add_argument("--spread", type=Path, default=spread, help="the example, built with --release")
    return parser.parse_args()


def main():
    args = arguments()
    if args.count:
        count(args)


if __name__ == "__main__":
    main()
