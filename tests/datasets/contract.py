"""What every data set promises, for the tests of data sets."""

import json
import os

import numpy as np
import pytest

import datasets

PARTS = ("train", "valid", "test")
NEEDS_MIRROR = pytest.mark.skipif(
    not os.environ.get("COST_AWARE_BOOSTING_MIRROR"),
    reason="COST_AWARE_BOOSTING_MIRROR is not set: no real data to read",
)


def check_contract(data):
    """What every data set promises, whatever its source."""
    d = data.n_features
    for part in PARTS:
        X, y = getattr(data, f"X_{part}"), getattr(data, f"y_{part}")
        assert X.dtype == np.float64
        assert X.flags.c_contiguous
        assert X.shape == (y.size, d)
        assert np.isfinite(X).all()
        query = getattr(data, f"query_{part}")
        if data.task == "ranking":
            assert y.dtype == np.float64
            assert set(np.unique(y)) <= set(range(5))
            blocks = query[np.r_[True, query[1:] != query[:-1]]]
            assert np.unique(blocks).size == blocks.size
        else:
            assert query is None
            assert y.dtype == np.int64
    assert data.feature_costs.shape == (d,)
    assert (data.feature_costs >= 0).all()
    assert len(data.feature_names) == len(set(data.feature_names)) == d
    assert data.cost_unit
    assert data.cost_origin
    record = json.loads(json.dumps(data.provenance))
    keys = "name kind source files terms missing split_rule scale seed checksum"
    assert set(keys.split()) <= set(record)
    assert record["checksum"] == datasets.dataset_checksum(data)
