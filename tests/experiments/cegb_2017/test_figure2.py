"""Figure 2 of CEGB: what is measured, how curves and their difference come about, the picture."""

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import datasets
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from algorithms.metrics import average_precision_at_k, ndcg_at_k
from experiments.cegb_2017 import extra_training_time, figure2, figure3
from experiments.cegb_2017.cells.measure import (
    make_estimator,
    speaking_queries,
    trace_and_describe,
    train,
)
from experiments.cegb_2017.cells.rivals import follow
from experiments.cegb_2017.show import design
from experiments.cells.divided_queries import folds
from experiments.curves import (
    PER_DECADE,
    advantage,
    budgets_between,
    choose,
    curves,
    scores_at_shared_budgets,
)
from experiments.evaluate import fibonacci_rounds
from experiments.looks import LOOKS
from experiments.publishing.check import compare
from experiments.publishing.output import read_expected, read_meta, read_published, rendered
from experiments.registry import discover, of_paper
from experiments.running.provenance import ROOT
from experiments.style import picture_bytes
from tests.experiments.drawn_as_published import check_drawn, published
from tests.experiments.small_sets import tiny, whole

# --- measuring --------------------------------------------------------------------------------


def test_checkpoints():
    assert fibonacci_rounds(0) == [0]
    assert fibonacci_rounds(1) == [1]
    assert fibonacci_rounds(8) == [1, 2, 3, 5, 8]
    assert fibonacci_rounds(100) == [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 100]


def cell_of(panel, method, priced=True):
    """The cell of a method's second λ at smoke scale, or of λ = 0."""
    at_zero, *rest = (
        cell
        for cell in figure2.make_cells("smoke", range(1))
        if cell.params["panel"] == panel and cell.algorithm == method
    )
    assert at_zero.params["tradeoff"] == 0
    return rest[0] if priced else at_zero


def with_settings(cell, tradeoff=None, **changes):
    params = {**cell.params, "settings": {**cell.params["settings"], **changes}}
    if tradeoff is not None:
        params["tradeoff"] = tradeoff
    return replace(cell, params=params)


@pytest.mark.parametrize("artefact", [figure2.ARTEFACT, figure3.ARTEFACT])
def test_check_tells_costs_of_test_rows_from_those_of_validation_rows(artefact):
    rows = read_expected(ROOT / "results" / "expected" / f"{artefact.id}.csv")
    for _, panel in rows.groupby("panel"):
        columns, problems = compare(artefact, panel, panel.assign(test_cost=panel["valid_cost"]))
        assert {c.column for c in columns if not c.passed} == {"test_cost"}
        assert not problems


def test_tradeoff_without_any_split_is_a_constant_at_no_cost():
    cell = with_settings(cell_of("a", "cegb"), goes_on=False)
    dear = replace(tiny(), feature_costs=1e6 * tiny().feature_costs)
    (row,) = trace_and_describe(cell, dear)
    assert row["rounds"] == 0
    assert row["test_cost"] == row["test_dear"] == row["mean_depth"] == 0.0


def test_all_queries_may_be_divided_anew():
    """A repetition is then a fold of its division, whatever the fixed parts are."""
    dataset = whole()
    cell = replace(with_settings(cell_of("a", "cegb"), divided=True), seed=7)
    fold = list(folds(dataset, 1))[2]
    assert follow(cell, dataset) == trace_and_describe(cell, fold)
    assert follow(cell, dataset) != follow(with_settings(cell, divided=False), dataset)


@pytest.mark.parametrize(
    ("metric", "by_hand"),
    [
        ("average_precision", partial(average_precision_at_k, k=5, relevant_from=3)),
        ("ndcg", partial(ndcg_at_k, k=5)),
    ],
)
def test_training_ends_when_validation_has_stopped_rising(metric, by_hand):
    """Kept are the rounds up to the best validation score; more were trained."""
    dataset = tiny()
    cell = with_settings(cell_of("a", "cegb"), n_estimators=40, patience=3, metric=metric)
    rows = trace_and_describe(cell, dataset)
    whole = make_estimator(cell, dataset).fit(dataset.X_train, dataset.y_train)
    scores = [
        by_hand(dataset.y_valid, p, dataset.query_valid)
        for p in whole.staged_predict(dataset.X_valid)
    ]
    best = [i for i in range(40) if scores[i] > max(scores[:i], default=-1)]
    ends = next((b for b, later in pairwise([*best, 99]) if later - b > 3), best[-1])
    assert rows[-1]["rounds"] == ends + 1
    assert {row["rounds_trained"] for row in rows} == {min(ends + 1 + 3, 40)}
    assert rows[-1]["valid_score"] == pytest.approx(scores[ends], rel=1e-5)


def test_a_metric_that_is_none_is_refused():
    with pytest.raises(ValueError, match="average_precision or ndcg, not 'precision'"):
        trace_and_describe(with_settings(cell_of("a", "cegb"), metric="precision"), tiny())


def test_what_is_said_of_a_model_by_hand():
    dataset, cell = tiny(), cell_of("a", "cegb", priced=False)
    row = trace_and_describe(cell, dataset)[-1]
    model = make_estimator(cell, dataset)
    model.set_params(n_estimators=row["rounds"]).fit(dataset.X_train, dataset.y_train)
    forest, X = model.trees_, dataset.X_test
    deepest, passed, dear = [], 0, np.zeros(len(X), dtype=bool)
    for t in range(forest.n_trees):
        deepest.append(forest.depth[forest.tree[t] : forest.tree[t + 1]].max())
        for i, x in enumerate(X):
            node = forest.tree[t]
            while forest.left[node] >= 0:
                dear[i] |= forest.feature[node] == 4  # the feature that costs 20
                node = forest.left[node] + (x[forest.feature[node]] > forest.threshold[node])
                passed += 1
    assert row["mean_depth"] == pytest.approx(np.mean(deepest), rel=1e-5)
    assert row["mean_path"] == pytest.approx(passed / len(X) / forest.n_trees, rel=1e-5)
    assert row["test_dear"] == pytest.approx(dear.mean(), rel=1e-5)
    by_hand = {q for q, y in zip(dataset.query_test, dataset.y_test, strict=True) if y >= 3}
    assert row["speaking_queries"] == len(by_hand) > 0
    assert speaking_queries(tiny("binary"), None) == 0


def test_settings_are_the_papers():
    """One λ means the same for all: the penalty of a feature for all training rows."""
    dataset = tiny()
    miser = make_estimator(cell_of("a", "cegb_as_miser"), dataset)
    assert (miser.growth, miser.max_depth, miser.max_leaves) == ("breadth_first", 4, 16)
    assert not miser.second_order
    assert miser.feature_costs is None
    np.testing.assert_array_equal(miser.model_feature_costs, 240 * dataset.feature_costs)
    shallow = make_estimator(cell_of("a", "cegb_shallow"), dataset)
    assert (shallow.growth, shallow.max_depth, shallow.max_leaves) == ("best_first", 4, 16)
    assert (shallow.split_cost, shallow.tradeoff) == (0.25, 1e-4)
    assert make_estimator(cell_of("b", "cegb"), dataset).split_cost == 0.0
    deep = make_estimator(cell_of("a", "cegb"), dataset)
    assert (deep.max_depth, deep.max_leaves) == (None, 64)


@pytest.mark.parametrize(("panel", "kind", "step", "tree_cost"), [
    ("d", GreedyMiserClassifier, 0.4, 0.0), ("a", GreedyMiserRegressor, 0.1, 1.0),
])  # fmt: skip
def test_the_rival_is_greedy_miser_itself(panel, kind, step, tree_cost):
    cell = cell_of(panel, "greedy_miser")
    dataset = datasets.load(cell.dataset, scale="smoke", seed=cell.seed)
    by_hand = kind(
        n_estimators=6,
        learning_rate=step,
        max_depth=4,
        min_samples_leaf=20,
        charging="authors",
        init="mean",
        tree_cost=tree_cost,
        tradeoff=cell.params["tradeoff"] * len(dataset.y_train),
        feature_costs=dataset.feature_costs,
        feature_groups=dataset.feature_groups,
    ).fit(dataset.X_train, dataset.y_train)
    trained = train(cell, dataset)
    np.testing.assert_array_equal(
        trained.predict(dataset.X_test),
        by_hand.first_rounds(trained.n_estimators_).predict(dataset.X_test),
    )


@pytest.mark.parametrize(
    "method", [m for m in figure2.BOOSTED if m not in ("gbrt", "greedy_miser")]
)
def test_every_method_goes_on_at_a_negative_gain(method):
    cell = cell_of("d", method)
    assert cell.params["settings"]["goes_on"]
    dataset = datasets.load(cell.dataset, scale="smoke", seed=cell.seed)
    n_splits = [
        (train(with_settings(cell, 0.3, goes_on=goes_on), dataset).trees_.feature >= 0).sum()
        for goes_on in (True, False)
    ]
    assert n_splits[0] > n_splits[1]


@pytest.mark.parametrize("scale", ["laptop", "overnight"])
def test_every_rival_has_as_many_models_as_the_method(scale):
    counted = pd.DataFrame(
        [
            (c.params["panel"], c.algorithm, c.seed)
            for c in figure2.make_cells(scale, range(5))
            if design.without_rivals(c)
        ]
    ).value_counts()
    for (panel, method, _), n in counted.items():
        thinned = scale == "laptop" or panel in ("a", "b", "e", "f")
        assert n == (1 if method == "gbrt" else 5 if thinned else 9)
    ratios = []
    for grid in design.TRADEOFFS.values():
        assert grid[0] == 0
        ratios += [b / a for a, b in pairwise(grid[1:])]
    assert max(ratios) <= 10 / 3 * (1 + 1e-9)


def test_no_other_artefact_of_the_paper_has_its_repetitions():
    others = {
        cell.seed
        for artefact in of_paper("cegb_2017")
        if artefact.id not in ("cegb-figure2", "cegb-figure3")
        for cell in artefact.cells("laptop")
    }
    for artefact in (figure2.ARTEFACT, figure3.ARTEFACT):
        for panel in figure2.PANELS:
            cells = artefact.cells("overnight")
            mine = {cell.seed for cell in cells if cell.params["panel"] == panel.key}
            assert not mine & others
            first = 20 if panel.key in ("c", "d") else 15
            if mine or artefact is figure2.ARTEFACT:
                assert mine == set(range(first, first + 5))


@pytest.mark.parametrize("scale", ["laptop", "overnight", "paper"])
def test_training_on_real_accuracy_goes_on_until_it_ends(scale):
    endings = {}
    for cell in filter(design.without_rivals, figure2.ARTEFACT.cells(scale)):
        settings = cell.params["settings"]
        ending = settings["n_estimators"], settings["patience"]
        endings.setdefault(cell.params["panel"], set()).add(ending)
    assert endings["c"] == endings["d"] == {(4000, 100)}
    thinned = {(2000, 100) if scale == "paper" else (60, 50)}
    assert all(endings[panel] == thinned for panel in design.THINNED)
    assert endings["m"] == {(2000, 100) if scale == "paper" else (300, 50)}


def test_cells_of_each_scale():
    smoke = {cell.dataset for cell in figure2.make_cells("smoke", range(2))}
    bundled = {r["name"] for r in datasets.status() if r["synthetic"] or r["source"] == "bundled"}
    assert smoke <= bundled  # nothing that would have to be reached
    for scale, n_seeds in (("laptop", 3), ("overnight", 5), ("paper", 5)):
        cells = figure2.ARTEFACT.cells(scale)
        assert {cell.dataset for cell in cells} == {panel.dataset for panel in figure2.PANELS}
        seeds = pd.DataFrame([(c.params["panel"], c.seed) for c in cells]).groupby(0)[1].nunique()
        assert set(seeds.drop(list(design.THINNED))) == {n_seeds}
        assert set(seeds[list(design.THINNED)]) == {1 if scale == "laptop" else n_seeds}


# --- curves -----------------------------------------------------------------------------------


def test_budget_grid_does_not_depend_on_the_results():
    np.testing.assert_allclose(budgets_between(1.0, 10.0), 10 ** (np.arange(13) / PER_DECADE))
    one, two = budgets_between(0.9, 50.0), budgets_between(3.3, 700.0)
    assert one[-1] >= 50.0
    assert two[0] >= 3.3
    common = np.intersect1d(one.round(9), two.round(9))
    assert len(common) == np.sum((one >= two[0] - 1e-9) & (one <= one[-1]))


def test_choice_by_validation_alone():
    pool = pd.DataFrame(
        {
            "valid_score": [0.5, 0.7, 0.7, 0.9, math.nan],
            "valid_cost": [1.0, 3.0, 2.0, 8.0, 0.5],
            "test_score": [0.9, 0.1, 0.2, 0.3, 0.4],
        }
    )
    chosen = choose(pool, np.array([0.1, 1.0, 2.5, 3.0, 7.9, 8.0]))
    assert chosen.tolist() == [-1, 0, 2, 2, 2, 3]


def made_rows(score_of, seeds=5, panel="c", dataset="miniboone"):
    """Rows of two methods at costs 1, 2, 4, 8; validation and test score are equal."""
    rows = [
        {
            "panel": panel,
            "dataset": dataset,
            "algorithm": method,
            "seed": seed,
            "tradeoff": 0.0,
            "rounds": rounds,
            **{f"{part}_score": score_of(method, seed, rounds) for part in ("valid", "test")},
            **{f"{part}_cost": float(2**rounds) for part in ("valid", "test")},
            **{f"{part}_cost_paper": 3.0 * 2**rounds for part in ("valid", "test")},
        }
        for method in figure2.SHOWN
        for seed in range(seeds)
        for rounds in range(1, 4)
    ]
    return pd.DataFrame(rows)


def lead_of(amount):
    def score(method, seed, rounds):
        priced = method in ("cegb", "cegb_shallow")
        lead = amount + 0.001 * seed if priced else 0.0
        return 0.5 + 0.1 * rounds + lead + 0.01 * seed

    return score


def test_advantage_is_the_lead_at_equal_budget():
    found = advantage(made_rows(lead_of(0.05)), "c", "cegb", "cegb_as_miser")
    np.testing.assert_allclose(found, 0.05 + 0.001 * np.arange(5))


def test_where_one_ends_before_the_other_begins_it_is_carried_forward():
    """Costs 2, 4, 8 against 2000, 4000, 8000: its last model against the other's first."""
    rows = made_rows(lead_of(0.05))
    dear = rows["algorithm"] == "cegb_as_miser"
    rows.loc[dear, ["valid_cost", "test_cost"]] *= 1000
    found = advantage(rows, "c", "cegb", "cegb_as_miser")
    np.testing.assert_allclose(found, 0.2 + 0.05 + 0.001 * np.arange(5))
    assert advantage(rows, "e", "cegb", "cegb_as_miser").size == 0


def test_a_method_shares_all_its_budgets_with_itself():
    """Though on no seed its costs are those of another: 2, 4, 8 times a thousand to the seed."""
    rows = made_rows(lead_of(0.05))
    rows["valid_cost"] *= 1000.0 ** rows["seed"]
    found = scores_at_shared_budgets(rows, "c", "cegb", "cegb")
    assert len(found) == 5
    for one, two in found:
        assert len(one) == len(budgets_between(2, 8))
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(advantage(rows, "c", "cegb", "cegb"), np.zeros(5))
    # One repetition's dear models say nothing of another's budgets.
    np.testing.assert_allclose(
        advantage(rows, "c", "cegb", "greedy_miser"), 0.05 + 0.001 * np.arange(5)
    )


def test_a_cost_that_rounding_sets_above_its_budget_is_within_it():
    rows = made_rows(lead_of(0.0), seeds=1)
    rows["valid_cost"] = rows["valid_cost"].replace({2.0: 10.0 * (1 + 1e-12), 4.0: 20.0, 8.0: 40.0})
    ((one, _),) = scores_at_shared_budgets(rows, "c", "cegb", "greedy_miser")
    assert one[0] == pytest.approx(0.6)


def test_advantage_counts_budgets_up_to_the_most_expensive_of_the_cheaper_method():
    """Costs 2, 4, 8 against 4, 8, 16: from budget 4 to 8, on a logarithmic grid."""

    def score(method, seed, rounds):
        return {1: 0.1, 2: 0.2, 3: 0.3}[rounds]

    rows = made_rows(score, seeds=1)
    dear = rows["algorithm"] == "cegb_as_miser"
    rows.loc[dear, ["valid_cost", "test_cost"]] *= 2
    grid = budgets_between(4.0, 8.0)
    cheap = np.where(grid < 8, 0.2, 0.3)
    other = np.where(grid < 8, 0.1, 0.2)
    found = advantage(rows, "c", "cegb", "cegb_as_miser")
    np.testing.assert_allclose(found, [(cheap - other).mean()])


def test_summary_is_mean_and_t_interval():
    from scipy import stats

    curve = curves(made_rows(lead_of(0.05)), "c", "cegb")
    cost, score, low, high = curve.summary()
    np.testing.assert_allclose(cost, [2, 4, 8])
    at_two = 0.65 + 0.011 * np.arange(5)
    wanted = stats.ttest_1samp(at_two, 0).confidence_interval(0.95)
    assert score[0] == pytest.approx(at_two.mean())
    np.testing.assert_allclose([low[0], high[0]], [wanted.low, wanted.high])
    paper = curves(made_rows(lead_of(0.05)), "c", "cegb_as_miser", "_paper")
    np.testing.assert_allclose(paper.summary()[0], [6, 12, 24])


def test_where_a_curve_has_a_gap():
    """Models cost 2, 4, 8: no gap; on one seed 2, 4, 10, and on the other without 4: two."""
    rows = made_rows(lead_of(0.05), seeds=2)
    assert curves(rows, "c", "cegb").gaps().tolist() == [False, False]
    dear = (rows["seed"] == rows["seed"].min()) & (rows["rounds"] == 3)
    rows.loc[dear, "valid_cost"] = 10.0
    curve = curves(rows, "c", "cegb")
    costs = [2, 4, 6, 8]  # the other seed buys what costs 8 first
    np.testing.assert_allclose(curve.summary()[0], costs)
    assert curve.gaps().tolist() == [False, False, True]
    rows = rows[(rows["rounds"] != 2) | (rows["seed"] == rows["seed"].min())]
    assert curves(rows, "c", "cegb").gaps().tolist() == [False, True, True]
    rows.loc[rows["rounds"] == 3, "test_cost"] = 99.0  # in the mean more than twice as much
    rows.loc[rows["rounds"] == 3, "valid_cost"] = 7.9
    assert curves(rows, "c", "cegb").gaps().tolist() == [False, True]


def test_published_rows_are_enough_for_every_curve():
    """What `select` leaves out no budget can choose: curves and leads stay bit for bit."""
    rng = np.random.default_rng(3)
    noise = {}

    def score(method, seed, rounds):
        return noise.setdefault((method, seed, rounds), round(rng.normal(), 1))

    whole = made_rows(score)
    dearer = whole.assign(tradeoff=1.0, valid_cost=whole["valid_cost"] * 1.5)
    whole = pd.concat([whole, dearer], ignore_index=True)
    whole = whole.assign(test_dear=0.5, mean_depth=3.0, mean_path=2.0)
    fewer = figure2.selectable(whole)
    assert len(fewer) < len(whole)
    assert "test_dear" not in fewer
    for accounting in ("", "_paper"):
        for method in figure2.SHOWN:
            one, two = (curves(rows, "c", method, accounting) for rows in (whole, fewer))
            for name in ("budgets", "score", "cost"):
                np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(
        *(advantage(rows, "c", "cegb", "greedy_miser") for rows in (whole, fewer))
    )


# --- pictures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("artefact", published(of_paper("cegb_2017")))
def test_what_is_drawn_can_be_read_and_synthetic_data_are_named(artefact):
    _, words = check_drawn(artefact, stamped=artefact is not extra_training_time.ARTEFACT)
    if artefact is figure2.ARTEFACT:
        for record in read_meta(ROOT / "results" / artefact.id)["data"].values():
            sizes = "/".join(f"{record['rows'][part]:,}" for part in ("train", "valid", "test"))
            assert f"{sizes} train/valid/test" in words
            assert f"[{record['cost_unit']}]" in words
        assert {"CEGB, deep", "Greedy Miser", "GBRT, no costs"} <= set(words.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("artefact", published(discover()))
def test_pictures_of_all_papers_are_the_same_bytes_each_time(artefact):
    rows, meta = read_published(ROOT / "results" / artefact.id)
    one, other = (rendered(artefact, rows, meta) for _ in range(2))
    if isinstance(one, str):
        assert one == other
        return
    for kind in ("svg", "png"):
        first, second = (picture_bytes(each, kind, artefact.id) for each in (one, other))
        assert first == second
        assert b"<dc:date>" not in first


def test_looks_are_told_apart_in_grey():
    looks = list(LOOKS.values())
    assert len({(look.marker, str(look.line)) for look in looks}) == len(looks)
    assert len({look.colour for look in looks}) == len(looks)


@pytest.mark.parametrize("method", figure2.BOOSTED)
def test_trace_agrees_with_models_of_fewer_rounds(method):
    """Each row is what a model trained with so many rounds scores and costs."""
    dataset, cell = tiny(), cell_of("a", method, priced=False)
    for row in trace_and_describe(cell, dataset):
        model = make_estimator(cell, dataset)
        model.set_params(n_estimators=row["rounds"]).fit(dataset.X_train, dataset.y_train)
        for part in ("valid", "test"):
            X, y, query = (getattr(dataset, f"{name}_{part}") for name in ("X", "y", "query"))
            score = average_precision_at_k(y, model.predict(X), query, 5, relevant_from=3)
            assert row[f"{part}_score"] == pytest.approx(score, rel=1e-5)
            # By hand: the prices of acquired features, and a quarter for every node passed.
            by_hand = model.acquired_features(X) @ dataset.feature_costs
            by_hand = by_hand + 0.25 * model.evaluations(X)
            assert row[f"{part}_cost"] == pytest.approx(by_hand.mean(), rel=1e-5)
            paper = by_hand.mean()
            if method in ("cegb_as_miser", "greedy_miser"):
                paper = model.model_features() @ dataset.feature_costs + row["rounds"]
            assert row[f"{part}_cost_paper"] == pytest.approx(paper, rel=1e-5)


def test_binarised_targets_and_classes():
    dataset, cell = tiny(), cell_of("b", "gbrt", priced=False)
    row = trace_and_describe(cell, dataset)[-1]
    model = make_estimator(cell, dataset).fit(dataset.X_train, dataset.y_train > 0)
    model = model.first_rounds(row["rounds"])  # until validation stops rising
    scores = model.predict(dataset.X_test)
    wanted = average_precision_at_k(dataset.y_test, scores, dataset.query_test, 5)
    assert row["test_score"] == pytest.approx(wanted, rel=1e-5)
    binary, cell = tiny("binary"), cell_of("c", "cegb", priced=False)
    row = trace_and_describe(cell, binary)[-1]
    model = make_estimator(cell, binary).fit(binary.X_train, binary.y_train)
    model = model.first_rounds(row["rounds"])
    assert row["test_score"] == pytest.approx(model.score(binary.X_test, binary.y_test), rel=1e-5)
