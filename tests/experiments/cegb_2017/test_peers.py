"""The panel of other libraries: searches of equal size, one price, one meter."""

from __future__ import annotations

import dataclasses
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import datasets
from algorithms.metrics import accuracy, average_precision_at_k
from experiments.artefact import Cell
from experiments.cegb_2017 import extra_peers as peers
from experiments.cegb_2017.cells import peer_models
from experiments.curves import curves
from experiments.registry import discover
from experiments.style import LOOKS, house_style, picture_bytes
from tests.experiments.pictures import unreadable

PEER = "peer: make setup-peers"


def need(method):
    for library in ("lightgbm", "catboost"):
        if method.startswith(library):
            pytest.importorskip(library, reason=PEER)


def tiny(task="ranking", n=400, d=5):
    """Three parts of a small set; features 0 and 3 matter, the last copies 0 and is dear."""
    rng = np.random.default_rng(4)
    parts = {}
    for part in ("train", "valid", "test"):
        X = rng.normal(size=(n, d)).round(1)
        signal = X[:, 0] + X[:, 3] * (X[:, 1] > 0) + 0.3 * rng.normal(size=n)
        grades = np.digitize(signal, [-1, 0, 1, 2])
        y = {"ranking": grades.astype(float), "binary": 1 * (signal > 0), "multiclass": grades}
        query = np.repeat(np.arange(n // 10), 10) if task == "ranking" else None
        parts |= {f"X_{part}": X, f"y_{part}": y[task], f"query_{part}": query}
    costs = np.array([1.0, 2.0, 5.0, 10.0, 20.0])
    return SimpleNamespace(task=task, feature_costs=costs, feature_groups=None, **parts)


def cell_of(method, **changes):
    params = {
        "panel": "b'",
        "configuration": 0,
        "learning_rate": 0.2,
        "max_leaves": 8,
        "min_samples_leaf": 10,
        "tradeoff": 0.0 if method in peers.PLAIN else 1e-3,
        "rounds": [1, 2, 3, 5],
        "relevant_from": 1,
        "binarise": True,
    }
    return Cell("toy", method, params | changes, 3)


# --- the search ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_searches_are_equal(scale):
    """Each method has the same configurations; only a method without prices has no λ."""
    cells = peers.ARTEFACT.cells(scale)
    panels = [p for p in peers.SHOWN if scale != "smoke" or p.key in peers.SMOKE_DATASET]
    assert {cell.params["panel"] for cell in cells} == {panel.key for panel in panels}
    shared = ("learning_rate", "max_leaves", "min_samples_leaf", "rounds")
    for panel in panels:
        of_panel = [c for c in cells if c.params["panel"] == panel.key]
        assert {c.algorithm for c in of_panel} == set(peers.METHODS)
        searches = {
            method: [
                (c.seed, c.params["configuration"], *(str(c.params[n]) for n in shared))
                for c in of_panel
                if c.algorithm == method
            ]
            for method in peers.METHODS
        }
        n_seeds = peers.ARTEFACT.seeds[scale]
        for search in searches.values():
            assert search == searches["cegb"]
            assert len(search) == n_seeds * peers.CONFIGURATIONS[scale]
        prices = {
            method: [c.params["tradeoff"] for c in of_panel if c.algorithm == method]
            for method in peers.METHODS
        }
        low, high = peers.TRADEOFFS[panel.prices]
        for method in peers.METHODS:
            if method in peers.PLAIN:
                assert set(prices[method]) == {0.0}
            else:
                assert prices[method] == prices["cegb"]
                assert low <= min(prices[method]) < max(prices[method]) <= high


def test_draws_depend_on_the_number_alone():
    """Frozen: a change of these would be a change of the experiment."""
    for index in range(40):
        one, two = (peers.configuration(index, kind) for kind in ("priced", "uniform"))
        assert {**one, "tradeoff": 0} == {**two, "tradeoff": 0}
        share = [
            math.log(c["tradeoff"] / peers.TRADEOFFS[kind][0])
            / math.log(peers.TRADEOFFS[kind][1] / peers.TRADEOFFS[kind][0])
            for c, kind in ((one, "priced"), (two, "uniform"))
        ]
        assert share[0] == pytest.approx(share[1], abs=1e-5)
    for first in (0, 12, 24):
        drawn = [peers.configuration(i, "priced") for i in range(first, first + 12)]
        assert len({(c["learning_rate"], c["max_leaves"]) for c in drawn}) == 12


def test_cells_use_what_is_there_at_smoke_scale():
    bundled = {r["name"] for r in datasets.status() if r["synthetic"] or r["source"] == "bundled"}
    assert {cell.dataset for cell in peers.ARTEFACT.cells("smoke")} <= bundled
    real = {"covertype", "mslr", "yahoo_ltr_sample", "mq2008", "clueweb09"}
    assert {cell.dataset for cell in peers.ARTEFACT.cells("laptop")} == real


def test_later_panels_have_repetitions_of_their_own():
    """Features alone cost; five repetitions of each panel, though ten seeds in all."""
    seeds = {key: set() for key in peers.FIRST_SEED}
    for cell in peers.ARTEFACT.cells("laptop"):
        seeds[cell.params["panel"]].add(cell.seed)
    assert seeds["d"] == seeds["b'"] == set(range(5))
    assert seeds["y"] == seeds["m"] == seeds["w"] == set(range(5, 10))
    assert {panel.split_cost for panel in peers.SHOWN} == {0.0}
    assert not any("¼" in panel.name for panel in peers.SHOWN)
    assert peers.ARTEFACT.repetitions("laptop", range(10)) == 5
    assert peers.ARTEFACT.repetitions("laptop", [0, 1, 5, 6]) == 2
    assert peers.ARTEFACT.repetitions("laptop", [99, 100]) == 2  # none have them


# --- models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["ranking", "binary", "multiclass"])
@pytest.mark.parametrize("method", peers.METHODS)
def test_trace_measures_models_of_fewer_rounds(method, task):
    """Each row is what the trees trained so far score, and cost, by hand."""
    need(method)
    dataset, cell = tiny(task), cell_of(method)
    rows = peer_models.trace(cell, dataset)
    assert [row["rounds"] for row in rows] == [1, 2, 3, 5]
    model, last = peer_models.fit(cell, dataset)
    assert last == 5
    staged = model.staged_raw if hasattr(model, "staged_raw") else model.staged_predict
    if task != "ranking" and not hasattr(model, "staged_raw"):
        staged = model.staged_decision_function
    for part in ("valid", "test"):
        X, y = getattr(dataset, f"X_{part}"), getattr(dataset, f"y_{part}")
        raw = list(staged(X))[-1]
        if task == "ranking":
            query = getattr(dataset, f"query_{part}")
            score = average_precision_at_k(y, raw, query, 5, relevant_from=1)
        else:
            score = accuracy(y, raw.argmax(axis=1) if task == "multiclass" else 1 * (raw > 0))
        assert rows[-1][f"{part}_score"] == pytest.approx(score, rel=1e-5)
        by_hand = (model.acquired_features(X) @ dataset.feature_costs).mean()
        assert rows[-1][f"{part}_cost"] == pytest.approx(by_hand, rel=1e-5)
        costs = [row[f"{part}_cost"] for row in rows]
        assert costs == sorted(costs)
        assert costs[0] > 0
    relevant = dataset.query_test[dataset.y_test >= 1] if task == "ranking" else []
    assert {row["speaking_queries"] for row in rows} == {len(set(relevant))}
    assert peer_models.trace(cell, dataset) == rows  # the same bytes again


@pytest.mark.parametrize("method", peers.PRICED)
def test_a_higher_price_buys_less(method):
    need(method)
    dataset = tiny("binary")
    dear, cheap = (
        peer_models.trace(cell_of(method, tradeoff=tradeoff), dataset)[-1]
        for tradeoff in (2e-2, 1e-7)
    )
    assert dear["test_cost"] < cheap["test_cost"]


@pytest.mark.parametrize("method", ["cegb", "lightgbm_cegb"])
def test_no_split_is_worth_its_cost(method):
    need(method)
    dataset = tiny("binary")
    (row,) = peer_models.trace(cell_of(method, tradeoff=1e6), dataset)
    majority = np.bincount(dataset.y_train).argmax()
    assert (row["rounds"], row["test_cost"]) == (0, 0.0)
    assert row["test_score"] == pytest.approx(np.mean(dataset.y_test == majority), rel=1e-5)


def two_columns(task):
    """Feature 0 is better and costs 1, feature 1 is worse and free."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (2000, 2)) / 8
    signal = 1.0 * (X[:, 0] > 0.5) + 0.8 * (X[:, 1] > 0.5) + 0.1 * rng.normal(size=2000)
    # The mean is ½ exactly and the start is there: every h is 1 or ¼.
    y = (signal > np.median(signal)).astype(int)
    return SimpleNamespace(
        task=task, X_train=X, y_train=y, feature_costs=np.array([1.0, 0.0]), feature_groups=None
    )


def lead_per_row(dataset):
    """Return by how much feature 0's gain, Eq. (12), exceeds feature 1's, per row."""
    X, h = dataset.X_train, 1.0 if dataset.task == "ranking" else 0.25
    g = 0.5 - dataset.y_train

    def gain(m):
        return max(
            sum(g[side].sum() ** 2 / (h * side.sum()) for side in (X[:, m] > t, X[:, m] <= t))
            for t in np.unique(X[:, m])[:-1]
        ) / (2 * len(g))

    return gain(0) - gain(1)


@pytest.mark.parametrize("task", ["ranking", "binary"])
@pytest.mark.parametrize("method", peers.PRICED)
def test_the_price_means_the_same_to_all(method, task, monkeypatch):
    """The root leaves the dear feature for the free one at the λ that Eq. (12) says."""
    need(method)
    if method.startswith("catboost"):  # no noise, no prior, no sample: the rule itself
        original = peer_models.catboost_parameters
        exact = {"random_strength": 0, "bootstrap_type": "No", "l2_leaf_reg": 0}
        monkeypatch.setattr(peer_models, "catboost_parameters", lambda c, d: original(c, d) | exact)
    dataset = two_columns(task)
    switch = lead_per_row(dataset)
    assert switch > 0
    for factor, feature in ((0.98, 0), (1.02, 1)):
        cell = cell_of(method, tradeoff=factor * switch, max_leaves=2, rounds=[1])
        model, _ = peer_models.fit(cell, dataset)
        assert model.trees_.feature[0] == feature


def test_catboost_prices_only_the_best_of_binary_features(monkeypatch):
    """A limit of CatBoost 1.2 that the head of peer_models states; if this fails, it is gone."""
    need("catboost")
    original = peer_models.catboost_parameters
    exact = {"random_strength": 0, "bootstrap_type": "No", "l2_leaf_reg": 0}
    monkeypatch.setattr(peer_models, "catboost_parameters", lambda c, d: original(c, d) | exact)
    dataset = two_columns("binary")
    dataset.X_train = 1.0 * (dataset.X_train > 0.5)
    tradeoff = 1.02 * lead_per_row(dataset)
    for method, feature in (("catboost_first_use", 0), ("cegb", 1)):
        cell = cell_of(method, tradeoff=tradeoff, max_leaves=2, rounds=[1])
        model, _ = peer_models.fit(cell, dataset)
        assert model.trees_.feature[0] == feature


def test_oblivious_trees_make_both_prices_one():
    """Why prices per object are tried with trees that are not oblivious."""
    catboost = pytest.importorskip("catboost", reason=PEER)
    dataset = tiny("binary")
    parameters = peer_models.catboost_parameters(cell_of("catboost_first_use"), dataset)
    by_model = catboost.CatBoost(parameters).fit(dataset.X_train, dataset.y_train)
    del parameters["first_feature_use_penalties"]
    parameters["per_object_feature_penalties"] = dataset.feature_costs.tolist()
    by_row = catboost.CatBoost(parameters).fit(dataset.X_train, dataset.y_train)
    X = dataset.X_test
    np.testing.assert_array_equal(by_model.predict(X), by_row.predict(X))


def test_lightgbm_is_never_given_a_coupled_penalty():
    dataset = tiny("binary")
    parameters = peer_models.lightgbm_parameters(cell_of("lightgbm_cegb"), dataset)
    assert parameters["cegb_tradeoff"] == 2e-3
    assert parameters["cegb_penalty_feature_lazy"] == dataset.feature_costs.tolist()
    assert not any("coupled" in name for name in parameters)
    plain = peer_models.lightgbm_parameters(cell_of("lightgbm"), dataset)
    assert not any(name.startswith("cegb") for name in plain)


def test_seeds_come_from_data_and_repetition_alone():
    seeds = {peer_models.library_seed(cell_of(method)) for method in peers.METHODS}
    assert len(seeds) == 1
    assert peer_models.library_seed(dataclasses.replace(cell_of("cegb"), seed=4)) not in seeds


def test_groups_and_unknown_methods_are_refused():
    dataset = tiny("binary")
    with pytest.raises(ValueError, match="Unknown method"):
        peer_models.trace(cell_of("xgboost"), dataset)
    dataset.feature_groups = np.zeros(5)
    with pytest.raises(ValueError, match="feature groups"):
        peer_models.trace(cell_of("cegb"), dataset)


# --- picture ------------------------------------------------------------------------------------


def made_rows():
    """CEGB leads everybody by 0.05 at equal cost."""
    rows = [
        {
            "panel": panel.key,
            "dataset": panel.dataset,
            "algorithm": method,
            "seed": seed,
            "configuration": 0,
            "rounds": rounds,
            "speaking_queries": 20 + seed * (panel.key == "m"),
            **{
                f"{part}_score": 0.5 + 0.1 * rounds + 0.01 * seed + 0.05 * (method == "cegb")
                for part in ("valid", "test")
            },
            **{f"{part}_cost": float(2**rounds) for part in ("valid", "test")},
        }
        for panel in peers.SHOWN
        for method in peers.METHODS
        for seed in range(3)
        for rounds in range(1, 4)
    ]
    return pd.DataFrame(rows)


def meta_of(kind="real"):
    record = {
        "kind": kind,
        "source": "mirror",
        "files": [{"file": "rows.npz"}],
        "rows": {"train": 10, "valid": 5, "test": 8},
        "n_features": 50,
        "cost_unit": "features",
    }
    data = {panel.dataset: record for panel in peers.SHOWN}
    return {"scale": "laptop", "seeds": [0, 1, 2], "data": data}


@pytest.mark.slow
def test_picture_shows_every_method_and_repeats():
    pictures = []
    for _ in range(2):
        with house_style("salt"):
            figure = peers.render(made_rows(), meta_of())
        pictures.append(picture_bytes(figure, "svg", "salt"))
    assert pictures[0] == pictures[1]
    assert unreadable(figure) == []
    (legend,) = [ax.get_legend() for ax in figure.axes if ax.get_legend()]
    labels = {text.get_text() for text in legend.get_texts()}
    assert len(labels) == len(peers.METHODS)
    assert {"CEGB, ours", "LightGBM", "CatBoost"} <= labels
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert any("Covertype" in title for title in titles)
    assert any("MSLR" in title for title in titles)
    said = {ax.get_label(): ax.get_title(loc="left").split("\n")[-1] for ax in figure.axes}
    assert said["w"] == said["b'"] == "20 test queries with a relevant document"
    assert said["m"] == "20 to 22 test queries with a relevant document"
    assert "queries" not in said["d"]
    with house_style("salt"):
        figure = peers.render(made_rows(), meta_of("synthetic"))
    assert [ax.texts[0].get_text() for ax in figure.axes if ax.axison] == 5 * ["SYNTHETIC"]


def test_picture_says_which_panels_were_not_run():
    rows = made_rows()
    figure = peers.render(rows[~rows["panel"].isin(["m", "w"])], meta_of() | {"scale": "smoke"})
    said = [ax.texts[0].get_text() for ax in figure.axes if ax.texts]
    assert said == 2 * ["no data: not part of the smoke scale"]


def test_what_is_left_out_changes_no_curve():
    """On many draws with ties, and with models that cost nothing."""
    for draw in range(20):
        rng = np.random.default_rng(draw)
        rows = []
        for panel, seed, configuration in itertools.product(("d", "y"), range(3), range(4)):
            costs = np.cumsum(rng.integers(0, 4, size=8))
            scores = rng.integers(0, 6, size=8) / 6
            rows += [
                {"panel": panel, "algorithm": "cegb", "seed": seed, "configuration": configuration,
                 "rounds": k, "valid_score": score, "valid_cost": float(cost),
                 "test_score": rng.random(), "test_cost": float(cost)}
                for k, (score, cost) in enumerate(zip(scores, costs, strict=True), start=1)
            ]  # fmt: skip
        whole = pd.DataFrame(rows)
        part = peers.selectable(whole)
        assert len(part) < len(whole)
        for panel in ("d", "y"):
            before, after = (curves(table, panel, "cegb").summary() for table in (whole, part))
            for one, other in zip(before, after, strict=True):
                np.testing.assert_array_equal(one, other)


def test_the_artefact_is_found_and_says_what_it_needs():
    (found,) = [a for a in discover() if a.id == "cegb-peers"]
    assert found is peers.ARTEFACT
    assert found.requires == ("lightgbm", "catboost")
    assert set(peers.METHODS) <= set(LOOKS)
