"""Figure 1 on all queries: folds, what chooses, and models that are what they say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from algorithms.early_exit import EarlyExit
from algorithms.metrics import ndcg_at_k
from experiments.cell import Cell
from experiments.cells.divided_queries import all_queries, fold_of, folds
from experiments.greedy_miser_2012 import extra_divisions
from experiments.greedy_miser_2012.cells import divisions, measure, rivals
from experiments.greedy_miser_2012.cells.models import Pool
from experiments.greedy_miser_2012.show.divisions import (
    by_query,
    lead_of_each,
    of_each,
    saved_of_each,
    step_of_each,
)
from tests.experiments.small_sets import tiny, whole


def cell() -> Cell:
    (one,) = extra_divisions.make_cells("smoke", range(1))
    return one


@pytest.fixture(scope="module")
def rows():
    return pd.DataFrame(divisions.measure(cell(), whole())).assign(seed=0)


def test_each_query_is_tested_once_and_never_trained_on():
    dataset = whole()
    tested = []
    for fold in folds(dataset, 0):
        parts = [set(getattr(fold, f"query_{part}")) for part in ("train", "valid", "test")]
        assert sum(map(len, parts)) == len(set.union(*parts)) == 60
        tested += parts[2]
    assert sorted(tested) == sorted(set(np.r_[0:20, 100:120, 200:220]))
    other = [set(fold.query_test) for fold in folds(dataset, 1)]
    assert all(set(fold.query_test) not in other for fold in folds(dataset, 0))
    for seed in range(7):
        wanted = [*folds(dataset, 0), *folds(dataset, 1)][seed]
        np.testing.assert_array_equal(fold_of(dataset, seed).query_test, wanted.query_test)
    with pytest.raises(ValueError, match="query of the same number"):
        all_queries(tiny())


def test_a_fold_is_chosen_for_by_other_queries():
    parts = list(folds(whole(), 0))
    for k, fold in enumerate(parts):
        chosen_by = [set(parts[j].query_valid) for j in divisions.choosers(k)]
        assert len(chosen_by) == 4
        assert not set.union(*chosen_by) & set(fold.query_test)


def test_choices_are_the_best_within_and_the_cheapest_as_good():
    pool = Pool(list("abcd"), np.array([0.5, 0.7, 0.7, 0.9]), np.array([1.0, 3.0, 2.0, 8.0]))
    assert pool.best_within(0.5) is None
    assert [pool.best_within(b) for b in (1.0, 3.0, 7.9, 8.0)] == ["a", "c", "c", "d"]
    assert [pool.as_good(s, 2.5)[0] for s in (0.4, 0.6, 0.8)] == ["a", "c", "d"]
    assert [pool.as_good(2.0, bill) for bill in (0.5, 2.5)] == [(None, True), ("c", True)]


@pytest.mark.slow
def test_rows_are_the_scores_of_the_models_that_were_chosen(rows):
    dataset, mine = whole(), cell()
    fold = list(folds(dataset, 0))[2]
    free = replace(mine, params={**mine.params, "tradeoff": 0.0})
    model = measure.train(free, fold)
    at = rows[(rows["fold"] == 3) & (rows["budget"] == 1.0)]
    possible = [
        ndcg_at_k(fold.y_test, p, fold.query_test, 5, per_query=True)
        for p in model.staged_predict(fold.X_test)
    ]
    assert any(np.allclose(at["stagewise"], scores, rtol=1e-5) for scores in possible)
    assert (rows["stagewise_cost"] == 1).all()
    assert not rows.duplicated(["budget", "query"]).any()
    # Whoever has λ = 0 among its models is no worse on what it chose by, so has one at its bill.
    assert rows.loc[rows["budget"] == 1.0, list(divisions.METHODS)].notna().all(axis=None)
    there = rows.dropna(subset="early_exit")
    assert there["early_exit_features"].between(0.01, 0.99).all()


@pytest.mark.slow
def test_steps_and_cronus_are_trained_on_the_fold_and_chosen_like_the_others(rows):
    fold, mine = list(folds(whole(), 0))[2], cell()
    any_bill = rows[rows["budget"] == divisions.UNLIMITED]
    assert any_bill[[*divisions.METHODS, *divisions.STEPS]].notna().all(axis=None)
    assert rows.loc[rows["budget"] > 0, list(divisions.STEPS)].isna().all(axis=None)
    settings = {**mine.params["settings"], "learning_rate": 0.2, "n_estimators": 10}
    quick = replace(mine, params={**mine.params, "settings": settings, "tradeoff": 1.0})
    possible = [
        ndcg_at_k(fold.y_test, p, fold.query_test, 5, per_query=True)
        for p in measure.train(quick, fold).staged_predict(fold.X_test)
    ]
    at = any_bill[any_bill["fold"] == 3]
    assert any(np.allclose(at["step_0.2"], scores, rtol=1e-5) for scores in possible)
    cascades = rivals.cronus(mine, fold).values()
    assert any(
        np.allclose(at["cronus"], one["test"].scores, rtol=1e-5) and at["cronus_cost"].iloc[0] > 0
        for one in cascades
    )


def test_effects_of_divisions_by_hand():
    at = pd.DataFrame(
        {
            "panel": "c",
            "seed": [0, 0, 0, 1],
            "fold": [1, 1, 2, 1],
            "query": [1, 2, 3, 1],
            "budget": divisions.AS_GOOD,
            "greedy_miser_cost": [0.1, 0.1, 0.001, 1.0],
            "early_exit_features": [0.9, 0.9, 0.7, 0.4],
        }
    )
    np.testing.assert_allclose(saved_of_each(at, "c"), [2.0, 0.0])
    best = at.assign(
        budget=divisions.UNLIMITED, **{"step_0.1": 0.5, "step_0.2": [0.6, 0.4, 0.5, 0]}
    )
    each = step_of_each(best, "c", "step_0.2", "step_0.1")
    np.testing.assert_allclose(each, [[0.1, -0.1, 0.0], [-0.5, np.nan, np.nan]], atol=1e-12)


def test_exits_stand_after_every_round_and_bills_end_there():
    fold = next(folds(whole(), 0))
    mine = cell()
    model = measure.train(replace(mine, params={**mine.params, "tradeoff": 0.0}), fold)
    early = EarlyExit(model, rule="proximity", threshold=0.3, every=1)
    assert early.n_exits_ >= model.n_estimators_ - 1
    left = divisions._left(early, model, fold, "test")
    bill = early.forest_cost_until_exit(fold.X_test, fold.query_test, tree_cost=model.tree_cost)
    assert left.bill == pytest.approx(float(np.mean(bill)), rel=1e-12)
    score = early.ranking_score(fold.X_test, fold.query_test)
    expected = ndcg_at_k(fold.y_test, score, fold.query_test, 5, per_query=True)
    np.testing.assert_array_equal(left.scores, expected)
    assert left.bill < model.forest_cost()


def test_a_query_counts_once_however_many_divisions():
    rows = pd.DataFrame(
        {
            "panel": "c",
            "seed": [0, 0, 1, 1, 0],
            "budget": [0.1, 1.0, 0.1, 1.0, 0.1],
            "query": [1, 1, 1, 1, 2],
            "greedy_miser": [0.5, 0.7, 0.9, 0.9, 0.2],
            "early_exit": [0.4, 0.4, 0.5, np.nan, 0.1],
        }
    )
    each = lead_of_each(rows, "c", "greedy_miser", "early_exit")
    np.testing.assert_allclose(by_query(each), [0.3, 0.1])
    np.testing.assert_allclose(each, [[0.2, 0.1], [0.4, np.nan]])
    assert by_query(of_each(rows, rows["early_exit"] * np.nan)).size == 0
