"""Weights so small that the trees of a cascade or a DAG have no split are named."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.cronus import CronusClassifier
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.mddag import MDDAGClassifier
from algorithms.raykar_cascade import RaykarCascadeClassifier

X = np.random.default_rng(0).random((200, 3))
Y = X[:, 0] > 0.5
WEIGHTS = np.full(200, 1 / 200)
SAID = (
    "min_samples_leaf=20 counts row weight, and all rows together weigh 1: .* The weights are too "
    "small: with a mean of 1 they count rows"
)
TREES = GBRTRegressor(n_estimators=3)


@pytest.mark.parametrize(
    "model",
    [
        CronusClassifier(TREES, n_stages=2, max_cycles=1),
        RaykarCascadeClassifier(TREES, price_limits=[1.0]),
        AndOrCascadeClassifier(TREES, price_limits=[1.0]),
        GBRTClassifier(n_estimators=3),
    ],
)
def test_the_weights_are_named(model):
    with pytest.warns(ConstantModelWarning, match=SAID):
        model.fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(model.evaluations(X), 0)


def test_a_dag_without_base_classifiers_says_why():
    model = MDDAGClassifier(TREES, solver="descent")
    with (
        pytest.warns(ConstantModelWarning, match=SAID),
        pytest.raises(ValueError, match="has no base classifiers"),
    ):
        model.fit(X, Y, sample_weight=WEIGHTS)


def test_few_rows_without_weights_are_named_alone():
    with pytest.warns(ConstantModelWarning, match=r"weigh 30: .* the model is constant\.$"):
        TREES.fit(X[:30], Y[:30])
