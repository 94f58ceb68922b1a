"""How ours and each peer is run once on a case."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import measure

HERE = Path(__file__).resolve().parent
OURS = "likewise"
BURST_CLUSTERING = "BurstClustering"
# scikit-learn holds every neighbourhood of a burst cloud at once.
SKLEARN_BYTES = 14e9


@dataclass(frozen=True)
class Bench:
    """Where everything is."""

    likewise: Path
    python: Path
    work: Path
    peers: Path
    generator: Path | None
    threads: int

    @property
    def clouds(self):
        folder = self.work / ("clouds-shared" if self.generator else "clouds-own")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def out(self):
        folder = self.work / "out"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def run(self, command, **options):
        return measure.run(command, self.threads, self.work, **options)

    def script(self, name, *args, **options):
        """Runs one of our Python programs in the environment with the peers."""
        return self.run([self.python, HERE / name, *args], **options)


def cloud_file(bench, cloud):
    """The cloud's .npy, made when it is not there yet; the .f64 lies beside it."""
    path = bench.clouds / f"{cloud.name}.npy"
    if not path.exists():
        print(f"  making {path.name}", flush=True)
        generator = ["--generator", bench.generator] if bench.generator else []
        bench.script("clouds.py", cloud.kind, cloud.n, cloud.d, path, *generator)
    return path


def run_dir(bench, case):
    """A fresh directory for ours to write."""
    directory = bench.out / case.name / OURS
    shutil.rmtree(directory, ignore_errors=True)
    directory.parent.mkdir(parents=True, exist_ok=True)
    return directory


def ours(bench, case, stage, *options):
    """Ours once: the time of that stage from its summary."""
    directory = run_dir(bench, case)
    command = [bench.likewise, "points", cloud_file(bench, case.cloud), "--eps", case.eps]
    exit_ = bench.run([*command, "--min-points", case.min_points, *options, "-o", directory])
    summary = json.loads((directory / "summary.json").read_text())
    seconds = summary.get("timings", {}).get(stage)
    if seconds is None:
        raise measure.Skip(f"summary.json has no timings.{stage}")
    return seconds, exit_.peak_bytes, summary | {"result": directory}


def python_peer(bench, case, method, *options):
    """A Python peer once, in a process of its own."""
    out = bench.out / case.name / f"{method}.i32"
    out.parent.mkdir(parents=True, exist_ok=True)
    arguments = [method, cloud_file(bench, case.cloud), out, "--threads", bench.threads, *options]
    exit_ = bench.script("peer.py", *arguments)
    facts = measure.last_json(exit_.stdout)
    return facts["seconds"], exit_.peak_bytes, facts | {"result": out}


def external_peer(bench, case, program):
    """An external program once; README.md says how it is called."""
    out = bench.out / case.name / f"{program.name}.i32"
    out.parent.mkdir(parents=True, exist_ok=True)
    points = cloud_file(bench, case.cloud).with_suffix(".f64")
    numbers = [case.cloud.n, case.cloud.d, case.eps, case.min_points, bench.threads]
    exit_ = bench.run([program, points, *numbers, out])
    facts = measure.last_json(exit_.stdout)
    return facts["seconds"], exit_.peak_bytes, facts | {"result": out}


def external_programs(bench, kind):
    """The executables in the peers' folder that take this kind of cloud."""
    found = {}
    for program in sorted(bench.peers.iterdir()) if bench.peers.is_dir() else []:
        name, _, only = program.name.partition("@")
        if name != BURST_CLUSTERING and os.access(program, os.X_OK) and only in ("", kind):
            found[name] = program
    return found


def dbscan(bench, case):
    """Everyone in a DBSCAN case, ours first."""
    parameters = ("--eps", case.eps, "--min-points", case.min_points)
    everyone = {OURS: lambda: ours(bench, case, "cluster", "--core")}
    for method in case.peers:
        everyone[method] = lambda method=method: python_peer(bench, case, method, *parameters)
    for name, program in external_programs(bench, case.cloud.kind).items():
        everyone[name] = lambda program=program: external_peer(bench, case, program)
    return everyone


def kdist(bench, case):
    """Everyone in a k-distance case, ours first."""
    everyone = {OURS: lambda: ours(bench, case, "k_distance", "--k-distances", case.k + 1)}
    for method in case.peers:
        everyone[method] = lambda method=method: python_peer(bench, case, method, "--k", case.k)
    return everyone


def available_bytes():
    """Memory that a new process can have."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def oracle(bench, case, fallback):
    """The oracle's labels, computed once and kept; its name and file."""
    method = case.oracle
    if method == "scikit-learn" and case.cloud.kind == "bursts" and available_bytes() < SKLEARN_BYTES:
        print(f"  {method} needs {SKLEARN_BYTES / 1e9:.0f} GB; {fallback} is the oracle", flush=True)
        method = fallback
    kept = bench.clouds / f"{case.name}.{method}.i32"
    note = kept.with_suffix(".json")
    if not note.exists():
        print(f"  computing the labels of {method}", flush=True)
        arguments = [method, cloud_file(bench, case.cloud), kept, "--threads", bench.threads]
        arguments += ["--eps", case.eps, "--min-points", case.min_points]
        # The note appears only after the labels are whole.
        note.write_text(bench.script("peer.py", *arguments, time_limit=1800).stdout)
    return method, kept
