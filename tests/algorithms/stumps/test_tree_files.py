"""Saved AdaBoostMH models of Hamming trees: round trips, older files, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.feature_sampling import BEST_FAMILY
from tests.algorithms.estimators.changed_files import rewritten
from tests.algorithms.stumps.test_files import FAMILIES, X, Y, put, store


def fit(y=Y, **parameters):
    options = {"weak_learner": "hamming_tree", "n_estimators": 5, "random_state": 1}
    options["initial_weights"] = "balanced"  # so that the first tree is no constant vote
    return AdaBoostMH(**options | parameters).fit(X, y)


def assert_equal(a, b):
    assert set(vars(a)) == set(vars(b))
    for name, values in a.trees_._asdict().items():
        other = getattr(b.trees_, name)
        assert values.dtype == other.dtype, name
        np.testing.assert_array_equal(values, other, name)
    for method in ("predict", "decision_function", "prediction_cost", "evaluations"):
        np.testing.assert_array_equal(getattr(a, method)(X), getattr(b, method)(X))
    np.testing.assert_array_equal(list(a.staged_cost(X)), list(b.staged_cost(X)))


@pytest.mark.parametrize("sampler", ["all_features", "tasting_1q", BEST_FAMILY, ["ucb", "exp3p"]])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_round_trip(sampler, n_classes, tmp_path):
    model = fit(
        Y % n_classes, sampler=sampler, families=FAMILIES, feature_costs=np.arange(7.0),
        split_cost=0.5, smoothing=0.01, initial_weights="balanced", n_leaves=5,
    )  # fmt: skip
    model.save(tmp_path / "model")
    loaded = AdaBoostMH.load(tmp_path / "model")
    assert_equal(model, loaded)
    assert (loaded.n_leaves, loaded.smoothing, loaded.initial_weights) == (5, 0.01, "balanced")
    assert_equal(loaded.fit(X, Y % n_classes), model)


def test_no_trees(tmp_path):
    with pytest.warns(ConstantModelWarning, match="y is constant"):
        constant = fit(np.full(len(X), "only"))
    for model in (constant, fit(n_estimators=0)):
        model.save(tmp_path / "model")
        assert_equal(model, AdaBoostMH.load(tmp_path / "model"))


def test_what_was_fitted_counts_not_the_parameter(tmp_path):
    model = fit().set_params(weak_learner="stump")
    model.save(tmp_path / "model")
    assert_equal(model, AdaBoostMH.load(tmp_path / "model"))


def test_files_from_before_there_were_trees(tmp_path):
    """Their headers lack what was boosted, and the parameters that are new."""

    def made_older(header, arrays):
        del header["learners"]
        for name in ("weak_learner", "n_leaves", "initial_weights", "smoothing"):
            del header["params"][name]

    model = AdaBoostMH(n_estimators=6, random_state=1).fit(X, Y)
    model.save(tmp_path / "model")
    rewritten(tmp_path / "model", made_older)
    loaded = AdaBoostMH.load(tmp_path / "model")
    for name, values in model.stumps_._asdict().items():
        np.testing.assert_array_equal(values, getattr(loaded.stumps_, name), name)
    assert json.dumps(loaded.get_params()) == json.dumps(model.get_params())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def entry(name, value):
    return lambda header, arrays: header.update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("feature", 0, 7), "tests a feature beyond the 7"),
        (put("feature", 0, -1), "neither a leaf nor a split"),
        (put("threshold", 0, np.nan), "threshold of its trees must be finite"),
        (put("left", 0, 0), "does not come after its parent"),
        (put("left", 0, 10**6), "does not come after its parent"),
        (put("depth", 0, 3), "depth of its trees must be 0 in roots"),
        (put("tree", 1, 1), "does not come after its parent"),
        (put("votes", (0, 0), 1), "and 0 in split nodes"),
        (put("votes", (-1, 0), 0), "votes must be -1 or 1 in leaves"),
        (put("votes", (-1, 0), -128), "votes must be -1 or 1 in leaves"),
        (put("alpha", 0, np.inf), "alpha of its trees must be finite"),
        (put("alpha", slice(None), 1e308), "scores are no finite numbers"),
        (put("edge", 0, 1.5), "edge of its trees must be from 0 to 1"),
        (
            store("alpha", np.zeros(4)),
            "its array alpha is for 4 rounds, and its array log_train_loss_ for 5",
        ),
        (store("edge", np.zeros(6)), "its array edge is for 6 rounds"),
        (
            store("votes", np.ones((9, 4), dtype=np.int8)),
            "its array votes is for 9 nodes, and its array feature for 29",
        ),
        (
            store("feature", np.zeros(3, dtype=np.int32)),
            "is for 29 nodes, and its array feature for 3",
        ),
        (store("train_loss_", np.zeros(4)), "its array train_loss_ is for 4 rounds"),
        (entry("learners", "forest"), "of a kind unknown here, 'forest'"),
        (entry("learners", 3), "learners in its header must be the name"),
        (entry("learners", "stump"), ""),
        (lambda header, arrays: header.pop("learners"), ""),
        (lambda header, arrays: header["params"].update(sampler="laminating"), "does not go with"),
        (lambda header, arrays: header["params"].update(n_leaves=1), "n_leaves must be"),
        (lambda header, arrays: header["params"].update(smoothing=-1), "smoothing must be"),
    ],
)
def test_wrong_contents_are_named(change, message, tmp_path):
    fit().save(tmp_path / "model")
    rewritten(tmp_path / "model", change)
    with pytest.raises(ValueError, match=f"does not hold a whole AdaBoostMH: .*{message}"):
        AdaBoostMH.load(tmp_path / "model")
