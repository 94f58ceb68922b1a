"""Starts MPI programs, with the recorder and without."""

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT_SECONDS = 300


class Failed(Exception):
    """A command that did not end well; says which and why."""


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    seconds: float
    output: str


def mpirun(mpi, ranks):
    """The launcher of that MPI for that many ranks."""
    command = [f"mpirun.{mpi}", "-n", str(ranks)]
    if mpi == "openmpi":
        command += ["--oversubscribe"]
        if os.geteuid() == 0:
            command += ["--allow-run-as-root"]
    return command


def run(command, folder, environment=None, time_limit=TIME_LIMIT_SECONDS):
    """Runs a command in a folder; `Failed` if it fails or takes too long."""
    command = [str(part) for part in command]
    # More ranks than cores would otherwise wait for each other in turns.
    env = {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", **(environment or {})}
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, text=True, errors="replace", capture_output=True, timeout=time_limit
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}: not done after {time_limit} s") from None
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from error
    seconds = time.perf_counter() - start
    output = done.stdout + done.stderr
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}: {' / '.join(output.split(chr(10))[-4:])}")
    return Run(seconds, output)


def likewise_binary(given):
    """The program: as given, or of this checkout."""
    root = Path(__file__).resolve().parents[2]
    for candidate in [given, root / "target/release/likewise", root / "target/debug/likewise"]:
        if candidate and Path(candidate).is_file():
            return str(Path(candidate).resolve())
    raise Failed("no likewise: build it with cargo build --release, or name it with --likewise")
