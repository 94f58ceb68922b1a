#!/usr/bin/env python3
"""Compares likewise with other programs in one run and prints the ratios.

usage: python bench/run.py [dbscan|kdist|bursts|all] [--quick] [--runs 5] [--out FILE]

README.md says what is compared, and how to add a program.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import bursts
import cases
import contenders
import measure
import tables

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = HERE / "work"
# With a load above this at the start, other programs are running.
BUSY_LOAD = 0.5


@dataclass
class Outcome:
    """What one case gave."""

    case: cases.Case
    series: dict
    oracle: str
    exact: dict = field(default_factory=dict)

    @property
    def title(self):
        return self.case.title


def environment():
    """The Python with the peers in bench/work/venv, made once per requirements."""
    venv = WORK / "venv"
    python = venv / "bin" / "python"
    wanted = [HERE / "requirements.txt", HERE / "requirements-optional.txt"]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in wanted)).hexdigest()
    stamp = venv / "installed"
    if stamp.exists() and stamp.read_text() == key:
        return python
    print("installing the Python peers into bench/work/venv", flush=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]
    subprocess.run([*install, wanted[0]], check=True)
    if subprocess.run([*install, wanted[1]]).returncode != 0:
        print("going on without requirements-optional.txt", flush=True)
    stamp.write_text(key)
    return python


def build():
    """Our binary, built in release mode."""
    subprocess.run(["cargo", "build", "--release", "--bin", "likewise"], cwd=ROOT, check=True)
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "likewise"


def shared_generator():
    """`shared/data/burst_gen.py` beside the checkout or above it, if there."""
    for folder in ROOT.parents:
        path = folder / "shared" / "data" / "burst_gen.py"
        if path.exists():
            return path
    return None


def result_file(entry):
    """The labels or curve that a contender wrote in its last turn."""
    result = entry.facts["result"]
    return result / "labels.csv" if entry.name == contenders.OURS else result


def compare_labels(bench, outcome):
    """Ours and every peer against the oracle."""
    case = outcome.case
    try:
        name, oracle = contenders.oracle(bench, case, cases.CUT)
    except measure.Skip as reason:
        outcome.exact[contenders.OURS] = {"error": f"no oracle: {reason}"}
        return
    outcome.oracle = name
    points = contenders.cloud_file(bench, case.cloud)
    for entry in outcome.series.values():
        if not entry.taken:
            continue
        arguments = ["compare", result_file(entry), oracle]
        if entry.name == contenders.OURS and name != cases.SKLEARN:
            arguments += ["--points", points, "--eps", case.eps, "--min-points", case.min_points]
        try:
            outcome.exact[entry.name] = measure.last_json(bench.script("exact.py", *arguments).stdout)
        except measure.Skip as reason:
            outcome.exact[entry.name] = {"error": str(reason)}


def compare_curves(bench, outcome):
    """Our k-distances against the oracle's."""
    own, oracle = outcome.series[contenders.OURS], outcome.series[outcome.oracle]
    if not (own.taken and oracle.taken):
        return
    arguments = ["curve", own.facts["result"] / "k_distances.csv", oracle.facts["result"]]
    try:
        outcome.exact[own.name] = measure.last_json(bench.script("exact.py", *arguments).stdout)
    except measure.Skip as reason:
        outcome.exact[own.name] = {"error": str(reason)}


def measure_case(bench, case, everyone, compare, runs):
    """One case: turns, then exactness."""
    print(f"  {case.title}", flush=True)
    contenders.cloud_file(bench, case.cloud)
    outcome = Outcome(case, measure.turns(everyone, runs), case.oracle)
    compare(bench, outcome)
    return outcome


def random_line(bench):
    """Small random sets against scikit-learn, in words."""
    try:
        arguments = ["random", bench.likewise, bench.out / "random"]
        facts = measure.last_json(bench.script("exact.py", *arguments).stdout)
    except measure.Skip as reason:
        return f"Random small sets: skipped: {reason}"
    wrong = facts["wrong"]
    line = f"Random small sets, 1-D to 16-D, with ties: {facts['sets'] - len(wrong)} of {facts['sets']}"
    return "\n".join([f"{line} equal scikit-learn's labels.", *(f"- {text}" for text in wrong)])


def chosen(all_cases, args):
    """The cases of this run."""
    return [c for c in all_cases if (c.quick or not args.quick) and args.only in c.title]


def dbscan_section(bench, args):
    run = [
        measure_case(bench, case, contenders.dbscan(bench, case), compare_labels, args.runs)
        for case in chosen(cases.DBSCAN, args)
    ]
    if not run:
        return "## DBSCAN\n\nno case chosen"
    parts = ["## DBSCAN", tables.ratios(run), tables.every_time(run), tables.limits(run)]
    parts += [tables.exactness(run), random_line(bench), tables.skipped(run)]
    return "\n\n".join(part for part in parts if part)


def kdist_section(bench, args):
    run = [
        measure_case(bench, case, contenders.kdist(bench, case), compare_curves, args.runs)
        for case in chosen(cases.KDIST, args)
    ]
    if not run:
        return "## k-distances\n\nno case chosen"
    parts = [f"## k-distances, k = {cases.K} others", tables.ratios(run), tables.every_time(run)]
    parts += [tables.curves(run), tables.skipped(run)]
    return "\n\n".join(part for part in parts if part)


def bursts_section(bench, args):
    print("  bursts, end to end", flush=True)
    try:
        text = bursts.report(bursts.measure_all(bench, args.runs, args.quick))
    except measure.Skip as reason:
        text = f"skipped: {reason}"
    return f"## Bursts, end to end\n\n{text}"


SECTIONS = {"dbscan": dbscan_section, "kdist": kdist_section, "bursts": bursts_section}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", default="all", choices=[*SECTIONS, "all"])
    parser.add_argument("--quick", action="store_true", help="only the cases of 100,000")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases with TEXT in their title")
    parser.add_argument("--runs", type=int, default=5, help="turns (default 5)")
    parser.add_argument("--threads", type=int, default=2, help="threads for everyone (default 2)")
    parser.add_argument("--out", type=Path, help="also write the Markdown there")
    parser.add_argument("--likewise", type=Path, help="our binary, instead of building it")
    parser.add_argument("--python", type=Path, help="a Python with the requirements, instead of installing")
    args = parser.parse_args()
    if args.runs < 1 or args.threads < 1:
        parser.error("--runs and --threads are at least 1")
    return args


def main():
    args = arguments()
    load = measure.load()
    WORK.mkdir(exist_ok=True)
    peers = Path(os.environ.get("LIKEWISE_BENCH_PEERS", WORK / "peers"))
    bench = contenders.Bench(
        likewise=(args.likewise or build()).resolve(),
        # Not resolved: Python finds its virtual environment by the path of the link.
        python=(args.python or environment()).absolute(),
        work=WORK,
        peers=peers,
        generator=shared_generator(),
        threads=args.threads,
    )
    names = SECTIONS if args.what == "all" else [args.what]
    clouds = "shared/data/burst_gen.py" if bench.generator else "bench/clouds.py"
    head = [
        "# Comparison",
        f"{measure.machine()}; {args.threads} threads; load {load:.1f} at the start; "
        f"{time.strftime('%Y-%m-%d')}.",
        f"Median of {args.runs} turns, seconds of the method alone; a ratio is the median over the turns of "
        f"peer / ours. Burst clouds from {clouds}.",
    ]
    if load > BUSY_LOAD:
        head.append("**The machine was busy when this began: the figures are not to be relied on.**")
    if not peers.is_dir():
        head.append(f"External peers: skipped: no folder {peers}")
    text = "\n\n".join([*head, *(SECTIONS[name](bench, args) for name in names)]) + "\n"
    print("\n" + text)
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    main()
