"""Draws docs/capek-*.png from what the examples `figure9` and `scale` print.

    cargo run --release -p likewise --example figure9 > figure9.csv
    cargo run --release -p likewise --example scale > scale.csv
    python bench/capek_plots.py figure9.csv scale.csv docs

Needs matplotlib.
"""

import csv
import math
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999", "#7f3c8d"]
PHASES = ["count", "sample", "gather", "trials", "far", "swaps", "contest", "measure", "criterion", "centre", "describe"]

# What the paper says in words, in seconds: figure -> (ranks, seconds, what it says, run mode).
PAPER = {
    4: [(32768, 0.2, "below 0.2 s (SMP)"), (131072, 0.5, "below 0.5 s (VN)")],
    5: [(65536, 0.2, "about 0.2 s (SMP, dual)"), (131072, 1.0, "below 1 s (VN)")],
    6: [(65536, 0.4, "about 0.4 s (SMP, dual)"), (131072, 1.0, "about 1 s (VN)")],
    7: [(65536, 1.0, "“one second” in general (§5.2)")],
    8: [(131072, 0.5, "half of figure 5's (VN)")],
}
TITLES = {
    4: "Figure 4: points in 2-D, k = 10",
    5: "Figure 5: traces of 64, k = 10",
    6: "Figure 6: points in 2-D, k ≤ 10 by BIC",
    7: "Figure 7: longer traces, k = 10",
    8: "Figure 8: signatures of traces of 64",
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def quality(rows, out):
    """Figure 9."""
    clusters = ["2", "4", "6", "8", "10", "BIC"]
    sizes = sorted({int(row["n"]) for row in rows})
    cell = {(int(r["n"]), r["clusters"], r["objects"], int(r["values"]), r["mode"]): r for r in rows}
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    for colour, k in zip(COLOURS, clusters):
        sampled = [cell[n, k, "trace", 64, "Sampled"] for n in sizes]
        name = "by BIC" if k == "BIC" else f"k = {k}"
        for axis, what in [(axes[0], "mirkin"), (axes[1], "loss")]:
            axis.plot(sizes, [float(r[what]) for r in sampled], color=colour, marker="o", ms=4, label=name)
            theirs = [(n, float(r["muster_" + what])) for n, r in zip(sizes, sampled) if r["muster_" + what]]
            axis.plot(*zip(*theirs), color=colour, marker="x", ms=5, ls=":", lw=1)
    for axis, what in zip(axes, ["normalised Mirkin distance to PAM", "loss over PAM's"]):
        axis.set_xscale("log", base=2)
        axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axis.set_xlabel("objects (= ranks)")
        axis.set_ylabel(what)
        axis.grid(alpha=0.3)
    axes[1].axhline(1.015, color="grey", lw=1, ls="--")
    axes[1].text(sizes[-1], 1.0155, "target 1.015", fontsize=8, color="grey", ha="right")
    axes[1].legend(fontsize=8, ncols=2, loc="upper left")
    axes[0].set_ylim(-0.006, 0.076)
    axes[0].text(4096, -0.0045, "ours: 0 at k = 2, 4, 6 and by BIC", fontsize=8, ha="right")
    axes[0].set_title("9a, samples: ours —●—, muster 1.0.1 ··×··\n(exact mode: 0 everywhere)", fontsize=10)
    axes[1].set_title("loss, samples: ours —●—, muster ··×··\n(exact mode: 1 everywhere)", fontsize=10)
    n = max(sizes)
    for colour, k in zip(COLOURS, clusters):
        for kind, style in [("signature", "-"), ("lowest band", ":")]:
            found = [(r["values"], r["mirkin"]) for r in rows if r["n"] == str(n) and r["clusters"] == k
                     and r["mode"] == "Sampled" and r["objects"] in (kind, "trace" if style == "-" else kind)]
            found = sorted((int(values), float(mirkin)) for values, mirkin in found)
            axes[2].plot(*zip(*found), color=colour, ls=style, marker="o" if style == "-" else "x", ms=4)
    axes[2].axhline(0.22, color="grey", lw=1, ls="--")
    axes[2].text(30, 0.224, "the paper, k = 4: 22 %", fontsize=8, color="grey")
    axes[2].set_xscale("log", base=2)
    axes[2].set_xticks([8, 11, 16, 18, 33, 64], ["8", "11", "16", "", "33", "64"])
    axes[2].set_xlabel("values an object")
    axes[2].set_ylabel("normalised Mirkin distance to PAM of full traces")
    axes[2].set_title(f"9b, {n:,} objects: signatures with energies —●—,\nlowest band alone ··×··", fontsize=10)
    axes[2].grid(alpha=0.3)
    figure.suptitle("All measured: means of 10 seeds, the paper's six generators with U[0, 1) noise; "
                    "muster: its own code, re-run on the same generators with other noise", fontsize=9, color="#444444")
    figure.savefig(out / "capek-figure9.png", dpi=85)


def totals(rows):
    """(figure, values, mode, core, ranks) -> phase -> mean over seeds of seconds, work, and seconds a round.

    How many rounds make medoids central follows from the data, and is at most four; so growth is that of the
    time for each collective function.
    """
    sums = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0, 0.0, 0]))
    for row in rows:
        key = int(row["figure"]), int(row["values"]), row["mode"], row["core"], int(row["ranks"])
        sum_ = sums[key][row["phase"]]
        sum_[0] += float(row["seconds"])
        sum_[1] += float(row["work"])
        sum_[2] += float(row["seconds"]) / max(int(row["round_trips"]), 1)
        sum_[3] += 1
    return {key: {p: tuple(sum_ / x[3] for sum_ in x[:3]) for p, x in phases.items()} for key, phases in sums.items()}


def curve(found, figure, values, mode, core):
    points = [(key[4], sum(x[0] for x in phases.values())) for key, phases in found.items()
              if key[:4] == (figure, values, mode, core)]
    return sorted(points)


def scale(found, out):
    """Figures 4 to 8, and the growth of phases."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")
    for axis, number in zip(axes.flat, [4, 5, 6, 7, 8]):
        every = sorted({key[1] for key in found if key[0] == number})
        if number == 7:
            for colour, values in zip(COLOURS, every):
                for core, style in [("850 MHz", "-"), ("this", ":")]:
                    label = f"{values:,} values, VN" if style == "-" else None
                    axis.plot(*zip(*curve(found, number, values, "VN", core)), color=colour, ls=style,
                              marker="o", ms=3, label=label)
        else:
            for colour, mode in zip(COLOURS, ["SMP", "dual", "VN"]):
                axis.plot(*zip(*curve(found, number, every[0], mode, "850 MHz")), color=colour, marker="o", ms=3,
                          label=f"ours, {mode}, work × 10")
            axis.plot(*zip(*curve(found, number, every[0], "VN", "this")), color=COLOURS[2], ls=":", marker="o",
                      ms=3, label="ours, VN, work as here")
        for ranks, seconds, words in PAPER[number]:
            axis.plot([ranks], [seconds], marker="v", color="black", ms=8, ls="none")
            axis.annotate("paper: " + words, (ranks, seconds), (-6, 7), textcoords="offset points", fontsize=8,
                          ha="right")
        axis.set_title(TITLES[number], fontsize=10)
        axis.set_ylim(0.003, 5)
        decorate(axis)
        if number in (4, 7):
            axis.legend(fontsize=8, loc=(0.03, 0.3) if number == 4 else "lower right")
        axis.set_ylabel("seconds")
    growth(found, axes.flat[5])
    figure.suptitle("One object a rank. Work: measured on one core here (× 10: an 850 MHz PowerPC 450, assumed). "
                    "Messages: modelled, 7.8 µs each and 374 MB/s a node, shared by its ranks.\n"
                    "Paper: what it says in words, measured on Blue Gene/P. Right of the grey line: more ranks "
                    "than Blue Gene/P had in VN mode.", fontsize=9, color="#444444")
    figure.savefig(out / "capek-scale.png", dpi=72)


def decorate(axis):
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlim(200, 1.4e6)
    ticks = [256, 1024, 4096, 16384, 131072, 1048576]
    axis.set_xticks(ticks, ["256", "1k", "4k", "16k", "128k", "1M"])
    axis.axvline(163840, color="lightgrey", lw=1)
    axis.set_xlabel("ranks")
    axis.grid(alpha=0.3)


def growth(found, axis):
    """Of every phase that takes 1 % of a run, a collective function's share, over that on 1,024 ranks."""
    ranks = [1024, 4096, 16384, 65536, 131072, 1048576]
    shown = [n for n in ranks if n != 65536]
    log = [math.log2(n) / 10 for n in ranks]
    axis.plot(ranks, log, color="black", lw=2, label="log P", zorder=3)
    for marker, number in zip("o^sD", [4, 5, 6, 8]):
        values = next(key[1] for key in found if key[0] == number)
        for colour, phase in zip(COLOURS, PHASES):
            base = found[number, values, "VN", "this", 1024]
            if base[phase][0] < 0.01 * sum(x[0] for x in base.values()):
                continue
            times = [found[number, values, "VN", "this", n][phase][2] / base[phase][2] for n in ranks]
            axis.plot(ranks, times, color=colour, marker=marker, ms=4, lw=0.8,
                      label=phase if number == 5 else None)
    axis.set_xscale("log", base=2)
    axis.set_xticks(shown, ["1k", "4k", "16k", "128k", "1M"])
    axis.set_xlabel("ranks")
    axis.set_ylabel("time a round over that on 1,024 ranks")
    axis.set_title("Growth of phases, VN, work as here\n(● figure 4, ▲ 5, ■ 6, ◆ 8)", fontsize=10)
    axis.legend(fontsize=8, ncols=2)
    axis.grid(alpha=0.3)


def phases(found, out):
    """The phases of figure 5."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
    for axis, core, words in zip(axes, ["this", "850 MHz"], ["as here", "× 10 (assumed: 850 MHz)"]):
        runs = sorted((key[4], p) for key, p in found.items() if key[:4] == (5, 64, "VN", core))
        for colour, phase in zip(COLOURS, PHASES):
            axis.plot([n for n, _ in runs], [p[phase][0] * 1e3 for _, p in runs], color=colour, marker="o", ms=3,
                      label=f"{phase}: in all")
            axis.plot([n for n, _ in runs], [max(p[phase][1], 1e-9) * 1e3 for _, p in runs], color=colour, ls=":",
                      lw=1)
        decorate(axis)
        axis.set_ylim(3e-4, 100)
        axis.set_title("Figure 5, 64 values, k = 10, VN; work " + words, fontsize=10)
        axis.set_ylabel("milliseconds")
    axes[1].legend(fontsize=8, loc="lower right", ncols=3)
    figure.suptitle("— time until the last rank is through: work measured, messages modelled; "
                    "··· work of the busiest rank alone, measured", fontsize=9, color="#444444")
    figure.savefig(out / "capek-phases.png", dpi=85)


def table(found):
    """Times on 1,024 ranks and more in milliseconds, and the growth of a round, as Markdown."""
    print("| figure | phase | 1,024 | 131,072 | 1,048,576 | growth to 131,072 | to 1,048,576 |\n" + "|---" * 7 + "|")
    for number in [4, 5, 6, 8]:
        values = next(key[1] for key in found if key[0] == number)
        runs = [found[number, values, "VN", "this", n] for n in (1024, 131072, 1048576)]
        for phase in PHASES:
            times = " | ".join(f"{run[phase][0] * 1e3:.3f}" for run in runs)
            grown = " | ".join(f"{run[phase][2] / runs[0][phase][2]:.2f}" for run in runs[1:])
            print(f"| {number} | {phase} | {times} | {grown} |")
        totals = [sum(x[0] for x in run.values()) * 1e3 for run in runs]
        print(f"| {number} | **all** | " + " | ".join(f"{t:.1f}" for t in totals) + " | | |")


def main():
    figure9, scaled, out = read(sys.argv[1]), totals(read(sys.argv[2])), Path(sys.argv[3])
    quality(figure9, out)
    scale(scaled, out)
    phases(scaled, out)
    table(scaled)


main()
