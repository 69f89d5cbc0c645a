"""CBCL faces: the two tables, their columns, and the synthetic set."""

import hashlib

import numpy as np
import pytest

import datasets
from datasets import cbcl, cbcl_windows
from datasets.features import pruning
from datasets.features.faces import prices, tables
from datasets.features.faces.families import FAMILIES
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.face_archives import MIRROR, contents, packed
from tests.datasets.picture_archives import noise, put

# --- the tables ----------------------------------------------------------------------------------


def test_tables_of_real_windows(cache, monkeypatch, few_faces):
    put(monkeypatch, cache, cbcl_windows, MIRROR, packed(contents()))
    found = cbcl.columns(data="real")
    expected = np.concatenate([family.columns(few_faces["train"]) for family in FAMILIES], axis=1)
    np.testing.assert_array_equal(found.train, expected.T)
    measured = prices.prices()
    for seed in range(5):
        data = datasets.load("cbcl", data="real", seed=seed)
        check_contract(data)
        assert data.provenance["kind"] == "real"
        np.testing.assert_array_equal(data.X_valid, expected[found.fold == seed % 5])
        np.testing.assert_array_equal(data.X_train, expected[found.fold != seed % 5])
        np.testing.assert_array_equal(data.X_test, found.test.T)
        np.testing.assert_array_equal(data.feature_costs, measured.features)
        divided = datasets.load("cbcl_divided", data="real", seed=seed)
        check_contract(divided)
        np.testing.assert_array_equal(divided.X_test, data.X_valid)
        np.testing.assert_array_equal(divided.y_test, data.y_valid)
        np.testing.assert_array_equal(divided.X_valid, expected[found.fold == (seed + 1) % 5])
        total = len(divided.y_train) + len(divided.y_valid) + len(divided.y_test)
        assert total == len(expected)
    anew = [datasets.load("cbcl_divided", data="real", seed=seed) for seed in range(5, 10)]
    assert sum(len(table.y_test) for table in anew) == len(expected)
    assert not np.array_equal(anew[0].X_test, expected[found.fold == 0])
    assert (data.task, data.cost_unit, data.name) == ("binary", "ms", "cbcl")
    assert "measured CPU time per window" in data.cost_origin
    assert data.group_costs == measured.groups
    assert set(np.unique(data.feature_groups)) == {0, 1, 2}
    assert "official test windows" in data.provenance["split_rule"]
    assert "three train" in divided.provenance["split_rule"]
    assert divided.name == "cbcl_divided"


def test_pruning_keeps_columns_that_serve(cache, monkeypatch, few_faces):
    put(monkeypatch, cache, cbcl_windows, MIRROR, packed(contents()))
    cbcl.columns(data="real")
    assert pruning.unused() == []
    (folder,) = (cache / "features" / "cbcl").glob("*/")
    learned = cache / "features" / "scene15" / folder.name  # these depend on what was learned
    learned.parent.mkdir()
    folder.rename(learned)
    assert pruning.unused() == []
    unknown = cache / "features" / "no_such_set" / folder.name
    unknown.parent.mkdir()
    learned.rename(unknown)
    assert [record["reason"] for record in pruning.unused()] == ["no data set has this name"]
    monkeypatch.setattr(pruning, "FACES", FAMILIES[1:])
    cbcl.columns(data="real")
    assert "made by other families" in pruning.unused()[0]["reason"]


def test_windows_of_another_size_are_refused():
    with pytest.raises(ValueError, match="windows must be of"):
        tables.computed(noise(0, 3, 24, 24))


@pytest.mark.slow
@NEEDS_MIRROR
def test_real_columns(cache):
    real = cbcl.images(data="real")
    windows = np.ascontiguousarray(real.train[::500])
    columns = tables.computed(real.train)
    np.testing.assert_array_equal(columns[:, ::500], tables.computed(windows))
    assert hashlib.sha256(columns).hexdigest() == FROZEN_COLUMNS
    haar = columns[:1000]
    assert ((haar == 0) | (haar == 255)).mean() < 1e-3  # hardly anything is cut off
    assert (columns.std(axis=1) > 0).all()


FROZEN_COLUMNS = "1a4c5521d98f576307c4637c21a9fb9521246c58936ae70376a3c6c1fe3a30fd"
