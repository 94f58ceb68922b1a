"""What two builds of `likewise` print and write, byte for byte.

usage: same_outputs.py BEFORE AFTER WORKDIR [--only WORD] [--except-reports]

Runs the same commands with both programs, on made-up runs (made by BEFORE) and
on the real traces of a folder shared/data beside or above the checkout. It
compares exit codes, printed text and every file. Only times and memory may
differ: in summary.json, in the hashes of files that hold them, and in lines
that -v prints. Use it to show that a change leaves results alone.
"""

import filecmp
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Keys whose values may differ from run to run.
OF_THE_CLOCK = {"timings", "peak_memory_bytes"}

# Name of the run, and its arguments. `{data}` is shared/data, `{in}` the made-up input.
MADE = {
    "spmd": "synth --tasks 8 --iterations 30 --phases 5 --seed 3 -o spmd",
    "longer": "synth --tasks 8 --iterations 60 --phases 5 --seed 3 -o longer",
    "wide": "synth --tasks 16 --iterations 30 --phases 5 --seed 3 -o wide",
    "slow": "synth --defect slow-ranks --defect-phase 3 --defect-tasks 4,9 --tasks 16 --seed 2 -o slow",
    "serial": "synth --defect serial --tasks 8 -o serial",
    "stall": "synth --defect stall --tasks 8 -o stall",
    "none": "synth --defect none --tasks 16 -o none",
    "uneven": "synth --densities 30 -o uneven",
}

RUNS = {
    "demo": "demo -o out",
    "demo-counters": "demo --counters -o out",
    "demo-regimes": "demo --regimes -o out",
    "bursts-spmd": "bursts {in}/spmd/synth.prv -o out",
    "bursts-json": "bursts {in}/spmd/synth.prv --json -o out",
    "bursts-slow": "bursts {in}/slow/synth.prv -o out",
    "bursts-serial": "bursts {in}/serial/synth.prv -o out",
    "bursts-stall": "bursts {in}/stall/synth.prv -o out",
    "bursts-none": "bursts {in}/none/synth.prv -o out",
    "bursts-uneven": "bursts {in}/uneven/synth.prv -o out",
    "bursts-eps": "bursts {in}/spmd/synth.prv --eps 0.02 --min-points 8 -o out --compat out/old",
    "bursts-parquet": "bursts {in}/spmd/synth.prv --format parquet -o out",
    "bursts-metrics": "bursts {in}/spmd/synth.prv -m PAPI_TOT_INS,log -m IPC=PAPI_TOT_INS/PAPI_TOT_CYC --pca 1 -o out",
    "bursts-csv": "bursts {in}/labelled/bursts.csv -o out",
    "info": "info {in}/spmd/synth.prv",
    "info-json": "info --json {in}/spmd/synth.prv",
    "cut": "cut {in}/spmd/synth.prv -o out",
    "ranks-trace": "ranks {in}/slow/synth.prv -o out",
    "ranks-none": "ranks {in}/none/synth.prv -o out",
    "ranks-functions": "ranks {in}/slow/synth.prv --regions functions -o out",
    "ranks-table": "ranks {in}/efforts.csv -o out",
    "ranks-strata": "ranks {in}/efforts.csv --error-abs 0.5 --each-stratum -o out",
    "ranks-every": "ranks {in}/efforts.csv --every 20 -o out",
    "align": "align {in}/labelled/bursts.csv -o out",
    "retime": "retime {in}/spmd/synth.prv --bursts {in}/labelled/bursts.csv --times {in}/half.csv -o out",
    "compare-runs": "compare {in}/spmd/synth.prv {in}/longer/synth.prv {in}/wide/synth.prv -o out",
    "compare-self": "compare {in}/spmd/synth.prv {in}/spmd/synth.prv --json -o out",
    "compare-labels": "compare {in}/labelled/bursts.csv {in}/spmd/truth.csv",
    "points": "points {in}/points.csv --eps 0.05 --core -o out",
    "points-k": "points {in}/points.csv --k-distances 4 -o out",
    "pareto": "pareto {in}/sites.csv --min TOT_CYC,L1_DCM -o out",
    "counters": "counters {in}/sites.csv --key site -o out",
    "counters-response": "counters {in}/sites.csv --key site --response TOT_CYC --rank-by L1_DCM,BR_MSP -o out",
    "counters-rows": "counters {in}/sites.csv --rows --key site -o out",
    "counters-bursts": "counters {in}/labelled/bursts.csv --metric correlation -o out",
    "help": "--help",
    "help-bursts": "bursts --help",
    "wrong-option": "bursts --no-such-option",
    "no-file": "bursts no-such-file.prv",
    "not-a-trace": "bursts {in}/half.csv",
    "epoch1": "bursts {data}/epoch/epoch_1proc.prv.gz -o out",
    "epoch4": "bursts {data}/epoch/epoch_4proc.prv.gz -o out",
    "epoch16": "bursts {data}/epoch/epoch_16proc.prv.gz -o out",
    "epoch16-bsc": "bursts {data}/epoch/epoch_16proc.prv.gz --definition {data}/epoch/cluster.xml -o out --compat out/bsc",
    "epoch-compare": "compare {data}/epoch/epoch_1proc.prv.gz {data}/epoch/epoch_4proc.prv.gz {data}/epoch/epoch_16proc.prv.gz -o out",
    "epoch-cut": "cut {data}/epoch/epoch_16proc.prv.gz -o out",
    "epoch-ranks": "ranks {data}/epoch/epoch_16proc.prv.gz -o out",
    "epoch-info": "info {data}/epoch/epoch_16proc.prv.gz",
    "lulesh": "bursts {data}/lulesh/lulesh_7+1.prv.gz -o out",
    "lulesh-ranks": "ranks {data}/lulesh/lulesh_7+1.prv.gz -o out",
    "lulesh-cut": "cut {data}/lulesh/lulesh_7+1.prv.gz -o out",
    "lulesh-info": "info {data}/lulesh/lulesh_7+1.prv.gz",
    "openmp": "bursts {data}/openmp/omp4.prv.gz -o out",
    "openmp-ranks": "ranks {data}/openmp/omp4.prv.gz -o out",
}

# These commands must fail, with the same words. All others must succeed.
REFUSED = {"wrong-option", "no-file", "not-a-trace", "lulesh-cut"}


def efforts():
    """300 ranks of six kinds, 40 steps."""
    for rank in range(300):
        kind = rank % 6
        own = ((rank * rank * 31 + step * step * 17 + rank * step * 13) % 97 for step in range(40))
        yield ",".join(f"{20 + 10 * kind + (step * kind) % 7 + o / 97:.4f}" for step, o in enumerate(own))


def points():
    yield "x,y"
    for i in range(600):
        yield f"{(i % 3) + (i * 7919 % 101) / 3000:.5f},{(i % 2) + (i * 104729 % 103) / 3000:.5f}"


def sites():
    """Counters of 40 call sites on 16 ranks."""
    yield "site,rank,TOT_CYC,TOT_INS,L1_DCM,L2_DCM,BR_MSP"
    for i in range(640):
        site, rank = divmod(i, 16)
        work = 1000 * (1 + site * site % 17) + (i * 7919 % 211)
        misses = 10 * (1 + site * 5 % 13) + (i * 104729 % 23)
        yield f"{site},{rank},{3 * work + 40 * misses},{2 * work},{misses},{misses // 3 + i % 5},{work % 37 + site % 7}"


def make(before, folder):
    """The made-up input, once."""
    folder.mkdir(parents=True)
    for arguments in MADE.values():
        subprocess.run([before, *arguments.split()], cwd=folder, check=True, capture_output=True)
    (folder / "efforts.csv").write_text("\n".join(efforts()) + "\n")
    (folder / "points.csv").write_text("\n".join(points()) + "\n")
    (folder / "sites.csv").write_text("\n".join(sites()) + "\n")
    (folder / "half.csv").write_text("phase,ratio\n1,0.5\n")
    command = [before, "bursts", "spmd/synth.prv", "-o", "labelled", "-q"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def without_clock(value):
    if isinstance(value, dict):
        return {k: without_clock(v) for k, v in value.items() if k not in OF_THE_CLOCK}
    return [without_clock(v) for v in value] if isinstance(value, list) else value


def normal(path):
    """A file's content without what the clock makes of it."""
    if path.suffix == ".json":
        value = without_clock(json.loads(path.read_text()))
        if path.name == ".likewise.json":
            return sorted(re.findall(r'"(?:path|name|file)": *"([^"]*)"', json.dumps(value)))
        return value
    content = path.read_bytes()
    if path.suffix == ".html":
        # The page's data: times of stages, and memory.
        content = re.sub(rb'"(timings|peak_memory_bytes)":(\[\[.*?\]\]|\{[^}]*\}|\d+)', rb'"\1":0', content)
    return content


def run(program, arguments, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True)
    out = done.stdout
    if out[:1] == b"{":
        out = json.dumps(without_clock(json.loads(out)))
    return done.returncode, out, done.stderr


def differences(a, b, reports):
    files = {path.relative_to(side) for side in (a, b) for path in side.rglob("*") if path.is_file()}
    for name in sorted(files):
        if not ((a / name).exists() and (b / name).exists()):
            yield f"{name}: only {'before' if (a / name).exists() else 'after'}"
        elif name.suffix == ".html" and not reports:
            continue
        elif not filecmp.cmp(a / name, b / name, shallow=False) and normal(a / name) != normal(b / name):
            yield f"{name}: differs"


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    before, after, work = (Path(argument).resolve() for argument in arguments[:3])
    only = arguments[3] if "--only" in sys.argv else ""
    made, data = work / "in", next(
        (p / "shared/data" for p in Path(__file__).resolve().parents if (p / "shared/data").is_dir()), None
    )
    if not made.exists():
        make(before, made)
    different = compared = skipped = 0
    for name, line in RUNS.items():
        if only not in name:
            continue
        if "{data}" in line and data is None:
            skipped += 1
            continue
        words = [word.replace("{in}", str(made)).replace("{data}", str(data)) for word in line.split()]
        # Both in a folder of one name, for names are printed.
        place, kept = work / "run", work / "before"
        first = run(before, words, place)
        shutil.rmtree(kept, ignore_errors=True)
        place.rename(kept)
        second = run(after, words, place)
        said = [f"{what} differs" for what, x, y in zip(("exit code", "stdout", "stderr"), first, second) if x != y]
        if (second[0] == 0) == (name in REFUSED):
            said.append("ends well and must not" if name in REFUSED else "fails")
        said += differences(kept, place, "--except-reports" not in sys.argv)
        compared += 1
        different += bool(said)
        print(f"{'FAIL' if said else 'ok  '} {name}: exit {second[0]}" + "".join(f"\n     {s}" for s in said), flush=True)
        if said:
            shutil.rmtree(work / "differ" / name, ignore_errors=True)
            shutil.copytree(kept, work / "differ" / name / "before")
            shutil.copytree(place, work / "differ" / name / "after")
            for side, (_, out, err) in (("before", first), ("after", second)):
                for what, text in (("stdout", out), ("stderr", err)):
                    text = text if isinstance(text, bytes) else text.encode()
                    (work / "differ" / name / f"{side}.{what}").write_bytes(text)
    print(f"{compared} compared, {different} different" + (f", {skipped} skipped: no folder shared/data" if skipped else ""))
    sys.exit(different > 0 or compared == 0)


main()
