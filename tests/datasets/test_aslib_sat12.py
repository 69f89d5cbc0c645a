"""SAT formulas whose features took CPU seconds that were measured."""

import numpy as np
import pytest

import datasets
from datasets import aslib_sat12
from tests.datasets.contract import NEEDS_MIRROR, PARTS, check_contract

pytestmark = NEEDS_MIRROR


@pytest.fixture(scope="module")
def data():
    return datasets.load("aslib_sat12")


def test_formulas_groups_and_classes(data):
    check_contract(data)
    assert sum(getattr(data, f"y_{part}").sum() for part in PARTS) == 949
    _, steps, needs = aslib_sat12._steps(aslib_sat12.find(aslib_sat12.FILES["description.txt"]))
    assert steps["Pre"][:2] == ["nvarsOrig", "nclausesOrig"]
    assert {step for step, before in needs.items() if before == ["Pre"]} == set(steps) - {"Pre"}
    took = aslib_sat12.seconds()
    assert data.group_costs == dict(enumerate(took["train"].mean(axis=0)))
    each = np.concatenate(list(took.values()))
    each = each[each[:, list(steps).index("ls_saps")] > 0]  # not solved while preprocessed
    median = dict(zip(steps, np.median(each, axis=0), strict=True))
    assert (median["CG"], median["Pre"], median["Basic"]) == pytest.approx(
        (17.835, 0.075, 0.0), abs=1e-6
    )
    assert not np.array_equal(data.X_test, datasets.load("aslib_sat12", seed=1).X_test)


def test_a_bill_is_what_the_row_took(data):
    """Nothing; one feature of CG, which needs Pre; two of it; all."""
    took = aslib_sat12.seconds()["test"][:4]
    acquired = np.zeros((4, data.n_features), dtype=bool)
    of_cg = [i for i, name in enumerate(data.feature_names) if name.startswith("CG_")]
    acquired[1, of_cg[0]] = True
    acquired[2, of_cg[:2]] = True
    acquired[3] = True
    groups = data.feature_groups
    cg, pre = groups[of_cg[0]], groups[data.feature_names.index("nvarsOrig")]
    wanted = [0.0, *(took[[1, 2], cg] + took[[1, 2], pre]), took[3].sum()]
    np.testing.assert_allclose(aslib_sat12.bill(acquired, took), wanted)
    with pytest.raises(ValueError, match="acquired must be"):
        aslib_sat12.bill(acquired[:, :5], took)
