"""Memory and time over rows: what a child tells, and the effects."""

import mmap

import numpy as np
import pandas as pd
import pytest

from experiments.greedy_miser_2012 import extra_scale
from experiments.greedy_miser_2012.cells import one_fit


@pytest.mark.skipif(not one_fit.Path("/proc/self/clear_refs").exists(), reason="Linux tells peaks")
def test_the_peak_sees_what_was_held_for_a_moment_and_begins_anew():
    size = 60_000_000
    before = one_fit._reset_peak()
    with mmap.mmap(-1, size) as held:  # new pages: an array may take those that were freed before
        np.frombuffer(held, dtype=np.uint8)[:] = 1
    assert one_fit._peak() - before > 0.9 * size
    before = one_fit._reset_peak()
    assert one_fit._peak() - before < 0.5 * size


def test_a_fit_tells_its_data_and_its_model(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 5))
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", X[:, 0] - X[:, 1])
    options = {"n_estimators": 3, "max_depth": 2, "feature_costs": [1.0] * 5, "n_threads": 1}
    told = one_fit.fit_and_tell(tmp_path, options)
    assert told["data_bytes"] == 400 * 6 * 8
    assert told["n_splits"] == 9
    assert told["fit_seconds"] > 0
    assert told["beside_bytes"] >= 1


ROWS = pd.DataFrame(
    [
        {
            **{"dataset": "covertype", "method": method, "seed": seed, "n_rows": n},
            **{"data_bytes": 400 * n, "beside_bytes": beside * n, "fit_seconds": seconds},
        }
        for method, beside in (("stagewise", 200), ("greedy_miser", 100))
        for seed in (0, 1)
        for n, seconds in ((10, 1.0), (100, 10.0 * 2**seed))
    ]
)


def test_effects_by_hand():
    np.testing.assert_allclose(extra_scale.memory_below_data(ROWS), [2.0, 2.0])
    np.testing.assert_allclose(extra_scale.below_at_most(ROWS), [1.0, 0.0])


def test_table_and_words():
    meta = {"scale": "laptop", "data": {"covertype": {"kind": "real", "n_features": 54}}}
    text = extra_scale.render(ROWS, meta)
    assert "| 100 | Greedy Miser | 0 | 0 (0 to 0) | 15 |" in text
