"""Writes spearman.csv: pairs of columns and SciPy's rank correlation of them.

    python spearman.py > spearman.csv
"""

import numpy as np
from scipy.stats import spearmanr

rng = np.random.default_rng(5)
for case in range(12):
    n = [4, 9, 30, 200][case % 4]
    x = rng.integers(0, [3, 50, 8][case // 4], n)
    y = np.round(x * rng.normal() + rng.normal(size=n) * 3, case % 3)
    for kind, values in ("x", x), ("y", y), ("rho", [spearmanr(x, y).statistic]):
        print(kind, *(repr(float(v)) for v in values), sep=",")
