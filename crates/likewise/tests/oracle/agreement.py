"""Writes agreement.csv: pairs of label lists and scikit-learn's adjusted Rand index.

    python agreement.py > agreement.csv

Columns: labels a, labels b (space-separated), adjusted Rand index.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

rng = np.random.default_rng(11)
cases = [([1, 1, 2, 2], [2, 2, 1, 1]), ([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 1, 2], [1, 1, 2, 2]), ([1], [1])]
for n, ka, kb in [(10, 2, 3), (60, 4, 4), (200, 7, 3), (200, 40, 40)]:
    a = rng.integers(1, ka + 1, n)
    b = np.where(rng.random(n) < 0.6, a % kb + 1, rng.integers(1, kb + 1, n))
    cases.append((a.tolist(), b.tolist()))
for a, b in cases:
    print(" ".join(map(str, a)), " ".join(map(str, b)), repr(float(adjusted_rand_score(a, b))), sep=",")
