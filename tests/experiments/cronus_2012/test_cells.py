"""What the cells of Cronus measure, computed another way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from algorithms.and_or_cascade import AndOrCascadeClassifier
from algorithms.early_exit import EarlyExit
from algorithms.gbrt import GBRTRegressor
from algorithms.metrics import precision_at_k
from algorithms.raykar_cascade import RaykarCascadeClassifier
from experiments import evaluate
from experiments.cell import Cell
from experiments.cronus_2012.cells import cascades, cuts, quality, rivals, task
from experiments.cronus_2012.cells.measure import run_cell
from experiments.cronus_2012.show.comparison import as_trained
from experiments.cronus_2012.show.panels import PANELS, make_cell
from tests.experiments.small_sets import tiny

PANEL = replace(next(p for p in PANELS if p.key == "b"), limits=(2, 20))
PRICES = tiny(n=12).feature_costs


@pytest.fixture(scope="module")
def dataset():
    return tiny(n=144)


def cell_of(family, **changed):
    return make_cell("smoke", PANEL, family, 0, **changed)


@pytest.fixture(scope="module")
def cronus(dataset):
    return pd.DataFrame(run_cell(cell_of("cronus", steps=[0, 4, 12]), dataset))


def copied(part):
    """Copy each negative ten times, row by row."""
    rows = [i for i, sign in enumerate(part.signs) for _ in range(1 if sign > 0 else 10)]
    return np.array(rows)


# --- the task -------------------------------------------------------------------------------------


def test_score_is_that_of_copied_rows_and_means_count_copies(dataset):
    part = task.part_of(cell_of("cronus"), dataset, "test")
    assert set(part.copies[part.signs < 0]) == {10.0}
    np.testing.assert_array_equal(part.signs > 0, dataset.y_test >= 3)
    values = dataset.X_test[:, 0]
    rows = copied(part)
    relevant = (dataset.y_test >= 3).astype(float)
    expected = precision_at_k(relevant[rows], values[rows], dataset.query_test[rows], 5)
    assert part.score(values) == pytest.approx(expected)
    # By hand: a query's positives before its best negative, at most five, of five places.
    shares = []
    for q in np.unique(dataset.query_test):
        mine = dataset.query_test == q
        positive = mine & (relevant > 0)
        if positive.any():
            best_negative = values[mine & ~positive].max()
            shares.append(min(5, np.count_nonzero(values[positive] > best_negative)) / 5)
    assert part.score(values) == pytest.approx(np.mean(shares))
    assert part.mean(values) == pytest.approx(values[rows].mean())


def test_without_queries_the_score_is_average_precision():
    signs, values = np.array([1.0, -1, 1, -1]), np.array([4.0, 3, 2, 1])
    part = task.Part(np.zeros((4, 1)), signs, np.ones(4), None)
    assert part.score(values) == pytest.approx((1 + 2 / 3) / 2)


# --- boosting and early exits ---------------------------------------------------------------------


def test_boosting_rows_agree_with_models_of_fewer_trees(dataset):
    rows = [r for r in run_cell(cell_of("cronus"), dataset) if r["method"] == "gbrt"]
    assert [row["rounds"] for row in rows] == evaluate.rounds_by_tens(20) == [1, 2, 3, 5, 10, 20]
    train, test = (task.part_of(cell_of("cronus"), dataset, p) for p in ("train", "test"))
    at = copied(train)
    for row in rows[1::3]:
        model = GBRTRegressor(n_estimators=row["rounds"], max_leaves=None, max_depth=4,
                              growth="breadth_first", feature_costs=PRICES)  # fmt: skip
        model.fit(train.X[at], train.signs[at])  # copies, not weights
        assert row["test_score"] == pytest.approx(test.score(model.predict(test.X)), rel=1e-5)
        used = np.unique(model.trees_.feature[model.trees_.feature >= 0])
        bill = PRICES[used].sum() + row["rounds"]
        assert row["test_cost_paper"] == row["valid_cost_paper"] == pytest.approx(bill)
        paid = np.asarray(model.acquired_features(test.X)) @ PRICES + row["rounds"]
        assert row["test_cost"] == pytest.approx(paid[copied(test)].mean(), rel=1e-5)
        assert row["n_features"] == len(used)


def test_copies_are_documents_that_exits_look_at(dataset):
    grid = {"proximity": [0.5], "rank": [20.0], "capacity": [0.5], "score": [0.0]}
    cell = cell_of("cronus", exits=grid, every=5)
    rows = {
        r["method"]: r
        for r in run_cell(cell, dataset)
        if "exit" in r["method"] and r["rounds"] == 20
    }
    model = task.boosted(cell, dataset)
    test = task.part_of(cell, dataset, "test")
    at = copied(test)
    deviation = np.std(model.predict(dataset.X_train))
    for rule, s in (("proximity", 0.5 * deviation), ("rank", 20.0), ("capacity", 0.5)):
        early = EarlyExit(model, rule=rule, threshold=s, every=5)
        X, query = test.X[at], test.query[at]
        ranked = early.ranking_score(X, query)
        relevant = (test.signs[at] > 0).astype(float)
        row = rows[f"early_exit_{rule}"]
        score = precision_at_k(relevant, ranked, query, 5)
        assert row["test_score"] == pytest.approx(score, rel=1e-5)
        bill = early.forest_cost_until_exit(X, query, tree_cost=1.0).mean()
        assert row["test_cost_paper"] == pytest.approx(bill, rel=1e-5)
        metered = early.prediction_cost(X, query, tree_cost=1.0).mean()
        assert row["test_cost"] == pytest.approx(metered, rel=1e-5)


# --- Cronus ---------------------------------------------------------------------------------------


def refit(dataset, row, **changed):
    trainer = cascades.Trainer(cell_of("cronus"), dataset, task.boosted(cell_of("cronus"), dataset))
    chosen = {name: row[name] for name in cascades_chosen()}
    return trainer.fit(row["tradeoff"], chosen, **changed)


def cascades_chosen():
    return ("penalty", "last_penalty", "decay", "positive_weight", "quantile")


def test_paths_begin_where_cascades_are_empty(cronus):
    whole = as_trained(cronus[cronus["stage"] == 0])
    for method in ("single_stage", "plain_l1", "cronus_initial", "cronus"):
        mine = whole[whole["method"] == method]
        assert len(mine) == 3
        if method != "plain_l1":
            assert mine["tradeoff"].is_monotonic_decreasing
        if method != "cronus":
            assert mine["n_trees"].iloc[0] == 0
        assert mine["n_trees"].iloc[-1] > 0
    ratios = whole.loc[whole["method"] == "cronus", "tradeoff"].to_numpy()
    np.testing.assert_allclose(ratios[0] / ratios, 1.3 ** np.array([0, 4, 12]), rtol=1e-5)


def test_rows_are_those_of_a_cascade_trained_as_they_say(cronus, dataset):
    test = task.part_of(cell_of("cronus"), dataset, "test")
    for method, changed in (("single_stage", {"n_stages": 1}), ("cronus_initial", {})):
        mine = as_trained(cronus[(cronus["method"] == method) & (cronus["stage"] == 0)])
        row = mine.iloc[-1]
        model = refit(dataset, row, max_cycles=0, **changed)
        ranked = model.ranking_score(test.X, test.query)
        assert row["test_score"] == pytest.approx(test.score(ranked), rel=1e-5)
        assert row["tied_score"] == pytest.approx(test.score(model.decision_function(test.X)))
        bill = model.forest_cost_until_exit(test.X)[copied(test)].mean()
        assert row["test_cost_paper"] == pytest.approx(bill, rel=1e-5)
        assert row["test_cost"] <= row["test_cost_paper"] * (1 + 1e-5)


def test_optimisation_never_ends_above_the_initialisation(cronus):
    whole = cronus[(cronus["stage"] == 0) & cronus["method"].str.startswith("cronus")]
    both = as_trained(whole).pivot(index="tradeoff", columns="method", values="objective")
    assert len(both) == 3
    assert (both["cronus"] <= both["cronus_initial"]).all()


def test_stages_by_hand(cronus, dataset):
    test = task.part_of(cell_of("cronus"), dataset, "test")
    mine = cronus[(cronus["method"] == "cronus_initial") & (cronus["stage"] > 0)]
    mine = mine[mine["tradeoff"] == mine["tradeoff"].min()]
    model = refit(dataset, mine.iloc[0], max_cycles=0)
    forest, at = model.estimator_.trees_, copied(test)
    exits, reach, bought = model.exit_stage(test.X), np.ones(len(test.X)), set()
    for k in range(1, len(model.intercept_) + 1):
        used = np.flatnonzero(model.coef_[k - 1])
        for t in used:
            nodes = forest.feature[forest.tree[t] : forest.tree[t + 1]]
            bought |= set(nodes[nodes >= 0].tolist())
        (row,) = mine[(mine["stage"] == k) & (mine["price"] < 0)].to_dict("records")
        assert row["hard"] == pytest.approx((exits >= k)[at].mean(), abs=1e-5)
        assert row["soft"] == pytest.approx(reach[at].mean(), abs=1e-5)
        assert (row["n_trees"], row["n_features"]) == (len(used), len(bought))
        by_price = mine[(mine["stage"] == k) & (mine["price"] >= 0)].set_index("price")
        assert by_price["n_listed"].tolist() == [1] * 5
        assert set(by_price.index[by_price["n_features"] > 0]) == {PRICES[m] for m in bought}
        if k < len(model.intercept_):
            score = np.full(len(test.X), model.intercept_[k - 1])
            for t in used:
                first = forest.tree[t]
                for i, x in enumerate(test.X):
                    node = first
                    while forest.left[node] >= 0:
                        goes_left = x[forest.feature[node]] <= forest.threshold[node]
                        node = forest.left[node] + (0 if goes_left else 1)
                    score[i] += model.coef_[k - 1, t] * forest.value[node]
            reach = reach * expit(50.0 * (score - model.thresholds_[k - 1]))


def test_quality_by_hand():
    budgets = 1000.0 * 10.0 ** (np.arange(-36, 1) / 12)
    expected = np.mean([0.5 if b >= 100 else 0.2 if b >= 10 else 0.0 for b in budgets])
    models = [(9.9, 0.2), (99.0, 0.5), (500.0, 0.4)]
    assert quality.quality(models, 1000.0) == pytest.approx(expected)


def test_hyper_parameters_are_chosen_group_by_group(monkeypatch):
    worth = {"a": {1: 0.1, 2: 0.3}, "b": {1: 0.2, 2: 0.1}}
    asked = []

    class Trainer:
        def empty_from(self, setting):
            return 0

        def fit(self, tradeoff, setting, **changed):
            asked.append(tuple(setting.values()))
            return sum(worth[name][value] for name, value in setting.items())

    monkeypatch.setattr(cascades, "_all_there_is", lambda trainer: 1.0)
    monkeypatch.setattr(cascades, "score_and_bill", lambda model, part: (model, 1e-9))
    grid = {
        "start": {"a": 1, "b": 1},
        "groups": [["a"], ["b"]],
        "values": {"a": [1, 2], "b": [1, 2]},
    }
    assert cascades.choose(Trainer(), None, grid, [3]) == {"a": 2, "b": 1}
    assert asked == [(1, 1), (2, 1), (2, 2)]  # none twice


# --- rivals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "kind"),
    [("raykar_cascade", RaykarCascadeClassifier), ("and_or_cascade", AndOrCascadeClassifier)],
)
def test_rivals_are_the_estimators_themselves(family, kind, dataset):
    cell = cell_of(family, sizes=[3], positive_weights=[3.5], rejections=[-1.0])
    row = next(r for r in run_cell(cell, dataset) if r["method"] == family)
    train, test = (task.part_of(cell, dataset, part) for part in ("train", "test"))
    trees = GBRTRegressor(n_estimators=3, max_leaves=None, max_depth=4, growth="breadth_first",
                          feature_costs=PRICES)  # fmt: skip
    _, options = next(rivals.settings_of(family, cell.params, 3.5))
    model = kind(trees, price_limits=[2, 20], **options)
    model.fit(train.X, train.signs > 0, sample_weight=train.copies)
    ranked = model.ranking_score(test.X, test.query)
    assert row["test_score"] == pytest.approx(test.score(ranked), rel=1e-5)
    bill = model.forest_cost_until_exit(test.X)[copied(test)].mean()
    assert row["test_cost_paper"] == pytest.approx(bill, rel=1e-5)
    assert row["objective"] == pytest.approx(model.objective_, rel=1e-5)


def test_pools_hold_no_dearer_feature(dataset):
    cell = cell_of("raykar_cascade", sizes=[3])
    pools = rivals.pools_of(cell, dataset)
    for model, limit in zip(pools.fitted, (2, 20), strict=True):
        used = np.unique(model.trees_.feature[model.trees_.feature >= 0])
        assert PRICES[used].max() <= limit
    first = pools.first_trees(2)
    assert first.stages.tolist() == [0, 0, 1, 1]
    assert first.responses.forest.n_trees == 4


def test_cuts_reject_a_share_of_the_inputs_that_are_there():
    scores = np.array([[0.0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [0, 0, 0, 0, 0]])
    copies = np.array([1.0, 1, 1, 1, 6])
    first, second = cuts.cuts(scores, copies, 0.25)
    assert first == 2.0  # two of ten inputs are below
    # There are rows 2, 3, 4 with 8 inputs; the worst, row 4, has 6 of them: nothing goes.
    assert second == 0.0
    assert cuts.cuts(scores, copies, 0.0).tolist() == [0.0, 0.0]
    tied = np.array([[1.0, 1, 1, 2, 2], [0, 0, 0, 0, 0]])
    assert cuts.cuts(tied, np.ones(5), 0.5).tolist() == [1.0]


def test_what_rows_pay_until_stages_holds_for_all_thresholds(dataset):
    """Looked up where each row leaves, it is what the estimator itself charges there."""
    cell = cell_of("raykar_cascade")
    train, test = (task.part_of(cell, dataset, name) for name in ("train", "test"))
    pools = rivals.pools_of(cell, dataset)
    model = RaykarCascadeClassifier(
        pools, price_limits=cell.params["limits"], tree_cost=1.0, **evaluate.prices_of(dataset)
    ).fit(train.X, train.signs > 0, sample_weight=train.copies)
    until, before = cascades.costs_until(model, test), model.thresholds_
    np.testing.assert_array_equal(model.thresholds_, before)
    fitted = model._responses_, model.coef_, model.intercept_
    scores, left = cuts.stage_scores(model, train.X), set()
    for share in (0.0, 0.3, 0.9):
        model._set_up(*fitted, cuts.cuts(scores, train.copies, share))
        stage = model.exit_stage(test.X)
        left |= set(stage)
        charged = model.prediction_cost(test.X)
        np.testing.assert_array_equal(until[stage - 1, np.arange(len(stage))], charged)
        told = cascades.measured(model, pools.responses.forest, {"valid": test, "test": test})
        assert told["test_cost"] == test.mean(charged)
    assert left == {1, 2}


def test_rejecting_more_costs_less(dataset):
    cell = cell_of("and_or_cascade", sizes=[3], rejections=[0.0, 0.3, 0.7])
    rows = [r for r in run_cell(cell, dataset) if r["method"] == "and_or_cascade"]
    costs = [row["test_cost_paper"] for row in rows]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]


def test_cronus_is_measured_with_the_same_cuts_as_its_rivals(dataset):
    """Each cut by hand: at every stage the share of the training inputs that are there."""
    cell = cell_of("cronus", steps=[12], rejections=[-1.0, 0.5])
    whole = pd.DataFrame(run_cell(cell, dataset))
    mine = whole[(whole["method"] == "cronus") & (whole["stage"] == 0)]
    assert mine["setting"].tolist() == [0, 1]
    trainer = cascades.Trainer(cell, dataset, task.boosted(cell, dataset))
    ((_, model, _),) = cascades.cascade_path(trainer, mine.iloc[0])
    train, test = (task.part_of(cell, dataset, name) for name in ("train", "test"))
    own, cut = cuts.cut_anew(model, train, [-1.0, 0.5])
    np.testing.assert_array_equal(own.thresholds_, model.thresholds_)
    stage, copies = cut.exit_stage(train.X), train.copies
    for k in range(1, len(cut.intercept_)):
        there = copies[stage >= k].sum()
        assert copies[stage == k].sum() <= 0.5 * there
    assert (stage < len(cut.intercept_)).any()
    for row, one in zip(mine.to_dict("records"), (own, cut), strict=True):
        ranked = one.ranking_score(test.X, test.query)
        assert row["test_score"] == pytest.approx(test.score(ranked), rel=1e-5)


def test_training_copies_can_be_left_out(dataset):
    with_copies, without = (
        task.training_weights(
            Cell("t", "x", {"train_copies": c}), task.part_of(cell_of("cronus"), dataset, "train")
        )
        for c in (True, False)
    )
    assert set(with_copies) == {1.0, 10.0}
    assert set(without) == {1.0}


def detection():
    """Rows without queries, features in two groups with prices in milliseconds."""
    ranked = tiny(n=144)
    parts = {f"y_{p}": (getattr(ranked, f"y_{p}") >= 3).astype(np.int64) for p in PARTS}
    return replace(
        ranked,
        task="binary",
        **parts,
        **{f"query_{p}": None for p in PARTS},
        feature_costs=PRICES / 1000,
        feature_groups=np.array([0, 0, 1, 1, 1]),
        group_costs={0: 0.002, 1: 0.01},
    )


PARTS = ("train", "valid", "test")
DETECTION = replace(
    PANEL, key="z", relevant_from=1, times=1, limits=(0.01, 0.04), tree_cost=0.001, ranking=False
)


@pytest.mark.parametrize("family", ["cronus", "raykar_cascade", "and_or_cascade"])
def test_a_panel_of_detection_is_one_record(family):
    """Average precision, groups, milliseconds: nothing but the panel's record differs."""
    dataset = detection()
    cell = make_cell("smoke", DETECTION, family, 0)
    rows = pd.DataFrame(run_cell(cell, dataset))
    whole = rows[rows["stage"] == 0]
    assert (whole["panel"] == "z").all()
    assert whole["test_score"].between(0, 1).all()
    everything = PRICES.sum() / 1000 + 0.012 + 0.001 * 24
    assert whole["test_cost_paper"].max() <= everything * (1 + 1e-6)
    assert whole["test_cost_paper"].max() > 0.012  # a group is paid for
    assert not whole["method"].isin(["early_exit_rank", "early_exit_proximity"]).any()
    if family == "cronus":
        last = whole[(whole["method"] == "gbrt") & (whole["rounds"] == 20)].iloc[0]
        model = task.boosted(cell, dataset)
        order = np.lexsort((dataset.y_test, -model.predict(dataset.X_test)))  # ties: worst first
        hits = dataset.y_test[order] > 0
        expected = (np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean()
        assert last["test_score"] == pytest.approx(expected, rel=1e-5)
