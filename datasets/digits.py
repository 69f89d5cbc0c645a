"""Handwritten digits: 1,797 pictures of 8×8 pixels, 10 classes, bundled with scikit-learn.

Citation: E. Alpaydin and C. Kaynak, UCI Machine Learning Repository (1998), CC BY 4.0; the copy
inside scikit-learn is the test half of that set. Always there, so the smallest scale may use it.

Split: half test, the rest 70/30 (MiniBooNE's rule): 898 test, 629 training, 270 validation rows.
"""

from __future__ import annotations

import numpy as np

from datasets.dataset import Dataset, checksum, uniform
from datasets.registry import DatasetSpec, Request
from datasets.splits import split_parts

SIZES = (629, 270, 898)


def real(request: Request) -> Dataset:
    """Load the split of a seed."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    arrays = {}
    for part, rows in split_parts("digits", request.seed, len(y), SIZES).items():
        arrays[f"X_{part}"] = np.ascontiguousarray(X[rows], dtype=np.float64)
        arrays[f"y_{part}"] = y[rows].astype(np.int64)
    names = tuple(f"pixel_{i // 8}_{i % 8}" for i in range(X.shape[1]))
    file = {"file": "sklearn.datasets.load_digits", "sha256": checksum({"X": X, "y": y})}
    provenance = {"source": "bundled", "files": [file]}
    return uniform("digits", "multiclass", arrays, names, provenance)


SPEC = DatasetSpec(
    name="digits",
    task="multiclass",
    title="Handwritten digits, 8×8",
    citation="Alpaydin and Kaynak, UCI Machine Learning Repository (1998)",
    terms="CC BY 4.0; bundled with scikit-learn (BSD-3-Clause)",
    shape="1,797 rows, 64 features, 10 classes",
    split_rule="permutation of 1,797 rows: 898 test, 629 training, 270 validation",
    cost_rule="uniform, 1 per pixel",
    real=real,
    bundled=True,
)
