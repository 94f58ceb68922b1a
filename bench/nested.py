#!/usr/bin/env python3
"""Makes tables of bursts whose phases are known: loops in loops, and loops among noise.

    python3 bench/nested.py FOLDER
    cargo run --release -p likewise-trace --example refine -- shared/data more=FOLDER

Each NAME.csv has its truth in NAME.truth.csv. docs/refinement.md, "Sparse phases,
measured", tells what comes of them.
"""

import math
import pathlib
import random
import sys

# A step: its name, its length in ns, its IPC, and how far both spread (of the logarithm).
LONG = ("long", 10e6, 1.0, 0.02, 0.004)
FAST = ("fast", 1e6, 1.5, 0.02, 0.004)
SLOW = ("slow", 0.5e6, 0.6, 0.02, 0.004)
OUTER = ("outer", 30e6, 0.8, 0.05, 0.004)
THIRD = ("third", 3e6, 2.0, 0.03, 0.004)
OUTPUT = ("output", 80e6, 0.3, 0.15, 0.05)
CYCLES_PER_NS = 2


def exact(step):
    """The same step with an IPC that never changes."""
    return (*step[:4], 0.0)


def loop(n, body):
    return [step for _ in range(n) for step in body]


NESTED = [LONG, *loop(20, [FAST, SLOW])]
PLAIN = loop(20, [THIRD, FAST, SLOW])
IN_THREE = [OUTER, *loop(5, [LONG, *loop(10, [FAST, SLOW, THIRD])])]
WITH_OUTPUT = [*loop(25, [FAST, SLOW, THIRD]), OUTPUT]


def write(folder, name, tasks, steps, seed, noise=0.0, lengths=(4.3, 7.3), skew=0.0):
    """`noise` is the share of bursts that a burst of noise goes before, of 10 to the power of
    `lengths` ns; by `skew`, the last task has longer bursts than the first."""
    rng = random.Random(seed)
    time = [0.0] * tasks
    numbers = {}
    bursts = (folder / f"{name}.csv").open("w")
    truth = (folder / f"{name}.truth.csv").open("w")
    bursts.write("task,thread,begin_ns,duration_ns,PAPI_TOT_INS,PAPI_TOT_CYC\n")
    truth.write("task,thread,begin_ns,duration_ns,cluster\n")

    def burst(task, ns, ipc, cluster):
        row = f"{task + 1},1,{int(time[task])},{int(ns)}"
        bursts.write(f"{row},{int(ns * CYCLES_PER_NS * ipc)},{int(ns * CYCLES_PER_NS)}\n")
        truth.write(f"{row},{cluster}\n")
        time[task] += ns + rng.uniform(25e3, 75e3)

    for step, ns, ipc, spread, spread_of_ipc in steps:
        for task in range(tasks):
            if rng.random() < noise:
                burst(task, 10 ** rng.uniform(*lengths), rng.uniform(0.3, 2.4), "noise")
            of_task = 1 + skew * (task / max(tasks - 1, 1) - 0.5)
            length = ns * of_task * math.exp(rng.gauss(0, spread))
            cluster = numbers.setdefault(step, len(numbers) + 1)
            burst(task, length, ipc * math.exp(rng.gauss(0, spread_of_ipc)), cluster)
        time[:] = [max(time)] * tasks
    bursts.close()
    truth.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for tasks in (4, 16, 64):
        n = 20 if tasks < 64 else 12
        write(folder, f"nested t{tasks}", tasks, NESTED * n, 1)
        write(folder, f"nested, skewed t{tasks}", tasks, NESTED * n, 5, skew=0.1)
        write(folder, f"nested, exact t{tasks}", tasks, [exact(step) for step in NESTED] * n, 2)
        write(folder, f"in three t{tasks}", tasks, IN_THREE * (n // 2), 3)
        write(folder, f"output t{tasks}", tasks, WITH_OUTPUT * n, 6)
        for lengths, kind in (((6, 8), "long"), ((5, 7.5), "mixed"), ((7, 7.3), "alike")):
            for share in (0.005, 0.02, 0.06):
                seed = int(share * 1000) + tasks
                n = 15 if tasks < 64 else 8
                name = f"{kind} noise {share}"
                write(folder, f"{name} nested t{tasks}", tasks, NESTED * n, seed, share, lengths)
                write(folder, f"{name} plain t{tasks}", tasks, PLAIN * n, seed + 1, share, lengths)


if __name__ == "__main__":
    main()
