"""A small data set of five features; the tests of several papers train on it."""

from dataclasses import replace

import numpy as np

import datasets


def tiny(task="ranking", n=240):
    """Rows in queries of twelve, or of classes: then of five, in groups, or of two."""
    rng = np.random.default_rng(4)
    parts = {}
    for part in ("train", "valid", "test"):
        X = rng.normal(size=(n, 5)).round(1)
        signal = X[:, 0] + X[:, 3] + 0.3 * rng.normal(size=n)
        y = np.digitize(signal, [0] if task == "binary" else [-1, 0, 1, 2])
        parts |= {f"X_{part}": X, f"y_{part}": y.astype(float) if task == "ranking" else y}
        parts[f"query_{part}"] = np.repeat(np.arange(n // 12), 12) if task == "ranking" else None
    grouped = task == "multiclass"
    return datasets.Dataset(
        name="tiny",
        task=task,
        feature_costs=np.array([1.0, 2.0, 5.0, 10.0, 20.0]),
        cost_unit="euros",
        cost_origin="a test",
        feature_names=tuple("abcde"),
        feature_groups=np.array([0, 0, 1, 1, 2]) if grouped else None,
        group_costs={0: 4.0, 1: 3.0, 2: 0.0} if grouped else None,
        **parts,
    )


def whole(n=240):
    """The small set with queries that no two parts share."""
    dataset, numbered = tiny(n=n), {}
    for k, part in enumerate(("train", "valid", "test")):
        numbered[f"query_{part}"] = getattr(dataset, f"query_{part}") + 100 * k
    return replace(dataset, **numbered)
