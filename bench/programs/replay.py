"""How near the replay of a recording comes to the time of the recorded run.

    python3 bench/programs/replay.py --programs FOLDER --only '[.][SW]$' --ranks 2 4

Each turn records a program and replays the recording; the table has the medians
and the extremes of replayed over recorded time, from MPI_Init to MPI_Finalize
on the slowest rank.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from launch import Failed, likewise_binary, mpirun, run
from programs import OWN, PROGRAMS
from record import command_of, fill


def turn(command, ranks, options, folder):
    """The recorded and the replayed time, in seconds."""
    shutil.rmtree(folder / "recording", ignore_errors=True)
    launcher = mpirun(options.mpi, ranks)
    run([options.likewise, "record", "-o", "recording", "--", *launcher, *command], folder)
    said = run([options.likewise, "replay", "recording", "--json", "--", *launcher], folder).output
    told = json.loads(said[said.index("{"):])
    return told["recorded_s"], told["replayed_s"]


def one(program, ranks, options, folder):
    executable = program.find(options.programs)
    if not executable or program.only_mpi not in ("", options.mpi):
        return [program.name, str(ranks), "left out: not there", "", "", ""]
    fill(program, folder)
    command = command_of(program, executable, options)
    try:
        turns = [turn(command, ranks, options, folder) for _ in range(options.turns)]
    except (Failed, KeyError, ValueError) as failure:
        return [program.name, str(ranks), f"FAILED: {failure}", "", "", ""]
    ratios = [replayed / recorded for recorded, replayed in turns]
    return [
        program.name, str(ranks), f"{statistics.median(t[0] for t in turns):.3f}",
        f"{statistics.median(t[1] for t in turns):.3f}", f"{100 * statistics.median(ratios):.1f} %",
        f"{100 * min(ratios):.1f} to {100 * max(ratios):.1f} %",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", help="folder of executables")
    parser.add_argument("--likewise", help="the program; otherwise of this checkout")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--only", default="", help="regular expression: programs of that name")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--own", action="store_true", help="the project's own programs instead")
    options = parser.parse_args()
    options.likewise = likewise_binary(options.likewise)
    print(f"{options.likewise}, {options.mpi}, {options.turns} turns, load {os.getloadavg()[0]:.1f}\n")
    columns = ["program", "ranks", "recorded s", "replayed s", "median", "from, to"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for program in OWN if options.own else PROGRAMS:
            if re.search(options.only, program.name):
                for ranks in options.ranks:
                    print("| " + " | ".join(one(program, ranks, options, Path(folder) / "run")) + " |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"replay.py: {failure}")
