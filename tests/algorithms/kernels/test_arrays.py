"""Arrays that may be written to and those that may not are one kind to the kernels."""

from __future__ import annotations

import functools
import gc
import warnings

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from sklearn.base import is_classifier

from algorithms.kernels.arrays import read_only
from algorithms.registry.ahead import small
from algorithms.registry.registered import ESTIMATORS


@functools.cache
def kernels():
    """All that there are, once every estimator is imported: looking them up takes a second."""
    # By the type: to ask a dead weak proxy for its class is an error.
    return [each for each in gc.get_objects() if issubclass(type(each), Dispatcher)]


def n_signatures():
    """Number of kinds of arguments that kernels were called with."""
    return sum(len(each.overloads) for each in kernels())


def test_a_view_cannot_be_written_to():
    values = np.arange(3.0)
    view = read_only(values)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1.0
    values[0] = 7.0
    assert view[0] == 7.0


@pytest.mark.parametrize(
    ("estimator", "weighted"), [(cls, k % 2 == 0) for k, cls in enumerate(ESTIMATORS)]
)
def test_a_mapped_table_compiles_nothing_anew(estimator, weighted):
    rng = np.random.default_rng(0)
    X = rng.random((80, 4))
    model = small(estimator)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    y = X[:, 0].copy()
    if is_classifier(model):
        y = (X[:, 0] + X[:, 1] > 1.0).astype(np.int64)
    given = [X, y, np.tile([1.0, 2.0], 40) if weighted else None]

    def used(X, y, weights):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # three rounds are constant, or reach no rate
            model.fit(X, y, sample_weight=weights)
        return model.predict(X), model.prediction_cost(X, feature_costs=np.ones(4))

    expected, before = used(*given), n_signatures()
    found = used(*(None if each is None else read_only(each) for each in given))
    assert n_signatures() == before
    np.testing.assert_array_equal(found, expected)
