"""`likewise bursts` from 100,000 bursts to 10,000,000: time, memory, agreement.

    python3 bench/scale.py [--likewise PROGRAM] [--sizes 100000 1000000] [--runs 3] [--plot docs/scale-time.svg]

Synthetic traces of 64 tasks, all outputs, two threads; with default options and
with one eps. Prints Markdown: the median wall time, the exponent of time against
bursts, the peak memory, and the adjusted Rand index with the truth. The plot
needs matplotlib; all else is the standard library.
"""

import argparse
import json
import math
import shutil
import statistics
import sys
from collections import Counter
from pathlib import Path

import measure
from tables import markdown, megabytes, seconds

ROOT = Path(__file__).resolve().parent.parent
TASKS = 64
SIZES = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
WAYS = {"default": [], "--eps 0.002": ["--eps", "0.002"]}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--likewise", type=Path, default=ROOT / "target/release/likewise", help="the program")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of bursts")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; 1 from 3,000,000 bursts on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work", type=Path, default=ROOT / "bench/work", help="where traces and results go")
    parser.add_argument("--plot", type=Path, help="an SVG to draw")
    return parser.parse_args()


def trace(args, bursts):
    """The synthetic trace of that many bursts, made once."""
    folder = args.work / f"scale-{bursts}"
    if not (folder / "synth.prv").exists():
        size = ["--tasks", TASKS, "--bursts", bursts, "--seed", 1]
        measure.run([args.likewise, "synth", "-q", *size, "-o", folder], args.threads, args.work, 3600)
    return folder


def clusters(path):
    """The last column of a CSV of bursts, thread by thread; it has no quotes there."""
    threads = {}
    with path.open() as file:
        next(file)
        for line in file:
            task, thread, rest = line.split(",", 2)
            threads.setdefault((int(task), int(thread)), []).append(sys.intern(rest[rest.rindex(",") + 1 : -1]))
    return [cluster for key in sorted(threads) for cluster in threads[key]]


def adjusted_rand(one, other):
    """Noise counts as a cluster, as in scikit-learn."""
    pairs = Counter(zip(one, other, strict=True))
    rows, columns = Counter(), Counter()
    for (a, b), n in pairs.items():
        rows[a] += n
        columns[b] += n
    choose = lambda counts: sum(n * (n - 1) // 2 for n in counts.values())
    together, of_one, of_other = choose(pairs), choose(rows), choose(columns)
    n = sum(rows.values())
    expected = of_one * of_other / (n * (n - 1) / 2)
    return (together - expected) / ((of_one + of_other) / 2 - expected)


def once(args, bursts, options):
    """One run: how it ended, its summary, and how alike its phases are to the truth."""
    folder = trace(args, bursts)
    out = args.work / "scale-out"
    shutil.rmtree(out, ignore_errors=True)
    command = [args.likewise, "bursts", folder / "synth.prv", "-q", "-o", out, *options]
    ended = measure.run(command, args.threads, args.work, 3600)
    summary = json.loads((out / "summary.json").read_text())
    alike = adjusted_rand(clusters(folder / "truth.csv"), clusters(out / "bursts.csv"))
    shutil.rmtree(out)
    return ended, summary["timings"], alike


def exponent(points):
    """The slope of the least-squares line through the logarithms."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def plot(found, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "likewise"
    figure, axis = plt.subplots(figsize=(7, 4.6), layout="constrained")
    for colour, (way, points) in zip(["#0072b2", "#d55e00"], found.items()):
        slope = exponent(points)
        axis.plot(*zip(*points), color=colour, marker="o", label=f"{way}: bursts$^{{{slope:.2f}}}$")
        for x, y in points:
            axis.annotate(f"{y:.1f} s", (x, y), (0, 6), textcoords="offset points", ha="center", fontsize=8)
    axis.set(xscale="log", yscale="log", xlabel="bursts", ylabel="wall time, all outputs (s)")
    axis.grid(True, which="both", lw=0.3)
    axis.legend()
    figure.savefig(path, metadata={"Date": None})


def main():
    args = arguments()
    args.work.mkdir(parents=True, exist_ok=True)
    rows, found = [], {way: [] for way in WAYS}
    for bursts in args.sizes:
        for way, options in WAYS.items():
            runs = [once(args, bursts, options) for _ in range(args.runs if bursts < 3_000_000 else 1)]
            wall = statistics.median(ended.wall_seconds for ended, *_ in runs)
            peak = max(ended.peak_bytes for ended, *_ in runs)
            ended, timings, alike = sorted(runs, key=lambda run: run[0].wall_seconds)[len(runs) // 2]
            found[way].append((bursts, wall))
            stages = ", ".join(f"{name} {seconds(value)}" for name, value in timings.items())
            per_burst = f"{peak / bursts:,.0f} B"
            row = (f"{bursts:,}", way, seconds(wall), seconds(ended.cpu_seconds), megabytes(peak), per_burst)
            rows.append((*row, f"{alike:.4f}", stages))
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    print(measure.machine(), f"load {measure.load():.1f}", "", sep="\n")
    head = ("bursts", "options", "wall s", "CPU s", "peak MB", "a burst", "adjusted Rand", "stages (s)")
    print(markdown(head, rows))
    for way, points in found.items():
        if len(points) > 1:
            print(f"\n{way}: time grows with bursts to the power of {exponent(points):.2f}.")
    if args.plot:
        plot(found, args.plot)


if __name__ == "__main__":
    main()
