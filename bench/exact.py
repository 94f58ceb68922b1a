"""Whether labels are exact DBSCAN labels.

usage: exact.py compare LABELS ORACLE.i32 [--points P.npy --eps E --min-points M]
       exact.py curve CURVE.csv ORACLE.f64
       exact.py random LIKEWISE WORK [--sets N]

Each prints one JSON line. LABELS is a labels.csv of ours or an .i32 file; beside
an .i32 file may lie a .core file, one byte a point. With --points, the noise of a
sample is settled once more by counting neighbours, independently of the oracle.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np

SAMPLE = 2000
NOISE = -1


def clusters_of_cut(points, eps, min_points):
    """Exact DBSCAN from quitefastmst's mutual-reachability tree cut at eps.

    Clusters are numbered by their first core point, and a border point takes the
    first cluster that reaches it, as in scikit-learn. Returns labels and core mask.
    """
    import quitefastmst
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(points)
    # quitefastmst's M does not count the point itself.
    _, edges, _, neighbours = quitefastmst.mst_euclid(points, M=min_points - 1)
    reach = within(points, np.arange(n), neighbours[:, -1], eps)
    # A tree edge between core points is no longer than eps when they are in one
    # cluster; squared lengths settle it as every DBSCAN here does.
    i, j = edges.T
    kept = reach[i] & reach[j]
    kept[kept] = within(points, i[kept], j[kept], eps)
    graph = coo_array((np.ones(np.count_nonzero(kept), np.int8), (i[kept], j[kept])), shape=(n, n))
    _, component = connected_components(graph, directed=False)
    labels = np.full(n, NOISE)
    labels[reach] = in_order_of_appearance(component[reach])
    # A point that is not core has all its neighbours within eps in its list.
    rest = np.flatnonzero(~reach)
    seen = neighbours[rest]
    near = within(points, np.repeat(rest, seen.shape[1]), seen.ravel(), eps).reshape(seen.shape)
    reached = np.where(near & reach[seen], labels[seen], n)
    first = reached.min(axis=1, initial=n)
    labels[rest] = np.where(first < n, first, NOISE)
    return labels, reach


def within(points, i, j, eps):
    """Whether points i and j lie within eps of each other."""
    squared = np.zeros(len(i))
    for column in range(points.shape[1]):
        difference = points[i, column] - points[j, column]
        squared += difference * difference
    return squared <= eps * eps


def in_order_of_appearance(labels):
    """The same partition, numbered 0.. by first member."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=int)
    place[np.argsort(first)] = np.arange(len(first))
    return place[inverse]


def read_labels(path):
    """Labels as numbers, noise as -1, and the core mask where there is one."""
    path = Path(path)
    if path.suffix != ".csv":
        labels = np.fromfile(path, "<i4")
        core = path.with_suffix(".core")
        return labels, np.fromfile(core, bool) if core.exists() else None
    header, _, body = path.read_bytes().partition(b"\n")
    columns = header.decode().strip().split(",")
    body = body.replace(b"\r", b"").replace(b"noise", b"-1").replace(b"\n", b",")
    table = np.fromstring(body.rstrip(b",").decode(), sep=",").reshape(-1, len(columns))
    core = table[:, columns.index("core")] != 0 if "core" in columns else None
    return table[:, columns.index("cluster")].astype(int), core


def same_partition(a, b):
    """Whether a and b are equal up to renumbering."""
    return bool(np.array_equal(in_order_of_appearance(a), in_order_of_appearance(b)))


def compare(labels_path, oracle_path):
    """Noise set, core set and partition against the oracle's."""
    labels, core = read_labels(labels_path)
    oracle, oracle_core = read_labels(oracle_path)
    if len(labels) != len(oracle):
        return {"error": f"{len(labels)} labels for {len(oracle)} points"}
    noise, oracle_noise = labels < 0, oracle < 0
    facts = {
        "clusters": [len(np.unique(labels[~noise])), len(np.unique(oracle[~oracle_noise]))],
        "noise": [int(noise.sum()), int(oracle_noise.sum())],
        "noise_differs": int(np.count_nonzero(noise != oracle_noise)),
        "labels_equal": bool(np.array_equal(noise, oracle_noise)) and same_partition(labels, oracle),
    }
    if oracle_core is not None:
        facts["core"] = int(oracle_core.sum())
        facts["core_partition_equal"] = same_partition(labels[oracle_core], oracle[oracle_core])
        if core is not None:
            facts["core_differs"] = int(np.count_nonzero(core != oracle_core))
    if facts["labels_equal"]:
        facts["adjusted_rand"] = 1.0
    else:
        from sklearn.metrics import adjusted_rand_score

        facts["adjusted_rand"] = float(adjusted_rand_score(oracle, labels))
    return facts


def sampled_noise(points, labels, eps, min_points):
    """How many of a sample of points have the wrong noise status.

    Half of the sample are points called noise or their like: the rarer kind.
    """
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(0)
    noise = np.flatnonzero(labels < 0)
    some_noise = rng.choice(noise, min(len(noise), SAMPLE // 2), replace=False)
    sample = np.concatenate([some_noise, rng.choice(len(points), SAMPLE - len(some_noise))])
    tree = cKDTree(points, compact_nodes=False, balanced_tree=False)

    def neighbours(rows):
        # Beyond the bound SciPy answers len(points); the bound itself is
        # approximate, so `within` decides.
        _, found = tree.query(points[rows], k=min_points, distance_upper_bound=eps * (1 + 1e-9), workers=2)
        found = found.reshape(len(rows), -1)
        valid = found < len(points)
        found = np.where(valid, found, 0)
        near = within(points, np.repeat(rows, found.shape[1]), found.ravel(), eps).reshape(found.shape)
        return found, near & valid

    found, near = neighbours(sample)
    others = np.unique(found[near])
    core = np.zeros(len(points), bool)
    core[others] = neighbours(others)[1].sum(axis=1) >= min_points
    is_noise = ~(near & core[found]).any(axis=1)
    return {"sampled": len(sample), "sampled_wrong": int(np.count_nonzero(is_noise != (labels[sample] < 0)))}


def compare_curve(curve_path, oracle_path):
    """The greatest relative difference of two k-distance curves, both sorted here."""
    header, *rows = Path(curve_path).read_text().splitlines()
    column = header.split(",").index("distance")
    ours = np.sort([float(row.split(",")[column]) for row in rows])
    oracle = np.sort(np.fromfile(oracle_path, "<f8"))
    if len(ours) != len(oracle):
        return {"error": f"{len(ours)} distances for {len(oracle)} points"}
    scale = np.maximum(np.abs(oracle), np.finfo(float).tiny)
    return {"greatest_relative_difference": float(np.max(np.abs(ours - oracle) / scale))}


def random_sets(likewise, work, sets):
    """Small sets of every dimension, with ties and duplicates, against scikit-learn."""
    from sklearn.cluster import DBSCAN

    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)
    wrong = []
    for number in range(sets):
        rng = np.random.default_rng([1, number])
        d, n = 1 + number % 16, int(rng.integers(1, 600))
        if number % 3 == 0:  # a lattice: many pairs lie exactly eps apart
            points = rng.integers(0, max(2, round(n ** (1 / d))) + 1, (n, d)).astype(float)
            eps = float(rng.choice([1.0, 1.5, 2.0]))
        else:
            centres = rng.random((4, d))
            points = centres[rng.integers(0, 4, n)] + rng.normal(0, 0.05, (n, d))
            points[rng.random(n) < 0.2] = points[0]
            eps = 0.07 * d**0.5
        min_points = int(rng.integers(1, 12))
        np.save(work / "set.npy", points)
        command = [likewise, "points", work / "set.npy", "--eps", repr(eps), "--min-points", str(min_points)]
        run = subprocess.run([*command, "-o", work / "set"], capture_output=True, text=True)
        expected = DBSCAN(eps=eps, min_samples=min_points, algorithm="kd_tree").fit(points).labels_
        if run.returncode != 0:
            wrong.append(f"set {number} (n={n}, d={d}): {run.stderr.strip()[-200:]}")
            continue
        labels, _ = read_labels(work / "set" / "labels.csv")
        if not (np.array_equal(labels < 0, expected < 0) and same_partition(labels, expected)):
            wrong.append(f"set {number} (n={n}, d={d}, eps={eps}, min_points={min_points})")
    return {"sets": sets, "wrong": wrong}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sub = commands.add_parser("compare")
    sub.add_argument("labels")
    sub.add_argument("oracle")
    sub.add_argument("--points")
    sub.add_argument("--eps", type=float)
    sub.add_argument("--min-points", type=int)
    sub = commands.add_parser("curve")
    sub.add_argument("curve")
    sub.add_argument("oracle")
    sub = commands.add_parser("random")
    sub.add_argument("likewise")
    sub.add_argument("work")
    sub.add_argument("--sets", type=int, default=96)
    args = parser.parse_args()
    if args.command == "random":
        facts = random_sets(args.likewise, args.work, args.sets)
    elif args.command == "curve":
        facts = compare_curve(args.curve, args.oracle)
    else:
        facts = compare(args.labels, args.oracle)
        if args.points and "error" not in facts:
            labels, _ = read_labels(args.labels)
            facts |= sampled_noise(np.load(args.points, mmap_mode="r"), labels, args.eps, args.min_points)
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
