"""Training time: the race is fair, and its claims are computed from the measured times."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from experiments.cegb_2017 import extra_training_time
from experiments.cegb_2017.cells import stopwatch
from experiments.cegb_2017.extra_training_time import ARTEFACT, VARIANTS, make_cells
from experiments.data_kinds import PUBLISHED
from experiments.style import FADED, not_recomputed
from experiments.training_time import margin
from tests.experiments.small_sets import tiny


def cell_of(dataset):
    return next(c for c in make_cells("smoke", range(1)) if c.dataset == dataset)


@pytest.mark.parametrize("task", ["ranking", "binary"])
def test_the_three_train_the_same_trees_but_for_costs(task):
    cell, dataset = cell_of("yahoo_ltr"), tiny(task)
    models = stopwatch.make_racers(cell, dataset)
    assert sorted(models) == ["cegb", "cegb_all_splits", "gbrt"]
    shared = set(models["gbrt"].get_params()) & set(models["cegb"].get_params())
    for name in VARIANTS:
        params, plain = models[name].get_params(), models["gbrt"].get_params()
        differing = {key for key in shared if not np.array_equal(params[key], plain[key])}
        assert differing == {"split_cost"}  # plain boosting is told prices, to be billed
    assert models["cegb"].stop_on_negative_gain
    assert not models["cegb_all_splits"].stop_on_negative_gain


def test_every_model_is_fitted_equally_often_in_turns(monkeypatch):
    order = []

    class Recorder:
        def __init__(self, name):
            self.name, self.n_estimators = name, 3
            self.trees_ = SimpleNamespace(feature=np.array([0, -1, -1]))

        def set_params(self, n_estimators):
            self.n_estimators = n_estimators
            return self

        def fit(self, X, y):
            order.append((self.name, self.n_estimators))

    monkeypatch.setattr(stopwatch, "make_racers", lambda *_: {n: Recorder(n) for n in "abc"})
    rows = stopwatch.run_cell(cell_of("yahoo_ltr"), tiny())
    assert order[:3] == [("a", 2), ("b", 2), ("c", 2)]  # compiling, not timed
    timed = [name for name, rounds in order[3:] if rounds == 3]
    assert "".join(timed) == "abccbaabc"
    assert [row["n_splits"] for row in rows] == [1, 1, 1]


def made_up(times):
    """Rows of two seeds with given seconds for each method."""
    rows = []
    for seed in range(2):
        for method, seconds in times.items():
            row = {"dataset": "digits", "algorithm": "cegb", "seed": seed, "tradeoff": 0.01}
            rows.append({**row, "method": method, "n_splits": 9, "fit_seconds": seconds * 2**seed})
    return pd.DataFrame(rows)


META = {
    "scale": "smoke",
    "data": {"digits": {"kind": "real", "rows": {"train": 629}, "n_features": 64}},
}


def test_published_rows_are_grey_and_say_how_to_get_their_data():
    rows = made_up({"gbrt": 1.0, "cegb": 0.75, "cegb_all_splits": 3.0})
    rows = pd.concat([rows, rows.assign(dataset="covertype")])
    here = META["data"]["digits"]
    there = {**here, "name": "covertype", "kind": PUBLISHED, "scale": "laptop"}
    meta = {**META, "data": {"digits": here, "covertype": there}}
    (ax,) = extra_training_time.render(rows, meta).axes
    digits, covertype = (label.get_text() for label in ax.get_xticklabels())
    assert digits == "digits (real data)\n629 × 64\nplain: 1.5 s"
    assert covertype.startswith("covertype (OUR PUBLISHED ROWS)\n")
    assert covertype.endswith(not_recomputed(there))
    marks = [(line.get_xdata()[0] > 0.5, line.get_color()) for line in ax.lines[:4]]
    assert [colour == FADED for _, colour in marks] == [published for published, _ in marks]


def test_cells_run_alone():
    for scale in ("smoke", "laptop", "paper"):
        cells = ARTEFACT.cells(scale)
        assert cells
        assert all(cell.alone for cell in cells)


def test_margin_is_in_doublings():
    rows = made_up({"gbrt": 1.0, "cegb": 0.75, "cegb_all_splits": 3.0})
    np.testing.assert_allclose(margin(rows, "digits", "cegb", "gbrt", 1.5), 1.0)
    np.testing.assert_allclose(margin(rows, "digits", "cegb_all_splits", "gbrt", 1.5), -1.0)
