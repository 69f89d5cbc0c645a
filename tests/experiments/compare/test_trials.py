"""What a trial says of validation rows is what they say, and of test rows what those say."""

import numpy as np
import pytest

from experiments.cell import Cell
from experiments.compare.trials import run_chosen, run_trial
from experiments.methods import boosted
from experiments.methods.problem import with_validation
from tests.experiments.compare.test_methods import DRAW, made


def measured(model, part):
    return np.mean(model.predict(part.X) == part.y), model.prediction_cost(part.X).mean()


def test_a_trial_is_measured_on_validation_and_on_test_rows():
    problem = made(n_classes=3, n=150)
    rows = run_trial(Cell("set", "gbrt", {"draw": DRAW}), problem)
    trained = boosted.gbrt(problem, DRAW)
    assert [row["cut"] for row in rows] == trained.cuts
    for row in rows:
        for part in ("valid", "test"):
            found = row[f"{part}_score"], row[f"{part}_cost"]
            wanted = measured(trained.model(row["cut"]), problem.parts[part])
            assert found == pytest.approx(wanted, rel=1e-5)
    for name in ("score", "cost"):  # else nobody would see one in the place of the other
        assert any(row[f"valid_{name}"] != row[f"test_{name}"] for row in rows)


def test_what_is_chosen_is_trained_again_if_validation_rows_allow_it():
    problem = made(n_classes=3, n=150)
    params = {"draw": DRAW, "cut": 3, "budget": np.inf}
    model = boosted.gbrt(with_validation(problem), DRAW).model(3)
    (_, cost), (score, paid) = (measured(model, problem.parts[p]) for p in ("valid", "test"))
    assert cost != pytest.approx(paid)
    for budget, why in ((cost, None), (0.999 * cost, "retrained, it costs")):
        (row,) = run_chosen(Cell("set", "gbrt", {**params, "budget": budget}), problem)
        assert (row["not_retrained"] or "").startswith(why or "")
        assert (row["not_retrained"] is None) == (why is None)
        if why is None:
            assert (np.mean(row["value"]), row["test_cost"]) == pytest.approx((score, paid))
