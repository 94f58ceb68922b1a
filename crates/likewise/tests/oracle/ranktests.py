"""Writes ranktests.csv: groups, and what SciPy and scikit-posthocs say of them.

    python ranktests.py > ranktests.csv

Each case is its lines `x` (one per group), then `kruskal` (H, p), and per
pair in order the p-values of Dunn's test: `dunn`, `holm`, `bonferroni`.
"""

import numpy as np
from scikit_posthocs import posthoc_dunn
from scipy.stats import kruskal

rng = np.random.default_rng(11)
sizes = [(5, 7), (12, 9, 15), (30, 4, 22, 8), (200, 300, 250), (6, 6, 6, 6, 6)]
for case, (group_sizes, shift) in enumerate((s, d) for s in sizes for d in (0.0, 0.8)):
    groups = [rng.normal(i * shift, 1.0, n) for i, n in enumerate(group_sizes)]
    if case % 3:  # ties: two digits, then whole numbers
        groups = [np.round(g, 2 - case % 3) + 0.0 for g in groups]
    pairs = np.triu_indices(len(groups), 1)
    rows = [("x", g) for g in groups] + [("kruskal", kruskal(*groups))]
    for name, adjust in ("dunn", None), ("holm", "holm"), ("bonferroni", "bonferroni"):
        rows.append((name, posthoc_dunn(groups, p_adjust=adjust).to_numpy()[pairs]))
    for kind, values in rows:
        print(kind, *(repr(float(v)) for v in values), sep=",")
