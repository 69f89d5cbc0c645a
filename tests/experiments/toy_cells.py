"""What workers need of the toy: its data and its cells, without what draws and judges them."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace

import numpy as np


class UnknownDataset(ValueError):
    pass


class DataUnavailable(RuntimeError):
    pass


class ChecksumMismatch(RuntimeError):
    pass


class DamagedData(ValueError):
    pass


def load(name, *, scale, data, seed):
    if name in os.environ.get("TOY_LACKS", "far").split() or (
        name == "nearby" and data == "synthetic"
    ):
        raise DataUnavailable(f"{name} is unavailable. Next: put it into the mirror.")
    if name == "damaged":
        raise ChecksumMismatch("damaged.txt: expected aa, found bb")
    if name == "cut_off":
        raise DamagedData("cut_off.zip: picture 7 is cut off")
    rng = np.random.default_rng(seed)
    parts = {}
    for part, n in (("train", 40), ("valid", 20), ("test", 30)):
        parts[f"X_{part}"] = rng.normal(size=(n, 3))
        parts[f"y_{part}"] = rng.integers(0, 2, size=n)
    kind = "simulation" if name == "made_up" else "real"
    kind = "synthetic" if data == "synthetic" else kind
    provenance = {
        "name": name,
        "kind": kind,
        "source": "cache",
        "checksum": f"{name}-{kind}-{scale}-{seed}",
        "seed": seed,
    }
    return SimpleNamespace(**parts, provenance=provenance, cost_unit="coin", cost_origin="invented")


def run_cell(cell, dataset):
    time.sleep(cell.params["sleep"])
    if cell.params["step"] == cell.params["fail_at"]:
        raise ZeroDivisionError("the toy was told to fail")
    X = dataset.X_test
    rows = []
    for part in range(3):
        value = float(np.tanh(X[:, part]).mean()) + cell.params["step"] * 0.1
        gain = 0.3 + 0.01 * cell.seed if cell.algorithm == "better" else 0.0
        rows.append({"step": cell.params["step"], "part": part, "score": value + gain})
    return rows
