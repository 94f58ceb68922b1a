"""Writes wavelet.csv: series and PyWavelets' coefficients of one level.

    python wavelet.py > wavelet.csv

PyWavelets gives more coefficients at the ends; ours are the middle ones, as
many as there are numbers. Its high bands have the other sign for Haar.
"""

import numpy as np
import pywt

rng = np.random.default_rng(7)
for name, mode, skip in ("haar", "symmetric", 0), ("bior2.2", "reflect", 1), ("bior4.4", "reflect", 2):
    for n in 2, 3, 8, 9, 16, 33, 64, 100:
        x = rng.normal(size=n)
        low, high = pywt.dwt(x, name, mode)
        low, high = low[skip : skip + (n + 1) // 2], -high[skip : skip + n // 2]
        for kind, values in ("x", x), ("low", low), ("high", high):
            print(name, kind, *(repr(float(v)) for v in values), sep=",")
