"""MNIST at prices of families: the table of a draw, and effects on each image."""

import numpy as np
import pandas as pd
import pytest

import datasets
from experiments.greedy_miser_2012 import extra_digits
from experiments.greedy_miser_2012.cells import digits, pictures
from experiments.greedy_miser_2012.cells.measure import without_expensive
from experiments.greedy_miser_2012.show.digits import DIGITS, beside_baseline
from experiments.greedy_miser_2012.show.pictures import beside_within
from experiments.publishing.output import read_expected
from experiments.running.provenance import ROOT
from experiments.style import house_style

DRAWN = extra_digits.DRAWN["smoke"]


@pytest.fixture(scope="module")
def features():
    return datasets.load_features(DIGITS.dataset, scale="smoke", seed=0)


def test_a_draw_has_features_of_every_family_at_the_family_s_price(features):
    table = digits.table(features, 3, **DRAWN)
    assert len(table.y_train) + len(table.y_valid) <= 180
    assert set(table.feature_groups) == set(range(19))
    assert table.group_costs == dict(enumerate(features.milliseconds))
    assert not table.feature_costs.any()
    # Every column is one of its family's, image by image.
    for k, (name, family) in enumerate(zip(features.names, features.families, strict=True)):
        mine = table.X_test[:, table.feature_groups == k].T
        known = {column.tobytes() for column in features.test[family].astype(np.float64)}
        assert 0 < len(mine) <= 4
        assert all(column.tobytes() in known for column in np.ascontiguousarray(mine)), name
    other = digits.table(features, 4, **DRAWN)
    assert not np.array_equal(table.X_test, other.X_test)
    np.testing.assert_array_equal(table.y_test, other.y_test)


def test_limits_keep_as_many_families_as_they_say(features):
    table = digits.table(features, 0, **DRAWN)
    kept = []
    for limit in DIGITS.limits:
        left = without_expensive(table, limit)
        kept.append(len(np.unique(table.feature_groups[left.X_test.any(axis=0)])))
    cheap = [int(np.sum(features.milliseconds <= limit)) for limit in DIGITS.limits]
    assert cheap == [3, 6, 11, 14]
    assert all(one <= most for one, most in zip(kept, cheap, strict=True))


def test_difference_at_a_share_by_hand():
    """Within half of 100 the model at 40 is chosen by validation, not the better tested at 10."""
    table = [
        ("stagewise", 0.9, 100.0, [1, 1, 0, 1]),
        ("greedy_miser", 0.7, 10.0, [1, 1, 1, 1]),
        ("greedy_miser", 0.8, 40.0, [1, 0, 1, 0]),
        ("greedy_miser", 0.85, 60.0, [0, 0, 0, 0]),
    ]
    rows = pd.DataFrame(
        [
            {
                **{"panel": "n", "algorithm": algorithm, "seed": seed, "valid_score": score},
                **{f"{part}_cost_paper": cost for part in ("valid", "test")},
                "right": pictures.packed(np.array(right) > 0, np.arange(4)),
            }
            for algorithm, score, cost, right in table
            for seed in (0, 1)
        ]
    )
    np.testing.assert_array_equal(beside_baseline(rows, 0.5), [0, -1, 1, -1])
    np.testing.assert_array_equal(beside_baseline(rows, 0.1), [0, 0, 1, 0])
    assert beside_within(rows, "n", "greedy_miser", 0.05).size == 0
    # With all of the bill it is λ = 0 itself.
    np.testing.assert_array_equal(beside_baseline(rows, 1.0), np.zeros(4))


def test_the_picture_shows_methods_at_shares():
    """Of smoke rows; a method without a model so cheap has no point there."""
    rows = read_expected(ROOT / "results" / "expected" / "miser-mnist.csv")
    meta = {"scale": "smoke", "data": {DIGITS.dataset: {"kind": "real"}}}
    with house_style("x"):
        (ax,) = extra_digits.render(rows, meta).axes
    shares = {line.get_label(): line.get_xdata() for line in ax.lines}
    assert max(shares["Stage-wise regression (λ = 0)"]) == 1.0
    assert min(shares["Greedy Miser"]) > min(shares["Stage-wise regression, feature subsets"])
