"""What recording costs for each event, in time and memory.

    python3 bench/programs/cost.py --programs FOLDER

FOLDER holds k_allreduce and k_aperiodic, which check.sh in
crates/likewise-preload/tests/programs builds into FOLDER/openmpi and
FOLDER/mpich. Each program measures itself: ns per call, between the first call
and the last. Runs without and with the recorder alternate; the table has the
medians, and the median of the differences.
"""

import argparse
import os
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from launch import Failed, likewise_binary, mpirun, run

APERIODIC = (2_000, 10_000, 100_000, 1_000_000)


def peak_kib(folder):
    """What GNU time said of the program's peak memory."""
    return int(re.search(r"^peak (\d+)$", (folder / "time").read_text(), re.M).group(1))


def turn(options, command, folder, is_recorded):
    """One run on one rank: ns per call, peak KiB, bytes of the recording."""
    launched = [*mpirun(options.mpi, 1), "/usr/bin/time", "-f", "peak %M", "-o", "time", *command]
    if is_recorded:
        shutil.rmtree(folder / "recording", ignore_errors=True)
        launched = [options.likewise, "record", "-o", "recording", *options.record, "--", *launched]
    output = run(launched, folder).output
    ns = float(re.search(r"([\d.]+) ns per call", output).group(1))
    size = sum(f.stat().st_size for f in (folder / "recording").rglob("*") if f.is_file()) if is_recorded else 0
    return ns, peak_kib(folder), size


def compare(options, name, arguments, folder):
    command = [str(Path(options.programs).resolve() / options.mpi / name), *arguments]
    turns = {False: [], True: []}
    for pair in range(options.pairs):
        for is_recorded in (False, True) if pair % 2 == 0 else (True, False):
            turns[is_recorded].append(turn(options, command, folder, is_recorded))
    without, with_recorder = ([t[0] for t in turns[kind]] for kind in (False, True))
    more = statistics.median(b - a for a, b in zip(without, with_recorder))
    memory = max(t[1] for t in turns[True]) - max(t[1] for t in turns[False])
    return [
        f"{name} {' '.join(arguments)}", f"{statistics.median(without):.1f}", f"{statistics.median(with_recorder):.1f}",
        f"{more:.1f}", f"{memory / 1024:.1f}", f"{turns[True][-1][2]:,}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", required=True, help="folder that check.sh filled")
    parser.add_argument("--likewise", help="the program; otherwise of this checkout")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--calls", type=int, default=1_000_000, help="of k_allreduce")
    parser.add_argument("--record", action="append", default=[], help="an option for likewise record; may be repeated")
    options = parser.parse_args()
    options.likewise = likewise_binary(options.likewise)
    print(f"{options.likewise}, {options.mpi}, {options.pairs} pairs, load {os.getloadavg()[0]:.1f}\n")
    columns = ["program", "ns without", "ns with", "ns more", "MiB more", "bytes"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)
    cases = [("k_allreduce", [str(options.calls), depth]) for depth in ("5", "20")]
    cases += [("k_aperiodic", [str(n)]) for n in APERIODIC]
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in cases:
            print("| " + " | ".join(compare(options, name, arguments, Path(folder))) + " |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"cost.py: {failure}")
