"""Bundles of features against the rule on sets of rows."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.trees.bundling import bundles


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
