"""Kills ranks of recorded runs at random moments, and reads what is left.

    python3 bench/programs/kills.py --times 50 -- mpirun -n 4 ./program

The command runs once in peace. Then a rank of it is killed again and again,
each time at another moment: what it has printed must be what it prints in
peace, as far as it came; its exit code that of a run that is killed without the
recorder; and `likewise info` must read what was recorded. The table has, for
each state that the run had come to, how many runs, and the least share of the
events of the whole run that could be read over the share of its time.
"""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from launch import likewise_binary


def ranks_of(parent):
    """The processes without children below a process."""
    below = collections.defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        below[int(after[1])].append(int(stat.parent.name))
    found, todo = [], [parent]
    while todo:
        process = todo.pop()
        todo += below[process]
        if process != parent and not below[process]:
            found.append(process)
    return found


def start(command, folder):
    env = {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"}
    return subprocess.Popen(command, cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def killed(command, folder, after):
    """What it had printed, its exit code, and how long it ran."""
    begin = time.perf_counter()
    process = start(command, folder)
    time.sleep(after)
    ranks = ranks_of(process.pid)
    for rank in random.sample(ranks, min(1, len(ranks))):
        try:
            os.kill(rank, signal.SIGKILL)
        except ProcessLookupError:
            pass
    output = process.communicate()[0]
    return output, process.returncode, time.perf_counter() - begin


def events(likewise, folder):
    done = subprocess.run([likewise, "info", str(folder), "--json"], text=True, capture_output=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    info = json.loads(done.stdout)
    return info, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--likewise", help="the program; without it, that of this checkout")
    parser.add_argument("--mode", default="leads", choices=["full", "leads"])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    likewise = likewise_binary(options.likewise)
    random.seed(options.seed)
    failures, states = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        recorded = [likewise, "record", "--mode", options.mode, "-o", "recording", "--", *options.command]
        begin = time.perf_counter()
        peace = start(recorded, folder).communicate()[0]
        whole = time.perf_counter() - begin
        all_events = events(likewise, Path(folder) / "recording")[0]["events"]
        plain_code = killed(options.command, folder, whole / 2)[1]
        for at in range(options.times):
            shutil.rmtree(Path(folder) / "recording", ignore_errors=True)
            after = random.uniform(0.1, 0.95) * whole
            output, code, _ = killed(recorded, folder, after)
            info, error = events(likewise, Path(folder) / "recording")
            if code == 0:
                states["ended before it was killed"] += 1
                continue
            if info is None and not (Path(folder) / "recording").exists():
                states["killed before MPI_Init was done"] += 1
                continue
            if info is None:
                failures.append(f"run {at}, killed after {after:.3f} s: not readable: {error}")
                continue
            came_to = [state for state, n in (info["states"] or {}).items() if n > 0]
            last = came_to[-1] if came_to else "before the first marker"
            share = info["events"] / all_events
            states[f"{last}: {info['clusterings'] or 0} clusterings"] += 1
            print(f"run {at}: killed after {after / whole:.2f} of the time: {share:.3f} of the events, {info['states']}")
            if code != plain_code:
                failures.append(f"run {at}: exit code {code}, and {plain_code} without the recorder")
            if not peace.startswith(output):
                failures.append(f"run {at}: other output")
    for state, n in states.items():
        print(f"{n} runs: {state}")
    print("\n".join(failures) or "no failure")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
