"""Absurd numbers as parameters: each estimator fits, or refuses them in the user's words."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import is_classifier

from algorithms.gbrt import GBRTRegressor
from algorithms.registry.registered import ESTIMATORS

X = np.random.default_rng(0).random((40, 3))
LABEL = (X[:, 0] + X[:, 1] > 1.0).astype(np.int64)
SIZE = {
    "estimator": GBRTRegressor(n_estimators=3, n_threads=1, min_samples_leaf=2),
    "n_estimators": 3,
    "max_stumps": 3,
    "n_episodes": 200,
    "min_samples_leaf": 2,
    "price_limits": [1.0, 2.0],
    "feature_costs": [1.0, 1.0, 2.0],
    "n_threads": 1,
}
# How long a fit takes is the user's to choose: of these only what is no such number is tried.
WORK = {"n_estimators", "n_episodes", "max_stumps", "max_stages"}
FEW = [1e300, math.nan]
SOME = [5e-324, 2**63, True, "1"]
MANY = [
    *SOME, 1e308, 1e200, 1e100, 1e20, 1e-300, 1e-17, 10**400, -0.0, -1, -1e-300, math.inf,
    -math.inf, np.bool_(False), None, np.float32(0.5), np.float16(2), np.int64(2), np.uint8(3),
    Fraction(1, 2), Decimal("0.5"), 1j, [1.0], np.array(1.0), np.array([1.0]), 1 - 1e-16,
]  # fmt: skip
PER_FEATURE = [1e300, 1e270, 5e-324, 2**63, 10**400, math.nan, -1.0, True, "1", np.float32(0.5)]


def parameters(kind: str):
    """Each estimator, and each of its parameters that is a number or several."""
    for cls in ESTIMATORS:
        for name in cls().get_params(deep=False):
            words = cls._parameters[name].kind
            several = "array" in words or "sequence" in words
            one = not several and ("int" in words or "float" in words)
            if name != "feature_groups" and (several if kind == "several" else one):
                yield pytest.param(cls, name, id=f"{cls.__name__}-{name}")


def try_value(cls, name: str, value) -> str:
    """What ends in anything but a fit or a refusal that tells what was wrong; empty if nothing."""
    taken = cls().get_params(deep=False)
    options = {key: size for key, size in SIZE.items() if key in taken} | {name: value}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            model = cls(**options)
            model.fit(X, LABEL if is_classifier(model) else X[:, 0] + 0.3 * X[:, 1])
            cost = model.prediction_cost(X)
        except (ValueError, TypeError) as error:
            if name not in str(error) and "prices" not in str(error):
                return f"{error!r} does not name it"
            return ""
        except Exception as error:  # what must not reach a user
            return repr(error)
    if not np.all(np.isfinite(cost)) or not np.isfinite(getattr(model, "objective_", 0.0)):
        return "a cost or objective is no number"
    said = [str(w.message) for w in seen if issubclass(w.category, RuntimeWarning)]
    return said[0] if said else ""


def failures(cls, name: str, values) -> dict[str, str]:
    if name in WORK:
        values = [v for v in values if not (isinstance(v, int) and 1000 < v < 2**40)]
    found = {repr(value): try_value(cls, name, value) for value in values}
    return {value: what for value, what in found.items() if what}


@pytest.mark.parametrize(("cls", "name"), list(parameters("one")))
def test_a_number_out_of_all_proportion(cls, name):
    assert failures(cls, name, FEW) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "name"), list(parameters("one")))
def test_numbers_of_all_kinds(cls, name):
    assert failures(cls, name, MANY) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "name"), list(parameters("several")))
def test_numbers_of_all_kinds_for_a_feature_or_a_stage(cls, name):
    lists = [[value] * 3 for value in PER_FEATURE] + [[0.5, value, 2.0] for value in PER_FEATURE]
    assert failures(cls, name, [*FEW, *SOME, *lists]) == {}
