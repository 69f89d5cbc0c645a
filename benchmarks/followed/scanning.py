"""Scanning a picture: ``python -m benchmarks.followed.scanning``, and what asv follows of it.

A detector of 500 boosted stumps is trained on the real `vj_faces` and scans scikit-image's
astronaut, 512×512 pixels in grey, every window at every scale. Beside it run soft cascades made of
the same stumps on the validation rows, at two detection rates, and MDDAGs of the same stumps on the
training rows. *ns an evaluation* is CPU time
of one thread for the whole scan, integral images and smaller pictures included, by stumps
evaluated; *counted* is how many times fewer stumps were evaluated than of the full model,
*measured* how many times less time it took. Least of several scans that take turns.

Sizes and rates were fixed before the first run. Nothing here decides a test.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator

from .suite import THREADS

ROUNDS, RATES, SCANS = 500, (0.99, 0.9), 7
DAGS = {"SARSA": ("sarsa", 0.01), "descent": ("descent", 0.001)}
TARGET = 12.0


def drawn_task(n_features: int = 300, side: int = 20):
    """Bytes, labels and a picture of the suite's own, for asv."""
    rng = np.random.default_rng(2012)
    y = rng.integers(0, 2, 2_000)
    shift = 12 * rng.normal(size=n_features) * y[:, None]
    X = np.clip(128 + shift + 40 * rng.normal(size=(len(y), n_features)), 0, 255).astype(np.uint8)
    corner = rng.integers(0, side - 12, (n_features, 2))
    boxes = np.concatenate((corner, corner + 6 * rng.integers(1, 3, (n_features, 2))), axis=1)
    return X, y, np.arange(n_features) % 5, boxes, rng.integers(0, 256, (200, 200), dtype=np.uint8)


class Scanning:
    """All windows of a picture at all scales: 300 boosted stumps, a soft cascade, an MDDAG."""

    params = (["all stumps", "soft cascade", "MDDAG"],)
    param_names = ("detector",)
    timeout = 600  # the first of a commit compiles
    rounds = 1
    version = "1"
    _ready = ""

    def setup(self, detector):
        if self._ready == detector:  # asv asks again before each sample
            return
        try:
            from algorithms.bourdev_cascade import BourdevCascadeClassifier
            from algorithms.mddag import MDDAGClassifier
            from algorithms.on_demand import HaarFeatures, PictureScanner
        except ImportError:  # versions before it: asv skips what raises this
            raise NotImplementedError from None
        from algorithms.adaboost_mh import AdaBoostMH

        X, y, kinds, boxes, self.picture = drawn_task()
        model = AdaBoostMH(n_estimators=300, n_threads=THREADS).fit(X, y)
        if detector == "soft cascade":
            cascade = BourdevCascadeClassifier(FrozenEstimator(model), detection_rate=0.9)
            model = cascade.fit(X, y)
        elif detector == "MDDAG":
            model = MDDAGClassifier(FrozenEstimator(model), solver="descent").fit(X, y)
        features = HaarFeatures(kinds, boxes, (20, 20))
        self.scanner = PictureScanner(model, features, n_threads=THREADS)
        self.scanner.scan(self.picture, n_scales=2)  # compiles
        self._ready = detector

    def time_scan(self, detector):
        """Scan the picture."""
        self.scanner.scan(self.picture)

    time_scan.repeat = (2, 5, 1.5)

    def track_evaluations(self, detector):
        """Mean stumps evaluated in a window."""
        return float(np.mean(self.scanner.scan(self.picture).evaluations))

    track_evaluations.unit = "stumps"


def detectors(columns) -> dict:
    """The full model and the soft cascades made of it, by name."""
    from algorithms.adaboost_mh import AdaBoostMH
    from algorithms.bourdev_cascade import BourdevCascadeClassifier
    from algorithms.mddag import MDDAGClassifier

    rows = columns.rows(0)
    X = {part: columns.columns[:, rows[part]].T for part in ("train", "valid")}
    y = {part: columns.y[rows[part]] for part in X}
    full = AdaBoostMH(n_estimators=ROUNDS).fit(X["train"], y["train"])
    models = {f"AdaBoost.MH, all {ROUNDS} stumps": full}
    for rate in RATES:
        cascade = BourdevCascadeClassifier(FrozenEstimator(full), detection_rate=rate)
        models[f"soft cascade, detection rate {rate}"] = cascade.fit(X["valid"], y["valid"])
    for name, (solver, beta) in DAGS.items():
        dag = MDDAGClassifier(FrozenEstimator(full), solver=solver, beta=beta, random_state=0)
        models[f"MDDAG, {name}, β = {beta}"] = dag.fit(X["train"], y["train"])
    return models


def least_seconds(scanners: dict, picture: np.ndarray) -> tuple[dict, dict]:
    """CPU seconds of the fastest scan of each, which take turns; and the scans."""
    scans = {name: scanner.scan(picture) for name, scanner in scanners.items()}  # compiles
    spent = dict.fromkeys(scanners, np.inf)
    for _ in range(SCANS):
        for name, scanner in scanners.items():
            begin = time.process_time()
            scanner.scan(picture)
            spent[name] = min(spent[name], time.process_time() - begin)
    return spent, scans


class Line(NamedTuple):
    """What a detector took to scan the picture."""

    n_windows: int  # n_windows, n_stumps: Windows, and stumps evaluated in all of them
    n_stumps: int
    seconds: float  # CPU seconds of the fastest scan

    @property
    def nanoseconds(self) -> float:
        """Of CPU time for an evaluation."""
        return 1e9 * self.seconds / self.n_stumps


def scan_all() -> tuple[dict[str, Line], str]:
    """Scan the astronaut with each detector."""
    from skimage.data import astronaut

    from algorithms.on_demand import HaarFeatures, PictureScanner
    from datasets import vj_faces
    from datasets.features.faces.haar_columns import outlines
    from datasets.features.pixels import grey

    columns = vj_faces.columns()
    picture = grey(astronaut()[None])[0]
    features = HaarFeatures(*outlines(columns.feature_names), columns.shape)
    scanners = {
        name: PictureScanner(model, features, n_threads=1)
        for name, model in detectors(columns).items()
    }
    spent, scans = least_seconds(scanners, picture)
    lines = {
        name: Line(len(scan.scores), int(scan.evaluations.sum()), spent[name])
        for name, scan in scans.items()
    }
    return lines, columns.provenance["kind"]


def main() -> None:
    """Print a line for each detector."""
    lines, kind = scan_all()
    full = next(iter(lines.values()))
    print(f"trained on faces ({kind}); {full.n_windows:,} windows, one thread")
    print("| detector | stumps a window | ns a window | ns an evaluation | counted | measured |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, line in lines.items():
        print(
            f"| {name} | {line.n_stumps / line.n_windows:.1f} "
            f"| {1e9 * line.seconds / line.n_windows:.0f} | {line.nanoseconds:.1f} "
            f"| {full.n_stumps / line.n_stumps:.1f} | {full.seconds / line.seconds:.1f} |"
        )
    print(f"aims: at most {TARGET:g} ns an evaluation; measured at least half of counted")


if __name__ == "__main__":
    main()
