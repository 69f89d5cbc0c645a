"""Tables 1 to 4: the paper's numbers, and how curves and budgets are read."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from experiments.adaptive_sampling_2014.cells import measure
from experiments.adaptive_sampling_2014.cells.grid import rounds_1_2_5, rounds_by_eighths
from experiments.adaptive_sampling_2014.cells.methods import KEYS, METHODS
from experiments.adaptive_sampling_2014.show.paper_tables import ROUNDS, SETS, TABLES, printed
from tests.experiments.adaptive_sampling_2014.made_up_tables import cell, features

# --- the paper's numbers --------------------------------------------------------------------------


def test_every_method_has_four_pairs_in_every_table():
    assert set(TABLES) == set(SETS)
    for table in TABLES.values():
        assert tuple(table) == KEYS
        assert all(len(pairs) == len(ROUNDS) for pairs in table.values())


@pytest.mark.parametrize(
    ("dataset", "method", "rounds", "loss", "error"),
    [
        ("mnist", "best_family", 10, -0.43, 36.48),
        ("mnist", "laminating", 1_000, -2.00, 1.35),
        ("inria_person", "laminating", 10_000, -99.8, 0.30),
        ("inria_person", "mas_naive", 100, -1.50, 1.66),
        ("caltech101", "mas_1q", 1_000, -2.04, 85.9),
        ("caltech101", "tasting_q1", 10_000, -68.1, 35.5),
        ("cifar10", "epsilon_greedy", 1_000, -0.49, 37.09),
        ("cifar10", "uniform_1q", 10, -0.26, 76.6),
    ],
)
def test_numbers_are_the_printed_ones(dataset, method, rounds, loss, error):
    assert printed(dataset, method, rounds) == (loss, error)


def test_losses_fall_with_the_rounds():
    """A column that slipped would break it."""
    for table in TABLES.values():
        for pairs in table.values():
            assert np.all(np.diff([loss for loss, _ in pairs]) < 0)


def test_no_number_for_other_rounds():
    assert printed("mnist", "ucb", 20) is None


def test_sizes_of_the_paper():
    assert (SETS["inria_person"].train, SETS["inria_person"].test) == (14_608, 5_656)
    assert (SETS["caltech101"].train, SETS["caltech101"].test) == (1_515, 2_020)
    assert [SETS[name].table for name in TABLES] == [1, 2, 3, 4]


# --- reading a curve ------------------------------------------------------------------------------


def separable(n=40):
    """Every round finds a stump without an error, so that the loss soon leaves what floats have."""
    y = np.arange(2 * n) % 2
    columns = np.array([255 * y, 200 * y, 90 * y], dtype=np.uint8)
    return SimpleNamespace(
        train=np.ascontiguousarray(columns[:, :n]),
        test=np.ascontiguousarray(columns[:, n:]),
        y_train=y[:n],
        y_test=y[n:],
        n_features=3,
        families=[np.arange(0, 1), np.arange(1, 3)],
        milliseconds=np.array([1.0, 2.0]),
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", KEYS[::4])
def test_losses_below_the_smallest_number_stay_finite(method):
    counts = {"train": [3, 1], "test": [3, 1]}
    rows = measure.learning_curve(
        cell(method, n_estimators=200, rounds=[1, 200], tables=[200], class_counts=counts),
        separable(),
    )
    assert rows[1]["log10_loss"] < -400  # the smallest number is 5e-324
    numbers = pd.DataFrame(rows).drop(columns="budget")
    assert np.isfinite(numbers.to_numpy(dtype=np.float64)).all()
    assert rows[1]["test_error"] == 0


@pytest.mark.parametrize("method", KEYS)
def test_every_method_is_read_at_every_round(method):
    rows = measure.learning_curve(cell(method), features())
    assert [(row["budget"], row["rounds"]) for row in rows] == [
        *(("paper", 1), ("paper", 5), ("paper", 12)),
        ("all", 5),
    ]
    assert [row["used_rounds"] for row in rows[:3]] == [1, 5, 12]
    losses = [row["log10_loss"] for row in rows[:3]]
    assert losses[2] < losses[1] < losses[0] <= 0
    tuned = next(m.tuned for m in METHODS if m.key == method)
    assert all((row["kept"] >= 0) == tuned for row in rows)


def test_rows_are_the_estimators_own():
    data = features()
    rows = measure.learning_curve(cell("tasting_1q"), data)
    model = AdaBoostMH(
        n_estimators=12,
        sampler="tasting_1q",
        max_cost=2,
        families=data.families,
        random_state=3,
        n_threads=1,
    ).fit(data.train.T, data.y_train)
    wrong = [np.mean(labels != data.y_test) for labels in model.staged_predict(data.test.T)]
    for row in rows[:3]:
        last = row["used_rounds"] - 1
        assert row["log10_loss"] == pytest.approx(np.log10(model.train_loss_[last]), rel=1e-5)
        assert row["test_error"] == pytest.approx(100 * wrong[last], rel=1e-5)
        spent = model.sampling_cost_[: last + 1].sum(axis=0)
        assert [row["paper_cost"], row["evaluations"]] == spent.tolist()
        # Prices by hand: families of the features used, and the stumps; a constant (-1) is free.
        tested = [int(f) for f in model.stumps_.feature[: last + 1] if f >= 0]
        used = {f // 4 for f in tested}
        price = sum([1.0, 2.0, 4.0][k] for k in used) + measure.SPLIT_COST * len(tested)
        assert row["prediction_ms"] == pytest.approx(price, rel=1e-5)
        assert row["families"] == len(used)
    # Tasting looks at every family in the first round, on all examples.
    assert rows[0]["feature_seconds"] == pytest.approx(120 * 7.0 / 1000)


def test_a_tuned_method_counts_its_own_evaluations_and_all():
    rows = measure.learning_curve(cell("ucb"), features())
    for row in rows:
        assert row["evaluations"] == row["paper_cost"] == 120 * 2 * row["used_rounds"]
        assert row["tuning_evaluations"] == 12 * row["evaluations"]
    best = measure.learning_curve(cell("best_family"), features())
    assert best[0]["kept"] == 1
    assert best[0]["tuning_evaluations"] == 3 * best[0]["evaluations"]
    # Kept is the second family, at 2 ms for each of 120 images; tried were all three.
    assert best[0]["feature_seconds"] == pytest.approx(120 * 2.0 / 1000)
    assert best[0]["tuning_feature_seconds"] == pytest.approx(120 * 7.0 / 1000)


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (9, (0, 0)),  # not even the first round
        (10, (1, 0)),
        (45, (2, 0)),
        (60, (3, 0)),
        (89, (3, 0)),  # another round of 30 would not fit
        (90, (3, 1)),
    ],
)
def test_last_round_within_a_budget(budget, expected):
    assert measure.rounds_within(budget, np.array([10, 30, 60])) == expected


def test_no_round_is_a_constant():
    """Tasting's first round alone looks at more than two features on each example."""
    data = features()
    row = measure.learning_curve(cell("tasting_1q", tables=[1]), data)[-1]
    assert (row["budget"], row["used_rounds"], row["log10_loss"]) == ("all", 0, 0.0)
    assert row["test_error"] == pytest.approx(100 * np.mean(data.y_test != 0), rel=1e-5)
    assert row["prediction_ms"] == row["feature_seconds"] == row["evaluations"] == 0


def test_timed_training_is_the_same_training():
    plain = measure.learning_curve(cell("laminating"), features())
    timed = measure.learning_curve(cell("laminating", timed=True), features())
    for row, other in zip(plain, timed, strict=True):
        assert {name: other[name] for name in row} == row
        assert 0 < other["training_seconds"] == other["tuning_seconds"]
    seconds = [row["training_seconds"] for row in timed[:3]]
    assert seconds == sorted(seconds)


def test_timed_tuning_takes_longer_than_what_is_kept():
    for row in measure.learning_curve(cell("ucb", timed=True), features()):
        assert row["training_seconds"] < row["tuning_seconds"]


def test_series_of_rounds():
    assert rounds_1_2_5(1_000) == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]
    assert rounds_1_2_5(10) == [1, 2, 5, 10]
    eighths = rounds_by_eighths(1_000)
    assert {1, 10, 100, 1_000} <= set(eighths)
    assert len(eighths) == len(set(eighths)) == 23
    assert rounds_by_eighths(7)[-1] == 7
