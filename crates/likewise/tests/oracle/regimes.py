"""Writes regimes.csv: times, and statsmodels' fits of them.

    python regimes.py > regimes.csv

`p`, `h`, `y` are the rows. Then, for relative and absolute noise each, a
constant, h and log2(p): coefficients, standard errors, lower and upper ends
of 95 % intervals (Student's t), and the residual spread. Relative noise is a
gamma model with identity link, whose estimating equations ours are.
"""

import warnings

import numpy as np
import statsmodels.api as sm
from scipy.stats import t

warnings.simplefilter("ignore")  # statsmodels: the identity link may go negative
rng = np.random.default_rng(3)
p = 2.0 ** rng.integers(0, 8, 60)
h = 2.0 ** rng.integers(0, 20, 60)
y = (3e-6 + 2e-9 * h + 5e-6 * np.log2(p)) * (1 + 0.08 * rng.normal(size=60))
X = np.column_stack([np.ones(60), h, np.log2(p)])
scale = np.array([1e-6, 1e-9, 1e-6])


def write(kind, values):
    print(kind, *(repr(float(v)) for v in np.atleast_1d(values)), sep=",")


for kind, values in ("p", p), ("h", h), ("y", y):
    write(kind, values)
gamma = sm.families.Gamma(sm.families.links.Identity())
start = sm.WLS(y * 1e6, X * scale * 1e6, weights=y**-2.0).fit().params
fits = {
    "relative": sm.GLM(y * 1e6, X * scale * 1e6, family=gamma).fit(start_params=start, tol=1e-14, tol_criterion="params", maxiter=500),
    "absolute": sm.OLS(y * 1e6, X * scale * 1e6).fit(),
}
for kind, fit in fits.items():
    half = t.ppf(0.975, 57) * fit.bse
    for values in fit.params * scale, fit.bse * scale, (fit.params - half) * scale, (fit.params + half) * scale:
        write(kind, values)
    write(kind, np.sqrt(fit.scale) * (1e-6 if kind == "absolute" else 1))
