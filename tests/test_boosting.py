"""What a fit holds for each row while it boosts, counted from the arrays themselves."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms import boosting
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor

LAZY = {"tradeoff": 1e-6, "feature_costs": [1.0, 2.0, 3.0]}
SCORES, ROWS, CLASS, MARKS = 8, 4, 1, 8
ONE_WORD = 8 + 4  # what a row adds to a bin, and its gradient: hessians are equal
TWO_WORDS = 16 + 8  # and its hessian
CASES = {
    "gbrt": (GBRTClassifier, {}, SCORES + ROWS + CLASS + ONE_WORD),
    "squared": (GBRTRegressor, {}, SCORES + ROWS + ONE_WORD),
    "cegb": (CEGBClassifier, {}, SCORES + ROWS + CLASS + TWO_WORDS),
    "cegb, squared, lazy": (CEGBRegressor, LAZY, SCORES + ROWS + ONE_WORD + MARKS),
    "cegb, lazy": (CEGBClassifier, LAZY, SCORES + ROWS + CLASS + TWO_WORDS + MARKS),
    "three classes": (GBRTClassifier, {}, 2 * 3 * SCORES + ROWS + CLASS + ONE_WORD),
}


def owners(value, found):
    """Memory of all arrays in an object and in the tuples, lists and objects below it."""
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        found[id(value)] = value
    elif isinstance(value, (tuple, list)):
        for item in value:
            owners(item, found)
    elif type(value).__module__.startswith("algorithms.") and hasattr(value, "__dict__"):
        owners(list(vars(value).values()), found)
    return found


def bytes_held(case, n_samples, monkeypatch):
    """Bytes that a fit holds after its last round, beside the two forms of the bins and targets."""
    rng = np.random.default_rng(0)
    X, noise = rng.integers(0, 9, (n_samples, 3)).astype(np.float32), rng.normal(size=n_samples)
    cls, options, _ = CASES[case]
    y = noise if "squared" in case else noise > 0
    y = np.digitize(noise, [-0.5, 0.5]) if case == "three classes" else y
    held = []

    class Watched(boosting._Rounds):
        def begin_round(self):
            super().begin_round()
            found = owners(list(vars(self).values()), {})
            assert not any(np.shares_memory(memory, X) for memory in found.values())
            if y.dtype == np.float64:  # the user's own
                found = {k: v for k, v in found.items() if not np.shares_memory(v, y)}
            held.append(sum(memory.nbytes for memory in found.values()))

    with monkeypatch.context() as patch:
        patch.setattr(boosting, "_Rounds", Watched)
        cls(n_estimators=2, max_leaves=4, n_threads=1, **options).fit(X, y)
    return max(held)


@pytest.mark.parametrize("case", list(CASES))
def test_bytes_of_a_row(case, monkeypatch):
    """Beside two forms of the bins, without what rows share."""
    few, many = (bytes_held(case, n, monkeypatch) for n in (40_960, 81_920))
    shared_by_chunks = 8 * (2 + 6 + (64 if "lazy" in case else 0)) / 4096
    assert (many - few) / 40_960 == pytest.approx(2 * 3 + CASES[case][2] + shared_by_chunks)
