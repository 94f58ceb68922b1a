"""The cases: which points, which parameters, who takes part, what is aimed at."""

from dataclasses import dataclass

# Read bandwidth of the machine the aims were set on, both cores, and of one.
BYTES_PER_SECOND = 31e9
BYTES_PER_SECOND_ONE_CORE = 15.8e9


@dataclass(frozen=True)
class Cloud:
    """`n` points of `d` coordinates: `bursts` or `uniform`."""

    kind: str
    n: int
    d: int

    @property
    def name(self):
        return f"{self.kind}_n{self.n}_d{self.d}"

    @property
    def title(self):
        exponent = len(str(self.n)) - 1
        return f"{self.kind} {self.d}-D {self.n // 10**exponent}e{exponent}"


@dataclass(frozen=True)
class Case:
    """One comparison.

    `aim` is the ratio best peer / ours that is asked for. `oracle` says whose
    labels ours must equal; `peers` who is timed in turns beside the external ones.
    `k` is set where it is about k-distances; the point itself is not counted.
    """

    cloud: Cloud
    min_points: int
    eps: float
    aim: float
    peers: tuple
    oracle: str
    quick: bool = False
    k: int | None = None

    @property
    def title(self):
        if self.k is not None:
            return f"{self.cloud.title}, k {self.k}"
        return f"{self.cloud.title}, eps {self.eps:g}, minPts {self.min_points}"

    @property
    def name(self):
        return f"{self.cloud.name}_e{self.eps:g}_m{self.min_points}"

    def limit_seconds(self, bytes_per_second=BYTES_PER_SECOND):
        """What memory traffic alone costs: every coordinate read, written in
        cell order and read again, and 12 bytes of key and label a point."""
        return self.cloud.n * (3 * 8 * self.cloud.d + 12) / bytes_per_second


PYPI = "pypi-dbscan"
CUT = "quitefastmst-cut"
SKLEARN = "scikit-learn"
INTELEX = "scikit-learn-intelex"


def bursts(n, d, aim, oracle=CUT, min_points=10, peers=(PYPI, CUT), quick=False):
    return Case(Cloud("bursts", n, d), min_points, 0.01, aim, peers, oracle, quick)


def uniform(n, d, eps, peers, oracle):
    return Case(Cloud("uniform", n, d), 10, eps, 1.0, peers, oracle)


# scikit-learn lists every neighbourhood: on 2-D burst clouds of 100,000 points it
# needs 11 GB, on the larger ones more than there is. There an exact cut of
# quitefastmst's tree is the oracle; at 10,000,000 points PyPI dbscan, exact in 2-D.
DBSCAN = (
    bursts(100_000, 2, 8.0, oracle=SKLEARN, quick=True),
    bursts(1_000_000, 2, 8.0),
    bursts(10_000_000, 2, 8.0, oracle=PYPI, min_points=100, peers=(PYPI,)),
    bursts(1_000_000, 3, 4.0),
    bursts(100_000, 8, 5.0, oracle=SKLEARN, quick=True),
    bursts(1_000_000, 8, 5.0),
    uniform(1_000_000, 2, 0.0018, (PYPI, CUT), SKLEARN),
    uniform(1_000_000, 3, 0.01, (PYPI, CUT), SKLEARN),
    uniform(1_000_000, 3, 0.0135, (PYPI, CUT), SKLEARN),
    uniform(20_000, 8, 0.35, (PYPI, CUT, SKLEARN, INTELEX), SKLEARN),
)

K = 9  # other points; "10 with self"
KNN_PEERS = ("knn-quitefastmst", "knn-scipy")


def knn(n, d, quick=False):
    return Case(Cloud("bursts", n, d), K + 1, 0.01, 1.0, KNN_PEERS, "knn-scipy", quick, K)


KDIST = (
    knn(100_000, 2, quick=True),
    knn(1_000_000, 2),
    knn(10_000_000, 2),
    knn(1_000_000, 3),
    knn(100_000, 8, quick=True),
    knn(1_000_000, 8),
)
