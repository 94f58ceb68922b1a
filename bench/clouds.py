"""Point clouds for the comparisons, the same for the same arguments.

usage: clouds.py (bursts|uniform) N D OUT [--generator BURST_GEN.PY]

`bursts` imitates CPU bursts in the plane of instructions and IPC: a few phases,
each a blob of its own shape and of very uneven weight, many rounded values (so
that exact and near duplicates are common) and a little noise; further
dimensions are nearly constant within a phase. With --generator the cloud comes
from that script's `generate(n, d)` instead, so that figures compare with those
measured on it. Every column lies in [0, 1].

Writes OUT.npy, and OUT.f64: the same rows, little-endian f64, no header.
"""

import argparse
import importlib.util
from pathlib import Path

import numpy as np

SEED = 7
ROUNDED_SHARE = 0.4
NOISE_SHARE = 0.02
# Centre (instructions, IPC), spread (instructions, IPC), weight, and how the
# two metrics hang together inside the phase.
PHASES = [
    (0.08, 0.72, 0.0050, 0.0070, 36, "round"),
    (0.13, 0.36, 0.0005, 0.0600, 22, "round"),
    (0.24, 0.58, 0.0016, 0.0030, 14, "round"),
    (0.33, 0.31, 0.0400, 0.0020, 8, "imbalanced"),
    (0.42, 0.86, 0.0150, 0.0040, 7, "slanted"),
    (0.51, 0.50, 0.0020, 0.0025, 5, "bimodal"),
    (0.60, 0.20, 0.0008, 0.0450, 3, "round"),
    (0.67, 0.66, 0.0100, 0.0120, 2, "round"),
    (0.76, 0.43, 0.0300, 0.0030, 2, "imbalanced"),
    (0.84, 0.92, 0.0030, 0.0060, 1, "round"),
    (0.91, 0.27, 0.0200, 0.0060, 1, "slanted"),
    (0.97, 0.61, 0.0050, 0.0180, 1, "round"),
]
TASKS = 128


def phase_points(rng, phase, task, count):
    """Instructions and IPC of `count` bursts of one phase."""
    x, y, sx, sy, _, shape = phase
    a, b = rng.standard_normal((2, count))
    if shape == "imbalanced":
        per_task = rng.uniform(-1, 1, TASKS)
        return x + sx * per_task[task] + 0.0008 * a, y + sy * b
    if shape == "slanted":
        along = rng.uniform(-1, 1, count)
        return x + sx * (along + 0.2 * a), y + 2.5 * sx * along + sy * b
    if shape == "bimodal":
        side = rng.choice([-1.0, 1.0], count)
        return x + sx * (2.5 * side + 0.7 * a), y + sy * (2.0 * side + 0.7 * b)
    return x + sx * a, y + sy * b


def bursts(n, d):
    """`n` bursts of `d` metrics, task after task, each task in time order."""
    rng = np.random.default_rng([SEED, n, d])
    weights = np.array([p[4] for p in PHASES], dtype=float)
    phase_of = rng.choice(len(PHASES), n, p=weights / weights.sum())
    task_of = np.arange(n) * TASKS // n
    points = np.empty((n, d))
    for number, phase in enumerate(PHASES):
        rows = np.flatnonzero(phase_of == number)
        points[rows, 0], y = phase_points(rng, phase, task_of[rows], len(rows))
        if d > 1:
            points[rows, 1] = y
        for column in range(2, d):
            spread = 10 ** rng.uniform(-3.4, -2.4)
            points[rows, column] = rng.uniform(0.05, 0.95) + spread * rng.standard_normal(len(rows))
    rounded = rng.random(n) < ROUNDED_SHARE
    points[rounded, 0] = np.round(points[rounded, 0], 4)
    points[rounded, 1:] = np.round(points[rounded, 1:], 3)
    noise = rng.choice(n, int(NOISE_SHARE * n), replace=False)
    anywhere, preempted = np.array_split(noise, 2)
    points[anywhere] = rng.random((len(anywhere), d))
    if d > 1:
        points[preempted, 1] *= rng.uniform(0.2, 1.0, len(preempted))
    points -= points.min(axis=0)
    points /= points.max(axis=0)
    return points


def uniform(n, d):
    """`n` points uniform in the unit cube."""
    return np.random.default_rng([SEED, n, d]).random((n, d))


def generate_with(path, n, d):
    """The cloud of another script's `generate(n, d)`."""
    spec = importlib.util.spec_from_file_location("generator", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate(n, d)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["bursts", "uniform"])
    parser.add_argument("n", type=int)
    parser.add_argument("d", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--generator", type=Path)
    args = parser.parse_args()
    if args.kind == "uniform":
        points = uniform(args.n, args.d)
    elif args.generator:
        points = generate_with(args.generator, args.n, args.d)
    else:
        points = bursts(args.n, args.d)
    points = np.ascontiguousarray(points, dtype="<f8")
    points.tofile(args.out.with_suffix(".f64"))
    # The .npy is what callers look for, so it appears last and whole.
    half = args.out.with_suffix(".half.npy")
    np.save(half, points)
    half.rename(args.out.with_suffix(".npy"))


if __name__ == "__main__":
    main()
