"""Bundles of features against the rule on sets of rows; memory that threads use in turn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from algorithms.trees.bundling import LentColumns, bundles


def bundles_by_sets(outside, n_bins, n_features):
    """First fit, feature by feature: which features are together, and their codes."""
    found = []
    for feature in range(n_features):
        rows = outside.get(feature)
        for one in found if rows is not None else ():
            fits = one["codes"] + n_bins[feature] - 1 <= 256
            if one["rows"] is not None and fits and not one["rows"] & rows:
                one["features"].append(feature)
                one["codes"] += n_bins[feature] - 1
                one["rows"] |= rows
                break
        else:
            own = {"features": [feature], "codes": n_bins[feature]}
            found.append({**own, "rows": None if rows is None else set(rows)})
    return [(one["features"], one["codes"]) for one in found]


@pytest.mark.parametrize("seed", range(40))
def test_first_fit_of_any_features(seed):
    rng = np.random.default_rng(seed)
    n_samples, n_features = int(rng.integers(1, 200)), int(rng.integers(1, 60))
    n_bins = rng.choice([1, 2, 3, 20, 120, 256], n_features).astype(np.int64)
    candidates = np.flatnonzero(rng.random(n_features) < rng.choice([0.0, 0.05, 0.5, 1.0]))
    share = rng.choice([0.0, 0.01, 0.05, 0.2], n_features)
    marks = {f: rng.random(n_samples) < share[f] for f in candidates.tolist()}
    expected = bundles_by_sets(
        {f: set(np.flatnonzero(m).tolist()) for f, m in marks.items()}, n_bins, n_features
    )
    packed = {f: np.packbits(m) for f, m in marks.items()}
    found = bundles(packed, n_bins, n_features)
    assert [(one.features, one.n_codes) for one in found] == expected
    assert packed == {}


def test_features_without_candidates_have_their_own_columns():
    assert bundles({}, np.array([3, 1]), 2) == [([0], 3), ([1], 1)]


# --- memory lent to threads: each has its own, and gives it back whatever happens ----------------


def test_threads_that_work_at_once_have_memory_of_their_own():
    lent, together = LentColumns(2, 3, 5), Barrier(2, timeout=60)

    def task(number, memory):
        memory[:] = number
        together.wait()
        assert memory.shape == (3, 5)
        assert np.all(memory == number)
        together.wait()
        return memory

    with ThreadPoolExecutor(2) as pool:
        a, b = pool.map(lent.to(task), (1, 2))
        assert not np.shares_memory(a, b)
        assert len(list(pool.map(lent.to(task), range(6)))) == 6  # and is lent again


def test_a_task_that_fails_gives_its_memory_back():
    lent = LentColumns(1, 1, 5)

    def fail(number, memory):
        raise KeyError(number)

    for number in range(2):
        with pytest.raises(KeyError):
            lent.to(fail)(number)
    assert lent.to(lambda number, memory: memory.size)(0) == 5
