"""BudgetPrune: twins, the paper's linear programme by HiGHS, bills, files, bad input."""

from __future__ import annotations

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from algorithms.budget_forest import BudgetForestClassifier
from algorithms.budget_prune import BudgetPruneClassifier
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.forests.first_uses import Marks, first_uses
from algorithms.forests.hull import price_exponent
from reference import budget_forest
from reference import budget_prune as reference
from tests.test_budget_forest import GROWING, PRICES, assert_same_trees, draw

ERRORS = ("in_bag", "out_of_bag", "validation")


def validation_rows(X, n_classes: int, seed: int):
    """Rows like those of training, and others."""
    rng = np.random.default_rng(seed + 1000)
    Z = X[rng.integers(0, len(X), 25)] + rng.choice([0.0, 0.4]) * rng.normal(size=(25, X.shape[1]))
    return Z, rng.integers(0, n_classes, 25)


def fit_twins(seed: int, *, validated: bool = True, **options):
    """Both twins on a drawn table; and the rows that are billed."""
    X, y, weights, parameters = draw(seed)
    growing = {name: parameters[name] for name in GROWING if name in parameters}
    prices = {name: parameters[name] for name in PRICES if name in parameters}
    model = BudgetPruneClassifier(BudgetForestClassifier(**parameters), **options)
    kept = np.ones(len(y), dtype=np.int64) if weights is None else weights
    classes, encoded = np.unique(y[kept > 0], return_inverse=True)
    V, labels = validation_rows(X, len(classes), seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        given = {"eval_set": (V, classes[labels])} if validated else {}
        model.fit(X, y, sample_weight=weights, **given)
    forest = budget_forest.fit(X[kept > 0], encoded, sample_weight=kept[kept > 0], **growing)
    billed = (V, None, labels) if validated else (X[kept > 0], kept[kept > 0], encoded)
    return model, reference.fit(forest, *billed, **prices, **options), forest, billed


def assert_same_hull(model, task, points):
    hull = model._hull
    assert (hull.n_judged, hull.weight, hull.exponent) == (
        task.n_judged,
        task.weight,
        task.exponent,
    )
    assert hull.errors.tolist() == [point.errors for point in points]
    assert hull.cost.tolist() == [point.cost for point in points]
    for i, point in enumerate(points):
        assert point.kept == frozenset(np.flatnonzero(hull.entry <= i).tolist())
    assert hull.tradeoffs() == reference.tradeoffs(task, points)


def judged(errors, seed):
    """All kinds of errors, but for those of rows that no tree leaves out."""
    return "in_bag" if errors == "out_of_bag" and not draw(seed)[3]["bootstrap"] else errors


# --- twins -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_twins(seed):
    rng = np.random.default_rng(seed)
    options = {
        "errors": judged(ERRORS[seed % 3], seed),
        "tradeoff": float(rng.choice([0.0, 1e-3, 0.05, math.inf])),
        "budget": None if seed % 2 else float(rng.random()),
    }
    if options["errors"] == "out_of_bag" and len(draw(seed)[0]) < 4:
        options["errors"] = "in_bag"  # perhaps no row is left out
    model, (task, points, place, pruned), _, (V, weights, _) = fit_twins(
        seed, validated=bool(seed % 5), **options
    )
    assert_same_hull(model, task, points)
    assert model.point_ == place
    assert_same_trees(model, pruned)
    np.testing.assert_array_equal(
        model.predict(V), model.classes_[budget_forest.predict(pruned, V)]
    )
    weights = np.ones(len(V)) if weights is None else weights
    bill = np.average(model.prediction_cost(V), weights=weights)
    assert math.isclose(model.curve_.cost[place], bill, rel_tol=1e-9)
    assert model.curve_.cost[place] >= bill * (1 - 1e-15)
    assert options["budget"] is None or bill <= options["budget"]


@pytest.mark.parametrize("validated", [True, False])
def test_of_many_rows_the_same_ones_are_drawn(validated):
    with pytest.warns(UserWarning, match=r"12 of \d+ rows are billed, drawn at random"):
        model, (task, points, _, _), _, (V, weights, _) = fit_twins(
            8, validated=validated, max_billed_rows=12
        )
    assert model.n_billed_ == 12
    assert_same_hull(model, task, points)
    rows = np.sort(np.random.default_rng(0).permutation(len(V))[:12])
    of_rows = None if weights is None else weights[rows]
    bill = np.average(model.prediction_cost(V[rows]), weights=of_rows)
    assert math.isclose(model.curve_.cost[model.point_], bill, rel_tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit_twins(8, validated=validated)[0].n_billed_ == len(V)


def test_a_pruning_by_hand():
    """One tree: a root on feature 0 (price 1) that saves 2 of 4 errors, a child on feature 1 (4).

    Rows: 8 of class 0 to the left; to the right two each of 0 and 1, which feature 1 parts.
    """
    X = np.array([[0.0, 0.0]] * 8 + [[1.0, 0.0]] * 2 + [[1.0, 1.0]] * 6)
    y = np.array([0] * 8 + [0] * 2 + [1] * 6)
    forest = BudgetForestClassifier(n_estimators=1, bootstrap=False, feature_costs=[1.0, 4.0])
    model = BudgetPruneClassifier(forest).fit(X, y)
    twin = budget_forest.fit(X, y, n_estimators=1, bootstrap=False, feature_costs=[1.0, 4.0])
    task, points, _, _ = reference.fit(twin, X, feature_costs=[1.0, 4.0])
    assert_same_hull(model, task, points)
    assert [each["feature"] for each in twin.trace] == [0, 1]
    assert model.curve_.error.tolist() == [6 / 16, 2 / 16, 0.0]
    assert model.curve_.cost.tolist() == [0.0, 1.0, 1.0 + 4.0 * 8 / 16]  # half the rows pay 4
    assert model.curve_.tradeoff.tolist() == [4 / 16, 2 / 16 / 2.0, 0.0]
    assert model.curve_.n_splits.tolist() == [0, 1, 2]
    below = [np.nextafter(cost, 0.0) for cost in (1.0, 3.0)]
    for budget, point in ((0.0, 0), (below[0], 0), (1.0, 1), (below[1], 1), (3.0, 2)):
        assert model.pruned(tradeoff=0.0, budget=budget).point_ == point  # exactly it is within
        assert reference.chosen(task, points, budget=budget) == point


# --- independent: exhaustive, and the paper's linear programme -------------------------------


def closed_sets(task):
    """All sets of splits that hold the parents of their members."""
    n = len(task.gain)
    for bits in itertools.product([False, True], repeat=n):
        kept = {j for j in range(n) if bits[j]}
        if all(task.parent[j] < 0 or task.parent[j] in kept for j in kept):
            yield frozenset(kept)


@pytest.mark.parametrize("seed", [3, 5, 8, 11, 17, 22])
def test_the_hull_is_that_of_all_prunings(seed):
    model, (task, points, _, _), _, _ = fit_twins(seed, errors=judged(ERRORS[seed % 3], seed))
    if len(task.gain) > 14:
        task = reference.Programme(**vars(task) | shortened(task, 14))
        points = reference.hull(task)
    every = [reference.point_of(task, kept) for kept in closed_sets(task)]
    lambdas = [*reference.tradeoffs(task, points), Fraction(1, 7), Fraction(10**9)]
    for least in lambdas:
        price = least / reference.mean_cost(task, 1) ** -1 * task.n_judged  # of a step, in errors
        best = min(point.errors + price * point.cost for point in every)
        optimal = [p.kept for p in every if p.errors + price * p.cost == best]
        place = next(
            i for i, bound in enumerate(reference.tradeoffs(task, points)) if least >= bound
        )
        assert points[place].kept == frozenset.intersection(*optimal)
    assert model.curve_.cost[0] == 0.0


def shortened(task, n):
    """The first splits of a programme."""
    purchases = [
        reference.Purchase(tuple(j for j in each.splits if j < n), each.price, each.weight)
        for each in task.purchases
    ]
    return {
        "gain": task.gain[:n],
        "price": task.price[:n],
        "parent": task.parent[:n],
        "purchases": [each for each in purchases if each.splits],
    }


def paper_programme(forest, X, costs, n_judged, tradeoff):
    """Minimise Σ ê_h z_h / (T N) + λ Σ c_k w_ki / n over z, w^t and w: the paper's own variables.

    Returns the objective, the matrices of equations and of inequalities, and the equations' right.
    """
    objective, equations, right, bounds = [], [], [], []

    def variable(price):
        objective.append(price)
        return len(objective) - 1

    paid = {}
    for tree in forest.trees:
        wrong = reference.errors_of(tree, tree.counts)
        z = [variable(error / n_judged) for error in wrong]
        for leaf in np.flatnonzero(tree.left < 0):
            equations.append([z[h] for h in path_to(tree, leaf)])
            right.append(1.0)
        for i, x in enumerate(X):
            path = budget_forest.nodes_of(tree, x)
            for k in {int(tree.feature[h]) for h in path[:-1]}:
                first = next(p for p, h in enumerate(path) if tree.feature[h] == k)
                own = variable(0.0)  # w^t_ki
                equations.append([own, *(z[h] for h in path[: first + 1])])
                right.append(1.0)
                if (k, i) not in paid:
                    paid[k, i] = variable(tradeoff * costs[k] / len(X))  # w_ki
                bounds.append([own, paid[k, i]])
    n = len(objective)
    entries = [(row, column) for row, columns in enumerate(equations) for column in columns]
    equal = csr_matrix((np.ones(len(entries)), np.array(entries).T), (len(equations), n))
    rows = np.repeat(np.arange(len(bounds)), 2)
    below = csr_matrix(
        (np.tile([1.0, -1.0], len(bounds)), (rows, np.ravel(bounds).astype(int))), (len(bounds), n)
    )
    return np.array(objective), equal, np.array(right), below


def path_to(tree, node):
    """Nodes from the root to a node."""
    path = [int(node)]
    while path[-1]:
        (above,) = np.flatnonzero(
            (tree.left == path[-1]) | (tree.left + 1 == path[-1]) & (tree.left >= 0)
        )
        path.append(int(above))
    return path[::-1]


def small_programme(seed):
    """A forest of two or three trees, validation rows and prices."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    X, V = rng.integers(0, 4, (18, d)) + 0.0, rng.integers(0, 4, (int(rng.integers(2, 9)), d)) + 0.0
    y = rng.integers(0, 2 + seed % 2, 18)
    costs = rng.integers(0, 4, d) + 0.0 if seed % 3 else rng.random(d)
    options = {"n_estimators": 2 + seed % 2, "feature_costs": costs, "random_state": seed}
    model = BudgetPruneClassifier(BudgetForestClassifier(**options))
    model.fit(X, y, eval_set=(V, np.full(len(V), y[0])))
    encoded = np.unique(y, return_inverse=True)[1]
    return model, budget_forest.fit(X, encoded, **options), V, costs, rng


def assert_optimal(seed):
    """One optimum of our cut costs what the paper's programme costs, which has whole solutions."""
    model, forest, V, costs, rng = small_programme(seed)
    between = [float(least) for least in model._hull.tradeoffs()]
    tradeoff = float(rng.choice([0.0, 10.0 ** rng.uniform(-4, 0), *between]))
    objective, equal, right, below = paper_programme(
        forest, V, costs, model._hull.n_judged, tradeoff
    )
    solved = linprog(objective, below, np.zeros(below.shape[0]), equal, right, method="highs-ds")
    pruned = model.pruned(tradeoff=tradeoff)
    bill = pruned.prediction_cost(V).mean()
    ours = pruned.curve_.error[pruned.point_] + tradeoff * bill
    assert math.isclose(solved.fun, ours, rel_tol=1e-9, abs_tol=1e-12)
    assert np.all(np.abs(solved.x - np.rint(solved.x)) < 1e-9)


def test_the_papers_linear_programme():
    for seed in range(40):
        assert_optimal(seed)


@pytest.mark.slow
def test_the_papers_linear_programme_500_times():
    for seed in range(100, 600):
        assert_optimal(seed)


def test_the_papers_matrix_is_totally_unimodular():
    for seed in (1, 2):
        _, forest, V, costs, rng = small_programme(seed)
        _, equal, _, below = paper_programme(forest, V, costs, 1, 1.0)
        matrix = np.concatenate([equal.toarray(), below.toarray()])
        found = set()
        for _ in range(1500):
            size = int(rng.integers(2, 7))
            # Rows that share columns: else nearly all determinants are 0.
            rows = rng.choice(len(matrix), size, replace=False)
            used = np.flatnonzero(np.any(matrix[rows], axis=0))
            if len(used) >= size:
                part = matrix[np.ix_(rows, rng.choice(used, size, replace=False))]
                found.add(round(float(np.linalg.det(part)), 6))
        assert found == {-1.0, 0.0, 1.0}


# --- the authors' solver ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(0, 24, 2))
def test_twins_of_the_authors_solver(seed):
    options = {"tradeoff": float(np.random.default_rng(seed).choice([0.0, 1e-3, 0.02, 0.2]))}
    model, (task, (point,), _, pruned), _, (V, _, _) = fit_twins(seed, solver="authors", **options)
    hull = model._hull
    assert (hull.errors.tolist(), hull.cost.tolist()) == ([point.errors], [point.cost])
    assert point.kept == frozenset(np.flatnonzero(hull.entry == 0).tolist())
    assert_same_trees(model, pruned)
    bill = model.prediction_cost(V).mean()
    ours = model.curve_.error[0] + options["tradeoff"] * bill
    assert math.isclose(model.curve_.cost[0], bill, rel_tol=1e-9)
    best = reference.hull(task)
    best = best[reference.chosen(task, best, options["tradeoff"])]
    cost = float(reference.mean_cost(task, best.cost))
    assert ours >= best.errors / task.n_judged + options["tradeoff"] * cost - 1e-12


def test_the_authors_solver_finds_nearly_the_optimum(fitted, tmp_path):
    """The best that 50 steps meet is within a thousandth of the optimum, and no better."""
    model, X, y, V, labels = fitted
    gaps = []
    for tradeoff in (0.005, 0.02, 0.05, 0.1):
        theirs = BudgetPruneClassifier(
            FrozenEstimator(model.forest_), tradeoff=tradeoff, solver="authors"
        ).fit(X, y, eval_set=(V, labels))
        exact = model.pruned(tradeoff=tradeoff)
        objective = [
            each.curve_.error[place] + tradeoff * each.curve_.cost[place]
            for each, place in ((theirs, 0), (exact, exact.point_))
        ]
        gaps.append(objective[0] - objective[1])
    assert min(gaps) > -1e-12
    assert max(gaps) < 1e-3
    theirs.save(tmp_path / "model")
    loaded = BudgetPruneClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), theirs.predict_proba(X))
    with pytest.raises(ValueError, match="knows one pruning"):
        theirs.pruned(budget=1.0)


# --- what a pruned forest is -----------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 5))
    y = np.array(["no", "yes"])[((X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300)) > 0) + 0]
    V = rng.normal(size=(150, 5))
    labels = np.array(["no", "yes"])[((V[:, 0] + V[:, 1] * V[:, 2]) > 0) + 0]
    costs = [1.0, 2.0, 2.0, 4.0, 8.0]
    forest = BudgetForestClassifier(n_estimators=8, random_state=0, feature_costs=costs)
    model = BudgetPruneClassifier(forest, tradeoff=0.01).fit(X, y, eval_set=(V, labels))
    return model, X, y, V, labels


def test_the_curves_bill_is_the_meters_and_its_errors_are_the_trees(fitted):
    model, X, y, V, _ = fitted
    curve = model.curve_
    assert len(curve.cost) >= 10
    for point in range(len(curve.cost)):
        pruned = model.pruned(point=point)
        assert pruned.prediction_cost(V).mean() == pytest.approx(curve.cost[point], rel=1e-14)
        leaf = pruned.trees_.left < 0
        counts = pruned.class_counts_[leaf]
        wrong = counts.sum() - counts.max(axis=1).sum()
        assert wrong / (8 * len(y)) == curve.error[point]
        assert curve.n_splits[point] == np.count_nonzero(~leaf)
    assert np.all(np.diff(curve.cost) > 0)
    assert np.all(np.diff(curve.error) < 0)
    slopes = -np.diff(curve.error) / np.diff(curve.cost)
    assert np.all(np.diff(slopes) < 0)
    np.testing.assert_allclose(curve.tradeoff[:-1], slopes, rtol=1e-9)
    assert model.pruned(tradeoff=math.inf).prediction_cost(X).max() == 0


def test_prunings_are_nested_and_budgets_kept(fitted):
    model, X, _, V, _ = fitted
    for budget in (0.0, 0.5, 3.0, 7.25, 1e9, math.inf):
        pruned = model.pruned(budget=budget)
        assert pruned.prediction_cost(V).mean() <= budget
        better = min(pruned.point_ + 1, len(model.curve_.cost) - 1)
        assert model.curve_.cost[better] > budget or better == pruned.point_
        again = clone(model).set_params(tradeoff=0.0, budget=budget)
        again.set_params(forest=FrozenEstimator(model.forest_))
        again.fit(*fitted[1:3], eval_set=fitted[3:])
        np.testing.assert_array_equal(again.predict_proba(X), pruned.predict_proba(X))
    acquired = [model.pruned(point=p).acquired_features(X) for p in range(0, 10, 3)]
    assert all(np.all(a <= b) for a, b in itertools.pairwise(acquired))
    assert model.pruned(tradeoff=0.05, budget=1e9).point_ == model.pruned(tradeoff=0.05).point_


def test_a_free_feature_never_raises_the_errors(fitted):
    model, X, y, V, labels = fitted
    frozen = FrozenEstimator(model.forest_)
    dear = BudgetPruneClassifier(frozen, feature_costs=[1.0, 2, 2, 4, 8], tradeoff=0.02)
    free = BudgetPruneClassifier(frozen, feature_costs=[1.0, 2, 0, 4, 8], tradeoff=0.02)
    objective = []
    for each in (dear, free):
        each.fit(X, y, eval_set=(V, labels))
        objective.append(each.curve_.error[each.point_] + 0.02 * each.curve_.cost[each.point_])
    assert objective[1] <= objective[0]


def test_files(fitted, tmp_path):
    model, X, _, _, _ = fitted
    pruned = model.pruned(budget=5.0)
    pruned.save(tmp_path / "model")
    loaded = BudgetPruneClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), pruned.predict_proba(X))
    np.testing.assert_array_equal(loaded.prediction_cost(X), pruned.prediction_cost(X))
    for ours, theirs in zip(loaded.curve_, model.curve_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for point in (0, 7):
        other = loaded.pruned(point=point)
        np.testing.assert_array_equal(other.predict(X), model.pruned(point=point).predict(X))
    assert loaded.budget == 5.0
    assert loaded.forest.estimator.n_estimators == 8


def test_equal_first_uses_are_one_purchase_however_little_room_there_is(fitted, monkeypatch):
    model, _, _, V, _ = fitted
    marks = Marks(np.arange(5), np.ones(10, dtype=bool), 5)
    V = np.ascontiguousarray(V)
    V.flags.writeable = False
    weights = np.ones(len(V), dtype=np.int64)
    roomy = first_uses(model.forest_.trees_, V, weights, marks)
    monkeypatch.setattr("algorithms.forests.first_uses._FIRST_ROOM", 1)
    for ours, theirs in zip(
        first_uses(model.forest_.trees_, V, weights, marks), roomy, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    sets = [
        (mark, *roomy.splits[a:b].tolist())
        for mark, (a, b) in zip(roomy.mark, itertools.pairwise(roomy.start), strict=True)
    ]
    assert len(set(sets)) == len(sets)
    assert all(list(each[1:]) == sorted(set(each[1:])) for each in sets)


# --- bad input, and the ends of the scale ----------------------------------------------------

ROWS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
LABELS = np.array([0, 0, 0, 1, 0, 1])
SMALL = {"n_estimators": 3, "random_state": 0}


def test_all_features_free():
    model = BudgetPruneClassifier(BudgetForestClassifier(**SMALL), tradeoff=math.inf)
    model.fit(ROWS, LABELS)
    assert model.curve_.cost.tolist() == [0.0]
    assert model.curve_.tradeoff.tolist() == [0.0]
    whole = model.forest_.trees_
    assert 0 < model.curve_.n_splits[0] <= np.count_nonzero(whole.left >= 0)


def test_all_gains_zero():
    """Every leaf is of the class that the root is of: nothing is worth a split."""
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]]), np.array([0, 0, 0, 0, 1])
    forest = BudgetForestClassifier(n_estimators=1, bootstrap=False)
    model = BudgetPruneClassifier(forest, feature_costs=[1.0]).fit(X, y)
    assert np.count_nonzero(model.forest_.trees_.left >= 0) == 1
    assert model.curve_.n_splits.tolist() == [0]
    assert model.predict(X).tolist() == [0] * 5
    assert model.prediction_cost(X).tolist() == [0.0] * 5


@pytest.mark.parametrize("n_estimators", [0, 2])
def test_one_class_one_row_and_no_trees(n_estimators):
    model = BudgetPruneClassifier(BudgetForestClassifier(n_estimators=n_estimators), budget=0.0)
    with pytest.warns(ConstantModelWarning, match="y is constant") as said:
        model.fit(ROWS[:1], ["x"])
    assert len(said) == 1
    assert model.predict(ROWS).tolist() == ["x"] * 6
    assert model.curve_.error.tolist() == [0.0]


@pytest.mark.parametrize("tradeoff", [math.inf, 1e300])
def test_a_tree_pruned_to_its_root_votes(tradeoff):
    model = BudgetPruneClassifier(BudgetForestClassifier(**SMALL), tradeoff=tradeoff,
                                  feature_costs=[1.0, 1.0]).fit(ROWS, LABELS)  # fmt: skip
    assert model.n_estimators_ == 3
    assert model.trees_.tree.tolist() == [0, 1, 2, 3]
    assert model.predict(ROWS).tolist() == [0] * 6
    assert model.evaluations(ROWS).tolist() == [0] * 6


def test_none_of_the_prices_means_those_of_the_forest():
    groups = {"feature_costs": [1.0, 3.0], "split_cost": 0.5}
    forest = BudgetForestClassifier(**SMALL, **groups)
    theirs = BudgetPruneClassifier(forest).fit(ROWS, LABELS)
    ours = BudgetPruneClassifier(
        BudgetForestClassifier(**SMALL, feature_costs=[1.0, 3.0]), **groups
    )
    ours.fit(ROWS, LABELS)
    assert theirs.curve_.cost[-1] > 0
    np.testing.assert_array_equal(theirs.curve_.cost, ours.curve_.cost)
    np.testing.assert_array_equal(theirs.prediction_cost(ROWS), ours.prediction_cost(ROWS))
    alone = BudgetPruneClassifier(**groups, random_state=0).fit(ROWS, LABELS)
    assert alone.forest_.get_params()["feature_costs"] == [1.0, 3.0]


@pytest.mark.parametrize(
    ("options", "fit", "match"),
    [
        ({"tradeoff": -1.0}, {}, "tradeoff must be a finite number >= 0"),
        ({"tradeoff": math.nan}, {}, "tradeoff must be a finite number >= 0"),
        ({"budget": -0.5}, {}, "budget must be a finite number >= 0"),
        ({"solver": "authors", "budget": 1.0}, {}, "budget needs solver='exact'"),
        ({"solver": "authors", "tradeoff": math.inf}, {}, "tradeoff must be finite"),
        ({"solver": "cplex"}, {}, "solver must be 'exact' or 'authors'"),
        ({"errors": "test"}, {}, "errors must be 'in_bag' or 'out_of_bag' or 'validation'"),
        ({"forest": RandomForestClassifier()}, {}, "forest must be a BudgetForestClassifier"),
        ({"forest": FrozenEstimator(RandomForestClassifier())}, {}, "forest must hold a Budget"),
        ({"feature_costs": [1.0]}, {}, "feature_costs must have one value for each of the 2"),
        ({"feature_costs": [1e-200, 1e200]}, {}, "prices are too far apart .* feature_costs"),
        ({}, {"eval_set": (ROWS, LABELS + 1)}, "eval_set has a class that the training data lack"),
        ({}, {"eval_set": (ROWS[:0], LABELS[:0])}, "0 sample"),
        ({}, {"eval_set": (ROWS[:, :1], LABELS)}, "has 1 features"),
        ({}, {"eval_set": [(ROWS, LABELS)] * 2}, "one validation set"),
        ({}, {"sample_weight": np.full(6, 1.5)}, "sample_weight must be whole numbers"),
    ],
)
def test_what_is_refused(options, fit, match):
    forest = {"forest": BudgetForestClassifier(**SMALL)}
    with pytest.raises(ValueError, match=match):
        BudgetPruneClassifier(**forest | options).fit(ROWS, LABELS, **fit)


def test_a_forest_of_another_table_is_refused():
    forest = BudgetForestClassifier(**SMALL).fit(ROWS, LABELS)
    frozen = BudgetPruneClassifier(FrozenEstimator(forest))
    with pytest.raises(ValueError, match="another table: it was fitted on 2 features, and X has 1"):
        frozen.fit(ROWS[:, :1], LABELS)
    with pytest.raises(ValueError, match="y has a class that the training data lack: 6"):
        frozen.fit(ROWS, LABELS + 6)
    with pytest.raises(NotFittedError):
        BudgetPruneClassifier(FrozenEstimator(BudgetForestClassifier())).fit(ROWS, LABELS)
    whole = BudgetForestClassifier(**SMALL, bootstrap=False)
    with pytest.raises(ValueError, match="errors='out_of_bag' has no rows to judge by"):
        BudgetPruneClassifier(whole, errors="out_of_bag").fit(ROWS, LABELS)


def test_a_point_stands_alone(fitted):
    model = fitted[0]
    with pytest.raises(ValueError, match="point must be a whole number from 0 to"):
        model.pruned(point=10**6)
    with pytest.raises(ValueError, match="point stands alone"):
        model.pruned(point=0, budget=1.0)


@pytest.mark.parametrize(
    ("amounts", "gains"),
    [
        ([(1.0, 5), (3.0, 7)], 100),
        ([(0.1, 10**6), (22.78, 10**5)], 10**7),
        ([(1e250, 3)], 2),
        ([], 9),
    ],
)
def test_grid_of_prices(amounts, gains):
    exponent = price_exponent(amounts, gains)
    assert exponent == reference.price_exponent(amounts, gains)

    def product(k):
        return gains * sum(weight * reference.steps(price, k) for price, weight in amounts)

    assert product(exponent) <= 2**61
    assert not amounts or product(exponent + 1) > 2**61


def test_prices_that_overflow_the_integers():
    with pytest.raises(ValueError, match="lost beside"):
        reference.price_exponent([(0.3, 10**9), (1.0, 10**9)], 2**50)
    with pytest.raises(ValueError, match="prices are too far apart"):
        price_exponent([(0.3, 10**9), (1.0, 10**9)], 2**50)
