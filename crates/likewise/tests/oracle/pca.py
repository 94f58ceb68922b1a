"""Writes pca.csv: points and what scikit-learn's PCA makes of them.

    python pca.py > pca.csv
"""

import numpy as np
from sklearn.decomposition import PCA

rng = np.random.default_rng(7)
points = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5)) + rng.normal(size=5)
fitted = PCA(n_components=3, svd_solver="full").fit(points)


def write(kind, rows):
    for row in np.atleast_2d(rows):
        print(kind, *(repr(float(x)) for x in row), sep=",")


write("x", points)
write("mean", fitted.mean_)
write("component", fitted.components_)
write("variance", fitted.explained_variance_)
write("explained", fitted.explained_variance_ratio_)
projected = fitted.transform(points)
write("projected", projected)
write("loading", np.corrcoef(points.T, projected.T)[5:, :5])
