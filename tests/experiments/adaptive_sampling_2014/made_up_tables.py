"""Data, cells and rows of tables for the tests: made up, or read as they are published."""

import csv
from types import SimpleNamespace

import numpy as np
import pandas as pd

from datasets.features import sizes
from experiments.adaptive_sampling_2014.cells.headline import FAMILIES
from experiments.adaptive_sampling_2014.cells.methods import KEYS
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.artefact import Cell
from experiments.running.provenance import ROOT


def features(n=120, seed=0):
    """Twelve features in three families, of which the second tells three classes apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=2 * n)
    columns = rng.integers(256, size=(12, 2 * n))
    columns[4:8] = np.clip(60 * y + rng.integers(80, size=(4, 2 * n)), 0, 255)
    columns = columns.astype(np.uint8)
    return SimpleNamespace(
        train=np.ascontiguousarray(columns[:, :n]),
        test=np.ascontiguousarray(columns[:, n:]),
        y_train=y[:n],
        y_test=y[n:],
        n_features=12,
        families=[np.arange(0, 4), np.arange(4, 8), np.arange(8, 12)],
        milliseconds=np.array([1.0, 2.0, 4.0]),
    )


def cell(method, **params):
    given = {"n_estimators": 12, "max_cost": 2, "rounds": [1, 5, 12], "tables": [5], "timed": False}
    return Cell("mnist", method, {**given, **params}, seed=3)


def made_up(losses, dataset="mnist", rounds=(10, 100, 1_000), errors=None, n_seeds=5):
    """Rows in which each method has the same loss at each T but for a small noise by seed."""
    noise = np.random.default_rng(0).normal(scale=1e-3, size=(n_seeds, len(KEYS)))
    rows = []
    for seed in range(n_seeds):
        for m, method in enumerate(KEYS):
            for budget in ("paper", "all"):
                for t in rounds:
                    loss = losses.get(method, losses.get("others")) + noise[seed, m]
                    error = (errors or {}).get(method, 10.0) + noise[seed, m]
                    rows.append(
                        {
                            "dataset": dataset,
                            "algorithm": method,
                            "seed": seed,
                            "budget": budget,
                            "rounds": t,
                            "used_rounds": t,
                            "log10_loss": loss,
                            "test_error": error,
                            "kept": seed,
                            "short": 0,
                            "feature_seconds": 2.0,
                            "tuning_feature_seconds": 3.0,
                            "prediction_ms": float(t),
                            "training_seconds": t / 100,
                            "tuning_seconds": t / 10,
                        }
                    )
    return pd.DataFrame(rows)


def meta_of(*datasets, kind="real", n_seeds=5):
    record = {
        "kind": kind,
        "source": "mirror",
        "missing": "nothing",
        "rows": {"train": 10_000, "test": 10_000},
        "n_features": 16_771,
        "families": dict.fromkeys(sorted(sizes(datasets[0])), 10),  # as meta.json has them
        "cost_origin": "measured by hand",
    }
    data = {name: record for name in datasets}
    return {"scale": "laptop", "seeds": list(range(n_seeds)), "data": data}


def published(dataset):
    """Rows of a published table that are of its headline: the families `mash`, if it has them."""
    with (ROOT / "results" / f"sampling-table{SETS[dataset].table}" / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    name = FAMILIES.get(dataset)
    name = name if name in {row["dataset"] for row in rows} else dataset
    return name, [row for row in rows if row["dataset"] == name]


def line_of(text, name, nth=0):
    return [line for line in text.splitlines() if line.startswith(f"| {name}")][nth]
