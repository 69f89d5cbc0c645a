"""Tables 1 to 4: the paper's numbers, the reading of a curve, claims, correlations, rendering."""

import csv
import html
import importlib
import itertools
import json
import statistics
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from datasets.features import caltech, mash, nineteen, sizes
from experiments.adaptive_sampling_2014 import (
    extra_milliseconds,
    extra_milliseconds_table,
    extra_prediction_cost,
)
from experiments.adaptive_sampling_2014.cells import measure
from experiments.adaptive_sampling_2014.cells.grid import (
    make_cells,
    rounds_1_2_5,
    rounds_by_eighths,
)
from experiments.adaptive_sampling_2014.cells.headline import FAMILIES
from experiments.adaptive_sampling_2014.cells.methods import (
    BASELINE,
    KEYS,
    MAS,
    METHODS,
    TASTING,
    group,
)
from experiments.adaptive_sampling_2014.claims import alike, no_advantage, no_better_error, of_table
from experiments.adaptive_sampling_2014.show import orderings, tables
from experiments.adaptive_sampling_2014.show.curve_panels import KINDS
from experiments.adaptive_sampling_2014.show.paper_tables import ROUNDS, SETS, TABLES, printed
from experiments.adaptive_sampling_2014.show.ranking import agreement, order
from experiments.artefact import Cell
from experiments.claims import evaluate
from experiments.running.provenance import ROOT
from experiments.style import LOOKS, house_style
from tests.experiments.published_rows import readme

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


def features(n=120, seed=0):
    """Twelve features in three families, of which the second tells three classes apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=2 * n)
    columns = rng.integers(256, size=(12, 2 * n))
    columns[4:8] = np.clip(60 * y + rng.integers(80, size=(4, 2 * n)), 0, 255)
    columns = columns.astype(np.uint8)
    return SimpleNamespace(
        train=np.ascontiguousarray(columns[:, :n]),
        test=np.ascontiguousarray(columns[:, n:]),
        y_train=y[:n],
        y_test=y[n:],
        n_features=12,
        families=[np.arange(0, 4), np.arange(4, 8), np.arange(8, 12)],
        milliseconds=np.array([1.0, 2.0, 4.0]),
    )


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
@pytest.mark.parametrize("method", KEYS)
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


def cell(method, **params):
    given = {"n_estimators": 12, "max_cost": 2, "rounds": [1, 5, 12], "tables": [5], "timed": False}
    return Cell("mnist", method, {**given, **params}, seed=3)


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


def test_prediction_cost_reads_the_cells_of_the_tables():
    """So what the tables have computed is not computed again."""
    of_tables = [c for name in SETS for c in make_cells(name, "laptop", range(2))]
    assert extra_prediction_cost.ARTEFACT.cells("laptop") == of_tables
    timed = extra_milliseconds.ARTEFACT.cells("laptop")
    assert timed == extra_milliseconds_table.ARTEFACT.cells("laptop")
    assert all(c.alone and c.params["timed"] for c in timed)


# --- claims ---------------------------------------------------------------------------------------


def made_up(losses, dataset="mnist", rounds=(10, 100, 1_000), errors=None, n_seeds=5):
    """Rows in which each method has the same loss at each T but for a small noise by seed."""
    noise = np.random.default_rng(0).normal(scale=1e-3, size=(n_seeds, len(KEYS)))
    rows = []
    for seed in range(n_seeds):
        for m, method in enumerate(KEYS):
            for budget in ("paper", "all"):
                for t in rounds:
                    loss = losses.get(method, losses.get("others")) + noise[seed, m]
                    error = (errors or {}).get(method, 10.0) + noise[seed, m]
                    rows.append(
                        {
                            "dataset": dataset,
                            "algorithm": method,
                            "seed": seed,
                            "budget": budget,
                            "rounds": t,
                            "used_rounds": t,
                            "log10_loss": loss,
                            "test_error": error,
                            "kept": seed,
                            "short": 0,
                            "feature_seconds": 2.0,
                            "tuning_feature_seconds": 3.0,
                            "prediction_ms": float(t),
                            "training_seconds": t / 100,
                            "tuning_seconds": t / 10,
                        }
                    )
    return pd.DataFrame(rows)


def meta_of(*datasets, kind="real", n_seeds=5):
    record = {
        "kind": kind,
        "source": "mirror",
        "missing": "nothing",
        "rows": {"train": 10_000, "test": 10_000},
        "n_features": 16_771,
        "families": dict.fromkeys(sorted(sizes(datasets[0])), 10),  # as meta.json has them
        "cost_origin": "measured by hand",
    }
    data = {name: record for name in datasets}
    return {"scale": "laptop", "seeds": list(range(n_seeds)), "data": data}


def found_on(rows, dataset="mnist"):
    meta = meta_of(dataset)
    found = evaluate(of_table(dataset, rows, meta), rows, meta["data"])
    return found.set_index("claim")


def test_effects_by_hand():
    table = pd.DataFrame({name: [float(k), float(2 * k)] for k, name in enumerate(KEYS)})
    # Methods 0 to 6 are the baselines, 7 and 8 Tasting, 9 to 11 M.A.S., 12 Laminating.
    np.testing.assert_allclose(orderings.lead(table, group(TASTING), group(MAS)), [2.5, 5.0])
    np.testing.assert_allclose(orderings.lead(table, group(MAS), group(BASELINE)), [-7, -14])
    np.testing.assert_allclose(orderings.lead_over_best(table, "laminating"), [-12, -24])
    np.testing.assert_allclose(orderings.lead_over_best(table, "best_family"), [1, 2])
    np.testing.assert_allclose(no_advantage(table), [9.02, 18.02])
    np.testing.assert_allclose(alike(table), [0.6 - 11, 0.6 - 22])
    np.testing.assert_allclose(no_better_error(table, "best_family"), [-0.8, -1.8])


def test_a_method_that_is_missing_gives_no_effect():
    table = pd.DataFrame({name: [1.0] for name in KEYS if name != "mas_1q"})
    for effect in (
        partial(orderings.lead, ahead=["laminating"], behind=group(MAS)),
        partial(orderings.lead_over_best, method="laminating"),
        no_advantage,
        alike,
    ):
        assert len(effect(table)) == 0


def test_the_papers_order_is_above_nothing():
    losses = {"others": -1.0, "laminating": -2.0}
    losses |= dict.fromkeys(group(MAS, TASTING), -1.5)
    found = found_on(made_up(losses))
    early = [name for name in found.index if not name.endswith("-10000")]
    assert len(early) == 9
    assert (found.loc[early, "low"] > 0).all()
    assert (found.loc[early, "note"] == "").all()
    assert found.loc["laminating-wins-100", "effect"] == pytest.approx(0.5, abs=0.01)
    late = found.drop(index=early)
    # Table 1 prints 0.92 % for Best family, 0.99 % for the mean of the three others.
    denied = late["note"].str.startswith("denied by the paper's own table")
    assert list(late.index[denied]) == ["best-family-behind-10000"]
    assert late["note"].str.endswith("not run at this scale").all()
    assert (late["n"] == 0).all()
    assert late["effect"].isna().all()


def test_the_opposite_order_is_below_nothing():
    found = found_on(made_up({"others": -1.0, "laminating": -0.9, "mas_1q": -0.5}))
    assert (found.loc[["laminating-wins-10", "mas-ahead-10"], "high"] < 0).all()


@pytest.mark.parametrize(("sampled", "inside"), [(-1.0, True), (-1.1, False)])
def test_no_advantage_of_sampling_examples(sampled, inside):
    losses = {"others": -1.0} | dict.fromkeys(group(MAS, "Laminating"), sampled)
    found = found_on(made_up(losses, "caltech101"), "caltech101")
    assert (found.loc["no-advantage-100", "low"] > 0) == inside
    assert (found.loc["no-advantage-100", "high"] < 0) != inside
    assert {"mas-beaten-1000", "laminating-beaten-1000"} <= set(found.index)


def test_claims_about_the_end_have_effects_at_paper_scale():
    losses = {"others": -1.0} | dict.fromkeys(group(TASTING), -1.2)
    found = found_on(made_up(losses, rounds=(10, 100, 1_000, 10_000)))
    assert (found.loc[["tasting-best-10000", "alike-10000"], "low"] > 0).all()


def test_claims_carry_the_papers_own_effect():
    found = found_on(made_up({"others": -1.0}))
    # Table 1 at T = 1,000: -2.00 against -1.91 of Tasting.
    assert found.loc["laminating-wins-1000", "paper_effect"] == pytest.approx(0.09)
    # Table 1 at T = 10,000: 0.88 to 1.08 % without Best family, 0.4 less than 0.6 points.
    assert found.loc["alike-10000", "paper_effect"] == pytest.approx(0.4)


def mean_loss(dataset, methods, rounds):
    """As printed, by another way than the claims': in hundredths, which are whole numbers."""
    column = ROUNDS.index(rounds)
    losses = [round(100 * TABLES[dataset][method][column][0]) for method in methods]
    return Fraction(sum(losses), len(losses))


@pytest.mark.parametrize("dataset", ["mnist", "inria_person", "cifar10"])
@pytest.mark.parametrize("rounds", [10, 100, 1_000])
def test_what_the_papers_own_table_denies(dataset, rounds):
    """Decided by the printed numbers alone, whatever our rows say."""
    found = found_on(made_up({"others": -1.0, "laminating": -2.0}, dataset), dataset)["note"]
    others = [mean_loss(dataset, [m], rounds) for m in KEYS if m != "laminating"]
    wins = mean_loss(dataset, ["laminating"], rounds) < min(others)
    denied = {f"laminating-wins-{rounds}": not wins}
    for name, methods in (("mas", group(MAS)), ("tasting", group(TASTING))):
        ahead = mean_loss(dataset, methods, rounds) < mean_loss(dataset, group(BASELINE), rounds)
        denied[f"{name}-ahead-{rounds}"] = not ahead
    for claim, is_denied in denied.items():
        assert ("denied by the paper's own table" in found[claim]) == is_denied
    assert sum(denied.values()) == (2 if (dataset, rounds) == ("cifar10", 1_000) else 0)


def test_sentences_speak_for_the_images_that_all_seeds_share():
    rows, only = made_up({"others": -1.0}), "on these images, the same for every seed"
    for kind, said in (("real", True), ("stand-in", False)):
        claims = of_table("mnist", rows, meta_of("mnist", kind=kind))
        assert all((only in claim.sentence) == said for claim in claims)


# --- agreement with the printed numbers -----------------------------------------------------------


def test_agreement_by_hand():
    paper = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0})
    same = pd.DataFrame({"a": [1, 1.1], "b": [2, 2.1], "c": [3, 3.3], "d": [0, 0]})
    found = agreement(same, paper)
    assert found.tau == found.rho == (1.0, 1.0, 1.0)
    assert found.n == 3  # the paper has no d
    assert found.difference == pytest.approx((0.25 / 3, 0.0, 0.5 / 3))
    turned = agreement(pd.DataFrame({"a": [2.0], "b": [1.0], "c": [3.0]}), paper)
    assert turned.tau.value == pytest.approx(1 / 3)  # two pairs of three agree
    assert turned.rho.value == pytest.approx(1 / 2)  # 1 - 6·(1 + 1 + 0) / (3·8)
    assert turned.difference.value == 0


def test_intervals_hold_what_repetitions_differ_in():
    paper = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0})
    ours = pd.DataFrame({"a": [1.0, 9.0], "b": [2.0, 8.0], "c": [3.0, 7.0]})
    found = agreement(ours, paper)
    assert found.tau[1:] == found.rho[1:] == (-1.0, 1.0)
    assert found.difference == (3.0, 0.0, 6.0)
    once = agreement(ours.iloc[:1], paper)
    assert once.tau.value == once.rho.value == 1.0
    assert np.isnan([once.tau.low, once.rho.low, once.difference.low]).all()


def test_equal_means_are_a_tie_however_they_were_summed():
    ours = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [1.0, 1.0, 1.0]})
    assert len(set(ours[["a", "b"]].mean())) == 2
    found = agreement(ours, pd.Series({"a": 1.0, "b": 2.0, "c": 3.0}))
    assert found.rho.value == pytest.approx(np.sqrt(3) / 2)


def test_methods_that_are_all_alike_have_no_order():
    found = agreement(pd.DataFrame({"a": [1.0], "b": [1.0]}), pd.Series({"a": 1.0, "b": 2.0}))
    assert np.isnan([found.tau.value, found.rho.value]).all()
    assert found.difference.value == -0.5


def test_pairs_by_hand():
    """Told apart by both, or not; never by one repetition, nor where the paper prints a tie."""
    paper = pd.Series({"a": 1.0, "b": 1.02, "c": 1.03, "d": 3.0})
    ours = pd.DataFrame(
        {"a": [1.0, 1.1, 1.2], "b": [1.5, 1.6, 1.71], "c": [0.8, 0.9, 1.01], "d": [0.0, 3.0, 9.0]}
    )
    found = order(ours, paper)
    # a before b as printed; c before a, not as printed; b and c are a tie in print, d is noise.
    assert found == (1, (("a", "c"),), 4)
    assert order(ours.iloc[:1], paper) == (0, (), 6)
    assert order(ours.assign(d=np.nan, e=1.0), paper).undecided == 1


ORDER = ROOT / "results" / "sampling-order.csv"


@pytest.mark.parametrize("dataset", SETS)
def test_published_orders_are_those_of_the_files(dataset):
    """Each pair counted from the rows in plain Python, with the quantile of a printed table."""
    quantile = 4.604095  # t with 4 degrees of freedom, 99.5 %
    losses = {}
    for row in published(dataset)[1]:
        if row["budget"] == "paper" and row["algorithm"] in KEYS:
            key = (int(row["rounds"]), row["algorithm"])
            losses.setdefault(key, {})[row["seed"]] = float(row["log10_loss"])
    with ORDER.open() as file:
        lines = [r for r in csv.DictReader(file) if r["table"][-1:] == str(SETS[dataset].table)]
    assert [int(line["rounds"]) for line in lines] == list(ROUNDS)
    for line, position in zip(lines, range(4), strict=True):
        counts, against = {"agree": 0, "disagree": 0, "undecided": 0}, []
        for a, b in itertools.combinations(KEYS, 2):
            mine, other = (losses[ROUNDS[position], key] for key in (a, b))
            differences = [mine[seed] - other[seed] for seed in sorted(mine)]
            assert len(differences) == 5
            mean, sd = statistics.mean(differences), statistics.stdev(differences)
            printed_cents = round(100 * (TABLES[dataset][a][position][0]
                                         - TABLES[dataset][b][position][0]))  # fmt: skip
            if abs(printed_cents) < 2 or abs(mean) <= quantile * sd / 5**0.5:
                counts["undecided"] += 1
            elif (mean > 0) == (printed_cents > 0):
                counts["agree"] += 1
            else:
                counts["disagree"] += 1
                against.append(f"{a}>{b}" if printed_cents < 0 else f"{b}>{a}")
        assert {name: int(line[name]) for name in counts} == counts
        assert line["other_way"].split() == against


def published(dataset):
    """Rows of a published table that are of its headline: the families `mash`, if it has them."""
    with (ROOT / "results" / f"sampling-table{SETS[dataset].table}" / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    name = FAMILIES.get(dataset)
    name = name if name in {row["dataset"] for row in rows} else dataset
    return name, [row for row in rows if row["dataset"] == name]


def by_hand(dataset, rounds, position):
    """Spearman's ρ and the mean difference of a published column, from its files alone."""
    sums, seeds = dict.fromkeys(KEYS, Fraction()), set()
    name = ("log10_loss", "test_error")[position]
    for row in published(dataset)[1]:
        at_t = (row["budget"], int(row["rounds"])) == ("paper", rounds)
        if at_t and row["algorithm"] in KEYS:
            sums[row["algorithm"]] += Fraction(row[name])
            seeds.add(row["seed"])
    ours = [sums[key] / len(seeds) for key in KEYS]
    paper = [Fraction(str(TABLES[dataset][key][ROUNDS.index(rounds)][position])) for key in KEYS]
    ranks = [[sum(a > b for b in x) + sum(a == b for b in x) / 2 for a in x] for x in (ours, paper)]
    rho = statistics.correlation(*ranks)
    return rho, float(sum(a - b for a, b in zip(ours, paper, strict=True)) / len(KEYS))


def test_published_agreement_and_what_the_readme_says_of_it():
    """The goal is a ρ of 0.9 in most of the twelve columns of loss up to 1,000 rounds."""
    reached, losses = [], []
    for dataset, paper in SETS.items():
        text = (ROOT / "results" / f"sampling-table{paper.table}" / "table.md").read_text()
        for t in (10, 100, 1_000):
            for position, (name, form) in enumerate((("loss", "+.3f"), ("error", "+.2f"))):
                rho, difference = by_hand(dataset, t, position)
                cells = line_of(text, f"T = {t:,}: {name}").split("|")
                assert cells[3].split()[0] == f"{rho:.2f}"
                assert cells[5].split()[0] == f"{difference:{form}}".replace("-", "−")
                if name == "loss":
                    losses.append((rho, abs(difference)))
                    reached += [f"{paper.title} at {t:,} rounds"] * (rho >= 0.9)
    assert len(losses) == 12
    said = readme("adaptive_sampling_2014")
    assert f"**{len(reached)} of the twelve columns of loss** ({', '.join(reached)})" in said
    rhos = sorted(rho for rho, _ in losses)
    assert f"the others have {rhos[0]:.2f} to {rhos[-1 - len(reached)]:.2f}" in said


@pytest.mark.parametrize("dataset", SETS)
def test_the_page_says_the_same_correlation_as_the_table(dataset):
    folder = ROOT / "results" / f"sampling-table{SETS[dataset].table}"
    said = tables.alt(
        pd.read_csv(folder / "rows.csv"), json.loads((folder / "meta.json").read_text()),
        dataset=dataset,
    )  # fmt: skip
    rho, _ = by_hand(dataset, 10_000, 0)
    last = f"Spearman's ρ with the paper's order by loss after 10,000 rounds: {rho:.2f}."
    assert said.endswith(last)
    text = (ROOT / "results" / "sampling.html").read_text("utf-8")
    assert last in html.unescape(text).replace("\u2019", "'")


def orders():
    """Lines of the published orders of Tables 1 to 4, by table."""
    with ORDER.open() as file:
        lines = [row for row in csv.DictReader(file) if row["table"][-1:].isdigit()]
    assert len(lines) == len(SETS) * len(ROUNDS)
    return lines


@pytest.mark.parametrize("dataset", SETS)
def test_orders_in_the_readme(dataset):
    """Of each column ρ, the mean difference, pairs the same and the other way round."""
    counts = [line for line in orders() if line["table"][-1:] == str(SETS[dataset].table)]
    cells = []
    for t, line in zip(ROUNDS, counts, strict=True):
        rho, difference = by_hand(dataset, t, 0)
        signed = f"{difference:+.3f}".replace("-", "\N{MINUS SIGN}")
        cells.append(f"{rho:.2f}; {signed}; {line['agree']} : {line['disagree']}")
    assert f"| {SETS[dataset].title} | {' | '.join(cells)} |" in readme("adaptive_sampling_2014")


def test_pairs_the_other_way_round_in_the_readme():
    """How many there are, and which methods they are of."""
    same = sum(int(line["agree"]) for line in orders())
    other = [(line["table"], pair) for line in orders() for pair in line["other_way"].split()]
    said = readme("adaptive_sampling_2014")
    assert len(other) == sum(int(line["disagree"]) for line in orders())
    assert (
        f"Of the {same + len(other)} pairs of methods that both the paper and we tell apart "
        f"{same} lie the same way round"
    ) in said
    family = [one for one in other if "best_family" in one[1]]
    naive = [one for one in other if one[0] == "sampling-table2" and "mas_naive" in one[1]]
    assert all(pair.startswith("mas_naive>") for _, pair in naive)
    assert not set(family) & set(naive)
    rest = [table for table, pair in other if (table, pair) not in family + naive]
    assert (
        f"Of the {len(other)} pairs the other way round {len(family)} have Best family in them, "
        f"{len(naive)} are of M.A.S. Naive on INRIA, and {rest.count('sampling-table3')} of the "
        "rest are on Caltech-101"
    ) in said


# --- tables and figures ---------------------------------------------------------------------------


def line_of(text, name, nth=0):
    return [line for line in text.splitlines() if line.startswith(f"| {name}")][nth]


def test_table_shows_ours_beside_the_papers():
    rows = made_up({"others": -1.0, "laminating": -2.0}, errors={"laminating": 1.5})
    text = tables.render(rows, meta_of("mnist"), dataset="mnist")
    cells = [part.strip() for part in line_of(text, "Laminating").split("|")[2:-1]]
    assert len(cells) == 6
    assert cells[4].startswith("**−2.00")
    assert cells[4].endswith("(−2.00)")
    assert cells[5].startswith("**1.50** ± 0.00")
    assert cells[5].endswith("(1.35)")
    assert line_of(text, "Best family*").count("36.48") == 1
    assert "| ours | 10,000 | 10,000 | 16,771 |" in text
    assert "| paper | 60,000 | 10,000 | 16,775 in 19 subsets |" in text
    assert "real, from the mirror" in text
    assert "UCB: 2^0, 2^1, 2^2, 2^3, 2^4" in text
    assert "Best family: identity, smoothed, fourier, fourier_magnitude, haar;" in text
    assert "over 5 repetitions" in text
    assert line_of(text, "T = 1,000: loss").startswith("| T = 1,000: loss | 13 |")
    assert line_of(text, "T = 1,000: error").endswith(" points |")


def test_table_says_what_a_budget_does_not_pay_for():
    rows = made_up({"others": -1.0})
    mine = (rows["algorithm"] == "tasting_1q") & (rows["budget"] == "all")
    rows.loc[mine & (rows["rounds"] == 10), ["used_rounds", "log10_loss"]] = [0, 0.0]
    rows.loc[mine & (rows["rounds"] == 100), "used_rounds"] = 9
    rows.loc[mine & (rows["rounds"] == 1_000), "short"] = 1
    text = tables.render(rows, meta_of("mnist"), dataset="mnist")
    cells = [part.strip() for part in line_of(text, "Tasting 1.Q", nth=1).split("|")[2:-1]]
    assert cells[0] == "no round (−0.43)"
    assert "[9]" in cells[2]
    assert "[1000†]" in cells[4]
    assert "no round" not in line_of(text, "Tasting 1.Q")


def test_a_stand_in_is_said():
    rows, meta = made_up({"others": -1.0}), meta_of("mnist", kind="stand-in")
    assert "STAND-IN of ours" in tables.render(rows, meta, dataset="mnist")
    assert "(stand-in)" in tables.alt(rows, meta, dataset="mnist")
    assert "(stand-in)" in extra_milliseconds.alt(rows, meta)
    assert "STAND-IN" in extra_milliseconds_table.render(rows, meta)


def test_time_and_prediction_cost_say_of_which_families_and_rules_they_are():
    """No cell is of Tables 1, 2 and 4; the prediction cost reads those of Table 3."""
    said = "first families and rules of before: not the classifiers of Tables 1, 2 and 4"
    rows, meta = made_up({"others": -1.0}), meta_of("mnist")
    assert said in extra_milliseconds_table.render(rows, meta)
    for module in (extra_milliseconds, extra_prediction_cost):
        assert said in module.render(rows, meta).get_suptitle()
    mine = [cell.to_json() for cell in extra_prediction_cost.ARTEFACT.cells("laptop", 1)]
    for name, shared in (("table1", 0), ("table2", 0), ("table3", 13), ("table4", 0)):
        table = importlib.import_module(f"experiments.adaptive_sampling_2014.{name}").ARTEFACT
        theirs = [cell.to_json() for cell in table.cells("laptop")]
        assert sum(cell in theirs for cell in mine) == shared


@pytest.mark.slow
def test_a_part_of_the_real_data_is_said():
    rows, meta = made_up({"others": -1.0}), meta_of("mnist")
    record = meta["data"]["mnist"]
    assert "(real)" in extra_prediction_cost.render(rows, meta).axes[0].get_title(loc="left")
    for part in ({"selection": "the first 10,000 of 60,000"}, {"missing": "most of it"}):
        meta["data"]["mnist"] = record | part
        (said,) = part.values()
        assert said in tables.render(rows, meta, dataset="mnist")
        figure = extra_prediction_cost.render(rows, meta)
        assert "(real, a part)" in figure.axes[0].get_title(loc="left")
        assert "## MNIST (real, a part), 10,000" in extra_milliseconds_table.render(rows, meta)


def test_one_repetition_has_no_spread():
    rows = made_up({"others": -1.0}, n_seeds=1)
    text = tables.render(rows, meta_of("mnist", n_seeds=1), dataset="mnist")
    assert "±" not in line_of(text, "UCB")
    assert "*ours, 1 repetition (paper" in text


def two_sets():
    rows = [made_up({"others": -1.0, "laminating": -2.0}, name) for name in ("mnist", "cifar10")]
    return pd.concat(rows, ignore_index=True), meta_of("mnist", "cifar10")


@pytest.mark.parametrize(
    ("artefact", "n_lines"), [(extra_milliseconds.ARTEFACT, 4), (extra_prediction_cost.ARTEFACT, 2)]
)
def test_figures_have_a_panel_for_each_set_and_kind_with_every_method(artefact, n_lines):
    rows, meta = two_sets()
    with house_style(artefact.id):
        figure = artefact.render(rows, meta)
    assert len(figure.axes) == n_lines * len(KINDS)
    assert sorted(key for methods in KINDS.values() for key in methods) == sorted(KEYS)
    for ax, methods in zip(figure.axes, [*KINDS.values()] * n_lines, strict=True):
        assert len(ax.lines) == len(KEYS)
        in_front = {line.get_color() for line in ax.lines if line.get_zorder() > 2}
        assert in_front == {LOOKS[key].colour for key in methods}
    assert "MNIST" in artefact.alt(rows, meta)


def test_equal_time_reads_the_last_row_within():
    rows, meta = two_sets()
    slow = rows["algorithm"] == "laminating"
    rows.loc[slow, "training_seconds"] *= 5  # 2.5, 7 and 52 seconds instead of 2.1, 3 and 12
    text = extra_milliseconds_table.render(rows, meta)
    cells = [part.strip() for part in line_of(text, "Laminating").split("|")[2:-1]]
    assert cells[0] == "no round"
    assert "[10]" in cells[1]
    assert "[100]" in cells[2]
    assert cells[3:] == ["2", "50", "103"]
    assert "[1000]" in line_of(text, "Uniform Naive")
    assert "[1000†]" in line_of(text, "UCB")


def test_the_dagger_knows_where_a_sets_own_training_ended():
    rows, meta = two_sets()
    name = [dataset for dataset in SETS if dataset in set(rows["dataset"])][-1]
    rows = rows[(rows["dataset"] != name) | (rows["rounds"] <= 100)]
    text = extra_milliseconds_table.render(rows, meta)
    assert "[100†]" in line_of(text[text.index(f"## {SETS[name].title}") :], "UCB")


def test_cheapest_classifier_near_the_smallest_error():
    rows, _ = two_sets()
    mine = (rows["dataset"] == "mnist") & (rows["algorithm"] == "ucb")
    rows.loc[mine & (rows["rounds"] == 100), "test_error"] = 5.0
    rows.loc[mine & (rows["rounds"] == 1_000), "test_error"] = 4.8
    found = extra_prediction_cost.cheapest(rows, "mnist")
    assert found == ("ucb", 100, 5.0, 100.0)
    assert extra_prediction_cost.cheapest(rows, "inria_person") is None


def test_every_table_is_declared_with_its_number():
    for name, paper in SETS.items():
        artefact = tables.make_table(name, minutes={})
        assert artefact.id == f"sampling-table{paper.table}"
        assert {c.dataset for c in artefact.cells("smoke")} == {name}
        assert len(artefact.cells("laptop")) == 5 * len(METHODS)
        assert replace(artefact, id="x").data_form == "features"


def test_families_that_the_set_no_longer_has_keep_their_numbers():
    meta = meta_of("mnist")
    meta["data"]["mnist"]["families"] = {"forgotten": 10, "also_forgotten": 10}
    text = tables.render(made_up({"others": -1.0}), meta, dataset="mnist")
    assert "Best family: family number 0 of the run, family number 1 of the run" in text


@pytest.mark.parametrize("dataset", list(SETS))
def test_published_names_of_kept_families(dataset):
    """Two other ways to the family: its place in the module's own list, and what it costs.

    A model of Best family uses one family, so its prediction costs that family's committed
    milliseconds and a little for each stump.
    """
    folder = ROOT / "results" / f"sampling-table{SETS[dataset].table}"
    name, rows = published(dataset)
    rows = [row for row in rows if row["algorithm"] == "best_family"]
    with (ROOT / "datasets" / "features" / "milliseconds.csv").open(newline="") as file:
        priced = [row for row in csv.DictReader(file) if row["dataset"] == name]
    named = (folder / "table.md").read_text().partition("Kept: Best family: ")[2]
    named = named.partition(";")[0].split(", ")
    own_list = {**nineteen.FAMILIES, **mash.FAMILIES, **caltech.FAMILIES}[name]
    for seed, name in zip(sorted({int(row["seed"]) for row in rows}), named, strict=True):
        mine = [row for row in rows if int(row["seed"]) == seed]
        assert {own_list[int(row["kept"])].name for row in mine} == {name}
        bill = float(mine[0]["prediction_ms"]) - int(mine[0]["used_rounds"]) * measure.SPLIT_COST
        nearest = min(priced, key=lambda row: abs(float(row["milliseconds"]) - bill))
        assert nearest["family"] == name
    assert len(named) == len({row["seed"] for row in rows})
