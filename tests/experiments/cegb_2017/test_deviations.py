"""What our deviations change: every variant really is the change it is called."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import ablation
from experiments.cegb_2017 import extra_deviations
from experiments.cegb_2017.cells import measure
from experiments.cegb_2017.cells.measure import final_score, trace_and_describe
from experiments.cegb_2017.extra_deviations import ARTEFACT, CHANGES, make_cells, method_of
from tests.experiments.small_sets import tiny


def cell_of(variant, panel="c", tradeoff=None):
    return next(
        c
        for c in make_cells("smoke", range(1))
        if c.params["variant"] == variant
        and c.params["panel"] == panel
        and (tradeoff is None or c.params["tradeoff"] == tradeoff)
    )


def binary():
    """Classes, with many distinct values."""
    rng, data = np.random.default_rng(2), tiny("binary", n=1500)
    parts = {f"X_{part}": getattr(data, f"X_{part}") for part in ("train", "valid", "test")}
    return replace(data, **{k: X + 0.1 * rng.normal(size=X.shape) for k, X in parts.items()})


def fitted(monkeypatch, variant, tradeoff=None):
    """Return what was fitted in a cell, the rows it saw, and the cell's row."""
    seen = {}
    honest = measure._fit

    def spy(model, X, y):
        seen.update(model=model, n_rows=len(X))
        return honest(model, X, y)

    monkeypatch.setattr(measure, "_fit", spy)
    (row,) = final_score(cell_of(variant, tradeoff=tradeoff), binary())
    return seen["model"], seen["n_rows"], row


def test_each_variant_is_what_it_is_called(monkeypatch):
    ours, n_rows, _ = fitted(monkeypatch, "ours", 1e-2)
    for variant, name, value in (
        ("bins_31", "max_bins", 31),
        ("all_splits", "stop_on_negative_gain", False),
        ("start_at_zero", "init", "zero"),
    ):
        model, n, _ = fitted(monkeypatch, variant, 1e-2)
        assert n == n_rows
        changed = {k for k, v in model.get_params().items() if v is not ours.get_params()[k]}
        changed = {
            k for k in changed if not np.array_equal(model.get_params()[k], ours.get_params()[k])
        }
        assert changed == {name}
        assert model.get_params()[name] == value


def test_fewer_rows(monkeypatch):
    _, n_rows, _ = fitted(monkeypatch, "ours", 1e-2)
    _, fewer, row = fitted(monkeypatch, "fewer_rows")
    assert fewer == n_rows - round(extra_deviations.MISSING * n_rows)
    again = final_score(cell_of("fewer_rows"), binary())
    assert again == [row]


def test_exact_thresholds_of_few_values_are_ours():
    """With fewer distinct values than bins, binning changes nothing: the same first splits.

    Only the first: later ones may tie, and scikit-learn tries features in a random order.
    """
    data = binary()
    coarse = {f"X_{p}": np.round(getattr(data, f"X_{p}")) for p in ("train", "valid", "test")}
    data = replace(data, **coarse)
    exact, ours = (
        next(
            c
            for c in make_cells("smoke", range(1))
            if (c.algorithm, c.params["variant"], c.params["panel"]) == ("gbrt", variant, "c")
        )
        for variant in ("exact", "ours")
    )
    for cell in (exact, ours):
        cell.params["settings"] |= {"n_estimators": 1, "max_leaves": 4}
    (one,), (other,) = final_score(exact, data), final_score(ours, data)
    assert one["test_score"] == other["test_score"]
    assert one["test_cost"] == pytest.approx(other["test_cost"], rel=1e-5)


def rows():
    found = []
    for cell in make_cells("smoke", range(2)):
        change = 0.0 if cell.params["variant"] == "ours" else 0.1
        found.append(
            {
                "panel": cell.params["panel"],
                "dataset": cell.dataset,
                "algorithm": cell.algorithm,
                "seed": cell.seed,
                "variant": cell.params["variant"],
                "tradeoff": cell.params["tradeoff"],
                "test_score": 0.5 + change + 0.01 * cell.seed,
                "test_cost": 10.0 + 10 * change,
            }
        )
    return pd.DataFrame(found)


def test_effects_and_table():
    table = rows()
    for change in CHANGES:
        panel = change.panels[0] if change.panels else "d"
        shown = next(p for p in extra_deviations.SHOWN if p.key == panel)
        for tradeoff in extra_deviations.tradeoffs(shown, change):
            where = {"panel": panel, "algorithm": method_of(change), "tradeoff": tradeoff}
            mine = ablation.of(table, where)
            scores = ablation.difference(mine, change.name, "test_score")
            costs = ablation.ratio(mine, change.name, "test_cost")
            np.testing.assert_allclose(scores, [0.1, 0.1])
            np.testing.assert_allclose(costs, [1.1, 1.1])
    kinds = {"kind": "synthetic"}
    meta = {"scale": "smoke", "seeds": [0, 1], "data": dict.fromkeys(table["dataset"], kinds)}
    text = ARTEFACT.render(table, meta)
    lines = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(lines) == 6 * 3 + 3 + 1  # all panels; the stop at a second λ; rows of one panel
    assert all("+0.1000 ± 0.0000" in line for line in lines)
    assert "(SYNTHETIC)" in text


def test_only_the_stop_is_also_tried_at_the_largest_tradeoff():
    """There, nothing but it tells the two apart."""
    for panel in extra_deviations.SHOWN:
        for change in CHANGES:
            tried = extra_deviations.tradeoffs(panel, change)
            assert (len(tried) == 2) == (change.name == "all_splits")
            assert len(tried) == 1 or tried[1] > tried[0]


def test_ours_is_what_the_figures_measure():
    cell, dataset = cell_of("ours", panel="a'", tradeoff=3e-4), tiny()
    (row,) = final_score(cell, dataset)
    last = trace_and_describe(cell, dataset)[-1]
    assert (row["test_score"], row["test_cost"]) == (last["test_score"], last["test_cost"])
