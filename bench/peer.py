"""Runs one Python peer once and prints what it took, as one JSON line.

usage: peer.py METHOD POINTS.npy OUT.i32 [--eps E] [--min-points M] [--k K]

Only the method is timed: reading, imports and starting threads are not. A first
call on a few points starts the threads. Writes labels (i32, -1 is noise) and,
beside them in OUT.core, which points are core (a byte each); `knn-*` methods
write the k-distances in ascending order (f64). Each run is a process of its own,
so that memory and threads touch nobody else.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from exact import clusters_of_cut


def mask(indices, n):
    core = np.zeros(n, bool)
    core[indices] = True
    return core


def pypi_dbscan(points, args):
    from dbscan import DBSCAN

    labels, core = DBSCAN(points, eps=args.eps, min_samples=args.min_points)
    return labels, core


def quitefastmst_cut(points, args):
    labels, core = clusters_of_cut(points, args.eps, args.min_points)
    return labels, core


def scikit_learn(points, args):
    from sklearn.cluster import DBSCAN

    fit = DBSCAN(eps=args.eps, min_samples=args.min_points, n_jobs=args.threads).fit(points)
    return fit.labels_, mask(fit.core_sample_indices_, len(points))


def scikit_learn_intelex(points, args):
    from sklearnex.cluster import DBSCAN

    method = DBSCAN(eps=args.eps, min_samples=args.min_points, algorithm="brute", n_jobs=args.threads)
    fit = method.fit(points)
    return fit.labels_, mask(fit.core_sample_indices_, len(points))


def knn_quitefastmst(points, args):
    import quitefastmst

    # Its neighbours leave the point itself out, as `--k` does.
    distances, _ = quitefastmst.knn_euclid(points, args.k)
    return np.sort(distances[:, -1]), None


def knn_scipy(points, args):
    from scipy.spatial import cKDTree

    distances, _ = cKDTree(points).query(points, k=[args.k + 1], workers=args.threads)
    return np.sort(distances[:, 0]), None


METHODS = {
    "pypi-dbscan": pypi_dbscan,
    "quitefastmst-cut": quitefastmst_cut,
    "scikit-learn": scikit_learn,
    "scikit-learn-intelex": scikit_learn_intelex,
    "knn-quitefastmst": knn_quitefastmst,
    "knn-scipy": knn_scipy,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("points")
    parser.add_argument("out")
    parser.add_argument("--eps", type=float)
    parser.add_argument("--min-points", type=int)
    parser.add_argument("--k", type=int)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    points = np.load(args.points)
    method = METHODS[args.method]
    method(points[:1000].copy(), args)
    start = time.perf_counter()
    result, core = method(points, args)
    facts = {"seconds": time.perf_counter() - start}
    out = Path(args.out)
    if core is None:
        result.astype("<f8").tofile(out)
    else:
        result.astype("<i4").tofile(out)
        np.asarray(core, bool).tofile(out.with_suffix(".core"))
        facts["core"] = int(np.count_nonzero(core))
        facts["noise"] = int(np.count_nonzero(result < 0))
        facts["clusters"] = int(result.max()) + 1
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
