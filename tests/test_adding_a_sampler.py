"""CONTRIBUTING's recipe for a sampler works as it stands.

In this process, not in a copy of the tree: every change in algorithms/ compiles all kernels anew.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from algorithms import feature_sampling as samplers
from algorithms.adaboost_mh import AdaBoostMH
from tests.recipes import ROOT, changed, recipe
from tests.test_adaboost_mh import assert_twins, draw_data, twin_of


@pytest.fixture
def with_recipe(monkeypatch):
    """What the recipe adds to modules and to the list of samplers, for one test."""
    added = recipe("Add a way to sample (AdaBoost.MH)")
    assert list(added.files) == ["algorithms/feature_sampling.py", "reference/"]
    new_names = []
    for package, code in zip(("algorithms", "reference"), added.files.values(), strict=True):
        module = importlib.import_module(f"{package}.feature_sampling")
        namespace = dict(vars(module))
        exec(compile(code, module.__file__, "exec"), namespace)
        new_names.append(namespace.keys() - vars(module).keys() - {"__builtins__"})
        for name in new_names[-1]:
            monkeypatch.setattr(module, name, namespace[name], raising=False)
    assert new_names == [{"RoundRobin"}, {"round_robin"}]
    ((place, diff),) = added.changes
    source = (ROOT / place).read_text("utf-8")
    namespace = dict(vars(samplers))
    exec(compile(changed(source, diff), samplers.__file__, "exec"), namespace)
    (name,) = namespace["SAMPLERS"].keys() - samplers.SAMPLERS.keys()
    monkeypatch.setitem(samplers.SAMPLERS, name, namespace["SAMPLERS"][name])
    return name


@pytest.mark.parametrize("seed", range(4))
def test_the_recipe_of_a_sampler_gives_twins(with_recipe, seed):
    rng = np.random.default_rng(seed)
    X, y = draw_data(rng, 60, 9, 3)
    families = [[0, 1, 2], [3], [4, 5, 6, 7, 8]]
    model = AdaBoostMH(
        sampler=with_recipe, families=families, n_estimators=7, max_cost=2, random_state=seed,
        n_threads=1,
    )  # fmt: skip
    assert_twins(model, X, y)
    assert twin_of(with_recipe).__name__ == with_recipe
    chosen, turns = model.stumps_.feature, np.arange(7) % 3
    family_of = np.repeat([0, 1, 2], [len(family) for family in families])
    tested = chosen >= 0  # else the stump is a constant vote
    assert tested.sum() > 3
    np.testing.assert_array_equal(family_of[chosen[tested]], turns[tested])
