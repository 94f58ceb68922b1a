"""Writes varimax.csv: loadings, and the same after varimax rotation.

    python varimax.py > varimax.csv

`groups` are three principal components of a table of three groups of columns,
`random` any loadings, a row per factor. `…_rotated` is factor_analyzer's
rotation of them with Kaiser's normalisation, by descending sum of squares, the
largest entry positive. statsmodels, given normalised loadings, has to agree to
10⁻⁶, which is how near its descent comes.
"""

import numpy as np
from factor_analyzer import Rotator
from statsmodels.multivariate.factor_rotation import rotate_factors

rng = np.random.default_rng(7)
of_group = np.repeat(np.arange(3), (5, 4, 2))
table = rng.normal(size=(60, 3))[:, of_group] + 0.5 * rng.normal(size=(60, 11))
values, vectors = np.linalg.eigh(np.corrcoef(table.T))
groups = (vectors * np.sqrt(values))[:, :-4:-1]
random = rng.uniform(-1, 1, size=(12, 4))


def ordered(loadings):
    loadings = loadings[:, np.argsort(-(loadings**2).sum(axis=0))]
    return loadings * np.sign(loadings[np.abs(loadings).argmax(axis=0), range(loadings.shape[1])])


def rotated(loadings):
    # With this tolerance all iterations are made.
    theirs = ordered(Rotator(method="varimax", normalize=True, max_iter=3000, tol=-1).fit_transform(loadings))
    length = np.linalg.norm(loadings, axis=1)[:, None]
    other, _ = rotate_factors(loadings / length, "varimax", tol=1e-10, max_tries=20000)
    difference = np.abs(ordered(other * length) - theirs).max()
    assert difference < 1e-6, difference
    return theirs


def write(kind, loadings):
    for factor in loadings.T:
        print(kind, *(repr(float(v)) for v in factor), sep=",")


write("groups", groups)
write("groups_rotated", rotated(groups))
write("random", random)
write("random_rotated", rotated(random))
