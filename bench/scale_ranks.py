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
import functools
import math
import os
import subprocess
import sys
from pathlib import Path

from tables import markdown

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
        # An owner of fewer points than k asks all others: 4,096 ranks need some 40,000 points, which do not fit.
        "kdist-3d-strong": [(1 << 15, ranks, *even(1 << 15), 10) for ranks in RANKS[:-1]],
        "owners-3d-1000": [(8000, 1000, *even(8000))],
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

# The model: what a rank sends on average, in bytes, by phase. `ranks` is P, `points` those of a
# rank, L the steps of halving P. What is fitted to docs/scale.csv is in capitals here.

# Hops of a parcel between owners that are near each other, for each step of halving.
NEAR_HOPS = 0.2
# Evenly spread points in 3-D with eps of one spacing: components that touch those of other owners,
# and pairs of them, for each point on an owner's border (points^(2/3)); components for each point.
TOUCHING = 0.26
COMPONENTS = 0.0113
# Seconds of one comparison where the sample is sorted, of one component in the list of all, and
# of a point at its owner.
SORT_SECONDS = 5.0e-9
LIST_SECONDS = 1.5e-7
POINT_SECONDS = 1.1e-6


def steps(ranks):
    return max(1, math.ceil(math.log2(ranks)))


def to_all(total, ranks):
    """`concatenate`: up a tree, and down in parts that are passed around."""
    hops = steps(ranks) / 2
    if total <= 4096:
        return total / ranks * hops + total + 8
    return 2 * total / ranks * hops + total + 8


def routed(total, parcels, hops):
    return (total + 24 * parcels) * hops


def tight_sample(n, ranks):
    """4 bytes for 16,384 points or every 8th, where tables are thought of."""
    return 24 + to_all(4 * n / max(8, n // (1 << 14)), ranks)


def tables_are_thought_of(n, eps, dims):
    return n >= 1 << 17 and (math.sqrt(dims) / eps + 5) ** dims <= 1 << 22


def sampled(points, ranks):
    """About 128 points of each rank go to all."""
    return points * ranks / max(1, points // 128)


def owners_model(points, ranks, dims=3):
    """Evenly spread points, with eps of one spacing."""
    n, hops = points * ranks, steps(ranks) / 2
    met = ranks * (1 - (1 - 1 / ranks) ** points)
    inside = 1 - ranks ** (-1 / dims)
    copies = points * ((1 + 2 / points ** (1 / dims)) ** dims - 1) * inside
    near = NEAR_HOPS * steps(ranks)
    neighbours = 22 * inside
    listed = TOUCHING * points ** (1 - 1 / dims) * inside
    components = COMPONENTS * points
    numbers = routed(8 * components, min(components, ranks), hops)
    start = tight_sample(n, ranks) if tables_are_thought_of(n, n ** (-1 / dims), dims) else 0
    return {
        "sizes": 16 * (ranks - 1) + 32 * dims + 8 + start,
        "sample": to_all(8 * dims * sampled(points, ranks), ranks),
        "points": routed(points * (4 + 8 * dims), met, hops),
        "boxes": to_all(16 * dims * ranks, ranks),
        "copies": routed((8 * dims + 5) * copies, 3 * neighbours, near),
        "components": (ranks - 1) * (16 + 16 * listed) + 2 * numbers,
        "labels": routed(5 * points, met, hops),
    }


def owners_seconds(points, ranks, dims=3):
    sample = sampled(points, ranks)
    listed = TOUCHING * points ** (1 - 1 / dims) * ranks
    return {
        "own points": POINT_SECONDS * points,
        "sample": SORT_SECONDS * sample * math.log2(sample) * math.log2(ranks),
        "components": LIST_SECONDS * listed,
    }


@functools.cache
def cell_bytes(mean):
    """What a cell takes in a message, and whether it is there, if its points are by chance `mean`."""
    if mean > 300:
        return 20 + 256 * (1 - math.exp(-mean / 64)), 1.0
    counts = range(1, 20 + int(mean + 10 * math.sqrt(mean)))
    shares = [math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) for count in counts]
    many = lambda count: 20 + 256 * (1 - (1 - 1 / 64) ** count)
    sizes = [12 + count if count <= 8 else many(count) for count in counts]
    return sum(map(math.prod, zip(shares, sizes))), sum(shares)


def sum_of_three(x):
    """The share below x of the sum of three numbers that are even between 0 and 1."""
    return sum((-1) ** k * math.comb(3, k) * max(0, x - k) ** 3 for k in range(4)) / 6 if x < 3 else 1.0


def table_bytes(n, eps, phases=40, width=0.005):
    """The table of `n` points in 2-D, and its cells: a hundredth is noise, the others lie in phases."""
    per_side = math.sqrt(2) / eps
    noise = [part * per_side**2 for part in cell_bytes(0.01 * n / per_side**2)]
    edges = [i / (per_side * width) for i in range(int(3 * width * per_side) + 2)]
    shares = [sum_of_three(edge + edges[1]) - sum_of_three(edge) for edge in edges]
    means = [0.99 * n / phases * a * b for a in shares for b in shares]
    tight = [cell_bytes(float(f"{mean:.3g}")) for mean in means if mean > 1e-6]
    return tuple(noise[i] + phases * sum(cell[i] for cell in tight) for i in range(2))


def cells_model(points, ranks, eps):
    """Tight phases in 2-D; what travels is not in it."""
    n = points * ranks
    whole, _ = table_bytes(n, eps)
    up = sum(0.5 ** (k + 1) * table_bytes(n * 2.0**k / ranks, eps)[0] for k in range(steps(ranks)))
    return {
        "sizes": 16 * (ranks - 1) + 64 + 8,
        "sample": tight_sample(n, ranks),
        "tables": up + whole * (1 + steps(ranks) / ranks),
    }


# Tables and pictures.

MOST = 10_000
EACH = 100_000
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]


class Run:
    """What was counted in one run, of a rank on average unless it says most."""

    def __init__(self, rows):
        first = rows[0]
        self.series, self.same = first["series"], all(row["same"] == "true" for row in rows)
        self.ranks, self.n, self.eps = int(first["ranks"]), int(first["points"]), float(first["eps"])
        self.points = self.n / self.ranks
        by_phase = lambda name: {row["phase"]: float(row[name]) for row in rows}
        on_average = lambda name: {phase: sum_ / self.ranks for phase, sum_ in by_phase(name).items()}
        self.bytes, self.seconds = on_average("bytes"), on_average("cpu_seconds")
        self.peak = max(on_average("peak_bytes").values())
        self.most_messages = sum(by_phase("most_messages").values())
        self.most_bytes = sum(by_phase("most_bytes").values())

    def by_phase(self):
        told = dict(self.bytes)
        if self.series.startswith("owners"):
            told["copies and core points"] = told.pop("copies") + told.pop("core points")
        return told


def model(series, points, ranks, eps):
    """By phase, as far as there is a model; for owners, eps is one spacing."""
    if series.startswith("owners-3d"):
        told = owners_model(points, ranks)
        return {
            "start": told["sizes"],
            "points to owners": told["sample"] + told["points"],
            "copies and core points": told["boxes"] + told["copies"],
            "components": told["components"],
            "labels": told["labels"],
        }
    if series.startswith("cells-2d"):
        told = cells_model(points, ranks, eps)
        return {"start": told["sizes"] + told["sample"], "cells": told["tables"]}
    return {}


def counted():
    runs = {}
    for row in csv.DictReader(CSV.open()):
        runs.setdefault((row["series"], row["points"], row["ranks"], row["eps"]), []).append(row)
    return [Run(rows) for rows in runs.values()]


def short(n):
    """Bytes."""
    for unit, size in [("MB", 1e6), ("kB", 1e3)]:
        if n >= size:
            return f"{n / size:.3g} {unit}" if n < 999.5 * size else f"{n / size:,.0f} {unit}"
    return f"{n:.0f} B"


def tables(runs):
    rows = []
    for run in runs:
        told, sent = model(run.series, run.points, run.ranks, run.eps), run.by_phase()
        share = sum(told.values()) / sum(sent[phase] for phase in told) if told else None
        row = (run.series, f"{run.ranks:,}", f"{run.points:,.0f}", run.eps, short(sum(sent.values())))
        row += (short(run.most_bytes), f"{run.most_messages:.0f}", f"{1e3 * sum(run.seconds.values()):.1f}")
        rows.append((*row, short(run.peak), "–" if share is None else f"{share:.2f}", "yes" if run.same else "NO"))
    head = ("series", "ranks", "points of a rank", "eps", "bytes sent", "at most", "messages at most")
    print(markdown((*head, "CPU ms", "memory", "model / counted", "same labels"), rows))
    print("\nOwners, 3-D, even:\n")
    told = {ranks: owners_model(EACH, ranks) for ranks in [1000, MOST, 100_000]}
    rows = [(term, *(short(told[ranks][term]) for ranks in told)) for term in told[MOST]]
    rows.append(("all", *(short(sum(told[ranks].values())) for ranks in told)))
    seconds = {ranks: owners_seconds(EACH, ranks) for ranks in told}
    rows += [(f"s: {term}", *(f"{seconds[ranks][term]:.2f}" for ranks in told)) for term in seconds[MOST]]
    print(markdown(("term", *(f"{ranks:,} ranks" for ranks in told)), rows))
    print("\nTables, 2-D, tight:\n")
    rows = []
    for eps in [0.01, 0.0025, 0.0007]:
        whole, cells = table_bytes(EACH * MOST, eps)
        told = cells_model(EACH, MOST, eps)
        rows.append((eps, f"{cells:,.0f}", short(whole), *(short(told[term]) for term in ("sizes", "sample", "tables"))))
    print(markdown(("eps", "cells", "table", "sizes", "sample", "tables sent"), rows))


def figure(name, draw, size=(9.6, 4.4)):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "likewise"
    drawn, axes = plt.subplots(1, 2, figsize=size, layout="constrained")
    draw(axes)
    for axis in axes:
        axis.set(xscale="log", xlabel="ranks")
        if axis.get_yscale() != "log":
            axis.set_yscale("log")
        axis.grid(True, which="major", lw=0.3)
        if axis.get_ylabel().startswith(("sent", "kept")):
            axis.yaxis.set_major_formatter(lambda n, _: short(n))
            axis.yaxis.set_minor_formatter(lambda n, _: "")
        axis.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    drawn.savefig(ROOT / f"docs/scale-{name}.svg", metadata={"Date": None})
    drawn.savefig(f"/tmp/scale-{name}.png", dpi=90)


def draw_bytes(runs):
    """Counted and modelled, by phase."""

    def draw(axes):
        titles = {"cells-2d-weak": "tight, 2-D, 8,192 points a rank", "owners-3d-weak": "even, 3-D, 1,000 points a rank"}
        for axis, (series, title) in zip(axes, titles.items()):
            of_series = [run for run in runs if run.series == series]
            wide = [2**i for i in range(4, 14)] + [MOST]
            told = [model(series, of_series[0].points, ranks, of_series[0].eps) for ranks in wide]
            for colour, phase in zip(COLOURS, told[0]):
                axis.plot(wide, [phases[phase] for phases in told], color=colour, lw=1)
                dots = [(run.ranks, run.by_phase()[phase]) for run in of_series]
                axis.plot(*zip(*dots), color=colour, marker="o", ls="", label=phase)
            axis.set(title=title, ylabel="sent by a rank, on average")
            axis.legend(fontsize=8, title="dots counted, lines modelled", title_fontsize=8, loc="upper left")
        axes[0].set_ylim(1e4, 2e6)

    return draw


def draw_ranks(runs):
    """Messages and memory."""

    def draw(axes):
        names = {
            "cells-2d-weak": "tight 2-D, tables; 8,192 points a rank",
            "cells-3d-weak": "tight 3-D, tables; 8,192 points a rank",
            "owners-3d-weak": "even 3-D, owners; 1,000 points a rank",
            "owners-3d-strong": "even 3-D, owners; 32,768 points in all",
            "owners-8d-strong": "tight 8-D, owners; 16,384 points in all",
            "kdist-3d-strong": "even 3-D, k-distances; 32,768 points in all",
        }
        for colour, marker, (series, label) in zip(COLOURS, "osD^v<", names.items()):
            of_series = [run for run in runs if run.series == series]
            ranks = [run.ranks for run in of_series]
            style = {"color": colour, "marker": marker, "ms": 5, "label": label}
            axes[0].plot(ranks, [run.most_messages for run in of_series], **style)
            axes[1].plot(ranks, [run.peak for run in of_series], **style)
        axes[0].set(title="messages", ylabel="messages sent by a rank, at most", ylim=(20, 1000), yscale="log")
        axes[0].set_yticks([20, 50, 100, 200, 500], ["20", "50", "100", "200", "500"])
        axes[0].minorticks_off()
        axes[1].set(title="memory", ylabel="kept by a rank in its worst phase", ylim=(1e5, 2e7))
        axes[0].legend(fontsize=8, loc="upper left")

    return draw


def draw_beyond(axes):
    """What grows, with 100,000 points on each rank; modelled only."""
    wide = [round(10 ** (2 + i / 8)) for i in range(25)]
    for colour, term in zip(COLOURS, owners_model(EACH, MOST)):
        axes[0].plot(wide, [owners_model(EACH, ranks)[term] for ranks in wide], color=colour, label=term)
    axes[0].set(title="bytes, modelled: even 3-D, 100,000 points a rank", ylabel="sent by a rank, on average")
    for colour, term in zip([COLOURS[2], COLOURS[1], COLOURS[5]], owners_seconds(EACH, MOST)):
        axes[1].plot(wide, [owners_seconds(EACH, ranks)[term] for ranks in wide], color=colour, label=term)
    axes[1].set(title="work, modelled", ylabel="seconds of a rank")
    for axis in axes:
        axis.axvline(MOST, color="#888888", lw=0.8, ls="--")
        axis.set_xlim(100, 100_000)
        axis.legend(fontsize=8)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true", help="run all series")
    parser.add_argument("--plot", action="store_true", help="tables and pictures of what was counted")
    parser.add_argument("--only", nargs="+", choices=series(), help="run only these series")
    parser.add_argument("--most-ranks", type=int, default=4096, help="run only with so many ranks or fewer")
    spread = ROOT / "target/release/examples/spread"
    parser.add_argument("--spread", type=Path, default=spread, help="the example, built with --release")
    return parser.parse_args()


def main():
    args = arguments()
    if args.count:
        count(args)
    if args.plot:
        runs = counted()
        tables(runs)
        figure("bytes", draw_bytes(runs))
        figure("ranks", draw_ranks(runs))
        figure("beyond", draw_beyond)


if __name__ == "__main__":
    main()
