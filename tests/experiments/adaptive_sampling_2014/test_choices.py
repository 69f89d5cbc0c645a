"""What open choices of the adaptive-sampling paper change: each variant is what it is called."""

import numpy as np
import pandas as pd
import pytest

from algorithms import feature_sampling
from algorithms.adaboost_mh import AdaBoostMH
from algorithms.feature_sampling import SAMPLERS
from algorithms.stumps.sampling import Proposal, Sampler
from datasets.features import families_of
from datasets.features.feature_set import FeatureSet
from experiments import ablation
from experiments.adaptive_sampling_2014 import extra_choices
from experiments.adaptive_sampling_2014.cells import variants
from experiments.adaptive_sampling_2014.cells.variants import (
    VALUES,
    boost_exactly,
    read,
    staged_labels,
)
from experiments.adaptive_sampling_2014.extra_choices import (
    ARTEFACT,
    CHOICES,
    EXACT_FAMILIES,
    THRESHOLDS,
    make_cells,
)


def strokes(n, seed):
    """Grey images of 28 × 28 pixels and their three classes: a bar that lies, stands, or both."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    images = rng.integers(60, size=(n, 28, 28))
    for image, label in zip(images, y, strict=True):
        at = int(rng.integers(6, 20))
        if label != 0:
            image[:, at : at + 3] += 150
        if label != 1:
            image[at : at + 3] += 40
    return images.astype(np.uint8), y


def tiny():
    """A feature set of MNIST's shape with four families."""
    wanted = [f for f in families_of("mnist") if f.name in ("identity", *EXACT_FAMILIES)]
    (train, y_train), (test, y_test) = strokes(60, seed=1), strokes(40, seed=2)
    columns = [
        np.concatenate([family.columns(images).T for family in wanted]) for images in (train, test)
    ]
    ends = np.cumsum([family.size((28, 28)) for family in wanted])
    return FeatureSet(
        name="mnist",
        train=np.ascontiguousarray(columns[0]),
        test=np.ascontiguousarray(columns[1]),
        y_train=y_train,
        y_test=y_test,
        names=tuple(family.name for family in wanted),
        categories=tuple(family.category for family in wanted),
        families=np.split(np.arange(ends[-1]), ends[:-1]),
    )


TINY = tiny()


def cells_of(choice):
    return {
        cell.params["variant"]: cell
        for cell in make_cells("smoke", range(1))
        if cell.algorithm == choice.sampler
    }


# --- the samplers' parameters ---------------------------------------------------------------------


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.sampler)
def test_each_variant_is_what_it_is_called(choice, monkeypatch):
    fitted = []
    fit = AdaBoostMH.fit
    monkeypatch.setattr(
        AdaBoostMH, "fit", lambda self, X, y: fitted.append(self) or fit(self, X, y)
    )
    cells = cells_of(choice)
    assert list(cells) == ["default", *(change.name for change in choice.changes)]
    for cell in cells.values():
        read(cell, TINY)
    default = vars(SAMPLERS[choice.sampler]())
    assert vars(fitted[0].sampler) == default
    for change, model in zip(choice.changes, fitted[1:], strict=True):
        changed = {name for name, v in vars(model.sampler).items() if v != default[name]}
        assert changed == set(change.changes)
        same = fitted[0].get_params(deep=False)
        same |= {"sampler": model.sampler, "families": model.families}
        assert model.get_params(deep=False) == same
        assert model.families is TINY.families


def test_the_defaults_are_what_the_table_says():
    """Laminating's Q follows from the cost of a round, which pays for S."""
    problem = AdaBoostMH(
        n_estimators=1,
        sampler=SAMPLERS["laminating"](),
        max_cost=extra_choices.MAX_COST,
    ).fit(np.tile(np.arange(200, dtype=np.uint8)[:, None], 64), np.arange(200) % 3)
    S = 10 * 200 // (32 * 5)
    assert problem.sampling_cost_[0, 0] == 32 * 5 * S
    assert SAMPLERS["mas_naive"]().n_components == 3
    assert SAMPLERS["tasting_1q"]().n_tasted == 10
    for sampler in ("laminating", "mas_naive"):
        assert SAMPLERS[sampler]().by_weight is True


class Growing(Sampler):
    """The first `step` features in the first round, then `step` more in each."""

    def __init__(self, step):
        self.step, self.n = step, 0

    def propose(self, problem):
        self.n += self.step
        return Proposal(np.arange(self.n), 7 * self.n)


def test_a_row_is_read_after_its_round(monkeypatch):
    cell = cells_of(CHOICES[0])["Q_128"]
    monkeypatch.setitem(SAMPLERS, cell.algorithm, Growing)
    cell.params["given"] = {"step": 2}
    cell.params["rounds"][:] = [1, 3]
    early, late = read(cell, TINY)
    model = AdaBoostMH(n_estimators=3, sampler=Growing(2)).fit(TINY.train.T, TINY.y_train)
    staged = list(model.staged_predict(TINY.test.T))
    for row, t in ((early, 1), (late, 3)):
        assert row["log10_loss"] == pytest.approx(model.log_train_loss_[t - 1] / np.log(10), 1e-5)
        error = 100 * np.mean(staged[t - 1] != TINY.y_test)
        assert row["test_error"] == pytest.approx(error, 1e-5)
    assert (early["evaluations"], late["evaluations"]) == (2, 4)  # (2 + 4 + 6) / 3
    assert late["paper_cost"] == pytest.approx(7 * 4 / 60, 1e-5)


# --- exact thresholds -----------------------------------------------------------------------------


@pytest.mark.parametrize("n_values", [2, 9, 256])
def test_on_bytes_exact_thresholds_are_ours(n_values):
    """Few values, so that many cuts and many features are equally good; two constant features."""
    rng = np.random.default_rng(n_values)
    columns = rng.integers(n_values, size=(23, 90)).astype(np.uint8)
    columns[[4, 17]] = 3
    columns[8] = columns[2]
    y = np.arange(90) % 3
    ours = AdaBoostMH(n_estimators=40, sampler="uniform_naive", max_cost=6, random_state=5)
    ours.fit(columns.T, y)
    found = boost_exactly(columns.astype(float), y, 40, 6, seed=5)
    for mine, theirs in zip(found.stumps, ours.stumps_, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(found.log_loss, ours.log_train_loss_)
    np.testing.assert_array_equal(found.n_searched * 90, ours.sampling_cost_[:, 1])
    test = rng.integers(n_values, size=(23, 50)).astype(np.uint8)
    for a, b in zip(staged_labels(found, test), ours.staged_predict(test.T), strict=True):
        np.testing.assert_array_equal(a, b)


def test_without_a_cut_exact_thresholds_vote_as_we_do():
    """Constant features only: a constant vote for the larger classes."""
    columns, y = np.full((4, 7), 9, dtype=np.uint8), np.array([0, 0, 0, 0, 1, 1, 2])
    ours = AdaBoostMH(n_estimators=3, sampler="uniform_naive", max_cost=2, random_state=0)
    ours.fit(columns.T, y)
    found = boost_exactly(columns.astype(float), y, 3, 2, seed=0)
    assert found.stumps.feature.tolist() == [-1, -1, -1]
    for mine, theirs in zip(found.stumps, ours.stumps_, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert next(staged_labels(found, columns)).tolist() == ours.predict(columns.T).tolist()


@pytest.mark.parametrize(
    ("column", "y", "feature", "threshold"),
    [
        ([0, 1, 2], [0, 1, 2], 0, 0.5),  # two cuts set one class apart: the lower one
        ([0, 1, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], -1, 0.0),  # no better than a constant vote
    ],
)
def test_among_equals_exact_thresholds_choose_as_we_do(column, y, feature, threshold):
    column, y = np.array([column], dtype=np.uint8), np.array(y)
    found = boost_exactly(column.astype(float), y, 1, 1, seed=0).stumps
    ours = AdaBoostMH(n_estimators=1, sampler="uniform_naive", max_cost=1).fit(column.T, y)
    assert (found.feature[0], found.threshold[0]) == (feature, threshold)
    for mine, theirs in zip(found, ours.stumps_, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_exact_thresholds_see_what_bytes_do_not():
    """Values that one byte holds together are cut apart, halfway."""
    values = np.array([[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]])
    found = boost_exactly(values, np.array([0, 0, 0, 1, 1, 2]), 1, 1, seed=0)
    assert found.stumps.threshold.tolist() == [pytest.approx(0.25)]


BYTES = {
    "fourier_magnitude": lambda v: 255 * np.log1p(v / 28) / np.log1p(255 * 784 / 28),
    "gradient_magnitude": lambda v: v / np.sqrt(2),
    "hog_unoriented_7": lambda v: 255 * np.sqrt(v),
}
"""What the families' documentation says of how values become bytes."""


@pytest.mark.parametrize("name", EXACT_FAMILIES)
def test_real_values_are_the_families_before_they_become_bytes(name):
    columns = TINY.train[variants._family(TINY, name)].T
    pixels = variants._pixels(TINY, "train")
    np.testing.assert_array_equal(pixels, strokes(60, seed=1)[0])
    values = VALUES[name](pixels)
    assert values.shape == columns.shape
    rounded = np.rint(BYTES[name](values))
    # Histograms of gradients are made of magnitudes in steps of 1/16 grey level.
    wrong = 2 if name == "hog_unoriented_7" else 1
    assert np.abs(rounded - columns).max() <= wrong
    assert np.mean(rounded != columns) < 0.05
    assert len(np.unique(values)) > 3 * len(np.unique(columns))


def test_both_sides_of_the_comparison_draw_the_same_features(monkeypatch):
    cells = cells_of(THRESHOLDS)
    assert list(cells) == ["8_bit", "exact"]
    drawn = []
    for module in (feature_sampling, variants):
        honest = module.draw
        monkeypatch.setattr(
            module,
            "draw",
            lambda *given, honest=honest: drawn.append(honest(*given)) or drawn[-1],
        )
    (ours,), (exact,) = (read(cell, TINY) for cell in cells.values())
    np.testing.assert_array_equal(drawn[:10], drawn[10:])
    assert ours["paper_cost"] == exact["paper_cost"] == exact["evaluations"] == 10
    assert ours["log10_loss"] != exact["log10_loss"]


def test_exact_thresholds_are_tested_on_the_test_images():
    (row,) = read(cells_of(THRESHOLDS)["exact"], TINY)
    train, test = (
        np.concatenate([VALUES[name](images) for name in EXACT_FAMILIES], axis=1).T
        for images, _ in (strokes(60, seed=1), strokes(40, seed=2))
    )
    found = boost_exactly(train, TINY.y_train, 10, 10, seed=0)
    *_, labels = staged_labels(found, test)
    assert row["log10_loss"] == pytest.approx(found.log_loss[-1] / np.log(10), 1e-5)
    assert row["test_error"] == pytest.approx(100 * np.mean(labels != TINY.y_test), 1e-5)


def test_only_the_first_training_images_are_used():
    for cell in cells_of(THRESHOLDS).values():
        assert cell.params["n_train"] == 2000
        whole = read(cell, TINY)
        cell.params["n_train"] = 30
        assert read(cell, TINY) != whole


# --- cells and table ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_every_cell_is_declared_once(scale):
    cells = ARTEFACT.cells(scale)
    sets = {"mnist"} if scale == "smoke" else set(extra_choices.TITLES)
    assert {cell.dataset for cell in cells} == sets
    assert len(cells) == ARTEFACT.seeds[scale] * (12 * len(sets) + 2)


def rows(scale="laptop"):
    """Made up: every change adds 0.1 to the loss, and 1 to the error at T = 10, else nothing."""
    found = []
    for cell in make_cells(scale, range(2)):
        changed = cell.params["variant"] not in ("default", "8_bit")
        bonus = 0.5 * (cell.dataset == "cifar10" and cell.params["variant"] == "R_3")
        found += [
            {
                "variant": cell.params["variant"],
                "dataset": cell.dataset,
                "algorithm": cell.algorithm,
                "seed": cell.seed,
                "rounds": t,
                "log10_loss": -0.4 + 0.01 * cell.seed + (0.1 + bonus) * changed,
                "test_error": 30.0 + (cell.seed + 1) * changed * (t == 10),
                "paper_cost": 10.0,
                "evaluations": 19.0,
            }
            for t in cell.params["rounds"]
        ]
    return pd.DataFrame(found)


def meta(scale="laptop", kind="real"):
    record = {"kind": kind, "rows": {"train": 10_000}}
    return {"scale": scale, "seeds": [0, 1], "data": dict.fromkeys(extra_choices.TITLES, record)}


def test_differences_are_paired_by_seed():
    table = rows()
    choice = CHOICES[0]
    where = {"dataset": "mnist", "algorithm": choice.sampler, "rounds": 10}
    pair = (choice.changes[0].name, "test_error", choice.default.name)
    assert ablation.difference(ablation.of(table, where), *pair).tolist() == [1.0, 2.0]
    one_less = table[~((table["seed"] == 0) & (table["variant"] == "default"))]
    assert ablation.difference(ablation.of(one_less, where), *pair).index.tolist() == [1]


def test_table():
    text = ARTEFACT.render(rows(), meta())
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    defaults = [line for line in lines if line.startswith("| **")]
    changes = [line for line in lines if line.startswith("|  |")]
    assert (len(defaults), len(changes)) == (4 * 3 + 1, 4 * 9 + 1)
    assert defaults[0].split(" | ")[:5] == [
        "| **Laminating**",
        "Q = 32, examples drawn by weight",
        "10.0 (19.0)",
        "−0.395 ± 0.007",
        "30.00 ± 0.00",
    ]
    assert all("+0.100 ± 0.000 | +1.50 ± 0.71 | +0.100 ± 0.000 | +0.00" in x for x in changes[:9])
    assert "## MNIST (real), N = 10,000" in text
    assert "The first 2,000 training images" in text
    assert "the images are the same" in text
    text = ARTEFACT.render(rows("smoke"), meta("smoke", "synthetic"))
    assert "and of synthetic data in the images" in text


def test_what_costs_too_much_is_marked():
    table = rows()
    table.loc[table["variant"] == "Q_2048", "paper_cost"] = 22.53
    lines = ARTEFACT.render(table, meta()).splitlines()
    assert sum("† (19.0)" in line for line in lines) == 4
    assert all("| Q = 2,048 | 22.5† (19.0) |" in line for line in lines if "† (" in line)


def test_nothing_is_no_less_than_nothing():
    table = rows()
    table.loc[table["variant"] == "exact", "log10_loss"] -= 0.1001
    last = ARTEFACT.render(table, meta()).splitlines()[-1]
    assert "| +0.000 ± 0.000 |" in last
