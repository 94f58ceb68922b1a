"""Running programs: one child process at a time, timed and its memory taken.

Nothing here holds data: a child's peak memory as the kernel reports it can never
be less than what its parent held when it was started.
"""

import json
import os
import platform
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

# After a run longer than this, a contender takes no further turn.
SLOW_SECONDS = 30.0
TIME_LIMIT_SECONDS = 300


class Skip(Exception):
    """Why a contender does not take part in a case."""


@dataclass(frozen=True)
class Exit:
    """How a child process ended."""

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    stdout: str
    stderr: str


def run(command, threads, work, time_limit=TIME_LIMIT_SECONDS):
    """Runs `command` on that many threads and waits for it.

    Raises `Skip` when it fails, with the reason from its stderr, or takes too long.
    """
    environment = dict(os.environ)
    for name in ("RAYON", "OMP", "MKL", "OPENBLAS", "PARLAY"):
        environment[f"{name}_NUM_THREADS"] = str(threads)
    out, err = Path(work) / "stdout", Path(work) / "stderr"
    command = [str(part) for part in command]
    with out.open("w") as stdout, err.open("w") as stderr:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment)
        except OSError as error:
            raise Skip(f"{command[0]}: {error.strerror}") from error
        limit = threading.Timer(time_limit, child.kill)
        limit.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        finally:
            limit.cancel()
        wall = time.perf_counter() - start
    code = child.returncode = os.waitstatus_to_exitcode(status)
    if wall >= time_limit:
        raise Skip(f"stopped after {time_limit} s")
    if code != 0:
        raise Skip(f"{Path(command[0]).name} ended with {code}: {reason(err.read_text(errors='replace'))}")
    cpu = usage.ru_utime + usage.ru_stime
    peak = usage.ru_maxrss * 1024
    return Exit(wall, cpu, peak, out.read_text(errors="replace"), err.read_text(errors="replace"))


def reason(stderr):
    """The line that says what went wrong: the first error, else the last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return ([*errors[:1], *lines[-1:], "no message"])[0][:300]


@dataclass
class Series:
    """One contender's runs in a case, turn by turn; `None` where it sat out."""

    name: str
    seconds: list = field(default_factory=list)
    peak_bytes: int = 0
    facts: dict = field(default_factory=dict)
    skipped: str = ""

    @property
    def taken(self):
        return [s for s in self.seconds if s is not None]

    @property
    def median(self):
        return statistics.median(self.taken) if self.taken else None


def turns(contenders, runs, say=print):
    """Runs every contender once a turn: A B C, A B C, …

    `contenders` maps a name to a function giving (seconds, peak bytes, facts).
    """
    series = {name: Series(name) for name in contenders}
    for turn in range(runs):
        for name, once in contenders.items():
            entry = series[name]
            if entry.skipped or (entry.taken and entry.taken[0] > SLOW_SECONDS):
                entry.seconds.append(None)
                continue
            try:
                seconds, peak, facts = once()
            except Skip as reason:
                entry.skipped = str(reason)
                say(f"    {name}: skipped: {reason}")
                continue
            entry.seconds.append(seconds)
            entry.peak_bytes = max(entry.peak_bytes, peak)
            entry.facts = facts
            say(f"    turn {turn + 1} {name}: {seconds:.4f} s")
    return series


def ratio(ours, peer):
    """Peer over ours: the median of the turns that both ran."""
    pairs = [p / o for o, p in zip(ours.seconds, peer.seconds) if o and p]
    return statistics.median(pairs) if pairs else None


def best_peer(ours, peers):
    """The peer with the smallest ratio to ours, and that ratio."""
    ratios = [(ratio(ours, peer), peer) for peer in peers]
    ratios = [pair for pair in ratios if pair[0] is not None]
    return min(ratios, key=lambda pair: pair[0], default=(None, None))


def last_json(text):
    """The JSON object on the last line that holds one."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise Skip("printed no JSON line")


def machine():
    """The machine in one line."""
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {model}, {pages / 2**30:.0f} GiB, Linux {platform.release()}"


def load():
    """The load average of the last minute."""
    return os.getloadavg()[0]
