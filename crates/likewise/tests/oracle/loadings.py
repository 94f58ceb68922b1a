"""Writes loadings.csv: columns, and their principal components.

    python loadings.py > loadings.csv

`x` are the columns, without missing values; then scikit-learn's PCA of the
z-scores. `gap` are the same columns with values missing (nan); then pandas'
pairwise correlations (`r`, by row) and NumPy's eigenvalues of them.
"""

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(5)
x = rng.normal(size=(25, 2)) @ rng.normal(size=(2, 6)) + 0.05 * rng.normal(size=(25, 6))
x = x * 10.0 ** np.arange(6) + 1e5
z = StandardScaler().fit_transform(x)
fitted = PCA(svd_solver="full").fit(z)
eigenvalues = fitted.explained_variance_ * (len(x) - 1) / len(x)
gap = np.where(rng.random(x.shape) < 0.35, np.nan, x)
r = pd.DataFrame(gap).corr().to_numpy()


def write(kind, rows):
    for row in np.atleast_2d(rows):
        print(kind, *(repr(float(v)) for v in row), sep=",")


write("x", x.T)
write("eigenvalue", eigenvalues)
write("explained", fitted.explained_variance_ratio_)
write("loading", fitted.components_ * np.sqrt(eigenvalues)[:, None])
write("gap", gap.T)
write("r", r)
write("gapvalue", np.linalg.eigvalsh(r)[::-1])
