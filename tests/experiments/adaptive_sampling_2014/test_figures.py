"""Figures 1 to 3 of the adaptive-sampling paper, and Theorem 1."""

import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from experiments.adaptive_sampling_2014 import figure1, figure2, figure3
from experiments.adaptive_sampling_2014.cells import edge_difference, gaussian_edges, trials
from experiments.adaptive_sampling_2014.claims import growth, saving
from experiments.artefact import Cell
from experiments.cells import sample_images
from experiments.data_kinds import NAME
from experiments.looks import LOOKS
from experiments.style import house_style
from reference import adaptive_sampling
from tests.experiments.pictures import unreadable

SEEDS = [0, 1, 2, 3, 4]


def table_of(artefact, cells, data):
    """Rows of some cells, as the runner puts them together."""
    rows = [
        {"dataset": cell.dataset, "algorithm": cell.algorithm, "seed": cell.seed, **row}
        for cell in cells
        for row in artefact.run_cell(cell, data)
    ]
    table = pd.DataFrame(rows)
    declared = {*artefact.row_keys(), *artefact.tolerances, *artefact.drawn_columns}
    assert set(table.columns) == declared
    assert not table.duplicated(artefact.row_keys()).any()
    return table


METHODS = (
    *("best_family", "uniform_naive", "uniform_1q", "uniform_q1", "ucb", "exp3p", "epsilon_greedy"),
    *("tasting_1q", "tasting_q1", "mas_naive", "mas_1q", "mas_q1", "laminating"),
)


def lightness(colour):
    """Relative luminance of a colour, 0 black to 1 white, as in the WCAG."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_thirteen_methods_have_looks_visible_on_white():
    looks = [LOOKS[method] for method in METHODS]
    assert len({look.marker for look in looks}) == len(METHODS)
    assert all(lightness(look.colour) < 0.55 for look in looks)


def test_methods_of_a_kind_differ_in_lightness():
    for kind in ("uniform_", "tasting_", "mas_"):
        found = sorted(lightness(LOOKS[m].colour) for m in METHODS if m.startswith(kind))
        assert all(b > 1.3 * a for a, b in pairwise(found)), kind


# --- Theorem 1 ------------------------------------------------------------------------------------


def test_the_bounds_that_follow():
    C = adaptive_sampling.C
    assert pytest.approx(5.862, abs=5e-4) == C
    assert 2 * C * C == pytest.approx(69, abs=0.5)
    # Theorem 1 is the union bound of Lemma 1 over iterations that share out δ.
    delta, S = 0.5, 4000
    for divisor, bound in (
        (adaptive_sampling.OF_VOTES, adaptive_sampling.failure_bound_of_votes(delta, S)),
        (adaptive_sampling.PRINTED, 4 / (1 - math.exp(-(delta**2) * S / (2 * C * C))) - 4),
    ):
        shares = [delta / C * math.sqrt(k / 2 ** (k - 1)) for k in range(1, 60)]
        assert sum(shares) == pytest.approx(delta)
        terms = [
            adaptive_sampling.lemma_bound(share, S * 2**k, divisor)
            for k, share in enumerate(shares)
        ]
        assert sum(terms) == pytest.approx(bound)


def test_lemma_1_as_printed_is_false():
    """Two learners of edges δ/2 and -δ/2 that always disagree: the exact probability."""
    delta, S = 0.5, 48
    fails = stats.binom.cdf(S // 2, S, (1 + delta / 2) / 2)  # the better one is not ahead
    assert fails == pytest.approx(0.05, abs=0.005)
    assert adaptive_sampling.lemma_bound(delta, S) == pytest.approx(0.01, abs=0.001)
    for n in range(1, 400):  # with Hoeffding's inequality for votes it holds
        fails = stats.binom.cdf(n // 2, n, (1 + delta / 2) / 2)
        assert fails <= adaptive_sampling.lemma_bound(delta, n, adaptive_sampling.OF_VOTES)


def small_trials(**changes):
    given = {
        "procedure": "one iteration",
        "votes": "opposed",
        "n_features": 2,
        "delta": 0.5,
        "strengths": [12],
        "trials": 20_000,
    }
    return trials.run_cell(Cell(NAME, "laminating", {**given, **changes}, 0), None)[0]


def test_opposed_votes_fail_as_the_binomial_says():
    row = small_trials()
    assert row["n_examples"] == 48
    exact = stats.binom.cdf(24, 48, (1 + 0.25) / 2)
    assert row["failures"] / row["trials"] == pytest.approx(exact, abs=0.005)
    # All others vote alike: how many they are makes no difference to one iteration.
    assert small_trials(n_features=64)["failures"] == row["failures"]


def test_independent_votes_of_two_learners():
    row = small_trials(votes="independent")
    ways = np.arange(49)
    best = stats.binom.pmf(ways, 48, (1 + 0.25) / 2)
    exact = float(np.sum(best * stats.binom.sf(ways - 1, 48, (1 - 0.25) / 2)))
    assert row["failures"] / row["trials"] == pytest.approx(exact, abs=0.002)


def test_the_whole_procedure_is_its_iterations():
    """With opposed votes an iteration's failures do not depend on the others."""
    row = small_trials(procedure="whole", n_features=8, strengths=[4])
    kept = 1.0
    for S in (16, 32, 64):
        kept *= stats.binom.sf(S // 2, S, (1 + 0.25) / 2)
    assert row["failures"] / row["trials"] == pytest.approx(1 - kept, abs=0.01)


def test_failures_are_those_of_algorithm_4():
    """Independent votes, the reference's best half: few learners, few examples."""
    rng, lost, n = np.random.default_rng(1), 0, 4000
    for _ in range(n):
        features, S = np.arange(8), 8
        while len(features) > 1:
            right = np.where(features == 7, 1.25 / 2, 0.75 / 2)  # the last: equal ones are lost
            edges = 2 * rng.binomial(S, right) / S - 1
            features, S = adaptive_sampling.best_half(features, edges), 2 * S
        lost += features[0] != 7
    row = small_trials(procedure="whole", votes="independent", n_features=8, strengths=[2])
    assert row["n_examples"] == 8
    assert row["failures"] / row["trials"] == pytest.approx(lost / n, abs=0.03)


# --- Figure 1 -------------------------------------------------------------------------------------


def test_draws_agree_with_the_formula():
    places = [(0, 1, 100), (0, 5, 100), (0, 40, 25.0), (0, 40, 1e9)]
    found = gaussian_edges.simulate(0.1, places, 20_000, np.random.default_rng(0))
    Q, S = [1, 5, 40, 40], [100, 100, 25.0, 1e9]
    expected = gaussian_edges.expected_edge_of_one_gaussian(Q, S, 0.1)
    for (mean, error), value in zip(found, expected, strict=True):
        assert 0 < error < 0.001
        assert abs(mean - value) < 4 * error


def test_best_size_of_a_parabola():
    sizes = figure1.sizes(1000, 6)
    assert (sizes[0], sizes[-1], len(set(sizes))) == (1, 1000, len(sizes))
    top = 1.7
    values = -((np.log10(sizes) - top) ** 2)
    line = pd.DataFrame({"n_features": sizes, "expected": values})
    assert figure1.best_size(line, "expected") == pytest.approx(10**top)
    rising = line.assign(expected=np.arange(len(sizes)))
    assert figure1.best_size(rising, "expected") == 1000


# --- Figure 2 -------------------------------------------------------------------------------------


def digits(n=400, side=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    train = rng.integers(0, 200, (n, side, side)).astype(np.uint8)
    train[:, 1, 2] += (20 * y).astype(np.uint8)
    train[:, 3, 3] += (15 * (y == 1)).astype(np.uint8)
    return SimpleNamespace(train=train, y_train=y)


@pytest.mark.parametrize("name", figure2.STRATEGIES)
def test_watching_changes_nothing_and_sees_the_best_edge(name):
    images = digits()
    X = np.asfortranarray(images.train.reshape(len(images.train), -1))
    sampler, Q, S = edge_difference.strategy(name, 4, *X.shape)
    options = {"n_estimators": 6, "max_cost": 4, "random_state": 3, "n_threads": 1}
    plain = AdaBoostMH(sampler=sampler, **options).fit(X, images.y_train)
    cell = Cell("mnist", name, {"passes": 4, "rounds": 6}, 3)
    rows = edge_difference.run_cell(cell, images)
    edges = [row["edge"] for row in rows]
    np.testing.assert_allclose(edges, plain.stumps_.edge, rtol=1e-5)
    assert all(row["difference"] >= 0 for row in rows)
    assert (rows[0]["n_features"], rows[0]["n_examples"]) == (Q, S)
    assert [row["cost"] for row in rows] == plain.sampling_cost_[:, 0].tolist()
    # In the first round all strategies face the same weights: the best edge is a full search's.
    best = AdaBoostMH(sampler="all_features", **options).fit(X, images.y_train).stumps_.edge[0]
    assert rows[0]["edge"] + rows[0]["difference"] == pytest.approx(best, abs=1e-5)
    assert edge_difference.run_cell(cell, images) == rows


def test_watching_all_features_there_is_no_difference():
    images = digits()
    cell = Cell("mnist", "uniform_naive", {"passes": 16, "rounds": 4}, 0)
    assert [row["difference"] for row in edge_difference.run_cell(cell, images)] == [0.0] * 4


def test_sizes_are_the_papers():
    """Figure 2's legend: QS = 180,000 and 600,000."""
    found = {
        (name, passes): edge_difference.strategy(name, passes, 60_000, 784)[1:]
        for name in figure2.STRATEGIES
        for passes in figure2.PASSES["laptop"]
    }
    assert found["uniform_naive", 3] == (3, 60_000)
    assert found["uniform_naive", 10] == (10, 60_000)
    assert found["uniform_examples", 3] == (784, 230)
    assert found["uniform_examples", 10] == (784, 765)
    for passes in (3, 10):
        Q, S = found["laminating", passes]
        assert Q * S * 9 <= passes * 60_000 < Q * (S + 1) * 9
    sampler = edge_difference.strategy("laminating", 3, 60_000, 784)[0]
    assert isinstance(sampler, Laminating)


# --- Figure 3 -------------------------------------------------------------------------------------


def test_images_are_chosen_as_said():
    labels = np.array([1, 0, 0, 2, 1, 2, 0])
    rng = np.random.default_rng(0)
    assert sample_images.chosen(labels, "first", 3, rng).tolist() == [0, 1, 2]
    assert sample_images.chosen(labels, "first of each class", 1, rng).tolist() == [1, 0, 3]
    each = sample_images.chosen(labels, "random of each class", 2, rng)
    assert labels[each].tolist() == [0, 0, 1, 1, 2, 2]
    assert len(set(each.tolist())) == 6
    some = sample_images.chosen(labels, "random", 9, rng)
    assert sorted(labels[some].tolist()) == [0, 1, 2]


@pytest.mark.parametrize("shape", [(28, 28), (8, 4, 3)])
def test_pixels_come_back_as_they_were(shape):
    rng = np.random.default_rng(0)
    train = rng.integers(0, 256, (5, *shape)).astype(np.uint8)
    images = SimpleNamespace(train=train, y_train=np.arange(5))
    rows = sample_images.run_cell(Cell("mnist", "sample_images", {"rule": "first", "n": 5}), images)
    for row, image in zip(rows, train, strict=True):
        np.testing.assert_array_equal(sample_images.picture(row), image)


def test_sample_images_stay_at_home():
    artefact = figure3.ARTEFACT
    assert not artefact.committed_picture
    assert artefact.drawn_columns == ("pixels",)
    images = digits()
    table = pd.concat(
        [table_of(artefact, [cell], images) for cell in artefact.cells("smoke")], ignore_index=True
    )
    kinds = {name: {"kind": "real", "rows": {"train": 400}} for name in figure3.SETS}
    kinds["cifar10"] = {"kind": "synthetic", "rows": {"train": 300}}
    meta = {"data": kinds, "scale": "smoke", "seeds": [0]}
    with house_style(artefact.id):
        figure = artefact.render(table, meta)
    assert unreadable(figure) == []
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert ["SYNTHETIC" in title for title in titles] == [False, False, False, True]


@pytest.mark.slow
def test_growth_by_the_formula():
    artefact = figure1.ARTEFACT
    # With as many draws as the formula needs to be seen in a mean of five.
    more = {"draws": 4_000}
    cells = [
        replace(cell, params=cell.params | more) if "draws" in cell.params else cell
        for cell in artefact.cells("smoke", 5)
    ]
    assert {c.params["std"] for c in cells} == {0.1, 0.01}
    table = table_of(artefact, cells, None)
    for cost in figure1.COSTS:
        effects = growth(table, cost)
        assert effects.shape == (5,)
        assert np.std(effects) > 0  # a verdict rests on their spread
        # By the formula itself, on the same grid.
        at = (table["kind"] == "line") & (table["cost"] == cost)
        at &= table["seed"] == figure1.FIRST_SEED
        best = [
            figure1.best_size(table[at & (table["std"] == std)], "expected") for std in figure1.STDS
        ]
        assert np.mean(effects) == pytest.approx(math.log10(best[0] / best[1]), abs=0.35)


@pytest.mark.slow
def test_savings_by_hand():
    artefact = figure2.ARTEFACT
    cells = [
        Cell("mnist", name, {"passes": passes, "rounds": 3}, seed)
        for seed in SEEDS
        for passes in (2, 5)
        for name in figure2.STRATEGIES
    ]
    table = table_of(artefact, cells, digits())
    means = {"uniform_naive": 0.2, "uniform_examples": 0.1, "laminating": 0.04}
    table["difference"] = table["algorithm"].map(means) * (1 + 0.01 * table["round"])
    np.testing.assert_allclose(saving(table, 2), 0.6)  # 0.04 instead of 0.1
    table.loc[(table["passes"] == 5) & (table["algorithm"] == "uniform_naive"), "difference"] = 0.02
    assert np.all(saving(table, 5) < 0)
