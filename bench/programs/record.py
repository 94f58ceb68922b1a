"""Records programs, and collects what likewise says of each.

    python3 bench/programs/record.py --programs FOLDER --out RESULTS

For each program it alternates runs without and with the recorder, and prints a
table: events, call paths, bytes (beside those of Pilgrim and ScalaTrace, where
the project's reference has them), and the medians of the wall times. Then it
asks `likewise info`, `bursts`, `ranks` and `cut` about the recording. What they
say is in RESULTS/NAME-RANKS.txt, to be read and judged.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import sys
from pathlib import Path

from launch import Failed, likewise_binary, mpirun, run
from programs import OWN, PROGRAMS

COLUMNS = [
    "program", "ranks", "events", "paths", "bytes", "Pilgrim", "ScalaTrace", "without s", "with s", "more",
]


def fill(program, folder):
    """A fresh folder with the program's inputs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in program.inputs.items():
        (folder / name).write_text(text)


def command_of(program, executable, options):
    command = [executable, *program.arguments]
    if program.name == "CoMD":
        pots = Path(options.programs or ".") / "pots"
        command += ["-d", str(pots.resolve())]
    return command


def measure(program, executable, ranks, options, folder):
    """Pairs of runs; the last recording stays in `folder`/recording."""
    launched = [*mpirun(options.mpi, ranks), *command_of(program, executable, options)]
    recorded = [options.likewise, "record", "-o", "recording", *options.record, "--", *launched]
    without, with_recorder = [], []
    for pair in range(options.pairs):
        # Whoever comes second finds warm caches, so they take turns at it.
        for is_recorded in (False, True) if pair % 2 == 0 else (True, False):
            shutil.rmtree(folder / "recording", ignore_errors=True) if is_recorded else None
            done = run(recorded if is_recorded else launched, folder)
            (with_recorder if is_recorded else without).append(done.seconds)
            if is_recorded:
                said = done.output
    info = json.loads(run([options.likewise, "info", "recording", "--json"], folder).output)
    return info, without, with_recorder, said


def line(program, ranks, info, without, with_recorder):
    before, after = statistics.median(without), statistics.median(with_recorder)
    # Of the pairs, not of the medians: the machine changes between pairs.
    more = statistics.median(b / a - 1 for a, b in zip(without, with_recorder))
    peers = [f"{table[ranks]:,}" if ranks in table else "" for table in (program.pilgrim, program.scalatrace)]
    return [
        program.name, str(ranks), f"{info['events']:,}", f"{info['call_paths']:,}", f"{info['bytes']:,}",
        *peers, f"{before:.3f}", f"{after:.3f}", f"{100 * more:+.1f} %",
    ]


def readings(folder, options):
    """What each command says of the recording; a failure is said too."""
    text = []
    for command in ("info", "bursts", "ranks", "cut"):
        arguments = [options.likewise, command, "recording"]
        if command != "info":
            arguments += ["-o", f"out-{command}"]
        text.append(f"==== likewise {command}\n")
        try:
            done = run(arguments, folder)
            text.append(done.output)
        except Failed as failure:
            text.append(f"FAILED: {failure}")
            print(f"    likewise {command}: {failure}", file=sys.stderr)
    return "\n".join(text)


def one(program, ranks, options):
    executable = program.find(options.programs)
    if not executable:
        return f"{program.name}: left out: no {program.executable} in {options.programs} or on the PATH"
    if program.only_mpi not in ("", options.mpi):
        # Started by the other MPI, each rank would be a run of its own.
        return f"{program.name}: left out: its build is for {program.only_mpi}"
    name = re.sub(r"\W+", "-", program.name) + f"-{ranks}"
    folder = options.out / "work" / name
    fill(program, folder)
    try:
        info, without, with_recorder, said = measure(program, executable, ranks, options, folder)
    except (Failed, KeyError, ValueError) as failure:
        return f"{program.name}, {ranks} ranks: FAILED: {failure}"
    report = f"# {program.name}, {ranks} ranks\n\n==== the run\n\n{said}\n{readings(folder, options)}"
    (options.out / f"{name}.txt").write_text(report)
    return line(program, ranks, info, without, with_recorder)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", default=os.path.expanduser("~/.cache/likewise-programs"), help="folder of executables")
    parser.add_argument("--out", type=Path, default=Path("recorded"), help="folder of the results")
    parser.add_argument("--likewise", help="the program; otherwise of this checkout")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--only", default="", help="regular expression: programs of that name")
    parser.add_argument("--ranks", type=int, help="only runs of that many ranks")
    parser.add_argument("--pairs", type=int, default=5, help="how many pairs of runs")
    parser.add_argument("--own", action="store_true", help="the project's own programs instead")
    parser.add_argument("--record", action="append", default=[], help="an option for likewise record; may be repeated")
    options = parser.parse_args()
    options.likewise = likewise_binary(options.likewise)
    options.out = options.out.resolve()
    return options


def main():
    options = parse()
    print(f"{options.likewise}, {options.mpi}, {options.pairs} pairs, load {os.getloadavg()[0]:.1f}\n")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    others = []
    for program in OWN if options.own else PROGRAMS:
        if not re.search(options.only, program.name):
            continue
        for ranks in program.ranks:
            if options.ranks not in (None, ranks):
                continue
            result = one(program, ranks, options)
            if isinstance(result, list):
                print("| " + " | ".join(result) + " |", flush=True)
            else:
                others.append(result)
    print("\n" + "\n".join(dict.fromkeys(others)))
    print(f"\nWhat likewise says of each: {options.out}/*.txt; load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"record.py: {failure}")
