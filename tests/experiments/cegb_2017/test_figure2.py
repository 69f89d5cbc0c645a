"""Figure 2 of CEGB: what is measured, how curves and their difference come about, the picture."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import datasets
from algorithms.metrics import average_precision_at_k
from experiments.cegb_2017 import figure2
from experiments.cegb_2017.cells.measure import checkpoints, make_estimator, trace
from experiments.curves import PER_DECADE, advantage, budgets_between, choose, curves
from experiments.style import LOOKS, house_style, picture_bytes

# --- measuring --------------------------------------------------------------------------------


def test_checkpoints():
    assert checkpoints(0) == [0]
    assert checkpoints(1) == [1]
    assert checkpoints(8) == [1, 2, 3, 5, 8]
    assert checkpoints(100) == [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 100]


def tiny(task="ranking", n=240, d=5):
    rng = np.random.default_rng(4)
    parts = {}
    for part in ("train", "valid", "test"):
        X = rng.normal(size=(n, d)).round(1)
        signal = X[:, 0] + X[:, 3] + 0.3 * rng.normal(size=n)
        if task == "ranking":
            y = np.digitize(signal, [-1, 0, 1, 2]).astype(float)
            parts[f"query_{part}"] = np.repeat(np.arange(n // 12), 12)
        else:
            y = (signal > 0).astype(np.int64)
            parts[f"query_{part}"] = None
        parts |= {f"X_{part}": X, f"y_{part}": y}
    costs = np.array([1.0, 2.0, 5.0, 10.0, 20.0])
    return SimpleNamespace(task=task, feature_costs=costs, feature_groups=None, **parts)


def cell_of(panel, method, tradeoff):
    cells = figure2.make_cells("smoke", range(1))
    found = [
        cell
        for cell in cells
        if cell.params["panel"] == panel
        and cell.algorithm == method
        and cell.params["tradeoff"] == tradeoff
    ]
    (cell,) = found
    return cell


@pytest.mark.parametrize("method", list(figure2.SHOWN))
def test_trace_agrees_with_models_of_fewer_rounds(method):
    """Each row is what a model trained with so many rounds scores and costs."""
    dataset, cell = tiny(), cell_of("a", method, 0.0)
    for row in trace(cell, dataset):
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
            if method == "cegb_as_miser":
                paper = model.model_features() @ dataset.feature_costs + row["rounds"]
            assert row[f"{part}_cost_paper"] == pytest.approx(paper, rel=1e-5)


def test_tradeoff_without_any_split_is_a_constant_at_no_cost():
    cell = cell_of("a", "cegb", 1e-3)
    dear = tiny()
    dear.feature_costs = dear.feature_costs * 1e6
    (row,) = trace(cell, dear)
    assert row["rounds"] == 0
    assert row["test_cost"] == 0.0


def test_binarised_targets_and_classes():
    dataset, cell = tiny(), cell_of("b", "gbrt", 0.0)
    row = trace(cell, dataset)[-1]
    model = make_estimator(cell, dataset).fit(dataset.X_train, dataset.y_train > 0)
    scores = model.predict(dataset.X_test)
    wanted = average_precision_at_k(dataset.y_test, scores, dataset.query_test, 5)
    assert row["test_score"] == pytest.approx(wanted, rel=1e-5)
    binary, cell = tiny("binary"), cell_of("c", "cegb", 0.0)
    row = trace(cell, binary)[-1]
    model = make_estimator(cell, binary).fit(binary.X_train, binary.y_train)
    assert row["test_score"] == pytest.approx(model.score(binary.X_test, binary.y_test), rel=1e-5)


def test_settings_are_the_papers():
    """One λ means the same for all: the penalty of a feature for all training rows."""
    dataset = tiny()
    miser = make_estimator(cell_of("a", "cegb_as_miser", 1e-3), dataset)
    assert (miser.growth, miser.max_depth, miser.max_leaves) == ("breadth_first", 4, 16)
    assert not miser.second_order
    assert miser.feature_costs is None
    np.testing.assert_array_equal(miser.model_feature_costs, 240 * dataset.feature_costs)
    shallow = make_estimator(cell_of("a", "cegb_shallow", 1e-3), dataset)
    assert (shallow.growth, shallow.max_depth, shallow.max_leaves) == ("best_first", 4, 16)
    assert (shallow.split_cost, shallow.tradeoff) == (0.25, 1e-3)
    assert make_estimator(cell_of("b", "cegb", 1e-3), dataset).split_cost == 0.0
    deep = make_estimator(cell_of("a", "cegb", 1e-3), dataset)
    assert (deep.max_depth, deep.max_leaves) == (None, 64)


def test_cells_of_each_scale():
    smoke = {cell.dataset for cell in figure2.make_cells("smoke", range(2))}
    bundled = {r["name"] for r in datasets.status() if r["stand_in"] or r["source"] == "bundled"}
    assert smoke <= bundled  # nothing that would have to be reached
    for scale in ("laptop", "paper"):
        cells = figure2.ARTEFACT.cells(scale)
        assert {cell.dataset for cell in cells} == {panel.dataset for panel in figure2.PANELS}
        assert len({cell.seed for cell in cells}) == 5


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
        lead = 0.0 if method in ("cegb_as_miser", "gbrt") else amount + 0.001 * seed
        return 0.5 + 0.1 * rounds + lead + 0.01 * seed

    return score


def test_advantage_is_the_lead_at_equal_budget():
    found = advantage(made_rows(lead_of(0.05)), "c", "cegb", "cegb_as_miser")
    np.testing.assert_allclose(found, 0.05 + 0.001 * np.arange(5))


def test_advantage_only_where_both_have_models():
    rows = made_rows(lead_of(0.0))
    dear = rows["algorithm"] == "cegb_as_miser"
    rows.loc[dear, ["valid_cost", "test_cost"]] *= 1000
    assert np.isnan(advantage(rows, "c", "cegb", "cegb_as_miser")).all()
    assert advantage(rows, "e", "cegb", "cegb_as_miser").size == 0


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


# --- claims and picture -----------------------------------------------------------------------

RECORD = {
    "kind": "real",
    "source": "mirror",
    "files": [{"file": "rows.npz"}],
    "rows": {"train": 10, "valid": 5, "test": 8},
    "n_features": 50,
    "cost_unit": "features",
    "test_overlap": 0.0,
}


def meta_of(**changes):
    return {
        "scale": "laptop",
        "seeds": [0, 1, 2, 3, 4],
        "data": {"miniboone": {**RECORD, **changes}},
    }


@pytest.mark.parametrize(
    ("lead", "kind", "verdict"),
    [
        (0.05, "real", "reproduced"),
        (-0.05, "real", "not reproduced"),
        (0.05, "stand-in", "not testable here"),
    ],
)
def test_claims_on_made_rows(lead, kind, verdict):
    from experiments.publishing.output import evaluate_claims

    table = evaluate_claims(figure2.ARTEFACT, made_rows(lead_of(lead)), meta_of(kind=kind))
    assert table["claim"].tolist() == ["c-deep", "c-shallow"]
    assert table["verdict"].tolist() == [verdict] * 2


def draw(rows, meta):
    with house_style("salt"):
        figure = figure2.render(rows, meta)
    return figure, picture_bytes(figure, "svg", "salt"), picture_bytes(figure, "png", "salt")


def test_picture_is_repeatable_and_says_what_it_shows():
    rows = made_rows(lead_of(0.05))
    figure, *first = draw(rows, meta_of())
    assert draw(rows, meta_of())[1:] == tuple(first)
    assert b"<dc:date>" not in first[0]
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert "real data: rows.npz (mirror)" in titles[4]
    assert "10/5/8 train/valid/test" in titles[4]
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"CEGB, deep", "GBRT, no costs", "BudgetPrune (not built yet)"} <= labels
    assert all(ax.get_xlabel().endswith("[features]") for ax in figure.axes[4:5])
    figure, *_ = draw(rows, meta_of(kind="stand-in"))
    assert "STAND-IN" in figure.axes[4].get_title(loc="left")
    assert any(text.get_text() == "STAND-IN" for text in figure.axes[4].texts)


def test_looks_are_told_apart_in_grey():
    looks = list(LOOKS.values())
    assert len({(look.marker, str(look.line)) for look in looks}) == len(looks)
    assert len({look.colour for look in looks}) == len(looks)
