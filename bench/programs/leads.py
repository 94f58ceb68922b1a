"""Programs recorded in full and by leads, side by side.

    python3 bench/programs/leads.py --programs FOLDER --only '^(BT|SP)' --ranks 4 16 [--marker pcontrol]

For each program: the states of the run, the leads, what ranks gave to the file
and the memory of the recorder (leads, others, and full mode), how much longer
the run took (medians of pairs), and how near a replay of the leads' recording
comes to a replay of the full one and to the program. FOLDER may hold programs
with MPI_Pcontrol(10) in their time steps; else the marker is found.
"""

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from launch import Failed, likewise_binary, mpirun, run
from programs import OWN, PROGRAMS
from record import command_of, fill

HEAD = {
    "states": ["program", "ranks", "marker", "markers", "C", "L", "AT", "in L", "leads"],
    "space": ["program", "ranks", "file", "file, full", "bytes: leads", "others", "full",
              "memory (kB): leads", "others", "full"],
    "time": ["program", "ranks", "without (s)", "full", "leads", "markers took"],
    "replay": ["program", "ranks", "program (s)", "full replayed (s)", "leads replayed (s)",
               "accuracy to full", "to the program"],
}


def record(mode, command, ranks, options, folder):
    """Records a run; its seconds, and what `info` says of it."""
    shutil.rmtree(folder / mode, ignore_errors=True)
    extra = ["--marker", options.marker, *options.record] if mode == "leads" else []
    recorder = [options.likewise, "record", "--mode", mode, *extra, "-o", mode, "--"]
    done = run([*recorder, *mpirun(options.mpi, ranks), *command], folder)
    return done.seconds, json.loads(run([options.likewise, "info", mode, "--json"], folder).output)


def replayed(mode, ranks, options, folder):
    command = [options.likewise, "replay", mode, "--json", "--", *mpirun(options.mpi, ranks)]
    said = run(command, folder).output
    return json.loads(said[said.index("{"):])


def mean(values):
    return f"{statistics.mean(values):,.0f}" if values else "–"


def one(program, ranks, options, folder, rows):
    executable = program.find(options.programs)
    if not executable or program.only_mpi not in ("", options.mpi):
        return
    fill(program, folder)
    command = command_of(program, executable, options)
    seconds = {"without": [], "full": [], "leads": []}
    replays = {"full": [], "leads": []}
    for turn in range(options.turns):
        # Whoever comes second finds warm caches, so they take turns at it.
        order = list(seconds)
        for mode in order[turn % 3:] + order[:turn % 3]:
            if mode == "without":
                seconds[mode].append(run([*mpirun(options.mpi, ranks), *command], folder).seconds)
                continue
            took, info = record(mode, command, ranks, options, folder)
            seconds[mode].append(took)
            if mode == "full":
                full = info
            else:
                leads = info
            if options.replay:
                replays[mode].append(replayed(mode, ranks, options, folder))
    states, name = leads["states"], [program.name, str(ranks)]
    n = sum(states.get(state, 0) for state in ("AT", "C", "L"))
    rows["states"].append([
        *name, leads["marker"] or "none", str(n), str(leads["clusterings"]), str(states.get("L", 0)),
        str(states.get("AT", 0)), f"{100 * states.get('L', 0) / max(n, 1):.0f} %", str(len(leads["leads"])),
    ])
    split = lambda of_rank, is_lead: [v for rank, v in enumerate(of_rank) if (rank in leads["leads"]) == is_lead]
    memory = [value // 1000 for value in leads["peak_bytes_by_rank"]]
    given = leads["bytes_by_rank"]
    rows["space"].append([
        *name, f"{leads['bytes']:,}", f"{full['bytes']:,}",
        mean(split(given, True)), mean(split(given, False)), mean(full["bytes_by_rank"]),
        mean(split(memory, True)), mean(split(memory, False)),
        mean([value // 1000 for value in full["peak_bytes_by_rank"]]),
    ])
    more = lambda mode: 100 * statistics.median(b / a - 1 for a, b in zip(seconds["without"], seconds[mode]))
    cost = 100 * max(leads["marker_cost_ns_by_rank"]) / max(leads["end_ns"], 1)
    rows["time"].append([
        *name, f"{statistics.median(seconds['without']):.3f}", f"{more('full'):+.1f} %", f"{more('leads'):+.1f} %",
        f"{cost:.2f} %",
    ])
    if options.replay:
        median = lambda mode, key: statistics.median(told[key] for told in replays[mode])
        program_s = statistics.median(told["recorded_s"] for told in replays["full"])
        in_full, by_leads = median("full", "replayed_s"), median("leads", "replayed_s")
        accuracy = lambda t: f"{100 * (1 - abs(t - by_leads) / t):.1f} %"
        rows["replay"].append([
            *name, f"{program_s:.3f}", f"{in_full:.3f}", f"{by_leads:.3f}", accuracy(in_full), accuracy(program_s),
        ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", help="where the programs of others are; without it, those on the PATH")
    parser.add_argument("--likewise", help="the program; without it, that of this checkout")
    parser.add_argument("--mpi", default="openmpi", choices=["openmpi", "mpich"])
    parser.add_argument("--only", default="", help="programs whose name has this (a regular expression)")
    parser.add_argument("--ranks", type=int, nargs="*", help="instead of each program's own")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--marker", default="auto")
    parser.add_argument("--record", nargs="*", default=[], help="more options for the recording by leads")
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args()
    options.likewise = likewise_binary(options.likewise)
    rows = {name: [] for name in HEAD}
    with tempfile.TemporaryDirectory() as folder:
        for program in [*OWN, *PROGRAMS]:
            if not re.search(options.only, program.name):
                continue
            for ranks in options.ranks or program.ranks:
                try:
                    one(program, ranks, options, Path(folder) / f"{program.name}-{ranks}", rows)
                except Failed as failed:
                    print(f"{program.name}, {ranks} ranks: {failed}", file=sys.stderr)
    for name, columns in HEAD.items():
        if rows[name]:
            print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
            for row in rows[name]:
                print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
