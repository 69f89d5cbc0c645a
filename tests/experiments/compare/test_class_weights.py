"""Weights of classes in `compare`: as scikit-learn's, in training alone."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from algorithms.gbrt import GBRTClassifier
from experiments.compare.metrics import units
from experiments.compare.preparing import Asked, prepare
from experiments.compare.problem import load
from experiments.compare.tables import Refused
from experiments.methods import boosted, facts, optimal_trees
from experiments.methods.facts import Facts
from experiments.methods.fitting import shape
from experiments.methods.problem import with_validation
from experiments.methods.users_class import takes_weights
from tests.experiments.compare import own_methods

DRAW = {"u": [0.5, 0.5, 0.5, 0.5, 0.5], "rounds": 6, "seed": 3}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "t.csv"
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    table = pd.DataFrame({"a": truth.round(1), "b": rng.normal(size=300).round(1)})
    table["w"] = rng.integers(1, 4, size=300)
    table["y"] = np.where(truth + rng.normal(size=300) > 1.3, "ill", "well")
    table.to_csv(path, index=False)
    return Asked(path, "y", drop=["w"])


def made(asked, tmp_path, *weights, **options):
    prepared = prepare(dataclasses.replace(asked, class_weight=weights, **options), tmp_path)
    return load(str(prepared.path)), prepared


def test_they_are_scikit_learns(asked, tmp_path):
    balanced, prepared = made(asked, tmp_path, "balanced")
    assert prepared.loss == pytest.approx(np.log(2))
    for problem in (balanced, with_validation(balanced)):
        of_sklearn = compute_sample_weight("balanced", problem.fit.y)
        np.testing.assert_allclose(problem.fit_weight(), of_sklearn)
    ten, prepared = made(asked, tmp_path, "ill=10", drop=[], weight="w")
    part = ten.fit
    np.testing.assert_array_equal(
        ten.fit_weight(), part.weight * np.where(part.y == "ill", 10.0, 1.0)
    )
    plain, _ = made(asked, tmp_path)
    assert (plain.fit_weight(), plain.class_weight) == (None, None)


def test_they_count_in_training_and_not_in_scores(asked, tmp_path):
    balanced, _ = made(asked, tmp_path, "balanced")
    plain, _ = made(asked, tmp_path)
    train, test = balanced.parts["train"], balanced.parts["test"]
    ours = boosted.gbrt(balanced, DRAW)
    kind = GBRTClassifier(**shape(balanced, DRAW), class_weight="balanced")
    (*_, (answer, _)) = ours.follow(test)
    np.testing.assert_array_equal(answer, kind.fit(train.X, train.y).predict(test.X))
    (*_, (unweighted, _)) = boosted.gbrt(plain, DRAW).follow(test)
    assert np.sum(answer == "ill") > np.sum(unweighted == "ill")
    assert units("accuracy", test, answer).weight.tolist() == [1.0] * len(test)


def test_an_optimal_tree_errs_where_it_counts_least(asked, tmp_path):
    pytest.importorskip("pystreed")
    found = []
    for weights in ((), ("ill=10",)):
        problem, _ = made(asked, tmp_path, *weights)
        model = optimal_trees.streed(problem, DRAW | {"tradeoff": 1e-6})
        ((answer, _),) = model.follow(problem.parts["test"])
        found.append(int(np.sum(answer == "ill")))
    assert found[1] > 2 * found[0]


def test_who_cannot_take_them_says_so(asked, tmp_path):
    problem, _ = made(asked, tmp_path, "balanced")
    known = Facts.of(problem)
    assert facts.no_weights(known) == "it draws copies of rows, and takes no weights"
    assert facts.optimal_tree(known) == ""
    assert not takes_weights(own_methods.Threshold)


@pytest.mark.parametrize(
    ("weights", "target", "why"),
    [
        (["balanced", "ill=2"], "y", "either balanced or CLASS=NUMBER"),
        (["heavy"], "y", "must be balanced or CLASS=NUMBER, not 'heavy'"),
        (["sick=2"], "y", "names 'sick', which is no class: these are 'ill', 'well'"),
        (["ill=2", "ill=3"], "y", "names 'ill' twice"),
        (["ill=0"], "y", "must be a number from 1e-9 to 1e9, not '0'"),
        (["ill=nan"], "y", "must be a number from 1e-9 to 1e9, not 'nan'"),
        (["balanced"], "b", "for classification, and this is a regression"),
    ],
)
def test_others_are_refused(asked, tmp_path, weights, target, why):
    with pytest.raises(Refused, match=why):
        made(asked, tmp_path, *weights, target=target, drop=["w"] + ["y"] * (target != "y"))
