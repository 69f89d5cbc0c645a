"""asv: scanning a picture with a detector of boosted stumps."""

from __future__ import annotations

import numpy as np
from sklearn.frozen import FrozenEstimator

from .suite import THREADS


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
